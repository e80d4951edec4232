// llvm-mc-19 -mcpu=gfx906 --amdhsa-code-object-version=4
// Line tables of version 4: rows of every distance, all options, several sections, directories.
.amdgcn_target "amdgcn-amd-amdhsa--gfx906"
.file "kernel.cl"
.file 1 "/build" "kernel.cl"
.file 2 "include/helper.h"
.file 3 "include/other.h"
.file 5 "../up//deep.h" md5 0x0123456789abcdef0123456789abcdef
.file 4 "include" "sub/third.h" source "text"
.file 6 "/"
.file 7 "trailing/"
.file 8 "/top.h"
.file 9 ""

.text
.globl entry
.p2align 8
.type entry,@function
entry:
.loc 1 10 0
  s_nop 0
.loc 1 10 5 prologue_end
  s_nop 0
.loc 2 3 7 is_stmt 0
  s_nop 0
.loc 2 4 7
  s_nop 0
.loc 1 19 1 is_stmt 1 discriminator 3
  s_nop 0
.loc 1 28
  s_nop 0
.loc 1 23
.fill 17, 4, 0xbf800000
.loc 1 23
.fill 18, 4, 0xbf800000
.loc 1 24
.fill 34, 4, 0xbf800000
.loc 1 25
.fill 35, 4, 0xbf800000
.loc 1 34
.fill 17, 4, 0xbf800000
.loc 1 1000
.fill 17, 4, 0xbf800000
.loc 1 2
.fill 100, 4, 0xbf800000
.loc 3 2 70000 basic_block epilogue_begin isa 2 discriminator 1000
.fill 1000, 4, 0xbf800000
.loc 3 2
.loc 4 4294967295
.loc 5 0x10 0b11 is_stmt 2-1
  s_endpgm
.size entry, .-entry

// No row begins at padding and at nothing.
.loc 1 50
.p2align 8
.zero 8
.org .+8
.globl second
second:
  s_nop 0
.loc 1 51
  .ident "the section changes"
  s_nop 0
.loc 1 52
.uleb128 5
.loc 1 53
.byte 1,2,3
.loc 1 54
.asciz "text"
.loc 1 55
.dcb.b 3, 1
.loc 1 56
.ds.b 3
.loc 1 57
.long later
.loc 1 58

.section .text.cold,"ax",@progbits
.loc 1 60
  s_endpgm
.fill 16, 4, 0xbf800000
.data
.loc 1 61
later: .long 0
.text
.loc 1 62
  s_nop 0
.text 1
.loc 1 63
  s_nop 0
