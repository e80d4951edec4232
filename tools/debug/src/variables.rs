//! Variables that are in scope at an address, and where their values are.

use crate::machine::Frame;
use dwarf::{
    AddressSpace, Content, DebugInfo, Die, Encoding, Frames, Goal, Location, Opcode, Ops, Storage, evaluate,
    marked,
};
use sim::Stopped;

/// Why a variable has no value at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Nowhere {
    /// The variable is optimised away, or its life has not begun.
    Here,
    /// The variable's location expression cannot be evaluated. The text is the reason.
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

/// Where a value is found: at a location in registers or memory, or as a constant in the debug information.
#[derive(Clone)]
pub(crate) enum ValueSource {
    At(Location),
    Constant(Vec<u8>),
}

/// A variable or parameter.
#[derive(Clone, Copy)]
pub(crate) struct Variable<'a> {
    pub name: &'a str,
    pub die: &'a Die,
    /// The debug information entry that has the variable's type and name. For a variable of an inlined
    /// function or one that is declared elsewhere, this is the entry to which `die` refers. Otherwise it is
    /// `die` itself.
    origin: &'a Die,
}

impl<'a> Variable<'a> {
    /// Returns the entry of the variable's type.
    pub(crate) fn ty(&self) -> Option<u64> {
        type_of(self.origin).or(type_of(self.die))
    }

    pub(crate) fn is_parameter(&self) -> bool {
        self.die.tag == "DW_TAG_formal_parameter"
    }

    /// Returns the line of the variable's declaration, or 0.
    pub(crate) fn line(&self) -> u64 {
        match self.origin.get("DW_AT_decl_line") {
            Some(&Content::Number(line)) => line as u64,
            _ => 0,
        }
    }

    /// Returns what the debug information says about the variable's location at an address of the object
    /// file.
    pub(crate) fn said(&self, info: &'a DebugInfo, address: u64) -> Result<VariableEntry<'a>, Nowhere> {
        let die = self.die;
        if let Some(constant) = die.get("DW_AT_const_value").or(self.origin.get("DW_AT_const_value")) {
            return match constant {
                Content::Number(value) => Ok(VariableEntry::Constant(value.to_le_bytes().to_vec())),
                Content::Bytes(bytes) => Ok(VariableEntry::Constant(bytes.clone())),
                _ => Err(Nowhere::Failed("a constant of an unknown form".to_owned())),
            };
        }
        let located = if die.get("DW_AT_location").is_some() { die } else { self.origin };
        match info.location_at(located, address) {
            None | Some([]) => Err(Nowhere::Here),
            Some(bytes) => Ok(VariableEntry::At(Expression::new(bytes, info, located.unit))),
        }
    }
}

/// What the debug information says about a variable's value at an address: a location expression or a
/// constant.
pub(crate) enum VariableEntry<'a> {
    At(Expression<'a>),
    Constant(Vec<u8>),
}

/// A location expression.
pub(crate) struct Expression<'a> {
    pub unit: usize,
    bytes: &'a [u8],
    encoding: Encoding,
    /// Address space of the location if the expression ends with LLVM's mark for an address space
    /// ([`marked`]). `None` without such a mark.
    mark: Option<AddressSpace>,
    /// Whether a vector register in the location expression means only the lane's dword of that register.
    has_own_dword: bool,
    /// Whether the expression's result is an address in the object file. The load base must then be added to
    /// get an address in memory.
    pub is_static: bool,
}

impl<'a> Expression<'a> {
    fn new(bytes: &'a [u8], info: &DebugInfo, unit: usize) -> Expression<'a> {
        let encoding = info.units[unit].encoding;
        let has_own_dword = !knows_lanes(bytes, encoding);
        let (bytes, mark) = match marked(bytes, encoding) {
            Some((address, space)) => (address, Some(space)),
            None => (bytes, None),
        };
        let first = Ops::new(bytes, encoding).next();
        let is_static =
            first.is_some_and(|op| op.is_ok_and(|op| matches!(op.opcode, Opcode::ADDR | Opcode::ADDRX)));
        Expression { unit, bytes, encoding, mark, has_own_dword, is_static }
    }

    /// Evaluates the location expression for the lane of `frame`. Unless the expression reads state that
    /// depends on the lane, the result is the location for all lanes. It may consist of a part for each lane;
    /// [`Expression::of_lane`] returns one part.
    pub(crate) fn evaluate_location(&self, frame: &mut Frame<'_>) -> Result<Location, Nowhere> {
        frame.has_own_dword = self.has_own_dword;
        let failed = |reason: &dyn std::fmt::Display| Nowhere::Failed(reason.to_string());
        let evaluate = |goal| evaluate(self.bytes, self.encoding, goal, &*frame, &[]);
        if let Some(space) = self.mark {
            let outcome = evaluate(Goal::Value).map_err(|error| failed(&error))?;
            let value = outcome.value().and_then(|value| value.unsigned().ok());
            let address = value.and_then(|value| u64::try_from(value).ok()).ok_or(Nowhere::Here)?;
            return Location::memory(space, address).map_err(|reason| failed(&reason));
        }
        let outcome = evaluate(Goal::Location).map_err(|error| failed(&error))?;
        let location = outcome.location().ok_or(Nowhere::Here)?;
        match location.address() {
            Some((AddressSpace::GLOBAL, address)) if self.is_static => {
                Location::memory(AddressSpace::GLOBAL, address.wrapping_add(frame.at.base()))
                    .map_err(|reason| failed(&reason))
            }
            _ => Ok(location.clone()),
        }
    }

    /// Returns the part of a variable's location that belongs to a lane. `None` if the location has no such
    /// parts, so that all of it belongs to the lane.
    pub(crate) fn of_lane(&self, place: &Location, lane: u32) -> Option<Location> {
        let has_parts = matches!(place.storage, Storage::Register(_) | Storage::Composite(_));
        (self.has_own_dword && has_parts).then(|| place.of_lane(lane))
    }
}

/// The debug information entries that are in scope at an address.
#[derive(Clone)]
pub(crate) struct Scope<'a> {
    pub info: &'a DebugInfo,
    frames: Option<&'a Frames>,
    /// Indices of the entries around the address, outermost first.
    path: Vec<usize>,
}

impl<'a> Scope<'a> {
    /// Creates the scope at an address. If several inlined functions contain the address, `level` selects one
    /// of them: it says how many inlined functions to leave, from the innermost outwards.
    pub(crate) fn new(
        (info, frames): (&'a DebugInfo, Option<&'a Frames>),
        address: u64,
        level: usize,
    ) -> Scope<'a> {
        let mut path = info.around(address);
        for _ in 0..level {
            let is_inlined = |&at: &usize| info.entries[at].tag == "DW_TAG_inlined_subroutine";
            path.truncate(path.iter().rposition(is_inlined).unwrap_or(path.len()));
        }
        Scope { info, frames, path }
    }

    /// Returns the variables in scope, innermost first. A variable that is hidden by an inner variable of the
    /// same name is left out. Variables at the top level of the program come last.
    pub(crate) fn variables(&self) -> Vec<Variable<'a>> {
        variables(self.info, &self.path)
    }

    /// Returns the variable called `name`.
    pub(crate) fn variable(&self, name: &str) -> Option<Variable<'a>> {
        self.variables().into_iter().find(|variable| variable.name == name)
    }

    /// Returns the state of a lane of a stopped wave, in the form that the evaluation of location expressions
    /// needs.
    pub(crate) fn frame(&self, at: &'a Stopped<'a>, lane: u32, unit: usize) -> Frame<'a> {
        let mut frame = Frame::new((at, lane), (self.info, self.frames), unit);
        frame.base = frame_base(self.info, &self.path);
        frame
    }

    /// Returns what holds a variable's value in a lane of a stopped wave: registers, memory or a constant.
    pub(crate) fn holder(
        &self,
        at: &'a Stopped<'a>,
        variable: &Variable<'a>,
        lane: u32,
    ) -> Result<ValueSource, Nowhere> {
        match variable.said(self.info, at.address())? {
            VariableEntry::Constant(bytes) => Ok(ValueSource::Constant(bytes)),
            VariableEntry::At(expression) => {
                let place = expression.evaluate_location(&mut self.frame(at, lane, expression.unit))?;
                Ok(ValueSource::At(expression.of_lane(&place, lane).unwrap_or(place)))
            }
        }
    }
}

/// Returns the variables that are declared in the entries `path`, which contain an address, innermost entry
/// first. A variable that is hidden by an inner variable of the same name is left out. Variables at the top
/// level of the program come last.
pub(crate) fn variables<'a>(info: &'a DebugInfo, path: &[usize]) -> Vec<Variable<'a>> {
    let mut found: Vec<Variable<'a>> = Vec::new();
    for &at in path.iter().rev() {
        for die in info.children(at) {
            if !matches!(die.tag.as_str(), "DW_TAG_variable" | "DW_TAG_formal_parameter") {
                continue;
            }
            let origin = match die.get("DW_AT_abstract_origin").or(die.get("DW_AT_specification")) {
                Some(&Content::Reference(offset)) => info.entry(offset).unwrap_or(die),
                _ => die,
            };
            if let Some(name) = info.name_of(die)
                && !found.iter().any(|other| other.name == name)
            {
                found.push(Variable { name, die, origin });
            }
        }
        // Entries around an inlined function belong to its caller.
        if info.entries[at].tag == "DW_TAG_inlined_subroutine" {
            break;
        }
    }
    found
}

/// Returns the attribute `DW_AT_frame_base` of the innermost function among the entries `path`.
pub(crate) fn frame_base<'a>(info: &'a DebugInfo, path: &[usize]) -> Option<(&'a [u8], Encoding)> {
    let function = path.iter().rev().map(|&at| &info.entries[at]);
    function.filter(|die| die.tag == "DW_TAG_subprogram").find_map(|die| {
        match die.get("DW_AT_frame_base")? {
            Content::Expression(bytes) => Some((bytes.as_slice(), info.units[die.unit].encoding)),
            _ => None,
        }
    })
}

/// Returns whether a location expression has operations of the DWARF extensions for lanes.
fn knows_lanes(expression: &[u8], encoding: Encoding) -> bool {
    Ops::new(expression, encoding).flatten().any(|op| op.opcode.is_extension())
}

/// Returns the offset of the entry that `DW_AT_type` names.
pub(crate) fn type_of(die: &Die) -> Option<u64> {
    match die.get("DW_AT_type") {
        Some(&Content::Reference(offset)) => Some(offset),
        _ => None,
    }
}
