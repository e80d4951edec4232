//! State during a walk through the code, instruction by instruction: which registers and spill slots hold the
//! values of watched registers, and which values are in flight.

use super::effects::Effects;
use isa::table::{Family, Flags};
use isa::{Counter, MachInst, Operand, PrivateAccess, Reg, RegRange, Role, Subtarget, op};
use mir::track::{Cell, MachTrack};
use rustc_hash::FxHashMap;

/// The places in which values of watched registers may be. For each watched register there is a place for its
/// hardware register, and another place for its spill slot if it has one. Place number `n` is that of watched
/// register number `n` in its hardware register. The places for spill slots follow after these.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// The places.
    pub(super) all: Vec<Kept>,
    /// For each watched register (one that debug information follows), the number of the place that stands
    /// for its spill slot. The number is `u32::MAX` if the register is never spilled.
    pub(super) slots: Vec<u32>,
    /// `cells` is the number of cells: all hardware registers, then the spill slots. `points` gives the cell
    /// of a spill slot. All instructions that spill to the slot have the same point (`Effect::point`), which
    /// is the key.
    pub(super) cells: usize,
    pub(super) points: FxHashMap<u32, u32>,
}

/// Place of a watched register.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    pub(super) watched: u32,
    /// Cell of the place; `u32::MAX` for none.
    pub(super) cell: u32,
    /// Whether each lane has its own value there.
    pub(super) is_vector: bool,
}

/// Stands for no cell, no place, or no index.
pub(super) const NONE: u32 = u32::MAX;

/// Number of cells that are hardware registers. Cells with greater numbers are spill slots.
pub(super) const REGISTERS: u32 = 1024;

impl Places {
    /// Finds the places of a function.
    fn find(&mut self, track: &MachTrack) {
        let Places { all, slots, points, .. } = self;
        all.clear();
        slots.clear();
        points.clear();
        slots.resize(track.watched.len(), NONE);
        let lanes = |reg: Reg| reg.is_vgpr() || reg.is_agpr();
        all.extend(track.watched.iter().zip(0u32..).map(|(watched, number)| Kept {
            watched: number,
            cell: watched.place.map_or(NONE, |reg| reg.0.into()),
            is_vector: watched.place.is_some_and(lanes),
        }));
        for (watched, number) in track.watched.iter().zip(0u32..) {
            let Some(slot) = track.slot(watched) else { continue };
            let next = REGISTERS + points.len() as u32;
            let cell = *points.entry(slot.point).or_insert(next);
            slots[number as usize] = all.len() as u32;
            let is_vector = !matches!(slot.cell, Cell::Lane(..));
            all.push(Kept { watched: number, cell, is_vector });
        }
        self.cells = REGISTERS as usize + points.len();
    }

    /// Returns the cell of a spill slot. `point` is the number that the instructions which spill to the slot
    /// and reload from it have as their point.
    pub(super) fn slot_of(&self, point: u32) -> u32 {
        self.points.get(&point).copied().unwrap_or(NONE)
    }
}

/// State of all places, as bit sets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    /// Places whose value has been written or is in flight.
    pub(super) present: Vec<u64>,
    /// Places whose value has arrived.
    pub(super) ready: Vec<u64>,
}

impl State {
    pub(super) fn set(&mut self, watched: u32, ready: bool) {
        let (word, bit) = (watched as usize / 64, 1 << (watched % 64));
        self.present[word] |= bit;
        if ready {
            self.ready[word] |= bit;
        } else {
            self.ready[word] &= !bit;
        }
    }

    pub(super) fn clear(&mut self, watched: u32) {
        let (word, bit) = (watched as usize / 64, 1u64 << (watched % 64));
        self.present[word] &= !bit;
        self.ready[word] &= !bit;
    }

    pub(super) fn is_ready(&self, watched: u32) -> bool {
        let (word, bit) = (watched as usize / 64, 1 << (watched % 64));
        self.ready[word] & bit != 0
    }

    pub(super) fn is_pending(&self, watched: u32) -> bool {
        let (word, bit) = (watched as usize / 64, 1 << (watched % 64));
        self.present[word] & !self.ready[word] & bit != 0
    }
}

/// Value in flight.
#[derive(Debug)]
pub(super) struct Flight {
    pub(super) counter: Counter,
    /// Number of the operation that delivers the value. Operations are counted separately for each wait
    /// counter.
    pub(super) number: u32,
    /// Place that receives the value.
    pub(super) place: u32,
}

impl Flight {
    /// Returns whether the value has arrived once the code has waited until at most `counts` operations are
    /// outstanding. `raised` has the number of operations so far for each counter.
    pub(super) fn is_done(&self, counts: &isa::Counts, raised: [u32; 2]) -> bool {
        let count = u32::from(counts.count(self.counter));
        match self.counter {
            Counter::Vm => self.number + count < raised[0] || count == 0,
            // Scalar loads return in any order.
            Counter::Lgkm => count == 0,
            _ => false,
        }
    }
}

/// Returns the wait counter that counts an instruction which writes a register asynchronously: a load, an
/// atomic operation, or an exchange between lanes through LDS hardware. `Exp` stands for both `vmcnt` and
/// `lgkmcnt`. Returns `None` for other instructions.
pub(super) fn counter(target: &Subtarget, inst: &MachInst) -> Option<Counter> {
    let row = inst.op.row();
    if !row.flags.intersects(Flags::VM | Flags::LGKM) {
        return None;
    }
    let mut returns = false;
    inst.for_each_written(target, |_| returns = true);
    if row.flags.contains(Flags::VM) {
        let counts = returns || Counter::Vs.max(target) == 0;
        // A FLAT operation may access LDS, so it completes out of order. Therefore a wait for a count does
        // not show that its result has arrived; only a use of the result does.
        return counts.then_some(if row.family == Family::Flat { Counter::Exp } else { Counter::Vm });
    }
    returns.then_some(Counter::Lgkm)
}

/// Access of an instruction to a spill slot.
#[derive(Clone, Copy)]
pub(super) enum Spilled {
    /// Stores this register to the slot.
    Stored(Reg),
    /// Loads this register from the slot.
    Loaded(Reg),
}

pub(super) fn spilled(inst: &MachInst) -> Option<Spilled> {
    let first = |operand: Operand| match operand {
        Operand::Reg(range) => Some(range.first),
        _ => None,
    };
    let reg = |n: usize| first(inst.ops[n]);
    match inst.op {
        op::V_READLANE_B32 | op::V_READLANE_B32_VOP2 | op::V_ACCVGPR_READ_B32 => reg(0).map(Spilled::Loaded),
        op::V_WRITELANE_B32 | op::V_WRITELANE_B32_VOP2 | op::V_ACCVGPR_WRITE_B32 => {
            reg(1).map(Spilled::Stored)
        }
        _ => match PrivateAccess::of_dword(inst)? {
            (Role::Def, access) => first(access.data).map(Spilled::Loaded),
            (_, access) => first(access.data).map(Spilled::Stored),
        },
    }
}

/// Walk through a block.
#[derive(Debug, Default)]
pub(super) struct Walker {
    pub(super) places: Places,
    pub(super) state: State,
    /// A linked list for each cell, of the places whose value the cell holds or will receive. `holders` has
    /// the first place for each cell, and `next_holder` has, for each place, the next place in the same cell.
    pub(super) holders: Vec<u32>,
    pub(super) next_holder: Vec<u32>,
    /// Cells that may have holders.
    pub(super) held: Vec<u32>,
    /// Number of places that are in flight.
    pub(super) pending: u32,
    pub(super) flights: Vec<Flight>,
    /// Number of operations so far for each wait counter: first vector memory, then scalar memory and LDS.
    pub(super) raised: [u32; 2],
    /// Places (registers and spill slots) whose values may be in flight. The list may still contain places
    /// whose values have arrived since.
    waiting: Vec<u32>,
    pub(super) next: Next,
    /// Watched registers whose state has changed.
    pub(super) changes: Vec<u32>,
}

/// Position of the walk.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Next {
    /// Number of the next instruction.
    pub(super) inst: u32,
    /// Indices in [`Effects::writes`] and [`Effects::heads`] of the next elements that the walk will reach.
    pub(super) write: u32,
    pub(super) head: u32,
}

impl Next {
    /// Returns the block of the IR that begins at the current instruction, if any.
    pub(super) fn head(&mut self, effects: &Effects) -> Option<u32> {
        let &(_, part) = effects.heads.get(self.head as usize).filter(|head| head.0 == self.inst)?;
        self.head += 1;
        Some(part)
    }

    /// Returns the next watched register that the current instruction writes, if there is another one.
    pub(super) fn write(&mut self, effects: &Effects) -> Option<u32> {
        let &(_, watched) = effects.writes.get(self.write as usize).filter(|write| write.0 == self.inst)?;
        self.write += 1;
        Some(watched)
    }
}

impl Walker {
    /// Prepares for the code of another function.
    pub(super) fn reset(&mut self, track: &MachTrack) {
        self.forget();
        self.places.find(track);
        self.holders.resize(self.places.cells.max(self.holders.len()), NONE);
        self.next_holder.resize(self.places.all.len().max(self.next_holder.len()), NONE);
        self.changes.clear();
    }

    /// Removes all values from all cells.
    fn forget(&mut self) {
        let Walker { held, holders, .. } = self;
        held.drain(..).for_each(|cell| holders[cell as usize] = NONE);
        self.flights.clear();
        self.waiting.clear();
        self.pending = 0;
    }

    /// Begins a block with the given present and ready places.
    pub(super) fn begin(&mut self, [present, ready]: [&[u64]; 2], first: Next) {
        self.forget();
        self.state.present.clear();
        self.state.present.extend_from_slice(present);
        self.state.ready.clear();
        self.state.ready.extend_from_slice(ready);
        self.changes.clear();
        // Operations of this block are numbered from 1, and all operations of earlier blocks have number 0.
        // So a wait for any operation of this block also covers those of earlier blocks.
        (self.next, self.raised) = (first, [1; 2]);
        for (word, (&present, &ready)) in present.iter().zip(ready).enumerate() {
            let mut rest = present;
            while rest != 0 {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                let place = word as u32 * 64 + bit;
                self.hold(place);
                if ready >> bit & 1 == 0 {
                    self.pending += 1;
                    self.waiting.push(place);
                }
            }
        }
    }

    pub(super) fn hold(&mut self, place: u32) {
        let cell = self.places.all[place as usize].cell;
        if let Some(first) = self.holders.get_mut(cell as usize) {
            self.next_holder[place as usize] = std::mem::replace(first, place);
            self.held.push(cell);
        }
    }

    /// Marks a place (register or spill slot) as holding its value if `ready` is set, and otherwise as
    /// waiting for a value that is in flight.
    pub(super) fn set(&mut self, place: u32, ready: bool) {
        let Kept { watched, cell, .. } = self.places.all[place as usize];
        // A place that is neither ready nor pending is in no list.
        if cell == NONE || self.state.is_ready(place) || self.state.is_pending(place) {
            return;
        }
        self.state.set(place, ready);
        if !ready {
            self.pending += 1;
            self.waiting.push(place);
        }
        self.hold(place);
        self.changes.push(watched);
    }

    /// Marks a place (register or spill slot) as written by the current instruction. If a wait counter counts
    /// the instruction (`counter`), the value is in flight until the code waits.
    pub(super) fn bring(&mut self, place: u32, counter: Option<Counter>) {
        self.set(place, counter.is_none());
        if let Some(counter @ (Counter::Vm | Counter::Lgkm)) = counter {
            let number = self.raised[usize::from(counter == Counter::Lgkm)];
            self.flights.push(Flight { counter, number, place });
        }
    }

    /// Marks a place (register or spill slot) as available where a block of the IR begins. If `counter` is
    /// given, the value is still in flight. The operation that delivers it was issued at an unknown time
    /// before all operations of this block.
    pub(super) fn expect(&mut self, place: u32, counter: Option<Counter>) {
        self.set(place, counter.is_none());
        if let Some(counter @ (Counter::Vm | Counter::Lgkm)) = counter {
            let number = self.raised[usize::from(counter == Counter::Lgkm)] - 1;
            self.flights.push(Flight { counter, number, place });
        }
    }

    pub(super) fn raise(&mut self, counter: Option<Counter>) {
        if let Some(counter @ (Counter::Vm | Counter::Lgkm)) = counter {
            self.raised[usize::from(counter == Counter::Lgkm)] += 1;
        }
    }

    /// Forgets all values in a register or spill slot, because it is overwritten.
    pub(super) fn clear_cell(&mut self, cell: u32) {
        let Some(first) = self.holders.get_mut(cell as usize) else { return };
        let mut place = std::mem::replace(first, NONE);
        while place != NONE {
            self.pending -= u32::from(self.state.is_pending(place));
            self.state.clear(place);
            self.changes.push(self.places.all[place as usize].watched);
            place = self.next_holder[place as usize];
        }
    }

    /// Marks values in flight to the registers of `range` as arrived. The current instruction reads these
    /// registers, and the compiler inserts a wait before every use of a result.
    pub(super) fn mark_arrived(&mut self, range: RegRange) {
        let first = usize::from(range.first.0);
        for cell in first..first + usize::from(range.len) {
            let mut place = self.holders.get(cell).copied().unwrap_or(NONE);
            while place != NONE {
                self.arrives(place);
                place = self.next_holder[place as usize];
            }
        }
    }

    /// Returns the watched registers (those that debug information follows) whose values have arrived in
    /// `cell`. Only registers for which `is_wanted` returns true are returned.
    pub(super) fn arrived_in_cell(&self, cell: u32, is_wanted: impl Fn(u32) -> bool) -> Vec<u32> {
        let mut found = Vec::new();
        let mut place = self.holders.get(cell as usize).copied().unwrap_or(NONE);
        while place != NONE {
            let watched = self.places.all[place as usize].watched;
            if self.state.is_ready(place) && is_wanted(watched) {
                found.push(watched);
            }
            place = self.next_holder[place as usize];
        }
        found
    }

    pub(super) fn arrives(&mut self, place: u32) {
        if self.state.is_pending(place) {
            self.state.set(place, true);
            self.pending -= 1;
            self.changes.push(self.places.all[place as usize].watched);
        }
    }

    /// Handles a wait until at most `counts` operations of each kind are outstanding: marks the values that
    /// have arrived by then.
    pub(super) fn wait(&mut self, counts: &isa::Counts) {
        let all = [Counter::Vm, Counter::Lgkm].map(|counter| counts.count(counter) == 0);
        if all == [true, true] {
            // No operation of either kind is outstanding after this wait, so all values have arrived.
            let mut waiting = std::mem::take(&mut self.waiting);
            waiting.drain(..).for_each(|place| self.arrives(place));
            self.waiting = waiting;
            self.flights.clear();
            return;
        }
        let mut flights = std::mem::take(&mut self.flights);
        flights.retain(|flight| {
            let is_done = flight.is_done(counts, self.raised);
            if is_done {
                self.arrives(flight.place);
            }
            !is_done
        });
        self.flights = flights;
    }
}
