//! Conditions that several branches share: where a wave has taken one way at the first branch, the others go the way that agrees, as long as
//! the registers that the condition is computed from keep their values.
//!
//! # Conditions
//! A condition is the instruction that computes the flag which a branch tests, with the instructions of the same block that compute its
//! sources, down to registers and constants ([`crate::nodes`]). What a branch tests is said by registers as they are at the beginning of its
//! block. What is known behind the branch is that, if the block leaves those registers alone, and the same said by registers as they are at
//! the end. Two branches share a condition if these are the same; compares are brought into one form, so that a branch and its opposite share
//! one.
//!
//! # What follows
//! Compares of one register with constants leave a set of values ([`crate::ranges`]), which decides other compares of the register and, where
//! it is one value, whatever is computed from the register alone. A constant that a block puts into a register decides them too. What is
//! known of a register is known of its copies.
//!
//! A loop that counts a copy down, and code behind the loop that tests the lowest bit of the other register, agree on how often the loop goes
//! round modulo two: a condition says that both registers are even or both odd. A block that adds an odd constant to one of them negates it.
//!
//! # Not here
//! Conditions across calls, and what follows from two registers for a third one.

use crate::finding::Site;
use crate::nodes::{Finder, Held, Tested};
use crate::program::{Program, Root};
use crate::ranges::Ranges;
use crate::regset::RegSet;
use isa::{Reg, RegRange};
use smallvec::{SmallVec, smallvec};
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Which conditions are known, and whether they hold: a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    known: u64,
    holds: u64,
}

impl Facts {
    /// Keeps those of some conditions.
    pub(crate) fn only(self, conditions: u64) -> Facts {
        Facts { known: self.known & conditions, holds: self.holds & conditions }
    }

    fn with(self, condition: u8, holds: bool) -> Facts {
        let bit = 1 << condition;
        Facts { known: self.known | bit, holds: self.holds & !bit | u64::from(holds) << condition }
    }

    fn get(self, condition: u8) -> Option<bool> {
        (self.known >> condition & 1 != 0).then_some(self.holds >> condition & 1 != 0)
    }

    /// Negates some conditions, where they are known.
    fn negate(self, conditions: u64) -> Facts {
        Facts { holds: (self.holds ^ conditions) & self.known, ..self }
    }

    /// What either says.
    fn and_also(self, other: Facts) -> Facts {
        Facts { known: self.known | other.known, holds: self.holds | other.holds }
    }

    /// Those that are known.
    pub(crate) fn known(self) -> u64 {
        self.known
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
    /// Conditions that may decide this one.
    needs: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Block {
    /// Conditions that change in it.
    killed: u64,
    /// Conditions that hold behind the block where they do not hold before.
    negated: u64,
    /// Conditions that the block decides: it writes a constant to their register, or a copy of another register.
    made: Facts,
    /// Conditions that matter at its beginning.
    live: u64,
}

/// A condition, as a statement about a register or two.
#[derive(Clone, Debug)]
enum Says {
    /// Nothing that is known.
    Other,
    /// The register's value is one of these.
    Ranges(Reg, Ranges),
    /// A node holds, which is computed from the register alone.
    Folded(Reg, u32),
    /// Two registers hold the same.
    Equal(Reg, Reg),
    /// The lowest bits of two registers are the same.
    SameParity(Reg, Reg),
}

/// See the module.
#[derive(Default)]
pub(crate) struct Conditions<'a> {
    tests: HashMap<Site, Test>,
    blocks: HashMap<Site, Block>,
    /// The conditions, by number.
    says: Vec<Says>,
    finder: Option<Finder<'a>>,
    /// First and last instructions of blocks.
    ends: Vec<(Site, Site)>,
    distances: OnceCell<HashMap<Site, [u8; MOST]>>,
}

/// The most conditions that are distinguished in a program.
const MOST: usize = 64;
/// The most of them that are no copies.
const MOST_TESTED: usize = 56;

impl<'a> Conditions<'a> {
    /// The conditions that branches of a program share.
    pub(crate) fn of(program: &'a Program, roots: &[Root]) -> Conditions<'a> {
        let mut finder = Finder::new(program);
        let mut branches: Vec<(Site, Tested)> = Vec::new();
        let ends = ends(program, roots);
        for &(start, end) in &ends {
            if let Some(tested) = finder.tested(start, end) {
                branches.push((end, tested));
            }
        }
        let held = held(program, &mut finder, &branches, &ends);
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

    /// Gives each condition its number, and each pair of registers of which one is copied. Returns the registers that each depends on.
    fn number(&mut self, finder: &Finder<'a>, shared: &HashMap<u32, u8>, held: &[Made]) -> Vec<RegSet> {
        let mut nodes: Vec<(u8, u32)> = shared.iter().map(|(node, number)| (*number, *node)).collect();
        nodes.sort_unstable();
        let mut reads = Vec::new();
        for (_, node) in nodes {
            reads.push(finder.reads[node as usize]);
            self.says.push(match (finder.leaf(node), finder.ranges(node)) {
                (Some(leaf), Some(ranges)) => Says::Ranges(leaf, ranges),
                (Some(leaf), None) => Says::Folded(leaf, node),
                _ => Says::Other,
            });
        }
        for made in held {
            let Held::Copy(source) = made.held else { continue };
            if self.says.len() < MOST && self.equal(made.register, source).is_none() {
                let mut both = RegSet::of(RegRange { first: made.register, len: 1 });
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

    /// The condition that two registers hold the same.
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

    /// Finds what each block changes.
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

    /// Finds the blocks that change registers by constants alone: what is known of the lowest bits of the registers is known behind the block.
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

    /// Finds what is known at the ends of blocks that make constants and copies.
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
                                Ranges::one(value).are_in(set)
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

    /// Whether a node holds that is computed from one register, where the register holds a value.
    fn folded(&self, node: u32, value: u32) -> Option<bool> {
        self.finder.as_ref()?.value_at(node, Some(value)).map(|value| value != 0)
    }

    /// Finds which conditions may decide each test. Of a register that its block changes nothing is asked: that is how loops count.
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

    /// The registers that hold what a register holds, by the copies that are said to be there.
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

    /// Returns the register of a condition that depends on the lowest bit of the register alone.
    fn lowest_bit(&self, says: &Says) -> Option<Reg> {
        match says {
            Says::Folded(register, node) if self.finder.as_ref()?.is_of_lowest_bit(*node) => Some(*register),
            _ => None,
        }
    }

    /// Returns the registers whose lowest bits are compared with the one of a register, each with the number of the condition.
    fn partners(&self, register: Option<Reg>) -> impl Iterator<Item = (u8, Reg)> {
        self.says.iter().enumerate().filter_map(move |(number, says)| match *says {
            Says::SameParity(one, other) if register == Some(one) => Some((number as u8, other)),
            Says::SameParity(one, other) if register == Some(other) => Some((number as u8, one)),
            _ => None,
        })
    }

    /// Returns a value with the lowest bit of a register, if the bit follows from the value of a register that is compared with it.
    fn parity(&self, register: Reg, facts: Facts) -> Option<u32> {
        self.partners(Some(register)).find_map(|(number, partner)| {
            let is_same = facts.get(number)?;
            let value = self.possible(partner, facts).only()?;
            Some(value & 1 ^ u32::from(!is_same))
        })
    }

    /// The values that a register may have.
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

    /// Which conditions matter at the beginning of each block: those that some way tests before they change.
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

    /// For each block, how many blocks from there on each condition is tested next, if the condition does not change before.
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

    /// The condition of some that is tested farthest from the beginning of a block on, as a bit.
    pub(crate) fn farthest(&self, program: &Program, block: Site, some: u64) -> Option<u64> {
        let distances = self.distances.get_or_init(|| self.distances(program));
        let far = |number: &usize| distances.get(&block).map_or(0, |far| far[*number]);
        let number = (0..MOST).filter(|number| some >> number & 1 != 0).max_by_key(far)?;
        Some(1 << number)
    }

    /// Whether a branch goes to its target, by what is known at the beginning of its block.
    pub(crate) fn decided(&self, branch: Site, facts: Facts) -> Option<bool> {
        let (condition, taken) = self.tests.get(&branch)?.condition?;
        let holds = facts.get(condition).or_else(|| match &self.says[usize::from(condition)] {
            _ if facts.known == 0 => None,
            Says::Ranges(register, set) => self.possible(*register, facts).are_in(set),
            says @ Says::Folded(register, node) => {
                let value = self.possible(*register, facts).only();
                let value = value.or_else(|| self.parity(self.lowest_bit(says)?, facts))?;
                self.folded(*node, value)
            }
            _ => None,
        });
        holds.map(|holds| holds == taken)
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
        let mut known = facts.only(!block.killed).negate(block.negated).and_also(block.made);
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

/// Whether two pairs have the same registers.
fn is_pair((one, other): (Reg, Reg), pair: (Reg, Reg)) -> bool {
    pair == (one, other) || pair == (other, one)
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

/// Where control goes on in the same function after a block.
fn next_blocks(program: &Program, end: Site) -> SmallVec<[Site; 2]> {
    match program.insts[end as usize].inst.is_call() {
        true => SmallVec::new(),
        false => program.successors(end).collect(),
    }
}

/// A register that a condition depends on, and the constant or the copy that a block writes to the register.
struct Made {
    block: Site,
    register: Reg,
    held: Held,
}

/// What blocks put into the registers that branches test: constants, and copies of one another.
fn held(
    program: &Program,
    finder: &mut Finder<'_>,
    branches: &[(Site, Tested)],
    ends: &[(Site, Site)],
) -> Vec<Made> {
    let nodes = branches.iter().flat_map(|(_, tested)| tested.condition.into_iter().chain(tested.behind));
    let mut leaves: Vec<Reg> = nodes.filter_map(|(node, _)| finder.leaf(node)).collect();
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

/// Conditions that are worth a number: that more than one branch tests, or that something else may decide.
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
        if let Some(leaf) = tested.condition.and_then(|(node, _)| finder.leaf(node)) {
            *tests.entry(leaf).or_default() += 1;
        }
    }
    // Others are tested of a copy, or there are constants that decide.
    for made in held {
        let registers =
            [Some(made.register), if let Held::Copy(source) = made.held { Some(source) } else { None }];
        for register in registers.into_iter().flatten() {
            *tests.entry(register).or_default() += 1;
        }
    }
    let is_shared =
        |node: u32| counts[&node] > 1 || finder.leaf(node).is_some_and(|leaf| tests.get(&leaf) > Some(&1));
    let tested: HashSet<u32> = branches.iter().filter_map(|(_, tested)| Some(tested.condition?.0)).collect();
    // A flag matters only to a branch that finds the flag.
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
