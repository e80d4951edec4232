//! The wait counters of each processor, their widths, and the instructions that wait for them.
//!
//! This module does not say which operations increment a counter, or in which order operations complete. The
//! compiler and the checker have separate tables for this (`memmodel::counters`, `check::counters`), so that
//! a mistake in one table is detected by the other.

use crate::inst::MachInst;
use crate::operand::Operand;
use crate::reg::Reg;
use crate::table::{Opcode, op};
use crate::target::Target;

/// A wait counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Counter {
    /// The counter `vmcnt`. It counts vector memory operations; on GFX10 only those that return data.
    Vm,
    /// The counter `expcnt`. It counts exports, GDS instructions and, on GFX6, stores that have not read
    /// their source registers yet.
    Exp,
    /// The counter `lgkmcnt`. It counts LDS, GDS and scalar memory operations, messages, and FLAT
    /// instructions.
    Lgkm,
    /// The counter `vscnt` of GFX10. It counts vector memory operations that return nothing.
    Vs,
}

impl Counter {
    /// Number of counters.
    pub const COUNT: usize = 4;
    /// All counters, in order.
    pub const ALL: [Counter; Counter::COUNT] = [Counter::Vm, Counter::Exp, Counter::Lgkm, Counter::Vs];

    /// Returns the name of the counter in assembly text.
    pub const fn name(self) -> &'static str {
        ["vmcnt", "expcnt", "lgkmcnt", "vscnt"][self as usize]
    }

    /// Returns the largest count that a wait instruction can encode; a wait for this count waits for nothing.
    /// Returns 0 if the processor does not have the counter.
    pub const fn max(self, target: &Target) -> u8 {
        [target.max_vmcnt, target.max_expcnt, target.max_lgkmcnt, target.max_vscnt][self as usize]
    }
}

/// For each counter, the maximum number of operations that may be outstanding after a wait. [`Counts::ANY`]
/// means that there is no wait for the counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts(pub [u8; Counter::COUNT]);

impl Counts {
    /// Count that stands for no wait on the counter.
    pub const ANY: u8 = u8::MAX;
    /// Counts without a wait for any counter.
    pub const NONE: Counts = Counts([Counts::ANY; Counter::COUNT]);
    /// Counts that wait until every counter is 0.
    pub const ALL: Counts = Counts([0; Counter::COUNT]);

    /// Returns whether there is no wait for any counter.
    #[inline]
    pub fn is_none(self) -> bool {
        self == Counts::NONE
    }

    /// Lowers the count of one counter to `count` if it is greater. Returns whether it has changed.
    #[inline]
    pub fn demand(&mut self, counter: Counter, count: u8) -> bool {
        let field = &mut self.0[counter as usize];
        let lower = count < *field;
        if lower {
            *field = count;
        }
        lower
    }

    /// Returns the count that a wait has for a counter.
    #[inline]
    pub const fn count(self, counter: Counter) -> u8 {
        self.0[counter as usize]
    }
}

/// An instruction that waits.
#[derive(Clone, Copy, Debug)]
pub struct WaitInst {
    /// Opcode.
    pub op: Opcode,
    /// Counters for which the instruction waits. `s_waitcnt` waits for several counters, whose counts are
    /// packed into one operand. Each of the other wait instructions waits for one counter; its operands are
    /// the register `null` and the count.
    pub counters: &'static [Counter],
}

/// The instruction `s_waitcnt`, which waits for three counters.
pub(crate) const PACKED: WaitInst =
    WaitInst { op: op::S_WAITCNT, counters: &[Counter::Vm, Counter::Exp, Counter::Lgkm] };
/// The instruction [`PACKED`], and instructions that wait for one counter.
pub(crate) const WITH_COUNTER_ALONE: [WaitInst; 5] = [
    PACKED,
    WaitInst { op: op::S_WAITCNT_VSCNT, counters: &[Counter::Vs] },
    WaitInst { op: op::S_WAITCNT_VMCNT, counters: &[Counter::Vm] },
    WaitInst { op: op::S_WAITCNT_EXPCNT, counters: &[Counter::Exp] },
    WaitInst { op: op::S_WAITCNT_LGKMCNT, counters: &[Counter::Lgkm] },
];

/// Facts about the wait instructions of an architecture.
#[derive(Clone, Copy, Debug)]
pub struct Waits {
    /// The wait instructions, in order of preference. An instruction can be chosen if it covers all counters
    /// for which a wait is needed.
    pub instructions: &'static [WaitInst],
}

/// The register `null` of GFX10, which always reads as 0 and ignores writes.
const NULL: Reg = Reg(125);

impl WaitInst {
    /// Returns the instruction that waits for the counts of its counters. Returns `None` if no wait is needed
    /// for any of its counters.
    pub fn inst(&self, target: &Target, counts: Counts) -> Option<MachInst> {
        self.counters.iter().find(|&&counter| counts.count(counter) < counter.max(target))?;
        Some(match *self.counters {
            [counter] => {
                MachInst::new(self.op, &[Operand::reg(NULL), Operand::Imm(counts.count(counter).into())])
            }
            _ => {
                let [vm, exp, lgkm, _] = counts.0;
                MachInst::new(self.op, &[Operand::Imm(target.waitcnt(vm, exp, lgkm).into())])
            }
        })
    }
}

impl Target {
    /// Returns the wait instructions of the processor in order of preference.
    pub fn wait_instructions(&self) -> &'static [WaitInst] {
        self.arch.waits.instructions
    }

    /// Returns whether an instruction does nothing except wait for counters.
    #[inline]
    pub fn is_wait(&self, op: Opcode) -> bool {
        self.wait_instructions().iter().any(|wait| wait.op == op)
    }

    /// Returns the counts for which a wait instruction waits. Returns `None` for other instructions, and if
    /// the count is in a register.
    pub fn waited(&self, inst: &MachInst) -> Option<Counts> {
        let wait = self.wait_instructions().iter().find(|wait| wait.op == inst.op)?;
        let mut counts = Counts::NONE;
        let mut demand = |counter: Counter, count: u8| {
            if count < counter.max(self) {
                counts.demand(counter, count);
            }
        };
        match (wait.counters, inst.operands()) {
            // The instruction adds the register to the constant. So the count is known only if the register
            // is `null`, whose value is 0.
            (&[counter], [Operand::Reg(register), Operand::Imm(count)]) if register.first == NULL => {
                demand(counter, (count & 0x3f) as u8);
            }
            (_, [Operand::Imm(mask)]) => {
                let WaitCount { vm, exp, lgkm } = self.unpack_waitcnt(*mask as u16);
                [(Counter::Vm, vm), (Counter::Exp, exp), (Counter::Lgkm, lgkm)]
                    .into_iter()
                    .for_each(|(counter, count)| demand(counter, count));
            }
            _ => return None,
        }
        Some(counts)
    }
}

/// For each counter, the maximum number of operations that may be outstanding after an `s_waitcnt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitCount {
    /// Number of vector memory operations.
    pub vm: u8,
    /// Number of exports and GDS operations.
    pub exp: u8,
    /// Number of LDS, GDS and scalar memory operations, and messages.
    pub lgkm: u8,
}

impl Target {
    /// Returns the mask of an `s_waitcnt`. A count beyond a counter's limit becomes the limit, which waits
    /// for nothing.
    ///
    /// `vmcnt` is in bits 3:0, and from GFX9 on also in bits 15:14. `expcnt` is in bits 6:4. `lgkmcnt` is in
    /// bits 11:8, and on GFX10 in bits 13:8.
    pub const fn waitcnt(&self, vm: u8, exp: u8, lgkm: u8) -> u16 {
        let vm = clamp(vm, self.max_vmcnt);
        let exp = clamp(exp, self.max_expcnt);
        let lgkm = clamp(lgkm, self.max_lgkmcnt);
        vm & 15 | (vm >> 4 & 3) << 14 | (exp & 7) << 4 | lgkm << 8
    }

    /// Returns the counts that the mask of an `s_waitcnt` contains.
    pub const fn unpack_waitcnt(&self, mask: u16) -> WaitCount {
        let vm = (mask & 15 | (mask >> 14 & 3) << 4) as u8 & self.max_vmcnt;
        WaitCount { vm, exp: (mask >> 4 & 7) as u8, lgkm: (mask >> 8) as u8 & self.max_lgkmcnt }
    }
}

const fn clamp(value: u8, max: u8) -> u16 {
    if value > max { max as u16 } else { value as u16 }
}
