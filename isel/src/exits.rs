//! Gives divergent loops with many exit targets a single exit.
//!
//! Lanes that leave a loop are parked until the other lanes leave. Each block at which lanes are parked needs
//! a lane mask, in SGPRs, throughout the loop. If there are a hundred such blocks, the masks do not fit into
//! the SGPRs. So if a loop has more than [`MAX_PLACES`] exit targets, called *places*, each lane that leaves
//! carries the number of its place in a vector register. All lanes go to one block, the *dispatch*, and a
//! chain of comparisons sends each lane to its place. In this chain only the mask for the next comparison is
//! live, however many places there are.
//!
//! Values of the loop that a place needs are passed in parameters of the dispatch, the *slots*. Places share
//! slots: a lane passes the values that its own place needs, and meaningless values in all other slots.
//!
//! Inner loops are processed first, because a dispatch may be part of the outer loop, which the dispatch's
//! comparisons then leave.

use crate::exits_in_loop::{ExitsInLoop, end_op};
use cranelift_entity::EntityRef;
use ir::analysis::{Analyses, Loop};
use ir::{Block, Function, Inst, IntCc, Op, SrcLoc, Type, Value};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// Largest number of places that may have a mask each.
const MAX_PLACES: usize = 16;
/// Largest number of slots (values that the exits pass to the dispatch). Every exit passes a value for every
/// slot, so a loop that needs more slots stays unchanged.
const MAX_SLOTS: usize = 32;
/// Stands for "no region".
const NONE: u32 = u32::MAX;

/// Gives each divergent loop with many exit targets a single exit. Returns whether the function has changed.
/// If it has, the analyses have been recomputed.
pub(crate) fn run(func: &mut Function, an: &mut Analyses) -> bool {
    let mut leaving = ExitsInLoop::default();
    let mut changed = false;
    while an.loops.loops().any(|l| has_many_exits(an, l)) {
        leaving.compute(func, an);
        let mut round = Round::default();
        round.find(func, an, &leaving);
        if round.regions.is_empty() || !round.number(func, an) {
            break;
        }
        an.compute(func);
        changed = true;
    }
    changed
}

/// A divergent loop with many exits, which gets a single exit. The region consists of the blocks of the loop,
/// and of short blocks after its exits that are laid out inside the loop.
struct Region {
    /// Blocks with edges out of the region.
    sources: Vec<Block>,
    /// Exit targets: the blocks to which edges lead out of the region, in layout order. They are called
    /// *places*. A lane that leaves carries the number of its place.
    places: Vec<Block>,
    /// The closest common dominator of all sources.
    gathering: Block,
    /// Types of the slots.
    slots: Vec<Type>,
    /// For each place (exit target), the values that lanes need there. They pass the values through the
    /// dispatch, where each value has a parameter (slot). Each entry has the number of the slot and what is
    /// passed in it.
    carried: Vec<SmallVec<[(usize, Carried); 4]>>,
    /// Values that all lanes pass through the dispatch, whatever their exit target is. Each has the number of
    /// its slot (parameter of the dispatch). An exit at which the value is not available passes a meaningless
    /// value.
    common: Vec<(usize, Value)>,
    /// Parameters of the dispatch block: the number of the lane's exit target (place), followed by the slots,
    /// which carry values.
    params: Vec<Value>,
}

/// What is passed in a slot.
#[derive(Clone, Copy)]
enum Carried {
    /// The argument for that parameter of the place.
    Param(usize),
    /// A value that is defined in the region.
    Value(Value),
}

/// The loops to which one round of the pass gives a single exit. None of them is inside another one.
#[derive(Default)]
struct Round {
    regions: Vec<Region>,
    /// Region of each block.
    region: Vec<u32>,
    /// Number of each place in its region.
    places: FxHashMap<(u32, Block), usize>,
    /// For each block, the closest exit target among the block itself and its dominators, counting only exit
    /// targets whose edges all come from one loop (region). Through this exit target the block gets values of
    /// the loop. `None` if there is no such exit target.
    owner: Vec<Option<Block>>,
    /// The slots (parameters of the dispatch) that carry values of a loop to uses after the loop. The key has
    /// the value and, if an exit target dominates the use, this exit target. The entry is the number of the
    /// slot.
    slots: FxHashMap<(Value, Option<Block>), usize>,
    /// Constants that edges pass as arguments. They are defined at the end of the function's entry block.
    constants: FxHashMap<(Type, u64), Value>,
    made: Vec<Inst>,
}

fn has_many_exits(an: &Analyses, l: Loop) -> bool {
    an.loops.exits(l).len() > MAX_PLACES && an.uniformity.is_loop_divergent(l)
}

fn index(block: Block) -> usize {
    block.as_u32() as usize
}

impl Round {
    /// Finds the loops of the round, innermost first.
    #[inline(never)]
    fn find(&mut self, func: &Function, an: &Analyses, leaving: &ExitsInLoop) {
        self.region.resize(func.blocks.len(), NONE);
        let mut taken = vec![false; an.loops.len()];
        for l in an.loops.loops().rev() {
            let number = l.index();
            if !taken[number] && has_many_exits(an, l) {
                taken[number] = self.add(func, an, leaving, l);
            }
            if let Some(parent) = an.loops.parent(l) {
                taken[parent.index()] |= taken[number];
            }
        }
    }

    fn add(&mut self, func: &Function, an: &Analyses, leaving: &ExitsInLoop, l: Loop) -> bool {
        let mut sources: Vec<Block> = Vec::new();
        let mut places: Vec<Block> = Vec::new();
        let mut short: Vec<Block> = Vec::new();
        for &(from, to) in an.loops.exits(l) {
            match end_op(func, to) {
                Op::Jump(onward) if leaving.leaves_loop(func, an, to) => {
                    short.push(to);
                    sources.push(to);
                    places.push(onward);
                }
                _ => {
                    sources.push(from);
                    places.push(to);
                }
            }
        }
        for list in [&mut sources, &mut places, &mut short] {
            list.sort_unstable_by_key(|&block| an.cfg.position(block));
            list.dedup();
        }
        let header = an.loops.header(l);
        let masks = places.iter().filter(|&&place| !an.postdom.post_dominates(place, header)).count();
        if masks <= MAX_PLACES {
            return false;
        }
        let number = self.regions.len() as u32;
        for &block in an.loops.blocks(l).iter().chain(&short) {
            self.region[index(block)] = number;
        }
        for (n, &place) in places.iter().enumerate() {
            self.places.insert((number, place), n);
        }
        let mut gathering = sources[0];
        for &source in &sources {
            while !an.dom.dominates(gathering, source) {
                gathering = an.dom.idom(gathering).unwrap_or(header);
            }
        }
        let carried = vec![SmallVec::new(); places.len()];
        let mut region = Region {
            sources,
            places,
            gathering,
            slots: Vec::new(),
            carried,
            common: Vec::new(),
            params: Vec::new(),
        };
        for n in 0..region.places.len() {
            for (k, &param) in func.params(region.places[n]).iter().enumerate().take(MAX_SLOTS + 1) {
                let slot = region.slot(n, func.ty(param));
                region.carried[n].push((slot, Carried::Param(k)));
            }
        }
        self.regions.push(region);
        true
    }

    /// Redirects the exits of all loops of the round to dispatch blocks. Lanes then carry the number of their
    /// exit target to the dispatch. Returns whether anything was changed.
    #[inline(never)]
    fn number(&mut self, func: &mut Function, an: &Analyses) -> bool {
        self.find_owners(an);
        self.find_slots(func, an);
        let fits: Vec<bool> = self.regions.iter().map(|region| region.slots.len() <= MAX_SLOTS).collect();
        if !fits.contains(&true) {
            return false;
        }
        for region in self.regions.iter_mut().zip(&fits).filter(|(_, fits)| **fits).map(|(region, _)| region)
        {
            let dispatch = func.make_block();
            func.layout.push(dispatch);
            let types = [Type::I32].into_iter().chain(region.slots.iter().copied());
            region.params = types.map(|ty| func.add_param(dispatch, ty)).collect();
        }
        self.use_slots(func, an);
        for n in (0..self.regions.len()).filter(|&n| fits[n]) {
            self.leave(func, an, n as u32);
            self.regions[n].dispatch(func, |func, number| {
                constant(func, &mut self.constants, &mut self.made, Type::I32, number)
            });
        }
        let entry = func.entry();
        self.made.drain(..).for_each(|inst| func.insert_at_end(entry, inst));
        true
    }

    fn find_owners(&mut self, an: &Analyses) {
        self.owner.resize(self.region.len(), None);
        for &block in an.cfg.rpo() {
            let own = self.owning_region(an, block).is_some();
            let above = an.dom.idom(block).and_then(|up| self.owner[index(up)]);
            self.owner[index(block)] = if own { Some(block) } else { above };
        }
    }

    /// Returns the loop (region) from which all edges to `block` come, if `block` is outside of it. The block
    /// is then an exit target of this loop only. Returns `None` if there is no such loop.
    fn owning_region(&self, an: &Analyses, block: Block) -> Option<u32> {
        let first = self.region[index(*an.cfg.preds(block).first()?)];
        let all = an.cfg.preds(block).iter().all(|&pred| self.region[index(pred)] == first);
        (first != NONE && all && self.region[index(block)] != first).then_some(first)
    }

    /// Returns the exit target of loop number `region` that dominates `block`, if there is one. All edges to
    /// this exit target come from the loop.
    fn place_before(&self, an: &Analyses, region: u32, block: Block) -> Option<Block> {
        let mut place = self.owner[index(block)];
        while let Some(found) = place {
            if self.owning_region(an, found) == Some(region) {
                return Some(found);
            }
            place = an.dom.idom(found).and_then(|up| self.owner[index(up)]);
        }
        None
    }

    /// Assigns a slot (parameter of the dispatch) to values that are defined in a loop and used after it,
    /// where the use cannot read the value directly any more. These are values that are not available at all
    /// exits of the loop, and scalar values that only one exit target needs.
    fn find_slots(&mut self, func: &Function, an: &Analyses) {
        for &block in an.cfg.rpo() {
            for &inst in func.blocks[block].insts() {
                for &value in func.args(inst) {
                    self.find_slot(func, an, value, block);
                }
            }
        }
    }

    fn find_slot(&mut self, func: &Function, an: &Analyses, value: Value, block: Block) {
        let home = func.block_of(value);
        let number = self.region[index(home)];
        let known = func.def_op(value).is_some_and(|op| {
            matches!(op, Op::Const(_) | Op::SlotAddr(_) | Op::GlobalAddr(_) | Op::FuncAddr(_))
        });
        if number == NONE || number == self.region[index(block)] || known {
            return;
        }
        let place = self.place_before(an, number, block);
        let region = &mut self.regions[number as usize];
        if region.slots.len() > MAX_SLOTS {
            return;
        }
        let scalar = func.ty(value) == Type::Bool || an.uniformity.is_uniform(value);
        if an.dom.dominates(home, region.gathering) && !(scalar && place.is_some()) {
            return;
        }
        if self.slots.contains_key(&(value, place)) {
            return;
        }
        let slot = match place {
            Some(place) => {
                let n = self.places[&(number, place)];
                let slot = region.slot(n, func.ty(value));
                region.carried[n].push((slot, Carried::Value(value)));
                slot
            }
            None => {
                region.slots.push(func.ty(value));
                region.common.push((region.slots.len() - 1, value));
                region.slots.len() - 1
            }
        };
        self.slots.insert((value, place), slot);
    }

    /// Replaces uses of a loop's values after the loop: they now read the parameter of the dispatch that
    /// carries the value (its slot).
    fn use_slots(&self, func: &mut Function, an: &Analyses) {
        if self.slots.is_empty() {
            return;
        }
        for &block in an.cfg.rpo() {
            for n in 0..func.blocks[block].insts().len() {
                let inst = func.blocks[block].insts()[n];
                for k in 0..func.args(inst).len() {
                    let value = func.args(inst)[k];
                    let number = self.region[index(func.block_of(value))];
                    if number == NONE || number == self.region[index(block)] {
                        continue;
                    }
                    let place = self.place_before(an, number, block);
                    if let Some(&slot) = self.slots.get(&(value, place))
                        && let Some(&param) = self.regions[number as usize].params.get(slot + 1)
                    {
                        func.set_arg(inst, k, param);
                    }
                }
            }
        }
    }

    /// Redirects the edges that leave a loop (region): they lead to the loop's dispatch, and pass the number
    /// of the exit target and the values for the slots.
    fn leave(&mut self, func: &mut Function, an: &Analyses, number: u32) {
        let region = &self.regions[number as usize];
        let Some(&first) = region.params.first() else { return };
        let dispatch = func.block_of(first);
        for &source in &region.sources {
            let Some(last) = func.terminator(source) else { continue };
            for which in 0..func.branch_count(last) {
                let Some(place) = func.branch_target(last, which) else { continue };
                let Some(&n) = self.places.get(&(number, place)) else { continue };
                let old: SmallVec<[Value; 8]> = func.branch_args(last, which).into();
                func.clear_branch_args(last, which);
                func.set_target(last, which, dispatch);
                let mut constant = |func: &mut Function, ty, bits| {
                    constant(func, &mut self.constants, &mut self.made, ty, bits)
                };
                let mut args: SmallVec<[Option<Value>; MAX_SLOTS]> = smallvec![None; region.slots.len()];
                for &(slot, carried) in &region.carried[n] {
                    args[slot] = Some(match carried {
                        Carried::Param(k) => old[k],
                        Carried::Value(value) => value,
                    });
                }
                for &(slot, value) in &region.common {
                    args[slot] = an.dom.dominates(func.block_of(value), source).then_some(value);
                }
                let number = constant(func, Type::I32, n as u64);
                func.push_branch_arg(last, which, number);
                for (slot, &arg) in args.iter().enumerate() {
                    let arg = arg.unwrap_or_else(|| constant(func, region.slots[slot], 0));
                    func.push_branch_arg(last, which, arg);
                }
            }
        }
    }
}

impl Region {
    /// Returns the number of a slot (parameter of the dispatch) with type `ty` that carries no value yet for
    /// lanes on their way to exit target `place`. Adds a slot if there is none.
    fn slot(&mut self, place: usize, ty: Type) -> usize {
        let used = |slot: usize| {
            self.carried[place].iter().any(|&(have, _)| have == slot)
                || self.common.iter().any(|&(have, _)| have == slot)
        };
        match (0..self.slots.len()).find(|&slot| self.slots[slot] == ty && !used(slot)) {
            Some(slot) => slot,
            None => {
                self.slots.push(ty);
                self.slots.len() - 1
            }
        }
    }

    /// Creates the dispatch: a chain of comparisons with the number of a lane's exit target. Each comparison
    /// sends lanes to one exit target. Lanes for which no comparison is true go to the last one.
    fn dispatch(&self, func: &mut Function, mut constant: impl FnMut(&mut Function, u64) -> Value) {
        let mut block = func.block_of(self.params[0]);
        let count = self.places.len();
        for (n, &place) in self.places[..count - 1].iter().enumerate() {
            let last = n + 2 == count;
            let next = if last { self.places[n + 1] } else { func.make_block() };
            if !last {
                func.layout.push(next);
            }
            let number = constant(func, n as u64);
            let loc = SrcLoc::default();
            let found = func.push1(block, Op::Icmp(IntCc::Eq), &[self.params[0], number], Type::Bool, loc);
            let mut args: SmallVec<[Value; 8]> = smallvec![found];
            args.extend(self.arguments(n));
            let then_args = (args.len() - 1) as u16;
            if last {
                args.extend(self.arguments(n + 1));
            }
            func.push(block, Op::Br { then: place, otherwise: next, then_args }, &args, loc);
            block = next;
        }
    }

    /// Returns the arguments for a place's parameters.
    fn arguments(&self, place: usize) -> impl Iterator<Item = Value> {
        let params = self.carried[place].iter().filter(|(_, carried)| matches!(carried, Carried::Param(_)));
        params.map(|&(slot, _)| self.params[slot + 1])
    }
}

/// Returns a constant that is defined in the entry block.
fn constant(
    func: &mut Function,
    known: &mut FxHashMap<(Type, u64), Value>,
    made: &mut Vec<Inst>,
    ty: Type,
    bits: u64,
) -> Value {
    *known.entry((ty, bits)).or_insert_with(|| {
        let inst = func.make_inst(func.entry(), Op::Const(bits), &[], ty, 1, SrcLoc::default());
        made.push(inst);
        func.insts[inst].first
    })
}
