//! A value, with its type, content and location.

use super::Problem;
use super::number::{Operand, Scalar};
use super::types::Ty;
use crate::memory_value::{MemoryLocation, MemoryValue};
use crate::pending::registers_of;
use crate::variables::Nowhere;
use crate::waves::WaveId;
use dwarf::{AddressSpace, Location};
use isa::Reg;

/// Error message for a computation whose operand has bits that no instruction has written.
pub(crate) const UNDEFINED: &str = "a value is undefined: nothing has written it";

/// The bytes of a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Content {
    pub bytes: Vec<u8>,
    /// Whether each byte has a location; `None` if all bytes have.
    pub there: Option<Vec<bool>>,
    /// Mask of the bits of the value that no instruction has written; `None` if all bits have been written.
    pub undefined: Option<Vec<u8>>,
}

impl Content {
    pub(crate) fn from_bytes(bytes: Vec<u8>) -> Content {
        Content { bytes, ..Content::default() }
    }

    /// Returns the bytes, if all have locations and are defined.
    pub(crate) fn defined_bytes(&self) -> Result<&[u8], Problem> {
        if self.there.is_some() {
            return Err(Nowhere::Here.to_string());
        }
        match self.undefined {
            Some(_) => Err(UNDEFINED.to_owned()),
            None => Ok(&self.bytes),
        }
    }

    /// Concatenates contents and pads the result to `size` bytes.
    pub(crate) fn joined(parts: &[Content], size: usize) -> Content {
        let all = |mask: fn(&Content) -> Vec<u8>| {
            let mut bytes: Vec<u8> = parts.iter().flat_map(mask).collect();
            bytes.resize(size, 0);
            bytes
        };
        let mut there: Vec<bool> = parts
            .iter()
            .flat_map(|part| part.there.clone().unwrap_or_else(|| vec![true; part.bytes.len()]))
            .collect();
        there.resize(size, true);
        let undefined = all(|part| part.undefined.clone().unwrap_or_else(|| vec![0; part.bytes.len()]));
        Content {
            bytes: all(|part| part.bytes.clone()),
            there: there.contains(&false).then_some(there),
            undefined: any(undefined),
        }
    }

    /// Returns a part of the content: `size` bytes from byte `from` on.
    pub(crate) fn part(&self, from: usize, size: usize) -> Result<Content, Problem> {
        let range = from..from.saturating_add(size);
        let bytes = self.bytes.get(range.clone()).ok_or("it is outside")?.to_vec();
        let there = self.there.as_ref().and_then(|there| there.get(range.clone()));
        let undefined = self.undefined.as_ref().and_then(|undefined| undefined.get(range));
        Ok(Content {
            bytes,
            there: there.map_or(Ok(None), |there| missing(there.to_vec()))?,
            undefined: undefined.map(<[u8]>::to_vec).and_then(any),
        })
    }
}

/// Checks which bytes of a value have a location, given a flag for each byte. Returns `None` if all bytes
/// have a location, and the flags if some bytes lack one.
///
/// # Errors
/// No byte has a location.
pub(crate) fn missing(there: Vec<bool>) -> Result<Option<Vec<bool>>, Problem> {
    match (there.contains(&true), there.contains(&false)) {
        (false, true) => Err(Nowhere::Here.to_string()),
        (true, true) => Ok(Some(there)),
        (_, false) => Ok(None),
    }
}

/// Returns a mask if some bit of it is set.
pub(crate) fn any(mask: Vec<u8>) -> Option<Vec<u8>> {
    mask.iter().any(|&byte| byte != 0).then_some(mask)
}

/// A value, with its type, content and location.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub ty: Ty,
    /// Content; `None` if the evaluation computes only types.
    pub content: Option<Content>,
    pub location: Option<Location>,
    /// Registers that the expression names.
    pub registers: Vec<Reg>,
    /// Whether the value is a literal without a type suffix.
    pub is_literal: bool,
}

impl Value {
    pub(crate) fn new(ty: Ty, content: Option<Content>) -> Value {
        Value { ty, content, location: None, registers: Vec::new(), is_literal: false }
    }

    pub(crate) fn number(operand: Operand) -> Value {
        let Operand { scalar, number, is_literal } = operand;
        let content = number.map(|number| Content::from_bytes(scalar.write(number)));
        Value { is_literal, ..Value::new(Ty::Scalar(scalar), content) }
    }

    /// Reads the content as a number of a type.
    pub(crate) fn operand(&self, scalar: Scalar) -> Result<Operand, Problem> {
        let bytes = self.content.as_ref().map(Content::defined_bytes).transpose()?;
        let number = bytes.map(|bytes| scalar.read(bytes));
        Ok(Operand { is_literal: self.is_literal, ..Operand::new(scalar, number) })
    }

    /// Returns the registers that hold the value.
    pub(crate) fn registers(&self) -> Vec<Reg> {
        let mut all = self.registers.clone();
        if let Some(location) = &self.location {
            registers_of(&location.storage, &mut all);
        }
        all
    }

    /// Returns where the value is in memory.
    pub(crate) fn memory_value(&self, who: WaveId, lane: u32) -> Option<MemoryValue> {
        let (space, address) = self.location.as_ref()?.address()?;
        let place = match space {
            AddressSpace::GLOBAL => MemoryLocation::Global(address),
            AddressSpace::LOCAL => MemoryLocation::Lds(who.group, address),
            AddressSpace::PRIVATE_LANE => MemoryLocation::Private(who, lane, address),
            AddressSpace::GENERIC => MemoryLocation::from_flat(address, who, lane),
            _ => return None,
        };
        let ty = match self.ty {
            Ty::Die(die) => Some(die),
            _ => None,
        };
        Some(MemoryValue { place, bytes: self.content.as_ref()?.bytes.len(), ty })
    }
}
