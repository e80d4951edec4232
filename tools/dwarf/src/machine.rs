//! What an expression can ask for: registers, memory, the program's other debug information.

use crate::error::{Need, Reason};
use crate::location::Location;
use crate::names::{AddressSpace, Register};
use crate::op::Encoding;
use crate::value::BaseType;
use std::borrow::Cow;

/// An expression that another one calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Procedure<'a> {
    /// The expression; empty if the entry has none.
    pub expression: Cow<'a, [u8]>,
    /// How its bytes are read.
    pub encoding: Encoding,
    /// Whether it is a `DW_TAG_dwarf_procedure`, which works on the caller's stack.
    pub is_procedure: bool,
}

/// Where the object is that an implicit pointer points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found<'a> {
    /// As its `DW_AT_location` says.
    At(Procedure<'a>),
    /// Nowhere: these bytes are its `DW_AT_const_value`.
    Constant(Cow<'a, [u8]>),
}

/// What is known while an expression is evaluated. Each question that is not answered ends an expression that asks it, with
/// [`Reason::Need`].
pub trait Machine {
    /// The bytes of a whole register: of a vector register the dwords of all lanes, of as many lanes as its number says.
    fn register(&self, register: Register, bytes: &mut [u8]) -> Result<(), Reason> {
        let _ = bytes;
        Err(Reason::Need(Need::Register(register)))
    }

    /// Some bytes of a register, from `first` on: known perhaps where the whole register is not.
    fn register_part(&self, register: Register, first: usize, bytes: &mut [u8]) -> Result<(), Reason> {
        let mut whole = vec![0; register.bits().ok_or(Reason::Register(register.0))? as usize / 8];
        self.register(register, &mut whole)?;
        bytes.copy_from_slice(whole.get(first..first + bytes.len()).ok_or(Reason::Outside)?);
        Ok(())
    }

    /// Bytes of memory. An address in [`AddressSpace::GENERIC`], [`AddressSpace::LOCAL`] or [`AddressSpace::PRIVATE_LANE`] is that of the
    /// lane that is looked at.
    fn memory(&self, space: AddressSpace, address: u64, bytes: &mut [u8]) -> Result<(), Reason> {
        Err(Reason::Need(Need::Memory(space, address, bytes.len() as u64)))
    }

    /// The lane that is looked at.
    fn lane(&self) -> Result<u32, Reason> {
        Err(Reason::Need(Need::Lane))
    }

    /// The object that the expression is about (`DW_OP_push_object_address`).
    fn object(&self) -> Result<Location, Reason> {
        Err(Reason::Need(Need::Object))
    }

    /// The canonical frame address.
    fn cfa(&self) -> Result<Location, Reason> {
        Err(Reason::Need(Need::Cfa))
    }

    /// The frame base of the function; [`crate::frame_base`] makes it of `DW_AT_frame_base`.
    fn frame_base(&self) -> Result<Location, Reason> {
        Err(Reason::Need(Need::FrameBase))
    }

    /// Where that is which a register held when the function was entered.
    fn entry_register(&self, register: Register) -> Result<Location, Reason> {
        Err(Reason::Need(Need::EntryRegister(register)))
    }

    /// The state in which the function was entered.
    fn entered(&self) -> Result<&dyn Machine, Reason> {
        Err(Reason::Need(Need::EntryValue))
    }

    /// The dword that a register held in a lane when the function was entered, as its caller says of what it has passed.
    fn passed(&self, register: Register, lane: u32) -> Result<u32, Reason> {
        let _ = (register, lane);
        Err(Reason::Need(Need::EntryValue))
    }

    /// The address of a thread-local variable.
    fn thread_local(&self, offset: u64) -> Result<u64, Reason> {
        let _ = offset;
        Err(Reason::Need(Need::ThreadLocal))
    }

    /// The expression of an entry at an offset of the unit.
    fn call(&self, offset: u64) -> Result<Procedure<'_>, Reason> {
        Err(Reason::Need(Need::Entry(offset)))
    }

    /// The expression of an entry at an offset of `.debug_info`.
    fn call_ref(&self, offset: u64) -> Result<Procedure<'_>, Reason> {
        Err(Reason::Need(Need::Entry(offset)))
    }

    /// The object of an entry at an offset of `.debug_info`.
    fn pointee(&self, offset: u64) -> Result<Found<'_>, Reason> {
        Err(Reason::Need(Need::Entry(offset)))
    }

    /// The base type at an offset of the unit.
    fn base_type(&self, offset: u64) -> Result<BaseType, Reason> {
        Err(Reason::Need(Need::Type(offset)))
    }

    /// The address of a number in the unit's part of `.debug_addr`.
    fn address(&self, index: u64) -> Result<u64, Reason> {
        Err(Reason::Need(Need::Address(index)))
    }
}

/// Nothing but which lane is looked at: enough to say where something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// The lane.
    pub lane: u32,
}

impl Machine for Lanes {
    fn lane(&self) -> Result<u32, Reason> {
        Ok(self.lane)
    }
}
