//! The operand `src_lds_direct`. An instruction with this operand reads one value from LDS and uses it in all
//! lanes.
//!
//! M0 holds the value's byte address in LDS (bits 15:0) and its type (bits 18:16) (Vega ISA, "LDS Direct
//! Reads").

use super::access::Place;
use super::{Cx, Flow};
use crate::fault::Trap;
use crate::op::{Op, Src};
use crate::wave::reg;

/// The operand as an instruction encodes it. The emulator replaces it by the next constant, `VALUE`. This is
/// a hidden register, which holds the value from LDS while the instruction runs.
const NAMED: Src = Src::Special(isa::Reg::LDS_DIRECT.0);
const VALUE: Src = Src::S(reg::HIDDEN_LDS_DIRECT as u8);

/// Replaces the handler of an instruction with the operand `src_lds_direct` by a handler that reads the value
/// from LDS first. Leaves other instructions unchanged.
pub(crate) fn prepare(op: &mut Op) {
    if !op.src.contains(&NAMED) {
        return;
    }
    op.src.iter_mut().filter(|src| **src == NAMED).for_each(|src| *src = VALUE);
    (op.inner, op.run) = (op.run, run);
}

fn run(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let m0 = cx.wave.sgpr[reg::M0];
    let (bytes, extend): (u32, fn(u32) -> u32) = match m0 >> 16 & 7 {
        0 => (1, |value| value),
        1 => (2, |value| value),
        2 => (4, |value| value),
        4 => (1, |value| value as i8 as u32),
        5 => (2, |value| value as i16 as u32),
        _ => return cx.fail(Trap::Refused("M0 names no type of LDS data")),
    };
    let lane = cx.wave.first_lane();
    match cx.read(op, Place::WholeLds(m0 & 0xffff), bytes, lane) {
        Ok(value) => cx.wave.sgpr[reg::HIDDEN_LDS_DIRECT] = extend(value),
        Err(trap) => return cx.fail(trap),
    }
    (op.inner)(cx, op)
}
