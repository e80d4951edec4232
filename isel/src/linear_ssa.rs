//! Scalars whose definition dominates their uses for the lanes but not for the program counter.
//!
//! Lanes parked at a block can bring the program counter there without it having passed blocks that the lanes
//! of a later one all came through; a test of `exec` then keeps it from going on. So the scalar is never used
//! undefined, but the linear graph has paths to its use without definition. Here such scalars get block
//! parameters where those paths meet the others, with undefined arguments, so that all registers are in SSA
//! form over the linear graph.

use isa::{ArgRange, Edge, MBlock, MachBlock, MachFunc, MachInst, Operand, RegClass, VReg, op};
use rustc_hash::FxHashMap;

/// Repairs the function.
pub(crate) fn run(func: &mut MachFunc) {
    let preds = linear_preds(func);
    let bad = undefined_uses(func, &preds);
    for reg in bad {
        Repair { func, preds: &preds, reg, values: Vec::new() }.run();
    }
    split_critical(func);
}

fn linear_preds(func: &MachFunc) -> Vec<Vec<MBlock>> {
    let mut preds = vec![Vec::new(); func.blocks.len()];
    for (block, data) in func.blocks.iter() {
        for edge in data.linear.iter().flatten() {
            preds[edge.to.as_u32() as usize].push(block);
        }
    }
    preds
}

fn index(block: MBlock) -> usize {
    block.as_u32() as usize
}

/// Set of registers.
#[derive(Clone, PartialEq)]
struct Set(Vec<u64>);

impl Set {
    fn insert(&mut self, reg: VReg) {
        self.0[reg.as_u32() as usize / 64] |= 1 << (reg.as_u32() % 64);
    }

    fn contains(&self, reg: VReg) -> bool {
        self.0[reg.as_u32() as usize / 64] >> (reg.as_u32() % 64) & 1 != 0
    }
}

/// Whether operand `n` is written.
fn is_def(inst: &MachInst, n: usize) -> bool {
    match inst.op.row().ops.get(n) {
        Some(spec) => spec.role == isa::table::Role::Def,
        None => n == 0 && (inst.op == op::COPY || inst.op == op::UNDEF),
    }
}

/// Calls `f` for each virtual register: operand number, register, whether it is written.
fn registers(func: &MachFunc, inst: &MachInst, mut f: impl FnMut(usize, VReg, bool)) {
    for (n, &operand) in inst.operands().iter().enumerate() {
        if let Operand::Virt(tuple) = operand {
            for &reg in func.regs(tuple) {
                f(n, reg, is_def(inst, n));
            }
        }
    }
}

/// Scalar registers with a use that some path reaches without a definition, in ascending order.
fn undefined_uses(func: &MachFunc, preds: &[Vec<MBlock>]) -> Vec<VReg> {
    let words = func.vregs.len().div_ceil(64);
    let mut gens = vec![Set(vec![0; words]); func.blocks.len()];
    for (block, data) in func.blocks.iter() {
        let set = &mut gens[index(block)];
        data.sgpr_params.iter().for_each(|&reg| set.insert(reg));
        for inst in &data.insts {
            registers(func, inst, |_, reg, def| {
                if def {
                    set.insert(reg);
                }
            });
        }
    }
    func.inputs.iter().for_each(|&(reg, _)| gens[0].insert(reg));
    let mut starts = vec![Set(vec![!0; words]); func.blocks.len()];
    starts[0] = Set(vec![0; words]);
    let mut changed = true;
    while changed {
        changed = false;
        for block in func.blocks.keys().skip(1) {
            let mut all = Set(vec![!0; words]);
            for &pred in &preds[index(block)] {
                for n in 0..words {
                    all.0[n] &= starts[index(pred)].0[n] | gens[index(pred)].0[n];
                }
            }
            changed |= all != starts[index(block)];
            starts[index(block)] = all;
        }
    }
    let mut bad = Vec::new();
    for (block, data) in func.blocks.iter() {
        let mut here = starts[index(block)].clone();
        data.sgpr_params.iter().for_each(|&reg| here.insert(reg));
        if block.as_u32() == 0 {
            func.inputs.iter().for_each(|&(reg, _)| here.insert(reg));
        }
        let mut check = |reg: VReg, here: &Set| {
            if func.vregs[reg] == RegClass::Sgpr && !here.contains(reg) {
                bad.push(reg);
            }
        };
        for inst in &data.insts {
            registers(func, inst, |_, reg, def| {
                if !def {
                    check(reg, &here);
                }
            });
            registers(func, inst, |_, reg, def| {
                if def {
                    here.insert(reg);
                }
            });
        }
        for edge in data.linear.iter().flatten() {
            func.edge_args(edge).iter().for_each(|&reg| check(reg, &here));
        }
    }
    bad.sort_unstable();
    bad.dedup();
    bad
}

/// What holds a scalar at the beginning and the end of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Reaching {
    start: Option<VReg>,
    end: Option<VReg>,
}

struct Repair<'a> {
    func: &'a mut MachFunc,
    preds: &'a [Vec<MBlock>],
    reg: VReg,
    values: Vec<Reaching>,
}

impl Repair<'_> {
    fn run(mut self) {
        let live = self.live_at_start();
        let (home, params) = self.place_params(&live);
        self.rewrite(home);
        self.pass_arguments(&params);
    }

    /// The block that defines the register, and blocks at whose beginning it is live.
    fn live_at_start(&self) -> (MBlock, Vec<bool>) {
        let func = &*self.func;
        let mut home = MBlock::from_u32(0);
        let mut live = vec![false; func.blocks.len()];
        let mut work = Vec::new();
        for (block, data) in func.blocks.iter() {
            let (mut used, mut defined) = (false, data.sgpr_params.contains(&self.reg));
            for inst in &data.insts {
                registers(func, inst, |_, reg, def| {
                    used |= reg == self.reg && !def && !defined;
                    defined |= reg == self.reg && def;
                });
            }
            let passed = data.linear.iter().flatten().any(|edge| func.edge_args(edge).contains(&self.reg));
            if defined {
                home = block;
            } else if used || passed {
                work.push(block);
            }
        }
        while let Some(block) = work.pop() {
            if block == home || std::mem::replace(&mut live[index(block)], true) {
                continue;
            }
            work.extend(&self.preds[index(block)]);
        }
        (home, live)
    }

    /// Gives every block where different values meet a parameter.
    fn place_params(&mut self, (home, live): &(MBlock, Vec<bool>)) -> (MBlock, Vec<(MBlock, VReg)>) {
        let count = self.func.blocks.len();
        let mut params: FxHashMap<MBlock, VReg> = FxHashMap::default();
        self.values.resize(count, Reaching::default());
        let mut changed = true;
        while changed {
            changed = false;
            for block in self.func.blocks.keys() {
                let mut value = params.get(&block).copied();
                if live[index(block)] && value.is_none() {
                    let preds = &self.preds[index(block)];
                    value = preds.first().and_then(|&p| self.values[index(p)].end);
                    if preds.iter().any(|&p| self.values[index(p)].end != value) {
                        let param = self.func.vregs.push(RegClass::Sgpr);
                        params.insert(block, param);
                        value = Some(param);
                    }
                }
                let end = if block == *home { Some(self.reg) } else { value };
                let new = Reaching { start: value, end };
                changed |= new != self.values[index(block)];
                self.values[index(block)] = new;
            }
        }
        let mut params: Vec<(MBlock, VReg)> = params.into_iter().collect();
        params.sort_unstable();
        for &(block, param) in &params {
            self.func.blocks[block].sgpr_params.push(param);
        }
        (*home, params)
    }

    /// Makes uses read what reaches them.
    fn rewrite(&mut self, home: MBlock) {
        let blocks: Vec<MBlock> = self.func.blocks.keys().filter(|&block| block != home).collect();
        for block in blocks {
            let Some(to) = self.values[index(block)].start.filter(|&to| to != self.reg) else { continue };
            for n in 0..self.func.blocks[block].insts.len() {
                let mut inst = self.func.blocks[block].insts[n];
                let mut which = Vec::new();
                registers(self.func, &inst, |operand, reg, def| {
                    if reg == self.reg && !def {
                        which.push(operand);
                    }
                });
                for operand in which {
                    let Operand::Virt(tuple) = inst.ops[operand] else { continue };
                    let from = self.reg;
                    let regs: Vec<VReg> =
                        self.func.regs(tuple).iter().map(|&reg| if reg == from { to } else { reg }).collect();
                    inst.ops[operand] = self.func.tuple(&regs);
                }
                self.func.blocks[block].insts[n] = inst;
            }
            for edge in self.func.blocks[block].linear.into_iter().flatten() {
                let range = edge.args.start as usize..(edge.args.start + edge.args.len) as usize;
                for reg in &mut self.func.args[range] {
                    if *reg == self.reg {
                        *reg = to;
                    }
                }
            }
        }
    }

    /// Adds the arguments of the new parameters.
    fn pass_arguments(&mut self, params: &[(MBlock, VReg)]) {
        for &(block, _) in params {
            let mut preds = self.preds[index(block)].clone();
            preds.dedup();
            for pred in preds {
                let arg = match self.values[index(pred)].end {
                    Some(arg) => arg,
                    None => undefined(self.func, pred),
                };
                for k in 0..2 {
                    if let Some(edge) = self.func.blocks[pred].linear[k]
                        && edge.to == block
                    {
                        let mut args = self.func.edge_args(&edge).to_vec();
                        args.push(arg);
                        let args = self.func.arg_range(&args);
                        self.func.blocks[pred].linear[k] = Some(Edge { to: block, args });
                    }
                }
            }
        }
    }
}

/// A scalar without value at the end of the block.
fn undefined(func: &mut MachFunc, block: MBlock) -> VReg {
    let reg = func.vregs.push(RegClass::Sgpr);
    let operand = func.tuple(&[reg]);
    let data = &mut func.blocks[block];
    data.insts.insert(data.term as usize, MachInst::new(op::UNDEF, &[operand]));
    data.term += 1;
    reg
}

/// Puts blocks on critical edges that carry arguments now.
fn split_critical(func: &mut MachFunc) {
    let preds = linear_preds(func);
    let blocks: Vec<MBlock> = func.blocks.keys().collect();
    for block in blocks {
        let data = &func.blocks[block];
        if data.linear.iter().flatten().count() < 2 {
            continue;
        }
        for k in 0..2 {
            let Some(edge) = func.blocks[block].linear[k] else { continue };
            if edge.args.len > 0 && preds[index(edge.to)].len() > 1 {
                split(func, block, k, edge);
            }
        }
    }
}

fn split(func: &mut MachFunc, block: MBlock, k: usize, edge: Edge) {
    let depth = func.blocks[edge.to].depth;
    let mut between = MachBlock { depth, ..MachBlock::default() };
    between.insts.push(MachInst::new(op::S_BRANCH, &[Operand::Block(edge.to)]));
    between.linear[0] = Some(edge);
    let between = func.blocks.push(between);
    let data = &mut func.blocks[block];
    data.linear[k] = Some(Edge { to: between, args: ArgRange::default() });
    let mut jumps = false;
    for inst in &mut data.insts[data.term as usize..] {
        for operand in inst.operands_mut() {
            if *operand == Operand::Block(edge.to) {
                *operand = Operand::Block(between);
                jumps = true;
            }
        }
    }
    // The edge was the way on to the next block.
    if !jumps {
        data.insts.push(MachInst::new(op::S_BRANCH, &[Operand::Block(between)]));
    }
}
