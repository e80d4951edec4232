//! Which sections stay: all, or those that can be reached from what other objects may see.

use crate::input::{Object, is_for_linkers};
use crate::symbols::{Meaning, Symbols};
use codeobj::elf::Section;
use rustc_hash::FxHashMap;
use objwriter::elf::{SHF_ALLOC, SHF_GNU_RETAIN, SHT_NOTE, STV_HIDDEN, STV_INTERNAL};

/// For each object which of its sections stay.
pub fn sections(symbols: &Symbols, collect: bool) -> Vec<Vec<bool>> {
    let may_stay =
        |object: &Object, n: usize, section: &Section| !is_for_linkers(section) && !object.dropped[n];
    let candidates = |object: &Object| -> Vec<bool> {
        object.sections().iter().enumerate().map(|(n, section)| may_stay(object, n, section)).collect()
    };
    let possible: Vec<Vec<bool>> = symbols.objects.iter().map(candidates).collect();
    if !collect {
        return possible;
    }
    let mut reach = Reach {
        symbols,
        live: possible.iter().map(|object| vec![false; object.len()]).collect(),
        possible,
        work: Vec::new(),
        bounded: FxHashMap::default(),
    };
    reach.find_bounded();
    reach.roots();
    while let Some((object, section)) = reach.work.pop() {
        for relocation in &symbols.objects[object].relocations[section] {
            let symbol = relocation.symbol as usize;
            if let Some((object, section)) = symbols.section_of(object, symbol) {
                reach.mark(object, section);
            } else if let Some(name) = symbols
                .global_of(&symbols.objects[object].symbols[symbol])
                .and_then(|global| symbols.bounds(global))
            {
                reach.mark_named(name);
            }
        }
        if let Some(group) = symbols.objects[object].group_of[section] {
            symbols.objects[object].groups[group]
                .members
                .iter()
                .for_each(|&member| reach.mark(object, member));
        }
    }
    reach.live
}

/// What is there though nothing refers to it: notes, what asks to stay, addresses of constructors and destructors.
fn is_root(section: &Section) -> bool {
    const SHT_INIT_ARRAY: u32 = 14;
    const SHT_FINI_ARRAY: u32 = 15;
    matches!(section.kind, SHT_NOTE | SHT_INIT_ARRAY | SHT_FINI_ARRAY) || section.flags & SHF_GNU_RETAIN != 0
}

struct Reach<'s, 'a> {
    symbols: &'s Symbols<'a>,
    possible: Vec<Vec<bool>>,
    live: Vec<Vec<bool>>,
    work: Vec<(usize, usize)>,
    /// Sections by names of which somebody asks for the ends.
    bounded: FxHashMap<&'a str, Vec<(usize, usize)>>,
}

impl<'a> Reach<'_, 'a> {
    fn find_bounded(&mut self) {
        let names = (0..self.symbols.globals.len()).filter_map(|global| self.symbols.bounds(global));
        let names = names.map(|section| (section, Vec::new()));
        self.bounded.extend(names);
        for (number, object) in self.symbols.objects.iter().enumerate() {
            for (n, section) in object.sections().iter().enumerate() {
                if let Some(list) = self.bounded.get_mut(section.name) {
                    list.push((number, n));
                }
            }
        }
    }

    /// Who asks for the ends of a section wants what is between them.
    fn mark_named(&mut self, name: &'a str) {
        for (object, section) in self.bounded.remove(name).unwrap_or_default() {
            self.mark(object, section);
        }
    }

    fn mark(&mut self, object: usize, section: usize) {
        if self.possible[object][section] && !std::mem::replace(&mut self.live[object][section], true) {
            self.work.push((object, section));
        }
    }

    /// What other objects may see, notes, what asks to stay. What is not loaded stays, and keeps nothing.
    fn roots(&mut self) {
        for global in &self.symbols.globals {
            let is_seen = !matches!(global.visibility, STV_HIDDEN | STV_INTERNAL);
            let is_seen = is_seen && !global.is_local || global.is_wanted;
            if let (true, Meaning::Defined { object, symbol }) = (is_seen, global.meaning)
                && let Some((object, section)) = self.symbols.section_of(object, symbol)
            {
                self.mark(object, section);
            }
        }
        for object in 0..self.symbols.objects.len() {
            let count = self.symbols.objects[object].sections().len();
            for n in 0..count {
                let section = self.symbols.objects[object].sections()[n];
                if section.flags & SHF_ALLOC == 0 {
                    self.live[object][n] = self.possible[object][n];
                } else if is_root(&section) {
                    self.mark(object, n);
                }
            }
        }
    }
}
