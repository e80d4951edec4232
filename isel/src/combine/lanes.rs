//! Folds `v_mov_b32_dpp`, which brings a value from another lane, into the instructions that use the value.
//!
//! # Source
//! GCN3 and RDNA ISA, "Data Parallel Processing (DPP)".

use super::is_plain;
use isa::table::{Family, Role};
use isa::{Form, Lane, MachInst, ModFlags, Mods, Operand, op, swapped};

/// A move that gives every lane a value of another lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moved {
    source: Operand,
    lane: Lane,
    flags: ModFlags,
}

impl Moved {
    /// Returns the source and the lane controls of `inst`, if it is a move between lanes that writes every
    /// lane of its destination. Other moves leave the old value in some lanes. They are not folded, because
    /// the instruction that uses the value would have to keep the old value in these lanes, too.
    pub fn made_by(inst: &MachInst) -> Option<Moved> {
        let Mods { lane, flags, .. } = inst.mods;
        let is_move = inst.op == op::V_MOV_B32 && matches!(lane, Lane::Dpp { .. } | Lane::Dpp8 { .. });
        let plain = Mods { lane, flags, ..Mods::default() } == inst.mods;
        (is_move && plain && inst.role(0) == Role::Def).then_some(Moved { source: inst.ops[1], lane, flags })
    }
}

/// Returns the instruction as a DPP instruction that reads operand number `operand` from another lane. Only
/// the first source of a DPP instruction can come from another lane, so the two sources are swapped if the
/// operand is the second source.
pub(super) fn take_in(inst: &MachInst, operand: usize, moved: Moved) -> Option<MachInst> {
    let row = inst.op.row();
    if !is_plain(inst) || !matches!(row.family, Family::Vop1 | Family::Vop2) {
        return None;
    }
    let mut changed = *inst;
    let first = row.ops.iter().position(|spec| spec.role == Role::Use)?;
    if operand == first + 1 {
        changed.op = swapped(inst.op)?;
        changed.ops.swap(first, operand);
        changed.mods.neg = exchanged(inst.mods.neg);
        changed.mods.abs = exchanged(inst.mods.abs);
    } else if operand != first {
        return None;
    }
    changed.ops[first] = moved.source;
    changed.form = Form::Dpp;
    changed.mods.lane = moved.lane;
    changed.mods.flags |= moved.flags;
    Some(changed)
}

/// Swaps the two lowest bits, which belong to the two sources.
const fn exchanged(bits: u8) -> u8 {
    bits >> 1 & 1 | (bits & 1) << 1
}
