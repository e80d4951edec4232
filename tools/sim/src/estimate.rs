//! Estimates how long a dispatch might take on hardware. The estimate comes from documented issue rates and
//! from latencies that are assumed here. It is not a measurement.
//!
//! The estimate is the larger of two lower bounds. The bound by **issue** is the number of cycles for which
//! the busiest unit of a compute unit, such as LDS, executes the instructions of all waves. The bound by
//! **latency** is the time for which waves are blocked: each wait blocks its wave for the latency of the
//! memory that it waits for, and waves that do not fit on the compute unit at the same time run after one
//! another. `docs/emulator.md` has the numbers.

use crate::observe::{Executed, Profile};
use crate::op::Class;
use isa::{Feature, Target};

/// Latency of vector memory in cycles. The next two constants are the latencies of scalar memory and LDS. The
/// manuals state no latencies, so these numbers are chosen by hand, between the likely costs of a hit and of
/// a miss in the first-level cache.
const VMEM_LATENCY: u64 = 350;
const SMEM_LATENCY: u64 = 150;
const LDS_LATENCY: u64 = 64;
/// Bytes of vector memory that a compute unit transfers in a cycle: one line of 64 bytes of the first-level
/// cache. The next constant is the same for LDS, which has 32 banks of 4 bytes.
const VMEM_RATE: u64 = 64;
const LDS_RATE: u64 = 128;

/// The cycles for which each unit of a compute unit is busy, if a single compute unit runs the whole
/// dispatch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Cycles of vector arithmetic, which the SIMDs share.
    pub valu: u64,
    /// Cycles of scalar arithmetic, branches and messages.
    pub salu: u64,
    /// Cycles of vector memory.
    pub vmem: u64,
    /// LDS.
    pub lds: u64,
    /// Lower bound by latency. A batch is the waves that a compute unit holds at the same time; batches run
    /// one after another. The bound is therefore the number of cycles for which waits block an average wave,
    /// multiplied by the number of batches.
    pub latency: u64,
}

impl Estimate {
    /// Returns the larger of the two bounds in cycles.
    pub fn cycles(&self) -> u64 {
        [self.valu, self.salu, self.vmem, self.lds, self.latency].into_iter().max().unwrap_or(0)
    }
}

impl Profile {
    /// Estimates the cycles of a dispatch. `resident` is the number of the kernel's waves that a compute unit
    /// holds at the same time.
    pub fn estimate(&self, target: &Target, resident: u64) -> Estimate {
        let of = |class: Class| self.instructions.iter().filter(move |inst| inst.class == class);
        let issue = |class| of(class).map(|inst| inst.count * cycles(inst, target)).sum::<u64>();
        let simds = u64::from(target.simds_per_cu);
        let scalar_units = if target.arch.device.scalar_alu_per_simd { simds } else { 1 };
        let moved = |traffic: &crate::observe::Traffic| traffic.read + traffic.written + 2 * traffic.atomic;
        let ended = self.waves().max(1);
        let waits = of(Class::Flow).map(|inst| inst.count * latency(&inst.text)).sum::<u64>();
        Estimate {
            valu: issue(Class::Valu) / simds,
            salu: (issue(Class::Salu) + of(Class::Flow).map(|inst| inst.count).sum::<u64>()) / scalar_units,
            vmem: (moved(&self.global) + moved(&self.scratch)) / VMEM_RATE,
            lds: moved(&self.lds) / LDS_RATE + self.bank_conflicts(),
            latency: waits / ended * ended.div_ceil(resident.max(1)),
        }
    }
}

/// Returns for how many cycles one execution of an instruction by a wave occupies its unit.
fn cycles(inst: &Executed, target: &Target) -> u64 {
    let lanes = u64::from(target.wave_size);
    let width = u64::from(target.arch.device.simd_lanes);
    let base = if inst.class == Class::Valu { lanes / width } else { 1 };
    let name = inst.text.split([' ', '_']).collect::<Vec<_>>();
    let has = |word: &str| name.contains(&word);
    let transcendental = ["rcp", "rsq", "sqrt", "exp", "log", "sin", "cos"].into_iter().any(has);
    let double = has("f64");
    match (inst.class, transcendental, double) {
        (Class::Valu, true, false) => base * 4,
        (Class::Valu, _, true) if target.has(Feature::HALF_RATE_F64) => base * 2,
        (Class::Valu, _, true) => base * 16,
        (Class::Valu, ..) if has("mul") && (has("u32") || has("i32")) && (has("lo") || has("hi")) => base * 4,
        _ => base,
    }
}

/// Returns the latency in cycles for which a wait instruction blocks its wave. The text of the instruction
/// says which counters it waits for.
fn latency(text: &str) -> u64 {
    let mut most = 0;
    if text.contains("vmcnt") || text.contains("vscnt") {
        most = VMEM_LATENCY;
    }
    if text.contains("lgkmcnt") {
        most = most.max(if text.contains("vmcnt") { VMEM_LATENCY } else { SMEM_LATENCY.max(LDS_LATENCY) });
    }
    most
}
