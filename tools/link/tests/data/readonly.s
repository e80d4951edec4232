; error: an address of `f` in read-only memory
;--- a.s
	.section	.rodata,"a",@progbits
	.quad	f
;--- b.s
	.globl	f
	.hidden f
f:	s_nop 0
