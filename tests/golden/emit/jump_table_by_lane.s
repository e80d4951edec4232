; The number of an entry may come from a lane: its bound holds as long as the same lanes are active.
; fails: check --mcpu gfx906
    .amdgcn_target "amdgcn-amd-amdhsa--gfx906"
    .text
    .globl k
    .p2align 8
    .type k,@function
k:
    s_waitcnt vmcnt(0) lgkmcnt(0)
    s_load_dwordx2 s[0:1], s[4:5], 0x0
    v_min_u32_e32 v1, 3, v1
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
; error[read-in-flight]: register is read before it has arrived (s1): scalar memory operation, lgkmcnt up to 1
;   --> object.co:17:9
;    |
;  2 | 0x1304  s_load_dwordx2 s[0:1], s[4:5], 0x0
;    |         ---------------------------------- under way from here
; ...
; 17 | 0x1344  s_mov_b32 s3, s1
;    |         ^^^^^^^^^^^^^^^^ read here
;    |
;    = note: k+0x4 and k+0x44
;    = help: between them: s_waitcnt lgkmcnt(0)
;
; object.co: 1 report in 19 instructions, 1 entry, for gfx906
