//! Closes divergent loops. If a value of a divergent loop is used after the loop, it is passed to the use
//! through block parameters of the exit blocks.
//!
//! Lanes leave a divergent loop in different iterations. A value in a scalar register, or a lane mask, is
//! overwritten by the iterations that the remaining lanes still execute. Each lane must therefore copy the
//! value when it leaves. For this purpose, every uniform value and every `bool` of the loop that is used
//! outside is passed over the exit edges to a new (divergent) parameter of the exit block. Other divergent
//! values need no copy: they are in vector registers, where masked writes do not change the lanes that have
//! left.
//!
//! # Guarantees
//! Afterwards, a uniform value or `bool` of a divergent loop leaves the loop only as a branch argument on an
//! exit edge. Only for these uses,
//! [`Uniformity::leaves_divergent_loop`](super::Uniformity::leaves_divergent_loop) returns true. `Analyses`
//! are up to date.

use super::{Analyses, Loop};
use crate::entity::{Block, Inst, Value};
use crate::func::{Function, SrcLoc};
use crate::op::Op;
use crate::types::Type;
use cranelift_entity::EntityRef;
use rustc_hash::FxHashMap;

/// A use of a value outside of the loop: an instruction that has the value among its operands. The position
/// of the operand is not kept because it changes when arguments are added to a branch.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Use {
    value: Value,
    inst: Inst,
}

/// Closes the divergent loops of `func`. `analyses` must describe `func` and is recomputed if anything
/// changed. Returns whether anything changed.
pub fn lcssa_divergent_exits(func: &mut Function, analyses: &mut Analyses) -> bool {
    if !analyses.uniformity.has_divergent_loop() {
        return false;
    }
    let mut uses = Uses { old: func.values.len(), of: FxHashMap::default() };
    let leaving = uses.find(func, analyses);
    if leaving.is_empty() {
        return false;
    }
    // Splitting edges renumbers the loops but not the headers.
    let headers: Vec<Block> = leaving.iter().map(|&l| analyses.loops.header(l)).collect();
    let mut split = false;
    for &l in &leaving {
        split |= dedicate_exits(func, analyses, l);
    }
    if split {
        analyses.compute(func);
    }
    let loops = &analyses.loops;
    let mut order: Vec<Loop> = headers.into_iter().filter_map(|header| loops.innermost(header)).collect();
    // The block parameter that a loop's exit gets may itself be inside an outer loop, which then needs a
    // parameter at its own exit. So inner loops are processed first, and earlier loops before later ones.
    order.sort_unstable_by_key(|&l| {
        let first = analyses.cfg.position(loops.header(l)) as usize;
        (first + loops.blocks(l).len(), std::cmp::Reverse(first))
    });
    for l in order {
        let list = uses.of.remove(&loops.header(l)).unwrap_or_default();
        let mut exits: Vec<Block> = loops.exits(l).iter().map(|&(_, to)| to).collect();
        exits.sort_unstable();
        exits.dedup();
        let router =
            Router { analyses, l, exits, known: FxHashMap::default(), open: Vec::new(), uses: &mut uses };
        router.route(func, &list);
    }
    analyses.compute(func);
    // The new parameters may be in another divergent loop and be used outside of it, although no value had
    // left this loop before. Another run of the pass handles these parameters.
    if !uses.of.is_empty() {
        lcssa_divergent_exits(func, analyses);
    }
    true
}

/// Uses of uniform values and lane masks outside of the divergent loop that defines them. The key is the
/// header of this loop. If several divergent loops contain the definition, it is the innermost one.
struct Uses {
    /// Number of values of the function when the analyses were computed. Values with higher numbers are
    /// parameters that this pass has added.
    old: usize,
    of: FxHashMap<Block, Vec<Use>>,
}

impl Uses {
    /// Finds all uses of uniform values and lane masks outside of the divergent loops that define them.
    /// Returns the loops that these values leave, or may leave once inner loops have been closed.
    fn find(&mut self, func: &Function, analyses: &Analyses) -> Vec<Loop> {
        let mut leaving = vec![false; analyses.loops.len()];
        for &block in analyses.cfg.rpo() {
            for &inst in func.blocks[block].insts() {
                for &value in func.args(inst) {
                    let mut l = self.note(func, analyses, value, inst);
                    // The parameter that carries a lane mask out of the inner loop is a lane mask, too. It
                    // may therefore have to leave the outer loop in the same way.
                    while let Some(left) = l.filter(|&l| !analyses.loops.contains(l, block)) {
                        leaving[left.index()] |= analyses.uniformity.is_loop_divergent(left);
                        l = if func.ty(value) == Type::Bool { analyses.loops.parent(left) } else { None };
                    }
                }
            }
        }
        analyses.loops.loops().filter(|l| leaving[l.index()]).collect()
    }

    /// Records a use of a value if the value leaves a divergent loop on its way to the use. Returns that
    /// loop.
    fn note(&mut self, func: &Function, analyses: &Analyses, value: Value, inst: Inst) -> Option<Loop> {
        let Analyses { loops, uniformity, .. } = analyses;
        let known = value.index() < self.old;
        let scalar = func.ty(value) == Type::Bool || known && uniformity.is_uniform(value);
        let block = func.insts[inst].block;
        if !scalar || !uniformity.leaves_divergent_loop(func, loops, value, block) {
            return None;
        }
        let mut around = loops.innermost(func.block_of(value));
        while let Some(l) = around.filter(|&l| !uniformity.is_loop_divergent(l)) {
            around = loops.parent(l);
        }
        let list = self.of.entry(loops.header(around?)).or_default();
        if list.last() != Some(&Use { value, inst }) {
            list.push(Use { value, inst });
        }
        around
    }
}

/// Gives each exit block that can also be reached from outside of the loop a block in front of it. The new
/// block can be reached only from the loop.
#[inline(never)]
fn dedicate_exits(func: &mut Function, analyses: &Analyses, l: Loop) -> bool {
    let Analyses { cfg, loops, .. } = analyses;
    let mut shared: Vec<Block> = loops.exits(l).iter().map(|&(_, to)| to).collect();
    shared.sort_unstable();
    shared.dedup();
    shared.retain(|&to| cfg.preds(to).iter().any(|&pred| !loops.contains(l, pred)));
    for &to in &shared {
        let between = func.make_block();
        func.layout.push(between);
        let types: Vec<Type> = func.params(to).iter().map(|&p| func.ty(p)).collect();
        let params: Vec<Value> = types.into_iter().map(|ty| func.add_param(between, ty)).collect();
        func.push(between, Op::Jump(to), &params, SrcLoc::default());
        for &(from, exit) in loops.exits(l) {
            if exit == to
                && let Some(branch) = func.terminator(from)
            {
                func.retarget(branch, to, between);
            }
        }
    }
    !shared.is_empty()
}

/// Finds, for each use of a value outside of the loop, the block parameter that carries the value to the use.
struct Router<'a> {
    analyses: &'a Analyses,
    l: Loop,
    exits: Vec<Block>,
    /// Parameters that exist already. The key has a value of the loop and a block outside of the loop; the
    /// entry is the parameter of this block that holds the value.
    known: FxHashMap<(Value, Block), Value>,
    /// New parameters, each with its value and its block, for which the branches of the predecessors do not
    /// pass arguments yet.
    open: Vec<(Value, Block)>,
    uses: &'a mut Uses,
}

impl Router<'_> {
    #[inline(never)]
    fn route(mut self, func: &mut Function, uses: &[Use]) {
        for u in uses {
            let carried = self.at_start(func, u.value, func.insts[u.inst].block);
            while let Some((value, block)) = self.open.pop() {
                self.pass_arguments(func, value, block);
            }
            for arg in func.args_mut(u.inst) {
                if *arg == u.value {
                    *arg = carried;
                }
            }
            self.uses.note(func, self.analyses, carried, u.inst);
        }
    }

    /// Returns the block parameter that holds `value` for the lanes that enter `block`, which is outside the
    /// loop. Adds the parameter if there is none yet.
    fn at_start(&mut self, func: &mut Function, value: Value, block: Block) -> Value {
        // Finds the block that gets the parameter. If an exit block dominates `block`, all paths lead through
        // this exit block, and it gets the parameter. Otherwise paths from several exits merge before
        // `block`, and the closest block where paths merge gets the parameter.
        let Analyses { cfg, dom, .. } = self.analyses;
        let mut place = self.exits.iter().copied().find(|&exit| dom.dominates(exit, block));
        let mut join = block;
        while place.is_none() {
            match *cfg.preds(join) {
                [pred] if !self.is_exit(join) => join = pred,
                _ => place = Some(join),
            }
        }
        let place = place.unwrap_or(block);
        if let Some(&param) = self.known.get(&(value, place)) {
            return param;
        }
        let param = func.add_param(place, func.ty(value));
        self.known.insert((value, place), param);
        self.open.push((value, place));
        param
    }

    fn is_exit(&self, block: Block) -> bool {
        let Analyses { cfg, loops, .. } = self.analyses;
        !loops.contains(self.l, block) && cfg.preds(block).iter().any(|&p| loops.contains(self.l, p))
    }

    fn pass_arguments(&mut self, func: &mut Function, value: Value, block: Block) {
        let Analyses { cfg, loops, .. } = self.analyses;
        let preds = cfg.preds(block);
        for (n, &pred) in preds.iter().enumerate() {
            if preds[..n].contains(&pred) {
                continue;
            }
            let inside = loops.contains(self.l, pred);
            let arg = if inside { value } else { self.at_start(func, value, pred) };
            let Some(branch) = func.terminator(pred) else { continue };
            for which in 0..func.branch_count(branch) {
                if func.branch_target(branch, which) == Some(block) {
                    func.push_branch_arg(branch, which, arg);
                }
            }
            if !inside {
                self.uses.note(func, self.analyses, arg, branch);
            }
        }
    }
}
