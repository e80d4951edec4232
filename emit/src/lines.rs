//! Lines of the source text: what `MachInst::loc`, an offset, means to a person.

use objwriter::dwarf::Row;
use smallvec::{SmallVec, smallvec};
use smol_str::SmolStr;
use std::ops::Range;

/// Names and lines of a source, without its text: that of a file, and behind it those of the files that it uses.
#[derive(Clone, Debug)]
pub struct Lines {
    files: SmallVec<[File; 1]>,
    /// Byte at which each line begins.
    starts: Vec<u32>,
    /// Bytes of the text.
    size: u32,
}

/// A file of a source.
#[derive(Clone, Debug)]
struct File {
    name: SmolStr,
    /// Byte at which its text begins, and how many lines are in front of it.
    start: u32,
    lines: u32,
}

/// A place in a source. By default it is in no line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Number of the file, from 0.
    pub file: u32,
    /// From 1; 0 is of no line.
    pub line: u32,
    /// From 1; 0 is of none.
    pub column: u32,
}

impl Place {
    /// The row of a line table for code of this place.
    pub fn row(self, offset: u64) -> Row {
        Row { offset, file: self.file, line: self.line, column: self.column }
    }
}

impl Lines {
    /// Of a text.
    pub fn new(file: &str, text: &str) -> Lines {
        let count = text.bytes().filter(|byte| *byte == b'\n').count();
        let mut starts = Vec::with_capacity(count + 1);
        starts.push(0);
        starts.extend(text.match_indices('\n').map(|(at, _)| at as u32 + 1));
        let files = smallvec![File { name: file.into(), start: 0, lines: 0 }];
        Lines { files, starts, size: text.len() as u32 }
    }

    /// From this byte on, right behind the end of a line, the text is that of another file; files come in the order of their texts.
    pub fn add_file(&mut self, name: &str, start: usize) {
        let start = start as u32;
        let lines = self.starts.partition_point(|&line| line < start) as u32;
        self.files.push(File { name: name.into(), start, lines });
    }

    /// Names of the files, by their numbers.
    pub fn files(&self) -> impl ExactSizeIterator<Item = &str> {
        self.files.iter().map(|file| file.name.as_str())
    }

    /// The part of the text that a file has, without the end of a line that parts it from the next one.
    pub fn text_of(&self, file: usize) -> Range<usize> {
        let start = |file: &File| file.start as usize;
        let end = self.files.get(file + 1).map_or(self.size as usize, |next| start(next) - 1);
        self.files.get(file).map_or(end, start)..end
    }

    /// The place of the byte at `loc - 1`; none for 0, and for what is not in the text.
    pub fn place(&self, loc: u32) -> Option<Place> {
        let at = loc.checked_sub(1).filter(|&at| at < self.size)?;
        let line = self.starts.partition_point(|&start| start <= at);
        let file = self.files.partition_point(|file| file.start <= at) - 1;
        Some(Place {
            file: file as u32,
            line: line as u32 - self.files[file].lines,
            column: at - self.starts[line - 1] + 1,
        })
    }

    /// Where a line of the first file begins.
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
        let place = |file, line, column| Some(Place { file, line, column });
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
            assert_eq!(lines.place(at + 1), expected, "byte {at}");
        }
        assert_eq!(lines.place(0), None);
        let texts: Vec<&str> = (0..3).map(|file| &text[lines.text_of(file)]).collect();
        assert_eq!(texts, ["ab\ncd\n", "x\ny\n", "last"]);
        assert_eq!(lines.files().collect::<Vec<_>>(), ["a.k", "b.k", "c.k"]);
    }
}
