//! Types of the language, interned: equal types have equal [`Ty`]s. Layout is C's.
//!
//! While a function is checked, literals without a suffix have *open* types, which their uses decide
//! ([`Types::agree`]); a type that holds one is open, too. [`Types::settled`] leaves none.

use crate::ast::Sym;
use crate::scalar::Scalar;
use ir::Space;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// An interned type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ty(u32);

impl Ty {
    /// Wrong already, and reported: fits everywhere.
    pub const ERROR: Ty = Ty(0);
    /// No value.
    pub const UNIT: Ty = Ty(1);
    /// Of an expression that does not come back.
    pub const NEVER: Ty = Ty(2);
    /// As an expectation: nothing known.
    pub const NONE: Ty = Ty(3);
    pub const BOOL: Ty = Ty::scalar(Scalar::Bool);
    pub const I32: Ty = Ty::scalar(Scalar::I32);
    pub const U32: Ty = Ty::scalar(Scalar::U32);
    pub const U64: Ty = Ty::scalar(Scalar::U64);
    pub const F32: Ty = Ty::scalar(Scalar::F32);

    pub const fn scalar(scalar: Scalar) -> Ty {
        Ty(4 + scalar as u32)
    }

    /// Marks the numbers of [`Types::open`].
    const OPEN: u32 = 1 << 31;

    fn open_number(self) -> Option<usize> {
        (self.0 & Ty::OPEN != 0).then_some((self.0 & !Ty::OPEN) as usize)
    }
}

/// The type of a literal, until it is known.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// What it is: another open type, or a scalar.
    is: Option<Ty>,
    float: bool,
    /// Negated somewhere, so no unsigned type.
    signed: bool,
    /// How many open types may be on the way to it: at most so many that there are 2^rank of them.
    rank: u8,
}

impl Open {
    /// What it is if nothing decides.
    fn default(self) -> Scalar {
        if self.float { Scalar::F32 } else { Scalar::I32 }
    }

    fn admits(self, scalar: Scalar) -> bool {
        scalar != Scalar::Bool
            && scalar.is_float() == self.float
            && (self.float || scalar.is_signed() || !self.signed)
    }
}

bitflags::bitflags! {
    /// Qualifiers of a pointer.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
    pub struct Qualifiers: u8 {
        const CONST = 1;
        const VOLATILE = 2;
        const RESTRICT = 4;
    }
}

/// A pointer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pointer {
    pub to: Ty,
    pub space: Space,
    pub qualifiers: Qualifiers,
}

impl Pointer {
    /// Whether it may stand for the other one, if both point to the same type.
    fn may_become(self, to: Pointer) -> bool {
        let loses = |flag| self.qualifiers.contains(flag) && !to.qualifiers.contains(flag);
        self.space == to.space && !loses(Qualifiers::CONST) && !loses(Qualifiers::VOLATILE)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TyKind {
    Error,
    Unit,
    Never,
    None,
    Scalar(Scalar),
    Vector(Scalar, u8),
    Array(Ty, u32),
    /// Index into [`Types::structs`].
    Struct(u32),
    Pointer(Pointer),
    /// The address of a function: index into [`Types::functions`].
    Function(u32),
    /// What only a kernel's parameter can be, and what it is called without its access.
    Opaque(ir::Opaque, &'static str),
}

/// Layout and shape of a type.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Bytes, a multiple of the alignment.
    pub size: u32,
    pub align: u32,
    /// Number of scalars and pointers in it; saturates.
    pub leaves: u32,
    pub has_array: bool,
    /// Holds a type that is open, so that the size is not final.
    pub open: bool,
}

#[derive(Clone, Debug)]
pub struct Field {
    pub name: Sym,
    pub ty: Ty,
    pub offset: u32,
    /// Leaves in front of it.
    pub leaf: u32,
}

/// A struct, or a tuple, which is one without names: fields `0`, `1`, ….
#[derive(Clone, Debug)]
pub struct Struct {
    pub name: Option<Sym>,
    /// Whether it has been laid out, a tuple with all that is in it.
    defined: bool,
    pub fields: Vec<Field>,
}

/// What a function takes and gives.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FnType {
    pub params: Vec<Ty>,
    /// [`Ty::UNIT`] if nothing.
    pub result: Ty,
}

/// A type too large for an address.
#[derive(Debug)]
pub struct TooLarge;

/// No object may be larger.
const MAX_SIZE: u64 = 1 << 31;

/// All types of a program.
#[derive(Default)]
pub struct Types {
    kinds: Vec<TyKind>,
    layouts: Vec<Layout>,
    ids: FxHashMap<TyKind, Ty>,
    pub structs: Vec<Struct>,
    tuples: FxHashMap<Box<[Ty]>, Ty>,
    pub functions: Vec<FnType>,
    fn_types: FxHashMap<FnType, Ty>,
    open: Vec<Open>,
}

/// Types of the parts of a tuple.
pub type Parts = SmallVec<[Ty; 8]>;

impl Types {
    /// Forgets all types but those that are always there.
    pub fn reset(&mut self) {
        let Types { kinds, layouts, ids, structs, tuples, functions, fn_types, open } = self;
        open.clear();
        functions.clear();
        fn_types.clear();
        tuples.clear();
        kinds.clear();
        layouts.clear();
        ids.clear();
        structs.clear();
        let nothing = Layout { size: 0, align: 1, leaves: 0, has_array: false, open: false };
        for kind in [TyKind::Error, TyKind::Unit, TyKind::Never, TyKind::None] {
            kinds.push(kind);
            layouts.push(nothing);
        }
        for scalar in Scalar::ALL {
            let bytes = scalar.bytes();
            kinds.push(TyKind::Scalar(scalar));
            layouts.push(Layout { size: bytes, align: bytes, leaves: 1, has_array: false, open: false });
        }
    }

    /// What it is; an open type is the scalar that it is if nothing else decides.
    pub fn kind(&self, ty: Ty) -> TyKind {
        let ty = self.decided(ty);
        match ty.open_number() {
            Some(n) => TyKind::Scalar(self.open[n].default()),
            None => self.kinds[ty.0 as usize],
        }
    }

    pub fn layout(&self, ty: Ty) -> Layout {
        let ty = self.decided(ty);
        match ty.open_number() {
            Some(n) => Layout { open: true, ..self.layouts[Ty::scalar(self.open[n].default()).0 as usize] },
            None => self.layouts[ty.0 as usize],
        }
    }

    /// The type of a literal without a suffix.
    pub fn open(&mut self, float: bool) -> Ty {
        let ty = Ty(self.open.len() as u32 | Ty::OPEN);
        self.open.push(Open { is: None, float, signed: false, rank: 0 });
        ty
    }

    /// What has been decided about an open type: a scalar, or the open type that stands for all that agree with it.
    fn decided(&self, mut ty: Ty) -> Ty {
        while let Some(next) = ty.open_number().and_then(|n| self.open[n].is) {
            ty = next;
        }
        ty
    }

    /// Whether it is, or holds, what is not decided yet; or was not when the type was made.
    pub fn is_open(&self, ty: Ty) -> bool {
        ty.open_number().is_some() || self.layouts[ty.0 as usize].open
    }

    /// Whether it is the type of a literal that nothing has decided yet.
    pub fn is_undecided(&self, ty: Ty) -> bool {
        self.decided(ty).open_number().is_some()
    }

    /// Whether two types began as those of literals and have become one.
    pub fn is_same_literal(&self, a: Ty, b: Ty) -> bool {
        let root = |ty: Ty| {
            let mut n = ty.open_number()?;
            while let Some(next) = self.open[n].is.and_then(Ty::open_number) {
                n = next;
            }
            Some(n)
        };
        root(a).is_some() && root(a) == root(b)
    }

    /// Keeps an open integer type from being an unsigned one.
    pub fn must_be_signed(&mut self, ty: Ty) {
        if let Some(n) = self.decided(ty).open_number() {
            self.open[n].signed = true;
        }
    }

    /// Takes the type of a literal that met what it does not go with for wrong: that has been told, and is told once.
    pub fn spoil(&mut self, ty: Ty) {
        if let Some(n) = self.decided(ty).open_number() {
            self.open[n].is = Some(Ty::ERROR);
        }
    }

    /// Makes two types the same as far as open types allow. Whether they are.
    pub fn agree(&mut self, a: Ty, b: Ty) -> bool {
        let (a, b) = (self.decided(a), self.decided(b));
        match (a.open_number(), b.open_number()) {
            _ if a == b => true,
            (Some(x), Some(y)) => self.unite(x, y),
            (Some(n), None) => self.decide(n, b),
            (None, Some(n)) => self.decide(n, a),
            (None, None) => match (self.kind(a), self.kind(b)) {
                (TyKind::Array(x, n), TyKind::Array(y, m)) => n == m && self.agree(x, y),
                (TyKind::Pointer(x), TyKind::Pointer(y)) => self.agree(x.to, y.to) && x.may_become(y),
                (TyKind::Struct(_), TyKind::Struct(_)) => match (self.parts(a), self.parts(b)) {
                    (Some(x), Some(y)) => {
                        x.len() == y.len()
                            && x.iter().zip(&y).all(|(&x, &y)| self.fits(x, y) || self.agree(x, y))
                    }
                    _ => false,
                },
                _ => false,
            },
        }
    }

    fn decide(&mut self, n: usize, ty: Ty) -> bool {
        let fits = self.as_scalar(ty).is_some_and(|scalar| self.open[n].admits(scalar));
        if fits {
            self.open[n].is = Some(ty);
        }
        fits
    }

    fn unite(&mut self, x: usize, y: usize) -> bool {
        let (a, b) = (self.open[x], self.open[y]);
        if a.float != b.float {
            return false;
        }
        let (root, other) = if a.rank >= b.rank { (x, y) } else { (y, x) };
        self.open[root].signed = a.signed || b.signed;
        self.open[root].rank = a.rank.max(b.rank) + u8::from(a.rank == b.rank);
        self.open[other].is = Some(Ty(root as u32 | Ty::OPEN));
        true
    }

    /// The type without open types: what is not decided is `i32`, or `f32`. Errors: an array that is too large now.
    pub fn settled(&mut self, ty: Ty) -> Result<Ty, TooLarge> {
        if !self.is_open(ty) {
            return Ok(ty);
        }
        match self.kind(ty) {
            TyKind::Array(element, len) => {
                let element = self.settled(element)?;
                self.array(element, len)
            }
            TyKind::Pointer(pointer) => {
                let to = self.settled(pointer.to)?;
                Ok(self.pointer(Pointer { to, ..pointer }))
            }
            TyKind::Scalar(scalar) => Ok(Ty::scalar(scalar)),
            TyKind::Error => Ok(Ty::ERROR),
            _ => match self.parts(ty) {
                Some(mut parts) => {
                    for part in &mut parts {
                        *part = self.settled(*part)?;
                    }
                    self.tuple(&parts)
                }
                None => Ok(ty),
            },
        }
    }

    fn intern(&mut self, kind: TyKind, layout: Layout) -> Ty {
        if let Some(&ty) = self.ids.get(&kind) {
            return ty;
        }
        let ty = Ty(self.kinds.len() as u32);
        self.kinds.push(kind);
        self.layouts.push(layout);
        self.ids.insert(kind, ty);
        ty
    }

    /// The type of the address of a function.
    pub fn function(&mut self, params: Vec<Ty>, result: Ty) -> Ty {
        let signature = FnType { params, result };
        if let Some(&ty) = self.fn_types.get(&signature) {
            return ty;
        }
        let layout = Layout { size: 8, align: 8, leaves: 1, has_array: false, open: false };
        self.functions.push(signature.clone());
        let ty = self.intern(TyKind::Function(self.functions.len() as u32 - 1), layout);
        self.fn_types.insert(signature, ty);
        ty
    }

    /// What a function takes and gives whose address has this type.
    pub fn as_function(&self, ty: Ty) -> Option<&FnType> {
        match self.kind(ty) {
            TyKind::Function(index) => Some(&self.functions[index as usize]),
            _ => None,
        }
    }

    /// Whether there is an address of a function in a value.
    pub fn holds_function(&self, ty: Ty) -> bool {
        match self.kind(ty) {
            TyKind::Function(_) => true,
            TyKind::Array(element, _) => self.holds_function(element),
            TyKind::Struct(index) => {
                self.structs[index as usize].fields.iter().any(|field| self.holds_function(field.ty))
            }
            _ => false,
        }
    }

    pub fn vector(&mut self, scalar: Scalar, lanes: u8) -> Ty {
        // Three lanes take the room of four, as in OpenCL.
        let room = if lanes == 3 { 4 } else { u32::from(lanes) };
        let size = scalar.bytes() * room;
        let layout = Layout { size, align: size, leaves: u32::from(lanes), has_array: false, open: false };
        self.intern(TyKind::Vector(scalar, lanes), layout)
    }

    pub fn array(&mut self, element: Ty, len: u32) -> Result<Ty, TooLarge> {
        let inner = self.layout(element);
        let size = u64::from(inner.size) * u64::from(len);
        if size >= MAX_SIZE {
            return Err(TooLarge);
        }
        let layout = Layout {
            size: size as u32,
            align: inner.align,
            leaves: inner.leaves.saturating_mul(len),
            has_array: true,
            open: inner.open,
        };
        let ty = self.intern(TyKind::Array(element, len), layout);
        // It may have been made before the element was laid out.
        let known = &mut self.layouts[ty.0 as usize];
        *known = Layout { open: known.open, ..layout };
        Ok(ty)
    }

    /// Whether all structs in it are laid out.
    pub fn is_defined(&self, ty: Ty) -> bool {
        match self.kind(ty) {
            TyKind::Array(element, _) => self.is_defined(element),
            TyKind::Struct(index) => self.structs[index as usize].defined,
            _ => true,
        }
    }

    /// Lays out anew an array or a tuple that was made before the structs in it were laid out.
    pub fn lay_out_again(&mut self, ty: Ty) -> Result<(), TooLarge> {
        match self.kind(ty) {
            TyKind::Array(element, len) => self.array(element, len).map(|_| ()),
            _ => {
                let parts = self.parts(ty).unwrap_or_default();
                let members: SmallVec<[(Sym, Ty); 8]> = parts.iter().map(|&ty| (Sym(0), ty)).collect();
                self.define(ty, &members)
            }
        }
    }

    pub fn pointer(&mut self, pointer: Pointer) -> Ty {
        let size = pointer.space.pointer_bits() / 8;
        let open = self.is_open(pointer.to);
        self.intern(TyKind::Pointer(pointer), Layout { size, align: size, leaves: 1, has_array: false, open })
    }

    /// A pointer to something that is no value.
    pub fn opaque(&mut self, opaque: ir::Opaque, name: &'static str) -> Ty {
        let layout = Layout { size: 8, align: 8, leaves: 0, has_array: false, open: false };
        self.intern(TyKind::Opaque(opaque, name), layout)
    }

    /// A struct that is laid out later ([`Types::define`]). Until then only pointers may lead to it.
    pub fn declare(&mut self, name: Option<Sym>) -> Ty {
        self.structs.push(Struct { name, defined: false, fields: Vec::new() });
        let layout = Layout { size: 0, align: 1, leaves: 0, has_array: false, open: false };
        self.intern(TyKind::Struct(self.structs.len() as u32 - 1), layout)
    }

    /// Lays out a struct and makes it a type.
    pub fn structure(&mut self, name: Sym, members: &[(Sym, Ty)]) -> Result<Ty, TooLarge> {
        let ty = self.declare(Some(name));
        self.define(ty, members).map(|()| ty)
    }

    /// The tuple of these parts; `()` if there are none.
    pub fn tuple(&mut self, parts: &[Ty]) -> Result<Ty, TooLarge> {
        if parts.is_empty() {
            return Ok(Ty::UNIT);
        }
        if let Some(&ty) = self.tuples.get(parts) {
            // It may have been made before its parts were laid out.
            return if self.is_defined(ty) { Ok(ty) } else { self.lay_out_again(ty).map(|()| ty) };
        }
        let members: SmallVec<[(Sym, Ty); 8]> = parts.iter().map(|&ty| (Sym(0), ty)).collect();
        let ty = self.declare(None);
        self.define(ty, &members)?;
        self.tuples.insert(parts.into(), ty);
        Ok(ty)
    }

    /// The types of a tuple's parts.
    pub fn parts(&self, ty: Ty) -> Option<Parts> {
        let TyKind::Struct(index) = self.kind(ty) else { return None };
        let found = &self.structs[index as usize];
        found.name.is_none().then(|| found.fields.iter().map(|field| field.ty).collect())
    }

    /// The types of the parts that a pattern can take a value apart into: those of a tuple, a struct, an array.
    pub fn pattern_parts(&self, ty: Ty) -> Option<Parts> {
        match self.kind(ty) {
            TyKind::Struct(index) => {
                Some(self.structs[index as usize].fields.iter().map(|field| field.ty).collect())
            }
            TyKind::Array(element, count) if self.layout(ty).leaves <= crate::check::MAX_VALUE => {
                Some(std::iter::repeat_n(element, count as usize).collect())
            }
            _ => None,
        }
    }

    /// The scalars of a tuple that has nothing but scalars in it, in order: tuples of which two can be compared.
    pub fn scalars_of_tuple(&self, ty: Ty) -> Option<SmallVec<[Scalar; 8]>> {
        let mut all = SmallVec::new();
        self.gather_scalars(&self.parts(ty)?, &mut all).then_some(all)
    }

    fn gather_scalars(&self, parts: &[Ty], all: &mut SmallVec<[Scalar; 8]>) -> bool {
        parts.iter().all(|&part| match (self.as_scalar(part), self.parts(part)) {
            (Some(scalar), _) => {
                all.push(scalar);
                true
            }
            (None, Some(parts)) => self.gather_scalars(&parts, all),
            (None, None) => false,
        })
    }

    /// The field of this name: a number, of a tuple.
    pub fn field(&self, index: u32, name: Sym, text: &str) -> Option<&Field> {
        let Struct { name: of, fields, .. } = &self.structs[index as usize];
        match of {
            Some(_) => fields.iter().find(|field| field.name == name),
            None => fields.get(text.parse::<usize>().ok()?),
        }
    }

    /// Whether there is a tuple in it, or where it points to.
    pub fn holds_tuple(&self, ty: Ty) -> bool {
        // A struct may point to itself, so each is looked into once.
        let (mut seen, mut work) = (FxHashSet::default(), SmallVec::<[Ty; 8]>::from_slice(&[ty]));
        while let Some(ty) = work.pop() {
            match self.kind(ty) {
                TyKind::Array(element, _) => work.push(element),
                TyKind::Pointer(pointer) => work.push(pointer.to),
                TyKind::Struct(index) if seen.insert(index) => {
                    let Struct { name, fields, .. } = &self.structs[index as usize];
                    if name.is_none() {
                        return true;
                    }
                    work.extend(fields.iter().map(|field| field.ty));
                }
                _ => {}
            }
        }
        false
    }

    /// Lays out a struct that was declared.
    pub fn define(&mut self, ty: Ty, members: &[(Sym, Ty)]) -> Result<(), TooLarge> {
        let TyKind::Struct(index) = self.kind(ty) else { return Ok(()) };
        let is_tuple = self.structs[index as usize].name.is_none();
        let mut fields = Vec::with_capacity(members.len());
        let mut total = Layout { size: 0, align: 1, leaves: 0, has_array: false, open: false };
        for &(member, ty) in members {
            let layout = self.layout(ty);
            let offset = u64::from(total.size).next_multiple_of(u64::from(layout.align));
            let end = offset + u64::from(layout.size);
            if end >= MAX_SIZE {
                return Err(TooLarge);
            }
            fields.push(Field { name: member, ty, offset: offset as u32, leaf: total.leaves });
            total.size = end as u32;
            total.align = total.align.max(layout.align);
            total.leaves = total.leaves.saturating_add(layout.leaves);
            total.has_array |= layout.has_array;
            total.open |= is_tuple && self.is_open(ty);
        }
        total.size = total.size.next_multiple_of(total.align);
        self.structs[index as usize].fields = fields;
        self.structs[index as usize].defined =
            !is_tuple || members.iter().all(|&(_, part)| self.is_defined(part));
        self.layouts[ty.0 as usize] = total;
        Ok(())
    }

    /// The scalar of a scalar or vector type, and the number of lanes.
    pub fn lanes(&self, ty: Ty) -> Option<(Scalar, u8)> {
        match self.kind(ty) {
            TyKind::Scalar(scalar) => Some((scalar, 1)),
            TyKind::Vector(scalar, lanes) => Some((scalar, lanes)),
            _ => None,
        }
    }

    /// The scalar of a scalar type.
    pub fn as_scalar(&self, ty: Ty) -> Option<Scalar> {
        match self.kind(ty) {
            TyKind::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    pub fn as_pointer(&self, ty: Ty) -> Option<Pointer> {
        match self.kind(ty) {
            TyKind::Pointer(pointer) => Some(pointer),
            _ => None,
        }
    }

    /// Returns the type whose fields `x.field` names for an `x` of type `ty`, and the last of the pointers that lead to that type, if
    /// any.
    pub fn behind_pointers(&self, mut ty: Ty) -> (Ty, Option<Pointer>) {
        let mut last = None;
        while let Some(pointer) = self.as_pointer(ty) {
            last = Some(pointer);
            ty = pointer.to;
        }
        (ty, last)
    }

    /// The type with `scalar` in place of the scalar of `shape`, a scalar or vector type.
    pub fn with_scalar(&mut self, shape: Ty, scalar: Scalar) -> Ty {
        match self.kind(shape) {
            TyKind::Vector(_, lanes) => self.vector(scalar, lanes),
            _ => Ty::scalar(scalar),
        }
    }

    /// Whether a value of type `from` may stand where `to` is asked for.
    pub fn fits(&self, from: Ty, to: Ty) -> bool {
        let (from, to) = (self.decided(from), self.decided(to));
        if from == to || from == Ty::ERROR || to == Ty::ERROR || from == Ty::NEVER || to == Ty::NONE {
            return true;
        }
        let (Some(from), Some(to)) = (self.as_pointer(from), self.as_pointer(to)) else { return false };
        self.decided(from.to) == self.decided(to.to) && from.may_become(to)
    }

    /// Whether a value of one type becomes one of the other by itself, though it changes: a pointer whose space is known
    /// becomes a generic one.
    pub fn converts(&mut self, from: Ty, to: Ty) -> bool {
        match (self.as_pointer(from), self.as_pointer(to)) {
            (Some(pointer), Some(Pointer { space: Space::Generic, .. }))
                if pointer.space != Space::Generic =>
            {
                let generic = self.pointer(Pointer { space: Space::Generic, ..pointer });
                self.fits(generic, to) || self.agree(generic, to)
            }
            _ => false,
        }
    }

    /// The type as a user would write it.
    #[cold]
    pub fn name(&self, ty: Ty, names: &[&str]) -> String {
        match self.kind(ty) {
            TyKind::Error | TyKind::None => "?".to_string(),
            TyKind::Unit => "()".to_string(),
            TyKind::Never => "!".to_string(),
            TyKind::Scalar(scalar) => scalar.name().to_string(),
            TyKind::Vector(scalar, lanes) => format!("{}x{lanes}", scalar.name()),
            TyKind::Array(element, len) => format!("[{}; {len}]", self.name(element, names)),
            TyKind::Struct(index) => match &self.structs[index as usize] {
                Struct { name: Some(name), .. } => names[name.0 as usize].to_string(),
                Struct { fields, .. } => {
                    let parts: Vec<String> = fields.iter().map(|field| self.name(field.ty, names)).collect();
                    let comma = if parts.len() == 1 { "," } else { "" };
                    format!("({}{comma})", parts.join(", "))
                }
            },
            TyKind::Function(index) => {
                let FnType { params, result } = &self.functions[index as usize];
                let params: Vec<String> = params.iter().map(|&ty| self.name(ty, names)).collect();
                let result = match *result {
                    Ty::UNIT => String::new(),
                    result => format!(" -> {}", self.name(result, names)),
                };
                format!("fn({}){result}", params.join(", "))
            }
            TyKind::Opaque(opaque, name) => match opaque.access() {
                Some(access) => format!("{} {name}", access.name()),
                None => name.to_string(),
            },
            TyKind::Pointer(pointer) => {
                let mut text = "*".to_string();
                for (flag, word) in [
                    (Qualifiers::CONST, "const "),
                    (Qualifiers::VOLATILE, "volatile "),
                    (Qualifiers::RESTRICT, "restrict "),
                ] {
                    if pointer.qualifiers.contains(flag) {
                        text.push_str(word);
                    }
                }
                if pointer.space != Space::Generic {
                    text.push_str(pointer.space.name());
                    text.push(' ');
                }
                text + &self.name(pointer.to, names)
            }
        }
    }
}

/// Lanes that a name like `x`, `zyx`, `lo` or `s3` selects from a vector of `lanes` lanes.
pub fn swizzle(name: &str, lanes: u8) -> Option<([u8; 16], usize)> {
    let mut picked = [0u8; 16];
    let half = lanes.div_ceil(2);
    let (start, step, count) = match name {
        "lo" => (0, 1, half),
        "hi" => (half, 1, half),
        "even" => (0, 2, half),
        "odd" => (1, 2, half),
        _ => (0, 0, 0),
    };
    if count > 0 && lanes > 2 {
        // The upper half of three lanes would reach into the padding.
        for n in 0..count {
            picked[n as usize] = start + n * step;
        }
        return (lanes != 3).then_some((picked, count as usize));
    }
    if count > 0 && lanes == 2 {
        picked[0] = start;
        return Some((picked, 1));
    }
    let hex = name.len() > 1 && name.starts_with('s');
    let letters = if hex { &name[1..] } else { name };
    if letters.is_empty() || letters.len() > 16 {
        return None;
    }
    for (n, c) in letters.bytes().enumerate() {
        let lane = match (hex, c) {
            (true, b'0'..=b'9') => c - b'0',
            (true, b'a'..=b'f') => c - b'a' + 10,
            (false, b'x') => 0,
            (false, b'y') => 1,
            (false, b'z') => 2,
            (false, b'w') => 3,
            _ => return None,
        };
        if lane >= lanes {
            return None;
        }
        picked[n] = lane;
    }
    // The result must be a scalar or a vector type.
    matches!(letters.len(), 1 | 2 | 3 | 4 | 8 | 16).then_some((picked, letters.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout_is_c() {
        let mut types = Types::default();
        types.reset();
        let v3 = types.vector(Scalar::F32, 3);
        assert_eq!((types.layout(v3).size, types.layout(v3).align), (16, 16));
        let s = types.structure(Sym(0), &[(Sym(1), Ty::scalar(Scalar::U8)), (Sym(2), v3), (Sym(3), Ty::I32)]);
        let s = s.unwrap();
        assert_eq!((types.layout(s).size, types.layout(s).align, types.layout(s).leaves), (48, 16, 5));
        assert_eq!(types.structs[0].fields[2].offset, 32);
        let rows = types.array(s, 3).unwrap();
        assert_eq!(types.layout(rows).size, 144);
        assert!(types.array(rows, 1 << 30).is_err());
    }

    #[test]
    fn swizzles() {
        assert_eq!(swizzle("zyx", 4).map(|(l, n)| l[..n].to_vec()), Some(vec![2, 1, 0]));
        assert_eq!(swizzle("hi", 4).map(|(l, n)| l[..n].to_vec()), Some(vec![2, 3]));
        assert_eq!(swizzle("lo", 2).map(|(l, n)| l[..n].to_vec()), Some(vec![0]));
        assert_eq!(swizzle("s0f", 16).map(|(l, n)| l[..n].to_vec()), Some(vec![0, 15]));
        for (name, lanes) in [("w", 3), ("xyzwx", 4), ("s4", 4), ("q", 4), ("hi", 3), ("s", 4)] {
            assert!(swizzle(name, lanes).is_none(), "{name}");
        }
    }
}
