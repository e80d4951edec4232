//! How many waves of a kernel a SIMD holds, and what keeps it from holding more.
//!
//! # Source
//! Vega ISA manual, the limits on waves; register file sizes and granules are facts of the [`Target`].

use isa::Target;
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

/// Unit in which a compute unit hands out LDS, bytes: 128 dwords from GFX7 on (seed 000, line 2850).
const LDS_GRANULE: u32 = 512;

impl Occupancy {
    /// Occupancy of a kernel that uses `vgprs` and `sgprs` registers (`sgprs` with VCC and its kin), `lds` bytes and
    /// `group` work-items a work-group.
    pub fn new(target: &Target, vgprs: u32, sgprs: u32, lds: u32, group: u32) -> Occupancy {
        let vgprs = vgprs.max(1).next_multiple_of(target.vgpr_granule);
        let sgprs = sgprs.max(1).next_multiple_of(target.sgpr_granule);
        let mut result = Occupancy { waves: target.max_waves, limit: OccupancyLimit::Waves };
        let mut limit = |waves: u32, limit| {
            if waves < result.waves {
                result = Occupancy { waves, limit };
            }
        };
        limit(target.total_vgprs / vgprs, OccupancyLimit::Vgprs);
        limit(target.total_sgprs / sgprs, OccupancyLimit::Sgprs);
        if lds > 0 {
            let groups = target.lds_bytes / lds.next_multiple_of(LDS_GRANULE);
            let waves_per_group = group.max(1).div_ceil(target.wave_size);
            limit((groups * waves_per_group).div_ceil(target.simds_per_cu), OccupancyLimit::Lds);
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits() {
        let target = Target::by_name("gfx906").unwrap();
        let of = |vgprs, sgprs, lds, group| {
            let occupancy = Occupancy::new(target, vgprs, sgprs, lds, group);
            (occupancy.waves, occupancy.limit)
        };
        // The Vega tables: 24 VGPRs still give 10 waves, 25 give 9 (28 allotted), 84 give 3, 256 give 1.
        assert_eq!(of(24, 16, 0, 256), (10, OccupancyLimit::Waves));
        assert_eq!(of(25, 16, 0, 256), (9, OccupancyLimit::Vgprs));
        assert_eq!(of(84, 16, 0, 256), (3, OccupancyLimit::Vgprs));
        assert_eq!(of(256, 16, 0, 256), (1, OccupancyLimit::Vgprs));
        // 80 SGPRs give 10 waves, 96 give 8.
        assert_eq!(of(8, 80, 0, 256), (10, OccupancyLimit::Waves));
        assert_eq!(of(8, 96, 0, 256), (8, OccupancyLimit::Sgprs));
        // GFX10 has four times the VGPRs for waves of 32 lanes, twice for 64, and SGPRs for as many waves as there can be.
        let on = |name, lanes, vgprs| {
            let target = Target::by_name(name).and_then(|target| target.with_wave_size(lanes)).unwrap();
            Occupancy::new(target, vgprs, 106, 0, 64).waves
        };
        assert_eq!((on("gfx1010", 32, 24), on("gfx1010", 32, 128), on("gfx1010", 64, 128)), (20, 8, 4));
        assert_eq!((on("gfx1030", 32, 24), on("gfx1030", 32, 256)), (16, 4));
        // 16 KiB a group of 256: four groups, sixteen waves over four SIMDs.
        assert_eq!(of(8, 16, 16384, 256), (4, OccupancyLimit::Lds));
    }
}
