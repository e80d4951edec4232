//! The symbol table of a relocatable object: which symbols are in it, and what their entries say.

use super::elf::{SHN_ABS, SHN_AMDGPU_LDS, SHN_COMMON, Sym};
use super::strings::Strings;
use crate::assembler::Assembler;
use crate::directive::symbols::sym::{STB_GLOBAL, STB_LOCAL, STT_COMMON};
use crate::expr::{Reduced, Value};
use crate::resolve::Target;
use crate::symbol::{Definition, Symbol, SymbolId};
use rustc_hash::FxHashMap;

const STT_SECTION: u8 = 3;
const STT_FILE: u8 = 4;

/// Entries in order, local ones first.
pub(super) struct Table {
    pub entries: Vec<Entry>,
    /// Number of local entries, the null symbol included.
    pub locals: u32,
    index: FxHashMap<Key, u32>,
}

/// An entry and its name.
pub(super) struct Entry {
    pub name: String,
    pub sym: Sym,
    /// The symbol, unless it stands for a section or a file.
    pub id: Option<SymbolId>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Symbol(u32),
    Section(u32),
}

impl Table {
    /// Collects the symbols. `section_index` tells the number of a section's header.
    pub fn new(asm: &Assembler, section_index: impl Fn(u32) -> u16) -> Result<Table, String> {
        let mut table = Table { entries: vec![Entry::null()], locals: 0, index: FxHashMap::default() };
        for name in &asm.files {
            let sym = Sym { info: STT_FILE, section: SHN_ABS, ..Sym::default() };
            table.entries.push(Entry { name: name.clone(), sym, id: None });
        }
        let mut globals = Vec::new();
        for &item in &asm.symbols.order {
            match item {
                Err(section) => {
                    if asm.sections[section as usize].relocated {
                        let sym =
                            Sym { info: STT_SECTION, section: section_index(section), ..Sym::default() };
                        let name = String::new();
                        table.add(Key::Section(section), Entry { name, sym, id: None });
                    }
                }
                Ok(id) if is_shown(&asm.symbols[id]) => {
                    let entry = entry(asm, id, &section_index)?;
                    match binding(&asm.symbols[id]) {
                        STB_LOCAL => table.add(Key::Symbol(id.0), entry),
                        _ => globals.push((id, entry)),
                    }
                }
                Ok(_) => {}
            }
        }
        table.locals = table.entries.len() as u32;
        for (id, entry) in globals {
            table.add(Key::Symbol(id.0), entry);
        }
        Ok(table)
    }

    fn add(&mut self, key: Key, entry: Entry) {
        self.index.insert(key, self.entries.len() as u32);
        self.entries.push(entry);
    }

    /// The number of what a relocation refers to.
    pub fn index(&self, target: Target) -> u32 {
        let key = match target {
            Target::Symbol(id) => Key::Symbol(id.0),
            Target::Section(id) => Key::Section(id),
        };
        self.index.get(&key).copied().unwrap_or(0)
    }

    pub fn index_of(&self, id: SymbolId) -> u32 {
        self.index(Target::Symbol(id))
    }

    pub fn add_names(&self, strings: &mut Strings) {
        self.entries.iter().for_each(|entry| strings.add(&entry.name));
    }

    pub fn write(&self, strings: &Strings, out: &mut Vec<u8>) {
        for entry in &self.entries {
            Sym { name: strings.offset(&entry.name), ..entry.sym }.write(out);
        }
    }
}

impl Entry {
    fn null() -> Entry {
        Entry { name: String::new(), sym: Sym::default(), id: None }
    }
}

/// Labels that begin with `.L` are private; what is neither defined nor declared counts only where it is used.
fn is_shown(symbol: &Symbol) -> bool {
    symbol.relocated || !symbol.is_temporary() && (symbol.is_defined() || symbol.binding.is_some())
}

/// Defined symbols are local and undefined ones global unless a directive says otherwise.
pub(super) fn binding(symbol: &Symbol) -> u8 {
    symbol.binding.unwrap_or(if symbol.is_defined() { STB_LOCAL } else { STB_GLOBAL })
}

fn entry(asm: &Assembler, id: SymbolId, section_index: &impl Fn(u32) -> u16) -> Result<Entry, String> {
    let symbol = &asm.symbols[id];
    let (place, value, kind) = place(asm, symbol)?;
    let size = match (symbol.definition, symbol.size) {
        (Definition::Common { size, .. } | Definition::Lds { size, .. }, _) => size,
        (_, None) => {
            aliased(asm, symbol).and_then(|symbol| symbol.size).and_then(|size| asm.known(size)).unwrap_or(0)
                as u64
        }
        (_, Some(size)) => {
            asm.known(size).ok_or_else(|| format!("the size of `{}` is not known", symbol.name))? as u64
        }
    };
    let section = match place {
        Place::Section(section) => section_index(section),
        Place::Special(number) => number,
    };
    let sym =
        Sym { name: 0, info: binding(symbol) << 4 | kind, other: symbol.visibility, section, value, size };
    Ok(Entry { name: symbol.name.to_string(), sym, id: Some(id) })
}

/// The symbol that `.set` makes another name of.
fn aliased<'a>(asm: &'a Assembler, symbol: &Symbol) -> Option<&'a Symbol> {
    let Definition::Value { value, .. } = symbol.definition else { return None };
    match asm.reduce(value) {
        Ok(Reduced { plus: Some(crate::expr::Term::Symbol(id)), minus: None, constant: 0, .. }) => {
            Some(&asm.symbols[id])
        }
        _ => None,
    }
}

enum Place {
    Section(u32),
    Special(u16),
}

fn place(asm: &Assembler, symbol: &Symbol) -> Result<(Place, u64, u8), String> {
    let kind = symbol.kind;
    Ok(match symbol.definition {
        Definition::None => (Place::Special(0), 0, kind),
        Definition::Label { section, offset } => (Place::Section(section), offset, kind),
        Definition::Common { align, .. } => {
            (Place::Special(SHN_COMMON), align, if kind == 0 { STT_COMMON } else { kind })
        }
        Definition::Lds { align, .. } => (Place::Special(SHN_AMDGPU_LDS), align, kind),
        Definition::Value { value: Value::Abs(number), .. } => (Place::Special(SHN_ABS), number as u64, kind),
        Definition::Value { value, .. } => match asm.reduce(value)? {
            Reduced { plus: None, minus: None, constant, .. } => {
                (Place::Special(SHN_ABS), constant as u64, kind)
            }
            Reduced { plus: Some(term), minus: None, constant, .. } => match asm.locate(term) {
                Some((section, offset)) => {
                    let kind = match term {
                        crate::expr::Term::Symbol(other) if kind == 0 => asm.symbols[other].kind,
                        _ => kind,
                    };
                    (Place::Section(section), offset.wrapping_add(constant as u64), kind)
                }
                None => return Err(format!("`{}` is set to something that is not defined", symbol.name)),
            },
            _ => return Err(format!("`{}` is set to a distance that is not known", symbol.name)),
        },
    })
}
