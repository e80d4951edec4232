//! Linear scan: chooses the registers to spill at program points where too many registers are live.

use crate::rematerialise::{Recipe, Recipes};
use crate::spill::Scene;
use crate::stream::Streams;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Factor by which each loop around a use increases the weight of the use.
pub(crate) const LOOP_FACTOR: f32 = 8.0;

/// Returns the cost of rematerialising a value once, relative to a reload from a slot, which costs 1 and also
/// needs a store. Constants are cheaper, because the moves of constants run in parallel with the vector unit.
fn remake_cost(recipe: Recipe) -> f32 {
    if matches!(recipe, Recipe::Const(_)) { 0.25 } else { 1.0 }
}

/// Scratch memory of the scan.
#[derive(Default)]
pub(crate) struct Scan {
    /// For each register, the cost of spilling it: the number of uses weighted by loop depth, divided by the
    /// length of the live range.
    weight: Vec<f32>,
    /// Beginning, end and register of each interval.
    starts: Vec<(u32, u32, u32)>,
    /// For each register, the end of the interval in which it is live at the current point, or 0 if it is not
    /// live.
    live_until: Vec<u32>,
    /// The live registers in two heaps: `by_end` is ordered by the end of the current interval, the other
    /// heap by weight. Registers that are no longer live or have been chosen to be spilled stay in the heaps
    /// until they come to the top, because removing them earlier would need a search.
    by_end: BinaryHeap<Reverse<(u32, u32)>>,
    by_weight: BinaryHeap<Reverse<(u32, u32)>>,
    evicted: Vec<bool>,
}

impl Scan {
    /// Chooses registers to spill, so that at most `room` of the remaining ones are live at any point. Across
    /// a call, fewer may stay live, because the call clobbers hardware registers. Only those among the first
    /// `across` hardware registers that the call does not clobber can be used there. Registers marked in
    /// `fixed` are never chosen.
    pub fn run(
        &mut self,
        Scene { streams, groups, class, .. }: Scene,
        fixed: &[bool],
        recipes: &Recipes,
        (room, across): (u32, u32),
        chosen: &mut Vec<u32>,
    ) {
        let stream = &streams.class[class];
        let mut calls = stream.calls.iter().peekable();
        self.weigh(streams, class);
        self.starts.clear();
        self.by_end.clear();
        self.by_weight.clear();
        self.evicted.clear();
        self.evicted.resize(streams.phys_base as usize, false);
        self.live_until.clear();
        self.live_until.resize(streams.phys_base as usize, 0);
        chosen.clear();
        for reg in 0..streams.phys_base {
            let range = groups.range_of(reg);
            let length: u32 = range.iter().map(|&(from, to)| to - from).sum();
            let weight = &mut self.weight[reg as usize];
            *weight *= recipes.get(reg).map_or(1.0, remake_cost) / length.max(1) as f32;
            if fixed[reg as usize] {
                *weight = f32::INFINITY;
            }
            self.starts.extend(range.iter().map(|&(from, to)| (from, to, reg)));
        }
        self.starts.sort_unstable();
        let mut live = 0;
        for i in 0..self.starts.len() {
            let (from, to, reg) = self.starts[i];
            while let Some(&(pos, _)) = calls.next_if(|call| call.0 + 2 < from) {
                self.expire(pos + 2, &mut live);
                let left = across.saturating_sub(stream.lost_at(pos, across));
                self.evict(left, &mut live, chosen);
            }
            self.expire(from, &mut live);
            if self.evicted[reg as usize] {
                continue;
            }
            self.live_until[reg as usize] = to;
            self.by_end.push(Reverse((to, reg)));
            let weight = self.weight[reg as usize];
            if weight < f32::INFINITY {
                // Non-negative floats are ordered like their bits.
                self.by_weight.push(Reverse((weight.to_bits(), reg)));
            }
            live += 1;
            self.evict(room, &mut live, chosen);
        }
        for &(pos, _) in calls {
            self.expire(pos + 2, &mut live);
            let left = across.saturating_sub(stream.lost_at(pos, across));
            self.evict(left, &mut live, chosen);
        }
        chosen.sort_unstable();
    }

    /// Marks the registers whose interval ends at or before the point `by` as no longer live.
    fn expire(&mut self, by: u32, live: &mut u32) {
        while let Some(&Reverse((end, reg))) = self.by_end.peek().filter(|top| top.0.0 <= by) {
            self.by_end.pop();
            if self.live_until[reg as usize] == end {
                self.live_until[reg as usize] = 0;
                *live -= 1;
            }
        }
    }

    /// Chooses the live registers that are cheapest to spill, until at most `room` others are live.
    fn evict(&mut self, room: u32, live: &mut u32, chosen: &mut Vec<u32>) {
        while *live > room {
            let Some(Reverse((_, reg))) = self.by_weight.pop() else { break };
            if std::mem::take(&mut self.live_until[reg as usize]) != 0 {
                self.evicted[reg as usize] = true;
                *live -= 1;
                chosen.push(reg);
            }
        }
    }

    /// Computes the first part of each register's weight: the number of its uses, where a use in a loop
    /// counts more.
    fn weigh(&mut self, streams: &Streams, class: usize) {
        let stream = &streams.class[class];
        self.weight.clear();
        self.weight.resize(streams.phys_base as usize, 0.0);
        for event in &stream.events {
            let weight = LOOP_FACTOR.powi(i32::from(event.depth.min(8)));
            for op in stream.ops_of(event) {
                for &reg in stream.regs_of(op) {
                    if let Some(sum) = self.weight.get_mut(reg as usize) {
                        *sum += weight;
                    }
                }
            }
        }
    }
}
