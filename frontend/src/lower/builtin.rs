//! Lowers calls of the built-in functions.

use super::ops::lane;
use super::{Lower, Val};
use crate::argument_words;
use crate::ast::{BinaryOp, ExprId, List};
use crate::builtins::{self, Builtin, Dim, LIBRARY, Lane, Rmw, Two};
use crate::scalar::Scalar;
use crate::types::Ty;
use ir::{
    BinOp, CastOp, FloatCc, IntCc, Mem, MemFlags, Op, Order, Pos, RmwOp, Spaces, TernOp, Type, UnOp, Value,
    WaveOp,
};
use smallvec::SmallVec;

impl Lower<'_, '_> {
    pub(super) fn dimension(&mut self, dim: Dim, d: u8) -> Value {
        let pos = match (dim, self.workgroup_size) {
            (Dim::LocalSize, Some(size)) => {
                return self.constant(Type::I32, u64::from(size[usize::from(d)]));
            }
            (Dim::LocalSize, None) => Pos::LocalSize(d),
            (Dim::LocalId, _) => Pos::LocalId(d),
            (Dim::GroupId, _) => Pos::GroupId(d),
            (Dim::NumGroups, _) => Pos::NumGroups(d),
            (Dim::GlobalId, _) if self.global_offset => return self.offset_id(d),
            (Dim::GlobalId, _) => Pos::GlobalId(d),
            (Dim::GlobalSize, _) => Pos::GlobalSize(d),
        };
        self.emit(Op::Pos(pos), &[], Type::I32)
    }

    /// Emits the work-item's global id in dimension `d`. The id counts from the global offset of the
    /// dispatch, as in OpenCL, and not from 0.
    fn offset_id(&mut self, d: u8) -> Value {
        let [offset, id] =
            [Pos::GlobalOffset(d), Pos::GlobalId(d)].map(|pos| self.emit(Op::Pos(pos), &[], Type::I32));
        self.emit(Op::Bin(BinOp::Add), &[offset, id], Type::I32)
    }

    pub(super) fn builtin(&mut self, builtin: Builtin, list: List, ty: Ty) -> Val {
        let ast = self.ast;
        let args = ast.list(list);
        let value = match builtin {
            Builtin::Pos(pos) => self.emit(Op::Pos(pos), &[], pos.ty()),
            Builtin::Barrier => return self.nothing(Op::Barrier { fence: true }, &[]),
            Builtin::BarrierOnly => return self.nothing(Op::Barrier { fence: false }, &[]),
            Builtin::WaveBarrier => return self.nothing(Op::WaveBarrier, &[]),
            Builtin::Fence => return self.fence(args),
            Builtin::AtomicLoad
            | Builtin::AtomicStore
            | Builtin::AtomicRmw(_)
            | Builtin::AtomicCas
            | Builtin::AtomicCasWeak => return self.atomic(builtin, args),
            Builtin::Load | Builtin::Store => return self.hinted(builtin, args),
            Builtin::Lanes(op, ..) => return self.lanes(op, args, ty),
            Builtin::IsNan | Builtin::IsInf => return self.classify(builtin == Builtin::IsNan, args[0]),
            Builtin::Ldexp => return self.ldexp(args, ty),
            Builtin::FrexpExp => {
                let values = self.expr(args[0]);
                return values.iter().map(|&x| self.emit(Op::Un(UnOp::FrexpExp), &[x], Type::I32)).collect();
            }
            Builtin::Ilogb => return self.ilogb(args[0]),
            Builtin::Two(two) => return self.two(two, args),
            Builtin::Cross => return self.cross(args),
            Builtin::Dot | Builtin::Distance | Builtin::Length | Builtin::Normalize => {
                return self.geometric(builtin, args, ty);
            }
            Builtin::Select => return self.select(args),
            Builtin::Bitcast => return self.bitcast(args[0], ty),
            Builtin::Ballot
            | Builtin::Any
            | Builtin::All
            | Builtin::ReadFirstLane
            | Builtin::ReadLane
            | Builtin::Permute
            | Builtin::Shuffle
            | Builtin::ShuffleXor
            | Builtin::ShuffleUp
            | Builtin::ShuffleDown
            | Builtin::Mbcnt
            | Builtin::WaveReduce(_)
            | Builtin::WaveScan(..)
            | Builtin::WaveMatch
            | Builtin::QuadPermute
            | Builtin::Row(_) => return self.cross_lane(builtin, args, ty),
            Builtin::Assume => {
                let cond = self.scalar_expr(args[0]);
                return self.nothing(Op::Assume, &[cond]);
            }
            Builtin::Unreachable => {
                self.effect(Op::Unreachable, &[]);
                self.kill();
                return Val::new();
            }
            Builtin::Trap => {
                self.abort();
                return Val::new();
            }
            Builtin::DebugTrap => return self.nothing(Op::Trap { debug: true }, &[]),
            Builtin::Sleep => return self.nothing(Op::Sleep, &[]),
            Builtin::Interrupt => {
                let event = self.scalar_expr(args[0]);
                return self.nothing(Op::Interrupt, &[event]);
            }
            Builtin::Printf => return self.printf(args),
            Builtin::Assert => return self.assert(args),
            Builtin::Dim(_) => return self.zeros(ty),
        };
        Val::from_slice(&[value])
    }

    /// Lowers `ldexp(values, exponents)`. `ty` is the type of the result.
    fn ldexp(&mut self, args: &[ExprId], ty: Ty) -> Val {
        let (values, exponents) = (self.expr(args[0]), self.expr(args[1]));
        let ty = self.scalar_of(ty).ir();
        let each = values.iter().enumerate();
        each.map(|(n, &x)| self.emit(Op::Bin(BinOp::Ldexp), &[x, lane(&exponents, n)], ty)).collect()
    }

    /// Lowers `select(condition, a, b)`, component by component.
    fn select(&mut self, args: &[ExprId]) -> Val {
        let (cond, a, b) = (self.expr(args[0]), self.expr(args[1]), self.expr(args[2]));
        let component = |n: usize| {
            let ty = self.func.ty(a[n]);
            self.emit(Op::Select, &[lane(&cond, n), a[n], b[n]], ty)
        };
        (0..a.len()).map(component).collect()
    }

    /// Lowers an operation across the lanes of a wave. `ty` is the type of the result.
    fn cross_lane(&mut self, builtin: Builtin, args: &[ExprId], ty: Ty) -> Val {
        let value = match builtin {
            Builtin::Ballot => self.ballot(args[0], false),
            Builtin::Any | Builtin::All => {
                // For `all`, the ballot asks which lanes have a false condition. The result is true if there
                // are none.
                let mask = self.ballot(args[0], builtin == Builtin::All);
                let zero = self.constant(Type::I64, 0);
                let cc = if builtin == Builtin::Any { IntCc::Ne } else { IntCc::Eq };
                self.emit(Op::Icmp(cc), &[mask, zero], Type::Bool)
            }
            Builtin::ReadFirstLane => return self.per_word(args[0], WaveOp::ReadFirstLane, None),
            Builtin::ReadLane => {
                let lane = self.scalar_expr(args[1]);
                return self.per_word(args[0], WaveOp::ReadLane, Some(lane));
            }
            Builtin::Permute => {
                let lane = self.scalar_expr(args[1]);
                return self.per_word(args[0], WaveOp::Permute, Some(lane));
            }
            Builtin::Shuffle | Builtin::ShuffleXor | Builtin::ShuffleUp | Builtin::ShuffleDown => {
                return self.shuffle(builtin, args);
            }
            Builtin::Mbcnt => {
                let mask = self.scalar_expr(args[0]);
                self.emit(Op::Wave(WaveOp::Mbcnt), &[mask], Type::I32)
            }
            Builtin::WaveReduce(op) => return self.reduce(op, args, ty),
            Builtin::WaveScan(op, own) => return self.scan(op, own, args, ty),
            Builtin::WaveMatch => self.wave_match(args[0]),
            Builtin::QuadPermute => return self.quad_permute(args),
            Builtin::Row(row) => return self.in_row(row, args),
            _ => unreachable!("`{builtin:?}` is no operation across lanes"),
        };
        Val::from_slice(&[value])
    }

    fn ilogb(&mut self, argument: ExprId) -> Val {
        let values = self.expr(argument);
        let values: Val = values.iter().map(|&x| self.widened(x, Type::F32)).collect();
        let name = |x| if self.func.ty(x) == Type::F64 { "ilogb_f64" } else { "ilogb_f32" };
        let names: SmallVec<[&str; 4]> = values.iter().map(|&x| name(x)).collect();
        let calls = values.iter().zip(names);
        calls.map(|(&x, name)| self.call_library(name.into(), &[Type::I32], &[x])[0]).collect()
    }

    fn nothing(&mut self, op: Op, args: &[Value]) -> Val {
        self.effect(op, args);
        Val::new()
    }

    fn order(&self, arg: ExprId) -> Order {
        argument_words::word(self.ast, arg).and_then(argument_words::order).unwrap_or(Order::SeqCst)
    }

    fn fence(&mut self, args: &[ExprId]) -> Val {
        let order = self.order(args[0]);
        let scope =
            argument_words::word(self.ast, args[1]).and_then(argument_words::scope).unwrap_or_default().0;
        let named = args[2..]
            .iter()
            .filter_map(|&arg| argument_words::word(self.ast, arg).and_then(argument_words::space));
        let spaces = named.fold(Spaces::empty(), |all, space| all | space);
        let spaces = if spaces.is_empty() { Spaces::ALL } else { spaces };
        self.nothing(Op::Fence { order, scope, spaces }, &[])
    }

    fn atomic(&mut self, builtin: Builtin, args: &[ExprId]) -> Val {
        let place = self.pointee_of_address(args[0]);
        let (scalar, lanes) = self.checked.types.lanes(place.ty).unwrap_or((Scalar::U32, 1));
        let (values, orders) = match builtin {
            Builtin::AtomicLoad => (0, 1),
            Builtin::AtomicCas | Builtin::AtomicCasWeak => (2, 2),
            _ => (1, 1),
        };
        let negated = scalar.is_float() && builtin == Builtin::AtomicRmw(Rmw::Plain(RmwOp::Sub));
        let mut operands = Val::new();
        for &arg in &args[1..1 + values] {
            let mut value = self.expr(arg);
            if negated {
                value = value.iter().map(|&v| self.emit(Op::Un(UnOp::FNeg), &[v], scalar.ir())).collect();
            }
            operands.push(if lanes == 2 { self.join_pair(scalar, &value) } else { value[0] });
        }
        // Two `f16` values are exchanged as one word.
        let (pointer, mem) = self.scalar_access(&place, if lanes == 2 { Scalar::U32 } else { scalar });
        operands.insert(0, pointer);
        let order = self.order(args[1 + values]);
        let fail = if orders == 2 { self.order(args[2 + values]) } else { order };
        let (scope, one_as) = argument_words::word(self.ast, args[1 + values + orders])
            .and_then(argument_words::scope)
            .unwrap_or_default();
        let mut flags = mem.flags - MemFlags::INVARIANT;
        flags.set(MemFlags::ONE_AS, one_as || self.separate_spaces && order.max(fail) < Order::SeqCst);
        let mem = Mem { order, scope, flags, ..mem };
        let op = match builtin {
            Builtin::AtomicLoad => Op::Load { mem, count: 1 },
            Builtin::AtomicStore => return self.nothing(Op::Store { mem, count: 1 }, &operands),
            Builtin::AtomicRmw(rmw) if lanes == 2 => Op::AtomicRmw { op: halves_op(rmw), mem },
            Builtin::AtomicRmw(rmw) => Op::AtomicRmw { op: rmw_op(rmw, scalar), mem },
            _ => Op::AtomicCas { mem, fail },
        };
        let old = self.atomic_op(op, &operands, if lanes == 2 { Type::I32 } else { scalar.ir() });
        match builtin {
            _ if lanes == 2 => Val::from_slice(&self.split_pair(scalar, old)),
            Builtin::AtomicCasWeak => {
                let stored = self.emit(Op::Icmp(IntCc::Eq), &[old, operands[1]], Type::Bool);
                Val::from_slice(&[old, stored])
            }
            _ => Val::from_slice(&[old]),
        }
    }

    /// Emits an atomic operation that returns a value. An exchange of floats becomes an exchange of integers
    /// of the same width, because the IR has no other exchange.
    fn atomic_op(&mut self, op: Op, operands: &[Value], ty: Type) -> Value {
        if !ty.is_float() || !matches!(op, Op::AtomicRmw { op: RmwOp::Xchg, .. }) {
            return self.emit(op, operands, ty);
        }
        let int = if ty == Type::F64 { Type::I64 } else { Type::I32 };
        let bits = self.emit(Op::Cast(CastOp::Bitcast), &[operands[1]], int);
        let old = self.emit(op, &[operands[0], bits], int);
        self.emit(Op::Cast(CastOp::Bitcast), &[old], ty)
    }

    /// Returns the memory that a pointer argument points to. If the argument is `&x[i]`, the result keeps
    /// what is known about `x`, such as its alias class. The value of the pointer alone would not show this.
    fn pointee_of_address(&mut self, arg: ExprId) -> super::memory::MemPlace {
        if let crate::ast::ExprKind::AddrOf(inner) = self.ast.expr(arg).kind
            && let super::memory::Place::Memory(place) = self.lower_place(inner)
        {
            return place;
        }
        self.pointee_of(arg)
    }

    fn hinted(&mut self, builtin: Builtin, args: &[ExprId]) -> Val {
        let place = self.pointee_of_address(args[0]);
        let hint = args.get(if builtin == Builtin::Load { 1 } else { 2 });
        let hints = hint.and_then(|&hint| argument_words::hints(self.ast, hint).ok()).unwrap_or_default();
        if builtin == Builtin::Load {
            return self.load(&place, hints);
        }
        let value = self.expr(args[1]);
        self.store_with(&place, &value, hints);
        Val::new()
    }

    /// Lowers a function that works lane by lane.
    fn lanes(&mut self, op: Lane, args: &[ExprId], ty: Ty) -> Val {
        let (scalar, count) = self.checked.types.lanes(ty).unwrap_or((Scalar::F32, 1));
        let operands: SmallVec<[Val; 4]> = args.iter().map(|&arg| self.expr(arg)).collect();
        (0..usize::from(count))
            .map(|n| {
                let operands: Val = operands.iter().map(|operand| lane(operand, n)).collect();
                self.lane_op(op, scalar, &operands)
            })
            .collect()
    }

    fn lane_op(&mut self, op: Lane, scalar: Scalar, x: &[Value]) -> Value {
        let ty = scalar.ir();
        let signed = scalar.is_signed();
        let fast = (self.fast_math && scalar == Scalar::F32).then(|| builtins::native(op)).flatten();
        let op = match fast.unwrap_or(op) {
            Lane::Un(op @ (UnOp::Popcount | UnOp::Clz | UnOp::Ctz)) => {
                // The IR instructions return a 32-bit count for every width.
                let count = self.emit(Op::Un(op), x, Type::I32);
                return self.in_width(count, ty);
            }
            Lane::Un(op) => Op::Un(op),
            Lane::Tern(op) if op == TernOp::Fshr => {
                let count = self.word_of(x[2]);
                return self.emit(Op::Tern(op), &[x[0], x[1], count], ty);
            }
            Lane::Tern(op) => Op::Tern(op),
            Lane::Math(math) => return self.math(math, ty, x),
            Lane::Library(number) => {
                let (name, operands) = LIBRARY[usize::from(number)];
                let mut x = Val::from_slice(x);
                if operands.ends_with('i') {
                    x[1] = self.word_of(x[1]);
                }
                return self.library(name, ty, &x);
            }
            Lane::Abs if scalar.is_float() => Op::Un(UnOp::FAbs),
            Lane::Abs => {
                let negative = self.emit(Op::Un(UnOp::Neg), x, ty);
                let value = self.emit(Op::Bin(BinOp::SMax), &[x[0], negative], ty);
                return self.normalise(scalar, value);
            }
            Lane::Min => Op::Bin(min_max(scalar, true)),
            Lane::Max => Op::Bin(min_max(scalar, false)),
            Lane::Clamp => {
                let low = self.emit(Op::Bin(min_max(scalar, false)), &x[..2], ty);
                return self.emit(Op::Bin(min_max(scalar, true)), &[low, x[2]], ty);
            }
            Lane::Rotl | Lane::Rotr => return self.rotate(op == Lane::Rotl, ty, x[0], x[1]),
            Lane::MulHi => Op::Bin(if signed { BinOp::SMulHi } else { BinOp::UMulHi }),
            Lane::Mul24 => Op::Bin(if signed { BinOp::SMul24 } else { BinOp::UMul24 }),
            Lane::Mad24 => {
                let op = if signed { BinOp::SMul24 } else { BinOp::UMul24 };
                let product = self.emit(Op::Bin(op), &x[..2], ty);
                return self.bin(BinOp::Add, product, x[2]);
            }
            Lane::Bfe => {
                let (offset, width) = (self.word_of(x[1]), self.word_of(x[2]));
                let op = if signed { TernOp::Sbfe } else { TernOp::Ubfe };
                return self.emit(Op::Tern(op), &[x[0], offset, width], ty);
            }
            Lane::Bfi => Op::Tern(TernOp::Bfi),
            Lane::Sad => {
                let (low, high) =
                    if signed { (BinOp::SMin, BinOp::SMax) } else { (BinOp::UMin, BinOp::UMax) };
                let low = self.emit(Op::Bin(low), &x[..2], ty);
                let high = self.emit(Op::Bin(high), &x[..2], ty);
                let difference = self.bin(BinOp::Sub, high, low);
                return self.bin(BinOp::Add, difference, x[2]);
            }
            Lane::Parts(bits) => Op::Tern(match (bits, signed) {
                (4, true) => TernOp::SDot8,
                (4, false) => TernOp::UDot8,
                (8, true) => TernOp::SDot4,
                (8, false) => TernOp::UDot4,
                (_, true) => TernOp::SDot2,
                (_, false) => TernOp::UDot2,
            }),
            Lane::Turns(op) => {
                let per_radian = self.f32(std::f32::consts::FRAC_1_PI / 2.0);
                let turns = self.emit(Op::Bin(BinOp::FMul), &[x[0], per_radian], ty);
                return self.emit(Op::Un(op), &[turns], ty);
            }
        };
        self.emit(op, x, ty)
    }

    fn rotate(&mut self, left: bool, ty: Type, x: Value, count: Value) -> Value {
        let count = self.in_width(count, ty);
        let opposite = match self.func.const_bits(count) {
            Some(bits) => self.constant(ty, bits.wrapping_neg() & u64::from(ty.bits() - 1)),
            None => self.emit(Op::Un(UnOp::Neg), &[count], ty),
        };
        if ty == Type::I32 {
            let right = if left { opposite } else { count };
            return self.emit(Op::Tern(TernOp::Fshr), &[x, x, right], ty);
        }
        let (up, down) = if left { (count, opposite) } else { (opposite, count) };
        let high = self.emit(Op::Bin(BinOp::Shl), &[x, up], ty);
        let low = self.emit(Op::Bin(BinOp::LShr), &[x, down], ty);
        self.emit(Op::Bin(BinOp::Or), &[high, low], ty)
    }

    fn classify(&mut self, nan: bool, arg: ExprId) -> Val {
        let values = self.expr(arg);
        values
            .iter()
            .map(|&x| {
                if nan {
                    return self.emit(Op::Fcmp(FloatCc::Uno), &[x, x], Type::Bool);
                }
                let ty = self.func.ty(x);
                let infinity = self.float(ty, f64::INFINITY);
                let size = self.emit(Op::Un(UnOp::FAbs), &[x], ty);
                self.emit(Op::Fcmp(FloatCc::Oeq), &[size, infinity], Type::Bool)
            })
            .collect()
    }

    /// Lowers a function with two results, such as `sincos`. The call returns the first result, and stores
    /// the second result to the pointer that is the last argument.
    fn two(&mut self, two: Two, args: &[ExprId]) -> Val {
        let (at, args) = args.split_last().expect("as checked");
        let operands: SmallVec<[Val; 2]> = args.iter().map(|&arg| self.expr(arg)).collect();
        let place = self.pointee_of_address(*at);
        let (mut first, mut second) = (Val::new(), Val::new());
        for n in 0..operands[0].len() {
            let x: Val = operands.iter().map(|operand| operand[n]).collect();
            let results = self.two_of(two, &x);
            first.push(results[0]);
            second.push(results[1]);
        }
        self.store_with(&place, &second, MemFlags::empty());
        first
    }

    fn two_of(&mut self, two: Two, x: &[Value]) -> Val {
        let ty = self.func.ty(x[0]);
        if ty == Type::F16 && two != Two::Frexp {
            let wide: Val = x.iter().map(|&x| self.widened(x, Type::F32)).collect();
            let results = self.two_of(two, &wide);
            let narrowed = |lower: &mut Self, x| match lower.func.ty(x) {
                Type::F32 => lower.emit(Op::Cast(CastOp::FTrunc), &[x], ty),
                _ => x,
            };
            return results.iter().map(|&x| narrowed(self, x)).collect();
        }
        let (name, second) = match (two, ty) {
            (Two::Frexp, _) => {
                let exponent = self.emit(Op::Un(UnOp::FrexpExp), x, Type::I32);
                return Val::from_slice(&[self.emit(Op::Un(UnOp::FrexpMant), x, ty), exponent]);
            }
            (Two::Sincos, Type::F64) => ("sincos_f64", ty),
            (Two::Sincos, _) => ("sincos_f32", ty),
            (Two::Modf, Type::F64) => ("modf_f64", ty),
            (Two::Modf, _) => ("modf_f32", ty),
            (Two::Remquo, Type::F64) => ("remquo_f64", Type::I32),
            (Two::Remquo, _) => ("remquo_f32", Type::I32),
        };
        self.call_library(name.into(), &[ty, second], x)
    }

    fn cross(&mut self, args: &[ExprId]) -> Val {
        let (a, b) = (self.expr(args[0]), self.expr(args[1]));
        let ty = self.func.ty(a[0]);
        let mut result: Val = (0..3)
            .map(|n| {
                let (i, j) = ((n + 1) % 3, (n + 2) % 3);
                let product = self.emit(Op::Bin(BinOp::FMul), &[a[j], b[i]], ty);
                let negative = self.emit(Op::Un(UnOp::FNeg), &[product], ty);
                self.emit(Op::Tern(TernOp::Fma), &[a[i], b[j], negative], ty)
            })
            .collect();
        if a.len() == 4 {
            result.push(self.float(ty, 0.0));
        }
        result
    }

    fn dot(&mut self, a: &[Value], b: &[Value]) -> Value {
        let ty = self.func.ty(a[0]);
        let mut sum = self.emit(Op::Bin(BinOp::FMul), &[a[0], b[0]], ty);
        for n in 1..a.len() {
            sum = if self.fp_contract {
                self.emit(Op::Tern(TernOp::Fma), &[a[n], b[n], sum], ty)
            } else {
                let product = self.emit(Op::Bin(BinOp::FMul), &[a[n], b[n]], ty);
                self.emit(Op::Bin(BinOp::FAdd), &[sum, product], ty)
            };
        }
        sum
    }

    fn geometric(&mut self, builtin: Builtin, args: &[ExprId], ty: Ty) -> Val {
        let mut a = self.expr(args[0]);
        let to = self.scalar_of(ty).ir();
        let mut b = args.get(1).map(|&second| self.expr(second));
        if let (Builtin::Dot, Some(b)) = (builtin, &b) {
            return Val::from_slice(&[self.dot(&a, b)]);
        }
        // Lengths of `f16` vectors are computed in `f32`, because the square of an `f16` easily overflows an
        // `f16`.
        let scalar = if to == Type::F64 { Scalar::F64 } else { Scalar::F32 };
        let ty = scalar.ir();
        for x in a.iter_mut().chain(b.iter_mut().flatten()) {
            *x = self.widened(*x, ty);
        }
        if let Some(b) = b {
            let pairs = a.iter().zip(&b);
            a = pairs.map(|(&a, &b)| self.emit(Op::Bin(BinOp::FSub), &[a, b], ty)).collect();
        }
        let square = self.dot(&a, &a);
        let length = self.lane_op(Lane::Un(UnOp::FSqrt), scalar, &[square]);
        let mut results = Val::from_slice(&[length]);
        if builtin == Builtin::Normalize {
            results = a.iter().map(|&x| self.scalar_binary(BinaryOp::Div, scalar, x, length)).collect();
        }
        for x in &mut results {
            if to == Type::F16 {
                *x = self.emit(Op::Cast(CastOp::FTrunc), &[*x], to);
            }
        }
        results
    }

    fn ballot(&mut self, arg: ExprId, negate: bool) -> Value {
        let mut cond = self.scalar_expr(arg);
        if negate {
            cond = self.emit(Op::Un(UnOp::Not), &[cond], Type::Bool);
        }
        self.emit(Op::Wave(WaveOp::Ballot), &[cond], Type::I64)
    }

    fn shuffle(&mut self, builtin: Builtin, args: &[ExprId]) -> Val {
        let values = self.expr(args[0]);
        let by = self.scalar_expr(args[1]);
        if builtin == Builtin::Shuffle {
            return self.words_of(&values, WaveOp::Shuffle, Some(by));
        }
        let me = self.emit(Op::Pos(Pos::LaneId), &[], Type::I32);
        let source = match builtin {
            Builtin::ShuffleXor => self.bin(BinOp::Xor, me, by),
            Builtin::ShuffleUp => self.bin(BinOp::Sub, me, by),
            _ => self.bin(BinOp::Add, me, by),
        };
        // A lane whose source lane is outside of the wave reads its own value.
        let size = self.emit(Op::Pos(Pos::WaveSize), &[], Type::I32);
        let inside = self.emit(Op::Icmp(IntCc::Ult), &[source, size], Type::Bool);
        let source = self.emit(Op::Select, &[inside, source, me], Type::I32);
        self.words_of(&values, WaveOp::Shuffle, Some(source))
    }

    fn per_word(&mut self, arg: ExprId, op: WaveOp, lane: Option<Value>) -> Val {
        let values = self.expr(arg);
        self.words_of(&values, op, lane)
    }

    /// Applies a cross-lane operation to each of the values. The operation moves 32 bits of a lane, so wider
    /// values are moved in several parts.
    pub(super) fn words_of(&mut self, values: &[Value], op: WaveOp, lane: Option<Value>) -> Val {
        values.iter().map(|&value| self.wave_value(value, op, lane)).collect()
    }

    pub(super) fn wave_value(&mut self, value: Value, op: WaveOp, lane: Option<Value>) -> Value {
        let ty = self.func.ty(value);
        match ty {
            Type::Bool => {
                let word = self.emit(Op::Cast(CastOp::Zext), &[value], Type::I32);
                let word = self.wave_value(word, op, lane);
                let zero = self.constant(Type::I32, 0);
                self.emit(Op::Icmp(IntCc::Ne), &[word, zero], ty)
            }
            Type::F16 | Type::F64 => {
                let int = if ty == Type::F16 { Type::I32 } else { Type::I64 };
                let bits = self.rebit(value, int);
                let bits = self.wave_value(bits, op, lane);
                self.rebit(bits, ty)
            }
            Type::I64 => {
                let (low, high) = self.halves(value);
                let low = self.wave_value(low, op, lane);
                let high = self.wave_value(high, op, lane);
                self.join_halves(low, high)
            }
            _ => {
                let mut args = Val::from_slice(&[value]);
                args.extend(lane);
                self.emit(Op::Wave(op), &args, ty)
            }
        }
    }

    pub(super) fn halves(&mut self, value: Value) -> (Value, Value) {
        let low = self.emit(Op::Cast(CastOp::Trunc), &[value], Type::I32);
        let shift = self.constant(Type::I64, 32);
        let high = self.emit(Op::Bin(BinOp::LShr), &[value, shift], Type::I64);
        let high = self.emit(Op::Cast(CastOp::Trunc), &[high], Type::I32);
        (low, high)
    }

    fn join_halves(&mut self, low: Value, high: Value) -> Value {
        let low = self.emit(Op::Cast(CastOp::Zext), &[low], Type::I64);
        let high = self.emit(Op::Cast(CastOp::Zext), &[high], Type::I64);
        let shift = self.constant(Type::I64, 32);
        let high = self.emit(Op::Bin(BinOp::Shl), &[high, shift], Type::I64);
        self.emit(Op::Bin(BinOp::Or), &[low, high], Type::I64)
    }

    /// Lowers a `bitcast`: reinterprets the bits of a value as the type `to`. If the elements of the two
    /// types differ in size, the larger elements are cut into, or joined from, pieces of the smaller size.
    fn bitcast(&mut self, arg: ExprId, to: Ty) -> Val {
        let from_scalar = self.scalar_of(self.ty_of(arg));
        let to_scalar = self.scalar_of(to);
        let values = self.expr(arg);
        if from_scalar.bits() == to_scalar.bits() {
            return values
                .iter()
                .map(|&value| {
                    let value = self.rebit(value, to_scalar.ir());
                    self.normalise(to_scalar, value)
                })
                .collect();
        }
        let unit = from_scalar.bits().min(to_scalar.bits());
        let mut pieces = Val::new();
        for &value in &values {
            self.cut(value, from_scalar.bits(), unit, &mut pieces);
        }
        let per_lane = (to_scalar.bits() / unit) as usize;
        pieces.chunks(per_lane).map(|chunk| self.glue(chunk, unit, to_scalar)).collect()
    }

    /// Reinterprets the bits of a value as another IR type of the same width. For `f16`, the other type is
    /// `i32`, whose low 16 bits hold the number.
    pub(super) fn rebit(&mut self, value: Value, ty: Type) -> Value {
        let op = match (self.func.ty(value), ty) {
            (from, to) if from == to => return value,
            (Type::F16, _) => CastOp::HalfBits,
            (_, Type::F16) => CastOp::BitsHalf,
            _ => CastOp::Bitcast,
        };
        self.emit(Op::Cast(op), &[value], ty)
    }

    /// Cuts a value of `width` bits into pieces of `unit` bits. Each piece is an integer that may have any
    /// bits above its lowest `unit` bits.
    fn cut(&mut self, value: Value, width: u32, unit: u32, out: &mut Val) {
        let int = if width == 64 { Type::I64 } else { Type::I32 };
        let value = self.rebit(value, int);
        for n in 0..width / unit {
            let shift = self.constant(int, u64::from(n * unit));
            let piece = self.bin_keep(BinOp::LShr, value, shift, n == 0);
            out.push(if unit == 64 { piece } else { self.word_of(piece) });
        }
    }

    fn bin_keep(&mut self, op: BinOp, a: Value, b: Value, keep: bool) -> Value {
        if keep { a } else { self.bin(op, a, b) }
    }

    /// Joins pieces of `unit` bits to one value; the first piece becomes the lowest bits.
    fn glue(&mut self, pieces: &[Value], unit: u32, to: Scalar) -> Value {
        let int = if to.bits() == 64 { Type::I64 } else { Type::I32 };
        let mut result = None;
        for (n, &piece) in pieces.iter().enumerate() {
            let op = match unit {
                8 => CastOp::Zext8,
                16 => CastOp::Zext16,
                _ => CastOp::Zext,
            };
            let piece = if unit < 32 { self.emit(Op::Cast(op), &[piece], Type::I32) } else { piece };
            let piece = self.in_width(piece, int);
            let shift = self.constant(int, u64::from(n as u32 * unit));
            let piece = self.bin(BinOp::Shl, piece, shift);
            result = Some(match result {
                None => piece,
                Some(low) => self.bin(BinOp::Or, low, piece),
            });
        }
        let value = result.unwrap_or(pieces[0]);
        let value = self.rebit(value, to.ir());
        self.normalise(to, value)
    }
}

/// Returns the IR operation that does the atomic operation `rmw` on a pair of `f16` values in a dword. `rmw`
/// is an addition or an exchange.
fn halves_op(rmw: Rmw) -> RmwOp {
    if rmw == Rmw::Plain(RmwOp::Xchg) { RmwOp::Xchg } else { RmwOp::PkFAdd }
}

fn rmw_op(rmw: Rmw, scalar: Scalar) -> RmwOp {
    match (rmw, scalar.is_float(), scalar.is_signed()) {
        (Rmw::Min, true, _) => RmwOp::FMin,
        (Rmw::Max, true, _) => RmwOp::FMax,
        (Rmw::Plain(RmwOp::Add | RmwOp::Sub), true, _) => RmwOp::FAdd,
        (Rmw::Min, _, true) => RmwOp::SMin,
        (Rmw::Min, _, false) => RmwOp::UMin,
        (Rmw::Max, _, true) => RmwOp::SMax,
        (Rmw::Max, _, false) => RmwOp::UMax,
        (Rmw::Plain(op), ..) => op,
    }
}

pub(super) fn min_max(scalar: Scalar, min: bool) -> BinOp {
    match (scalar.is_float(), scalar.is_signed(), min) {
        (true, _, true) => BinOp::FMin,
        (true, _, false) => BinOp::FMax,
        (_, true, true) => BinOp::SMin,
        (_, true, false) => BinOp::SMax,
        (_, false, true) => BinOp::UMin,
        (_, false, false) => BinOp::UMax,
    }
}
