//! Tests of single scalar instructions on processors of all generations.

mod arithmetic;
mod bits;
mod control;
mod folding;
mod registers;

use crate::descriptor::Descriptor;
use crate::exec::Flow;
use crate::exec::harness::{self, Bench, assemble};
use crate::fault::Trap;
use crate::memory::Memory;
use crate::op::Code;
use crate::wave::Wave;
use isa::Target;

/// Names of processors: one of each generation, and one of the later GFX10 processors.
const PROCESSORS: [&str; 6] = ["gfx600", "gfx700", "gfx803", "gfx906", "gfx1010", "gfx1030"];

/// The first processors of the list that have the instructions of GFX6, GFX8 and GFX9.
const GFX6: &str = PROCESSORS[0];
const GFX8: &str = PROCESSORS[2];
const GFX9: &str = PROCESSORS[3];

/// Returns the processors of the list from a processor on.
fn processors_from(first: &str) -> impl Iterator<Item = &'static str> {
    PROCESSORS.into_iter().skip_while(move |processor| *processor != first)
}

/// Contents of LDS.
const LDS: [u32; 4] = [0x1122_3344, 0x8899_aabb, 0x7fff_8001, 0xdead_beef];

/// Address of the first instruction.
const BASE: u64 = 0x1_0000_0000;

/// Code to run on waves of a processor.
struct Program {
    code: [Code; 1],
    target: &'static Target,
    text: String,
}

impl Program {
    fn new(processor: &str, lanes: u32, text: &str) -> Program {
        let target = harness::processor(processor, lanes);
        let code = [Code::new(target, BASE, 0, assemble(target, text))];
        Program { code, target, text: format!("{processor}: {text}") }
    }

    /// Returns a wave that has the maximum number of registers, with all lanes active.
    fn wave(&self) -> Wave {
        // The descriptor asks for many registers, IEEE mode, DX10 clamp and all denormals.
        let descriptor = Descriptor { rsrc1: 5 | 15 << 6 | 0xf0 << 12 | 5 << 21, ..Descriptor::default() };
        let mut wave = Wave::new(0, &descriptor, self.target);
        wave.set_exec(!0);
        wave
    }

    /// Runs instructions to the end of the code. Stops earlier after an instruction that does more than
    /// continue with the next one, such as a branch or a barrier.
    fn run(&self, wave: &mut Wave) -> Result<Flow, Trap> {
        let mut lds = LDS;
        let memory = Memory::new();
        let bench = Bench { clock: 0x1234_5678, ..Bench::new(wave, &mut lds, &memory) };
        bench.run(self.target, &self.code)
    }

    /// Runs the code, and fails the test unless it succeeds.
    fn check(&self, wave: &mut Wave) {
        let done = self.run(wave);
        assert!(matches!(done, Ok(Flow::Next)), "{}: {done:?}", self.text);
    }
}

/// Assembles a text and runs it on a wave of 64 lanes. `prepare` sets the registers of the wave before.
fn run(processor: &str, text: &str, prepare: impl Fn(&mut Wave)) -> Wave {
    run_lanes(processor, 64, text, prepare)
}

fn run_lanes(processor: &str, lanes: u32, text: &str, prepare: impl Fn(&mut Wave)) -> Wave {
    let program = Program::new(processor, lanes, text);
    let mut wave = program.wave();
    prepare(&mut wave);
    program.check(&mut wave);
    wave
}

/// Returns the trap of a text that must not run successfully.
fn refusal(processor: &str, lanes: u32, text: &str, prepare: impl Fn(&mut Wave)) -> Trap {
    let program = Program::new(processor, lanes, text);
    let mut wave = program.wave();
    prepare(&mut wave);
    program.run(&mut wave).expect_err("a refusal")
}

/// A function that gives the expected result of an instruction, in another way than the emulator computes it.
/// The arguments of the function are both sources, the old destination, and SCC. The instruction has its
/// sources in s[4:5] and s[6:7], and its destination in s[0:1].
enum Meaning {
    Narrow(fn(u32, u32, u32, bool) -> (u32, bool)),
    Wide(fn(u64, u64, u64, bool) -> (u64, bool)),
    /// Wide sources and a narrow result.
    Narrowing(fn(u64, u64, u32, bool) -> (u32, bool)),
}

/// Compares the result of an instruction with the expected result, on all processors from the processor
/// `from` on.
fn agree(text: &str, from: &str, meaning: &Meaning) {
    for_all(text, from, |before, after| {
        let (a, b, d, scc) = (before.pair(4), before.pair(6), before.pair(0), before.scc);
        let keep = d & !0xffff_ffff;
        let narrow = |(value, scc): (u32, bool)| (u64::from(value) | keep, scc);
        let expected = match meaning {
            Meaning::Narrow(f) => narrow(f(a as u32, b as u32, d as u32, scc)),
            Meaning::Wide(f) => f(a, b, d, scc),
            Meaning::Narrowing(f) => narrow(f(a, b, d as u32, scc)),
        };
        let got = (after.pair(0), after.scc);
        assert_eq!(got, expected, "{text}: {a:#x}, {b:#x}, {d:#x}, {scc}: {got:x?}");
        assert_eq!((after.pair(4), after.pair(6)), (a, b), "{text}: sources stay");
    });
}

/// Runs an instruction on all processors from the processor `from` on, with all pairs of edge values and
/// with 300 random pairs as sources. Calls `check` after each run.
fn for_all(text: &str, from: &str, check: impl Fn(&Before, &Wave)) {
    for processor in processors_from(from) {
        let program = Program::new(processor, 64, text);
        let mut wave = program.wave();
        for (a, b, d, scc) in inputs() {
            wave.set_pair(4, a);
            wave.set_pair(6, b);
            wave.set_pair(0, d);
            wave.scc = scc;
            let before = Before { sgpr: wave.sgpr, scc };
            program.check(&mut wave);
            check(&before, &wave);
        }
    }
}

/// The state before the instruction.
struct Before {
    sgpr: [u32; 256],
    scc: bool,
}

impl Before {
    fn pair(&self, at: usize) -> u64 {
        u64::from(self.sgpr[at]) | u64::from(self.sgpr[at + 1]) << 32
    }
}

/// Returns test values: the two sources, the old destination, and SCC.
fn inputs() -> impl Iterator<Item = (u64, u64, u64, bool)> {
    const EDGES: [u64; 22] = [
        0,
        1,
        2,
        31,
        32,
        33,
        63,
        64,
        0x7fff,
        0x8000,
        0xffff_8000,
        0x1_0000,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        0xffff_fffe,
        0x1_0000_0000,
        0x7fff_ffff_ffff_ffff,
        0x8000_0000_0000_0000,
        0xffff_ffff_ffff_ffff,
        // As a source of `s_bfe`, this value and the next select bit fields: 8 bits from bit 4 on, and 32
        // bits from bit 31 on.
        0x0008_0004,
        0x0020_001f,
    ];
    let pairs =
        EDGES.into_iter().flat_map(|a| EDGES.map(|b| (a, b, 0xdead_beef_0bad_cafe, (a ^ b) & 1 != 0)));
    let mut random = support::Random::new(1);
    let mut next = move || random.bits();
    pairs.chain((0..300).map(move |_| (next(), next(), next(), next() >> 63 != 0)))
}
