//! Decides, once after the last pass, what the debugger shows for variables whose values are constant or
//! gone.

use super::{MOST_STEPS, Track, Variable, What, is_recomputable, now};
use crate::entity::{Inst, Value};
use crate::func::{Function, ValueDef};
use crate::op::{BinOp, CastOp, Op};
use cranelift_entity::EntityRef;

impl Track {
    /// Replaces the values that no instruction computes any more by something that the debugger can show.
    /// Must run after the last pass, with tidy facts. Leaves out a fact that repeats the preceding fact about
    /// the same fragment in the same block, unless the value is computed between the two facts and so was not
    /// yet available at the first.
    pub(super) fn conclude(&mut self, func: &mut Function) {
        let Track { places, notes, variables, replaced, kept, last, .. } = self;
        let values = Values { func, places, variables, replaced };
        for &block in &func.layout {
            last.clear();
            for &inst in func.blocks[block].insts() {
                notes.retain(inst, |what| {
                    let Some(fragment) = what.fragment() else { return true };
                    values.conclude_fact(what, kept);
                    let is_same = |&(known, since)| known == *what && values.is_known(*what, since);
                    if last.get(&fragment).is_some_and(is_same) {
                        return false;
                    }
                    last.insert(fragment, (*what, inst));
                    true
                });
            }
        }
        kept.sort_unstable();
        kept.dedup();
        // The kept instructions are not part of the code, so substitutions in the code have not updated their
        // arguments.
        for &inst in &*kept {
            let mut args = func.insts[inst].args;
            args.as_mut_slice(&mut func.pool).iter_mut().for_each(|arg| *arg = now(replaced, *arg));
        }
    }
}

/// The state of values after the last pass.
struct Values<'a> {
    func: &'a Function,
    places: &'a [u32],
    variables: &'a [Variable],
    replaced: &'a [Value],
}

impl Values<'_> {
    /// Returns whether the fact, which is stated again later in the same block, already held before `inst`.
    /// Only the current block is considered.
    fn is_known(&self, what: What, inst: Inst) -> bool {
        let value = match what {
            What::Value(_, value) => value,
            // The values from which the debugger computes the fragment may have been computed in between.
            What::Term(..) => return false,
            What::Statement(_) | What::Lost(_) => return true,
        };
        match self.func.values[value].def {
            ValueDef::Result(def, _) => {
                let is_constant = matches!(self.func.insts[def].op, Op::Const(_));
                is_constant || (1..self.places[inst.index()]).contains(&self.places[def.index()])
            }
            ValueDef::Param(..) => true,
        }
    }

    /// Handles a fact about a value that no instruction computes any more. Replaces the value by an equal
    /// value, or by a term that the debugger can compute; otherwise the fact becomes [`What::Lost`].
    fn conclude_fact(&self, what: &mut What, kept: &mut Vec<Inst>) {
        let What::Value(fragment, value) = *what else { return };
        match self.func.values[value].def {
            ValueDef::Result(inst, _) => match self.func.insts[inst].op {
                // The debugger needs no instruction for a constant.
                Op::Const(_) => {}
                _ if self.places[inst.index()] != 0 => {}
                op => {
                    let bytes =
                        self.variables[fragment.variable as usize].fragments[fragment.index as usize].1;
                    if let Some(same) = same_low_bytes(self.func, (inst, op), bytes) {
                        // If several such instructions were removed in a row, the recursion finds the first
                        // value that is still computed. It ends because each operand is older than the
                        // result.
                        *what = What::Value(fragment, now(self.replaced, same));
                        self.conclude_fact(what, kept);
                    } else if self.steps(value, MOST_STEPS).is_some() {
                        *what = What::Term(fragment, value);
                        self.keep(value, kept);
                    } else {
                        *what = What::Lost(fragment);
                    }
                }
            },
            ValueDef::Param(..) if self.is_available(value) => {}
            ValueDef::Param(..) => *what = What::Lost(fragment),
        }
    }

    /// Returns whether the value is available in the code.
    fn is_available(&self, value: Value) -> bool {
        match self.func.values[value].def {
            ValueDef::Result(inst, _) => {
                self.places[inst.index()] != 0 || matches!(self.func.insts[inst].op, Op::Const(_))
            }
            ValueDef::Param(block, n) => {
                let is_in_code = |last: Inst| self.places[last.index()] != 0;
                self.func.terminator(block).is_some_and(is_in_code)
                    && self.func.params(block).get(usize::from(n)) == Some(&value)
            }
        }
    }

    /// Returns the number of operations that a debugger needs to compute the value; `None` if it needs more
    /// than `most` or cannot compute it.
    fn steps(&self, value: Value, most: u32) -> Option<u32> {
        if self.is_available(value) {
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

    /// Collects into `kept` the instructions from which the value is computed and that are no longer in the
    /// code.
    fn keep(&self, value: Value, kept: &mut Vec<Inst>) {
        if let ValueDef::Result(inst, _) = self.func.values[value].def
            && !self.is_available(value)
        {
            kept.push(inst);
            self.func.args(inst).iter().for_each(|&arg| self.keep(now(self.replaced, arg), kept));
        }
    }
}

/// Returns the operand that has the same low `bytes` bytes as the instruction's result; `None` if there is
/// none. The debugger may read this operand instead, because it reads only `bytes` bytes.
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
