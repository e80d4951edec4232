//! `kernc test PATH...`: runs text tests.
//!
//! The words of a `test:` line in a test file are a kernc command without the file name, or names of passes
//! such as `licm` and `isel..regalloc`.

use super::{Failure, capture};
use clap::{Args, ValueEnum};
use golden::{Case, KINDS, Outcome, Runner};
use kernc::{Form, OptLevel, PassRange};
use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Args)]
pub struct TestArgs {
    /// Files (`.k`, `.kir`, `.mir`, `.s`) and folders of them.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Replace the expected output in the files by the actual output.
    #[arg(long)]
    bless: bool,
    /// Format in which the results are reported.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The tests that did not pass, each with a diff.
    Human,
    /// JSON.
    Json,
    /// XML, as JUnit writes it.
    Junit,
}

/// Runs the command.
pub fn run(args: &TestArgs) -> Result<(), Failure> {
    let files = golden::find(&args.paths, KINDS).map_err(|error| Failure::File(error.to_string()))?;
    let summary = golden::run(&files, &Commands { next: AtomicUsize::new(0) }, args.bless);
    out!(
        "{}",
        match args.format {
            Format::Human => golden::report::human(&summary),
            Format::Json => golden::report::json(&summary),
            Format::Junit => golden::report::junit(&summary),
        }
    );
    match summary.failures() {
        _ if summary.results.is_empty() => Err(Failure::Usage("there is no test in these paths".to_owned())),
        0 => Ok(()),
        _ => Err(Failure::Tests),
    }
}

/// Runs commands of kernc within this process.
struct Commands {
    /// Number for the next temporary object file.
    next: AtomicUsize,
}

thread_local! {
    /// Test that this thread runs.
    static RUNNING: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Returns the test that this thread runs, as `FILE:LINE`.
pub fn running() -> Option<String> {
    RUNNING.with_borrow(Clone::clone)
}

/// Commands that take a code object. For these, the test's source is compiled or assembled first.
const ON_OBJECTS: [&str; 3] = ["disasm", "check", "inspect"];

/// Commands that run a kernel and take either a source or an object.
const RUNS: [&str; 2] = ["run", "debug"];

impl Runner for Commands {
    fn write(&self, file: &Path, text: &str) -> std::io::Result<()> {
        super::output::replace(file, text.as_bytes())
    }

    fn run(&self, file: &Path, case: &Case) -> Outcome {
        let object = Object(std::env::temp_dir().join(format!(
            "kernc-test-{}-{}.co",
            std::process::id(),
            self.next.fetch_add(1, Ordering::Relaxed)
        )));
        let outer = RUNNING.replace(Some(format!("{}:{}", file.display(), case.line)));
        let (text, result) = capture::capture(|| {
            for line in lines(file, case, &object.0)? {
                let cli = super::usage_errors::parse(super::words(line).collect())
                    .map_err(|error| Failure::Usage(error.to_string()))?;
                super::run(cli)?;
            }
            Ok::<(), Failure>(())
        });
        RUNNING.set(outer);
        let mut output = String::from_utf8_lossy(&text).into_owned();
        let (messages, failed) = match result {
            Some(Ok(())) => (Vec::new(), false),
            Some(Err(failure)) => (capture::capture(|| failure.report()).0, true),
            None => (b"panicked\n".to_vec(), true),
        };
        output.push_str(&String::from_utf8_lossy(&messages));
        Outcome { output: output.replace(&object.0.display().to_string(), "object.co"), failed }
    }
}

/// A temporary file that is deleted at the end of the test.
struct Object(PathBuf);

impl Drop for Object {
    fn drop(&mut self) {
        // Most tests do not create the file, so an error is ignored.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A command line of kernc.
struct Line(Vec<OsString>);

impl Line {
    fn new(words: &[&str]) -> Line {
        Line(std::iter::once("kernc").chain(words.iter().copied()).map(OsString::from).collect())
    }

    fn with<T: Into<OsString>>(mut self, words: impl IntoIterator<Item = T>) -> Line {
        self.0.extend(words.into_iter().map(Into::into));
        self
    }
}

impl IntoIterator for Line {
    type Item = OsString;
    type IntoIter = std::vec::IntoIter<OsString>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// Returns the command lines to run for a test. The output of the last command is compared with the expected
/// output.
fn lines(file: &Path, case: &Case, object: &Path) -> Result<Vec<Line>, Failure> {
    let (command, words) = case.words.split_first().map_or(("", &[][..]), |(c, words)| (c.as_str(), words));
    let processor = || case.processor.iter().flat_map(|name| ["--mcpu", name.as_str()]);
    let is_assembly = file.extension().is_some_and(|extension| extension == "s");
    let to_object: [&OsStr; 2] = ["-o".as_ref(), object.as_os_str()];
    let make = || {
        let start = if is_assembly { Line::new(&["as"]) } else { Line::new(&[]) };
        start.with([file]).with(to_object).with(processor())
    };
    let runs = RUNS.contains(&command);
    if ON_OBJECTS.contains(&command) || runs && is_assembly {
        return Ok(vec![make(), Line::new(&[command]).with([object]).with(words)]);
    }
    if command == "as" || runs {
        let end: &[&OsStr] = if command == "as" { &to_object } else { &[] };
        return Ok(vec![Line::new(&[command]).with([file]).with(words).with(processor()).with(end)]);
    }
    if is_assembly {
        let why =
            format!("`{command}` is not for assembly: there are as, disasm, inspect, check, run and debug");
        return Err(Failure::Usage(why));
    }
    let passes = if command == "compile" { Vec::new() } else { passes(command, file)? };
    let line = Line::new(&[]).with([file]).with(passes).with(words).with(processor());
    // Some commands print nothing but write an output file. Their file goes to a temporary path, because it
    // would otherwise go into the directory of the test.
    let prints = words.iter().any(|word| word.starts_with("--emit") || word.starts_with("--stop-after"));
    let writes = !prints && (command == "compile" || command.ends_with("emit"));
    Ok(vec![if writes { line.with(to_object) } else { line }])
}

/// Returns the command-line options for a pass, or for a range `FIRST..LAST` of passes. If the file contains
/// the form of the program that a single pass takes, this pass runs alone. If the file contains an earlier
/// form, all passes up to the named pass run.
fn passes(name: &str, file: &Path) -> Result<Vec<String>, Failure> {
    let range = |first: &str, last: &str| {
        ["--no-declarations", "--start-at", first, "--stop-after", last].map(str::to_owned).to_vec()
    };
    if let Some((first, last)) = name.split_once("..") {
        return Ok(range(first, last));
    }
    let known = PassRange::new(OptLevel::O3, Some(name), Some(name));
    let input = known.map_err(|why| Failure::Usage(format!("{why}, and no command is `{name}`")))?.input();
    Ok(match file.extension().and_then(OsStr::to_str) {
        Some("kir") if input == Form::MachineIr => range("isel", name),
        Some("kir" | "mir") => range(name, name),
        _ => ["--no-declarations", "--stop-after", name].map(str::to_owned).to_vec(),
    })
}
