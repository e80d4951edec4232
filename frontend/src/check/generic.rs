//! Checks generic functions. Each combination of types and constants that calls ask for becomes an instance,
//! a function of its own.
//!
//! A generic function is in the syntax tree only once, and the checker's tables are indexed by nodes of the
//! tree. All instances of the function are therefore checked in the same part of the tables. Each instance
//! keeps a copy of that part. Lowering copies it back into the tables when it lowers the instance.
//!
//! Before any instance is made, each generic function is checked with sample types that its bounds allow.
//! Most mistakes are therefore reported once, at the definition.

use super::{Binding, Checked, Checker, ConstItem, FragmentBits, PatRes, Res};
use crate::ast::{ExprId, ExprKind, Extent, GenericFn, ItemKind, List, Name, Sym, TypeId, TypeKind};
use crate::diag::Diagnostic;
use crate::lexer::Span;
use crate::parser::constants;
use crate::scalar::Scalar;
use crate::types::{Parts, Ty, TyKind};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// The largest number of instances in a program. An instance is a generic function with concrete arguments. A
/// program with more instances most likely instantiates functions without end.
const MAX_INSTANCES: usize = 1000;
/// Value of each `const` parameter while the definition of a generic function is checked. The values that
/// calls will give are not known then.
const SAMPLE_CONSTANT: u64 = 61;
/// Codes of errors that the value of a constant can cause. When a generic function is checked with sample
/// arguments, its constants have arbitrary values, so these errors are not reported.
const OF_CONSTANTS: [&str; 8] = ["E0003", "E0044", "E0070", "E0071", "E0072", "E0075", "E0086", "E0090"];

/// A bound on a generic parameter. It consists of its name, a test whether the bound allows a scalar type,
/// and sample types. With the sample types, a generic function is checked before any call uses it.
pub type Bound = (&'static str, fn(Scalar) -> bool, &'static [Scalar]);

pub static BOUNDS: [Bound; 5] = [
    ("Number", Scalar::is_number, &[Scalar::U32, Scalar::I32, Scalar::F32]),
    ("Int", Scalar::is_int, &[Scalar::U32, Scalar::I32]),
    ("Float", Scalar::is_float, &[Scalar::F32]),
    (
        "Signed",
        |scalar| scalar.is_float() || (scalar.is_int() && scalar.is_signed()),
        &[Scalar::I32, Scalar::F32],
    ),
    ("Unsigned", |scalar| scalar.is_int() && !scalar.is_signed(), &[Scalar::U32]),
];

/// A generic argument: what a parameter of a generic function stands for in an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arg {
    Type(Ty),
    /// Bits of the constant, encoded as in [`ConstItem`].
    Const(u64),
}

type Args = SmallVec<[Arg; 4]>;
/// The generic arguments of a call as far as they are inferred. `None` stands for an argument that is still
/// unknown.
type Known = SmallVec<[Option<Arg>; 4]>;

/// An instance of a generic function: the generic arguments, and a copy of the entries in the checker's
/// tables for the function's syntax-tree nodes. All instances of a function share these nodes, so each keeps
/// its own copy.
#[derive(Debug)]
pub struct Instance {
    item: u32,
    args: Args,
    from: Extent,
    expr_ty: Vec<Ty>,
    res: Vec<Res>,
    stmt_decl: Vec<u32>,
    loop_assigned: Vec<List>,
    patterns: Vec<PatRes>,
}

impl Checked {
    /// Copies the entries of the checker's tables for the nodes of a generic function into the instance.
    fn save(&mut self, instance: usize, GenericFn { from, to, .. }: GenericFn) {
        let expr_ty = self.expr_ty[from.exprs..to.exprs].to_vec();
        let res = self.res[from.exprs..to.exprs].to_vec();
        let stmt_decl = self.stmt_decl[from.stmts..to.stmts].to_vec();
        let loop_assigned = self.loop_assigned[from.loops..to.loops].to_vec();
        let patterns = self.patterns[from.patterns..to.patterns].to_vec();
        let Instance { item, ref args, .. } = self.instances[instance];
        let args = args.clone();
        self.instances[instance] =
            Instance { item, args, from, expr_ty, res, stmt_decl, loop_assigned, patterns };
    }

    /// Copies the entries that an instance has saved into the checker's tables again, because lowering reads
    /// the tables when it lowers the instance.
    pub fn restore(&mut self, instance: u32) {
        fn put<T: Copy>(to: &mut [T], at: usize, from: &[T]) {
            to[at..at + from.len()].copy_from_slice(from);
        }
        let Instance { from, expr_ty, res, stmt_decl, loop_assigned, patterns, .. } =
            &self.instances[instance as usize];
        put(&mut self.expr_ty, from.exprs, expr_ty);
        put(&mut self.res, from.exprs, res);
        put(&mut self.stmt_decl, from.stmts, stmt_decl);
        put(&mut self.loop_assigned, from.loops, loop_assigned);
        put(&mut self.patterns, from.patterns, patterns);
    }
}

/// A call of a generic function whose generic arguments still depend on literals without a type. The instance
/// that the call needs is created when these types are decided.
struct Pending {
    id: ExprId,
    item: u32,
    args: Args,
    span: Span,
}

#[derive(Default)]
pub(super) struct Generics {
    pending: Vec<Pending>,
    /// For each instance, given by the item of the generic function and the arguments: the instance's
    /// function.
    funcs: FxHashMap<(u32, Args), u32>,
    /// Items of generic functions in which a mistake has been reported. Further instances of them are not
    /// checked.
    broken: FxHashSet<u32>,
    /// Whether a generic function is being checked with sample arguments. False while an instance that a call
    /// needs is being checked.
    sampling: bool,
}

impl Generics {
    pub fn clear(&mut self) {
        self.pending.clear();
        self.funcs.clear();
        self.broken.clear();
        self.sampling = false;
    }
}

/// State of a generic call while its arguments are checked.
struct Call {
    item: u32,
    def: GenericFn,
    known: Known,
}

impl Checker<'_, '_> {
    fn generic_fn(&self, item: u32) -> (GenericFn, List, Option<TypeId>) {
        match self.ast.items[item as usize].kind {
            ItemKind::Fn { generic: Some(n), params, result, .. } => {
                (self.ast.generic_fns[n as usize], params, result)
            }
            _ => unreachable!("bound to a generic function"),
        }
    }

    pub(super) fn call_generic(
        &mut self,
        id: ExprId,
        item: u32,
        callee: Name,
        args: List,
        given: List,
        expect: Ty,
    ) -> Ty {
        let (def, params, result) = self.generic_fn(item);
        if self.s.generics.broken.contains(&item) {
            self.check_all(args);
            return Ty::ERROR;
        }
        if params.len != args.len {
            self.check_all(args);
            let (found, wanted) = (args.len as usize, params.len as usize);
            let declared = self.ast.items[item as usize].name.span;
            self.wrong_count(callee, found, (wanted, wanted), Some(declared));
            return Ty::ERROR;
        }
        let Some(known) = self.explicit_arguments(def, callee, given) else {
            self.check_all(args);
            return Ty::ERROR;
        };
        let mut call = Call { item, def, known };
        let mut fine = true;
        // Arguments that are literals are checked last, because the other arguments and the context decide
        // their types.
        for literals in [false, true] {
            if literals && let Some(result) = result {
                self.infer_scalars(&mut call, result, expect);
            }
            for (param, at) in params.range().zip(args.range()) {
                let arg = self.ast.exprs_pool[at];
                if self.is_of_literals(arg) == literals {
                    fine &= self.argument_of(&mut call, self.ast.params[param].ty, arg);
                }
            }
        }
        if let Some(result) = result {
            self.infer(&mut call, result, expect);
        }
        if !fine {
            return result.map_or(Ty::UNIT, |result| match self.as_far_as_known(&call, result) {
                Ty::NONE => Ty::ERROR,
                ty => ty,
            });
        }
        let Some(args) = call.known.iter().copied().collect::<Option<Args>>() else {
            self.not_inferred(&call, callee);
            return Ty::ERROR;
        };
        let ty = result.map_or(Ty::UNIT, |result| self.as_far_as_known(&call, result));
        self.s.generics.pending.push(Pending { id, item, args, span: callee.span });
        ty
    }

    /// Checks an argument of a call, and infers generic parameters of the called function from the argument's
    /// type. Returns whether the argument has no errors.
    fn argument_of(&mut self, call: &mut Call, node: TypeId, arg: ExprId) -> bool {
        let wanted = self.expected_of(call, node, arg);
        let found = self.expr(arg, wanted);
        if found == Ty::UNIT {
            self.error("E0040", "this has no value", self.ast.span(arg), "nothing to pass");
            return false;
        }
        self.infer(call, node, found);
        let wanted = self.as_far_as_known(call, node);
        found != Ty::ERROR && self.require(arg, found, wanted)
    }

    /// Returns the type that literals in the argument `arg` should get. `node` is the parameter's type in the
    /// declaration. It may contain generic parameters that are not inferred yet.
    fn expected_of(&mut self, call: &Call, node: TypeId, arg: ExprId) -> Ty {
        match (self.ast.type_node(node).kind, self.ast.expr(arg).kind) {
            _ if !self.has_unknown(call, node) => self.as_far_as_known(call, node),
            (TypeKind::Name(sym), _) if self.stands_for_floats(call, sym) => self.s.checked.types.open(true),
            (TypeKind::Tuple(types), ExprKind::Tuple(list)) if types.len == list.len => {
                let parts = types
                    .range()
                    .zip(list.range())
                    .map(|(ty, at)| self.expected_of(call, self.ast.types_pool[ty], self.ast.exprs_pool[at]));
                let parts: Parts = parts.collect();
                self.s.checked.types.tuple(&parts).unwrap_or(Ty::NONE)
            }
            (TypeKind::Array(..), ExprKind::Array(_)) => self.expected_element(call, node, arg),
            // The length of the array does not matter here.
            (TypeKind::Array(element, _), ExprKind::Repeat(value, _)) => {
                let element = self.expected_of(call, element, value);
                self.array_expected(element, 1)
            }
            _ => Ty::NONE,
        }
    }

    /// Returns the type that the elements of an array should have if the array is an argument or a part of
    /// one. Literals in the elements get their types from it. `node` is the element type in the function's
    /// declaration, and `first` is the first element, which decides because all elements have the same type.
    /// An element may be an array itself. If it is a tuple or a repeated array (`[x; n]`), the function
    /// returns `Ty::NONE` unless the inferred generic arguments give the whole type.
    fn expected_element(&mut self, call: &Call, node: TypeId, first: ExprId) -> Ty {
        match (self.ast.type_node(node).kind, self.ast.expr(first).kind) {
            (TypeKind::Tuple(_), _) | (TypeKind::Array(..), ExprKind::Repeat(..)) => {
                self.as_far_as_known(call, node)
            }
            (TypeKind::Array(element, _), ExprKind::Array(list)) if list.len > 0 => {
                let first = self.ast.exprs_pool[list.start as usize];
                let element = self.expected_element(call, element, first);
                self.array_expected(element, list.len)
            }
            _ => self.expected_of(call, node, first),
        }
    }

    fn array_expected(&mut self, element: Ty, len: u32) -> Ty {
        match element {
            Ty::NONE => Ty::NONE,
            element => self.s.checked.types.array(element, len).unwrap_or(Ty::NONE),
        }
    }

    /// Returns whether `sym` names a generic parameter of the called function whose bound allows only floats.
    fn stands_for_floats(&self, call: &Call, sym: Sym) -> bool {
        let generics = &self.ast.generics[call.def.params.range()];
        let bound = generics.iter().find(|generic| generic.name.sym == sym).and_then(|found| found.bound);
        bound.is_some_and(|bound| self.ast.name(bound.sym) == "Float")
    }

    /// Returns whether a value consists only of literals without a suffix, so that nothing has decided its
    /// type yet.
    fn is_of_literals(&self, id: ExprId) -> bool {
        match self.ast.expr(id).kind {
            ExprKind::Array(list) | ExprKind::Tuple(list) => {
                self.ast.list(list).iter().all(|&part| self.is_of_literals(part))
            }
            ExprKind::Repeat(value, _) => self.is_of_literals(value),
            _ => self.untyped(id).is_some(),
        }
    }

    /// Infers generic parameters of the called function from `expect`, the type that the context expects of
    /// the call's result. This type may be a scalar, or an array or tuple of scalars. If it is a vector, a
    /// parameter becomes the vector's element type, which concerns only parameters that literals would decide
    /// otherwise.
    fn infer_scalars(&self, call: &mut Call, node: TypeId, expect: Ty) {
        let types = &self.s.checked.types;
        match (self.ast.type_node(node).kind, types.kind(expect)) {
            (TypeKind::Name(_), TyKind::Scalar(_)) => self.infer(call, node, expect),
            (TypeKind::Name(_), TyKind::Array(of, _)) if types.as_scalar(of).is_some() => {
                self.infer(call, node, expect);
            }
            (TypeKind::Name(_), TyKind::Struct(_)) if types.scalars_of_tuple(expect).is_some() => {
                self.infer(call, node, expect);
            }
            (TypeKind::Name(_), TyKind::Vector(scalar, _)) => self.infer(call, node, Ty::scalar(scalar)),
            (TypeKind::Array(element, _), TyKind::Array(of, _)) => self.infer_scalars(call, element, of),
            (TypeKind::Tuple(list), _) => {
                let parts = types.parts(expect).unwrap_or_default();
                for (n, &part) in list.range().zip(&parts) {
                    self.infer_scalars(call, self.ast.types_pool[n], part);
                }
            }
            _ => {}
        }
    }

    fn not_inferred(&mut self, call: &Call, callee: Name) {
        let generics = &self.ast.generics[call.def.params.range()];
        let open = generics.iter().zip(&call.known).find(|(_, known)| known.is_none());
        let name = open.map_or("T", |(generic, _)| self.ast.name(generic.name.sym));
        let names: Vec<&str> = generics.iter().map(|generic| self.ast.name(generic.name.sym)).collect();
        let text = self.ast.name(callee.sym);
        self.sink.push(
            Diagnostic::error("E0050", format!("`{name}` of `{text}` is not known"))
                .label(callee.span, "no argument says what it is")
                .label_opt(open.map(|(generic, _)| (generic.name.span, "declared here".to_string())))
                .help(format!(
                    "write `{text}::<{}>(…)` with types and constants for these",
                    names.join(", ")
                )),
        );
    }

    /// Checks the explicit arguments between `::<` and `>`.
    fn explicit_arguments(&mut self, def: GenericFn, callee: Name, given: List) -> Option<Known> {
        let ast = self.ast;
        let generics = &ast.generics[def.params.range()];
        let mut known: Known = generics.iter().map(|_| None).collect();
        if given.len == 0 {
            return Some(known);
        }
        if given.len != def.params.len {
            let text = ast.name(callee.sym);
            let (wanted, found) = (def.params.len, given.len);
            let plural = if wanted == 1 { "" } else { "s" };
            let message = format!("`{text}` has {wanted} generic parameter{plural}, found {found}");
            self.error("E0042", message, callee.span, "with `::<…>`");
            return None;
        }
        for (n, arg) in ast.generic_args[given.range()].iter().enumerate() {
            let is_open = arg.ty.is_some_and(|ty| match ast.type_node(ty).kind {
                TypeKind::Name(sym) => ast.name(sym) == "_",
                _ => false,
            });
            if is_open {
                continue;
            }
            known[n] = Some(match (generics[n].ty, arg.ty, arg.value) {
                (None, Some(ty), _) => match self.resolve(ty) {
                    Ty::ERROR => return None,
                    ty => Arg::Type(ty),
                },
                (Some(of), _, Some(value)) => {
                    let of = self.at_top(|c| c.resolve(of));
                    Arg::Const(self.constant_of_type(value, of)?.first().copied()?)
                }
                (wanted, ..) => {
                    let what = if wanted.is_some() { "a constant" } else { "a type" };
                    let name = ast.name(generics[n].name.sym);
                    self.error(
                        "E0042",
                        format!("`{name}` stands for {what}"),
                        arg.span,
                        format!("not {what}"),
                    );
                    return None;
                }
            });
        }
        Some(known)
    }

    /// Infers generic parameters of the called function. `node` is the type of a parameter as written in the
    /// function's declaration, and `found` is the type of the argument.
    fn infer(&self, call: &mut Call, node: TypeId, found: Ty) {
        let position =
            |sym: Sym| self.ast.generics[call.def.params.range()].iter().position(|g| g.name.sym == sym);
        let nothing = matches!(found, Ty::ERROR | Ty::NEVER | Ty::UNIT | Ty::NONE);
        match (self.ast.type_node(node).kind, self.s.checked.types.kind(found)) {
            _ if nothing => {}
            (TypeKind::Name(sym), _) => {
                if let Some(n) = position(sym) {
                    call.known[n] = call.known[n].or(Some(Arg::Type(found)));
                }
            }
            (TypeKind::Array(element, length), TyKind::Array(of, count)) => {
                if let ExprKind::Name(sym) = self.ast.expr(length).kind
                    && let Some(n) = position(sym)
                {
                    call.known[n] = call.known[n].or(Some(Arg::Const(count.into())));
                }
                self.infer(call, element, of);
            }
            (TypeKind::Pointer { to, .. }, TyKind::Pointer(pointer)) => self.infer(call, to, pointer.to),
            (TypeKind::Function { params, result }, TyKind::Function(index)) => {
                let found = &self.s.checked.types.functions[index as usize];
                for (n, &param) in params.range().zip(&found.params) {
                    self.infer(call, self.ast.types_pool[n], param);
                }
                if let Some(node) = result {
                    self.infer(call, node, found.result);
                }
            }
            (TypeKind::Tuple(list), _) => {
                let parts = self.s.checked.types.parts(found).unwrap_or_default();
                for (n, &part) in list.range().zip(&parts) {
                    self.infer(call, self.ast.types_pool[n], part);
                }
            }
            _ => {}
        }
    }

    /// Returns the type that `node` means for this call. `node` is a type written in the declaration of the
    /// called function, in which generic parameters are replaced by the inferred arguments. Returns
    /// `Ty::NONE` if one of these arguments is unknown.
    fn as_far_as_known(&mut self, call: &Call, node: TypeId) -> Ty {
        if self.has_unknown(call, node) {
            return Ty::NONE;
        }
        let Call { item, ref known, .. } = *call;
        self.at_top(|c| {
            c.bind_args(item, known);
            c.resolve(node)
        })
    }

    fn has_unknown(&self, call: &Call, node: TypeId) -> bool {
        match self.ast.type_node(node).kind {
            TypeKind::Name(sym) => self.is_unknown(call, sym),
            TypeKind::Array(element, length) => {
                self.has_unknown(call, element) || self.has_unknown_constant(call, length)
            }
            TypeKind::Tuple(list) => {
                self.ast.types_pool[list.range()].iter().any(|&part| self.has_unknown(call, part))
            }
            TypeKind::Pointer { to, .. } => self.has_unknown(call, to),
            TypeKind::Function { params, result } => {
                let mut all = self.ast.types_pool[params.range()].iter().copied().chain(result);
                all.any(|node| self.has_unknown(call, node))
            }
            TypeKind::Unsized(element) => self.has_unknown(call, element),
            TypeKind::Opaque(..) => false,
        }
    }

    fn is_unknown(&self, call: &Call, sym: Sym) -> bool {
        let mut generics = self.ast.generics[call.def.params.range()].iter().zip(&call.known);
        generics.any(|(generic, known)| generic.name.sym == sym && known.is_none())
    }

    fn has_unknown_constant(&self, call: &Call, id: ExprId) -> bool {
        match self.ast.expr(id).kind {
            ExprKind::Name(sym) => self.is_unknown(call, sym),
            ExprKind::Binary(_, a, b) => {
                self.has_unknown_constant(call, a) || self.has_unknown_constant(call, b)
            }
            ExprKind::Unary(_, inner) | ExprKind::Cast(inner, _) => self.has_unknown_constant(call, inner),
            ExprKind::Call { args, .. } => {
                self.ast.list(args).iter().any(|&arg| self.has_unknown_constant(call, arg))
            }
            _ => false,
        }
    }

    /// Runs `f` with the names that are visible outside of functions. The local names of the function that is
    /// being checked are hidden for this time and restored afterwards.
    fn at_top<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        let mark = self.s.shadowed.len();
        let swap = |c: &mut Self, n: usize| {
            let (name, binding) = &mut c.s.shadowed[n];
            std::mem::swap(&mut c.s.bindings[name.0 as usize], binding);
        };
        (0..mark).rev().for_each(|n| swap(self, n));
        let result = f(self);
        self.close_scope(mark);
        (0..mark).for_each(|n| swap(self, n));
        result
    }

    /// Binds the names of a generic function's parameters to the arguments `known`. Clears the cached types
    /// of the function's nodes, because these depend on the arguments that were bound before.
    fn bind_args(&mut self, item: u32, known: &[Option<Arg>]) {
        let (def, ..) = self.generic_fn(item);
        self.s.type_cache[def.from.types..def.to.types].fill(None);
        for (n, known) in def.params.range().zip(known) {
            let generic = self.ast.generics[n];
            let binding = match (*known, generic.ty) {
                (Some(Arg::Const(bits)), Some(of)) => {
                    let ty = self.resolve(of);
                    let value = FragmentBits::from_slice(&[bits]);
                    self.s.checked.consts.push(ConstItem { name: generic.name.sym, ty, value });
                    Binding::Const(self.s.checked.consts.len() as u32 - 1)
                }
                (Some(Arg::Type(ty)), _) => Binding::Type(ty),
                _ => continue,
            };
            self.bind(generic.name.sym, binding);
        }
    }

    /// Creates the instances for all pending calls whose argument types have been decided.
    pub(super) fn make_instances(&mut self) {
        for pending in std::mem::take(&mut self.s.generics.pending) {
            self.make_instance(pending);
        }
    }

    #[inline(never)]
    fn make_instance(&mut self, Pending { id, item, mut args, span }: Pending) {
        for arg in &mut args {
            if let Arg::Type(ty) = arg {
                *ty = self.s.checked.types.without_open_types(*ty).unwrap_or(Ty::ERROR);
            }
        }
        if !self.meets_bounds(item, &args, span) || self.s.generics.sampling {
            return;
        }
        if let Some(func) = self.instance(item, args, span) {
            self.s.checked.res[id.at()] = Res::Func(func);
        }
    }

    fn meets_bounds(&mut self, item: u32, args: &[Arg], span: Span) -> bool {
        let (def, ..) = self.generic_fn(item);
        for (generic, arg) in self.ast.generics[def.params.range()].iter().zip(args) {
            let (Some(bound), &Arg::Type(ty)) = (generic.bound, arg) else { continue };
            let Some(row) = BOUNDS.iter().find(|row| row.0 == self.ast.name(bound.sym)) else { continue };
            if ty != Ty::ERROR && !self.s.checked.types.as_scalar(ty).is_some_and(row.1) {
                let (name, found) = (self.ast.name(generic.name.sym), self.type_name(ty));
                self.sink.push(
                    Diagnostic::error("E0093", format!("`{found}` is not one of `{}`", row.0))
                        .label(span, format!("`{name}` is `{found}` here"))
                        .label(generic.name.span.to(bound.span), "asked for here"),
                );
                return false;
            }
        }
        true
    }

    /// Returns the function that is the instance of a generic function for these arguments. Creates that
    /// function at its first use.
    fn instance(&mut self, item: u32, args: Args, span: Span) -> Option<u32> {
        if let Some(&func) = self.s.generics.funcs.get(&(item, args.clone())) {
            return Some(func);
        }
        if self.s.checked.instances.len() >= MAX_INSTANCES {
            let name = self.ast.name(self.ast.items[item as usize].name.sym);
            if self.s.generics.broken.insert(item) {
                let message = format!("more than {MAX_INSTANCES} instances, the last one of `{name}`");
                self.error("E0007", message, span, "asks for another one");
            }
            return None;
        }
        let func = self.signature_with(item, &args);
        let at = self.s.checked.instances.len() as u32;
        self.s.checked.funcs[func as usize].instance = Some(at);
        self.s.checked.instances.push(Instance {
            item,
            args: args.clone(),
            from: Extent::default(),
            expr_ty: Vec::new(),
            res: Vec::new(),
            stmt_decl: Vec::new(),
            loop_assigned: Vec::new(),
            patterns: Vec::new(),
        });
        self.s.generics.funcs.insert((item, args), func);
        Some(func)
    }

    /// Adds a function with the signature that the generic function has for these arguments. Returns the new
    /// function's index.
    fn signature_with(&mut self, item: u32, args: &[Arg]) -> u32 {
        let known: Known = args.iter().map(|&arg| Some(arg)).collect();
        let func = self.s.checked.funcs.len() as u32;
        let written = self.ast.items[item as usize];
        let before = self.sink.count();
        self.at_top(|c| {
            c.bind_args(item, &known);
            c.signature(&written, func);
        });
        let note = self.choice(item, args);
        self.amend(before, args, note.as_deref());
        func
    }

    /// Adds the note `note` to all errors except the first `before` ones, which were reported earlier. If a
    /// generic function is being checked with sample arguments, first drops the new errors that may be due
    /// only to the arbitrary value of a constant.
    fn amend(&mut self, before: usize, args: &[Arg], note: Option<&str>) {
        let has_constants = args.iter().any(|arg| matches!(arg, Arg::Const(_)));
        let forgiven = self.s.generics.sampling && has_constants;
        self.sink.amend(before, |d: &Diagnostic| forgiven && OF_CONSTANTS.contains(&d.code), note);
    }

    /// Checks the body of a generic function for the generic arguments `args`. Returns whether the body has
    /// no errors.
    fn body_with(&mut self, func: u32, item: u32, args: &[Arg]) -> bool {
        let known: Known = args.iter().map(|&arg| Some(arg)).collect();
        let before = self.sink.count();
        let scope = self.s.shadowed.len();
        self.bind_args(item, &known);
        self.function_body(func);
        self.close_scope(scope);
        let note = self.choice(item, args);
        self.amend(before, args, note.as_deref());
        self.sink.count() == before
    }

    pub(super) fn instance_body(&mut self, func: u32, instance: usize) {
        let Instance { item, ref args, .. } = self.s.checked.instances[instance];
        let args = args.clone();
        if self.s.generics.broken.contains(&item) {
            return;
        }
        if !self.body_with(func, item, &args) {
            self.s.generics.broken.insert(item);
        }
        let (def, ..) = self.generic_fn(item);
        self.s.checked.save(instance, def);
    }

    /// Returns a note that says what the generic parameters stand for, such as "where `T` is `f32`, `N` is
    /// 4". If the arguments are samples, the note says that a parameter without a bound is any type.
    fn choice(&self, item: u32, args: &[Arg]) -> Option<String> {
        let (def, ..) = self.generic_fn(item);
        let sampling = self.s.generics.sampling;
        let one = |(n, arg): (usize, &Arg)| {
            let generic = self.ast.generics[n];
            let name = self.ast.name(generic.name.sym);
            match *arg {
                Arg::Type(_) if sampling && generic.bound.is_none() => {
                    Some(format!("`{name}` is any type, unless a bound says more: `{name}: Number`"))
                }
                Arg::Type(ty) => Some(format!("`{name}` is `{}`", self.type_name(ty))),
                Arg::Const(_) if sampling => None,
                Arg::Const(bits) => Some(format!("`{name}` is {}", bits as i64)),
            }
        };
        let all: Vec<String> = def.params.range().zip(args).filter_map(one).collect();
        (!all.is_empty()).then(|| format!("where {}", all.join(", ")))
    }

    /// Checks the definition of each generic function, with sample types that the bounds of its parameters
    /// allow. A mistake in the definition is therefore reported even if no call uses the function.
    pub(super) fn check_generics(&mut self) {
        for item in 0..self.ast.items.len() as u32 {
            let ItemKind::Fn { generic: Some(n), .. } = self.ast.items[item as usize].kind else { continue };
            let def = self.ast.generic_fns[n as usize];
            if !self.parameters(def) {
                self.s.generics.broken.insert(item);
                continue;
            }
            let samples = |n: usize| self.samples_of(n).map_or(1, <[Scalar]>::len);
            let rounds = def.params.range().map(samples).max().unwrap_or(1);
            for round in 0..rounds {
                if !self.sample(item, def, round) {
                    self.s.generics.broken.insert(item);
                    break;
                }
            }
        }
    }

    fn samples_of(&self, generic: usize) -> Option<&'static [Scalar]> {
        let bound = self.ast.generics[generic].bound?;
        BOUNDS.iter().find(|row| row.0 == self.ast.name(bound.sym)).map(|row| row.2)
    }

    /// Checks the declarations of a generic function's parameters. Returns whether they have no errors.
    fn parameters(&mut self, def: GenericFn) -> bool {
        let before = self.sink.count();
        for n in def.params.range() {
            let generic = self.ast.generics[n];
            let text = self.ast.name(generic.name.sym);
            let twice = |other: &crate::ast::Generic| other.name.sym == generic.name.sym;
            if self.ast.generics[def.params.start as usize..n].iter().any(twice) {
                self.error("E0024", format!("`{text}` is defined twice"), generic.name.span, "again");
            }
            if let Some(bound) = generic.bound
                && self.samples_of(n).is_none()
            {
                let names: Vec<String> = BOUNDS.iter().map(|row| format!("`{}`", row.0)).collect();
                let written = self.ast.name(bound.sym);
                let help = match crate::habits::scalar(written) {
                    Some(scalar) => format!("a constant says so: `const {text}: {scalar}`"),
                    None => format!("bounds are {}; without one any type will do", names.join(", ")),
                };
                self.sink.push(
                    Diagnostic::error("E0093", format!("there is no bound `{written}`"))
                        .label(bound.span, "unknown")
                        .help(help),
                );
            }
            if let Some(of) = generic.ty {
                let ty = self.resolve(of);
                let is_float = self.s.checked.types.as_scalar(ty).is_none_or(Scalar::is_float);
                if ty != Ty::ERROR && is_float {
                    let span = self.ast.type_node(of).span;
                    let message = format!("the constant `{text}` has to be an integer or `bool`");
                    self.error("E0093", message, span, "not of such a type");
                }
            }
        }
        self.sink.count() == before
    }

    /// Checks a generic function with sample arguments; each `round` uses other samples. Afterwards removes
    /// all entries that the check added to the checker's tables, but keeps the errors. Returns whether there
    /// are no errors.
    fn sample(&mut self, item: u32, def: GenericFn, round: usize) -> bool {
        let before = self.sink.count();
        let args: Args = def.params.range().map(|n| self.sample_arg(n, round)).collect();
        let checked = &self.s.checked;
        let (funcs, statics, consts) = (checked.funcs.len(), checked.statics.len(), checked.consts.len());
        self.s.generics.sampling = true;
        let func = self.signature_with(item, &args);
        let fine = self.sink.count() == before && self.body_with(func, item, &args);
        self.s.generics.sampling = false;
        self.s.checked.funcs.truncate(funcs);
        self.s.checked.statics.truncate(statics);
        self.s.checked.consts.truncate(consts);
        fine
    }

    fn sample_arg(&mut self, n: usize, round: usize) -> Arg {
        let generic = self.ast.generics[n];
        if let Some(of) = generic.ty {
            let is_bool = self.resolve(of) == Ty::BOOL;
            return Arg::Const(if is_bool { 1 } else { SAMPLE_CONSTANT });
        }
        Arg::Type(match self.samples_of(n) {
            Some(samples) => Ty::scalar(samples[round % samples.len()]),
            // A type parameter without a bound may be any type. Its sample is therefore a new struct type
            // without fields, because the language allows no operation on it.
            None => self.s.checked.types.structure(generic.name.sym, &[]).unwrap_or(Ty::ERROR),
        })
    }

    /// Checks a constant of a type, such as `T::MAX`.
    pub(super) fn type_const(&mut self, id: ExprId, of: Name, name: Sym, span: Span) -> Ty {
        let (type_text, text) = (self.ast.name(of.sym), self.ast.name(name));
        let Binding::Type(ty) = self.binding(of.sym) else {
            let message = format!("`{type_text}` is no type that has constants");
            self.error("E0021", message, of.span, "not a scalar type");
            return Ty::ERROR;
        };
        let found = self.s.checked.types.as_scalar(ty).and_then(|scalar| constants::value_of(scalar, text));
        let Some((scalar, bits)) = found else {
            let message = format!("`{}` has no constant `{text}`", self.type_name(ty));
            self.error("E0020", message, span, "unknown constant");
            return Ty::ERROR;
        };
        let (ty, value) = (Ty::scalar(scalar), FragmentBits::from_slice(&[bits]));
        self.s.checked.consts.push(ConstItem { name, ty, value });
        self.s.checked.res[id.at()] = Res::Const(self.s.checked.consts.len() as u32 - 1);
        ty
    }
}
