//! Finds the fragments (scalar parts of variables) whose location may change when a watched register receives
//! or loses its value. There are two kinds: fragments whose value is in the register, and fragments that a
//! debugger computes from the register.

use super::walker::NONE;
use super::{MOST_STEPS, counting};
use mir::track::{FragmentLocation, MachTrack};

/// Dependencies in two steps: from watched registers to the tracked values that they hold, and from tracked
/// values to the fragments of variables that have these values. A tracked value is held by one or more
/// watched registers.
#[derive(Debug, Default)]
pub(super) struct Users {
    /// For each watched register (one that debug information follows), the number of the tracked value that
    /// the register holds, or holds a dword of.
    tracked_values: Vec<u32>,
    /// Which tracked values are computed from which other tracked values. `named` has a pair for each
    /// operand: the operand, and the value that is computed from it. `users` has the same pairs sorted by
    /// operand. For each tracked value, `first` has the index in `users` of the first pair in which the value
    /// is the operand.
    named: Vec<(u32, u32)>,
    users: Vec<(u32, u32)>,
    first: Vec<u32>,
    /// Linked lists of the fragments that have each tracked value. `fragments` has the first fragment of each
    /// tracked value, and `links` has for each fragment the previous and the next fragment in the list.
    fragments: Vec<u32>,
    links: Vec<[u32; 2]>,
    /// For each fragment, the tracked value that is currently its value.
    of: Vec<u32>,
    /// `changes` is the number of changes so far. `reached` has, for each tracked value, the number of the
    /// last change that visited it, so that one change visits a tracked value only once.
    reached: Vec<u32>,
    changes: u32,
    /// Worklists of a breadth-first search over the values that are computed from each other: the tracked
    /// values of the current step (`next`), and those of the step after it (`far`).
    next: Vec<u32>,
    far: Vec<u32>,
}

impl Users {
    /// Prepares for another function, which has `fragments` fragments. At first no fragment has a tracked
    /// value.
    pub(super) fn reset(&mut self, track: &MachTrack, fragments: usize) {
        let count = track.tracked_values.len();
        let fill = |table: &mut Vec<u32>, len: usize, with: u32| {
            table.clear();
            table.resize(len, with);
        };
        fill(&mut self.tracked_values, track.watched.len(), NONE);
        fill(&mut self.fragments, count, NONE);
        fill(&mut self.of, fragments, NONE);
        fill(&mut self.reached, count, 0);
        self.links.clear();
        self.links.resize(fragments, [NONE; 2]);
        self.changes = 0;
        let Users { tracked_values, named, first, users, .. } = self;
        named.clear();
        for (tracked, number) in track.tracked_values.iter().zip(0u32..) {
            for (start, count) in [
                (tracked.vector, tracked.dwords),
                (tracked.scalar, tracked.dwords),
                (tracked.mask, track.mask_dwords),
            ] {
                if start != NONE {
                    tracked_values[start as usize..start as usize + usize::from(count)].fill(number);
                }
            }
            if let Some(term) = track.terms.get(tracked.term as usize) {
                let operands = term.args.iter().filter_map(|arg| match arg {
                    FragmentLocation::Tracked(operand) => Some((*operand, number)),
                    _ => None,
                });
                named.extend(operands);
            }
        }
        counting::sort(named, count, |&(operand, _)| operand as usize, users, first);
    }

    /// Notes that the fragment is `held` from here on.
    pub(super) fn set(&mut self, fragment: u32, held: FragmentLocation) {
        let now = if let FragmentLocation::Tracked(tracked) = held { tracked } else { NONE };
        let before = std::mem::replace(&mut self.of[fragment as usize], now);
        let [left, right] = self.links[fragment as usize];
        if let Some(links) = self.links.get_mut(left as usize) {
            links[1] = right;
        } else if before != NONE {
            self.fragments[before as usize] = right;
        }
        if let Some(links) = self.links.get_mut(right as usize) {
            links[0] = left;
        }
        self.links[fragment as usize] = [NONE; 2];
        if now != NONE {
            let first = std::mem::replace(&mut self.fragments[now as usize], fragment);
            self.links[fragment as usize][1] = first;
            if let Some(links) = self.links.get_mut(first as usize) {
                links[0] = fragment;
            }
        }
    }

    /// Calls `reach` for each fragment whose location may change because the `watched` registers have
    /// received or lost their values. `is_asked` says whether a tracked value is an operand of some computed
    /// value, so that the search must go on to the values computed from it.
    pub(super) fn reached(
        &mut self,
        watched: &[u32],
        is_asked: impl Fn(u32) -> bool,
        mut reach: impl FnMut(u32),
    ) {
        if watched.is_empty() {
            return;
        }
        self.changes += 1;
        for &watched in watched {
            self.visit_tracked(self.tracked_values[watched as usize], &is_asked, &mut reach);
        }
        for _ in 0..MOST_STEPS {
            if self.far.is_empty() {
                return;
            }
            std::mem::swap(&mut self.next, &mut self.far);
            while let Some(tracked) = self.next.pop() {
                for user in self.first[tracked as usize]..self.first[tracked as usize + 1] {
                    self.visit_tracked(self.users[user as usize].1, &is_asked, &mut reach);
                }
            }
        }
        self.far.clear();
    }

    /// Visits a tracked value that a change affects, unless the same change has visited it before.
    fn visit_tracked(&mut self, tracked: u32, is_asked: &impl Fn(u32) -> bool, reach: &mut impl FnMut(u32)) {
        match self.reached.get_mut(tracked as usize) {
            Some(reached) if *reached != self.changes => *reached = self.changes,
            _ => return,
        }
        if is_asked(tracked) {
            self.far.push(tracked);
        }
        let mut fragment = self.fragments[tracked as usize];
        while fragment != NONE {
            reach(fragment);
            fragment = self.links[fragment as usize][1];
        }
    }
}
