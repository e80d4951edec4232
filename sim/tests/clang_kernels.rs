//! Clang's code for the OpenCL twins of the example kernels, on the emulator, against the CPU references: a second
//! compiler's view of the machine. Needs clang-19 and ld.lld; without them the tests say what they left out.

use std::path::{Path, PathBuf};
use std::process::Command;

const CLANG: &str = "clang-19";

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cl")
}

fn clang_present() -> bool {
    let present = Command::new(CLANG).arg("--version").output().is_ok_and(|output| output.status.success());
    if !present {
        eprintln!("left out: {CLANG} is not installed, so its code for the kernels is not run");
    }
    present
}

/// Compiles and links a twin, and gives the code object.
fn compile(name: &str, options: &[&str]) -> Vec<u8> {
    let out =
        std::env::temp_dir().join(format!("kernc-{}-{name}{}.co", std::process::id(), options.concat()));
    let status = Command::new(CLANG)
        .args(["-x", "cl", "-target", "amdgcn-amd-amdhsa", "-nogpulib", "-cl-std=CL2.0"])
        .args(options)
        .arg(sources().join(format!("{name}.cl")))
        .arg("-o")
        .arg(&out)
        .status();
    assert!(status.is_ok_and(|status| status.success()), "{CLANG} failed on {name}");
    let bytes = std::fs::read(&out).expect("clang has written the object");
    let _ = std::fs::remove_file(&out);
    bytes
}

/// Runs all kernels; reports every failure at once.
fn check_all(options: &[&str]) {
    if !clang_present() {
        return;
    }
    let failures: Vec<String> = testkit::KERNELS
        .iter()
        .filter_map(|kernel| testkit::check_kernel(&compile(kernel.name, options), kernel.name).err())
        .collect();
    assert!(failures.is_empty(), "{options:?}\n{}", failures.join("\n"));
}

#[test]
fn optimised() {
    check_all(&["-O3", "-mcpu=gfx906"]);
}

#[test]
fn slightly_optimised() {
    check_all(&["-O1", "-mcpu=gfx906"]);
}

/// Everything in scratch, SGPRs spilled to lanes.
#[test]
fn not_optimised() {
    check_all(&["-O0", "-mcpu=gfx906"]);
}

#[test]
fn other_processor() {
    check_all(&["-O3", "-mcpu=gfx900"]);
}

#[test]
fn version_4() {
    check_all(&["-O3", "-mcpu=gfx906", "-mcode-object-version=4"]);
}

/// Waiting groups must not starve the one they wait for.
#[test]
fn one_thread() {
    if !clang_present() {
        return;
    }
    for (name, threads) in [("msgpass", 1), ("msgpass", 3), ("histogram", 1)] {
        let object = compile(name, &["-O3", "-mcpu=gfx906"]);
        let checked = testkit::check_kernel_on(&mut sim::Device::with_threads(threads), &object, name);
        assert_eq!(checked, Ok(()), "{name} on {threads} threads");
    }
}
