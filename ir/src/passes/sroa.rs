//! Promotes private variables (stack slots) to SSA values.
//!
//! A slot is promoted if it is only accessed by plain loads and stores at constant offsets, in pieces that
//! overlap completely or not at all. Each piece becomes a variable. The variable gets block parameters in the
//! iterated dominance frontier of its stores, unless every block that reads it writes it first. A walk down
//! the dominator tree replaces each read by the last value written (R. Cytron et al., "Efficiently Computing
//! Static Single Assignment Form and the Control Dependence Graph", TOPLAS 1991; "semi-pruned": P. Briggs et
//! al., 1998). Unneeded parameters are left to dead-code elimination. A variable that is read before it is
//! written is zero.

use crate::analysis::{Cfg, DomTree};
use crate::constraints::PROMOTE;
use crate::edit::Subst;
use crate::entity::{Block, Inst, Slot, Value};
use crate::func::{Function, SrcLoc};
use crate::op::{CastOp, Mem, Op};
use crate::track::{Fragment, What};
use crate::types::{MemTy, Type};
use cranelift_entity::EntityRef;
use cranelift_entity::packed_option::PackedOption;

/// Storage of the pass.
#[derive(Debug, Default)]
pub struct Scratch {
    pointers: Vec<Option<(Slot, i64)>>,
    bad: Vec<bool>,
    pieces: Vec<Piece>,
    /// Pairs of a piece and the position of a block that stores to it, sorted.
    stores: Vec<(u32, u32)>,
    /// For each piece, whether some block reads it before writing it.
    exposed: Vec<bool>,
    /// For each piece, the position of the last block that was found to store to it.
    stored_in: Vec<u32>,
    frontiers: Frontiers,
    /// Block parameters for pieces: position of the block, piece, and the parameter, sorted by position. The
    /// parameter is `None` until it has been created.
    params: Vec<(u32, u32, PackedOption<Value>)>,
    work: Vec<u32>,
    mark: Vec<u32>,
    current: Vec<PackedOption<Value>>,
    /// Former values of `current`, to be restored.
    log: Vec<(u32, PackedOption<Value>)>,
    open: Vec<(Block, usize)>,
    order: Vec<Block>,
    /// The block at each position, for the debug records.
    block_at: Vec<Block>,
    /// Pairs of a piece and the fragment of a source variable that the piece holds, sorted. Used for debug
    /// records.
    fragments: Vec<(u32, Fragment)>,
    args: Vec<Value>,
    zeros: Vec<(Type, Inst)>,
    subst: Subst,
    out: Vec<Inst>,
}

/// A part of a slot that is always accessed as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Piece {
    slot: Slot,
    offset: i64,
    bytes: u32,
    ty: Type,
}

/// Dominance frontier of each block, by block position. A block `b` is in the frontier of a block `a` if `a`
/// dominates a predecessor of `b`, but does not strictly dominate `b` itself.
#[derive(Debug, Default)]
struct Frontiers {
    pairs: Vec<(u32, u32)>,
    start: Vec<u32>,
    list: Vec<u32>,
    last: Vec<u32>,
}

impl Frontiers {
    fn compute(&mut self, cfg: &Cfg, dom: &DomTree) {
        let count = cfg.rpo().len();
        self.pairs.clear();
        self.last.clear();
        self.last.resize(count, u32::MAX);
        for (at, &block) in cfg.rpo().iter().enumerate() {
            let (preds, top) = (cfg.preds(block), dom.idom(block));
            if preds.len() < 2 {
                continue;
            }
            for &pred in preds {
                let mut runner = Some(pred);
                // The walk goes up the dominator tree. It stops at a block that already has this frontier
                // element, because all blocks further up have it, too.
                while let Some(up) = runner.filter(|&r| Some(r) != top) {
                    let up_at = cfg.position(up) as usize;
                    if std::mem::replace(&mut self.last[up_at], at as u32) == at as u32 {
                        break;
                    }
                    self.pairs.push((up_at as u32, at as u32));
                    runner = dom.idom(up);
                }
            }
        }
        self.start.clear();
        self.start.resize(count + 1, 0);
        self.pairs.iter().for_each(|pair| self.start[pair.0 as usize + 1] += 1);
        for at in 0..count {
            self.start[at + 1] += self.start[at];
        }
        self.list.clear();
        self.list.resize(self.pairs.len(), 0);
        // The lists of all blocks share one vector. Each list is filled from its end, so that its start index
        // is correct afterwards.
        for &(from, to) in self.pairs.iter().rev() {
            self.start[from as usize + 1] -= 1;
            self.list[self.start[from as usize + 1] as usize] = to;
        }
        self.start.push(self.list.len() as u32);
    }

    fn frontier_range(&self, at: u32) -> std::ops::Range<usize> {
        self.start[at as usize + 1] as usize..self.start[at as usize + 2] as usize
    }
}

/// Promotes all slots that can be promoted. Returns whether anything changed.
pub fn run(func: &mut Function, cfg: &Cfg, dom: &mut DomTree, s: &mut Scratch) -> bool {
    if func.slots.is_empty() {
        return false;
    }
    find_pieces(func, cfg, s);
    if s.pieces.is_empty() {
        return false;
    }
    func.tidy_track();
    dom.compute(cfg);
    find_stores(func, cfg, s);
    place_params(cfg, dom, s);
    s.order.clear();
    s.order.extend_from_slice(cfg.rpo());
    s.order.sort_unstable_by_key(|&block| dom.preorder(block));
    s.current.clear();
    s.current.resize(s.pieces.len(), None.into());
    s.log.clear();
    s.open.clear();
    s.zeros.clear();
    s.subst.reset(func);
    s.block_at.clear();
    s.block_at.extend_from_slice(cfg.rpo());
    find_fragments(func, s);
    let mut promoter = Promoter { func, cfg, dom, s, block: cfg.rpo()[0] };
    promoter.add_params();
    for n in 0..promoter.s.order.len() {
        let block = promoter.s.order[n];
        promoter.block(block);
    }
    let entry = func.entry();
    func.prepend(entry, s.zeros.drain(..).map(|(_, inst)| inst));
    s.subst.apply(func);
    func.replace_tracked(&s.subst);
    forget_homes(func, s);
    true
}

/// Finds the blocks that store to each piece, and the pieces that some block reads before writing them.
fn find_stores(func: &Function, cfg: &Cfg, s: &mut Scratch) {
    s.stores.clear();
    s.exposed.clear();
    s.exposed.resize(s.pieces.len(), false);
    s.stored_in.clear();
    s.stored_in.resize(s.pieces.len(), u32::MAX);
    for (at, &block) in cfg.rpo().iter().enumerate() {
        for &inst in func.blocks[block].insts() {
            let (Op::Load { mem, count } | Op::Store { mem, count }) = func.insts[inst].op else { continue };
            let is_store = matches!(func.insts[inst].op, Op::Store { .. });
            let Some(place) = promoted(func, inst, s) else { continue };
            for n in 0..count {
                let piece = piece_at(&s.pieces, place, &mem, n);
                let seen = &mut s.stored_in[piece as usize];
                if *seen == at as u32 {
                    continue;
                }
                if is_store {
                    *seen = at as u32;
                    s.stores.push((piece, at as u32));
                } else {
                    s.exposed[piece as usize] = true;
                }
            }
        }
    }
    s.stores.sort_unstable();
}

/// Chooses the blocks that get a parameter for each piece.
fn place_params(cfg: &Cfg, dom: &DomTree, s: &mut Scratch) {
    s.frontiers.compute(cfg, dom);
    s.params.clear();
    s.mark.clear();
    s.mark.resize(cfg.rpo().len(), u32::MAX);
    for stores in s.stores.chunk_by(|a, b| a.0 == b.0) {
        let piece = stores[0].0;
        if !s.exposed[piece as usize] {
            continue;
        }
        s.work.clear();
        s.work.extend(stores.iter().map(|store| store.1));
        while let Some(at) = s.work.pop() {
            for n in s.frontiers.frontier_range(at) {
                let to = s.frontiers.list[n];
                if std::mem::replace(&mut s.mark[to as usize], piece) != piece {
                    s.params.push((to, piece, None.into()));
                    s.work.push(to);
                }
            }
        }
    }
    s.params.sort_unstable_by_key(|&(at, piece, _)| (at, piece));
}

/// Finds where each pointer into a slot points, which slots have other uses, and the pieces of the remaining
/// slots.
fn find_pieces(func: &Function, cfg: &Cfg, s: &mut Scratch) {
    s.pointers.clear();
    s.pointers.resize(func.values.len(), None);
    s.bad.clear();
    s.bad.resize(func.slots.len(), false);
    s.pieces.clear();
    for &block in cfg.rpo() {
        for &inst in func.blocks[block].insts() {
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
    if !PROMOTE.takes(mem) || first < 0 || end > i64::from(func.slots[slot].size) {
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

/// Returns the slot and the offset of an access to a promoted slot.
fn promoted(func: &Function, inst: Inst, s: &Scratch) -> Option<(Slot, i64)> {
    let ptr = *func.args(inst).first()?;
    // A pointer that this pass has created has no entry in `pointers` and does not point into a slot.
    let found = s.pointers.get(ptr.index()).copied().flatten();
    found.filter(|(slot, _)| !s.bad[slot.index()])
}

/// Returns the index of the piece that part `n` of an access refers to.
fn piece_at(pieces: &[Piece], (slot, offset): (Slot, i64), mem: &Mem, n: u8) -> u32 {
    let at = offset + i64::from(mem.offset) + i64::from(mem.ty.bytes()) * i64::from(n);
    pieces.partition_point(|p| (p.slot, p.offset) < (slot, at)) as u32
}

/// Finds the fragments of variables that coincide with pieces.
fn find_fragments(func: &Function, s: &mut Scratch) {
    let Scratch { pieces, fragments, .. } = s;
    fragments.clear();
    for (variable, number) in func.track.iter().flat_map(|track| &track.variables).zip(0..) {
        let Some(slot) = variable.home else { continue };
        for (&(at, bytes), fragment) in variable.fragments.iter().zip(0..) {
            let piece = pieces.partition_point(|piece| (piece.slot, piece.offset) < (slot, i64::from(at)));
            let is_fragment = |piece: &&Piece| {
                (piece.slot, piece.offset, piece.bytes) == (slot, i64::from(at), u32::from(bytes))
            };
            if pieces.get(piece).filter(is_fragment).is_some() {
                fragments.push((piece as u32, Fragment { variable: number, index: fragment }));
            }
        }
    }
    fragments.sort_unstable_by_key(|&(piece, fragment)| (piece, fragment.variable));
}

/// Returns the fragments that a piece holds, from the sorted list of all pieces.
fn fragments_of_piece(fragments: &[(u32, Fragment)], piece: u32) -> impl Iterator<Item = Fragment> {
    let first = fragments.partition_point(|&(other, _)| other < piece);
    fragments[first..].iter().take_while(move |&&(other, _)| other == piece).map(|&(_, fragment)| fragment)
}

/// Adds debug records that the fragments have the stored value.
#[cold]
fn track_store(func: &mut Function, store: Inst, fragments: impl Iterator<Item = Fragment>, value: Value) {
    if let Some(track) = &mut func.track {
        track.notes.add(store, fragments.map(|fragment| What::Value(fragment, value)));
    }
}

/// Adds debug records for the block parameters, which hold fragments from the beginning of their blocks, and
/// marks the promoted variables as no longer in memory.
fn forget_homes(func: &mut Function, s: &mut Scratch) {
    let Some(mut track) = func.track.take() else { return };
    for params in s.params.chunk_by(|a, b| a.0 == b.0) {
        let Some(&first) = func.blocks[s.block_at[params[0].0 as usize]].insts().first() else { continue };
        let params = params.iter().filter_map(|&(_, piece, param)| Some((piece, param.expand()?)));
        let whats = params.flat_map(|(piece, param)| {
            fragments_of_piece(&s.fragments, piece).map(move |fragment| What::Value(fragment, param))
        });
        track.notes.add_first(first, whats);
    }
    for variable in &mut track.variables {
        let gone = variable.home.filter(|slot| s.pieces.iter().any(|piece| piece.slot == *slot));
        if gone.is_some() {
            variable.home = None;
        }
    }
    func.track = Some(track);
}

struct Promoter<'a> {
    func: &'a mut Function,
    cfg: &'a Cfg,
    dom: &'a DomTree,
    s: &'a mut Scratch,
    block: Block,
}

impl Promoter<'_> {
    fn add_params(&mut self) {
        for n in 0..self.s.params.len() {
            let (at, piece, _) = self.s.params[n];
            let block = self.cfg.rpo()[at as usize];
            let param = self.func.add_param(block, self.s.pieces[piece as usize].ty);
            self.s.params[n].2 = param.into();
        }
    }

    /// Returns the range of a block's parameters in `params`.
    fn params_of(&self, block: Block) -> std::ops::Range<usize> {
        let at = self.cfg.position(block);
        let start = self.s.params.partition_point(|param| param.0 < at);
        let count = self.s.params[start..].iter().take_while(|param| param.0 == at).count();
        start..start + count
    }

    /// Undoes changes to the current values of the variables when the walk over the dominator tree goes on to
    /// `block`: those that were made since the walk left the parent of `block`.
    fn restore(&mut self, block: Block) {
        while let Some(&(above, mark)) = self.s.open.last()
            && !self.dom.dominates(above, block)
        {
            self.s.open.pop();
            for (piece, old) in self.s.log.drain(mark..).rev() {
                self.s.current[piece as usize] = old;
            }
        }
        self.s.open.push((block, self.s.log.len()));
    }

    fn set(&mut self, piece: u32, value: Value) {
        let old = std::mem::replace(&mut self.s.current[piece as usize], value.into());
        self.s.log.push((piece, old));
    }

    fn block(&mut self, block: Block) {
        self.restore(block);
        self.block = block;
        for n in self.params_of(block) {
            let (_, piece, param) = self.s.params[n];
            if let Some(param) = param.expand() {
                self.set(piece, param);
            }
        }
        self.s.out.clear();
        for n in 0..self.func.blocks[block].insts().len() {
            let inst = self.func.blocks[block].insts()[n];
            match self.func.insts[inst].op {
                Op::Load { mem, count } if promoted(self.func, inst, self.s).is_some() => {
                    self.load(inst, mem, count);
                }
                Op::Store { mem, count } if promoted(self.func, inst, self.s).is_some() => {
                    self.store(inst, mem, count);
                }
                _ => self.s.out.push(inst),
            }
        }
        self.func.set_insts(block, &self.s.out);
        self.pass_on(block);
    }

    /// Passes the values of the variables to the parameters of the successor blocks.
    fn pass_on(&mut self, block: Block) {
        let Some(last) = self.func.terminator(block) else { return };
        for which in 0..self.func.branch_count(last) {
            let Some(to) = self.func.branch_target(last, which) else { continue };
            let params = self.params_of(to);
            if params.is_empty() {
                continue;
            }
            let mut args = std::mem::take(&mut self.s.args);
            args.clear();
            args.extend_from_slice(self.func.branch_args(last, which));
            for n in params {
                let value = self.read(self.s.params[n].1);
                args.push(value);
            }
            self.func.set_branch_args(last, which, &args);
            self.s.args = args;
        }
    }

    fn read(&mut self, piece: u32) -> Value {
        let ty = self.s.pieces[piece as usize].ty;
        self.s.current[piece as usize].expand().unwrap_or_else(|| self.zero(ty))
    }

    /// Returns the value of a variable that was not written: zero.
    fn zero(&mut self, ty: Type) -> Value {
        let known = self.s.zeros.iter().find(|zero| zero.0 == ty).map(|zero| zero.1);
        let inst = known.unwrap_or_else(|| {
            let entry = self.func.entry();
            let inst = self.func.make_inst(entry, Op::Const(0), &[], ty, 1, SrcLoc(0));
            self.s.zeros.push((ty, inst));
            inst
        });
        self.func.insts[inst].first
    }

    fn store(&mut self, inst: Inst, mem: Mem, count: u8) {
        let Some(place) = promoted(self.func, inst, self.s) else { return };
        for n in 0..count {
            let piece = piece_at(&self.s.pieces, place, &mem, n);
            let value = self.s.subst.get(self.func.args(inst)[1 + usize::from(n)]);
            if self.func.track.is_some() {
                track_store(self.func, inst, fragments_of_piece(&self.s.fragments, piece), value);
            }
            let value = self.convert(value, self.s.pieces[piece as usize].ty);
            self.set(piece, value);
        }
    }

    fn load(&mut self, inst: Inst, mem: Mem, count: u8) {
        let Some(place) = promoted(self.func, inst, self.s) else { return };
        for n in 0..count {
            let piece = piece_at(&self.s.pieces, place, &mem, n);
            let found = self.read(piece);
            let result = self.func.result(inst, n.into());
            let to = self.func.ty(result);
            let found = if to == Type::F16 { found } else { self.as_integer(found) };
            let value = match mem.ty {
                _ if to == Type::F16 => self.convert(found, to),
                MemTy::U8 => self.extend(CastOp::Zext8, found),
                MemTy::S8 => self.extend(CastOp::Sext8, found),
                MemTy::U16 => self.extend(CastOp::Zext16, found),
                MemTy::S16 => self.extend(CastOp::Sext16, found),
                MemTy::B32 | MemTy::B64 => self.convert(found, to),
            };
            self.s.subst.set(result, value);
        }
    }

    /// Returns the value; for an `f16`, its bits as an integer.
    fn as_integer(&mut self, value: Value) -> Value {
        match self.func.ty(value) {
            Type::F16 => self.push(Op::Cast(CastOp::HalfBits), &[value], Type::I32),
            _ => value,
        }
    }

    fn extend(&mut self, op: CastOp, value: Value) -> Value {
        self.push(Op::Cast(op), &[value], Type::I32)
    }

    fn push(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        let inst = self.func.make_inst(self.block, op, args, ty, 1, SrcLoc(0));
        self.s.out.push(inst);
        self.func.insts[inst].first
    }

    /// Returns the value with its bits reinterpreted as another type.
    fn convert(&mut self, value: Value, to: Type) -> Value {
        let from = self.func.ty(value);
        let int = if from.bits() == 64 { Type::I64 } else { Type::I32 };
        match (from, to) {
            _ if from == to => value,
            (Type::F16, _) => self.as_integer(value),
            (_, Type::F16) => {
                let bits = self.convert(value, int);
                self.push(Op::Cast(CastOp::BitsHalf), &[bits], to)
            }
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
}
