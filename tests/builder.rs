//! Kernels that a program builds without source text: what the builder's methods for control flow, small floats, atomics and waves
//! compute, on every kind of processor in the emulator, in the interpreter of the IR, and by Rust.

#[path = "builder/kernels.rs"]
mod kernels;

use kernc::ir::Module;
use kernc::ir::interp::{Interp, Memory};
use kernc::sim::{CodeObject, Device, Dispatch};
use kernc::{Arg, Compiler, KernelInfo, OptLevel, Options, Subtarget};
use rayon::prelude::*;

/// Work-items of a dispatch and of a work-group. The last wave of the last group is not full.
const ITEMS: usize = 120;
const GROUP: u32 = 64;
/// A processor of each kind, with the sizes of its waves.
const PROCESSORS: [(&str, u32); 8] = [
    ("gfx600", 64),
    ("gfx803", 64),
    ("gfx906", 64),
    ("gfx90a", 64),
    ("gfx1010", 32),
    ("gfx1010", 64),
    ("gfx1030", 32),
    ("gfx1030", 64),
];
const LEVELS: [OptLevel; 3] = [OptLevel::O0, OptLevel::O1, OptLevel::O2];

/// Compares the output buffer after a kernel with what Rust computes from the input, for a size of waves.
type Check = fn(&[u8], &[u8], u32) -> Result<(), String>;

/// A kernel `k(input, output)` over [`ITEMS`] work-items.
struct Case {
    name: &'static str,
    module: Module,
    input: Vec<u8>,
    /// Contents of the output buffer before the kernel.
    output: Vec<u8>,
    check: Check,
}

fn kernarg(kernel: &KernelInfo, input: u64, output: u64) -> Vec<u8> {
    kernel.pack(&[Arg::Pointer(input), Arg::Pointer(output)]).expect("two pointers")
}

fn emulated(case: &Case, object: &kernc::CodeObject) -> Vec<u8> {
    let mut device = Device::with_threads(1);
    let loaded = CodeObject::load(object.bytes()).expect("it loads");
    let module = device.load(&loaded).expect("it loads");
    let [input, output] = [&case.input, &case.output].map(|bytes| {
        let address = device.alloc(bytes.len() as u64).expect("memory");
        device.write(address, bytes).expect("memory");
        address
    });
    let kernarg = kernarg(&object.kernels()[0], input, output);
    let (grid, group) = ([ITEMS as u32, 1, 1], [GROUP, 1, 1]);
    let dispatch = Dispatch { kernel: "k", grid, group, kernarg, ..Dispatch::default() };
    device.run(module, &dispatch).unwrap_or_else(|fault| panic!("{}: {fault}", case.name));
    let mut bytes = vec![0; case.output.len()];
    device.read(output, &mut bytes).expect("memory");
    bytes
}

fn interpreted(case: &Case, kernel: &KernelInfo, wave_size: u32) -> Vec<u8> {
    let mut memory = Memory::new();
    let mut interp = Interp::new(&case.module, &mut memory);
    interp.wave_size = wave_size;
    let (input, output) = (memory.alloc_bytes(case.input.clone()), memory.alloc_bytes(case.output.clone()));
    let dispatch = kernc::ir::interp::Dispatch {
        kernel: "k",
        grid: [ITEMS as u32, 1, 1],
        group: [GROUP, 1, 1],
        kernarg: kernarg(kernel, input, output),
        dynamic_shared: 0,
    };
    interp.run(&dispatch, &mut memory).unwrap_or_else(|error| panic!("{}: {error}", case.name));
    memory.bytes(output, case.output.len()).expect("the buffer").to_vec()
}

fn check(case: &Case) {
    PROCESSORS.par_iter().for_each(|&(name, lanes)| {
        let target = Subtarget::by_name(name).and_then(|target| target.with_wave_size(lanes));
        let target = target.expect("a processor");
        for opt_level in LEVELS {
            let options = Options { opt_level, verify: true, ..Options::default() };
            let object = Compiler::new(target).compile_module(case.module.clone(), &options);
            let object = object.unwrap_or_else(|error| panic!("{}, {name}: {error}", case.name));
            let interpreted = interpreted(case, &object.kernels()[0], lanes);
            for (who, output) in [("emulator", emulated(case, &object)), ("interpreter", interpreted)] {
                if let Err(why) = (case.check)(&case.input, &output, lanes) {
                    panic!("{}, {name}, waves of {lanes}, {opt_level:?}, {who}: {why}", case.name);
                }
            }
        }
    });
}

#[test]
fn control_flow() {
    check(&kernels::control_flow());
}

#[test]
fn small_floats() {
    check(&kernels::small_floats());
}

#[test]
fn atomics_in_device_memory() {
    check(&kernels::device_atomics());
}

#[test]
fn atomics_in_work_group_memory() {
    check(&kernels::group_atomics());
}

#[test]
fn wave_operations() {
    check(&kernels::wave_operations());
}

#[test]
fn wave_operations_of_some_lanes() {
    check(&kernels::some_lanes());
}
