//! `.debug_names` beside `llvm-dwarfdump`, and damaged.

use codeobj::CodeObject;
use dwarf::{DebugInfo, Names};
use std::path::PathBuf;
use support::{Random, Tool};

const SOURCE: &str = "
typedef struct { int a; float b[3]; } S;
enum Kind { One, Two };
constant int table[4] = { 1, 2, 3, 4 };
static inline __attribute__((always_inline)) int twice(int x) { return x * 2; }
__attribute__((noinline)) int outer(int x, enum Kind kind) { return twice(x) + kind + table[x & 3]; }
kernel void k(global int *out) { S s; s.a = 1; out[0] = twice(out[1]) + outer(s.a, Two); }
";

/// An object of clang's; `None` where clang is missing.
fn compile(name: &str, args: &[&str]) -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (source, object) = (folder.join(format!("names-{name}.cl")), folder.join(format!("names-{name}.o")));
    std::fs::write(&source, SOURCE).expect("a folder that can be written");
    let mut command = Tool::new("clang-19");
    command.args([
        "-target",
        "amdgcn-amd-amdhsa",
        "-x",
        "cl",
        "-cl-std=CL2.0",
        "-nogpulib",
        "-gdwarf-5",
        "-gpubnames",
    ]);
    let status = command.args(args).arg(&source).arg("-o").arg(&object).status().ok()?;
    assert!(status.success(), "{args:?}");
    Some(object)
}

/// Name, tag and offset of each entry as LLVM prints them.
fn theirs(dump: &str) -> Vec<(String, String, u64)> {
    let (mut all, mut name, mut tag) = (Vec::new(), String::new(), String::new());
    for line in dump.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("String: ") {
            name = text.split('"').nth(1).unwrap_or("").to_owned();
        } else if let Some(text) = line.strip_prefix("Tag: ") {
            tag = text.to_owned();
        } else if let Some(offset) = line.strip_prefix("DW_IDX_die_offset: 0x") {
            let offset = u64::from_str_radix(offset, 16).expect("an offset");
            all.push((name.clone(), tag.clone(), offset));
        }
    }
    all.sort();
    all
}

#[test]
fn names_are_read_as_llvm_reads_them() {
    for (name, args) in [
        ("O0", &["-mcpu=gfx906", "-O0"][..]),
        ("O2", &["-mcpu=gfx1030", "-O2"]),
        ("relocatable", &["-mcpu=gfx90a", "-O1", "-c"]),
    ] {
        let Some(path) = compile(name, args) else { return println!("left out: no clang-19") };
        let Ok(dump) = Tool::new("llvm-dwarfdump-19").arg("--debug-names").arg(&path).output() else {
            return println!("left out: no llvm-dwarfdump-19");
        };
        let bytes = std::fs::read(&path).expect("what clang wrote");
        let object = CodeObject::parse(&bytes).expect("an object");
        let names = Names::read(&object).expect("names");
        let wanted = theirs(&String::from_utf8_lossy(&dump.stdout));
        // There is one unit, at 0.
        let ours: Vec<_> =
            names.all().iter().map(|one| (one.name.clone(), one.tag.clone(), one.entry)).collect();
        assert_eq!(ours, wanted, "{name}");
        assert!(ours.len() >= 6, "{ours:?}");
        let info = DebugInfo::read(&object).expect("debug information");
        for named in names.all() {
            let die = info.entry(named.entry).expect("an entry is there");
            assert_eq!((info.name_of(die), &die.tag), (Some(named.name.as_str()), &named.tag));
            assert!(names.find(&named.name).contains(named));
        }
        assert_eq!(names.find("nobody"), &[]);
    }
}

/// Damaged indexes are read or refused, and have no more entries than bytes.
#[test]
fn damaged_names_are_no_panic() {
    let Some(path) = compile("damaged", &["-mcpu=gfx906", "-O1"]) else {
        return println!("left out: no clang-19");
    };
    let bytes = std::fs::read(&path).expect("what clang wrote");
    let object = CodeObject::parse(&bytes).expect("an object");
    let section = |name| object.section(name).expect("a section").data;
    let (names, strings) = (section(".debug_names"), section(".debug_str"));
    let mut random = Random::new(5);
    let (mut read, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let mut names = names.to_vec();
        for _ in 0..=random.below(4) {
            let at = random.below(names.len());
            names[at] = random.below(256) as u8;
        }
        if random.below(4) == 0 {
            names.truncate(random.below(names.len()) + 1);
        }
        match Names::of_sections(&names, strings) {
            Ok(found) => {
                assert!(found.all().len() <= names.len());
                found.text();
                read += 1;
            }
            Err(_) => refused += 1,
        }
    }
    assert!(read > 1000 && refused > 1000, "{read} read, {refused} refused");
}
