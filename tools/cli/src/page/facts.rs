//! What a kernel occupies, and what a run has shown, as names and values.

use super::code::Function;
use isa::{Occupancy, OccupancyLimit, Usage};
use kernc::Target;
use kernc::sim::{self, KernelInfo, Profile, Traffic};
use serde::Serialize;

/// A name and a value.
#[derive(Serialize)]
pub struct Fact(String, String);

/// So many waves fit on a SIMD with at most so many VGPRs.
#[derive(Serialize)]
pub struct Step(u32, u32);

fn fact(name: &str, value: impl ToString) -> Fact {
    Fact(name.to_owned(), value.to_string())
}

/// Registers, memory and occupancy.
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

/// What limits occupancy, and what would help.
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

/// The most VGPRs with which a SIMD holds so many waves; 0 if there are none.
fn most_vgprs(target: &Target, waves: u32) -> u32 {
    let fits = |vgprs: &u32| target.waves_by_vgprs(*vgprs) >= waves;
    (1..=target.addressable_vgprs).rev().find(fits).unwrap_or(0)
}

/// What a run has moved and how long it might take.
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
