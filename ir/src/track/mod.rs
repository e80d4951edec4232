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

mod carried;
mod conclude;
mod copier;
mod settle;

pub use self::copier::Copier;
use self::settle::{Merged, Order, is_anchor};
use crate::edit::Subst;
use crate::entity::{Block, Inst, Slot, Value};
use crate::func::{Function, SrcLoc, ValueDef};
use crate::op::{BinOp, CastOp, Op, UnOp};
use cranelift_entity::EntityRef;
use cranelift_entity::packed_option::PackedOption;
use rustc_hash::FxHashMap;
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
    pub leaves: SmallVec<[(u32, u8); 4]>,
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
    /// A leaf of a variable is a value. If that is a constant, it need not be in the code.
    Value(Leaf, Value),
    /// It is a value that no instruction of the code computes any more, but those that did say how: see [`is_recomputable`].
    Term(Leaf, Value),
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
    /// These hold where blocks begin, in front of all others.
    begun: Range<usize>,
    /// Where instructions were when records were settled last.
    order: Order,
    /// Blocks whose code is part of others since.
    merged: Merged,
    /// By instruction, the parts of what was added that were put in front of it.
    added: FxHashMap<Inst, SmallVec<[Range<usize>; 1]>>,
    scratch: settle::Scratch,
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

impl Track {
    /// Of a function without anything yet, in the memory of another one's.
    pub(crate) fn clear(&mut self) {
        let Track { number, stride, variables, sites, records, settled, begun, .. } = self;
        (*number, *stride, *settled, *begun) = (0, 0, 0, 0..0);
        variables.clear();
        sites.clear();
        records.clear();
        let Track { order: _, merged, added, scratch, replaced, is_stale, kept, .. } = self;
        merged.clear();
        added.clear();
        scratch.clear();
        replaced.clear();
        *is_stale = false;
        kept.clear();
    }

    /// A place in the source as the code of an inlined copy has it.
    pub fn place(&self, loc: SrcLoc, site: u32) -> SrcLoc {
        let place = u64::from(loc.0 % self.stride.max(1)) + u64::from(site) * u64::from(self.stride);
        // Where numbers run out, code counts as its caller's.
        u32::try_from(place).map_or(loc, SrcLoc)
    }

    /// What [`Track::place`] made: the place in the source, and the site.
    pub fn split(&self, loc: SrcLoc) -> (SrcLoc, u32) {
        split(loc, self.stride)
    }

    /// The number of the first leaf of each variable, and behind them that of all leaves.
    pub fn first_leaves(&self) -> impl Iterator<Item = u32> {
        let mut next = 0;
        let number = move |leaves: usize| {
            let first = next;
            next += leaves as u32;
            first
        };
        self.variables.iter().map(|variable| variable.leaves.len()).chain([0]).map(number)
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
        // The record before, and where its anchor is in the block: what was no anchor for that is none for one that was made later.
        let mut last = (PackedOption::default(), Inst::from_u32(0), 0);
        self.records.retain_mut(|record| {
            let Some(insts) = order.of(record.block) else { return false };
            let start = if last.0 == record.block.into() && last.1 <= record.before { last.2 } else { 0 };
            // Instructions of a block are made in their order, but for its terminator's arguments.
            let is_found = |&inst: &Inst| inst >= record.before && is_anchor(func, inst);
            let found = insts[start..].iter().position(is_found);
            let at = found.map_or(insts.len().saturating_sub(1), |found| start + found);
            last = (record.block.into(), record.before, at);
            let Some(&found) = insts.get(at) else { return false };
            record.before = found;
            true
        });
        self.records.sort_by_key(|record| order.place(record.before));
        self.settled = self.records.len();
        func.layout.iter().for_each(|&block| self.scratch.raw[block] = true);
    }

    /// Notes which values stand for others now.
    fn replace(&mut self, subst: &Subst) {
        for (old, new) in subst.replaced() {
            let known = self.replaced.len();
            if known <= old.index() {
                self.replaced.extend((known..=old.index()).map(Value::new));
            }
            let new = latest(&mut self.replaced, new);
            if self.replaced[old.index()] == old {
                self.replaced[old.index()] = new;
            }
        }
        self.is_stale = true;
    }

    /// The code of a block now stands at the end of another one.
    pub fn merged(&mut self, from: Block, into: Block) {
        self.merged.put(from, into);
    }

    /// Whether the code has a value, if records are settled.
    pub(crate) fn has(&self, func: &Function, value: Value) -> bool {
        match func.values[value].def {
            ValueDef::Result(inst, _) => {
                self.order.place(inst) != 0 || matches!(func.insts[inst].op, Op::Const(_))
            }
            ValueDef::Param(block, n) => func.params(block).get(usize::from(n)) == Some(&value),
        }
    }

    /// Whether the code has a value in another block than that, if records are settled.
    pub(crate) fn has_elsewhere(&self, func: &Function, value: Value, block: Block) -> bool {
        match func.values[value].def {
            ValueDef::Result(inst, _) => self.order.has_elsewhere(inst, block),
            ValueDef::Param(other, _) => other != block && self.has(func, value),
        }
    }

    /// Whether a value that is in the code no more is computed of some that is, and is one of these: what becomes of that in a part of the code, the
    /// instructions that are kept aside do not know.
    pub(crate) fn is_computed_of(
        &self,
        func: &Function,
        value: Value,
        is_one: &impl Fn(Value) -> bool,
    ) -> bool {
        !self.is_or_was_made(func, value) && self.reaches(func, value, MOST_STEPS, is_one)
    }

    /// Whether the code has a value, or it was made since records were settled.
    fn is_or_was_made(&self, func: &Function, value: Value) -> bool {
        let is_new = match func.values[value].def {
            ValueDef::Result(inst, _) => self.order.is_older(inst),
            ValueDef::Param(..) => false,
        };
        is_new || self.has(func, value)
    }

    fn reaches(&self, func: &Function, value: Value, most: u32, is_one: &impl Fn(Value) -> bool) -> bool {
        match func.values[value].def {
            _ if self.is_or_was_made(func, value) => func.const_bits(value).is_none() && is_one(value),
            ValueDef::Result(inst, _) if most > 0 => {
                let mut args = func.args(inst).iter().map(|&arg| now(&self.replaced, arg));
                args.any(|arg| self.reaches(func, arg, most - 1, is_one))
            }
            _ => true,
        }
    }

    /// What was settled, in the order of the code.
    pub(crate) fn settled(&self) -> &[Record] {
        &self.records[..self.settled.min(self.records.len())]
    }

    /// Adds what holds in front of an instruction, behind what is said there.
    pub fn add(&mut self, block: Block, before: Inst, whats: &[What]) {
        let start = self.records.len().saturating_sub(self.settled);
        self.records.extend(whats.iter().map(|&what| Record { block, before, what }));
        self.added.entry(before).or_default().push(start..start + whats.len());
    }

    /// What holds in front of an instruction, with what has been added since the records were settled.
    pub fn in_front_of(&self, inst: Inst, whats: &mut Vec<What>) {
        let new = self.records.get(self.settled..).unwrap_or(&[]);
        let added = self.added.get(&inst).into_iter().flatten().flat_map(|part| &new[part.clone()]);
        whats.extend(self.settled()[self.before(inst)].iter().chain(added).map(|record| record.what));
    }

    /// Adds what holds at the beginning of a block, in front of what is said there.
    pub fn begin_with(&mut self, block: Block, first: Inst, whats: &[What]) {
        // The same instruction, and before what is in front of it: records are in order by their places, stably.
        let records = whats.iter().map(|&what| Record { block, before: first, what });
        let at = self.before(first).start;
        self.records.splice(at..at, records);
        self.settled += whats.len();
        self.scratch.raw[block] = true;
    }

    /// Adds what holds at the beginning of blocks, in front of what is said there.
    pub fn begin_blocks(&mut self, new: &[Record]) {
        if new.is_empty() {
            return;
        }
        let Track { records, begun, settled, .. } = self;
        // Those of before come behind these.
        let earlier = begun.start.min(records.len());
        records[earlier..].rotate_left(begun.len());
        let end = records.len();
        let start = end - begun.len();
        records.extend_from_slice(new);
        records[start..].rotate_left(end - start);
        (*begun, *settled) = (start..records.len(), 0);
    }

    /// The records in front of an instruction, if all have been settled since.
    pub fn before(&self, inst: Inst) -> Range<usize> {
        let (order, settled) = (&self.order, self.settled());
        let place = order.place(inst);
        let start = settled.partition_point(|record| order.place(record.before) < place);
        let count = settled[start..].iter().take_while(|record| record.before == inst).count();
        start..start + count
    }
}

/// What [`Track::place`] made, with so many bytes between sites: the place in the source, and the site.
pub fn split(loc: SrcLoc, stride: u32) -> (SrcLoc, u32) {
    // Most code is of no copy.
    if loc.0 < stride {
        return (loc, 0);
    }
    let stride = stride.max(1);
    (SrcLoc(loc.0 % stride), loc.0 / stride)
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

/// The same; the next time it takes one step.
fn latest(replaced: &mut [Value], value: Value) -> Value {
    let Some(&next) = replaced.get(value.index()).filter(|&&next| next != value) else { return value };
    let last = now(replaced, next);
    let mut value = value;
    while value != last {
        value = std::mem::replace(&mut replaced[value.index()], last);
    }
    last
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

    /// The same of records that need not be in order, for a pass that adds some.
    pub(crate) fn settle_places(&mut self) {
        if self.track.as_ref().is_some_and(|track| !track.is_of(self)) {
            self.settle();
        }
    }

    /// [`Track::settle`] after a pass that has added and taken out blocks, and nothing else.
    pub(crate) fn settle_blocks(&mut self) {
        if let Some(mut track) = self.track.take() {
            track.retake(self);
            self.track = Some(track);
        }
    }

    /// [`Track::settle`] after a pass that has put instructions and blocks behind those that there were, and nothing else.
    pub(crate) fn settle_grown(&mut self) {
        if let Some(mut track) = self.track.take() {
            track.grown(self);
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
            What::Value(leaf, _) | What::Term(leaf, _) | What::Lost(leaf) => Some(leaf),
        }
    }

    /// The same of a value that stands for another one.
    fn map_value(self, to: impl FnOnce(Value) -> Value) -> What {
        match self {
            What::Value(leaf, value) => What::Value(leaf, to(value)),
            other => other,
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
