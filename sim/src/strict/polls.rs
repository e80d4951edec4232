//! Loads that wait for another wave: what such a load finds is handed over, although nothing in the instruction says so.
//!
//! Loads of LDS and loads at work-group scope look the same whether they are atomic or not. What tells them apart is what
//! is done with them: a load that waits for a flag stands in a loop which it may end and in which nothing is written.

use super::start::Shared;
use super::touch::{Class, EXEC_BITS, Memory, Touch};
use isa::MachInst;

/// Instructions of a loop that are looked at.
const LONGEST: usize = 256;

/// Registers that depend on the load.
#[derive(Default)]
struct Tainted {
    vector: [u64; 8],
    scalar: u128,
    scc: bool,
}

impl Tainted {
    fn has(&self, register: usize) -> bool {
        self.vector.get(register / 64).is_some_and(|word| word >> (register % 64) & 1 != 0)
    }

    fn set(&mut self, register: usize, yes: bool) {
        let Some(word) = self.vector.get_mut(register / 64) else { return };
        *word = *word & !(1 << (register % 64)) | u64::from(yes) << (register % 64);
    }

    fn reads(&self, touch: &Touch) -> bool {
        let mut vectors = touch.reads.registers().chain(touch.address.registers());
        vectors.any(|register| self.has(register))
            || self.scalar & (touch.scalar_reads | touch.scalar_address) != 0
            || self.scc && touch.reads_scc
    }

    fn write(&mut self, touch: &Touch, yes: bool) {
        touch.writes.registers().for_each(|register| self.set(register, yes));
        self.scalar =
            if yes { self.scalar | touch.scalar_writes } else { self.scalar & !touch.scalar_writes };
        if touch.writes_scc {
            self.scc = yes;
        }
    }
}

impl Shared {
    /// Whether the load at a place waits in a loop for what it reads.
    #[cold]
    pub(super) fn polls(&self, range: u32, pc: u32) -> bool {
        let known = self.polling.get(range as usize).and_then(|places| places.get(pc as usize));
        known.is_some_and(|known| *known.get_or_init(|| self.waits_in_a_loop(range, pc as usize)))
    }

    fn waits_in_a_loop(&self, range: u32, load: usize) -> bool {
        let mut tainted = Tainted::default();
        let first = self.touch(range, load as u32);
        tainted.write(first, true);
        let Some((_, size)) = self.instruction(range, load) else { return false };
        let (mut at, mut ends) = (load + size, false);
        for _ in 0..LONGEST {
            let Some((inst, size)) = self.instruction(range, at) else { return false };
            let touch = self.touch(range, at as u32);
            if !is_quiet(touch) {
                return false;
            }
            let name = inst.op.row().name;
            if touch.class == Class::Branch {
                let on_exec = name.starts_with("s_cbranch_exec") && tainted.scalar & EXEC_BITS != 0;
                let conditional = name != "s_branch";
                ends |= conditional && (on_exec || tainted.reads(touch));
                let Some(target) = target(&inst, at + size) else { return false };
                if target <= load {
                    return ends && self.is_quiet_between(range, target, load);
                }
                at = if conditional { at + size } else { target };
            } else {
                tainted.write(touch, tainted.reads(touch));
                at += size;
            }
        }
        false
    }

    fn is_quiet_between(&self, range: u32, mut at: usize, end: usize) -> bool {
        while at < end {
            let Some((_, size)) = self.instruction(range, at) else { return false };
            if !is_quiet(self.touch(range, at as u32)) {
                return false;
            }
            at += size;
        }
        true
    }

    /// The instruction at a place, and its dwords.
    pub(super) fn instruction(&self, range: u32, at: usize) -> Option<(MachInst, usize)> {
        let words = self.words.get(range as usize)?.get(at..)?;
        let decoder = self.decoder.as_ref()?;
        decoder.decode(words).or_else(|_| decoder.decode_tolerant(words)).ok()
    }
}

/// Neither writes memory nor meets other waves.
fn is_quiet(touch: &Touch) -> bool {
    !matches!(
        touch.class,
        Class::Memory(Memory::Store | Memory::Atomic) | Class::Barrier | Class::Jump | Class::Indexed
    )
}

/// Where a branch goes. Distances count dwords from the next instruction.
fn target(branch: &MachInst, next: usize) -> Option<usize> {
    let distance = branch.operands().iter().find_map(|operand| match operand {
        isa::Operand::Imm(distance) => Some(*distance as i16),
        _ => None,
    });
    next.checked_add_signed(distance?.into())
}
