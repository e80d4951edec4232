//! What is kept of each wave while it runs: the calls that are under way, and where it was when lines changed.

use crate::program::{Line, Program};
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

/// What an instruction does to calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Call,
    Jump,
    End,
    Other,
}

impl Kind {
    pub(crate) fn of(at: &Stopped<'_>) -> Kind {
        let text = at.text();
        match text.split_whitespace().next() {
            Some("s_swappc_b64" | "s_call_b64") => Kind::Call,
            Some("s_setpc_b64") => Kind::Jump,
            Some(text) if text.starts_with("s_endpgm") => Kind::End,
            _ => Kind::Other,
        }
    }
}

/// Where a wave has come to another line: the instruction by its number, the line, how many calls are under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    pub ordinal: u64,
    pub line: Option<Line>,
    pub depth: usize,
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
}

impl Wave {
    /// The wave is about to execute an instruction.
    pub(crate) fn comes_to(&mut self, at: &Stopped<'_>, kind: Kind, ordinal: u64, program: &Program) {
        let address = at.address();
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
        let (line, depth) = (program.line_at(address), self.calls.len());
        if self.turns.last().is_none_or(|turn| (turn.line, turn.depth) != (line, depth)) {
            if self.turns.len() == TURNS {
                self.turns.drain(..TURNS / 2);
            }
            self.turns.push(Turn { ordinal, line, depth });
        }
    }

    /// The turn to go back to: the beginning of the line at hand, or of the one before if that is where the wave stands. `over`: not into
    /// functions that have been called.
    pub(crate) fn turn_before(&self, over: bool) -> Option<u64> {
        let now = self.turns.last()?;
        if now.ordinal != self.now {
            return Some(now.ordinal);
        }
        let earlier = self.turns[..self.turns.len() - 1].iter().rev();
        let mut earlier = earlier.filter(|turn| turn.line.is_some() && (!over || turn.depth <= now.depth));
        earlier.find(|turn| turn.line != now.line || turn.depth != now.depth).map(|turn| turn.ordinal)
    }
}
