//! Loop rotation: turns `while (c) { … }` into `if (c) do { … } while (c)`, which needs one branch per
//! iteration.
//!
//! The header, which contains the test, is copied to the end of the preheader; the original header becomes
//! the new latch. A new header receives, as parameters, the values of the test block that the rest of the
//! loop uses.

use super::loopform::{OutsideUses, close, edge_args};
use crate::analysis::{Cfg, Loop, LoopForest};
use crate::constraints::COPY;
use crate::entity::{Block, Inst, Value};
use crate::func::{Function, UnrollHint, Values};
use crate::op::Op;
use crate::track::{Copier, What};
use crate::types::Type;
use cranelift_entity::EntityRef;
use smallvec::SmallVec;

/// Maximum number of instructions of a header that is copied.
const MAX_HEADER: usize = 10;

/// Storage of the pass.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Two values for each value of the header: its copy at the loop entry (`entering`), and the value that
    /// replaces it in the loop body (`inside`).
    entering: Vec<Option<Value>>,
    inside: Vec<Option<Value>>,
    tried: Vec<bool>,
    /// Values whose entries in `entering` and `inside` must be reset.
    touched: Vec<Value>,
    /// For each loop, whether it or a surrounding loop is rotated in this round.
    stale: Vec<bool>,
    /// The loops to rotate in this round.
    chosen: Vec<(Loop, Shape)>,
    uses: OutsideUses,
}

/// Forgets which loops have been examined. Must be called before the first [`round`] on a function.
pub fn begin(s: &mut Scratch) {
    s.tried.clear();
    s.touched.clear();
    s.entering.clear();
    s.inside.clear();
}

/// Rotates the loops that should be rotated, have not been examined since [`begin`], and are not inside a
/// loop rotated in this round. Loops must have preheaders and single latches. Returns whether any loop was
/// rotated; the analyses are stale then.
pub fn round(func: &mut Function, cfg: &Cfg, loops: &LoopForest, s: &mut Scratch) -> bool {
    s.tried.resize(func.blocks.len().max(s.tried.len()), false);
    s.stale.clear();
    s.stale.resize(loops.len(), false);
    s.chosen.clear();
    for l in loops.loops() {
        if loops.parent(l).is_some_and(|parent| s.stale[parent.index()]) {
            s.stale[l.index()] = true;
            continue;
        }
        if std::mem::replace(&mut s.tried[loops.header(l).index()], true) {
            continue;
        }
        if let Some(shape) = shape(func, loops, l) {
            s.chosen.push((l, shape));
            s.stale[l.index()] = true;
        }
    }
    if s.chosen.is_empty() {
        return false;
    }
    func.tidy_track();
    let chosen = std::mem::take(&mut s.chosen);
    let mut uses = std::mem::take(&mut s.uses);
    let is_chosen = |l: Loop| chosen.binary_search_by_key(&l, |&(l, _)| l).is_ok();
    uses.find(func, cfg, loops, is_chosen);
    // Loops are rotated in block order. Outside of a loop, its values are used only after the loop, in code
    // that has not changed yet.
    for &(l, shape) in &chosen {
        close(func, cfg, loops, l, &mut uses);
        rotate(func, loops, l, shape, s);
    }
    (s.chosen, s.uses) = (chosen, uses);
    true
}

#[derive(Clone, Copy, Debug)]
struct Shape {
    preheader: Block,
    header: Block,
    /// Index of the header's successor that is in the loop.
    stay: usize,
}

fn shape(func: &Function, loops: &LoopForest, l: Loop) -> Option<Shape> {
    let (header, preheader) = (loops.header(l), loops.preheader(l)?);
    let [latch] = *loops.latches(l) else { return None };
    let test = func.terminator(header)?;
    let Op::Br { then, otherwise, .. } = func.insts[test].op else { return None };
    let stay = match (loops.contains(l, then), loops.contains(l, otherwise)) {
        (true, false) => 0,
        (false, true) => 1,
        _ => return None,
    };
    // A loop that already tests at its end stays as it is.
    let tests_at_end = func.branch_count(func.terminator(latch)?) == 2;
    (latch != header && !tests_at_end && cheap(func, header)).then_some(Shape { preheader, header, stay })
}

fn cheap(func: &Function, header: Block) -> bool {
    let mut count = 0;
    for &inst in func.blocks[header].insts() {
        let op = func.insts[inst].op;
        match op {
            Op::Const(_) | Op::Br { .. } => {}
            Op::Load { mem, .. } if COPY.takes(&mem) => count += 2,
            _ if op.is_pure() => count += 1,
            _ => return false,
        }
    }
    count <= MAX_HEADER
}

fn rotate(func: &mut Function, loops: &LoopForest, l: Loop, shape: Shape, s: &mut Scratch) {
    let Shape { preheader, header, stay } = shape;
    let tracked = func.track.is_some();
    for value in s.touched.drain(..) {
        (s.entering[value.index()], s.inside[value.index()]) = (None, None);
    }
    for map in [&mut s.entering, &mut s.inside] {
        map.resize(func.values.len().max(map.len()), None);
    }
    let (Some(enter), Some(test)) = (func.terminator(preheader), func.terminator(header)) else { return };
    copy_test(func, preheader, header, enter, test, s);
    let Some(guard) = func.terminator(preheader) else { return };
    let Some(body) = func.branch_target(test, stay) else { return };

    // The new header has parameters for the values of the test block that the loop uses, and jumps to the
    // body.
    let head = func.make_block();
    let mut to_body = Values::from_slice(func.branch_args(test, stay));
    for block in [guard, test] {
        func.set_branch_args(block, stay, &[]);
        func.set_target(block, stay, head);
    }
    let mut carry = Carry { func, header, head, guard, test, stay, s };
    to_body.iter_mut().for_each(|value| *value = carry.inside(*value));
    for &block in loops.blocks(l).iter().filter(|&&b| b != header) {
        for n in 0..carry.func.blocks[block].insts().len() {
            let inst = carry.func.blocks[block].insts()[n];
            for operand in 0..carry.func.args(inst).len() {
                let old = carry.func.args(inst)[operand];
                let new = carry.inside(old);
                carry.func.set_arg(inst, operand, new);
            }
        }
    }
    let loc = func.insts[test].loc;
    let enters = func.push(head, Op::Jump(body), &to_body, loc);
    func.layout.push(head);
    if tracked {
        track(func, loops, l, header, enters, s);
    }
    func.unroll[head] = std::mem::replace(&mut func.unroll[header], UnrollHint::None);
}

/// Copies the header, with the values of the first iteration, to the end of the preheader.
fn copy_test(func: &mut Function, preheader: Block, header: Block, enter: Inst, test: Inst, s: &mut Scratch) {
    for n in 0..func.params(header).len() {
        let incoming = edge_args(func, preheader, header).map(|args| args[n]);
        s.entering[func.params(header)[n].index()] = incoming;
        s.touched.push(func.params(header)[n]);
    }
    let loc = func.insts[enter].loc;
    func.remove_terminator(preheader);
    let mut records = Copier::default();
    for n in 0..func.blocks[header].insts().len() {
        let inst = func.blocks[header].insts()[n];
        records.pass(func, inst, |value| s.entering[value.index()].unwrap_or(value));
        let args: Values = func.args(inst).iter().map(|&v| s.entering[v.index()].unwrap_or(v)).collect();
        let results = func.insts[inst].results;
        let ty = if results > 0 { func.ty(func.insts[inst].first) } else { Type::Bool };
        let loc = if inst == test { loc } else { func.insts[inst].loc };
        let copy = func.push_n(preheader, func.insts[inst].op, &args, ty, results, loc);
        if let Some(track) = &mut func.track {
            records.made(track, copy);
        }
        for n in 0..results {
            s.entering[func.result(inst, n).index()] = Some(func.result(copy, n));
            s.touched.push(func.result(inst, n));
        }
    }
}

/// Updates the debug facts of a rotated loop. In the loop body, facts about header values name the
/// corresponding parameters of the new header, or become lost if there is no parameter. The facts of the
/// header, except statements, are copied to the new header, which consists of the jump `enters`.
#[cold]
fn track(func: &mut Function, loops: &LoopForest, l: Loop, header: Block, enters: Inst, s: &Scratch) {
    let Some(mut track) = func.track.take() else { return };
    let mut notes = std::mem::take(&mut track.notes);
    let is_headers = |value: Value| func.block_of(value) == header;
    let inside = |value: Value| {
        if track.has_elsewhere(func, value, header) {
            return Some(value);
        }
        match is_headers(value) {
            true => s.inside[value.index()].or(func.const_bits(value).map(|_| value)),
            false => (!track.is_computed_of(func, value, &is_headers)).then_some(value),
        }
    };
    for &block in loops.blocks(l) {
        for &inst in func.blocks[block].insts().iter().filter(|_| block != header) {
            notes.change(inst, |what| what.filter_map(inside));
        }
    }
    for &inst in func.blocks[header].insts() {
        let told = notes.before(inst).filter(|what| !matches!(what, What::Statement(_)));
        let told: SmallVec<[What; 8]> = told.map(|what| what.filter_map(inside)).collect();
        notes.add(enters, told);
    }
    track.notes = notes;
    func.track = Some(track);
}

struct Carry<'a> {
    func: &'a mut Function,
    header: Block,
    head: Block,
    guard: Inst,
    test: Inst,
    stay: usize,
    s: &'a mut Scratch,
}

impl Carry<'_> {
    /// Returns the value that replaces `value` in the loop body. For a value that the test block defines,
    /// this is a parameter of the new header.
    fn inside(&mut self, value: Value) -> Value {
        if self.func.block_of(value) != self.header {
            return value;
        }
        if let Some(known) = self.s.inside[value.index()] {
            return known;
        }
        if self.func.const_bits(value).is_some() {
            // A constant needs no parameter: its copy in the preheader dominates the loop.
            return self.s.entering[value.index()].unwrap_or(value);
        }
        let param = self.func.add_param(self.head, self.func.ty(value));
        self.s.inside[value.index()] = Some(param);
        self.s.touched.push(value);
        let entering = self.s.entering[value.index()].unwrap_or(value);
        self.func.push_branch_arg(self.guard, self.stay, entering);
        self.func.push_branch_arg(self.test, self.stay, value);
        param
    }
}
