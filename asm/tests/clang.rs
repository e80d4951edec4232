//! What clang writes as assembly: the same bytes as LLVM's assembler makes of it.

mod common;

use common::{options, tool};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A processor of each generation and of each kind that matters to the directives.
const PROCESSORS: [&str; 8] =
    ["gfx600", "gfx700", "gfx803", "gfx900", "gfx906", "gfx908", "gfx1010", "gfx1030"];

fn kernels() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cl");
    let entries = std::fs::read_dir(dir).expect("the kernels");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "cl"));
    files.sort();
    assert_eq!(files.len(), 21);
    files
}

/// The kernel as assembly, or what clang complains about.
fn listing(clang: &Path, kernel: &Path, cpu: &str, debug: bool) -> Result<String, String> {
    let mut command = Command::new(clang);
    command.args(["-x", "cl", "-target", "amdgcn-amd-amdhsa", "-nogpulib", "-O2", "-cl-std=CL2.0", "-S"]);
    command.arg(format!("-mcpu={cpu}")).arg(kernel).args(["-o", "-"]);
    if debug {
        command.arg("-g");
    }
    let output = command.output().expect("clang starts");
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout).expect("text")),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// Kernels of clang on processors: how many came out the same.
fn compare(processors: &[&str], kernels: &[PathBuf], debug: bool, test: &str) {
    let tools = ["clang-19", "llvm-mc-19"].map(|name| tool(name, test));
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
            let expected =
                common::llvm_mc(&mc, &[&format!("-mcpu={cpu}")], &source).expect("llvm-mc takes it");
            count += 1;
            match asm::assemble(&source, &options(cpu)) {
                Err(list) => wrong.push(asm::render(&list[..1], &name, &source, false)),
                Ok(object) if object != expected => wrong.push(format!("{name} differs")),
                Ok(_) => {}
            }
        }
    }
    println!("{count} listings of clang, {} differ", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong[..wrong.len().min(10)].join("\n"));
    assert!(count > 0);
}

#[test]
fn listings() {
    let some: Vec<PathBuf> = kernels().into_iter().step_by(4).collect();
    compare(&PROCESSORS, &some, false, "listings");
}

/// With line tables.
#[test]
fn listings_with_debug_information() {
    let some: Vec<PathBuf> = kernels().into_iter().step_by(7).collect();
    compare(&["gfx803", "gfx1030"], &some, true, "listings_with_debug_information");
}

/// All kernels: `cargo test -p kernc-asm --test clang -- --ignored --nocapture`.
#[test]
#[ignore = "takes a minute"]
fn every_listing() {
    compare(&PROCESSORS, &kernels(), false, "every_listing");
    compare(&PROCESSORS, &kernels(), true, "every_listing with debug information");
}
