//! Collects debug records that move to other instructions: groups the records by their new place and brings
//! them into program order.

use super::{Fragment, Record, Variable};
use std::ops::Range;

/// For each fragment of a variable, the last debug record or group of records that describes the fragment.
/// Used to find superseded records.
#[derive(Clone, Debug, Default)]
pub(super) struct FragmentRecords {
    /// For each variable, the number of its first fragment.
    first: Vec<u32>,
    /// For each fragment, the last group with a record for the fragment.
    last_group: Vec<u32>,
    group: u32,
    /// For each fragment, the number of the last round in which a record described it, and the index of that
    /// record.
    last_record: Vec<(u32, u32)>,
    rounds: u32,
}

impl FragmentRecords {
    /// Prepares the memory for another function.
    pub(super) fn clear(&mut self) {
        let FragmentRecords { first, last_group: said, group, last_record: told, rounds } = self;
        first.clear();
        said.clear();
        told.clear();
        (*group, *rounds) = (0, 0);
    }

    fn number(&mut self, variables: &[Variable]) {
        let mut next = self.last_group.len() as u32;
        for variable in &variables[self.first.len()..] {
            self.first.push(next);
            next += variable.fragments.len() as u32;
        }
        self.last_group.resize(next as usize, 0);
        self.last_record.resize(next as usize, (0, 0));
    }

    /// Starts another group.
    fn begin(&mut self) {
        self.group += 1;
    }

    /// Marks the fragment as described in the current group. Returns whether it had not been marked in this
    /// group before.
    fn is_new(&mut self, fragment: Fragment) -> bool {
        let number = self.fragment_index(fragment);
        std::mem::replace(&mut self.last_group[number], self.group) != self.group
    }

    /// Starts another pass over the records from the first on.
    pub(super) fn begin_round(&mut self, variables: &[Variable]) {
        self.number(variables);
        self.rounds += 1;
    }

    /// Returns the last record of this round that describes the fragment.
    pub(super) fn last_record_of(&self, fragment: usize) -> Option<usize> {
        let (round, record) = self.last_record[fragment];
        (round == self.rounds).then_some(record as usize)
    }

    pub(super) fn set_last_record(&mut self, fragment: usize, record: usize) {
        self.last_record[fragment] = (self.rounds, record as u32);
    }

    pub(super) fn fragment_index(&self, fragment: Fragment) -> usize {
        (self.first[fragment.variable as usize] + fragment.index) as usize
    }
}

/// Merges sorted stretches of a sequence of `len` elements. Appends to `parts` the index ranges that, read in
/// order, give the elements in ascending order of their keys. Equal keys keep their order, except that
/// elements in the range `first` come before other elements with the same key. With few stretches, as after
/// code has been copied, whole ranges are moved and most elements are not compared individually.
pub(super) fn merge<K: Ord + Copy>(
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
    // Takes elements from the stretch with the smallest first key, up to the first element with a key that
    // another stretch has to provide before it.
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

/// Returns the first index in the range for which `holds` returns true, by binary search; the end of the
/// range if there is none. If `holds` is true for an index, it must be true for all later indices.
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

/// Maximum number of stretches that are merged; more stretches are sorted element by element.
const MOST_STRETCHES: usize = 16;

/// The records at their new places.
#[derive(Clone, Debug, Default)]
pub(super) struct Carried {
    pub(super) records: Vec<Record>,
    /// The groups of records: each group has the records of one place, or the records of a whole unchanged
    /// block.
    groups: Vec<Group>,
    pub(super) fragments: FragmentRecords,
    /// `last` is the index of the first group at the most recent place. `is_raw` says whether the groups
    /// there may contain superseded records, which must be removed.
    last: usize,
    is_raw: bool,
    /// Whether some groups are out of order.
    pub(super) is_mixed: bool,
}

/// A group: consecutive records that were moved together to the same place.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// `place` is the position of the instruction before which the records hold. `hops` is the number of
    /// merged blocks that the records have crossed from their old to their new instruction.
    place: u32,
    hops: u32,
    /// Index of the first record of the group.
    start: usize,
}

impl Group {
    /// Returns the sort key: first by place; at the same place, records that came over more blocks precede
    /// the others.
    fn key(&self) -> u64 {
        u64::from(self.place) << 32 | u64::from(u32::MAX - self.hops)
    }
}

impl Carried {
    pub(super) fn begin(&mut self, variables: &[Variable]) {
        self.fragments.number(variables);
        self.records.clear();
        self.groups.clear();
        (self.last, self.is_raw, self.is_mixed) = (0, false, false);
    }

    /// Starts a group of records at `place` that came there over `hops` merged blocks.
    #[inline]
    pub(super) fn group(&mut self, place: u32, hops: u32, is_raw: bool) {
        let group = |start| Group { place, hops, start };
        match self.groups.last() {
            Some(last) if last.place == place && last.hops >= hops => {
                self.is_raw = true;
                if last.hops == hops {
                    return;
                }
            }
            last => {
                self.is_mixed |= last.is_some_and(|last| last.key() > group(0).key());
                self.end();
                (self.last, self.is_raw) = (self.groups.len(), is_raw);
            }
        }
        self.groups.push(group(self.records.len()));
    }

    /// Completes the groups at the most recent place: prunes superseded records.
    pub(super) fn end(&mut self) {
        if self.is_raw {
            prune(&mut self.records, &mut self.groups[self.last..], &mut self.fragments);
        }
    }

    /// Sorts the groups if they are out of order.
    pub(super) fn arrange(&mut self, spare: &mut Spare) {
        let Spare { records, stretches, parts } = spare;
        std::mem::swap(&mut self.records, records);
        self.records.clear();
        let groups = std::mem::take(&mut self.groups);
        merge((groups.len(), 0..0), |n| groups[n].key(), stretches, parts);
        // `start` is the index of the first record at the most recent place, `last` is that place.
        let (mut start, mut last) = (0, 0);
        for part in parts {
            let begin = |n: usize| groups.get(n).map_or(records.len(), |group| group.start);
            let same = part.clone().take_while(|&n| groups[n].place == last).count();
            let middle = part.start + same;
            if same > 0 {
                self.records.extend_from_slice(&records[begin(part.start)..begin(middle)]);
                let group = Group { place: last, hops: 0, start };
                prune(&mut self.records, &mut [group], &mut self.fragments);
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

/// Removes the superseded records before one instruction; `groups` are the last groups and have all records
/// of that place. Only the last record for each fragment is kept. A statement is kept only if no record
/// follows it, because an earlier statement has no instruction left at which a debugger could stop.
fn prune(records: &mut Vec<Record>, groups: &mut [Group], fragments: &mut FragmentRecords) {
    let (start, len) = (groups.first().map_or(0, |group| group.start), records.len());
    if len - start < 2 {
        return;
    }
    fragments.begin();
    let (mut kept, mut end) = (len, len);
    for group in groups.iter_mut().rev() {
        for n in (group.start..end).rev() {
            let is_seen = match records[n].what.fragment() {
                Some(fragment) => fragments.is_new(fragment),
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

/// Reusable memory for sorting records.
#[derive(Clone, Debug, Default)]
pub(super) struct Spare {
    records: Vec<Record>,
    pub(super) stretches: Vec<Range<usize>>,
    pub(super) parts: Vec<Range<usize>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entity::{Block, Inst, Value};
    use crate::func::SrcLoc;
    use crate::track::What;
    use cranelift_entity::EntityRef;
    use smallvec::smallvec;

    /// Pseudo-random number generator.
    struct Random(u64);

    impl Random {
        fn below(&mut self, most: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 % most as u64) as usize
        }
    }

    /// Covers few and many stretches, with and without a range that goes first.
    #[test]
    fn merging_is_sorting_that_fragments_what_is_equal() {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let (mut stretches, mut parts) = (Vec::new(), Vec::new());
        for round in 0..400 {
            let len = random.below(60);
            let mut keys: Vec<usize> = (0..len).map(|_| random.below(12)).collect();
            if round % 2 == 0 {
                let middle = random.below(len + 1);
                keys[..middle].sort_unstable();
                keys[middle..].sort_unstable();
            }
            let start = random.below(len + 1);
            let first = start..start + random.below(len + 1 - start);
            merge((len, first.clone()), |n| keys[n], &mut stretches, &mut parts);
            let found: Vec<usize> = parts.iter().cloned().flatten().collect();
            let mut wanted: Vec<usize> = first.clone().chain(0..first.start).chain(first.end..len).collect();
            wanted.sort_by_key(|&n| keys[n]);
            assert_eq!(found, wanted, "{keys:?} {first:?}");
        }
    }

    fn record(place: usize, what: What) -> Record {
        Record { block: Block::new(0), before: Inst::new(place), what }
    }

    /// Returns the records before one instruction that pruning must keep, computed directly from the
    /// definition.
    fn records_kept(records: &[Record]) -> Vec<Record> {
        let is_seen = |n: usize| match records[n].what.fragment() {
            Some(fragment) => !records[n + 1..].iter().any(|later| later.what.fragment() == Some(fragment)),
            None => n + 1 == records.len(),
        };
        (0..records.len()).filter(|&n| is_seen(n)).map(|n| records[n]).collect()
    }

    /// Covers groups in order and out of order, several groups at one place, and different numbers of hops.
    #[test]
    fn of_each_place_what_counts_is_left_in_order() {
        let fragments = smallvec![(0, 4), (4, 4), (8, 4)];
        let (name, loc, scope) = ("v".into(), SrcLoc(1), 0..1);
        let variable = Variable {
            name,
            ty: 0,
            loc,
            scope,
            parameter: None,
            home: None,
            is_value: true,
            fragments,
            site: 0,
        };
        let mut random = Random(0x2545_f491_4f6c_dd1d);
        let (mut carried, mut spare) = (Carried::default(), Spare::default());
        let mut mixed = 0;
        for round in 0..400 {
            let mut groups: Vec<(usize, usize)> =
                (0..random.below(14)).map(|_| (1 + random.below(6), random.below(3))).collect();
            if round % 3 == 0 {
                groups.sort_by_key(|&(place, hops)| (place, 2 - hops));
            }
            carried.begin(std::slice::from_ref(&variable));
            let mut all = Vec::new();
            for &(place, hops) in &groups {
                carried.group(place as u32, hops as u32, true);
                for _ in 0..1 + random.below(4) {
                    let fragment = Fragment { variable: 0, index: random.below(3) as u32 };
                    let what = match random.below(3) {
                        0 => What::Statement(SrcLoc(random.below(90) as u32)),
                        1 => What::Lost(fragment),
                        _ => What::Value(fragment, Value::new(random.below(90))),
                    };
                    carried.records.push(record(place, what));
                    all.push(((place, 2 - hops), record(place, what)));
                }
            }
            carried.end();
            if carried.is_mixed {
                mixed += 1;
                carried.arrange(&mut spare);
            }
            all.sort_by_key(|&(key, _)| key);
            let all: Vec<Record> = all.into_iter().map(|(_, record)| record).collect();
            let wanted: Vec<Record> =
                all.chunk_by(|a, b| a.before == b.before).flat_map(records_kept).collect();
            assert_eq!(carried.records, wanted, "{groups:?}");
        }
        assert!((100..400).contains(&mixed));
    }
}
