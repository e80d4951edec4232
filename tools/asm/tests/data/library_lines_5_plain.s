// llvm-mc-19 -mcpu=gfx906
// Version 5, because file 0 comes late; one file without a checksum takes them from all.
.amdgcn_target "amdgcn-amd-amdhsa--gfx906"
.file 1 "/src" "kernel.cl"
.loc 1 7
  s_nop 0
.file 0 "/src" "kernel.cl" md5 0x0123456789abcdef0123456789abcdef
.file 2 "/src" "other.cl"
.file 3 "/src" "kernel.cl" md5 0x0123456789abcdef0123456789abcdef
.loc 0 8
  s_nop 0
.loc 2 9
  s_nop 0
