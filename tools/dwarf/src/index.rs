//! Index of names in `.debug_names` (DWARF 5, section 6.1.1), read with gimli and sorted.

use crate::info::ReadError;
use codeobj::CodeObject;
use codeobj::disasm::relocated;
use gimli::{EndianSlice, LittleEndian, NameTypeUnit};
use std::fmt::Write;

type Reader<'a> = EndianSlice<'a, LittleEndian>;

/// Name of the section.
const SECTION: &str = ".debug_names";

/// Entry that has a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Named {
    /// Name.
    pub name: String,
    /// Tag, such as `DW_TAG_subprogram`.
    pub tag: String,
    /// Offset of the entry in `.debug_info`.
    pub entry: u64,
}

/// Names of an object, in alphabetical order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    all: Vec<Named>,
}

impl Names {
    /// Reads the names of an object. For a relocatable object, applies relocations.
    ///
    /// # Errors
    /// The object has no names, or they are damaged.
    pub fn read(object: &CodeObject<'_>) -> Result<Names, ReadError> {
        object.section(SECTION).ok_or(ReadError::None(SECTION))?;
        let section = |name| relocated(object, name, |_| 0);
        Names::of_sections(&section(SECTION), &section(".debug_str"))
    }

    /// Reads `.debug_names`, whose strings are in `.debug_str`.
    ///
    /// # Errors
    /// The names are damaged.
    pub fn of_sections(names: &[u8], strings: &[u8]) -> Result<Names, ReadError> {
        let mut all = Vec::new();
        let strings = gimli::DebugStr::new(strings, LittleEndian);
        let mut headers = gimli::DebugNames::new(names, LittleEndian).headers();
        while let Some(header) = headers.next()? {
            let index = header.index()?;
            // Each entry takes at least one byte. But in a damaged index several names can share entries, so
            // the number of entries is limited to the size of the section.
            add(&index, &strings, names.len(), &mut all)?;
        }
        all.sort();
        Ok(Names { all })
    }

    /// Returns the entries with a name.
    pub fn find(&self, name: &str) -> &[Named] {
        let from = self.all.partition_point(|one| one.name.as_str() < name);
        let count = self.all[from..].partition_point(|one| one.name == name);
        &self.all[from..from + count]
    }

    /// Returns all entries.
    pub fn all(&self) -> &[Named] {
        &self.all
    }

    /// Returns a text with one line for each entry.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for Named { name, tag, entry } in &self.all {
            let _ = writeln!(out, "name {}  {tag} at {entry:#x}", name.escape_debug());
        }
        out
    }
}

fn add(
    index: &gimli::NameIndex<Reader<'_>>,
    strings: &gimli::DebugStr<Reader<'_>>,
    limit: usize,
    all: &mut Vec<Named>,
) -> Result<(), ReadError> {
    for number in index.names() {
        let name = index.name_string(number, strings)?.to_string_lossy().into_owned();
        let mut entries = index.name_entries(number)?;
        while let Some(entry) = entries.next()? {
            let unit = match entry.type_unit(index)? {
                Some(NameTypeUnit::Local(unit)) => Some(unit),
                // The entry is in another file.
                Some(NameTypeUnit::Foreign(_)) => None,
                None => entry.compile_unit(index)?.or(index.default_compile_unit()?),
            };
            let (Some(unit), Some(offset)) = (unit, entry.die_offset()?) else { continue };
            if all.len() >= limit {
                return Err(ReadError::Large);
            }
            let tag = entry.tag.static_string().map_or_else(|| format!("{:#x}", entry.tag.0), str::to_owned);
            all.push(Named { name: name.clone(), tag, entry: (unit.0 as u64).wrapping_add(offset.0 as u64) });
        }
    }
    Ok(())
}
