//! Drops diagnostics that only repeat the consequences of another diagnostic, so that one mistake in the
//! source gives one message and not a page of messages.
//!
//! The parser's diagnostics are kept, except the diagnostics that follow from a missing brace. The
//! diagnostics of the later phases are tested by the functions below, one after the other in the order of
//! their source positions.

use crate::argument_words;
use crate::diag::Diagnostic;
use crate::lexer::{Span, Tok, Tokens};
use crate::similar_errors::Alike;
use std::ops::Range;

/// What the lexer and the parser found out about a program, for judging its diagnostics.
pub struct Read<'p> {
    pub source: &'p str,
    pub tokens: &'p Tokens,
    /// Source ranges that the parser skipped.
    pub skipped: &'p [Span],
    /// Number of diagnostics that come from the parser. These diagnostics precede all others in the list.
    pub parsed: usize,
    /// Whether one of the parser's diagnostics is about a missing token or about a token that no syntax can
    /// start with.
    pub broken: bool,
    /// Constructs of other languages (such as a C loop) that the frontend recognised in the program. Each
    /// entry has the byte at which the construct's own diagnostic begins, and the source range of the
    /// construct.
    pub foreign: &'p [(usize, Span)],
}

impl<'p> Read<'p> {
    fn text(&self, token: usize) -> &'p str {
        self.tokens.text(token, self.source)
    }

    /// Returns the number of the function that contains a byte of the source. Functions are numbered in the
    /// order in which their keywords stand in the source.
    pub fn body(&self, byte: usize) -> usize {
        self.body_at(self.tokens.at(byte))
    }

    fn body_at(&self, token: usize) -> usize {
        self.tokens.kinds[..token].iter().filter(|tok| matches!(tok, Tok::Fn | Tok::Kernel)).count()
    }

    /// Returns the number of the called function if the byte is in the arguments of a call. Returns `None` if
    /// the program does not define the called function.
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

/// Returns the diagnostics of a program, without those that only repeat the consequences of another
/// diagnostic.
pub fn dropped(list: Vec<Diagnostic>, read: &Read) -> Vec<Diagnostic> {
    let Read { source, skipped, parsed, foreign, .. } = *read;
    let unused: Vec<Range<usize>> =
        list.iter().filter(|d| d.code == "E0056").filter_map(error_range).collect();
    // If the name of a fence or atomic operation is misspelt, the words in its arguments, such as memory
    // orders, are reported as unknown names, too. These diagnostics are dropped below.
    let misses_function = list.iter().any(|diagnostic| matches!(diagnostic.code, "E0022" | "E0025"));
    let told: Vec<Range<usize>> = list[..parsed].iter().filter_map(error_range).collect();
    let unclosed = list[..parsed].iter().filter(|one| is_unclosed(one) || is_item_inside(one));
    let unclosed = unclosed.filter_map(error_range).map(|at| at.start).min();
    let is_astray = |one: &Diagnostic| {
        let behind = unclosed.is_some_and(|from| error_range(one).is_some_and(|at| from <= at.start));
        // If an item lacks its closing brace, the parser reads the next item as a part of it. It then finds a
        // keyword such as `fn` where it expects a name, and reports one of the two errors below.
        behind && matches!(one.code, "E0005" | "E0008")
    };
    let mut kept: Vec<Diagnostic> = Vec::new();
    let mut astray = 0;
    let mut alike = Alike::new(read, list.iter().any(is_unknown));
    for (n, diagnostic) in list.into_iter().enumerate() {
        let echo = if n < parsed {
            // After a missing brace, the parser misreads all that follows. The first diagnostic about this is
            // kept, the others are dropped.
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

/// Returns the source range of the mistake that a diagnostic reports.
pub fn error_range(diagnostic: &Diagnostic) -> Option<Range<usize>> {
    diagnostic.labels.first().map(|label| label.0.clone())
}

fn is_unclosed(diagnostic: &Diagnostic) -> bool {
    diagnostic.code == "E0006"
}

/// Returns whether the parser's diagnostic says that an item (`fn`, `struct` or `kernel`) begins inside a
/// function. Most likely, the function's closing brace is missing.
fn is_item_inside(diagnostic: &Diagnostic) -> bool {
    let found = diagnostic.message.split_once(", found the keyword ").map_or("", |(_, word)| word);
    matches!(found, "`fn`" | "`struct`" | "`kernel`")
}

/// Returns whether a diagnostic is about an unknown name.
fn is_unknown(diagnostic: &Diagnostic) -> bool {
    matches!(diagnostic.code, "E0020" | "E0021" | "E0022")
}

/// Returns whether a diagnostic is about a value of unknown type and lies inside the source range of an
/// earlier diagnostic. The earlier diagnostic most likely explains why the type is unknown.
fn is_of_no_type(diagnostic: &Diagnostic, kept: &[Diagnostic]) -> bool {
    let Some((at, label)) = diagnostic.labels.first() else { return false };
    let around =
        |old: &Diagnostic| error_range(old).is_some_and(|of| of.start <= at.start && at.end <= of.end);
    label.contains("`?`") && kept.iter().any(around)
}

/// Returns whether a diagnostic is about a missing or unknown field of a type that the program defines twice.
/// The programmer may have meant the other definition, and the second definition has its own diagnostic.
fn is_of_a_twin(diagnostic: &Diagnostic, kept: &[Diagnostic]) -> bool {
    let message = diagnostic.message.as_str();
    let of = message.split_once(" has no field ").map(|(name, _)| name);
    let of = of.or_else(|| message.strip_prefix("missing in ").and_then(|rest| rest.split(':').next()));
    let is_twin =
        |name: &str| kept.iter().any(|old| old.message.strip_prefix(name) == Some(" is defined twice"));
    of.is_some_and(is_twin)
}

/// Returns whether a diagnostic is about source text that the parser skipped.
fn is_in_skipped(diagnostic: &Diagnostic, skipped: &[Span]) -> bool {
    let inside = |at: &Range<usize>| {
        skipped.iter().any(|span| span.start as usize <= at.start && at.end <= span.end as usize)
    };
    error_range(diagnostic).as_ref().is_some_and(inside)
}

/// Returns whether a diagnostic lies within `span`, after the byte `from`. `span` is a construct of another
/// language, whose own diagnostic begins at `from`.
fn is_foreign(diagnostic: &Diagnostic, from: usize, span: Span) -> bool {
    matches!(diagnostic.code, "E0020" | "E0003" | "E0090")
        && error_range(diagnostic).is_some_and(|at| from < at.start && at.end <= span.end as usize)
}

/// Returns whether a diagnostic is about an unknown name that Rust's pattern `Some(x)` would declare. The
/// language has no such pattern, so the mistake is the pattern and not the name. `pattern` is text of the
/// source that may be such a pattern.
fn is_of_option(diagnostic: &Diagnostic, pattern: &str, source: &str) -> bool {
    diagnostic.code == "E0020"
        && pattern.starts_with("Some")
        && error_range(diagnostic).is_some_and(|at| has_word(pattern, &source[at]))
}

/// Returns whether a diagnostic reports an assignment to a variable whose declaration has been reported
/// already. Such a variable is declared with neither a value nor `mut`, so it could never get a value.
fn is_of_declaration(diagnostic: &Diagnostic, kept: &[Diagnostic]) -> bool {
    let is_wrong = |at: &Range<usize>| {
        kept.iter().any(|old| old.code == "E0047" && error_range(old).as_ref().is_some_and(|of| of == at))
    };
    diagnostic.code == "E0047" && diagnostic.labels.get(1).is_some_and(|(at, _)| is_wrong(at))
}

/// Returns whether a diagnostic reports an unknown name a second time, or a name whose declaration the parser
/// skipped.
fn is_repeated(diagnostic: &Diagnostic, kept: &[Diagnostic], source: &str, skipped: &[Span]) -> bool {
    let Some(at) = error_range(diagnostic) else { return false };
    let name = &source[at];
    let is_unknown = is_unknown(diagnostic);
    // If the parser skipped the declaration of a name, a use of the name may find a different item with the
    // same name. The checker then reports one of the errors below instead of an unknown name.
    let is_other = matches!(diagnostic.code, "E0023" | "E0025" | "E0044")
        || diagnostic.message.contains(" is a function");
    if !is_unknown && !is_other {
        return false;
    }
    let same = |old: &Diagnostic| {
        old.code == diagnostic.code && error_range(old).is_some_and(|at| source[at] == *name)
    };
    is_unknown && kept.iter().any(same) || skipped.iter().any(|span| has_word(span.text(source), name))
}

/// Returns whether a diagnostic reports a missing value close to a statement whose value is reported as
/// unused. Most likely, a `;` after the value should not be there and has caused both reports.
fn lacks_what_is_unused(diagnostic: &Diagnostic, unused: &[Range<usize>]) -> bool {
    let lacking = diagnostic.code == "E0049" || diagnostic.message == "this has no value";
    lacking
        && diagnostic
            .labels
            .iter()
            .any(|(at, _)| unused.iter().any(|of| of.start < at.end && of.end >= at.start.saturating_sub(4)))
}

/// Returns whether a diagnostic is about an unused value directly before text with a syntax error. Without
/// that error, the text most likely would have used the value.
fn is_unused_by_what_was_not_read(diagnostic: &Diagnostic, source: &str, told: &[Range<usize>]) -> bool {
    let Some(at) = error_range(diagnostic).filter(|_| diagnostic.code == "E0056") else { return false };
    let blank = |of: &Range<usize>| source.get(at.end..of.start).is_some_and(|text| text.trim().is_empty());
    told.iter().any(blank)
}

/// Returns whether a diagnostic reports as an unknown name one of the words that only fences and atomic
/// operations know, such as a memory order.
fn is_word(diagnostic: &Diagnostic, source: &str) -> bool {
    diagnostic.code == "E0020"
        && error_range(diagnostic).is_some_and(|at| argument_words::is_word(&source[at]))
}

/// Returns whether a diagnostic is about a `break` or `continue` outside of a loop, in a program in which the
/// parser skipped the head of a loop. Most likely, the skipped head belongs to the loop that contains the
/// `break`.
fn leaves_what_was_not_read(diagnostic: &Diagnostic, source: &str, skipped: &[Span]) -> bool {
    let leaves = diagnostic.code == "E0054" || diagnostic.message.starts_with("no loop around this");
    let is_head = |span: &Span| {
        span.text(source).contains('{')
            || ["for", "while", "loop"].iter().any(|word| has_word(span.text(source), word))
    };
    leaves && skipped.iter().any(is_head)
}

/// Returns whether a diagnostic is about a `break` with a value in a loop that cannot have a value. Such a
/// loop has been reported already if the parser expected `loop` or `{` at its head.
fn brings_to_no_one(diagnostic: &Diagnostic, kept: &[Diagnostic], source: &str) -> bool {
    let Some(at) = error_range(diagnostic).filter(|_| diagnostic.code == "E0057") else { return false };
    // Returns whether the `break` is inside the body of the loop whose head is `head`: inside the first pair
    // of braces after the head.
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
    kept.iter().filter(told).filter_map(error_range).any(is_inside)
}

/// Returns whether a diagnostic is about a missing value at the end of a body whose last lines the parser
/// skipped.
fn ends_with_what_was_not_read(diagnostic: &Diagnostic, source: &str, skipped: &[Span]) -> bool {
    let Some(at) = error_range(diagnostic).filter(|_| diagnostic.code == "E0049") else { return false };
    let between = |span: &Span| source.get(span.end as usize..at.start);
    skipped.iter().any(|span| between(span).is_some_and(|text| text.trim().is_empty()))
}

/// Returns whether a text contains a name as a whole word.
fn has_word(text: &str, name: &str) -> bool {
    let of_name = |c: Option<char>| c.is_some_and(|c| c == '_' || c.is_ascii_alphanumeric());
    text.match_indices(name).any(|(at, _)| {
        !of_name(text[..at].chars().next_back()) && !of_name(text[at + name.len()..].chars().next())
    })
}
