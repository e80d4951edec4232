//! Pseudo-instructions, which exist between instruction selection and emission and are never encoded.

use super::codes::NOWHERE;
use super::rows;
use super::spec::*;

// The operands of pseudo-instructions are not described by specs:
// * `COPY dst, src`: tuples of equal length. Both have the same class, or the destination is in VGPRs and the
//   source is in SGPRs or a constant (32-bit parts; lowered to `s_mov_b32`/`s_mov_b64`/`v_mov_b32`).
// * `UNDEF dst`: any value.
// * `FENCE`: `mem` gives the accesses that it orders; lowered by the memory model to waits and cache
//   operations.
// * `WAIT_POINT imm`: all operations of the counters in the mask (1 vm, 2 lgkm, 4 exp, 8 vs) must be complete
//   here; merged into the `s_waitcnt` instructions that data flow requires.
// * `CALL results, arguments, ids, scalars, target`: `mir::MachFunc::calls` has the callee, the register of
//   each operand except the last, and the clobbered registers. Absent operands are `off`. Operands are tuples,
//   each in consecutive registers; the target is a pair of SGPRs, for a call through an address. Lowered when
//   call frames are known (`regalloc::frame`).
// * `TAIL_CALL off, arguments, ids, scalars, target`: a call at the end of a function that does not return
//   here: a jump. The target is in `TAIL_TARGET`.
// * `RETURN results`: the results are in VGPRs from 0 on.
// * `STACK_END dst`: the end of the call frame, in bytes of the wave's scratch memory. The stack arguments of
//   called functions start there.
rows! { ROWS, Pseudo;
    COPY "copy" NOWHERE, [];
    UNDEF "undef" NOWHERE, [];
    FENCE "fence" NOWHERE, [], flags ORDERED;
    WAIT_POINT "wait_point" NOWHERE, [], flags ORDERED;
    CALL "call" NOWHERE, [], implicit W_SCC W_VCC W_M0 R_EXEC, flags ORDERED;
    TAIL_CALL "tail_call" NOWHERE, [], implicit W_SCC W_VCC R_EXEC, flags ORDERED BRANCH NO_FALLTHROUGH;
    RETURN "return" NOWHERE, [], implicit R_EXEC, flags BRANCH NO_FALLTHROUGH;
    STACK_END "stack_end" NOWHERE, [], implicit W_SCC;
}
