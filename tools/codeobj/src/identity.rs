//! Identity of a code object: processor, settings and runtime, from `EI_OSABI`, `EI_ABIVERSION`, `e_flags`
//! and the target id.
//!
//! The bits of `e_flags` are from LLVM's AMDGPU guide (seed 000, line 31 ff.) for V3; for V4 and later they
//! are what LLVM 14 and 19 write.

use crate::elf::{CodeObject, Header};
use crate::note::Meaning;
pub use isa::Setting;
use isa::{CodeObjectVersion, Feature, Os, Subtarget, Target};
use std::fmt;

/// `EI_OSABI` of the runtimes that load AMD GPU code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OsAbi {
    /// ELFOSABI_NONE.
    None,
    /// ELFOSABI_AMDGPU_HSA.
    Hsa,
    /// ELFOSABI_AMDGPU_PAL.
    Pal,
    /// ELFOSABI_AMDGPU_MESA3D.
    Mesa3d,
    /// Another value.
    Other(u8),
}

impl OsAbi {
    /// Converts `EI_OSABI`.
    pub fn from_byte(byte: u8) -> OsAbi {
        match byte {
            0 => OsAbi::None,
            64 => OsAbi::Hsa,
            65 => OsAbi::Pal,
            66 => OsAbi::Mesa3d,
            other => OsAbi::Other(other),
        }
    }

    /// Returns the operating system, if kernc knows it.
    pub fn os(self) -> Option<Os> {
        match self {
            OsAbi::Hsa => Some(Os::AmdHsa),
            OsAbi::Pal => Some(Os::AmdPal),
            OsAbi::Mesa3d => Some(Os::Mesa3d),
            OsAbi::None => Some(Os::Unknown),
            OsAbi::Other(_) => None,
        }
    }
}

impl fmt::Display for OsAbi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OsAbi::None => f.write_str("none"),
            OsAbi::Hsa => f.write_str("AMDGPU_HSA"),
            OsAbi::Pal => f.write_str("AMDGPU_PAL"),
            OsAbi::Mesa3d => f.write_str("AMDGPU_MESA3D"),
            OsAbi::Other(byte) => write!(f, "{byte:#x}"),
        }
    }
}

/// Names of processors that kernc does not support, so that messages can name them. The numbers are those of
/// `EF_AMDGPU_MACH` in LLVM 19.
const FOREIGN: &[(u32, &str)] = &[
    (0x40, "gfx940"),
    (0x41, "gfx1100"),
    (0x43, "gfx1150"),
    (0x44, "gfx1103"),
    (0x46, "gfx1101"),
    (0x47, "gfx1102"),
    (0x48, "gfx1200"),
    (0x4a, "gfx1151"),
    (0x4b, "gfx941"),
    (0x4c, "gfx942"),
    (0x4e, "gfx1201"),
    (0x51, "gfx9-generic"),
    (0x52, "gfx10-1-generic"),
    (0x53, "gfx10-3-generic"),
    (0x54, "gfx11-generic"),
    (0x55, "gfx1152"),
];

/// The processors of the architecture r600 (R600 to Northern Islands), in the order of their numbers in
/// `e_flags`, which begin with 1 (LLVM's AMDGPU guide, seed 000, line 31). kernc knows only their names.
pub const R600: [&str; 16] = [
    "r600", "r630", "rs880", "rv670", "rv710", "rv730", "rv770", "cedar", "cypress", "juniper", "redwood",
    "sumo", "barts", "caicos", "cayman", "turks",
];

/// A name that a processor had in early versions of LLVM (seed 001, line 3881; seed 002, line 649).
#[derive(Clone, Copy, Debug)]
pub struct FormerName {
    /// The name.
    pub name: &'static str,
    /// The version of the instruction set in the notes of code object V2.
    pub version: (u32, u32, u32),
    /// The target id that has this meaning today.
    pub today: &'static str,
}

/// The names that LLVM 14 and 19 no longer have. The odd numbers of GFX9 meant that XNACK replay is on.
pub const FORMER_NAMES: [FormerName; 4] = [
    FormerName { name: "gfx800", version: (8, 0, 0), today: "gfx802" },
    FormerName { name: "gfx804", version: (8, 0, 4), today: "gfx803" },
    FormerName { name: "gfx901", version: (9, 0, 1), today: "gfx900:xnack+" },
    FormerName { name: "gfx903", version: (9, 0, 3), today: "gfx902:xnack+" },
];

/// Generic processors. Code for a generic processor runs on all processors of a family. kernc decodes it as
/// code for the processor given here, which belongs to the family.
const GENERIC: &[(&str, &str)] =
    &[("gfx9-generic", "gfx900"), ("gfx10-1-generic", "gfx1010"), ("gfx10-3-generic", "gfx1030")];

/// What a header says about where the code runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Runtime.
    pub os_abi: OsAbi,
    /// Code object version, 2 to 6. Only HSA has versions.
    pub version: Option<u8>,
    /// `EF_AMDGPU_MACH`, the low byte of `e_flags`.
    pub mach: u32,
    /// Processor, if kernc knows it.
    pub target: Option<&'static Target>,
    /// XNACK replay setting.
    pub xnack: Setting,
    /// SRAM ECC setting.
    pub sramecc: Setting,
    /// Version of a generic processor (V6).
    pub generic_version: u8,
    /// Bits of `e_flags` without a meaning in this version.
    pub unknown_flags: u32,
}

/// A number that compilers before LLVM 7 wrote in the low bits of `e_flags`, as the architecture
/// (`EF_AMDGPU_ARCH`). Later compilers write the number of the processor there.
const ARCH_GCN: u32 = 2;

/// Returns the processor that a version in the notes of code object V2 means. Also returns whether the
/// version means that XNACK replay is on. Returns `None` for unknown versions.
fn of_version(version: (u32, u32, u32)) -> Option<(&'static Target, bool)> {
    let find = |version| isa::PROCESSORS.iter().find(|target| target.version == version);
    let (major, minor, stepping) = version;
    // If a version belongs to no processor, it may be one more than that of a processor with XNACK: gfx901
    // and gfx903 stood for gfx900 and gfx902 with XNACK on.
    let with_xnack = || find((major, minor, stepping.checked_sub(1)?)).filter(|it| it.has(Feature::XNACK));
    let former = || {
        let name = FORMER_NAMES.iter().find(|former| former.version == version)?;
        Target::by_name(name.today)
    };
    find(version).or_else(former).map(|target| (target, false)).or_else(|| Some((with_xnack()?, true)))
}

impl Identity {
    /// Determines the identity from the ELF header. If the header does not contain the processor, as with
    /// compilers before LLVM 7, the notes are used, too.
    pub fn of_object(object: &CodeObject<'_>) -> Identity {
        let mut identity = Identity::from_header(&object.header);
        let is_left_out = matches!(identity.mach, 0 | ARCH_GCN) && identity.target.is_none();
        if !is_left_out {
            return identity;
        }
        let named = object.notes().iter().find_map(|note| match note.meaning() {
            Meaning::Isa { major, minor, stepping, .. } => of_version((major, minor, stepping)),
            _ => None,
        });
        if let Some((target, xnack)) = named {
            identity.target = Some(target);
            if xnack {
                identity.xnack = Setting::On;
            }
        }
        identity
    }

    /// Reads the identity from a header.
    pub fn from_header(header: &Header) -> Identity {
        let os_abi = OsAbi::from_byte(header.os_abi);
        let version = match (os_abi, header.abi_version) {
            (OsAbi::Hsa, abi @ 0..=4) => Some(abi + 2),
            _ => None,
        };
        let flags = header.flags;
        let mach = flags & 0xff;
        // The flags have two bits for each setting in HSA code objects since V4, and one bit in all other
        // files.
        let (xnack, sramecc, known) = if version >= Some(4) {
            (Setting::from_bits(flags >> 8), Setting::from_bits(flags >> 10), 0xfff)
        } else {
            let one = |bit: u32| if flags & bit == 0 { Setting::Off } else { Setting::On };
            (one(0x100), one(0x200), 0x3ff)
        };
        let generic_version = if version == Some(6) { (flags >> 24) as u8 } else { 0 };
        let unknown_flags = flags & !(known | u32::from(generic_version) << 24);
        let target = Target::by_elf_mach(mach).or_else(|| {
            let name = FOREIGN.iter().find(|(value, _)| *value == mach)?.1;
            Target::by_name(GENERIC.iter().find(|(generic, _)| *generic == name)?.1)
        });
        Identity { os_abi, version, mach, target, xnack, sramecc, generic_version, unknown_flags }
    }

    /// Returns the processor together with the settings in the header, if kernc supports the processor.
    /// Properties that the header does not contain have the values of [`Subtarget::new`]. These include the
    /// wave size and other modes, which are in the descriptor of each kernel.
    pub fn subtarget(&self) -> Option<Subtarget> {
        let mut subtarget = Subtarget::new(self.target?);
        let setting = |has: bool, setting| if has { setting } else { Setting::Unsupported };
        subtarget.xnack = setting(subtarget.has(Feature::XNACK), self.xnack);
        subtarget.sramecc = setting(subtarget.has(Feature::SRAMECC), self.sramecc);
        subtarget.os = self.os_abi.os().unwrap_or(subtarget.os);
        subtarget.code_object =
            self.version.and_then(CodeObjectVersion::from_number).unwrap_or(subtarget.code_object);
        Some(subtarget)
    }

    /// Returns whether assembler directives can produce everything in the ELF header of a file. In V3 and
    /// later this is done by a target id, and in V2 by directives of its own.
    pub fn is_said_by_directives(&self, header: &Header) -> bool {
        let Some(target) = Target::by_elf_mach(self.mach) else { return false };
        if self.version == Some(2) {
            return self.unknown_flags == 0;
        }
        let Some(os) = self.os_abi.os() else { return false };
        // Without a version, a feature that a target id does not name is on.
        let is_off = |feature, setting| target.has(feature) && setting == Setting::Off;
        let has_off = is_off(Feature::XNACK, self.xnack) || is_off(Feature::SRAMECC, self.sramecc);
        if !os.system().has_metadata && has_off {
            return false;
        }
        let version = self.version.and_then(CodeObjectVersion::from_number).unwrap_or_default();
        let setting = |feature, setting| if target.has(feature) { setting } else { Setting::Unsupported };
        let (xnack, sramecc) = (setting(Feature::XNACK, self.xnack), setting(Feature::SRAMECC, self.sramecc));
        let said = objwriter::elf::Identity::new(os, target, xnack, sramecc, version);
        (said.os_abi, said.abi_version, said.flags) == (header.os_abi, header.abi_version, header.flags)
    }

    /// Returns whether a header (`amd_kernel_code_t`) precedes the code of each kernel.
    pub fn has_kernel_code(&self) -> bool {
        self.version == Some(2) || self.os_abi == OsAbi::Mesa3d
    }

    /// Returns the name of the processor, if it is known.
    pub fn processor(&self) -> Option<&'static str> {
        let foreign = FOREIGN.iter().find(|(value, _)| *value == self.mach).map(|(_, name)| *name);
        foreign.or(self.target.map(|target| target.name))
    }

    /// Returns the target id for a processor name, in the spelling that the directive `.amdgcn_target` has
    /// for this code object version.
    pub fn target_id(&self, processor: &str) -> String {
        // Files without a code object version have one bit for each setting, as in V3.
        let version = self.version.and_then(CodeObjectVersion::from_number).unwrap_or(CodeObjectVersion::V3);
        objwriter::elf::target_id(
            self.os_abi.os().unwrap_or(Os::Unknown).system().triple,
            processor,
            self.xnack,
            self.sramecc,
            version,
        )
    }
}
