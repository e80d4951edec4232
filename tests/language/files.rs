//! The programs of `tests/data/run`, which say themselves what they compute (`tests/common/run_file.rs`).

use crate::common::source;
use crate::harness;
use crate::run_file::{RunFile, names};

fn check(text: &str) -> Result<(), String> {
    let file = RunFile::parse(text)?;
    let outcomes = harness::run(&file.launch())?;
    outcomes.iter().try_for_each(|outcome| {
        let right = file.compare(&outcome.buffers).and_then(|()| file.compare_printed(&outcome.printed));
        right.map_err(|why| format!("{}: {why}", outcome.how))
    })
}

#[test]
fn files() {
    let mut names = names();
    assert!(names.len() >= 20, "only {} files", names.len());
    // KERNC_ONLY=part-of-a-name runs the files of that name.
    if let Ok(only) = std::env::var("KERNC_ONLY") {
        names.retain(|name| name.contains(&only));
    }
    let failures: Vec<String> = names
        .iter()
        .filter_map(|name| check(&source(name)).err().map(|why| format!("{name}: {why}")))
        .collect();
    assert!(failures.is_empty(), "{} files failed\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn the_comparison_can_fail() {
    let file = "//@ arg out = zeros:3\n//@ expect out = 7*3\nkernel t(out: *global u32) { out[0] = 7; }\n";
    let why = check(file).unwrap_err();
    assert!(why.contains("out[1] is Int(0), not 7"), "{why}");
    assert!(check(&file.replace("7*3", "7 0")).unwrap_err().contains("3 elements"));
}
