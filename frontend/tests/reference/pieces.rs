//! The reference cut into the pieces that a test can show: sentences, items and rows of tables, pieces of code.

/// A piece of the page: the section that it stands in and its text, in one line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    pub section: String,
    pub text: String,
}

/// All pieces of a page in Markdown, in their order. Headings, heads of tables and lines of dashes are none.
pub fn pieces(page: &str) -> Vec<Piece> {
    let mut section = String::new();
    let mut pieces = Vec::new();
    let mut paragraph = String::new();
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        let trimmed = line.trim();
        let starts_anew = trimmed.is_empty()
            || trimmed.starts_with('|')
            || trimmed.starts_with("- ")
            || trimmed.starts_with('#') && line.trim_start_matches('#').starts_with(' ')
            || trimmed.starts_with("```");
        let mut add = |text: String| pieces.push(Piece { section: section.clone(), text });
        if starts_anew {
            sentences(&std::mem::take(&mut paragraph)).into_iter().for_each(&mut add);
        }
        if trimmed.starts_with("```") {
            let code: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
            code_pieces(&code).into_iter().for_each(add);
        } else if trimmed.starts_with('|') {
            let below = lines.peek().copied().unwrap_or("");
            if !is_rule(trimmed) && !is_rule(below) {
                add(one_line(trimmed));
            }
        } else if trimmed.starts_with('#') && starts_anew {
            section = trimmed.trim_start_matches('#').trim().to_owned();
        } else {
            paragraph.push_str(trimmed.strip_prefix("- ").unwrap_or(trimmed));
            paragraph.push('\n');
        }
    }
    pieces.extend(sentences(&paragraph).into_iter().map(|text| Piece { section: section.clone(), text }));
    pieces
}

/// The line below a table's head.
fn is_rule(line: &str) -> bool {
    line.starts_with('|') && line.chars().all(|c| "|-: ".contains(c))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A block with an indented line is one program; the lines of any other stand for themselves.
fn code_pieces(code: &[&str]) -> Vec<String> {
    let full = || code.iter().map(|line| one_line(line)).filter(|line| !line.is_empty());
    match code.iter().any(|line| line.starts_with(' ')) {
        true => vec![full().collect::<Vec<_>>().join(" ")],
        false => full().collect(),
    }
}

/// A sentence ends at `.` or `?` before a blank and the beginning of another one, outside of code and parentheses.
fn sentences(paragraph: &str) -> Vec<String> {
    let text = one_line(paragraph);
    let mut list = Vec::new();
    let (mut start, mut depth, mut in_code) = (0, 0u32, false);
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '`' => in_code = !in_code,
            _ if in_code => {}
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 && ".?".contains(previous) => {
                let (before, after) = (&text[start..at], &text[at + 1..]);
                let abbreviation = [" e.g.", " i.e.", " etc."].iter().any(|end| before.ends_with(end));
                if !abbreviation && !after.starts_with(|c: char| c.is_lowercase()) {
                    list.push(before.to_owned());
                    start = at + 1;
                }
            }
            _ => {}
        }
        previous = c;
    }
    list.extend((start < text.len()).then(|| text[start..].to_owned()));
    list
}

#[cfg(test)]
fn check(page: &str, expected: &[&str]) {
    let found: Vec<String> = pieces(page).into_iter().map(|p| format!("{}: {}", p.section, p.text)).collect();
    assert_eq!(found, expected, "{page}");
}

#[test]
fn paragraphs_are_cut_into_sentences() {
    check(
        "# A\n\nOne. Two is\nlonger. `c` too.\n\nThree:\n",
        &["A: One.", "A: Two is longer.", "A: `c` too.", "A: Three:"],
    );
    check(
        "Tuples `(A,)`, …. Kernels e.g. Rust's, i.e. Others.",
        &[": Tuples `(A,)`, ….", ": Kernels e.g. Rust's, i.e. Others."],
    );
    check(
        "`a. B` is code. So (it. Says) here. 2. and 1.5 F, s.x is.",
        &[": `a. B` is code.", ": So (it. Says) here.", ": 2. and 1.5 F, s.x is."],
    );
    check("In [0, 2). One.", &[": In [0, 2).", ": One."]);
    check("#[a] is no heading. `(`. `)`.", &[": #[a] is no heading.", ": `(`.", ": `)`."]);
}

#[test]
fn items_and_rows_are_pieces() {
    check(
        "## L\n- one. Two\n  goes on\n- three\n\nfour",
        &["L: one.", "L: Two goes on", "L: three", "L: four"],
    );
    check("L:\n- one\n- two", &[": L:", ": one", ": two"]);
    check(
        "a\n| x | |\n|---|--:|\n| `a \\| b` | 1. Two. Three |\n| c | d |\nb",
        &[": a", ": | `a \\| b` | 1. Two. Three |", ": | c | d |", ": b"],
    );
}

#[test]
fn code_is_one_piece_or_lines() {
    check("a:\n```rust\nfn f() {\n    1\n}\n```\nb", &[": a:", ": fn f() { 1 }", ": b"]);
    check(
        "# S\n```text\nlet  x;   // y. Z\n\n# no heading\n```\n",
        &["S: let x; // y. Z", "S: # no heading"],
    );
    check("```\n- a\n| b |\n", &[": - a", ": | b |"]);
}
