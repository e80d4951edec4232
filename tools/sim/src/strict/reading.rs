//! The decoded code of a module. Strict mode decodes it once and uses it for all dispatches of the module.

use super::hazards::Program;
use super::touch::{self, Touch};
use crate::op::Code;
use isa::decode::Decoder;
use isa::{MachInst, Setting, Target};
use std::sync::OnceLock;

/// All code ranges, decoded for waves of one size.
pub(crate) struct Reading {
    pub(super) program: Program,
    decoder: Option<Decoder>,
    words: Vec<Vec<u32>>,
    /// The registers and memory that each instruction accesses. The outer index is the code range, and the
    /// inner index the dword of the instruction in this range. An element is computed when its instruction is
    /// first executed.
    touches: Vec<Vec<OnceLock<Box<Touch>>>>,
}

impl Reading {
    /// Decodes the code. `xnack` says whether memory instructions may be replayed after a page fault, which
    /// adds checks.
    pub(crate) fn new(target: &'static Target, xnack: Setting, code: &[Code]) -> Reading {
        Reading {
            program: Program::new(target, xnack, code),
            decoder: Decoder::new(target),
            words: code.iter().map(|code| code.words.clone()).collect(),
            touches: code.iter().map(|code| code.words.iter().map(|_| OnceLock::new()).collect()).collect(),
        }
    }

    /// Returns the number of dwords of a code range.
    pub(super) fn len(&self, range: u32) -> usize {
        self.words.get(range as usize).map_or(0, Vec::len)
    }

    #[inline]
    pub(super) fn touch(&self, range: u32, pc: u32) -> &Touch {
        static NOTHING: OnceLock<Touch> = OnceLock::new();
        let place = self.touches.get(range as usize).and_then(|touches| touches.get(pc as usize));
        let Some(place) = place else {
            return NOTHING.get_or_init(|| touch::touch(None, &[], &self.program.code));
        };
        place.get_or_init(|| {
            let words = self.words.get(range as usize).and_then(|words| words.get(pc as usize..));
            Box::new(touch::touch(self.decoder.as_ref(), words.unwrap_or(&[]), &self.program.code))
        })
    }

    /// Returns the instruction at an index of a code range, and its size in dwords.
    pub(super) fn instruction(&self, range: u32, at: usize) -> Option<(MachInst, usize)> {
        let words = self.words.get(range as usize)?.get(at..)?;
        let decoder = self.decoder.as_ref()?;
        decoder.decode(words).or_else(|_| decoder.decode_tolerant(words)).ok()
    }
}
