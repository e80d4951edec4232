//! `kernc run --profile`, `--trace`, `--coverage`: reports what a run executed, line by line and instruction
//! by instruction.

use super::report_renderer::ReportRenderer;
use super::{Failure, check_output, complain, write};
use clap::Args;
use codeobj::disasm::{Lines, SourcePlace};
use kernc::sim::{self, Device, Executed, Profile, Traffic};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

/// Number of the most executed lines and instructions that a profile lists.
const LISTED: usize = 10;

#[derive(Args, Clone)]
pub struct ObserveArgs {
    /// Print the most executed source lines and instructions, the bytes moved, the divergence, and an
    /// estimate of cycles. Runs in fast mode.
    #[arg(long)]
    profile: bool,
    /// Write each instruction that a work-group, or one of its waves, executes, and the registers that the
    /// instruction changes.
    #[arg(long, value_name = "X,Y,Z[:WAVE]")]
    trace: Option<String>,
    /// Where the trace goes (default: standard error).
    #[arg(long, value_name = "FILE")]
    trace_file: Option<PathBuf>,
    /// Print how often each source line was executed, for objects with line tables.
    #[arg(long)]
    coverage: bool,
    /// Write how often each source line was executed, in the format of `lcov` and `genhtml`.
    #[arg(long, value_name = "FILE")]
    lcov: Option<PathBuf>,
    /// List the waits and invalidations that this run did not need: no path needs them for a register, and no
    /// access in this run for the order of memory.
    #[arg(long)]
    idle_waits: bool,
}

impl ObserveArgs {
    /// Returns what the emulator must record.
    pub fn observe(&self) -> Result<sim::Observe, Failure> {
        let trace = self.trace.as_deref().map(parse_trace).transpose()?;
        Ok(sim::Observe { profile: self.counts(), trace, order: self.idle_waits })
    }

    /// Checks that the output files can be written.
    pub fn check(&self) -> Result<(), Failure> {
        [&self.trace_file, &self.lcov].into_iter().flatten().try_for_each(|file| check_output(file))
    }

    /// Returns whether a profile is requested.
    pub fn profile(&self) -> bool {
        self.profile
    }

    /// Returns whether instructions must be counted.
    pub fn counts(&self) -> bool {
        self.profile || self.coverage || self.lcov.is_some()
    }

    /// Returns whether anything must be recorded.
    pub fn is_active(&self) -> bool {
        self.counts() || self.trace.is_some() || self.idle_waits
    }

    /// Prints the recorded data.
    pub fn report(
        &self,
        device: &Device,
        kernel: &sim::KernelInfo,
        object: &sim::CodeObject,
        teller: &ReportRenderer,
    ) -> Result<(), Failure> {
        if self.trace.is_some() {
            match &self.trace_file {
                Some(file) => write(file, device.trace().as_bytes())?,
                None => complain(device.trace()),
            }
        }
        if let Some(log) = device.log() {
            super::idle_waits::print(log);
        }
        if self.profile {
            print_lines(device.profile(), object.lines(), teller);
            print_profile(device.profile(), kernel);
        }
        if self.coverage || self.lcov.is_some() {
            let counts = coverage(device.profile(), object, kernel)?;
            if self.coverage {
                print_coverage(&counts);
            }
            if let Some(file) = &self.lcov {
                write(file, lcov(&counts).as_bytes())?;
            }
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

/// Prints the source lines whose instructions were executed most often. Prints nothing if the object has no
/// line table.
fn print_lines(profile: &Profile, lines: &Lines, teller: &ReportRenderer) {
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

/// Returns an estimate of the run time. Returns `None` if the processor is unknown.
pub fn estimate(profile: &Profile, kernel: &sim::KernelInfo) -> Option<sim::Estimate> {
    profile.target.map(|target| profile.estimate(target, resident(target, kernel)))
}

/// Returns how many waves of a kernel a compute unit can hold at once, as far as the kernel's VGPRs limit the
/// number. Other limits are not considered.
fn resident(target: &kernc::Target, kernel: &sim::KernelInfo) -> u64 {
    // The metadata may contain any number of VGPRs.
    u64::from(target.waves_by_vgprs(kernel.vgprs).max(1) * target.simds_per_cu)
}

/// Number of executions of source lines, by file and line.
type Coverage = BTreeMap<(String, u32), u64>;

/// Counts how often the lines of a kernel, and of the functions that it may call, were executed. Lines that
/// belong only to the code of other kernels are left out, because those kernels did not run.
///
/// # Errors
/// The object has no line table.
fn coverage(
    profile: &Profile,
    object: &sim::CodeObject,
    kernel: &sim::KernelInfo,
) -> Result<Coverage, Failure> {
    let lines = object.lines();
    if lines.all().next().is_none() {
        return Err(Failure::File(
            "no line table in the object (clang's `-g` makes one), or it is not linked".into(),
        ));
    }
    let key = |place: SourcePlace| (place.file, place.line);
    let others = code_of_others(object, kernel);
    let belongs = |address: u64| !others.iter().any(|range| range.contains(&address));
    let rows = lines.rows().filter(|row| belongs(row.0));
    let mut counts: Coverage = rows.filter_map(|row| row.1).map(|place| (key(place), 0)).collect();
    for inst in &profile.instructions {
        if let Some(place) = lines.of_address(inst.offset) {
            let count = counts.entry(key(place)).or_default();
            *count = inst.count.max(*count);
        }
    }
    Ok(counts)
}

/// Returns the address ranges of all kernels of an object except the given kernel.
fn code_of_others(object: &sim::CodeObject, kernel: &sim::KernelInfo) -> Vec<Range<u64>> {
    let is_other = |other: &&sim::KernelInfo| other.entry != kernel.entry;
    let size = |entry: u64| {
        let symbols = object.symbols().iter().filter(|symbol| symbol.address == entry);
        symbols.map(|symbol| symbol.size).max().unwrap_or(0)
    };
    let code = |other: &sim::KernelInfo| other.entry..other.entry + size(other.entry);
    object.kernels().iter().filter(is_other).map(code).collect()
}

fn print_coverage(counts: &Coverage) {
    let reached = counts.values().filter(|count| **count > 0).count();
    outln!("{reached} of {} source lines with code were executed:", counts.len());
    for ((file, line), count) in counts {
        outln!("{count:12}  {file}:{line}");
    }
}

/// Returns the counts as a tracefile of lcov: a record for each file, with `DA:LINE,COUNT` for each line.
fn lcov(counts: &Coverage) -> String {
    let mut out = String::new();
    let mut rest = counts.iter().peekable();
    while let Some(((file, _), _)) = rest.peek().copied() {
        let (mut found, mut hit) = (0, 0);
        out.push_str(&format!("TN:\nSF:{file}\n"));
        while let Some(((_, line), count)) = rest.next_if(|((other, _), _)| other == file) {
            out.push_str(&format!("DA:{line},{count}\n"));
            (found, hit) = (found + 1, hit + u32::from(*count > 0));
        }
        out.push_str(&format!("LF:{found}\nLH:{hit}\nend_of_record\n"));
    }
    out
}
