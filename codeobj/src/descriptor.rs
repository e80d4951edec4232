//! Kernel descriptors: the 64 bytes from which the packet processor starts a kernel (seed 000, lines 2567-2900).
//!
//! [`FIELDS`] names every bit. What the seed does not know yet is from LLVM 19's encodings: the kernarg size and preload
//! words, `USES_DYNAMIC_STACK`, and gfx90a's `COMPUTE_PGM_RSRC3`.

use crate::elf::{CodeObject, Symbol};
use isa::Target;

/// Bytes of a descriptor.
pub const SIZE: usize = 64;
/// Where the offset to the kernel's first instruction lies.
pub const ENTRY_OFFSET: u64 = 16;

/// What a field's number means to a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A number.
    Count,
    /// Bytes.
    Bytes,
    /// Signed offset in bytes.
    Offset,
    /// On or off.
    Flag,
    /// Blocks of VGPRs, less one.
    VgprBlocks,
    /// Blocks of SGPRs, less one.
    SgprBlocks,
    /// Blocks of four AGPRs' offset, less one.
    AccumOffset,
    /// Blocks of 8 shared VGPRs.
    SharedVgprs,
    /// Rounding mode.
    Round,
    /// Denormal mode.
    Denorm,
    /// Which work-item ids are in VGPRs.
    WorkItemId,
    /// Register of several fields: a heading, shown in hexadecimal.
    Register,
}

/// Processors that have a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// All.
    All,
    /// Major version from, to.
    Majors(u32, u32),
    /// Those with the unified register file of gfx90a.
    Gfx90a,
}

impl On {
    /// Whether the processor is one of them.
    pub fn has(self, target: &Target) -> bool {
        match self {
            On::All => true,
            On::Majors(from, to) => (from..=to).contains(&target.version.0),
            On::Gfx90a => is_gfx90a(target),
        }
    }
}

fn is_gfx90a(target: &Target) -> bool {
    target.version == (9, 0, 10)
}

/// A field of the descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name in the guide, in lower case.
    pub name: &'static str,
    /// First byte of the word it is in.
    pub byte: u8,
    /// Its lowest bit there.
    pub low: u8,
    /// Its bits.
    pub width: u8,
    /// Processors that have it.
    pub on: On,
    /// Meaning of its number.
    pub unit: Unit,
}

const fn word(name: &'static str, byte: u8, width: u8, unit: Unit) -> Field {
    Field { name, byte, low: 0, width, on: On::All, unit }
}

const fn rsrc1(low: u8, width: u8, name: &'static str, on: On, unit: Unit) -> Field {
    Field { name, byte: 48, low, width, on, unit }
}

const fn rsrc2(low: u8, width: u8, name: &'static str, unit: Unit) -> Field {
    Field { name, byte: 52, low, width, on: On::All, unit }
}

const fn rsrc3(low: u8, width: u8, name: &'static str, on: On, unit: Unit) -> Field {
    Field { name, byte: 44, low, width, on, unit }
}

const fn properties(low: u8, name: &'static str, on: On) -> Field {
    Field { name, byte: 56, low, width: 1, on, unit: Unit::Flag }
}

const GFX9_ON: On = On::Majors(9, u32::MAX);
const GFX10_ON: On = On::Majors(10, u32::MAX);

/// Every field, headings first. Bits that no field covers are reserved and 0.
pub const FIELDS: &[Field] = &[
    word("group_segment_fixed_size", 0, 32, Unit::Bytes),
    word("private_segment_fixed_size", 4, 32, Unit::Bytes),
    word("kernarg_size", 8, 32, Unit::Bytes),
    word("kernel_code_entry_byte_offset", 16, 64, Unit::Offset),
    word("compute_pgm_rsrc3", 44, 32, Unit::Register),
    rsrc3(0, 6, "accum_offset", On::Gfx90a, Unit::AccumOffset),
    rsrc3(16, 1, "tg_split", On::Gfx90a, Unit::Flag),
    rsrc3(0, 4, "shared_vgpr_count", GFX10_ON, Unit::SharedVgprs),
    word("compute_pgm_rsrc1", 48, 32, Unit::Register),
    rsrc1(0, 6, "granulated_workitem_vgpr_count", On::All, Unit::VgprBlocks),
    rsrc1(6, 4, "granulated_wavefront_sgpr_count", On::All, Unit::SgprBlocks),
    rsrc1(10, 2, "priority", On::All, Unit::Count),
    rsrc1(12, 2, "float_round_mode_32", On::All, Unit::Round),
    rsrc1(14, 2, "float_round_mode_16_64", On::All, Unit::Round),
    rsrc1(16, 2, "float_denorm_mode_32", On::All, Unit::Denorm),
    rsrc1(18, 2, "float_denorm_mode_16_64", On::All, Unit::Denorm),
    rsrc1(20, 1, "priv", On::All, Unit::Flag),
    rsrc1(21, 1, "enable_dx10_clamp", On::All, Unit::Flag),
    rsrc1(22, 1, "debug_mode", On::All, Unit::Flag),
    rsrc1(23, 1, "enable_ieee_mode", On::All, Unit::Flag),
    rsrc1(24, 1, "bulky", On::All, Unit::Flag),
    rsrc1(25, 1, "cdbg_user", On::All, Unit::Flag),
    rsrc1(26, 1, "fp16_ovfl", GFX9_ON, Unit::Flag),
    rsrc1(29, 1, "wgp_mode", GFX10_ON, Unit::Flag),
    rsrc1(30, 1, "mem_ordered", GFX10_ON, Unit::Flag),
    rsrc1(31, 1, "fwd_progress", GFX10_ON, Unit::Flag),
    word("compute_pgm_rsrc2", 52, 32, Unit::Register),
    rsrc2(0, 1, "enable_sgpr_private_segment_wavefront_offset", Unit::Flag),
    rsrc2(1, 5, "user_sgpr_count", Unit::Count),
    rsrc2(6, 1, "enable_trap_handler", Unit::Flag),
    rsrc2(7, 1, "enable_sgpr_workgroup_id_x", Unit::Flag),
    rsrc2(8, 1, "enable_sgpr_workgroup_id_y", Unit::Flag),
    rsrc2(9, 1, "enable_sgpr_workgroup_id_z", Unit::Flag),
    rsrc2(10, 1, "enable_sgpr_workgroup_info", Unit::Flag),
    rsrc2(11, 2, "enable_vgpr_workitem_id", Unit::WorkItemId),
    rsrc2(13, 1, "enable_exception_address_watch", Unit::Flag),
    rsrc2(14, 1, "enable_exception_memory", Unit::Flag),
    rsrc2(15, 9, "granulated_lds_size", Unit::Count),
    rsrc2(24, 1, "enable_exception_ieee_754_fp_invalid_operation", Unit::Flag),
    rsrc2(25, 1, "enable_exception_fp_denormal_source", Unit::Flag),
    rsrc2(26, 1, "enable_exception_ieee_754_fp_division_by_zero", Unit::Flag),
    rsrc2(27, 1, "enable_exception_ieee_754_fp_overflow", Unit::Flag),
    rsrc2(28, 1, "enable_exception_ieee_754_fp_underflow", Unit::Flag),
    rsrc2(29, 1, "enable_exception_ieee_754_fp_inexact", Unit::Flag),
    rsrc2(30, 1, "enable_exception_int_divide_by_zero", Unit::Flag),
    word("kernel_code_properties", 56, 16, Unit::Register),
    properties(0, "enable_sgpr_private_segment_buffer", On::All),
    properties(1, "enable_sgpr_dispatch_ptr", On::All),
    properties(2, "enable_sgpr_queue_ptr", On::All),
    properties(3, "enable_sgpr_kernarg_segment_ptr", On::All),
    properties(4, "enable_sgpr_dispatch_id", On::All),
    properties(5, "enable_sgpr_flat_scratch_init", On::All),
    properties(6, "enable_sgpr_private_segment_size", On::All),
    properties(10, "enable_wavefront_size32", GFX10_ON),
    properties(11, "uses_dynamic_stack", On::All),
    word("kernarg_preload", 58, 16, Unit::Register),
    Field { name: "length", byte: 58, low: 0, width: 7, on: On::Gfx90a, unit: Unit::Count },
    Field { name: "offset", byte: 58, low: 7, width: 9, on: On::Gfx90a, unit: Unit::Count },
];

impl Field {
    /// Its number in a descriptor's bytes.
    pub fn get(&self, bytes: &[u8; SIZE]) -> u64 {
        let mut word = [0; 8];
        let start = usize::from(self.byte);
        let end = (start + 8).min(SIZE);
        word[..end - start].copy_from_slice(&bytes[start..end]);
        u64::from_le_bytes(word) >> self.low & (u64::MAX >> (64 - self.width))
    }

    /// Sets it to 0.
    pub fn clear(&self, bytes: &mut [u8; SIZE]) {
        let mask = u64::MAX >> (64 - self.width) << self.low;
        for (n, byte) in bytes.iter_mut().skip(usize::from(self.byte)).take(8).enumerate() {
            *byte &= !mask.to_le_bytes()[n];
        }
    }

    /// What a number of this field says beyond itself.
    pub fn explain(&self, value: u64, target: Option<&Target>, wave32: bool) -> Option<String> {
        const ROUND: [&str; 4] = ["nearest even", "towards +infinity", "towards -infinity", "towards zero"];
        const DENORM: [&str; 4] = ["flush sources and results", "flush results", "flush sources", "keep"];
        const IDS: [&str; 4] = ["x", "x, y", "x, y, z", "undefined"];
        let name = |names: [&str; 4]| Some(names[(value & 3) as usize].to_owned());
        match self.unit {
            Unit::Round => name(ROUND),
            Unit::Denorm => name(DENORM),
            Unit::WorkItemId => name(IDS),
            Unit::VgprBlocks => {
                Some(format!("{} VGPRs", (value + 1) * u64::from(vgpr_granule(target?, wave32))))
            }
            // GFX10 always allots 128.
            Unit::SgprBlocks if target?.version.0 >= 10 => None,
            Unit::SgprBlocks => Some(format!("{} SGPRs", (value + 1) * SGPR_GRANULE)),
            Unit::AccumOffset => Some(format!("AGPRs begin at VGPR {}", (value + 1) * 4)),
            Unit::SharedVgprs => Some(format!("{} VGPRs", value * 8)),
            Unit::Count | Unit::Bytes | Unit::Offset | Unit::Flag | Unit::Register => None,
        }
    }
}

/// SGPRs that 1 stands for in `granulated_wavefront_sgpr_count`; GFX9 uses even numbers only.
pub const SGPR_GRANULE: u64 = 8;

/// VGPRs that 1 stands for in `granulated_workitem_vgpr_count`.
pub fn vgpr_granule(target: &Target, wave32: bool) -> u32 {
    if wave32 || is_gfx90a(target) { 8 } else { 4 }
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
        self.get("enable_wavefront_size32") != 0
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
            field.clear(&mut rest);
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
