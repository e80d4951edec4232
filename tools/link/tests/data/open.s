; allow undefined
; What nothing defines is left to the loader: through the table of addresses, and as a 64-bit address in data.
;--- a.s
	.text
	.globl	kernel
	.protected	kernel
kernel:
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, elsewhere@gotpcrel32@lo+4
	s_addc_u32 s1, s1, elsewhere@gotpcrel32@hi+12
	.data
	.quad	elsewhere+16
	.quad	also
;--- b.s
	.data
	.quad	also
	.quad	elsewhere
