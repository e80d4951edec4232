//! Conditions that several branches share: where a wave has taken one way at the first branch, the others go the way that agrees, as long as
//! the registers that the condition is computed from keep their values.
//!
//! # Conditions
//! A condition is the instruction that computes the flag which a branch tests, with the instructions of the same block that compute its
//! sources, down to registers and constants. What a branch tests is said by registers as they are at the beginning of its block. What is
//! known behind the branch is that, if the block leaves those registers alone, and the same said by registers as they are at the end. Two
//! branches share a condition if these are the same; compares are brought into one form, so that a branch and its opposite share one.
//!
//! # Not here
//! What follows from a condition for another one, and conditions across calls.

use crate::finding::Site;
use crate::program::{Program, Root};
use crate::regset::RegSet;
use isa::table::{Family, Role};
use isa::{MachInst, Mods, Opcode, Operand, Reg, RegRange, op};
use smallvec::SmallVec;
use std::collections::HashMap;

/// Which conditions are known, and whether they hold: a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    known: u64,
    holds: u64,
}

impl Facts {
    /// Keeps those of some conditions.
    fn only(self, conditions: u64) -> Facts {
        Facts { known: self.known & conditions, holds: self.holds & conditions }
    }

    fn with(self, condition: u8, holds: bool) -> Facts {
        let bit = 1 << condition;
        Facts { known: self.known | bit, holds: self.holds & !bit | u64::from(holds) << condition }
    }

    fn get(self, condition: u8) -> Option<bool> {
        (self.known >> condition & 1 != 0).then_some(self.holds >> condition & 1 != 0)
    }

    /// What both say.
    pub(crate) fn common(self, other: Facts) -> Facts {
        self.only(other.known & !(self.holds ^ other.holds))
    }
}

/// The condition that a branch tests.
#[derive(Clone, Copy, Debug, Default)]
struct Test {
    /// The condition, and whether the branch is taken where the condition holds.
    condition: Option<(u8, bool)>,
    /// The same said by registers at the end of the block.
    behind: Option<(u8, bool)>,
    /// The same of the flag itself, for branches that test the flag again.
    flag: Option<(u8, bool)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Block {
    /// Conditions that change in it.
    killed: u64,
    /// Conditions that matter at its beginning.
    live: u64,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Conditions {
    tests: HashMap<Site, Test>,
    blocks: HashMap<Site, Block>,
}

/// The most conditions that are distinguished in a program.
const MOST: usize = 64;
/// How many instructions deep a condition is looked into.
const DEPTH: u32 = 5;

impl Conditions {
    /// The conditions that branches of a program share.
    pub(crate) fn of(program: &Program, roots: &[Root]) -> Conditions {
        let mut finder = Finder { program, nodes: HashMap::new(), reads: Vec::new() };
        let mut branches: Vec<(Site, Tested)> = Vec::new();
        let ends = ends(program, roots);
        for &(start, end) in &ends {
            if let Some(tested) = finder.tested(start, end) {
                branches.push((end, tested));
            }
        }
        let shared = shared(&branches);
        if shared.is_empty() {
            return Conditions::default();
        }
        let number = |(node, holds): (u32, bool)| shared.get(&node).map(|number| (*number, holds));
        let tests = branches.iter().map(|(site, tested)| {
            let condition = tested.condition.and_then(number);
            (*site, Test { condition, behind: tested.behind.and_then(number), flag: number(tested.flag) })
        });
        let tests: HashMap<Site, Test> = tests.collect();
        let mut blocks: HashMap<Site, Block> = HashMap::new();
        let reads = shared.iter().map(|(node, number)| (*number, finder.reads[*node as usize]));
        let reads: Vec<(u8, RegSet)> = reads.collect();
        let any = reads.iter().fold(RegSet::EMPTY, |any, (_, reads)| any.or(reads));
        for &(start, end) in &ends {
            let mut killed = 0;
            for site in start..=end {
                let effects = program.code.effects(site);
                if effects.writes.intersects(&any) {
                    let hit = reads.iter().filter(|(_, reads)| reads.intersects(&effects.writes));
                    killed |= hit.fold(0, |killed, (number, _)| killed | 1 << number);
                }
            }
            blocks.insert(start, Block { killed, live: 0 });
        }
        let mut conditions = Conditions { tests, blocks };
        conditions.find_live(program, &ends);
        conditions
    }

    /// Which conditions matter at the beginning of each block: those that some way tests before they change.
    fn find_live(&mut self, program: &Program, ends: &[(Site, Site)]) {
        loop {
            let mut changed = false;
            for &(start, end) in ends.iter().rev() {
                let is_call = program.insts[end as usize].inst.is_call();
                let next = if is_call { None } else { Some(program.successors(end)) };
                let next = next.into_iter().flatten().filter_map(|site| self.blocks.get(&site));
                let behind = next.fold(0, |live, block| live | block.live);
                let own = self.tests.get(&end).and_then(|test| test.condition);
                let own = own.map_or(0, |(condition, _)| 1 << condition);
                let Some(block) = self.blocks.get_mut(&start) else { continue };
                let live = behind & !block.killed | own;
                changed |= live != block.live;
                block.live = live;
            }
            if !changed {
                return;
            }
        }
    }

    /// Whether a branch goes to its target, by what is known at the beginning of its block.
    pub(crate) fn decided(&self, branch: Site, facts: Facts) -> Option<bool> {
        let (condition, taken) = self.tests.get(&branch)?.condition?;
        facts.get(condition).map(|holds| holds == taken)
    }

    /// Returns what is known at the place `next` after the block from `start` to `end`. `taken` says whether `next` is the
    /// target of the branch that ends the block; it is `None` after a block that no branch ends.
    pub(crate) fn behind(
        &self,
        (start, end): (Site, Site),
        next: Site,
        facts: Facts,
        taken: Option<bool>,
    ) -> Facts {
        let Some(block) = self.blocks.get(&start) else { return Facts::default() };
        let live = self.blocks.get(&next).map_or(0, |block| block.live);
        if live == 0 {
            return Facts::default();
        }
        let mut known = facts.only(!block.killed);
        if let (Some(taken), Some(test)) = (taken, self.tests.get(&end)) {
            if let Some((condition, holds)) = test.condition.filter(|(c, _)| block.killed >> c & 1 == 0) {
                known = known.with(condition, holds == taken);
            }
            for (condition, holds) in test.behind.into_iter().chain(test.flag) {
                known = known.with(condition, holds == taken);
            }
        }
        known.only(live)
    }
}

/// The first and the last instruction of each block. A call ends one.
fn ends(program: &Program, roots: &[Root]) -> Vec<(Site, Site)> {
    let mut begins: Vec<bool> = program.insts.iter().map(|placed| placed.is_leader()).collect();
    for site in roots.iter().filter_map(|root| program.at(root.address)) {
        begins[site as usize] = true;
    }
    let mut blocks = Vec::new();
    let mut start = None;
    for site in 0..program.insts.len() as Site {
        let first = *start.get_or_insert(site);
        let next: SmallVec<[Site; 2]> = program.successors(site).collect();
        let goes_on = next[..] == [site + 1] && !begins[site as usize + 1];
        if !goes_on || program.insts[site as usize].inst.is_call() {
            blocks.push((first, site));
            start = None;
        }
    }
    blocks
}

/// A condition, or a flag: the number of a node, and whether the branch is taken where the node holds.
struct Tested {
    condition: Option<(u32, bool)>,
    behind: Option<(u32, bool)>,
    flag: (u32, bool),
}

/// Conditions that more than one branch tests, with numbers.
fn shared(branches: &[(Site, Tested)]) -> HashMap<u32, u8> {
    let mut counts: HashMap<u32, u32> = HashMap::new();
    for (_, tested) in branches {
        let mut nodes: SmallVec<[u32; 3]> = SmallVec::new();
        for (node, _) in tested.condition.into_iter().chain(tested.behind).chain([tested.flag]) {
            if !nodes.contains(&node) {
                nodes.push(node);
                *counts.entry(node).or_default() += 1;
            }
        }
    }
    // A flag matters only to a branch that finds the flag.
    let mut shared = HashMap::new();
    for (node, _) in branches.iter().filter_map(|(_, tested)| tested.condition) {
        if counts[&node] > 1 && shared.len() < MOST {
            let number = shared.len() as u8;
            shared.entry(node).or_insert(number);
        }
    }
    shared
}

/// A value: a register at the beginning of the block, or what an instruction makes of values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Node {
    Register(Reg, u8),
    Constant(Operand),
    /// Which of the registers that an instruction writes, by its code, and 0 for the first operand.
    Computed(Opcode, Mods, u16, SmallVec<[u32; 4]>),
}

/// By which registers a value is said: those at the beginning of the block from there on, or those at the end.
#[derive(Clone, Copy)]
enum View {
    Beginning(Site),
    End(Site, Site),
}

struct Finder<'a> {
    program: &'a Program,
    nodes: HashMap<Node, u32>,
    /// The registers that each depends on.
    reads: Vec<RegSet>,
}

impl Finder<'_> {
    /// What the branch at the end of a block tests.
    fn tested(&mut self, start: Site, end: Site) -> Option<Tested> {
        let masks = self.program.code.target().wave_size / 32;
        let (flag, if_set) = flag(&self.program.insts[end as usize].inst, masks as u8)?;
        let register = self.node(Node::Register(flag.first, flag.len), RegSet::of(flag));
        let (condition, behind) = match self.last_writer(start, end, flag) {
            None => (Some((register, true)), None),
            Some(site) => (
                self.condition(View::Beginning(start), site, flag),
                self.condition(View::End(start, end), site, flag),
            ),
        };
        let taken = |condition: Option<(u32, bool)>| condition.map(|(node, holds)| (node, holds == if_set));
        Some(Tested { condition: taken(condition), behind: taken(behind), flag: (register, if_set) })
    }

    /// The condition that the instruction at a site computes into a flag, in the one form that all that say the same have.
    fn condition(&mut self, view: View, site: Site, flag: RegRange) -> Option<(u32, bool)> {
        let inst = self.program.insts[site as usize].inst;
        let Some((opcode, swapped, holds)) = compare(inst.op).filter(|_| flag.first == Reg::SCC) else {
            return Some((self.computed(view, site, flag, DEPTH)?, true));
        };
        let mut sources = self.sources(view, site, DEPTH)?;
        if swapped {
            sources.swap(0, 1);
        }
        if matches!(opcode, op::S_CMP_EQ_U32 | op::S_CMP_EQ_U64) {
            sources.sort_unstable();
        }
        let reads = self.all_read(&sources);
        Some((self.node(Node::Computed(opcode, inst.mods, 0, sources), reads), holds))
    }

    fn node(&mut self, node: Node, reads: RegSet) -> u32 {
        let number = self.reads.len() as u32;
        let known = *self.nodes.entry(node).or_insert(number);
        if known == number {
            self.reads.push(reads);
        }
        known
    }

    fn all_read(&self, nodes: &[u32]) -> RegSet {
        nodes.iter().fold(RegSet::EMPTY, |all, node| all.or(&self.reads[*node as usize]))
    }

    /// The last instruction from `start` on and before `end` that writes some of these registers.
    fn last_writer(&self, start: Site, end: Site, registers: RegRange) -> Option<Site> {
        let wanted = RegSet::of(registers);
        (start..end).rev().find(|site| self.program.code.effects(*site).writes.intersects(&wanted))
    }

    /// What registers hold before the instruction at a site.
    fn value(&mut self, view: View, site: Site, registers: RegRange, depth: u32) -> Option<u32> {
        let (start, is_register) = match view {
            View::Beginning(start) => (start, None),
            View::End(start, end) => (start, Some(self.last_writer(site, end, registers).is_none())),
        };
        let writer = if is_register == Some(true) { None } else { self.last_writer(start, site, registers) };
        match writer {
            Some(writer) => self.computed(view, writer, registers, depth.checked_sub(1)?),
            // What was there at the beginning is not there any more.
            None if is_register == Some(false) => None,
            None => Some(self.node(Node::Register(registers.first, registers.len), RegSet::of(registers))),
        }
    }

    /// What an instruction writes to registers.
    fn computed(&mut self, view: View, site: Site, registers: RegRange, depth: u32) -> Option<u32> {
        let MachInst { op, mods, ops, .. } = self.program.insts[site as usize].inst;
        let is_pure =
            matches!(
                op.family(),
                Family::Sop1
                    | Family::Sop2
                    | Family::Sopk
                    | Family::Sopc
                    | Family::Vop1
                    | Family::Vop2
                    | Family::Vop3
                    | Family::Vopc
            ) && !matches!(op, op::S_GETREG_B32 | op::S_CALL_B64 | op::S_SWAPPC_B64 | op::S_GETPC_B64)
                && !op.row().name.contains("movrel");
        let writes = &self.program.code.effects(site).writes;
        if !is_pure || !RegSet::of(registers).without(writes).is_empty() {
            return None;
        }
        let which = match ops[0] == Operand::Reg(registers) {
            true => 0,
            // Of a part of what it writes nothing is known, but for flags.
            false if registers.first == Reg::SCC || registers.first.0 >= Reg::VCC.0 => registers.first.0,
            false => return None,
        };
        let sources = self.sources(view, site, depth)?;
        // A copy is what it copies.
        if matches!(op, op::S_MOV_B32 | op::S_MOV_B64) && which == 0 {
            return sources.first().copied();
        }
        let reads = self.all_read(&sources);
        Some(self.node(Node::Computed(op, mods, which, sources), reads))
    }

    /// What an instruction reads.
    fn sources(&mut self, view: View, site: Site, depth: u32) -> Option<SmallVec<[u32; 4]>> {
        let inst = self.program.insts[site as usize].inst;
        let mut read: SmallVec<[Operand; 4]> = SmallVec::new();
        for (index, operand) in inst.operands().iter().enumerate() {
            if inst.role(index) != Role::Def {
                read.push(*operand);
            }
        }
        let named = read.clone();
        inst.for_each_hw_reg(self.program.code.target(), |role, range| {
            if role != Role::Def && !named.contains(&Operand::Reg(range)) {
                read.push(Operand::Reg(range));
            }
        });
        let mut sources = SmallVec::new();
        for operand in read {
            sources.push(match operand {
                // Flags and constants of the hardware that are read like registers.
                Operand::Reg(range) if (192..256).contains(&range.first.0) && range.first != Reg::SCC => {
                    return None;
                }
                Operand::Reg(range) => self.value(view, site, range, depth)?,
                Operand::Inline(_) | Operand::Literal(_) | Operand::Imm(_) => {
                    self.node(Node::Constant(operand), RegSet::EMPTY)
                }
                _ => return None,
            });
        }
        Some(sources)
    }
}

/// The flag that a branch tests, and whether it is taken where the flag is set; `masks`: dwords of a lane mask.
fn flag(branch: &MachInst, masks: u8) -> Option<(RegRange, bool)> {
    let one = |first| RegRange { first, len: 1 };
    let mask = |first| RegRange { first, len: masks };
    match branch.op {
        op::S_CBRANCH_SCC0 => Some((one(Reg::SCC), false)),
        op::S_CBRANCH_SCC1 => Some((one(Reg::SCC), true)),
        op::S_CBRANCH_VCCZ => Some((mask(Reg::VCC), false)),
        op::S_CBRANCH_VCCNZ => Some((mask(Reg::VCC), true)),
        op::S_CBRANCH_EXECZ => Some((mask(Reg::EXEC), false)),
        op::S_CBRANCH_EXECNZ => Some((mask(Reg::EXEC), true)),
        _ => None,
    }
}

/// A compare as one of few: the operation, whether its sources change places, and whether it holds where the other does.
fn compare(opcode: Opcode) -> Option<(Opcode, bool, bool)> {
    Some(match opcode {
        op::S_CMP_EQ_I32 | op::S_CMP_EQ_U32 => (op::S_CMP_EQ_U32, false, true),
        op::S_CMP_LG_I32 | op::S_CMP_LG_U32 => (op::S_CMP_EQ_U32, false, false),
        op::S_CMP_GT_I32 => (op::S_CMP_GT_I32, false, true),
        op::S_CMP_LE_I32 => (op::S_CMP_GT_I32, false, false),
        op::S_CMP_LT_I32 => (op::S_CMP_GT_I32, true, true),
        op::S_CMP_GE_I32 => (op::S_CMP_GT_I32, true, false),
        op::S_CMP_GT_U32 => (op::S_CMP_GT_U32, false, true),
        op::S_CMP_LE_U32 => (op::S_CMP_GT_U32, false, false),
        op::S_CMP_LT_U32 => (op::S_CMP_GT_U32, true, true),
        op::S_CMP_GE_U32 => (op::S_CMP_GT_U32, true, false),
        op::S_CMP_EQ_U64 => (op::S_CMP_EQ_U64, false, true),
        op::S_CMP_LG_U64 => (op::S_CMP_EQ_U64, false, false),
        op::S_BITCMP0_B32 => (op::S_BITCMP1_B32, false, false),
        op::S_BITCMP1_B32 => (op::S_BITCMP1_B32, false, true),
        op::S_BITCMP0_B64 => (op::S_BITCMP1_B64, false, false),
        op::S_BITCMP1_B64 => (op::S_BITCMP1_B64, false, true),
        op::S_CMPK_LG_U32 => (op::S_CMPK_EQ_U32, false, false),
        op::S_CMPK_LG_I32 => (op::S_CMPK_EQ_I32, false, false),
        op::S_CMPK_LE_I32 => (op::S_CMPK_GT_I32, false, false),
        op::S_CMPK_LE_U32 => (op::S_CMPK_GT_U32, false, false),
        op::S_CMPK_GE_I32 => (op::S_CMPK_LT_I32, false, false),
        op::S_CMPK_GE_U32 => (op::S_CMPK_LT_U32, false, false),
        _ => return None,
    })
}
