//! Pseudo instructions: alive between instruction selection and emission, never encoded.

use super::spec::*;
use super::{NOWHERE, rows};

// Operands of the pseudos are not described by specs:
// * `COPY dst, src`: tuples of equal length, both classes the same, or a VGPR destination with an SGPR or constant
//   source (32-bit parts; lowered to `s_mov_b32`/`s_mov_b64`/`v_mov_b32`).
// * `UNDEF dst`: any value.
// * `FENCE`: `mem` says what it orders; lowered by the memory model to waits and cache operations.
// * `WAIT_POINT imm`: all operations of the counters in the mask (1 vm, 2 lgkm, 4 exp, 8 vs) must be complete here; merged
//   into the `s_waitcnt` that follows from data flow.
// * `CALL results, arguments, ids, scalars, target`: `MachFunc::calls` has who is called, the register of each operand but the
//   last, and what is lost. `off` for what there is not. Operands are tuples, each in consecutive registers; the target is a pair of
//   SGPRs, for a call through an address. Becomes code when frames are known (`regalloc::frame`).
// * `TAIL_CALL off, arguments, ids, scalars, target`: the same at the end of a function, which does not come back: a jump. The target is in
//   `TAIL_TARGET`.
// * `RETURN results`: results are in VGPRs from 0 on.
// * `STACK_END dst`: where the frame ends, in bytes of the wave: arguments on the stack of the functions that it calls begin there.
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
