//! Findings of the checker and of strict mode, as the page has them.

use check::object::{Located, Note};
use kernc::sim::{self, Fault, Report};
use serde::Serialize;

/// Something that was found.
#[derive(Serialize)]
pub struct Finding {
    /// Who has found it: `check`, `run`.
    by: &'static str,
    rule: String,
    level: &'static str,
    text: String,
    /// What would mend it.
    help: Option<String>,
    /// Addresses of the instructions that it is about; the one where it shows is the last.
    at: Vec<u64>,
    /// The calls under way where it shows, innermost first.
    calls: Vec<Call>,
    notes: Vec<String>,
}

/// A call under way.
#[derive(Serialize)]
struct Call {
    function: String,
    caller: String,
    /// Address of the call.
    at: u64,
    /// Its place in the source.
    source: Option<String>,
    /// How many such calls there are, one in the other.
    count: u64,
    /// How many others follow that are left out.
    skipped: u64,
    /// The same in words.
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

/// What the checker has found.
pub fn of_static(located: &Located) -> Finding {
    let first = located.first.iter().filter(|_| !located.is_alone());
    Finding {
        by: "check",
        rule: located.finding.id().to_owned(),
        level: located.finding.level().name(),
        text: located.finding.to_string(),
        help: Some(located.finding.mend()),
        at: first.chain([&located.second]).map(|place| place.address).collect(),
        calls: Vec::new(),
        notes: Vec::new(),
    }
}

/// What the checker could not read.
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

/// What strict mode has found.
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

/// What has ended a run, other than a finding of strict mode.
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
