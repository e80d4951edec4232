//! Reductions and scans over the active lanes of a wave.
//!
//! # Idea
//! Pointer jumping (Hillis and Steele, "Data parallel algorithms", 1986): each lane holds a partial result and the number
//! of the lane where the part before its own ends. In each of log2(64) steps it takes that lane's part in front of its
//! own, and its pointer. Unlike a butterfly over fixed distances this skips lanes that are not active.

use super::{Lower, Val};
use crate::ast::ExprId;
use crate::builtins::Wide;
use crate::scalar::Scalar;
use crate::types::Ty;
use ir::{BinOp, IntCc, Op, Pos, Type, UnOp, Value, WaveOp};

impl Lower<'_, '_> {
    /// `wave_scan_add` (inclusive), or the result of the last active lane for all.
    pub(super) fn across_wave(&mut self, op: Wide, scan: bool, arg: ExprId, ty: Ty) -> Val {
        let scalar = self.scalar_of(ty);
        let mut values = self.expr(arg);
        let all = self.constant(Type::Bool, 1);
        let mask = self.emit(Op::Wave(WaveOp::Ballot), &[all], Type::I64);
        let me = self.emit(Op::Pos(Pos::LaneId), &[], Type::I32);
        let mut before = self.lane_below(mask, me);
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
                // A lane with nothing before it reads its own mark of that.
                before = self.wave_value(before, WaveOp::Shuffle, Some(source));
            }
        }
        if scan {
            return values;
        }
        let last = self.last_of(mask);
        self.words_of(&values, WaveOp::ReadLane, Some(last))
    }

    /// The closest active lane below a lane, or -1.
    fn lane_below(&mut self, mask: Value, lane: Value) -> Value {
        let ones = self.constant(Type::I64, u64::MAX);
        let above = self.emit(Op::Bin(BinOp::Shl), &[ones, lane], Type::I64);
        let below = self.emit(Op::Un(UnOp::Not), &[above], Type::I64);
        let below = self.bin(BinOp::And, mask, below);
        self.last_of(below)
    }

    /// Number of the highest bit, or -1.
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
}
