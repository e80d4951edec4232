//! What is read of clang's debug information, beside `llvm-dwarfdump`: entries, attributes, expressions.

use codeobj::CodeObject;
use dwarf::{Content, DebugInfo, Register, expression, marked};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use support::Tool;

const SOURCE: &str = "
typedef struct { float a; int b[3]; } S;
typedef struct { global int *to; char c; } P;
static int helper(int x, __local int *t) { int y = x * 3; t[0] = y; return y + t[1]; }
__attribute__((noinline)) float outer(float f, S s) {
    float g = f + s.a; volatile int q[4]; q[1] = s.b[1]; return g * q[1];
}
int walk(P *p, int n) { int sum = 0; for (int i = 0; i < n; ++i) { int v = p[i].to[i]; sum += v * n; } return sum; }
kernel void k(global float *out, constant float *in, int n, float4 v) {
    local int tile[64];
    float acc[8];
    P p; p.to = (global int *)out; p.c = 3;
    int i = __builtin_amdgcn_workitem_id_x();
    for (int j = 0; j < n; ++j) { acc[j & 7] = in[j] + v.x; }
    S s; s.a = acc[n & 7]; s.b[1] = i;
    tile[i & 63] = helper(i, tile);
    out[i] = outer(acc[i & 7], s) + tile[(i + 1) & 63] + walk(&p, 1);
}
";

/// An entry as both sides say it: offset, tag, names of attributes, expressions.
#[derive(Debug, PartialEq, Eq)]
struct Shown {
    offset: u64,
    tag: String,
    attributes: Vec<String>,
    expressions: Vec<String>,
}

/// An expression in words of one kind: registers as `v3.64`, numbers as decimal ones.
fn words(text: &str, lanes: u32) -> String {
    let spaced =
        text.replace(['(', ')', ',', ';', '[', ']'], " ").replace("_LO16+", " +").replace("_LO16-", " -");
    let word = |word: &str| {
        let digits = word.trim_start_matches('+');
        let number = match digits.strip_prefix("0x") {
            Some(digits) => i128::from_str_radix(digits, 16).ok(),
            None => digits.parse().ok(),
        };
        let register = word.trim_end_matches("_LO16");
        match (number, register.strip_prefix("SGPR"), register.strip_prefix("VGPR")) {
            (Some(number), ..) => number.to_string(),
            (_, Some(number), _) => format!("s{number}"),
            (.., Some(number)) => format!("v{number}.{lanes}"),
            _ => word.to_owned(),
        }
    };
    let mut all: Vec<String> = spaced.split_whitespace().map(word).collect();
    // It has no names for the vector registers of waves of 32.
    for n in 1..all.len() {
        let is_register = matches!(all[n - 1].as_str(), "DW_OP_regx" | "DW_OP_bregx");
        if let Some(number) = all[n].parse().ok().filter(|_| is_register) {
            all[n] = format!("{}.{lanes}", Register(number));
        }
    }
    all.join(" ")
}

/// What `llvm-dwarfdump` prints.
fn theirs(text: &str, lanes: u32) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    for line in text.lines() {
        let words_of = |text: &str| words(text, lanes);
        if let Some((offset, rest)) = line.strip_prefix("0x").and_then(|line| line.split_once(':')) {
            let tag = rest.trim();
            if tag.starts_with("DW_TAG_") {
                let offset = u64::from_str_radix(offset, 16).expect("an offset");
                all.push(Shown {
                    offset,
                    tag: tag.to_owned(),
                    attributes: Vec::new(),
                    expressions: Vec::new(),
                });
            }
            continue;
        }
        let (Some(last), line) = (all.last_mut(), line.trim()) else { continue };
        if let Some(name) = line.split_whitespace().next().filter(|word| word.starts_with("DW_AT_")) {
            last.attributes.push(name.to_owned());
        }
        if let Some(at) = line.find("DW_OP_") {
            let end = if line.ends_with(')') { line.len() - 1 } else { line.len() };
            last.expressions.push(words_of(&line[at..end]));
        }
    }
    all
}

fn ours(info: &DebugInfo, lanes: u32) -> Vec<Shown> {
    let one = |die: &dwarf::Die| {
        let encoding = info.units[die.unit].encoding;
        let mut expressions = Vec::new();
        for attribute in &die.attributes {
            match &attribute.content {
                Content::Expression(bytes) => expressions.push(words(&expression(bytes, encoding), lanes)),
                Content::Locations(list) => {
                    expressions
                        .extend(list.iter().map(|one| words(&expression(&one.expression, encoding), lanes)));
                }
                Content::Unread(why) => panic!("{} of {:#x}: {why}", attribute.name, die.offset),
                _ => {}
            }
        }
        let attributes = die.attributes.iter().map(|attribute| attribute.name.clone()).collect();
        Shown { offset: die.offset, tag: die.tag.clone(), attributes, expressions }
    };
    info.entries.iter().map(one).collect()
}

fn folder() -> &'static Path {
    // Once: tests run side by side, and nobody is to read half of it.
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        std::fs::write(folder.join("debug.cl"), SOURCE).expect("a folder that can be written");
        folder
    });
    &FOLDER
}

/// An object of clang's, and its bytes; `None` where clang is missing.
fn compile(clang: &str, processor: &str, options: &[&str]) -> Option<(PathBuf, Vec<u8>)> {
    let folder = folder();
    let object = folder.join(format!("{clang}-{processor}{}.o", options.concat()));
    let mut command = Tool::new(clang);
    command.args(["-target", "amdgcn-amd-amdhsa", "-x", "cl", "-cl-std=CL2.0", "-g", "-nogpulib", "-w"]);
    command.args(["-Xclang", "-finclude-default-header"]).arg(format!("-mcpu={processor}")).args(options);
    // Its linker is not among the oracles.
    command.args((clang == "clang-14").then_some("-c"));
    let status = command.arg(folder.join("debug.cl")).arg("-o").arg(&object).status().ok()?;
    assert!(status.success(), "{clang} {processor} {options:?}");
    let bytes = std::fs::read(&object).expect("what clang wrote");
    Some((object, bytes))
}

#[test]
fn clangs_information_is_read_as_llvm_reads_it() {
    let mut expressions = 0;
    for (clang, processor, lanes) in
        [("clang-19", "gfx906", 64), ("clang-19", "gfx1030", 32), ("clang-14", "gfx803", 64)]
    {
        for options in [
            ["-O0", "-gdwarf-5", ""],
            ["-O2", "-gdwarf-5", ""],
            ["-O2", "-gdwarf-4", ""],
            ["-O1", "-gdwarf-5", "-c"],
        ] {
            let options: Vec<&str> = options.into_iter().filter(|option| !option.is_empty()).collect();
            let Some((object, bytes)) = compile(clang, processor, &options) else {
                println!("left out: {clang} is missing");
                continue;
            };
            let Ok(dump) = Tool::new("llvm-dwarfdump-19").arg("--debug-info").arg(&object).output() else {
                println!("left out: llvm-dwarfdump-19 is missing");
                continue;
            };
            let parsed = CodeObject::parse(&bytes).expect("clang's object");
            let info = DebugInfo::read(&parsed).expect("debug information");
            let (theirs, ours) = (theirs(&String::from_utf8_lossy(&dump.stdout), lanes), ours(&info, lanes));
            assert!(theirs.len() > 20, "{}", theirs.len());
            for (theirs, ours) in theirs.iter().zip(&ours) {
                assert_eq!(theirs, ours, "{clang} {processor} {options:?}");
                expressions += ours.expressions.len();
            }
            assert_eq!(theirs.len(), ours.len(), "{clang} {processor} {options:?}");
        }
    }
    println!("{expressions} expressions");
}

/// What clang 19 means by `xderef`: private memory is 1, local memory 2, at `-O0` of every variable.
#[test]
fn llvm_marks_address_spaces() {
    let Some((_, bytes)) = compile("clang-19", "gfx906", &["-O0"]) else {
        println!("left out: clang-19 is missing");
        return;
    };
    let parsed = CodeObject::parse(&bytes).expect("clang's object");
    let info = DebugInfo::read(&parsed).expect("debug information");
    let space_of = |name: &str| {
        let die = info.entries.iter().find(|die| die.text("DW_AT_name") == Some(name)).expect(name);
        let Some(Content::Expression(bytes)) = die.get("DW_AT_location") else {
            panic!("{name} has a place")
        };
        marked(bytes, info.units[die.unit].encoding).map(|(_, space)| space.to_string())
    };
    assert_eq!(space_of("tile").as_deref(), Some("local"));
    for name in ["acc", "n", "i", "y", "sum"] {
        assert_eq!(space_of(name).as_deref(), Some("private"), "{name}");
    }
    let kernel = parsed.symbols().iter().find(|symbol| symbol.name == "k").expect("the kernel");
    let text = info.at(kernel.value + 0x40).expect("code");
    for line in ["function k", "  tile: int[64] at local memory at ", "  v: float4 at ", "  p: P at "] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert_eq!(info.at(0), None);
}

/// Damaged debug information is read or refused, and never more.
#[test]
fn damaged_information_is_no_panic() {
    let Some((_, bytes)) = compile("clang-19", "gfx906", &["-O2"]) else {
        println!("left out: clang-19 is missing");
        return;
    };
    let parsed = CodeObject::parse(&bytes).expect("clang's object");
    let debug: Vec<std::ops::Range<usize>> = parsed
        .sections
        .iter()
        .filter(|section| section.name.starts_with(".debug_"))
        .map(|section| section.offset as usize..(section.offset + section.size) as usize)
        .collect();
    let mut state = 1u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut read = 0;
    for _ in 0..2000 {
        let mut bytes = bytes.clone();
        for _ in 0..=next(4) {
            let section = &debug[next(debug.len())];
            if !section.is_empty() {
                bytes[section.start + next(section.len())] = next(256) as u8;
            }
        }
        let Ok(parsed) = CodeObject::parse(&bytes) else { continue };
        if let Ok(info) = DebugInfo::read(&parsed) {
            read += usize::from(!info.text().is_empty());
            info.at(0x1a00 + next(0x400) as u64);
        }
    }
    assert!(read > 200, "{read} of 2000 can still be read");
}
