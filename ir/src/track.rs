//! Debug information beside the code: where statements begin, and which value each variable has from where on.
//!
//! # Idea
//! A [`Record`] stands in front of an instruction, its anchor. Records are in no list of instructions and are nobody's operands, so that no pass
//! can decide otherwise because of them: with and without them the code is the same.
//!
//! # What passes owe
//! Between two passes, [`Track::settle`] compares where instructions were with where they are. It finds on its own what was removed, merged, moved and
//! split: a record whose anchor is gone goes to what followed it, one whose block is gone goes with it, and a variable whose value is gone is
//! [`What::Lost`]. A pass tells what cannot be seen from outside:
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
use cranelift_entity::SecondaryMap;
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
    /// Instructions that are in the code no more and say what variables are, the first of them once.
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
        Track { number, stride, ..Track::default() }
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

    /// Replaces values that stand for others now.
    fn replace(&mut self, subst: &Subst) {
        for record in &mut self.records {
            if let What::Value(_, value) = &mut record.what {
                *value = subst.get(*value);
            }
        }
    }

    /// The code of a block now stands at the end of another one.
    pub fn merged(&mut self, from: Block, into: Block) {
        self.merged[from] = Some(into);
    }

    /// Brings the records in order after a pass.
    pub fn settle(&mut self, func: &Function) {
        if self.records.is_empty() {
            return;
        }
        let Track { order, spare, records, merged, variables, kept, .. } = self;
        if order.is_of(func) {
            // All is where it was, and what was computed is; what was added has its place.
            let settled = self.settled.min(records.len());
            let values = Values { func, now: order, variables };
            // But parameters of blocks may be gone, and values be constants now.
            let is_open = |value| func.def_op(value).is_none_or(|op| matches!(op, Op::Const(_)));
            for record in &mut records[..settled] {
                if matches!(record.what, What::Value(_, value) if is_open(value)) {
                    values.settle(&mut record.what, kept);
                }
            }
            if settled == records.len() {
                return;
            }
        }
        spare.take(func);
        let now = &*spare;
        let values = Values { func, now, variables };
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
        records.retain_mut(|record| {
            values.settle(&mut record.what, kept);
            if floor.0 != Some(record.block) {
                floor = (Some(record.block), 0);
            }
            let place = (record.block, record.before);
            let found = match moves.stays(func, place, floor.1) {
                true => Some((record.before, 0)),
                false => moves.anchor(func, place, floor.1),
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
        self.kept.sort_unstable();
        self.kept.dedup();
        self.merged.clear();
        self.settled = self.records.len();
        if !sorted {
            let mut by_key: Vec<(Key, Record)> = self.keys.drain(..).zip(self.records.drain(..)).collect();
            by_key.sort_by_key(|&(key, _)| key);
            self.records.extend(by_key.into_iter().map(|(_, record)| record));
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
        self.records.splice(0..0, records);
        self.settled += whats.len();
        let places = &self.order.places;
        let settled = self.settled.min(self.records.len());
        self.records[..settled].sort_by_key(|record| places[record.before]);
    }

    /// The records in front of an instruction, if all have been settled since.
    pub fn before(&self, inst: Inst) -> Range<usize> {
        let places = &self.order.places;
        let place = places[inst];
        let settled = &self.records[..self.settled.min(self.records.len())];
        let start = settled.partition_point(|record| places[record.before] < place);
        let count = settled[start..].iter().take_while(|record| record.before == inst).count();
        start..start + count
    }
}

/// What is known of values after a pass.
struct Values<'a> {
    func: &'a Function,
    now: &'a Order,
    variables: &'a [Variable],
}

impl Values<'_> {
    /// A constant needs no instruction. What none computes any more is computed by debuggers, or lost.
    fn settle(&self, what: &mut What, kept: &mut Vec<Inst>) {
        let (leaf, value) = match *what {
            What::Value(leaf, value) => (leaf, value),
            What::Term(leaf, value) => {
                if self.steps(value, MOST_STEPS).is_none() {
                    *what = What::Lost(leaf);
                }
                return;
            }
            _ => return,
        };
        match self.func.values[value].def {
            ValueDef::Result(inst, _) => match self.func.insts[inst].op {
                Op::Const(bits) => *what = What::Constant(leaf, bits),
                _ if self.now.places[inst] != 0 => {}
                op => {
                    let bytes = self.variables[leaf.variable as usize].leaves[leaf.leaf as usize].1;
                    if let Some(same) = same_low_bytes(self.func, (inst, op), bytes) {
                        // Of what was removed together, the first that is left; each is older than the last.
                        *what = What::Value(leaf, same);
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
        args.iter().try_fold(1, |steps, &arg| Some(steps + self.steps(arg, most.checked_sub(steps)?)?))
    }

    /// Notes the instructions that say what a value is and are in the code no more.
    fn keep(&self, value: Value, kept: &mut Vec<Inst>) {
        if let ValueDef::Result(inst, _) = self.func.values[value].def
            && !self.is_there(value)
        {
            kept.push(inst);
            self.func.args(inst).iter().for_each(|&arg| self.keep(arg, kept));
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
    fn anchor(&self, func: &Function, (mut block, before): (Block, Inst), floor: u32) -> Option<(Inst, u32)> {
        let Moves { order, now, .. } = *self;
        let Some(mut at) = order.places.get(before).copied().unwrap_or(0).checked_sub(1) else {
            // Made since: where it is, it was put.
            return now.home.get(before).copied().flatten().map(|_| (before, 0));
        };
        let home = self.home(block)?;
        // A chain of blocks that became one is followed once around at most.
        for hops in 0..order.insts.len() as u32 {
            let (_, end) = order.blocks[block]?;
            for &inst in &order.insts[at as usize..end as usize] {
                if let Some(found) = now.home[inst]
                    && is_anchor(func, inst)
                    && now.places[inst] >= floor
                    && self.is_still_there(block, home, found)
                {
                    return Some((inst, hops));
                }
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
}

impl Copier {
    /// The original's records in front of an instruction wait for the next instruction of the copy.
    pub fn pass(&mut self, track: &Track, inst: Inst, mut rename: impl FnMut(What) -> What) {
        let own = track.records[track.before(inst)].iter().map(|record| match record.what {
            // What it is computed of is the original's.
            What::Term(leaf, _) => What::Lost(leaf),
            what => rename(what),
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

    /// Brings the records up to date with a substitution.
    pub fn replace_tracked(&mut self, subst: &Subst) {
        let Some(track) = self.track.as_mut().filter(|_| !subst.is_empty()) else { return };
        track.replace(subst);
        for &inst in &track.kept {
            let mut args = self.insts[inst].args;
            args.as_mut_slice(&mut self.pool).iter_mut().for_each(|arg| *arg = subst.get(*arg));
        }
    }
}

impl What {
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
