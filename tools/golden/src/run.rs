//! Runs files side by side.

use crate::Kind;
use crate::file::{Case, TestFile};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What a command has printed, and whether it succeeded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Output and messages.
    pub output: String,
    /// Whether it failed.
    pub failed: bool,
}

/// Runs the commands of test files.
pub trait Runner: Sync {
    /// Runs a command on a file. Words that only tests have are gone; `--mcpu` has one processor.
    fn run(&self, file: &Path, case: &Case) -> Outcome;

    /// Writes a file that is blessed.
    fn write(&self, file: &Path, text: &str) -> std::io::Result<()> {
        std::fs::write(file, text)
    }
}

/// Why a test did not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The file is no test, or cannot be read or written.
    File(String),
    /// The command failed where it should not; its output.
    Failed(String),
    /// The command should fail and did not; its output.
    Succeeded(String),
    /// Nothing is expected yet.
    NotBlessed,
    /// Expected and actual output.
    Differs(String, String),
}

/// One test that was run.
#[derive(Clone, Debug)]
pub struct Result {
    /// The file.
    pub path: PathBuf,
    /// Line of the file.
    pub line: usize,
    /// The command; empty if the file is no test.
    pub command: String,
    /// Time it took.
    pub time: Duration,
    /// Why it did not pass, if it did not.
    pub failure: Option<Failure>,
}

/// All tests that were run.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// In the order of the files and of their lines.
    pub results: Vec<Result>,
    /// Files that hold no test.
    pub without_tests: usize,
    /// Files that were rewritten.
    pub blessed: usize,
}

impl Summary {
    /// How many did not pass.
    pub fn failures(&self) -> usize {
        self.results.iter().filter(|result| result.failure.is_some()).count()
    }
}

/// Runs the tests of files. With `bless`, rewrites what they expect to what they print.
pub fn run(files: &[(PathBuf, Kind)], runner: &dyn Runner, bless: bool) -> Summary {
    let files: Vec<FileResult> =
        files.par_iter().map(|(path, kind)| run_file(path, *kind, runner, bless)).collect();
    let mut summary = Summary::default();
    for file in files {
        summary.without_tests += usize::from(file.results.is_empty());
        summary.blessed += usize::from(file.blessed);
        summary.results.extend(file.results);
    }
    summary
}

#[derive(Default)]
struct FileResult {
    results: Vec<Result>,
    blessed: bool,
}

fn run_file(path: &Path, kind: Kind, runner: &dyn Runner, bless: bool) -> FileResult {
    let broken = |line: usize, message: String| {
        let failure = Some(Failure::File(message));
        let (path, command) = (path.to_owned(), String::new());
        Result { path, line, command, time: Duration::ZERO, failure }
    };
    let alone = |result| FileResult { results: vec![result], blessed: false };
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => return alone(broken(1, error.to_string())),
    };
    let file = match TestFile::parse(&text, kind) {
        Ok(file) => file,
        Err(error) => return alone(broken(error.line, error.message)),
    };
    let mut outputs = Vec::new();
    let mut results = Vec::new();
    for (n, case) in file.cases().iter().enumerate() {
        let begin = Instant::now();
        let outcome = runner.run(path, case);
        let whole = plain_path(&outcome.output, path);
        let output = case.filter(&whole);
        results.push(Result {
            path: path.to_owned(),
            line: case.line,
            command: case.to_string(),
            time: begin.elapsed(),
            failure: judge(case, outcome.failed, (&whole, &output), file.expected(n), bless),
        });
        outputs.push(output);
    }
    let mut blessed = false;
    // What fails must not hide behind a blessing.
    if bless && results.iter().all(|result| result.failure.is_none()) && !results.is_empty() {
        let new = file.rewritten(&outputs);
        blessed = new != text;
        if let Err(error) = if blessed { runner.write(path, &new) } else { Ok(()) } {
            return alone(broken(1, error.to_string()));
        }
    }
    FileResult { results, blessed }
}

/// Messages name the file as it was named to us, which differs from place to place.
fn plain_path(output: &str, path: &Path) -> String {
    match path.file_name() {
        Some(name) => output.replace(&path.display().to_string(), &name.to_string_lossy()),
        None => output.to_owned(),
    }
}

/// `whole` is all output, `output` what is compared of it.
fn judge(
    case: &Case,
    failed: bool,
    (whole, output): (&str, &str),
    expected: Option<&str>,
    bless: bool,
) -> Option<Failure> {
    match (case.fails, failed, expected) {
        (false, true, _) => Some(Failure::Failed(whole.to_owned())),
        (true, false, _) => Some(Failure::Succeeded(whole.to_owned())),
        _ if bless => None,
        (_, _, None) => Some(Failure::NotBlessed),
        (_, _, Some(expected)) if expected != output => {
            Some(Failure::Differs(expected.to_owned(), output.to_owned()))
        }
        _ => None,
    }
}
