//! What final code says of statements and variables: at which bytes statements begin, and where each leaf of a variable is from which byte to which.
//!
//! # Idea
//! Two things flow through the code. What each leaf *is* (a constant, or watched registers) changes at records, and flows as lanes do: selection has
//! worked out what leaves are where blocks begin. Whether a watched register *holds* its value yet, or still, depends on what instructions write: it
//! flows as the program counter does for scalar registers, and as lanes do for vector registers. A leaf is in a register where both say so.
//!
//! What is in no register any more may be what the caller has put into one: a function's argument, whatever became of the register.
//!
//! A load's result is there when the code has waited for it: by a wait that covers it, or because an instruction uses it, in front of which the
//! compiler has waited. What a block of the IR begins with may be on its way, too (`coming`).

mod coming;
mod counting;
mod effects;
mod foreign;
mod loops;
mod users;
mod walker;
mod writer;

use self::coming::{AtHead, Coming};
use self::effects::{Does, Effect, Effects};
use self::loops::Loops;
use self::walker::{Kept, NONE, Places, REGISTERS, Spilled, State, Walker, spilled};
use self::writer::{Writer, find_places};
use crate::calls::is_called;
use emit::Entered;
use isa::track::{Cell, Held, MachTrack, Spot, Term, TermOp, is_spill};
use isa::{Counter, MBlock, MachBlock, MachFunc, MachInst, Reg, RegRange, Role, Subtarget};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Where a leaf is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Where {
    /// Nowhere: it is known.
    Constant(u64),
    /// In a register or where that was spilled to, or with its halves in two of them.
    Dwords(Cell, Option<Cell>),
    /// A bit for each lane, in a register or a pair.
    Mask(Reg),
    /// With all of the variable in private memory, so many bytes behind the beginning of the function's part of it.
    Memory(u32),
    /// It is computed: a number of [`FinalCode::terms`].
    Term(u32),
}

/// How a value is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Computed {
    /// How.
    pub op: TermOp,
    /// Bits of the operands.
    pub bits: u8,
    /// The operands.
    pub args: [Option<Where>; 3],
}

/// From which byte to which a leaf is where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Number of the leaf among those of all variables.
    pub leaf: u32,
    /// First byte.
    pub start: u32,
    /// The byte behind the last.
    pub end: u32,
    /// Where.
    pub place: Where,
}

/// From a byte on, code is of a place in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// The byte.
    pub start: u32,
    /// The place, as the IR has it; 0 for none.
    pub loc: u32,
    /// Whether a statement begins.
    pub is_statement: bool,
}

/// All of a function.
#[derive(Clone, Debug, Default)]
pub struct FinalCode {
    /// Bytes of code.
    pub size: u32,
    /// Places in the source in the order of their bytes.
    pub lines: Vec<Line>,
    /// Places of leaves, by leaf and byte.
    pub ranges: Vec<Range>,
    /// What is computed; operands come first.
    pub terms: Vec<Computed>,
}

/// Most operations, one after the other, of a value that is computed.
const MOST_STEPS: u32 = 4;

/// What is kept from one function to the next: memory.
#[derive(Debug, Default)]
pub struct Scratch {
    known: Known,
    walker: Walker,
    writer: Writer,
    begins: Begins,
    loops: Loops,
    given: Given,
    terms: Terms,
    places: Vec<(u32, u32)>,
}

/// Reads final code. `has_masks`: a lane's bit of a mask is a place.
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
        reader.settle(walker, begins);
    }
    let code = reader.walk(walker, begins, (writer, places), (terms, given));
    if !begins.is_new.contains(&true) {
        return code;
    }
    // Control has come to a block with less than was there when that was gone through.
    reader.settle(walker, begins);
    reader.walk(walker, begins, (writer, places), (terms, given))
}

/// What does not change on the way.
#[derive(Debug, Default)]
struct Known {
    effects: Effects,
    /// Places in which all lanes have one value, and those in which they have values each for themselves: bits.
    kinds: [Vec<u64>; 2],
    /// What blocks of the IR begin with, in order.
    at_heads: Vec<AtHead>,
    coming: Coming,
    /// Blocks that are executed with the lanes of others.
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
    /// What a block of the IR begins with may have been spilled in front of its first instruction, and a register that nobody reads may have something
    /// else by then: the value is in the slot, or nowhere.
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

/// What holds where blocks begin: of each block's places those that are present, then those that are ready; bits.
#[derive(Debug, Default)]
struct Begins {
    bits: Vec<u64>,
    /// Words of each half.
    words: usize,
    /// Blocks that begin otherwise than when they were walked through last.
    is_new: Vec<bool>,
}

impl Begins {
    /// All holds, but where control does not come from another block: the program counter for scalar registers, lanes for vector registers.
    fn reset(&mut self, func: &MachFunc, known: &Known) {
        self.words = known.kinds[0].len();
        self.bits.clear();
        self.bits.resize(2 * self.words * func.blocks.len(), 0);
        self.is_new.clear();
        self.is_new.resize(func.blocks.len(), true);
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
        // Nothing holds where a function begins.
        if let Some(first) = self.bits.get_mut(..2 * self.words) {
            first.fill(0);
        }
    }

    fn of(&self, block: MBlock) -> [&[u64]; 2] {
        let start = 2 * self.words * block.as_u32() as usize;
        let (present, ready) = self.bits[start..start + 2 * self.words].split_at(self.words);
        [present, ready]
    }

    fn of_mut(&mut self, block: MBlock) -> [&mut [u64]; 2] {
        let start = 2 * self.words * block.as_u32() as usize;
        let (present, ready) = self.bits[start..start + 2 * self.words].split_at_mut(self.words);
        [present, ready]
    }

    /// Control comes to a block with a state.
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
        self.is_new[to.as_u32() as usize] |= changed;
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
    /// Finds what holds where blocks begin.
    fn settle(&self, walker: &mut Walker, begins: &mut Begins) {
        while begins.is_new.contains(&true) {
            for (block, data) in self.func.blocks.iter() {
                if !std::mem::take(&mut begins.is_new[block.as_u32() as usize]) {
                    continue;
                }
                walker.begin(begins.of(block), self.known.effects.first(block));
                for n in 0..data.insts.len() {
                    self.arrive(walker);
                    self.step(data, n, walker);
                    walker.changes.clear();
                }
                self.leave(data, walker, begins);
            }
        }
    }

    /// Control goes on from the end of a block.
    fn leave(&self, data: &MachBlock, walker: &Walker, begins: &mut Begins) {
        for (edges, kind) in [&data.linear, &data.logical].into_iter().zip(&self.known.kinds) {
            for edge in edges.iter().flatten() {
                begins.meet(edge.to, &walker.state, kind);
            }
        }
    }

    /// What is there when a block of the IR begins, if one does at the next instruction: which.
    fn arrive(&self, walker: &mut Walker) -> Option<u32> {
        let part = walker.next.head(&self.known.effects)?;
        let first = self.known.at_heads.partition_point(|head| head.part < part);
        for head in self.known.at_heads[first..].iter().take_while(|head| head.part == part) {
            walker.expect(head.place, head.coming);
        }
        Some(part)
    }

    /// The next instruction is executed: that number of a block.
    fn step(&self, data: &MachBlock, n: usize, walker: &mut Walker) {
        let effect = self.known.effects.of(walker.next.inst);
        if let Does::Wait(counts) = effect.does {
            walker.wait(&counts);
            walker.next.inst += 1;
            return;
        }
        if walker.pending > 0 {
            data.insts[n].for_each_hw_reg(self.target, |role, range| {
                if role != Role::Def {
                    walker.come(range);
                }
            });
        }
        let written = self.known.effects.written(effect);
        match effect.does {
            Does::Spill => self.spill(&data.insts[n], (written, effect.counter), walker),
            _ => {
                written.iter().for_each(|&cell| walker.clear_cell(cell.into()));
                while let Some(watched) = walker.next.write(&self.known.effects) {
                    walker.bring(watched, effect.counter);
                }
                walker.raise(effect.counter);
            }
        }
        if matches!(effect.does, Does::Call) {
            self.call(&data.insts[n], walker);
        }
        walker.next.inst += 1;
    }

    /// A register is stored in its slot, or loaded from there; or something else that is for one of these.
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
                let stored = walker.there(reg.0.into(), of_slot);
                let slot = walker.places.slot_of(inst.loc);
                walker.clear_cell(slot);
                for watched in stored {
                    walker.set(walker.places.slots[watched as usize], true);
                }
            }
            Spilled::Loaded(reg) => {
                let here = |watched: u32| self.track.watched[watched as usize].place == Some(reg);
                let loaded = walker.there(walker.places.slot_of(inst.loc), here);
                overwrite(walker);
                loaded.into_iter().for_each(|watched| walker.bring(watched, counter));
            }
        }
        walker.raise(counter);
    }

    /// What a call may change is gone.
    fn call(&self, inst: &MachInst, walker: &mut Walker) {
        self.clobbered(inst).for_each(|reg| walker.clear_cell(reg.0.into()));
        walker.flights.clear();
    }

    /// Registers that a call may change.
    fn clobbered(&self, inst: &MachInst) -> impl Iterator<Item = Reg> {
        let known = self.track.calls.iter().find(|&&(point, _)| point == inst.loc);
        let site = known.and_then(|&(_, number)| self.func.calls.get(number as usize));
        let all = (0..REGISTERS as u16).map(Reg);
        all.filter(move |&first| site.is_none_or(|site| site.clobbers.hits(RegRange { first, len: 1 })))
    }

    /// The place of a spot's value, if it is there.
    #[inline]
    fn place(&self, spot: &Spot, walker: &Walker, (terms, given): (&mut Terms, &Given)) -> Option<Where> {
        let computed = |terms| self.computed(spot.term, walker, terms, MOST_STEPS);
        self.registers(spot, walker).or_else(|| computed(terms)).or_else(|| given.place(spot))
    }

    fn registers(&self, spot: &Spot, walker: &Walker) -> Option<Where> {
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
        for first in [spot.vector, spot.scalar] {
            if first == NONE {
                continue;
            }
            let Some(low) = cell(first) else { continue };
            if spot.dwords < 2 {
                return Some(Where::Dwords(low, None));
            }
            if let Some(high) = cell(first + 1) {
                return Some(Where::Dwords(low, Some(high)));
            }
        }
        if !self.has_masks || spot.mask == NONE {
            return None;
        }
        // Each half may have been spilled for itself.
        let place = |dword: u32| self.track.watched[(spot.mask + dword) as usize].place;
        let first = place(0)?;
        let is_there = (0..u32::from(self.track.mask_dwords)).all(|dword| {
            state.is_ready(spot.mask + dword) && place(dword) == Some(first.offset(dword as u16))
        });
        // VCC has no number in DWARF.
        (is_there && first != Reg::VCC).then_some(Where::Mask(first))
    }

    /// A value that is computed of what is there, over at most so many steps one after the other.
    fn computed(&self, term: u32, walker: &Walker, terms: &mut Terms, steps: u32) -> Option<Where> {
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
                Held::Lost => return None,
                Held::Memory(_) => return None,
                Held::Constant(bits) => Where::Constant(bits),
                Held::Spot(spot) => {
                    terms.is_asked[spot as usize] = true;
                    let spot = &self.track.spots[spot as usize];
                    match self.registers(spot, walker) {
                        Some(place) => place,
                        None => self.computed(spot.term, walker, terms, steps)?,
                    }
                }
            });
        }
        Some(Where::Term(terms.number(Computed { op, bits, args: places })))
    }

    /// Goes through the code and writes down what there is, as far as what holds where blocks begin is known when they are come to.
    fn walk(
        &self,
        walker: &mut Walker,
        begins: &mut Begins,
        (writer, places): (&mut Writer, &mut Vec<(u32, u32)>),
        (terms, given): (&mut Terms, &mut Given),
    ) -> FinalCode {
        let Reader { track, known, .. } = *self;
        writer.reset(track, known.effects.count());
        terms.all.clear();
        terms.numbers.clear();
        terms.is_asked.clear();
        terms.is_asked.resize(track.spots.len(), false);
        given.0.clear();
        given.0.resize(track.watched.len(), None);
        let mut entered = is_called(self.func).then(|| Entered::new(self.func, self.target));
        let mut offset = 0;
        for (block, data) in self.func.blocks.iter() {
            begins.is_new[block.as_u32() as usize] = false;
            walker.begin(begins.of(block), known.effects.first(block));
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
                // What a statement waits for belongs in front of it: where one stops, values and lanes have come. So do the copies of
                // arguments with which the function begins.
                let early = n < arguments.max(data.prologue as usize) || effect.is_wait;
                let statement = if early { None } else { writer.records(track, places[n]) };
                let statement = statement.filter(|_| !known.foreign[block.as_u32() as usize]);
                writer.changed(&walker.changes, |spot| terms.is_asked[spot as usize]);
                walker.changes.clear();
                writer.refresh(track, offset, |spot| self.place(spot, walker, (terms, given)));
                if early && offset == 0 {
                    // Debuggers look for a function's own line where its code begins.
                    writer.line(0, 0, None);
                } else if !(early && writer.is_due(track, places[n])) {
                    writer.line(offset, track.place(effect.point), statement);
                }
                self.step(data, n, walker);
                if let Some(entered) = &mut entered {
                    entered.step(&data.insts[n]);
                    given.note(track, (walker, 0), entered, false);
                }
                offset += u32::from(effect.words) * 4;
            }
            writer.changed(&walker.changes, |spot| terms.is_asked[spot as usize]);
            walker.changes.clear();
            self.leave(data, walker, begins);
        }
        FinalCode { terms: std::mem::take(&mut terms.all), ..writer.finish(offset) }
    }
}

/// Whether an instruction is of an operation of the IR.
fn is_pointed(effect: &Effect) -> bool {
    effect.point != 0 && !is_spill(effect.point)
}

/// By watched register, the register that had its value when the function was entered, if the caller has put it there.
#[derive(Debug, Default)]
struct Given(Vec<Option<Reg>>);

impl Given {
    /// A spot's value, if it is what the function was given.
    fn place(&self, spot: &Spot) -> Option<Where> {
        let given = |watched: u32| self.0.get(watched as usize).copied().flatten().map(Cell::Entered);
        let first = [spot.vector, spot.scalar].into_iter().find(|&first| given(first).is_some())?;
        let high = (spot.dwords > 1).then(|| given(first + 1));
        Some(Where::Dwords(given(first)?, high.map_or(Some(None), |high| high.map(Some))?))
    }

    /// Watched registers have got values, those of the walker's changes from `first` on: notes which of them the function was given. A scalar
    /// register has a vector register's for all lanes only if that is what the value is, an argument, and not what was read of it.
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

/// What is computed somewhere, each once.
#[derive(Debug, Default)]
struct Terms {
    all: Vec<Computed>,
    numbers: FxHashMap<Computed, u32>,
    /// By spot, whether something was to be computed of it.
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
