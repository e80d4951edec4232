//! String tables in which a string may be the end of another, as LLVM lays them out.

use rustc_hash::FxHashMap;

/// A string table under construction.
#[derive(Default)]
pub(crate) struct Strings<'a> {
    offsets: FxHashMap<&'a str, u32>,
    /// The table's bytes, once finished.
    pub bytes: Vec<u8>,
}

impl<'a> Strings<'a> {
    /// Adds a string.
    pub fn add(&mut self, text: &'a str) {
        self.offsets.insert(text, 0);
    }

    /// Lays out the strings: sorted backwards, so that each comes right after one that it may be the end of.
    pub fn finish(&mut self) {
        let mut sorted: Vec<&'a str> = self.offsets.keys().copied().collect();
        sorted.sort_unstable_by(|a, b| b.bytes().rev().cmp(a.bytes().rev()));
        self.bytes.push(0);
        let mut previous = "";
        for text in sorted.into_iter().filter(|text| !text.is_empty()) {
            if !previous.ends_with(text) {
                self.bytes.extend_from_slice(text.as_bytes());
                self.bytes.push(0);
                previous = text;
            }
            self.offsets.insert(text, (self.bytes.len() - 1 - text.len()) as u32);
        }
    }

    /// Where a string begins.
    pub fn offset(&self, text: &str) -> u32 {
        self.offsets.get(text).copied().unwrap_or(0)
    }
}
