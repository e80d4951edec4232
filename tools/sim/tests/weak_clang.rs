//! Weak-memory mode on clang's code for the OpenCL twins of the example kernels: right results whatever the schedule.
//! Needs clang-19 and ld.lld; without them the tests say what they left out.

use crate::common::{present, twin};

const CLANG: &str = "clang-19";

/// Runs all kernels, or the one that `KERNEL` names; reports every failure at once.
fn check_all(options: &[&str], seed: u64) {
    if !present(CLANG) {
        return;
    }
    let only = std::env::var("KERNEL").ok();
    let wanted = |kernel: &&testkit::Kernel| only.as_ref().is_none_or(|only| only == kernel.name);
    let mut failures = Vec::new();
    for kernel in testkit::KERNELS.iter().filter(wanted) {
        let object = twin(CLANG, kernel.name, options).expect("clang compiles it");
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
