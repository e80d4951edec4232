//! The code that can be reached, and where control goes in it.
//!
//! From each root on, instruction by instruction: what is between functions is never read as code. Where control goes is
//! said by the instructions; what they do not say (a register with an address) ends the path, with a note.

use crate::by_address::ByAddress;
use crate::code::Code;
use crate::finding::Site;
use crate::reader::{Found, Reader};
use crate::table::Table;
use isa::table::Flags;
use isa::{MachInst, Setting, Target};
use std::collections::{BTreeSet, HashSet};

/// Where analysis begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Root {
    /// Address.
    pub address: u64,
    /// Whether it is called: then its caller may have anything under way.
    pub is_function: bool,
}

/// Something that is not checked, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unknown {
    /// An indirect branch: where it leads is not known.
    IndirectBranch,
    /// A call of a function that is not known: it is taken to wait for everything first and before it returns.
    Call,
    /// A fork (`s_cbranch_g_fork`, `s_cbranch_join`): hardware keeps a stack of paths.
    Fork,
    /// Return from a trap handler.
    TrapReturn,
    /// What is there is no instruction of the processor.
    NoInstruction,
    /// Control leaves the section.
    Outside,
    /// The states of the paths that meet are more than the solver looks at.
    Unfinished,
}

impl Unknown {
    /// The rule that it comes under.
    pub fn rule(self) -> &'static str {
        match self {
            Unknown::NoInstruction => crate::rules::UNREADABLE,
            Unknown::Outside => crate::rules::LEAVES,
            _ => crate::rules::UNFOLLOWED,
        }
    }

    /// For people.
    pub fn text(self) -> &'static str {
        match self {
            Unknown::IndirectBranch => "indirect branch: the path is not followed",
            Unknown::Call => {
                "call: the callee is taken to wait for everything when it begins and before it returns"
            }
            Unknown::Fork => "fork: the paths behind it are not followed",
            Unknown::TrapReturn => "return from an exception: the path is not followed",
            Unknown::NoInstruction => "no instruction of this processor: the path is not followed",
            Unknown::Unfinished => {
                "too many paths meet: the code that can be reached from here is not checked to the end"
            }
            Unknown::Outside => "control leaves the section: the path is not followed",
        }
    }
}

/// An instruction and where it is.
#[derive(Clone, Debug)]
pub struct Placed {
    /// Address.
    pub address: u64,
    /// The instruction.
    pub inst: MachInst,
    /// Its bytes.
    pub bytes: u64,
    /// Where control may go, as places.
    next: [Option<Site>; 2],
    /// The first and the number of the places that a jump into a table may go to, which are one dword each.
    table: Option<(Site, u32)>,
    /// Whether another than the instruction before leads here.
    leads: bool,
    /// The first instruction of the function that is called.
    callee: Option<Site>,
    /// Whether it returns from the function.
    returns: bool,
}

impl Placed {
    /// Whether control comes here from elsewhere than the instruction before.
    pub(crate) fn is_leader(&self) -> bool {
        self.leads
    }
}

/// Decoded code of one section.
#[derive(Clone, Debug)]
pub struct Program {
    /// What each instruction does; [`Site`]s are in the order of addresses.
    pub code: Code,
    /// The instructions.
    pub insts: Vec<Placed>,
    /// What is not known.
    pub unknown: Vec<(u64, Unknown)>,
    /// Addresses of functions that nobody calls but by name, as far as this code shows: [`Program::keep_local`] has the last word.
    pub(crate) local: BTreeSet<u64>,
    /// Whether callers wait for what they have under way, so that nothing is when a function begins: the calling convention says so.
    pub callers_wait: bool,
    /// Addresses that the code does something else with than calling.
    taken: HashSet<u32>,
    by_address: ByAddress,
}

impl Program {
    /// Reads what can be reached from the roots, to which functions that are called by name are added. `words` begin at
    /// `base`.
    pub fn read(
        target: &'static Target,
        xnack: Setting,
        words: &[u32],
        base: u64,
        roots: &mut Vec<Root>,
    ) -> Option<Program> {
        Program::read_open(target, xnack, words, base, roots, &HashSet::new())
    }

    /// The same of a file that is not linked yet: `open` are the addresses of literals that a linker fills in.
    pub(crate) fn read_open(
        target: &'static Target,
        xnack: Setting,
        words: &[u32],
        base: u64,
        roots: &mut Vec<Root>,
        open: &HashSet<u64>,
    ) -> Option<Program> {
        let mut reader = Reader::new(target, words, base, open)?;
        reader.read(roots);
        Some(assemble(reader, target, xnack, roots))
    }

    /// The instruction at an address.
    pub fn at(&self, address: u64) -> Option<Site> {
        self.by_address.get(address)
    }

    /// Where control may go after an instruction.
    pub fn successors(&self, site: Site) -> impl Iterator<Item = Site> {
        let Placed { next, table, .. } = self.insts[site as usize];
        let (first, count) = table.unwrap_or((0, 0));
        next.into_iter().flatten().chain(first..first + count)
    }

    /// Where control goes behind a conditional branch of which both ways are open: straight on, and to its target.
    pub(crate) fn ways(&self, site: Site) -> Option<(Site, Site)> {
        match self.insts[site as usize] {
            Placed { next: [Some(straight), Some(target)], table: None, .. } => Some((straight, target)),
            _ => None,
        }
    }

    /// Whether control goes from an instruction to the one behind it and nowhere else.
    pub(crate) fn goes_straight(&self, site: Site) -> bool {
        let Placed { next, table, .. } = &self.insts[site as usize];
        *next == [Some(site + 1), None] && table.is_none()
    }

    /// The function that a call calls, if it is known: its first instruction.
    pub fn callee(&self, site: Site) -> Option<Site> {
        self.insts[site as usize].callee
    }

    /// Whether an instruction returns from the function that it is in.
    pub fn returns(&self, site: Site) -> bool {
        self.insts[site as usize].returns
    }

    /// Says which functions no other file can call, and no data points to. Of those, the ones are local whose addresses are only called:
    /// all their callers are known then.
    pub(crate) fn keep_local(&mut self, hidden: impl Iterator<Item = u64>) {
        self.local = hidden.filter(|address| !self.taken.contains(&(*address as u32))).collect();
    }

    /// The low halves of addresses that the code does something else with than calling.
    pub(crate) fn taken(&self) -> &HashSet<u32> {
        &self.taken
    }

    /// Whether control comes to an instruction from elsewhere than the one before it.
    pub fn is_leader(&self, site: Site) -> bool {
        self.insts[site as usize].is_leader()
    }
}

/// Which instructions control can reach, by number, and what it may reach that is no instruction.
fn live(reader: &Reader<'_>, roots: &[Root]) -> (Vec<bool>, Vec<(u64, Unknown)>) {
    let mut live = vec![false; reader.found.len()];
    let mut unknown = Vec::new();
    let mut open: Vec<u64> = roots.iter().map(|root| root.address).collect();
    while let Some(address) = open.pop() {
        let Some(number) = reader.by_address.get(address) else {
            let is_outside = reader.by_address.word(address).is_none();
            unknown.push((address, if is_outside { Unknown::Outside } else { Unknown::NoInstruction }));
            continue;
        };
        if !std::mem::replace(&mut live[number as usize], true) {
            let Found { inst, bytes, .. } = &reader.found[number as usize];
            open.extend(reader.final_way(address, inst, *bytes).places());
        }
    }
    (live, unknown)
}

/// Puts what was read in the order of addresses.
fn assemble(mut reader: Reader<'_>, target: &'static Target, xnack: Setting, roots: &[Root]) -> Program {
    let (live, mut unknown) = live(&reader, roots);
    let mut code = Code::new(target, xnack);
    let count = live.iter().filter(|live| **live).count();
    code.reserve(count);
    let mut insts: Vec<Placed> = Vec::with_capacity(count);
    let mut ways = Vec::new();
    for number in reader.by_address.numbers().filter(|number| live[*number as usize]) {
        let Found { address, inst, bytes, .. } = reader.found[number as usize];
        code.add(&inst);
        if inst.op.row().flags.contains(Flags::BRANCH) {
            ways.push((insts.len(), reader.final_way(address, &inst, bytes)));
        }
        let (next, table, callee) = ([None; 2], None, None);
        insts.push(Placed { address, inst, bytes, next, table, leads: false, callee, returns: false });
    }
    let taken = std::mem::take(&mut reader.taken);
    let mut by_address = reader.by_address;
    drop(reader.found);
    // From now on places, in the order of addresses.
    let mut sites = 0..;
    by_address.renumber(|number| live[number as usize].then(|| sites.next()).flatten());
    for placed in &mut insts {
        placed.next[0] = by_address.get(placed.address.wrapping_add(placed.bytes));
    }
    let mut tables = Vec::new();
    for (site, way) in ways {
        insts[site].next = way.next.map(|next| next.and_then(|next| by_address.get(next)));
        insts[site].callee = way.callee.and_then(|callee| by_address.get(callee));
        insts[site].returns = way.returns;
        unknown.extend(way.unknown.map(|unknown| (insts[site].address, unknown)));
        tables.extend(way.table.map(|table| (site, table)));
    }
    find_leaders(&mut insts);
    unknown.extend(place_tables(&mut insts, tables, &by_address));
    unknown.extend(stray_returns(&insts, roots, &by_address));
    unknown.sort();
    unknown.dedup();
    let local = BTreeSet::new();
    Program { code, insts, unknown, local, callers_wait: false, taken, by_address }
}

/// Marks instructions to which control comes from elsewhere than the one before.
fn find_leaders(insts: &mut [Placed]) {
    for site in 0..insts.len() {
        for next in insts[site].next.into_iter().flatten() {
            let straight = next as usize == site + 1 && insts[site].next == [Some(next), None];
            insts[next as usize].leads |= !straight;
        }
    }
}

/// Puts the entries of jump tables into place. Returns jumps of which not all entries are known.
fn place_tables(
    insts: &mut [Placed],
    tables: Vec<(usize, Table)>,
    by_address: &ByAddress,
) -> Vec<(u64, Unknown)> {
    for &(site, table) in &tables {
        insts[site].table = entries(table, by_address);
        if let Some((first, count)) = insts[site].table {
            insts[first as usize..][..count as usize].iter_mut().for_each(|entry| entry.leads = true);
        }
    }
    let mut unknown = Vec::new();
    for (site, table) in tables {
        // Who jumps in behind the bound has none.
        let since = by_address.get(table.since).map_or(site, |since| since as usize + 1);
        if insts[site].table.is_none() || insts[since..=site].iter().any(Placed::is_leader) {
            unknown.push((insts[site].address, Unknown::IndirectBranch));
        }
    }
    unknown
}

/// Jumps to what is in the return address's registers, in code that no function reaches: where those lead is not known.
fn stray_returns(insts: &[Placed], roots: &[Root], by_address: &ByAddress) -> Vec<(u64, Unknown)> {
    if !insts.iter().any(|placed| placed.returns) {
        return Vec::new();
    }
    let starts = roots.iter().filter(|root| root.is_function);
    let mut open: Vec<Site> = starts.filter_map(|root| by_address.get(root.address)).collect();
    let mut reached = vec![false; insts.len()];
    while let Some(site) = open.pop() {
        if !std::mem::replace(&mut reached[site as usize], true) {
            let Placed { next, table, .. } = &insts[site as usize];
            let (first, count) = table.unwrap_or((0, 0));
            open.extend(next.iter().flatten().copied().chain(first..first + count));
        }
    }
    let stray = insts.iter().zip(&reached).filter(|(placed, reached)| placed.returns && !**reached);
    stray.map(|(placed, _)| (placed.address, Unknown::IndirectBranch)).collect()
}

/// Where the entries of a table are, if all of them were found one behind the other.
fn entries(table: Table, by_address: &ByAddress) -> Option<(Site, u32)> {
    let first = by_address.get(table.first)?;
    let in_row = |(address, site): (u64, Site)| by_address.get(address) == Some(site);
    table.targets().zip(first..).all(in_row).then_some((first, table.count))
}
