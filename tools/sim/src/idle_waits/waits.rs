//! Lists each wait and invalidation that the run has reached, and says whether it was needed.

use super::record::What;
use super::{Change, Log, Verdict};
use crate::op::Code;
use crate::watch::CacheOp;
use check::effects::Waits;
use check::program::{Program, Root};
use check::{Counter, Effects, solve};
use isa::decode::Decoder;
use isa::{MachInst, Operand, Target, op};
use std::collections::BTreeSet;

/// A wait for one counter, or an invalidation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// Address of the instruction in the file.
    pub offset: u64,
    /// Text of the instruction.
    pub text: String,
    /// Counter of the wait; `None` for an invalidation.
    pub counter: Option<Counter>,
    /// Whether a register needs the wait on some path through the code, including paths that the run did not
    /// take.
    pub registers: bool,
    /// Whether the order of memory needed the wait or invalidation in this run.
    pub order: Verdict,
}

impl Need {
    /// Returns whether this wait or invalidation could be removed if all others stay. For registers, the
    /// answer holds for every path through the code. For memory, it holds only for this run.
    pub fn is_idle(&self) -> bool {
        !self.registers && matches!(self.order, Verdict::Idle | Verdict::Private | Verdict::Ordered)
    }
}

/// The code of a dispatch, as the static checker reads it. The checker finds out which waits registers need.
pub(super) struct Text {
    target: &'static Target,
    /// The code ranges, which can give the text of their instructions.
    ranges: Vec<Code>,
    /// Code range and dword at which the kernel begins.
    entry: (u32, u32),
}

impl Text {
    pub(super) fn new(target: &'static Target, code: &[Code], entry: (u32, u32)) -> Text {
        let ranges = code.iter().map(|code| Code::new(target, code.base, code.file_base, code.words.clone()));
        Text { target, ranges: ranges.collect(), entry }
    }

    /// Reads the kernel's code with the static checker.
    fn program(&self) -> Option<(Program, Vec<Root>)> {
        let code = self.ranges.get(self.entry.0 as usize)?;
        let address = code.file_base + u64::from(self.entry.1) * 4;
        let mut roots = vec![Root { address, is_function: false }];
        let program = Program::read(self.target, isa::Setting::Off, &code.words, code.file_base, &mut roots)?;
        Some((program, roots))
    }
}

/// Returns a wait instruction that waits for the same counters except `counter`. Returns `None` if the
/// original instruction does not wait for `counter`.
fn without(target: &'static Target, inst: &MachInst, counter: Counter) -> Option<MachInst> {
    let waits = Effects::from_inst(target, inst).waits;
    if waits.0[counter as usize] == Waits::ANY {
        return None;
    }
    let mut weaker = MachInst::new(op::S_NOP, &[Operand::Imm(0)]);
    if let (op::S_WAITCNT, Operand::Imm(mask)) = (inst.op, inst.ops[0]) {
        let counts = target.unpack_waitcnt(mask as u16);
        let mut values = [counts.vm, counts.exp, counts.lgkm];
        *values.get_mut(counter as usize)? = counter.max(target);
        weaker = *inst;
        weaker.ops[0] = Operand::Imm(target.waitcnt(values[0], values[1], values[2]).into());
    }
    Some(weaker)
}

impl Log {
    /// Returns every wait and invalidation that a wave has reached, in the order of addresses, with the
    /// answer whether it was needed. Each answer assumes that all other waits and invalidations stay.
    pub fn needs(&self) -> Vec<Need> {
        let target = self.text.target;
        let (Some(decoder), Some((mut program, roots))) = (Decoder::new(target), self.text.program()) else {
            return Vec::new();
        };
        let found = solve::solve(&program, &roots, false).len();
        let mut needs = Vec::new();
        for (place, what) in self.places() {
            let offset = self.offset(place);
            let code = &self.text.ranges[place.0 as usize];
            let text = code.text(target, place.1);
            if let What::Cache(_) = what {
                let order = self.without(offset, Change::KeepCaches);
                needs.push(Need { offset, text, counter: None, registers: false, order });
                continue;
            }
            let Ok((inst, _)) = decoder.decode(&code.words[place.1 as usize..]) else { continue };
            // `expcnt` is skipped, because it does not affect memory.
            for counter in [Counter::Vm, Counter::Lgkm, Counter::Vs] {
                let Some(weaker) = without(target, &inst, counter) else { continue };
                let change = Change::Waits(Effects::from_inst(target, &weaker).waits);
                let site = program.site_at(offset);
                let registers = site.is_none_or(|site| {
                    program.code.replace(site, Some(&weaker));
                    let more = solve::solve(&program, &roots, false).len() > found;
                    program.code.replace(site, Some(&inst));
                    more
                });
                let order = self.without(offset, change);
                needs.push(Need { offset, text: text.clone(), counter: Some(counter), registers, order });
            }
        }
        needs
    }

    /// Returns the code positions of the waits and invalidations that a wave has reached, in the order of
    /// addresses.
    fn places(&self) -> Vec<((u32, u32), What)> {
        let mut seen = BTreeSet::new();
        let interesting = |what: What| {
            use CacheOp::*;
            matches!(
                what,
                What::Wait
                    | What::Cache(
                        InvalidateL1 { .. } | InvalidateGl0 | InvalidateGl1 | InvalidateScalar { .. }
                    )
            )
        };
        let mine = self.events.iter().filter(|event| interesting(event.what) && seen.insert(event.place));
        let mut places: Vec<_> = mine.map(|event| (event.place, event.what)).collect();
        places.sort_by_key(|(place, _)| *place);
        places
    }
}
