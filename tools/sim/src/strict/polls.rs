//! Recognises atomic loads by the way in which the program uses the loaded value, because their encoding is
//! that of plain loads. An atomic load acquires what another wave has released.
//!
//! Atomic and plain loads from LDS have the same encoding. Atomic loads from memory at work-group scope and
//! plain loads from memory have the same encoding, too. If the object file does not mark its atomic loads
//! ([`super::marks`]), the use of the loaded value tells atomic and plain loads apart:
//! - A load that polls, that is, waits for a flag, is taken as atomic. A load polls if it is in a loop that
//!   may end depending on the loaded value, and the loop writes nothing that other waves can see.
//! - A load from a location that atomics use is taken as atomic if the loaded value only decides which code
//!   runs next. Examples are the comparison with a maximum before an atomic updates the maximum, and the test
//!   of a word that says "found". If the loaded value is used in any other way, such as a count of a
//!   histogram, the load is taken as plain.

use super::findings::split_place;
use super::start::Shared;
use super::touch::{Class, EXEC_BITS, Memory, Touch};
use isa::MachInst;

/// Maximum number of instructions of a loop that are examined for each load.
const LONGEST: usize = 256;

/// The registers whose values depend on the load.
#[derive(Clone, Default)]
pub(super) struct Tainted {
    vector: [u64; 8],
    scalar: u128,
    scc: bool,
    /// Variables in scratch memory whose values depend on the load. A variable is given by the base registers
    /// of its address and an offset: see [`own_slot`].
    slots: Vec<(u128, i32)>,
}

impl Tainted {
    /// Updates which registers and scratch variables depend on the load, for an instruction that is not a
    /// branch.
    pub(super) fn step(&mut self, touch: &Touch, inst: &MachInst) {
        let Some(slot) = own_slot(touch, inst) else { return self.write(touch, self.reads(touch)) };
        let known = self.slots.iter().position(|&tainted| tainted == slot);
        match (touch.class, known) {
            (Class::Memory(Memory::Load), known) => self.write(touch, known.is_some()),
            (_, None) if self.reads(touch) => self.slots.push(slot),
            (_, Some(at)) if !self.reads(touch) => drop(self.slots.swap_remove(at)),
            _ => {}
        }
    }

    /// Returns whether the direction of a branch depends on the load.
    fn decides(&self, branch: &Touch, inst: &MachInst) -> bool {
        let on_exec = inst.op.row().name.starts_with("s_cbranch_exec") && self.scalar & EXEC_BITS != 0;
        on_exec || self.reads(branch)
    }

    pub(super) fn has(&self, register: usize) -> bool {
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

    /// Adds the registers and scratch variables that depend on the load at the end of another path of control
    /// flow. Returns whether this has changed the state.
    pub(super) fn join(&mut self, other: &Tainted) -> bool {
        let before = self.clone();
        self.vector.iter_mut().zip(other.vector).for_each(|(mine, theirs)| *mine |= theirs);
        self.scalar |= other.scalar;
        self.scc |= other.scc;
        for slot in &other.slots {
            if !self.slots.contains(slot) {
                self.slots.push(*slot);
            }
        }
        (self.vector, self.scalar, self.scc) != (before.vector, before.scalar, before.scc)
            || self.slots.len() != before.slots.len()
    }

    pub(super) fn write(&mut self, touch: &Touch, yes: bool) {
        touch.writes.registers().for_each(|register| self.set(register, yes));
        self.scalar =
            if yes { self.scalar | touch.scalar_writes } else { self.scalar & !touch.scalar_writes };
        if touch.writes_scc {
            self.scc = yes;
        }
    }
}

/// How the result of a load is used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LoadUse {
    /// Whether the load is in a loop that waits until the loaded value changes.
    pub(super) polls: bool,
    /// Whether the loaded value only decides which code runs next.
    pub(super) decides: bool,
}

impl Shared {
    /// Returns how the result of a load is used. `place` is the code position of the load, or of an atomic
    /// that returns a value.
    #[cold]
    pub(super) fn load_use(&self, place: u32) -> LoadUse {
        let (range, pc) = split_place(place);
        let known = self.load_uses.get(range as usize).and_then(|places| places.get(pc as usize));
        known.map_or(LoadUse::default(), |known| {
            *known.get_or_init(|| LoadUse {
                polls: self.waits_in_a_loop(range, pc as usize),
                decides: self.only_decides(range, pc as usize),
            })
        })
    }

    fn waits_in_a_loop(&self, range: u32, load: usize) -> bool {
        let mut tainted = Tainted::default();
        let first = self.touch(range, load as u32);
        tainted.write(first, true);
        let Some((_, size)) = self.instruction(range, load) else { return false };
        let (mut at, mut ends, mut back) = (load + size, false, false);
        for _ in 0..LONGEST {
            if at == load {
                return ends;
            }
            let Some((inst, size)) = self.instruction(range, at) else { return false };
            let touch = self.touch(range, at as u32);
            if !is_quiet(touch, &inst) {
                return false;
            }
            let next = at + size;
            if touch.class != Class::Branch {
                tainted.step(touch, &inst);
                at = next;
                continue;
            }
            let Some(target) = target(&inst, next) else { return false };
            let conditional = inst.op.row().name != "s_branch";
            ends |= conditional && tainted.decides(touch, &inst);
            // A backward branch to a loop header before the load leads to the load again. So the branch
            // closes the loop.
            let returns = !back && target <= load;
            if returns && !self.is_quiet_between(range, target, load) {
                return false;
            }
            back |= returns;
            at = if conditional && !returns { next } else { target };
        }
        false
    }

    /// Returns whether the value that a load returns is used only to decide which code runs next. Scans the
    /// code in address order and does not follow branches, because a value is usually used close to its load.
    fn only_decides(&self, range: u32, load: usize) -> bool {
        let mut tainted = Tainted::default();
        tainted.write(self.touch(range, load as u32), true);
        let Some((_, size)) = self.instruction(range, load) else { return false };
        let (mut at, mut decides) = (load + size, false);
        for _ in 0..LONGEST {
            let Some((inst, size)) = self.instruction(range, at) else { break };
            let touch = self.touch(range, at as u32);
            match touch.class {
                Class::Jump | Class::Indexed | Class::Barrier => break,
                Class::Branch => decides |= tainted.decides(touch, &inst),
                // A compare-and-swap may use the loaded value as its comparison value. This use counts as a
                // decision, so the load may still be atomic.
                Class::Memory(Memory::Atomic) => tainted.write(touch, false),
                Class::Memory(_) if own_slot(touch, &inst).is_some() => tainted.step(touch, &inst),
                Class::Memory(_) if tainted.reads(touch) => return false,
                // The result of a comparison is a condition, even if it is a lane mask.
                Class::Pure if compares(&inst) => {
                    decides |= tainted.reads(touch);
                    tainted.write(touch, false);
                }
                _ if tainted.reads(touch) && !passes_on(&inst) => return false,
                _ => tainted.step(touch, &inst),
            }
            at += size;
        }
        decides
    }

    fn is_quiet_between(&self, range: u32, mut at: usize, end: usize) -> bool {
        while at < end {
            let Some((inst, size)) = self.instruction(range, at) else { return false };
            if !is_quiet(self.touch(range, at as u32), &inst) {
                return false;
            }
            at += size;
        }
        true
    }

    /// Returns the instruction at an index of a code range, and its size in dwords.
    pub(super) fn instruction(&self, range: u32, at: usize) -> Option<(MachInst, usize)> {
        self.reading.instruction(range, at)
    }
}

/// Returns whether an instruction has no effect on other waves. It must neither write memory that other waves
/// see nor synchronise with other waves.
fn is_quiet(touch: &Touch, inst: &MachInst) -> bool {
    let loud = matches!(
        touch.class,
        Class::Memory(Memory::Store | Memory::Atomic) | Class::Barrier | Class::Jump | Class::Indexed
    );
    !loud || touch.class == Class::Memory(Memory::Store) && own_slot(touch, inst).is_some()
}

/// Returns the scratch variable that an instruction accesses, as base register and offset. Unoptimised code
/// keeps its variables in scratch, so the search must follow values through scratch. Returns `None` if the
/// address contains a VGPR, because the instruction may then access any variable.
fn own_slot(touch: &Touch, inst: &MachInst) -> Option<(u128, i32)> {
    let name = inst.op.row().name;
    let is_scratch = name.starts_with("scratch_")
        || name.starts_with("buffer_") && touch.scalar_address & SCRATCH_DESCRIPTOR == SCRATCH_DESCRIPTOR;
    (is_scratch && touch.address.as_slice().is_empty()).then_some((touch.scalar_address, inst.mods.offset))
}

/// Mask of the registers s[0:3], in which compilers keep the buffer resource descriptor of scratch memory.
const SCRATCH_DESCRIPTOR: u128 = 15;

/// Returns whether the results of an instruction are conditions, which is true for comparisons and bit tests.
fn compares(inst: &MachInst) -> bool {
    let name = inst.op.row().name;
    ["v_cmp_", "v_cmpx_", "s_cmp_", "s_cmpk_", "s_bitcmp"].iter().any(|stem| name.starts_with(stem))
}

/// Returns whether the instruction only moves its source to its destination, as a whole or in part (such as a
/// bit field).
fn passes_on(inst: &MachInst) -> bool {
    let name = inst.op.row().name;
    ["v_mov_", "s_mov_", "v_readfirstlane_", "v_and_", "s_and_", "v_bfe_", "s_bfe_"]
        .iter()
        .any(|stem| name.starts_with(stem))
}

/// Returns the index of the dword to which a branch jumps. `next` is the index of the instruction after the
/// branch; the hardware counts the branch distance from there, in dwords.
pub(super) fn target(branch: &MachInst, next: usize) -> Option<usize> {
    let distance = branch.operands().iter().find_map(|operand| match operand {
        isa::Operand::Imm(distance) => Some(*distance as i16),
        _ => None,
    });
    next.checked_add_signed(distance?.into())
}
