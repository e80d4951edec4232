//! What is written down on the way through final code: where statements begin, and the ranges of leaves.

use super::users::Users;
use super::{FinalCode, Line, Range, Where, counting};
use isa::MachInst;
use isa::track::{Held, MachTrack, Spot, What};

/// For each instruction of a block: the part that it is of, and the least point from there to the end of the part. Records of a greater
/// point come later.
pub(super) fn find_places(track: &MachTrack, insts: &[MachInst], places: &mut Vec<(usize, u32)>) {
    places.clear();
    places.resize(insts.len(), (usize::MAX, u32::MAX));
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
            // What a call is for has begun when it is made, whatever of earlier statements is done behind it.
            least = if inst.is_call() { inst.loc } else { least.min(inst.loc) };
        }
        places[n] = (part, least);
    }
}

pub(super) fn is_of(track: &MachTrack, part: usize, point: u32) -> bool {
    track.parts.get(part).is_some_and(|part| (part.first..part.end).contains(&point))
}

/// What is written down on the way.
#[derive(Debug, Default)]
pub(super) struct Writer {
    pub(super) code: FinalCode,
    /// Ranges in the order of their ends; and by leaf, how many come before its own.
    ranges: Vec<Range>,
    first: Vec<u32>,
    /// By leaf: what it is, and the range that is open.
    pub(super) held: Vec<Held>,
    pub(super) open: Vec<Option<(u32, Where)>>,
    pub(super) users: Users,
    /// Leaves of which something has been known in this part.
    known: Vec<u32>,
    /// How many parts were entered; by leaf, the last of them where it was known at the beginning, and whether it is among `known`.
    entered: u32,
    begun: Vec<(u32, bool)>,
    /// Leaves that may be somewhere else now, each once.
    pub(super) touched: Vec<u32>,
    pub(super) is_touched: Vec<bool>,
    pub(super) part: usize,
    /// The record that comes next, and statements that were written.
    pub(super) next: u32,
    pub(super) written: Vec<bool>,
}

impl Writer {
    /// Of another function.
    pub(super) fn reset(&mut self, track: &MachTrack) {
        let named = track.records.iter().filter_map(|record| match record.what {
            What::Leaf(leaf, _) => Some(leaf + 1),
            What::Statement(_) => None,
        });
        let leaves = named.max().unwrap_or(0) as usize;
        self.held.clear();
        self.held.resize(leaves, Held::Lost);
        self.open.clear();
        self.open.resize(leaves, None);
        self.is_touched.clear();
        self.is_touched.resize(leaves, false);
        self.written.clear();
        self.written.resize(track.records.len(), false);
        self.touched.clear();
        self.known.clear();
        self.begun.clear();
        self.begun.resize(leaves, (0, false));
        self.entered = 0;
        self.code.lines.reserve(64);
        self.ranges.clear();
        self.users.reset(track, leaves);
        (self.part, self.next) = (usize::MAX, 0);
    }

    /// Leaves are what they are at the beginning of a part.
    pub(super) fn enter(&mut self, track: &MachTrack, part: usize) {
        self.part = part;
        self.entered += 1;
        if let Some(own) = track.parts.get(part) {
            self.next = own.records.0;
            for &(leaf, held) in &track.heads[own.heads.0 as usize..own.heads.1 as usize] {
                self.set(leaf, held);
                if let Some(begun) = self.begun.get_mut(leaf as usize) {
                    *begun = (self.entered, false);
                }
            }
        }
        // Where registers are is another question than what leaves are.
        let mut known = std::mem::take(&mut self.known);
        known.retain(|&leaf| {
            self.touch(leaf);
            let (entered, is_listed) = &mut self.begun[leaf as usize];
            if *entered == self.entered {
                return !std::mem::replace(is_listed, true);
            }
            self.set(leaf, Held::Lost);
            false
        });
        self.known = known;
    }

    pub(super) fn set(&mut self, leaf: u32, held: Held) {
        let Some(own) = self.held.get_mut(leaf as usize) else { return };
        let before = std::mem::replace(own, held);
        if before == held {
            return;
        }
        if before == Held::Lost {
            self.known.push(leaf);
        }
        self.touch(leaf);
        self.users.set(leaf, held);
    }

    /// Records in front of instruction `n` of the block; the statement that begins there.
    pub(super) fn records(&mut self, track: &MachTrack, (part, least): (usize, u32)) -> Option<u32> {
        if part != self.part && part != usize::MAX {
            self.enter(track, part);
        }
        let own = track.parts.get(self.part)?;
        let mut statement = None;
        while self.next < own.records.1 {
            let record = track.records[self.next as usize];
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
    pub(super) fn is_due(&self, track: &MachTrack, (part, least): (usize, u32)) -> bool {
        let own = track.parts.get(part);
        let next = match own {
            Some(own) if part != self.part => own.records.0,
            _ => self.next,
        };
        let is_next = own.is_some_and(|own| next < own.records.1);
        is_next && track.records.get(next as usize).is_some_and(|record| record.point <= least)
    }

    /// Watched registers have values now, or have none any more: leaves that are in them, or computed of them, may be somewhere else.
    pub(super) fn changed(&mut self, watched: &[u32], is_asked: impl Fn(u32) -> bool) {
        let Writer { users, touched, is_touched, .. } = self;
        users.reached(watched, is_asked, |leaf| {
            if !std::mem::replace(&mut is_touched[leaf as usize], true) {
                touched.push(leaf);
            }
        });
    }

    pub(super) fn touch(&mut self, leaf: u32) {
        if !std::mem::replace(&mut self.is_touched[leaf as usize], true) {
            self.touched.push(leaf);
        }
    }

    /// Closes and opens ranges of leaves that are somewhere else now.
    pub(super) fn refresh(
        &mut self,
        track: &MachTrack,
        offset: u32,
        mut place: impl FnMut(&Spot) -> Option<Where>,
    ) {
        if self.touched.is_empty() {
            return;
        }
        let mut touched = std::mem::take(&mut self.touched);
        for leaf in touched.drain(..) {
            self.is_touched[leaf as usize] = false;
            let now = match self.held[leaf as usize] {
                Held::Lost => None,
                Held::Constant(bits) => Some(Where::Constant(bits)),
                Held::Spot(spot) => place(&track.spots[spot as usize]),
                Held::Memory(slot) => track.slots.get(slot as usize).map(|&offset| Where::Memory(offset)),
            };
            let open = &mut self.open[leaf as usize];
            if open.map(|open| open.1) != now {
                if let Some((start, place)) = open.take()
                    && start < offset
                {
                    self.ranges.push(Range { leaf, start, end: offset, place });
                }
                *open = now.map(|place| (offset, place));
            }
        }
        self.touched = touched;
    }

    pub(super) fn line(&mut self, start: u32, loc: u32, statement: Option<u32>) {
        let last = self.code.lines.last();
        let line = match statement {
            Some(loc) => Line { start, loc, is_statement: true },
            None => Line { start, loc, is_statement: false },
        };
        if line.is_statement || last.is_none_or(|last| last.loc != loc) {
            self.code.lines.push(line);
        }
    }

    pub(super) fn finish(&mut self, end: u32) -> FinalCode {
        for (leaf, open) in self.open.iter().enumerate() {
            if let Some((start, place)) = *open
                && start < end
            {
                self.ranges.push(Range { leaf: leaf as u32, start, end, place });
            }
        }
        // Those of a leaf were closed one after the other.
        let mut code = std::mem::take(&mut self.code);
        let leaf = |range: &Range| range.leaf as usize;
        counting::sort(&self.ranges, self.open.len(), leaf, &mut code.ranges, &mut self.first);
        code.size = end;
        code
    }
}
