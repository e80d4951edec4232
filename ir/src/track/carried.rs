//! Records on their way to where they stand now: what stands at one place together, in the order of the code.

use super::{Leaf, Record, Variable};
use std::ops::Range;

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
    /// Of another function.
    pub(super) fn clear(&mut self) {
        let Leaves { first, said, group, told, rounds } = self;
        first.clear();
        said.clear();
        told.clear();
        (*group, *rounds) = (0, 0);
    }

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
    pub(super) records: Vec<Record>,
    /// What stands at one place, or is a whole block's.
    groups: Vec<Group>,
    pub(super) leaves: Leaves,
    /// The first group of those at the last place, and whether they may have some that nobody sees.
    last: usize,
    is_raw: bool,
    /// Some groups are to come in front of others.
    pub(super) is_mixed: bool,
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
    pub(super) fn begin(&mut self, variables: &[Variable]) {
        self.leaves.number(variables);
        self.records.clear();
        self.groups.clear();
        (self.last, self.is_raw, self.is_mixed) = (0, false, false);
    }

    /// Records come next that stand at a place, and came there over so many blocks.
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

    /// Nothing more comes to the last place.
    pub(super) fn end(&mut self) {
        if self.is_raw {
            prune(&mut self.records, &mut self.groups[self.last..], &mut self.leaves);
        }
    }

    /// Puts in order what is mixed.
    pub(super) fn arrange(&mut self, spare: &mut Spare) {
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

    /// Numbers below `most`, in no order.
    struct Random(u64);

    impl Random {
        fn below(&mut self, most: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 % most as u64) as usize
        }
    }

    /// Few stretches and many, what comes first and what does not.
    #[test]
    fn merging_is_sorting_that_leaves_what_is_equal() {
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

    /// What is left of records in front of one instruction, by the rule and not by marks.
    fn seen(records: &[Record]) -> Vec<Record> {
        let is_seen = |n: usize| match records[n].what.leaf() {
            Some(leaf) => !records[n + 1..].iter().any(|later| later.what.leaf() == Some(leaf)),
            None => n + 1 == records.len(),
        };
        (0..records.len()).filter(|&n| is_seen(n)).map(|n| records[n]).collect()
    }

    /// Groups come in order and mixed, several to a place, over different numbers of blocks.
    #[test]
    fn of_each_place_what_counts_is_left_in_order() {
        let leaves = smallvec![(0, 4), (4, 4), (8, 4)];
        let (name, loc, scope) = ("v".into(), SrcLoc(1), 0..1);
        let variable = Variable {
            name,
            ty: 0,
            loc,
            scope,
            parameter: None,
            home: None,
            is_value: true,
            leaves,
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
                    let leaf = Leaf { variable: 0, leaf: random.below(3) as u32 };
                    let what = match random.below(3) {
                        0 => What::Statement(SrcLoc(random.below(90) as u32)),
                        1 => What::Lost(leaf),
                        _ => What::Value(leaf, Value::new(random.below(90))),
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
            let wanted: Vec<Record> = all.chunk_by(|a, b| a.before == b.before).flat_map(seen).collect();
            assert_eq!(carried.records, wanted, "{groups:?}");
        }
        assert!((100..400).contains(&mixed));
    }
}
