// llvm-mc-19 -mcpu=gfx803 --amdhsa-code-object-version=4
// Tables of a codec: every way to write data and to fill room.
.amdgcn_target "amdgcn-amd-amdhsa--gfx803"
.section .rodata.codec, "a", @progbits
.p2align 4
codec:
  .byte 1, -2, 'a', '\n', 0xff
  .balign 4, 0x7f
  .short 0x1234, -1
  .2byte 2
  .value 3
  .int 4, 5
  .long 6
  .4byte 7
  .quad 8, -9
  .8byte 10
  .octa 0x0123456789abcdef0011223344556677, 5
  .dc.b 1, 2
  .dc.w 3
  .dc.l 4
  .dc.a 5
  .dcb.b 3, 0x11
  .dcb.w 2, 0x2222
  .dcb.l 2, 0x33333333
  .ds.b 3
  .ds.w 1
  .ds.l 2
  .float 1.5, -0.25, 1e-3
  .single 2.5
  .double 3.5, 6.02e23
  .dc.s 1.25
  .dc.d 1.25
  .dcb.s 2, 0.5
  .dcb.d 1, 0.5
  .ds.s 1
  .ds.d 1
  .zero 3
  .zero 2, 0x5a
  .skip 4
  .skip 4, 0x44
  .space 2, 0x55
  .fill 3, 2, 0x6677
  .fill 2, 4
  .ascii "two", "three\t\"\101\\"
  .asciz "end", ""
  .string "s"
  .balignw 8, 0x4142
  .p2alignl 4, 0xdeadbeef
  .uleb128 300, 5
  .sleb128 -300
  .long . - codec
  .org codec + 512, 0x99
codec_end:
  .long codec_end - codec
  .size codec, codec_end - codec
.section .tdata, "awT", @progbits
  .long 1
.section .tbss, "awT", @nobits
  .zero 16
.section .note, "", @note
  .long 4, 4, 1
  .asciz "ABC"
  .long 0
.bss
.p2align 6
workspace:
  .skip 4096
.lcomm private_area, 128
.comm common_area, 256, 6
.local moved
.comm moved, 32, 8
.version "codec 1"
.ident "a compiler"
