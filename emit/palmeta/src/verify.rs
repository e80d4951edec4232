//! Checks the tree of the metadata against the known keys.

use crate::schema::{Key, Kind, ROOT};
use objwriter::Value;
use std::collections::HashSet;
use std::fmt;

/// The kinds of errors in an entry of the metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Problem {
    /// The key is not known. The entry is kept.
    UnknownKey,
    /// A key that runtimes look for is missing.
    Missing,
    /// The key occurs twice in its map.
    Duplicate,
    /// The value has another type than the key requires.
    Type,
    /// The value has the right type but is out of range.
    Range,
    /// There are more findings than [`MOST_FINDINGS`]; the others are not listed.
    More,
}

/// A finding of the verification.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The keys from the root to the entry, such as `amdpal.pipelines[0].hardware_stages.cs.vgpr_count`.
    pub path: String,
    /// The kind of the error.
    pub problem: Problem,
    /// The rule, in words that follow the path.
    pub rule: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.rule)
    }
}

/// Largest number of findings that the verification lists.
pub const MOST_FINDINGS: usize = 1000;
/// A key with more characters is shortened in paths, so that damaged metadata does not make long paths.
const LONGEST_KEY: usize = 64;

/// Returns all differences between a tree and what the keys require, in the order of the tree.
pub(crate) fn verify(root: &Value) -> Vec<Finding> {
    let mut check = Check { path: Vec::new(), findings: Vec::new() };
    check.map(root, &ROOT);
    check.findings
}

struct Check {
    path: Vec<String>,
    findings: Vec<Finding>,
}

impl Check {
    fn found(&mut self, problem: Problem, rule: impl Into<String>) {
        if self.findings.len() < MOST_FINDINGS {
            self.findings.push(Finding { path: self.path.concat(), problem, rule: rule.into() });
        } else if self.findings.len() == MOST_FINDINGS {
            let rule = format!("there are more than {MOST_FINDINGS} findings");
            self.findings.push(Finding { path: String::new(), problem: Problem::More, rule });
        }
    }

    fn under(&mut self, step: String, check: impl FnOnce(&mut Check)) {
        self.path.push(step);
        check(self);
        self.path.pop();
    }

    /// Calls `check` for every entry of a map whose key is a new text, and reports all other entries.
    fn entries(&mut self, value: &Value, mut check: impl FnMut(&mut Check, &str, &Value)) -> bool {
        let Value::Map(entries) = value else {
            self.found(Problem::Type, "the value is a map");
            return false;
        };
        let mut seen = HashSet::new();
        for (key, value) in entries {
            let Value::Str(name) = key else {
                self.under(step(key), |this| this.found(Problem::Type, "the key is a text"));
                continue;
            };
            if !seen.insert(name) {
                self.under(step(key), |this| this.found(Problem::Duplicate, "the key occurs twice"));
                continue;
            }
            self.under(step(key), |this| check(this, name, value));
        }
        true
    }

    fn map(&mut self, value: &Value, keys: &'static [Key]) {
        let is_map =
            self.entries(value, |this, name, value| match keys.iter().find(|key| key.name == name) {
                Some(key) => this.value(value, &key.kind),
                None => this.found(Problem::UnknownKey, "the key is not known; the entry is kept"),
            });
        for key in keys.iter().filter(|key| is_map && key.is_required && value.get(key.name).is_none()) {
            self.under(key.name.to_owned(), |this| this.found(Problem::Missing, "the key is missing"));
        }
    }

    fn value(&mut self, value: &Value, kind: &Kind) {
        match kind {
            Kind::Text => self.expect(matches!(value, Value::Str(_)), "a text"),
            Kind::ShortText(most) => match value {
                Value::Str(text) if text.len() > *most => {
                    self.found(Problem::Range, format!("the text has at most {most} bytes"));
                }
                value => self.expect(matches!(value, Value::Str(_)), "a text"),
            },
            Kind::Word(words) => self.word(value, words),
            Kind::Words(words) => self.items(value, 0, words.len(), |this, item| this.word(item, words)),
            Kind::Number(bits) => self.number(value, *bits),
            Kind::Bool => self.expect(matches!(value, Value::Bool(_)), "`true` or `false`"),
            Kind::Float => self.expect(
                matches!(value, Value::Float(_) | Value::Uint(_) | Value::Int(_)),
                "a floating-point number",
            ),
            Kind::Bytes => self.expect(matches!(value, Value::Bytes(_)), "a sequence of bytes"),
            Kind::Numbers { bits, least, most } => {
                self.items(value, *least, *most, |this, item| this.number(item, *bits));
            }
            Kind::Map(keys) => self.map(value, keys),
            Kind::Maps(keys, most) => self.items(value, 0, *most, |this, item| this.map(item, keys)),
            Kind::Named(names, keys) => {
                self.entries(value, |this, name, value| match names.contains(&name) {
                    true => this.map(value, keys),
                    false => this.found(Problem::UnknownKey, "the key is not known; the entry is kept"),
                });
            }
            Kind::AnyNamed(keys) => {
                self.entries(value, |this, _, value| this.map(value, keys));
            }
            Kind::Registers => self.registers(value),
        }
    }

    fn expect(&mut self, is_right: bool, wanted: &str) {
        if !is_right {
            self.found(Problem::Type, format!("the value is {wanted}"));
        }
    }

    fn word(&mut self, value: &Value, words: &[&str]) {
        match value {
            Value::Str(text) if !words.contains(&&**text) => {
                self.found(Problem::Range, format!("the value is one of {}", words.join(", ")));
            }
            value => self.expect(matches!(value, Value::Str(_)), "a text"),
        }
    }

    fn number(&mut self, value: &Value, bits: u32) {
        match value {
            Value::Uint(number) if bits < 64 && number >> bits != 0 => {
                self.found(Problem::Range, format!("the number has at most {bits} bits"));
            }
            value => self.expect(matches!(value, Value::Uint(_)), "an unsigned number"),
        }
    }

    fn items(&mut self, value: &Value, least: usize, most: usize, mut check: impl FnMut(&mut Check, &Value)) {
        let Value::Seq(items) = value else {
            return self.found(Problem::Type, "the value is a sequence");
        };
        if least == most && items.len() != most {
            self.found(Problem::Range, format!("the sequence has {most} items"));
        } else if items.len() > most {
            self.found(Problem::Range, format!("the sequence has at most {most} items"));
        }
        for (index, item) in items.iter().enumerate() {
            self.under(format!("[{index}]"), |this| check(this, item));
        }
    }

    fn registers(&mut self, value: &Value) {
        let Value::Map(entries) = value else {
            return self.found(Problem::Type, "the value is a map");
        };
        let mut seen = HashSet::new();
        for (key, value) in entries {
            self.under(step(key), |this| {
                match key {
                    Value::Uint(number) if number >> 32 != 0 => {
                        this.found(Problem::Range, "the number of a register has at most 32 bits");
                    }
                    Value::Uint(number) if !seen.insert(number) => {
                        this.found(Problem::Duplicate, "the register occurs twice");
                    }
                    Value::Uint(_) => {}
                    _ => this.found(Problem::Type, "the key is the number of a register"),
                }
                this.number(value, 32);
            });
        }
    }
}

/// Returns a key as a step of a path. Keys of the metadata begin with a dot.
fn step(key: &Value) -> String {
    match key {
        Value::Str(text) if text.starts_with('.') || text.starts_with("amdpal.") => shortened(text),
        Value::Str(text) => format!(".{}", shortened(text)),
        Value::Uint(number) => format!("[{number:#x}]"),
        Value::Int(number) => format!("[{number}]"),
        Value::Bool(value) => format!("[{value}]"),
        _ => "[?]".to_owned(),
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST_KEY) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
