//! Instructions by which waves wait for one another: atomics that return, and loads that act at L2.
//!
//! Where such an instruction finds what it found the last time, with the same operands in the same lanes, its wave waits for
//! another one, or seems to: it gives way.

use super::{Cx, Flow};
use crate::op::{AGPR0, Class, NONE, Op, Src, VGPR0};
use crate::wave::Wave;
use isa::ModFlags;

/// What such an instruction has found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Found {
    /// Range and index of the instruction.
    at: (u32, u32),
    exec: u64,
    /// Its operands and its result in the first active lane.
    operands: [u32; 4],
    result: u32,
}

/// What the last instructions of a wave have found: as many as a loop that waits has, and more.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LastFound {
    list: [Found; 4],
    oldest: usize,
}

impl LastFound {
    /// Enters what an instruction has found; whether it is what it had found before.
    fn enter(&mut self, found: Found) -> bool {
        match self.list.iter_mut().find(|last| last.at == found.at) {
            Some(last) => std::mem::replace(last, found) == found,
            None => {
                self.list[self.oldest] = found;
                self.oldest = (self.oldest + 1) % self.list.len();
                false
            }
        }
    }
}

/// Makes an instruction give way where it finds what it has found before.
pub(crate) fn prepare(op: &mut Op, is_atomic: bool) {
    let in_memory = matches!(op.class, Class::Vmem | Class::Smem) && op.flags.contains(ModFlags::GLC);
    let atomic_in_lds = op.class == Class::Lds && is_atomic;
    if (in_memory || atomic_in_lds) && op.dst != NONE {
        (op.inner, op.run) = (op.run, run);
    }
}

fn run(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let (exec, lane) = (cx.wave.exec(), cx.wave.first_lane());
    let operands = op.src.map(|src| value(cx.wave, src, lane));
    let flow = (op.inner)(cx, op);
    if flow != Flow::Next || exec == 0 {
        return flow;
    }
    let result = match op.dst {
        code @ VGPR0..AGPR0 => Src::V(code - VGPR0),
        code => Src::S(code as u8),
    };
    let result = value(cx.wave, result, lane);
    let found = Found { at: (cx.wave.range, cx.wave.last), exec, operands, result };
    if cx.wave.found.enter(found) { Flow::Poll } else { Flow::Next }
}

/// The low dword of an operand in a lane.
fn value(wave: &Wave, src: Src, lane: usize) -> u32 {
    match src {
        Src::V(at) => wave.vgpr.get(usize::from(at)).map_or(0, |lanes| lanes[lane]),
        Src::S(at) => wave.sgpr[usize::from(at)],
        Src::K(value) => value as u32,
        Src::None | Src::Special(_) => 0,
    }
}
