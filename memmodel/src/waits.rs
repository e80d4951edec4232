//! Inserts waits, for three purposes: no instruction reads or overwrites a register that an older memory
//! operation may still write (or read); loads to LDS and stores from LDS are ordered with LDS instructions;
//! and wait points are satisfied.
//!
//! # Source
//! Vega ISA, "Data Dependency Resolution"; the order of completion is in [`crate::counters`].
//! # Requires
//! Hardware registers; no `FENCE`.
//! # Guarantees
//! [`crate::proof::in_flight`] and [`crate::proof::transfers`] find no violation; no `WAIT_POINT` remains.
//! # Lattice
//! A state maps the class of operations to (registers -> age), where the age of an operation is the number of
//! younger operations of its class. Bottom is the empty state. The join is the union, with the lower age.
//! Ages saturate at the largest count that is still a wait, so the iteration terminates. The graph is the
//! linear graph, because clearing a lane mask does not cancel an issued load.
//! # What else is done
//! Waits are placed as late as possible: the wait for a register before its first use, the wait of a wait
//! point before the next memory operation, barrier or branch. Waits that are needed at the same place become
//! one wait instruction, or as many as the counters require. Waits in the input are kept if there is an
//! operation to wait for. Waits move out of loops where possible (`hoist`).

mod hoist;
mod state;
mod transfers;

use crate::calls::{self, ControlTransfer};
use crate::counters::{self, CLASSES, Counter, Wait};
use crate::{Context, Model, Options, Stats, edit};
use callconv::Convention;
use isa::table::Flags;
use isa::{MBlock, MachInst, Opcode, Operand, Reg, op};
use mir::flow::Heads;
use mir::{FuncRole, MachFunc, Note};
use state::State;

/// Reusable memory of the pass.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// State at the head of each block that was reached.
    heads: Heads<State>,
    /// The state that is propagated through a block.
    state: State,
    hoist: hoist::Scratch,
}

/// Why a wait has its count for a counter. The notes of wait instructions show this.
#[derive(Clone, Copy, Debug)]
struct Cause {
    producer: Opcode,
    reg: Option<Reg>,
    consumer: &'static str,
}

/// What must be waited for at one place, collected from several requirements.
#[derive(Clone, Copy, Debug)]
struct Need {
    wait: Wait,
    causes: [Option<Cause>; Counter::COUNT],
}

impl Need {
    const NONE: Need = Need { wait: Wait::NONE, causes: [None; Counter::COUNT] };

    fn demand(&mut self, counter: Counter, count: u8, cause: Cause) {
        if self.wait.demand(counter, count) {
            self.causes[counter as usize] = Some(cause);
        }
    }

    fn merge(&mut self, other: &Need) {
        for counter in Counter::ALL {
            if let Some(cause) = other.causes[counter as usize] {
                self.demand(counter, other.wait.count(counter), cause);
            }
        }
    }
}

/// Runs the pass.
pub fn run(func: &mut MachFunc, model: &Model, opts: &Options, ctx: &mut Context) -> Stats {
    let mut stats = Stats::default();
    let scratch = &mut ctx.waits;
    if !opts.blunt {
        solve(func, (model, opts.convention), scratch);
        if hoist::run(func, (model, opts.convention), scratch) {
            solve(func, (model, opts.convention), scratch);
        }
    }
    for index in 0..func.blocks.len() {
        let block = MBlock::from_u32(index as u32);
        if !opts.blunt {
            scratch.state.begin(scratch.heads.get(block));
        }
        let convention = opts.convention;
        let mut walk = Walk { model, convention, blunt: opts.blunt, carried: Need::NONE, stats: &mut stats };
        edit::rewrite(func, block, &mut ctx.insts, |func, inst, out| {
            walk.rewrite(func, &mut scratch.state, inst, out)
        });
        let mut insts = std::mem::take(&mut func.blocks[block].insts);
        let need = std::mem::replace(&mut walk.carried, Need::NONE);
        walk.emit(func, &need, 0, &mut insts);
        func.blocks[block].insts = insts;
    }
    if func.role == FuncRole::Callee {
        stats.waits += begin(func, model, opts.convention);
    }
    stats
}

/// Inserts waits at the beginning of a function, for operations that its caller may have in flight. The
/// calling convention says for which counters. Returns the number of inserted instructions.
#[cold]
fn begin(func: &mut MachFunc, model: &Model, convention: Convention) -> u32 {
    let mut left = calls::wait_for(calls::waits(convention).at_entry, model.subtarget());
    let note = func.note(Note::Text("function entry: what the caller has under way"));
    let mut first = Vec::new();
    for wait in model.subtarget().wait_instructions() {
        let Some(inst) = wait.inst(model.subtarget(), left) else { continue };
        wait.counters.iter().for_each(|&counter| left.0[counter as usize] = Wait::ANY);
        first.push(MachInst { note, ..inst });
    }
    let count = first.len() as u32;
    let entry = &mut func.blocks[MBlock::from_u32(0)];
    entry.insts.splice(0..0, first);
    entry.prologue += if entry.prologue > 0 { count } else { 0 };
    entry.term += count;
    count
}

/// Computes the state at the head of every block.
fn solve(func: &MachFunc, (model, convention): (&Model, Convention), scratch: &mut Scratch) {
    let Scratch { heads, state, .. } = scratch;
    // Unreachable blocks are visited too, because the checker also follows edges from unreachable blocks.
    heads.visit_all(func);
    if func.role == FuncRole::Callee {
        state.enter(model, convention);
        heads.reach(MBlock::from_u32(0), state, |_, _| false);
    }
    while let Some((block, head)) = heads.pop() {
        let data = &func.blocks[block];
        state.begin(head);
        transfer(func, (model, convention), &data.insts, state);
        for edge in data.linear.iter().flatten() {
            heads.reach(edge.to, state, |own, new| own.join(model, new));
        }
    }
}

/// Computes the state after a block. Does to the state what [`Walk::rewrite`] does, but writes no
/// instructions.
fn transfer(
    func: &MachFunc,
    (model, convention): (&Model, Convention),
    insts: &[MachInst],
    state: &mut State,
) {
    let mut carried = Need::NONE;
    for inst in insts {
        let Some(need) = step(func, (model, convention), state, inst, &mut carried) else { continue };
        if !need.wait.is_none() {
            state.retire(model, need.wait);
        }
        state.issue(func, (model, convention), inst);
    }
    state.retire(model, carried.wait);
}

/// Returns the text that says why a wait point, or a wait in the input, exists. The wait that replaces it
/// gets a note with this text.
fn reason(func: &MachFunc, inst: &MachInst) -> &'static str {
    match inst.note.index().map(|note| &func.notes[note]) {
        Some(Note::Coherence(reason) | Note::Text(reason)) => reason,
        _ => inst.op.row().name,
    }
}

/// Returns what must be waited for immediately before an instruction. What wait points require is not
/// included: it is collected in `carried`, and waited for as late as possible. Returns `None` for a wait
/// point or wait, which only says what to wait for and is removed.
#[inline]
fn step(
    func: &MachFunc,
    (model, convention): (&Model, Convention),
    state: &State,
    inst: &MachInst,
    carried: &mut Need,
) -> Option<Need> {
    let flags = inst.op.row().flags;
    if flags.contains(Flags::ORDERED) {
        if let (op::WAIT_POINT, Operand::Imm(mask)) = (inst.op, inst.ops[0]) {
            state.fence(model, mask, reason(func, inst), carried);
            return None;
        }
        if let Some(wait) = model.subtarget().waited(inst) {
            state.existing(model, wait, reason(func, inst), carried);
            return None;
        }
    }
    let mut need = Need::NONE;
    state.required(model, inst, &mut need);
    if flags.contains(Flags::BRANCH)
        && let Some(away) = ControlTransfer::from_inst(func.role, inst)
    {
        let (waits, why) = match away {
            ControlTransfer::Call => (calls::waits(convention).before_call, "call"),
            ControlTransfer::Return => (calls::waits(convention).at_return, "return"),
        };
        state.existing(model, calls::wait_for(waits, model.subtarget()), why, &mut need);
        state.transferred(model, why, &mut need);
    }
    if inst.op == op::S_BARRIER {
        state.transferred(model, inst.op.row().name, &mut need);
    }
    if !carried.wait.is_none() {
        if inst.op == op::S_ENDPGM {
            // At the end of the program, wait points require nothing. No instruction follows that could need
            // a wait, and stores complete without a wait.
            *carried = Need::NONE;
        } else if !need.wait.is_none()
            || model.classes(inst) != 0
            || flags.intersects(Flags::ORDERED.union(Flags::BRANCH))
        {
            need.merge(carried);
            *carried = Need::NONE;
        }
    }
    Some(need)
}

/// State of writing the instructions of a block.
struct Walk<'a> {
    model: &'a Model,
    convention: Convention,
    blunt: bool,
    carried: Need,
    stats: &'a mut Stats,
}

impl Walk<'_> {
    fn rewrite(&mut self, func: &mut MachFunc, state: &mut State, inst: &MachInst, out: &mut Vec<MachInst>) {
        if self.blunt {
            return self.rewrite_blunt(func, inst, out);
        }
        let model = (self.model, self.convention);
        let Some(need) = step(func, model, state, inst, &mut self.carried) else { return };
        if !need.wait.is_none() {
            state.retire(self.model, need.wait);
            self.emit(func, &need, inst.loc, out);
        }
        state.issue(func, model, inst);
        out.push(*inst);
    }

    /// Writes an instruction, and immediately after it a wait for every counter that it increments.
    fn rewrite_blunt(&mut self, func: &mut MachFunc, inst: &MachInst, out: &mut Vec<MachInst>) {
        if inst.op == op::WAIT_POINT || self.model.subtarget().is_wait(inst.op) {
            return;
        }
        out.push(*inst);
        let mut need = Need::NONE;
        for class in counters::indices(self.model.classes(inst)) {
            need.demand(
                CLASSES[class].counter,
                0,
                Cause { producer: inst.op, reg: None, consumer: "blunt waits" },
            );
        }
        self.emit(func, &need, inst.loc, out);
    }

    /// Writes wait instructions. A wait instruction has one note for each counter that it waits for. These
    /// notes have consecutive numbers from `note` on, in the order in which the instruction names the
    /// counters.
    fn emit(&mut self, func: &mut MachFunc, need: &Need, loc: u32, out: &mut Vec<MachInst>) {
        if need.wait.is_none() {
            return;
        }
        let subtarget = self.model.subtarget();
        let mut left = need.wait;
        for wait in subtarget.wait_instructions() {
            let Some(inst) = wait.inst(subtarget, left) else { continue };
            let mut note = isa::NoteId::NONE;
            for &counter in wait.counters {
                left.0[counter as usize] = Wait::ANY;
                if let Some(Cause { producer, reg, consumer }) = need.causes[counter as usize] {
                    let producer = producer.row().name;
                    let id = func.note(Note::Wait { counter: counter.name(), producer, reg, consumer });
                    note = if note == isa::NoteId::NONE { id } else { note };
                }
            }
            out.push(MachInst { note, loc, ..inst });
            self.stats.waits += 1;
        }
    }
}
