//! Live ranges of one class: for each register the exact program points at which it holds a value that is still
//! needed, as a sorted list of disjoint half-open intervals.
//!
//! One backward walk per block, from what [`Flow`] says is live at its end. Two registers may share hardware exactly if
//! their ranges are disjoint.

use crate::AllocError;
use crate::flow::Flow;
use crate::stream::{ClassStream, EventKind, Op, Streams};
use isa::table::Role;
use isa::{MachFunc, VReg};

/// A half-open interval of program points.
pub(crate) type Interval = (u32, u32);

/// A slice of an interval arena: start and length.
pub(crate) type Slice = (u32, u32);

const NONE: u32 = u32::MAX;

/// Ranges and what it takes to find them.
#[derive(Default)]
pub(crate) struct Liveness {
    /// Intervals of all ranges.
    pub intervals: Vec<Interval>,
    /// Range of each register.
    pub range: Vec<Slice>,
    /// Most registers live at one point.
    pub pressure: u32,
    /// A point where they are.
    pub peak: u32,
    /// Registers live where blocks meet.
    pub flow: Flow,
    live_end: Vec<u32>,
    head: Vec<u32>,
    records: Vec<(Interval, u32)>,
    live: u32,
    pending: Vec<u32>,
}

impl Liveness {
    /// Finds the ranges of a class.
    pub fn run(&mut self, func: &MachFunc, streams: &Streams, class: usize) -> Result<(), AllocError> {
        let stream = &streams.class[class];
        let registers = streams.phys_base as usize + 2;
        self.flow.run(func, streams, class);
        self.live_end.clear();
        self.live_end.resize(registers, 0);
        self.head.clear();
        self.head.resize(registers, NONE);
        self.records.clear();
        (self.pressure, self.peak) = (0, 0);
        for block in (0..func.blocks.len()).rev() {
            self.block(stream, block, streams.block_pos[block]);
        }
        self.check_entry(stream, streams.phys_base)?;
        for &vreg in &stream.whole {
            let end = streams.block_pos.last().map_or(0, |&(_, end)| end);
            self.records.push(((0, end), NONE));
            self.head[vreg as usize] = self.records.len() as u32 - 1;
        }
        self.collect(registers);
        Ok(())
    }

    fn open(&mut self, reg: u32, end: u32) {
        let live_end = &mut self.live_end[reg as usize];
        if *live_end == 0 {
            self.live += 1;
        }
        *live_end = end.max(*live_end);
    }

    fn record(&mut self, reg: u32, start: u32, end: u32) {
        let head = &mut self.head[reg as usize];
        if let Some((interval, _)) = self.records.get_mut(*head as usize)
            && interval.0 <= end
        {
            interval.0 = start;
            return;
        }
        self.records.push(((start, end), *head));
        *head = self.records.len() as u32 - 1;
    }

    fn note_pressure(&mut self, extra: u32, pos: u32) {
        if self.live + extra > self.pressure {
            self.pressure = self.live + extra;
            self.peak = pos;
        }
    }

    /// Walks a block backwards.
    fn block(&mut self, stream: &ClassStream, block: usize, (start, end): (u32, u32)) {
        self.live = 0;
        let flow = std::mem::take(&mut self.flow);
        flow.live_out(block).for_each(|reg| self.open(reg, end));
        self.note_pressure(0, end);
        for event in stream.events[stream.events_of(block)].iter().rev() {
            let ops = stream.ops_of(event);
            if event.kind == EventKind::Move {
                self.parallel_copy(stream, ops, event.pos);
                continue;
            }
            let mut dead = 0;
            self.note_pressure(0, event.pos + 2);
            for op in ops.iter().filter(|op| op.role == Role::Def) {
                for &reg in stream.regs_of(op) {
                    let end = std::mem::take(&mut self.live_end[reg as usize]);
                    if end != 0 {
                        self.live -= 1;
                        self.record(reg, event.pos + 2, end);
                    } else if event.kind != EventKind::Entry {
                        dead += 1;
                        self.record(reg, event.pos + 2, event.pos + 3);
                    }
                }
            }
            self.note_pressure(dead, event.pos + 2);
            for op in ops.iter().filter(|op| op.role != Role::Def) {
                // A register modified in place is still occupied while the results are written.
                let end = if op.role == Role::DefUse { event.pos + 3 } else { event.pos + 2 };
                for &reg in stream.regs_of(op) {
                    self.open(reg, end);
                }
            }
            self.note_pressure(0, event.pos + 1);
        }
        for reg in flow.live_in(block) {
            let end = std::mem::take(&mut self.live_end[reg as usize]);
            if end != 0 {
                self.record(reg, start, end);
            }
        }
        self.flow = flow;
    }

    /// A parallel copy writes what is needed afterwards, and reads only what it writes.
    fn parallel_copy(&mut self, stream: &ClassStream, ops: &[Op], pos: u32) {
        let pair = |pair: &[Op]| (stream.regs_of(&pair[0])[0], stream.regs_of(&pair[1])[0]);
        self.note_pressure(0, pos + 2);
        for ops in ops.chunks_exact(2) {
            let (dst, _) = pair(ops);
            let end = self.live_end[dst as usize];
            if end != 0 {
                self.record(dst, pos + 2, end);
            }
        }
        // First all destinations end, then all sources begin: a register may be on both sides.
        let mut pending = std::mem::take(&mut self.pending);
        for ops in ops.chunks_exact(2) {
            let (dst, src) = pair(ops);
            if std::mem::take(&mut self.live_end[dst as usize]) != 0 {
                self.live -= 1;
                pending.push(src);
            }
        }
        for src in pending.drain(..) {
            self.open(src, pos + 2);
        }
        self.pending = pending;
        self.note_pressure(0, pos + 1);
    }

    /// Nothing may be live where the function begins; only the inputs are defined there. VCC may hold anything, and so
    /// may registers of which single lanes are written.
    fn check_entry(&self, stream: &ClassStream, phys_base: u32) -> Result<(), AllocError> {
        let undefined = |reg: &u32| *reg < phys_base && !stream.whole.contains(reg);
        match self.flow.live_in(0).find(undefined) {
            Some(reg) => Err(AllocError::Undefined { vreg: VReg::from_u32(reg) }),
            None => Ok(()),
        }
    }

    fn collect(&mut self, registers: usize) {
        self.intervals.clear();
        self.range.clear();
        for register in 0..registers {
            let start = self.intervals.len() as u32;
            let mut next = self.head[register];
            while let Some(&(interval, link)) = self.records.get(next as usize) {
                self.intervals.push(interval);
                next = link;
            }
            self.range.push((start, self.intervals.len() as u32 - start));
        }
    }
}
