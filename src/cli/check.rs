//! `kernc check FILE`: missing waits and hazards in the code of a code object, found without running it.

use super::inspect::{parse, processor};
use super::{Failure, read};
use check::object::{self, Located, Options, Place, Report};
use check::{EventRule, Problem, clauses, hazards, rdna, single};
use clap::Args;
use codeobj::disasm::SourcePlace;
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Args)]
pub struct CheckArgs {
    /// Code object, loadable or relocatable (`-` reads standard input).
    file: PathBuf,
    /// Processor to read it for (default: the file's own).
    #[arg(long, value_name = "GFX")]
    mcpu: Option<String>,
    /// Begin at this kernel or function only.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// On GFX7 and GFX8: flat accesses may go to LDS, not to memory alone.
    #[arg(long)]
    flat_lds: bool,
    /// Print JSON.
    #[arg(long, conflicts_with = "sarif")]
    json: bool,
    /// Print SARIF 2.1.0.
    #[arg(long)]
    sarif: bool,
}

/// Runs the command.
pub fn run(args: &CheckArgs) -> Result<(), Failure> {
    use std::io::IsTerminal;
    let bytes = read(&args.file)?;
    let parsed = parse(&args.file, &bytes)?;
    let options = Options {
        target: processor(args.mcpu.as_deref())?,
        kernel: args.kernel.as_deref(),
        flat_lds: args.flat_lds,
    };
    let name = args.file.display().to_string();
    let report = object::check(&parsed, &options).map_err(|refusal| match refusal {
        object::Refusal::NoSuchKernel(_) => Failure::Usage(format!("{name}: {refusal}")),
        object::Refusal::UnknownProcessor(_) => Failure::File(format!("{name}: {refusal}; try `--mcpu`")),
    })?;
    let pretty = |tree: &Value| {
        serde_json::to_string_pretty(tree)
            .map(|text| text + "\n")
            .map_err(|error| Failure::Internal(format!("error: {error}\n")))
    };
    let text = match (args.json, args.sarif) {
        (true, _) => pretty(&tree(&report, &name))?,
        (_, true) => pretty(&sarif(&report, &name))?,
        _ => check::report::human(&report, &name, std::io::stdout().is_terminal()),
    };
    super::write("-".as_ref(), text.as_bytes())?;
    if report.findings.is_empty() { Ok(()) } else { Err(Failure::Reported) }
}

fn place(place: &Place) -> Value {
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

/// The report as a tree.
fn tree(report: &Report, file: &str) -> Value {
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
            "message": finding.to_string(),
            "registers": finding.registers.map(check::finding::registers),
            "counter": finding.counter().map(check::Counter::name),
            "outstanding": outstanding,
            "wait_states": found,
            "wait_states_needed": wanted,
            "mend": finding.mend(),
            "first": located.first.as_ref().map(place),
            "second": place(&located.second),
        })
    };
    let note = |note: &object::Note| json!({ "message": note.unknown.text(), "place": place(&note.place) });
    json!({
        "file": file,
        "processor": report.target.name,
        "entries": report.roots,
        "instructions": report.instructions,
        "findings": report.findings.iter().map(finding).collect::<Vec<_>>(),
        "notes": report.notes.iter().map(note).collect::<Vec<_>>(),
    })
}

/// Rule of what is not checked.
const NOT_CHECKED: &str = "not-checked";

fn sarif(report: &Report, file: &str) -> Value {
    let mut rules = vec![
        rule("read-in-flight", "a register is read before it has arrived", "wait counters"),
        rule("write-in-flight", "a register is written while a load to it is under way", "wait counters"),
        rule("overwrite-unread", "a register is overwritten before it has been read", "expcnt"),
        rule("return-in-flight", "a function returns while a load is under way", "calling convention"),
        rule(NOT_CHECKED, "a path is not checked", "what its instructions do not say"),
    ];
    let mut seen = std::collections::BTreeSet::new();
    let rows = hazards::RULES.iter().filter(|row| row.processors.contains(report.target));
    rules.extend(rows.filter(|row| seen.insert(row.id)).map(|row| rule(row.id, row.name, row.source)));
    let event = |row: &&EventRule| rule(row.id, row.name, row.source);
    rules.extend(rdna::EVENT_RULES.iter().map(event));
    rules.extend(single::rules(report.target).map(|row| event(&row)));
    rules.push(event(&&clauses::BROKEN_CLAUSE));
    let mut results: Vec<Value> = report.findings.iter().map(|located| result(located, file)).collect();
    results.extend(report.notes.iter().map(|note| {
        json!({
            "ruleId": NOT_CHECKED,
            "level": "note",
            "message": { "text": note.unknown.text() },
            "locations": [location(&note.place, file)],
        })
    }));
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "kernc check",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "artifacts": [{ "location": { "uri": file } }],
            "results": results,
        }],
    })
}

fn rule(id: &str, name: &str, source: &str) -> Value {
    json!({
        "id": id,
        "shortDescription": { "text": name },
        "help": { "text": format!("source: {source}") },
    })
}

fn result(located: &Located, file: &str) -> Value {
    let finding = &located.finding;
    let related: Vec<Value> = located.first.iter().map(|first| location(first, file)).collect();
    json!({
        "ruleId": finding.id(),
        "level": "error",
        "message": { "text": format!("{finding}; mended by {}", finding.mend()) },
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
