//! What the packet processor and kernels read in memory: the dispatch packet (HSA Platform System Architecture, "Kernel
//! dispatch packet"), the queue (`amd_queue_t`, seed 002, line 1629) and signals (`amd_signal_t`, seed 002, line 1864).

use crate::launch::Dispatch;
use crate::object::KernelInfo;
use crate::wave::{PRIVATE_APERTURE, SHARED_APERTURE};

/// Bytes of a packet.
pub(crate) const PACKET_BYTES: usize = 64;
/// Bytes of a queue.
const QUEUE_BYTES: usize = 256;
/// Bytes of a signal.
pub(crate) const SIGNAL_BYTES: usize = 64;
/// Where a signal's value is.
pub(crate) const SIGNAL_VALUE: u64 = 8;

/// Number of dimensions in use.
pub(crate) fn dimensions(grid: [u32; 3]) -> u16 {
    match grid {
        [_, 1, 1] => 1,
        [_, _, 1] => 2,
        _ => 3,
    }
}

fn put(bytes: &mut [u8], at: usize, value: u64, size: usize) {
    bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
}

/// The packet of a dispatch. `object`: the kernel's descriptor.
pub(crate) fn packet(
    kernel: &KernelInfo,
    dispatch: &Dispatch<'_>,
    object: u64,
    kernarg: u64,
) -> [u8; PACKET_BYTES] {
    const KERNEL_DISPATCH: u64 = 2;
    // Acquire and release at system scope, as runtimes ask for.
    const FENCES: u64 = 2 << 9 | 2 << 11;
    let mut bytes = [0; PACKET_BYTES];
    let mut put = |at, value, size| put(&mut bytes, at, value, size);
    put(0, KERNEL_DISPATCH | FENCES, 2);
    put(2, dimensions(dispatch.grid).into(), 2);
    for dim in 0..3 {
        put(4 + 2 * dim, dispatch.group[dim].into(), 2);
        put(12 + 4 * dim, dispatch.grid[dim].into(), 4);
    }
    let private = u64::from(kernel.descriptor.private_segment) + u64::from(dispatch.limits.stack);
    put(24, private, 4);
    put(28, (kernel.descriptor.group_segment + dispatch.dynamic_lds).into(), 4);
    put(32, object, 8);
    put(40, kernarg, 8);
    put(56, dispatch.signal.unwrap_or(0), 8);
    bytes
}

/// Scratch as the queue describes it.
pub(crate) struct QueueScratch {
    pub(crate) resource: [u32; 4],
    pub(crate) base: u64,
    pub(crate) lane_bytes: u32,
}

/// A queue of one packet at `packet`, which is the dispatch of that number.
pub(crate) fn queue(packet: u64, number: u64, scratch: &QueueScratch) -> [u8; QUEUE_BYTES] {
    const READ_DISPATCH_ID: usize = 128;
    let mut bytes = [0; QUEUE_BYTES];
    let mut put = |at, value, size| put(&mut bytes, at, value, size);
    // `hsa_queue_t`: accepts kernel dispatches, base address, size in packets.
    put(4, 1, 4);
    put(8, packet, 8);
    put(24, 1, 4);
    put(32, 1, 8);
    // `write_dispatch_id`, apertures.
    put(56, number + 1, 8);
    put(64, SHARED_APERTURE.into(), 4);
    put(68, PRIVATE_APERTURE.into(), 4);
    put(READ_DISPATCH_ID, number, 8);
    put(READ_DISPATCH_ID + 8, READ_DISPATCH_ID as u64, 4);
    // What follows is not in the seed; ROCm's header has it: scratch resource, address, bytes of a lane.
    for (at, word) in scratch.resource.into_iter().enumerate() {
        put(144 + 4 * at, word.into(), 4);
    }
    put(160, scratch.base, 8);
    put(176, scratch.lane_bytes.into(), 4);
    bytes
}

/// A signal that programs wait for.
pub(crate) fn signal(value: i64) -> [u8; SIGNAL_BYTES] {
    const USER: u64 = 1;
    let mut bytes = [0; SIGNAL_BYTES];
    put(&mut bytes, 0, USER, 8);
    put(&mut bytes, SIGNAL_VALUE as usize, value as u64, 8);
    bytes
}
