// llvm-mc-19 -mcpu=gfx1010 -mattr=+wavefrontsize64
// Numbers whose sizes move the labels that they are made of; in a subsection, too; beside branches over 63 dwords.
.text
a:
 .uleb128 b-a
 .zero 125
b:
 .uleb128 c-b, d-c
 .zero 127
c:
 .sleb128 a-d
 .zero 16380
d:
 .sleb128 e-d
 .zero 62
e:
 .section .text.far,"ax"
 .subsection 1
 .fill g-f, 2, 0xabcd
f:
 .long 0
g:
 .p2align 2
 s_cbranch_scc0 far
 .fill g-f+58, 4, 0xbf800000
far:
 s_endpgm
