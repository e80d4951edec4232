//! Checks the invariants of the machine code that selection produces.
//!
//! * A virtual register has one definition: an instruction, a block parameter or an input. An instruction
//!   that modifies a register in place (`isa::Role::DefUse`) comes after the definition and before all other
//!   uses.
//! * A definition reaches its uses on every path: for SGPRs on every path of the linear graph, for VGPRs on
//!   every path of the logical graph.
//! * A lane mask that sets `exec` at the beginning of a block has a value on every path of the program
//!   counter, not only on paths with active lanes. Otherwise lanes would be lost, or inactive lanes would be
//!   activated.
//! * From `legalize` on, the operands are legal for the instruction and the processor (`mir::legal`).
//! * Arguments of edges are written before the terminators, and SGPR arguments before the first branch,
//!   because the moves to the parameters are placed there.
//! * A memory access with an order for the failure case of a compare-and-swap (`fail:`) also has an order for
//!   success.
//! * An edge passes as many arguments as its target has parameters of that class, and all arguments have that
//!   class. An edge with arguments is not critical.
//! * Inputs arrive in numbered registers of their class, each input in its own register, and no edge leads to
//!   the entry block.
//! * Pseudo-instructions have the operands that `isa::table::pseudo` requires.
//! * `prologue <= term <= insts.len()`; branches are in the terminator group, and the linear edges agree with
//!   the group.

use crate::graph::Graph;
use isa::table::{Flags, Role};
use isa::{MBlock, MachInst, Operand, Reg, RegClass, Subtarget, VReg, op};
use mir::legal::Illegal;
use mir::text::Part;
use mir::{CALL_PINS, CallSite, Callee, FuncRole, MachBlock, MachFunc, SyncOrder};
use std::borrow::Cow;
use std::fmt;

/// The stage of compilation that the machine code has reached. Each stage has its own invariants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Before `legalize`: whether the processor can encode the instructions is not checked yet.
    Selected,
    /// In SSA form, and every operand is legal.
    Legal,
    /// After register allocation: no virtual registers, and no knowledge about the contents of hardware
    /// registers.
    Allocated,
}

/// A violated invariant: its location and description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Location of the fault.
    pub part: Part,
    /// Description of the fault.
    pub what: String,
    /// The rule that is violated, as a help text for authors of handwritten machine IR.
    pub help: Cow<'static, str>,
    /// Text of the faulty instruction.
    shown: String,
}

impl Fault {
    /// Creates a fault for a part of the function.
    pub fn new(
        func: &MachFunc,
        target: &Subtarget,
        part: Part,
        what: impl Into<String>,
        help: impl Into<Cow<'static, str>>,
    ) -> Fault {
        let mut shown = String::new();
        if let Part::Inst(block, n) = part {
            isa::print::write_inst(target, &func.blocks[block].insts[n], Some(func), &mut shown);
        }
        Fault { part, what: what.into(), help: help.into(), shown }
    }
}

/// Texts of the rules, for [`Fault::help`].
mod rule {
    pub const BLOCKS: &str = "a function begins with block `bb0` and ends in `s_endpgm`";
    pub const INPUTS: &str = "an input is an SGPR in a numbered SGPR or a VGPR in a VGPR, each in its own";
    pub const ONE_DEFINITION: &str =
        "a virtual register is defined once; where several values come together, a block has a parameter";
    pub const DOMINATED: &str = "all ways to a use pass the definition: those of `linear` edges to that of an SGPR, those of `logical` edges \
         to that of a VGPR; `undef` defines what may be anything";
    pub const LANES: &str = "what wakes lanes in a prologue has a value on every way of the program counter";
    pub const PARTS: &str = "`prologue:`, `body:` and `terminators:` follow each other";
    pub const TERMINATORS: &str =
        "branches stand behind `terminators:`, and nothing behind one that is always taken";
    pub const LINEAR: &str = "`linear ->` names the blocks that branches go to, and the next one unless the last instruction never goes on";
    pub const TABLE: &str = "the entries of a jump table follow each other, each one `s_branch`";
    pub const ARGUMENTS: &str =
        "`linear` edges pass SGPRs, `logical` edges VGPRs, as many as the block has parameters of that class";
    pub const MOVES: &str = "arguments are moved to the parameters in front of the terminators, those in SGPRs in front of the first branch";
    pub const ORDERS: &str = "`fail:` is the order of an atomic compare-and-swap that fails; its own stands in front of it, as in `relaxed agent fail:relaxed`";
    pub const CRITICAL: &str = "put a block between: moves have no place on an edge from one of several successors to one of several predecessors";
    pub const ENTRY: &str = "put a block without inputs behind it";
    pub const ALLOCATED: &str = "begin with a pass up to `regalloc`, or name registers of the processor";
    pub const REPLAY: &str = "where XNACK may be on, a load may be executed again when a part of it has arrived: `--mcpu ...:xnack-`, or \
         other registers";
    pub const PSEUDOS: &str = "`copy TO, FROM` with as many dwords on both sides, and none from a VGPR to an SGPR; `undef REGISTER`; `fence mem(...)`; \
         `wait_point MASK`";
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part {
            Part::Function => f.write_str(&self.what),
            Part::Block(block) => write!(f, "{block}: {}", self.what),
            Part::Inst(block, n) => write!(f, "{block}.{n} `{}`: {}", self.shown, self.what),
        }
    }
}

/// Checks the invariants of a function that apply to its stage. Takes time linear in the size of the
/// function. Only the dominators take more if control flow is irreducible, because they then need a second
/// round.
///
/// # Errors
/// Returns all faults that were found, in the order of the code, except that faults of lane masks come last.
pub fn verify(func: &MachFunc, target: &Subtarget, state: State) -> Result<(), Vec<Fault>> {
    let mut check = Check {
        func,
        target,
        state,
        defs: Vec::new(),
        graphs: [Graph::new(func, RegClass::Sgpr), Graph::new(func, RegClass::Vgpr)],
        faults: Vec::new(),
    };
    if func.blocks.is_empty() {
        return Err(vec![Fault::new(func, target, Part::Function, "there is no block", rule::BLOCKS)]);
    }
    if state < State::Allocated {
        check.inputs();
        check.single_definitions();
    }
    for block in func.blocks.keys() {
        check.shape(block);
        for (n, inst) in func.blocks[block].insts.iter().enumerate() {
            check.inst(block, n, inst);
        }
        // After register allocation, block parameters and arguments have no meaning any more.
        if state < State::Allocated {
            check.edges(block);
            check.uses(block);
        }
    }
    if state < State::Allocated {
        check.lanes();
    }
    if check.faults.is_empty() { Ok(()) } else { Err(check.faults) }
}

/// Returns the machine function as text, for tests and dumps.
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
    state: State,
    /// Where each register is defined: the block, and the number of the instruction in the block plus one (0
    /// for block parameters and inputs).
    defs: Vec<Option<(MBlock, u32)>>,
    /// The linear graph, on which SGPRs are live, and the logical graph, on which VGPRs are live.
    graphs: [Graph; 2],
    faults: Vec<Fault>,
}

impl Check<'_> {
    fn fault(&mut self, part: Part, what: impl Into<String>, help: impl Into<Cow<'static, str>>) {
        self.faults.push(Fault::new(self.func, self.target, part, what, help));
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
            let inst = (at as usize).checked_sub(1);
            let part = inst.map_or(Part::Block(block), |n| Part::Inst(block, n));
            self.fault(part, format!("{} is defined twice", self.name(reg)), rule::ONE_DEFINITION);
        }
    }

    /// Checks that each input arrives in a numbered register of its class, and that no two inputs share a
    /// register.
    fn inputs(&mut self) {
        let mut taken: Vec<Reg> = Vec::new();
        for &(reg, place) in &self.func.inputs {
            let fits = match self.func.vregs[reg] {
                RegClass::Sgpr => self.target.is_sgpr(place),
                RegClass::Vgpr => place.is_vgpr(),
            };
            if !fits {
                self.fault(
                    Part::Function,
                    format!("input {} comes in no register of its class", self.name(reg)),
                    rule::INPUTS,
                );
            } else if taken.contains(&place) {
                self.fault(Part::Function, format!("two inputs come in {place:?}"), rule::INPUTS);
            }
            taken.push(place);
        }
    }

    /// Returns the name of a register as in the text form of machine IR.
    fn name(&self, reg: VReg) -> String {
        let class = if self.func.vregs[reg] == RegClass::Sgpr { 's' } else { 'v' };
        format!("%{class}{}", reg.as_u32())
    }

    /// Checks that each register that the block uses is defined before, on all paths of the graph that
    /// applies to the register's class.
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
                        .find(|&reg| !self.is_defined(reg, block, n)));
                }
            });
            if let Some(reg) = missing {
                let what = format!("{} may be undefined", self.name(reg));
                self.fault(Part::Inst(block, n), what, rule::DOMINATED);
            }
        }
        let [sgprs, vgprs] = end_places(data);
        for (edges, place) in [(&data.linear, sgprs), (&data.logical, vgprs)] {
            for edge in edges.iter().flatten() {
                let missing = func.edge_args(edge).iter().find(|&&reg| !self.is_defined(reg, block, place));
                if let Some(reg) = missing {
                    let is_late = self.is_defined(*reg, block, data.insts.len());
                    let (when, help) = match is_late {
                        true => ("is written too late", rule::MOVES),
                        false => ("may be undefined", rule::DOMINATED),
                    };
                    let what = format!("argument {} for {} {when}", self.name(*reg), edge.to);
                    self.fault(Part::Block(block), what, help);
                }
            }
        }
    }

    /// Returns whether a register is defined on every path to instruction `n` of a block.
    fn is_defined(&self, reg: VReg, block: MBlock, n: usize) -> bool {
        let [linear, logical] = &self.graphs;
        let graph = if self.func.vregs[reg] == RegClass::Sgpr { linear } else { logical };
        match self.defs[reg.as_u32() as usize] {
            Some((home, at)) if home == block => at as usize <= n,
            // A block that no lanes reach in the logical graph has no vector values. A use of a vector
            // register there is an error, unless the program counter does not reach the block either.
            _ if graph.position(block).is_none() => linear.position(block).is_none(),
            Some((home, _)) => graph.dominates(home, block),
            None => false,
        }
    }

    /// Checks each instruction that sets `exec` at the beginning of a block: the mask from which it activates
    /// lanes must have a value on every path. This mask is the first virtual source operand. A second virtual
    /// operand is a condition that excludes some of these lanes; it may be undefined where no lanes arrive.
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
                    let what = format!("some path brings no lanes in {}", self.name(*reg));
                    self.fault(Part::Inst(block, n), what, rule::LANES);
                }
            }
        }
    }

    /// Finds the scalars whose value may be undefined, and returns a flag for each register. These are the
    /// results of `undef`, and the block parameters that receive an undefined scalar, directly or through
    /// other parameters.
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
            self.fault(Part::Block(block), "prologue and terminator group overlap", rule::PARTS);
        }
        let is_branch = |inst: &MachInst| inst.op.row().flags.contains(Flags::BRANCH) && !inst.is_call();
        let term = data.term.min(data.insts.len() as u32) as usize;
        for (n, inst) in data.insts.iter().enumerate() {
            if n < term && (is_branch(inst) || ends(inst)) {
                self.fault(Part::Inst(block, n), "branch outside the terminator group", rule::TERMINATORS);
            } else if ends(inst) && n + 1 < data.insts.len() {
                self.fault(Part::Inst(block, n), "nothing behind this is reached", rule::TERMINATORS);
            }
        }
        self.targets(block, &data.insts[term..]);
    }

    /// Checks that the linear edges of a block lead to the targets of its terminators.
    fn targets(&mut self, block: MBlock, terminators: &[MachInst]) {
        let data = &self.func.blocks[block];
        let blocks =
            terminators.iter().flat_map(|inst| inst.operands()).filter_map(|operand| match operand {
                Operand::Block(to) => Some(*to),
                _ => None,
            });
        let mut targets: Vec<MBlock> = blocks.collect();
        let next = MBlock::from_u32(block.as_u32() + 1);
        match data.next_entry() {
            Some(entry) if entry != next => {
                let what = format!("the next entry of the table is {entry}, not behind this one");
                self.fault(Part::Block(block), what, rule::TABLE);
            }
            Some(entry) => targets.push(entry),
            None if !terminators.iter().any(ends) => targets.push(next),
            None => {}
        }
        let mut edges: Vec<MBlock> = data.linear.iter().flatten().map(|edge| edge.to).collect();
        for list in [&mut targets, &mut edges] {
            list.sort_unstable();
            list.dedup();
        }
        if targets != edges {
            let [targets, edges] = [targets, edges].map(|blocks| names(&blocks));
            self.fault(
                Part::Block(block),
                format!("control goes to {targets}, linear edges to {edges}"),
                rule::LINEAR,
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
                let to = edge.to;
                if args.len() != params.len() {
                    let what = format!(
                        "arguments of the edge to {to}: {}, parameters: {}",
                        args.len(),
                        params.len()
                    );
                    self.fault(Part::Block(block), what, rule::ARGUMENTS);
                }
                if let Some(&reg) = args.iter().find(|&&reg| func.vregs[reg] != class) {
                    let what = format!("the edge to {to} is of the other graph than {}", self.name(reg));
                    self.fault(Part::Block(block), what, rule::ARGUMENTS);
                }
                if !args.is_empty() && edges.iter().flatten().count() == 2 && self.preds(to, class) > 1 {
                    self.fault(
                        Part::Block(block),
                        format!("the edge to {to} has arguments and is critical"),
                        rule::CRITICAL,
                    );
                }
                if to.as_u32() == 0 {
                    self.fault(
                        Part::Block(block),
                        format!("{to} is where the function is entered, and has inputs"),
                        rule::ENTRY,
                    );
                }
            }
        }
    }

    fn preds(&self, to: MBlock, class: RegClass) -> usize {
        self.graphs[usize::from(class == RegClass::Vgpr)].preds(to).len()
    }

    fn inst(&mut self, block: MBlock, n: usize, inst: &MachInst) {
        let is_virtual = |operand: &Operand| matches!(operand, Operand::Virt(_));
        let problem = mir::legal::problem(self.target, inst, self.func).filter(|&problem| match self.state {
            State::Legal => true,
            _ => matches!(problem, Illegal::Count | Illegal::Unavailable),
        });
        if let Some(problem) = problem {
            let help = isa::legal::usage(inst.op.row()).unwrap_or_default();
            self.fault(Part::Inst(block, n), problem.to_string(), help);
        } else if self.state == State::Allocated && inst.operands().iter().any(is_virtual) {
            self.fault(
                Part::Inst(block, n),
                "virtual registers are for passes up to `regalloc`",
                rule::ALLOCATED,
            );
        } else if self.target.holds_sources(inst) && inst.overwritten_source().is_some() {
            self.fault(Part::Inst(block, n), "it overwrites a register that it reads", rule::REPLAY);
        } else if let Some(what) = self.pseudo_problem(inst) {
            self.fault(Part::Inst(block, n), what, rule::PSEUDOS);
        } else if self.fails_in_order(inst) {
            self.fault(Part::Inst(block, n), "an order for failure, and none for success", rule::ORDERS);
        }
    }

    /// Returns whether a memory access has an order for the failure case, but no order for the success case.
    fn fails_in_order(&self, inst: &MachInst) -> bool {
        let mem = inst.mem.index().and_then(|mem| self.func.mems.get(mem));
        mem.is_some_and(|mem| mem.fail != SyncOrder::NotAtomic && mem.order == SyncOrder::NotAtomic)
    }

    /// Returns what is wrong with the operands of a pseudo-instruction, if anything. Pseudo-instructions are
    /// checked here because the instruction table has no operand specifications for them.
    fn pseudo_problem(&self, inst: &MachInst) -> Option<&'static str> {
        let operands = inst.operands();
        match inst.op {
            op::COPY => match *operands {
                [to, from] => self.copy_problem(to, from),
                _ => Some("a copy has a destination and a source"),
            },
            op::UNDEF if !matches!(operands, [Operand::Virt(_)]) => {
                Some("only a virtual register can be undefined")
            }
            op::FENCE if !operands.is_empty() => Some("a fence has no operands"),
            op::CALL | op::TAIL_CALL => self.call_problem(inst),
            op::RETURN if self.func.role != FuncRole::Callee => {
                Some("only a function that is called returns")
            }
            op::RETURN if !matches!(*operands, [results] if self.is_tuple(results, RegClass::Vgpr, MOST_RESULTS)) => {
                Some("the operand is `off`, or results in VGPRs")
            }
            op::STACK_END if !matches!(*operands, [to] if self.registers(to) == Some((RegClass::Sgpr, 1))) => {
                Some("the operand is an SGPR")
            }
            op::WAIT_POINT if !matches!(operands, [Operand::Imm(0..16)]) => {
                Some("the operand is a mask of counters")
            }
            _ => None,
        }
    }

    /// Returns whether an operand is allowed for a call: none, or at most `most` virtual registers of class
    /// `class`.
    fn is_tuple(&self, operand: Operand, class: RegClass, most: u8) -> bool {
        let known = || self.registers(operand).is_some_and(|(of, len)| of == class && len <= most);
        operand == Operand::None || matches!(operand, Operand::Virt(_)) && known()
    }

    fn call_problem(&self, inst: &MachInst) -> Option<&'static str> {
        let Some(CallSite { callee, pins, clobbers, .. }) = self.func.call_of(inst) else {
            return Some("there is no such site");
        };
        let [operands @ .., target] = inst.operands() else { return Some("a call has five operands") };
        if operands.len() != CALL_PINS {
            return Some("a call has five operands");
        }
        if (0..2).any(|n| clobbers.contains(Reg::EXEC.offset(n))) {
            return Some("a call keeps EXEC");
        }
        const CLASSES: [RegClass; CALL_PINS] =
            [RegClass::Vgpr, RegClass::Vgpr, RegClass::Vgpr, RegClass::Sgpr];
        for ((&operand, class), pin) in operands.iter().zip(CLASSES).zip(pins) {
            let last = if class == RegClass::Sgpr { callconv::RETURN_ADDRESS } else { MOST_RESULTS.into() };
            let room = last.saturating_sub(pin.number()).min(MOST_RESULTS.into()) as u8;
            if pin.is_vgpr() != (class == RegClass::Vgpr)
                || pin.is_agpr()
                || !self.is_tuple(operand, class, room)
            {
                return Some("an operand does not fit into the registers that the site has for it");
            }
        }
        match (callee, self.registers(*target)) {
            (Callee::Func(_), _) if *target != Operand::None => Some("the site says who is called"),
            (Callee::Pointer(_), address) if address != Some((RegClass::Sgpr, 2)) => {
                Some("the address is no pair of SGPRs")
            }
            _ => None,
        }
    }

    fn copy_problem(&self, to: Operand, from: Operand) -> Option<&'static str> {
        let (Some((to, dwords)), source) = (self.registers(to), self.registers(from)) else {
            return Some("the destination is no group of registers of one class");
        };
        match (to, source) {
            (_, None) if !from.is_const() => {
                Some("the source is neither a constant nor registers of one class")
            }
            (_, Some((_, len))) if len != dwords => Some("source and destination differ in width"),
            (RegClass::Sgpr, Some((RegClass::Vgpr, _))) => Some("lanes do not fit into a scalar register"),
            _ => None,
        }
    }

    /// Returns the register class of an operand and its number of registers, if the registers exist and all
    /// have the same class.
    fn registers(&self, operand: Operand) -> Option<(RegClass, u8)> {
        match operand {
            Operand::Virt(tuple) => {
                let classes = self.func.regs(tuple).iter().map(|&reg| self.func.vregs[reg]);
                let first = classes.clone().next()?;
                classes.into_iter().all(|class| class == first).then_some((first, tuple.len))
            }
            Operand::Reg(range) if range.first.is_agpr() || !range.exists(self.target) => None,
            Operand::Reg(range) if range.first.is_vgpr() => Some((RegClass::Vgpr, range.len)),
            Operand::Reg(range) => Some((RegClass::Sgpr, range.len)),
            _ => None,
        }
    }
}

/// Largest number of VGPRs in which any calling convention passes arguments, or results.
const MOST_RESULTS: u8 = 32;

/// Returns, for SGPRs and for VGPRs, the number of the instruction before which the arguments of edges must
/// be written. The register allocator places the moves to the parameters there; it computes the same
/// positions itself.
fn end_places(data: &MachBlock) -> [usize; 2] {
    let (term, count) = ((data.term as usize).min(data.insts.len()), data.insts.len());
    let end = &data.insts[term..];
    // A jump into a jump table consists of several instructions, which moves must not interrupt. They start
    // with `s_getpc_b64`. Outside of such jumps, `s_getpc_b64` computes addresses.
    let jump = data.next_entry().and_then(|_| end.iter().rposition(|inst| inst.op == op::S_GETPC_B64));
    let branch = || end.iter().position(|inst| inst.op.row().flags.contains(Flags::BRANCH));
    [jump.or_else(branch).map_or(count, |place| term + place), term]
}

/// Returns whether execution never continues with the next instruction.
fn ends(inst: &MachInst) -> bool {
    inst.op.row().flags.contains(Flags::NO_FALLTHROUGH)
}

fn names(blocks: &[MBlock]) -> String {
    let names: Vec<String> = blocks.iter().map(ToString::to_string).collect();
    if names.is_empty() { "nowhere".to_owned() } else { names.join(" and ") }
}

fn params(func: &MachFunc, block: MBlock, class: RegClass) -> &[VReg] {
    let data = &func.blocks[block];
    if class == RegClass::Sgpr { &data.sgpr_params } else { &data.vgpr_params }
}
