//! Decodes the code that control can reach from the roots. Indirect jumps and calls are followed if their
//! targets can be computed. Branches whose condition is constant are followed in one direction.
//!
//! # Guarantees
//! [`Reader::flow_after`] returns all places where control may go after an instruction, or says that they are
//! not known.

use crate::by_address::ByAddress;
use crate::program::{Root, Unknown};
use crate::regset::RegSet;
use crate::table::{self, Table};
use crate::targets::{self, Goal, Known};
use isa::table::{Flags, Kind};
use isa::{Decoder, MachInst, Operand, Reg, RegRange, Target, op};
use smallvec::SmallVec;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

/// The addresses to which control goes after an instruction.
pub(crate) struct Way {
    pub(crate) next: [Option<u64>; 2],
    pub(crate) table: Option<Table>,
    pub(crate) unknown: Option<Unknown>,
    /// Address of the called function, if the instruction is a call.
    pub(crate) callee: Option<u64>,
    pub(crate) returns: bool,
}

impl Way {
    /// Returns all addresses to which control may go, except that of a called function.
    pub(crate) fn places(&self) -> impl Iterator<Item = u64> {
        self.next.into_iter().flatten().chain(self.table.into_iter().flat_map(Table::targets))
    }
}

/// A fact about a branch that follows from values of registers and not from the instruction alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fact {
    /// The target of an indirect jump.
    Goal(Goal),
    /// Whether a conditional branch is taken.
    Taken(bool),
}

/// Returns whether an instruction is the usual return of a function, which jumps to the address in `s[30:31]`
/// (LLVM's AMDGPU guide, seed 000, line 4089).
pub(crate) fn is_return(inst: &MachInst) -> bool {
    const ADDRESS: Operand = Operand::regs(Reg::sgpr(callconv::RETURN_ADDRESS), 2);
    inst.op == op::S_SETPC_B64 && inst.ops[0] == ADDRESS
}

/// Maximum number of rounds of the search for targets of indirect calls.
const MOST_ROUNDS: usize = 16;

/// Number of dwords of the longest instruction, which is an image instruction of GFX10 with its address in
/// non-consecutive registers.
const LONGEST: u64 = 5;

/// A decoded instruction that control can reach.
pub(crate) struct Found {
    pub(crate) address: u64,
    pub(crate) inst: MachInst,
    pub(crate) bytes: u64,
    /// Whether the constant propagation can skip the instruction: it neither reads nor writes locations that
    /// [`Known`] tracks, except VGPR lanes.
    is_vector: bool,
}

impl Found {
    fn next(&self) -> u64 {
        self.address.wrapping_add(self.bytes)
    }
}

/// Decodes the code of a section along the control flow.
pub(crate) struct Reader<'a> {
    target: &'static Target,
    decoder: Decoder,
    words: &'a [u32],
    /// The instructions, in the order in which they were found.
    pub(crate) found: Vec<Found>,
    pub(crate) by_address: ByAddress,
    callees: Vec<u64>,
    /// Facts about branches, by the address of the branch.
    facts: HashMap<u64, Fact>,
    /// Registers that each function may change. Changes by the functions that it calls are included.
    changes: HashMap<u64, RegSet>,
    /// Addresses of literals that a linker will fill in.
    open: &'a HashSet<u64>,
    /// Constants that the code uses for anything but the computation of other constants and calls. If one of
    /// them is the address of a function, the function may have unknown callers.
    pub(crate) taken: HashSet<u32>,
    /// For each function, the pairs of registers in which its callers pass the return address.
    links: HashMap<u64, BTreeSet<u16>>,
    /// Addresses in the middle of basic blocks to which control comes from elsewhere. The blocks have been
    /// followed before, and must be split at these addresses.
    split: Vec<u64>,
}

/// The known values of registers at the beginning of each basic block, and the list of the blocks that have
/// to be followed again.
#[derive(Default)]
struct Heads {
    known: HashMap<u64, Known>,
    open: VecDeque<u64>,
}

impl<'a> Reader<'a> {
    /// Creates a reader for a section. `words` is the content of the section, which begins at address `base`.
    /// `open` has the addresses of literals that a linker fills in.
    pub(crate) fn new(
        target: &'static Target,
        words: &'a [u32],
        base: u64,
        open: &'a HashSet<u64>,
    ) -> Option<Reader<'a>> {
        Some(Reader {
            target,
            decoder: Decoder::new(target)?,
            words,
            found: Vec::new(),
            by_address: ByAddress::new(base, words.len()),
            callees: Vec::new(),
            facts: HashMap::new(),
            changes: HashMap::new(),
            open,
            taken: HashSet::new(),
            links: HashMap::new(),
            split: Vec::new(),
        })
    }

    /// Reads the code that control can reach from `roots`. Adds the functions that the code calls to `roots`.
    pub(crate) fn read(&mut self, roots: &mut Vec<Root>) {
        for root in &*roots {
            let links = self.links.entry(root.address).or_default();
            links.extend(root.is_function.then_some(callconv::RETURN_ADDRESS));
        }
        let mut next = 0;
        // Each round may find more targets, because it knows more functions: a register keeps its value
        // across a call only if the called function is known not to write it.
        for _ in 0..MOST_ROUNDS {
            while next < roots.len() {
                self.follow(roots[next].address);
                self.add_callees(roots);
                next += 1;
            }
            if !self.find_facts(roots) {
                return;
            }
        }
        // The rounds have not reached a fixpoint, so a branch that seems to have a constant condition may not
        // have one. Only the targets of jumps are kept.
        self.facts.retain(|_, fact| matches!(fact, Fact::Goal(_)));
    }

    fn add_callees(&mut self, roots: &mut Vec<Root>) {
        for address in std::mem::take(&mut self.callees) {
            if !roots.iter().any(|root| root.address == address) {
                roots.push(Root { address, is_function: true });
            }
        }
    }

    /// Decodes the code that control can reach from `root`, as far as it can be found without values of
    /// registers.
    fn follow(&mut self, root: u64) {
        let mut open = vec![root];
        while let Some(address) = open.pop() {
            let Some(word) = self.by_address.word(address) else { continue };
            if self.by_address.get(address).is_some() {
                continue;
            }
            let Ok((inst, len)) = self.decoder.decode_tolerant(&self.words[word..]) else { continue };
            let bytes = len as u64 * 4;
            self.by_address.set(word, self.found.len() as u32);
            let is_vector = targets::is_vector(self.target, &inst);
            self.found.push(Found { address, inst, bytes, is_vector });
            let way = self.flow_after(address, &inst, bytes, None);
            if let Some(callee) = way.callee {
                self.called(callee, &inst);
            }
            let branches = inst.op.row().flags.contains(Flags::BRANCH);
            for place in way.places() {
                if branches && self.by_address.mark(place) {
                    self.split.push(place);
                }
                open.push(place);
            }
        }
    }

    /// Records a call. Returns whether it is the first call of this function that passes the return address
    /// in this pair of registers.
    fn called(&mut self, callee: u64, call: &MachInst) -> bool {
        let Operand::Reg(RegRange { first, .. }) = call.ops[0] else { return false };
        self.callees.push(callee);
        self.links.entry(callee).or_default().insert(first.0)
    }

    /// Returns where control goes after an instruction. `fact` is what is known about a branch beyond the
    /// instruction itself, such as its target.
    pub(crate) fn flow_after(&self, address: u64, inst: &MachInst, bytes: u64, fact: Option<Fact>) -> Way {
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
            op::S_SWAPPC_B64 => way.callee = self.goal(address, inst.ops[1], fact),
            op::S_SETPC_B64 if fact == Some(Fact::Goal(Goal::Return)) => {
                (way.next, way.returns) = ([None; 2], true);
            }
            op::S_SETPC_B64 => match self.goal(address, inst.ops[0], fact) {
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
            _ => match fact {
                Some(Fact::Taken(true)) => way.next = [target, None],
                Some(Fact::Taken(false)) => {}
                _ => way.next[1] = target,
            },
        }
        if inst.is_call() && way.callee.is_none() {
            way.unknown = Some(Unknown::Call);
        }
        way
    }

    /// Returns where control goes after an instruction, with the facts about branches that were found in the
    /// end.
    pub(crate) fn final_way(&self, address: u64, inst: &MachInst, bytes: u64) -> Way {
        let branches = inst.op.row().flags.contains(Flags::BRANCH);
        let fact = if branches { self.facts.get(&address).copied() } else { None };
        self.flow_after(address, inst, bytes, fact)
    }

    /// Returns the address to which a jump or call through a pair of registers goes. Returns `None` if the
    /// address is not known.
    fn goal(&self, address: u64, pair: Operand, fact: Option<Fact>) -> Option<u64> {
        match fact {
            Some(Fact::Goal(Goal::To(target))) if self.by_address.word(target).is_some() => Some(target),
            _ => self.computed(address, pair),
        }
    }

    /// Propagates constants through all code and finds facts about branches. Returns whether this has changed
    /// the facts.
    fn find_facts(&mut self, roots: &mut Vec<Root>) -> bool {
        let branches = |found: &Found| found.inst.op.row().flags.contains(Flags::BRANCH);
        if !self.found.iter().any(branches) {
            return false;
        }
        self.changes = self.changes(roots);
        let heads = self.known_at_heads(roots);
        let mut facts = HashMap::new();
        let mut taken = HashSet::new();
        for (&head, known) in &heads {
            self.walk(head, known.clone(), &mut |found, known| {
                match self.fact(found, known) {
                    Some(fact) => _ = facts.insert(found.address, fact),
                    None => taken.extend(known.taken(&found.inst)),
                };
            });
        }
        self.taken = taken;
        let is_new = facts != self.facts;
        self.facts = facts;
        is_new
    }

    fn fact(&self, found: &Found, known: &Known) -> Option<Fact> {
        if !found.inst.op.row().flags.contains(Flags::BRANCH) {
            return None;
        }
        let goal = match found.inst.op {
            op::S_SWAPPC_B64 => known.goal(found.inst.ops[1]),
            op::S_SETPC_B64 => known.goal(found.inst.ops[0]),
            _ => return known.decides(self.target, &found.inst).map(Fact::Taken),
        };
        goal.map(Fact::Goal)
    }

    /// Returns the registers that each function may change. Changes by the functions that it calls are
    /// included as far as these functions are known.
    fn changes(&self, roots: &[Root]) -> HashMap<u64, RegSet> {
        let mut changes: HashMap<u64, RegSet> = HashMap::new();
        let mut calls: Vec<(u64, u64)> = Vec::new();
        let lost = targets::lost();
        let mut seen = vec![u64::MAX; self.found.len()];
        // The budget limits the work in a damaged program, in which many functions may share code.
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
                inst.for_each_written(self.target, |range| own.insert(range));
                let way = self.final_way(address, inst, *bytes);
                calls.extend(way.callee.map(|callee| (root.address, callee)));
                if way.unknown.is_some() {
                    own.add(&lost);
                }
                open.extend(way.places());
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

    /// Returns the known values of registers at the beginning of each basic block. Decodes code that is newly
    /// found to be reachable.
    fn known_at_heads(&mut self, roots: &mut Vec<Root>) -> HashMap<u64, Known> {
        // A function may turn out to get its return address in a further pair of registers. The propagation
        // then starts again; this happens seldom, because there are few such pairs.
        'anew: for _ in 0..MOST_ROUNDS {
            let mut heads = Heads::default();
            self.split.clear();
            for root in &*roots {
                self.enter(&mut heads, root.address);
            }
            // A basic block is followed again only if fewer values are known at its beginning than before, so
            // the loop ends. The budget limits the work in damaged programs.
            let mut budget = 1_000_000 + 64 * self.found.len();
            while let Some(head) = heads.open.pop_front() {
                let (end, known, steps) = self.walk(head, heads.known[&head].clone(), &mut |_, _| {});
                let Some(left) = budget.checked_sub(steps) else { return HashMap::new() };
                budget = left;
                let Some(end) = end else { continue };
                if let Some((call, callee)) = end.call {
                    if self.called(callee, &call) {
                        self.add_callees(roots);
                        continue 'anew;
                    }
                    self.callees.clear();
                    self.enter(&mut heads, callee);
                }
                end.next.into_iter().for_each(|to| self.reach(&mut heads, to, &known));
            }
            return heads.known;
        }
        HashMap::new()
    }

    /// Adds the state at the beginning of the kernel or function `root` to the known values, and follows its
    /// code from there.
    fn enter(&mut self, heads: &mut Heads, root: u64) {
        let links: SmallVec<[u16; 2]> = self.links.get(&root).into_iter().flatten().copied().collect();
        self.reach(heads, root, &Known::at_entry(&links));
    }

    /// Joins known values into the state at the beginning of the basic block at `to`, and decodes the code
    /// from there.
    fn reach(&mut self, heads: &mut Heads, to: u64, known: &Known) {
        if self.by_address.mark(to) {
            self.split.push(to);
        }
        self.follow(to);
        let changed = match heads.known.get_mut(&to) {
            Some(head) => head.join(known),
            None => {
                heads.known.insert(to, known.clone());
                true
            }
        };
        if changed {
            heads.open.push_back(to);
        }
        // A basic block now ends where another block begins in its middle, so it has to be followed again.
        for head in std::mem::take(&mut self.split) {
            let starts = self.before(head).map(|(address, ..)| address);
            let start = starts.into_iter().find(|address| self.by_address.is_marked(*address));
            heads.open.extend(start.filter(|start| heads.known.contains_key(start)));
        }
    }

    /// Propagates known values from the beginning of a basic block to its end. Returns the end of the block,
    /// the known values there, and the number of instructions.
    fn walk(
        &self,
        head: u64,
        mut known: Known,
        see: &mut dyn FnMut(&Found, &Known),
    ) -> (Option<End>, Known, usize) {
        let (mut address, mut steps) = (head, 0);
        loop {
            let Some(at) = self.by_address.get(address) else { return (None, known, steps) };
            let found = &self.found[at as usize];
            steps += 1;
            let next = found.next();
            if found.is_vector && !known.has_lanes() && !self.by_address.is_marked(next) {
                address = next;
                continue;
            }
            see(found, &known);
            let literal = self.open.is_empty() || !self.open.contains(&next.wrapping_sub(4));
            if found.inst.op.row().flags.contains(Flags::BRANCH) {
                let way = self.flow_after(address, &found.inst, found.bytes, self.fact(found, &known));
                let changed = way.callee.and_then(|callee| self.changes.get(&callee));
                known.step(self.target, &found.inst, next, literal, changed);
                let call = way.callee.map(|callee| (found.inst, callee));
                return (Some(End { next: way.places().collect(), call }), known, steps);
            }
            known.step(self.target, &found.inst, next, literal, None);
            if self.by_address.is_marked(next) {
                return (Some(End { next: SmallVec::from_slice(&[next]), call: None }), known, steps);
            }
            address = next;
        }
    }

    /// Returns the instructions before an address, in descending order of addresses. The sequence stops at
    /// the first gap.
    fn before(&self, address: u64) -> impl Iterator<Item = (u64, &MachInst, u64)> {
        let mut end = address;
        std::iter::from_fn(move || {
            // Looks for the nearest instruction that begins before `end`. If it does not end at `end`, there
            // is a gap or instructions overlap, and the sequence stops.
            let starts = (1..=LONGEST).filter_map(|words| end.checked_sub(4 * words));
            let found = &self.found[starts.filter_map(|start| self.by_address.get(start)).next()? as usize];
            let follows = found.next() == end;
            end = found.address;
            follows.then_some((found.address, &found.inst, found.bytes))
        })
    }

    /// Returns the address in a pair of registers, if `s_getpc_b64`, `s_add_u32` and `s_addc_u32` have
    /// computed it directly before the instruction at `address`. Long branches and calls use this sequence.
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
}

/// The end of a basic block.
struct End {
    next: SmallVec<[u64; 2]>,
    /// The call that ends the block, and the address of the called function.
    call: Option<(MachInst, u64)>,
}
