//! A cache that may hold stale lines: a line does not change when other caches write to memory.

use crate::memory::Memory;
use std::collections::BTreeMap;
use std::ops::Range;

/// One cache line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Line {
    words: Vec<u32>,
    /// Mask of the dirty dwords of the line. A dirty dword was written to the cache, but not yet to memory.
    dirty: u32,
}

/// The lines of a cache, by line number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Cache {
    lines: BTreeMap<u64, Line>,
}

/// Returns a mask of the low `bytes` bytes of a word.
pub(super) fn byte_mask(bytes: u32) -> u32 {
    if bytes >= 4 { u32::MAX } else { (1 << (bytes * 8)) - 1 }
}

impl Cache {
    pub(super) fn has(&self, line: u64) -> bool {
        self.lines.contains_key(&line)
    }

    /// Returns whether a line is in the cache and has dirty dwords, which are not yet written to memory.
    pub(super) fn is_dirty(&self, line: u64) -> bool {
        self.lines.get(&line).is_some_and(|line| line.dirty != 0)
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Loads a line from memory into the cache.
    pub(super) fn fill(&mut self, memory: &Memory, line: u64, bytes: u64) {
        let words = (0..bytes / 4).map(|word| {
            let address = line * bytes + word * 4;
            memory.find(address, 1).map_or(0, |(buffer, offset)| buffer.load_word((offset / 4) as usize))
        });
        self.lines.insert(line, Line { words: words.collect(), dirty: 0 });
    }

    /// Copies a line from another cache, such as that of the next level, into this cache.
    pub(super) fn copy(&mut self, from: &Cache, line: u64) {
        if let Some(found) = from.lines.get(&line) {
            self.lines.insert(line, Line { words: found.words.clone(), dirty: 0 });
        }
    }

    /// Returns up to 4 bytes at an address, if their line is in the cache.
    pub(super) fn load(&self, address: u64, bytes: u32, line_bytes: u64) -> Option<u32> {
        let line = self.lines.get(&(address / line_bytes))?;
        let at = address % line_bytes;
        let low = *line.words.get((at / 4) as usize)?;
        let high = line.words.get((at / 4) as usize + 1).copied().unwrap_or(0);
        let pair = u64::from(low) | u64::from(high) << 32;
        Some((pair >> (at % 4 * 8)) as u32 & byte_mask(bytes))
    }

    /// Writes an aligned dword to the cache but not to memory, so that the dword becomes dirty. The line must
    /// be in the cache.
    pub(super) fn keep(&mut self, address: u64, value: u32, line_bytes: u64) {
        let Some(line) = self.lines.get_mut(&(address / line_bytes)) else { return };
        let word = (address % line_bytes / 4) as usize;
        if let Some(place) = line.words.get_mut(word) {
            *place = value;
            line.dirty |= 1 << word;
        }
    }

    /// Returns the addresses and values of all dirty dwords in a range of lines, for the caller to write to
    /// memory. Marks these dwords as clean.
    pub(super) fn take_dirty(&mut self, lines: Range<u64>, line_bytes: u64) -> Vec<(u64, u32)> {
        let mut found = Vec::new();
        for (number, line) in self.lines.range_mut(lines) {
            for (word, &value) in line.words.iter().enumerate() {
                if line.dirty >> word & 1 != 0 {
                    found.push((number * line_bytes + word as u64 * 4, value));
                }
            }
            line.dirty = 0;
        }
        found
    }

    pub(super) fn drop_line(&mut self, line: u64) {
        self.lines.remove(&line);
    }

    /// Drops all lines without dirty dwords from the cache.
    pub(super) fn invalidate(&mut self) {
        self.invalidate_if(|_| true);
    }

    /// Drops the lines for which `which` returns true. Keeps lines that have dirty dwords.
    pub(super) fn invalidate_if(&mut self, which: impl Fn(u64) -> bool) {
        self.lines.retain(|&number, line| line.dirty != 0 || !which(number));
    }

    /// Loads a line from memory again. Dirty dwords of the line keep their values.
    pub(super) fn refresh(&mut self, memory: &Memory, line: u64, bytes: u64) {
        let Some(mut old) = self.lines.remove(&line) else { return };
        self.fill(memory, line, bytes);
        if let Some(new) = self.lines.get_mut(&line) {
            for (word, value) in new.words.iter().enumerate().filter(|(word, _)| old.dirty >> word & 1 == 0) {
                old.words[word] = *value;
            }
            *new = old;
        }
    }

    /// Returns the numbers of the lines that are in the cache.
    pub(super) fn lines(&self) -> Vec<u64> {
        self.lines.keys().copied().collect()
    }

    /// Evicts the first line without dirty dwords whose number is at least `from`. If there is none, evicts
    /// the first line without dirty dwords in the cache.
    pub(super) fn evict(&mut self, from: u64) {
        let clean = |(number, line): (&u64, &Line)| (line.dirty == 0).then_some(*number);
        let after = self.lines.range(from..).find_map(clean);
        if let Some(line) = after.or_else(|| self.lines.iter().find_map(clean)) {
            self.lines.remove(&line);
        }
    }

    /// Returns the number of the first line in the cache whose number is at least `from`. If there is none,
    /// returns the number of the first line in the cache.
    pub(super) fn line_from(&self, from: u64) -> u64 {
        self.lines.range(from..).next().or_else(|| self.lines.iter().next()).map_or(0, |(line, _)| *line)
    }
}
