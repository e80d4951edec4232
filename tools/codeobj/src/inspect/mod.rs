//! Reports everything in a code object, for people ([`text`]) and for programs ([`json`]).

mod json;
mod kernel;
mod pipeline;
mod text;

pub use json::json;
pub use text::text;

use crate::elf::{CodeObject, Symbol};
use crate::names;

/// Returns the name of the section that contains a symbol.
fn section_name(object: &CodeObject<'_>, symbol: &Symbol<'_>) -> String {
    match symbol.section {
        0 => "UND".to_owned(),
        crate::elf::SHN_AMDGPU_LDS => "LDS".to_owned(),
        0xfff1 => "ABS".to_owned(),
        0xfff2 => "COMMON".to_owned(),
        index => match object.sections.get(usize::from(index)) {
            Some(section) => section.name.to_owned(),
            None => format!("{index:#x}"),
        },
    }
}

/// Returns the name of a symbol, or of its section for a section symbol.
fn display_name<'a>(object: &CodeObject<'a>, symbol: &Symbol<'a>) -> &'a str {
    if symbol.name.is_empty() && names::symbol_type(symbol.kind) == "SECTION" {
        return object.sections.get(usize::from(symbol.section)).map_or("", |section| section.name);
    }
    symbol.name
}

/// Returns the kind of the file as a word.
fn role(object: &CodeObject<'_>) -> &'static str {
    match names::file_type(object.header.file_type).as_str() {
        "REL" => "relocatable",
        "DYN" => "loadable",
        "EXEC" => "executable",
        _ => "of an unknown kind",
    }
}
