; error: b.o: .text+0x8: it refers to a section that is not linked: `.text.one`
;--- a.s
	.section	.text.one,"axG",@progbits,one,comdat
	.weak	one
one:
	s_nop 1
;--- b.s
	.section	.text.one,"axG",@progbits,one,comdat
	.weak	one
one:
	s_nop 1
inner:
	s_nop 2
	.text
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, inner@rel32@lo+4
