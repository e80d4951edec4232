// llvm-mc-19 -mcpu=gfx906 --amdhsa-code-object-version=4
// What the name of a section says about its type and its flags.
.amdgcn_target "amdgcn-amd-amdhsa--gfx906"
.section .debug_str
.asciz "text"
.section .debug_info
.long 1
.section .debug_info.dwo
.long 1
.section .data,"a"
.long 1
.section .text.part,"w"
s_nop 0
.section .rodata.cst8
.quad 1
.section .rodata.cst2
.short 1
.section .init_array
.quad 1
.section .fini_array.1,"a"
.quad 1
.section .bss.part,"a"
.zero 4
.section .gcc_except_table
.byte 1
.section .eh_frame
.byte 1
.section .debug_str,"MS",@progbits,1
.asciz "another text"
