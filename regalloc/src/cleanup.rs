//! Clean-up after allocation: removes `exec` writes without effect, branches to branches, and empty and
//! unreachable blocks.
//!
//! The pass first reads how each block ends: with an optional conditional branch, and with the block to which
//! control goes otherwise. It replaces a target that is an empty block by the block to which control finally
//! goes. It then writes the branches again for the remaining blocks, and updates the linear edges.

use cranelift_entity::{EntityRef, PrimaryMap};
use isa::table::{Flags, Implicit, Role};
use isa::{MBlock, MachInst, Opcode, Operand, Reg, RegRange, RegSet, Target, op};
use mir::{Edge, MachBlock, MachFunc};

/// Scratch memory of the pass.
#[derive(Default)]
pub(crate) struct Cleanup {
    ends: Vec<End>,
    kept: Vec<bool>,
    number: Vec<u32>,
    exec: Vec<ExecBlock>,
    /// Indices of the instructions of the current block that have no effect and will be removed, last index
    /// first.
    dead: Vec<u32>,
    work: Vec<u32>,
    /// Blocks that run with an EXEC mask that has too many active lanes, because a write of EXEC before the
    /// block was removed. The additional lanes should be inactive in the block, but no instruction of the
    /// block depends on EXEC.
    foreign: Vec<MBlock>,
    /// For each block without instructions, the block to which control finally goes. For any other block, the
    /// block itself.
    forward: Vec<MBlock>,
    spare: PrimaryMap<MBlock, MachBlock>,
}

/// How a block ends.
#[derive(Clone, Copy, Default)]
struct End {
    /// The conditional branch and its target.
    cond: Option<(MachInst, MBlock)>,
    /// `next` is the block to which control goes if the conditional branch is not taken. `jump` is the branch
    /// that goes there, if one is needed.
    next: Option<MBlock>,
    jump: Option<MachInst>,
    /// If the block is an entry of a jump table, the next entry. It must remain the next block in the layout.
    entry: Option<MBlock>,
}

impl End {
    /// Returns a faster end for the last block of a loop. If exactly one of its two targets is a back edge,
    /// the conditional branch goes back to the loop header, and the other target leaves the loop. Each
    /// iteration then executes only one branch. Two branches are executed only when the loop is left.
    fn loops_first(self, block: MBlock) -> End {
        match (self.cond, self.next) {
            (Some((inst, ahead)), Some(back)) if back <= block && block < ahead => {
                let Some(op) = inverse(inst.op) else { return self };
                End { cond: Some((MachInst { op, ..inst }, back)), next: Some(ahead), ..self }
            }
            _ => self,
        }
    }
}

/// Whether EXEC and SCC are live.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct State {
    exec: bool,
    scc: bool,
}

/// Runs the pass.
pub(crate) fn run(func: &mut MachFunc, target: &Target, scratch: &mut Cleanup) {
    scratch.dead_exec_writes(func, target);
    if scratch.read_ends(func) {
        scratch.thread(func);
        scratch.keep(func);
        scratch.write(func);
    }
}

/// Removes EXEC writes that have no effect, and then copies of EXEC that no instruction reads. The function
/// then writes fewer registers, and it need not save callee-saved registers that it does not write.
#[inline(never)]
pub(crate) fn unread_saves(func: &mut MachFunc, target: &Target, scratch: &mut Cleanup) {
    scratch.dead_exec_writes(func, target);
    let exec = Operand::Reg(target.lane_mask(Reg::EXEC));
    let saves = |inst: &MachInst| matches!(inst.op, op::S_MOV_B32 | op::S_MOV_B64) && inst.ops[1] == exec;
    let mut read = RegSet::EMPTY;
    for inst in func.blocks.values().flat_map(|block| &block.insts) {
        inst.for_each_hw_reg(target, |role, range| {
            if role != Role::Def {
                read.insert(range);
            }
        });
    }
    let is_dead = |inst: &MachInst| match inst.ops[0] {
        Operand::Reg(to) => saves(inst) && target.is_sgpr(to.first) && !read.hits(to),
        _ => false,
    };
    for data in func.blocks.values_mut().filter(|data| data.insts.iter().any(is_dead)) {
        for bound in [&mut data.prologue, &mut data.term] {
            *bound -= data.insts[..*bound as usize].iter().filter(|inst| is_dead(inst)).count() as u32;
        }
        data.insts.retain(|inst| !is_dead(inst));
    }
}

/// Returns the branch with the opposite condition.
fn inverse(opcode: Opcode) -> Option<Opcode> {
    Some(match opcode {
        op::S_CBRANCH_SCC0 => op::S_CBRANCH_SCC1,
        op::S_CBRANCH_SCC1 => op::S_CBRANCH_SCC0,
        op::S_CBRANCH_VCCZ => op::S_CBRANCH_VCCNZ,
        op::S_CBRANCH_VCCNZ => op::S_CBRANCH_VCCZ,
        op::S_CBRANCH_EXECZ => op::S_CBRANCH_EXECNZ,
        op::S_CBRANCH_EXECNZ => op::S_CBRANCH_EXECZ,
        _ => return None,
    })
}

const SCC: RegRange = RegRange { first: Reg::SCC, len: 1 };

/// How one or several instructions affect the liveness of EXEC and SCC. `needs` says which of the two they
/// read, and `keeps` which they do not overwrite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Effect {
    needs: State,
    keeps: State,
}

impl Effect {
    /// The effect of an empty sequence.
    const NONE: Effect =
        Effect { needs: State { exec: false, scc: false }, keeps: State { exec: true, scc: true } };

    fn from_inst(target: &Target, inst: &MachInst) -> Effect {
        let mask = target.lane_mask(Reg::EXEC);
        let mut effect = Effect::NONE;
        for (index, operand) in inst.operands().iter().enumerate() {
            if let Operand::Reg(range) = *operand
                && (range.overlaps(mask) || range.overlaps(SCC))
            {
                effect.meet(inst.role(index), range, mask);
            }
        }
        inst.for_each_implicit(target, |role, range| effect.meet(role, range, mask));
        if inst.op == op::S_ENDPGM {
            effect.keeps = State::default();
        }
        // A barrier stops the wave whatever EXEC is. It counts as an instruction that reads EXEC
        // nevertheless, because EXEC at a barrier shows readers and checkers which lanes have reached the
        // barrier.
        effect.needs.exec |= inst.op == op::S_BARRIER;
        // A trap reads EXEC, because the trap handler reports the active lanes.
        effect.needs.exec |= inst.op == op::S_TRAP;
        // A call, a return or another jump to a function reads EXEC, because the other function continues
        // with the active lanes.
        effect.needs.exec |= inst.is_call() || inst.op == op::S_SETPC_B64;
        effect
    }

    /// Adds registers that are read, written, or both.
    fn meet(&mut self, role: Role, range: RegRange, mask: RegRange) {
        if role != Role::Def {
            self.needs.exec |= range.overlaps(mask);
            self.needs.scc |= range.overlaps(SCC);
        }
        if role != Role::Use {
            // A write of half of EXEC leaves the other half live.
            self.keeps.exec &= !range.covers(mask);
            self.keeps.scc &= !range.covers(SCC);
        }
    }

    /// Returns which of EXEC and SCC are live before instructions with this effect. `after` says which are
    /// live after them.
    fn before(self, after: State) -> State {
        State {
            exec: self.needs.exec || after.exec && self.keeps.exec,
            scc: self.needs.scc || after.scc && self.keeps.scc,
        }
    }

    /// Returns the effect of `self` followed by `next`.
    fn followed_by(self, next: Effect) -> Effect {
        let (own, further) = (self.keeps, next.keeps);
        let keeps = State { exec: own.exec && further.exec, scc: own.scc && further.scc };
        Effect { needs: self.before(next.needs), keeps }
    }
}

/// Summary of a block for the search for dead EXEC writes.
struct ExecBlock {
    effect: Effect,
    /// Whether the block writes EXEC.
    writes: bool,
    /// State that is live at the block's head.
    live: State,
}

impl ExecBlock {
    fn from_block(target: &Target, block: &MachBlock) -> ExecBlock {
        let mut own = ExecBlock { effect: Effect::NONE, writes: false, live: State::default() };
        for inst in block.insts.iter().rev() {
            own.effect = Effect::from_inst(target, inst).followed_by(own.effect);
            own.writes |= writes_exec(target, inst);
        }
        own
    }
}

/// Returns whether an instruction has no use: it only writes EXEC (and possibly SCC), and no instruction
/// reads these results.
fn is_dead(target: &Target, inst: &MachInst, after: State) -> bool {
    writes_exec(target, inst)
        && inst.op.row().is_salu()
        && !inst.implicit().contains(Implicit::WRITE_EXEC)
        && !after.exec
        && !(after.scc && inst.writes(target, SCC))
}

/// Returns whether EXEC is an instruction's result operand.
fn writes_exec(target: &Target, inst: &MachInst) -> bool {
    inst.ops[0] == Operand::Reg(target.lane_mask(Reg::EXEC))
}

impl Cleanup {
    /// Removes EXEC writes whose value no instruction needs before the next EXEC write or the end of the
    /// program.
    fn dead_exec_writes(&mut self, func: &mut MachFunc, target: &Target) {
        let mut insts = func.blocks.values().flat_map(|block| &block.insts);
        if !insts.any(|inst| writes_exec(target, inst)) {
            return;
        }
        self.exec.clear();
        self.exec.extend(func.blocks.values().map(|block| ExecBlock::from_block(target, block)));
        let mut changed = true;
        while changed {
            changed = false;
            for block in func.blocks.keys().rev() {
                let live = self.exec[block.index()].effect.before(self.live_out(func, block));
                changed |= live != std::mem::replace(&mut self.exec[block.index()].live, live);
            }
        }
        for block in func.blocks.keys() {
            if !self.exec[block.index()].writes {
                continue;
            }
            let mut state = self.live_out(func, block);
            let data = &mut func.blocks[block];
            self.dead.clear();
            for (index, inst) in data.insts.iter().enumerate().rev() {
                if is_dead(target, inst, state) {
                    self.dead.push(index as u32);
                } else {
                    state = Effect::from_inst(target, inst).before(state);
                }
            }
            let switches = |&index: &u32| {
                let op = data.insts[index as usize].op;
                index < data.prologue
                    && matches!(op, op::S_AND_B64 | op::S_AND_B32 | op::S_ANDN2_B64 | op::S_ANDN2_B32)
            };
            data.is_foreign |= self.dead.iter().any(switches);
            // If an EXEC write at the end of a block is removed, the next block runs with lanes active that
            // the write would have made inactive.
            let narrows = self.dead.iter().any(|&index| index >= data.term);
            let entered = data.linear.iter().flatten().map(|edge| edge.to);
            let others = |to: MBlock| data.logical.iter().flatten().any(|edge| edge.to != to);
            self.foreign.extend(entered.filter(|&to| narrows && others(to)));
            for bound in [&mut data.prologue, &mut data.term] {
                *bound -= self.dead.iter().filter(|&&index| index < *bound).count() as u32;
            }
            let mut index = 0;
            data.insts.retain(|_| {
                let dead = self.dead.last() == Some(&index);
                if dead {
                    self.dead.pop();
                }
                index += 1;
                !dead
            });
        }
        self.foreign.drain(..).for_each(|block| func.blocks[block].is_foreign = true);
    }

    fn live_out(&self, func: &MachFunc, block: MBlock) -> State {
        let mut out = State::default();
        for edge in func.blocks[block].linear.iter().flatten() {
            let State { exec, scc } = self.exec[edge.to.index()].live;
            out.exec |= exec;
            out.scc |= scc;
        }
        out
    }

    /// Reads how each block ends. Branches occur only in the terminator group of a block. Returns false if a
    /// block ends in a way that this pass does not support.
    fn read_ends(&mut self, func: &MachFunc) -> bool {
        self.ends.clear();
        for (block, data) in func.blocks.iter() {
            let mut end = End { entry: data.next_entry(), ..End::default() };
            let mut open = true;
            for inst in &data.insts[data.term as usize..] {
                let flags = inst.op.row().flags;
                if !flags.contains(Flags::BRANCH) {
                    if end.cond.is_some() {
                        return false;
                    }
                    continue;
                }
                match (inst.op, inst.ops[0]) {
                    (op::S_BRANCH, Operand::Block(to)) if open => {
                        (end.next, end.jump) = (Some(to), Some(*inst));
                        open = false;
                    }
                    (_, Operand::Block(to)) if open && end.cond.is_none() && inverse(inst.op).is_some() => {
                        end.cond = Some((*inst, to));
                    }
                    _ if flags.contains(Flags::NO_FALLTHROUGH) && open => open = false,
                    _ => return false,
                }
            }
            if open {
                let next = block.index() + 1;
                if next == func.blocks.len() {
                    return false;
                }
                end.next = Some(MBlock::new(next));
            }
            self.ends.push(end);
        }
        true
    }

    /// Returns the block at which control finally arrives if it goes to block `to` and follows the branches
    /// of empty blocks. `forward` has been computed for later blocks first, so more than one step is needed
    /// only for a chain of backward jumps.
    fn target(&self, mut to: MBlock) -> MBlock {
        for _ in 0..4 {
            to = self.forward[to.index()];
        }
        to
    }

    fn thread(&mut self, func: &MachFunc) {
        self.forward.clear();
        self.forward.extend(func.blocks.keys());
        for (block, data) in func.blocks.iter().rev() {
            let end = &self.ends[block.index()];
            let branches = usize::from(end.jump.is_some());
            if let (Some(next), None, None) = (end.next, end.cond, end.entry)
                && data.insts.len() == branches
            {
                self.forward[block.index()] = self.forward[next.index()];
            }
        }
        for block in 0..self.ends.len() {
            let mut end = self.ends[block];
            end.next = end.next.map(|next| self.target(next));
            end.cond = end.cond.map(|(inst, to)| (inst, self.target(to)));
            if end.cond.map(|(_, to)| to) == end.next {
                end.cond = None;
            }
            self.ends[block] = end;
        }
    }

    /// Marks the reachable blocks, and numbers them.
    fn keep(&mut self, func: &MachFunc) {
        self.kept.clear();
        self.kept.resize(func.blocks.len(), false);
        self.kept[0] = true;
        self.work.push(0);
        while let Some(block) = self.work.pop() {
            let End { cond, next, entry, .. } = self.ends[block as usize];
            for to in cond.map(|(_, to)| to).into_iter().chain(next).chain(entry) {
                if !std::mem::replace(&mut self.kept[to.index()], true) {
                    self.work.push(to.as_u32());
                }
            }
        }
        self.number.clear();
        let mut next = 0;
        for &kept in &self.kept {
            self.number.push(next);
            next += u32::from(kept);
        }
    }

    fn renamed(&self, block: MBlock) -> MBlock {
        MBlock::from_u32(self.number[block.index()])
    }

    /// Rewrites branches and edges, and removes the unreachable blocks.
    fn write(&mut self, func: &mut MachFunc) {
        let mut following = None;
        for block in (0..self.ends.len()).rev() {
            if self.kept[block] {
                self.write_end(func, MBlock::new(block), following);
                self.logical_edges(func, MBlock::new(block));
                following = Some(MBlock::new(block));
            }
        }
        if self.kept.iter().any(|kept| !kept) {
            for (block, data) in func.blocks.iter_mut() {
                if self.kept[block.index()] {
                    self.spare.push(std::mem::take(data));
                } else {
                    func.spare.give(data);
                }
            }
            std::mem::swap(&mut func.blocks, &mut self.spare);
            self.spare.clear();
        }
    }

    fn write_end(&self, func: &mut MachFunc, block: MBlock, following: Option<MBlock>) {
        let end = self.ends[block.index()];
        let End { cond, next, jump, entry } =
            if following == end.next { end } else { end.loops_first(block) };
        let data = &mut func.blocks[block];
        let edge = |to: MBlock| Some(Edge { to: self.renamed(to), args: mir::ArgRange::default() });
        let entry = entry.and_then(edge);
        let Some(next) = next else {
            data.linear = [entry, None];
            return;
        };
        let is_branch = |inst: &MachInst| inst.op.row().flags.contains(Flags::BRANCH);
        if let Some(branch) = data.insts[data.term as usize..].iter().position(is_branch) {
            data.insts.truncate(data.term as usize + branch);
        }
        data.term = data.term.min(data.insts.len() as u32);
        let to = |to: MBlock| Operand::Block(self.renamed(to));
        let jump = jump.or(cond.map(|(inst, _)| inst)).map_or(0, |inst| inst.loc);
        let mut go = |opcode: Opcode, target: MBlock, like: Option<MachInst>| {
            let inst = like.unwrap_or(MachInst { loc: jump, ..MachInst::new(opcode, &[Operand::None]) });
            let mut ops = inst.ops;
            ops[0] = to(target);
            data.insts.push(MachInst { op: opcode, ops, ..inst });
        };
        match cond {
            Some((inst, taken)) if Some(taken) == following => {
                go(inverse(inst.op).unwrap_or(inst.op), next, Some(inst));
            }
            Some((inst, taken)) => {
                go(inst.op, taken, Some(inst));
                if Some(next) != following {
                    go(op::S_BRANCH, next, None);
                }
            }
            None if Some(next) != following => go(op::S_BRANCH, next, None),
            None => {}
        }
        data.linear = [cond.and_then(|(_, taken)| edge(taken)).or(entry), edge(next)];
        if data.linear[0].is_none() {
            data.linear.swap(0, 1);
        }
    }

    /// Redirects logical edges to the remaining blocks.
    fn logical_edges(&self, func: &mut MachFunc, block: MBlock) {
        let mut edges = func.blocks[block].logical;
        for edge in &mut edges {
            let Some(Edge { mut to, .. }) = *edge else { continue };
            for _ in 0..self.ends.len() {
                if self.kept[to.index()] {
                    break;
                }
                match func.blocks[to].logical.iter().flatten().next() {
                    Some(further) => to = further.to,
                    None => break,
                }
            }
            *edge =
                self.kept[to.index()].then(|| Edge { to: self.renamed(to), args: mir::ArgRange::default() });
        }
        func.blocks[block].logical = edges;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(insts: &[MachInst], linear: &[u32]) -> MachBlock {
        let edge = |to: &u32| Edge { to: MBlock::from_u32(*to), args: mir::ArgRange::default() };
        let mut edges = linear.iter().map(edge);
        let edges = [edges.next(), edges.next()];
        MachBlock { insts: insts.to_vec(), linear: edges, logical: edges, ..MachBlock::default() }
    }

    fn branch(opcode: Opcode, to: u32) -> MachInst {
        MachInst::new(opcode, &[Operand::Block(MBlock::from_u32(to))])
    }

    fn restore() -> MachInst {
        MachInst::new(op::S_OR_B64, &[Operand::EXEC, Operand::EXEC, Operand::regs(Reg(0), 2)])
    }

    fn body() -> MachInst {
        MachInst::new(op::V_MOV_B32, &[Operand::reg(Reg::vgpr(0)), Operand::int(0)])
    }

    fn end() -> MachInst {
        MachInst::new(op::S_ENDPGM, &[Operand::Imm(0)])
    }

    fn cleaned(blocks: &[MachBlock]) -> Vec<String> {
        let mut func = MachFunc { blocks: blocks.iter().cloned().collect(), ..MachFunc::default() };
        let target = Target::by_name("gfx906").expect("a processor");
        run(&mut func, target, &mut Cleanup::default());
        let text = |inst: &MachInst| match inst.ops[0] {
            Operand::Block(to) => format!("{:?} {to}", inst.op),
            _ => format!("{:?}", inst.op),
        };
        func.blocks.values().map(|b| b.insts.iter().map(text).collect::<Vec<_>>().join("; ")).collect()
    }

    #[test]
    fn branch_over_branch_is_inverted() {
        let blocks = [
            block(&[body()], &[1]),
            block(&[body(), branch(op::S_CBRANCH_EXECZ, 2), branch(op::S_BRANCH, 1)], &[2, 1]),
            block(&[body(), end()], &[]),
        ];
        assert_eq!(cleaned(&blocks), ["v_mov_b32", "v_mov_b32; s_cbranch_execnz bb1", "v_mov_b32; s_endpgm"]);
    }

    #[test]
    fn blocks_that_do_nothing_vanish() {
        let blocks = [
            block(&[body(), branch(op::S_CBRANCH_SCC1, 2)], &[2, 1]),
            block(&[], &[2]),
            block(&[branch(op::S_BRANCH, 3)], &[3]),
            block(&[body(), end()], &[]),
        ];
        assert_eq!(cleaned(&blocks), ["v_mov_b32", "v_mov_b32; s_endpgm"]);
    }

    #[test]
    fn exec_is_not_restored_for_nobody() {
        let blocks = [
            block(&[restore(), body(), restore()], &[1]),
            block(&[MachInst::new(op::S_MOV_B64, &[Operand::EXEC, Operand::int(-1)]), body()], &[2]),
            block(&[restore(), end()], &[]),
        ];
        assert_eq!(cleaned(&blocks), ["s_or_b64; v_mov_b32", "s_mov_b64; v_mov_b32", "s_endpgm"]);
    }

    #[test]
    fn exec_is_restored_for_the_trap_handler() {
        let trap = || MachInst::new(op::S_TRAP, &[Operand::Imm(2)]);
        let blocks = [block(&[body(), restore(), trap(), end()], &[])];
        assert_eq!(cleaned(&blocks), ["v_mov_b32; s_or_b64; s_trap; s_endpgm"]);
    }

    #[test]
    fn scc_of_an_exec_write_is_kept() {
        let blocks =
            [block(&[body(), restore(), branch(op::S_CBRANCH_SCC0, 0)], &[0, 1]), block(&[end()], &[])];
        assert_eq!(cleaned(&blocks), ["v_mov_b32; s_or_b64; s_cbranch_scc0 bb0", "s_endpgm"]);
    }
}
