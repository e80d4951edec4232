//! Computes which registers are live at block boundaries.
//!
//! For each register, the analysis starts at the blocks that read the register before writing it, and walks
//! up through the predecessors to the definitions. Each block is visited once per register. The work is
//! proportional to the size of the result, so large functions in which few registers are live at a time cost
//! no more per instruction than small functions.
//!
//! Registers that are live across many blocks are kept in bit sets instead ([`crate::live_bitsets`]), where
//! one word covers 64 registers. Most functions have few such registers.

use crate::live_bitsets::{Dense, members};
use crate::stream::{ClassStream, Event, Streams, edges};
use cranelift_entity::EntityRef;
use isa::table::Role;
use mir::MachFunc;

const NONE: u32 = u32::MAX;

/// Several linked lists in one array. Each entry has an item and the index of the next entry of the same
/// list. `heads` has the index of the first entry of each list.
#[derive(Default)]
struct Lists {
    heads: Vec<u32>,
    entries: Vec<(u32, u32)>,
}

impl Lists {
    fn reset(&mut self, count: usize) {
        self.heads.clear();
        self.heads.resize(count, NONE);
        self.entries.clear();
    }

    fn push(&mut self, list: u32, value: u32) {
        let head = &mut self.heads[list as usize];
        self.entries.push((value, *head));
        *head = self.entries.len() as u32 - 1;
    }

    fn iter(&self, list: u32) -> impl Iterator<Item = u32> + '_ {
        let entry = |at: u32| self.entries.get(at as usize);
        std::iter::successors(entry(self.heads[list as usize]), move |&&(_, next)| entry(next))
            .map(|&(value, _)| value)
    }
}

/// Largest size of the bit sets, in words per operand of the function.
const WORDS: usize = 8;

/// Number of words of a bit set that cost as much as one item of a linked list. With this number, the cost of
/// bit sets and that of lists are compared.
const WORDS_PER_ENTRY: usize = 4;

/// Number of blocks between the first definition and the last use of a register. From this distance on, the
/// register is considered to be live across many blocks.
const FAR: u32 = 16;

/// Registers that are live at block boundaries.
#[derive(Default)]
pub(crate) struct Flow {
    /// Bit sets of the registers that are live across many blocks, if such sets are worthwhile. All other
    /// registers are in lists.
    pub dense: Dense,
    /// Distance that tests use instead of [`FAR`].
    pub far: Option<u32>,
    live_in: Lists,
    live_out: Lists,
    preds: Lists,
    /// `exposed` has, for each register, the blocks that read it before writing it. `globals` lists the
    /// registers with at least one such block.
    exposed: Lists,
    globals: Vec<u32>,
    /// The registers of `globals` that are kept in sets.
    chosen: Vec<u32>,
    /// `defs` has, for each register, the blocks that write it. `first` has the first of these blocks.
    defs: Lists,
    first: Vec<u32>,
    /// For each register, the block that was last added to its list in `defs` (`written`) and in `exposed`
    /// (`read`). With these, the same block is not added twice in a row.
    written: Vec<u32>,
    read: Vec<u32>,
    /// Marks that prevent repeated visits of a block for the same register, by block. `def_mark` has the last
    /// register that the block was found to write. `in_mark` and `out_mark` have the last registers for which
    /// the block's entry and its end were visited.
    def_mark: Vec<u32>,
    in_mark: Vec<u32>,
    out_mark: Vec<u32>,
    work: Vec<u32>,
}

impl Flow {
    /// Computes the registers of a class that are live at block boundaries. To limit the work, stops and
    /// returns false if on average more than `most` registers are live at the beginning of a block. Registers
    /// in bit sets do not count for this limit.
    pub fn run(&mut self, func: &MachFunc, streams: &Streams, class: usize, most: Option<u32>) -> bool {
        let blocks = func.blocks.len();
        let registers = streams.phys_base as usize + 2;
        self.live_in.reset(blocks);
        self.live_out.reset(blocks);
        self.scan(&streams.class[class], blocks, registers);
        self.dense.clear();
        if self.globals.is_empty() {
            return true;
        }
        self.preds.reset(blocks);
        for (from, block) in func.blocks.iter() {
            for edge in edges(block, class).iter().flatten() {
                self.preds.push(edge.to.as_u32(), from.index() as u32);
            }
        }
        for mark in [&mut self.def_mark, &mut self.in_mark, &mut self.out_mark] {
            mark.clear();
            mark.resize(blocks, NONE);
        }
        if self.choose(blocks, streams.class[class].regs.len()) {
            self.fill(registers, blocks);
            self.dense.solve(func, class);
        }
        for i in 0..self.globals.len() {
            self.spread(self.globals[i]);
            let length = self.live_in.entries.len();
            if most.is_some_and(|most| length > most as usize * blocks) {
                return false;
            }
        }
        true
    }

    /// Moves registers from `globals` to `chosen`, the registers that are kept in bit sets. These are the
    /// registers that are live across many blocks. Does so only if the sets cost less than lists, and returns
    /// whether it did.
    fn choose(&mut self, blocks: usize, operands: usize) -> bool {
        let Flow { chosen, globals, read, first, far, .. } = self;
        // With few blocks, distances are short and sets are small.
        let far = far.unwrap_or(FAR.min(blocks as u32 / 4));
        let distance = |reg: u32| match first[reg as usize] {
            NONE => read[reg as usize],
            first => read[reg as usize].abs_diff(first),
        };
        chosen.clear();
        chosen.extend(globals.iter().copied().filter(|&reg| distance(reg) >= far));
        let words = chosen.len().div_ceil(64) * blocks;
        let entries: usize = chosen.iter().map(|&reg| distance(reg) as usize + 1).sum();
        let worth = !chosen.is_empty() && words <= WORDS * operands && words < WORDS_PER_ENTRY * entries;
        if worth {
            globals.retain(|&reg| distance(reg) < far);
        }
        worth
    }

    /// Records in the bit sets which blocks read and write the chosen registers.
    fn fill(&mut self, registers: usize, blocks: usize) {
        let Flow { dense, chosen, exposed, defs, .. } = self;
        dense.reset(chosen, registers, blocks);
        for (number, &reg) in chosen.iter().enumerate() {
            exposed.iter(reg).for_each(|block| dense.read(number, block));
            defs.iter(reg).for_each(|block| dense.write(number, block));
        }
    }

    /// Returns the sum, over all blocks, of the number of registers that are live at the block's beginning.
    pub fn size(&self) -> usize {
        let in_sets = if self.dense.is_used() { self.dense.size() } else { 0 };
        in_sets + self.live_in.entries.len()
    }

    /// Returns the registers that are live at a block's beginning.
    pub fn live_in(&self, block: usize) -> impl Iterator<Item = u32> + '_ {
        let set = if self.dense.is_used() { self.dense.in_set(block) } else { &[] };
        self.listed_in(block).chain(members(set).map(|number| self.dense.register(number)))
    }

    /// Returns the registers that are live at a block's beginning, without those in bit sets.
    pub fn listed_in(&self, block: usize) -> impl Iterator<Item = u32> + '_ {
        self.live_in.iter(block as u32)
    }

    /// Returns the predecessors of a block. They are computed only if some register is live at a block
    /// boundary.
    pub fn preds(&self, block: usize) -> impl Iterator<Item = u32> + '_ {
        self.preds.iter(block as u32)
    }

    /// Returns the registers that are live at a block's end, without those in bit sets.
    pub fn listed_out(&self, block: usize) -> impl Iterator<Item = u32> + '_ {
        self.live_out.iter(block as u32)
    }

    fn scan(&mut self, stream: &ClassStream, blocks: usize, registers: usize) {
        self.exposed.reset(registers);
        self.defs.reset(registers);
        self.globals.clear();
        for last in [&mut self.written, &mut self.read, &mut self.first] {
            last.clear();
            last.resize(registers, NONE);
        }
        for block in 0..blocks {
            for event in &stream.events[stream.events_of(block)] {
                self.event(stream, event, block as u32);
            }
        }
    }

    fn event(&mut self, stream: &ClassStream, event: &Event, block: u32) {
        let ops = stream.ops_of(event);
        for op in ops.iter().filter(|op| op.role != Role::Def) {
            for &reg in stream.regs_of(op) {
                let read = &mut self.read[reg as usize];
                if self.written[reg as usize] != block && *read != block {
                    if *read == NONE {
                        self.globals.push(reg);
                    }
                    *read = block;
                    self.exposed.push(reg, block);
                }
            }
        }
        for op in ops.iter().filter(|op| op.role == Role::Def) {
            for &reg in stream.regs_of(op) {
                match std::mem::replace(&mut self.written[reg as usize], block) {
                    before if before == block => continue,
                    NONE => self.first[reg as usize] = block,
                    _ => {}
                }
                self.defs.push(reg, block);
            }
        }
    }

    /// Marks the blocks through which a register is live.
    fn spread(&mut self, reg: u32) {
        let Flow { live_in, live_out, preds, exposed, defs, def_mark, in_mark, out_mark, work, .. } = self;
        defs.iter(reg).for_each(|block| def_mark[block as usize] = reg);
        work.extend(exposed.iter(reg));
        while let Some(block) = work.pop() {
            if std::mem::replace(&mut in_mark[block as usize], reg) == reg {
                continue;
            }
            live_in.push(block, reg);
            for pred in preds.iter(block) {
                if std::mem::replace(&mut out_mark[pred as usize], reg) != reg {
                    live_out.push(pred, reg);
                    if def_mark[pred as usize] != reg {
                        work.push(pred);
                    }
                }
            }
        }
    }
}
