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

/// Joins the two offsets of `ds_write_src2_b64 v2 offset0:4 offset1:8` to one. In the current syntax, the
/// instruction has a single offset, of which these are the two bytes (LLVM's AMDGPU guide, seed 000, line
/// 4446).
fn join_offsets(row: &Row, line: &mut Line) {
    let mods = &mut line.mods;
    if row.name.starts_with("ds_write_src2")
        && let ([Some(low), Some(high)], None) = (mods.offsets, mods.offset)
    {
        mods.offset = Some(i64::from(u16::from_le_bytes([low, high])));
        mods.offsets = [None; 2];
    }
}

/// Extends the data operand of `buffer_store_dwordx4 v[1:4], ... tfe` by the register for the status. The
/// guide's syntax omits this register.
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

/// Shortens the operand of `s_cbranch_join s[4:5]` to its first register, which holds the saved stack
/// pointer. The guide's syntax gives two registers, but the instruction takes only one.
fn shorten_saved_place(row: &Row, line: &mut Line) {
    if row.name == "s_cbranch_join"
        && let ArgValue::Reg(range) = &mut line.args[0].value
        && range.len == 2
    {
        range.len = 1;
    }
}
