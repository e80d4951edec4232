//! The text form beyond what compilers write: strings, odd values, wrong texts.

use crate::common::{Llvm, block, tree};
use objwriter::Value;
use palmeta::{Metadata, Place, Spelling};
use support::Random;

/// Texts that YAML could read as something else.
const TEXTS: [&str; 40] = [
    "a",
    "",
    " a",
    "a ",
    "a b",
    "true",
    "True",
    "y",
    "no",
    "null",
    "~",
    "12",
    "-5",
    "0x12",
    "0b1",
    "017",
    "1.5",
    "1e3",
    ".5",
    "+1",
    "-",
    "?",
    "#a",
    "a#b",
    "a: b",
    "'",
    "it's",
    "\"",
    "a\nb",
    "tab\there",
    "é",
    "a/b",
    "a@b",
    "%x",
    "[x]",
    "{x}",
    "!x",
    "a,b",
    "a^b",
    "\u{1}\\",
];

fn value(random: &mut Random, depth: u32) -> Value {
    match random.below(if depth == 0 { 5 } else { 8 }) {
        0 => Value::Uint(random.bits() >> random.below(64)),
        1 => Value::Uint(random.below(4)),
        2 => Value::Int(-1 - (random.bits() >> random.below(63).max(1)) as i64),
        3 => Value::Bool(random.one_in(2)),
        4 => Value::from(random.choose(&TEXTS)),
        5 | 6 => map(random, depth - 1),
        // LLVM's text of a sequence in a sequence cannot be read back.
        _ => Value::Seq((0..random.below(4)).map(|_| not_sequence(random, depth - 1)).collect()),
    }
}

fn not_sequence(random: &mut Random, depth: u32) -> Value {
    loop {
        let value = value(random, depth);
        // LLVM's assembler prints empty maps in sequences so that the text cannot be read back.
        if !matches!(&value, Value::Seq(_)) && value != Value::Map(Vec::new()) {
            return value;
        }
    }
}

fn map(random: &mut Random, depth: u32) -> Value {
    let names = [".a", ".b_c", ".lds_size", "plain", "two words", ".x-y", "(a)", ".a/b"];
    let mut entries: Vec<(Value, Value)> = Vec::new();
    for name in names {
        if random.one_in(2) {
            entries.push((name.into(), value(random, depth)));
        }
    }
    Value::Map(entries)
}

/// Random trees: LLVM reads our text as the same tree, and prints the same text.
#[test]
fn llvm_reads_and_prints_random_trees_the_same() {
    let Some(llvm) = Llvm::newest("gfx900", "palmeta: random trees") else { return };
    let mut random = Random::new(48);
    for n in 0..40 {
        let mut metadata = Metadata::new();
        metadata.set_version([2, n % 7]);
        metadata.set_register(0x2e12, n);
        for key in [".name", ".type", ".shaders", ".hardware_stages", ".odd"] {
            metadata.set(key, value(&mut random, 3));
        }
        let lines = metadata.to_directives(Spelling::Llvm19);
        let (note, contents) = llvm.assemble(&lines).unwrap_or_else(|error| panic!("{error}\n{lines}"));
        let read = crate::common::parse(&lines);
        assert_eq!(read.write(), metadata.write(), "{lines}");
        assert_eq!(contents, metadata.write(), "{lines}");
        assert_eq!(tree(note).to_directives(Spelling::Llvm19), lines);
        let printed = llvm.print(&lines).expect("a text");
        assert_eq!(block(&printed), lines);
    }
}

#[test]
fn values_of_every_type_come_back_from_message_pack() {
    let root = Value::Map(vec![
        ("amdpal.version".into(), Value::Nil),
        ("b".into(), Value::Bytes(vec![1, 2, 3])),
        ("f".into(), Value::Float(1.5)),
        ("s".into(), Value::Seq(vec![Value::Seq(vec![Value::Uint(1)]), Value::Map(Vec::new())])),
        (Value::Bool(true), Value::Int(-7)),
    ]);
    let metadata = Metadata::from_tree(root).unwrap();
    let again = Metadata::read(&metadata.write()).unwrap();
    assert_eq!(again.write(), metadata.write());
    let text = again.to_text(Spelling::Llvm19);
    assert!(text.contains("f:               1.500000e+00\n"), "{text}");
    // Sequences in sequences can be read back.
    let seq = Metadata::from_text("s:\n  - - 1\n    - 2\n  - x\n").unwrap();
    assert_eq!(Metadata::from_text(&seq.to_text(Spelling::Llvm19)).unwrap(), seq);
}

#[test]
fn wrong_texts_have_a_line() {
    for (text, line) in [
        ("- a\n", 1),
        ("a\n", 1),
        ("", 1),
        ("a: 1\na: 2\n", 2),
        ("a: [1, 2\n", 1),
        ("amdpal.pipelines:\n  - .registers:\n      COMPUTE_PGM_RSRC1: 1\n", 3),
        ("amdpal.pipelines:\n  - .registers:\n      0x2e12 (COMPUTE_PGM_RSRC2): 1\n", 3),
        ("amdpal.pipelines:\n  - .registers:\n      0x2e12 COMPUTE_PGM_RSRC1: 1\n", 3),
        ("amdpal.pipelines:\n  - .registers:\n      -1: 1\n", 3),
        ("amdpal.pipelines:\n  - .registers:\n      0x2e12: 1\n      11794: 1\n", 4),
    ] {
        let error = Metadata::from_text(text).expect_err(text);
        assert_eq!(error.place, Place::Line(line), "{text}: {error}");
    }
    // A register without a name in LLVM's table may have any name.
    let text = "amdpal.pipelines:\n  - .registers:\n      0x1234 (X): 1\n";
    assert_eq!(Metadata::from_text(text).unwrap().register(0x1234), Some(1));
}

#[test]
fn wrong_message_pack_has_a_byte() {
    for (bytes, at) in [
        (&b""[..], 0),
        (b"\x81\xa1a", 3),
        (b"\x81\xa1a\x01\x02", 4),
        (b"\xdf\xff\xff\xff\xff", 5),
        (b"\x81\xa1a\xc1", 4),
        (b"\x01", 0),
    ] {
        let error = Metadata::read(bytes).expect_err("wrong");
        assert_eq!(error.place, Place::Byte(at), "{bytes:x?}: {error}");
    }
    let deep = [0x81, 0xa0].repeat(100);
    assert!(Metadata::read(&deep).is_err());
}

/// The example of the page comes back the same.
#[test]
fn the_example_of_the_page_is_printed_the_same() {
    let page = std::fs::read_to_string(support::root().join("docs/amdpal.md")).expect("the page");
    let example = block(&page);
    assert!(example.contains("(COMPUTE_PGM_RSRC1)"), "{example}");
    assert_eq!(crate::common::parse(example).to_directives(Spelling::Llvm19), example);
}
