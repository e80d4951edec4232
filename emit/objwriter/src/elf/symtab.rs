//! The symbol table: its entries and their order.

use super::format::{SHN_ABS, SHN_AMDGPU_LDS, SHN_COMMON, Sym};
use super::strings::Strings;
use super::{Object, Place, STB_LOCAL, Symbol, Target};
use bumpalo::{Bump, collections::Vec as List};

const STT_SECTION: u8 = 3;

/// Symbol table entries in order, local symbols first.
pub(super) struct Table<'a> {
    pub entries: List<'a, Entry<'a>>,
    /// Number of local entries, the null symbol included.
    pub locals: u32,
    /// For each symbol (`of_symbol`) and each section (`of_section`) of the object, the number of its entry
    /// in the symbol table; 0 if it has no entry.
    of_symbol: List<'a, u32>,
    of_section: List<'a, u32>,
}

/// Entry with its name.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a> {
    pub name: &'a str,
    pub sym: Sym,
    /// Number of the symbol in the object; `None` if the entry describes a section or a file.
    pub symbol: Option<u32>,
}

impl<'a> Table<'a> {
    /// Collects the entries of the symbol table. `section_number` and `group_number` return the number of the
    /// section header of a section or group.
    pub fn new(
        object: &Object<'a>,
        section_number: impl Fn(u32) -> u16,
        group_number: impl Fn(u32) -> u16,
        bump: &'a Bump,
    ) -> Table<'a> {
        let number_of = |place: Place| match place {
            Place::Section(section, _) => section_number(section),
            Place::Group(group) => group_number(group),
            Place::Undefined => 0,
            Place::Absolute(_) => SHN_ABS,
            Place::Common(_) => SHN_COMMON,
            Place::Lds(_) => SHN_AMDGPU_LDS,
        };
        let mut table = Table {
            entries: List::with_capacity_in(1 + object.order.len(), bump),
            locals: 0,
            of_symbol: bumpalo::vec![in bump; 0; object.symbols.len()],
            of_section: bumpalo::vec![in bump; 0; object.sections.len()],
        };
        table.entries.push(Entry { name: "", sym: Sym::default(), symbol: None });
        let is_local = |number: u32| object.symbols[number as usize].binding == STB_LOCAL;
        for &shown in &object.order {
            match shown {
                Target::Section(number) => {
                    let section = section_number(number);
                    table.of_section[number as usize] = table.entries.len() as u32;
                    let sym = Sym { info: STT_SECTION, section, ..Sym::default() };
                    table.entries.push(Entry { name: "", sym, symbol: None });
                }
                Target::Symbol(number) if is_local(number) => table.add(object, number, &number_of),
                Target::Symbol(_) | Target::Nothing => {}
            }
        }
        table.locals = table.entries.len() as u32;
        for &shown in &object.order {
            if let Target::Symbol(number) = shown
                && !is_local(number)
            {
                table.add(object, number, &number_of);
            }
        }
        table
    }

    fn add(&mut self, object: &Object<'a>, number: u32, number_of: &impl Fn(Place) -> u16) {
        self.of_symbol[number as usize] = self.entries.len() as u32;
        let symbol = object.symbols[number as usize];
        self.entries.push(Entry {
            name: symbol.name,
            sym: entry(&symbol, number_of(symbol.place)),
            symbol: Some(number),
        });
    }

    /// Returns the number of the symbol table entry to which a relocation refers.
    pub fn index(&self, target: Target) -> u32 {
        match target {
            Target::Symbol(number) => self.of_symbol.get(number as usize).copied().unwrap_or(0),
            Target::Nothing => 0,
            Target::Section(number) => self.of_section[number as usize],
        }
    }

    pub fn add_names(&self, strings: &mut Strings<'a>) {
        self.entries.iter().for_each(|entry| strings.add(entry.name));
    }

    pub fn write(&self, strings: &Strings<'a>, out: &mut Vec<u8>) {
        for entry in &self.entries {
            Sym { name: strings.offset(entry.name), ..entry.sym }.write(out);
        }
    }
}

fn entry(symbol: &Symbol, section: u16) -> Sym {
    let value = match symbol.place {
        Place::Undefined | Place::Group(_) => 0,
        Place::Section(_, offset) => offset,
        Place::Absolute(number) => number,
        Place::Common(align) | Place::Lds(align) => align,
    };
    let info = symbol.binding << 4 | symbol.kind;
    Sym { name: 0, info, other: symbol.visibility, section, value, size: symbol.size }
}
