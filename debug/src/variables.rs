//! Variables in force where a wave stands, and where they are.

use crate::machine::Frame;
use dwarf::{AddressSpace, Content, DebugInfo, Die, Frames, Goal, Location, Opcode, Ops, evaluate, marked};
use sim::Stopped;

/// Why a variable has no value here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Nowhere {
    /// Optimised away, or not begun yet.
    Here,
    /// Its expression cannot be evaluated.
    Failed(String),
}

impl std::fmt::Display for Nowhere {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Nowhere::Here => write!(f, "<not available here>"),
            Nowhere::Failed(why) => write!(f, "<{why}>"),
        }
    }
}

/// What holds a value.
#[derive(Clone)]
pub(crate) enum Held {
    At(Location),
    Constant(Vec<u8>),
}

/// A variable or parameter.
pub(crate) struct Variable<'a> {
    pub name: &'a str,
    pub die: &'a Die,
    /// Its entry, or that of which it is an instance: has the type.
    origin: &'a Die,
}

/// The debug information that is in force where a wave stands.
pub(crate) struct Scope<'a> {
    pub info: &'a DebugInfo,
    frames: Option<&'a Frames>,
    at: &'a Stopped<'a>,
    /// Entries around the address, outermost first.
    path: Vec<usize>,
}

impl<'a> Scope<'a> {
    /// `level`: of functions that are inlined there, how many are left to get to the one that is looked at.
    pub(crate) fn new(
        (info, frames): (&'a DebugInfo, Option<&'a Frames>),
        at: &'a Stopped<'a>,
        level: usize,
    ) -> Scope<'a> {
        let mut path = info.around(at.address());
        for _ in 0..level {
            let is_inlined = |&at: &usize| info.entries[at].tag == "DW_TAG_inlined_subroutine";
            path.truncate(path.iter().rposition(is_inlined).unwrap_or(path.len()));
        }
        Scope { info, frames, at, path }
    }

    /// Variables, innermost first; of a name the first one counts. Those of the unit come last.
    pub(crate) fn variables(&self) -> Vec<Variable<'a>> {
        let mut found: Vec<Variable<'a>> = Vec::new();
        for &at in self.path.iter().rev() {
            for die in self.info.children(at) {
                if !matches!(die.tag.as_str(), "DW_TAG_variable" | "DW_TAG_formal_parameter") {
                    continue;
                }
                let origin = match die.get("DW_AT_abstract_origin").or(die.get("DW_AT_specification")) {
                    Some(&Content::Reference(offset)) => self.info.entry(offset).unwrap_or(die),
                    _ => die,
                };
                if let Some(name) = self.info.name_of(die)
                    && !found.iter().any(|other| other.name == name)
                {
                    found.push(Variable { name, die, origin });
                }
            }
            // What is around an inlined function is its caller's.
            if self.info.entries[at].tag == "DW_TAG_inlined_subroutine" {
                break;
            }
        }
        found
    }

    /// The state of a lane, as expressions see it.
    pub(crate) fn frame(&self, lane: u32, unit: usize) -> Frame<'a> {
        let mut frame = Frame::new((self.at, lane), (self.info, self.frames), unit);
        let function = self.path.iter().rev().map(|&at| &self.info.entries[at]);
        let base = function.filter(|die| die.tag == "DW_TAG_subprogram").find_map(|die| {
            match die.get("DW_AT_frame_base")? {
                Content::Expression(bytes) => Some((bytes.as_slice(), self.info.units[die.unit].encoding)),
                _ => None,
            }
        });
        frame.base = base;
        frame
    }

    /// What holds a variable for a lane.
    pub(crate) fn holder(&self, variable: &Variable<'a>, lane: u32) -> Result<Held, Nowhere> {
        let die = variable.die;
        if let Some(constant) = die.get("DW_AT_const_value").or(variable.origin.get("DW_AT_const_value")) {
            return match constant {
                Content::Number(value) => Ok(Held::Constant(value.to_le_bytes().to_vec())),
                Content::Bytes(bytes) => Ok(Held::Constant(bytes.clone())),
                _ => Err(Nowhere::Failed("a constant of an unknown form".to_owned())),
            };
        }
        let located = if die.get("DW_AT_location").is_some() { die } else { variable.origin };
        let bytes = self.info.location_at(located, self.at.address()).ok_or(Nowhere::Here)?;
        if bytes.is_empty() {
            return Err(Nowhere::Here);
        }
        self.place(bytes, located.unit, lane).map(Held::At)
    }

    /// Where an expression says that something is.
    fn place(&self, bytes: &[u8], unit: usize, lane: u32) -> Result<Location, Nowhere> {
        let encoding = self.info.units[unit].encoding;
        let has_own_dword = !knows_lanes(bytes, encoding);
        let mut frame = self.frame(lane, unit);
        frame.has_own_dword = has_own_dword;
        let failed = |reason: &dyn std::fmt::Display| Nowhere::Failed(reason.to_string());
        let expression = match marked(bytes, encoding) {
            Some((address, space)) => {
                let outcome =
                    evaluate(address, encoding, Goal::Value, &frame, &[]).map_err(|error| failed(&error))?;
                let value = outcome.value().and_then(|value| value.unsigned().ok());
                let address = value.and_then(|value| u64::try_from(value).ok()).ok_or(Nowhere::Here)?;
                return Location::memory(space, address).map_err(|reason| failed(&reason));
            }
            None => bytes,
        };
        let outcome =
            evaluate(expression, encoding, Goal::Location, &frame, &[]).map_err(|error| failed(&error))?;
        let location = outcome.location().ok_or(Nowhere::Here)?;
        let first = Ops::new(expression, encoding).next();
        let is_static =
            first.is_some_and(|op| op.is_ok_and(|op| matches!(op.opcode, Opcode::ADDR | Opcode::ADDRX)));
        match location.address() {
            // Addresses of the file: in memory they are where it was loaded.
            Some((AddressSpace::GLOBAL, address)) if is_static => {
                Location::memory(AddressSpace::GLOBAL, address.wrapping_add(self.at.base()))
                    .map_err(|reason| failed(&reason))
            }
            _ if !has_own_dword => Ok(location.clone()),
            _ => Ok(location.of_lane(lane)),
        }
    }

    /// The entry of a variable's type.
    pub(crate) fn type_of(&self, variable: &Variable<'a>) -> Option<u64> {
        type_of(variable.origin).or(type_of(variable.die))
    }
}

/// A variable that is in force where a wave stands, and its bytes for a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Its name.
    pub name: String,
    /// The line of its declaration.
    pub line: u64,
    /// What it holds: the bytes that are anywhere.
    pub bytes: Vec<Option<u8>>,
}

/// The variables of the innermost function that are in force where a wave stands; those in its frame are found by call frame information.
pub struct Sight<'a> {
    scope: Scope<'a>,
    variables: Vec<Variable<'a>>,
}

impl<'a> Sight<'a> {
    /// Where a wave stands.
    pub fn new(info: &'a DebugInfo, frames: Option<&'a Frames>, at: &'a Stopped<'a>) -> Sight<'a> {
        let scope = Scope::new((info, frames), at, 0);
        let variables = scope.variables();
        Sight { scope, variables }
    }

    /// What variables are for a lane.
    pub fn seen(&self, lane: u32) -> Vec<Seen> {
        let seen = self.variables.iter().map(|variable| Seen {
            name: variable.name.to_owned(),
            line: match variable.origin.get("DW_AT_decl_line") {
                Some(&Content::Number(line)) => line as u64,
                _ => 0,
            },
            bytes: self.bytes(variable, lane).unwrap_or_default(),
        });
        seen.collect()
    }

    fn bytes(&self, variable: &Variable<'a>, lane: u32) -> Option<Vec<Option<u8>>> {
        let size = crate::format::size(self.scope.info, self.scope.type_of(variable)?);
        match self.scope.holder(variable, lane).ok()? {
            Held::Constant(bytes) => Some(bytes.into_iter().map(Some).collect()),
            Held::At(location) => {
                let frame = self.scope.frame(lane, variable.die.unit);
                let (bytes, there) = location.read_what_is_there(8 * size, &frame).ok()?;
                let known = bytes.into_iter().zip(there);
                Some(known.map(|(byte, is_there)| is_there.then_some(byte)).collect())
            }
        }
    }
}

/// Whether an expression has operations of the extensions.
fn knows_lanes(expression: &[u8], encoding: dwarf::Encoding) -> bool {
    Ops::new(expression, encoding).flatten().any(|op| op.opcode.is_extension())
}

/// The type that an entry names.
pub(crate) fn type_of(die: &Die) -> Option<u64> {
    match die.get("DW_AT_type") {
        Some(&Content::Reference(offset)) => Some(offset),
        _ => None,
    }
}
