//! Hints for people who know another language. Each row of the table `habits.txt` has a pattern of tokens and
//! the hint that an error message gets if the source matches the pattern.
//!
//! A pattern that begins with `^` must match at the beginning of a statement. A pattern that begins with `!`
//! must match exactly at the position of the mistake. Any other pattern may also match at the tokens around
//! the mistake.
//!
//! The table is parsed only when there is an error to explain, so correct programs do not pay for it.

use crate::builtins;
use crate::cascading_errors::{self, Read};
use crate::diag::{Diagnostic, Sink};
use crate::lexer::{Span, Tok, Tokens};
use crate::scalar::{Scalar, vector_name};
use isa::spelling::nearest;
use smallvec::SmallVec;
use std::sync::LazyLock;

const TABLE: &str = include_str!("habits.txt");

/// Help text for a `=` in a condition.
pub const ASSIGNS: &str = "`=` assigns and `==` compares";

/// Prefix of the hint in table rows that match a call: a method call or a path call such as `T::name(…)`. The
/// digit after the prefix says which placeholder of the pattern matched the name of the function.
const CALLED: &str = "call \\";

/// One row of the table of hints: its kind, its pattern of tokens, and its text.
#[derive(Clone, Copy)]
pub struct Row {
    kind: u8,
    pattern: &'static str,
    text: &'static str,
}

/// The rows of the table of hints, which are parsed when the process explains its first mistake.
static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let lines = TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let row = |line: &'static str| {
        let (kind, rest) = line.split_once("  ")?;
        let (pattern, text) = rest.split_once("  ")?;
        Some(Row { kind: kind.as_bytes()[0], pattern, text })
    };
    lines.filter_map(row).collect()
});

/// Returns the rows of the table.
fn rows() -> impl Iterator<Item = Row> {
    ROWS.iter().copied()
}

/// Returns the kinds of table rows that may explain a diagnostic with this code. A kind is a letter, such as
/// `t` for the names of types. `^` stands for the rows of kind `s` (syntax) whose pattern begins with `^`.
fn kinds(code: &str) -> &'static [u8] {
    match code {
        "E0001" | "E0004" | "E0005" | "E0006" | "E0008" | "E0056" => b"sm",
        "E0090" => b"^ft",
        "E0020" | "E0026" => b"n",
        "E0022" => b"f",
        "E0025" => b"nf",
        "E0021" => b"t",
        "E0023" => b"d",
        "E0042" => b"c",
        "E0027" | "E0080" => b"a",
        "E0040" | "E0041" | "E0044" | "E0045" => b"o",
        "E0096" => b"v",
        _ => b"",
    }
}

/// Advice about a word of another language. It is either the word of this language with the same meaning, or
/// a text that explains what to write.
pub enum Hint {
    Name(String),
    Hint(String),
}

/// Returns the advice about the name of a function of another language.
pub fn function(name: &str) -> Option<Hint> {
    word(b'f', name).or_else(|| derived_function(name))
}

/// Returns the advice about a function that is called in the style of another language: as a method, or as
/// `T::name`.
pub fn called(name: &str) -> Option<Hint> {
    if builtins::find(name).is_some() {
        return Some(Hint::Name(name.to_owned()));
    }
    let method = rows().find(|row| row.kind == b'm' && row.pattern.strip_prefix(". ") == Some(name));
    method.map(|row| Hint::Hint(row.text.to_owned())).or_else(|| function(name))
}

/// Returns the advice about a call `of::name(…)`, in which `of` is a type or, in another language, the name
/// of a library.
pub fn called_of(of: &str, name: &str) -> String {
    if matches!(name, "from" | "try_from" | "new") {
        return format!("convert with `x as {}`", here_type(of).unwrap_or_else(|| of.to_owned()));
    }
    match called(name) {
        Some(Hint::Name(here)) => format!("functions stand alone: write `{here}(…)`"),
        Some(Hint::Hint(hint)) => hint,
        None => no_function(name),
    }
}

/// Returns the advice about a function name that no table knows: the most similar name, if there is one.
pub fn no_function(name: &str) -> String {
    match nearest(name, builtins::names()) {
        Some(close) => {
            format!("functions stand alone, and none is called `{name}`; a similar name exists: `{close}`")
        }
        None => format!("functions stand alone, and none is called `{name}`"),
    }
}

/// Returns the advice about the suffix of a number literal if another language has this suffix.
pub fn suffix(text: &str) -> Option<&'static str> {
    rows().find(|row| row.kind == b'x' && row.pattern == text).map(|row| row.text)
}

/// Returns the advice about the name of a type of another language.
pub fn type_name(name: &str) -> Option<Hint> {
    if let Some(said) = word(b't', name) {
        return Some(said);
    }
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let lanes: u8 = name[stem.len()..].parse().ok()?;
    let scalar = match stem {
        "vec" => "f32",
        "ivec" => "i32",
        "uvec" => "u32",
        "dvec" => "f64",
        "bvec" | "bool" => "bool",
        _ => match word(b't', stem)? {
            Hint::Name(name) => return vector(&name, lanes),
            Hint::Hint(_) => return None,
        },
    };
    vector(scalar, lanes)
}

fn vector(scalar: &str, lanes: u8) -> Option<Hint> {
    let name = if lanes == 1 { scalar.to_owned() } else { format!("{scalar}x{lanes}") };
    (lanes == 1 || vector_name(&name).is_some()).then_some(Hint::Name(name))
}

/// Returns whether a word matches `part`, one element of a pattern. Either `part` is the word itself, or
/// `part` is a stem followed by `*` and the word begins with the stem.
fn names(part: &str, word: &str) -> bool {
    match part
        .strip_suffix('*')
        .filter(|stem| stem.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic()))
    {
        Some(stem) => word.starts_with(stem),
        None => part == word,
    }
}

/// Returns the advice of the first row of this kind whose whole pattern matches the word `name`.
fn word(kind: u8, name: &str) -> Option<Hint> {
    let row = rows().find(|row| row.kind == kind && names(row.pattern, name))?;
    Some(match row.text.strip_prefix("=> ") {
        Some(name) => Hint::Name(name.to_owned()),
        None => Hint::Hint(row.text.to_owned()),
    })
}

/// Returns the advice about the name of a function that another language forms by a rule. Examples are
/// `sqrtf`, `make_float4`, `convert_int`, `as_uint` and `atomicMin`.
fn derived_function(name: &str) -> Option<Hint> {
    if let Some(to) = name.strip_prefix("make_").or(Some(name)).and_then(here_type) {
        return Some(match vector_name(&to) {
            Some(_) => Hint::Name(to),
            None => Hint::Hint(format!("convert with `x as {to}`")),
        });
    }
    if let Some(to) = name.strip_prefix("as_").and_then(here_type) {
        return Some(Hint::Name(format!("bitcast::<{to}>")));
    }
    if let Some(rest) = name.strip_prefix("convert_") {
        let (to, how) = rest.split_once('_').unwrap_or((rest, ""));
        let to = here_type(to)?;
        return Some(Hint::Hint(match how {
            "rte" => format!("write `round(x) as {to}`: `as` rounds to zero"),
            "rtp" => format!("write `ceil(x) as {to}`: `as` rounds to zero"),
            "rtn" => format!("write `floor(x) as {to}`: `as` rounds to zero"),
            "sat" => format!("write `x as {to}`, which saturates"),
            _ => format!("convert with `x as {to}`"),
        }));
    }
    let snake = snake_case(name);
    let plain = snake.trim_start_matches('_');
    let stems = [plain, plain.strip_suffix('f').unwrap_or(plain), plain.strip_suffix('l').unwrap_or(plain)];
    let mut others = stems.into_iter().filter(|stem| *stem != name);
    others.find_map(|stem| match builtins::find(stem) {
        Some(_) => Some(Hint::Name(stem.to_owned())),
        None => word(b'f', stem),
    })
}

fn snake_case(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// Returns the name that this language has for a scalar type. `name` is the type's name in this language or
/// in another one.
pub fn scalar(name: &str) -> Option<String> {
    here_type(name).filter(|here| Scalar::from_name(here).is_some())
}

/// Returns the name that this language has for a type. `name` is the type's name in this language or in
/// another one.
fn here_type(name: &str) -> Option<String> {
    if Scalar::from_name(name).is_some() || vector_name(name).is_some() {
        return Some(name.to_owned());
    }
    match type_name(name)? {
        Hint::Name(name) => Some(name),
        Hint::Hint(_) => None,
    }
}

/// Adds the hints of the table to the diagnostics. Also drops diagnostics that only repeat the consequences
/// of another one. `skipped` has the source ranges that the parser skipped. The first `parsed` diagnostics
/// come from the parser.
pub fn amend(source: &str, tokens: &Tokens, skipped: &[Span], parsed: usize, sink: &mut Sink) {
    let matcher = Matcher { source, tokens };
    let mut list = sink.take();
    // The constructs of other languages that a row of the table has recognised. Each entry has the byte at
    // which the construct's diagnostic begins, and the construct's source range.
    let mut foreign: Vec<(usize, Span)> = Vec::new();
    for diagnostic in &mut list {
        // The diagnostic already has the help about `=` in place of `==`. This help is better than a row of
        // the table, which may match the start of the statement by chance.
        if diagnostic.help.iter().any(|help| help == ASSIGNS) {
            continue;
        }
        let Some((label, text)) = diagnostic.labels.first() else { continue };
        let at = tokens.at(label.start);
        let row = matcher.row(kinds(diagnostic.code), at, text.ends_with("after this"));
        // The help of the diagnostic may already suggest a known name with a similar spelling. That is a
        // better hint than a row that matches only the start of the statement.
        let row = row.filter(|(row, _)| {
            row.kind == b's' || !row.pattern.starts_with('^') || diagnostic.help.is_empty()
        });
        if let Some((row, found)) = row {
            foreign.push((label.start, matcher.reach(row, &found)));
            matcher.explain(diagnostic, row, &found);
        } else if diagnostic.code == "E0022" {
            let found = Found { start: at, end: at + 1, parts: Parts::new() };
            let name = matcher.text(at);
            if let Some(said) = function(name) {
                foreign.push((label.start, matcher.arguments(&found)));
                matcher.apply_hint(diagnostic, said, &found);
            }
        } else if diagnostic.code == "E0021"
            && let Some(said) = type_name(matcher.text(at))
        {
            matcher.apply_hint(diagnostic, said, &Found { start: at, end: at + 1, parts: Parts::new() });
        }
    }
    let broken = list[..parsed].iter().any(|diagnostic| matches!(diagnostic.code, "E0005" | "E0006"));
    sink.restore(cascading_errors::dropped(
        list,
        &Read { source, tokens, skipped, parsed, broken, foreign: &foreign },
    ));
}

/// The texts that matched the placeholders of a pattern, such as `\i`, in order.
type Parts = SmallVec<[String; 4]>;

/// A place where a pattern matches: the range of tokens, and the texts that matched the pattern's
/// placeholders.
struct Found {
    start: usize,
    end: usize,
    parts: Parts,
}

struct Matcher<'m> {
    source: &'m str,
    tokens: &'m Tokens,
}

impl<'m> Matcher<'m> {
    fn text(&self, at: usize) -> &'m str {
        self.tokens.text(at, self.source)
    }

    /// Returns the index of the first token of the statement that contains the token `at`.
    fn statement(&self, at: usize) -> usize {
        let is_end = |&n: &usize| matches!(self.text(n), ";" | "{" | "}" | "");
        let end = (0..at.min(self.tokens.spans.len())).rev().find(is_end);
        match end {
            // The token belongs to the first field of a struct. Its statement begins with the keyword
            // `struct`.
            Some(end @ 2..) if self.text(end) == "{" && self.text(end - 2) == "struct" => end - 2,
            end => end.map_or(0, |end| end + 1),
        }
    }

    /// Returns the first table row of one of `kinds` whose pattern matches near token `at`, with the match.
    /// Which tokens are tried depends on the pattern: those around `at`, the start of the statement (`^`), or
    /// exactly the position of the mistake (`!`). That position is `at`, or with `behind` the next token.
    fn row(&self, kinds: &[u8], at: usize, behind: bool) -> Option<(Row, Found)> {
        if kinds.is_empty() {
            return None;
        }
        let first = self.statement(at);
        let wanted = |row: &Row| {
            kinds.contains(&row.kind) || kinds[0] == b'^' && row.kind == b's' && row.pattern.starts_with('^')
        };
        rows().filter(wanted).find_map(|row| {
            if let Some(pattern) = row.pattern.strip_prefix('!') {
                return Some((row, self.fit(pattern, if behind { at + 1 } else { at })?));
            }
            if let Some(pattern) = row.pattern.strip_prefix('^') {
                // An attribute may precede the statement.
                let behind = if self.text(first) == "#" { at } else { first };
                return [first, behind].into_iter().find_map(|start| Some((row, self.fit(pattern, start)?)));
            }
            let least = at.saturating_sub(8).max(if at > first { first.saturating_sub(1) } else { first });
            let names_only = row.kind != b's' && row.kind != b'm';
            let most = if row.kind == b'a' { at + 2 } else { at + 1 };
            (least..=most).find_map(|start| {
                let found = self.fit(row.pattern, start)?;
                let covers = if names_only {
                    let wide = matches!(row.kind, b'o' | b'd' | b'v') || row.pattern.contains("::");
                    let around = wide && found.start <= at && at < found.end;
                    found.start == at
                        || around
                        || (row.kind == b'a' && found.start <= at + 2 && found.start > at)
                } else {
                    found.end > at
                };
                covers.then_some((row, found))
            })
        })
    }

    /// Matches a pattern with the tokens from `start` on.
    fn fit(&self, pattern: &str, start: usize) -> Option<Found> {
        let (mut at, mut parts) = (start, Parts::new());
        for part in pattern.split(' ') {
            let text = self.text(at);
            if text.is_empty() {
                return None;
            }
            match part {
                "\\." => parts.push(text.to_owned()),
                "\\i" if self.tokens.kinds[at] == Tok::Ident => parts.push(text.to_owned()),
                "\\n" if text.starts_with(|c: char| c.is_ascii_digit()) => parts.push(text.to_owned()),
                "\\t" => {
                    let (name, end) = self.ty(at)?;
                    parts.push(name);
                    at = end;
                    continue;
                }
                _ if names(part, text) => {}
                _ => return None,
            }
            at += 1;
        }
        Some(Found { start, end: at, parts })
    }

    /// Parses a type of this or another language at token `at`, for example `unsigned int` or `const float`.
    /// Returns the name that this language has for the type, and the index of the token after it.
    fn ty(&self, mut at: usize) -> Option<(String, usize)> {
        while matches!(self.text(at), "const" | "volatile" | "register" | "signed") {
            at += 1;
        }
        let unsigned = self.text(at) == "unsigned";
        let is_word = |at| matches!(self.text(at), "int" | "long" | "short" | "char");
        if unsigned && is_word(at + 1) {
            at += 1;
        }
        let name = self.text(at);
        let here = here_type(name)?;
        at += 1;
        while is_word(at) && matches!(name, "long" | "short") {
            at += 1;
        }
        Some((if unsigned { here.replacen('i', "u", 1) } else { here }, at))
    }

    /// Returns the source range of the construct of another language that a row matched. Errors about names
    /// in this range only follow from the use of the construct.
    fn reach(&self, row: Row, found: &Found) -> Span {
        if matches!(row.kind, b'f' | b'c') {
            return self.arguments(found);
        }
        let start = self.tokens.spans[found.start].start;
        Span { start, end: self.tokens.spans[found.end - 1].end }
    }

    /// Returns the source range of a call, from the function's name to the end of the arguments. `found` is
    /// the match of the function's name.
    fn arguments(&self, found: &Found) -> Span {
        let start = self.tokens.spans[found.start].start;
        let (mut at, mut depth) = (found.start + 1, 0usize);
        while at < self.tokens.spans.len() {
            match self.text(at) {
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                ";" | "" => break,
                _ => {}
            }
            if depth == 0 {
                break;
            }
            at += 1;
        }
        let last = self.tokens.spans[at.min(self.tokens.spans.len() - 1)];
        Span { start, end: last.end.max(start) }
    }

    fn explain(&self, diagnostic: &mut Diagnostic, row: Row, found: &Found) {
        let mut text = row.text.to_owned();
        for (n, part) in found.parts.iter().enumerate() {
            text = text.replace(&format!("\\{}", n + 1), part);
        }
        // The row describes a call. Its hint therefore depends on the name of the called function. It comes
        // from the rows about functions, or is a general text if none of them has this name.
        if let Some(part) = row.text.strip_prefix(CALLED) {
            let n = part.parse::<usize>().unwrap_or(1);
            let of = if n > 1 { found.parts[n - 2].as_str() } else { "" };
            text = found.parts.get(n - 1).map_or(text, |name| called_of(of, name));
        }
        let said = match text.strip_prefix("=> ") {
            Some(name) => Hint::Name(name.to_owned()),
            None => Hint::Hint(text),
        };
        self.apply_hint(diagnostic, said, found);
        // The pattern matched a word of another language at the start of a statement. The parser noticed the
        // mistake only after this word, so the diagnostic is moved back to the word.
        let word = row.pattern.starts_with('^') && !row.pattern.starts_with("^\\i");
        if row.kind == b's' && word && self.tokens.kinds[found.start] == Tok::Ident {
            let span = self.tokens.spans[found.start];
            diagnostic.message = format!("`{}` has no meaning here", span.text(self.source));
            diagnostic.labels = vec![(span.start as usize..span.end as usize, "unknown word".to_owned())];
        }
    }

    fn apply_hint(&self, diagnostic: &mut Diagnostic, said: Hint, found: &Found) {
        diagnostic.help.clear();
        diagnostic.suggestion = None;
        match said {
            Hint::Hint(text) => diagnostic.help.push(text),
            Hint::Name(name) => {
                let start = self.tokens.spans[found.start].start as usize;
                let end = self.tokens.spans[found.end - 1].end as usize;
                diagnostic.help.push(format!("write `{name}`"));
                diagnostic.suggest_here(start..end, name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_understood() {
        let mut seen = std::collections::HashSet::new();
        let mut count = 0;
        for row in rows() {
            count += 1;
            assert!(b"snfmtdcaovx".contains(&row.kind), "{}", row.pattern);
            assert!(seen.insert((row.kind, row.pattern)), "`{}` stands twice", row.pattern);
            let is_part = |part: &&str| {
                let part = part.trim_start_matches(['^', '!']);
                part.starts_with('\\') && part.len() == 2
            };
            let parts = row.pattern.split(' ').filter(is_part).count();
            let largest = (1..=9).filter(|n| row.text.contains(&format!("\\{n}"))).max().unwrap_or(0);
            assert!(largest <= parts, "`{}` has no part {largest}", row.pattern);
        }
        let lines = TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).count();
        assert_eq!(count, lines, "a line is no row");
        assert!(count > 120);
    }

    /// Contexts in which a pattern may match; `@` marks the position of the pattern.
    const CONTEXTS: [&str; 17] = [
        "@",
        "@ x() {}",
        "@ 3;",
        "@ { }",
        "@) { }",
        "@ x: u32) { }",
        "kernel k(@) { }",
        "kernel k(n: u32, @) { }",
        "kernel k(n: @ ) { }",
        "kernel k(n: u32) { @ }",
        "kernel k(n: u32) { @; }",
        "kernel k(n: u32) { @ 3; }",
        "kernel k(n: u32, p: *global u32, v: f32x4) { let y = @; }",
        "kernel k(n: u32, v: f32x4) { let y = n @ n; }",
        "kernel k(n: u32) { let y = @; }",
        "kernel k(n: u32) { if n @ n { } if @ { } }",
        "kernel k(n: u32) { match n { @ => 1, _ => 2 } @ n { } }",
    ];

    /// Returns programs that a row may match.
    fn programs(row: Row) -> Vec<String> {
        let pattern = row.pattern.trim_start_matches(['^', '!']);
        let word = |part: &str| match part {
            "\\i" => "name".to_owned(),
            "\\n" => "3".to_owned(),
            "\\t" => "f32".to_owned(),
            "\\." => "n".to_owned(),
            part if part.len() > 1 && part.ends_with('*') => part.replace('*', "9"),
            part => part.to_owned(),
        };
        let text = pattern.split(' ').map(word).collect::<Vec<_>>().join(" ");
        let body = |text: String| vec![format!("kernel k(n: u32, v: f32x4) {{ let mut y = {text}; }}")];
        match row.kind {
            b'n' if row.pattern.starts_with('^') => vec![format!("kernel k(n: u32) {{ {text} 3; }}")],
            b'n' => [body(text.clone()), body(format!("{text} 1)"))].concat(),
            b'f' if text.contains('(') => body(text),
            b'f' => [
                body(format!("{text}(n)")),
                vec![format!("kernel k(n: u32) {{ for i in (0..n).{text}(2) {{ }} }}")],
            ]
            .concat(),
            b'c' if text.ends_with(')') => body(text),
            b'c' => body(format!("{text} 1, 2, 3, 4, 5, 6, 7)")),
            b'm' => body(format!("n{text}(2)")),
            b't' => vec![format!("kernel k(n: {text}) {{ }}")],
            b'x' => [body(format!("1{text}")), body(format!("1.0{text}"))].concat(),
            b'd' => ["v", "[1, 2]"].iter().flat_map(|of| body(text.replacen('n', of, 1))).collect(),
            b'a' => vec![
                format!("#[{text}] kernel k() {{ }}"),
                format!("#[{text}(64)] kernel k() {{ }}"),
                format!("#[{text} kernel k() {{ }}"),
            ],
            b'v' => body(text.replace(" n", " \"text\"")),
            b'o' => [
                body(format!("n {text}")),
                body(text.replace("name", "1.0")),
                body(text.replacen('n', "v", 1)),
                vec![format!("kernel k() {{ {text} 2 }}; }}")],
            ]
            .concat(),
            _ => CONTEXTS.iter().map(|context| context.replace('@', &text)).collect(),
        }
    }

    /// Returns whether a help text is that of a row, ignoring the parts that the row's text copies from the
    /// source.
    fn says(row: Row, help: &str) -> bool {
        if row.text.starts_with(CALLED) {
            return help.starts_with("functions stand alone");
        }
        let text = row.text.strip_prefix("=> ").unwrap_or(row.text);
        let mut rest = help;
        text.split(|c: char| c == '\\' || c.is_ascii_digit()).all(|part| match rest.find(part) {
            Some(at) => {
                rest = &rest[at + part.len()..];
                true
            }
            None => false,
        })
    }

    /// Checks that each row explains an error of at least one of the programs that `programs` makes for the
    /// row.
    #[test]
    fn every_row_is_heard() {
        let mut unheard = Vec::new();
        for row in rows() {
            let heard = programs(row).into_iter().any(|source| {
                let Err(list) = crate::compile("row.k", &source, &crate::Options::default()) else {
                    return false;
                };
                list.list.iter().any(|diagnostic| diagnostic.help.iter().any(|help| says(row, help)))
            });
            if !heard {
                unheard.push(format!("{}  {}", row.kind as char, row.pattern));
            }
        }
        assert!(unheard.is_empty(), "{} rows:\n{}", unheard.len(), unheard.join("\n"));
    }

    /// Returns the names in backquotes that a text calls.
    fn called_in(text: &str) -> Vec<&str> {
        let of_name = |c: char| c == '_' || c.is_ascii_alphanumeric();
        let mut names = Vec::new();
        for code in text.split('`').skip(1).step_by(2) {
            for (at, _) in code.match_indices('(').chain(code.match_indices("::<")) {
                let before = code[..at].trim_end_matches(of_name);
                let name = &code[before.len()..at];
                // Skip functions that the text declares, and methods, which the hint advises against.
                let other = ["kernel ", "fn ", "."].iter().any(|word| before.ends_with(word));
                if name.starts_with(|c: char| c.is_ascii_alphabetic()) && !other {
                    names.push(name);
                }
            }
        }
        names
    }

    fn exists(name: &str) -> bool {
        // Words before a `(` that are not functions, or that stand for a function of the program.
        let other = ["if", "in", "as", "match", "for", "while", "fn", "has", "not", "cfg", "static_assert"];
        let attribute = crate::check::KERNEL_ATTRS.iter().any(|row| row.0 == name)
            || ["allow", "unroll", "inline"].contains(&name);
        let is_other = other.contains(&name) || crate::standard::has_function(name);
        builtins::find(name).is_some() || vector_name(name).is_some() || is_other || attribute
    }

    /// Checks that the hints propose only functions that the language has.
    #[test]
    fn hints_name_functions_that_exist() {
        let mut wrong = Vec::new();
        for row in rows() {
            let text = match row.text.strip_prefix("=> ") {
                Some(name) if row.kind == b'f' && !name.contains(['(', ':', '\\']) => format!("`{name}(`"),
                Some(code) => format!("`{code}`"),
                None => row.text.to_owned(),
            };
            let missing = |name: &&str| !exists(name);
            wrong.extend(
                called_in(&text).into_iter().filter(missing).map(|name| format!("{}: {name}", row.pattern)),
            );
        }
        for folder in ["src/parser", "src/check", "src"] {
            let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
            for entry in std::fs::read_dir(folder).expect("part of the repository") {
                let path = entry.expect("readable").path();
                if path.extension().is_none_or(|extension| extension != "rs") || path.ends_with("habits.rs") {
                    continue;
                }
                let text = std::fs::read_to_string(&path).expect("readable");
                for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
                    let missing = called_in(line).into_iter().filter(|name| !exists(name));
                    wrong
                        .extend(missing.map(|name| format!("{}: {name} in {}", path.display(), line.trim())));
                }
            }
        }
        assert!(wrong.is_empty(), "{} hints:\n{}", wrong.len(), wrong.join("\n"));
    }

    #[test]
    fn calls_of_other_languages() {
        assert_eq!(called_of("u32", "from"), "convert with `x as u32`");
        assert_eq!(called_of("int", "from"), "convert with `x as i32`");
        assert_eq!(called_of("f32", "max"), "functions stand alone: write `max(…)`");
        assert!(called_of("u32", "abs_diff").contains("max(a, b) - min(a, b)"));
        assert!(called_of("u32", "maxx").ends_with("similar name exists: `max`"));
        assert!(no_function("frobnicate").ends_with("none is called `frobnicate`"));
    }

    #[test]
    fn names_that_follow_a_rule() {
        let name = |text| match function(text) {
            Some(Hint::Name(name)) => name,
            Some(Hint::Hint(text)) => format!("! {text}"),
            None => "?".to_owned(),
        };
        assert_eq!(name("sqrtf"), "sqrt");
        assert_eq!(name("make_float4"), "f32x4");
        assert_eq!(name("as_uint2"), "bitcast::<u32x2>");
        assert!(name("convert_int_rte").contains("round(x) as i32"));
        assert_eq!(name("uvec3"), "u32x3");
        assert_eq!(name("nothing_like_it"), "?");
    }
}
