; A clause of two loads of which the second overwrites the address of the first, for processors that replay or do not.
	.text
	.globl k
	.p2align 8
	.type k,@function
k:
	s_load_dwordx2 s[4:5], s[0:1], 0x0
	v_mov_b32 v1, 0
	v_mov_b32 v2, 0
	s_waitcnt lgkmcnt(0)
	global_load_dword v3, v1, s[4:5]
	global_load_dword v1, v2, s[4:5] offset:4
	s_waitcnt vmcnt(0)
	s_endpgm
	.size k, .-k
	.rodata
	.p2align 6
	.amdhsa_kernel k
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_next_free_vgpr 4
		.amdhsa_next_free_sgpr 8
	.end_amdhsa_kernel
	.amdgpu_metadata
amdhsa.version: [1, 1]
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 8
    .vgpr_count: 4
    .max_flat_workgroup_size: 64
    .args:
      - {.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}
	.end_amdgpu_metadata
