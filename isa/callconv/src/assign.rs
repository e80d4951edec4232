//! Assigns registers and stack offsets (places) to the arguments and the result of a signature.

use crate::column::{
    Column, Convention, Implicit, Inreg, Large, Slots, SretPlace, Structs, column, has_16_bit,
};
use crate::types::{Element, Kind, Scalar, Space, TypeId, Types};
use isa::Subtarget;
use std::fmt;
use std::ops::Range;

/// Place of a dword.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// A VGPR.
    Vgpr(u16),
    /// An SGPR.
    Sgpr(u16),
    /// On the stack, at this offset in bytes per lane. It counts from the place to which the stack pointer
    /// points on entry. Stack memory is swizzled, so each lane has its own copy at the same offset.
    Stack(u32),
}

/// A register or stack dword may hold a piece of a value that is shorter than a dword. This type says what
/// the remaining bits of the dword contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// Undefined, or another piece.
    Bits,
    /// Copies of the sign bit.
    Signed,
    /// Zeros.
    Unsigned,
    /// The piece is an `f16`, and the dword holds the `f32` with the same numeric value.
    HalfAsSingle,
    /// The dword holds an `f32`, and the piece is its upper 16 bits (a `bf16`).
    UpperHalf,
}

/// A part of a value, with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Offset of the first byte in the value's memory image.
    pub offset: u32,
    /// Number of bits in the memory image, 1 to 32.
    pub bits: u8,
    /// Number of the piece's first bit in the place's dword.
    pub shift: u8,
    /// Place of the piece.
    pub place: Place,
    /// Contents of the other bits of the dword.
    pub form: Form,
}

/// How a value is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The value has no bytes, so nothing is passed.
    Nothing,
    /// The pieces hold the value.
    Value,
    /// The value is in private memory of the caller, and its address is passed. A 32-bit private address is
    /// passed in one piece, and a 64-bit flat address in two.
    Address,
    /// The value is on the stack, laid out as in memory. Its single piece says where the value begins.
    Image,
}

/// A value that is passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    /// How the value is passed.
    pub how: How,
    /// Indices of its pieces; see [`Assignment::pieces_of`].
    pub pieces: Range<u32>,
}

/// A parameter of a signature.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Type of the parameter.
    pub ty: TypeId,
    /// Whether the parameter is marked as `inreg`, which means that it has the same value in all lanes.
    pub inreg: bool,
}

impl Param {
    /// Creates a parameter without marks.
    pub const fn unmarked(ty: TypeId) -> Param {
        Param { ty, inreg: false }
    }
}

/// Source language of caller and callee, in clang's terms. It matters only for a result in memory: the
/// address that the caller passes for it has 32 or 64 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// C, C++, HIP.
    #[default]
    C,
    /// OpenCL C.
    OpenCl,
}

/// Signature of a function.
#[derive(Clone, Copy, Debug, Default)]
pub struct Signature<'a> {
    /// Parameters of the function.
    pub params: &'a [Param],
    /// Type of the result.
    pub result: Option<TypeId>,
    /// Whether more arguments may follow.
    pub variadic: bool,
    /// Implicit arguments that the function uses. If the convention has a fixed register for an implicit
    /// argument, the argument is always passed there, whether or not it is in this list.
    pub implicit: &'a [Implicit],
    /// Source language of caller and callee, in clang's terms.
    pub language: Language,
}

/// Places of all arguments and of the result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment {
    /// Pieces of all values.
    pub pieces: Vec<Piece>,
    /// Parameters, in order.
    pub params: Vec<Passed>,
    /// How the result is returned. If the callee stores the result in memory, this is [`How::Address`], with
    /// the registers or stack offset in which the caller passes the address.
    pub result: Option<Passed>,
    /// Where the address of the variable arguments is passed, which takes two dwords. `None` if the function
    /// has no variable arguments.
    pub variable: Option<Passed>,
    /// Implicit arguments, with their first registers.
    pub implicit: Vec<(Implicit, Place)>,
    /// Size of the arguments on the stack, in bytes per lane.
    pub stack_bytes: u32,
}

impl Assignment {
    /// Returns the pieces of a value.
    pub fn pieces_of(&self, passed: &Passed) -> &[Piece] {
        &self.pieces[passed.pieces.start as usize..passed.pieces.end as usize]
    }
}

/// Reason why a signature has no assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The convention has no form for `bf16`.
    Bf16(Convention),
    /// The type is a struct or array that contains a pointer to the global data share (GDS), and the
    /// convention does not define how it is laid out in memory: clang gives the pointer 8 bytes there, and
    /// LLVM gives it 4.
    Region(Convention),
    /// The convention has no form for variable arguments.
    Variadic(Convention),
    /// Callers and callees do not agree on a form for `inreg`.
    Inreg(Convention),
    /// The arguments take more than 2 GiB of stack.
    Huge,
    /// The convention does not have this implicit argument.
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

/// Determines the registers and stack offsets for the arguments and the result of a signature.
///
/// # Errors
///
/// Returns an error if the convention does not define how to pass a type of the signature.
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
    // For C and C++, some conventions pass a 64-bit flat address for a result in memory. This applies only if
    // clang has decided that the result is stored in memory. If LLVM has decided this, because the result is
    // too long for registers, the address is always a 32-bit private address.
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

/// Type of a `bool` in memory.
const BYTE: Scalar = Scalar::Int { bits: 8, signed: false };

/// State of the assignment: the next free places.
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

/// How a result is returned.
enum Returned {
    Value(Option<Passed>),
    /// The callee stores the result in memory.
    Stored,
    /// Clang returns the result as a value, but it has more dwords than there are registers for results. So
    /// LLVM changes the function: the callee stores the result in memory.
    TooLong,
}

/// How a value is passed, depending on its type.
enum Shape {
    Nothing,
    /// The value is passed as a scalar or vector. The flag says what happens to a value that is shorter than
    /// a dword: if it is set, the value is extended to a dword, by its sign or by zeros.
    Whole(TypeId, bool),
    /// As the dwords of its memory image.
    Packed,
    /// One part at a time.
    Parts,
    Memory,
}

impl Walk<'_> {
    fn start(&self) -> u32 {
        self.pieces.len() as u32
    }

    fn passed_since(&self, start: u32, how: How) -> Passed {
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
            Shape::Nothing => return Ok(self.passed_since(start, How::Nothing)),
            Shape::Memory if self.column.large == Large::ByReference => return Ok(self.address()),
            Shape::Memory => {
                self.on_stack(param.ty);
                return Ok(self.passed_since(start, How::Image));
            }
            _ => self.value(param.ty, &shape, inreg)?,
        }
        Ok(self.passed_since(start, How::Value))
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
        Ok(Returned::Value(Some(self.passed_since(0, How::Value))))
    }

    fn result_address(&mut self, flat: bool) -> Passed {
        let mut passed = self.address();
        if flat {
            let place = self.next_place(false);
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
                            self.next_place(inreg);
                        }
                    }
                    _ => {}
                });
                result
            }
            Shape::Nothing | Shape::Memory => Ok(()),
        }
    }

    /// Returns whether clang passes the padding bytes of a struct like ordinary bytes. It does so for padding
    /// that it represents as an array of bytes.
    fn passes_padding(&self) -> bool {
        matches!(self.column.structs, Structs::Registers { .. })
    }

    /// Passes a struct of at most eight bytes in the form that it has in memory, dword by dword. The last
    /// dword may be partial.
    fn packed(&mut self, bytes: u64, inreg: bool) {
        let mut at = 0;
        while at < bytes {
            let bits = (8 * (bytes - at)).min(32) as u8;
            let place = self.next_place(inreg);
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
                    let place = self.next_place(inreg);
                    let offset = offset + 4 * half;
                    self.pieces.push(Piece { offset, bits: 32, shift: 0, place, form: Form::Bits });
                }
            } else if pairs && lane % 2 == 1 {
                let place = self.pieces.last().map_or(Place::Vgpr(0), |piece| piece.place);
                self.pieces.push(Piece { offset, bits: 16, shift: 16, place, form: Form::Bits });
            } else {
                let (bits, form) = form(scalar, extended, self.halves);
                let place = self.next_place(inreg);
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

    /// Makes room for a value, so that it is not split between registers and the stack. If the value does not
    /// fit in the remaining registers, these are left unused. If the value then goes to the stack, aligns the
    /// stack offset for it.
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

    fn next_place(&mut self, inreg: bool) -> Place {
        match (inreg, self.column.inreg) {
            (true, Inreg::Sgprs(_, last)) if self.sgpr <= last => {
                self.sgpr += 1;
                return Place::Sgpr(self.sgpr - 1);
            }
            // When the SGPRs for `inreg` arguments are used up, further `inreg` arguments go to the stack
            // (LLVM's AMDGPU guide, seed 000, line 4246).
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
        let place = self.next_place(false);
        self.pieces.push(Piece { offset: 0, bits: 32, shift: 0, place, form: Form::Bits });
        self.passed_since(start, How::Address)
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
            let place = self.next_place(false);
            self.pieces.push(Piece { offset: 4 * half, bits: 32, shift: 0, place, form: Form::Bits });
        }
        Ok(self.passed_since(start, How::Value))
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
                    let place = self.next_place(!vector);
                    for _ in 1..what.dwords() {
                        self.next_place(!vector);
                    }
                    out.push((what, place));
                }
            }
        }
        Ok(out)
    }
}

/// Returns how many bits of the dword that holds a scalar are significant, and what its other bits contain.
/// The scalar has at most 32 bits.
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

/// Returns how a value of type `ty` is passed. Clang passes structs as values only as long as registers are
/// left. `budget` is the number of registers that are left; the registers that clang counts for this value
/// are subtracted from it.
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

/// Returns the number of registers that clang counts for a type when it decides whether a struct is passed as
/// values. This is not always the number of registers that the value then uses. For example, clang counts the
/// dwords that an array has in memory, although each element gets a register of its own.
fn registers(types: &Types, ty: TypeId) -> u64 {
    match types.kind(ty) {
        Kind::Vector(scalar, lanes) if scalar.bits() == 16 => u64::from(lanes.div_ceil(2)),
        Kind::Vector(scalar, lanes) => u64::from(lanes * scalar.bits().div_ceil(32)),
        Kind::Struct { .. } => types.fields(ty).map(|(_, field)| registers(types, field)).sum(),
        // Clang treats these pointers as 64 bits.
        Kind::Scalar(Scalar::Pointer(Space::Region)) => 2,
        Kind::Scalar(_) | Kind::Array(..) => types.size(ty).div_ceil(4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse, runs};
    use isa::Subtarget;

    /// Returns the places of arguments and result as text: `v0, v[1:2] -> v0`. The runs of a value are
    /// separated by `+`, each with the offset of its first byte.
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

    /// Expected results are those of clang 19; `tests/interop` compares with its code.
    #[test]
    fn scalars() {
        is("fn f(a: u32, b: u32) -> u32", "v0, v1 -> v0");
        // Pairs may begin at any register.
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
        // On processors whose registers cannot hold halves, each lane takes a dword.
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
        // Structs of up to 8 bytes are passed as the dwords of their image, including padding.
        is("fn f(s: {u8, u32})", "v[0:1]");
        is("fn f(s: {u8, u16, u8})", "0:v0 + 4:v1 in the low 16 bits");
        // A struct with one member is passed like that member.
        is("fn f(s: {f64}, t: {[u32; 1]})", "v[0:1], v2");
        // Larger structs are passed one field at a time.
        is("fn f(s: {u32, f64})", "0:v0 + 8:v[1:2]");
        is("fn f(s: {u32, u32, u8})", "0:v[0:1] + 8:v2 in the low 8 bits");
        is("fn f(s: {}, a: u32)", "nothing, v0");
    }

    /// All arguments together may use 16 registers; structs that do not fit are passed by reference, or with
    /// LLVM 14 on the stack.
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

    /// Clang uses a flat address for the result in C and C++, and a private address in OpenCL. A result that
    /// clang would return in registers but LLVM cannot has a private address in all languages.
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

    /// v31 holds the work-item ids, so arguments use v0 to v30.
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

    /// Many parts without size must not take time.
    #[test]
    fn empty_arrays() {
        is("fn f(s: {[[u8; 0]; 4000000000], u32, u64, u32})", "0:v0 + 8:v[1:3]");
    }
}
