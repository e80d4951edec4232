//! Where a wave runs, as HW_ID tells it: a function of the group's number, the same in every run.
//!
//! The dispatcher gives each shader engine a group in turn, and inside of an engine each compute unit. Here groups are placed
//! that way over a device of fixed size, as if all took equally long: engines first, then their arrays, then compute units;
//! the waves of a group go round the SIMDs of its compute unit, behind those of the groups that were there before. Real
//! dispatchers give a group to whatever has room, on devices of other sizes: programs that need more than plausible numbers
//! read what no one promises.
//!
//! Fields: GCN3 and Vega ISA, "HW_ID"; RDNA ISA, "HW_ID1", "HW_ID2".

use crate::wave::Wave;
use isa::{Feature, Generation, Target};

/// A device: what it is made of.
struct Device {
    engines: u64,
    arrays: u64,
    /// Compute units of an array, on GFX10 work-group processors.
    units: u64,
    /// Waves that a SIMD holds.
    slots: u32,
}

impl Device {
    fn of(target: &Target) -> Device {
        match target.generation {
            Generation::Gfx10 if target.has(Feature::GFX10_3) => {
                Device { engines: 2, arrays: 2, units: 5, slots: 16 }
            }
            Generation::Gfx10 => Device { engines: 2, arrays: 2, units: 5, slots: 20 },
            _ if target.has(Feature::GFX90A) => Device { engines: 4, arrays: 1, units: 16, slots: 8 },
            _ => Device { engines: 4, arrays: 1, units: 16, slots: 10 },
        }
    }
}

/// The parts of HW_ID.
struct Place {
    engine: u32,
    array: u32,
    unit: u32,
    simd: u32,
    slot: u32,
    /// The group's number among those of its compute unit.
    group: u32,
}

fn place(wave: &Wave, target: &Target) -> Place {
    let Device { engines, arrays, units, slots } = Device::of(target);
    let group = wave.group_number;
    let (engine, rest) = (group % engines, group / engines);
    let (array, rest) = (rest % arrays, rest / arrays);
    let (unit, rest) = (rest % units, rest / units);
    // A work-group processor has two compute units of two SIMDs; in CU mode a group has one of them.
    let half = target.generation == Generation::Gfx10 && !wave.wgp_mode;
    let (simds, first, round) = if half { (2, rest % 2 * 2, rest / 2) } else { (4, 0, rest) };
    let before = round.wrapping_mul(u64::from(wave.group_waves.div_ceil(simds)));
    let slot = before.wrapping_add(u64::from(wave.id / simds)) % u64::from(slots);
    Place {
        engine: engine as u32,
        array: array as u32,
        unit: unit as u32,
        simd: first as u32 + wave.id % simds,
        slot: slot as u32,
        group: (round % 16) as u32,
    }
}

/// HW_ID of GFX6 to GFX9, HW_ID1 of GFX10.
pub(super) fn hw_id(wave: &Wave, target: &Target) -> u32 {
    let Place { engine, array, unit, simd, slot, group } = place(wave, target);
    match target.generation {
        Generation::Gfx10 => slot | simd << 8 | unit << 10 | array << 16 | engine << 18,
        _ => slot | simd << 4 | unit << 8 | array << 12 | engine << 13 | group << 16,
    }
}

/// HW_ID2 of GFX10: of the queue nothing, and the group.
pub(super) fn hw_id2(wave: &Wave, target: &Target) -> u32 {
    place(wave, target).group << 16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descriptor::Descriptor;
    use std::collections::HashSet;

    /// All waves that are on the device at a time are somewhere else.
    #[test]
    fn places_are_taken_once() {
        for (name, groups, waves, wgp_mode) in [
            ("gfx600", 64 * 10, 4, false),
            ("gfx90a", 64 * 4, 8, false),
            ("gfx906", 64 * 5, 7, false),
            ("gfx1010", 40 * 20, 2, false),
            ("gfx1030", 20 * 8, 8, true),
        ] {
            let target = Target::by_name(name).expect("a known processor");
            let mut taken = HashSet::new();
            for group in 0..groups {
                for id in 0..waves {
                    let mut wave = Wave::new(id, &Descriptor::default(), target);
                    (wave.group_number, wave.group_waves, wave.wgp_mode) = (group, waves, wgp_mode);
                    let id = hw_id(&wave, target);
                    let groups_bits = if target.generation == Generation::Gfx10 { 0 } else { 0xf_0000 };
                    assert!(taken.insert(id & !groups_bits), "{name}: group {group}: {id:#x}");
                }
            }
        }
    }
}
