//! Reads the `///` comments of items. The compiler ignores comments; documentation tools use this module.

use crate::diag::Sink;
use crate::lexer::{Tok, Tokens, lex};

/// An item of a source text with its documentation comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Documented<'a> {
    /// Keyword of the item: `kernel`, `fn`, `struct`, `const`, `param` or `static`.
    pub kind: &'static str,
    /// Its name.
    pub name: &'a str,
    /// Source text of the item without its body or value.
    pub signature: &'a str,
    /// Lines of the `///` comments that precede the item and its attributes, without the `/// `.
    pub text: Vec<&'a str>,
    /// Line of the item's name, counted from 1.
    pub line: usize,
}

/// Returns the items of a source text in order. The text may contain mistakes.
pub fn documentation(source: &str) -> Vec<Documented<'_>> {
    let mut tokens = Tokens::default();
    lex(source, &mut tokens, &mut Sink::default());
    let Tokens { kinds, spans, .. } = &tokens;
    let mut items = Vec::new();
    let (mut first, mut depth) = (0, 0usize);
    for (at, kind) in kinds.iter().enumerate() {
        match kind {
            Tok::LBrace | Tok::LParen | Tok::LBracket => depth += 1,
            Tok::RBrace | Tok::RParen | Tok::RBracket => depth = depth.saturating_sub(1),
            _ => {}
        }
        let ends = matches!(kind, Tok::Semi | Tok::RBrace) && depth == 0;
        if ends {
            let start = spans[first].start as usize;
            items.extend(item(source, &kinds[first..=at], &spans[first..=at], above(source, start)));
            first = at + 1;
        }
    }
    items
}

/// Returns the item that a sequence of tokens forms, or `None` if the tokens form no item.
fn item<'a>(
    source: &'a str,
    kinds: &[Tok],
    spans: &[crate::lexer::Span],
    text: Vec<&'a str>,
) -> Option<Documented<'a>> {
    let word = behind_attributes(kinds);
    let (kind, mut name) = match (kinds.get(word)?, kinds.get(word + 1)?) {
        (Tok::Kernel, _) => ("kernel", word + 1),
        (Tok::Fn, _) => ("fn", word + 1),
        (Tok::Struct, _) => ("struct", word + 1),
        (Tok::Const, _) => ("const", word + 1),
        (Tok::Param, _) => ("param", word + 1),
        (Tok::Global | Tok::Shared | Tok::Constant, Tok::Static) => ("static", word + 2),
        _ => return None,
    };
    name += usize::from(kinds.get(name) == Some(&Tok::Dyn));
    // The shown signature of a struct includes its fields; the body of a function and the value of a constant
    // are left out.
    let mut depth = 0i32;
    let inside = |tok: &&Tok| {
        let ends =
            depth == 0 && (matches!(tok, Tok::Semi | Tok::Eq) || (**tok == Tok::LBrace && kind != "struct"));
        depth += i32::from(matches!(tok, Tok::LBracket | Tok::LParen | Tok::LBrace));
        depth -= i32::from(matches!(tok, Tok::RBracket | Tok::RParen | Tok::RBrace));
        !ends
    };
    let end = name + kinds.get(name..)?.iter().take_while(inside).count();
    let last = spans[end.min(spans.len()) - 1].end as usize;
    let name = spans.get(name)?;
    Some(Documented {
        kind,
        name: name.text(source),
        signature: &source[spans[word].start as usize..last],
        text,
        line: 1 + source[..name.start as usize].matches('\n').count(),
    })
}

/// Returns the index of the first token after the attributes.
fn behind_attributes(kinds: &[Tok]) -> usize {
    let mut at = 0;
    while kinds.get(at) == Some(&Tok::Hash) {
        let mut depth = 0usize;
        at += 1;
        while let Some(kind) = kinds.get(at) {
            at += 1;
            match kind {
                Tok::LBracket => depth += 1,
                Tok::RBracket if depth <= 1 => break,
                Tok::RBracket => depth -= 1,
                _ => {}
            }
        }
    }
    at
}

/// Returns the `///` lines directly above byte `start`.
fn above(source: &str, start: usize) -> Vec<&str> {
    let mut lines = source[..start].lines().rev();
    if !source[..start].ends_with('\n') && lines.next().is_some_and(|line| !line.trim().is_empty()) {
        return Vec::new();
    }
    let comment = |line: &'_ str| -> Option<std::ops::Range<usize>> {
        let text = line.trim_start().strip_prefix("///").filter(|text| !text.starts_with('/'))?;
        let text = text.strip_prefix(' ').unwrap_or(text);
        Some(line.len() - text.len()..line.trim_end().len().max(line.len() - text.len()))
    };
    let mut found: Vec<&str> = lines.map_while(|line| Some(&line[comment(line)?])).collect();
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_and_their_comments() {
        let source = "//// no\n/// Adds.\n///\n///   Twice.\n#[workgroup_size([1][0])]\nkernel add(x: *global u32) { { } }\n\
                      // no\nfn f<const N: u32>() -> [u32; N] { [0; N] }\n/// A pair.\nstruct P { a: u32, b: f32 }\n\
                      const N: u32 = 3; /// not above\nparam T: u32 = 1;\nshared static dyn s: [f32];\n/// Lost";
        let found = documentation(source);
        let rows: Vec<_> =
            found.iter().map(|d| (d.kind, d.name, d.signature, d.text.join("|"), d.line)).collect();
        let row = |kind, name, signature, text: &str, line| (kind, name, signature, text.to_owned(), line);
        assert_eq!(
            rows,
            [
                row("kernel", "add", "kernel add(x: *global u32)", "Adds.||  Twice.", 6),
                row("fn", "f", "fn f<const N: u32>() -> [u32; N]", "", 8),
                row("struct", "P", "struct P { a: u32, b: f32 }", "A pair.", 10),
                row("const", "N", "const N: u32", "", 11),
                row("param", "T", "param T: u32", "", 12),
                row("static", "s", "shared static dyn s: [f32]", "", 13),
            ]
        );
    }

    #[test]
    fn mistakes_are_no_matter() {
        for source in [
            "kernel",
            "kernel k(",
            "#",
            "#[",
            "#[a",
            "} } ;",
            "fn ;",
            "/// a\nfn",
            "static s;",
            "global static",
        ] {
            documentation(source);
        }
    }
}
