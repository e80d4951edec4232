//! From a frame to the caller's: what a row of call frame information makes of the state of the machine (seed 000, lines 1535-1580
//! and 1838).

use crate::error::Reason;
use crate::eval::{Entry, Goal, evaluate};
use crate::frame::{Cfa, Common, Row, Rule};
use crate::location::Location;
use crate::machine::Machine;
use crate::names::Register;
use crate::op::{Encoding, Opcode, Ops};

/// What call frame information may not ask for: it depends on no other section, on no object, and not on itself (seed 000, lines
/// 1687-1699).
const NOT_IN_FRAMES: [Opcode; 15] = [
    Opcode::ADDRX,
    Opcode::CALL2,
    Opcode::CALL4,
    Opcode::CALL_REF,
    Opcode::CONST_TYPE,
    Opcode::CONSTX,
    Opcode::CONVERT,
    Opcode::DEREF_TYPE,
    Opcode::REGVAL_TYPE,
    Opcode::REINTERPRET,
    Opcode::PUSH_OBJECT_ADDRESS,
    Opcode::CALL_FRAME_CFA,
    Opcode::ENTRY_VALUE,
    Opcode::GNU_ENTRY_VALUE,
    Opcode::LLVM_CALL_FRAME_ENTRY_REG,
];

/// Where a function returns to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReturnAddress {
    /// Nowhere: this is the outermost frame.
    Outermost,
    /// The row has no rule for it.
    Unknown,
    /// To this address. The call is in front of it: an address less one is within it (seed 000, line 1860).
    At(u64),
}

/// The state of the machine as the caller of a function has it: registers are where the row says, memory is the same.
///
/// It is a [`Machine`] itself, so that the next frame can be unwound from it.
pub struct Caller<'m> {
    callee: &'m dyn Machine,
    row: &'m Row,
    encoding: Encoding,
    return_address: Register,
    cfa: Option<Location>,
}

impl<'m> Caller<'m> {
    /// Unwinds one frame. `callee`: the state in the function; `row`: what is in force where it stands.
    ///
    /// # Errors
    /// What defines the frame is ill-formed, or asks for what the machine does not know.
    pub fn new(callee: &'m dyn Machine, row: &'m Row, common: &Common) -> Result<Caller<'m>, Reason> {
        let cfa = row.cfa.as_ref().map(|cfa| frame_address(cfa, common.encoding, callee)).transpose()?;
        let (encoding, return_address) = (common.encoding, common.return_address);
        Ok(Caller { callee, row, encoding, return_address, cfa })
    }

    /// The canonical frame address of the function; `None` if the row does not say it.
    pub fn frame(&self) -> Option<&Location> {
        self.cfa.as_ref()
    }

    /// Where the caller's value of a register is, in the state of the function. A value that is nowhere is an implicit location.
    ///
    /// # Errors
    /// The rule is ill-formed, or asks for what the machine does not know.
    pub fn location(&self, register: Register) -> Result<Location, Reason> {
        let bits = register.bits().ok_or(Reason::Register(register.0))?;
        let cfa = || self.cfa.as_ref().ok_or(Reason::NoLocation);
        match self.row.rule(register) {
            Rule::Undefined => Ok(Location::undefined()),
            Rule::Same => Location::register(register),
            Rule::Offset(offset) => cfa()?.moved(8 * i128::from(*offset)),
            Rule::ValueOffset(offset) => {
                let (space, address) =
                    cfa()?.moved(8 * i128::from(*offset))?.address().ok_or(Reason::NoLocation)?;
                // The register has as many bits as an address (seed 000, line 1553).
                if space.address_bits() != Some(bits) {
                    return Err(Reason::Size);
                }
                Ok(Location::implicit(&address.to_le_bytes()[..bits as usize / 8], bits.into()))
            }
            Rule::Register(other) if other.bits() != Some(bits) => Err(Reason::Size),
            Rule::Register(other) => Location::register(*other),
            Rule::Expression(bytes) => {
                let outcome = self.evaluate(bytes, Goal::Location, cfa()?)?;
                outcome.location().cloned().ok_or(Reason::NoLocation)
            }
            Rule::ValueExpression(bytes) => {
                let outcome = self.evaluate(bytes, Goal::Value, cfa()?)?;
                let value = outcome.value().ok_or(Reason::NoValue)?;
                if value.ty.bits() != u64::from(bits) {
                    return Err(Reason::Size);
                }
                Ok(Location::implicit(&value.bytes, bits.into()))
            }
        }
    }

    /// An expression of a rule: the frame stands on the stack.
    fn evaluate(&self, bytes: &[u8], goal: Goal, cfa: &Location) -> Result<crate::Outcome, Reason> {
        allowed(bytes, self.encoding)?;
        let stack = [Entry::Location(cfa.clone())];
        evaluate(bytes, self.encoding, goal, self.callee, &stack).map_err(|error| error.reason)
    }

    /// Where the function returns to.
    ///
    /// # Errors
    /// As [`Caller::location`], and of reading it.
    pub fn return_address(&self) -> Result<ReturnAddress, Reason> {
        match self.row.rule(self.return_address) {
            Rule::Undefined => Ok(ReturnAddress::Outermost),
            Rule::Same => Ok(ReturnAddress::Unknown),
            _ => {
                let bits = self.return_address.bits().ok_or(Reason::Register(self.return_address.0))?;
                let bytes = self.location(self.return_address)?.read(bits.into(), self.callee)?;
                Ok(ReturnAddress::At(bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))))
            }
        }
    }
}

impl Machine for Caller<'_> {
    fn register(&self, register: Register, bytes: &mut [u8]) -> Result<(), Reason> {
        let found = self.location(register)?.read(8 * bytes.len() as u64, self.callee)?;
        bytes.copy_from_slice(&found);
        Ok(())
    }

    fn memory(&self, space: crate::AddressSpace, address: u64, bytes: &mut [u8]) -> Result<(), Reason> {
        self.callee.memory(space, address, bytes)
    }

    fn lane(&self) -> Result<u32, Reason> {
        self.callee.lane()
    }
}

/// Whether an expression may stand in call frame information.
fn allowed(bytes: &[u8], encoding: Encoding) -> Result<(), Reason> {
    for op in Ops::new(bytes, encoding) {
        if NOT_IN_FRAMES.contains(&op.map_err(Reason::Parse)?.opcode) {
            return Err(Reason::NotHere);
        }
    }
    Ok(())
}

/// The canonical frame address: a byte of memory.
fn frame_address(cfa: &Cfa, encoding: Encoding, machine: &dyn Machine) -> Result<Location, Reason> {
    match cfa {
        Cfa::Register(register, offset, space) => {
            let bits = register.bits().filter(|&bits| bits <= 64).ok_or(Reason::Register(register.0))?;
            let bytes = Location::register(*register)?.read(bits.into(), machine)?;
            let base = bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
            Location::memory(*space, base.wrapping_add_signed(*offset))
        }
        Cfa::Expression(bytes) => {
            allowed(bytes, encoding)?;
            let outcome =
                evaluate(bytes, encoding, Goal::Location, machine, &[]).map_err(|error| error.reason)?;
            let location = outcome.location().ok_or(Reason::NoLocation)?;
            location.address().map(|_| location.clone()).ok_or(Reason::NoLocation)
        }
    }
}
