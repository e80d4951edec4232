; error: a branch to `far` is out of its reach of 131072 bytes
;--- a.s
	.text
	.reloc	., R_AMDGPU_REL16, far
	.long	0xbf820000
	.zero	0x20004
;--- b.s
	.globl	far
	.hidden far
far:	s_nop 0
