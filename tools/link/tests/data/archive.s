; Members that are needed, whatever the order; a weak reference asks for none.
;--- lib.a(one.s)
	.text
	.globl	one
	.hidden	one
one:
	s_nop 1
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, three@rel32@lo+4
;--- lib.a(two.s)
	.text
	.globl	two
two:
	s_nop 2
;--- lib.a(three.s)
	.text
	.globl	three
	.hidden	three
three:
	s_nop 3
;--- lib.a(four.s)
	.text
	.globl	four
four:
	s_nop 4
;--- main.s
	.text
	.globl	main
	.protected	main
main:
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, one@rel32@lo+4
	.weak	two
	.data
	.quad	two
