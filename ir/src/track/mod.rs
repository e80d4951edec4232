//! Debug information that accompanies the code: where source statements begin, and which IR value holds each
//! variable from which program point on.
//!
//! # Idea
//! A fact ([`What`]) holds from just before an instruction. Facts are kept outside the instruction lists and
//! do not count as uses of values, so no pass can make a different decision because of them: the generated
//! code is the same with and without facts.
//!
//! # How facts follow the code
//! Each list of facts is attached to the instruction that follows the facts ([`Notes`]). The functions that
//! change which instructions a block has ([`crate::edit`]) move the facts along, so passes need not know
//! about facts: see [`place`]. [`Function::tidy_track`] must be called before a pass reads facts. What became
//! of the values is determined only once, at the end, by [`Function::conclude_track`]: a variable whose value
//! is no longer computed is recomputed by the debugger or becomes [`What::Lost`].
//!
//! A pass has to report only:
//!
//! * which values were replaced by which ([`Function::replace_tracked`]); otherwise the variables with those
//!   values are lost;
//! * copies of code ([`Copier`]); otherwise the copy has no statements and no variables;
//! * memory that became values (`passes/sroa.rs`).
//!
//! If a pass omits one of these reports, variables become unknown but never wrong.

mod conclude;
mod copier;
mod notes;
mod place;

pub use self::copier::Copier;
use self::notes::List;
pub use self::notes::Notes;
use self::place::is_anchor;
use crate::edit::Subst;
use crate::entity::{Block, Inst, Slot, Value};
use crate::func::{Function, SrcLoc, ValueDef};
use crate::op::{BinOp, CastOp, Op, UnOp};
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, SecondaryMap};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use smol_str::SmolStr;
use std::ops::Range;

/// A local variable or a parameter of the source program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Name of the variable.
    pub name: SmolStr,
    /// Type of the variable: an index into [`Description::types`](crate::describe::Description).
    pub ty: u32,
    /// Source location of the declaration.
    pub loc: SrcLoc,
    /// Range of the source text in which the variable is in scope, starting at its declaration, in byte
    /// offsets.
    pub scope: Range<u32>,
    /// Parameter number, if the variable is a parameter.
    pub parameter: Option<u16>,
    /// Stack slot (private memory) that holds the variable, if any.
    pub home: Option<Slot>,
    /// Whether the variable is held in values, even if it also has a stack slot. The facts say from which
    /// program point on it has which value.
    pub is_value: bool,
    /// Byte offset within the variable and size in bytes of each of its fragments (scalars and pointers).
    pub fragments: SmallVec<[(u32, u8); 4]>,
    /// Inlined call that the variable belongs to: a 1-based index into [`Track::sites`]; 0 for a variable of
    /// the function itself.
    pub site: u32,
}

/// A call that was replaced by an inlined copy of its callee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// The callee: an index into [`Description::functions`](crate::describe::Description).
    pub callee: u32,
    /// Source location of the call.
    pub call: SrcLoc,
    /// Inlined call that contains this call, as a 1-based index into [`Track::sites`]; 0 if the call is in
    /// the function itself.
    pub parent: u32,
}

/// A fact, which holds from its program point on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A source statement begins.
    Statement(SrcLoc),
    /// A fragment of a variable has the given value. A constant value need not be present in the code.
    Value(Fragment, Value),
    /// The fragment has a value that no instruction of the code computes any more, but that a debugger can
    /// recompute from the removed instructions: see [`is_recomputable`].
    Term(Fragment, Value),
    /// The value of the fragment is not known from here on.
    Lost(Fragment),
}

/// A fragment of a variable: one of its scalars or pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fragment {
    /// Index into [`Track::variables`].
    pub variable: u32,
    /// Index into [`Variable::fragments`].
    pub index: u32,
}

/// A fact in code that is being generated.
#[derive(Clone, Copy, Debug)]
struct Record {
    /// Block in which the fact begins to hold.
    block: Block,
    /// The oldest instruction before which the fact may begin to hold.
    before: Inst,
    /// The fact.
    what: What,
}

/// The debug facts of a function.
#[derive(Clone, Debug, Default)]
pub struct Track {
    /// Index of the function in [`Description::functions`](crate::describe::Description).
    pub number: u32,
    /// Distance in bytes between the numbers of two source locations that are the same line and column, but
    /// belong to different inlined calls: see [`Track::location_in_copy`].
    pub stride: u32,
    /// The variables, including the variables of inlined copies.
    pub variables: Vec<Variable>,
    /// The calls that were replaced by inlined copies.
    pub sites: Vec<Site>,
    /// The facts of the generated code, until [`Track::begin`] attaches them to instructions.
    records: Vec<Record>,
    /// The facts before each instruction.
    pub notes: Notes,
    /// For each instruction, its 1-based position when the facts were last tidied; 0 if the instruction was
    /// in no block.
    places: Vec<u32>,
    /// Instructions that have been moved to another place since the facts were last tidied.
    moved: SecondaryMap<Inst, bool>,
    /// Blocks whose instructions have changed since the facts were last tidied.
    changed: SecondaryMap<Block, bool>,
    /// Blocks whose instructions have not changed since [`Track::begin`]. All their facts are kept, because
    /// each statement still has its code.
    original: SecondaryMap<Block, bool>,
    /// Facts of the removed end of a block, and the block.
    waiting: (List, PackedOption<Block>),
    /// Facts of discarded instructions.
    orphans: List,
    /// Scratch: for each instruction, the number of the last change of a block after which the instruction
    /// was in the block.
    stays: SecondaryMap<Inst, u32>,
    /// Number of the last change of a block.
    changes: u32,
    /// Scratch: for each fragment, the last fact about it in the block, and the instruction before which the
    /// fact begins to hold.
    last: FxHashMap<Fragment, (What, Inst)>,
    /// For each value, the value that replaces it. The replacements contain no cycle.
    replaced: Vec<Value>,
    /// Whether facts may name values that have been replaced.
    is_stale: bool,
    /// Instructions that are no longer in the code but define values of variables, in ascending order.
    kept: Vec<Inst>,
}

/// Maximum number of operations for a value that the debugger recomputes.
pub const MOST_STEPS: u32 = 6;

/// Returns whether a debugger can perform the operation.
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
    /// Resets the facts to those of an empty function and keeps the allocated memory.
    pub(crate) fn clear(&mut self) {
        let Track { number, stride, variables, sites, records, notes, places, moved, .. } = self;
        (*number, *stride) = (0, 0);
        variables.clear();
        sites.clear();
        records.clear();
        notes.clear();
        places.clear();
        moved.clear();
        let Track { changed, original, waiting, orphans, replaced, is_stale, kept, .. } = self;
        changed.clear();
        original.clear();
        (*waiting, *orphans) = Default::default();
        replaced.clear();
        *is_stale = false;
        kept.clear();
    }

    /// Returns the source location that the code at `loc` has in the inlined copy for call `site`.
    pub fn location_in_copy(&self, loc: SrcLoc, site: u32) -> SrcLoc {
        let place = u64::from(loc.0 % self.stride.max(1)) + u64::from(site) * u64::from(self.stride);
        // If the location does not fit in 32 bits, the code keeps the location of its caller.
        u32::try_from(place).map_or(loc, SrcLoc)
    }

    /// Inverse of [`Track::location_in_copy`]. Returns the source location and the inlined call.
    pub fn split(&self, loc: SrcLoc) -> (SrcLoc, u32) {
        split(loc, self.stride)
    }

    /// Returns the number of the first fragment of each variable, followed by the total number of fragments.
    pub fn first_fragments(&self) -> impl Iterator<Item = u32> {
        let mut next = 0;
        let number = move |fragments: usize| {
            let first = next;
            next += fragments as u32;
            first
        };
        self.variables.iter().map(|variable| variable.fragments.len()).chain([0]).map(number)
    }

    /// Returns whether the instruction is no longer in the code but defines the value of a variable.
    pub fn keeps(&self, inst: Inst) -> bool {
        self.kept.binary_search(&inst).is_ok()
    }

    /// Adds a fact before the instruction that will be created next. That instruction must be appended to
    /// `block`.
    pub fn note(&mut self, block: Block, next: Inst, what: What) {
        self.records.push(Record { block, before: next, what });
    }

    /// Attaches each record to the first instruction of its block that was created at or after the record's
    /// anchor and can have facts.
    pub fn begin(&mut self, func: &Function) {
        // Block and anchor of the previous record, and the position found for it in the block. The search for
        // a later anchor in the same block can start there, because the instructions skipped before were
        // created too early or cannot be anchors.
        let mut last = (PackedOption::default(), Inst::from_u32(0), 0);
        let Track { records, notes, .. } = self;
        for Record { block, before, what } in records.drain(..) {
            let insts = func.blocks[block].insts();
            let start = if last.0 == block.into() && last.1 <= before { last.2 } else { 0 };
            // Instructions of a block are created in their order in the block, except for arguments of the
            // terminator.
            let is_found = |&inst: &Inst| inst >= before && is_anchor(func.insts[inst].op);
            let found = insts[start..].iter().position(is_found);
            let at = found.map_or(insts.len().saturating_sub(1), |found| start + found);
            last = (block.into(), before, at);
            insts.get(at).into_iter().for_each(|&inst| notes.add(inst, [what]));
        }
        self.number_insts(func);
        self.changed.clear();
        for &block in &func.layout {
            self.original[block] = true;
            func.blocks[block].insts().iter().for_each(|&inst| self.notes.set_raw(inst, false));
        }
    }

    /// Notes which values have been replaced by which.
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

    /// Returns whether the value is available in the code: it is a constant, a block parameter, or the result
    /// of an instruction in the code. The facts must be tidy.
    pub(crate) fn has(&self, func: &Function, value: Value) -> bool {
        match func.values[value].def {
            ValueDef::Result(inst, _) => {
                self.place_of(inst) != 0 || matches!(func.insts[inst].op, Op::Const(_))
            }
            ValueDef::Param(block, n) => func.params(block).get(usize::from(n)) == Some(&value),
        }
    }

    /// Returns whether the value is defined in a block other than `block`. The facts must be tidy.
    pub(crate) fn has_elsewhere(&self, func: &Function, value: Value, block: Block) -> bool {
        match func.values[value].def {
            ValueDef::Result(inst, _) => self.place_of(inst) != 0 && func.insts[inst].block != block,
            ValueDef::Param(other, _) => other != block && self.has(func, value),
        }
    }

    /// Returns whether `value` is no longer in the code but is computed from a value that is in the code and
    /// satisfies `is_one`. A pass that renames values in part of the code asks this, because the removed
    /// instructions that define `value` do not see the renaming.
    pub(crate) fn is_computed_of(
        &self,
        func: &Function,
        value: Value,
        is_one: &impl Fn(Value) -> bool,
    ) -> bool {
        !self.is_or_was_made(func, value) && self.reaches(func, value, MOST_STEPS, is_one)
    }

    /// Returns whether the value is available in the code, or was created since the facts were tidied.
    fn is_or_was_made(&self, func: &Function, value: Value) -> bool {
        let is_new = match func.values[value].def {
            ValueDef::Result(inst, _) => self.is_new(inst),
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
}

/// Inverse of [`Track::location_in_copy`] for a distance of `stride` bytes between inlined calls. Returns the
/// source location and the inlined call.
pub fn split(loc: SrcLoc, stride: u32) -> (SrcLoc, u32) {
    // Fast path: most code does not belong to an inlined copy.
    if loc.0 < stride {
        return (loc, 0);
    }
    let stride = stride.max(1);
    (SrcLoc(loc.0 % stride), loc.0 / stride)
}

/// Returns the value that finally replaces `value` according to [`Track::replaced`].
fn now(replaced: &[Value], mut value: Value) -> Value {
    while let Some(&next) = replaced.get(value.index())
        && next != value
    {
        value = next;
    }
    value
}

/// Like [`now`], but also shortens the chain of replacements so that the next lookup takes one step.
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
    /// Returns the source location of an instruction, without the inlined call if the instruction is part of
    /// an inlined copy.
    pub fn own_location(&self, inst: Inst) -> SrcLoc {
        let loc = self.insts[inst].loc;
        self.track.as_ref().map_or(loc, |track| track.split(loc).0)
    }

    /// Brings the debug facts into the form that passes read: see [`Track::tidy`].
    pub fn tidy_track(&mut self) {
        if let Some(mut track) = self.track.take() {
            track.tidy(self);
            self.track = Some(track);
        }
    }

    /// Decides for each variable whose value is constant or gone what the debugger shows. Must be called
    /// once, after the last pass.
    pub fn conclude_track(&mut self) {
        if let Some(mut track) = self.track.take() {
            track.tidy(self);
            track.conclude(self);
            self.track = Some(track);
        }
    }

    /// Updates the facts after values were replaced: facts about a value that `subst` replaces get the
    /// replacement.
    pub fn replace_tracked(&mut self, subst: &Subst) {
        if let Some(track) = self.track.as_mut().filter(|_| !subst.is_empty()) {
            track.replace(subst);
        }
    }
}

impl What {
    /// Returns the fragment that the fact describes, if any.
    pub fn fragment(self) -> Option<Fragment> {
        match self {
            What::Statement(_) => None,
            What::Value(fragment, _) | What::Term(fragment, _) | What::Lost(fragment) => Some(fragment),
        }
    }

    /// Returns the fact with `to` applied to its value if it is a [`What::Value`]; other facts are returned
    /// unchanged.
    fn map_value(self, to: impl FnOnce(Value) -> Value) -> What {
        match self {
            What::Value(fragment, value) => What::Value(fragment, to(value)),
            other => other,
        }
    }

    /// Replaces the value of a [`What::Value`] by the result of the function `to`. A [`What::Term`] becomes
    /// [`What::Lost`], because `to` is not applied to the values from which a term is computed.
    pub fn map(self, to: impl FnOnce(Value) -> Value) -> What {
        match self {
            What::Value(fragment, value) => What::Value(fragment, to(value)),
            What::Term(fragment, _) => What::Lost(fragment),
            other => other,
        }
    }

    /// Returns the fact with `to` applied to its value. A [`What::Value`] for which `to` returns `None`, and
    /// a [`What::Term`], become [`What::Lost`].
    pub fn filter_map(self, to: impl FnOnce(Value) -> Option<Value>) -> What {
        match self {
            What::Value(fragment, value) => {
                to(value).map_or(What::Lost(fragment), |value| What::Value(fragment, value))
            }
            What::Term(fragment, _) => What::Lost(fragment),
            other => other,
        }
    }
}
