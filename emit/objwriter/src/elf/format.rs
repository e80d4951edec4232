//! Writes structures of 64-bit ELF files as bytes, and defines the ELF numbers that only writers need.

/// `EM_AMDGPU`.
const MACHINE: u16 = 224;

pub(crate) const HEADER: u64 = 64;
pub(crate) const SECTION_HEADER: u64 = 64;
pub(crate) const PROGRAM_HEADER: u64 = 56;
pub(crate) const SYMBOL: u64 = 24;
pub(crate) const RELA: u64 = 24;
/// Size of a relocation entry without addend in bytes.
pub(crate) const REL: u64 = 16;

pub(crate) const ET_REL: u16 = 1;
pub(crate) const ET_DYN: u16 = 3;
pub(crate) const SHT_SYMTAB: u32 = 2;
pub(crate) const SHT_STRTAB: u32 = 3;
pub(crate) const SHT_RELA: u32 = 4;
pub(crate) const SHT_REL: u32 = 9;
pub(crate) const SHT_HASH: u32 = 5;
pub(crate) const SHT_DYNAMIC: u32 = 6;
pub(crate) const SHT_DYNSYM: u32 = 11;
pub(crate) const SHT_GNU_HASH: u32 = 0x6fff_fff6;
pub(crate) const PT_LOAD: u32 = 1;
pub(crate) const PT_DYNAMIC: u32 = 2;
pub(crate) const PT_NOTE: u32 = 4;
pub(crate) const PT_PHDR: u32 = 6;
pub(crate) const PT_GNU_STACK: u32 = 0x6474_e551;
pub(crate) const PT_GNU_RELRO: u32 = 0x6474_e552;
pub(crate) const DT_NULL: u64 = 0;
pub(crate) const DT_HASH: u64 = 4;
pub(crate) const DT_STRTAB: u64 = 5;
pub(crate) const DT_SYMTAB: u64 = 6;
pub(crate) const DT_RELA: u64 = 7;
pub(crate) const DT_RELASZ: u64 = 8;
pub(crate) const DT_RELAENT: u64 = 9;
pub(crate) const DT_STRSZ: u64 = 10;
pub(crate) const DT_SYMENT: u64 = 11;
pub(crate) const DT_GNU_HASH: u64 = 0x6fff_fef5;
pub(crate) const DT_RELACOUNT: u64 = 0x6fff_fff9;
pub(crate) const SHF_INFO_LINK: u64 = 0x40;
pub(crate) const SHN_ABS: u16 = 0xfff1;
pub(crate) const SHN_COMMON: u16 = 0xfff2;
/// `SHN_AMDGPU_LDS` (seed 000, line 490).
pub(crate) const SHN_AMDGPU_LDS: u16 = 0xff00;

/// The file header.
#[derive(Default)]
pub(crate) struct Header {
    /// `ET_REL` or `ET_DYN`.
    pub kind: u16,
    /// `EI_OSABI`, `EI_ABIVERSION`.
    pub abi: [u8; 2],
    pub flags: u32,
    pub program_headers: (u64, u16),
    pub section_headers: (u64, u16),
    pub names: u16,
}

impl Header {
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\x7fELF");
        // 64 bits, little-endian, version 1.
        out.extend_from_slice(&[2, 1, 1, self.abi[0], self.abi[1]]);
        out.extend_from_slice(&[0; 7]);
        half(out, self.kind);
        half(out, MACHINE);
        word(out, 1);
        long(out, 0);
        long(out, self.program_headers.0);
        long(out, self.section_headers.0);
        word(out, self.flags);
        half(out, HEADER as u16);
        half(out, if self.program_headers.1 == 0 { 0 } else { PROGRAM_HEADER as u16 });
        half(out, self.program_headers.1);
        half(out, SECTION_HEADER as u16);
        half(out, self.section_headers.1);
        half(out, self.names);
    }
}

/// A section header.
#[derive(Clone, Copy, Default)]
pub(crate) struct SectionHeader {
    pub name: u32,
    pub kind: u32,
    pub flags: u64,
    pub address: u64,
    pub offset: u64,
    pub size: u64,
    pub link: u32,
    pub info: u32,
    pub align: u64,
    pub entry_size: u64,
}

impl SectionHeader {
    pub fn write(&self, out: &mut Vec<u8>) {
        word(out, self.name);
        word(out, self.kind);
        long(out, self.flags);
        long(out, self.address);
        long(out, self.offset);
        long(out, self.size);
        word(out, self.link);
        word(out, self.info);
        long(out, self.align);
        long(out, self.entry_size);
    }
}

/// A symbol table entry.
#[derive(Clone, Copy, Default)]
pub(crate) struct Sym {
    pub name: u32,
    pub info: u8,
    pub other: u8,
    pub section: u16,
    pub value: u64,
    pub size: u64,
}

impl Sym {
    pub fn write(&self, out: &mut Vec<u8>) {
        word(out, self.name);
        out.extend_from_slice(&[self.info, self.other]);
        half(out, self.section);
        long(out, self.value);
        long(out, self.size);
    }
}

/// A relocation entry.
pub(crate) fn rela(out: &mut Vec<u8>, offset: u64, symbol: u32, kind: u32, addend: i64) {
    long(out, offset);
    long(out, u64::from(symbol) << 32 | u64::from(kind));
    long(out, addend as u64);
}

pub(crate) fn half(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&value.to_le_bytes());
}

#[inline(never)]
pub(crate) fn word(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes());
}

#[inline(never)]
pub(crate) fn long(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends zeros up to a multiple of `align`.
pub(crate) fn pad(out: &mut Vec<u8>, align: u64) {
    out.resize(out.len().next_multiple_of(align.max(1) as usize), 0);
}
