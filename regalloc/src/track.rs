//! Debug information at allocation: where watched registers are, and which instruction writes them ([`isa::track`]).

use crate::spill::Spiller;
use crate::stream::{VGPR, class_index};
use cranelift_entity::EntityRef;
use isa::track::{MachTrack, is_spill};
use isa::{MachFunc, Operand, Reg, Role, VReg, op};
use rustc_hash::{FxHashMap, FxHashSet};

/// By class, the hardware registers of virtual ones.
type Assigned<'a> = [&'a [Option<u16>]; 2];

/// The hardware register of a virtual one.
fn place(func: &MachFunc, assigned: Assigned<'_>, register: VReg) -> Option<Reg> {
    let class = class_index(*func.vregs.get(register)?);
    let number = assigned[class].get(register.index()).copied().flatten()?;
    Some(crate::rewrite::hardware(class, number))
}

/// Writes down places and writes, in code that still names virtual registers. Copies that need no instruction are what they copy.
#[cold]
pub(crate) fn fill(func: &MachFunc, assigned: Assigned<'_>, spiller: &Spiller, track: &mut MachTrack) {
    // How many instructions of a point have written a register so far.
    let mut count: FxHashMap<(u32, Reg), u32> = FxHashMap::default();
    let mut writes: FxHashMap<VReg, (u32, u32)> = FxHashMap::default();
    let mut copied: FxHashMap<VReg, VReg> = FxHashMap::default();
    for inst in func.blocks.values().flat_map(|block| &block.insts) {
        if inst.op == op::UNDEF {
            continue;
        }
        for (n, &operand) in inst.operands().iter().enumerate() {
            if inst.role(n) == Role::Use {
                continue;
            }
            match operand {
                Operand::Virt(tuple) => {
                    for (dword, &register) in func.regs(tuple).iter().enumerate() {
                        let Some(to) = place(func, assigned, register) else { continue };
                        if inst.op == op::COPY
                            && let Operand::Virt(from) = inst.ops[1]
                            && let Some(&from) = func.regs(from).get(dword)
                            && place(func, assigned, from) == Some(to)
                        {
                            copied.insert(register, from);
                            continue;
                        }
                        let number = count.entry((inst.loc, to)).or_default();
                        if inst.loc != 0 && !is_spill(inst.loc) {
                            writes.insert(register, (inst.loc, *number));
                        }
                        *number += 1;
                    }
                }
                Operand::Reg(range) => {
                    for dword in 0..u16::from(range.len) {
                        *count.entry((inst.loc, range.first.offset(dword))).or_default() += 1;
                    }
                }
                _ => {}
            }
        }
    }
    // What was spilled enters no block in its register any more.
    let params = func.blocks.values().flat_map(|block| block.sgpr_params.iter().chain(&block.vgpr_params));
    let entering: FxHashSet<VReg> = params.copied().chain(func.inputs.iter().map(|input| input.0)).collect();
    let parts: FxHashMap<VReg, u32> = track
        .watched
        .iter()
        .filter(|watched| entering.contains(&watched.register))
        .filter_map(|watched| Some((watched.register, watched.part?)))
        .collect();
    let (kept, written) = (spiller.kept(assigned[VGPR]), spiller.written_as());
    for watched in &mut track.watched {
        let spilled = watched.register;
        watched.slot = kept.get(&spilled).copied();
        if !entering.contains(&spilled) {
            match &mut watched.slot {
                Some(slot) if watched.part.is_some() => slot.enters = true,
                _ => watched.part = None,
            }
        }
        let mut register = written.get(&spilled).copied().unwrap_or(spilled);
        watched.place = place(func, assigned, register);
        // A copy of a copy: never in a circle, as each is written once.
        for _ in 0..8 {
            match copied.get(&register) {
                Some(&from) => register = from,
                None => break,
            }
        }
        watched.write = writes.get(&register).copied();
        watched.part = watched.part.or_else(|| parts.get(&register).copied());
    }
}
