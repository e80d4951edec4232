//! Why an expression has no result.

use crate::names::{AddressSpace, Register};
use crate::op::ParseError;
use std::fmt;

/// What an expression asks for that a [`Machine`](crate::Machine) may not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Contents of a register.
    Register(Register),
    /// Contents of memory: where, and how many bytes.
    Memory(AddressSpace, u64, u64),
    /// The number of the lane that is looked at.
    Lane,
    /// The object that the expression is about.
    Object,
    /// The canonical frame address.
    Cfa,
    /// The frame base of the function.
    FrameBase,
    /// What a register held when the function was entered.
    EntryRegister(Register),
    /// The result of an expression when the function was entered.
    EntryValue,
    /// Thread-local memory.
    ThreadLocal,
    /// The entry of `.debug_info` at an offset.
    Entry(u64),
    /// The type at an offset of the unit.
    Type(u64),
    /// The address of a number in `.debug_addr`.
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

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The bytes are no operation.
    Parse(ParseError),
    /// The stack has too few entries.
    Stack,
    /// A value is needed, and this is a location that is none.
    NoValue,
    /// A location is needed, and this is a value that is no address, or a composite that is not complete.
    NoLocation,
    /// An integer is needed.
    NoInteger,
    /// Both operands must be of one type.
    Types,
    /// The operation does not work on this type.
    Type,
    /// Division by zero.
    Division,
    /// An address space that does not exist.
    Space(u64),
    /// A register that does not exist.
    Register(u64),
    /// A place before the beginning or behind the end of what holds it.
    Outside,
    /// Bits that are nowhere.
    Undefined,
    /// A pointer that is no pointer in the program is used as a number.
    ImplicitPointer,
    /// Sizes that must agree do not.
    Size,
    /// An operand that must not be zero.
    Zero,
    /// More parts, steps or calls in calls than any program needs.
    Limit(&'static str),
    /// A branch to no operation.
    Branch,
    /// The operation is not allowed here.
    NotHere,
    /// Something is not known.
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

/// An expression without a result: where in it, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Byte of the operation that failed; the expression's size if its end did.
    pub offset: usize,
    /// What is wrong.
    pub reason: Reason,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.offset, self.reason)
    }
}

impl std::error::Error for Error {}
