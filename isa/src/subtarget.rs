//! The subtarget, which is the processor together with the modes in which code runs. This value contains
//! everything that determines which code is correct.
//!
//! Every pass of the compiler takes a [`Subtarget`]. It dereferences to the [`Target`] (with the chosen wave
//! size), so that properties of the processor can be written as `subtarget.max_vmcnt`. Properties of
//! addressing are in `subtarget.addressing`.
//!
//! # Source
//! LLVM's AMDGPU guide. Features of target ids and their defaults: seed 000, lines 31 and 187. Code object
//! versions: seed 000, line 387.

use crate::addressing::Addressing;
use crate::target::{DescriptorFields, Fact, Feature, Target};
use std::fmt;
use std::ops::Deref;

/// Setting of a target id feature (`xnack` or `sramecc`) with which code was compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Setting {
    /// The processor does not have the feature, or the code object version cannot express it.
    Unsupported,
    /// The code runs with either setting.
    Any,
    /// The code requires the feature to be off.
    Off,
    /// The code requires the feature to be on.
    On,
}

impl Setting {
    /// Returns the setting for an explicit request of on or off.
    pub const fn from_bool(on: bool) -> Setting {
        if on { Setting::On } else { Setting::Off }
    }

    /// Converts the two bits that code objects from V4 on have for each feature to a setting.
    pub const fn from_bits(bits: u32) -> Setting {
        match bits & 3 {
            0 => Setting::Unsupported,
            1 => Setting::Any,
            2 => Setting::Off,
            _ => Setting::On,
        }
    }

    /// Returns the name: `unsupported`, `any`, `off` or `on`.
    pub const fn name(self) -> &'static str {
        match self {
            Setting::Unsupported => "unsupported",
            Setting::Any => "any",
            Setting::Off => "off",
            Setting::On => "on",
        }
    }

    /// Returns whether the code must work with the feature on.
    pub const fn may_be_on(self) -> bool {
        matches!(self, Setting::Any | Setting::On)
    }
}

/// The operating system in the target triple. It determines which runtime loads the code object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Os {
    /// The operating system `amdhsa`: ROCm and other runtimes that follow the HSA rules.
    #[default]
    AmdHsa,
    /// The operating system `amdpal`: the PAL runtime.
    AmdPal,
    /// The operating system `mesa3d`: the runtime of Mesa.
    Mesa3d,
    /// AMD's OpenCL 2.0 driver before ROCm, which the project calls `catalyst`. LLVM has no name for it.
    Catalyst,
    /// The operating system `unknown` or none. No rules of a runtime apply.
    Unknown,
}

impl Os {
    /// Returns the name in a target triple.
    pub const fn name(self) -> &'static str {
        match self {
            Os::AmdHsa => "amdhsa",
            Os::AmdPal => "amdpal",
            Os::Mesa3d => "mesa3d",
            Os::Catalyst => "catalyst",
            Os::Unknown => "unknown",
        }
    }
}

/// Version of the code object format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum CodeObjectVersion {
    V2,
    V3,
    V4,
    V5,
    V6,
}

impl Default for CodeObjectVersion {
    fn default() -> Self {
        CodeObjectVersion::USUAL
    }
}

impl CodeObjectVersion {
    /// The default version, which HIP 5 and later load.
    pub const USUAL: CodeObjectVersion = CodeObjectVersion::V4;

    /// Returns the version with the given number.
    pub const fn from_number(number: u8) -> Option<CodeObjectVersion> {
        use CodeObjectVersion::*;
        match number {
            2 => Some(V2),
            3 => Some(V3),
            4 => Some(V4),
            5 => Some(V5),
            6 => Some(V6),
            _ => None,
        }
    }

    /// Returns whether code objects of this version can express that a target id feature may be on or off.
    pub const fn says_any(self) -> bool {
        self.number() >= 4
    }

    /// Returns the number, from 2 to 6.
    pub const fn number(self) -> u8 {
        self as u8 + 2
    }
}

impl fmt::Display for CodeObjectVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "V{}", self.number())
    }
}

/// A processor with the modes for which code is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Subtarget {
    /// The processor, with the chosen wave size.
    pub target: &'static Target,
    /// Whether memory accesses that encounter a missing page are replayed.
    pub xnack: Setting,
    /// Whether registers and memories have error correction.
    pub sramecc: Setting,
    /// Whether a work-group stays within a compute unit. This is always true except on GFX10. There, false
    /// means that it stays within a work-group processor (WGP mode).
    pub cumode: bool,
    /// Whether the waves of a work-group may run on several compute units, in threadgroup split mode of
    /// gfx90a.
    pub tgsplit: bool,
    /// Operating system whose runtime loads the object.
    pub os: Os,
    /// Version of the code object.
    pub code_object: CodeObjectVersion,
    /// Immediate offsets and other properties of addressing; open if the processor's family leaves them open.
    pub addressing: Fact<Addressing>,
}

impl Subtarget {
    /// Returns a processor in its default modes. The wave size and the code object version are the default
    /// ones, and GFX10 is in work-group processor mode. The code may run with either setting of `xnack` and
    /// `sramecc`.
    pub const fn new(target: &'static Target) -> Subtarget {
        Subtarget {
            target,
            xnack: Setting::Unsupported,
            sramecc: Setting::Unsupported,
            cumode: match target.arch.descriptor {
                Fact::Known(facts) => !facts.fields.contains(DescriptorFields::WGP_MODE),
                Fact::Unknown(_) => true,
            },
            tgsplit: false,
            os: Os::AmdHsa,
            code_object: CodeObjectVersion::USUAL,
            addressing: Addressing::for_target(target),
        }
        .with_version(CodeObjectVersion::USUAL)
    }

    /// Returns the subtarget for another code object version, with the default settings of features in that
    /// version. From V4 on, the default is code for either setting. Before V4, it is the default of the
    /// processor.
    pub const fn with_version(self, version: CodeObjectVersion) -> Subtarget {
        let target = self.target;
        Subtarget {
            xnack: usual(target, Feature::XNACK, version),
            sramecc: usual(target, Feature::SRAMECC, version),
            code_object: version,
            ..self
        }
    }

    /// Returns the processor with the given name in its default modes.
    pub fn by_name(name: &str) -> Option<Subtarget> {
        Target::by_name(name).map(Subtarget::new)
    }

    /// Returns the subtarget with `lanes` lanes in each wave. Returns `None` if the processor does not
    /// support this.
    pub fn with_wave_size(self, lanes: u32) -> Option<Subtarget> {
        Some(Subtarget { target: self.target.with_wave_size(lanes)?, ..self })
    }
}

const fn usual(target: &Target, feature: Feature, version: CodeObjectVersion) -> Setting {
    if !target.has(feature) {
        Setting::Unsupported
    } else if version.says_any() {
        Setting::Any
    } else {
        Setting::from_bool(target.on_by_default.contains(feature))
    }
}

impl Deref for Subtarget {
    type Target = Target;

    fn deref(&self) -> &Target {
        self.target
    }
}

impl From<&'static Target> for Subtarget {
    fn from(target: &'static Target) -> Subtarget {
        Subtarget::new(target)
    }
}

/// Formats a subtarget as text such as `gfx1010`, `gfx906:sramecc-:xnack-` or `gfx1030 (wave64)`.
impl fmt::Display for Subtarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        for (name, setting) in [("sramecc", self.sramecc), ("xnack", self.xnack)] {
            match setting {
                Setting::On => write!(f, ":{name}+")?,
                Setting::Off => write!(f, ":{name}-")?,
                Setting::Any | Setting::Unsupported => {}
            }
        }
        if self.has(Feature::WAVE32) && self.wave_size == 64 {
            f.write_str(" (wave64)")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Subtarget {
        Subtarget::by_name(name).unwrap()
    }

    #[test]
    fn names() {
        assert_eq!(named("gfx803").to_string(), "gfx803");
        assert_eq!(named("gfx906").to_string(), "gfx906");
        let older = named("gfx906").with_version(CodeObjectVersion::V3);
        assert_eq!(older.to_string(), "gfx906:sramecc-:xnack-");
        assert_eq!(named("gfx1030").with_wave_size(64).unwrap().to_string(), "gfx1030 (wave64)");
        assert!(named("gfx906").with_wave_size(32).is_none());
    }

    #[test]
    fn wave_size_reaches_the_facts() {
        let wave32 = named("gfx1010");
        assert_eq!((wave32.wave_size, wave32.mask_dwords()), (32, 1));
        let wave64 = wave32.with_wave_size(64).unwrap();
        assert_eq!((wave64.wave_size, wave64.mask_dwords()), (64, 2));
        assert!(wave64.vgpr_granule < wave32.vgpr_granule);
    }
}
