; The number of an entry comes from a lane, but others are active than those that the bound was made for.
; test: check --mcpu gfx906
    .amdgcn_target "amdgcn-amd-amdhsa--gfx906"
    .text
    .globl k
    .p2align 8
    .type k,@function
k:
    s_waitcnt vmcnt(0) lgkmcnt(0)
    s_load_dwordx2 s[0:1], s[4:5], 0x0
    v_min_u32_e32 v1, 3, v1
    s_mov_b64 exec, -1
    v_readfirstlane_b32 s2, v1
    s_lshl2_add_u32 s2, s2, 12
    s_getpc_b64 s[8:9]
    s_add_u32 s8, s8, s2
    s_addc_u32 s9, s9, 0
    s_setpc_b64 s[8:9]
    s_branch .Le0
    s_branch .Le1
    s_branch .Le2
    s_branch .Le0
.Le0:
    s_waitcnt lgkmcnt(0)
    s_mov_b32 s3, s0
    s_endpgm
.Le1:
    s_mov_b32 s3, s1
    s_endpgm
.Le2:
    s_endpgm
    .size k, .-k

; expected: check --mcpu gfx906
; note: k+0x28 `s_setpc_b64 s[8:9]`: indirect branch: the path is not followed
; object.co: nothing found in 10 instructions, 1 entry, for gfx906; 1 path was not followed
