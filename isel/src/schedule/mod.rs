//! Moves loads up within their blocks, so that loads are issued together and one wait serves several of them.
//!
//! This is top-down list scheduling that keeps the source order, except for loads and the instructions that
//! compute their addresses. These go first as long as vector registers are available. The register limit
//! depends on occupancy: scheduling may use as many registers as keep the number of waves that the source
//! order would allow.
//!
//! # Requires
//! SSA form; blocks in three parts (prologue, body, terminator group). Only bodies are changed.
//! # Guarantees
//! Every dependence through registers, SCC, VCC, M0 and memory is kept; fences, barriers and atomics keep
//! their order relative to all memory operations.

mod graph;
mod pressure;

use graph::Graph;
use isa::table::Flags;
use isa::{MBlock, MachInst, Subtarget};
use mir::MachFunc;
use pressure::{DEF, IN_PLACE, NUMBER, PARAM, Pressure};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Bodies with fewer instructions are not scheduled.
const MIN_BODY: usize = 6;
/// Number of instructions by which a load may move up. The distance is counted, in source order, from the
/// first instruction that has not been issued yet; a load that is farther behind it must wait.
const WINDOW: u32 = 96;
/// Number of vector registers that the schedule may use in addition to those that the source order needs.
const EXTRA: u32 = 16;
const NONE: u32 = u32::MAX;

/// Reusable memory of the pass.
#[derive(Debug, Default)]
pub(crate) struct Scheduler {
    pressure: Pressure,
    graph: Graph,
    ready: Ready,
    /// The blocks to reorder. Each has the position after its last load, up to which instructions are
    /// reordered.
    blocks: Vec<(MBlock, u32)>,
    body: Vec<MachInst>,
    order: Vec<u32>,
    done: Vec<bool>,
    stack: Vec<u32>,
}

/// Reorders the bodies of a function's blocks.
pub(crate) fn run(func: &mut MachFunc, target: &Subtarget, s: &mut Scheduler) {
    let mut blocks = std::mem::take(&mut s.blocks);
    blocks.clear();
    blocks.extend(func.blocks.keys().filter_map(|block| worthwhile(func, block)));
    if !blocks.is_empty() {
        let limit = limit(s.pressure.compute(func), target);
        for &(block, end) in &blocks {
            s.block(func, target, block, end, limit);
        }
    }
    s.blocks = blocks;
}

/// Decides whether scheduling a block is worthwhile. If it is, returns the block and the position after its
/// last load, counted from the end of the prologue. Instructions from that position on keep their order.
fn worthwhile(func: &MachFunc, block: MBlock) -> Option<(MBlock, u32)> {
    let data = &func.blocks[block];
    let body = &data.insts[data.prologue as usize..data.term as usize];
    let end = body.iter().rposition(is_load)? + 1;
    let loads = body[..end].iter().filter(|inst| is_load(inst)).count();
    (end >= MIN_BODY && loads >= 2).then_some((block, end as u32))
}

/// Returns how many VGPRs the schedule may use if the source order needs `peak`. The number is at most
/// [`EXTRA`] larger than `peak`, and must not reduce the number of waves that fit on a SIMD.
fn limit(peak: u32, target: &Subtarget) -> u32 {
    let same = target.vgprs_for_waves(target.waves_by_vgprs(peak));
    // Two registers are reserved for losses in allocation.
    same.saturating_sub(2).min(peak + EXTRA).max(peak)
}

fn is_load(inst: &MachInst) -> bool {
    let flags = inst.op.row().flags;
    flags.contains(Flags::LOAD) && !flags.intersects(Flags::STORE | Flags::ATOMIC)
}

impl Scheduler {
    /// Reorders the first `end` instructions of the block's body.
    fn block(&mut self, func: &mut MachFunc, target: &Subtarget, block: MBlock, end: u32, limit: u32) {
        let from = self.pressure.flat.first(block) + func.blocks[block].prologue;
        let live = self.pressure.begin(func, block, from, from + end);
        let start = func.blocks[block].prologue as usize;
        let range = start..start + end as usize;
        let mut body = std::mem::take(&mut self.body);
        body.clear();
        body.extend_from_slice(&func.blocks[block].insts[range.clone()]);
        self.dependences(func, target, &body, from);
        self.list(&body, from, live, limit as i32);
        self.pressure.end(from, from + end);
        let insts = &mut func.blocks[block].insts[range];
        for (slot, &n) in insts.iter_mut().zip(&self.order) {
            *slot = body[n as usize];
        }
        self.body = body;
    }

    fn dependences(&mut self, func: &MachFunc, target: &Subtarget, body: &[MachInst], from: u32) {
        let Scheduler { pressure: Pressure { flat, def, .. }, graph, .. } = self;
        graph.begin(body.len());
        for (n, inst) in (0..).zip(body) {
            for &reg in flat.inst_registers(from + n) {
                let place = &mut def[(reg & NUMBER) as usize];
                if reg & DEF != 0 {
                    *place = n;
                } else if *place < PARAM {
                    graph.flow(*place, n);
                    if reg & IN_PLACE != 0 {
                        *place = n;
                    }
                }
            }
            graph.instruction(func, target, n, inst);
        }
        graph.finish(body);
    }

    /// Chooses the order of the instructions.
    fn list(&mut self, body: &[MachInst], from: u32, mut live: i32, limit: i32) {
        let Scheduler { pressure, graph, ready, order, done, stack, .. } = self;
        order.clear();
        ready.begin();
        done.clear();
        done.resize(body.len(), false);
        for n in (0..body.len() as u32).filter(|&n| graph.waiting[n as usize] == 0) {
            ready.insert(n, kind(body, &graph.feeds, n));
        }
        let mut first = 0;
        while let Some(n) = ready.take(first, limit - live) {
            done[n as usize] = true;
            while done.get(first as usize) == Some(&true) {
                first += 1;
            }
            order.push(n);
            live += pressure.issue(from + n);
            graph.release(n, stack, |feeds, to| ready.insert(to, kind(body, feeds, to)));
        }
    }
}

fn kind(body: &[MachInst], feeds: &[bool], n: u32) -> usize {
    if is_load(&body[n as usize]) {
        LOAD
    } else if feeds[n as usize] {
        FEEDER
    } else {
        OTHER
    }
}

const LOAD: usize = 0;
const FEEDER: usize = 1;
const OTHER: usize = 2;

/// Instructions whose predecessors have all been issued, in one heap for each kind (load, instruction that a
/// load needs, other). On top of a heap is the instruction that is first in source order.
#[derive(Debug, Default)]
struct Ready {
    kinds: [BinaryHeap<Reverse<u32>>; 3],
    /// Whether the registers ran out. Loads are then not moved up until half of the extra registers
    /// ([`EXTRA`]) are free again.
    drain: bool,
}

impl Ready {
    fn begin(&mut self) {
        self.kinds.iter_mut().for_each(BinaryHeap::clear);
        self.drain = false;
    }

    fn insert(&mut self, n: u32, kind: usize) {
        self.kinds[kind].push(Reverse(n));
    }

    /// Returns the instruction of a kind that is ready and first in source order.
    fn first(&self, kind: usize) -> Option<u32> {
        self.kinds[kind].peek().map(|&Reverse(n)| n)
    }

    /// Chooses the next instruction to issue and removes it: a load if registers are available, else an
    /// instruction that a load needs, else the instruction that is first in source order. `first` is the
    /// first instruction that has not been issued yet, and `room` is the number of available registers.
    fn take(&mut self, first: u32, room: i32) -> Option<u32> {
        self.drain &= room < EXTRA as i32 / 2;
        for (kind, need) in [(LOAD, 4), (FEEDER, 6)] {
            let near = self.first(kind).is_some_and(|n| n < first + WINDOW);
            if near && !self.drain {
                if need <= room {
                    return self.pop(kind);
                }
                self.drain = true;
            }
        }
        let next = (0..self.kinds.len()).filter(|&kind| self.first(kind).is_some());
        self.pop(next.min_by_key(|&kind| self.first(kind))?)
    }

    fn pop(&mut self, kind: usize) -> Option<u32> {
        self.kinds[kind].pop().map(|Reverse(n)| n)
    }
}
