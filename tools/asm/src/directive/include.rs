//! `.include` and `.incbin`.

use crate::assembler::Assembler;
use crate::cursor::Cursor;
use crate::error::{Result, error};
use crate::files::File;
use std::ops::Range;

/// Number of bytes that each `.include` takes from the expansion budget, in addition to the length of the
/// included text. It makes sure that the budget also stops short files that include each other many times.
const COST: usize = 1 << 14;

impl Assembler {
    /// Handles `.include "file"`: reads the statements of the file at this point.
    pub(super) fn include(&mut self, cur: &mut Cursor, span: &Range<usize>) -> Result<()> {
        let File { name, bytes } = self.load(cur, span)?;
        cur.expect_end()?;
        let text = String::from_utf8(bytes)
            .map_err(|_| error(span.start..cur.pos, format!("{name} is not UTF-8 text")))?;
        self.run_file(&name, &text, span.start..cur.pos, COST)
    }

    /// Handles `.incbin "file"[, skip[, count]]`: writes the bytes of the file.
    pub(super) fn incbin(&mut self, cur: &mut Cursor, span: &Range<usize>) -> Result<()> {
        let File { name, bytes } = self.load(cur, span)?;
        let mut number = |what: &str| {
            cur.blank();
            if !cur.eat(b',') {
                return Ok(None);
            }
            cur.blank();
            if matches!(cur.peek(), b',') {
                return Ok(None);
            }
            let start = cur.pos;
            let value = self.absolute(cur)?;
            usize::try_from(value)
                .map(Some)
                .map_err(|_| error(cur.span_from(start), format!("{what} of `.incbin` is negative")))
        };
        let skip = number("the skip")?.unwrap_or(0);
        let count = number("the count")?.unwrap_or(usize::MAX);
        let Some(rest) = bytes.get(skip..) else {
            let message = format!("{name} has {} bytes, fewer than are to be skipped", bytes.len());
            return Err(error(span.start..cur.pos, message));
        };
        self.emit(&rest[..count.min(rest.len())], span)
    }

    fn load(&mut self, cur: &mut Cursor, span: &Range<usize>) -> Result<File> {
        cur.blank();
        let start = cur.pos;
        let name = String::from_utf8_lossy(&cur.string()?).into_owned();
        let Some(loader) = &self.loader else {
            return Err(error(span.clone(), "the source may not read files")
                .label("whoever calls the assembler does not allow it"));
        };
        let from = self.texts.locate(self.place_of(span.start)).0;
        let from = from.as_ref().map(|file| file.name.as_str());
        loader.load(&name, from).map_err(|why| error(start..cur.pos, format!("cannot read `{name}`: {why}")))
    }
}
