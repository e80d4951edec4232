; allow undefined
; error: `secret` is not defined: b.o refers to it
; A hidden name is in no other object that a loader could take.
;--- a.s
	.text
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, missing@gotpcrel32@lo+4
;--- b.s
	.hidden	secret
	.data
	.quad	secret
