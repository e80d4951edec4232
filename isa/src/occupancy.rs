//! Computes how many waves of a kernel a SIMD can hold, and which resource limits the number.
//!
//! In waves of 32 lanes, a VGPR takes half the space. So there are twice as many VGPRs, in allocation units
//! twice as large. From GFX10 on, every wave gets the same number of SGPRs, so that SGPRs are never the
//! limit. Sizes of register files, units and limits are properties of the [`Target`].
//!
//! # Source
//! Vega ISA manual, the limits on waves; LLVM's AMDGPU guide (seed 000, from line 2640) for the allocation
//! units of registers and LDS.

use crate::subtarget::Subtarget;
use crate::target::{DescriptorFields, Feature, Target};
use std::fmt;

/// Resource that limits the number of waves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OccupancyLimit {
    /// The maximum number of waves of the processor.
    Waves,
    /// Vector registers.
    Vgprs,
    /// Scalar registers.
    Sgprs,
    /// LDS, the memory of a work-group.
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

/// Number of waves that a SIMD can hold, and the resource that limits the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Number of waves on each SIMD.
    pub waves: u32,
    /// The resource with the lowest limit.
    pub limit: OccupancyLimit,
}

/// Amounts of the resources that a kernel uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Number of vector registers of each lane.
    pub vgprs: u32,
    /// Number of SGPRs of the kernel, including VCC and other special registers.
    pub sgprs: u32,
    /// Bytes of LDS of each work-group.
    pub lds: u32,
    /// Number of work-items of each work-group.
    pub group: u32,
}

impl Occupancy {
    /// Computes the occupancy of a kernel. If the kernel uses more registers or LDS than exist, the result is
    /// 0 waves.
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
    /// Returns the number of compute units whose SIMDs and LDS a work-group can use. It is one, or two if the
    /// group can use both compute units of a work-group processor.
    pub fn units_per_group(&self) -> u32 {
        if DescriptorFields::WGP_MODE.has(self) && !self.cumode { 2 } else { 1 }
    }

    /// Returns the number of SIMDs that hold the waves of a work-group.
    pub fn simds_per_group(&self) -> u32 {
        self.simds_per_cu * self.units_per_group()
    }
}

impl Target {
    /// Returns the number of VGPRs that are allocated for a wave with `vgprs` VGPRs and `agprs` accumulation
    /// VGPRs. On gfx908, accumulation VGPRs have a register file of their own, and the result is the larger
    /// of both numbers. On gfx90a, both kinds share a file, and accumulation VGPRs start at a multiple of
    /// four after the VGPRs; the result is the sum.
    pub fn vgprs_with(&self, vgprs: u32, agprs: u32) -> u32 {
        match agprs {
            0 => vgprs,
            _ if self.has(Feature::UNIFIED_VGPRS) => vgprs.max(1).next_multiple_of(4) + agprs,
            _ => vgprs.max(agprs),
        }
    }

    /// Returns how many accumulation VGPRs a wave can use without allocating more registers than `vgprs`. Of
    /// these registers, the first 256 are ordinary VGPRs.
    pub fn agprs_within(&self, vgprs: u32) -> u32 {
        match self.has(Feature::MAI) {
            true if self.has(Feature::UNIFIED_VGPRS) => vgprs.min(self.addressable_vgprs).saturating_sub(256),
            true => vgprs.min(256),
            false => 0,
        }
    }

    /// Returns the maximum number of waves on a SIMD if each wave uses `vgprs` VGPRs.
    pub fn waves_by_vgprs(&self, vgprs: u32) -> u32 {
        let allotted = vgprs.clamp(1, u32::MAX / 2).next_multiple_of(self.vgpr_granule);
        (self.total_vgprs / allotted).min(self.max_waves)
    }

    /// Returns the maximum number of waves on a SIMD if each wave uses `sgprs` SGPRs.
    pub fn waves_by_sgprs(&self, sgprs: u32) -> u32 {
        let allotted = sgprs.clamp(1, u32::MAX / 2).next_multiple_of(self.sgpr_granule);
        (self.total_sgprs / allotted).min(self.max_waves)
    }

    /// Returns the maximum number of VGPRs that a kernel may use if a SIMD is to hold `waves` waves of it.
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

    fn waves_and_limit(
        target: &Subtarget,
        vgprs: u32,
        sgprs: u32,
        lds: u32,
        group: u32,
    ) -> (u32, OccupancyLimit) {
        let Occupancy { waves, limit } = Occupancy::new(target, &Usage { vgprs, sgprs, lds, group });
        (waves, limit)
    }

    #[test]
    fn vega() {
        let target = named("gfx906");
        // Tables of the Vega manual: up to 24 VGPRs give 10 waves, 25 give 9 (28 are allocated), 84 give 3,
        // 256 give 1.
        assert_eq!(waves_and_limit(&target, 24, 16, 0, 256), (10, OccupancyLimit::Waves));
        assert_eq!(waves_and_limit(&target, 25, 16, 0, 256), (9, OccupancyLimit::Vgprs));
        assert_eq!(waves_and_limit(&target, 84, 16, 0, 256), (3, OccupancyLimit::Vgprs));
        assert_eq!(waves_and_limit(&target, 256, 16, 0, 256), (1, OccupancyLimit::Vgprs));
        // 80 SGPRs give 10 waves, 96 give 8.
        assert_eq!(waves_and_limit(&target, 8, 80, 0, 256), (10, OccupancyLimit::Waves));
        assert_eq!(waves_and_limit(&target, 8, 96, 0, 256), (8, OccupancyLimit::Sgprs));
        // With 16 KiB per group of 256 work-items, four groups fit: sixteen waves on four SIMDs.
        assert_eq!(waves_and_limit(&target, 8, 16, 16384, 256), (4, OccupancyLimit::Lds));
        assert_eq!(waves_and_limit(&target, 8, 16, 65536 + 1, 256), (0, OccupancyLimit::Lds));
    }

    #[test]
    fn rdna_by_wave_size() {
        let (rdna1, rdna2) = (named("gfx1010"), named("gfx1030"));
        // 1024 registers per lane, in units of 8 (gfx101x) or 16 (gfx103x).
        assert_eq!(waves_and_limit(&rdna1, 48, 100, 0, 256), (20, OccupancyLimit::Waves));
        assert_eq!(waves_and_limit(&rdna1, 57, 100, 0, 256), (16, OccupancyLimit::Vgprs));
        assert_eq!(waves_and_limit(&rdna1, 256, 100, 0, 256), (4, OccupancyLimit::Vgprs));
        assert_eq!(waves_and_limit(&rdna2, 64, 100, 0, 256), (16, OccupancyLimit::Waves));
        assert_eq!(waves_and_limit(&rdna2, 65, 100, 0, 256), (12, OccupancyLimit::Vgprs));
        // With 64 lanes, half as many registers in units half as large.
        let (rdna1, rdna2) = (rdna1.with_wave_size(64).unwrap(), rdna2.with_wave_size(64).unwrap());
        assert_eq!(waves_and_limit(&rdna1, 24, 100, 0, 256), (20, OccupancyLimit::Waves));
        assert_eq!(waves_and_limit(&rdna1, 25, 100, 0, 256), (18, OccupancyLimit::Vgprs));
        assert_eq!(waves_and_limit(&rdna2, 33, 100, 0, 256), (12, OccupancyLimit::Vgprs));
        assert_eq!(waves_and_limit(&rdna2, 256, 100, 0, 256), (2, OccupancyLimit::Vgprs));
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
        // 32 KiB per group: two groups per compute unit, four per work-group processor.
        assert_eq!(waves_and_limit(&target, 8, 16, 32768, 256), (8, OccupancyLimit::Lds));
        target.cumode = false;
        assert_eq!(waves_and_limit(&target, 8, 16, 32768, 256), (8, OccupancyLimit::Lds));
        assert_eq!(waves_and_limit(&target, 8, 16, 40000, 256), (6, OccupancyLimit::Lds));
        target.cumode = true;
        assert_eq!(waves_and_limit(&target, 8, 16, 40000, 256), (4, OccupancyLimit::Lds));
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
