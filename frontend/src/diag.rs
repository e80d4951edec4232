//! Diagnostics: the messages of the frontend, and their rendering for people and for tools.

use crate::lexer::Span;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::fmt::{self, Write as _};
use std::ops::Range;
use std::sync::Arc;

/// The largest number of errors that are reported. Further errors are dropped, because they would not help
/// the user.
const MAX_ERRORS: usize = 100;

/// Severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Severity {
    /// An error; the compilation produces no output.
    Error,
    /// A warning; the compilation continues.
    Warning,
}

/// A message about the source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable code such as `E0012`; [`crate::explain`] returns its explanation.
    pub code: &'static str,
    /// Severity of the diagnostic.
    pub severity: Severity,
    /// The message, one line.
    pub message: String,
    /// Labels: byte ranges of the source text, each with a text that is shown at the range. The first label
    /// is the position of the mistake.
    pub labels: Vec<(Range<usize>, String)>,
    /// Background information.
    pub notes: Vec<String>,
    /// Advice on how to fix the mistake.
    pub help: Vec<String>,
    /// A change of the source text that would fix the mistake.
    pub suggestion: Option<Box<Suggestion>>,
}

/// A change of the source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// Byte range that the suggestion replaces.
    pub range: Range<usize>,
    /// Text to put in place of the range.
    pub replacement: String,
    /// Whether the suggested change is certainly what the user meant, so that a tool may apply it without
    /// asking.
    pub certain: bool,
}

impl Diagnostic {
    #[cold]
    pub(crate) fn error(code: &'static str, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            severity: Severity::Error,
            message: message.into(),
            labels: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
            suggestion: None,
        }
    }

    /// Suggests to replace the byte range by `replacement`. The suggestion is certain, so a tool may apply
    /// it.
    pub(crate) fn suggest_here(&mut self, range: Range<usize>, replacement: impl Into<String>) {
        self.suggestion =
            Some(Box::new(Suggestion { range, replacement: replacement.into(), certain: true }));
    }

    /// Suggests to replace the text at `span` by `replacement`. The suggestion is certain, so a tool may
    /// apply it.
    pub(crate) fn suggest(mut self, span: Span, replacement: impl Into<String>) -> Self {
        self.suggest_here(span.start as usize..span.end as usize, replacement);
        self
    }

    /// Adds a suggested replacement to the diagnostic (see [`Diagnostic::suggest`]), if `change` has one: the
    /// source range and the text that replaces it.
    pub(crate) fn suggest_opt(self, change: Option<(Span, &str)>) -> Self {
        match change {
            Some((span, replacement)) => self.suggest(span, replacement),
            None => self,
        }
    }

    /// Suggests to replace the text at `span` by the similar name `name`, if there is one. The suggestion is
    /// marked as uncertain, so a tool must not apply it without asking.
    pub(crate) fn similar(mut self, span: Span, name: Option<&str>) -> Self {
        if let Some(name) = name {
            let range = span.start as usize..span.end as usize;
            self.suggestion =
                Some(Box::new(Suggestion { range, replacement: name.to_owned(), certain: false }));
            self.help.push(format!("a similar name exists: `{name}`"));
        }
        self
    }

    pub(crate) fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push((span.start as usize..span.end as usize, text.into()));
        self
    }

    pub(crate) fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    pub(crate) fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }

    pub(crate) fn note_opt(self, text: Option<String>) -> Self {
        match text {
            Some(text) => self.note(text),
            None => self,
        }
    }

    pub(crate) fn label_opt(self, label: Option<(Span, String)>) -> Self {
        match label {
            Some((span, text)) => self.label(span, text),
            None => self,
        }
    }

    pub(crate) fn help_opt(self, text: Option<String>) -> Self {
        match text {
            Some(text) => self.help(text),
            None => self,
        }
    }
}

/// Collects the diagnostics of a compilation, up to a limit.
#[derive(Default)]
pub(crate) struct Sink {
    list: Vec<Diagnostic>,
}

impl Sink {
    #[cold]
    pub fn push(&mut self, diagnostic: Diagnostic) {
        // One mistake often causes two reports at the same position, one after the other. The first report is
        // usually better, so the second one is dropped.
        let at = diagnostic.labels.first().map(|label| &label.0);
        let repeats = |old: &Diagnostic| old.labels.first().map(|label| &label.0) == at && at.is_some();
        if !self.is_full() && !self.list.last().is_some_and(repeats) {
            self.list.push(diagnostic);
        }
    }

    /// Returns whether further diagnostics will be dropped.
    pub fn is_full(&self) -> bool {
        self.list.len() >= MAX_ERRORS
    }

    /// Returns the number of diagnostics.
    pub fn count(&self) -> usize {
        self.list.len()
    }

    /// Changes the diagnostics from index `first` on: removes a diagnostic if `drop` returns true for it, and
    /// adds the note `note` to the others.
    pub fn amend(&mut self, first: usize, drop: impl Fn(&Diagnostic) -> bool, note: Option<&str>) {
        let mut at = first;
        while at < self.list.len() {
            if drop(&self.list[at]) {
                self.list.remove(at);
                continue;
            }
            self.list[at].notes.extend(note.map(str::to_owned));
            at += 1;
        }
    }

    /// Removes the diagnostics from index `at` on.
    pub fn truncate(&mut self, at: usize) {
        self.list.truncate(at);
    }

    /// Removes the diagnostics from index `at` on, but only if the message of the first of these begins with
    /// `message`.
    pub fn truncate_if(&mut self, at: usize, message: &str) {
        if self.list.get(at).is_some_and(|new| new.message.starts_with(message)) {
            self.list.truncate(at);
        }
    }

    /// Takes the list of diagnostics out of the sink, so that the caller can filter it; [`Sink::restore`]
    /// puts the remaining diagnostics back.
    pub fn take(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.list)
    }

    pub fn restore(&mut self, list: Vec<Diagnostic>) {
        self.list = list;
    }

    pub fn has_errors(&self) -> bool {
        !self.list.is_empty()
    }

    pub fn finish(self, name: &str, text: &str) -> Diagnostics {
        self.finish_all(SourceText::new(name, text))
    }

    pub fn finish_all(mut self, source: Arc<SourceText>) -> Diagnostics {
        self.list.sort_by_key(|d| d.labels.first().map_or(0, |label| label.0.start));
        Diagnostics { list: self.list, source }
    }
}

/// A source text with its name. Diagnostics keep it to show lines of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceText {
    /// Name of the file.
    pub name: String,
    /// The text of the file, followed by the texts of the files that it includes with `use`. One byte offset
    /// therefore identifies a position in the whole program.
    pub text: String,
    /// The files that the program uses with `use`, in the order in which `text` contains them.
    pub used: Vec<UsedFile>,
}

/// A file that another file uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsedFile {
    /// Name of the file.
    pub name: String,
    /// Byte offset in [`SourceText::text`] at which the contents of this file begin.
    pub start: usize,
}

impl SourceText {
    /// Returns a source text that several diagnostics can share.
    pub fn new(name: &str, text: &str) -> Arc<SourceText> {
        Arc::new(SourceText { name: name.to_owned(), text: text.to_owned(), used: Vec::new() })
    }

    /// Returns the line and the column of the byte at `offset`. Both count from 1 within the file that
    /// contains the byte, and columns count bytes.
    pub fn position(&self, offset: usize) -> (usize, usize) {
        let (_, range) = self.file(offset);
        LineIndex::new(&self.text[range.clone()]).position(offset - range.start)
    }

    /// Returns the file that contains the byte at `offset`: its name, and the range of its contents in
    /// [`SourceText::text`].
    pub fn file(&self, offset: usize) -> (&str, Range<usize>) {
        let behind = self.used.partition_point(|file| file.start <= offset);
        let end = self.used.get(behind).map_or(self.text.len(), |file| file.start);
        match behind.checked_sub(1).map(|at| &self.used[at]) {
            Some(file) => (&file.name, file.start..end),
            None => (&self.name, 0..end),
        }
    }
}

/// All diagnostics about a source text, in source order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    /// The diagnostics.
    pub list: Vec<Diagnostic>,
    /// Source text of the diagnostics.
    pub source: Arc<SourceText>,
}

/// Renders the diagnostics without colours.
impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.render(false).trim_end())
    }
}

impl std::error::Error for Diagnostics {}

impl Diagnostics {
    /// Returns the diagnostics as text for people: source lines with carets, in the style of `rustc`.
    pub fn render(&self, color: bool) -> String {
        let file_name = self.file_summary();
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        let mut out = String::new();
        for diagnostic in &self.list {
            let report = [diagnostic.group(&self.source)];
            out.push_str(&renderer.render(&report));
            out.push_str("\n\n");
        }
        let errors = self.list.iter().filter(|d| d.severity == Severity::Error).count();
        let (count, what) = if errors == 0 { (self.list.len(), "warning") } else { (errors, "error") };
        let plural = if count == 1 { "" } else { "s" };
        // Some errors do not belong to any file.
        let place = if file_name.is_empty() { String::new() } else { format!(" in {file_name}") };
        let _ = writeln!(out, "{count} {what}{plural}{place}");
        out
    }

    /// Adds later diagnostics about the same source text.
    pub fn append(&mut self, more: Diagnostics) {
        if self.list.is_empty() {
            self.source = more.source;
        }
        self.list.extend(more.list);
    }

    /// Returns the file name for the line that sums up all diagnostics: their file if all are in the same
    /// file, otherwise the main file "and what it uses".
    fn file_summary(&self) -> String {
        let mut files = self.list.iter().filter_map(|d| Some(self.source.file(d.labels.first()?.0.start).0));
        let first = files.next().unwrap_or(&self.source.name);
        if files.all(|file| file == first) {
            first.to_owned()
        } else {
            format!("{} and what it uses", self.source.name)
        }
    }

    /// Returns the diagnostics as text for tools: a JSON array with one object per diagnostic.
    pub fn to_json(&self) -> String {
        let mut out = String::from("[");
        for (n, diagnostic) in self.list.iter().enumerate() {
            out.push_str(if n == 0 { "\n" } else { ",\n" });
            diagnostic.json(&self.source, &mut out);
        }
        out.push_str("\n]\n");
        out
    }
}

impl Diagnostic {
    fn group<'a>(&'a self, source: &'a SourceText) -> Group<'a> {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let mut group = Group::with_title(level.primary_title(self.message.as_str()).id(self.code));
        if !self.labels.is_empty() {
            // Each file with a label gets its own snippet. The file that contains the mistake comes first.
            let mut files: Vec<(&str, Range<usize>)> = Vec::new();
            for (range, _) in &self.labels {
                let file = source.file(range.start);
                if !files.contains(&file) {
                    files.push(file);
                }
            }
            for (name, part) in files {
                let text = &source.text[part.clone()];
                let mut snippet = Snippet::source(text).path(name);
                for (n, (range, label)) in self.labels.iter().enumerate() {
                    if source.file(range.start).1 == part {
                        let kind = if n == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
                        let range = range.start - part.start..range.end.max(part.start) - part.start;
                        snippet = snippet.annotation(kind.span(clamp(&range, text)).label(label.as_str()));
                    }
                }
                group = group.element(snippet);
            }
        }
        for note in &self.notes {
            group = group.element(Level::NOTE.message(note.as_str()));
        }
        for help in &self.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        group
    }

    fn json(&self, source: &SourceText, out: &mut String) {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let _ = write!(out, "{{\"code\":\"{}\",\"severity\":\"{severity}\",\"file\":", self.code);
        let of_file = |range: &Range<usize>| source.file(range.start);
        let (file_name, _) =
            self.labels.first().map_or((source.name.as_str(), 0..0), |label| of_file(&label.0));
        json_string(file_name, out);
        out.push_str(",\"message\":");
        json_string(&self.message, out);
        out.push_str(",\"labels\":[");
        for (n, (range, text)) in self.labels.iter().enumerate() {
            let (line, column) = source.position(range.start);
            let (name, part) = of_file(range);
            let comma = if n == 0 { "" } else { "," };
            let _ = write!(
                out,
                "{comma}{{\"start\":{},\"end\":{},\"line\":{line},\"column\":{column},\"text\":",
                range.start - part.start,
                range.end.max(part.start) - part.start
            );
            json_string(text, out);
            if name != file_name {
                out.push_str(",\"file\":");
                json_string(name, out);
            }
            out.push('}');
        }
        for (key, list) in [("notes", &self.notes), ("help", &self.help)] {
            let _ = write!(out, "],\"{key}\":[");
            for (n, text) in list.iter().enumerate() {
                if n > 0 {
                    out.push(',');
                }
                json_string(text, out);
            }
        }
        out.push_str("],\"suggestions\":[");
        if let Some(suggestion) = &self.suggestion {
            let (name, part) = of_file(&suggestion.range);
            let applicability = if suggestion.certain { "machine" } else { "maybe" };
            let _ = write!(
                out,
                "{{\"start\":{},\"end\":{},\"applicability\":\"{applicability}\",\"replacement\":",
                suggestion.range.start - part.start,
                suggestion.range.end - part.start
            );
            json_string(&suggestion.replacement, out);
            if name != file_name {
                out.push_str(",\"file\":");
                json_string(name, out);
            }
            out.push('}');
        }
        out.push_str("]}");
    }
}

/// Returns the range, limited to the length of the text and with its ends moved outwards to character
/// boundaries.
fn clamp(range: &Range<usize>, source: &str) -> Range<usize> {
    let mut start = range.start.min(source.len());
    while !source.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = range.end.clamp(start, source.len());
    while !source.is_char_boundary(end) {
        end += 1;
    }
    start..end
}

/// Byte offsets of the line starts.
struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    fn new(source: &str) -> Self {
        let rest = source.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        // A byte order mark takes no column.
        let first = source.len() - crate::lexer::without_mark(source).len();
        LineIndex { starts: std::iter::once(first).chain(rest).collect() }
    }

    /// Returns the line and the column of the byte at `offset`. Both count from 1, and columns count bytes.
    fn position(&self, offset: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|&start| start <= offset).max(1);
        (line, offset.saturating_sub(self.starts[line - 1]) + 1)
    }
}

fn json_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
