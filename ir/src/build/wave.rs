//! Builds operations across the lanes of a wave.
//!
//! Only active lanes take part: the lanes that execute the operation together. The values that move between
//! lanes may have any type. An operation of the IR moves 32 bits, so a value of another type is converted or
//! moved in parts.

use super::KernelBuilder;
use crate::entity::Value;
use crate::op::{BinOp, CastOp, IntCc, Op, Pos, UnOp, WaveOp};
use crate::types::Type;

impl KernelBuilder {
    /// Emits an `i64` mask of the active lanes in which `condition` is true.
    pub fn ballot(&mut self, condition: Value) -> Value {
        self.op(Op::Wave(WaveOp::Ballot), &[condition], Type::I64)
    }

    /// Emits whether `condition` is true in any active lane.
    pub fn any(&mut self, condition: Value) -> Value {
        let (mask, none) = (self.ballot(condition), self.i64(0));
        self.compare(IntCc::Ne, mask, none)
    }

    /// Emits whether `condition` is true in all active lanes.
    pub fn all(&mut self, condition: Value) -> Value {
        let opposite = self.unary(UnOp::Not, condition);
        let (mask, none) = (self.ballot(opposite), self.i64(0));
        self.compare(IntCc::Eq, mask, none)
    }

    /// Emits the value of the lowest active lane.
    pub fn read_first_lane(&mut self, value: Value) -> Value {
        self.across(WaveOp::ReadFirstLane, value, None)
    }

    /// Emits a read of the value that lane number `lane` holds; all active lanes get this value. `lane` is an
    /// `i32` that is the same in all active lanes.
    pub fn read_lane(&mut self, value: Value, lane: Value) -> Value {
        self.across(WaveOp::ReadLane, value, Some(lane))
    }

    /// Emits a read of another lane's value. Each lane reads from the lane whose number it holds in `lane`.
    /// The result is unspecified if the lane with this number is not active.
    pub fn shuffle(&mut self, value: Value, lane: Value) -> Value {
        self.across(WaveOp::Shuffle, value, Some(lane))
    }

    /// Emits a read of another lane's value. Each lane reads from the lane with the number `own number ^
    /// mask`, or gets its own value if there is no such lane.
    pub fn shuffle_xor(&mut self, value: Value, mask: Value) -> Value {
        self.shuffle_by(BinOp::Xor, value, mask)
    }

    /// Emits a read of another lane's value. Each lane reads from the lane with the number `own number -
    /// count`, or gets its own value if there is no such lane.
    pub fn shuffle_up(&mut self, value: Value, count: Value) -> Value {
        self.shuffle_by(BinOp::Sub, value, count)
    }

    /// Emits a read of another lane's value. Each lane reads from the lane with the number `own number +
    /// count`, or gets its own value if there is no such lane.
    pub fn shuffle_down(&mut self, value: Value, count: Value) -> Value {
        self.shuffle_by(BinOp::Add, value, count)
    }

    /// Emits a transfer of values between lanes. Each active lane sends its value to the lane whose number it
    /// holds in `lane`. A lane to which no active lane sends gets 0. A lane to which several lanes send gets
    /// the value of any of them.
    pub fn permute(&mut self, value: Value, lane: Value) -> Value {
        self.across(WaveOp::Permute, value, Some(lane))
    }

    /// Emits a count of bits: for each lane, how many bits are set in an `i64` mask below the lane's own bit.
    pub fn mbcnt(&mut self, mask: Value) -> Value {
        self.op(Op::Wave(WaveOp::Mbcnt), &[mask], Type::I32)
    }

    /// Emits a barrier across which the compiler moves no memory access of the wave.
    pub fn wave_barrier(&mut self) {
        self.effect(Op::WaveBarrier, &[]);
    }

    fn shuffle_by(&mut self, op: BinOp, value: Value, by: Value) -> Value {
        let (own, size) = (self.position(Pos::LaneId), self.position(Pos::WaveSize));
        let lane = self.binary(op, own, by);
        let exists = self.compare(IntCc::Ult, lane, size);
        let lane = self.select(exists, lane, own);
        self.shuffle(value, lane)
    }

    /// Emits a cross-lane operation on a value of any type, from operations that move 32 bits.
    fn across(&mut self, op: WaveOp, value: Value, lane: Option<Value>) -> Value {
        let ty = self.ty(value);
        match ty {
            Type::Bool => {
                let word = self.cast(CastOp::Zext, value, Type::I32);
                let (word, zero) = (self.across(op, word, lane), self.i32(0));
                self.compare(IntCc::Ne, word, zero)
            }
            Type::F16 => self.across_as((CastOp::HalfBits, Type::I32), (op, value, lane), CastOp::BitsHalf),
            Type::F64 => self.across_as((CastOp::Bitcast, Type::I64), (op, value, lane), CastOp::Bitcast),
            Type::Ptr(space) if space.pointer_bits() == 64 => {
                self.across_as((CastOp::PtrToInt, Type::I64), (op, value, lane), CastOp::IntToPtr)
            }
            Type::I64 => {
                let shift = self.i32(32);
                let high = self.binary(BinOp::LShr, value, shift);
                let [low, high] = [value, high].map(|half| {
                    let word = self.cast(CastOp::Trunc, half, Type::I32);
                    let word = self.across(op, word, lane);
                    self.cast(CastOp::Zext, word, Type::I64)
                });
                let high = self.binary(BinOp::Shl, high, shift);
                self.binary(BinOp::Or, low, high)
            }
            Type::I32 | Type::F32 | Type::Ptr(_) => {
                let args: Vec<Value> = std::iter::once(value).chain(lane).collect();
                self.op(Op::Wave(op), &args, ty)
            }
        }
    }

    /// Emits a cross-lane operation on a value that is converted to an integer before it and converted back
    /// after it.
    fn across_as(
        &mut self,
        (to, integer): (CastOp, Type),
        (op, value, lane): (WaveOp, Value, Option<Value>),
        back: CastOp,
    ) -> Value {
        let ty = self.ty(value);
        let bits = self.cast(to, value, integer);
        let bits = self.across(op, bits, lane);
        self.cast(back, bits, ty)
    }
}
