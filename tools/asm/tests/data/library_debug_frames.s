// llvm-mc-19 -mcpu=gfx1010 --amdhsa-code-object-version=4
// Call frames for debuggers only.
.amdgcn_target "amdgcn-amd-amdhsa--gfx1010"
.cfi_sections .debug_frame

.p2align 8
first:
  .cfi_startproc
  .cfi_return_column s30
  s_nop 0
  .cfi_def_cfa s32, 0
  .cfi_offset s105, -4
  .cfi_offset v0, 4
  s_endpgm
  .cfi_endproc
second:
  .cfi_startproc
  .cfi_signal_frame
  .cfi_personality 0, personality
  .cfi_lsda 0, table
  s_nop 0
  .cfi_offset v255, 1024
  .cfi_restore v255
  s_endpgm
  .cfi_endproc
