//! Names of ELF constants, without their prefixes.

use object::elf as abi;

/// Names of the relocation types `R_AMDGPU_*`, by their number (LLVM's AMDGPU guide, seed 000, line 507; the
/// last one is from LLVM 19).
pub const RELOCATIONS: &[&str] = &[
    "R_AMDGPU_NONE",
    "R_AMDGPU_ABS32_LO",
    "R_AMDGPU_ABS32_HI",
    "R_AMDGPU_ABS64",
    "R_AMDGPU_REL32",
    "R_AMDGPU_REL64",
    "R_AMDGPU_ABS32",
    "R_AMDGPU_GOTPCREL",
    "R_AMDGPU_GOTPCREL32_LO",
    "R_AMDGPU_GOTPCREL32_HI",
    "R_AMDGPU_REL32_LO",
    "R_AMDGPU_REL32_HI",
    "R_AMDGPU_12",
    "R_AMDGPU_RELATIVE64",
    "R_AMDGPU_REL16",
];

/// Returns the number of a relocation type.
pub fn relocation_number(name: &str) -> Option<u32> {
    RELOCATIONS.iter().position(|other| *other == name).map(|number| number as u32)
}

/// Returns the name of a number in a table.
fn find(names: &[(u32, &'static str)], value: u32) -> Option<&'static str> {
    names.iter().find(|(number, _)| *number == value).map(|(_, name)| *name)
}

/// Returns a name, or the number if there is no name.
fn or_number(name: Option<&'static str>, value: u32) -> String {
    name.map_or_else(|| format!("{value:#x}"), str::to_owned)
}

/// Returns the name of an `ET_*` constant.
pub fn file_type(value: u16) -> String {
    let names = [(0, "NONE"), (1, "REL"), (2, "EXEC"), (3, "DYN"), (4, "CORE")];
    or_number(find(&names, value.into()), value.into())
}

/// Returns the name of an `SHT_*` constant.
pub fn section_type(value: u32) -> String {
    let names = [
        (0, "NULL"),
        (1, "PROGBITS"),
        (2, "SYMTAB"),
        (3, "STRTAB"),
        (4, "RELA"),
        (5, "HASH"),
        (6, "DYNAMIC"),
        (7, "NOTE"),
        (8, "NOBITS"),
        (9, "REL"),
        (11, "DYNSYM"),
        (abi::SHT_GNU_HASH.0, "GNU_HASH"),
        (0x6fff_4c03, "LLVM_ADDRSIG"),
    ];
    or_number(find(&names, value), value)
}

/// Returns section flags (`SHF_*`) as letters. The assembler's `.section` accepts most of these letters; only
/// tools that print flags use the others.
pub fn section_flags(value: u64) -> String {
    let letters = [
        (abi::SHF_WRITE, 'w'),
        (abi::SHF_ALLOC, 'a'),
        (abi::SHF_EXECINSTR, 'x'),
        (abi::SHF_MERGE, 'M'),
        (abi::SHF_STRINGS, 'S'),
        (abi::SHF_INFO_LINK, 'I'),
        (abi::SHF_LINK_ORDER, 'o'),
        (abi::SHF_GROUP, 'G'),
        (abi::SHF_TLS, 'T'),
        (abi::SHF_EXCLUDE, 'e'),
        (abi::SHF_GNU_RETAIN, 'R'),
    ];
    letters.iter().filter(|(flag, _)| value & flag.0 != 0).map(|(_, letter)| *letter).collect()
}

/// Returns the name of a `PT_*` constant.
pub fn segment_type(value: u32) -> String {
    let names = [
        (0, "NULL"),
        (1, "LOAD"),
        (2, "DYNAMIC"),
        (3, "INTERP"),
        (4, "NOTE"),
        (6, "PHDR"),
        (7, "TLS"),
        (abi::PT_GNU_STACK.0, "GNU_STACK"),
        (abi::PT_GNU_RELRO.0, "GNU_RELRO"),
    ];
    or_number(find(&names, value), value)
}

/// Returns `PF_*` flags as letters.
pub fn segment_flags(value: u32) -> String {
    [(4, 'r'), (2, 'w'), (1, 'x')]
        .iter()
        .map(|&(flag, letter)| if value & flag == 0 { '-' } else { letter })
        .collect()
}

/// Returns the name of an `STT_*` constant.
pub fn symbol_type(value: u8) -> String {
    let names = [
        (0, "NOTYPE"),
        (1, "OBJECT"),
        (2, "FUNC"),
        (3, "SECTION"),
        (4, "FILE"),
        (5, "COMMON"),
        (6, "TLS"),
        (10, "AMDGPU_HSA_KERNEL"),
    ];
    or_number(find(&names, value.into()), value.into())
}

/// Returns the name of an `STB_*` constant.
pub fn symbol_binding(value: u8) -> String {
    or_number(find(&[(0, "LOCAL"), (1, "GLOBAL"), (2, "WEAK")], value.into()), value.into())
}

/// Returns the name of an `STV_*` constant.
pub fn symbol_visibility(value: u8) -> &'static str {
    ["DEFAULT", "INTERNAL", "HIDDEN", "PROTECTED"][usize::from(value & 3)]
}

/// Returns the name of an `R_AMDGPU_*` constant.
pub fn relocation(value: u32) -> String {
    or_number(RELOCATIONS.get(value as usize).copied(), value)
}
