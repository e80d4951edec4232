//! ELF string tables. A string that is the end of another string shares that string's bytes. The layout is
//! that of LLVM.

use bumpalo::{Bump, collections::Vec as List};
use std::cmp::Ordering;

/// String table under construction.
pub(crate) struct Strings<'a> {
    /// The strings with their offsets in the table. After `finish`, they are in the order of
    /// [`Ending::backwards`].
    entries: List<'a, (Ending<'a>, u32)>,
    /// Bytes of the table, after `finish`.
    pub bytes: List<'a, u8>,
}

/// String that is compared from its end.
#[derive(Clone, Copy)]
struct Ending<'a> {
    /// The last eight bytes of the string as a number, with the string's last byte most significant.
    /// Comparing these numbers is enough for nearly all comparisons of two strings.
    last: u64,
    text: &'a str,
}

impl<'a> Ending<'a> {
    fn new(text: &'a str) -> Ending<'a> {
        let bytes = text.as_bytes();
        let last = match bytes.last_chunk::<8>() {
            Some(last) => u64::from_le_bytes(*last),
            None => {
                let from_end = bytes.iter().rev().fold(0, |last, &byte| last << 8 | u64::from(byte));
                // For an empty string the shift amount would be 64, which Rust does not allow; `% 64` makes
                // it 0.
                from_end << ((64 - 8 * bytes.len()) % 64)
            }
        };
        Ending { last, text }
    }

    /// Compares two strings backwards, from their last bytes. If one string is the end of the other, the
    /// longer string comes first. So in sorted order, each string comes right after the strings whose bytes
    /// it may share.
    fn backwards(&self, other: &Ending) -> Ordering {
        let rest = || other.text.bytes().rev().cmp(self.text.bytes().rev());
        other.last.cmp(&self.last).then_with(rest)
    }
}

impl<'a> Strings<'a> {
    /// Returns an empty table with capacity for `count` strings.
    pub fn new(count: usize, bump: &'a Bump) -> Strings<'a> {
        Strings { entries: List::with_capacity_in(count, bump), bytes: List::new_in(bump) }
    }

    /// Adds a string.
    pub fn add(&mut self, text: &'a str) {
        self.entries.push((Ending::new(text), 0));
    }

    /// Lays out the strings.
    pub fn finish(&mut self) {
        self.entries.sort_unstable_by(|a, b| a.0.backwards(&b.0));
        self.entries.dedup_by_key(|entry| entry.0.text);
        self.bytes.reserve_exact(1 + self.entries.iter().map(|entry| entry.0.text.len() + 1).sum::<usize>());
        self.bytes.push(0);
        let mut previous = "";
        for (Ending { text, .. }, offset) in self.entries.iter_mut().filter(|entry| !entry.0.text.is_empty())
        {
            if !previous.ends_with(*text) {
                self.bytes.extend_from_slice(text.as_bytes());
                self.bytes.push(0);
                previous = *text;
            }
            *offset = (self.bytes.len() - 1 - text.len()) as u32;
        }
    }

    /// Returns the offset of a string.
    pub fn offset(&self, text: &str) -> u32 {
        let wanted = Ending::new(text);
        self.entries.binary_search_by(|entry| entry.0.backwards(&wanted)).map_or(0, |n| self.entries[n].1)
    }
}
