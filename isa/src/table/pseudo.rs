//! Pseudo instructions: alive between instruction selection and emission, never encoded.

use super::{NOWHERE, rows};

// Operands of the pseudos are not described by specs:
// * `COPY dst, src`: tuples of equal length, both classes the same, or a VGPR destination with an SGPR or constant
//   source (32-bit parts; lowered to `s_mov_b32`/`s_mov_b64`/`v_mov_b32`).
// * `UNDEF dst`: any value.
// * `FENCE`: `mem` says what it orders; lowered by the memory model to waits and cache operations.
// * `WAIT_POINT imm`: all operations of the counters in the mask (1 vm, 2 lgkm, 4 exp, 8 vs) must be complete here; merged
//   into the `s_waitcnt` that follows from data flow.
rows! { ROWS, Pseudo;
    COPY "copy" NOWHERE, [];
    UNDEF "undef" NOWHERE, [];
    FENCE "fence" NOWHERE, [], flags ORDERED;
    WAIT_POINT "wait_point" NOWHERE, [], flags ORDERED;
}
