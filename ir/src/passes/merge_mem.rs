//! Merges adjacent loads, and adjacent stores, within a block into wide accesses.
//!
//! Accesses with the same base and consecutive offsets are collected as long as no instruction between them
//! prevents the merge. A load may move up to the first load of its group if no store in between may alias it.
//! A store may move down to the last store of its group if no access in between may alias it.

use super::align::Alignments;
use super::forward::may_alias;
use crate::constraints::{MERGE_LOADS, MERGE_STORES, Rule};
use crate::edit::Subst;
use crate::entity::{Block, Inst, Value};
use crate::func::Function;
use crate::op::{CastOp, Mem, MemFlags, Op, Pos};
use crate::types::{MemTy, Space, Type};
use smallvec::SmallVec;

/// Maximum number of accesses that are collected before they are merged. A block with more accesses is
/// processed in several batches.
const WINDOW: usize = 128;

/// Storage of the pass.
#[derive(Debug, Default)]
pub struct Scratch {
    subst: Subst,
    loads: Vec<Access>,
    stores: Vec<Access>,
    /// For each position in the block, the instructions that replace the instruction at this position.
    places: Vec<Place>,
    values: Vec<Value>,
    casts: Vec<Inst>,
    batch: Vec<Access>,
    out: Vec<Inst>,
}

#[derive(Clone, Copy, Debug)]
struct Access {
    ptr: Value,
    mem: Mem,
    count: u8,
    inst: Inst,
    at: u32,
}

/// Replacement of an instruction.
#[derive(Clone, Copy, Debug)]
enum Place {
    Keep(Inst),
    Gone,
    /// A merged load, and the range in `casts` of the instructions that convert its results.
    Load(Inst, u32, u32),
}

/// Runs the pass on every block. Returns whether it merged anything.
pub fn run(func: &mut Function, align: &Alignments, s: &mut Scratch) -> bool {
    s.subst.reset(func);
    let mut changed = false;
    for at in 0..func.layout.len() {
        let block = func.layout[at];
        changed |= Merger { func, align, s, block, changed: false }.block();
    }
    s.subst.apply(func);
    func.replace_tracked(&s.subst);
    changed
}

struct Merger<'a> {
    func: &'a mut Function,
    align: &'a Alignments,
    s: &'a mut Scratch,
    block: Block,
    changed: bool,
}

impl Merger<'_> {
    fn block(&mut self) -> bool {
        self.s.places.clear();
        self.s.loads.clear();
        self.s.stores.clear();
        self.s.casts.clear();
        let count = self.func.blocks[self.block].insts().len();
        for n in 0..count {
            let inst = self.func.blocks[self.block].insts()[n];
            self.s.places.push(Place::Keep(inst));
            self.visit(inst, n as u32);
        }
        self.flush_loads(|_| true);
        self.flush_stores(|_| true);
        if self.changed {
            self.rebuild();
        }
        self.changed
    }

    fn rebuild(&mut self) {
        let Scratch { places, casts, out, .. } = &mut *self.s;
        out.clear();
        for place in places {
            match *place {
                Place::Keep(inst) => out.push(inst),
                Place::Gone => {}
                Place::Load(inst, from, to) => {
                    out.push(inst);
                    out.extend_from_slice(&casts[from as usize..to as usize]);
                }
            }
        }
        self.func.set_insts(self.block, out);
    }

    fn visit(&mut self, inst: Inst, at: u32) {
        let op = self.func.insts[inst].op;
        if MERGE_LOADS.stopped_by(&op) {
            self.flush_loads(|a| !a.mem.flags.contains(MemFlags::INVARIANT));
        }
        if MERGE_STORES.stopped_by(&op) {
            self.flush_stores(|_| true);
        }
        let Some(mem) = op.mem().copied() else { return };
        let ptr = self.func.args(inst)[0];
        let count = match op {
            Op::Load { count, .. } | Op::Store { count, .. } => count,
            _ => 1,
        };
        let mut access = Access { ptr, mem, count, inst, at };
        let is_load = matches!(op, Op::Load { .. });
        let rule: &Rule = if is_load { &MERGE_LOADS } else { &MERGE_STORES };
        let plain = rule.takes(&mem);
        if plain {
            access.mem.align = mem.align.max(self.align.of_address(self.func, ptr, mem.offset));
            self.set_align(inst, access.mem.align);
        }
        let conflicts = |a: &Access| may_alias((a.ptr, &a.mem, a.count), (ptr, &mem, count));
        if is_load {
            self.flush_stores(conflicts);
        } else {
            // A later load at another offset could still join the group. It would then move up across this
            // store, whose bytes it may read. The offsets of the store and the loads are therefore not
            // compared here.
            self.flush_loads(|a| {
                may_alias((a.ptr, &a.mem, a.count), (ptr, &Mem { offset: a.mem.offset, ..mem }, count))
            });
            self.flush_stores(conflicts);
        }
        let mergeable = plain
            && matches!(mem.ty, MemTy::B32 | MemTy::B64)
            && matches!(mem.space, Space::Global | Space::Constant | Space::Shared);
        if !mergeable {
            return;
        }
        if is_load {
            self.s.loads.push(access);
            if self.s.loads.len() == WINDOW {
                self.flush_loads(|_| true);
            }
        } else {
            self.s.stores.push(access);
            if self.s.stores.len() == WINDOW {
                self.flush_stores(|_| true);
            }
        }
    }

    fn set_align(&mut self, inst: Inst, align: u8) {
        match &mut self.func.insts[inst].op {
            Op::Load { mem, .. } | Op::Store { mem, .. } => mem.align = align,
            _ => {}
        }
    }

    /// Merges the collected loads of every group with at least one load for which `affected` returns true,
    /// and forgets these loads.
    fn flush_loads(&mut self, affected: impl Fn(&Access) -> bool) {
        take_groups(&mut self.s.loads, &mut self.s.batch, affected);
        self.merge_groups(true);
    }

    fn flush_stores(&mut self, affected: impl Fn(&Access) -> bool) {
        take_groups(&mut self.s.stores, &mut self.s.batch, affected);
        self.merge_groups(false);
    }

    fn merge_groups(&mut self, load: bool) {
        let mut batch = std::mem::take(&mut self.s.batch);
        if batch.len() > 1 {
            let func = &*self.func;
            // Sorting places accesses that can be merged next to each other, in the order of their offsets.
            batch.sort_unstable_by_key(|a| (key(func, a), a.mem.offset, a.at));
            let mut from = 0;
            while from < batch.len() {
                let to = from + self.run_length(&batch[from..], load);
                if to - from > 1 {
                    self.merge(&batch[from..to], load);
                }
                from = to;
            }
        }
        self.s.batch = batch;
    }

    /// Returns how many accesses at the beginning of the sorted list can be merged to one access. The
    /// processor must have an access of this width. Returns 1 if no merge is possible.
    fn run_length(&self, sorted: &[Access], load: bool) -> usize {
        let first = &sorted[0];
        // If the address is the same in all lanes, the merged access becomes a scalar load of kernel
        // arguments or of a table.
        let uniform =
            matches!(self.func.def_op(first.ptr), Some(Op::Pos(Pos::KernargPtr) | Op::GlobalAddr(_)));
        let scalar = load && uniform && first.mem.flags.contains(MemFlags::INVARIANT);
        let widths: &[u32] = match first.mem.space {
            Space::Shared if first.mem.align >= 16 => &[2, 4],
            Space::Shared if first.mem.align == 8 => &[2],
            Space::Shared => &[],
            _ if scalar => &[2, 4, 8, 16],
            _ if first.mem.align >= 4 => &[2, 3, 4],
            _ => &[],
        };
        let key_of = key(self.func, first);
        let mut dwords = 0;
        let mut end = i64::from(first.mem.offset);
        let mut best = 1;
        for (n, access) in sorted.iter().enumerate() {
            if i64::from(access.mem.offset) != end || key(self.func, access) != key_of {
                break;
            }
            dwords += access.dwords();
            end += i64::from(access.dwords()) * 4;
            if widths.contains(&dwords) {
                best = n + 1;
            }
        }
        best
    }

    fn merge(&mut self, run: &[Access], load: bool) {
        self.changed = true;
        let count: u8 = run.iter().map(|a| a.count).sum();
        let first = run[0];
        let mem = first.mem;
        let earliest = run.iter().map(|a| a.at).min().unwrap_or(first.at);
        let latest = run.iter().map(|a| a.at).max().unwrap_or(first.at);
        let place = if load { earliest } else { latest };
        let loc = self.func.insts[run.iter().find(|a| a.at == place).unwrap_or(&first).inst].loc;
        for access in run {
            self.s.places[access.at as usize] = Place::Gone;
        }
        if load {
            let ty = self.func.ty(self.func.insts[first.inst].first);
            let merged =
                self.func.make_inst(self.block, Op::Load { mem, count }, &[first.ptr], ty, count.into(), loc);
            let casts = self.s.casts.len() as u32;
            let mut at = 0;
            for access in run {
                for n in 0..u16::from(access.count) {
                    let old = self.func.result(access.inst, n);
                    let part = self.func.result(merged, at);
                    let new = self.convert(part, self.func.ty(old));
                    self.s.subst.set(old, new);
                    at += 1;
                }
            }
            self.s.places[place as usize] = Place::Load(merged, casts, self.s.casts.len() as u32);
        } else {
            self.s.values.clear();
            self.s.values.push(first.ptr);
            for access in run {
                self.s.values.extend_from_slice(&self.func.args(access.inst)[1..]);
            }
            let merged =
                self.func.make_inst(self.block, Op::Store { mem, count }, &self.s.values, Type::Bool, 0, loc);
            self.s.places[place as usize] = Place::Keep(merged);
        }
    }

    /// Returns the value as type `to`, with the same bits. Neither of the two types is a pointer.
    fn convert(&mut self, value: Value, to: Type) -> Value {
        if self.func.ty(value) == to {
            return value;
        }
        let loc = crate::func::SrcLoc(0);
        let cast = self.func.make_inst(self.block, Op::Cast(CastOp::Bitcast), &[value], to, 1, loc);
        self.s.casts.push(cast);
        self.func.insts[cast].first
    }
}

impl Access {
    fn dwords(&self) -> u32 {
        self.mem.ty.bytes() / 4 * u32::from(self.count)
    }
}

/// Returns a sort key. Accesses can be merged only if their keys are equal: if they have the same base,
/// element size, kind of access and alias class, and their values are both pointers or both not. Types
/// between which a bit cast can convert have equal keys.
fn key(func: &Function, access: &Access) -> (u32, u32, u8, u16, Option<Space>) {
    let (value, is_load) = match func.insts[access.inst].op {
        Op::Load { .. } => (func.insts[access.inst].first, true),
        _ => (func.args(access.inst)[1], false),
    };
    let ty = func.ty(value);
    let pointer = match ty {
        Type::Ptr(space) => Some(space),
        _ => None,
    };
    // The values of a merged store must all have the same type.
    let exact = if is_load { 0 } else { 1 + u32::from(ty.is_float()) };
    (
        access.ptr.as_u32(),
        access.mem.ty.bytes() << 2 | exact,
        access.mem.flags.bits(),
        access.mem.alias,
        pointer,
    )
}

/// Moves to `batch` all accesses of every group that contains an access for which `affected` returns true.
fn take_groups(from: &mut Vec<Access>, batch: &mut Vec<Access>, affected: impl Fn(&Access) -> bool) {
    batch.clear();
    let group = |a: &Access| (a.ptr, a.mem.ty, a.mem.alias);
    let mut taken: SmallVec<[_; WINDOW]> = from.iter().filter(|a| affected(a)).map(group).collect();
    if taken.is_empty() {
        return;
    }
    taken.dedup();
    from.retain(|a| {
        let take = affected(a) || taken.contains(&group(a));
        if take {
            batch.push(*a);
        }
        !take
    });
}
