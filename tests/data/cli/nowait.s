	.amdgcn_target "amdgcn-amd-amdhsa--gfx906"
	.text
	.globl	scale
	.p2align	8
	.type	scale,@function
scale:
	s_load_dwordx2 s[0:1], s[4:5], 0x0
	v_lshlrev_b32_e32 v0, 2, v0
	s_waitcnt lgkmcnt(0)
	global_load_dword v1, v0, s[0:1]
	v_mul_f32_e32 v1, 2.0, v1
	v_readfirstlane_b32 s0, v2
	global_store_dword v0, v1, s[0:1]
	s_endpgm
.Lend:
	.size	scale, .Lend-scale

	.rodata
	.p2align	6
	.amdhsa_kernel scale
		.amdhsa_next_free_vgpr 3
		.amdhsa_next_free_sgpr 6
	.end_amdhsa_kernel
