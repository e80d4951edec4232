//! Maps source locations (`MachInst::loc`, offsets in the source text) to files, lines and columns.

use objwriter::dwarf::Row;
use smallvec::{SmallVec, smallvec};
use smol_str::SmolStr;
use std::ops::Range;

/// The file names and line offsets of a source, without its text. The source may have several files: their
/// texts are concatenated, with the main file first.
#[derive(Clone, Debug)]
pub struct Lines {
    files: SmallVec<[File; 1]>,
    /// Byte offset at which each line begins.
    starts: Vec<u32>,
    /// Size of the text in bytes.
    size: u32,
}

/// File of a source.
#[derive(Clone, Debug)]
struct File {
    name: SmolStr,
    /// Byte offset in the concatenated text at which the file begins (`start`), and number of lines before it
    /// (`lines`).
    start: u32,
    lines: u32,
}

/// Location in a source. The default has no line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourcePosition {
    /// Number of the file, counted from 0.
    pub file: u32,
    /// Line, counted from 1; 0 for no line.
    pub line: u32,
    /// Column, counted from 1; 0 for no column.
    pub column: u32,
}

impl SourcePosition {
    /// Returns the row of a line table for code at this location.
    pub fn row(self, offset: u64) -> Row {
        Row { offset, file: self.file, line: self.line, column: self.column }
    }
}

impl Lines {
    /// Finds the lines of a text that consists of one file.
    pub fn new(file: &str, text: &str) -> Lines {
        let count = text.bytes().filter(|byte| *byte == b'\n').count();
        let mut starts = Vec::with_capacity(count + 1);
        starts.push(0);
        starts.extend(text.match_indices('\n').map(|(at, _)| at as u32 + 1));
        let files = smallvec![File { name: file.into(), start: 0, lines: 0 }];
        Lines { files, starts, size: text.len() as u32 }
    }

    /// Records that the text from byte `start` on belongs to the file `name`. The text before `start` ends
    /// with a newline. Files must be added in the order of their texts.
    pub fn add_file(&mut self, name: &str, start: usize) {
        let start = start as u32;
        let lines = self.starts.partition_point(|&line| line < start) as u32;
        self.files.push(File { name: name.into(), start, lines });
    }

    /// Returns the names of the files, by number.
    pub fn files(&self) -> impl ExactSizeIterator<Item = &str> {
        self.files.iter().map(|file| file.name.as_str())
    }

    /// Returns the range of a file's text, without the newline that separates it from the next file.
    pub fn text_of(&self, file: usize) -> Range<usize> {
        let start = |file: &File| file.start as usize;
        let end = self.files.get(file + 1).map_or(self.size as usize, |next| start(next) - 1);
        self.files.get(file).map_or(end, start)..end
    }

    /// Returns the file, line and column of a location. `loc` is a byte offset plus 1. Returns `None` if
    /// `loc` is 0 (no location) or outside the text.
    pub fn position(&self, loc: u32) -> Option<SourcePosition> {
        let at = loc.checked_sub(1).filter(|&at| at < self.size)?;
        let line = self.starts.partition_point(|&start| start <= at);
        let file = self.files.partition_point(|file| file.start <= at) - 1;
        Some(SourcePosition {
            file: file as u32,
            line: line as u32 - self.files[file].lines,
            column: at - self.starts[line - 1] + 1,
        })
    }

    /// Returns the byte offset at which a line of the first file begins.
    pub(crate) fn start(&self, line: u32) -> usize {
        self.starts.get(line as usize - 1).copied().unwrap_or(self.size) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_their_files() {
        let text = "ab\ncd\n\nx\ny\n\nlast";
        let mut lines = Lines::new("a.k", text);
        lines.add_file("b.k", 7);
        lines.add_file("c.k", 12);
        let place = |file, line, column| Some(SourcePosition { file, line, column });
        for (at, expected) in [
            (0, place(0, 1, 1)),
            (4, place(0, 2, 2)),
            (6, place(0, 3, 1)),
            (7, place(1, 1, 1)),
            (9, place(1, 2, 1)),
            (12, place(2, 1, 1)),
            (15, place(2, 1, 4)),
            (16, None),
        ] {
            assert_eq!(lines.position(at + 1), expected, "byte {at}");
        }
        assert_eq!(lines.position(0), None);
        let texts: Vec<&str> = (0..3).map(|file| &text[lines.text_of(file)]).collect();
        assert_eq!(texts, ["ab\ncd\n", "x\ny\n", "last"]);
        assert_eq!(lines.files().collect::<Vec<_>>(), ["a.k", "b.k", "c.k"]);
    }
}
