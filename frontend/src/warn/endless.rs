//! Finds functions that recurse without end: functions that call themselves on every path, directly or
//! through other functions. The search walks the statements in execution order, which is possible because the
//! control flow is structured.

use crate::ast::{Ast, BlockId, ExprId, ExprKind, LoopId, StmtKind, Sym};
use crate::check::{Checked, Res};
use crate::lexer::Span;
use crate::types::Ty;
use smallvec::SmallVec;

/// Returns the functions that recurse without end. Each has the position of its first call from which the
/// calls lead back to the function.
pub(super) fn find(ast: &Ast<'_>, checked: &Checked) -> Vec<(u32, Span)> {
    let own = |func: u32| {
        let func = &checked.funcs[func as usize];
        func.instance.is_none() && func.kernel.is_none()
    };
    let stays = |func: u32, endless: &dyn Fn(u32) -> bool| {
        let mut walk = Walk { ast, checked, endless, call: None, leaves: false, around: Vec::new() };
        let called = checked.funcs[func as usize].body.is_some_and(|body| walk.block(body, false));
        Some((func, walk.call.filter(|_| called && !walk.leaves)?))
    };
    let mut found: Vec<(u32, Span)> = (0..checked.funcs.len() as u32)
        .filter(|&func| own(func))
        .filter_map(|func| stays(func, &own))
        .collect();
    // `found` at first has all functions that may recurse without end. A function is removed if it can return
    // without a call of a function in the list. Its callers may then have to be removed, too, so this is
    // repeated until the list no longer changes.
    loop {
        let endless = |func: u32| found.binary_search_by_key(&func, |&(known, _)| known).is_ok();
        let left: Vec<(u32, Span)> = found.iter().filter_map(|&(func, _)| stays(func, &endless)).collect();
        if left.len() == found.len() {
            return left;
        }
        found = left;
    }
}

/// A loop or labelled block that `break` can leave.
struct Around {
    label: Option<Sym>,
    is_loop: bool,
    /// Whether every `break` that has been found so far is preceded by a call of a function that may recurse
    /// without end.
    called: bool,
}

struct Walk<'w, 'a> {
    ast: &'w Ast<'a>,
    checked: &'w Checked,
    endless: &'w dyn Fn(u32) -> bool,
    call: Option<Span>,
    /// Whether the function can end on some path without having called a function that may recurse without
    /// end.
    leaves: bool,
    around: Vec<Around>,
}

/// Walks the code of a function for calls of functions that may recurse without end ("endless calls"). The
/// parameter `called` of each method says whether such a call has certainly been made before the walked code.
/// The result says whether one has been made after the code. If control never reaches the end of the code,
/// the result is true.
impl Walk<'_, '_> {
    fn block(&mut self, block: BlockId, mut called: bool) -> bool {
        let block = *self.ast.block(block);
        for n in block.stmts.range() {
            called = self.statement(self.ast.stmts[n].kind, called);
        }
        block.tail.map_or(called, |tail| self.expr(tail, called))
    }

    fn statement(&mut self, kind: StmtKind, called: bool) -> bool {
        match kind {
            StmtKind::Let { init, .. } => init.map_or(called, |init| self.expr(init, called)),
            StmtKind::Expr(value) => self.expr(value, called),
            StmtKind::Assign { place, value, .. } => {
                let called = self.expr(value, called);
                self.expr(place, called)
            }
            StmtKind::While { cond, .. } => self.expr(cond, called),
            StmtKind::For { from, to, step, .. } => [Some(from), Some(to), step]
                .into_iter()
                .flatten()
                .fold(called, |called, end| self.expr(end, called)),
            StmtKind::Break { label, value } => {
                let called = value.map_or(called, |value| self.expr(value, called));
                let target = self.around.iter_mut().rev().find(|around| match label {
                    Some(label) => around.label == Some(label.sym),
                    None => around.is_loop,
                });
                match target {
                    Some(target) => target.called &= called,
                    // The `break` leaves a loop whose body may not run at all.
                    None => self.leaves |= !called,
                }
                true
            }
            StmtKind::Return(value) => {
                let called = value.map_or(called, |value| self.expr(value, called));
                self.leaves |= !called;
                true
            }
            StmtKind::Continue(_) => true,
            StmtKind::Shared { .. } | StmtKind::Const { .. } | StmtKind::StaticAssert { .. } => called,
        }
    }

    /// Walks the body of a loop or labelled block, which runs at least once. Returns two answers to the
    /// question whether a function that may recurse without end has certainly been called: at the end of the
    /// body, and at all `break`s that leave the body.
    fn leavable(&mut self, head: LoopId, is_loop: bool, body: BlockId, called: bool) -> (bool, bool) {
        let label = self.ast.loops[head.at()].label.map(|label| label.sym);
        self.around.push(Around { label, is_loop, called: true });
        let end = self.block(body, called);
        (end, self.around.pop().is_none_or(|around| around.called))
    }

    fn all(&mut self, list: crate::ast::List, called: bool) -> bool {
        self.ast.list(list).iter().fold(called, |called, &id| self.expr(id, called))
    }

    fn expr(&mut self, id: ExprId, called: bool) -> bool {
        let expr = self.ast.expr(id);
        match expr.kind {
            ExprKind::Unary(_, inner)
            | ExprKind::Deref(inner)
            | ExprKind::AddrOf(inner)
            | ExprKind::Cast(inner, _)
            | ExprKind::Field(inner, _)
            | ExprKind::Repeat(inner, _) => self.expr(inner, called),
            ExprKind::Binary(..) => self.chain(id, called),
            ExprKind::Call { callee, args, .. } => {
                let called = self.all(args, called);
                match self.checked.res[id.at()] {
                    Res::Func(func) if (self.endless)(func) => {
                        self.call.get_or_insert(callee.span);
                        true
                    }
                    // The program ends there, or control must not get there.
                    _ if self.checked.expr_ty[id.at()] == Ty::NEVER => {
                        self.leaves |= !called;
                        true
                    }
                    _ => called,
                }
            }
            ExprKind::Index(base, index) => {
                let called = self.expr(base, called);
                self.expr(index, called)
            }
            ExprKind::CallValue { callee, args } => {
                let called = self.expr(callee, called);
                self.all(args, called)
            }
            ExprKind::Array(list) | ExprKind::Tuple(list) => self.all(list, called),
            ExprKind::Struct(_, fields) => {
                fields.range().fold(called, |called, n| self.expr(self.ast.inits[n].value, called))
            }
            ExprKind::If { arms, otherwise } => {
                let (mut called, mut behind) = (called, true);
                for n in arms.range() {
                    let arm = self.ast.if_arms[n];
                    called = self.expr(arm.cond, called);
                    behind &= self.block(arm.then, called);
                }
                behind & otherwise.map_or(called, |block| self.block(block, called))
            }
            ExprKind::Match { value, arms } => {
                let (mut called, mut behind) = (self.expr(value, called), true);
                for n in arms.range() {
                    let arm = self.ast.match_arms[n];
                    called = arm.guard.map_or(called, |guard| self.expr(guard, called));
                    behind &= self.block(arm.body, called);
                }
                behind
            }
            ExprKind::Block(block) => self.block(block, called),
            ExprKind::Loop(head, body) => self.leavable(head, true, body, called).1,
            ExprKind::Labelled(head, body) => {
                let (end, breaks) = self.leavable(head, false, body, called);
                end && breaks
            }
            _ => called,
        }
    }

    /// Walks a chain of operators from left to right. Returns whether a call of a function that may recurse
    /// without end has certainly been made. A call in the right operand of `&&` or `||` does not count,
    /// because the operand may not be evaluated.
    fn chain(&mut self, id: ExprId, called: bool) -> bool {
        let (mut first, mut links) = (id, SmallVec::<[_; 8]>::new());
        while let ExprKind::Binary(op, left, right) = self.ast.expr(first).kind {
            links.push((op, right));
            first = left;
        }
        let mut called = self.expr(first, called);
        for (op, right) in links.into_iter().rev() {
            let behind = self.expr(right, called);
            called = if op.is_logic() { called } else { behind };
        }
        called
    }
}
