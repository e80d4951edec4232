//! The information that an expression can request while it is evaluated: registers, memory, and the other
//! debug information of the program.

use crate::error::{Need, Reason};
use crate::location::Location;
use crate::names::{AddressSpace, Register};
use crate::op::Encoding;
use crate::value::BaseType;
use std::borrow::Cow;

/// Expression that another expression calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Procedure<'a> {
    /// The expression; empty if the entry has none.
    pub expression: Cow<'a, [u8]>,
    /// Encoding of the expression.
    pub encoding: Encoding,
    /// Whether the entry is a `DW_TAG_dwarf_procedure`. The expression of such an entry works on the stack of
    /// the expression that calls it.
    pub is_procedure: bool,
}

/// Location of the object to which an implicit pointer points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found<'a> {
    /// Location given by `DW_AT_location`.
    At(Procedure<'a>),
    /// The object has no location; these bytes are its `DW_AT_const_value`.
    Constant(Cow<'a, [u8]>),
}

/// State of the program that is known while an expression is evaluated. A method that is not implemented
/// fails with [`Reason::Need`], which ends the evaluation of an expression that needs it.
pub trait Machine {
    /// Reads a whole register. A vector register consists of the dwords of all lanes; its DWARF number says
    /// whether there are 32 or 64 lanes.
    ///
    /// # Errors
    /// [`Reason::Need`] if the machine does not know the register.
    fn register(&self, register: Register, bytes: &mut [u8]) -> Result<(), Reason> {
        let _ = bytes;
        Err(Reason::Need(Need::Register(register)))
    }

    /// Reads bytes of a register from offset `first` on. These bytes may be known even if the whole register
    /// is not.
    ///
    /// # Errors
    /// [`Reason::Need`] if the machine does not know these bytes. [`Reason::Register`] if there is no such
    /// register.
    fn register_part(&self, register: Register, first: usize, bytes: &mut [u8]) -> Result<(), Reason> {
        let mut whole = vec![0; register.bits().ok_or(Reason::Register(register.0))? as usize / 8];
        self.register(register, &mut whole)?;
        bytes.copy_from_slice(whole.get(first..first + bytes.len()).ok_or(Reason::Outside)?);
        Ok(())
    }

    /// Reads memory. An address in [`AddressSpace::GENERIC`], [`AddressSpace::LOCAL`] or
    /// [`AddressSpace::PRIVATE_LANE`] is an address of the current lane.
    ///
    /// # Errors
    /// [`Reason::Need`] if the machine does not know the memory.
    fn memory(&self, space: AddressSpace, address: u64, bytes: &mut [u8]) -> Result<(), Reason> {
        Err(Reason::Need(Need::Memory(space, address, bytes.len() as u64)))
    }

    /// Returns the current lane.
    ///
    /// # Errors
    /// [`Reason::Need`] if there is no current lane.
    fn lane(&self) -> Result<u32, Reason> {
        Err(Reason::Need(Need::Lane))
    }

    /// Returns the object to which the expression applies (`DW_OP_push_object_address`).
    ///
    /// # Errors
    /// [`Reason::Need`] if there is no such object.
    fn object(&self) -> Result<Location, Reason> {
        Err(Reason::Need(Need::Object))
    }

    /// Returns the canonical frame address.
    ///
    /// # Errors
    /// [`Reason::Need`] if the address is not known.
    fn cfa(&self) -> Result<Location, Reason> {
        Err(Reason::Need(Need::Cfa))
    }

    /// Returns the frame base of the function. [`crate::frame_base`] computes it from `DW_AT_frame_base`.
    ///
    /// # Errors
    /// [`Reason::Need`] if the frame base is not known.
    fn frame_base(&self) -> Result<Location, Reason> {
        Err(Reason::Need(Need::FrameBase))
    }

    /// Returns the location of the value that a register had on entry to the function.
    ///
    /// # Errors
    /// [`Reason::Need`] if the value is not known.
    fn entry_register(&self, register: Register) -> Result<Location, Reason> {
        Err(Reason::Need(Need::EntryRegister(register)))
    }

    /// Returns the state on entry to the function.
    ///
    /// # Errors
    /// [`Reason::Need`] if the state is not known.
    fn entered(&self) -> Result<&dyn Machine, Reason> {
        Err(Reason::Need(Need::EntryValue))
    }

    /// Returns the dword that a register held in a lane on entry to the function, as the caller's description
    /// of the passed values says.
    ///
    /// # Errors
    /// [`Reason::Need`] if the caller does not describe the value.
    fn passed_dword(&self, register: Register, lane: u32) -> Result<u32, Reason> {
        let _ = (register, lane);
        Err(Reason::Need(Need::EntryValue))
    }

    /// Returns the address of a thread-local variable.
    ///
    /// # Errors
    /// [`Reason::Need`] if the machine has no thread-local variables.
    fn thread_local(&self, offset: u64) -> Result<u64, Reason> {
        let _ = offset;
        Err(Reason::Need(Need::ThreadLocal))
    }

    /// Returns the expression of the debug information entry at an offset of the unit (`DW_OP_call2`,
    /// `DW_OP_call4`).
    ///
    /// # Errors
    /// [`Reason::Need`] if the machine has no such entry.
    fn call(&self, offset: u64) -> Result<Procedure<'_>, Reason> {
        Err(Reason::Need(Need::Entry(offset)))
    }

    /// Returns the expression of the debug information entry at an offset of `.debug_info`
    /// (`DW_OP_call_ref`).
    ///
    /// # Errors
    /// [`Reason::Need`] if the machine has no such entry.
    fn call_ref(&self, offset: u64) -> Result<Procedure<'_>, Reason> {
        Err(Reason::Need(Need::Entry(offset)))
    }

    /// Returns the object that the debug information entry at an offset of `.debug_info` describes.
    ///
    /// # Errors
    /// [`Reason::Need`] if the machine has no such entry.
    fn pointee(&self, offset: u64) -> Result<Found<'_>, Reason> {
        Err(Reason::Need(Need::Entry(offset)))
    }

    /// Returns the base type at an offset of the unit.
    ///
    /// # Errors
    /// [`Reason::Need`] if the machine has no such type.
    fn base_type(&self, offset: u64) -> Result<BaseType, Reason> {
        Err(Reason::Need(Need::Type(offset)))
    }

    /// Returns the address that has the given index in the unit's part of `.debug_addr`.
    ///
    /// # Errors
    /// [`Reason::Need`] if the machine has no such table.
    fn address(&self, index: u64) -> Result<u64, Reason> {
        Err(Reason::Need(Need::Address(index)))
    }
}

/// A machine that knows only the number of the current lane. This is enough to compute locations, but not to
/// read them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// Current lane.
    pub lane: u32,
}

impl Machine for Lanes {
    fn lane(&self) -> Result<u32, Reason> {
        Ok(self.lane)
    }
}
