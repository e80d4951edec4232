//! How faithfully memory, image and export instructions are emulated.

use super::Fidelity;
use isa::table::{Family, Flags, Row};

const IMAGES: Fidelity = Fidelity::Refused("images and their sampling belong to graphics");
const EXPORTS: Fidelity = Fidelity::Refused("exports go to the graphics pipeline");
const GDS: Fidelity = Fidelity::Refused("the global data share and its semaphores are not emulated");
const CLOCK: Fidelity = Fidelity::Approximate("counts instructions, four each, not cycles");
const HALVES: Fidelity = Fidelity::Approximate(
    "numbers become f16 by rounding to nearest even; the hardware's rounding is not documented: 1 ulp of f16",
);
const TYPED_STORE: Fidelity = Fidelity::Approximate(
    "fractions and f16 rounded to nearest even, scaled numbers and floats of 10 and 11 bits toward zero, integers cut \
     off; the hardware's rounding is not documented: 1 unit in the last place",
);
const FLOAT_SUM: Fidelity = Fidelity::Approximate(
    "rounded to nearest even, denormals of f32 count as zero; what the hardware does with denormals differs between \
     memories",
);

/// Returns the fidelity of an instruction; `None` for families that do not access memory.
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
