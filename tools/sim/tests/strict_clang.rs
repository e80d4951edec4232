//! Strict mode on clang's code for the OpenCL twins of the example kernels: right results, and nothing to report. A report
//! on a compiler's correct code is a false alarm. Needs clang-19 and ld.lld; without them the tests say what they left out.

use crate::common::{present, twin};

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

/// The kernels of `cl/handover.cl`, their groups and work-items of a group, and what is in `out` at the end.
const HANDOVERS: [(&str, u32, u32, u32); 10] = [
    ("ticket_lock", 8, 64, 8),
    ("token", 6, 64, 6),
    ("slot_queue", 2, 64, 8),
    ("peterson", 2, 64, 8),
    ("treiber", 8, 64, 36),
    ("lookback", 8, 64, 36),
    ("publication", 4, 64, 3),
    ("cas_loop", 4, 64, 256),
    ("lds_flag", 1, 128, 64),
    ("stealing", 4, 64, 136),
];

/// The same of `cl/group_handover.cl`: within a group.
const GROUP_HANDOVERS: [(&str, u32, u32, u32); 8] = [
    ("store_flag", 1, 128, 7),
    ("last_wave", 1, 256, 388),
    ("in_turn", 1, 256, 10),
    ("lds_by_flag", 1, 128, 5),
    ("polled_by_add", 1, 128, 9),
    ("best", 1, 256, 250),
    ("best_in_memory", 1, 256, 250),
    ("search", 1, 256, 777),
];

/// Kernels there in which a barrier is missing.
const RACES: [&str; 3] = ["histogram", "scaled", "not_waited_for"];

/// Each processor's object of a file at each level, with what to call it.
fn objects(file: &str) -> impl Iterator<Item = (String, Vec<u8>)> {
    let source = crate::common::test_file(file);
    let processors = ["gfx700", "gfx803", "gfx906", "gfx90a", "gfx942", "gfx1010", "gfx1030"];
    let ways = processors.into_iter().flat_map(|one| ["-O0", "-O1", "-O3"].map(|level| (one, level)));
    ways.map(move |(processor, level)| {
        let options = [&format!("-mcpu={processor}"), level];
        let object = crate::common::compile(CLANG, &source, &options).expect("clang compiles it");
        (format!("{processor} {level}"), crate::common::link(&[object]).expect("ld.lld links it"))
    })
}

/// Data that waves hand on without locks or barriers: a report would be a false alarm.
#[test]
fn handovers() {
    if !present(CLANG) {
        return;
    }
    let mut failures = Vec::new();
    for (file, kernels) in [("handover.cl", &HANDOVERS[..]), ("group_handover.cl", &GROUP_HANDOVERS)] {
        for (way, object) in objects(file) {
            for &(kernel, groups, items, wanted) in kernels {
                match handover(&object, kernel, groups, items) {
                    Ok(found) if found == wanted => {}
                    Ok(found) => failures.push(format!("{way} {kernel}: {found}, not {wanted}")),
                    Err(why) => failures.push(format!("{way} {kernel}: {why}")),
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Loads that look like those of [`GROUP_HANDOVERS`], without what orders them.
#[test]
fn races_within_a_group() {
    if !present(CLANG) {
        return;
    }
    for (way, object) in objects("group_handover.cl") {
        for kernel in RACES {
            let fault = handover(&object, kernel, 1, 128).expect_err(kernel);
            assert!(fault.to_string().contains("without order"), "{way} {kernel}: {fault}");
        }
    }
}

fn handover(object: &[u8], kernel: &str, groups: u32, items: u32) -> Result<u32, sim::Fault> {
    let object = sim::CodeObject::load(object).expect("sound");
    let mut device = sim::Device::with_threads(1);
    device.set_mode(sim::Mode::STRICT);
    let module = device.load(&object)?;
    let buffers = [device.alloc(256)?, device.alloc(1024)?, device.alloc(512)?];
    let kernarg: Vec<u8> = buffers.iter().flat_map(|buffer| buffer.to_le_bytes()).collect();
    let dispatch = sim::Dispatch {
        kernel,
        grid: [groups * items, 1, 1],
        group: [items, 1, 1],
        kernarg,
        ..sim::Dispatch::default()
    };
    device.run(module, &dispatch)?;
    let mut out = [0; 4];
    device.read(buffers[2], &mut out)?;
    Ok(u32::from_le_bytes(out))
}
