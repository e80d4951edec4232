// llvm-mc-19 -mcpu=gfx906 --amdhsa-code-object-version=4
// Hot code first, cold code and constants behind it, each written where it is used.
.amdgcn_target "amdgcn-amd-amdhsa--gfx906"

.text
.globl entry
.p2align 8
.type entry,@function
entry:
  s_cbranch_scc1 .Lcold
.Lback:
  s_getpc_b64 s[0:1]
.Lpc:
  s_add_u32 s0, s0, .Lconstants-.Lpc
  s_addc_u32 s1, s1, 0
.text 2
.p2align 3
.Lconstants:
  .long 1, 2, .Lconstants-entry
.p2align 4
constants_end:
  .long constants_end-.Lconstants
.subsection 1
.Lcold:
  s_nop 1
  s_branch .Lback
.text
  s_endpgm
.Lentry_end:
.size entry, .Lentry_end-entry

.data 2147483647
last:
  .quad last, first, entry
  .long .-first
.data
first:
  .byte 1
.data 7
  .byte 2
.balign 8, 0x11
in_the_middle:
  .byte 3
.org in_the_middle+6, 0x22
  .byte 4
.p2align 5,,2
  .byte 5
.previous
  .byte 6
.previous
  .byte 7
.size in_the_middle, last-in_the_middle

.section .lists,"aw",@progbits
  .long .Lsecond-.lists
.pushsection .lists, 1
.Lsecond:
  .short 2
.popsection
.pushsection .more, 3, "a", @progbits
  .quad .Lsecond
.popsection
.subsection
  .byte 8

.bss 1
  .zero 3
zeros:
  .zero 1
.bss
.p2align 2
  .zero 2
.section .rodata,"a"
.rodata 1
.p2align 6
.amdhsa_kernel kernel
  .amdhsa_next_free_vgpr vgprs
  .amdhsa_next_free_sgpr 8
.end_amdhsa_kernel
.rodata
  .byte 9
.text 3
.p2align 8
kernel:
  s_endpgm
.set vgprs, 7
