//! Programs that once came out wrong, in `tests/data/regress`: the interpreter and the emulator agree at every level.
//!
//! They have the signature of the fuzzer's kernels. A comment `// grid X Y Z` gives the size of the dispatch; the group is
//! what `// group X Y Z` or else `#[workgroup_size]` says. `// on gfx904:xnack+` is a processor on which the program is run beside
//! those that run all.

use fuzz::{Config, generate::Size, program::Shape, run};
use kernc::{CodeObjectVersion, Modes, OptLevel, Subtarget, Target};
use std::path::{Path, PathBuf};

/// The numbers behind `start` on the first line that has it.
fn numbers(source: &str, start: &str) -> [u32; 3] {
    let line = source.lines().find_map(|line| line.trim().strip_prefix(start)).unwrap_or_default();
    let mut parts = line.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok());
    [0; 3].map(|_| parts.next().unwrap_or(1))
}

fn config(target: Subtarget) -> Config {
    let levels = vec![OptLevel::O0, OptLevel::O1, OptLevel::O2, OptLevel::O3];
    Config { target, levels, verify: true, shrink: false, size: Size::Small, mode: kernc::sim::Mode::Fast }
}

/// The programs and their paths, in order.
fn programs() -> Vec<(PathBuf, String)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/regress");
    let mut paths: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    paths.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

fn run_on(target: Subtarget, path: &Path, source: &str) -> Result<(), String> {
    let has_group = source.lines().any(|line| line.starts_with("// group"));
    let group = numbers(source, if has_group { "// group" } else { "#[workgroup_size(" });
    let shape = Shape { grid: numbers(source, "// grid"), group };
    let kernels: Vec<&str> = source
        .lines()
        .filter_map(|line| line.strip_prefix("kernel ")?.split_once('(').map(|(name, _)| name))
        .collect();
    run(source, &kernels, &shape, &config(target))
        .map_err(|what| format!("{} on {target}: {what}", path.display()))
}

fn check(target: &str) {
    let target = Target::by_name(target).unwrap().into();
    let results = programs().into_iter().filter_map(|(path, source)| run_on(target, &path, &source).err());
    let failures: Vec<String> = results.collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Each on the processor that it names.
#[test]
fn where_they_failed() {
    let mut named = 0;
    for (path, source) in programs() {
        let Some(id) = source.lines().find_map(|line| line.strip_prefix("// on ")) else { continue };
        let (target, modes) =
            Modes::of_target_id(id).unwrap_or_else(|error| panic!("{}: {error:?}", path.display()));
        let target = modes.on(target, CodeObjectVersion::default()).unwrap();
        run_on(target, &path, &source).unwrap_or_else(|what| panic!("{what}"));
        named += 1;
    }
    assert!(named > 0);
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
