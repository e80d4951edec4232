//! Tests of single vector instructions on processors of all generations. The expected results are computed by
//! hand from the manuals.

mod floats;
mod integers;
mod lanes;
mod matrices;
mod modifiers;

use super::Flow;
use super::harness::{Bench, assemble, processor};
use crate::descriptor::Descriptor;
use crate::memory::Memory;
use crate::op::Code;
use crate::wave::{Wave, reg};
use isa::Target;

/// Values of MODE: IEEE mode, DX10 clamp, all denormals.
const USUAL: u32 = 0x3f0;
const DENORMALS: u32 = 0xf0;
const DX10_CLAMP: u32 = 0x100;
/// Rounding modes of f32, and of f16 and f64.
const UP: u32 = 1;
const DOWN: u32 = 2;
const TO_ZERO: u32 = 3;
const UP64: u32 = 4;
const DOWN64: u32 = 8;

/// A wave with 64 VGPRs that runs code.
struct Machine {
    wave: Wave,
    target: &'static Target,
}

impl Machine {
    fn with_lanes(name: &str, lanes: u32) -> Machine {
        let target = processor(name, lanes);
        // The wave has at least 64 VGPRs. On gfx90a, the accumulation VGPRs follow them.
        let descriptor = Descriptor { rsrc1: 15 | 15 << 6, rsrc3: 3, ..Descriptor::default() };
        let mut wave = Wave::new(0, &descriptor, target);
        wave.set_exec(!0);
        wave.set_mode(USUAL);
        Machine { wave, target }
    }

    fn mode(mut self, mode: u32) -> Machine {
        self.wave.set_mode(mode);
        self
    }

    fn exec(mut self, mask: u64) -> Machine {
        self.wave.set_exec(mask);
        self
    }

    /// Sets the VGPRs from `v0` on. Each of them gets its value in all lanes.
    fn vgprs(mut self, values: &[u32]) -> Machine {
        for (at, value) in values.iter().enumerate() {
            self.wave.vgpr[at] = [*value; 64];
        }
        self
    }

    /// Sets a register to a value that depends on the lane.
    fn lanes(mut self, at: usize, value: impl Fn(u32) -> u32) -> Machine {
        self.wave.vgpr[at] = std::array::from_fn(|lane| value(lane as u32));
        self
    }

    fn sgpr(mut self, at: usize, value: u32) -> Machine {
        self.wave.sgpr[at] = value;
        self
    }

    fn m0(self, value: u32) -> Machine {
        self.sgpr(reg::M0, value)
    }

    fn vcc(mut self, mask: u64) -> Machine {
        self.wave.set_pair(reg::VCC, mask);
        self
    }

    fn run(mut self, text: &str) -> Machine {
        let code = [Code::new(self.target, 0, 0, assemble(self.target, text))];
        let done = Bench::new(&mut self.wave, &mut [], &Memory::new()).run(self.target, &code);
        assert!(matches!(done, Ok(Flow::Next)), "{text}: {done:?}");
        self
    }

    fn v(&self, at: usize, lane: usize) -> u32 {
        self.wave.vgpr[at][lane]
    }

    /// Returns a register of the first lanes.
    fn first<const N: usize>(&self, at: usize) -> [u32; N] {
        std::array::from_fn(|lane| self.v(at, lane))
    }
}

/// Runs one instruction with the given value of MODE, and with its sources in the registers from `v0` on.
/// Checks the result in `v2`.
#[track_caller]
fn expect_in(mode: u32, processor: &str, text: &str, vgprs: &[u32], result: u32) {
    let machine = Machine::with_lanes(processor, 64).mode(mode).vgprs(vgprs).run(text);
    let got = machine.v(2, 0);
    assert_eq!(got, result, "{processor}: {text}: {got:#x}, expected {result:#x}");
}

/// Runs one instruction with the usual value of MODE, and with its sources in the registers from `v0` on.
/// Checks the result in `v2`.
#[track_caller]
fn expect(processor: &str, text: &str, vgprs: &[u32], result: u32) {
    expect_in(USUAL, processor, text, vgprs, result);
}

/// Runs one instruction with 64-bit sources in `v[0:1]`, `v[2:3]` and `v[4:5]`. Checks the result in
/// `v[6:7]`.
#[track_caller]
fn expect64(mode: u32, processor: &str, text: &str, values: &[u64], result: u64) {
    let words: Vec<u32> = values.iter().flat_map(|value| [*value as u32, (value >> 32) as u32]).collect();
    let machine = Machine::with_lanes(processor, 64).mode(mode).vgprs(&words).run(text);
    let got = u64::from(machine.v(6, 0)) | u64::from(machine.v(7, 0)) << 32;
    assert_eq!(got, result, "{processor}: {text}: {got:#x}, expected {result:#x}");
}

fn f(value: f32) -> u32 {
    value.to_bits()
}

fn d(value: f64) -> u64 {
    value.to_bits()
}
