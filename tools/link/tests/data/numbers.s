; A number may be defined twice, if both say the same.
;--- a.s
	.globl	n
	.set	n, 5
	.data
	.quad	n
;--- b.s
	.globl	n
	.set	n, 5
	.globl	m
	.set	m, -7
	.data
	.quad	m
;--- c.s
	.globl	m
	.set	m, -7
	.text
	s_nop	0
