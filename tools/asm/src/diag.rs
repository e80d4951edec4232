//! Messages for the user.

use crate::files::Included;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

/// Maximum number of errors that are reported.
pub(crate) const MAX_ERRORS: usize = 100;

/// Error at a position of the source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Message of one line.
    pub message: String,
    /// Range of bytes in the text to which the message refers.
    pub span: Range<usize>,
    /// Text below the caret.
    pub label: String,
    /// Notes that are printed after the message, such as what was expected, which processors have the
    /// instruction, or the expansion of a macro.
    pub notes: Vec<String>,
    /// The included file to which the span belongs; `None` if it belongs to the source itself.
    pub file: Option<Arc<Included>>,
}

impl Diagnostic {
    /// Returns the line and column of the message in its file, both counted from 1. The column counts bytes.
    pub fn position(&self, source: &str) -> (usize, usize) {
        let source = self.file.as_ref().map_or(source, |file| &file.text);
        let before = &source.as_bytes()[..self.span.start.min(source.len())];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        (line, before.len() - start + 1)
    }

    /// Returns the position in the main source. For a message in an included file, this is the position of
    /// the `.include` that leads to the file.
    pub(crate) fn outer_place(&self) -> usize {
        let mut place = self.span.start;
        let mut file = self.file.as_ref();
        while let Some(inner) = file {
            place = inner.at;
            file = inner.includer.as_ref();
        }
        place
    }

    /// Returns notes about the `.include`s that lead to the file, innermost first.
    fn includes(&self, file_name: &str, source: &str) -> Vec<String> {
        let mut notes = Vec::new();
        let mut file = self.file.as_ref();
        while let Some(inner) = file {
            file = inner.includer.as_ref();
            let (name, text) = file.map_or((file_name, source), |outer| (&outer.name, &outer.text));
            let before = &text.as_bytes()[..inner.at.min(text.len())];
            let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
            notes.push(format!("included at {name}:{line}"));
        }
        notes
    }

    /// Returns the span of the message, shortened where necessary: it must end within the text, and must not
    /// begin or end inside a character.
    fn clamped(&self, source: &str) -> Range<usize> {
        let mut start = self.span.start.min(source.len());
        while !source.is_char_boundary(start) {
            start -= 1;
        }
        let mut end = self.span.end.clamp(start, source.len());
        while !source.is_char_boundary(end) {
            end += 1;
        }
        start..end
    }
}

/// Returns the messages as text for people: source lines with carets, in the style of the compiler's
/// diagnostics.
pub fn render(diagnostics: &[Diagnostic], file_name: &str, source: &str, color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut out = String::new();
    for diagnostic in diagnostics {
        let includes = diagnostic.includes(file_name, source);
        let file = diagnostic.file.as_ref();
        let (file_name, source) = file.map_or((file_name, source), |file| (&file.name, &file.text));
        // The library that renders messages scans the whole text that it is given, and it does so for each
        // message. Therefore it is given only the lines that the message shows.
        let (first, text) = lines_around(source, &diagnostic.clamped(source));
        let line = source.as_bytes()[..first].iter().filter(|&&byte| byte == b'\n').count() + 1;
        let span = diagnostic.clamped(source);
        let span = span.start - first..(span.end - first).min(text.len());
        let annotation = AnnotationKind::Primary.span(span).label(diagnostic.label.as_str());
        let snippet = Snippet::source(text).line_start(line).path(file_name).annotation(annotation);
        let title = Level::ERROR.primary_title(diagnostic.message.as_str());
        let mut group = Group::with_title(title).element(snippet);
        for note in diagnostic.notes.iter().chain(&includes) {
            group = group.element(Level::NOTE.message(note.as_str()));
        }
        out.push_str(&renderer.render(&[group]));
        out.push_str("\n\n");
    }
    let errors = diagnostics.len();
    let plural = if errors == 1 { "" } else { "s" };
    let _ = writeln!(out, "{errors} error{plural} in {file_name}");
    out
}

/// Returns the offset and the text of the line in which a span begins.
fn lines_around<'a>(source: &'a str, span: &Range<usize>) -> (usize, &'a str) {
    let first = source[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let end = source[span.start..].find('\n').map_or(source.len(), |at| span.start + at);
    (first, &source[first..end])
}
