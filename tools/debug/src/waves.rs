//! What is kept of each wave while it runs: the calls that are under way, and where it was when lines changed.

use crate::instruction::{Instruction, Kind};
use crate::presence::Presence;
use crate::program::Line;
use sim::{Registers, Stopped};
use std::sync::Arc;

/// A wave of a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Who {
    /// Its work-group.
    pub group: [u32; 3],
    /// Its number there.
    pub wave: u32,
}

impl Who {
    /// That of a wave that stands somewhere.
    pub fn of(at: &Stopped<'_>) -> Who {
        Who { group: at.group(), wave: at.wave() }
    }
}

impl std::fmt::Display for Who {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [x, y, z] = self.group;
        write!(f, "group ({x}, {y}, {z}) wave {}", self.wave)
    }
}

/// Calls under way whose callers' registers are kept, the innermost ones: of a deep recursion the others are forgotten.
const KEPT: usize = 64;

/// A call under way.
pub(crate) struct Call {
    /// Address of the call.
    pub call: u64,
    /// Where it returns to.
    pub back: u64,
    /// The caller's registers, as they were at the call.
    pub registers: Option<Arc<Registers>>,
}

/// Where a wave, or lanes of a wave that have waited, have come to another line: the instruction by its number, the line, how many calls are
/// under way, and the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    pub ordinal: u64,
    pub line: Option<Line>,
    pub depth: usize,
    pub lanes: u64,
}

impl Turn {
    fn place(&self) -> (Option<Line>, usize) {
        (self.line, self.depth)
    }
}

/// Turns that are kept of a wave: what is longer ago is not stepped back to.
const TURNS: usize = 1 << 16;

#[derive(Default)]
pub(crate) struct Wave {
    pub calls: Vec<Call>,
    /// Address and length of the last instruction, and what it was.
    last: Option<(u64, u64, Kind)>,
    /// The registers at the last instruction, if it is a call.
    registers: Option<Arc<Registers>>,
    pub turns: Vec<Turn>,
    /// The number of its last instruction but this one.
    pub before: Option<u64>,
    pub now: u64,
    /// It has come to its last instruction.
    pub is_done: bool,
    /// Which lanes run the line.
    pub presence: Presence,
}

impl Wave {
    /// The wave is about to execute an instruction.
    pub(crate) fn comes_to(&mut self, at: &Stopped<'_>, instruction: &Instruction, ordinal: u64) {
        let (address, kind) = (at.address(), instruction.kind);
        match self.last {
            Some((call, length, Kind::Call)) => {
                let registers = self.registers.take();
                self.calls.push(Call { call, back: call + length, registers });
                let forgotten = self.calls.len().checked_sub(KEPT + 1).and_then(|at| self.calls.get_mut(at));
                if let Some(call) = forgotten {
                    call.registers = None;
                }
            }
            Some((.., Kind::Jump)) if self.calls.last().is_some_and(|call| call.back == address) => {
                self.calls.pop();
            }
            _ => {}
        }
        self.last = Some((address, at.length(), kind));
        self.registers = (kind == Kind::Call).then(|| Arc::new(at.registers()));
        self.is_done = kind == Kind::End;
        self.before = (self.now != 0).then_some(self.now);
        self.now = ordinal;
        let depth = self.calls.len();
        self.presence.comes_to(instruction, (address, at.exec()), depth, ordinal);
        self.turn(instruction, address, ordinal);
    }

    /// Keeps where the wave, or lanes that have waited, have come to another line: where a step would stop.
    fn turn(&mut self, instruction: &Instruction, address: u64, ordinal: u64) {
        let (line, depth) = (instruction.line, self.calls.len());
        let last = self.turns.last();
        let begins = self.presence.beginning(instruction.begins, address);
        let lanes = match last {
            Some(last) if last.depth != depth => self.presence.here(),
            Some(last) if last.line == line => begins & !last.lanes,
            _ => begins,
        };
        if lanes == 0 {
            return;
        }
        if self.turns.len() == TURNS {
            self.turns.drain(..TURNS / 2);
        }
        self.turns.push(Turn { ordinal, line, depth, lanes });
    }

    /// The turn to go back to: the beginning of the line at hand, or of the one before if that is where the wave stands. `over`: not into
    /// functions that have been called. `lane`: of what this lane has done. `is_done`: the wave stands behind the instruction at hand.
    pub(crate) fn turn_before(&self, over: bool, lane: Option<u32>, is_done: bool) -> Option<u64> {
        let depth = self.calls.len();
        let is_own = |turn: &&Turn| lane.map_or(turn.lanes != 0, |lane| turn.lanes >> lane & 1 != 0);
        let turns = self.turns.iter().rev().filter(is_own);
        let mut turns = turns.filter(|turn| turn.line.is_some() && (!over || turn.depth <= depth)).peekable();
        while let Some(last) = turns.next() {
            let mut first = last.ordinal;
            while let Some(earlier) = turns.next_if(|turn| turn.place() == last.place()) {
                first = earlier.ordinal;
            }
            if is_done || first != self.now {
                return Some(first);
            }
        }
        None
    }
}
