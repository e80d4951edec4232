//! Section groups: sections that a linker keeps or drops together, mostly code of C++ templates.

use super::{Listing, expr};
use crate::elf::CodeObject;
use object::elf as abi;
use std::fmt::{self, Write};

/// For each section, the number of its group section; 0 if it is in no group.
pub(super) struct Groups(Vec<usize>);

impl Groups {
    pub fn for_object(object: &CodeObject<'_>) -> Groups {
        let mut groups = vec![0; object.sections.len()];
        for (number, section) in object.sections.iter().enumerate() {
            if section.kind == abi::SHT_GROUP.0 {
                for member in words(section.data).skip(1) {
                    if let Some(group) = groups.get_mut(member as usize) {
                        *group = number;
                    }
                }
            }
        }
        Groups(groups)
    }
}

fn words(data: &[u8]) -> impl Iterator<Item = u32> {
    data.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
}

impl Listing<'_, '_> {
    /// Appends those operands of `.section` that name the group of a section. They belong after the operand
    /// for the section's type. Appends nothing if the section is in no group.
    pub(super) fn group(&self, section: usize, out: &mut String) -> fmt::Result {
        let Some(group) = self.group_name(section) else { return Ok(()) };
        out.push(',');
        expr::name(group, out);
        let first = words(self.object.sections[self.groups.0[section]].data).next();
        if first == Some(abi::GRP_COMDAT.0) { write!(out, ",comdat") } else { Ok(()) }
    }

    /// Returns the name of the symbol that identifies the group of a section. Returns `None` if the section
    /// is in no group.
    pub(super) fn group_name(&self, section: usize) -> Option<&str> {
        let group = self.groups.0.get(section).copied().filter(|&group| group != 0)?;
        let group = &self.object.sections[group];
        let symbol = self.object.symbols_of(group.link as usize).get(group.info as usize)?;
        Some(symbol.name).filter(|name| !name.is_empty())
    }
}
