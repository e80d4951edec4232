//! Checks loops and labelled blocks, and the `break`s and `continue`s in them.

use super::Checker;
use crate::ast::{BlockId, ExprId, List, LoopId, Name, Sym};
use crate::diag::Diagnostic;
use crate::lexer::Span;
use crate::types::Ty;
use smallvec::SmallVec;

/// Kind of a statement that `break` can leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A `for` or `while` loop. It has no value, because it can end without a `break`.
    Counted,
    Loop,
    /// A labelled block.
    Block,
}

/// A loop or labelled block that is being checked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope {
    label: Option<Sym>,
    kind: Kind,
    /// Common type of the values of the `break`s that leave this loop or block. This is the never type `!` as
    /// long as the checker has found no such `break`.
    ty: Ty,
    /// Type that the context expects of the loop's or block's value, and so of the values of its `break`s.
    expect: Ty,
    /// Position of its first `break`.
    first: Option<Span>,
}

impl Checker<'_, '_> {
    /// Checks a loop or labelled block. Also records the variables that are declared outside of the loop and
    /// assigned inside, which lowering needs to know before it lowers the loop.
    pub(super) fn in_loop(
        &mut self,
        head: LoopId,
        kind: Kind,
        expect: Ty,
        check: impl FnOnce(&mut Self),
    ) -> Scope {
        let outer_locals = self.s.checked.locals.len() as u32;
        let mark = self.s.body.assigned.len();
        let label = self.ast.loop_head(head).label.map(|label| label.sym);
        let scope = Scope { label, kind, ty: Ty::NEVER, expect, first: None };
        self.s.body.loops.push(scope);
        check(self);
        let scope = self.s.body.loops.pop().unwrap_or(scope);
        let mut assigned: SmallVec<[u32; 16]> =
            self.s.body.assigned.drain(mark..).filter(|&local| local < outer_locals).collect();
        assigned.sort_unstable();
        assigned.dedup();
        let start = self.s.checked.loop_locals.len() as u32;
        self.s.checked.loop_assigned[head.at()] = List { start, len: assigned.len() as u32 };
        self.s.checked.loop_locals.extend_from_slice(&assigned);
        if !self.s.body.loops.is_empty() {
            self.s.body.assigned.extend_from_slice(&assigned);
        }
        scope
    }

    pub(super) fn loop_expr(&mut self, head: LoopId, body: BlockId, expect: Ty) -> Ty {
        self.in_loop(head, Kind::Loop, expect, |c| c.loop_body(body)).ty
    }

    pub(super) fn labelled_block(&mut self, head: LoopId, body: BlockId, expect: Ty) -> Ty {
        let mut found = Ty::NEVER;
        let scope = self.in_loop(head, Kind::Block, expect, |c| found = c.block(body, expect));
        let block = self.ast.block(body);
        let span = block.tail.map_or(block.span, |tail| self.ast.span(tail));
        self.same(block.tail, span, found, scope.ty)
    }

    pub(super) fn break_stmt(&mut self, label: Option<Name>, value: Option<ExprId>, span: Span) {
        let Some(target) = self.target("break", label, span) else {
            if let Some(value) = value {
                self.expr(value, Ty::NONE);
            }
            return;
        };
        let scope = self.s.body.loops[target];
        let wanted = Self::wanted_of(scope.ty, scope.expect);
        let ty = match value {
            Some(value) if scope.kind == Kind::Counted => {
                self.expr(value, Ty::NONE);
                self.no_value_of_loop(value);
                Ty::UNIT
            }
            Some(value) => {
                let found = self.expr(value, wanted);
                self.same(Some(value), self.ast.span(value), found, scope.ty)
            }
            None if matches!(wanted, Ty::NEVER | Ty::UNIT | Ty::ERROR | Ty::NONE) => Ty::UNIT,
            None => self.break_without_value(span, scope, wanted),
        };
        let scope = &mut self.s.body.loops[target];
        scope.ty = ty;
        scope.first = scope.first.or(Some(span));
    }

    #[cold]
    fn no_value_of_loop(&mut self, value: ExprId) {
        self.sink.push(
            Diagnostic::error("E0057", "`for` and `while` have no value")
                .label(self.ast.span(value), "no one can get this")
                .help("only `loop` and labelled blocks have a value; or assign it to a variable before the `break`"),
        );
    }

    fn break_without_value(&mut self, span: Span, scope: Scope, wanted: Ty) -> Ty {
        let wanted = self.type_name(wanted);
        self.sink.push(
            Diagnostic::error("E0057", format!("this `break` needs a value of type `{wanted}`"))
                .label(span, "without a value")
                .label_opt(scope.first.map(|first| (first, format!("this one brings a `{wanted}`")))),
        );
        Ty::ERROR
    }

    pub(super) fn continue_stmt(&mut self, label: Option<Name>, span: Span) {
        let Some(target) = self.target("continue", label, span) else { return };
        if self.s.body.loops[target].kind == Kind::Block {
            self.sink.push(
                Diagnostic::error("E0054", "`continue` needs a loop, this label is that of a block")
                    .label(label.map_or(span, |label| label.span), "a block")
                    .help("`break` goes to the end of a block"),
            );
        }
    }

    /// Returns the index, in the list of open loops and labelled blocks, of the loop or block that a `break`
    /// or `continue` refers to.
    fn target(&mut self, word: &str, label: Option<Name>, span: Span) -> Option<usize> {
        let loops = &self.s.body.loops;
        match label {
            Some(label) => {
                let found = loops.iter().rposition(|scope| scope.label == Some(label.sym));
                if found.is_none() {
                    self.unknown_label(label);
                }
                found
            }
            None => {
                let innermost = loops.last().copied();
                match innermost {
                    Some(scope) if scope.kind == Kind::Block => self.needs_label(word, scope, span),
                    Some(_) => return Some(loops.len() - 1),
                    None => {
                        self.error("E0054", format!("`{word}` outside of a loop"), span, "no loop to leave");
                    }
                }
                None
            }
        }
    }

    /// Reports a `break` or `continue` without a label in a labelled block. As in Rust, it must say whether
    /// it means the block or a loop around the block.
    fn needs_label(&mut self, word: &str, block: Scope, span: Span) {
        let label = block.label.map_or("'a", |label| self.ast.name(label));
        let help = match word {
            "break" => format!("`break {label}` leaves the block; a loop around it needs a label of its own"),
            _ => "give the loop a label: `'next: for …`, `continue 'next`".to_string(),
        };
        self.sink.push(
            Diagnostic::error("E0054", format!("`{word}` in a labelled block needs a label"))
                .label(span, "the block or a loop around it?")
                .help(help),
        );
    }

    /// Reports a label that no loop or block has. A second use of the same label in a body is not reported,
    /// because most likely the label's declaration is wrong.
    #[cold]
    fn unknown_label(&mut self, label: Name) {
        if self.s.body.unknown_labels.contains(&label.sym) {
            return;
        }
        self.s.body.unknown_labels.push(label.sym);
        let text = self.ast.name(label.sym);
        let known = self.s.body.loops.iter().filter_map(|scope| scope.label).map(|sym| self.ast.name(sym));
        let close = self.nearest(text, known);
        self.sink.push(
            Diagnostic::error("E0026", format!("no loop around this is labelled `{text}`"))
                .label(label.span, "unknown label")
                .help_opt(close.map(|found| format!("a similar name exists: `{found}`"))),
        );
    }
}
