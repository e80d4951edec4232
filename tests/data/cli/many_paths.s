// Every block has one load more under way than the block before, and control may come from each to the first.
.amdgcn_target "amdgcn-amd-amdhsa--gfx906"
.text
.globl tangle
.p2align 8
.type tangle,@function
tangle:
.rept 800
    global_load_dword v1, v0, s[0:1]
    s_add_u32 s5, s5, s6
    s_cbranch_scc1 tangle
.endr
    s_waitcnt vmcnt(0)
    s_endpgm
.size tangle, .-tangle

.rodata
.p2align 6
.amdhsa_kernel tangle
    .amdhsa_next_free_vgpr 4
    .amdhsa_next_free_sgpr 16
.end_amdhsa_kernel
