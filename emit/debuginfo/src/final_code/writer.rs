//! Collects the results of the walk through final code: where statements begin, and in which ranges of code
//! the fragments (scalar parts of variables) are at which location.

use super::effects::{Effect, EffectKind};
use super::users::Users;
use super::walker::NONE;
use super::{FinalCode, Line, Location, Range};
use mir::track::{FragmentLocation, MachTrack, Part, TrackedValue, What};

/// Finds out for each instruction which records take effect before it. Sets `places[n]`, for instruction
/// number `n` of a block, to a pair. The first element is the part (block of the IR) to which the instruction
/// belongs. The second is the least point (number of an IR operation) of this instruction and the later ones
/// in the part. A record whose point is not greater takes effect before the instruction, and other records
/// take effect after it.
pub(super) fn find_places(track: &MachTrack, insts: &[Effect], places: &mut Vec<(u32, u32)>) {
    places.clear();
    places.resize(insts.len(), (NONE, u32::MAX));
    let (mut part, mut least, mut first) = (NONE, u32::MAX, 0);
    for (n, inst) in insts.iter().enumerate().rev() {
        if inst.point != 0 && !is_of(track, part, inst.point) {
            // The instruction belongs to another part (block of the IR) than the instructions after it.
            // Because the loop walks backwards, a new part usually ends here. But if instructions of the
            // current part come before this instruction, too, then this instruction has only been moved into
            // the middle of the current part.
            if let Some(own) = track.part_of(inst.point).filter(|_| part == NONE || n < first) {
                (part, least) = (own as u32, u32::MAX);
                let in_part = |other: &Effect| is_of(track, part, other.point);
                first = insts[..=n].iter().position(in_part).unwrap_or(n);
            }
        }
        if is_of(track, part, inst.point) {
            // When a call is executed, its statement has begun, even if instructions of earlier statements
            // come after the call. Therefore only the point (number of the IR operation) of the call itself
            // counts here, and not the lower points of later instructions.
            let is_call = matches!(inst.does, EffectKind::Call);
            least = if is_call { inst.point } else { least.min(inst.point) };
        }
        places[n] = (part, least);
    }
}

pub(super) fn is_of(track: &MachTrack, part: u32, point: u32) -> bool {
    track.parts.get(part as usize).is_some_and(|part| (part.first..part.end).contains(&point))
}

/// Returns the point (number of an IR operation) at which a record takes effect. A record says that a
/// statement begins or that a fragment gets another value. Returns `u32::MAX` if `record` is past the last
/// record of the part (block of the IR).
fn due(track: &MachTrack, part: &Part, record: u32) -> u32 {
    let own = track.records.get(record as usize).filter(|_| record < part.records.1);
    own.map_or(u32::MAX, |record| record.point)
}

/// Results of the walk so far, and the value that each fragment has at the current instruction.
#[derive(Debug, Default)]
pub(super) struct Writer {
    pub(super) code: FinalCode,
    /// The location ranges of fragments. `ranges` has them in the order of their starts. Each range comes
    /// with the index of the previous range of the same fragment. For each fragment, `last` has the index of
    /// its last range. `open` has the same index if the last range has no end yet.
    ranges: Vec<(Range, u32)>,
    last: Vec<u32>,
    open: Vec<u32>,
    /// For each fragment, what it is at the current point.
    pub(super) held: Vec<FragmentLocation>,
    pub(super) users: Users,
    /// Fragments whose value has been known somewhere in the current part (block of the IR).
    known: Vec<u32>,
    /// `entered` is the number of parts (blocks of the IR) that the walk has entered. `begun` has a pair for
    /// each fragment. The first element is the number (as `entered` counts) of the last part at whose
    /// beginning the fragment's value was known. The second element says whether `known` contains the
    /// fragment.
    entered: u32,
    begun: Vec<(u32, bool)>,
    /// Fragments whose location may have changed at the current instruction. `is_touched` says for each
    /// fragment whether it is in the list, so that none is listed twice.
    pub(super) touched: Vec<u32>,
    pub(super) is_touched: Vec<bool>,
    pub(super) part: u32,
    /// The record that takes effect next: its index (`next`), and the point (number of an IR operation) at
    /// which it takes effect (`due`). The point is `u32::MAX` if the part (block of the IR) has no more
    /// records.
    pub(super) next: u32,
    due: u32,
    /// For each record, whether its statement was written.
    pub(super) written: Vec<bool>,
}

impl Writer {
    /// Prepares for another function with `insts` instructions.
    pub(super) fn reset(&mut self, track: &MachTrack, insts: usize) {
        let fragments = track.fragments as usize;
        self.held.clear();
        self.held.resize(fragments, FragmentLocation::Lost);
        self.open.clear();
        self.open.resize(fragments, NONE);
        self.is_touched.clear();
        self.is_touched.resize(fragments, false);
        self.written.clear();
        self.written.resize(track.records.len(), false);
        self.touched.clear();
        self.known.clear();
        self.begun.clear();
        self.begun.resize(fragments, (0, false));
        self.entered = 0;
        self.code.lines.reserve(insts);
        self.ranges.clear();
        self.last.clear();
        self.last.resize(fragments, NONE);
        self.users.reset(track, fragments);
        (self.part, self.next, self.due) = (NONE, 0, u32::MAX);
    }

    /// Enters a part (block of the IR): gives each fragment the value that it has at the beginning of the
    /// part.
    pub(super) fn enter(&mut self, track: &MachTrack, part: u32) {
        self.part = part;
        self.entered += 1;
        self.due = u32::MAX;
        if let Some(own) = track.parts.get(part as usize) {
            self.next = own.records.0;
            self.due = due(track, own, self.next);
            for &(fragment, held) in &track.heads[own.heads.0 as usize..own.heads.1 as usize] {
                self.set(fragment, held);
                if let Some(begun) = self.begun.get_mut(fragment as usize) {
                    *begun = (self.entered, false);
                }
            }
        }
        // The locations of all known fragments must be determined again: even if a fragment has the same
        // value as before, other registers may hold this value in the new part.
        let mut known = std::mem::take(&mut self.known);
        known.retain(|&fragment| {
            self.touch(fragment);
            let (entered, is_listed) = &mut self.begun[fragment as usize];
            if *entered == self.entered {
                return !std::mem::replace(is_listed, true);
            }
            self.set(fragment, FragmentLocation::Lost);
            false
        });
        self.known = known;
    }

    pub(super) fn set(&mut self, fragment: u32, held: FragmentLocation) {
        let Some(own) = self.held.get_mut(fragment as usize) else { return };
        let before = std::mem::replace(own, held);
        if before == held {
            return;
        }
        if before == FragmentLocation::Lost {
            self.known.push(fragment);
        }
        self.touch(fragment);
        self.users.set(fragment, held);
    }

    /// Applies the records (beginnings of statements, and new values of fragments) that take effect before
    /// the current instruction. The pair that `find_places` has found for the instruction is given. Returns
    /// the source location of the statement that begins at the instruction, if one begins there.
    #[inline]
    pub(super) fn records(&mut self, track: &MachTrack, (part, least): (u32, u32)) -> Option<u32> {
        if part != self.part && part != NONE {
            self.enter(track, part);
        }
        if self.due > least {
            return None;
        }
        self.records_due(track, least)
    }

    fn records_due(&mut self, track: &MachTrack, least: u32) -> Option<u32> {
        let own = track.parts.get(self.part as usize)?;
        let mut statement = None;
        while self.due <= least && self.next < own.records.1 {
            match track.records[self.next as usize].what {
                // A fragment gets another value before this instruction, after the statement has begun. So
                // all code of the statement is before the instruction, and the debugger cannot stop at the
                // statement here.
                What::Fragment(fragment, held) => {
                    self.set(fragment, held);
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
            self.due = due(track, own, self.next);
        }
        statement
    }

    /// Returns whether the next record (a statement or a new value of a fragment) takes effect before an
    /// instruction. The pair that `find_places` has found for the instruction is given.
    pub(super) fn is_due(&self, track: &MachTrack, (part, least): (u32, u32)) -> bool {
        let Some(own) = track.parts.get(part as usize) else { return false };
        let due = if part == self.part { self.due } else { due(track, own, own.records.0) };
        due != u32::MAX && due <= least
    }

    /// Marks the fragments whose location may change because the `watched` registers have received or lost
    /// their values. These are the fragments that are in the registers, and the fragments that are computed
    /// from them. `is_asked` is passed to `Users::reached`.
    pub(super) fn changed(&mut self, watched: &[u32], is_asked: impl Fn(u32) -> bool) {
        let Writer { users, touched, is_touched, .. } = self;
        users.reached(watched, is_asked, |fragment| {
            if !std::mem::replace(&mut is_touched[fragment as usize], true) {
                touched.push(fragment);
            }
        });
    }

    pub(super) fn touch(&mut self, fragment: u32) {
        if !std::mem::replace(&mut self.is_touched[fragment as usize], true) {
            self.touched.push(fragment);
        }
    }

    /// Determines the locations of the fragments in `touched` at code offset `offset`. Where a location has
    /// changed, ends the fragment's location range and begins another one.
    #[inline]
    pub(super) fn refresh(
        &mut self,
        track: &MachTrack,
        offset: u32,
        mut place: impl FnMut(&TrackedValue) -> Option<Location>,
    ) {
        if self.touched.is_empty() {
            return;
        }
        let mut touched = std::mem::take(&mut self.touched);
        for fragment in touched.drain(..) {
            self.is_touched[fragment as usize] = false;
            let now = match self.held[fragment as usize] {
                FragmentLocation::Lost => None,
                FragmentLocation::Constant(bits) => Some(Location::Constant(bits)),
                FragmentLocation::Tracked(tracked) => place(&track.tracked_values[tracked as usize]),
                FragmentLocation::Memory(slot) => {
                    track.slots.get(slot as usize).map(|&offset| Location::Memory(offset))
                }
            };
            self.set_location(fragment, now, offset);
        }
        self.touched = touched;
    }

    /// Records that a fragment is at the location `now` from code offset `offset` on. Ends the fragment's
    /// open range if it has another location.
    #[inline]
    fn set_location(&mut self, fragment: u32, now: Option<Location>, offset: u32) {
        let Writer { ranges, last, open, .. } = self;
        let (last, open) = (&mut last[fragment as usize], &mut open[fragment as usize]);
        if let Some((range, _)) = ranges.get_mut(*open as usize) {
            if Some(range.place) == now {
                return;
            }
            range.end = offset;
            *open = NONE;
        }
        if let Some(place) = now {
            *open = ranges.len() as u32;
            let before = std::mem::replace(last, *open);
            ranges.push((Range { fragment, start: offset, end: offset, place }, before));
        }
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
        for &open in &self.open {
            if let Some((range, _)) = self.ranges.get_mut(open as usize) {
                range.end = end;
            }
        }
        let mut code = std::mem::take(&mut self.code);
        code.size = end;
        code.ranges.reserve_exact(self.ranges.len());
        for &last in &self.last {
            let (start, mut next) = (code.ranges.len(), last);
            while let Some(&(range, before)) = self.ranges.get(next as usize) {
                // If a location changes twice before the same instruction, the range between the two changes
                // is empty. It is dropped.
                if range.start < range.end {
                    code.ranges.push(range);
                }
                next = before;
            }
            code.ranges[start..].reverse();
        }
        code
    }
}
