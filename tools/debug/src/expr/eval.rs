//! Evaluates expressions for a stopped wave. Without a wave, it only computes the types of expressions.

use super::lex::Literal;
use super::near::hint;
use super::number::{self, Kind, Number, Operand, Scalar};
use super::parse::{self, Binary, Expr, TypeText, Unary};
use super::types::{Ty, Types, View};
use super::value::{Content, Value, any, missing};
use super::{Language, Parts, Problem};
use crate::format::fields;
use crate::machine::Frame;
use crate::number_format::NumberFormat;
use crate::program::Program;
use crate::variables::{Scope, ValueSource};
use crate::write::Writer;
use dwarf::{AddressSpace, Location, Part, Storage};
use sim::{FlatAddress, Stopped};

/// Largest number of bytes of a value that are read.
const MOST: u64 = 1 << 16;

/// Largest depth of nested nameless fields that is searched.
const DEPTH: u32 = 8;

/// Evaluates expressions at an address of the code.
pub(crate) struct Evaluator<'a> {
    program: &'a Program,
    pub scope: Option<Scope<'a>>,
    pub types: Types<'a>,
    /// The stopped wave; `None` if only types are computed.
    pub at: Option<&'a Stopped<'a>>,
    /// Lane for which expressions are evaluated.
    pub lane: u32,
    /// Whether only types are computed: even literals are treated as numbers without known values.
    only_types: bool,
}

impl<'a> Evaluator<'a> {
    /// Creates an evaluator for a lane of a stopped wave. If functions are inlined at the wave's address,
    /// `level` selects one of them, as in [`Scope::new`].
    pub(crate) fn new(at: &'a Stopped<'a>, program: &'a Program, lane: u32, level: usize) -> Evaluator<'a> {
        Evaluator { at: Some(at), lane, ..Evaluator::of_types(program, at.address(), level) }
    }

    /// Creates an evaluator that computes only types, for the scope at an address of the object file.
    pub(crate) fn of_types(program: &'a Program, address: u64, level: usize) -> Evaluator<'a> {
        let scope = program.scope(address, level);
        let types = Types { info: program.info.as_ref(), language: program.language(address) };
        Evaluator { program, scope, types, at: None, lane: 0, only_types: false }
    }

    /// Returns an evaluator for the same address that computes only types.
    fn without_wave(&self) -> Evaluator<'a> {
        Evaluator { at: None, only_types: true, scope: self.scope.clone(), ..*self }
    }

    fn language(&self) -> Language {
        self.types.language
    }

    /// Returns whether a name denotes a type and not a variable.
    fn is_type(&self, name: &str) -> bool {
        let is_variable = || self.scope.as_ref().is_some_and(|scope| scope.variable(name).is_some());
        (parse::is_word(name) || self.types.has(name)) && !is_variable()
    }

    /// Parses an expression.
    pub(crate) fn parse(&self, text: &str) -> Result<Expr, Problem> {
        parse::expression(text, self.language(), &|name| self.is_type(name))
    }

    /// Returns the type of an expression without evaluating it. If the text is the name of a type, returns
    /// this type.
    pub(crate) fn type_of(&self, text: &str) -> Result<Ty, Problem> {
        let types = self.without_wave();
        let value = types.parse(text).and_then(|expr| types.eval(&expr));
        let named = || {
            let ty = parse::type_text(text, self.language(), &|name| self.is_type(name)).ok()?;
            self.types.named(&ty).ok()
        };
        value.map(|value| value.ty).or_else(|problem| named().ok_or(problem))
    }

    /// Parses and evaluates an expression.
    pub(crate) fn value(&self, text: &str) -> Result<Value, Problem> {
        self.eval(&self.parse(text)?)
    }

    /// Checks, without a stopped wave, whether a breakpoint's condition can be evaluated.
    ///
    /// # Errors
    /// The text is no expression, uses an unknown name, or has a value that is neither true nor false.
    pub(crate) fn condition(&self, text: &str) -> Result<(), Problem> {
        let types = self.without_wave();
        let value = types.eval(&self.parse(text)?)?;
        types.truth(&value).map(drop)
    }

    /// Returns whether a condition holds.
    pub(crate) fn holds(&self, condition: &Expr) -> Result<bool, Problem> {
        Ok(self.truth(&self.eval(condition)?)?.unwrap_or(false))
    }

    /// Evaluates an expression.
    pub(crate) fn eval(&self, expr: &Expr) -> Result<Value, Problem> {
        match expr {
            Expr::Literal(literal) if self.only_types => Ok(Value { content: None, ..typed(*literal) }),
            Expr::Literal(literal) => Ok(typed(*literal)),
            Expr::Name(name) => self.variable(name),
            Expr::Register(name) => self.register(name),
            Expr::Unary(op, of) => self.unary(*op, &self.eval(of)?),
            Expr::Binary(op @ (Binary::Both | Binary::Either), left, right) => self.logical(*op, left, right),
            Expr::Binary(op, left, right) => self.binary(*op, &self.eval(left)?, &self.eval(right)?),
            Expr::Field(of, name) => self.field(&self.eval(of)?, name, 0),
            Expr::Index(of, index) => {
                let index = self.number(&self.eval(index)?)?;
                if index.scalar.is_float() {
                    return Err("an index is an integer".to_owned());
                }
                self.element(&self.eval(of)?, index.number.map(number_as_integer))
            }
            Expr::Cast(of, ty) => self.cast(&self.eval(of)?, ty),
            Expr::SizeOf(of) => {
                // An operand that has no value still has a type.
                let value = self.eval(of).or_else(|_| self.without_wave().eval(of))?;
                self.size_of(&value.ty)
            }
            Expr::SizeOfType(text) => self.size_of(&self.types.named(text)?),
        }
    }

    /// Returns the size of a type in bytes as a number. In C, the type of this number is `size_t`. In kernc,
    /// it is the type of a literal, which can be combined with all integer types.
    fn size_of(&self, ty: &Ty) -> Result<Value, Problem> {
        if matches!(self.types.view(ty), View::Code | View::Unknown) {
            return Err(format!("the size of {} is not known", self.types.name(ty)));
        }
        let size = (!self.only_types).then(|| Number::Int(self.types.size(ty).into()));
        let scalar = Scalar { kind: Kind::Unsigned, bytes: 8 };
        let is_literal = self.language() == Language::Kernc;
        Ok(Value::number(Operand { is_literal, ..Operand::new(scalar, size) }))
    }

    fn unary(&self, op: Unary, value: &Value) -> Result<Value, Problem> {
        let language = self.language();
        let operand = match op {
            Unary::Target => return self.element(value, Some(0)),
            Unary::Address => return self.address_of(value),
            Unary::Not => match self.types.view(&value.ty) {
                View::Pointer { .. } => {
                    let is_null = self.truth(value)?.map(|truth| Number::Int(i128::from(!truth)));
                    Operand::new(Scalar::BOOL, is_null)
                }
                _ => number::not(self.number(value)?, language)?,
            },
            Unary::Plus => self.number(value)?,
            Unary::Minus => number::negative(self.number(value)?, language)?,
            Unary::Complement => number::complement(self.number(value)?, language)?,
        };
        Ok(Value::number(operand))
    }

    /// Evaluates `&&` or `||`. The right operand is evaluated only if it decides the result; otherwise only
    /// its type is checked.
    fn logical(&self, op: Binary, left: &Expr, right: &Expr) -> Result<Value, Problem> {
        let first = self.truth(&self.eval(left)?)?;
        let decided = first.filter(|&first| first == (op == Binary::Either));
        let types;
        let evaluator = match decided {
            Some(_) => {
                types = self.without_wave();
                &types
            }
            None => self,
        };
        let second = evaluator.truth(&evaluator.eval(right)?)?;
        let truth = decided.or(first.and(second)).map(|truth| Number::Int(truth.into()));
        let scalar = if self.language() == Language::C { Scalar::INT } else { Scalar::BOOL };
        Ok(Value::number(Operand::new(scalar, truth)))
    }

    /// Returns whether a value counts as true in a condition. `None` if only the type of the value is known.
    fn truth(&self, value: &Value) -> Result<Option<bool>, Problem> {
        match self.types.view(&value.ty) {
            View::Number(_) | View::Enum(..) => Ok(self.number(value)?.truth()),
            View::Bits | View::Pointer { .. } => {
                let bytes = value.content.as_ref().map(Content::defined_bytes).transpose()?;
                Ok(bytes.map(|bytes| bytes.iter().any(|&byte| byte != 0)))
            }
            _ => Err(format!("a value of type {} is neither true nor false", self.types.name(&value.ty))),
        }
    }

    /// Converts a value to a number.
    pub(crate) fn number(&self, value: &Value) -> Result<Operand, Problem> {
        let scalar = match self.types.view(&value.ty) {
            View::Number(scalar) | View::Enum(_, scalar) => scalar,
            View::Bits => Scalar::with_size(Kind::Unsigned, self.types.size(&value.ty) as usize)
                .ok_or("registers of more than 64 bits are no number")?,
            View::Pointer { bytes, .. } => {
                Scalar::with_size(Kind::Unsigned, bytes as usize).ok_or("an odd pointer")?
            }
            _ => {
                return Err(format!(
                    "a number is needed, and not a value of type {}",
                    self.types.name(&value.ty)
                ));
            }
        };
        value.operand(scalar)
    }

    fn binary(&self, op: Binary, left: &Value, right: &Value) -> Result<Value, Problem> {
        let (mut left, mut right) = (self.decayed(left), self.decayed(right));
        if let (View::Pointer { space: a, .. }, View::Pointer { space: b, .. }) =
            (self.types.view(&left.ty), self.types.view(&right.ty))
            && a != b
        {
            (left, right) = (self.flat(&left)?, self.flat(&right)?);
        }
        let step = |value: &Value| match self.types.view(&value.ty) {
            View::Pointer { to, .. } => Some(self.types.size(&to).max(1) as i128),
            _ => None,
        };
        let (a, b) = (self.number(&left)?, self.number(&right)?);
        let is_offset = |operand: Operand| !operand.scalar.is_float();
        match (step(&left), step(&right), op) {
            (None, None, _) => number::binary(op, a, b, self.language()).map(Value::number),
            (Some(step), None, Binary::Add | Binary::Sub) if is_offset(b) => {
                let sign = if op == Binary::Add { step } else { -step };
                Ok(advanced_pointer(&left, a, b.number.map(|b| number_as_integer(b).wrapping_mul(sign))))
            }
            (None, Some(step), Binary::Add) if is_offset(a) => {
                Ok(advanced_pointer(&right, b, a.number.map(|a| number_as_integer(a).wrapping_mul(step))))
            }
            (Some(step), Some(_), Binary::Sub) => {
                let elements = a
                    .number
                    .zip(b.number)
                    .map(|(a, b)| Number::Int((number_as_integer(a) - number_as_integer(b)) / step));
                Ok(Value::number(Operand::new(Scalar { kind: Kind::Signed, bytes: 8 }, elements)))
            }
            (_, _, op) if op.comparison().is_some() => {
                number::binary(op, a, b, self.language()).map(Value::number)
            }
            _ => Err(format!("`{}` does not go with a pointer", op.sign())),
        }
    }

    /// Converts an array in memory to a pointer to its first element; returns any other value unchanged.
    fn decayed(&self, value: &Value) -> Value {
        let View::Array { of, is_vector: false, .. } = self.types.view(&value.ty) else {
            return value.clone();
        };
        let first = Value { ty: of, ..value.clone() };
        self.address_of(&first).unwrap_or_else(|_| value.clone())
    }

    /// Evaluates `&x`.
    fn address_of(&self, value: &Value) -> Result<Value, Problem> {
        let pointer = |space| Ty::Pointer(Box::new(value.ty.clone()), space);
        if self.at.is_none() {
            return Ok(Value::new(pointer(AddressSpace::GENERIC), None));
        }
        let found = value.location.as_ref().and_then(Location::address);
        let (space, address) = found.ok_or("`&` takes what is in memory, and this is not")?;
        let bytes = space.address_bits().map_or(8, |bits| bits as usize / 8);
        Ok(Value::new(pointer(space), Some(Content::from_bytes(address.to_le_bytes()[..bytes].to_vec()))))
    }

    /// Converts a pointer into LDS or private memory to a flat pointer; returns any other value unchanged.
    fn flat(&self, value: &Value) -> Result<Value, Problem> {
        let View::Pointer { to, space, .. } = self.types.view(&value.ty) else { return Ok(value.clone()) };
        let flat: fn(u64) -> FlatAddress = match space {
            AddressSpace::LOCAL => FlatAddress::Lds,
            space if space == AddressSpace::PRIVATE_LANE || space.lane().is_some() => FlatAddress::Private,
            _ => return Ok(value.clone()),
        };
        let address =
            self.number(value)?.number.map(|address| flat(number_as_integer(address) as u64).address());
        let content = address.map(|address| Content::from_bytes(address.to_le_bytes().to_vec()));
        Ok(Value::new(Ty::Pointer(Box::new(to), AddressSpace::GENERIC), content))
    }

    /// Returns the address that a value refers to: the target of a pointer, the address of an array, or a
    /// number used as a flat address.
    pub(crate) fn target(&self, value: &Value) -> Result<(AddressSpace, u64), Problem> {
        let value = self.decayed(value);
        let space = match self.types.view(&value.ty) {
            View::Pointer { space, .. } => space,
            _ => AddressSpace::GENERIC,
        };
        let operand = self.number(&value)?;
        if operand.scalar.is_float() {
            return Err("an address is an integer".to_owned());
        }
        let address = operand.number.map(number_as_integer).ok_or("there is no address without a wave")?;
        Ok((space, address as u64))
    }

    fn cast(&self, value: &Value, text: &TypeText) -> Result<Value, Problem> {
        let ty = self.types.named(text)?;
        let mut value = self.decayed(value);
        // A pointer of 8 bytes may refer to any memory, so a cast to such a pointer gives a flat address.
        if matches!(self.types.view(&ty), View::Pointer { bytes: 8, .. }) {
            value = self.flat(&value)?;
        }
        let scalar = match self.types.view(&ty) {
            View::Number(scalar) | View::Enum(_, scalar) => scalar,
            View::Pointer { bytes, .. } => {
                Scalar::with_size(Kind::Unsigned, bytes as usize).ok_or("an odd pointer")?
            }
            _ if value.ty == ty => return Ok(value),
            _ => {
                let (from, to) = (self.types.name(&value.ty), self.types.name(&ty));
                return Err(format!("a value of type {from} cannot be cast to {to}"));
            }
        };
        Ok(Value { ty, is_literal: false, ..Value::number(self.number(&value)?.to(scalar)) })
    }

    fn variable(&self, name: &str) -> Result<Value, Problem> {
        let variable = self.scope.as_ref().and_then(|scope| Some((scope, scope.variable(name)?)));
        let Some((scope, variable)) = variable else {
            let constant = || {
                let (ty, number) = self.types.enumerated(name)?;
                let bytes = number.to_le_bytes()[..(self.types.size(&ty) as usize).min(16)].to_vec();
                Some(Value::new(ty, Some(Content::from_bytes(bytes))))
            };
            return self.function(name).or_else(constant).ok_or_else(|| self.unknown(name));
        };
        let ty = variable.ty().map_or(Ty::Bits(0), Ty::Die);
        let Some(at) = self.at else { return Ok(Value::new(ty, None)) };
        match scope.holder(at, &variable, self.lane).map_err(|nowhere| nowhere.to_string())? {
            ValueSource::Constant(mut bytes) => {
                bytes.truncate(variable.ty().map_or(8, |_| self.types.size(&ty)) as usize);
                Ok(Value::new(ty, Some(Content::from_bytes(bytes))))
            }
            ValueSource::At(location) => self.load(location, ty, variable.die.unit),
        }
    }

    /// Returns the address of a function as a pointer to code.
    fn function(&self, name: &str) -> Option<Value> {
        let start = self.program.function(name)?.start;
        let content =
            self.at.map(|at| Content::from_bytes(start.wrapping_add(at.base()).to_le_bytes().to_vec()));
        Some(Value::new(Ty::Pointer(Box::new(Ty::Code), AddressSpace::GLOBAL), content))
    }

    fn unknown(&self, name: &str) -> Problem {
        let Some(scope) = &self.scope else {
            return format!(
                "the object does not describe variables, so there is no `{name}`; registers are `$s0`, `$v0`, `$exec`"
            );
        };
        let variables = scope.variables();
        let names = variables.iter().map(|variable| variable.name);
        let functions = self.program.functions().iter().map(|function| function.name.as_str());
        format!("nothing is called `{name}` here{}", hint(name, names.chain(functions)))
    }

    /// Reads the value at a location.
    fn load(&self, location: Location, ty: Ty, unit: usize) -> Result<Value, Problem> {
        let Some(at) = self.at else { return Ok(Value::new(ty, None)) };
        let bytes = self.types.size(&ty).min(MOST);
        let frame = match &self.scope {
            Some(scope) => scope.frame(at, self.lane, unit),
            None => Frame::registers_of(at, self.lane),
        };
        let failed = |reason: dwarf::Reason| format!("<{reason}>");
        let (bytes, there) = location.read_what_is_there(bytes * 8, &frame).map_err(failed)?;
        let undefined = undefined(&location, bytes.len(), &frame).and_then(any);
        let content = Content { bytes, there: missing(there)?, undefined };
        Ok(Value { location: Some(location), ..Value::new(ty, Some(content)) })
    }

    /// Returns the content of memory: the bytes that were read, together with a mask of the bits that no
    /// instruction has written.
    pub(crate) fn content(&self, space: AddressSpace, address: u64, bytes: Vec<u8>) -> Content {
        let undefined = self.at.and_then(|at| {
            let location = Location::memory(space, address).ok()?;
            undefined(&location, bytes.len(), &Frame::registers_of(at, self.lane)).and_then(any)
        });
        Content { bytes, there: None, undefined }
    }

    fn field(&self, value: &Value, name: &str, depth: u32) -> Result<Value, Problem> {
        let (view, owner) = (self.types.view(&value.ty), || self.types.name(&value.ty));
        match (view, self.types.info) {
            (View::Struct(die), Some(info)) => {
                let all = fields(info, die);
                if let Some(field) = all.iter().find(|field| field.name == name) {
                    return match field.bits {
                        Some(bits) => self.bits(value, bits, &Ty::Die(field.ty)),
                        None => self.part(value, field.byte, Ty::Die(field.ty)),
                    };
                }
                let nameless = all.iter().filter(|field| field.name.is_empty() && depth < DEPTH);
                let mut inner = nameless.filter_map(|field| {
                    let part = self.part(value, field.byte, Ty::Die(field.ty)).ok()?;
                    self.field(&part, name, depth + 1).ok()
                });
                let names = all.iter().map(|field| field.name);
                inner.next().ok_or_else(|| format!("{} has no field `{name}`{}", owner(), hint(name, names)))
            }
            (View::Array { of, count, is_vector: true }, _) => {
                if let Some(at) = component(name).filter(|&at| at < count) {
                    let step = self.types.size(&of);
                    return self.part(value, at * step, of);
                }
                let chosen = swizzle(name, count, self.language());
                let chosen = chosen.ok_or_else(|| format!("{} has no component `{name}`", owner()))?;
                match chosen[..] {
                    [at] => self.part(value, at * self.types.size(&of), of),
                    _ => self.swizzled(value, &of, &chosen),
                }
            }
            (View::Pointer { .. }, _) if depth < DEPTH => {
                self.field(&self.element(value, Some(0))?, name, depth + 1)
            }
            _ => Err(format!("a value of type {} has no fields", owner())),
        }
    }

    /// Returns a vector of the chosen components of a vector.
    fn swizzled(&self, value: &Value, of: &Ty, chosen: &[u64]) -> Result<Value, Problem> {
        let ty = Ty::Vector(Box::new(of.clone()), chosen.len() as u64);
        let Some(content) = &value.content else { return Ok(Value::new(ty, None)) };
        let step = self.types.size(of) as usize;
        let parts = chosen.iter().map(|&at| content.part(at as usize * step, step));
        let parts = parts.collect::<Result<Vec<Content>, Problem>>()?;
        let content = Content::joined(&parts, self.types.size(&ty) as usize);
        Ok(Value { registers: value.registers.clone(), ..Value::new(ty, Some(content)) })
    }

    /// Reads a bit-field of `count` bits, starting at bit `from`.
    fn bits(&self, value: &Value, (from, count): (u64, u64), ty: &Ty) -> Result<Value, Problem> {
        let Some(content) = &value.content else { return Ok(Value::new(ty.clone(), None)) };
        let scalar = match self.types.view(ty) {
            View::Number(scalar) | View::Enum(_, scalar) => scalar,
            _ => return Err("a field of bits is a number".to_owned()),
        };
        let (first, end) = (from / 8, (from + count).div_ceil(8));
        let part = content.part(first as usize, end.saturating_sub(first) as usize)?;
        let all = part.defined_bytes()?.iter().rev().fold(0u128, |all, &byte| all << 8 | u128::from(byte));
        Ok(Value::new(
            ty.clone(),
            Some(Content::from_bytes(crate::format::extracted(all, from % 8, count, scalar))),
        ))
    }

    /// Returns element number `index` of an array, or of the memory to which a pointer points.
    fn element(&self, value: &Value, index: Option<i128>) -> Result<Value, Problem> {
        match self.types.view(&value.ty) {
            View::Array { of, count, .. } => {
                let index = index.map_or(Ok(0), |index| {
                    let index = u64::try_from(index).ok().filter(|&index| index < count);
                    index.ok_or_else(|| format!("the array has {count} elements"))
                })?;
                let step = self.types.size(&of);
                self.part(value, index.saturating_mul(step), of)
            }
            View::Pointer { to: Ty::Code, .. } => Err("a function has no value".to_owned()),
            View::Pointer { to, space, .. } => {
                if matches!(self.types.view(&to), View::Code) {
                    return Err("a function has no value".to_owned());
                }
                let operand = self.number(value)?;
                let (Some(address), Some(index)) = (operand.number, index) else {
                    return Ok(Value::new(to, None));
                };
                let address =
                    number_as_integer(address).wrapping_add(index.wrapping_mul(self.types.size(&to).into()));
                let location =
                    Location::memory(space, address as u64).map_err(|reason| reason.to_string())?;
                self.load(location, to, 0)
            }
            _ => Err(format!(
                "what has elements is an array or a pointer, and not a value of type {}",
                self.types.name(&value.ty)
            )),
        }
    }

    fn part(&self, value: &Value, byte: u64, ty: Ty) -> Result<Value, Problem> {
        let Some(content) = &value.content else { return Ok(Value::new(ty, None)) };
        let content = content.part(byte as usize, self.types.size(&ty) as usize)?;
        let location = value.location.as_ref().and_then(|location| location.moved(8 * i128::from(byte)).ok());
        let registers = value.registers.clone();
        Ok(Value { location, registers, ..Value::new(ty, Some(content)) })
    }

    /// Returns the text of a value. Numbers are written in the format `letter`. Without `letter`, each number
    /// is written in the usual format of its type.
    pub(crate) fn text(&self, value: &Value, letter: Option<NumberFormat>) -> String {
        let base = self.at.map_or(0, Stopped::base);
        let writer = Writer { types: self.types, program: self.program, base, letter };
        value.content.as_ref().map_or(String::new(), |content| writer.text(&value.ty, content))
    }

    /// Returns the parts of a value.
    pub(crate) fn parts(&self, value: &Value) -> Parts {
        match self.types.view(&value.ty) {
            View::Struct(die) => {
                let all = self.types.info.map_or(Vec::new(), |info| fields(info, die));
                let named = all.into_iter().filter(|field| !field.name.is_empty());
                Parts::Fields(named.map(|field| field.name.to_owned()).collect())
            }
            View::Array { count, .. } => Parts::Elements(count),
            View::Pointer { to, .. } if self.types.size(&to) > 0 => Parts::Target,
            _ => Parts::None,
        }
    }

    fn register(&self, name: &str) -> Result<Value, Problem> {
        super::registers::value(name, self.at, self.lane)
    }
}

/// Returns the value of a literal.
fn typed(literal: Literal) -> Value {
    let int = |value: u64| match (i32::try_from(value), i64::try_from(value)) {
        (Ok(_), _) => Scalar::INT,
        (_, Ok(_)) => Scalar { kind: Kind::Signed, bytes: 8 },
        _ => Scalar { kind: Kind::Unsigned, bytes: 8 },
    };
    let (scalar, number, is_literal) = match literal {
        Literal::Int(value, ty) => (ty.unwrap_or(int(value)), Number::Int(value.into()), ty.is_none()),
        Literal::Float(value, ty) => (ty.unwrap_or(Scalar::DOUBLE), Number::Float(value), ty.is_none()),
        Literal::Bool(value) => (Scalar::BOOL, Number::Int(value.into()), false),
    };
    Value::number(Operand { is_literal, ..Operand::new(scalar, Some(number)) })
}

fn number_as_integer(number: Number) -> i128 {
    match number {
        Number::Int(value) => value,
        Number::Float(value) => value as i128,
    }
}

/// Returns a pointer advanced by `bytes`.
fn advanced_pointer(pointer: &Value, address: Operand, bytes: Option<i128>) -> Value {
    let sum = address
        .number
        .zip(bytes)
        .map(|(address, bytes)| Number::Int(number_as_integer(address).wrapping_add(bytes)));
    Value { ty: pointer.ty.clone(), ..Value::number(Operand::new(address.scalar, sum)) }
}

/// Returns the index of the vector component with the given name, such as `x`, `w`, `s0` or `sf`.
fn component(name: &str) -> Option<u64> {
    let letter = ["x", "y", "z", "w"].iter().position(|one| *one == name);
    let digit = || name.strip_prefix(['s', 'S']).filter(|digit| digit.len() == 1);
    letter.map(|at| at as u64).or_else(|| u64::from_str_radix(digit()?, 16).ok())
}

/// Returns the indices of the vector components that a name of several components selects, such as `xy` or
/// `s0f`. In OpenCL, `lo`, `hi`, `even` and `odd` are such names too. `count` is the number of components of
/// the vector.
fn swizzle(name: &str, count: u64, language: Language) -> Option<Vec<u64>> {
    let whole = count.next_power_of_two();
    let half: Option<Vec<u64>> = match (name, language) {
        ("lo", Language::C) => Some((0..whole / 2).collect()),
        ("hi", Language::C) => Some((whole / 2..whole).collect()),
        ("even", Language::C) => Some((0..whole).step_by(2).collect()),
        ("odd", Language::C) => Some((1..whole).step_by(2).collect()),
        _ => None,
    };
    if half.is_some() {
        return half;
    }
    let digits = name.strip_prefix(['s', 'S']).filter(|digits| !digits.is_empty());
    let letters = |sign: char| component(&sign.to_string());
    let chosen: Option<Vec<u64>> = match digits {
        Some(digits) => digits.chars().map(|digit| digit.to_digit(16).map(u64::from)).collect(),
        None => name.chars().map(letters).collect(),
    };
    chosen.filter(|chosen| [2, 3, 4, 8, 16].contains(&chosen.len()) && chosen.iter().all(|&at| at < count))
}

/// Returns the mask of the bits at a location that no instruction has written. Returns `None` if the location
/// cannot be split into parts that are in registers and memory.
fn undefined(location: &Location, bytes: usize, frame: &Frame<'_>) -> Option<Vec<u8>> {
    let mut mask = vec![0; bytes];
    let mut at = 0;
    for Part { location, bits } in location.parts(8 * bytes as u128).ok()? {
        let (from, count) = (at / 8, bits as usize / 8);
        at += bits as usize;
        // Which bits have been written is known only for whole bytes in registers and memory. Any other part
        // of the value is treated as written.
        let is_kept = matches!(location.storage, Storage::Register(_) | Storage::Memory(_));
        if !is_kept || location.bit % 8 != 0 || from * 8 + count * 8 != at {
            continue;
        }
        frame.undefined(&location, mask.get_mut(from..from + count)?);
    }
    Some(mask)
}
