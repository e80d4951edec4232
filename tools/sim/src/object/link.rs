//! Links a single object file (`ET_REL`). Places the loaded sections of the file one after the other, adds a
//! global offset table at the end, and applies every relocation. A symbol that this file does not define is
//! an error, unless the symbol is weak. The message names the symbol.

use super::image::{CodeRange, Image, Part, Patch};
use super::relocation::{self, GOT, Place};
use super::{LoadError, MAX_IMAGE, Symbol, system};
use codeobj::CodeObject;
use codeobj::elf::{SHN_AMDGPU_LDS, Symbol as ElfSymbol};
use isa::Target;
use object::elf;

/// Address of the first section. It is not 0, so that no variable has a null address.
const START: u64 = 0x1000;
/// Minimum alignment of a section. Instructions are fetched in lines of 64 bytes, and kernels are aligned to
/// 256 bytes.
const ALIGN: u64 = 256;
/// Maximum alignment of a section. The addresses of allocations in emulated memory are multiples of it.
const MAX_ALIGN: u64 = 4096;

/// Lays out the sections of an object file, and applies its relocations.
pub(super) fn link(file: &CodeObject<'_>, processor: &Target) -> Result<Image, LoadError> {
    let mut image = Image::default();
    let addresses = lay_out(file, &mut image)?;
    let linker = Linker { file, addresses, processor };
    image.symbols = file
        .symbols()
        .iter()
        .filter(|symbol| !symbol.name.is_empty())
        .filter_map(|symbol| {
            let address = linker.address(symbol)?;
            Some(Symbol { name: symbol.name.to_owned(), address, size: symbol.size, kind: symbol.kind })
        })
        .collect();
    linker.relocate(&mut image)?;
    Ok(image)
}

/// Places the loaded sections in the image. Returns the address of each section of the file, or `None` for a
/// section that is not loaded.
fn lay_out(file: &CodeObject<'_>, image: &mut Image) -> Result<Vec<Option<u64>>, LoadError> {
    let mut addresses = vec![None; file.sections.len()];
    let mut end = START;
    for (index, section) in file.sections.iter().enumerate().filter(|(_, section)| section.is_loaded()) {
        let align = section.align.clamp(ALIGN, MAX_ALIGN).checked_next_power_of_two().unwrap_or(MAX_ALIGN);
        let start = end.next_multiple_of(align);
        end = start.checked_add(section.size).filter(|&end| end <= MAX_IMAGE).ok_or_else(|| {
            LoadError::Segment(format!("section {} has {:#x} bytes", section.name, section.size))
        })?;
        addresses[index] = Some(start);
        image.bytes.resize(end as usize, 0);
        if !section.is_zeros() {
            let size = section.data.len().min(section.size as usize);
            image.bytes[start as usize..start as usize + size].copy_from_slice(&section.data[..size]);
            if section.is_code() {
                image.code.push(CodeRange { start, end: start + size as u64 });
            }
        }
    }
    Ok(addresses)
}

struct Linker<'a> {
    file: &'a CodeObject<'a>,
    addresses: Vec<Option<u64>>,
    processor: &'a Target,
}

impl Linker<'_> {
    fn address(&self, symbol: &ElfSymbol<'_>) -> Option<u64> {
        let start = self.addresses.get(usize::from(symbol.section)).copied().flatten()?;
        start.checked_add(symbol.value)
    }

    /// Returns the address of the symbol to which a relocation refers. Returns `None` for an undefined weak
    /// symbol.
    fn target(&self, symbol: &ElfSymbol<'_>) -> Result<Option<u64>, LoadError> {
        match symbol.section {
            0 if symbol.binding == elf::STB_WEAK.0 => Ok(None),
            0 => Err(LoadError::Undefined(symbol.name.to_owned())),
            SHN_AMDGPU_LDS => {
                Err(LoadError::Segment(format!("`{}` is in LDS: only a linker places it", symbol.name)))
            }
            _ => self.address(symbol).map(Some).ok_or_else(|| LoadError::Undefined(symbol.name.to_owned())),
        }
    }

    fn relocate(&self, image: &mut Image) -> Result<(), LoadError> {
        let mut got: Vec<(u32, u64)> = Vec::new();
        for table in &self.file.relocation_tables {
            let Some(start) = self.addresses.get(table.target).copied().flatten() else { continue };
            let symbols = self.file.symbols_of(table.symbols);
            for record in &table.records {
                let symbol = symbols
                    .get(record.symbol as usize)
                    .ok_or_else(|| LoadError::Elf("a relocation to no symbol".into()))?;
                let place = Place { address: start.wrapping_add(record.offset), addend: record.addend };
                if symbol.section == 0
                    && let Some(value) = system::symbol(symbol.name, self.processor)
                {
                    store(value, place, image)?;
                    continue;
                }
                let mut target = self.target(symbol)?;
                if GOT.contains(&record.kind) {
                    let known = got.iter().find(|(known, _)| *known == record.symbol);
                    let entry = known.map(|&(_, entry)| entry).unwrap_or_else(|| {
                        let entry = push_entry(image, target);
                        got.push((record.symbol, entry));
                        entry
                    });
                    target = Some(entry);
                }
                // An undefined weak symbol has no address. The relocation is not applied then, so that its
                // field stays zero.
                if let Some(target) = target {
                    relocation::apply(record.kind, place, target, image)?;
                }
            }
        }
        Ok(())
    }
}

/// Stores the value of a symbol that the runtime defines. The value does not depend on the load address.
fn store(value: u32, place: Place, image: &mut Image) -> Result<(), LoadError> {
    let field =
        usize::try_from(place.address).ok().and_then(|at| image.bytes.get_mut(at..)?.first_chunk_mut());
    let Some(field) = field else {
        return Err(LoadError::Segment(format!("a relocation at {:#x} lies outside", place.address)));
    };
    *field = value.wrapping_add(place.addend as u32).to_le_bytes();
    Ok(())
}

/// Appends an entry with the address `target` to the global offset table. Without `target`, the entry is
/// zero. Returns the address of the entry.
fn push_entry(image: &mut Image, target: Option<u64>) -> u64 {
    let entry = image.bytes.len().next_multiple_of(8);
    image.bytes.resize(entry + 8, 0);
    if let Some(value) = target {
        image.patches.push(Patch { place: entry as u64, value, part: Part::Whole });
    }
    entry as u64
}
