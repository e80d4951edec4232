//! What variables are whose values are constant, or gone: asked once, behind the last pass.

use super::settle::Order;
use super::{MOST_STEPS, Record, Track, Variable, What, is_recomputable, now};
use crate::entity::{Inst, Value};
use crate::func::{Function, ValueDef};
use crate::op::{BinOp, CastOp, Op};

impl Track {
    /// Says what variables are whose values are constant, or gone: behind the last pass, and settled. Forgets what says what its block has said of a
    /// leaf last; what is computed between the two was not known the first time.
    pub(super) fn conclude(&mut self, func: &mut Function) {
        let Track { order, records, scratch, variables, replaced, kept, .. } = self;
        let leaves = &mut scratch.carried.leaves;
        leaves.begin_round(variables);
        let values = Values { func, now: order, variables, replaced };
        let mut next = 0;
        for n in 0..records.len() {
            let mut record = records[n];
            if let Some(leaf) = record.what.leaf() {
                values.settle(&mut record.what, kept);
                let leaf = leaves.of(leaf);
                let is_same = |told: &Record| {
                    (told.block, told.what) == (record.block, record.what)
                        && order.is_known(func, record.what, order.place(told.before))
                };
                if leaves.told(leaf).is_some_and(|told| is_same(&records[told])) {
                    continue;
                }
                leaves.tells(leaf, next);
            }
            records[next] = record;
            next += 1;
        }
        records.truncate(next);
        self.settled = next;
        kept.sort_unstable();
        kept.dedup();
        // They are no part of the code, and have missed what became of that.
        for &inst in &*kept {
            let mut args = func.insts[inst].args;
            args.as_mut_slice(&mut func.pool).iter_mut().for_each(|arg| *arg = now(replaced, *arg));
        }
    }
}

/// What is known of values after a pass.
struct Values<'a> {
    func: &'a Function,
    now: &'a Order,
    variables: &'a [Variable],
    replaced: &'a [Value],
}

impl Values<'_> {
    /// What no instruction computes any more is computed by debuggers, or lost.
    fn settle(&self, what: &mut What, kept: &mut Vec<Inst>) {
        let What::Value(leaf, value) = *what else { return };
        match self.func.values[value].def {
            ValueDef::Result(inst, _) => match self.func.insts[inst].op {
                // A constant needs no instruction.
                Op::Const(_) => {}
                _ if self.now.place(inst) != 0 => {}
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
                self.now.place(inst) != 0 || matches!(self.func.insts[inst].op, Op::Const(_))
            }
            ValueDef::Param(block, n) => {
                self.now.has(block) && self.func.params(block).get(usize::from(n)) == Some(&value)
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
