//! Where the arguments and the result of a signature lie.

use crate::column::{
    Column, Convention, Implicit, Inreg, Large, Slots, SretPlace, Structs, column, has_16_bit,
};
use crate::types::{Element, Kind, Scalar, Space, TypeId, Types};
use isa::Subtarget;
use std::fmt;
use std::ops::Range;

/// A place for a dword.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// A VGPR.
    Vgpr(u16),
    /// An SGPR.
    Sgpr(u16),
    /// Bytes of a lane (a swizzled offset) from where the stack pointer points on entry.
    Stack(u32),
}

/// What the rest of the place's dword holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// Nothing that counts, or another piece.
    Bits,
    /// Copies of the sign.
    Signed,
    /// Zeros.
    Unsigned,
    /// The piece is an `f16`, the dword the `f32` of the same value.
    HalfAsSingle,
    /// The piece is the upper half of the dword, which is an `f32`.
    UpperHalf,
}

/// A part of a value, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its first byte in the value's image in memory.
    pub offset: u32,
    /// Its bits there, 1 to 32.
    pub bits: u8,
    /// The first bit in the place's dword.
    pub shift: u8,
    /// The place.
    pub place: Place,
    /// The other bits.
    pub form: Form,
}

/// How a value is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It has no bytes.
    Nothing,
    /// As what its pieces hold.
    Value,
    /// The value is in private memory of the caller. The one piece is its private address, 32 bits; two pieces are its flat address.
    Address,
    /// As its image in memory, which lies on the stack from the one piece on.
    Image,
}

/// A passed value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    /// How.
    pub how: How,
    /// Its pieces: [`Assignment::pieces_of`].
    pub pieces: Range<u32>,
}

/// A parameter.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Its type.
    pub ty: TypeId,
    /// Whether it is the same in all lanes and marked so.
    pub inreg: bool,
}

impl Param {
    /// A parameter without marks.
    pub const fn of(ty: TypeId) -> Param {
        Param { ty, inreg: false }
    }
}

/// What clang takes the source for. It matters for the address of a result in memory alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// C, C++, HIP.
    #[default]
    C,
    /// OpenCL C.
    OpenCl,
}

/// What a function takes and gives.
#[derive(Clone, Copy, Debug, Default)]
pub struct Signature<'a> {
    /// Its parameters.
    pub params: &'a [Param],
    /// Its result.
    pub result: Option<TypeId>,
    /// Whether more arguments may follow.
    pub variadic: bool,
    /// Implicit arguments that it uses. Where their registers are fixed, it does not matter here.
    pub implicit: &'a [Implicit],
    /// The language that both sides are written in, as it is for clang.
    pub language: Language,
}

/// Where everything lies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment {
    /// All pieces.
    pub pieces: Vec<Piece>,
    /// Parameters, in order.
    pub params: Vec<Passed>,
    /// The result; [`How::Address`] where the caller passes the address to store it at.
    pub result: Option<Passed>,
    /// The address of the variable arguments: two pieces.
    pub variable: Option<Passed>,
    /// Implicit arguments with their first registers.
    pub implicit: Vec<(Implicit, Place)>,
    /// Bytes of a lane that the arguments on the stack take.
    pub stack_bytes: u32,
}

impl Assignment {
    /// The pieces of a value.
    pub fn pieces_of(&self, passed: &Passed) -> &[Piece] {
        &self.pieces[passed.pieces.start as usize..passed.pieces.end as usize]
    }
}

/// What is not known or does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no form for `bf16`.
    Bf16(Convention),
    /// Clang takes pointers to the global data share for 8 bytes in memory, LLVM for 4.
    Region(Convention),
    /// There is no form for variable arguments.
    Variadic(Convention),
    /// There is no form for `inreg` that callers and callees share.
    Inreg(Convention),
    /// Arguments take more than 2 GiB of stack.
    Huge,
    /// An implicit argument that the convention does not have.
    Implicit(Implicit, Convention),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Bf16(by) => write!(f, "`bf16` is not passed in the convention `{}`", by.name()),
            Error::Region(by) => write!(
                f,
                "it is not known how structs with region pointers lie in memory in the convention `{}`",
                by.name()
            ),
            Error::Variadic(by) => {
                write!(f, "the convention `{}` has no variable arguments", by.name())
            }
            Error::Inreg(by) => {
                write!(f, "callers and callees do not agree on `inreg` in the convention `{}`", by.name())
            }
            Error::Huge => write!(f, "more than 2 GiB of arguments"),
            Error::Implicit(what, by) => {
                write!(f, "the convention `{}` passes no {}", by.name(), what.name())
            }
        }
    }
}

impl std::error::Error for Error {}

/// Says where arguments and result of a signature lie.
///
/// # Errors
/// What the convention has no form for.
pub fn assign(
    types: &Types,
    signature: &Signature<'_>,
    target: &Subtarget,
    convention: Convention,
) -> Result<Assignment, Error> {
    let column = column(convention);
    let halves = has_16_bit(target);
    let budget = match column.structs {
        Structs::Registers { number, .. } => number,
        Structs::Bytes(_) => 0,
    };
    let mut out = Assignment { params: Vec::with_capacity(signature.params.len()), ..Assignment::default() };
    let mut walk = Walk {
        types,
        column,
        convention,
        halves,
        budget,
        vgpr: *column.argument_vgprs.start(),
        last: *column.argument_vgprs.end(),
        sgpr: match column.inreg {
            Inreg::Sgprs(first, _) => first,
            _ => 0,
        },
        stack: 0,
        pieces: Vec::with_capacity(signature.params.len() * 2),
    };
    let mut all = signature.params.iter().map(|param| param.ty).chain(signature.result);
    if !column.region_in_memory && all.any(|ty| types.holds_region(ty)) {
        return Err(Error::Region(convention));
    }
    let returned = match signature.result {
        Some(result) => walk.result(result)?,
        None => Returned::Value(None),
    };
    // LLVM itself takes a private address for what it cannot return.
    let is_flat =
        column.sret_flat && signature.language == Language::C && matches!(returned, Returned::Stored);
    let by_address = !matches!(returned, Returned::Value(_));
    if by_address && column.sret == SretPlace::First {
        out.result = Some(walk.result_address(is_flat));
    }
    for param in signature.params {
        out.params.push(walk.param(param)?);
    }
    if signature.variadic {
        out.variable = Some(walk.variable()?);
    }
    if by_address && column.sret == SretPlace::Last {
        out.result = Some(walk.result_address(is_flat));
    }
    if let Returned::Value(passed) = returned {
        out.result = passed;
    }
    out.implicit = walk.implicit(signature.implicit)?;
    out.stack_bytes = u32::try_from(walk.stack).map_err(|_| Error::Huge)?;
    out.pieces = walk.pieces;
    Ok(out)
}

/// What a `bool` in memory is.
const BYTE: Scalar = Scalar::Int { bits: 8, signed: false };

/// The next places.
struct Walk<'a> {
    types: &'a Types,
    column: &'static Column,
    convention: Convention,
    halves: bool,
    budget: u64,
    vgpr: u16,
    last: u16,
    sgpr: u16,
    stack: u64,
    pieces: Vec<Piece>,
}

/// How a result goes.
enum Returned {
    Value(Option<Passed>),
    /// It is stored.
    Stored,
    /// It has more dwords than there are registers, and is stored as well.
    TooLong,
}

/// How a struct goes, or what is none.
enum Shape {
    Nothing,
    /// A scalar or vector; whether its type itself asks for a sign or zeros.
    Whole(TypeId, bool),
    /// The image in memory, as dwords.
    Packed,
    /// A part at a time.
    Parts,
    Memory,
}

impl Walk<'_> {
    fn start(&self) -> u32 {
        self.pieces.len() as u32
    }

    fn passed(&self, start: u32, how: How) -> Passed {
        Passed { how, pieces: start..self.start() }
    }

    fn param(&mut self, param: &Param) -> Result<Passed, Error> {
        let start = self.start();
        let inreg = param.inreg && self.column.inreg != Inreg::Ignored;
        if inreg && self.column.inreg == Inreg::Disagree {
            return Err(Error::Inreg(self.convention));
        }
        let shape = shape(self.types, self.column, param.ty, &mut self.budget);
        match shape {
            Shape::Nothing => return Ok(self.passed(start, How::Nothing)),
            Shape::Memory if self.column.large == Large::ByReference => return Ok(self.address()),
            Shape::Memory => {
                self.on_stack(param.ty);
                return Ok(self.passed(start, How::Image));
            }
            _ => self.value(param.ty, &shape, inreg)?,
        }
        Ok(self.passed(start, How::Value))
    }

    fn result(&mut self, ty: TypeId) -> Result<Returned, Error> {
        let mut budget = self.column_budget();
        let shape = shape(self.types, self.column, ty, &mut budget);
        match shape {
            Shape::Nothing => return Ok(Returned::Value(Some(Passed { how: How::Nothing, pieces: 0..0 }))),
            Shape::Memory => return Ok(Returned::Stored),
            _ => {}
        }
        let arguments = (self.vgpr, self.last, self.stack);
        (self.vgpr, self.last) = self.column.result_vgprs.clone().into_inner();
        let written = self.value(ty, &shape, false);
        let fits = self.stack == arguments.2;
        (self.vgpr, self.last, self.stack) = arguments;
        written?;
        if !fits {
            self.pieces.clear();
            return Ok(Returned::TooLong);
        }
        Ok(Returned::Value(Some(self.passed(0, How::Value))))
    }

    fn result_address(&mut self, flat: bool) -> Passed {
        let mut passed = self.address();
        if flat {
            let place = self.place(false);
            self.pieces.push(Piece { offset: 4, bits: 32, shift: 0, place, form: Form::Bits });
            passed.pieces.end = self.start();
        }
        passed
    }

    fn column_budget(&self) -> u64 {
        match self.column.structs {
            Structs::Registers { number, .. } => number,
            Structs::Bytes(_) => 0,
        }
    }

    fn value(&mut self, ty: TypeId, shape: &Shape, inreg: bool) -> Result<(), Error> {
        match *shape {
            Shape::Whole(inner, extended) => match self.types.kind(inner) {
                Kind::Scalar(scalar) => self.part(0, scalar, 1, extended, inreg),
                Kind::Vector(scalar, lanes) => self.part(0, scalar, lanes, false, inreg),
                _ => Ok(()),
            },
            Shape::Packed => {
                self.packed(self.types.size(ty), inreg);
                Ok(())
            }
            Shape::Parts => {
                let (mut result, types) = (Ok(()), self.types);
                types.elements(ty, 0, &mut |at, element| match element {
                    // A `bool` in memory is a byte.
                    Element::Part(Scalar::Bool, _) if result.is_ok() => {
                        result = self.part(at as u32, BYTE, 1, false, inreg);
                    }
                    Element::Part(scalar, lanes) if result.is_ok() => {
                        result = self.part(at as u32, scalar, lanes, false, inreg);
                    }
                    Element::Padding(bytes) if self.passes_padding() => {
                        for _ in 0..bytes {
                            self.place(inreg);
                        }
                    }
                    _ => {}
                });
                result
            }
            Shape::Nothing | Shape::Memory => Ok(()),
        }
    }

    /// Whether each byte of padding that clang names has a place of its own, like other bytes.
    fn passes_padding(&self) -> bool {
        matches!(self.column.structs, Structs::Registers { .. })
    }

    /// At most two dwords of memory; the last may be a part of one.
    fn packed(&mut self, bytes: u64, inreg: bool) {
        let mut at = 0;
        while at < bytes {
            let bits = (8 * (bytes - at)).min(32) as u8;
            let place = self.place(inreg);
            self.pieces.push(Piece { offset: at as u32, bits, shift: 0, place, form: Form::Bits });
            at += 4;
        }
    }

    fn part(
        &mut self,
        at: u32,
        scalar: Scalar,
        lanes: u32,
        extended: bool,
        inreg: bool,
    ) -> Result<(), Error> {
        if scalar == Scalar::BF16 && !self.column.bf16 {
            return Err(Error::Bf16(self.convention));
        }
        let bits = scalar.bits();
        if self.column.slots == Slots::Values {
            self.make_room(bits, lanes, inreg);
        }
        let pairs = bits == 16 && lanes > 1 && self.halves;
        for lane in 0..lanes {
            let offset = at + lane * bits / 8;
            if bits == 64 {
                for half in 0..2 {
                    let place = self.place(inreg);
                    let offset = offset + 4 * half;
                    self.pieces.push(Piece { offset, bits: 32, shift: 0, place, form: Form::Bits });
                }
            } else if pairs && lane % 2 == 1 {
                let place = self.pieces.last().map_or(Place::Vgpr(0), |piece| piece.place);
                self.pieces.push(Piece { offset, bits: 16, shift: 16, place, form: Form::Bits });
            } else {
                let (bits, form) = form(scalar, extended, self.halves);
                let place = self.place(inreg);
                let is_byte = self.column.bool_byte_on_stack && matches!(place, Place::Stack(_));
                let (bits, form) = match scalar {
                    Scalar::Bool if is_byte && form == Form::Bits => (8, Form::Bits),
                    _ => (bits, form),
                };
                self.pieces.push(Piece { offset, bits, shift: 0, place, form });
            }
        }
        Ok(())
    }

    /// Where values are not divided: the next place is one where the whole value fits.
    fn make_room(&mut self, bits: u32, lanes: u32, inreg: bool) {
        let per_lane = if bits == 64 { 2 } else { 1 };
        let pairs = bits == 16 && self.halves;
        let dwords = if pairs { lanes.div_ceil(2) } else { lanes * per_lane };
        let (next, last) = match (inreg, self.column.inreg) {
            (true, Inreg::Sgprs(_, last)) => (&mut self.sgpr, last),
            _ => (&mut self.vgpr, self.last),
        };
        if *next <= last && u32::from(last - *next) + 1 < dwords {
            *next = last + 1;
        }
        if *next > last {
            let align = u64::from(dwords.next_power_of_two() * 4).min(16);
            self.stack = self.stack.next_multiple_of(align);
        }
    }

    fn place(&mut self, inreg: bool) -> Place {
        match (inreg, self.column.inreg) {
            (true, Inreg::Sgprs(_, last)) if self.sgpr <= last => {
                self.sgpr += 1;
                return Place::Sgpr(self.sgpr - 1);
            }
            // Where there are no more of them, the stack is next (seed 000, line 4246).
            (true, Inreg::Sgprs(..)) => {}
            _ if self.vgpr <= self.last => {
                self.vgpr += 1;
                return Place::Vgpr(self.vgpr - 1);
            }
            _ => {}
        }
        let at = self.stack;
        self.stack += 4;
        Place::Stack(at.min(u64::from(u32::MAX)) as u32)
    }

    fn address(&mut self) -> Passed {
        let start = self.start();
        if self.column.slots == Slots::Values {
            self.make_room(32, 1, false);
        }
        let place = self.place(false);
        self.pieces.push(Piece { offset: 0, bits: 32, shift: 0, place, form: Form::Bits });
        self.passed(start, How::Address)
    }

    fn on_stack(&mut self, ty: TypeId) {
        let from = self.stack.next_multiple_of(self.types.align(ty).max(4));
        let place = Place::Stack(from.min(u64::from(u32::MAX)) as u32);
        self.pieces.push(Piece { offset: 0, bits: 32, shift: 0, place, form: Form::Bits });
        self.stack = from + self.types.size(ty).next_multiple_of(4);
    }

    fn variable(&mut self) -> Result<Passed, Error> {
        if !self.column.variadic {
            return Err(Error::Variadic(self.convention));
        }
        let start = self.start();
        for half in 0..2 {
            let place = self.place(false);
            self.pieces.push(Piece { offset: 4 * half, bits: 32, shift: 0, place, form: Form::Bits });
        }
        Ok(self.passed(start, How::Value))
    }

    fn implicit(&mut self, used: &[Implicit]) -> Result<Vec<(Implicit, Place)>, Error> {
        let has = |what: &Implicit| self.column.implicit.iter().any(|(other, _)| other == what);
        if let Some(lacking) = used.iter().find(|what| !has(what)) {
            return Err(Error::Implicit(*lacking, self.convention));
        }
        let mut out = Vec::with_capacity(self.column.implicit.len());
        for &(what, fixed) in self.column.implicit {
            let vector = what == Implicit::WorkitemIds;
            match fixed {
                Some(reg) if vector => out.push((what, Place::Vgpr(reg))),
                Some(reg) => out.push((what, Place::Sgpr(reg))),
                None if !used.contains(&what) => {}
                None => {
                    self.make_room(32 * u32::from(what.dwords()), 1, !vector);
                    let place = self.place(!vector);
                    for _ in 1..what.dwords() {
                        self.place(!vector);
                    }
                    out.push((what, place));
                }
            }
        }
        Ok(out)
    }
}

/// Bits of a scalar of at most 32 that count, and what stands beside them.
fn form(scalar: Scalar, extended: bool, halves: bool) -> (u8, Form) {
    match scalar {
        Scalar::Bool if extended => (8, Form::Unsigned),
        Scalar::Bool => (1, Form::Bits),
        Scalar::F16 if !halves => (16, Form::HalfAsSingle),
        Scalar::BF16 if !halves => (16, Form::UpperHalf),
        Scalar::Int { bits, signed } if bits < 32 && extended => {
            (bits, if signed { Form::Signed } else { Form::Unsigned })
        }
        other => (other.bits() as u8, Form::Bits),
    }
}

/// How a value goes, and what it takes of the budget of registers.
fn shape(types: &Types, column: &Column, ty: TypeId, budget: &mut u64) -> Shape {
    if matches!(types.kind(ty), Kind::Scalar(_) | Kind::Vector(..)) {
        *budget = budget.saturating_sub(registers(types, ty));
        return Shape::Whole(ty, true);
    }
    if types.size(ty) == 0 {
        return Shape::Nothing;
    }
    let (number, packed) = match column.structs {
        Structs::Bytes(most) if types.size(ty) <= most => return Shape::Parts,
        Structs::Bytes(_) => return Shape::Memory,
        Structs::Registers { number, packed } => (number, packed),
    };
    if let Some(inner) = types.single(ty) {
        return Shape::Whole(inner, false);
    }
    if types.size(ty) <= packed {
        *budget = budget.saturating_sub(types.size(ty).div_ceil(4));
        return Shape::Packed;
    }
    let needed = registers(types, ty);
    if needed <= *budget && needed <= number {
        *budget -= needed;
        return Shape::Parts;
    }
    Shape::Memory
}

/// Registers that clang counts for a type, which need not be those that it takes: an array is as many dwords as it has in memory,
/// though each of its elements goes into a register of its own.
fn registers(types: &Types, ty: TypeId) -> u64 {
    match types.kind(ty) {
        Kind::Vector(scalar, lanes) if scalar.bits() == 16 => u64::from(lanes.div_ceil(2)),
        Kind::Vector(scalar, lanes) => u64::from(lanes * scalar.bits().div_ceil(32)),
        Kind::Struct { .. } => types.fields(ty).map(|(_, field)| registers(types, field)).sum(),
        // Clang takes those for 64 bits.
        Kind::Scalar(Scalar::Pointer(Space::Region)) => 2,
        Kind::Scalar(_) | Kind::Array(..) => types.size(ty).div_ceil(4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse, runs};
    use isa::Subtarget;

    /// Arguments and result as text: `v0, v[1:2] -> v0`. A value of several runs has `+` between them, with the byte that each begins at.
    fn places(text: &str, cpu: &str, by: Convention) -> String {
        let prototype = parse(text).unwrap_or_else(|wrong| panic!("{text}: {wrong}"));
        let target = Subtarget::by_name(cpu).unwrap();
        let made = assign(&prototype.types, &prototype.signature(&[]), &target, by);
        let made = made.unwrap_or_else(|error| panic!("{text}: {error}"));
        let one = |passed: &Passed| {
            let runs = runs(made.pieces_of(passed));
            let list: Vec<String> = match &runs[..] {
                [one] => vec![one.to_string()],
                runs => runs.iter().map(|run| format!("{}:{run}", run.offset)).collect(),
            };
            match passed.how {
                How::Nothing => "nothing".to_owned(),
                How::Value => list.join(" + "),
                How::Address => format!("&{}", list.join("")),
                How::Image => format!("image at {}", list.join("")),
            }
        };
        let mut out: Vec<String> = made.params.iter().map(one).collect();
        out.extend(made.variable.as_ref().map(|passed| format!("...{}", one(passed))));
        let result = made.result.as_ref().map(|passed| format!(" -> {}", one(passed)));
        out.join(", ") + result.as_deref().unwrap_or("")
    }

    #[track_caller]
    fn is(text: &str, expected: &str) {
        assert_eq!(places(text, "gfx906", Convention::Today), expected, "{text}");
    }

    /// As clang 19 has it; `tests/interop` compares with its code.
    #[test]
    fn scalars() {
        is("fn f(a: u32, b: u32) -> u32", "v0, v1 -> v0");
        // Pairs begin anywhere.
        is("fn f(a: u32, b: u64, c: f64) -> f64", "v0, v[1:2], v[3:4] -> v[0:1]");
        is("fn f(a: *global u8, b: *shared u8, c: *u8) -> *private u8", "v[0:1], v2, v[3:4] -> v0");
        is(
            "fn f(a: i8, b: u16, c: bool) -> i16",
            "v0 sign-extended, v1 zero-extended, v2 zero-extended -> v0 sign-extended",
        );
        is("fn f()", "");
    }

    #[test]
    fn halves() {
        is(
            "fn f(a: f16, b: f16x2, c: f16x3, d: i16x2)",
            "v0 in the low 16 bits, v1, 0:v2 + 4:v3 in the low 16 bits, v4",
        );
        // Without registers that hold halves: a lane a dword.
        assert_eq!(
            places("fn f(a: f16, b: f16x2)", "gfx700", Convention::Today),
            "v0 as `f32`, 0:v1 as `f32` + 2:v2 as `f32`"
        );
    }

    #[test]
    fn vectors() {
        is(
            "fn f(a: f32x3, b: u8x4) -> f64x2",
            "v[0:2], 0:v3 in the low 8 bits + 1:v4 in the low 8 bits + 2:v5 in the low 8 bits + 3:v6 in the low 8 bits -> v[0:3]",
        );
        is("fn f() -> f32x16", " -> v[0:15]");
        is("fn f() -> f64x16", " -> v[0:31]");
    }

    #[test]
    fn structs() {
        // Up to 8 bytes as dwords of the image, padding and all.
        is("fn f(s: {u8, u32})", "v[0:1]");
        is("fn f(s: {u8, u16, u8})", "0:v0 + 4:v1 in the low 16 bits");
        // One member alone is that member.
        is("fn f(s: {f64}, t: {[u32; 1]})", "v[0:1], v2");
        // Larger ones a field at a time.
        is("fn f(s: {u32, f64})", "0:v0 + 8:v[1:2]");
        is("fn f(s: {u32, u32, u8})", "0:v[0:1] + 8:v2 in the low 8 bits");
        is("fn f(s: {}, a: u32)", "nothing, v0");
    }

    /// 16 registers for all arguments together; what does not fit goes by reference, or with LLVM 14 on the stack.
    #[test]
    fn structs_that_are_too_large() {
        is("fn f(s: [u32; 16], t: {u32, f64})", "v[0:15], &v16");
        is("fn f(s: [u32; 17], t: u32)", "&v0, v1");
        let text = "fn f(a: u32, s: [u32; 17], b: u32, t: [u64; 9])";
        assert_eq!(places(text, "gfx906", Convention::Llvm14), "v0, image at stack+0, v1, image at stack+72");
        // The address of the result comes first.
        is("fn f(a: u32) -> [u32; 17]", "v2 -> &v[0:1]");
        is("fn f(a: u32) -> [u32; 16]", "v0 -> v[0:15]");
    }

    /// Clang has a flat address for it in C and C++, a private one in OpenCL. What LLVM does not return in registers, though clang would, has a
    /// private one in each.
    #[test]
    fn addresses_of_results() {
        let target = Subtarget::by_name("gfx906").unwrap();
        let dwords = |text: &str, language, by| {
            let prototype = parse(text).unwrap();
            let signature = Signature { language, ..prototype.signature(&[]) };
            let made = assign(&prototype.types, &signature, &target, by).unwrap();
            let result = made.result.as_ref().unwrap();
            assert_eq!(result.how, How::Address);
            made.pieces_of(result).len()
        };
        for by in [Convention::Today, Convention::Llvm14] {
            assert_eq!(dwords("() -> {[u32; 17]}", Language::C, by), 2);
            assert_eq!(dwords("() -> {[u32; 17]}", Language::OpenCl, by), 1);
            assert_eq!(dwords("() -> {[u8; 64]}", Language::C, by), 1);
        }
        assert_eq!(dwords("() -> {[u32; 5]}", Language::C, Convention::Guide), 1);
    }

    /// v31 has the work-item ids.
    #[test]
    fn stack() {
        let many = "u32, ".repeat(30);
        is(&format!("fn f({many} f64, u32)"), &format!("{}0:v30 + 4:stack+0, stack+4", registers(30)));
        let more = "u32, ".repeat(31);
        is(&format!("fn f({more} f64, u8)"), &format!("{}stack+0, stack+8 zero-extended", registers(31)));
        let text = format!("fn f({more} u8, {{bool}})");
        let by_14 = format!("{}stack+0 zero-extended, stack+4 in the low 8 bits", registers(31));
        assert_eq!(places(&text, "gfx906", Convention::Llvm14), by_14);
        is(&text, &format!("{}stack+0 zero-extended, stack+4 in bit 0", registers(31)));
    }

    fn registers(count: u32) -> String {
        (0..count).map(|n| format!("v{n}, ")).collect()
    }

    #[test]
    fn variable_arguments() {
        is("fn f(a: u32, ...)", "v0, ...v[1:2]");
    }

    #[test]
    fn refusals() {
        let target = Subtarget::by_name("gfx906").unwrap();
        let refused = |text: &str, by| {
            let prototype = parse(text).unwrap();
            assign(&prototype.types, &prototype.signature(&[]), &target, by)
                .map(|_| ())
                .unwrap_err()
                .to_string()
        };
        use Convention::{Guide, Llvm14, Today};
        let disagree = "callers and callees do not agree on `inreg` in the convention `today`";
        assert_eq!(refused("fn f(inreg a: u32)", Today), disagree);
        assert_eq!(refused("fn f(a: u32, ...)", Llvm14), "the convention `llvm14` has no variable arguments");
        assert_eq!(refused("fn f(a: u32, ...)", Guide), "the convention `guide` has no variable arguments");
        assert_eq!(refused("fn f(a: bf16)", Llvm14), "`bf16` is not passed in the convention `llvm14`");
        let region =
            "it is not known how structs with region pointers lie in memory in the convention `today`";
        assert_eq!(refused("fn f(s: {*region u32})", Today), region);
    }

    /// Many parts that take no room cost no time.
    #[test]
    fn empty_arrays() {
        is("fn f(s: {[[u8; 0]; 4000000000], u32, u64, u32})", "0:v0 + 8:v[1:3]");
    }
}
