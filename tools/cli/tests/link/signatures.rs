//! `kernc link` compares the types with which objects call functions and define them.

use super::{kernc, text};
use crate::common::{have, scratch, tool};
use std::path::Path;

/// Compiles a source to an object, at an optimisation level.
fn compiled(into: &Path, name: &str, source: &str, level: &str) -> String {
    let (file, out) = (into.join(format!("{name}.k")), into.join(format!("{name}.o")));
    std::fs::write(&file, source).expect("a source");
    let (file, out) = (text(&file), text(&out));
    kernc(&[&file, "--mcpu", "gfx906", "--emit", "obj", level, "-o", &out]).expect("an object");
    out
}

/// Returns a kernel that calls `f`, declared as said.
fn caller(declared: &str, call: &str) -> String {
    format!("extern {declared};\nkernel k(o: *global u32, x: u32) {{ {call}; }}\n")
}

/// Links both objects; the message, if there is one.
fn linked(into: &Path, name: &str, inputs: &[&str], more: &[&str]) -> Result<String, (i32, String)> {
    let out = text(&into.join(format!("{name}.co")));
    kernc(&[&["link"], inputs, more, &["-o", &out]].concat())
}

/// Declarations, the functions that other objects have, and whether the two fit.
const CASES: [(&str, &str, &str, bool); 8] = [
    ("fn f(x: u32) -> u32", "o[0] = f(x)", "fn f(x: u32) -> u32 { return x + 1; }", true),
    // Unread parameters are passed, too.
    ("fn f(x: u32, y: f32) -> u32", "o[0] = f(x, 1.0)", "fn f(x: u32, y: f32) -> u32 { return x; }", true),
    // Parts of a struct are passed one by one, and integers have no sign.
    ("fn f(x: i32, y: f32)", "f(x as i32, 2.0)", "fn f(p: P) { } struct P { x: u32, y: f32 }", true),
    ("fn f(x: u32) -> u32", "o[0] = f(x)", "fn f(x: u32, y: u32) -> u32 { return x + y; }", false),
    ("fn f(x: u32) -> u32", "o[0] = f(x)", "fn f(x: f32) -> u32 { return x as u32; }", false),
    ("fn f(x: u32) -> u32", "o[0] = f(x)", "fn f(x: u32) -> u64 { return x as u64; }", false),
    ("fn f(x: u32)", "f(x)", "fn f(x: u32) -> u32 { return x; }", false),
    ("fn f(x: *global u32)", "f(o)", "fn f(x: *u32) { *x = 1; }", false),
];

#[test]
fn different_types_are_refused() {
    let dir = scratch("link_signatures");
    for (n, (declared, call, defined, fits)) in CASES.into_iter().enumerate() {
        let one = compiled(&dir, &format!("caller{n}"), &caller(declared, call), "-O2");
        for level in ["-O0", "-O2"] {
            let other = compiled(&dir, &format!("callee{n}"), &format!("#[export] {defined}\n"), level);
            let said = linked(&dir, "out", &[&one, &other], &[]);
            match (fits, said) {
                (true, said) => assert!(said.is_ok(), "{declared} {level}: {said:?}"),
                (false, Err((code, message))) => {
                    assert_eq!(code, 1, "{message}");
                    assert!(message.contains("`f` has different types in two objects: `("), "{message}");
                    assert!(message.contains(&one) && message.contains(&other), "{message}");
                }
                (false, Ok(_)) => panic!("{declared}: linked with {defined}"),
            }
        }
    }
}

#[test]
fn types_pass_through_other_files() {
    let dir = scratch("link_signatures_files");
    let one = compiled(&dir, "caller", &caller("fn f(x: u32) -> u32", "o[0] = f(x)"), "-O2");
    let other = compiled(&dir, "callee", "#[export] fn f(x: f32) -> u32 { return x as u32; }\n", "-O2");
    // Through an object that was linked before, and through a listing.
    let relocatable = text(&dir.join("both.o"));
    kernc(&["link", "--obj", &one, "-o", &relocatable]).expect("an object");
    assert!(linked(&dir, "out", &[&relocatable, &other], &[]).is_err());
    let (listing, assembled) = (text(&dir.join("callee.s")), text(&dir.join("assembled.o")));
    kernc(&[&text(&dir.join("callee.k")), "--mcpu", "gfx906", "--emit", "asm", "-o", &listing])
        .expect("a listing");
    kernc(&["as", &listing, "--obj", "-o", &assembled]).expect("an object");
    assert!(linked(&dir, "out", &[&one, &assembled], &[]).is_err());
    if have(&["ld.lld-19", "llvm-mc-19", "llvm-readelf-19"], "signatures beside LLVM") {
        let by_llvm = text(&dir.join("llvm.o"));
        tool(
            "llvm-mc-19",
            &["-triple=amdgcn-amd-amdhsa", "-mcpu=gfx906", "-filetype=obj", &listing, "-o", &by_llvm],
        );
        assert!(linked(&dir, "out", &[&one, &by_llvm], &[]).is_err());
        // Other linkers look at no types, and leave the section out.
        let by_lld = text(&dir.join("lld.co"));
        tool("ld.lld-19", &["-shared", &one, &other, "-o", &by_lld]);
        assert!(!tool("llvm-readelf-19", &["-S", &by_lld]).contains(".kernc.signatures"));
    }
}
