//! Sums over all code objects of a container.

use super::{counts, formats};
use check::Level;
use check::object::Report;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// Sums over the code objects of a container.
#[derive(Default)]
pub(super) struct Total {
    /// Number of code objects that were checked.
    pub objects: usize,
    instructions: usize,
    /// Number of kernels and functions.
    entries: usize,
    /// Number of findings and notes that count.
    pub reports: usize,
    unfollowed: usize,
    /// Number of findings of each rule, without the findings that the policy hides. The most serious rules
    /// come first.
    found: BTreeMap<(std::cmp::Reverse<Level>, &'static str), usize>,
    /// Number of findings of each rule that do not count.
    hidden: BTreeMap<&'static str, usize>,
    /// Code objects that were not checked, with the reasons.
    pub not_checked: Vec<(String, String)>,
}

impl Total {
    /// Adds the report of a code object.
    pub(super) fn add(&mut self, report: &Report) {
        self.objects += 1;
        self.instructions += report.instructions;
        self.entries += report.roots;
        self.reports += counts(report);
        self.unfollowed += report.unfollowed;
        for located in &report.findings {
            let finding = &located.finding;
            *self.found.entry((std::cmp::Reverse(finding.level()), finding.id())).or_default() += 1;
        }
        for (rule, count) in &report.hidden {
            *self.hidden.entry(rule).or_default() += count;
        }
    }

    /// Returns the totals as text: one line for each rule, and one for the whole container.
    pub(super) fn human(&self, file: &Path) -> String {
        let mut out = self.skipped();
        for ((level, rule), count) in &self.found {
            let _ = writeln!(out, "{count:9} {rule} ({})", level.0.name());
        }
        out += &check::report::hidden(
            &self.hidden.iter().map(|(rule, count)| (*rule, *count)).collect::<Vec<_>>(),
        );
        let Total { objects, instructions, entries, unfollowed, .. } = self;
        let said = match self.reports {
            0 if self.unfollowed > 0 || !self.not_checked.is_empty() => "nothing found".to_owned(),
            0 => "nothing to report".to_owned(),
            1 => "1 report".to_owned(),
            count => format!("{count} reports"),
        };
        let (objects, entries) =
            (plural(*objects, "code object", "code objects"), plural(*entries, "entry", "entries"));
        let _ =
            write!(out, "{}: {said} in {objects}, {instructions} instructions, {entries}", file.display());
        let unfollowed = (*unfollowed > 0).then(|| match unfollowed {
            1 => "1 path was not followed".to_owned(),
            count => format!("{count} paths were not followed"),
        });
        let not_checked = (!self.not_checked.is_empty())
            .then(|| plural(self.not_checked.len(), "code object not checked", "code objects not checked"));
        for said in unfollowed.into_iter().chain(not_checked) {
            let _ = write!(out, "; {said}");
        }
        out.push('\n');
        out
    }

    /// Returns a line for each code object that was not checked.
    pub(super) fn skipped(&self) -> String {
        self.not_checked.iter().map(|(_, why)| format!("note: not checked: {why}\n")).collect()
    }

    /// Returns the totals, and the reports of the code objects, as JSON.
    pub(super) fn tree(&self, file: &Path, reports: &[(Report, String)]) -> Value {
        let not_checked = self
            .not_checked
            .iter()
            .map(|(file, why)| json!({ "file": file, "message": why }))
            .collect::<Vec<_>>();
        json!({
            "file": file.display().to_string(),
            "entries": self.entries,
            "instructions": self.instructions,
            "unfollowed": self.unfollowed,
            "objects": reports.iter().map(|(report, name)| formats::tree(report, name)).collect::<Vec<_>>(),
            "not_checked": not_checked,
        })
    }
}

fn plural(count: usize, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}
