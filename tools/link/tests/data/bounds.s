; Ends of sections whose names C could have; a weak one of a section that is not there stays undefined.
; allow undefined
;--- a.s
	.text
	.globl	use
	.protected	use
use:
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, __start_foo@rel32@lo+4
	s_add_u32 s0, s0, __stop_foo@rel32@lo+4
	s_add_u32 s0, s0, __start_bar@gotpcrel32@lo+4
	.weak	__start_none
	.data
	.quad	__stop_foo
	.quad	__start_none
	.section	foo,"a",@progbits
	.long	1,2
	.section	bar,"aw",@progbits
	.long	3
;--- b.s
	.section	foo,"a",@progbits
	.long	1,2
	.text
	s_nop 0
