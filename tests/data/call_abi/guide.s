// Functions by the guide's convention (seed 000, from line 4089 on): arguments in v0 to v31, then on the stack, whole values at multiples of
// their size; results from v0 on, or stored at a private address that is the last argument; implicit arguments behind the others; nothing
// is waited for on entry, and all is complete at the return; v32 and up and s32 and up are kept, and nothing else.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx906"
	.macro clobber from=2
	.set n, \from
	.rept 32-\from
	v_mov_b32 v[n], -1
	.set n, n+1
	.endr
	.set n, 4
	.rept 26
	s_mov_b32 s[n], -1
	.set n, n+1
	.endr
	s_mov_b64 vcc, -1
	s_mov_b32 m0, -1
	.endm

	.text
// a + 2 * f1 + 4 * g1 + 8 * the work-item's id; f1 is in v31, g1 on the stack, the ids behind it.
	.globl sum33
	.protected sum33
	.p2align 2
	.type sum33,@function
sum33:
	buffer_load_dword v1, off, s[0:3], s32
	buffer_load_dword v2, off, s[0:3], s32 offset:4
	s_waitcnt vmcnt(0)
	v_and_b32 v2, 0x3ff, v2
	v_lshl_add_u32 v0, v31, 1, v0
	v_lshl_add_u32 v0, v1, 2, v0
	v_lshl_add_u32 v0, v2, 3, v0
	clobber 1
	s_setpc_b64 s[30:31]
	.size sum33, .-sum33

// f1 + g1: f1 does not go to v31 and half to the stack.
	.globl wide
	.protected wide
	.p2align 2
	.type wide,@function
wide:
	buffer_load_dword v0, off, s[0:3], s32
	buffer_load_dword v1, off, s[0:3], s32 offset:4
	buffer_load_dword v2, off, s[0:3], s32 offset:8
	s_waitcnt vmcnt(0)
	v_add_co_u32 v0, vcc, v0, v2
	v_addc_co_u32 v1, vcc, 0, v1, vcc
	clobber 2
	s_setpc_b64 s[30:31]
	.size wide, .-wide

// x + n at each n: v1 is the address.
	.globl stored
	.protected stored
	.p2align 2
	.type stored,@function
stored:
	.set n, 0
	.rept 8
	v_add_u32 v3, n, v0
	buffer_store_dword v3, v1, s[0:3], 0 offen offset:4*n
	.set n, n+1
	.endr
	s_waitcnt vmcnt(0)
	clobber 0
	s_setpc_b64 s[30:31]
	.size stored, .-stored

// Looks at implicit arguments, and calls weigh with those it was given: for it they stand behind four dwords.
	.globl places
	.protected places
	.p2align 2
	.type places,@function
places:
	s_mov_b64 s[18:19], s[30:31]
	buffer_store_dword v32, off, s[0:3], s32
	buffer_store_dword v33, off, s[0:3], s32 offset:4
	s_add_u32 s32, s32, 0x400
	v_mov_b32 v32, s18
	v_mov_b32 v33, s19
	v_mov_b32 v4, v1
	v_mov_b32 v3, 7
	v_mov_b32 v1, 5
	v_mov_b32 v2, 0
	s_waitcnt vmcnt(0)
	s_getpc_b64 s[20:21]
	s_add_u32 s20, s20, weigh@rel32@lo+4
	s_addc_u32 s21, s21, weigh@rel32@hi+12
	s_swappc_b64 s[30:31], s[20:21]
	v_readfirstlane_b32 s18, v32
	v_readfirstlane_b32 s19, v33
	s_sub_u32 s32, s32, 0x400
	buffer_load_dword v32, off, s[0:3], s32
	buffer_load_dword v33, off, s[0:3], s32 offset:4
	s_waitcnt vmcnt(0)
	s_setpc_b64 s[18:19]
	.size places, .-places
