//! Cross-lane operations in code through which lanes leave a loop.
//!
//! A loop in the control-flow graph consists of the blocks from which a path leads back to its header. Code
//! directly before a `break` or `return` has no such path and is therefore outside the loop. Lanes that leave
//! in different iterations would run this code together, after the last lane has left. In the source,
//! however, the code is in the loop, and a ballot in it means the lanes of one iteration:
//!
//! ```text
//! loop {
//!     if read_first_lane(v) == v {
//!         n = wave_reduce_add(1u32);
//!         break;
//!     }
//! }
//! ```
//!
//! If code on the way out of a loop depends on other lanes, it gets a branch back to the loop header that is
//! never taken. The code is then part of the loop in the control-flow graph, too. Code that calls functions
//! also gets such a branch. Whether a called function depends on other lanes is known only after all
//! functions have been lowered. [`remove_needless_ways_back`] then removes the branches that are not needed.

use super::control::Loop;
use super::ssa::Edge;
use super::{Lower, Scratch, func_id};
use ir::{Block, FuncId, IntCc, Linkage, Module, Op, Type, Value, WaveOp};
use smallvec::SmallVec;

/// A never-taken branch back to the loop header, on a way out of the loop that calls functions. The branch is
/// removed again if the called functions turn out not to depend on other lanes.
pub struct WayBack {
    func: FuncId,
    /// `block` is the block that ends in the branch. `before` is the number of instructions that this block
    /// had before the branch and its condition were added.
    block: Block,
    before: usize,
    callees: SmallVec<[FuncId; 4]>,
}

/// Returns whether the result of an operation depends on which lanes are active, as that of a ballot does.
fn asks(op: Op) -> bool {
    match op {
        Op::Wave(op) => op != WaveOp::Mbcnt,
        // The called function is unknown.
        Op::CallIndirect(_) => true,
        _ => false,
    }
}

/// The blocks of a loop's body, starting with its header.
struct Body {
    first: usize,
    /// For each block, whether it needs a never-taken branch back to the header. This is so for a block that
    /// depends on other lanes and from which no path leads back to the header. It is also so for the blocks
    /// after it on the way out of the loop.
    asks: Vec<bool>,
    /// For each block from which no path leads back to the header: whether this block, or a block before it
    /// on the way out of the loop, contains a call. False for all other blocks.
    calls: Vec<bool>,
}

impl Body {
    fn is(&self, what: &[bool], block: Block) -> bool {
        let at = (block.as_u32() as usize).checked_sub(self.first);
        at.and_then(|at| what.get(at)) == Some(&true)
    }
}

impl Lower<'_, '_> {
    /// Adds never-taken branches to the header of the innermost loop, at its exits whose code depends on
    /// other lanes. The loop has been lowered, but the code after the loop has not. `leg` is the branch in
    /// the head of a `while` or `for` loop, which is emitted later: its block, and the block of the body to
    /// which it leads.
    pub(super) fn keep_together(&mut self, header: Block, leg: Option<(Block, Block)>) {
        let Some(entry) = self.loops.last() else { return };
        let Loop { crossings, returned, .. } = *entry;
        // An exit of the loop is an edge that begins in a block of the loop and belongs to a `break` of this
        // loop, to a `break` or `continue` of an outer loop, or to a `return`.
        let edges = self.loops.iter().flat_map(|entry| entry.breaks.iter().chain(&entry.continues));
        let is_within = |edge: &Edge| edge.block >= header;
        let leaves = edges.chain(&self.returns[returned..]).any(is_within);
        if crossings == self.crossings || !leaves {
            return;
        }
        let Some(body) = self.body(header, leg) else { return };
        for at in 0..self.loops.len() {
            for n in 0..self.loops[at].breaks.len() {
                let block = self.loops[at].breaks[n].block;
                self.loops[at].breaks[n].block = self.way_back(&body, block, header);
            }
            for n in 0..self.loops[at].continues.len() {
                let block = self.loops[at].continues[n].block;
                self.loops[at].continues[n].block = self.way_back(&body, block, header);
            }
        }
        for n in returned..self.returns.len() {
            let block = self.returns[n].block;
            self.returns[n].block = self.way_back(&body, block, header);
        }
    }

    /// Classifies the blocks of a loop's body. Returns `None` if the loop needs no never-taken branches. This
    /// is so if no path leads back to the header, because then there is no loop. It is also so if all blocks
    /// on the ways out of the loop neither depend on other lanes nor call functions.
    fn body(&self, header: Block, leg: Option<(Block, Block)>) -> Option<Body> {
        let first = header.as_u32() as usize;
        let count = self.func.blocks.len() - first;
        let block = |at: usize| Block::from_u32((first + at) as u32);
        let number = |block: Block| (block.as_u32() as usize).checked_sub(first).filter(|&at| at < count);
        let succs = |at: usize| {
            let behind_head = leg.filter(|&(head, _)| head == block(at)).map(|(_, to)| to);
            self.func.succs(block(at)).chain(behind_head).filter_map(number)
        };
        // Computes from which blocks a path leads back to the header. A loop has few back edges, so one or
        // two backward sweeps over its blocks find all of them.
        let mut returns = vec![false; count];
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for at in (0..count).rev() {
                let leads = !returns[at] && succs(at).any(|to| to == 0 || returns[to]);
                returns[at] |= leads;
                changed |= leads;
            }
        }
        let out: SmallVec<[usize; 64]> = (0..count).filter(|&at| !returns[at]).collect();
        let has = |what: fn(Op) -> bool| {
            let within = |&at: &usize| {
                let mut insts = self.func.blocks[block(at)].insts().iter();
                insts.any(|&inst| what(self.func.insts[inst].op))
            };
            let mut has = vec![false; count];
            out.iter().filter(|&at| within(at)).for_each(|&at| has[at] = true);
            has
        };
        let (mut asks, mut calls) = (has(asks), has(|op| matches!(op, Op::Call(_))));
        if !returns[0] || !asks.contains(&true) && !calls.contains(&true) {
            return None;
        }
        changed = true;
        while std::mem::take(&mut changed) {
            for &from in &out {
                for to in succs(from).filter(|&to| !returns[to]) {
                    for what in [&mut asks, &mut calls] {
                        changed |= what[from] && !what[to];
                        what[to] |= what[from];
                    }
                }
            }
        }
        Some(Body { first, asks, calls })
    }

    /// Adds a never-taken branch to the loop header at the end of `block`, if the block depends on other
    /// lanes or calls functions that may do so. Returns the block at which lowering continues: the new block
    /// after the branch, or `block` itself if it needs no branch.
    fn way_back(&mut self, body: &Body, block: Block, header: Block) -> Block {
        let asks = body.is(&body.asks, block);
        if !asks && !body.is(&body.calls, block) {
            return block;
        }
        let before = self.func.blocks[block].insts().len();
        let here = std::mem::replace(&mut self.block, block);
        // The condition of the branch is that no lane is active. This is never true, but the optimiser cannot
        // know it.
        let yes = self.constant(Type::Bool, 1);
        let lanes = self.emit(Op::Wave(WaveOp::Ballot), &[yes], Type::I64);
        let zero = self.constant(Type::I64, 0);
        let nobody = self.emit(Op::Icmp(IntCc::Eq), &[lanes, zero], Type::Bool);
        self.block = here;
        let mut args = SmallVec::<[Value; 8]>::from_slice(&[nobody]);
        args.extend_from_slice(self.func.params(header));
        let on = self.func.add_block();
        let op = Op::Br { then: header, otherwise: on, then_args: args.len() as u16 - 1 };
        self.func.push(block, op, &args, self.loc);
        if !asks {
            let callees = self.callees(body);
            self.ways_back.push(WayBack { func: func_id(self.number), block, before, callees });
        }
        on
    }

    /// Returns the functions that the exits of a loop call.
    fn callees(&self, body: &Body) -> SmallVec<[FuncId; 4]> {
        let blocks = self.func.blocks.keys().filter(|&block| body.is(&body.calls, block));
        let insts = blocks.flat_map(|block| self.func.blocks[block].insts());
        let callee = |&inst: &ir::Inst| match self.func.insts[inst].op {
            Op::Call(callee) => Some(callee),
            _ => None,
        };
        insts.filter_map(callee).collect()
    }
}

/// Removes never-taken branches to loop headers that were added because of calls. A branch is removed if the
/// called functions turn out not to depend on other lanes.
pub fn remove_needless_ways_back(module: &mut Module, s: &mut Scratch) {
    if s.ways_back.is_empty() {
        return;
    }
    // Library functions that depend on other lanes have names that begin with `wave_`.
    let mut asking: Vec<bool> = module.funcs.values().map(|func| func.linkage == Linkage::Extern).collect();
    asking.extend(s.library.iter().map(|name| name.starts_with("wave_")));
    let is = |asking: &[bool], callee: FuncId| asking.get(callee.as_u32() as usize) == Some(&true);
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for (id, func) in module.funcs.iter() {
            let mut ops = func.insts.values().map(|inst| inst.op);
            let at = id.as_u32() as usize;
            let does = |op| asks(op) || matches!(op, Op::Call(callee) if is(&asking, callee));
            if !asking[at] && ops.any(does) {
                (asking[at], changed) = (true, true);
            }
        }
    }
    for WayBack { func, block, before, callees } in s.ways_back.drain(..) {
        if callees.iter().any(|&callee| is(&asking, callee)) {
            continue;
        }
        let func = &mut module.funcs[func];
        let branch = func.terminator(block);
        if let Some(Op::Br { otherwise, .. }) = branch.map(|branch| func.insts[branch].op) {
            let loc = branch.map_or_else(Default::default, |branch| func.insts[branch].loc);
            func.remove_from(block, before);
            func.push(block, Op::Jump(otherwise), &[], loc);
        }
    }
}
