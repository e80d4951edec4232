// llvm-mc-19 -mcpu=gfx90a -mattr=+xnack --amdhsa-code-object-version=4
// Descriptors whose fields come from symbols of later lines.
.amdgcn_target "amdgcn-amd-amdhsa--gfx90a:xnack+"
.text
.globl kernel
.p2align 8
.type kernel,@function
kernel:
  v_accvgpr_write_b32 a3, v1
  v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]
  global_load_dwordx2 v[2:3], v[0:1], off
  s_endpgm
.Lkernel_end:
.size kernel, .Lkernel_end-kernel
.rodata
.p2align 6
.amdhsa_kernel kernel
  .amdhsa_group_segment_fixed_size lds_bytes
  .amdhsa_private_segment_fixed_size max(0, stack_bytes)
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_y uses_y
  .amdhsa_next_free_vgpr totalnumvgprs(4, 8)
  .amdhsa_next_free_sgpr .amdgcn.next_free_sgpr
  .amdhsa_accum_offset 8
  .amdhsa_reserve_vcc 0
  .amdhsa_ieee_mode 0
.end_amdhsa_kernel
.set lds_bytes, 1024
.set stack_bytes, 16
.set uses_y, 1
