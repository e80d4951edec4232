; lld: --gc-sections
; Sections that nothing which stays refers to go; a group stays or goes as one; what says `retain` stays.
;--- a.s
	.section	.text.kernel,"ax",@progbits
	.globl	kernel
	.protected	kernel
kernel:
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, used@rel32@lo+4
	.section	.text.unused,"ax",@progbits
	.globl	unused
	.hidden	unused
unused:
	s_nop 7
	.section	.rodata.local,"a",@progbits
	.quad	3
	.section	.data.kept,"awR",@progbits
	.quad	4
	.section	.note.mine,"a",@note
	.long	2, 0, 1
	.asciz	"x"
	.p2align	2
;--- b.s
	.section	.text.used,"ax",@progbits
	.globl	used
	.hidden	used
used:
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, table@rel32@lo+4
	.section	.text.dead,"ax",@progbits
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, dead@rel32@lo+4
	.section	.data.table,"aw",@progbits
table:
	.quad	8
	.section	.data.dead,"aw",@progbits
	.globl	dead
	.hidden	dead
dead:
	.quad	9
