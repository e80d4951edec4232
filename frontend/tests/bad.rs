//! Wrong programs and what the user is told: `tests/data/bad/NAME.k` and the rendered text beside it,
//! `NAME.stderr`. `KERNC_BLESS=1 cargo test` rewrites the texts; the difference is what gets reviewed.
//!
//! A first line `// params: NAME=VALUE …` stands for `-P` options.

use std::path::{Path, PathBuf};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/bad")
}

fn programs() -> Vec<PathBuf> {
    let mut list: Vec<PathBuf> = std::fs::read_dir(directory())
        .expect("part of the repository")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "k"))
        .collect();
    list.sort();
    list
}

fn params(source: &str) -> Vec<(String, String)> {
    let first = source.lines().next().unwrap_or("");
    let pairs = first.strip_prefix("// params:").unwrap_or("").split_whitespace();
    pairs.filter_map(|pair| pair.split_once('=')).map(|(k, v)| (k.to_string(), v.to_string())).collect()
}

/// `use` takes files from the directory of the programs.
#[derive(Debug)]
struct InDirectory;

impl frontend::Files for InDirectory {
    fn open(&self, path: &str, from: &str) -> Result<frontend::File, String> {
        let name = frontend::path_next_to(path, from);
        let text = std::fs::read_to_string(directory().join(&name)).map_err(|_| "there is no such file")?;
        Ok(frontend::File { name, text })
    }
}

/// A gfx906 that knows little.
#[derive(Debug)]
struct Gfx906;

impl frontend::Processor for Gfx906 {
    fn answer(&self, question: frontend::Question, name: &str) -> Option<bool> {
        let at = self.names(question).iter().position(|known| known == name)?;
        Some(at == 0)
    }

    fn names(&self, question: frontend::Question) -> Vec<String> {
        let names: &[&str] = match question {
            frontend::Question::Processor => &["gfx906", "gfx908"],
            frontend::Question::Generation => &["gfx9", "gfx8", "gfx10"],
            frontend::Question::Feature => &["dpp", "wave32"],
        };
        names.iter().map(|&name| name.to_owned()).collect()
    }
}

fn diagnose(name: &str, source: &str) -> frontend::Diagnostics {
    let params = params(source);
    let files = InDirectory;
    let options = frontend::Options {
        params: &params,
        fp_contract: true,
        files: Some(&files),
        processor: Some(&Gfx906),
        ..Default::default()
    };
    let mut warnings = frontend::Warnings::default();
    for name in ["unused_parameter", "truncating_conversion"] {
        warnings.set(name, frontend::Level::Warn).expect("a name");
    }
    let options = frontend::Options { warnings, ..options };
    let mut context = frontend::Context::default();
    match context.compile(name, source, &options) {
        Ok(_) => context.warnings(),
        Err(list) => list,
    }
}

#[test]
fn messages_are_as_expected() {
    let bless = std::env::var("KERNC_BLESS").is_ok_and(|value| value == "1");
    let mut wrong = Vec::new();
    let list = programs();
    assert!(list.len() >= 60, "only {} programs", list.len());
    for path in list {
        let source = std::fs::read_to_string(&path).expect("readable");
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        let diagnostics = diagnose(&name, &source);
        assert!(!diagnostics.list.is_empty(), "{name} compiles");
        let found = diagnostics.render(false);
        let beside = path.with_extension("stderr");
        if bless {
            std::fs::write(&beside, &found).expect("writable");
        } else if std::fs::read_to_string(&beside).unwrap_or_default() != found {
            wrong.push(format!("--- {name}\n{found}"));
        }
    }
    assert!(wrong.is_empty(), "not as expected (KERNC_BLESS=1 accepts):\n{}", wrong.join("\n"));
}

/// Each code of the table is shown by some program, and each code in use is in the table.
#[test]
fn every_code_has_an_example() {
    let mut used: Vec<&str> = Vec::new();
    for path in programs() {
        let source = std::fs::read_to_string(&path).expect("readable");
        used.extend(diagnose("test.k", &source).list.iter().map(|diagnostic| diagnostic.code));
    }
    // These come after the frontend: `tests/data/cli` shows some; a fault cannot be asked for.
    for (code, ..) in frontend::codes().filter(|row| {
        ![
            "E0110",
            "E0111",
            "E0112",
            "E0113",
            "E0114",
            "E0115",
            "E0900",
            "divergent_barrier",
            "divergent_wave_operation",
            "missing_barrier",
            "missing_restrict",
            "no_trap_handler",
            "not_unrolled",
            "split_group_memory",
        ]
        .contains(&row.0)
    }) {
        assert!(used.contains(&code), "no program in tests/data/bad shows {code}");
    }
    for code in used {
        assert!(frontend::explain(code).is_some(), "{code} is not explained");
    }
}

/// `docs/diagnostics.md` lists the table.
#[test]
fn the_page_lists_every_code() {
    let mut page = String::from(PAGE_HEAD);
    for (code, title, text) in frontend::codes() {
        if code == WARNINGS_BEGIN {
            page.push_str(WARNINGS_HEAD);
        }
        page.push_str(&format!("\n## {code}: {title}\n\n{text}\n"));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/diagnostics.md");
    if std::env::var("KERNC_BLESS").is_ok_and(|value| value == "1") {
        std::fs::write(&path, &page).expect("writable");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == page, "docs/diagnostics.md is out of date (KERNC_BLESS=1 rewrites it)");
}

const PAGE_HEAD: &str = "# Diagnostics

Every error and warning that kernc reports about a source has a stable code. This page lists the codes, and
`kernc explain CODE` prints the text of one code.

`--error-format json` prints the messages as a JSON array. Each message is an object with these keys:

| key | value |
|---|---|
| `code` | the code of the error, or the name of the warning |
| `severity` | `error` or `warning` |
| `file` | the path of the source |
| `message` | the text of the message |
| `labels` | places in the source, each with `start`, `end`, `line`, `column` and `text`; the first label is where the mistake is |
| `notes`, `help` | lists of further texts |
| `suggestions` | changes of the source, each with `start` and `end` (the bytes of the file to replace), `replacement` and `applicability`: `machine` if a tool may apply the change, `maybe` if a person should look at the change first |

If a source contains a construct of C, CUDA, OpenCL, HIP, GLSL or Rust, or a common mistake, the help shows how
to write the construct in the kernel language. The table of these constructs is `frontend/src/habits.txt`, with
one construct on each line. `tests/data/mistakes` contains programs with one mistake each, and the expected
messages.

A test in `frontend/tests/bad.rs` writes this page from the table in `frontend/src/codes.rs`, and checks that
the page is up to date. `tests/data/bad` contains programs that show the codes, each with the expected
messages.
";

const WARNINGS_BEGIN: &str = "constant_comparison";
const WARNINGS_HEAD: &str = "
# Warnings

Each warning has a name, which the options `-W`, `-A` and `-D` and the attribute `#[allow(…)]` take
([language.md](language.md#warnings)). In JSON, the name is the `code` of the warning.
";

#[test]
fn json_is_json() {
    for path in programs() {
        let source = std::fs::read_to_string(&path).expect("readable");
        let diagnostics = diagnose("a \"quoted\" name.k", &source);
        let json = diagnostics.to_json();
        let value: serde_json::Value = serde_json::from_str(&json).expect("well-formed");
        let list = value.as_array().expect("an array");
        assert_eq!(list.len(), diagnostics.list.len());
        for (entry, diagnostic) in list.iter().zip(&diagnostics.list) {
            assert_eq!(entry["code"], diagnostic.code);
            assert_eq!(entry["message"], diagnostic.message.as_str());
            let suggestions = entry["suggestions"].as_array().expect("an array");
            assert_eq!(suggestions.len(), usize::from(diagnostic.suggestion.is_some()));
            for (entry, suggestion) in suggestions.iter().zip(&diagnostic.suggestion) {
                assert_eq!(entry["replacement"], suggestion.replacement.as_str());
                assert_eq!(entry["applicability"], if suggestion.certain { "machine" } else { "maybe" });
            }
            let Some((range, _)) = diagnostic.labels.first() else { continue };
            let (file, part) = diagnostics.source.file(range.start);
            let line = diagnostics.source.text[part.start..range.start].matches('\n').count() as u64 + 1;
            assert_eq!(entry["labels"][0]["line"], line);
            assert_eq!(entry["file"], file);
        }
    }
}
