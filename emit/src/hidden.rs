//! Hidden arguments of kernels, which the runtime passes after the explicit arguments: which of them the
//! metadata of a kernel lists, and where they are in the kernarg segment.

use crate::{Kernel, Program, ValueKind};
use isa::{Hidden, HiddenArg, HiddenArgs, Subtarget};

/// Hidden arguments in a kernarg segment.
#[derive(Clone, Copy)]
pub struct HiddenPart {
    block: &'static HiddenArgs,
    holds: Hidden,
    start: u32,
    size: u32,
    /// Size of the kernarg segment.
    end: u32,
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
    /// Determines the hidden arguments of a kernel whose explicit arguments take `own` bytes.
    ///
    /// `holds` says which hidden arguments the kernel's code reads. If it reads any, the kernel gets the
    /// whole block of hidden arguments of its code object version. Otherwise the kernel gets the number of
    /// bytes in `bytes`, if the source requests a number. The size of the kernarg segment is a multiple of a
    /// dword.
    pub fn new(target: &Subtarget, own: u32, bytes: Option<u32>, holds: Hidden) -> HiddenPart {
        let block = target.hidden_args();
        let (size, asked) = match holds.are_read() {
            true => (block.size, Hidden::empty()),
            // Code outside this program may read hidden arguments.
            false => (bytes.unwrap_or(0), Hidden::FOREIGN | Hidden::HOSTCALL_BUFFER),
        };
        let own_end = target.system().arguments_begin.saturating_add(own.next_multiple_of(4));
        let start = if size == 0 { own_end } else { target.hidden_begin(own) };
        let end = start.saturating_add(size).max(own_end);
        HiddenPart { block, holds: holds | asked | Hidden::of_target(target), start, size, end }
    }

    /// Returns the hidden arguments that the metadata lists, each with its offset in the kernarg segment.
    pub(crate) fn args(self) -> impl Iterator<Item = HiddenArg> {
        let listed = self.block.listed(self.holds);
        let within = listed.take_while(move |arg| arg.offset + arg.size <= self.size);
        within.map(move |arg| arg.shifted_by(self.start))
    }

    /// Returns the alignment in bytes that the hidden arguments require of the kernarg segment; 1 if there
    /// are no hidden arguments.
    pub(crate) fn align(self) -> u32 {
        if self.size > 0 { 8 } else { 1 }
    }

    /// Returns the size in bytes of the kernarg segment, which includes the hidden arguments.
    pub fn end(self) -> u32 {
        self.end
    }
}
