//! What a user can ask of the compiler.

use crate::calls::UNKNOWN_DEPTH;
use crate::limits::Limits;
use callconv::Convention;
pub use emit::Dialect;
use emit::Language;
use frontend::{Files, Printf, Warnings};
use std::sync::Arc;

/// How hard to optimise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum OptLevel {
    /// Translate statement by statement.
    O0,
    /// Cheap passes only.
    O1,
    /// Everything that pays.
    #[default]
    O2,
    /// Everything.
    O3,
}

impl OptLevel {
    /// 0 to 3.
    pub const fn number(self) -> u8 {
        self as u8
    }
}

/// How much an object says of its source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum DebugInfo {
    /// Nothing.
    None,
    /// Which line each instruction is of (`.debug_line`): it is what reports of debuggers, profilers and the emulator show.
    #[default]
    Lines,
    /// All that there is to say.
    Full,
}

/// Which DWARF full debug information is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dwarf {
    /// Version of the standard. Line tables alone are of version 5.
    pub version: DwarfVersion,
    /// With the extensions or without.
    pub dialect: Dialect,
    /// Whether the source goes along, so that debuggers need no file (seed 000, line 2133).
    pub embed_source: bool,
    /// Whether there is an index of names (`.debug_names`): in version 5, as clang's `-gpubnames` has it.
    pub names: bool,
}

/// A version of the DWARF standard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// Values of `param` items: `(NAME, VALUE)` with the value as the language writes it.
    pub params: Vec<(String, String)>,
    /// Contract `a * b + c` within an expression to one rounding.
    pub fp_contract: bool,
    /// Compile `assert`: without, it does nothing, and its condition is not computed.
    pub asserts: bool,
    /// Whether code is compiled in that prints the place of an integer division by zero and ends the dispatch.
    pub check_divisions: bool,
    /// How what `printf` and `assert` print gets to the host.
    pub printf: Printf,
    /// Compute functions and divisions of `f32` by their `native_` forms, where there is one.
    pub fast_math: bool,
    /// Add, subtract and compare floats in device memory by the processor's atomic instructions, where it has them: they may flush
    /// denormals, and are for memory of the device that the host does not share.
    pub unsafe_fp_atomics: bool,
    /// Wait for everything after each memory operation instead of where data flow asks for it: the first step of
    /// a bisection.
    pub waits_all: bool,
    /// What kernels ask of their wavefronts that do not say it themselves.
    pub state: ir::InitialState,
    /// The language that metadata names, whose hidden arguments it declares, and whose memory model atomics follow: OpenCL's has
    /// an order for each address space.
    pub language: Language,
    /// Where functions have their arguments, and what a call preserves: objects link with those of the same convention.
    pub call_abi: Convention,
    /// Bytes of stack that a kernel gets for calls of which nobody knows how deep they go: recursion, code of other objects. Of
    /// each work-item; there may be less by the limits of the processor.
    pub call_stack_size: u32,
    /// What the object says of its source. It takes some bytes an instruction, and changes no code.
    pub debug: DebugInfo,
    /// What [`DebugInfo::Full`] is written in.
    pub dwarf: Dwarf,
    /// What `use "file.k";` takes files from: [`crate::Directories`], a map of names to texts, or what you like. Without
    /// it there are none.
    pub files: Option<Arc<dyn Files>>,
    /// What is warned of: [`crate::Observer::warnings`] hears it.
    pub warnings: Warnings,
    /// Verify IR and machine code between passes and check the register allocation. On by default in debug builds.
    pub verify: bool,
    /// What the compilation may use: everything, if not told otherwise.
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
