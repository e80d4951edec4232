//! Renders faults and findings for people who know the source: with file, line and source text, and with the
//! instruction, the work-item and other facts as notes. With `--isa`, instructions are shown instead of the
//! source.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use kernc::sim::{Fault, FaultClass, Location, Report, SourcePlace};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::io::IsTerminal;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Help text for a run that has reached its limit of instructions.
const BUDGET_HELP: &str = "a kernel that needs more gets it with `--max-instructions COUNT`";

/// Help text for a deadlock within a wave: a lane holds a lock but is inactive, because other lanes of the
/// wave wait for the lock.
const OWN_LANE_HELP: &str = "let the lane that takes the lock do its work and give the lock back inside of the loop, or take the lock with one lane of the wave";

/// Renders reports. It reads and caches the source files that line tables name.
#[derive(Default)]
pub struct ReportRenderer {
    isa: bool,
    /// Directory of the object file. Files with relative names in line tables are looked up there too.
    beside: PathBuf,
    texts: RefCell<HashMap<String, Option<String>>>,
}

/// A source position with its label.
struct Mark<'a> {
    at: &'a SourcePlace,
    label: &'a str,
    kind: AnnotationKind,
}

impl ReportRenderer {
    /// Creates a renderer. `file` is the program that runs; `source` is its text if it is a source file. With
    /// `isa`, instructions are shown instead of the source.
    pub fn new(file: &Path, source: Option<&str>, isa: bool) -> ReportRenderer {
        let beside = file.parent().unwrap_or(Path::new("")).to_owned();
        let text = source.map(|text| (file.display().to_string(), Some(text.to_owned())));
        ReportRenderer { isa, beside, texts: RefCell::new(text.into_iter().collect()) }
    }

    /// Returns the text of a source line. Returns `None` with `--isa` or if the file cannot be read.
    pub fn line(&self, file: &str, line: u32) -> Option<String> {
        if self.isa {
            return None;
        }
        self.read_file(file);
        let texts = self.texts.borrow();
        let text = texts.get(file)?.as_deref()?;
        text.lines().nth(line.checked_sub(1)? as usize).map(str::to_owned)
    }

    /// Returns the text of a file that a line table names, if it can be read.
    pub fn text(&self, file: &str) -> Option<String> {
        self.read_file(file);
        self.texts.borrow().get(file)?.clone()
    }

    /// Returns the report of the fault that ended a dispatch.
    pub fn fault(&self, fault: &Fault) -> String {
        if let Fault::Found(report) = fault {
            return self.report(report);
        }
        let places: &[Location] = if self.isa { &[] } else { fault.places() };
        let marks = places.iter().filter_map(|at| at.source.as_ref());
        let mut marks =
            marks.map(|at| Mark { at, label: "here", kind: AnnotationKind::Primary }).collect::<Vec<_>>();
        // Several waves are often at the same position.
        let mut seen = HashSet::new();
        marks.retain(|mark| seen.insert((&mark.at.file, mark.at.line, mark.at.column)));
        let title = fault.headline();
        let notes = match fault {
            // The notes about the waits name the position of each wave, so no further positions are added.
            Fault::Stuck { waits, count, .. } if !waits.is_empty() => stuck_notes(waits, *count),
            _ => {
                let places = fault.places().iter().flat_map(location_notes);
                places.chain(fault.notes().iter().cloned()).collect()
            }
        };
        let fix = help(fault);
        self.render_marks("fault", None, &title, &marks, &notes, fix).unwrap_or_else(|| {
            let help = fix.map_or(String::new(), |fix| format!("help: {fix}\n"));
            format!("fault: {fault}\n{help}")
        })
    }

    /// Returns the note about a debug trap that was executed without a debugger.
    pub fn debug_trap(&self, at: &Location) -> String {
        let title = "debugtrap: no debugger is there, and the wave goes on";
        let mark = |at| Mark { at, label: "the first one", kind: AnnotationKind::Primary };
        let marks: Vec<Mark> = at.source.iter().filter(|_| !self.isa).map(mark).collect();
        let shown = self.render_marks("note", None, title, &marks, &[who(at)], None);
        shown.unwrap_or_else(|| format!("note: {title}; the first one: {at}\n"))
    }

    /// Returns the report of a finding of strict mode.
    pub fn report(&self, report: &Report) -> String {
        let mut marks = Vec::new();
        let mut notes = Vec::new();
        if let Some((at, label)) = report.other.as_ref() {
            marks.extend(at.source.as_ref().map(|at| Mark { at, label, kind: AnnotationKind::Context }));
            notes.push(format!("first {}, which {label}", who(at)));
            notes.push(format!("then {}, which {}", who(&report.at), report.at_label));
        } else {
            notes.push(who(&report.at));
        }
        notes.extend(report.at.calls.iter().map(ToString::to_string));
        let primary = report.at.source.as_ref().filter(|_| !self.isa);
        let (label, kind) = (report.at_label.as_str(), AnnotationKind::Primary);
        let shown = primary.and_then(|at| {
            marks.push(Mark { at, label, kind });
            notes.extend(report.notes.iter().cloned());
            let fix = report.fix.as_deref();
            self.render_marks(report.class.name(), Some(&report.rule), &report.message, &marks, &notes, fix)
        });
        shown.unwrap_or_else(|| report.to_string())
    }

    /// Returns the report with its source lines, in which the positions are marked. Returns `None` if none of
    /// the marked files can be read.
    fn render_marks(
        &self,
        level: &str,
        rule: Option<&str>,
        title: &str,
        marks: &[Mark],
        notes: &[String],
        fix: Option<&str>,
    ) -> Option<String> {
        self.read(marks);
        let texts = self.texts.borrow();
        let level = Level::ERROR.with_name(level);
        let mut title = level.primary_title(title);
        if let Some(rule) = rule {
            title = title.id(rule);
        }
        let mut group = Group::with_title(title);
        let mut any = false;
        // The main position comes first in the list, because its file name is in the first line of the
        // message.
        let files = marks.iter().rev().map(|mark| &mark.at.file);
        let mut seen: Vec<&str> = Vec::new();
        for file in files {
            let Some(text) = texts.get(file).and_then(Option::as_deref) else { continue };
            if seen.contains(&file.as_str()) {
                continue;
            }
            seen.push(file);
            let mut snippet = Snippet::source(text).path(file.as_str());
            for mark in marks.iter().filter(|mark| mark.at.file == *file) {
                let Some(span) = span(text, mark.at) else { continue };
                snippet = snippet.annotation(mark.kind.span(span).label(mark.label));
                any = true;
            }
            group = group.element(snippet);
        }
        if !any {
            return None;
        }
        for note in notes {
            group = group.element(Level::NOTE.message(note.as_str()));
        }
        if let Some(fix) = fix {
            group = group.element(Level::HELP.message(fix));
        }
        let renderer = if std::io::stderr().is_terminal() { Renderer::styled() } else { Renderer::plain() };
        Some(renderer.render(&[group]) + "\n")
    }

    /// Reads the files of the marks that have not been read yet.
    fn read(&self, marks: &[Mark]) {
        marks.iter().for_each(|mark| self.read_file(&mark.at.file));
    }

    fn read_file(&self, file: &str) {
        let mut texts = self.texts.borrow_mut();
        texts.entry(file.to_owned()).or_insert_with(|| {
            let beside = self.beside.join(file);
            [Path::new(file), &beside].iter().find_map(|path| std::fs::read_to_string(path).ok())
        });
    }
}

/// Returns notes about what the waves of a deadlock wait for. If there are many waves, only some are listed.
fn stuck_notes(waits: &[String], count: usize) -> Vec<String> {
    let more = count.saturating_sub(waits.len());
    let more = (more > 0).then(|| format!("and {more} more waves"));
    waits.iter().cloned().chain(more).collect()
}

/// Returns the help text for a fault, if there is one.
fn help(fault: &Fault) -> Option<&'static str> {
    match fault {
        Fault::Stuck { own_lane: true, .. } => Some(OWN_LANE_HELP),
        _ => (fault.class() == FaultClass::Budget).then_some(BUDGET_HELP),
    }
}

/// Returns notes about a location: the instruction, the work-item and the active calls.
fn location_notes(at: &Location) -> Vec<String> {
    std::iter::once(who(at)).chain(at.calls.iter().map(ToString::to_string)).collect()
}

/// Returns the instruction and the work-item of a location.
fn who(at: &Location) -> String {
    let Location { text, offset, kernel, group: [x, y, z], wave, .. } = at;
    let item = match (at.item, at.lane) {
        (Some([a, b, c]), Some(lane)) => format!("work-item ({a}, {b}, {c}), lane {lane} of "),
        _ => String::new(),
    };
    format!("`{text}` at {offset:#x} of {kernel}, {item}wave {wave} in group ({x}, {y}, {z})")
}

/// Returns the byte range in a source line to mark for a position: the word at the column, with the index or
/// the arguments that follow the word. If there is no column, returns the whole line.
fn span(text: &str, at: &SourcePlace) -> Option<Range<usize>> {
    let line = at.line.checked_sub(1)? as usize;
    let start = text.split_inclusive('\n').take(line).map(str::len).sum::<usize>();
    let line = text.get(start..)?.lines().next()?;
    let Some(column) = at.column.checked_sub(1).map(|column| column as usize) else {
        let indent = line.len() - line.trim_start().len();
        return Some(start + indent..start + line.trim_end().len().max(indent));
    };
    let rest = line.get(column..)?;
    let word = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let index = brackets(&rest[word..]).filter(|_| word > 0).unwrap_or(0);
    let size = if word > 0 { word + index } else { rest.chars().next().map_or(0, char::len_utf8) };
    Some(start + column..start + column + size)
}

/// Returns the length of the text in brackets at the start of `rest`. `None` if the bracket is not closed on
/// the same line.
fn brackets(rest: &str) -> Option<usize> {
    let mut open = 0usize;
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            b'[' | b'(' => open += 1,
            b']' | b')' => open = open.checked_sub(1)?,
            _ => {}
        }
        if open == 0 {
            return (at > 0).then_some(at + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans() {
        let text = "kernel k() {\n    y[i + t[1]] = f(&a[0], 1);\n    // end\n}\n";
        let at = |line, column| {
            span(text, &SourcePlace { file: String::new(), line, column }).map(|span| &text[span])
        };
        assert_eq!(at(2, 5), Some("y[i + t[1]]"));
        assert_eq!(at(2, 11), Some("t[1]"));
        assert_eq!(at(2, 19), Some("f(&a[0], 1)"));
        assert_eq!(at(2, 21), Some("&"));
        assert_eq!(at(2, 17), Some("="));
        assert_eq!(at(3, 0), Some("// end"));
        assert_eq!(at(2, 90), None);
        assert_eq!(at(9, 1), None);
    }
}
