//! Conditions that several branches share. When a wave has passed the first of these branches, the condition
//! is known to be true or false. This also decides the later branches on the condition, as long as the
//! registers from which it is computed keep their values.
//!
//! # Conditions
//! A condition is an expression for the flag that a branch tests ([`crate::nodes`]). It consists of the
//! instruction that computes the flag and of the instructions of the same block that compute its operands,
//! down to registers and constants. The registers in the expression are those at the beginning of the block,
//! or those at its end. After the branch, the expression with the registers at the end is known. The
//! expression with the registers at the beginning is also known, if the block does not change these
//! registers. Two branches share a condition if their expressions are equal. Compares are converted to a
//! canonical form, so that a branch and the opposite branch share a condition.
//!
//! # Implications
//! If a register was compared with a constant, only a set of values is possible for the register
//! ([`crate::ranges`]). The set may decide other compares of the register. If the set has one value, it
//! decides each condition that depends only on this register. A constant that a block writes to a register
//! has the same effect. Facts about a register also hold for its copies.
//!
//! Consider a loop that counts down a copy of a register, and code after the loop that tests the lowest bit
//! of the original register. Both the loop and this code depend on whether the same number is even, so they
//! must agree. To follow this, there are parity conditions, which say that two registers are both even or
//! both odd. A block that changes one of the two registers by an odd constant negates the condition.
//!
//! # Limits
//! Conditions across calls, and implications from two registers to a third, are not handled.

use crate::finding::Site;
use crate::nodes::{Finder, Held, Tested};
use crate::program::{Program, Root};
use crate::ranges::Ranges;
use crate::regset::RegSet;
use isa::{Reg, RegRange};
use smallvec::{SmallVec, smallvec};
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};

/// What is known about conditions: a mask of the conditions that are known to be true or false, and a mask of
/// those that are true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    known: u64,
    holds: u64,
}

impl Facts {
    /// Keeps only the facts about the given conditions.
    pub(crate) fn restricted_to(self, conditions: u64) -> Facts {
        Facts { known: self.known & conditions, holds: self.holds & conditions }
    }

    fn with(self, condition: u8, holds: bool) -> Facts {
        let bit = 1 << condition;
        Facts { known: self.known | bit, holds: self.holds & !bit | u64::from(holds) << condition }
    }

    fn get(self, condition: u8) -> Option<bool> {
        (self.known >> condition & 1 != 0).then_some(self.holds >> condition & 1 != 0)
    }

    /// Negates the facts about the given conditions.
    fn negate(self, conditions: u64) -> Facts {
        Facts { holds: (self.holds ^ conditions) & self.known, ..self }
    }

    /// Returns the union of two sets of facts. If both sets know a condition, the condition is true in the
    /// result if one of the sets says that it is true.
    fn and_also(self, other: Facts) -> Facts {
        Facts { known: self.known | other.known, holds: self.holds | other.holds }
    }

    /// Returns the mask of the conditions whose truth is known.
    pub(crate) fn known_conditions(self) -> u64 {
        self.known
    }
}

/// The condition that a branch tests, in several forms.
#[derive(Clone, Copy, Debug, Default)]
struct Test {
    /// The condition with the registers as they are at the beginning of the block: the number of the
    /// condition, and whether the branch is taken if the condition is true (or if it is false).
    condition: Option<(u8, bool)>,
    /// The condition with the registers as they are at the end of the block: the number of the condition, and
    /// whether the branch is taken if the condition is true (or if it is false).
    behind: Option<(u8, bool)>,
    /// The condition "the flag is set": its number, and whether the branch is taken if the flag is set (or if
    /// it is clear). Later branches that test the same flag again use this condition.
    flag: Option<(u8, bool)>,
    /// Mask of the conditions that may decide this condition.
    needs: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Block {
    /// Mask of the conditions that are unknown after the block, because the block changes a register on which
    /// they depend.
    killed: u64,
    /// Mask of the conditions that the block negates.
    negated: u64,
    /// Conditions that are known after the block, because the block writes a constant or a copy of another
    /// register to the register on which they depend.
    made: Facts,
    /// Mask of the conditions that are live at the beginning of the block. A condition is live if a later
    /// branch may depend on it.
    live: u64,
}

/// What a condition says about one or two registers.
#[derive(Clone, Debug)]
enum Says {
    /// The condition has no meaning that is used to decide others.
    Other,
    /// The value of the register is in this set.
    Ranges(Reg, Ranges),
    /// The node (symbolic value) with this number is true. The node depends only on this register.
    Folded(Reg, u32),
    /// Two registers have the same value.
    Equal(Reg, Reg),
    /// Two registers have the same lowest bit: both are even, or both are odd.
    SameParity(Reg, Reg),
}

/// The conditions of a program that several branches share.
#[derive(Default)]
pub(crate) struct Conditions<'a> {
    tests: HashMap<Site, Test>,
    blocks: HashMap<Site, Block>,
    /// What each condition says about registers.
    says: Vec<Says>,
    finder: Option<Finder<'a>>,
    /// First and last instruction of each block.
    ends: Vec<(Site, Site)>,
    distances: OnceCell<HashMap<Site, [u8; MOST]>>,
}

/// Largest number of conditions in a program.
const MOST: usize = 64;
/// Maximum number of conditions that come from branches. The remaining numbers up to `MOST` are for
/// conditions that relate a register to its copy.
const MOST_TESTED: usize = 56;

impl<'a> Conditions<'a> {
    /// Finds the conditions that branches of a program share.
    pub(crate) fn for_program(program: &'a Program, roots: &[Root]) -> Conditions<'a> {
        let mut finder = Finder::new(program);
        let mut branches: Vec<(Site, Tested)> = Vec::new();
        let ends = ends(program, roots);
        for &(start, end) in &ends {
            if let Some(tested) = finder.tested(start, end) {
                branches.push((end, tested));
            }
        }
        let held = register_constants(program, &mut finder, &branches, &ends);
        let shared = shared(&finder, &branches, &held);
        if shared.is_empty() {
            return Conditions::default();
        }
        let mut conditions = Conditions { ends, ..Conditions::default() };
        let reads = conditions.number(&finder, &shared, &held);
        conditions.find_tests(&branches, &shared);
        conditions.find_blocks(program, &reads);
        conditions.find_parities(&mut finder);
        conditions.finder = Some(finder);
        conditions.find_made(&held);
        conditions.find_needs();
        conditions.find_live(program);
        conditions
    }

    /// Numbers the conditions. For each register that is a copy of another one, adds conditions that relate
    /// the two registers. Returns the registers on which each condition depends.
    fn number(&mut self, finder: &Finder<'a>, shared: &HashMap<u32, u8>, held: &[Made]) -> Vec<RegSet> {
        let mut nodes: Vec<(u8, u32)> = shared.iter().map(|(node, number)| (*number, *node)).collect();
        nodes.sort_unstable();
        let mut reads = Vec::new();
        for (_, node) in nodes {
            reads.push(finder.reads[node as usize]);
            self.says.push(match (finder.only_register(node), finder.ranges(node)) {
                (Some(leaf), Some(ranges)) => Says::Ranges(leaf, ranges),
                (Some(leaf), None) => Says::Folded(leaf, node),
                _ => Says::Other,
            });
        }
        for made in held {
            let Held::Copy(source) = made.held else { continue };
            if self.says.len() < MOST && self.equal(made.register, source).is_none() {
                let mut both = RegSet::from_range(RegRange { first: made.register, len: 1 });
                both.insert(RegRange { first: source, len: 1 });
                reads.push(both);
                self.says.push(Says::Equal(made.register, source));
                let is_tested = |says: &Says| match says {
                    Says::Folded(register, node) => {
                        [made.register, source].contains(register) && finder.is_of_lowest_bit(*node)
                    }
                    _ => false,
                };
                if self.says.len() < MOST && self.says.iter().any(is_tested) {
                    reads.push(both);
                    self.says.push(Says::SameParity(made.register, source));
                }
            }
        }
        reads
    }

    /// Returns the number of the condition that two registers have the same value. Returns `None` if there is
    /// no such condition.
    fn equal(&self, one: Reg, other: Reg) -> Option<u8> {
        let is = |says: &Says| matches!(says, Says::Equal(a, b) if is_pair((*a, *b), (one, other)));
        self.says.iter().position(is).map(|number| number as u8)
    }

    fn find_tests(&mut self, branches: &[(Site, Tested)], shared: &HashMap<u32, u8>) {
        let number = |(node, holds): (u32, bool)| shared.get(&node).map(|number| (*number, holds));
        let tests = branches.iter().map(|(site, tested)| {
            let condition = tested.condition.and_then(number);
            let behind = tested.behind.and_then(number);
            (*site, Test { condition, behind, flag: number(tested.flag), needs: 0 })
        });
        self.tests = tests.collect();
    }

    /// Finds, for each block, the conditions that become unknown because the block changes their registers.
    fn find_blocks(&mut self, program: &Program, reads: &[RegSet]) {
        let any = reads.iter().fold(RegSet::EMPTY, |any, reads| any.or(reads));
        for &(start, end) in &self.ends {
            let mut killed = 0;
            for site in start..=end {
                let effects = program.code.effects(site);
                if effects.writes.intersects(&any) {
                    let hit = reads.iter().enumerate().filter(|(_, reads)| reads.intersects(&effects.writes));
                    killed |= hit.fold(0, |killed, (number, _)| killed | 1 << number);
                }
            }
            self.blocks.insert(start, Block { killed, ..Block::default() });
        }
    }

    /// Finds the blocks that change the two registers of a parity condition only by adding constants. After
    /// such a block, the condition is still known: it is unchanged or negated.
    fn find_parities(&mut self, finder: &mut Finder<'a>) {
        for (number, says) in self.says.iter().enumerate() {
            let Says::SameParity(one, other) = *says else { continue };
            for &(start, end) in &self.ends {
                let Some(block) = self.blocks.get_mut(&start) else { continue };
                if block.killed >> number & 1 == 0 {
                    continue;
                }
                let changes = [one, other].map(|register| finder.adds_odd((start, end), register));
                if let [Some(one), Some(other)] = changes {
                    block.killed &= !(1 << number);
                    block.negated |= u64::from(one != other) << number;
                }
            }
        }
    }

    /// Finds the conditions that become known in each block, because the block writes a constant or a copy to
    /// the register on which they depend.
    fn find_made(&mut self, held: &[Made]) {
        for made in held {
            let mut facts = Facts::default();
            match made.held {
                Held::Copy(source) => {
                    for (number, says) in self.says.iter().enumerate() {
                        if let Says::Equal(one, other) | Says::SameParity(one, other) = *says
                            && is_pair((one, other), (made.register, source))
                        {
                            facts = facts.with(number as u8, true);
                        }
                    }
                }
                Held::Constant(value) => {
                    for (number, says) in self.says.iter().enumerate() {
                        let holds = match says {
                            Says::Ranges(register, set) if *register == made.register => {
                                Ranges::single(value).are_in(set)
                            }
                            Says::Folded(register, node) if *register == made.register => {
                                self.folded(*node, value)
                            }
                            _ => None,
                        };
                        facts = holds.map_or(facts, |holds| facts.with(number as u8, holds));
                    }
                }
            }
            if let Some(block) = self.blocks.get_mut(&made.block) {
                block.made = block.made.and_also(facts);
                block.killed |= facts.known;
            }
        }
    }

    /// Returns whether a condition is true if its only register has the given value. Returns `None` if the
    /// condition cannot be evaluated.
    fn folded(&self, node: u32, value: u32) -> Option<bool> {
        self.finder.as_ref()?.value_at(node, Some(value)).map(|value| value != 0)
    }

    /// Finds, for each condition that a branch tests, the other conditions that may decide it. There are none
    /// if the block of the branch itself changes the register of the condition, as a loop that counts does.
    fn find_needs(&mut self) {
        let block_of = |end: Site, ends: &[(Site, Site)]| {
            let block = ends.binary_search_by_key(&end, |(_, end)| *end).ok()?;
            self.blocks.get(&ends[block].0)
        };
        let mut needs = HashMap::new();
        for (&site, test) in &self.tests {
            let Some((condition, _)) = test.condition else { continue };
            let killed = block_of(site, &self.ends).map_or(0, |block| block.killed);
            let mut mask = 1 << condition;
            if let (Says::Ranges(leaf, _) | Says::Folded(leaf, _), 0) =
                (&self.says[usize::from(condition)], killed >> condition & 1)
            {
                let mut registers = self.same(*leaf, |_| true);
                let lowest = self.lowest_bit(&self.says[usize::from(condition)]);
                registers.extend(self.partners(lowest).map(|(_, partner)| partner));
                for (number, says) in self.says.iter().enumerate() {
                    let is_of = match says {
                        Says::Ranges(register, _) => registers.contains(register),
                        Says::Equal(one, other) => registers.contains(one) && registers.contains(other),
                        Says::SameParity(one, other) => lowest == Some(*one) || lowest == Some(*other),
                        _ => false,
                    };
                    mask |= u64::from(is_of) << number;
                }
            }
            needs.insert(site, mask);
        }
        for (site, mask) in needs {
            self.tests.entry(site).and_modify(|test| test.needs = mask);
        }
    }

    /// Returns the registers that have the same value as the given register, and this register itself.
    /// `is_there` returns whether a condition "the two registers are equal" is known to be true.
    fn same(&self, register: Reg, is_there: impl Fn(u8) -> bool) -> SmallVec<[Reg; 4]> {
        let mut registers: SmallVec<[Reg; 4]> = smallvec![register];
        let mut next = 0;
        while let Some(&register) = registers.get(next) {
            next += 1;
            for (number, says) in self.says.iter().enumerate() {
                let Says::Equal(one, other) = says else { continue };
                for (from, to) in [(one, other), (other, one)] {
                    if *from == register && !registers.contains(to) && is_there(number as u8) {
                        registers.push(*to);
                    }
                }
            }
        }
        registers
    }

    /// Returns the register on which a condition depends, if the condition depends on nothing but the lowest
    /// bit of this register.
    fn lowest_bit(&self, says: &Says) -> Option<Reg> {
        match says {
            Says::Folded(register, node) if self.finder.as_ref()?.is_of_lowest_bit(*node) => Some(*register),
            _ => None,
        }
    }

    /// Returns the registers that a parity condition relates to the given register, each with the number of
    /// this condition.
    fn partners(&self, register: Option<Reg>) -> impl Iterator<Item = (u8, Reg)> {
        self.says.iter().enumerate().filter_map(move |(number, says)| match *says {
            Says::SameParity(one, other) if register == Some(one) => Some((number as u8, other)),
            Says::SameParity(one, other) if register == Some(other) => Some((number as u8, one)),
            _ => None,
        })
    }

    /// Returns a value with the same lowest bit as the register. This bit is known if a parity condition
    /// relates the register to another one whose value is known. Otherwise, returns `None`.
    fn parity(&self, register: Reg, facts: Facts) -> Option<u32> {
        self.partners(Some(register)).find_map(|(number, partner)| {
            let is_same = facts.get(number)?;
            let value = self.possible(partner, facts).only_value()?;
            Some(value & 1 ^ u32::from(!is_same))
        })
    }

    /// Returns the set of values that a register may have, given the facts about conditions.
    fn possible(&self, register: Reg, facts: Facts) -> Ranges {
        let registers = self.same(register, |number| facts.get(number) == Some(true));
        let mut ranges = Ranges::all();
        for (number, says) in self.says.iter().enumerate() {
            let Says::Ranges(register, set) = says else { continue };
            if !registers.contains(register) {
                continue;
            }
            match facts.get(number as u8) {
                Some(true) => ranges = ranges.and(set),
                Some(false) => ranges = ranges.and(&set.complement()),
                None => {}
            }
        }
        ranges
    }

    /// Computes the live conditions at the beginning of each block. A condition is live if a branch on some
    /// path tests it before its registers change.
    fn find_live(&mut self, program: &Program) {
        loop {
            let mut changed = false;
            for &(start, end) in self.ends.iter().rev() {
                let next = next_blocks(program, end).into_iter().filter_map(|site| self.blocks.get(&site));
                let behind = next.fold(0, |live, block| live | block.live);
                let own = self.tests.get(&end).map_or(0, |test| test.needs);
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

    /// Returns a distance for each block and condition: the number of blocks until a branch next tests the
    /// condition. The distance is the largest number if no branch does, or if the registers of the condition
    /// change before.
    fn distances(&self, program: &Program) -> HashMap<Site, [u8; MOST]> {
        const FAR: [u8; MOST] = [u8::MAX; MOST];
        let mut distances: HashMap<Site, [u8; MOST]> =
            self.blocks.keys().map(|start| (*start, FAR)).collect();
        loop {
            let mut changed = false;
            for &(start, end) in self.ends.iter().rev() {
                let Some(block) = self.blocks.get(&start) else { continue };
                let own = self.tests.get(&end).map_or(0, |test| test.needs);
                let mut new = FAR;
                for next in next_blocks(program, end) {
                    let Some(far) = distances.get(&next) else { continue };
                    new.iter_mut().zip(far).for_each(|(new, far)| *new = (*new).min(far.saturating_add(1)));
                }
                for (number, new) in new.iter_mut().enumerate() {
                    *new = if block.killed >> number & 1 != 0 { u8::MAX } else { *new };
                    *new = if own >> number & 1 != 0 { 0 } else { *new };
                }
                changed |= distances.insert(start, new) != Some(new);
            }
            if !changed {
                return distances;
            }
        }
    }

    /// Returns, as a mask with one bit, the condition in the mask `some` that is tested last. This is the
    /// condition whose next test is farthest from the beginning of the block.
    pub(crate) fn farthest(&self, program: &Program, block: Site, some: u64) -> Option<u64> {
        let distances = self.distances.get_or_init(|| self.distances(program));
        let far = |number: &usize| distances.get(&block).map_or(0, |far| far[*number]);
        let number = (0..MOST).filter(|number| some >> number & 1 != 0).max_by_key(far)?;
        Some(1 << number)
    }

    /// Returns whether a branch is taken, if the facts at the beginning of its block decide this, and `None`
    /// otherwise.
    pub(crate) fn decided(&self, branch: Site, facts: Facts) -> Option<bool> {
        let (condition, taken) = self.tests.get(&branch)?.condition?;
        let holds = facts.get(condition).or_else(|| match &self.says[usize::from(condition)] {
            _ if facts.known == 0 => None,
            Says::Ranges(register, set) => self.possible(*register, facts).are_in(set),
            says @ Says::Folded(register, node) => {
                let value = self.possible(*register, facts).only_value();
                let value = value.or_else(|| self.parity(self.lowest_bit(says)?, facts))?;
                self.folded(*node, value)
            }
            _ => None,
        });
        holds.map(|holds| holds == taken)
    }

    /// Returns the facts at the beginning of the block `next` when control comes from the block from `start`
    /// to `end`. `facts` are the facts at the beginning of that earlier block. `taken` says whether its
    /// branch is taken; it is `None` if the earlier block does not end with a branch.
    pub(crate) fn facts_after(
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
        let mut known = facts.restricted_to(!block.killed).negate(block.negated).and_also(block.made);
        if let (Some(taken), Some(test)) = (taken, self.tests.get(&end)) {
            if let Some((condition, holds)) = test.condition.filter(|(c, _)| block.killed >> c & 1 == 0) {
                known = known.with(condition, holds == taken);
            }
            for (condition, holds) in test.behind.into_iter().chain(test.flag) {
                known = known.with(condition, holds == taken);
            }
        }
        known.restricted_to(live)
    }
}

/// Returns whether two pairs consist of the same two registers, in either order.
fn is_pair((one, other): (Reg, Reg), pair: (Reg, Reg)) -> bool {
    pair == (one, other) || pair == (other, one)
}

/// Returns the basic blocks of the program, each as its first and last instruction. A call ends a block.
fn ends(program: &Program, roots: &[Root]) -> Vec<(Site, Site)> {
    let mut begins: Vec<bool> = program.insts.iter().map(|placed| placed.is_leader()).collect();
    for site in roots.iter().filter_map(|root| program.site_at(root.address)) {
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

/// Returns the blocks of the same function to which control goes after a block. After a call there are none,
/// because conditions are not followed across calls.
fn next_blocks(program: &Program, end: Site) -> SmallVec<[Site; 2]> {
    match program.insts[end as usize].inst.is_call() {
        true => SmallVec::new(),
        false => program.successors(end).collect(),
    }
}

/// A write in a block to a register on which a condition depends. The written value is a constant or a copy
/// of another register.
struct Made {
    block: Site,
    register: Reg,
    held: Held,
}

/// Finds the writes of constants and of copies of other registers to registers on which conditions depend.
fn register_constants(
    program: &Program,
    finder: &mut Finder<'_>,
    branches: &[(Site, Tested)],
    ends: &[(Site, Site)],
) -> Vec<Made> {
    let nodes = branches.iter().flat_map(|(_, tested)| tested.condition.into_iter().chain(tested.behind));
    let mut leaves: Vec<Reg> = nodes.filter_map(|(node, _)| finder.only_register(node)).collect();
    leaves.sort_unstable();
    leaves.dedup();
    let mut all = RegSet::EMPTY;
    leaves.iter().for_each(|leaf| all.insert(RegRange { first: *leaf, len: 1 }));
    let mut held = Vec::new();
    for &(start, end) in ends {
        let mut written = RegSet::EMPTY;
        (start..=end).for_each(|site| written.add(&program.code.effects(site).writes.and(&all)));
        for &register in leaves.iter().filter(|leaf| written.contains(**leaf)) {
            match finder.at_end((start, end), register) {
                Some(Held::Copy(source)) if source == register || !leaves.contains(&source) => {}
                Some(value) => held.push(Made { block: start, register, held: value }),
                None => {}
            }
        }
    }
    held
}

/// Returns the conditions that are worth tracking, each with a number. A condition is worth tracking if
/// several branches test it, or if another condition may decide it.
fn shared(finder: &Finder<'_>, branches: &[(Site, Tested)], held: &[Made]) -> HashMap<u32, u8> {
    let mut counts: HashMap<u32, u32> = HashMap::new();
    let mut tests: BTreeMap<Reg, u32> = BTreeMap::new();
    for (_, tested) in branches {
        let mut nodes: SmallVec<[u32; 3]> = SmallVec::new();
        for (node, _) in tested.condition.into_iter().chain(tested.behind).chain([tested.flag]) {
            if !nodes.contains(&node) {
                nodes.push(node);
                *counts.entry(node).or_default() += 1;
            }
        }
        if let Some(leaf) = tested.condition.and_then(|(node, _)| finder.only_register(node)) {
            *tests.entry(leaf).or_default() += 1;
        }
    }
    // A block that writes a constant or a copy to a register counts like a branch that tests the register,
    // because the write may decide conditions of the register.
    for made in held {
        let registers =
            [Some(made.register), if let Held::Copy(source) = made.held { Some(source) } else { None }];
        for register in registers.into_iter().flatten() {
            *tests.entry(register).or_default() += 1;
        }
    }
    let is_shared = |node: u32| {
        counts[&node] > 1 || finder.only_register(node).is_some_and(|leaf| tests.get(&leaf) > Some(&1))
    };
    let tested: HashSet<u32> = branches.iter().filter_map(|(_, tested)| Some(tested.condition?.0)).collect();
    // The condition "the flag is set" gets a number only if a branch tests the flag in a block that does not
    // compute it.
    let mut shared = HashMap::new();
    for (node, _) in branches.iter().flat_map(|(_, tested)| tested.condition.into_iter().chain(tested.behind))
    {
        if (tested.contains(&node) || finder.ranges(node).is_some())
            && is_shared(node)
            && shared.len() < MOST_TESTED
        {
            let number = shared.len() as u8;
            shared.entry(node).or_insert(number);
        }
    }
    shared
}
