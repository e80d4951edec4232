//! The limits hold as well where the hardware's approximations are as far off as they may be, which the emulator's never
//! are: `f32` by one more unit in the last place, reciprocals and roots of `f64` by 2^29 (docs/fidelity.md).

use crate::math::functions::Function;
use crate::math::run::{Float, executed, kernel};
use crate::math::{arguments, chosen, expression, inputs, second, worst};
use ir::{BinOp, CastOp, FloatCc, Function as Func, Module, Op, SrcLoc, Type, UnOp, Value};
use kernc::{Compiler, Options, Target, sim::Mode};

fn is_rough(op: Op) -> bool {
    use UnOp::{NativeCos, NativeExp2, NativeLog2, NativeRcp, NativeRsq, NativeSin, NativeSqrt};
    let rough = [NativeCos, NativeExp2, NativeLog2, NativeRcp, NativeRsq, NativeSin, NativeSqrt];
    matches!(op, Op::Un(op) if rough.contains(&op))
}

/// Makes every approximation larger, or smaller, by what it may be off; 0 and infinity stay.
fn worsen(module: &mut Module, away: bool) {
    for func in module.funcs.values_mut() {
        let mut insts = Vec::new();
        for block in func.layout.clone() {
            func.take_insts(block, &mut insts);
            for &inst in &insts {
                let op = func.insts[inst].op;
                if is_rough(op) {
                    let args = func.args(inst).to_vec();
                    let ty = func.ty(func.result(inst, 0));
                    let best = func.push1(block, op, &args, ty, SrcLoc(1));
                    let [cond, worse] = worse(func, block, best, ty, away);
                    func.replace(inst, Op::Select, &[cond, worse, best]);
                }
                func.append(block, inst);
            }
        }
    }
}

/// Whether it may be off, and its value then.
fn worse(func: &mut Func, block: ir::Block, best: Value, ty: Type, away: bool) -> [Value; 2] {
    let (int, off) = if ty == Type::F64 { (Type::I64, 1u64 << 29) } else { (Type::I32, 1) };
    let off = if away {
        off
    } else {
        off.wrapping_neg() & if ty == Type::F64 { u64::MAX } else { u32::MAX.into() }
    };
    let infinity = if ty == Type::F64 { f64::INFINITY.to_bits() } else { f32::INFINITY.to_bits().into() };
    let mut push = |op, args: &[Value], ty| func.push1(block, op, args, ty, SrcLoc(1));
    let size = push(Op::Un(UnOp::FAbs), &[best], ty);
    let (zero, top) = (push(Op::Const(0), &[], ty), push(Op::Const(infinity), &[], ty));
    let above = push(Op::Fcmp(FloatCc::Ogt), &[size, zero], Type::Bool);
    let below = push(Op::Fcmp(FloatCc::Olt), &[size, top], Type::Bool);
    let cond = push(Op::Bin(BinOp::And), &[above, below], Type::Bool);
    let bits = push(Op::Cast(CastOp::Bitcast), &[best], int);
    let off = push(Op::Const(off), &[], int);
    let bits = push(Op::Bin(BinOp::Add), &[bits, off], int);
    [cond, push(Op::Cast(CastOp::Bitcast), &[bits], ty)]
}

fn check(function: &Function, ty: Float, away: bool) {
    let source = kernel(&expression(function), ty, second(function, ty));
    let mut module = frontend::compile("math.k", &source, &frontend::Options::default()).unwrap();
    worsen(&mut module, away);
    let mut compiler = Compiler::new(Target::by_name("gfx906").unwrap());
    let object = compiler
        .compile_module(module, &Options { debug: kernc::DebugInfo::None, ..Options::default() })
        .unwrap();
    let args = arguments(function, ty, 8000, 1);
    let (inputs, size) = (inputs(function, ty, &args), args.len() * ty.size());
    let (out, _) = executed(object.bytes(), Mode::Fast, &inputs, args.len(), size);
    let (error, x, y) = worst(function, ty, false, &args, &ty.read(&out));
    println!("{:8} {} {error:.3} ulp at {x:?} {y:?}", function.name, ty.name());
    let limit = function.limit(ty);
    assert!(error <= limit, "{} of {ty:?}: {error} ulp at {x:?}, {y:?}", function.name);
}

#[test]
fn within_limits_on_the_worst_hardware() {
    for ty in [Float::F32, Float::F64] {
        for function in chosen() {
            [true, false].into_iter().for_each(|away| check(function, ty, away));
        }
    }
}
