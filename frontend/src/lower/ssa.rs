//! Constructs SSA form along the structure of the program.
//!
//! # Idea
//! [`Env`] has the current value of every variable. Assignments are logged, so that the effects of one
//! arm of an `if` can be undone before the next arm is lowered. The block in which the arms join needs
//! parameters only for the variables that an arm has assigned. A loop header has a parameter for each
//! variable that the loop assigns; the checker has listed these variables.
//!
//! # Cost
//! Proportional to the number of assignments times the depth of nesting. There is no hashing.
//!
//! # Not here
//! Removal of unused parameters: dead-code elimination does that.

use super::home::Home;
use super::{Lower, Val};
use crate::types::Ty;
use ir::track::Fragment;
use ir::{Block, Op, Value};
use smallvec::SmallVec;

/// The current values of the SSA variables, with a log of their assignments.
#[derive(Default)]
pub struct Env {
    values: Vec<Value>,
    /// Log of the assignments, oldest first, with which assignments can be undone. Each entry has the
    /// variable and the value that it had before the assignment.
    log: Vec<(u32, Value)>,
    /// Empty list of changes whose memory is reused.
    spare: Changes,
    /// For each SSA variable: which fragment (scalar) of which source variable it holds. The list is empty if
    /// no debug information is requested.
    owners: Vec<Option<Fragment>>,
    /// Home of each variable in private memory, if it has one.
    homes: Vec<Option<Home>>,
}

/// An edge of the control-flow graph that is not emitted yet: the block that will end in a jump, and the
/// arguments that the jump will pass.
pub struct Edge {
    pub block: Block,
    pub values: Val,
}

/// Edges with the same target.
pub type Edges = SmallVec<[Edge; 2]>;

/// A moment to which the state of [`Env`] can be restored, by undoing the assignments since then.
#[derive(Clone, Copy)]
pub struct Mark {
    log: usize,
    /// Number of variables at the time of the mark. Variables with higher numbers did not exist then, so
    /// changes to them do not count as changes since the mark.
    limit: u32,
}

/// Result of lowering one arm of a branch.
pub struct Arm {
    pub block: Block,
    pub dead: bool,
    /// If an `if` has no `else`, the missing `else` counts as an arm without code, and this field is set for
    /// it. Control reaches this arm by the branch that skips the last arm. The field has the condition of the
    /// branch and the branch's other target. `None` for all other arms.
    pub past: Option<(Value, Block)>,
    /// Assigned variables and their values, sorted by variable.
    pub changes: Changes,
    pub result: Val,
}

/// Variables and their values, sorted by variable.
pub type Changes = SmallVec<[(u32, Value); 4]>;
/// Arms of a branch.
pub type Arms = SmallVec<[Arm; 2]>;

impl Env {
    /// Removes all variables.
    pub fn clear(&mut self) {
        self.values.clear();
        self.log.clear();
        self.owners.clear();
        self.homes.clear();
    }

    /// Records which fragment (scalar) of a source variable the SSA variable `var` holds.
    pub fn set_fragment(&mut self, var: u32, fragment: Fragment) {
        self.owners.resize(self.owners.len().max(var as usize + 1), None);
        self.owners[var as usize] = Some(fragment);
    }

    /// Returns which fragment (scalar) of which source variable the SSA variable `var` holds. Returns `None`
    /// if no debug information is requested.
    pub fn owner(&self, var: u32) -> Option<Fragment> {
        self.owners.get(var as usize).copied().flatten()
    }

    /// Records the home of a variable.
    pub fn set_home(&mut self, var: u32, home: Home) {
        self.homes.resize(self.homes.len().max(var as usize + 1), None);
        self.homes[var as usize] = Some(home);
    }

    /// Returns the home of a variable.
    pub fn home(&self, var: u32) -> Option<Home> {
        self.homes.get(var as usize).copied().flatten()
    }

    /// Adds SSA variables with these initial values and returns the number of the first one.
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

    /// Returns the variables that have been assigned since `mark`, with their current values, sorted by
    /// variable.
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

    /// Undoes all assignments since `mark`.
    pub fn rewind(&mut self, mark: Mark) {
        while self.log.len() > mark.log {
            if let Some((var, old)) = self.log.pop() {
                self.values[var as usize] = old;
            }
        }
    }

    /// Shortens the log to one entry for each variable that has been assigned since `mark`. The entry has the
    /// value that the variable had at `mark`.
    pub fn log_afresh(&mut self, mark: Mark) {
        let mut changes = std::mem::take(&mut self.spare);
        self.collect_changes(mark, &mut changes);
        self.rewind(mark);
        changes.drain(..).for_each(|(var, value)| self.set(var, value));
        self.spare = changes;
    }

    /// Returns the current values of some variables.
    pub fn values_of(&self, vars: &[u32]) -> Val {
        vars.iter().map(|&var| self.get(var)).collect()
    }
}

impl Lower<'_, '_> {
    /// Creates a block. The block is added to the function's layout unless the current position is
    /// unreachable.
    pub(super) fn new_block(&mut self) -> Block {
        if self.dead { self.func.make_block() } else { self.func.add_block() }
    }

    /// Marks the code that follows as unreachable.
    pub(super) fn kill(&mut self) {
        self.dead = true;
        self.block = self.func.make_block();
    }

    pub(super) fn jump(&mut self, from: Block, to: Block, args: &[Value]) {
        self.func.push(from, Op::Jump(to), args, self.loc);
    }

    /// Ends an arm of a branch. Undoes the arm's assignments, so that the next arm can be lowered. Returns
    /// what is needed to join the arms later. `start` marks the start of the whole branch, and `arm` the
    /// start of this arm.
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

    /// Joins the arms of a branch, whose assignments have been undone already, and returns the value of the
    /// branch. `ty` is the type of this value. If control reaches the end of several arms, all of them jump
    /// to a new block. This block has a parameter for each variable whose values differ.
    pub(super) fn merge(&mut self, mut arms: Arms, ty: Ty) -> Val {
        arms.retain(|arm| !arm.dead);
        self.dead = false;
        match arms.as_mut_slice() {
            [] => {
                self.kill();
                self.zeros(ty)
            }
            // Control reaches the end of only one arm, so no join is needed and lowering continues in the
            // arm's last block.
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

    /// Ends an arm with a jump to `join`.
    fn enter(&mut self, join: Block, arm: &Arm, args: &[Value]) {
        let Some((cond, then)) = arm.past else { return self.jump(arm.block, join, args) };
        let mut all = Val::from_slice(&[cond]);
        all.extend_from_slice(args);
        self.func.push(arm.block, Op::Br { then, otherwise: join, then_args: 0 }, &all, self.loc);
    }

    /// Gives the block `join` a parameter for each variable whose values differ between the arms, and sets
    /// all variables to their values in `join`. Returns the value of the branch, and the arguments that each
    /// arm passes to `join`.
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
        let fragments = arms.iter().map(|arm| arm.result.len()).min().unwrap_or(0);
        let mut result = Val::new();
        for fragment in 0..fragments {
            row.clear();
            row.extend(arms.iter().map(|arm| arm.result[fragment]));
            result.push(self.phi(join, &row, &mut args));
        }
        (result, args)
    }

    /// Returns the value that a variable has in the block `join`. `row` has the variable's value at the end
    /// of each arm. If these values differ, `join` gets a parameter, and each arm's arguments in `args` get
    /// the arm's value.
    fn phi(&mut self, join: Block, row: &[Value], args: &mut [Val]) -> Value {
        if row.iter().all(|&value| value == row[0]) {
            return row[0];
        }
        args.iter_mut().zip(row).for_each(|(args, &value)| args.push(value));
        self.func.add_param(join, self.func.ty(row[0]))
    }

    /// Continues lowering in a block that all of `edges` lead to. Sets each variable in `vars` to the value
    /// that the edges pass for it.
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

    /// Gives the block `join` a parameter for each variable in `vars` that has different values on the edges
    /// to `join`, and sets the variables to their values in `join`. If `leg` is given, it has the values of
    /// the variables on one more edge. Returns the indices, in `vars`, of the variables that got a parameter.
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

    /// Ends the function: all exits join in one `ret`.
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

/// Returns the values at the given indices.
pub fn pick(values: &[Value], which: &[u32]) -> Val {
    which.iter().map(|&n| values[n as usize]).collect()
}
