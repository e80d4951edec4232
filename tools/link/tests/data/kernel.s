; A kernel that has the registers which a function of another object names: descriptor and metadata stay as they are.
;--- squares.s
	.amdgcn_target "amdgcn-amd-amdhsa--gfx906"
	.text
	.globl	squares
	.protected	squares
	.p2align	8
	.type	squares,@function
squares:
	s_load_dwordx2 s[0:1], s[0:1], 0x0
	s_getpc_b64 s[2:3]
	s_add_u32 s2, s2, square@rel32@lo+4
	s_addc_u32 s3, s3, square@rel32@hi+12
	s_swappc_b64 s[30:31], s[2:3]
	v_lshlrev_b32_e32 v0, 2, v0
	s_waitcnt lgkmcnt(0)
	global_store_dword v0, v2, s[0:1]
	s_endpgm
.Lend:
	.size	squares, .Lend-squares

	.rodata
	.p2align	6
	.amdhsa_kernel squares
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_next_free_vgpr 64
		.amdhsa_next_free_sgpr 32
	.end_amdhsa_kernel

	.amdgpu_metadata
---
amdhsa.version:
  - 1
  - 2
amdhsa.target:   amdgcn-amd-amdhsa--gfx906
amdhsa.kernels:
  - .name:           squares
    .symbol:         squares.kd
    .args:
      - .name:           out
        .address_space:  global
        .offset:         0
        .size:           8
        .type_name:      'u32*'
        .value_kind:     global_buffer
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 8
    .max_flat_workgroup_size: 64
    .private_segment_fixed_size: 0
    .sgpr_count:     38
    .vgpr_count:     64
    .wavefront_size: 64
...
	.end_amdgpu_metadata
;--- square.s
	.amdgcn_target "amdgcn-amd-amdhsa--gfx906"
	.text
	.globl	square
	.hidden	square
	.type	square,@function
square:
	v_mul_lo_u32 v40, v0, v0
	v_mov_b32_e32 v2, v40
	s_setpc_b64 s[30:31]
.Lend:
	.size	square, .Lend-square
