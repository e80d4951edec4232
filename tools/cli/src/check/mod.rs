//! `kernc check FILE`: finds missing waits and hazards in the code of a code object without running it.

mod formats;
mod progress;
mod total;

use super::container::{self, Chosen, EntryArgs, Opened};
use super::inspect::{check_not_truncated, parse};
use super::modes;
use super::report_renderer::ReportRenderer;
use super::rules::{FindingLocation, Policy, RulesArgs, Verdict, level_of};
use super::{Failure, check_output, complain, older_drivers, page, pretty, source};
use check::object::{self, Options, Place, Report};
use clap::Args;
use kernc::{Modes, Target};
use progress::Progress;
use std::path::{Path, PathBuf};
use total::Total;

#[derive(Args)]
pub struct CheckArgs {
    /// The code to check: a code object (loadable or relocatable; `-` reads standard input), a file with
    /// several code objects (offload bundle, archive, host program or library), a binary of an older OpenCL
    /// driver, or a source, which is compiled first.
    file: PathBuf,
    #[command(flatten)]
    entry: EntryArgs,
    /// Processor that the code will run on, with features if they matter, like `gfx90a:xnack-` (default: the
    /// one in the file). For a source, the processor to compile it for.
    #[arg(long, visible_alias = "target-id", value_name = "GFX")]
    mcpu: Option<String>,
    /// Begin at this kernel or function only.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// On GFX7 and GFX8, assume that flat accesses may go to LDS and not only to memory.
    #[arg(long)]
    flat_lds: bool,
    /// Calling convention of functions: `today` is what LLVM 19 does, `llvm14` what LLVM 14 does, `guide`
    /// what LLVM's AMDGPU guide says.
    #[arg(long, value_name = "CONVENTION", default_value = "today", value_parser = crate::abi::CONVENTIONS)]
    call_abi: String,
    #[command(flatten)]
    rules: RulesArgs,
    /// Write an HTML page that shows the findings in the code, and beside its source if the object has a line
    /// table.
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
    args.html.as_deref().map_or(Ok(()), check_output)?;
    let bytes = source::object(&args.file, args.mcpu.as_deref())?;
    let asked = modes::target_id(args.mcpu.as_deref())?;
    let opened = match older_drivers::read(&args.file, &bytes)? {
        Some(read) => {
            let objects = older_drivers::code_objects(&read, &args.file, asked.map(|(target, _)| target))?;
            Opened::of_parts(&args.file, objects, &args.entry)?
        }
        None => container::open(&args.file, &bytes, &args.entry, asked)?,
    };
    let mut checker = Checker::new(args, asked)?;
    if opened.is_container && args.html.is_none() && !args.entry.names_one(&opened) {
        return all(&mut checker, &opened);
    }
    let complete = opened.finish();
    let chosen = opened.single_object(&args.file)?;
    let report = checker.examine(&chosen, "")?;
    complain(&checker.policy.unused(&chosen.file));
    if let Some(html) = &args.html {
        let content = page::Content {
            command: "check",
            file: &chosen.file,
            object: &chosen.bytes,
            target: asked.map(|(target, _)| target),
            teller: &ReportRenderer::new(&chosen.file, None, false),
            reasons: &[],
            kernel: None,
            profile: None,
            findings: paged(&report),
            flows: &[],
        };
        page::save(html, content)?;
    }
    let name = chosen.file.display().to_string();
    checker.print(&match args.format() {
        "json" => pretty(&formats::tree(&report, &name))?,
        "sarif" => pretty(&formats::sarif([(&report, name.as_str())].into_iter()))?,
        _ => checker.human(&report, &name),
    })?;
    complete?;
    if counts(&report) > 0 { Err(Failure::Reported) } else { Ok(()) }
}

/// Checks each code object of a container file. The report for people shows only the code objects that have
/// findings, and gives the number of the others.
fn all(checker: &mut Checker<'_>, opened: &Opened<'_>) -> Result<(), Failure> {
    let format = checker.args.format();
    let mut total = Total::default();
    let mut kept = Vec::new();
    for (index, chosen) in opened.chosen.iter().enumerate() {
        let name = chosen.file.display().to_string();
        let position = format!("code object {} of {}: ", index + 1, opened.chosen.len());
        let report = match checker.examine(chosen, &position) {
            Ok(report) => report,
            Err(Failure::Usage(why) | Failure::File(why)) => {
                total.not_checked.push((name, why));
                continue;
            }
            Err(other) => return Err(other),
        };
        total.add(&report);
        if format == "human" {
            if counts(&report) > 0 || !report.notes.is_empty() {
                checker.print(&checker.human(&report, &name))?;
            }
        } else {
            kept.push((report, name));
        }
    }
    complain(&checker.policy.unused(&checker.args.file));
    checker.print(&match format {
        "json" => pretty(&total.tree(&checker.args.file, &kept))?,
        "sarif" => pretty(&formats::sarif(kept.iter().map(|(report, name)| (report, name.as_str()))))?,
        _ => total.human(&checker.args.file),
    })?;
    if format == "sarif" {
        complain(&total.skipped());
    }
    opened.finish()?;
    if total.objects == 0 {
        let file = checker.args.file.display();
        return Err(Failure::File(format!("{file}: none of its code objects could be checked")));
    }
    let is_denied = checker.policy.counts_unfollowed() && !total.not_checked.is_empty();
    if total.reports > 0 || is_denied { Err(Failure::Reported) } else { Ok(()) }
}

impl CheckArgs {
    /// Returns `human`, `json` or `sarif`.
    fn format(&self) -> &str {
        match (self.json, self.sarif) {
            (true, _) => "json",
            (_, true) => "sarif",
            _ => &self.format,
        }
    }
}

/// Checks code objects with the options of the command line.
struct Checker<'a> {
    args: &'a CheckArgs,
    options: Options<'a>,
    policy: Policy,
}

impl<'a> Checker<'a> {
    fn new(args: &'a CheckArgs, asked: Option<(&'static Target, Modes)>) -> Result<Checker<'a>, Failure> {
        let options = Options {
            target: asked.map(|(target, _)| target),
            xnack: asked.and_then(|(_, modes)| modes.xnack),
            kernel: args.kernel.as_deref(),
            flat_lds: args.flat_lds,
            call_abi: crate::abi::convention(&args.call_abi),
        };
        let mut policy = args.rules.policy()?;
        if args.flat_lds {
            // With this option, flat accesses may go to LDS, so they need separate waits for both counters.
            // Findings about a missing wait of this kind therefore always count.
            policy.deny("flat-partial-wait");
        }
        Ok(Checker { args, options, policy })
    }

    /// Returns the report of a code object, without the findings that the policy hides. `position` says which
    /// code object of how many this is, and is printed before the progress.
    ///
    /// # Errors
    /// The code object cannot be read, is for an unknown processor, or has no code or no kernel of the chosen
    /// name.
    fn examine(&mut self, chosen: &Chosen<'_>, position: &str) -> Result<Report, Failure> {
        let name = chosen.file.display();
        let parsed = parse(&chosen.file, &chosen.bytes)?;
        let progress = Progress::new();
        let checked =
            object::check_with(&parsed, &self.options, &|done, all| progress.print(position, done, all));
        progress.clear();
        let mut report = checked.map_err(|refusal| match refusal {
            object::Refusal::NoSuchKernel(_) => Failure::Usage(format!("{name}: {refusal}")),
            object::Refusal::UnknownProcessor(_) => Failure::File(format!("{name}: {refusal}; try `--mcpu`")),
            object::Refusal::UnknownFact(_) => Failure::File(format!("{name}: {refusal}")),
        })?;
        if report.instructions == 0 {
            check_not_truncated(&chosen.file, &parsed)?;
            return Err(Failure::File(format!("{name}: there is no code in it that could be checked")));
        }
        judge(&mut report, &self.policy, &chosen.file);
        Ok(report)
    }

    fn human(&self, report: &Report, name: &str) -> String {
        use std::io::IsTerminal;
        check::report::human(report, name, std::io::stdout().is_terminal())
    }

    fn print(&self, text: &str) -> Result<(), Failure> {
        crate::write("-".as_ref(), text.as_bytes())
    }
}

/// Returns how many findings and notes of a report count.
fn counts(report: &Report) -> usize {
    report.findings.len() + report.notes.iter().filter(|note| note.counts).count()
}

/// Returns the findings about an object for the HTML page, without those that the policy hides. Returns no
/// findings if the object cannot be checked.
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

/// Removes from the report the findings that do not count.
fn judge(report: &mut Report, policy: &Policy, file: &Path) {
    let hidden = &mut report.hidden;
    report.findings.retain(|located| {
        let rule = located.finding.id();
        let verdict = policy.judge(rule, located.finding.level(), &rule_location(&located.second, file));
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
        let rule = note.unknown.rule();
        let verdict = policy.judge(rule, level_of(rule), &rule_location(&note.place, file));
        note.counts = verdict == Verdict::Counts;
        report.unfollowed += usize::from(!note.counts);
        verdict != Verdict::Allowed
    });
}

fn rule_location<'a>(place: &'a Place, object: &'a Path) -> FindingLocation<'a> {
    let symbol = place.symbol.as_ref().map(|(name, offset)| (name.as_str(), *offset));
    FindingLocation { object, symbol, source: place.source.as_ref() }
}
