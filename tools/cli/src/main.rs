//! Command line of kernc.
//!
//! The exit codes are: 0, success; 1, the source has errors; 2, the command line is wrong; 3, a file cannot
//! be read, written or understood; 4, the emulated kernel stopped with a fault; 5, an internal error of
//! kernc; 6, `kernc check`, or `kernc run` in strict mode, has findings; 7, a test of `kernc test` does not
//! pass, or buffers of `kernc run` have other contents than expected.

/// Prints like `print!`, but does not panic if standard output is closed.
macro_rules! out {
    ($($text:tt)*) => { $crate::output::print(format_args!($($text)*)) };
}

/// Prints like `println!`, but does not panic if standard output is closed.
macro_rules! outln {
    ($($text:tt)*) => { $crate::output::print(format_args!("{}\n", format_args!($($text)*))) };
}

mod abi;
mod assemble;
mod capture;
mod check;
mod compile;
mod container;
mod disasm;
mod doc;
mod features;
mod idle_waits;
mod inspect;
mod link;
mod litmus;
mod modes;
mod observe;
mod older_drivers;
mod output;
mod page;
mod report;
mod report_renderer;
mod rules;
mod run;
mod schedules;
mod source;
mod sources;
mod state;
mod targets;
mod test;
mod usage_errors;
mod watch;

use clap::{Args, Parser, Subcommand, ValueEnum};
use kernc::{DebugInfo, Dialect, Dwarf, DwarfVersion, Language, OptLevel, PassRange, Printf};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

pub use output::finish;
use output::{check_output, write};

/// Compiles GPU kernels to AMD GPU code objects, and runs them without a GPU.
#[derive(Parser)]
#[command(
    name = "kernc",
    version,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    arg_required_else_help = true
)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    compile: CompileArgs,
}

#[derive(Subcommand)]
// The options of a command are built only when that command is used. Building the options of all commands
// takes longer than compiling a small kernel.
#[command(defer = true)]
enum Command {
    /// Run a kernel in the emulator.
    Run(Box<run::RunArgs>),
    /// Debug a kernel in the emulator: breakpoints, steps by line and by lane, variables, steps backwards.
    Debug(Box<run::debug::DebugArgs>),
    /// Print the code of a code object as assembly.
    Disasm(disasm::DisasmArgs),
    /// Show the contents of a code object: header, notes, metadata, kernel descriptors, symbols.
    Inspect(inspect::InspectArgs),
    /// Find missing waits and hazards in the code of a code object, without running it.
    Check(check::CheckArgs),
    /// Explore litmus tests of the memory model in every schedule.
    Litmus(litmus::LitmusArgs),
    /// Assemble a source in LLVM's syntax.
    As(assemble::AsArgs),
    /// Link relocatable objects and archives to a code object.
    Link(link::LinkArgs),
    /// Show where a function has its arguments and its result, and what a call preserves.
    Abi(Box<abi::AbiArgs>),
    /// Run text tests: files that contain commands and their expected output.
    Test(test::TestArgs),
    /// List the items of a source with their `///` comments.
    Doc(doc::DocArgs),
    /// List the processors, and what kernc supports for each of them.
    Targets,
    /// Explain a diagnostic code or a rule, like `kernc explain E0012` or `kernc explain read-in-flight`.
    Explain {
        /// The code, or the name of the rule.
        code: String,
    },
}

// Options of the compiler that `kernc FILE` and `kernc run FILE` share. This is not a doc comment because
// clap would use it as the help text of the command.
#[derive(Args, Clone)]
pub(crate) struct CommonArgs {
    #[command(flatten)]
    target: modes::TargetArgs,
    /// Language that the metadata names. With `opencl`, atomics below seq_cst order accesses to one address
    /// space only, and `global_id` counts from the global offset of the dispatch.
    #[arg(long, value_name = "LANGUAGE", default_value = "kernc", value_parser = ["kernc", "opencl", "hip", "hcc"])]
    lang: String,
    /// Calling convention of functions: `today` is what LLVM 19 does, `llvm14` what LLVM 14 does, `guide`
    /// what LLVM's AMDGPU guide says.
    #[arg(long, value_name = "CONVENTION", default_value = "today", value_parser = abi::CONVENTIONS)]
    call_abi: String,
    /// Bytes of stack that each work-item gets for calls whose depth is unknown.
    #[arg(long, value_name = "BYTES", default_value_t = kernc::Options::default().call_stack_size)]
    call_stack_size: u32,
    /// Optimisation level.
    #[arg(short = 'O', value_name = "LEVEL", default_value = "2", value_parser = ["0", "1", "2", "3"])]
    opt_level: String,
    /// Set a `param` item.
    #[arg(short = 'P', value_name = "NAME=VALUE")]
    params: Vec<String>,
    /// Directory in which `use "file.k"` looks for files that are not in the directory of the using file.
    #[arg(short = 'I', value_name = "DIRECTORY")]
    include: Vec<PathBuf>,
    /// Print a warning for this problem (`all` for every kind); `kernc explain NAME` describes the warning.
    #[arg(short = 'W', value_name = "NAME")]
    warn: Vec<String>,
    /// Do not print warnings of this kind.
    #[arg(short = 'A', value_name = "NAME")]
    allow_warning: Vec<String>,
    /// Treat warnings of this kind as errors.
    #[arg(short = 'D', value_name = "NAME")]
    deny_warning: Vec<String>,
    /// Compute `a * b + c` with a single rounding.
    #[arg(long, value_name = "on|off", default_value = "on", value_parser = ["on", "off"])]
    fp_contract: String,
    /// Replace functions and divisions of `f32` by the hardware's approximate instructions.
    #[arg(long)]
    fast_math: bool,
    /// Leave `assert` out: its condition is not computed
    #[arg(long)]
    no_asserts: bool,
    /// Print the source position of an integer division by zero, and end the dispatch there
    #[arg(long)]
    check_divisions: bool,
    /// How the output of `printf` and `assert` reaches the host: through the buffer that OpenCL uses, or by
    /// calls of the host, as in HIP.
    #[arg(long, value_name = "WAY", default_value = "buffer", value_parser = ["buffer", "hostcall"])]
    printf: String,
    /// Use the atomic instructions for floats in device memory. They may flush denormals, and do not work on
    /// memory that the host shares.
    #[arg(long)]
    unsafe_fp_atomics: bool,
    /// Amount of debug information: 0 is none, 1 is a line table, 2 is everything, `-g` alone is 2. The other
    /// values are 2 as well, and select the form of DWARF.
    #[arg(short = 'g', value_name = "WHAT", default_value = "1", value_parser = DEBUG.map(|row| row.0))]
    debug: Vec<String>,
    #[command(flatten)]
    state: state::StateArgs,
    /// How diagnostics are printed.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    error_format: Format,
    /// With `all`, wait for everything after each memory operation, in order to find a missing wait by
    /// bisection.
    #[arg(long, value_name = "MODE", value_parser = ["flow", "all"], default_value = "flow")]
    waits: String,
    /// Verify the program between passes and check the register allocation.
    #[arg(long)]
    verify: bool,
    /// Begin with this pass. The file contains the program in the form that this pass takes, as
    /// `--stop-after` writes it.
    #[arg(long, value_name = "PASS")]
    start_at: Option<String>,
    /// End after this pass, and write the IR or machine IR at this point. If the pass runs several times,
    /// PASS is its first run and PASS.2 its second.
    #[arg(long, value_name = "PASS")]
    stop_after: Option<String>,
    /// With `--stop-after`, write `!OFFSET` after instructions that have a source position.
    #[arg(long)]
    locations: bool,
    /// With `--stop-after`, leave out the declarations of the module, which `--start-at` would need.
    #[arg(long)]
    no_declarations: bool,
}

#[derive(Args)]
struct CompileArgs {
    /// Kernel source, IR (`.kir`) or machine IR (`.mir`, with `--start-at`); `-` reads standard input.
    #[arg(required = true)]
    source: Option<PathBuf>,
    /// Where the output goes (`-` is standard output). With several values of `--emit`, the extension is
    /// replaced.
    #[arg(short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The forms of output to write.
    #[arg(long, value_delimiter = ',', default_value = "co")]
    emit: Vec<Emit>,
    #[command(flatten)]
    common: CommonArgs,
    /// Print the resources that each kernel uses.
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, default_missing_value = "human", require_equals = true)]
    report: Option<Format>,
    /// Write an HTML page with the source beside the assembly, the reasons of waits, register pressure and
    /// occupancy.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print how long each pass took.
    #[arg(long)]
    time_passes: bool,
    /// Print the program after a pass (`all` for each of them).
    #[arg(long, value_name = "PASS")]
    dump_after: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Human,
    Json,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Emit {
    /// Loadable code object.
    Co,
    /// Relocatable object.
    Obj,
    /// Assembly.
    Asm,
    /// Optimised IR.
    Ir,
    /// Machine code with its blocks.
    Mir,
    /// Metadata as YAML.
    Meta,
    /// Control-flow graphs of the machine code, in DOT.
    Cfg,
    /// The call graph, in DOT.
    Calls,
}

/// Reason why a command failed.
pub enum Failure {
    /// Errors of the source, as rendered diagnostics.
    Source(String),
    /// An error of the command line.
    Usage(String),
    /// A file cannot be read, written or understood.
    File(String),
    /// The emulated kernel stopped with a fault. The text is rendered like that of `Source`.
    Fault(String),
    /// Strict mode reported findings.
    Found(String),
    /// An internal error of kernc; rendered like `Source`.
    Internal(String),
    /// `kernc check` has printed findings.
    Reported,
    /// `kernc test` has printed the tests that did not pass.
    Tests,
    /// Buffers have other contents than expected.
    Differs(String),
    /// A failure that has already been reported to the user. The number is the exit code.
    Told(u8),
}

impl Failure {
    /// Returns the documented exit code.
    pub fn code(&self) -> u8 {
        match self {
            Failure::Source(_) => 1,
            Failure::Usage(_) => 2,
            Failure::File(_) => 3,
            Failure::Fault(_) => 4,
            Failure::Internal(_) => 5,
            Failure::Reported | Failure::Found(_) => 6,
            Failure::Tests | Failure::Differs(_) => 7,
            Failure::Told(code) => *code,
        }
    }

    /// Prints the failure to standard error.
    pub fn report(&self) {
        match self {
            Failure::Source(text)
            | Failure::Fault(text)
            | Failure::Found(text)
            | Failure::Differs(text)
            | Failure::Internal(text) => {
                complain(text);
            }
            Failure::Usage(text) | Failure::File(text) => {
                complain(&format!("error: {text}\n"));
            }
            Failure::Reported | Failure::Tests | Failure::Told(_) => {}
        }
    }
}

/// Returns the name of the test that the current thread runs, if any. Messages about panics contain this
/// name.
pub fn current_test() -> Option<String> {
    test::running()
}

/// Returns a value as formatted JSON.
fn pretty(tree: &impl serde::Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(tree)
        .map(|text| text + "\n")
        .map_err(|error| Failure::Internal(format!("error: {error}\n")))
}

/// Prints to standard error; a failure to print is ignored.
fn complain(text: &str) {
    if capture::take_up(text.as_bytes()) {
        return;
    }
    let _ = std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes());
}

/// Runs a parsed command line.
///
/// # Errors
/// The failure that ends the command.
pub fn run(cli: Cli) -> Result<(), Failure> {
    match cli.command {
        Some(Command::Run(args)) => run::run(&args),
        Some(Command::Debug(args)) => run::debug::run(&args),
        Some(Command::Disasm(args)) => disasm::run(&args),
        Some(Command::Inspect(args)) => inspect::run(&args),
        Some(Command::Check(args)) => check::run(&args),
        Some(Command::Litmus(args)) => litmus::run(&args),
        Some(Command::As(args)) => assemble::run(args),
        Some(Command::Link(args)) => link::run(&args),
        Some(Command::Abi(args)) => abi::run(&args),
        Some(Command::Test(args)) => test::run(&args),
        Some(Command::Doc(args)) => doc::run(&args),
        Some(Command::Targets) => {
            targets::run();
            Ok(())
        }
        Some(Command::Explain { code }) => explain(&code),
        None => compile::run(cli.compile),
    }
}

fn explain(code: &str) -> Result<(), Failure> {
    let text = kernc::explain(code).map(str::to_owned).or_else(|| rules::page(code));
    let text = text.ok_or_else(|| Failure::Usage(format!("there is no diagnostic and no rule `{code}`")))?;
    outln!("{}", text.trim_end());
    Ok(())
}

/// A row of [`DEBUG`]. It has a word that can follow `-g`, the amount of debug information that the word asks
/// for, and the DWARF version and dialect that the word selects, if any.
type DebugRow = (&'static str, DebugInfo, Option<DwarfVersion>, Option<Dialect>);

/// Word that embeds the source in the object.
const EMBED: &str = "embed-source";

/// Word that cancels [`EMBED`].
const NO_EMBED: &str = "no-embed-source";

/// Word that adds an index of names.
const NAMES: &str = "pubnames";

/// Words that may follow `-g`.
const DEBUG: [DebugRow; 9] = [
    ("0", DebugInfo::None, None, None),
    ("1", DebugInfo::Lines, None, None),
    ("2", DebugInfo::Full, None, None),
    ("dwarf-4", DebugInfo::Full, Some(DwarfVersion::V4), None),
    ("dwarf-5", DebugInfo::Full, Some(DwarfVersion::V5), None),
    ("heterogeneous-dwarf", DebugInfo::Full, None, Some(Dialect::Heterogeneous)),
    (EMBED, DebugInfo::Full, None, None),
    (NO_EMBED, DebugInfo::Lines, None, None),
    (NAMES, DebugInfo::Full, None, None),
];

/// Parses the command line. Exits if the command line is wrong, or if it only asks for help or the version.
pub fn parse(line: impl IntoIterator<Item = OsString>) -> Cli {
    usage_errors::parse(words(line).collect()).unwrap_or_else(|error| {
        if error.use_stderr() {
            error.exit();
        }
        out!("{}", error.render());
        let code = finish().map_or_else(
            |failure| {
                failure.report();
                failure.code()
            },
            |()| 0,
        );
        std::process::exit(code.into());
    })
}

/// Converts options in the spelling of other compilers. `-g` alone becomes `-g2`, because the option parser
/// would otherwise take the next word as its value. `-mcpu=NAME` becomes `--mcpu=NAME`.
fn words(line: impl IntoIterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    line.into_iter().map(|word| match word.to_str() {
        Some("-g") => "-g2".into(),
        Some(text) if text.starts_with("-mcpu=") => format!("-{text}").into(),
        _ => word,
    })
}

/// Returns the level that `-O` names.
fn opt_level(text: &str) -> OptLevel {
    match text {
        "0" => OptLevel::O0,
        "1" => OptLevel::O1,
        "3" => OptLevel::O3,
        _ => OptLevel::O2,
    }
}

/// Returns a hint for an unknown warning name. The user may have meant `-D` or `-W` as in C compilers:
/// `-DNAME=VALUE` is `-P` in kernc, and `-Werror` is `-D all`.
fn meant(name: &str) -> String {
    match name.split_once('=') {
        Some(_) => format!("; `-P {name}` sets a `param` item"),
        None if name.chars().all(|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit()) => {
            format!("; `-P {name}=VALUE` sets a `param` item")
        }
        None if name == "error" => "; `-D all` takes all warnings for errors".to_owned(),
        None => String::new(),
    }
}

impl CommonArgs {
    fn options(&self, source: &Path) -> Result<kernc::Options, Failure> {
        let opt_level = opt_level(&self.opt_level);
        let params = self.params.iter().map(|param| match param.split_once('=') {
            Some((name, value)) => Ok((name.trim().to_owned(), value.trim().to_owned())),
            None => Err(Failure::Usage(format!("`-P {param}` is not of the form NAME=VALUE"))),
        });
        Ok(kernc::Options {
            file_name: source.display().to_string(),
            opt_level,
            params: params.collect::<Result<_, _>>()?,
            fp_contract: self.fp_contract == "on",
            fast_math: self.fast_math,
            asserts: !self.no_asserts,
            check_divisions: self.check_divisions,
            printf: if self.printf == "hostcall" { Printf::Hostcall } else { Printf::Buffer },
            unsafe_fp_atomics: self.unsafe_fp_atomics,
            waits_all: self.waits == "all",
            state: self.state.state(),
            language: Language::by_name(&self.lang).unwrap_or_default(),
            call_abi: abi::convention(&self.call_abi),
            call_stack_size: self.call_stack_size,
            debug: self.debug_info(),
            dwarf: self.dwarf()?,
            warnings: self.warnings()?,
            files: Some(Arc::new(kernc::Directories { list: self.include.clone() })),
            verify: self.verify || cfg!(debug_assertions),
            ..kernc::Options::default()
        })
    }

    /// Returns the rows of [`DEBUG`] for the words that follow `-g` on the command line.
    fn debug_rows(&self) -> impl DoubleEndedIterator<Item = &'static DebugRow> {
        self.debug.iter().filter_map(|word| DEBUG.iter().find(|row| row.0 == word))
    }

    /// Returns the amount of debug information that the last option `-g` asks for.
    fn debug_info(&self) -> DebugInfo {
        let mut rows = self.debug_rows().filter(|row| row.0 != NO_EMBED);
        rows.next_back().map_or_else(DebugInfo::default, |row| row.1)
    }

    fn dwarf(&self) -> Result<Dwarf, Failure> {
        let version = self.debug_rows().rev().find_map(|row| row.2).unwrap_or_default();
        let dialect = self.debug_rows().rev().find_map(|row| row.3).unwrap_or_default();
        let mut embeds = self.debug_rows().filter(|row| [EMBED, NO_EMBED].contains(&row.0));
        let embed_source = embeds.next_back().is_some_and(|row| row.0 == EMBED);
        let names = self.debug_rows().any(|row| row.0 == NAMES);
        if names && version == DwarfVersion::V4 {
            let message = "`-gpubnames` is for DWARF 5: version 4 has no index that debuggers use";
            return Err(Failure::Usage(message.to_owned()));
        }
        Ok(Dwarf { version, dialect, embed_source, names })
    }

    /// Returns the level of each warning. `-D` (deny) takes precedence over `-W` (warn), and `-A` (allow)
    /// over both. An option that names a warning takes precedence over one for `all`.
    fn warnings(&self) -> Result<kernc::Warnings, Failure> {
        use kernc::Level::{Allow, Deny, Warn};
        let mut warnings = kernc::Warnings::default();
        let lists = [(&self.warn, Warn), (&self.deny_warning, Deny), (&self.allow_warning, Allow)];
        for named in [false, true] {
            for (names, level) in &lists {
                for name in names.iter().filter(|name| (*name != "all") == named) {
                    warnings.set(name, *level).map_err(|why| Failure::Usage(why + &meant(name)))?;
                }
            }
        }
        Ok(warnings)
    }

    /// Prints the warnings about a source.
    fn tell_warnings(&self, warnings: Option<&kernc::Diagnostics>) {
        use std::io::IsTerminal;
        if let Some(warnings) = warnings {
            complain(&match self.error_format {
                Format::Human => warnings.render(std::io::stderr().is_terminal()),
                Format::Json => warnings.to_json(),
            });
        }
    }

    /// Returns the range of passes to run. The extension of the file, or else the first pass, decides whether
    /// the file contains source, IR or machine IR.
    fn passes(&self, path: &Path, options: &kernc::Options) -> Result<PassRange, Failure> {
        let (start, stop) = (self.start_at.as_deref(), self.stop_after.as_deref());
        let range = PassRange::new(options.opt_level, start, stop).map_err(Failure::Usage)?;
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("kir") if start.is_none() => range
                .from_ir()
                .ok_or_else(|| Failure::Usage("a `.kir` file is behind the frontend".to_owned())),
            Some("mir") if start.is_none() => {
                Err(Failure::Usage("a `.mir` file needs `--start-at` with the pass to go on with".to_owned()))
            }
            _ => Ok(range),
        }
    }

    /// Converts a compiler error to a failure of the command, with the message in the requested format.
    fn failure(&self, error: &kernc::Error) -> Failure {
        use std::io::IsTerminal;
        let text = match self.error_format {
            Format::Human => error.render(std::io::stderr().is_terminal()),
            Format::Json => error.to_json(),
        };
        match error {
            kernc::Error::Internal { .. } => Failure::Internal(text),
            _ => Failure::Source(text),
        }
    }
}

/// Reads a file, or standard input for `-`.
fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    if path.as_os_str() == "-" {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::stdin(), &mut bytes)
            .map_err(|error| Failure::File(format!("cannot read standard input: {error}")))?;
        return Ok(bytes);
    }
    std::fs::read(path).map_err(|error| Failure::File(format!("cannot read {}: {error}", path.display())))
}

/// Reads a text and removes a byte order mark at its start. The mark of a source in the kernel language is
/// kept, because the frontend handles it.
fn read_source(path: &Path) -> Result<String, Failure> {
    let text = String::from_utf8(read(path)?)
        .map_err(|error| Failure::File(format!("{} is not UTF-8 text: {error}", path.display())))?;
    let is_frontends = path.extension().is_some_and(|extension| extension == "k");
    match text.strip_prefix('\u{feff}') {
        Some(rest) if !is_frontends => Ok(rest.to_owned()),
        _ => Ok(text),
    }
}

/// Exit code after a panic, the same as for other internal errors.
const PANIC: u8 = 5;

fn main() -> ExitCode {
    if cfg!(panic = "abort") {
        end_at_panic();
    }
    let cli = parse(std::env::args_os());
    let run = || run(cli).and_then(|()| finish());
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(failure)) => {
            failure.report();
            ExitCode::from(failure.code())
        }
        Err(_) => ExitCode::from(PANIC),
    }
}

/// Makes a panic print its message and exit with the documented exit code. This is needed where panics do not
/// unwind, as in the release profile; the process would otherwise end with a signal.
fn end_at_panic() {
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        tell(panic);
        if let Some(test) = current_test() {
            eprintln!("{test}: kernc panicked in this test");
        }
        std::process::exit(PANIC.into());
    }));
}
