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
//! compiler has waited.

mod walker;
mod writer;

use self::walker::{NONE, Places, REGISTERS, Spilled, State, Walker, counter, spilled};
use self::writer::{Writer, places};
use crate::calls::is_called;
use emit::Entered;
use isa::track::{Cell, Held, MachTrack, Spot, Term, TermOp, Watched, is_spill};
use isa::{Counter, MBlock, MachFunc, MachInst, Reg, RegRange, Role, Subtarget};
use rustc_hash::FxHashMap;

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

/// Reads final code. `has_masks`: a lane's bit of a mask is a place.
pub fn read(func: &MachFunc, track: &MachTrack, target: &Subtarget, has_masks: bool) -> FinalCode {
    let mut reader = Reader { has_masks, ..Reader::new(func, track, target) };
    reader.settle();
    reader.walk()
}

struct Reader<'a> {
    has_masks: bool,
    func: &'a MachFunc,
    track: &'a MachTrack,
    target: &'a Subtarget,
    places: Places,
    /// Those in which lanes have values each for themselves: bits.
    vectors: Vec<u64>,
    /// Places that have their values when a block of the IR begins, and where that does: block, and instruction in it.
    at_heads: Vec<(u32, u32)>,
    heads: Vec<Option<(MBlock, usize)>>,
    /// Instructions by their numbers and the watched registers that they write, in order.
    writes: Vec<(u32, u32)>,
    /// Predecessors of the program counter and of lanes.
    preds: [Vec<Vec<MBlock>>; 2],
    /// By block, what holds at its beginning and at its end.
    begins: Vec<State>,
    ends: Vec<State>,
}

impl<'a> Reader<'a> {
    fn new(func: &'a MachFunc, track: &'a MachTrack, target: &'a Subtarget) -> Reader<'a> {
        let places = Places::new(track);
        let count = places.all.len();
        let mut vectors = vec![0u64; count.div_ceil(64)];
        let mut at_heads = Vec::new();
        for (place, number) in places.all.iter().zip(0u32..) {
            if place.is_vector {
                vectors[number as usize / 64] |= 1 << (number % 64);
            }
            let watched = &track.watched[place.watched as usize];
            let enters = watched.slot.is_some_and(|slot| slot.enters) == (number != place.watched);
            if let Some(part) = watched.part.filter(|_| enters && place.cell != NONE) {
                at_heads.push((part, number));
            }
        }
        at_heads.sort_unstable();
        let blocks = func.blocks.len();
        let mut preds = [vec![Vec::new(); blocks], vec![Vec::new(); blocks]];
        for (block, data) in func.blocks.iter() {
            for (preds, edges) in preds.iter_mut().zip([&data.linear, &data.logical]) {
                for edge in edges.iter().flatten() {
                    preds[edge.to.as_u32() as usize].push(block);
                }
            }
        }
        let heads = heads(func, track);
        let writes = writes(func, track, target);
        let (begins, ends) =
            (vec![State::full(count, 0); blocks], vec![State::full(count, u64::MAX); blocks]);
        Reader {
            has_masks: false,
            func,
            track,
            target,
            places,
            vectors,
            at_heads,
            heads,
            writes,
            preds,
            begins,
            ends,
        }
    }

    /// What holds where blocks begin.
    fn settle(&mut self) {
        // Nothing holds where the only block begins.
        if self.track.watched.is_empty() || self.func.blocks.len() < 2 {
            return;
        }
        let mut walker = Walker::new(&self.places);
        let mut changed = true;
        while std::mem::take(&mut changed) {
            let mut at = 0;
            for block in self.func.blocks.keys() {
                let begin = self.begin_of(block);
                let number = block.as_u32() as usize;
                walker.begin(&begin, self.writes.partition_point(|write| write.0 < at));
                for (n, inst) in self.func.blocks[block].insts.iter().enumerate() {
                    self.arrive(block, n, inst, &mut walker);
                    self.step((at, inst), &mut walker);
                    at += 1;
                    walker.changes.clear();
                }
                self.begins[number] = begin;
                if self.ends[number] != walker.state {
                    self.ends[number].clone_from(&walker.state);
                    changed = true;
                }
            }
        }
    }

    fn begin_of(&self, block: MBlock) -> State {
        let number = block.as_u32() as usize;
        let count = self.places.all.len();
        if number == 0 {
            return State::full(count, 0);
        }
        let mut state = State::full(count, u64::MAX);
        let [linear, logical] = &self.preds;
        for (preds, is_vector) in [(&linear[number], false), (&logical[number], true)] {
            let mask = |word: usize| if is_vector { self.vectors[word] } else { !self.vectors[word] };
            if preds.is_empty() {
                state.meet(&State::full(count, 0), mask);
            }
            for pred in preds {
                state.meet(&self.ends[pred.as_u32() as usize], mask);
            }
        }
        state
    }

    /// What is there when a block of the IR begins.
    fn arrive(&self, block: MBlock, n: usize, inst: &MachInst, walker: &mut Walker<'_>) {
        let Some(part) = (inst.loc != 0).then(|| self.track.part_of(inst.loc)).flatten() else { return };
        if self.heads[part] != Some((block, n)) {
            return;
        }
        let part = part as u32;
        let first = self.at_heads.partition_point(|&(other, _)| other < part);
        for &(_, place) in self.at_heads[first..].iter().take_while(|&&(other, _)| other == part) {
            walker.set(place, true);
        }
    }

    /// An instruction is executed.
    fn step(&self, (number, inst): (u32, &MachInst), walker: &mut Walker<'_>) {
        if self.track.watched.is_empty() {
            return;
        }
        if let Some(counts) = self.target.waited(inst) {
            walker.wait(&counts);
            return;
        }
        let counter = counter(self.target, inst);
        if walker.pending > 0 {
            inst.for_each_hw_reg(self.target, |role, range| {
                if role != Role::Def {
                    walker.come(range);
                }
            });
        }
        if is_spill(inst.loc) {
            self.spill(inst, counter, walker);
            return;
        }
        self.overwrite(inst, walker);
        while let Some(&(_, watched)) = self.writes.get(walker.next).filter(|write| write.0 == number) {
            walker.next += 1;
            walker.bring(watched, counter);
        }
        walker.raise(counter);
        if inst.is_call() {
            self.call(inst, walker);
        }
    }

    fn overwrite(&self, inst: &MachInst, walker: &mut Walker<'_>) {
        inst.for_each_hw_reg(self.target, |role, range| {
            if role != Role::Use {
                walker.clear(range);
            }
        });
    }

    /// A register is stored in its slot, or loaded from there; or something else that is for one of these.
    fn spill(&self, inst: &MachInst, counter: Option<Counter>, walker: &mut Walker<'_>) {
        let Some(data) = spilled(inst) else {
            self.overwrite(inst, walker);
            walker.raise(counter);
            return;
        };
        let of_slot = |watched: u32| {
            let slot = self.track.watched[watched as usize].slot;
            slot.is_some_and(|slot| slot.point == inst.loc)
        };
        match data {
            Spilled::Stored(reg) => {
                let stored = walker.there(reg.0.into(), of_slot);
                let slot = self.places.slot_of(inst.loc);
                walker.clear_cell(slot);
                for watched in stored {
                    walker.set(self.places.slots[watched as usize], true);
                }
            }
            Spilled::Loaded(reg) => {
                let here = |watched: u32| self.track.watched[watched as usize].place == Some(reg);
                let loaded = walker.there(self.places.slot_of(inst.loc), here);
                self.overwrite(inst, walker);
                loaded.into_iter().for_each(|watched| walker.bring(watched, counter));
            }
        }
        walker.raise(counter);
    }

    /// What a call may change is gone.
    fn call(&self, inst: &MachInst, walker: &mut Walker<'_>) {
        let known = self.track.calls.iter().find(|&&(point, _)| point == inst.loc);
        let site = known.and_then(|&(_, number)| self.func.calls.get(number as usize));
        for reg in 0..REGISTERS as u16 {
            let range = RegRange { first: Reg(reg), len: 1 };
            if site.is_none_or(|site| site.clobbers.hits(range)) {
                walker.clear(range);
            }
        }
        walker.flights.clear();
    }

    /// The place of a spot's value, if it is there.
    fn place(&self, spot: &Spot, state: &State, (terms, given): (&mut Terms, &Given)) -> Option<Where> {
        let computed = |terms| self.computed(spot.term, state, terms, MOST_STEPS);
        self.registers(spot, state).or_else(|| computed(terms)).or_else(|| given.place(spot))
    }

    fn registers(&self, spot: &Spot, state: &State) -> Option<Where> {
        let cell = |watched: u32| {
            let Watched { place, slot, .. } = self.track.watched[watched as usize];
            if state.is_ready(watched) {
                return place.map(Cell::Reg);
            }
            let kept = self.places.slots[watched as usize];
            slot.filter(|_| kept != NONE && state.is_ready(kept)).map(|slot| slot.cell)
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
        if !self.has_masks || spot.mask == NONE || !state.is_ready(spot.mask) {
            return None;
        }
        // VCC has no number in DWARF.
        let place = self.track.watched[spot.mask as usize].place?;
        (place != Reg::VCC).then_some(Where::Mask(place))
    }

    /// A value that is computed of what is there, over at most so many steps one after the other.
    fn computed(&self, term: u32, state: &State, terms: &mut Terms, steps: u32) -> Option<Where> {
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
                    let spot = &self.track.spots[spot as usize];
                    match self.registers(spot, state) {
                        Some(place) => place,
                        None => self.computed(spot.term, state, terms, steps)?,
                    }
                }
            });
        }
        Some(Where::Term(terms.number(Computed { op, bits, args: places })))
    }

    /// Goes through the code with all known, and writes down what there is.
    fn walk(&mut self) -> FinalCode {
        let mut writer = Writer::new(self.track);
        let mut terms = Terms::default();
        let mut walker = Walker::new(&self.places);
        let mut given = Given(vec![None; self.track.watched.len()]);
        let mut entered = is_called(self.func).then(|| Entered::new(self.func, self.target));
        let (mut offset, mut at) = (0, 0);
        for (block, data) in self.func.blocks.iter() {
            let next = self.writes.partition_point(|write| write.0 < at);
            walker.begin(&self.begins[block.as_u32() as usize], next);
            if let Some(entered) = &mut entered {
                entered.begin(block);
            }
            let places = places(self.track, &data.insts);
            writer.enter(places.first().map_or(usize::MAX, |place| place.0));
            writer.refresh(offset, |spot| self.place(spot, &walker.state, (&mut terms, &given)));
            for (n, inst) in data.insts.iter().enumerate() {
                let first = walker.changes.len();
                self.arrive(block, n, inst, &mut walker);
                if let Some(entered) = &entered {
                    let begins = self.heads.first() == Some(&Some((block, n)));
                    given.note(self.track, (&walker, first), entered, begins);
                }
                // What a statement waits for belongs in front of it: where one stops, values and lanes have come.
                let early = n < data.prologue as usize || self.target.is_wait(inst.op);
                let statement = if early { None } else { writer.records(n, &places) };
                writer.changed(&walker.changes);
                walker.changes.clear();
                writer.refresh(offset, |spot| self.place(spot, &walker.state, (&mut terms, &given)));
                if !(early && writer.is_due(n, &places)) {
                    writer.line(offset, self.track.place(inst.loc), statement);
                }
                self.step((at, inst), &mut walker);
                if let Some(entered) = &mut entered {
                    entered.step(inst);
                    given.note(self.track, (&walker, 0), entered, false);
                }
                at += 1;
                offset += isa::size_in_words(self.target, inst) as u32 * 4;
            }
            writer.changed(&walker.changes);
            walker.changes.clear();
        }
        FinalCode { terms: terms.all, ..writer.finish(offset) }
    }
}

/// By watched register, the register that had its value when the function was entered, if the caller has put it there.
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
        (walker, first): (&Walker<'_>, usize),
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
#[derive(Default)]
struct Terms {
    all: Vec<Computed>,
    numbers: FxHashMap<Computed, u32>,
}

impl Terms {
    fn number(&mut self, term: Computed) -> u32 {
        *self.numbers.entry(term).or_insert_with(|| {
            self.all.push(term);
            self.all.len() as u32 - 1
        })
    }
}

/// Which instructions write which watched registers: a point's n-th write of a hardware register is that of the register which the allocator has
/// noted so.
fn writes(func: &MachFunc, track: &MachTrack, target: &Subtarget) -> Vec<(u32, u32)> {
    let mut wanted: FxHashMap<(u32, Reg, u32), Vec<u32>> = FxHashMap::default();
    for (watched, number) in track.watched.iter().zip(0u32..) {
        if let (Some((point, nth)), Some(place)) = (watched.write, watched.place) {
            wanted.entry((point, place, nth)).or_default().push(number);
        }
    }
    let mut count: FxHashMap<(u32, Reg), u32> = FxHashMap::default();
    let mut writes = Vec::new();
    let insts = func.blocks.values().flat_map(|block| &block.insts);
    for (inst, number) in insts.zip(0u32..).filter(|(inst, _)| inst.loc != 0) {
        inst.for_each_hw_reg(target, |role, range| {
            if role == Role::Use {
                return;
            }
            for dword in 0..u16::from(range.len) {
                let reg = range.first.offset(dword);
                let nth = count.entry((inst.loc, reg)).or_default();
                let own = wanted.get(&(inst.loc, reg, *nth));
                writes.extend(own.into_iter().flatten().map(|&watched| (number, watched)));
                *nth += 1;
            }
        });
    }
    writes.sort_unstable();
    writes
}

/// Where blocks of the IR begin: at their first instructions, as what comes before brings values to where they are to be.
fn heads(func: &MachFunc, track: &MachTrack) -> Vec<Option<(MBlock, usize)>> {
    let mut heads = vec![None; track.parts.len()];
    for (block, data) in func.blocks.iter() {
        for (n, inst) in data.insts.iter().enumerate().skip(data.prologue as usize) {
            if let Some(part) = (inst.loc != 0).then(|| track.part_of(inst.loc)).flatten()
                && heads[part].is_none()
            {
                heads[part] = Some((block, n));
            }
        }
    }
    heads
}
