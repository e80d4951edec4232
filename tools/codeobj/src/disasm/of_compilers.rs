//! What compilers add for people and linkers: their own names in `.comment`, listings as text, and the list of
//! symbols whose addresses are significant. A linker must not merge the sections of these symbols with equal
//! ones.

use super::{Listing, expr};
use crate::elf::Section;
use crate::text_sections;
use gimli::Reader;
use object::elf::{SHF_MERGE, SHF_STRINGS, STT_SECTION};
use objwriter::elf::SHT_LLVM_ADDRSIG;
use std::fmt::{self, Write};

impl Listing<'_, '_> {
    /// Returns the texts of a section `.comment`, each of which the directive `.ident` writes. Returns `None` if
    /// such directives do not write the section as it is.
    pub(super) fn identifications<'a>(&self, section: &Section<'a>) -> Option<Vec<&'a str>> {
        let flags = SHF_MERGE.0 | SHF_STRINGS.0;
        let is_usual = section.name == ".comment" && section.flags == flags && section.entry_size == 1;
        // The section begins with an empty text.
        let texts = section.data.strip_prefix(&[0])?.strip_suffix(&[0])?;
        let texts: Vec<_> = std::str::from_utf8(texts).ok()?.split('\0').collect();
        let is_plain = |text: &&str| text.chars().all(|c| !c.is_control() && !matches!(c, '"' | '\\'));
        (is_usual && section.align == 1 && texts.iter().all(is_plain)).then_some(texts)
    }

    /// Writes the contents of a section with text as a string for each line. Returns whether the section is one.
    pub(super) fn text_section(
        &self,
        index: usize,
        section: &Section<'_>,
        out: &mut String,
    ) -> Result<bool, fmt::Error> {
        let Some(text) = text_sections::text(section) else { return Ok(false) };
        let is_inside = |place: u16| usize::from(place) == index;
        let has_symbols =
            self.object.symbols().iter().any(|symbol| is_inside(symbol.section) && !symbol.name.is_empty());
        let has_relocations = self.object.relocation_tables.iter().any(|table| table.target == index);
        if has_symbols || has_relocations {
            return Ok(false);
        }
        for line in text.split_inclusive('\n') {
            let line =
                line.replace('\\', "\\\\").replace('"', "\\\"").replace('\t', "\\t").replace('\n', "\\n");
            writeln!(out, "\t.ascii \"{line}\"")?;
        }
        Ok(true)
    }

    /// Writes the directives `.addrsig` and `.addrsig_sym`, if a relocatable file has the section
    /// `.llvm_addrsig`. The section contains numbers of symbols in ULEB128 form. A number that names no symbol
    /// becomes a comment.
    pub(super) fn significant_addresses(&self, out: &mut String) -> fmt::Result {
        let is_table = |section: &&Section<'_>| section.kind == SHT_LLVM_ADDRSIG;
        let tables = self.object.sections.iter().filter(is_table);
        let Some(table) = tables.take(usize::from(self.object.header.is_relocatable())).next() else {
            return Ok(());
        };
        out.push_str("\n\t.addrsig\n");
        let mut numbers = gimli::EndianSlice::new(table.data, gimli::LittleEndian);
        while !numbers.is_empty() {
            let Ok(number) = numbers.read_uleb128() else {
                return writeln!(out, "\t; .llvm_addrsig ends within a number");
            };
            let index = usize::try_from(number).unwrap_or(usize::MAX);
            match self.object.symbols_of(table.link as usize).get(index) {
                Some(symbol) if symbol.kind == STT_SECTION.0 && symbol.section != 0 => {
                    out.push_str("\t.addrsig_sym ");
                    self.names.section(usize::from(symbol.section), out)?;
                    out.push('\n');
                }
                Some(symbol) if !symbol.name.is_empty() => {
                    out.push_str("\t.addrsig_sym ");
                    expr::name(symbol.name, out);
                    out.push('\n');
                }
                _ => writeln!(out, "\t; .llvm_addrsig contains {number}, which is no symbol")?,
            }
        }
        Ok(())
    }
}
