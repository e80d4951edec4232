//! Data-parallel primitives (DPP). An instruction with DPP reads its first source from other lanes (GCN3 ISA
//! and Vega ISA, "Data Parallel Processing"; RDNA ISA, "DPP16" and "DPP8").

use crate::op::Op;
use crate::wave::{Lanes, Wave};
use isa::{Lane, ModFlags};

/// Returns the lane from which lane `lane` reads its source. Returns `None` if the DPP control gives a lane
/// outside the row or the wave.
pub(crate) fn source(control: Lane, lane: usize) -> Option<usize> {
    match control {
        Lane::Dpp { ctrl, .. } => dpp16(ctrl, lane),
        Lane::Dpp8 { lanes } => Some(lane & !7 | (lanes >> (3 * (lane & 7))) as usize & 7),
        _ => Some(lane),
    }
}

fn dpp16(ctrl: u16, lane: usize) -> Option<usize> {
    let (row, at) = (lane & !15, lane & 15);
    let in_row = |at: Option<usize>| at.filter(|&at| at < 16).map(|at| row + at);
    let count = usize::from(ctrl & 15);
    match ctrl {
        // quad_perm
        0..=0xff => Some(lane & !3 | usize::from(ctrl >> (2 * (lane & 3)) & 3)),
        // The controls `row_shl`, `row_shr` and `row_ror`.
        0x101..=0x10f => in_row(Some(at + count)),
        0x111..=0x11f => in_row(at.checked_sub(count)),
        0x121..=0x12f => Some(row + (at + 16 - count) % 16),
        // The controls `wave_shl`, `wave_rol`, `wave_shr` and `wave_ror`.
        0x130 => Some(lane + 1).filter(|&from| from < 64),
        0x134 => Some((lane + 1) % 64),
        0x138 => lane.checked_sub(1),
        0x13c => Some((lane + 63) % 64),
        // The controls `row_mirror` and `row_half_mirror`.
        0x140 => Some(row + 15 - at),
        0x141 => Some(lane & !7 | (7 - (lane & 7))),
        // The controls `row_bcast:15` and `row_bcast:31`.
        0x142 => row.checked_sub(1),
        0x143 => Some(31).filter(|_| lane >= 32),
        // The controls `row_share` (`row_newbcast` on gfx90a) and `row_xmask`.
        0x150..=0x15f => Some(row + count),
        0x160..=0x16f => Some(row + (at ^ count)),
        _ => None,
    }
}

/// Returns the lane from which lane `lane` reads its source. Returns `None` if the DPP control names no
/// existing lane, or names an inactive one. With the modifier `fi`, a lane can read inactive lanes as well.
fn readable(op: &Op, exec: u64, lane: usize) -> Option<usize> {
    let inactive = op.flags.contains(ModFlags::FETCH_INACTIVE);
    source(op.lane, lane).filter(|&from| inactive || exec >> from & 1 != 0)
}

/// Replaces the value of each lane in `values` by the value of another lane in `from`. The DPP control of the
/// instruction says which lane this is. A lane that cannot read its source lane gets zero.
pub(crate) fn gather(wave: &Wave, op: &Op, from: &Lanes, values: &mut Lanes) {
    let exec = wave.exec();
    for (lane, value) in values.iter_mut().enumerate() {
        *value = readable(op, exec, lane).map_or(0, |source| from[source]);
    }
}

/// Returns the mask of the lanes that read an inactive lane, which is probably an error in the program. A
/// lane that does so gets zero, or keeps its old value if the instruction is a move. Lanes that read outside
/// the row or the wave are not in the mask, because a shift always has such lanes at its end.
pub(crate) fn reads_inactive(op: &Op, exec: u64, is_move: bool) -> u64 {
    let Lane::Dpp { row_mask, bank_mask, .. } = op.lane else {
        let Lane::Dpp8 { .. } = op.lane else { return 0 };
        return inactive_sources(op, exec, exec);
    };
    let bits = |mask: u8, width: usize| {
        (0..64).fold(0, |all, lane| all | (u64::from(mask >> ((lane / width) & 3) & 1) << lane))
    };
    if !is_move && !op.flags.contains(ModFlags::BOUND_CTRL) {
        return 0;
    }
    inactive_sources(op, exec, exec & bits(row_mask, 16) & bits(bank_mask, 4))
}

/// Returns the mask of the lanes in `lanes` that read an inactive lane.
fn inactive_sources(op: &Op, exec: u64, lanes: u64) -> u64 {
    if op.flags.contains(ModFlags::FETCH_INACTIVE) {
        return 0;
    }
    let off = |&lane: &usize| source(op.lane, lane).is_some_and(|from| exec >> from & 1 == 0);
    crate::wave::ActiveLanes(lanes).filter(off).fold(0, |all, lane| all | 1 << lane)
}

/// Returns the mask of the lanes that the instruction writes. These are the lanes of enabled rows and banks
/// that can read their source lane. With `bound_ctrl`, and always with DPP8, lanes that cannot read their
/// source lane are written as well, with zero.
pub(crate) fn write_mask(op: &Op, exec: u64) -> u64 {
    let Lane::Dpp { row_mask, bank_mask, .. } = op.lane else { return exec };
    let zero_fill = op.flags.contains(ModFlags::BOUND_CTRL);
    let mut mask = 0;
    for lane in 0..64 {
        let enabled = row_mask >> (lane / 16) & 1 != 0 && bank_mask >> (lane % 16 / 4) & 1 != 0;
        let valid = zero_fill || readable(op, exec, lane).is_some();
        mask |= u64::from(enabled && valid) << lane;
    }
    mask & exec
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_of_the_manual() {
        assert_eq!(dpp16(0xb1, 4), Some(5)); // quad_perm:[1,0,3,2]
        assert_eq!(dpp16(0x101, 15), None); // row_shl:1
        assert_eq!(dpp16(0x101, 14), Some(15));
        assert_eq!(dpp16(0x111, 16), None); // row_shr:1
        assert_eq!(dpp16(0x111, 17), Some(16));
        assert_eq!(dpp16(0x121, 16), Some(31)); // row_ror:1
        assert_eq!(dpp16(0x142, 5), None); // row_bcast:15
        assert_eq!(dpp16(0x142, 20), Some(15));
        assert_eq!(dpp16(0x143, 33), Some(31)); // row_bcast:31
        assert_eq!(dpp16(0x143, 31), None);
        assert_eq!(dpp16(0x153, 40), Some(35)); // row_share:3
        assert_eq!(dpp16(0x161, 34), Some(35)); // row_xmask:1
        assert_eq!(dpp16(0x138, 0), None); // wave_shr:1
        assert_eq!(dpp16(0x134, 63), Some(0)); // wave_rol:1
    }

    #[test]
    fn eight_lanes() {
        // dpp8:[7,6,5,4,3,2,1,0]
        let lanes = (0..8).fold(0, |bits, at| bits | (7 - at) << (3 * at));
        assert_eq!(source(Lane::Dpp8 { lanes }, 0), Some(7));
        assert_eq!(source(Lane::Dpp8 { lanes }, 10), Some(13));
    }
}
