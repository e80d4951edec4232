//! What the outer ELF files of both OpenCL formats share.
//!
//! The sections `.comment`, `.rodata` and `.text` hold records that symbols name. Other sections, as
//! `.llvmir`, `.source` and `.brig`, hold what an earlier stage of the compiler made.

use crate::bytes::{Bytes, Claims, Result, Unclaimed};
use crate::elf::{Class, File, Object, Place, Section, Symbol};
use crate::fields::{Field, List};

/// Names of the sections whose contents are records.
pub(crate) const RECORDS: [&str; 3] = [".comment", ".rodata", ".text"];

pub(crate) const COMMENT: usize = 0;
pub(crate) const RODATA: usize = 1;
pub(crate) const TEXT: usize = 2;

/// Symbol that the format gives no meaning, with the bytes that the symbol names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extra<'a> {
    /// The symbol. A place in a section is an index of the binary's `sections`.
    pub symbol: Symbol<'a>,
    /// `.comment`, `.rodata` or `.text`, if the symbol is in one of these. Its value is then 0.
    pub section: Option<&'a str>,
    /// The bytes, if the symbol is in one of the three sections.
    pub data: &'a [u8],
}

impl Extra<'_> {
    /// Returns the fields of the symbol.
    pub fn fields(&self) -> Vec<Field> {
        let mut list = List(self.symbol.fields());
        if let Some(section) = self.section {
            list.add("record section", section);
            list.size("contents", self.data);
        }
        list.0
    }
}

/// Outer file that is read.
pub(crate) struct Outer<'a> {
    pub object: Object<'a>,
    whole: Bytes<'a>,
    claims: Claims,
    /// Records that must not overlap.
    records: Claims,
    records_at: [Option<usize>; 3],
}

impl<'a> Outer<'a> {
    pub fn read(whole: Bytes<'a>) -> Result<Outer<'a>> {
        let file = File::parse(whole)?;
        let object = Object::from_file(&file)?;
        let records_at = RECORDS.map(|name| object.sections.iter().position(|section| section.name == name));
        let mut claims = Claims::default();
        file.tables.iter().for_each(|table| claims.add(*table));
        for section in &file.sections {
            let is_records = records_at.iter().flatten().any(|&index| {
                let records = &object.sections[index];
                (records.name, records.origin.0) == (section.name, section.data.base)
            });
            if !is_records {
                claims.add(section.data);
            }
        }
        Ok(Outer { object, whole, claims, records: Claims::default(), records_at })
    }

    /// Returns one of the three sections of records.
    pub fn records(&self, index: usize) -> Option<Bytes<'a>> {
        self.records_at[index].map(|index| self.object.sections[index].bytes())
    }

    fn is_record(&self, symbol: &Symbol) -> bool {
        matches!(symbol.place, Place::Section(index) if self.records_at.contains(&Some(index)))
    }

    /// Returns the bytes that a symbol names. [`Outer::claim`] claims them, or [`Outer::claim_but`] a part of
    /// them.
    pub fn record(&mut self, symbol: &Symbol<'a>, section: usize) -> Result<Bytes<'a>> {
        let (name, expected) = (symbol.name, RECORDS[section]);
        if self.records_at[section].is_none()
            || symbol.place != Place::Section(self.records_at[section].unwrap_or(0))
        {
            return Err(self.whole.error(0, format!("symbol `{name}` is not in section `{expected}`")));
        }
        let bytes = self.records(section).expect("the section is there");
        let contents = bytes.part(symbol.value, symbol.size, &format!("symbol `{name}`"))?;
        self.records.add(contents);
        Ok(contents)
    }

    /// Returns the bytes that a symbol names, and claims these bytes.
    pub fn contents(&mut self, symbol: &Symbol<'a>, section: usize) -> Result<Bytes<'a>> {
        let contents = self.record(symbol, section)?;
        self.claim(contents);
        Ok(contents)
    }

    pub fn claim(&mut self, bytes: Bytes) {
        self.claims.add(bytes);
    }

    /// Claims the bytes but those that the claims on them leave out.
    pub fn claim_but(&mut self, bytes: Bytes<'a>, claims: Claims) -> Result<()> {
        let mut at = bytes.base;
        for gap in claims.gaps(bytes) {
            self.claims.add(bytes.part(at - bytes.base, gap.offset - at, "a record")?);
            at = gap.offset + gap.size;
        }
        self.claims.add(bytes.part(at - bytes.base, bytes.base + bytes.len() - at, "a record")?);
        Ok(())
    }

    /// Returns the symbols without meaning, made independent of the three sections.
    pub fn extra(&mut self, symbol: &Symbol<'a>) -> Result<Extra<'a>> {
        let mut symbol = symbol.clone();
        let Place::Section(index) = symbol.place else {
            return Ok(Extra { symbol, section: None, data: &[] });
        };
        if !self.is_record(&symbol) {
            let records_before = self.records_at.iter().flatten().filter(|&&record| record < index).count();
            symbol.place = Place::Section(index - records_before);
            return Ok(Extra { symbol, section: None, data: &[] });
        }
        let section =
            self.records_at.iter().position(|&record| record == Some(index)).expect("it is one of the three");
        let data = self.contents(&symbol, section)?.data;
        symbol.place = Place::Undefined;
        symbol.value = 0;
        Ok(Extra { symbol, section: Some(RECORDS[section]), data })
    }

    /// Returns the sections that are not one of the three, and the bytes that nothing has claimed.
    pub fn finish(mut self) -> Result<(Vec<Section<'a>>, Vec<Unclaimed>)> {
        self.records.must_not_overlap("the contents of two symbols")?;
        let records_at = self.records_at;
        let sections = self.object.sections.into_iter().enumerate();
        let sections =
            sections.filter(|(index, _)| !records_at.contains(&Some(*index))).map(|(_, section)| section);
        Ok((sections.collect(), self.claims.gaps(self.whole)))
    }
}

/// Outer file that is written.
pub(crate) struct Builder<'a> {
    class: Class,
    machine: u16,
    flags: u32,
    records: [Vec<u8>; 3],
    symbols: Vec<(std::borrow::Cow<'a, str>, u8, usize, u64, u64)>,
}

/// Types of symbols.
pub(crate) const OBJECT: u8 = 1;
pub(crate) const FUNCTION: u8 = 2;

impl<'a> Builder<'a> {
    pub fn new(class: Class, machine: u16, flags: u32) -> Builder<'a> {
        Builder { class, machine, flags, records: Default::default(), symbols: Vec::new() }
    }

    /// Adds bytes to one of the three sections, and a symbol that names the bytes.
    pub fn add(&mut self, name: impl Into<std::borrow::Cow<'a, str>>, kind: u8, section: usize, data: &[u8]) {
        let value = self.records[section].len() as u64;
        self.records[section].extend_from_slice(data);
        self.symbols.push((name.into(), kind, section, value, data.len() as u64));
    }

    /// Adds bytes to one of the three sections without a symbol.
    pub fn add_bytes(&mut self, section: usize, data: &[u8]) {
        self.records[section].extend_from_slice(data);
    }

    /// Writes the file with these other sections and symbols.
    pub fn write(mut self, sections: &[Section], extras: &[Extra], has: [bool; 3]) -> Vec<u8> {
        let mut extra_symbols = Vec::new();
        let mut indices = [None; 3];
        let mut count = 0;
        for (index, present) in has.into_iter().enumerate() {
            indices[index] = present.then_some(count);
            count += usize::from(present);
        }
        for extra in extras {
            let mut symbol = extra.symbol.clone();
            if let Some(section) = RECORDS.iter().position(|&name| extra.section == Some(name)) {
                symbol.value = self.records[section].len() as u64;
                symbol.place = Place::Section(indices[section].expect("the section is there"));
                self.records[section].extend_from_slice(extra.data);
            } else if let Place::Section(index) = symbol.place {
                symbol.place = Place::Section(count + index);
            }
            extra_symbols.push(symbol);
        }
        let mut object = Object::new(self.class, 2, self.machine);
        object.flags = self.flags;
        // SHF_ALLOC is 2, SHF_EXECINSTR is 4.
        let flags = [0, 2, 6];
        for index in (0..RECORDS.len()).filter(|&index| has[index]) {
            object.sections.push(Section::new(RECORDS[index], flags[index], &self.records[index]));
        }
        object.sections.extend_from_slice(sections);
        for (name, kind, section, value, size) in &self.symbols {
            let place = Place::Section(indices[*section].expect("the section is there"));
            object.symbols.push(Symbol::local(name, *kind, place, *value, *size));
        }
        object.symbols.extend(extra_symbols);
        object.write()
    }
}
