; Names behind a dot belong to one section; groups stand once; gaps are aligned; texts that are alike stand once.
;--- a.s
	.section	.text.one,"axG",@progbits,one,comdat
	.weak	one
	.p2align	6
one:
	s_nop 1
	.section	.text.a,"ax",@progbits
	.globl	a
a:
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, .Ltext@rel32@lo+4
	s_add_u32 s0, s0, one@gotpcrel32@lo+4
	.section	.rodata.str1.1,"aMS",@progbits,1
.Ltext:
	.asciz	"the same"
	.section	.rodata.a,"a",@progbits
	.long	11
	.section	.data.a,"aw",@progbits
	.p2align	5
	.long	12
	.section	.bss.a,"aw",@nobits
	.p2align	5
	.zero	3
	.section	mine,"a",@progbits
	.long	13
;--- b.s
	.section	.text.one,"axG",@progbits,one,comdat
	.weak	one
	.p2align	6
one:
	s_nop 1
	.text
	.globl	b
	.p2align	8
b:
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, .Ltext@rel32@lo+4
	s_add_u32 s0, s0, one@gotpcrel32@lo+4
	.section	.rodata.str1.1,"aMS",@progbits,1
.Ltext:
	.asciz	"the same"
	.section	.rodata.b,"a",@progbits
	.p2align	4
	.long	21
	.section	.data.b,"aw",@progbits
	.p2align	3
	.long	22
	.section	.bss.b,"aw",@nobits
	.p2align	6
	.zero	5
	.section	mine,"a",@progbits
	.long	23
