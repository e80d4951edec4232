//! Computes which virtual registers of the original program are live at block entries.
//!
//! The checker can forget a value in a place once no instruction reads the value any more. Without this
//! analysis, every value that was ever copied would stay in the states of all later blocks. The analysis is
//! written for the checker alone, so that a mistake in the allocator's liveness shows.

use crate::stream::{SGPR, VGPR, class_index, edges, params};
use cranelift_entity::EntityRef;
use isa::table::Role;
use isa::{MBlock, Operand};
use mir::MachFunc;

/// For each block, the set of the registers that are live at its entry, including its parameters.
pub(super) struct Live {
    words: usize,
    bits: Vec<u64>,
}

impl Live {
    pub fn new(func: &MachFunc) -> Live {
        let words = func.vregs.len().div_ceil(64);
        let mut live = Live { words, bits: vec![0; words * func.blocks.len()] };
        // Registers that are live on each graph.
        let mut carried = [vec![0; words], vec![0; words]];
        for (vreg, &class) in func.vregs.iter() {
            carried[class_index(class)][vreg.index() / 64] |= 1u64 << (vreg.index() % 64);
        }
        let mut set = vec![0; words];
        let mut changed = true;
        while changed {
            changed = false;
            for block in (0..func.blocks.len()).rev().map(MBlock::new) {
                live.walk(func, block, &carried, &mut set);
                let old = &mut live.bits[block.index() * words..][..words];
                if *old != *set {
                    old.copy_from_slice(&set);
                    changed = true;
                }
            }
        }
        for (block, data) in func.blocks.iter() {
            let set = &mut live.bits[block.index() * words..][..words];
            for param in params(data, SGPR).iter().chain(params(data, VGPR)) {
                set[param.index() / 64] |= 1 << (param.index() % 64);
            }
        }
        live
    }

    /// Returns whether a register is live at the entry of a block, or is one of the block's parameters.
    pub fn at_entry(&self, block: MBlock, vreg: u32) -> bool {
        let bit = vreg as usize;
        self.bits[block.index() * self.words + bit / 64] >> (bit % 64) & 1 != 0
    }

    /// Walks a block backwards and computes in `set` the registers that are live at its beginning.
    fn walk(&self, func: &MachFunc, block: MBlock, carried: &[Vec<u64>; 2], set: &mut [u64]) {
        let data = &func.blocks[block];
        set.fill(0);
        for class in [SGPR, VGPR] {
            for edge in edges(data, class).iter().flatten() {
                let below = &self.bits[edge.to.index() * self.words..][..self.words];
                let words = set.iter_mut().zip(below).zip(&carried[class]);
                words.for_each(|((word, below), carried)| *word |= below & carried);
                func.edge_args(edge).iter().for_each(|arg| set[arg.index() / 64] |= 1 << (arg.index() % 64));
            }
        }
        for inst in data.insts.iter().rev() {
            for wanted in [Role::Def, Role::Use] {
                for (i, operand) in inst.operands().iter().enumerate() {
                    let Operand::Virt(tuple) = *operand else { continue };
                    let is_def = inst.role(i) == Role::Def;
                    if is_def != (wanted == Role::Def) {
                        continue;
                    }
                    for reg in func.regs(tuple) {
                        let bit = 1 << (reg.index() % 64);
                        let word = &mut set[reg.index() / 64];
                        *word = if is_def { *word & !bit } else { *word | bit };
                    }
                }
            }
        }
        for class in [SGPR, VGPR] {
            params(data, class)
                .iter()
                .for_each(|param| set[param.index() / 64] &= !(1 << (param.index() % 64)));
        }
    }
}
