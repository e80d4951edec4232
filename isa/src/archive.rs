//! Machine functions at rest, for those who keep them to look at later: all of them in two flat lists, without the room
//! that passes need.

use crate::func::{Edges, MachBlock, MachFunc, MemRef, Note, RelocRef};
use crate::inst::MachInst;
use crate::reg::{Reg, RegClass, VReg};
use smol_str::SmolStr;

/// Functions that can be had again.
#[derive(Clone, Debug, Default)]
pub struct Archive {
    /// The functions without names and lists.
    bare: Vec<MachFunc>,
    /// What is in the functions, each part behind the function and block it belongs to.
    parts: Vec<Part>,
    /// Of each function the classes of its registers, tuples and edge arguments, of each of its blocks parameters.
    numbers: Vec<u32>,
}

/// A part of a function.
#[derive(Clone, Debug)]
enum Part {
    Func(Func),
    Input(VReg, Reg),
    Note(Note),
    Mem(MemRef),
    Reloc(RelocRef),
    Block(Block),
    Inst(MachInst),
}

/// A function, but for its lists.
#[derive(Clone, Debug)]
struct Func {
    name: SmolStr,
    /// How many of the numbers are classes, tuples, edge arguments.
    regs: [u32; 3],
}

/// A block, but for its lists.
#[derive(Clone, Debug)]
struct Block {
    /// How many of the numbers are parameters.
    params: [u32; 2],
    prologue: u32,
    term: u32,
    linear: Edges,
    logical: Edges,
    depth: u8,
}

impl Archive {
    /// Takes down functions.
    pub fn of(funcs: &[MachFunc]) -> Archive {
        let all = |len: fn(&MachFunc) -> usize| funcs.iter().map(len).sum::<usize>();
        let each = |len: fn(&MachBlock) -> usize| {
            funcs.iter().flat_map(|func| func.blocks.values()).map(len).sum::<usize>()
        };
        let lists = |func: &MachFunc| {
            1 + func.inputs.len() + func.notes.len() + func.mems.len() + func.relocs.len() + func.blocks.len()
        };
        let regs = |func: &MachFunc| func.vregs.len() + func.tuples.len() + func.args.len();
        let params = |block: &MachBlock| block.sgpr_params.len() + block.vgpr_params.len();
        let mut archive = Archive {
            bare: funcs.iter().map(MachFunc::bare).collect(),
            parts: Vec::with_capacity(all(lists) + each(|block| block.insts.len())),
            numbers: Vec::with_capacity(all(regs) + each(params)),
        };
        funcs.iter().for_each(|func| archive.push(func));
        archive
    }

    fn push(&mut self, func: &MachFunc) {
        let name = func.name.as_str().into();
        let regs = [func.vregs.len(), func.tuples.len(), func.args.len()].map(|len| len as u32);
        self.parts.push(Part::Func(Func { name, regs }));
        self.numbers.extend(func.vregs.values().map(|&class| class as u32));
        self.push_regs(&func.tuples);
        self.push_regs(&func.args);
        self.parts.extend(func.inputs.iter().map(|&(vreg, reg)| Part::Input(vreg, reg)));
        self.parts.extend(func.notes.iter().cloned().map(Part::Note));
        self.parts.extend(func.mems.iter().copied().map(Part::Mem));
        self.parts.extend(func.relocs.iter().copied().map(Part::Reloc));
        for block in func.blocks.values() {
            let MachBlock { prologue, term, linear, logical, depth, .. } = *block;
            let params = [&block.sgpr_params, &block.vgpr_params].map(|list| list.len() as u32);
            self.parts.push(Part::Block(Block { params, prologue, term, linear, logical, depth }));
            self.parts.extend(block.insts.iter().copied().map(Part::Inst));
            self.push_regs(&block.sgpr_params);
            self.push_regs(&block.vgpr_params);
        }
    }

    fn push_regs(&mut self, regs: &[VReg]) {
        self.numbers.extend(regs.iter().map(|reg| reg.as_u32()));
    }

    /// The functions, as they were.
    pub fn funcs(&self) -> Vec<MachFunc> {
        let mut funcs: Vec<MachFunc> = Vec::new();
        let mut bare = self.bare.iter();
        let mut numbers = &*self.numbers;
        for part in &self.parts {
            if let Part::Func(saved) = part {
                funcs.extend(bare.next().map(|bare| saved.restore(bare, &mut numbers)));
            }
            let Some(func) = funcs.last_mut() else { continue };
            match part {
                Part::Func(_) => {}
                Part::Input(vreg, reg) => func.inputs.push((*vreg, *reg)),
                Part::Note(note) => func.notes.push(note.clone()),
                Part::Mem(mem) => func.mems.push(*mem),
                Part::Reloc(reloc) => func.relocs.push(*reloc),
                Part::Block(saved) => _ = func.blocks.push(saved.restore(&mut numbers)),
                Part::Inst(inst) => {
                    func.blocks.values_mut().last().into_iter().for_each(|block| block.insts.push(*inst))
                }
            }
        }
        funcs
    }
}

impl Func {
    /// The function without what lies behind it, and its share of the numbers.
    fn restore(&self, bare: &MachFunc, numbers: &mut &[u32]) -> MachFunc {
        let [classes, tuples, args] = self.regs;
        let class = |&number| if number == RegClass::Sgpr as u32 { RegClass::Sgpr } else { RegClass::Vgpr };
        MachFunc {
            name: self.name.to_string(),
            vregs: take(numbers, classes).iter().map(class).collect(),
            tuples: take_regs(numbers, tuples),
            args: take_regs(numbers, args),
            ..bare.bare()
        }
    }
}

impl Block {
    /// The block without instructions, and its share of the numbers.
    fn restore(&self, numbers: &mut &[u32]) -> MachBlock {
        let Block { prologue, term, linear, logical, depth, .. } = *self;
        let [sgpr_params, vgpr_params] = self.params.map(|count| take_regs(numbers, count));
        MachBlock { insts: Vec::new(), prologue, term, sgpr_params, vgpr_params, linear, logical, depth }
    }
}

/// Takes the first `count` numbers off a list.
fn take<'a>(numbers: &mut &'a [u32], count: u32) -> &'a [u32] {
    let (first, rest) = numbers.split_at(count as usize);
    *numbers = rest;
    first
}

fn take_regs(numbers: &mut &[u32], count: u32) -> Vec<VReg> {
    take(numbers, count).iter().map(|&number| VReg::from_u32(number)).collect()
}
