// llvm-mc-19 -mcpu=gfx906
# 1 "preprocessed.cl"
.text
.set five, 5
.equ six, five + 1
seven = six+1
.macro twice what, count=2
  .rept \count
  \what
  .endr
.endm
.macro nested a:req, b=v1, rest:vararg
  v_mov_b32 \a, \b
  .if \@ > 2
  s_nop \@
  .else
  s_nop 1
  .endif
  \rest
.endm
.macro label name
\name\()_end\@: s_nop 0
  .ifnb \name
    s_branch \name\()_end\@
  .endif
.endm
start: twice s_barrier
twice "s_nop 3", 3
twice count=1, what=s_endpgm
nested v0
nested v2, v3
nested v4 v5 s_nop 6
nested v4, v5, s_nop seven
label foo
label foo
.irp reg, 1, 2,3
  v_mov_b32 v\reg, s\reg
.endr
.irpc digit, 0123
  s_nop \digit
.endr
1: s_branch 1b
 s_branch 1f
1: s_cbranch_scc0 1b
.rept 3
2: s_branch 2b
.endr
.if five == 5 && seven > six
 s_nop 5
 .ifdef undefined_thing
  .error "no"
 .elseif 1
  s_nop 4
 .endif
.elseif 1
 .error "not here"
.else
 .error "nor here"
.endif
.ifndef other
 s_nop 6
.endif
.ifc a b, a b
s_nop 1
.endif
.ifeqs "x", "y"
s_nop 2
.else
s_nop 3
.endif
/* a comment
   of two lines */ s_nop 0 // and more
s_nop five|2  ; comment
s_nop (1 << 3) - 2 * 3 + 7 % 4
s_mov_b32 s0, ~5 & 0xff
s_mov_b32 s0, 1 + 2 | 4
s_mov_b32 s0, 10 - 3 - 2
s_mov_b32 s0, 3 == 3
s_mov_b32 s0, !0
s_mov_b32 s0, -5 / 2
s_mov_b32 s0, 0b101
s_mov_b32 s0, 017
s_mov_b32 s0, 'A' + 1
s_mov_b32 s0, 0x7fffffff
s_mov_b32 s0, start-finish
s_mov_b32 s0, finish-start
s_add_u32 s0, s0, undefined_symbol@rel32@lo+4
s_addc_u32 s1, s1, undefined_symbol@rel32@hi+12
s_add_u32 s0, s0, hidden_symbol@gotpcrel32@lo+4
s_addc_u32 s1, s1, hidden_symbol@gotpcrel32@hi+12
s_mov_b32 s0, data_symbol@abs32@lo
s_mov_b32 s0, data_symbol@abs32@hi
.p2align 4
finish:
.balign 32
.p2align 3, 0xee
s_nop 0
.p2align 5,,4
.size start, finish-start
.type start,@function
.hidden hidden_symbol
.data
data_symbol:
.byte 1, 2, -1, 255, five
.short 1, -2, 0xffff
.long 1, -2, 0xffffffff, data_symbol, finish-start, . - data_symbol
.p2align 3
.quad 1, -2, 0xffffffffffffffff, data_symbol + 8, start
.float 1.0, -2.5, 1e10
.double 1.0, -2.5, 3.14159265358979
.ascii "abc", "d\n\t\\\"\101\x41"
.asciz "zero"
.string "more"
.fill 3, 2, 0x1234
.fill 2
.fill 2, 8, 1
.zero 5
.space 3, 0x55
.skip 2
.org data_symbol + 256
.byte 7
.uleb128 300
.sleb128 -300
.align 8
.2byte 1
.4byte 2
.8byte 3
.int 4
.section .mydata,"aw",@progbits
.long 1
.pushsection .other,"a"
.long 2
.popsection
.long 3
.previous
.byte 9
.section .text
s_nop 9
.bss
buffer: .space 64
.globl buffer
.type buffer,@object
.size buffer, 64
.comm common_thing, 16, 8
.local local_common
.comm local_common, 8, 4
.weak weak_thing
.protected protected_thing
.globl protected_thing
.section .rodata.str,"aMS",@progbits,1
.asciz "hello"
.set alias, start
.globl alias
.ident "someone"
.ident "someone else"
.section ".note.GNU-stack","",@progbits
.text
.quad protected_thing - .
.long weak_thing - .
.long finish - buffer_in_text
buffer_in_text:
s_nop 0
