// llvm-mc-19 -mcpu=gfx906 --amdhsa-code-object-version=4
// Call frames: what a device function saves and where, for unwinders and for debuggers.
.amdgcn_target "amdgcn-amd-amdhsa--gfx906"
.cfi_sections .eh_frame, .debug_frame

.text
.globl first
.p2align 8
.type first,@function
first:
  .cfi_startproc
  .cfi_escape 0x0f, 0x03, 0x30, 0x36, 0xe1
  .cfi_undefined 16
  .cfi_undefined pc
  s_waitcnt vmcnt(0)
  .cfi_llvm_def_aspace_cfa 65, 0, 6
  .cfi_def_cfa_register s33
  s_nop 0
  .cfi_def_cfa s32, 64
  .cfi_offset s30, -8
  .cfi_offset v40, 256
  .cfi_rel_offset 3, 68
  .cfi_rel_offset s31, 0
  .cfi_adjust_cfa_offset -32
  .cfi_remember_state
.fill 70, 4, 0xbf800000
  .cfi_restore s30
  .cfi_restore 12
  .cfi_register s64, v255
  .cfi_same_value exec
  .cfi_undefined exec_lo
.fill 300, 4, 0xbf800000
  .cfi_restore_state
  .cfi_adjust_cfa_offset 8
  .cfi_def_cfa_offset 128
  .cfi_window_save
.space 0x40000
  .cfi_undefined 5000
  s_setpc_b64 s[30:31]
.Lfirst_end:
  .cfi_endproc
.size first, .Lfirst_end-first

.macro frame, column, rest:vararg
  .cfi_startproc \rest
  .cfi_return_column \column
  s_nop 0
  .cfi_offset 20, 8
  s_setpc_b64 s[30:31]
  .cfi_endproc
.endm
frame s30
frame 16, simple
frame s30

.text 1
handler:
  .cfi_startproc
  .cfi_signal_frame
  s_nop 0
  .cfi_label handler_table
  .cfi_undefined 7
  s_endpgm
  .cfi_endproc

.cfi_sections .eh_frame
.section .text.cold,"ax",@progbits
  .cfi_startproc
  .cfi_personality 0x9b, personality
  .cfi_lsda 0x1b, .Ltable
  s_nop 1
  .section .text.colder,"ax",@progbits
    .cfi_startproc
    .cfi_personality 0, personality
    .cfi_lsda 0xff
    s_nop 2
    .cfi_def_cfa_offset 16
    .cfi_endproc
  .previous
  .cfi_def_cfa_offset 8
  .cfi_endproc
  .cfi_startproc
  .cfi_personality 0x1b, another_personality
  .cfi_lsda 0x03, table
  .cfi_endproc
  .cfi_startproc
  .cfi_lsda 0x0c, table
  .cfi_endproc

.section .gcc_except_table,"a",@progbits
.byte 0
.Ltable:
table:
  .quad handler_table
// A section that comes after a subsection, and that frames are added to.
.text 4
  s_nop 0
.section .eh_frame
  .byte 1, 2, 3, 4
