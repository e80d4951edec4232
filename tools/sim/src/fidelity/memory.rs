//! Says how faithfully memory, image and export instructions are emulated.

use super::Fidelity;
use isa::table::{Family, Flags, Row};

const IMAGES: Fidelity = Fidelity::Refused("images and their sampling belong to graphics");
const EXPORTS: Fidelity = Fidelity::Refused("exports go to the graphics pipeline");
const GDS: Fidelity = Fidelity::Refused("the global data share and its semaphores are not emulated");
const CLOCK: Fidelity =
    Fidelity::Approximate("the clock counts four for each executed instruction, and does not count cycles");
const HALVES: Fidelity = Fidelity::Approximate(
    "the emulator rounds numbers to f16 to nearest even, but the hardware's rounding is not documented; the \
     difference is at most 1 ulp of f16",
);
const TYPED_STORE: Fidelity = Fidelity::Approximate(
    "the emulator rounds fractions and f16 to nearest even, rounds scaled numbers and floats of 10 and 11 bits toward \
     zero, and stores the low bits of integers, but the hardware's rounding is not documented; the difference is at \
     most 1 unit in the last place",
);
const FLOAT_SUM: Fidelity = Fidelity::Approximate(
    "the emulator rounds sums to nearest even and treats f32 denormals as zero; the hardware's treatment of denormals \
     depends on the kind of memory",
);

/// Returns how faithfully the emulator executes a memory, image or export instruction. Returns `None` for all
/// other instructions.
pub(super) fn fidelity(row: &Row) -> Option<Fidelity> {
    let typed = row.name.contains("_format_");
    Some(match row.family {
        Family::Mimg => IMAGES,
        Family::Exp => EXPORTS,
        Family::Ds if row.flags.contains(Flags::GDS_ONLY) => GDS,
        Family::Smem if row.name.starts_with("s_mem") => CLOCK,
        Family::Mubuf | Family::Mtbuf if typed && row.flags.contains(Flags::STORE) => TYPED_STORE,
        Family::Mubuf | Family::Mtbuf if row.name.contains("_d16_") && typed => HALVES,
        Family::Mubuf | Family::Global | Family::Flat
            if row.name.ends_with("_add_f32") || row.name.ends_with("_add_f16") =>
        {
            FLOAT_SUM
        }
        Family::Smem | Family::Ds | Family::Mubuf | Family::Mtbuf => Fidelity::Exact,
        Family::Flat | Family::Global | Family::Scratch => Fidelity::Exact,
        _ => return None,
    })
}
