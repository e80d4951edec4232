//! Code objects of every version as clang 14 (V2, V3) and 19 (V4 to V6) make them, recorded so that they run where no LLVM
//! is: `cl/recorded.cl` for processors of every generation, in every mode, with results worked out here.
//!
//! Two more show what debug information and preloaded arguments do. `KERNC_RECORD=1` makes the objects again.

use crate::common::{compile, link, present, test_file};
use sim::{CodeObject, Device, Dispatch, FaultClass, KernelInfo, Limits, Location, Mode, ModuleId};
use std::path::{Path, PathBuf};
use std::sync::Once;

/// Compiler, version, processors with their further options.
type Recorded = (&'static str, u8, &'static [(&'static str, &'static str)]);

const RECORDED: [Recorded; 5] = [
    ("clang-14", 2, &[("gfx600", ""), ("gfx700", ""), ("gfx803", ""), ("gfx900", ""), ("gfx906", "")]),
    ("clang-14", 3, &[("gfx600", ""), ("gfx803", ""), ("gfx906", ""), ("gfx90a", ""), ("gfx1010", "")]),
    ("clang-19", 4, &[("gfx700", ""), ("gfx908", ""), ("gfx1030", "-mwavefrontsize64")]),
    ("clang-19", 5, &[("gfx801", ""), ("gfx900", ""), ("gfx90a", ""), ("gfx1012", "")]),
    ("clang-19", 6, &[("gfx9-generic", ""), ("gfx1036", "")]),
];

/// Objects of one kernel: source, file, options of clang 19. No path of the machine gets into them.
const SINGLE: [(&str, &str, &[&str]); 2] = [
    (
        "preload.cl",
        "preload-gfx90a.co",
        &["-mcpu=gfx90a", "-O1", "-mllvm", "-amdgpu-kernarg-preload-count=8"],
    ),
    ("raced.cl", "raced-gfx906.co", &["-mcpu=gfx906", "-O1", "-gline-tables-only"]),
];

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/recorded")
}

/// Makes them again, if that is asked for.
fn record() {
    static ONCE: Once = Once::new();
    ONCE.call_once(record_all);
}

fn record_all() {
    let tools = ["clang-14", "clang-19", "ld.lld-19"];
    if std::env::var_os("KERNC_RECORD").is_none() || !tools.iter().all(|tool| present(tool)) {
        return;
    }
    for (source, file, options) in SINGLE {
        let prefix = format!("-ffile-prefix-map={}=", test_file("").display());
        let options = [options, &[prefix.as_str(), "-fdebug-compilation-dir=."]].concat();
        let object = compile("clang-19", &test_file(source), &options).expect("it compiles");
        std::fs::write(directory().join(file), link(&[object]).expect("it links")).expect("written");
    }
    for (clang, version, processors) in RECORDED {
        for (processor, option) in processors {
            let (cpu, version_option) =
                (format!("-mcpu={processor}"), format!("-mcode-object-version={version}"));
            let options = [cpu.as_str(), &version_option, "-O1", option];
            let options: Vec<&str> = options.into_iter().filter(|option| !option.is_empty()).collect();
            let object = compile(clang, &test_file("recorded.cl"), &options).expect("it compiles");
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

/// The descriptor of gfx90a asks for arguments in SGPRs; the code starts behind 256 bytes for firmware that cannot.
#[test]
fn preloaded_arguments() {
    record();
    let bytes = std::fs::read(directory().join("preload-gfx90a.co")).expect("a recorded object");
    let object = CodeObject::load(&bytes).expect("an object");
    let kernel = object.kernel("preloaded").expect("the kernel");
    assert_eq!(kernel.descriptor.preload, (6, 0));
    for mode in [Mode::Fast, Mode::STRICT, Mode::Weak { seed: 3 }] {
        let mut device = Device::with_threads(1);
        device.set_mode(mode);
        let module = device.load(&object).expect("it is placed");
        let out = device.alloc(4 * 128).expect("room");
        let (a, b, c) = (7u32, 1000u32, 0x1234_0000_5678u64);
        let kernarg = kernel.pack(&[out.into(), a.into(), b.into(), c.into()]).expect("four arguments");
        let dispatch = Dispatch {
            kernel: &kernel.name,
            grid: [128, 1, 1],
            group: [64, 1, 1],
            kernarg,
            ..Dispatch::default()
        };
        let stats = device.run(module, &dispatch).unwrap_or_else(|fault| panic!("{mode:?}: {fault}"));
        assert_eq!(stats.smem, 0, "nothing is left to be loaded");
        let mut left = [0; 4 * 128];
        device.read(out, &mut left).expect("it is there");
        for (id, word) in left.as_chunks::<4>().0.iter().enumerate() {
            assert_eq!(u32::from_le_bytes(*word), id as u32 * a + b + 0x1234, "{mode:?}: item {id}");
        }
    }
}

/// Reports and faults say file and line of both instructions.
#[test]
fn lines_of_the_source() {
    record();
    let bytes = std::fs::read(directory().join("raced-gfx906.co")).expect("a recorded object");
    let object = CodeObject::load(&bytes).expect("an object");
    let mut device = Device::with_threads(1);
    let module = device.load(&object).expect("it is placed");
    let (grid, group) = ([128, 1, 1], [128, 1, 1]);
    let dispatch = |out: u64| {
        let kernarg = object.kernels()[0].pack(&[out.into()]).expect("an argument");
        Dispatch { kernel: "raced", grid, group, kernarg, ..Dispatch::default() }
    };
    let out = device.alloc(4 * 128).expect("room");
    device.set_mode(Mode::Strict { keep_going: true });
    device.run(module, &dispatch(out)).expect("it goes on");
    let line = |at: &Location| at.source.as_ref().map(ToString::to_string).unwrap_or_default();
    let race = device.reports().iter().find(|report| report.class == FaultClass::Race).expect("a race");
    let (other, _) = race.other.as_ref().expect("two instructions");
    let mut lines = [line(&race.at), line(other)];
    lines.sort();
    assert_eq!(lines, ["raced.cl:5", "raced.cl:7"]);
    let text = race.to_string();
    assert!(lines.iter().all(|line| text.contains(&format!(", {line}\n"))), "{text}");
    device.set_mode(Mode::Fast);
    let text = device.run(module, &dispatch(0)).expect_err("a null pointer").to_string();
    assert!(text.ends_with("raced.cl:6"), "{text}");
}
