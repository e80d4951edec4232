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

/// Most leaves times blocks of which it is known what leaves are where blocks begin.
const MOST_HEADS: usize = 1 << 22;

/// No spot yet.
const UNKNOWN: u32 = NONE - 1;

/// How far values are followed back to what they are computed from.
const DEPTH: u32 = 4;

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
pub(crate) fn fill(lower: &Lower<'_>, mut track: Box<MachTrack>) -> Option<Box<MachTrack>> {
    let said = lower.func.track.as_ref()?;
    track.slots.extend_from_slice(&lower.s.slots);
    let named = lower.s.shared.iter().zip(&lower.s.used);
    track.shared.extend(named.map(|(&offset, &used)| if used { offset } else { u32::MAX }));
    let mut filler = Filler {
        lower,
        func: lower.func,
        first: said.first_leaves(),
        spots: vec![UNKNOWN; lower.func.values.len()],
        at: SecondaryMap::with_capacity(lower.func.blocks.len()),
        loops: Vec::with_capacity(64),
        track,
    };
    for (&block, n) in filler.func.layout.iter().zip(0..) {
        filler.at[block] = Some(n);
    }
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

struct Filler<'a> {
    lower: &'a Lower<'a>,
    func: &'a Function,
    first: Vec<u32>,
    /// By value, its spot: `UNKNOWN` if nobody has asked, `NONE` if nobody knows where it is.
    spots: Vec<u32>,
    /// By block, which it is in the order of the code.
    at: SecondaryMap<Block, Option<u32>>,
    /// By spot: the loop outside of which it means nothing.
    loops: Vec<Option<Loop>>,
    track: Box<MachTrack>,
}

impl Filler<'_> {
    fn leaf(&self, leaf: Leaf) -> u32 {
        self.first[leaf.variable as usize] + leaf.leaf
    }

    /// Records in the order of their points.
    fn records(&mut self, said: &Track) {
        let mut part = 0;
        for record in &said.records {
            let point = self.func.insts[record.before].loc.0;
            let what = match record.what {
                // Wherever it gets a value, that is in its home, whatever became of the value.
                Said::Value(leaf, _) | Said::Term(leaf, _) | Said::Constant(leaf, _) | Said::Lost(leaf)
                    if let Some(home) = said.variables[leaf.variable as usize].home =>
                {
                    What::Leaf(self.leaf(leaf), Held::Memory(home.as_u32()))
                }
                Said::Statement(loc) => What::Statement(loc.0),
                Said::Lost(leaf) => What::Leaf(self.leaf(leaf), Held::Lost),
                Said::Constant(leaf, bits) => What::Leaf(self.leaf(leaf), Held::Constant(bits)),
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
            Held::Spot(spot) => match self.loops[spot as usize] {
                Some(l) if !self.lower.an.loops.contains(l, block) => Held::Lost,
                _ => held,
            },
            _ => held,
        }
    }

    /// What a value is to a debugger. Values are followed back to those that they are computed from, `depth` of them at most.
    fn held(&mut self, value: Value, depth: u32) -> Held {
        let at = value.as_u32() as usize;
        match self.spots[at] {
            NONE => return Held::Lost,
            UNKNOWN => {}
            spot => return Held::Spot(spot),
        }
        if let Some(Op::Const(bits)) = self.func.def_op(value) {
            return Held::Constant(bits);
        }
        let held = self.spot(value, depth);
        self.spots[at] = if let Held::Spot(spot) = held { spot } else { NONE };
        held
    }

    fn spot(&mut self, value: Value, depth: u32) -> Held {
        let forms = self.forms(value);
        let has_none = forms == [NONE; 3];
        // Scalar registers have one value for all lanes, whichever turn of a loop they leave it in.
        let inside = self.lower.an.loops.innermost(self.func.block_of(value));
        let mut scope = inside.filter(|_| forms[0] == NONE && !has_none);
        let mut term = NONE;
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
        self.loops.push(scope);
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
    fn forms(&mut self, value: Value) -> [u32; 3] {
        let at = value.as_u32() as usize;
        let dwords = self.func.ty(value).dwords() as u8;
        let mut forms = [NONE; 3];
        let part = match self.func.values[value].def {
            ValueDef::Param(block, _) => self.at[block],
            ValueDef::Result(..) => None,
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
            forms[form] = self.watch(tuple.start, dwords, Some(0));
        }
        if forms[0] != NONE && self.lower.an.loops.innermost(self.func.block_of(value)).is_some() {
            // The vector registers alone are right behind the loop, too.
            forms[1..].fill(NONE);
        }
        forms
    }

    /// How a value is computed, and the loop outside of which that means nothing.
    fn term(&mut self, value: Value, depth: u32) -> Option<(Term, Option<Loop>)> {
        let ValueDef::Result(inst, _) = self.func.values[value].def else { return None };
        let depth = depth.checked_sub(1)?;
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
            *held = self.held(arg, depth);
            let own = match *held {
                Held::Lost => return None,
                Held::Constant(_) | Held::Memory(_) => None,
                Held::Spot(spot) => self.loops[spot as usize],
            };
            scope = self.inner(scope, own)?;
        }
        Some((term, scope))
    }

    fn watch(&mut self, start: u32, dwords: u8, part: Option<u32>) -> u32 {
        let first = self.track.watched.len() as u32;
        for n in 0..u32::from(dwords) {
            let register = self.lower.out.tuples[(start + n) as usize];
            self.track.watched.push(Watched { register, write: None, part, place: None, slot: None });
        }
        first
    }

    /// Which calls are at which points.
    fn calls(&mut self) {
        for inst in self.lower.out.blocks.values().flat_map(|block| &block.insts) {
            if matches!(inst.op, op::CALL | op::TAIL_CALL) {
                self.track.calls.push((inst.loc, inst.mods.offset as u32));
            }
        }
    }

    /// What leaves are where blocks begin: what they are at the ends of all that lead there.
    fn heads(&mut self) {
        let (blocks, leaves) = (self.func.layout.len(), *self.first.last().unwrap_or(&0) as usize);
        if leaves == 0 || blocks * leaves > MOST_HEADS {
            return;
        }
        let mut codes = Codes::new(self.track.spots.len(), self.func.slots.len());
        let mut known = Heads::new(blocks, leaves);
        let mut begin = Vec::with_capacity(leaves);
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for &block in self.lower.an.cfg.rpo() {
                let Some(n) = self.at[block].map(|n| n as usize) else { continue };
                let preds = self.lower.an.cfg.preds(block).iter();
                known.meet(preds.filter_map(|&pred| self.at[pred]), &mut begin);
                for code in begin.iter_mut().filter(|code| **code != LOST) {
                    if self.seen_in(codes.held(*code), block) == Held::Lost {
                        *code = LOST;
                    }
                }
                if known.is_seen[n] && begin == known.begin(n) {
                    continue;
                }
                known.begins[n * leaves..(n + 1) * leaves].copy_from_slice(&begin);
                self.apply(n, &mut codes, &mut begin);
                changed |= !known.is_seen[n] || begin != known.end(n);
                known.ends[n * leaves..(n + 1) * leaves].copy_from_slice(&begin);
                known.is_seen[n] = true;
            }
        }
        for (n, part) in self.track.parts.iter_mut().enumerate() {
            let first = self.track.heads.len() as u32;
            let of_leaves = known.begin(n).iter().zip(0..).filter(|(code, _)| **code != LOST);
            self.track.heads.extend(of_leaves.map(|(&code, leaf)| (leaf, codes.held(code))));
            part.heads = (first, self.track.heads.len() as u32);
        }
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
struct Codes {
    first_slot: u32,
    first_constant: u32,
    constants: Vec<u64>,
    known: FxHashMap<u64, u32>,
}

impl Codes {
    fn new(spots: usize, slots: usize) -> Codes {
        let first_slot = LOST + 1 + spots as u32;
        let first_constant = first_slot + slots as u32;
        Codes { first_slot, first_constant, constants: Vec::new(), known: FxHashMap::default() }
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
struct Heads {
    leaves: usize,
    begins: Vec<u32>,
    ends: Vec<u32>,
    /// By block, whether a way there was seen.
    is_seen: Vec<bool>,
}

impl Heads {
    fn new(blocks: usize, leaves: usize) -> Heads {
        let none = vec![LOST; blocks * leaves];
        Heads { leaves, begins: none.clone(), ends: none, is_seen: vec![false; blocks] }
    }

    fn begin(&self, block: usize) -> &[u32] {
        &self.begins[block * self.leaves..(block + 1) * self.leaves]
    }

    fn end(&self, block: usize) -> &[u32] {
        &self.ends[block * self.leaves..(block + 1) * self.leaves]
    }

    /// What the ends of those blocks that were seen agree on.
    fn meet(&self, blocks: impl Iterator<Item = u32>, all: &mut Vec<u32>) {
        all.clear();
        for block in blocks.map(|block| block as usize).filter(|&block| self.is_seen[block]) {
            if all.is_empty() {
                all.extend_from_slice(self.end(block));
                continue;
            }
            for (own, other) in all.iter_mut().zip(self.end(block)) {
                if own != other {
                    *own = LOST;
                }
            }
        }
        all.resize(self.leaves, LOST);
    }
}
