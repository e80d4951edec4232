; lld: --gc-sections -z nostart-stop-gc
; Who asks for the ends of a section keeps it.
;--- a.s
	.text
	.globl	use
	.protected	use
use:
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, __start_foo@rel32@lo+4
	.section	foo,"a",@progbits
	.long	1,2
	.section	bar,"aw",@progbits
	.long	3
;--- b.s
	.section	foo,"a",@progbits
	.long	1,2
	.section	.text.f,"ax",@progbits
	s_nop 0
