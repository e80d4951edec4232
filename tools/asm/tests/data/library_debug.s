// llvm-mc-19 -mcpu=gfx906 --amdhsa-code-object-version=4
// What compilers write beside the code: call frames, addresses of significance, names of symbols.
.amdgcn_target "amdgcn-amd-amdhsa--gfx906"
.text
.globl leaf
.p2align 8
.type leaf,@function
leaf:
.Lleaf_begin:
  s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
  v_add_f32_e32 v0, v0, v1
  s_setpc_b64 s[30:31]
.Lleaf_end:
.size leaf, .Lleaf_end-.Lleaf_begin
.weak fallback
.type fallback,@function
.set fallback, leaf
.equ twin, leaf
.equiv third, leaf+4
.globl caller
.hidden caller
.p2align 8
.type caller,@function
caller:
  s_getpc_b64 s[4:5]
  s_add_u32 s4, s4, leaf@rel32@lo+4
  s_addc_u32 s5, s5, leaf@rel32@hi+12
  s_swappc_b64 s[30:31], s[4:5]
  s_getpc_b64 s[4:5]
  s_add_u32 s4, s4, elsewhere@gotpcrel32@lo+4
  s_addc_u32 s5, s5, elsewhere@gotpcrel32@hi+12
  s_load_dwordx2 s[4:5], s[4:5], 0x0
  s_endpgm
.Lcaller_end:
.size caller, .Lcaller_end-caller
.section .debug_info, "", @progbits
  .long .Linfo_end-.Linfo
.Linfo:
  .short 5
  .quad .Lleaf_begin
  .long .Lleaf_end-.Lleaf_begin
.Linfo_end:
.section .text.unlikely.cold, "ax", @progbits
  s_trap 2
.previous
.section .rodata.cst16, "aM", @progbits, 16
  .quad 1, 2
.section .rodata.str1.1, "aMS", @progbits, 1
.Lname:
  .asciz "caller"
.section .init_array, "aw", @init_array
  .quad .Lname
.pushsection .text
  s_nop 7
.popsection
.section .llvmbc, "e", @progbits
  .byte 0
.addrsig
.addrsig_sym leaf
.addrsig_sym elsewhere
