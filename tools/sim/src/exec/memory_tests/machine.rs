//! A test machine with one wave, LDS and one buffer, which runs a few instructions.

use crate::descriptor::Descriptor;
use crate::exec::harness::{self, Bench, assemble};
use crate::fault::Trap;
use crate::memory::Memory;
use crate::op::Code;
use crate::watch::Watch;
use crate::wave::{SCRATCH_BASE, Wave};
use isa::Target;

/// Returns a kernel descriptor with IEEE mode, DX10 clamp, all denormals, and 32 VGPRs.
fn descriptor() -> Descriptor {
    Descriptor { rsrc1: 7 | 0xf0 << 12 | 1 << 21 | 1 << 23, ..Descriptor::default() }
}
/// Size of the buffer in bytes.
const BYTES: u64 = 4096;

pub(super) struct Machine {
    target: &'static Target,
    pub(super) wave: Wave,
    pub(super) lds: Vec<u32>,
    pub(super) memory: Memory,
    /// Address of the buffer.
    pub(super) buffer: u64,
}

impl Machine {
    /// Creates a machine with a wave of 64 active lanes, 1 KiB of LDS, 64 bytes of scratch for each lane, and
    /// zeros everywhere.
    pub(super) fn new(processor: &str) -> Machine {
        Machine::with_lanes(processor, 64)
    }

    /// Creates the same machine with a wave of `lanes` lanes.
    pub(super) fn with_lanes(processor: &str, lanes: u32) -> Machine {
        let target = harness::processor(processor, lanes);
        let mut wave = Wave::new(0, &descriptor(), target);
        wave.set_exec(!0);
        wave.scratch = vec![0; 16 * lanes as usize];
        wave.scratch_base = SCRATCH_BASE;
        wave.set_pair(wave.flat_scratch.into(), SCRATCH_BASE);
        let mut memory = Memory::new();
        let buffer = memory.alloc(BYTES).expect("room");
        Machine { target, wave, lds: vec![0; 256], memory, buffer }
    }

    /// Sets a register in all lanes.
    pub(super) fn v(&mut self, number: usize, value: impl Fn(usize) -> u32) -> &mut Machine {
        self.wave.vgpr[number] = std::array::from_fn(value);
        self
    }

    /// Sets a pair of registers in all lanes.
    pub(super) fn v64(&mut self, number: usize, value: impl Fn(usize) -> u64) -> &mut Machine {
        self.v(number, |lane| value(lane) as u32).v(number + 1, |lane| (value(lane) >> 32) as u32)
    }

    pub(super) fn s64(&mut self, number: usize, value: u64) -> &mut Machine {
        self.wave.set_pair(number, value);
        self
    }

    pub(super) fn exec(&mut self, mask: u64) -> &mut Machine {
        self.wave.set_exec(mask);
        self
    }

    /// Fills the buffer from an offset on.
    pub(super) fn fill(&mut self, offset: u64, words: &[u32]) -> &mut Machine {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert!(self.memory.write(self.buffer + offset, &bytes), "inside of the buffer");
        self
    }

    /// Returns a dword of the buffer.
    pub(super) fn word(&self, offset: u64) -> u32 {
        let mut bytes = [0; 4];
        assert!(self.memory.read(self.buffer + offset, &mut bytes), "inside of the buffer");
        u32::from_le_bytes(bytes)
    }

    /// Runs instructions. Returns the trap if one fails.
    pub(super) fn run_with<'a>(
        &'a mut self,
        text: &str,
        watch: Option<&'a mut dyn Watch>,
    ) -> Result<(), Trap> {
        let code = [Code::new(self.target, 0, 0, assemble(self.target, text))];
        let bench = Bench { watch, ..Bench::new(&mut self.wave, &mut self.lds, &self.memory) };
        bench.run(self.target, &code).map(|_| ())
    }

    /// Runs machine code words in the same way as a work-group does, after checking the register numbers.
    /// Returns `None` if the words are not one instruction, or name registers that the wave does not have.
    pub(super) fn run_words(&mut self, words: &[u32]) -> Option<Result<(), Trap>> {
        let code = [Code::new(self.target, 0, 0, words.to_vec())];
        let op = &code[0].ops[0];
        if usize::from(op.len) != words.len() || op.vgprs > self.wave.vgprs || op.agprs > self.wave.agprs {
            return None;
        }
        Some(Bench::new(&mut self.wave, &mut self.lds, &self.memory).run(self.target, &code).map(|_| ()))
    }

    /// Runs instructions, and fails the test if one of them fails.
    pub(super) fn run(&mut self, text: &str) -> &mut Machine {
        let done = self.run_with(text, None);
        assert!(done.is_ok(), "{text}: {done:?}");
        self
    }
}
