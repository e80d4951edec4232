//! `cl/both.c` twice: as OpenCL C on the emulator, as C on the host; clang compiles both. f16, f64, 64-bit integers, vectors,
//! private arrays, calls, recursion, switches, loops. The rest of OpenCL (LDS, atomics, lanes) is in `clang_features.rs`.
//!
//! `KERNC_FEATURES=all` tries every processor and level of optimisation.

use crate::common::{compile, present, test_file};
use sim::{CodeObject, Device, Dispatch, Limits};
use std::collections::BTreeMap;
use support::{Folder, Tool};
use testkit::Rng;

const CLANG: &str = "clang-19";
const ITEMS: usize = 512;
const PROCESSORS: [&str; 7] = ["gfx700", "gfx803", "gfx906", "gfx90a", "gfx942", "gfx1010", "gfx1030"];

/// Pairs of words: edges, small numbers, anything.
fn inputs() -> Vec<u32> {
    const EDGES: [u32; 8] = [0, 1, 2, 31, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff];
    let mut rng = Rng::new(60);
    let edges = (0..64).flat_map(|at| [EDGES[at / 8], EDGES[at % 8]]);
    let mut words: Vec<u32> = edges.collect();
    while words.len() < 2 * ITEMS {
        let shift = rng.bits() & 15;
        words.extend([rng.bits() >> shift, rng.bits() >> (shift ^ 9)]);
    }
    words
}

/// What the host makes of the inputs, by kernel.
fn expected(input: &[u32]) -> BTreeMap<String, Vec<u32>> {
    let folder = Folder::new("both");
    let (program, from, to) = (folder.join("program"), folder.join("in"), folder.join("out"));
    let mut command = Tool::new(CLANG);
    command.args(["-x", "c", "-O1", "-ffp-contract=off", "-fwrapv", "-w"]).arg(test_file("both.c"));
    let done = command.args(["-lm", "-o"]).arg(&program).output().expect("clang starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let bytes: Vec<u8> = input.iter().flat_map(|word| word.to_le_bytes()).collect();
    std::fs::write(&from, bytes).expect("a temporary file");
    let status = Tool::new(&program).arg(&from).writes(&to).status().expect("the program starts");
    assert!(status.success(), "the host's program ended with {status}");
    let answer = std::fs::read(&to).expect("an answer");
    let mut all = BTreeMap::new();
    let mut rest = &answer[..];
    while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
        let name = String::from_utf8(rest[..end].to_vec()).expect("a name");
        let (words, after) = rest[end + 1..].split_at(ITEMS * 4);
        all.insert(name, words.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect());
        rest = after;
    }
    all
}

fn run(object: &CodeObject, kernel: &str, input: &[u32]) -> Result<Vec<u32>, sim::Fault> {
    let mut device = Device::new();
    let module = device.load(object)?;
    let bytes: Vec<u8> = input.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut output = vec![0; ITEMS * 4];
    let (from, to) = (device.alloc(bytes.len() as u64)?, device.alloc(output.len() as u64)?);
    device.write(from, &bytes)?;
    let mut kernarg = Vec::new();
    kernarg.extend(from.to_le_bytes());
    kernarg.extend(to.to_le_bytes());
    kernarg.extend((ITEMS as u32).to_le_bytes());
    // Recursion takes stack that the descriptor does not ask for.
    let limits = Limits { instructions: 100_000_000, stack: 8192 };
    let dispatch = Dispatch {
        kernel,
        grid: [ITEMS as u32, 1, 1],
        group: [64, 1, 1],
        kernarg,
        limits,
        ..Dispatch::default()
    };
    device.run(module, &dispatch)?;
    device.read(to, &mut output)?;
    Ok(output.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect())
}

fn check(processor: &str, level: &str, input: &[u32], expected: &BTreeMap<String, Vec<u32>>) -> Vec<String> {
    let cpu = format!("-mcpu={processor}");
    let options =
        [&cpu, level, "-fwrapv", "-ffp-contract=off", "-cl-fp32-correctly-rounded-divide-sqrt", "-w"];
    let object =
        compile(CLANG, &test_file("both.c"), &options).and_then(|object| crate::common::link(&[object]));
    let object = CodeObject::load(&object.expect("it compiles")).expect("it loads");
    let mut wrong = Vec::new();
    for (kernel, expected) in expected {
        if excess_precision(processor, level, kernel) {
            continue;
        }
        let message = match run(&object, kernel, input) {
            Err(fault) => fault.to_string(),
            Ok(got) => match (0..ITEMS).find(|&item| got[item] != expected[item]) {
                None => continue,
                Some(item) => {
                    let (a, b) = (input[2 * item], input[2 * item + 1]);
                    format!("of {a:#x}, {b:#x} it makes {:#x}, not {:#x}", got[item], expected[item])
                }
            },
        };
        wrong.push(format!("{processor} {level} {kernel}: {message}"));
    }
    wrong
}

/// GFX7 has no f16: clang computes these in f32 there and, optimising, rounds the last result only.
fn excess_precision(processor: &str, level: &str, kernel: &str) -> bool {
    processor == "gfx700" && level != "-O0" && ["half_polynomial", "half_vectors"].contains(&kernel)
}

#[test]
fn host_and_emulator_agree() {
    if !present(CLANG) || !present("ld.lld-19") {
        return;
    }
    let input = inputs();
    let expected = expected(&input);
    assert!(expected.len() >= 60, "{} kernels", expected.len());
    let all = std::env::var("KERNC_FEATURES").is_ok_and(|value| value == "all");
    let levels: &[&str] = if all { &["-O0", "-O1", "-O2", "-O3"] } else { &["-O0", "-O2"] };
    let mut wrong = Vec::new();
    for (number, processor) in PROCESSORS.iter().enumerate() {
        // By default each processor has one level, and both are tried.
        let levels = levels.iter().enumerate().filter(|(at, _)| all || at % 2 == number % 2);
        for (_, level) in levels {
            wrong.extend(check(processor, level, &input, &expected));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
