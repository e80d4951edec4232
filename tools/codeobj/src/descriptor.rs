//! Kernel descriptors of a file (seed 000, lines 2567-2900). [`objwriter::descriptor`] names their fields.

use crate::elf::{CodeObject, Symbol};
use isa::Target;
pub use objwriter::descriptor::{ENTRY_OFFSET, FIELDS, Field, SIZE, Unit};
use objwriter::descriptor::{Granules, WAVEFRONT_SIZE32};

/// Every field in the order of their places, headings before what they head.
pub fn fields_by_place() -> Vec<&'static Field> {
    let mut fields: Vec<&Field> = FIELDS.iter().collect();
    fields.sort_by_key(|field| (field.byte, field.unit != Unit::Register, field.low));
    fields
}

/// What a number of a field says beyond itself.
pub fn explain(field: &Field, value: u64, target: Option<&Target>, wave32: bool) -> Option<String> {
    const ROUND: [&str; 4] = ["nearest even", "towards +infinity", "towards -infinity", "towards zero"];
    const DENORM: [&str; 4] = ["flush sources and results", "flush results", "flush sources", "keep"];
    const IDS: [&str; 4] = ["x", "x, y", "x, y, z", "undefined"];
    let name = |names: [&str; 4]| Some(names[(value & 3) as usize].to_owned());
    let granules =
        |target: &Target| Granules::of(target.with_wave_size(if wave32 { 32 } else { 64 }).unwrap_or(target));
    match field.unit {
        Unit::Round => name(ROUND),
        Unit::Denorm => name(DENORM),
        Unit::WorkItemId => name(IDS),
        Unit::VgprBlocks => Some(format!("{} VGPRs", (value + 1) * u64::from(granules(target?).vgpr))),
        Unit::SgprBlocks => Some(format!("{} SGPRs", (value + 1) * u64::from(granules(target?).sgpr?))),
        Unit::AccumOffset => Some(format!("AGPRs begin at VGPR {}", (value + 1) * 4)),
        Unit::SharedVgprs => Some(format!("{} VGPRs", value * 8)),
        Unit::Count | Unit::Bytes | Unit::Offset | Unit::Flag | Unit::Register => None,
    }
}

/// A kernel descriptor and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor<'data> {
    /// The kernel's name: the symbol's without `.kd`.
    pub kernel: &'data str,
    /// Section index.
    pub section: usize,
    /// Address; in relocatable files the offset in the section.
    pub address: u64,
    /// The descriptor.
    pub bytes: [u8; SIZE],
}

impl Descriptor<'_> {
    /// A field's number by name; 0 for a name that does not exist.
    pub fn get(&self, name: &str) -> u64 {
        FIELDS.iter().find(|field| field.name == name).map_or(0, |field| field.get(&self.bytes))
    }

    /// Whether waves of 32 lanes run the kernel.
    pub fn is_wave32(&self) -> bool {
        WAVEFRONT_SIZE32.get(&self.bytes) != 0
    }

    /// Address of the first instruction, in linked files.
    pub fn entry(&self) -> u64 {
        self.address.wrapping_add(self.get("kernel_code_entry_byte_offset"))
    }

    /// Bytes that are set although no field of the processor covers them: `(byte, bits)`.
    pub fn reserved(&self, target: Option<&Target>) -> Vec<(usize, u8)> {
        let mut rest = self.bytes;
        let fields = FIELDS.iter().filter(|field| field.unit != Unit::Register);
        for field in fields.filter(|field| target.is_none_or(|target| field.on.has(target))) {
            field.set(&mut rest, 0);
        }
        rest.iter().enumerate().filter(|(_, bits)| **bits != 0).map(|(at, &bits)| (at, bits)).collect()
    }
}

impl<'data> CodeObject<'data> {
    /// The kernel descriptor that a symbol names.
    pub fn descriptor(&self, symbol: &Symbol<'data>) -> Option<Descriptor<'data>> {
        let kernel = symbol.name.strip_suffix(".kd")?;
        let section = usize::from(symbol.section);
        let is_data =
            self.sections.get(section).is_some_and(|section| section.is_loaded() && !section.is_code());
        if !is_data || symbol.size != SIZE as u64 {
            return None;
        }
        let bytes = self.bytes_at(section, symbol.value, SIZE as u64)?.try_into().ok()?;
        Some(Descriptor { kernel, section, address: symbol.value, bytes })
    }

    /// All kernel descriptors, in the order of the symbol table.
    pub fn descriptors(&self) -> impl Iterator<Item = Descriptor<'data>> {
        self.symbols().iter().filter_map(|symbol| self.descriptor(symbol))
    }
}
