//! Kernel descriptors: the 64 bytes from which the packet processor starts a kernel.
//!
//! [`FIELDS`] is the only table of the descriptor's bits: the compiler and the assembler write descriptors by
//! it, and the inspector and the disassembler read them by it. Most fields are set by one directive of the
//! assembler. The fields of the register counts depend on several directives: see [`Registers`].
//!
//! # Source
//! LLVM's AMDGPU guide (seed 000), lines 2567 (descriptor) and 4719 (directives and their defaults). Fields
//! that the guide does not describe (kernarg size and preload, `uses_dynamic_stack`, `compute_pgm_rsrc3`) are
//! encoded as LLVM 19's assembler does it, which `tools/asm/tests` verifies field by field.

use isa::{DescriptorFields, Feature, Target};
use std::fmt;

/// Size of a descriptor in bytes.
pub const SIZE: usize = 64;
/// Byte offset in the descriptor of the field that holds the 64-bit distance from the descriptor to the
/// kernel's entry point.
pub const ENTRY_OFFSET: u64 = 16;

/// Offsets of the words that contain several fields.
const RSRC3: u8 = 44;
const RSRC1: u8 = 48;
const RSRC2: u8 = 52;
const PROPERTIES: u8 = 56;
const PRELOAD: u8 = 58;

/// Meaning of a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A number.
    Count,
    /// Size in bytes.
    Bytes,
    /// Signed offset in bytes.
    Offset,
    /// On or off.
    Flag,
    /// Number of VGPR blocks, minus one.
    VgprBlocks,
    /// Number of SGPR blocks, minus one.
    SgprBlocks,
    /// Number of the first accumulation register. The field holds it as a number of blocks of four registers,
    /// minus one.
    AccumOffset,
    /// Number of blocks of 8 shared VGPRs.
    SharedVgprs,
    /// Rounding mode.
    Round,
    /// Denormal mode.
    Denorm,
    /// Which work-item ids are in VGPRs.
    WorkItemId,
    /// A 32-bit word of the descriptor that contains several other fields. Readers print it in hexadecimal as
    /// a heading for these fields.
    Register,
}

/// Value of a field without a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Default {
    /// This number.
    Is(u64),
    /// 1 for wave32, otherwise 0.
    Wave32,
    /// 1 unless compute-unit mode is requested.
    WgpMode,
}

/// A field of the descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name of the field in the guide, in lower case.
    pub name: &'static str,
    /// Directive that sets the field, without `.amdhsa_`.
    pub directive: Option<&'static str>,
    /// Offset of the word that contains the field.
    pub byte: u8,
    /// Lowest bit of the field in that word.
    pub low: u8,
    /// Number of bits.
    pub width: u8,
    /// The processors that have the field, as a set: the field itself if not every processor has it, and the
    /// empty set if every processor has it.
    pub on: DescriptorFields,
    /// Meaning of the value.
    pub unit: Unit,
    /// Value without a directive.
    pub default: Default,
    /// Number of user SGPRs that the value 1 enables.
    pub user_sgprs: u32,
}

const fn bits(byte: u8, low: u8, width: u8, name: &'static str, unit: Unit) -> Field {
    let default = Default::Is(0);
    Field {
        name,
        directive: None,
        byte,
        low,
        width,
        on: DescriptorFields::empty(),
        unit,
        default,
        user_sgprs: 0,
    }
}

const fn flag(byte: u8, low: u8, name: &'static str) -> Field {
    bits(byte, low, 1, name, Unit::Flag)
}

const fn word(byte: u8, width: u8, name: &'static str, unit: Unit) -> Field {
    bits(byte, 0, width, name, unit)
}

impl Field {
    const fn directive(mut self, name: &'static str) -> Field {
        self.directive = Some(name);
        self
    }

    const fn on(mut self, on: DescriptorFields) -> Field {
        self.on = on;
        self
    }

    const fn default(mut self, default: Default) -> Field {
        self.default = default;
        self
    }

    const fn default_one(self) -> Field {
        self.default(Default::Is(1))
    }

    const fn sgprs(mut self, count: u32) -> Field {
        self.user_sgprs = count;
        self
    }

    const fn mask(&self) -> u64 {
        u64::MAX >> (64 - self.width)
    }

    /// Returns the largest value of the field.
    pub const fn max(&self) -> u64 {
        self.mask()
    }

    /// Returns where the bits of the field are: the offset of eight bytes of the descriptor that contain the
    /// field, and the position of the field's lowest bit in them.
    const fn bit_position(&self) -> (usize, u32) {
        let start = if (self.byte as usize) < SIZE - 8 { self.byte as usize } else { SIZE - 8 };
        (start, self.low as u32 + 8 * (self.byte as usize - start) as u32)
    }

    /// Returns the value of the field in a descriptor.
    pub fn get(&self, bytes: &[u8; SIZE]) -> u64 {
        let (start, low) = self.bit_position();
        let mut word = [0; 8];
        word.copy_from_slice(&bytes[start..start + 8]);
        u64::from_le_bytes(word) >> low & self.mask()
    }

    /// Sets the field in a descriptor to a value, of which only as many low bits are used as the field has.
    pub fn set(&self, bytes: &mut [u8; SIZE], value: u64) {
        let (start, low) = self.bit_position();
        let place = &mut bytes[start..start + 8];
        let mut word = [0; 8];
        word.copy_from_slice(place);
        let others = u64::from_le_bytes(word) & !(self.mask() << low);
        place.copy_from_slice(&(others | (value & self.mask()) << low).to_le_bytes());
    }

    /// Returns the default value of the field for a processor. `cumode` says whether code is compiled for
    /// compute-unit (CU) mode.
    pub fn default_for(&self, target: &Target, cumode: bool) -> u64 {
        match self.default {
            _ if !self.on.has(target) => 0,
            Default::Is(value) => value,
            Default::Wave32 => u64::from(target.wave_size == 32),
            Default::WgpMode => u64::from(!cumode),
        }
    }
}

/// Defines a table of constants, with a name for each.
macro_rules! fields {
    ($($(#[$doc:meta])* $id:ident = $field:expr;)*) => {
        $(
            #[doc = concat!("`", stringify!($id), "`.")]
            $(#[$doc])*
            pub const $id: Field = $field;
        )*

        /// All fields of the descriptor. Fields that have a directive are in the order of the AMDGPU guide's
        /// table of directives. Bits outside all fields are reserved and must be 0.
        pub static FIELDS: &[Field] = &[$($id),*];
    };
}

fields! {
    GROUP_SEGMENT_FIXED_SIZE = word(0, 32, "group_segment_fixed_size", Unit::Bytes).directive("group_segment_fixed_size");
    PRIVATE_SEGMENT_FIXED_SIZE = word(4, 32, "private_segment_fixed_size", Unit::Bytes).directive("private_segment_fixed_size");
    KERNARG_SIZE = word(8, 32, "kernarg_size", Unit::Bytes).directive("kernarg_size");
    ENTRY = word(16, 64, "kernel_code_entry_byte_offset", Unit::Offset);
    KERNEL_CODE_PROPERTIES = word(PROPERTIES, 16, "kernel_code_properties", Unit::Register);
    PRIVATE_SEGMENT_BUFFER = flag(PROPERTIES, 0, "enable_sgpr_private_segment_buffer").on(DescriptorFields::SCRATCH_SETUP).directive("user_sgpr_private_segment_buffer").sgprs(4);
    DISPATCH_PTR = flag(PROPERTIES, 1, "enable_sgpr_dispatch_ptr").directive("user_sgpr_dispatch_ptr").sgprs(2);
    QUEUE_PTR = flag(PROPERTIES, 2, "enable_sgpr_queue_ptr").directive("user_sgpr_queue_ptr").sgprs(2);
    KERNARG_SEGMENT_PTR = flag(PROPERTIES, 3, "enable_sgpr_kernarg_segment_ptr").directive("user_sgpr_kernarg_segment_ptr").sgprs(2);
    DISPATCH_ID = flag(PROPERTIES, 4, "enable_sgpr_dispatch_id").directive("user_sgpr_dispatch_id").sgprs(2);
    FLAT_SCRATCH_INIT = flag(PROPERTIES, 5, "enable_sgpr_flat_scratch_init").on(DescriptorFields::SCRATCH_SETUP).directive("user_sgpr_flat_scratch_init").sgprs(2);
    PRIVATE_SEGMENT_SIZE = flag(PROPERTIES, 6, "enable_sgpr_private_segment_size").directive("user_sgpr_private_segment_size").sgprs(1);
    KERNARG_PRELOAD = word(PRELOAD, 16, "kernarg_preload", Unit::Register);
    /// Number of SGPRs into which the hardware loads the first kernel arguments before the kernel starts, so
    /// that the kernel need not load them.
    KERNARG_PRELOAD_LENGTH = bits(PRELOAD, 0, 7, "length", Unit::Count).on(DescriptorFields::KERNARG_PRELOAD).directive("user_sgpr_kernarg_preload_length");
    KERNARG_PRELOAD_OFFSET = bits(PRELOAD, 7, 9, "offset", Unit::Count).on(DescriptorFields::KERNARG_PRELOAD).directive("user_sgpr_kernarg_preload_offset");
    WAVEFRONT_SIZE32 = flag(PROPERTIES, 10, "enable_wavefront_size32").on(DescriptorFields::WAVEFRONT_SIZE32).directive("wavefront_size32").default(Default::Wave32);
    USES_DYNAMIC_STACK = flag(PROPERTIES, 11, "uses_dynamic_stack").directive("uses_dynamic_stack");
    COMPUTE_PGM_RSRC2 = word(RSRC2, 32, "compute_pgm_rsrc2", Unit::Register);
    PRIVATE_SEGMENT_WAVEFRONT_OFFSET = flag(RSRC2, 0, "enable_sgpr_private_segment_wavefront_offset").on(DescriptorFields::SCRATCH_SETUP).directive("system_sgpr_private_segment_wavefront_offset");
    PRIVATE_SEGMENT = flag(RSRC2, 0, "enable_private_segment").on(DescriptorFields::PRIVATE_SEGMENT).directive("enable_private_segment");
    USER_SGPR_COUNT = bits(RSRC2, 1, 5, "user_sgpr_count", Unit::Count);
    TRAP_HANDLER = flag(RSRC2, 6, "enable_trap_handler");
    WORKGROUP_ID_X = flag(RSRC2, 7, "enable_sgpr_workgroup_id_x").directive("system_sgpr_workgroup_id_x").default_one();
    WORKGROUP_ID_Y = flag(RSRC2, 8, "enable_sgpr_workgroup_id_y").directive("system_sgpr_workgroup_id_y");
    WORKGROUP_ID_Z = flag(RSRC2, 9, "enable_sgpr_workgroup_id_z").directive("system_sgpr_workgroup_id_z");
    WORKGROUP_INFO = flag(RSRC2, 10, "enable_sgpr_workgroup_info").directive("system_sgpr_workgroup_info");
    WORKITEM_ID = bits(RSRC2, 11, 2, "enable_vgpr_workitem_id", Unit::WorkItemId).directive("system_vgpr_workitem_id");
    EXCEPTION_ADDRESS_WATCH = flag(RSRC2, 13, "enable_exception_address_watch");
    EXCEPTION_MEMORY = flag(RSRC2, 14, "enable_exception_memory");
    GRANULATED_LDS_SIZE = bits(RSRC2, 15, 9, "granulated_lds_size", Unit::Count);
    COMPUTE_PGM_RSRC1 = word(RSRC1, 32, "compute_pgm_rsrc1", Unit::Register);
    /// See [`Registers`].
    VGPR_BLOCKS = bits(RSRC1, 0, 6, "granulated_workitem_vgpr_count", Unit::VgprBlocks);
    /// See [`Registers`].
    SGPR_BLOCKS = bits(RSRC1, 6, 4, "granulated_wavefront_sgpr_count", Unit::SgprBlocks);
    PRIORITY = bits(RSRC1, 10, 2, "priority", Unit::Count);
    FLOAT_ROUND_MODE_32 = bits(RSRC1, 12, 2, "float_round_mode_32", Unit::Round).directive("float_round_mode_32");
    FLOAT_ROUND_MODE_16_64 = bits(RSRC1, 14, 2, "float_round_mode_16_64", Unit::Round).directive("float_round_mode_16_64");
    FLOAT_DENORM_MODE_32 = bits(RSRC1, 16, 2, "float_denorm_mode_32", Unit::Denorm).directive("float_denorm_mode_32");
    FLOAT_DENORM_MODE_16_64 = bits(RSRC1, 18, 2, "float_denorm_mode_16_64", Unit::Denorm).directive("float_denorm_mode_16_64").default(Default::Is(3));
    PRIV = flag(RSRC1, 20, "priv");
    DX10_CLAMP = flag(RSRC1, 21, "enable_dx10_clamp").directive("dx10_clamp").default_one();
    DEBUG_MODE = flag(RSRC1, 22, "debug_mode");
    IEEE_MODE = flag(RSRC1, 23, "enable_ieee_mode").directive("ieee_mode").default_one();
    BULKY = flag(RSRC1, 24, "bulky");
    CDBG_USER = flag(RSRC1, 25, "cdbg_user");
    FP16_OVERFLOW = flag(RSRC1, 26, "fp16_ovfl").on(DescriptorFields::FP16_OVERFLOW).directive("fp16_overflow");
    WGP_MODE = flag(RSRC1, 29, "wgp_mode").on(DescriptorFields::WGP_MODE).directive("workgroup_processor_mode").default(Default::WgpMode);
    MEM_ORDERED = flag(RSRC1, 30, "mem_ordered").on(DescriptorFields::MEM_ORDERED).directive("memory_ordered").default_one();
    FWD_PROGRESS = flag(RSRC1, 31, "fwd_progress").on(DescriptorFields::FORWARD_PROGRESS).directive("forward_progress");
    EXCEPTION_INVALID_OP = flag(RSRC2, 24, "enable_exception_ieee_754_fp_invalid_operation").directive("exception_fp_ieee_invalid_op");
    EXCEPTION_DENORM_SRC = flag(RSRC2, 25, "enable_exception_fp_denormal_source").directive("exception_fp_denorm_src");
    EXCEPTION_DIV_ZERO = flag(RSRC2, 26, "enable_exception_ieee_754_fp_division_by_zero").directive("exception_fp_ieee_div_zero");
    EXCEPTION_OVERFLOW = flag(RSRC2, 27, "enable_exception_ieee_754_fp_overflow").directive("exception_fp_ieee_overflow");
    EXCEPTION_UNDERFLOW = flag(RSRC2, 28, "enable_exception_ieee_754_fp_underflow").directive("exception_fp_ieee_underflow");
    EXCEPTION_INEXACT = flag(RSRC2, 29, "enable_exception_ieee_754_fp_inexact").directive("exception_fp_ieee_inexact");
    EXCEPTION_INT_DIV_ZERO = flag(RSRC2, 30, "enable_exception_int_divide_by_zero").directive("exception_int_div_zero");
    COMPUTE_PGM_RSRC3 = word(RSRC3, 32, "compute_pgm_rsrc3", Unit::Register);
    /// Number of the first accumulation VGPR as a number of blocks of four registers, minus one. The
    /// directive `.amdhsa_accum_offset` gives the number of the register itself.
    ACCUM_OFFSET = bits(RSRC3, 0, 6, "accum_offset", Unit::AccumOffset).on(DescriptorFields::ACCUM_OFFSET);
    TG_SPLIT = flag(RSRC3, 16, "tg_split").on(DescriptorFields::TG_SPLIT).directive("tg_split");
    SHARED_VGPR_COUNT = bits(RSRC3, 0, 4, "shared_vgpr_count", Unit::SharedVgprs).on(DescriptorFields::SHARED_VGPRS).directive("shared_vgpr_count");
}

/// Returns the fields that a directive sets on this processor, each with the name of its directive. The order
/// is that of the AMDGPU guide's table of directives.
pub fn directives(target: &Target) -> impl Iterator<Item = (&'static str, &'static Field)> {
    let on_target = FIELDS.iter().filter(|field| field.on.has(target));
    on_target.filter_map(|field| Some((field.directive?, field)))
}

/// Returns a descriptor in which all fields have their defaults for a processor. `cumode` says whether code
/// is compiled for compute-unit (CU) mode.
pub fn defaults(target: &Target, cumode: bool) -> [u8; SIZE] {
    let mut bytes = [0; SIZE];
    for field in FIELDS.iter().filter(|field| !matches!(field.default, Default::Is(0))) {
        field.set(&mut bytes, field.default_for(target, cumode));
    }
    bytes
}

/// Returns how many user SGPRs the inputs take that a descriptor requests (such as the pointer to the kernel
/// arguments).
pub fn user_sgprs(bytes: &[u8; SIZE], target: &Target) -> u32 {
    let fields = FIELDS.iter().filter(|field| field.user_sgprs > 0 && field.on.has(target));
    let inputs: u32 = fields.map(|field| field.get(bytes) as u32 * field.user_sgprs).sum();
    let preload = KERNARG_PRELOAD_LENGTH;
    inputs + if preload.on.has(target) { preload.get(bytes) as u32 } else { 0 }
}

/// Units in which `compute_pgm_rsrc1` counts registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granules {
    /// VGPRs in a block.
    pub vgpr: u32,
    /// Number of SGPRs in an allocation block. `None` if every wave has all SGPRs and the descriptor's field
    /// is 0 (GFX10).
    pub sgpr: Option<u32>,
}

impl Granules {
    /// Returns the units of a processor with its wave size.
    pub fn for_target(target: &Target) -> Granules {
        let sgpr = target.arch.descriptor.counts_sgprs.then_some(target.sgpr_encoding_granule);
        Granules { vgpr: target.vgpr_encoding_granule, sgpr }
    }

    /// Returns the value of the descriptor's field for `count` registers: the number of allocation blocks
    /// that they take, minus one.
    const fn blocks(count: u32, granule: u32) -> u32 {
        let count = if count == 0 { 1 } else { count };
        count.div_ceil(granule) - 1
    }
}

/// Number of SGPRs that every wave must request on processors with the SGPR initialisation bug
/// (`SGPR_INIT_BUG`).
const SGPRS_OF_INIT_BUG: u32 = 96;

/// Numbers of registers that a kernel uses, as the directives of the assembler count them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    /// Number of the highest VGPR, plus one.
    pub vgprs: u32,
    /// Number of the highest numbered SGPR, plus one.
    pub sgprs: u32,
    /// Whether VCC is used.
    pub vcc: bool,
    /// Whether FLAT_SCRATCH is reserved.
    pub flat_scratch: bool,
    /// Whether XNACK_MASK is reserved.
    pub xnack_mask: bool,
}

/// Error: a kernel uses more registers than a descriptor can express or the processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooMany {
    /// VGPRs.
    Vgprs(u32),
    /// Numbered SGPRs, and the number that the processor has.
    Addressable(u32, u32),
    /// All SGPRs.
    Sgprs(u32),
}

impl fmt::Display for TooMany {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TooMany::Vgprs(count) => write!(f, "{count} VGPRs are more than a descriptor can say"),
            TooMany::Addressable(count, most) => {
                write!(f, "{count} SGPRs are more than the {most} there are")
            }
            TooMany::Sgprs(count) => write!(f, "{count} SGPRs are more than a descriptor can say"),
        }
    }
}

impl std::error::Error for TooMany {}

impl Registers {
    /// Returns the number of SGPRs for VCC, FLAT_SCRATCH and XNACK_MASK, which are allocated after the
    /// numbered SGPRs.
    pub const fn extra_sgprs(&self, target: &Target) -> u32 {
        let extra = if self.vcc { 2 } else { 0 };
        let facts = target.arch.descriptor.known();
        let is_optional = facts.fields.contains(DescriptorFields::RESERVE_FLAT_SCRATCH);
        match (facts.sgprs_with_flat_scratch, facts.sgprs_with_xnack_mask) {
            (Some(count), _) if self.flat_scratch || !is_optional => count,
            (_, Some(count)) if self.xnack_mask => count,
            _ => extra,
        }
    }

    /// Returns the total number of SGPRs.
    pub const fn total_sgprs(&self, target: &Target) -> u32 {
        self.sgprs.saturating_add(self.extra_sgprs(target))
    }

    /// Stores the numbers of registers in a descriptor.
    ///
    /// # Errors
    /// The numbers exceed what the descriptor can express or what the processor has.
    pub fn set(&self, target: &Target, bytes: &mut [u8; SIZE]) -> Result<(), TooMany> {
        let granules = Granules::for_target(target);
        let vgprs = u64::from(Granules::blocks(self.vgprs, granules.vgpr));
        if vgprs > VGPR_BLOCKS.max() {
            return Err(TooMany::Vgprs(self.vgprs));
        }
        VGPR_BLOCKS.set(bytes, vgprs);
        let Some(granule) = granules.sgpr else { return Ok(()) };
        // On processors with the SGPR initialisation bug, VCC and the other special registers always count
        // towards the limit of addressable SGPRs.
        let has_bug = target.has(Feature::SGPR_INIT_BUG);
        let total = self.total_sgprs(target);
        let most = if has_bug { SGPRS_OF_INIT_BUG } else { target.addressable_sgprs };
        let used = if target.arch.registers.specials_among_numbered || has_bug { total } else { self.sgprs };
        if used > most {
            return Err(TooMany::Addressable(used, most));
        }
        let count = if has_bug { SGPRS_OF_INIT_BUG } else { total };
        let sgprs = u64::from(Granules::blocks(count, granule));
        if sgprs > SGPR_BLOCKS.max() {
            return Err(TooMany::Sgprs(count));
        }
        SGPR_BLOCKS.set(bytes, sgprs);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_fields_of_a_processor_share_bits() {
        for target in isa::PROCESSORS.iter() {
            let mut taken = [0; SIZE];
            for field in FIELDS.iter().filter(|field| field.unit != Unit::Register && field.on.has(target)) {
                assert_eq!(field.get(&taken), 0, "{}: {}", target.name, field.name);
                field.set(&mut taken, field.max());
            }
            // A heading covers the same bits as its fields, so its bits are removed here.
            for heading in FIELDS.iter().filter(|field| field.unit == Unit::Register) {
                heading.set(&mut taken, 0);
            }
            let words = taken.iter().enumerate().filter(|(_, bits)| **bits != 0).map(|(at, _)| at);
            assert!(words.eq((0..12).chain(16..24)), "{}", target.name);
        }
    }

    #[test]
    fn setting_keeps_the_neighbours() {
        for field in FIELDS {
            let mut bytes = [0xff; SIZE];
            field.set(&mut bytes, 0);
            let cleared: u32 = bytes.iter().map(|byte| byte.count_zeros()).sum();
            assert_eq!((cleared, field.get(&bytes)), (u32::from(field.width), 0), "{}", field.name);
            field.set(&mut bytes, u64::MAX);
            assert_eq!((bytes, field.get(&bytes)), ([0xff; SIZE], field.max()), "{}", field.name);
        }
    }

    #[test]
    fn names_are_unique() {
        for (n, field) in FIELDS.iter().enumerate() {
            let rest = &FIELDS[n + 1..];
            assert!(rest.iter().all(|other| other.name != field.name), "{}", field.name);
            let directive = field.directive;
            assert!(directive.is_none() || rest.iter().all(|other| other.directive != directive));
        }
    }

    #[test]
    fn user_sgprs_are_those_of_the_entry_state() {
        let target = Target::by_name("gfx906").unwrap();
        let abi = isa::Abi {
            private_segment_buffer: true,
            dispatch_ptr: true,
            queue_ptr: true,
            kernarg_ptr: true,
            dispatch_id: true,
            flat_scratch_init: true,
            ..isa::Abi::default()
        };
        let mut bytes = [0; SIZE];
        let inputs = [
            PRIVATE_SEGMENT_BUFFER,
            DISPATCH_PTR,
            QUEUE_PTR,
            KERNARG_SEGMENT_PTR,
            DISPATCH_ID,
            FLAT_SCRATCH_INIT,
        ];
        inputs.iter().for_each(|field| field.set(&mut bytes, 1));
        assert_eq!(user_sgprs(&bytes, target), abi.user_sgpr_count());
    }

    /// Expected values are from seed 000, line 2660, and from LLVM's assembler.
    #[test]
    fn register_blocks() {
        let registers = Registers { vgprs: 25, sgprs: 14, vcc: true, flat_scratch: false, xnack_mask: false };
        let of = |name: &str, registers: Registers| {
            let mut bytes = [0; SIZE];
            registers
                .set(Target::by_name(name).unwrap(), &mut bytes)
                .map(|()| (VGPR_BLOCKS.get(&bytes), SGPR_BLOCKS.get(&bytes)))
        };
        assert_eq!(of("gfx906", registers), Ok((6, 1)));
        assert_eq!(of("gfx906", Registers { sgprs: 15, ..registers }), Ok((6, 2)));
        assert_eq!(of("gfx90a", registers), Ok((3, 1)));
        assert_eq!(of("gfx1010", registers), Ok((3, 0)));
        assert_eq!(of("gfx802", registers), Ok((6, 11)));
        assert_eq!(of("gfx906", Registers { vgprs: 257, ..registers }), Err(TooMany::Vgprs(257)));
        assert_eq!(of("gfx906", Registers { sgprs: 103, ..registers }), Err(TooMany::Addressable(103, 102)));
    }
}
