//! State that a kernel requests from the wavefronts that run it: their size, their initial modes, and the
//! hidden arguments after its explicit arguments.
//!
//! # Source
//! LLVM's AMDGPU guide: seed 000, lines 369 (attributes), 2680 (denormals, followed by DX10 clamp and IEEE,
//! in `compute_pgm_rsrc1`) and 2862 (exceptions, in `compute_pgm_rsrc2`).

use bitflags::bitflags;

/// Treatment of `f32` denormals. Denormals of `f64` and `f16` are always kept because keeping them costs
/// nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Denormals {
    /// Denormals are handled as IEEE 754 prescribes.
    #[default]
    Keep,
    /// Denormal operands and results may be replaced by zeros.
    Flush,
}

impl Denormals {
    /// All variants.
    pub const ALL: [Denormals; 2] = [Denormals::Keep, Denormals::Flush];

    /// Returns the name: `keep` or `flush`.
    pub const fn name(self) -> &'static str {
        match self {
            Denormals::Keep => "keep",
            Denormals::Flush => "flush",
        }
    }

    /// Returns the variant with the given name.
    pub fn by_name(name: &str) -> Option<Denormals> {
        Denormals::ALL.into_iter().find(|denormals| denormals.name() == name)
    }
}

bitflags! {
    /// Exceptions on which a wavefront traps.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Exceptions: u8 {
        /// Invalid operation of IEEE 754.
        const INVALID = 1 << 0;
        /// An operand is denormal.
        const DENORMAL = 1 << 1;
        /// Division by zero of IEEE 754.
        const DIV_BY_ZERO = 1 << 2;
        /// Overflow of IEEE 754.
        const OVERFLOW = 1 << 3;
        /// Underflow of IEEE 754.
        const UNDERFLOW = 1 << 4;
        /// Inexact result of IEEE 754.
        const INEXACT = 1 << 5;
        /// Division of an integer by zero.
        const INT_DIV_BY_ZERO = 1 << 6;
    }
}

impl Exceptions {
    /// The name of each exception, in the order of the exceptions' bits in the kernel descriptor.
    pub const NAMES: [(&'static str, Exceptions); 7] = [
        ("invalid", Exceptions::INVALID),
        ("denormal", Exceptions::DENORMAL),
        ("div_by_zero", Exceptions::DIV_BY_ZERO),
        ("overflow", Exceptions::OVERFLOW),
        ("underflow", Exceptions::UNDERFLOW),
        ("inexact", Exceptions::INEXACT),
        ("int_div_by_zero", Exceptions::INT_DIV_BY_ZERO),
    ];

    /// Returns the exception with the given name.
    pub fn by_name(name: &str) -> Option<Exceptions> {
        Exceptions::NAMES.iter().find(|row| row.0 == name).map(|row| row.1)
    }

    /// Returns the names of the exceptions in the set.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Exceptions::NAMES.into_iter().filter(move |row| self.contains(row.1)).map(|row| row.0)
    }
}

/// State of the wavefronts that a kernel requests with attributes. If the kernel does not request a field,
/// the field is `None`, and a command-line option or the default applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct InitialState {
    /// `#[wave_size(n)]`: number of lanes of a wavefront.
    pub wave_size: Option<u32>,
    /// `#[denormals(keep)]`
    pub denormals: Option<Denormals>,
    /// `#[ieee(on)]`: signalling NaNs are quieted.
    pub ieee: Option<bool>,
    /// `#[dx10_clamp(on)]`: a NaN is clamped to 0.
    pub dx10_clamp: Option<bool>,
    /// `#[exceptions(invalid, overflow)]`
    pub exceptions: Option<Exceptions>,
    /// `#[implicit_args(n)]`: size in bytes of the hidden arguments after the kernel's own arguments.
    pub implicit_args: Option<u32>,
}

impl InitialState {
    /// Maximum size of the hidden arguments in bytes: the size that they have in code object V5.
    pub const MAX_IMPLICIT_ARGS: u32 = 256;

    /// Returns the requests of `self`; fields that are `None` are taken from `others`.
    pub fn or(self, others: &InitialState) -> InitialState {
        InitialState {
            wave_size: self.wave_size.or(others.wave_size),
            denormals: self.denormals.or(others.denormals),
            ieee: self.ieee.or(others.ieee),
            dx10_clamp: self.dx10_clamp.or(others.dx10_clamp),
            exceptions: self.exceptions.or(others.exceptions),
            implicit_args: self.implicit_args.or(others.implicit_args),
        }
    }

    /// Returns whether `f32` denormals may be replaced by zeros.
    pub fn flushes(&self) -> bool {
        self.denormals == Some(Denormals::Flush)
    }
}
