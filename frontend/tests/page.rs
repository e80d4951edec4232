//! The reference page and the compiler agree on the names of the built-ins.

use std::path::Path;

/// Words in the page's table cells and running text that look like calls or stand in backquotes.
fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/language.md");
    std::fs::read_to_string(path).expect("part of the repository")
}

#[test]
fn every_builtin_is_described() {
    let page = page();
    let words: std::collections::HashSet<&str> =
        page.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    for name in frontend::builtin_names() {
        let family = ["atomic_", "wave_reduce_", "wave_scan_exclusive_", "wave_scan_"]
            .iter()
            .filter(|family| words.contains(format!("{family}OP").as_str()))
            .any(|family| name.strip_prefix(family).is_some_and(|op| words.contains(op)));
        assert!(family || words.contains(name), "`{name}` is not on docs/language.md");
    }
}

#[test]
fn the_first_program_compiles() {
    let page = page();
    let source = page.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a program");
    let result = frontend::compile("page.k", source, &frontend::Options::default());
    assert!(result.is_ok(), "{:?}", result.err());
}
