//! Types of the language, interned: equal types have equal [`Ty`]s. The layout is that of C.
//!
//! While a function is checked, literals without a suffix have *open* types, which their uses decide
//! ([`Types::agree`]). A type that contains an open type is open too. [`Types::without_open_types`] replaces
//! all open types.

use crate::ast::Sym;
use crate::scalar::Scalar;
use ir::Space;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// An interned type: a number that stands for an entry of [`Types`]. Equal types have equal numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ty(u32);

impl Ty {
    /// Type of an expression that has a reported error. It is compatible with every type, so that there are
    /// no further errors.
    pub const ERROR: Ty = Ty(0);
    /// Type of an expression without a value.
    pub const UNIT: Ty = Ty(1);
    /// Type of an expression that control never leaves.
    pub const NEVER: Ty = Ty(2);
    /// Serves only as an expected type. It says that the context expects no particular type.
    pub const NONE: Ty = Ty(3);
    pub const BOOL: Ty = Ty::scalar(Scalar::Bool);
    pub const I32: Ty = Ty::scalar(Scalar::I32);
    pub const U32: Ty = Ty::scalar(Scalar::U32);
    pub const U64: Ty = Ty::scalar(Scalar::U64);
    pub const F32: Ty = Ty::scalar(Scalar::F32);

    pub const fn scalar(scalar: Scalar) -> Ty {
        Ty(4 + scalar as u32)
    }

    /// Flag of the numbers of open types; see [`Types::open`].
    const OPEN: u32 = 1 << 31;

    fn open_number(self) -> Option<usize> {
        (self.0 & Ty::OPEN != 0).then_some((self.0 & !Ty::OPEN) as usize)
    }
}

/// State of an open type, which is the type of a literal without a suffix until a use of the literal decides
/// it.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// What this type of a literal has become: a scalar type, or the type of another literal that must be the
    /// same. `None` if no use of the literal has decided it yet.
    is: Option<Ty>,
    float: bool,
    /// Whether a minus sign precedes a literal of this type. If so, the type cannot become an unsigned type.
    signed: bool,
    /// Rank in the union-find structure of open types. In this structure, each open type refers to another
    /// one that it was made equal to, until a chain of references ends. The rank is an upper bound on the
    /// length of the chains that end at this type. A type of rank r stands for at least 2^r open types, so
    /// the chains stay short.
    rank: u8,
}

impl Open {
    /// Returns the scalar type that the type of a literal becomes if no use decides it.
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
    /// Returns whether a pointer of this type can be used where a pointer of type `to` is expected. Both must
    /// point to the same type, which this function does not test.
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
    /// An opaque type, such as an image, which only a kernel parameter can have. The text is the type's name
    /// without the access qualifier.
    Opaque(ir::Opaque, &'static str),
}

/// Layout and shape of a type.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Number of bytes, a multiple of the alignment.
    pub size: u32,
    pub align: u32,
    /// Number of fragments (scalars and pointers) of a value of the type. Numbers that do not fit are clamped
    /// to the largest `u32`.
    pub fragments: u32,
    pub has_array: bool,
    /// Whether the type contains an open type, that is, the type of a literal that no use has decided. The
    /// size is not final then.
    pub open: bool,
}

#[derive(Clone, Debug)]
pub struct Field {
    pub name: Sym,
    pub ty: Ty,
    pub offset: u32,
    /// Number of fragments that precede the field.
    pub first_fragment: u32,
}

/// A struct or a tuple. A tuple is stored as a struct without a name, whose fields are called `0`, `1` and so
/// on.
#[derive(Clone, Debug)]
pub struct Struct {
    pub name: Option<Sym>,
    /// Whether the struct has a layout. A tuple has one if all its element types have one.
    defined: bool,
    pub fields: Vec<Field>,
}

/// Parameter and result types of a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FnType {
    pub params: Vec<Ty>,
    /// [`Ty::UNIT`] if the function has no result.
    pub result: Ty,
}

/// Error value for a type that is too large to address.
#[derive(Debug)]
pub struct TooLarge;

/// Limit on the size of an object, in bytes.
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
    /// Removes all types except the predefined ones.
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
        let nothing = Layout { size: 0, align: 1, fragments: 0, has_array: false, open: false };
        for kind in [TyKind::Error, TyKind::Unit, TyKind::Never, TyKind::None] {
            kinds.push(kind);
            layouts.push(nothing);
        }
        for scalar in Scalar::ALL {
            let bytes = scalar.bytes();
            kinds.push(TyKind::Scalar(scalar));
            layouts.push(Layout { size: bytes, align: bytes, fragments: 1, has_array: false, open: false });
        }
    }

    /// Returns the kind of a type. As long as no use has decided the type of a literal, its kind is that of
    /// its default type, such as `i32`.
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

    /// Creates the type of a literal without a suffix.
    pub fn open(&mut self, float: bool) -> Ty {
        let ty = Ty(self.open.len() as u32 | Ty::OPEN);
        self.open.push(Open { is: None, float, signed: false, rank: 0 });
        ty
    }

    /// Returns what an open type (the type of a literal) has been decided to be. This is a scalar, or the
    /// open type that represents all open types that were made equal. Returns any other type unchanged.
    fn decided(&self, mut ty: Ty) -> Ty {
        while let Some(next) = ty.open_number().and_then(|n| self.open[n].is) {
            ty = next;
        }
        ty
    }

    /// Returns whether the type is an open type (the type of a literal), or contains one. The answer stays
    /// true after uses have decided the open types.
    pub fn is_open(&self, ty: Ty) -> bool {
        ty.open_number().is_some() || self.layouts[ty.0 as usize].open
    }

    /// Returns whether the type is an open type (the type of a literal) that no use has decided yet.
    pub fn is_undecided(&self, ty: Ty) -> bool {
        self.decided(ty).open_number().is_some()
    }

    /// Returns whether two types are open types (types of literals) that were made equal. A use that decides
    /// one of them then also decides the other.
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

    /// Excludes unsigned types for an open integer type.
    pub fn must_be_signed(&mut self, ty: Ty) {
        if let Some(n) = self.decided(ty).open_number() {
            self.open[n].signed = true;
        }
    }

    /// Turns an open type, the type of a literal, into the error type. An error about the literal has been
    /// reported, and further errors would only repeat it.
    pub fn spoil(&mut self, ty: Ty) {
        if let Some(n) = self.decided(ty).open_number() {
            self.open[n].is = Some(Ty::ERROR);
        }
    }

    /// Makes two types equal if that is possible, by deciding the open types in them. Returns whether the
    /// types are equal now.
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

    /// Returns the type with its open types (types of literals) replaced by the types that were decided for
    /// them. An open type that is not decided becomes `i32` or `f32`. Fails if this makes an array too large.
    pub fn without_open_types(&mut self, ty: Ty) -> Result<Ty, TooLarge> {
        if !self.is_open(ty) {
            return Ok(ty);
        }
        match self.kind(ty) {
            TyKind::Array(element, len) => {
                let element = self.without_open_types(element)?;
                self.array(element, len)
            }
            TyKind::Pointer(pointer) => {
                let to = self.without_open_types(pointer.to)?;
                Ok(self.pointer(Pointer { to, ..pointer }))
            }
            TyKind::Scalar(scalar) => Ok(Ty::scalar(scalar)),
            TyKind::Error => Ok(Ty::ERROR),
            _ => match self.parts(ty) {
                Some(mut parts) => {
                    for part in &mut parts {
                        *part = self.without_open_types(*part)?;
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

    /// Returns the type of the address of a function.
    pub fn function(&mut self, params: Vec<Ty>, result: Ty) -> Ty {
        let signature = FnType { params, result };
        if let Some(&ty) = self.fn_types.get(&signature) {
            return ty;
        }
        let layout = Layout { size: 8, align: 8, fragments: 1, has_array: false, open: false };
        self.functions.push(signature.clone());
        let ty = self.intern(TyKind::Function(self.functions.len() as u32 - 1), layout);
        self.fn_types.insert(signature, ty);
        ty
    }

    /// Returns the parameter types and the result type of a function type. Returns `None` for other types.
    pub fn as_function(&self, ty: Ty) -> Option<&FnType> {
        match self.kind(ty) {
            TyKind::Function(index) => Some(&self.functions[index as usize]),
            _ => None,
        }
    }

    /// Returns whether values of the type contain a function pointer.
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
        // A vector of three elements takes the space of four elements, as in OpenCL.
        let room = if lanes == 3 { 4 } else { u32::from(lanes) };
        let size = scalar.bytes() * room;
        let layout = Layout { size, align: size, fragments: u32::from(lanes), has_array: false, open: false };
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
            fragments: inner.fragments.saturating_mul(len),
            has_array: true,
            open: inner.open,
        };
        let ty = self.intern(TyKind::Array(element, len), layout);
        // If the array type was created before its element type had a layout, this replaces the layout of the
        // array type.
        let known = &mut self.layouts[ty.0 as usize];
        *known = Layout { open: known.open, ..layout };
        Ok(ty)
    }

    /// Returns whether all structs in the type have been laid out.
    pub fn is_defined(&self, ty: Ty) -> bool {
        match self.kind(ty) {
            TyKind::Array(element, _) => self.is_defined(element),
            TyKind::Struct(index) => self.structs[index as usize].defined,
            _ => true,
        }
    }

    /// Computes the layout of an array or a tuple again. The type was created before the structs in it had a
    /// layout.
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
        self.intern(
            TyKind::Pointer(pointer),
            Layout { size, align: size, fragments: 1, has_array: false, open },
        )
    }

    /// Returns an opaque type, such as an image. A kernel argument of this type is a pointer to an object of
    /// the runtime, which the kernel cannot use as a value.
    pub fn opaque(&mut self, opaque: ir::Opaque, name: &'static str) -> Ty {
        let layout = Layout { size: 8, align: 8, fragments: 0, has_array: false, open: false };
        self.intern(TyKind::Opaque(opaque, name), layout)
    }

    /// Creates a struct type without a layout. [`Types::define`] computes the layout later. Until then, only
    /// pointers may refer to the struct.
    pub fn declare(&mut self, name: Option<Sym>) -> Ty {
        self.structs.push(Struct { name, defined: false, fields: Vec::new() });
        let layout = Layout { size: 0, align: 1, fragments: 0, has_array: false, open: false };
        self.intern(TyKind::Struct(self.structs.len() as u32 - 1), layout)
    }

    /// Creates a struct and lays it out.
    pub fn structure(&mut self, name: Sym, members: &[(Sym, Ty)]) -> Result<Ty, TooLarge> {
        let ty = self.declare(Some(name));
        self.define(ty, members).map(|()| ty)
    }

    /// Returns the tuple of these parts; `()` if there are none.
    pub fn tuple(&mut self, parts: &[Ty]) -> Result<Ty, TooLarge> {
        if parts.is_empty() {
            return Ok(Ty::UNIT);
        }
        if let Some(&ty) = self.tuples.get(parts) {
            // The tuple type may have been created before its element types had a layout. Its own layout is
            // then computed again here.
            return if self.is_defined(ty) { Ok(ty) } else { self.lay_out_again(ty).map(|()| ty) };
        }
        let members: SmallVec<[(Sym, Ty); 8]> = parts.iter().map(|&ty| (Sym(0), ty)).collect();
        let ty = self.declare(None);
        self.define(ty, &members)?;
        self.tuples.insert(parts.into(), ty);
        Ok(ty)
    }

    /// Returns the types of a tuple's parts.
    pub fn parts(&self, ty: Ty) -> Option<Parts> {
        let TyKind::Struct(index) = self.kind(ty) else { return None };
        let found = &self.structs[index as usize];
        found.name.is_none().then(|| found.fields.iter().map(|field| field.ty).collect())
    }

    /// Returns the types of the parts of a value, for patterns. The parts are the elements of a tuple or an
    /// array, or the fields of a struct. Returns `None` for other types.
    pub fn pattern_parts(&self, ty: Ty) -> Option<Parts> {
        match self.kind(ty) {
            TyKind::Struct(index) => {
                Some(self.structs[index as usize].fields.iter().map(|field| field.ty).collect())
            }
            TyKind::Array(element, count) if self.layout(ty).fragments <= crate::check::MAX_VALUE => {
                Some(std::iter::repeat_n(element, count as usize).collect())
            }
            _ => None,
        }
    }

    /// Returns the scalars of a tuple, in order, if the tuple consists only of scalars and of tuples of
    /// scalars. Tuples of this sort can be compared.
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

    /// Returns the field of a struct with this name. The name of a field of a tuple is a number.
    pub fn field(&self, index: u32, name: Sym, text: &str) -> Option<&Field> {
        let Struct { name: of, fields, .. } = &self.structs[index as usize];
        match of {
            Some(_) => fields.iter().find(|field| field.name == name),
            None => fields.get(text.parse::<usize>().ok()?),
        }
    }

    /// Returns whether the type contains a tuple, directly or through pointers.
    pub fn holds_tuple(&self, ty: Ty) -> bool {
        // A struct may point to itself, so each struct is visited only once.
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
        let mut total = Layout { size: 0, align: 1, fragments: 0, has_array: false, open: false };
        for &(member, ty) in members {
            let layout = self.layout(ty);
            let offset = u64::from(total.size).next_multiple_of(u64::from(layout.align));
            let end = offset + u64::from(layout.size);
            if end >= MAX_SIZE {
                return Err(TooLarge);
            }
            fields.push(Field { name: member, ty, offset: offset as u32, first_fragment: total.fragments });
            total.size = end as u32;
            total.align = total.align.max(layout.align);
            total.fragments = total.fragments.saturating_add(layout.fragments);
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

    /// Returns the scalar type and the number of elements of a vector type; a scalar type has one element.
    /// Returns `None` for other types.
    pub fn lanes(&self, ty: Ty) -> Option<(Scalar, u8)> {
        match self.kind(ty) {
            TyKind::Scalar(scalar) => Some((scalar, 1)),
            TyKind::Vector(scalar, lanes) => Some((scalar, lanes)),
            _ => None,
        }
    }

    /// Returns the scalar of a scalar type.
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

    /// Returns the type at the end of a chain of pointers, and the last pointer of the chain, if `ty` is a
    /// pointer. A field access `x.field` follows the pointers of `x` in this way.
    pub fn behind_pointers(&self, mut ty: Ty) -> (Ty, Option<Pointer>) {
        let mut last = None;
        while let Some(pointer) = self.as_pointer(ty) {
            last = Some(pointer);
            ty = pointer.to;
        }
        (ty, last)
    }

    /// Returns the type with the form of `shape`, which is a scalar or a vector, but with `scalar` as its
    /// scalar type.
    pub fn with_scalar(&mut self, shape: Ty, scalar: Scalar) -> Ty {
        match self.kind(shape) {
            TyKind::Vector(_, lanes) => self.vector(scalar, lanes),
            _ => Ty::scalar(scalar),
        }
    }

    /// Returns whether a value of type `from` can be used as a value of type `to` as it is, without an
    /// instruction that converts it.
    pub fn fits(&self, from: Ty, to: Ty) -> bool {
        let (from, to) = (self.decided(from), self.decided(to));
        if from == to || from == Ty::ERROR || to == Ty::ERROR || from == Ty::NEVER || to == Ty::NONE {
            return true;
        }
        let (Some(from), Some(to)) = (self.as_pointer(from), self.as_pointer(to)) else { return false };
        self.decided(from.to) == self.decided(to.to) && from.may_become(to)
    }

    /// Returns whether a conversion by an instruction makes a value of type `from` a value of type `to`.
    /// There is only one case: a pointer with a known address space becomes a generic pointer.
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

    /// Returns the type as a user would write it.
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

/// Returns the elements that a swizzle selects from a vector of `lanes` elements, and their number. A swizzle
/// is a name such as `x`, `zyx`, `lo` or `s3`.
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
        // A vector of three elements has no `lo` and `hi`, because its upper half would include the padding
        // after the third element.
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
        assert_eq!((types.layout(s).size, types.layout(s).align, types.layout(s).fragments), (48, 16, 5));
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
