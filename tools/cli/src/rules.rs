//! Decides which findings are reported as errors. The decision depends on their certainty, on options that
//! name rules, and on a file of acknowledged findings. `kernc check` and the strict mode of `kernc run` share
//! this module.

use super::{Failure, read};
use check::Level;
use clap::Args;
use kernc::sim;
use serde::Deserialize;
use std::cell::Cell;
use std::path::{Path, PathBuf};

/// File of acknowledged findings that is read by default if it exists.
const USUAL: &str = "kernc-check.toml";

#[derive(Args, Clone)]
pub struct RulesArgs {
    /// Findings that count: `certain` are those about which manuals and practice agree, `manual` adds those
    /// that only the manuals require, `all` adds all others.
    #[arg(long, value_name = "certain|manual|all", default_value = "certain", value_parser = ["certain", "manual", "all"])]
    rules: String,
    /// Findings of this rule do not count.
    #[arg(long, value_name = "RULE")]
    allow: Vec<String>,
    /// Findings of this rule count, whatever their certainty.
    #[arg(long, value_name = "RULE")]
    deny: Vec<String>,
    /// File of findings that somebody has reviewed and that do not count (default: `kernc-check.toml` if it
    /// exists).
    #[arg(long, value_name = "FILE")]
    acknowledged: Option<PathBuf>,
}

/// Decides which findings count.
pub struct Policy {
    level: Level,
    allow: Vec<String>,
    deny: Vec<String>,
    file: PathBuf,
    acknowledged: Vec<Entry>,
}

/// The file of acknowledged findings, with its `[[acknowledged]]` tables.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Acknowledged {
    #[serde(default)]
    acknowledged: Vec<Entry>,
}

/// A finding that a person has reviewed and acknowledged.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    rule: String,
    /// Name of the object's file without directories.
    object: Option<String>,
    /// Position of the acknowledged finding: `kernel`, `kernel+0x14` or `file.k:7`.
    at: Option<String>,
    /// Explanation for readers of the file.
    why: String,
    #[serde(skip)]
    used: Cell<bool>,
}

/// Position of a finding: the file of the object, the kernel with the byte offset in it, and the source
/// position.
pub struct FindingLocation<'a> {
    pub object: &'a Path,
    pub symbol: Option<(&'a str, u64)>,
    pub source: Option<&'a sim::SourcePlace>,
}

/// Decision about a finding.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Counts,
    /// The finding is not certain enough.
    Hidden,
    /// The finding does not count, because its rule is allowed or because somebody has acknowledged it.
    Allowed,
}

impl RulesArgs {
    pub fn policy(&self) -> Result<Policy, Failure> {
        for rule in self.allow.iter().chain(&self.deny) {
            check_rule_name(rule).map_err(Failure::Usage)?;
        }
        let file = self.acknowledged.clone().unwrap_or_else(|| USUAL.into());
        let acknowledged = match self.acknowledged.is_some() || file.is_file() {
            true => entries(&file)?,
            false => Vec::new(),
        };
        Ok(Policy {
            level: self.level(),
            allow: self.allow.clone(),
            deny: self.deny.clone(),
            file,
            acknowledged,
        })
    }
}

impl RulesArgs {
    /// Returns the lowest certainty of findings that are reported. It applies to rules that the options
    /// neither deny nor allow.
    fn level(&self) -> Level {
        match self.rules.as_str() {
            "all" => Level::Advice,
            "manual" => Level::Manual,
            _ => Level::Certain,
        }
    }

    /// Returns the certainty from which findings must be examined.
    pub fn lowest(&self) -> Level {
        if self.deny.is_empty() { self.level() } else { Level::Advice }
    }
}

fn entries(file: &Path) -> Result<Vec<Entry>, Failure> {
    let wrong = |why: String| Failure::File(format!("{}: {why}", file.display()));
    let text = String::from_utf8(read(file)?).map_err(|_| wrong("it is not UTF-8 text".into()))?;
    let read: Acknowledged =
        toml::from_str(&text).map_err(|error| wrong(error.to_string().trim_end().into()))?;
    for entry in &read.acknowledged {
        check_rule_name(&entry.rule).map_err(wrong)?;
        if entry.why.trim().is_empty() {
            return Err(wrong(format!("an entry for {} does not say why", entry.rule)));
        }
    }
    Ok(read.acknowledged)
}

/// Reports an unknown rule name.
fn check_rule_name(rule: &str) -> Result<(), String> {
    if check::rules::find(rule).is_some() || sim::rules().iter().any(|known| known.id == rule) {
        return Ok(());
    }
    let names = check::rules::all().map(|rule| rule.id).chain(sim::rules().iter().map(|rule| rule.id));
    let word =
        |name: &str| rule.split('-').filter(|part| name.split('-').any(|other| other == *part)).count();
    let distance = |name: &&str| (std::cmp::Reverse(word(name)), name.len().abs_diff(rule.len()));
    let near = names.min_by_key(distance).filter(|name| word(name) > 0);
    let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    Err(format!("there is no rule `{rule}`{near}"))
}

/// Returns the description of a rule.
pub fn page(rule: &str) -> Option<String> {
    let strict = sim::rules().iter().find(|known| known.id == rule);
    let strict = strict.map(|rule| {
        format!("{}: {}\n\n{}\n\nfound by: kernc run (strict mode)\n", rule.id, rule.name, rule.text)
    });
    check::rules::page(rule).or(strict)
}

/// Returns the certainty of a rule.
pub fn level_of(rule: &str) -> Level {
    check::rules::find(rule).map_or(Level::Certain, |rule| rule.level)
}

impl Policy {
    /// Returns the default policy.
    pub fn usual() -> Policy {
        let (allow, deny) = (Vec::new(), Vec::new());
        Policy { level: Level::Certain, allow, deny, file: PathBuf::new(), acknowledged: Vec::new() }
    }

    /// Makes all findings of a rule count.
    pub fn deny(&mut self, rule: &str) {
        self.deny.push(rule.to_owned());
    }

    /// Returns whether the policy has exceptions from its lowest certainty: rules that it allows or denies,
    /// or acknowledged findings.
    pub fn has_exceptions(&self) -> bool {
        !(self.allow.is_empty() && self.deny.is_empty() && self.acknowledged.is_empty())
    }

    /// Returns whether paths that were not followed count.
    pub fn counts_unfollowed(&self) -> bool {
        self.deny.iter().any(|rule| rule == "unfollowed")
    }

    /// Decides whether a finding is reported. `rule` is the rule of the finding, and `level` its certainty.
    pub fn judge(&self, rule: &str, level: Level, location: &FindingLocation) -> Verdict {
        let is_acknowledged = |entry: &&Entry| entry.rule == rule && entry.is_at(location);
        if let Some(entry) = self.acknowledged.iter().find(is_acknowledged) {
            entry.used.set(true);
            return Verdict::Allowed;
        }
        if self.allow.iter().any(|allowed| allowed == rule) {
            return Verdict::Allowed;
        }
        let counts = level >= self.level || self.deny.iter().any(|denied| denied == rule);
        if counts { Verdict::Counts } else { Verdict::Hidden }
    }

    /// Returns a note for each acknowledgement that is about this object but matched no finding.
    pub fn unused(&self, object: &Path) -> String {
        let unused = self.acknowledged.iter().filter(|entry| !entry.used.get() && entry.is_for(object));
        let file = self.file.display();
        unused
            .map(|entry| {
                let at = entry.at.as_ref().map_or(String::new(), |at| format!(" at {at}"));
                format!("note: {file}: nothing was found for the entry of {}{at}\n", entry.rule)
            })
            .collect()
    }
}

impl Entry {
    fn is_for(&self, object: &Path) -> bool {
        let name = object.file_name().map(|name| name.to_string_lossy());
        self.object.as_deref().is_none_or(|wanted| name.is_some_and(|name| name == wanted))
    }

    fn is_at(&self, location: &FindingLocation) -> bool {
        let Some(at) = self.at.as_deref() else { return self.is_for(location.object) };
        let symbol =
            location.symbol.is_some_and(|(name, offset)| at == name || at == format!("{name}+{offset:#x}"));
        let source = location.source.is_some_and(|place| {
            let name = place.file.rsplit('/').next().unwrap_or(&place.file);
            at == place.to_string() || at == format!("{name}:{}", place.line)
        });
        self.is_for(location.object) && (symbol || source)
    }
}
