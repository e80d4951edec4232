//! Functions that are called, as clang compiles them (`cl/calls.c`): the host's results, and nothing to report. A report on a
//! compiler's correct code is a false alarm. `CALLS=all` takes every processor and level, and clang 14. Needs clang-19 and ld.lld-19; without
//! them the tests say what they left out.

use crate::common::present;
use sim::{CodeObject, Device, Dispatch, Limits, Mode};
use support::Tool;

/// Work-items, two groups of them.
const ITEMS: u32 = 256;
/// Bytes of stack beside what the descriptor asks for: compilers do not know how deep a recursion goes.
const STACK: u32 = 8192;

/// Returns and calls that the checker need not follow: those by pointers are calls.
const MOST_UNKNOWN: (usize, usize) = (8, 64);

const PROCESSORS: [&str; 9] =
    ["gfx700", "gfx803", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx1010", "gfx1030"];

/// Compilers, processors and levels to be tried.
fn ways() -> Vec<(&'static str, &'static str, &'static str)> {
    let all = std::env::var("CALLS").is_ok_and(|value| value == "all");
    let each = |clang| {
        PROCESSORS
            .into_iter()
            .flat_map(move |one| ["-O0", "-O1", "-O2", "-O3"].map(|level| (clang, one, level)))
    };
    match all {
        true => each("clang-19").chain(each("clang-14").filter(|way| way.1 != "gfx942")).collect(),
        false => vec![
            ("clang-19", "gfx906", "-O0"),
            ("clang-19", "gfx1010", "-O2"),
            ("clang-19", "gfx942", "-O0"),
            ("clang-14", "gfx90a", "-O1"),
            ("clang-14", "gfx803", "-O2"),
        ],
    }
}

/// The reference: the same text compiled for the host.
fn host() -> Vec<u8> {
    let program = crate::common::temporary(".exe");
    let mut command = Tool::new("clang-19");
    command
        .args(["-x", "c", "-O1", "-w", "-ffp-contract=off", "-DHOST"])
        .arg(crate::common::test_file("calls.c"));
    let done = command.arg("-o").arg(&program).output().expect("clang starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    std::fs::read(&program).map(|_| ()).expect("a program");
    program.into_os_string().into_encoded_bytes()
}

/// What the host's program gives for a kernel.
fn reference(program: &[u8], kernel: &str) -> Vec<u32> {
    let program = String::from_utf8_lossy(program).into_owned();
    let done = Tool::new(program).arg(kernel).output().expect("it runs");
    assert!(done.status.success());
    done.stdout.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

fn run(object: &CodeObject, kernel: &str) -> Result<Vec<u32>, sim::Fault> {
    let mut device = Device::with_threads(1);
    device.set_mode(Mode::STRICT);
    let module = device.load(object)?;
    let bytes = u64::from(ITEMS) * 4;
    let (out, input) = (device.alloc(bytes)?, device.alloc(bytes)?);
    let values: Vec<u8> =
        (0..ITEMS).flat_map(|id| id.wrapping_mul(2_654_435_761).wrapping_add(12345).to_le_bytes()).collect();
    device.write(input, &values)?;
    let dispatch = Dispatch {
        kernel,
        grid: [ITEMS, 1, 1],
        group: [ITEMS / 2, 1, 1],
        kernarg: [out, input].into_iter().flat_map(u64::to_le_bytes).collect(),
        limits: Limits { stack: STACK, ..Limits::default() },
        ..Dispatch::default()
    };
    device.run(module, &dispatch)?;
    let mut data = vec![0; bytes as usize];
    device.read(out, &mut data)?;
    Ok(data.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect())
}

/// What `kernc check` has to say of it: it finds nothing, and follows all calls and returns but those of pointers.
fn checked(bytes: &[u8]) -> Option<String> {
    use check::program::Unknown;
    let object = codeobj::CodeObject::parse(bytes).expect("sound");
    let report =
        check::object::check(&object, &check::object::Options::default()).expect("a known processor");
    let certain = report.findings.iter().find(|located| located.finding.level() == check::Level::Certain);
    if let Some(located) = certain {
        return Some(format!("{} at {:?}", located.finding, located.second));
    }
    let returns = report.notes.iter().filter(|note| note.unknown != Unknown::Call).count();
    let calls = report.notes.len() - returns;
    let wrong = returns > MOST_UNKNOWN.0 || calls > MOST_UNKNOWN.1;
    wrong.then(|| format!("{calls} calls and {returns} jumps are not followed"))
}

#[test]
fn clangs_functions() {
    if !present("clang-19") || !present("ld.lld-19") {
        return;
    }
    let program = host();
    let only = std::env::var("KERNEL").ok();
    let (mut failures, mut runs) = (Vec::new(), 0);
    for (clang, processor, level) in ways() {
        if !present(clang) {
            continue;
        }
        // Clang 19's kernels of V5 do not pass the queue pointer on, which GFX7 and GFX8 take the apertures from; clang 14's scalar loads
        // are not made for replays.
        let has_xnack = !matches!(processor, "gfx700" | "gfx803" | "gfx1030");
        let replays = if clang == "clang-14" && has_xnack { ":xnack-" } else { "" };
        let options = [level, "-ffp-contract=off", "-mcode-object-version=4"];
        let object = crate::common::compile_hip(
            clang,
            &crate::common::test_file("calls.c"),
            processor,
            replays,
            &options,
        );
        let object = object.expect("clang compiles it");
        let linked = crate::common::link(std::slice::from_ref(&object)).expect("ld.lld links it");
        for (kind, bytes) in [("object", &object), ("linked", &linked)] {
            failures.extend(checked(bytes).map(|why| format!("{clang} {processor} {level} {kind}: {why}")));
        }
        let object = linked;
        let object = CodeObject::load(&object).expect("sound");
        for kernel in object.kernels().iter().map(|kernel| kernel.name.as_str()) {
            if only.as_ref().is_some_and(|only| !kernel.ends_with(only.as_str())) {
                continue;
            }
            runs += 1;
            let wanted = reference(&program, kernel.trim_start_matches("k_"));
            assert_eq!(wanted.len(), ITEMS as usize, "{kernel}");
            match run(&object, kernel) {
                Ok(found) if found == wanted => {}
                Ok(found) => {
                    let at = found.iter().zip(&wanted).position(|(found, wanted)| found != wanted);
                    failures.push(format!("{clang} {processor} {level} {kernel}: another result at {at:?}"));
                }
                Err(fault) => failures.push(format!("{clang} {processor} {level} {kernel}: {fault}")),
            }
        }
    }
    let _ = std::fs::remove_file(String::from_utf8_lossy(&program).into_owned());
    eprintln!("{runs} runs");
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}
