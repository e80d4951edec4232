; v2 = v0 * v0.
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
