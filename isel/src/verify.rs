//! Invariants of what selection hands out.
//!
//! * A virtual register has one definition: an instruction, a block parameter or an input. An instruction that modifies it in
//!   place (`isa::Role::DefUse`) comes behind that, in front of all other uses.
//! * A use is reached by its definition on every path: SGPRs on the linear graph, VGPRs on the logical one.
//! * A lane mask that sets `exec` in front of a block has a value on every path of the program counter, not only
//!   where some block with lanes defines it: else lanes would be lost or made up.
//! * Operands are what the instruction's row and the processor allow (`isa::legal`); from `legalize` on.
//! * An edge passes as many arguments as its target has parameters of that class, and of that class; an edge
//!   with arguments is not critical.
//! * `prologue <= term <= insts.len()`; branches are in the terminator group, which ends where linear edges say.

use crate::graph::Graph;
use isa::legal::Illegal;
use isa::table::{Flags, Role};
use isa::{MBlock, MachFunc, MachInst, Operand, RegClass, Subtarget, VReg};

/// Checks a function; the errors name block and instruction. Takes time linear in the size of the function, but for
/// dominators, which take a second round over irreducible control flow.
pub fn verify(func: &MachFunc, target: &Subtarget) -> Result<(), Vec<String>> {
    run(func, target, true)
}

/// [`verify`] in front of `legalize`: what the processor can encode is not asked yet.
pub fn verify_selected(func: &MachFunc, target: &Subtarget) -> Result<(), Vec<String>> {
    run(func, target, false)
}

fn run(func: &MachFunc, target: &Subtarget, legal: bool) -> Result<(), Vec<String>> {
    let mut check = Check {
        func,
        target,
        legal,
        defs: Vec::new(),
        graphs: [Graph::new(func, RegClass::Sgpr), Graph::new(func, RegClass::Vgpr)],
        errors: Vec::new(),
    };
    check.single_definitions();
    for block in func.blocks.keys() {
        check.shape(block);
        check.edges(block);
        for (n, inst) in func.blocks[block].insts.iter().enumerate() {
            check.inst(block, n, inst);
        }
        check.uses(block);
    }
    check.lanes();
    if check.errors.is_empty() { Ok(()) } else { Err(check.errors) }
}

/// The machine function as text, for tests and dumps.
pub fn dump(func: &MachFunc, target: &Subtarget) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    let names = |regs: &[VReg]| regs.iter().map(|r| format!("{r}")).collect::<Vec<_>>().join(" ");
    for (block, data) in func.blocks.iter() {
        let _ = writeln!(out, "{block}: s({}) v({})", names(&data.sgpr_params), names(&data.vgpr_params));
        for (n, inst) in data.insts.iter().enumerate() {
            let mark = match n as u32 {
                n if n < data.prologue => '>',
                n if n >= data.term => '<',
                _ => ' ',
            };
            let _ = write!(out, " {mark} ");
            isa::print::write_inst(target, inst, Some(func), &mut out);
            out.push('\n');
        }
        for (name, edges) in [("linear", &data.linear), ("logical", &data.logical)] {
            for edge in edges.iter().flatten() {
                let _ = writeln!(out, "   ; {name} -> {} ({})", edge.to, names(func.edge_args(edge)));
            }
        }
    }
    out
}

struct Check<'a> {
    func: &'a MachFunc,
    target: &'a Subtarget,
    /// Operands have been made legal.
    legal: bool,
    /// Where each register is defined: block, and one more than the number of the instruction.
    defs: Vec<Option<(MBlock, u32)>>,
    /// The graphs on which SGPRs and VGPRs live.
    graphs: [Graph; 2],
    errors: Vec<String>,
}

impl Check<'_> {
    fn error(&mut self, block: MBlock, n: usize, what: &str) {
        let text = match self.func.blocks[block].insts.get(n) {
            Some(inst) => {
                let mut text = String::new();
                isa::print::write_inst(self.target, inst, Some(self.func), &mut text);
                text
            }
            None => String::new(),
        };
        self.errors.push(format!("{block}.{n} `{text}`: {what}"));
    }

    fn single_definitions(&mut self) {
        let func = self.func;
        self.defs = vec![None; func.vregs.len()];
        for &(reg, _) in &func.inputs {
            self.define(reg, MBlock::from_u32(0), 0);
        }
        for (block, data) in func.blocks.iter() {
            for &reg in data.sgpr_params.iter().chain(&data.vgpr_params) {
                self.define(reg, block, 0);
            }
            for (n, inst) in (1..).zip(&data.insts) {
                inst.for_each_reg(|role, operand| {
                    if let Operand::Virt(tuple) = operand
                        && role == Role::Def
                    {
                        func.regs(tuple).iter().for_each(|&reg| self.define(reg, block, n));
                    }
                });
            }
        }
    }

    fn define(&mut self, reg: VReg, block: MBlock, at: u32) {
        if self.defs[reg.as_u32() as usize].replace((block, at)).is_some() {
            self.errors.push(format!("{reg} is defined twice"));
        }
    }

    /// Every use comes behind its definition on all paths of the graph of the register's class.
    fn uses(&mut self, block: MBlock) {
        let func = self.func;
        let data = &func.blocks[block];
        for (n, inst) in data.insts.iter().enumerate() {
            let mut missing = None;
            inst.for_each_reg(|role, operand| {
                if let Operand::Virt(tuple) = operand
                    && role != Role::Def
                {
                    missing = missing.or(func
                        .regs(tuple)
                        .iter()
                        .copied()
                        .find(|&reg| !self.is_there(reg, block, n)));
                }
            });
            if let Some(reg) = missing {
                self.error(block, n, &format!("{reg} may be undefined"));
            }
        }
        for edge in data.linear.iter().chain(&data.logical).flatten() {
            let missing =
                func.edge_args(edge).iter().find(|&&reg| !self.is_there(reg, block, data.insts.len()));
            if let Some(reg) = missing {
                self.error(block, usize::MAX, &format!("argument {reg} for {} may be undefined", edge.to));
            }
        }
    }

    /// Whether a register has its value in front of an instruction.
    fn is_there(&self, reg: VReg, block: MBlock, n: usize) -> bool {
        let graph = &self.graphs[usize::from(self.func.vregs[reg] == RegClass::Vgpr)];
        match self.defs[reg.as_u32() as usize] {
            Some((home, at)) if home == block => at as usize <= n,
            Some((home, _)) => graph.dominates(home, block),
            None => graph.position(block).is_none(),
        }
    }

    /// The lanes that an entry wakes are known: the first operand that is not `exec`. A second is the condition by
    /// which some of them stay away; where no lanes come, that one may be anything.
    fn lanes(&mut self) {
        let made_up = self.made_up();
        let func = self.func;
        for (block, data) in func.blocks.iter() {
            for (n, inst) in data.insts.iter().enumerate().take(data.prologue as usize) {
                let mut sources = inst.operands().iter().skip(1);
                let Some(&Operand::Virt(mask)) = sources.find(|source| matches!(source, Operand::Virt(_)))
                else {
                    continue;
                };
                if let Some(reg) = func.regs(mask).iter().find(|reg| made_up[reg.as_u32() as usize]) {
                    self.error(block, n, &format!("some path brings no lanes in {reg}"));
                }
            }
        }
    }

    /// Scalars that have no value on some path: `undef`, and parameters that one is passed to.
    fn made_up(&self) -> Vec<bool> {
        let func = self.func;
        let mut made_up = vec![false; func.vregs.len()];
        let mut passed: Vec<(VReg, VReg)> = Vec::new();
        let mut open: Vec<VReg> = Vec::new();
        for data in func.blocks.values() {
            for edge in data.linear.iter().flatten() {
                let params = &func.blocks[edge.to].sgpr_params;
                passed.extend(func.edge_args(edge).iter().copied().zip(params.iter().copied()));
            }
            for inst in data.insts.iter().filter(|inst| inst.op == isa::op::UNDEF) {
                if let Some(&Operand::Virt(tuple)) = inst.operands().first() {
                    open.extend_from_slice(func.regs(tuple));
                }
            }
        }
        passed.sort_unstable();
        while let Some(reg) = open.pop() {
            if !std::mem::replace(&mut made_up[reg.as_u32() as usize], true) {
                let first = passed.partition_point(|&(arg, _)| arg < reg);
                open.extend(passed[first..].iter().take_while(|&&(arg, _)| arg == reg).map(|&(_, to)| to));
            }
        }
        made_up
    }

    fn shape(&mut self, block: MBlock) {
        let data = &self.func.blocks[block];
        if data.prologue > data.term || data.term as usize > data.insts.len() {
            self.error(block, 0, "prologue and terminator group overlap");
        }
        for (n, inst) in data.insts.iter().enumerate() {
            if inst.op.row().flags.contains(Flags::BRANCH) && (n as u32) < data.term {
                self.error(block, n, "branch outside the terminator group");
            }
        }
        let mut targets: Vec<MBlock> = Vec::new();
        let mut falls = true;
        for inst in &data.insts[data.term.min(data.insts.len() as u32) as usize..] {
            targets.extend(inst.operands().iter().filter_map(|o| match o {
                Operand::Block(to) => Some(*to),
                _ => None,
            }));
            falls &= !inst.op.row().flags.contains(Flags::NO_FALLTHROUGH);
        }
        let next = MBlock::from_u32(block.as_u32() + 1);
        match data.next_entry() {
            Some(entry) if entry != next => {
                self.error(block, data.insts.len(), "the next entry is elsewhere")
            }
            Some(entry) => targets.push(entry),
            None if falls => targets.push(next),
            None => {}
        }
        targets.sort_unstable();
        targets.dedup();
        let mut edges: Vec<MBlock> = data.linear.iter().flatten().map(|edge| edge.to).collect();
        edges.sort_unstable();
        edges.dedup();
        if targets != edges {
            self.error(
                block,
                data.insts.len(),
                &format!("branches to {targets:?}, linear edges to {edges:?}"),
            );
        }
    }

    fn edges(&mut self, block: MBlock) {
        let func = self.func;
        let data = &func.blocks[block];
        for (edges, class) in [(&data.linear, RegClass::Sgpr), (&data.logical, RegClass::Vgpr)] {
            for edge in edges.iter().flatten() {
                let params = params(func, edge.to, class);
                let args = func.edge_args(edge);
                if args.len() != params.len() {
                    self.error(
                        block,
                        data.insts.len(),
                        &format!("edge to {}: wrong number of arguments", edge.to),
                    );
                }
                if args.iter().any(|&reg| func.vregs[reg] != class) {
                    self.error(block, data.insts.len(), &format!("edge to {}: wrong class", edge.to));
                }
                if !args.is_empty() && edges.iter().flatten().count() == 2 && self.preds(edge.to, class) > 1 {
                    self.error(block, data.insts.len(), &format!("edge to {} is critical", edge.to));
                }
            }
        }
    }

    fn preds(&self, to: MBlock, class: RegClass) -> usize {
        self.graphs[usize::from(class == RegClass::Vgpr)].preds(to).len()
    }

    fn inst(&mut self, block: MBlock, n: usize, inst: &MachInst) {
        let problem = isa::legal::problem(self.target, inst, self.func);
        if let Some(problem) =
            problem.filter(|&problem| self.legal || matches!(problem, Illegal::Count | Illegal::Unavailable))
        {
            self.error(block, n, &problem.to_string());
        }
    }
}

fn params(func: &MachFunc, block: MBlock, class: RegClass) -> &[VReg] {
    let data = &func.blocks[block];
    if class == RegClass::Sgpr { &data.sgpr_params } else { &data.vgpr_params }
}
