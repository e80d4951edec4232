//! Translates the control-flow plan (`plan.rs`) into machine code: blocks, edges and changes of the `exec`
//! mask.

use crate::class::Home;
use crate::lower::Lower;
use crate::mask::{ALL_LANES, LaneMask, MaskOp, NO_LANES};
use crate::plan::{Entry, Exit, GATE, NOWHERE, Node, Parking, Pos};
use ir::{Op, Type, UnOp, Value};
use isa::{MBlock, MachInst, Opcode, Operand, VReg, op};
use mir::{ArgRange, Edge, MachBlock};

/// A condition that is held in SCC.
pub(crate) struct Scc {
    /// Whether the condition is the negation of SCC.
    pub negated: bool,
}

/// Scratch buffers for the arguments that the edges of the current block pass. VGPR arguments are in one
/// list; SGPR arguments are in one list for each of the two successors.
#[derive(Debug, Default)]
pub(crate) struct Edges {
    vectors: Vec<VReg>,
    scalars: [Vec<VReg>; 2],
}

impl Lower<'_> {
    /// Creates the machine blocks in layout order. Each node of the plan gets a block for its body. If the
    /// node has a gate, the gate is a separate block in front of the body, with the code that sets `exec`.
    /// Blocks that split critical edges of the linear graph are created later, together with the edges.
    pub fn make_blocks(&mut self) {
        self.s.mblocks.clear();
        let plan = self.plan;
        for node in &plan.nodes {
            let depth = self.an.loops.depth(node.block).min(255) as u8;
            let new = || MachBlock { depth, ..MachBlock::default() };
            let gate = (node.gate != NOWHERE).then(|| self.out.blocks.push(new()));
            let body = self.out.blocks.push(new());
            self.s.mblocks.push([gate.unwrap_or(body), body]);
        }
    }

    /// Returns the block at which control enters a node.
    fn enter(&self, at: Pos) -> MBlock {
        self.s.mblocks[at as usize][0]
    }

    fn body(&self, at: Pos) -> MBlock {
        self.s.mblocks[at as usize][1]
    }

    fn node(&self, at: Pos) -> &Node {
        &self.plan.nodes[at as usize]
    }

    fn lanes(&mut self, mask: LaneMask) -> Operand {
        mask.operand(&mut self.out)
    }

    fn push_mask(&mut self, op: MaskOp, operands: &[Operand]) {
        self.push(self.masks.inst(op, operands));
    }

    /// Emits the code that ends the block, and creates the block's edges. Returns the number of instructions
    /// in the terminator group, which are the branches and changes of `exec` at the end of the block.
    pub fn terminator(&mut self, at: Pos) -> u32 {
        let plan = self.plan;
        let node = &plan.nodes[at as usize];
        self.edges(at);
        let body = self.body(at);
        let targets = node.linear.map(|to| (to != NOWHERE).then(|| self.linear_target(at, to)));
        if let Some(zero) = node.zero {
            let zero = self.lanes(zero);
            self.push_mask(MaskOp::Mov, &[zero, NO_LANES]);
        }
        let splits = matches!(node.exit, Exit::Split { .. });
        if let (Some(save), false) = (node.save, splits) {
            let save = self.lanes(save);
            self.push_mask(MaskOp::Mov, &[save, self.masks.exec()]);
        }
        let group = match node.exit {
            Exit::End if self.has_frame() => self.ret(),
            Exit::End => {
                self.push(MachInst::new(op::S_ENDPGM, &[Operand::Imm(0)]));
                1
            }
            Exit::Jump(to) => match self.table_jump(self.node(to).block) {
                0 => self.branch_to(body, targets[0]),
                group => group,
            },
            Exit::Park(to) => {
                self.park(node, to, None);
                let cleared = self.clear_exec(node.resume);
                cleared + self.branch_to(body, targets[0])
            }
            Exit::Uniform { .. } => match targets[0].filter(|_| plan.rows.needs_next_entry(node.block)) {
                Some(to) => self.table_entry(to),
                None => self.uniform_branch(body, targets),
            },
            Exit::Split { then, otherwise, near } => self.split(node, body, [then, otherwise, near], targets),
        };
        self.flush();
        group
    }

    /// Emits `s_branch`, unless the target is the next block in layout order. Returns the number of
    /// instructions (0 or 1).
    fn branch_to(&mut self, from: MBlock, to: Option<MBlock>) -> u32 {
        match to {
            Some(to) if to.as_u32() != from.as_u32() + 1 => {
                self.push(MachInst::new(op::S_BRANCH, &[Operand::Block(to)]));
                1
            }
            _ => 0,
        }
    }

    /// Clears `exec` before a jump to the position `resume`, if lanes are parked there and the block adds
    /// them to the lanes in `exec`. The lanes that are in `exec` now are parked elsewhere, so they must not
    /// become active at `resume`. Returns the number of instructions (0 or 1).
    fn clear_exec(&mut self, resume: Pos) -> u32 {
        let node = self.node(resume);
        if node.accompanied && matches!(node.entry, Entry::Pending(_)) {
            self.push_mask(MaskOp::Mov, &[self.masks.exec(), NO_LANES]);
            return 1;
        }
        0
    }

    /// Parks lanes at the block `target`, where they wait inactive until the program counter arrives: adds
    /// them to the lane mask of that block. Without `cond`, all active lanes are parked. With `cond`, the
    /// active lanes are parked whose bit in the mask `cond.0` equals `cond.1`.
    fn park(&mut self, node: &Node, target: Pos, cond: Option<(Operand, bool)>) {
        let mut parks = node.parks.iter().flatten();
        let Some(&Parking { new, old, .. }) = parks.find(|parking| parking.target == target) else { return };
        let new = self.lanes(new);
        let exec = self.masks.exec();
        let lanes = match cond {
            // The mask of the condition contains active lanes only, so it needs no `and` with `exec` before
            // it is added to the mask of parked lanes.
            Some((mask, true)) if old.is_some() && self.holds_active_lanes(self.condition()) => mask,
            Some((mask, when)) => {
                let dst = if old.is_some() { self.mask_temp() } else { new };
                let op = if when { MaskOp::And } else { MaskOp::AndNot };
                self.push_mask(op, &[dst, exec, mask]);
                dst
            }
            None => exec,
        };
        match old {
            Some(old) => {
                let old = self.lanes(old);
                self.push_mask(MaskOp::Or, &[new, old, lanes]);
            }
            None if cond.is_none() => self.push_mask(MaskOp::Mov, &[new, lanes]),
            None => {}
        }
    }

    fn uniform_branch(&mut self, body: MBlock, targets: [Option<MBlock>; 2]) -> u32 {
        let cond = self.condition();
        let [Some(then), Some(otherwise)] = targets else { return 0 };
        let scc = self.scc(cond);
        let next = |to: MBlock| to.as_u32() == body.as_u32() + 1;
        let (op, jump, fall) = if next(then) {
            (branch_on(scc.negated), otherwise, then)
        } else {
            (branch_on(!scc.negated), then, otherwise)
        };
        self.push(MachInst::new(op, &[Operand::Block(jump)]));
        1 + self.branch_to(body, Some(fall))
    }

    /// Returns the condition of the block's branch.
    fn condition(&self) -> Value {
        let last = self.func.blocks[self.block].insts()[self.func.blocks[self.block].insts().len() - 1];
        self.func.args(last)[0]
    }

    fn split(&mut self, node: &Node, body: MBlock, to: [Pos; 3], targets: [Option<MBlock>; 2]) -> u32 {
        let [then, otherwise, near] = to;
        let (cond, flip) = self.strip_not(self.condition());
        let mask = self.mask(cond);
        for (target, when) in [(then, true), (otherwise, false)] {
            if target != near {
                self.park(node, target, Some((mask, when != flip)));
            }
        }
        if near == NOWHERE {
            let cleared = self.clear_exec(node.resume);
            return cleared + self.branch_to(body, targets[0]);
        }
        let keep = (near == then) != flip;
        let save = node.save.map(|save| self.lanes(save));
        let mut group = self.narrow_exec(save, mask, keep);
        if let Some(skip) = targets[1] {
            self.push(MachInst::new(op::S_CBRANCH_EXECZ, &[Operand::Block(skip)]));
            group += 1;
        }
        group + self.branch_to(body, targets[0])
    }

    /// Removes lanes from `exec`: keeps the lanes in `mask` if `keep` is set, and otherwise the lanes not in
    /// `mask`. Stores the old `exec` in `save`, if given. Returns the number of instructions.
    fn narrow_exec(&mut self, save: Option<Operand>, mask: Operand, keep: bool) -> u32 {
        let mut group = 1;
        if let Some(save) = save {
            let op = if keep { MaskOp::AndSaveExec } else { MaskOp::AndNotSaveExec };
            if self.masks.opcode(op).row().code(self.target).is_some() {
                self.push_mask(op, &[save, mask]);
                return group;
            }
            self.push_mask(MaskOp::Mov, &[save, self.masks.exec()]);
            group += 1;
        }
        let (op, exec) = (if keep { MaskOp::And } else { MaskOp::AndNot }, self.masks.exec());
        self.push_mask(op, &[exec, exec, mask]);
        group
    }

    /// Returns whether the lane mask of a condition contains no inactive lanes. This holds if a vector
    /// comparison in the current block computes it, because a comparison clears the bits of inactive lanes
    /// and `exec` has not changed since.
    fn holds_active_lanes(&self, cond: Value) -> bool {
        let (cond, _) = self.strip_not(cond);
        self.home(cond) == Home::Mask
            && self.func.def_inst(cond).is_some_and(|inst| {
                let data = &self.func.insts[inst];
                data.block == self.block
                    && match data.op {
                        Op::Icmp(_) => !self.is_bool(self.func.args(inst)[0]),
                        Op::Fcmp(_) => true,
                        _ => false,
                    }
            })
    }

    /// Strips a chain of `not` operations from a lane mask. Returns the innermost operand, and whether the
    /// number of stripped operations is odd.
    fn strip_not(&self, mut value: Value) -> (Value, bool) {
        let mut odd = false;
        while let Some(inst) = self.func.def_inst(value)
            && self.func.insts[inst].op == Op::Un(UnOp::Not)
            && self.home(self.func.args(inst)[0]) == Home::Mask
        {
            value = self.func.args(inst)[0];
            odd = !odd;
        }
        (value, odd)
    }

    /// Returns the instruction that sets `exec` at the beginning of a node (block of the plan), if one is
    /// needed.
    fn entry_code(&mut self, at: Pos) -> Option<MachInst> {
        let plan = self.plan;
        let node = &plan.nodes[at as usize];
        let exec = self.masks.exec();
        match node.entry {
            Entry::Plain | Entry::Sink => None,
            Entry::Restore(d) => {
                let save = self.lanes(self.node(d).save?);
                Some(self.masks.inst(MaskOp::Mov, &[exec, save]))
            }
            Entry::Pending(mask) if !node.accompanied => {
                let mask = mask.map_or(NO_LANES, |mask| self.lanes(mask));
                Some(self.masks.inst(MaskOp::Mov, &[exec, mask]))
            }
            Entry::Pending(mask) => {
                let mask = self.lanes(mask?);
                Some(self.masks.inst(MaskOp::Or, &[exec, exec, mask]))
            }
            Entry::Other(branch) => {
                let node = &plan.nodes[branch as usize];
                let Exit::Split { then, near, .. } = node.exit else { return None };
                let last = self.func.terminator(node.block)?;
                let (cond, flip) = self.strip_not(self.func.args(last)[0]);
                let mask = self.mask(cond);
                let save = self.lanes(node.save?);
                // Lanes that did not go to the near side.
                let op = if (near == then) != flip { MaskOp::AndNot } else { MaskOp::And };
                Some(self.masks.inst(op, &[exec, save, mask]))
            }
        }
    }

    /// Emits conversions of the block's parameters. A parameter arrives in one form (SGPRs, VGPRs or lane
    /// mask), and some of its users may need it in another form.
    pub fn params(&mut self, at: Pos) {
        let func = self.func;
        for &param in func.params(self.node(at).block).iter().rev() {
            if self.home(param) == Home::Mask && (self.wants_mask(param) || self.wants_sgpr(param)) {
                let (mask, bits) = (self.mask_of(param), self.vgpr_of(param));
                self.emit(op::V_CMP_NE_U32, &[mask, Operand::int(0), bits]);
            }
            if self.home(param) == Home::Vgpr && self.is_wanted(param) {
                self.vgpr_of(param);
            }
            if self.home(param) == Home::Scc && self.wants_mask(param) {
                let (bit, mask) = (self.sgpr_of(param), self.mask_of(param));
                self.emit(op::S_CMP_LG_U32, &[bit, Operand::int(0)]);
                self.emit_mask(MaskOp::Select, &[mask, ALL_LANES, NO_LANES]);
            }
            self.convert_result(param);
        }
    }

    /// Returns whether a block parameter is passed in SGPRs, and the registers in which it is passed.
    fn param_regs(&mut self, param: Value) -> (bool, Operand) {
        match self.home(param) {
            Home::Sgpr | Home::Scc => (true, self.sgpr_of(param)),
            _ => (false, self.vgpr_of(param)),
        }
    }

    /// Creates the block's edges in the logical and the linear control-flow graph, with their arguments.
    fn edges(&mut self, at: Pos) {
        let plan = self.plan;
        let node = &plan.nodes[at as usize];
        let body = self.body(at);
        let func = self.func;
        let Some(last) = func.terminator(node.block) else { return };
        let Edges { mut vectors, mut scalars } = std::mem::take(&mut self.s.edges);
        let mut targets = [NOWHERE; 2];
        for (which, to) in func.succs(node.block).enumerate() {
            let to_pos = plan.position_of(to);
            vectors.clear();
            scalars[which].clear();
            targets[which] = to_pos;
            for (&param, &arg) in func.params(to).iter().zip(func.branch_args(last, which)) {
                // A parameter that no instruction has requested is not passed. But over a back edge, every
                // parameter is passed: the walk goes backwards through the code, so it has not visited all
                // uses of the target's parameters yet.
                if to_pos > at && !self.is_wanted(param) {
                    continue;
                }
                let (scalar, _) = self.param_regs(param);
                if scalar {
                    let regs = self.sgpr(arg);
                    scalars[which].extend_from_slice(self.regs(regs));
                } else {
                    let regs = self.vgpr(arg);
                    vectors.extend_from_slice(self.regs(regs));
                }
            }
            if which == 1 && targets[0] == to_pos {
                continue;
            }
            let args = self.out.arg_range(&vectors);
            let to = self.enter(to_pos);
            self.out.blocks[body].logical[which] = Some(Edge { to, args });
        }
        for (k, &to) in node.linear.iter().enumerate() {
            if to == NOWHERE {
                continue;
            }
            let regs = match targets.iter().position(|&target| target == to) {
                Some(n) => &mut scalars[n],
                None => {
                    vectors.clear();
                    &mut vectors
                }
            };
            regs.extend(plan.pending.args(at, to).flat_map(LaneMask::regs));
            self.linear_edge(body, node.linear[1] != NOWHERE, k, to, regs);
        }
        self.s.edges = Edges { vectors, scalars };
    }

    /// Adds a linear edge. If the edge would be critical and carries arguments, splits it with a new block.
    fn linear_edge(&mut self, from: MBlock, branches: bool, k: usize, to: Pos, regs: &[VReg]) {
        let target = self.enter(to);
        let args = self.out.arg_range(regs);
        let critical = !regs.is_empty() && branches && self.node(to).joins > 1;
        if !critical {
            self.out.blocks[from].linear[k] = Some(Edge { to: target, args });
            return;
        }
        let depth = self.out.blocks[target].depth;
        let branch = MachInst::new(op::S_BRANCH, &[Operand::Block(target)]);
        let insts = self.out.spare.insts(&[branch]);
        let linear = [Some(Edge { to: target, args }), None];
        let between = self.out.blocks.push(MachBlock { insts, linear, depth, ..MachBlock::default() });
        self.out.blocks[from].linear[k] = Some(Edge { to: between, args: ArgRange::default() });
    }

    /// Returns the machine block to which the linear edge to `to` leads.
    fn linear_target(&self, at: Pos, to: Pos) -> MBlock {
        let body = self.body(at);
        let k = usize::from(self.node(at).linear[0] != to);
        self.out.blocks[body].linear[k].map_or(self.enter(to), |edge| edge.to)
    }

    /// Assembles the machine block of a node (block of the control-flow plan). The code that sets `exec` on
    /// entry comes first. The instructions of the block follow, together with the copies of operands that
    /// several of them share. If the node has a gate, the code that sets `exec` goes into the gate, which is
    /// a block of its own.
    pub fn finish_block(&mut self, at: Pos, group: u32) {
        let [gate, body] = self.s.mblocks[at as usize];
        let entry = self.entry_code(at);
        debug_assert!(self.s.seq.is_empty());
        let mut insts = std::mem::take(&mut self.s.whole);
        insts.clear();
        if gate == body {
            insts.extend(entry);
        }
        let prologue = insts.len() as u32;
        let term = self.assemble(&mut insts, group);
        let list = self.out.spare.insts(&insts);
        let block = &mut self.out.blocks[body];
        block.insts = list;
        block.prologue = prologue;
        block.term = term;
        self.s.whole = insts;
        self.param_lists(at, gate);
        if gate != body {
            self.gate(at, entry);
        }
    }

    /// Sets the parameter registers of `block`.
    fn param_lists(&mut self, at: Pos, block: MBlock) {
        let func = self.func;
        let [mut sgprs, mut vgprs] = self.s.params.each_mut().map(std::mem::take);
        sgprs.clear();
        vgprs.clear();
        // The parameters of the entry block are the function's inputs, so the first node has no block
        // parameters.
        for &param in func.params(self.node(at).block).iter().filter(|_| at != 0) {
            if self.is_wanted(param) {
                let (scalar, regs) = self.param_regs(param);
                let list = if scalar { &mut sgprs } else { &mut vgprs };
                list.extend_from_slice(self.regs(regs));
            }
        }
        sgprs.extend(self.plan.pending.params(at).flat_map(LaneMask::regs));
        let spare = &mut self.out.spare;
        let lists = [spare.params(&sgprs), spare.params(&vgprs)];
        let block = &mut self.out.blocks[block];
        [block.sgpr_params, block.vgpr_params] = lists;
        self.s.params = [sgprs, vgprs];
    }

    fn gate(&mut self, at: Pos, entry: Option<MachInst>) {
        let plan = self.plan;
        let node = &plan.nodes[at as usize];
        let [gate, body] = self.s.mblocks[at as usize];
        let mut edges = std::mem::take(&mut self.s.edges);
        edges.vectors.clear();
        edges.vectors.extend(plan.pending.args(at | GATE, node.gate).flat_map(LaneMask::regs));
        self.out.blocks[gate].linear[0] = Some(Edge { to: body, args: ArgRange::default() });
        self.linear_edge(gate, true, 1, node.gate, &edges.vectors);
        self.s.edges = edges;
        let target = self.out.blocks[gate].linear[1].map_or(body, |edge| edge.to);
        let mut insts = std::mem::take(&mut self.s.whole);
        insts.clear();
        insts.extend(entry);
        let prologue = insts.len() as u32;
        if let Some(zero) = node.gate_zero {
            let zero = self.lanes(zero);
            insts.push(self.masks.inst(MaskOp::Mov, &[zero, NO_LANES]));
        }
        let term = insts.len() as u32;
        insts.push(MachInst::new(op::S_CBRANCH_EXECZ, &[Operand::Block(target)]));
        let list = self.out.spare.insts(&insts);
        self.s.whole = insts;
        let block = &mut self.out.blocks[gate];
        block.insts = list;
        block.prologue = prologue;
        block.term = term;
        block.logical[0] = Some(Edge { to: body, args: ArgRange::default() });
    }

    /// Returns whether a value is a `bool`.
    pub fn is_bool(&self, value: Value) -> bool {
        self.ty(value) == Type::Bool
    }
}

fn branch_on(set: bool) -> Opcode {
    if set { op::S_CBRANCH_SCC1 } else { op::S_CBRANCH_SCC0 }
}
