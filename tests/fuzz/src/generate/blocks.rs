//! Loops, blocks and branches with a value, and the jumps out of them.

use super::Generator;
use super::stmt::{counted, line};
use crate::program::Stmt;
use crate::types::Ty;

/// A loop or block that `break` can leave.
#[derive(Clone, Copy, Debug)]
pub struct Open {
    /// Number of the label.
    pub n: usize,
    /// Whether this is a loop, which `continue` and jumps without a label may target.
    pub is_loop: bool,
    /// Type of the value that `break` carries.
    pub value: Option<Ty>,
}

impl Generator {
    /// Returns a `break` or `continue` of an enclosing loop or block.
    pub(super) fn way_out(&mut self) -> String {
        let innermost = self.open[self.open.len() - 1];
        let unlabelled = innermost.is_loop && self.rng.one_in(2);
        let out = if unlabelled { innermost } else { *self.rng.pick(&self.open) };
        let label = if unlabelled { String::new() } else { format!(" 'l{}", out.n) };
        if out.is_loop && self.rng.one_in(2) {
            return format!("continue{label}");
        }
        match out.value {
            Some(ty) => format!("break{label} {}", self.expr(ty, 2)),
            None => format!("break{label}"),
        }
    }

    /// Returns the body of a loop or block that is left with a value.
    fn body_with_value(&mut self, depth: usize, open: Open) -> Vec<Stmt> {
        self.open.push(open);
        let mut body = self.block(depth + 1, false);
        if self.rng.one_in(2) {
            let (condition, way) = (self.condition(1), self.way_out());
            body.push(Stmt::Block(format!("if {condition} {{"), vec![line(format!("{way};"))]));
        }
        self.open.pop();
        body
    }

    /// Returns a variable and an assignment operator.
    pub(super) fn target(&mut self, ty: Ty) -> String {
        let op = if self.rng.one_in(2) { "=" } else { "+=" };
        format!("{} {op}", self.var(ty))
    }

    /// Writes `x = 'l: { … break 'l v; … w };`, or a labelled block without a value.
    pub(super) fn labelled(&mut self, depth: usize) -> Stmt {
        let n = self.fresh();
        if self.rng.one_in(3) {
            let body = self.body_with_value(depth, Open { n, is_loop: false, value: None });
            return Stmt::Block(format!("'l{n}: {{"), body);
        }
        let ty = self.ty();
        let target = self.target(ty);
        let body = self.body_with_value(depth, Open { n, is_loop: false, value: Some(ty) });
        Stmt::Value(format!("{target} 'l{n}: {{"), body, format!("    {} }};", self.expr(ty, 2)))
    }

    /// Writes `x = loop { … break v; … };`.
    pub(super) fn loop_value(&mut self, depth: usize) -> Stmt {
        let (n, ty) = (self.fresh(), self.ty());
        let (target, turns) = (self.target(ty), 1 + self.rng.below(6));
        let last = self.expr(ty, 2);
        let body = self.body_with_value(depth, Open { n, is_loop: true, value: Some(ty) });
        let head = format!("{target} 'l{n}: loop {{ c{n} += 1; if c{n} > {turns} {{ break {last}; }}");
        let Stmt::Block(outer, _) = counted(n, String::new(), Vec::new()) else { unreachable!() };
        Stmt::Block(outer, vec![Stmt::Value(head, body, "};".to_owned())])
    }

    /// Writes `x = if c { … v } else { … w };`, or a `match` with such arms.
    pub(super) fn chosen_value(&mut self, depth: usize) -> Stmt {
        let ty = self.ty();
        let target = self.target(ty);
        if self.rng.one_in(2) {
            let condition = self.condition(1);
            let then = self.arm(format!("{target} if {condition} {{"), ty, depth, "} else {");
            let otherwise = self.arm(String::new(), ty, depth, "};");
            return Stmt::Block("{".to_owned(), vec![then, otherwise]);
        }
        let (head, patterns) = self.matched(8);
        let mut arms: Vec<Stmt> =
            patterns.into_iter().map(|p| self.arm(format!("{p} => {{"), ty, depth, "}")).collect();
        arms.push(self.arm("_ => {".to_owned(), ty, depth, "}"));
        Stmt::Value(format!("{target} {head} {{"), arms, "};".to_owned())
    }

    fn arm(&mut self, head: String, ty: Ty, depth: usize, close: &str) -> Stmt {
        let body = self.block(depth + 1, false);
        Stmt::Value(head, body, format!("    {} {close}", self.expr(ty, 2)))
    }
}
