//! Report about a code object as text for people.

use super::{display_name, kernel, pipeline, role, section_name};
use crate::config;
use crate::descriptor::{Descriptor, Unit, explain, fields_by_place};
use crate::elf::CodeObject;
use crate::identity::Identity;
use crate::kernel_code::{self, KEYS, KernelCode};
use crate::names;
use crate::note::{self, Meaning, Note};
use isa::Target;
use object::elf::SHT_NOTE;
use palmeta::pairs::Key;
use std::fmt::Write;

/// Returns the report as text. `target` is the processor for which the code is read. If it is not given, the
/// processor in the header is used.
pub fn text(object: &CodeObject<'_>, name: &str, target: Option<&'static Target>) -> String {
    let identity = Identity::of_object(object);
    let target = target.or(identity.target);
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = headline(object, &identity, name, &mut out);
    let _ = header(object, &identity, &mut out);
    let _ = segments(object, &mut out);
    let _ = sections(object, &mut out);
    let _ = notes(object, &mut out);
    for descriptor in object.descriptors() {
        let _ = kernel_descriptor(object, &descriptor, target, &mut out);
    }
    for header in object.kernel_codes().filter(|_| identity.has_kernel_code()) {
        let _ = kernel_header(object, &header, &mut out);
    }
    let _ = config(object, target, &mut out);
    let _ = pipeline::text(object, target, &mut out);
    for (name, text) in object.texts() {
        let _ = writeln!(out, "\nText in {name}");
        text.lines().for_each(|line| out.extend(["  ", line, "\n"]));
    }
    let _ = symbols(object, &mut out);
    let _ = relocations(object, &mut out);
    if !object.problems.is_empty() {
        out.push_str("\nProblems\n");
        for problem in &object.problems {
            let _ = writeln!(out, "  {problem}");
        }
    }
    out
}

type Done = std::fmt::Result;

fn headline(object: &CodeObject<'_>, identity: &Identity, name: &str, out: &mut String) -> Done {
    let version = identity.version.map_or_else(String::new, |version| format!(" V{version}"));
    let processor =
        identity.processor().map_or_else(|| format!("processor {:#x}", identity.mach), str::to_owned);
    writeln!(out, "{name}: AMD GPU code object{version} for {processor}, {}", role(object))
}

fn header(object: &CodeObject<'_>, identity: &Identity, out: &mut String) -> Done {
    let header = &object.header;
    let processor = identity.processor().unwrap_or("unknown");
    writeln!(out, "\nHeader")?;
    writeln!(out, "  target id    {}", identity.target_id(processor))?;
    writeln!(out, "  type         {} ({})", names::file_type(header.file_type), role(object))?;
    writeln!(out, "  os abi       {} ({:#x})", identity.os_abi, header.os_abi)?;
    write!(out, "  abi version  {}", header.abi_version)?;
    match identity.version {
        Some(version) => writeln!(out, " (code object V{version})")?,
        None => writeln!(out)?,
    }
    writeln!(out, "  entry        {:#x}", header.entry)?;
    writeln!(out, "  flags        {:#010x}", header.flags)?;
    writeln!(out, "    mach       {:#04x} {processor}", identity.mach)?;
    writeln!(out, "    xnack      {}", identity.xnack.name())?;
    writeln!(out, "    sramecc    {}", identity.sramecc.name())?;
    if identity.generic_version != 0 {
        writeln!(out, "    generic    version {}", identity.generic_version)?;
    }
    if identity.unknown_flags != 0 {
        writeln!(out, "    unknown    {:#x}", identity.unknown_flags)?;
    }
    Ok(())
}

fn segments(object: &CodeObject<'_>, out: &mut String) -> Done {
    if object.segments.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nSegments ({})", object.segments.len())?;
    writeln!(
        out,
        "  {:<9} {:>10} {:>10} {:>10} {:>10} {:5} {:>6}",
        "type", "address", "offset", "file", "memory", "flags", "align"
    )?;
    for segment in &object.segments {
        writeln!(
            out,
            "  {:<9} {:>#10x} {:>#10x} {:>10} {:>10} {:5} {:>6}",
            names::segment_type(segment.kind),
            segment.address,
            segment.offset,
            segment.file_size,
            segment.memory_size,
            names::segment_flags(segment.flags),
            segment.align
        )?;
    }
    Ok(())
}

fn sections(object: &CodeObject<'_>, out: &mut String) -> Done {
    if object.sections.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nSections ({})", object.sections.len())?;
    let width = object.sections.iter().map(|section| section.name.len()).max().unwrap_or(0).clamp(4, 40);
    writeln!(
        out,
        "  {:>2}  {:width$}  {:<12} {:>10} {:>10} {:>10} {:5} {:>6}",
        "#", "name", "type", "address", "offset", "size", "flags", "align"
    )?;
    for (index, section) in object.sections.iter().enumerate() {
        writeln!(
            out,
            "  {index:>2}  {:width$}  {:<12} {:>#10x} {:>#10x} {:>10} {:5} {:>6}",
            section.name,
            names::section_type(section.kind),
            section.address,
            section.offset,
            section.size,
            names::section_flags(section.flags),
            section.align
        )?;
    }
    Ok(())
}

fn notes(object: &CodeObject<'_>, out: &mut String) -> Done {
    for (index, section) in object.sections.iter().enumerate() {
        if section.kind != SHT_NOTE.0 {
            continue;
        }
        writeln!(out, "\nNotes in {}", section.name)?;
        let (notes, damage) = note::records(index, section.data);
        for note in &notes {
            one_note(note, out)?;
        }
        if let Some(damage) = damage {
            writeln!(out, "  damaged: {damage}")?;
        }
    }
    Ok(())
}

fn one_note(note: &Note<'_>, out: &mut String) -> Done {
    let name = note.name().map_or_else(|| format!("type {:#x}", note.kind), str::to_owned);
    write!(out, "  {:6} {name}, {} bytes", note.owner, note.desc.len())?;
    match note.meaning() {
        Meaning::Version { major, minor } => writeln!(out, ": {major}.{minor}"),
        Meaning::Hsail { major, minor, profile, machine_model, rounding } => {
            let word = |names: &[&'static str], value: u8| {
                names.get(usize::from(value)).copied().unwrap_or("unknown")
            };
            writeln!(
                out,
                ": {major}.{minor}, {} profile, {} model, rounding {}",
                word(&["base", "full"], profile),
                word(&["small", "large"], machine_model),
                word(&["none", "zero", "near"], rounding)
            )
        }
        Meaning::Isa { vendor, architecture, major, minor, stepping } => {
            writeln!(out, ": {vendor} {architecture} {major}.{minor}.{stepping}")
        }
        Meaning::IsaName(name) => writeln!(out, ": {name}"),
        Meaning::Yaml(text) => {
            writeln!(out)?;
            text.lines().try_for_each(|line| writeln!(out, "    {line}"))
        }
        Meaning::Metadata(value) => {
            writeln!(out)?;
            value.write_yaml(4, out);
            Ok(())
        }
        Meaning::Pal(palmeta::Note::MessagePack(metadata)) => {
            writeln!(out)?;
            metadata.tree().write_yaml(4, out);
            Ok(())
        }
        Meaning::Pal(palmeta::Note::Pairs(pairs)) => {
            writeln!(out)?;
            let pair =
                |(key, value)| writeln!(out, "    {} = {value:#010x}  ({key:#06x})", Key::from_number(key));
            pairs.iter().try_for_each(pair)
        }
        Meaning::Pal(_) => writeln!(out),
        Meaning::Damaged(why) => writeln!(out, ": damaged: {why}"),
        Meaning::Unknown => {
            writeln!(out)?;
            hex(note.desc, out)
        }
    }
}

/// Writes the first bytes of unknown contents.
fn hex(bytes: &[u8], out: &mut String) -> Done {
    const SHOWN: usize = 256;
    for (n, row) in bytes.chunks(16).take(SHOWN / 16).enumerate() {
        write!(out, "    {:04x} ", n * 16)?;
        row.iter().try_for_each(|byte| write!(out, " {byte:02x}"))?;
        writeln!(out)?;
    }
    if bytes.len() > SHOWN {
        writeln!(out, "    ... {} more bytes", bytes.len() - SHOWN)?;
    }
    Ok(())
}

fn kernel_descriptor(
    object: &CodeObject<'_>,
    descriptor: &Descriptor<'_>,
    target: Option<&Target>,
    out: &mut String,
) -> Done {
    let section = object.sections.get(descriptor.section).map_or("", |section| section.name);
    writeln!(out, "\nKernel {}", descriptor.kernel)?;
    writeln!(out, "  descriptor at {:#x} in {section}", descriptor.address)?;
    writeln!(out, "  entry {}", kernel::entry(object, descriptor))?;
    let mut heading = None;
    let fields = fields_by_place();
    for &field in &fields {
        let value = field.get(&descriptor.bytes);
        let is_there = target.is_none_or(|target| field.on.has(target));
        match field.unit {
            Unit::Register => {
                heading = Some(field.byte);
                let has_fields = fields.iter().any(|other| {
                    other.byte == field.byte
                        && other.unit != Unit::Register
                        && target.is_none_or(|target| other.on.has(target))
                });
                if has_fields || value != 0 {
                    let digits = usize::from(field.width) / 4 + 2;
                    writeln!(out, "  {:<50} {value:#0digits$x}", field.name)?;
                }
            }
            _ if !is_there => {}
            unit => {
                let indent = if heading == Some(field.byte) { 4 } else { 2 };
                let width = 52 - indent;
                write!(out, "{:indent$}{:<width$} ", "", field.name)?;
                match unit {
                    Unit::Offset => write!(out, "{}", value as i64)?,
                    _ => write!(out, "{value}")?,
                }
                match explain(field, value, target, descriptor.is_wave32()) {
                    Some(meaning) => writeln!(out, "  {meaning}")?,
                    None => writeln!(out)?,
                }
            }
        }
    }
    for (byte, bits) in descriptor.reserved(target) {
        writeln!(out, "  reserved bits set in byte {byte}: {bits:#04x}")?;
    }
    Ok(())
}

/// Writes the fields of the header that precedes a kernel's code in code objects V2.
fn kernel_header(object: &CodeObject<'_>, header: &KernelCode<'_>, out: &mut String) -> Done {
    let section = object.sections.get(header.section).map_or("", |section| section.name);
    writeln!(out, "\nKernel {}", header.kernel)?;
    writeln!(out, "  amd_kernel_code_t at {:#x} in {section}", header.address)?;
    for key in KEYS.iter().chain(header.abi_keys()) {
        match key.is_signed() {
            true => writeln!(out, "  {:<51} {}", key.name, key.get_signed(&header.bytes))?,
            false => writeln!(out, "  {:<51} {}", key.name, key.get(&header.bytes))?,
        }
    }
    for (byte, bits) in kernel_code::unnamed(&header.bytes) {
        writeln!(out, "  other bits set in byte {byte}: {bits:#04x}")?;
    }
    Ok(())
}

/// Writes the registers of the section `.AMDGPU.config` with their fields.
fn config(object: &CodeObject<'_>, target: Option<&Target>, out: &mut String) -> Done {
    let Some(section) = object.config() else { return Ok(()) };
    writeln!(out, "\nRegisters in {}", config::NAME)?;
    let (pairs, rest) = config::pairs(section.data);
    for pair in pairs {
        let name = pair.name().unwrap_or("unknown register");
        writeln!(out, "  {:<50} {:#010x}  ({:#x})", name, pair.value, pair.register)?;
        for field in pair.fields(target) {
            writeln!(out, "    {:<48} {}", field.name, field.value)?;
        }
    }
    if !rest.is_empty() {
        writeln!(out, "  {} bytes after the last pair", rest.len())?;
    }
    Ok(())
}

fn symbols(object: &CodeObject<'_>, out: &mut String) -> Done {
    for table in &object.symbol_tables {
        writeln!(out, "\nSymbols in {} ({})", table.name, table.symbols.len().saturating_sub(1))?;
        writeln!(
            out,
            "  {:>18} {:>8}  {:17} {:6} {:9} {:10} name",
            "value", "size", "type", "bind", "visible", "section"
        )?;
        for symbol in table.symbols.iter().skip(1) {
            writeln!(
                out,
                "  {:#018x} {:>8}  {:17} {:6} {:9} {:10} {}",
                symbol.value,
                symbol.size,
                names::symbol_type(symbol.kind),
                names::symbol_binding(symbol.binding),
                names::symbol_visibility(symbol.visibility),
                section_name(object, symbol),
                display_name(object, symbol)
            )?;
        }
    }
    Ok(())
}

fn relocations(object: &CodeObject<'_>, out: &mut String) -> Done {
    for table in &object.relocation_tables {
        writeln!(out, "\nRelocations in {} ({})", table.name, table.records.len())?;
        writeln!(out, "  {:>18}  {:23} symbol", "offset", "type")?;
        let symbols = object.symbols_of(table.symbols);
        for record in &table.records {
            write!(out, "  {:#018x}  {:23}", record.offset, names::relocation(record.kind))?;
            match symbols.get(record.symbol as usize).filter(|_| record.symbol != 0) {
                Some(symbol) => write!(out, " {}", display_name(object, symbol))?,
                None if record.symbol == 0 => {}
                None => write!(out, " symbol {}?", record.symbol)?,
            }
            match record.addend {
                0 => writeln!(out)?,
                addend if addend < 0 => writeln!(out, " - {:#x}", addend.unsigned_abs())?,
                addend => writeln!(out, " + {addend:#x}")?,
            }
        }
    }
    Ok(())
}
