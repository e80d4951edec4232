//! The canonical form of loops that loop passes rely on: each loop has one entering edge, from a block that
//! only jumps (its preheader), and one back edge.
//!
//! Also contains [`close`], for values that are defined in a loop and used after it. It passes them to their
//! uses through block parameters of the exit blocks. A pass can then copy or change the loop without changing
//! these uses.

use crate::analysis::{Cfg, Loop, LoopForest};
use crate::entity::{Block, Inst, Value};
use crate::func::{Function, SrcLoc, Values};
use crate::op::Op;
use crate::track::Track;
use cranelift_entity::EntityRef;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Gives every loop a preheader and a single latch. Returns whether the control flow changed; the analyses
/// are stale then.
pub fn canonicalize(func: &mut Function, cfg: &Cfg, loops: &LoopForest) -> bool {
    let mut changed = false;
    for l in loops.loops() {
        let header = loops.header(l);
        if loops.preheader(l).is_none() {
            join_edges(func, cfg, header, |pred| !loops.contains(l, pred));
            changed = true;
        }
        if loops.latches(l).len() > 1 {
            join_edges(func, cfg, header, |pred| loops.contains(l, pred));
            changed = true;
        }
    }
    changed
}

/// Inserts a block between `to` and the predecessors for which `chosen` returns true. The new block has a
/// parameter only where the edges pass different values. If a loop counter starts with the same number on all
/// edges, the number therefore stays visible as its first value.
fn join_edges(func: &mut Function, cfg: &Cfg, to: Block, chosen: impl Fn(Block) -> bool) {
    let between = func.make_block();
    let mut edges: SmallVec<[(Inst, usize); 4]> = SmallVec::new();
    // If several edges lead from one block to `to`, the block occurs in the list once for each of them, at
    // consecutive positions.
    for same in cfg.preds(to).chunk_by(|a, b| a == b).filter(|same| chosen(same[0])) {
        let Some(last) = func.terminator(same[0]) else { continue };
        let ways = (0..func.branch_count(last)).filter(|&which| func.branch_target(last, which) == Some(to));
        edges.extend(ways.map(|which| (last, which)));
    }
    let passed = pass_through(func, to, between, &edges);
    let mut args = Values::new();
    for &(last, which) in &edges {
        args.clear();
        let given = func.branch_args(last, which).iter().zip(&passed);
        args.extend(given.filter(|(_, to)| func.block_of(**to) == between).map(|(&arg, _)| arg));
        func.set_branch_args(last, which, &args);
        func.set_target(last, which, between);
    }
    func.push(between, Op::Jump(to), &passed, SrcLoc(0));
    func.layout.push(between);
}

/// Returns the arguments that the new block `between` passes to the parameters of `to`. If all of `edges`
/// pass the same value, this value is the argument. Otherwise the argument is a new parameter of `between`.
fn pass_through(func: &mut Function, to: Block, between: Block, edges: &[(Inst, usize)]) -> Values {
    let mut passed = Values::new();
    for n in 0..func.params(to).len() {
        let mut given = edges.iter().map(|&(last, which)| func.branch_args(last, which)[n]);
        let first = given.next();
        passed.push(match first.filter(|&first| given.all(|other| other == first)) {
            Some(value) => value,
            None => {
                let ty = func.ty(func.params(to)[n]);
                func.add_param(between, ty)
            }
        });
    }
    passed
}

/// Returns the arguments that the edge from `pred` to `to` passes, if there is exactly one such edge.
pub fn edge_args(func: &Function, pred: Block, to: Block) -> Option<&[Value]> {
    let last = func.terminator(pred)?;
    let mut edges = (0..func.branch_count(last)).filter(|&w| func.branch_target(last, w) == Some(to));
    let which = edges.next()?;
    edges.next().is_none().then(|| func.branch_args(last, which))
}

/// For each loop, the uses outside the loop of values that it defines.
#[derive(Debug, Default)]
pub struct OutsideUses {
    of: Vec<Vec<(Value, Inst)>>,
    /// For each block, the wanted loop that contains it.
    home: Vec<Option<Loop>>,
    /// Reusable memory of [`Closer`].
    known: FxHashMap<(Value, Block), Value>,
    open: Vec<(Value, Block)>,
}

impl OutsideUses {
    /// For each loop for which `wanted` returns true, finds the uses outside the loop of values that the loop
    /// defines. These loops must not be nested in each other.
    pub fn find(&mut self, func: &Function, cfg: &Cfg, loops: &LoopForest, wanted: impl Fn(Loop) -> bool) {
        self.of.iter_mut().for_each(Vec::clear);
        self.of.resize_with(loops.len().max(self.of.len()), Vec::new);
        self.home.clear();
        self.home.resize(func.blocks.len(), None);
        let mut first = None;
        for l in loops.loops().filter(|&l| wanted(l)) {
            first = first.or(Some(cfg.position(loops.header(l))));
            loops.blocks(l).iter().for_each(|&block| self.home[block.index()] = Some(l));
        }
        // Blocks that a loop header dominates come after the header in this order.
        for &block in &cfg.rpo()[first.map_or(cfg.rpo().len(), |at| at as usize)..] {
            for &inst in func.blocks[block].insts() {
                func.args(inst).iter().for_each(|&value| self.note(func, value, inst));
            }
        }
    }

    fn note(&mut self, func: &Function, value: Value, inst: Inst) {
        let home = |block: Block| self.home.get(block.index()).copied().flatten();
        if let Some(l) = home(func.block_of(value))
            && home(func.insts[inst].block) != Some(l)
            && self.of[l.index()].last() != Some(&(value, inst))
        {
            self.of[l.index()].push((value, inst));
        }
    }
}

/// Closes a loop: each use outside the loop of a value that the loop defines gets the value through block
/// parameters. `uses` must be up to date, and remains up to date for loops that come later in the order.
pub fn close(func: &mut Function, cfg: &Cfg, loops: &LoopForest, l: Loop, uses: &mut OutsideUses) {
    let OutsideUses { of, known, open, .. } = uses;
    let list = std::mem::take(&mut of[l.index()]);
    let (known, open) = (std::mem::take(known), std::mem::take(open));
    let mut closer = Closer { cfg, loops, l, known, open };
    for &(value, inst) in &list {
        let outside = closer.read(func, value, func.insts[inst].block);
        func.args_mut(inst).iter_mut().filter(|arg| **arg == value).for_each(|arg| *arg = outside);
        uses.note(func, outside, inst);
    }
    closer.pass_to_params(func, uses);
    if let Some(mut track) = func.track.take() {
        closer.track(func, &mut track);
        func.track = Some(track);
    }
    let Closer { mut known, mut open, .. } = closer;
    known.clear();
    open.clear();
    (uses.known, uses.open) = (known, open);
    // No outside uses are left.
    uses.of[l.index()] = list;
    uses.of[l.index()].clear();
}

struct Closer<'a> {
    cfg: &'a Cfg,
    loops: &'a LoopForest,
    l: Loop,
    known: FxHashMap<(Value, Block), Value>,
    /// Parameters that were created for a value and for which the predecessors do not pass arguments yet.
    open: Vec<(Value, Block)>,
}

impl Closer<'_> {
    /// Returns the value that holds the loop's `value` in `block`: `value` itself inside the loop, a block
    /// parameter outside.
    fn read(&mut self, func: &mut Function, value: Value, block: Block) -> Value {
        let mut at = block;
        let found = loop {
            if self.loops.contains(self.l, at) {
                break value;
            }
            if let Some(&found) = self.known.get(&(value, at)) {
                break found;
            }
            match *self.cfg.preds(at) {
                [pred] if !self.loops.contains(self.l, pred) => at = pred,
                _ => {
                    let param = func.add_param(at, func.ty(value));
                    self.known.insert((value, at), param);
                    self.open.push((value, at));
                    break param;
                }
            }
        };
        if at != block {
            self.known.insert((value, block), found);
        }
        found
    }

    /// Makes the debug facts after the loop use the same parameters, where parameters exist.
    fn track(&self, func: &Function, track: &mut Track) {
        let mut notes = std::mem::take(&mut track.notes);
        let is_inside = |value: Value| self.loops.contains(self.l, func.block_of(value));
        for &block in func.layout.iter().filter(|&&block| !self.loops.contains(self.l, block)) {
            for &inst in func.blocks[block].insts() {
                notes.change(inst, |what| {
                    what.filter_map(|value| match is_inside(value) {
                        false if track.is_computed_of(func, value, &is_inside) => None,
                        false => Some(value),
                        true => self.known_in(func, value, block),
                    })
                });
            }
        }
        track.notes = notes;
    }

    /// Like [`Closer::read`], but creates no parameters. Returns `None` if a parameter would be needed.
    fn known_in(&self, func: &Function, value: Value, block: Block) -> Option<Value> {
        if !self.loops.contains(self.l, func.block_of(value)) || func.const_bits(value).is_some() {
            return Some(value);
        }
        let mut at = block;
        loop {
            if let Some(&found) = self.known.get(&(value, at)) {
                return Some(found);
            }
            match *self.cfg.preds(at) {
                [pred] if !self.loops.contains(self.l, pred) => at = pred,
                _ => return None,
            }
        }
    }

    fn pass_to_params(&mut self, func: &mut Function, uses: &mut OutsideUses) {
        // Parameters are processed in the order in which they were created, which is the order of each
        // block's parameters.
        let mut next = 0;
        while let Some(&(value, block)) = self.open.get(next) {
            next += 1;
            let preds = self.cfg.preds(block);
            for (n, &pred) in preds.iter().enumerate() {
                if preds[..n].contains(&pred) {
                    continue;
                }
                let arg = self.read(func, value, pred);
                let Some(last) = func.terminator(pred) else { continue };
                for which in 0..func.branch_count(last) {
                    if func.branch_target(last, which) == Some(block) {
                        func.push_branch_arg(last, which, arg);
                    }
                }
                uses.note(func, arg, last);
            }
        }
    }
}
