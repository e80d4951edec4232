//! The syntax tree: nodes in flat arrays, children by index.

use crate::lexer::Span;
use crate::scalar::Scalar;
use ir::{Space, UnrollHint};

/// An interned name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sym(pub u32);

macro_rules! index {
    ($($(#[$meta:meta])* $name:ident)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name(pub u32);
        impl $name {
            /// Position in its array.
            pub fn at(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

index! {
    /// An expression.
    ExprId
    /// A statement.
    StmtId
    /// A block.
    BlockId
    /// A type as written.
    TypeId
    /// Something that `break` leaves.
    LoopId
    /// A pattern.
    PatId
}

/// Consecutive entries of one of the tree's list pools.
#[derive(Clone, Copy, Debug, Default)]
pub struct List {
    pub start: u32,
    pub len: u32,
}

impl List {
    /// Positions in the pool.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }
}

/// A name with its place.
#[derive(Clone, Copy, Debug)]
pub struct Name {
    pub sym: Sym,
    pub span: Span,
}

/// An enum that has a list of its variants.
macro_rules! listed {
    (pub enum $name:ident { $($variant:ident,)* }) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($variant,)*
        }

        impl $name {
            pub const ALL: &[$name] = &[$($name::$variant,)*];
        }
    };
}

listed! {
    pub enum UnaryOp {
        Neg,
        Not,
    }
}

listed! {
    pub enum BinaryOp {
        Add,
        Sub,
        Mul,
        Div,
        Rem,
        And,
        Or,
        Xor,
        Shl,
        Shr,
        Eq,
        Ne,
        Lt,
        Le,
        Gt,
        Ge,
        AndAnd,
        OrOr,
    }
}

impl UnaryOp {
    /// As written.
    pub fn text(self) -> &'static str {
        match self {
            UnaryOp::Neg => "-",
            UnaryOp::Not => "!",
        }
    }

    /// Whether it works on this scalar and vectors of it.
    pub fn takes(self, scalar: Scalar) -> bool {
        match self {
            UnaryOp::Neg => scalar.is_float() || scalar.is_signed(),
            UnaryOp::Not => scalar.is_exact(),
        }
    }
}

impl BinaryOp {
    /// Whether it works on this scalar, and but for `&&` and `||` on vectors of it.
    pub fn takes(self, scalar: Scalar) -> bool {
        use BinaryOp::*;
        match self {
            Shl | Shr => scalar.is_int(),
            And | Or | Xor => scalar.is_exact(),
            Eq | Ne => scalar != Scalar::Bf16,
            AndAnd | OrOr => scalar == Scalar::Bool,
            _ => scalar.is_number(),
        }
    }

    pub fn is_comparison(self) -> bool {
        use BinaryOp::*;
        matches!(self, Eq | Ne | Lt | Le | Gt | Ge)
    }

    pub fn is_shift(self) -> bool {
        matches!(self, BinaryOp::Shl | BinaryOp::Shr)
    }

    pub fn is_logic(self) -> bool {
        matches!(self, BinaryOp::AndAnd | BinaryOp::OrOr)
    }

    /// As written.
    pub fn text(self) -> &'static str {
        use BinaryOp::*;
        match self {
            Add => "+",
            Sub => "-",
            Mul => "*",
            Div => "/",
            Rem => "%",
            And => "&",
            Or => "|",
            Xor => "^",
            Shl => "<<",
            Shr => ">>",
            Eq => "==",
            Ne => "!=",
            Lt => "<",
            Le => "<=",
            Gt => ">",
            Ge => ">=",
            AndAnd => "&&",
            OrOr => "||",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub enum ExprKind {
    /// A parse error was reported here.
    Error,
    Int {
        value: u64,
        suffix: Option<Scalar>,
    },
    /// Both roundings of the text: one of `f64` to `f32` would round twice.
    Float {
        wide: f64,
        narrow: f32,
        suffix: Option<Scalar>,
    },
    Bool(bool),
    /// A text with its quotes, as it is written.
    Str(Sym),
    Name(Sym),
    Unary(UnaryOp, ExprId),
    Binary(BinaryOp, ExprId, ExprId),
    Deref(ExprId),
    AddrOf(ExprId),
    Cast(ExprId, TypeId),
    /// A function, a built-in or a vector constructor.
    Call {
        callee: Name,
        args: List,
        /// What stands between `::<` and `>`, a range of [`Ast::generic_args`].
        given: List,
    },
    /// A call through a value: `(s.f)(x)`, `table[i](x)`.
    CallValue {
        callee: ExprId,
        args: List,
    },
    Index(ExprId, ExprId),
    Field(ExprId, Name),
    Array(List),
    Repeat(ExprId, ExprId),
    /// `(a, b)`, and `()`.
    Tuple(List),
    /// `T::MAX` of a type that has another name.
    TypeConst(Name, Sym),
    /// Fields are a range of [`Ast::inits`].
    Struct(Name, List),
    /// `if … else if … else …`: the arms, a range of [`Ast::if_arms`], and what the last `else` has.
    If {
        arms: List,
        otherwise: Option<BlockId>,
    },
    /// Arms are a range of [`Ast::match_arms`].
    Match {
        value: ExprId,
        arms: List,
    },
    Block(BlockId),
    /// `loop { … }`: its value is that of its `break`s.
    Loop(LoopId, BlockId),
    /// `'a: { … }`: its value is that of its end and of its `break`s.
    Labelled(LoopId, BlockId),
}

/// `if cond then`, the one at the head or one behind `else`.
#[derive(Clone, Copy, Debug)]
pub struct IfArm {
    /// Of the `if`.
    pub span: Span,
    pub cond: ExprId,
    pub then: BlockId,
}

/// `pattern if guard => body`.
#[derive(Clone, Copy, Debug)]
pub struct MatchArm {
    pub pattern: PatId,
    pub guard: Option<ExprId>,
    pub body: BlockId,
}

#[derive(Clone, Copy, Debug)]
pub enum PatKind {
    /// `_`
    Any,
    /// `..` among the parts of a tuple, an array or a struct: those that are not named.
    Rest,
    /// A new variable; in a `match` it may also be the name of a constant, which `value` is.
    Name { mutable: bool, name: Name, value: Option<ExprId> },
    /// A constant.
    Value(ExprId),
    /// `first..=last`, `first..last`; either may be left out.
    Range { first: Option<ExprId>, last: Option<ExprId>, inclusive: bool },
    /// `(a, b)`, a range of [`Ast::patterns_pool`].
    Tuple(List),
    /// `[a, b]`
    Array(List),
    /// `S { a, b: p }`: a list of [`PatKind::Field`] and [`PatKind::Rest`].
    Struct { name: Name, fields: List },
    /// A field of a struct with the pattern for it.
    Field { name: Name, part: PatId },
    /// `a | b`
    Or(List),
}

impl PatKind {
    /// The parts that a pattern takes a value apart into.
    pub fn parts(self) -> Option<List> {
        match self {
            PatKind::Tuple(list) | PatKind::Array(list) | PatKind::Struct { fields: list, .. } => Some(list),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    pub kind: PatKind,
    pub span: Span,
    pub height: u16,
}

#[derive(Clone, Copy, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
    /// Height of the tree under it, so that recursion over it is bounded. A chain of binary operators (the left
    /// operands of left operands) counts as one level, as do the arms of an `if`: these are walked in loops.
    pub height: u16,
}

/// `name: value` in a struct literal.
#[derive(Clone, Copy, Debug)]
pub struct FieldInit {
    pub name: Name,
    pub value: ExprId,
}

#[derive(Clone, Copy, Debug)]
pub enum StmtKind {
    Let {
        pattern: PatId,
        ty: Option<TypeId>,
        init: Option<ExprId>,
    },
    /// `shared name: T;` in a body.
    Shared {
        dynamic: bool,
        name: Name,
        ty: TypeId,
    },
    /// `const N: T = e;` in a body.
    Const {
        name: Name,
        ty: TypeId,
        value: ExprId,
    },
    Expr(ExprId),
    /// `static_assert(cond, "message");`
    StaticAssert {
        cond: ExprId,
        message: Option<Sym>,
    },
    Assign {
        op: Option<BinaryOp>,
        place: ExprId,
        value: ExprId,
    },
    While {
        head: LoopId,
        cond: ExprId,
        body: BlockId,
    },
    For {
        head: LoopId,
        var: Name,
        from: ExprId,
        to: ExprId,
        inclusive: bool,
        step: Option<ExprId>,
        body: BlockId,
    },
    Break {
        label: Option<Name>,
        value: Option<ExprId>,
    },
    Continue(Option<Name>),
    Return(Option<ExprId>),
}

/// What stands in front of a loop or a labelled block.
#[derive(Clone, Copy, Debug)]
pub struct LoopHead {
    pub label: Option<Name>,
    pub unroll: UnrollHint,
}

#[derive(Clone, Copy, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// A range of [`Ast::stmts`].
    pub stmts: List,
    /// Value of the block.
    pub tail: Option<ExprId>,
    pub span: Span,
    pub height: u16,
}

#[derive(Clone, Copy, Debug)]
pub enum TypeKind {
    Name(Sym),
    /// `write_only image2d`.
    Opaque(ir::Access, Sym),
    Array(TypeId, ExprId),
    /// `(A, B)`, a range of [`Ast::types_pool`].
    Tuple(List),
    /// `fn(A, B) -> R`; the parameters are a range of [`Ast::types_pool`].
    Function {
        params: List,
        result: Option<TypeId>,
    },
    /// `[T]`, only of `shared dyn` variables.
    Unsized(TypeId),
    Pointer {
        space: Option<Space>,
        is_const: bool,
        is_volatile: bool,
        is_restrict: bool,
        to: TypeId,
    },
}

#[derive(Clone, Copy, Debug)]
pub struct TypeNode {
    pub kind: TypeKind,
    pub span: Span,
}

/// `#[name(args)]`.
#[derive(Clone, Copy, Debug)]
pub struct Attr {
    pub name: Name,
    /// A range of [`Ast::exprs_pool`].
    pub args: List,
    pub span: Span,
}

#[derive(Clone, Copy, Debug)]
pub struct Param {
    pub name: Name,
    /// Declared with `mut`; fields of structs never are.
    pub mutable: bool,
    pub ty: TypeId,
}

/// `T: Bound` or `const N: u32` of a generic function.
#[derive(Clone, Copy, Debug)]
pub struct Generic {
    pub name: Name,
    pub bound: Option<Name>,
    /// Of a constant.
    pub ty: Option<TypeId>,
}

/// What stands for one of these in a call; a name may be either.
#[derive(Clone, Copy, Debug)]
pub struct GenericArg {
    pub ty: Option<TypeId>,
    pub value: Option<ExprId>,
    pub span: Span,
}

/// How far the lists of a tree have been filled.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extent {
    pub exprs: usize,
    pub stmts: usize,
    pub types: usize,
    pub patterns: usize,
    pub loops: usize,
}

/// A generic function: its parameters, a range of [`Ast::generics`], and the part of the tree that it is.
#[derive(Clone, Copy, Debug)]
pub struct GenericFn {
    pub params: List,
    pub from: Extent,
    pub to: Extent,
}

#[derive(Clone, Copy, Debug)]
pub enum ItemKind {
    Fn {
        /// Index into [`Ast::generic_fns`].
        generic: Option<u32>,
        kernel: bool,
        params: List,
        result: Option<TypeId>,
        /// None of an `extern fn`.
        body: Option<BlockId>,
    },
    Struct {
        /// A range of [`Ast::params`].
        fields: List,
    },
    Const {
        /// `param`: the value may come from the command line.
        param: bool,
        ty: TypeId,
        value: ExprId,
    },
    /// `static_assert(cond, "message");`, named by that word.
    StaticAssert { cond: ExprId, message: Option<Sym> },
    Static {
        /// `extern`: another object has it.
        external: bool,
        space: Space,
        dynamic: bool,
        ty: TypeId,
        value: Option<ExprId>,
    },
}

#[derive(Clone, Copy, Debug)]
pub struct Item {
    pub kind: ItemKind,
    pub name: Name,
    /// A range of [`Ast::attrs`].
    pub attrs: List,
}

/// A source file.
#[derive(Default)]
pub struct Ast<'a> {
    pub items: Vec<Item>,
    pub exprs: Vec<Expr>,
    pub stmts: Vec<Stmt>,
    pub blocks: Vec<Block>,
    pub types: Vec<TypeNode>,
    pub attrs: Vec<Attr>,
    pub params: Vec<Param>,
    pub inits: Vec<FieldInit>,
    pub if_arms: Vec<IfArm>,
    pub match_arms: Vec<MatchArm>,
    pub patterns: Vec<Pattern>,
    pub loops: Vec<LoopHead>,
    /// Argument lists.
    pub exprs_pool: Vec<ExprId>,
    pub patterns_pool: Vec<PatId>,
    pub types_pool: Vec<TypeId>,
    pub generics: Vec<Generic>,
    pub generic_args: Vec<GenericArg>,
    pub generic_fns: Vec<GenericFn>,
    /// Where the generic functions are.
    pub generic_spans: Vec<Span>,
    /// Where nothing is warned of: `#[allow(name)]`, or without a name what is no part of the program.
    pub quiet: Vec<(Span, Option<Sym>)>,
    /// What was not read because of mistakes.
    pub skipped: Vec<Span>,
    /// Text of each [`Sym`].
    pub names: Vec<&'a str>,
}

impl<'a> Ast<'a> {
    /// The tree without anything, for another source, in the same memory.
    pub fn renew<'b>(self) -> Ast<'b> {
        fn emptied<T>(mut list: Vec<T>) -> Vec<T> {
            list.clear();
            list
        }
        Ast {
            items: emptied(self.items),
            exprs: emptied(self.exprs),
            stmts: emptied(self.stmts),
            blocks: emptied(self.blocks),
            types: emptied(self.types),
            attrs: emptied(self.attrs),
            params: emptied(self.params),
            inits: emptied(self.inits),
            if_arms: emptied(self.if_arms),
            match_arms: emptied(self.match_arms),
            patterns: emptied(self.patterns),
            loops: emptied(self.loops),
            exprs_pool: emptied(self.exprs_pool),
            patterns_pool: emptied(self.patterns_pool),
            types_pool: emptied(self.types_pool),
            generics: emptied(self.generics),
            generic_args: emptied(self.generic_args),
            generic_fns: emptied(self.generic_fns),
            generic_spans: emptied(self.generic_spans),
            quiet: emptied(self.quiet),
            skipped: emptied(self.skipped),
            // Collecting what was a list of the same layout takes its memory.
            names: emptied(self.names).into_iter().map(|_| "").collect(),
        }
    }

    pub fn expr(&self, id: ExprId) -> &Expr {
        &self.exprs[id.at()]
    }

    pub fn span(&self, id: ExprId) -> Span {
        self.exprs[id.at()].span
    }

    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.at()]
    }

    pub fn loop_head(&self, id: LoopId) -> LoopHead {
        self.loops[id.at()]
    }

    /// Whether what is assigned to is not one place: a tuple of them, or `_`.
    pub fn is_parts(&self, place: ExprId) -> bool {
        match self.expr(place).kind {
            ExprKind::Tuple(_) => true,
            ExprKind::Name(sym) => self.name(sym) == "_",
            _ => false,
        }
    }

    /// Whether it is a number as written, with a minus or without.
    pub fn is_number(&self, id: ExprId) -> bool {
        match self.expr(id).kind {
            ExprKind::Unary(UnaryOp::Neg, inner) => matches!(self.expr(inner).kind, ExprKind::Int { .. }),
            kind => matches!(kind, ExprKind::Int { .. } | ExprKind::Float { .. }),
        }
    }

    pub fn extent(&self) -> Extent {
        Extent {
            exprs: self.exprs.len(),
            stmts: self.stmts.len(),
            types: self.types.len(),
            patterns: self.patterns.len(),
            loops: self.loops.len(),
        }
    }

    pub fn pattern(&self, id: PatId) -> &Pattern {
        &self.patterns[id.at()]
    }

    pub fn type_node(&self, id: TypeId) -> &TypeNode {
        &self.types[id.at()]
    }

    pub fn name(&self, sym: Sym) -> &'a str {
        self.names[sym.0 as usize]
    }

    /// Expressions of an argument list.
    pub fn list(&self, list: List) -> &[ExprId] {
        &self.exprs_pool[list.range()]
    }
}
