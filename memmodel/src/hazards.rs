//! Inserts `s_nop` where an instruction would come too soon after another.
//!
//! # Source
//! The rows of [`crate::rules`].
//! # Requires
//! Code with its waits, which count as wait states.
//! # Guarantees
//! [`crate::check::hazards`] finds nothing.
//! # Lattice
//! (producer, registers) -> wait states since; union, the lower number. Entries older than any row asks for are
//! forgotten. A block's head only ever gains entries, so it terminates although `s_nop` adds wait states on the way.

use crate::rules::{self, MAX_STATES, Producer, Rule};
use crate::{Context, Options, Stats, edit};
use isa::{Form, MBlock, MachFunc, MachInst, Note, Operand, RegRange, Subtarget, op};
use smallvec::SmallVec;

/// A register that is dangerous still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Recent {
    producer: Producer,
    range: RegRange,
    /// Wait states since.
    age: u8,
}

/// What was done within the last few wait states.
#[derive(Clone, Debug, Default)]
struct Window {
    recent: SmallVec<[Recent; 6]>,
}

/// Memory of the pass.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Window at the head of each block.
    entry: Vec<Option<Window>>,
    /// Blocks whose head changed since they were walked.
    dirty: Vec<bool>,
    /// Blocks in which something is missing.
    missing: Vec<bool>,
}

impl Window {
    /// The rule that asks for most wait states before an instruction, and how many are missing.
    fn required(
        &self,
        target: &Subtarget,
        inst: &MachInst,
        rules: &'static [Rule],
    ) -> Option<(&'static Rule, u8)> {
        let mut worst: Option<(&'static Rule, u8)> = None;
        for rule in rules {
            for recent in &self.recent {
                if recent.producer != rule.producer || recent.age >= rule.states {
                    continue;
                }
                let missing = rule.states - recent.age;
                if worst.is_some_and(|(_, most)| most >= missing) {
                    continue;
                }
                let mut hit = false;
                rules::consumed(target, inst, rule.consumer, |range| hit |= range.overlaps(recent.range));
                if hit {
                    worst = Some((rule, missing));
                }
            }
        }
        worst
    }

    /// Lets wait states pass.
    fn pass(&mut self, states: u8) {
        if states != 0 && !self.recent.is_empty() {
            self.recent.retain(|recent| {
                recent.age += states;
                recent.age < MAX_STATES
            });
        }
    }

    /// After the issue of an instruction: its own wait state passes only with the next one.
    fn issue(&mut self, target: &Subtarget, inst: &MachInst, vgprs: bool) {
        rules::produced(target, inst, vgprs, |producer, range| {
            self.recent.push(Recent { producer, range, age: 0 })
        });
    }

    /// Joins what comes along another edge. Returns whether anything was added.
    fn join(&mut self, other: &Window) -> bool {
        let Window { recent } = other;
        let mut changed = false;
        for new in recent {
            let same = |old: &&mut Recent| (old.producer, old.range) == (new.producer, new.range);
            match self.recent.iter_mut().find(same) {
                Some(old) if old.age <= new.age => {}
                Some(old) => {
                    old.age = new.age;
                    changed = true;
                }
                None => {
                    self.recent.push(*new);
                    changed = true;
                }
            }
        }
        changed
    }
}

/// Runs the pass.
pub fn run(func: &mut MachFunc, target: &Subtarget, _opts: &Options, ctx: &mut Context) -> Stats {
    let mut stats = Stats::default();
    let mut scratch = std::mem::take(&mut ctx.hazards);
    let rules = rules::rules(target.generation);
    let vgprs = func.blocks.values().any(|block| block.insts.iter().any(|inst| inst.form == Form::Dpp));
    solve(func, target, rules, vgprs, &mut scratch);
    for index in 0..func.blocks.len() {
        let block = MBlock::from_u32(index as u32);
        if !scratch.missing[index] {
            continue;
        }
        let mut window = scratch.entry[index].take().unwrap_or_default();
        edit::rewrite(func, block, &mut ctx.insts, |func, inst, out| {
            if let Some((rule, missing)) = window.required(target, inst, rules) {
                nop(func, rule, missing, inst.loc, out, &mut stats);
                window.pass(missing);
            }
            window.pass(rules::states(inst));
            window.issue(target, inst, vgprs);
            out.push(*inst);
        });
    }
    ctx.hazards = scratch;
    stats
}

/// Finds the window at the head of every block, and the blocks that want an `s_nop`. A block that once wanted one wants
/// it for good, as its head only gains entries.
fn solve(func: &MachFunc, target: &Subtarget, rules: &'static [Rule], vgprs: bool, scratch: &mut Scratch) {
    let Scratch { entry, dirty, missing } = scratch;
    let count = func.blocks.len();
    entry.clear();
    entry.resize_with(count, || None);
    dirty.clear();
    // Blocks out of reach are walked too: their insides obey the rules like any others.
    dirty.resize(count, true);
    missing.clear();
    missing.resize(count, false);
    let mut again = true;
    while std::mem::take(&mut again) {
        for (block, data) in func.blocks.iter() {
            let index = block.as_u32() as usize;
            if !std::mem::take(&mut dirty[index]) {
                continue;
            }
            let mut window = entry[index].clone().unwrap_or_default();
            for inst in &data.insts {
                if !window.recent.is_empty()
                    && let Some((_, states)) = window.required(target, inst, rules)
                {
                    missing[index] = true;
                    window.pass(states);
                }
                window.pass(rules::states(inst));
                window.issue(target, inst, vgprs);
            }
            if window.recent.is_empty() {
                continue;
            }
            for edge in data.linear.iter().flatten() {
                let to = edge.to.as_u32() as usize;
                let changed = entry[to].get_or_insert_default().join(&window);
                dirty[to] |= changed;
                again |= changed && to <= index;
            }
        }
    }
}

/// Writes an `s_nop` of so many wait states, or lengthens the one that is there.
fn nop(func: &mut MachFunc, rule: &Rule, states: u8, loc: u32, out: &mut Vec<MachInst>, stats: &mut Stats) {
    const LONGEST: i32 = 15;
    let states = i32::from(states);
    let note = func.note(Note::Hazard { rule: rule.name, states: rule.states });
    if let Some(last) = out.last_mut()
        && let (op::S_NOP, Operand::Imm(count)) = (last.op, last.ops[0])
        && count + states <= LONGEST
    {
        last.ops[0] = Operand::Imm(count + states);
        last.note = note;
        return;
    }
    out.push(MachInst { note, loc, ..MachInst::new(op::S_NOP, &[Operand::Imm(states - 1)]) });
    stats.nops += 1;
}
