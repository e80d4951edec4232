//! Machine functions at rest, for those who keep them to look at later: all of them in a few flat lists, without the room
//! that passes need.

use crate::func::{Edges, MachBlock, MachFunc, MemRef, Note, RelocRef};
use crate::inst::MachInst;
use crate::reg::{Reg, RegClass, VReg};

/// Functions that can be had again.
#[derive(Clone, Debug, Default)]
pub struct Archive {
    funcs: Vec<Func>,
    names: String,
    blocks: Vec<Block>,
    insts: Vec<MachInst>,
    vregs: Vec<RegClass>,
    /// Of each function: tuples, edge arguments, parameters of its blocks.
    regs: Vec<VReg>,
    inputs: Vec<(VReg, Reg)>,
    notes: Vec<Note>,
    mems: Vec<MemRef>,
    relocs: Vec<RelocRef>,
}

/// How much of each list belongs to a function.
#[derive(Clone, Debug)]
struct Func {
    name: usize,
    blocks: usize,
    vregs: usize,
    tuples: usize,
    args: usize,
    inputs: usize,
    notes: usize,
    mems: usize,
    relocs: usize,
    /// What is no list.
    rest: MachFunc,
}

/// A block, and how much of each list belongs to it.
#[derive(Clone, Debug)]
struct Block {
    insts: usize,
    params: [usize; 2],
    prologue: u32,
    term: u32,
    linear: Edges,
    logical: Edges,
    depth: u8,
}

impl Archive {
    /// Takes down functions.
    pub fn of(funcs: &[MachFunc]) -> Archive {
        let mut archive = Archive::default();
        archive.reserve(funcs);
        funcs.iter().for_each(|func| archive.push(func));
        archive
    }

    /// Makes room for just these functions.
    fn reserve(&mut self, funcs: &[MachFunc]) {
        let all = |len: fn(&MachFunc) -> usize| funcs.iter().map(len).sum::<usize>();
        let each =
            |func: &MachFunc, len: fn(&MachBlock) -> usize| func.blocks.values().map(len).sum::<usize>();
        let in_blocks = |len| funcs.iter().map(|func| each(func, len)).sum::<usize>();
        self.funcs.reserve_exact(funcs.len());
        self.names.reserve_exact(all(|func| func.name.len()));
        self.blocks.reserve_exact(all(|func| func.blocks.len()));
        self.insts.reserve_exact(in_blocks(|block| block.insts.len()));
        self.vregs.reserve_exact(all(|func| func.vregs.len()));
        let params = in_blocks(|block| block.sgpr_params.len() + block.vgpr_params.len());
        self.regs.reserve_exact(params + all(|func| func.tuples.len() + func.args.len()));
        self.inputs.reserve_exact(all(|func| func.inputs.len()));
        self.notes.reserve_exact(all(|func| func.notes.len()));
        self.mems.reserve_exact(all(|func| func.mems.len()));
        self.relocs.reserve_exact(all(|func| func.relocs.len()));
    }

    fn push(&mut self, func: &MachFunc) {
        let MachFunc { abi, lds_size, scratch_size, kernarg_size, spilled, vgprs, sgprs, uses_vcc, .. } =
            *func;
        let lists = MachFunc::default();
        self.funcs.push(Func {
            name: func.name.len(),
            blocks: func.blocks.len(),
            vregs: func.vregs.len(),
            tuples: func.tuples.len(),
            args: func.args.len(),
            inputs: func.inputs.len(),
            notes: func.notes.len(),
            mems: func.mems.len(),
            relocs: func.relocs.len(),
            rest: MachFunc {
                abi,
                lds_size,
                scratch_size,
                kernarg_size,
                spilled,
                vgprs,
                sgprs,
                uses_vcc,
                ..lists
            },
        });
        self.names.push_str(&func.name);
        self.vregs.extend_from_slice(func.vregs.as_values_slice());
        self.regs.extend_from_slice(&func.tuples);
        self.regs.extend_from_slice(&func.args);
        self.inputs.extend_from_slice(&func.inputs);
        self.notes.extend_from_slice(&func.notes);
        self.mems.extend_from_slice(&func.mems);
        self.relocs.extend_from_slice(&func.relocs);
        for block in func.blocks.values() {
            let MachBlock { ref insts, ref sgpr_params, ref vgpr_params, .. } = *block;
            let MachBlock { prologue, term, linear, logical, depth, .. } = *block;
            let params = [sgpr_params.len(), vgpr_params.len()];
            self.blocks.push(Block { insts: insts.len(), params, prologue, term, linear, logical, depth });
            self.insts.extend_from_slice(insts);
            self.regs.extend_from_slice(sgpr_params);
            self.regs.extend_from_slice(vgpr_params);
        }
    }

    /// The functions, as they were.
    pub fn funcs(&self) -> Vec<MachFunc> {
        let mut names = self.names.as_str();
        let (mut blocks, mut insts, mut vregs) = (&*self.blocks, &*self.insts, &*self.vregs);
        let (mut regs, mut inputs) = (&*self.regs, &*self.inputs);
        let (mut notes, mut mems, mut relocs) = (&*self.notes, &*self.mems, &*self.relocs);
        let restored = self.funcs.iter().map(|saved| {
            let (name, rest) = names.split_at(saved.name);
            names = rest;
            let mut func = saved.rest.clone();
            func.name.push_str(name);
            func.vregs.extend(take(&mut vregs, saved.vregs).iter().copied());
            func.tuples = take(&mut regs, saved.tuples).to_vec();
            func.args = take(&mut regs, saved.args).to_vec();
            func.inputs = take(&mut inputs, saved.inputs).to_vec();
            func.notes = take(&mut notes, saved.notes).to_vec();
            func.mems = take(&mut mems, saved.mems).to_vec();
            func.relocs = take(&mut relocs, saved.relocs).to_vec();
            func.blocks.extend(take(&mut blocks, saved.blocks).iter().map(|saved| {
                let Block { prologue, term, linear, logical, depth, .. } = *saved;
                let insts = take(&mut insts, saved.insts).to_vec();
                let [sgpr_params, vgpr_params] = saved.params.map(|count| take(&mut regs, count).to_vec());
                MachBlock { insts, prologue, term, sgpr_params, vgpr_params, linear, logical, depth }
            }));
            func
        });
        restored.collect()
    }
}

/// Takes the first `count` items off a list.
fn take<'a, T>(list: &mut &'a [T], count: usize) -> &'a [T] {
    let (first, rest) = list.split_at(count);
    *list = rest;
    first
}
