//! Half-precision operations: which operations the processor has instructions for, and how the others are
//! expanded in the IR.
//!
//! An operation without an instruction is done in `f32` and the result is rounded. So sums, products,
//! quotients and square roots are rounded twice, but the result is the same as if they were rounded once. The
//! reason is that the significand of an `f32` has 24 bits, that of a half has 11, and 24 is at least `2 * 11
//! + 2` (S. A. Figueroa, "When is double rounding innocuous?", 1995). Most other operations are exact in
//! `f32`; the exceptions are handled below.

use crate::expand::Expander;
use crate::roles::{Role, Roles};
use ir::{BinOp, CastOp, FloatCc, Function, Inst, Op, TernOp, Type, UnOp, Value};

/// Bits of the largest half below 1, as an `f32`.
const BELOW_ONE: u64 = 0x3f7f_e000;

/// Operations on halves, and the roles of their instructions.
const ROLES: &[(Op, Role)] = &[
    (Op::Un(UnOp::FFloor), Role::VFloorF16),
    (Op::Un(UnOp::FCeil), Role::VCeilF16),
    (Op::Un(UnOp::FTrunc), Role::VTruncF16),
    (Op::Un(UnOp::FRound), Role::VRndneF16),
    (Op::Un(UnOp::FFract), Role::VFractF16),
    (Op::Un(UnOp::NativeRcp), Role::VRcpF16),
    (Op::Un(UnOp::NativeRsq), Role::VRsqF16),
    (Op::Un(UnOp::NativeSqrt), Role::VSqrtF16),
    (Op::Un(UnOp::NativeExp2), Role::VExpF16),
    (Op::Un(UnOp::NativeLog2), Role::VLogF16),
    (Op::Un(UnOp::FrexpMant), Role::VFrexpMantF16),
    (Op::Bin(BinOp::FAdd), Role::VAddF16),
    (Op::Bin(BinOp::FSub), Role::VSubF16),
    (Op::Bin(BinOp::FMul), Role::VMulF16),
    (Op::Bin(BinOp::FMin), Role::VMinF16),
    (Op::Bin(BinOp::FMax), Role::VMaxF16),
    (Op::Tern(TernOp::Fma), Role::VFmaF16),
    (Op::Fcmp(FloatCc::Oeq), Role::VCmpEqF16),
    (Op::Fcmp(FloatCc::One), Role::VCmpLgF16),
    (Op::Fcmp(FloatCc::Olt), Role::VCmpLtF16),
    (Op::Fcmp(FloatCc::Ole), Role::VCmpLeF16),
    (Op::Fcmp(FloatCc::Ogt), Role::VCmpGtF16),
    (Op::Fcmp(FloatCc::Oge), Role::VCmpGeF16),
    (Op::Fcmp(FloatCc::Ord), Role::VCmpOF16),
    (Op::Fcmp(FloatCc::Ueq), Role::VCmpNlgF16),
    (Op::Fcmp(FloatCc::Une), Role::VCmpNeqF16),
    (Op::Fcmp(FloatCc::Ult), Role::VCmpNgeF16),
    (Op::Fcmp(FloatCc::Ule), Role::VCmpNgtF16),
    (Op::Fcmp(FloatCc::Ugt), Role::VCmpNleF16),
    (Op::Fcmp(FloatCc::Uge), Role::VCmpNltF16),
    (Op::Fcmp(FloatCc::Uno), Role::VCmpUF16),
];

/// Returns the role (operation that selection requests) of the instruction that does an operation on
/// half-precision floats.
pub(crate) fn role(op: Op) -> Option<Role> {
    ROLES.iter().find(|(have, _)| *have == op).map(|&(_, role)| role)
}

/// Returns the role of the instruction for a sum of products.
pub(crate) fn parts(op: TernOp) -> Option<Role> {
    Some(match op {
        TernOp::SDot2 => Role::VDot2I32I16,
        TernOp::UDot2 => Role::VDot2U32U16,
        TernOp::SDot4 => Role::VDot4I32I8,
        TernOp::UDot4 => Role::VDot4U32U8,
        TernOp::SDot8 => Role::VDot8I32I4,
        TernOp::UDot8 => Role::VDot8U32U4,
        _ => return None,
    })
}

/// Returns whether an operation must be expanded: it has a half-precision operand or result, and the
/// processor has no instruction for it.
pub(crate) fn needs(func: &Function, inst: Inst, roles: &Roles) -> bool {
    let data = &func.insts[inst];
    let Some(&arg) = func.args(inst).first().filter(|_| data.results == 1) else { return false };
    let (from, to) = (func.ty(arg), func.ty(data.first));
    if from != Type::F16 && to != Type::F16 {
        return false;
    }
    match data.op {
        Op::Un(UnOp::FNeg | UnOp::FAbs)
        | Op::Bin(BinOp::FDiv)
        | Op::Cast(CastOp::HalfBits | CastOp::BitsHalf) => false,
        Op::Cast(_) => from != Type::F32 && to != Type::F32,
        Op::Un(_) | Op::Bin(_) | Op::Tern(_) | Op::Fcmp(_) => {
            role(data.op).and_then(|role| roles.opcode(role)).is_none()
        }
        _ => false,
    }
}

impl Expander<'_> {
    /// Emits the operation in `f32`, and returns its last step.
    pub(crate) fn half(&mut self, op: Op, args: &[Value], ty: Type) -> (Op, Vec<Value>) {
        let args: Vec<Value> = args.iter().map(|&arg| self.widened(arg)).collect();
        let single = match op {
            Op::Un(UnOp::FFract) => self.half_fract(args[0]),
            Op::Tern(TernOp::Fma) => self.half_fma(&args),
            Op::Cast(CastOp::FTrunc) => self.rounded_to_odd(args[0]),
            Op::Cast(CastOp::FExt) => args[0],
            // The result is not a half.
            _ if ty != Type::F16 => return self.last_step(op, args, ty),
            _ => {
                let (op, args) = self.last_step(op, args, Type::F32);
                self.op(op, &args, Type::F32)
            }
        };
        (Op::Cast(if ty == Type::F16 { CastOp::FTrunc } else { CastOp::FExt }), vec![single])
    }

    fn widened(&mut self, arg: Value) -> Value {
        match self.func.ty(arg) {
            Type::F16 => match self.func.const_bits(arg) {
                Some(bits) => self.float(ir::half::Half(bits as u16).wide(), Type::F32),
                None => self.cast(CastOp::FExt, arg, Type::F32),
            },
            _ => arg,
        }
    }

    /// Computes the fraction of `x`, that is, `x` minus the next lower integer. The difference is exact in
    /// `f32`. Rounded to a half, it could become 1, so the result is limited to the largest half below 1.
    fn half_fract(&mut self, x: Value) -> Value {
        let floor = self.un(UnOp::FFloor, x);
        let part = self.bin(BinOp::FSub, x, floor);
        let most = self.op(Op::Const(BELOW_ONE), &[], Type::F32);
        let over = self.op(Op::Fcmp(FloatCc::Ogt), &[part, most], Type::Bool);
        self.select(over, most, part)
    }

    /// Returns `a * b + c` for halves, computed in `f32`. There the product is exact. The sum is *rounded to
    /// odd*: if it is not exact, its last bit is set, so that rounding it again, to a half, gives the correct
    /// result. Whether the sum is exact follows from its error, which an `f32` can represent: D. E. Knuth,
    /// "The Art of Computer Programming", volume 2, 4.2.2, theorem B.
    fn half_fma(&mut self, args: &[Value]) -> Value {
        let (product, c) = (self.bin(BinOp::FMul, args[0], args[1]), args[2]);
        let sum = self.bin(BinOp::FAdd, product, c);
        let summand = self.bin(BinOp::FSub, sum, product);
        let rest = self.bin(BinOp::FSub, sum, summand);
        let (lost, other) = (self.bin(BinOp::FSub, product, rest), self.bin(BinOp::FSub, c, summand));
        let error = self.bin(BinOp::FAdd, lost, other);
        let [bits, sign] = [sum, error].map(|x| self.cast(CastOp::Bitcast, x, Type::I32));
        let zero = self.op(Op::Const(0), &[], Type::F32);
        let inexact = self.op(Op::Fcmp(FloatCc::One), &[error, zero], Type::Bool);
        // `less` becomes -1 if the sum was rounded away from zero, and 0 otherwise. The sum was rounded away
        // from zero if its error (exact sum minus rounded sum) has the opposite sign.
        let differ = self.bin(BinOp::Xor, bits, sign);
        let count = self.int(31, Type::I32);
        let less = self.bin(BinOp::AShr, differ, count);
        self.odd(bits, less, inexact)
    }

    /// Converts an `f64` to an `f32`, rounding to odd.
    fn rounded_to_odd(&mut self, x: Value) -> Value {
        let near = self.cast(CastOp::FTrunc, x, Type::F32);
        let back = self.cast(CastOp::FExt, near, Type::F64);
        let inexact = self.op(Op::Fcmp(FloatCc::One), &[back, x], Type::Bool);
        let [size, exact] = [back, x].map(|x| self.un(UnOp::FAbs, x));
        let over = self.op(Op::Fcmp(FloatCc::Ogt), &[size, exact], Type::Bool);
        let less = self.cast(CastOp::Sext, over, Type::I32);
        let bits = self.cast(CastOp::Bitcast, near, Type::I32);
        self.odd(bits, less, inexact)
    }

    /// Changes a correctly rounded `f32`, given as bits, to the same number rounded to odd. An inexact number
    /// is first rounded towards zero: `less` is added to the bits, which is -1 if the number was rounded away
    /// from zero, and 0 otherwise. Then the lowest bit is set. An exact number stays the same.
    fn odd(&mut self, bits: Value, less: Value, inexact: Value) -> Value {
        let toward_zero = self.bin(BinOp::Add, bits, less);
        let one = self.int(1, Type::I32);
        let odd = self.bin(BinOp::Or, toward_zero, one);
        let bits = self.select(inexact, odd, bits);
        self.cast(CastOp::Bitcast, bits, Type::F32)
    }
}
