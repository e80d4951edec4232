; error: `f` is defined in a.o and in b.o: make one of them weak or local, or rename it
;--- a.s
	.globl	f
f:	s_nop 0
;--- b.s
	.globl	f
f:	s_nop 0
