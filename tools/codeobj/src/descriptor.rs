//! Reads kernel descriptors from a file (LLVM's AMDGPU guide, seed 000, lines 2567-2900). Their fields are
//! defined in [`objwriter::descriptor`].

use crate::elf::{CodeObject, Symbol};
use isa::Target;
pub use objwriter::descriptor::{ENTRY_OFFSET, FIELDS, Field, SIZE, Unit};
use objwriter::descriptor::{Granules, WAVEFRONT_SIZE32};

/// Returns all fields of a kernel descriptor, ordered by their positions. A 32-bit register word comes before
/// the fields that are in it.
pub fn fields_by_place() -> Vec<&'static Field> {
    let mut fields: Vec<&Field> = FIELDS.iter().collect();
    fields.sort_by_key(|field| (field.byte, field.unit != Unit::Register, field.low));
    fields
}

/// Returns an explanation of a field's value.
pub fn explain(field: &Field, value: u64, target: Option<&Target>, wave32: bool) -> Option<String> {
    const ROUND: [&str; 4] = ["nearest even", "towards +infinity", "towards -infinity", "towards zero"];
    const DENORM: [&str; 4] = ["flush sources and results", "flush results", "flush sources", "keep"];
    const IDS: [&str; 4] = ["x", "x, y", "x, y, z", "undefined"];
    let name = |names: [&str; 4]| Some(names[(value & 3) as usize].to_owned());
    let granules = |target: &Target| {
        Granules::for_target(target.with_wave_size(if wave32 { 32 } else { 64 }).unwrap_or(target))
    };
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

/// Kernel descriptor, and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor<'data> {
    /// Name of the kernel: the name of the symbol without `.kd`.
    pub kernel: &'data str,
    /// Section index.
    pub section: usize,
    /// Address, or in relocatable files the offset in the section.
    pub address: u64,
    /// Contents of the descriptor.
    pub bytes: [u8; SIZE],
}

impl Descriptor<'_> {
    /// Returns the value of the field named `name`, or 0 if there is no such field.
    pub fn get(&self, name: &str) -> u64 {
        FIELDS.iter().find(|field| field.name == name).map_or(0, |field| field.get(&self.bytes))
    }

    /// Returns whether the kernel runs in waves of 32 lanes.
    pub fn is_wave32(&self) -> bool {
        WAVEFRONT_SIZE32.get(&self.bytes) != 0
    }

    /// Returns the address of the kernel's first instruction. The result has a meaning only for a linked
    /// file, because a linker or assembler fills in the position of the kernel.
    pub fn entry(&self) -> u64 {
        self.address.wrapping_add(self.get("kernel_code_entry_byte_offset"))
    }

    /// Finds bits that are set although they belong to no field of the descriptor on this processor. Returns
    /// each byte with such bits: its offset, and only these bits.
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
    /// Returns the kernel descriptor that a symbol names.
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

    /// Returns all kernel descriptors, in the order of the symbol table.
    pub fn descriptors(&self) -> impl Iterator<Item = Descriptor<'data>> {
        self.symbols().iter().filter_map(|symbol| self.descriptor(symbol))
    }
}
