//! Reconciliation: moves debug records to their correct place after passes that did not update the records.
//!
//! The old order of the instructions is compared with the current order. A record moves with its anchor; if
//! the anchor is gone, the record moves to the instruction that followed the anchor. Blocks whose
//! instructions have not changed are skipped.

use super::carried::{Carried, Spare, merge};
use super::{Record, Track, What, latest};
use crate::entity::{Block, Inst, Value};
use crate::func::{Function, ValueDef};
use crate::op::Op;
use cranelift_entity::{EntityRef, SecondaryMap};

/// Reusable memory of reconciliation.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    now: Order,
    pub(super) carried: Carried,
    spare: Spare,
    /// Blocks that have records which are not reconciled.
    disturbed: SecondaryMap<Block, bool>,
    /// For each block whose code was appended to another block, the lowest position that its records may have
    /// there, which is the end of the code of the blocks before it.
    floors: SecondaryMap<Block, Option<u32>>,
    /// Blocks whose records may contain superseded facts that have not been pruned yet.
    pub(super) raw: SecondaryMap<Block, bool>,
}

impl Scratch {
    /// Prepares the memory for another function.
    pub(super) fn clear(&mut self) {
        self.raw.clear();
        self.carried.fragments.clear();
    }
}

/// The instructions of a function in program order.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    insts: Vec<Inst>,
    /// Start and end in `insts` of each block's instructions.
    blocks: SecondaryMap<Block, Option<(u32, u32)>>,
    /// For each instruction, its 1-based position in `insts`; 0 if the instruction is in no block.
    places: Vec<u32>,
    /// Number of instructions that existed in the function when this order was recorded.
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
            let insts = func.blocks[block].insts();
            self.insts.extend_from_slice(insts);
            for (inst, place) in insts.iter().zip(start + 1..) {
                self.places[inst.index()] = place;
            }
            self.blocks[block] = Some((start, self.insts.len() as u32));
        }
    }

    /// Returns whether the function still has the same instructions at the same positions.
    fn is_of(&self, func: &Function) -> bool {
        let mut end = 0;
        for &block in &func.layout {
            let insts = func.blocks[block].insts();
            let (from, to) = (end, end + insts.len());
            if self.blocks.get(block) != Some(&Some((from as u32, to as u32)))
                || self.insts.get(from..to) != Some(insts)
            {
                return false;
            }
            end = to;
        }
        end == self.insts.len()
    }

    /// Returns the 1-based position of an instruction in program order; 0 if the instruction is in no block.
    pub(super) fn position(&self, inst: Inst) -> u32 {
        self.places.get(inst.index()).copied().unwrap_or(0)
    }

    /// Returns whether the instruction was in a block other than `block`.
    pub(super) fn has_elsewhere(&self, inst: Inst, block: Block) -> bool {
        let (start, end) = self.blocks[block].unwrap_or((0, 0));
        let place = self.position(inst);
        place != 0 && !(start + 1..=end).contains(&place)
    }

    /// Returns whether the instruction `than` was created after this order was recorded.
    pub(super) fn made_after_snapshot(&self, than: Inst) -> bool {
        self.made <= than.index()
    }

    /// Returns whether the fact `what`, which is stated again later in the same block, already held at
    /// `place`. Only the current block is considered.
    pub(super) fn is_known(&self, func: &Function, what: What, place: u32) -> bool {
        let value = match what {
            What::Value(_, value) => value,
            // The values from which the debugger computes the fragment may have been computed in between.
            What::Term(..) => return false,
            What::Statement(_) | What::Lost(_) => return true,
        };
        match func.values[value].def {
            ValueDef::Result(inst, _) => {
                let is_constant = matches!(func.insts[inst].op, Op::Const(_));
                is_constant || (1..place).contains(&self.position(inst))
            }
            ValueDef::Param(..) => true,
        }
    }

    pub(super) fn has(&self, block: Block) -> bool {
        self.blocks[block].is_some()
    }

    /// Returns the instructions of a block; none if the order has no such block.
    pub(super) fn block_insts(&self, block: Block) -> Option<&[Inst]> {
        let (start, end) = self.blocks[block]?;
        Some(&self.insts[start as usize..end as usize])
    }
}

impl Record {
    /// Updates the value in the record: a value that a pass has replaced becomes its replacement.
    fn bring_up_to_date(&mut self, replaced: &mut [Value]) {
        self.what = self.what.map_value(|value| latest(replaced, value));
    }
}

impl Track {
    /// Moves the records to their correct place after passes, and sorts them by program order.
    pub fn reconcile(&mut self, func: &Function) {
        if self.records.is_empty() {
            return;
        }
        if self.reconciled == self.records.len() && self.order.is_of(func) {
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
        (self.reconciled, self.begun) = (self.records.len(), 0..0);
    }

    /// Updates the order after a pass that added and removed blocks and changed nothing else. Every record is
    /// still at its anchor.
    pub(super) fn retake(&mut self, func: &Function) {
        self.order.take(func);
        self.merged.clear();
        self.added.clear();
        // Sorting the records, and dropping the records of removed blocks, is left to the next call that
        // needs it.
        self.reconciled = 0;
    }

    /// Updates the order after a pass that appended instructions and blocks and changed nothing else. The
    /// records are still in order.
    pub(super) fn grown(&mut self, func: &Function) {
        self.order.take(func);
        self.added.clear();
    }

    /// Returns whether every instruction is still where it was when the records were last reconciled. The
    /// records themselves may be out of order.
    pub(super) fn is_of(&self, func: &Function) -> bool {
        self.order.is_of(func)
    }

    /// Computes into `spare.parts` the order of the records before the change. A record that a pass added
    /// follows the reconciled records before the same instruction; a record before a new instruction keeps
    /// the position at which it was added.
    fn find_parts(&mut self) {
        let Track { order, scratch, records, reconciled, begun, .. } = self;
        let Scratch { spare, disturbed, .. } = scratch;
        disturbed.clear();
        let new = (*reconciled).min(records.len());
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
        let place = |n: usize| order.position(records[n].before).wrapping_sub(1);
        let len = records.len();
        let begun = begun.start.min(len)..begun.end.min(len);
        merge((len, begun), place, &mut spare.stretches, &mut spare.parts);
    }

    /// Moves the records to their current places.
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
                    carried.group(now.position(group[0].before), 0, false);
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
                            carried.group(now.position(anchor), hops, is_raw);
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

/// Blocks whose code has become part of other blocks since the records were last reconciled.
#[derive(Clone, Debug, Default)]
pub(super) struct Merged {
    /// For each merged block, the block to whose code its own was appended.
    into: SecondaryMap<Block, Option<Block>>,
    /// `next`: for each block, the block whose code follows directly after its own in the merged block.
    /// `last`: for each block to which others were appended, the last of the appended blocks.
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

    /// Records that the code of block `from` has been appended to block `into`.
    pub(super) fn put(&mut self, from: Block, into: Block) {
        self.into[from] = Some(into);
        let end = self.last[into].unwrap_or(into);
        self.next[end] = Some(from);
        self.last[into] = Some(self.last[from].unwrap_or(from));
    }
}

/// The old and the current positions of the instructions.
#[derive(Clone, Copy)]
struct Moves<'a> {
    order: &'a Order,
    now: &'a Order,
    merged: &'a Merged,
}

/// Finds the new anchors for the records of a block, one record after the other: the old anchor if it is
/// still in place, otherwise the instruction that followed it. An instruction that was rejected as anchor for
/// one record is rejected for all later records, so each instruction is examined once.
struct Sweep<'a> {
    func: &'a Function,
    moves: Moves<'a>,
    /// `block`: the block to which the records belonged. `home`: the block that contains its code in the
    /// current order.
    block: Option<Block>,
    home: Option<Block>,
    /// `part`: the block whose old instructions are being searched. `hops`: the number of blocks searched
    /// before `part`. `moved`: the block that contains the old terminator of `part` in the current order.
    part: Block,
    hops: u32,
    moved: Option<Block>,
    /// The part of the old order in `part` that has not been searched yet: from `at` to `end`.
    at: u32,
    end: u32,
    /// `floor`: lowest place that a new anchor may have. An instruction at a lower place has moved up past
    /// the last anchor. In a block that was appended to others, it may also have moved up past the code of
    /// those blocks (their ends are in `floors`) or past code of the block itself; `passed` is the index in
    /// the old order up to which that code has been taken into account.
    floor: u32,
    floors: &'a mut SecondaryMap<Block, Option<u32>>,
    passed: u32,
    /// Anchor for all remaining records, set once the search has reached the end of the old order.
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

    /// Starts with the records of another block.
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

    /// Computes `floors` for the blocks that were merged into `home`: for each block, the end of the code of
    /// the blocks before it. Each block is computed once.
    fn find_floors(&mut self, home: Block) {
        let (mut next, mut floor) = (Some(home), 0);
        while let Some(part) = next.filter(|&part| self.floors[part].is_none()) {
            self.floors[part] = Some(floor);
            // The search starts at the end of the block because the last anchor is usually there.
            let insts = self.moves.order.block_insts(part).unwrap_or(&[]).iter().rev();
            floor = insts.fold(floor, |floor, &inst| self.below(floor, inst, home));
            next = self.moves.merged.next[part];
        }
    }

    /// Returns the place of `inst` if that is greater than `floor` and `inst` is an anchor in `home`;
    /// otherwise returns `floor`.
    #[inline]
    fn below(&self, floor: u32, inst: Inst, home: Block) -> u32 {
        let place = self.moves.now.position(inst);
        let is_lower = place > floor && self.func.insts[inst].block == home && is_anchor(self.func, inst);
        if is_lower { place } else { floor }
    }

    /// In a block that was appended to others, raises the floor past the instructions that preceded `before`
    /// in the old order.
    fn pass(&mut self, before: Inst) {
        let Some(home) = self.home.filter(|_| self.passed != u32::MAX) else { return };
        let Moves { order, .. } = self.moves;
        let end = order.position(before).saturating_sub(1);
        while self.passed < end {
            self.floor = self.below(self.floor, order.insts[self.passed as usize], home);
            self.passed += 1;
        }
    }

    /// Returns the new anchor for the next record, whose old anchor is `before`, and the number of merged
    /// blocks between the old and the new anchor.
    #[inline]
    fn anchor(&mut self, before: Inst) -> Option<(Inst, u32)> {
        self.pass(before);
        let place = self.moves.now.position(before);
        // Fast path: most anchors have not moved.
        let is_home = || self.home == Some(self.func.insts[before].block);
        if place >= self.floor.max(1) && is_home() && is_anchor(self.func, before) {
            self.floor = place;
            return Some((before, 0));
        }
        self.search(before)
    }

    fn search(&mut self, before: Inst) -> Option<(Inst, u32)> {
        let Moves { order, now, .. } = self.moves;
        let Some(place) = order.position(before).checked_sub(1) else {
            // The anchor did not exist when the records were last reconciled. A pass has created it together
            // with the record, so the record is already in the right place.
            return (now.position(before) != 0).then_some((before, 0));
        };
        let home = self.home?;
        if self.hops == 0 {
            self.at = self.at.max(place);
        }
        loop {
            while self.at < self.end {
                let inst = order.insts[self.at as usize];
                if self.is_still_anchor(inst, home) {
                    return Some((inst, self.hops));
                }
                self.at += 1;
            }
            if let Some(last) = self.last {
                return last.map(|last| (last, 0));
            }
            match self.moves.merged.next[self.part] {
                // The bound stops the search if the chain of merged blocks is a cycle.
                Some(to) if self.hops < order.insts.len() as u32 => {
                    self.hops += 1;
                    self.enter(to);
                }
                _ => self.last = Some(self.moves.new_end(home)),
            }
        }
    }

    /// Starts searching the old instructions of block `part`.
    fn enter(&mut self, part: Block) {
        let Moves { order, now, .. } = self.moves;
        (self.at, self.end) = order.blocks[part].unwrap_or((0, 0));
        let last = order.block_insts(part).and_then(<[Inst]>::last).filter(|&&last| now.position(last) != 0);
        self.moved = last.map(|&last| self.func.insts[last].block);
        self.part = part;
    }

    /// Returns whether an instruction of the block that is being searched can still be an anchor. It must be
    /// in its own block or in the block to which the code of its own block went: that block was merged into
    /// another, or it was split and its terminator moved as well. Otherwise the instruction was moved on its
    /// own.
    fn is_still_anchor(&mut self, inst: Inst, home: Block) -> bool {
        let Moves { order, now, .. } = self.moves;
        let place = now.position(inst);
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
    /// Returns whether the block has the same instructions as before and all its records have valid anchors.
    fn is_untouched(&self, func: &Function, block: Block, records: &[Record]) -> bool {
        let Moves { order, now, .. } = self;
        let same = order.block_insts(block).is_some_and(|insts| now.block_insts(block) == Some(insts));
        same && records.iter().all(|record| is_anchor(func, record.before))
    }

    /// Returns the first of the new instructions at the end of the block, which have replaced its terminator;
    /// the last instruction if none is new.
    fn new_end(&self, home: Block) -> Option<Inst> {
        let insts = self.now.block_insts(home)?;
        let new = insts.iter().rev().take_while(|&&inst| self.order.position(inst) == 0).count();
        insts.get(insts.len().checked_sub(new.max(1))?).copied()
    }

    /// Returns the block that contains the code of `block` in the current order; `None` if the block was
    /// removed without being merged: its code is gone, or has been moved into another block where it is
    /// executed unconditionally.
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

/// Returns whether an instruction is a valid anchor: passes leave it in place as long as it exists. Constants
/// and addresses are not valid anchors because passes move them to their uses.
pub(super) fn is_anchor(func: &Function, inst: Inst) -> bool {
    !matches!(
        func.insts[inst].op,
        Op::Const(_) | Op::GlobalAddr(_) | Op::FuncAddr(_) | Op::SlotAddr(_) | Op::Pos(_)
    )
}
