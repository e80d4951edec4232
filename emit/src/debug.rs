//! Interface to full debug information: an implementor writes the debug sections once the final positions of
//! code and variables are known.

use objwriter::dwarf::Contents;
use objwriter::elf::Target;

/// Positions of the code and variables in the object.
#[derive(Clone, Copy, Debug)]
pub struct Image<'a> {
    /// Section of the code.
    pub text: Target,
    /// Start and end of the code in that section.
    pub code: (u64, u64),
    /// For each kernel, and then for each function, the offsets in the code section at which its code starts
    /// and ends. The order is that of the program.
    pub functions: &'a [(u64, u64)],
    /// Variables in device memory, by id.
    pub globals: &'a [Option<Target>],
    /// Number of the first debug section in the object.
    pub first: u32,
}

/// Writes the sections of debug information.
pub trait DebugSections: std::fmt::Debug {
    /// Returns the names and contents of the debug sections, in the order in which the object contains them.
    fn sections(&self, image: &Image<'_>) -> Vec<(&'static str, Contents)>;
}
