//! Lowers reductions and scans over the lanes of a wave, and the movement of values within rows. A row is a
//! group of 16 lanes.
//!
//! # Idea
//! A test at run time says whether all lanes of the wave are active. If so, values move by fixed
//! distances. They first move within rows, which the vector unit can do while it reads an operand, and then
//! from row to row through scalar registers (Hillis and Steele, "Data parallel algorithms", 1986).
//!
//! Otherwise, and for the lanes of a mask, the code uses pointer jumping (from the same article). Each lane
//! holds a partial result over several participating lanes, of which it is the last. It also holds a pointer:
//! the number of the closest participating lane below these lanes. In each of log2(64) steps, the lane
//! combines its partial result with that of the lane it points to, and takes over that lane's pointer.
//! Pointers skip the lanes that do not take part, unlike fixed distances, so inactive lanes need not be
//! enabled.

use super::{Lower, Val};
use crate::ast::ExprId;
use crate::builtins::{Own, Row, Wide};
use crate::scalar::Scalar;
use crate::types::Ty;
use ir::{BinOp, CastOp, IntCc, Op, Pos, Type, UnOp, Value, WaveOp};

/// Number of lanes in a row.
const ROW: u64 = 16;
/// Masks of the four steps that combine all lanes of a row. In each step, a lane exchanges its value with the
/// lane whose number is its own number XOR the mask. The first two steps exchange values within groups of
/// four lanes. The last two reverse the order within groups of eight and sixteen lanes.
const BUTTERFLY: [u64; 4] = [1, 2, 7, 15];

/// The lanes that take part in a reduction or a scan.
#[derive(Clone, Copy)]
struct Members {
    /// Mask of the lanes that take part in the current lane's operation.
    mask: Value,
    /// Whether all lanes have the same mask.
    uniform: bool,
}

impl Lower<'_, '_> {
    /// Lowers `wave_reduce_*`, which combines the values of all active lanes, or of the lanes of a mask, and
    /// returns the same result to each of these lanes.
    pub(super) fn reduce(&mut self, op: Wide, args: &[ExprId], ty: Ty) -> Val {
        let scalar = self.scalar_of(ty);
        let values = self.expr(args[0]);
        let members = self.members(args.get(1));
        let slowly = |lower: &mut Self, values: Val| {
            let results = lower.jump_back(op, scalar, values, members);
            let last = lower.last_of(members.mask);
            let take = if members.uniform { WaveOp::ReadLane } else { WaveOp::Shuffle };
            lower.words_of(&results, take, Some(last))
        };
        if !members.uniform {
            return slowly(self, values);
        }
        let full = self.is_full(members.mask);
        let again = values.clone();
        self.branch(full, ty, |lower| lower.fold(op, scalar, values), |lower| slowly(lower, again))
    }

    /// Lowers `wave_scan_*`.
    pub(super) fn scan(&mut self, op: Wide, own: Own, args: &[ExprId], ty: Ty) -> Val {
        let scalar = self.scalar_of(ty);
        let values = self.expr(args[0]);
        let members = self.members(args.get(1));
        let slowly = |lower: &mut Self, values: Val| {
            let sums = lower.jump_back(op, scalar, values, members);
            if own == Own::Inclusive {
                return sums;
            }
            let me = lower.emit(Op::Pos(Pos::LaneId), &[], Type::I32);
            let before = lower.lane_below(members.mask, me);
            lower.value_of(&sums, before, op, scalar)
        };
        if !members.uniform {
            return slowly(self, values);
        }
        let full = self.is_full(members.mask);
        let again = values.clone();
        let quickly = |lower: &mut Self| {
            let sums = lower.prefixes(op, scalar, values);
            if own == Own::Inclusive {
                return sums;
            }
            let (me, one) = (lower.emit(Op::Pos(Pos::LaneId), &[], Type::I32), lower.constant(Type::I32, 1));
            let before = lower.bin(BinOp::Sub, me, one);
            lower.value_of(&sums, before, op, scalar)
        };
        self.branch(full, ty, quickly, |lower| slowly(lower, again))
    }

    fn members(&mut self, mask: Option<&ExprId>) -> Members {
        let given = mask.map(|&mask| self.scalar_expr(mask));
        let all = self.constant(Type::Bool, 1);
        let active = self.emit(Op::Wave(WaveOp::Ballot), &[all], Type::I64);
        let mask = given.map_or(active, |given| self.bin(BinOp::And, given, active));
        Members { mask, uniform: given.is_none() }
    }

    /// Emits whether the mask contains all lanes of the wave.
    fn is_full(&mut self, mask: Value) -> Value {
        let count = self.emit(Op::Un(UnOp::Popcount), &[mask], Type::I32);
        let size = self.emit(Op::Pos(Pos::WaveSize), &[], Type::I32);
        self.emit(Op::Icmp(IntCc::Eq), &[count, size], Type::Bool)
    }

    /// Combines the values of all lanes, which must all be active.
    fn fold(&mut self, op: Wide, scalar: Scalar, mut values: Val) -> Val {
        let me = self.emit(Op::Pos(Pos::LaneId), &[], Type::I32);
        for distance in BUTTERFLY {
            let distance = self.constant(Type::I32, distance);
            let from = self.bin(BinOp::Xor, me, distance);
            for value in &mut values {
                let other = self.wave_value(*value, WaveOp::Shuffle, Some(from));
                *value = self.combined(op, scalar, other, *value);
            }
        }
        // Each lane of a row has the result of its row at this point.
        let large = self.is_large();
        for value in &mut values {
            let [a, b, c, d] = [0, 1, 2, 3].map(|row| self.lane_of_row(*value, row, large));
            let (low, high) = (self.combined(op, scalar, a, b), self.combined(op, scalar, c, d));
            let all = self.combined(op, scalar, low, high);
            let ty = self.func.ty(low);
            *value = self.emit(Op::Select, &[large, all, low], ty);
        }
        values
    }

    /// Emits a prefix scan: each lane gets the combined value of all lanes up to and including itself. All
    /// lanes must be active.
    fn prefixes(&mut self, op: Wide, scalar: Scalar, mut values: Val) -> Val {
        let me = self.emit(Op::Pos(Pos::LaneId), &[], Type::I32);
        let last = self.constant(Type::I32, ROW - 1);
        let place = self.bin(BinOp::And, me, last);
        let identity = self.identity(op, scalar);
        for distance in [1, 2, 4, 8] {
            let distance = self.constant(Type::I32, distance);
            let inside = self.emit(Op::Icmp(IntCc::Uge), &[place, distance], Type::Bool);
            let below = self.bin(BinOp::Sub, me, distance);
            let from = self.emit(Op::Select, &[inside, below, me], Type::I32);
            for value in &mut values {
                let other = self.wave_value(*value, WaveOp::Shuffle, Some(from));
                let ty = self.func.ty(other);
                let other = self.emit(Op::Select, &[inside, other, identity], ty);
                *value = self.combined(op, scalar, other, *value);
            }
        }
        let (large, shift) = (self.is_large(), self.constant(Type::I32, ROW.ilog2().into()));
        let row = self.bin(BinOp::LShr, me, shift);
        for number in 1..4 {
            let this = self.constant(Type::I32, number);
            let here = self.emit(Op::Icmp(IntCc::Eq), &[row, this], Type::Bool);
            for value in &mut values {
                let before = self.lane_of_row(*value, number - 1, large);
                let both = self.combined(op, scalar, before, *value);
                let ty = self.func.ty(both);
                *value = self.emit(Op::Select, &[here, both, *value], ty);
            }
        }
        values
    }

    /// Emits whether waves have 64 lanes.
    fn is_large(&mut self) -> Value {
        let size = self.emit(Op::Pos(Pos::WaveSize), &[], Type::I32);
        let large = self.constant(Type::I32, 64);
        self.emit(Op::Icmp(IntCc::Eq), &[size, large], Type::Bool)
    }

    /// Reads the value of the last lane of row `row`. A wave of 32 lanes lacks rows 2 and 3. In such a wave
    /// (`large` is false), the last lane of the first row is read in their place, so that the read is valid.
    fn lane_of_row(&mut self, value: Value, row: u64, large: Value) -> Value {
        let mut lane = self.constant(Type::I32, row * ROW + ROW - 1);
        if row >= 2 {
            let other = self.constant(Type::I32, ROW - 1);
            lane = self.emit(Op::Select, &[large, lane, other], Type::I32);
        }
        self.wave_value(value, WaveOp::ReadLane, Some(lane))
    }

    /// Emits a prefix scan by pointer jumping: each participating lane gets the combined value of the
    /// participating lanes up to and including itself.
    fn jump_back(&mut self, op: Wide, scalar: Scalar, mut values: Val, members: Members) -> Val {
        let me = self.emit(Op::Pos(Pos::LaneId), &[], Type::I32);
        let mut before = self.lane_below(members.mask, me);
        let none = self.constant(Type::I32, u64::from(u32::MAX));
        for step in 0..6 {
            let some = self.emit(Op::Icmp(IntCc::Ne), &[before, none], Type::Bool);
            let source = self.emit(Op::Select, &[some, before, me], Type::I32);
            for value in &mut values {
                let other = self.wave_value(*value, WaveOp::Shuffle, Some(source));
                let both = self.combined(op, scalar, other, *value);
                let ty = self.func.ty(*value);
                *value = self.emit(Op::Select, &[some, both, *value], ty);
            }
            if step < 5 {
                // A pointer of -1 means that no participating lane remains below. `source` is then the lane
                // itself: the lane reads its own pointer and so keeps -1.
                before = self.wave_value(before, WaveOp::Shuffle, Some(source));
            }
        }
        values
    }

    /// Returns, for each lane, the values that the lane with the number `from` holds. If `from` is -1,
    /// returns the identity element of the operation.
    fn value_of(&mut self, values: &[Value], from: Value, op: Wide, scalar: Scalar) -> Val {
        let me = self.emit(Op::Pos(Pos::LaneId), &[], Type::I32);
        let none = self.constant(Type::I32, u64::from(u32::MAX));
        let some = self.emit(Op::Icmp(IntCc::Ne), &[from, none], Type::Bool);
        let source = self.emit(Op::Select, &[some, from, me], Type::I32);
        let identity = self.identity(op, scalar);
        let others = self.words_of(values, WaveOp::Shuffle, Some(source));
        let ty = self.func.ty(identity);
        others.into_iter().map(|other| self.emit(Op::Select, &[some, other, identity], ty)).collect()
    }

    /// Returns the number of the closest lane below `lane` whose bit is set in a mask, or -1.
    fn lane_below(&mut self, mask: Value, lane: Value) -> Value {
        let ones = self.constant(Type::I64, u64::MAX);
        let above = self.emit(Op::Bin(BinOp::Shl), &[ones, lane], Type::I64);
        let below = self.emit(Op::Un(UnOp::Not), &[above], Type::I64);
        let below = self.bin(BinOp::And, mask, below);
        self.last_of(below)
    }

    /// Returns the number of the highest set bit, or -1.
    fn last_of(&mut self, mask: Value) -> Value {
        let zeros = self.emit(Op::Un(UnOp::Clz), &[mask], Type::I32);
        let top = self.constant(Type::I32, 63);
        self.bin(BinOp::Sub, top, zeros)
    }

    fn combined(&mut self, op: Wide, scalar: Scalar, a: Value, b: Value) -> Value {
        let op = match op {
            Wide::Add if scalar.is_float() => BinOp::FAdd,
            Wide::Add => BinOp::Add,
            Wide::Min => super::builtin::min_max(scalar, true),
            Wide::Max => super::builtin::min_max(scalar, false),
            Wide::And => BinOp::And,
            Wide::Or => BinOp::Or,
            Wide::Xor => BinOp::Xor,
        };
        let value = self.bin(op, a, b);
        self.normalise(scalar, value)
    }

    /// Returns the identity of the operation.
    fn identity(&mut self, op: Wide, scalar: Scalar) -> Value {
        if scalar.is_float() {
            let value = match op {
                Wide::Min => f64::INFINITY,
                Wide::Max => f64::NEG_INFINITY,
                _ => -0.0,
            };
            return self.float(scalar.ir(), value);
        }
        let (least, most) = scalar.limits();
        let value = match op {
            Wide::Min => most,
            Wide::Max => least,
            Wide::And => u64::MAX,
            Wide::Add | Wide::Or | Wide::Xor => 0,
        };
        self.int(scalar, value)
    }

    /// Lowers `wave_match`, which returns to each lane the mask of the lanes that have the same value. Values
    /// are the same if the bits of all their fragments (scalars) are.
    pub(super) fn wave_match(&mut self, arg: ExprId) -> Value {
        let values = self.expr(arg);
        let masks: Val = values.into_iter().map(|value| self.match_one(value)).collect();
        let first = masks[0];
        masks[1..].iter().fold(first, |all, &mask| self.bin(BinOp::And, all, mask))
    }

    fn match_one(&mut self, value: Value) -> Value {
        let ty = self.func.ty(value);
        let (value, name) = match ty {
            Type::Bool => (self.emit(Op::Cast(CastOp::Zext), &[value], Type::I32), "wave_match_u32"),
            Type::F16 | Type::F32 => (self.rebit(value, Type::I32), "wave_match_u32"),
            Type::F64 => (self.rebit(value, Type::I64), "wave_match_u64"),
            Type::I64 => (value, "wave_match_u64"),
            _ => (value, "wave_match_u32"),
        };
        self.call_library(name.into(), &[Type::I64], &[value])[0]
    }

    /// Lowers `quad_permute(v, a, b, c, d)`. In each group of four lanes, the first lane reads the value of
    /// lane `a` of the group, the second lane that of lane `b`, and so on.
    pub(super) fn quad_permute(&mut self, args: &[ExprId]) -> Val {
        let values = self.expr(args[0]);
        let three = self.constant(Type::I32, 3);
        let mut picks = self.constant(Type::I32, 0);
        for (number, &arg) in args[1..].iter().enumerate() {
            let lane = self.scalar_expr(arg);
            let lane = self.bin(BinOp::And, lane, three);
            let shift = self.constant(Type::I32, 2 * number as u64);
            let lane = self.bin(BinOp::Shl, lane, shift);
            picks = self.bin(BinOp::Or, picks, lane);
        }
        let me = self.emit(Op::Pos(Pos::LaneId), &[], Type::I32);
        let number = self.bin(BinOp::And, me, three);
        let shift = self.bin(BinOp::Add, number, number);
        let pick = self.bin(BinOp::LShr, picks, shift);
        let pick = self.bin(BinOp::And, pick, three);
        let quad = self.bin(BinOp::Sub, me, number);
        let from = self.bin(BinOp::Or, quad, pick);
        self.words_of(&values, WaveOp::Shuffle, Some(from))
    }

    /// Lowers `row_*`, which move values among the 16 lanes of a row. A lane whose source lane is outside the
    /// row reads its own value.
    pub(super) fn in_row(&mut self, row: Row, args: &[ExprId]) -> Val {
        let values = self.expr(args[0]);
        let count = args.get(1).map(|&count| self.scalar_expr(count));
        let me = self.emit(Op::Pos(Pos::LaneId), &[], Type::I32);
        let (last, seven) = (self.constant(Type::I32, ROW - 1), self.constant(Type::I32, 7));
        let place = self.bin(BinOp::And, me, last);
        let first = self.bin(BinOp::Sub, me, place);
        let count = count.unwrap_or(last);
        let from = match row {
            Row::Up | Row::Down => {
                let op = if row == Row::Up { BinOp::Sub } else { BinOp::Add };
                let there = self.bin(op, place, count);
                let inside = self.emit(Op::Icmp(IntCc::Ule), &[there, last], Type::Bool);
                self.emit(Op::Select, &[inside, there, place], Type::I32)
            }
            Row::Rotate => self.bin(BinOp::Add, place, count),
            Row::Share => count,
            Row::Mirror => self.bin(BinOp::Xor, place, last),
            Row::HalfMirror => self.bin(BinOp::Xor, place, seven),
        };
        let from = self.bin(BinOp::And, from, last);
        let from = self.bin(BinOp::Or, first, from);
        self.words_of(&values, WaveOp::Shuffle, Some(from))
    }
}
