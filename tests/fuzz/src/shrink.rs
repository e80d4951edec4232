//! Reduces a failing program.

use crate::program::Program;
use crate::{Config, run, run_program};

/// Returns what identifies a kind of failure: the text up to the first colon, and the code or rule in
/// brackets. A reduced program has to fail with the same kind.
pub(crate) fn kind(what: &str) -> (&str, &str) {
    let first = what.lines().next().unwrap_or_default();
    let about = first.split(':').next().unwrap_or_default();
    let rule = first.rsplit_once('[').and_then(|(_, rest)| rest.split_once(']'));
    (about, rule.map_or("", |(rule, _)| rule))
}

/// Removes statements, then parts of expressions, while the program fails in the same way. Returns the
/// message and the source.
pub fn shrink(mut program: Program, mut what: String, config: &Config) -> (String, String) {
    // Messages name the optimisation level, so only the level that fails is run.
    let mut config = config.clone();
    if let Some(level) =
        config.levels.iter().copied().find(|level| kind(&what).0.ends_with(&format!("{level:?}")))
    {
        config.levels = vec![level];
    }
    // Greedy search: takes the first smaller program that fails with the same kind of message, and starts
    // over.
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

/// Returns texts that lack a line, or have a parenthesised expression replaced by an expression inside it or
/// by `1`. Most texts are not valid programs and fail in a different way.
fn shorter(source: &str) -> impl Iterator<Item = String> + '_ {
    let lines = line_spans(source).map(|(start, end)| [&source[..start], &source[end..]].concat());
    let groups = groups(source);
    let inner = groups.clone().into_iter().flat_map(move |(start, end)| {
        let within: Vec<(usize, usize)> =
            groups.iter().copied().filter(|&(from, to)| start < from && to < end).collect();
        // Expressions that keep divisors from zero and indices in range are not replaced by `1`.
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

/// Returns the spans of parenthesised expressions, outermost first. Argument lists, whose parenthesis follows
/// a name, are excluded.
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
