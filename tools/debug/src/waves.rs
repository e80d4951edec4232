//! State that is kept for each wave while it runs: its call stack, and the instructions with which it has
//! entered another source line.

use crate::instruction::{Instruction, Kind};
use crate::presence::Presence;
use crate::program::Line;
use sim::{Registers, Stopped};
use std::sync::Arc;

/// Identity of a wave of a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WaveId {
    /// Work-group of the wave.
    pub group: [u32; 3],
    /// Number of the wave in its work-group.
    pub wave: u32,
}

impl WaveId {
    /// Returns the identity of a stopped wave.
    pub fn from_stop(at: &Stopped<'_>) -> WaveId {
        WaveId { group: at.group(), wave: at.wave() }
    }
}

impl std::fmt::Display for WaveId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [x, y, z] = self.group;
        write!(f, "group ({x}, {y}, {z}) wave {}", self.wave)
    }
}

/// Number of innermost calls for which the caller's registers are kept. In a deep recursion, the registers of
/// the outer calls are dropped, so that they do not take too much memory.
const KEPT: usize = 64;

/// A call on the call stack.
pub(crate) struct Call {
    /// Address of the call instruction.
    pub call: u64,
    /// Return address.
    pub back: u64,
    /// Registers of the caller at the call.
    pub registers: Option<Arc<Registers>>,
}

/// An instruction with which a wave entered another source line. Parked lanes that become active at the
/// instruction also count as entering its line. `ordinal` is the number of the instruction in the order of
/// execution, `depth` the depth of the call stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineChange {
    pub ordinal: u64,
    pub line: Option<Line>,
    pub depth: usize,
    pub lanes: u64,
}

impl LineChange {
    fn line_and_depth(&self) -> (Option<Line>, usize) {
        (self.line, self.depth)
    }
}

/// Limit on the number of changes of the source line that are kept for each wave. A step backwards goes no
/// further than the oldest change that is kept.
const TURNS: usize = 1 << 16;

#[derive(Default)]
pub(crate) struct Wave {
    pub calls: Vec<Call>,
    /// Address, length and kind of the last instruction.
    last: Option<(u64, u64, Kind)>,
    /// Registers at the last instruction, if it is a call.
    registers: Option<Arc<Registers>>,
    pub line_changes: Vec<LineChange>,
    /// Ordinal (number in the order of execution) of the wave's last instruction before the current one.
    pub before: Option<u64>,
    pub now: u64,
    /// Whether the wave has reached its last instruction.
    pub is_done: bool,
    /// Which lanes execute the current line.
    pub presence: Presence,
}

impl Wave {
    /// Updates the state for an instruction that the wave is about to execute.
    pub(crate) fn advance(&mut self, at: &Stopped<'_>, instruction: &Instruction, ordinal: u64) {
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
        self.presence.advance(instruction, (address, at.exec()), depth, ordinal);
        self.record_line_change(instruction, address, ordinal);
    }

    /// Records a change of the source line if the wave, or parked lanes that have become active, enter
    /// another line with this instruction. A step backwards can then stop at this instruction.
    fn record_line_change(&mut self, instruction: &Instruction, address: u64, ordinal: u64) {
        let (line, depth) = (instruction.line, self.calls.len());
        let last = self.line_changes.last();
        let begins = self.presence.beginning(instruction.begins, address);
        let lanes = match last {
            Some(last) if last.depth != depth => self.presence.participating_lanes(),
            Some(last) if last.line == line => begins & !last.lanes,
            _ => begins,
        };
        if lanes == 0 {
            return;
        }
        if self.line_changes.len() == TURNS {
            self.line_changes.drain(..TURNS / 2);
        }
        self.line_changes.push(LineChange { ordinal, line, depth, lanes });
    }

    /// Returns where a step backwards goes, as the ordinal (number in the order of execution) of an
    /// instruction. This is the beginning of the current line, or the beginning of the line before if the
    /// wave is already at the beginning of its line.
    ///
    /// With `over`, changes in called functions are ignored. With `lane`, only changes of this lane count.
    /// With `is_done`, the wave has executed its current instruction, so it is always after the beginning of
    /// its line.
    pub(crate) fn turn_before(&self, over: bool, lane: Option<u32>, is_done: bool) -> Option<u64> {
        let depth = self.calls.len();
        let is_own = |turn: &&LineChange| lane.map_or(turn.lanes != 0, |lane| turn.lanes >> lane & 1 != 0);
        let turns = self.line_changes.iter().rev().filter(is_own);
        let mut turns = turns.filter(|turn| turn.line.is_some() && (!over || turn.depth <= depth)).peekable();
        while let Some(last) = turns.next() {
            let mut first = last.ordinal;
            while let Some(earlier) = turns.next_if(|turn| turn.line_and_depth() == last.line_and_depth()) {
                first = earlier.ordinal;
            }
            if is_done || first != self.now {
                return Some(first);
            }
        }
        None
    }
}
