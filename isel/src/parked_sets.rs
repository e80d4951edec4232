//! Sets of blocks at which lanes may be parked, that is, wait to become active again. A block is named by its
//! position in the layout.
//!
//! Lanes are parked at blocks further down, and most of them become active again soon. So the set at a block
//! differs from the set at the preceding block only in a few of its first members. Sets are stored as lists,
//! nearest member first, that share their tails: all sets of a function together need memory proportional to
//! the function's size, whereas bit sets would need its square. Equal sets are the same list, so sets are
//! compared by comparing list numbers.

use crate::plan::{NOWHERE, Pos};
use rustc_hash::FxHashMap;

/// A set of positions; the default is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct ParkedSet(u32);

impl ParkedSet {
    const EMPTY: ParkedSet = ParkedSet(0);
}

/// Storage of the sets.
#[derive(Clone, Debug, Default)]
pub(crate) struct ParkedSets {
    /// For each list, its first member and the list with the rest; number 0 is the empty list.
    cells: Vec<(Pos, ParkedSet)>,
    known: FxHashMap<(Pos, ParkedSet), ParkedSet>,
    /// Scratch list for [`ParkedSets::union`]: the members before the tail that both sets share. Each member
    /// has one entry for each of the two sets: the list that begins at the member in this set, or `None` if
    /// the set does not contain the member.
    front: Vec<(Pos, [Option<ParkedSet>; 2])>,
}

impl ParkedSets {
    /// Removes all sets.
    pub fn clear(&mut self) {
        self.cells.clear();
        self.cells.push((NOWHERE, ParkedSet::EMPTY));
        self.known.clear();
    }

    /// Returns the member that is first in the layout, or [`NOWHERE`] if the set is empty.
    pub fn first(&self, set: ParkedSet) -> Pos {
        self.cells[set.0 as usize].0
    }

    /// Returns the set without the member `at`, which must be the first member if it is in the set.
    pub fn without(&self, set: ParkedSet, at: Pos) -> ParkedSet {
        let (first, rest) = self.cells[set.0 as usize];
        if first == at { rest } else { set }
    }

    /// Returns whether a position is a member.
    pub fn contains(&self, mut set: ParkedSet, at: Pos) -> bool {
        while self.first(set) < at {
            set = self.cells[set.0 as usize].1;
        }
        self.first(set) == at
    }

    /// Returns the set with one more member.
    pub fn with(&mut self, set: ParkedSet, at: Pos) -> ParkedSet {
        let alone = self.cell(at, ParkedSet::EMPTY);
        self.union(set, alone)
    }

    /// Returns the union of two sets. A list that already contains all remaining members is reused instead of
    /// copied.
    pub fn union(&mut self, mut a: ParkedSet, mut b: ParkedSet) -> ParkedSet {
        self.front.clear();
        while a != b && a != ParkedSet::EMPTY && b != ParkedSet::EMPTY {
            let ((first_a, rest_a), (first_b, rest_b)) = (self.cells[a.0 as usize], self.cells[b.0 as usize]);
            let (in_a, in_b) = (first_a <= first_b, first_b <= first_a);
            self.front.push((first_a.min(first_b), [in_a.then_some(a), in_b.then_some(b)]));
            if in_a {
                a = rest_a;
            }
            if in_b {
                b = rest_b;
            }
        }
        let mut set = if a == ParkedSet::EMPTY { b } else { a };
        let mut whole = [a == set, b == set];
        while let Some((at, places)) = self.front.pop() {
            for (whole, place) in whole.iter_mut().zip(places) {
                *whole &= place.is_some();
            }
            set = match places {
                [Some(there), _] if whole[0] => there,
                [_, Some(there)] if whole[1] => there,
                _ => self.cell(at, set),
            };
        }
        set
    }

    fn cell(&mut self, first: Pos, rest: ParkedSet) -> ParkedSet {
        *self.known.entry((first, rest)).or_insert_with(|| {
            self.cells.push((first, rest));
            ParkedSet(self.cells.len() as u32 - 1)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(sets: &ParkedSets, mut set: ParkedSet) -> Vec<Pos> {
        let mut all = Vec::new();
        while set != ParkedSet::EMPTY {
            all.push(sets.first(set));
            set = sets.without(set, sets.first(set));
        }
        all
    }

    #[test]
    fn lists_behave_like_sets() {
        let mut sets = ParkedSets::default();
        sets.clear();
        let build = |sets: &mut ParkedSets, list: &[Pos]| {
            list.iter().fold(ParkedSet::default(), |set, &at| sets.with(set, at))
        };
        let a = build(&mut sets, &[9, 3, 5, 3]);
        let b = build(&mut sets, &[5, 7, 9]);
        assert_eq!(members(&sets, a), [3, 5, 9]);
        let both = sets.union(a, b);
        assert_eq!(members(&sets, both), [3, 5, 7, 9]);
        assert_eq!(both, sets.union(b, a), "one list for one set");
        assert_eq!(sets.union(both, a), both);
        assert_eq!(sets.union(ParkedSet::default(), a), a);
        assert!(sets.contains(both, 7) && !sets.contains(a, 7) && !sets.contains(a, 10));
        assert_eq!((sets.first(a), sets.first(ParkedSet::default())), (3, NOWHERE));
        assert_eq!(sets.without(a, 4), a);
    }

    #[test]
    fn a_set_that_grows_at_the_front_shares_its_tail() {
        let mut sets = ParkedSets::default();
        sets.clear();
        let mut set = ParkedSet::default();
        for at in (0..10_000).rev() {
            set = sets.with(set, at);
        }
        // One cell per member, and one for the set that contains the member alone.
        assert!(sets.cells.len() <= 20_001);
        assert_eq!(sets.first(set), 0);
    }
}
