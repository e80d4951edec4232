//! Lists the parts of the language that a program uses, and all parts that exist: kinds of syntax, operators,
//! types, built-in functions and special words. With these lists, a test measures how much of the language a
//! generator of test programs covers.
//!
//! Kinds of syntax are named by matches without a default arm, so that a new kind does not compile until it
//! has a name here. All other lists are the compiler's own tables.

use crate::ast::{Ast, BinaryOp, ExprId, ExprKind, ItemKind, LoopHead, PatKind, StmtKind, TypeKind, UnaryOp};
use crate::builtins::{self, Builtin};
use crate::check::{self, BOUNDS, Checked, KERNEL_ATTRS, OPAQUE, Res};
use crate::diag::{Diagnostics, Sink};
use crate::lexer::{self, Tokens};
use crate::parser::{self, constants};
use crate::scalar::{Scalar, vector_name};
use crate::{Options, Processor, argument_words};
use ir::{Access, Space, UnrollHint};
use std::collections::BTreeSet;

/// Defines a function that returns the name of a node's kind of syntax, such as a kind of expression or of
/// statement. Also defines a list of all names that the function can return.
macro_rules! kinds {
    ($list:ident, $name:ident, $kind:ty, { $($pattern:pat => $text:literal,)* }) => {
        const $list: &[&str] = &[$($text),*];

        fn $name(kind: $kind) -> &'static str {
            match kind {
                $($pattern => $text,)*
            }
        }
    };
}

kinds!(EXPRS, expr, ExprKind, {
    ExprKind::Error => "a mistake",
    ExprKind::Int { suffix: None, .. } => "integer literal",
    ExprKind::Int { suffix: Some(_), .. } => "integer literal with a type",
    ExprKind::Float { suffix: None, .. } => "float literal",
    ExprKind::Float { suffix: Some(_), .. } => "float literal with a type",
    ExprKind::Bool(_) => "bool literal",
    ExprKind::Str(_) => "string",
    ExprKind::Name(_) => "name",
    ExprKind::Unary(..) => "unary operator",
    ExprKind::Binary(..) => "binary operator",
    ExprKind::Deref(_) => "*p",
    ExprKind::AddrOf(_) => "&place",
    ExprKind::Cast(..) => "as",
    ExprKind::Call { given: crate::ast::List { len: 0, .. }, .. } => "call",
    ExprKind::Call { .. } => "call::<>",
    ExprKind::CallValue { .. } => "call of a value",
    ExprKind::Index(..) => "index",
    ExprKind::Field(..) => "field",
    ExprKind::Array(_) => "array",
    ExprKind::Repeat(..) => "[e; N]",
    ExprKind::Tuple(_) => "tuple",
    ExprKind::TypeConst(..) => "T::MAX",
    ExprKind::Struct(..) => "struct literal",
    ExprKind::If { otherwise: None, .. } => "if",
    ExprKind::If { otherwise: Some(_), .. } => "if with else",
    ExprKind::Match { .. } => "match",
    ExprKind::Block(_) => "block",
    ExprKind::Loop(..) => "loop",
    ExprKind::Labelled(..) => "labelled block",
});

kinds!(STMTS, stmt, StmtKind, {
    StmtKind::Let { init: None, .. } => "let without a value",
    StmtKind::Let { ty: None, init: Some(_), .. } => "let without a type",
    StmtKind::Let { ty: Some(_), init: Some(_), .. } => "let",
    StmtKind::Shared { dynamic: false, .. } => "shared",
    StmtKind::Shared { dynamic: true, .. } => "shared dyn",
    StmtKind::Const { .. } => "const in a body",
    StmtKind::Expr(_) => "expression statement",
    StmtKind::StaticAssert { message: None, .. } => "static_assert in a body",
    StmtKind::StaticAssert { message: Some(_), .. } => "static_assert in a body, with a message",
    StmtKind::Assign { op: None, .. } => "assignment",
    StmtKind::Assign { op: Some(_), .. } => "compound assignment",
    StmtKind::While { .. } => "while",
    StmtKind::For { inclusive: false, step: None, .. } => "for ..",
    StmtKind::For { inclusive: true, step: None, .. } => "for ..=",
    StmtKind::For { inclusive: false, step: Some(_), .. } => "for .. with a step",
    StmtKind::For { inclusive: true, step: Some(_), .. } => "for ..= with a step",
    StmtKind::Break { label: None, value: None } => "break",
    StmtKind::Break { label: None, value: Some(_) } => "break v",
    StmtKind::Break { label: Some(_), value: None } => "break 'l",
    StmtKind::Break { label: Some(_), value: Some(_) } => "break 'l v",
    StmtKind::Continue(None) => "continue",
    StmtKind::Continue(Some(_)) => "continue 'l",
    StmtKind::Return(None) => "return",
    StmtKind::Return(Some(_)) => "return v",
});

kinds!(LOOPS, unroll, LoopHead, {
    LoopHead { unroll: UnrollHint::None, .. } => "loop without a hint",
    LoopHead { unroll: UnrollHint::Full, .. } => "#[unroll]",
    LoopHead { unroll: UnrollHint::By(_), .. } => "#[unroll(n)]",
    LoopHead { unroll: UnrollHint::Never, .. } => "#[no_unroll]",
});

kinds!(PATTERNS, pattern, PatKind, {
    PatKind::Any => "pattern _",
    PatKind::Rest => "pattern ..",
    PatKind::Name { mutable: false, .. } => "pattern x",
    PatKind::Name { mutable: true, .. } => "pattern mut x",
    PatKind::Value(_) => "pattern of a constant",
    PatKind::Range { first: Some(_), last: Some(_), inclusive: true } => "pattern a..=b",
    PatKind::Range { first: Some(_), last: Some(_), inclusive: false } => "pattern a..b",
    PatKind::Range { first: Some(_), last: None, .. } => "pattern a..",
    PatKind::Range { first: None, inclusive: true, .. } => "pattern ..=b",
    PatKind::Range { first: None, inclusive: false, .. } => "pattern ..b",
    PatKind::Tuple(_) => "pattern (a, b)",
    PatKind::Array(_) => "pattern [a, b]",
    PatKind::Struct { .. } => "pattern S { .. }",
    PatKind::Field { .. } => "pattern of a field",
    PatKind::Or(_) => "pattern a | b",
});

kinds!(ITEMS, item, ItemKind, {
    ItemKind::Fn { kernel: true, .. } => "kernel",
    ItemKind::Fn { body: None, .. } => "extern fn",
    ItemKind::Fn { generic: None, .. } => "fn",
    ItemKind::Fn { generic: Some(_), .. } => "fn<T>",
    ItemKind::Struct { .. } => "struct",
    ItemKind::Const { param: false, .. } => "const",
    ItemKind::Const { param: true, .. } => "param",
    ItemKind::StaticAssert { message: None, .. } => "static_assert",
    ItemKind::StaticAssert { message: Some(_), .. } => "static_assert with a message",
    ItemKind::Static { external: true, .. } => "extern static",
    ItemKind::Static { dynamic: true, .. } => "shared static dyn",
    ItemKind::Static { space: Space::Shared, .. } => "shared static",
    ItemKind::Static { space: Space::Constant, .. } => "constant static",
    // The source cannot name the generic, region and private address space in a declaration, so this is a
    // global variable.
    ItemKind::Static { space: Space::Global | Space::Generic | Space::Region | Space::Private, .. } => "global static",
});

kinds!(TYPES, ty, TypeKind, {
    TypeKind::Name(_) => "type by name",
    TypeKind::Opaque(Access::ReadOnly, _) => "read_only",
    TypeKind::Opaque(Access::WriteOnly, _) => "write_only",
    TypeKind::Opaque(Access::ReadWrite, _) => "read_write",
    TypeKind::Array(..) => "type [T; N]",
    TypeKind::Tuple(_) => "type (A, B)",
    TypeKind::Function { .. } => "type fn(A) -> B",
    TypeKind::Unsized(_) => "type [T]",
    TypeKind::Pointer { is_restrict: true, .. } => "restrict pointer",
    TypeKind::Pointer { is_volatile: true, .. } => "volatile pointer",
    TypeKind::Pointer { space: Some(Space::Constant), .. } => "constant pointer",
    TypeKind::Pointer { is_const: true, space: None, .. } => "const generic pointer",
    TypeKind::Pointer { is_const: true, .. } => "const pointer",
    TypeKind::Pointer { space: None | Some(Space::Generic), .. } => "generic pointer",
    TypeKind::Pointer { space: Some(Space::Shared), .. } => "shared pointer",
    TypeKind::Pointer { space: Some(Space::Private), .. } => "private pointer",
    TypeKind::Pointer { space: Some(Space::Global | Space::Region), .. } => "global pointer",
});

/// Names of the two kinds of ranges in [`Ast::quiet`].
const CONDITIONS: [&str; 2] = ["#[cfg]", "#[allow]"];

/// Returns all parts of the language.
pub fn all_parts() -> BTreeSet<String> {
    let lists = [EXPRS, STMTS, LOOPS, PATTERNS, ITEMS, TYPES, &CONDITIONS];
    let mut all: BTreeSet<String> = lists.into_iter().flatten().map(|text| (*text).to_owned()).collect();
    for scalar in Scalar::ALL {
        let unary = UnaryOp::ALL.iter().filter(|op| op.takes(scalar));
        let binary = BinaryOp::ALL.iter().filter(|op| op.takes(scalar));
        all.extend(unary.map(|op| unary_of(*op, scalar)).chain(binary.map(|op| binary_of(*op, scalar))));
        let others = Scalar::ALL.into_iter().filter(|&to| to != scalar && scalar.converts_to(to));
        all.extend(others.map(|to| conversion(scalar, to)));
    }
    let assigned = BinaryOp::ALL.iter().filter(|op| !op.is_comparison() && !op.is_logic());
    all.extend(assigned.map(|op| format!("{}=", op.text())));
    all.extend(types().chain(names().map(str::to_owned)));
    for name in builtins::names() {
        match builtins::find(name) {
            Some(Builtin::Lanes(_, class, _)) => {
                let allowed = Scalar::ALL.into_iter().filter(|&scalar| class.has(scalar));
                all.extend(allowed.map(|scalar| builtin_on(name, scalar)));
            }
            _ => all.extend([format!("{name}()")]),
        }
    }
    all
}

/// Returns the names of the scalars and the vectors.
fn types() -> impl Iterator<Item = String> {
    let vectors = |scalar: Scalar| (2..=16).map(move |lanes| format!("{}x{lanes}", scalar.name()));
    let vectors = move |scalar| vectors(scalar).filter(|name| vector_name(name).is_some());
    Scalar::ALL.into_iter().flat_map(move |scalar| vectors(scalar).chain([scalar.name().to_owned()]))
}

/// Returns the words that have a special meaning in some context only, such as memory orders, bounds and
/// attributes.
fn names() -> impl Iterator<Item = &'static str> {
    let words =
        argument_words::ORDERS.iter().map(|row| row.0).chain(argument_words::SCOPES.iter().map(|row| row.0));
    let words = words
        .chain(argument_words::SPACES.iter().map(|row| row.0))
        .chain(argument_words::HINTS.iter().map(|row| row.0));
    let types = BOUNDS.iter().map(|row| row.0).chain(OPAQUE.iter().map(|row| row.0));
    let attributes = KERNEL_ATTRS.iter().map(|row| row.0).chain(["inline", "has"]);
    words.chain(types).chain(attributes).chain(constants::names())
}

/// Returns the name under which the list has a built-in function for one scalar type, such as "abs() of f32".
fn builtin_on(name: &str, scalar: Scalar) -> String {
    format!("{name}() of {}", scalar.name())
}

fn unary_of(op: UnaryOp, scalar: Scalar) -> String {
    format!("{}x of {}", op.text(), scalar.name())
}

fn binary_of(op: BinaryOp, scalar: Scalar) -> String {
    format!("{} of {}", op.text(), scalar.name())
}

fn conversion(from: Scalar, to: Scalar) -> String {
    format!("{} as {}", from.name(), to.name())
}

/// Returns the parts of the language that a program uses.
///
/// # Errors
/// The mistakes in the program.
pub fn parts(source: &str, processor: Option<&dyn Processor>) -> Result<BTreeSet<String>, Diagnostics> {
    let (mut sink, mut tokens) = (Sink::default(), Tokens::default());
    lexer::lex(source, &mut tokens, &mut sink);
    let mut scratch = parser::Scratch::default();
    let ast = parser::parse(source, &tokens, Ast::default(), processor, &mut scratch, &mut sink);
    let mut checker = check::Scratch::default();
    check::check(&ast, &Options { processor, ..Options::default() }, &mut checker, &mut sink);
    if sink.has_errors() {
        return Err(sink.finish("program", source));
    }
    let mut used = BTreeSet::new();
    syntax(&ast, &mut used);
    named(&ast, &mut used);
    operators(&ast, &checker.checked, &mut used);
    functions(&ast, &checker.checked, &mut used);
    Ok(used)
}

/// Adds the kinds of syntax that the tree contains.
fn syntax(ast: &Ast<'_>, used: &mut BTreeSet<String>) {
    let exprs = ast.exprs.iter().map(|one| expr(one.kind));
    let stmts = ast.stmts.iter().map(|one| stmt(one.kind));
    let loops = ast.loops.iter().map(|&head| unroll(head));
    let patterns = ast.patterns.iter().map(|one| pattern(one.kind));
    let items = ast.items.iter().map(|one| item(one.kind));
    let types = ast.types.iter().map(|one| ty(one.kind));
    let conditions = ast.quiet.iter().map(|(_, name)| CONDITIONS[usize::from(name.is_some())]);
    let kinds = exprs.chain(stmts).chain(loops).chain(patterns).chain(items).chain(types);
    used.extend(kinds.chain(conditions).map(str::to_owned));
    for one in &ast.stmts {
        if let StmtKind::Assign { op: Some(op), .. } = one.kind {
            used.insert(format!("{}=", op.text()));
        }
    }
}

/// Adds the names of types and the special words that occur in the program to `used`.
fn named(ast: &Ast<'_>, used: &mut BTreeSet<String>) {
    let known: BTreeSet<String> = types().chain(names().map(str::to_owned)).collect();
    used.extend(ast.names.iter().filter(|name| known.contains(**name)).map(|name| (*name).to_owned()));
    used.extend(ast.types.iter().filter_map(|one| match one.kind {
        TypeKind::Pointer { space: Some(space), .. } => Some(space.name().to_owned()),
        _ => None,
    }));
}

/// Adds the operators and conversions of the program to `used`, each with the scalar type that it is applied
/// to.
fn operators(ast: &Ast<'_>, checked: &Checked, used: &mut BTreeSet<String>) {
    let scalar = |id: ExprId| checked.types.lanes(checked.expr_ty[id.at()]).map(|(scalar, _)| scalar);
    used.extend(ast.exprs.iter().enumerate().filter_map(|(n, one)| match one.kind {
        ExprKind::Unary(op, x) => Some(unary_of(op, scalar(x)?)),
        ExprKind::Binary(op, x, _) => Some(binary_of(op, scalar(x)?)),
        ExprKind::Cast(x, _) => Some(conversion(scalar(x)?, scalar(ExprId(n as u32))?)),
        _ => None,
    }));
}

/// Adds the built-in functions that the program calls to `used`. The entry of an element-wise function
/// includes the scalar type of its arguments.
fn functions(ast: &Ast<'_>, checked: &Checked, used: &mut BTreeSet<String>) {
    for (n, one) in ast.exprs.iter().enumerate() {
        let ExprKind::Call { callee, args, .. } = one.kind else { continue };
        let name = ast.name(callee.sym);
        match checked.res[n] {
            Res::Builtin(Builtin::Lanes(..)) => {
                let ty = checked.expr_ty[ast.list(args)[0].at()];
                used.extend(checked.types.lanes(ty).map(|(scalar, _)| builtin_on(name, scalar)));
            }
            Res::Builtin(_) | Res::Dim(..) => used.extend([format!("{name}()")]),
            _ => {}
        }
    }
}
