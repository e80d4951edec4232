; Weak before strong, common symbols of several sizes, visibility that one object narrows, weak names that nobody has.
;--- a.s
	.text
	.weak	f
f:
	s_nop 1
	.globl	use
	.protected	use
use:
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, f@gotpcrel32@lo+4
	s_add_u32 s0, s0, nowhere@gotpcrel32@lo+4
	s_add_u32 s0, s0, narrow@rel32@lo+4
	s_add_u32 s0, s0, hidden_nowhere@gotpcrel32@lo+4
	.weak	nowhere
	.weak	hidden_nowhere
	.hidden	hidden_nowhere
	.hidden	narrow
	.comm	zeros,8,2
	.comm	weaker,4,2
	.data
	.quad	nowhere
	.quad	hidden_nowhere
	.quad	zeros
	.quad	absolute
	.local	mine
	.comm	mine,12,2
;--- b.s
	.text
	.globl	f
f:
	s_nop 2
	.globl	narrow
	.type	narrow,@function
narrow:
	s_nop 3
.Lend:
	.size	narrow, .Lend-narrow
	.comm	zeros,40,5
	.comm	other,4,3
	.globl	absolute
	.set	absolute, 77
	.data
	.weak	weaker
weaker:
	.long	5
	.globl	strong
strong:
	.long	6
;--- c.s
	.comm	zeros,16,6
	.data
	.weak	strong
strong:
	.long	8
	.bss
	.globl	room
	.p2align	4
room:
	.zero	20
