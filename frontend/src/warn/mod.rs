//! Warnings about code that is not wrong but most likely not intended. They are computed only for a program
//! without errors.
//!
//! Every check is a scan of the flat lists of the syntax tree and of the checker's tables. A program without
//! warnings therefore costs only a few linear scans. Doubtful cases are not reported.

mod endless;
mod flow;

use crate::ast::{Ast, BinaryOp, BlockId, ExprId, ExprKind, Item, ItemKind, Name, StmtKind, UnaryOp};
use crate::builtins::{Builtin, Lane};
use crate::check::{Checked, Res};
use crate::diag::{Diagnostic, Severity};
use crate::lexer::Span;
use crate::scalar::Scalar;
use crate::types::{Ty, TyKind};
use ir::UnOp;
use isa::spelling::nearest;

/// Level of a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The finding is not reported.
    Allow,
    /// The finding is reported as a warning.
    Warn,
    /// The finding is reported as an error.
    Deny,
}

/// Name and default level of each warning.
const NAMES: [(&str, Level); COUNT] = [
    ("constant_comparison", Level::Warn),
    ("divergent_barrier", Level::Warn),
    ("divergent_wave_operation", Level::Allow),
    ("division_by_zero", Level::Warn),
    ("empty_range", Level::Warn),
    ("endless_recursion", Level::Warn),
    ("index_out_of_bounds", Level::Warn),
    ("missing_barrier", Level::Warn),
    ("missing_restrict", Level::Warn),
    ("no_trap_handler", Level::Warn),
    ("not_unrolled", Level::Warn),
    ("shift_count", Level::Warn),
    ("split_group_memory", Level::Warn),
    ("truncating_conversion", Level::Allow),
    ("uninitialized", Level::Warn),
    ("unreachable_code", Level::Warn),
    ("unused_function", Level::Warn),
    ("unused_parameter", Level::Allow),
    ("unused_result", Level::Warn),
    ("unused_variable", Level::Warn),
];
const COUNT: usize = 20;

/// Level of each warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Warnings([Level; COUNT]);

impl Default for Warnings {
    fn default() -> Self {
        Warnings(NAMES.map(|(_, level)| level))
    }
}

impl Warnings {
    /// Levels that allow everything, so that nothing is reported.
    pub const NONE: Warnings = Warnings([Level::Allow; COUNT]);

    /// Sets the level of a warning; `all` sets the level of every warning.
    ///
    /// # Errors
    /// A text that says that there is no such warning and lists the warnings that exist.
    pub fn set(&mut self, name: &str, level: Level) -> Result<(), String> {
        if name == "all" {
            self.0 = [level; COUNT];
            return Ok(());
        }
        let at = number(name).ok_or_else(|| unknown(name))?;
        self.0[at] = level;
        Ok(())
    }

    /// Returns the level of a warning.
    pub fn level(&self, name: &str) -> Level {
        number(name).map_or(Level::Allow, |at| self.0[at])
    }

    /// Returns the names of all warnings.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|row| row.0)
    }
}

/// Returns the number of a warning.
fn number(name: &str) -> Option<usize> {
    NAMES.iter().position(|row| row.0 == name)
}

/// Returns the message for an unknown warning name.
pub(crate) fn unknown(name: &str) -> String {
    let names = || NAMES.iter().map(|row| row.0);
    match nearest(name, names()) {
        Some(close) => format!("there is no warning `{name}`; a similar name exists: `{close}`"),
        None => format!("there is no warning `{name}`; there are {}", names().collect::<Vec<_>>().join(", ")),
    }
}

pub(crate) fn is_known(name: &str) -> bool {
    name == "all" || number(name).is_some()
}

/// Returns whether an `#[allow(…)]` that encloses the bytes from `start` to `end` suppresses the warning
/// `name`.
pub(crate) fn is_quiet(ast: &Ast<'_>, name: &str, start: u32, end: u32) -> bool {
    ast.quiet.iter().any(|(around, allowed)| {
        let named = allowed.is_none_or(|sym| matches!(ast.name(sym), text if text == name || text == "all"));
        named && around.start <= start && end <= around.end
    })
}

/// Names of the warnings that phases after the frontend compute.
const LATER: [&str; 7] = [
    "divergent_barrier",
    "divergent_wave_operation",
    "missing_barrier",
    "missing_restrict",
    "no_trap_handler",
    "not_unrolled",
    "split_group_memory",
];

/// Returns the source ranges in which `#[allow(…)]` suppresses a warning of a phase after the frontend, with
/// the name of the warning.
pub(crate) fn quiet_later(ast: &Ast<'_>) -> impl Iterator<Item = (&'static str, Span)> {
    ast.quiet.iter().flat_map(move |&(span, allowed)| {
        let named = move |name: &&str| allowed.is_none_or(|sym| [*name, "all"].contains(&ast.name(sym)));
        LATER.into_iter().filter(named).map(move |name| (name, span))
    })
}

/// Working memory that is reused from program to program.
#[derive(Default)]
pub(crate) struct Scratch {
    locals: Vec<Usage>,
    called: Vec<bool>,
}

/// Uses of a local variable or parameter.
#[derive(Clone, Copy, Default)]
struct Usage {
    /// Number of expressions that use the variable. An assignment to the whole variable does not count as a
    /// use.
    uses: u32,
    assigned: bool,
    /// `Some` for a parameter, with whether it is a parameter of a kernel. `None` for a local variable.
    param: Option<bool>,
    of_loop: bool,
}

/// Returns the warnings about a program. `own` is the byte at which the compiled file ends and the contents
/// of the files that it uses begin. Functions of the used files may be unused without a warning.
pub(crate) fn warn(
    ast: &Ast<'_>,
    checked: &Checked,
    levels: Warnings,
    own: usize,
    scratch: &mut Scratch,
) -> Vec<Diagnostic> {
    if levels == Warnings::NONE {
        return Vec::new();
    }
    let mut warner = Warner { ast, checked, levels, own, found: Vec::new() };
    warner.variables(&mut scratch.locals);
    warner.functions(&mut scratch.called);
    warner.recursion();
    warner.expressions();
    warner.statements();
    warner.blocks();
    warner.found
}

struct Warner<'w, 'a> {
    ast: &'w Ast<'a>,
    checked: &'w Checked,
    levels: Warnings,
    own: usize,
    found: Vec<Diagnostic>,
}

impl Warner<'_, '_> {
    fn report(&mut self, name: &'static str, message: String, span: Span, label: &str, help: Option<String>) {
        let severity = match self.levels.level(name) {
            Level::Allow => return,
            Level::Warn => Severity::Warning,
            Level::Deny => Severity::Error,
        };
        if !is_quiet(self.ast, name, span.start, span.end) {
            let diagnostic = Diagnostic::error(name, message).label(span, label).help_opt(help);
            self.found.push(Diagnostic { severity, ..diagnostic });
        }
    }

    /// Returns whether a position is in a generic function. The checker's tables describe a generic function
    /// for only one instance, or for sample types, so what they say may not hold for other instances.
    fn is_generic(&self, span: Span) -> bool {
        self.ast.generic_spans.iter().any(|around| around.start <= span.start && span.end <= around.end)
    }

    /// Reports local variables and parameters that are not read.
    fn variables(&mut self, usage: &mut Vec<Usage>) {
        self.count(usage);
        for (local, usage) in self.checked.locals.iter().zip(&*usage) {
            let text = self.ast.name(local.name);
            if usage.uses > 0 || usage.of_loop || text.starts_with('_') {
                continue;
            }
            let name = if usage.param.is_some() { "unused_parameter" } else { "unused_variable" };
            if self.levels.level(name) == Level::Allow || self.is_generic(local.span) {
                continue;
            }
            let (message, label) = match usage.param {
                Some(kernel) => {
                    let of = if kernel { "kernel" } else { "function" };
                    (format!("the {of} does not use its parameter `{text}`"), "never read")
                }
                None if usage.assigned => {
                    (format!("`{text}` gets values that nobody reads"), "assigned, never read")
                }
                None => (format!("`{text}` is not used"), "never read"),
            };
            self.report(
                name,
                message,
                local.span,
                label,
                Some(format!("call it `_{text}` if that is meant")),
            );
        }
        self.unassigned(usage);
        self.assigned_late(usage);
    }

    /// Reports variables without an initial value that may be read before their first assignment.
    fn assigned_late(&mut self, usage: &[Usage]) {
        // Each variable without an initial value needs a separate walk over the code. To bound the time, the
        // number of walks is limited; real programs are far below the limit.
        let mut walks = 0;
        for n in 0..self.ast.blocks.len() {
            let block = BlockId(n as u32);
            for (at, stmt) in self.ast.block(block).stmts.range().enumerate() {
                let StmtKind::Let { pattern, init: None, .. } = self.ast.stmts[stmt].kind else { continue };
                let crate::check::PatRes::Local(local) = self.checked.patterns[pattern.at()] else {
                    continue;
                };
                let info = &self.checked.locals[local as usize];
                let usage = usage[local as usize];
                walks += 1;
                if walks > 1000 || info.in_memory || usage.uses == 0 || self.is_generic(info.span) {
                    continue;
                }
                // Variables that never get a value are reported elsewhere.
                if !usage.assigned && !self.assigned_by_parts(local) {
                    continue;
                }
                if let Some(read) = flow::early_read(self.ast, self.checked, local, block, at + 1) {
                    let text = self.ast.name(info.name);
                    let message = format!("`{text}` may be read before it gets a value");
                    let help = Some(format!("give it one where it is declared: `let mut {text} = …;`"));
                    self.report("uninitialized", message, read, "some ways here assign nothing", help);
                }
            }
        }
    }

    fn count(&self, usage: &mut Vec<Usage>) {
        usage.clear();
        usage.resize(self.checked.locals.len(), Usage::default());
        for res in &self.checked.res {
            if let Res::Local(local) = *res {
                usage[local as usize].uses += 1;
            }
        }
        for func in &self.checked.funcs {
            for usage in &mut usage[func.locals.range()] {
                usage.param = Some(func.kernel.is_some());
                // A function without a body is defined by another object file, whose code may read the
                // parameters. They count as used.
                usage.uses += u32::from(func.body.is_none());
            }
        }
        for (n, stmt) in self.ast.stmts.iter().enumerate() {
            match stmt.kind {
                StmtKind::Assign { place, .. } => {
                    if let Res::Local(local) = self.checked.res[place.at()] {
                        usage[local as usize].uses -= 1;
                        usage[local as usize].assigned = true;
                    }
                }
                StmtKind::For { .. } => {
                    if let Some(usage) = usage.get_mut(self.checked.stmt_decl[n] as usize) {
                        usage.of_loop = true;
                    }
                }
                _ => {}
            }
        }
    }

    /// Reports variables that are read but never get a value.
    fn unassigned(&mut self, usage: &[Usage]) {
        for stmt in &self.ast.stmts {
            let StmtKind::Let { pattern, init: None, .. } = stmt.kind else { continue };
            let crate::check::PatRes::Local(local) = self.checked.patterns[pattern.at()] else { continue };
            let info = &self.checked.locals[local as usize];
            let scalar = self.checked.types.lanes(info.ty).is_some();
            let usage = usage[local as usize];
            if !scalar || info.in_memory || usage.assigned || usage.uses == 0 {
                continue;
            }
            let lanes = self.checked.types.lanes(info.ty).map_or(1, |(_, lanes)| lanes);
            // The lanes of a vector may be assigned one by one.
            if lanes == 1 && !self.is_generic(info.span) && !self.assigned_by_parts(local) {
                let text = self.ast.name(info.name);
                let message = format!("`{text}` is read and never gets a value");
                let help = Some(format!("give it one: `let {text} = …;`"));
                self.report("uninitialized", message, info.span, "declared without a value", help);
            }
        }
    }

    /// Returns whether some assignment to a tuple, such as `(a, b) = …`, assigns the variable.
    fn assigned_by_parts(&self, local: u32) -> bool {
        let is_it = |id: &ExprId| match self.ast.expr(*id).kind {
            ExprKind::Tuple(_) => true,
            _ => self.checked.res[id.at()] == Res::Local(local),
        };
        self.ast.stmts.iter().any(|stmt| match stmt.kind {
            StmtKind::Assign { place, .. } => match self.ast.expr(place).kind {
                ExprKind::Tuple(parts) => self.ast.list(parts).iter().any(is_it),
                _ => false,
            },
            _ => false,
        })
    }

    /// Reports functions that are never called. A file without kernels is a library, whose functions are not
    /// reported.
    fn functions(&mut self, called: &mut Vec<bool>) {
        let is_kernel = |item: &&Item| matches!(item.kind, ItemKind::Fn { kernel: true, .. });
        if !self.ast.items.iter().any(|item| is_kernel(&item)) {
            return;
        }
        called.clear();
        called.resize(self.ast.names.len(), false);
        for expr in &self.ast.exprs {
            // A function that is used as a value counts as called.
            if let ExprKind::Call { callee: Name { sym, .. }, .. } | ExprKind::Name(sym) = expr.kind {
                called[sym.0 as usize] = true;
            }
        }
        for item in &self.ast.items {
            let ItemKind::Fn { kernel: false, .. } = item.kind else { continue };
            if self.is_exported(item) {
                continue;
            }
            let text = self.ast.name(item.name.sym);
            let own = (item.name.span.start as usize) < self.own;
            if own && !called[item.name.sym.0 as usize] && !text.starts_with('_') {
                let help = Some(format!("call it `_{text}` if that is meant"));
                self.report(
                    "unused_function",
                    format!("nobody calls `{text}`"),
                    item.name.span,
                    "never called",
                    help,
                );
            }
        }
    }

    fn is_exported(&self, item: &Item) -> bool {
        self.ast.attrs[item.attrs.range()].iter().any(|attr| self.ast.name(attr.name.sym) == "export")
    }

    /// Reports functions that call themselves on every path.
    fn recursion(&mut self) {
        if self.levels.level("endless_recursion") == Level::Allow {
            return;
        }
        for (func, call) in endless::find(self.ast, self.checked) {
            let text = self.ast.name(self.checked.funcs[func as usize].name.sym);
            let message = format!("`{text}` calls itself on every way");
            let help = Some("return without the call in some case".to_owned());
            self.report("endless_recursion", message, call, "there is no way out", help);
        }
    }

    /// Reports comparisons that always have the same result, and conversions that lose bits of the value.
    fn expressions(&mut self) {
        let conversions = self.levels.level("truncating_conversion") != Level::Allow;
        for n in 0..self.ast.exprs.len() {
            let expr = &self.ast.exprs[n];
            if let ExprKind::Cast(value, _) = expr.kind
                && conversions
            {
                self.conversion(value, expr.span, self.checked.expr_ty[n]);
            }
            let ExprKind::Binary(op, left, right) = expr.kind else { continue };
            self.right_operand(op, left, right, expr.span);
            if !op.is_comparison() || self.is_generic(expr.span) {
                continue;
            }
            if let Some((always, why)) = self.outcome(op, left, right) {
                let message = format!("the comparison is always {always}");
                self.report("constant_comparison", message, expr.span, &why, None);
            }
        }
    }

    /// Reports a shift by at least the width of the integer, and an integer division by zero, if the right
    /// operand is a literal.
    fn right_operand(&mut self, op: BinaryOp, left: ExprId, right: ExprId, span: Span) {
        let divides = matches!(op, BinaryOp::Div | BinaryOp::Rem);
        if !divides && !op.is_shift() {
            return;
        }
        let lanes = self.checked.types.lanes(self.checked.expr_ty[left.at()]);
        let (Some(value), Some((scalar, lanes))) = (self.literal(right), lanes) else { return };
        if !scalar.is_int() || self.is_generic(span) {
            return;
        }
        let (at, bits) = (self.ast.span(right), scalar.bits());
        if divides && value == 0 {
            let message = "a division by zero".to_owned();
            self.report("division_by_zero", message, at, "the result is unspecified", None);
        } else if op.is_shift() && value >= bits.into() {
            let message = format!("a shift of `{}` by its width or more", scalar.name());
            let label = format!("counts modulo {bits}: by {}", value & u64::from(bits - 1));
            let wide = match (scalar.is_signed(), value) {
                (true, ..32) => "i32",
                (false, ..32) => "u32",
                (true, _) => "i64",
                (false, _) => "u64",
            };
            let help = (lanes == 1 && value < 64)
                .then(|| format!("for more bits write `x as {wide} {} {value}`", op.text()));
            self.report("shift_count", message, at, &label, help);
        }
    }

    /// Reports a conversion to fewer bits.
    fn conversion(&mut self, value: ExprId, span: Span, to: Ty) {
        let types = &self.checked.types;
        let lanes = (types.lanes(self.checked.expr_ty[value.at()]), types.lanes(to));
        let (Some((from, _)), Some((to, _))) = lanes else { return };
        let loses = match (from.is_int() && to.is_int(), from.is_float() && to.is_float()) {
            (true, _) => to.bits() < self.significant_bits(value, from),
            (_, true) => to.bits() < from.bits(),
            _ => false,
        };
        if loses && self.literal(value).is_none() && !self.is_generic(span) {
            let message = format!("`{}` has fewer bits than `{}`", to.name(), from.name());
            self.report("truncating_conversion", message, span, "what does not fit is lost", None);
        }
    }

    /// Returns the largest number of significant bits that an integer expression of type `of` can have. Looks
    /// only at the last operator of the expression: right shifts, masks and remainders of unsigned numbers
    /// leave fewer bits than the type has.
    fn significant_bits(&self, id: ExprId, of: Scalar) -> u32 {
        let counts = [UnOp::Popcount, UnOp::Clz, UnOp::Ctz];
        if let Res::Builtin(Builtin::Lanes(Lane::Un(op), ..)) = self.checked.res[id.at()]
            && counts.contains(&op)
        {
            // The counts are at most 64.
            return 7;
        }
        let ExprKind::Binary(op, left, right) = self.ast.expr(id).kind else { return of.bits() };
        let length = |value: u64| u64::BITS - value.leading_zeros();
        let bits = match (op, self.constant(left), self.constant(right)) {
            (BinaryOp::And, Some(mask), _) | (BinaryOp::And, _, Some(mask)) => length(mask),
            (BinaryOp::Shr, _, Some(count)) if !of.is_signed() => {
                of.bits() - (count & u64::from(of.bits() - 1)) as u32
            }
            (BinaryOp::Rem, _, Some(divisor)) if !of.is_signed() => length(divisor.saturating_sub(1)),
            _ => of.bits(),
        };
        bits.min(of.bits())
    }

    fn outcome(&self, op: BinaryOp, left: ExprId, right: ExprId) -> Option<(bool, String)> {
        use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
        let scalar = self.checked.types.as_scalar(self.checked.expr_ty[left.at()]).filter(|s| s.is_int())?;
        let (a, b) = (self.checked.res[left.at()], self.checked.res[right.at()]);
        if a == b && matches!(a, Res::Local(_)) {
            return Some((matches!(op, Eq | Le | Ge), "both sides are the same variable".to_owned()));
        }
        let (op, literal) = match (self.literal(left), self.literal(right)) {
            (None, Some(literal)) => (op, literal),
            (Some(literal), None) => (turned(op), literal),
            _ => return None,
        };
        let name = Scalar::name(scalar);
        let least = !scalar.is_signed() && literal == 0;
        let most = literal == scalar.limits().1;
        match op {
            Ge | Lt if least => Some((op == Ge, format!("no `{name}` is below 0"))),
            Le | Gt if most => Some((op == Le, format!("no `{name}` is above {literal}"))),
            Ge | Lt | Le | Gt | Eq | Ne => None,
            _ => None,
        }
    }

    /// Returns the value of a literal.
    fn literal(&self, id: ExprId) -> Option<u64> {
        match self.ast.expr(id).kind {
            ExprKind::Int { value, .. } => Some(value),
            _ => None,
        }
    }

    /// Returns the value of a literal with or without a minus sign.
    fn signed_literal(&self, id: ExprId) -> Option<i128> {
        match self.ast.expr(id).kind {
            ExprKind::Unary(UnaryOp::Neg, inner) => self.signed_literal(inner).map(|value| -value),
            _ => self.literal(id).map(i128::from),
        }
    }

    /// Reports `for` loops with empty ranges, suspicious operators in assignments, and results that are not
    /// used.
    fn statements(&mut self) {
        for (n, stmt) in self.ast.stmts.iter().enumerate() {
            match stmt.kind {
                StmtKind::For { from, to, inclusive, body, .. } => {
                    // A generic function may have other constants in each instance, so its loops are not
                    // tested.
                    if !self.is_generic(stmt.span)
                        && let Some(to) = self.constant(to)
                    {
                        self.indices(self.checked.stmt_decl[n], to, inclusive, body);
                    }
                    let Some(b) = self.signed_literal(to) else { continue };
                    let first = self.signed_literal(from);
                    let down = match first {
                        Some(a) => a > b,
                        None => b == 0 && !inclusive && self.is_unsigned(from),
                    };
                    if down || (first == Some(b) && !inclusive) {
                        let span = self.ast.span(from).to(self.ast.span(to));
                        let help = down.then(|| "count down with `while`".to_owned());
                        self.report(
                            "empty_range",
                            "the loop never runs".to_owned(),
                            span,
                            "an empty range",
                            help,
                        );
                    }
                }
                StmtKind::Expr(value) => self.result(value),
                StmtKind::Assign { op: Some(op), place, value } => {
                    self.right_operand(op, place, value, stmt.span);
                }
                _ => {}
            }
        }
    }

    fn is_unsigned(&self, id: ExprId) -> bool {
        let scalar = self.checked.types.as_scalar(self.checked.expr_ty[id.at()]);
        scalar.is_some_and(|scalar| scalar.is_int() && !scalar.is_signed())
            && !self.is_generic(self.ast.span(id))
    }

    /// Returns the value of an expression that is a literal or a named integer constant.
    fn constant(&self, id: ExprId) -> Option<u64> {
        match self.checked.res[id.at()] {
            Res::Const(n) => match self.checked.consts[n as usize].value.as_slice() {
                &[value]
                    if self
                        .checked
                        .types
                        .as_scalar(self.checked.expr_ty[id.at()])
                        .is_some_and(Scalar::is_int) =>
                {
                    Some(value)
                }
                _ => None,
            },
            _ => self.literal(id),
        }
    }

    /// Reports an array that is indexed by the counter of a `for` loop whose range exceeds the array's
    /// length. A condition in the body may prevent the access, so a body with conditions is not reported.
    fn indices(&mut self, variable: u32, to: u64, inclusive: bool, body: BlockId) {
        let around = self.ast.block(body).span;
        let inside = |span: Span| around.start <= span.start && span.end <= around.end;
        let last = if inclusive { to } else { to.wrapping_sub(1) };
        let wrong = |expr: &&crate::ast::Expr| {
            let ExprKind::Index(base, index) = expr.kind else { return false };
            let len = match self.checked.types.kind(self.checked.expr_ty[base.at()]) {
                TyKind::Array(_, len) => u64::from(len),
                TyKind::Vector(_, lanes) => u64::from(lanes),
                _ => return false,
            };
            self.checked.res[index.at()] == Res::Local(variable) && last >= len && to > 0 && inside(expr.span)
        };
        // The tree lists expressions in the order of their ends in the source. The expressions of the loop's
        // body are therefore adjacent in the list, and binary search finds them.
        let behind = |at: u32| self.ast.exprs.partition_point(|expr| expr.span.end <= at);
        let of_body = &self.ast.exprs[behind(around.start)..behind(around.end)];
        let Some(found) = of_body.iter().find(wrong).map(|expr| expr.span) else { return };
        let leaves = |stmt: &crate::ast::Stmt| {
            matches!(stmt.kind, StmtKind::Break { .. } | StmtKind::Continue(_) | StmtKind::Return(_))
                && inside(stmt.span)
        };
        let decides = |expr: &crate::ast::Expr| {
            matches!(expr.kind, ExprKind::If { .. } | ExprKind::Match { .. }) && inside(expr.span)
        };
        if !self.is_generic(found)
            && !self.ast.stmts.iter().any(leaves)
            && !self.ast.exprs.iter().any(decides)
        {
            let message = format!("the index goes up to {last}, behind the end");
            self.report("index_out_of_bounds", message, found, "too long a loop for this", None);
        }
    }

    fn result(&mut self, value: ExprId) {
        let ExprKind::Call { callee, .. } = self.ast.expr(value).kind else { return };
        let pure = match self.checked.res[value.at()] {
            Res::Builtin(builtin) => matches!(
                builtin,
                Builtin::Lanes(..) | Builtin::Select | Builtin::Bitcast | Builtin::Dot | Builtin::Length
            ),
            Res::Dim(..) | Res::Vector | Res::Const(_) => true,
            _ => false,
        };
        if pure {
            let text = self.ast.name(callee.sym);
            let message = format!("the result of `{text}` is not used");
            self.report("unused_result", message, self.ast.span(value), "does nothing else", None);
        }
    }

    /// Reports statements that are never executed, because control never leaves the statement before them,
    /// such as a `return`.
    fn blocks(&mut self) {
        for n in 0..self.ast.blocks.len() {
            let block = *self.ast.block(BlockId(n as u32));
            let stmts = &self.ast.stmts[block.stmts.range()];
            let Some(at) = stmts.iter().position(|stmt| self.leaves_block(stmt.kind)) else { continue };
            let next = stmts.get(at + 1).map(|stmt| stmt.span);
            let next = next.or_else(|| block.tail.map(|tail| self.ast.span(tail)));
            if let Some(span) = next {
                let message = "control never gets here".to_owned();
                self.report("unreachable_code", message, span, "unreachable", None);
            }
        }
    }

    fn leaves_block(&self, kind: StmtKind) -> bool {
        match kind {
            StmtKind::Break { .. } | StmtKind::Continue(_) | StmtKind::Return(_) => true,
            StmtKind::Expr(value) => self.checked.expr_ty[value.at()] == Ty::NEVER,
            _ => false,
        }
    }
}

/// Returns the comparison operator for exchanged operands.
fn turned(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::Gt => BinaryOp::Lt,
        BinaryOp::Le => BinaryOp::Ge,
        BinaryOp::Ge => BinaryOp::Le,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_levels() {
        let mut levels = Warnings::default();
        assert!(levels.set("unused_variable", Level::Deny).is_ok());
        assert!(levels.set("unused_variabel", Level::Deny).unwrap_err().contains("`unused_variable`"));
        levels.set("all", Level::Allow).expect("a name");
        assert_eq!(levels, Warnings::NONE);
        assert!(Warnings::names().all(|name| crate::explain(name).is_some()));
    }
}
