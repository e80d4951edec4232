//! The operations of a wave that are outstanding when it reaches an instruction. A debugger shows them.

use isa::{Counter, Reg, RegRange};

/// A memory operation that may not be complete yet. Until it is complete, it may still read or write
/// registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The instruction that started the operation: its code range and its index there. `None` if the
    /// operation was started before the current function was called.
    pub(crate) at: Option<(u32, u32)>,
    /// Registers that the operation has not yet written or read.
    pub registers: Vec<RegRange>,
    /// Whether the operation writes the registers.
    pub writes: bool,
    /// Whether the operation has already taken effect in memory. Only weak mode tracks this; it is `None` in
    /// other modes.
    pub performed: Option<bool>,
    /// The wait that completes the operation, as pairs of a wait counter and a value. The operation is
    /// complete as soon as each of these counters is at most its value.
    pub waits: Vec<(Counter, u32)>,
}

impl Operation {
    /// Returns whether the operation is still going to write a register.
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
        self.registers.iter().map(|range| range.name()).collect::<Vec<_>>().join(", ")
    }

    /// Returns the wait that completes the operation, such as `vmcnt(0)`.
    pub fn wait(&self) -> String {
        let wait = |(counter, count): &(Counter, u32)| format!("{}({count})", counter.name());
        self.waits.iter().map(wait).collect::<Vec<_>>().join(" ")
    }
}

/// The outstanding operations of a wave, as far as strict or weak mode tracks them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InFlight {
    /// The wait counters of the processor, each with the number of operations that it counts at present.
    pub counters: Vec<(Counter, u32)>,
    /// Operations that still use registers, oldest first.
    pub operations: Vec<Operation>,
}
