//! Runs test files in parallel.

use crate::Kind;
use crate::file::{Case, TestFile};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Result of running a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Standard output and messages of the command.
    pub output: String,
    /// Whether the command failed.
    pub failed: bool,
}

/// Runs the commands of test files.
pub trait Runner: Sync {
    /// Runs the command of a case on a file. The case has no words that only tests have, and at most one
    /// processor.
    fn run(&self, file: &Path, case: &Case) -> Outcome;

    /// Writes a file with new expected outputs.
    ///
    /// # Errors
    /// The errors of the file system.
    fn write(&self, file: &Path, text: &str) -> std::io::Result<()> {
        std::fs::write(file, text)
    }
}

/// Why a test did not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The file is not a valid test, or cannot be read or written.
    File(String),
    /// The command failed unexpectedly, with this output.
    Failed(String),
    /// The command succeeded although it should fail, with this output.
    Succeeded(String),
    /// The file has no expected output for the case yet.
    NotBlessed,
    /// The output differs: the expected and the actual output.
    Differs(String, String),
}

/// Result of one test.
#[derive(Clone, Debug)]
pub struct Result {
    /// The file.
    pub path: PathBuf,
    /// Line of the test in the file.
    pub line: usize,
    /// The command; empty if the file is not a valid test.
    pub command: String,
    /// Time that the command took.
    pub time: Duration,
    /// Why the test did not pass; `None` if it passed.
    pub failure: Option<Failure>,
}

/// Results of all tests.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Results in the order of the files and of their lines.
    pub results: Vec<Result>,
    /// Number of files without a test.
    pub without_tests: usize,
    /// Number of files that were rewritten.
    pub blessed: usize,
}

impl Summary {
    /// Returns the number of tests that did not pass.
    pub fn failures(&self) -> usize {
        self.results.iter().filter(|result| result.failure.is_some()).count()
    }
}

/// Runs the tests of files. With `bless`, replaces the expected outputs in the files by the actual outputs.
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
    // A file with a failure is not rewritten, so that blessing does not hide the failure.
    if bless && results.iter().all(|result| result.failure.is_none()) && !results.is_empty() {
        let new = file.rewritten(&outputs);
        blessed = new != text;
        if let Err(error) = if blessed { runner.write(path, &new) } else { Ok(()) } {
            return alone(broken(1, error.to_string()));
        }
    }
    FileResult { results, blessed }
}

/// Replaces the path of the file in messages by the file name, because the path differs from machine to
/// machine.
fn plain_path(output: &str, path: &Path) -> String {
    match path.file_name() {
        Some(name) => output.replace(&path.display().to_string(), &name.to_string_lossy()),
        None => output.to_owned(),
    }
}

/// Decides whether a case passes. `whole` is the full output, `output` the part that is compared.
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
