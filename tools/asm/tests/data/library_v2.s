// llvm-mc-14 -mcpu=gfx900 --amdhsa-code-object-version=2
// Code object V2: versions, counts of registers as symbols, a code header by macro.
.hsa_code_object_version 2,1
.hsa_code_object_isa 9,0,0,"AMD","AMDGPU"
.if (.option.machine_version_major != 9)
.error "gfx9 expected"
.endif
.macro header sgprs, vgprs, args, lds=0
  .amd_kernel_code_t
    is_ptr64 = 1
    enable_sgpr_kernarg_segment_ptr = 1
    enable_sgpr_workgroup_id_x = 1
    granulated_workitem_vgpr_count = (\vgprs-1)/4
    granulated_wavefront_sgpr_count = ((\sgprs-1)/16)*2
    wavefront_sgpr_count = \sgprs
    workitem_vgpr_count = \vgprs
    float_mode = 192
    user_sgpr_count = 2
    workgroup_group_segment_byte_size = \lds
    kernarg_segment_byte_size = \args
    wavefront_size = 6
  .end_amd_kernel_code_t
.endm
.text
.p2align 8
.amdgpu_hsa_kernel scale
scale:
  header 16, 8, 24, lds=256
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v7, s5
  s_waitcnt lgkmcnt(0)
  s_endpgm
.byte .kernel.vgpr_count
.byte .kernel.sgpr_count
