//! Runs a kernel of a generated program, by the interpreter and in the emulator.

use crate::program::{COUNTS, INPUTS, OPAQUE_BYTES, OWN, Shape};
use crate::rng::Rng;
use ir::interp::{Interp, Memory, Watcher};
use kernc::sim;
use std::fmt;

const V: [f32; 4] = [0.5, -3.0, 1e6, 7.25];
const M: u64 = 0x0123_4567_89ab_cdef;
const D: f64 = -2.625;
const N: u32 = 0x5a;
const S: i32 = -17;
const F: f32 = 1.5;
const K: i16 = -321;
const J: u8 = 200;

/// Wave instructions no generated program needs: a few groups, loops of at most nine turns, four deep. Functions that call themselves,
/// with fuel that each lane uses up by itself, have needed more than 20 million.
const INSTRUCTIONS: u64 = 400_000_000;

/// Bytes of stack of a work-item beyond what the kernel asks for: recursion ends for want of fuel, at a depth that nobody knows.
const STACK: u32 = 1 << 16;

/// Bytes of the work-group memory that a dispatch sizes: a word for each work-item.
const DYNAMIC: u32 = 512;

/// The input buffer: small numbers, large ones and patterns.
fn input() -> Vec<u8> {
    let mut rng = Rng::new(42);
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

/// One buffer for all that a kernel writes: a result for each item, its own place, and the counters.
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

    /// Kernarg segment of the generated signature.
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

/// What the kernel writes, by the interpreter, with waves of that many lanes.
pub fn interpret(module: &ir::Module, kernel: &str, shape: &Shape, lanes: u32) -> Result<Vec<u8>, String> {
    interpret_watched(module, kernel, shape, lanes, None)
}

/// The same, with somebody who looks on.
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

/// What the kernel writes, by the emulator in a mode.
pub fn emulate(mode: sim::Mode, object: &[u8], kernel: &str, shape: &Shape) -> Result<Vec<u8>, String> {
    let scramble = sim::Scramble::default();
    emulate_scrambled((mode, kernc::Convention::Today), object, kernel, shape, scramble)
}

/// The same, with a debugger.
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

/// The same, with garbage in what calls may change.
pub fn emulate_scrambled(
    way: (sim::Mode, kernc::Convention),
    object: &[u8],
    kernel: &str,
    shape: &Shape,
    scramble: sim::Scramble,
) -> Result<Vec<u8>, String> {
    emulate_watched(way, object, kernel, shape, scramble, None)
}

/// The same, while somebody looks on.
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
