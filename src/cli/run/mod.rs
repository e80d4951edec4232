//! `kernc run FILE`: a kernel in the emulator. FILE is a source text or a code object, ours or another compiler's.

mod arguments;
mod list;
mod load;
mod shown;

use super::observe::ObserveArgs;
use super::rules::{Policy, RulesArgs, Spot, Verdict};
use super::schedules::WeakArgs;
use super::told::Teller;
use super::{CommonArgs, Failure, complain};
use arguments::Texts;
use clap::Args;
use kernc::sim::{self, Device, Placed};
use load::Loaded;
use shown::Shown;
use std::path::PathBuf;

/// What arguments may be.
const FORMS: &str = "\
Buffers:
  iota:COUNT, fill:COUNT:VALUE, random:SEED:COUNT, zeros:COUNT, [1, 2, 3]   each with an optional :TYPE
  @FILE.npy        numbers of the parameter's type (`--cast` converts others)
  @FILE:TYPE       raw numbers
Values:
  1.5  0x10  -2    numbers; 1.5f32 or 7i64 where the object does not tell the type
  1,2,3,4          the elements of a vector
  {rx: 1.0, ry: 2.0}   a struct, by names or in order; {1.0f32, 3u32} where the object does not tell the fields
  @FILE            the bytes of a value
Dynamic shared memory:
  lds:BYTES        for a pointer to it
Negative values that are no plain numbers stand behind `--`, or in `--arg NAME=VALUE`.";

#[derive(Args)]
#[command(after_help = FORMS)]
pub struct RunArgs {
    /// Kernel source, IR (`.kir`), machine IR (`.mir`) or code object.
    file: PathBuf,
    /// Arguments in the order of the signature.
    #[arg(value_name = "ARGUMENT", allow_negative_numbers = true)]
    positional: Vec<String>,
    /// List the kernels of the file with their parameters, and run nothing.
    #[arg(long)]
    list: bool,
    /// Kernel to run (default: the only one).
    #[arg(long)]
    kernel: Option<String>,
    /// Work-items: X, X,Y or X,Y,Z.
    #[arg(long, value_name = "X[,Y[,Z]]", value_delimiter = ',', required_unless_present = "list")]
    grid: Vec<u32>,
    /// Work-items of a group (default: what the kernel requires, else 64).
    #[arg(long, value_name = "X[,Y[,Z]]", value_delimiter = ',')]
    group: Vec<u32>,
    /// An argument by name, or by its position counted from 0.
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    named: Vec<String>,
    /// Bytes of dynamic LDS, for a `shared dyn` variable of the kernel's body.
    #[arg(long, value_name = "BYTES")]
    dynamic_lds: Option<u32>,
    /// Convert numbers of files that are of another type than the parameter's.
    #[arg(long)]
    cast: bool,
    /// Print a buffer, by its name or position, when the kernel has ended.
    #[arg(long, value_name = "NAME")]
    print: Vec<String>,
    /// Write a buffer to a .npy file when the kernel has ended.
    #[arg(long, value_name = "NAME=FILE")]
    out: Vec<String>,
    /// Host threads (default: all processors).
    #[arg(long)]
    threads: Option<usize>,
    /// Stop after this many wave instructions.
    #[arg(long, value_name = "COUNT")]
    max_instructions: Option<u64>,
    /// What to look for: `strict` finds missing waits, hazards, races, stale caches and uninitialised data; `weak` lets
    /// caches go stale and memory operations complete out of order; `fast` runs as if everything were in order.
    /// Default: `strict`; with `--profile`, `--trace`, `--coverage` or `--idle-waits`: `fast`.
    #[arg(long, value_name = "strict|weak|fast", value_parser = ["strict", "weak", "fast"])]
    mode: Option<String>,
    #[command(flatten)]
    weak: WeakArgs,
    /// In strict mode: list everything that is found instead of stopping at the first.
    #[arg(long)]
    keep_going: bool,
    /// Show instructions where something is found, not the source.
    #[arg(long)]
    isa: bool,
    /// Print what was executed.
    #[arg(long)]
    stats: bool,
    #[command(flatten)]
    rules: RulesArgs,
    #[command(flatten)]
    observe: ObserveArgs,
    #[command(flatten)]
    common: CommonArgs,
}

/// Runs the command.
pub fn run(args: &RunArgs) -> Result<(), Failure> {
    let loaded = Loaded::new(&args.file, args)?;
    if args.list {
        list::print(&loaded);
        return Ok(());
    }
    let launch = Launch::new(args, &loaded)?;
    let policy = args.rules.policy()?;
    let mode = mode(args, &policy)?;
    let shown = Shown::new(args, launch.kernel, &launch.values)?;
    args.observe.check()?;
    let teller = &loaded.teller;
    args.weak.explore(mode, |mode| launch.run(args, mode)?.finished(teller))?;

    let Run { mut device, placed, stats } = launch.run(args, mode)?;
    out!("{}", device.take_printed());
    args.observe.report(&device, launch.kernel, &loaded.object)?;
    let stats = stats.map_err(|fault| stopped(&fault, teller))?;

    shown.show(launch.kernel, &device, &placed)?;
    if args.stats || args.observe.profile() {
        print_stats(&stats);
    }
    found(args, launch.kernel.entry, device.reports(), &policy, teller)
}

/// A dispatch that has ended, well or not, on a device of its own.
struct Run {
    device: Device,
    placed: Placed,
    stats: Result<sim::RunStats, sim::Fault>,
}

/// A kernel and what it is launched with.
struct Launch<'a> {
    object: &'a sim::CodeObject,
    kernel: &'a sim::KernelInfo,
    values: Vec<sim::ArgValue>,
    dynamic_lds: u32,
    grid: [u32; 3],
    group: [u32; 3],
}

impl<'a> Launch<'a> {
    fn new(args: &RunArgs, loaded: &'a Loaded) -> Result<Launch<'a>, Failure> {
        let kernel = loaded.kernel(args.kernel.as_deref())?;
        let (values, dynamic_lds) = Texts::new(args)?.bind(loaded, kernel)?;
        let grid = extent(&args.grid, "--grid")?;
        let group = match (args.group.as_slice(), kernel.reqd_group) {
            ([], Some(required)) => required,
            ([], None) => [64, 1, 1],
            (given, _) => extent(given, "--group")?,
        };
        Ok(Launch { object: &loaded.object, kernel, values, dynamic_lds, grid, group })
    }

    /// Runs it on a device of its own.
    fn run(&self, args: &RunArgs, mode: sim::Mode) -> Result<Run, Failure> {
        let mut device = args.threads.map_or_else(Device::new, Device::with_threads);
        device.set_mode(mode);
        device.set_level(args.rules.lowest());
        let module = device.load(self.object).map_err(failure)?;
        let placed = Placed::new(&mut device, self.kernel, &self.values).map_err(failure)?;
        let mut limits = sim::Limits::default();
        if let Some(count) = args.max_instructions {
            limits.instructions = count;
        }
        let dispatch = sim::Dispatch {
            kernel: &self.kernel.name,
            grid: self.grid,
            group: self.group,
            kernarg: placed.kernarg.clone(),
            dynamic_lds: placed.dynamic_lds.max(self.dynamic_lds),
            limits,
            observe: args.observe.observe()?,
            ..sim::Dispatch::default()
        };
        let stats = device.run(module, &dispatch);
        Ok(Run { device, placed, stats })
    }
}

impl Run {
    /// The buffers that it has left, in the order of the arguments.
    fn finished(self, teller: &Teller) -> Result<Vec<sim::Buffer>, Failure> {
        self.stats.map_err(|fault| stopped(&fault, teller))?;
        let read = |at| self.placed.read(&self.device, at).map_err(failure).transpose();
        (0..self.placed.arguments()).filter_map(read).collect()
    }
}

/// What the device does not do.
fn failure(fault: sim::Fault) -> Failure {
    Failure::Fault(format!("fault: {fault}\n"))
}

/// A dispatch that did not end well.
fn stopped(fault: &sim::Fault, teller: &Teller) -> Failure {
    let text = teller.fault(fault);
    match fault {
        sim::Fault::Found(_) => Failure::Found(text),
        _ => Failure::Fault(text),
    }
}

/// The mode that was asked for, or the one that fits what else was.
fn mode(args: &RunArgs, policy: &Policy) -> Result<sim::Mode, Failure> {
    // What does not count must not end the run.
    let strict = sim::Mode::Strict { keep_going: args.keep_going || policy.has_exceptions() };
    match (args.mode.as_deref(), args.observe.is_active()) {
        (Some("fast"), _) => Ok(sim::Mode::Fast),
        (Some("weak"), false) => Ok(sim::Mode::Weak { seed: args.weak.seed() }),
        (None, true) if !args.keep_going => Ok(sim::Mode::Fast),
        (_, true) => {
            let why = "strict and weak mode do not go together with `--profile`, `--trace`, `--coverage` and `--idle-waits`";
            Err(Failure::Usage(why.to_owned()))
        }
        (_, false) => Ok(strict),
    }
}

/// What strict mode has listed.
fn found(
    args: &RunArgs,
    entry: u64,
    reports: &[sim::Report],
    policy: &Policy,
    teller: &Teller,
) -> Result<(), Failure> {
    let counts = |report: &&sim::Report| {
        let at = &report.at;
        let symbol = Some((at.kernel.as_str(), at.offset.saturating_sub(entry)));
        let spot = Spot { object: &args.file, symbol, source: at.source.as_ref() };
        policy.judge(&report.rule, &spot) == Verdict::Counts
    };
    let reports: Vec<&sim::Report> = reports.iter().filter(counts).collect();
    complain(&policy.unused(&args.file));
    let Some(first) = reports.first() else { return Ok(()) };
    if !args.keep_going {
        return Err(Failure::Found(teller.report(first)));
    }
    let mut text: String = reports.iter().map(|report| teller.report(report) + "\n").collect();
    let plural = if reports.len() == 1 { "" } else { "s" };
    text.push_str(&format!("{} finding{plural}\n", reports.len()));
    Err(Failure::Found(text))
}

fn split(text: &str, option: &str, form: &str) -> Result<(String, String), Failure> {
    match text.split_once('=') {
        Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
        None => Err(Failure::Usage(format!("`{option} {text}` is not of the form {form}"))),
    }
}

fn extent(given: &[u32], option: &str) -> Result<[u32; 3], Failure> {
    let mut out = [1; 3];
    if given.is_empty() || given.len() > 3 || given.contains(&0) {
        return Err(Failure::Usage(format!("`{option}` takes one to three numbers above 0")));
    }
    out[..given.len()].copy_from_slice(given);
    Ok(out)
}

fn print_stats(stats: &sim::RunStats) {
    outln!("{} groups, {} waves, {} wave instructions", stats.groups, stats.waves, stats.instructions);
    outln!(
        "SALU {}, VALU {}, SMEM {}, VMEM {}, LDS {}, flow {}",
        stats.salu,
        stats.valu,
        stats.smem,
        stats.vmem,
        stats.lds,
        stats.flow
    );
}
