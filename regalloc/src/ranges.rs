//! Sorted lists of disjoint intervals, all stored in one array.
//!
//! Groups and slots mostly compute unions of many small lists, one after the other. A union is therefore made
//! in place: the intervals of the shorter list are inserted into the longer list, and only the intervals that
//! come after the first inserted one are moved.

use crate::live::{Interval, Slice};

/// Lists of intervals in one array. The lists at the beginning of the array have several users and must not
/// be changed.
#[derive(Default)]
pub(crate) struct Ranges {
    /// Intervals of all lists.
    pub intervals: Vec<Interval>,
    /// Index in the array. Lists that begin before it have several users and must not be changed.
    shared: u32,
    /// Working memory of [`Ranges::union`]: the positions at which it inserted intervals of the shorter list,
    /// last position first.
    places: Vec<usize>,
}

/// Returns whether two lists overlap.
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

/// Appends an interval to a sorted list. Adjacent intervals are merged.
pub(crate) fn push_interval(list: &mut Vec<Interval>, interval: Interval) {
    match list.last_mut() {
        Some(last) if last.1 == interval.0 => last.1 = interval.1,
        _ => list.push(interval),
    }
}

/// Returns the number of intervals that certainly have room in a list that [`Ranges::union`] has created and
/// that now has `len` intervals.
fn capacity(len: u32) -> u32 {
    len.next_power_of_two()
}

impl Ranges {
    /// Marks all lists that exist now as shared by several users, so that they will not be changed any more.
    pub fn share(&mut self) {
        self.shared = self.intervals.len() as u32;
    }

    /// Creates a list of one interval.
    pub fn single(&mut self, interval: Interval) -> Slice {
        self.intervals.push(interval);
        (self.intervals.len() as u32 - 1, 1)
    }

    /// Returns the intervals of a list.
    pub fn get(&self, (start, len): Slice) -> &[Interval] {
        &self.intervals[start as usize..][..len as usize]
    }

    /// Returns the union of two lists whose intervals do not overlap. Neither of the two lists may be used
    /// afterwards.
    pub fn union(&mut self, x: Slice, y: Slice) -> Slice {
        if x.1 == 0 || y.1 == 0 {
            return if x.1 == 0 { y } else { x };
        }
        let (long, short) = if x.1 < y.1 { (y, x) } else { (x, y) };
        let (start, len) = self.with_room(long, short.1);
        // Works from the end of the lists to the front, so that no interval is overwritten before it has been
        // read. The intervals of the longer list between two intervals of the shorter one are moved in one
        // block.
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

    /// Returns the list at a position where it can grow by `more`.
    fn with_room(&mut self, (start, len): Slice, more: u32) -> Slice {
        if start >= self.shared && len + more <= capacity(len) {
            return (start, len);
        }
        let moved = self.intervals.len() as u32;
        self.intervals.extend_from_within(start as usize..(start + len) as usize);
        self.intervals.resize((moved + capacity(len + more)) as usize, (0, 0));
        (moved, len)
    }

    /// Merges each interval that [`Ranges::union`] inserted with the intervals before and after it if they
    /// are adjacent. `places` has the positions of the inserted intervals, last position first.
    fn close_gaps(&mut self, start: u32, len: usize) -> Slice {
        let list = &mut self.intervals[start as usize..][..len];
        let mut end = self.places.last().copied().unwrap_or(len);
        while let Some(at) = self.places.pop() {
            let next = self.places.last().copied().unwrap_or(len);
            let mut from = at;
            // Only the inserted interval and the one after it can be merged with their predecessors. The
            // intervals after these, up to the next inserted one, are only moved.
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

    /// Unions in a random order must equal the sorted list.
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
