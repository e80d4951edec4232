//! Formats the results for people, and as JSON or JUnit XML for tools.

use crate::run::{Failure, Result, Summary};
use imara_diff::{Algorithm, BasicLineDiffPrinter, Diff, InternedInput, UnifiedDiffConfig};
use std::fmt::Write;

/// Returns a one-line description of a failure, and its details.
fn explain(failure: &Failure) -> (&str, String) {
    match failure {
        Failure::File(why) => (why.as_str(), String::new()),
        Failure::Failed(output) => ("the command failed", output.clone()),
        Failure::Succeeded(output) => ("the command should fail, but succeeded", output.clone()),
        Failure::NotBlessed => ("no output is expected yet; `--bless` writes what there is", String::new()),
        Failure::Differs(expected, actual) => ("the output differs", diff(expected, actual)),
    }
}

/// Returns a unified diff: `-` marks expected lines that are missing, `+` marks lines that are not expected.
fn diff(expected: &str, actual: &str) -> String {
    let (expected, actual) = (format!("{expected}\n"), format!("{actual}\n"));
    let lines = InternedInput::new(expected.as_str(), actual.as_str());
    let mut diff = Diff::compute(Algorithm::Histogram, &lines);
    diff.postprocess_lines(&lines);
    let mut config = UnifiedDiffConfig::default();
    config.context_len(4);
    let hunks = diff.unified_diff(&BasicLineDiffPrinter(&lines.interner), config, &lines).to_string();
    format!("--- expected\n+++ actual\n{hunks}")
}

/// Returns the position of a test as `file:line`, which editors and terminals understand.
fn file_and_line(result: &Result) -> String {
    format!("{}:{}", result.path.display(), result.line)
}

/// Formats the results for people: the tests that did not pass, and a line with the counts.
pub fn human(summary: &Summary) -> String {
    let mut out = String::new();
    for result in &summary.results {
        let Some(failure) = &result.failure else { continue };
        let (what, details) = explain(failure);
        let _ = writeln!(out, "{}: {what}", file_and_line(result));
        if !result.command.is_empty() {
            let _ = writeln!(out, "    {}", result.command);
        }
        for line in details.lines() {
            let _ = writeln!(out, "    {line}");
        }
        out.push('\n');
    }
    let failures = summary.failures();
    let _ = write!(out, "{} passed, {failures} failed", summary.results.len() - failures);
    if summary.blessed > 0 {
        let _ = write!(out, "; {} files rewritten", summary.blessed);
    }
    if summary.without_tests > 0 {
        let _ = write!(out, "; {} files without a test", summary.without_tests);
    }
    out.push('\n');
    out
}

/// Formats the results as JSON.
pub fn json(summary: &Summary) -> String {
    let test = |result: &Result| {
        let failure = result.failure.as_ref().map(explain);
        serde_json::json!({
            "file": result.path.display().to_string(),
            "line": result.line,
            "command": result.command,
            "seconds": result.time.as_secs_f64(),
            "passed": failure.is_none(),
            "message": failure.as_ref().map(|(what, _)| what),
            "details": failure.as_ref().map(|(_, details)| details),
        })
    };
    let tree = serde_json::json!({
        "passed": summary.results.len() - summary.failures(),
        "failed": summary.failures(),
        "rewritten": summary.blessed,
        "without_tests": summary.without_tests,
        "tests": summary.results.iter().map(test).collect::<Vec<_>>(),
    });
    format!("{tree:#}\n")
}

/// Formats the results as JUnit XML.
pub fn junit(summary: &Summary) -> String {
    let seconds: f64 = summary.results.iter().map(|result| result.time.as_secs_f64()).sum();
    let counts = format!("tests=\"{}\" failures=\"{}\"", summary.results.len(), summary.failures());
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites {counts} time=\"{seconds:.3}\">");
    let _ = writeln!(out, "  <testsuite name=\"kernc test\" {counts} time=\"{seconds:.3}\">");
    for result in &summary.results {
        let (path, name) = (escape(&result.path.display().to_string()), escape(&result.command));
        let _ = write!(
            out,
            "    <testcase classname=\"{path}\" name=\"{name}\" file=\"{path}\" line=\"{}\" time=\"{:.3}\"",
            result.line,
            result.time.as_secs_f64()
        );
        match &result.failure {
            None => out.push_str("/>\n"),
            Some(failure) => {
                let (what, details) = explain(failure);
                let _ = writeln!(
                    out,
                    ">\n      <failure message=\"{}\">{}</failure>",
                    escape(what),
                    escape(&details)
                );
                out.push_str("    </testcase>\n");
            }
        }
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

/// Escapes a text for XML. Control characters other than tab and line ends are replaced, because XML 1.0 does
/// not allow them.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(c),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
