//! The language that metadata names, and what depends on it.
//!
//! # Source
//! seed 000, line 2369.

/// The language that a runtime takes the kernels for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// kernc's own. Runtimes know no such language; OpenCL C is nearest in what they do with it.
    #[default]
    Kernc,
    /// OpenCL C.
    OpenCl,
    /// HIP.
    Hip,
    /// HCC.
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

    /// Whether ids of work-items count from the global offset of the dispatch (seed 000, line 4381).
    pub const fn has_global_offset(self) -> bool {
        matches!(self, Language::OpenCl)
    }

    /// Whether only `seq_cst` atomics, and fences that name several, order address spaces with each other (seed 000, line 3067).
    pub const fn separate_spaces(self) -> bool {
        matches!(self, Language::OpenCl)
    }

    /// Whether grids are whole groups. OpenCL 2.0 and the emulator take a part of a group at the edge.
    pub(crate) const fn has_uniform_groups(self) -> bool {
        matches!(self, Language::Hip)
    }
}
