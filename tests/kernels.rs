//! The 21 kernels: our code objects and clang's, in the emulator, against CPU references.

use crate::common::{KERNELS, clang, compile_for, compile_version, have, scratch};
use kernc::{Language, OptLevel};

fn check(name: &str, bytes: &[u8], what: &str, failures: &mut Vec<String>) {
    if let Err(error) = testkit::check_kernel(bytes, name) {
        failures.push(format!("{name} ({what}): {error}"));
    }
}

fn check_level(level: OptLevel, target: &str) {
    let mut failures = Vec::new();
    for kernel in KERNELS {
        check(
            kernel,
            compile_for(kernel, level, target).bytes(),
            &format!("{level:?} {target}"),
            &mut failures,
        );
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn ours_at_o0() {
    check_level(OptLevel::O0, "gfx906");
}

#[test]
fn ours_at_o1() {
    check_level(OptLevel::O1, "gfx906");
}

#[test]
fn ours_at_o2() {
    check_level(OptLevel::O2, "gfx906");
}

#[test]
fn ours_at_o3() {
    check_level(OptLevel::O3, "gfx906");
}

#[test]
fn ours_for_gfx900() {
    check_level(OptLevel::O2, "gfx900");
}

/// As each language in turn: with and without hidden arguments, which the emulator fills.
#[test]
fn ours_in_every_version() {
    let mut failures = Vec::new();
    for version in 2..=6 {
        for (number, kernel) in KERNELS.into_iter().enumerate() {
            let language = Language::ALL[(number + usize::from(version)) % Language::ALL.len()];
            let object = compile_version(kernel, OptLevel::O2, version, language);
            let what = format!("V{version} {}", language.name());
            check(kernel, object.bytes(), &what, &mut failures);
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn clangs() {
    if !have(&["clang-19"], "clangs") {
        return;
    }
    let dir = scratch("clang");
    let mut failures = Vec::new();
    for kernel in KERNELS {
        for opt in ["-O3", "-O1", "-O0"] {
            let object = std::fs::read(clang(kernel, opt, &dir)).unwrap();
            check(kernel, &object, opt, &mut failures);
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn same_input_same_bytes() {
    for kernel in KERNELS {
        let first = compile_for(kernel, OptLevel::O2, "gfx906");
        // A compiler that has compiled something else before gives the same bytes.
        let target = kernc::Target::by_name("gfx906").unwrap();
        let mut used = kernc::Compiler::new(target);
        for other in ["sgemm_reg", kernel] {
            let options = kernc::Options {
                file_name: format!("{other}.k"),
                verify: false,
                ..kernc::Options::default()
            };
            let object = used.compile(&crate::common::source(other), &options).unwrap();
            if other == kernel {
                assert!(object.bytes() == first.bytes(), "{kernel}");
            }
        }
    }
}
