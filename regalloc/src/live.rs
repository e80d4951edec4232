//! Live ranges of one class. The live range of a register is the exact set of program points at which it
//! holds a value that is still needed, as a sorted list of disjoint half-open intervals.
//!
//! The ranges are found in one backward walk over the blocks. [`Flow`] has computed before which registers
//! are live at block boundaries. Two registers may share a hardware register exactly if their ranges are
//! disjoint.

use crate::AllocError;
use crate::flow::Flow;
use crate::live_bitsets::members;
use crate::stream::{ClassStream, EventKind, Op, Streams};
use isa::VReg;
use isa::table::Role;
use mir::MachFunc;

/// A half-open interval of program points.
pub(crate) type Interval = (u32, u32);

/// A slice of an array of intervals: start and length.
pub(crate) type Slice = (u32, u32);

const NONE: u32 = u32::MAX;

/// Live ranges, and scratch memory for computing them.
#[derive(Default)]
pub(crate) struct Liveness {
    /// Intervals of all ranges.
    pub intervals: Vec<Interval>,
    /// Range of each register.
    pub range: Vec<Slice>,
    /// Largest number of registers live at the same point.
    pub pressure: u32,
    /// A point with that pressure.
    pub peak: u32,
    /// Registers that are live at block boundaries.
    pub flow: Flow,
    /// Number of available registers. A call may also clobber registers with higher numbers, which do not
    /// count.
    limit: u32,
    live_end: Vec<u32>,
    head: Vec<u32>,
    records: Vec<(Interval, u32)>,
    live: u32,
    /// The registers that are live at the current point of the walk, as a bit set. It contains only the
    /// registers that `Flow` keeps in bit sets.
    open: Vec<u64>,
    pending: Vec<u32>,
}

impl Liveness {
    /// Computes the live ranges of a class of which `limit` hardware registers are available. `flow` must
    /// have been computed before.
    pub fn run(
        &mut self,
        func: &MachFunc,
        streams: &Streams,
        class: usize,
        limit: u32,
    ) -> Result<(), AllocError> {
        self.limit = limit;
        let stream = &streams.class[class];
        let registers = streams.phys_base as usize + 2;
        let flow = std::mem::take(&mut self.flow);
        self.live_end.clear();
        self.live_end.resize(registers, 0);
        self.head.clear();
        self.head.resize(registers, NONE);
        self.records.clear();
        (self.pressure, self.peak, self.live) = (0, 0, 0);
        self.open.clear();
        self.open.resize(flow.dense.words(), 0);
        for block in (0..func.blocks.len()).rev() {
            self.block(&flow, stream, block, streams.block_pos[block]);
        }
        self.flow = flow;
        self.check_entry(stream, streams.phys_base)?;
        for &vreg in &stream.whole {
            let end = streams.block_pos.last().map_or(0, |&(_, end)| end);
            self.records.push(((0, end), NONE));
            self.head[vreg as usize] = self.records.len() as u32 - 1;
        }
        self.collect(registers);
        Ok(())
    }

    fn open(&mut self, flow: &Flow, reg: u32, end: u32) {
        let live_end = &mut self.live_end[reg as usize];
        if *live_end == 0 {
            self.live += 1;
            if let Some(number) = flow.dense.number(reg) {
                self.open[number / 64] |= 1 << (number % 64);
            }
        }
        *live_end = end.max(*live_end);
    }

    /// Notes that a register is not live before this point of the backward walk. Returns the end of the
    /// interval in which it was live, or 0 if it was not live.
    fn close(&mut self, flow: &Flow, reg: u32) -> u32 {
        let end = std::mem::take(&mut self.live_end[reg as usize]);
        if end != 0 {
            self.live -= 1;
            if let Some(number) = flow.dense.number(reg) {
                self.open[number / 64] &= !(1 << (number % 64));
            }
        }
        end
    }

    /// Continues the backward walk at the end of block `block`, which is the program point `end`. A register
    /// in the bit sets that is live here and was live at the beginning of the block visited before keeps its
    /// current interval. So only the differences between the two bit sets are processed.
    fn enter(&mut self, flow: &Flow, block: usize, end: u32) {
        for word in 0..self.open.len() {
            let (open, wanted) = (self.open[word], flow.dense.out_set(block)[word]);
            for number in members(&[open & !wanted]) {
                self.leave(flow, flow.dense.register(64 * word + number), end);
            }
            for number in members(&[wanted & !open]) {
                self.open(flow, flow.dense.register(64 * word + number), end);
            }
        }
        flow.listed_out(block).for_each(|reg| self.open(flow, reg, end));
    }

    /// Completes the current interval of a register at `start`, the beginning of a block. The interval ends
    /// there because the register is not live at the end of the preceding block in the layout.
    fn leave(&mut self, flow: &Flow, reg: u32, start: u32) {
        let end = self.close(flow, reg);
        if end != 0 {
            self.record(reg, start, end);
        }
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

    /// Visits a block backwards.
    fn block(&mut self, flow: &Flow, stream: &ClassStream, block: usize, (start, end): (u32, u32)) {
        self.enter(flow, block, end);
        self.note_pressure(0, end);
        for event in stream.events[stream.events_of(block)].iter().rev() {
            let ops = stream.ops_of(event);
            if event.kind == EventKind::Move {
                self.parallel_copy(flow, stream, ops, event.pos);
                continue;
            }
            let mut dead = 0;
            self.note_pressure(0, event.pos + 2);
            for op in ops.iter().filter(|op| op.role == Role::Def) {
                for &reg in stream.regs_of(op) {
                    let end = self.close(flow, reg);
                    if op.pin.is_some() {
                        // A result that must be in a specific hardware register is written to a new register
                        // there, which counts as one more live register. A copy to the result's own register
                        // follows, so this one is live from the copy on.
                        dead += 1;
                        if end != 0 {
                            self.record(reg, event.pos + 3, end);
                        }
                    } else if end != 0 {
                        self.record(reg, event.pos + 2, end);
                    } else if event.kind != EventKind::Entry {
                        dead += 1;
                        self.record(reg, event.pos + 2, event.pos + 3);
                    }
                }
            }
            if stream.calls.binary_search_by_key(&event.pos, |call| call.0).is_ok() {
                dead += stream.lost_at(event.pos, self.limit);
            }
            self.note_pressure(dead, event.pos + 2);
            for op in ops.iter().filter(|op| op.role != Role::Def) {
                // Operands are read at the point before the results are written, so a result may take an
                // operand's register. There are two exceptions, whose registers stay occupied one point
                // longer: operands that are modified in place, and operands that are still needed while
                // results are written.
                let stays = op.role == Role::DefUse || op.held;
                let end = event.pos
                    + match op.pin {
                        // The operand was copied before the instruction.
                        Some(_) => 1,
                        None => 2 + u32::from(stays),
                    };
                for &reg in stream.regs_of(op) {
                    self.open(flow, reg, end);
                }
            }
            self.note_pressure(0, event.pos + 1);
        }
        // For registers that `Flow` keeps in lists, the current interval is completed at the beginning of the
        // block. For registers in bit sets, the interval continues if the register is live at the end of the
        // preceding block in the layout, which `enter` tests.
        if block == 0 {
            flow.live_in(block).for_each(|reg| self.leave(flow, reg, start));
        } else {
            flow.listed_in(block).for_each(|reg| self.leave(flow, reg, start));
        }
    }

    /// Walks over a parallel copy. The copy writes only the destinations that are needed afterwards, and
    /// reads only the sources of these.
    fn parallel_copy(&mut self, flow: &Flow, stream: &ClassStream, ops: &[Op], pos: u32) {
        let pair = |pair: &[Op]| (stream.regs_of(&pair[0])[0], stream.regs_of(&pair[1])[0]);
        self.note_pressure(0, pos + 2);
        for ops in ops.chunks_exact(2) {
            let (dst, _) = pair(ops);
            let end = self.live_end[dst as usize];
            if end != 0 {
                self.record(dst, pos + 2, end);
            }
        }
        // A register may be both a source and a destination. In the backward walk, the intervals of all
        // destinations are therefore completed first, before intervals are opened for the sources.
        let mut pending = std::mem::take(&mut self.pending);
        for ops in ops.chunks_exact(2) {
            let (dst, src) = pair(ops);
            if self.close(flow, dst) != 0 {
                pending.push(src);
            }
        }
        for src in pending.drain(..) {
            self.open(flow, src, pos + 2);
        }
        self.pending = pending;
        self.note_pressure(0, pos + 1);
    }

    /// Checks that no register is live at the beginning of the function, because no instruction would have
    /// written it. There are two exceptions: VCC, which may hold anything, and registers of which only single
    /// lanes are written.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::{SGPR, VGPR};
    use isa::{Subtarget, Target};

    /// Nested divergent loops, with values that are live through each loop, across a loop, and only around a
    /// loop.
    const NEST: &str = "machine @k {
    abi kernarg_ptr
    input %s2 = s0
    input %s3 = s1
    input %v0 = v0
bb0:
    copy %s10, 0
    copy %s11, 7
    copy %v20, 1
  linear -> bb1(%s10)
  logical -> bb1(%v20)
bb1(%s12, %v21) depth 1:
    copy %s13, %s12
  linear -> bb2(%s13)
  logical -> bb2
bb2(%s14) depth 2:
    s_add_u32 %s15, %s14, %s2
    v_add_u32 %v22, %v0, %v21
    s_cmp_lt_u32 %s15, %s3
  terminators:
    s_cbranch_scc0 bb4
  linear -> bb3, bb4
  logical -> bb3, bb4
bb3 depth 2:
  terminators:
    s_branch bb2
  linear -> bb2(%s15)
  logical -> bb2
bb4 depth 1:
    s_cmp_lt_u32 %s15, %s11
  terminators:
    s_cbranch_scc0 bb6
  linear -> bb5, bb6
  logical -> bb5, bb6
bb5 depth 1:
  terminators:
    s_branch bb1
  linear -> bb1(%s15)
  logical -> bb1(%v22)
bb6:
    global_store_dword %v0, %v22, %s[2,3] mem(global)
  terminators:
    s_endpgm 0
}
";

    /// Returns the ranges of all registers, the pressure, and the registers live at block entries. Registers
    /// that are live across more than `far` blocks are kept in sets.
    fn found(far: u32, func: &MachFunc, class: usize) -> (Vec<Vec<Interval>>, u32, Vec<Vec<u32>>) {
        let mut streams = Streams::default();
        streams
            .build(func, &Subtarget::by_name("gfx906").expect("a processor"))
            .expect("edges pass what is wanted");
        let mut live = Liveness::default();
        live.flow.far = Some(far);
        live.flow.run(func, &streams, class, None);
        live.run(func, &streams, class, u32::MAX).expect("everything is defined");
        assert_eq!(live.flow.dense.is_used(), far != u32::MAX);
        let range = |&(start, len): &Slice| live.intervals[start as usize..][..len as usize].to_vec();
        let members = |block: usize| {
            let mut members: Vec<u32> = live.flow.live_in(block).collect();
            members.sort_unstable();
            members
        };
        let blocks = (0..func.blocks.len()).map(members).collect();
        (live.range.iter().map(range).collect(), live.pressure, blocks)
    }

    #[test]
    fn sets_and_lists_agree() {
        let target = Target::by_name("gfx906").expect("a known processor");
        let funcs = mir::text::read_functions(NEST, |_| target, &Default::default()).expect("well-formed");
        for class in [SGPR, VGPR] {
            let lists = found(u32::MAX, &funcs[0], class);
            assert!(lists.1 > 1, "more than one at once");
            for far in 0..3 {
                assert_eq!(found(far, &funcs[0], class), lists, "{far} blocks");
            }
        }
    }
}
