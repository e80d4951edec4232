//! The hidden arguments of a kernel: which ones its metadata lists, and where in the kernarg segment.
//!
//! # Source
//! [`isa::HiddenArgs`].

use crate::{Kernel, Program, ValueKind};
use isa::{Hidden, HiddenArg, HiddenArgs, Subtarget};

/// Hidden arguments in a kernarg segment.
#[derive(Clone, Copy)]
pub struct HiddenPart {
    block: &'static HiddenArgs,
    holds: Hidden,
    start: u32,
    size: u32,
}

impl Program<'_> {
    /// Returns the hidden arguments of a kernel.
    pub(crate) fn hidden(&self, kernel: &Kernel) -> HiddenPart {
        let has_dynamic_lds = kernel.args.iter().any(|arg| arg.kind == ValueKind::DynamicSharedPointer);
        let mut holds = kernel.func.hidden;
        if has_dynamic_lds {
            holds |= Hidden::DYNAMIC_LDS;
        }
        let mut hidden =
            HiddenPart::new(&self.target, kernel.func.kernarg_size, kernel.state.implicit_args, holds);
        if !self.formats.is_empty() {
            hidden.holds |= Hidden::PRINTF_BUFFER;
        }
        hidden
    }
}

impl HiddenPart {
    /// Returns the hidden arguments of a kernel whose own arguments end after `own` bytes: all bytes of the version if the
    /// kernel's code reads one of them, else `bytes` of them, if the kernel says so. Segments are whole dwords.
    pub fn new(target: &Subtarget, own: u32, bytes: Option<u32>, holds: Hidden) -> HiddenPart {
        let block = HiddenArgs::of(target.code_object);
        let (size, asked) = match holds.are_read() {
            true => (block.size, Hidden::empty()),
            // What reads them is not seen here.
            false => (bytes.unwrap_or(0), Hidden::FOREIGN | Hidden::HOSTCALL_BUFFER),
        };
        let start = if size == 0 { own.next_multiple_of(4) } else { HiddenArgs::start(own) };
        HiddenPart { block, holds: holds | asked | Hidden::of_target(target), start, size }
    }

    /// Returns each, with its offset in the segment.
    pub(crate) fn args(self) -> impl Iterator<Item = HiddenArg> {
        let listed = self.block.listed(self.holds);
        let within = listed.take_while(move |arg| arg.offset + arg.size <= self.size);
        within.map(move |arg| arg.behind(self.start))
    }

    /// Returns what the segment has to be aligned to for them, 1 if there are none.
    pub(crate) fn align(self) -> u32 {
        if self.size > 0 { 8 } else { 1 }
    }

    /// Returns the bytes of the kernarg segment with them.
    pub fn end(self) -> u32 {
        self.start.saturating_add(self.size)
    }
}
