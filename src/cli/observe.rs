//! `kernc run --profile`, `--trace`, `--coverage`: what a run did, line by line and instruction by instruction.

use super::told::Teller;
use super::{Failure, check_output, complain, write};
use clap::Args;
use codeobj::disasm::{Lines, SourcePlace};
use kernc::sim::{self, Device, Executed, Profile, Traffic};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Hottest lines and instructions that a profile lists.
const LISTED: usize = 10;

#[derive(Args, Clone)]
pub struct ObserveArgs {
    /// Print the most executed source lines and instructions, bytes moved, divergence, and an estimate of cycles. Runs in fast mode.
    #[arg(long)]
    profile: bool,
    /// Write down each instruction of a work-group, or of one of its waves, and the registers it changes.
    #[arg(long, value_name = "X,Y,Z[:WAVE]")]
    trace: Option<String>,
    /// Where the trace goes (default: standard error).
    #[arg(long, value_name = "FILE")]
    trace_file: Option<PathBuf>,
    /// Print how often each source line was executed, for objects with line tables.
    #[arg(long)]
    coverage: bool,
    /// List the waits and invalidations that nothing needed: no register on any path, no order of memory in this run.
    #[arg(long)]
    idle_waits: bool,
}

impl ObserveArgs {
    /// What the emulator shall watch for.
    pub fn observe(&self) -> Result<sim::Observe, Failure> {
        let trace = self.trace.as_deref().map(parse_trace).transpose()?;
        Ok(sim::Observe { profile: self.counts(), trace, order: self.idle_waits })
    }

    /// Whether what is seen can be written where it shall go.
    pub fn check(&self) -> Result<(), Failure> {
        self.trace_file.as_deref().map_or(Ok(()), check_output)
    }

    /// Whether a profile is wanted.
    pub fn profile(&self) -> bool {
        self.profile
    }

    /// Whether instructions are counted.
    pub fn counts(&self) -> bool {
        self.profile || self.coverage
    }

    /// Whether there is anything to watch for.
    pub fn is_active(&self) -> bool {
        self.profile || self.coverage || self.trace.is_some() || self.idle_waits
    }

    /// Prints what was seen.
    pub fn report(
        &self,
        device: &Device,
        kernel: &sim::KernelInfo,
        object: &sim::CodeObject,
        teller: &Teller,
    ) -> Result<(), Failure> {
        if self.trace.is_some() {
            match &self.trace_file {
                Some(file) => write(file, device.trace().as_bytes())?,
                None => complain(device.trace()),
            }
        }
        if let Some(log) = device.log() {
            super::idle::print(log);
        }
        if self.profile {
            print_lines(device.profile(), object.lines(), teller);
            print_profile(device.profile(), kernel);
        }
        if self.coverage {
            print_coverage(device.profile(), object.lines())?;
        }
        Ok(())
    }
}

fn parse_trace(text: &str) -> Result<([u32; 3], Option<u32>), Failure> {
    let bad = || Failure::Usage(format!("`--trace {text}` is not of the form X,Y,Z[:WAVE]"));
    let (group, wave) = match text.split_once(':') {
        Some((group, wave)) => (group, Some(wave.parse().map_err(|_| bad())?)),
        None => (text, None),
    };
    let mut id = [0; 3];
    let parts: Vec<&str> = group.split(',').collect();
    if parts.len() > 3 {
        return Err(bad());
    }
    for (place, part) in id.iter_mut().zip(parts) {
        *place = part.parse().map_err(|_| bad())?;
    }
    Ok((id, wave))
}

/// The lines whose instructions were executed most, together: nothing for an object without line tables.
fn print_lines(profile: &Profile, lines: &Lines, teller: &Teller) {
    let mut counts: BTreeMap<(String, u32), u64> = BTreeMap::new();
    for inst in &profile.instructions {
        if let Some(place) = lines.of_address(inst.offset) {
            *counts.entry((place.file, place.line)).or_default() += inst.count;
        }
    }
    let total = profile.executed();
    let mut hottest: Vec<_> = counts.into_iter().filter(|(_, count)| *count > 0).collect();
    if hottest.is_empty() {
        return;
    }
    hottest.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    outln!("source lines, by the wave instructions that they took:");
    for ((file, line), count) in hottest.iter().take(LISTED) {
        let share = 100.0 * *count as f64 / total as f64;
        let text = teller.line(file, *line).map_or(String::new(), |text| format!("  {}", text.trim()));
        outln!("{count:12} {share:>5.1}%  {file}:{line}{text}");
    }
}

fn print_profile(profile: &Profile, kernel: &sim::KernelInfo) {
    let total = profile.executed();
    outln!("most executed, of {total} wave instructions, and their active lanes:");
    let mut hottest: Vec<&Executed> = profile.instructions.iter().collect();
    hottest.sort_by_key(|inst| (std::cmp::Reverse(inst.count), inst.offset));
    for inst in hottest.iter().take(LISTED) {
        let lanes = inst.mean_lanes().map_or(String::new(), |lanes| format!("{lanes:.1}"));
        outln!("{:12} {lanes:>5} {:#8x}  {}", inst.count, inst.offset, inst.text);
    }
    for (name, traffic) in profile.traffic() {
        let Traffic { read, written, atomic } = traffic;
        if read + written + atomic > 0 {
            outln!("{name}: {read} bytes read, {written} written, {atomic} by atomics");
        }
    }
    if profile.bank_conflicts() > 0 {
        outln!("bank conflicts of LDS: {} passes more", profile.bank_conflicts());
    }
    outln!("active lanes of vector arithmetic: {:.1}%", 100.0 * profile.active_lanes());
    let Some(estimate) = estimate(profile, kernel) else { return };
    outln!(
        "estimate, of one compute unit, not a measurement: {} cycles (VALU {}, SALU {}, memory {}, LDS {}, waits {})",
        estimate.cycles(),
        estimate.valu,
        estimate.salu,
        estimate.vmem,
        estimate.lds,
        estimate.latency
    );
}

/// How long it might take.
pub fn estimate(profile: &Profile, kernel: &sim::KernelInfo) -> Option<sim::Estimate> {
    profile.target.map(|target| profile.estimate(target, resident(target, kernel)))
}

/// Waves of a kernel that a compute unit holds at a time, as far as VGPRs decide.
fn resident(target: &kernc::Target, kernel: &sim::KernelInfo) -> u64 {
    // What the metadata says may be anything.
    u64::from(target.waves_by_vgprs(kernel.vgprs).max(1) * target.simds_per_cu)
}

fn print_coverage(profile: &Profile, lines: &Lines) -> Result<(), Failure> {
    let key = |place: SourcePlace| (place.file, place.line);
    let mut counts: BTreeMap<(String, u32), u64> = lines.all().map(|place| (key(place), 0)).collect();
    if counts.is_empty() {
        return Err(Failure::File(
            "no line table in the object (clang's `-g` makes one), or it is not linked".into(),
        ));
    }
    for inst in &profile.instructions {
        if let Some(place) = lines.of_address(inst.offset) {
            let count = counts.entry(key(place)).or_default();
            *count = inst.count.max(*count);
        }
    }
    let reached = counts.values().filter(|count| **count > 0).count();
    outln!("{reached} of {} source lines with code were executed:", counts.len());
    for ((file, line), count) in &counts {
        outln!("{count:12}  {file}:{line}");
    }
    Ok(())
}
