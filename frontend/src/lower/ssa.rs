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

use super::home::Home;
use super::{Lower, Val};
use crate::types::Ty;
use ir::track::Leaf;
use ir::{Block, Op, Value};
use smallvec::SmallVec;

/// Values of the variables at the current point.
#[derive(Default)]
pub struct Env {
    values: Vec<Value>,
    /// Variable and the value it had before, oldest first.
    log: Vec<(u32, Value)>,
    /// Memory for a list of changes.
    spare: Changes,
    /// Which part of a variable of the source each is, if that is followed.
    owners: Vec<Option<Leaf>>,
    /// Where each is in memory, too.
    homes: Vec<Option<Home>>,
}

/// A block that will jump somewhere, and the values it brings.
pub struct Edge {
    pub block: Block,
    pub values: Val,
}

/// Edges that come together.
pub type Edges = SmallVec<[Edge; 2]>;

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
    /// The branch that goes past the last arm of an `if`, for want of an `else`: its condition and where else it goes.
    pub past: Option<(Value, Block)>,
    /// Variables assigned and their values, by variable.
    pub changes: Changes,
    pub result: Val,
}

/// Variables and values, by variable.
pub type Changes = SmallVec<[(u32, Value); 4]>;
/// The arms of a branch.
pub type Arms = SmallVec<[Arm; 2]>;

impl Env {
    /// Forgets all variables.
    pub fn clear(&mut self) {
        self.values.clear();
        self.log.clear();
        self.owners.clear();
        self.homes.clear();
    }

    /// Says which part of a variable of the source a variable is.
    pub fn own(&mut self, var: u32, leaf: Leaf) {
        self.owners.resize(self.owners.len().max(var as usize + 1), None);
        self.owners[var as usize] = Some(leaf);
    }

    /// Which part of a variable of the source it is, if that is followed.
    pub fn owner(&self, var: u32) -> Option<Leaf> {
        self.owners.get(var as usize).copied().flatten()
    }

    /// Says where a variable is in memory, too.
    pub fn settle(&mut self, var: u32, home: Home) {
        self.homes.resize(self.homes.len().max(var as usize + 1), None);
        self.homes[var as usize] = Some(home);
    }

    /// Where a variable is in memory, too.
    pub fn home(&self, var: u32) -> Option<Home> {
        self.homes.get(var as usize).copied().flatten()
    }

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

    /// What has been assigned since `mark`, by variable.
    pub fn changes(&self, mark: Mark) -> Changes {
        let mut changes = Changes::new();
        self.collect_changes(mark, &mut changes);
        changes
    }

    fn collect_changes(&self, mark: Mark, changes: &mut Changes) {
        let assigned = self.log[mark.log..].iter().filter(|(var, _)| *var < mark.limit);
        changes.extend(assigned.map(|&(var, _)| (var, self.values[var as usize])));
        changes.sort_unstable_by_key(|&(var, _)| var);
        changes.dedup_by_key(|change| change.0);
    }

    /// Undoes everything since `mark`.
    pub fn rewind(&mut self, mark: Mark) {
        while self.log.len() > mark.log {
            if let Some((var, old)) = self.log.pop() {
                self.values[var as usize] = old;
            }
        }
    }

    /// Logs what has been assigned since `mark` afresh, on top of the values from before it.
    pub fn log_afresh(&mut self, mark: Mark) {
        let mut changes = std::mem::take(&mut self.spare);
        self.collect_changes(mark, &mut changes);
        self.rewind(mark);
        changes.drain(..).for_each(|(var, value)| self.set(var, value));
        self.spare = changes;
    }

    /// Current values of some variables.
    pub fn values_of(&self, vars: &[u32]) -> Val {
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

    /// Ends an arm that began at `arm`, of a branch that began at `start`.
    pub(super) fn end_arm(&mut self, start: Mark, arm: Mark, result: Val) -> Arm {
        let changes = self.ssa.changes(start);
        self.ssa.rewind(arm);
        Arm { block: self.block, dead: self.dead, past: None, changes, result }
    }

    pub(super) fn apply(&mut self, changes: &[(u32, Value)]) {
        for &(var, value) in changes {
            self.ssa.set(var, value);
        }
    }

    /// Brings the arms of a branch together, the variables being as they were in front of it: where several can be left at
    /// their end, in a new block with a parameter for each variable they differ on. Returns their value, of type `ty`.
    pub(super) fn merge(&mut self, mut arms: Arms, ty: Ty) -> Val {
        arms.retain(|arm| !arm.dead);
        self.dead = false;
        match arms.as_mut_slice() {
            [] => {
                self.kill();
                self.zeros(ty)
            }
            // The others go elsewhere: this one simply continues.
            [Arm { block, past: None, changes, result, .. }] => {
                self.block = *block;
                let (changes, result) = (std::mem::take(changes), std::mem::take(result));
                self.apply(&changes);
                result
            }
            _ => {
                let join = self.new_block();
                let (result, args) = self.reconcile(join, &arms);
                for (arm, args) in arms.iter().zip(args) {
                    self.enter(join, arm, &args);
                }
                self.block = join;
                result
            }
        }
    }

    /// The end of an arm that goes to `join`.
    fn enter(&mut self, join: Block, arm: &Arm, args: &[Value]) {
        let Some((cond, then)) = arm.past else { return self.jump(arm.block, join, args) };
        let mut all = Val::from_slice(&[cond]);
        all.extend_from_slice(args);
        self.func.push(arm.block, Op::Br { then, otherwise: join, then_args: 0 }, &all, self.loc);
    }

    /// Gives `join` parameters for what the arms differ on and sets the variables. Returns the result and what each arm
    /// passes.
    fn reconcile(&mut self, join: Block, arms: &[Arm]) -> (Val, SmallVec<[Val; 2]>) {
        let mut args: SmallVec<[Val; 2]> = SmallVec::new();
        args.resize(arms.len(), Val::new());
        let mut changes: SmallVec<[(u32, u32, Value); 8]> = SmallVec::new();
        for (arm, n) in arms.iter().zip(0..) {
            changes.extend(arm.changes.iter().map(|&(var, value)| (var, n, value)));
        }
        changes.sort_unstable_by_key(|&(var, arm, _)| (var, arm));
        let mut row: Val = Val::new();
        for of_var in changes.chunk_by(|a, b| a.0 == b.0) {
            let var = of_var[0].0;
            row.clear();
            row.resize(arms.len(), self.ssa.get(var));
            of_var.iter().for_each(|&(_, arm, value)| row[arm as usize] = value);
            let value = self.phi(join, &row, &mut args);
            self.ssa.set(var, value);
            self.track_in(join, var, value);
        }
        let leaves = arms.iter().map(|arm| arm.result.len()).min().unwrap_or(0);
        let mut result = Val::new();
        for leaf in 0..leaves {
            row.clear();
            row.extend(arms.iter().map(|arm| arm.result[leaf]));
            result.push(self.phi(join, &row, &mut args));
        }
        (result, args)
    }

    /// The value in `join` that is `row[n]` on the edge of arm number `n`.
    fn phi(&mut self, join: Block, row: &[Value], args: &mut [Val]) -> Value {
        if row.iter().all(|&value| value == row[0]) {
            return row[0];
        }
        args.iter_mut().zip(row).for_each(|(args, &value)| args.push(value));
        self.func.add_param(join, self.func.ty(row[0]))
    }

    /// Continues where several edges meet, with `vars` as they bring them.
    pub(super) fn meet(&mut self, vars: &[u32], edges: &[Edge]) {
        match edges {
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
                let differs = self.join_params(join, vars, edges, None);
                for edge in edges {
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
                self.track_in(join, var, first);
                continue;
            }
            let ty = self.func.ty(first);
            let param = self.func.add_param(join, ty);
            self.ssa.set(var, param);
            self.track_in(join, var, param);
            differs.push(n as u32);
        }
        differs
    }

    /// Ends the function: all ways out meet in one `ret`.
    pub(super) fn finish(&mut self, value: Val) {
        if !self.dead {
            self.returns.push(Edge { block: self.block, values: value });
        }
        let mut returns = std::mem::take(&mut self.returns);
        match returns.as_slice() {
            [] => {}
            [edge] => {
                self.func.push(edge.block, Op::Ret, &edge.values, self.loc);
            }
            _ => {
                let block = self.func.add_block();
                let count = self.func.results.len();
                let params: Val =
                    (0..count).map(|n| self.func.add_param(block, self.func.results[n])).collect();
                for edge in &returns {
                    self.jump(edge.block, block, &edge.values);
                }
                self.func.push(block, Op::Ret, &params, self.loc);
            }
        }
        returns.clear();
        self.returns = returns;
    }
}

/// The chosen ones of some values.
pub fn pick(values: &[Value], which: &[u32]) -> Val {
    which.iter().map(|&n| values[n as usize]).collect()
}
