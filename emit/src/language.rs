//! The language that metadata names, and the hidden arguments that its runtime passes behind a kernel's own.
//!
//! # Source
//! seed 000, line 2369.

use isa::{CodeObjectVersion, Hidden, HiddenArg, HiddenArgs};

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
    /// in a language that has none are OpenCL's; and those that the code asks for in any case.
    pub(crate) fn hidden(
        self,
        version: CodeObjectVersion,
        own: u32,
        bytes: Option<u32>,
        asked: Hidden,
    ) -> HiddenPart {
        let block = HiddenArgs::of(version);
        let has_none = matches!(self, Language::Kernc | Language::Hcc) && bytes.is_none();
        let size = match (asked.is_empty(), has_none) {
            (true, true) => 0,
            (true, false) => bytes.unwrap_or(block.size),
            (false, _) => block.size,
        };
        let start = if size == 0 { own } else { HiddenArgs::start(own) };
        HiddenPart { block, asked, all: !has_none, start, size }
    }

    /// Bytes of a kernarg segment in which the kernel's own arguments take so many, and hidden ones `bytes` if that is said;
    /// the code asks for some.
    pub fn kernarg_size(
        self,
        version: CodeObjectVersion,
        own: u32,
        bytes: Option<u32>,
        asked: Hidden,
    ) -> u32 {
        self.hidden(version, own, bytes, asked).end()
    }
}

/// Hidden arguments in a kernarg segment.
#[derive(Clone, Copy)]
pub(crate) struct HiddenPart {
    block: &'static HiddenArgs,
    asked: Hidden,
    /// All that the language has, not only those that are asked for.
    all: bool,
    start: u32,
    size: u32,
}

impl HiddenPart {
    /// Each, with its offset in the segment.
    pub(crate) fn args(self) -> impl Iterator<Item = HiddenArg> {
        let listed = self.block.listed(self.asked, self.all);
        let within = listed.take_while(move |arg| arg.offset + arg.size <= self.size);
        within.map(move |arg| arg.behind(self.start))
    }

    /// Bytes of the kernarg segment with them.
    pub(crate) fn end(self) -> u32 {
        self.start.saturating_add(self.size)
    }
}
