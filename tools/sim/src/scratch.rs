//! The address of private memory, and the values that describe private memory to a kernel. These values are
//! the private segment buffer and the initial values of FLAT_SCRATCH (LLVM's AMDGPU guide, seed 000, lines
//! 2925-2950 and 3020-3045).

use crate::exec::resource::Resource;
use crate::wave::SCRATCH_BASE;
use isa::Target;
use isa::target::Generation;

/// Offset of the queue's scratch from the start of all scratch on GFX7 and GFX8. It is not zero, so that a
/// prologue that forgets to add the offset faults.
const QUEUE_OFFSET: u64 = 0x1_0000;

/// Bits of the fourth dword of a buffer resource that exist only on some processor generations.
mod word3 {
    /// GFX6 to GFX8: the field `ELEMENT_SIZE` for swizzling by elements of 4 bytes.
    pub(super) const ELEMENT_SIZE_4: u32 = 1 << 19;
    /// Data format of the private segment buffer on GFX6 and GFX7: `BUF_DATA_FORMAT_32` and
    /// `BUF_NUM_FORMAT_UINT`. From GFX8 on, the bits of the data format are a part of the stride if lanes are
    /// added to the index; they are 0 here.
    pub(super) const DATA_FORMAT_32: u32 = 4 << 15;
    pub(super) const NUM_FORMAT_UINT: u32 = 4 << 12;
    /// Format bits of the private segment buffer on GFX10: `BUF_FMT_32_UINT`, `RESOURCE_LEVEL`, and
    /// `OOB_SELECT` 2. The last one makes an access out of range only if there are no records.
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

/// Returns the private segment buffer, which is a buffer resource. It swizzles addresses, so that the same
/// dword of consecutive lanes is stored consecutively.
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

/// Returns the two SGPRs from which a kernel's prologue computes FLAT_SCRATCH. They hold an offset and the
/// size for a lane, or an address.
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
