//! Debug information at register allocation ([`mir::track`]): records in which hardware registers the virtual
//! registers are that debug information refers to (watched registers), and which instructions write them.

use crate::spill::Spiller;
use crate::stream::{VGPR, class_index};
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, EntitySet};
use isa::{Operand, Reg, VReg, op};
use mir::MachFunc;
use mir::track::{MachTrack, Slot, Write};
use rustc_hash::FxHashMap;
use std::num::NonZeroU32;

/// For each class, the hardware register that is assigned to each virtual register.
type Assigned<'a> = [&'a [Option<u16>]; 2];

/// Returns the hardware register of a virtual register.
fn hardware_register(func: &MachFunc, assigned: Assigned<'_>, register: VReg) -> Option<Reg> {
    let class = class_index(*func.vregs.get(register)?);
    let number = assigned[class].get(register.index()).copied().flatten()?;
    Some(crate::rewrite::hardware(class, number))
}

/// Records, for the virtual registers that debug information refers to, the hardware registers and the
/// instructions that write them. The code still names virtual registers at this stage. If a copy needs no
/// instruction, its destination has the same writing instruction as its source.
#[inline(never)]
pub(crate) fn fill(
    func: &MachFunc,
    assigned: Assigned<'_>,
    spiller: &Spiller,
    (track, s): (&mut MachTrack, &mut Scratch),
) {
    s.begin(func, track);
    let Scratch { counts, writes, copied, entering, parts } = s;
    for inst in func.blocks.values().flat_map(|block| &block.insts) {
        if inst.op == op::UNDEF {
            continue;
        }
        inst.for_each_def(|operand| match operand {
            Operand::Virt(tuple) => {
                for (dword, &register) in func.regs(tuple).iter().enumerate() {
                    let Some(to) = hardware_register(func, assigned, register) else { continue };
                    if inst.op == op::COPY
                        && let Operand::Virt(from) = inst.ops[1]
                        && let Some(&from) = func.regs(from).get(dword)
                        && hardware_register(func, assigned, from) == Some(to)
                    {
                        copied[register.index()] = from.into();
                    } else if let Some(write) = counts.next(inst.loc, to) {
                        writes[register.index()] = Some(write);
                    }
                }
            }
            Operand::Reg(range) => {
                for dword in 0..u16::from(range.len) {
                    counts.next(inst.loc, range.first.offset(dword));
                }
            }
            _ => {}
        });
    }
    // Collects the block parameters and inputs. A register that was spilled is not among them, because it no
    // longer enters a block in a hardware register.
    let params = func.blocks.values().flat_map(|block| block.sgpr_params.iter().chain(&block.vgpr_params));
    params.copied().chain(func.inputs.iter().map(|input| input.0)).for_each(|register| {
        entering.insert(register);
    });
    let has_part = track.watched.iter().filter(|watched| watched.part != NONE);
    let is_entering = has_part.filter(|watched| entering.contains(watched.register));
    parts.extend(is_entering.map(|watched| (watched.register, watched.part)));
    let (slots, written) = (spiller.kept(assigned[VGPR]), spiller.written_as());
    let MachTrack { watched, kept, .. } = track;
    for watched in watched {
        let spilled = watched.register;
        let is_entering = entering.contains(spilled);
        let slot = slots.get(&spilled);
        if let Some(slot) = slot {
            watched.slot = kept.len() as u32;
            kept.push(Slot { enters: !is_entering && watched.part != NONE, ..*slot });
        } else if !is_entering {
            watched.part = NONE;
        }
        let mut register = written.get(&spilled).copied().unwrap_or(spilled);
        watched.place = hardware_register(func, assigned, register);
        // Follows a chain of at most eight copies to its first source. The chain is not a cycle, because each
        // register is written once.
        for _ in 0..8 {
            match copied.get(register.index()).and_then(|from| from.expand()) {
                Some(from) => register = from,
                None => break,
            }
        }
        watched.write = writes.get(register.index()).copied().flatten();
        if watched.part == NONE && entering.contains(register) {
            watched.part = parts.get(&register).copied().unwrap_or(NONE);
        }
    }
}

const NONE: u32 = u32::MAX;

/// Reusable memory of [`fill`].
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    counts: Counts,
    /// For each virtual register: `writes` has the instruction that writes it, and `copied` the register of
    /// which it is a copy.
    writes: Vec<Option<Write>>,
    copied: Vec<PackedOption<VReg>>,
    /// `entering` has the registers that are block parameters or inputs. `parts` has, for watched registers
    /// among them, the block of the IR at whose beginning they get their value.
    entering: EntitySet<VReg>,
    parts: FxHashMap<VReg, u32>,
}

impl Scratch {
    fn begin(&mut self, func: &MachFunc, track: &MachTrack) {
        let Scratch { counts, writes, copied, entering, parts } = self;
        counts.first.clear();
        counts.first.resize(track.places.len() + 1, NONE);
        counts.all.clear();
        writes.clear();
        writes.resize(func.vregs.len(), None);
        copied.clear();
        copied.resize(func.vregs.len(), None.into());
        entering.clear();
        parts.clear();
    }
}

/// Counts for each point how often its instructions have written each register. A point is the number that
/// selection gave to an operation of the IR, and its instructions are those that do the operation.
#[derive(Debug, Default)]
struct Counts {
    /// By point, the index of its first register.
    first: Vec<u32>,
    /// Entries of the counts for all points. Each has a register, the number of writes to it so far by
    /// instructions of one point, and the index of the next entry of the same point.
    all: Vec<(Reg, u32, u32)>,
}

impl Counts {
    /// Counts a write of a register by an instruction of the point `point`. Returns the write, which includes
    /// the number of earlier writes. Returns `None` for an instruction without a point, whose writes are not
    /// counted.
    fn next(&mut self, point: u32, reg: Reg) -> Option<Write> {
        let first = self.first.get_mut(point as usize)?;
        let point = NonZeroU32::new(point)?;
        let mut at = *first;
        while let Some((other, count, next)) = self.all.get_mut(at as usize) {
            if *other == reg {
                *count += 1;
                return Some(Write { point, number: *count - 1 });
            }
            at = *next;
        }
        self.all.push((reg, 1, *first));
        *first = self.all.len() as u32 - 1;
        Some(Write { point, number: 0 })
    }
}
