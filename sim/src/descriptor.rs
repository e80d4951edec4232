//! The 64-byte kernel descriptor (seed 000, lines 2567-2900).

use isa::Target;
use isa::target::Feature;

/// A kernel descriptor, field by field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Descriptor {
    /// Bytes of LDS that are laid out statically.
    pub group_segment: u32,
    /// Bytes of scratch of a work-item.
    pub private_segment: u32,
    /// Bytes of kernel arguments (V4 on; 0 in V3).
    pub kernarg_size: u32,
    /// Entry point, relative to the descriptor.
    pub entry_offset: i64,
    /// `compute_pgm_rsrc3`.
    pub rsrc3: u32,
    /// `compute_pgm_rsrc1`.
    pub rsrc1: u32,
    /// `compute_pgm_rsrc2`.
    pub rsrc2: u32,
    /// `kernel_code_properties`.
    pub properties: u16,
}

/// Registers that a wave gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Registers {
    pub(crate) vgprs: u16,
    /// Accumulation VGPRs.
    pub(crate) agprs: u16,
    /// Numbered SGPRs.
    pub(crate) sgprs: u16,
}

const fn field(word: u32, low: u32, bits: u32) -> u32 {
    word >> low & ((1 << bits) - 1)
}

impl Descriptor {
    /// Size in the file.
    pub const BYTES: usize = 64;

    pub(crate) fn parse(bytes: &[u8]) -> Option<Descriptor> {
        let bytes: &[u8; Self::BYTES] = bytes.get(..Self::BYTES)?.try_into().ok()?;
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        Some(Descriptor {
            group_segment: word(0),
            private_segment: word(4),
            kernarg_size: word(8),
            entry_offset: i64::from(word(16)) | i64::from(word(20) as i32) << 32,
            rsrc3: word(44),
            rsrc1: word(48),
            rsrc2: word(52),
            properties: word(56) as u16,
        })
    }

    /// VGPRs allocated to a lane: granules of 4.
    pub fn vgprs(&self) -> u32 {
        (field(self.rsrc1, 0, 6) + 1) * 4
    }

    /// SGPRs allocated to a wave on GFX9, VCC and its kin included: granules of 8, always an even number of them.
    pub fn sgprs(&self) -> u32 {
        (field(self.rsrc1, 6, 4) + 1) * 8
    }

    /// The registers of a wave (seed 000, lines 2567-2900, for the units).
    pub(crate) fn registers(&self, target: &Target) -> Registers {
        let granules = field(self.rsrc1, 0, 6) + 1;
        let total = (granules * target.vgpr_encoding_granule).min(target.addressable_vgprs);
        let (vgprs, agprs) = match target {
            // One file, whose upper part is the accumulation registers.
            _ if target.has(Feature::GFX90A) => {
                let vgprs = (4 * (field(self.rsrc3, 0, 6) + 1)).min(total);
                (vgprs, (total - vgprs).min(256))
            }
            _ if target.has(Feature::MAI) => (total, total),
            _ => (total, 0),
        };
        // GFX10 gives every wave the same number, GFX8 and GFX9 an even number of granules of 8, tonga always 96.
        let sgprs = match target.sgpr_granule {
            unit @ (96 | 128) => unit,
            unit => ((field(self.rsrc1, 6, 4) + 1) * target.sgpr_encoding_granule).next_multiple_of(unit),
        };
        let sgprs = sgprs.min(u32::from(isa::special::numbered_sgprs(target)));
        Registers { vgprs: vgprs as u16, agprs: agprs as u16, sgprs: sgprs as u16 }
    }

    /// Lanes of a wave on that processor (`ENABLE_WAVEFRONT_SIZE32`).
    pub(crate) fn wave_size(&self, target: &Target) -> u32 {
        if target.has(Feature::WAVE32) && self.properties >> 10 & 1 != 0 { 32 } else { 64 }
    }

    /// Initial low byte of MODE: rounding and denormals.
    pub fn float_mode(&self) -> u32 {
        field(self.rsrc1, 12, 8)
    }

    /// DX10 clamp: NaN clamps to 0.
    pub fn dx10_clamp(&self) -> bool {
        field(self.rsrc1, 21, 1) != 0
    }

    /// IEEE mode: signalling NaNs are quieted by min and max.
    pub fn ieee_mode(&self) -> bool {
        field(self.rsrc1, 23, 1) != 0
    }

    /// Whether the scratch wave offset is wanted.
    pub fn scratch_enabled(&self) -> bool {
        field(self.rsrc2, 0, 1) != 0
    }

    /// Number of user SGPRs.
    pub fn user_sgprs(&self) -> u32 {
        field(self.rsrc2, 1, 5)
    }

    /// Which work-group ids are wanted.
    pub fn group_ids(&self) -> [bool; 3] {
        std::array::from_fn(|dim| field(self.rsrc2, 7 + dim as u32, 1) != 0)
    }

    /// Whether work-group info is wanted.
    pub fn group_info(&self) -> bool {
        field(self.rsrc2, 10, 1) != 0
    }

    /// Number of work-item id VGPRs less one.
    pub fn item_ids(&self) -> u32 {
        field(self.rsrc2, 11, 2)
    }

    /// A bit of `kernel_code_properties`.
    pub(crate) fn enables(&self, bit: UserSgprs) -> bool {
        self.properties >> bit as u16 & 1 != 0
    }
}

/// User SGPRs in the order of their registers: the bit number in `kernel_code_properties` and the number of dwords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(crate) enum UserSgprs {
    PrivateSegmentBuffer = 0,
    DispatchPtr = 1,
    QueuePtr = 2,
    KernargPtr = 3,
    DispatchId = 4,
    FlatScratchInit = 5,
    PrivateSegmentSize = 6,
}

impl UserSgprs {
    pub(crate) const ORDER: [(UserSgprs, u32); 7] = [
        (UserSgprs::PrivateSegmentBuffer, 4),
        (UserSgprs::DispatchPtr, 2),
        (UserSgprs::QueuePtr, 2),
        (UserSgprs::KernargPtr, 2),
        (UserSgprs::DispatchId, 2),
        (UserSgprs::FlatScratchInit, 2),
        (UserSgprs::PrivateSegmentSize, 1),
    ];
}
