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
    /// Start and end offsets of the code of each kernel, followed by those of each function, in the program's
    /// order.
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
