//! Settling: where records stand after passes that know nothing of them.
//!
//! The instructions as they were are laid beside those that there are. A record goes with its anchor; where that is gone, to what followed it. In
//! blocks in which nothing has changed, nothing is looked at.

use super::{Leaf, Record, Track, Variable, What, latest};
use crate::entity::{Block, Inst, Value};
use crate::func::{Function, ValueDef};
use crate::op::Op;
use cranelift_entity::{EntityRef, SecondaryMap};
use std::ops::Range;

/// Memory of settling.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    now: Order,
    pub(super) carried: Carried,
    spare: Spare,
    /// Blocks that have records which are not settled.
    disturbed: SecondaryMap<Block, bool>,
    /// Blocks in whose records nobody has looked for what is said again.
    pub(super) raw: SecondaryMap<Block, bool>,
}

impl Scratch {
    /// Of another function.
    pub(super) fn clear(&mut self) {
        self.raw.clear();
        let Leaves { first, said, group, told, rounds } = &mut self.carried.leaves;
        first.clear();
        said.clear();
        told.clear();
        (*group, *rounds) = (0, 0);
    }
}

/// Of which leaves something was said.
#[derive(Clone, Debug, Default)]
pub(super) struct Leaves {
    /// By variable, the number of its first leaf.
    first: Vec<u32>,
    /// By leaf, the group of records in which something was said of it last.
    said: Vec<u32>,
    group: u32,
    /// By leaf, the round in which something was said of it last, and the record that did.
    told: Vec<(u32, u32)>,
    rounds: u32,
}

impl Leaves {
    fn number(&mut self, variables: &[Variable]) {
        let mut next = self.said.len() as u32;
        for variable in &variables[self.first.len()..] {
            self.first.push(next);
            next += variable.leaves.len() as u32;
        }
        self.said.resize(next as usize, 0);
        self.told.resize(next as usize, (0, 0));
    }

    /// Another group begins.
    fn begin(&mut self) {
        self.group += 1;
    }

    /// Whether nothing has been said of a leaf in this group.
    fn is_new(&mut self, leaf: Leaf) -> bool {
        let number = self.of(leaf);
        std::mem::replace(&mut self.said[number], self.group) != self.group
    }

    /// Records are looked through from the first on, once more.
    pub(super) fn begin_round(&mut self, variables: &[Variable]) {
        self.number(variables);
        self.rounds += 1;
    }

    /// The record that has said something of a leaf last, in this round.
    pub(super) fn told(&self, leaf: usize) -> Option<usize> {
        let (round, record) = self.told[leaf];
        (round == self.rounds).then_some(record as usize)
    }

    pub(super) fn tells(&mut self, leaf: usize, record: usize) {
        self.told[leaf] = (self.rounds, record as u32);
    }

    pub(super) fn of(&self, leaf: Leaf) -> usize {
        (self.first[leaf.variable as usize] + leaf.leaf) as usize
    }
}

/// What is in order, one part after the other: its keys do not fall in a part, nor from one to the next. What has the same key stays as it is, but for
/// what is to be `first`. A few stretches that are in order, as records of code are that was copied, are not looked at one by one.
fn merge<K: Ord + Copy>(
    (len, first): (usize, Range<usize>),
    key: impl Fn(usize) -> K,
    stretches: &mut Vec<Range<usize>>,
    parts: &mut Vec<Range<usize>>,
) {
    parts.clear();
    stretches.clear();
    for range in [first.clone(), 0..first.start, first.end..len] {
        let (mut start, mut last) = (range.start, None);
        for n in range.clone() {
            let key = key(n);
            if last > Some(key) {
                stretches.push(start..n);
                start = n;
            }
            last = Some(key);
        }
        if start < range.end {
            stretches.push(start..range.end);
        }
    }
    if stretches.len() > MOST_STRETCHES {
        parts.extend(stretches.drain(..).flatten().map(|n| n..n + 1));
        parts.sort_by_key(|part| key(part.start));
        return parts.dedup_by(|next, part| {
            let follows = part.end == next.start;
            part.end = if follows { next.end } else { part.end };
            follows
        });
    }
    // What begins with the least goes up to where another stretch goes on.
    let of = |(n, stretch): (usize, &Range<usize>)| (key(stretch.start), n);
    while let Some((_, n)) = stretches.iter().enumerate().map(of).min() {
        let others = stretches.iter().enumerate().filter(|&(other, _)| other != n);
        let own = stretches[n].clone();
        let end = match others.map(of).min() {
            Some(next) => first_from(own.clone(), |at| (key(at), n) >= next),
            None => own.end,
        };
        parts.push(own.start..end);
        stretches[n].start = end;
        if stretches[n].is_empty() {
            stretches.remove(n);
        }
    }
}

/// The first of a range for which something holds that holds for all behind it; the end if there is none.
fn first_from(range: Range<usize>, holds: impl Fn(usize) -> bool) -> usize {
    let (mut from, mut to) = (range.start, range.end);
    while from < to {
        let middle = from + (to - from) / 2;
        match holds(middle) {
            true => to = middle,
            false => from = middle + 1,
        }
    }
    from
}

/// Most stretches that are merged.
const MOST_STRETCHES: usize = 16;

/// Records where they stand now.
#[derive(Clone, Debug, Default)]
pub(super) struct Carried {
    records: Vec<Record>,
    /// What stands at one place, or is a whole block's.
    groups: Vec<Group>,
    pub(super) leaves: Leaves,
    /// Of those at the last place, some may be such that nobody sees.
    is_raw: bool,
    /// Some groups are to come in front of others.
    is_mixed: bool,
}

/// Records that stand together.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// Where they stand, and from how many blocks further up they came.
    place: u32,
    hops: u32,
    /// The first.
    start: usize,
}

impl Group {
    /// By places; what comes from a block in front of another one is in front of what that one says.
    fn key(&self) -> u64 {
        u64::from(self.place) << 32 | u64::from(u32::MAX - self.hops)
    }
}

impl Carried {
    fn begin(&mut self, variables: &[Variable]) {
        self.leaves.number(variables);
        self.records.clear();
        self.groups.clear();
        (self.is_raw, self.is_mixed) = (false, false);
    }

    /// Records come next that stand at a place, and came there over so many blocks.
    #[inline]
    fn group(&mut self, place: u32, hops: u32, is_raw: bool) {
        let last = self.groups.last().copied();
        if last.is_some_and(|last| last.place == place) {
            self.is_raw = true;
            if last.is_some_and(|last| last.hops == hops) {
                return;
            }
        } else {
            self.end();
            self.is_raw = is_raw;
        }
        let group = Group { place, hops, start: self.records.len() };
        self.is_mixed |= last.is_some_and(|last| last.key() > group.key());
        self.groups.push(group);
    }

    /// Nothing more comes to the last place.
    fn end(&mut self) {
        let Carried { records, groups, leaves, is_raw, .. } = self;
        if let Some(last) = groups.last().filter(|_| *is_raw).map(|group| group.place) {
            let first = groups.iter().rposition(|group| group.place != last).map_or(0, |other| other + 1);
            prune(records, &mut groups[first..], leaves);
        }
    }

    /// Puts in order what is mixed.
    fn arrange(&mut self, spare: &mut Spare) {
        let Spare { records, stretches, parts } = spare;
        std::mem::swap(&mut self.records, records);
        self.records.clear();
        let groups = std::mem::take(&mut self.groups);
        merge((groups.len(), 0..0), |n| groups[n].key(), stretches, parts);
        // Where the last place begins, and which it is.
        let (mut start, mut last) = (0, 0);
        for part in parts {
            let begin = |n: usize| groups.get(n).map_or(records.len(), |group| group.start);
            let same = part.clone().take_while(|&n| groups[n].place == last).count();
            let middle = part.start + same;
            if same > 0 {
                self.records.extend_from_slice(&records[begin(part.start)..begin(middle)]);
                let group = Group { place: last, hops: 0, start };
                prune(&mut self.records, &mut [group], &mut self.leaves);
            }
            if middle < part.end {
                (start, last) = (self.records.len(), groups[part.end - 1].place);
                let first = part.clone().rev().take_while(|&n| groups[n].place == last).last();
                start += first.map_or(0, |first| begin(first) - begin(middle));
                self.records.extend_from_slice(&records[begin(middle)..begin(part.end)]);
            }
        }
        self.groups = groups;
    }
}

/// Forgets what nobody sees of what is in front of one instruction: of the last groups, which are these. What is said last of a leaf counts; and a
/// statement behind which nothing is said: what has done its work already has no code to stop at.
fn prune(records: &mut Vec<Record>, groups: &mut [Group], leaves: &mut Leaves) {
    let (start, len) = (groups.first().map_or(0, |group| group.start), records.len());
    if len - start < 2 {
        return;
    }
    leaves.begin();
    let (mut kept, mut end) = (len, len);
    for group in groups.iter_mut().rev() {
        for n in (group.start..end).rev() {
            let is_seen = match records[n].what.leaf() {
                Some(leaf) => leaves.is_new(leaf),
                None => kept == len,
            };
            if is_seen {
                kept -= 1;
                if kept != n {
                    records[kept] = records[n];
                }
            }
        }
        (end, group.start) = (group.start, kept);
    }
    if kept > start {
        records.copy_within(kept.., start);
        records.truncate(start + len - kept);
        groups.iter_mut().for_each(|group| group.start -= kept - start);
    }
}

/// Memory of putting in order.
#[derive(Clone, Debug, Default)]
struct Spare {
    records: Vec<Record>,
    stretches: Vec<Range<usize>>,
    parts: Vec<Range<usize>>,
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
        merge((records.len(), begun.clone()), place, &mut spare.stretches, &mut spare.parts);
    }

    /// Takes records to where they stand now.
    fn carry(&mut self, func: &Function) {
        let Track { order, scratch, records, merged, variables, replaced, is_stale, .. } = self;
        let Scratch { now, carried, spare, disturbed, raw } = scratch;
        let moves = Moves { order, now, merged };
        let mut sweep = Sweep::new(func, moves);
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

/// Where instructions were and are.
#[derive(Clone, Copy)]
struct Moves<'a> {
    order: &'a Order,
    now: &'a Order,
    merged: &'a SecondaryMap<Block, Option<Block>>,
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
    /// What has moved up past the last anchor is none.
    floor: u32,
    /// What is taken when there is nothing more to look at.
    last: Option<Option<Inst>>,
}

impl<'a> Sweep<'a> {
    fn new(func: &'a Function, moves: Moves<'a>) -> Sweep<'a> {
        let part = Block::from_u32(0);
        let (block, home, moved, last) = (None, None, None, None);
        Sweep { func, moves, block, home, part, hops: 0, moved, at: 0, end: 0, floor: 0, last }
    }

    /// Records of another block come next.
    fn begin(&mut self, block: Block) {
        if self.block != Some(block) {
            (self.block, self.home) = (Some(block), self.moves.home(block));
            (self.hops, self.floor, self.last) = (0, 0, None);
            self.enter(block);
        }
    }

    /// The anchor of the next record, which stood in front of an instruction; and the number of blocks that were merged in between.
    #[inline]
    fn anchor(&mut self, before: Inst) -> Option<(Inst, u32)> {
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
            match self.next(home) {
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

    /// The block behind the one that was looked through, if their code was put together: the jump is gone, with what it led to.
    fn next(&self, home: Block) -> Option<Block> {
        let Moves { order, now, merged } = self.moves;
        let &last = order.of(self.part)?.last()?;
        match self.func.insts[last].op {
            Op::Jump(to) if now.place(last) == 0 => {
                let follows = to != self.part && merged[to].is_some() && order.has(to);
                (follows && self.moves.home(to) == Some(home)).then_some(to)
            }
            // The block ends otherwise.
            _ => None,
        }
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
            block = self.merged[block]?;
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
