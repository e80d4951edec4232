; lld: -u two
; A name that only the command line asks for is taken from the archive; what it lacks, too.
;--- lib.a(one.s)
	.text
	.globl	one
	.hidden	one
one:
	s_nop 1
;--- lib.a(two.s)
	.text
	.globl	two
two:
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, one@rel32@lo+4
;--- main.s
	.text
	.globl	main
	.protected	main
main:
	s_endpgm
