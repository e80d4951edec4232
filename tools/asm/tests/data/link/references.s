.amdhsa_code_object_version 5
.text
.globl k
.p2align 8
.type k,@function
k:
 s_getpc_b64 s[4:5]
 s_add_u32 s4, s4, ext@rel32@lo+4
 s_addc_u32 s5, s5, ext@rel32@hi+12
 s_getpc_b64 s[4:5]
 s_add_u32 s4, s4, g@gotpcrel32@lo+4
 s_addc_u32 s5, s5, g@gotpcrel32@hi+12
 s_endpgm
.Le: .size k, .Le-k
.hidden ext
.globl ext
ext: s_endpgm
loc: s_endpgm
.data
.globl g
.p2align 3
g: .quad loc
h: .quad ext
 .quad g
 .size g, 8
.protected p
.globl p
p: .long 4
.bss
.globl z
z: .space 100
.section .rodata
.p2align 6
.amdhsa_kernel k
.amdhsa_next_free_vgpr 1
.amdhsa_next_free_sgpr 1
.end_amdhsa_kernel
.ident "hello"
