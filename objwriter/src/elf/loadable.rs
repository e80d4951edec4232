//! `ET_DYN`: what `ld.lld -shared` makes of the one object, laid out as it lays it out, so that distances between sections
//! (which kernel descriptors hold) come out the same.
//!
//! Order: file header, program headers; read-only sections, notes first, with the dynamic symbol table and its hashes
//! among them; code; what is read-only after relocation (`.dynamic`, `.got`); data; zeroed data. Each group begins a page
//! further in memory but directly behind the one before in the file.

use super::dynamic::{self, Dynamic};
use super::format::*;
use super::relocate::{self, Plan};
use super::strings::Strings;
use super::symtab::Table;
use super::{
    Object, SHF_ALLOC, SHF_EXCLUDE, SHF_EXECINSTR, SHF_WRITE, SHT_NOBITS, SHT_NOTE, SHT_PROGBITS, Section,
};
use std::borrow::Cow;

const PAGE: u64 = 0x1000;
/// Headers beyond `0xff00` mean something else; a dozen sections are made here.
const MAX_SECTIONS: usize = 0xff00 - 16;

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
    /// A section of the object.
    Source(usize),
    /// Bytes made here.
    Made(Vec<u8>),
    /// So many zero bytes without room in the file.
    Zeros(u64),
}

struct Output<'a> {
    name: &'a str,
    group: Group,
    header: SectionHeader,
    body: Body,
    /// Name of the section that `sh_link` means.
    link: &'static str,
}

/// A loadable object.
///
/// # Errors
/// What a linker would have to do more: symbols of other objects at a distance, LDS, addresses in read-only memory.
pub fn loadable(object: &Object) -> Result<Vec<u8>, String> {
    if object.sections.len() >= MAX_SECTIONS {
        return Err("too many sections".into());
    }
    let table = Table::new(object, |section| section as u16 + 1);
    let dynamic = Dynamic::new(object, &table)?;
    let plan = Plan::new(object, &dynamic)?;
    let mut outputs = outputs(object, &dynamic, &plan);
    let segments = count_segments(&outputs);
    lay_out(object, &mut outputs, HEADER + segments * PROGRAM_HEADER);
    let places = Places::new(object, &outputs);
    let contents = relocate::apply(object, &dynamic, &plan, &places)?;
    fill(object, &mut outputs, &table, &dynamic, &plan, &places)?;
    let (symbols, strings, locals) = dynamic::full_table(&table, &dynamic, &places);
    for output in &mut outputs {
        match output.name {
            ".symtab" => (output.body, output.header.info) = (Body::Made(symbols.clone()), locals),
            ".strtab" => output.body = Body::Made(strings.clone()),
            ".dynsym" => output.header.info = 1,
            _ => {}
        }
    }
    Ok(write(object, &mut outputs, &contents, segments))
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
    fn new(object: &Object, outputs: &[Output]) -> Places {
        let mut sections = vec![0; object.sections.len()];
        let mut numbers = vec![0; object.sections.len()];
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
fn outputs<'a>(object: &Object<'a>, dynamic: &Dynamic, plan: &Plan) -> Vec<Output<'a>> {
    let mut list = Vec::with_capacity(object.sections.len() + 12);
    let made = |name, group, kind, flags, align, entry_size, bytes: Vec<u8>, link| Output {
        name,
        group,
        header: SectionHeader { kind, flags, align, entry_size, ..SectionHeader::default() },
        body: Body::Made(bytes),
        link,
    };
    let source = |wanted: &dyn Fn(&Section) -> bool, group, list: &mut Vec<Output<'a>>| {
        for (n, section) in object.sections.iter().enumerate().filter(|(_, section)| wanted(section)) {
            let Section { name, kind, flags, align, entry_size, .. } = *section;
            let header = SectionHeader { kind, flags, align, entry_size, ..SectionHeader::default() };
            list.push(Output { name, group, header, body: Body::Source(n), link: "" });
        }
    };
    let is_code = |section: &Section| section.has(SHF_ALLOC | SHF_EXECINSTR) && !section.has(SHF_WRITE);
    let is_read = |section: &Section| {
        section.flags & (SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR) == SHF_ALLOC && !section.is_empty()
    };
    let is_written = |section: &Section| section.has(SHF_ALLOC | SHF_WRITE) && !section.is_empty();
    let ro = Group::ReadOnly;
    source(&|section| is_read(section) && section.kind == SHT_NOTE, ro, &mut list);
    list.push(made(".dynsym", ro, SHT_DYNSYM, SHF_ALLOC, 8, SYMBOL, dynamic.symbol_bytes(), ".dynstr"));
    list.push(made(".gnu.hash", ro, SHT_GNU_HASH, SHF_ALLOC, 8, 0, dynamic.gnu_hash(), ".dynsym"));
    list.push(made(".hash", ro, SHT_HASH, SHF_ALLOC, 4, 4, dynamic.hash(), ".dynsym"));
    list.push(made(".dynstr", ro, SHT_STRTAB, SHF_ALLOC, 1, 0, dynamic.strings.clone(), ""));
    if !plan.relocations.is_empty() {
        let bytes = vec![0; plan.relocations.len() * RELA as usize];
        list.push(made(".rela.dyn", ro, SHT_RELA, SHF_ALLOC, 8, RELA, bytes, ".dynsym"));
    }
    source(&|section| is_read(section) && section.kind != SHT_NOTE, ro, &mut list);
    source(&is_code, Group::Code, &mut list);
    let rw = SHF_ALLOC | SHF_WRITE;
    let entries = vec![0; plan.dynamic_entries() * 16];
    list.push(made(".dynamic", Group::Relro, SHT_DYNAMIC, rw, 8, 16, entries, ".dynstr"));
    if !plan.got.is_empty() {
        list.push(made(".got", Group::Relro, SHT_PROGBITS, rw, 8, 0, vec![0; plan.got.len() * 8], ""));
    }
    source(&|section| is_written(section) && section.has_contents(), Group::Data, &mut list);
    source(&|section| is_written(section) && !section.has_contents(), Group::Data, &mut list);
    if dynamic.common_size > 0 {
        let (kind, align) = (SHT_NOBITS, dynamic.common_align);
        let header = SectionHeader { kind, flags: rw, align, ..SectionHeader::default() };
        let body = Body::Zeros(dynamic.common_size);
        list.push(Output { name: "COMMON", group: Group::Data, header, body, link: "" });
    }
    let is_kept = |section: &Section| {
        section.flags & (SHF_ALLOC | SHF_EXCLUDE) == 0 && section.name != ".note.GNU-stack"
    };
    source(&is_kept, Group::Rest, &mut list);
    list.push(made(".symtab", Group::Rest, SHT_SYMTAB, 0, 8, SYMBOL, Vec::new(), ".strtab"));
    list.push(made(".shstrtab", Group::Rest, SHT_STRTAB, 0, 1, 0, Vec::new(), ""));
    list.push(made(".strtab", Group::Rest, SHT_STRTAB, 0, 1, 0, Vec::new(), ""));
    list
}

fn size_of(object: &Object, output: &Output) -> u64 {
    match &output.body {
        Body::Source(section) => object.sections[*section].size(),
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
fn lay_out(object: &Object, outputs: &mut [Output], start: u64) {
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
        let size = size_of(object, output);
        output.header.address = address;
        output.header.offset = offset;
        output.header.size = size;
        address += size;
        offset += if output.header.kind == SHT_NOBITS { 0 } else { size };
    }
}

/// Puts the bytes that depend on addresses into the sections made here.
fn fill(
    object: &Object,
    outputs: &mut [Output],
    table: &Table,
    dynamic: &Dynamic,
    plan: &Plan,
    places: &Places,
) -> Result<(), String> {
    let find = |name: &str| outputs.iter().find(|output| output.name == name);
    let entries =
        dynamic::entries(|name| find(name).map_or(Default::default(), |output| output.header), plan);
    let dynsym = dynamic.resolved_bytes(table, places);
    let relocations = plan.bytes(object, dynamic, places)?;
    for (name, bytes) in [(".dynamic", entries), (".dynsym", dynsym), (".rela.dyn", relocations)] {
        let made = |output: &&mut Output| output.name == name && matches!(output.body, Body::Made(_));
        if let Some(output) = outputs.iter_mut().find(made) {
            output.body = Body::Made(bytes);
        }
    }
    Ok(())
}

fn write(object: &Object, outputs: &mut [Output], contents: &[Cow<[u8]>], segments: u64) -> Vec<u8> {
    let mut names = Strings::default();
    outputs.iter().for_each(|output| names.add(output.name));
    names.finish();
    let number = |outputs: &[Output], name: &str| {
        outputs.iter().position(|output| output.name == name).map_or(0, |n| n as u16 + 1)
    };
    let mut out = vec![0; (HEADER + segments * PROGRAM_HEADER) as usize];
    for n in 0..outputs.len() {
        // Only tables that are made here have a link.
        let link = if outputs[n].link.is_empty() { 0 } else { number(outputs, outputs[n].link) };
        let output = &mut outputs[n];
        let bytes: &[u8] = match (&output.body, output.name) {
            (Body::Source(section), _) => &contents[*section],
            (Body::Made(_), ".shstrtab") => &names.bytes,
            (Body::Made(bytes), _) => bytes,
            (Body::Zeros(_), _) => &[],
        };
        let header = &mut output.header;
        if output.group == Group::Rest {
            pad(&mut out, header.align);
            header.offset = out.len() as u64;
            header.size = bytes.len() as u64;
        } else if header.kind != SHT_NOBITS {
            out.resize(header.offset as usize, 0);
        }
        if header.kind != SHT_NOBITS {
            out.extend_from_slice(bytes);
        }
        header.name = names.offset(output.name);
        header.link = link.into();
    }
    pad(&mut out, 8);
    let start = out.len() as u64;
    SectionHeader::default().write(&mut out);
    outputs.iter().for_each(|output| output.header.write(&mut out));
    let mut head = Vec::with_capacity((HEADER + segments * PROGRAM_HEADER) as usize);
    Header {
        kind: ET_DYN,
        abi: [object.identity.os_abi, object.identity.abi_version],
        flags: object.identity.flags,
        program_headers: (HEADER, segments as u16),
        section_headers: (start, outputs.len() as u16 + 1),
        names: number(outputs, ".shstrtab"),
    }
    .write(&mut head);
    program_headers(outputs, segments, &mut head);
    out[..head.len()].copy_from_slice(&head);
    out
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
    fn span<'o, 'a: 'o>(outputs: impl Iterator<Item = &'o Output<'a>>) -> (u64, u64, u64, u64) {
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
