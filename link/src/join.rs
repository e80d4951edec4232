//! One object of all: sections, symbols and relocations.

use crate::Kind;
use crate::input::Place;
use crate::notes;
use crate::sections::{self, Placed};
use crate::symbols::{Meaning, Symbols};
use codeobj::elf as read;
use objwriter::elf::{
    self, Identity, Object, Relocation, SHF_ALLOC, STB_GLOBAL, STB_LOCAL, STB_WEAK, Target, reloc,
};

const STT_SECTION: u8 = 3;

/// What is joined so far.
struct Join<'s, 'a> {
    symbols: &'s Symbols<'a>,
    placed: Vec<Vec<Option<Placed>>>,
    object: Object<'a>,
    /// Number of each object's symbols in the output.
    locals: Vec<Vec<Option<u32>>>,
    /// The same of the shared ones.
    globals: Vec<Option<u32>>,
}

/// # Errors
/// What cannot be joined.
pub fn joined<'a>(
    symbols: &Symbols<'a>,
    live: &[Vec<bool>],
    identity: Identity,
    kind: Kind,
) -> Result<Object<'a>, String> {
    let notes = notes::joined(symbols, live)?;
    let sections::Joined { outputs, placed } = sections::joined(symbols, live, &notes)?;
    let object = Object { identity, sections: outputs, ..Object::default() };
    let mut join = Join { symbols, placed, object, locals: Vec::new(), globals: Vec::new() };
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
    Ok(join.object)
}

impl<'a> Join<'_, 'a> {
    fn push(&mut self, symbol: elf::Symbol<'a>) -> u32 {
        let number = self.object.symbols.len() as u32;
        self.object.symbols.push(symbol);
        self.object.order.push(Target::Symbol(number));
        number
    }

    /// What a defined symbol stands for in the output; nothing if its section is not part of it.
    fn place(&self, object: usize, symbol: &read::Symbol) -> Option<elf::Place> {
        match self.symbols.objects[object].place(symbol) {
            Place::Section(section) => {
                let placed = self.placed[object][section].as_ref()?;
                Some(elf::Place::Section(placed.output, placed.place(symbol.value)))
            }
            Place::Absolute => Some(elf::Place::Absolute(symbol.value)),
            Place::Common => Some(elf::Place::Common(symbol.value)),
            Place::Undefined | Place::Lds => None,
        }
    }

    fn take_locals(&mut self) {
        for (number, object) in self.symbols.objects.iter().enumerate() {
            let mut numbers = vec![None; object.symbols.len()];
            for (n, symbol) in object.symbols.iter().enumerate().skip(1) {
                if symbol.binding != STB_LOCAL || symbol.kind == STT_SECTION {
                    continue;
                }
                if let Some(place) = self.place(number, symbol) {
                    numbers[n] = Some(self.push(defined(symbol, STB_LOCAL, symbol.visibility, place)));
                }
            }
            self.locals.push(numbers);
        }
    }

    fn take_globals(&mut self) {
        for global in &self.symbols.globals {
            let symbol = match global.meaning {
                Meaning::Defined { object, symbol } => {
                    let symbol = &self.symbols.objects[object].symbols[symbol];
                    let place = self.place(object, symbol);
                    place.map(|place| defined(symbol, symbol.binding, global.visibility, place))
                }
                Meaning::Common { object, symbol, size, align } => {
                    let symbol = &self.symbols.objects[object].symbols[symbol];
                    let common =
                        defined(symbol, symbol.binding, global.visibility, elf::Place::Common(align));
                    Some(elf::Symbol { size, ..common })
                }
                Meaning::Undefined { weak } if global.is_mentioned => {
                    Some(undefined(global.name, weak, global.visibility))
                }
                Meaning::Lazy(_) if global.is_mentioned => {
                    Some(undefined(global.name, true, global.visibility))
                }
                Meaning::Undefined { .. } | Meaning::Lazy(_) => None,
            };
            let number = symbol.map(|symbol| self.push(symbol));
            self.globals.push(number);
        }
    }

    /// Takes the relocations of a section.
    fn relocate(&mut self, object: usize, section: usize) -> Result<(), String> {
        let from = &self.symbols.objects[object];
        let Some((output, start)) =
            self.placed[object][section].as_ref().map(|placed| (placed.output, placed.offset))
        else {
            return Ok(());
        };
        let is_loaded = from.sections()[section].flags & SHF_ALLOC != 0;
        let size = from.sections()[section].data.len() as u64;
        let mut taken = Vec::with_capacity(from.relocations[section].len());
        for record in &from.relocations[section] {
            let wrong = |what: &str| {
                let symbol = from.symbols.get(record.symbol as usize).map_or("", |symbol| symbol.name);
                format!(
                    "{}: {}+{:#x}: {what} `{symbol}`",
                    from.name,
                    from.sections()[section].name,
                    record.offset
                )
            };
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
                // What debug information says of it is 0.
                None if !is_loaded => {}
                None => return Err(wrong("it refers to a section that is not linked:")),
            }
        }
        self.object.sections[output as usize].relocations.append(&mut taken);
        Ok(())
    }

    /// What a relocation refers to, and what is added; nothing if that is not part of the output.
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
        let (STT_SECTION, Place::Section(section)) = (symbol.kind, from.place(symbol)) else { return None };
        let placed = self.placed[object][section].as_ref()?;
        let target = Target::Section(placed.output);
        let offset = symbol.value.wrapping_add(record.addend as u64);
        Some(match placed.moves {
            // The number that is added says which entry is meant.
            Some(_) => (target, placed.place(offset) as i64),
            None => (target, placed.offset.wrapping_add(offset) as i64),
        })
    }
}

fn defined<'a>(symbol: &read::Symbol<'a>, binding: u8, visibility: u8, place: elf::Place) -> elf::Symbol<'a> {
    elf::Symbol { name: symbol.name, binding, visibility, kind: symbol.kind, size: symbol.size, place }
}

fn undefined(name: &str, weak: bool, visibility: u8) -> elf::Symbol<'_> {
    let binding = if weak { STB_WEAK } else { STB_GLOBAL };
    elf::Symbol { name, binding, visibility, kind: 0, size: 0, place: elf::Place::Undefined }
}

/// Bytes that a relocation changes (seed 000, line 531).
fn width(kind: u32) -> Option<u64> {
    Some(match kind {
        0 => 0,
        reloc::REL16 => 2,
        reloc::ABS64 | reloc::REL64 => 8,
        reloc::ABS32_LO | reloc::ABS32_HI | reloc::REL32 | reloc::ABS32 => 4,
        reloc::GOTPCREL | reloc::GOTPCREL32_LO | reloc::GOTPCREL32_HI | reloc::REL32_LO | reloc::REL32_HI => {
            4
        }
        _ => return None,
    })
}
