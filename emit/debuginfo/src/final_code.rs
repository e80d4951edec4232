//! Reads from final code at which byte offsets statements begin, and in which ranges of offsets each fragment
//! of a variable is at which location. A fragment is a scalar part of a variable, such as one field of a
//! struct.
//!
//! # Terms
//! The input is [`MachTrack`], which instruction selection and the allocator fill in:
//! * Point: number of an operation of the IR. An instruction has the point of the operation from which it was
//!   selected.
//! * Part: block of the IR, a range of points.
//! * Record: says that a statement begins at a point, or that a fragment has another value from that point
//!   on.
//! * Watched register: virtual register whose hardware register and spill slot are followed through the code.
//! * Tracked value: value that is in one or more watched registers.
//!
//! # Idea
//! Two kinds of facts flow through the code. First, what each fragment *is* (a constant or a tracked value)
//! changes at records. This fact flows as lanes do, and instruction selection has already worked out what
//! fragments are where blocks begin. Second, whether a watched register *holds* its value yet, or still holds
//! it, depends on what instructions write. This fact flows as the program counter does for scalar registers,
//! and as lanes do for vector registers. A fragment is in a register where both facts say so.
//!
//! If no register holds a fragment any more, the fragment may still be recoverable as a value that the caller
//! passed: an argument of the function is known from its register on entry, even if the register has been
//! overwritten since.
//!
//! The result of a load is in its register once the code has waited for the load. The code has waited either
//! by a wait that covers the load or because an instruction uses the result, since the compiler inserts a
//! wait before every use. Values with which a block of the IR begins may also still be in flight (see
//! `coming`).

mod counting;
mod effects;
mod foreign;
mod in_flight;
mod loops;
mod users;
mod walker;
mod writer;

use self::effects::{Effect, EffectKind, Effects};
use self::in_flight::{AtHead, InFlightAtHeads};
use self::loops::Loops;
use self::walker::{Kept, NONE, Places, REGISTERS, Spilled, State, Walker, spilled};
use self::writer::{Writer, find_places};
use crate::calls::is_called;
use emit::Entered;
use isa::{Counter, MBlock, MachInst, Reg, RegRange, Role, Subtarget};
use mir::flow::Worklist;
use mir::track::{Cell, FragmentLocation, MachTrack, Term, TermOp, TrackedValue, is_spill};
use mir::{MachBlock, MachFunc};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Location of a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Location {
    /// The fragment has no location: its value is this constant.
    Constant(u64),
    /// The fragment is in one cell (a register or spill slot). A fragment of 64 bits has its low dword in the
    /// first cell and its high dword in the second.
    Dwords(Cell, Option<Cell>),
    /// The fragment is a truth value, held as a lane mask with one bit for each lane. The mask is in this
    /// register, or in the register pair that begins with it.
    Mask(Reg),
    /// The fragment's whole variable is in private memory, at this byte offset in the function's frame.
    Memory(u32),
    /// The value is computed. An index into [`FinalCode::terms`].
    Term(u32),
}

/// Value that the debugger computes from other values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Computed {
    /// Operation.
    pub op: TermOp,
    /// Width of the operands in bits.
    pub bits: u8,
    /// Locations of the operands.
    pub args: [Option<Location>; 3],
}

/// Range of code in which a fragment is at one location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Number of the fragment. Fragments are numbered through all variables of the function.
    pub fragment: u32,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset of the byte after the last.
    pub end: u32,
    /// Location of the fragment in this range.
    pub place: Location,
}

/// Row of the line table: the source location of the code from this offset to the next row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Byte offset in the code of the function.
    pub start: u32,
    /// Source location, as the IR represents it; 0 for none.
    pub loc: u32,
    /// Whether a statement begins here.
    pub is_statement: bool,
}

/// Debug information of one function, read from its final code.
#[derive(Clone, Debug, Default)]
pub struct FinalCode {
    /// Size of the code in bytes.
    pub size: u32,
    /// Source locations, in the order of their byte offsets.
    pub lines: Vec<Line>,
    /// Locations of fragments, sorted by fragment and then by byte offset.
    pub ranges: Vec<Range>,
    /// Computed values. The operands of a value precede the value.
    pub terms: Vec<Computed>,
}

/// Maximum depth of nested operations in a computed value.
const MOST_STEPS: u32 = 4;

/// Memory that is reused from one function to the next.
#[derive(Debug, Default)]
pub struct Scratch {
    known: Known,
    walker: Walker,
    writer: Writer,
    begins: EntryStates,
    loops: Loops,
    given: EntryRegisters,
    terms: Terms,
    places: Vec<(u32, u32)>,
}

/// Reads the debug information of a function from its final code. `has_masks` says whether the DWARF dialect
/// can describe a truth value by one lane's bit of a lane mask.
pub fn read(
    func: &MachFunc,
    track: &MachTrack,
    target: &Subtarget,
    has_masks: bool,
    s: &mut Scratch,
) -> FinalCode {
    s.walker.reset(track);
    s.known.find(func, track, target, &s.walker.places);
    s.begins.reset(func, &s.known);
    let reader = Reader { has_masks, func, track, target, known: &s.known };
    let Scratch { walker, begins, loops, writer, places, terms, given, .. } = s;
    if !loops.enter(&reader, &walker.places, begins) {
        begins.reset(func, &s.known);
        reader.run_to_fixpoint(walker, begins);
    }
    let code = reader.walk(walker, begins, (writer, places), (terms, given));
    if begins.changed.is_empty() {
        return code;
    }
    // Before the first walk, the module `loops` has removed the facts that loops destroy from the states at
    // loop headers. Usually this is enough. If a back edge shows that even fewer facts hold at a loop header,
    // the states at the beginnings of blocks are computed to a fixpoint, and the code is walked again.
    reader.run_to_fixpoint(walker, begins);
    reader.walk(walker, begins, (writer, places), (terms, given))
}

/// Facts about a function that do not change during the walk.
#[derive(Debug, Default)]
struct Known {
    effects: Effects,
    /// Which places (registers and spill slots of watched registers) are scalar and which are vector, as two
    /// bit sets. Scalar places hold one value for all lanes, and vector places one value for each lane.
    kinds: [Vec<u64>; 2],
    /// The places (registers and spill slots) that hold their value where a block of the IR begins, or will
    /// receive it from an outstanding operation. Sorted by block of the IR.
    at_heads: Vec<AtHead>,
    coming: InFlightAtHeads,
    /// For each machine block, whether it is *foreign*: it is executed while the lanes of another block are
    /// active (see module `foreign`). No statement begins in a foreign block.
    foreign: Vec<bool>,
}

impl Known {
    fn find(&mut self, func: &MachFunc, track: &MachTrack, target: &Subtarget, places: &Places) {
        let Known { effects, kinds, at_heads, foreign, .. } = self;
        for kind in kinds.iter_mut() {
            kind.clear();
            kind.resize(places.all.len().div_ceil(64), 0);
        }
        at_heads.clear();
        for (place, number) in places.all.iter().zip(0u32..) {
            kinds[usize::from(place.is_vector)][number as usize / 64] |= 1 << (number % 64);
            let watched = &track.watched[place.watched as usize];
            let enters = || track.slot(watched).is_some_and(|slot| slot.enters) == (number != place.watched);
            if watched.part != NONE && place.cell != NONE && enters() {
                at_heads.push(AtHead { part: watched.part, place: number, coming: None });
            }
        }
        at_heads.sort_unstable();
        effects.find(func, track, target, places);
        foreign::find(func, target, foreign);
        self.spilled_at_heads(func, track, places);
        let Known { effects, at_heads, coming, .. } = self;
        coming.find(func, effects, places, at_heads);
    }
}

impl Known {
    /// Corrects `at_heads`, which says where values are when a block of the IR begins. A value may be spilled
    /// after the beginning of the block, but before the first instruction selected from the block. If a
    /// reload overwrites the register of such a value before that instruction, the value is in its spill
    /// slot, or lost if it was never stored there.
    fn spilled_at_heads(&mut self, func: &MachFunc, track: &MachTrack, places: &Places) {
        let Known { effects, at_heads, .. } = self;
        if !effects.has_spills() {
            return;
        }
        let mut moved = false;
        for &(inst, part) in &effects.heads {
            let (block, n) = effects.block_of(inst);
            let spills = func.blocks[block].insts[..n].iter().filter(|inst| is_spill(inst.loc));
            let spills: SmallVec<[(u32, Spilled); 8]> =
                spills.filter_map(|inst| Some((inst.loc, spilled(inst)?))).collect();
            if spills.is_empty() {
                continue;
            }
            let first = at_heads.partition_point(|head| head.part < part);
            for head in at_heads[first..].iter_mut().take_while(|head| head.part == part) {
                let Kept { watched, cell, .. } = places.all[head.place as usize];
                let own = track.slot(&track.watched[watched as usize]).map_or(0, |slot| slot.point);
                let is_loaded = |&(point, what): &(u32, Spilled)| {
                    point != own && matches!(what, Spilled::Loaded(reg) if u32::from(reg.0) == cell)
                };
                let Some(loaded) = spills.iter().rposition(is_loaded) else { continue };
                let is_stored = spills[..loaded].iter().any(|&(point, what)| {
                    point == own && matches!(what, Spilled::Stored(reg) if u32::from(reg.0) == cell)
                });
                head.place = if is_stored { places.slots[watched as usize] } else { NONE };
                moved = true;
            }
        }
        if moved {
            at_heads.retain(|head| head.place != NONE);
            at_heads.sort_unstable();
        }
    }
}

/// What is known at the beginning of each block, as two bit sets of places: those that hold or will receive
/// their value, and those whose value has arrived (see `State`).
#[derive(Debug, Default)]
struct EntryStates {
    bits: Vec<u64>,
    /// Number of words in each of the two bit sets of a block.
    words: usize,
    /// The blocks whose entry state has changed since the last walk through the block.
    changed: Worklist,
}

impl EntryStates {
    /// Resets all entry states. The new states are optimistic: every place (register or spill slot) holds its
    /// value, and the value has arrived. There is one restriction. Scalar places hold their values only at
    /// blocks with a predecessor in the linear graph, and vector places only at blocks with a predecessor in
    /// the logical graph.
    fn reset(&mut self, func: &MachFunc, known: &Known) {
        self.words = known.kinds[0].len();
        self.bits.clear();
        self.bits.resize(2 * self.words * func.blocks.len(), 0);
        self.changed.start(func, true);
        for data in func.blocks.values() {
            for (edges, kind) in [&data.linear, &data.logical].into_iter().zip(&known.kinds) {
                for edge in edges.iter().flatten() {
                    let [present, ready] = self.of_mut(edge.to);
                    for ((present, ready), kind) in present.iter_mut().zip(ready).zip(kind) {
                        (*present, *ready) = (*present | kind, *ready | kind);
                    }
                }
            }
        }
        // No place holds a value at the entry of a function.
        if let Some(first) = self.bits.get_mut(..2 * self.words) {
            first.fill(0);
        }
    }

    fn block_bits(&self, block: MBlock) -> [&[u64]; 2] {
        let start = 2 * self.words * block.as_u32() as usize;
        let (present, ready) = self.bits[start..start + 2 * self.words].split_at(self.words);
        [present, ready]
    }

    fn of_mut(&mut self, block: MBlock) -> [&mut [u64]; 2] {
        let start = 2 * self.words * block.as_u32() as usize;
        let (present, ready) = self.bits[start..start + 2 * self.words].split_at_mut(self.words);
        [present, ready]
    }

    /// Adds a predecessor's state to the entry state of block `to`. Only facts that hold in both states
    /// remain in the entry state. The bit set `kind` (the scalar or the vector places) says which places are
    /// affected.
    fn meet(&mut self, to: MBlock, state: &State, kind: &[u64]) {
        let mut changed = false;
        let [present, ready] = self.of_mut(to);
        for (own, other) in [(present, &state.present), (ready, &state.ready)] {
            for ((own, other), kind) in own.iter_mut().zip(other).zip(kind) {
                let met = *own & (other | !kind);
                changed |= met != *own;
                *own = met;
            }
        }
        if changed {
            self.changed.add(to);
        }
    }
}

struct Reader<'a> {
    has_masks: bool,
    func: &'a MachFunc,
    track: &'a MachTrack,
    target: &'a Subtarget,
    known: &'a Known,
}

impl Reader<'_> {
    /// Computes the entry states of all blocks to a fixpoint.
    fn run_to_fixpoint(&self, walker: &mut Walker, begins: &mut EntryStates) {
        while let Some(block) = begins.changed.pop() {
            let data = &self.func.blocks[block];
            walker.begin(begins.block_bits(block), self.known.effects.first(block));
            for n in 0..data.insts.len() {
                self.arrive(walker);
                self.step(data, n, walker);
                walker.changes.clear();
            }
            self.leave(data, walker, begins);
        }
    }

    /// Passes the state at the end of a block on to the entry states of the block's successors.
    fn leave(&self, data: &MachBlock, walker: &Walker, begins: &mut EntryStates) {
        for (edges, kind) in [&data.linear, &data.logical].into_iter().zip(&self.known.kinds) {
            for edge in edges.iter().flatten() {
                begins.meet(edge.to, &walker.state, kind);
            }
        }
    }

    /// Returns the number of the block of the IR that begins at the next instruction, or `None` if none
    /// begins there. Marks the values that are available at its beginning.
    fn arrive(&self, walker: &mut Walker) -> Option<u32> {
        let part = walker.next.head(&self.known.effects)?;
        let first = self.known.at_heads.partition_point(|head| head.part < part);
        for head in self.known.at_heads[first..].iter().take_while(|head| head.part == part) {
            walker.expect(head.place, head.coming);
        }
        Some(part)
    }

    /// Applies the effect of instruction number `n` of the block to the state of the walker.
    fn step(&self, data: &MachBlock, n: usize, walker: &mut Walker) {
        let effect = self.known.effects.effect(walker.next.inst);
        if let EffectKind::Wait(counts) = effect.does {
            walker.wait(&counts);
            walker.next.inst += 1;
            return;
        }
        if walker.pending > 0 {
            data.insts[n].for_each_hw_reg(self.target, |role, range| {
                if role != Role::Def {
                    walker.mark_arrived(range);
                }
            });
        }
        let written = self.known.effects.written(effect);
        match effect.does {
            EffectKind::Spill => self.spill(&data.insts[n], (written, effect.counter), walker),
            _ => {
                written.iter().for_each(|&cell| walker.clear_cell(cell.into()));
                while let Some(watched) = walker.next.write(&self.known.effects) {
                    walker.bring(watched, effect.counter);
                }
                walker.raise(effect.counter);
            }
        }
        if matches!(effect.does, EffectKind::Call) {
            self.call(&data.insts[n], walker);
        }
        walker.next.inst += 1;
    }

    /// Updates the state of the walker for an instruction that stores a register to its spill slot, reloads a
    /// register, or computes an address for such a store or reload.
    fn spill(&self, inst: &MachInst, (written, counter): (&[u16], Option<Counter>), walker: &mut Walker) {
        let overwrite = |walker: &mut Walker| written.iter().for_each(|&cell| walker.clear_cell(cell.into()));
        let Some(data) = spilled(inst) else {
            overwrite(walker);
            walker.raise(counter);
            return;
        };
        let of_slot = |watched: u32| {
            let slot = self.track.slot(&self.track.watched[watched as usize]);
            slot.is_some_and(|slot| slot.point == inst.loc)
        };
        match data {
            Spilled::Stored(reg) => {
                let stored = walker.arrived_in_cell(reg.0.into(), of_slot);
                let slot = walker.places.slot_of(inst.loc);
                walker.clear_cell(slot);
                for watched in stored {
                    walker.set(walker.places.slots[watched as usize], true);
                }
            }
            Spilled::Loaded(reg) => {
                let here = |watched: u32| self.track.watched[watched as usize].place == Some(reg);
                let loaded = walker.arrived_in_cell(walker.places.slot_of(inst.loc), here);
                overwrite(walker);
                loaded.into_iter().for_each(|watched| walker.bring(watched, counter));
            }
        }
        walker.raise(counter);
    }

    /// Removes the values in registers that a call may change.
    fn call(&self, inst: &MachInst, walker: &mut Walker) {
        self.clobbered(inst).for_each(|reg| walker.clear_cell(reg.0.into()));
        walker.flights.clear();
    }

    /// Returns the registers that a call may change. For a call whose callee is unknown, returns all
    /// registers.
    fn clobbered(&self, inst: &MachInst) -> impl Iterator<Item = Reg> {
        let known = self.track.calls.iter().find(|&&(point, _)| point == inst.loc);
        let site = known.and_then(|&(_, number)| self.func.calls.get(number as usize));
        let all = (0..REGISTERS as u16).map(Reg);
        all.filter(move |&first| site.is_none_or(|site| site.clobbers.hits(RegRange { first, len: 1 })))
    }

    /// Returns where a debugger finds a tracked value: in registers or spill slots, as a computation, or as a
    /// value on entry to the function. Returns `None` if the value is not available anywhere. A tracked value
    /// is a value that one or more watched registers hold.
    #[inline]
    fn location_of(
        &self,
        tracked: &TrackedValue,
        walker: &Walker,
        (terms, given): (&mut Terms, &EntryRegisters),
    ) -> Option<Location> {
        let computed = |terms| self.computed(tracked.term, walker, terms, MOST_STEPS);
        self.registers(tracked, walker).or_else(|| computed(terms)).or_else(|| given.entry_location(tracked))
    }

    fn registers(&self, tracked: &TrackedValue, walker: &Walker) -> Option<Location> {
        let Walker { places, state, .. } = walker;
        let cell = |watched: u32| {
            let own = &self.track.watched[watched as usize];
            if state.is_ready(watched) {
                return own.place.map(Cell::Reg);
            }
            let kept = places.slots[watched as usize];
            if kept == NONE || !state.is_ready(kept) {
                return None;
            }
            self.track.slot(own).map(|slot| slot.cell)
        };
        for first in [tracked.vector, tracked.scalar] {
            if first == NONE {
                continue;
            }
            let Some(low) = cell(first) else { continue };
            if tracked.dwords < 2 {
                return Some(Location::Dwords(low, None));
            }
            if let Some(high) = cell(first + 1) {
                return Some(Location::Dwords(low, Some(high)));
            }
        }
        if !self.has_masks || tracked.mask == NONE {
            return None;
        }
        // Each half of a mask may have been spilled separately.
        let place = |dword: u32| self.track.watched[(tracked.mask + dword) as usize].place;
        let first = place(0)?;
        let is_there = (0..u32::from(self.track.mask_dwords)).all(|dword| {
            state.is_ready(tracked.mask + dword) && place(dword) == Some(first.offset(dword as u16))
        });
        // DWARF has no register number for VCC.
        (is_there && first != Reg::VCC).then_some(Location::Mask(first))
    }

    /// Returns how a debugger computes a value from values that are available. `term` is the number of the
    /// operation that gives the value. At most `steps` operations may be nested. Returns `None` if the value
    /// cannot be computed in this way.
    fn computed(&self, term: u32, walker: &Walker, terms: &mut Terms, steps: u32) -> Option<Location> {
        let Term { op, bits, args } = *self.track.terms.get(term as usize)?;
        let steps = steps.checked_sub(1)?;
        let count = match op {
            TermOp::Select => 3,
            TermOp::Not | TermOp::Neg | TermOp::Low(_) | TermOp::SignedLow(_) => 1,
            _ => 2,
        };
        let mut places = [None; 3];
        for (place, arg) in places.iter_mut().zip(args).take(count) {
            *place = Some(match arg {
                FragmentLocation::Lost => return None,
                FragmentLocation::Memory(_) => return None,
                FragmentLocation::Constant(bits) => Location::Constant(bits),
                FragmentLocation::Tracked(tracked) => {
                    terms.is_asked[tracked as usize] = true;
                    let tracked = &self.track.tracked_values[tracked as usize];
                    match self.registers(tracked, walker) {
                        Some(place) => place,
                        None => self.computed(tracked.term, walker, terms, steps)?,
                    }
                }
            });
        }
        Some(Location::Term(terms.number(Computed { op, bits, args: places })))
    }

    /// Walks through the code once and collects rows of the line table and location ranges of fragments. Each
    /// block is read with the entry state that is known when the walk reaches the block. If a later block
    /// changes that entry state, `EntryStates::changed` tells the caller to walk again.
    fn walk(
        &self,
        walker: &mut Walker,
        begins: &mut EntryStates,
        (writer, places): (&mut Writer, &mut Vec<(u32, u32)>),
        (terms, given): (&mut Terms, &mut EntryRegisters),
    ) -> FinalCode {
        let Reader { track, known, .. } = *self;
        writer.reset(track, known.effects.count());
        terms.all.clear();
        terms.numbers.clear();
        terms.is_asked.clear();
        terms.is_asked.resize(track.tracked_values.len(), false);
        given.0.clear();
        given.0.resize(track.watched.len(), None);
        let mut entered = is_called(self.func).then(|| Entered::new(self.func, self.target));
        let mut offset = 0;
        for (block, data) in self.func.blocks.iter() {
            begins.changed.remove(block);
            walker.begin(begins.block_bits(block), known.effects.first(block));
            if let Some(entered) = &mut entered {
                entered.begin(block);
            }
            let effects = known.effects.of_block(block);
            let arguments = if offset == 0 { effects.iter().position(is_pointed).unwrap_or(0) } else { 0 };
            find_places(track, effects, places);
            writer.enter(track, places.first().map_or(NONE, |place| place.0));
            for (n, effect) in effects.iter().enumerate() {
                let first = walker.changes.len();
                let part = self.arrive(walker);
                if let Some(entered) = &entered {
                    given.note(track, (walker, first), entered, part == Some(0));
                }
                // When the debugger stops at the first instruction of a statement, the values and lanes of
                // the statement should be available. Therefore a statement begins only after the instructions
                // that wait for its operands, and the first statement begins after the copies of the
                // function's arguments.
                let early = n < arguments.max(data.prologue as usize) || effect.is_wait;
                let statement = if early { None } else { writer.records(track, places[n]) };
                let statement = statement.filter(|_| !known.foreign[block.as_u32() as usize]);
                writer.changed(&walker.changes, |tracked| terms.is_asked[tracked as usize]);
                walker.changes.clear();
                writer.refresh(track, offset, |tracked| self.location_of(tracked, walker, (terms, given)));
                if early && offset == 0 {
                    // Debuggers expect that the line-table row at the first instruction of a function has the
                    // line of the function's declaration.
                    writer.line(0, 0, None);
                } else if !(early && writer.is_due(track, places[n])) {
                    writer.line(offset, track.location_of_point(effect.point), statement);
                }
                self.step(data, n, walker);
                if let Some(entered) = &mut entered {
                    entered.step(&data.insts[n]);
                    given.note(track, (walker, 0), entered, false);
                }
                offset += u32::from(effect.words) * 4;
            }
            writer.changed(&walker.changes, |tracked| terms.is_asked[tracked as usize]);
            walker.changes.clear();
            self.leave(data, walker, begins);
        }
        FinalCode { terms: std::mem::take(&mut terms.all), ..writer.finish(offset) }
    }
}

/// Returns whether an instruction was selected from an operation of the IR, so that it has the number of this
/// operation as its point. Later passes have added the other instructions.
fn is_pointed(effect: &Effect) -> bool {
    effect.point != 0 && !is_spill(effect.point)
}

/// For each watched register, the register that held the same value when the function was called, if the
/// value is an argument. A debugger can get the value from the caller even if no register holds it any more.
#[derive(Debug, Default)]
struct EntryRegisters(Vec<Option<Reg>>);

impl EntryRegisters {
    /// Returns the location of a tracked value (a value in watched registers) as the value that a register
    /// had on entry to the function, if the value is an argument.
    fn entry_location(&self, tracked: &TrackedValue) -> Option<Location> {
        let given = |watched: u32| self.0.get(watched as usize).copied().flatten().map(Cell::Entered);
        let first = [tracked.vector, tracked.scalar].into_iter().find(|&first| given(first).is_some())?;
        let high = (tracked.dwords > 1).then(|| given(first + 1));
        Some(Location::Dwords(given(first)?, high.map_or(Some(None), |high| high.map(Some))?))
    }

    /// Records, for watched registers that have just received values, which register held the same value on
    /// entry to the function. These watched registers are `walker.changes[first..]`.
    ///
    /// Arguments are in vector registers on entry. If a watched scalar register holds the argument itself,
    /// the vector register describes it. Otherwise the scalar register may hold what was read from a single
    /// lane of the vector register, and nothing is recorded.
    fn note(
        &mut self,
        track: &MachTrack,
        (walker, first): (&Walker, usize),
        entered: &Entered<'_>,
        is_argument: bool,
    ) {
        for &watched in &walker.changes[first..] {
            let Some(place) = track.watched[watched as usize].place else { continue };
            if walker.state.is_ready(watched) {
                let of = entered.value(place).filter(|of| of.is_vgpr());
                self.0[watched as usize] = of.filter(|_| is_argument || place.is_vgpr());
            }
        }
    }
}

/// Computed values without duplicates.
#[derive(Debug, Default)]
struct Terms {
    all: Vec<Computed>,
    numbers: FxHashMap<Computed, u32>,
    /// For each tracked value, whether some computed value has it as an operand. A change of the registers
    /// that hold such a tracked value also concerns the fragments that have the computed value.
    is_asked: Vec<bool>,
}

impl Terms {
    fn number(&mut self, term: Computed) -> u32 {
        *self.numbers.entry(term).or_insert_with(|| {
            self.all.push(term);
            self.all.len() as u32 - 1
        })
    }
}
