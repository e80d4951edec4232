//! Writes data sections: kernel descriptors as blocks, everything else as numbers.

use super::marks::{Marks, Relocations};
use super::{Listing, expr};
use crate::config;
use crate::elf::Section;
use crate::names;
use std::fmt::{self, Write};

/// Minimum number of zero bytes that become a `.zero`.
const ZEROS: usize = 16;

impl Listing<'_, '_> {
    pub(super) fn data(
        &self,
        index: usize,
        section: &Section<'_>,
        marks: &mut Marks,
        relocations: &mut Relocations,
        out: &mut String,
    ) -> fmt::Result {
        let mut at = 0;
        // A section without contents in the file consists of zeros.
        let size = if section.is_zeros() { section.size } else { section.data.len() as u64 };
        loop {
            if let Some(next) = self.kernel_descriptor(index, at, marks, relocations, out)? {
                at = next;
                continue;
            }
            self.marks(index, marks, at, out)?;
            if at >= size {
                break;
            }
            let place = relocations.next_place();
            if place == at {
                at = self.relocated_data(section, at, relocations, out)?;
                continue;
            }
            let end = marks.next_place().filter(|place| *place > at).unwrap_or(size).min(place).min(size);
            match section.is_zeros() {
                true => writeln!(out, "\t.zero {}", end - at)?,
                false => {
                    let bytes = &section.data[at as usize..end as usize];
                    match section.name == config::NAME && at == 0 {
                        true => self.config(bytes, out)?,
                        false => numbers(bytes, at, out)?,
                    }
                }
            }
            at = end;
        }
        self.marks(index, marks, section.size, out)
    }

    /// Writes pairs of a register and a value, with their names and fields as comments.
    fn config(&self, bytes: &[u8], out: &mut String) -> fmt::Result {
        let (pairs, rest) = config::pairs(bytes);
        for pair in &pairs {
            writeln!(out, "\t.long {:#x} ; {}", pair.register, pair.name().unwrap_or("unknown register"))?;
            write!(out, "\t.long {:#x}", pair.value)?;
            let fields = pair.fields(Some(self.target)).into_iter().filter(|field| field.value != 0);
            for (n, field) in fields.enumerate() {
                write!(out, "{} {} {}", if n == 0 { " ;" } else { "," }, field.name, field.value)?;
            }
            out.push('\n');
        }
        numbers(rest, 8 * pairs.len() as u64, out)
    }

    /// Writes a field that has a relocation as an expression. If no expression produces the relocation,
    /// writes the bytes of the field and a comment.
    fn relocated_data(
        &self,
        section: &Section<'_>,
        at: u64,
        relocations: &mut Relocations,
        out: &mut String,
    ) -> Result<u64, fmt::Error> {
        let Some((_, record, table)) = relocations.take(at + 1) else { return Ok(at + 1) };
        let size = expr::field_size(record.kind);
        let end = (at + size as u64).min(section.data.len() as u64);
        let start = out.len();
        out.push_str(if size == 8 { "\t.quad " } else { "\t.long " });
        let is_whole = end == at + size as u64;
        if is_whole && expr::relocation(self.object, &self.names, &record, table, false, out)? {
            out.push('\n');
        } else {
            out.truncate(start);
            writeln!(out, "\t; {} is not expressible", names::relocation(record.kind))?;
            numbers(section.data.get(at as usize..end as usize).unwrap_or(&[]), at, out)?;
        }
        // Several relocations may apply to the field. Since an expression can represent only one of them, the
        // others are written as comments.
        while let Some((_, record, _)) = relocations.take(end) {
            writeln!(out, "\t; {} overlaps", names::relocation(record.kind))?;
        }
        Ok(end.max(at + 1))
    }
}

/// Writes bytes as numbers, up to eight words in a line.
pub(super) fn numbers(mut bytes: &[u8], mut at: u64, out: &mut String) -> fmt::Result {
    while !bytes.is_empty() {
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        let count = if zeros >= ZEROS || zeros == bytes.len() && zeros > 4 {
            writeln!(out, "\t.zero {zeros}")?;
            zeros
        } else if at.is_multiple_of(4) && bytes.len() >= 4 {
            let row = bytes.len().min(32) & !3;
            out.push_str("\t.long ");
            for (n, word) in bytes[..row].chunks_exact(4).enumerate() {
                let comma = if n == 0 { "" } else { ", " };
                write!(out, "{comma}{:#010x}", u32::from_le_bytes([word[0], word[1], word[2], word[3]]))?;
            }
            out.push('\n');
            row
        } else {
            let row = bytes.len().min(4 - (at % 4) as usize);
            out.push_str("\t.byte ");
            for (n, byte) in bytes[..row].iter().enumerate() {
                let comma = if n == 0 { "" } else { ", " };
                write!(out, "{comma}{byte:#04x}")?;
            }
            out.push('\n');
            row
        };
        bytes = &bytes[count..];
        at += count as u64;
    }
    Ok(())
}
