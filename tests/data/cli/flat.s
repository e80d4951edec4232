	.amdgcn_target "amdgcn-amd-amdhsa--gfx803"
	.text
	.globl	double
	.p2align	8
	.type	double,@function
double:
	s_load_dwordx2 s[0:1], s[4:5], 0x0
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v0, s0
	v_mov_b32_e32 v1, s1
	flat_load_dword v2, v[0:1]
	s_waitcnt vmcnt(0)
	v_mul_f32_e32 v2, 2.0, v2
	flat_store_dword v[0:1], v2
	s_endpgm
.Lend:
	.size	double, .Lend-double

	.rodata
	.p2align	6
	.amdhsa_kernel double
		.amdhsa_next_free_vgpr 3
		.amdhsa_next_free_sgpr 6
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 8
	.end_amdhsa_kernel
