//! Repairs scalars whose definition dominates their uses in the logical graph, but not in the linear graph.
//!
//! The logical graph has the paths of a lane, and the linear graph has the paths of the program counter. If
//! lanes are parked at a block, the program counter can reach this block without passing through a definition
//! that these lanes have passed. So in the linear graph there are paths to a use of a scalar on which the
//! scalar has no value. No lane depends on this value: on such a path, either a test of `exec` skips the use,
//! or no lane is active for which the use has an effect.
//!
//! This pass adds block parameters for such scalars where these paths join other paths, with zeros as
//! arguments. Afterwards all scalar registers are in SSA form over the linear graph, and control flow never
//! depends on the accidental contents of a register.

use crate::graph::Graph;
use isa::{MBlock, MachInst, Operand, RegClass, Role, Tuple, VReg, op};
use mir::{ArgRange, Edge, MachBlock, MachFunc};

/// Repairs a function.
pub(crate) fn run(func: &mut MachFunc) {
    let graph = Graph::new(func, RegClass::Sgpr);
    let homes = homes(func);
    let uses = undefined_uses(func, &graph, &homes);
    let mut values = vec![Reaching::default(); func.blocks.len()];
    for uses in uses.chunk_by(|a, b| a.0 == b.0) {
        let reg = uses[0].0;
        let home = homes[reg.as_u32() as usize].unwrap_or(MBlock::from_u32(0));
        Repair { func, graph: &graph, reg, home, values: &mut values, region: Vec::new() }.run(uses);
    }
    split_critical(func, &graph);
}

fn index(block: MBlock) -> usize {
    block.as_u32() as usize
}

/// Calls `f` for each virtual register of an instruction, with the operand number, the register, and whether
/// the instruction writes the register.
fn registers(func: &MachFunc, inst: &MachInst, mut f: impl FnMut(usize, VReg, bool)) {
    for (n, &operand) in inst.operands().iter().enumerate() {
        if let Operand::Virt(tuple) = operand {
            let def = inst.role(n) == Role::Def;
            for &reg in func.regs(tuple) {
                f(n, reg, def);
            }
        }
    }
}

/// Returns the block that defines each scalar register.
fn homes(func: &MachFunc) -> Vec<Option<MBlock>> {
    let mut homes = vec![None; func.vregs.len()];
    for &(reg, _) in &func.inputs {
        homes[reg.as_u32() as usize] = Some(MBlock::from_u32(0));
    }
    for (block, data) in func.blocks.iter() {
        data.sgpr_params.iter().for_each(|reg| homes[reg.as_u32() as usize] = Some(block));
        for inst in &data.insts {
            registers(func, inst, |_, reg, def| {
                if def {
                    homes[reg.as_u32() as usize] = Some(block);
                }
            });
        }
    }
    homes
}

/// Calls `f` for each scalar register that a block uses but does not define. `f` gets the register, the
/// block, and the block that defines the register.
fn outside_uses(func: &MachFunc, homes: &[Option<MBlock>], mut f: impl FnMut(VReg, MBlock, Option<MBlock>)) {
    for (block, data) in func.blocks.iter() {
        let mut visit = |reg: VReg| {
            let home = homes[reg.as_u32() as usize];
            if func.vregs[reg] == RegClass::Sgpr && home != Some(block) {
                f(reg, block, home);
            }
        };
        for inst in &data.insts {
            registers(func, inst, |_, reg, def| {
                if !def {
                    visit(reg);
                }
            });
        }
        data.linear.iter().flatten().for_each(|edge| func.edge_args(edge).iter().for_each(|&reg| visit(reg)));
    }
}

/// Finds the scalar registers whose definition does not dominate all their uses in the linear graph. Returns
/// the uses of these registers in other blocks, as a sorted list of registers and blocks.
fn undefined_uses(func: &MachFunc, graph: &Graph, homes: &[Option<MBlock>]) -> Vec<(VReg, MBlock)> {
    let mut bad = vec![false; func.vregs.len()];
    outside_uses(func, homes, |reg, block, home| {
        bad[reg.as_u32() as usize] |= !home.is_some_and(|home| graph.dominates(home, block));
    });
    let mut uses = Vec::new();
    outside_uses(func, homes, |reg, block, _| {
        if bad[reg.as_u32() as usize] {
            uses.push((reg, block));
        }
    });
    uses.sort_unstable();
    uses.dedup();
    uses
}

/// What is known about a scalar in one block: the registers that hold its current value at the entry and at
/// the end of the block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Reaching {
    /// Whether the block has been visited.
    known: bool,
    /// Whether the block has a parameter for the scalar.
    param: bool,
    start: Option<VReg>,
    end: Option<VReg>,
}

struct Repair<'a> {
    func: &'a mut MachFunc,
    graph: &'a Graph,
    reg: VReg,
    /// Block that defines the register.
    home: MBlock,
    /// For each block, which registers hold the scalar there. Blocks outside of the region have default
    /// values, except the block that defines the register.
    values: &'a mut [Reaching],
    /// Blocks at whose entry the scalar is live, in reverse postorder.
    region: Vec<MBlock>,
}

impl Repair<'_> {
    fn run(mut self, uses: &[(VReg, MBlock)]) {
        self.find_region(uses);
        self.place_params();
        for &(_, block) in uses {
            self.rewrite(block);
        }
        self.pass_arguments();
        for &block in self.region.iter().chain([&self.home]) {
            self.values[index(block)] = Reaching::default();
        }
    }

    fn find_region(&mut self, uses: &[(VReg, MBlock)]) {
        let mut work: Vec<MBlock> = uses.iter().map(|&(_, block)| block).collect();
        while let Some(block) = work.pop() {
            if block != self.home && !std::mem::replace(&mut self.values[index(block)].known, true) {
                self.region.push(block);
                work.extend_from_slice(self.graph.preds(block));
            }
        }
        self.region.sort_unstable_by_key(|&block| self.graph.position(block));
        for &block in &self.region {
            self.values[index(block)] = Reaching::default();
        }
    }

    /// Adds a block parameter for the scalar to every block at which different values of the scalar meet.
    fn place_params(&mut self) {
        let reg = Some(self.reg);
        self.values[index(self.home)] = Reaching { known: true, param: false, start: None, end: reg };
        let mut changed = true;
        while changed {
            changed = false;
            for &block in &self.region {
                let old = self.values[index(block)];
                if old.param {
                    continue;
                }
                let mut arriving = self
                    .graph
                    .preds(block)
                    .iter()
                    .map(|&p| self.values[index(p)])
                    .filter(|value| value.known);
                let first = arriving.next().and_then(|value| value.end);
                let param = arriving.any(|value| value.end != first);
                let value = if param { Some(self.func.vregs.push(RegClass::Sgpr)) } else { first };
                let new = Reaching { known: true, param, start: value, end: value };
                changed |= new != old;
                self.values[index(block)] = new;
            }
        }
    }

    /// Replaces the scalar by the register that holds its value at the entry of the block, in all
    /// instructions of the block.
    fn rewrite(&mut self, block: MBlock) {
        let from = self.reg;
        let Some(to) = self.values[index(block)].start else { return };
        for n in 0..self.func.blocks[block].insts.len() {
            let mut inst = self.func.blocks[block].insts[n];
            let mut which = [false; isa::inst::MAX_OPERANDS];
            registers(self.func, &inst, |operand, reg, def| which[operand] |= reg == from && !def);
            for (operand, _) in which.iter().enumerate().filter(|(_, uses)| **uses) {
                let Operand::Virt(tuple) = inst.ops[operand] else { continue };
                let start = self.func.tuples.len();
                self.func
                    .tuples
                    .extend_from_within(tuple.start as usize..tuple.start as usize + usize::from(tuple.len));
                self.func.tuples[start..].iter_mut().filter(|reg| **reg == from).for_each(|reg| *reg = to);
                inst.ops[operand] = Operand::Virt(Tuple { start: start as u32, len: tuple.len });
            }
            self.func.blocks[block].insts[n] = inst;
        }
        for edge in self.func.blocks[block].linear.into_iter().flatten() {
            let range = edge.args.start as usize..(edge.args.start + edge.args.len) as usize;
            self.func.args[range].iter_mut().filter(|reg| **reg == from).for_each(|reg| *reg = to);
        }
    }

    /// Adds the new parameters to the lists of their blocks, and the matching arguments to the edges of the
    /// predecessors.
    fn pass_arguments(&mut self) {
        for n in 0..self.region.len() {
            let block = self.region[n];
            let Reaching { param: true, start: Some(param), .. } = self.values[index(block)] else {
                continue;
            };
            self.func.blocks[block].sgpr_params.push(param);
            let preds = self.graph.preds(block);
            for (n, &pred) in preds.iter().enumerate() {
                if n > 0 && preds[n - 1] == pred {
                    continue;
                }
                let arg = match self.values[index(pred)].end {
                    Some(arg) => arg,
                    None => zero(self.func, pred),
                };
                for k in 0..2 {
                    if let Some(edge) = self.func.blocks[pred].linear[k]
                        && edge.to == block
                    {
                        let start = self.func.args.len();
                        let old = edge.args.start as usize..(edge.args.start + edge.args.len) as usize;
                        self.func.args.extend_from_within(old);
                        self.func.args.push(arg);
                        let args = ArgRange { start: start as u32, len: edge.args.len + 1 };
                        self.func.blocks[pred].linear[k] = Some(Edge { to: block, args });
                    }
                }
            }
        }
    }
}

/// Creates a scalar register with the value zero, defined at the end of `block`, for an edge on which the
/// scalar is undefined.
fn zero(func: &mut MachFunc, block: MBlock) -> VReg {
    let reg = func.vregs.push(RegClass::Sgpr);
    let operand = func.tuple(&[reg]);
    let data = &mut func.blocks[block];
    data.insts.insert(data.term as usize, MachInst::new(op::COPY, &[operand, Operand::int(0)]));
    data.term += 1;
    reg
}

/// Splits critical edges to which arguments have been added.
fn split_critical(func: &mut MachFunc, graph: &Graph) {
    let blocks: Vec<MBlock> = func.blocks.keys().collect();
    for block in blocks {
        let data = &func.blocks[block];
        if data.linear.iter().flatten().count() < 2 {
            continue;
        }
        for k in 0..2 {
            let Some(edge) = func.blocks[block].linear[k] else { continue };
            if edge.args.len > 0 && graph.preds(edge.to).len() > 1 {
                split(func, block, k, edge);
            }
        }
    }
}

fn split(func: &mut MachFunc, block: MBlock, k: usize, edge: Edge) {
    let depth = func.blocks[edge.to].depth;
    let insts = func.spare.insts(&[MachInst::new(op::S_BRANCH, &[Operand::Block(edge.to)])]);
    let linear = [Some(edge), None];
    let between = func.blocks.push(MachBlock { insts, linear, depth, ..MachBlock::default() });
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
    // The edge that is split had no branch, because its target was the next block in the layout. The new
    // block is elsewhere, so a branch is added.
    if !jumps {
        data.insts.push(MachInst::new(op::S_BRANCH, &[Operand::Block(between)]));
    }
}
