; lld: --gc-sections
; What debug information says of a section that is not linked is 0, and 1 in lists that zeros end.
;--- a.s
	.section	.text.dead,"ax",@progbits
dead:
	s_nop 0
	.text
	.globl	k
	.protected	k
	.type	k,@function
k:
	s_endpgm
	.size	k, .-k
	.section	.debug_ranges,"",@progbits
	.quad	k
	.quad	k+4
	.quad	dead
	.quad	dead+4
	.quad	0
	.quad	0
	.section	.debug_loc,"",@progbits
	.quad	dead
	.long	dead+8
	.section	.debug_info,"",@progbits
	.quad	dead+8
	.long	dead
	.section	.debug_addr,"",@progbits
	.quad	dead
