//! The language that metadata names, and the hidden arguments that its runtime passes behind a kernel's own.
//!
//! # Source
//! seed 000, lines 2369 (languages) and 4381 (hidden arguments up to V4); those of V5 as LLVM 19 writes them for a kernel of
//! GFX9 that may use them all.

use isa::CodeObjectVersion;

/// The language that a runtime takes the kernels for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// kernc's own: no hidden arguments. Runtimes know no such language; OpenCL C is nearest in what they do with it.
    #[default]
    Kernc,
    /// OpenCL C.
    OpenCl,
    /// HIP.
    Hip,
    /// HCC, which has no hidden arguments.
    Hcc,
}

impl Language {
    /// Every language.
    pub const ALL: [Language; 4] = [Language::Kernc, Language::OpenCl, Language::Hip, Language::Hcc];

    /// `kernc`, `opencl`, `hip`, `hcc`.
    pub const fn name(self) -> &'static str {
        match self {
            Language::Kernc => "kernc",
            Language::OpenCl => "opencl",
            Language::Hip => "hip",
            Language::Hcc => "hcc",
        }
    }

    /// The language of that name.
    pub fn by_name(name: &str) -> Option<Language> {
        Language::ALL.into_iter().find(|language| language.name() == name)
    }

    /// `.language` and `.language_version`.
    pub(crate) const fn metadata(self) -> (&'static str, Option<&'static [u32]>) {
        match self {
            Language::Kernc | Language::OpenCl => ("OpenCL C", Some(&[2, 0])),
            Language::Hip => ("HIP", None),
            Language::Hcc => ("HCC", None),
        }
    }

    /// Whether only `seq_cst` atomics, and fences that name several, order address spaces with each other (seed 000, line 3067).
    pub const fn separate_spaces(self) -> bool {
        matches!(self, Language::OpenCl)
    }

    /// Whether grids are whole groups. OpenCL 2.0 and the emulator take a part of a group at the edge.
    pub(crate) const fn has_uniform_groups(self) -> bool {
        matches!(self, Language::Hip)
    }

    /// Hidden arguments of a kernel whose own end after so many bytes: those of the language, or `bytes` of them, which
    /// in a language that has none are OpenCL's.
    pub(crate) fn hidden(self, version: CodeObjectVersion, own: u32, bytes: Option<u32>) -> Hidden {
        let block = match (self, version) {
            (Language::Kernc | Language::Hcc, _) if bytes.is_none() => &NONE,
            (_, CodeObjectVersion::V2 | CodeObjectVersion::V3 | CodeObjectVersion::V4) => &UP_TO_V4,
            (_, CodeObjectVersion::V5 | CodeObjectVersion::V6) => &V5,
        };
        let size = bytes.unwrap_or(block.size);
        let known = block.args.iter().take_while(|&&(_, offset, bytes)| offset + bytes <= size);
        let start = if size == 0 { own } else { own.saturating_add(7) & !7 };
        Hidden { args: &block.args[..known.count()], start, size }
    }

    /// Bytes of a kernarg segment in which the kernel's own arguments take so many, and hidden ones `bytes` if that is said.
    pub fn kernarg_size(self, version: CodeObjectVersion, own: u32, bytes: Option<u32>) -> u32 {
        self.hidden(version, own, bytes).end()
    }
}

/// Hidden arguments in a kernarg segment.
#[derive(Clone, Copy)]
pub(crate) struct Hidden {
    /// Kinds, offsets and sizes.
    args: &'static [(&'static str, u32, u32)],
    start: u32,
    size: u32,
}

impl Hidden {
    /// `.value_kind`, `.offset` and `.size` of each.
    pub(crate) fn args(self) -> impl ExactSizeIterator<Item = (&'static str, u32, u32)> {
        self.args.iter().map(move |&(kind, offset, size)| (kind, self.start + offset, size))
    }

    /// Bytes of the kernarg segment with them.
    pub(crate) fn end(self) -> u32 {
        self.start.saturating_add(self.size)
    }
}

/// What a version has: kinds, offsets and sizes, and the bytes of all.
struct Block {
    args: &'static [(&'static str, u32, u32)],
    size: u32,
}

static NONE: Block = Block { args: &[], size: 0 };

static UP_TO_V4: Block = Block {
    args: &[
        ("hidden_global_offset_x", 0, 8),
        ("hidden_global_offset_y", 8, 8),
        ("hidden_global_offset_z", 16, 8),
        // The printf buffer's place, where the module has no formats.
        ("hidden_hostcall_buffer", 24, 8),
        ("hidden_default_queue", 32, 8),
        ("hidden_completion_action", 40, 8),
        ("hidden_multigrid_sync_arg", 48, 8),
    ],
    size: 56,
};

static V5: Block = Block {
    args: &[
        ("hidden_block_count_x", 0, 4),
        ("hidden_block_count_y", 4, 4),
        ("hidden_block_count_z", 8, 4),
        ("hidden_group_size_x", 12, 2),
        ("hidden_group_size_y", 14, 2),
        ("hidden_group_size_z", 16, 2),
        ("hidden_remainder_x", 18, 2),
        ("hidden_remainder_y", 20, 2),
        ("hidden_remainder_z", 22, 2),
        ("hidden_global_offset_x", 40, 8),
        ("hidden_global_offset_y", 48, 8),
        ("hidden_global_offset_z", 56, 8),
        ("hidden_grid_dims", 64, 2),
        ("hidden_hostcall_buffer", 80, 8),
        ("hidden_multigrid_sync_arg", 88, 8),
        ("hidden_heap_v1", 96, 8),
        ("hidden_default_queue", 104, 8),
        ("hidden_completion_action", 112, 8),
        ("hidden_queue_ptr", 200, 8),
    ],
    size: 256,
};
