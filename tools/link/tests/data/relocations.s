; Every relocation that `ld.lld` knows, within an object, between objects and to names that loaders may replace.
;--- main.s
	.text
	.globl	kernel
	.protected	kernel
	.p2align	8
	.type	kernel,@function
kernel:
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, helper@rel32@lo+4
	s_addc_u32 s1, s1, helper@rel32@hi+12
	s_getpc_b64 s[2:3]
	s_add_u32 s2, s2, shared@gotpcrel32@lo+4
	s_addc_u32 s3, s3, shared@gotpcrel32@hi+12
	s_getpc_b64 s[2:3]
	s_add_u32 s2, s2, hidden@gotpcrel32@lo+4
	s_addc_u32 s3, s3, hidden@gotpcrel32@hi+12
	.reloc	., R_AMDGPU_REL16, helper
	.long	0xbf820000
	s_endpgm
.Lend:
	.size	kernel, .Lend-kernel
	.data
	.p2align	3
table:
	.quad	shared
	.quad	hidden+8
	.quad	table
	.quad	number
	.quad	hidden
	.long	helper-.
	.quad	helper-.
	.section	.rodata,"a",@progbits
	.reloc	., R_AMDGPU_GOTPCREL, shared
	.long	0
	.reloc	., R_AMDGPU_REL32, hidden
	.long	0
	.reloc	., R_AMDGPU_ABS32, number
	.long	0
;--- other.s
	.text
	.globl	helper
	.hidden	helper
	.type	helper,@function
	s_nop 0
helper:
	s_setpc_b64 s[30:31]
.Lend:
	.size	helper, .Lend-helper
	.data
	.globl	shared
	.type	shared,@object
	.size	shared, 4
shared:
	.long	1
	.globl	hidden
	.hidden	hidden
	.p2align	4
hidden:
	.long	2
	.globl	number
	.protected	number
	.set	number, 0x123456789a
