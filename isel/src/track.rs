//! Debug information at selection: operations get points, variables the registers that were asked for.
//!
//! Selection asks for registers only where something uses a value. A debugger is no use: it is told of the registers that there are
//! ([`isa::track`]), and code is the same with and without it.

use crate::lower::{Lower, NONE};
use cranelift_entity::SecondaryMap;
use ir::analysis::Loop;
use ir::track::{Leaf, Track, What as Said, is_recomputable};
use ir::{BinOp, Block, CastOp, Function, IntCc, Op, SrcLoc, Type, UnOp, Value, ValueDef};
use isa::track::{Held, MachTrack, Part, Record, Spot, Term, TermOp, Watched, What};
use isa::{Operand, SpareLists, op};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Most leaves times blocks of which it is known what leaves are where blocks begin.
const MOST_HEADS: usize = 1 << 22;

/// No spot yet.
const UNKNOWN: u32 = NONE - 1;

/// How far values are followed back to what they are computed from.
const DEPTH: u32 = 4;

/// The same where a value has registers, and is computed only where those have something else: 4 would find it in 0.3 of 100 places more, for a twentieth
/// of what debug information costs.
const DEPTH_OF_REGISTERS: u32 = 1;

/// Gives each operation its point as its place in the source.
#[inline(never)]
pub(crate) fn number(func: &mut Function, spare: &mut SpareLists) -> Box<MachTrack> {
    func.conclude_track();
    let mut track = spare.track.take().unwrap_or_default();
    track.clear();
    for &block in &func.layout {
        let first = track.places.len() as u32 + 1;
        for &inst in &func.blocks[block].insts {
            track.places.push(func.insts[inst].loc.0);
            func.insts[inst].loc = SrcLoc(track.places.len() as u32);
        }
        track.parts.push(Part { first, end: track.places.len() as u32 + 1, ..Part::default() });
    }
    track
}

/// Fills in what selection has decided.
#[inline(never)]
pub(crate) fn fill(lower: &Lower<'_>, s: &mut Scratch, mut track: Box<MachTrack>) -> Option<Box<MachTrack>> {
    let said = lower.func.track.as_ref()?;
    track.slots.extend_from_slice(&lower.s.slots);
    let named = lower.s.shared.iter().zip(&lower.s.used);
    track.shared.extend(named.map(|(&offset, &used)| if used { offset } else { u32::MAX }));
    s.begin(lower.func, said);
    track.leaves = s.first.last().copied().unwrap_or(0);
    track.mask_dwords = lower.masks.dwords();
    let mut filler = Filler { lower, func: lower.func, s, track };
    filler.records(said);
    filler.heads();
    filler.calls();
    Some(filler.track)
}

/// What a debugger does for an operation whose first operand is of a type.
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

/// Memory of [`fill`].
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// By variable, the number of its first leaf; and how many there are.
    first: Vec<u32>,
    /// By value, its spot: `UNKNOWN` if nobody has asked, `NONE` if nobody knows where it is.
    spots: Vec<u32>,
    /// By block, which it is in the order of the code.
    at: SecondaryMap<Block, Option<u32>>,
    /// By spot: the loop outside of which it means nothing.
    loops: Vec<Option<Loop>>,
    codes: Codes,
    heads: Heads,
    /// What leaves are where a block begins that is looked at.
    begin: Vec<u32>,
}

impl Scratch {
    /// Nothing is known of a function.
    fn begin(&mut self, func: &Function, said: &Track) {
        let Scratch { first, spots, at, loops, .. } = self;
        first.clear();
        first.extend(said.first_leaves());
        spots.clear();
        spots.resize(func.values.len(), UNKNOWN);
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
    fn leaf(&self, leaf: Leaf) -> u32 {
        self.s.first[leaf.variable as usize] + leaf.leaf
    }

    /// Records in the order of their points.
    fn records(&mut self, said: &Track) {
        let mut part = 0;
        for record in &said.records {
            let point = self.func.insts[record.before].loc.0;
            let what = match record.what {
                // Wherever it gets a value, that is in its home, whatever became of the value.
                Said::Value(leaf, _) | Said::Term(leaf, _) | Said::Lost(leaf)
                    if let Some(home) = said.variables[leaf.variable as usize].home =>
                {
                    What::Leaf(self.leaf(leaf), Held::Memory(home.as_u32()))
                }
                Said::Statement(loc) => What::Statement(loc.0),
                Said::Lost(leaf) => What::Leaf(self.leaf(leaf), Held::Lost),
                Said::Value(leaf, value) | Said::Term(leaf, value) => {
                    let held = match self.is_known(said, value, record.block, point) {
                        true => self.held(value, DEPTH),
                        false => Held::Lost,
                    };
                    What::Leaf(self.leaf(leaf), self.seen_in(held, record.block))
                }
            };
            while self.track.parts.get(part).is_some_and(|own| own.end <= point) {
                part += 1;
            }
            let Some(own) = self.track.parts.get_mut(part) else { break };
            let number = self.track.records.len() as u32;
            if own.records.1 == 0 {
                own.records.0 = number;
            }
            own.records.1 = number + 1;
            self.track.records.push(Record { point, what });
        }
    }

    /// Whether a value, or what it is computed from, is known wherever control comes from.
    fn is_known(&self, said: &Track, value: Value, block: Block, point: u32) -> bool {
        match self.func.values[value].def {
            ValueDef::Result(inst, _) if said.keeps(inst) => {
                self.func.args(inst).iter().all(|&arg| self.is_known(said, arg, block, point))
            }
            ValueDef::Result(inst, _) if matches!(self.func.insts[inst].op, Op::Const(_)) => true,
            _ => self.is_there(value, block, point),
        }
    }

    /// Whether a value is known wherever control comes from.
    fn is_there(&self, value: Value, block: Block, point: u32) -> bool {
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

    /// What something is in a block: lost behind the loop that it is of.
    fn seen_in(&self, held: Held, block: Block) -> Held {
        match held {
            Held::Spot(spot) => match self.s.loops[spot as usize] {
                Some(l) if !self.lower.an.loops.contains(l, block) => Held::Lost,
                _ => held,
            },
            _ => held,
        }
    }

    /// What a value is to a debugger. Values are followed back to those that they are computed from, `depth` of them at most.
    fn held(&mut self, value: Value, depth: u32) -> Held {
        let at = value.as_u32() as usize;
        match self.s.spots[at] {
            NONE => return Held::Lost,
            UNKNOWN => {}
            spot => return Held::Spot(spot),
        }
        if let Some(Op::Const(bits)) = self.func.def_op(value) {
            return Held::Constant(bits);
        }
        let held = self.spot(value, depth);
        self.s.spots[at] = if let Held::Spot(spot) = held { spot } else { NONE };
        held
    }

    /// The same of a value that is followed no further.
    fn known(&self, value: Value) -> Held {
        match self.s.spots[value.as_u32() as usize] {
            NONE => Held::Lost,
            UNKNOWN => match self.func.def_op(value) {
                Some(Op::Const(bits)) => Held::Constant(bits),
                _ => Held::Lost,
            },
            spot => Held::Spot(spot),
        }
    }

    fn spot(&mut self, value: Value, depth: u32) -> Held {
        let inside = self.lower.an.loops.innermost(self.func.block_of(value));
        let forms = self.forms(value, inside.is_some());
        let has_none = forms == [NONE; 3];
        // Scalar registers have one value for all lanes, whichever turn of a loop they leave it in.
        let mut scope = inside.filter(|_| forms[0] == NONE && !has_none);
        let mut term = NONE;
        let depth = if has_none { depth } else { depth.min(DEPTH_OF_REGISTERS) };
        if let Some((new, of_args)) = self.term(value, depth) {
            // What is right everywhere by its registers is not made less so.
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
            return Held::Lost;
        }
        let [vector, scalar, mask] = forms;
        let dwords = self.func.ty(value).dwords() as u8;
        self.track.spots.push(Spot { vector, scalar, mask, dwords, term });
        self.s.loops.push(scope);
        Held::Spot(self.track.spots.len() as u32 - 1)
    }

    /// The inner of two loops, of which one may be none; `None` if neither is in the other.
    fn inner(&self, a: Option<Loop>, b: Option<Loop>) -> Option<Option<Loop>> {
        let loops = &self.lower.an.loops;
        let (Some(a), Some(b)) = (a, b) else { return Some(a.or(b)) };
        let is_within = |a, b| loops.contains(b, loops.header(a));
        if is_within(a, b) {
            return Some(Some(a));
        }
        is_within(b, a).then_some(Some(b))
    }

    /// The registers that a value was asked for in, which are watched from here on: vector registers, scalar ones, a mask.
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
            // The vector registers alone are right behind the loop, too.
            forms[1..].fill(NONE);
        }
        forms
    }

    /// How a value is computed, and the loop outside of which that means nothing.
    fn term(&mut self, value: Value, depth: u32) -> Option<(Term, Option<Loop>)> {
        let ValueDef::Result(inst, _) = self.func.values[value].def else { return None };
        let (func, data) = (self.func, &self.func.insts[inst]);
        let args = func.args(inst);
        let first = args.first().map(|&arg| func.ty(arg))?;
        let op = term_op(data.op, first)?;
        let mut term = Term {
            op,
            bits: if first == Type::Bool { 1 } else { 32 * first.dwords() as u8 },
            args: [Held::Lost; 3],
        };
        let mut scope = None;
        for (held, &arg) in term.args.iter_mut().zip(args) {
            *held = match depth.checked_sub(1) {
                Some(depth) => self.held(arg, depth),
                None => self.known(arg),
            };
            let own = match *held {
                Held::Lost => return None,
                Held::Constant(_) | Held::Memory(_) => None,
                Held::Spot(spot) => self.s.loops[spot as usize],
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

    /// Which calls are at which points.
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

    /// What leaves are where blocks begin: what they are at the ends of all that lead there.
    fn heads(&mut self) {
        let (blocks, leaves) = (self.func.layout.len(), self.track.leaves as usize);
        if leaves == 0 || blocks * leaves > MOST_HEADS {
            return;
        }
        let mut codes = std::mem::take(&mut self.s.codes);
        let mut heads = std::mem::take(&mut self.s.heads);
        codes.begin(self.track.spots.len(), self.func.slots.len());
        heads.begin(blocks, leaves);
        self.settle(&mut codes, &mut heads);
        for (n, part) in self.track.parts.iter_mut().enumerate() {
            let first = self.track.heads.len() as u32;
            let of_leaves = heads.at_begin(n).iter().zip(0..).filter(|(code, _)| **code != LOST);
            self.track.heads.extend(of_leaves.map(|(&code, leaf)| (leaf, codes.held(code))));
            part.heads = (first, self.track.heads.len() as u32);
        }
        (self.s.codes, self.s.heads) = (codes, heads);
    }

    /// Goes through the blocks until nothing changes.
    fn settle(&mut self, codes: &mut Codes, heads: &mut Heads) {
        let mut begin = std::mem::take(&mut self.s.begin);
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for &block in self.lower.an.cfg.rpo() {
                let Some(n) = self.s.at[block].map(|n| n as usize) else { continue };
                let preds = self.lower.an.cfg.preds(block).iter();
                heads.meet(preds.filter_map(|&pred| self.s.at[pred]), &mut begin);
                for code in begin.iter_mut().filter(|code| **code != LOST) {
                    if self.seen_in(codes.held(*code), block) == Held::Lost {
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
            if let What::Leaf(leaf, held) = record.what {
                state[leaf as usize] = codes.of(held);
            }
        }
    }
}

/// The code of [`Held::Lost`].
const LOST: u32 = 0;

/// What leaves are, as numbers: spots behind [`LOST`], then slots, then constants.
#[derive(Debug, Default)]
struct Codes {
    first_slot: u32,
    first_constant: u32,
    constants: Vec<u64>,
    known: FxHashMap<u64, u32>,
}

impl Codes {
    /// Of a function with so many.
    fn begin(&mut self, spots: usize, slots: usize) {
        self.first_slot = LOST + 1 + spots as u32;
        self.first_constant = self.first_slot + slots as u32;
        self.constants.clear();
        self.known.clear();
    }

    fn of(&mut self, held: Held) -> u32 {
        match held {
            Held::Lost => LOST,
            Held::Spot(spot) => LOST + 1 + spot,
            Held::Memory(slot) => self.first_slot + slot,
            Held::Constant(bits) => *self.known.entry(bits).or_insert_with(|| {
                self.constants.push(bits);
                self.first_constant + self.constants.len() as u32 - 1
            }),
        }
    }

    fn held(&self, code: u32) -> Held {
        if code == LOST {
            Held::Lost
        } else if code < self.first_slot {
            Held::Spot(code - LOST - 1)
        } else if code < self.first_constant {
            Held::Memory(code - self.first_slot)
        } else {
            Held::Constant(self.constants[(code - self.first_constant) as usize])
        }
    }
}

/// What leaves are at the beginnings and ends of blocks, leaf by leaf: [`Codes`].
#[derive(Debug, Default)]
struct Heads {
    leaves: usize,
    /// Of each block, those at its beginning, then those at its end.
    codes: Vec<u32>,
    /// By block, whether a way there was seen.
    is_seen: Vec<bool>,
}

impl Heads {
    /// Nothing is known.
    fn begin(&mut self, blocks: usize, leaves: usize) {
        self.leaves = leaves;
        self.codes.clear();
        self.codes.resize(2 * blocks * leaves, LOST);
        self.is_seen.clear();
        self.is_seen.resize(blocks, false);
    }

    fn range(&self, block: usize, is_end: bool) -> Range<usize> {
        let start = (2 * block + usize::from(is_end)) * self.leaves;
        start..start + self.leaves
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

    /// What the ends of those blocks that were seen agree on.
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
        all.resize(self.leaves, LOST);
    }
}
