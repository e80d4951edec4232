//! Branches over more than `s_branch` reaches: right results, no report of strict mode, and the same bytes from LLVM's assembler.

use crate::common::{have, scratch, section, tool};
use fuzz::launch::{emulate, interpret};
use fuzz::program::{PARAMS, Shape};
use kernc::{CodeObject, Compiler, OptLevel, Options, Target};
use sim::Mode;
use std::fmt::Write;

const LEVELS: &[OptLevel] = &[OptLevel::O0, OptLevel::O2];

/// A kernel `test0` with the given statements.
fn kernel(body: &str) -> String {
    format!(
        "#[workgroup_size(64)]\nkernel test0({PARAMS}) {{\nlet g = global_id(0);\nlet mut a: u32 = input[g & 255];\n\
         {body}\nout[g] = a;\n}}\n"
    )
}

/// Statements that take about `bytes` bytes of code and change `a`; memory holds back what could be folded.
fn long(bytes: usize) -> String {
    let mut out = String::new();
    for n in 0..bytes / 36 {
        let _ = writeln!(out, "a = (a * {}) ^ (a >> {}) ^ input[a & 255];", 2 * n + 3, n % 31);
    }
    out
}

fn object(source: &str, processor: &str, opt_level: OptLevel) -> CodeObject {
    // The checks of the passes take longer than everything else; strict mode sees the same code below.
    let options = Options { opt_level, verify: source.len() < 1 << 20, ..Options::default() };
    let compiled = Compiler::new(Target::by_name(processor).unwrap()).compile(source, &options);
    compiled.unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)))
}

/// [`check_on`] for gfx906.
fn check(name: &str, source: &str, levels: &[OptLevel], bytes: u32) {
    check_on("gfx906", name, source, levels, bytes);
}

/// Compiles with the final code verified, runs in strict mode against the interpreter, asks LLVM's assembler.
fn check_on(processor: &str, name: &str, source: &str, levels: &[OptLevel], bytes: u32) {
    let shape = Shape { grid: [70, 1, 1], group: [64, 1, 1] };
    let options = frontend::Options { params: &[], fp_contract: true, ..Default::default() };
    let module = frontend::compile("far", source, &options)
        .unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)));
    let expected =
        interpret(&module, "test0", &shape, Target::by_name(processor).unwrap().wave_size).unwrap();
    for &level in levels {
        let object = object(source, processor, level);
        let results = emulate(Mode::Strict { keep_going: false }, object.bytes(), "test0", &shape);
        assert!(results.unwrap() == expected, "{name} {level:?}: results differ");
        let size = object.kernels()[0].resources.code_bytes;
        assert!(size > bytes, "{name} {level:?}: only {size} bytes of code");
        let listing = object.assembly(Some((name, source))).unwrap();
        assert!(listing.contains("branch island"), "{name} {level:?}");
        assembles(name, processor, &object, &listing);
    }
}

fn assembles(name: &str, processor: &str, object: &CodeObject, listing: &str) {
    if !have(&["llvm-mc-14"], name) {
        return;
    }
    let dir = scratch(name);
    let (source, assembled) = (dir.join("far.s"), dir.join("far.o"));
    std::fs::write(&source, listing).unwrap();
    let [source, out] = [&source, &assembled].map(|path| path.to_str().unwrap());
    let version = "--amdhsa-code-object-version=4";
    let mcpu = format!("-mcpu={processor}");
    let args = ["-triple=amdgcn-amd-amdhsa", &mcpu, version];
    tool("llvm-mc-14", &[&args[..], &["-filetype=obj", source, "-o", out]].concat());
    let theirs = std::fs::read(&assembled).unwrap();
    let ours = object.relocatable().unwrap();
    for part in [".text", ".rodata"] {
        assert!(section(&ours, part) == section(&theirs, part), "{name}: {part} differs");
    }
}

/// A divergent condition.
#[test]
fn forward() {
    let source = kernel(&format!("if (a & 1) == 0 {{ {} }}", long(180 << 10)));
    check("far-forward", &source, LEVELS, 128 << 10);
}

/// A loop of one block, then a loop with a `continue` and a `break`, whose ends lie far from their beginnings.
#[test]
fn backward() {
    let body = long(150 << 10);
    let one = format!("#[no_unroll] for i in 0..(g & 3) + 1 {{ {body} }}");
    check("far-backward", &kernel(&one), LEVELS, 128 << 10);
    let two = format!(
        "#[no_unroll] for i in 0..3 {{ if (a & 7) == 1 {{ a = a + 5; continue; }} {body} if (a & 3) == i as u32 {{ break; }} }}"
    );
    check("far-loop", &kernel(&two), LEVELS, 128 << 10);
}

/// A condition that is the same in all lanes: a branch on SCC, both sides long.
#[test]
fn uniform() {
    let side = long(140 << 10);
    let body = format!("if group_id(0) == 0 {{ {side} }} else {{ a = a + 1; {side} }}");
    check("far-uniform", &kernel(&body), LEVELS, 256 << 10);
}

/// More than a MiB between a branch and its target: islands in a chain, one for each condition around.
#[test]
fn mebibyte() {
    let body = format!(
        "#[no_unroll] for i in 0..2 {{ if (a & 1) == 0 {{ if group_id(0) == 0 {{ {} }} a = a + 3; }} }}",
        long(1100 << 10)
    );
    check("far-mebibyte", &kernel(&body), &[OptLevel::O2], 1 << 20);
}

/// Many branches to one place share its islands.
#[test]
fn returns() {
    let mut body = String::new();
    for n in 0..3000 {
        let _ = writeln!(body, "if (a & 0xffff) == {n} {{ out[g] = a; return; }} a = a * 3 + input[a & 63];");
    }
    let source = kernel(&body);
    check("far-returns", &source, LEVELS, 128 << 10);
    let listing = object(&source, "gfx906", OptLevel::O2).assembly(Some(("returns", &source))).unwrap();
    assert!(listing.matches("branch island").count() < 20);
}

/// Memory and LDS in turn: of gfx1010's hazards some want a branch between the two, which there is none of until islands are put there.
/// They do not cut a clause.
#[test]
fn memory_and_lds() {
    let mut body = String::new();
    for n in 0..2600 {
        let (odd, word) = (2 * n + 3, n % 64);
        let _ = writeln!(
            body,
            "a = (a * {odd}) ^ input[a & 255]; sh[own + {word}] = a; a = a + sh[own + (a & 63)];"
        );
        let _ = writeln!(body, "a = a ^ input[(g + {n}) & 255] ^ input[(g + {n}) & 255 ^ 1];");
    }
    let source = format!(
        "#[workgroup_size(64)]\nkernel test0({PARAMS}) {{\nlet g = global_id(0);\nlet own = local_id(0) * 64;\n\
         shared sh: [u32; 4096];\nfor i in 0..64u32 {{ sh[own + i] = i; }}\nlet mut a: u32 = input[g & 255];\n\
         if (a & 1) == 0 {{ {body} }}\nout[g] = a;\n}}\n"
    );
    check_on("gfx1010", "far-memory", &source, LEVELS, 128 << 10);
}
