//! Each sentence of `docs/language.md` has a row in `tests/language/map.txt` that names the tests which show it, and those
//! tests exist. A sentence that is changed has no row any more: who changes it looks at its tests again. `KERNC_BLESS=1` adds a row for
//! each new sentence, without tests, and drops the rows of those that are gone.

mod map;
mod pieces;

use map::Row;
use pieces::Piece;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

const PAGE: &str = "docs/language.md";
const MAP: &str = "tests/language/map.txt";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn rows() -> Vec<Row> {
    map::parse(&read(MAP)).unwrap_or_else(|error| panic!("{MAP}: {error}"))
}

/// Rows for all pieces, with the tests that they have.
fn bless(pieces: &[Piece], rows: &[Row]) {
    let known: HashMap<&Piece, &Row> = rows.iter().map(|row| (&row.piece, row)).collect();
    let new = |piece: &Piece| Row { piece: piece.clone(), tests: Vec::new(), reason: None };
    let rows: Vec<Row> =
        pieces.iter().map(|piece| known.get(piece).map_or_else(|| new(piece), |&row| row.clone())).collect();
    let old = read(MAP);
    let head = old.split("\n## ").next().unwrap_or_default();
    std::fs::write(root().join(MAP), map::print(&format!("{}\n", head.trim_end()), &rows)).expect("writable");
}

#[test]
fn every_sentence_has_a_row() {
    let (pieces, rows) = (pieces::pieces(&read(PAGE)), rows());
    assert!(pieces.len() > 250, "only {} pieces", pieces.len());
    if std::env::var("KERNC_BLESS").is_ok_and(|value| value == "1") {
        bless(&pieces, &rows);
        return;
    }
    let on_page: HashSet<&Piece> = pieces.iter().collect();
    let in_map: HashSet<&Piece> = rows.iter().map(|row| &row.piece).collect();
    let mut wrong = Vec::new();
    wrong
        .extend(pieces.iter().filter(|piece| !in_map.contains(piece)).map(|p| format!("no row: {}", p.text)));
    for row in rows.iter().filter(|row| !on_page.contains(&row.piece)) {
        wrong.push(format!("not on the page: {}\n    {}", row.piece.text, row.tests.join(" ")));
    }
    assert!(in_map.len() == rows.len(), "{MAP} names a piece twice");
    assert!(
        wrong.is_empty(),
        "{PAGE} and {MAP} differ (KERNC_BLESS=1 makes the rows):\n{}",
        wrong.join("\n")
    );
}

#[test]
fn every_row_names_a_test() {
    let todo: Vec<String> = (rows().into_iter())
        .filter(|row| row.tests.is_empty() && row.reason.is_none())
        .map(|row| format!("{}: {}", row.piece.section, row.piece.text))
        .collect();
    assert!(todo.is_empty(), "{} rows of {MAP} name no test:\n{}", todo.len(), todo.join("\n"));
}

/// The text of a test, with the messages that are expected of it and the modules that a `mod.rs` has; what is wrong with its name, if there is none.
fn test_text(test: &str) -> Result<String, String> {
    let (path, function) = test.split_once("::").map_or((test, None), |(path, name)| (path, Some(name)));
    let file = root().join(path);
    let text = std::fs::read_to_string(&file).map_err(|_| format!("there is no file {path}"))?;
    match function {
        Some(name) if !is_test(&text, name) => Err(format!("{path} has no test `{name}`")),
        None if path.ends_with(".rs") => Err(format!("{path} needs the name of a test")),
        _ if path.ends_with("/mod.rs") => Ok(text + &modules(&file)),
        _ => Ok(text + &std::fs::read_to_string(file.with_extension("stderr")).unwrap_or_default()),
    }
}

/// The files beside a `mod.rs`.
fn modules(main: &Path) -> String {
    let beside = main.parent().and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten();
    let paths = beside.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    paths.filter(|path| path != main).filter_map(|path| std::fs::read_to_string(path).ok()).collect()
}

/// Whether a file has a test of that name, written out or as the first word of a macro whose name ends in `_test!`.
fn is_test(text: &str, name: &str) -> bool {
    let written = text.split("#[test]").skip(1).any(|rest| {
        let head = rest.split('{').next().unwrap_or_default();
        head.contains(&format!("fn {name}()"))
    });
    written || text.contains(&format!("_test!({name},"))
}

#[test]
fn every_named_test_exists() {
    let mut wrong: Vec<String> =
        rows().iter().flat_map(|row| &row.tests).filter_map(|test| test_text(test).err()).collect();
    wrong.sort();
    wrong.dedup();
    assert!(wrong.is_empty(), "{MAP}:\n{}", wrong.join("\n"));
}

#[test]
fn tests_are_found_by_their_names() {
    let here = "frontend/tests/reference/mod.rs";
    assert!(test_text(&format!("{here}::every_named_test_exists")).is_ok());
    for wrong in
        [format!("{here}::is_test"), format!("{here}::nobody"), here.to_owned(), "tests/nothing.k".to_owned()]
    {
        assert!(test_text(&wrong).is_err(), "{wrong}");
    }
    assert!(is_test("word_test!(seven, u8);", "seven") && !is_test("word_test!(seven, u8);", "eight"));
}

/// Words of `text`: letters, digits and `_`.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// What a piece names that its tests have to contain: codes of diagnostics, attributes; in the first cell of a row, built-ins.
fn names(piece: &str) -> Vec<String> {
    let builtins: HashSet<&str> = frontend::builtin_names().collect();
    let codes = words(piece).filter(|word| {
        word.len() == 5 && word.starts_with('E') && word[1..].bytes().all(|byte| byte.is_ascii_digit())
    });
    let attributes = piece.split("#[").skip(1).filter_map(|rest| words(rest).next());
    let cell =
        piece.strip_prefix("| `").filter(|row| !row.starts_with('#')).and_then(|row| row.split(" | ").next());
    let called = words(cell.unwrap_or_default()).filter(|word| builtins.contains(word));
    codes.chain(attributes).chain(called).map(str::to_owned).collect()
}

#[test]
fn tests_show_what_is_named() {
    assert_eq!(names("| `abs min zzz`, `dot(x, y)` | sqrt |"), ["abs", "min", "dot"]);
    assert_eq!(names("| `#[a(min, x)]` | `#[b]` |"), ["a", "b"]);
    assert_eq!(names("abs gives E0090 (recursion E0091); `#[export]`, `E`"), ["E0090", "E0091", "export"]);
    let mut wrong = Vec::new();
    let mut everything = String::new();
    for row in rows().iter().filter(|row| !row.tests.is_empty()) {
        let texts: String = row.tests.iter().filter_map(|test| test_text(test).ok()).collect();
        let shown: HashSet<&str> = words(&texts).collect();
        wrong.extend(
            (names(&row.piece.text).iter())
                .filter(|name| !shown.contains(name.as_str()))
                .map(|name| format!("no test named shows `{name}`: {}", row.piece.text)),
        );
        everything += &texts;
    }
    let shown: HashSet<&str> = words(&everything).collect();
    let builtins = frontend::builtin_names().filter(|name| !shown.contains(name));
    wrong.extend(builtins.map(|name| format!("no test named anywhere shows `{name}`")));
    assert!(wrong.is_empty(), "{MAP}:\n{}", wrong.join("\n"));
}
