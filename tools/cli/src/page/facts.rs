//! Information about a kernel's resources and about a run, as pairs of name and value for the HTML page.

use super::code::Function;
use isa::{Occupancy, OccupancyLimit, Usage};
use kernc::Target;
use kernc::sim::{self, KernelInfo, Profile, Traffic};
use serde::Serialize;

/// A name with its value.
#[derive(Serialize)]
pub struct Fact(String, String);

/// A row of the occupancy table: a number of waves on a SIMD, and the largest number of VGPRs that a wave may
/// use so that this many waves fit.
#[derive(Serialize)]
pub struct Step(u32, u32);

fn fact(name: &str, value: impl ToString) -> Fact {
    Fact(name.to_owned(), value.to_string())
}

/// Sets the information about a kernel's registers, memory and occupancy.
pub fn of_kernel(object: &sim::CodeObject, kernel: &KernelInfo, function: &mut Function) {
    let target = kernel.subtarget(object.subtarget());
    let group = match (kernel.reqd_group, kernel.max_group) {
        (Some([x, y, z]), _) => x.saturating_mul(y).saturating_mul(z),
        (None, most) => most,
    };
    let lds = kernel.descriptor.group_segment;
    let usage = Usage { vgprs: kernel.vgprs, sgprs: kernel.sgprs, lds, group };
    let occupancy = Occupancy::new(&target, &usage);
    function.facts = vec![
        fact("VGPRs", kernel.vgprs),
        fact("SGPRs", kernel.sgprs),
        fact("LDS", format!("{lds} bytes")),
        fact("scratch", format!("{} bytes a work-item", kernel.descriptor.private_segment)),
        fact("wavefront", format!("{} lanes", target.wave_size)),
        fact("occupancy", format!("{} of {} waves a SIMD", occupancy.waves, target.max_waves)),
        fact("limited by", limit(&target, &occupancy)),
    ];
    let steps = (1..=target.max_waves).map(|waves| Step(waves, most_vgprs(&target, waves)));
    function.steps = steps.filter(|step| step.1 > 0).collect();
}

/// Returns what limits the occupancy, and what would raise it.
fn limit(target: &Target, occupancy: &Occupancy) -> String {
    match occupancy.limit {
        OccupancyLimit::Vgprs => {
            let more = occupancy.waves + 1;
            format!("VGPRs: with {} there were {more} waves", most_vgprs(target, more))
        }
        OccupancyLimit::Sgprs => "SGPRs".to_owned(),
        OccupancyLimit::Lds => "LDS".to_owned(),
        OccupancyLimit::Waves => "nothing".to_owned(),
    }
}

/// Returns the largest number of VGPRs that a wave may use so that a SIMD can hold `waves` waves. Returns 0
/// if the SIMD cannot hold that many waves.
fn most_vgprs(target: &Target, waves: u32) -> u32 {
    let fits = |vgprs: &u32| target.waves_by_vgprs(*vgprs) >= waves;
    (1..=target.addressable_vgprs).rev().find(fits).unwrap_or(0)
}

/// Returns the memory traffic of a run and an estimate of its duration.
pub fn of_run(profile: &Profile, kernel: &KernelInfo) -> Vec<Fact> {
    let mut facts = vec![fact("waves", profile.waves())];
    facts.push(fact("active lanes of vector arithmetic", format!("{:.1} %", 100.0 * profile.active_lanes())));
    for (name, traffic) in profile.traffic() {
        let Traffic { read, written, atomic } = traffic;
        if read + written + atomic > 0 {
            facts.push(fact(name, format!("{read} bytes read, {written} written, {atomic} by atomics")));
        }
    }
    facts.push(fact("bank conflicts of LDS", format!("{} passes", profile.bank_conflicts())));
    if let Some(estimate) = crate::observe::estimate(profile, kernel) {
        facts.push(fact("estimated cycles of one compute unit", estimate.cycles()));
    }
    facts
}
