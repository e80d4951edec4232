; error: a.o: `f@V1` has a symbol version, which no loader of AMD GPU code looks at: link without `.symver`
;--- a.s
	.text
f:	s_nop 0
	.globl f
	.symver f, f@V1
;--- b.s
	.text
	s_nop 0
