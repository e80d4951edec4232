//! Writes names and expressions as the assembler reads them.

use super::marks::names_a_place;
use crate::elf::{CodeObject, Relocation, SHN_AMDGPU_LDS, Symbol};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::fmt::{self, Write};

/// Names that expressions in the text can use: those of the file's symbols, and the labels that the
/// disassembler adds.
pub struct Names<'data> {
    /// For each name, the number of the first symbol with that name. If several symbols have the name, only
    /// the first one can be a label in the text.
    first: HashMap<&'data str, usize>,
    /// Prefix of every label that is not from the file.
    prefix: String,
    /// Sections whose beginnings are used in expressions.
    bases: RefCell<BTreeSet<usize>>,
    /// Symbols of loadable files, sorted by address.
    by_address: Vec<(u64, &'data str)>,
}

impl<'data> Names<'data> {
    /// Collects the names of a file.
    pub fn new(object: &CodeObject<'data>) -> Names<'data> {
        let mut first = HashMap::new();
        for (number, symbol) in
            object.symbols().iter().enumerate().filter(|(_, symbol)| names_a_place(symbol))
        {
            first.entry(symbol.name).or_insert(number);
        }
        // The prefix `.L` keeps labels out of the symbol table.
        let mut prefix = ".L_".to_owned();
        while first.keys().any(|name| name.starts_with(&prefix)) {
            prefix.push('_');
        }
        let mut by_address: Vec<(u64, &str)> = Vec::new();
        if !object.header.is_relocatable() {
            let symbols =
                object.symbols().iter().filter(|symbol| !symbol.is_undefined() && names_a_place(symbol));
            by_address.extend(symbols.map(|symbol| (symbol.value, symbol.name)));
            by_address.sort();
        }
        Names { first, prefix, bases: RefCell::default(), by_address }
    }

    /// Returns a symbol at an address of a loadable file.
    pub fn name_at(&self, address: u64) -> Option<&'data str> {
        let index = self.by_address.binary_search_by_key(&address, |(at, _)| *at).ok()?;
        Some(self.by_address[index].1)
    }

    /// Returns all symbols at an address of a loadable file.
    pub fn all_at(&self, address: u64) -> impl Iterator<Item = &'data str> {
        let first = self.by_address.partition_point(|(at, _)| *at < address);
        self.by_address[first..].iter().take_while(move |(at, _)| *at == address).map(|(_, name)| *name)
    }

    /// Inserts labels at the beginnings of sections. A section needs a label if [`Names::section`] was called
    /// for it, because an expression then refers to the section. `begins` contains all sections in the order
    /// of the text, each with the offset in the text at which its contents begin.
    pub fn put_section_labels(&self, begins: &[(usize, usize)], out: &mut String) {
        let bases = self.bases.borrow();
        // The last label is inserted first, so that the offsets of the labels before it stay valid.
        for (index, place) in begins.iter().rev().filter(|(index, _)| bases.contains(index)) {
            out.insert_str(*place, &format!("{}:\n", self.section_label(*index)));
        }
    }

    fn section_label(&self, index: usize) -> String {
        format!("{}section{index}", self.prefix)
    }

    /// Returns whether symbol number `number` can be a label. It cannot if an earlier symbol has the same
    /// name.
    pub fn is_unique(&self, number: usize, symbol: &Symbol<'_>) -> bool {
        self.first.get(symbol.name) == Some(&number)
    }

    /// Writes the label of an offset in a section.
    pub fn label(&self, section: usize, offset: i64, out: &mut String) -> fmt::Result {
        out.push_str(&self.prefix);
        // Most labels are in `.text`, so their names are kept short: they have no section number.
        if section != 0 {
            write!(out, "{section}_")?;
        }
        match offset {
            0.. => write!(out, "{offset:04x}"),
            _ => write!(out, "m{:04x}", offset.unsigned_abs()),
        }
    }

    /// Writes the label of a section's beginning.
    pub fn section(&self, index: usize, out: &mut String) -> fmt::Result {
        self.bases.borrow_mut().insert(index);
        out.write_str(&self.section_label(index))
    }
}

/// Appends a name. It is put in quotes if the assembler would otherwise not read it as one name.
pub fn name(name: &str, out: &mut String) {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '@');
    let starts_plain = name.starts_with(|c: char| !c.is_ascii_digit() && c != '@');
    if starts_plain && name.chars().all(plain) {
        out.push_str(name);
        return;
    }
    out.push('"');
    for c in name.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push('?'),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Returns the form of the expression from which an assembler makes a relocation of type `kind` in a field of
/// `bytes` bytes. The string is the suffix of the symbol. The flag says whether the current position is
/// subtracted from the symbol. Returns `None` if no expression makes such a relocation.
fn form(kind: u32, bytes: usize) -> Option<(&'static str, bool)> {
    Some(match (kind, bytes) {
        (1, 4) => ("@abs32@lo", false),
        (2, 4) => ("@abs32@hi", false),
        (3, 8) => ("", false),
        (4, 4) => ("", true),
        (5, 8) => ("@rel64", false),
        (6, 4) => ("", false),
        (7, 4) => ("@gotpcrel", false),
        (8, 4) => ("@gotpcrel32@lo", false),
        (9, 4) => ("@gotpcrel32@hi", false),
        (10, 4) => ("@rel32@lo", false),
        (11, 4) => ("@rel32@hi", false),
        // The addend of `R_AMDGPU_RELATIVE64` is an address in the file, to which the loader adds the load
        // address. So the expression is simply this address.
        (13, 8) => ("", false),
        _ => return None,
    })
}

/// Returns the size in bytes of the field that a relocation of this type changes.
pub fn field_size(kind: u32) -> usize {
    if matches!(kind, 3 | 5 | 13) { 8 } else { 4 }
}

/// Place that an expression can name.
enum Base<'data> {
    /// A symbol.
    Symbol(&'data str),
    /// The beginning of a section.
    Section(usize),
}

/// Appends the expression from which an assembler makes this relocation. Returns `false` if there is no such
/// expression. `instruction` says whether the expression is an operand of an instruction. In such an operand,
/// a plain symbol means the distance from the current position, and `.` is not available.
pub fn relocation(
    object: &CodeObject<'_>,
    names: &Names<'_>,
    record: &Relocation,
    table: usize,
    instruction: bool,
    out: &mut String,
) -> Result<bool, fmt::Error> {
    let Some((suffix, relative)) = form(record.kind, field_size(record.kind)) else { return Ok(false) };
    let symbol = object.symbols_of(table).get(record.symbol as usize).filter(|_| record.symbol != 0);
    let (base, addend) = match symbol {
        Some(symbol) if names_a_place(symbol) => (Base::Symbol(symbol.name), record.addend),
        Some(symbol) if symbol.section != 0 && symbol.section < SHN_AMDGPU_LDS => {
            (Base::Section(usize::from(symbol.section)), record.addend)
        }
        Some(_) => return Ok(false),
        None => match loaded_place(object, record.addend) {
            Some((section, offset)) => (Base::Section(section), offset),
            None => return Ok(false),
        },
    };
    // In an instruction operand, a plain symbol means the distance from the current position, so the absolute
    // value of a symbol cannot be expressed.
    let relative = match (suffix, relative, instruction) {
        ("", false, true) => return Ok(false),
        ("", true, true) => false,
        (_, relative, _) => relative,
    };
    match base {
        Base::Symbol(symbol) => name(symbol, out),
        Base::Section(index) => names.section(index, out)?,
    }
    out.push_str(suffix);
    if relative {
        out.push_str("-.");
    }
    if addend != 0 {
        write!(out, "{addend:+}")?;
    }
    Ok(true)
}

/// Returns the section that contains an address of a loadable file, and the offset in that section.
fn loaded_place(object: &CodeObject<'_>, address: i64) -> Option<(usize, i64)> {
    let address = u64::try_from(address).ok().filter(|_| !object.header.is_relocatable())?;
    let holds = |section: &crate::elf::Section<'_>| {
        section.is_loaded()
            && address.checked_sub(section.address).is_some_and(|offset| offset < section.size)
    };
    let index = object.sections.iter().position(holds)?;
    Some((index, (address - object.sections[index].address) as i64))
}
