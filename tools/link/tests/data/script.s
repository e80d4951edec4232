; versions: { global: use; ex*; local: *; };
; lld: --gc-sections
; Names that a version script hides become local, and may be left out.
;--- a.s
	.text
	.globl	use
use:
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, used@rel32@lo+4
	.section	.text.used,"ax",@progbits
	.globl	used
used:
	s_nop 1
	.section	.text.other,"ax",@progbits
	.globl	other
	.protected	other
other:
	s_nop 2
;--- b.s
	.section	.text.exported,"ax",@progbits
	.globl	exported
exported:
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, zeros@gotpcrel32@lo+4
	.comm	zeros,8,8
	.section	.text.exit,"ax",@progbits
	.globl	exit
exit:
	s_nop 3
