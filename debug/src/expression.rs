//! What is typed to be shown: `s.b[1]`, `*p`, `y[i]`, `$v3`, `$s[4:5]`, `i == 3`.

use crate::format::{self, Known, Shape, fields, numeric, shape, size};
use crate::pending::registers_of;
use crate::program::Program;
use crate::spot::{Place, Spot};
use crate::variables::{Held, Nowhere, Scope};
use crate::waves::Who;
use dwarf::{AddressSpace, DebugInfo, Location};
use isa::Reg;
use sim::Stopped;

/// Bytes of a value that are read at most.
const MOST: u64 = 1 << 16;

/// Why something cannot be shown.
pub type Problem = String;

/// A value for a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// As text.
    pub text: String,
    /// Its type, as a user would write it.
    pub ty: String,
    /// What it consists of.
    pub parts: Parts,
    /// Where it is in memory, if it is there.
    pub spot: Option<Spot>,
    /// The waits that it takes until it is there, if it is in registers that a memory operation has yet to write: `vmcnt(0)`.
    pub pending: Option<String>,
}

/// The value, and whether it is there.
impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)?;
        self.pending.as_ref().map_or(Ok(()), |wait| write!(f, " (not written yet, but after {wait})"))
    }
}

/// What a value consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parts {
    /// Nothing.
    None,
    /// Fields, by their names.
    Fields(Vec<String>),
    /// So many elements.
    Elements(u64),
    /// What it points to.
    Target,
}

impl Parts {
    /// How many.
    pub fn count(&self) -> u64 {
        match self {
            Parts::None => 0,
            Parts::Fields(names) => names.len() as u64,
            Parts::Elements(count) => *count,
            Parts::Target => 1,
        }
    }

    /// Some of them: what each is called, and the expression for it where that of the whole is `text`.
    pub fn within<'a>(
        &'a self,
        text: &'a str,
        from: u64,
        count: u64,
    ) -> impl Iterator<Item = (String, String)> + 'a {
        let whole = if text.starts_with(['*', '-']) { format!("({text})") } else { text.to_owned() };
        let end = from.saturating_add(count).min(self.count());
        (from..end).filter_map(move |at| match self {
            Parts::None => None,
            Parts::Fields(names) => {
                let name = names.get(usize::try_from(at).ok()?)?;
                Some((name.clone(), format!("{whole}.{name}")))
            }
            Parts::Elements(_) => Some((format!("[{at}]"), format!("{whole}[{at}]"))),
            Parts::Target => Some((format!("*{text}"), format!("*{whole}"))),
        })
    }
}

/// A value, and where it is.
pub(crate) struct Value {
    pub bytes: Vec<u8>,
    /// Which bytes are anywhere, if not all are.
    pub there: Option<Vec<bool>>,
    /// Entry of its type; none for registers.
    pub ty: Option<u64>,
    pub location: Option<Location>,
    /// Registers that were named.
    pub registers: Vec<Reg>,
    /// A number that was typed.
    pub literal: Option<f64>,
}

impl Value {
    fn plain(bytes: Vec<u8>) -> Value {
        Value { bytes, there: None, ty: None, location: None, registers: Vec::new(), literal: None }
    }

    /// Registers that it is in.
    pub(crate) fn registers(&self) -> Vec<Reg> {
        let mut all = self.registers.clone();
        if let Some(location) = &self.location {
            registers_of(&location.storage, &mut all);
        }
        all
    }

    pub(crate) fn text(&self, info: Option<&DebugInfo>) -> String {
        if let Some(number) = self.literal {
            return number.to_string();
        }
        match (info, self.ty) {
            (Some(info), Some(ty)) => {
                let known = Known { bytes: &self.bytes, there: self.there.as_deref() };
                format::partial(info, Some(ty), known)
            }
            _ => format::plain(&self.bytes),
        }
    }

    fn number(&self, info: Option<&DebugInfo>) -> Option<f64> {
        if self.literal.is_some() {
            return self.literal;
        }
        if self.there.is_some() {
            return None;
        }
        match (info, self.ty) {
            (Some(info), Some(ty)) => numeric(info, ty, &self.bytes),
            _ => {
                let whole = self.bytes.iter().rev().fold(0u128, |value, &byte| value << 8 | u128::from(byte));
                Some(whole as f64)
            }
        }
    }

    /// What it consists of.
    pub(crate) fn parts(&self, info: Option<&DebugInfo>) -> Parts {
        let (Some(info), Some(ty)) = (info, self.ty) else { return Parts::None };
        match shape(info, ty) {
            Shape::Struct { die, .. } => {
                let named = fields(info, die).into_iter().filter(|field| !field.name.is_empty());
                Parts::Fields(named.map(|field| field.name.to_owned()).collect())
            }
            Shape::Array { count, .. } => Parts::Elements(count),
            Shape::Pointer { to: Some(to), .. } if size(info, to) > 0 => Parts::Target,
            _ => Parts::None,
        }
    }

    /// Where it is in memory.
    pub(crate) fn spot(&self, who: Who, lane: u32) -> Option<Spot> {
        let (space, address) = self.location.as_ref()?.address()?;
        let place = match space {
            AddressSpace::GLOBAL => Place::Global(address),
            AddressSpace::LOCAL => Place::Lds(who.group, address),
            AddressSpace::PRIVATE_LANE => Place::Private(who, lane, address),
            AddressSpace::GENERIC => Place::flat(address, who, lane),
            _ => return None,
        };
        Some(Spot { place, bytes: self.bytes.len(), ty: self.ty })
    }
}

/// Parts of an expression.
#[derive(Clone, Debug, PartialEq)]
enum Token {
    Name(String),
    Number(f64),
    Register(String),
    Sign(&'static str),
}

const SIGNS: [&str; 13] = ["==", "!=", "<=", ">=", "<", ">", "[", "]", ".", "*", "(", ")", "-"];

fn tokens(text: &str) -> Result<Vec<Token>, Problem> {
    let mut out = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = |from: &str, allowed: fn(char) -> bool| from.find(|c| !allowed(c)).unwrap_or(from.len());
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = if first == '$' {
            let mut length = 1 + word(&rest[1..], is_word);
            // `$s[4:5]`
            if rest[length..].starts_with('[')
                && let Some(end) = rest[length..].find(']')
                && rest[length..length + end].contains(':')
            {
                length += end + 1;
            }
            out.push(Token::Register(rest[1..length].to_owned()));
            length
        } else if first.is_ascii_digit() {
            let length = word(rest, |c| c.is_alphanumeric() || c == '.');
            let digits = &rest[..length];
            let number = match digits.strip_prefix("0x") {
                Some(hex) => u64::from_str_radix(hex, 16).ok().map(|number| number as f64),
                None => digits.parse().ok(),
            };
            out.push(Token::Number(number.ok_or_else(|| format!("`{digits}` is no number"))?));
            length
        } else if first.is_alphabetic() || first == '_' {
            let length = word(rest, is_word);
            out.push(Token::Name(rest[..length].to_owned()));
            length
        } else {
            let sign = SIGNS.into_iter().find(|sign| rest.starts_with(sign));
            let sign = sign.ok_or_else(|| format!("`{first}` has no place in an expression"))?;
            out.push(Token::Sign(sign));
            sign.len()
        };
        rest = rest[length..].trim_start();
    }
    Ok(out)
}

/// An expression for a lane of a wave that stands somewhere.
pub(crate) struct Evaluator<'a> {
    pub at: &'a Stopped<'a>,
    pub scope: Option<Scope<'a>>,
    pub lane: u32,
    rest: Vec<Token>,
}

impl<'a> Evaluator<'a> {
    /// `level` as [`Scope::new`] has it.
    pub(crate) fn new(at: &'a Stopped<'a>, program: &'a Program, lane: u32, level: usize) -> Evaluator<'a> {
        Evaluator { at, scope: program.scope(at, level), lane, rest: Vec::new() }
    }

    fn info(&self) -> Option<&'a DebugInfo> {
        self.scope.as_ref().map(|scope| scope.info)
    }

    /// A value.
    pub(crate) fn value(&mut self, text: &str) -> Result<Value, Problem> {
        self.begin(text)?;
        let value = self.unary(0)?;
        self.end()?;
        Ok(value)
    }

    /// Whether a comparison holds; a value alone does if it is not 0.
    pub(crate) fn holds(&mut self, text: &str) -> Result<bool, Problem> {
        self.begin(text)?;
        let left = self.unary(0)?;
        let number = |value: &Value, info| value.number(info).ok_or("a condition takes numbers".to_owned());
        let info = self.info();
        let left = number(&left, info)?;
        let Some(Token::Sign(sign)) = self.rest.pop() else { return Ok(left != 0.0) };
        let right = self.unary(0)?;
        self.end()?;
        let right = number(&right, info)?;
        Ok(match sign {
            "==" => left == right,
            "!=" => left != right,
            "<" => left < right,
            "<=" => left <= right,
            ">" => left > right,
            ">=" => left >= right,
            other => return Err(format!("`{other}` is no comparison")),
        })
    }

    fn begin(&mut self, text: &str) -> Result<(), Problem> {
        self.rest = tokens(text)?;
        self.rest.reverse();
        if self.rest.is_empty() { Err("an expression is missing".to_owned()) } else { Ok(()) }
    }

    fn end(&self) -> Result<(), Problem> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err("the expression goes on where it should end".to_owned())
        }
    }

    fn takes(&mut self, sign: &str) -> bool {
        let is = matches!(self.rest.last(), Some(Token::Sign(next)) if *next == sign);
        if is {
            self.rest.pop();
        }
        is
    }

    fn unary(&mut self, depth: u32) -> Result<Value, Problem> {
        if depth > 32 {
            return Err("the expression is too deep".to_owned());
        }
        if self.takes("*") {
            let pointer = self.unary(depth + 1)?;
            return self.element(&pointer, 0);
        }
        if self.takes("-") {
            let number = self.unary(depth + 1)?.number(self.info()).ok_or("`-` takes a number")?;
            return Ok(literal(-number));
        }
        let mut value = self.primary(depth)?;
        loop {
            if self.takes(".") {
                let Some(Token::Name(name)) = self.rest.pop() else {
                    return Err("a field is missing".to_owned());
                };
                value = self.field(&value, &name)?;
            } else if self.takes("[") {
                let index = self.unary(depth + 1)?.number(self.info()).ok_or("an index is a number")?;
                if !self.takes("]") {
                    return Err("`]` is missing".to_owned());
                }
                value = self.element(&value, index as i64)?;
            } else {
                return Ok(value);
            }
        }
    }

    fn primary(&mut self, depth: u32) -> Result<Value, Problem> {
        match self.rest.pop() {
            Some(Token::Sign("(")) => {
                let value = self.unary(depth + 1)?;
                if self.takes(")") { Ok(value) } else { Err("`)` is missing".to_owned()) }
            }
            Some(Token::Number(number)) => Ok(literal(number)),
            Some(Token::Register(name)) => self.register(&name),
            Some(Token::Name(name)) => self.variable(&name),
            _ => Err("an expression is missing".to_owned()),
        }
    }

    fn variable(&self, name: &str) -> Result<Value, Problem> {
        let Some(scope) = &self.scope else {
            return Err(format!(
                "the object does not describe variables, so there is no `{name}`; registers are `$s0`, `$v0`, `$exec`"
            ));
        };
        let variables = scope.variables();
        let variable = variables.iter().find(|variable| variable.name == name);
        let variable = variable.ok_or_else(|| format!("nothing is called `{name}` here"))?;
        let ty = scope.type_of(variable);
        match scope.holder(variable, self.lane).map_err(|nowhere| nowhere.to_string())? {
            Held::Constant(mut bytes) => {
                bytes.truncate(ty.map_or(8, |ty| size(scope.info, ty)) as usize);
                Ok(Value { ty, ..Value::plain(bytes) })
            }
            Held::At(location) => self.load(location, ty, variable.die.unit),
        }
    }

    /// What is at a place.
    fn load(&self, location: Location, ty: Option<u64>, unit: usize) -> Result<Value, Problem> {
        let scope = self.scope.as_ref().ok_or("there is no debug information")?;
        let bytes = ty.map_or(0, |ty| size(scope.info, ty)).min(MOST);
        let frame = scope.frame(self.lane, unit);
        let read = location.read_what_is_there(bytes * 8, &frame);
        let (bytes, there) = read.map_err(|reason| format!("<{reason}>"))?;
        let there = missing(there)?;
        Ok(Value { ty, there, location: Some(location), ..Value::plain(bytes) })
    }

    fn field(&self, value: &Value, name: &str) -> Result<Value, Problem> {
        let (Some(info), Some(ty)) = (self.info(), value.ty) else {
            return Err("a register has no fields".to_owned());
        };
        match shape(info, ty) {
            Shape::Struct { die, .. } => {
                let field = fields(info, die).into_iter().find(|field| field.name == name);
                let field = field.ok_or_else(|| format!("there is no field `{name}`"))?;
                self.part(value, field.byte, field.ty)
            }
            Shape::Array { of, is_vector: true, .. } => {
                let at = ["x", "y", "z", "w"].iter().position(|one| *one == name);
                let at = at.ok_or_else(|| format!("a vector has no `{name}`"))? as u64;
                self.part(value, at * size(info, of), of)
            }
            Shape::Pointer { .. } => self.field(&self.element(value, 0)?, name),
            _ => Err(format!("what has a field `{name}` is a struct")),
        }
    }

    /// Element of an array, or so many steps behind a pointer.
    fn element(&self, value: &Value, index: i64) -> Result<Value, Problem> {
        let (Some(info), Some(ty)) = (self.info(), value.ty) else {
            return Err("a register is no array and no pointer".to_owned());
        };
        match shape(info, ty) {
            Shape::Array { of, count, .. } => {
                let index = u64::try_from(index).ok().filter(|&index| index < count);
                let index = index.ok_or_else(|| format!("the array has {count} elements"))?;
                self.part(value, index.saturating_mul(size(info, of)), of)
            }
            Shape::Pointer { to: Some(to), space, .. } => {
                if value.there.is_some() {
                    return Err(Nowhere::Here.to_string());
                }
                let address = value.bytes.iter().rev().fold(0u64, |all, &byte| all << 8 | u64::from(byte));
                let address = address.wrapping_add_signed(index.wrapping_mul(size(info, to) as i64));
                let location = Location::memory(space, address).map_err(|reason| reason.to_string())?;
                self.load(location, Some(to), 0)
            }
            _ => Err("what has elements is an array or a pointer".to_owned()),
        }
    }

    fn part(&self, value: &Value, byte: u64, ty: u64) -> Result<Value, Problem> {
        let info = self.info().ok_or("there is no debug information")?;
        let end = byte.saturating_add(size(info, ty)) as usize;
        let bytes = value.bytes.get(byte as usize..end).ok_or("it is outside")?.to_vec();
        let there = value.there.as_ref().and_then(|there| there.get(byte as usize..end));
        let there = there.map_or(Ok(None), |there| missing(there.to_vec()))?;
        let location = value.location.as_ref().and_then(|location| location.moved(8 * i128::from(byte)).ok());
        let registers = value.registers.clone();
        Ok(Value { ty: Some(ty), there, location, registers, ..Value::plain(bytes) })
    }

    /// `v3`, `s4`, `s[4:5]`, `exec`, `vcc`, `scc`, `m0`, `pc`.
    fn register(&self, name: &str) -> Result<Value, Problem> {
        let unknown = || format!("there is no register `${name}`");
        let scalar = |code: u16| self.at.scalar(code).ok_or_else(unknown);
        let pair = |low: u16| -> Result<Vec<u8>, Problem> {
            Ok([scalar(low)?.to_le_bytes(), scalar(low + 1)?.to_le_bytes()].concat())
        };
        let mut named = Vec::new();
        let bytes = match name {
            "exec" => self.at.exec().to_le_bytes().to_vec(),
            "vcc" => pair(106)?,
            "m0" => scalar(124)?.to_le_bytes().to_vec(),
            "scc" => vec![u8::from(self.at.scc())],
            "pc" => self.at.address().to_le_bytes().to_vec(),
            "mode" => self.at.mode().to_le_bytes().to_vec(),
            _ => {
                let (bank, numbers) = name.split_at_checked(1).ok_or_else(unknown)?;
                let inner = numbers.strip_prefix('[').and_then(|inner| inner.strip_suffix(']'));
                let (first, last) =
                    inner.and_then(|inner| inner.split_once(':')).unwrap_or((numbers, numbers));
                let (first, last): (u16, u16) =
                    (first.parse().map_err(|_| unknown())?, last.parse().map_err(|_| unknown())?);
                if first > last || last - first > 15 {
                    return Err(unknown());
                }
                let dword = |number: u16| match bank {
                    "s" if self.at.target().is_sgpr(Reg(number)) => scalar(number),
                    "v" if number < 256 => self.lane_of(number).ok_or_else(unknown),
                    "a" if number < 256 => self.lane_of(256 + number).ok_or_else(unknown),
                    _ => Err(unknown()),
                };
                let codes = match bank {
                    "s" => 0,
                    "v" => 256,
                    _ => 512,
                };
                named.extend((first..=last).map(|number| Reg(codes + number)));
                let dwords = (first..=last).map(dword).collect::<Result<Vec<_>, _>>()?;
                dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect()
            }
        };
        Ok(Value { registers: named, ..Value::plain(bytes) })
    }

    fn lane_of(&self, number: u16) -> Option<u32> {
        self.at.vector(number).map(|lanes| lanes[self.lane as usize & 63])
    }
}

/// Which bytes are anywhere, if not all are.
///
/// # Errors
/// None is.
fn missing(there: Vec<bool>) -> Result<Option<Vec<bool>>, Problem> {
    match (there.contains(&true), there.contains(&false)) {
        (false, true) => Err(Nowhere::Here.to_string()),
        (true, true) => Ok(Some(there)),
        (_, false) => Ok(None),
    }
}

/// A number that was typed.
fn literal(number: f64) -> Value {
    Value { literal: Some(number), ..Value::plain(Vec::new()) }
}
