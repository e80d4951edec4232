; error: `n` is defined in a.o and in b.o: make one of them weak or local, or rename it
;--- a.s
	.globl	n
	.set	n, 5
;--- b.s
	.globl	n
	.set	n, 6
