//! Formats the report of the checker for people. It shows disassembly with carets, like the diagnostics of a
//! compiler.

use crate::clauses::{BROKEN_CLAUSE, CLAUSE_WAIT};
use crate::finding::{Access, Finding, Level, Problem};
use crate::object::{Located, Note, Place, Report};
use annotate_snippets::{AnnotationKind, Group, Level as Shown, Renderer, Snippet};
use codeobj::disasm::SourcePlace;
use std::fmt::Write;

/// Returns the report as text.
pub fn human(report: &Report, file: &str, color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut out = String::new();
    for located in &report.findings {
        finding(located, file, &renderer, &mut out);
    }
    for Note { place, unknown, counts } in &report.notes {
        let (rule, text) = (unknown.rule(), unknown.text());
        let _ = match counts {
            true => writeln!(out, "error[{rule}]: {}{}: {text}", position(place), instruction(place)),
            false => writeln!(out, "note: {}{}: {text}", position(place), instruction(place)),
        };
    }
    out += &hidden(&report.hidden);
    let count = report.findings.len() + report.notes.iter().filter(|note| note.counts).count();
    let Report { instructions, roots, target, .. } = report;
    let entries = if *roots == 1 { "entry" } else { "entries" };
    let said = match count {
        0 if report.unfollowed > 0 => "nothing found".to_owned(),
        0 => "nothing to report".to_owned(),
        1 => "1 report".to_owned(),
        count => format!("{count} reports"),
    };
    let _ =
        write!(out, "{file}: {said} in {instructions} instructions, {roots} {entries}, for {}", target.name);
    let _ = match report.unfollowed {
        0 => writeln!(out),
        1 => writeln!(out, "; 1 path was not followed"),
        count => writeln!(out, "; {count} paths were not followed"),
    };
    out
}

/// Returns a line that says how many findings of each rule are hidden, or an empty string if none are.
pub fn hidden(counts: &[(&str, usize)]) -> String {
    if counts.is_empty() {
        return String::new();
    }
    let total: usize = counts.iter().map(|(_, count)| count).sum();
    let list: Vec<String> = counts.iter().map(|(rule, count)| format!("{rule} {count}")).collect();
    let plural = if total == 1 { "finding is" } else { "findings are" };
    format!("note: {total} {plural} not certain ({}): `--rules all` shows them\n", list.join(", "))
}

fn instruction(place: &Place) -> String {
    if place.text.is_empty() { String::new() } else { format!(" `{}`", place.text) }
}

fn finding(located: &Located, file: &str, renderer: &Renderer, out: &mut String) {
    let finding = &located.finding;
    let title = finding.to_string();
    let listing = &located.listing;
    let (one, two) = labels(finding);
    let mut snippet = Snippet::source(listing.text.as_str())
        .line_start(listing.line)
        .path(file)
        .annotation(AnnotationKind::Primary.span(listing.second.clone()).label(two));
    if let Some(first) = &listing.first {
        snippet = snippet.annotation(AnnotationKind::Context.span(first.clone()).label(one));
    }
    let mitigation = match located.is_alone() {
        true => finding.mitigation(),
        false => format!("between them: {}", finding.mitigation()),
    };
    let places = match &located.first {
        Some(first) if !located.is_alone() => {
            format!("{} and {}", position(first), position(&located.second))
        }
        Some(_) => position(&located.second),
        None => format!("the caller of the function, and {}", position(&located.second)),
    };
    let shown = match finding.level() {
        Level::Certain => Shown::ERROR,
        Level::Manual => Shown::WARNING,
        Level::Advice => Shown::NOTE,
    };
    let group = Group::with_title(shown.primary_title(title.as_str()).id(finding.id()))
        .element(snippet)
        .element(Shown::NOTE.message(places.as_str()))
        .element(Shown::HELP.message(mitigation.as_str()));
    out.push_str(&renderer.render(&[group]));
    out.push_str("\n\n");
}

/// Returns the labels that the report writes at the two instructions.
fn labels(finding: &Finding) -> (&'static str, &'static str) {
    match finding.problem {
        Problem::InFlight { access, .. } => match access {
            Access::Reads => ("under way from here", "read here"),
            Access::Writes => ("under way from here", "written here"),
            Access::Overwrites => ("yet to be read by this", "overwritten here"),
            Access::Returns => ("under way from here", "returned here"),
        },
        // If the instruction is wrong by itself, it has one label.
        _ if finding.first == finding.second => ("", "here"),
        Problem::Event { rule } if [BROKEN_CLAUSE.id, CLAUSE_WAIT.id].contains(&rule.id) => {
            ("of this clause", "this is of another kind")
        }
        Problem::Hazard { .. } | Problem::Event { .. } => ("after this", "this comes too soon"),
    }
}

/// Returns the position of an instruction as text, such as `saxpy+0x14 (saxpy.cl:7)`.
fn position(place: &Place) -> String {
    let mut text = match &place.symbol {
        Some((name, offset)) if !name.is_empty() => format!("{}+{offset:#x}", name.escape_debug()),
        _ => format!("{:#x}", place.address),
    };
    if let Some(SourcePlace { file, line, .. }) = &place.source {
        let file = file.rsplit('/').next().unwrap_or(file);
        let _ = write!(text, " ({}:{line})", file.escape_debug());
    }
    text
}
