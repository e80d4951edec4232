; Without a bound a jump goes anywhere: the checker says that it does not follow.
; test: check --mcpu gfx906
    .amdgcn_target "amdgcn-amd-amdhsa--gfx906"
    .text
    .globl k
    .p2align 8
    .type k,@function
k:
    s_waitcnt vmcnt(0) lgkmcnt(0)
    s_lshl2_add_u32 s2, s6, 12
    s_getpc_b64 s[8:9]
    s_add_u32 s8, s8, s2
    s_addc_u32 s9, s9, 0
    s_setpc_b64 s[8:9]
    s_branch .Le0
    s_branch .Le1
    s_branch .Le2
    s_branch .Le0
.Le0:
.Le1:
.Le2:
    s_endpgm
    .size k, .-k

; expected: check --mcpu gfx906
; note: k+0x14 `s_setpc_b64 s[8:9]`: indirect branch: the path is not followed
; object.co: nothing found in 6 instructions, 1 entry, for gfx906; 1 path was not followed
