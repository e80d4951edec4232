//! What final code says of statements and variables: at which bytes statements begin, and where each leaf of a variable is from which byte to which.
//!
//! # Idea
//! Two things flow through the code. What each leaf *is* (a constant, or watched registers) changes at records, and flows as lanes do: selection has
//! worked out what leaves are where blocks begin. Whether a watched register *holds* its value yet, or still, depends on what instructions write: it
//! flows as the program counter does for scalar registers, and as lanes do for vector registers. A leaf is in a register where both say so.
//!
//! A load's result is there when the code has waited for it: by a wait that covers it, or because an instruction uses it, in front of which the
//! compiler has waited.

use isa::table::{Family, Flags};
use isa::track::{Held, MachTrack, Spot, What};
use isa::{Counter, Generation, MBlock, MachFunc, MachInst, Reg, RegRange, Role, Subtarget};
use rustc_hash::FxHashMap;

/// Where a leaf is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// Nowhere: it is known.
    Constant(u64),
    /// In a register, or with its halves in two.
    Registers(Reg, Option<Reg>),
    /// A bit for each lane, in a register or a pair.
    Mask(Reg),
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
}

/// Reads final code.
pub fn read(func: &MachFunc, track: &MachTrack, target: &Subtarget) -> FinalCode {
    let mut reader = Reader::new(func, track, target);
    reader.settle();
    reader.walk()
}

/// What holds of watched registers: bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    /// The value has been written, or is on its way.
    present: Vec<u64>,
    /// It has come.
    ready: Vec<u64>,
}

impl State {
    fn full(count: usize, bits: u64) -> State {
        let words = count.div_ceil(64);
        State { present: vec![bits; words], ready: vec![bits; words] }
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

/// An operation on its way, in the order of the counter that it raised.
struct Flight {
    counter: Counter,
    /// What it brings.
    watched: Vec<u32>,
}

struct Reader<'a> {
    func: &'a MachFunc,
    track: &'a MachTrack,
    target: &'a Subtarget,
    /// Watched registers by their hardware registers, in order.
    by_register: Vec<(Reg, u32)>,
    /// Those in vector registers: bits.
    vectors: Vec<u64>,
    /// Watched registers that are there when a block of the IR begins, and where that does: block, and instruction in it.
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

/// What happened to watched registers at an instruction.
type Changes = Vec<u32>;

impl<'a> Reader<'a> {
    fn new(func: &'a MachFunc, track: &'a MachTrack, target: &'a Subtarget) -> Reader<'a> {
        let count = track.watched.len();
        let mut by_register = Vec::with_capacity(count);
        let mut vectors = vec![0u64; count.div_ceil(64)];
        let mut at_heads = Vec::new();
        for (watched, number) in track.watched.iter().zip(0u32..) {
            let Some(place) = watched.place else { continue };
            by_register.push((place, number));
            if place.is_vgpr() || place.is_agpr() {
                vectors[number as usize / 64] |= 1 << (number % 64);
            }
            at_heads.extend(watched.part.map(|part| (part, number)));
        }
        by_register.sort_unstable();
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
        Reader { func, track, target, by_register, vectors, at_heads, heads, writes, preds, begins, ends }
    }

    /// Watched registers in hardware registers.
    fn in_registers(&self, range: RegRange) -> impl Iterator<Item = u32> + '_ {
        let end = Reg(range.first.0 + u16::from(range.len));
        let first = self.by_register.partition_point(|&(reg, _)| reg < range.first);
        self.by_register[first..].iter().take_while(move |&&(reg, _)| reg < end).map(|&(_, watched)| watched)
    }

    /// What holds where blocks begin.
    fn settle(&mut self) {
        if self.track.watched.is_empty() {
            return;
        }
        let mut changed = true;
        while std::mem::take(&mut changed) {
            let mut at = 0;
            for block in self.func.blocks.keys() {
                let begin = self.begin_of(block);
                let number = block.as_u32() as usize;
                let mut walker = Walker::new(begin.clone());
                let mut changes = Changes::new();
                let data = &self.func.blocks[block];
                for (n, inst) in data.insts.iter().enumerate() {
                    self.arrive(block, n, inst, &mut walker, &mut changes);
                    self.step((at, inst), &mut walker, &mut changes);
                    at += 1;
                    changes.clear();
                }
                self.begins[number] = begin;
                if self.ends[number] != walker.state {
                    self.ends[number] = walker.state;
                    changed = true;
                }
            }
        }
    }

    fn begin_of(&self, block: MBlock) -> State {
        let number = block.as_u32() as usize;
        let count = self.track.watched.len();
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
    fn arrive(&self, block: MBlock, n: usize, inst: &MachInst, walker: &mut Walker, changes: &mut Changes) {
        let Some(part) = (inst.loc != 0).then(|| self.track.part_of(inst.loc)).flatten() else { return };
        if self.heads[part] != Some((block, n)) {
            return;
        }
        let part = part as u32;
        let first = self.at_heads.partition_point(|&(other, _)| other < part);
        for &(_, watched) in self.at_heads[first..].iter().take_while(|&&(other, _)| other == part) {
            walker.state.set(watched, true);
            changes.push(watched);
        }
    }

    /// An instruction is executed.
    fn step(&self, (number, inst): (u32, &MachInst), walker: &mut Walker, changes: &mut Changes) {
        if self.track.watched.is_empty() {
            return;
        }
        if let Some(counts) = self.target.waited(inst) {
            walker.wait(&counts, self.track, changes);
            return;
        }
        let counter = counter(self.target, inst);
        let mut brings = Vec::new();
        inst.for_each_hw_reg(self.target, |role, range| {
            if role != Role::Def {
                for watched in self.in_registers(range) {
                    if walker.state.is_pending(watched) {
                        walker.state.set(watched, true);
                        changes.push(watched);
                    }
                }
            }
        });
        inst.for_each_hw_reg(self.target, |role, range| {
            if role == Role::Use {
                return;
            }
            for watched in self.in_registers(range) {
                if self.writes.binary_search(&(number, watched)).is_ok() {
                    walker.state.set(watched, counter.is_none());
                    brings.push(watched);
                } else {
                    walker.state.clear(watched);
                }
                changes.push(watched);
            }
        });
        if let Some(counter) = counter {
            walker.flights.push(Flight { counter, watched: brings });
        }
        if inst.is_call() {
            self.call(inst, walker, changes);
        }
    }

    /// What a call may change is gone.
    fn call(&self, inst: &MachInst, walker: &mut Walker, changes: &mut Changes) {
        let known = self.track.calls.iter().find(|&&(point, _)| point == inst.loc);
        let site = known.and_then(|&(_, number)| self.func.calls.get(number as usize));
        for &(place, watched) in &self.by_register {
            let range = RegRange { first: place, len: 1 };
            if site.is_none_or(|site| site.clobbers.hits(range)) {
                walker.state.clear(watched);
                changes.push(watched);
            }
        }
        walker.flights.clear();
    }

    /// The place of a spot's value, if it is there.
    fn place(&self, spot: &Spot, state: &State) -> Option<Where> {
        let place = |watched: u32| self.track.watched[watched as usize].place;
        for first in [spot.vector, spot.scalar] {
            let dwords = u32::from(spot.dwords);
            if first != u32::MAX && (0..dwords).all(|n| state.is_ready(first + n)) {
                let low = place(first)?;
                return Some(Where::Registers(low, if dwords > 1 { Some(place(first + 1)?) } else { None }));
            }
        }
        let mask = spot.mask;
        (mask != u32::MAX && state.is_ready(mask)).then(|| place(mask).map(Where::Mask)).flatten()
    }

    /// Goes through the code with all known, and writes down what there is.
    fn walk(&mut self) -> FinalCode {
        let mut writer = Writer::new(self.track);
        let (mut offset, mut at) = (0, 0);
        let mut changes = Changes::new();
        for (block, data) in self.func.blocks.iter() {
            let state = self.begins[block.as_u32() as usize].clone();
            let mut walker = Walker::new(state);
            let places = places(self.track, &data.insts);
            writer.begin(offset, places.first().copied());
            writer.refresh(offset, |spot| self.place(spot, &walker.state));
            for (n, inst) in data.insts.iter().enumerate() {
                self.arrive(block, n, inst, &mut walker, &mut changes);
                // What a statement waits for belongs in front of it: where one stops, values and lanes have come.
                let early = n < data.prologue as usize || self.target.is_wait(inst.op);
                let statement = if early { None } else { writer.records(n, &places) };
                writer.changed(&changes);
                changes.clear();
                writer.refresh_changed(offset, |spot| self.place(spot, &walker.state));
                if !(early && writer.is_due(n, &places)) {
                    writer.line(offset, self.track.place(inst.loc), statement);
                }
                self.step((at, inst), &mut walker, &mut changes);
                at += 1;
                offset += isa::size_in_words(self.target, inst) as u32 * 4;
            }
            writer.changed(&changes);
            changes.clear();
        }
        writer.finish(offset)
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

struct Walker {
    state: State,
    flights: Vec<Flight>,
}

impl Walker {
    fn new(state: State) -> Walker {
        Walker { state, flights: Vec::new() }
    }

    /// Waits until at most so many operations of each kind are on their way.
    fn wait(&mut self, counts: &isa::Counts, track: &MachTrack, changes: &mut Changes) {
        let all = [Counter::Vm, Counter::Lgkm].map(|counter| counts.count(counter) == 0);
        if all == [true, true] {
            // Nothing is on its way any more, whatever it was.
            for watched in 0..track.watched.len() as u32 {
                if self.state.is_pending(watched) {
                    self.state.set(watched, true);
                    changes.push(watched);
                }
            }
            self.flights.clear();
            return;
        }
        for counter in [Counter::Vm, Counter::Lgkm] {
            let count = usize::from(counts.count(counter));
            // Scalar loads come in any order.
            if counter == Counter::Lgkm && count > 0 {
                continue;
            }
            let own = self.flights.iter().filter(|flight| flight.counter == counter).count();
            let mut done = own.saturating_sub(count);
            self.flights.retain_mut(|flight| {
                if flight.counter != counter || done == 0 {
                    return true;
                }
                done -= 1;
                for watched in flight.watched.drain(..) {
                    if self.state.is_pending(watched) {
                        self.state.set(watched, true);
                        changes.push(watched);
                    }
                }
                false
            });
        }
    }
}

/// For each instruction of a block: the part that it is of, and the least point from there to the end of the part. Records of a greater
/// point come later.
fn places(track: &MachTrack, insts: &[MachInst]) -> Vec<(usize, u32)> {
    let mut places = vec![(usize::MAX, u32::MAX); insts.len()];
    let (mut part, mut least) = (usize::MAX, u32::MAX);
    for (n, inst) in insts.iter().enumerate().rev() {
        if let Some(own) = (inst.loc != 0).then(|| track.part_of(inst.loc)).flatten() {
            if own != part
                && (part == usize::MAX || !insts[..n].iter().any(|other| is_of(track, part, other)))
            {
                (part, least) = (own, u32::MAX);
            }
            if own == part {
                least = least.min(inst.loc);
            }
        }
        places[n] = (part, least);
    }
    places
}

fn is_of(track: &MachTrack, part: usize, inst: &MachInst) -> bool {
    let part = &track.parts[part];
    (part.first..part.end).contains(&inst.loc)
}

/// What is written down on the way.
struct Writer<'a> {
    track: &'a MachTrack,
    code: FinalCode,
    /// By leaf: what it is, and the range that is open.
    held: Vec<Held>,
    open: Vec<Option<(u32, Where)>>,
    /// By watched register: leaves that may be there.
    users: Vec<Vec<u32>>,
    /// Leaves that may be somewhere else now.
    touched: Vec<u32>,
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
            users: vec![Vec::new(); track.watched.len()],
            touched: Vec::new(),
            part: usize::MAX,
            next: 0,
            written: vec![false; track.records.len()],
        }
    }

    /// A block begins, with a part.
    fn begin(&mut self, _offset: u32, place: Option<(usize, u32)>) {
        self.enter(place.map_or(usize::MAX, |place| place.0));
    }

    /// Leaves are what they are at the beginning of a part.
    fn enter(&mut self, part: usize) {
        self.part = part;
        self.held.fill(Held::Lost);
        self.users.iter_mut().for_each(Vec::clear);
        self.touched.extend(0..self.held.len() as u32);
        let Some(own) = self.track.parts.get(part) else { return };
        self.next = own.records.0;
        for &(leaf, held) in &self.track.heads[own.heads.0 as usize..own.heads.1 as usize] {
            self.set(leaf, held);
        }
    }

    fn set(&mut self, leaf: u32, held: Held) {
        let Some(own) = self.held.get_mut(leaf as usize) else { return };
        *own = held;
        self.touched.push(leaf);
        if let Held::Spot(spot) = held {
            let Spot { vector, scalar, mask, dwords } = self.track.spots[spot as usize];
            for (first, count) in [(vector, dwords), (scalar, dwords), (mask, 1)] {
                if first != u32::MAX {
                    (0..u32::from(count)).for_each(|n| self.users[(first + n) as usize].push(leaf));
                }
            }
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
            self.touched.extend_from_slice(&self.users[watched as usize]);
        }
    }

    fn refresh(&mut self, offset: u32, place: impl Fn(&Spot) -> Option<Where>) {
        self.refresh_changed(offset, place);
    }

    /// Closes and opens ranges of leaves that are somewhere else now.
    fn refresh_changed(&mut self, offset: u32, place: impl Fn(&Spot) -> Option<Where>) {
        let mut touched = std::mem::take(&mut self.touched);
        for leaf in touched.drain(..) {
            let now = match self.held[leaf as usize] {
                Held::Lost => None,
                Held::Constant(bits) => Some(Where::Constant(bits)),
                Held::Spot(spot) => place(&self.track.spots[spot as usize]),
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
