//! The memory image of a linked code object (`ET_DYN`). The program headers of the file give its layout.

use super::relocation::{self, Place};
use super::{LoadError, MAX_IMAGE, Symbol};
use codeobj::CodeObject;
use object::elf;

/// A range of addresses in the image that contains code.
#[derive(Clone, Debug)]
pub(crate) struct CodeRange {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// A location whose value depends on the load address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patch {
    /// Offset of the location in the image.
    pub(crate) place: u64,
    /// Value to add to the load address.
    pub(crate) value: u64,
    /// The part of the sum that is stored.
    pub(crate) part: Part,
}

/// The part of a 64-bit value that a relocation stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Whole,
    Low,
    High,
}

impl Patch {
    /// Writes the value of this relocation to its location in an image that is loaded at `base`. Returns
    /// whether the location exists in the image.
    pub(crate) fn apply(&self, image: &mut [u8], base: u64) -> bool {
        let value = base.wrapping_add(self.value).to_le_bytes();
        let bytes = match self.part {
            Part::Whole => &value[..],
            Part::Low => &value[..4],
            Part::High => &value[4..],
        };
        let place =
            usize::try_from(self.place).ok().and_then(|at| image.get_mut(at..)?.get_mut(..bytes.len()));
        place.map(|place| place.copy_from_slice(bytes)).is_some()
    }
}

/// A program image that begins at address 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct Image {
    pub(crate) bytes: Vec<u8>,
    pub(crate) code: Vec<CodeRange>,
    pub(crate) patches: Vec<Patch>,
    pub(crate) symbols: Vec<Symbol>,
}

impl Image {
    /// Returns the symbol with this name.
    pub(crate) fn symbol(&self, name: &str) -> Option<&Symbol> {
        self.symbols.iter().find(|symbol| symbol.name == name)
    }

    /// Returns the bytes of the image from an address on.
    pub(super) fn at(&self, address: u64) -> Option<&[u8]> {
        self.bytes.get(usize::try_from(address).ok()?..)
    }
}

/// Copies the `PT_LOAD` segments to their addresses and reads the dynamic relocations.
pub(super) fn map(file: &CodeObject<'_>, data: &[u8]) -> Result<Image, LoadError> {
    let loads = || file.segments.iter().filter(|segment| segment.kind == elf::PT_LOAD.0);
    let mut end = 0;
    for segment in loads() {
        let stop = segment.address.checked_add(segment.memory_size).filter(|&stop| stop <= MAX_IMAGE);
        let size = segment.memory_size;
        end = end.max(
            stop.ok_or_else(|| LoadError::Segment(format!("{size:#x} bytes at {:#x}", segment.address)))?,
        );
    }
    let mut image = Image { bytes: vec![0; end as usize], ..Image::default() };
    for segment in loads() {
        let stop = segment.offset.checked_add(segment.file_size);
        let contents = stop.and_then(|stop| data.get(segment.offset as usize..usize::try_from(stop).ok()?));
        let contents = contents.ok_or_else(|| LoadError::Segment("contents outside of the file".into()))?;
        let start = segment.address as usize;
        // A damaged file may have a segment with more bytes in the file than in memory. The additional bytes
        // are ignored.
        let room = (segment.memory_size as usize).min(contents.len());
        image.bytes[start..start + room].copy_from_slice(&contents[..room]);
        if segment.flags & elf::PF_X.0 != 0 {
            image.code.push(CodeRange { start: start as u64 & !3, end: (start + room) as u64 });
        }
    }
    image.symbols = symbols(file);
    relocate(file, &mut image)?;
    Ok(image)
}

/// Returns the defined symbols of all symbol tables, the dynamic ones first.
fn symbols(file: &CodeObject<'_>) -> Vec<Symbol> {
    let mut found: Vec<Symbol> = Vec::new();
    for name in [".dynsym", ".symtab"] {
        let tables = file.symbol_tables.iter().filter(|table| table.name == name);
        for symbol in tables.flat_map(|table| &table.symbols) {
            if !symbol.is_undefined() && !symbol.name.is_empty() && symbol.section != elf::SHN_ABS.0 {
                let (address, size, kind) = (symbol.value, symbol.size, symbol.kind);
                found.push(Symbol { name: symbol.name.to_owned(), address, size, kind });
            }
        }
    }
    found
}

/// Applies the dynamic relocations. The linker `ld.lld` creates such relocations for absolute addresses in
/// data; other relocations in the file are applied as well.
fn relocate(file: &CodeObject<'_>, image: &mut Image) -> Result<(), LoadError> {
    // The relocation tables of a linked file do not name the section that they change. The dynamic ones are
    // recognised by being a part of the loaded image.
    for table in file.relocation_tables.iter().filter(|table| is_dynamic(file, table.name)) {
        let symbols = file.symbols_of(table.symbols);
        for record in &table.records {
            let symbol = symbols.get(record.symbol as usize).filter(|_| record.symbol != 0);
            let target = match symbol {
                None => 0,
                // The address of an undefined weak symbol is null, wherever the image is loaded.
                Some(symbol) if symbol.is_undefined() && symbol.binding == elf::STB_WEAK.0 => {
                    continue;
                }
                Some(symbol) if symbol.is_undefined() => {
                    return Err(LoadError::Undefined(symbol.name.to_owned()));
                }
                Some(symbol) => symbol.value,
            };
            let place = Place { address: record.offset, addend: record.addend };
            relocation::apply(record.kind, place, target, image)?;
        }
    }
    Ok(())
}

fn is_dynamic(file: &CodeObject<'_>, name: &str) -> bool {
    file.section(name).is_some_and(|section| section.is_loaded())
}
