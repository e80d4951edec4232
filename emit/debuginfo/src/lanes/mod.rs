//! Where lanes are, instruction by instruction: found in final code.
//!
//! # Idea
//! A lane that EXEC does not have waits for an instruction that gives EXEC more lanes: a *wake*. Its place is the one behind that instruction, where it goes on
//! (seed 000, line 1915); lanes of a kernel that no wake brings back wait for its end. Which lanes wait for a wake is what the wake adds to EXEC, if the
//! registers that it reads hold that already. So the code is read backwards: from each wake on, it is known which registers hold its lanes
//! in front of each instruction, through copies and lanes of vector registers to which the allocator has moved them; and where lanes are added to a mask that are
//! active, only the others have waited before. No pass has to keep anything for it.
//!
//! A mask may have more lanes than wait for its wake: those that are active, and those that wait for a nearer one. So the nearest wake counts that has a lane in
//! its mask.
//!
//! # What it rests on
//! Lanes wait further down than the program counter is, and it passes by no place where some wait (`isel`'s plan). That each mask is right is not taken for granted:
//! `kernc-fuzz --what lanes` holds it against what lanes do.
//!
//! # Time
//! Linear in the instructions, times how deep loops are in each other: a list changes at its front.

mod lists;
mod masks;
#[cfg(test)]
mod tests;
mod values;

use isa::{FuncRole, MBlock, MachFunc, MachInst, Operand, Reg, RegRange, RegSet, Role, Subtarget, op};
pub use lists::{List, Lists, Mask, Wake};
pub use masks::{Dwords, Pair, Place, Term};
use values::{Branches, Values};

/// Where a call leaves the address behind it (seed 000, line 4111).
const RETURN: RegRange = RegRange { first: Reg::sgpr(30), len: 2 };

/// How often blocks are looked at, at most: reducible code needs a few times how deep its loops are.
const MOST_VISITS: usize = 64;

/// Lanes of a function that wait, from a byte to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// First byte.
    pub start: u32,
    /// The byte behind the last.
    pub end: u32,
    /// Where they wait.
    pub list: List,
    /// The first of the registers that hold the lanes which are active, where EXEC has all.
    pub active: Option<Reg>,
}

/// All that is known of a function's lanes.
#[derive(Clone, Debug, Default)]
pub struct Lanes {
    /// Without gaps.
    pub ranges: Vec<Range>,
    /// What the ranges refer to.
    pub lists: Lists,
}

/// Reads final code.
pub fn read(func: &MachFunc, target: &Subtarget) -> Lanes {
    let mut reader = Reader::new(func, target);
    match reader.settle() {
        true => reader.finish(),
        false => Lanes::default(),
    }
}

/// The lanes that wait for the other side of a branch, without its condition: of all that were there those that are not in another mask, if one is said. `near` has the
/// values whose lanes are active or wait for something nearer, and gets what they are together with these lanes.
fn other_side(
    (all, keeps): (Pair, bool),
    values: &Values,
    (branches, before): (&Branches, u32),
    near: &mut Vec<values::Value>,
) -> Option<(Pair, Option<Pair>)> {
    let was = values.of(all)?;
    let went = branches.near(before, (was, keeps))?;
    if near.contains(&went) {
        near.push(was);
        return Some((all, None));
    }
    values.place(went).map(|copy| (all, Some(copy)))
}

/// An instruction of the function.
#[derive(Clone, Copy, Default)]
struct Point {
    /// Its first byte.
    start: u32,
    /// It writes EXEC.
    writes_exec: bool,
    /// It switches all lanes on or takes that back: no lane begins or ends to wait.
    is_whole: bool,
    /// As [`Range`] has it.
    active: Option<Reg>,
}

struct Reader<'a> {
    func: &'a MachFunc,
    target: &'a Subtarget,
    is_kernel: bool,
    /// What calls change.
    clobbers: RegSet,
    /// By number of the instruction, and one behind the last.
    points: Vec<Point>,
    /// By block: its first instruction.
    firsts: Vec<u32>,
    preds: Vec<Vec<MBlock>>,
    /// By block: where its end is on the way of the program counter.
    ends: Vec<u32>,
    /// By block: what holds where it begins.
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

    /// Where blocks end. Those behind the last that ends the function stand on edges, and are at their beginnings.
    fn ends(&self) -> Vec<u32> {
        let blocks = self.func.blocks.iter();
        let own = |(block, data): (MBlock, &isa::MachBlock)| {
            self.points[self.firsts[block.as_u32() as usize] as usize + data.insts.len()].start
        };
        let mut ends: Vec<u32> = blocks.map(own).collect();
        let is_last = |data: &isa::MachBlock| data.linear.iter().all(Option::is_none);
        let last = self.func.blocks.values().rposition(is_last).unwrap_or(ends.len());
        for block in last + 1..ends.len() {
            if let Some(pred) = self.preds[block].first() {
                ends[block] = ends[pred.as_u32() as usize];
            }
        }
        ends
    }

    /// Parts of a block in which all lanes are on, for registers that are kept whole: those that are active are where EXEC is taken from again.
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

    /// Finds out what holds where blocks begin. Whether it has come to an end.
    fn settle(&mut self) -> bool {
        let blocks = self.func.blocks.len();
        let mut waiting = vec![true; blocks];
        let mut visits = 0;
        while waiting.contains(&true) {
            for block in self.func.blocks.keys().rev() {
                let number = block.as_u32() as usize;
                if !std::mem::replace(&mut waiting[number], false) {
                    continue;
                }
                visits += 1;
                if visits > MOST_VISITS * blocks {
                    return false;
                }
                let begin = self.walk(block, &mut |_, _| {});
                if self.begins[number].replace(begin) != Some(begin) {
                    self.preds[number].iter().for_each(|pred| waiting[pred.as_u32() as usize] = true);
                }
            }
        }
        true
    }

    /// Goes through a block from its end to its beginning; `visit` has each instruction's number and what holds in front of it.
    fn walk(&mut self, block: MBlock, visit: &mut dyn FnMut(usize, List)) -> List {
        let data = &self.func.blocks[block];
        let first = self.firsts[block.as_u32() as usize] as usize;
        let end = Wake { at: self.ends[block.as_u32() as usize], is_end: false };
        let mut list = List::EMPTY;
        for edge in data.linear.iter().flatten() {
            let Some(begin) = self.begins[edge.to.as_u32() as usize] else { continue };
            // Nobody waits above.
            let ahead = self.lists.behind(begin, end);
            list = self.lists.meet(list, ahead);
        }
        for (n, inst) in data.insts.iter().enumerate().rev() {
            list = self.before(list, inst, first + n);
            visit(first + n, list);
        }
        list
    }

    /// What holds in front of an instruction, given what holds behind it.
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

    /// What masks were before an instruction has written registers.
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

    /// What copies of EXEC there are where blocks begin; by block, none if control does not get there. Nothing if it comes to no end.
    fn values(&self) -> Option<Vec<Option<Values>>> {
        let blocks = self.func.blocks.len();
        let mut begins: Vec<Option<Values>> = vec![None; blocks];
        let mut ends: Vec<Option<Values>> = vec![None; blocks];
        let mut waiting = vec![true; blocks];
        let mut visits = 0;
        while waiting.contains(&true) {
            for (block, data) in self.func.blocks.iter() {
                let number = block.as_u32() as usize;
                if !std::mem::replace(&mut waiting[number], false) {
                    continue;
                }
                visits += 1;
                if visits > MOST_VISITS * blocks {
                    return None;
                }
                let preds =
                    self.preds[number].iter().filter_map(|pred| ends[pred.as_u32() as usize].as_ref());
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
                    let next = data.linear.iter().flatten().map(|edge| edge.to.as_u32());
                    next.for_each(|to| waiting[to as usize] = true);
                }
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

    /// A list of which all can be said, if there is one: that lanes which went the near way of a branch are not away, may be known by copies of EXEC.
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
                near.extend(masks::whole(terms, dwords).and_then(|all| values.of(all)));
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

    /// Goes through the code with all known, and writes down what there is.
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
            // On an edge, what counts is where that begins.
            let end = self.points.partition_point(|point| point.start < self.ends[block]) as u32;
            for (inst, number) in data.insts.iter().zip(self.firsts[block]..) {
                let (at, before) = (number as usize, number.min(end));
                let (Point { start, active, .. }, end) = (self.points[at], self.points[at + 1].start);
                let list = match said {
                    Some((list, said)) if list == lists[at] => said,
                    // Who has been active all the time waits nowhere.
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
