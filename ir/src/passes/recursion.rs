//! Turns tail recursion into loops: a function that ends with a call of itself jumps to its beginning
//! instead. The function may first combine the result of the call with another value, by an addition or
//! another operation whose order does not matter. A loop parameter then accumulates these values.
//!
//! # Requires
//! The function must have no private variables, because each call has private variables of its own.
//! # Limits
//! Floating-point sums are not converted because they depend on the order of their operands.

use crate::entity::{Block, FuncId, Inst, Value};
use crate::func::{Function, Module, SrcLoc, Values};
use crate::op::{BinOp, Op};
use crate::types::Type;
use smallvec::SmallVec;

/// A recursive call at the end of a function.
struct Tail {
    block: Block,
    call: Inst,
    /// The operation that combines the result of the recursive call with another operand before the function
    /// returns it. `None` if the function returns the result unchanged.
    into: Option<(BinOp, Value)>,
}

/// A block in which the function returns in the ordinary way, and not by a recursive call that becomes a
/// jump.
struct End {
    block: Block,
    /// The returned value, if there is exactly one result.
    value: Option<Value>,
}

/// Runs the pass on all functions of a module.
pub fn run(module: &mut Module) {
    for (id, func) in module.funcs.iter_mut() {
        if func.kernel.is_none() && func.slots.is_empty() && !func.layout.is_empty() {
            on_function(func, id);
        }
    }
}

#[cold]
fn on_function(func: &mut Function, id: FuncId) {
    let calls_itself = |func: &Function, &block: &Block| {
        func.blocks[block].insts().iter().any(|&inst| func.insts[inst].op == Op::Call(id))
    };
    if !func.layout.iter().any(|block| calls_itself(func, block)) {
        return;
    }
    let (mut tails, mut ends) = (Vec::new(), Vec::new());
    for n in 0..func.layout.len() {
        let block = func.layout[n];
        let Some(result) = returned(func, block) else { continue };
        match tail(func, block, id, result.first().copied()) {
            Some(tail) => tails.push(tail),
            None => ends.push(End { block, value: result.first().copied() }),
        }
    }
    // A loop can accumulate only one operation. Calls whose result goes into another operation stay calls.
    let op = tails.iter().find_map(|tail| tail.into.map(|(op, _)| op));
    let (taken, other): (Vec<Tail>, Vec<Tail>) =
        tails.into_iter().partition(|tail| tail.into.is_none_or(|(own, _)| Some(own) == op));
    ends.extend(other.iter().map(|tail| End { block: tail.block, value: last_value(func, tail) }));
    if !taken.is_empty() && (op.is_none() || ends.iter().all(|end| end.value.is_some())) {
        into_loop(func, &taken, &ends, op);
    }
}

/// Returns the values that the function returns at the end of a block. The block must end with a return, or
/// jump to a block that only returns.
fn returned(func: &Function, block: Block) -> Option<Values> {
    let last = func.terminator(block)?;
    match func.insts[last].op {
        Op::Ret => Some(Values::from_slice(func.args(last))),
        Op::Jump(to) if func.blocks[to].insts().len() == 1 => {
            let end = func.terminator(to).filter(|&end| func.insts[end].op == Op::Ret)?;
            let params = func.params(to);
            let passed = |value: &Value| {
                let place = params.iter().position(|param| param == value);
                place.map_or(*value, |place| func.args(last)[place])
            };
            Some(func.args(end).iter().map(passed).collect())
        }
        _ => None,
    }
}

/// Returns the recursive call with which a block ends. `None` if a loop cannot do what the block does after
/// the call.
fn tail(func: &Function, block: Block, id: FuncId, result: Option<Value>) -> Option<Tail> {
    let insts = func.blocks[block].insts();
    let [.., before, _] = insts[..] else { return None };
    let is_call = |inst: Inst| func.insts[inst].op == Op::Call(id);
    let gives = |inst: Inst| func.results_of(inst).next();
    if is_call(before) {
        let whole = func.insts[before].results <= 1 && gives(before) == result;
        return whole.then_some(Tail { block, call: before, into: None });
    }
    let [.., call, sum, _] = insts[..] else { return None };
    let Op::Bin(op) = func.insts[sum].op else { return None };
    if !is_call(call) || func.insts[call].results != 1 || gives(sum) != result || identity(op).is_none() {
        return None;
    }
    let called = gives(call)?;
    let other = match *func.args(sum) {
        [a, b] if a == called && b != called => b,
        [a, b] if b == called && a != called => a,
        _ => return None,
    };
    let integer = matches!(func.ty(called), Type::I32 | Type::I64);
    integer.then_some(Tail { block, call, into: Some((op, other)) })
}

/// Returns the identity element of an integer operation; `None` if the operation is not associative and
/// commutative.
fn identity(op: BinOp) -> Option<u64> {
    match op {
        BinOp::Add | BinOp::Or | BinOp::Xor => Some(0),
        BinOp::Mul => Some(1),
        BinOp::And => Some(u64::MAX),
        _ => None,
    }
}

fn last_value(func: &Function, tail: &Tail) -> Option<Value> {
    returned(func, tail.block)?.first().copied()
}

fn into_loop(func: &mut Function, tails: &[Tail], ends: &[End], op: Option<BinOp>) {
    let header = func.layout[0];
    let loc = SrcLoc::default();
    let entry = func.make_block();
    let types: SmallVec<[Type; 8]> = func.params(header).iter().map(|&param| func.ty(param)).collect();
    let mut start: Values = types.iter().map(|&ty| func.add_param(entry, ty)).collect();
    func.layout.insert(0, entry);
    let kept = op.map(|op| {
        let ty = func.results[0];
        let all = if ty == Type::I32 { u64::from(u32::MAX) } else { u64::MAX };
        let nothing = func.push1(entry, Op::Const(identity(op).unwrap_or(0) & all), &[], ty, loc);
        start.push(nothing);
        (op, ty, func.add_param(header, ty))
    });
    func.push(entry, Op::Jump(header), &start, loc);
    for end in ends {
        let (Some((op, ty, kept)), Some(value)) = (kept, end.value) else { continue };
        let Some(last) = func.terminator(end.block) else { continue };
        func.remove_terminator(end.block);
        let loc = func.insts[last].loc;
        let sum = func.push1(end.block, Op::Bin(op), &[kept, value], ty, loc);
        func.push(end.block, Op::Ret, &[sum], loc);
    }
    for tail in tails {
        let loc = func.insts[tail.call].loc;
        let mut args = Values::from_slice(func.args(tail.call));
        let place = func.blocks[tail.block].insts().iter().position(|&inst| inst == tail.call).unwrap_or(0);
        func.remove_from(tail.block, place);
        if let Some((op, ty, kept)) = kept {
            args.push(match tail.into {
                Some((_, other)) => func.push1(tail.block, Op::Bin(op), &[kept, other], ty, loc),
                None => kept,
            });
        }
        func.push(tail.block, Op::Jump(header), &args, loc);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Module {
        let module = crate::parse::parse_module(text).expect("the syntax of IR");
        crate::verify::verify(&module).expect("valid IR");
        module
    }

    const SUM: &str = "func @sum -> i32 {
b0(v0: i32):
    v1 = const.i32 0
    v2 = icmp.eq v0, v1
    br v2, b1, b2
b1:
    ret v1
b2:
    v3 = const.i32 1
    v4 = sub.i32 v0, v3
    v5: i32 = call @sum(v4)
    v6 = add.i32 v0, v5
    ret v6
}
";

    #[test]
    fn a_sum_is_kept_in_a_loop() {
        let mut module = parse(SUM);
        run(&mut module);
        crate::verify::verify(&module).expect("still valid");
        let func = module.funcs.values().next().expect("a function");
        let calls = func.layout.iter().flat_map(|&block| func.blocks[block].insts());
        assert!(!calls.into_iter().any(|&inst| func.insts[inst].op.is_call()), "{module}");
    }

    #[test]
    fn what_comes_behind_the_call_keeps_it() {
        // A difference depends on the order of its operands, and a quotient cannot be accumulated.
        for other in ["sub.i32 v0, v5", "udiv.i32 v5, v0"] {
            let text = SUM.replace("add.i32 v0, v5", other);
            let mut module = parse(&text);
            run(&mut module);
            assert_eq!(module.to_string(), parse(&text).to_string());
        }
    }
}
