//! The code that control can reach from the roots, and its control-flow graph.
//!
//! A root is a kernel or a function. Code is decoded along the control flow from each root, so data between
//! functions is never decoded. A path ends with a note at an instruction that jumps to an address in a
//! register, if this address is not known.

use crate::by_address::ByAddress;
use crate::code::Code;
use crate::finding::Site;
use crate::reader::{Found, Reader};
use crate::table::Table;
use isa::table::Flags;
use isa::{MachInst, Setting, Target};
use std::collections::{BTreeSet, HashSet};

/// A kernel or function where the analysis begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Root {
    /// Address.
    pub address: u64,
    /// Whether the root is a function and not a kernel. A caller of the function may have operations in
    /// flight.
    pub is_function: bool,
}

/// Why code is not checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unknown {
    /// An indirect branch whose target is not known.
    IndirectBranch,
    /// A call of an unknown function. The checker assumes that the function waits for all operations at its
    /// beginning and before it returns.
    Call,
    /// A fork or join (`s_cbranch_g_fork`, `s_cbranch_join`), for which the hardware keeps a stack of paths.
    Fork,
    /// A return from a trap handler.
    TrapReturn,
    /// The word at this address is not an instruction of the processor.
    NoInstruction,
    /// Control goes to an address outside of the section.
    Outside,
    /// The solver stopped at this place, because it had used up its budget of steps.
    Unfinished,
}

impl Unknown {
    /// Returns the name of the rule under which this is reported.
    pub fn rule(self) -> &'static str {
        match self {
            Unknown::NoInstruction => crate::rules::UNREADABLE,
            Unknown::Outside => crate::rules::LEAVES,
            _ => crate::rules::UNFOLLOWED,
        }
    }

    /// Returns a description for messages.
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

/// An instruction with its address and its successors.
#[derive(Clone, Debug)]
pub struct Placed {
    /// Address.
    pub address: u64,
    /// The instruction.
    pub inst: MachInst,
    /// Size of the instruction in bytes.
    pub bytes: u64,
    /// Instructions to which control may go next.
    next: [Option<Site>; 2],
    /// The jump table of an indirect jump: the instruction that is its first entry, and the number of
    /// entries. Each entry is an instruction of one dword.
    table: Option<(Site, u32)>,
    /// Whether the instruction begins a basic block, because control can come to it from an instruction other
    /// than the previous one.
    leads: bool,
    /// First instruction of the called function, if the instruction is a call.
    callee: Option<Site>,
    /// Whether the instruction returns from its function.
    returns: bool,
}

impl Placed {
    /// Returns whether this instruction begins a basic block, because control can come to it from an
    /// instruction other than the previous one.
    pub(crate) fn is_leader(&self) -> bool {
        self.leads
    }
}

/// The decoded code of one section.
#[derive(Clone, Debug)]
pub struct Program {
    /// The instructions and their effects. Their numbers ([`Site`]s) are in the order of addresses.
    pub code: Code,
    /// The instructions.
    pub insts: Vec<Placed>,
    /// Addresses of code that is not checked, with the reasons.
    pub unknown: Vec<(u64, Unknown)>,
    /// Addresses of the functions that only direct calls reach. [`Program::keep_local`] sets this field.
    pub(crate) local: BTreeSet<u64>,
    /// Whether the calling convention requires that a caller waits for its own operations before a call. If
    /// so, no operation is in flight at the beginning of a function.
    pub callers_wait: bool,
    /// Low halves of the addresses that the code uses for anything but calls, such as function pointers. A
    /// function at such an address may have unknown callers.
    taken: HashSet<u32>,
    by_address: ByAddress,
}

impl Program {
    /// Reads the code that control can reach from `roots`. Adds the functions that the code calls directly to
    /// `roots`. `words` is the content of a section, and `base` is the address of the section.
    pub fn read(
        target: &'static Target,
        xnack: Setting,
        words: &[u32],
        base: u64,
        roots: &mut Vec<Root>,
    ) -> Option<Program> {
        Program::read_open(target, xnack, words, base, roots, &HashSet::new())
    }

    /// Does the same as [`Program::read`], for a file that may not be linked yet. `open` has the addresses of
    /// the literals that a linker will fill in; their values are not known.
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

    /// Returns the instruction at an address.
    pub fn site_at(&self, address: u64) -> Option<Site> {
        self.by_address.get(address)
    }

    /// Returns the instructions to which control may go after an instruction.
    pub fn successors(&self, site: Site) -> impl Iterator<Item = Site> {
        let Placed { next, table, .. } = self.insts[site as usize];
        let (first, count) = table.unwrap_or((0, 0));
        next.into_iter().flatten().chain(first..first + count)
    }

    /// Returns the two successors of a conditional branch: the next instruction and the branch target.
    /// Returns `None` if the instruction is no such branch, or if the branch always goes the same way.
    pub(crate) fn branch_successors(&self, site: Site) -> Option<(Site, Site)> {
        match self.insts[site as usize] {
            Placed { next: [Some(straight), Some(target)], table: None, .. } => Some((straight, target)),
            _ => None,
        }
    }

    /// Returns whether control goes from an instruction only to the next one.
    pub(crate) fn goes_straight(&self, site: Site) -> bool {
        let Placed { next, table, .. } = &self.insts[site as usize];
        *next == [Some(site + 1), None] && table.is_none()
    }

    /// Returns the first instruction of the function that a call instruction calls. Returns `None` if the
    /// function is not known.
    pub fn callee(&self, site: Site) -> Option<Site> {
        self.insts[site as usize].callee
    }

    /// Returns whether an instruction returns from its function.
    pub fn returns(&self, site: Site) -> bool {
        self.insts[site as usize].returns
    }

    /// Determines the local functions. All callers of a local function are known. `hidden` has the addresses
    /// of functions that no other file can call and to which no data refers. Such a function is local if the
    /// code uses its address only for calls.
    pub(crate) fn keep_local(&mut self, hidden: impl Iterator<Item = u64>) {
        self.local = hidden.filter(|address| !self.taken.contains(&(*address as u32))).collect();
    }

    /// Returns the low halves of the addresses that the code uses for anything but calls.
    pub(crate) fn taken(&self) -> &HashSet<u32> {
        &self.taken
    }

    /// Returns whether an instruction begins a basic block, because control can come to it from an
    /// instruction other than the previous one.
    pub fn is_leader(&self, site: Site) -> bool {
        self.insts[site as usize].is_leader()
    }
}

/// Returns for each instruction whether control can reach it. Also returns the addresses that control can
/// reach although there is no instruction.
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

/// Puts the decoded instructions in the order of addresses and connects them.
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
    // From here on, instructions are identified by their numbers in the order of addresses.
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

/// Marks the instructions that begin basic blocks: those to which control can come from an instruction other
/// than the previous one.
fn find_leaders(insts: &mut [Placed]) {
    for site in 0..insts.len() {
        for next in insts[site].next.into_iter().flatten() {
            let straight = next as usize == site + 1 && insts[site].next == [Some(next), None];
            insts[next as usize].leads |= !straight;
        }
    }
}

/// Fills in the entries of jump tables. Returns the indirect jumps for which not all entries are known.
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
        // The bound is the instruction that limits the index of the table. A jump to an instruction after the
        // bound would skip it, so that the index is not limited. If there is such a jump, the table cannot be
        // relied on.
        let since = by_address.get(table.since).map_or(site, |since| since as usize + 1);
        if insts[site].table.is_none() || insts[since..=site].iter().any(Placed::is_leader) {
            unknown.push((insts[site].address, Unknown::IndirectBranch));
        }
    }
    unknown
}

/// Returns the jumps through the registers of the return address that are outside of all functions. They look
/// like returns, but it is not known where they go.
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

/// Returns the entries of a jump table: the number of the first instruction, and the number of entries.
/// Returns `None` unless the entries are consecutive instructions.
fn entries(table: Table, by_address: &ByAddress) -> Option<(Site, u32)> {
    let first = by_address.get(table.first)?;
    let in_row = |(address, site): (u64, Site)| by_address.get(address) == Some(site);
    table.targets().zip(first..).all(in_row).then_some((first, table.count))
}
