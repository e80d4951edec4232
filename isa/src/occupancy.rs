//! How many waves of a kernel a SIMD holds, and what keeps it from holding more.
//!
//! # Source
//! Vega ISA manual, the limits on waves; seed 000, line 2640 ff. for the units of registers and LDS. Sizes of register files,
//! units and limits are facts of the [`Target`]: waves of 32 lanes have twice the VGPRs, in units twice as large, and from GFX10
//! on every wave gets the same SGPRs, so that those do not limit.

use crate::subtarget::Subtarget;
use crate::target::{Feature, Target};
use std::fmt;

/// What limits the number of waves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OccupancyLimit {
    /// The processor's own limit.
    Waves,
    /// Vector registers.
    Vgprs,
    /// Scalar registers.
    Sgprs,
    /// Work-group memory.
    Lds,
}

impl fmt::Display for OccupancyLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OccupancyLimit::Waves => "waves",
            OccupancyLimit::Vgprs => "vgprs",
            OccupancyLimit::Sgprs => "sgprs",
            OccupancyLimit::Lds => "lds",
        })
    }
}

/// Waves per SIMD and what limits them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Waves per SIMD.
    pub waves: u32,
    /// The first limit that is reached.
    pub limit: OccupancyLimit,
}

/// What a kernel takes of a compute unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Vector registers of a lane.
    pub vgprs: u32,
    /// Scalar registers, VCC and its kin included.
    pub sgprs: u32,
    /// Bytes of LDS of a work-group.
    pub lds: u32,
    /// Work-items of a work-group.
    pub group: u32,
}

impl Occupancy {
    /// Occupancy of a kernel. More registers or LDS than there are give 0 waves.
    pub fn new(target: &Subtarget, usage: &Usage) -> Occupancy {
        let mut result = Occupancy { waves: target.max_waves, limit: OccupancyLimit::Waves };
        let mut limit = |waves: u32, limit| {
            if waves < result.waves {
                result = Occupancy { waves, limit };
            }
        };
        limit(target.waves_by_vgprs(usage.vgprs), OccupancyLimit::Vgprs);
        limit(target.waves_by_sgprs(usage.sgprs), OccupancyLimit::Sgprs);
        if usage.lds > 0 {
            let units = target.units_per_group();
            let taken = u64::from(usage.lds).next_multiple_of(target.lds_granule.into());
            let groups = (u64::from(target.lds_bytes * units) / taken) as u32;
            let waves_per_group = usage.group.max(1).div_ceil(target.wave_size);
            let waves = groups.saturating_mul(waves_per_group);
            limit(waves.div_ceil(target.simds_per_group()), OccupancyLimit::Lds);
        }
        result
    }
}

impl Subtarget {
    /// Compute units whose SIMDs and LDS a work-group has: one, or the two of a work-group processor.
    pub fn units_per_group(&self) -> u32 {
        if self.has(Feature::WAVE32) && !self.cumode { 2 } else { 1 }
    }

    /// SIMDs that hold the waves of a work-group.
    pub fn simds_per_group(&self) -> u32 {
        self.simds_per_cu * self.units_per_group()
    }
}

impl Target {
    /// VGPRs that a wave takes with these and so many accumulation VGPRs: the larger number where those are a file of their own,
    /// the sum where they lie behind the others (gfx90a; from a multiple of four on).
    pub fn vgprs_with(&self, vgprs: u32, agprs: u32) -> u32 {
        match agprs {
            0 => vgprs,
            _ if self.has(Feature::GFX90A) => vgprs.max(1).next_multiple_of(4) + agprs,
            _ => vgprs.max(agprs),
        }
    }

    /// Accumulation VGPRs that a wave of so many VGPRs in all, of which the first 256 are ordinary ones, has for nothing.
    pub fn agprs_within(&self, vgprs: u32) -> u32 {
        match self.has(Feature::MAI) {
            true if self.has(Feature::GFX90A) => vgprs.min(self.addressable_vgprs).saturating_sub(256),
            true => vgprs.min(256),
            false => 0,
        }
    }

    /// Waves that a SIMD has VGPRs for.
    pub fn waves_by_vgprs(&self, vgprs: u32) -> u32 {
        let allotted = vgprs.clamp(1, u32::MAX / 2).next_multiple_of(self.vgpr_granule);
        (self.total_vgprs / allotted).min(self.max_waves)
    }

    /// Waves that a SIMD has SGPRs for.
    pub fn waves_by_sgprs(&self, sgprs: u32) -> u32 {
        let allotted = sgprs.clamp(1, u32::MAX / 2).next_multiple_of(self.sgpr_granule);
        (self.total_sgprs / allotted).min(self.max_waves)
    }

    /// Most VGPRs that a lane can have if the SIMD is to hold so many waves.
    pub fn vgprs_for_waves(&self, waves: u32) -> u32 {
        let share = self.total_vgprs / waves.max(1) / self.vgpr_granule * self.vgpr_granule;
        share.clamp(self.vgpr_granule, self.addressable_vgprs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Subtarget {
        Subtarget::by_name(name).unwrap()
    }

    fn of(target: &Subtarget, vgprs: u32, sgprs: u32, lds: u32, group: u32) -> (u32, OccupancyLimit) {
        let Occupancy { waves, limit } = Occupancy::new(target, &Usage { vgprs, sgprs, lds, group });
        (waves, limit)
    }

    #[test]
    fn vega() {
        let target = named("gfx906");
        // The Vega tables: 24 VGPRs still give 10 waves, 25 give 9 (28 allotted), 84 give 3, 256 give 1.
        assert_eq!(of(&target, 24, 16, 0, 256), (10, OccupancyLimit::Waves));
        assert_eq!(of(&target, 25, 16, 0, 256), (9, OccupancyLimit::Vgprs));
        assert_eq!(of(&target, 84, 16, 0, 256), (3, OccupancyLimit::Vgprs));
        assert_eq!(of(&target, 256, 16, 0, 256), (1, OccupancyLimit::Vgprs));
        // 80 SGPRs give 10 waves, 96 give 8.
        assert_eq!(of(&target, 8, 80, 0, 256), (10, OccupancyLimit::Waves));
        assert_eq!(of(&target, 8, 96, 0, 256), (8, OccupancyLimit::Sgprs));
        // 16 KiB a group of 256: four groups, sixteen waves over four SIMDs.
        assert_eq!(of(&target, 8, 16, 16384, 256), (4, OccupancyLimit::Lds));
        assert_eq!(of(&target, 8, 16, 65536 + 1, 256), (0, OccupancyLimit::Lds));
    }

    #[test]
    fn rdna_by_wave_size() {
        let (rdna1, rdna2) = (named("gfx1010"), named("gfx1030"));
        // 1024 registers a lane, by 8 (gfx101x) or by 16 (gfx103x).
        assert_eq!(of(&rdna1, 48, 100, 0, 256), (20, OccupancyLimit::Waves));
        assert_eq!(of(&rdna1, 57, 100, 0, 256), (16, OccupancyLimit::Vgprs));
        assert_eq!(of(&rdna1, 256, 100, 0, 256), (4, OccupancyLimit::Vgprs));
        assert_eq!(of(&rdna2, 64, 100, 0, 256), (16, OccupancyLimit::Waves));
        assert_eq!(of(&rdna2, 65, 100, 0, 256), (12, OccupancyLimit::Vgprs));
        // Half of them, by half as many.
        let (rdna1, rdna2) = (rdna1.with_wave_size(64).unwrap(), rdna2.with_wave_size(64).unwrap());
        assert_eq!(of(&rdna1, 24, 100, 0, 256), (20, OccupancyLimit::Waves));
        assert_eq!(of(&rdna1, 25, 100, 0, 256), (18, OccupancyLimit::Vgprs));
        assert_eq!(of(&rdna2, 33, 100, 0, 256), (12, OccupancyLimit::Vgprs));
        assert_eq!(of(&rdna2, 256, 100, 0, 256), (2, OccupancyLimit::Vgprs));
    }

    #[test]
    fn scalar_registers_do_not_limit_from_gfx10_on() {
        for target in crate::PROCESSORS.iter().filter(|target| target.has(Feature::WAVE32)) {
            assert_eq!(
                target.waves_by_sgprs(target.addressable_sgprs + 2),
                target.max_waves,
                "{}",
                target.name
            );
        }
        assert_eq!(named("gfx90a").waves_by_vgprs(128), 4);
        assert_eq!(named("gfx802").waves_by_sgprs(10), 8);
    }

    #[test]
    fn work_group_processors() {
        let mut target = named("gfx1030");
        // 32 KiB a group of 512 waves' lanes: two groups a compute unit, four a work-group processor.
        assert_eq!(of(&target, 8, 16, 32768, 256), (8, OccupancyLimit::Lds));
        target.cumode = false;
        assert_eq!(of(&target, 8, 16, 32768, 256), (8, OccupancyLimit::Lds));
        assert_eq!(of(&target, 8, 16, 40000, 256), (6, OccupancyLimit::Lds));
        target.cumode = true;
        assert_eq!(of(&target, 8, 16, 40000, 256), (4, OccupancyLimit::Lds));
    }

    #[test]
    fn shares_of_registers_and_waves_agree() {
        for target in crate::PROCESSORS.iter() {
            for waves in 1..=target.max_waves {
                let vgprs = target.vgprs_for_waves(waves);
                assert!(target.waves_by_vgprs(vgprs) >= waves, "{} {waves}", target.name);
                let more = target.waves_by_vgprs(vgprs + 1);
                assert!(vgprs == target.addressable_vgprs || more < waves, "{} {waves}", target.name);
            }
        }
    }
}
