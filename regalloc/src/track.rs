//! Debug information at allocation: where watched registers are, and which instruction writes them ([`isa::track`]).

use crate::spill::Spiller;
use crate::stream::{VGPR, class_index};
use cranelift_entity::{EntityRef, EntitySet};
use isa::track::MachTrack;
use isa::{MachFunc, Operand, Reg, VReg, op};
use rustc_hash::{FxBuildHasher, FxHashMap};

/// By class, the hardware registers of virtual ones.
type Assigned<'a> = [&'a [Option<u16>]; 2];

/// The hardware register of a virtual one.
fn place(func: &MachFunc, assigned: Assigned<'_>, register: VReg) -> Option<Reg> {
    let class = class_index(*func.vregs.get(register)?);
    let number = assigned[class].get(register.index()).copied().flatten()?;
    Some(crate::rewrite::hardware(class, number))
}

/// Writes down places and writes, in code that still names virtual registers. Copies that need no instruction are what they copy.
#[inline(never)]
pub(crate) fn fill(func: &MachFunc, assigned: Assigned<'_>, spiller: &Spiller, track: &mut MachTrack) {
    let mut counts =
        Counts { first: vec![NONE; track.places.len() + 1], all: Vec::with_capacity(track.watched.len()) };
    // By virtual register.
    let mut writes: Vec<Option<(u32, u32)>> = vec![None; func.vregs.len()];
    let mut copied: Vec<Option<VReg>> = vec![None; func.vregs.len()];
    for inst in func.blocks.values().flat_map(|block| &block.insts) {
        if inst.op == op::UNDEF {
            continue;
        }
        inst.for_each_def(|operand| match operand {
            Operand::Virt(tuple) => {
                for (dword, &register) in func.regs(tuple).iter().enumerate() {
                    let Some(to) = place(func, assigned, register) else { continue };
                    if inst.op == op::COPY
                        && let Operand::Virt(from) = inst.ops[1]
                        && let Some(&from) = func.regs(from).get(dword)
                        && place(func, assigned, from) == Some(to)
                    {
                        copied[register.index()] = Some(from);
                    } else if let Some(number) = counts.next(inst.loc, to) {
                        writes[register.index()] = Some((inst.loc, number));
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
    // What was spilled enters no block in its register any more.
    let params = func.blocks.values().flat_map(|block| block.sgpr_params.iter().chain(&block.vgpr_params));
    let mut entering = EntitySet::with_capacity(func.vregs.len());
    params.copied().chain(func.inputs.iter().map(|input| input.0)).for_each(|register| {
        entering.insert(register);
    });
    let mut parts: FxHashMap<VReg, u32> = FxHashMap::with_capacity_and_hasher(16, FxBuildHasher);
    let is_entering = track.watched.iter().filter(|watched| entering.contains(watched.register));
    parts.extend(is_entering.filter_map(|watched| Some((watched.register, watched.part?))));
    let (kept, written) = (spiller.kept(assigned[VGPR]), spiller.written_as());
    for watched in &mut track.watched {
        let spilled = watched.register;
        watched.slot = kept.get(&spilled).copied();
        if !entering.contains(spilled) {
            match &mut watched.slot {
                Some(slot) if watched.part.is_some() => slot.enters = true,
                _ => watched.part = None,
            }
        }
        let mut register = written.get(&spilled).copied().unwrap_or(spilled);
        watched.place = place(func, assigned, register);
        // A copy of a copy: never in a circle, as each is written once.
        for _ in 0..8 {
            match copied.get(register.index()).copied().flatten() {
                Some(from) => register = from,
                None => break,
            }
        }
        watched.write = writes.get(register.index()).copied().flatten();
        if watched.part.is_none() && entering.contains(register) {
            watched.part = parts.get(&register).copied();
        }
    }
}

const NONE: u32 = u32::MAX;

/// How many instructions of a point have written a register so far.
struct Counts {
    /// By point, the first of its registers.
    first: Vec<u32>,
    /// Registers, how often each was written, and which is the next of the point.
    all: Vec<(Reg, u32, u32)>,
}

impl Counts {
    /// A register is written once more: how often it was before. What is of no point of the IR is not counted.
    fn next(&mut self, point: u32, reg: Reg) -> Option<u32> {
        let first = self.first.get_mut(point as usize).filter(|_| point != 0)?;
        let mut at = *first;
        while let Some((other, count, next)) = self.all.get_mut(at as usize) {
            if *other == reg {
                *count += 1;
                return Some(*count - 1);
            }
            at = *next;
        }
        self.all.push((reg, 1, *first));
        *first = self.all.len() as u32 - 1;
        Some(0)
    }
}
