//! Checks names, types, constants and attributes. All user errors that the lexer and the parser do not find
//! are found here.
//!
//! The checker does not change the tree; it fills separate tables that are indexed by expression or
//! statement. If it reports no errors, [`crate::lower`] cannot fail.

mod attr;
mod builtin;
mod call;
mod coverage;
mod eval;
mod expr;
mod functions;
mod generic;
mod infer;
mod item;
mod loops;
mod matching;
mod operator;
mod pattern;
mod place;
mod printf;
mod stmt;

pub use attr::KERNEL_ATTRS;
pub use generic::BOUNDS;
pub use item::OPAQUE;
pub use pattern::patterns_of_parts;
pub use stmt::MAX_VALUE;

use crate::Options;
use crate::ast::{Ast, BlockId, ExprId, ExprKind, List, Name, StmtId, Sym};
use crate::builtins::{Builtin, Dim};
use crate::diag::{Diagnostic, Sink};
use crate::lexer::Span;
use crate::scalar::Scalar;
use crate::types::{Ty, TyKind, Types};
use ir::{Inline, KernelInfo, Linkage, Space};
use isa::spelling::nearest;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use smol_str::SmolStr;

/// Fragments (scalars) of the value of a constant.
pub type FragmentBits = SmallVec<[u64; 4]>;

/// Meaning of a name or a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Res {
    None,
    Local(u32),
    Const(u32),
    Static(u32),
    Func(u32),
    Builtin(Builtin),
    /// A built-in function that returns a position or a size, with its dimension (0 to 2).
    Dim(Dim, u8),
    /// A vector constructor such as `f32x4`. The type of the call expression says which vector it makes.
    Vector,
}

/// Meaning of a pattern that its syntax alone does not give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatRes {
    /// Nothing is recorded for this pattern: it has a reported error, or its syntax alone says what it
    /// matches, as for `_`.
    Unknown,
    /// The pattern matches a tuple, array or struct if its sub-patterns match the parts.
    Parts,
    /// Number of the field.
    Field(u32),
    /// The pattern matches the values from the first to the last number, inclusive. The numbers are encoded
    /// like the values in [`ConstItem`].
    Between(u64, u64),
    /// The pattern matches every value and binds this variable.
    Local(u32),
}

/// A variable, parameter or loop variable.
#[derive(Clone, Debug)]
pub struct Local {
    pub name: Sym,
    pub span: Span,
    pub ty: Ty,
    pub mutable: bool,
    /// Whether the variable is stored in private memory instead of in SSA values. The reason is that it
    /// contains an array, has many scalars, or has its address taken.
    pub in_memory: bool,
}

/// A `const`, a `param` or a constant that is declared in a body. `value` has the scalars of the constant in
/// order. An integer is sign- or zero-extended to 64 bits, as its type demands, and a float is stored as its
/// bits.
#[derive(Clone, Debug)]
pub struct ConstItem {
    pub name: Sym,
    pub ty: Ty,
    pub value: FragmentBits,
}

/// A module variable, or a `shared` variable that is declared in a body.
#[derive(Clone, Debug)]
pub struct StaticItem {
    pub name: SmolStr,
    /// The name in the source.
    pub span: Span,
    pub space: Space,
    pub ty: Ty,
    pub dynamic: bool,
    /// Whether the variable is defined in another object.
    pub external: bool,
    /// Scalars of the initial value; empty if all are zero.
    pub init: FragmentBits,
}

/// A kernel or function.
#[derive(Clone, Debug)]
pub struct Func {
    pub name: Name,
    /// The parameters of the function. `locals` is a range of [`Checked::locals`], and `params` is a range of
    /// [`Ast::params`].
    pub locals: List,
    pub params: List,
    pub result: Ty,
    /// `None` if the function is defined in another object.
    pub body: Option<BlockId>,
    pub kernel: Option<KernelInfo>,
    /// `linkage` says whether other object files can call or define the function. `inline` says whether an
    /// attribute asks to inline it or not.
    pub linkage: Linkage,
    pub inline: Inline,
    /// Whether the program takes the function's address.
    pub taken: bool,
    /// Index into [`Checked::instances`] if this is an instance of a generic function.
    pub instance: Option<u32>,
    /// Whether the kernel has `#[small_buffers]`, which promises that byte offsets from pointer parameters
    /// fit in 32 bits.
    pub small_buffers: bool,
}

/// Tables that the checker fills.
#[derive(Default)]
pub struct Checked {
    pub types: Types,
    /// Type of each expression, by the expression's index in the tree.
    pub expr_ty: Vec<Ty>,
    /// Meaning of each name and call, by the expression's index in the tree.
    pub res: Vec<Res>,
    /// For each statement that declares a local variable, `shared` variable or constant: the index of the
    /// declared item in [`Checked::locals`], [`Checked::statics`] or [`Checked::consts`].
    pub stmt_decl: Vec<u32>,
    /// For each loop or labelled block: the variables that are declared outside of it and assigned inside, as
    /// a range of `loop_locals`.
    pub loop_assigned: Vec<List>,
    pub loop_locals: Vec<u32>,
    /// Pointer expressions whose values lowering must convert to generic pointers, because the context
    /// expects a generic pointer.
    pub made_generic: FxHashSet<ExprId>,
    /// Meaning of each pattern, by the pattern's index in the tree.
    pub patterns: Vec<PatRes>,
    pub locals: Vec<Local>,
    pub consts: Vec<ConstItem>,
    pub statics: Vec<StaticItem>,
    pub funcs: Vec<Func>,
    /// Instances of generic functions.
    pub instances: Vec<generic::Instance>,
}

/// What a name is bound to in the current scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Binding {
    None,
    Local(u32),
    Const(u32),
    Static(u32),
    Func(u32),
    /// Item number of the struct.
    Struct(u32),
    /// Item number of the generic function.
    Generic(u32),
    /// Type argument of a parameter of a generic function.
    Type(Ty),
}

/// State of an item that is evaluated when it is first needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lazy {
    Pending,
    Running,
    Done,
}

struct Checker<'c, 'a> {
    ast: &'c Ast<'a>,
    options: &'c Options<'c>,
    sink: &'c mut Sink,
    s: &'c mut Scratch,
}

/// Results and working memory of the checker, reused from program to program.
#[derive(Default)]
pub struct Scratch {
    pub checked: Checked,
    bindings: Vec<Binding>,
    /// Stack of the names that the open scopes have declared. Each has the binding that the name had before,
    /// which is restored when the scope ends.
    shadowed: Vec<(Sym, Binding)>,
    type_cache: Vec<Option<Ty>>,
    /// State of each constant and struct, by item number.
    lazy: Vec<Lazy>,
    /// Number of items whose evaluation has begun and not ended. Items are evaluated when first needed, so
    /// each of these items waits for the value or layout of the next one.
    lazy_depth: u32,
    /// Struct type of each item.
    struct_ty: Vec<Ty>,
    /// Types that pointers point to, if they contain a struct that had no layout yet. Their own layout is
    /// computed when all structs have one. In this list, a type comes after the types that it contains, so
    /// that one pass over the list is enough.
    early: Vec<(Ty, Span)>,
    /// Number of the constant that each item declares.
    const_of_item: Vec<u32>,
    /// Item of each constant; local constants have none.
    item_of_const: Vec<usize>,
    /// Item of each function that is not generic.
    item_of_func: Vec<u32>,
    /// Functions whose addresses constants use. Constants are evaluated before functions have signatures, so
    /// these functions are remembered here until then.
    taken_early: FxHashSet<u32>,
    body: Body,
    open_literals: infer::OpenLiteral,
    generics: generic::Generics,
    /// `match` expressions for which the checker must still test that the arms cover all values. The test
    /// needs the final types of literals.
    matches: Vec<ExprId>,
    /// The `shared` variables that are declared in bodies, as pairs of function name and variable name. A
    /// second variable with the same pair of names needs a different name in the module.
    static_names: FxHashSet<(Sym, Sym)>,
    /// Stack of operators: those of the chain that is being checked, and of the chains that contain it.
    chain: Vec<operator::Link>,
}

impl Scratch {
    /// Resets the tables for a new tree.
    fn renew(&mut self, ast: &Ast<'_>) {
        self.checked.renew(ast);
        refill(&mut self.bindings, Binding::None, ast.names.len());
        self.shadowed.clear();
        refill(&mut self.type_cache, None, ast.types.len());
        refill(&mut self.lazy, Lazy::Pending, ast.items.len());
        self.lazy_depth = 0;
        refill(&mut self.struct_ty, Ty::ERROR, ast.items.len());
        refill(&mut self.const_of_item, 0, ast.items.len());
        self.early.clear();
        self.item_of_const.clear();
        self.item_of_func.clear();
        self.taken_early.clear();
        self.open_literals.clear();
        self.generics.clear();
        self.matches.clear();
        self.static_names.clear();
        self.chain.clear();
    }
}

impl Checked {
    fn renew(&mut self, ast: &Ast<'_>) {
        self.types.reset();
        refill(&mut self.expr_ty, Ty::ERROR, ast.exprs.len());
        refill(&mut self.res, Res::None, ast.exprs.len());
        refill(&mut self.stmt_decl, 0, ast.stmts.len());
        refill(&mut self.loop_assigned, List::default(), ast.loops.len());
        self.loop_locals.clear();
        self.made_generic.clear();
        refill(&mut self.patterns, PatRes::Unknown, ast.patterns.len());
        self.locals.clear();
        self.consts.clear();
        self.statics.clear();
        self.funcs.clear();
        self.instances.clear();
    }
}

/// Fills `list` with `count` copies of `item`.
fn refill<T: Clone>(list: &mut Vec<T>, item: T, count: usize) {
    list.clear();
    list.resize(count, item);
}

/// State of the function body being checked.
#[derive(Default)]
struct Body {
    func: u32,
    result: Option<Ty>,
    kernel: bool,
    loops: SmallVec<[loops::Scope; 8]>,
    /// Unknown labels that were reported in this body.
    unknown_labels: SmallVec<[Sym; 2]>,
    /// Assigned locals. They are recorded only inside loops.
    assigned: SmallVec<[u32; 32]>,
    shared_bytes: u64,
}

/// Checks a program and fills the tables of `s.checked`. The tables may be used only if `sink` has no errors
/// afterwards.
pub fn check(ast: &Ast<'_>, options: &Options<'_>, s: &mut Scratch, sink: &mut Sink) {
    s.renew(ast);
    let mut checker = Checker { ast, options, sink, s };
    checker.items();
    checker.bodies();
}

impl<'a> Checker<'_, 'a> {
    /// Returns the names whose binding satisfies `want`, as candidates for spelling suggestions.
    fn bound_names(&self, want: impl Fn(Binding) -> bool) -> Vec<&'a str> {
        if self.sink.is_full() {
            return Vec::new();
        }
        let bound = self.s.bindings.iter().enumerate().filter(|(_, binding)| want(**binding));
        bound.map(|(n, _)| self.ast.names[n]).collect()
    }
}

impl Checker<'_, '_> {
    #[cold]
    fn error(
        &mut self,
        code: &'static str,
        message: impl Into<String>,
        span: Span,
        label: impl Into<String>,
    ) {
        self.sink.push(Diagnostic::error(code, message).label(span, label));
    }

    /// Reports an error as [`Checker::error`] does, with a help text.
    #[cold]
    fn error_help(
        &mut self,
        code: &'static str,
        message: impl Into<String>,
        span: Span,
        label: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.sink.push(Diagnostic::error(code, message).label(span, label).help(help));
    }

    #[cold]
    fn type_name(&self, ty: Ty) -> String {
        self.s.checked.types.name(ty, &self.ast.names)
    }

    fn set(&mut self, id: ExprId, ty: Ty) -> Ty {
        self.s.checked.expr_ty[id.at()] = ty;
        if self.s.checked.types.is_open(ty) {
            if self.s.checked.types.kind(ty) == TyKind::Error {
                return Ty::ERROR;
            }
            self.note_open(id);
        }
        ty
    }

    fn bind(&mut self, name: Sym, binding: Binding) {
        let slot = &mut self.s.bindings[name.0 as usize];
        self.s.shadowed.push((name, *slot));
        *slot = binding;
    }

    fn binding(&self, name: Sym) -> Binding {
        self.s.bindings[name.0 as usize]
    }

    /// Closes scopes, and restores the meanings that their names had before. `mark` is the length that the
    /// list `shadowed` had when the outermost of these scopes was opened.
    fn close_scope(&mut self, mark: usize) {
        while self.s.shadowed.len() > mark {
            if let Some((name, binding)) = self.s.shadowed.pop() {
                self.s.bindings[name.0 as usize] = binding;
            }
        }
    }

    fn declare(&mut self, name: Name, ty: Ty, mutable: bool) -> u32 {
        let local = self.s.checked.locals.len() as u32;
        // A large struct is as costly in SSA form as an array.
        let layout = self.s.checked.types.layout(ty);
        let in_memory = layout.has_array || layout.fragments > 64;
        self.s.checked.locals.push(Local { name: name.sym, span: name.span, ty, mutable, in_memory });
        self.bind(name.sym, Binding::Local(local));
        local
    }

    /// Returns the candidate that is spelt most similarly to `name`, for the help "a … with a similar name
    /// exists".
    fn nearest<'n>(&self, name: &str, candidates: impl Iterator<Item = &'n str>) -> Option<&'n str> {
        // The list of errors is full, so the diagnostic will be dropped. The search is not worth its time,
        // because it may compare a hundred thousand names.
        if self.sink.is_full() { None } else { nearest(name, candidates) }
    }

    /// Reports a value if its type `found` differs from the required type `wanted`. Returns whether the types
    /// agree.
    fn require(&mut self, id: ExprId, found: Ty, wanted: Ty) -> bool {
        self.require_at(Some(id), self.ast.span(id), found, wanted)
    }

    /// Reports a value whose type `found` differs from the type `wanted`, at the source position `span`.
    /// Returns whether the types agree. `id` is the expression that computes the value, if there is one.
    fn require_at(&mut self, id: Option<ExprId>, span: Span, found: Ty, wanted: Ty) -> bool {
        if self.s.checked.types.fits(found, wanted) || self.agree(found, wanted, span) {
            return true;
        }
        if let Some(id) = id
            && self.s.checked.types.converts(found, wanted)
        {
            self.s.checked.made_generic.insert(id);
            return true;
        }
        let (found_name, wanted_name) = (self.type_name(found), self.type_name(wanted));
        let diagnostic =
            Diagnostic::error("E0040", format!("expected `{wanted_name}`, found `{found_name}`"))
                .label(span, format!("this is `{found_name}`"))
                .label_opt(self.why([found, wanted]).filter(|&(at, _)| at != span))
                .help_opt(
                    self.generic_help(found, wanted)
                        .or_else(|| self.point_help(found, wanted))
                        .or_else(|| id.and_then(|id| self.literal_help(id, wanted)))
                        .or_else(|| id.and_then(|id| self.address_help(id, found, wanted)))
                        .or_else(|| id.and_then(|id| self.result_help(id, found, wanted)))
                        .or_else(|| self.conversion_help(found, wanted)),
                );
        self.sink.push(diagnostic);
        self.spoil([found, wanted]);
        false
    }

    /// Returns a help text if the value is a literal of the wrong kind, such as `1` where a float is
    /// required. Such a literal should be written differently instead of being converted.
    fn literal_help(&self, id: ExprId, wanted: Ty) -> Option<String> {
        if wanted == Ty::BOOL && self.untyped(id).is_some() {
            return Some("write `true` or `false`".to_string());
        }
        let is_int = self.s.checked.types.as_scalar(wanted).is_some_and(Scalar::is_int);
        (is_int && self.untyped(id) == Some(item::Literal::Float))
            .then(|| "an integer is written without a point".to_string())
    }

    /// Returns a help text if the value is the address of an immutable variable and a pointer to mutable
    /// memory is required.
    fn address_help(&self, id: ExprId, found: Ty, wanted: Ty) -> Option<String> {
        let types = &self.s.checked.types;
        let (from, to) = (types.as_pointer(found)?, types.as_pointer(wanted)?);
        let ExprKind::AddrOf(inner) = self.ast.expr(id).kind else { return None };
        let place::Root::Local(local) = self.root(inner) else { return None };
        let local = &self.s.checked.locals[local as usize];
        let fits = from.to == to.to && matches!(to.space, Space::Private | Space::Generic);
        (fits && !local.mutable).then(|| {
            let name = self.ast.name(local.name);
            format!("`&` of a variable that does not change is `const`: declare it with `let mut {name}`")
        })
    }

    /// Returns a help text if the expression is a call of a function that returns nothing, where a value is
    /// required.
    fn result_help(&self, id: ExprId, found: Ty, wanted: Ty) -> Option<String> {
        let ExprKind::Call { callee, .. } = self.ast.expr(id).kind else { return None };
        let name = self.ast.name(callee.sym);
        match self.s.checked.res[id.at()] {
            _ if found != Ty::UNIT => None,
            Res::Func(_) => Some(format!(
                "`{name}` has no result; a function with one says so: `-> {}`",
                self.type_name(wanted)
            )),
            _ => Some(format!("`{name}` has no result")),
        }
    }

    /// Returns the help text for an operand without a value.
    #[cold]
    fn no_result_help(&self, ty: Ty) -> Option<String> {
        (ty == Ty::UNIT).then(|| "`()` is no value; a function with a result says so: `-> T`".to_string())
    }

    /// Returns the help text that says how to convert a value of type `found` to type `wanted`, if a
    /// conversion exists.
    fn conversion_help(&self, found: Ty, wanted: Ty) -> Option<String> {
        let types = &self.s.checked.types;
        let wanted_name = self.type_name(wanted);
        match (types.kind(found), types.kind(wanted)) {
            (TyKind::Scalar(_), TyKind::Scalar(Scalar::Bool)) => {
                Some("compare with zero: `x != 0`".to_string())
            }
            (TyKind::Scalar(_), TyKind::Scalar(_)) => {
                Some(format!("types do not convert by themselves; write `as {wanted_name}`"))
            }
            (TyKind::Vector(_, a), TyKind::Vector(_, b)) if a == b => {
                Some(format!("vectors convert lane by lane with `as {wanted_name}`"))
            }
            (TyKind::Scalar(a), TyKind::Vector(b, _)) if a != b => {
                Some(format!("write `as {}` first", b.name()))
            }
            (TyKind::Scalar(_), TyKind::Vector(..)) => {
                Some(format!("`{wanted_name}(x)` repeats x in all lanes"))
            }
            (TyKind::Pointer(a), TyKind::Pointer(b))
                if a.to == b.to && (a.space == b.space || b.space == Space::Generic) =>
            {
                Some("a `const` or `volatile` pointer does not turn into one without".to_string())
            }
            (TyKind::Pointer(a), TyKind::Pointer(b)) if a.to == b.to && a.space == Space::Generic => {
                Some(format!("if it points to `{}` memory, write `as {wanted_name}`", b.space.name()))
            }
            (TyKind::Pointer(a), TyKind::Pointer(b)) if a.to == b.to => {
                Some(format!("one points to `{}` memory, the other to `{}`", a.space.name(), b.space.name()))
            }
            (TyKind::Vector(a, _), TyKind::Scalar(b)) if a == b => {
                Some("a lane of a vector is `v.x`".to_string())
            }
            (TyKind::Array(of, n), TyKind::Vector(scalar, lanes))
                if n == u32::from(lanes) && self.s.checked.types.as_scalar(of) == Some(scalar) =>
            {
                Some(format!("a vector is made by its name: `{wanted_name}(a, b, …)`"))
            }
            (TyKind::Vector(..), TyKind::Array(..)) => {
                Some("an array is made of its elements: `[v.x, v.y, …]`".to_string())
            }
            (TyKind::Scalar(_), TyKind::Array(_, n)) => Some(format!("`[x; {n}]` has x in all places")),
            (_, TyKind::Unit) => Some(format!(
                "end it with `;`; a function with a result says so: `-> {}`",
                self.type_name(found)
            )),
            (TyKind::Unit, _) => {
                Some("the last expression of a block is its value: no `;` behind it".to_string())
            }
            _ => None,
        }
    }

    fn stmt_id(list: List, n: usize) -> StmtId {
        StmtId(list.start + n as u32)
    }
}
