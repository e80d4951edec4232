//! Linear scan: which registers give way where too many are live.

use crate::groups::Groups;
use crate::spill::range_of;
use crate::stream::Streams;

/// A use in a loop counts this much more than one outside, per level.
pub(crate) const LOOP_FACTOR: f32 = 8.0;

/// Scratch memory of the scan.
#[derive(Default)]
pub(crate) struct Scan {
    /// Uses for the length of the range, by register.
    weight: Vec<f32>,
    /// Beginning, end and register of each interval.
    starts: Vec<(u32, u32, u32)>,
    /// End and register of what is live.
    active: Vec<(u32, u32)>,
    evicted: Vec<bool>,
}

impl Scan {
    /// Chooses registers without which no more than `room` are live anywhere; `fixed` ones are never chosen.
    pub fn run(
        &mut self,
        streams: &Streams,
        groups: &Groups,
        class: usize,
        fixed: &[bool],
        room: u32,
        chosen: &mut Vec<u32>,
    ) {
        self.weigh(streams, class);
        self.starts.clear();
        self.active.clear();
        self.evicted.clear();
        self.evicted.resize(streams.phys_base as usize, false);
        chosen.clear();
        for reg in 0..streams.phys_base {
            let range = range_of(groups, reg);
            let length: u32 = range.iter().map(|&(from, to)| to - from).sum();
            let weight = &mut self.weight[reg as usize];
            *weight = if fixed[reg as usize] { f32::INFINITY } else { *weight / length.max(1) as f32 };
            self.starts.extend(range.iter().map(|&(from, to)| (from, to, reg)));
        }
        self.starts.sort_unstable();
        for &(from, to, reg) in &self.starts {
            if self.evicted[reg as usize] {
                continue;
            }
            self.active.retain(|&(end, _)| end > from);
            self.active.push((to, reg));
            while self.active.len() > room as usize {
                let weights =
                    self.active.iter().enumerate().map(|(i, &(_, reg))| (i, self.weight[reg as usize]));
                let Some((i, weight)) = weights.min_by(|a, b| a.1.total_cmp(&b.1)) else { break };
                if weight == f32::INFINITY {
                    break;
                }
                let (_, reg) = self.active.swap_remove(i);
                self.evicted[reg as usize] = true;
                chosen.push(reg);
            }
        }
        chosen.sort_unstable();
    }

    /// Uses per register, weighted by loop depth.
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
