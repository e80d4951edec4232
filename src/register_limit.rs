//! Computes the largest number of vector registers that a wave of a kernel may use, with the reason for this
//! limit.

use isa::Subtarget;
use std::fmt;

/// Limit on the vector registers of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VgprLimit {
    /// Number of registers.
    pub vgprs: u32,
    /// Reason for the limit.
    pub reason: VgprLimitReason,
}

/// Reason for the limit on the vector registers of a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VgprLimitReason {
    /// Instructions cannot name more registers.
    Processor,
    /// The work-group size sets the limit: all waves of a work-group must fit on the SIMDs of a compute unit
    /// at the same time.
    WorkGroup {
        /// Largest number of work-items in a work-group.
        items: u32,
        /// Waves of one work-group on each SIMD.
        waves: u32,
    },
    /// `#[waves_per_eu(n)]`
    WavesPerEu(u32),
    /// `#[num_vgpr(n)]`
    NumVgpr,
}

impl fmt::Display for VgprLimitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VgprLimitReason::Processor => f.write_str("the processor has no more"),
            VgprLimitReason::WorkGroup { items, waves } => write!(
                f,
                "a work-group of {items} work-items has {waves} waves on each SIMD; `#[max_workgroup_size(n)]` with fewer leaves more"
            ),
            VgprLimitReason::WavesPerEu(waves) => write!(f, "`#[waves_per_eu({waves})]`"),
            VgprLimitReason::NumVgpr => f.write_str("`#[num_vgpr]`"),
        }
    }
}

/// Returns the limit for a kernel: the smallest of the limits that the processor, the work-group size and the
/// attributes set.
pub(crate) fn vgpr_limit(target: &Subtarget, kernel: &ir::KernelInfo) -> VgprLimit {
    let items = kernel.max_flat_workgroup_size();
    let group_waves = items.div_ceil(target.wave_size).div_ceil(target.simds_per_group());
    let asked_waves = kernel.waves_per_eu.map_or(0, |(least, _)| least);
    let vgprs = target.vgprs_for_waves(group_waves.max(asked_waves));
    let reason = match asked_waves > group_waves {
        _ if vgprs == target.addressable_vgprs => VgprLimitReason::Processor,
        true => VgprLimitReason::WavesPerEu(asked_waves),
        false => VgprLimitReason::WorkGroup { items, waves: group_waves },
    };
    match kernel.num_vgpr {
        Some(asked) if asked < vgprs => {
            VgprLimit { vgprs: asked.max(target.vgpr_granule), reason: VgprLimitReason::NumVgpr }
        }
        _ => VgprLimit { vgprs, reason },
    }
}
