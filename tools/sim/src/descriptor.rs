//! Reads the start state that a kernel asks for, such as numbers of registers. Code objects V3 and later have
//! it in the 64-byte kernel descriptor (LLVM's AMDGPU guide, seed 000, lines 2567-2900). Code objects V2 have
//! it in the 256-byte `amd_kernel_code_t` (ROCm's code object ABI, seed 002, line 807).

use isa::Target;
use isa::target::Feature;

/// Size of `amd_kernel_code_t` in bytes.
pub(crate) const KERNEL_CODE_BYTES: usize = codeobj::kernel_code::SIZE;

/// A kernel descriptor, field by field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Descriptor {
    /// Bytes of statically allocated LDS.
    pub group_segment: u32,
    /// Bytes of scratch of a work-item.
    pub private_segment: u32,
    /// Bytes of kernel arguments (in V2, and from V4 on; 0 in V3).
    pub kernarg_size: u32,
    /// Offset of the entry point from the descriptor.
    pub entry_offset: i64,
    /// The field `compute_pgm_rsrc3`.
    pub rsrc3: u32,
    /// The field `compute_pgm_rsrc1`.
    pub rsrc1: u32,
    /// The field `compute_pgm_rsrc2`.
    pub rsrc2: u32,
    /// The field `kernel_code_properties`. Only code objects V2 use its upper half.
    pub properties: u32,
    /// The part of the kernel arguments that the hardware loads into user SGPRs before the kernel begins: the
    /// number of dwords, and the index of the first one (gfx90a, from code object V5 on).
    pub preload: (u32, u32),
}

/// Numbers of registers that a wave gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Registers {
    pub(crate) vgprs: u16,
    /// Number of accumulation VGPRs.
    pub(crate) agprs: u16,
    /// Number of SGPRs that have a number (`s0` and so on); special registers such as VCC are not counted.
    pub(crate) sgprs: u16,
}

const fn field(word: u32, low: u32, bits: u32) -> u32 {
    word >> low & ((1 << bits) - 1)
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|bytes| bytes.first_chunk()).map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

fn offset(bytes: &[u8]) -> i64 {
    (u64::from(word(bytes, 16)) | u64::from(word(bytes, 20)) << 32) as i64
}

/// Number of the bit in `kernel_code_properties` that selects waves of 32 lanes. Most other bits of this
/// field enable user SGPRs.
const WAVE32: u32 = 10;

impl Descriptor {
    /// Size of a kernel descriptor in the file in bytes.
    pub const BYTES: usize = 64;

    pub(crate) fn parse(bytes: &[u8]) -> Option<Descriptor> {
        let bytes = bytes.get(..Self::BYTES)?;
        let last = word(bytes, 56);
        Some(Descriptor {
            group_segment: word(bytes, 0),
            private_segment: word(bytes, 4),
            kernarg_size: word(bytes, 8),
            entry_offset: offset(bytes),
            rsrc3: word(bytes, 44),
            rsrc1: word(bytes, 48),
            rsrc2: word(bytes, 52),
            properties: last & 0xffff,
            preload: (field(last, 16, 7), field(last, 23, 9)),
        })
    }

    /// Reads the kernel header of code object V2. Its fields `compute_pgm_rsrc1`, `compute_pgm_rsrc2` and
    /// `kernel_code_properties` have the same layout as in later versions.
    pub(crate) fn of_kernel_code(bytes: &[u8; KERNEL_CODE_BYTES]) -> Descriptor {
        Descriptor {
            group_segment: word(bytes, 64),
            private_segment: word(bytes, 60),
            kernarg_size: word(bytes, 72),
            entry_offset: offset(bytes),
            rsrc3: 0,
            rsrc1: word(bytes, 48),
            rsrc2: word(bytes, 52),
            properties: word(bytes, 56),
            preload: (0, 0),
        }
    }

    /// Returns the number of lanes of the kernel's waves, which the bit `ENABLE_WAVEFRONT_SIZE32` selects.
    pub(crate) fn wave_size(&self, target: &Target) -> u32 {
        if target.has(Feature::WAVE32) && field(self.properties, WAVE32, 1) != 0 { 32 } else { 64 }
    }

    /// Sets whether the kernel's waves have 32 lanes.
    pub(crate) fn set_wave32(&mut self, wave32: bool) {
        self.properties = self.properties & !(1 << WAVE32) | u32::from(wave32) << WAVE32;
    }

    /// Returns how many registers each wave gets. The units in which the descriptor counts come from LLVM's
    /// AMDGPU guide (seed 000, lines 2567-2900).
    pub(crate) fn registers(&self, target: &Target) -> Registers {
        let granules = field(self.rsrc1, 0, 6) + 1;
        let total = (granules * target.vgpr_encoding_granule).min(target.addressable_vgprs);
        let (vgprs, agprs) = match target {
            // A single register file may hold both vector and accumulation registers. Its upper part is the
            // accumulation registers.
            _ if target.has(Feature::UNIFIED_VGPRS) => {
                let vgprs = (4 * (field(self.rsrc3, 0, 6) + 1)).min(total);
                (vgprs, (total - vgprs).min(256))
            }
            _ if target.has(Feature::MAI) => (total, total),
            _ => (total, 0),
        };
        // The SGPRs of a wave are rounded up as the processor allocates them. On GFX10 and on tonga (96),
        // every wave gets the same number of SGPRs. The other processors of GFX8 and GFX9 round the number in
        // the descriptor up to a multiple of 16.
        let sgprs = match target.sgpr_granule {
            unit @ (96 | 128) => unit,
            unit => ((field(self.rsrc1, 6, 4) + 1) * target.sgpr_encoding_granule).next_multiple_of(unit),
        };
        let sgprs = sgprs.min(u32::from(target.numbered_sgprs()));
        Registers { vgprs: vgprs as u16, agprs: agprs as u16, sgprs: sgprs as u16 }
    }

    /// Returns the initial low byte of the MODE register, which has the rounding and denormal modes.
    pub fn float_mode(&self) -> u32 {
        field(self.rsrc1, 12, 8)
    }

    /// Returns the bit DX10_CLAMP, which says whether a clamp converts NaN to 0.
    pub fn dx10_clamp(&self) -> bool {
        field(self.rsrc1, 21, 1) != 0
    }

    /// Returns whether IEEE mode is on. In this mode, the minimum and maximum instructions make signalling
    /// NaNs quiet.
    pub fn ieee_mode(&self) -> bool {
        field(self.rsrc1, 23, 1) != 0
    }

    /// Returns the bit FP16_OVFL (GFX9 and later). If it is set, an f16 result that overflows becomes the
    /// largest finite value instead of an infinity.
    pub fn fp16_overflow(&self) -> bool {
        field(self.rsrc1, 26, 1) != 0
    }

    /// Returns the mask of exceptions that trap. The exceptions are those of floating-point arithmetic and
    /// integer division by zero (ENABLE_EXCEPTION_*).
    pub fn exceptions(&self) -> u32 {
        field(self.rsrc2, 24, 7)
    }

    /// Returns whether the waves of a group may run on both compute units of a work-group processor, which is
    /// WGP mode of GFX10.
    pub fn wgp_mode(&self) -> bool {
        field(self.rsrc1, 29, 1) != 0
    }

    /// Returns whether the waves of a group may run on several compute units, which is threadgroup split mode
    /// (TG_SPLIT) of gfx90a.
    pub fn splits_groups(&self) -> bool {
        field(self.rsrc3, 16, 1) != 0
    }

    /// Returns whether the kernel asks for the SGPR with the scratch wave offset. On processors whose
    /// hardware sets FLAT_SCRATCH, the kernel asks for scratch memory with the same bit.
    pub fn scratch_enabled(&self) -> bool {
        field(self.rsrc2, 0, 1) != 0
    }

    /// Returns the number of user SGPRs.
    pub fn user_sgprs(&self) -> u32 {
        field(self.rsrc2, 1, 5)
    }

    /// Returns which work-group ids the kernel asks for.
    pub fn group_ids(&self) -> [bool; 3] {
        std::array::from_fn(|dim| field(self.rsrc2, 7 + dim as u32, 1) != 0)
    }

    /// Returns whether the kernel asks for the SGPR with information about the work-group.
    pub fn group_info(&self) -> bool {
        field(self.rsrc2, 10, 1) != 0
    }

    /// Returns the number of VGPRs that receive work-item ids, minus one.
    pub fn item_ids(&self) -> u32 {
        field(self.rsrc2, 11, 2)
    }

    /// Returns whether the kernel asks for user SGPRs of the given kind.
    pub(crate) fn enables(&self, kind: UserSgprs) -> bool {
        self.properties >> kind as u32 & 1 != 0
    }
}

/// Kinds of user SGPRs. The value of each is the number of the bit in `kernel_code_properties` that enables
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum UserSgprs {
    PrivateSegmentBuffer = 0,
    DispatchPtr = 1,
    QueuePtr = 2,
    KernargPtr = 3,
    DispatchId = 4,
    FlatScratchInit = 5,
    PrivateSegmentSize = 6,
    GroupCountX = 7,
    GroupCountY = 8,
    GroupCountZ = 9,
}

impl UserSgprs {
    /// The kinds of user SGPRs in the order of their registers, each with its number of dwords (LLVM's AMDGPU
    /// guide, seed 000, line 2915).
    pub(crate) const ORDER: [(UserSgprs, u32); 10] = [
        (UserSgprs::PrivateSegmentBuffer, 4),
        (UserSgprs::DispatchPtr, 2),
        (UserSgprs::QueuePtr, 2),
        (UserSgprs::KernargPtr, 2),
        (UserSgprs::DispatchId, 2),
        (UserSgprs::FlatScratchInit, 2),
        (UserSgprs::PrivateSegmentSize, 1),
        (UserSgprs::GroupCountX, 1),
        (UserSgprs::GroupCountY, 1),
        (UserSgprs::GroupCountZ, 1),
    ];
}
