//! Strict mode on clang's code for the OpenCL twins of the example kernels: right results, and nothing to report. A report
//! on a compiler's correct code is a false alarm. Needs clang-19 and ld.lld; without them the tests say what they left out.

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
fn compile(name: &str, options: &[&str]) -> Option<Vec<u8>> {
    let out =
        std::env::temp_dir().join(format!("strict-{}-{name}{}.co", std::process::id(), options.concat()));
    let status = Command::new(CLANG)
        .args(["-x", "cl", "-target", "amdgcn-amd-amdhsa", "-nogpulib", "-cl-std=CL2.0"])
        .args(options)
        .arg(sources().join(format!("{name}.cl")))
        .arg("-o")
        .arg(&out)
        .status();
    if !status.is_ok_and(|status| status.success()) {
        return None;
    }
    let bytes = std::fs::read(&out).expect("clang has written the object");
    let _ = std::fs::remove_file(&out);
    Some(bytes)
}

/// Runs all kernels; reports every failure at once.
fn check_all(options: &[&str]) {
    if !clang_present() {
        return;
    }
    let only = std::env::var("KERNEL").ok();
    let mut failures = Vec::new();
    for kernel in
        testkit::KERNELS.iter().filter(|kernel| only.as_ref().is_none_or(|only| only == kernel.name))
    {
        let object = compile(kernel.name, options).expect("clang compiles it");
        let mut device = sim::Device::new();
        device.set_mode(sim::Mode::STRICT);
        let start = std::time::Instant::now();
        if let Err(why) = testkit::check_kernel_on(&mut device, &object, kernel.name) {
            failures.push(why);
        }
        eprintln!("{} {:?}", kernel.name, start.elapsed());
    }
    assert!(failures.is_empty(), "{options:?}\n{}", failures.join("\n"));
}

#[test]
fn optimised() {
    check_all(&["-O3", "-mcpu=gfx906"]);
}

#[test]
fn slightly_optimised() {
    check_all(&["-O1", "-mcpu=gfx900"]);
}

/// Everything in scratch, SGPRs spilled to lanes.
#[test]
fn not_optimised() {
    check_all(&["-O0", "-mcpu=gfx906"]);
}
