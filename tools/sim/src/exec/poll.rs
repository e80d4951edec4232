//! Detects waves that wait for other waves in a loop. A waiting loop reads memory with an atomic that returns
//! a value, or with a load that bypasses the first-level cache.
//!
//! If such an atomic or load has the same operands, active lanes and result as the last time, the emulator
//! assumes that the wave waits, and lets other waves run.

use super::{Cx, Flow};
use crate::op::{AGPR0, Class, NONE, Op, Src, VGPR0};
use crate::wave::Wave;
use isa::ModFlags;

/// The operands and the result of one run of an instruction with which a wave may wait in a loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Found {
    /// Code range and index of the instruction.
    at: (u32, u32),
    exec: u64,
    /// Operands and result in the first active lane.
    operands: [u32; 4],
    result: u32,
}

/// The latest results of the instructions with which a wave may wait in a loop. Most waiting loops contain no
/// more such instructions than the list has entries.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LastFound {
    list: [Found; 4],
    oldest: usize,
}

impl LastFound {
    /// Records the result of an instruction. Returns whether the instruction had the same operands and the
    /// same result when it ran last.
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

/// Replaces the handler of an instruction with which a wave may wait in a loop. The new handler lets other
/// waves run if the instruction gives the same result as the last time.
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

/// Returns the low dword of an operand in a lane.
fn value(wave: &Wave, src: Src, lane: usize) -> u32 {
    match src {
        Src::V(at) => wave.vgpr.get(usize::from(at)).map_or(0, |lanes| lanes[lane]),
        Src::S(at) => wave.sgpr[usize::from(at)],
        Src::K(value) => value as u32,
        Src::None | Src::Special(_) => 0,
    }
}
