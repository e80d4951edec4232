//! Saved states of a machine function, because spilling is tried in several ways from the same state.
//!
//! A snapshot stores the instructions of all blocks contiguously, so that saving a function allocates nothing
//! once the buffers are large enough.

use crate::spill;
use isa::{Abi, MachInst, Reg, RegClass, VReg};
use mir::{Edges, MachFunc, Note, SpillCount};

/// The parts of a block that allocation changes.
#[derive(Clone, Copy)]
struct Block {
    insts: usize,
    params: [usize; 2],
    prologue: u32,
    term: u32,
    edges: [Edges; 2],
}

/// A saved state of a machine function; see the module.
#[derive(Default)]
pub(crate) struct Snapshot {
    blocks: Vec<Block>,
    insts: Vec<MachInst>,
    params: Vec<VReg>,
    inputs: Vec<(VReg, Reg)>,
    vregs: Vec<RegClass>,
    tuples: Vec<VReg>,
    args: Vec<VReg>,
    notes: Vec<Note>,
    abi: Abi,
    scratch_size: u32,
    spilled: SpillCount,
    state: spill::State,
}

impl Snapshot {
    /// Saves a function and the state of the spiller.
    pub fn save(&mut self, func: &MachFunc, state: &spill::State) {
        self.blocks.clear();
        self.insts.clear();
        self.params.clear();
        for block in func.blocks.values() {
            self.insts.extend_from_slice(&block.insts);
            self.params.extend_from_slice(&block.sgpr_params);
            self.params.extend_from_slice(&block.vgpr_params);
            self.blocks.push(Block {
                insts: block.insts.len(),
                params: [block.sgpr_params.len(), block.vgpr_params.len()],
                prologue: block.prologue,
                term: block.term,
                edges: [block.linear, block.logical],
            });
        }
        self.inputs.clone_from(&func.inputs);
        self.vregs.clear();
        self.vregs.extend_from_slice(func.vregs.as_values_slice());
        self.tuples.clone_from(&func.tuples);
        self.args.clone_from(&func.args);
        self.notes.clone_from(&func.notes);
        (self.abi, self.scratch_size, self.spilled) = (func.abi, func.scratch_size, func.spilled);
        self.state.clone_from(state);
    }

    /// Restores the function and the state of the spiller.
    pub fn restore(&self, func: &mut MachFunc, state: &mut spill::State) {
        let (mut insts, mut params) = (self.insts.as_slice(), self.params.as_slice());
        for (block, saved) in func.blocks.values_mut().zip(&self.blocks) {
            take(&mut insts, saved.insts, &mut block.insts);
            take(&mut params, saved.params[0], &mut block.sgpr_params);
            take(&mut params, saved.params[1], &mut block.vgpr_params);
            (block.prologue, block.term) = (saved.prologue, saved.term);
            [block.linear, block.logical] = saved.edges;
        }
        func.inputs.clone_from(&self.inputs);
        func.vregs.clear();
        self.vregs.iter().for_each(|&class| {
            func.vregs.push(class);
        });
        func.tuples.clone_from(&self.tuples);
        func.args.clone_from(&self.args);
        func.notes.clone_from(&self.notes);
        (func.abi, func.scratch_size, func.spilled) = (self.abi, self.scratch_size, self.spilled);
        state.clone_from(&self.state);
    }
}

/// Moves the first `count` elements of a slice to a list.
fn take<T: Copy>(from: &mut &[T], count: usize, into: &mut Vec<T>) {
    let (first, rest) = from.split_at(count);
    into.clear();
    into.extend_from_slice(first);
    *from = rest;
}
