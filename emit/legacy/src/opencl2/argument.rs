//! Arguments of a kernel: `aclArgData` of AMD's compiler library.
//!
//! # Source
//! AMD's OpenCL runtime, `compiler/lib/include/v0_8/aclStructs.h` and `aclEnums.h`.

use crate::bytes::{Cursor, Output, Result};
use crate::fields::{Field, List, named};

/// Argument of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Argument<'a> {
    /// Name.
    pub name: &'a str,
    /// Name of the type, as in the source.
    pub type_name: &'a str,
    /// What the argument is.
    pub kind: ArgumentKind,
    /// `isConst`.
    pub is_const: u64,
    /// Bytes of the union behind those that the kind uses. Drivers leave them uninitialised.
    pub unused: &'a [u8],
}

/// What an argument is. The numbers `buffer` and `offset` name the place in a constant buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArgumentKind {
    /// Sampler.
    Sampler {
        /// Number of the sampler.
        id: u32,
        /// Whether the kernel defines the sampler.
        is_kernel_defined: u32,
        /// Value of the sampler. For arguments the drivers have the offset here.
        value: u32,
    },
    /// Image.
    Image {
        /// Number of the resource.
        resource: u32,
        /// Constant buffer.
        buffer: u32,
        /// Offset in the constant buffer.
        offset: u32,
        /// Access: [`ACCESS`] has the names.
        access: u32,
        /// Whether the image is two-dimensional, is one-dimensional, is an array, is a buffer.
        shape: [u8; 4],
    },
    /// Atomic counter.
    Counter {
        /// Whether the counter has 32 bits.
        is_32_bit: u32,
        /// Number of the resource.
        resource: u32,
        /// Constant buffer.
        buffer: u32,
        /// Offset in the constant buffer.
        offset: u32,
    },
    /// Value: number, vector or structure.
    Value {
        /// Number of elements of a vector, or the size of a structure in bytes.
        elements: u32,
        /// Constant buffer.
        buffer: u32,
        /// Offset in the constant buffer.
        offset: u32,
        /// Type of an element: [`DATA`] has the names.
        data: u32,
    },
    /// Pointer or pipe.
    Pointer {
        /// Number of elements.
        elements: u32,
        /// Constant buffer.
        buffer: u32,
        /// Offset in the constant buffer.
        offset: u32,
        /// Number of the resource.
        resource: u32,
        /// Alignment of what the pointer points to, in bytes.
        align: u32,
        /// Type of what the pointer points to: [`DATA`] has the names.
        data: u32,
        /// Memory: [`MEMORY`] has the names.
        memory: u32,
        /// Access: [`ACCESS`] has the names.
        access: u32,
        /// Whether the pointer is volatile.
        is_volatile: u8,
        /// Whether the pointer is `restrict`.
        is_restrict: u8,
        /// Whether the argument is a pipe.
        is_pipe: u8,
    },
    /// Semaphore.
    Semaphore {
        /// Number of the resource.
        resource: u32,
        /// Constant buffer.
        buffer: u32,
        /// Offset in the constant buffer.
        offset: u32,
    },
    /// Queue.
    Queue {
        /// Number of elements.
        elements: u32,
        /// Constant buffer.
        buffer: u32,
        /// Offset in the constant buffer.
        offset: u32,
        /// Type: [`DATA`] has the names.
        data: u32,
        /// Memory: [`MEMORY`] has the names.
        memory: u32,
    },
    /// A number that is not known. All bytes of the union are in [`Argument::unused`].
    Unknown(u32),
}

/// Types of data: `aclArgDataType`.
pub static DATA: &[(u32, &str)] = &[
    (0, "error"),
    (1, "i1"),
    (2, "i8"),
    (3, "i16"),
    (4, "i32"),
    (5, "i64"),
    (6, "u8"),
    (7, "u16"),
    (8, "u32"),
    (9, "u64"),
    (10, "f16"),
    (11, "f32"),
    (12, "f64"),
    (13, "f80"),
    (14, "f128"),
    (15, "struct"),
    (16, "union"),
    (17, "event"),
    (18, "opaque"),
    (19, "unknown"),
];

/// Memories: `aclMemoryType`. Software memory is what the driver emulates in another memory.
pub static MEMORY: &[(u32, &str)] = &[
    (0, "error"),
    (1, "global"),
    (2, "software private"),
    (3, "software local"),
    (4, "UAV"),
    (5, "software constant"),
    (6, "software region"),
    (7, "hardware local"),
    (8, "hardware private"),
    (9, "hardware constant"),
    (10, "hardware region"),
    (11, "UAV private"),
    (12, "UAV constant"),
];

/// Accesses: `aclAccessType`.
pub static ACCESS: &[(u32, &str)] = &[(0, "error"), (1, "read"), (2, "write"), (3, "read and write")];

/// Size of the union of an argument in bytes.
pub(super) const UNION: usize = 36;

impl ArgumentKind {
    /// Returns the number of the kind: `aclArgType`.
    pub fn number(&self) -> u32 {
        match self {
            ArgumentKind::Sampler { .. } => 1,
            ArgumentKind::Image { .. } => 2,
            ArgumentKind::Counter { .. } => 3,
            ArgumentKind::Value { .. } => 4,
            ArgumentKind::Pointer { .. } => 5,
            ArgumentKind::Semaphore { .. } => 6,
            ArgumentKind::Queue { .. } => 7,
            ArgumentKind::Unknown(number) => *number,
        }
    }

    pub(super) fn read(number: u32, union: &mut Cursor) -> Result<ArgumentKind> {
        let what = "the union of an argument";
        let mut word = || union.u32(what);
        Ok(match number {
            1 => ArgumentKind::Sampler { id: word()?, is_kernel_defined: word()?, value: word()? },
            2 => ArgumentKind::Image {
                resource: word()?,
                buffer: word()?,
                offset: word()?,
                access: word()?,
                shape: word()?.to_le_bytes(),
            },
            3 => ArgumentKind::Counter {
                is_32_bit: word()?,
                resource: word()?,
                buffer: word()?,
                offset: word()?,
            },
            4 => ArgumentKind::Value { elements: word()?, buffer: word()?, offset: word()?, data: word()? },
            5 => ArgumentKind::Pointer {
                elements: word()?,
                buffer: word()?,
                offset: word()?,
                resource: word()?,
                align: word()?,
                data: word()?,
                memory: word()?,
                access: word()?,
                is_volatile: union.u8(what)?,
                is_restrict: union.u8(what)?,
                is_pipe: union.u8(what)?,
            },
            6 => ArgumentKind::Semaphore { resource: word()?, buffer: word()?, offset: word()? },
            7 => ArgumentKind::Queue {
                elements: word()?,
                buffer: word()?,
                offset: word()?,
                data: word()?,
                memory: word()?,
            },
            number => ArgumentKind::Unknown(number),
        })
    }

    pub(super) fn write(&self, output: &mut Output) {
        let words: &[u32] = match *self {
            ArgumentKind::Sampler { id, is_kernel_defined, value } => &[id, is_kernel_defined, value],
            ArgumentKind::Image { resource, buffer, offset, access, shape } => {
                &[resource, buffer, offset, access, u32::from_le_bytes(shape)]
            }
            ArgumentKind::Counter { is_32_bit, resource, buffer, offset } => {
                &[is_32_bit, resource, buffer, offset]
            }
            ArgumentKind::Value { elements, buffer, offset, data } => &[elements, buffer, offset, data],
            ArgumentKind::Pointer {
                elements, buffer, offset, resource, align, data, memory, access, ..
            } => &[elements, buffer, offset, resource, align, data, memory, access],
            ArgumentKind::Semaphore { resource, buffer, offset } => &[resource, buffer, offset],
            ArgumentKind::Queue { elements, buffer, offset, data, memory } => {
                &[elements, buffer, offset, data, memory]
            }
            ArgumentKind::Unknown(_) => &[],
        };
        words.iter().for_each(|&word| output.u32(word));
        if let ArgumentKind::Pointer { is_volatile, is_restrict, is_pipe, .. } = *self {
            output.bytes(&[is_volatile, is_restrict, is_pipe]);
        }
    }

    fn fields(&self, list: &mut List) {
        let mut place = |buffer: u32, offset: u32| {
            list.add("constant buffer", buffer);
            list.add("offset", offset);
        };
        match *self {
            ArgumentKind::Sampler { id, is_kernel_defined, value } => {
                list.add("id", id);
                list.add("kernel-defined", is_kernel_defined);
                list.add("value", value);
            }
            ArgumentKind::Image { resource, buffer, offset, access, shape } => {
                place(buffer, offset);
                list.add("resource", resource);
                list.named("access", access, named(ACCESS, access));
                for (name, value) in ["is 2D", "is 1D", "is array", "is buffer"].into_iter().zip(shape) {
                    list.add(name, value);
                }
            }
            ArgumentKind::Counter { is_32_bit, resource, buffer, offset } => {
                place(buffer, offset);
                list.add("is 32-bit", is_32_bit);
                list.add("resource", resource);
            }
            ArgumentKind::Value { elements, buffer, offset, data } => {
                place(buffer, offset);
                list.add("elements", elements);
                list.named("data", data, named(DATA, data));
            }
            ArgumentKind::Pointer {
                elements, buffer, offset, resource, align, data, memory, access, ..
            } => {
                place(buffer, offset);
                list.add("elements", elements);
                list.add("resource", resource);
                list.add("alignment", align);
                list.named("data", data, named(DATA, data));
                list.named("memory", memory, named(MEMORY, memory));
                list.named("access", access, named(ACCESS, access));
            }
            ArgumentKind::Semaphore { resource, buffer, offset } => {
                place(buffer, offset);
                list.add("resource", resource);
            }
            ArgumentKind::Queue { elements, buffer, offset, data, memory } => {
                place(buffer, offset);
                list.add("elements", elements);
                list.named("data", data, named(DATA, data));
                list.named("memory", memory, named(MEMORY, memory));
            }
            ArgumentKind::Unknown(_) => {}
        }
        if let ArgumentKind::Pointer { is_volatile, is_restrict, is_pipe, .. } = *self {
            list.add("volatile", is_volatile);
            list.add("restrict", is_restrict);
            list.add("pipe", is_pipe);
        }
    }
}

/// Kinds of arguments: `aclArgType`.
static KINDS: &[(u32, &str)] = &[
    (0, "error"),
    (1, "sampler"),
    (2, "image"),
    (3, "counter"),
    (4, "value"),
    (5, "pointer"),
    (6, "semaphore"),
    (7, "queue"),
];

impl<'a> Argument<'a> {
    /// Returns an argument.
    pub fn new(name: &'a str, type_name: &'a str, kind: ArgumentKind) -> Argument<'a> {
        const ZEROS: &[u8] = &[0; UNION];
        let mut output = Output::default();
        kind.write(&mut output);
        Argument { name, type_name, kind, is_const: 0, unused: &ZEROS[output.data.len()..] }
    }

    /// Returns the fields of the argument.
    pub fn fields(&self) -> Vec<Field> {
        let mut list = List::default();
        list.add("name", self.name);
        list.add("type name", self.type_name);
        let number = self.kind.number();
        list.named("kind", number, named(KINDS, number));
        self.kind.fields(&mut list);
        list.add("const", self.is_const);
        if self.unused.iter().any(|&byte| byte != 0) {
            list.add("unused bytes", crate::kernel_code::hexadecimal(self.unused));
        }
        list.0
    }
}
