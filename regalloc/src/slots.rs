//! Assigns slots to spilled registers. The number of slots is not limited. Registers whose live ranges do not
//! overlap share a slot.
//!
//! Registers that an edge connects, as argument and parameter, form a web if their ranges are disjoint. A web
//! has one slot, so that the edge needs no code. The slots of webs are chosen by colouring, in the order in
//! which their ranges begin. The colouring treats a range as one interval, from its beginning to its end. It
//! does not use the holes in ranges, so that it takes O(n log n) whatever the number of slots.

use crate::groups::Groups;
use crate::live::Slice;
use crate::ranges::{Ranges, intersects};
use crate::stream::Affinity;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const NONE: u32 = u32::MAX;

/// Scratch memory for the colouring.
#[derive(Default)]
pub(crate) struct Slots {
    ranges: Ranges,
    /// For each register, its parent in the union-find structure of webs, which are registers with a common
    /// slot. A root is its own parent.
    web: Vec<u32>,
    /// Live range of each web, at the web's root.
    range: Vec<Slice>,
    /// Beginning, end and root of each web.
    order: Vec<(u32, u32, u32)>,
    /// The slots that are in use. Each has the program point at which the live range of its last register
    /// ends, and the slot's number.
    used: BinaryHeap<Reverse<(u32, u32)>>,
}

impl Slots {
    /// Assigns a slot to each chosen register and stores it in `slot`, which is indexed by register. The
    /// first new slot has the number `first`. Returns the number of slots that exist afterwards.
    pub fn assign(
        &mut self,
        chosen: &[u32],
        affinities: &[Affinity],
        groups: &Groups,
        first: u32,
        slot: &mut [u32],
    ) -> u32 {
        self.ranges.intervals.clear();
        self.web.clear();
        self.web.resize(slot.len(), NONE);
        self.range.clear();
        self.range.resize(slot.len(), (0, 0));
        for &reg in chosen {
            let start = self.ranges.intervals.len() as u32;
            self.ranges.intervals.extend_from_slice(groups.range_of(reg));
            self.range[reg as usize] = (start, self.ranges.intervals.len() as u32 - start);
            self.web[reg as usize] = reg;
        }
        self.ranges.share();
        for affinity in affinities {
            self.join(affinity.a, affinity.b);
        }
        self.colour(chosen, first, slot)
    }

    fn root(&mut self, reg: u32) -> u32 {
        let mut reg = reg as usize;
        while self.web[reg] as usize != reg {
            let up = self.web[self.web[reg] as usize];
            self.web[reg] = up;
            reg = up as usize;
        }
        reg as u32
    }

    fn join(&mut self, a: u32, b: u32) {
        let known = |reg: u32| self.web.get(reg as usize).is_some_and(|&web| web != NONE);
        if !known(a) || !known(b) {
            return;
        }
        let (a, b) = (self.root(a), self.root(b));
        let (x, y) = (self.range[a as usize], self.range[b as usize]);
        if a != b && !intersects(self.ranges.get(x), self.ranges.get(y)) {
            self.web[b as usize] = a;
            self.range[a as usize] = self.ranges.union(x, y);
        }
    }

    fn colour(&mut self, chosen: &[u32], first: u32, slot: &mut [u32]) -> u32 {
        self.order.clear();
        for &reg in chosen {
            let range = self.ranges.get(self.range[reg as usize]);
            if let (true, Some(&(from, _)), Some(&(_, to))) =
                (self.web[reg as usize] == reg, range.first(), range.last())
            {
                self.order.push((from, to, reg));
            }
        }
        self.order.sort_unstable();
        self.used.clear();
        let mut count = first;
        for &(from, to, root) in &self.order {
            let free = self.used.peek().filter(|Reverse((end, _))| *end <= from).map(|free| free.0.1);
            if free.is_some() {
                self.used.pop();
            }
            let number = free.unwrap_or(count);
            count = count.max(number + 1);
            self.used.push(Reverse((to, number)));
            slot[root as usize] = number;
        }
        for &reg in chosen {
            let root = self.root(reg);
            slot[reg as usize] = slot[root as usize];
        }
        count
    }
}
