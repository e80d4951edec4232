//! `kernc test tests/golden`: KERNC_BLESS=1 rewrites what the files expect.

use std::path::PathBuf;

fn folder() -> PathBuf {
    crate::common::root().join("tests/golden")
}

#[test]
fn golden_files_pass() {
    let mut command = crate::kernc();
    command.arg("test").arg("tests/golden").current_dir(crate::common::root());
    if std::env::var_os("KERNC_BLESS").is_some() {
        command.arg("--bless");
    }
    let output = command.output().expect("kernc runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
    assert!(!text.contains("without a test"), "{text}");
}

/// Each file says first what it shows.
#[test]
fn golden_files_say_what_they_show() {
    let files = golden::find(&[folder()], golden::KINDS).expect("a folder");
    for (path, kind) in &files {
        let text = std::fs::read_to_string(path).expect("readable");
        let first = text.lines().next().and_then(|line| line.strip_prefix(kind.comment)).unwrap_or_default();
        let says = first.trim_start();
        let is_directive = says.starts_with("test:") || says.starts_with("fails:");
        assert!(!is_directive && says.len() >= 20, "{}: the first line says what it shows", path.display());
    }
}

/// Each pass has a folder.
#[test]
fn every_pass_has_golden_files() {
    let files = golden::find(&[folder()], golden::KINDS).expect("a folder");
    let lacks = |pass: &&str| !files.iter().any(|(path, _)| path.starts_with(folder().join(pass)));
    let missing: Vec<&str> = kernc::passes(kernc::OptLevel::O2).filter(lacks).collect();
    assert!(missing.is_empty(), "passes without a test: {missing:?}");
    assert!(files.len() >= 400, "{} files", files.len());
}
