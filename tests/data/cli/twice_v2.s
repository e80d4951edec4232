// A kernel of code object V2 without metadata: nothing says what its 16 bytes of arguments are.
.hsa_code_object_version 2,1
.hsa_code_object_isa 9,0,6,"AMD","AMDGPU"
.text
.p2align 8
.globl twice
.amdgpu_hsa_kernel twice
twice:
  .amd_kernel_code_t
    enable_sgpr_kernarg_segment_ptr = 1
    is_ptr64 = 1
    compute_pgm_rsrc1_vgprs = 1
    compute_pgm_rsrc1_sgprs = 1
    compute_pgm_rsrc2_user_sgpr = 2
    kernarg_segment_byte_size = 16
    wavefront_sgpr_count = 8
    workitem_vgpr_count = 4
  .end_amd_kernel_code_t
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v0, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v1, v0, s[4:5]
  s_waitcnt vmcnt(0)
  v_add_f32 v1, v1, v1
  global_store_dword v0, v1, s[6:7]
  s_endpgm
