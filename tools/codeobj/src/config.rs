//! The section `.AMDGPU.config` of objects for Mesa and for no operating system: pairs of a register's number
//! and its value.
//!
//! # Source
//! The pairs that LLVM 19 writes. Names and numbers of registers: the register headers of Mesa
//! (`amd/registers`), and LLVM's `SIDefines.h` for the two counts that are no registers.

use crate::descriptor::{SIZE, Unit, fields_by_place};
use crate::elf::{CodeObject, Section};
use isa::Target;

/// Name of the section.
pub const NAME: &str = ".AMDGPU.config";

/// Offset in a kernel descriptor of the word with the same fields, for registers that a descriptor has, too.
const RSRC1: usize = 48;
const RSRC2: usize = 52;

/// The registers that the section may name, each with the offset of its word in a kernel descriptor.
const REGISTERS: &[(u32, &str, Option<usize>)] = &[
    (0xb848, "COMPUTE_PGM_RSRC1", Some(RSRC1)),
    (0xb84c, "COMPUTE_PGM_RSRC2", Some(RSRC2)),
    (0xb860, "COMPUTE_TMPRING_SIZE", None),
    (0x4, "spilled SGPRs", None),
    (0x8, "spilled VGPRs", None),
    (0xb028, "SPI_SHADER_PGM_RSRC1_PS", None),
    (0xb02c, "SPI_SHADER_PGM_RSRC2_PS", None),
    (0xb128, "SPI_SHADER_PGM_RSRC1_VS", None),
    (0xb12c, "SPI_SHADER_PGM_RSRC2_VS", None),
    (0xb228, "SPI_SHADER_PGM_RSRC1_GS", None),
    (0xb22c, "SPI_SHADER_PGM_RSRC2_GS", None),
    (0xb328, "SPI_SHADER_PGM_RSRC1_ES", None),
    (0xb32c, "SPI_SHADER_PGM_RSRC2_ES", None),
    (0xb428, "SPI_SHADER_PGM_RSRC1_HS", None),
    (0xb42c, "SPI_SHADER_PGM_RSRC2_HS", None),
    (0xb528, "SPI_SHADER_PGM_RSRC1_LS", None),
    (0xb52c, "SPI_SHADER_PGM_RSRC2_LS", None),
    (0x286cc, "SPI_PS_INPUT_ENA", None),
    (0x286d0, "SPI_PS_INPUT_ADDR", None),
    (0x286e8, "SPI_TMPRING_SIZE", None),
];

/// Numbers of the two registers with the size of a wave's scratch memory.
const TMPRING: [u32; 2] = [0xb860, 0x286e8];

/// A pair of a register and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Number of the register.
    pub register: u32,
    /// Value of the register.
    pub value: u32,
}

/// A field of a register, with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldValue {
    /// Name of the field.
    pub name: &'static str,
    /// Value of the field.
    pub value: u64,
}

impl Pair {
    /// Returns the name of the register, if kernc knows it.
    pub fn name(&self) -> Option<&'static str> {
        REGISTERS.iter().find(|(number, ..)| *number == self.register).map(|(_, name, _)| *name)
    }

    /// Returns the fields of the register on a processor. The list is empty for a register without fields.
    pub fn fields(&self, target: Option<&Target>) -> Vec<FieldValue> {
        if TMPRING.contains(&self.register) {
            let part = |name, low: u32, bits: u32| FieldValue {
                name,
                value: u64::from(self.value >> low & ((1 << bits) - 1)),
            };
            return vec![part("waves", 0, 12), part("wavesize", 12, 13)];
        }
        let place = REGISTERS.iter().find(|(number, ..)| *number == self.register);
        let Some(byte) = place.and_then(|(_, _, byte)| *byte) else { return Vec::new() };
        let mut bytes = [0; SIZE];
        bytes[byte..byte + 4].copy_from_slice(&self.value.to_le_bytes());
        let is_here = |unit: Unit, at: usize| unit != Unit::Register && (byte..byte + 4).contains(&at);
        fields_by_place()
            .into_iter()
            .filter(|field| is_here(field.unit, usize::from(field.byte)))
            .filter(|field| target.is_none_or(|target| field.on.has(target)))
            .map(|field| FieldValue { name: field.name, value: field.get(&bytes) })
            .collect()
    }
}

/// Returns the pairs in the contents of the section, and the bytes that follow the last whole pair.
pub fn pairs(data: &[u8]) -> (Vec<Pair>, &[u8]) {
    let (whole, rest) = data.as_chunks::<8>();
    let word = |bytes: &[u8]| bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    let pair = |bytes: &[u8; 8]| Pair { register: word(&bytes[..4]), value: word(&bytes[4..]) };
    (whole.iter().map(pair).collect(), rest)
}

impl<'data> CodeObject<'data> {
    /// Returns the section `.AMDGPU.config`, if the object has it.
    pub fn config(&self) -> Option<&Section<'data>> {
        self.sections.iter().find(|section| section.name == NAME)
    }
}
