//! `ET_DYN`: what `ld.lld -shared` makes of a relocatable object, written directly.

use super::{Extent, PAGE, Parts, container, file_header, reserve_symbols, write_symbols, writer};
use crate::image::{Image, Reference, Width};
use crate::{EmitError, Program};
use object::elf;
use object::write::StringId;
use object::write::elf::{ProgramHeader, Writer};

const SEGMENTS: u32 = 7;
const PROGRAM_HEADER: u64 = 56;
const FILE_HEADER: u64 = 64;
const DYNAMIC_ENTRIES: usize = 6;
const DYNAMIC_ENTRY: u64 = 16;
const SYMBOL_ENTRY: u64 = 24;

/// File offsets of the tables a dynamic loader reads. Those of the read-only segment are addresses too.
struct Dynamic {
    dynsym: u64,
    hash: u64,
    dynstr: u64,
    /// Where the read-only segment ends.
    headers_end: u64,
    section: Extent,
}

/// A loadable code object.
pub fn loadable(program: &Program) -> Result<Vec<u8>, EmitError> {
    let mut image = Image::new(program)?;
    let mut out = Vec::new();
    // Names outlive the patching of the contents.
    let named = Image { symbols: image.symbols.clone(), ..Image::default() };
    let mut writer = writer(&mut out);
    let mut parts = Parts::new();
    reserve_indices(&mut writer, &mut parts, &image);
    let names = reserve_symbols(&mut writer, &named, &parts);
    let dynamic_names = reserve_dynamic_symbols(&mut writer, &named);
    let dynamic = reserve_ranges(&mut writer, &mut parts, &image)?;
    resolve(&mut image, &parts);

    writer.write_file_header(&file_header(program, elf::ET_DYN)).map_err(container)?;
    write_program_headers(&mut writer, &parts, &dynamic);
    parts.note.write(&mut writer, &image.note);
    write_dynamic_symbols(&mut writer, &image, &parts, &dynamic_names);
    parts.rodata.write(&mut writer, &image.rodata);
    parts.text.write(&mut writer, &image.text);
    parts.data.write(&mut writer, &image.data);
    write_dynamic_section(&mut writer, &dynamic)?;
    write_symbols(&mut writer, &image, &parts, &names);
    writer.write_shstrtab();
    writer.write_strtab();
    write_section_headers(&mut writer, &parts, &dynamic);
    Ok(out)
}

fn reserve_indices(writer: &mut Writer, parts: &mut Parts, image: &Image) {
    writer.reserve_null_section_index();
    parts.note.reserve_index(writer);
    writer.reserve_dynsym_section_index();
    writer.reserve_hash_section_index();
    writer.reserve_dynstr_section_index();
    parts.rodata.reserve_index(writer);
    parts.text.reserve_index(writer);
    if !image.data.is_empty() {
        parts.data.reserve_index(writer);
    }
    writer.reserve_dynamic_section_index();
    writer.reserve_symtab_section_index();
    writer.reserve_shstrtab_section_index();
    writer.reserve_strtab_section_index();
}

fn reserve_dynamic_symbols<'a>(writer: &mut Writer<'a>, image: &'a Image) -> Vec<StringId> {
    writer.reserve_null_dynamic_symbol_index();
    let reserve = |symbol: &'a crate::image::Symbol| {
        writer.reserve_dynamic_symbol_index();
        writer.add_dynamic_string(symbol.name.as_bytes())
    };
    image.symbols.iter().map(reserve).collect()
}

/// Lays out the file.
fn reserve_ranges(writer: &mut Writer, parts: &mut Parts, image: &Image) -> Result<Dynamic, EmitError> {
    let count = writer.dynamic_symbol_count();
    writer.reserve_file_header();
    writer.reserve_program_headers(SEGMENTS);
    parts.note.reserve(writer, &image.note, true);
    let dynsym = writer.reserve_dynsym();
    let hash = writer.reserve_hash(count, count);
    let dynstr = writer.reserve_dynstr().map_err(container)?;
    parts.rodata.reserve(writer, &image.rodata, true);
    let headers_end = writer.reserved_len();
    parts.text.reserve(writer, &image.text, true);
    parts.data.reserve(writer, &image.data, true);
    let offset = writer.reserve_dynamic(DYNAMIC_ENTRIES);
    let size = DYNAMIC_ENTRIES as u64 * DYNAMIC_ENTRY;
    let section = Extent { offset, address: offset + parts.data.shift, size };
    super::reserve_tail(writer)?;
    Ok(Dynamic { dynsym, hash, dynstr, headers_end, section })
}

/// Fills in every distance, now that addresses are known.
fn resolve(image: &mut Image, parts: &Parts) {
    for n in 0..image.references.len() {
        let Reference { section, offset, symbol, addend, width } = image.references[n];
        let target = &image.symbols[symbol];
        let to = parts.of(target.section).at.address + target.offset;
        let from = parts.of(section).at.address + offset;
        let distance = to as i64 + addend - from as i64;
        let at = offset as usize;
        let bytes = image.section_mut(section);
        match width {
            Width::Low32 => bytes[at..at + 4].copy_from_slice(&(distance as u32).to_le_bytes()),
            Width::High32 => bytes[at..at + 4].copy_from_slice(&((distance >> 32) as u32).to_le_bytes()),
            Width::Full64 => bytes[at..at + 8].copy_from_slice(&distance.to_le_bytes()),
        }
    }
}

fn write_program_headers(writer: &mut Writer, parts: &Parts, dynamic: &Dynamic) {
    let headers =
        Extent { offset: FILE_HEADER, address: FILE_HEADER, size: u64::from(SEGMENTS) * PROGRAM_HEADER };
    let read_only = Extent { offset: 0, address: 0, size: dynamic.headers_end };
    let end = dynamic.section.offset + dynamic.section.size;
    let writable = Extent { size: end - parts.data.at.offset, ..parts.data.at };
    let segments = [
        (elf::PT_PHDR, elf::PF_R, headers, 8),
        (elf::PT_LOAD, elf::PF_R, read_only, PAGE),
        (elf::PT_LOAD, elf::PF_R | elf::PF_X, parts.text.at, PAGE),
        (elf::PT_LOAD, elf::PF_R | elf::PF_W, writable, PAGE),
        (elf::PT_DYNAMIC, elf::PF_R | elf::PF_W, dynamic.section, 8),
        (elf::PT_GNU_STACK, elf::PF_R | elf::PF_W, Extent::default(), 0),
        (elf::PT_NOTE, elf::PF_R, parts.note.at, 4),
    ];
    debug_assert_eq!(segments.len(), SEGMENTS as usize);
    writer.write_align_program_headers();
    for (p_type, p_flags, at, p_align) in segments {
        writer.write_program_header(&ProgramHeader {
            p_type,
            p_flags,
            p_offset: at.offset,
            p_vaddr: at.address,
            p_paddr: at.address,
            p_filesz: at.size,
            p_memsz: at.size,
            p_align,
        });
    }
}

fn write_dynamic_symbols(writer: &mut Writer, image: &Image, parts: &Parts, names: &[StringId]) {
    writer.write_null_dynamic_symbol();
    for (symbol, &name) in image.symbols.iter().zip(names) {
        let name = writer.dynamic_string_offset(Some(name));
        writer.write_dynamic_symbol(&parts.symbol(symbol, name));
    }
    let count = image.symbols.len() as u32 + 1;
    writer.write_hash(count, count, |n| {
        let symbol = image.symbols.get(n.checked_sub(1)? as usize)?;
        Some(elf::hash(symbol.name.as_bytes()))
    });
    writer.write_dynstr();
}

fn write_dynamic_section(writer: &mut Writer, dynamic: &Dynamic) -> Result<(), EmitError> {
    writer.write_align_dynamic();
    let entries = [
        (elf::DT_SYMTAB, dynamic.dynsym),
        (elf::DT_SYMENT, SYMBOL_ENTRY),
        (elf::DT_STRTAB, dynamic.dynstr),
        (elf::DT_STRSZ, u64::from(writer.dynstr_len())),
        (elf::DT_HASH, dynamic.hash),
        (elf::DT_NULL, 0),
    ];
    for (tag, value) in entries {
        writer.write_dynamic(tag, value).map_err(container)?;
    }
    Ok(())
}

fn write_section_headers(writer: &mut Writer, parts: &Parts, dynamic: &Dynamic) {
    writer.write_null_section_header();
    parts.note.write_header(writer);
    writer.write_dynsym_section_header(dynamic.dynsym, 1);
    writer.write_hash_section_header(dynamic.hash);
    writer.write_dynstr_section_header(dynamic.dynstr);
    parts.rodata.write_header(writer);
    parts.text.write_header(writer);
    parts.data.write_header(writer);
    writer.write_dynamic_section_header(dynamic.section.address);
    super::write_tail_headers(writer);
}
