//! Sections while they are filled.

use crate::expr::Value;
use crate::symbol::SymbolId;

pub(crate) use objwriter::elf;

// `sh_type` of arrays of function pointers that loaders call.
pub(crate) const SHT_INIT_ARRAY: u32 = 14;
pub(crate) const SHT_FINI_ARRAY: u32 = 15;
pub(crate) const SHT_PREINIT_ARRAY: u32 = 16;

/// A field whose value is known only at the end of the source, and how it is filled in then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fixup {
    pub offset: u64,
    pub value: Value,
    pub kind: FixupKind,
    /// Range of positions in the source text, for error messages.
    pub span: (u32, u32),
}

/// Kind of field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FixupKind {
    /// The distance of a branch (`simm16`), in dwords from the end of the instruction. The value here
    /// identifies the branch: branches are numbered in the order of the source.
    Branch(u32),
    /// A 32-bit literal of an instruction. It is absolute, or relative to the literal's own position.
    Literal { relative: bool },
    /// Data of this many bytes.
    Data(u8),
    /// Field of a relocation of this type, given by `.reloc`.
    Given(u32),
    /// The field of a kernel descriptor with the distance from the start of the descriptor to the kernel's
    /// code. The field is 16 bytes after the start of the descriptor.
    Entry,
}

/// Section, or part of a subsection.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    pub name: Box<str>,
    pub kind: u32,
    pub flags: u64,
    pub entry_size: u64,
    pub align: u64,
    pub data: Vec<u8>,
    /// Size in bytes of a section without contents.
    pub virtual_size: u64,
    pub fixups: Vec<Fixup>,
    /// Whether the source has switched to the section.
    pub entered: bool,
    /// Whether a relocation refers to the start of the section.
    pub relocated: bool,
    /// The symbol that identifies the group to which the section belongs, and whether a linker keeps only one
    /// group with that symbol.
    pub group: Option<(SymbolId, bool)>,
    /// Section by which this section is ordered.
    pub linked: Option<u32>,
    /// The offset at which subsection 0 ends and other subsections begin. `None` if there are no other
    /// subsections.
    pub first_end: Option<u64>,
    /// If this is not a whole section but a part of a subsection, the section to which the part belongs.
    pub part_of: Option<u32>,
    /// If this is not a whole section but a part of a subsection, the part's offset in its section, once it
    /// is known.
    pub begin: Option<u64>,
}

impl Section {
    pub fn new(name: &str, kind: u32, flags: u64) -> Section {
        Section {
            name: name.into(),
            kind,
            flags,
            entry_size: 0,
            align: 1,
            data: Vec::new(),
            virtual_size: 0,
            fixups: Vec::new(),
            entered: false,
            relocated: false,
            group: None,
            linked: None,
            first_end: None,
            part_of: None,
            begin: None,
        }
    }

    /// Returns the offset of the next byte.
    #[inline]
    pub fn size(&self) -> u64 {
        self.data.len() as u64 + self.virtual_size
    }

    pub fn is_code(&self) -> bool {
        self.flags & elf::SHF_EXECINSTR != 0
    }

    pub fn has_contents(&self) -> bool {
        self.kind != elf::SHT_NOBITS
    }
}

/// Returns the type, flags and entry size that a section with a standard name always has. Returns `None` for
/// other names.
pub(crate) fn standard(name: &str) -> Option<(u32, u64, u64)> {
    use elf::*;
    const DEBUG: [&str; 20] = [
        "abbrev",
        "info",
        "line",
        "frame",
        "pubnames",
        "pubtypes",
        "gnu_pubnames",
        "gnu_pubtypes",
        "loc",
        "aranges",
        "ranges",
        "macinfo",
        "macro",
        "names",
        "str_offsets",
        "addr",
        "rnglists",
        "loclists",
        "cu_index",
        "tu_index",
    ];
    const OF_SPLIT_DEBUG: [&str; 10] =
        ["info", "types", "abbrev", "line", "loc", "str_offsets", "rnglists", "macinfo", "macro", "loclists"];
    let written = SHF_ALLOC | SHF_WRITE;
    Some(match name {
        ".text" => (SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0),
        ".rodata" | ".eh_frame" | ".gcc_except_table" | ".llvm_stackmaps" | ".llvm_faultmaps" => {
            (SHT_PROGBITS, SHF_ALLOC, 0)
        }
        ".data" | ".data.rel.ro" => (SHT_PROGBITS, written, 0),
        ".bss" => (SHT_NOBITS, written, 0),
        ".tdata" => (SHT_PROGBITS, written | SHF_TLS, 0),
        ".tbss" => (SHT_NOBITS, written | SHF_TLS, 0),
        ".debug_str" | ".debug_line_str" => (SHT_PROGBITS, SHF_MERGE | SHF_STRINGS, 1),
        ".debug_str.dwo" => (SHT_PROGBITS, SHF_MERGE | SHF_STRINGS | SHF_EXCLUDE, 1),
        _ => {
            if let Some(size) = name.strip_prefix(".rodata.cst") {
                let size = ["4", "8", "16", "32"].iter().find(|&&known| known == size)?.parse().ok()?;
                return Some((SHT_PROGBITS, SHF_ALLOC | SHF_MERGE, size));
            }
            let part = name.strip_prefix(".debug_")?;
            match part.strip_suffix(".dwo") {
                Some(part) if OF_SPLIT_DEBUG.contains(&part) => (SHT_PROGBITS, SHF_EXCLUDE, 0),
                None if DEBUG.contains(&part) => (SHT_PROGBITS, 0, 0),
                _ => return None,
            }
        }
    })
}

/// Returns the type that a section with this name has by default, and the flags that it always has.
pub(crate) fn convention(name: &str) -> (u32, u64) {
    use elf::*;
    let is =
        |prefix: &str| name == prefix || name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('.'));
    let written = SHF_ALLOC | SHF_WRITE;
    match name {
        _ if is(".text") || is(".init") || is(".fini") => (SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR),
        _ if is(".rodata") || name == ".rodata1" => (SHT_PROGBITS, SHF_ALLOC),
        _ if is(".data") || name == ".data1" => (SHT_PROGBITS, written),
        _ if is(".init_array") => (SHT_INIT_ARRAY, written),
        _ if is(".fini_array") => (SHT_FINI_ARRAY, written),
        _ if is(".preinit_array") => (SHT_PREINIT_ARRAY, written),
        _ if is(".tdata") => (SHT_PROGBITS, written | SHF_TLS),
        _ if is(".tbss") => (SHT_NOBITS, written | SHF_TLS),
        _ if is(".bss") => (SHT_NOBITS, written),
        _ if name.starts_with(".note") => (SHT_NOTE, 0),
        _ => (SHT_PROGBITS, 0),
    }
}

/// Returns the type, flags and entry size of a section with this name, if the source does not give them.
pub(crate) fn defaults(name: &str) -> (u32, u64, u64) {
    standard(name).unwrap_or_else(|| {
        let (kind, flags) = convention(name);
        (kind, flags, 0)
    })
}
