//! Makes a failing program smaller.

use crate::program::Program;
use crate::{Config, run, run_program};

/// What the message is about, up to its first colon, and the code or the rule in brackets: smaller programs must fail in the same
/// way.
pub(crate) fn kind(what: &str) -> (&str, &str) {
    let first = what.lines().next().unwrap_or_default();
    let about = first.split(':').next().unwrap_or_default();
    let rule = first.rsplit_once('[').and_then(|(_, rest)| rest.split_once(']'));
    (about, rule.map_or("", |(rule, _)| rule))
}

/// Leaves out statements, then parts of expressions, as long as it fails in the same way; the message and the source.
pub fn shrink(mut program: Program, mut what: String, config: &Config) -> (String, String) {
    // Only the levels that fail are of interest: messages name them.
    let mut config = config.clone();
    if let Some(level) =
        config.levels.iter().copied().find(|level| kind(&what).0.ends_with(&format!("{level:?}")))
    {
        config.levels = vec![level];
    }
    // Greedy: take the first smaller program that fails with the same kind of message, and start over.
    loop {
        let found = program
            .smaller()
            .filter_map(|smaller| run_program(&smaller, &config).err().map(|why| (smaller, why)))
            .find(|(_, why)| kind(why) == kind(&what));
        match found {
            Some((smaller, why)) => (program, what) = (smaller, why),
            None => break,
        }
    }
    let mut source = program.source();
    let kernels: Vec<&str> = program.kernels().collect();
    loop {
        let found = shorter(&source)
            .filter_map(|text| run(&text, &kernels, &program.shape, &config).err().map(|why| (text, why)))
            .find(|(_, why)| kind(why) == kind(&what));
        match found {
            Some((text, why)) => (source, what) = (text, why),
            None => break,
        }
    }
    (what, source)
}

/// Texts that lack a line, or have a parenthesised expression replaced by one within it. Most of them are no valid
/// programs, and fail in another way.
fn shorter(source: &str) -> impl Iterator<Item = String> + '_ {
    let lines = line_spans(source).map(|(start, end)| [&source[..start], &source[end..]].concat());
    let groups = groups(source);
    let inner = groups.clone().into_iter().flat_map(move |(start, end)| {
        let within: Vec<(usize, usize)> =
            groups.iter().copied().filter(|&(from, to)| start < from && to < end).collect();
        // What keeps divisors from zero and indices in range stays.
        let guard = ["| 1)", "& ", "% "].iter().any(|guard| source[start..end].contains(guard));
        let literal = (!guard).then(|| [&source[..start], "1", &source[end..]].concat());
        literal.into_iter().chain(
            within
                .into_iter()
                .map(move |(from, to)| [&source[..start], &source[from..to], &source[end..]].concat()),
        )
    });
    lines.chain(inner)
}

fn line_spans(source: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut at = 0;
    source.split_inclusive('\n').map(move |line| {
        at += line.len();
        (at - line.len(), at)
    })
}

/// Spans of parenthesised expressions, outermost first; not of arguments, whose parentheses follow a name.
fn groups(source: &str) -> Vec<(usize, usize)> {
    let bytes = source.as_bytes();
    let mut open = Vec::new();
    let mut found = Vec::new();
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b'(' => open.push(at),
            b')' => {
                let Some(start) = open.pop() else { continue };
                let called =
                    start > 0 && (bytes[start - 1].is_ascii_alphanumeric() || bytes[start - 1] == b'_');
                if !called {
                    found.push((start, at + 1));
                }
            }
            _ => {}
        }
    }
    found.sort_by_key(|&(start, end)| (start, usize::MAX - end));
    found
}
