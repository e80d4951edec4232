//! `kernc run FILE`: runs a kernel in the emulator. FILE is a source text or a code object of kernc or of
//! another compiler.

mod arguments;
mod compare;
pub mod debug;
mod expect;
mod launch;
mod list;
mod load;
mod output_buffers;
mod progress;
mod script;

use super::container::EntryArgs;
use super::observe::ObserveArgs;
use super::rules::{Policy, RulesArgs};
use super::schedules::ScheduleArgs;
use super::{CommonArgs, Failure, check, check_output, complain, page};
use arguments::Texts;
use clap::Args;
use expect::Expected;
use kernc::sim::{self, Mode};
use launch::{Launch, Run, by_line, counting, failure, found, mode, spoken, stopped};
use load::Loaded;
use output_buffers::Shown;
use std::path::{Path, PathBuf};

/// Help text about the forms of arguments.
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

#[derive(Args, Clone)]
#[command(after_help = FORMS)]
pub struct RunArgs {
    /// Whether the program will be debugged. A source is then compiled with all debug information.
    #[arg(skip)]
    is_debugged: bool,
    /// The program: kernel source, IR (`.kir`), machine IR (`.mir`), a code object, or a file with several
    /// code objects (offload bundle, archive, host program or library).
    #[arg(required_unless_present = "script")]
    file: Option<PathBuf>,
    #[command(flatten)]
    entry: EntryArgs,
    /// Arguments in the order of the signature.
    #[arg(value_name = "ARGUMENT", allow_negative_numbers = true)]
    positional: Vec<String>,
    /// List the kernels of the file with their parameters, and run none of them.
    #[arg(long)]
    list: bool,
    /// Kernel to run (default: the only one).
    #[arg(long)]
    kernel: Option<String>,
    /// Number of work-items in each dimension: X, X,Y or X,Y,Z.
    #[arg(long, value_name = "X[,Y[,Z]]", value_delimiter = ',', required_unless_present_any = ["list", "script"])]
    grid: Vec<u32>,
    /// Work-items of a group (default: what the kernel requires, else 64).
    #[arg(long, value_name = "X[,Y[,Z]]", value_delimiter = ',')]
    group: Vec<u32>,
    /// Number of the first work-item, as OpenCL's global work offset. In kernels for `--lang opencl`,
    /// `global_id` counts from this number, and so does `get_global_id` in kernels of other compilers.
    #[arg(long, value_name = "X[,Y[,Z]]", value_delimiter = ',')]
    offset: Vec<u64>,
    /// An argument by name, or by its position counted from 0.
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    named: Vec<String>,
    /// Types of the kernel's parameters, if the object does not say them: `src: *const f32, n: u32`.
    // The id is `parameters` because the option `-P` has the id `params`.
    #[arg(id = "parameters", long = "params", value_name = "NAME: TYPE, ...", conflicts_with_all = ["compare", "script"])]
    params: Option<String>,
    /// Bytes of dynamic LDS, for a `shared dyn` variable of the kernel's body.
    #[arg(long, value_name = "BYTES")]
    dynamic_lds: Option<u32>,
    /// Bytes of stack that each work-item gets in addition to what the kernel's descriptor asks for.
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    stack: u32,
    /// Convert the numbers of files whose type is not that of the parameter.
    #[arg(long)]
    cast: bool,
    /// Print a buffer when the kernel has ended. The buffer is given by the name or position of its argument.
    #[arg(long, value_name = "NAME")]
    print: Vec<String>,
    /// Write a buffer to a .npy file when the kernel has ended.
    #[arg(long, value_name = "NAME=FILE")]
    out: Vec<String>,
    /// Compare a buffer with expected contents. A difference of RTOL * |expected| + ATOL is allowed (default:
    /// none).
    #[arg(long, value_name = "NAME=CONTENTS[:RTOL[:ATOL]]")]
    expect: Vec<String>,
    /// Run another object or source with the same arguments, and compare the buffers, the instructions and
    /// the estimated cycles. Runs in fast mode.
    #[arg(long, value_name = "FILE[:RTOL[:ATOL]]", conflicts_with_all = ["list", "script"])]
    compare: Option<String>,
    /// Run the dispatches that a TOML file lists, on buffers that they share.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["file", "positional", "list", "kernel", "grid", "group", "offset", "named", "dynamic_lds", "print", "out", "expect"])]
    script: Option<PathBuf>,
    /// Host threads (default: all processors).
    #[arg(long)]
    threads: Option<usize>,
    /// Stop after this many wave instructions, and say where the kernel hangs. By default, 50 million in
    /// strict and weak mode and 200 million in fast mode, which take some seconds.
    #[arg(long, value_name = "COUNT")]
    max_instructions: Option<u64>,
    /// Mode of the emulator: `strict` finds missing waits, hazards, races, stale caches and uninitialised
    /// data; `weak` lets caches go stale and memory operations complete out of order; `fast` runs everything
    /// in order, without checks. Default: `strict`; with `--profile`, `--trace`, `--coverage` or
    /// `--idle-waits`: `fast`.
    #[arg(long, value_name = "strict|weak|fast", value_parser = ["strict", "weak", "fast"])]
    mode: Option<String>,
    #[command(flatten)]
    schedule: ScheduleArgs,
    /// In strict mode, list all findings instead of stopping at the first one.
    #[arg(long)]
    keep_going: bool,
    /// Show instructions instead of source lines where something is found.
    #[arg(long)]
    isa: bool,
    /// Write an HTML page with the source beside the assembly, the reasons of waits, register pressure,
    /// occupancy and findings. With `--profile` or `--coverage`, the page also shows how often code was
    /// executed.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["list", "script", "compare"])]
    html: Option<PathBuf>,
    /// Print how many waves and instructions were executed, and other counts.
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
    if let Some(script) = &args.script {
        return script::run(script, args);
    }
    // clap requires a file if there is no script.
    let Some(file) = &args.file else { return Ok(()) };
    let loaded = Loaded::new(file, args)?;
    if args.list {
        list::print(&loaded);
        return Ok(());
    }
    let texts = Texts::new(args)?;
    let launch = Launch::new(args, &loaded, &texts)?;
    match &args.compare {
        Some(other) => compare::run(args, (&loaded, &launch), other, &texts),
        None => run_one(args, &loaded, &launch),
    }
}

/// Runs a kernel and prints its results.
fn run_one(args: &RunArgs, loaded: &Loaded, launch: &Launch<'_>) -> Result<(), Failure> {
    let policy = args.rules.policy()?;
    let mode = mode(args, &policy)?;
    let shown = Shown::new(args, launch.kernel, &launch.values)?;
    args.observe.check()?;
    args.html.as_deref().map_or(Ok(()), check_output)?;
    let observe = args.observe.observe()?;
    let expected = expected(args, launch)?;
    let teller = &loaded.teller;
    args.schedule.explore(mode, |mode, schedule| {
        let run = launch.run(&RunArgs { schedule, ..args.clone() }, mode, &observe)?;
        found(args, loaded, launch.kernel, run.device.reports(), &policy)?;
        if matches!(mode, Mode::Strict { .. }) && run.stats.is_ok() {
            expect::check_all(&expected, &run.device, &run.placed)?;
        }
        run.finished(teller)
    })?;

    let Run { mut device, placed, stats } = launch.run(args, mode, &observe)?;
    spoken(&mut device, teller);
    if let Some(html) = &args.html {
        save_page(html, args, (loaded, launch.kernel), &device, stats.as_ref().err(), &policy)?;
    }
    args.observe.report(&device, launch.kernel, &loaded.object, teller)?;
    let stats = stats.map_err(|fault| stopped(&fault, teller))?;

    shown.show(launch.kernel, &device, &placed)?;
    if args.stats || args.observe.profile() {
        print_stats(&stats);
    }
    let found = found(args, loaded, launch.kernel, device.reports(), &policy);
    complain(&policy.unused(&loaded.file));
    found?;
    expect::check_all(&expected, &device, &placed)
}

/// Returns the expectations of the `--expect` options.
fn expected(args: &RunArgs, launch: &Launch<'_>) -> Result<Vec<Expected>, Failure> {
    let new = |option: &String| {
        Expected::new(option, launch.kernel, &launch.values, arguments::conversion(args.cast))
    };
    args.expect.iter().map(new).collect()
}

/// Writes the HTML page of a run.
fn save_page(
    html: &Path,
    args: &RunArgs,
    (loaded, kernel): (&Loaded, &sim::KernelInfo),
    device: &sim::Device,
    fault: Option<&sim::Fault>,
    policy: &Policy,
) -> Result<(), Failure> {
    let mut findings: Vec<page::Finding> =
        by_line(counting(loaded, kernel, device.reports(), policy)).iter().map(page::of_report).collect();
    // If a finding ended the run, the device's reports already contain it. Only other faults are added.
    findings.extend(fault.filter(|fault| !matches!(fault, sim::Fault::Found(_))).map(page::of_fault));
    findings.extend(check::findings(&loaded.bytes, &loaded.file, policy));
    let content = page::Content {
        command: "run",
        file: &loaded.file,
        object: &loaded.bytes,
        target: None,
        teller: &loaded.teller,
        reasons: &loaded.reasons,
        kernel: Some(&kernel.name),
        profile: args.observe.counts().then(|| (device.profile(), kernel)),
        findings,
        flows: &loaded.flows,
    };
    page::save(html, content)
}

fn split(text: &str, option: &str, form: &str) -> Result<(String, String), Failure> {
    match text.split_once('=') {
        Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
        None => Err(Failure::Usage(format!("`{option} {text}` is not of the form {form}"))),
    }
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
