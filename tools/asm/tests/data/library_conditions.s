// llvm-mc-19 -mcpu=gfx906 --amdhsa-code-object-version=4
// One source for several generations, as tuned kernels have it: everything is decided by conditions.
.amdgcn_target "amdgcn-amd-amdhsa--gfx906"
.set gen, .amdgcn.gfx_generation_number
.set step, .amdgcn.gfx_generation_stepping
.set mid, .amdgcn.gfx_generation_minor
.ifeq gen - 9
  .set lanes, 64
.else
  .set lanes, 32
.endif
.ifne step - 6
  .error "another processor"
.endif
.ifgt mid
  .err
.endif
.ifge lanes - 64
  .set shift, 6
.endif
.iflt lanes - 64
  .set shift, 5
.endif
.ifle lanes - 64
  .set wide, 1
.endif
.ifnotdef tuned
  .set depth, 2
.endif
.ifdef depth
  .set depth, depth * 2
.endif
.macro type_of name
  .ifc \name, half
    .set bytes, 2
  .else
    .ifnc \name, single
      .set bytes, 8
    .else
      .set bytes, 4
    .endif
  .endif
.endm
.macro suffixed name, text
  .ifb \text
    s_nop 1
  .endif
  .ifnb \text
    s_nop 2
  .endif
  .ifeqs "\name", "load"
    s_nop 3
  .endif
  .ifnes "\name", "load"
    s_nop 4
  .endif
.endmacro
.macro once value
  .ifndef seen
    .set seen, \value
  .elseif seen == \value
    .set seen, \value + 1
  .else
    .set seen, 0
  .endif
.endm
.text
.global tuned_kernel
.internal tuned_kernel
.p2align 8, , 255
.type tuned_kernel, @function
tuned_kernel:
  type_of half
  s_mov_b32 s0, bytes
  type_of single
  s_mov_b32 s1, bytes << shift
  type_of double
  s_movk_i32 s2, bytes*lanes+depth
  suffixed load
  suffixed store, x
  once 5
  once 5
  v_mov_b32 v0, seen
  .rep depth
    v_add_u32 v0, v0, v0
  .endr
  .if wide && !(gen == 10) || 0
    v_lshlrev_b32 v1, shift, v0
  .endif
  .if (lanes >> 5) == 2
    s_mov_b64 s[4:5], exec
  .else
    s_mov_b32 s4, exec_lo
  .endif
  s_endpgm
.size tuned_kernel, .-tuned_kernel
