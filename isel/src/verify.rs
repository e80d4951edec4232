//! Invariants of what selection hands out.
//!
//! * A virtual register has one definition: an instruction, a block parameter or an input.
//! * A use is reached by its definition on every path: SGPRs on the linear graph, VGPRs on the logical one.
//! * Operands have the class and the width that the instruction's row asks for, and a vector instruction
//!   stays within the constant bus.
//! * An edge passes as many arguments as its target has parameters of that class, and of that class; an edge
//!   with arguments is not critical.
//! * `prologue <= term <= insts.len()`; branches are in the terminator group, which ends where linear edges say.

use isa::table::{Family, Flags, Kind, OpSpec, Role};
use isa::{Edge, MBlock, MachFunc, MachInst, Operand, RegClass, Subtarget, VReg, op};

/// Checks a function; the errors name block and instruction.
pub fn verify(func: &MachFunc, target: &Subtarget) -> Result<(), Vec<String>> {
    let mut check = Check { func, target, errors: Vec::new() };
    check.single_definitions();
    for block in func.blocks.keys() {
        check.shape(block);
        check.edges(block);
        for (n, inst) in func.blocks[block].insts.iter().enumerate() {
            check.inst(block, n, inst);
        }
    }
    check.reaching(RegClass::Sgpr);
    check.reaching(RegClass::Vgpr);
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
        let mut defined = vec![0u32; func.vregs.len()];
        let mut all: Vec<VReg> = func.inputs.iter().map(|&(reg, _)| reg).collect();
        for data in func.blocks.values() {
            all.extend(data.sgpr_params.iter().chain(&data.vgpr_params));
            for inst in &data.insts {
                visit(func, inst, |reg, role| {
                    if role != Role::Use {
                        all.push(reg);
                    }
                });
            }
        }
        for reg in all {
            defined[reg.as_u32() as usize] += 1;
            if defined[reg.as_u32() as usize] == 2 {
                self.errors.push(format!("{reg} is defined twice"));
            }
        }
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
        if falls {
            targets.push(MBlock::from_u32(block.as_u32() + 1));
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
        let count =
            |data: &isa::MachBlock| graph(data, class).iter().flatten().filter(|e| e.to == to).count();
        self.func.blocks.values().map(count).sum()
    }

    fn inst(&mut self, block: MBlock, n: usize, inst: &MachInst) {
        if inst.op.family() == Family::Pseudo {
            return;
        }
        let row = inst.op.row();
        if usize::from(inst.len) != row.ops.len() {
            return self.error(block, n, "wrong number of operands");
        }
        if !isa::constant_bus_ok(self.target, inst, Some(self.func)) {
            self.error(block, n, "constant bus");
        }
        for (spec, &operand) in row.ops.iter().zip(inst.operands()) {
            if let Some(problem) = operand_problem(self.func, spec, operand) {
                self.error(block, n, problem);
            }
        }
    }

    /// Every use is defined on all paths of the class's graph.
    fn reaching(&mut self, class: RegClass) {
        let func = self.func;
        let words = func.vregs.len().div_ceil(64);
        let count = func.blocks.len();
        let mut starts = vec![vec![!0u64; words]; count];
        starts[0] = vec![0; words];
        for &(reg, _) in &func.inputs {
            set(&mut starts[0], reg);
        }
        let mut changed = true;
        while changed {
            changed = false;
            for block in func.blocks.keys() {
                let mut state = starts[block.as_u32() as usize].clone();
                self.walk(block, &mut state, class, false);
                for edge in graph(&func.blocks[block], class).iter().flatten() {
                    let into = &mut starts[edge.to.as_u32() as usize];
                    for (have, &more) in into.iter_mut().zip(&state) {
                        changed |= *have & more != *have;
                        *have &= more;
                    }
                }
            }
        }
        for block in func.blocks.keys() {
            let mut state = starts[block.as_u32() as usize].clone();
            self.walk(block, &mut state, class, true);
        }
    }

    fn walk(&mut self, block: MBlock, state: &mut [u64], class: RegClass, report: bool) {
        let func = self.func;
        for &reg in params(func, block, class) {
            set(state, reg);
        }
        for (n, inst) in func.blocks[block].insts.iter().enumerate() {
            let mut missing = None;
            visit(func, inst, |reg, role| {
                if role != Role::Def && func.vregs[reg] == class && !get(state, reg) {
                    missing = Some(reg);
                }
            });
            visit(func, inst, |reg, role| {
                if role != Role::Use {
                    set(state, reg);
                }
            });
            if let (Some(reg), true) = (missing, report) {
                self.error(block, n, &format!("{reg} may be undefined"));
            }
        }
        if report {
            let edges: Vec<&Edge> = graph(&func.blocks[block], class).iter().flatten().collect();
            for edge in edges {
                if let Some(reg) = func.edge_args(edge).iter().find(|&&reg| !get(state, reg)) {
                    self.error(
                        block,
                        usize::MAX,
                        &format!("argument {reg} for {} may be undefined", edge.to),
                    );
                }
            }
        }
    }
}

fn graph(data: &isa::MachBlock, class: RegClass) -> &isa::Edges {
    if class == RegClass::Sgpr { &data.linear } else { &data.logical }
}

fn params(func: &MachFunc, block: MBlock, class: RegClass) -> &[VReg] {
    let data = &func.blocks[block];
    if class == RegClass::Sgpr { &data.sgpr_params } else { &data.vgpr_params }
}

fn set(state: &mut [u64], reg: VReg) {
    state[reg.as_u32() as usize / 64] |= 1 << (reg.as_u32() % 64);
}

fn get(state: &[u64], reg: VReg) -> bool {
    state[reg.as_u32() as usize / 64] >> (reg.as_u32() % 64) & 1 != 0
}

/// Registers of the virtual operands; pseudos define their first operand and use the others.
fn visit(func: &MachFunc, inst: &MachInst, mut f: impl FnMut(VReg, Role)) {
    let row = inst.op.row();
    let pseudo = inst.op == op::COPY || inst.op == op::UNDEF;
    for (n, &operand) in inst.operands().iter().enumerate() {
        let role = match row.ops.get(n) {
            Some(spec) => spec.role,
            None if pseudo && n == 0 => Role::Def,
            None => Role::Use,
        };
        if let Operand::Virt(tuple) = operand {
            for &reg in func.regs(tuple) {
                f(reg, role);
            }
        }
    }
}

fn operand_problem(func: &MachFunc, spec: &OpSpec, operand: Operand) -> Option<&'static str> {
    let (class, len) = match operand {
        Operand::Virt(tuple) => (func.regs(tuple).first().map(|&reg| func.vregs[reg]), tuple.len),
        Operand::Reg(range) if range.first.is_vgpr() => (Some(RegClass::Vgpr), range.len),
        Operand::Reg(range) => (Some(RegClass::Sgpr), range.len),
        _ => (None, spec.width),
    };
    if let Operand::Virt(tuple) = operand
        && func.regs(tuple).iter().any(|&reg| Some(func.vregs[reg]) != class)
    {
        return Some("a tuple of both classes");
    }
    let wrong_class = match spec.kind {
        Kind::Sgpr | Kind::Mask => class != Some(RegClass::Sgpr),
        Kind::Ssrc => class == Some(RegClass::Vgpr),
        Kind::Vgpr => class != Some(RegClass::Vgpr) && !(spec.role == Role::Def && operand == Operand::None),
        Kind::Vsrc => false,
        Kind::Imm => !matches!(operand, Operand::Imm(_)),
        Kind::Vaddr => class == Some(RegClass::Sgpr),
        Kind::Saddr => class == Some(RegClass::Vgpr),
        Kind::Label | Kind::Lit | Kind::SmemOffset => false,
        // No processor that we compile for has accumulation registers.
        Kind::Agpr | Kind::Avgpr | Kind::Acc => true,
        // Nor do we write graphics instructions.
        Kind::ExportTarget | Kind::Channel | Kind::Attribute | Kind::Parameter => true,
        Kind::Texels | Kind::ImageAddress(_) => true,
    };
    if wrong_class {
        return Some("wrong kind of operand");
    }
    let any_width = matches!(spec.kind, Kind::Vaddr | Kind::Saddr);
    (class.is_some() && len != spec.width && !any_width).then_some("wrong width")
}
