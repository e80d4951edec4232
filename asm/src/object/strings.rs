//! String tables in which a string may be the end of another, as LLVM lays them out.

use rustc_hash::FxHashMap;

/// A string table under construction.
#[derive(Default)]
pub(super) struct Strings {
    offsets: FxHashMap<Box<str>, u32>,
    /// The table's bytes, once finished.
    pub bytes: Vec<u8>,
}

impl Strings {
    pub fn add(&mut self, text: &str) {
        if !self.offsets.contains_key(text) {
            self.offsets.insert(text.into(), 0);
        }
    }

    /// Lays out the strings: sorted backwards, so that each comes right after one that it may be the end of.
    pub fn finish(&mut self) {
        let mut sorted: Vec<&str> = self.offsets.keys().map(|key| &**key).collect();
        sorted.sort_unstable_by(|a, b| b.bytes().rev().cmp(a.bytes().rev()));
        let mut bytes = vec![0];
        let mut placed: Vec<(Box<str>, u32)> = Vec::with_capacity(sorted.len());
        let mut previous = "";
        for text in sorted {
            if !text.is_empty() {
                if !previous.ends_with(text) {
                    bytes.extend_from_slice(text.as_bytes());
                    bytes.push(0);
                    previous = text;
                }
                placed.push((text.into(), (bytes.len() - 1 - text.len()) as u32));
            }
        }
        self.offsets = placed.into_iter().collect();
        self.bytes = bytes;
    }

    /// Where a string begins.
    pub fn offset(&self, text: &str) -> u32 {
        self.offsets.get(text).copied().unwrap_or(0)
    }
}
