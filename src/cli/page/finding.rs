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
    notes: Vec<String>,
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
        notes: Vec::new(),
    }
}

/// What strict mode has found.
pub fn of_report(report: &Report) -> Finding {
    let other = report.other.as_ref();
    Finding {
        by: "run",
        rule: report.rule.to_string(),
        level: super::super::rules::level_of(&report.rule).name(),
        text: report.message.to_string(),
        help: report.fix.as_ref().map(ToString::to_string),
        at: other.map(|(at, _)| at).into_iter().chain([&report.at]).map(|at| at.offset).collect(),
        notes: report.notes.iter().map(ToString::to_string).collect(),
    }
}

/// What has ended a run, other than a finding of strict mode.
pub fn of_fault(fault: &Fault) -> Finding {
    let at = |location: &sim::Location| location.offset;
    Finding {
        by: "run",
        rule: "fault".to_owned(),
        level: check::Level::Certain.name(),
        text: fault.headline(),
        help: None,
        at: fault.places().iter().map(at).collect(),
        notes: Vec::new(),
    }
}
