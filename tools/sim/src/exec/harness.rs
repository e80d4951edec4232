//! Test helpers for single instructions: they find a processor by name, assemble text, and run the code in
//! one wave.

use super::{Cx, Flow, Scratch};
use crate::fault::Trap;
use crate::memory::Memory;
use crate::op::Code;
use crate::watch::Watch;
use crate::wave::Wave;
use isa::Target;
use object::{Object, ObjectSection};

/// Maximum number of instructions that a test may execute. Code that executes more is taken for an endless
/// loop.
const MOST: usize = 1000;

/// Returns a processor with waves of `lanes` lanes.
pub(crate) fn processor(name: &str, lanes: u32) -> &'static Target {
    let target = Target::by_name(name).and_then(|target| target.with_wave_size(lanes));
    target.unwrap_or_else(|| panic!("no {name} with waves of {lanes} lanes"))
}

/// Assembles a text, and returns its words.
pub(crate) fn assemble(target: &'static Target, text: &str) -> Vec<u32> {
    let options =
        asm::Options { target: Some(target), wave64: target.wave_size == 64, ..asm::Options::default() };
    let file = asm::assemble(text, &options).unwrap_or_else(|wrong| panic!("{text}: {}", wrong[0].message));
    let file = object::File::parse(&*file).expect("an ELF file");
    let code = file.section_by_name(".text").expect("code").data().expect("bytes").to_vec();
    code.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// A wave and its environment.
pub(crate) struct Bench<'a> {
    pub(crate) wave: &'a mut Wave,
    pub(crate) lds: &'a mut [u32],
    pub(crate) memory: &'a Memory,
    pub(crate) clock: u64,
    pub(crate) watch: Option<&'a mut dyn Watch>,
}

impl<'a> Bench<'a> {
    /// Creates a bench without a watcher.
    pub(crate) fn new(wave: &'a mut Wave, lds: &'a mut [u32], memory: &'a Memory) -> Bench<'a> {
        Bench { wave, lds, memory, clock: 0, watch: None }
    }

    /// Runs instructions from the first one to the end of the code. Stops earlier after an instruction that
    /// does more than continue with the next one, such as a branch or a barrier.
    pub(crate) fn run(mut self, target: &'static Target, code: &[Code; 1]) -> Result<Flow, Trap> {
        let mut scratch = Scratch::new();
        let lds_bytes = 4 * self.lds.len() as u32;
        self.wave.pc = 0;
        for _ in 0..MOST {
            let Some(op) = code[0].ops.get(self.wave.pc as usize) else { return Ok(Flow::Next) };
            self.wave.pc += u32::from(op.len);
            let mut cx = Cx {
                wave: self.wave,
                lds: self.lds,
                lds_bytes,
                memory: self.memory,
                code,
                scratch: &mut scratch,
                target,
                trap: None,
                clock: self.clock,
                locked64: false,
                watch: match &mut self.watch {
                    Some(watch) => Some(&mut **watch),
                    None => None,
                },
            };
            match crate::group::execute(&mut cx, op) {
                Flow::Next => {}
                Flow::Trap => return Err(cx.trap.unwrap_or(Trap::Unsupported)),
                other => return Ok(other),
            }
        }
        panic!("{} does not end", code[0].text(target, 0));
    }
}
