//! Writes a loadable file (`ET_DYN`) from a single object, with the same layout as `ld.lld -shared`. With the
//! same layout, the distances between sections are the same too, which kernel descriptors contain.
//!
//! The order is: file header, program headers; read-only sections (notes first), including the dynamic symbol
//! table and its hash tables; code; sections that are read-only after relocation (`.dynamic`, `.got`); data;
//! zeroed data. In memory, each group begins on a new page; in the file, groups are contiguous.

use super::dynamic::{self, Dynamic, Full};
use super::format::*;
use super::relocate::{self, Plan};
use super::strings::Strings;
use super::symtab::Table;
use super::{
    Object, SHF_ALLOC, SHF_EXCLUDE, SHF_EXECINSTR, SHF_GROUP, SHF_LINK_ORDER, SHF_WRITE, SHT_NOBITS,
    SHT_NOTE, SHT_PROGBITS, Section,
};
use bumpalo::{Bump, collections::Vec as List};

const PAGE: u64 = 0x1000;
/// Largest number of sections of an object. Section numbers from `0xff00` on have special meanings in ELF,
/// and this module adds about a dozen sections of its own.
const MAX_SECTIONS: usize = 0xff00 - 16;

/// Groups of sections that share a segment, in the order of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    ReadOnly,
    Code,
    Relro,
    Data,
    /// Sections that are not loaded.
    Rest,
}

/// Contents of an output section.
#[derive(Clone, Copy)]
enum Body {
    /// Section of the object.
    Source(usize),
    /// Table that is generated here.
    Made(Made),
    /// This many zero bytes, which take no space in the file.
    Zeros(u64),
}

/// Tables that are generated here, in the order of the file.
#[derive(Clone, Copy)]
enum Made {
    DynSym,
    GnuHash,
    Hash,
    DynStr,
    Rela,
    Dynamic,
    Got,
    SymTab,
    ShStrTab,
    StrTab,
}

struct Output<'a> {
    name: &'a str,
    group: Group,
    header: SectionHeader,
    body: Body,
    /// Name of the section to which `sh_link` refers.
    link: &'static str,
}

/// Inputs from which the whole file is made.
struct Parts<'a> {
    object: &'a Object<'a>,
    dynamic: Dynamic<'a>,
    plan: Plan<'a>,
    bump: &'a Bump,
}

/// Returns the loadable file of an object.
///
/// # Errors
/// Returns an error if the object needs a linker: it has branches to symbols of other objects, LDS symbols,
/// or addresses in read-only memory.
pub fn loadable(object: &Object) -> Result<Vec<u8>, String> {
    loadable_in(object, &Bump::new())
}

/// Returns the loadable file of an object as [`loadable`] does, and keeps intermediate data in the arena
/// `bump`.
///
/// # Errors
/// Returns an error if the object needs a linker, as [`loadable`] does.
pub fn loadable_in<'a>(object: &'a Object<'a>, bump: &'a Bump) -> Result<Vec<u8>, String> {
    if object.sections.len() >= MAX_SECTIONS {
        return Err("too many sections".into());
    }
    let table = Table::new(object, |section| section as u16 + 1, |_| 0, bump);
    let dynamic = Dynamic::new(object, &table, bump)?;
    let plan = Plan::new(object, &dynamic, bump)?;
    let parts = Parts { object, dynamic, plan, bump };
    let mut outputs = outputs(&parts);
    let segments = count_segments(&outputs);
    lay_out(&parts, &mut outputs, HEADER + segments * PROGRAM_HEADER);
    let places = Places::new(object, &outputs, bump);
    let full = Full::new(&table, &parts.dynamic, &places, bump);
    for output in outputs.iter_mut() {
        match output.body {
            Body::Made(Made::SymTab) => output.header.info = full.locals,
            Body::Made(Made::DynSym) => output.header.info = 1,
            _ => {}
        }
    }
    let mut out = write(&parts, &mut outputs, &places, &full, segments)?;
    relocate_all(&parts, &outputs, &places, &mut out)?;
    Ok(out)
}

/// Addresses to which other parts refer.
pub(super) struct Places<'a> {
    /// For each section of the input object, its address in memory; 0 for sections that are not loaded into
    /// memory.
    pub sections: List<'a, u64>,
    /// For each section of the input object, the number of its header in the output; 0 for sections that are
    /// not in the output.
    pub numbers: List<'a, u16>,
    pub got: u64,
    pub dynamic: u64,
    /// Number of the header of `.dynamic`.
    pub dynamic_number: u16,
    /// Address of the block of common symbols, which follows the contents of `.bss`.
    pub common: u64,
    pub common_number: u16,
}

impl<'a> Places<'a> {
    fn new(object: &Object, outputs: &[Output], bump: &'a Bump) -> Places<'a> {
        let mut sections = bumpalo::vec![in bump; 0; object.sections.len()];
        let mut numbers = bumpalo::vec![in bump; 0; object.sections.len()];
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

#[inline(never)]
fn add<'a>(list: &mut List<'a, Output<'a>>, output: Output<'a>) {
    list.push(output);
}

/// Returns the sections of the output file in their order. Their addresses are assigned later.
fn outputs<'a>(parts: &Parts<'a>) -> List<'a, Output<'a>> {
    let Parts { object, dynamic, plan, bump } = parts;
    let mut list = List::with_capacity_in(object.sections.len() + 12, bump);
    let made = |name, group, kind, flags, align, entry_size, made, link| Output {
        name,
        group,
        header: SectionHeader { kind, flags, align, entry_size, ..SectionHeader::default() },
        body: Body::Made(made),
        link,
    };
    let source = |wanted: &dyn Fn(&Section) -> bool, group, list: &mut List<'a, Output<'a>>| {
        for (n, section) in object.sections.iter().enumerate().filter(|(_, section)| wanted(section)) {
            let Section { name, kind, flags, align, entry_size, .. } = *section;
            // These flags are meant for linkers only.
            let flags = flags & !(SHF_GROUP | SHF_LINK_ORDER);
            let header = SectionHeader { kind, flags, align, entry_size, ..SectionHeader::default() };
            add(list, Output { name, group, header, body: Body::Source(n), link: "" });
        }
    };
    let is_code = |section: &Section| section.has(SHF_ALLOC | SHF_EXECINSTR) && !section.has(SHF_WRITE);
    let is_read = |section: &Section| {
        section.flags & (SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR) == SHF_ALLOC && !section.is_empty()
    };
    let is_written = |section: &Section| section.has(SHF_ALLOC | SHF_WRITE) && !section.is_empty();
    let ro = Group::ReadOnly;
    source(&|section| is_read(section) && section.kind == SHT_NOTE, ro, &mut list);
    add(&mut list, made(".dynsym", ro, SHT_DYNSYM, SHF_ALLOC, 8, SYMBOL, Made::DynSym, ".dynstr"));
    add(&mut list, made(".gnu.hash", ro, SHT_GNU_HASH, SHF_ALLOC, 8, 0, Made::GnuHash, ".dynsym"));
    add(&mut list, made(".hash", ro, SHT_HASH, SHF_ALLOC, 4, 4, Made::Hash, ".dynsym"));
    add(&mut list, made(".dynstr", ro, SHT_STRTAB, SHF_ALLOC, 1, 0, Made::DynStr, ""));
    if !plan.relocations.is_empty() {
        add(&mut list, made(".rela.dyn", ro, SHT_RELA, SHF_ALLOC, 8, RELA, Made::Rela, ".dynsym"));
    }
    source(&|section| is_read(section) && section.kind != SHT_NOTE, ro, &mut list);
    source(&is_code, Group::Code, &mut list);
    let rw = SHF_ALLOC | SHF_WRITE;
    add(&mut list, made(".dynamic", Group::Relro, SHT_DYNAMIC, rw, 8, 16, Made::Dynamic, ".dynstr"));
    if !plan.got.is_empty() {
        add(&mut list, made(".got", Group::Relro, SHT_PROGBITS, rw, 8, 0, Made::Got, ""));
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
    add(&mut list, made(".symtab", Group::Rest, SHT_SYMTAB, 0, 8, SYMBOL, Made::SymTab, ".strtab"));
    add(&mut list, made(".shstrtab", Group::Rest, SHT_STRTAB, 0, 1, 0, Made::ShStrTab, ""));
    add(&mut list, made(".strtab", Group::Rest, SHT_STRTAB, 0, 1, 0, Made::StrTab, ""));
    list
}

/// Returns the size in bytes of an output section that is loaded into memory.
fn size_of(parts: &Parts, output: &Output) -> u64 {
    let Parts { object, dynamic, plan, .. } = parts;
    match output.body {
        Body::Source(section) => object.sections[section].size(),
        Body::Zeros(size) => size,
        Body::Made(Made::DynSym) => dynamic.symbols_size(),
        Body::Made(Made::GnuHash) => dynamic.gnu_hash_size(),
        Body::Made(Made::Hash) => dynamic.hash_size(),
        Body::Made(Made::DynStr) => dynamic.names,
        Body::Made(Made::Rela) => plan.size(),
        Body::Made(Made::Dynamic) => plan.dynamic_entries() as u64 * 16,
        Body::Made(Made::Got) => plan.got.len() as u64 * 8,
        Body::Made(Made::SymTab | Made::ShStrTab | Made::StrTab) => 0,
    }
}

/// Returns the number of program headers. There is one for the headers themselves, one for each group of
/// sections that is present, and one each for `.dynamic`, for the memory that is read-only after relocation,
/// for the stack, and for notes.
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

/// Assigns addresses and file offsets to the loaded sections.
fn lay_out(parts: &Parts, outputs: &mut [Output], start: u64) {
    let (mut address, mut offset) = (start, start);
    let mut group = Group::ReadOnly;
    for output in outputs.iter_mut().filter(|output| output.group != Group::Rest) {
        if output.group != group {
            if output.group == Group::Data && group == Group::Relro {
                // The group that is read-only after relocation is padded to the end of its last page, because
                // loaders protect whole pages.
                address = address.next_multiple_of(PAGE) + offset % PAGE;
            } else {
                // The group begins on the next page, and its offset within the page is the same in memory as
                // in the file. If the address is at a page boundary already, no page is skipped.
                address = address.next_multiple_of(PAGE) + address % PAGE;
            }
            group = output.group;
        }
        let align = output.header.align.max(1);
        let aligned = address.next_multiple_of(align);
        // Address and file offset stay equal modulo the page size.
        offset += aligned - address;
        address = aligned;
        let size = size_of(parts, output);
        output.header.address = address;
        output.header.offset = offset;
        output.header.size = size;
        address += size;
        offset += if output.header.kind == SHT_NOBITS { 0 } else { size };
    }
}

/// Writes the file. Relocations are applied afterwards.
fn write(
    parts: &Parts,
    outputs: &mut [Output],
    places: &Places,
    full: &Full,
    segments: u64,
) -> Result<Vec<u8>, String> {
    let mut names = Strings::new(outputs.len(), parts.bump);
    outputs.iter().for_each(|output| names.add(output.name));
    names.finish();
    let number = |outputs: &[Output], name: &str| {
        outputs.iter().position(|output| output.name == name).map_or(0, |n| n as u16 + 1)
    };
    let mut out = Vec::with_capacity(expected_size(parts, outputs, full));
    out.resize((HEADER + segments * PROGRAM_HEADER) as usize, 0);
    for n in 0..outputs.len() {
        // Only generated tables have a link.
        let link = if outputs[n].link.is_empty() { 0 } else { number(outputs, outputs[n].link) };
        let unloaded = outputs[n].group == Group::Rest;
        let nothing = outputs[n].header.kind == SHT_NOBITS;
        if unloaded {
            pad(&mut out, outputs[n].header.align);
        } else if !nothing {
            out.resize(outputs[n].header.offset as usize, 0);
        }
        let start = out.len();
        if !nothing {
            contents(parts, outputs, outputs[n].body, places, full, &names, &mut out)?;
        }
        let header = &mut outputs[n].header;
        if unloaded {
            header.offset = start as u64;
            header.size = (out.len() - start) as u64;
        }
        header.name = names.offset(outputs[n].name);
        outputs[n].header.link = link.into();
    }
    pad(&mut out, 8);
    let start = out.len() as u64;
    SectionHeader::default().write(&mut out);
    outputs.iter().for_each(|output| output.header.write(&mut out));
    let mut head = std::mem::take(&mut out);
    // What the file header and the program headers contain is known only now. So they are written at the end
    // of the buffer and then moved to its beginning.
    let end = head.len();
    Header {
        kind: ET_DYN,
        abi: [parts.object.identity.os_abi, parts.object.identity.abi_version],
        flags: parts.object.identity.flags,
        program_headers: (HEADER, segments as u16),
        section_headers: (start, outputs.len() as u16 + 1),
        names: number(outputs, ".shstrtab"),
    }
    .write(&mut head);
    program_headers(outputs, segments, &mut head);
    head.copy_within(end.., 0);
    head.truncate(end);
    Ok(head)
}

/// Returns an upper bound of the file's size, so that the buffer is allocated only once.
fn expected_size(parts: &Parts, outputs: &[Output], full: &Full) -> usize {
    let in_file = outputs.iter().filter(|output| output.header.kind != SHT_NOBITS);
    let loaded = in_file.map(|output| output.header.offset + output.header.size).max().unwrap_or(0);
    let unloaded = |output: &Output| match output.body {
        Body::Source(section) if output.group == Group::Rest => parts.object.sections[section].data.len(),
        _ => 0,
    };
    // An allowance for the names, padding and section headers of the output. Section headers count twice,
    // because some of them are in the buffer twice for a short time.
    let each = |output: &Output| unloaded(output) + output.name.len() + 16 + 2 * SECTION_HEADER as usize;
    let symbols = full.size();
    loaded as usize + outputs.iter().map(each).sum::<usize>() + symbols + 16 * PROGRAM_HEADER as usize
}

/// Appends the contents of an output section.
fn contents(
    parts: &Parts,
    outputs: &[Output],
    body: Body,
    places: &Places,
    full: &Full,
    names: &Strings,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    let Parts { object, dynamic, plan, .. } = parts;
    let header_of = |name: &str| {
        outputs
            .iter()
            .find(|output| output.name == name)
            .map_or(SectionHeader::default(), |output| output.header)
    };
    match body {
        Body::Source(section) => out.extend_from_slice(&object.sections[section].data),
        Body::Zeros(_) => {}
        Body::Made(Made::DynSym) => dynamic.write_symbols(places, out),
        Body::Made(Made::GnuHash) => dynamic.write_gnu_hash(out),
        Body::Made(Made::Hash) => dynamic.write_hash(out),
        Body::Made(Made::DynStr) => dynamic.write_names(out),
        Body::Made(Made::Rela) => plan.write(object, dynamic, places, out)?,
        Body::Made(Made::Dynamic) => dynamic::entries(header_of, plan, |tag, value| {
            long(out, tag);
            long(out, value);
        }),
        Body::Made(Made::Got) => out.resize(out.len() + plan.got.len() * 8, 0),
        Body::Made(Made::SymTab) => full.write(out),
        Body::Made(Made::ShStrTab) => out.extend_from_slice(&names.bytes),
        Body::Made(Made::StrTab) => out.extend_from_slice(&full.strings.bytes),
    }
    Ok(())
}

/// Applies the relocations to the sections in the file.
fn relocate_all(parts: &Parts, outputs: &[Output], places: &Places, out: &mut [u8]) -> Result<(), String> {
    let Parts { object, dynamic, plan, .. } = parts;
    for (n, section) in object.sections.iter().enumerate() {
        let output = usize::from(places.numbers[n]).checked_sub(1).map(|n| &outputs[n].header);
        let output = output.filter(|header| header.kind != SHT_NOBITS);
        for relocation in &section.relocations {
            let contents = output.map(|header| &mut out[header.offset as usize..][..section.data.len()]);
            relocate::apply(object, dynamic, plan, places, n, relocation, contents)?;
        }
    }
    Ok(())
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
    /// Returns the extent of consecutive output sections: their offset in the file, address, size in the
    /// file, and size in memory.
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
