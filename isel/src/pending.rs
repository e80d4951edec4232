//! Puts the lane masks of parked lanes into SSA form over the linear graph (the paths of the program
//! counter). A block with [`Entry::Pending`] has a mask of the lanes that are parked at it, that is, that
//! wait inactive until the program counter arrives.
//!
//! A mask exists from the first block that adds lanes to it to the block that uses it. If the block that uses
//! it comes after a loop, in which lanes are parked, the mask exists from the loop header on, because lanes
//! of earlier iterations may already be parked when the header begins.

use crate::mask::{LaneMask, Masks};
use crate::plan::{Entry, GATE, NOWHERE, Parking, Plan, Pos};
use ir::analysis::Analyses;
use mir::MachFunc;

/// A lane mask that a block receives as a parameter, because its predecessors in the linear graph end with
/// different masks of the lanes that are parked.
#[derive(Clone, Copy, Debug)]
struct Param {
    at: Pos,
    mask: LaneMask,
}

/// Argument for a mask parameter.
#[derive(Clone, Copy, Debug)]
struct Arg {
    /// The edge that passes the argument, as the positions of predecessor and successor. If the edge starts
    /// at the gate of a block, [`GATE`] is added to the position.
    edge: (Pos, Pos),
    mask: LaneMask,
}

/// The lane masks that blocks receive as parameters, and the arguments that edges pass for these parameters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pending {
    params: Vec<Param>,
    args: Vec<Arg>,
    /// Linear predecessors of each position.
    preds: Lists,
    /// Blocks that park lanes at each target position.
    parkers: Lists,
    /// The lane mask that is being put into SSA form, as it is at the entry and at the end of each block.
    /// `None` stands for an empty mask.
    values: Vec<[Option<LaneMask>; 2]>,
}

impl Pending {
    /// Creates the masks of all pending blocks of the plan.
    pub fn compute(&mut self, plan: &mut Plan, an: &Analyses, masks: Masks, out: &mut MachFunc) {
        self.params.clear();
        self.args.clear();
        self.preds.fill(plan.nodes.len(), |add| {
            for (at, node) in plan.nodes.iter().enumerate() {
                node.linear.into_iter().filter(|&to| to != NOWHERE).for_each(|to| add(to, at as Pos));
                // The gate of the block has its own outgoing edge.
                if node.gate != NOWHERE {
                    add(node.gate, at as Pos | GATE);
                }
            }
        });
        for (at, node) in plan.nodes.iter_mut().enumerate() {
            node.joins = self.preds.items_of(at as Pos).len() as u32;
        }
        self.parkers.fill(plan.nodes.len(), |add| {
            for (at, node) in plan.nodes.iter().enumerate() {
                node.parked_at().for_each(|to| add(to, at as Pos));
            }
        });
        self.values.clear();
        self.values.resize(plan.nodes.len(), [None; 2]);
        for target in 0..plan.nodes.len() as Pos {
            if plan.nodes[target as usize].entry == Entry::Pending(None) {
                self.mask(plan, an, masks, out, target);
            }
        }
        // The sort must be stable, because the parameters of a block must stay in the order in which they
        // were created: the arguments are in the same order. A stable sort allocates memory, so a list that
        // is already sorted is not sorted again.
        if !self.params.is_sorted_by_key(|param| param.at) {
            self.params.sort_by_key(|param| param.at);
        }
        if !self.args.is_sorted_by_key(|arg| arg.edge) {
            self.args.sort_by_key(|arg| arg.edge);
        }
    }

    /// Returns the mask parameters of a block.
    pub fn params(&self, at: Pos) -> impl Iterator<Item = LaneMask> {
        let first = self.params.partition_point(|param| param.at < at);
        self.params[first..].iter().take_while(move |param| param.at == at).map(|param| param.mask)
    }

    /// Returns the lane masks that are passed as arguments on the edge from `from` to `to`. [`GATE`] is added
    /// to `from` if the edge starts at the gate of that block.
    pub fn args(&self, from: Pos, to: Pos) -> impl Iterator<Item = LaneMask> {
        let first = self.args.partition_point(|arg| arg.edge < (from, to));
        self.args[first..].iter().take_while(move |arg| arg.edge == (from, to)).map(|arg| arg.mask)
    }

    /// Returns the position of the first block, in layout order, at which the lane mask of the block `target`
    /// must exist. This is the first block that parks lanes at `target`. If lanes may already be parked there
    /// when this block begins, it is an earlier block.
    fn begin(&self, plan: &Plan, target: Pos) -> Pos {
        let mut begin = self.parkers.items_of(target).first().map_or(target, |&first| first);
        while begin > 0 && plan.waits(target, begin) {
            begin -= 1;
        }
        begin
    }

    /// Returns the mask at the end of a predecessor.
    fn leaving(&self, pred: Pos) -> Option<LaneMask> {
        self.values[(pred & !GATE) as usize][usize::from(pred & GATE == 0)]
    }

    /// Returns whether the mask of lanes that are parked at `target` is carried around a loop whose header is
    /// the block at position `at`. This is so if a block of the loop parks lanes at `target`.
    fn carried(&self, plan: &Plan, an: &Analyses, target: Pos, at: Pos) -> bool {
        let block = plan.nodes[at as usize].block;
        let Some(l) = an.loops.innermost(block).filter(|&l| an.loops.header(l) == block) else {
            return false;
        };
        let end = an.loops.latches(l).iter().map(|&latch| plan.position_of(latch)).max().unwrap_or(at);
        let parkers = self.parkers.items_of(target);
        parkers.get(parkers.partition_point(|&p| p < at)).is_some_and(|&p| p <= end)
    }

    fn mask(&mut self, plan: &mut Plan, an: &Analyses, masks: Masks, out: &mut MachFunc, target: Pos) {
        let begin = self.begin(plan, target);
        let first_param = self.params.len();
        for at in begin..=target {
            let mut value = None;
            if plan.waits(target, at) {
                let preds = self.preds.items_of(at);
                let first = preds.first().and_then(|&p| self.leaving(p));
                let same = preds.iter().all(|&p| p & !GATE >= at || self.leaving(p) == first);
                value = first;
                if !same || self.carried(plan, an, target, at) {
                    let mask = masks.registers(out);
                    self.params.push(Param { at, mask });
                    value = Some(mask);
                }
            }
            self.values[at as usize][0] = value;
            let node = &mut plan.nodes[at as usize];
            if at == target {
                node.entry = Entry::Pending(value);
            } else if node.parked_at().any(|to| to == target) {
                let new = masks.registers(out);
                let free = usize::from(node.parks[0].is_some());
                node.parks[free] = Some(Parking { target, new, old: value });
                value = Some(new);
            }
            self.values[at as usize][1] = value;
        }
        for n in first_param..self.params.len() {
            self.pass_arguments(plan, masks, out, self.params[n].at);
        }
        self.values[begin as usize..=target as usize].fill([None; 2]);
    }

    /// Sets the arguments for the mask parameter of the block at position `at`. Each edge to the block passes
    /// the mask as it is at the end of the edge's predecessor.
    fn pass_arguments(&mut self, plan: &mut Plan, masks: Masks, out: &mut MachFunc, at: Pos) {
        for n in 0..self.preds.items_of(at).len() {
            let pred = self.preds.items_of(at)[n];
            let node = &mut plan.nodes[(pred & !GATE) as usize];
            let zero = if pred & GATE == 0 { &mut node.zero } else { &mut node.gate_zero };
            let mask =
                self.leaving(pred).unwrap_or_else(|| *zero.get_or_insert_with(|| masks.registers(out)));
            self.args.push(Arg { edge: (pred, at), mask });
        }
    }
}

/// For each position in the layout, a list of positions. All lists are stored one after the other in one
/// vector.
#[derive(Clone, Debug, Default)]
struct Lists {
    starts: Vec<u32>,
    items: Vec<Pos>,
}

impl Lists {
    /// Fills the lists. The closure `each` must call its argument once for each item, with the position whose
    /// list gets the item, and the item itself. `each` is called twice: the first time items are counted, the
    /// second time stored.
    fn fill(&mut self, count: usize, each: impl Fn(&mut dyn FnMut(Pos, Pos))) {
        self.starts.clear();
        self.starts.resize(count + 2, 0);
        each(&mut |list, _| self.starts[list as usize + 2] += 1);
        for n in 2..self.starts.len() {
            self.starts[n] += self.starts[n - 1];
        }
        self.items.clear();
        self.items.resize(self.starts[count + 1] as usize, NOWHERE);
        each(&mut |list, item| {
            let next = &mut self.starts[list as usize + 1];
            self.items[*next as usize] = item;
            *next += 1;
        });
    }

    fn items_of(&self, list: Pos) -> &[Pos] {
        &self.items[self.starts[list as usize] as usize..self.starts[list as usize + 1] as usize]
    }
}
