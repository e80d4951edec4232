//! Reduces a failing program: removes functions, blocks and statements, and replaces blocks by their content.

use super::Program;
use crate::shrink::kind;

/// Returns the smallest program found that fails in the same way, and its failure.
pub(super) fn smaller(
    mut program: Program,
    mut what: String,
    failure: &dyn Fn(&Program) -> Option<String>,
) -> (Program, String) {
    let mut size = usize::MAX;
    while program.source.len() < size {
        size = program.source.len();
        let mut at = 0;
        while at < program.source.lines().count() {
            let fails = |source: String| {
                let smaller = Program { source, ..program.clone() };
                let why = failure(&smaller).filter(|why| kind(why) == kind(&what))?;
                Some((smaller, why))
            };
            match candidates(&program.source, at).into_iter().find_map(fails) {
                Some(found) => (program, what) = found,
                None => at += 1,
            }
        }
    }
    (program, what)
}

/// Returns texts without the item that begins in line `at`: without the whole item, and without only its
/// first and last line.
fn candidates(source: &str, at: usize) -> Vec<String> {
    let lines: Vec<&str> = source.lines().collect();
    let without = |gone: &dyn Fn(usize) -> bool| {
        let kept = lines.iter().enumerate().filter(|&(n, _)| !gone(n)).map(|(_, &line)| line);
        kept.fold(String::new(), |text, line| text + line + "\n")
    };
    let indent = |line: &str| line.len() - line.trim_start().len();
    if !lines[at].trim_end().ends_with('{') {
        return vec![without(&|n| n == at)];
    }
    let own = indent(lines[at]);
    let closes = |line: &&str| indent(line) == own && line.trim_start().starts_with('}');
    let Some(end) = lines[at + 1..].iter().position(closes).map(|n| at + 1 + n) else {
        return Vec::new();
    };
    vec![without(&|n| (at..=end).contains(&n)), without(&|n| n == at || n == end)]
}
