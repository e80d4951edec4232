//! `ET_REL`: what an assembler makes of [`crate::asm`]'s text.

use super::{Parts, container, file_header, reserve_symbols, write_symbols, writer};
use crate::image::{Image, Reference, Section, Width};
use crate::{EmitError, Program};
use object::elf;
use object::write::StringId;
use object::write::elf::{Rel, SectionIndex, Writer};

const R_AMDGPU_REL64: u32 = 5;
const R_AMDGPU_REL32_LO: u32 = 10;
const R_AMDGPU_REL32_HI: u32 = 11;

/// The relocations of one section.
struct Table {
    section: Section,
    name: StringId,
    relocations: Vec<Rel>,
    offset: u64,
}

/// A relocatable object.
pub fn relocatable(program: &Program) -> Result<Vec<u8>, EmitError> {
    let image = Image::new(program)?;
    let mut out = Vec::new();
    let mut writer = writer(&mut out);
    let mut parts = Parts::new();
    writer.reserve_null_section_index();
    parts.text.reserve_index(&mut writer);
    parts.rodata.reserve_index(&mut writer);
    if !image.data.is_empty() {
        parts.data.reserve_index(&mut writer);
    }
    parts.note.reserve_index(&mut writer);
    let mut tables = reserve_tables(&mut writer, &image);
    let symtab = writer.reserve_symtab_section_index();
    writer.reserve_shstrtab_section_index();
    writer.reserve_strtab_section_index();
    let names = reserve_symbols(&mut writer, &image, &parts);

    writer.reserve_file_header();
    parts.text.reserve(&mut writer, &image.text, false);
    parts.rodata.reserve(&mut writer, &image.rodata, false);
    parts.data.reserve(&mut writer, &image.data, false);
    parts.note.reserve(&mut writer, &image.note, false);
    for table in &mut tables {
        table.offset = writer.reserve_relocations(table.relocations.len(), true);
    }
    super::reserve_tail(&mut writer)?;

    writer.write_file_header(&file_header(program, elf::ET_REL)).map_err(container)?;
    parts.text.write(&mut writer, &image.text);
    parts.rodata.write(&mut writer, &image.rodata);
    parts.data.write(&mut writer, &image.data);
    parts.note.write(&mut writer, &image.note);
    for table in &tables {
        writer.write_align_relocation();
        table.relocations.iter().for_each(|relocation| writer.write_relocation(true, relocation));
    }
    write_symbols(&mut writer, &image, &parts, &names);
    writer.write_shstrtab();
    writer.write_strtab();
    write_section_headers(&mut writer, &parts, &tables, symtab);
    Ok(out)
}

/// Reserves a section for the relocations of each section that has any.
fn reserve_tables(writer: &mut Writer, image: &Image) -> Vec<Table> {
    let sections: [(Section, &[u8]); 2] =
        [(Section::Text, b".rela.text"), (Section::Rodata, b".rela.rodata")];
    let mut tables = Vec::new();
    for (section, name) in sections {
        let of_section = image.references.iter().filter(|reference| reference.section == section);
        let relocations: Vec<Rel> = of_section.map(relocation).collect();
        if !relocations.is_empty() {
            writer.reserve_section_index();
            tables.push(Table { section, name: writer.add_section_name(name), relocations, offset: 0 });
        }
    }
    tables
}

fn relocation(reference: &Reference) -> Rel {
    Rel {
        r_offset: reference.offset,
        // Symbol 0 is the null symbol.
        r_sym: reference.symbol as u32 + 1,
        r_type: elf::RelocationType(match reference.width {
            Width::Low32 => R_AMDGPU_REL32_LO,
            Width::High32 => R_AMDGPU_REL32_HI,
            Width::Full64 => R_AMDGPU_REL64,
        }),
        r_addend: reference.addend,
    }
}

fn write_section_headers(writer: &mut Writer, parts: &Parts, tables: &[Table], symtab: SectionIndex) {
    writer.write_null_section_header();
    parts.text.write_header(writer);
    parts.rodata.write_header(writer);
    parts.data.write_header(writer);
    parts.note.write_header(writer);
    for Table { section, name, relocations, offset } in tables {
        let index = parts.of(*section).index;
        writer.write_relocation_section_header(*name, index, symtab, *offset, relocations.len(), true);
    }
    super::write_tail_headers(writer);
}
