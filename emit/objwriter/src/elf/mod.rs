//! ELF: sections, symbols and relocations of one object, written as a relocatable file or as a loadable file.
//!
//! Both are laid out as LLVM's tools do it: [`relocatable`] as LLVM's assembler, and [`loadable`] as `ld.lld
//! -shared` would link that single object. So the compiler's file equals the file that an assembler and a
//! linker make from the compiler's listing.
//!
//! # Source
//! LLVM's AMDGPU guide (seed 000), lines 387 (sections), 472 (symbols), 507 (relocations), and what LLVM's
//! tools write.

mod dynamic;
mod format;
mod loadable;
mod relocatable;
mod relocate;
mod strings;
mod symtab;

pub use loadable::{loadable, loadable_in};
pub use relocatable::relocatable;

use isa::{CodeObjectVersion, Os, Setting, Subtarget, Target as Processor};
use std::borrow::Cow;

/// Name of a section that only kernc writes: the addresses of atomic loads and stores, 8 bytes each. Race
/// detectors read it, because the encoding of such an instruction does not show that it is atomic.
pub const ATOMICS: &str = ".kernc.atomics";

/// Name of a section that only kernc writes: strings `NAME SIGNATURE`, one for each function that the object
/// defines for other objects or calls in other objects. `kernc link` compares the strings of all objects to
/// find calls with wrong arguments. Other linkers omit the section (`SHF_EXCLUDE`).
pub const SIGNATURES: &str = ".kernc.signatures";

/// `sh_type`: data.
pub const SHT_PROGBITS: u32 = 1;
/// `sh_type`: note records.
pub const SHT_NOTE: u32 = 7;
/// `sh_type`: zeros that take no space in the file.
pub const SHT_NOBITS: u32 = 8;
/// Section type (`sh_type`): a group of sections that linkers keep or drop together.
pub const SHT_GROUP: u32 = 17;
/// `sh_type`: list of symbols whose addresses are significant.
pub const SHT_LLVM_ADDRSIG: u32 = 0x6fff_4c03;
/// `sh_flags`: writable.
pub const SHF_WRITE: u64 = 1;
/// `sh_flags`: loaded into memory.
pub const SHF_ALLOC: u64 = 2;
/// `sh_flags`: code.
pub const SHF_EXECINSTR: u64 = 4;
/// `sh_flags`: entries may be merged.
pub const SHF_MERGE: u64 = 0x10;
/// `sh_flags`: entries are strings.
pub const SHF_STRINGS: u64 = 0x20;
/// Section flag (`sh_flags`): a linker orders such sections like the sections to which their `sh_link`
/// refers.
pub const SHF_LINK_ORDER: u64 = 0x80;
/// `sh_flags`: member of a group.
pub const SHF_GROUP: u64 = 0x200;
/// `sh_flags`: kept even if nothing refers to it.
pub const SHF_GNU_RETAIN: u64 = 0x20_0000;
/// `sh_flags`: one copy for each thread.
pub const SHF_TLS: u64 = 0x400;
/// `sh_flags`: omitted by linkers.
pub const SHF_EXCLUDE: u64 = 0x8000_0000;

/// Binding: visible only within the object.
pub const STB_LOCAL: u8 = 0;
/// Binding: visible to other objects.
pub const STB_GLOBAL: u8 = 1;
/// Symbol binding: a weak symbol may stay undefined, and a global symbol of the same name replaces it.
pub const STB_WEAK: u8 = 2;
/// Type: data.
pub const STT_OBJECT: u8 = 1;
/// Type: code.
pub const STT_FUNC: u8 = 2;
/// Type: common symbol, for which a linker allocates memory.
pub const STT_COMMON: u8 = 5;
/// Type: one copy for each thread.
pub const STT_TLS: u8 = 6;
/// Type: kernel of code object V2.
pub const STT_AMDGPU_HSA_KERNEL: u8 = 10;
/// Visibility: visible, and may be replaced.
pub const STV_DEFAULT: u8 = 0;
/// Visibility: processor-specific.
pub const STV_INTERNAL: u8 = 1;
/// Visibility: not visible to other objects.
pub const STV_HIDDEN: u8 = 2;
/// Visibility: visible, but not replaceable.
pub const STV_PROTECTED: u8 = 3;

/// Relocation types (seed 000, line 531).
#[allow(missing_docs)]
pub mod reloc {
    pub const NONE: u32 = 0;
    pub const ABS32_LO: u32 = 1;
    pub const ABS32_HI: u32 = 2;
    pub const ABS64: u32 = 3;
    pub const REL32: u32 = 4;
    pub const REL64: u32 = 5;
    pub const ABS32: u32 = 6;
    pub const GOTPCREL: u32 = 7;
    pub const GOTPCREL32_LO: u32 = 8;
    pub const GOTPCREL32_HI: u32 = 9;
    pub const REL32_LO: u32 = 10;
    pub const REL32_HI: u32 = 11;
    pub const RELATIVE64: u32 = 13;
    pub const REL16: u32 = 14;
}

/// Fields of the ELF file header that say for which processor, operating system and version the code is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// `EI_OSABI`.
    pub os_abi: u8,
    /// `EI_ABIVERSION`.
    pub abi_version: u8,
    /// `e_flags`.
    pub flags: u32,
}

impl Identity {
    /// Returns whether relocations have addends of their own (`SHT_RELA`), as objects for unknown systems do.
    fn has_addends(&self) -> bool {
        let known = isa::system::SYSTEMS.iter().find(|system| system.os_abi == self.os_abi);
        known.is_none_or(|system| system.has_addends)
    }

    /// Returns the file header fields for code that is compiled for a subtarget.
    pub fn for_subtarget(subtarget: &Subtarget) -> Identity {
        let Subtarget { target, xnack, sramecc, os, code_object, .. } = *subtarget;
        Identity::new(os, target, xnack, sramecc, code_object)
    }

    /// Returns the file header fields of an object for a processor with its settings (XNACK, SRAMECC).
    /// `version` is used only if the operating system is HSA. For other operating systems, the flags are
    /// those of V3.
    pub const fn new(
        os: Os,
        target: &Processor,
        xnack: Setting,
        sramecc: Setting,
        version: CodeObjectVersion,
    ) -> Identity {
        let version_of_flags = if os.system().has_metadata { version } else { CodeObjectVersion::V3 };
        let flags = e_flags(target, xnack, sramecc, version_of_flags);
        Identity { flags, ..Identity::of_version(os, version) }
    }

    /// Returns the file header fields of an object that is not for a particular processor. `version` is used
    /// only if the operating system is HSA.
    pub const fn of_version(os: Os, version: CodeObjectVersion) -> Identity {
        let system = os.system();
        let abi_version = if system.has_metadata { version.number() - 2 } else { 0 };
        Identity { os_abi: system.os_abi, abi_version, flags: 0 }
    }
}

/// Returns the file header field `e_flags`: the processor's number and its settings (XNACK, SRAMECC). Up to
/// V3, there is one bit for each setting. It is set if the setting is on, and also if code is compiled for
/// either state. Later versions have two bits for each setting, which distinguish off, on and any (either
/// state).
pub const fn e_flags(
    target: &Processor,
    xnack: Setting,
    sramecc: Setting,
    version: CodeObjectVersion,
) -> u32 {
    const fn bits(setting: Setting, shift: u32, old: u32, version: u8) -> u32 {
        match setting {
            Setting::Unsupported => 0,
            _ if version <= 3 => old * setting.may_be_on() as u32,
            Setting::Any => 1 << shift,
            Setting::Off => 2 << shift,
            Setting::On => 3 << shift,
        }
    }
    let version = version.number();
    target.elf_mach | bits(xnack, 8, 0x100, version) | bits(sramecc, 10, 0x200, version)
}

/// Returns the target id of a processor with its settings (XNACK, SRAMECC), as assemblers and metadata spell
/// it. `triple` is the triple without the environment. Up to V3, the target id lists the settings that are on
/// or can be either on or off (LLVM's AMDGPU guide, seed 000, line 2171). In later versions, it lists the
/// settings that are fixed to on or off.
pub fn target_id(
    triple: &str,
    processor: &str,
    xnack: Setting,
    sramecc: Setting,
    version: CodeObjectVersion,
) -> String {
    // Long enough for every target id.
    let mut id = String::with_capacity(64);
    id.extend([triple, "--", processor]);
    let mut add = |parts: [&str; 3]| id.extend(parts);
    if version <= CodeObjectVersion::V3 {
        for (name, setting) in [("xnack", xnack), ("sram-ecc", sramecc)] {
            if setting.may_be_on() {
                add(["+", name, ""]);
            }
        }
    } else {
        for (name, setting) in [("sramecc", sramecc), ("xnack", xnack)] {
            match setting {
                Setting::On => add([":", name, "+"]),
                Setting::Off => add([":", name, "-"]),
                Setting::Any | Setting::Unsupported => {}
            }
        }
    }
    id
}

/// Contents of a file.
#[derive(Clone, Debug, Default)]
pub struct Object<'a> {
    /// Identity for the file header.
    pub identity: Identity,
    /// Sections in order.
    pub sections: Vec<Section<'a>>,
    /// Groups of sections. Sections refer to them by index.
    pub groups: Vec<Group>,
    /// Symbols. Relocations refer to them by index.
    pub symbols: Vec<Symbol<'a>>,
    /// Symbols and sections in the order of the symbol table. Local symbols precede the others.
    pub order: Vec<Target>,
    /// Symbols and sections whose addresses code compares, so that a linker must not merge them with others.
    /// They are listed in the section `.addrsig`.
    pub addrsig: Option<Vec<Target>>,
}

/// Group of sections that a linker keeps or drops together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Symbol that identifies the group across objects.
    pub signature: u32,
    /// Whether a linker keeps only one group if several objects contain groups with this signature symbol.
    pub comdat: bool,
}

/// A section.
#[derive(Clone, Debug, Default)]
pub struct Section<'a> {
    /// Name of the section.
    pub name: &'a str,
    /// `sh_type`.
    pub kind: u32,
    /// `sh_flags`.
    pub flags: u64,
    /// `sh_entsize`.
    pub entry_size: u64,
    /// `sh_addralign`.
    pub align: u64,
    /// Contents.
    pub data: Cow<'a, [u8]>,
    /// Size in bytes of a section without contents.
    pub virtual_size: u64,
    /// Fields that depend on addresses.
    pub relocations: Vec<Relocation>,
    /// Index of the group to which the section belongs.
    pub group: Option<u32>,
    /// Index of the section to which `sh_link` refers.
    pub linked: Option<u32>,
}

impl Section<'_> {
    fn size(&self) -> u64 {
        self.data.len() as u64 + self.virtual_size
    }

    fn is_empty(&self) -> bool {
        self.size() == 0
    }

    fn has_contents(&self) -> bool {
        self.kind != SHT_NOBITS
    }

    fn has(&self, flags: u64) -> bool {
        self.flags & flags == flags
    }
}

/// A symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// Name of the symbol.
    pub name: &'a str,
    /// `STB_*`.
    pub binding: u8,
    /// `STV_*`.
    pub visibility: u8,
    /// `STT_*`.
    pub kind: u8,
    /// Size in bytes.
    pub size: u64,
    /// What the symbol stands for.
    pub place: Place,
}

/// Meaning of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Defined in another object.
    Undefined,
    /// Offset in a section.
    Section(u32, u64),
    /// Only the signature of a group.
    Group(u32),
    /// Absolute number.
    Absolute(u64),
    /// Common symbol: zeroed memory with this alignment, which a linker allocates.
    Common(u64),
    /// LDS with this alignment, which a linker allocates.
    Lds(u64),
}

/// Target of a relocation, or entry of the symbol table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// Symbol, by index.
    Symbol(u32),
    /// Start of a section, by index.
    Section(u32),
    /// No symbol: the relocation refers to a number.
    Nothing,
}

/// Field that depends on addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Offset of the field in its section.
    pub offset: u64,
    /// Target.
    pub target: Target,
    /// Type of the relocation, one of [`reloc`].
    pub kind: u32,
    /// Addend, which is added to the address.
    pub addend: i64,
}
