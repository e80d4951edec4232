//! ELF: sections, symbols and relocations of one object, written as a relocatable file or as a loadable one.
//!
//! Both are laid out as LLVM's tools lay them out: [`relocatable`] as its assembler, [`loadable`] as `ld.lld -shared` would link
//! that one object. So the compiler's file is the one that an assembler and a linker make of the compiler's listing.
//!
//! # Source
//! seed 000, lines 387 (sections), 472 (symbols), 507 (relocations), and what LLVM's tools write.

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

/// kernc's own section: the addresses of atomic loads and stores, 8 bytes each. Nothing in such an instruction says that
/// it is one, and who looks for races has to know.
pub const ATOMICS: &str = ".kernc.atomics";

/// kernc's own section: strings `NAME SIGNATURE`, one for each function that the object defines for other objects or calls in
/// them. `kernc link` compares the strings of all objects; other linkers leave the section out (`SHF_EXCLUDE`).
pub const SIGNATURES: &str = ".kernc.signatures";

/// `sh_type`: contents.
pub const SHT_PROGBITS: u32 = 1;
/// `sh_type`: note records.
pub const SHT_NOTE: u32 = 7;
/// `sh_type`: zeros without room in the file.
pub const SHT_NOBITS: u32 = 8;
/// `sh_type`: sections that linkers keep or drop together.
pub const SHT_GROUP: u32 = 17;
/// `sh_type`: symbols whose addresses matter.
pub const SHT_LLVM_ADDRSIG: u32 = 0x6fff_4c03;
/// `sh_flags`: writable.
pub const SHF_WRITE: u64 = 1;
/// `sh_flags`: loaded.
pub const SHF_ALLOC: u64 = 2;
/// `sh_flags`: code.
pub const SHF_EXECINSTR: u64 = 4;
/// `sh_flags`: entries may be merged.
pub const SHF_MERGE: u64 = 0x10;
/// `sh_flags`: entries are texts.
pub const SHF_STRINGS: u64 = 0x20;
/// `sh_flags`: in the order of the sections that `sh_link` means.
pub const SHF_LINK_ORDER: u64 = 0x80;
/// `sh_flags`: part of a group.
pub const SHF_GROUP: u64 = 0x200;
/// `sh_flags`: kept though nothing refers to it.
pub const SHF_GNU_RETAIN: u64 = 0x20_0000;
/// `sh_flags`: one copy a thread.
pub const SHF_TLS: u64 = 0x400;
/// `sh_flags`: left out by linkers.
pub const SHF_EXCLUDE: u64 = 0x8000_0000;

/// Binding: within the object.
pub const STB_LOCAL: u8 = 0;
/// Binding: seen by other objects.
pub const STB_GLOBAL: u8 = 1;
/// Binding: may be undefined, may be replaced.
pub const STB_WEAK: u8 = 2;
/// Type: data.
pub const STT_OBJECT: u8 = 1;
/// Type: code.
pub const STT_FUNC: u8 = 2;
/// Type: room that a linker allots.
pub const STT_COMMON: u8 = 5;
/// Type: one copy a thread.
pub const STT_TLS: u8 = 6;
/// Type: kernel of code object V2.
pub const STT_AMDGPU_HSA_KERNEL: u8 = 10;
/// Visibility: seen, may be replaced.
pub const STV_DEFAULT: u8 = 0;
/// Visibility: as the processor defines.
pub const STV_INTERNAL: u8 = 1;
/// Visibility: not seen by other objects.
pub const STV_HIDDEN: u8 = 2;
/// Visibility: seen, not replaced.
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

/// What the file header says of who loads and runs the code.
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
    /// Of what is compiled for a subtarget.
    pub fn of(subtarget: &Subtarget) -> Identity {
        let Subtarget { target, xnack, sramecc, os, code_object, .. } = *subtarget;
        Identity::new(os, target, xnack, sramecc, code_object)
    }

    /// Of an object for a processor with its settings. Only HSA counts versions; the flags of the others are those of V3.
    pub const fn new(
        os: Os,
        target: &Processor,
        xnack: Setting,
        sramecc: Setting,
        version: CodeObjectVersion,
    ) -> Identity {
        let flags = match os {
            Os::AmdHsa => e_flags(target, xnack, sramecc, version),
            _ => e_flags(target, xnack, sramecc, CodeObjectVersion::V3),
        };
        Identity { flags, ..Identity::of_version(os, version) }
    }

    /// Of an object without a processor. Only HSA counts versions.
    pub const fn of_version(os: Os, version: CodeObjectVersion) -> Identity {
        let (os_abi, abi_version) = match os {
            Os::AmdHsa => (64, version.number() - 2),
            Os::AmdPal => (65, 0),
            Os::Mesa3d => (66, 0),
            Os::Unknown => (0, 0),
        };
        Identity { os_abi, abi_version, flags: 0 }
    }
}

/// `e_flags`: the processor's number and its settings. Up to V3 a bit says that a feature is on or may be; later two bits
/// tell any, off and on.
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

/// The target id of a processor with its settings, as assemblers and metadata name it: up to V3 with what may be on
/// (seed 000, line 2171), later with what is not left open.
pub fn target_id(
    os: &str,
    processor: &str,
    xnack: Setting,
    sramecc: Setting,
    version: CodeObjectVersion,
) -> String {
    let mut id = format!("amdgcn-amd-{os}--{processor}");
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

/// What goes into a file.
#[derive(Clone, Debug, Default)]
pub struct Object<'a> {
    /// For the file header.
    pub identity: Identity,
    /// Sections in their order.
    pub sections: Vec<Section<'a>>,
    /// Groups of sections; sections count them from 0.
    pub groups: Vec<Group>,
    /// Symbols; relocations count them from 0.
    pub symbols: Vec<Symbol<'a>>,
    /// What the symbol table shows, in order; local symbols go before the others.
    pub order: Vec<Target>,
    /// What the addresses matter of (`.addrsig`).
    pub addrsig: Option<Vec<Target>>,
}

/// Sections that a linker keeps or drops together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// The symbol by which groups of several objects are the same.
    pub signature: u32,
    /// Whether one of the groups with that signature is enough.
    pub comdat: bool,
}

/// A section.
#[derive(Clone, Debug, Default)]
pub struct Section<'a> {
    /// Its name.
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
    /// Bytes of a section without contents.
    pub virtual_size: u64,
    /// What in it depends on addresses.
    pub relocations: Vec<Relocation>,
    /// The group that it is part of.
    pub group: Option<u32>,
    /// The section that `sh_link` means.
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
    /// Its name.
    pub name: &'a str,
    /// `STB_*`.
    pub binding: u8,
    /// `STV_*`.
    pub visibility: u8,
    /// `STT_*`.
    pub kind: u8,
    /// Bytes.
    pub size: u64,
    /// What it stands for.
    pub place: Place,
}

/// What a symbol stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Something of another object.
    Undefined,
    /// An offset in a section.
    Section(u32, u64),
    /// Nothing but the signature of a group.
    Group(u32),
    /// A number.
    Absolute(u64),
    /// Zeros, aligned so, that a linker allots.
    Common(u64),
    /// LDS, aligned so, that a linker allots.
    Lds(u64),
}

/// What a relocation refers to, or the symbol table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A symbol.
    Symbol(u32),
    /// The start of a section.
    Section(u32),
    /// No symbol: a relocation to a number.
    Nothing,
}

/// A field that depends on addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Where it begins in its section.
    pub offset: u64,
    /// What it refers to.
    pub target: Target,
    /// One of [`reloc`].
    pub kind: u32,
    /// Added to the address.
    pub addend: i64,
}
