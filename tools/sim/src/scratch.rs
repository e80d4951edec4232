//! The address of private memory, and the two ways in which a kernel learns where its private memory is: the
//! private segment buffer and the initial values of FLAT_SCRATCH (LLVM's AMDGPU guide, seed 000, lines
//! 2925-2950 and 3020-3045).

use crate::exec::resource::Resource;
use crate::wave::SCRATCH_BASE;
use isa::Target;
use isa::target::Generation;

/// Offset from the start of all scratch to the scratch of the queue, on GFX7 and GFX8. A kernel must add it
/// to addresses. It is not zero, so that a kernel that forgets to add it faults.
const QUEUE_OFFSET: u64 = 0x1_0000;

/// Fields of the fourth dword of a buffer resource. Each of them exists only on some processor generations.
mod word3 {
    /// The value of the field `ELEMENT_SIZE` on GFX6 to GFX8 that swizzles elements of 4 bytes.
    pub(super) const ELEMENT_SIZE_4: u32 = 1 << 19;
    /// Data format of the private segment buffer on GFX6 and GFX7: `BUF_DATA_FORMAT_32`. The next constant is
    /// the number format `BUF_NUM_FORMAT_UINT`. From GFX8 on, the bits of the data format are part of the
    /// stride, because the lane is added to the index; they are 0 then.
    pub(super) const DATA_FORMAT_32: u32 = 4 << 15;
    pub(super) const NUM_FORMAT_UINT: u32 = 4 << 12;
    /// Format of the private segment buffer on GFX10 (`BUF_FMT_32_UINT`). The next constants are the bit
    /// `RESOURCE_LEVEL` and the value 2 of `OOB_SELECT`, with which an access is out of range only if the
    /// buffer has no records.
    pub(super) const FORMAT_32_UINT: u32 = 20 << 12;
    pub(super) const RESOURCE_LEVEL: u32 = 1 << 24;
    pub(super) const OOB_ONLY_EMPTY: u32 = 2 << 28;
}

/// Returns the address at which the scratch memory of the queue begins.
pub(crate) fn queue_base(target: &Target) -> u64 {
    match target.generation {
        Generation::Gfx7 | Generation::Gfx8 => SCRATCH_BASE + QUEUE_OFFSET,
        _ => SCRATCH_BASE,
    }
}

/// Returns the private segment buffer. This buffer resource swizzles addresses: the same dword of
/// neighbouring lanes is stored at neighbouring addresses.
pub(crate) fn resource(target: &Target) -> [u32; 4] {
    use word3::*;
    let base = queue_base(target);
    let lanes = match target.wave_size {
        32 => Resource::INDEX_STRIDE_32,
        _ => Resource::INDEX_STRIDE_64,
    };
    let own = match target.generation {
        Generation::Gfx6 | Generation::Gfx7 => ELEMENT_SIZE_4 | DATA_FORMAT_32 | NUM_FORMAT_UINT,
        Generation::Gfx8 => ELEMENT_SIZE_4 | NUM_FORMAT_UINT,
        Generation::Gfx9 => NUM_FORMAT_UINT,
        Generation::Gfx10 => FORMAT_32_UINT | RESOURCE_LEVEL | OOB_ONLY_EMPTY,
    };
    [
        base as u32,
        (base >> 32) as u32 | Resource::SWIZZLE_ENABLE,
        u32::MAX,
        Resource::ADD_TID_ENABLE | lanes | own,
    ]
}

/// Returns the values of the two SGPRs from which the start of a kernel computes FLAT_SCRATCH. On GFX7 and
/// GFX8, they are an offset and the size for each lane. On other generations, they are an address.
pub(crate) fn flat_init(target: &Target, lane_bytes: u32) -> [u32; 2] {
    match target.generation {
        Generation::Gfx7 | Generation::Gfx8 => [QUEUE_OFFSET as u32, lane_bytes],
        // GFX6 has no FLAT_SCRATCH, so this value is not used there.
        _ => {
            let base = queue_base(target);
            [base as u32, (base >> 32) as u32]
        }
    }
}
