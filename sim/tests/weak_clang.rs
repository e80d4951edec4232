//! Weak-memory mode on clang's code for the OpenCL twins of the example kernels: right results whatever the schedule.
//! Needs clang-19 and ld.lld; without them the tests say what they left out.

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
    let out = std::env::temp_dir().join(format!("weak-{}-{name}{}.co", std::process::id(), options.concat()));
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

/// Runs all kernels, or the one that `KERNEL` names; reports every failure at once.
fn check_all(options: &[&str], seed: u64) {
    if !clang_present() {
        return;
    }
    let only = std::env::var("KERNEL").ok();
    let wanted = |kernel: &&testkit::Kernel| only.as_ref().is_none_or(|only| only == kernel.name);
    let mut failures = Vec::new();
    for kernel in testkit::KERNELS.iter().filter(wanted) {
        let object = compile(kernel.name, options);
        let mut device = sim::Device::with_threads(1);
        device.set_mode(sim::Mode::Weak { seed });
        let start = std::time::Instant::now();
        if let Err(why) = testkit::check_kernel_on(&mut device, &object, kernel.name) {
            failures.push(why);
        }
        eprintln!("{} {:?}", kernel.name, start.elapsed());
    }
    assert!(failures.is_empty(), "{options:?} seed {seed}\n{}", failures.join("\n"));
}

#[test]
fn one_cache_for_a_group() {
    check_all(&["-O3", "-mcpu=gfx906"], 1);
}

#[test]
fn two_caches_for_a_group() {
    check_all(&["-O3", "-mcpu=gfx1010"], 2);
}
