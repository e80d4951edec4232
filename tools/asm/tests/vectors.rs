//! Every recorded text of the instruction table assembles to the words LLVM gives it.

use std::path::Path;

/// `processor | words | text`
fn check(file: &Path) -> usize {
    let recorded = std::fs::read_to_string(file).expect("readable");
    let mut count = 0;
    let mut wrong = Vec::new();
    for line in recorded.lines().filter(|line| !line.starts_with('#')) {
        let mut parts = line.splitn(3, " | ");
        let (Some(cpu), Some(words), Some(text)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let expected: Vec<u8> = words
            .split_whitespace()
            .flat_map(|word| u32::from_str_radix(word, 16).expect("a word").to_le_bytes())
            .collect();
        match asm::assemble(text, &crate::common::options(cpu)) {
            Ok(object) if crate::common::section(&object, ".text") == expected => {}
            Ok(object) => {
                wrong.push(format!("{line}\n    gives {:02x?}", crate::common::section(&object, ".text")))
            }
            Err(list) => wrong.push(format!("{line}\n    {}", list[0].message)),
        }
        count += 1;
    }
    let shown: Vec<&str> = wrong.iter().take(20).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} of {count} differ:\n{}", wrong.len(), shown.join("\n"));
    count
}

#[test]
fn recorded_instructions() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../isa/tests/vectors");
    let mut count = 0;
    for entry in std::fs::read_dir(dir).expect("vectors") {
        count += check(&entry.expect("an entry").path());
    }
    assert!(count > 1000, "{count}");
}
