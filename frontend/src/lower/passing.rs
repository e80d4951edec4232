//! Passes arguments and results of functions as the calling convention says. This applies to functions that
//! other object files know or that are called through their addresses. The convention passes values dword by
//! dword. Each dword is in a register or a stack slot; this module calls both *places*.
//!
//! In the IR, the parameters of such a function are its argument registers in order, followed by its stack
//! slots. A 32-bit parameter stands for one place and a 64-bit parameter for two. A place that carries no
//! value also has a parameter, for which callers pass zero. Results are passed in the same way. Code
//! generation therefore only counts places and need not know about structs. The crate `callconv` decides
//! which part of a value goes to which place.
//!
//! For a call through an address, caller and callee derive the same [`PassingPlan`] from the function's type.
//! The convention cannot pass vectors of `bool`. A function with such a parameter or result that is not
//! visible to other object files is passed the fragments (scalars) of the values instead, like a function
//! that only this module calls.

use super::{Lower, Val, fragment_types};
use crate::scalar::Scalar;
use crate::types::{Layout, Ty, TyKind, Types};
use callconv::{Form, How, Param, Passed, Piece, Place, column};
use ir::{BinOp, CastOp, IntCc, Mem, Op, Signature, SlotData, Space, Type, Value};
use smallvec::SmallVec;

/// The calling convention that a program is compiled for.
#[derive(Clone, Copy, Debug)]
pub struct Abi<'a> {
    /// Processor and its modes.
    pub target: &'a isa::Subtarget,
    /// Variant of the convention.
    pub convention: callconv::Convention,
    /// The source language of the code on the other side of a call, which clang is assumed to have compiled.
    /// Some rules of the convention depend on this language.
    pub language: callconv::Language,
}

impl<'a> Abi<'a> {
    /// Returns the calling convention that LLVM 19 uses for C and similar languages. This compiler's objects
    /// can then be linked with clang's objects.
    pub fn today(target: &'a isa::Subtarget) -> Self {
        Abi { target, convention: callconv::Convention::default(), language: callconv::Language::C }
    }
}

/// The part of a fragment (scalar) that is passed in a dword. A dword may carry parts of several fragments,
/// such as two 16-bit integers.
#[derive(Clone, Copy, Debug)]
struct Bits {
    fragment: usize,
    /// The part consists of `count` bits: in the fragment (scalar) from bit `from` on, and in the dword from
    /// bit `shift` on.
    from: u32,
    shift: u32,
    count: u32,
}

/// A value of the IR with which a part of an argument or a result is passed.
#[derive(Clone, Debug)]
enum Unit {
    /// A register or stack slot that carries no value.
    Gap,
    /// A whole fragment (scalar), given by its number.
    Fragment(usize, Type),
    /// An `f16` that is passed as the `f32` of the same value.
    Single(usize),
    /// A dword made of parts of fragments.
    Word(SmallVec<[Bits; 4]>),
    /// The address of the value, which is in memory.
    Address(Space),
}

impl Unit {
    fn ty(&self) -> Type {
        match *self {
            Unit::Gap | Unit::Word(_) => Type::I32,
            Unit::Fragment(_, ty) => ty,
            Unit::Single(_) => Type::F32,
            Unit::Address(space) => Type::Ptr(space),
        }
    }
}

/// How the arguments and the result of a function are passed.
#[derive(Clone, Debug, Default)]
pub struct PassingPlan {
    params: Vec<(Ty, Vec<Unit>)>,
    result: Vec<Unit>,
    /// If the result is returned in memory: how the address of this memory is passed, and whether the address
    /// is the first argument (true) or the last one (false). `None` if the result is not returned in memory.
    stored: Option<(Unit, bool)>,
}

/// A scalar of a value as it lies in memory: its byte offset in the value, its number of bits, and its type
/// in the IR.
struct LaidOutScalar {
    at: u32,
    bits: u32,
    ty: Type,
}

fn push_fragments(types: &Types, ty: Ty, at: u32, out: &mut Vec<LaidOutScalar>) {
    match types.kind(ty) {
        TyKind::Scalar(scalar) => out.push(LaidOutScalar { at, bits: 8 * scalar.bytes(), ty: scalar.ir() }),
        TyKind::Vector(scalar, lanes) => {
            let lane =
                |n| LaidOutScalar { at: at + n * scalar.bytes(), bits: 8 * scalar.bytes(), ty: scalar.ir() };
            out.extend((0..u32::from(lanes)).map(lane));
        }
        TyKind::Pointer(pointer) => {
            out.push(LaidOutScalar { at, bits: pointer.space.pointer_bits(), ty: Type::Ptr(pointer.space) });
        }
        TyKind::Function(_) => out.push(LaidOutScalar { at, bits: 64, ty: Type::I64 }),
        TyKind::Array(element, len) => {
            let size = types.layout(element).size;
            (0..len).for_each(|n| push_fragments(types, element, at + n * size, out));
        }
        TyKind::Struct(index) => {
            let fields = &types.structs[index as usize].fields;
            fields.iter().for_each(|field| push_fragments(types, field.ty, at + field.offset, out));
        }
        TyKind::Error | TyKind::Unit | TyKind::Never | TyKind::None | TyKind::Opaque(..) => {}
    }
}

/// Returns the type as `callconv` describes it.
fn foreign(types: &Types, ty: Ty, out: &mut callconv::Types) -> Result<callconv::TypeId, String> {
    use callconv::Scalar as S;
    let scalar = |scalar: Scalar| match scalar {
        Scalar::Bool => S::Bool,
        Scalar::F16 => S::F16,
        Scalar::Bf16 => S::BF16,
        Scalar::F32 => S::F32,
        Scalar::F64 => S::F64,
        _ => S::Int { bits: scalar.bits() as u8, signed: scalar.is_signed() },
    };
    let text = |error: callconv::TypeError| error.to_string();
    match types.kind(ty) {
        TyKind::Scalar(of) => Ok(out.scalar(scalar(of))),
        TyKind::Vector(of, lanes) => out.vector(scalar(of), lanes.into()).map_err(text),
        TyKind::Pointer(pointer) => {
            let space = callconv::Space::ALL[pointer.space as usize];
            Ok(out.scalar(S::Pointer(space)))
        }
        TyKind::Function(_) => Ok(out.scalar(S::Pointer(callconv::Space::Flat))),
        TyKind::Array(element, len) => {
            let element = foreign(types, element, out)?;
            out.array(element, len).map_err(text)
        }
        TyKind::Struct(index) => {
            let mut fields = Vec::new();
            for field in &types.structs[index as usize].fields {
                fields.push(foreign(types, field.ty, out)?);
            }
            out.structure(&fields).map_err(text)
        }
        _ => Err("it has no value".to_owned()),
    }
}

/// Returns the type in the form that the crate `callconv` takes. A parameter of array type is passed like a
/// struct whose only field is the array.
fn convention_type(types: &Types, ty: Ty, out: &mut callconv::Types) -> Result<callconv::TypeId, String> {
    let id = foreign(types, ty, out)?;
    match types.kind(ty) {
        TyKind::Array(..) => out.structure(&[id]).map_err(|error| error.to_string()),
        _ => Ok(id),
    }
}

/// Returns the plan that says in which register or stack slot each part of a value is passed, for a function
/// with these parameter types and this result type. The function is named after the border between two object
/// files.
///
/// # Errors
/// A text that says what the convention or this compiler cannot pass.
pub fn border(types: &Types, abi: &Abi<'_>, params: &[Ty], result: Ty) -> Result<PassingPlan, String> {
    let mut all = callconv::Types::default();
    let mut list = Vec::with_capacity(params.len());
    for &ty in params {
        list.push(Param::unmarked(convention_type(types, ty, &mut all)?));
    }
    let returned = if result == Ty::UNIT { None } else { Some(convention_type(types, result, &mut all)?) };
    let signature = callconv::Signature {
        params: &list,
        result: returned,
        language: abi.language,
        ..callconv::Signature::default()
    };
    let places =
        callconv::assign(&all, &signature, abi.target, abi.convention).map_err(|error| error.to_string())?;
    let column = column(abi.convention);
    let (first, last) = column.argument_vgprs.clone().into_inner();
    let mut walk = Walk { next: Place::Vgpr(first), last };
    let mut border = PassingPlan::default();
    let stored = places.result.as_ref().filter(|passed| passed.how == How::Address);
    let address = stored.map(|passed| {
        let space = if passed.pieces.len() == 2 { Space::Generic } else { Space::Private };
        (Unit::Address(space), column.sret == callconv::SretPlace::First)
    });
    let mut step = |passed: &Passed, ty: Ty| walk.units(types, ty, passed, places.pieces_of(passed));
    if let (Some(passed), Some((_, true))) = (stored, &address) {
        step(passed, result)?;
    }
    for (passed, &ty) in places.params.iter().zip(params) {
        border.params.push((ty, step(passed, ty)?));
    }
    if let (Some(passed), Some((_, false))) = (stored, &address) {
        let units = step(passed, result)?;
        border.params.push((Ty::UNIT, units.into_iter().filter(|unit| matches!(unit, Unit::Gap)).collect()));
    }
    border.stored = address;
    if let Some(passed) = places.result.as_ref().filter(|passed| passed.how != How::Address) {
        let (first, last) = column.result_vgprs.clone().into_inner();
        let mut walk = Walk { next: Place::Vgpr(first), last };
        border.result = walk.units(types, result, passed, places.pieces_of(passed))?;
    }
    Ok(border)
}

/// Iterates over the places in which the convention passes values: first the argument registers, then the
/// stack slots. `next` is the next place, and `last` is the number of the last argument register.
struct Walk {
    next: Place,
    last: u16,
}

impl Walk {
    fn advance(&mut self) {
        self.next = match self.next {
            Place::Vgpr(n) if n < self.last => Place::Vgpr(n + 1),
            Place::Stack(at) => Place::Stack(at + 4),
            Place::Vgpr(_) | Place::Sgpr(_) => Place::Stack(0),
        };
    }

    fn units(
        &mut self,
        types: &Types,
        ty: Ty,
        passed: &Passed,
        pieces: &[Piece],
    ) -> Result<Vec<Unit>, String> {
        let mut units = Vec::new();
        if passed.how == How::Image {
            return Err("a struct that lies on the stack as a whole is not compiled yet".to_owned());
        }
        let mut all = Vec::new();
        push_fragments(types, ty, 0, &mut all);
        let (mut n, mut before) = (0, None);
        while let Some(piece) = pieces.get(n) {
            n += 1;
            let bits = parts(&all, piece);
            if before == Some(piece.place) {
                if let Some(Unit::Word(word)) = units.last_mut() {
                    word.extend(bits);
                }
                continue;
            }
            before = Some(piece.place);
            for _ in 0..1 << 16 {
                if self.next == piece.place {
                    break;
                }
                units.push(Unit::Gap);
                self.advance();
            }
            self.advance();
            if passed.how == How::Address {
                if n == 1 {
                    units.push(Unit::Address(if pieces.len() == 2 {
                        Space::Generic
                    } else {
                        Space::Private
                    }));
                }
                continue;
            }
            let is_whole = piece.bits == 32 && piece.shift == 0 && piece.form == Form::Bits;
            let fragment = all.iter().position(|fragment| is_whole && fragment.at == piece.offset);
            match fragment.map(|n| (n, &all[n])) {
                Some((n, fragment)) if fragment.bits == 32 => units.push(Unit::Fragment(n, fragment.ty)),
                Some((at, fragment))
                    if fragment.bits == 64 && self.takes_next(pieces.get(n), piece.offset + 4) =>
                {
                    units.push(Unit::Fragment(at, fragment.ty));
                    before = pieces.get(n).map(|piece| piece.place);
                    n += 1;
                    self.advance();
                }
                _ if piece.form == Form::HalfAsSingle => {
                    units.push(bits.first().map_or(Unit::Gap, |part| Unit::Single(part.fragment)));
                }
                _ => units.push(Unit::Word(bits)),
            }
        }
        Ok(units)
    }

    /// Returns whether `piece`, a part of a value, is the second half of a 64-bit value. It must also be
    /// passed directly after the first half, in the next register or stack slot.
    fn takes_next(&self, piece: Option<&Piece>, offset: u32) -> bool {
        piece.is_some_and(|piece| piece.offset == offset && piece.bits == 32 && piece.place == self.next)
    }
}

/// Returns the parts of fragments (scalars) that a piece contains. A piece is what the calling convention
/// passes in one place.
fn parts(all: &[LaidOutScalar], piece: &Piece) -> SmallVec<[Bits; 4]> {
    let (first, end) = (8 * piece.offset, 8 * piece.offset + u32::from(piece.bits));
    let shift = u32::from(piece.shift) + if piece.form == Form::UpperHalf { 16 } else { 0 };
    let part = |(fragment, data): (usize, &LaidOutScalar)| {
        let (from, to) = (first.max(8 * data.at), end.min(8 * data.at + data.bits));
        (from < to).then(|| Bits {
            fragment,
            from: from - 8 * data.at,
            shift: shift + from - first,
            count: to - from,
        })
    };
    all.iter().enumerate().filter_map(part).collect()
}

impl PassingPlan {
    /// Returns the signature of the function in the IR.
    pub fn signature(&self) -> Signature {
        let units = self.params.iter().flat_map(|(_, units)| units).map(Unit::ty);
        let mut params: Vec<Type> = units.collect();
        match &self.stored {
            Some((unit, true)) => params.insert(0, unit.ty()),
            Some((unit, false)) => params.push(unit.ty()),
            None => {}
        }
        Signature { params, results: self.result.iter().map(Unit::ty).collect() }
    }
}

/// Appends the scalar types of a type, one for each fragment.
fn scalars(types: &Types, ty: Ty, out: &mut Vec<Scalar>) {
    match types.kind(ty) {
        TyKind::Scalar(scalar) => out.push(scalar),
        TyKind::Vector(scalar, lanes) => out.extend((0..lanes).map(|_| scalar)),
        // Only the bits of a pointer matter here.
        TyKind::Pointer(_) | TyKind::Function(_) => out.push(Scalar::U64),
        TyKind::Array(element, len) => (0..len).for_each(|_| scalars(types, element, out)),
        TyKind::Struct(index) => {
            types.structs[index as usize].fields.iter().for_each(|field| scalars(types, field.ty, out));
        }
        _ => {}
    }
}

impl Lower<'_, '_> {
    /// Returns the plan by which functions with this function type pass their values. Returns `None` if the
    /// convention cannot pass one of the types.
    pub(super) fn border_of(&self, params: &[Ty], result: Ty) -> Option<PassingPlan> {
        border(&self.checked.types, self.abi.as_ref()?, params, result).ok()
    }

    /// Emits a call of a function whose arguments and result are passed by the plan `border`. Returns the
    /// fragments (scalars) of the result.
    pub(super) fn call_over(
        &mut self,
        border: &PassingPlan,
        op: Op,
        address: Option<Value>,
        given: &[Value],
        result: Ty,
    ) -> Val {
        let mut args: Val = address.into_iter().collect();
        let (mut slot, mut last) = (None, None);
        if let Some((Unit::Address(space), first)) = border.stored {
            let own = self.alloc_slot(self.checked.types.layout(result));
            let pointer = self.in_space(own, space);
            slot = Some(own);
            if first {
                args.push(pointer);
            } else {
                last = Some(pointer);
            }
        }
        let mut rest = given;
        for (ty, units) in &border.params {
            let mut types = super::FragmentTypes::new();
            fragment_types(self.checked, *ty, &mut types);
            let (now, after) = rest.split_at(types.len());
            rest = after;
            self.send(*ty, units, now, &mut args);
        }
        args.extend(last);
        let types = border.signature().results;
        self.crossings += 1;
        let inst = self.func.push_call(self.block, op, &args, &types, self.loc);
        let results: Val = self.func.results_of(inst).collect();
        match slot {
            Some(slot) => self.load_whole(slot, Space::Private, result),
            None => self.receive(result, &border.result, &results),
        }
    }

    /// Adds the IR parameters of a function whose arguments are passed by the plan `border`. Returns the
    /// fragments (scalars) of each parameter of the source. If the result is returned in memory, also returns
    /// the address at which the function must store it.
    pub(super) fn enter_over(&mut self, border: &PassingPlan) -> (Vec<Val>, Option<Value>) {
        let types = border.signature().params;
        let params: Val = types.iter().map(|&ty| self.func.add_param(self.block, ty)).collect();
        let mut rest = &params[..];
        let mut stored = None;
        if let Some((_, first)) = border.stored {
            let at = if first { 0 } else { params.len() - 1 };
            stored = Some(params[at]);
            rest = if first { &params[1..] } else { &params[..at] };
        }
        let mut values = Vec::new();
        for (ty, units) in &border.params {
            let (now, after) = rest.split_at(units.len());
            rest = after;
            values.push(self.receive(*ty, units, now));
        }
        (values, stored)
    }

    /// Rewrites each `ret` of the function, so that the result is returned as the plan `border` says. It is
    /// returned in registers, or stored to the address `stored`.
    pub(super) fn leave_over(&mut self, border: &PassingPlan, stored: Option<Value>, result: Ty) {
        self.func.results = border.signature().results;
        let ends = self.func.layout.iter().copied().filter_map(|block| {
            let last = self.func.terminator(block)?;
            (self.func.insts[last].op == Op::Ret).then_some((block, last))
        });
        for (block, ret) in ends.collect::<Vec<_>>() {
            self.func.remove_terminator(block);
            (self.block, self.dead) = (block, false);
            let fragments = Val::from_slice(self.func.args(ret));
            let mut values = Val::new();
            match stored {
                Some(pointer) => self.store_whole(pointer, result, &fragments),
                None => self.send(result, &border.result, &fragments, &mut values),
            }
            self.effect(Op::Ret, &values);
        }
    }

    /// Allocates a stack slot and returns its address.
    fn alloc_slot(&mut self, layout: Layout) -> Value {
        let slot = self.func.slots.push(SlotData { size: layout.size.max(4), align: layout.align.max(4) });
        self.emit(Op::SlotAddr(slot), &[], Type::Ptr(Space::Private))
    }

    fn in_space(&mut self, pointer: Value, space: Space) -> Value {
        match space {
            Space::Private => pointer,
            space => self.emit(Op::Cast(CastOp::SpaceCast), &[pointer], Type::Ptr(space)),
        }
    }

    fn load_whole(&mut self, pointer: Value, space: Space, ty: Ty) -> Val {
        let mut values = Val::new();
        self.load_fragments(pointer, super::plain_mem(space), ty, &mut values);
        values
    }

    fn store_whole(&mut self, pointer: Value, ty: Ty, fragments: &[Value]) {
        let Type::Ptr(space) = self.func.ty(pointer) else { return };
        let mut rest = fragments;
        self.store_fragments(pointer, Mem { align: 1, ..super::plain_mem(space) }, ty, &mut rest);
    }

    /// Appends the IR values with which a value of the source is passed. `ty` is the type of the source
    /// value, `fragments` are its fragments (scalars), and `units` says how each IR value is made from them.
    fn send(&mut self, ty: Ty, units: &[Unit], fragments: &[Value], out: &mut Val) {
        for unit in units {
            let value = match unit {
                Unit::Gap => self.constant(Type::I32, 0),
                Unit::Fragment(n, _) => fragments[*n],
                Unit::Single(n) => self.emit(Op::Cast(CastOp::FExt), &[fragments[*n]], Type::F32),
                Unit::Address(space) => {
                    let slot = self.alloc_slot(self.checked.types.layout(ty));
                    self.store_whole(slot, ty, fragments);
                    self.in_space(slot, *space)
                }
                Unit::Word(parts) => {
                    let mut word = None;
                    for part in parts {
                        let bits = self.bits_of(fragments[part.fragment], part, parts.len() == 1);
                        word = Some(match word {
                            Some(word) => self.emit(Op::Bin(BinOp::Or), &[word, bits], Type::I32),
                            None => bits,
                        });
                    }
                    word.unwrap_or_else(|| self.constant(Type::I32, 0))
                }
            };
            out.push(value);
        }
    }

    /// Returns the part of a fragment (scalar) that is passed in a dword, shifted to its position in the
    /// dword. The bits above the part are cleared, except if no other fragment shares the dword (`alone`).
    fn bits_of(&mut self, fragment: Value, part: &Bits, alone: bool) -> Value {
        let mut value = match self.func.ty(fragment) {
            Type::Bool => self.emit(Op::Cast(CastOp::Zext), &[fragment], Type::I32),
            Type::Ptr(space) => {
                let ty = if space.pointer_bits() == 64 { Type::I64 } else { Type::I32 };
                self.emit(Op::Cast(CastOp::PtrToInt), &[fragment], ty)
            }
            Type::F64 => self.rebit(fragment, Type::I64),
            Type::F32 | Type::F16 => self.rebit(fragment, Type::I32),
            _ => fragment,
        };
        if self.func.ty(value) == Type::I64 {
            if part.from > 0 {
                let by = self.constant(Type::I64, part.from.into());
                value = self.emit(Op::Bin(BinOp::LShr), &[value, by], Type::I64);
            }
            value = self.emit(Op::Cast(CastOp::Trunc), &[value], Type::I32);
        } else if part.from > 0 {
            let by = self.constant(Type::I32, part.from.into());
            value = self.emit(Op::Bin(BinOp::LShr), &[value, by], Type::I32);
        }
        if part.count < 32 && !(alone && part.shift == 0) {
            let mask = self.constant(Type::I32, (1 << part.count) - 1);
            value = self.emit(Op::Bin(BinOp::And), &[value, mask], Type::I32);
        }
        if part.shift > 0 {
            let by = self.constant(Type::I32, part.shift.into());
            value = self.emit(Op::Bin(BinOp::Shl), &[value, by], Type::I32);
        }
        value
    }

    /// Returns the fragments (scalars) of a source value of type `ty`, which was passed as the IR values
    /// `values`. `units` says which parts of the fragments each IR value contains.
    fn receive(&mut self, ty: Ty, units: &[Unit], values: &[Value]) -> Val {
        let (mut types, mut of) = (super::FragmentTypes::new(), Vec::new());
        fragment_types(self.checked, ty, &mut types);
        scalars(&self.checked.types, ty, &mut of);
        let mut found: Vec<Option<Value>> = vec![None; types.len()];
        for (unit, &value) in units.iter().zip(values) {
            match unit {
                Unit::Gap => {}
                Unit::Fragment(n, _) => found[*n] = Some(value),
                Unit::Single(n) => found[*n] = Some(self.emit(Op::Cast(CastOp::FTrunc), &[value], Type::F16)),
                Unit::Address(space) => return self.load_whole(value, *space, ty),
                Unit::Word(parts) => {
                    for part in parts {
                        let wide = types[part.fragment].bits() == 64;
                        let bits = self.part_of(value, part, wide);
                        found[part.fragment] = Some(match found[part.fragment] {
                            Some(other) => {
                                let ty = self.func.ty(bits);
                                self.emit(Op::Bin(BinOp::Or), &[other, bits], ty)
                            }
                            None => bits,
                        });
                    }
                }
            }
        }
        let finish = |(n, value): (usize, Option<Value>)| match value {
            Some(value) => self.fragment_from_bits(value, of[n], types[n]),
            None => self.zero(types[n]),
        };
        found.into_iter().enumerate().map(finish).collect()
    }

    /// Returns the bits of a dword that belong to one fragment (scalar), shifted to their position in this
    /// fragment. With `wide`, the fragment has 64 bits.
    fn part_of(&mut self, word: Value, part: &Bits, wide: bool) -> Value {
        let mut value = word;
        if part.shift > 0 {
            let by = self.constant(Type::I32, part.shift.into());
            value = self.emit(Op::Bin(BinOp::LShr), &[value, by], Type::I32);
        }
        if part.count < 32 {
            let mask = self.constant(Type::I32, (1 << part.count) - 1);
            value = self.emit(Op::Bin(BinOp::And), &[value, mask], Type::I32);
        }
        let ty = if wide { Type::I64 } else { Type::I32 };
        value = self.in_width(value, ty);
        if part.from > 0 {
            let by = self.constant(ty, part.from.into());
            value = self.emit(Op::Bin(BinOp::Shl), &[value, by], ty);
        }
        value
    }

    /// Converts the bits of a fragment to its type.
    fn fragment_from_bits(&mut self, bits: Value, scalar: Scalar, ty: Type) -> Value {
        match (self.func.ty(bits), ty) {
            (from, to) if from == to && !scalar.is_small() => bits,
            (_, Type::Bool) => {
                let zero = self.constant(Type::I32, 0);
                self.emit(Op::Icmp(IntCc::Ne), &[bits, zero], Type::Bool)
            }
            (_, Type::Ptr(_)) => self.emit(Op::Cast(CastOp::IntToPtr), &[bits], ty),
            (_, Type::I32) => self.normalise(scalar, bits),
            _ => self.rebit(bits, ty),
        }
    }
}
