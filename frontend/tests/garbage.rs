//! No input makes the compiler panic or run away: random bytes, random tokens, and damaged copies of
//! programs that are right. The generator is seeded, so a failure repeats.

use std::path::Path;
use support::Random;

/// Cases in all.
const CASES: u64 = 12_000;

/// Pieces of programs, to get behind the parser more often than plain bytes do.
const PIECES: &[&str] = &[
    "kernel",
    "fn",
    "f",
    "x",
    "n",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    ",",
    ":",
    "->",
    "=",
    "+",
    "-",
    "*",
    "/",
    "<<",
    "as",
    "let",
    "mut",
    "if",
    "else",
    "while",
    "for",
    "i",
    "in",
    "0",
    "..",
    "1",
    "f32",
    "u32",
    "*global f32",
    "f32x4",
    "1.5",
    "&&",
    "==",
    "return",
    "break",
    "loop",
    "shared",
    "const",
    "struct",
    "S",
    "#[unroll]",
    "barrier()",
    ".x",
    "atomic_add(",
    "relaxed",
    "agent",
    "&",
    "!",
    "true",
    "'a",
    "param",
    "constant static",
    "bitcast::<u32>(",
    "\"",
    "kernel k(x: *global f32, n: u32) {",
    "let mut a: [u32; 4] = [0; 4];",
    "x[n] = ",
    "global_id(0)",
    "min(",
    "..=",
];

fn sources() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut list = Vec::new();
    for dir in ["examples", "tests/data/bad"] {
        let mut files: Vec<_> = std::fs::read_dir(root.join(dir))
            .expect("part of the repository")
            .map(|entry| entry.expect("readable").path())
            .filter(|path| path.extension().is_some_and(|ext| ext == "k"))
            .collect();
        files.sort();
        list.extend(files.iter().map(|path| std::fs::read_to_string(path).expect("readable")));
    }
    list
}

fn case(random: &mut Random, sources: &[String]) -> String {
    let original = &sources[random.below(sources.len())];
    match random.below(5) {
        0 => {
            let bytes: Vec<u8> = (0..random.below(200)).map(|_| random.bits() as u8).collect();
            String::from_utf8_lossy(&bytes).into_owned()
        }
        1 => {
            let count = random.below(60);
            (0..count).map(|_| PIECES[random.below(PIECES.len())]).collect::<Vec<_>>().join(" ")
        }
        // Cut short.
        2 => original[..floor(original, random.below(original.len()))].to_string(),
        // A part removed.
        3 => {
            let a = floor(original, random.below(original.len()));
            let b = floor(original, a + random.below(20));
            format!("{}{}", &original[..a], &original[b..])
        }
        // A piece put in.
        _ => {
            let at = floor(original, random.below(original.len()));
            format!("{} {} {}", &original[..at], PIECES[random.below(PIECES.len())], &original[at..])
        }
    }
}

/// The character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[test]
fn nothing_panics() {
    let sources = sources();
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
    let mut valid = 0;
    for n in 0..CASES {
        let source = case(&mut random, &sources);
        let result = std::panic::catch_unwind(|| {
            match frontend::compile("case.k", &source, &frontend::Options::default()) {
                Ok(module) => {
                    ir::verify::verify(&module).map_err(|errors| format!("{errors:?}")).map(|()| true)
                }
                Err(list) => {
                    assert!(!list.list.is_empty());
                    let _ = list.render(n % 2 == 0);
                    let _ = list.to_json();
                    Ok(false)
                }
            }
        });
        match result {
            Ok(Ok(ok)) => valid += u32::from(ok),
            Ok(Err(errors)) => panic!("case {n} gives invalid IR: {errors}\n{source}"),
            Err(_) => panic!("case {n} panicked:\n{source}"),
        }
    }
    // Some damage leaves a program right; if none does, the cases test the parser only.
    assert!(valid > 100, "{valid}");
}

/// Deep nesting of every kind ends in a message, not in an overflow of the stack.
#[test]
fn depth_is_bounded() {
    let deep = |open: &str, inner: &str, close: &str| {
        let (open, close) = (open.repeat(20_000), close.repeat(20_000));
        format!("kernel k(x: *global u32, n: u32) {{ x[0] = {open}{inner}{close}; }}")
    };
    let cases = [
        deep("(", "n", ")"),
        deep("-", "1", ""),
        deep("!", "n", ""),
        deep("n + (", "n", ")"),
        deep("min(n, ", "n", ")"),
        deep("[", "n", "]"),
        deep("x[", "n", "]"),
        deep("{", "n", "}"),
        deep("if n > 1 {", "n", "} else { 1 }"),
        deep("if n > 1 { 1 } else { ", "n", "}"),
        deep("match n { 1 => 1, _ => ", "n", " }"),
        deep("n as ", "u32", ""),
        deep("n as *global ", "u32", ""),
        deep("n", "", " as u32"),
        deep("n", "", ".x"),
        deep("n", "", "[0]"),
        deep("S { a: ", "1", "}"),
        "kernel k(n: u32) { while n > 1 { ".repeat(20_000),
        format!("kernel k() {{ {} }}", "{".repeat(20_000)),
        format!("kernel k(x: {} u32) {{}}", "*global ".repeat(20_000)),
        (0..20_000).map(|n| format!("const A{n}: u32 = A{};\n", n + 1)).collect(),
        (0..20_000).map(|n| format!("struct A{n} {{ a: A{} }}\n", n + 1)).collect(),
        (0..60).map(|n| format!("struct A{} {{ a: A{n}, b: A{n} }}\n", n + 1)).collect::<String>()
            + "struct A0 { x: u32 } kernel k(p: *global A60) { p[0] = p[1]; }",
        "/*".repeat(20_000),
        "for i in (".repeat(20_000),
    ];
    for source in cases {
        let result = frontend::compile("deep.k", &source, &frontend::Options::default());
        assert!(result.is_err(), "{}", &source[..60]);
    }
}

/// A long wrong program takes time in proportion to its length: no message nobody sees is worked out.
#[test]
fn many_errors_are_cheap() {
    let mut source = String::from("kernel k(x: *global f32) {\n");
    for n in 0..40_000 {
        source.push_str(&format!("let name{n} = functoin{n}(name{n});\n"));
    }
    source.push('}');
    let start = std::time::Instant::now();
    let result = frontend::compile("long.k", &source, &frontend::Options::default());
    // The first hundred, of which those that are alike are told together.
    let count = result.map(|_| ()).map_err(|list| list.list.len());
    assert!(matches!(count, Err(10..=100)), "{count:?}");
    // A generous bound: what it guards against takes minutes.
    assert!(start.elapsed().as_secs() < 20);
}
