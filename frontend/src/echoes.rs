//! Diagnostics that only echo another one are dropped, so that a slip gets a message and not a page of them.
//!
//! What the parser told is kept, but for what follows a brace that is missing; the rest is judged one by one, in the order of the text.

use crate::alike::Alike;
use crate::diag::Diagnostic;
use crate::lexer::{Span, Tok, Tokens};
use crate::words;
use std::ops::Range;

/// What was read of a program.
pub struct Read<'p> {
    pub source: &'p str,
    pub tokens: &'p Tokens,
    /// What the parser did not read.
    pub skipped: &'p [Span],
    /// How many of the diagnostics, the first ones, are of the parser.
    pub parsed: usize,
    /// Whether one of them is about something that is missing, or that nothing begins with.
    pub broken: bool,
    /// What is foreign to this language, with where the diagnostic that says so is.
    pub foreign: &'p [(usize, Span)],
}

impl<'p> Read<'p> {
    fn text(&self, token: usize) -> &'p str {
        self.tokens.text(token, self.source)
    }

    /// The number of the function that a byte is in.
    pub fn body(&self, byte: usize) -> usize {
        self.body_at(self.tokens.at(byte))
    }

    fn body_at(&self, token: usize) -> usize {
        self.tokens.kinds[..token].iter().filter(|tok| matches!(tok, Tok::Fn | Tok::Kernel)).count()
    }

    /// The number of the program's function that what begins at a byte is given to.
    pub fn callee(&self, byte: usize) -> Option<usize> {
        let mut closed = 0;
        let open = (0..self.tokens.at(byte)).rev().find(|&token| {
            match self.text(token) {
                ")" | "]" | "}" => closed += 1,
                "(" | "[" | "{" | ";" if closed == 0 => return true,
                "(" | "[" | "{" => closed -= 1,
                _ => {}
            }
            false
        })?;
        let name = self.text(open.checked_sub(1).filter(|_| self.text(open) == "(")?);
        let is_head = |&token: &usize| self.text(token - 1) == "fn" && self.text(token) == name;
        (1..self.tokens.spans.len()).find(is_head).map(|token| self.body_at(token))
    }
}

/// The diagnostics of a program without those that only echo another one.
pub fn dropped(list: Vec<Diagnostic>, read: &Read) -> Vec<Diagnostic> {
    let Read { source, skipped, parsed, foreign, .. } = *read;
    let unused: Vec<Range<usize>> = list.iter().filter(|d| d.code == "E0056").filter_map(place).collect();
    // Arguments of a fence or an atomic operation that is called otherwise.
    let misses_function = list.iter().any(|diagnostic| matches!(diagnostic.code, "E0022" | "E0025"));
    let told: Vec<Range<usize>> = list[..parsed].iter().filter_map(place).collect();
    let unclosed = list[..parsed].iter().filter(|one| is_unclosed(one) || is_item_inside(one));
    let unclosed = unclosed.filter_map(place).map(|at| at.start).min();
    let is_astray = |one: &Diagnostic| {
        let behind = unclosed.is_some_and(|from| place(one).is_some_and(|at| from <= at.start));
        // Where an item is read as something else, its keyword is where a name should be, too.
        behind && matches!(one.code, "E0005" | "E0008")
    };
    let mut kept: Vec<Diagnostic> = Vec::new();
    let mut astray = 0;
    let mut alike = Alike::new(read, list.iter().any(is_unknown));
    for (n, diagnostic) in list.into_iter().enumerate() {
        let echo = if n < parsed {
            // With a brace that is missing, or one too many, everything behind it is read as something else.
            astray += usize::from(is_astray(&diagnostic));
            astray > 1 && is_astray(&diagnostic)
        } else {
            is_in_skipped(&diagnostic, skipped)
                || foreign.iter().any(|&(from, span)| is_foreign(&diagnostic, from, span))
                || foreign.iter().any(|&(_, span)| is_of_option(&diagnostic, span.text(source), source))
                || is_of_declaration(&diagnostic, &kept)
                || is_repeated(&diagnostic, &kept, source, skipped)
                || is_of_no_type(&diagnostic, &kept)
                || is_of_a_twin(&diagnostic, &kept)
                || lacks_what_is_unused(&diagnostic, &unused)
                || is_unused_by_what_was_not_read(&diagnostic, source, &told)
                || leaves_what_was_not_read(&diagnostic, source, skipped)
                || brings_to_no_one(&diagnostic, &kept, source)
                || ends_with_what_was_not_read(&diagnostic, source, skipped)
                || misses_function && is_word(&diagnostic, source)
                || alike.are_lost(&diagnostic, &kept)
                || alike.are_many(&diagnostic)
        };
        if !echo {
            alike.keep(&diagnostic);
            kept.push(diagnostic);
        }
    }
    alike.note(&mut kept);
    kept
}

/// Where a diagnostic says that the mistake is.
pub fn place(diagnostic: &Diagnostic) -> Option<Range<usize>> {
    diagnostic.labels.first().map(|label| label.0.clone())
}

fn is_unclosed(diagnostic: &Diagnostic) -> bool {
    diagnostic.code == "E0006"
}

/// Whether a diagnostic is about an item inside of a function, which most likely has not ended where it should.
fn is_item_inside(diagnostic: &Diagnostic) -> bool {
    let found = diagnostic.message.split_once(", found the keyword ").map_or("", |(_, word)| word);
    matches!(found, "`fn`" | "`struct`" | "`kernel`")
}

/// Whether a diagnostic is about a name that nothing has.
fn is_unknown(diagnostic: &Diagnostic) -> bool {
    matches!(diagnostic.code, "E0020" | "E0021" | "E0022")
}

/// Whether a diagnostic is about a value whose type is not known, inside of what another one is about.
fn is_of_no_type(diagnostic: &Diagnostic, kept: &[Diagnostic]) -> bool {
    let Some((at, label)) = diagnostic.labels.first() else { return false };
    let around = |old: &Diagnostic| place(old).is_some_and(|of| of.start <= at.start && at.end <= of.end);
    label.contains("`?`") && kept.iter().any(around)
}

/// Whether a diagnostic is about fields of a type that is defined twice: the other one may have them.
fn is_of_a_twin(diagnostic: &Diagnostic, kept: &[Diagnostic]) -> bool {
    let message = diagnostic.message.as_str();
    let of = message.split_once(" has no field ").map(|(name, _)| name);
    let of = of.or_else(|| message.strip_prefix("missing in ").and_then(|rest| rest.split(':').next()));
    let is_twin =
        |name: &str| kept.iter().any(|old| old.message.strip_prefix(name) == Some(" is defined twice"));
    of.is_some_and(is_twin)
}

/// Whether a diagnostic is about what was read, but not as it is meant.
fn is_in_skipped(diagnostic: &Diagnostic, skipped: &[Span]) -> bool {
    let inside = |at: &Range<usize>| {
        skipped.iter().any(|span| span.start as usize <= at.start && at.end <= span.end as usize)
    };
    place(diagnostic).as_ref().is_some_and(inside)
}

/// Whether a diagnostic is about something behind another one, at `from`, and inside of what that one says is foreign.
fn is_foreign(diagnostic: &Diagnostic, from: usize, span: Span) -> bool {
    matches!(diagnostic.code, "E0020" | "E0003" | "E0090")
        && place(diagnostic).is_some_and(|at| from < at.start && at.end <= span.end as usize)
}

/// Whether a diagnostic misses a name that a pattern like `Some(x)` would declare.
fn is_of_option(diagnostic: &Diagnostic, pattern: &str, source: &str) -> bool {
    diagnostic.code == "E0020"
        && pattern.starts_with("Some")
        && place(diagnostic).is_some_and(|at| has_word(pattern, &source[at]))
}

/// Whether a diagnostic is about a change of a variable whose declaration was told to be wrong.
fn is_of_declaration(diagnostic: &Diagnostic, kept: &[Diagnostic]) -> bool {
    let is_wrong = |at: &Range<usize>| {
        kept.iter().any(|old| old.code == "E0047" && place(old).as_ref().is_some_and(|of| of == at))
    };
    diagnostic.code == "E0047" && diagnostic.labels.get(1).is_some_and(|(at, _)| is_wrong(at))
}

/// Whether a diagnostic is about an unknown name that was told before, or whose declaration was not understood.
fn is_repeated(diagnostic: &Diagnostic, kept: &[Diagnostic], source: &str, skipped: &[Span]) -> bool {
    let Some(at) = place(diagnostic) else { return false };
    let name = &source[at];
    let is_unknown = is_unknown(diagnostic);
    // `x` may be something else where its declaration was not understood.
    let is_other = matches!(diagnostic.code, "E0023" | "E0025" | "E0044")
        || diagnostic.message.contains(" is a function");
    if !is_unknown && !is_other {
        return false;
    }
    let same =
        |old: &Diagnostic| old.code == diagnostic.code && place(old).is_some_and(|at| source[at] == *name);
    is_unknown && kept.iter().any(same) || skipped.iter().any(|span| has_word(span.text(source), name))
}

/// Whether a diagnostic misses a value where a statement with a value does nothing: both are one `;`.
fn lacks_what_is_unused(diagnostic: &Diagnostic, unused: &[Range<usize>]) -> bool {
    let lacking = diagnostic.code == "E0049" || diagnostic.message == "this has no value";
    lacking
        && diagnostic
            .labels
            .iter()
            .any(|(at, _)| unused.iter().any(|of| of.start < at.end && of.end >= at.start.saturating_sub(4)))
}

/// Whether a diagnostic is about a value that nothing does something with, in front of what was not understood.
fn is_unused_by_what_was_not_read(diagnostic: &Diagnostic, source: &str, told: &[Range<usize>]) -> bool {
    let Some(at) = place(diagnostic).filter(|_| diagnostic.code == "E0056") else { return false };
    let blank = |of: &Range<usize>| source.get(at.end..of.start).is_some_and(|text| text.trim().is_empty());
    told.iter().any(blank)
}

/// Whether a diagnostic misses a name that means something to fences and atomic operations.
fn is_word(diagnostic: &Diagnostic, source: &str) -> bool {
    diagnostic.code == "E0020" && place(diagnostic).is_some_and(|at| words::is_word(&source[at]))
}

/// Whether a diagnostic misses the loop around a `break` where the head of one was not understood.
fn leaves_what_was_not_read(diagnostic: &Diagnostic, source: &str, skipped: &[Span]) -> bool {
    let leaves = diagnostic.code == "E0054" || diagnostic.message.starts_with("no loop around this");
    let is_head = |span: &Span| {
        span.text(source).contains('{')
            || ["for", "while", "loop"].iter().any(|word| has_word(span.text(source), word))
    };
    leaves && skipped.iter().any(is_head)
}

/// Whether a diagnostic is about a `break` with a value in a loop that was told to have none.
fn brings_to_no_one(diagnostic: &Diagnostic, kept: &[Diagnostic], source: &str) -> bool {
    let Some(at) = place(diagnostic).filter(|_| diagnostic.code == "E0057") else { return false };
    // In the first pair of braces behind the head.
    let is_inside = |head: Range<usize>| {
        let Some((_, body)) = source.get(head.start..at.start).and_then(|text| text.split_once('{')) else {
            return false;
        };
        let mut open = 1;
        body.chars().all(|c| {
            open += i32::from(c == '{') - i32::from(c == '}');
            open > 0
        })
    };
    let told = |old: &&Diagnostic| old.message.starts_with("expected `loop` or `{`");
    kept.iter().filter(told).filter_map(place).any(is_inside)
}

/// Whether a diagnostic misses the value at the end of a body where the end was not understood.
fn ends_with_what_was_not_read(diagnostic: &Diagnostic, source: &str, skipped: &[Span]) -> bool {
    let Some(at) = place(diagnostic).filter(|_| diagnostic.code == "E0049") else { return false };
    let between = |span: &Span| source.get(span.end as usize..at.start);
    skipped.iter().any(|span| between(span).is_some_and(|text| text.trim().is_empty()))
}

/// Whether a text holds a name.
fn has_word(text: &str, name: &str) -> bool {
    let of_name = |c: Option<char>| c.is_some_and(|c| c == '_' || c.is_ascii_alphanumeric());
    text.match_indices(name).any(|(at, _)| {
        !of_name(text[..at].chars().next_back()) && !of_name(text[at + name.len()..].chars().next())
    })
}
