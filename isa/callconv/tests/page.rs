//! The tables of docs/calling-convention.md, which are made of the crate's facts: `KERNC_BLESS=1 cargo test -p kernc-callconv --test callconv page::`
//! writes them. What the page says of its sources is held to the tests that they name.

use callconv::{Convention, Fact, Group, Source, facts};
use isa::{PROCESSORS, Subtarget};
use std::fmt::Write;
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- made by isa/callconv/tests/page.rs -->\n";
const END: &str = "<!-- end -->\n";
/// The processor that the first table is for.
const USUAL: &str = "gfx906";
/// Nothing is said of it.
const SILENT: &str = "-";

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/calling-convention.md")
}

/// Every processor in every wave size.
fn processors() -> Vec<Subtarget> {
    let sizes = |target: &'static isa::Target| {
        [64, 32].into_iter().filter_map(|lanes| target.with_wave_size(lanes)).map(Subtarget::new)
    };
    PROCESSORS.iter().flat_map(sizes).collect()
}

/// A fact in the three conventions.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    group: Group,
    what: String,
    values: [String; 3],
    sources: [Option<Source>; 3],
}

fn rows(target: &Subtarget) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for (column, convention) in Convention::ALL.into_iter().enumerate() {
        for Fact { group, what, value, source } in facts(convention, target) {
            let at =
                rows.iter().position(|row| row.group == group && row.what == what).unwrap_or_else(|| {
                    let end =
                        rows.iter().rposition(|row| row.group == group).map_or(rows.len(), |last| last + 1);
                    let values = [const { String::new() }; 3].map(|_| SILENT.to_owned());
                    rows.insert(end, Row { group, what, values, sources: [None; 3] });
                    end
                });
            rows[at].values[column] = value;
            rows[at].sources[column] = Some(source);
        }
    }
    rows
}

/// Three cells; what is the same as before is not said twice.
fn cells(values: &[String; 3]) -> String {
    let [today, before, guide] = values;
    let before = if before == today { "the same" } else { before };
    let guide = if guide == today { "the same" } else { guide };
    format!("{today} | {before} | {guide}")
}

fn usual() -> String {
    let mut out =
        String::from("| | today (LLVM 19) | LLVM 14 | guide | seed 000, line | test |\n|-|-|-|-|-|-|\n");
    let rows = rows(&Subtarget::by_name(USUAL).unwrap());
    for group in Group::ALL {
        let _ = writeln!(out, "| **{}** | | | | | |", group.name());
        for row in rows.iter().filter(|row| row.group == group) {
            let line = match row.sources[2] {
                Some(Source::Guide(line)) => line.to_string(),
                Some(Source::Silent) => "not said".into(),
                _ => SILENT.into(),
            };
            let test = match row.sources[0] {
                Some(Source::Llvm(test)) => format!("`{test}`"),
                _ => SILENT.into(),
            };
            let _ = writeln!(out, "| {} | {} | {line} | {test} |", row.what, cells(&row.values));
        }
    }
    out
}

const GENERATIONS: [(u32, &str); 5] = [(6, "GFX6"), (7, "GFX7"), (8, "GFX8"), (9, "GFX9"), (10, "GFX10")];

/// Processors in few words: whole generations, whole wave sizes of GFX10, or names.
fn few_words(list: &[&Subtarget], all: &[Subtarget]) -> String {
    let mut parts = Vec::new();
    for (generation, name) in GENERATIONS {
        for lanes in [64, 32] {
            let of = |target: &&Subtarget| target.version.0 == generation && target.wave_size == lanes;
            let mine: Vec<&str> = list.iter().copied().filter(of).map(|target| target.name).collect();
            let whole = all.iter().filter(of).count();
            let suffix = if generation == 10 { format!(" with {lanes} lanes") } else { String::new() };
            match mine.len() {
                0 => {}
                count if count == whole => parts.push(format!("{name}{suffix}")),
                _ => parts.push(format!("{}{suffix}", mine.join(", "))),
            }
        }
    }
    parts.join(", ").replace("GFX10 with 64 lanes, GFX10 with 32 lanes", "GFX10")
}

/// What is otherwise on other processors.
fn deviations() -> String {
    let all = processors();
    let usual = rows(&Subtarget::by_name(USUAL).unwrap());
    let mut found: Vec<(Row, Vec<&Subtarget>)> = Vec::new();
    for target in &all {
        let mine = rows(target);
        let lacking = usual
            .iter()
            .filter(|row| mine.iter().all(|other| other.what != row.what))
            .map(|row| Row { values: [SILENT; 3].map(str::to_owned), sources: [None; 3], ..row.clone() });
        let differs =
            |row: &Row| usual.iter().all(|other| other.what != row.what || other.values != row.values);
        for row in mine.iter().filter(|row| differs(row)).cloned().chain(lacking) {
            match found.iter_mut().find(|(other, _)| other.what == row.what && other.values == row.values) {
                Some((_, targets)) => targets.push(target),
                None => found.push((row, vec![target])),
            }
        }
    }
    let mut out = String::from("| | on | today (LLVM 19) | LLVM 14 | guide |\n|-|-|-|-|-|\n");
    for group in Group::ALL {
        let mut of_group: Vec<_> = found.iter().filter(|(row, _)| row.group == group).collect();
        of_group.sort_by_key(|(row, _)| found.iter().position(|(other, _)| other.what == row.what));
        for (row, targets) in of_group {
            let _ = writeln!(out, "| {} | {} | {} |", row.what, few_words(targets, &all), cells(&row.values));
        }
    }
    out
}

#[test]
fn docs_have_the_tables() {
    let text = std::fs::read_to_string(path()).unwrap();
    let mut made = String::new();
    let mut rest = text.as_str();
    for table in [usual(), deviations()] {
        let begin = rest.find(BEGIN).expect("where a table begins") + BEGIN.len();
        let end = begin + rest[begin..].find(END).expect("where a table ends");
        made += &rest[..begin];
        made += &table;
        rest = &rest[end..];
    }
    made += rest;
    if std::env::var_os("KERNC_BLESS").is_some() {
        std::fs::write(path(), made).unwrap();
        return;
    }
    assert!(made == text, "KERNC_BLESS=1 writes them");
}

/// Each test that a fact names has a line in the page that says what it reads.
#[test]
fn docs_say_how_each_fact_was_found() {
    // The other test may be writing it.
    if std::env::var_os("KERNC_BLESS").is_some() {
        return;
    }
    let text = std::fs::read_to_string(path()).unwrap();
    for target in processors() {
        for fact in [Convention::Today, Convention::Llvm14].into_iter().flat_map(|by| facts(by, &target)) {
            let Source::Llvm(test) = fact.source else { panic!("{fact:?}") };
            assert!(text.contains(&format!("\n| `{test}` |")), "{test}: {fact:?}");
        }
    }
}
