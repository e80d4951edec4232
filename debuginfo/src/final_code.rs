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

use crate::calls::is_called;
use emit::Entered;
use isa::table::{Family, Flags};
use isa::track::{Cell, Held, MachTrack, Spot, Term, TermOp, Watched, What, is_spill};
use isa::{Counter, Generation, MBlock, MachFunc, MachInst, Operand, Reg, RegRange, Role, Subtarget, op};
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

/// The places that watched registers may be in: hardware registers first, with the same numbers, then slots of those that are spilled.
struct Places {
    /// What is where.
    all: Vec<Kept>,
    /// By watched register, its slot's number; `u32::MAX` for none.
    slots: Vec<u32>,
    /// Cells: registers, then slots, by the points of what stores and loads them.
    cells: usize,
    points: FxHashMap<u32, u32>,
}

/// A place of a watched register.
#[derive(Clone, Copy)]
struct Kept {
    watched: u32,
    /// `u32::MAX` for none.
    cell: u32,
    /// Lanes have it each for themselves.
    is_vector: bool,
}

/// No cell, no place.
const NONE: u32 = u32::MAX;

/// Registers come first among cells.
const REGISTERS: u32 = 1024;

impl Places {
    fn new(track: &MachTrack) -> Places {
        let mut all = Vec::with_capacity(track.watched.len());
        let mut slots = vec![NONE; track.watched.len()];
        let lanes = |reg: Reg| reg.is_vgpr() || reg.is_agpr();
        for (watched, number) in track.watched.iter().zip(0u32..) {
            let is_vector = watched.place.is_some_and(lanes);
            let cell = watched.place.map_or(NONE, |reg| reg.0.into());
            all.push(Kept { watched: number, cell, is_vector });
        }
        let mut points: FxHashMap<u32, u32> = FxHashMap::default();
        for (watched, number) in track.watched.iter().zip(0u32..) {
            let Some(slot) = watched.slot else { continue };
            let next = REGISTERS + points.len() as u32;
            let cell = *points.entry(slot.point).or_insert(next);
            slots[number as usize] = all.len() as u32;
            let is_vector = !matches!(slot.cell, Cell::Lane(..));
            all.push(Kept { watched: number, cell, is_vector });
        }
        Places { all, slots, cells: REGISTERS as usize + points.len(), points }
    }

    /// The cell of a slot, by the point of what stores and loads it.
    fn slot_of(&self, point: u32) -> u32 {
        self.points.get(&point).copied().unwrap_or(NONE)
    }
}

/// What holds of places: bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    /// The value has been written, or is on its way.
    present: Vec<u64>,
    /// It has come.
    ready: Vec<u64>,
}

impl State {
    fn full(count: usize, bits: u64) -> State {
        let mut words = vec![bits; count.div_ceil(64)];
        if let Some(last) = words.last_mut() {
            *last &= u64::MAX >> (63 - (count - 1) % 64);
        }
        State { present: words.clone(), ready: words }
    }

    fn set(&mut self, watched: u32, ready: bool) {
        let (word, bit) = (watched as usize / 64, 1 << (watched % 64));
        self.present[word] |= bit;
        if ready {
            self.ready[word] |= bit;
        } else {
            self.ready[word] &= !bit;
        }
    }

    fn clear(&mut self, watched: u32) {
        let (word, bit) = (watched as usize / 64, 1u64 << (watched % 64));
        self.present[word] &= !bit;
        self.ready[word] &= !bit;
    }

    fn is_ready(&self, watched: u32) -> bool {
        let (word, bit) = (watched as usize / 64, 1 << (watched % 64));
        self.ready[word] & bit != 0
    }

    fn is_pending(&self, watched: u32) -> bool {
        let (word, bit) = (watched as usize / 64, 1 << (watched % 64));
        self.present[word] & !self.ready[word] & bit != 0
    }

    fn meet(&mut self, other: &State, mask: impl Fn(usize) -> u64) {
        for word in 0..self.present.len() {
            self.present[word] &= other.present[word] | !mask(word);
            self.ready[word] &= other.ready[word] | !mask(word);
        }
    }
}

/// Something on its way, in the order of the counter that was raised.
struct Flight {
    counter: Counter,
    /// Which of the operations that raised it brings it.
    number: u32,
    /// What it brings: a place.
    place: u32,
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

/// The counter that an operation raises which brings something.
fn counter(target: &Subtarget, inst: &MachInst) -> Option<Counter> {
    let row = inst.op.row();
    let returns = row.flags.intersects(Flags::LOAD | Flags::ATOMIC);
    if row.flags.contains(Flags::VM) {
        let counts = returns || target.generation < Generation::Gfx10;
        // What may be LDS comes in no order: only its use tells.
        return counts.then_some(if row.family == Family::Flat { Counter::Exp } else { Counter::Vm });
    }
    (returns && row.flags.contains(Flags::LGKM)).then_some(Counter::Lgkm)
}

/// What an instruction does that is for a slot.
enum Spilled {
    /// Stores a register there.
    Stored(Reg),
    /// Loads it.
    Loaded(Reg),
}

fn spilled(inst: &MachInst) -> Option<Spilled> {
    let reg = |n: usize| match inst.ops[n] {
        Operand::Reg(range) => Some(range.first),
        _ => None,
    };
    match inst.op {
        op::V_READLANE_B32 | op::V_READLANE_B32_VOP2 | op::BUFFER_LOAD_DWORD | op::V_ACCVGPR_READ_B32 => {
            reg(0).map(Spilled::Loaded)
        }
        op::BUFFER_STORE_DWORD => reg(0).map(Spilled::Stored),
        op::V_WRITELANE_B32 | op::V_WRITELANE_B32_VOP2 | op::V_ACCVGPR_WRITE_B32 => {
            reg(1).map(Spilled::Stored)
        }
        _ => None,
    }
}

/// A walk through a block.
struct Walker<'a> {
    places: &'a Places,
    state: State,
    /// By cell: the first of the places that are there, or on their way; by place, the next.
    holders: Vec<u32>,
    next_holder: Vec<u32>,
    /// Cells that may have holders.
    held: Vec<u32>,
    /// How many are on their way.
    pending: u32,
    flights: Vec<Flight>,
    /// How often each counter was raised: vector memory, scalar memory and LDS.
    raised: [u32; 2],
    /// The next of the writes.
    next: usize,
    /// Watched registers of which something else holds now.
    changes: Vec<u32>,
}

impl<'a> Walker<'a> {
    fn new(places: &'a Places) -> Walker<'a> {
        Walker {
            places,
            state: State::default(),
            holders: vec![NONE; places.cells],
            next_holder: vec![NONE; places.all.len()],
            held: Vec::new(),
            pending: 0,
            flights: Vec::new(),
            raised: [0; 2],
            next: 0,
            changes: Vec::new(),
        }
    }

    fn begin(&mut self, state: &State, next: usize) {
        self.state.clone_from(state);
        self.held.drain(..).for_each(|cell| self.holders[cell as usize] = NONE);
        self.flights.clear();
        self.changes.clear();
        (self.pending, self.next, self.raised) = (0, next, [0; 2]);
        for (word, (&present, &ready)) in state.present.iter().zip(&state.ready).enumerate() {
            let mut rest = present;
            while rest != 0 {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                self.hold(word as u32 * 64 + bit);
            }
            self.pending += (present & !ready).count_ones();
        }
    }

    fn hold(&mut self, place: u32) {
        let cell = self.places.all[place as usize].cell;
        if let Some(first) = self.holders.get_mut(cell as usize) {
            self.next_holder[place as usize] = std::mem::replace(first, place);
            self.held.push(cell);
        }
    }

    /// A place has its value, or will have it.
    fn set(&mut self, place: u32, ready: bool) {
        let Kept { watched, cell, .. } = self.places.all[place as usize];
        // What was cleared is in no list.
        if cell == NONE || self.state.is_ready(place) || self.state.is_pending(place) {
            return;
        }
        self.state.set(place, ready);
        self.pending += u32::from(!ready);
        self.hold(place);
        self.changes.push(watched);
    }

    /// The same, by an operation that raises a counter, if that brings it.
    fn bring(&mut self, place: u32, counter: Option<Counter>) {
        self.set(place, counter.is_none());
        if let Some(counter @ (Counter::Vm | Counter::Lgkm)) = counter {
            let number = self.raised[usize::from(counter == Counter::Lgkm)];
            self.flights.push(Flight { counter, number, place });
        }
    }

    fn raise(&mut self, counter: Option<Counter>) {
        if let Some(counter @ (Counter::Vm | Counter::Lgkm)) = counter {
            self.raised[usize::from(counter == Counter::Lgkm)] += 1;
        }
    }

    /// Registers are written by something else.
    fn clear(&mut self, range: RegRange) {
        (0..u16::from(range.len)).for_each(|n| self.clear_cell(range.first.offset(n).0.into()));
    }

    fn clear_cell(&mut self, cell: u32) {
        let Some(first) = self.holders.get_mut(cell as usize) else { return };
        let mut place = std::mem::replace(first, NONE);
        while place != NONE {
            self.pending -= u32::from(self.state.is_pending(place));
            self.state.clear(place);
            self.changes.push(self.places.all[place as usize].watched);
            place = self.next_holder[place as usize];
        }
    }

    /// Registers are read: what was on its way there has come.
    fn come(&mut self, range: RegRange) {
        for n in 0..u16::from(range.len) {
            let cell = usize::from(range.first.offset(n).0);
            let mut place = self.holders.get(cell).copied().unwrap_or(NONE);
            while place != NONE {
                self.arrives(place);
                place = self.next_holder[place as usize];
            }
        }
    }

    /// The watched registers that a cell has the values of, as far as they are wanted.
    fn there(&self, cell: u32, is_wanted: impl Fn(u32) -> bool) -> Vec<u32> {
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

    fn arrives(&mut self, place: u32) {
        if self.state.is_pending(place) {
            self.state.set(place, true);
            self.pending -= 1;
            self.changes.push(self.places.all[place as usize].watched);
        }
    }

    /// Waits until at most so many operations of each kind are on their way.
    fn wait(&mut self, counts: &isa::Counts) {
        let all = [Counter::Vm, Counter::Lgkm].map(|counter| counts.count(counter) == 0);
        if all == [true, true] {
            // Nothing is on its way any more, whatever it was.
            if self.pending > 0 {
                (0..self.places.all.len() as u32).for_each(|place| self.arrives(place));
            }
            self.flights.clear();
            return;
        }
        let mut flights = std::mem::take(&mut self.flights);
        flights.retain(|&Flight { counter, number, place }| {
            let count = u32::from(counts.count(counter));
            let is_done = match counter {
                Counter::Vm => number + count < self.raised[0] || count == 0,
                // Scalar loads come in any order.
                Counter::Lgkm => count == 0,
                _ => false,
            };
            if is_done {
                self.arrives(place);
            }
            !is_done
        });
        self.flights = flights;
    }
}

/// For each instruction of a block: the part that it is of, and the least point from there to the end of the part. Records of a greater
/// point come later.
fn places(track: &MachTrack, insts: &[MachInst]) -> Vec<(usize, u32)> {
    let mut places = vec![(usize::MAX, u32::MAX); insts.len()];
    let (mut part, mut least, mut first) = (usize::MAX, u32::MAX, 0);
    for (n, inst) in insts.iter().enumerate().rev() {
        if inst.loc != 0 && !is_of(track, part, inst.loc) {
            // Of another part: it counts from its last instruction on, unless this one is in the midst of the part at hand.
            if let Some(own) = track.part_of(inst.loc).filter(|_| part == usize::MAX || n < first) {
                (part, least) = (own, u32::MAX);
                let in_part = |other: &MachInst| is_of(track, own, other.loc);
                first = insts[..=n].iter().position(in_part).unwrap_or(n);
            }
        }
        if is_of(track, part, inst.loc) {
            least = least.min(inst.loc);
        }
        places[n] = (part, least);
    }
    places
}

fn is_of(track: &MachTrack, part: usize, point: u32) -> bool {
    track.parts.get(part).is_some_and(|part| (part.first..part.end).contains(&point))
}

/// What is written down on the way.
struct Writer<'a> {
    track: &'a MachTrack,
    code: FinalCode,
    /// By leaf: what it is, and the range that is open.
    held: Vec<Held>,
    open: Vec<Option<(u32, Where)>>,
    /// By watched register: the first of `links` with a leaf that may be there; each with the next.
    users: Vec<u32>,
    links: Vec<(u32, u32)>,
    /// Leaves that may be somewhere else now, each once.
    touched: Vec<u32>,
    is_touched: Vec<bool>,
    part: usize,
    /// The record that comes next, and statements that were written.
    next: u32,
    written: Vec<bool>,
}

impl<'a> Writer<'a> {
    fn new(track: &'a MachTrack) -> Writer<'a> {
        let named = track.records.iter().filter_map(|record| match record.what {
            What::Leaf(leaf, _) => Some(leaf + 1),
            What::Statement(_) => None,
        });
        let leaves = named.max().unwrap_or(0) as usize;
        Writer {
            track,
            code: FinalCode::default(),
            held: vec![Held::Lost; leaves],
            open: vec![None; leaves],
            users: vec![NONE; track.watched.len()],
            links: Vec::new(),
            touched: Vec::new(),
            is_touched: vec![false; leaves],
            part: usize::MAX,
            next: 0,
            written: vec![false; track.records.len()],
        }
    }

    /// Leaves are what they are at the beginning of a part.
    fn enter(&mut self, part: usize) {
        self.part = part;
        self.held.fill(Held::Lost);
        self.users.fill(NONE);
        self.links.clear();
        (0..self.held.len() as u32).for_each(|leaf| self.touch(leaf));
        let Some(own) = self.track.parts.get(part) else { return };
        self.next = own.records.0;
        for &(leaf, held) in &self.track.heads[own.heads.0 as usize..own.heads.1 as usize] {
            self.set(leaf, held);
        }
    }

    fn set(&mut self, leaf: u32, held: Held) {
        let Some(own) = self.held.get_mut(leaf as usize) else { return };
        *own = held;
        self.touch(leaf);
        self.uses(leaf, held, MOST_STEPS);
    }

    /// The leaf is somewhere else when what it is in, or computed of, changes.
    fn uses(&mut self, leaf: u32, held: Held, steps: u32) {
        let Held::Spot(spot) = held else { return };
        let Spot { vector, scalar, mask, dwords, term } = self.track.spots[spot as usize];
        for (first, count) in [(vector, dwords), (scalar, dwords), (mask, 1)] {
            if first != NONE {
                for watched in first..first + u32::from(count) {
                    let next = std::mem::replace(&mut self.users[watched as usize], self.links.len() as u32);
                    self.links.push((leaf, next));
                }
            }
        }
        if let (Some(term), Some(rest)) = (self.track.terms.get(term as usize), steps.checked_sub(1)) {
            term.args.iter().for_each(|&arg| self.uses(leaf, arg, rest));
        }
    }

    /// Records in front of instruction `n` of the block; the statement that begins there.
    fn records(&mut self, n: usize, places: &[(usize, u32)]) -> Option<u32> {
        let (part, least) = places[n];
        if part != self.part && part != usize::MAX {
            self.enter(part);
        }
        let own = self.track.parts.get(self.part)?;
        let mut statement = None;
        while self.next < own.records.1 {
            let record = self.track.records[self.next as usize];
            if record.point > least {
                break;
            }
            match record.what {
                // A statement that has done its work already has no code to stop at.
                What::Leaf(leaf, held) => {
                    self.set(leaf, held);
                    statement = None;
                }
                What::Statement(loc) if least != u32::MAX => {
                    if !std::mem::replace(&mut self.written[self.next as usize], true) {
                        statement = Some(loc);
                    }
                }
                What::Statement(_) => {}
            }
            self.next += 1;
        }
        statement
    }

    /// Whether a record stands in front of instruction `n` of the block.
    fn is_due(&self, n: usize, places: &[(usize, u32)]) -> bool {
        let (part, least) = places[n];
        let own = self.track.parts.get(part);
        let next = match own {
            Some(own) if part != self.part => own.records.0,
            _ => self.next,
        };
        let is_next = own.is_some_and(|own| next < own.records.1);
        is_next && self.track.records.get(next as usize).is_some_and(|record| record.point <= least)
    }

    fn changed(&mut self, watched: &[u32]) {
        for &watched in watched {
            let mut link = self.users[watched as usize];
            while let Some(&(leaf, next)) = self.links.get(link as usize) {
                self.touch(leaf);
                link = next;
            }
        }
    }

    fn touch(&mut self, leaf: u32) {
        if !std::mem::replace(&mut self.is_touched[leaf as usize], true) {
            self.touched.push(leaf);
        }
    }

    /// Closes and opens ranges of leaves that are somewhere else now.
    fn refresh(&mut self, offset: u32, mut place: impl FnMut(&Spot) -> Option<Where>) {
        let mut touched = std::mem::take(&mut self.touched);
        for leaf in touched.drain(..) {
            self.is_touched[leaf as usize] = false;
            let now = match self.held[leaf as usize] {
                Held::Lost => None,
                Held::Constant(bits) => Some(Where::Constant(bits)),
                Held::Spot(spot) => place(&self.track.spots[spot as usize]),
                Held::Memory(slot) => {
                    self.track.slots.get(slot as usize).map(|&offset| Where::Memory(offset))
                }
            };
            let open = &mut self.open[leaf as usize];
            if open.map(|open| open.1) != now {
                if let Some((start, place)) = open.take()
                    && start < offset
                {
                    self.code.ranges.push(Range { leaf, start, end: offset, place });
                }
                *open = now.map(|place| (offset, place));
            }
        }
        self.touched = touched;
    }

    fn line(&mut self, start: u32, loc: u32, statement: Option<u32>) {
        let last = self.code.lines.last();
        let line = match statement {
            Some(loc) => Line { start, loc, is_statement: true },
            None => Line { start, loc, is_statement: false },
        };
        if line.is_statement || last.is_none_or(|last| last.loc != loc) {
            self.code.lines.push(line);
        }
    }

    fn finish(mut self, end: u32) -> FinalCode {
        for (leaf, open) in self.open.iter().enumerate() {
            if let Some((start, place)) = *open
                && start < end
            {
                self.code.ranges.push(Range { leaf: leaf as u32, start, end, place });
            }
        }
        self.code.ranges.sort_unstable_by_key(|range| (range.leaf, range.start));
        self.code.size = end;
        self.code
    }
}
