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
    /// Of those at the last place, some may be such that nobody sees.
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
        (self.is_raw, self.is_mixed) = (false, false);
    }

    /// Records come next that stand at a place, and came there over so many blocks.
    #[inline]
    pub(super) fn group(&mut self, place: u32, hops: u32, is_raw: bool) {
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
    pub(super) fn end(&mut self) {
        let Carried { records, groups, leaves, is_raw, .. } = self;
        if let Some(last) = groups.last().filter(|_| *is_raw).map(|group| group.place) {
            let first = groups.iter().rposition(|group| group.place != last).map_or(0, |other| other + 1);
            prune(records, &mut groups[first..], leaves);
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
