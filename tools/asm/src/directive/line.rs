//! `.file` and `.loc`, which assign code to lines of source files.
//!
//! `.loc` alone does not add a row to the line table. The next instruction or datum does, so that the row
//! begins at its position. `lines` writes the table at the end.

use crate::assembler::Assembler;
use crate::cursor::Cursor;
use crate::error::{Result, error};
use crate::lines::{File, Location, Row};
use crate::number::{Number, number};
use std::ops::Range;

impl Assembler {
    pub(super) fn line_directive(
        &mut self,
        cur: &mut Cursor,
        name: &str,
        span: &Range<usize>,
    ) -> Result<bool> {
        match name {
            ".file" => self.file(cur, span)?,
            ".loc" => self.loc(cur)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Handles `.file number ["directory"] "name" [md5 0x...] [source "text"]`. `.file "name"` without a
    /// number has no effect on the output.
    fn file(&mut self, cur: &mut Cursor, span: &Range<usize>) -> Result<()> {
        cur.blank();
        let number = match cur.peek() {
            b'"' => None,
            _ => Some(whole_number(cur, "the number or the name of a file")?),
        };
        let mut directory = Vec::new();
        let mut name = cur.string()?;
        cur.blank();
        if cur.peek() == b'"' && number.is_some() {
            directory = std::mem::replace(&mut name, cur.string()?);
        }
        let (mut md5, mut source) = (None, None);
        while let Some(number_of_file) = number {
            cur.blank();
            let start = cur.pos;
            match cur.name() {
                Some("md5") => md5 = Some(super::data::octa(cur)?),
                Some("source") => source = Some(cur.string()?),
                _ => {
                    cur.pos = start;
                    let file = File { name, directory: 0, md5, source, span: self.span_of(span.clone()) };
                    return self.add_file(number_of_file, directory, file, span);
                }
            }
        }
        Ok(())
    }

    fn add_file(
        &mut self,
        number: i64,
        directory: Vec<u8>,
        mut file: File,
        span: &Range<usize>,
    ) -> Result<()> {
        let Ok(number) = u32::try_from(number) else {
            return Err(error(span.clone(), format!("{number} is no number of a file")));
        };
        let lines = &mut self.lines;
        if number == 0 {
            lines.directory = directory;
            lines.root = Some(file);
            return Ok(());
        }
        // A file with the name and MD5 hash of file 0 is the same file. It is not added again: its number
        // only becomes a second number of file 0.
        if lines.root.as_ref().is_some_and(|root| (&root.name, root.md5) == (&file.name, file.md5)) {
            return Ok(());
        }
        if lines.files.contains_key(&number) {
            return Err(error(span.clone(), format!("file number {number} is already taken")));
        }
        file.directory = match file.name.is_empty() {
            true => {
                file.name = b"<stdin>".to_vec();
                0
            }
            false if directory.is_empty() || directory == lines.directory => {
                let (directory, name) = split(&file.name);
                let index = lines.directory_number(directory);
                file.name = name.to_vec();
                index
            }
            false => lines.directory_number(&directory),
        };
        self.lines.files.insert(number, file);
        Ok(())
    }

    /// Handles `.loc file [line [column]] [options]`.
    fn loc(&mut self, cur: &mut Cursor) -> Result<()> {
        cur.blank();
        let start = cur.pos;
        let file = whole_number(cur, "the number of a file")?;
        let known = u32::try_from(file).ok().filter(|file| self.lines.has_file(*file));
        let Some(file) = known else {
            return Err(error(start..cur.pos, format!("no `.file` has the number {file}")));
        };
        let is_statement = self.lines.location.is_statement;
        let mut location = Location { file, is_statement, ..Location::default() };
        cur.blank();
        if cur.peek().is_ascii_digit() {
            location.line = whole_number(cur, "a line")? as u32;
            cur.blank();
            if cur.peek().is_ascii_digit() {
                location.column = whole_number(cur, "a column")? as u16;
            }
        }
        loop {
            cur.blank();
            if cur.at_end() {
                break;
            }
            self.loc_option(cur, &mut location)?;
        }
        // Each `.loc` gets a row of the line table, even if another `.loc` follows it directly. So the row of
        // the previous `.loc` is added now, if it is still missing.
        self.make_row();
        self.lines.location = location;
        self.lines.is_pending = true;
        Ok(())
    }

    fn loc_option(&mut self, cur: &mut Cursor, location: &mut Location) -> Result<()> {
        let start = cur.pos;
        let name = cur.name().unwrap_or_default();
        let after = cur.pos;
        match name {
            "basic_block" => location.basic_block = true,
            "prologue_end" => location.prologue_end = true,
            "epilogue_begin" => location.epilogue_begin = true,
            "is_stmt" => match self.absolute(cur)? {
                value @ (0 | 1) => location.is_statement = value == 1,
                _ => return Err(error(after..cur.pos, "`is_stmt` is 0 or 1")),
            },
            "isa" => match self.absolute(cur)? {
                value @ 0.. => location.isa = value as u8,
                _ => return Err(error(after..cur.pos, "`isa` is not negative")),
            },
            "discriminator" => location.discriminator = self.absolute(cur)? as u32,
            _ => {
                cur.pos = start;
                return Err(cur.unexpected("an option of `.loc`").note(
                    "known are basic_block, prologue_end, epilogue_begin, is_stmt, isa and discriminator",
                ));
            }
        }
        Ok(())
    }

    /// Adds a row to the line table for the last `.loc`, unless that `.loc` has a row already. To be called
    /// before bytes are appended.
    #[inline]
    pub(crate) fn make_row(&mut self) {
        if self.lines.is_pending {
            self.lines.is_pending = false;
            let (place, location) = (self.place_value(), self.lines.location);
            self.lines.rows.push(Row { place, location });
        }
    }
}

fn whole_number(cur: &mut Cursor, what: &str) -> Result<i64> {
    cur.blank();
    let start = cur.pos;
    if !cur.peek().is_ascii_digit() {
        return Err(cur.unexpected(what));
    }
    match number(cur)? {
        Number::Int(value) => Ok(value),
        _ => Err(error(start..cur.pos, format!("expected {what}"))),
    }
}

/// Splits a path into directory and name.
fn split(path: &[u8]) -> (&[u8], &[u8]) {
    let without_slashes = |path: &[u8]| path.iter().rposition(|&byte| byte != b'/').map_or(0, |at| at + 1);
    match path.iter().rposition(|&byte| byte == b'/') {
        None => (b"", path),
        Some(_) if without_slashes(path) == 0 => (b"", b"/"),
        Some(slash) if slash + 1 == path.len() => (&path[..without_slashes(path)], b"."),
        Some(slash) => match without_slashes(&path[..slash]) {
            0 => (b"/", &path[slash + 1..]),
            end => (&path[..end], &path[slash + 1..]),
        },
    }
}
