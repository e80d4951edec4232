//! `ET_REL`, laid out as LLVM's assembler lays it out: contents, symbols, relocations, strings, headers.

use super::elf::*;
use super::strings::Strings;
use super::symtab::Table;
use crate::assembler::Assembler;
use crate::resolve::Resolved;
use crate::section::elf::{SHF_EXCLUDE, SHT_LLVM_ADDRSIG};

const ET_REL: u16 = 1;
/// `.strtab` holds all names, those of sections too.
const STRTAB: u16 = 1;

/// A relocatable object.
pub(crate) fn relocatable(asm: &Assembler, resolved: &Resolved) -> Result<Vec<u8>, String> {
    // The null section and `.strtab` come first; each section is followed by its relocations.
    let mut numbers = Vec::with_capacity(asm.sections.len());
    let mut next = u32::from(STRTAB) + 1;
    for relocations in &resolved.relocations {
        numbers.push(next as u16);
        next += 1 + u32::from(!relocations.is_empty());
    }
    next += u32::from(asm.addrsig.is_some());
    let symtab_number = next;
    if symtab_number >= 0xff00 {
        return Err("too many sections".into());
    }
    let table = Table::new(asm, |section| numbers[section as usize])?;
    let strings = names(asm, resolved, &table);

    let mut out = vec![0; HEADER as usize];
    let mut headers = vec![SectionHeader::default(); symtab_number as usize + 1];
    for (n, section) in asm.sections.iter().enumerate() {
        pad(&mut out, section.align);
        let offset = out.len() as u64;
        if section.has_contents() {
            out.extend_from_slice(&section.data);
        }
        headers[usize::from(numbers[n])] = SectionHeader {
            name: strings.offset(&section.name),
            kind: section.kind,
            flags: section.flags,
            offset,
            size: section.size(),
            align: section.align,
            entry_size: section.entry_size,
            ..SectionHeader::default()
        };
    }
    pad(&mut out, 8);
    headers[symtab_number as usize] = SectionHeader {
        name: strings.offset(".symtab"),
        kind: SHT_SYMTAB,
        offset: out.len() as u64,
        size: table.entries.len() as u64 * SYMBOL,
        link: STRTAB.into(),
        info: table.locals,
        align: 8,
        entry_size: SYMBOL,
        ..SectionHeader::default()
    };
    table.write(&strings, &mut out);
    for (n, relocations) in resolved.relocations.iter().enumerate().filter(|(_, list)| !list.is_empty()) {
        headers[usize::from(numbers[n]) + 1] = SectionHeader {
            name: strings.offset(&format!(".rela{}", asm.sections[n].name)),
            kind: SHT_RELA,
            flags: SHF_INFO_LINK,
            offset: out.len() as u64,
            size: relocations.len() as u64 * RELA,
            link: symtab_number,
            info: numbers[n].into(),
            align: 8,
            entry_size: RELA,
            ..SectionHeader::default()
        };
        for relocation in relocations {
            let symbol = table.index(relocation.target);
            rela(&mut out, relocation.offset, symbol, relocation.kind, relocation.addend);
        }
    }
    if let Some(symbols) = &asm.addrsig {
        let offset = out.len() as u64;
        symbols.iter().for_each(|&id| leb128(&mut out, table.index_of(id)));
        headers[symtab_number as usize - 1] = SectionHeader {
            name: strings.offset(".llvm_addrsig"),
            kind: SHT_LLVM_ADDRSIG,
            flags: SHF_EXCLUDE,
            offset,
            size: out.len() as u64 - offset,
            link: symtab_number,
            align: 1,
            ..SectionHeader::default()
        };
    }
    headers[usize::from(STRTAB)] = SectionHeader {
        name: strings.offset(".strtab"),
        kind: SHT_STRTAB,
        offset: out.len() as u64,
        size: strings.bytes.len() as u64,
        align: 1,
        ..SectionHeader::default()
    };
    out.extend_from_slice(&strings.bytes);
    pad(&mut out, 8);
    let header = Header {
        kind: ET_REL,
        abi_version: asm.settings.version() - 2,
        flags: asm.settings.elf_flags(),
        section_headers: (out.len() as u64, headers.len() as u16),
        names: STRTAB,
        ..Header::default()
    };
    headers.iter().for_each(|header| header.write(&mut out));
    let mut start = Vec::with_capacity(HEADER as usize);
    header.write(&mut start);
    out[..HEADER as usize].copy_from_slice(&start);
    Ok(out)
}

fn names(asm: &Assembler, resolved: &Resolved, table: &Table) -> Strings {
    let mut strings = Strings::default();
    for (section, relocations) in asm.sections.iter().zip(&resolved.relocations) {
        strings.add(&section.name);
        if !relocations.is_empty() {
            strings.add(&format!(".rela{}", section.name));
        }
    }
    if asm.addrsig.is_some() {
        strings.add(".llvm_addrsig");
    }
    strings.add(".strtab");
    strings.add(".symtab");
    table.add_names(&mut strings);
    strings.finish();
    strings
}

fn leb128(out: &mut Vec<u8>, mut value: u32) {
    loop {
        let low = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 {
            out.push(low);
            return;
        }
        out.push(low | 0x80);
    }
}
