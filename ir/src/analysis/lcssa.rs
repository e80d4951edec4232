//! Closes divergent loops: what a later block needs from one comes through a block parameter.
//!
//! Lanes leave such a loop in different iterations. A value kept in a scalar register, or a lane mask,
//! is overwritten by the iterations that the remaining lanes still run; each lane must take its copy on
//! its way out. So every value of the loop that is uniform, or a `bool`, and used outside is passed over
//! the exit edges to a new (divergent) parameter of the exit block. Other divergent values live in vector
//! registers, where a masked write leaves the lanes that are gone alone.
//!
//! # Guarantees
//! For such a value `v`, [`Uniformity::leaves_divergent_loop`](super::Uniformity::leaves_divergent_loop)
//! holds only for uses as branch arguments on the exit edges themselves. `Analyses` are up to date.

use super::{Analyses, Loop};
use crate::entity::{Block, Inst, Value};
use crate::func::{Function, SrcLoc};
use crate::op::Op;
use crate::types::Type;
use rustc_hash::FxHashMap;

/// An instruction outside the loop with the value among its operands. (Their positions change when
/// arguments are added to a branch, so they are not kept.)
#[derive(PartialEq)]
struct Use {
    value: Value,
    inst: Inst,
}

/// Rewrites `func`; `analyses` must describe it and is recomputed if anything changed, which is returned.
pub fn lcssa_divergent_exits(func: &mut Function, analyses: &mut Analyses) -> bool {
    if !analyses.uniformity.has_divergent_loop() {
        return false;
    }
    // A new parameter may itself lie in a loop around this one or further on: those come later. Loops are
    // renumbered when an edge is split; headers stay.
    let Analyses { cfg, loops, uniformity, .. } = &*analyses;
    let mut order: Vec<Loop> = loops.loops().rev().filter(|&l| uniformity.is_loop_divergent(l)).collect();
    order.sort_by_key(|&l| cfg.position(loops.header(l)) as usize + loops.blocks(l).len());
    let headers: Vec<Block> = order.into_iter().map(|l| loops.header(l)).collect();
    let mut changed = false;
    for header in headers {
        let Some(l) = analyses.loops.innermost(header) else { continue };
        let uses = outside_uses(func, analyses, l);
        if uses.is_empty() {
            continue;
        }
        changed = true;
        if dedicate_exits(func, analyses, l) {
            analyses.compute(func);
        }
        let Some(l) = analyses.loops.innermost(header) else { continue };
        Router { analyses, l, known: FxHashMap::default(), open: Vec::new() }.route(func, &uses);
        analyses.compute(func);
    }
    changed
}

fn outside_uses(func: &Function, analyses: &Analyses, l: Loop) -> Vec<Use> {
    let Analyses { cfg, loops, uniformity, .. } = analyses;
    let mut uses = Vec::new();
    for &block in cfg.rpo().iter().filter(|&&block| !loops.contains(l, block)) {
        for &inst in &func.blocks[block].insts {
            for &value in func.args(inst) {
                let scalar = func.ty(value) == Type::Bool || uniformity.is_uniform(value);
                if scalar
                    && loops.contains(l, func.block_of(value))
                    && uniformity.leaves_divergent_loop(func, loops, value, block)
                    && uses.last() != Some(&Use { value, inst })
                {
                    uses.push(Use { value, inst });
                }
            }
        }
    }
    uses
}

/// Gives every exit block that can also be reached from outside the loop a block before it that cannot.
fn dedicate_exits(func: &mut Function, analyses: &Analyses, l: Loop) -> bool {
    let Analyses { cfg, loops, .. } = analyses;
    let mut shared: Vec<Block> = loops.exits(l).iter().map(|&(_, to)| to).collect();
    shared.sort_unstable();
    shared.dedup();
    shared.retain(|&to| cfg.preds(to).iter().any(|&pred| !loops.contains(l, pred)));
    for &to in &shared {
        let between = func.make_block();
        let at = func.layout.iter().position(|&b| b == to).unwrap_or(func.layout.len());
        func.layout.insert(at, between);
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

/// Finds, for each use, the parameter that brings the value there.
struct Router<'a> {
    analyses: &'a Analyses,
    l: Loop,
    /// The parameter of a block that carries a value of the loop.
    known: FxHashMap<(Value, Block), Value>,
    /// Parameters whose arguments are still to be passed.
    open: Vec<(Value, Block)>,
}

impl Router<'_> {
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
        }
    }

    /// What the lanes hold for `value` when they enter `block`, which is outside the loop.
    fn at_start(&mut self, func: &mut Function, value: Value, block: Block) -> Value {
        // An exit that dominates the block is the only way to it. Otherwise paths from several exits
        // merge at the first join upwards.
        let Analyses { cfg, dom, .. } = self.analyses;
        let mut place = None;
        let mut up = Some(block);
        while let Some(b) = up {
            if self.is_exit(b) {
                place = Some(b);
                break;
            }
            up = dom.idom(b);
        }
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
            for which in 0..2 {
                if func.succs(pred).nth(which) == Some(block) {
                    func.push_branch_arg(branch, which, arg);
                }
            }
        }
    }
}
