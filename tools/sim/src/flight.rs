//! The outstanding operations of a wave at an instruction, for display in a debugger.

use isa::{Counter, Reg, RegRange};

/// A memory operation that may be incomplete and still uses registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Code range and index of the instruction that started the operation. `None` if the caller of the
    /// current function started the operation.
    pub(crate) at: Option<(u32, u32)>,
    /// Registers that the operation has not yet written or read.
    pub registers: Vec<RegRange>,
    /// Whether the operation writes the registers.
    pub writes: bool,
    /// Whether the operation has been performed in memory. `None` if the mode does not track this; weak mode
    /// does.
    pub performed: Option<bool>,
    /// Pairs of a wait counter and a value. The operation is complete when each of these counters is at most
    /// its value.
    pub waits: Vec<(Counter, u32)>,
}

impl Operation {
    /// Returns whether the operation has not yet written a register that it will write.
    pub fn is_to_write(&self, register: Reg) -> bool {
        let has = |range: &RegRange| {
            (range.first.0..range.first.0.saturating_add(range.len.into())).contains(&register.0)
        };
        self.writes && self.registers.iter().any(has)
    }

    /// Returns whether all registers of the operation are scalar.
    pub fn is_scalar(&self) -> bool {
        self.registers.iter().all(|range| range.first.is_scalar())
    }

    /// Returns the names of the operation's registers, such as `v[2:3], v7`.
    pub fn names(&self) -> String {
        self.registers.iter().map(|range| check::finding::registers(*range)).collect::<Vec<_>>().join(", ")
    }

    /// Returns the wait that completes the operation, such as `vmcnt(0)`.
    pub fn wait(&self) -> String {
        let wait = |(counter, count): &(Counter, u32)| format!("{}({count})", counter.name());
        self.waits.iter().map(wait).collect::<Vec<_>>().join(" ")
    }
}

/// The outstanding operations of a wave that strict or weak mode knows of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InFlight {
    /// The wait counters of the processor, each with the number of operations that it counts at present.
    pub counters: Vec<(Counter, u32)>,
    /// Operations that still use registers, oldest first.
    pub operations: Vec<Operation>,
}
