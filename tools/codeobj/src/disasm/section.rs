//! Writes a section: its directive, its symbols and its contents.

use super::marks::{Mark, Marks, Relocations, names_a_place};
use super::{Listing, expr};
use crate::elf::{SHN_AMDGPU_LDS, STT_AMDGPU_HSA_KERNEL, Section, Symbol};
use crate::names;
use std::fmt::{self, Write};

const SHN_ABS: u16 = 0xfff1;
const SHN_COMMON: u16 = 0xfff2;

/// Sections that assemblers know by name, each with the flags that it always has. No directive can change
/// these flags.
const FLAGS: [(&str, &str); 7] = [
    (".rodata", "a"),
    (".eh_frame", "a"),
    (".data", "wa"),
    (".bss", "wa"),
    (".data.rel.ro", "wa"),
    (".tdata", "waT"),
    (".tbss", "waT"),
];

impl Listing<'_, '_> {
    /// Writes a section. Appends to `begins` the index of the section, and the offset in the text where the
    /// section's contents begin.
    pub(super) fn section(
        &self,
        index: usize,
        section: &Section<'_>,
        begins: &mut Vec<(usize, usize)>,
        out: &mut String,
    ) -> fmt::Result {
        out.push('\n');
        if let Some(texts) = self.identifications(section) {
            return texts.iter().try_for_each(|text| writeln!(out, "\t.ident \"{text}\""));
        }
        let in_group = self.group_name(index).is_some();
        match section.name {
            ".text" if !in_group => out.push_str("\t.text\n"),
            name => {
                out.push_str("\t.section ");
                expr::name(name, out);
                // Assemblers accept the flag for mergeable sections only together with an entry size, so it
                // is omitted if the entry size is 0.
                let merges = section.entry_size > 0;
                let said = |c: &char| match c {
                    'M' => merges,
                    'G' => in_group,
                    c => "awxSeTR".contains(*c),
                };
                let own = names::section_flags(section.flags);
                let known = FLAGS.iter().find(|known| known.0 == name && !in_group).map(|known| known.1);
                let flags = known.map_or_else(|| own.chars().filter(said).collect(), str::to_owned);
                let kind = if section.is_zeros() { "nobits" } else { "progbits" };
                write!(out, ",\"{flags}\",@{kind}")?;
                if flags.contains('M') {
                    write!(out, ",{}", section.entry_size)?;
                }
                if flags.contains('G') {
                    self.group(index, out)?;
                }
                match flags == own {
                    true => out.push('\n'),
                    false => {
                        writeln!(out, " ; the file has {own:?}, entries of {} bytes", section.entry_size)?
                    }
                }
            }
        }
        if section.align.is_power_of_two() && section.align > 1 {
            writeln!(out, "\t.p2align {}", section.align.trailing_zeros())?;
        }
        begins.push((index, out.len()));
        if self.text_section(index, section, out)? {
            return Ok(());
        }
        let mut marks = Marks::for_section(self.object, index);
        let mut relocations = Relocations::for_section(self.object, index);
        if section.is_code() && !section.is_zeros() {
            self.code(index, section, &mut marks, &mut relocations, out)
        } else {
            self.data(index, section, &mut marks, &mut relocations, out)
        }
    }

    /// Writes labels and sizes for the symbols that begin or end up to offset `place`. If a symbol begins
    /// before `place`, it begins inside an instruction or field, where no label is possible. In this case an
    /// expression defines the symbol.
    pub(super) fn marks(&self, index: usize, marks: &mut Marks, place: u64, out: &mut String) -> fmt::Result {
        while let Some((at, mark)) = marks.take(place) {
            let (Mark::Start(number) | Mark::End(number)) = mark else { continue };
            let symbol = &self.object.symbols()[number as usize];
            if !self.names.is_unique(number as usize, symbol) {
                if matches!(mark, Mark::Start(_)) {
                    writeln!(out, "\t; another {} is here", symbol.name.escape_debug())?;
                }
                continue;
            }
            match mark {
                Mark::Start(_) => self.start(index, symbol, at, at == place, out)?,
                Mark::End(_) if at == place => {
                    out.push_str("\t.size ");
                    expr::name(symbol.name, out);
                    out.push_str(", .-");
                    expr::name(symbol.name, out);
                    out.push('\n');
                }
                Mark::End(_) => self.size(symbol, out)?,
                Mark::Said => {}
            }
        }
        Ok(())
    }

    fn size(&self, symbol: &Symbol<'_>, out: &mut String) -> fmt::Result {
        out.push_str("\t.size ");
        expr::name(symbol.name, out);
        writeln!(out, ", {}", symbol.size)
    }

    /// Writes a symbol's properties and its label.
    fn start(
        &self,
        index: usize,
        symbol: &Symbol<'_>,
        at: u64,
        is_here: bool,
        out: &mut String,
    ) -> fmt::Result {
        out.push('\n');
        self.properties(symbol, out)?;
        if is_here {
            expr::name(symbol.name, out);
            out.push_str(":\n");
        } else {
            out.push_str("\t.set ");
            expr::name(symbol.name, out);
            out.push_str(", ");
            self.names.section(index, out)?;
            writeln!(out, "+{at:#x}")?;
        }
        // The size of a symbol is usually written where the symbol ends. A symbol that ends outside its
        // section has no such place, so its size is written here.
        let section = &self.object.sections[index];
        if symbol.size > 0 && at.checked_add(symbol.size).is_none_or(|end| end > section.size) {
            self.size(symbol, out)?;
        }
        Ok(())
    }

    /// Writes the binding, visibility and type of a symbol.
    pub(super) fn properties(&self, symbol: &Symbol<'_>, out: &mut String) -> fmt::Result {
        let directive = |directive: &str, out: &mut String| {
            out.push_str(directive);
            expr::name(symbol.name, out);
            out.push('\n');
        };
        match symbol.binding {
            1 => directive("\t.globl ", out),
            2 => directive("\t.weak ", out),
            _ => {}
        }
        match symbol.visibility {
            1 => directive("\t.internal ", out),
            2 => directive("\t.hidden ", out),
            3 => directive("\t.protected ", out),
            _ => {}
        }
        let kind = match symbol.kind {
            1 => "object",
            2 => "function",
            6 => "tls_object",
            STT_AMDGPU_HSA_KERNEL => {
                directive("\t.amdgpu_hsa_kernel ", out);
                return Ok(());
            }
            _ => return Ok(()),
        };
        out.push_str("\t.type ");
        expr::name(symbol.name, out);
        writeln!(out, ",@{kind}")
    }

    /// Writes the symbols that are in no section: undefined, LDS, common and absolute symbols.
    pub(super) fn outside_symbols(&self, out: &mut String) -> fmt::Result {
        let mut first = true;
        for (number, symbol) in self.object.symbols().iter().enumerate().skip(1) {
            let is_outside = matches!(symbol.section, 0 | SHN_AMDGPU_LDS | SHN_ABS | SHN_COMMON);
            if !is_outside || !names_a_place(symbol) || !self.names.is_unique(number, symbol) {
                continue;
            }
            if std::mem::take(&mut first) {
                out.push('\n');
            }
            self.properties(symbol, out)?;
            let what = match symbol.section {
                SHN_AMDGPU_LDS => "\t.amdgpu_lds ",
                SHN_ABS => "\t.set ",
                SHN_COMMON => "\t.comm ",
                _ => continue,
            };
            out.push_str(what);
            expr::name(symbol.name, out);
            match symbol.section {
                SHN_ABS => writeln!(out, ", {:#x}", symbol.value)?,
                // For LDS and common symbols, `st_value` is the alignment.
                _ => writeln!(out, ", {}, {}", symbol.size, symbol.value)?,
            }
        }
        Ok(())
    }
}
