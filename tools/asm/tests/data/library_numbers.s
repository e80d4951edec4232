// llvm-mc-19 -mcpu=gfx1030
// Numbers and strings as they are written by hand: each float is rounded once, to what it becomes.
	.data
	.float 1.00000005960464477539062500001, 0x1.000001000000000000001p0, 3.4028235677973366e38
	.float .5, .5e1, -.25, 1., 017, +1.5, - 1.5, 1e39
	.float nan, -nan, inf, -Infinity
	.float 0x1p-149, 0x1p-150, 0x1.8p-149, 0x.8p1
	.double 0x1p-1074, 0x1p-1075, 0x1.8p-1074, 0x1p-1060, 0x1p1023, 4.9e-324, nan
	.double 0x1.000000000000080000001p0, 0x1.00000000000008p0, 0x1.fffffffffffff8p1023
	.double 0x123456789abcdef01p-1100, 0x123456789abcdef01.8p0, 0x0p0, 0x1p5000, 0x1p-5000
	.dcb.s 2, .5
	.dcb.d 2, 0x1p-1074
	.ascii "a" "b" "c", "d"
	.asciz "e", "f"
	.ascii
	.asciz
	.ascii "\377\0"
	.ds.p 2
	.ds.x 1
	.fill 3, -1, 1
	.long [1+2]*3, ([4]+5)
	.text
	v_add_f32 v0, .5, v1
	v_add_f32 v0, -.5, v1
	s_add_u32 s0, .25e1, s2
	v_add_f32 v0, v1, v2 mul:1
	v_add_f32 v0, v1, v2 div:1
	ds_read_b32 v0, v1 offset : 4
	.amdgpu_lds whole, 131072, 16
	.globl whole
	.common shared, 24, 3
