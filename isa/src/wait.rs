//! The wait counters: which a processor has, how wide they are, and the instructions that wait for them.
//!
//! What raises a counter, and in which order operations complete, is not here: compiler and checker have a table each
//! (`memmodel::counters`, `check::counters`), so that a mistake in one shows in the other.

use crate::inst::MachInst;
use crate::operand::Operand;
use crate::reg::Reg;
use crate::table::{Opcode, op};
use crate::target::{Generation, Target};

/// A wait counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Counter {
    /// Vector memory; on GFX10 what returns data.
    Vm,
    /// Sources still to be read: exports, GDS, on GFX6 the data of stores.
    Exp,
    /// LDS, GDS, scalar memory, messages, flat.
    Lgkm,
    /// Vector memory that returns nothing (GFX10).
    Vs,
}

impl Counter {
    /// How many there are.
    pub const COUNT: usize = 4;
    /// Each, in order.
    pub const ALL: [Counter; Counter::COUNT] = [Counter::Vm, Counter::Exp, Counter::Lgkm, Counter::Vs];

    /// The assembler's name.
    pub const fn name(self) -> &'static str {
        ["vmcnt", "expcnt", "lgkmcnt", "vscnt"][self as usize]
    }

    /// Largest count that can be waited for; a wait for it waits for nothing. 0 where there is no such counter.
    pub const fn max(self, target: &Target) -> u8 {
        [target.max_vmcnt, target.max_expcnt, target.max_lgkmcnt, target.max_vscnt][self as usize]
    }
}

/// A count for each counter: go on when it is at most that. [`Counts::ANY`] is no demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts(pub [u8; Counter::COUNT]);

impl Counts {
    /// No demand on a counter.
    pub const ANY: u8 = u8::MAX;
    /// No demand.
    pub const NONE: Counts = Counts([Counts::ANY; Counter::COUNT]);
    /// Every counter at 0.
    pub const ALL: Counts = Counts([0; Counter::COUNT]);

    /// Whether it demands nothing.
    #[inline]
    pub fn is_none(self) -> bool {
        self == Counts::NONE
    }

    /// Lowers the count of one counter. Returns whether it changed.
    #[inline]
    pub fn demand(&mut self, counter: Counter, count: u8) -> bool {
        let field = &mut self.0[counter as usize];
        let lower = count < *field;
        if lower {
            *field = count;
        }
        lower
    }

    /// The demand on a counter.
    #[inline]
    pub const fn count(self, counter: Counter) -> u8 {
        self.0[counter as usize]
    }
}

/// An instruction that waits.
#[derive(Clone, Copy, Debug)]
pub struct WaitInst {
    /// Which.
    pub op: Opcode,
    /// What it waits for: several counters packed into one mask (`s_waitcnt`), or one whose count stands beside `null`.
    pub counters: &'static [Counter],
}

/// `s_waitcnt` of three counters.
const PACKED: WaitInst =
    WaitInst { op: op::S_WAITCNT, counters: &[Counter::Vm, Counter::Exp, Counter::Lgkm] };
const ALONE: [WaitInst; 4] = [
    WaitInst { op: op::S_WAITCNT_VSCNT, counters: &[Counter::Vs] },
    WaitInst { op: op::S_WAITCNT_VMCNT, counters: &[Counter::Vm] },
    WaitInst { op: op::S_WAITCNT_EXPCNT, counters: &[Counter::Exp] },
    WaitInst { op: op::S_WAITCNT_LGKMCNT, counters: &[Counter::Lgkm] },
];
const GFX6: &[WaitInst] = &[PACKED];
const GFX10: &[WaitInst] = &[PACKED, ALONE[0], ALONE[1], ALONE[2], ALONE[3]];

/// The instructions that wait, by generation: the first ones that have all counters between them are those to use.
static WAITS: [&[WaitInst]; Generation::COUNT] = [GFX6, GFX6, GFX6, GFX6, GFX10];

/// The register that is always 0 and to which nothing is written (GFX10).
const NULL: Reg = Reg(125);

impl WaitInst {
    /// The instruction that waits for those of the counts that it has a field for; `None` if none of them asks for anything.
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
    /// The instructions that wait for its counters, the ones to use first.
    pub fn wait_instructions(&self) -> &'static [WaitInst] {
        WAITS[self.generation as usize]
    }

    /// Whether an instruction does nothing but wait for counters.
    #[inline]
    pub fn is_wait(&self, op: Opcode) -> bool {
        self.wait_instructions().iter().any(|wait| wait.op == op)
    }

    /// What an instruction waits for; `None` if it is none of those that only wait, or waits for a count in a register.
    pub fn waited(&self, inst: &MachInst) -> Option<Counts> {
        let wait = self.wait_instructions().iter().find(|wait| wait.op == inst.op)?;
        let mut counts = Counts::NONE;
        let mut demand = |counter: Counter, count: u8| {
            if count < counter.max(self) {
                counts.demand(counter, count);
            }
        };
        match (wait.counters, inst.operands()) {
            // The register is added to the constant; only `null` is known.
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

/// Values to wait for: at most that many operations of each kind still in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitCount {
    /// Vector memory.
    pub vm: u8,
    /// Exports, GDS.
    pub exp: u8,
    /// LDS, GDS, scalar memory, messages.
    pub lgkm: u8,
}

impl Target {
    /// The mask of an `s_waitcnt`; counts beyond a counter's limit become the limit, which waits for nothing.
    ///
    /// `vmcnt` in bits 3:0, from GFX9 on in 15:14 too, `expcnt` in 6:4, `lgkmcnt` in 11:8, on GFX10 13:8.
    pub const fn waitcnt(&self, vm: u8, exp: u8, lgkm: u8) -> u16 {
        let vm = clamp(vm, self.max_vmcnt);
        let exp = clamp(exp, self.max_expcnt);
        let lgkm = clamp(lgkm, self.max_lgkmcnt);
        vm & 15 | (vm >> 4 & 3) << 14 | (exp & 7) << 4 | lgkm << 8
    }

    /// The counts in a mask.
    pub const fn unpack_waitcnt(&self, mask: u16) -> WaitCount {
        let vm = (mask & 15 | (mask >> 14 & 3) << 4) as u8 & self.max_vmcnt;
        WaitCount { vm, exp: (mask >> 4 & 7) as u8, lgkm: (mask >> 8) as u8 & self.max_lgkmcnt }
    }
}

const fn clamp(value: u8, max: u8) -> u16 {
    if value > max { max as u16 } else { value as u16 }
}
