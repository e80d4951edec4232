//! The code that can be reached, and where control goes in it.
//!
//! From each root on, instruction by instruction: what is between functions is never read as code. Where control goes is
//! said by the instructions; what they do not say (a register with an address) ends the path, with a note.

use crate::code::Code;
use crate::effects::Effects;
use crate::finding::Site;
use crate::regset::RegSet;
use crate::table::{self, Table};
use crate::targets::{self, Goal, Known};
use isa::table::{Flags, Kind};
use isa::{Decoder, MachInst, Operand, Reg, RegRange, Target, op};
use order::Order as _;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

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
}

impl Unknown {
    /// The rule that it comes under.
    pub fn rule(self) -> &'static str {
        match self {
            Unknown::NoInstruction => crate::rules::UNREADABLE,
            Unknown::Outside => crate::rules::LEAVES,
            _ => crate::rules::NOT_CHECKED,
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

/// A number for the address of each dword of a section, or none.
#[derive(Clone, Debug)]
struct ByAddress {
    base: u64,
    numbers: Vec<u32>,
}

impl ByAddress {
    const NONE: u32 = u32::MAX;

    fn new(base: u64, words: usize) -> ByAddress {
        ByAddress { base, numbers: vec![ByAddress::NONE; words] }
    }

    /// Which dword of the section is at an address.
    fn word(&self, address: u64) -> Option<usize> {
        let offset = address.checked_sub(self.base)?;
        let word = usize::try_from(offset / 4).ok()?;
        (offset % 4 == 0 && word < self.numbers.len()).then_some(word)
    }

    fn get(&self, address: u64) -> Option<u32> {
        let number = self.numbers[self.word(address)?];
        (number != ByAddress::NONE).then_some(number)
    }
}

/// Where control goes after an instruction: addresses.
struct Way {
    next: [Option<u64>; 2],
    table: Option<Table>,
    unknown: Option<Unknown>,
    /// A function that is called.
    callee: Option<u64>,
    returns: bool,
}

/// Whether it is how functions return: seed 000, line 4089, `s[30:31]` is the return address.
pub(crate) fn is_return(inst: &MachInst) -> bool {
    const ADDRESS: Operand = Operand::regs(Reg::sgpr(30), 2);
    inst.op == op::S_SETPC_B64 && inst.ops[0] == ADDRESS
}

/// Rounds in which calls are looked for that others hide.
const MOST_ROUNDS: usize = 16;

/// Dwords of the longest instruction: an image instruction of GFX10 with its address in scattered registers.
const LONGEST: u64 = 5;

/// An instruction that can be reached.
struct Found {
    address: u64,
    inst: MachInst,
    bytes: u64,
}

struct Reader<'a> {
    target: &'static Target,
    decoder: Decoder,
    words: &'a [u32],
    /// In the order in which they were found.
    found: Vec<Found>,
    by_address: ByAddress,
    unknown: Vec<(u64, Unknown)>,
    callees: Vec<u64>,
    /// Where instructions go that go where registers say, as far as it was found.
    goals: HashMap<u64, Goal>,
    /// What functions may change, those that they call among it.
    changes: HashMap<u64, RegSet>,
    /// Literals that are not what a linker will make of them.
    open: &'a HashSet<u64>,
    taken: HashSet<u32>,
}

impl Program {
    /// Reads what can be reached from the roots, to which functions that are called by name are added. `words` begin at
    /// `base`.
    pub fn read(
        target: &'static Target,
        xnack: bool,
        words: &[u32],
        base: u64,
        roots: &mut Vec<Root>,
    ) -> Option<Program> {
        Program::read_open(target, xnack, words, base, roots, &HashSet::new())
    }

    /// The same of a file that is not linked yet: `open` are the addresses of literals that a linker fills in.
    pub(crate) fn read_open(
        target: &'static Target,
        xnack: bool,
        words: &[u32],
        base: u64,
        roots: &mut Vec<Root>,
        open: &HashSet<u64>,
    ) -> Option<Program> {
        let decoder = Decoder::new(target)?;
        let mut reader = Reader {
            target,
            decoder,
            words,
            found: Vec::new(),
            by_address: ByAddress::new(base, words.len()),
            unknown: Vec::new(),
            callees: Vec::new(),
            goals: HashMap::new(),
            changes: HashMap::new(),
            open,
            taken: HashSet::new(),
        };
        let mut known: HashSet<u64> = roots.iter().map(|root| root.address).collect();
        let mut next = 0;
        // Each round may find more: a register survives a call of a function that is known not to write it.
        for _ in 0..MOST_ROUNDS {
            while next < roots.len() {
                reader.follow(roots[next].address);
                for address in std::mem::take(&mut reader.callees) {
                    if known.insert(address) {
                        roots.push(Root { address, is_function: true });
                    }
                }
                next += 1;
            }
            if !reader.find_goals(roots) {
                break;
            }
            // What a jump goes to that was not known before.
            for address in std::mem::take(&mut reader.callees) {
                if known.insert(address) {
                    roots.push(Root { address, is_function: true });
                }
            }
        }
        Some(reader.finish(target, xnack))
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

    /// Whether control comes to an instruction from elsewhere than the one before it.
    pub fn is_leader(&self, site: Site) -> bool {
        self.insts[site as usize].is_leader()
    }
}

impl Reader<'_> {
    fn follow(&mut self, root: u64) {
        let mut open = vec![root];
        while let Some(address) = open.pop() {
            let Some(word) = self.by_address.word(address) else {
                self.unknown.push((address, Unknown::Outside));
                continue;
            };
            if self.by_address.numbers[word] != ByAddress::NONE {
                continue;
            }
            let rest = &self.words[word..];
            let Ok((inst, len)) = self.decoder.decode_tolerant(rest) else {
                self.unknown.push((address, Unknown::NoInstruction));
                continue;
            };
            let bytes = len as u64 * 4;
            self.by_address.numbers[word] = self.found.len() as u32;
            self.found.push(Found { address, inst, bytes });
            let way = self.way(address, &inst, bytes);
            self.callees.extend(way.callee);
            open.extend(way.next.into_iter().flatten());
            open.extend(way.table.into_iter().flat_map(Table::targets));
        }
    }

    fn way(&self, address: u64, inst: &MachInst, bytes: u64) -> Way {
        let row = inst.op.row();
        let after = address.wrapping_add(bytes);
        let next = [Some(after), None];
        let mut way = Way { next, table: None, unknown: None, callee: None, returns: false };
        if !row.flags.contains(Flags::BRANCH) {
            return way;
        }
        let label = row.ops.iter().position(|spec| spec.kind == Kind::Label);
        let target = label.and_then(|index| match inst.operands().get(index) {
            Some(Operand::Imm(distance)) => Some(after.wrapping_add_signed(i64::from(*distance) * 4)),
            _ => None,
        });
        match inst.op {
            op::S_CALL_B64 => way.callee = target.filter(|target| self.by_address.word(*target).is_some()),
            op::S_SWAPPC_B64 => way.callee = self.goal(address, inst.ops[1]),
            op::S_SETPC_B64 if self.goals.get(&address) == Some(&Goal::Return) => {
                (way.next, way.returns) = ([None; 2], true);
            }
            op::S_SETPC_B64 => match self.goal(address, inst.ops[0]) {
                Some(target) => way.next = [Some(target), None],
                None => {
                    way.next = [None; 2];
                    way.table = table::find(self.target, inst.ops[0], self.before(address));
                    way.returns = way.table.is_none() && is_return(inst);
                    let is_known = way.table.is_some() || way.returns;
                    way.unknown = (!is_known).then_some(Unknown::IndirectBranch);
                }
            },
            op::S_RFE_B64 | op::S_RFE_RESTORE_B64 => {
                (way.next, way.unknown) = ([None; 2], Some(Unknown::TrapReturn));
            }
            op::S_CBRANCH_G_FORK | op::S_CBRANCH_I_FORK | op::S_CBRANCH_JOIN => {
                (way.next, way.unknown) = ([None; 2], Some(Unknown::Fork));
            }
            _ if row.flags.contains(Flags::NO_FALLTHROUGH) => way.next = [target, None],
            _ => way.next[1] = target,
        }
        if matches!(inst.op, op::S_CALL_B64 | op::S_SWAPPC_B64) && way.callee.is_none() {
            way.unknown = Some(Unknown::Call);
        }
        way
    }

    /// Where a jump or call to what is in a pair of registers goes.
    fn goal(&self, address: u64, pair: Operand) -> Option<u64> {
        match self.goals.get(&address) {
            Some(Goal::To(target)) => Some(*target),
            _ => self.computed(address, pair),
        }
    }

    /// Follows what registers hold through all code, and finds where jumps and calls by registers go. Whether that leads to more code.
    fn find_goals(&mut self, roots: &[Root]) -> bool {
        let by_registers = |found: &Found| matches!(found.inst.op, op::S_SWAPPC_B64 | op::S_SETPC_B64);
        if !self.found.iter().any(by_registers) {
            return false;
        }
        self.changes = self.changes(roots);
        let heads = self.known_at_heads(roots);
        let mut goals = HashMap::new();
        self.taken.clear();
        for (&head, known) in &heads {
            let mut taken = Vec::new();
            self.walk(head, known.clone(), &heads, &mut |found, known| {
                let pair = match found.inst.op {
                    op::S_SWAPPC_B64 => found.inst.ops[1],
                    op::S_SETPC_B64 => found.inst.ops[0],
                    _ => {
                        taken.extend(known.taken(&found.inst));
                        return;
                    }
                };
                if let Some(goal) = known.goal(pair) {
                    goals.insert(found.address, goal);
                }
            });
            self.taken.extend(taken);
        }
        goals.retain(|_, goal| match goal {
            Goal::To(target) => self.by_address.word(*target).is_some(),
            Goal::Return => true,
        });
        if goals == self.goals {
            return false;
        }
        self.goals = goals;
        // Where the new ways lead.
        let mut open = Vec::new();
        for at in 0..self.found.len() {
            let Found { address, inst, bytes } = self.found[at];
            if self.goals.contains_key(&address) {
                let way = self.way(address, &inst, bytes);
                self.callees.extend(way.callee);
                open.extend(way.next.into_iter().flatten());
            }
        }
        open.into_iter().for_each(|address| self.follow(address));
        true
    }

    /// What each function may change, as far as it is known whom it calls.
    fn changes(&self, roots: &[Root]) -> HashMap<u64, RegSet> {
        let mut changes: HashMap<u64, RegSet> = HashMap::new();
        let mut calls: Vec<(u64, u64)> = Vec::new();
        let lost = targets::lost();
        let mut seen = vec![u64::MAX; self.found.len()];
        // Parts of code that many functions share are a damaged program's.
        let mut budget = 1_000_000 + 64 * self.found.len();
        for root in roots.iter().filter(|root| root.is_function) {
            let mut own = RegSet::EMPTY;
            let mut open = vec![root.address];
            while let Some(address) = open.pop() {
                let Some(at) = self.by_address.get(address) else { continue };
                if std::mem::replace(&mut seen[at as usize], root.address) == root.address {
                    continue;
                }
                let Some(left) = budget.checked_sub(1) else { return HashMap::new() };
                budget = left;
                let Found { inst, bytes, .. } = &self.found[at as usize];
                own.add(&Effects::of(self.target, inst).writes);
                let way = self.way(address, inst, *bytes);
                calls.extend(way.callee.map(|callee| (root.address, callee)));
                if way.unknown.is_some() {
                    own.add(&lost);
                }
                open.extend(way.next.into_iter().flatten());
                open.extend(way.table.into_iter().flat_map(Table::targets));
            }
            changes.insert(root.address, own);
        }
        for _ in 0..MOST_ROUNDS {
            let mut grows = false;
            for (caller, callee) in &calls {
                let theirs = changes.get(callee).copied().unwrap_or(lost);
                let ours = changes.entry(*caller).or_insert(lost);
                grows |= !theirs.without(ours).is_empty();
                ours.add(&theirs);
            }
            if !grows {
                return changes;
            }
        }
        HashMap::new()
    }

    /// What is known at the first instruction of each stretch of code.
    fn known_at_heads(&self, roots: &[Root]) -> HashMap<u64, Known> {
        let mut heads: HashMap<u64, Known> = HashMap::new();
        let mut open = VecDeque::new();
        let reach = |heads: &mut HashMap<u64, Known>, open: &mut VecDeque<u64>, to: u64, known: &Known| {
            let changed = match heads.get_mut(&to) {
                Some(head) => head.join(known),
                None => {
                    heads.insert(to, known.clone());
                    true
                }
            };
            if changed {
                open.push_back(to);
            }
        };
        for root in roots {
            reach(&mut heads, &mut open, root.address, &Known::at_entry(root.is_function));
        }
        // A head is visited again only when less is known there.
        let mut budget = 1_000_000 + 64 * self.found.len();
        while let Some(head) = open.pop_front() {
            let known = heads[&head].clone();
            let (ways, known, steps) = self.walk(head, known, &heads, &mut |_, _| {});
            ways.into_iter().for_each(|to| reach(&mut heads, &mut open, to, &known));
            let Some(left) = budget.checked_sub(steps) else {
                return HashMap::new();
            };
            budget = left;
        }
        heads
    }

    /// Goes from a head to the end of its stretch: where control goes from there, what is known then, and how many instructions there were.
    fn walk(
        &self,
        head: u64,
        mut known: Known,
        heads: &HashMap<u64, Known>,
        see: &mut dyn FnMut(&Found, &Known),
    ) -> (Vec<u64>, Known, usize) {
        let (mut address, mut steps) = (head, 0);
        loop {
            let Some(at) = self.by_address.get(address) else { return (Vec::new(), known, steps) };
            let found = &self.found[at as usize];
            steps += 1;
            see(found, &known);
            let next = address.wrapping_add(found.bytes);
            let calls = matches!(found.inst.op, op::S_SWAPPC_B64 | op::S_CALL_B64);
            let callee = if calls { self.way(address, &found.inst, found.bytes).callee } else { None };
            let changed = callee.and_then(|callee| self.changes.get(&callee));
            known.step(&found.inst, next, !self.open.contains(&(next.wrapping_sub(4))), changed);
            if found.inst.op.row().flags.contains(Flags::BRANCH) {
                let way = self.way(address, &found.inst, found.bytes);
                let mut ways: Vec<u64> = way.next.into_iter().flatten().collect();
                ways.extend(way.table.into_iter().flat_map(Table::targets));
                return (ways, known, steps);
            }
            if heads.contains_key(&next) {
                return (vec![next], known, steps);
            }
            address = next;
        }
    }

    /// What stands in front of an address without a gap, last first.
    fn before(&self, address: u64) -> impl Iterator<Item = (u64, &MachInst, u64)> {
        let mut end = address;
        std::iter::from_fn(move || {
            // The last one that begins before: it ends here, or there is a gap, or another that it overlaps.
            let starts = (1..=LONGEST).filter_map(|words| end.checked_sub(4 * words));
            let found = &self.found[starts.filter_map(|start| self.by_address.get(start)).next()? as usize];
            let follows = found.address + found.bytes == end;
            end = found.address;
            follows.then_some((found.address, &found.inst, found.bytes))
        })
    }

    /// The address in a register pair right after `s_getpc_b64`, `s_add_u32`, `s_addc_u32` (long branches, calls).
    fn computed(&self, address: u64, operand: Operand) -> Option<u64> {
        let Operand::Reg(pair @ RegRange { len: 2, .. }) = operand else { return None };
        let mut before = self.before(address);
        let (_, high, _) = before.next()?;
        let (_, low, _) = before.next()?;
        let (getpc, first, bytes) = before.next()?;
        if [address, address.wrapping_sub(8)].iter().any(|end| self.open.contains(&end.wrapping_sub(4))) {
            return None;
        }
        let is = |inst: &MachInst, op, place: u16| {
            let half = Operand::reg(pair.first.offset(place));
            (inst.op == op && inst.ops[0] == half && inst.ops[1] == half).then_some(inst.ops[2])
        };
        let high = is(high, op::S_ADDC_U32, 1)?.const_u32()?;
        let low = is(low, op::S_ADD_U32, 0)?.const_u32()?;
        if first.op != op::S_GETPC_B64 || first.ops[0] != operand {
            return None;
        }
        let distance = u64::from(high) << 32 | u64::from(low);
        Some(getpc.wrapping_add(bytes).wrapping_add(distance))
    }

    fn finish(mut self, target: &'static Target, xnack: bool) -> Program {
        let mut code = Code::new(target, xnack);
        let count = self.found.len();
        code.reserve(count);
        let mut insts: Vec<Placed> = Vec::with_capacity(count);
        let mut ways = Vec::new();
        let order: Vec<u32> =
            self.by_address.numbers.iter().copied().filter(|&at| at != ByAddress::NONE).collect();
        for &number in &order {
            let Found { address, inst, bytes } = self.found[number as usize];
            code.add(&inst);
            if inst.op.row().flags.contains(Flags::BRANCH) {
                ways.push((insts.len(), self.way(address, &inst, bytes)));
            }
            let placed = Placed {
                address,
                inst,
                bytes,
                next: [None; 2],
                table: None,
                leads: false,
                callee: None,
                returns: false,
            };
            insts.push(placed);
        }
        // From now on places, in the order of addresses.
        for (site, number) in
            self.by_address.numbers.iter_mut().filter(|at| **at != ByAddress::NONE).enumerate()
        {
            *number = site as Site;
        }
        let by_address = self.by_address;
        for placed in &mut insts {
            placed.next[0] = by_address.get(placed.address.wrapping_add(placed.bytes));
        }
        let mut tables = Vec::new();
        for (site, way) in ways {
            insts[site].next = way.next.map(|next| next.and_then(|next| by_address.get(next)));
            insts[site].callee = way.callee.and_then(|callee| by_address.get(callee));
            insts[site].returns = way.returns;
            self.unknown.extend(way.unknown.map(|unknown| (insts[site].address, unknown)));
            tables.extend(way.table.map(|table| (site, table)));
        }
        for site in 0..insts.len() {
            for next in insts[site].next.into_iter().flatten() {
                let straight = next as usize == site + 1 && insts[site].next == [Some(next), None];
                insts[next as usize].leads |= !straight;
            }
        }
        for &(site, table) in &tables {
            insts[site].table = entries(table, &by_address);
            if let Some((first, count)) = insts[site].table {
                insts[first as usize..][..count as usize].iter_mut().for_each(|entry| entry.leads = true);
            }
        }
        for (site, table) in tables {
            // Who jumps in behind the bound has none.
            let since = by_address.get(table.since).map_or(site, |since| since as usize + 1);
            if insts[site].table.is_none() || insts[since..=site].iter().any(Placed::is_leader) {
                self.unknown.push((insts[site].address, Unknown::IndirectBranch));
            }
        }
        self.unknown.order();
        self.unknown.dedup();
        Program {
            code,
            insts,
            unknown: self.unknown,
            local: BTreeSet::new(),
            callers_wait: false,
            taken: self.taken,
            by_address,
        }
    }
}

/// Where the entries of a table are, if all of them were found one behind the other.
fn entries(table: Table, by_address: &ByAddress) -> Option<(Site, u32)> {
    let first = by_address.get(table.first)?;
    let in_row = |(address, site): (u64, Site)| by_address.get(address) == Some(site);
    table.targets().zip(first..).all(in_row).then_some((first, table.count))
}
