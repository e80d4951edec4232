// llvm-mc-19 -mcpu=gfx1030
// Every directive that writes data.
.amdgcn_target "amdgcn-amd-amdhsa--gfx1030"
.data
bytes:
.byte 1, -1, 'a'
.short bytes_end-bytes
.short 0x1234
.2byte 3
.value 4
.long 5, after
.int 6
.4byte 7
.quad 8, bytes+4
.8byte 9
.octa 0x0123456789abcdef0123456789abcdef, 1
.dc.b 1
.dc.w 2
.dc 3
.dc.l 4
.dc.a 5
.dc.s 1.5
.dc.d 2.5
.dcb.b 3, 7
.dcb.w 2, 7
.dcb.l 2, 7
.ds.b 3
.ds.w 1
.ds.l 1
.float 1.0, -2.5
.single 3.0
.double 4.0
.ascii "abc\n", "d"
.asciz "e"
.string "f\"g"
.fill 3, 2, 0x1122
.zero 2
.space 3, 1
.skip 2
.p2align 3
.balign 16, 0xff
.p2alignw 4, 0x1234
.balignl 32, 0x12345678
.uleb128 300
.sleb128 -300
.org bytes+0x180, 5
bytes_end:
.set one, 1
.equ two, one+1
.equiv three, two+1
four = three + 1
.long one, two, three, four
.long max(one, four), or(one, four), alignto(5, 8)
.comm shared, 16, 2
.lcomm private, 8
.section .rodata.custom,"aM",@progbits,4
.long 1
.pushsection .text
after:
s_nop 0
.popsection
.long 2
.previous
.bss
.zero 8
.ident "kernc"
