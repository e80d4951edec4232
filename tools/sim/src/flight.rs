//! What a wave has under way at an instruction, for a debugger.

use isa::{Counter, Reg, RegRange};

/// A memory operation that may not be complete, and holds registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its instruction: range of the code, and index there; none stands for what the caller of a function has done.
    pub(crate) at: Option<(u32, u32)>,
    /// Registers that it has yet to write, or to read.
    pub registers: Vec<RegRange>,
    /// Whether it writes them.
    pub writes: bool,
    /// Whether memory has seen it, where somebody decides that: weak mode does.
    pub performed: Option<bool>,
    /// It is complete when each of these counters is at most that.
    pub waits: Vec<(Counter, u32)>,
}

impl Operation {
    /// Whether it has yet to write a register.
    pub fn is_to_write(&self, register: Reg) -> bool {
        let has = |range: &RegRange| {
            (range.first.0..range.first.0.saturating_add(range.len.into())).contains(&register.0)
        };
        self.writes && self.registers.iter().any(has)
    }

    /// Whether its registers have one value for all lanes.
    pub fn is_scalar(&self) -> bool {
        self.registers.iter().all(|range| range.first.is_scalar())
    }

    /// `v[2:3], v7`: its registers.
    pub fn names(&self) -> String {
        self.registers.iter().map(|range| check::finding::registers(*range)).collect::<Vec<_>>().join(", ")
    }

    /// `vmcnt(0)`: the waits that it takes until it is complete.
    pub fn wait(&self) -> String {
        let wait = |(counter, count): &(Counter, u32)| format!("{}({count})", counter.name());
        self.waits.iter().map(wait).collect::<Vec<_>>().join(" ")
    }
}

/// What strict or weak mode knows to be under way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InFlight {
    /// Counters that the processor has, and how many operations each may count.
    pub counters: Vec<(Counter, u32)>,
    /// Operations that hold registers, oldest first.
    pub operations: Vec<Operation>,
}
