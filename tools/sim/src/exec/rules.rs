//! What an instruction does to its sources and results beside its meaning, by processor.

use isa::Target;
use isa::table::{Caps, Family, Num, Role, Row};
use isa::target::Generation;

/// What happens to denormals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Denormals {
    /// As MODE says for the format of each source and of the result.
    #[default]
    Mode,
    /// They stay.
    Keep,
    /// They become zeros of their sign, whatever MODE says.
    Flush,
}

/// See [`rules`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rules {
    pub(crate) denormals: Denormals,
    /// A 16-bit result leaves the upper half of its register alone.
    pub(crate) keep_high: bool,
    /// VOP3P of halves: `op_sel` chooses among them.
    pub(crate) packed_halves: bool,
    /// VOP3P of floats: the modifiers of signs mean something.
    pub(crate) packed_float: bool,
    /// Factors of a matrix instruction take two registers.
    pub(crate) wide_factors: bool,
}

/// The rules of an instruction on a processor.
pub(crate) fn rules(target: &Target, row: &Row) -> Rules {
    let num = row.ops.get(1).map(|spec| (spec.num, spec.width));
    let packed = row.family == Family::Vop3p;
    Rules {
        denormals: denormals(target, row.name),
        keep_high: keeps_high(target, row),
        packed_halves: packed && row.name.starts_with("v_dot2_"),
        packed_float: packed && num.is_some_and(|(num, _)| num.is_float()),
        wide_factors: num.is_some_and(|(_, width)| width == 2),
    }
}

fn denormals(target: &Target, name: &str) -> Denormals {
    let extremum = ["v_min", "v_max", "v_med3"].iter().any(|start| name.starts_with(start));
    match name {
        // Before GFX9, MODE does not reach these.
        _ if extremum && target.generation < Generation::Gfx9 => Denormals::Keep,
        _ if name.contains("_class_") => Denormals::Keep,
        // "Denormals are flushed" (Vega ISA, V_RCP_F32 and its neighbours). Sine and cosine are of the same unit.
        "v_rcp_f32" | "v_rcp_iflag_f32" | "v_rcp_clamp_f32" | "v_rcp_legacy_f32" | "v_rsq_f32"
        | "v_rsq_clamp_f32" | "v_rsq_legacy_f32" | "v_sqrt_f32" | "v_exp_f32" | "v_exp_legacy_f32"
        | "v_log_f32" | "v_log_clamp_f32" | "v_log_legacy_f32" => Denormals::Flush,
        // These flush in between too, which their handlers do.
        "v_mad_f32" | "v_mac_f32" | "v_madak_f32" | "v_madmk_f32" | "v_mad_legacy_f32"
        | "v_mac_legacy_f32" | "v_mad_f16" | "v_mad_legacy_f16" | "v_mac_f16" | "v_madak_f16"
        | "v_madmk_f16" => Denormals::Keep,
        _ => Denormals::Mode,
    }
}

/// GFX8 clears the upper half of a 16-bit result; GFX10 leaves it alone; on GFX9 that depends on the instruction.
fn keeps_high(target: &Target, row: &Row) -> bool {
    let half = row.ops.first().is_some_and(|spec| spec.role != Role::Use && spec.num.is_half());
    if !half || row.family == Family::Vop3p || row.ops[0].num == Num::V2F16 {
        return false;
    }
    match target.generation {
        Generation::Gfx10 => true,
        Generation::Gfx9 => {
            let accumulates = matches!(row.name, "v_mac_f16" | "v_madak_f16" | "v_madmk_f16");
            accumulates || row.caps.contains(Caps::OP_SEL)
        }
        _ => false,
    }
}
