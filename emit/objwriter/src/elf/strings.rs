//! String tables in which a string may be the end of another, as LLVM lays them out.

use bumpalo::{Bump, collections::Vec as List};
use std::cmp::Ordering;

/// A string table under construction.
pub(crate) struct Strings<'a> {
    /// Once finished, in the order of [`Ending::backwards`].
    entries: List<'a, (Ending<'a>, u32)>,
    /// The table's bytes, once finished.
    pub bytes: List<'a, u8>,
}

/// A string that is compared from its end.
#[derive(Clone, Copy)]
struct Ending<'a> {
    /// The last eight letters, the last one highest: they decide nearly every comparison.
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
                // No shift by 64, where there is nothing to shift.
                from_end << ((64 - 8 * bytes.len()) % 64)
            }
        };
        Ending { last, text }
    }

    /// From the last letters on, what is longer first: each string comes right after those that it may be the end of.
    fn backwards(&self, other: &Ending) -> Ordering {
        let rest = || other.text.bytes().rev().cmp(self.text.bytes().rev());
        other.last.cmp(&self.last).then_with(rest)
    }
}

impl<'a> Strings<'a> {
    /// An empty table with room for so many strings.
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

    /// Where a string begins.
    pub fn offset(&self, text: &str) -> u32 {
        let wanted = Ending::new(text);
        self.entries.binary_search_by(|entry| entry.0.backwards(&wanted)).map_or(0, |n| self.entries[n].1)
    }
}
