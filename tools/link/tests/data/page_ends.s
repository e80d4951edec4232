; Code that ends where a page does: the next segment begins there.
;--- a.s
	.text
	.globl	k
	.protected	k
	.type	k,@function
k:
	s_endpgm
	.p2align	12
	.size	k, .-k
	.data
	.quad	k
