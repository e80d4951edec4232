//! Runs a kernel of a generated program in the interpreter or in the emulator.

use crate::program::{COUNTS, INPUTS, OPAQUE_BYTES, OWN, Shape};
use ir::interp::{Interp, Memory, Watcher};
use kernc::sim;
use std::fmt;
use support::Random;

const V: [f32; 4] = [0.5, -3.0, 1e6, 7.25];
const M: u64 = 0x0123_4567_89ab_cdef;
const D: f64 = -2.625;
const N: u32 = 0x5a;
const S: i32 = -17;
const F: f32 = 1.5;
const K: i16 = -321;
const J: u8 = 200;

/// Limit of the number of wave instructions, which no generated program reaches: there are a few groups, and
/// loops of at most nine iterations, four deep. Recursive functions, in which each lane uses up the shared
/// counter separately, have needed more than 20 million.
const INSTRUCTIONS: u64 = 400_000_000;

/// Stack of a work-item in bytes beyond what the kernel requests. Recursion ends when the counter is empty,
/// at a depth that is not known in advance.
const STACK: u32 = 1 << 16;

/// Size of the dynamic work-group memory in bytes: a word per work-item.
const DYNAMIC: u32 = 512;

/// Returns the input buffer: small numbers, large numbers and bit patterns.
fn input() -> Vec<u8> {
    let mut rng = Random::new(42);
    (0..INPUTS)
        .flat_map(|n| {
            let bits = rng.bits() as u32;
            let value = match n % 4 {
                0 => n,
                1 => bits & 0xff,
                2 => bits,
                _ => 0u32.wrapping_sub(n),
            };
            value.to_le_bytes()
        })
        .collect()
}

/// Layout of the buffer to which a kernel writes: results of the work-items, the work-items' own memory, and
/// the counters.
struct Output {
    own: u64,
    counts: u64,
    size: usize,
}

impl Output {
    fn new(shape: &Shape) -> Output {
        let own = u64::from(shape.items() * 4).next_multiple_of(16);
        let counts = own + u64::from(shape.items() * OWN * 4);
        Output { own, counts, size: counts as usize + COUNTS as usize * 4 }
    }

    /// Returns the kernel argument segment for the generated signature.
    fn kernarg(&self, out: u64, input: u64) -> Vec<u8> {
        let own = out + self.own;
        let pointers = [out, input, input, input, own, own, own, own, out + self.counts];
        let mut bytes: Vec<u8> = pointers.iter().flat_map(|pointer| pointer.to_le_bytes()).collect();
        bytes.resize(bytes.len().next_multiple_of(16), 0);
        bytes.extend(V.iter().flat_map(|lane| lane.to_le_bytes()));
        bytes.extend(M.to_le_bytes());
        bytes.extend(D.to_le_bytes());
        bytes.extend(N.to_le_bytes());
        bytes.extend(S.to_le_bytes());
        bytes.extend(F.to_le_bytes());
        bytes.extend(K.to_le_bytes());
        bytes.push(J);
        bytes.resize(bytes.len().next_multiple_of(8) + OPAQUE_BYTES, 0);
        bytes
    }
}

/// Runs a kernel in the interpreter with waves of `lanes` lanes. Returns the buffer that the kernel has
/// written.
pub fn interpret(module: &ir::Module, kernel: &str, shape: &Shape, lanes: u32) -> Result<Vec<u8>, String> {
    interpret_watched(module, kernel, shape, lanes, None)
}

/// Runs a kernel in the interpreter with a watcher. Returns the buffer that the kernel has written.
pub fn interpret_watched(
    module: &ir::Module,
    kernel: &str,
    shape: &Shape,
    lanes: u32,
    watcher: Option<&dyn Watcher>,
) -> Result<Vec<u8>, String> {
    let output = Output::new(shape);
    let mut memory = Memory::new();
    let out = memory.alloc(output.size);
    let input = memory.alloc_bytes(input());
    let mut interp = Interp::new(module, &mut memory);
    interp.wave_size = lanes;
    interp.watcher = watcher;
    let dispatch = ir::interp::Dispatch {
        kernel,
        grid: shape.grid,
        group: shape.group,
        kernarg: output.kernarg(out, input),
        dynamic_shared: DYNAMIC,
    };
    interp.run(&dispatch, &mut memory).map_err(|error| error.to_string())?;
    memory.bytes(out, output.size).map(<[u8]>::to_vec).ok_or_else(|| "no output".to_owned())
}

/// Runs a kernel in the emulator. Returns the buffer that the kernel has written.
pub fn emulate(mode: sim::Mode, object: &[u8], kernel: &str, shape: &Shape) -> Result<Vec<u8>, String> {
    let scramble = sim::Scramble::default();
    emulate_scrambled((mode, kernc::Convention::Today), object, kernel, shape, scramble)
}

/// Runs a kernel in the emulator with a debugger.
pub fn emulate_debugged(
    mode: sim::Mode,
    object: &[u8],
    kernel: &str,
    shape: &Shape,
    debugger: &dyn sim::Debugger,
) -> Result<Vec<u8>, String> {
    let scramble = sim::Scramble::default();
    emulate_watched((mode, kernc::Convention::Today), object, kernel, shape, scramble, Some(debugger))
}

/// Runs a kernel in the emulator, with garbage in the registers that calls may clobber.
pub fn emulate_scrambled(
    way: (sim::Mode, kernc::Convention),
    object: &[u8],
    kernel: &str,
    shape: &Shape,
    scramble: sim::Scramble,
) -> Result<Vec<u8>, String> {
    emulate_watched(way, object, kernel, shape, scramble, None)
}

/// Runs a kernel in the emulator, with garbage in the registers that calls may clobber, and with a debugger.
pub fn emulate_watched(
    (mode, call_abi): (sim::Mode, kernc::Convention),
    object: &[u8],
    kernel: &str,
    shape: &Shape,
    scramble: sim::Scramble,
    debugger: Option<&dyn sim::Debugger>,
) -> Result<Vec<u8>, String> {
    let text = |error: &dyn fmt::Display| error.to_string();
    let output = Output::new(shape);
    let object = sim::CodeObject::load(object).map_err(|error| text(&error))?;
    let mut device = sim::Device::with_threads(1);
    device.set_mode(mode);
    device.set_convention(call_abi);
    device.set_scramble(scramble);
    let module = device.load(&object).map_err(|error| text(&error))?;
    let out = device.alloc(output.size as u64).map_err(|error| text(&error))?;
    let buffer = device.alloc(u64::from(INPUTS) * 4).map_err(|error| text(&error))?;
    device.write(out, &vec![0; output.size]).map_err(|error| text(&error))?;
    device.write(buffer, &input()).map_err(|error| text(&error))?;
    let dispatch = sim::Dispatch {
        kernel,
        grid: shape.grid,
        group: shape.group,
        kernarg: output.kernarg(out, buffer),
        dynamic_lds: DYNAMIC,
        limits: sim::Limits { instructions: INSTRUCTIONS, stack: STACK },
        debugger,
        ..sim::Dispatch::default()
    };
    device.run(module, &dispatch).map_err(|error| text(&error))?;
    let mut bytes = vec![0; output.size];
    device.read(out, &mut bytes).map_err(|error| text(&error))?;
    Ok(bytes)
}
