//! Sections with text that LLVM writes for people: `.AMDGPU.disasm` has the listing of the code, if the feature
//! `DumpCode` asks for the section. `.AMDGPU.csdata` has comments in assembly text, and is empty in objects.

use crate::elf::{CodeObject, Section};

/// Names of the sections.
pub const NAMES: [&str; 2] = [".AMDGPU.disasm", ".AMDGPU.csdata"];

/// Returns the contents of a section as text, if the section is one of [`NAMES`] and contains printable text.
pub fn text<'data>(section: &Section<'data>) -> Option<&'data str> {
    let is_printable = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    let text = std::str::from_utf8(section.data).ok().filter(|_| NAMES.contains(&section.name))?;
    text.chars().all(is_printable).then_some(text)
}

impl<'data> CodeObject<'data> {
    /// Returns the name and the contents of each section with text. Sections without contents are left out, and
    /// so are sections that together are larger than the file: such sections overlap others.
    pub fn texts(&self) -> impl Iterator<Item = (&'data str, &'data str)> {
        let texts = self.sections.iter().filter_map(|section| Some((section.name, text(section)?)));
        let mut budget = self.file_size;
        texts.filter(move |(_, text)| {
            let left = budget.checked_sub(text.len());
            budget = left.unwrap_or(budget);
            left.is_some() && !text.is_empty()
        })
    }
}
