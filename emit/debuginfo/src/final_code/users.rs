//! Finds the fragments whose location may change when a watched register changes: fragments that are in the
//! register, and fragments that are computed from it.

use super::walker::NONE;
use super::{MOST_STEPS, counting};
use mir::track::{Held, MachTrack};

/// Dependencies from watched registers to spots (values in watched registers), and from spots to fragments of
/// variables.
#[derive(Debug, Default)]
pub(super) struct Users {
    /// For each watched register, the number of the spot (value) of which the register holds a dword.
    spots: Vec<u32>,
    /// `named`: pairs of an operand spot and the spot that is computed from that operand. `users`: the
    /// computing spots, sorted by operand. `first`: for each operand, the index of its first element in
    /// `users`.
    named: Vec<(u32, u32)>,
    users: Vec<(u32, u32)>,
    first: Vec<u32>,
    /// Linked lists of the fragments ("leaves") in each spot: for each spot, its first fragment; for each
    /// fragment, the previous and the next fragment of the same spot.
    leaves: Vec<u32>,
    links: Vec<[u32; 2]>,
    /// For each fragment, the spot that holds the fragment.
    of: Vec<u32>,
    /// For each spot, the number of the last change that reached the spot. The last field counts the changes
    /// so far. Together they prevent that a change visits a spot twice.
    reached: Vec<u32>,
    changes: u32,
    /// Worklists of a breadth-first search: spots whose users are visited in the current step, and spots
    /// whose users are visited in the next step.
    next: Vec<u32>,
    far: Vec<u32>,
}

impl Users {
    /// Prepares for another function with this number of fragments (`leaves`). No fragment has a spot yet.
    pub(super) fn reset(&mut self, track: &MachTrack, leaves: usize) {
        let count = track.spots.len();
        let fill = |table: &mut Vec<u32>, len: usize, with: u32| {
            table.clear();
            table.resize(len, with);
        };
        fill(&mut self.spots, track.watched.len(), NONE);
        fill(&mut self.leaves, count, NONE);
        fill(&mut self.of, leaves, NONE);
        fill(&mut self.reached, count, 0);
        self.links.clear();
        self.links.resize(leaves, [NONE; 2]);
        self.changes = 0;
        let Users { spots, named, first, users, .. } = self;
        named.clear();
        for (spot, number) in track.spots.iter().zip(0u32..) {
            for (start, count) in
                [(spot.vector, spot.dwords), (spot.scalar, spot.dwords), (spot.mask, track.mask_dwords)]
            {
                if start != NONE {
                    spots[start as usize..start as usize + usize::from(count)].fill(number);
                }
            }
            if let Some(term) = track.terms.get(spot.term as usize) {
                let operands = term.args.iter().filter_map(|arg| match arg {
                    Held::Spot(operand) => Some((*operand, number)),
                    _ => None,
                });
                named.extend(operands);
            }
        }
        counting::sort(named, count, |&(operand, _)| operand as usize, users, first);
    }

    /// Notes that the fragment is `held` from here on.
    pub(super) fn set(&mut self, leaf: u32, held: Held) {
        let now = if let Held::Spot(spot) = held { spot } else { NONE };
        let before = std::mem::replace(&mut self.of[leaf as usize], now);
        let [left, right] = self.links[leaf as usize];
        if let Some(links) = self.links.get_mut(left as usize) {
            links[1] = right;
        } else if before != NONE {
            self.leaves[before as usize] = right;
        }
        if let Some(links) = self.links.get_mut(right as usize) {
            links[0] = left;
        }
        self.links[leaf as usize] = [NONE; 2];
        if now != NONE {
            let first = std::mem::replace(&mut self.leaves[now as usize], leaf);
            self.links[leaf as usize][1] = first;
            if let Some(links) = self.links.get_mut(first as usize) {
                links[0] = leaf;
            }
        }
    }

    /// Calls `reach` for each fragment whose location may be affected by a change of the `watched` registers.
    /// `is_asked` returns whether a spot was an operand of some computed value, so that its users must be
    /// visited, too.
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
            self.spot(self.spots[watched as usize], &is_asked, &mut reach);
        }
        for _ in 0..MOST_STEPS {
            if self.far.is_empty() {
                return;
            }
            std::mem::swap(&mut self.next, &mut self.far);
            while let Some(spot) = self.next.pop() {
                for user in self.first[spot as usize]..self.first[spot as usize + 1] {
                    self.spot(self.users[user as usize].1, &is_asked, &mut reach);
                }
            }
        }
        self.far.clear();
    }

    /// Visits a spot that a change has reached, unless the same change has visited the spot before.
    fn spot(&mut self, spot: u32, is_asked: &impl Fn(u32) -> bool, reach: &mut impl FnMut(u32)) {
        match self.reached.get_mut(spot as usize) {
            Some(reached) if *reached != self.changes => *reached = self.changes,
            _ => return,
        }
        if is_asked(spot) {
            self.far.push(spot);
        }
        let mut leaf = self.leaves[spot as usize];
        while leaf != NONE {
            reach(leaf);
            leaf = self.links[leaf as usize][1];
        }
    }
}
