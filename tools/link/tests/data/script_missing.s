; versions: { global: nobody; local: *; };
; error: the version script names `nobody`, which is not defined
;--- a.s
	.text
	.globl	f
f:	s_nop 0
