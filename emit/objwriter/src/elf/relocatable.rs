//! Writes relocatable objects (`ET_REL`) in the layout of LLVM's assembler: contents, symbols, relocations,
//! strings, headers.

use super::format::*;
use super::strings::Strings;
use super::symtab::Table;
use super::{
    Object, Relocation, SHF_EXCLUDE, SHF_GROUP, SHT_GROUP, SHT_LLVM_ADDRSIG, Section, Target, reloc,
};
use crate::leb;
use bumpalo::Bump;

/// Number of the section `.strtab`, which contains all names, including those of sections.
const STRTAB: u16 = 1;

/// Returns a relocatable object.
///
/// # Errors
/// The object has more sections than ELF section numbers can count.
pub fn relocatable(object: &Object) -> Result<Vec<u8>, String> {
    let Numbers { sections: numbers, groups, symtab } = numbers(object)?;
    let bump = Bump::new();
    let has_addends = object.identity.has_addends();
    let prefix = if has_addends { ".rela" } else { ".rel" };
    let tables: Vec<String> =
        object.sections.iter().map(|section| format!("{prefix}{}", section.name)).collect();
    let table =
        Table::new(object, |section| numbers[section as usize], |group| groups[group as usize], &bump);
    let strings = names(object, &tables, &table, &bump);

    let mut out = vec![0; HEADER as usize];
    let mut headers = vec![SectionHeader::default(); usize::from(symtab) + 1];
    for (section, &number) in object.sections.iter().zip(&numbers) {
        let link = section.linked.map_or(0, |linked| numbers[linked as usize].into());
        headers[usize::from(number)] =
            SectionHeader { link, ..contents(section, (&strings, has_addends), &mut out) };
    }
    for (n, group) in object.groups.iter().enumerate() {
        let header = members(object, n as u32, &numbers, &mut out);
        headers[usize::from(groups[n])] = SectionHeader {
            name: strings.offset(".group"),
            link: symtab.into(),
            info: table.index(Target::Symbol(group.signature)),
            ..header
        };
    }
    pad(&mut out, 8);
    headers[usize::from(symtab)] = SectionHeader {
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
    for (n, section) in object.sections.iter().enumerate().filter(|(_, section)| is_relocated(section)) {
        let header = SectionHeader {
            name: strings.offset(&tables[n]),
            link: symtab.into(),
            info: numbers[n].into(),
            ..relocations(section, (&table, has_addends), &mut out)
        };
        headers[usize::from(numbers[n]) + 1] = header;
    }
    if let Some(targets) = &object.addrsig {
        let header = addrsig(targets, &table, &mut out);
        let name = strings.offset(".llvm_addrsig");
        headers[usize::from(symtab) - 1] = SectionHeader { name, link: symtab.into(), ..header };
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
    finish(object, &headers, &mut out);
    Ok(out)
}

fn is_relocated(section: &Section) -> bool {
    !section.relocations.is_empty()
}

/// Numbers of section headers.
struct Numbers {
    sections: Vec<u16>,
    groups: Vec<u16>,
    /// Number of `.symtab`, which is the last section.
    symtab: u16,
}

/// Assigns the numbers of the section headers. The null section and `.strtab` come first. Each section is
/// followed by the section with its relocations. A group section precedes the first section of its group.
fn numbers(object: &Object) -> Result<Numbers, String> {
    let mut sections = Vec::with_capacity(object.sections.len());
    let mut groups = vec![0; object.groups.len()];
    let mut next = u32::from(STRTAB) + 1;
    for section in &object.sections {
        if let Some(group) = section.group
            && groups[group as usize] == 0
        {
            groups[group as usize] = next as u16;
            next += 1;
        }
        sections.push(next as u16);
        next += 1 + u32::from(is_relocated(section));
    }
    next += u32::from(object.addrsig.is_some());
    match u16::try_from(next) {
        Ok(symtab) if symtab < 0xff00 => Ok(Numbers { sections, groups, symtab }),
        _ => Err("too many sections".into()),
    }
}

/// Appends the contents of a group section: the numbers of the sections in the group and of their relocation
/// sections. Returns the header of the group section; the caller fills in name and links.
fn members(object: &Object, group: u32, numbers: &[u16], out: &mut Vec<u8>) -> SectionHeader {
    const GRP_COMDAT: u32 = 1;
    pad(out, 4);
    let offset = out.len() as u64;
    let mut word = |word: u32| out.extend_from_slice(&word.to_le_bytes());
    word(if object.groups[group as usize].comdat { GRP_COMDAT } else { 0 });
    for (section, &number) in
        object.sections.iter().zip(numbers).filter(|(section, _)| section.group == Some(group))
    {
        word(number.into());
        if is_relocated(section) {
            word(u32::from(number) + 1);
        }
    }
    let size = out.len() as u64 - offset;
    SectionHeader { kind: SHT_GROUP, offset, size, align: 4, entry_size: 4, ..SectionHeader::default() }
}

/// Appends the contents of a section. If its relocations have no addends of their own, the relocated fields
/// hold the addends. Returns the header of the section.
fn contents(section: &Section, (strings, has_addends): (&Strings, bool), out: &mut Vec<u8>) -> SectionHeader {
    pad(out, section.align);
    let offset = out.len() as u64;
    if section.has_contents() {
        out.extend_from_slice(&section.data);
    }
    if !has_addends {
        let fields = &mut out[offset as usize..];
        section.relocations.iter().for_each(|relocation| store_addend(relocation, fields));
    }
    SectionHeader {
        name: strings.offset(section.name),
        kind: section.kind,
        flags: section.flags,
        offset,
        size: section.size(),
        align: section.align,
        entry_size: section.entry_size,
        ..SectionHeader::default()
    }
}

/// Writes the addend of a relocation into the field that the relocation fills in.
fn store_addend(relocation: &Relocation, fields: &mut [u8]) {
    let size = match relocation.kind {
        reloc::ABS64 | reloc::REL64 | reloc::RELATIVE64 => 8,
        reloc::REL16 => 2,
        _ => 4,
    };
    let at = relocation.offset as usize;
    if let Some(field) = fields.get_mut(at..at + size) {
        field.copy_from_slice(&relocation.addend.to_le_bytes()[..size]);
    }
}

/// Appends the relocations of a section. Returns the header of the relocation section; the caller fills in
/// name and links.
fn relocations(section: &Section, (table, has_addends): (&Table, bool), out: &mut Vec<u8>) -> SectionHeader {
    let offset = out.len() as u64;
    let entry_size = if has_addends { RELA } else { REL };
    for relocation in &section.relocations {
        let symbol = table.index(relocation.target);
        let begin = out.len();
        rela(out, relocation.offset, symbol, relocation.kind, relocation.addend);
        // The addend is the last part of an entry.
        out.truncate(begin + entry_size as usize);
    }
    let size = out.len() as u64 - offset;
    let group = section.flags & SHF_GROUP;
    let kind = if has_addends { SHT_RELA } else { SHT_REL };
    let flags = if group == 0 { SHF_INFO_LINK } else { group };
    SectionHeader { kind, flags, offset, size, align: 8, entry_size, ..SectionHeader::default() }
}

/// Appends the contents of `.addrsig`, the list of symbols whose addresses are significant. Returns its
/// section header; the caller fills in name and link.
fn addrsig(targets: &[Target], table: &Table, out: &mut Vec<u8>) -> SectionHeader {
    let offset = out.len() as u64;
    targets.iter().for_each(|&target| leb::unsigned(out, table.index(target).into()));
    let size = out.len() as u64 - offset;
    let (kind, flags) = (SHT_LLVM_ADDRSIG, SHF_EXCLUDE);
    SectionHeader { kind, flags, offset, size, align: 1, ..SectionHeader::default() }
}

/// Appends the section headers and fills in the file header.
fn finish(object: &Object, headers: &[SectionHeader], out: &mut Vec<u8>) {
    pad(out, 8);
    let header = Header {
        kind: ET_REL,
        abi: [object.identity.os_abi, object.identity.abi_version],
        flags: object.identity.flags,
        section_headers: (out.len() as u64, headers.len() as u16),
        names: STRTAB,
        ..Header::default()
    };
    headers.iter().for_each(|header| header.write(out));
    let mut start = Vec::with_capacity(HEADER as usize);
    header.write(&mut start);
    out[..HEADER as usize].copy_from_slice(&start);
}
/// Returns the string table, which contains all names of sections and symbols. `tables` are the names of
/// relocation sections.
fn names<'a>(object: &Object<'a>, tables: &'a [String], table: &Table<'a>, bump: &'a Bump) -> Strings<'a> {
    let mut strings = Strings::new(object.sections.len() * 2 + table.entries.len() + 4, bump);
    for (section, relocations) in object.sections.iter().zip(tables) {
        strings.add(section.name);
        if !section.relocations.is_empty() {
            strings.add(relocations);
        }
    }
    if !object.groups.is_empty() {
        strings.add(".group");
    }
    if object.addrsig.is_some() {
        strings.add(".llvm_addrsig");
    }
    strings.add(".strtab");
    strings.add(".symtab");
    table.add_names(&mut strings);
    strings.finish();
    strings
}
