// llvm-mc-19 -mcpu=gfx90a -mattr=+xnack --amdhsa-code-object-version=4
// Accumulation registers, symbols as parameters, differences, a jump table, sections that go on.
.amdgcn_target "amdgcn-amd-amdhsa--gfx90a:xnack+"
.set acc0, 4
.set tile, 16
.text
.globl jump
.p2align 8
.type jump,@function
jump:
  s_getpc_b64 s[2:3]
.Lhere:
  s_add_u32 s2, s2, .Ltable-.Lhere
  s_addc_u32 s3, s3, 0
  s_load_dword s4, s[2:3], s5
  s_waitcnt lgkmcnt(0)
  s_add_u32 s2, s2, s4
  s_addc_u32 s3, s3, 0
  s_setpc_b64 s[2:3]
.Lcase0:
  v_mfma_f32_32x32x8f16 a[acc0:acc0+15], v[2:3], v[4:5], a[acc0:acc0+15]
  v_accvgpr_read_b32 v6, a[acc0]
  global_load_dwordx4 a[0:3], v[0:1], off offset:tile*4 glc
  s_branch .Lout
.Lcase1:
  v_pk_fma_f32 v[2:3], v[4:5], v[6:7], v[8:9] op_sel:[0,1,0] op_sel_hi:[1,0,1]
  ds_read_b128 v[8:11], v0 offset:tile
  ds_write_b64 v0, a[2:3]
.Lout:
  s_endpgm
.size jump, .-jump
.section .rodata.jump, "a"
.p2align 2
.Ltable:
  .long .Lcase0-.Lhere
  .long .Lcase1-.Lhere
  .long .Lcase1-.Lcase0
.text
  s_nop 0
.section .rodata.jump, "a"
  .long .Lout-.Lcase1
.rodata
.p2align 6
.amdhsa_kernel jump
  .amdhsa_next_free_vgpr 32 + acc0 + 16
  .amdhsa_next_free_sgpr 6
  .amdhsa_accum_offset 32
  .amdhsa_tg_split 0
  .amdhsa_reserve_xnack_mask 1
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
.end_amdhsa_kernel
