//! Finds in final code where each lane is, so that a debugger can show the location of inactive lanes, too.
//!
//! # Idea
//! A lane that is not in EXEC waits for a *wake*: an instruction that adds lanes to EXEC. The location of the
//! lane is the instruction after the wake, where the lane resumes (LLVM's AMDGPU guide, seed 000, line 1915).
//! Lanes of a kernel that no wake brings back wait for the end of the kernel.
//!
//! The lanes that wait for a wake are those that the wake adds to EXEC. The wake reads a mask of these lanes
//! from registers, which may have held the mask for a long time. So the code is read backwards from each
//! wake: before each instruction, the analysis knows which registers hold the mask of the wake. It follows
//! the mask through copies, and through lanes of vector registers to which the allocator has moved the mask.
//! Where an instruction adds active lanes to a mask, only the other lanes of the mask have waited before the
//! instruction. No pass has to record anything for this analysis.
//!
//! A mask may contain more lanes than wait for its wake: active lanes, and lanes that wait for a nearer wake.
//! So a lane waits for the nearest wake whose mask contains the lane.
//!
//! # Assumptions
//! Lanes wait at places after the program counter, and the program counter does not pass a place at which
//! lanes wait. Code that instruction selection (`isel`) lays out has this property. The correctness of the
//! masks is tested: `kernc-fuzz --what lanes` compares them with what lanes actually do.
//!
//! # Time
//! Linear in the number of instructions, times the nesting depth of loops, because a list changes only at its
//! front.

mod lists;
mod masks;
#[cfg(test)]
mod tests;
mod values;

use isa::{MBlock, MachInst, Operand, Reg, RegRange, RegSet, Role, Subtarget, op};
pub use lists::{List, Lists, Mask, Wake};
pub use masks::{Dwords, Pair, Place, Term};
use mir::flow::Worklist;
use mir::{FuncRole, MachFunc};
use values::{Branches, Values};

/// Registers in which a call leaves its return address (seed 000, line 4111).
const RETURN: RegRange = RegRange { first: Reg::sgpr(30), len: 2 };

/// Maximum average number of visits of a block. Reducible code needs a small multiple of the nesting depth of
/// its loops.
const MOST_VISITS: usize = 64;

/// Range of code in which the same lanes of a function wait at the same places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset of the byte after the last.
    pub end: u32,
    /// Wakes for which lanes wait.
    pub list: List,
    /// Register (or first register of a pair) that holds the active lanes, where EXEC has all lanes on.
    pub active: Option<Reg>,
}

/// Locations of the lanes of a function.
#[derive(Clone, Debug, Default)]
pub struct Lanes {
    /// Ranges of code, without gaps.
    pub ranges: Vec<Range>,
    /// Lists to which the ranges refer.
    pub lists: Lists,
}

/// Reads final code. Returns no ranges if the analysis does not reach a fixpoint.
pub fn read(func: &MachFunc, target: &Subtarget) -> Lanes {
    let mut reader = Reader::new(func, target);
    match reader.run_to_fixpoint() {
        true => reader.finish(),
        false => Lanes::default(),
    }
}

/// Returns the lanes that wait for the other side of a branch, expressed without the condition of the branch:
/// the lanes of one mask, minus the lanes of a second mask if one is returned.
///
/// `near` contains the values of EXEC whose lanes are active or wait for a nearer wake. If such a value
/// together with the returned lanes makes up an earlier value of EXEC, that earlier value is added to `near`.
fn other_side(
    (all, keeps): (Pair, bool),
    values: &Values,
    (branches, before): (&Branches, u32),
    near: &mut Vec<values::Value>,
) -> Option<(Pair, Option<Pair>)> {
    let was = values.value_of_mask(all)?;
    let went = branches.near_side(before, (was, keeps))?;
    if near.contains(&went) {
        near.push(was);
        return Some((all, None));
    }
    values.registers_with(went).map(|copy| (all, Some(copy)))
}

/// Properties of an instruction.
#[derive(Clone, Copy, Default)]
struct Point {
    /// Offset of the first byte of the instruction.
    start: u32,
    /// Whether the instruction writes EXEC.
    writes_exec: bool,
    /// Whether the instruction turns all lanes on for whole-wave code, or restores EXEC afterwards. No lane
    /// begins or ends waiting at such an instruction.
    is_whole: bool,
    /// See [`Range::active`].
    active: Option<Reg>,
}

struct Reader<'a> {
    func: &'a MachFunc,
    target: &'a Subtarget,
    is_kernel: bool,
    /// Registers that calls may change.
    clobbers: RegSet,
    /// Properties by instruction number, with one more entry after the last instruction.
    points: Vec<Point>,
    /// For each block, the number of its first instruction.
    firsts: Vec<u32>,
    preds: Vec<Vec<MBlock>>,
    /// For each block, the byte offset that its end has for the comparison with wakes (see `Reader::ends`).
    ends: Vec<u32>,
    /// For each block, the list where it begins; `None` if it has not been visited.
    begins: Vec<Option<List>>,
    lists: Lists,
    writes: lists::Writes,
}

impl<'a> Reader<'a> {
    fn new(func: &'a MachFunc, target: &'a Subtarget) -> Reader<'a> {
        let mut points = Vec::new();
        let mut firsts = Vec::with_capacity(func.blocks.len());
        let mut start = 0;
        let mask = RegRange { first: Reg::EXEC, len: target.mask_dwords() };
        for block in func.blocks.values() {
            firsts.push(points.len() as u32);
            for inst in &block.insts {
                points.push(Point { start, writes_exec: inst.writes(target, mask), ..Point::default() });
                start += isa::size_in_words(target, inst) as u32 * 4;
            }
        }
        points.push(Point { start, ..Point::default() });
        let mut preds = vec![Vec::new(); func.blocks.len()];
        for (block, data) in func.blocks.iter() {
            data.linear.iter().flatten().for_each(|edge| preds[edge.to.as_u32() as usize].push(block));
        }
        let begins = vec![None; func.blocks.len()];
        let is_kernel = func.role == FuncRole::Kernel;
        let (lists, writes) = Default::default();
        let ends = Vec::new();
        let mut clobbers = RegSet::EMPTY;
        func.calls.iter().for_each(|call| clobbers.union(&call.clobbers));
        clobbers.insert(RETURN);
        let mut reader =
            Reader { func, target, is_kernel, clobbers, points, firsts, preds, ends, begins, lists, writes };
        reader.whole_parts();
        reader.ends = reader.ends();
        reader
    }

    /// Returns the byte offsets of the ends of blocks. Blocks after the last block that ends the function
    /// were created on edges, so such a block gets the end of its predecessor.
    fn ends(&self) -> Vec<u32> {
        let blocks = self.func.blocks.iter();
        let own = |(block, data): (MBlock, &mir::MachBlock)| {
            self.points[self.firsts[block.as_u32() as usize] as usize + data.insts.len()].start
        };
        let mut ends: Vec<u32> = blocks.map(own).collect();
        let is_last = |data: &mir::MachBlock| data.linear.iter().all(Option::is_none);
        let last = self.func.blocks.values().rposition(is_last).unwrap_or(ends.len());
        for block in last + 1..ends.len() {
            if let Some(pred) = self.preds[block].first() {
                ends[block] = ends[pred.as_u32() as usize];
            }
        }
        ends
    }

    /// Finds the sections of blocks in which all lanes are on for whole-wave registers. In such a section,
    /// the active lanes are in the register from which EXEC is restored at the end.
    fn whole_parts(&mut self) {
        for (block, &first) in self.func.blocks.values().zip(&self.firsts) {
            let points = &mut self.points[first as usize..first as usize + block.insts.len()];
            let mut writers =
                (0..points.len()).filter(|&n| points[n].writes_exec).collect::<Vec<_>>().into_iter();
            while let Some(on) = writers.next() {
                if !masks::switches_all_on(&block.insts[on]) {
                    continue;
                }
                let Some(off) = writers.next() else { break };
                let Some(saved) = masks::restored(&block.insts[off], self.target.mask_dwords()) else {
                    continue;
                };
                (points[on].is_whole, points[off].is_whole) = (true, true);
                points[on + 1..=off].iter_mut().for_each(|point| point.active = Some(saved));
            }
        }
    }

    /// Computes the lists where blocks begin. Returns `false` if there are too many visits.
    fn run_to_fixpoint(&mut self) -> bool {
        let mut work = Worklist::default();
        work.start_backward(self.func);
        let mut visits = 0..MOST_VISITS * self.func.blocks.len();
        while let Some(block) = work.pop() {
            if visits.next().is_none() {
                return false;
            }
            let number = block.as_u32() as usize;
            let begin = self.walk(block, &mut |_, _| {});
            if self.begins[number].replace(begin) != Some(begin) {
                self.preds[number].iter().for_each(|&pred| work.add(pred));
            }
        }
        true
    }

    /// Walks backwards through a block. Calls `visit` with the number of each instruction and the list before
    /// the instruction. Returns the list where the block begins.
    fn walk(&mut self, block: MBlock, visit: &mut dyn FnMut(usize, List)) -> List {
        let data = &self.func.blocks[block];
        let first = self.firsts[block.as_u32() as usize] as usize;
        let end = Wake { at: self.ends[block.as_u32() as usize], is_end: false };
        let mut list = List::EMPTY;
        for edge in data.linear.iter().flatten() {
            let Some(begin) = self.begins[edge.to.as_u32() as usize] else { continue };
            // Wakes before the end of this block are dropped, because lanes wait only at later places.
            let ahead = self.lists.after_wake(begin, end);
            list = self.lists.meet(list, ahead);
        }
        for (n, inst) in data.insts.iter().enumerate().rev() {
            list = self.before(list, inst, first + n);
            visit(first + n, list);
        }
        list
    }

    /// Returns the list before an instruction, given the list after it.
    fn before(&mut self, list: List, inst: &MachInst, number: usize) -> List {
        if inst.op == op::S_ENDPGM {
            let end = Wake { at: self.points[number].start, is_end: true };
            return if self.is_kernel { self.lists.with(List::EMPTY, end, Mask::Entry) } else { List::EMPTY };
        }
        let list = self.written(list, inst);
        let point = self.points[number];
        if !point.writes_exec || point.is_whole {
            return list;
        }
        let lanes = masks::woken(inst, self.target.mask_dwords());
        if lanes.as_ref().is_ok_and(|lanes| lanes.iter().all(Vec::is_empty)) {
            return list;
        }
        let wake = Wake { at: self.points[number + 1].start, is_end: false };
        self.lists.with(list, wake, lanes.into())
    }

    /// Returns the list with the masks that hold before an instruction writes its registers.
    fn written(&mut self, list: List, inst: &MachInst) -> List {
        if list == List::EMPTY {
            return list;
        }
        let writes = &mut self.writes;
        writes.clear();
        let lane = masks::lane_written(inst);
        inst.for_each_hw_reg(self.target, |role, range| {
            if role == Role::Use {
                return;
            }
            let is_first = inst.ops[0] == Operand::Reg(range);
            for (dword, reg) in (0..u16::from(range.len)).map(|n| (n, range.first.offset(n))) {
                match lane {
                    _ if masks::is_scalar(reg) => {
                        let value = if is_first { masks::value(inst, dword) } else { masks::Value::OTHER };
                        writes.add(Place::Scalar(reg), value);
                    }
                    Some((place @ Place::Lane(to, _), value)) if to == reg => writes.add(place, value),
                    _ if reg.is_vgpr() || reg.is_agpr() => writes.add_vector(reg),
                    _ => {}
                }
            }
        });
        self.lists.before(list, &self.writes)
    }

    /// Computes, for each block, which registers hold values of EXEC where the block begins; `None` for an
    /// unreachable block. Returns `None` if the computation does not reach a fixpoint.
    fn values(&self) -> Option<Vec<Option<Values>>> {
        let blocks = self.func.blocks.len();
        let mut begins: Vec<Option<Values>> = vec![None; blocks];
        let mut ends: Vec<Option<Values>> = vec![None; blocks];
        let mut work = Worklist::default();
        work.start(self.func, true);
        let mut visits = 0..MOST_VISITS * blocks;
        while let Some(block) = work.pop() {
            visits.next()?;
            let (number, data) = (block.as_u32() as usize, &self.func.blocks[block]);
            let preds = self.preds[number].iter().filter_map(|pred| ends[pred.as_u32() as usize].as_ref());
            let begin = match number {
                0 => Some(Values::new(self.target.mask_dwords())),
                _ => Values::meet(preds, block.as_u32()),
            };
            let Some(mut values) = begin.clone() else { continue };
            begins[number] = begin;
            for (inst, at) in data.insts.iter().zip(self.firsts[number]..) {
                self.step(inst, at, &mut values, &mut Branches::default());
            }
            if ends[number].as_ref() != Some(&values) {
                ends[number] = Some(values);
                data.linear.iter().flatten().for_each(|edge| work.add(edge.to));
            }
        }
        Some(begins)
    }

    fn branches(&self, begins: &[Option<Values>]) -> Branches {
        let mut branches = Branches::default();
        for (block, data) in self.func.blocks.iter() {
            let number = block.as_u32() as usize;
            let Some(mut values) = begins[number].clone() else { continue };
            for (inst, at) in data.insts.iter().zip(self.firsts[number]..) {
                self.step(inst, at, &mut values, &mut branches);
            }
        }
        branches
    }

    fn step(&self, inst: &MachInst, number: u32, values: &mut Values, branches: &mut Branches) -> bool {
        let point = self.points[number as usize];
        let writes_exec = point.writes_exec && !point.is_whole;
        if inst.is_call() {
            return values.call(&self.clobbers);
        }
        values.step((inst, number), writes_exec, self.target, branches)
    }

    /// Returns an equivalent list in which every mask can be described in DWARF, if there is one. The lanes
    /// that took the near side of a branch may be described by copies of EXEC instead of by the condition of
    /// the branch.
    fn sayable(&mut self, list: List, values: &Values, branches: (&Branches, u32)) -> List {
        if self.lists.is_known(list) {
            return list;
        }
        let dwords = self.target.mask_dwords();
        let is_active = |term: Term, dword: u16| match term {
            Term::All(Place::Scalar(reg)) => values.are_active(Reg(reg.0.wrapping_sub(dword))),
            _ => false,
        };
        let mut near = vec![values.exec];
        let mut front = Vec::new();
        let mut rest = list;
        while let Some((wake, mask, next)) = self.lists.first(rest) {
            let mut mask = mask.clone();
            if let Mask::Of(terms) = &mut mask {
                for (dword, own) in (0..).zip(terms.iter_mut()) {
                    own.retain(|&term| !is_active(term, dword));
                }
                near.extend(masks::plain_copy(terms, dwords).and_then(|all| values.value_of_mask(all)));
                let parted = masks::parted(terms, dwords);
                let others = parted.and_then(|parted| other_side(parted, values, branches, &mut near));
                if let Some(others) = others {
                    *terms = masks::of_places(others, dwords);
                }
            }
            if mask != Mask::Of(Dwords::default()) {
                front.push((wake, mask));
            }
            rest = next;
        }
        while let Some((wake, mask)) = front.pop() {
            rest = self.lists.with(rest, wake, mask);
        }
        rest
    }

    /// Walks through the code a last time and collects the ranges.
    fn finish(mut self) -> Lanes {
        let mut lists = vec![List::EMPTY; self.points.len() - 1];
        for block in self.func.blocks.keys() {
            self.walk(block, &mut |number, list| lists[number] = list);
        }
        let Some(begins) = self.values() else { return Lanes::default() };
        let branches = self.branches(&begins);
        let mut ranges: Vec<Range> = Vec::new();
        for (block, data) in self.func.blocks.iter() {
            let block = block.as_u32() as usize;
            let mut values = begins[block].clone().unwrap_or(Values::new(self.target.mask_dwords()));
            let mut said = None;
            // For a block on an edge, the place where the edge begins counts.
            let end = self.points.partition_point(|point| point.start < self.ends[block]) as u32;
            for (inst, number) in data.insts.iter().zip(self.firsts[block]..) {
                let (at, before) = (number as usize, number.min(end));
                let (Point { start, active, .. }, end) = (self.points[at], self.points[at + 1].start);
                let list = match said {
                    Some((list, said)) if list == lists[at] => said,
                    // If EXEC is the same as on entry, no lane waits.
                    _ if values.exec == values::Value::Entry => List::EMPTY,
                    _ => self.sayable(lists[at], &values, (&branches, before)),
                };
                let has_changed = self.step(inst, number, &mut values, &mut Branches::default());
                said = (!has_changed).then_some((lists[at], list));
                match ranges.last_mut() {
                    Some(last) if (last.list, last.active) == (list, active) => last.end = end,
                    _ => ranges.push(Range { start, end, list, active }),
                }
            }
        }
        Lanes { ranges, lists: self.lists }
    }
}
