//! Programs that once came out wrong, in `tests/data/regress`: the interpreter and the emulator agree at every level.
//!
//! They have the signature of the fuzzer's kernels. A comment `// grid X Y Z` gives the size of the dispatch; the group is
//! what `// group X Y Z` or else `#[workgroup_size]` says.

use fuzz::{Config, generate::Size, program::Shape, run};
use kernc::{OptLevel, Target};

/// The numbers behind `start` on the first line that has it.
fn numbers(source: &str, start: &str) -> [u32; 3] {
    let line = source.lines().find_map(|line| line.trim().strip_prefix(start)).unwrap_or_default();
    let mut parts = line.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok());
    [0; 3].map(|_| parts.next().unwrap_or(1))
}

fn check(target: &str) {
    let levels = vec![OptLevel::O0, OptLevel::O1, OptLevel::O2, OptLevel::O3];
    let config = Config {
        target: Target::by_name(target).unwrap().into(),
        levels,
        verify: true,
        shrink: false,
        size: Size::Small,
        mode: kernc::sim::Mode::Fast,
    };
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/regress");
    let mut paths: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    let mut failures = Vec::new();
    for path in paths {
        let source = std::fs::read_to_string(&path).unwrap();
        let shape = Shape { grid: numbers(&source, "// grid"), group: numbers(&source, "#[workgroup_size(") };
        let kernels: Vec<&str> = source
            .lines()
            .filter_map(|line| line.strip_prefix("kernel ")?.split_once('(').map(|(name, _)| name))
            .collect();
        if let Err(what) = run(&source, &kernels, &shape, &config) {
            failures.push(format!("{}: {what}", path.display()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn gfx906() {
    check("gfx906");
}

#[test]
fn gfx900() {
    check("gfx900");
}

#[test]
fn gfx700() {
    check("gfx700");
}

#[test]
fn gfx600() {
    check("gfx600");
}
