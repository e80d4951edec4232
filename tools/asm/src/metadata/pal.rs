//! Metadata of AMDPAL. LLVM's assembler collects what all directives say, and writes one note after the rest of
//! the source.

use super::body;
use crate::assembler::Assembler;
use crate::cursor::Cursor;
use crate::error::{Result, error};
use isa::Os;
use palmeta::{END, Metadata, Note, Pairs, Place};
use std::ops::Range;

/// Metadata of the directives so far.
pub(crate) struct Collected {
    note: Note,
    /// Position of the last directive.
    place: usize,
}

impl Assembler {
    /// Handles `.amdgpu_pal_metadata`. As in LLVM, the block replaces everything that was said before.
    pub(crate) fn pal_metadata(&mut self, cur: &mut Cursor, span: &Range<usize>) -> Result<()> {
        let (at, text) = body(cur, END, span)?;
        let mut metadata = Metadata::from_text(text).map_err(|mistake| {
            let line = match mistake.place {
                Place::Line(line) => line_of(text, line),
                _ => 0..0,
            };
            error(at + line.start..at + line.end, mistake.rule).label("in the metadata")
        })?;
        metadata.add_registers();
        self.collect(Note::MessagePack(metadata), span);
        Ok(())
    }

    /// Handles `.amd_amdgpu_pal_metadata key, value, ...`. As in LLVM, the older form contains the registers of
    /// an earlier block, and values of one key are combined.
    pub(crate) fn pal_pairs(&mut self, cur: &mut Cursor, span: &Range<usize>) -> Result<()> {
        let os = self.settings.os();
        if os != Os::AmdPal {
            let message = format!(
                "`{}` is for `amdpal`, and the target is for `{}`",
                palmeta::pairs::DIRECTIVE,
                os.name()
            );
            return Err(error(span.clone(), message));
        }
        let mut pairs = match self.pal_metadata.take().map(|collected| collected.note) {
            Some(Note::Pairs(pairs)) => pairs,
            Some(Note::MessagePack(metadata)) => {
                let mut pairs = Pairs::default();
                metadata.registers().for_each(|(number, value)| pairs.set(number, value));
                pairs
            }
            _ => Pairs::default(),
        };
        loop {
            let key = self.number_32(cur)?;
            cur.expect(b',')?;
            pairs.set(key, self.number_32(cur)?);
            cur.blank();
            if cur.peek() != b',' {
                break;
            }
            cur.pos += 1;
        }
        self.collect(Note::Pairs(pairs), span);
        Ok(())
    }

    fn collect(&mut self, note: Note, span: &Range<usize>) {
        self.pal_metadata = Some(Collected { note, place: self.place_of(span.start) });
    }

    /// Writes the collected metadata as a note.
    pub(crate) fn write_pal_metadata(&mut self) {
        let Some(Collected { note, place }) = self.pal_metadata.take() else { return };
        if let Err(mistake) = self.note_record(&note.record(), &(place..place + 1)) {
            self.report_placed(mistake);
        }
    }
}

/// Returns the range of a line, counted from 1, without the blanks around the line.
fn line_of(text: &str, number: usize) -> Range<usize> {
    let Some(line) = text.split_inclusive('\n').nth(number.saturating_sub(1)) else {
        return text.len()..text.len();
    };
    let start = line.as_ptr() as usize - text.as_ptr() as usize;
    let blanks = line.len() - line.trim_start().len();
    start + blanks..start + blanks + line.trim().len()
}
