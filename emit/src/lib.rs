//! Code objects: ELF, kernel descriptors, metadata, assembly listings.
//!
//! How a [`Program`] becomes a file: the machine code of each kernel is encoded as words ([`code`]); its
//! resources become a 64-byte kernel descriptor ([`descriptor`]), a header ([`kernel_code`]) or pairs of
//! register and value (`config`), whichever the operating system and the object's version ask for; its
//! signature becomes [`metadata`], which is stored in [`notes`]. [`elf`] combines these parts into a loadable
//! or relocatable object. [`asm`] prints the same contents as text that an assembler turns into the same
//! bytes.
//!
//! This crate neither selects instructions or registers nor inserts waits. The code that it receives is
//! final.

pub mod asm;
pub mod branches;
mod catalyst;
pub mod code;
mod config;
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
mod pal;
pub mod printf;
pub mod shared;
mod unwind;

pub use debug::{DebugSections, Image};
pub use hidden::HiddenPart;
pub use language::Language;
pub use objwriter::dwarf::Dialect;
pub use unwind::Entered;

use bumpalo::Bump;
use isa::{CodeEnd, CodeObjectVersion, KernelHeader, MBlock, Subtarget};
use mir::MachFunc;
use smallvec::{SmallVec, smallvec};
use std::fmt;

/// Memory that is reused from program to program.
#[derive(Default)]
pub struct Context {
    bump: Bump,
    /// Concatenated symbol names of kernel descriptors.
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
    /// An opaque handle: an image, sampler, queue or pipe, which is passed as a pointer. The first text is
    /// its kind in the metadata. The second is the access qualifier, if there is one.
    Opaque(&'static str, Option<&'static str>),
}

/// One kernel argument, as the metadata describes it.
#[derive(Clone, Debug)]
pub struct Arg<'a> {
    /// Name in the source.
    pub name: &'a str,
    /// Type as the source writes it.
    pub type_name: &'a str,
    /// Type in the metadata of an argument that is passed by value: `i32`, `f32`, ..., `struct`. For a vector
    /// it is the type of an element.
    pub value_type: &'a str,
    /// Size in bytes.
    pub size: u32,
    /// Offset in bytes from the start of the kernarg segment.
    pub offset: u32,
    /// Alignment in bytes, a power of two.
    pub align: u32,
    /// Kind of the argument.
    pub kind: ValueKind,
    /// Name of the address space that the argument points to: `global`, `constant`, `local` or `generic`.
    /// `None` if the argument is not a pointer.
    pub address_space: Option<&'a str>,
    /// Alignment in bytes of the memory to which the argument points. Only arguments that point to LDS of
    /// dynamic size have it.
    pub pointee_align: Option<u32>,
    /// Whether the pointer has the qualifier `const`.
    pub is_const: bool,
    /// Whether the pointer has the qualifier `restrict`.
    pub is_restrict: bool,
    /// Whether the pointer has the qualifier `volatile`.
    pub is_volatile: bool,
}

/// Kernel: its code and the information that a runtime needs.
#[derive(Clone, Debug)]
pub struct Kernel<'a> {
    /// Final code with physical registers only.
    pub func: &'a MachFunc,
    /// Arguments in order.
    pub args: &'a [Arg<'a>],
    /// Alignment of the kernarg segment, bytes.
    pub kernarg_align: u32,
    /// Required work-group size.
    pub reqd_workgroup_size: Option<[u32; 3]>,
    /// Suggested work-group size.
    pub workgroup_size_hint: Option<[u32; 3]>,
    /// `vec_type_hint`.
    pub vec_type_hint: Option<&'a str>,
    /// Maximum number of work-items in a work-group.
    pub max_flat_workgroup_size: u32,
    /// LDS in bytes, without [`shared`] variables.
    pub lds: u32,
    /// Initial state of its waves.
    pub state: InitialState,
}

/// Initial state that a kernel requires of its waves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitialState {
    /// Number of lanes, if it differs from the program's target.
    pub wave_size: Option<u32>,
    /// Whether f32 denormals are flushed to zero.
    pub flush_denormals: bool,
    /// `IEEE` bit of the MODE register.
    pub ieee: bool,
    /// `DX10_CLAMP` bit of the MODE register.
    pub dx10_clamp: bool,
    /// The exceptions (floating-point and integer) that cause a trap. Bit `n` enables the exception whose bit
    /// in the kernel descriptor is `EXCEPTION_INVALID_OP + n`.
    pub exceptions: u8,
    /// Size in bytes of the hidden arguments, if the kernel requests a size itself instead of the default.
    pub implicit_args: Option<u32>,
}

/// The default state: IEEE arithmetic with denormals in every precision, as the source language requires on
/// all processors.
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

/// Function that kernels and other functions call.
#[derive(Clone, Copy, Debug)]
pub struct Function<'a> {
    /// Id that [`mir::Referent::Func`] uses.
    pub id: u32,
    /// Final code with physical registers only.
    pub func: &'a MachFunc,
    /// Whether other objects may call it.
    pub export: bool,
}

/// Function or variable that another object defines.
#[derive(Clone, Copy, Debug)]
pub struct External<'a> {
    /// Referent that code uses for it.
    pub to: mir::Referent,
    /// Name of the symbol.
    pub name: &'a str,
}

/// Variable in device memory.
#[derive(Clone, Debug)]
pub struct Variable<'a> {
    /// Id that [`mir::Referent::Global`] uses.
    pub id: u32,
    /// Name of the symbol.
    pub name: &'a str,
    /// Size in bytes.
    pub size: u32,
    /// Alignment in bytes, a power of two.
    pub align: u32,
    /// Initial bytes. Zeros follow up to `size`.
    pub init: &'a [u8],
    /// Whether the variable is in the writable section `.data`. Otherwise it is in `.rodata`.
    pub writable: bool,
    /// Addresses of functions that the variable contains: byte offsets in ascending order, with function ids.
    /// The loader writes these addresses, so such a variable must be writable.
    pub functions: SmallVec<[(u32, u32); 1]>,
}

impl<'a> Program<'a> {
    /// Returns an error if the program cannot be written. A wave size that is not the processor's default is
    /// rejected for systems whose objects cannot state the wave size. Processors with accumulation registers
    /// are rejected where the kernels' header has no field for the number of these registers, as in V2. An
    /// object for AMDPAL has exactly one kernel.
    fn check(&self) -> Result<(), EmitError> {
        let system = self.target.system();
        let usual = isa::Target::by_name(self.target.name).map(|target| target.wave_size);
        let is_unstated = |kernel: &Kernel| Some(self.target_of(kernel).wave_size) != usual;
        if !system.states_wave_size && self.kernels.iter().any(is_unstated) {
            let what =
                format!("another wave size than the processor's, which `{}` cannot state,", system.name);
            return Err(EmitError::Unsupported(what));
        }
        let has_accumulation = objwriter::descriptor::ACCUM_OFFSET.on.has(&self.target);
        match self.target.kernel_header() {
            KernelHeader::Pipeline => pal::kernel(self).map(|_| ()),
            KernelHeader::KernelCode | KernelHeader::Config if has_accumulation => {
                let what = if system.has_metadata { "code object V2" } else { system.name };
                Err(EmitError::Unsupported(what.to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// Returns whether the object has version V2.
    fn is_v2(&self) -> bool {
        self.target.system().has_metadata && self.target.code_object == CodeObjectVersion::V2
    }

    /// Returns whether a header (`amd_kernel_code_t`) precedes the code of each kernel.
    fn has_kernel_code(&self) -> bool {
        self.target.kernel_header() == KernelHeader::KernelCode
    }

    /// Returns whether the object has the metadata of a pipeline.
    fn has_pipeline(&self) -> bool {
        self.target.kernel_header() == KernelHeader::Pipeline
    }

    /// Returns the symbol of a kernel's code: the kernel's name, except where the runtime looks for another
    /// symbol.
    fn symbol<'k>(&self, kernel: &'k Kernel) -> &'k str {
        if self.has_pipeline() { pal::entry_point() } else { &kernel.func.name }
    }

    /// Returns the kernels that have descriptors.
    fn with_descriptors(&self) -> &[Kernel<'a>] {
        if self.target.kernel_header() == KernelHeader::Descriptor { self.kernels } else { &[] }
    }

    /// Returns whether the object has the section `.rodata`. With metadata, it always has.
    fn has_rodata(&self) -> bool {
        self.target.system().has_metadata || !self.variables.is_empty()
    }

    /// Returns the padding after all code.
    fn code_end(&self) -> Option<CodeEnd> {
        self.target.code_end.filter(|_| !self.kernels.is_empty() && self.target.system().has_code_end)
    }

    /// Returns the size of a kernel's kernarg segment in bytes, hidden arguments included.
    fn kernarg_size(&self, kernel: &Kernel) -> u32 {
        self.hidden(kernel).end()
    }

    /// Returns the subtarget for a kernel: that of the program, with the kernel's own wave size.
    fn target_of(&self, kernel: &Kernel) -> Subtarget {
        let own = kernel.state.wave_size.and_then(|lanes| self.target.with_wave_size(lanes));
        own.unwrap_or(self.target)
    }

    /// Returns the subtarget for a function: that of the program, with the function's own wave size.
    fn target_of_function(&self, function: &Function) -> Subtarget {
        let own = function.func.wave_size.and_then(|lanes| self.target.with_wave_size(lanes));
        own.unwrap_or(self.target)
    }

    /// Returns the target id of the program in the spelling of its code object version.
    fn target_id(&self) -> String {
        let Subtarget { target, xnack, sramecc, os, code_object, .. } = self.target;
        objwriter::elf::target_id(os.system().triple, target.name, xnack, sramecc, code_object)
    }
}

/// Items of variables or functions, indexed by id.
type ById<T> = SmallVec<[Option<T>; 8]>;

/// Returns a table of items indexed by their ids.
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

/// Contents of one code object.
#[derive(Clone, Debug)]
pub struct Program<'a> {
    /// Processor and its settings.
    pub target: Subtarget,
    /// Language that the metadata names.
    pub language: Language,
    /// Kernels in order.
    pub kernels: &'a [Kernel<'a>],
    /// Functions in order. Their code comes after the kernels.
    pub functions: &'a [Function<'a>],
    /// Functions and variables to which code refers and which other objects define. A loadable object has
    /// none, because nothing links it afterwards.
    pub externals: &'a [External<'a>],
    /// Signatures of functions that this object defines for other objects, or calls in other objects. Each is
    /// a string `NAME SIGNATURE` (see [`objwriter::elf::SIGNATURES`]).
    pub signatures: &'a [String],
    /// Variables in LDS whose addresses a linker chooses, in the order of their symbols.
    pub shared: &'a [shared::Shared<'a>],
    /// Variables in order.
    pub variables: &'a [Variable<'a>],
    /// Formats of `printf` calls: see [`printf::encode`].
    pub formats: &'a [String],
    /// Lines of the source, if the object is to have a line table.
    pub lines: Option<&'a lines::Lines>,
    /// Full debug information, which contains the line table.
    pub debug: Option<&'a dyn DebugSections>,
    /// Dialect of the call frame information (see [`Dialect`]). `None` if the object gets no call frame
    /// information.
    pub frames: Option<Dialect>,
}

/// A reason why a program cannot be written. [`EmitError::Unsupported`] is a mistake of the user; every other
/// error is a fault of an earlier compiler pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EmitError {
    /// Instruction without an encoding.
    Encode {
        /// Name of the kernel.
        kernel: String,
        /// Byte offset from the start of the kernel.
        offset: usize,
        /// Message of the encoder.
        message: String,
    },
    /// Branch over more than 2^15 dwords.
    BranchRange {
        /// Name of the kernel.
        kernel: String,
        /// Byte offset from the start of the kernel.
        offset: usize,
    },
    /// The jump into a jump table would lead to a wrong place, because the table's entries do not follow each
    /// other or do not have equal size.
    Table {
        /// Name of the kernel.
        kernel: String,
        /// First block with a wrong layout.
        block: MBlock,
    },
    /// Feature of the subtarget that the compiler cannot write.
    Unsupported(String),
    /// Reference to a variable or function that is not in the program.
    Unknown(mir::Referent),
    /// The callee is out of range for the chosen form of call.
    CallRange {
        /// Name of the caller.
        caller: String,
    },
    /// Error of the ELF or MessagePack writer.
    Container(String),
}

/// Layout rule of jump tables, for error messages.
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
