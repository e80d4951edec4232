//! Code objects: ELF, kernel descriptors, metadata, assembly listings.
//!
//! The way of a [`Program`]: each kernel's machine code becomes words ([`code`]), its resources a 64-byte kernel
//! descriptor ([`descriptor`]) or what stood for it in V2 ([`kernel_code`]), its signature [`metadata`], which goes into
//! [`notes`]; [`elf`] puts them into a loadable or a relocatable object, [`asm`] prints the same as text that an assembler turns into the same bytes.
//!
//! Deliberately not here: choosing instructions or registers, inserting waits. What arrives is final.

pub mod asm;
pub mod branches;
pub mod code;
mod debug;
pub mod descriptor;
pub mod distances;
pub mod elf;
mod hidden;
pub mod islands;
pub mod kernel_code;
mod language;
pub mod lines;
pub mod metadata;
pub mod notes;
pub mod printf;
pub mod shared;
mod unwind;

pub use debug::{DebugSections, Image};
pub use hidden::HiddenPart;
pub use language::Language;
pub use objwriter::dwarf::Dialect;
pub use unwind::Entered;

use bumpalo::Bump;
use isa::{CodeEnd, CodeObjectVersion, MBlock, MachFunc, Os, Subtarget};
use smallvec::{SmallVec, smallvec};
use std::fmt;

/// Memory that is reused from program to program.
#[derive(Default)]
pub struct Context {
    bump: Bump,
    /// Symbols of descriptors, one behind the other.
    names: String,
    image: elf::Memory,
}

/// How a kernel argument is passed (seed 000, line 2450).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// Copied into the kernarg segment.
    ByValue,
    /// Pointer to global, constant or generic memory.
    GlobalBuffer,
    /// Offset of dynamically sized LDS.
    DynamicSharedPointer,
    /// Pointer to an image, a sampler, a queue or a pipe, by the metadata's word; and what may be done with it, as another.
    Opaque(&'static str, Option<&'static str>),
}

/// One kernel argument, as the metadata describes it.
#[derive(Clone, Debug)]
pub struct Arg<'a> {
    /// Name in the source.
    pub name: &'a str,
    /// Type as the source writes it.
    pub type_name: &'a str,
    /// `i32`, `f32`, ..., `struct`: element type of a by-value argument or pointee.
    pub value_type: &'a str,
    /// Bytes.
    pub size: u32,
    /// Bytes from the start of the kernarg segment.
    pub offset: u32,
    /// Bytes, a power of two.
    pub align: u32,
    /// Kind.
    pub kind: ValueKind,
    /// `global`, `constant`, `local`, `generic`; pointers only.
    pub address_space: Option<&'a str>,
    /// Bytes; dynamic LDS pointers only.
    pub pointee_align: Option<u32>,
    /// Qualifiers of a pointer.
    pub is_const: bool,
    /// See `is_const`.
    pub is_restrict: bool,
    /// See `is_const`.
    pub is_volatile: bool,
}

/// A kernel: its code and what a runtime must know of it.
#[derive(Clone, Debug)]
pub struct Kernel<'a> {
    /// Final code, physical registers only.
    pub func: &'a MachFunc,
    /// Arguments in order.
    pub args: &'a [Arg<'a>],
    /// Alignment of the kernarg segment, bytes.
    pub kernarg_align: u32,
    /// Required work-group size.
    pub reqd_workgroup_size: Option<[u32; 3]>,
    /// Likely work-group size.
    pub workgroup_size_hint: Option<[u32; 3]>,
    /// `vec_type_hint`.
    pub vec_type_hint: Option<&'a str>,
    /// Most work-items in a group.
    pub max_flat_workgroup_size: u32,
    /// Bytes of LDS, without [`shared`] variables.
    pub lds: u32,
    /// What its wavefronts begin with.
    pub state: InitialState,
}

/// What a kernel asks of the wavefronts that run it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitialState {
    /// Lanes, if they are not as many as the program's target says.
    pub wave_size: Option<u32>,
    /// f32 denormals are zeros.
    pub flush_denormals: bool,
    /// `IEEE` of the MODE register.
    pub ieee: bool,
    /// `DX10_CLAMP` of the MODE register.
    pub dx10_clamp: bool,
    /// Floating-point and integer exceptions that trap, in the order of the descriptor's bits from
    /// `EXCEPTION_INVALID_OP` on.
    pub exceptions: u8,
    /// Bytes of hidden arguments, if not as many as the language has.
    pub implicit_args: Option<u32>,
}

/// IEEE arithmetic with denormals in every precision, as the language has it on all processors.
impl Default for InitialState {
    fn default() -> Self {
        InitialState {
            wave_size: None,
            flush_denormals: false,
            ieee: true,
            dx10_clamp: true,
            exceptions: 0,
            implicit_args: None,
        }
    }
}

/// A function that kernels and other functions call.
#[derive(Clone, Copy, Debug)]
pub struct Function<'a> {
    /// What [`isa::Referent::Func`] calls it.
    pub id: u32,
    /// Final code, physical registers only.
    pub func: &'a MachFunc,
    /// Whether other objects may call it.
    pub export: bool,
}

/// What another object has.
#[derive(Clone, Copy, Debug)]
pub struct External<'a> {
    /// What code calls it.
    pub to: isa::Referent,
    /// Its symbol.
    pub name: &'a str,
}

/// A variable in device memory.
#[derive(Clone, Debug)]
pub struct Variable<'a> {
    /// What [`isa::Referent::Global`] calls it.
    pub id: u32,
    /// Symbol.
    pub name: &'a str,
    /// Bytes.
    pub size: u32,
    /// Bytes, a power of two.
    pub align: u32,
    /// Initial bytes; zeros follow up to `size`.
    pub init: &'a [u8],
    /// In `.data` if true, else in `.rodata`.
    pub writable: bool,
    /// Where it holds the address of which function: byte offsets in ascending order, and ids. The loader writes them, so it is writable.
    pub functions: SmallVec<[(u32, u32); 1]>,
}

impl<'a> Program<'a> {
    /// Refuses other systems than HSA, which have neither these descriptors nor this metadata, and V2 where a kernel has to say
    /// how many of its registers are accumulation registers: V2's header has no field for that.
    fn check(&self) -> Result<(), EmitError> {
        match self.target.os {
            Os::AmdHsa if self.is_v2() && objwriter::descriptor::ACCUM_OFFSET.on.has(&self.target) => {
                Err(EmitError::Unsupported("code object V2".to_owned()))
            }
            Os::AmdHsa => Ok(()),
            os => Err(EmitError::Unsupported(format!("code objects for {}", os.name()))),
        }
    }

    /// Whether the object is of V2, where a header before the code stands for the descriptor.
    fn is_v2(&self) -> bool {
        self.target.code_object == CodeObjectVersion::V2
    }

    /// The kernels that have descriptors.
    fn with_descriptors(&self) -> &[Kernel<'a>] {
        if self.is_v2() { &[] } else { self.kernels }
    }

    /// What stands behind all code.
    fn code_end(&self) -> Option<CodeEnd> {
        self.target.code_end.filter(|_| !self.kernels.is_empty())
    }

    /// Bytes of a kernel's kernarg segment, hidden arguments included.
    fn kernarg_size(&self, kernel: &Kernel) -> u32 {
        self.hidden(kernel).end()
    }

    /// What a kernel runs on: the target, with the kernel's own size of wavefronts.
    fn target_of(&self, kernel: &Kernel) -> Subtarget {
        let own = kernel.state.wave_size.and_then(|lanes| self.target.with_wave_size(lanes));
        own.unwrap_or(self.target)
    }

    /// What a function is for.
    fn target_of_function(&self, function: &Function) -> Subtarget {
        let own = function.func.wave_size.and_then(|lanes| self.target.with_wave_size(lanes));
        own.unwrap_or(self.target)
    }

    /// The target id, as this version writes it.
    fn target_id(&self) -> String {
        let Subtarget { target, xnack, sramecc, os, code_object, .. } = self.target;
        objwriter::elf::target_id(os.name(), target.name, xnack, sramecc, code_object)
    }
}

/// Something of each variable, where its id says.
type ById<T> = SmallVec<[Option<T>; 8]>;

/// See [`ById`].
fn by_id<T: Clone>(list: impl Iterator<Item = (u32, T)>) -> ById<T> {
    let mut known = smallvec![None; 0];
    for (id, item) in list {
        if known.len() <= id as usize {
            known.resize(id as usize + 1, None);
        }
        known[id as usize] = Some(item);
    }
    known
}

/// Everything that goes into one code object.
#[derive(Clone, Debug)]
pub struct Program<'a> {
    /// Processor.
    pub target: Subtarget,
    /// What metadata says of the source.
    pub language: Language,
    /// Kernels in order.
    pub kernels: &'a [Kernel<'a>],
    /// Functions in order, behind the kernels.
    pub functions: &'a [Function<'a>],
    /// What code names of other objects. A loadable object has none.
    pub externals: &'a [External<'a>],
    /// Strings `NAME SIGNATURE` of the functions that other objects call or define: see [`objwriter::elf::SIGNATURES`].
    pub signatures: &'a [String],
    /// Variables in LDS that a linker places, in the order of their symbols.
    pub shared: &'a [shared::Shared<'a>],
    /// Variables in order.
    pub variables: &'a [Variable<'a>],
    /// Formats of `printf`, see [`printf::encode`].
    pub formats: &'a [String],
    /// The source that instructions' locations point into, if the object is to have a line table.
    pub lines: Option<&'a lines::Lines>,
    /// Full debug information, in which the line table is.
    pub debug: Option<&'a dyn DebugSections>,
    /// What call frame information is written in, if the object is to have it.
    pub frames: Option<Dialect>,
}

/// Why a program could not be written. But for [`EmitError::Unsupported`] a fault of an earlier pass, never of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EmitError {
    /// An instruction without an encoding.
    Encode {
        /// Kernel.
        kernel: String,
        /// Byte offset from its start.
        offset: usize,
        /// What the encoder said.
        message: String,
    },
    /// A branch over more than 2^15 dwords.
    BranchRange {
        /// Kernel.
        kernel: String,
        /// Byte offset from its start.
        offset: usize,
    },
    /// A jump table whose entries are not what the jump into it counts on.
    Table {
        /// Kernel.
        kernel: String,
        /// The first block that is not as it should be.
        block: MBlock,
    },
    /// What the subtarget asks for and the compiler does not write.
    Unsupported(String),
    /// A reference to a variable or a function that the program does not have.
    Unknown(isa::Referent),
    /// A function is too far away for the call that was chosen.
    CallRange {
        /// Who calls.
        caller: String,
    },
    /// The ELF or MessagePack writer refused.
    Container(String),
}

/// What holds of jump tables.
pub const TABLE_RULE: &str = "the jump is `s_getpc_b64`, `s_add_u32`, `s_addc_u32`, `s_setpc_b64`, an entry is one branch, and they follow each other";

impl fmt::Display for EmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EmitError::Encode { kernel, offset, message } => {
                write!(f, "cannot encode the instruction at {kernel}+{offset:#x}: {message}")
            }
            EmitError::BranchRange { kernel, offset } => {
                write!(f, "the branch at {kernel}+{offset:#x} is out of range")
            }
            EmitError::Table { kernel, block } => {
                write!(f, "the jump table of {kernel} is torn at {block}: {TABLE_RULE}")
            }
            EmitError::Unsupported(what) => f.write_str(what),
            EmitError::Unknown(to) => write!(f, "a reference to {to:?}, which is not in the program"),
            EmitError::CallRange { caller } => write!(f, "{caller} calls a function that is out of range"),
            EmitError::Container(message) => write!(f, "cannot write the code object: {message}"),
        }
    }
}

impl std::error::Error for EmitError {}
