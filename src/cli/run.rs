//! `kernc run FILE`: a kernel in the emulator. FILE is a source text or a code object, ours or another compiler's.

use super::observe::ObserveArgs;
use super::schedules::WeakArgs;
use super::told::Teller;
use super::{CommonArgs, Failure, read, write};
use clap::Args;
use kernc::sim::{self, Device, Placed};
use std::path::{Path, PathBuf};

#[derive(Args)]
#[command(
    after_help = "Buffers: iota:COUNT, fill:COUNT:VALUE, random:SEED:COUNT, zeros:COUNT, each with an optional \
                        :TYPE, or @FILE.npy. Dynamic shared memory: lds:BYTES."
)]
pub struct RunArgs {
    /// Kernel source, IR (`.kir`), machine IR (`.mir`) or code object.
    file: PathBuf,
    /// Arguments in the order of the signature.
    positional: Vec<String>,
    /// Kernel to run (default: the only one).
    #[arg(long)]
    kernel: Option<String>,
    /// Work-items: X, X,Y or X,Y,Z.
    #[arg(long, value_name = "X[,Y[,Z]]", value_delimiter = ',', required = true)]
    grid: Vec<u32>,
    /// Work-items of a group (default: what the kernel requires, else 64).
    #[arg(long, value_name = "X[,Y[,Z]]", value_delimiter = ',')]
    group: Vec<u32>,
    /// An argument by name, or by its position counted from 0.
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    named: Vec<String>,
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
    observe: ObserveArgs,
    #[command(flatten)]
    common: CommonArgs,
}

/// Runs the command.
pub fn run(args: &RunArgs) -> Result<(), Failure> {
    let (object, teller) = load(args)?;
    let kernel = choose(&object, args.kernel.as_deref())?;
    let named = args.named.iter().map(|arg| split(arg, "--arg", "NAME=VALUE"));
    let named = named.collect::<Result<Vec<_>, _>>()?;
    let values = sim::args::bind(kernel, &named, &args.positional)
        .map_err(|why| unreadable(args).unwrap_or(Failure::Usage(why)))?;
    let mode = mode(args)?;
    let shown = Shown::new(args, kernel, &values)?;
    args.weak.explore(mode, |mode| finished(Run::new(args, &object, kernel, &values, mode)?, &teller))?;

    let Run { mut device, placed, stats } = Run::new(args, &object, kernel, &values, mode)?;
    out!("{}", device.take_printed());
    args.observe.report(&device, kernel, &object)?;
    let stats = stats.map_err(|fault| stopped(&fault, &teller))?;

    shown.show(&device, &placed)?;
    if args.stats || args.observe.profile() {
        print_stats(&stats);
    }
    found(device.reports(), &teller)
}

/// The buffers that are to be shown when the kernel has ended, by the positions of their arguments.
struct Shown {
    print: Vec<(String, usize)>,
    out: Vec<(String, usize)>,
}

impl Shown {
    fn new(args: &RunArgs, kernel: &sim::KernelInfo, values: &[sim::ArgValue]) -> Result<Shown, Failure> {
        let position = |name: &str| {
            let at = sim::args::position(kernel, name).map_err(Failure::Usage)?;
            match values.get(at) {
                Some(sim::ArgValue::Buffer(_)) => Ok(at),
                _ => Err(Failure::Usage(format!("argument `{name}` is not a buffer"))),
            }
        };
        let print = args.print.iter().map(|name| Ok((name.clone(), position(name)?)));
        let out = args.out.iter().map(|out| {
            let (name, file) = split(out, "--out", "NAME=FILE")?;
            Ok((file, position(&name)?))
        });
        Ok(Shown { print: print.collect::<Result<_, _>>()?, out: out.collect::<Result<_, _>>()? })
    }

    fn show(&self, device: &Device, placed: &Placed) -> Result<(), Failure> {
        // All of them are buffers: `new` has looked.
        let buffer = |at| placed.read(device, at).map_err(failure);
        for (name, at) in &self.print {
            if let Some(buffer) = buffer(*at)? {
                outln!("{name}: {buffer}");
            }
        }
        for (file, at) in &self.out {
            let Some(buffer) = buffer(*at)? else { continue };
            let bytes = sim::write_npy(&buffer);
            let bytes = bytes.map_err(|error| Failure::File(format!("{file}: {error}")))?;
            write(Path::new(file), &bytes)?;
        }
        Ok(())
    }
}

/// The first array among the arguments that cannot be read.
fn unreadable(args: &RunArgs) -> Option<Failure> {
    let named = args.named.iter().filter_map(|arg| Some(arg.split_once('=')?.1));
    let files =
        args.positional.iter().map(String::as_str).chain(named).filter_map(|text| text.strip_prefix('@'));
    let failure = |file: &str| match read(Path::new(file)) {
        Ok(bytes) => sim::read_npy(&bytes).err().map(|error| Failure::File(format!("{file}: {error}"))),
        Err(failure) => Some(failure),
    };
    files.into_iter().find_map(failure)
}

/// A dispatch that has ended, well or not, on a device of its own.
struct Run {
    device: Device,
    placed: Placed,
    stats: Result<sim::RunStats, sim::Fault>,
}

impl Run {
    fn new(
        args: &RunArgs,
        object: &sim::CodeObject,
        kernel: &sim::KernelInfo,
        values: &[sim::ArgValue],
        mode: sim::Mode,
    ) -> Result<Run, Failure> {
        let mut device = args.threads.map_or_else(Device::new, Device::with_threads);
        device.set_mode(mode);
        let module = device.load(object).map_err(failure)?;
        let placed = Placed::new(&mut device, kernel, values).map_err(failure)?;
        let group = match (args.group.as_slice(), kernel.reqd_group) {
            ([], Some(required)) => required,
            ([], None) => [64, 1, 1],
            (given, _) => extent(given, "--group")?,
        };
        let mut limits = sim::Limits::default();
        if let Some(count) = args.max_instructions {
            limits.instructions = count;
        }
        let dispatch = sim::Dispatch {
            kernel: &kernel.name,
            grid: extent(&args.grid, "--grid")?,
            group,
            kernarg: placed.kernarg.clone(),
            dynamic_lds: placed.dynamic_lds,
            limits,
            observe: args.observe.observe()?,
            ..sim::Dispatch::default()
        };
        let stats = device.run(module, &dispatch);
        Ok(Run { device, placed, stats })
    }
}

/// The buffers that a run has left, in the order of the arguments.
fn finished(run: Run, teller: &Teller) -> Result<Vec<sim::Buffer>, Failure> {
    run.stats.map_err(|fault| stopped(&fault, teller))?;
    let read = |at| run.placed.read(&run.device, at).map_err(failure).transpose();
    (0..run.placed.arguments()).filter_map(read).collect()
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
fn mode(args: &RunArgs) -> Result<sim::Mode, Failure> {
    let strict = sim::Mode::Strict { keep_going: args.keep_going };
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
fn found(reports: &[sim::Report], teller: &Teller) -> Result<(), Failure> {
    if reports.is_empty() {
        return Ok(());
    }
    let mut text: String = reports.iter().map(|report| teller.report(report) + "\n").collect();
    let plural = if reports.len() == 1 { "" } else { "s" };
    text.push_str(&format!("{} finding{plural}\n", reports.len()));
    Err(Failure::Found(text))
}

/// A code object as it is, or made from source.
fn load(args: &RunArgs) -> Result<(sim::CodeObject, Teller), Failure> {
    let bytes = read(&args.file)?;
    let name = args.file.display();
    let parse = |bytes: &[u8]| {
        sim::CodeObject::load(bytes).map_err(|error| Failure::File(format!("{name}: {error}")))
    };
    if bytes.starts_with(b"\x7fELF") {
        return Ok((parse(&bytes)?, Teller::new(&args.file, None, args.isa)));
    }
    let target = args.common.target.subtarget()?;
    let options = args.common.options(&args.file)?;
    let source = String::from_utf8(bytes)
        .map_err(|_| Failure::File(format!("{name} is neither a code object nor UTF-8 text")))?;
    let range = args.common.passes(&args.file, &options)?;
    let program = kernc::Compiler::new(target)
        .compile_passes(&source, &range, &options, &mut ())
        .map_err(|error| args.common.failure(&error))?;
    match program {
        kernc::Program::Object(object) => {
            Ok((parse(object.bytes())?, Teller::new(&args.file, Some(&source), args.isa)))
        }
        _ => Err(Failure::Usage("`--stop-after` leaves nothing to run".to_owned())),
    }
}

fn choose<'a>(object: &'a sim::CodeObject, name: Option<&str>) -> Result<&'a sim::KernelInfo, Failure> {
    let names = || object.kernels().iter().map(|kernel| kernel.name.as_str()).collect::<Vec<_>>().join(", ");
    match (name, object.kernels()) {
        (Some(name), _) => object
            .kernel(name)
            .ok_or_else(|| Failure::Usage(format!("no kernel `{name}`; the object has: {}", names()))),
        (None, [only]) => Ok(only),
        (None, []) => Err(Failure::Usage("the object has no kernel".to_owned())),
        (None, _) => Err(Failure::Usage(format!("choose a kernel with `--kernel`: {}", names()))),
    }
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
