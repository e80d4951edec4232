//! Bit fields of the registers of a pipeline, on each generation of processors.
//!
//! # Source
//! GFX6 to GFX8: `sid.h` of Mesa 18. GFX9: `gfx9d.h` of Mesa 18. GFX10: `gfx9_plus_merged_registers.h` of
//! AMD's PAL. A context register that only PAL's header was read for has fields on GFX10 only; fields that
//! GFX8 and GFX10 have in the same place count as fields of GFX9. The values that LLVM computes agree: see
//! `tests/fields.rs`.

use crate::field_rows::GROUPS;

/// A field of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field {
    /// Name, as AMD's headers spell it.
    pub name: &'static str,
    /// Number of the lowest bit.
    pub at: u32,
    /// Number of bits.
    pub width: u32,
    /// Generations that have the field.
    pub(crate) on: Generations,
}

impl Field {
    /// Returns the value of the field in the value of the register.
    pub fn get(&self, register: u32) -> u32 {
        ((u64::from(register) >> self.at) & ((1 << self.width) - 1)) as u32
    }

    /// Returns the value of the register with another value of the field. Bits of `value` that the field does
    /// not have are dropped.
    pub fn set(&self, register: u32, value: u32) -> u32 {
        let mask = (((1u64 << self.width) - 1) << self.at) as u32;
        register & !mask | ((u64::from(value) << self.at) as u32 & mask)
    }
}

/// Set of generations: one bit for each of GFX6, GFX7, GFX8, GFX9, GFX10.1 and GFX10.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Generations(pub(crate) u8);

impl Generations {
    /// Returns the generation of a processor with the version `[major, minor, stepping]`. Returns `None` if
    /// the tables do not have the generation.
    fn of_processor([major, minor, _]: [u32; 3]) -> Option<Generations> {
        let bit = match (major, minor) {
            (6..=9, _) => major - 6,
            (10, 0..=2) => 4,
            (10, _) => 5,
            _ => return None,
        };
        Some(Generations(1 << bit))
    }
}

/// Returns the fields of a register on a processor with the version `[major, minor, stepping]`, from the
/// lowest bit on. Returns no fields for registers and processors that are not in the tables.
pub fn fields(register: u32, version: [u32; 3]) -> impl Iterator<Item = &'static Field> {
    let group = GROUPS.iter().filter(move |(registers, _)| registers.contains(&register));
    let on = Generations::of_processor(version).unwrap_or(Generations(0));
    group.flat_map(|(_, fields)| fields.iter()).filter(move |field| field.on.0 & on.0 != 0)
}

/// Returns a field of a register by its name.
pub fn field(register: u32, name: &str, version: [u32; 3]) -> Option<&'static Field> {
    fields(register, version).find(|field| field.name == name)
}

/// Returns the bits of a register that no field covers on a processor.
pub fn uncovered(register: u32, version: [u32; 3]) -> u32 {
    fields(register, version).fold(u32::MAX, |rest, field| field.set(rest, 0))
}
