//! Accepts spellings that occur in examples of the AMDGPU guide but that LLVM does not accept any more;
//! `docs/isa-errata.md` lists them.

use super::operand::ArgValue;
use super::{Instructions, Line};
use isa::ModFlags;
use isa::table::{Family, Row};

/// Changes the line to the current syntax.
pub(super) fn modernise(known: &mut Instructions, rows: (u32, u32)) {
    let Some(op) = known.opcodes.get(rows.0 as usize) else { return };
    let row = op.row();
    match row.family {
        Family::Ds => join_offsets(row, &mut known.line),
        Family::Mubuf => add_status_register(row, &mut known.line),
        Family::Sop1 => shorten_saved_place(row, &mut known.line),
        _ => {}
    }
}

/// Joins the offsets of `ds_write_src2_b64 v2 offset0:4 offset1:8`. They are the two bytes of what is a
/// single offset in the current syntax (seed 000, line 4446).
fn join_offsets(row: &Row, line: &mut Line) {
    let mods = &mut line.mods;
    if row.name.starts_with("ds_write_src2")
        && let ([Some(low), Some(high)], None) = (mods.offsets, mods.offset)
    {
        mods.offset = Some(i64::from(u16::from_le_bytes([low, high])));
        mods.offsets = [None; 2];
    }
}

/// Adds the status register to the data operand of `buffer_store_dwordx4 v[1:4], ... tfe`. The old syntax of
/// the guide omits that register.
fn add_status_register(row: &Row, line: &mut Line) {
    let width = row.ops.first().map(|data| data.width);
    if line.mods.flags.contains(ModFlags::TFE)
        && row.name.starts_with("buffer_store")
        && let ArgValue::Reg(range) = &mut line.args[0].value
        && Some(range.len) == width
    {
        range.len += 1;
    }
}

/// Shortens the operand of `s_cbranch_join s[4:5]` to the first register, which is the saved stack pointer.
fn shorten_saved_place(row: &Row, line: &mut Line) {
    if row.name == "s_cbranch_join"
        && let ArgValue::Reg(range) = &mut line.args[0].value
        && range.len == 2
    {
        range.len = 1;
    }
}
