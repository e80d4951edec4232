//! Debug information at instruction selection: numbers the IR instructions, and describes where the
//! variables' values are.
//!
//! Selection allots registers to a value only if an instruction uses the value, and debug information does
//! not count as a use. So this module only describes the registers that selection has allotted anyway (in the
//! form of [`mir::track`]), and the generated code is the same with and without debug information.

use crate::lower::{Lower, NONE};
use cranelift_entity::SecondaryMap;
use ir::analysis::Loop;
use ir::track::{Fragment, Track, What as Said, is_recomputable};
use ir::{BinOp, Block, CastOp, Function, IntCc, Op, SrcLoc, Type, UnOp, Value, ValueDef};
use isa::{Operand, op};
use mir::SpareLists;
use mir::track::{FragmentLocation, MachTrack, Part, Record, Term, TermOp, TrackedValue, Watched, What};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Limit for the number of fragments (scalar parts of variables) times the number of blocks. Above it,
/// [`Filler::heads`] does not compute the fragments' locations at block entries.
const MOST_HEADS: usize = 1 << 22;

/// Entry of [`Scratch::tracked_values`] that has not been computed yet.
const UNKNOWN: u32 = NONE - 1;

/// Largest number of operations in a chain that a debugger must compute. If a value has no register, the
/// debugger computes it from the operands of its operation, and these perhaps from their own operands.
const DEPTH: u32 = 4;

/// Like [`DEPTH`], but for a value that has registers. The debugger computes it only where its registers
/// already hold something else. A limit of 4 would find the value at only 0.3 % more program points, but
/// would make debug information 5 % more expensive to compute.
const DEPTH_OF_REGISTERS: u32 = 1;

/// Gives each instruction of the function a point number, by which later stages identify its machine
/// instructions. The point number replaces the instruction's source location; the source locations move to
/// `MachTrack::places`.
#[inline(never)]
pub(crate) fn number(func: &mut Function, spare: &mut SpareLists) -> Box<MachTrack> {
    func.conclude_track();
    let mut track = spare.track.take().unwrap_or_default();
    track.clear();
    for &block in &func.layout {
        let first = track.places.len() as u32 + 1;
        for &inst in func.blocks[block].insts() {
            track.places.push(func.insts[inst].loc.0);
            func.insts[inst].loc = SrcLoc(track.places.len() as u32);
        }
        track.parts.push(Part { first, end: track.places.len() as u32 + 1, ..Part::default() });
    }
    track
}

/// Completes the debug information with everything that depends on the decisions of selection: the locations
/// of values (tracked values), the assignments to variables, the locations at block entries, and the calls.
#[inline(never)]
pub(crate) fn fill(lower: &Lower<'_>, s: &mut Scratch, mut track: Box<MachTrack>) -> Option<Box<MachTrack>> {
    let said = lower.func.track.as_ref()?;
    track.slots.extend_from_slice(&lower.s.slots);
    let named = lower.s.shared.iter().zip(&lower.s.used);
    track.shared.extend(named.map(|(&offset, &used)| if used { offset } else { u32::MAX }));
    s.begin(lower.func, said);
    track.fragments = s.first.last().copied().unwrap_or(0);
    track.mask_dwords = lower.masks.dwords();
    let mut filler = Filler { lower, func: lower.func, s, track };
    filler.records(said);
    filler.heads();
    filler.calls();
    Some(filler.track)
}

/// Returns the debugger operation that recomputes the result of `op`, given the type of the first operand.
/// `None` if a debugger cannot compute `op`.
fn term_op(op: Op, first: Type) -> Option<TermOp> {
    if !is_recomputable(op) {
        return None;
    }
    Some(match op {
        Op::Bin(op) => match op {
            BinOp::Add => TermOp::Add,
            BinOp::Sub => TermOp::Sub,
            BinOp::Mul => TermOp::Mul,
            BinOp::And => TermOp::And,
            BinOp::Or => TermOp::Or,
            BinOp::Xor => TermOp::Xor,
            BinOp::Shl => TermOp::Shl,
            BinOp::LShr => TermOp::LShr,
            BinOp::AShr => TermOp::AShr,
            _ => return None,
        },
        Op::Un(UnOp::Not) => TermOp::Not,
        Op::Un(UnOp::Neg) => TermOp::Neg,
        Op::Cast(op) => match op {
            CastOp::Zext8 => TermOp::Low(8),
            CastOp::Zext16 => TermOp::Low(16),
            CastOp::Sext8 => TermOp::SignedLow(8),
            CastOp::Sext16 => TermOp::SignedLow(16),
            CastOp::Trunc => TermOp::Low(32),
            CastOp::Sext => TermOp::SignedLow(if first == Type::Bool { 1 } else { 32 }),
            CastOp::Zext => TermOp::Low(if first == Type::Bool { 1 } else { 32 }),
            _ => TermOp::Low(64),
        },
        Op::Icmp(cc) => match cc {
            IntCc::Eq => TermOp::Eq,
            IntCc::Ne => TermOp::Ne,
            IntCc::Ult => TermOp::Ult,
            IntCc::Ule => TermOp::Ule,
            IntCc::Ugt => TermOp::Ugt,
            IntCc::Uge => TermOp::Uge,
            IntCc::Slt => TermOp::Slt,
            IntCc::Sle => TermOp::Sle,
            IntCc::Sgt => TermOp::Sgt,
            IntCc::Sge => TermOp::Sge,
        },
        Op::Select => TermOp::Select,
        Op::PtrAdd => TermOp::Add,
        Op::PtrAddZ => TermOp::AddUnsigned,
        _ => return None,
    })
}

/// Reusable memory of [`fill`].
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// For each variable, the number of its first fragment (scalar part); the last entry is the total number
    /// of fragments.
    first: Vec<u32>,
    /// For each value, the number of its tracked value, which describes where the value is. `UNKNOWN` if it
    /// has not been determined yet; `NONE` if the value is nowhere.
    tracked_values: Vec<u32>,
    /// Position of each block in the order of the code.
    at: SecondaryMap<Block, Option<u32>>,
    /// For each tracked value, the loop outside of which its registers do not hold the value. `None` if there
    /// is no such loop.
    loops: Vec<Option<Loop>>,
    codes: Codes,
    heads: Heads,
    /// Scratch buffer: the location of each fragment, as a number of [`Codes`], at the entry of the block
    /// that is being visited.
    begin: Vec<u32>,
}

impl Scratch {
    /// Resets the tables for function `func`.
    fn begin(&mut self, func: &Function, said: &Track) {
        let Scratch { first, tracked_values, at, loops, .. } = self;
        first.clear();
        first.extend(said.first_fragments());
        tracked_values.clear();
        tracked_values.resize(func.values.len(), UNKNOWN);
        at.clear();
        for (&block, n) in func.layout.iter().zip(0..) {
            at[block] = Some(n);
        }
        loops.clear();
    }
}

struct Filler<'a> {
    lower: &'a Lower<'a>,
    func: &'a Function,
    s: &'a mut Scratch,
    track: Box<MachTrack>,
}

impl Filler<'_> {
    fn fragment_number(&self, fragment: Fragment) -> u32 {
        self.s.first[fragment.variable as usize] + fragment.index
    }

    /// Fills in the records in the order of their points.
    fn records(&mut self, said: &Track) {
        for (part, &block) in self.func.layout.iter().enumerate() {
            let start = self.track.records.len() as u32;
            for &inst in self.func.blocks[block].insts() {
                let point = self.func.insts[inst].loc.0;
                for what in said.notes.before(inst) {
                    let what = self.what(said, what, block, point);
                    self.track.records.push(Record { point, what });
                }
            }
            self.track.parts[part].records = (start, self.track.records.len() as u32);
        }
    }

    /// Translates a fact that begins to hold at a point of a block.
    fn what(&mut self, said: &Track, what: Said, block: Block, point: u32) -> What {
        let fragment = match what {
            Said::Statement(loc) => return What::Statement(loc.0),
            Said::Value(fragment, _) | Said::Term(fragment, _) | Said::Lost(fragment) => fragment,
        };
        let location = match what {
            // A variable that has a fixed place in private memory (its home) is always read from there,
            // whatever happened to the value that was assigned.
            _ if let Some(home) = said.variables[fragment.variable as usize].home => {
                FragmentLocation::Memory(home.as_u32())
            }
            Said::Value(_, value) | Said::Term(_, value) if self.is_known(said, value, block, point) => {
                let location = self.location_of(value, DEPTH);
                self.seen_in(location, block)
            }
            _ => FragmentLocation::Lost,
        };
        What::Fragment(self.fragment_number(fragment), location)
    }

    /// Returns whether a value, or each operand from which the value can be recomputed, is defined on every
    /// path to the point.
    fn is_known(&self, said: &Track, value: Value, block: Block, point: u32) -> bool {
        match self.func.values[value].def {
            ValueDef::Result(inst, _) if said.keeps(inst) => {
                self.func.args(inst).iter().all(|&arg| self.is_known(said, arg, block, point))
            }
            ValueDef::Result(inst, _) if matches!(self.func.insts[inst].op, Op::Const(_)) => true,
            _ => self.is_defined(value, block, point),
        }
    }

    /// Returns whether a value is defined on every path to the point, that is, whether its definition
    /// dominates the point.
    fn is_defined(&self, value: Value, block: Block, point: u32) -> bool {
        match self.func.values[value].def {
            ValueDef::Result(inst, _) if self.func.insts[inst].block == block => {
                self.func.insts[inst].loc.0 < point
            }
            _ => {
                self.lower.an.cfg.is_reachable(block)
                    && self.lower.an.dom.dominates(self.func.block_of(value), block)
            }
        }
    }

    /// Returns the location of a value as it applies in `block`: `Lost` if the location is valid only inside
    /// a loop and the block is outside of it.
    fn seen_in(&self, held: FragmentLocation, block: Block) -> FragmentLocation {
        match held {
            FragmentLocation::Tracked(tracked) => match self.s.loops[tracked as usize] {
                Some(l) if !self.lower.an.loops.contains(l, block) => FragmentLocation::Lost,
                _ => held,
            },
            _ => held,
        }
    }

    /// Returns the location from which a debugger gets a value. If the debugger must compute the value, its
    /// operands are followed at most `depth` operations deep.
    fn location_of(&mut self, value: Value, depth: u32) -> FragmentLocation {
        let at = value.as_u32() as usize;
        match self.s.tracked_values[at] {
            NONE => return FragmentLocation::Lost,
            UNKNOWN => {}
            tracked => return FragmentLocation::Tracked(tracked),
        }
        if let Some(Op::Const(bits)) = self.func.def_op(value) {
            return FragmentLocation::Constant(bits);
        }
        let held = self.track_value(value, depth);
        self.s.tracked_values[at] =
            if let FragmentLocation::Tracked(tracked) = held { tracked } else { NONE };
        held
    }

    /// Returns the location of a value like [`Filler::location_of`], but only if it has been computed before
    /// or the value is a constant. Otherwise returns `Lost`.
    fn computed_location(&self, value: Value) -> FragmentLocation {
        match self.s.tracked_values[value.as_u32() as usize] {
            NONE => FragmentLocation::Lost,
            UNKNOWN => match self.func.def_op(value) {
                Some(Op::Const(bits)) => FragmentLocation::Constant(bits),
                _ => FragmentLocation::Lost,
            },
            tracked => FragmentLocation::Tracked(tracked),
        }
    }

    fn track_value(&mut self, value: Value, depth: u32) -> FragmentLocation {
        let inside = self.lower.an.loops.innermost(self.func.block_of(value));
        let forms = self.forms(value, inside.is_some());
        let has_none = forms == [NONE; 3];
        // A scalar register holds one value for all lanes. After a loop that lanes have left in different
        // iterations, this is no longer the value that each lane had. So scalar registers describe the value
        // only inside the loop.
        let mut scope = inside.filter(|_| forms[0] == NONE && !has_none);
        let mut term = NONE;
        let depth = if has_none { depth } else { depth.min(DEPTH_OF_REGISTERS) };
        if let Some((new, of_args)) = self.term(value, depth) {
            // Usually both the registers of a value and its term (the expression by which a debugger computes
            // it) are given. They are then valid only in the smaller one of their two scopes. A term that is
            // valid only inside a loop is not given if the registers are valid everywhere.
            let agreed = match (scope, of_args) {
                (None, Some(_)) if !has_none => None,
                _ => self.inner(scope, of_args),
            };
            if let Some(agreed) = agreed {
                scope = agreed;
                term = self.track.terms.len() as u32;
                self.track.terms.push(new);
            }
        }
        if has_none && term == NONE {
            return FragmentLocation::Lost;
        }
        let [vector, scalar, mask] = forms;
        let dwords = self.func.ty(value).dwords() as u8;
        self.track.tracked_values.push(TrackedValue { vector, scalar, mask, dwords, term });
        self.s.loops.push(scope);
        FragmentLocation::Tracked(self.track.tracked_values.len() as u32 - 1)
    }

    /// Returns the inner one of two nested loops, where `None` stands for no loop. Returns the outer `None`
    /// if neither loop contains the other.
    fn inner(&self, a: Option<Loop>, b: Option<Loop>) -> Option<Option<Loop>> {
        let loops = &self.lower.an.loops;
        let (Some(a), Some(b)) = (a, b) else { return Some(a.or(b)) };
        let is_within = |a, b| loops.contains(b, loops.header(a));
        if is_within(a, b) {
            return Some(Some(a));
        }
        is_within(b, a).then_some(Some(b))
    }

    /// Tells debug information to follow (watch) the registers that selection has allotted to a value.
    /// Returns, for each form of the value, the number of the first watched register: vector registers,
    /// scalar registers, lane mask.
    fn forms(&mut self, value: Value, in_loop: bool) -> [u32; 3] {
        let at = value.as_u32() as usize;
        let dwords = self.func.ty(value).dwords() as u8;
        let mut forms = [NONE; 3];
        let part = match self.func.values[value].def {
            ValueDef::Param(block, _) => self.s.at[block].unwrap_or(NONE),
            ValueDef::Result(..) => NONE,
        };
        let s = &self.lower.s;
        let masks = self.lower.masks.dwords();
        let tables = [(s.vgprs.get(at), dwords), (s.sgprs.get(at), dwords), (s.masks.get(at), masks)];
        for (form, (start, dwords)) in forms.iter_mut().zip(tables) {
            if let Some(&start) = start
                && start != NONE
            {
                *form = self.watch(start, dwords, part);
            }
        }
        if forms == [NONE; 3]
            && let Some(Operand::Virt(tuple)) = self.lower.known_input(value)
        {
            let form = usize::from(!self.lower.is_vgpr(Operand::Virt(tuple)));
            forms[form] = self.watch(tuple.start, dwords, 0);
        }
        if forms[0] != NONE && in_loop {
            // After the loop, only the vector registers hold, for each lane, the value that the lane had when
            // it left the loop. So the scalar registers and the lane mask are not used.
            forms[1..].fill(NONE);
        }
        forms
    }

    /// Returns the term of a value: the operation and operands from which a debugger computes it. If the
    /// operands are not valid outside of a loop, this loop is returned, too.
    fn term(&mut self, value: Value, depth: u32) -> Option<(Term, Option<Loop>)> {
        let ValueDef::Result(inst, _) = self.func.values[value].def else { return None };
        let (func, data) = (self.func, &self.func.insts[inst]);
        let args = func.args(inst);
        let first = args.first().map(|&arg| func.ty(arg))?;
        let op = term_op(data.op, first)?;
        let mut term = Term {
            op,
            bits: if first == Type::Bool { 1 } else { 32 * first.dwords() as u8 },
            args: [FragmentLocation::Lost; 3],
        };
        let mut scope = None;
        for (held, &arg) in term.args.iter_mut().zip(args) {
            *held = match depth.checked_sub(1) {
                Some(depth) => self.location_of(arg, depth),
                None => self.computed_location(arg),
            };
            let own = match *held {
                FragmentLocation::Lost => return None,
                FragmentLocation::Constant(_) | FragmentLocation::Memory(_) => None,
                FragmentLocation::Tracked(tracked) => self.s.loops[tracked as usize],
            };
            scope = self.inner(scope, own)?;
        }
        Some((term, scope))
    }

    fn watch(&mut self, start: u32, dwords: u8, part: u32) -> u32 {
        let first = self.track.watched.len() as u32;
        for n in 0..u32::from(dwords) {
            let register = self.lower.out.tuples[(start + n) as usize];
            self.track.watched.push(Watched { register, write: None, part, place: None, slot: NONE });
        }
        first
    }

    /// Fills in the list of calls with their points.
    fn calls(&mut self) {
        if self.lower.out.calls.is_empty() {
            return;
        }
        for inst in self.lower.out.blocks.values().flat_map(|block| &block.insts) {
            if matches!(inst.op, op::CALL | op::TAIL_CALL) {
                self.track.calls.push((inst.loc, inst.mods.offset as u32));
            }
        }
    }

    /// Computes the location of each fragment at the entry of each block. It is the location at the ends of
    /// all predecessors if they agree; otherwise the fragment has no known location.
    fn heads(&mut self) {
        let (blocks, fragments) = (self.func.layout.len(), self.track.fragments as usize);
        if fragments == 0 || blocks * fragments > MOST_HEADS {
            return;
        }
        let mut codes = std::mem::take(&mut self.s.codes);
        let mut heads = std::mem::take(&mut self.s.heads);
        codes.begin(self.track.tracked_values.len(), self.func.slots.len());
        heads.begin(blocks, fragments);
        self.run_to_fixpoint(&mut codes, &mut heads);
        for (n, part) in self.track.parts.iter_mut().enumerate() {
            let first = self.track.heads.len() as u32;
            let of_fragments = heads.at_begin(n).iter().zip(0..).filter(|(code, _)| **code != LOST);
            self.track.heads.extend(of_fragments.map(|(&code, fragment)| (fragment, codes.decode(code))));
            part.heads = (first, self.track.heads.len() as u32);
        }
        (self.s.codes, self.s.heads) = (codes, heads);
    }

    /// Visits the blocks in reverse postorder until the locations reach a fixpoint.
    fn run_to_fixpoint(&mut self, codes: &mut Codes, heads: &mut Heads) {
        let mut begin = std::mem::take(&mut self.s.begin);
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for &block in self.lower.an.cfg.rpo() {
                let Some(n) = self.s.at[block].map(|n| n as usize) else { continue };
                let preds = self.lower.an.cfg.preds(block).iter();
                heads.meet(preds.filter_map(|&pred| self.s.at[pred]), &mut begin);
                for code in begin.iter_mut().filter(|code| **code != LOST) {
                    if self.seen_in(codes.decode(*code), block) == FragmentLocation::Lost {
                        *code = LOST;
                    }
                }
                if heads.is_seen[n] && begin == heads.at_begin(n) {
                    continue;
                }
                heads.set(n, false, &begin);
                self.apply(n, codes, &mut begin);
                changed |= !heads.is_seen[n] || begin != heads.at_end(n);
                heads.set(n, true, &begin);
                heads.is_seen[n] = true;
            }
        }
        self.s.begin = begin;
    }

    fn apply(&self, part: usize, codes: &mut Codes, state: &mut [u32]) {
        let (first, end) = self.track.parts[part].records;
        for record in &self.track.records[first as usize..end as usize] {
            if let What::Fragment(fragment, held) = record.what {
                state[fragment as usize] = codes.encode(held);
            }
        }
    }
}

/// The code of [`Held::Lost`].
const LOST: u32 = 0;

/// Numbers for the locations of fragments, so that locations are compared as integers: [`LOST`] first, then
/// tracked values, then slots, then constants.
#[derive(Debug, Default)]
struct Codes {
    first_slot: u32,
    first_constant: u32,
    constants: Vec<u64>,
    known: FxHashMap<u64, u32>,
}

impl Codes {
    /// Starts the numbering of locations for a function with `tracked_values` tracked values and `slots`
    /// memory slots.
    fn begin(&mut self, tracked_values: usize, slots: usize) {
        self.first_slot = LOST + 1 + tracked_values as u32;
        self.first_constant = self.first_slot + slots as u32;
        self.constants.clear();
        self.known.clear();
    }

    fn encode(&mut self, held: FragmentLocation) -> u32 {
        match held {
            FragmentLocation::Lost => LOST,
            FragmentLocation::Tracked(tracked) => LOST + 1 + tracked,
            FragmentLocation::Memory(slot) => self.first_slot + slot,
            FragmentLocation::Constant(bits) => *self.known.entry(bits).or_insert_with(|| {
                self.constants.push(bits);
                self.first_constant + self.constants.len() as u32 - 1
            }),
        }
    }

    fn decode(&self, code: u32) -> FragmentLocation {
        if code == LOST {
            FragmentLocation::Lost
        } else if code < self.first_slot {
            FragmentLocation::Tracked(code - LOST - 1)
        } else if code < self.first_constant {
            FragmentLocation::Memory(code - self.first_slot)
        } else {
            FragmentLocation::Constant(self.constants[(code - self.first_constant) as usize])
        }
    }
}

/// The location of each fragment at the entry and at the exit of each block, as numbers of [`Codes`]. The
/// numbers of all fragments at one entry or exit are contiguous.
#[derive(Debug, Default)]
struct Heads {
    fragments: usize,
    /// For each block, one number for each fragment at the block's entry, followed by one for each fragment
    /// at its exit.
    codes: Vec<u32>,
    /// Whether each block has been visited.
    is_seen: Vec<bool>,
}

impl Heads {
    /// Resets all locations to [`LOST`].
    fn begin(&mut self, blocks: usize, fragments: usize) {
        self.fragments = fragments;
        self.codes.clear();
        self.codes.resize(2 * blocks * fragments, LOST);
        self.is_seen.clear();
        self.is_seen.resize(blocks, false);
    }

    fn range(&self, block: usize, is_end: bool) -> Range<usize> {
        let start = (2 * block + usize::from(is_end)) * self.fragments;
        start..start + self.fragments
    }

    fn at_begin(&self, block: usize) -> &[u32] {
        &self.codes[self.range(block, false)]
    }

    fn at_end(&self, block: usize) -> &[u32] {
        &self.codes[self.range(block, true)]
    }

    fn set(&mut self, block: usize, is_end: bool, to: &[u32]) {
        let range = self.range(block, is_end);
        self.codes[range].copy_from_slice(to);
    }

    /// Stores in `all` the location of each fragment on which the exits of `blocks` agree. Blocks that have
    /// not been visited do not count. A fragment on whose location the exits do not agree gets [`LOST`].
    fn meet(&self, blocks: impl Iterator<Item = u32>, all: &mut Vec<u32>) {
        all.clear();
        for block in blocks.map(|block| block as usize).filter(|&block| self.is_seen[block]) {
            if all.is_empty() {
                all.extend_from_slice(self.at_end(block));
                continue;
            }
            for (own, other) in all.iter_mut().zip(self.at_end(block)) {
                if own != other {
                    *own = LOST;
                }
            }
        }
        all.resize(self.fragments, LOST);
    }
}
