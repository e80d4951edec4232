//! DS instructions that move data between lanes. They use the LDS hardware, but do not access LDS memory.

use super::ds::addresses;
use super::valu::{plain, write};
use super::{Cx, Flow, Handler};
use crate::op::Op;
use crate::wave::{ActiveLanes, Lanes};
use isa::{Feature, Target};

pub(super) fn handler(target: &Target, name: &str) -> Option<Handler> {
    Some(match name {
        "ds_nop" => |_, _| Flow::Next,
        // Some families have two more patterns of `ds_swizzle_b32`: a rotation and the butterfly pattern of a
        // Fourier transform (Vega ISA: DS_SWIZZLE_B32).
        "ds_swizzle_b32" if target.arch.emulation.swizzle_rotates => {
            |cx, op| swizzle(cx, op, patterns_with_rotation)
        }
        "ds_swizzle_b32" => |cx, op| swizzle(cx, op, patterns),
        "ds_permute_b32" => permute,
        "ds_bpermute_b32" => backward_permute,
        _ => return None,
    })
}

/// Moves data between lanes in a fixed pattern. The function `pattern` returns the lane whose data a lane
/// reads. Its arguments are the offset field of the instruction and the number of the reading lane.
fn swizzle(cx: &mut Cx<'_>, op: &Op, pattern: fn(usize, usize) -> usize) -> Flow {
    let exec = cx.wave.exec();
    let data = addresses(cx, op);
    let mut result = [0; 64];
    for (lane, value) in result.iter_mut().enumerate() {
        let from = pattern(op.offset as usize, lane) & 63;
        // The data of an inactive lane counts as zero.
        *value = if exec >> from & 1 != 0 { data[from] } else { 0 };
    }
    write(cx.wave, op.dst, &result, exec);
    Flow::Next
}

/// Returns the lane whose data `lane` reads, for the two patterns that all generations have. The first is a
/// permutation within each group of four lanes. The second applies and, or and xor masks to the lower five
/// bits of the lane number.
fn patterns(control: usize, lane: usize) -> usize {
    if control & 0x8000 != 0 {
        lane & !3 | control >> (2 * (lane & 3)) & 3
    } else {
        let (and, or, xor) = (control & 31, control >> 5 & 31, control >> 10 & 31);
        lane & 32 | (lane & and | or) ^ xor
    }
}

/// Like [`patterns`], with rotation and Fourier transform.
fn patterns_with_rotation(control: usize, lane: usize) -> usize {
    let mask = control & 31;
    match control {
        // The butterfly pattern of a fast Fourier transform. It reverses the bits of the lane number that are
        // above the mask, and keeps the bits in the mask.
        0xe000.. => {
            let reversed = (lane as u32 & 31).reverse_bits() >> 27;
            lane & 32 | (reversed >> mask.count_ones()) as usize | lane & mask
        }
        // The rotation. It adds a distance to the lane number, or subtracts it, and keeps the bits of the
        // lane number that are in the mask.
        0xc000.. => {
            let distance = control >> 5 & 31;
            let to = if control & 1 << 10 != 0 { lane.wrapping_sub(distance) } else { lane + distance };
            lane & 32 | (lane & mask | to & !mask) & 31
        }
        _ => patterns(control, lane),
    }
}

/// Returns the lane that `lane` selects with a byte address, which is four times the number of the selected
/// lane. On some processors, a lane can only select a lane in its own half of 32 lanes, even in waves of 64
/// lanes.
fn named_lane(cx: &Cx<'_>, address: u32, lane: usize) -> usize {
    let lanes: u32 = if cx.target.has(Feature::PERMUTE_IN_HALVES) { 32 } else { 64 };
    lane & !(lanes as usize - 1) | (address / 4 % lanes) as usize
}

fn operands(cx: &mut Cx<'_>, op: &Op) -> (Lanes, Lanes) {
    let lanes = addresses(cx, op).map(|address| address.wrapping_add(op.offset as u32));
    let data = *plain(cx.wave, op.src[1], 1, &mut cx.scratch.sources[0]).0;
    (lanes, data)
}

/// Returns the mask of the lanes that read an inactive lane, which is probably an error in the program.
/// `by_address` says which instruction runs: `ds_bpermute_b32` if it is set, and `ds_swizzle_b32` otherwise.
pub(crate) fn reads_inactive(cx: &mut Cx<'_>, op: &Op, by_address: bool) -> u64 {
    let exec = cx.wave.exec();
    let rotates = cx.target.arch.emulation.swizzle_rotates;
    let pattern = if rotates { patterns_with_rotation } else { patterns };
    let addresses = if by_address { operands(cx, op).0 } else { [0; 64] };
    let from = |lane: usize| match by_address {
        true => named_lane(cx, addresses[lane], lane),
        false => pattern(op.offset as usize, lane) & 63,
    };
    ActiveLanes(exec).filter(|&lane| exec >> from(lane) & 1 == 0).fold(0, |all, lane| all | 1 << lane)
}

/// Sends the data of each active lane to the lane that its address selects. If several lanes select the same
/// lane, that lane receives the data of the sender with the highest number.
fn permute(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let exec = cx.wave.exec();
    let (targets, data) = operands(cx, op);
    let mut result = [0; 64];
    for lane in ActiveLanes(exec) {
        result[named_lane(cx, targets[lane], lane)] = data[lane];
    }
    write(cx.wave, op.dst, &result, exec);
    Flow::Next
}

/// Gives each active lane the data of the lane that its address selects. The data of an inactive lane counts
/// as zero.
fn backward_permute(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let exec = cx.wave.exec();
    let (sources, data) = operands(cx, op);
    let mut result = [0; 64];
    for lane in ActiveLanes(exec) {
        let from = named_lane(cx, sources[lane], lane);
        result[lane] = if exec >> from & 1 != 0 { data[from] } else { 0 };
    }
    write(cx.wave, op.dst, &result, exec);
    Flow::Next
}
