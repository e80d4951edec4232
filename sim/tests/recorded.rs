//! Code objects of every version as clang 14 (V2, V3) and 19 (V4 to V6) make them, recorded so that they run where no LLVM
//! is: `cl/recorded.cl` for processors of every generation, in every mode, with results worked out here.
//!
//! `KERNC_RECORD=1` makes the objects again.

mod common;

use common::{compile, link, own, present};
use sim::{CodeObject, Device, Dispatch, KernelInfo, Limits, Mode, ModuleId};
use std::path::{Path, PathBuf};

/// Compiler, version, processors with their further options.
type Recorded = (&'static str, u8, &'static [(&'static str, &'static str)]);

const RECORDED: [Recorded; 5] = [
    ("clang-14", 2, &[("gfx600", ""), ("gfx700", ""), ("gfx803", ""), ("gfx900", ""), ("gfx906", "")]),
    ("clang-14", 3, &[("gfx600", ""), ("gfx803", ""), ("gfx906", ""), ("gfx90a", ""), ("gfx1010", "")]),
    ("clang-19", 4, &[("gfx700", ""), ("gfx908", ""), ("gfx1030", "-mwavefrontsize64")]),
    ("clang-19", 5, &[("gfx801", ""), ("gfx900", ""), ("gfx90a", ""), ("gfx1012", "")]),
    ("clang-19", 6, &[("gfx9-generic", ""), ("gfx1036", "")]),
];

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/recorded")
}

/// Makes them again, if that is asked for.
fn record() {
    let tools = ["clang-14", "clang-19", "ld.lld-19"];
    if std::env::var_os("KERNC_RECORD").is_none() || !tools.iter().all(|tool| present(tool)) {
        return;
    }
    for (clang, version, processors) in RECORDED {
        for (processor, option) in processors {
            let (cpu, version_option) =
                (format!("-mcpu={processor}"), format!("-mcode-object-version={version}"));
            let options = [cpu.as_str(), &version_option, "-O1", option];
            let options: Vec<&str> = options.into_iter().filter(|option| !option.is_empty()).collect();
            let object = compile(clang, &own("recorded.cl"), &options).expect("it compiles");
            let linked = link(&[object]).expect("it links");
            std::fs::write(directory().join(file(version, processor, option)), linked).expect("written");
        }
    }
}

fn file(version: u8, processor: &str, option: &str) -> String {
    format!("v{version}-{processor}{}.co", option.replace("-mwavefrontsize", "-w"))
}

/// Elements of the input: two groups and a part of a third.
const COUNT: u32 = 300;

fn input(at: u32) -> u32 {
    (at ^ 0x5bd1).wrapping_mul(0x9e37_79b9)
}

fn sums() -> Vec<u32> {
    let inputs: Vec<u32> = (0..COUNT).map(input).collect();
    inputs.chunks(128).map(|part| part.iter().fold(0, |sum: u32, value| sum.wrapping_add(*value))).collect()
}

fn digits() -> Vec<u32> {
    let mixed = |x: u32| (x ^ x >> 15).wrapping_mul(0x2c1b_3c6d);
    let of = |x: u32| {
        let digit = |at: u32| x >> (4 * (at.wrapping_mul(3).wrapping_add(x) & 7)) & 15;
        (0..8).fold(0, |sum: u32, at| mixed(sum.wrapping_add(digit(at))))
    };
    (0..COUNT).map(|at| of(input(at))).collect()
}

fn halves() -> Vec<u32> {
    let bytes: Vec<u8> = (0..COUNT).flat_map(|at| input(at).to_le_bytes()).take(COUNT as usize).collect();
    (0..16).map(|half| bytes.iter().filter(|byte| **byte & 15 == half).count() as u32).collect()
}

fn run(device: &mut Device, module: ModuleId, kernel: &KernelInfo, expected: &[u32]) -> Result<(), String> {
    let bytes: Vec<u8> = (0..COUNT).flat_map(|at| input(at).to_le_bytes()).collect();
    let text = |fault: sim::Fault| fault.to_string();
    let (from, to) =
        (device.alloc(4 * u64::from(COUNT)).map_err(text)?, device.alloc(4 * 512).map_err(text)?);
    device.write(from, &bytes).map_err(text)?;
    let kernarg = kernel.pack(&[from.into(), to.into(), COUNT.into()]).map_err(text)?;
    let dispatch = Dispatch {
        kernel: &kernel.name,
        grid: [384, 1, 1],
        group: [128, 1, 1],
        kernarg,
        limits: Limits { instructions: 1_000_000, stack: 0 },
        ..Dispatch::default()
    };
    device.run(module, &dispatch).map_err(text)?;
    let mut left = vec![0; 4 * 512];
    device.read(to, &mut left).map_err(text)?;
    let left: Vec<u32> = left.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    device.free(from);
    device.free(to);
    match left.starts_with(expected) && left[expected.len()..].iter().all(|word| *word == 0) {
        true => Ok(()),
        false => {
            Err(format!("{:x?} ..., expected {:x?} ...", &left[..16], &expected[..expected.len().min(16)]))
        }
    }
}

#[test]
fn right_in_every_mode() {
    record();
    let mut failures = Vec::new();
    for (_, version, processors) in RECORDED {
        for (processor, option) in processors {
            let name = file(version, processor, option);
            let bytes = std::fs::read(directory().join(&name)).expect("a recorded object");
            let object = CodeObject::load(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(object.version(), Some(version), "{name}");
            for mode in [Mode::Fast, Mode::STRICT, Mode::Weak { seed: 1 }] {
                let mut device = Device::with_threads(1);
                device.set_mode(mode);
                let module = device.load(&object).expect("it is placed");
                for (kernel, expected) in [("sums", sums()), ("digits", digits()), ("halves", halves())] {
                    let info = object.kernel(kernel).expect("the kernel");
                    if let Err(why) = run(&mut device, module, info, &expected) {
                        failures.push(format!("{name} {kernel} {mode:?}: {why}"));
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
