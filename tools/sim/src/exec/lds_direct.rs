//! The source `src_lds_direct`: a value read from LDS, the same for all lanes.
//!
//! M0 holds its byte address in bits 15:0 and its type in bits 18:16 (Vega ISA, "LDS Direct Reads").

use super::access::Place;
use super::{Cx, Flow};
use crate::fault::Trap;
use crate::op::{Op, Src};
use crate::wave::reg;

/// The source as instructions name it, and the register that holds its value when the instruction runs.
const NAMED: Src = Src::Special(isa::Reg::LDS_DIRECT.0);
const VALUE: Src = Src::S(reg::HIDDEN_LDS_DIRECT as u8);

/// Makes the handler of an instruction read LDS first, if the instruction has this source.
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
