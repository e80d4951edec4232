// llvm-mc-19 -mcpu=gfx1010 -fdebug-compilation-dir=.
// Line tables of version 5: names in a section of their own, checksums, sources.
.amdgcn_target "amdgcn-amd-amdhsa--gfx1010"
.file 0 "kernel.cl" md5 0x0123456789abcdef0123456789abcdef source "kernel void k() {}\n"
.file 1 "include" "helper.h" md5 0x00000000000000000000000000000001
.file 2 "include/kernel.cl" md5 18446744073709551616 source ""
.file 3 "helper.h" md5 0xffffffffffffffffffffffffffffffff source "kernel.cl"
.loc 0 1
  s_nop 0
.loc 1 2 3
  s_nop 0
.loc 2 1
.cfi_startproc
  s_nop 0
.loc 0 1
  s_endpgm
.cfi_endproc
.section .debug_line
.Ltables:
.section .debug_info
  .long .Ltables
