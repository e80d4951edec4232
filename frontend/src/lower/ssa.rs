//! SSA construction along the structure of the program.
//!
//! # Idea
//! The current value of every variable is in [`Env`]. Assignments are logged, so that an arm of an
//! `if` can be undone before the other is lowered; what both arms logged is what a join must
//! reconcile. A loop's header has a parameter for each variable assigned in the loop, which the
//! checker has listed.
//!
//! # Cost
//! Proportional to the assignments, times the depth of nesting. No hashing.
//!
//! # Not here
//! Pruning of parameters nobody reads: dead-code elimination does that.

use super::{Lower, Val};
use ir::{Block, Op, Type, Value};
use smallvec::SmallVec;

/// Values of the variables at the current point.
#[derive(Default)]
pub struct Env {
    values: Vec<Value>,
    /// Variable and the value it had before, oldest first.
    log: Vec<(u32, Value)>,
}

/// A block that will jump somewhere, and the values it brings.
pub struct Edge {
    pub block: Block,
    pub values: SmallVec<[Value; 4]>,
}

/// A point to return to.
#[derive(Clone, Copy)]
pub struct Mark {
    log: usize,
    /// Variables from here on are local to what comes.
    limit: u32,
}

/// What one arm of a branch did.
pub struct Arm {
    pub block: Block,
    pub dead: bool,
    /// Variables assigned and their values, by variable.
    pub changes: Vec<(u32, Value)>,
    pub result: Val,
}

impl Env {
    /// New variables with these values; returns the first.
    pub fn declare(&mut self, values: &[Value]) -> u32 {
        let first = self.values.len() as u32;
        self.values.extend_from_slice(values);
        first
    }

    pub fn get(&self, var: u32) -> Value {
        self.values[var as usize]
    }

    pub fn set(&mut self, var: u32, value: Value) {
        let old = std::mem::replace(&mut self.values[var as usize], value);
        self.log.push((var, old));
    }

    pub fn mark(&self) -> Mark {
        Mark { log: self.log.len(), limit: self.values.len() as u32 }
    }

    /// Undoes everything since `mark` and returns what had been assigned.
    pub fn undo(&mut self, mark: Mark) -> Vec<(u32, Value)> {
        let mut changes: Vec<(u32, Value)> = self.log[mark.log..]
            .iter()
            .filter(|(var, _)| *var < mark.limit)
            .map(|&(var, _)| (var, self.values[var as usize]))
            .collect();
        changes.sort_unstable_by_key(|&(var, _)| var);
        changes.dedup_by_key(|change| change.0);
        while self.log.len() > mark.log {
            if let Some((var, old)) = self.log.pop() {
                self.values[var as usize] = old;
            }
        }
        changes
    }

    /// Current values of some variables.
    pub fn values_of(&self, vars: &[u32]) -> SmallVec<[Value; 4]> {
        vars.iter().map(|&var| self.get(var)).collect()
    }
}

impl Lower<'_, '_> {
    /// A new block, part of the layout if it can be reached.
    pub(super) fn new_block(&mut self) -> Block {
        if self.dead { self.func.make_block() } else { self.func.add_block() }
    }

    /// What follows is never reached.
    pub(super) fn kill(&mut self) {
        self.dead = true;
        self.block = self.func.make_block();
    }

    pub(super) fn jump(&mut self, from: Block, to: Block, args: &[Value]) {
        self.func.push(from, Op::Jump(to), args, self.loc);
    }

    /// Ends the arm being lowered.
    pub(super) fn end_arm(&mut self, mark: Mark, result: Val) -> Arm {
        let changes = self.ssa.undo(mark);
        Arm { block: self.block, dead: self.dead, changes, result }
    }

    pub(super) fn apply(&mut self, changes: &[(u32, Value)]) {
        for &(var, value) in changes {
            self.ssa.set(var, value);
        }
    }

    /// Brings two live arms together in `join`: gives it parameters where they differ, sets the
    /// variables, and returns the result and what each arm passes.
    pub(super) fn reconcile(&mut self, join: Block, a: &Arm, b: &Arm) -> (Val, Val, Val) {
        let (mut args_a, mut args_b) = (Val::new(), Val::new());
        let mut merged: SmallVec<[(u32, Value); 8]> = SmallVec::new();
        let (mut i, mut j) = (0, 0);
        while i < a.changes.len() || j < b.changes.len() {
            let var_a = a.changes.get(i).map_or(u32::MAX, |change| change.0);
            let var_b = b.changes.get(j).map_or(u32::MAX, |change| change.0);
            let var = var_a.min(var_b);
            let before = self.ssa.get(var);
            let take = |matches: bool, changes: &[(u32, Value)], at: &mut usize| {
                if matches {
                    *at += 1;
                    changes[*at - 1].1
                } else {
                    before
                }
            };
            let x = take(var_a == var, &a.changes, &mut i);
            let y = take(var_b == var, &b.changes, &mut j);
            merged.push((var, self.phi(join, x, y, &mut args_a, &mut args_b)));
        }
        for (var, value) in merged {
            self.ssa.set(var, value);
        }
        let mut result = Val::new();
        for (&x, &y) in a.result.iter().zip(&b.result) {
            result.push(self.phi(join, x, y, &mut args_a, &mut args_b));
        }
        (result, args_a, args_b)
    }

    /// The value that is `x` or `y` in `join`.
    fn phi(&mut self, join: Block, x: Value, y: Value, args_x: &mut Val, args_y: &mut Val) -> Value {
        if x == y {
            return x;
        }
        args_x.push(x);
        args_y.push(y);
        let ty = self.func.ty(x);
        self.func.add_param(join, ty)
    }

    /// Continues where several edges meet, with `vars` as they bring them.
    pub(super) fn meet(&mut self, vars: &[u32], edges: Vec<Edge>) {
        match edges.as_slice() {
            [] => self.kill(),
            [edge] => {
                self.block = edge.block;
                self.dead = false;
                for (n, &var) in vars.iter().enumerate() {
                    self.ssa.set(var, edge.values[n]);
                }
            }
            _ => {
                self.dead = false;
                let join = self.new_block();
                let differs = self.join_params(join, vars, &edges, None);
                for edge in &edges {
                    let args = pick(&edge.values, &differs);
                    self.jump(edge.block, join, &args);
                }
                self.block = join;
            }
        }
    }

    /// Gives `join` a parameter for each variable on which the edges (and `leg`, the values of one
    /// more) differ, and sets the variables. Returns which those are.
    pub(super) fn join_params(
        &mut self,
        join: Block,
        vars: &[u32],
        edges: &[Edge],
        leg: Option<&[Value]>,
    ) -> SmallVec<[u32; 8]> {
        let mut differs = SmallVec::new();
        for (n, &var) in vars.iter().enumerate() {
            let first = leg.map_or_else(|| edges[0].values[n], |leg| leg[n]);
            if edges.iter().all(|edge| edge.values[n] == first) {
                self.ssa.set(var, first);
                continue;
            }
            let ty = self.func.ty(first);
            let param = self.func.add_param(join, ty);
            self.ssa.set(var, param);
            differs.push(n as u32);
        }
        differs
    }

    /// Ends the function: all ways out meet in one `ret`.
    pub(super) fn finish(&mut self, value: Val) {
        if !self.dead {
            self.returns.push(Edge { block: self.block, values: value });
        }
        let returns = std::mem::take(&mut self.returns);
        match returns.as_slice() {
            [] => {}
            [edge] => {
                self.func.push(edge.block, Op::Ret, &edge.values, self.loc);
            }
            _ => {
                let block = self.func.add_block();
                let types: Vec<Type> = self.func.results.clone();
                let params: Val = types.iter().map(|&ty| self.func.add_param(block, ty)).collect();
                for edge in &returns {
                    self.jump(edge.block, block, &edge.values);
                }
                self.func.push(block, Op::Ret, &params, self.loc);
            }
        }
    }
}

/// The chosen ones of some values.
pub fn pick(values: &[Value], which: &[u32]) -> Val {
    which.iter().map(|&n| values[n as usize]).collect()
}
