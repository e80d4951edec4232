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

use isa::{FuncRole, MBlock, MachFunc, MachInst, Operand, Reg, Role, Subtarget, op};
pub use lists::{List, Lists, Mask, Wake};
pub use masks::{Dwords, Place, Term};

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
    /// By number of the instruction, and one behind the last.
    points: Vec<Point>,
    /// By block: its first instruction.
    firsts: Vec<u32>,
    preds: Vec<Vec<MBlock>>,
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
        let mask = isa::RegRange { first: Reg::EXEC, len: target.mask_dwords() };
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
        let mut reader = Reader { func, target, is_kernel, points, firsts, preds, begins, lists, writes };
        reader.whole_parts();
        reader
    }

    /// Parts of a block in which all lanes are on, for registers that are kept whole: those that are active are where EXEC is taken from again.
    fn whole_parts(&mut self) {
        for (block, &first) in self.func.blocks.values().zip(&self.firsts) {
            let points = &mut self.points[first as usize..first as usize + block.insts.len()];
            let mut writers = (0..points.len()).filter(|&n| points[n].writes_exec).collect::<Vec<_>>().into_iter();
            while let Some(on) = writers.next() {
                if !masks::switches_all_on(&block.insts[on]) {
                    continue;
                }
                let Some(off) = writers.next() else { break };
                let Some(saved) = masks::restored(&block.insts[off], self.target.mask_dwords()) else { continue };
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
        let end = Wake { at: self.points[first + data.insts.len()].start, is_end: false };
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

    /// Blocks at whose beginnings lanes may have left: behind a write of EXEC.
    fn parted(&self) -> Vec<bool> {
        let mut parted = vec![false; self.func.blocks.len()];
        let mut work = Vec::new();
        for (block, data) in self.func.blocks.iter() {
            let first = self.firsts[block.as_u32() as usize] as usize;
            if self.points[first..first + data.insts.len()].iter().any(|point| point.writes_exec && !point.is_whole) {
                work.push(block);
            }
        }
        while let Some(block) = work.pop() {
            for edge in self.func.blocks[block].linear.iter().flatten() {
                if !std::mem::replace(&mut parted[edge.to.as_u32() as usize], true) {
                    work.push(edge.to);
                }
            }
        }
        parted
    }

    /// Goes through the code with all known, and writes down what there is.
    fn finish(mut self) -> Lanes {
        let mut lists = vec![List::EMPTY; self.points.len() - 1];
        for block in self.func.blocks.keys() {
            self.walk(block, &mut |number, list| lists[number] = list);
        }
        let parted = self.parted();
        let mut ranges: Vec<Range> = Vec::new();
        for (block, data) in self.func.blocks.iter() {
            let first = self.firsts[block.as_u32() as usize] as usize;
            let mut is_parted = parted[block.as_u32() as usize];
            for number in first..first + data.insts.len() {
                let point = self.points[number];
                let (start, end) = (point.start, self.points[number + 1].start);
                // Who has been active all the time waits nowhere.
                let list = if is_parted { lists[number] } else { List::EMPTY };
                is_parted |= point.writes_exec && !point.is_whole;
                match ranges.last_mut() {
                    Some(last) if (last.list, last.active) == (list, point.active) => last.end = end,
                    _ => ranges.push(Range { start, end, list, active: point.active }),
                }
            }
        }
        Lanes { ranges, lists: self.lists }
    }
}
