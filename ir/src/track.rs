//! Debug information beside the code: where statements begin, and which value each variable has from where on.
//!
//! # Idea
//! A [`Record`] stands in front of an instruction, its anchor. Records are in no list of instructions and are nobody's operands, so that no pass
//! can decide otherwise because of them: with and without them the code is the same.
//!
//! # What passes owe
//! [`Track::settle`] compares where instructions were with where they are. It finds on its own what was removed, merged, moved and split: a record
//! whose anchor is gone goes to what followed it, and one whose block is gone goes with it. That may be the work of one pass or of several: records
//! are settled by the pass that reads them, before it changes anything, after the one that copies them, and around those that split blocks or give them
//! other ends. What has become of values is asked once, at
//! the end ([`Function::conclude_track`]): a variable whose value is gone is computed by the debugger, or [`What::Lost`]. A pass tells what cannot be seen from
//! outside:
//!
//! * values that stand for others now ([`Function::replace_tracked`]), without which a variable is lost;
//! * copies of code ([`Copier`]), without which the copy has no statements and no variables;
//! * memory that became values (`passes/sroa.rs`).
//!
//! A pass that forgets one of these makes variables unknown, never wrong.

use crate::edit::Subst;
use crate::entity::{Block, Inst, Slot, Value};
use crate::func::{Function, SrcLoc, ValueDef};
use crate::op::{BinOp, CastOp, Op, UnOp};
use cranelift_entity::{EntityRef, SecondaryMap};
use smallvec::SmallVec;
use smol_str::SmolStr;
use std::ops::Range;

/// A local variable or parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Name.
    pub name: SmolStr,
    /// Its type: a number of [`Description::types`](crate::describe::Description).
    pub ty: u32,
    /// Where it is declared.
    pub loc: SrcLoc,
    /// The part of the source in which it can be named, from its declaration on: byte offsets.
    pub scope: Range<u32>,
    /// Number of the parameter it is.
    pub parameter: Option<u16>,
    /// The private memory that it is in.
    pub home: Option<Slot>,
    /// It is values, whatever it is in: from where on it has one is said by records.
    pub is_value: bool,
    /// Bytes from the beginning of the variable at which its leaves (scalars, pointers) are, and how many each has.
    pub leaves: Vec<(u32, u8)>,
    /// The inlined call whose copy it is of: a number of [`Track::sites`], from 1.
    pub site: u32,
}

/// A call that became a copy of what it calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// What was called: a number of [`Description::functions`](crate::describe::Description).
    pub callee: u32,
    /// The call.
    pub call: SrcLoc,
    /// The site that the call is in, from 1; 0 is the function itself.
    pub parent: u32,
}

/// What holds from a place on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A statement begins.
    Statement(SrcLoc),
    /// A leaf of a variable is a value.
    Value(Leaf, Value),
    /// It is a value that no instruction of the code computes any more, but those that did say how: see [`is_recomputable`].
    Term(Leaf, Value),
    /// It is a constant.
    Constant(Leaf, u64),
    /// Nobody knows any more.
    Lost(Leaf),
}

/// A scalar or pointer of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Number of [`Track::variables`].
    pub variable: u32,
    /// Number of [`Variable::leaves`].
    pub leaf: u32,
}

/// Something that holds from in front of an instruction on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The block.
    pub block: Block,
    /// The instruction.
    pub before: Inst,
    /// What.
    pub what: What,
}

/// The records of a function, those of a block in their order.
#[derive(Clone, Debug, Default)]
pub struct Track {
    /// The function's number in [`Description::functions`](crate::describe::Description).
    pub number: u32,
    /// Bytes that places in the source are apart that differ in their site alone: see [`Track::place`].
    pub stride: u32,
    /// Variables, those of inlined copies included.
    pub variables: Vec<Variable>,
    /// Calls that became copies.
    pub sites: Vec<Site>,
    /// The records.
    pub records: Vec<Record>,
    /// So many of them are settled; passes add others behind them.
    settled: usize,
    /// Where instructions were when records were settled last.
    order: Order,
    spare: Order,
    /// Blocks whose code is part of others since.
    merged: SecondaryMap<Block, Option<Block>>,
    /// What records are in order by.
    keys: Vec<Key>,
    /// Records while they are put in order.
    moved: Vec<Record>,
    leaves: Leaves,
    /// By value, the one that stands for it now: never in a circle.
    replaced: Vec<Value>,
    /// Records may name values that were replaced.
    is_stale: bool,
    /// Instructions that are in the code no more and say what variables are, in order.
    kept: Vec<Inst>,
}

/// Most operations of a value that is computed by a debugger.
pub const MOST_STEPS: u32 = 6;

/// Whether a debugger can do what an operation does.
pub fn is_recomputable(op: Op) -> bool {
    match op {
        Op::Bin(op) => matches!(
            op,
            BinOp::Add
                | BinOp::Sub
                | BinOp::Mul
                | BinOp::And
                | BinOp::Or
                | BinOp::Xor
                | BinOp::Shl
                | BinOp::LShr
                | BinOp::AShr
        ),
        Op::Un(op) => matches!(op, UnOp::Not | UnOp::Neg),
        Op::Cast(op) => matches!(
            op,
            CastOp::Trunc
                | CastOp::Zext
                | CastOp::Sext
                | CastOp::Zext8
                | CastOp::Sext8
                | CastOp::Zext16
                | CastOp::Sext16
                | CastOp::Bitcast
                | CastOp::PtrToInt
                | CastOp::IntToPtr
        ),
        Op::Icmp(_) | Op::Select | Op::PtrAdd | Op::PtrAddZ => true,
        _ => false,
    }
}

/// Of which leaves something was said.
#[derive(Clone, Debug, Default)]
struct Leaves {
    /// By variable, the number of its first leaf.
    first: Vec<u32>,
    /// By leaf, the group of records in which something was said of it last.
    said: Vec<u32>,
    group: u32,
}

impl Leaves {
    fn number(&mut self, variables: &[Variable]) {
        let mut next = self.said.len() as u32;
        for variable in &variables[self.first.len()..] {
            self.first.push(next);
            next += variable.leaves.len() as u32;
        }
        self.said.resize(next as usize, 0);
    }

    /// Another group begins.
    fn begin(&mut self) {
        self.group += 1;
    }

    /// Whether nothing has been said of a leaf in this group.
    fn is_new(&mut self, leaf: Leaf) -> bool {
        let number = self.first[leaf.variable as usize] + leaf.leaf;
        std::mem::replace(&mut self.said[number as usize], self.group) != self.group
    }
}

/// Where a record stands, and from how many blocks further up it came, the most first.
type Key = (u32, u32);

/// The instructions of a function, one after the other.
#[derive(Clone, Debug, Default)]
struct Order {
    insts: Vec<Inst>,
    /// The part of `insts` that a block has.
    blocks: SecondaryMap<Block, Option<(u32, u32)>>,
    /// Where in `insts` an instruction is, counted from 1.
    places: SecondaryMap<Inst, u32>,
    home: SecondaryMap<Inst, Option<Block>>,
}

impl Order {
    fn take(&mut self, func: &Function) {
        self.insts.clear();
        self.blocks.clear();
        self.places.clear();
        self.home.clear();
        self.places.resize(func.insts.len());
        self.home.resize(func.insts.len());
        self.blocks.resize(func.blocks.len());
        for &block in &func.layout {
            let start = self.insts.len() as u32;
            for &inst in &func.blocks[block].insts {
                self.insts.push(inst);
                self.places[inst] = self.insts.len() as u32;
                self.home[inst] = Some(block);
            }
            self.blocks[block] = Some((start, self.insts.len() as u32));
        }
    }

    /// Whether the instructions of a function are still those, where they were.
    fn is_of(&self, func: &Function) -> bool {
        let mut end = 0;
        for &block in &func.layout {
            let insts = &func.blocks[block].insts;
            let (from, to) = (end, end + insts.len());
            if self.blocks.get(block) != Some(&Some((from as u32, to as u32)))
                || self.insts.get(from..to) != Some(insts.as_slice())
            {
                return false;
            }
            end = to;
        }
        end == self.insts.len()
    }

    fn last(&self, block: Block) -> Option<Inst> {
        let (start, end) = self.blocks[block]?;
        (start < end).then(|| self.insts[end as usize - 1])
    }
}

impl Track {
    /// Of a function without anything yet; places of a source are less than `stride` apart.
    pub fn new(number: u32, stride: u32) -> Track {
        Track { number, stride, records: Vec::with_capacity(64), ..Track::default() }
    }

    /// A place in the source as the code of an inlined copy has it.
    pub fn place(&self, loc: SrcLoc, site: u32) -> SrcLoc {
        let place = u64::from(loc.0 % self.stride.max(1)) + u64::from(site) * u64::from(self.stride);
        // Where numbers run out, code counts as its caller's.
        u32::try_from(place).map_or(loc, SrcLoc)
    }

    /// What [`Track::place`] made: the place in the source, and the site.
    pub fn split(&self, loc: SrcLoc) -> (SrcLoc, u32) {
        let stride = self.stride.max(1);
        (SrcLoc(loc.0 % stride), loc.0 / stride)
    }

    /// The number of the first leaf of each variable, and behind them that of all leaves.
    pub fn first_leaves(&self) -> Vec<u32> {
        let mut next = 0;
        let number = |leaves: usize| {
            let first = next;
            next += leaves as u32;
            first
        };
        self.variables.iter().map(|variable| variable.leaves.len()).chain([0]).map(number).collect()
    }

    /// Whether an instruction is in the code no more and says what a variable is.
    pub fn keeps(&self, inst: Inst) -> bool {
        self.kept.binary_search(&inst).is_ok()
    }

    /// Notes something in front of the instruction that is made next; it has to be put at the end of the block.
    pub fn note(&mut self, block: Block, next: Inst, what: What) {
        self.records.push(Record { block, before: next, what });
    }

    /// Takes down where instructions are, for the first time: records stand in front of the first instruction of their block that is not older than
    /// their anchor.
    pub fn begin(&mut self, func: &Function) {
        self.order.take(func);
        let order = &self.order;
        self.records.retain_mut(|record| {
            let Some((start, end)) = order.blocks[record.block] else { return false };
            let insts = &order.insts[start as usize..end as usize];
            // Instructions of a block are made in their order, but for its terminator's arguments.
            let found =
                insts.iter().find(|&&inst| inst >= record.before && is_anchor(func, inst)).or(insts.last());
            let Some(&found) = found else { return false };
            record.before = found;
            true
        });
        self.sort();
    }

    fn sort(&mut self) {
        let places = &self.order.places;
        self.records.sort_by_key(|record| places[record.before]);
        self.settled = self.records.len();
    }

    /// Notes which values stand for others now.
    fn replace(&mut self, subst: &Subst) {
        for (old, new) in subst.replaced() {
            while self.replaced.len() <= old.index() {
                self.replaced.push(Value::new(self.replaced.len()));
            }
            let new = self.now(new);
            if self.replaced[old.index()] == old {
                self.replaced[old.index()] = new;
            }
        }
        self.is_stale = true;
    }

    /// What stands for a value now.
    fn now(&self, value: Value) -> Value {
        now(&self.replaced, value)
    }

    /// The code of a block now stands at the end of another one.
    pub fn merged(&mut self, from: Block, into: Block) {
        self.merged[from] = Some(into);
    }

    /// Brings the records in order after passes.
    pub fn settle(&mut self, func: &Function) {
        if self.records.is_empty() {
            return;
        }
        if std::mem::take(&mut self.is_stale) {
            let Track { records, replaced, .. } = self;
            for record in records {
                if let What::Value(_, value) = &mut record.what {
                    *value = now(replaced, *value);
                }
            }
        }
        let Track { order, spare, records, merged, .. } = self;
        if self.settled == records.len() && order.is_of(func) {
            return;
        }
        spare.take(func);
        let now = &*spare;
        let moves = Moves { order, now, merged };
        // What a pass has added comes behind what was in front of the same instruction.
        let old = |record: &Record| match order.places.get(record.before) {
            None | Some(0) => u32::MAX,
            Some(&place) => place,
        };
        if !records.is_sorted_by_key(old) {
            records.sort_by_key(old);
        }
        let mut sorted = true;
        let mut last = (0, 0);
        self.keys.clear();
        let keys = &mut self.keys;
        // What has moved up past the anchors in front of it is none.
        let mut floor = (None, 0);
        let mut passed = Passed::default();
        records.retain_mut(|record| {
            if floor.0 != Some(record.block) {
                floor = (Some(record.block), 0);
                passed.0.clear();
            }
            let place = (record.block, record.before);
            let found = match moves.stays(func, place, floor.1) {
                true => Some((record.before, 0)),
                false => moves.anchor(func, place, floor.1, &mut passed),
            };
            let Some((anchor, hops)) = found else { return false };
            record.before = anchor;
            record.block = now.home[anchor].unwrap_or(record.block);
            let place = now.places[anchor];
            floor.1 = place;
            // What comes from a block in front of another one is in front of what that one says.
            let key = (place, u32::MAX - hops);
            sorted &= last <= key;
            last = key;
            keys.push(key);
            true
        });
        std::mem::swap(&mut self.order, &mut self.spare);
        self.merged.clear();
        self.settled = self.records.len();
        if !sorted {
            self.sort_by_keys();
        }
        self.prune();
    }

    /// Puts records in the order of their keys, those of a place as they are: counted by places, if none has come from further up.
    fn sort_by_keys(&mut self) {
        let Track { records, keys, order, moved, .. } = self;
        if keys.iter().any(|key| key.1 != u32::MAX) {
            let mut by_key: Vec<(Key, Record)> = keys.drain(..).zip(records.drain(..)).collect();
            by_key.sort_by_key(|&(key, _)| key);
            records.extend(by_key.into_iter().map(|(_, record)| record));
            return;
        }
        // By place, where its next record goes.
        let mut next = vec![0u32; order.insts.len() + 2];
        keys.iter().for_each(|key| next[key.0 as usize + 1] += 1);
        let mut sum = 0;
        for next in &mut next {
            sum += *next;
            *next = sum;
        }
        moved.clear();
        moved.extend_from_slice(records);
        for (record, key) in moved.iter().zip(&*keys) {
            let next = &mut next[key.0 as usize];
            records[*next as usize] = *record;
            *next += 1;
        }
    }

    /// Takes out what nobody sees. In front of an instruction counts what is said last of a leaf; and a statement behind which nothing is said: what has
    /// done its work already has no code to stop at.
    fn prune(&mut self) {
        let Track { variables, records, leaves, .. } = self;
        leaves.number(variables);
        let mut kept = records.len();
        let mut anchor = None;
        let mut is_last = true;
        for n in (0..records.len()).rev() {
            let record = records[n];
            if anchor.replace(record.before) != Some(record.before) {
                leaves.begin();
                is_last = true;
            }
            let is_seen = match record.what.leaf() {
                Some(leaf) => leaves.is_new(leaf),
                None => is_last,
            };
            is_last = false;
            if is_seen {
                kept -= 1;
                records[kept] = record;
            }
        }
        records.drain(..kept);
        self.settled = self.records.len();
    }

    /// Says what variables are whose values are constant, or gone: behind the last pass, and settled.
    fn conclude(&mut self, func: &mut Function) {
        let Track { order, records, variables, replaced, kept, .. } = self;
        let values = Values { func, now: order, variables, replaced };
        records.iter_mut().for_each(|record| values.settle(&mut record.what, kept));
        kept.sort_unstable();
        kept.dedup();
        // They are no part of the code, and have missed what became of that.
        for &inst in &*kept {
            let mut args = func.insts[inst].args;
            args.as_mut_slice(&mut func.pool).iter_mut().for_each(|arg| *arg = now(replaced, *arg));
        }
    }

    /// Whether the code has a value, if records are settled.
    pub(crate) fn has(&self, func: &Function, value: Value) -> bool {
        match func.values[value].def {
            ValueDef::Result(inst, _) => {
                self.order.places.get(inst).is_some_and(|&place| place != 0)
                    || matches!(func.insts[inst].op, Op::Const(_))
            }
            ValueDef::Param(block, n) => func.params(block).get(usize::from(n)) == Some(&value),
        }
    }

    /// What holds in front of an instruction, with what has been added since the records were settled.
    pub fn in_front_of(&self, inst: Inst) -> Vec<What> {
        let settled = self.before(inst);
        let new = self.records[self.settled.min(self.records.len())..].iter();
        let new = new.filter(|record| record.before == inst);
        self.records[settled].iter().chain(new).map(|record| record.what).collect()
    }

    /// Adds what holds at the beginning of a block, in front of what is said there.
    pub fn begin_with(&mut self, block: Block, first: Inst, whats: &[What]) {
        // The same instruction, and before what is in front of it: records are in order by their places, stably.
        let records = whats.iter().map(|&what| Record { block, before: first, what });
        let places = &self.order.places;
        let settled = &self.records[..self.settled.min(self.records.len())];
        let at = settled.partition_point(|record| places[record.before] < places[first]);
        self.records.splice(at..at, records);
        self.settled += whats.len();
    }

    /// The records in front of an instruction, if all have been settled since.
    pub fn before(&self, inst: Inst) -> Range<usize> {
        self.before_from(inst, 0)
    }

    /// The same; they begin with `likely`, if that is so.
    fn before_from(&self, inst: Inst, likely: usize) -> Range<usize> {
        let places = &self.order.places;
        let place = places[inst];
        let settled = &self.records[..self.settled.min(self.records.len())];
        let is_earlier = |record: &Record| places[record.before] < place;
        let is_likely = (settled.get(likely).is_none_or(|record| !is_earlier(record)))
            && likely.checked_sub(1).is_some_and(|last| settled.get(last).is_some_and(is_earlier));
        let start = if is_likely { likely } else { settled.partition_point(is_earlier) };
        let count = settled[start..].iter().take_while(|record| record.before == inst).count();
        start..start + count
    }
}

/// What is known of values after a pass.
struct Values<'a> {
    func: &'a Function,
    now: &'a Order,
    variables: &'a [Variable],
    replaced: &'a [Value],
}

/// What stands for a value, by [`Track::replaced`].
fn now(replaced: &[Value], mut value: Value) -> Value {
    while let Some(&next) = replaced.get(value.index())
        && next != value
    {
        value = next;
    }
    value
}

impl Values<'_> {
    /// A constant needs no instruction. What none computes any more is computed by debuggers, or lost.
    fn settle(&self, what: &mut What, kept: &mut Vec<Inst>) {
        let What::Value(leaf, value) = *what else { return };
        match self.func.values[value].def {
            ValueDef::Result(inst, _) => match self.func.insts[inst].op {
                Op::Const(bits) => *what = What::Constant(leaf, bits),
                _ if self.now.places[inst] != 0 => {}
                op => {
                    let bytes = self.variables[leaf.variable as usize].leaves[leaf.leaf as usize].1;
                    if let Some(same) = same_low_bytes(self.func, (inst, op), bytes) {
                        // Of what was removed together, the first that is left; each is older than the last.
                        *what = What::Value(leaf, now(self.replaced, same));
                        self.settle(what, kept);
                    } else if self.steps(value, MOST_STEPS).is_some() {
                        *what = What::Term(leaf, value);
                        self.keep(value, kept);
                    } else {
                        *what = What::Lost(leaf);
                    }
                }
            },
            ValueDef::Param(..) if self.is_there(value) => {}
            ValueDef::Param(..) => *what = What::Lost(leaf),
        }
    }

    /// Whether the code has a value.
    fn is_there(&self, value: Value) -> bool {
        match self.func.values[value].def {
            ValueDef::Result(inst, _) => {
                self.now.places[inst] != 0 || matches!(self.func.insts[inst].op, Op::Const(_))
            }
            ValueDef::Param(block, n) => {
                self.now.blocks[block].is_some()
                    && self.func.params(block).get(usize::from(n)) == Some(&value)
            }
        }
    }

    /// How many operations a debugger needs for a value, if it can compute it with at most so many.
    fn steps(&self, value: Value, most: u32) -> Option<u32> {
        if self.is_there(value) {
            return Some(0);
        }
        let ValueDef::Result(inst, _) = self.func.values[value].def else { return None };
        let args = self.func.args(inst);
        if most == 0 || args.is_empty() || !is_recomputable(self.func.insts[inst].op) {
            return None;
        }
        args.iter().try_fold(1, |steps, &arg| {
            let arg = now(self.replaced, arg);
            Some(steps + self.steps(arg, most.checked_sub(steps)?)?)
        })
    }

    /// Notes the instructions that say what a value is and are in the code no more.
    fn keep(&self, value: Value, kept: &mut Vec<Inst>) {
        if let ValueDef::Result(inst, _) = self.func.values[value].def
            && !self.is_there(value)
        {
            kept.push(inst);
            self.func.args(inst).iter().for_each(|&arg| self.keep(now(self.replaced, arg), kept));
        }
    }
}

/// What has the same low bytes as the result of an instruction: no more of a variable is looked at than it has.
fn same_low_bytes(func: &Function, (inst, op): (Inst, Op), bytes: u8) -> Option<Value> {
    let args = func.args(inst);
    let bits = 8 * u32::from(bytes);
    let kept = match op {
        Op::Cast(CastOp::Zext8 | CastOp::Sext8) => 8,
        Op::Cast(CastOp::Zext16 | CastOp::Sext16 | CastOp::HalfBits | CastOp::BitsHalf) => 16,
        Op::Cast(CastOp::Trunc) => 32,
        Op::Cast(CastOp::Bitcast | CastOp::PtrToInt | CastOp::IntToPtr) => 64,
        Op::Bin(BinOp::And) => match func.def_op(args[1]) {
            Some(Op::Const(mask)) => mask.trailing_ones(),
            _ => 0,
        },
        _ => 0,
    };
    (bits <= kept).then(|| args[0])
}

/// Parts of blocks in which no record of the block at hand finds an anchor: from where to where. The floor only rises.
#[derive(Default)]
struct Passed(SmallVec<[(Block, u32, u32); 4]>);

impl Passed {
    /// Where to go on from a place.
    fn skip(&self, block: Block, at: u32) -> u32 {
        let known = self.0.iter().find(|&&(other, from, to)| other == block && (from..=to).contains(&at));
        known.map_or(at, |&(_, _, to)| to)
    }

    fn note(&mut self, block: Block, from: u32, to: u32) {
        match self.0.iter_mut().find(|(other, ..)| *other == block) {
            Some(known) if (known.1..=known.2).contains(&from) => known.2 = to,
            Some(known) => (known.1, known.2) = (from, to),
            None => self.0.push((block, from, to)),
        }
    }
}

/// Where instructions were and are.
struct Moves<'a> {
    order: &'a Order,
    now: &'a Order,
    merged: &'a SecondaryMap<Block, Option<Block>>,
}

impl Moves<'_> {
    /// Whether an instruction is where it was: what [`Moves::anchor`] finds at once.
    fn stays(&self, func: &Function, (block, before): (Block, Inst), floor: u32) -> bool {
        let was_there = self.order.places.get(before).is_some_and(|&place| place != 0);
        was_there
            && self.now.home[before] == Some(block)
            && self.now.places[before] >= floor
            && is_anchor(func, before)
    }

    /// What stands now where an instruction of a block was, or what followed it, not in front of `floor`; and the number of blocks that were
    /// merged in between.
    fn anchor(
        &self,
        func: &Function,
        (mut block, before): (Block, Inst),
        floor: u32,
        passed: &mut Passed,
    ) -> Option<(Inst, u32)> {
        let Moves { order, now, .. } = *self;
        let Some(mut at) = order.places.get(before).copied().unwrap_or(0).checked_sub(1) else {
            // Made since: where it is, it was put.
            return now.home.get(before).copied().flatten().map(|_| (before, 0));
        };
        let home = self.home(block)?;
        // A chain of blocks that became one is followed once around at most.
        for hops in 0..order.insts.len() as u32 {
            let (_, end) = order.blocks[block]?;
            let from = passed.skip(block, at);
            let stays = |&&inst: &&Inst| {
                let found = now.home[inst];
                found.is_some_and(|found| {
                    is_anchor(func, inst)
                        && now.places[inst] >= floor
                        && self.is_still_there(block, home, found)
                })
            };
            let rest = &order.insts[from as usize..end as usize];
            let found = rest.iter().position(|inst| stays(&inst));
            passed.note(block, at, from + found.unwrap_or(rest.len()) as u32);
            if let Some(found) = found {
                return Some((rest[found], hops));
            }
            // The jump is gone: with what it led to, or the block ends otherwise.
            let next = order.last(block).and_then(|last| match func.insts[last].op {
                Op::Jump(to) if now.places[last] == 0 => Some(to),
                _ => None,
            });
            match next {
                Some(to) if to != block && self.merged[to].is_some() && self.home(to) == Some(home) => {
                    block = to;
                    at = order.blocks[to]?.0;
                }
                _ => break,
            }
        }
        // What has been put in the place of the block's end.
        let (start, end) = now.blocks[home]?;
        let insts = &now.insts[start as usize..end as usize];
        let is_new = |inst: &&Inst| order.places.get(**inst).is_none_or(|&place| place == 0);
        let new = insts.iter().rev().take_while(is_new).count();
        insts.get(insts.len() - new.max(1)).map(|&inst| (inst, 0))
    }

    /// Which block a block is now; none if its code is gone or has become unconditional.
    fn home(&self, mut block: Block) -> Option<Block> {
        for _ in 0..=self.order.insts.len() {
            if self.now.blocks[block].is_some() {
                return Some(block);
            }
            block = self.merged[block]?;
        }
        None
    }

    /// Whether an instruction that was in a block, and is in another now, went with it: the block was merged, or split, and then its
    /// terminator has moved, too. If not it was moved by itself.
    fn is_still_there(&self, block: Block, home: Block, found: Block) -> bool {
        if found == block || found == home {
            return found == home || self.now.blocks[block].is_some();
        }
        let moved = self.order.last(block).and_then(|last| self.now.home.get(last).copied().flatten());
        let is_new = self.order.blocks.get(found).is_none_or(Option::is_none);
        moved.is_some_and(|moved| moved != home && (moved == found || is_new))
    }
}

/// Whether an instruction stays where it is, as long as it is there: constants and addresses go where they are wanted.
fn is_anchor(func: &Function, inst: Inst) -> bool {
    !matches!(
        func.insts[inst].op,
        Op::Const(_) | Op::GlobalAddr(_) | Op::FuncAddr(_) | Op::SlotAddr(_) | Op::Pos(_)
    )
}

/// Copies records along with code: call [`Copier::pass`] for each instruction of the original before its copy is made, and [`Copier::made`] after.
#[derive(Debug, Default)]
pub struct Copier {
    waiting: Vec<What>,
    /// Where the records of the next instruction begin, if it is the one that follows.
    next: usize,
}

impl Copier {
    /// The original's records in front of an instruction wait for the next instruction of the copy.
    pub fn pass(&mut self, func: &Function, inst: Inst, mut rename: impl FnMut(Value) -> Value) {
        let Some(track) = &func.track else { return };
        let range = track.before_from(inst, self.next);
        self.next = range.end;
        let own = track.records[range].iter().map(|record| match record.what {
            // What it would be computed of is the original's.
            What::Value(leaf, value) if !track.has(func, value) => What::Lost(leaf),
            what => what.map(&mut rename),
        });
        self.waiting.extend(own);
    }

    /// An instruction of the copy has been put at the end of a block.
    pub fn made(&mut self, track: &mut Track, block: Block, inst: Inst) {
        track.records.extend(self.waiting.drain(..).map(|what| Record { block, before: inst, what }));
    }
}

impl Function {
    /// The place in the source of an instruction, of an inlined copy, too.
    pub fn place(&self, inst: Inst) -> SrcLoc {
        let loc = self.insts[inst].loc;
        self.track.as_ref().map_or(loc, |track| track.split(loc).0)
    }

    /// [`Track::settle`], if there is something to settle.
    pub fn settle(&mut self) {
        if let Some(mut track) = self.track.take() {
            track.settle(self);
            self.track = Some(track);
        }
    }

    /// Settles records and says what variables are whose values are constant or gone: behind the last pass, once.
    pub fn conclude_track(&mut self) {
        if let Some(mut track) = self.track.take() {
            track.settle(self);
            track.conclude(self);
            self.track = Some(track);
        }
    }

    /// Brings the records up to date with a substitution.
    pub fn replace_tracked(&mut self, subst: &Subst) {
        if let Some(track) = self.track.as_mut().filter(|_| !subst.is_empty()) {
            track.replace(subst);
        }
    }
}

impl What {
    /// The leaf that something is said of.
    pub fn leaf(self) -> Option<Leaf> {
        match self {
            What::Statement(_) => None,
            What::Value(leaf, _) | What::Term(leaf, _) | What::Constant(leaf, _) | What::Lost(leaf) => {
                Some(leaf)
            }
        }
    }

    /// The same of another value, where it is of one.
    pub fn map(self, to: impl FnOnce(Value) -> Value) -> What {
        match self {
            What::Value(leaf, value) => What::Value(leaf, to(value)),
            What::Term(leaf, _) => What::Lost(leaf),
            other => other,
        }
    }

    /// The same of another value, where it is of one; lost if there is none.
    pub fn filter_map(self, to: impl FnOnce(Value) -> Option<Value>) -> What {
        match self {
            What::Value(leaf, value) => to(value).map_or(What::Lost(leaf), |value| What::Value(leaf, value)),
            What::Term(leaf, _) => What::Lost(leaf),
            other => other,
        }
    }
}
