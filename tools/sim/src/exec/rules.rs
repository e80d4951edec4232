//! The rules by which an instruction reads its sources and writes its result, such as whether denormals are
//! flushed. Only rules that depend on the processor or the instruction are here. The operation itself is in
//! the instruction's handler.

use isa::Target;
use isa::table::{Caps, Family, Num, Role, Row};
use isa::target::HalfResults;

/// How an instruction treats denormals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Denormals {
    /// MODE decides whether denormals are flushed. MODE has separate fields for different float formats; the
    /// format of each source, and that of the result, select the field.
    #[default]
    Mode,
    /// Denormals are never flushed.
    Keep,
    /// Denormals are always replaced by zeros of the same sign, whatever MODE says.
    Flush,
}

/// Rules of an instruction on a processor. See [`rules`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rules {
    pub(crate) denormals: Denormals,
    /// Whether a 16-bit result leaves the upper half of the destination register unchanged.
    pub(crate) keep_high: bool,
    /// Whether this is a VOP3P instruction whose sources are pairs of halves, from which `op_sel` selects.
    pub(crate) packed_halves: bool,
    /// Whether this is a VOP3P instruction whose sources are floats, so that the negation modifiers apply.
    pub(crate) packed_float: bool,
    /// Whether the factors A and B of a matrix instruction take two registers each.
    pub(crate) wide_factors: bool,
}

/// Returns the rules of an instruction on a processor.
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
        // On older families, the denormal mode in MODE has no effect on minimum, maximum and median
        // instructions.
        _ if extremum && !target.arch.emulation.extrema_obey_denormal_mode => Denormals::Keep,
        _ if name.contains("_class_") => Denormals::Keep,
        // For these instructions, the manual says that denormals are flushed (Vega ISA, V_RCP_F32 and the
        // following instructions). Sine and cosine are included because the same hardware unit computes them.
        "v_rcp_f32" | "v_rcp_iflag_f32" | "v_rcp_clamp_f32" | "v_rcp_legacy_f32" | "v_rsq_f32"
        | "v_rsq_clamp_f32" | "v_rsq_legacy_f32" | "v_sqrt_f32" | "v_exp_f32" | "v_exp_legacy_f32"
        | "v_log_f32" | "v_log_clamp_f32" | "v_log_legacy_f32" => Denormals::Flush,
        // These instructions also flush denormals between their multiplication and their addition. Their
        // handlers therefore do all the flushing themselves, and the shared code must not flush anything.
        "v_mad_f32" | "v_mac_f32" | "v_madak_f32" | "v_madmk_f32" | "v_mad_legacy_f32"
        | "v_mac_legacy_f32" | "v_mad_f16" | "v_mad_legacy_f16" | "v_mac_f16" | "v_madak_f16"
        | "v_madmk_f16" => Denormals::Keep,
        _ => Denormals::Mode,
    }
}

/// Returns whether a 16-bit result leaves the upper half of its register unchanged.
fn keeps_high(target: &Target, row: &Row) -> bool {
    let half = row.ops.first().is_some_and(|spec| spec.role != Role::Use && spec.num.is_half());
    if !half || row.family == Family::Vop3p || row.ops[0].num == Num::V2F16 {
        return false;
    }
    match target.arch.emulation.half_results {
        HalfResults::KeepHigh => true,
        HalfResults::KeepHighIfSelectable => {
            let accumulates = matches!(row.name, "v_mac_f16" | "v_madak_f16" | "v_madmk_f16");
            accumulates || row.caps.contains(Caps::OP_SEL)
        }
        HalfResults::ClearHigh => false,
    }
}
