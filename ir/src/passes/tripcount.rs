//! Trip counts of loops, found by evaluating the loop counter iteration by iteration. A loop counter is a
//! parameter of the loop header that starts as a constant, is changed by operations with constants, and
//! decides an exit of the loop. All operations are allowed, such as `i += 4`, `d >>= 1` or `p = 1 - p`, and
//! they may wrap around.

use super::loopform::edge_args;
use crate::analysis::{DomTree, Loop, LoopForest};
use crate::entity::{Block, Value};
use crate::func::{Function, ValueDef};
use crate::op::Op;
use crate::semantics::evaluate;

/// Maximum nesting depth of expressions of the counter.
const MAX_DEPTH: u32 = 6;

/// Trip count of a loop: after this number of iterations, the loop ends at a certain branch, unless it takes
/// another exit first.
#[derive(Clone, Copy, Debug)]
pub struct TripCount {
    /// Number of times the back edge is taken.
    pub back_edges: u32,
    /// Block whose branch ends the loop.
    pub exit: Block,
}

/// Returns the trip count of a loop with a preheader and a single latch, if the back edge is taken at most
/// `max` times.
pub fn trip_count(
    func: &Function,
    dom: &DomTree,
    loops: &LoopForest,
    l: Loop,
    max: u32,
) -> Option<TripCount> {
    let (header, preheader) = (loops.header(l), loops.preheader(l)?);
    let [latch] = *loops.latches(l) else { return None };
    let first = edge_args(func, preheader, header)?;
    let next = edge_args(func, latch, header)?;
    for &(exit, _) in loops.exits(l) {
        // The exit test must be executed in every iteration.
        if !dom.dominates(exit, latch) || loops.innermost(exit) != Some(l) {
            continue;
        }
        let last = func.terminator(exit)?;
        let Op::Br { then, .. } = func.insts[last].op else { continue };
        let stay_if = u64::from(loops.contains(l, then));
        let cond = func.args(last)[0];
        for (index, &param) in func.params(header).iter().enumerate() {
            let Some(mut count) = func.const_bits(first[index]) else { continue };
            if !depends_on(func, cond, param, MAX_DEPTH) {
                continue;
            }
            for back_edges in 0..=max {
                match eval(func, cond, param, count, MAX_DEPTH) {
                    None => break,
                    Some(way) if way != stay_if => return Some(TripCount { back_edges, exit }),
                    Some(_) => {}
                }
                let Some(stepped) = eval(func, next[index], param, count, MAX_DEPTH) else { break };
                count = stepped;
            }
        }
    }
    None
}

fn depends_on(func: &Function, value: Value, param: Value, depth: u32) -> bool {
    value == param
        || match func.values[value].def {
            ValueDef::Result(inst, _) if depth > 0 && func.insts[inst].op.is_pure() => {
                func.args(inst).iter().any(|&arg| depends_on(func, arg, param, depth - 1))
            }
            _ => false,
        }
}

/// Evaluates `value` for the case that the loop counter `param` has the bits `bits`. Returns `None` if
/// `value` depends on anything else.
fn eval(func: &Function, value: Value, param: Value, bits: u64, depth: u32) -> Option<u64> {
    if value == param {
        return Some(bits);
    }
    if let Some(k) = func.const_bits(value) {
        return Some(k);
    }
    let inst = func.def_inst(value).filter(|_| depth > 0)?;
    let mut known = [0; 3];
    let args = func.args(inst);
    if args.is_empty() || args.len() > 3 || !func.insts[inst].op.is_pure() {
        return None;
    }
    for (to, &arg) in known.iter_mut().zip(args) {
        *to = eval(func, arg, param, bits, depth - 1)?;
    }
    evaluate(func.insts[inst].op, func.ty(args[0]), func.ty(value), |n| Some(known[n]))
}
