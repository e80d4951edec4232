// llvm-mc-19 -mcpu=gfx906

.text
.globl hello_world
.p2align 8
.type hello_world,@function
hello_world:
  s_load_dwordx2 s[0:1], s[0:1] 0x0
  v_mov_b32 v0, 3.14159
  s_waitcnt lgkmcnt(0)
  s_getpc_b64 s[4:5]
  s_add_u32 s4, s4, ext@rel32@lo+4
  s_addc_u32 s5, s5, loc@rel32@hi+4
  s_add_u32 s4, s4, loc
  s_add_u32 s4, s4, loc-hello_world
  s_add_u32 s4, s4, ext
  s_add_u32 s4, s4, ext@abs32@lo
  s_branch loc
loc:
  flat_store_dword v[1:2], v0
  s_endpgm
.Lfunc_end0:
  .size   hello_world, .Lfunc_end0-hello_world
.p2align 5
.data
d: .long loc, ext, loc-hello_world
.quad loc
.rodata
.p2align 6
.amdhsa_kernel hello_world
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr .amdgcn.next_free_vgpr
  .amdhsa_next_free_sgpr .amdgcn.next_free_sgpr
.end_amdhsa_kernel
