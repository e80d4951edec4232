//! What the assembler tells the user.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::fmt::Write as _;
use std::ops::Range;

/// More errors than this help nobody.
pub(crate) const MAX_ERRORS: usize = 100;

/// One error, at a place of the source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The message, one line.
    pub message: String,
    /// Bytes of the source text it is about.
    pub span: Range<usize>,
    /// What stands below the caret.
    pub label: String,
    /// Background: what was expected, which processors have the instruction, the expansion of a macro.
    pub notes: Vec<String>,
}

impl Diagnostic {
    /// Line and column (in bytes) of the place, both from 1.
    pub fn position(&self, source: &str) -> (usize, usize) {
        let before = &source.as_bytes()[..self.span.start.min(source.len())];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        (line, before.len() - start + 1)
    }

    /// The span inside the text, on character boundaries.
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

/// The text for people: source lines with carets, in the manner of the compiler's own diagnostics.
pub fn render(diagnostics: &[Diagnostic], file_name: &str, source: &str, color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut out = String::new();
    for diagnostic in diagnostics {
        // The renderer would go through all of a long text for each message: it gets the lines in question.
        let (first, text) = lines_around(source, &diagnostic.clamped(source));
        let line = source.as_bytes()[..first].iter().filter(|&&byte| byte == b'\n').count() + 1;
        let span = diagnostic.clamped(source);
        let span = span.start - first..(span.end - first).min(text.len());
        let annotation = AnnotationKind::Primary.span(span).label(diagnostic.label.as_str());
        let snippet = Snippet::source(text).line_start(line).path(file_name).annotation(annotation);
        let title = Level::ERROR.primary_title(diagnostic.message.as_str());
        let mut group = Group::with_title(title).element(snippet);
        for note in &diagnostic.notes {
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

/// The line a span begins in and where it begins; the span's end is cut to it.
fn lines_around<'a>(source: &'a str, span: &Range<usize>) -> (usize, &'a str) {
    let first = source[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let end = source[span.start..].find('\n').map_or(source.len(), |at| span.start + at);
    (first, &source[first..end])
}
