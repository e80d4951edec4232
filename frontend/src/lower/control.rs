//! Lowers statements and control flow.

use super::ssa::{Arm, Arms, Edge, Edges, pick};
use super::{Lower, Val};
use crate::ast::{BlockId, ExprId, ExprKind, List, LoopId, Name, StmtId, StmtKind, Sym};
use crate::check::{PatRes, Res};
use crate::types::Ty;
use ir::{BinOp, Block, IntCc, Op, SrcLoc, UnrollHint, Value};
use smallvec::SmallVec;

/// Largest number of operators in the right operand of `&&` or `||` for which the operand is computed
/// unconditionally instead of behind a branch. The operand must also be cheap in other respects (see
/// [`Lower::is_cheap`]).
const MAX_CHEAP: u16 = 12;

/// A loop or labelled block that is being lowered.
pub struct Loop {
    label: Option<Sym>,
    /// SSA variables that are declared outside of the loop and assigned inside.
    vars: SmallVec<[u32; 8]>,
    pub(super) breaks: Edges,
    pub(super) continues: Edges,
    /// Values that two counters had at the start of the loop. `crossings` is the number of operations lowered
    /// so far that depend on other lanes. `returned` is the number of `return` statements lowered so far. A
    /// counter that is larger at the end of the loop shows that the loop contains such an operation or
    /// statement.
    pub(super) crossings: u32,
    pub(super) returned: usize,
}

/// The range of a `for` loop: its first value, its end and its step, which are computed before the loop
/// starts.
#[derive(Clone, Copy)]
struct Range {
    from: Value,
    to: Value,
    step: Value,
    inclusive: bool,
    ty: Ty,
}

impl Lower<'_, '_> {
    /// Lowers a block and returns its value.
    pub(super) fn block(&mut self, id: BlockId) -> Val {
        let block = *self.ast.block(id);
        let outer = std::mem::replace(&mut self.scope_end, block.span.end);
        let value = self.block_in_scope(block);
        self.scope_end = outer;
        value
    }

    fn block_in_scope(&mut self, block: crate::ast::Block) -> Val {
        for n in 0..block.stmts.len {
            if self.dead {
                break;
            }
            self.stmt(StmtId(block.stmts.start + n));
        }
        match block.tail {
            Some(tail) if self.dead => {
                let ty = self.ty_of(tail);
                self.zeros(ty)
            }
            Some(tail) => {
                self.statement(self.ast.span(tail));
                self.expr(tail)
            }
            None => Val::new(),
        }
    }

    fn stmt(&mut self, id: StmtId) {
        let stmt = self.ast.stmts[id.at()];
        self.loc = SrcLoc(stmt.span.start + 1);
        let local = self.checked.stmt_decl[id.at()];
        self.statement(stmt.span);
        match stmt.kind {
            StmtKind::Let { pattern, init: Some(init), .. } => {
                let value = self.expr(init);
                if !self.dead {
                    self.scope_start = Some(stmt.span.end);
                    self.take_apart(pattern, self.ty_of(init), &value);
                    self.scope_start = None;
                }
            }
            StmtKind::Let { pattern, init: None, .. } => {
                if let PatRes::Local(local) = self.checked.patterns[pattern.at()] {
                    self.scope_start = Some(stmt.span.end);
                    self.define_local_unset(local);
                    self.scope_start = None;
                }
            }
            StmtKind::Shared { .. } | StmtKind::Const { .. } | StmtKind::StaticAssert { .. } => {}
            StmtKind::Expr(value) => {
                self.expr(value);
            }
            StmtKind::Assign { op: None, place, value } if self.ast.is_parts(place) => {
                let ty = self.ty_of(value);
                let value = self.expr(value);
                if !self.dead {
                    self.assign_parts(place, ty, &value);
                }
            }
            StmtKind::Assign { op: None, place, value } => {
                let place = self.lower_place(place);
                let value = self.expr(value);
                self.write(&place, &value);
            }
            StmtKind::Assign { op: Some(op), place, value } => self.assign_op(op, place, value),
            StmtKind::While { head, cond, body } => self.while_loop(head, cond, body),
            StmtKind::For { head, from, to, inclusive, step, body, .. } => {
                let ty = self.checked.locals[local as usize].ty;
                let range = self.range(from, to, step, inclusive, ty);
                if self.dead {
                    return;
                }
                self.enter_loop(head, Some(range.from), |lower, header, counter| {
                    if let Some(counter) = counter {
                        lower.for_loop(header, counter, local, range, body);
                    }
                });
            }
            StmtKind::Break { label, value } => {
                let value = value.map_or_else(Val::new, |value| self.expr(value));
                self.leave(label, Some(value));
            }
            StmtKind::Continue(label) => self.leave(label, None),
            StmtKind::Return(value) => {
                let values = value.map_or_else(Val::new, |value| self.expr(value));
                if !self.dead {
                    self.returns.push(Edge { block: self.block, values });
                    self.kill();
                }
            }
        }
    }

    /// Lowers `continue`, or `break` with the value `bring` of the loop or block that it leaves.
    fn leave(&mut self, label: Option<Name>, bring: Option<Val>) {
        let target = match label {
            None => self.loops.len().checked_sub(1),
            Some(label) => self.loops.iter().rposition(|entry| entry.label == Some(label.sym)),
        };
        if let (Some(n), false) = (target, self.dead) {
            let entry = &mut self.loops[n];
            let mut edge = Edge { block: self.block, values: self.ssa.values_of(&entry.vars) };
            match bring {
                Some(value) => {
                    edge.values.extend(value);
                    entry.breaks.push(edge);
                }
                None => entry.continues.push(edge),
            }
            self.kill();
        }
    }

    /// Lowers `loop { body }`.
    pub(super) fn loop_expr(&mut self, head: LoopId, body: BlockId, ty: Ty) -> Val {
        self.enter_loop(head, None, |lower, header, _| {
            lower.block(body);
            lower.back_edge(header, |_| Val::new());
            lower.keep_together(header, None);
            lower.exit_all(ty)
        })
    }

    /// Lowers `'a: { body }`. All its exits join after the block.
    pub(super) fn labelled_block(&mut self, head: LoopId, body: BlockId, ty: Ty) -> Val {
        let (label, vars) = (self.label_of(head), self.assigned_in(head));
        self.open(label, vars);
        let value = self.block(body);
        if let (Some(entry), false) = (self.loops.last_mut(), self.dead) {
            let mut values = self.ssa.values_of(&entry.vars);
            values.extend(value);
            entry.breaks.push(Edge { block: self.block, values });
        }
        self.exit_all(ty)
    }

    fn open(&mut self, label: Option<Sym>, vars: SmallVec<[u32; 8]>) {
        let (crossings, returned) = (self.crossings, self.returns.len());
        let (breaks, continues) = (Edges::new(), Edges::new());
        self.loops.push(Loop { label, vars, breaks, continues, crossings, returned });
    }

    /// Closes a loop or block that only `break`s leave, and returns its value. Each edge of a `break` carries
    /// the values of the variables that the loop assigns, followed by the value of the loop or block.
    fn exit_all(&mut self, ty: Ty) -> Val {
        let Some(Loop { mut vars, breaks, .. }) = self.loops.pop() else { return Val::new() };
        let known = vars.len();
        if let [first, ..] = breaks.as_slice() {
            let values = &first.values[known..];
            let first = self.ssa.declare(values);
            vars.extend(first..first + values.len() as u32);
        }
        self.meet(&vars, &breaks);
        if self.dead { self.zeros(ty) } else { self.ssa.values_of(&vars[known..]) }
    }

    fn label_of(&self, head: LoopId) -> Option<Sym> {
        self.ast.loop_head(head).label.map(|label| label.sym)
    }

    /// Returns the SSA variables that are declared outside of a loop or labelled block and assigned inside.
    /// These variables need parameters at the loop header.
    fn assigned_in(&self, head: LoopId) -> SmallVec<[u32; 8]> {
        let mut vars = SmallVec::new();
        for n in self.checked.loop_assigned[head.at()].range() {
            let local = self.checked.loop_locals[n];
            let info = &self.checked.locals[local as usize];
            if !info.in_memory {
                let first = self.local_at[local as usize];
                vars.extend(first..first + self.checked.types.layout(info.ty).fragments);
            }
        }
        vars
    }

    /// Lowers `if cond { then } else if … else { otherwise }`. All arms jump to the same block after the
    /// `if`.
    pub(super) fn if_chain(&mut self, id: ExprId, arms: List, otherwise: Option<BlockId>) -> Val {
        let start = self.ssa.mark();
        let outer = self.loc;
        let mut ends = Arms::new();
        for n in arms.range() {
            let arm = self.ast.if_arms[n];
            self.loc = SrcLoc(arm.span.start + 1);
            if n > arms.range().start {
                self.statement(arm.span);
            }
            let cond = self.scalar_expr(arm.cond);
            if self.dead {
                break; // control never leaves the condition
            }
            let (head, here, loc) = (self.block, self.ssa.mark(), self.loc);
            let then = self.new_block();
            self.block = then;
            let result = self.block(arm.then);
            ends.push(self.end_arm(start, here, result));
            self.dead = false;
            self.block = head;
            if n + 1 == arms.range().end && otherwise.is_none() {
                let past = self.end_arm(start, here, Val::new());
                ends.push(Arm { past: Some((cond, then)), ..past });
                break;
            }
            self.block = self.new_block();
            let op = Op::Br { then, otherwise: self.block, then_args: 0 };
            self.func.push(head, op, &[cond], loc);
        }
        if let Some(otherwise) = otherwise
            && !self.dead
        {
            let result = self.block(otherwise);
            ends.push(self.end_arm(start, start, result));
        }
        self.ssa.rewind(start);
        self.loc = outer;
        self.merge(ends, self.ty_of(id))
    }

    /// Lowers a branch with two arms and returns its value, which has the type `ty`. `otherwise` may emit
    /// nothing if there is no second arm.
    pub(super) fn branch(
        &mut self,
        cond: Value,
        ty: Ty,
        then: impl FnOnce(&mut Self) -> Val,
        otherwise: impl FnOnce(&mut Self) -> Val,
    ) -> Val {
        let (head, loc, start) = (self.block, self.loc, self.ssa.mark());
        let then_block = self.new_block();
        self.block = then_block;
        let result = then(self);
        let a = self.end_arm(start, start, result);
        self.dead = false;
        let else_block = self.new_block();
        self.block = else_block;
        let result = otherwise(self);
        let b = self.end_arm(start, start, result);
        self.loc = loc;
        let op = Op::Br { then: then_block, otherwise: else_block, then_args: 0 };
        self.func.push(head, op, &[cond], loc);
        self.merge([a, b].into_iter().collect(), ty)
    }

    /// Lowers a loop: jumps to a new block, the loop header, and calls `lower` for the rest of the loop. The
    /// header has a parameter for each variable that the loop assigns, and one for the loop counter if there
    /// is a counter. The closure `lower` must end with `exit_loop` or `exit_all`.
    fn enter_loop<T>(
        &mut self,
        head: LoopId,
        counter: Option<Value>,
        lower: impl FnOnce(&mut Self, Block, Option<Value>) -> T,
    ) -> T {
        let (label, vars) = (self.label_of(head), self.assigned_in(head));
        let header = self.new_block();
        self.func.unroll[header] = self.ast.loop_head(head).unroll;
        if self.func.unroll[header] != UnrollHint::None {
            self.func.unroll_at[header] = self.loc;
        }
        let mut args = self.ssa.values_of(&vars);
        args.extend(counter);
        self.jump(self.block, header, &args);
        let mark = self.ssa.mark();
        for &var in &vars {
            let ty = self.func.ty(self.ssa.get(var));
            let param = self.func.add_param(header, ty);
            self.ssa.set(var, param);
            self.track_in(header, var, param);
        }
        let counter = counter.map(|value| {
            let ty = self.func.ty(value);
            self.func.add_param(header, ty)
        });
        self.block = header;
        self.open(label, vars);
        let result = lower(self, header, counter);
        // If the loop is in a branch, the branch later undoes the assignments with the log, which has the old
        // value of each assigned variable. The log now has two old values for each variable of this loop: the
        // value before the loop, and the header's parameter. The branch must restore the value before the
        // loop, so the log is rewritten to have only this one.
        self.ssa.log_afresh(mark);
        result
    }

    /// Lowers the end of an iteration: joins the end of the body with all `continue`s, and jumps to the loop
    /// header. `more` returns the header's arguments beyond the variables, such as the next value of the
    /// counter.
    fn back_edge(&mut self, header: Block, more: impl FnOnce(&mut Self) -> Val) {
        let Some(entry) = self.loops.last_mut() else { return };
        let mut edges = std::mem::take(&mut entry.continues);
        let vars = entry.vars.clone();
        if !self.dead {
            edges.push(Edge { block: self.block, values: self.ssa.values_of(&vars) });
        }
        self.meet(&vars, &edges);
        if self.dead {
            return;
        }
        let more = more(self);
        let mut args = self.ssa.values_of(&vars);
        args.extend(more);
        self.jump(self.block, header, &args);
    }

    /// Closes a loop. `leg` describes the branch on the condition of a `while` or `for` loop: the branch's
    /// block, the condition for another iteration, the first block of the loop's body, and the values of the
    /// variables at the branch. `leg` is `None` if only `break`s leave the loop.
    fn exit_loop(&mut self, leg: Option<(Block, Value, Block, Val)>) {
        let Some(entry) = self.loops.pop() else { return };
        let Some((head, cond, body, values)) = leg else {
            return self.meet(&entry.vars, &entry.breaks);
        };
        self.dead = false;
        let exit = self.new_block();
        let differs = self.join_params(exit, &entry.vars, &entry.breaks, Some(&values));
        for edge in &entry.breaks {
            let args = pick(&edge.values, &differs);
            self.jump(edge.block, exit, &args);
        }
        let mut args = SmallVec::<[Value; 8]>::from_slice(&[cond]);
        args.extend(pick(&values, &differs));
        self.func.push(head, Op::Br { then: body, otherwise: exit, then_args: 0 }, &args, self.loc);
        self.block = exit;
    }

    fn while_loop(&mut self, head: LoopId, cond: ExprId, body: BlockId) {
        let (span, loc) = (self.ast.span(cond), self.loc);
        self.enter_loop(head, None, |lower, header, _| {
            lower.statement(span);
            let cond = lower.scalar_expr(cond);
            if lower.dead {
                // Control never leaves the condition.
                return lower.exit_loop(None);
            }
            let head = lower.block;
            let leg_values = lower.loop_values();
            let body_block = lower.new_block();
            lower.block = body_block;
            lower.block(body);
            lower.back_edge(header, |_| Val::new());
            lower.keep_together(header, Some((head, body_block)));
            lower.loc = loc;
            lower.exit_loop(Some((head, cond, body_block, leg_values)));
        });
    }

    /// Returns the current values of the variables that the innermost loop assigns.
    fn loop_values(&self) -> Val {
        self.loops.last().map_or_else(SmallVec::new, |entry| self.ssa.values_of(&entry.vars))
    }

    fn range(&mut self, from: ExprId, to: ExprId, step: Option<ExprId>, inclusive: bool, ty: Ty) -> Range {
        let from = self.scalar_expr(from);
        let mut to = self.scalar_expr(to);
        let scalar = self.scalar_of(ty);
        let step = match step {
            Some(step) => self.scalar_expr(step),
            None => self.int(scalar, 1),
        };
        let mut inclusive = inclusive;
        // `..=c` is lowered as `..c + 1` unless the addition wraps.
        if let (true, Some(bits)) = (inclusive, self.func.const_bits(to)) {
            let max =
                if scalar.is_signed() { (1u64 << (scalar.bits() - 1)) - 1 } else { scalar.wrap(u64::MAX) };
            let mask = u64::MAX >> (64 - scalar.ir().bits());
            if bits != max & mask {
                to = self.int(scalar, bits.wrapping_add(1));
                inclusive = false;
            }
        }
        Range { from, to, step, inclusive, ty }
    }

    fn for_loop(&mut self, header: Block, counter: Value, local: u32, range: Range, body: BlockId) {
        let scalar = self.scalar_of(range.ty);
        let (signed, loc) = (scalar.is_signed(), self.loc);
        let cc = match (signed, range.inclusive) {
            (true, false) => IntCc::Slt,
            (true, true) => IntCc::Sle,
            (false, false) => IntCc::Ult,
            (false, true) => IntCc::Ule,
        };
        let cond = self.emit(Op::Icmp(cc), &[counter, range.to], ir::Type::Bool);
        let head = self.block;
        let leg_values = self.loop_values();
        let body_block = self.new_block();
        self.block = body_block;
        let outer = std::mem::replace(&mut self.scope_end, self.ast.block(body).span.end);
        self.define_local(local, Val::from_slice(&[counter]));
        self.scope_end = outer;
        self.block(body);
        self.loc = loc;
        self.back_edge(header, |lower| {
            if range.inclusive {
                lower.leave_before_end(counter, range);
            }
            let next = lower.bin(BinOp::Add, counter, range.step);
            Val::from_slice(&[lower.normalise(scalar, next)])
        });
        self.keep_together(header, Some((head, body_block)));
        self.exit_loop(Some((head, cond, body_block, leg_values)));
    }

    /// Emits a branch out of a loop over `a..=b`. The branch is taken if the distance from the counter to `b`
    /// is less than one step. The last iteration must not add the step, because the sum could wrap around if
    /// `b` is the largest number of its type.
    fn leave_before_end(&mut self, counter: Value, range: Range) {
        let scalar = self.scalar_of(range.ty);
        let left = self.bin(BinOp::Sub, range.to, counter);
        let left = self.normalise(unsigned(scalar), left);
        let last = self.emit(Op::Icmp(IntCc::Ult), &[left, range.step], ir::Type::Bool);
        let (head, leave) = (self.block, self.new_block());
        let values = self.loop_values();
        let next = self.new_block();
        let op = Op::Br { then: leave, otherwise: next, then_args: 0 };
        self.func.push(head, op, &[last], self.loc);
        if let Some(entry) = self.loops.last_mut() {
            entry.breaks.push(Edge { block: leave, values });
        }
        self.block = next;
    }

    /// Lowers `a && right` or `a || right`.
    pub(super) fn logic(&mut self, is_and: bool, a: Value, right: ExprId) -> Value {
        if self.is_cheap(right) || self.dead {
            let b = self.scalar_expr(right);
            let op = if is_and { BinOp::And } else { BinOp::Or };
            return self.emit(Op::Bin(op), &[a, b], ir::Type::Bool);
        }
        let constant = self.constant(ir::Type::Bool, u64::from(!is_and));
        let short = |_: &mut Self| Val::from_slice(&[constant]);
        let long = |lower: &mut Self| lower.expr(right);
        let result = if is_and {
            self.branch(a, Ty::BOOL, long, short)
        } else {
            self.branch(a, Ty::BOOL, short, long)
        };
        result.first().copied().unwrap_or(constant)
    }

    /// Returns whether an expression can be computed unconditionally, which avoids a branch. It must have no
    /// side effects and cost no more than a branch: few operators, and no memory access, division or call.
    fn is_cheap(&self, id: ExprId) -> bool {
        self.ast.expr(id).height <= MAX_CHEAP && self.cheap_within(id, &mut u32::from(MAX_CHEAP))
    }

    /// Returns whether an expression is without side effects and cheap (see [`Lower::is_cheap`]) and has at
    /// most `left` operators. Subtracts the expression's operators from `left`.
    fn cheap_within(&self, mut id: ExprId, left: &mut u32) -> bool {
        loop {
            match self.ast.expr(id).kind {
                ExprKind::Int { .. } | ExprKind::Float { .. } | ExprKind::Bool(_) => return true,
                ExprKind::Name(_) | ExprKind::TypeConst(..) => {
                    return match self.checked.res[id.at()] {
                        Res::Local(local) => !self.checked.locals[local as usize].in_memory,
                        Res::Const(_) => true,
                        _ => false,
                    };
                }
                // A field of a pointer's target must be read from memory.
                ExprKind::Field(base, _) if self.checked.types.as_pointer(self.ty_of(base)).is_some() => {
                    return false;
                }
                ExprKind::Unary(_, inner) | ExprKind::Cast(inner, _) | ExprKind::Field(inner, _) => {
                    id = inner
                }
                ExprKind::Binary(op, first, right) => {
                    use crate::ast::BinaryOp::{Div, Rem};
                    if matches!(op, Div | Rem) || *left == 0 {
                        return false;
                    }
                    *left -= 1;
                    if !self.cheap_within(right, left) {
                        return false;
                    }
                    id = first;
                }
                ExprKind::Call { .. } => return matches!(self.checked.res[id.at()], Res::Dim(..)),
                _ => return false,
            }
        }
    }
}

/// Returns the unsigned type of the same width.
fn unsigned(scalar: crate::scalar::Scalar) -> crate::scalar::Scalar {
    use crate::scalar::Scalar::*;
    match scalar {
        I8 => U8,
        I16 => U16,
        I32 => U32,
        I64 => U64,
        other => other,
    }
}
