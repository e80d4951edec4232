//! What clang writes as assembly: the same bytes as LLVM's assembler makes of it.

use crate::common::{options, tool};
use std::path::{Path, PathBuf};
use support::Tool;

/// A processor of each generation and of each kind that matters to the directives.
const PROCESSORS: [&str; 8] =
    ["gfx600", "gfx700", "gfx803", "gfx900", "gfx906", "gfx908", "gfx1010", "gfx1030"];

fn kernels() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cl");
    let entries = std::fs::read_dir(dir).expect("the kernels");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "cl"));
    files.sort();
    assert_eq!(files.len(), 21);
    files
}

/// The kernel as assembly, or what clang complains about.
fn listing(clang: &Path, kernel: &Path, cpu: &str, debug: &[&str]) -> Result<String, String> {
    let mut command = Tool::new(clang);
    command.args(["-x", "cl", "-target", "amdgcn-amd-amdhsa", "-nogpulib", "-O2", "-cl-std=CL2.0", "-S"]);
    command.arg(format!("-mcpu={cpu}")).arg(kernel).args(["-o", "-"]);
    command.args(debug);
    let output = command.output().expect("clang starts");
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout).expect("text")),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// Kernels of clang on processors: how many came out the same. LLVM 14's listings are judged by LLVM 19, too.
fn compare(clang: &str, processors: &[&str], kernels: &[PathBuf], debug: &[&str], test: &str) {
    let tools = [clang, "llvm-mc-19"].map(|name| tool(name, test));
    let [Some(clang), Some(mc)] = tools else { return };
    let (mut count, mut wrong) = (0, Vec::new());
    for cpu in processors {
        for kernel in kernels {
            let name = format!("{} on {cpu}", kernel.file_stem().expect("a name").display());
            let source = match listing(&clang, kernel, cpu, debug) {
                Ok(source) => source,
                Err(why) => {
                    println!("left out: {name}: {}", why.lines().next().unwrap_or_default());
                    continue;
                }
            };
            // kernc takes the version from LLVM 14's metadata, LLVM 19 its own.
            let version =
                format!("--amdhsa-code-object-version={}", if clang.ends_with("clang-14") { 4 } else { 5 });
            let cpu = format!("-mcpu={cpu}");
            let expected = crate::common::llvm_mc(&mc, &[&cpu, &version], &source).expect("llvm-mc takes it");
            count += 1;
            match asm::assemble(&source, &options(&cpu["-mcpu=".len()..])) {
                Err(list) => wrong.push(asm::render(&list[..1], &name, &source, false)),
                Ok(object) if object != expected => wrong.push(format!("{name} differs")),
                Ok(_) => {}
            }
        }
    }
    println!("{count} listings of clang {debug:?}, {} differ", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong[..wrong.len().min(10)].join("\n"));
    assert!(count > 0);
}

#[test]
fn listings() {
    let some: Vec<PathBuf> = kernels().into_iter().step_by(4).collect();
    compare("clang-19", &PROCESSORS, &some, &[], "listings");
}

/// With line tables.
#[test]
fn listings_with_debug_information() {
    let some: Vec<PathBuf> = kernels().into_iter().step_by(7).collect();
    let test = "listings_with_debug_information";
    compare("clang-19", &["gfx803", "gfx1030"], &some, &["-g"], test);
    compare("clang-14", &["gfx906"], &some, &["-g", "-gdwarf-4"], test);
}

/// All kernels: `cargo test -p kernc-asm --test asm clang:: -- --ignored --nocapture`.
#[test]
#[ignore = "takes a minute"]
fn every_listing() {
    for clang in ["clang-19", "clang-14"] {
        for debug in [&[][..], &["-g"], &["-g", "-gdwarf-4"]] {
            compare(clang, &PROCESSORS, &kernels(), debug, "every_listing");
        }
    }
}
