; error: the distance to `f`, which other objects may replace, is not known: make it hidden or protected, or go through `@gotpcrel32`
;--- a.s
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, f@rel32@lo+4
;--- b.s
	.globl	f
f:	s_nop 0
