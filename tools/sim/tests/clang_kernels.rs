//! Clang's code for the OpenCL twins of the example kernels, on the emulator, against the CPU references: a second
//! compiler's view of the machine. Needs clang-19 and ld.lld; without them the tests say what they left out.

use crate::common::{present, twin};

const CLANG: &str = "clang-19";

/// Runs all kernels; reports every failure at once.
fn check_all(options: &[&str]) {
    if !present(CLANG) {
        return;
    }
    let failures: Vec<String> = testkit::KERNELS
        .iter()
        .filter_map(|kernel| {
            testkit::check_kernel(&twin(CLANG, kernel.name, options).expect("clang compiles it"), kernel.name)
                .err()
        })
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
    if !present(CLANG) {
        return;
    }
    for (name, threads) in [("msgpass", 1), ("msgpass", 3), ("histogram", 1)] {
        let object = twin(CLANG, name, &["-O3", "-mcpu=gfx906"]).expect("clang compiles it");
        let checked = testkit::check_kernel_on(&mut sim::Device::with_threads(threads), &object, name);
        assert_eq!(checked, Ok(()), "{name} on {threads} threads");
    }
}
