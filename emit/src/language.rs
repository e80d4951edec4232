//! The source language that the metadata names, and properties of code objects that depend on it.

/// Source language that a runtime assumes for the kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Language {
    /// kernc's own language, which runtimes do not know. The metadata names OpenCL C instead, because what
    /// runtimes do for OpenCL C fits best.
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

    /// Returns `kernc`, `opencl`, `hip` or `hcc`.
    pub const fn name(self) -> &'static str {
        match self {
            Language::Kernc => "kernc",
            Language::OpenCl => "opencl",
            Language::Hip => "hip",
            Language::Hcc => "hcc",
        }
    }

    /// Returns the language with that name.
    pub fn by_name(name: &str) -> Option<Language> {
        Language::ALL.into_iter().find(|language| language.name() == name)
    }

    /// Returns the values of `.language` and `.language_version`.
    pub(crate) const fn metadata(self) -> (&'static str, Option<&'static [u32]>) {
        match self {
            Language::Kernc | Language::OpenCl => ("OpenCL C", Some(&[2, 0])),
            Language::Hip => ("HIP", None),
            Language::Hcc => ("HCC", None),
        }
    }

    /// Returns whether the global ids of work-items include an offset that the host gives with the dispatch,
    /// as in OpenCL (LLVM's AMDGPU guide, seed 000, line 4381).
    pub const fn has_global_offset(self) -> bool {
        matches!(self, Language::OpenCl)
    }

    /// Returns whether accesses to different address spaces are unordered, except by `seq_cst` atomics and by
    /// fences that name several address spaces, as in OpenCL (LLVM's AMDGPU guide, seed 000, line 3067).
    pub const fn separate_spaces(self) -> bool {
        matches!(self, Language::OpenCl)
    }

    /// Returns whether all grids consist of whole work-groups. In OpenCL 2.0 and the emulator, work-groups at
    /// the edge of the grid may be smaller.
    pub(crate) const fn has_uniform_groups(self) -> bool {
        matches!(self, Language::Hip)
    }
}
