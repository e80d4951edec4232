//! Settling: where records stand after passes that know nothing of them.
//!
//! The instructions as they were are laid beside those that there are. A record goes with its anchor; where that is gone, to what followed it. In
//! blocks in which nothing has changed, nothing is looked at.

use super::carried::{Carried, Spare, merge};
use super::{Record, Track, What, latest};
use crate::entity::{Block, Inst, Value};
use crate::func::{Function, ValueDef};
use crate::op::Op;
use cranelift_entity::{EntityRef, SecondaryMap};

/// Memory of settling.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    now: Order,
    pub(super) carried: Carried,
    spare: Spare,
    /// Blocks that have records which are not settled.
    disturbed: SecondaryMap<Block, bool>,
    /// By block that was put behind others: where the code of those ends.
    floors: SecondaryMap<Block, Option<u32>>,
    /// Blocks in whose records nobody has looked for what is said again.
    pub(super) raw: SecondaryMap<Block, bool>,
}

impl Scratch {
    /// Of another function.
    pub(super) fn clear(&mut self) {
        self.raw.clear();
        self.carried.leaves.clear();
    }
}

/// The instructions of a function, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    insts: Vec<Inst>,
    /// The part of `insts` that a block has.
    blocks: SecondaryMap<Block, Option<(u32, u32)>>,
    /// By instruction, which it is of all, counted from 1; 0 if it is in no block.
    places: Vec<u32>,
    /// How many instructions the function has made.
    made: usize,
}

impl Order {
    pub(super) fn take(&mut self, func: &Function) {
        self.made = func.insts.len();
        self.insts.clear();
        self.blocks.clear();
        self.places.clear();
        self.places.resize(func.insts.len(), 0);
        self.blocks.resize(func.blocks.len());
        for &block in &func.layout {
            let start = self.insts.len() as u32;
            let insts = &func.blocks[block].insts;
            self.insts.extend_from_slice(insts);
            for (inst, place) in insts.iter().zip(start + 1..) {
                self.places[inst.index()] = place;
            }
            self.blocks[block] = Some((start, self.insts.len() as u32));
        }
    }

    /// Whether the instructions of a function are still those, where they were.
    fn is_of(&self, func: &Function) -> bool {
        let mut end = 0;
        for &block in &func.layout {
            let insts = &func.blocks[block].insts;
            let (from, to) = (end, end + insts.len());
            if self.blocks.get(block) != Some(&Some((from as u32, to as u32)))
                || self.insts.get(from..to) != Some(insts.as_slice())
            {
                return false;
            }
            end = to;
        }
        end == self.insts.len()
    }

    /// Which an instruction is of all, counted from 1; 0 if it is in no block.
    pub(super) fn place(&self, inst: Inst) -> u32 {
        self.places.get(inst.index()).copied().unwrap_or(0)
    }

    /// Whether an instruction was in another block than that.
    pub(super) fn has_elsewhere(&self, inst: Inst, block: Block) -> bool {
        let (start, end) = self.blocks[block].unwrap_or((0, 0));
        let place = self.place(inst);
        place != 0 && !(start + 1..=end).contains(&place)
    }

    /// Whether an instruction was made later.
    pub(super) fn is_older(&self, than: Inst) -> bool {
        self.made <= than.index()
    }

    /// Whether what was said of a leaf in front of an instruction was known there, as far as the block at hand goes.
    pub(super) fn is_known(&self, func: &Function, what: What, place: u32) -> bool {
        let value = match what {
            What::Value(_, value) => value,
            // What it is computed of may have been computed in between.
            What::Term(..) => return false,
            What::Statement(_) | What::Lost(_) => return true,
        };
        match func.values[value].def {
            ValueDef::Result(inst, _) => {
                let is_constant = matches!(func.insts[inst].op, Op::Const(_));
                is_constant || (1..place).contains(&self.place(inst))
            }
            ValueDef::Param(..) => true,
        }
    }

    pub(super) fn has(&self, block: Block) -> bool {
        self.blocks[block].is_some()
    }

    /// The instructions of a block; none if there is no such block.
    pub(super) fn of(&self, block: Block) -> Option<&[Inst]> {
        let (start, end) = self.blocks[block]?;
        Some(&self.insts[start as usize..end as usize])
    }
}

impl Record {
    /// Names the value that stands for its own now.
    fn bring_up_to_date(&mut self, replaced: &mut [Value]) {
        self.what = self.what.map_value(|value| latest(replaced, value));
    }
}

impl Track {
    /// Brings the records in order after passes.
    pub fn settle(&mut self, func: &Function) {
        if self.records.is_empty() {
            return;
        }
        if self.settled == self.records.len() && self.order.is_of(func) {
            let Track { records, replaced, is_stale, .. } = self;
            if std::mem::take(is_stale) {
                records.iter_mut().for_each(|record| record.bring_up_to_date(replaced));
            }
            return;
        }
        self.scratch.now.take(func);
        self.find_parts();
        self.carry(func);
        let Track { order, scratch, records, merged, added, .. } = self;
        if scratch.carried.is_mixed {
            scratch.carried.arrange(&mut scratch.spare);
        }
        std::mem::swap(order, &mut scratch.now);
        std::mem::swap(records, &mut scratch.carried.records);
        merged.clear();
        added.clear();
        (self.settled, self.begun) = (self.records.len(), 0..0);
    }

    /// After a pass that has added and taken out blocks, and nothing else: what stands somewhere stands there.
    pub(super) fn retake(&mut self, func: &Function) {
        self.order.take(func);
        self.merged.clear();
        self.added.clear();
        // They are put in order when that is of use, and those of what is gone forgotten.
        self.settled = 0;
    }

    /// After a pass that has put instructions and blocks behind those that there were, and nothing else: what was in order is.
    pub(super) fn grown(&mut self, func: &Function) {
        self.order.take(func);
        self.added.clear();
    }

    /// Whether records stand where instructions are, in order or not.
    pub(super) fn is_of(&self, func: &Function) -> bool {
        self.order.is_of(func)
    }

    /// Finds the order in which records stood: `parts`. What a pass has added comes behind what was in front of the same instruction; in front of new
    /// ones it is where it was put.
    fn find_parts(&mut self) {
        let Track { order, scratch, records, settled, begun, .. } = self;
        let Scratch { spare, disturbed, .. } = scratch;
        disturbed.clear();
        let new = (*settled).min(records.len());
        if new == records.len() {
            spare.parts.clear();
            spare.parts.push(0..new);
            return;
        }
        let mut last = None;
        for record in &records[new..] {
            if last.replace(record.block) != Some(record.block) {
                disturbed[record.block] = true;
            }
        }
        let place = |n: usize| order.place(records[n].before).wrapping_sub(1);
        let len = records.len();
        let begun = begun.start.min(len)..begun.end.min(len);
        merge((len, begun), place, &mut spare.stretches, &mut spare.parts);
    }

    /// Takes records to where they stand now.
    fn carry(&mut self, func: &Function) {
        let Track { order, scratch, records, merged, variables, replaced, is_stale, .. } = self;
        let Scratch { now, carried, spare, disturbed, floors, raw } = scratch;
        let moves = Moves { order, now, merged };
        floors.clear();
        let mut sweep = Sweep::new(func, moves, floors);
        carried.begin(variables);
        let is_stale = std::mem::take(is_stale);
        for part in &spare.parts {
            let part = &mut records[part.clone()];
            if is_stale {
                part.iter_mut().for_each(|record| record.bring_up_to_date(replaced));
            }
            for group in part.chunk_by(|a, b| a.block == b.block) {
                let block = group[0].block;
                if !disturbed[block] && moves.is_untouched(func, block, group) {
                    carried.group(now.place(group[0].before), 0, false);
                    carried.records.extend_from_slice(group);
                    continue;
                }
                sweep.begin(block);
                let is_raw = disturbed[block] || std::mem::take(&mut raw[block]);
                let mut last = None;
                let mut stands = None;
                for record in group {
                    if last.replace(record.before) != Some(record.before) {
                        stands = sweep.anchor(record.before).map(|(anchor, hops)| {
                            carried.group(now.place(anchor), hops, is_raw);
                            (anchor, func.insts[anchor].block)
                        });
                    }
                    if let Some((before, block)) = stands {
                        carried.records.push(Record { block, before, what: record.what });
                    }
                }
            }
        }
        carried.end();
    }
}

/// Blocks whose code is part of others since.
#[derive(Clone, Debug, Default)]
pub(super) struct Merged {
    /// The block whose code a block's was put behind.
    into: SecondaryMap<Block, Option<Block>>,
    /// The block whose code stands behind a block's; and the last of those that were put behind one another there.
    next: SecondaryMap<Block, Option<Block>>,
    last: SecondaryMap<Block, Option<Block>>,
}

impl Merged {
    pub(super) fn clear(&mut self) {
        let Merged { into, next, last } = self;
        into.clear();
        next.clear();
        last.clear();
    }

    /// The code of a block now stands at the end of another one.
    pub(super) fn put(&mut self, from: Block, into: Block) {
        self.into[from] = Some(into);
        let end = self.last[into].unwrap_or(into);
        self.next[end] = Some(from);
        self.last[into] = Some(self.last[from].unwrap_or(from));
    }
}

/// Where instructions were and are.
#[derive(Clone, Copy)]
struct Moves<'a> {
    order: &'a Order,
    now: &'a Order,
    merged: &'a Merged,
}

/// Where the records of a block go, one after the other: in front of what stands now where their anchors did, or of what followed those. What is
/// no anchor for one record is none for those behind it, so that instructions are looked at once.
struct Sweep<'a> {
    func: &'a Function,
    moves: Moves<'a>,
    /// The block that the records are of, and which it is now.
    block: Option<Block>,
    home: Option<Block>,
    /// The block that is looked through, and how many were before; and where its terminator has gone.
    part: Block,
    hops: u32,
    moved: Option<Block>,
    /// The part of `order` that is left of it.
    at: u32,
    end: u32,
    /// What stands above this has moved up past the last anchor and is none; or, in a block that was put behind others, past code that was in front
    /// of it: past theirs (`floors`), and past that of the block itself, of which `passed` counts `order`.
    floor: u32,
    floors: &'a mut SecondaryMap<Block, Option<u32>>,
    passed: u32,
    /// What is taken when there is nothing more to look at.
    last: Option<Option<Inst>>,
}

impl<'a> Sweep<'a> {
    fn new(
        func: &'a Function,
        moves: Moves<'a>,
        floors: &'a mut SecondaryMap<Block, Option<u32>>,
    ) -> Sweep<'a> {
        let part = Block::from_u32(0);
        let (block, home, moved, last) = (None, None, None, None);
        let (hops, at, end, floor, passed) = (0, 0, 0, 0, 0);
        Sweep { func, moves, block, home, part, hops, moved, at, end, floor, floors, passed, last }
    }

    /// Records of another block come next.
    fn begin(&mut self, block: Block) {
        if self.block != Some(block) {
            (self.block, self.home) = (Some(block), self.moves.home(block));
            (self.hops, self.floor, self.last) = (0, 0, None);
            self.enter(block);
            self.passed = u32::MAX;
            if let Some(home) = self.home.filter(|&home| home != block) {
                self.find_floors(home);
                (self.floor, self.passed) = (self.floors[block].unwrap_or(0), self.at);
            }
        }
    }

    /// Finds where the code ends that blocks were put behind, of those that were put behind one: once.
    fn find_floors(&mut self, home: Block) {
        let (mut next, mut floor) = (Some(home), 0);
        while let Some(part) = next.filter(|&part| self.floors[part].is_none()) {
            self.floors[part] = Some(floor);
            // From the end on, where it mostly is.
            let insts = self.moves.order.of(part).unwrap_or(&[]).iter().rev();
            floor = insts.fold(floor, |floor, &inst| self.below(floor, inst, home));
            next = self.moves.merged.next[part];
        }
    }

    /// The lower of a floor and that of what stands behind an instruction, if that is an anchor in a block.
    #[inline]
    fn below(&self, floor: u32, inst: Inst, home: Block) -> u32 {
        let place = self.moves.now.place(inst);
        let is_lower = place > floor && self.func.insts[inst].block == home && is_anchor(self.func, inst);
        if is_lower { place } else { floor }
    }

    /// What was in front of an instruction, in a block that was put behind others, is passed.
    fn pass(&mut self, before: Inst) {
        let Some(home) = self.home.filter(|_| self.passed != u32::MAX) else { return };
        let Moves { order, .. } = self.moves;
        let end = order.place(before).saturating_sub(1);
        while self.passed < end {
            self.floor = self.below(self.floor, order.insts[self.passed as usize], home);
            self.passed += 1;
        }
    }

    /// The anchor of the next record, which stood in front of an instruction; and the number of blocks that were merged in between.
    #[inline]
    fn anchor(&mut self, before: Inst) -> Option<(Inst, u32)> {
        self.pass(before);
        let place = self.moves.now.place(before);
        // Most stay where they are.
        let is_home = || self.home == Some(self.func.insts[before].block);
        if place >= self.floor.max(1) && is_home() && is_anchor(self.func, before) {
            self.floor = place;
            return Some((before, 0));
        }
        self.search(before)
    }

    fn search(&mut self, before: Inst) -> Option<(Inst, u32)> {
        let Moves { order, now, .. } = self.moves;
        let Some(place) = order.place(before).checked_sub(1) else {
            // Made since: where it is, it was put.
            return (now.place(before) != 0).then_some((before, 0));
        };
        let home = self.home?;
        if self.hops == 0 {
            self.at = self.at.max(place);
        }
        loop {
            while self.at < self.end {
                let inst = order.insts[self.at as usize];
                if self.stays(inst, home) {
                    return Some((inst, self.hops));
                }
                self.at += 1;
            }
            if let Some(last) = self.last {
                return last.map(|last| (last, 0));
            }
            match self.moves.merged.next[self.part] {
                // A chain of blocks that became one is followed once around at most.
                Some(to) if self.hops < order.insts.len() as u32 => {
                    self.hops += 1;
                    self.enter(to);
                }
                _ => self.last = Some(self.moves.new_end(home)),
            }
        }
    }

    /// Another block is looked through.
    fn enter(&mut self, part: Block) {
        let Moves { order, now, .. } = self.moves;
        (self.at, self.end) = order.blocks[part].unwrap_or((0, 0));
        let last = order.of(part).and_then(<[Inst]>::last).filter(|&&last| now.place(last) != 0);
        self.moved = last.map(|&last| self.func.insts[last].block);
        self.part = part;
    }

    /// Whether an instruction of the block at hand is an anchor still: in its block, or where that went: the block was merged, or split, and then its
    /// terminator has moved, too. If not it was moved by itself.
    fn stays(&mut self, inst: Inst, home: Block) -> bool {
        let Moves { order, now, .. } = self.moves;
        let place = now.place(inst);
        if place == 0 || place < self.floor {
            return false;
        }
        let found = self.func.insts[inst].block;
        let went = || self.moved.is_some_and(|moved| moved != home && (moved == found || !order.has(found)));
        let stays = (found == home || found == self.part || went()) && is_anchor(self.func, inst);
        if stays {
            self.floor = place;
        }
        stays
    }
}

impl Moves<'_> {
    /// Whether a block has the instructions that it had, and those in front of which records stand are anchors.
    fn is_untouched(&self, func: &Function, block: Block, records: &[Record]) -> bool {
        let Moves { order, now, .. } = self;
        let same = order.of(block).is_some_and(|insts| now.of(block) == Some(insts));
        same && records.iter().all(|record| is_anchor(func, record.before))
    }

    /// What has been put in the place of a block's end.
    fn new_end(&self, home: Block) -> Option<Inst> {
        let insts = self.now.of(home)?;
        let new = insts.iter().rev().take_while(|&&inst| self.order.place(inst) == 0).count();
        insts.get(insts.len().checked_sub(new.max(1))?).copied()
    }

    /// Which block a block is now; none if its code is gone or has become unconditional.
    fn home(&self, mut block: Block) -> Option<Block> {
        for _ in 0..=self.order.insts.len() {
            if self.now.has(block) {
                return Some(block);
            }
            block = self.merged.into[block]?;
        }
        None
    }
}

/// Whether an instruction stays where it is, as long as it is there: constants and addresses go where they are wanted.
pub(super) fn is_anchor(func: &Function, inst: Inst) -> bool {
    !matches!(
        func.insts[inst].op,
        Op::Const(_) | Op::GlobalAddr(_) | Op::FuncAddr(_) | Op::SlotAddr(_) | Op::Pos(_)
    )
}
