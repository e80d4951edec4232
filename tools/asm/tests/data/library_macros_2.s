// llvm-mc-19 -mcpu=gfx906
// What `.altmacro` takes where an argument begins, and nowhere else; the counters that a file of several kernels resets.
	.data
	.altmacro
	.macro two a, b
	.long a, b
	.endm
	two 5%2, 3<4
	two <1> <2>
	two %1+2 4
	two b=<3>, a=%7-1
	two b = 5, a= <6>
	.macro text a
	.ascii "\a"
	.endm
	text a=<x y>
	.irp x, <8>, 9
	.long x
	.endr
	.irpc x, 12
	.long x&0
	.endr
	.set twelve, 12
	.macro masked n, m
	.long twelve&n
	.long n&m
	.endm
	masked 6, 5
	.noaltmacro
	.macro many a, b=9, c:vararg
	.long \a, \b, \c
	.endm
	many c=7, a=2
	many b=1, a=2, c=7, 8
	many 1, 2, c=7, 8
	.irp x,
	.long 7
	.endr
	.irpc x,345
	.byte \x
	.endr
	.section .one,"aG",@progbits,family,comdat
	.long 1
	.section .two,"a?",@progbits
	.long 2
	.text
	.section .four,"a?",@progbits
	.type unique, @gnu_unique_object
unique:
	.type chosen, @gnu_indirect_function
chosen:
	.text
	.set .amdgcn.next_free_vgpr, 0
	.set .amdgcn.next_free_sgpr, 0
	v_mov_b32 v3, s9
	.long .amdgcn.next_free_vgpr
