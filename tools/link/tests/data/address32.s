; error: the 32-bit address of `f` depends on where the object is loaded
;--- a.s
	s_mov_b32 s0, f@abs32@lo
;--- b.s
	.globl	f
	.hidden f
f:	s_nop 0
