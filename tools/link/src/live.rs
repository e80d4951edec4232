//! Decides which sections the output keeps. It normally keeps all sections. With `gc_sections`, it keeps only
//! the sections that can be reached from names that other objects may see.

use crate::input::{Object, Place, is_for_linkers};
use crate::symbols::{Global, Meaning, Symbols};
use crate::{Kind, Options};
use codeobj::elf::Section;
use objwriter::elf::{SHF_ALLOC, SHF_GNU_RETAIN, SHT_NOTE, SIGNATURES, STV_HIDDEN, STV_INTERNAL};
use rustc_hash::{FxHashMap, FxHashSet};

/// The sections and symbols that the output keeps.
#[derive(Default)]
pub struct Live {
    /// For each section of each object, whether it remains.
    pub sections: Vec<Vec<bool>>,
    /// Numbers of the global names that the output does not need although they are in no section. These are
    /// unused common symbols and undefined names.
    pub dropped: Vec<usize>,
}

/// Returns the sections that remain.
pub fn sections(symbols: &Symbols, options: &Options) -> Live {
    let may_stay = |object: &Object, n: usize, section: &Section| {
        let is_kept = options.kind == Kind::Relocatable && section.name == SIGNATURES;
        (is_kept || !is_for_linkers(section)) && !object.dropped[n]
    };
    let candidates = |object: &Object| -> Vec<bool> {
        object.sections().iter().enumerate().map(|(n, section)| may_stay(object, n, section)).collect()
    };
    let possible: Vec<Vec<bool>> = symbols.objects.iter().map(candidates).collect();
    if !options.gc_sections {
        return Live { sections: possible, dropped: Vec::new() };
    }
    let mut reach = Reach {
        symbols,
        live: possible.iter().map(|object| vec![false; object.len()]).collect(),
        possible,
        work: Vec::new(),
        bounded: FxHashMap::default(),
        used: FxHashSet::default(),
    };
    reach.find_bounded();
    reach.roots();
    while let Some((object, section)) = reach.work.pop() {
        for relocation in &symbols.objects[object].relocations[section] {
            let symbol = relocation.symbol as usize;
            if let Some((object, section)) = symbols.section_of(object, symbol) {
                reach.mark(object, section);
            } else if let Some(global) = symbols.global_of(&symbols.objects[object].symbols[symbol]) {
                reach.used.insert(global);
                symbols.bounds(global).into_iter().for_each(|name| reach.mark_named(name));
            }
        }
        if let Some(group) = symbols.objects[object].group_of[section] {
            symbols.objects[object].groups[group]
                .members
                .iter()
                .for_each(|&member| reach.mark(object, member));
        }
    }
    let is_unused = |&number: &usize| {
        let global = &symbols.globals[number];
        let may_go = match global.meaning {
            Meaning::Common { object, symbol, .. } => {
                let object = &symbols.objects[object];
                object.symbol_place(&object.symbols[symbol]) == Place::Common && !is_seen(global)
            }
            Meaning::Undefined { .. } | Meaning::Lazy(_) => !global.is_wanted,
            _ => false,
        };
        may_go && !reach.used.contains(&number)
    };
    let dropped = (0..symbols.globals.len()).filter(is_unused).collect();
    Live { sections: reach.live, dropped }
}

/// Returns whether a name must be kept because other objects can see it or the command line requests it.
fn is_seen(global: &Global) -> bool {
    let is_hidden = matches!(global.visibility, STV_HIDDEN | STV_INTERNAL) || global.is_local;
    !is_hidden || global.is_wanted
}

/// Returns whether a section is kept even if nothing refers to it: notes, sections with the retain flag, and
/// arrays of constructors and destructors.
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
    /// The sections, by name, whose beginning or end a symbol such as `__start_NAME` may denote.
    bounded: FxHashMap<&'a str, Vec<(usize, usize)>>,
    /// Numbers of global names that are needed and that no section contains.
    used: FxHashSet<usize>,
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

    /// Marks all sections named `name` as kept. It is called for a reference to the beginning or end of these
    /// sections, which means that the program reads their contents.
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

    /// Marks the sections that are kept in any case. These are the sections with names that other objects may
    /// see, notes, arrays of constructors and destructors, and sections with the retain flag. Sections that
    /// are not loaded are kept, too, but what they refer to need not be kept.
    fn roots(&mut self) {
        for global in &self.symbols.globals {
            if let (true, Meaning::Defined { object, symbol }) = (is_seen(global), global.meaning)
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
