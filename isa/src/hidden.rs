//! Hidden arguments and their offsets. Hidden arguments are values, such as the address of the `printf`
//! buffer, that the runtime stores after a kernel's own arguments.
//!
//! # Source
//!
//! Hidden arguments up to code object V4: LLVM's AMDGPU guide, seed 000, line 4381. Which of them the
//! metadata lists depends on what the code reads. This dependence was determined with LLVM 14 and 19.
//! `tests/hidden_arguments.rs` compares the lists with those of clang.

use crate::addressing::Apertures;
use crate::{CodeObjectVersion, Subtarget};
use bitflags::bitflags;

bitflags! {
    /// Conditions that say which hidden arguments the metadata of a kernel lists. A bit is set if its
    /// condition is true for the kernel.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Hidden: u8 {
        /// The code reads the address of the `printf` buffer, or the module contains formats of `printf`
        /// calls.
        const PRINTF_BUFFER = 1 << 0;
        /// The code reads the queue pointer from the hidden arguments, because it is not in SGPRs.
        const QUEUE_PTR = 1 << 1;
        /// The code reads the address of the host-call buffer.
        const HOSTCALL_BUFFER = 1 << 2;
        /// The code reads the global offset, which is added to the global ids of work-items.
        const GLOBAL_OFFSET = 1 << 3;
        /// The kernel may read any hidden argument: it calls code of another object, or it uses the address
        /// of the hidden arguments.
        const FOREIGN = 1 << 4;
        /// The kernel has dynamic LDS.
        const DYNAMIC_LDS = 1 << 5;
        /// The processor has no registers for the apertures.
        const APERTURES = 1 << 6;
    }
}

impl Hidden {
    /// Conditions under which the code reads a hidden argument. If none of them holds, the metadata lists no
    /// hidden arguments.
    const READ: Hidden = Hidden::PRINTF_BUFFER
        .union(Hidden::QUEUE_PTR)
        .union(Hidden::HOSTCALL_BUFFER)
        .union(Hidden::GLOBAL_OFFSET)
        .union(Hidden::FOREIGN);

    /// Returns whether the code reads hidden arguments.
    pub const fn are_read(self) -> bool {
        self.intersects(Hidden::READ)
    }

    /// Returns the conditions that are true for every kernel on this processor, because they are properties
    /// of the processor.
    pub const fn of_target(target: &Subtarget) -> Hidden {
        match target.addressing.known().apertures {
            Apertures::Registers => Hidden::empty(),
            Apertures::None | Apertures::Queue => Hidden::APERTURES,
        }
    }
}

/// A hidden argument in a code object version.
#[derive(Clone, Copy, Debug)]
pub struct HiddenArg {
    /// The name of the argument in the metadata (`.value_kind`).
    pub kind: &'static str,
    /// Offset in bytes from the start of the hidden arguments.
    pub offset: u32,
    /// Size in bytes, which is also its alignment.
    pub size: u32,
    /// The metadata lists the argument only if at least one of these conditions is true. An empty set
    /// requires nothing. `without` has further requirements.
    with: Hidden,
    /// The metadata lists the argument only if none of these conditions is true.
    without: Hidden,
}

/// The hidden arguments of a code object version.
#[derive(Debug)]
pub struct HiddenArgs {
    /// The hidden arguments in the order of their offsets. Several arguments may have the same offset, but a
    /// kernel has only one of them, because their conditions exclude each other.
    args: &'static [HiddenArg],
    /// Total size of the hidden arguments in bytes.
    pub size: u32,
    /// Alignment of the first hidden argument in bytes, counted from the first explicit argument.
    pub align: u32,
    /// Whether the hidden arguments precede the explicit ones.
    pub precede: bool,
}

impl HiddenArg {
    /// Returns the argument with its offset increased by `bytes`.
    pub const fn shifted_by(self, bytes: u32) -> HiddenArg {
        HiddenArg { offset: bytes + self.offset, ..self }
    }

    /// Returns the argument with a condition: the metadata lists the argument only if at least one of the
    /// conditions `with` is true.
    const fn with(self, with: Hidden) -> HiddenArg {
        HiddenArg { with, ..self }
    }

    /// Returns the argument with a condition: the metadata lists the argument only if none of the conditions
    /// `without` is true.
    const fn without(self, without: Hidden) -> HiddenArg {
        HiddenArg { without, ..self }
    }

    const fn is_listed(&self, holds: Hidden) -> bool {
        (self.with.is_empty() || holds.intersects(self.with)) && !holds.intersects(self.without)
    }
}

impl HiddenArgs {
    /// Returns the hidden arguments of a code object version of HSA.
    pub const fn for_version(version: CodeObjectVersion) -> &'static HiddenArgs {
        match version {
            CodeObjectVersion::V2 | CodeObjectVersion::V3 => &V3,
            CodeObjectVersion::V4 => &V4,
            CodeObjectVersion::V5 | CodeObjectVersion::V6 => &V5,
        }
    }

    /// Returns the offset of the first hidden argument from the first explicit argument. `own` is the size in
    /// bytes of the kernel's own arguments.
    pub const fn start(&self, own: u32) -> u32 {
        own.saturating_add(self.align - 1) & !(self.align - 1)
    }

    /// Returns the offset of the argument with this `.value_kind`.
    pub fn offset(&self, kind: &str) -> Option<u32> {
        self.args.iter().find(|arg| arg.kind == kind).map(|arg| arg.offset)
    }

    /// Returns the hidden arguments that the metadata lists for a kernel. `holds` are the conditions that are
    /// true for the kernel.
    pub fn listed(&self, holds: Hidden) -> impl Iterator<Item = HiddenArg> {
        self.args.iter().copied().filter(move |arg| arg.is_listed(holds))
    }
}

const fn arg(kind: &'static str, offset: u32, size: u32) -> HiddenArg {
    HiddenArg { kind, offset, size, with: Hidden::empty(), without: Hidden::empty() }
}

/// Returns an argument of kind `hidden_none`, for bytes that no code reads.
const fn none(offset: u32) -> HiddenArg {
    arg("hidden_none", offset, 8)
}

const PRINTF: Hidden = Hidden::PRINTF_BUFFER;
const HOSTCALL: Hidden = Hidden::HOSTCALL_BUFFER;
const FOREIGN: Hidden = Hidden::FOREIGN;

// Hidden arguments of code object V3 and V4. The default queue and the completion action are listed as
// `hidden_none`, for two reasons: kernels cannot be enqueued from the device here, and ROCm 5.2 fails to
// launch a HIP kernel that lists them.
static V3: HiddenArgs = HiddenArgs {
    args: &[
        arg("hidden_global_offset_x", 0, 8),
        arg("hidden_global_offset_y", 8, 8),
        arg("hidden_global_offset_z", 16, 8),
        arg("hidden_printf_buffer", 24, 8).with(PRINTF),
        arg("hidden_hostcall_buffer", 24, 8).with(HOSTCALL).without(PRINTF),
        none(24).without(PRINTF.union(HOSTCALL)),
        none(32),
        none(40),
        arg("hidden_multigrid_sync_arg", 48, 8),
    ],
    size: 56,
    align: 8,
    precede: false,
};

static V4: HiddenArgs = HiddenArgs {
    args: &[
        arg("hidden_global_offset_x", 0, 8),
        arg("hidden_global_offset_y", 8, 8),
        arg("hidden_global_offset_z", 16, 8),
        arg("hidden_printf_buffer", 24, 8).with(PRINTF),
        arg("hidden_hostcall_buffer", 24, 8).with(HOSTCALL).without(PRINTF),
        none(24).without(PRINTF.union(HOSTCALL)),
        none(32),
        none(40),
        arg("hidden_multigrid_sync_arg", 48, 8).with(FOREIGN),
        none(48).without(FOREIGN),
    ],
    size: 56,
    align: 8,
    precede: false,
};

static V5: HiddenArgs = HiddenArgs {
    args: &[
        arg("hidden_block_count_x", 0, 4),
        arg("hidden_block_count_y", 4, 4),
        arg("hidden_block_count_z", 8, 4),
        arg("hidden_group_size_x", 12, 2),
        arg("hidden_group_size_y", 14, 2),
        arg("hidden_group_size_z", 16, 2),
        arg("hidden_remainder_x", 18, 2),
        arg("hidden_remainder_y", 20, 2),
        arg("hidden_remainder_z", 22, 2),
        arg("hidden_global_offset_x", 40, 8),
        arg("hidden_global_offset_y", 48, 8),
        arg("hidden_global_offset_z", 56, 8),
        arg("hidden_grid_dims", 64, 2),
        arg("hidden_printf_buffer", 72, 8).with(PRINTF),
        arg("hidden_hostcall_buffer", 80, 8).with(HOSTCALL.union(FOREIGN)),
        arg("hidden_multigrid_sync_arg", 88, 8).with(FOREIGN),
        arg("hidden_heap_v1", 96, 8).with(FOREIGN),
        arg("hidden_default_queue", 104, 8).with(FOREIGN),
        arg("hidden_completion_action", 112, 8).with(FOREIGN),
        arg("hidden_dynamic_lds_size", 120, 4).with(Hidden::DYNAMIC_LDS),
        arg("hidden_private_base", 192, 4).with(Hidden::APERTURES),
        arg("hidden_shared_base", 196, 4).with(Hidden::APERTURES),
        arg("hidden_queue_ptr", 200, 8).with(Hidden::QUEUE_PTR.union(FOREIGN)),
    ],
    size: 256,
    align: 8,
    precede: false,
};

/// No hidden arguments, on systems whose runtime appends nothing to a kernel's arguments.
pub(crate) static NO_HIDDEN: HiddenArgs = HiddenArgs { args: &[], size: 0, align: 1, precede: false };

// Hidden arguments of Mesa's OpenCL, with and without the operating system `mesa3d`: clover appends the
// number of dimensions and the global offset to a kernel's arguments (`make_kernel_args` in Mesa's
// `clover/llvm/codegen/common.cpp`), and libclc reads them from there.
pub(crate) static MESA: HiddenArgs = HiddenArgs {
    args: &[
        arg("hidden_grid_dims", 0, 4),
        arg("hidden_global_offset_x", 4, 4),
        arg("hidden_global_offset_y", 8, 4),
        arg("hidden_global_offset_z", 12, 4),
    ],
    size: 16,
    align: 4,
    precede: false,
};

// Hidden arguments of AMD's OpenCL 2.0 driver with 64-bit addresses (seed 004, "Argument passing and kernel
// setup"). Behind them are the address of the queue for enqueued kernels at byte 32, and the address of a packet
// at byte 40. The buffer of `printf` at byte 24 is not here: no driver's file shows how its formats are stated.
pub(crate) static CATALYST: HiddenArgs = HiddenArgs {
    args: &[
        arg("hidden_global_offset_x", 0, 8),
        arg("hidden_global_offset_y", 8, 8),
        arg("hidden_global_offset_z", 16, 8),
    ],
    size: 48,
    align: 8,
    precede: true,
};
