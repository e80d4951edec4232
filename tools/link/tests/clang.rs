//! clang's objects, linked here and by `ld.lld`: two versions of clang, five processors, code objects V3 to V5, with garbage collection, out
//! of archives, each function in a section of its own.
//!
//! Notes stay in the first object alone, as `ld.lld` does not make one record of them.

use crate::common::compare::compare;
use crate::common::{Case, Scratch};
use link::Options;
use std::path::Path;
use support::Tool;

const SOURCES: [(&str, &str); 3] = [
    (
        "main",
        "extern int first(int); extern int weak_one(int); extern constant int table[5]; extern global int variable;
kernel void k(global int *out, int n) { out[n] = first(n) + table[n & 3] + variable; }
kernel void k2(global int *out, int n) { out[n] = weak_one(n) + (out[1] ? first(n) : 3); }",
    ),
    (
        "one",
        "extern int second(int, global int *); global int variable = 7; global int *global pointer = &variable;
constant char text[] = \"a text\";
__attribute__((weak)) int weak_one(int x) { return x + text[x & 3]; }
__attribute__((noinline)) static int inner(int x) { return x * x - 5; }
int nobody(int x) { return inner(x) * 3; }
int first(int x) { return second(inner(x), pointer) + 1; }",
    ),
    (
        "two",
        "constant int table[5] = {1, 2, 3, 4, 5}; global int zeros[40]; extern global int variable;
int weak_one(int x) { return x - 1; }
int second(int x, global int *p) { zeros[x & 31] += variable; switch (x) { case 0: return 7; case 1: return *p; case 2: return 9; default: return x / 3; } }",
    ),
];

/// Compilers, and the versions that they write.
const COMPILERS: [(&str, &[&str]); 2] = [("clang-14", &["3", "4"]), ("clang-19", &["4", "5"])];
const PROCESSORS: [&str; 5] = ["gfx700", "gfx803", "gfx906", "gfx90a", "gfx1010"];

fn ran(command: &mut Tool) {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The three objects.
fn compiled(
    clang: &Path,
    objcopy: &Path,
    processor: &str,
    version: &str,
    dir: &Path,
) -> Vec<(String, Vec<u8>)> {
    let object = |(name, text): &(&str, &str)| {
        let (source, object) = (dir.join(format!("{name}.cl")), dir.join(format!("{name}.o")));
        std::fs::write(&source, text).expect("writable");
        let fixed = ["-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", "-nogpulib", "-O2", "-c"];
        let mut command = Tool::new(clang);
        command.args(fixed).arg("-ffunction-sections").arg("-fdata-sections");
        command.arg(format!("-mcpu={processor}")).arg(format!("-mcode-object-version={version}"));
        ran(command.arg(&source).arg("-o").arg(&object));
        if *name != "main" {
            let stripped = dir.join(format!("{name}.stripped.o"));
            ran(Tool::new(objcopy).arg("--remove-section=.note").arg(&object).writes(&stripped));
            return (format!("{name}.o"), std::fs::read(&stripped).expect("stripped"));
        }
        (format!("{name}.o"), std::fs::read(&object).expect("compiled"))
    };
    SOURCES.iter().map(object).collect()
}

#[test]
fn objects_of_clang() {
    let tools = ["ld.lld-19", "llvm-objcopy-19"].map(|name| crate::common::tool(name, "objects_of_clang"));
    let [Some(lld), Some(objcopy)] = tools else { return };
    let scratch = Scratch::new("clang");
    let (mut linked, mut failed) = (0, Vec::new());
    for (name, versions) in COMPILERS {
        let Some(clang) = crate::common::tool(name, "objects_of_clang") else { continue };
        for (version, processor) in
            versions.iter().flat_map(|version| PROCESSORS.map(|processor| (*version, processor)))
        {
            let objects = compiled(&clang, &objcopy, processor, version, &scratch);
            for way in ["plain", "collected", "archive"] {
                let mut inputs = objects.clone();
                if way == "archive" {
                    let members: Vec<u8> =
                        inputs.drain(1..).rev().flat_map(|file| crate::common::member_of(&file)).collect();
                    inputs.insert(0, ("lib.a".to_owned(), [b"!<arch>\n".to_vec(), members].concat()));
                }
                let gc_sections = way == "collected";
                let case = Case {
                    name: format!("{name}-{processor}-V{version}-{way}"),
                    inputs,
                    options: Options { gc_sections, ..Options::default() },
                    lld: if gc_sections { vec!["--gc-sections".to_owned()] } else { Vec::new() },
                    may_raise: true,
                    ..Case::default()
                };
                let outcome = compare(&lld, &case);
                linked += u32::from(outcome.is_linked);
                if !outcome.differences.is_empty() {
                    failed.push(format!("{}\n{}", case.name, outcome.differences));
                }
            }
        }
    }
    eprintln!("{linked} linked, {} differ", failed.len());
    assert!(failed.is_empty(), "{}", failed[..failed.len().min(2)].join("\n"));
}
