//! Jump tables: lowering of a switch that has a dense range of cases and whose operand has the same value in
//! all lanes.
//!
//! # Shape
//! A table is a row of `s_branch` instructions: one *entry* for each number in the range, and a last entry
//! for values outside of the range. The head of the table jumps into the row: `entries + 4 * min(value - lo,
//! count)`. In the IR the row is a chain of conditional branches, in which entry `n` tests whether the
//! operand is number `n`. In both control-flow graphs of the machine function, an entry also leads to its
//! target or to the next entry. These edges include all paths that the program counter can take and a few
//! more, so all later passes treat registers, waits and lanes correctly without knowing about tables. Only
//! the comparisons are not emitted. [`mir::MachBlock::next_entry`] distinguishes such a row from other code.
//!
//! # When
//! Lanes must stay together in the whole row, and no lanes may be parked at a target where they would block
//! jumps to other targets. The [plan](crate::plan) of the row shows whether this holds. If it does not, the
//! function is prepared again with trees of comparisons instead.

use crate::lower::Lower;
use crate::plan::{Entry, Exit, Plan};
use crate::roles::Role;
use ir::analysis::Analyses;
use ir::{BinOp, Block, CastOp, Function, Inst, IntCc, Op, SrcLoc, Type, Value};
use isa::{MachInst, Operand};

/// Number of code bytes from the address that `s_getpc_b64` returns to the first entry. They hold
/// `s_add_u32`, `s_addc_u32` and `s_setpc_b64`.
const TO_ENTRIES: i32 = 12;
/// Stands for "no row".
const NONE: u32 = u32::MAX;

/// A jump table.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// The block that jumps into the table.
    head: Block,
    /// Value that is the number of the entry.
    index: Value,
    /// First entry; the entries are consecutive blocks.
    first: Block,
    count: u32,
}

/// The jump tables of a function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    rows: Vec<Row>,
    /// Index of the row to which each block belongs.
    of: Vec<u32>,
}

impl Rows {
    /// Returns whether there are no tables.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the jump table of which a block is an entry, and the number of the entry. Returns `None` for
    /// other blocks.
    fn table_of_block(&self, block: Block) -> Option<(&Row, u32)> {
        let &row = self.of.get(block.as_u32() as usize)?;
        let row = self.rows.get(row as usize)?;
        Some((row, block.as_u32().checked_sub(row.first.as_u32())?))
    }

    /// Returns the entries of the jump table whose first entry is `block`; no entries if there is no such
    /// table. The flag says whether `block` is an entry of a table, but not the first one.
    pub fn entries(&self, block: Block) -> (impl Iterator<Item = Block> + use<>, bool) {
        let (first, count) = match self.table_of_block(block) {
            Some((row, 0)) => (row.first.as_u32(), row.count),
            _ => (0, 0),
        };
        ((first..first + count).map(Block::from_u32), self.table_of_block(block).is_some_and(|(_, n)| n > 0))
    }

    /// Returns whether the block is a jump-table entry that must be followed directly by the next entry in
    /// the layout.
    pub fn needs_next_entry(&self, block: Block) -> bool {
        self.table_of_block(block).is_some_and(|(row, n)| n + 1 < row.count)
    }

    /// If `block` is an entry of a jump table, returns the head of the table, that is, the block that jumps
    /// into it. Otherwise returns `block` itself. The same lanes are active in the head and in the entries.
    pub fn head_of(&self, block: Block) -> Block {
        self.table_of_block(block).map_or(block, |(row, _)| row.head)
    }
}

/// Lowers the switches of a function. A switch becomes a jump table if `wanted` is set and a table is
/// worthwhile, and otherwise comparisons.
pub(crate) fn lower_switches(func: &mut Function, an: &mut Analyses, rows: &mut Rows, wanted: bool) {
    rows.rows.clear();
    rows.of.clear();
    let is_switch = |inst: Inst| matches!(func.insts[inst].op, Op::Switch(_));
    if !func.layout.iter().any(|&block| func.terminator(block).is_some_and(is_switch)) {
        return;
    }
    lower(func, an, rows, wanted);
}

#[inline(never)]
fn lower(func: &mut Function, an: &mut Analyses, rows: &mut Rows, wanted: bool) {
    an.compute(func);
    if wanted {
        for at in 0..func.layout.len() {
            let block = func.layout[at];
            if !an.uniformity.is_branch_divergent(block) {
                rows.make(func, an, block);
            }
        }
    }
    ir::passes::switch::run(func, false, |value| an.uniformity.is_uniform(value));
}

/// A successor, and the arguments passed to it.
type Way = (Block, Vec<Value>);

impl Rows {
    fn make(&mut self, func: &mut Function, an: &Analyses, head: Block) -> Option<()> {
        let inst = func.terminator(head)?;
        let Op::Switch(switch) = func.insts[inst].op else { return None };
        let data = &func.switches[switch];
        if !ir::passes::switch::is_row(&data.cases) {
            return None;
        }
        let lo = data.cases.first()?.lo;
        let last = data.cases.last()?.hi - lo;
        let edges: Vec<u32> = (0..=last).map(|n| data.edge_of(lo + n) as u32).chain([0]).collect();
        let mut ways: Vec<Way> = Vec::with_capacity(edges.len() + 1);
        for edge in edges {
            let to = func.branch_target(inst, edge as usize)?;
            ways.push((to, func.branch_args(inst, edge as usize).to_vec()));
        }
        // A loop must contain either the whole row of entries or nothing of it. If the last entry leads out
        // of the loop, it would not belong to the loop. In this case another entry is added, which leads back
        // into the loop and is never taken.
        if let Some(l) = an.loops.innermost(head)
            && !an.loops.contains(l, ways.last()?.0)
        {
            let back = ways.iter().find(|(to, _)| an.loops.contains(l, *to))?.clone();
            ways.push(back);
        }
        let (value, loc) = (func.args(inst)[0], func.insts[inst].loc);
        func.remove_terminator(head);
        let index = number(func, head, value, lo, last + 1, loc);
        let first = self.chain(func, index, &ways, loc);
        func.push(head, Op::Jump(first), &[], loc);
        self.rows.push(Row { head, index, first, count: ways.len() as u32 });
        Some(())
    }

    /// Creates the entries.
    fn chain(&mut self, func: &mut Function, index: Value, ways: &[Way], loc: SrcLoc) -> Block {
        let blocks: Vec<Block> = ways.iter().map(|_| func.add_block()).collect();
        self.of.resize(func.blocks.len(), NONE);
        for (n, (&block, (to, args))) in blocks.iter().zip(ways).enumerate() {
            self.of[block.as_u32() as usize] = self.rows.len() as u32;
            let Some(&next) = blocks.get(n + 1) else {
                func.push(block, Op::Jump(*to), args, loc);
                continue;
            };
            let number = func.push1(block, Op::Const(n as u64), &[], Type::I32, loc);
            let is_it = func.push1(block, Op::Icmp(IntCc::Eq), &[index, number], Type::Bool, loc);
            let operands: Vec<Value> = std::iter::once(is_it).chain(args.iter().copied()).collect();
            let op = Op::Br { then: *to, otherwise: next, then_args: args.len() as u16 };
            func.push(block, op, &operands, loc);
        }
        blocks[0]
    }
}

/// Returns `min(value - lo, most)` as `i32`.
fn number(func: &mut Function, block: Block, value: Value, lo: u64, most: u64, loc: SrcLoc) -> Value {
    let ty = func.ty(value);
    let mut above = value;
    if lo != 0 {
        let lo = func.push1(block, Op::Const(lo), &[], ty, loc);
        above = func.push1(block, Op::Bin(BinOp::Sub), &[value, lo], ty, loc);
    }
    let most = func.push1(block, Op::Const(most), &[], ty, loc);
    let index = func.push1(block, Op::Bin(BinOp::UMin), &[above, most], ty, loc);
    match ty {
        Type::I64 => func.push1(block, Op::Cast(CastOp::Trunc), &[index], Type::I32, loc),
        _ => index,
    }
}

impl Plan {
    /// Returns whether the plan keeps the form of every jump table: the entries must follow each other, and
    /// contain only their branches. [`Lower::table_jump`] relies on this form.
    pub fn rows_hold(&self, func: &Function, an: &Analyses) -> bool {
        self.rows.rows.iter().all(|row| {
            let (head, first) = (self.position_of(row.head), self.position_of(row.first));
            let home = an.loops.innermost(row.head);
            let entry = |n: u32| {
                let node = &self.nodes[(first + n) as usize];
                let bare = node.entry == Entry::Plain
                    && node.save.is_none()
                    && node.zero.is_none()
                    && node.parks.iter().all(Option::is_none);
                let goes_on = match node.exit {
                    Exit::Uniform { otherwise, .. } => otherwise == first + n + 1,
                    Exit::Jump(_) => n + 1 == row.count,
                    _ => false,
                };
                let block = Block::from_u32(row.first.as_u32() + n);
                let passes_nothing = n + 1 == row.count
                    || func.terminator(block).is_some_and(|inst| func.branch_args(inst, 0).is_empty());
                node.block == block && bare && passes_nothing && goes_on && an.loops.innermost(block) == home
            };
            self.nodes[head as usize].exit == Exit::Jump(first)
                && first == head + 1
                && (first + row.count) as usize <= self.nodes.len()
                && (0..row.count).all(entry)
        })
    }
}

impl Lower<'_> {
    /// Emits the jump into a jump table, if the current block is the head of a table whose first entry is
    /// `next`. Returns the number of instructions in the terminator group, or 0 if there is no such table.
    pub fn table_jump(&mut self, next: Block) -> u32 {
        let Some((&Row { head, index, .. }, 0)) = self.plan.rows.table_of_block(next) else { return 0 };
        if head != self.block {
            return 0;
        }
        let (offset, pc, to) = (self.stemp(1), self.stemp(2), self.stemp(2));
        let index = self.sgpr(index);
        self.emit(Role::SShlAddU32, &[offset, index, Operand::int(TO_ENTRIES)]);
        self.emit_raw(Role::SGetpcB64, &[pc]);
        let halves = [self.dword(pc, 0), self.dword(pc, 1)];
        self.scalar_add64(to, halves, [offset, Operand::int(0)]);
        self.emit_raw(Role::SSetpcB64, &[to]);
        4
    }

    /// Emits the `s_branch` of a jump-table entry that is not the last entry.
    pub fn table_entry(&mut self, to: isa::MBlock) -> u32 {
        self.push(MachInst::new(isa::op::S_BRANCH, &[Operand::Block(to)]));
        1
    }
}
