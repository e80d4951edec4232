// Call frames, which a linker ends with a mark.
.globl f
.type f,@function
f:
.cfi_startproc
 s_nop 0
.cfi_undefined 3
 s_endpgm
.cfi_endproc
.globl g
.type g,@function
g:
.cfi_startproc
.cfi_signal_frame
 s_nop 0
.cfi_undefined 3
 s_endpgm
.cfi_endproc
.p2align 3
