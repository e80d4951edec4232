//! How faithful each instruction's meaning is: data beside the handlers, for documentation and tests.

mod memory;
mod scalar;

use isa::Target;
use isa::table::{Family, Row};

/// How close the emulator comes to the hardware for an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fidelity {
    /// Bit for bit what the manuals say, in every mode.
    Exact,
    /// Within a bound of what the hardware gives, or of what the manual asks for.
    Approximate(&'static str),
    /// Not executed: the dispatch stops and names the instruction.
    Refused(&'static str),
}

/// Reciprocals and the like of f32: what the Vega ISA promises.
const ONE_ULP: Fidelity = Fidelity::Approximate(
    "correctly rounded to nearest here; the hardware is within 1 ulp and flushes denormals, as is done here",
);
const HALF: Fidelity =
    Fidelity::Approximate("correctly rounded to nearest here; the hardware is within 0.51 ulp");
const TRIGONOMETRIC: Fidelity = Fidelity::Approximate(
    "rounded from double precision; the hardware has an absolute error of about 2^-20 within 256 turns",
);
const DOUBLE: Fidelity = Fidelity::Approximate(
    "correctly rounded to nearest here; the hardware is within 2^29 ulp, which programs refine by Newton's method",
);
const DOT: Fidelity = Fidelity::Approximate(
    "products exact, their sum rounded once; the hardware may round after each addition: 1 ulp of the largest partial sum",
);
const MATRIX: Fidelity = Fidelity::Approximate(
    "a chain of fused multiply-adds in the order of k; the hardware's order and inner precision are not documented: \
     k ulp of the largest partial sum",
);

/// The base names, without format, of what is approximated.
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

/// How faithful an instruction is; `None` for what no processor executes.
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
