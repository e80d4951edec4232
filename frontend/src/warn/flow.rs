//! Checks that a variable which is declared without a value has been assigned wherever it is read. The check
//! walks the statements after the declaration in execution order. One walk is enough because the control flow
//! is structured: a value that the variable has before a loop is still there at the start of every iteration.

use crate::ast::{Ast, BinaryOp, BlockId, ExprId, ExprKind, LoopId, StmtKind, Sym};
use crate::check::{Checked, Res};
use crate::lexer::Span;
use crate::types::Ty;
use smallvec::SmallVec;

/// Returns the position of the first place that may read a variable before the variable is assigned. The
/// search covers the statements of a block from number `first` on.
pub(super) fn early_read(
    ast: &Ast<'_>,
    checked: &Checked,
    local: u32,
    block: BlockId,
    first: usize,
) -> Option<Span> {
    let mut walk = Walk { ast, checked, local, found: None, around: Vec::new() };
    walk.statements(block, first, false);
    walk.found
}

/// A loop or labelled block that `break` can leave.
struct Around {
    label: Option<Sym>,
    is_loop: bool,
    /// Whether the variable has a value at every `break` so far.
    has: bool,
}

struct Walk<'w, 'a> {
    ast: &'w Ast<'a>,
    checked: &'w Checked,
    local: u32,
    found: Option<Span>,
    around: Vec<Around>,
}

/// Walks code and follows whether one variable has been assigned. The parameter `has` of each method says
/// whether the variable has a value before the walked code, and the result says whether it has one after the
/// code. If control never reaches the end of the code, the result is true.
impl Walk<'_, '_> {
    fn block(&mut self, block: BlockId, has: bool) -> bool {
        self.statements(block, 0, has)
    }

    fn statements(&mut self, block: BlockId, first: usize, mut has: bool) -> bool {
        let block = *self.ast.block(block);
        for n in block.stmts.range().skip(first) {
            if self.found.is_some() {
                return true;
            }
            has = self.statement(self.ast.stmts[n].kind, has);
        }
        block.tail.map_or(has, |tail| self.expr(tail, has))
    }

    fn statement(&mut self, kind: StmtKind, has: bool) -> bool {
        match kind {
            StmtKind::Let { init, .. } => init.map_or(has, |init| self.expr(init, has)),
            StmtKind::Expr(value) => self.expr(value, has),
            StmtKind::Assign { op, place, value } => {
                let has = self.expr(value, has);
                self.assignment_target(place, op.is_some(), has)
            }
            StmtKind::While { head, cond, body } => {
                let has = self.expr(cond, has);
                let breaks = self.leavable(head, true, body, has).1;
                has && breaks
            }
            StmtKind::For { head, from, to, step, body, .. } => {
                let ends = [Some(from), Some(to), step];
                let has = ends.into_iter().flatten().fold(has, |has, end| self.expr(end, has));
                let breaks = self.leavable(head, true, body, has).1;
                has && breaks
            }
            StmtKind::Break { label, value } => {
                let has = value.map_or(has, |value| self.expr(value, has));
                let target = self.around.iter_mut().rev().find(|around| match label {
                    Some(label) => around.label == Some(label.sym),
                    None => around.is_loop,
                });
                if let Some(target) = target {
                    target.has &= has;
                }
                true
            }
            StmtKind::Return(value) => {
                value.map(|value| self.expr(value, has));
                true
            }
            StmtKind::Continue(_) => true,
            StmtKind::Shared { .. } | StmtKind::Const { .. } | StmtKind::StaticAssert { .. } => has,
        }
    }

    /// Walks the body of a loop or labelled block. Returns whether the variable has a value at the end of the
    /// body, and whether it has one at all `break`s that leave the body.
    fn leavable(&mut self, head: LoopId, is_loop: bool, body: BlockId, has: bool) -> (bool, bool) {
        let label = self.ast.loops[head.at()].label.map(|label| label.sym);
        self.around.push(Around { label, is_loop, has: true });
        let end = self.block(body, has);
        (end, self.around.pop().is_none_or(|around| around.has))
    }

    /// Walks the left-hand side of an assignment. An assignment to a part of the variable is treated as an
    /// assignment to the whole variable.
    fn assignment_target(&mut self, place: ExprId, reads: bool, has: bool) -> bool {
        match self.ast.expr(place).kind {
            ExprKind::Tuple(parts) => {
                self.ast.list(parts).iter().fold(has, |has, &part| self.assignment_target(part, reads, has))
            }
            ExprKind::Name(_) if self.is_it(place) => {
                if reads {
                    self.expr(place, has);
                }
                true
            }
            ExprKind::Field(base, _) => self.base(base, reads, has),
            ExprKind::Index(base, index) => {
                let has = self.expr(index, has);
                self.base(base, reads, has)
            }
            _ => self.expr(place, has),
        }
    }

    /// Walks the expression `base` in an assignment to `base.field` or `base[i]`. If `base` is a pointer, the
    /// assignment only reads it.
    fn base(&mut self, base: ExprId, reads: bool, has: bool) -> bool {
        match self.checked.types.as_pointer(self.checked.expr_ty[base.at()]) {
            Some(_) => self.expr(base, has),
            None => self.assignment_target(base, reads, has),
        }
    }

    fn is_it(&self, id: ExprId) -> bool {
        self.checked.res[id.at()] == Res::Local(self.local)
    }

    fn all(&mut self, list: crate::ast::List, has: bool) -> bool {
        self.ast.list(list).iter().fold(has, |has, &id| self.expr(id, has))
    }

    fn expr(&mut self, id: ExprId, has: bool) -> bool {
        let expr = self.ast.expr(id);
        match expr.kind {
            ExprKind::Name(_) => {
                if !has && self.found.is_none() && self.is_it(id) {
                    self.found = Some(expr.span);
                }
                has
            }
            ExprKind::Unary(_, inner) | ExprKind::Deref(inner) | ExprKind::AddrOf(inner) => {
                self.expr(inner, has)
            }
            ExprKind::Cast(inner, _) | ExprKind::Field(inner, _) | ExprKind::Repeat(inner, _) => {
                self.expr(inner, has)
            }
            ExprKind::Binary(..) => self.chain(id, has),
            ExprKind::Call { args, .. } => {
                let has = self.all(args, has);
                has || self.checked.expr_ty[id.at()] == Ty::NEVER
            }
            ExprKind::Index(base, index) => {
                let has = self.expr(base, has);
                self.expr(index, has)
            }
            ExprKind::CallValue { callee, args } => {
                let has = self.expr(callee, has);
                self.all(args, has)
            }
            ExprKind::Array(list) | ExprKind::Tuple(list) => self.all(list, has),
            ExprKind::Struct(_, fields) => {
                fields.range().fold(has, |has, n| self.expr(self.ast.inits[n].value, has))
            }
            ExprKind::If { arms, otherwise } => {
                let (mut has, mut behind) = (has, true);
                for n in arms.range() {
                    let arm = self.ast.if_arms[n];
                    has = self.expr(arm.cond, has);
                    behind &= self.block(arm.then, has);
                }
                behind & otherwise.map_or(has, |block| self.block(block, has))
            }
            ExprKind::Match { value, arms } => {
                let (mut has, mut behind) = (self.expr(value, has), true);
                for n in arms.range() {
                    let arm = self.ast.match_arms[n];
                    has = arm.guard.map_or(has, |guard| self.expr(guard, has));
                    behind &= self.block(arm.body, has);
                }
                behind
            }
            ExprKind::Block(block) => self.block(block, has),
            ExprKind::Loop(head, body) => self.leavable(head, true, body, has).1,
            ExprKind::Labelled(head, body) => {
                let (end, breaks) = self.leavable(head, false, body, has);
                end && breaks
            }
            ExprKind::Error
            | ExprKind::Int { .. }
            | ExprKind::Float { .. }
            | ExprKind::Bool(_)
            | ExprKind::Str(_)
            | ExprKind::TypeConst(..) => has,
        }
    }

    /// Walks a chain of operators from left to right. The right operand of `&&` or `||` may not be evaluated,
    /// so assignments in it do not count.
    fn chain(&mut self, id: ExprId, has: bool) -> bool {
        let (mut first, mut links) = (id, SmallVec::<[(BinaryOp, ExprId); 8]>::new());
        while let ExprKind::Binary(op, left, right) = self.ast.expr(first).kind {
            links.push((op, right));
            first = left;
        }
        let mut has = self.expr(first, has);
        for (op, right) in links.into_iter().rev() {
            let behind = self.expr(right, has);
            has = if op.is_logic() { has } else { behind };
        }
        has
    }
}
