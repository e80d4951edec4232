//! Findings of the checker and of strict mode, in the form in which the HTML page shows them.

use check::object::{Located, Note};
use kernc::sim::{self, Fault, Report};
use serde::Serialize;

/// A finding.
#[derive(Serialize)]
pub struct Finding {
    /// Source of the finding: `check` or `run`.
    by: &'static str,
    rule: String,
    level: &'static str,
    text: String,
    /// Advice on how to fix the problem.
    help: Option<String>,
    /// Addresses of the instructions that the finding is about. The last one is the instruction at which the
    /// problem shows.
    at: Vec<u64>,
    /// The calls that are active at the instruction where the problem shows, innermost call first.
    calls: Vec<Call>,
    notes: Vec<String>,
}

/// An active call.
#[derive(Serialize)]
struct Call {
    function: String,
    caller: String,
    /// Address of the call.
    at: u64,
    /// Source position of the call.
    source: Option<String>,
    /// Number of nested calls like this one (recursion).
    count: u64,
    /// Number of calls after this one that are left out.
    skipped: u64,
    /// The call as text.
    text: String,
}

fn of_call(call: &sim::Called) -> Call {
    Call {
        function: call.function.clone(),
        caller: call.caller.clone(),
        at: call.offset,
        source: call.source.as_ref().map(ToString::to_string),
        count: call.count,
        skipped: call.skipped,
        text: call.to_string(),
    }
}

/// Converts a finding of the checker.
pub fn of_static(located: &Located) -> Finding {
    let first = located.first.iter().filter(|_| !located.is_alone());
    Finding {
        by: "check",
        rule: located.finding.id().to_owned(),
        level: located.finding.level().name(),
        text: located.finding.to_string(),
        help: Some(located.finding.mitigation()),
        at: first.chain([&located.second]).map(|place| place.address).collect(),
        calls: Vec::new(),
        notes: Vec::new(),
    }
}

/// Converts a note about code that the checker could not read.
pub fn of_note(note: &Note) -> Finding {
    Finding {
        by: "check",
        rule: note.unknown.rule().to_owned(),
        level: super::super::rules::level_of(note.unknown.rule()).name(),
        text: note.unknown.text().to_owned(),
        help: None,
        at: vec![note.place.address],
        calls: Vec::new(),
        notes: Vec::new(),
    }
}

/// Converts a finding of strict mode.
pub fn of_report(report: &Report) -> Finding {
    let other = report.other.as_ref();
    Finding {
        by: "run",
        rule: report.rule.to_string(),
        level: report.level.name(),
        text: report.message.to_string(),
        help: report.fix.as_ref().map(ToString::to_string),
        at: other.map(|(at, _)| at).into_iter().chain([&report.at]).map(|at| at.offset).collect(),
        calls: report.at.calls.iter().map(of_call).collect(),
        notes: report.notes.iter().map(ToString::to_string).collect(),
    }
}

/// Converts a fault that ended a run to a finding of the page. Findings of strict mode are converted by
/// [`of_report`].
pub fn of_fault(fault: &Fault) -> Finding {
    let at = |location: &sim::Location| location.offset;
    let calls = fault.places().first().map_or(&[][..], |at| &at.calls);
    Finding {
        by: "run",
        rule: "fault".to_owned(),
        level: check::Level::Certain.name(),
        text: fault.headline(),
        help: None,
        at: fault.places().iter().map(at).collect(),
        calls: calls.iter().map(of_call).collect(),
        notes: fault.notes().to_vec(),
    }
}
