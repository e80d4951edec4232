// llvm-mc-19 -mcpu=gfx906
// Hand-written convolution style: nested macros, conditions, defaults, varargs, counters.
.amdgcn_target "amdgcn-amd-amdhsa--gfx906"
.ifndef unroll
.set unroll, 3
.endif
.ifdef no_such_symbol
.error "not defined"
.endif
.macro .GPR_ALLOC_BEGIN
  .set .AVAILABLE, 0
.endm
.macro .VGPR_ALLOC name, count=1
  .set \name, .AVAILABLE
  .set .AVAILABLE, .AVAILABLE + \count
.endm
.macro m_load dst:req, base, off=0, flags:vararg
  global_load_dword v[\dst], v[\base:\base+1], off offset:\off \flags
.endm
.macro m_log2 dst, value
  .if \value <= 1
    .set \dst, 0
  .elseif \value <= 2
    .set \dst, 1
  .else
    m_log2 \dst, (\value)/2
    .set \dst, \dst+1
  .endif
.endm
.macro v_index op, dst, src
  \op\()_u32_e32 v[\dst], \src, v[\dst]
.endm
.macro each list:vararg
  .irp r, \list
    v_mov_b32 v[\r], 0
  .endr
.endm
.macro maybe flag, code
  .if \flag == 0
    .exitm
  .endif
  \code
.endm
.GPR_ALLOC_BEGIN
  .VGPR_ALLOC v_ptr, 2
  .VGPR_ALLOC v_data, unroll
  .VGPR_ALLOC v_acc
.text
.globl conv
.p2align 8
.type conv,@function
conv:
  m_log2 shift, 64
  v_lshlrev_b32 v[v_ptr], shift, v[v_ptr]
  .set i, 0
  .rept unroll
    m_load v_data+i, v_ptr, i*64, glc slc
    .set i, i+1
  .endr
  s_waitcnt vmcnt(0) & lgkmcnt(0)
  each v_acc, 20, 21
  v_index v_add, v_acc, 5
  maybe 0, "s_nop 1"
  maybe 1, "s_nop 2"
1:
  s_sub_u32 s4, s4, 1
  s_cmp_lg_u32 s4, 0
  s_cbranch_scc1 1b
  .irpc digit, 123
  s_nop \digit
  .endr
  s_branch 2f
2:
  s_endpgm
.purgem maybe
.ifc abc, abc
.byte 1
.endif
.ifnc abc, abd
.byte 2
.endif
.ifb
.byte 3
.endif
.ifnb x
.byte 4
.endif
.ifeqs "a", "a"
.byte 5
.endif
