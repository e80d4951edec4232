//! The 64-byte kernel descriptor: which assembler directive stands for which bits, on which processors.
//!
//! One table for both directions: the assembler writes the bits that a directive names, the inspector names the bits it
//! finds. The register counts are not in it: several directives make one field (see [`Granules`]).
//!
//! # Source
//! seed 000, lines 2567 (descriptor) and 4719 (directives and their defaults); what came later (dynamic stack, kernarg
//! preload, `compute_pgm_rsrc3`) as LLVM 19's assembler encodes it, proven field by field in `asm/tests`.

use isa::Target;

/// Bytes of a descriptor.
pub const SIZE: usize = 64;
/// Byte offset of the 64-bit distance from descriptor to entry point.
pub const ENTRY_OFFSET: usize = 16;
/// Byte offset of `compute_pgm_rsrc1`.
pub const RSRC1: usize = 48;
/// Byte offset of `compute_pgm_rsrc2`.
pub const RSRC2: usize = 52;
/// Byte offset of `compute_pgm_rsrc3`.
pub const RSRC3: usize = 44;
/// Byte offset of the kernel code properties.
pub const PROPERTIES: usize = 56;
/// Byte offset of the kernarg preload word.
pub const PRELOAD: usize = 58;

/// Where a field lies: bits of the little-endian word that begins at a byte offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Byte offset of the word.
    pub word: usize,
    /// Lowest bit.
    pub lo: u32,
    /// Number of bits.
    pub bits: u32,
}

/// Processors that have a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Availability {
    /// Those from this major version on.
    Since(u32),
    /// gfx90a.
    Gfx90a,
}

/// What a field holds if nothing is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Default {
    /// This number.
    Is(u32),
    /// 1 for wave32.
    Wave32,
    /// 1 unless compute-unit mode is asked for.
    WgpMode,
}

/// A field that a directive of its own sets.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The directive without `.amdhsa_`.
    pub name: &'static str,
    /// The bits.
    pub place: Place,
    /// Where it exists.
    pub availability: Availability,
    /// Without the directive.
    pub default: Default,
    /// User SGPRs that it asks for.
    pub user_sgprs: u32,
}

const fn field(name: &'static str, word: usize, lo: u32, bits: u32) -> Field {
    let place = Place { word, lo, bits };
    Field { name, place, availability: Availability::Since(6), default: Default::Is(0), user_sgprs: 0 }
}

impl Field {
    const fn since(mut self, major: u32) -> Field {
        self.availability = Availability::Since(major);
        self
    }

    const fn only_90a(mut self) -> Field {
        self.availability = Availability::Gfx90a;
        self
    }

    const fn default(mut self, default: Default) -> Field {
        self.default = default;
        self
    }

    const fn one(self) -> Field {
        self.default(Default::Is(1))
    }

    const fn sgprs(mut self, count: u32) -> Field {
        self.user_sgprs = count;
        self
    }

    /// Whether the processor has the field.
    pub fn exists_on(&self, target: &Target) -> bool {
        match self.availability {
            Availability::Since(major) => target.version.0 >= major,
            Availability::Gfx90a => target.version == (9, 0, 10),
        }
    }

    /// The largest value.
    pub const fn max(&self) -> u64 {
        (1 << self.place.bits) - 1
    }
}

/// The fields, in the order of the descriptor's sections and the guide's table.
pub static FIELDS: &[Field] = &[
    field("group_segment_fixed_size", 0, 0, 32),
    field("private_segment_fixed_size", 4, 0, 32),
    field("kernarg_size", 8, 0, 32),
    field("user_sgpr_private_segment_buffer", PROPERTIES, 0, 1).sgprs(4),
    field("user_sgpr_dispatch_ptr", PROPERTIES, 1, 1).sgprs(2),
    field("user_sgpr_queue_ptr", PROPERTIES, 2, 1).sgprs(2),
    field("user_sgpr_kernarg_segment_ptr", PROPERTIES, 3, 1).sgprs(2),
    field("user_sgpr_dispatch_id", PROPERTIES, 4, 1).sgprs(2),
    field("user_sgpr_flat_scratch_init", PROPERTIES, 5, 1).sgprs(2),
    field("user_sgpr_private_segment_size", PROPERTIES, 6, 1).sgprs(1),
    field("user_sgpr_kernarg_preload_length", PRELOAD, 0, 7).only_90a(),
    field("user_sgpr_kernarg_preload_offset", PRELOAD, 7, 9).only_90a(),
    field("wavefront_size32", PROPERTIES, 10, 1).since(10).default(Default::Wave32),
    field("uses_dynamic_stack", PROPERTIES, 11, 1),
    field("system_sgpr_private_segment_wavefront_offset", RSRC2, 0, 1),
    field("system_sgpr_workgroup_id_x", RSRC2, 7, 1).one(),
    field("system_sgpr_workgroup_id_y", RSRC2, 8, 1),
    field("system_sgpr_workgroup_id_z", RSRC2, 9, 1),
    field("system_sgpr_workgroup_info", RSRC2, 10, 1),
    field("system_vgpr_workitem_id", RSRC2, 11, 2),
    field("float_round_mode_32", RSRC1, 12, 2),
    field("float_round_mode_16_64", RSRC1, 14, 2),
    field("float_denorm_mode_32", RSRC1, 16, 2),
    field("float_denorm_mode_16_64", RSRC1, 18, 2).default(Default::Is(3)),
    field("dx10_clamp", RSRC1, 21, 1).one(),
    field("ieee_mode", RSRC1, 23, 1).one(),
    field("fp16_overflow", RSRC1, 26, 1).since(9),
    field("workgroup_processor_mode", RSRC1, 29, 1).since(10).default(Default::WgpMode),
    field("memory_ordered", RSRC1, 30, 1).since(10).one(),
    field("forward_progress", RSRC1, 31, 1).since(10),
    field("exception_fp_ieee_invalid_op", RSRC2, 24, 1),
    field("exception_fp_denorm_src", RSRC2, 25, 1),
    field("exception_fp_ieee_div_zero", RSRC2, 26, 1),
    field("exception_fp_ieee_overflow", RSRC2, 27, 1),
    field("exception_fp_ieee_underflow", RSRC2, 28, 1),
    field("exception_fp_ieee_inexact", RSRC2, 29, 1),
    field("exception_int_div_zero", RSRC2, 30, 1),
    field("tg_split", RSRC3, 16, 1).only_90a(),
    field("shared_vgpr_count", RSRC3, 0, 4).since(10),
];

/// `GRANULATED_WORKITEM_VGPR_COUNT`, made of `.amdhsa_next_free_vgpr`.
pub const VGPR_BLOCKS: Place = Place { word: RSRC1, lo: 0, bits: 6 };
/// `GRANULATED_WAVEFRONT_SGPR_COUNT`, made of `.amdhsa_next_free_sgpr` and the `.amdhsa_reserve_*`.
pub const SGPR_BLOCKS: Place = Place { word: RSRC1, lo: 6, bits: 4 };
/// `USER_SGPR_COUNT`: what the enabled user SGPRs need, or `.amdhsa_user_sgpr_count`.
pub const USER_SGPR_COUNT: Place = Place { word: RSRC2, lo: 1, bits: 5 };
/// `ACCUM_OFFSET` of gfx90a: first accumulation VGPR in units of 4, less one (`.amdhsa_accum_offset`).
pub const ACCUM_OFFSET: Place = Place { word: RSRC3, lo: 0, bits: 6 };

/// Units in which `compute_pgm_rsrc1` counts registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granules {
    /// VGPRs a block.
    pub vgpr: u32,
    /// SGPRs a block; from GFX10 on the field is 0.
    pub sgpr: Option<u32>,
}

impl Granules {
    /// The processor's, for its size of wavefronts.
    pub fn of(target: &Target) -> Granules {
        let sgpr = (target.version.0 < 10).then_some(target.sgpr_encoding_granule);
        Granules { vgpr: target.vgpr_encoding_granule, sgpr }
    }

    /// Blocks less one, as the field holds it.
    pub const fn blocks(count: u32, granule: u32) -> u32 {
        let count = if count == 0 { 1 } else { count };
        count.div_ceil(granule) - 1
    }
}

/// SGPRs beyond the numbered ones: VCC, FLAT_SCRATCH, XNACK_MASK lie above them and are allotted with them.
pub const fn extra_sgprs(major: u32, vcc: bool, flat_scratch: bool, xnack_mask: bool) -> u32 {
    let extra = if vcc { 2 } else { 0 };
    match major {
        10.. => extra,
        8.. if flat_scratch => 6,
        8.. if xnack_mask => 4,
        ..=7 if flat_scratch => 4,
        _ => extra,
    }
}

impl Place {
    /// The field's value in a descriptor.
    pub fn get(&self, descriptor: &[u8; SIZE]) -> u32 {
        (self.word_of(descriptor) >> self.lo) as u32 & self.mask()
    }

    /// Puts a value, cut to the field, into a descriptor.
    pub fn set(&self, descriptor: &mut [u8; SIZE], value: u32) {
        let word = self.word_of(descriptor) & !(u64::from(self.mask()) << self.lo);
        let word = word | u64::from(value & self.mask()) << self.lo;
        let bytes = self.bytes();
        descriptor[self.word..self.word + bytes].copy_from_slice(&word.to_le_bytes()[..bytes]);
    }

    const fn mask(&self) -> u32 {
        ((1u64 << self.bits) - 1) as u32
    }

    /// The words of the properties and of kernarg preload have 16 bits, the others 32.
    const fn bytes(&self) -> usize {
        if self.word >= PROPERTIES { 2 } else { 4 }
    }

    fn word_of(&self, descriptor: &[u8; SIZE]) -> u64 {
        let mut word = [0; 8];
        let bytes = self.bytes();
        word[..bytes].copy_from_slice(&descriptor[self.word..self.word + bytes]);
        u64::from_le_bytes(word)
    }
}
