//! Finds parameters on which `restrict` is missing: reports accesses that the optimiser could merge, or move
//! out of a loop, if the memory of each parameter were accessed only through that parameter.
//!
//! # Method
//! The effect is measured, not estimated. A copy of an optimised kernel gets the missing `restrict`
//! guarantees, and the passes that use them ([`licm`], [`merge_mem`]) run once more. A second copy runs
//! through the same passes without the added guarantees. The differences between both copies are reported.
//!
//! # Cost
//! Kernels in which no `restrict` is missing are skipped. In other kernels, a scan first looks for adjacent
//! accesses that were not merged, and for loads in a loop whose address is known outside of the loop. Copies
//! are made only if the scan finds such accesses.
//!
//! [`licm`]: super::licm
//! [`merge_mem`]: super::merge_mem

use super::forward::may_alias;
use super::{OptOptions, PassContext, licm_pass, merge_pass, restrict};
use crate::constraints::{Class, ordering_constraint};
use crate::entity::{Block, Inst, Value};
use crate::func::{Function, KernelInfo, KernelParam, ParamKind};
use crate::op::{Mem, Op};
use crate::types::{MemTy, Space};
use cranelift_entity::EntityRef;
use smallvec::SmallVec;

/// Number of preceding accesses in a block with which the scan compares each access.
const WINDOW: usize = 16;
/// Width of the widest access in bytes.
const WIDEST: i64 = 16;

/// What the generated code would save if the guarantee were given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saving {
    /// Several loads would become one load: the number of loads, and the width of the one load in bytes.
    Loads(u32, u32),
    /// Several stores would become one store: the number of stores, and the width of the one store in bytes.
    Stores(u32, u32),
    /// A load in a loop would be executed once, before the loop.
    Iterations,
}

/// An access for which a `restrict` guarantee is missing.
#[derive(Clone, Debug)]
pub struct MissingRestrict {
    /// What the guarantee would save.
    pub saved: Saving,
    /// The first access that would be merged or moved, and the number of the parameter from which its address
    /// comes.
    pub access: (Inst, usize),
    /// The instruction that prevents the optimisation. If its address comes from a parameter, the number of
    /// this parameter.
    pub other: (Inst, Option<usize>),
    /// Numbers of the parameters that lack `restrict`.
    pub lacking: SmallVec<[usize; 4]>,
}

/// Returns the accesses of an optimised function for which `restrict` guarantees are missing, in program
/// order.
pub fn find(func: &Function, opts: &OptOptions, ctx: &mut PassContext) -> Vec<MissingRestrict> {
    let Some(kernel) = func.kernel.as_ref().filter(|kernel| opts.level > 0 && lacks_promises(kernel)) else {
        return Vec::new();
    };
    if !has_left_over(func) {
        return Vec::new();
    }
    let mut promised = func.clone();
    for param in promised.kernel.iter_mut().flat_map(|kernel| &mut kernel.params) {
        param.is_restrict |= is_buffer(param);
    }
    restrict::run(&mut promised, &mut ctx.restrict);
    let promised = Rerun::run(promised, opts, ctx);
    if !promised.changed {
        return Vec::new();
    }
    let plain = Rerun::run(func.clone(), opts, ctx);
    Search { func, kernel, plain, promised, ctx: &*ctx }.all()
}

fn is_buffer(param: &KernelParam) -> bool {
    param.kind == ParamKind::GlobalBuffer
}

fn lacks_promises(kernel: &KernelInfo) -> bool {
    let buffers = || kernel.params.iter().filter(|param| is_buffer(param));
    buffers().nth(1).is_some() && buffers().any(|param| !param.is_restrict)
}

/// Returns the memory operand and the element count of a load or store. The optimiser might merge or move
/// these operations if it knew that other accesses do not overlap with them. Returns `None` for other
/// operations.
fn is_candidate(op: &Op) -> Option<(Mem, u8)> {
    match *op {
        Op::Load { mem, count } | Op::Store { mem, count } => {
            let free = matches!(Class::for_access(&mem), Class::PLAIN | Class::NONTEMPORAL);
            (free && mem.space == Space::Global).then_some((mem, count))
        }
        _ => None,
    }
}

/// Returns the first byte of an access and the byte after its last one, as offsets from its pointer.
fn bytes(mem: &Mem, count: u8) -> (i64, i64) {
    let from = i64::from(mem.offset);
    (from, from + i64::from(mem.ty.bytes()) * i64::from(count))
}

/// Returns whether the function has accesses that were neither merged nor moved, but might have been with
/// more `restrict` guarantees.
fn has_left_over(func: &Function) -> bool {
    let mut position = vec![0; func.blocks.len()];
    for (at, &block) in func.layout.iter().enumerate() {
        position[block.index()] = at;
    }
    // For each block in layout order, the layout position at which the innermost loop around the block
    // begins. This scan takes every jump backwards for the back edge of a loop.
    let mut begins = vec![None; func.layout.len()];
    for (at, &block) in func.layout.iter().enumerate() {
        for to in func.succs(block).map(|to| position[to.index()]).filter(|&to| to <= at) {
            begins[to..=at].iter_mut().for_each(|begin| *begin = (*begin).max(Some(to)));
        }
    }
    let mut near: Vec<(Value, bool, i64, i64)> = Vec::new();
    func.layout.iter().zip(&begins).any(|(&block, &begin)| {
        near.clear();
        func.blocks[block].insts().iter().any(|&inst| {
            let op = func.insts[inst].op;
            let Some((mem, count)) = is_candidate(&op) else { return false };
            let (ptr, is_load) = (func.args(inst)[0], matches!(op, Op::Load { .. }));
            let known = position[func.block_of(ptr).index()];
            if is_load && begin.is_some_and(|begin| known < begin) {
                return true;
            }
            let (from, to) = bytes(&mem, count);
            let joins = |&(p, load, start, end): &(Value, bool, i64, i64)| {
                (p, load) == (ptr, is_load)
                    && (end == from || to == start)
                    && to - from + end - start <= WIDEST
            };
            let wide = matches!(mem.ty, MemTy::B32 | MemTy::B64);
            let found = wide && near.iter().rev().take(WINDOW).any(joins);
            near.push((ptr, is_load, from, to));
            found
        })
    })
}

/// A copy of the function on which the passes have run again.
struct Rerun {
    func: Function,
    /// For each instruction, whether it is still in the code.
    live: Vec<bool>,
    /// Index of the first instruction that a pass created.
    made: usize,
    changed: bool,
}

impl Rerun {
    fn run(mut func: Function, opts: &OptOptions, ctx: &mut PassContext) -> Rerun {
        let made = func.insts.len();
        let mut changed = opts.level >= 2 && licm_pass(&mut func, opts, ctx);
        changed |= merge_pass(&mut func, opts, ctx);
        let mut live = vec![false; func.insts.len()];
        for inst in func.layout.iter().flat_map(|&block| func.blocks[block].insts()) {
            live[inst.index()] = true;
        }
        Rerun { func, live, made, changed }
    }

    /// Returns the merged access that contains the bytes `from..to`, which `inst` accessed before merging.
    /// `None` if the instruction was not merged.
    fn whole_of(&self, inst: Inst, ptr: Value, (from, to): (i64, i64)) -> Option<(Inst, Mem, u8)> {
        let block = self.func.insts[inst].block;
        let is_load = matches!(self.func.insts[inst].op, Op::Load { .. });
        let made =
            self.func.blocks[block].insts().iter().filter(|i| i.index() >= self.made && self.live[i.index()]);
        made.filter_map(|&i| match self.func.insts[i].op {
            Op::Load { mem, count } if is_load => Some((i, mem, count)),
            Op::Store { mem, count } if !is_load => Some((i, mem, count)),
            _ => None,
        })
        .find(|&(i, ref mem, count)| {
            let (start, end) = bytes(mem, count);
            self.func.args(i)[0] == ptr && start <= from && to <= end
        })
    }
}

struct Search<'a> {
    func: &'a Function,
    kernel: &'a KernelInfo,
    plain: Rerun,
    promised: Rerun,
    ctx: &'a PassContext,
}

impl Search<'_> {
    #[inline(never)]
    fn all(&self) -> Vec<MissingRestrict> {
        let mut told = SmallVec::<[Inst; 8]>::new();
        let mut all = Vec::new();
        for &inst in self.func.layout.iter().flat_map(|&block| self.func.blocks[block].insts()) {
            let Some((mem, count)) = is_candidate(&self.func.insts[inst].op) else { continue };
            if self.promised.func.insts[inst].block != self.plain.func.insts[inst].block {
                all.extend(self.out_of_loop(inst));
            } else if !self.promised.live[inst.index()] && self.plain.live[inst.index()] {
                let whole = self.promised.whole_of(inst, self.func.args(inst)[0], bytes(&mem, count));
                let Some(whole) = whole.filter(|whole| !told.contains(&whole.0)) else { continue };
                told.push(whole.0);
                all.extend(self.merged(inst, whole));
            }
        }
        all
    }

    /// Returns the number of the kernel parameter from which the address of an access is derived.
    fn param(&self, inst: Inst) -> Option<usize> {
        self.ctx.restrict.param_of(self.func.args(inst)[0])
    }

    /// Returns whether `other` may access the same memory as `access`, and at least one of the two writes to
    /// it.
    fn in_the_way(&self, access: Inst, other: Inst) -> bool {
        let of = |inst: Inst| match self.func.insts[inst].op {
            Op::Load { mem, count } => Some((mem, count, false)),
            Op::Store { mem, count } => Some((mem, count, true)),
            Op::AtomicRmw { mem, .. } | Op::AtomicCas { mem, .. } => Some((mem, 1, true)),
            _ => None,
        };
        let (Some((x, m, writes)), Some((y, n, also))) = (of(access), of(other)) else { return false };
        let (p, q) = (self.func.args(access)[0], self.func.args(other)[0]);
        (writes || also) && p != q && may_alias((p, &x, m), (q, &y, n))
    }

    fn merged(&self, first: Inst, (_, wide, count): (Inst, Mem, u8)) -> Option<MissingRestrict> {
        let (ptr, block) = (self.func.args(first)[0], self.func.insts[first].block);
        let (start, end) = bytes(&wide, count);
        let is_load = matches!(self.func.insts[first].op, Op::Load { .. });
        let insts = self.func.blocks[block].insts();
        let is_part = |inst: &Inst| {
            let op = self.func.insts[*inst].op;
            is_candidate(&op).is_some_and(|(mem, count)| {
                let (from, to) = bytes(&mem, count);
                let same = self.func.args(*inst)[0] == ptr && matches!(op, Op::Load { .. }) == is_load;
                same && start <= from && to <= end && !self.promised.live[inst.index()]
            })
        };
        let (from, to) = (insts.iter().position(is_part)?, insts.iter().rposition(is_part)?);
        let parts = insts[from..=to].iter().filter(|inst| is_part(inst)).count() as u32;
        let bytes = u32::try_from(end - start).ok()?;
        let saved = if is_load { Saving::Loads(parts, bytes) } else { Saving::Stores(parts, bytes) };
        self.missed(saved, first, insts[from..=to].iter().copied())
    }

    fn out_of_loop(&self, load: Inst) -> Option<MissingRestrict> {
        let loops = &self.ctx.loops;
        let to: Block = self.promised.func.insts[load].block;
        let mut around = loops.innermost(self.plain.func.insts[load].block);
        while let Some(l) = around.filter(|&l| loops.preheader(l) != Some(to)) {
            around = loops.parent(l);
        }
        let l = around?;
        let inside = self.func.layout.iter().filter(|&&block| loops.contains(l, block));
        let insts = inside.flat_map(|&block| self.func.blocks[block].insts().iter().copied());
        self.missed(Saving::Iterations, load, insts)
    }

    /// Returns the report about an access if `restrict` on parameters would allow the optimisation. The
    /// access would move across the instructions `way`. The report names the first of them that prevents the
    /// move. Returns `None` if one of these instructions orders memory, because then other work-items most
    /// likely write the memory anyway.
    fn missed(
        &self,
        saved: Saving,
        access: Inst,
        way: impl Iterator<Item = Inst>,
    ) -> Option<MissingRestrict> {
        let param = self.param(access)?;
        let mut others = SmallVec::<[Inst; 8]>::new();
        for other in way {
            if !ordering_constraint(&self.func.insts[other].op).is_empty() {
                return None;
            }
            if self.in_the_way(access, other) {
                others.push(other);
            }
        }
        let lacks = |param: usize| !self.kernel.params[param].is_restrict;
        let is_load = |inst: Inst| matches!(self.func.insts[inst].op, Op::Load { .. });
        let mut lacking = SmallVec::new();
        let mut add = |param: usize| {
            if lacks(param) && !lacking.contains(&param) {
                lacking.push(param);
            }
        };
        if self.kernel.params[param].is_const && is_load(access) {
            // With `const restrict` on this parameter, nobody writes the memory that the load reads.
            add(param);
        } else {
            for &other in &others {
                let by = self.param(other)?;
                if !(self.kernel.params[by].is_const && is_load(other)) {
                    add(param);
                }
                add(by);
            }
        }
        let &other = others.first()?;
        (!lacking.is_empty()).then(|| MissingRestrict {
            saved,
            access: (access, param),
            other: (other, self.param(other)),
            lacking,
        })
    }
}
