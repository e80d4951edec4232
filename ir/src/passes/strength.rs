//! Reassociation around loops: sums and products are regrouped so that more of them stays the same from
//! one iteration to the next, for [`super::licm`] to take out.
//!
//! - `a + (b + i)` becomes `(a + b) + i`, the sum in parentheses before the loop; addresses likewise;
//! - `n * (b + i)` becomes `n * b + n * i`: with a uniform counter, what is left in the loop is scalar.

use crate::analysis::{Loop, LoopForest};
use crate::entity::{Inst, Value};
use crate::func::Function;
use crate::op::{BinOp, Op};
use cranelift_entity::EntityRef;

/// How an instruction of a loop can be regrouped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Regrouped {
    /// What can be computed before the loop.
    pub outside: (Op, [Value; 2]),
    pub then: Then,
}

/// What is left in the loop.
#[derive(Clone, Copy, Debug)]
pub(super) enum Then {
    /// The instruction is this operation on the outside value and the other one.
    Final(Op, Value),
    /// The instruction adds this product to the outside value.
    AddProduct([Value; 2]),
}

/// How to regroup an instruction of loop `l` (the innermost one around it), if that leaves less in the
/// loop. `uses` counts the uses of each value.
pub(super) fn regroup(
    func: &Function,
    loops: &LoopForest,
    l: Loop,
    inst: Inst,
    uses: &[u32],
) -> Option<Regrouped> {
    let op = func.insts[inst].op;
    let [a, b] = *func.args(inst) else { return None };
    let varies = |v: Value| loops.contains(l, func.block_of(v));
    // One argument from outside, the other a sum in the loop of which one part is from outside.
    let mixed_sum = |v: Value| {
        let def = func.def_inst(v).filter(|&i| func.insts[i].op == Op::Bin(BinOp::Add))?;
        let [x, y] = *func.args(def) else { return None };
        let single = uses.get(v.index()).is_some_and(|&n| n == 1);
        match (varies(x), varies(y)) {
            (true, false) if single => Some((y, x)),
            (false, true) if single => Some((x, y)),
            _ => None,
        }
    };
    let is_const = |v: Value| func.const_bits(v).is_some();
    match op {
        Op::Bin(BinOp::Add | BinOp::Mul) => {
            let (fixed, sum) = match (varies(a), varies(b)) {
                (false, true) => (a, b),
                (true, false) => (b, a),
                _ => return None,
            };
            let (part, rest) = mixed_sum(sum)?;
            // Constants are the simplifier's: it moves them the other way.
            if is_const(fixed) || is_const(part) {
                return None;
            }
            let then = match op {
                Op::Bin(BinOp::Mul) => Then::AddProduct([fixed, rest]),
                _ => Then::Final(op, rest),
            };
            Some(Regrouped { outside: (op, [fixed, part]), then })
        }
        Op::PtrAdd if !varies(a) => {
            let (part, rest) = mixed_sum(b)?;
            (!is_const(part)).then_some(Regrouped { outside: (op, [a, part]), then: Then::Final(op, rest) })
        }
        _ => None,
    }
}
