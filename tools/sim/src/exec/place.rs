//! Computes on which shader engine, compute unit and SIMD a wave runs. Programs can read this place in the
//! hardware register HW_ID. The emulator computes the place from the number of the work-group, so that it is
//! the same in every run.
//!
//! The emulator places work-groups on a device of fixed size, as if all groups took equally long. It places
//! them round-robin over the shader engines, then over the arrays of an engine, then over the compute units
//! of an array. The waves of a group are placed round-robin on the SIMDs of the compute unit, in the slots
//! after those of earlier groups. A real device has another size, and places a group on any compute unit that
//! has room. A correct program therefore cannot rely on more than that the numbers are possible.

use crate::wave::Wave;
use isa::Target;
use isa::target::DeviceSize;

/// The values of the fields of HW_ID.
struct Place {
    engine: u32,
    array: u32,
    unit: u32,
    simd: u32,
    slot: u32,
    /// Number of the work-group among the groups that are placed on the same compute unit.
    group: u32,
}

fn place_of_wave(wave: &Wave, target: &Target) -> Place {
    let DeviceSize { engines, arrays, units } = target.arch.emulation.device;
    let group = wave.group_number;
    let (engine, rest) = (group % engines, group / engines);
    let (array, rest) = (rest % arrays, rest / arrays);
    let (unit, rest) = (rest % units, rest / units);
    // A work-group processor consists of two compute units with two SIMDs each. In CU mode, a group uses only
    // one of the two compute units.
    let half = target.arch.device.workgroup_processors && !wave.wgp_mode;
    let (simds, first, round) = if half { (2, rest % 2 * 2, rest / 2) } else { (4, 0, rest) };
    let before = round.wrapping_mul(u64::from(wave.group_waves.div_ceil(simds)));
    let slot = before.wrapping_add(u64::from(wave.id / simds)) % u64::from(target.max_waves);
    Place {
        engine: engine as u32,
        array: array as u32,
        unit: unit as u32,
        simd: first as u32 + wave.id % simds,
        slot: slot as u32,
        group: (round % 16) as u32,
    }
}

/// Returns the hardware register HW_ID, or HW_ID1 on processors that have HW_ID1 instead.
pub(super) fn hw_id(wave: &Wave, target: &Target) -> u32 {
    let Place { engine, array, unit, simd, slot, group } = place_of_wave(wave, target);
    let at = target.arch.device.wave_place;
    let group = at.group.map_or(0, |at| group << at);
    slot | simd << at.simd | unit << at.unit | array << at.array | engine << at.engine | group
}

/// Returns the hardware register HW_ID2. Only the field for the group has a value; the fields for
/// queues are zero.
pub(super) fn hw_id2(wave: &Wave, target: &Target) -> u32 {
    place_of_wave(wave, target).group << 16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descriptor::Descriptor;
    use std::collections::HashSet;

    /// Checks that waves that are on the device at the same time have different places.
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
                    let groups_bits = target.arch.device.wave_place.group.map_or(0, |at| 0xf << at);
                    assert!(taken.insert(id & !groups_bits), "{name}: group {group}: {id:#x}");
                }
            }
        }
    }
}
