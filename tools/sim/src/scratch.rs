//! The address of private memory, and the two ways in which a kernel learns where its private memory is: the
//! private segment buffer and the initial values of FLAT_SCRATCH (LLVM's AMDGPU guide, seed 000, lines
//! 2925-2950 and 3020-3045).

use crate::exec::resource::Resource;
use crate::wave::SCRATCH_BASE;
use isa::{FlatScratch, Target};

/// Offset from the start of all scratch to the scratch of the queue, if FLAT_SCRATCH holds this offset. A kernel
/// must add it to addresses. It is not zero, so that a kernel that forgets to add it faults.
const QUEUE_OFFSET: u64 = 0x1_0000;

/// Returns the address at which the scratch memory of the queue begins.
pub(crate) fn queue_base(target: &Target) -> u64 {
    match target.arch.addressing.flat_scratch {
        FlatScratch::SizeAndOffset => SCRATCH_BASE + QUEUE_OFFSET,
        _ => SCRATCH_BASE,
    }
}

/// Returns the private segment buffer. This buffer resource swizzles addresses: the same dword of
/// neighbouring lanes is stored at neighbouring addresses.
pub(crate) fn resource(target: &Target) -> [u32; 4] {
    let base = queue_base(target);
    let lanes = match target.wave_size {
        32 => Resource::INDEX_STRIDE_32,
        _ => Resource::INDEX_STRIDE_64,
    };
    [
        base as u32,
        (base >> 32) as u32 | Resource::SWIZZLE_ENABLE,
        u32::MAX,
        Resource::ADD_TID_ENABLE | lanes | target.arch.buffers.scratch_format,
    ]
}

/// Returns the values of the two SGPRs from which the start of a kernel computes FLAT_SCRATCH. On GFX7 and
/// GFX8, they are an offset and the size for each lane. On other generations, they are an address.
pub(crate) fn flat_init(target: &Target, lane_bytes: u32) -> [u32; 2] {
    match target.arch.addressing.flat_scratch {
        FlatScratch::SizeAndOffset => [QUEUE_OFFSET as u32, lane_bytes],
        // GFX6 has no FLAT_SCRATCH, so this value is not used there.
        _ => {
            let base = queue_base(target);
            [base as u32, (base >> 32) as u32]
        }
    }
}
