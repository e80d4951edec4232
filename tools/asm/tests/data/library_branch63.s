// llvm-mc-19 -mcpu=gfx1010
// Branches over 63 dwords, which gfx101x takes wrongly: a nop behind one makes the other too long, and moves what is behind.
.amdgcn_target "amdgcn-amd-amdhsa--gfx1010"
.text
    s_cbranch_vccnz BB
.fill 62, 4, 0xbf800000
    s_branch CC
BB:
.fill 61, 4, 0xbf800000
    s_branch BB
    s_nop 0
CC:
    s_endpgm
.long CC-BB
// The alignment swallows the nop: the distance stays what it was.
    .p2align 6
    s_branch DD
    .fill 57, 4, 0xbf800000
    .p2align 8
DD:
    s_endpgm
