//! Relocatable object files in the form that the linker needs: sections, symbols, relocations by section, and
//! section groups.

use codeobj::elf::{CodeObject, Relocation, Section, Symbol};
use objwriter::elf::{SHT_GROUP, SHT_NOBITS, STB_LOCAL};
use rustc_hash::FxHashMap;

const SHT_RELA: u32 = 4;
const SHT_REL: u32 = 9;
const SHF_COMPRESSED: u64 = 0x800;
const GRP_COMDAT: u32 = 1;
/// Section numbers from here on have special meanings.
const SHN_LORESERVE: u16 = 0xff00;
const SHN_ABS: u16 = 0xfff1;
const SHN_COMMON: u16 = 0xfff2;
/// Largest size of a section, and largest offset, that is accepted. Real GPU objects are far smaller. With
/// this limit, sums of sizes cannot overflow.
const MAX_SIZE: u64 = 1 << 40;
const MAX_ALIGN: u64 = 1 << 20;

/// Group of sections that are kept or dropped together.
pub struct Group<'a> {
    /// Name that identifies the group across objects.
    pub signature: &'a str,
    /// Whether only one of the groups with this signature is kept.
    pub comdat: bool,
    pub members: Vec<usize>,
}

/// Relocatable object file.
pub struct Object<'a> {
    /// Name for messages: `main.o`, or `lib.a(sort.o)`.
    pub name: String,
    pub file: CodeObject<'a>,
    /// Symbols. The first is the null symbol.
    pub symbols: Vec<Symbol<'a>>,
    /// Relocations of each section.
    pub relocations: Vec<Vec<Relocation>>,
    pub groups: Vec<Group<'a>>,
    /// For each section, its group.
    pub group_of: Vec<Option<usize>>,
    /// For each section, whether it is dropped. This is so if another object contains a section group with
    /// the same signature, because only one of such groups is kept.
    pub dropped: Vec<bool>,
}

/// What a symbol of an object stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Undefined,
    Section(usize),
    Absolute,
    Common,
    Lds,
}

impl<'a> Object<'a> {
    /// Parses a relocatable object file.
    ///
    /// # Errors
    /// Says what is wrong with the file.
    pub fn parse(name: String, data: &'a [u8]) -> Result<Object<'a>, String> {
        let mut file = CodeObject::parse(data).map_err(|error| error.to_string())?;
        if !file.header.is_relocatable() {
            return Err(
                "it is linked already: only relocatable objects (`--obj`, `clang -c`) can be linked".into()
            );
        }
        if let Some(problem) = file.problems.first() {
            return Err(format!("the file is damaged: {problem}"));
        }
        if file.symbol_tables.len() > 1 {
            return Err("the file has several symbol tables".into());
        }
        let table = file.symbol_tables.pop();
        let table_section = table.as_ref().map(|table| table.section);
        let symbols = table.map_or_else(Vec::new, |table| table.symbols);
        check_sections(&file.sections)?;
        let mut object = Object {
            name,
            dropped: vec![false; file.sections.len()],
            group_of: vec![None; file.sections.len()],
            relocations: vec![Vec::new(); file.sections.len()],
            file,
            symbols,
            groups: Vec::new(),
        };
        object.drop_versions()?;
        object.check_symbols()?;
        object.take_relocations(table_section)?;
        object.take_groups()?;
        Ok(object)
    }

    pub fn sections(&self) -> &[Section<'a>] {
        &self.file.sections
    }

    /// Returns what a symbol denotes, such as a section or an absolute number. Parsing has rejected symbols
    /// that denote anything else.
    pub fn symbol_place(&self, symbol: &Symbol) -> Place {
        section_place(symbol.section).unwrap_or(Place::Undefined)
    }

    /// Returns the name of a symbol. A section symbol has no name of its own, so the name of the section is
    /// returned.
    pub fn name_of(&self, symbol: &Symbol<'a>) -> &'a str {
        match self.symbol_place(symbol) {
            Place::Section(section) if symbol.name.is_empty() => self.file.sections[section].name,
            _ => symbol.name,
        }
    }

    /// Removes versions from symbol names. A reference to a version of a name, or a default version, becomes
    /// the plain name. No loader of AMD GPU code evaluates versions.
    fn drop_versions(&mut self) -> Result<(), String> {
        let is_versioned = |symbol: &Symbol| symbol.binding != STB_LOCAL && symbol.name.contains('@');
        if !self.symbols.iter().any(is_versioned) {
            return Ok(());
        }
        for n in 0..self.symbols.len() {
            let Symbol { name, section, .. } = self.symbols[n];
            let Some((plain, version)) = name.split_once('@').filter(|_| is_versioned(&self.symbols[n]))
            else {
                continue;
            };
            if section != 0 && !version.starts_with('@') {
                return Err(format!(
                    "`{name}` is a version that is not the default: no loader of AMD GPU code could choose it"
                ));
            }
            self.symbols[n].name = plain;
        }
        // The directive `.symver f, f@@V` makes two symbols, which have the same name when the version is
        // removed. One of them becomes local, so that they do not clash.
        let mut known = FxHashMap::default();
        for n in 1..self.symbols.len() {
            let Symbol { name, section, value, binding, .. } = self.symbols[n];
            if binding != STB_LOCAL
                && section != 0
                && known.insert(name, (section, value)) == Some((section, value))
            {
                self.symbols[n].binding = STB_LOCAL;
            }
        }
        Ok(())
    }

    fn check_symbols(&self) -> Result<(), String> {
        for symbol in &self.symbols {
            match section_place(symbol.section) {
                None => {
                    return Err(format!(
                        "`{}` is of section {:#x}, which has no meaning",
                        symbol.name, symbol.section
                    ));
                }
                Some(Place::Section(section)) if section >= self.file.sections.len() => {
                    return Err(format!("`{}` is of section {section}, which there is not", symbol.name));
                }
                Some(Place::Common | Place::Lds)
                    if !symbol.value.is_power_of_two()
                        || symbol.value > MAX_ALIGN
                        || symbol.size > MAX_SIZE =>
                {
                    return Err(format!("the size or the alignment of `{}` makes no sense", symbol.name));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn take_relocations(&mut self, symbols: Option<usize>) -> Result<(), String> {
        for table in std::mem::take(&mut self.file.relocation_tables) {
            let Some(section) = self.file.sections.get(table.target).filter(|_| table.target != 0) else {
                return Err(format!("{} changes no section", table.name));
            };
            if section.kind == SHT_NOBITS && !table.records.is_empty() {
                return Err(format!("{} changes {}, which has no contents", table.name, section.name));
            }
            let wrong = |record: &&Relocation| record.symbol as usize >= self.symbols.len().max(1);
            if let Some(record) = table.records.iter().find(wrong) {
                return Err(format!("{} refers to symbol {}, which there is not", table.name, record.symbol));
            }
            if Some(table.symbols) != symbols && table.records.iter().any(|record| record.symbol != 0) {
                return Err(format!("{} has no symbol table", table.name));
            }
            self.relocations[table.target].extend(table.records);
        }
        Ok(())
    }

    fn take_groups(&mut self) -> Result<(), String> {
        for section in self.file.sections.iter().filter(|section| section.kind == SHT_GROUP) {
            let mut words = section
                .data
                .chunks_exact(4)
                .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
            let wrong = || format!("{} is no group", section.name);
            let comdat = words.next().ok_or_else(wrong)? & GRP_COMDAT != 0;
            let members: Vec<usize> = words.map(|word| word as usize).collect();
            if members.iter().any(|&member| member == 0 || member >= self.file.sections.len()) {
                return Err(wrong());
            }
            let signature = self.symbols.get(section.info as usize).ok_or_else(wrong)?;
            let signature = self.name_of(signature);
            members.iter().for_each(|&member| self.group_of[member] = Some(self.groups.len()));
            self.groups.push(Group { signature, comdat, members });
        }
        Ok(())
    }
}

fn section_place(section: u16) -> Option<Place> {
    Some(match section {
        0 => Place::Undefined,
        SHN_ABS => Place::Absolute,
        SHN_COMMON => Place::Common,
        codeobj::elf::SHN_AMDGPU_LDS => Place::Lds,
        section if section >= SHN_LORESERVE => return None,
        section => Place::Section(section.into()),
    })
}

fn check_sections(sections: &[Section]) -> Result<(), String> {
    for section in sections {
        let Section { name, kind, flags, align, size, .. } = *section;
        if kind == SHT_REL && size != 0 {
            return Err(format!(
                "{name} has relocations without addends, which objects for AMD GPUs do not have"
            ));
        }
        if align > MAX_ALIGN || align != 0 && !align.is_power_of_two() {
            return Err(format!("the alignment of {name}, {align}, makes no sense"));
        }
        if size > MAX_SIZE {
            return Err(format!("the size of {name}, {size}, makes no sense"));
        }
        if flags & objwriter::elf::SHF_TLS != 0 {
            return Err(format!("{name} is for one thread: GPUs have no such memory"));
        }
        if flags & SHF_COMPRESSED != 0 {
            return Err(format!("{name} is compressed: `objcopy --decompress-debug-sections` undoes that"));
        }
    }
    Ok(())
}

/// Returns whether a section contains information for linkers only. The output does not contain such a
/// section.
pub fn is_for_linkers(section: &Section) -> bool {
    const SHT_NULL: u32 = 0;
    const SHT_SYMTAB: u32 = 2;
    const SHT_STRTAB: u32 = 3;
    const SHT_SYMTAB_SHNDX: u32 = 18;
    const SHT_LLVM: std::ops::Range<u32> = 0x6fff_4c00..0x6fff_4d00;
    let kind = section.kind;
    matches!(kind, SHT_NULL | SHT_SYMTAB | SHT_RELA | SHT_REL | SHT_GROUP | SHT_SYMTAB_SHNDX)
        || kind == SHT_STRTAB && section.flags & objwriter::elf::SHF_ALLOC == 0
        || SHT_LLVM.contains(&kind)
        || section.flags & objwriter::elf::SHF_EXCLUDE != 0
}
