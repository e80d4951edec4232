//! Full debug information, as far as the object is concerned: somebody else writes it when it is known where everything is.

use objwriter::dwarf::Contents;
use objwriter::elf::Target;

/// Where everything is.
#[derive(Clone, Copy, Debug)]
pub struct Image<'a> {
    /// The section of the code.
    pub text: Target,
    /// Where code begins and ends in it.
    pub code: (u64, u64),
    /// The same of kernels, and of functions behind them, in their order.
    pub functions: &'a [(u64, u64)],
    /// Variables in device memory, by their ids.
    pub globals: &'a [Option<Target>],
    /// The number of the first section that is written.
    pub first: u32,
}

/// Writes the sections of debug information.
pub trait DebugSections: std::fmt::Debug {
    /// Names and contents, in their order.
    fn sections(&self, image: &Image<'_>) -> Vec<(&'static str, Contents)>;
}
