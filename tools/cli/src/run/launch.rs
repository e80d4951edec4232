//! Launches of kernels: prepares a kernel with its arguments and its grid, runs it, and reports how the run
//! has ended.

use super::arguments::Texts;
use super::load::Loaded;
use super::{RunArgs, progress};
use crate::report_renderer::ReportRenderer;
use crate::rules::{FindingLocation, Policy, Verdict};
use crate::{Failure, complain};
use kernc::sim::{self, Device, Fault, KernelInfo, Mode, Placed};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// A dispatch that has ended, with or without a fault, and the device that it ran on.
pub struct Run {
    pub device: Device,
    pub placed: Placed,
    pub stats: Result<sim::RunStats, Fault>,
}

/// A kernel with its launch parameters.
pub struct Launch<'a> {
    pub object: &'a sim::CodeObject,
    pub kernel: &'a KernelInfo,
    pub values: Vec<sim::ArgValue>,
    pub dynamic_lds: u32,
    pub grid: [u32; 3],
    pub group: [u32; 3],
    /// Global offset of the dispatch.
    pub offset: [u64; 3],
    /// Debugger that is called before each instruction.
    pub debugger: Option<&'a dyn sim::Debugger>,
}

impl<'a> Launch<'a> {
    /// Returns the launch that the command line describes.
    pub fn new(args: &RunArgs, loaded: &'a Loaded, texts: &Texts) -> Result<Launch<'a>, Failure> {
        let kernel = loaded.kernel(args.kernel.as_deref())?;
        let (values, dynamic_lds) = texts.bind(loaded, kernel)?;
        let (grid, group) = extents(kernel, &args.grid, &args.group)?;
        let offset = offset(kernel, &args.offset)?;
        let object = &loaded.object;
        Ok(Launch { object, kernel, values, dynamic_lds, grid, group, offset, debugger: None })
    }

    /// Runs the dispatch on a new device.
    pub fn run(&self, args: &RunArgs, mode: Mode, observe: &sim::Observe) -> Result<Run, Failure> {
        let mut device = device(args, mode);
        let module = device.load(self.object).map_err(failure)?;
        let (placed, stats) = self.run_on(&mut device, module, args, observe)?;
        Ok(Run { device, placed, stats })
    }

    /// Runs the dispatch on a device that has loaded the object.
    pub fn run_on(
        &self,
        device: &mut Device,
        module: sim::ModuleId,
        args: &RunArgs,
        observe: &sim::Observe,
    ) -> Result<(Placed, Result<sim::RunStats, Fault>), Failure> {
        let placed = Placed::new(device, self.kernel, &self.values).map_err(failure)?;
        let progress = sim::Progress::default();
        let dispatch = sim::Dispatch {
            kernel: &self.kernel.name,
            grid: self.grid,
            group: self.group,
            global_offset: self.offset,
            kernarg: placed.kernarg.clone(),
            dynamic_lds: placed.dynamic_lds.max(self.dynamic_lds),
            limits: sim::Limits {
                instructions: args.max_instructions.unwrap_or(budget(device.mode())),
                stack: args.stack,
            },
            observe: observe.clone(),
            progress: Some(&progress),
            debugger: self.debugger,
            ..sim::Dispatch::default()
        };
        let stats = match self.debugger {
            // The debugger uses the terminal, so no progress is shown.
            Some(_) => device.run(module, &dispatch),
            None => progress::with_progress(&progress, || device.run(module, &dispatch)),
        };
        Ok((placed, stats))
    }
}

/// Returns the default limit on the number of wave instructions. A kernel that hangs reaches the limit within
/// some seconds.
fn budget(mode: Mode) -> u64 {
    if mode == Mode::Fast { 200_000_000 } else { 50_000_000 }
}

/// Returns a device with the settings of the command line.
pub fn device(args: &RunArgs, mode: Mode) -> Device {
    let mut device = args.threads.map_or_else(Device::new, Device::with_threads);
    device.set_mode(mode);
    device.set_schedule(args.schedule.seed());
    device.set_level(args.rules.lowest());
    device.set_convention(super::super::abi::convention(&args.common.call_abi));
    // A wrong target id was rejected when the file was read.
    let asked = args.common.target.requested_target().ok().flatten();
    device.set_xnack(asked.and_then(|(_, modes)| modes.xnack));
    device
}

/// Returns the grid size and the group size of a launch. The group size is the one on the command line.
/// Without it, it is the size that the kernel requires, or else 64.
pub fn extents(kernel: &KernelInfo, grid: &[u32], group: &[u32]) -> Result<([u32; 3], [u32; 3]), Failure> {
    let group = match (group, kernel.reqd_group) {
        ([], Some(required)) => required,
        ([], None) => [64, 1, 1],
        (given, _) => extent(given, "--group")?,
    };
    let refuse = |why: String| Err(Failure::Usage(format!("{}: {why}", kernel.name)));
    let size = group.iter().map(|&items| u64::from(items)).product::<u64>();
    if let Some(required) = kernel.reqd_group.filter(|required| *required != group) {
        return refuse(format!("the kernel requires `--group {}`", listed(required)));
    }
    if kernel.max_group != 0 && size > u64::from(kernel.max_group) {
        return refuse(format!(
            "`--group {}` has {size} work-items, and the kernel allows {}",
            listed(group),
            kernel.max_group
        ));
    }
    Ok((extent(grid, "--grid")?, group))
}

/// Returns the global offset of a launch, which is zero by default. It is an error to give an offset for a
/// kernel that does not use it.
pub fn offset(kernel: &KernelInfo, given: &[u64]) -> Result<[u64; 3], Failure> {
    let mut out = [0; 3];
    let refuse = |why: &str| Err(Failure::Usage(format!("{}: {why}", kernel.name)));
    if given.len() > out.len() {
        return refuse("`--offset` takes one to three numbers");
    }
    let is_read =
        |kind: &sim::ArgKind| matches!(kind, sim::ArgKind::Hidden(name) if name == "global_offset_x");
    if !given.is_empty() && !kernel.args.iter().any(|arg| is_read(&arg.kind)) {
        return refuse(
            "the kernel has no hidden argument for `--offset`; sources are compiled so that `global_id` reads \
             the offset with `--lang opencl`",
        );
    }
    out[..given.len()].copy_from_slice(given);
    Ok(out)
}

fn listed(sizes: [u32; 3]) -> String {
    sizes.map(|size| size.to_string()).join(",")
}

fn extent(given: &[u32], option: &str) -> Result<[u32; 3], Failure> {
    let mut out = [1; 3];
    if given.is_empty() || given.len() > 3 || given.contains(&0) {
        return Err(Failure::Usage(format!("`{option}` takes one to three numbers above 0")));
    }
    out[..given.len()].copy_from_slice(given);
    Ok(out)
}

impl Run {
    /// Returns the contents of the buffers after the run, in the order of the arguments, or the failure if
    /// the run ended with a fault.
    pub fn finished(self, teller: &ReportRenderer) -> Result<Vec<sim::Buffer>, Failure> {
        self.stats.map_err(|fault| stopped(&fault, teller))?;
        let read = |at| self.placed.read(&self.device, at).map_err(failure).transpose();
        (0..self.placed.arguments()).filter_map(read).collect()
    }
}

/// Prints the output of the kernel, and the position of a debug trap if the run has executed one.
pub fn spoken(device: &mut Device, teller: &ReportRenderer) {
    out!("{}", device.take_printed());
    if let Some(at) = device.debug_trap() {
        complain(&teller.debug_trap(at));
    }
}

/// Converts a fault of the device to a failure.
pub fn failure(fault: Fault) -> Failure {
    Failure::Fault(format!("fault: {fault}\n"))
}

/// Converts the fault that ended a dispatch to a failure.
pub fn stopped(fault: &Fault, teller: &ReportRenderer) -> Failure {
    let text = teller.fault(fault);
    match fault {
        Fault::Found(_) => Failure::Found(text),
        _ => Failure::Fault(text),
    }
}

/// Returns the emulator mode that the user asks for. Without such a request, returns the mode that suits the
/// other options.
pub fn mode(args: &RunArgs, policy: &Policy) -> Result<Mode, Failure> {
    // Findings that do not count must not end the run.
    let strict = Mode::Strict { keep_going: args.keep_going || policy.has_exceptions() };
    match (args.mode.as_deref(), args.observe.is_active()) {
        (Some("fast"), _) => Ok(Mode::Fast),
        (Some("weak"), false) => Ok(Mode::Weak { seed: args.schedule.seed() }),
        (None, true) if !args.keep_going => Ok(Mode::Fast),
        (_, true) => {
            let why = "strict and weak mode do not go together with `--profile`, `--trace`, `--coverage` and `--idle-waits`";
            Err(Failure::Usage(why.to_owned()))
        }
        (_, false) => Ok(strict),
    }
}

/// Returns the findings of strict mode that count.
pub fn counting<'a>(
    loaded: &Loaded,
    kernel: &KernelInfo,
    reports: &'a [sim::Report],
    policy: &Policy,
) -> impl Iterator<Item = &'a sim::Report> {
    reports.iter().filter(|report| {
        let at = &report.at;
        let symbol = Some((at.kernel.as_str(), at.offset.saturating_sub(kernel.entry)));
        let location = FindingLocation { object: &loaded.file, symbol, source: at.source.as_ref() };
        policy.judge(&report.rule, report.level, &location) == Verdict::Counts
    })
}

/// Returns one finding for each rule and source line, with the number of further findings of that rule at
/// that line. An unrolled loop can have many equal findings.
pub fn by_line<'a>(reports: impl Iterator<Item = &'a sim::Report>) -> Vec<sim::Report> {
    let mut groups: Vec<(&sim::Report, usize)> = Vec::new();
    let mut places: HashMap<_, usize> = HashMap::new();
    for report in reports {
        match places.entry(lines(report)) {
            Entry::Occupied(at) => groups[*at.get()].1 += 1,
            Entry::Vacant(at) => {
                at.insert(groups.len());
                groups.push((report, 0));
            }
        }
    }
    let one = |(report, more): (&sim::Report, usize)| {
        let mut report = report.clone();
        if more > 0 {
            let what = if more == 1 { "place" } else { "places" };
            report.notes.push(format!("the same at {more} more {what} in the code of these lines"));
        }
        report
    };
    groups.into_iter().map(one).collect()
}

/// How findings are grouped: by file and line, or by the address in the code if there is no source position.
type Line<'a> = Result<(&'a str, u32), u64>;

/// Returns the rule and the source lines of a finding.
fn lines(report: &sim::Report) -> (&str, Line<'_>, Option<Line<'_>>) {
    (&report.rule, line(&report.at), report.other.as_ref().map(|(at, _)| line(at)))
}

fn line(at: &sim::Location) -> Line<'_> {
    at.source.as_ref().map(|source| (source.file.as_str(), source.line)).ok_or(at.offset)
}

/// Reports the findings of strict mode.
pub fn found(
    args: &RunArgs,
    loaded: &Loaded,
    kernel: &KernelInfo,
    reports: &[sim::Report],
    policy: &Policy,
) -> Result<(), Failure> {
    let teller = &loaded.teller;
    let reports = counting(loaded, kernel, reports, policy);
    let reports = if args.isa { reports.cloned().collect() } else { by_line(reports) };
    let Some(first) = reports.first() else { return Ok(()) };
    if !args.keep_going {
        return Err(Failure::Found(teller.report(first)));
    }
    let mut text: String = reports.iter().map(|report| teller.report(report) + "\n").collect();
    let plural = if reports.len() == 1 { "" } else { "s" };
    text.push_str(&format!("{} finding{plural}\n", reports.len()));
    Err(Failure::Found(text))
}
