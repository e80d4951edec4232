//! Strict mode on clang's code for the OpenCL twins of the example kernels: right results, and nothing to report. A report
//! on a compiler's correct code is a false alarm. Needs clang-19 and ld.lld; without them the tests say what they left out.

mod common;

use common::{present, twin};

const CLANG: &str = "clang-19";

/// Runs all kernels; reports every failure at once.
fn check_all(options: &[&str]) {
    if !present(CLANG) {
        return;
    }
    let only = std::env::var("KERNEL").ok();
    let mut failures = Vec::new();
    for kernel in
        testkit::KERNELS.iter().filter(|kernel| only.as_ref().is_none_or(|only| only == kernel.name))
    {
        let object = twin(CLANG, kernel.name, options).expect("clang compiles it");
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
