//! `kernc check FILE`: missing waits and hazards in the code of a code object, found without running it.

use super::inspect::{parse, whole};
use super::modes;
use super::rules::{Policy, RulesArgs, Spot, Verdict, level_of};
use super::told::Teller;
use super::{Failure, check_output, complain, page, source};
use check::object::{self, Located, Options, Place, Report};
use check::{Level, Problem};
use clap::Args;
use codeobj::disasm::SourcePlace;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

#[derive(Args)]
pub struct CheckArgs {
    /// Code object, loadable or relocatable (`-` reads standard input), or a source, which is compiled first.
    file: PathBuf,
    /// Processor that it will run on, with features if they matter, like `gfx90a:xnack-` (default: the file's own), or to
    /// compile a source for.
    #[arg(long, visible_alias = "target-id", value_name = "GFX")]
    mcpu: Option<String>,
    /// Begin at this kernel or function only.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// On GFX7 and GFX8: flat accesses may go to LDS, not to memory alone.
    #[arg(long)]
    flat_lds: bool,
    /// Calling convention of functions: what LLVM 19 does, what LLVM 14 does, or what the guide says.
    #[arg(long, value_name = "CONVENTION", default_value = "today", value_parser = super::abi::CONVENTIONS)]
    call_abi: String,
    #[command(flatten)]
    rules: RulesArgs,
    /// Write a page for a browser: findings in the code, beside its source where the object has a line table.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// How findings are printed; sarif is SARIF 2.1.0.
    #[arg(long, value_name = "human|json|sarif", default_value = "human", value_parser = ["human", "json", "sarif"])]
    format: String,
    /// The same as `--format json`.
    #[arg(long, conflicts_with_all = ["sarif", "format"])]
    json: bool,
    /// The same as `--format sarif`.
    #[arg(long, conflicts_with = "format")]
    sarif: bool,
}

/// Runs the command.
pub fn run(args: &CheckArgs) -> Result<(), Failure> {
    use std::io::IsTerminal;
    args.html.as_deref().map_or(Ok(()), check_output)?;
    let bytes = source::object(&args.file, args.mcpu.as_deref())?;
    let parsed = parse(&args.file, &bytes)?;
    let asked = modes::target_id(args.mcpu.as_deref())?;
    let options = Options {
        target: asked.map(|(target, _)| target),
        xnack: asked.and_then(|(_, modes)| modes.xnack),
        kernel: args.kernel.as_deref(),
        flat_lds: args.flat_lds,
        call_abi: super::abi::convention(&args.call_abi),
    };
    let name = args.file.display().to_string();
    let mut policy = args.rules.policy()?;
    if args.flat_lds {
        // Who says so wants both waits.
        policy.deny("flat-partial-wait");
    }
    let progress = Progress::new();
    let checked = object::check_with(&parsed, &options, &|done, all| progress.tell(done, all));
    progress.clear();
    let mut report = checked.map_err(|refusal| match refusal {
        object::Refusal::NoSuchKernel(_) => Failure::Usage(format!("{name}: {refusal}")),
        object::Refusal::UnknownProcessor(_) => Failure::File(format!("{name}: {refusal}; try `--mcpu`")),
    })?;
    if report.instructions == 0 {
        whole(&args.file, &parsed)?;
        return Err(Failure::File(format!("{name}: there is no code in it that could be checked")));
    }
    judge(&mut report, &policy, &args.file);
    complain(&policy.unused(&args.file));
    if let Some(html) = &args.html {
        let content = page::Content {
            command: "check",
            file: &args.file,
            object: &bytes,
            target: options.target,
            teller: &Teller::new(&args.file, None, false),
            reasons: &[],
            kernel: None,
            profile: None,
            findings: paged(&report),
        };
        page::save(html, content)?;
    }
    let pretty = |tree: &Value| {
        serde_json::to_string_pretty(tree)
            .map(|text| text + "\n")
            .map_err(|error| Failure::Internal(format!("error: {error}\n")))
    };
    let format = if args.json {
        "json"
    } else if args.sarif {
        "sarif"
    } else {
        &args.format
    };
    let text = match format {
        "json" => pretty(&tree(&report, &name))?,
        "sarif" => pretty(&sarif(&report, &name))?,
        _ => check::report::human(&report, &name, std::io::stdout().is_terminal()),
    };
    super::write("-".as_ref(), text.as_bytes())?;
    let counts = !report.findings.is_empty() || report.notes.iter().any(|note| note.counts);
    if counts { Err(Failure::Reported) } else { Ok(()) }
}

/// Tells someone who waits at a terminal how far it is.
struct Progress {
    is_terminal: bool,
    begun: Instant,
    /// Milliseconds after which there is something new to say.
    next: AtomicU64,
}

impl Progress {
    /// Between two lines, and before the first: what is quick needs none.
    const PAUSE: u64 = 500;

    fn new() -> Progress {
        use std::io::IsTerminal;
        let is_terminal = std::io::stderr().is_terminal();
        Progress { is_terminal, begun: Instant::now(), next: AtomicU64::new(Progress::PAUSE) }
    }

    fn tell(&self, done: usize, all: usize) {
        if !self.is_terminal {
            return;
        }
        let now = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let next = self.next.load(Ordering::Relaxed);
        let set = |next| {
            self.next.compare_exchange(next, now + Progress::PAUSE, Ordering::Relaxed, Ordering::Relaxed)
        };
        if now >= next && set(next).is_ok() {
            eprint!("\r{done} of {all} kernels and functions checked");
        }
    }

    /// Takes the line away.
    fn clear(&self) {
        if self.next.load(Ordering::Relaxed) > Progress::PAUSE {
            eprint!("\r\x1b[K");
        }
    }
}

/// What counts of what is wrong with an object, for a page; nothing of one that cannot be checked.
pub fn findings(bytes: &[u8], file: &Path, policy: &Policy) -> Vec<page::Finding> {
    let Ok(object) = parse(file, bytes) else { return Vec::new() };
    let Ok(mut report) = object::check(&object, &Options::default()) else { return Vec::new() };
    judge(&mut report, policy, file);
    paged(&report)
}

fn paged(report: &Report) -> Vec<page::Finding> {
    let notes = report.notes.iter().map(page::of_note);
    report.findings.iter().map(page::of_static).chain(notes).collect()
}

/// Leaves in the report what counts.
fn judge(report: &mut Report, policy: &Policy, file: &Path) {
    let hidden = &mut report.hidden;
    report.findings.retain(|located| {
        let rule = located.finding.id();
        let verdict = policy.judge(rule, &spot(&located.second, file));
        if verdict == Verdict::Hidden {
            match hidden.iter_mut().find(|(name, _)| *name == rule) {
                Some((_, count)) => *count += 1,
                None => hidden.push((rule, 1)),
            }
        }
        verdict == Verdict::Counts
    });
    report.unfollowed = 0;
    report.notes.retain_mut(|note| {
        let verdict = policy.judge(note.unknown.rule(), &spot(&note.place, file));
        note.counts = verdict == Verdict::Counts;
        report.unfollowed += usize::from(!note.counts);
        verdict != Verdict::Allowed
    });
}

fn spot<'a>(place: &'a Place, object: &'a Path) -> Spot<'a> {
    let symbol = place.symbol.as_ref().map(|(name, offset)| (name.as_str(), *offset));
    Spot { object, symbol, source: place.source.as_ref() }
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
            "level": finding.level().name(),
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
    let note = |note: &object::Note| json!({ "rule": note.unknown.rule(), "message": note.unknown.text(), "place": place(&note.place) });
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

/// How SARIF calls it.
fn severity(level: Level) -> &'static str {
    match level {
        Level::Certain => "error",
        Level::Manual => "warning",
        Level::Advice => "note",
    }
}

fn sarif(report: &Report, file: &str) -> Value {
    let rules: Vec<Value> = check::rules::all().map(|row| rule(&row)).collect();
    let mut results: Vec<Value> = report.findings.iter().map(|located| result(located, file)).collect();
    results.extend(report.notes.iter().map(|note| {
        json!({
            "ruleId": note.unknown.rule(),
            "level": severity(level_of(note.unknown.rule())),
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
