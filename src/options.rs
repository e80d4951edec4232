//! Options of the compiler.

use crate::calls::UNKNOWN_DEPTH;
use crate::limits::Limits;
use callconv::Convention;
pub use emit::Dialect;
use emit::Language;
use frontend::{Files, Printf, Warnings};
use std::sync::Arc;

/// Optimisation level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum OptLevel {
    /// No optimisation; each statement is translated separately.
    O0,
    /// Cheap passes only.
    O1,
    /// All passes that are worth their compile time.
    #[default]
    O2,
    /// All passes.
    O3,
}

impl OptLevel {
    /// Returns the number of the level, 0 to 3.
    pub const fn number(self) -> u8 {
        self as u8
    }
}

/// Amount of information about the source in an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DebugInfo {
    /// No information.
    None,
    /// The object has a line table (`.debug_line`) with the source line of each instruction. Debuggers,
    /// profilers and the emulator show these lines in their reports.
    #[default]
    Lines,
    /// Full debug information.
    Full,
}

/// Form of the DWARF in full debug information.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dwarf {
    /// Version of the DWARF standard for full debug information. A line table alone always has version 5.
    pub version: DwarfVersion,
    /// Standard DWARF, or DWARF with extensions.
    pub dialect: Dialect,
    /// Whether to embed the source text in the object, so that debuggers need no source file (LLVM's AMDGPU
    /// guide: seed 000, line 2133).
    pub embed_source: bool,
    /// Whether to write an index of names (`.debug_names`), which only DWARF version 5 has. It corresponds to
    /// clang's `-gpubnames`.
    pub names: bool,
}

/// Version of the DWARF standard that debug information follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DwarfVersion {
    /// DWARF 4.
    V4,
    /// DWARF 5.
    #[default]
    V5,
}

/// Options of one compilation.
#[derive(Clone, Debug)]
pub struct Options {
    /// Name of the source file in diagnostics, listings and debug information.
    pub file_name: String,
    /// Optimisation level.
    pub opt_level: OptLevel,
    /// Values of `param` items: `(NAME, VALUE)`, with the value in the syntax of the language.
    pub params: Vec<(String, String)>,
    /// Whether `a * b + c` within an expression may be computed by one fused instruction, which rounds only
    /// once.
    pub fp_contract: bool,
    /// Whether `assert` generates code. If false, the condition of an `assert` is not evaluated.
    pub asserts: bool,
    /// Whether to generate code that prints the position of an integer division by zero and ends the
    /// dispatch.
    pub check_divisions: bool,
    /// How the output of `printf` and `assert` reaches the host.
    pub printf: Printf,
    /// Whether `f32` divisions and mathematical functions are computed faster and less accurately. They then
    /// use the operations of the functions that begin with `native_`, where these exist.
    pub fast_math: bool,
    /// Whether to use the processor's atomic instructions for adding, subtracting and comparing floats in
    /// device memory. These instructions may flush denormals. They do not work on memory that the host shares
    /// with the device.
    pub unsafe_fp_atomics: bool,
    /// Whether to wait for all outstanding operations directly after each memory operation, instead of where
    /// a result is needed. This helps to find faults of the compiler: if the option removes a fault, a wait
    /// is missing.
    pub waits_all: bool,
    /// Mode in which the waves of a kernel start (rounding, denormals and so on). An attribute of the kernel
    /// takes precedence.
    pub state: ir::InitialState,
    /// Source language that the metadata names, such as OpenCL. It decides which implicit arguments the
    /// metadata declares. It also decides which memory model atomics follow: in OpenCL's model, accesses to
    /// different address spaces are ordered separately.
    pub language: Language,
    /// Calling convention of functions. Objects can be linked only if they use the same convention.
    pub call_abi: Convention,
    /// Number of bytes of stack per work-item that a kernel gets for calls whose depth is unknown, such as
    /// recursion and code of other object files. The number is reduced if it exceeds what the processor
    /// provides.
    pub call_stack_size: u32,
    /// How much information about the source the object contains. The information takes some bytes per
    /// instruction and does not change the code.
    pub debug: DebugInfo,
    /// Form of the DWARF that [`DebugInfo::Full`] produces.
    pub dwarf: Dwarf,
    /// Finds the files that `use "file.k";` names. An example is [`crate::Directories`], or a map from names
    /// to texts. If it is `None`, `use` finds no files.
    pub files: Option<Arc<dyn Files>>,
    /// Level of each warning (allowed, shown or denied). [`crate::Observer::warnings`] receives the warnings.
    pub warnings: Warnings,
    /// Whether to verify IR and machine code between passes and to check the result of register allocation.
    /// Debug builds do so by default.
    pub verify: bool,
    /// Limits of the compilation; by default there are none.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            file_name: "<source>".to_owned(),
            opt_level: OptLevel::default(),
            params: Vec::new(),
            fp_contract: true,
            asserts: true,
            check_divisions: false,
            printf: Printf::Buffer,
            fast_math: false,
            unsafe_fp_atomics: false,
            waits_all: false,
            state: ir::InitialState::default(),
            language: Language::default(),
            call_abi: Convention::default(),
            call_stack_size: UNKNOWN_DEPTH,
            debug: DebugInfo::default(),
            dwarf: Dwarf::default(),
            files: None,
            warnings: Warnings::default(),
            verify: cfg!(debug_assertions),
            limits: Limits::default(),
        }
    }
}
