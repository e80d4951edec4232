// llvm-mc-19 -mcpu=gfx906
.text
.weak foo
a:
 s_nop 0
b:
 v_nop
c:
 s_endpgm
.section .data.rel.ro,"aw",@progbits
 .quad a
.section .text.x,"axG",@progbits,grp,comdat
x:
 s_endpgm
 .long foo
.section .text.xx,"axG",@progbits,grp,comdat
 s_endpgm
.section .text.x2,"axG",@progbits,g2
.globl g2
g2:
 s_endpgm
.section .text.y,"axo",@progbits,.text
 s_endpgm
.section .text.y,"axo",@progbits,x
 s_endpgm
.section .text.y0,"axo",@progbits,0
 s_endpgm
.section .text.z,"axR",@progbits
 s_endpgm
.section .text.w,"ax",@progbits,unique,1
 s_nop 0
.section .text.w,"ax",@progbits,unique,2
 s_nop 1
.section .text.w,"ax",@progbits,unique,1
 s_nop 3
.section .rodata.s,"aMSG",@progbits,1,grp,comdat,unique,7
 .asciz "x"
.text
.reloc 4, R_AMDGPU_ABS32, foo+4
.reloc 4, R_AMDGPU_ABS32
.reloc ., R_AMDGPU_ABS32, 8
