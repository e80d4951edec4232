//! The offsets in a section at which the assembly text needs lines in addition to the contents: where symbols
//! begin and end, and where relocations apply.

use crate::elf::{CodeObject, Relocation, Symbol};
use std::cmp::Ordering;

/// Event at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// End of a symbol: index in the symbol table.
    End(u32),
    /// Beginning of a symbol: index in the symbol table.
    Start(u32),
    /// Mark that has been handled elsewhere.
    Said,
}

/// The beginnings and ends of symbols in a section, sorted by offset. At the same offset, ends precede
/// beginnings.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    marks: Vec<(u64, Mark)>,
    next: usize,
}

/// Returns whether a symbol stands for an offset in a section, so that a label can define it. Symbols that
/// stand for a whole section or a file do not.
pub fn names_a_place(symbol: &Symbol<'_>) -> bool {
    const SECTION: u8 = 3;
    const FILE: u8 = 4;
    !symbol.name.is_empty() && !matches!(symbol.kind, SECTION | FILE)
}

impl Marks {
    /// Collects the beginnings and ends of symbols in section `index`. Symbols outside the section are
    /// ignored.
    pub fn for_section(object: &CodeObject<'_>, index: usize) -> Marks {
        let section = &object.sections[index];
        let base = if object.header.is_relocatable() { 0 } else { section.address };
        let mut marks = Vec::new();
        for (number, symbol) in object.symbols().iter().enumerate() {
            if usize::from(symbol.section) != index || !names_a_place(symbol) {
                continue;
            }
            let start = symbol.value.wrapping_sub(base);
            if start > section.size {
                continue;
            }
            marks.push((start, Mark::Start(number as u32)));
            match start.checked_add(symbol.size) {
                Some(end) if end <= section.size && symbol.size > 0 => {
                    marks.push((end, Mark::End(number as u32)))
                }
                _ => {}
            }
        }
        marks.sort_by(|(a, mark_a), (b, mark_b)| a.cmp(b).then_with(|| order(*mark_a, *mark_b)));
        Marks { marks, next: 0 }
    }

    /// Returns the offset of the next mark.
    pub fn next_place(&self) -> Option<u64> {
        self.marks.get(self.next).map(|(place, _)| *place)
    }

    /// Returns the offset of the next beginning of a symbol that is after `place`.
    pub fn next_start(&self, place: u64) -> Option<u64> {
        let rest = self.marks.get(self.next..)?;
        rest.iter().find(|(at, mark)| *at > place && matches!(mark, Mark::Start(_))).map(|(at, _)| *at)
    }

    /// Returns the symbol that covers exactly the bytes from `place` to `end`. Returns `None` if there is no
    /// such symbol, or if another symbol begins at `place` or between the two.
    pub fn only_start(&self, place: u64, end: u64) -> Option<u32> {
        if self.next_place()? != place {
            return None;
        }
        let mut rest = self.marks[self.next..].iter().skip_while(|(_, mark)| !matches!(mark, Mark::Start(_)));
        let number = match rest.next()? {
            &(at, Mark::Start(number)) if at == place => number,
            _ => return None,
        };
        let ends = |&(at, mark): &(u64, Mark)| at == end && mark == Mark::End(number);
        let is_alone = rest.next().is_some_and(|next| next.0 == end)
            && self.marks[self.next..]
                .iter()
                .skip_while(|(at, _)| *at < end)
                .take_while(|(at, _)| *at == end)
                .any(ends);
        is_alone.then_some(number)
    }

    /// Marks a later mark as handled elsewhere.
    pub fn forget(&mut self, place: u64, mark: Mark) {
        let ahead = self.marks[self.next..].iter_mut().take_while(|(at, _)| *at <= place);
        for entry in ahead.filter(|entry| **entry == (place, mark)) {
            entry.1 = Mark::Said;
        }
    }

    /// Takes the next mark if it is at or before `place`.
    pub fn take(&mut self, place: u64) -> Option<(u64, Mark)> {
        let &(at, mark) = self.marks.get(self.next).filter(|(at, _)| *at <= place)?;
        self.next += 1;
        Some((at, mark))
    }
}

fn order(a: Mark, b: Mark) -> Ordering {
    let key = |mark| match mark {
        Mark::End(number) => (0, number),
        Mark::Start(number) => (1, number),
        Mark::Said => (2, 0),
    };
    key(a).cmp(&key(b))
}

/// The relocations of a section, sorted by offset. Each relocation comes with the index of the symbol table
/// in which its symbol is.
#[derive(Clone, Debug, Default)]
pub struct Relocations {
    records: Vec<(u64, Relocation, usize)>,
    next: usize,
}

impl Relocations {
    /// Collects the relocations of section `index`.
    pub fn for_section(object: &CodeObject<'_>, index: usize) -> Relocations {
        let section = &object.sections[index];
        let relocatable = object.header.is_relocatable();
        let base = if relocatable { 0 } else { section.address };
        let mut records = Vec::new();
        for table in &object.relocation_tables {
            if relocatable && table.target != index {
                continue;
            }
            let inside = table.records.iter().filter_map(|record| {
                let offset = record.offset.checked_sub(base)?;
                (offset < section.size).then_some((offset, *record, table.symbols))
            });
            records.extend(inside);
        }
        records.sort_by_key(|(offset, _, _)| *offset);
        Relocations { records, next: 0 }
    }

    /// Returns the offset of the next relocation.
    pub fn next_place(&self) -> u64 {
        self.records.get(self.next).map_or(u64::MAX, |(offset, _, _)| *offset)
    }

    /// Returns the remaining relocations before `end`.
    pub fn remaining_before(&self, end: u64) -> impl Iterator<Item = &(u64, Relocation, usize)> {
        self.records[self.next..].iter().take_while(move |(offset, _, _)| *offset < end)
    }

    /// Takes the next relocation if it is before `end`.
    pub fn take(&mut self, end: u64) -> Option<(u64, Relocation, usize)> {
        let &record = self.records.get(self.next).filter(|(offset, _, _)| *offset < end)?;
        self.next += 1;
        Some(record)
    }
}
