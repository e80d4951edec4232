//! String tables in which a string may be the end of another, as LLVM lays them out.

use bumpalo::{Bump, collections::Vec as List};
use order::Order as _;
use std::cmp::Ordering;

/// A string table under construction.
pub(crate) struct Strings<'a> {
    /// Strings and where they begin; once finished, in the order of [`backwards`].
    offsets: List<'a, (&'a str, u32)>,
    /// The table's bytes, once finished.
    pub bytes: List<'a, u8>,
}

/// From the last letters on, what is longer first: each string comes right after those that it may be the end of.
fn backwards(a: &str, b: &str) -> Ordering {
    b.bytes().rev().cmp(a.bytes().rev())
}

impl<'a> Strings<'a> {
    /// An empty table with room for so many strings.
    pub fn new(count: usize, bump: &'a Bump) -> Strings<'a> {
        Strings { offsets: List::with_capacity_in(count, bump), bytes: List::new_in(bump) }
    }

    /// Adds a string.
    pub fn add(&mut self, text: &'a str) {
        self.offsets.push((text, 0));
    }

    /// Lays out the strings.
    pub fn finish(&mut self) {
        self.offsets.order_unstable_by(|a, b| backwards(a.0, b.0));
        self.offsets.dedup_by_key(|entry| entry.0);
        self.bytes.reserve_exact(1 + self.offsets.iter().map(|(text, _)| text.len() + 1).sum::<usize>());
        self.bytes.push(0);
        let mut previous = "";
        for (text, offset) in self.offsets.iter_mut().filter(|(text, _)| !text.is_empty()) {
            if !previous.ends_with(*text) {
                self.bytes.extend_from_slice(text.as_bytes());
                self.bytes.push(0);
                previous = *text;
            }
            *offset = (self.bytes.len() - 1 - text.len()) as u32;
        }
    }

    /// Where a string begins.
    pub fn offset(&self, text: &str) -> u32 {
        self.offsets.binary_search_by(|entry| backwards(entry.0, text)).map_or(0, |n| self.offsets[n].1)
    }
}
