; error: a.o: `f@V1` is a version that is not the default: no loader of AMD GPU code could choose it
;--- a.s
	.text
f:	s_nop 0
	.globl f
	.symver f, f@V1
;--- b.s
	.text
	s_nop 0
