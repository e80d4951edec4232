//! Operations in flight at a program point.

use super::transfers::{Transfer, Transfers};
use super::{Cause, Need};
use crate::Model;
use crate::calls;
use crate::counters::{self, CLASS_COUNT, CLASSES, Class, ClassSet, Counter, LdsPath, Tells, Wait};
use crate::effects::{self, Access, RegSet};
use callconv::Convention;
use isa::{MachInst, ModFlags, Opcode, RegRange, op};
use mir::MachFunc;

/// An operation that may be incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pending {
    /// Registers that the operation has not written yet. If the class counts operations until they have read
    /// their sources, these are the registers that the operation has not read yet.
    pub(super) range: RegRange,
    /// Index in [`CLASSES`].
    pub(super) class: u8,
    /// Clock of the class when the operation was issued.
    issued: u32,
    /// Opcode of the instruction, for the notes of waits.
    op: Opcode,
}

/// State of the operations in flight.
#[derive(Debug, Default)]
pub(super) struct State {
    /// Operations that still use registers. To keep the list short, an operation is dropped when a younger
    /// operation of the same in-order class covers all its registers.
    pub(super) ops: Vec<Pending>,
    /// Union of the registers of these operations, for a quick test of whether an instruction needs a wait.
    pub(super) regs: RegSet,
    /// For each class, the youngest operation that is ordered by fences: the clock when it was issued
    /// ([`Pending::issued`]) and its opcode.
    fenced: [Option<(u32, Opcode)>; CLASS_COUNT],
    transfers: Transfers,
    /// For each class, its clock: the number of operations that have been issued. From it follows the age of
    /// an operation. In a class without order, all operations have the same age.
    clock: [u32; CLASS_COUNT],
}

impl Clone for State {
    fn clone(&self) -> State {
        let mut copy = State::default();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, other: &State) {
        let State { ops, regs, fenced, transfers, clock } = other;
        self.ops.clone_from(ops);
        (self.regs, self.fenced, self.transfers, self.clock) = (*regs, *fenced, *transfers, *clock);
    }
}

impl State {
    pub(super) fn clear(&mut self) {
        self.ops.clear();
        (self.regs, self.fenced) = (RegSet::EMPTY, [None; CLASS_COUNT]);
        self.transfers = Transfers::default();
    }

    /// Returns the age of an operation of the class that was issued at the clock `issued`: the number of
    /// operations of the class that were issued later, up to the largest count that is still a wait.
    fn age(&self, model: &Model, class: usize, issued: u32) -> u8 {
        let younger = self.clock[class].wrapping_sub(issued);
        younger.min(model.oldest(class).into()) as u8
    }

    pub(super) fn age_of(&self, model: &Model, pending: &Pending) -> u8 {
        self.age(model, pending.class.into(), pending.issued)
    }

    /// Adds what an instruction must wait for before it may issue.
    #[inline]
    pub(super) fn required(&self, model: &Model, inst: &MachInst, need: &mut Need) {
        if !self.transfers.is_empty() || inst.mods.flags.contains(ModFlags::LDS) {
            self.required_in_lds(model, inst, need);
        }
        if self.ops.is_empty() {
            return;
        }
        effects::all(model.subtarget(), inst, |access| {
            if self.regs.hits(access.range) {
                self.required_by(model, inst, access, need);
            }
        });
    }

    #[cold]
    fn required_by(&self, model: &Model, inst: &MachInst, access: Access, need: &mut Need) {
        for pending in &self.ops {
            if !pending.range.overlaps(access.range) || harmless(model, pending, inst, access) {
                continue;
            }
            need.demand(
                CLASSES[usize::from(pending.class)].counter,
                self.age_of(model, pending),
                Cause {
                    producer: pending.op,
                    reg: Some(effects::first_common(pending.range, access.range)),
                    consumer: inst.op.row().name,
                },
            );
        }
    }

    /// Adds to `need` the waits for older accesses to LDS that are on another path to LDS than this
    /// instruction. Without these waits, one access could overtake the other.
    #[cold]
    fn required_in_lds(&self, model: &Model, inst: &MachInst, need: &mut Need) {
        let Some(path) = counters::lds_path(inst) else { return };
        let consumer = inst.op.row().name;
        for transfer in self.transfers.before(path) {
            self.demand_transfer(model, transfer, consumer, need);
        }
        if path == LdsPath::Instruction {
            return;
        }
        for class in counters::indices(counters::LDS | counters::FLAT) {
            let counter = CLASSES[class].counter;
            if let Some((issued, producer)) = self.fenced[class]
                && counter == Counter::Lgkm
            {
                let age = self.age(model, class, issued);
                need.demand(counter, age, Cause { producer, reg: None, consumer });
            }
        }
    }

    fn demand_transfer(&self, model: &Model, transfer: Transfer, consumer: &'static str, need: &mut Need) {
        let Transfer { class, issued, op: producer } = transfer;
        let age = self.age(model, class, issued);
        need.demand(CLASSES[class].counter, age, Cause { producer, reg: None, consumer });
    }

    /// Adds to `need` the waits for all outstanding loads to LDS and stores from LDS, for code that requires
    /// that they are complete.
    pub(super) fn transferred(&self, model: &Model, consumer: &'static str, need: &mut Need) {
        for transfer in self.transfers.all() {
            self.demand_transfer(model, transfer, consumer, need);
        }
    }

    /// Adds to `need` what a wait point requires: waits on each counter in `mask` for all operations that are
    /// ordered by fences.
    pub(super) fn fence(&self, model: &Model, mask: i32, rule: &'static str, need: &mut Need) {
        if mask & counters::wait_point_bit(Counter::Lgkm) != 0 {
            self.transferred(model, rule, need);
        }
        for (class, youngest) in self.fenced.iter().enumerate() {
            let counter = CLASSES[class].counter;
            if let Some((issued, producer)) = *youngest
                && mask & counters::wait_point_bit(counter) != 0
            {
                let age = self.age(model, class, issued);
                need.demand(counter, age, Cause { producer, reg: None, consumer: rule });
            }
        }
    }

    /// Adds to `need` what a wait in the input requires. A wait in the input is kept only as far as it waits
    /// for operations in flight.
    pub(super) fn existing(&self, model: &Model, wait: Wait, consumer: &'static str, need: &mut Need) {
        let registers =
            self.ops.iter().map(|pending| (usize::from(pending.class), pending.issued, pending.op));
        let fenced = self.fenced.iter().enumerate();
        let fenced = fenced.filter_map(|(class, youngest)| youngest.map(|(issued, op)| (class, issued, op)));
        for (class, issued, producer) in registers.chain(fenced) {
            let counter = CLASSES[class].counter;
            if self.age(model, class, issued) >= wait.count(counter) {
                need.demand(counter, wait.count(counter), Cause { producer, reg: None, consumer });
            }
        }
    }

    /// Removes the operations that are complete after a wait.
    pub(super) fn retire(&mut self, model: &Model, wait: Wait) {
        if wait.is_none() {
            return;
        }
        let mut ages = [[0; 2]; CLASS_COUNT];
        for (class, [oldest, count]) in ages.iter_mut().enumerate() {
            (*oldest, *count) = (model.oldest(class), wait.count(CLASSES[class].counter));
        }
        let clock = self.clock;
        let done = |class: usize, issued: u32| {
            let [oldest, count] = ages[class];
            clock[class].wrapping_sub(issued).min(oldest.into()) >= count.into()
        };
        let before = self.ops.len();
        self.ops.retain(|pending| !done(pending.class.into(), pending.issued));
        if self.ops.len() != before {
            self.regs = RegSet::EMPTY;
            self.ops.iter().for_each(|pending| self.regs.insert(pending.range));
        }
        for (class, youngest) in self.fenced.iter_mut().enumerate() {
            if youngest.is_some_and(|(issued, _)| done(class, issued)) {
                *youngest = None;
            }
        }
        self.transfers.retain(|transfer| !done(transfer.class, transfer.issued));
    }

    /// Adds the operations that an instruction starts.
    #[inline]
    pub(super) fn issue(
        &mut self,
        func: &MachFunc,
        (model, convention): (&Model, Convention),
        inst: &MachInst,
    ) {
        let classes = model.classes(inst);
        if classes != 0 {
            self.issue_memory(func, inst, classes);
        } else if inst.is_call() {
            self.unknown(model, calls::waits(convention).at_return, inst.op);
        }
    }

    /// Sets the state at the beginning of a function that is called.
    pub(super) fn enter(&mut self, model: &Model, convention: Convention) {
        self.unknown(model, calls::waits(convention).at_entry, op::S_SWAPPC_B64);
    }

    /// Sets the state at the head of a block. If no path leads to the block, nothing is in flight there.
    pub(super) fn begin(&mut self, head: Option<&State>) {
        match head {
            Some(head) => self.clone_from(head),
            None => self.clear(),
        }
    }

    /// Sets the state after unknown code, which may have started operations on all counters except those in
    /// `complete`. These operations count as using no registers.
    fn unknown(&mut self, model: &Model, complete: &'static [Counter], op: Opcode) {
        self.clear();
        for (class, fenced) in self.fenced.iter_mut().enumerate() {
            let Class { counter, ordered_by_fences, .. } = CLASSES[class];
            let exists = counter.max(model.subtarget()) > 0;
            if ordered_by_fences && exists && !complete.contains(&counter) {
                *fenced = Some((self.clock[class], op));
            }
        }
    }

    fn issue_memory(&mut self, func: &MachFunc, inst: &MachInst, classes: ClassSet) {
        let ordered = counters::ordered(func, inst);
        let path = counters::lds_path(inst).filter(|path| *path != LdsPath::Instruction);
        for index in counters::indices(classes) {
            let class = &CLASSES[index];
            if class.in_order {
                self.clock[index] = self.clock[index].wrapping_add(1);
            }
            let issued = self.clock[index];
            if class.ordered_by_fences && ordered {
                self.fenced[index] = Some((issued, inst.op));
            }
            if let Some(path) = path
                && class.tells == Tells::Done
            {
                self.transfers.issue(path, Transfer { class: index, issued, op: inst.op });
            }
            counters::registers_in_use(inst, class, |range| {
                if class.in_order {
                    let covers = |old: &Pending| usize::from(old.class) == index && range.covers(old.range);
                    self.ops.retain(|old| !covers(old));
                }
                self.ops.push(Pending { range, class: index as u8, issued, op: inst.op });
                self.regs.insert(range);
            });
        }
    }

    /// Joins the state of another path into this state. Returns whether that changed this state.
    pub(super) fn join(&mut self, model: &Model, other: &State) -> bool {
        let mut changed = false;
        for new in &other.ops {
            let (class, age) = (usize::from(new.class), other.age_of(model, new));
            let issued = self.clock[class].wrapping_sub(age.into());
            let same = |old: &&mut Pending| (old.range, old.class, old.op) == (new.range, new.class, new.op);
            let clock = self.clock[class];
            let oldest = model.oldest(class);
            match self.ops.iter_mut().find(same) {
                Some(old) if clock.wrapping_sub(old.issued).min(oldest.into()) <= age.into() => continue,
                Some(old) => old.issued = issued,
                None => self.ops.push(Pending { issued, ..*new }),
            }
            changed = true;
        }
        self.regs.union(&other.regs);
        for class in 0..CLASS_COUNT {
            let Some((issued, op)) = other.fenced[class] else { continue };
            let age = other.age(model, class, issued);
            if self.fenced[class].is_none_or(|(issued, _)| age < self.age(model, class, issued)) {
                self.fenced[class] = Some((self.clock[class].wrapping_sub(age.into()), op));
                changed = true;
            }
        }
        let mut transfers = other.transfers;
        transfers.rebase(|Transfer { class, issued, .. }| {
            self.clock[class].wrapping_sub(other.age(model, class, issued).into())
        });
        let clock = self.clock;
        let age = |transfer: Transfer| {
            clock[transfer.class].wrapping_sub(transfer.issued).min(model.oldest(transfer.class).into())
        };
        self.transfers.join(transfers, |new, own| age(new) < age(own)) || changed
    }
}

/// Returns whether an instruction may access a register of an operation in flight without a wait.
fn harmless(model: &Model, pending: &Pending, inst: &MachInst, access: Access) -> bool {
    let class = &CLASSES[usize::from(pending.class)];
    if class.tells != Tells::Done {
        return !access.write;
    }
    // Loads of one in-order class write their registers in the order of issue. So a later load of the class
    // may write the same register without a wait.
    !access.read
        && counters::writes_in_order(pending.op, 1 << pending.class)
        && counters::writes_in_order(inst.op, model.classes(inst))
}
