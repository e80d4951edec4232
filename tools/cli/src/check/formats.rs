//! Writes reports as JSON and as SARIF 2.1.0.

use crate::rules::level_of;
use check::object::{self, Located, Place, Report};
use check::{Level, Problem};
use codeobj::disasm::SourcePlace;
use isa::RegRange;
use serde_json::{Value, json};

fn place_json(place: &Place) -> Value {
    let (symbol, offset) =
        place.symbol.clone().map_or((None, None), |(name, offset)| (Some(name), Some(offset)));
    let source = place.source.as_ref();
    json!({
        "address": place.address,
        "instruction": place.text,
        "symbol": symbol,
        "offset": offset,
        "file": source.map(|source| &source.file),
        "line": source.map(|source| source.line),
        "column": source.map(|source| source.column).filter(|&column| column > 0),
    })
}

/// Returns the report of the code object `file` as JSON.
pub(super) fn tree(report: &Report, file: &str) -> Value {
    let finding = |located: &Located| {
        let finding = &located.finding;
        let (found, wanted) = match finding.problem {
            Problem::Hazard { rule, found } => (Some(found), Some(rule.states)),
            _ => (None, None),
        };
        let outstanding = match finding.problem {
            Problem::InFlight { outstanding, .. } => Some(outstanding),
            _ => None,
        };
        json!({
            "rule": finding.id(),
            "level": finding.level().name(),
            "message": finding.to_string(),
            "registers": finding.registers.map(RegRange::name),
            "counter": finding.counter().map(check::Counter::name),
            "outstanding": outstanding,
            "wait_states": found,
            "wait_states_needed": wanted,
            "mend": finding.mitigation(),
            "first": located.first.as_ref().map(place_json),
            "second": place_json(&located.second),
        })
    };
    let note = |note: &object::Note| json!({ "rule": note.unknown.rule(), "message": note.unknown.text(), "place": place_json(&note.place) });
    let hidden = report.hidden.iter();
    let hidden: Vec<Value> = hidden.map(|(rule, count)| json!({ "rule": rule, "count": count })).collect();
    json!({
        "file": file,
        "processor": report.target.name,
        "entries": report.roots,
        "instructions": report.instructions,
        "findings": report.findings.iter().map(finding).collect::<Vec<_>>(),
        "hidden": hidden,
        "notes": report.notes.iter().map(note).collect::<Vec<_>>(),
        "unfollowed": report.unfollowed,
    })
}

/// Returns the name of a level in SARIF.
fn severity(level: Level) -> &'static str {
    match level {
        Level::Certain => "error",
        Level::Manual => "warning",
        Level::Advice => "note",
    }
}

/// Returns the check reports as one run in the format SARIF 2.1.0. Each report comes with the name of its
/// code object.
pub(super) fn sarif<'a>(reports: impl Iterator<Item = (&'a Report, &'a str)>) -> Value {
    let rules: Vec<Value> = check::rules::all().map(|row| rule(&row)).collect();
    let (mut artifacts, mut results) = (Vec::new(), Vec::new());
    for (report, file) in reports {
        artifacts.push(json!({ "location": { "uri": file } }));
        results.extend(report.findings.iter().map(|located| result(located, file)));
        results.extend(report.notes.iter().map(|note| {
            json!({
                "ruleId": note.unknown.rule(),
                "level": severity(level_of(note.unknown.rule())),
                "message": { "text": note.unknown.text() },
                "locations": [location(&note.place, file)],
            })
        }));
    }
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "kernc check",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "artifacts": artifacts,
            "results": results,
        }],
    })
}

fn rule(rule: &check::rules::Rule) -> Value {
    json!({
        "id": rule.id,
        "shortDescription": { "text": rule.name },
        "defaultConfiguration": { "level": severity(rule.level) },
        "help": { "text": check::rules::page(rule.id) },
    })
}

fn result(located: &Located, file: &str) -> Value {
    let finding = &located.finding;
    let related: Vec<Value> = located.first.iter().map(|first| location(first, file)).collect();
    json!({
        "ruleId": finding.id(),
        "level": severity(finding.level()),
        "message": { "text": format!("{finding}; mended by {}", finding.mitigation()) },
        "locations": [location(&located.second, file)],
        "relatedLocations": related,
    })
}

fn location(place: &Place, file: &str) -> Value {
    let name = place.symbol.as_ref().map(|(name, offset)| format!("{name}+{offset:#x}"));
    let mut physical = json!({
        "artifactLocation": { "uri": file },
        "address": { "absoluteAddress": place.address, "kind": "instruction", "fullyQualifiedName": name },
    });
    if let Some(SourcePlace { file, line, column }) = &place.source {
        physical["artifactLocation"]["uri"] = json!(file);
        physical["region"] = match column {
            0 => json!({ "startLine": line }),
            _ => json!({ "startLine": line, "startColumn": column }),
        };
    }
    json!({
        "physicalLocation": physical,
        "logicalLocations": [{ "kind": "instruction", "decoratedName": name, "name": place.text }],
    })
}
