//! Hidden arguments: what runtimes pass behind a kernel's own, and where.
//!
//! # Source
//! seed 000, line 4381, for those up to V4; those of V5 as LLVM 19 writes them for a kernel of GFX9 that may use them all.
//! Which ones a kernel has that asks for one of them: as LLVM 19 writes it, which looks at what kernels use.

use crate::CodeObjectVersion;
use bitflags::bitflags;

bitflags! {
    /// Hidden arguments that code asks for one by one.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Hidden: u8 {
        /// The buffer of `printf`.
        const PRINTF_BUFFER = 1 << 0;
        /// The queue, where it is not in SGPRs.
        const QUEUE_PTR = 1 << 1;
        /// The buffer of calls of the host.
        const HOSTCALL_BUFFER = 1 << 2;
    }
}

/// A hidden argument of a version.
#[derive(Clone, Copy, Debug)]
pub struct HiddenArg {
    /// `.value_kind` of the metadata.
    pub kind: &'static str,
    /// Bytes from the start of the hidden arguments.
    pub offset: u32,
    /// Bytes, which it is aligned to.
    pub size: u32,
    /// What has to be asked for to have it; nothing for those that are there if there are any.
    asked: Option<Hidden>,
    /// What stands at the same place, if that is asked for.
    gives_way: Hidden,
}

/// What a version has.
#[derive(Debug)]
pub struct HiddenArgs {
    /// In the order of their offsets.
    pub args: &'static [HiddenArg],
    /// Bytes of all.
    pub size: u32,
    /// Places of those that nobody asks for are named, too: the place of an argument is that of those before it.
    names_gaps: bool,
}

impl HiddenArg {
    /// The same behind so many more bytes.
    pub const fn behind(self, bytes: u32) -> HiddenArg {
        HiddenArg { offset: bytes + self.offset, ..self }
    }
}

impl HiddenArgs {
    /// Those of a version.
    pub const fn of(version: CodeObjectVersion) -> &'static HiddenArgs {
        match version {
            CodeObjectVersion::V2 | CodeObjectVersion::V3 | CodeObjectVersion::V4 => &UP_TO_V4,
            CodeObjectVersion::V5 | CodeObjectVersion::V6 => &V5,
        }
    }

    /// Where hidden arguments begin behind so many bytes of a kernel's own.
    pub const fn start(own: u32) -> u32 {
        own.saturating_add(7) & !7
    }

    /// Where one begins that is asked for.
    pub fn offset(&self, asked: Hidden) -> Option<u32> {
        self.args.iter().find(|arg| arg.asked == Some(asked)).map(|arg| arg.offset)
    }

    /// Those of a kernel that asks for some; `all` that the language gives are there otherwise.
    pub fn listed(&self, asked: Hidden, all: bool) -> impl Iterator<Item = HiddenArg> {
        self.args.iter().filter_map(move |&arg| {
            let is_there = match arg.asked {
                Some(hidden) if hidden.is_empty() => all,
                Some(hidden) => asked.contains(hidden) || all && hidden != Hidden::PRINTF_BUFFER,
                None => true,
            };
            match is_there {
                _ if asked.intersects(arg.gives_way) => None,
                true => Some(arg),
                false if self.names_gaps && arg.asked == Some(Hidden::empty()) => {
                    Some(HiddenArg { kind: "hidden_none", ..arg })
                }
                false => None,
            }
        })
    }
}

/// One that is there if there are any.
const fn always(kind: &'static str, offset: u32, size: u32) -> HiddenArg {
    HiddenArg { kind, offset, size, asked: None, gives_way: Hidden::empty() }
}

/// One that no code of ours asks for.
const fn other(kind: &'static str, offset: u32) -> HiddenArg {
    HiddenArg { kind, offset, size: 8, asked: Some(Hidden::empty()), gives_way: Hidden::empty() }
}

const fn asked(kind: &'static str, offset: u32, asked: Hidden) -> HiddenArg {
    HiddenArg { kind, offset, size: 8, asked: Some(asked), gives_way: Hidden::empty() }
}

static UP_TO_V4: HiddenArgs = HiddenArgs {
    args: &[
        always("hidden_global_offset_x", 0, 8),
        always("hidden_global_offset_y", 8, 8),
        always("hidden_global_offset_z", 16, 8),
        asked("hidden_printf_buffer", 24, Hidden::PRINTF_BUFFER),
        HiddenArg {
            gives_way: Hidden::PRINTF_BUFFER,
            ..asked("hidden_hostcall_buffer", 24, Hidden::HOSTCALL_BUFFER)
        },
        other("hidden_default_queue", 32),
        other("hidden_completion_action", 40),
        other("hidden_multigrid_sync_arg", 48),
    ],
    size: 56,
    names_gaps: true,
};

static V5: HiddenArgs = HiddenArgs {
    args: &[
        always("hidden_block_count_x", 0, 4),
        always("hidden_block_count_y", 4, 4),
        always("hidden_block_count_z", 8, 4),
        always("hidden_group_size_x", 12, 2),
        always("hidden_group_size_y", 14, 2),
        always("hidden_group_size_z", 16, 2),
        always("hidden_remainder_x", 18, 2),
        always("hidden_remainder_y", 20, 2),
        always("hidden_remainder_z", 22, 2),
        always("hidden_global_offset_x", 40, 8),
        always("hidden_global_offset_y", 48, 8),
        always("hidden_global_offset_z", 56, 8),
        always("hidden_grid_dims", 64, 2),
        asked("hidden_printf_buffer", 72, Hidden::PRINTF_BUFFER),
        asked("hidden_hostcall_buffer", 80, Hidden::HOSTCALL_BUFFER),
        other("hidden_multigrid_sync_arg", 88),
        other("hidden_heap_v1", 96),
        other("hidden_default_queue", 104),
        other("hidden_completion_action", 112),
        asked("hidden_queue_ptr", 200, Hidden::QUEUE_PTR),
    ],
    size: 256,
    names_gaps: false,
};
