//! Recognises loads that are used like atomic loads: such a load acquires what it reads, although nothing in
//! its encoding says so.
//!
//! Loads from LDS and loads at work-group scope have the same encoding whether they are atomic or not. If the
//! object does not mark them ([`super::marks`]), they are recognised by the use of the loaded value:
//! - A load that waits for a flag is in a loop which it may end, and in which nothing is written that other
//!   waves see.
//! - A load from a location that atomics use may only decide which code runs next, such as the first look at
//!   a maximum before an atomic, or at a word that says "found". A load whose value is used otherwise, such
//!   as a load of a histogram's bins, is not recognised.

use super::findings::split_place;
use super::start::Shared;
use super::touch::{Class, EXEC_BITS, Memory, Touch};
use isa::MachInst;

/// Maximum number of instructions of a loop that are examined.
const LONGEST: usize = 256;

/// The registers whose values depend on the load.
#[derive(Clone, Default)]
pub(super) struct Tainted {
    vector: [u64; 8],
    scalar: u128,
    scc: bool,
    /// Slots of scratch memory whose contents depend on the load: see [`own_slot`].
    slots: Vec<(u128, i32)>,
}

impl Tainted {
    /// Applies an instruction that is not a branch.
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

    /// Returns whether a branch depends on the load.
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

    /// Adds the registers and slots that depend on the load on another path. Returns whether anything was
    /// added.
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

/// How a load is used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Looks {
    /// Whether the load is part of a loop that waits for the loaded value.
    pub(super) polls: bool,
    /// Whether the loaded value only decides which code runs next.
    pub(super) decides: bool,
}

impl Shared {
    /// Returns how the load at a place is used. The place may also be that of an atomic that returns a value.
    #[cold]
    pub(super) fn looks(&self, place: u32) -> Looks {
        let (range, pc) = split_place(place);
        let known = self.looks.get(range as usize).and_then(|places| places.get(pc as usize));
        known.map_or(Looks::default(), |known| {
            *known.get_or_init(|| Looks {
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
            // This branch goes back to the loop header, from which control reaches the load again.
            let returns = !back && target <= load;
            if returns && !self.is_quiet_between(range, target, load) {
                return false;
            }
            back |= returns;
            at = if conditional && !returns { next } else { target };
        }
        false
    }

    /// Follows the code in address order, because a value is usually used close to its load.
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
                // A compare-and-swap may use the loaded value as its comparison value.
                Class::Memory(Memory::Atomic) => tainted.write(touch, false),
                Class::Memory(_) if own_slot(touch, &inst).is_some() => tainted.step(touch, &inst),
                Class::Memory(_) if tainted.reads(touch) => return false,
                // Comparison results that are lane masks count as conditions.
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

    /// Returns the instruction at a place, and its size in dwords.
    pub(super) fn instruction(&self, range: u32, at: usize) -> Option<(MachInst, usize)> {
        self.reading.instruction(range, at)
    }
}

/// Returns whether an instruction neither writes memory that other waves see nor synchronises with other
/// waves.
fn is_quiet(touch: &Touch, inst: &MachInst) -> bool {
    let loud = matches!(
        touch.class,
        Class::Memory(Memory::Store | Memory::Atomic) | Class::Barrier | Class::Jump | Class::Indexed
    );
    !loud || touch.class == Class::Memory(Memory::Store) && own_slot(touch, inst).is_some()
}

/// Returns the slot of scratch memory (base register and offset) that an access names without a VGPR in its
/// address. Unoptimised code keeps its variables in such slots.
fn own_slot(touch: &Touch, inst: &MachInst) -> Option<(u128, i32)> {
    let name = inst.op.row().name;
    let is_scratch = name.starts_with("scratch_")
        || name.starts_with("buffer_") && touch.scalar_address & SCRATCH_DESCRIPTOR == SCRATCH_DESCRIPTOR;
    (is_scratch && touch.address.as_slice().is_empty()).then_some((touch.scalar_address, inst.mods.offset))
}

/// Mask of s[0:3], where compilers keep the descriptor of scratch memory.
const SCRATCH_DESCRIPTOR: u128 = 15;

/// Returns whether the results of an instruction are conditions.
fn compares(inst: &MachInst) -> bool {
    let name = inst.op.row().name;
    ["v_cmp_", "v_cmpx_", "s_cmp_", "s_cmpk_", "s_bitcmp"].iter().any(|stem| name.starts_with(stem))
}

/// Returns whether the result of an instruction is its source, or some bits of the source.
fn passes_on(inst: &MachInst) -> bool {
    let name = inst.op.row().name;
    ["v_mov_", "s_mov_", "v_readfirstlane_", "v_and_", "s_and_", "v_bfe_", "s_bfe_"]
        .iter()
        .any(|stem| name.starts_with(stem))
}

/// Returns the index of a branch's destination. `next` is the index of the next instruction; branch distances
/// count dwords from there.
pub(super) fn target(branch: &MachInst, next: usize) -> Option<usize> {
    let distance = branch.operands().iter().find_map(|operand| match operand {
        isa::Operand::Imm(distance) => Some(*distance as i16),
        _ => None,
    });
    next.checked_add_signed(distance?.into())
}
