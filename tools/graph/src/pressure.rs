//! Register pressure of the blocks of final machine code.
//!
//! As in the register allocator, SGPRs are live along the linear graph and VGPRs along the logical graph. A
//! call ends the live range of a register if every call of the function may clobber this register. The
//! registers in which a call passes arguments and a function returns results are not counted as read there,
//! because the final code does not name them.

use isa::table::Role;
use isa::{MBlock, MachInst, Reg, RegRange, RegSet, Target};
use mir::{Edges, MachBlock, MachFunc};

/// For each kind of register, the largest number of registers that are live at the same point of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pressure {
    /// SGPRs, without VCC and other special registers.
    pub sgprs: usize,
    /// VGPRs.
    pub vgprs: usize,
    /// Accumulation VGPRs.
    pub agprs: usize,
}

/// Returns the register pressure of each block, in the order of the blocks.
pub(crate) fn of_blocks(func: &MachFunc, target: &Target) -> Vec<Pressure> {
    let clobbers = clobbers(func);
    let walk = Walk { func, target, clobbers: &clobbers };
    let (scalar, vector) = (walk.solve(|block| &block.linear), walk.solve(|block| &block.logical));
    let pressure = |block: MBlock| {
        let [mut sgprs, mut vgprs, mut agprs] = [0; 3];
        walk.block(
            block,
            &scalar,
            |block| &block.linear,
            |set| {
                sgprs = sgprs.max(count(set, |reg| target.is_sgpr(reg)));
            },
        );
        walk.block(
            block,
            &vector,
            |block| &block.logical,
            |set| {
                vgprs = vgprs.max(count(set, Reg::is_vgpr));
                agprs = agprs.max(count(set, Reg::is_agpr));
            },
        );
        Pressure { sgprs, vgprs, agprs }
    };
    func.blocks.keys().map(pressure).collect()
}

fn count(set: &RegSet, is: impl Fn(Reg) -> bool) -> usize {
    set.iter().filter(|&reg| is(reg)).count()
}

/// Returns the registers that all calls of a function may clobber.
fn clobbers(func: &MachFunc) -> Vec<RegRange> {
    let Some((first, others)) = func.calls.split_first() else { return Vec::new() };
    let mut common = first.clobbers;
    for reg in first.clobbers.iter().filter(|&reg| others.iter().any(|call| !call.clobbers.contains(reg))) {
        common.remove(RegRange { first: reg, len: 1 });
    }
    common.ranges().collect()
}

struct Walk<'a> {
    func: &'a MachFunc,
    target: &'a Target,
    clobbers: &'a [RegRange],
}

impl Walk<'_> {
    /// Returns, for each block, the registers that are live at its beginning. `edges` returns the edges of
    /// the control-flow graph along which registers are live.
    fn solve(&self, edges: impl Fn(&MachBlock) -> &Edges + Copy) -> Vec<RegSet> {
        let mut live = vec![RegSet::EMPTY; self.func.blocks.len()];
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for block in self.func.blocks.keys().rev() {
                let set = self.block(block, &live, edges, |_| {});
                let old = &mut live[block.as_u32() as usize];
                changed |= *old != set;
                *old = set;
            }
        }
        live
    }

    /// Walks a block backwards. Calls `each` with the set of registers that are live at the end of the block
    /// and before each instruction, and returns the set at the beginning.
    fn block(
        &self,
        block: MBlock,
        live: &[RegSet],
        edges: impl Fn(&MachBlock) -> &Edges,
        mut each: impl FnMut(&RegSet),
    ) -> RegSet {
        let block = &self.func.blocks[block];
        let mut set = RegSet::EMPTY;
        for edge in edges(block).iter().flatten() {
            set.union(&live[edge.to.as_u32() as usize]);
        }
        each(&set);
        for inst in block.insts.iter().rev() {
            self.inst(inst, &mut set);
            each(&set);
        }
        set
    }

    fn inst(&self, inst: &MachInst, set: &mut RegSet) {
        if inst.is_call() {
            self.clobbers.iter().for_each(|&range| set.remove(range));
        }
        inst.for_each_hw_reg(self.target, |role, range| {
            if role == Role::Def {
                set.remove(range);
            }
        });
        inst.for_each_hw_reg(self.target, |role, range| {
            if role != Role::Def {
                set.insert(range);
            }
        });
    }
}
