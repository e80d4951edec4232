//! Promotion of private variables to SSA values.
//!
//! A slot is promoted if it is only loaded and stored, plainly and at constant offsets, in pieces that
//! overlap completely or not at all. Each piece becomes a variable, and each read of it the value that
//! reaches it: found on demand from predecessors, with a block parameter where several values meet
//! (M. Braun et al., "Simple and Efficient Construction of Static Single Assignment Form", CC 2013, with
//! the control flow known from the start). A variable read before it was written is zero.

use crate::analysis::Cfg;
use crate::edit::Subst;
use crate::entity::{Block, Inst, Slot, Value};
use crate::func::{Function, SrcLoc};
use crate::op::{CastOp, Mem, MemFlags, Op, Order};
use crate::types::{MemTy, Type};
use cranelift_entity::EntityRef;
use cranelift_entity::packed_option::PackedOption;

/// Block-variable pairs the pass is willing to keep track of.
const MAX_STATE: usize = 1 << 22;

/// Storage of the pass.
#[derive(Debug, Default)]
pub struct Scratch {
    pointers: Vec<Option<(Slot, i64)>>,
    bad: Vec<bool>,
    pieces: Vec<Piece>,
    start: Vec<PackedOption<Value>>,
    end: Vec<PackedOption<Value>>,
    params: Vec<(Block, u32, Value)>,
    subst: Subst,
}

/// A part of a slot that is always accessed as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Piece {
    slot: Slot,
    offset: i64,
    bytes: u32,
    ty: Type,
}

/// Promotes what can be promoted. Returns whether anything changed.
pub fn run(func: &mut Function, cfg: &Cfg, s: &mut Scratch) -> bool {
    if func.slots.is_empty() {
        return false;
    }
    find_pieces(func, cfg, s);
    if s.pieces.is_empty() || s.pieces.len().saturating_mul(cfg.rpo().len()) > MAX_STATE {
        return false;
    }
    let state = s.pieces.len() * cfg.rpo().len();
    for list in [&mut s.start, &mut s.end] {
        list.clear();
        list.resize(state, None.into());
    }
    s.params.clear();
    s.subst.reset(func);
    let mut promoter = Promoter { func, cfg, s, block: cfg.rpo()[0], out: Vec::new() };
    for &block in cfg.rpo() {
        promoter.block(block);
    }
    promoter.fill_params();
    s.subst.apply(func);
    true
}

/// Where each pointer into a slot points, which slots are used otherwise, and the pieces of the rest.
fn find_pieces(func: &Function, cfg: &Cfg, s: &mut Scratch) {
    s.pointers.clear();
    s.pointers.resize(func.values.len(), None);
    s.bad.clear();
    s.bad.resize(func.slots.len(), false);
    s.pieces.clear();
    for &block in cfg.rpo() {
        for &inst in &func.blocks[block].insts {
            visit(func, inst, s);
        }
    }
    s.pieces.sort_unstable();
    s.pieces.dedup_by(|b, a| (a.slot, a.offset, a.bytes) == (b.slot, b.offset, b.bytes));
    for pair in s.pieces.windows(2) {
        let [a, b] = [pair[0], pair[1]];
        if a.slot == b.slot && a.offset + i64::from(a.bytes) > b.offset {
            s.bad[a.slot.index()] = true;
        }
    }
    let bad = &s.bad;
    s.pieces.retain(|p| !bad[p.slot.index()]);
}

fn visit(func: &Function, inst: Inst, s: &mut Scratch) {
    let op = func.insts[inst].op;
    let args = func.args(inst);
    let at = |n: usize, s: &Scratch| args.get(n).and_then(|v| s.pointers[v.index()]);
    match op {
        Op::SlotAddr(slot) => s.pointers[func.insts[inst].first.index()] = Some((slot, 0)),
        Op::PtrAdd if at(0, s).is_some() && func.const_bits(args[1]).is_some() => {
            if let (Some((slot, offset)), Some(k)) = (at(0, s), func.const_bits(args[1])) {
                s.pointers[func.insts[inst].first.index()] = Some((slot, offset + i64::from(k as i32)));
            }
        }
        Op::Load { mem, count } | Op::Store { mem, count } => {
            for &value in &args[1..] {
                if let Some((slot, _)) = s.pointers[value.index()] {
                    s.bad[slot.index()] = true;
                }
            }
            let Some((slot, offset)) = at(0, s) else { return };
            let ty = if args.len() > 1 { func.ty(args[1]) } else { func.ty(func.insts[inst].first) };
            if !add_pieces(func, slot, offset, &mem, count, ty, &mut s.pieces) {
                s.bad[slot.index()] = true;
            }
        }
        _ => {
            for n in 0..args.len() {
                if let Some((slot, _)) = at(n, s) {
                    s.bad[slot.index()] = true;
                }
            }
        }
    }
}

fn add_pieces(
    func: &Function,
    slot: Slot,
    offset: i64,
    mem: &Mem,
    count: u8,
    ty: Type,
    pieces: &mut Vec<Piece>,
) -> bool {
    let bytes = mem.ty.bytes();
    let first = offset + i64::from(mem.offset);
    let end = first + i64::from(bytes) * i64::from(count);
    let plain = mem.order == Order::NotAtomic && !mem.flags.contains(MemFlags::VOLATILE);
    if !plain || first < 0 || end > i64::from(func.slots[slot].size) {
        return false;
    }
    pieces.extend((0..count).map(|n| Piece {
        slot,
        offset: first + i64::from(bytes) * i64::from(n),
        bytes,
        ty,
    }));
    true
}

struct Promoter<'a> {
    func: &'a mut Function,
    cfg: &'a Cfg,
    s: &'a mut Scratch,
    block: Block,
    out: Vec<Inst>,
}

impl Promoter<'_> {
    fn index(&self, block: Block, piece: u32) -> usize {
        self.cfg.position(block) as usize * self.s.pieces.len() + piece as usize
    }

    fn block(&mut self, block: Block) {
        self.block = block;
        let mut insts = std::mem::take(&mut self.func.blocks[block].insts);
        self.out.clear();
        for &inst in &insts {
            match self.func.insts[inst].op {
                Op::Load { mem, count } if self.promoted(inst).is_some() => self.load(inst, mem, count),
                Op::Store { mem, count } if self.promoted(inst).is_some() => self.store(inst, mem, count),
                _ => self.out.push(inst),
            }
        }
        insts.clear();
        insts.extend_from_slice(&self.out);
        self.func.blocks[block].insts = insts;
    }

    /// Offset in which slot an access of a promoted slot is at.
    fn promoted(&self, inst: Inst) -> Option<(Slot, i64)> {
        let ptr = *self.func.args(inst).first()?;
        // Pointers that were made meanwhile are not into slots.
        let found = self.s.pointers.get(ptr.index()).copied().flatten();
        found.filter(|(slot, _)| !self.s.bad[slot.index()])
    }

    fn piece(&self, inst: Inst, mem: &Mem, n: u8) -> u32 {
        let (slot, offset) = self.promoted(inst).unwrap_or((Slot::new(0), 0));
        let at = offset + i64::from(mem.offset) + i64::from(mem.ty.bytes()) * i64::from(n);
        self.s.pieces.partition_point(|p| (p.slot, p.offset) < (slot, at)) as u32
    }

    fn store(&mut self, inst: Inst, mem: Mem, count: u8) {
        for n in 0..count {
            let piece = self.piece(inst, &mem, n);
            let value = self.s.subst.get(self.func.args(inst)[1 + usize::from(n)]);
            let value = self.convert(value, self.s.pieces[piece as usize].ty);
            let at = self.index(self.block, piece);
            self.s.end[at] = value.into();
        }
    }

    fn load(&mut self, inst: Inst, mem: Mem, count: u8) {
        for n in 0..count {
            let piece = self.piece(inst, &mem, n);
            let found = self.read(self.block, piece);
            let result = self.func.result(inst, n.into());
            let value = match mem.ty {
                MemTy::U8 => self.extend(CastOp::Zext8, found),
                MemTy::S8 => self.extend(CastOp::Sext8, found),
                MemTy::U16 => self.extend(CastOp::Zext16, found),
                MemTy::S16 => self.extend(CastOp::Sext16, found),
                MemTy::B32 | MemTy::B64 => self.convert(found, self.func.ty(result)),
            };
            self.s.subst.set(result, value);
        }
    }

    fn extend(&mut self, op: CastOp, value: Value) -> Value {
        self.push(Op::Cast(op), &[value], Type::I32)
    }

    fn push(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        let inst = self.func.make_inst(self.block, op, args, ty, 1, SrcLoc(0));
        self.out.push(inst);
        self.func.insts[inst].first
    }

    /// The same bits as another type.
    fn convert(&mut self, value: Value, to: Type) -> Value {
        let from = self.func.ty(value);
        let int = if from.bits() == 64 { Type::I64 } else { Type::I32 };
        match (from, to) {
            _ if from == to => value,
            (Type::Ptr(_), _) => {
                let bits = self.push(Op::Cast(CastOp::PtrToInt), &[value], int);
                self.convert(bits, to)
            }
            (_, Type::Ptr(_)) => {
                let bits = self.convert(value, int);
                self.push(Op::Cast(CastOp::IntToPtr), &[bits], to)
            }
            _ => self.push(Op::Cast(CastOp::Bitcast), &[value], to),
        }
    }

    /// The value of a variable at the end of a block, as far as the block has been looked at.
    fn read(&mut self, block: Block, piece: u32) -> Value {
        let mut at = block;
        let found = loop {
            let end = self.index(at, piece);
            if let Some(value) = self.s.end[end].expand().or(self.s.start[end].expand()) {
                break value;
            }
            match *self.cfg.preds(at) {
                [] => break self.undefined(at, piece),
                [pred] if pred != at => at = pred,
                _ => {
                    let ty = self.s.pieces[piece as usize].ty;
                    let param = self.func.add_param(at, ty);
                    self.s.params.push((at, piece, param));
                    self.s.start[end] = param.into();
                    break param;
                }
            }
        };
        // The next read from here is short.
        let here = self.index(block, piece);
        if self.s.end[here].is_none() && self.s.start[here].is_none() {
            self.s.start[here] = found.into();
        }
        found
    }

    fn undefined(&mut self, entry: Block, piece: u32) -> Value {
        let ty = self.s.pieces[piece as usize].ty;
        let inst = self.func.make_inst(entry, Op::Const(0), &[], ty, 1, SrcLoc(0));
        if self.block == entry {
            self.out.insert(0, inst);
        } else {
            self.func.blocks[entry].insts.insert(0, inst);
        }
        let value = self.func.insts[inst].first;
        let at = self.index(entry, piece);
        self.s.start[at] = value.into();
        value
    }

    /// Passes values to the parameters, which may need more parameters.
    fn fill_params(&mut self) {
        let mut next = 0;
        while let Some(&(block, piece, _)) = self.s.params.get(next) {
            next += 1;
            for n in 0..self.cfg.preds(block).len() {
                let pred = self.cfg.preds(block)[n];
                if self.cfg.preds(block)[..n].contains(&pred) {
                    continue;
                }
                let arg = self.read_filled(pred, piece);
                let Some(last) = self.func.terminator(pred) else { continue };
                for which in 0..self.func.branch_count(last) {
                    if self.func.branch_target(last, which) == Some(block) {
                        self.func.push_branch_arg(last, which, arg);
                    }
                }
            }
        }
    }

    /// Like [`Promoter::read`], when all blocks have been done.
    fn read_filled(&mut self, block: Block, piece: u32) -> Value {
        self.block = block;
        self.out.clear();
        let value = self.read(block, piece);
        // `undefined` may have put its constant where the block's instructions were being collected.
        for inst in self.out.drain(..).rev() {
            self.func.blocks[block].insts.insert(0, inst);
        }
        value
    }
}
