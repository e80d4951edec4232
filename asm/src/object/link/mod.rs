//! `ET_DYN`: what `ld.lld -shared` makes of the one object, laid out as it lays it out, so that distances between sections
//! (which kernel descriptors hold) come out the same.
//!
//! Order: file header, program headers; read-only sections, notes first, with the dynamic symbol table and its hashes
//! among them; code; what is read-only after relocation (`.dynamic`, `.got`); data; zeroed data. Each group begins a page
//! further in memory but directly behind the one before in the file.

mod dynamic;
mod relocate;

use super::elf::*;
use super::strings::Strings;
use super::symtab::Table;
use crate::assembler::Assembler;
use crate::resolve::Resolved;
use crate::section::elf::*;
use dynamic::Dynamic;
use relocate::Plan;

const ET_DYN: u16 = 3;
const PAGE: u64 = 0x1000;

/// Groups of sections that share a segment, in the order of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    ReadOnly,
    Code,
    Relro,
    Data,
    /// Not loaded.
    Rest,
}

/// Contents of an output section.
enum Body {
    /// A section of the source.
    Source(usize),
    /// Bytes made here.
    Made(Vec<u8>),
    /// So many zero bytes without room in the file.
    Zeros(u64),
}

struct Output {
    name: String,
    group: Group,
    header: SectionHeader,
    body: Body,
    /// Name of the section that `sh_link` means.
    link: &'static str,
}

/// A loadable object.
pub(crate) fn loadable(asm: &Assembler, resolved: &Resolved) -> Result<Vec<u8>, String> {
    let table = Table::new(asm, |section| section as u16 + 1)?;
    let dynamic = Dynamic::new(asm, &table)?;
    let plan = Plan::new(asm, resolved, &dynamic)?;
    let mut outputs = outputs(asm, &dynamic, &plan);
    let segments = count_segments(&outputs);
    lay_out(asm, &mut outputs, HEADER + segments * PROGRAM_HEADER);
    let places = Places::new(asm, &outputs);
    let sections = relocate::apply(asm, resolved, &dynamic, &plan, &places)?;
    fill(asm, &mut outputs, &table, &dynamic, &plan, &places)?;
    write(asm, &mut outputs, sections, &table, &places, segments)
}

/// Addresses of everything that other parts refer to.
pub(super) struct Places {
    /// Of each section of the source; 0 for those that are not loaded.
    pub sections: Vec<u64>,
    /// Number of each section's header in the output.
    pub numbers: Vec<u16>,
    pub got: u64,
    pub dynamic: u64,
    /// Number of `.dynamic`.
    pub dynamic_number: u16,
    /// Of common symbols: where `.bss`'s own contents end.
    pub common: u64,
    pub common_number: u16,
}

impl Places {
    fn new(asm: &Assembler, outputs: &[Output]) -> Places {
        let mut sections = vec![0; asm.sections.len()];
        let mut numbers = vec![0; asm.sections.len()];
        for (n, output) in outputs.iter().enumerate() {
            if let Body::Source(section) = output.body {
                sections[section] = output.header.address;
                numbers[section] = n as u16 + 1;
            }
        }
        let find = |name: &str| outputs.iter().position(|output| output.name == name);
        let address = |name: &str| find(name).map_or(0, |n| outputs[n].header.address);
        let number = |name: &str| find(name).map_or(0, |n| n as u16 + 1);
        Places {
            sections,
            numbers,
            got: address(".got"),
            dynamic: address(".dynamic"),
            dynamic_number: number(".dynamic"),
            common: address("COMMON"),
            common_number: number("COMMON"),
        }
    }
}

/// The sections of the output, in order, without addresses.
fn outputs(asm: &Assembler, dynamic: &Dynamic, plan: &Plan) -> Vec<Output> {
    let mut list = Vec::new();
    let made = |name: &str, group, kind, flags, align, entry_size, bytes: Vec<u8>, link| Output {
        name: name.to_owned(),
        group,
        header: SectionHeader { kind, flags, align, entry_size, ..SectionHeader::default() },
        body: Body::Made(bytes),
        link,
    };
    let source = |wanted: &dyn Fn(&crate::section::Section) -> bool, group, list: &mut Vec<Output>| {
        for (n, section) in asm.sections.iter().enumerate().filter(|(_, section)| wanted(section)) {
            list.push(Output {
                name: section.name.to_string(),
                group,
                header: SectionHeader {
                    kind: section.kind,
                    flags: section.flags,
                    align: section.align,
                    entry_size: section.entry_size,
                    ..SectionHeader::default()
                },
                body: Body::Source(n),
                link: "",
            });
        }
    };
    let alloc = |section: &crate::section::Section| section.flags & SHF_ALLOC != 0;
    let readable = |section: &crate::section::Section| {
        alloc(section) && section.flags & (SHF_WRITE | SHF_EXECINSTR) == 0 && !section.is_empty()
    };
    source(&|section| readable(section) && section.kind == SHT_NOTE, Group::ReadOnly, &mut list);
    let ro = Group::ReadOnly;
    list.push(made(".dynsym", ro, SHT_DYNSYM, SHF_ALLOC, 8, SYMBOL, dynamic.symbol_bytes(), ".dynstr"));
    list.push(made(".gnu.hash", ro, SHT_GNU_HASH, SHF_ALLOC, 8, 0, dynamic.gnu_hash(), ".dynsym"));
    list.push(made(".hash", ro, SHT_HASH, SHF_ALLOC, 4, 4, dynamic.hash(), ".dynsym"));
    list.push(made(".dynstr", ro, SHT_STRTAB, SHF_ALLOC, 1, 0, dynamic.strings.clone(), ""));
    if !plan.relocations.is_empty() {
        let bytes = vec![0; plan.relocations.len() * RELA as usize];
        list.push(made(".rela.dyn", ro, SHT_RELA, SHF_ALLOC, 8, RELA, bytes, ".dynsym"));
    }
    source(&|section| readable(section) && section.kind != SHT_NOTE, Group::ReadOnly, &mut list);
    source(
        &|section| alloc(section) && section.is_code() && section.flags & SHF_WRITE == 0,
        Group::Code,
        &mut list,
    );
    let rw = SHF_ALLOC | SHF_WRITE;
    let entries = vec![0; plan.dynamic_entries() * 16];
    list.push(made(".dynamic", Group::Relro, SHT_DYNAMIC, rw, 8, 16, entries, ".dynstr"));
    if !plan.got.is_empty() {
        list.push(made(".got", Group::Relro, SHT_PROGBITS, rw, 8, 0, vec![0; plan.got.len() * 8], ""));
    }
    let writable = |section: &crate::section::Section| {
        alloc(section) && section.flags & SHF_WRITE != 0 && !section.is_empty()
    };
    source(&|section| writable(section) && section.has_contents(), Group::Data, &mut list);
    source(&|section| writable(section) && !section.has_contents(), Group::Data, &mut list);
    if dynamic.common_size > 0 {
        let header = SectionHeader {
            kind: SHT_NOBITS,
            flags: rw,
            align: dynamic.common_align,
            ..SectionHeader::default()
        };
        let body = Body::Zeros(dynamic.common_size);
        list.push(Output { name: "COMMON".into(), group: Group::Data, header, body, link: "" });
    }
    let kept = |section: &crate::section::Section| {
        !alloc(section) && section.flags & SHF_EXCLUDE == 0 && &*section.name != ".note.GNU-stack"
    };
    source(&kept, Group::Rest, &mut list);
    list.push(made(".symtab", Group::Rest, SHT_SYMTAB, 0, 8, SYMBOL, Vec::new(), ".strtab"));
    list.push(made(".shstrtab", Group::Rest, SHT_STRTAB, 0, 1, 0, Vec::new(), ""));
    list.push(made(".strtab", Group::Rest, SHT_STRTAB, 0, 1, 0, Vec::new(), ""));
    list
}

fn size_of(asm: &Assembler, output: &Output) -> u64 {
    match &output.body {
        Body::Source(section) => asm.sections[*section].size(),
        Body::Made(bytes) => bytes.len() as u64,
        Body::Zeros(size) => *size,
    }
}

/// Header, the groups that there are, `.dynamic`, relro, stack, and the notes.
fn count_segments(outputs: &[Output]) -> u64 {
    let has = |group| outputs.iter().any(|output| output.group == group);
    let notes = outputs.iter().any(is_loaded_note);
    5 + u64::from(has(Group::Code))
        + u64::from(has(Group::Relro))
        + u64::from(has(Group::Data))
        + u64::from(notes)
}

fn is_loaded_note(output: &Output) -> bool {
    output.header.kind == SHT_NOTE && output.group == Group::ReadOnly
}

/// Gives the loaded sections addresses and file offsets.
fn lay_out(asm: &Assembler, outputs: &mut [Output], start: u64) {
    let (mut address, mut offset) = (start, start);
    let mut group = Group::ReadOnly;
    for output in outputs.iter_mut().filter(|output| output.group != Group::Rest) {
        if output.group != group {
            if output.group == Group::Data && group == Group::Relro {
                // What is read-only after relocation fills its page.
                address = address.next_multiple_of(PAGE) + offset % PAGE;
            } else {
                address += PAGE;
            }
            group = output.group;
        }
        let align = output.header.align.max(1);
        let aligned = address.next_multiple_of(align);
        // Address and offset stay equal modulo the page.
        offset += aligned - address;
        address = aligned;
        let size = size_of(asm, output);
        output.header.address = address;
        output.header.offset = offset;
        output.header.size = size;
        address += size;
        offset += if output.header.kind == SHT_NOBITS { 0 } else { size };
    }
}

/// Puts the bytes into the sections made here.
fn fill(
    asm: &Assembler,
    outputs: &mut [Output],
    table: &Table,
    dynamic: &Dynamic,
    plan: &Plan,
    places: &Places,
) -> Result<(), String> {
    let at = |name: &str, outputs: &[Output]| {
        outputs.iter().find(|output| output.name == name).map(|output| output.header).unwrap_or_default()
    };
    let entries = dynamic::entries(|name| at(name, outputs), plan);
    let dynsym = dynamic.resolved_bytes(table, places)?;
    let relocations = plan.bytes(asm, dynamic, places)?;
    for output in outputs {
        match (output.name.as_str(), &output.body) {
            (_, Body::Source(_) | Body::Zeros(_)) => {}
            (".dynamic", _) => output.body = Body::Made(entries.clone()),
            (".dynsym", _) => output.body = Body::Made(dynsym.clone()),
            (".rela.dyn", _) => output.body = Body::Made(relocations.clone()),
            _ => {}
        }
    }
    Ok(())
}

fn write(
    asm: &Assembler,
    outputs: &mut [Output],
    sections: Vec<Vec<u8>>,
    table: &Table,
    places: &Places,
    segments: u64,
) -> Result<Vec<u8>, String> {
    let (symbols, strings, locals) = dynamic::full_table(asm, table, places)?;
    let mut names = Strings::default();
    outputs.iter().for_each(|output| names.add(&output.name));
    names.finish();
    let mut out = vec![0; (HEADER + segments * PROGRAM_HEADER) as usize];
    let numbers: Vec<(String, u32)> =
        outputs.iter().enumerate().map(|(n, output)| (output.name.clone(), n as u32 + 1)).collect();
    for output in outputs.iter_mut() {
        let made;
        let bytes: &[u8] = match (output.name.as_str(), &output.body) {
            (".symtab", _) => &symbols,
            (".shstrtab", _) => &names.bytes,
            (".strtab", _) => &strings,
            (_, Body::Source(section)) => &sections[*section],
            (_, Body::Made(bytes)) => {
                made = bytes.clone();
                &made
            }
            (_, Body::Zeros(_)) => &[],
        };
        if output.group == Group::Rest {
            pad(&mut out, output.header.align);
            output.header.offset = out.len() as u64;
            output.header.size = bytes.len() as u64;
        } else if output.header.kind != SHT_NOBITS {
            out.resize(output.header.offset as usize, 0);
        }
        if output.header.kind != SHT_NOBITS {
            out.extend_from_slice(bytes);
        }
        output.header.name = names.offset(&output.name);
        output.header.link = numbers.iter().find(|(name, _)| name == output.link).map_or(0, |(_, n)| *n);
        output.header.info = match output.name.as_str() {
            ".symtab" => locals,
            ".dynsym" => 1,
            _ => 0,
        };
    }
    pad(&mut out, 8);
    let start = out.len() as u64;
    SectionHeader::default().write(&mut out);
    outputs.iter().for_each(|output| output.header.write(&mut out));
    let shstrtab = numbers.iter().find(|(name, _)| name == ".shstrtab").map_or(0, |(_, n)| *n as u16);
    let mut head = Vec::new();
    Header {
        kind: ET_DYN,
        abi_version: asm.settings.version() - 2,
        flags: asm.settings.elf_flags(),
        program_headers: (HEADER, segments as u16),
        section_headers: (start, outputs.len() as u16 + 1),
        names: shstrtab,
    }
    .write(&mut head);
    program_headers(outputs, segments, &mut head);
    out[..head.len()].copy_from_slice(&head);
    Ok(out)
}

fn program_headers(outputs: &[Output], segments: u64, out: &mut Vec<u8>) {
    let mut segment = |kind: u32, flags: u32, at: (u64, u64, u64, u64), align: u64| {
        word(out, kind);
        word(out, flags);
        let (offset, address, file_size, memory_size) = at;
        for value in [offset, address, address, file_size, memory_size, align] {
            long(out, value);
        }
    };
    /// Offset, address, size in the file, size in memory.
    fn span<'a>(outputs: impl Iterator<Item = &'a Output>) -> (u64, u64, u64, u64) {
        let mut at: Option<(u64, u64, u64, u64)> = None;
        for header in outputs.map(|output| output.header) {
            let (offset, address, file, memory) = at.unwrap_or((header.offset, header.address, 0, 0));
            let end = header.address + header.size - address;
            let file = if header.kind == SHT_NOBITS { file } else { end };
            at = Some((offset, address, file, memory.max(end)));
        }
        at.unwrap_or_default()
    }
    let group = |group: Group| outputs.iter().filter(move |output| output.group == group);
    let headers = segments * PROGRAM_HEADER;
    segment(PT_PHDR, 4, (HEADER, HEADER, headers, headers), 8);
    let read_only = span(group(Group::ReadOnly));
    let end = if read_only.3 == 0 { HEADER + headers } else { read_only.1 + read_only.3 };
    segment(PT_LOAD, 4, (0, 0, end, end), PAGE);
    if group(Group::Code).next().is_some() {
        segment(PT_LOAD, 5, span(group(Group::Code)), PAGE);
    }
    let relro = span(group(Group::Relro));
    let padded = relro.3.max((relro.1 + relro.3).next_multiple_of(PAGE) - relro.1);
    segment(PT_LOAD, 6, (relro.0, relro.1, relro.2, padded), PAGE);
    if group(Group::Data).next().is_some() {
        segment(PT_LOAD, 6, span(group(Group::Data)), PAGE);
    }
    let dynamic = span(outputs.iter().filter(|output| output.name == ".dynamic"));
    segment(PT_DYNAMIC, 6, dynamic, 8);
    segment(PT_GNU_RELRO, 4, (relro.0, relro.1, relro.2, padded), 1);
    segment(PT_GNU_STACK, 6, (0, 0, 0, 0), 0);
    if outputs.iter().any(is_loaded_note) {
        segment(PT_NOTE, 4, span(outputs.iter().filter(|output| is_loaded_note(output))), 4);
    }
}
