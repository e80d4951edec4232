//! Reassociation in loops: regroups sums and products so that a larger part of them is the same in every
//! iteration. The pass [`super::licm`] then moves this part out of the loop.
//!
//! - `a + (b + i)` becomes `(a + b) + i`, where `a + b` is computed before the loop; addresses are handled in
//!   the same way.
//! - `n * (b + i)` becomes `n * b + n * i`: with a uniform counter, the computation that is left in the loop
//!   is scalar.

use crate::analysis::{Loop, LoopForest};
use crate::entity::{Inst, Value};
use crate::func::Function;
use crate::op::{BinOp, Op};
use cranelift_entity::EntityRef;

/// How an instruction in a loop can be regrouped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Regrouped {
    /// The part of the computation that is the same in every iteration, as an operation with its operands. It
    /// can be computed before the loop.
    pub outside: (Op, [Value; 2]),
    pub then: Then,
}

/// Computation that is left in the loop.
#[derive(Clone, Copy, Debug)]
pub(super) enum Then {
    /// The instruction becomes this operation on the value that is computed before the loop and the given
    /// value.
    Final(Op, Value),
    /// The instruction becomes the sum of the value that is computed before the loop and the product of the
    /// two given values.
    AddProduct([Value; 2]),
}

/// Returns how to regroup an instruction if that leaves less work in the loop. `l` is the innermost loop that
/// contains the instruction. `uses` has the number of uses of each value.
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
    // Looks for two arguments: one that is defined outside the loop, and one that is a sum inside the loop.
    // One of the summands of this sum must be defined outside the loop, too.
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
            // If one of the two values is a constant, the instruction is left to the simplifier, which moves
            // constants in the opposite direction.
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
