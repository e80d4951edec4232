//! Register pressure, for the scheduler: the number of VGPRs that are live at the beginning of each block,
//! and by how many each instruction changes it.
//!
//! Liveness between blocks is found by walking from every use up to the definition. If many registers are
//! live through many blocks, the walk takes quadratic time. So after [`STEPS`] steps per instruction, the
//! remaining registers count as live in an interval of the layout, from the definition to the last block that
//! needs them. Loops are contiguous in the layout, so the interval overestimates only in blocks from which
//! the uses cannot be reached.

use super::NONE;
use isa::table::Role;
use isa::{MBlock, Operand, RegClass};
use mir::MachFunc;

/// Largest number of steps that the walk over blocks may take for all registers together, per instruction of
/// the function.
const STEPS: usize = 16;

/// Counts for the current function.
#[derive(Debug, Default)]
pub(super) struct Pressure {
    pub flat: Flat,
    /// For each register, the number of uses that are still ahead. `left` counts the uses in the body that is
    /// being scheduled which have not been issued yet, and `uses` the uses outside of this body.
    uses: Vec<u32>,
    left: Vec<u32>,
    /// Position in the current body at which each register is defined.
    pub def: Vec<u32>,
    touched: Vec<u32>,
    live_in: Vec<i32>,
    /// For each block, how many more registers are live than in the block before it in the layout. Used for
    /// registers that count as live in an interval.
    changes: Vec<i32>,
    /// Block that defines each register.
    homes: Vec<u32>,
    loops: Vec<Nest>,
    /// Pairs of a register and a block that uses the register but does not define it.
    used: Vec<(u32, u32)>,
    /// The predecessors of blocks in the logical graph, as linked lists: `preds` has the first link of each
    /// block, and `pred_links` the links.
    preds: Vec<u32>,
    pred_links: Vec<(u32, u32)>,
    /// Register for which each block was visited last.
    seen: Vec<u32>,
    stack: Vec<u32>,
}

/// Position of a block relative to the loops of the layout.
#[derive(Clone, Copy, Debug)]
struct Nest {
    /// Header of the innermost loop.
    inner: u32,
    /// For loop headers only: the header of the enclosing loop (`around`), and the last block of the loop
    /// (`end`).
    around: u32,
    end: u32,
}

/// The virtual registers of all instructions in a single list.
#[derive(Debug, Default)]
pub(super) struct Flat {
    /// Register numbers with flags: [`DEF`] if the instruction writes the register, [`IN_PLACE`] if it
    /// modifies the register, [`VGPR`] if it is a vector register.
    regs: Vec<u32>,
    /// For each instruction, the index of its first register in `regs`; at the end, the length of `regs`.
    starts: Vec<u32>,
    /// Number of each block's first instruction.
    blocks: Vec<u32>,
}

pub(super) const DEF: u32 = 1 << 31;
const VGPR: u32 = 1 << 30;
/// Flag of a use that also gives the register a new value.
pub(super) const IN_PLACE: u32 = 1 << 29;
/// Mask of the register's number.
pub(super) const NUMBER: u32 = IN_PLACE - 1;
/// Entry of `Pressure::def` for a register that is a parameter of the block.
pub(super) const PARAM: u32 = NONE - 1;

impl Flat {
    fn compute(&mut self, func: &MachFunc) {
        self.regs.clear();
        self.starts.clear();
        self.blocks.clear();
        for data in func.blocks.values() {
            self.blocks.push(self.starts.len() as u32);
            for inst in &data.insts {
                self.starts.push(self.regs.len() as u32);
                inst.for_each_reg(|role, operand| {
                    let Operand::Virt(tuple) = operand else { return };
                    let def = match role {
                        Role::Use => 0,
                        Role::Def => DEF,
                        Role::DefUse => IN_PLACE,
                    };
                    for &reg in func.regs(tuple) {
                        let class = if func.vregs[reg] == RegClass::Vgpr { VGPR } else { 0 };
                        self.regs.push(reg.as_u32() | def | class);
                    }
                });
            }
        }
        self.blocks.push(self.starts.len() as u32);
        self.starts.push(self.regs.len() as u32);
    }

    /// Returns the registers of an instruction with their flags. `inst` is the number of the instruction in
    /// the function.
    pub fn inst_registers(&self, inst: u32) -> &[u32] {
        self.range(inst, inst + 1)
    }

    /// Returns the registers of all instructions in a range.
    fn range(&self, from: u32, to: u32) -> &[u32] {
        &self.regs[self.starts[from as usize] as usize..self.starts[to as usize] as usize]
    }

    /// Returns the number of a block's first instruction.
    pub fn first(&self, block: MBlock) -> u32 {
        self.blocks[block.as_u32() as usize]
    }

    /// Returns the registers of a block's instructions.
    fn block(&self, block: MBlock) -> &[u32] {
        self.range(self.first(block), self.blocks[block.as_u32() as usize + 1])
    }
}

impl Pressure {
    /// Computes the liveness of a function's VGPRs. Returns the largest number of VGPRs that are live at the
    /// same time, in source order.
    pub fn compute(&mut self, func: &MachFunc) -> u32 {
        self.flat.compute(func);
        self.count_uses(func);
        self.find_loops(func);
        self.count_live(func);
        func.blocks.keys().map(|block| self.peak(func, block)).max().unwrap_or(0)
    }

    fn count_uses(&mut self, func: &MachFunc) {
        let count = func.vregs.len();
        self.touched.clear();
        for list in [&mut self.uses, &mut self.left] {
            list.clear();
            list.resize(count, 0);
        }
        self.def.clear();
        self.def.resize(count, NONE);
        for &reg in &self.flat.regs {
            self.uses[(reg & NUMBER) as usize] += u32::from(reg & DEF == 0);
        }
        for data in func.blocks.values() {
            for edge in data.linear.iter().chain(&data.logical).flatten() {
                func.edge_args(edge).iter().for_each(|&reg| self.uses[reg.as_u32() as usize] += 1);
            }
        }
    }

    /// Finds loops by their back edges.
    fn find_loops(&mut self, func: &MachFunc) {
        self.loops.clear();
        self.loops.resize(func.blocks.len(), Nest { inner: NONE, around: NONE, end: NONE });
        for (block, data) in func.blocks.iter() {
            for edge in data.logical.iter().flatten().filter(|edge| edge.to <= block) {
                self.loops[edge.to.as_u32() as usize].end = block.as_u32();
            }
        }
        let open = &mut self.stack;
        open.clear();
        for at in 0..func.blocks.len() as u32 {
            while open.last().is_some_and(|&header| self.loops[header as usize].end < at) {
                open.pop();
            }
            let around = open.last().copied().unwrap_or(NONE);
            let nest = &mut self.loops[at as usize];
            (nest.inner, nest.around) = (around, around);
            if nest.end != NONE {
                nest.inner = at;
                open.push(at);
            }
        }
    }

    /// Finds the defining block of each register, and the registers that each block needs from other blocks.
    fn find_uses(&mut self, func: &MachFunc) {
        let Pressure { flat, homes, used, preds, pred_links, .. } = self;
        homes.clear();
        homes.resize(func.vregs.len(), 0);
        preds.clear();
        preds.resize(func.blocks.len(), NONE);
        pred_links.clear();
        for (block, data) in func.blocks.iter() {
            let at = block.as_u32();
            let defs = flat.block(block).iter().filter(|&&reg| reg & DEF != 0).map(|&reg| reg & NUMBER);
            for reg in defs.chain(data.vgpr_params.iter().map(|reg| reg.as_u32())) {
                homes[reg as usize] = at;
            }
            for edge in data.logical.iter().flatten() {
                let list = &mut preds[edge.to.as_u32() as usize];
                pred_links.push((at, *list));
                *list = pred_links.len() as u32 - 1;
            }
        }
        used.clear();
        for (block, data) in func.blocks.iter() {
            let at = block.as_u32();
            let uses = flat.block(block).iter().filter(|&&reg| reg & (DEF | VGPR) == VGPR);
            let args = data.logical.iter().flatten().flat_map(|edge| func.edge_args(edge));
            let regs = uses.map(|&reg| reg & NUMBER).chain(args.map(|reg| reg.as_u32()));
            used.extend(regs.filter(|&reg| homes[reg as usize] != at).map(|reg| (reg, at)));
        }
        used.sort_unstable();
        used.dedup();
    }

    /// Computes the number of VGPRs that are live at the beginning of each block.
    fn count_live(&mut self, func: &MachFunc) {
        self.find_uses(func);
        let count = func.blocks.len();
        for list in [&mut self.live_in, &mut self.changes] {
            list.clear();
            list.resize(count + 1, 0);
        }
        self.seen.clear();
        self.seen.resize(count, NONE);
        let mut steps = STEPS * self.flat.starts.len();
        let used = std::mem::take(&mut self.used);
        for uses in used.chunk_by(|a, b| a.0 == b.0) {
            if steps > 0 {
                steps = steps.saturating_sub(self.walk_up(uses));
            } else {
                self.span(uses);
            }
        }
        self.used = used;
        let mut live = 0;
        for (exact, change) in self.live_in.iter_mut().zip(&self.changes) {
            live += change;
            *exact += live;
        }
    }

    /// Counts a register as live in all blocks on the way from its uses up to its definition. Returns the
    /// number of blocks that were visited.
    fn walk_up(&mut self, uses: &[(u32, u32)]) -> usize {
        let Pressure { homes, live_in, seen, stack, preds, pred_links, .. } = self;
        let mut steps = 0;
        for &(reg, block) in uses {
            stack.push(block);
            while let Some(at) = stack.pop() {
                steps += 1;
                if at == homes[reg as usize] || seen[at as usize] == reg {
                    continue;
                }
                seen[at as usize] = reg;
                live_in[at as usize] += 1;
                let mut pred = preds[at as usize];
                while let Some(&(from, next)) = pred_links.get(pred as usize) {
                    stack.push(from);
                    pred = next;
                }
            }
        }
        steps
    }

    /// Counts a register as live in an interval of the layout: from the block that defines it to the last
    /// block that needs it. A loop that uses the register but does not define it needs it up to the last
    /// block of the loop.
    fn span(&mut self, uses: &[(u32, u32)]) {
        let home = self.homes[uses[0].0 as usize];
        let mut end = home;
        for &(_, at) in uses {
            let mut around = self.loops[at as usize].inner;
            end = end.max(at);
            while around != NONE && around > home {
                end = end.max(self.loops[around as usize].end);
                around = self.loops[around as usize].around;
            }
        }
        self.changes[home as usize + 1] += 1;
        self.changes[end as usize + 1] -= 1;
    }

    /// Prepares the counts for the scheduling of a body. Uses in the body now count as uses that have not
    /// been issued yet, and no longer as uses elsewhere. Returns how many VGPRs are live at the start of the
    /// body.
    pub fn begin(&mut self, func: &MachFunc, block: MBlock, from: u32, to: u32) -> i32 {
        let Pressure { flat, uses, left, def, touched, .. } = self;
        for &reg in flat.range(from, to) {
            let n = (reg & NUMBER) as usize;
            if reg & DEF == 0 {
                left[n] += 1;
                uses[n] -= 1;
            } else {
                def[n] = 0;
                touched.push(reg & NUMBER);
            }
        }
        let params = &func.blocks[block].vgpr_params;
        for &reg in params {
            def[reg.as_u32() as usize] = PARAM;
            touched.push(reg.as_u32());
        }
        self.live_in[block.as_u32() as usize] + params.len() as i32
    }

    /// Restores the counts of uses in the function that [`Pressure::begin`] changed. All instructions of the
    /// body must have been issued.
    pub fn end(&mut self, from: u32, to: u32) {
        let Pressure { flat, uses, def, touched, .. } = self;
        for &reg in flat.range(from, to).iter().filter(|&&reg| reg & DEF == 0) {
            uses[(reg & NUMBER) as usize] += 1;
        }
        touched.drain(..).for_each(|reg| def[reg as usize] = NONE);
    }

    /// Subtracts the uses of an instruction from the body's counts when it is issued. Returns the change in
    /// the number of live VGPRs.
    pub fn issue(&mut self, inst: u32) -> i32 {
        let mut change = 0;
        let Pressure { flat, left, uses, def, .. } = self;
        for &reg in flat.inst_registers(inst) {
            let n = (reg & NUMBER) as usize;
            let vector = reg & VGPR != 0;
            if reg & DEF != 0 {
                change += i32::from(vector && left[n] + uses[n] > 0);
                continue;
            }
            left[n] -= 1;
            // A register dies here only if it is defined in this block and has no other use left. For
            // registers from other blocks this is not known.
            change -= i32::from(vector && left[n] == 0 && uses[n] == 0 && def[n] != NONE);
        }
        change
    }

    /// Returns the largest number of VGPRs live in the block, in source order.
    fn peak(&mut self, func: &MachFunc, block: MBlock) -> u32 {
        let data = &func.blocks[block];
        let first = self.flat.first(block);
        let (from, to) = (first + data.prologue, first + data.term);
        let mut live = self.begin(func, block, from, to);
        let mut peak = live;
        for inst in from..to {
            live += self.issue(inst);
            peak = peak.max(live);
        }
        self.end(from, to);
        peak as u32
    }
}
