//! Sorted lists of disjoint intervals, many in one arena.
//!
//! Building the union of many small ranges one after the other is what groups and slots do most, so a union is made in
//! place: the longer list takes in the shorter, and only what lies behind the shorter one's beginning moves.

use crate::live::{Interval, Slice};

/// Lists, and how much of the arena may not be written to.
#[derive(Default)]
pub(crate) struct Ranges {
    /// All lists.
    pub intervals: Vec<Interval>,
    /// Lists that begin before belong to others too.
    shared: u32,
    /// Where a union puts the intervals of the shorter list, the last one first.
    places: Vec<usize>,
}

/// Whether two lists meet.
pub(crate) fn intersects(a: &[Interval], b: &[Interval]) -> bool {
    let (Some(first_a), Some(first_b)) = (a.first(), b.first()) else { return false };
    if a[a.len() - 1].1 <= first_b.0 || b[b.len() - 1].1 <= first_a.0 {
        return false;
    }
    let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
    if long.len() / 8 > short.len() {
        return short.iter().any(|&(from, to)| {
            let at = long.partition_point(|other| other.1 <= from);
            long.get(at).is_some_and(|other| other.0 < to)
        });
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if a[i].1 <= b[j].0 {
            i += 1;
        } else if b[j].1 <= a[i].0 {
            j += 1;
        } else {
            return true;
        }
    }
    false
}

/// Appends to a sorted list; intervals that touch become one.
pub(crate) fn push_interval(list: &mut Vec<Interval>, interval: Interval) {
    match list.last_mut() {
        Some(last) if last.1 == interval.0 => last.1 = interval.1,
        _ => list.push(interval),
    }
}

/// Room that a list of that length has at least, if it was made by [`Ranges::union`].
fn capacity(len: u32) -> u32 {
    len.next_power_of_two()
}

impl Ranges {
    /// From now on, what is there is left as it is.
    pub fn share(&mut self) {
        self.shared = self.intervals.len() as u32;
    }

    /// A list of one.
    pub fn single(&mut self, interval: Interval) -> Slice {
        self.intervals.push(interval);
        (self.intervals.len() as u32 - 1, 1)
    }

    /// The intervals of a list.
    pub fn get(&self, (start, len): Slice) -> &[Interval] {
        &self.intervals[start as usize..][..len as usize]
    }

    /// The union of two disjoint lists. Neither of them is used afterwards.
    pub fn union(&mut self, x: Slice, y: Slice) -> Slice {
        if x.1 == 0 || y.1 == 0 {
            return if x.1 == 0 { y } else { x };
        }
        let (long, short) = if x.1 < y.1 { (y, x) } else { (x, y) };
        let (start, len) = self.with_room(long, short.1);
        // From the back, so that nothing is overwritten that is still needed, and what lies between two intervals of the
        // shorter list in one piece.
        let (to, from) = (start as usize, short.0 as usize);
        let (mut i, mut j) = (len as usize, short.1 as usize);
        while j > 0 {
            let next = self.intervals[from + j - 1];
            let before = self.intervals[to..to + i].partition_point(|interval| interval.0 <= next.0);
            self.intervals.copy_within(to + before..to + i, to + before + j);
            (i, j) = (before, j - 1);
            self.intervals[to + i + j] = next;
            self.places.push(i + j);
        }
        self.close_gaps(start, (len + short.1) as usize)
    }

    /// The list where it can grow by `more`.
    fn with_room(&mut self, (start, len): Slice, more: u32) -> Slice {
        if start >= self.shared && len + more <= capacity(len) {
            return (start, len);
        }
        let moved = self.intervals.len() as u32;
        self.intervals.extend_from_within(start as usize..(start + len) as usize);
        self.intervals.resize((moved + capacity(len + more)) as usize, (0, 0));
        (moved, len)
    }

    /// Joins intervals that touch those at `places`, of which the first is the last.
    fn close_gaps(&mut self, start: u32, len: usize) -> Slice {
        let list = &mut self.intervals[start as usize..][..len];
        let mut end = self.places.last().copied().unwrap_or(len);
        while let Some(at) = self.places.pop() {
            let next = self.places.last().copied().unwrap_or(len);
            let mut from = at;
            // What is at the place, and what follows it; the rest up to the next place only moves.
            while from < next.min(at + 2) {
                if end > 0 && list[end - 1].1 == list[from].0 {
                    list[end - 1].1 = list[from].1;
                } else {
                    list[end] = list[from];
                    end += 1;
                }
                from += 1;
            }
            if from > end {
                list.copy_within(from..next, end);
            }
            end += next - from;
        }
        (start, end as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Unions in a random order give what sorting gives.
    #[test]
    fn any_order() {
        let mut state = 7u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for _ in 0..200 {
            let count = 1 + random(40);
            let mut ranges = Ranges::default();
            let mut slices: Vec<Slice> =
                (0..count as u32).map(|n| ranges.single((10 * n, 10 * n + 4 + 6 * (n % 2)))).collect();
            let originals: Vec<Interval> = ranges.intervals.clone();
            ranges.share();
            while slices.len() > 1 {
                let x = slices.swap_remove(random(slices.len()));
                let at = random(slices.len());
                assert!(!intersects(ranges.get(x), ranges.get(slices[at])));
                slices[at] = ranges.union(x, slices[at]);
            }
            let mut expected = Vec::new();
            originals.iter().for_each(|&interval| push_interval(&mut expected, interval));
            assert_eq!(ranges.get(slices[0]), expected);
            assert_eq!(ranges.intervals[..count], originals);
            for &(from, to) in &originals {
                assert!(intersects(ranges.get(slices[0]), &[(from, to)]));
            }
            assert!(!intersects(ranges.get(slices[0]), &[(4, 10), (400, 500)]));
        }
    }
}
