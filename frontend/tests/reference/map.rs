//! The table `tests/language/map.txt`: pieces of the reference, and what shows each.

use crate::reference::pieces::Piece;

/// What a row says of its piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub piece: Piece,
    /// Paths of files, `PATH::FUNCTION` for tests in Rust; empty for a piece that no test can show.
    pub tests: Vec<String>,
    /// Why no test can show it: one of [`REASONS`].
    pub reason: Option<String>,
}

/// Reasons for which a piece needs no test.
pub const REASONS: [&str; 3] = [
    "introduction", // says what comes next
    "elsewhere",    // sends the reader to another page, which has tests of its own
    "open",         // leaves something open: nothing that a compiler does could contradict it
];

/// Lines that begin with `# ` are comments, `## ` a section; any other line at the margin is a piece, and the indented ones below it are
/// words: tests, or `- REASON`.
pub fn parse(text: &str) -> Result<Vec<Row>, String> {
    let mut section = String::new();
    let mut rows: Vec<Row> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            section = name.trim().to_owned();
        } else if line.starts_with("    ") {
            let row = rows.last_mut().ok_or_else(|| format!("`{line}` stands below no sentence"))?;
            match line.trim().strip_prefix("- ") {
                Some(reason) if REASONS.contains(&reason) && row.tests.is_empty() => {
                    row.reason = Some(reason.to_owned());
                }
                Some(reason) => return Err(format!("`{reason}` is no reason below `{}`", row.piece.text)),
                None => row.tests.extend(line.split_whitespace().map(str::to_owned)),
            }
        } else if !line.trim().is_empty() && !line.starts_with("# ") {
            let piece = Piece { section: section.clone(), text: line.trim().to_owned() };
            rows.push(Row { piece, tests: Vec::new(), reason: None });
        }
    }
    Ok(rows)
}

/// The table as it is written: `head` first, then the rows by their sections, at most `WIDTH` letters of tests a line.
pub fn print(head: &str, rows: &[Row]) -> String {
    const WIDTH: usize = 140;
    let mut text = head.to_owned();
    let mut section = None;
    for row in rows {
        if section != Some(&row.piece.section) {
            section = Some(&row.piece.section);
            text += &format!("\n## {}\n", row.piece.section);
        }
        text += &format!("\n{}\n", row.piece.text);
        let mut line = String::new();
        for word in row.tests.iter().cloned().chain(row.reason.iter().map(|reason| format!("- {reason}"))) {
            if line.len() + word.len() > WIDTH && !line.is_empty() {
                text += &format!("   {line}\n");
                line.clear();
            }
            line += &format!(" {word}");
        }
        if !line.is_empty() {
            text += &format!("   {line}\n");
        }
    }
    text
}

#[test]
fn tables_are_read_and_written_alike() {
    let text = "# head\n\n## A\n\nOne. | `x` |\n    a.k b.rs::c\n\nTwo.\n\n## B\n\nThree:\n    - open\n";
    let rows = parse(text).expect("well-formed");
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[0].piece, Piece { section: "A".into(), text: "One. | `x` |".into() });
    assert_eq!(rows[0].tests, ["a.k", "b.rs::c"]);
    assert_eq!((rows[1].tests.len(), rows[1].reason.as_deref()), (0, None));
    assert_eq!((rows[2].piece.section.as_str(), rows[2].reason.as_deref()), ("B", Some("open")));
    assert_eq!(print("# head\n", &rows), text);
}

#[test]
fn other_tables_are_refused() {
    assert!(parse("    a.k\n").unwrap_err().contains("no sentence"));
    assert!(parse("One.\n    - later\n").unwrap_err().contains("`later` is no reason"));
    assert!(parse("One.\n    a.k\n    - open\n").unwrap_err().contains("no reason"));
}
