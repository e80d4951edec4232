//! Joins all objects into one: sections, symbols and relocations.

use crate::input::{self, Place};
use crate::kernels::{self, How, Lds};
use crate::report::{Part, Report, Row};
use crate::sections::{self, CommonMemory, Placed};
use crate::symbols::{Global, Meaning, Symbols};
use crate::{Kind, Options};
use crate::{identity, notes};
use codeobj::elf as read;
use objwriter::elf::{
    self, Identity, Object, Relocation, SHF_ALLOC, SHF_MERGE, SHT_PROGBITS, STB_GLOBAL, STB_LOCAL, STB_WEAK,
    STV_DEFAULT, STV_HIDDEN, Target, reloc,
};
use rustc_hash::{FxHashMap, FxHashSet};

const STT_SECTION: u8 = 3;

/// State of joining.
struct Join<'s, 'a> {
    symbols: &'s Symbols<'a>,
    placed: Vec<Vec<Option<Placed>>>,
    object: Object<'a>,
    /// `commons` has the offset in `.bss` of each common symbol. `lds` has the addresses of LDS symbols, if
    /// this link assigns them.
    commons: FxHashMap<usize, u64>,
    lds: FxHashMap<Lds, u64>,
    /// For each symbol of each object: the number of the local symbol that stands for it in the output, if
    /// there is one.
    locals: Vec<Vec<Option<u32>>>,
    /// For each global symbol, its number in the output.
    globals: Vec<Option<u32>>,
}

/// The joined object and the report about it. Until addresses are assigned, the rows of the report have
/// offsets in sections.
pub struct Joined<'a> {
    pub object: Object<'a>,
    pub report: Report,
    /// Entries of the global offset table whose values are absolute numbers instead of addresses, as pairs of
    /// index and value. The loader does not fill in these entries, so the linker writes them.
    pub table: Vec<(usize, u64)>,
}

/// Joins the sections that the output keeps (the live sections) of all objects.
///
/// # Errors
/// Says which parts cannot be joined.
pub fn joined<'a>(
    symbols: &Symbols<'a>,
    live: &[Vec<bool>],
    identity: Identity,
    options: &Options,
) -> Result<Joined<'a>, String> {
    let Options { kind, exact_stack, tells, .. } = *options;
    let target = isa::Target::by_elf_mach(identity.flags & identity::MACH);
    let has_dynamic_stack = identity::version_of(&identity).is_some_and(|version| version >= 5);
    let how = How { target, kind, exact_stack, has_dynamic_stack, tells };
    let needs = kernels::needs(symbols, live, how)?;
    let (room, commons) = match kind {
        Kind::Loadable => commons(symbols),
        Kind::Relocatable => Default::default(),
    };
    let mut changed = notes::joined(symbols, live, &needs.counts)?;
    changed.extend(needs.contents);
    let sections::Joined { outputs, placed } = sections::joined(symbols, live, &changed, room)?;
    let object = Object { identity, sections: outputs, ..Object::default() };
    let mut join =
        Join { symbols, placed, object, commons, lds: needs.lds, locals: Vec::new(), globals: Vec::new() };
    if kind == Kind::Relocatable {
        join.object.order.extend((0..join.object.sections.len() as u32).map(Target::Section));
    }
    join.take_locals();
    join.take_globals();
    for object in 0..symbols.objects.len() {
        for section in 0..symbols.objects[object].sections().len() {
            join.relocate(object, section)?;
        }
    }
    let table = if kind == Kind::Loadable { join.order_table() } else { Vec::new() };
    let report = Report {
        kernels: needs.kernels,
        warnings: needs.warnings,
        rows: if tells { join.rows() } else { Vec::new() },
    };
    Ok(Joined { object: join.object, report, table })
}

/// Returns whether a symbol is a common symbol, that is, zeroed memory that several objects may define under
/// one name. The output has only one of these definitions.
fn is_shared(object: &input::Object, symbol: &read::Symbol) -> bool {
    symbol.binding != STB_LOCAL && object.symbol_place(symbol) == Place::Common
}

/// Assigns consecutive offsets to common symbols. Their order is that of `ld.lld`: the order in which symbols
/// occur in those objects that have common symbols.
fn commons(symbols: &Symbols) -> (CommonMemory, FxHashMap<usize, u64>) {
    let (mut room, mut places) = (CommonMemory::default(), FxHashMap::default());
    let has_some = |object: &&input::Object| object.symbols.iter().any(|symbol| is_shared(object, symbol));
    let named = symbols.objects.iter().filter(has_some).flat_map(|object| &object.symbols);
    for number in named.filter_map(|symbol| symbols.global_of(symbol)) {
        let global = &symbols.globals[number];
        if let Meaning::Common { object, symbol, size, align } = global.meaning
            && is_shared(&symbols.objects[object], &symbols.objects[object].symbols[symbol])
            && !global.is_dropped
            && !places.contains_key(&number)
        {
            let offset = room.size.next_multiple_of(align);
            places.insert(number, offset);
            room = CommonMemory { size: offset + size, align: room.align.max(align) };
        }
    }
    // If there are no common symbols, or all of them have size 0, the output needs no memory for them and no
    // `.bss`.
    if room.size == 0 { Default::default() } else { (room, places) }
}

impl<'a> Join<'_, 'a> {
    fn push(&mut self, symbol: elf::Symbol<'a>) -> u32 {
        let number = self.object.symbols.len() as u32;
        self.object.symbols.push(symbol);
        self.object.order.push(Target::Symbol(number));
        number
    }

    /// Returns the rows of the report for input sections, in the order of the output. A row says where an
    /// input section is in the output.
    fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for (object, placed) in self.symbols.objects.iter().zip(&self.placed) {
            for (section, placed) in object.sections().iter().zip(placed) {
                let Some(Placed { output, offset, .. }) = *placed else { continue };
                if section.size == 0 {
                    continue;
                }
                let part = Part { name: section.name.to_owned(), object: object.name.clone() };
                let name = self.object.sections[output as usize].name.to_owned();
                let row = Row { section: name, address: offset, size: section.size, part };
                rows.push((output, offset, row));
            }
        }
        rows.sort_by_key(|row| (row.0, row.1));
        rows.into_iter().map(|(.., row)| row).collect()
    }

    /// Returns where a defined symbol is in the output. Returns `None` if the output does not contain the
    /// symbol's section.
    fn output_place(&self, object: usize, symbol: &read::Symbol) -> Option<elf::Place> {
        match self.symbols.objects[object].symbol_place(symbol) {
            Place::Section(section) => {
                let placed = self.placed[object][section].as_ref()?;
                Some(elf::Place::Section(placed.output, placed.output_offset(symbol.value)))
            }
            Place::Absolute => Some(elf::Place::Absolute(symbol.value)),
            Place::Common => Some(elf::Place::Common(symbol.value)),
            Place::Lds => Some(elf::Place::Lds(symbol.value)),
            Place::Undefined => None,
        }
    }

    /// Returns what an LDS symbol denotes in the output. If this link assigns addresses to LDS symbols, it is
    /// the symbol's address, an absolute number. Otherwise, the symbol stays a request for LDS, to which a
    /// later link will assign an address.
    fn lds(&self, lds: Lds, align: u64) -> elf::Place {
        self.lds.get(&lds).map_or(elf::Place::Lds(align), |&address| elf::Place::Absolute(address))
    }

    fn take_locals(&mut self) {
        for (number, object) in self.symbols.objects.iter().enumerate() {
            let mut numbers = vec![None; object.symbols.len()];
            for (n, symbol) in object.symbols.iter().enumerate().skip(1) {
                if symbol.binding != STB_LOCAL
                    || symbol.kind == STT_SECTION
                    || is_for_assembler(object, symbol)
                {
                    continue;
                }
                let place = match object.symbol_place(symbol) {
                    Place::Lds => Some(self.lds(Lds::Local(number, n), symbol.value)),
                    _ => self.output_place(number, symbol),
                };
                if let Some(place) = place {
                    numbers[n] = Some(self.push(defined(symbol, STB_LOCAL, symbol.visibility, place)));
                }
            }
            self.locals.push(numbers);
        }
    }

    fn take_globals(&mut self) {
        for (number, global) in self.symbols.globals.iter().enumerate() {
            let symbol = match global.meaning {
                _ if global.is_dropped => None,
                Meaning::Defined { object, symbol } => {
                    let symbol = &self.symbols.objects[object].symbols[symbol];
                    let place = self.output_place(object, symbol);
                    place.map(|place| defined(symbol, symbol.binding, global.visibility, place))
                }
                Meaning::Common { object, symbol, size, align } => {
                    let object = &self.symbols.objects[object];
                    let symbol = &object.symbols[symbol];
                    let place = match object.symbol_place(symbol) {
                        Place::Lds => self.lds(Lds::Shared(number), align),
                        _ => match self.commons.get(&number) {
                            Some(&offset) => elf::Place::Section(0, offset),
                            None => elf::Place::Common(align),
                        },
                    };
                    // The address of an LDS symbol is an absolute number: it is the same in all kernels, and
                    // a loader does not change it. Such a symbol is hidden from other objects.
                    let is_number = matches!(place, elf::Place::Absolute(_));
                    let visibility = if is_number { STV_HIDDEN } else { global.visibility };
                    let common = defined(symbol, symbol.binding, visibility, place);
                    Some(elf::Symbol { size, ..common })
                }
                Meaning::Made { section, is_end } => {
                    let number = self.make(global, section, is_end);
                    self.globals.push(Some(number));
                    continue;
                }
                Meaning::Undefined { weak } if global.is_mentioned => {
                    Some(undefined(global.name, weak, global.visibility))
                }
                Meaning::Lazy(_) if global.is_mentioned => {
                    Some(undefined(global.name, true, global.visibility))
                }
                Meaning::Undefined { .. } | Meaning::Lazy(_) => None,
            };
            let number = symbol.map(|mut symbol| {
                symbol.binding = if global.is_local { STB_LOCAL } else { symbol.binding };
                self.push(symbol)
            });
            self.globals.push(number);
        }
    }

    /// Adds a symbol that the linker defines. It denotes the beginning of a section, or its end with
    /// `is_end`. If the output has no section of this name, the symbol denotes the beginning of the image. It
    /// then refers to an empty section that is added for this purpose and has no number in a symbol table.
    fn make(&mut self, global: &Global<'a>, section: &str, is_end: bool) -> u32 {
        let found =
            self.object.sections.iter().position(|output| output.name == section && !section.is_empty());
        let number = found.unwrap_or_else(|| {
            let nothing =
                elf::Section { kind: SHT_PROGBITS, flags: SHF_ALLOC, align: 1, ..Default::default() };
            self.object.sections.push(nothing);
            self.object.sections.len() - 1
        });
        let output = &self.object.sections[number];
        let offset = if is_end { output.data.len() as u64 + output.virtual_size } else { 0 };
        let place = elf::Place::Section(number as u32, offset);
        let symbol = elf::Symbol { place, ..undefined(global.name, false, global.visibility) };
        if found.is_some() {
            return self.push(symbol);
        }
        self.object.symbols.push(symbol);
        self.object.symbols.len() as u32 - 1
    }

    /// Takes over the relocations of a section.
    fn relocate(&mut self, object: usize, section: usize) -> Result<(), String> {
        let from = &self.symbols.objects[object];
        let Some((output, start)) =
            self.placed[object][section].as_ref().map(|placed| (placed.output, placed.offset))
        else {
            return Ok(());
        };
        let is_loaded = from.sections()[section].flags & SHF_ALLOC != 0;
        let size = from.sections()[section].data.len() as u64;
        let is_list = LISTS.contains(&from.sections()[section].name);
        let mut taken = Vec::with_capacity(from.relocations[section].len());
        for record in &from.relocations[section] {
            let wrong = |what: &str| {
                let name = from.symbols.get(record.symbol as usize).map_or("", |symbol| from.name_of(symbol));
                format!(
                    "{}: {}+{:#x}: {what} `{name}`",
                    from.name,
                    from.sections()[section].name,
                    record.offset
                )
            };
            if record.kind == reloc::NONE {
                continue;
            }
            let Some(width) = width(record.kind) else {
                return Err(wrong(&format!("relocation {} is not known; it refers to", record.kind)));
            };
            if record.offset.checked_add(width).is_none_or(|end| end > size) {
                return Err(wrong("beyond the end of the section: a relocation to"));
            }
            match self.target(object, record) {
                Some((target, addend)) => {
                    taken.push(Relocation {
                        offset: start + record.offset,
                        target,
                        kind: record.kind,
                        addend,
                    });
                }
                // If debug information refers to code that the output does not contain, the reference becomes
                // the address 0, as with `ld.lld`. But the lists in some debug sections end with two zeros.
                // In these sections, the reference becomes the address 1, so that no list ends early.
                None if !is_loaded => {
                    let data = &mut self.object.sections[output as usize].data;
                    if is_list && let Some(byte) = data.to_mut().get_mut((start + record.offset) as usize) {
                        *byte = 1;
                    }
                }
                None => return Err(wrong("it refers to a section that is not linked:")),
            }
        }
        self.object.sections[output as usize].relocations.append(&mut taken);
        Ok(())
    }

    /// Orders the global offset table as `ld.lld` does it: first global symbols in the order in which they
    /// appeared, then local symbols.
    ///
    /// The object writer creates the table's entries in the order of the relocations that need them. To get
    /// another order, one more relocation for each entry is inserted before all others. It changes the same
    /// field as the first real relocation for this entry, which overwrites the field later, so it has no
    /// other effect.
    ///
    /// Returns the entries that are absolute numbers, as pairs of index and value.
    fn order_table(&mut self) -> Vec<(usize, u64)> {
        let is_table = |record: &&Relocation| {
            matches!(record.kind, reloc::GOTPCREL | reloc::GOTPCREL32_LO | reloc::GOTPCREL32_HI)
        };
        let all = self.object.sections.iter().flat_map(|section| section.relocations.iter().filter(is_table));
        let used: FxHashSet<Target> = all.map(|record| record.target).collect();
        let places =
            |section: &elf::Section| section.relocations.iter().find(is_table).map(|first| first.offset);
        let first =
            self.object.sections.iter().enumerate().find_map(|(n, section)| Some((n, places(section)?)));
        let Some((section, offset)) = first else { return Vec::new() };
        let numbers = self.globals.iter().chain(self.locals.iter().flatten()).flatten();
        let targets: Vec<u32> =
            numbers.copied().filter(|&number| used.contains(&Target::Symbol(number))).collect();
        let record = |&number: &u32| Relocation {
            offset,
            target: Target::Symbol(number),
            kind: reloc::GOTPCREL32_LO,
            addend: 0,
        };
        let mut records: Vec<Relocation> = targets.iter().map(record).collect();
        let known = &mut self.object.sections[section].relocations;
        records.append(known);
        *known = records;
        let number = |(n, &target): (usize, &u32)| {
            let symbol = &self.object.symbols[target as usize];
            let is_fixed = symbol.binding == STB_LOCAL || symbol.visibility != STV_DEFAULT;
            match symbol.place {
                elf::Place::Absolute(number) if is_fixed => Some((n, number)),
                _ => None,
            }
        };
        targets.iter().enumerate().filter_map(number).collect()
    }

    /// Returns the target and the addend of a relocation in the output. Returns `None` if the output does not
    /// contain the target.
    fn target(&self, object: usize, record: &read::Relocation) -> Option<(Target, i64)> {
        if record.symbol == 0 {
            return Some((Target::Nothing, record.addend));
        }
        let from = &self.symbols.objects[object];
        let symbol = &from.symbols[record.symbol as usize];
        let number = match self.symbols.global_of(symbol) {
            Some(global) => self.globals[global],
            None => self.locals[object][record.symbol as usize],
        };
        if let Some(number) = number {
            return Some((Target::Symbol(number), record.addend));
        }
        let Place::Section(section) = from.symbol_place(symbol) else { return None };
        let placed = self.placed[object][section].as_ref()?;
        let target = Target::Section(placed.output);
        let add = |offset: u64| (offset.wrapping_add(record.addend as u64)) as i64;
        Some(match symbol.kind {
            // The relocation refers to a section by its section symbol. If the section's entries are merged,
            // the symbol's value and the addend together select an entry. The new addend is the offset of
            // this entry in the output.
            STT_SECTION => (target, placed.output_offset(add(symbol.value) as u64) as i64),
            _ => (target, add(placed.output_offset(symbol.value))),
        })
    }
}

/// Returns whether a local symbol only labels an entry of a mergeable section. The output omits such a
/// symbol, as `ld.lld` does.
fn is_for_assembler(object: &input::Object, symbol: &read::Symbol) -> bool {
    let is_merged = |section: usize| object.sections()[section].flags & SHF_MERGE != 0;
    symbol.name.starts_with(".L")
        && matches!(object.symbol_place(symbol), Place::Section(section) if is_merged(section))
}

fn defined<'a>(symbol: &read::Symbol<'a>, binding: u8, visibility: u8, place: elf::Place) -> elf::Symbol<'a> {
    elf::Symbol { name: symbol.name, binding, visibility, kind: symbol.kind, size: symbol.size, place }
}

fn undefined(name: &str, weak: bool, visibility: u8) -> elf::Symbol<'_> {
    let binding = if weak { STB_WEAK } else { STB_GLOBAL };
    elf::Symbol { name, binding, visibility, kind: 0, size: 0, place: elf::Place::Undefined }
}

/// Debug sections with lists that end with two zeros, so that a zero address in a list would end it.
const LISTS: [&str; 2] = [".debug_ranges", ".debug_loc"];

/// Returns how many bytes of a section a relocation of this type changes, or `None` for an unknown type
/// (LLVM's AMDGPU guide: seed 000, line 531).
fn width(kind: u32) -> Option<u64> {
    Some(match kind {
        reloc::REL16 => 2,
        reloc::ABS64 | reloc::REL64 => 8,
        reloc::ABS32_LO | reloc::ABS32_HI | reloc::REL32 | reloc::ABS32 => 4,
        reloc::GOTPCREL | reloc::GOTPCREL32_LO | reloc::GOTPCREL32_HI | reloc::REL32_LO | reloc::REL32_HI => {
            4
        }
        _ => return None,
    })
}
