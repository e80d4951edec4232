//! Says how faithfully the emulator executes each instruction. Documentation and tests use this data. The
//! data is separate from the handlers, which execute the instructions.

mod memory;
mod scalar;

use isa::Target;
use isa::table::{Family, Row};

/// How close the emulator comes to the hardware when it executes an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fidelity {
    /// The result is bit for bit as the manuals say, in every mode.
    Exact,
    /// The result is close to the hardware's result, or to the result that the manual requires. The text
    /// states the bound of the difference.
    Approximate(&'static str),
    /// The emulator refuses to execute the instruction: the dispatch stops with a message that names the
    /// instruction. The text is the reason.
    Refused(&'static str),
}

/// The bound for reciprocals and similar f32 functions: the Vega ISA manual states their error.
const ONE_ULP: Fidelity = Fidelity::Approximate(
    "the emulator's result is correctly rounded to nearest, and the hardware's result is within 1 ulp; both flush denormals",
);
const HALF: Fidelity = Fidelity::Approximate(
    "the emulator's result is correctly rounded to nearest, and the hardware's result is within 0.51 ulp",
);
const TRIGONOMETRIC: Fidelity = Fidelity::Approximate(
    "the emulator rounds a result of double precision; the hardware's result has an absolute error of about 2^-20 for \
     arguments within 256 turns",
);
const DOUBLE: Fidelity = Fidelity::Approximate(
    "the emulator's result is correctly rounded to nearest, and the hardware's result is within 2^29 ulp; programs \
     refine the result by Newton's method",
);
const DOT: Fidelity = Fidelity::Approximate(
    "the emulator adds exact products and rounds the sum once, but the hardware may round after each addition; the \
     difference is at most 1 ulp of the largest partial sum",
);
const MATRIX: Fidelity = Fidelity::Approximate(
    "the emulator computes a chain of fused multiply-adds in the order of k, but the hardware's order and inner \
     precision are not documented; the difference is at most k ulp of the largest partial sum",
);

/// Names of the vector instructions with approximated results, each with the bound.
const APPROXIMATED: &[(&str, Fidelity)] = &[
    ("v_rcp_f16", HALF),
    ("v_rsq_f16", HALF),
    ("v_sqrt_f16", HALF),
    ("v_exp_f16", HALF),
    ("v_log_f16", HALF),
    ("v_sin_f16", TRIGONOMETRIC),
    ("v_cos_f16", TRIGONOMETRIC),
    ("v_sin_f32", TRIGONOMETRIC),
    ("v_cos_f32", TRIGONOMETRIC),
    ("v_rcp_f32", ONE_ULP),
    ("v_rcp_iflag_f32", ONE_ULP),
    ("v_rcp_clamp_f32", ONE_ULP),
    ("v_rcp_legacy_f32", ONE_ULP),
    ("v_rsq_f32", ONE_ULP),
    ("v_rsq_clamp_f32", ONE_ULP),
    ("v_rsq_legacy_f32", ONE_ULP),
    ("v_sqrt_f32", ONE_ULP),
    ("v_exp_f32", ONE_ULP),
    ("v_exp_legacy_f32", ONE_ULP),
    ("v_log_f32", ONE_ULP),
    ("v_log_clamp_f32", ONE_ULP),
    ("v_log_legacy_f32", ONE_ULP),
    ("v_rcp_f64", DOUBLE),
    ("v_rcp_clamp_f64", DOUBLE),
    ("v_rsq_f64", DOUBLE),
    ("v_rsq_clamp_f64", DOUBLE),
    ("v_sqrt_f64", DOUBLE),
    ("v_dot2_f32_f16", DOT),
    ("v_dot2c_f32_f16", DOT),
];

/// Returns how faithfully the emulator executes an instruction. Returns `None` for an entry of the
/// instruction table that no processor executes.
pub fn fidelity(row: &Row, _target: &Target) -> Option<Fidelity> {
    match row.family {
        Family::Vintrp => Some(Fidelity::Refused(
            "interpolates vertex attributes, which only graphics pipelines put into LDS",
        )),
        _ if !row.is_valu() => memory::fidelity(row).or_else(|| scalar::fidelity(row)),
        _ if row.name == "v_illegal" => {
            Some(Fidelity::Refused("raises an illegal instruction exception, and does nothing else"))
        }
        _ if row.name.starts_with("v_mfma_f") => Some(MATRIX),
        _ => {
            let found = APPROXIMATED.iter().find(|(name, _)| *name == row.name);
            Some(found.map_or(Fidelity::Exact, |&(_, fidelity)| fidelity))
        }
    }
}
