//! Exports: instructions that pass data from a shader to the fixed-function hardware.

use super::{rows, spec::*};

rows! { EXP, Exp;
    EXP_TARGET "exp" op(0x0).until(Gfx90a), [export_target(), channel(), channel(), channel(), channel()], implicit R_EXEC, flags EXP ORDERED;
    // LLVM 14 assembles exports on gfx90a, although gfx90a has no export targets. LLVM 19 does not.
    EXP_TARGET_GFX90A "exp" since(Gfx90a, 0x0).until(Gfx940), [export_target(), channel(), channel(), channel(), channel()], implicit R_EXEC, flags EXP ORDERED ALIAS;
}
