//! `amd_kernel_code_t`: the header of 256 bytes before a kernel's code in code object V2.
//!
//! One table serves both directions, as in [`crate::descriptor`]: [`KEYS`] says where the assembler writes
//! the numbers of `.amd_kernel_code_t` blocks, and where the disassembler and the inspector read them.
//!
//! # Source
//! The ROCm code object ABI (seed 002), lines 807-1210, for the layout; LLVM's AMDGPU guide (seed 000), lines
//! 4591-4640, for the defaults. [`KEYS`], their order and their alternative names are those that LLVM 14
//! writes and reads; [`ABI_KEYS`] are only in the ROCm code object ABI.

use isa::{DescriptorFields, Target};

/// Size of the structure in bytes.
pub const SIZE: usize = 256;

/// Value of a key that the block does not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Default {
    /// This number.
    Is(u64),
    /// One part of the processor's version number: 0 selects the major version, 1 the minor version, 2 the
    /// stepping.
    Version(u8),
    /// Logarithm (base 2) of the wave size.
    WaveSize,
    /// 1 for wave32, otherwise 0.
    Wave32,
    /// 1 in work-group-processor mode on processors that have the mode, otherwise 0.
    WgpMode,
    /// 1 on processors that have the field, otherwise 0.
    MemOrdered,
}

/// Key of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Name of the key.
    pub name: &'static str,
    /// A second name under which the assembler accepts the key: the name of the hardware register's field. If
    /// the key has only one name, it is the same as `name`.
    pub alternative: &'static str,
    /// Offset of the number that contains the key's bits.
    pub byte: usize,
    /// Size of that number in bytes.
    pub size: usize,
    /// Lowest bit of the key in that number.
    pub low: u32,
    /// Number of bits.
    pub bits: u32,
    /// Value if the block does not set the key.
    pub default: Default,
}

const fn whole_bytes(name: &'static str, byte: usize, size: usize) -> Key {
    Key { name, alternative: name, byte, size, low: 0, bits: size as u32 * 8, default: Default::Is(0) }
}

const fn bits(word: usize, low: u32, bits: u32, name: &'static str, alternative: &'static str) -> Key {
    Key { name, alternative, byte: word, size: 4, low, bits, default: Default::Is(0) }
}

const fn part(word: usize, low: u32, size: u32, name: &'static str) -> Key {
    bits(word, low, size, name, name)
}

const fn property(low: u32, bits: u32, name: &'static str) -> Key {
    Key { name, alternative: name, byte: PROPERTIES, size: 4, low, bits, default: Default::Is(0) }
}

impl Key {
    const fn default(mut self, default: Default) -> Key {
        self.default = default;
        self
    }

    const fn also(mut self, name: &'static str) -> Key {
        self.alternative = name;
        self
    }

    /// Returns the value of the key from the bytes of a header, without sign extension. [`Key::is_signed`]
    /// says whether the value is signed.
    pub fn get(&self, bytes: &[u8; SIZE]) -> u64 {
        self.number(bytes) >> self.low & self.mask()
    }

    /// Sets the value of the key, truncated to the key's bits.
    pub fn set(&self, bytes: &mut [u8; SIZE], value: u64) {
        let number = self.number(bytes) & !(self.mask() << self.low) | (value & self.mask()) << self.low;
        bytes[self.byte..self.byte + self.size].copy_from_slice(&number.to_le_bytes()[..self.size]);
    }

    /// Returns whether the value is signed.
    pub fn is_signed(&self) -> bool {
        matches!(
            self.name,
            "call_convention" | "kernel_code_entry_byte_offset" | "kernel_code_prefetch_byte_offset"
        )
    }

    /// Returns the value of the key, sign-extended.
    pub fn get_signed(&self, bytes: &[u8; SIZE]) -> i64 {
        let shift = 64 - self.bits;
        (self.get(bytes) << shift) as i64 >> shift
    }

    /// Returns the default value of the key for a processor. `wgp` says whether code is compiled for
    /// work-group-processor (WGP) mode.
    pub fn default_for(&self, target: &Target, wgp: bool) -> u64 {
        match self.default {
            Default::Is(value) => value,
            Default::Version(part) => {
                let (major, minor, stepping) = target.version;
                u64::from([major, minor, stepping][usize::from(part)])
            }
            Default::WaveSize => u64::from(target.wave_size.trailing_zeros()),
            Default::Wave32 => u64::from(target.wave_size == 32),
            Default::WgpMode => u64::from(wgp && DescriptorFields::WGP_MODE.has(target)),
            Default::MemOrdered => u64::from(DescriptorFields::MEM_ORDERED.has(target)),
        }
    }

    /// Returns the key with that name or alternative name.
    pub fn by_name(name: &str) -> Option<&'static Key> {
        let mut keys = KEYS.iter().chain(ABI_KEYS).chain(ABI_NAMES);
        keys.find(|key| key.name == name || key.alternative == name)
    }

    const fn mask(&self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }

    fn number(&self, bytes: &[u8; SIZE]) -> u64 {
        let mut number = [0; 8];
        number[..self.size].copy_from_slice(&bytes[self.byte..self.byte + self.size]);
        u64::from_le_bytes(number)
    }
}

const RSRC1: usize = 48;
const RSRC2: usize = 52;
const PROPERTIES: usize = 56;

/// All keys, in the order in which LLVM 14 prints them.
pub static KEYS: &[Key] = &[
    whole_bytes("amd_code_version_major", 0, 4).also("kernel_code_version_major").default(Default::Is(1)),
    whole_bytes("amd_code_version_minor", 4, 4).also("kernel_code_version_minor").default(Default::Is(2)),
    whole_bytes("amd_machine_kind", 8, 2).also("machine_kind").default(Default::Is(1)),
    whole_bytes("amd_machine_version_major", 10, 2)
        .also("machine_version_major")
        .default(Default::Version(0)),
    whole_bytes("amd_machine_version_minor", 12, 2)
        .also("machine_version_minor")
        .default(Default::Version(1)),
    whole_bytes("amd_machine_version_stepping", 14, 2)
        .also("machine_version_stepping")
        .default(Default::Version(2)),
    whole_bytes("kernel_code_entry_byte_offset", 16, 8).default(Default::Is(256)),
    whole_bytes("kernel_code_prefetch_byte_size", 32, 8),
    whole_bytes("max_scratch_backing_memory_byte_size", 40, 8),
    bits(RSRC1, 0, 6, "granulated_workitem_vgpr_count", "compute_pgm_rsrc1_vgprs"),
    bits(RSRC1, 6, 4, "granulated_wavefront_sgpr_count", "compute_pgm_rsrc1_sgprs"),
    bits(RSRC1, 10, 2, "priority", "compute_pgm_rsrc1_priority"),
    bits(RSRC1, 12, 8, "float_mode", "compute_pgm_rsrc1_float_mode"),
    bits(RSRC1, 20, 1, "priv", "compute_pgm_rsrc1_priv"),
    bits(RSRC1, 21, 1, "enable_dx10_clamp", "compute_pgm_rsrc1_dx10_clamp"),
    bits(RSRC1, 22, 1, "debug_mode", "compute_pgm_rsrc1_debug_mode"),
    bits(RSRC1, 23, 1, "enable_ieee_mode", "compute_pgm_rsrc1_ieee_mode"),
    bits(RSRC1, 29, 1, "enable_wgp_mode", "compute_pgm_rsrc1_wgp_mode").default(Default::WgpMode),
    bits(RSRC1, 30, 1, "enable_mem_ordered", "compute_pgm_rsrc1_mem_ordered").default(Default::MemOrdered),
    bits(RSRC1, 31, 1, "enable_fwd_progress", "compute_pgm_rsrc1_fwd_progress"),
    bits(RSRC2, 0, 1, "enable_sgpr_private_segment_wave_byte_offset", "compute_pgm_rsrc2_scratch_en"),
    bits(RSRC2, 1, 5, "user_sgpr_count", "compute_pgm_rsrc2_user_sgpr"),
    bits(RSRC2, 6, 1, "enable_trap_handler", "compute_pgm_rsrc2_trap_handler"),
    bits(RSRC2, 7, 1, "enable_sgpr_workgroup_id_x", "compute_pgm_rsrc2_tgid_x_en"),
    bits(RSRC2, 8, 1, "enable_sgpr_workgroup_id_y", "compute_pgm_rsrc2_tgid_y_en"),
    bits(RSRC2, 9, 1, "enable_sgpr_workgroup_id_z", "compute_pgm_rsrc2_tgid_z_en"),
    bits(RSRC2, 10, 1, "enable_sgpr_workgroup_info", "compute_pgm_rsrc2_tg_size_en"),
    bits(RSRC2, 11, 2, "enable_vgpr_workitem_id", "compute_pgm_rsrc2_tidig_comp_cnt"),
    bits(RSRC2, 13, 2, "enable_exception_msb", "compute_pgm_rsrc2_excp_en_msb"),
    bits(RSRC2, 15, 9, "granulated_lds_size", "compute_pgm_rsrc2_lds_size"),
    bits(RSRC2, 24, 7, "enable_exception", "compute_pgm_rsrc2_excp_en"),
    property(0, 1, "enable_sgpr_private_segment_buffer"),
    property(1, 1, "enable_sgpr_dispatch_ptr"),
    property(2, 1, "enable_sgpr_queue_ptr"),
    property(3, 1, "enable_sgpr_kernarg_segment_ptr"),
    property(4, 1, "enable_sgpr_dispatch_id"),
    property(5, 1, "enable_sgpr_flat_scratch_init"),
    property(6, 1, "enable_sgpr_private_segment_size"),
    property(7, 1, "enable_sgpr_grid_workgroup_count_x"),
    property(8, 1, "enable_sgpr_grid_workgroup_count_y"),
    property(9, 1, "enable_sgpr_grid_workgroup_count_z"),
    property(10, 1, "enable_wavefront_size32").default(Default::Wave32),
    property(16, 1, "enable_ordered_append_gds"),
    property(17, 2, "private_element_size"),
    property(19, 1, "is_ptr64"),
    property(20, 1, "is_dynamic_callstack"),
    property(21, 1, "is_debug_enabled"),
    property(22, 1, "is_xnack_enabled"),
    whole_bytes("workitem_private_segment_byte_size", 60, 4),
    whole_bytes("workgroup_group_segment_byte_size", 64, 4),
    whole_bytes("gds_segment_byte_size", 68, 4),
    whole_bytes("kernarg_segment_byte_size", 72, 8),
    whole_bytes("workgroup_fbarrier_count", 80, 4),
    whole_bytes("wavefront_sgpr_count", 84, 2),
    whole_bytes("workitem_vgpr_count", 86, 2),
    whole_bytes("reserved_vgpr_first", 88, 2),
    whole_bytes("reserved_vgpr_count", 90, 2),
    whole_bytes("reserved_sgpr_first", 92, 2),
    whole_bytes("reserved_sgpr_count", 94, 2),
    whole_bytes("debug_wavefront_private_segment_offset_sgpr", 96, 2),
    whole_bytes("debug_private_segment_buffer_sgpr", 98, 2),
    whole_bytes("kernarg_segment_alignment", 100, 1).default(Default::Is(4)),
    whole_bytes("group_segment_alignment", 101, 1).default(Default::Is(4)),
    whole_bytes("private_segment_alignment", 102, 1).default(Default::Is(4)),
    whole_bytes("wavefront_size", 103, 1).default(Default::WaveSize),
    whole_bytes("call_convention", 104, 4).default(Default::Is(u32::MAX as u64)),
    whole_bytes("runtime_loader_kernel_symbol", 120, 8),
];

/// Keys of the ROCm code object ABI (seed 002) that LLVM 14 does not have. Zero is their default.
pub static ABI_KEYS: &[Key] = &[
    whole_bytes("kernel_code_prefetch_byte_offset", 24, 8),
    bits(RSRC1, 24, 1, "bulky", "compute_pgm_rsrc1_bulky"),
    bits(RSRC1, 25, 1, "cdbg_user", "compute_pgm_rsrc1_cdbg_user"),
];

/// Names in the ROCm code object ABI for parts of [`KEYS`], and for keys that LLVM 14 spells otherwise. The
/// assembler accepts them.
static ABI_NAMES: &[Key] = &[
    part(RSRC1, 12, 2, "float_mode_round_32"),
    part(RSRC1, 14, 2, "float_mode_round_16_64"),
    part(RSRC1, 16, 2, "float_mode_denorm_32"),
    part(RSRC1, 18, 2, "float_mode_denorm_16_64"),
    part(RSRC2, 13, 1, "enable_exception_address_watch"),
    part(RSRC2, 14, 1, "enable_exception_memory_violation"),
    part(RSRC2, 24, 1, "enable_exception_ieee_754_fp_invalid_operation"),
    part(RSRC2, 25, 1, "enable_exception_fp_denormal_source"),
    part(RSRC2, 26, 1, "enable_exception_ieee_754_fp_division_by_zero"),
    part(RSRC2, 27, 1, "enable_exception_ieee_754_fp_overflow"),
    part(RSRC2, 28, 1, "enable_exception_ieee_754_fp_underflow"),
    part(RSRC2, 29, 1, "enable_exception_ieee_754_fp_inexact"),
    part(RSRC2, 30, 1, "enable_exception_int_divide_by_zero"),
    part(PROPERTIES, 7, 1, "enable_sgpr_grid_workgroup_count_X"),
    part(PROPERTIES, 8, 1, "enable_sgpr_grid_workgroup_count_Y"),
    part(PROPERTIES, 9, 1, "enable_sgpr_grid_workgroup_count_Z"),
    part(PROPERTIES, 20, 1, "is_dynamic_call_stack"),
];

/// Finds set bits of a header that belong to no key. Returns each byte that has such bits, with its offset.
pub fn unnamed(bytes: &[u8; SIZE]) -> impl Iterator<Item = (usize, u8)> {
    let mut rest = *bytes;
    KEYS.iter().chain(ABI_KEYS).for_each(|key| key.set(&mut rest, 0));
    rest.into_iter().enumerate().filter(|(_, bits)| *bits != 0)
}
