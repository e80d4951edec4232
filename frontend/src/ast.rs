//! The syntax tree. Nodes are stored in flat arrays and refer to their children by index.

use crate::lexer::Span;
use crate::scalar::Scalar;
use ir::{Space, UnrollHint};

/// An interned name: the index of its text in [`Ast::names`]. Equal names have equal indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sym(pub u32);

macro_rules! index {
    ($($(#[$meta:meta])* $name:ident)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name(pub u32);
        impl $name {
            /// Returns the index of the node in its array of the tree.
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
    /// A type as the source writes it. The checker resolves it to a [`crate::types::Ty`].
    TypeId
    /// A loop or a labelled block, that is, a statement that `break` can leave.
    LoopId
    /// A pattern.
    PatId
}

/// A range of consecutive entries in one of the syntax tree's pools. A pool is a vector with the children of
/// all nodes, such as [`Ast::exprs_pool`].
#[derive(Clone, Copy, Debug, Default)]
pub struct List {
    pub start: u32,
    pub len: u32,
}

impl List {
    /// Returns the range of indices in the pool.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }
}

/// A name with its position in the source.
#[derive(Clone, Copy, Debug)]
pub struct Name {
    pub sym: Sym,
    pub span: Span,
}

/// Defines an enum of operators together with the constant `ALL`, a list of all its variants.
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
    /// Returns the operator as written in the source.
    pub fn text(self) -> &'static str {
        match self {
            UnaryOp::Neg => "-",
            UnaryOp::Not => "!",
        }
    }

    /// Returns whether the unary operator accepts operands of this scalar type and vectors of it.
    pub fn takes(self, scalar: Scalar) -> bool {
        match self {
            UnaryOp::Neg => scalar.is_float() || scalar.is_signed(),
            UnaryOp::Not => scalar.is_exact(),
        }
    }
}

impl BinaryOp {
    /// Returns whether the binary operator accepts operands of this scalar type and (except for `&&` and
    /// `||`) vectors of it.
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

    /// Returns the operator as written in the source.
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
    /// Placeholder for an expression with a reported parse error.
    Error,
    Int {
        value: u64,
        suffix: Option<Scalar>,
    },
    /// The literal rounded to `f64` and to `f32`. Both are kept because rounding the `f64` to `f32` would
    /// round twice.
    Float {
        wide: f64,
        narrow: f32,
        suffix: Option<Scalar>,
    },
    Bool(bool),
    /// A string literal as written, with its quotes.
    Str(Sym),
    Name(Sym),
    Unary(UnaryOp, ExprId),
    Binary(BinaryOp, ExprId, ExprId),
    Deref(ExprId),
    AddrOf(ExprId),
    Cast(ExprId, TypeId),
    /// A call of a function, a built-in function or a vector constructor, which the source names directly.
    Call {
        callee: Name,
        args: List,
        /// The generic arguments that the source writes between `::<` and `>`, as a range of
        /// [`Ast::generic_args`]. Empty if the call has none.
        given: List,
    },
    /// A call of a function pointer that an expression yields: `(s.f)(x)`, `table[i](x)`.
    CallValue {
        callee: ExprId,
        args: List,
    },
    Index(ExprId, ExprId),
    Field(ExprId, Name),
    Array(List),
    Repeat(ExprId, ExprId),
    /// `(a, b)` or the empty tuple `()`.
    Tuple(List),
    /// A constant of a type, such as `T::MAX`: the type's name and the constant's name.
    TypeConst(Name, Sym),
    /// A struct literal. The fields are a range of [`Ast::inits`].
    Struct(Name, List),
    /// `if … else if … else …`. `arms` is a range of [`Ast::if_arms`] with the conditions and their blocks.
    /// `otherwise` is the block after the last `else`.
    If {
        arms: List,
        otherwise: Option<BlockId>,
    },
    /// A `match`. The arms are a range of [`Ast::match_arms`].
    Match {
        value: ExprId,
        arms: List,
    },
    Block(BlockId),
    /// `loop { … }`. Its value comes from its `break`s.
    Loop(LoopId, BlockId),
    /// Labelled block `'a: { … }`. Its value is that of its last expression or of the `break` that leaves it.
    Labelled(LoopId, BlockId),
}

/// A condition with its block: `if cond { … }` at the start of an `if` or after an `else`.
#[derive(Clone, Copy, Debug)]
pub struct IfArm {
    /// Position of the keyword `if`.
    pub span: Span,
    pub cond: ExprId,
    pub then: BlockId,
}

/// An arm of a `match`: `pattern if guard => body`.
#[derive(Clone, Copy, Debug)]
pub struct MatchArm {
    pub pattern: PatId,
    pub guard: Option<ExprId>,
    pub body: BlockId,
}

#[derive(Clone, Copy, Debug)]
pub enum PatKind {
    /// The pattern `_`, which matches every value and declares no variable.
    Any,
    /// `..` in a tuple, array or struct pattern: matches all elements or fields that the pattern does not
    /// list.
    Rest,
    /// A name in a pattern. It declares a new variable, but in a `match` it may also refer to a constant. For
    /// this case, `value` has the name as an expression.
    Name { mutable: bool, name: Name, value: Option<ExprId> },
    /// A constant, which the value must equal.
    Value(ExprId),
    /// `first..=last` or `first..last`. Either end may be absent.
    Range { first: Option<ExprId>, last: Option<ExprId>, inclusive: bool },
    /// A tuple pattern `(a, b)`. The sub-patterns are a range of [`Ast::patterns_pool`].
    Tuple(List),
    /// An array pattern `[a, b]`. The sub-patterns are a range of [`Ast::patterns_pool`].
    Array(List),
    /// A struct pattern `S { a, b: p }`. The fields are a range of [`Ast::patterns_pool`] with patterns of
    /// the kinds [`PatKind::Field`] and [`PatKind::Rest`].
    Struct { name: Name, fields: List },
    /// A field of a struct with the pattern that the field must match.
    Field { name: Name, part: PatId },
    /// A pattern `a | b`, which matches if one of its alternatives does. These are a range of
    /// [`Ast::patterns_pool`].
    Or(List),
}

impl PatKind {
    /// Returns the sub-patterns of a tuple, array or struct pattern.
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
    /// Height of the expression tree below this node. The parser limits the height, so that recursion over
    /// the tree cannot overflow the stack. A chain of binary operators such as `a + b + c` counts as one
    /// level, because a loop walks the chain. The arms of an `if` also count as one level, for the same
    /// reason.
    pub height: u16,
}

/// A field of a struct literal: `name: value`.
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
    /// Declaration of a `shared` variable in a body: `shared name: T;`.
    Shared {
        dynamic: bool,
        name: Name,
        ty: TypeId,
    },
    /// Declaration of a constant in a body: `const N: T = e;`.
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

/// The optional parts that precede the keyword of a loop or the brace of a labelled block: a label and an
/// unroll hint.
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
    /// Expression at the end that gives the block its value.
    pub tail: Option<ExprId>,
    pub span: Span,
    pub height: u16,
}

#[derive(Clone, Copy, Debug)]
pub enum TypeKind {
    Name(Sym),
    /// An opaque type of a kernel parameter, such as `write_only image2d`: the access qualifier and the
    /// type's name. The kernel cannot read or write the contents of such a parameter directly.
    Opaque(ir::Access, Sym),
    Array(TypeId, ExprId),
    /// The tuple type `(A, B)`. The element types are a range of [`Ast::types_pool`].
    Tuple(List),
    /// The function type `fn(A, B) -> R`. The parameter types are a range of [`Ast::types_pool`].
    Function {
        params: List,
        result: Option<TypeId>,
    },
    /// The type `[T]` of an array without a length, which is allowed only for `shared dyn` variables.
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

/// An attribute `#[name(args)]`.
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
    /// Whether the parameter is declared with `mut`. Fields of structs are stored in this type, too, and for
    /// a field the flag is false.
    pub mutable: bool,
    pub ty: TypeId,
}

/// A generic parameter in the declaration of a function: `T: Bound` or `const N: u32`.
#[derive(Clone, Copy, Debug)]
pub struct Generic {
    pub name: Name,
    pub bound: Option<Name>,
    /// Type of a `const` parameter; `None` for a type parameter.
    pub ty: Option<TypeId>,
}

/// A generic argument of a call. The parser cannot know whether a plain name means a type or a constant, so
/// it stores such a name both as `ty` and as `value`.
#[derive(Clone, Copy, Debug)]
pub struct GenericArg {
    pub ty: Option<TypeId>,
    pub value: Option<ExprId>,
    pub span: Span,
}

/// The lengths of the syntax tree's lists at one moment during parsing. Two of these snapshots, taken before
/// and after an item is parsed, delimit the item's nodes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extent {
    pub exprs: usize,
    pub stmts: usize,
    pub types: usize,
    pub patterns: usize,
    pub loops: usize,
}

/// A generic function. Its parameters are a range of [`Ast::generics`]. Its syntax-tree nodes are those that
/// were added to the tree between `from` and `to`.
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
        /// Body of the function; `None` for an `extern fn`.
        body: Option<BlockId>,
    },
    Struct {
        /// A range of [`Ast::params`].
        fields: List,
    },
    Const {
        /// Whether the constant is a `param`, whose value may come from the command line.
        param: bool,
        ty: TypeId,
        value: ExprId,
    },
    /// The item `static_assert(cond, "message");`. It has no name of its own, so the field for the name has
    /// the word `static_assert`.
    StaticAssert { cond: ExprId, message: Option<Sym> },
    Static {
        /// Whether the variable is `extern`, that is, defined in another object.
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

/// The syntax tree of a program.
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
    /// Pool of the lists of expressions, such as the arguments of calls.
    pub exprs_pool: Vec<ExprId>,
    pub patterns_pool: Vec<PatId>,
    pub types_pool: Vec<TypeId>,
    pub generics: Vec<Generic>,
    pub generic_args: Vec<GenericArg>,
    pub generic_fns: Vec<GenericFn>,
    /// Positions of the generic functions in the source.
    pub generic_spans: Vec<Span>,
    /// Source ranges in which warnings are suppressed. A range with a name comes from `#[allow(name)]` and
    /// suppresses the warning of that name. A range without a name suppresses all warnings: it is code that
    /// is not part of the program, for example because of `#[cfg]`.
    pub quiet: Vec<(Span, Option<Sym>)>,
    /// Source ranges that the parser skipped because of syntax errors.
    pub skipped: Vec<Span>,
    /// Text of each [`Sym`].
    pub names: Vec<&'a str>,
}

impl<'a> Ast<'a> {
    /// Returns an empty tree for another source text. The new tree reuses the memory of this tree.
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
            // The names borrowed from the old source text, so the vector needs a type with another lifetime.
            // Collecting the emptied vector into a vector of elements of the same layout reuses its memory.
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

    /// Returns whether the left-hand side of an assignment is a tuple of assignable expressions, or `_`,
    /// which discards the value. Returns false for a single assignable expression.
    pub fn is_parts(&self, place: ExprId) -> bool {
        match self.expr(place).kind {
            ExprKind::Tuple(_) => true,
            ExprKind::Name(sym) => self.name(sym) == "_",
            _ => false,
        }
    }

    /// Returns whether the expression is a number literal, with or without a minus sign. (Only integers may
    /// have the minus sign.)
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

    /// Returns the expressions of an argument list.
    pub fn list(&self, list: List) -> &[ExprId] {
        &self.exprs_pool[list.range()]
    }
}
