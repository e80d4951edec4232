//! Lines of the source text: what `MachInst::loc`, an offset, means to a person.

use smol_str::SmolStr;

/// Name and lines of a source text, without the text.
#[derive(Clone, Debug)]
pub struct Lines {
    /// Name of the file.
    pub file: SmolStr,
    /// Byte at which each line begins.
    starts: Vec<u32>,
    /// Bytes of the text.
    size: u32,
}

impl Lines {
    /// Of a text.
    pub fn new(file: &str, text: &str) -> Lines {
        let count = text.bytes().filter(|byte| *byte == b'\n').count();
        let mut starts = Vec::with_capacity(count + 1);
        starts.push(0);
        starts.extend(text.match_indices('\n').map(|(at, _)| at as u32 + 1));
        Lines { file: file.into(), starts, size: text.len() as u32 }
    }

    /// Line and column, counted from 1, of the byte at `loc - 1`; none for 0, and for what is not in the text.
    pub fn place(&self, loc: u32) -> Option<(u32, u32)> {
        let at = loc.checked_sub(1).filter(|&at| at < self.size)?;
        let line = self.starts.partition_point(|&start| start <= at);
        Some((line as u32, at - self.starts[line - 1] + 1))
    }

    /// Where a line begins.
    pub(crate) fn start(&self, line: u32) -> usize {
        self.starts.get(line as usize - 1).copied().unwrap_or(self.size) as usize
    }
}
