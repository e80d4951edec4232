//! Checks items: collects names, lays out structs, evaluates constants, reads signatures and checks bodies.

use super::operator::untyped_binary;
use super::{Binding, Checker, ConstItem, FragmentBits, Func, Lazy, StaticItem};
use crate::ast::{ExprId, ExprKind, Item, ItemKind, List, Name, Param, Sym, TypeId, TypeKind};
use crate::diag::Diagnostic;
use crate::scalar::{Scalar, vector_name};
use crate::types::{Parts, Pointer, Qualifiers, Ty, TyKind};
use ir::half::Half;
use ir::{Inline, KernelInfo, Linkage, Space};
use isa::spelling::nearest;
use smol_str::SmolStr;

/// Largest length of a chain in which the evaluation of one constant or struct needs the next.
const MAX_LAZY_DEPTH: u32 = 64;
/// Size in bytes of the LDS memory of a work-group.
pub(super) const MAX_SHARED: u64 = 64 * 1024;
/// Largest initial value of a module variable, in scalars.
const MAX_INIT: u32 = 1 << 20;

impl Checker<'_, '_> {
    pub(super) fn items(&mut self) {
        self.collect_names();
        for n in 0..self.ast.items.len() {
            match self.ast.items[n].kind {
                ItemKind::Struct { .. } => self.structure(n),
                ItemKind::Const { .. } => self.constant(n),
                _ => {}
            }
        }
        self.lay_out_pointees();
        self.check_overrides();
        let mut funcs = 0;
        for n in 0..self.ast.items.len() {
            let item = self.ast.items[n];
            if let ItemKind::Fn { generic: None, .. } = item.kind {
                self.signature(&item, funcs);
                funcs += 1;
            }
        }
        let mut statics = 0;
        for n in 0..self.ast.items.len() {
            let item = self.ast.items[n];
            match item.kind {
                ItemKind::Static { .. } => {
                    self.static_item(&item, statics);
                    statics += 1;
                }
                ItemKind::StaticAssert { cond, message } => {
                    self.no_attrs(item.attrs, "an assertion");
                    self.static_assert(cond, message);
                }
                _ => {}
            }
        }
        self.default_open_literals(self.s.checked.locals.len());
    }

    fn collect_names(&mut self) {
        let (mut statics, mut funcs) = (0, 0);
        for n in 0..self.ast.items.len() {
            let item = &self.ast.items[n];
            let binding = match item.kind {
                ItemKind::Fn { generic: Some(_), .. } => Binding::Generic(n as u32),
                ItemKind::Fn { .. } => {
                    funcs += 1;
                    self.s.item_of_func.push(n as u32);
                    Binding::Func(funcs - 1)
                }
                ItemKind::Static { .. } => {
                    statics += 1;
                    Binding::Static(statics - 1)
                }
                ItemKind::Struct { .. } => Binding::Struct(n as u32),
                ItemKind::StaticAssert { .. } => continue,
                ItemKind::Const { .. } => {
                    let id = self.s.checked.consts.len() as u32;
                    self.s.const_of_item[n] = id;
                    self.s.item_of_const.push(n);
                    self.s.checked.consts.push(ConstItem {
                        name: item.name.sym,
                        ty: Ty::ERROR,
                        value: FragmentBits::new(),
                    });
                    Binding::Const(id)
                }
            };
            let text = self.ast.name(item.name.sym);
            if Scalar::from_name(text).is_some() || vector_name(text).is_some() {
                self.error(
                    "E0024",
                    format!("`{text}` is a built-in type"),
                    item.name.span,
                    "cannot be defined",
                );
            } else if self.binding(item.name.sym) != Binding::None {
                let first = self.ast.items.iter().find(|other| other.name.sym == item.name.sym);
                let mut diagnostic = Diagnostic::error("E0024", format!("`{text}` is defined twice"))
                    .label(item.name.span, "defined again");
                if let Some(first) = first {
                    diagnostic = diagnostic.label(first.name.span, "defined here first");
                }
                self.sink.push(diagnostic);
            } else {
                self.s.bindings[item.name.sym.0 as usize] = binding;
            }
        }
    }

    /// Returns whether item `n` must be evaluated now, and starts its evaluation if so. Returns false if the
    /// item has been evaluated already. Also returns false, after an error, if the item refers to itself or
    /// if the chain of references is too long.
    fn enter_lazy(&mut self, n: usize) -> bool {
        let item = &self.ast.items[n];
        match self.s.lazy[n] {
            Lazy::Done => return false,
            Lazy::Running => {
                let text = self.ast.name(item.name.sym);
                self.error(
                    "E0073",
                    format!("`{text}` is defined in terms of itself"),
                    item.name.span,
                    "part of a circle",
                );
                return false;
            }
            Lazy::Pending => {}
        }
        if self.s.lazy_depth >= MAX_LAZY_DEPTH {
            self.error(
                "E0007",
                format!("definitions lean on each other more than {MAX_LAZY_DEPTH} deep"),
                item.name.span,
                "too deep here",
            );
            self.s.lazy[n] = Lazy::Done;
            return false;
        }
        self.s.lazy[n] = Lazy::Running;
        self.s.lazy_depth += 1;
        true
    }

    fn leave_lazy(&mut self, n: usize) {
        self.s.lazy[n] = Lazy::Done;
        self.s.lazy_depth -= 1;
    }

    pub(super) fn structure(&mut self, n: usize) {
        let item = self.ast.items[n];
        let ItemKind::Struct { fields } = item.kind else { return };
        if !self.enter_lazy(n) {
            return;
        }
        self.no_attrs(item.attrs, "a struct");
        let ty = self.declared(n);
        let mut members = Vec::with_capacity(fields.len as usize);
        let ast = self.ast;
        for param in &ast.params[fields.range()] {
            if members.iter().any(|&(name, _)| name == param.name.sym) {
                let text = self.ast.name(param.name.sym);
                self.error("E0024", format!("field `{text}` is defined twice"), param.name.span, "again");
            }
            members.push((param.name.sym, self.resolve(param.ty)));
        }
        if self.s.checked.types.define(ty, &members).is_err() {
            self.error("E0072", "the struct has 2 GiB or more", item.name.span, "too large");
            self.s.struct_ty[n] = Ty::ERROR;
        }
        self.leave_lazy(n);
    }

    /// Returns the type of struct item `n`. If the layout of the struct is not known yet, the type is
    /// declared without a layout.
    fn declared(&mut self, n: usize) -> Ty {
        if self.s.struct_ty[n] == Ty::ERROR && self.s.lazy[n] != Lazy::Done {
            self.s.struct_ty[n] = self.s.checked.types.declare(Some(self.ast.items[n].name.sym));
        }
        self.s.struct_ty[n]
    }

    /// Computes the layout of struct item `n` and returns the struct's type. Returns an error type if the
    /// layout is already in progress, because the struct then contains itself.
    pub(super) fn laid_out(&mut self, n: usize) -> Ty {
        self.structure(n);
        if self.s.lazy[n] == Lazy::Running { Ty::ERROR } else { self.s.struct_ty[n] }
    }

    /// Evaluates the constant item `n`.
    fn constant(&mut self, n: usize) {
        let item = self.ast.items[n];
        let ItemKind::Const { param, ty, value } = item.kind else { return };
        if !self.enter_lazy(n) {
            return;
        }
        self.no_attrs(item.attrs, "a constant");
        let ty = self.resolve(ty);
        let id = self.s.const_of_item[n] as usize;
        let mut fragments = self.constant_of_type(value, ty);
        if param {
            fragments = self.specialise(&item, ty, fragments);
        }
        self.s.checked.consts[id].ty = if fragments.is_some() { ty } else { Ty::ERROR };
        self.s.checked.consts[id].value = fragments.unwrap_or_default();
        self.leave_lazy(n);
    }

    /// Checks `static_assert(cond, "message");`.
    pub(super) fn static_assert(&mut self, cond: ExprId, message: Option<Sym>) {
        let found = self.expr(cond, Ty::BOOL);
        if found == Ty::ERROR || !self.s.checked.types.fits(found, Ty::BOOL) {
            return self.is_condition(cond, found);
        }
        if self.eval(cond).is_some_and(|fragments| fragments.first() == Some(&0)) {
            let message = match message {
                Some(message) => format!("the assertion does not hold: {}", self.ast.name(message)),
                None => "the assertion does not hold".to_string(),
            };
            let values = self.compared_values(cond);
            self.sink.push(
                Diagnostic::error("E0075", message)
                    .label(self.ast.span(cond), "this is false")
                    .note_opt(values),
            );
        }
    }

    /// Returns a text with the values of both sides of a comparison, if `cond` is a comparison of integers.
    /// The message of a failed `static_assert` shows this text.
    fn compared_values(&mut self, cond: ExprId) -> Option<String> {
        let ExprKind::Binary(op, left, right) = self.ast.expr(cond).kind else { return None };
        let scalar = self.s.checked.types.as_scalar(self.s.checked.expr_ty[left.at()])?;
        if !op.is_comparison() || !scalar.is_int() {
            return None;
        }
        let mut text = |id| {
            let bits = self.eval(id)?.first().copied()?;
            Some(if scalar.is_signed() { (bits as i64).to_string() } else { bits.to_string() })
        };
        Some(format!("it compares {} with {}", text(left)?, text(right)?))
    }

    /// Checks and evaluates an expression that must be a constant of type `ty`.
    pub(super) fn constant_of_type(&mut self, value: ExprId, ty: Ty) -> Option<FragmentBits> {
        let found = self.expr(value, ty);
        if ty == Ty::ERROR || found == Ty::ERROR || !self.require(value, found, ty) {
            return None;
        }
        if self.s.checked.types.layout(ty).fragments > MAX_INIT {
            self.error("E0072", "the value is too large", self.ast.span(value), "more than 2^20 scalars");
            return None;
        }
        self.eval(value)
    }

    /// Evaluates the constant with this number unless it has been evaluated already.
    pub(super) fn force_const(&mut self, id: u32) {
        // A constant that is declared in a body has no item, because it is evaluated at its declaration.
        if let Some(&n) = self.s.item_of_const.get(id as usize)
            && self.s.lazy[n] != Lazy::Done
        {
            self.constant(n);
        }
    }

    /// Returns the value of a `param`: the value from the command line if there is one, else the default.
    fn specialise(&mut self, item: &Item, ty: Ty, default: Option<FragmentBits>) -> Option<FragmentBits> {
        let name = self.ast.name(item.name.sym);
        let Some(scalar) = self.s.checked.types.as_scalar(ty) else {
            if ty != Ty::ERROR {
                self.error("E0084", "a `param` is a scalar", item.name.span, "not of a scalar type");
            }
            return None;
        };
        // If the command line gives a parameter several times, the last value counts, as in most command
        // lines.
        let Some((_, text)) = self.options.params.iter().rev().find(|(key, _)| key == name) else {
            return default;
        };
        match parse_override(scalar, text) {
            Some(bits) => Some(FragmentBits::from_slice(&[bits])),
            None => {
                let message =
                    format!("`{text}` is no value for `{name}`, which is of type `{}`", scalar.name());
                self.error("E0074", message, item.name.span, "set from outside");
                None
            }
        }
    }

    /// Reports `-P` options whose name is not that of a `param`.
    fn check_overrides(&mut self) {
        for (key, _) in self.options.params {
            let is_param = |item: &&Item| matches!(item.kind, ItemKind::Const { param: true, .. });
            let mut names = self.ast.items.iter().filter(is_param).map(|item| self.ast.name(item.name.sym));
            if names.clone().any(|name| name == key) {
                continue;
            }
            let close = nearest(key, names.clone());
            let diagnostic = Diagnostic::error("E0028", format!("there is no `param {key}` to set"));
            let diagnostic = match (close, names.next()) {
                (Some(found), _) => diagnostic.help(format!("a similar name exists: `{found}`")),
                (None, None) => diagnostic.help("this file declares no `param`"),
                (None, Some(first)) => diagnostic.help(format!("one that exists: `{first}`")),
            };
            self.sink.push(diagnostic);
        }
    }

    fn static_item(&mut self, item: &Item, id: u32) {
        let ItemKind::Static { external, space, dynamic, ty, value } = item.kind else { return };
        self.no_attrs(item.attrs, "a variable");
        let name = SmolStr::new(self.ast.name(item.name.sym));
        let ty = self.variable_type(item.name, ty, space, dynamic);
        let mut init = FragmentBits::new();
        match (space, value) {
            (_, Some(value)) if external => self.error(
                "E0085",
                "an `extern` variable cannot have an initial value",
                self.ast.span(value),
                "the object that defines it gives it one",
            ),
            (_, None) if external => {}
            (Space::Shared, Some(value)) => self.error(
                "E0085",
                "`shared` variables cannot have an initial value",
                self.ast.span(value),
                "initial value",
            ),
            (_, Some(value)) => init = self.constant_of_type(value, ty).unwrap_or_default(),
            (Space::Constant, None) => {
                let diagnostic =
                    Diagnostic::error("E0085", format!("`constant static {name}` needs a value"))
                        .label(item.name.span, "no one could ever write it")
                        .help("add `= …` before the `;`");
                self.sink.push(diagnostic);
            }
            _ => {}
        }
        debug_assert_eq!(id as usize, self.s.checked.statics.len());
        self.s.checked.statics.push(StaticItem {
            name,
            span: item.name.span,
            space,
            ty,
            dynamic,
            external,
            init,
        });
    }

    /// Returns the type of a module variable or `shared` variable, after applying the rules for `shared`
    /// variables.
    pub(super) fn variable_type(&mut self, name: Name, ty: TypeId, space: Space, dynamic: bool) -> Ty {
        let span = self.ast.type_node(ty).span;
        let kind = self.ast.type_node(ty).kind;
        let resolved = match (kind, dynamic) {
            (TypeKind::Unsized(element), true) => {
                let element = self.resolve(element);
                self.s.checked.types.array(element, 0).unwrap_or(Ty::ERROR)
            }
            (TypeKind::Unsized(_), false) => {
                let diagnostic = Diagnostic::error("E0072", "the array needs a length")
                    .label(span, "no length")
                    .help("write `[T; N]`, or `shared dyn name: [T];` for memory sized by the dispatch");
                self.sink.push(diagnostic);
                Ty::ERROR
            }
            (_, true) => {
                self.error("E0085", "`dyn` memory has the type `[T]`", span, "expected `[T]`");
                Ty::ERROR
            }
            (_, false) => self.resolve(ty),
        };
        if dynamic && space != Space::Shared {
            self.error("E0085", "only `shared` memory can be `dyn`", name.span, "not shared");
        }
        if space == Space::Shared && u64::from(self.s.checked.types.layout(resolved).size) > MAX_SHARED {
            let size = self.s.checked.types.layout(resolved).size;
            let message = format!("{size} bytes of `shared` memory; a work-group has {MAX_SHARED}");
            self.error("E0086", message, name.span, "too large");
        }
        resolved
    }

    pub(super) fn signature(&mut self, item: &Item, id: u32) {
        let ItemKind::Fn { kernel, params, result, body, .. } = item.kind else { return };
        let first = self.s.checked.locals.len();
        let scope = self.s.shadowed.len();
        let ast = self.ast;
        for param in &ast.params[params.range()] {
            let ty = match self.opaque(param.ty).filter(|_| kernel) {
                Some((opaque, name)) => self.s.checked.types.opaque(opaque, name),
                None => self.resolve(param.ty),
            };
            if kernel {
                self.kernel_param(param, ty);
            }
            self.by_value(ty, self.ast.type_node(param.ty).span);
            let text = self.ast.name(param.name.sym);
            if self.s.checked.locals[first..].iter().any(|local| local.name == param.name.sym) {
                self.error("E0024", format!("parameter `{text}` is defined twice"), param.name.span, "again");
                // Two parameters have the same name, so it is unclear which of them a use means. The second
                // parameter gets the error type, so that uses of the name cause no more errors.
                self.declare(param.name, Ty::ERROR, false);
            } else {
                self.declare(param.name, ty, param.mutable);
            }
        }
        self.close_scope(scope);
        let result = self.not_unit(result);
        let result_ty = result.map_or(Ty::UNIT, |ty| self.resolve(ty));
        if let Some(result) = result {
            self.by_value(result_ty, ast.type_node(result).span);
        }
        if let (true, Some(result)) = (kernel, result) {
            let diagnostic = Diagnostic::error("E0083", "a kernel returns nothing")
                .label(self.ast.type_node(result).span, "return type")
                .help("store results through a pointer parameter");
            self.sink.push(diagnostic);
        }
        let mut func = Func {
            name: item.name,
            locals: List { start: first as u32, len: params.len },
            params,
            result: result_ty,
            body,
            kernel: kernel.then(KernelInfo::default),
            linkage: Linkage::default(),
            inline: Inline::default(),
            taken: self.s.taken_early.contains(&id),
            instance: None,
            small_buffers: false,
        };
        if body.is_none() {
            func.linkage = Linkage::Extern;
        }
        self.function_attrs(item.attrs, &mut func);
        self.border(item, &func);
        debug_assert_eq!(id as usize, self.s.checked.funcs.len());
        self.s.checked.funcs.push(func);
    }

    /// Checks that a function which other object files call or define can be used through the calling
    /// convention. Such a function cannot be generic or take arrays, for example.
    fn border(&mut self, item: &Item, func: &Func) {
        if func.linkage == Linkage::Local {
            return;
        }
        let text = self.ast.name(item.name.sym);
        let what = if func.linkage == Linkage::Extern { "`extern`" } else { "exported" };
        if func.instance.is_some() || matches!(item.kind, ItemKind::Fn { generic: Some(_), .. }) {
            let message = format!("`{text}` is generic and cannot be {what}");
            let help = "write a function for one choice of types that calls it".to_string();
            self.error_help("E0091", message, item.name.span, "has no name for other objects", help);
        }
        let ItemKind::Fn { params, result, .. } = item.kind else { return };
        let ast = self.ast;
        let types = ast.params[params.range()].iter().map(|param| param.ty).chain(result);
        for node in types {
            let ty = match ast.type_node(node).kind {
                TypeKind::Tuple(List { len: 0, .. }) => continue,
                _ => self.resolve(node),
            };
            let types = &self.s.checked.types;
            let help = match types.kind(ty) {
                TyKind::Array(..) => "put the array into a struct, or pass a pointer to it",
                _ if types.holds_tuple(ty) => "tuples have no fixed form outside; declare a `struct`",
                _ => continue,
            };
            let message = format!("`{}` does not pass to other objects", self.type_name(ty));
            let label = format!("`{text}` is {what}");
            self.error_help("E0091", message, ast.type_node(node).span, &label, help.to_string());
            return;
        }
        let locals = &self.s.checked.locals[func.locals.range()];
        let params: Vec<Ty> = locals.iter().map(|local| local.ty).collect();
        if let Some(abi) = &self.options.abi
            && !params.contains(&Ty::ERROR)
            && func.result != Ty::ERROR
            && let Err(why) = crate::lower::passing::border(&self.s.checked.types, abi, &params, func.result)
        {
            let message = format!("`{text}` cannot be called from other objects");
            let note = format!("in the convention `{}`: {why}", abi.convention.name());
            let diagnostic =
                Diagnostic::error("E0091", message).label(item.name.span, format!("it is {what}"));
            self.sink.push(diagnostic.note(note));
        }
    }

    fn kernel_param(&mut self, param: &Param, ty: Ty) {
        let span = self.ast.type_node(param.ty).span;
        let problem = match self.s.checked.types.kind(ty) {
            TyKind::Scalar(Scalar::Bool) | TyKind::Vector(Scalar::Bool, _) => {
                "`bool` has no fixed form outside; take a `u32`"
            }
            TyKind::Array(..) => "arrays are passed by pointer: `*const global T`",
            TyKind::Pointer(pointer) if pointer.space == Space::Private => {
                "no one outside has a pointer to private memory"
            }
            _ if self.s.checked.types.holds_function(ty) => "no one outside has the address of a function",
            _ if self.s.checked.types.holds_tuple(ty) => {
                "tuples have no fixed form outside; declare a `struct`"
            }
            _ if self.s.checked.types.layout(ty).has_array => "a struct parameter cannot hold arrays yet",
            _ => return,
        };
        let name = self.type_name(ty);
        let diagnostic = Diagnostic::error("E0084", format!("a kernel parameter cannot be of type `{name}`"))
            .label(span, "not allowed here")
            .note(problem);
        self.sink.push(diagnostic);
    }

    pub(super) fn bodies(&mut self) {
        self.check_generics();
        let mut func = 0;
        // The check of a body may append instances of generic functions to the list, so the loop condition
        // reads the length of the list in each iteration.
        while func < self.s.checked.funcs.len() {
            match self.s.checked.funcs[func].instance {
                Some(instance) => self.instance_body(func as u32, instance as usize),
                None => self.function_body(func as u32),
            }
            func += 1;
        }
    }

    /// Returns the type that a written type stands for.
    pub(super) fn resolve(&mut self, id: TypeId) -> Ty {
        if let Some(ty) = self.s.type_cache[id.at()] {
            return ty;
        }
        let node = *self.ast.type_node(id);
        let ty = match node.kind {
            TypeKind::Name(_) | TypeKind::Opaque(..) if self.opaque(id).is_some() => {
                let message = "images, samplers, queues and pipes are parameters of kernels";
                self.error("E0084", message, node.span, "not a type of values");
                Ty::ERROR
            }
            TypeKind::Opaque(access, _) => {
                let message = format!("`{}` is said of images and pipes", access.name());
                self.error("E0084", message, node.span, "neither an image nor a pipe");
                Ty::ERROR
            }
            TypeKind::Name(sym) => self.resolve_name(sym, node.span),
            TypeKind::Array(element, length) => {
                let element = self.resolve(element);
                self.resolve_array(element, length)
            }
            TypeKind::Tuple(list) => self.resolve_tuple(list, node.span, Self::resolve),
            TypeKind::Function { params, result } => self.resolve_function(params, result),
            TypeKind::Unsized(_) => {
                let diagnostic = Diagnostic::error("E0072", "the array needs a length")
                    .label(node.span, "no length")
                    .help("write `[T; N]`; a pointer `*global T` can be indexed without one");
                self.sink.push(diagnostic);
                Ty::ERROR
            }
            TypeKind::Pointer { space, is_const, is_volatile, is_restrict, to } => {
                let to = self.resolve_pointee(to);
                let mut qualifiers = Qualifiers::empty();
                // Constant memory cannot be written. A pointer to it is therefore `const`, even if the source
                // does not say so.
                qualifiers.set(Qualifiers::CONST, is_const || space == Some(Space::Constant));
                qualifiers.set(Qualifiers::VOLATILE, is_volatile);
                qualifiers.set(Qualifiers::RESTRICT, is_restrict);
                match to {
                    Ty::ERROR => Ty::ERROR,
                    to => {
                        let space = space.unwrap_or(Space::Generic);
                        self.s.checked.types.pointer(Pointer { to, space, qualifiers })
                    }
                }
            }
        };
        self.s.type_cache[id.at()] = Some(ty);
        ty
    }

    /// Returns the opaque type (image, sampler, queue or pipe) and its name, if `ty` is the name of an opaque
    /// type.
    fn opaque(&self, ty: TypeId) -> Option<(ir::Opaque, &'static str)> {
        let (access, sym) = match self.ast.type_node(ty).kind {
            TypeKind::Name(sym) => (None, sym),
            TypeKind::Opaque(access, sym) => (Some(access), sym),
            _ => return None,
        };
        let (name, opaque) = OPAQUE.into_iter().find(|row| row.0 == self.ast.name(sym))?;
        // A struct or a generic parameter may have the same name as an opaque type. The name then means the
        // struct or the parameter.
        match access {
            _ if matches!(self.binding(sym), Binding::Struct(_) | Binding::Type(_)) => None,
            Some(_) if opaque.access().is_none() => None,
            Some(access) => Some((opaque.with_access(access), name)),
            None => Some((opaque, name)),
        }
    }

    /// Returns the type that a pointer type points to. A struct in it need not have a layout yet. A struct
    /// may therefore contain pointers to itself, and to arrays and tuples of itself.
    fn resolve_pointee(&mut self, to: TypeId) -> Ty {
        let node = *self.ast.type_node(to);
        let ty = match node.kind {
            TypeKind::Name(sym) if let Binding::Struct(item) = self.binding(sym) => {
                return self.declared(item as usize);
            }
            TypeKind::Array(element, length) => {
                let element = self.resolve_pointee(element);
                self.resolve_array(element, length)
            }
            TypeKind::Tuple(list) => self.resolve_tuple(list, node.span, Self::resolve_pointee),
            _ => return self.resolve(to),
        };
        if !self.s.checked.types.is_defined(ty) {
            self.s.early.push((ty, node.span));
        }
        ty
    }

    /// Computes the layout of the types that pointers point to and that had no layout before. This runs after
    /// all structs have a layout, because these types may contain any struct.
    fn lay_out_pointees(&mut self) {
        for (ty, span) in std::mem::take(&mut self.s.early) {
            if self.s.checked.types.lay_out_again(ty).is_err() {
                self.error("E0072", "the type has 2 GiB or more", span, "too large");
            }
        }
    }

    fn resolve_name(&mut self, sym: crate::ast::Sym, span: crate::lexer::Span) -> Ty {
        let text = self.ast.name(sym);
        if let Some(scalar) = Scalar::from_name(text) {
            return Ty::scalar(scalar);
        }
        if let Some((scalar, lanes)) = vector_name(text) {
            return self.s.checked.types.vector(scalar, lanes);
        }
        match self.binding(sym) {
            Binding::Type(ty) => return ty,
            Binding::Struct(item) => {
                return self.laid_out(item as usize);
            }
            _ => {}
        }
        let known = self.bound_names(|b| matches!(b, Binding::Struct(_))).into_iter().chain(type_names());
        let close = self.nearest(text, known);
        let diagnostic = Diagnostic::error("E0021", format!("there is no type `{text}`"))
            .label(span, "unknown type")
            .similar(span, close);
        self.sink.push(diagnostic);
        Ty::ERROR
    }

    fn resolve_tuple(
        &mut self,
        list: List,
        span: crate::lexer::Span,
        resolve: fn(&mut Self, TypeId) -> Ty,
    ) -> Ty {
        if list.len == 0 {
            self.error("E0021", "no value is of type `()`", span, "only a function without a result has it");
            return Ty::ERROR;
        }
        let mut parts = Parts::new();
        for n in list.range() {
            parts.push(resolve(self, self.ast.types_pool[n]));
        }
        if parts.contains(&Ty::ERROR) {
            return Ty::ERROR;
        }
        self.s.checked.types.tuple(&parts).unwrap_or_else(|_| {
            self.error("E0072", "the tuple has 2 GiB or more", span, "too large");
            Ty::ERROR
        })
    }

    fn resolve_array(&mut self, element_ty: Ty, length: ExprId) -> Ty {
        // The length of an array must be a constant, of any integer type.
        let found = self.any_integer(length, Ty::U32);
        if !self.s.checked.types.as_scalar(found).is_some_and(Scalar::is_int) {
            self.require(length, found, Ty::U32);
            return Ty::ERROR;
        }
        let Some(value) = self.eval(length).and_then(|fragments| fragments.first().copied()) else {
            return Ty::ERROR;
        };
        let span = self.ast.span(length);
        if element_ty == Ty::ERROR {
            return Ty::ERROR;
        }
        if value == 0 || value >= 1 << 31 {
            let diagnostic =
                Diagnostic::error("E0072", format!("an array cannot have {} elements", value as i64))
                    .label(span, "length")
                    .help("lengths go from 1 to 2^31 - 1");
            self.sink.push(diagnostic);
            return Ty::ERROR;
        }
        match self.s.checked.types.array(element_ty, value as u32) {
            Ok(ty) => ty,
            Err(_) => {
                self.error("E0072", "the array has 2 GiB or more", span, "too many elements");
                Ty::ERROR
            }
        }
    }

    /// Returns the kind of literal, integer or float, if the expression has no type of its own. This is so
    /// for a literal without a suffix, and for an operation on literals without a suffix only. Returns `None`
    /// for any other expression.
    pub(super) fn untyped(&self, mut id: ExprId) -> Option<Literal> {
        let mut kind = Literal::Int;
        loop {
            match self.ast.expr(id).kind {
                ExprKind::Int { suffix: None, .. } => return Some(kind),
                ExprKind::Float { suffix: None, .. } => return Some(Literal::Float),
                ExprKind::Unary(_, inner) => id = inner,
                ExprKind::Binary(op, left, right) => {
                    kind = untyped_binary(op, Some(kind), || self.untyped(right))?;
                    id = left;
                }
                _ => return None,
            }
        }
    }
}

/// Kind of a literal without a type of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Literal {
    Int,
    Float,
}

/// Parses the value that `-P` gives for a scalar parameter.
fn parse_override(scalar: Scalar, text: &str) -> Option<u64> {
    // A number in digits that rounds to infinity is an error. Only the word `inf` means infinity.
    let is_in_range = |value: f64| !value.is_infinite() || !text.contains(|c: char| c.is_ascii_digit());
    match scalar {
        Scalar::Bool => match text {
            "true" | "1" => Some(1),
            "false" | "0" => Some(0),
            _ => None,
        },
        Scalar::F16 => {
            let half = Half::nearest(text.parse().ok()?);
            is_in_range(half.wide()).then(|| half.0.into())
        }
        Scalar::F32 => {
            let value: f32 = text.parse().ok()?;
            is_in_range(value.into()).then(|| value.to_bits().into())
        }
        Scalar::F64 => {
            let value: f64 = text.parse().ok()?;
            is_in_range(value).then(|| value.to_bits())
        }
        _ => {
            let (negative, digits) = match text.strip_prefix('-') {
                Some(rest) => (true, rest),
                None => (false, text),
            };
            let value = match digits.strip_prefix("0x") {
                Some(hex) => u64::from_str_radix(hex, 16).ok()?,
                None => digits.parse::<u64>().ok()?,
            };
            let bits = if negative { value.wrapping_neg() } else { value };
            scalar.holds(value, negative).then(|| scalar.wrap(bits))
        }
    }
}

/// Opaque types, such as images and samplers. A kernel receives their values as arguments, and can use them
/// only through built-in functions.
pub const OPAQUE: [(&str, ir::Opaque); 5] = [
    ("image2d", ir::Opaque::Image(ir::Access::ReadOnly)),
    ("image3d", ir::Opaque::Image(ir::Access::ReadOnly)),
    ("sampler", ir::Opaque::Sampler),
    ("queue", ir::Opaque::Queue),
    ("pipe", ir::Opaque::Pipe(ir::Access::ReadOnly)),
];

/// Returns the names of scalars and of the common vectors, for spelling suggestions.
fn type_names<'n>() -> impl Iterator<Item = &'n str> {
    let vectors = ["f32x2", "f32x3", "f32x4", "f64x2", "u32x2", "u32x4", "i32x2", "i32x4"];
    Scalar::ALL.into_iter().map(|scalar| -> &'n str { scalar.name() }).chain(vectors)
}
