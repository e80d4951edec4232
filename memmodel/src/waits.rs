//! Inserts `s_waitcnt` so that no instruction reads or overwrites a register that an older memory operation may still
//! write, and so that wait points hold.
//!
//! # Source
//! Vega ISA, "Data Dependency Resolution"; the order of completion is in [`crate::counters`].
//! # Requires
//! Hardware registers; no `FENCE`.
//! # Guarantees
//! [`crate::check::in_flight`] finds nothing; no `WAIT_POINT` remains.
//! # Lattice
//! Class of operations -> (registers -> age), the age of an operation being the number of younger ones of its class.
//! Bottom: empty. Join: union, the lower age. Ages saturate at the largest count that still waits, so it terminates.
//! The graph is the linear one: a cleared lane mask does not un-issue a load.
//! # What else is done
//! Waits are placed as late as possible: a register's wait before its first use, a wait point's before the next memory
//! operation, barrier or branch. What meets at one place is one `s_waitcnt`. `s_waitcnt` in the input is kept where
//! there is something to wait for. Waits leave loops where they can (`hoist`).

mod hoist;

use crate::counters::{self, CLASS_COUNT, CLASSES, Counter, VECTOR, Wait};
use crate::effects::{self, Access, RegSet};
use crate::{Context, Options, Stats, edit};
use isa::table::Flags;
use isa::{MBlock, MachFunc, MachInst, Note, Opcode, Operand, Reg, RegRange, Subtarget, op};
use smallvec::SmallVec;

/// An operation that may not be complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pending {
    /// Registers it writes (or reads, for a class that counts reads).
    range: RegRange,
    /// Index in [`CLASSES`].
    class: u8,
    /// Younger operations of its class.
    age: u8,
    /// What it is, for the notes.
    op: Opcode,
}

/// What is in flight at a point of the program.
#[derive(Clone, Debug, Default)]
struct State {
    /// Operations with registers.
    ops: SmallVec<[Pending; 8]>,
    /// The union of their registers: the quick answer to "does this instruction need anything".
    regs: RegSet,
    /// By class: the youngest operation that fences order, with its age.
    fenced: [Option<(u8, Opcode)>; CLASS_COUNT],
}

/// Memory of the pass.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// State at the head of each block.
    entry: Vec<Option<State>>,
    /// Blocks whose head changed since they were walked.
    dirty: Vec<bool>,
}

/// Why a field of a wait has its count.
#[derive(Clone, Copy, Debug)]
struct Cause {
    producer: Opcode,
    reg: Option<Reg>,
    consumer: &'static str,
}

/// A wait in the making.
#[derive(Clone, Copy, Debug)]
struct Need {
    wait: Wait,
    causes: [Option<Cause>; 3],
}

impl Need {
    const NONE: Need = Need { wait: Wait::NONE, causes: [None; 3] };

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

impl State {
    /// What an instruction needs before it may issue.
    #[inline]
    fn required(&self, target: &Subtarget, inst: &MachInst, need: &mut Need) {
        if self.regs.is_empty() {
            return;
        }
        effects::all(target, inst, |access| {
            if self.regs.hits(access.range) {
                self.required_by(inst, access, need);
            }
        });
    }

    #[cold]
    fn required_by(&self, inst: &MachInst, access: Access, need: &mut Need) {
        for pending in &self.ops {
            if !pending.range.overlaps(access.range) || harmless(pending, inst, access) {
                continue;
            }
            need.demand(
                CLASSES[usize::from(pending.class)].counter,
                pending.age,
                Cause {
                    producer: pending.op,
                    reg: Some(effects::first_common(pending.range, access.range)),
                    consumer: inst.op.row().name,
                },
            );
        }
    }

    /// What a wait point needs: all that fences order, on the counters of the mask.
    fn fence(&self, mask: i32, rule: &'static str, need: &mut Need) {
        for (class, youngest) in CLASSES.iter().zip(self.fenced) {
            if let Some((age, producer)) = youngest
                && mask & class.counter.wait_point_bit() != 0
            {
                need.demand(class.counter, age, Cause { producer, reg: None, consumer: rule });
            }
        }
    }

    /// What of an `s_waitcnt` of the input is not void.
    fn existing(&self, wait: Wait, consumer: &'static str, need: &mut Need) {
        let registers = self.ops.iter().map(|pending| (pending.class, pending.age, pending.op));
        let fenced = self.fenced.iter().enumerate();
        let fenced = fenced.filter_map(|(class, youngest)| youngest.map(|(age, op)| (class as u8, age, op)));
        for (class, age, producer) in registers.chain(fenced) {
            let counter = CLASSES[usize::from(class)].counter;
            if age >= wait.count(counter) {
                need.demand(counter, wait.count(counter), Cause { producer, reg: None, consumer });
            }
        }
    }

    /// After a wait.
    fn retire(&mut self, wait: Wait) {
        let done = |class: u8, age: u8| age >= wait.count(CLASSES[usize::from(class)].counter);
        let before = self.ops.len();
        self.ops.retain(|pending| !done(pending.class, pending.age));
        if self.ops.len() != before {
            self.regs = RegSet::EMPTY;
            for pending in &self.ops {
                self.regs.insert(pending.range);
            }
        }
        for (class, youngest) in self.fenced.iter_mut().enumerate() {
            if youngest.is_some_and(|(age, _)| done(class as u8, age)) {
                *youngest = None;
            }
        }
    }

    /// After the issue of an instruction.
    #[inline]
    fn issue(&mut self, func: &MachFunc, inst: &MachInst, target: &Subtarget) {
        let classes = counters::classes(inst);
        if classes != 0 {
            self.issue_memory(func, inst, classes, target);
        }
    }

    fn issue_memory(
        &mut self,
        func: &MachFunc,
        inst: &MachInst,
        classes: counters::ClassSet,
        target: &Subtarget,
    ) {
        let ordered = counters::ordered(func, inst);
        for index in counters::each(classes) {
            let class = &CLASSES[index];
            if class.in_order {
                // The largest count that is a wait at all: a full field waits for nothing.
                let oldest = class.counter.max(target) - 1;
                for pending in self.ops.iter_mut().filter(|pending| usize::from(pending.class) == index) {
                    pending.age = (pending.age + 1).min(oldest);
                }
                if let Some((age, _)) = &mut self.fenced[index] {
                    *age = (*age + 1).min(oldest);
                }
            }
            if class.ordered_by_fences && ordered {
                self.fenced[index] = Some((0, inst.op));
            }
            effects::explicit(inst, |access| {
                if if class.reads_sources {
                    access.read && access.range.first.is_vgpr()
                } else {
                    access.write
                } {
                    self.ops.push(Pending { range: access.range, class: index as u8, age: 0, op: inst.op });
                    self.regs.insert(access.range);
                }
            });
        }
    }

    /// Joins what comes along another edge. Returns whether anything was added.
    fn join(&mut self, other: &State) -> bool {
        let State { ops, regs, fenced } = other;
        let mut changed = false;
        for new in ops {
            let same = |old: &&mut Pending| (old.range, old.class, old.op) == (new.range, new.class, new.op);
            match self.ops.iter_mut().find(same) {
                Some(old) if old.age <= new.age => {}
                Some(old) => {
                    old.age = new.age;
                    changed = true;
                }
                None => {
                    self.ops.push(*new);
                    changed = true;
                }
            }
        }
        self.regs.union(regs);
        for (old, new) in self.fenced.iter_mut().zip(fenced) {
            if let Some((age, op)) = *new
                && old.is_none_or(|(old, _)| age < old)
            {
                *old = Some((age, op));
                changed = true;
            }
        }
        changed
    }
}

/// Whether an access to a register of a pending operation cannot go wrong.
fn harmless(pending: &Pending, inst: &MachInst, access: Access) -> bool {
    let class = &CLASSES[usize::from(pending.class)];
    if class.reads_sources {
        return !access.write;
    }
    // Loads of one in-order class write their registers in that order, so a later one may have the same destination.
    !access.read && class.in_order && 1 << pending.class == VECTOR && counters::classes(inst) == VECTOR
}

/// Runs the pass.
pub fn run(func: &mut MachFunc, target: &Subtarget, opts: &Options, ctx: &mut Context) -> Stats {
    let mut stats = Stats::default();
    let mut scratch = std::mem::take(&mut ctx.waits);
    if !opts.blunt {
        solve(func, target, &mut scratch);
        if hoist::run(func, target, &scratch) {
            solve(func, target, &mut scratch);
        }
    }
    for index in 0..func.blocks.len() {
        let block = MBlock::from_u32(index as u32);
        let mut state = if opts.blunt { None } else { scratch.entry[index].take() }.unwrap_or_default();
        let mut walk = Walk { target, blunt: opts.blunt, carried: Need::NONE, stats: &mut stats };
        edit::rewrite(func, block, &mut ctx.insts, |func, inst, out| {
            walk.rewrite(func, &mut state, inst, out)
        });
        let mut insts = std::mem::take(&mut func.blocks[block].insts);
        let need = std::mem::replace(&mut walk.carried, Need::NONE);
        walk.emit(func, &need, 0, &mut insts);
        func.blocks[block].insts = insts;
    }
    ctx.waits = scratch;
    stats
}

/// Finds the state at the head of every block.
fn solve(func: &MachFunc, target: &Subtarget, scratch: &mut Scratch) {
    let count = func.blocks.len();
    scratch.entry.clear();
    scratch.entry.resize_with(count, || None);
    scratch.dirty.clear();
    // Blocks out of reach are walked too: what leads from them into others must not surprise the checker.
    scratch.dirty.resize(count, true);
    let mut again = true;
    while std::mem::take(&mut again) {
        for (block, data) in func.blocks.iter() {
            let index = block.as_u32() as usize;
            if !std::mem::take(&mut scratch.dirty[index]) {
                continue;
            }
            let mut state = scratch.entry[index].clone().unwrap_or_default();
            transfer(func, target, &data.insts, &mut state);
            for edge in data.linear.iter().flatten() {
                let to = edge.to.as_u32() as usize;
                let changed = match &mut scratch.entry[to] {
                    Some(entry) => entry.join(&state),
                    entry => {
                        *entry = Some(state.clone());
                        true
                    }
                };
                scratch.dirty[to] |= changed;
                again |= changed && to <= index;
            }
        }
    }
}

/// The state after a block: what [`Walk::rewrite`] does to it, without the writing.
fn transfer(func: &MachFunc, target: &Subtarget, insts: &[MachInst], state: &mut State) {
    let mut carried = Need::NONE;
    for inst in insts {
        if let Some(need) = step(func, target, state, inst, &mut carried)
            && !need.wait.is_none()
        {
            state.retire(need.wait);
        }
        if !absorbed(inst) {
            state.issue(func, inst, target);
        }
    }
    state.retire(carried.wait);
}

/// Why an instruction that only says what to wait for is there.
fn reason(func: &MachFunc, inst: &MachInst) -> &'static str {
    match inst.note.index().map(|note| &func.notes[note]) {
        Some(Note::Coherence(reason) | Note::Text(reason)) => reason,
        _ => inst.op.row().name,
    }
}

/// Whether an instruction only says what to wait for.
fn absorbed(inst: &MachInst) -> bool {
    inst.op == op::WAIT_POINT || inst.op == op::S_WAITCNT
}

/// What must be waited for right before an instruction; demands of wait points are carried as far as they may.
#[inline]
fn step(
    func: &MachFunc,
    target: &Subtarget,
    state: &State,
    inst: &MachInst,
    carried: &mut Need,
) -> Option<Need> {
    match (inst.op, inst.ops[0]) {
        (op::WAIT_POINT, Operand::Imm(mask)) => {
            state.fence(mask, reason(func, inst), carried);
            return None;
        }
        (op::S_WAITCNT, Operand::Imm(imm)) => {
            state.existing(Wait::unpack(imm, target), reason(func, inst), carried);
            return None;
        }
        _ => {}
    }
    let mut need = Need::NONE;
    state.required(target, inst, &mut need);
    if !carried.wait.is_none() {
        let flags = inst.op.row().flags;
        if inst.op == op::S_ENDPGM {
            // Nothing follows that the wait could be before; stores drain by themselves.
            *carried = Need::NONE;
        } else if !need.wait.is_none()
            || counters::classes(inst) != 0
            || flags.intersects(Flags::ORDERED.union(Flags::BRANCH))
        {
            need.merge(carried);
            *carried = Need::NONE;
        }
    }
    Some(need)
}

/// Writes the instructions of a block.
struct Walk<'a> {
    target: &'a Subtarget,
    blunt: bool,
    carried: Need,
    stats: &'a mut Stats,
}

impl Walk<'_> {
    fn rewrite(&mut self, func: &mut MachFunc, state: &mut State, inst: &MachInst, out: &mut Vec<MachInst>) {
        if self.blunt {
            return self.rewrite_blunt(func, inst, out);
        }
        if let Some(need) = step(func, self.target, state, inst, &mut self.carried)
            && !need.wait.is_none()
        {
            state.retire(need.wait);
            self.emit(func, &need, inst.loc, out);
        }
        if !absorbed(inst) {
            state.issue(func, inst, self.target);
            out.push(*inst);
        }
    }

    /// Waits for every counter that an instruction raises, right after it.
    fn rewrite_blunt(&mut self, func: &mut MachFunc, inst: &MachInst, out: &mut Vec<MachInst>) {
        if absorbed(inst) {
            return;
        }
        out.push(*inst);
        let mut need = Need::NONE;
        for class in counters::each(counters::classes(inst)) {
            need.demand(
                CLASSES[class].counter,
                0,
                Cause { producer: inst.op, reg: None, consumer: "blunt waits" },
            );
        }
        self.emit(func, &need, inst.loc, out);
    }

    /// Writes an `s_waitcnt`. Its notes, one for each counter of the mask and in the mask's order of printing, follow
    /// one another from `note` on.
    fn emit(&mut self, func: &mut MachFunc, need: &Need, loc: u32, out: &mut Vec<MachInst>) {
        if need.wait.is_none() {
            return;
        }
        let mut first = None;
        for counter in Counter::ALL {
            if let Some(Cause { producer, reg, consumer }) = need.causes[counter as usize] {
                let producer = producer.row().name;
                let note = func.note(Note::Wait { counter: counter.name(), producer, reg, consumer });
                first = first.or(Some(note));
            }
        }
        let note = first.unwrap_or(isa::NoteId::NONE);
        let imm = Operand::Imm(need.wait.pack(self.target));
        out.push(MachInst { note, loc, ..MachInst::new(op::S_WAITCNT, &[imm]) });
        self.stats.waits += 1;
    }
}
