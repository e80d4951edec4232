//! The core of the emulator executes code without the tables of `check`: what an instruction computes does
//! not depend on what the checker thinks of it. Only the layers that judge an execution may use the tables.

use std::fs;
use std::path::{Path, PathBuf};

/// The folders of `src` that judge an execution: strict mode, weak mode, and the search for idle waits.
const LAYERS: [&str; 3] = ["strict", "weak", "idle_waits"];

/// Returns all source files of a folder, without the [`LAYERS`] and without unit tests.
fn core_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the entry can be read").path();
        let name = path.file_stem().and_then(|name| name.to_str()).expect("the name is text");
        if LAYERS.contains(&name) || name.ends_with("tests") {
            continue;
        }
        if path.is_dir() {
            core_files(&path, files);
        } else {
            files.push(path);
        }
    }
}

#[test]
fn core_does_not_see_check() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    core_files(&source, &mut files);
    assert!(files.len() > 80, "the core has {} files, so the test did not find the sources", files.len());
    let text = |file: &PathBuf| fs::read_to_string(file).expect("the file can be read");
    let users: Vec<_> = files.iter().filter(|file| text(file).contains("check::")).collect();
    assert!(users.is_empty(), "files of the core that use the package `check`: {users:?}");
}
