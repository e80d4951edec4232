//! `docs/seeds.md` has a row for each section of the documents that kernc implements: every file and test that a
//! row names exists, and no row was lost.
//!
//! The documents are not part of the repository. `KERNC_SEEDS=FOLDER` compares the rows with the documents, whose
//! files begin with `000_` to `004_`.

use crate::common::root;
use std::collections::BTreeMap;

const PAGE: &str = "docs/seeds.md";

/// The rows of each document: their number, and the hash of their lines and titles.
const RECORDED: [(&str, usize, u64); 5] = [
    ("000", 134, 0x5a3e_867d_bc95_5d95),
    ("001", 57, 0x3dbe_41b9_1e69_13b3),
    ("002", 37, 0xd06_d929_1d07_fc59),
    ("003", 44, 0xbac8_cd32_37f6_6718),
    ("004", 7, 0x807d_5ac7_2b6b_d01d),
];

/// Lines of seeds 000 and 004 that stand alone like headings, and are none.
const NO_HEADINGS: [&str; 9] = [
    "Note",
    "Warning",
    "register(R)",
    "ID:N:S[0]:S[1]:...:S[N-1]:FormatString",
    "IEEE 754 FP Invalid Operation",
    "GFX7-GFX8",
    "wiki:AmdCl2Abi",
    "Version 11 (modified by trac, 10 months ago) (diff)",
    "Back to Table of content",
];

/// A row: a section of a document.
struct Row {
    line: usize,
    title: String,
    files: Vec<String>,
    /// `FILE::FUNCTION` or a golden file.
    tests: Vec<String>,
    /// Text of the last cell.
    last: String,
}

/// Returns the texts in backticks.
fn quoted(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn row(line: &str) -> Option<Row> {
    let cells: Vec<&str> = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").map(str::trim).collect();
    let number = cells[0].parse().ok()?;
    let [_, title, files, last] = cells[..] else { panic!("{PAGE}: four cells: {line}") };
    let tests = if files.is_empty() { Vec::new() } else { quoted(last) };
    Some(Row {
        line: number,
        title: title.trim_matches('`').to_owned(),
        files: quoted(files),
        tests,
        last: last.to_owned(),
    })
}

/// Returns the rows of each document.
fn rows() -> BTreeMap<String, Vec<Row>> {
    let page = std::fs::read_to_string(root().join(PAGE)).expect(PAGE);
    let parts = page.split("\n## Seed ").skip(1);
    parts.map(|part| (part[..3].to_owned(), part.lines().filter_map(row).collect())).collect()
}

/// FNV-1a.
fn hash(rows: &[Row]) -> u64 {
    let text: String = rows.iter().map(|row| format!("{} {}\n", row.line, row.title)).collect();
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Returns what is wrong with a test's name.
fn missing_test(test: &str) -> Option<String> {
    let (path, function) = test.split_once("::").map_or((test, None), |(path, name)| (path, Some(name)));
    let Ok(text) = std::fs::read_to_string(root().join(path)) else {
        return Some(format!("there is no file {path}"));
    };
    let is_there = match function {
        Some(name) => text
            .split("#[test]")
            .skip(1)
            .any(|rest| rest.split('{').next().is_some_and(|head| head.contains(&format!("fn {name}()")))),
        None => path.starts_with("tests/golden/"),
    };
    (!is_there).then(|| format!("{test} is no test"))
}

#[test]
fn no_row_is_lost() {
    let rows = rows();
    let found: Vec<(&str, usize, u64)> =
        rows.iter().map(|(name, rows)| (name.as_str(), rows.len(), hash(rows))).collect();
    assert_eq!(found, RECORDED, "{PAGE} has other sections than recorded");
    for rows in rows.values() {
        assert!(rows.windows(2).all(|pair| pair[0].line < pair[1].line), "rows are in order");
    }
}

#[test]
fn every_row_has_a_file_and_a_test_or_a_reason() {
    let mut wrong = Vec::new();
    for row in rows().values().flatten() {
        let place = format!("line {} ({})", row.line, row.title);
        wrong.extend(
            (row.files.iter().filter(|file| !root().join(file).is_file()))
                .map(|file| format!("{place}: there is no file {file}")),
        );
        wrong.extend(row.tests.iter().filter_map(|test| missing_test(test)).map(|w| format!("{place}: {w}")));
        if row.files.is_empty() != row.tests.is_empty() || row.last.is_empty() {
            wrong.push(format!("{place}: neither files with tests nor a reason"));
        }
    }
    assert!(wrong.is_empty(), "{PAGE}:\n{}", wrong.join("\n"));
}

#[test]
fn wrong_names_are_found() {
    assert_eq!(missing_test("tests/seeds.rs::wrong_names_are_found"), None);
    for test in
        ["tests/seeds.rs::missing_test", "tests/seeds.rs", "tests/nothing.rs::a", "tests/golden/nothing.k"]
    {
        assert!(missing_test(test).is_some(), "{test}");
    }
}

/// Returns the headings that can be told from other lines without knowing the document.
fn headings(seed: &str, lines: &[&str]) -> Vec<usize> {
    let line = |n: usize| lines.get(n).map_or("", |line| line.trim());
    let is_heading = |n: usize| {
        let text = line(n);
        let next = lines.get(n + 1).copied().unwrap_or_default();
        let alone = line(n.wrapping_sub(1)).is_empty() && next.trim().is_empty();
        match seed {
            // A heading is underlined.
            "001" => {
                next.len() > 1
                    && next.chars().all(|c| "=-~+".contains(c))
                    && next.len() == lines[n].len()
                    && text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '.')
            }
            // The table of contents has the titles.
            "003" => {
                alone
                    && lines[..48].iter().any(|entry| {
                        entry.trim_end_matches(|c: char| ".\t".contains(c) || c.is_ascii_digit()) == text
                    })
            }
            "002" => false,
            _ => {
                alone
                    && lines[n].starts_with(|c: char| c.is_ascii_alphabetic() || c == '.')
                    && text.len() <= 80
                    && !text.ends_with(['.', ':', ',', ';'])
                    && !NO_HEADINGS.contains(&text)
            }
        }
    };
    (0..lines.len()).filter(|&n| !line(n).is_empty() && is_heading(n)).map(|n| n + 1).collect()
}

#[test]
fn rows_are_the_headings_of_the_documents() {
    let Some(folder) = std::env::var_os("KERNC_SEEDS") else { return };
    for (seed, rows) in rows() {
        let mut entries = std::fs::read_dir(&folder).expect("the folder of the documents").flatten();
        let is_document = |name: &str| name.starts_with(&format!("{seed}_"));
        let file = entries.find(|entry| entry.file_name().to_str().is_some_and(is_document));
        let text = std::fs::read(file.expect("a document").path()).unwrap();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.split('\n').collect();
        for row in &rows {
            assert_eq!(lines[row.line - 1].trim(), row.title, "seed {seed}, line {}", row.line);
        }
        let known: Vec<usize> = rows.iter().map(|row| row.line).collect();
        let lost: Vec<_> = headings(&seed, &lines).into_iter().filter(|line| !known.contains(line)).collect();
        assert!(lost.is_empty(), "seed {seed}: no row for lines {lost:?}");
    }
}
