//! Reasons why an expression has no result.

use crate::names::{AddressSpace, Register};
use crate::op::ParseError;
use std::fmt;

/// Information that an expression needs and that a [`Machine`](crate::Machine) may not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Contents of a register.
    Register(Register),
    /// Contents of memory, given by address space, address, and number of bytes.
    Memory(AddressSpace, u64, u64),
    /// Number of the current lane.
    Lane,
    /// Object to which the expression applies.
    Object,
    /// Canonical frame address.
    Cfa,
    /// Frame base of the function.
    FrameBase,
    /// Value of a register on entry to the function.
    EntryRegister(Register),
    /// Result of an expression on entry to the function.
    EntryValue,
    /// Thread-local memory.
    ThreadLocal,
    /// Entry of `.debug_info` at an offset.
    Entry(u64),
    /// Type at an offset of the unit.
    Type(u64),
    /// Address with an index in `.debug_addr`.
    Address(u64),
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Need::Register(register) => write!(f, "the contents of {register}"),
            Need::Memory(space, address, bytes) => {
                write!(f, "{bytes} bytes of {space} memory at {address:#x}")
            }
            Need::Lane => write!(f, "the lane that is looked at"),
            Need::Object => write!(f, "the object that this is about"),
            Need::Cfa => write!(f, "the canonical frame address"),
            Need::FrameBase => write!(f, "the frame base"),
            Need::EntryRegister(register) => write!(f, "what {register} held on entry"),
            Need::EntryValue => write!(f, "a value on entry"),
            Need::ThreadLocal => write!(f, "thread-local memory"),
            Need::Entry(offset) => write!(f, "the entry at {offset:#x} of .debug_info"),
            Need::Type(offset) => write!(f, "the base type at {offset:#x} of the unit"),
            Need::Address(index) => write!(f, "address {index} of .debug_addr"),
        }
    }
}

/// Reason why an expression has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The bytes are not an operation.
    Parse(ParseError),
    /// The stack has too few entries.
    Stack,
    /// The operation needs a value, but the stack entry is a location that cannot be converted to a value.
    NoValue,
    /// The operation needs a location, but the stack entry is a value that is not an address, or a composite
    /// location description that is not complete.
    NoLocation,
    /// The operation needs an integer, but the value has another type.
    NoInteger,
    /// Both operands must have the same type.
    Types,
    /// The operation does not support this type.
    Type,
    /// Division by zero.
    Division,
    /// The address space does not exist.
    Space(u64),
    /// The register does not exist.
    Register(u64),
    /// A location is before the beginning or after the end of its storage: the register, memory or bytes in
    /// which it is.
    Outside,
    /// The bits at the location do not exist, for example because the variable is optimised away there.
    Undefined,
    /// An implicit pointer is used as a number.
    ImplicitPointer,
    /// Two sizes differ that must be equal.
    Size,
    /// An operand that must not be zero is zero.
    Zero,
    /// The expression has more parts, steps or nested calls than any real program needs. The text names the
    /// limit.
    Limit(&'static str),
    /// A branch target is not an operation.
    Branch,
    /// The operation is not allowed in this kind of expression.
    NotHere,
    /// The machine does not know information that the expression needs.
    Need(Need),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Parse(error) => write!(f, "{error}"),
            Reason::Stack => write!(f, "the stack has too few entries"),
            Reason::NoValue => write!(f, "a value is needed, and this is a location"),
            Reason::NoLocation => write!(f, "a location is needed, and this is none"),
            Reason::NoInteger => write!(f, "an integer is needed"),
            Reason::Types => write!(f, "both operands must be of one type"),
            Reason::Type => write!(f, "not for a value of this type"),
            Reason::Division => write!(f, "division by zero"),
            Reason::Space(space) => write!(f, "there is no address space {space:#x}"),
            Reason::Register(register) => write!(f, "there is no register {register}"),
            Reason::Outside => write!(f, "this is outside of what holds it"),
            Reason::Undefined => write!(f, "some bits are nowhere"),
            Reason::ImplicitPointer => {
                write!(f, "a pointer that the program does not have is used as a number")
            }
            Reason::Size => write!(f, "sizes do not agree"),
            Reason::Zero => write!(f, "an operand must not be 0"),
            Reason::Limit(what) => write!(f, "too many {what}"),
            Reason::Branch => write!(f, "a branch to no operation"),
            Reason::NotHere => write!(f, "not allowed here"),
            Reason::Need(need) => write!(f, "{need} is not known"),
        }
    }
}

impl From<Need> for Reason {
    fn from(need: Need) -> Reason {
        Reason::Need(need)
    }
}

/// Error in an expression, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Offset of the operation that failed, or the size of the expression if the failure was at its end.
    pub offset: usize,
    /// Reason.
    pub reason: Reason,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.offset, self.reason)
    }
}

impl std::error::Error for Error {}
