//! Builds atomic accesses to memory and fences.
//!
//! The element type decides which operation a method name means: [`KernelBuilder::atomic_min`] compares
//! signed numbers for [`Elem::I32`], unsigned numbers for [`Elem::U32`] and floating-point numbers for
//! [`Elem::F32`]. Elements have 32 or 64 bits; the verifier rejects smaller ones.

use super::{Elem, KernelBuilder};
use crate::entity::Value;
use crate::op::{Mem, Op, Order, RmwOp, Scope, Spaces};

impl KernelBuilder {
    /// Emits an atomic load.
    pub fn atomic_load(&mut self, elem: Elem, address: Value, order: (Order, Scope)) -> Value {
        let mem = self.atomic_access(elem, address, order);
        self.op(Op::Load { mem, count: 1 }, &[address], elem.value())
    }

    /// Emits an atomic store.
    pub fn atomic_store(&mut self, elem: Elem, address: Value, value: Value, order: (Order, Scope)) {
        let mem = self.atomic_access(elem, address, order);
        self.effect(Op::Store { mem, count: 1 }, &[address, value]);
    }

    /// Emits an atomic read-modify-write operation. Returns the old number.
    pub fn atomic(
        &mut self,
        op: RmwOp,
        elem: Elem,
        address: Value,
        value: Value,
        order: (Order, Scope),
    ) -> Value {
        let mem = self.atomic_access(elem, address, order);
        self.op(Op::AtomicRmw { op, mem }, &[address, value], elem.value())
    }

    /// Emits an atomic addition of integers or floating-point numbers. Returns the old number.
    pub fn atomic_add(&mut self, elem: Elem, address: Value, value: Value, order: (Order, Scope)) -> Value {
        let op = if elem.value().is_float() { RmwOp::FAdd } else { RmwOp::Add };
        self.atomic(op, elem, address, value, order)
    }

    /// Emits an atomic subtraction of integers. Returns the old number.
    pub fn atomic_sub(&mut self, elem: Elem, address: Value, value: Value, order: (Order, Scope)) -> Value {
        self.atomic(RmwOp::Sub, elem, address, value, order)
    }

    /// Emits an atomic minimum. Returns the old number.
    pub fn atomic_min(&mut self, elem: Elem, address: Value, value: Value, order: (Order, Scope)) -> Value {
        let op = by_kind(elem, [RmwOp::SMin, RmwOp::UMin, RmwOp::FMin]);
        self.atomic(op, elem, address, value, order)
    }

    /// Emits an atomic maximum. Returns the old number.
    pub fn atomic_max(&mut self, elem: Elem, address: Value, value: Value, order: (Order, Scope)) -> Value {
        let op = by_kind(elem, [RmwOp::SMax, RmwOp::UMax, RmwOp::FMax]);
        self.atomic(op, elem, address, value, order)
    }

    /// Emits an atomic bitwise and. Returns the old number.
    pub fn atomic_and(&mut self, elem: Elem, address: Value, value: Value, order: (Order, Scope)) -> Value {
        self.atomic(RmwOp::And, elem, address, value, order)
    }

    /// Emits an atomic bitwise or. Returns the old number.
    pub fn atomic_or(&mut self, elem: Elem, address: Value, value: Value, order: (Order, Scope)) -> Value {
        self.atomic(RmwOp::Or, elem, address, value, order)
    }

    /// Emits an atomic bitwise exclusive or. Returns the old number.
    pub fn atomic_xor(&mut self, elem: Elem, address: Value, value: Value, order: (Order, Scope)) -> Value {
        self.atomic(RmwOp::Xor, elem, address, value, order)
    }

    /// Emits an atomic exchange: stores `value`. Returns the old number.
    pub fn atomic_xchg(&mut self, elem: Elem, address: Value, value: Value, order: (Order, Scope)) -> Value {
        self.atomic(RmwOp::Xchg, elem, address, value, order)
    }

    /// Emits an atomic increment that wraps: stores `old >= limit ? 0 : old + 1`. Returns the old number.
    pub fn atomic_inc(&mut self, elem: Elem, address: Value, limit: Value, order: (Order, Scope)) -> Value {
        self.atomic(RmwOp::Inc, elem, address, limit, order)
    }

    /// Emits an atomic decrement that wraps: stores `old == 0 || old > limit ? limit : old - 1`. Returns the
    /// old number.
    pub fn atomic_dec(&mut self, elem: Elem, address: Value, limit: Value, order: (Order, Scope)) -> Value {
        self.atomic(RmwOp::Dec, elem, address, limit, order)
    }

    /// Emits an atomic compare-and-swap: stores `new` if the old number has the bits of `expected`. Returns
    /// the old number. If nothing is stored, the operation has the memory order `order` without its release
    /// part.
    pub fn atomic_cas(
        &mut self,
        elem: Elem,
        address: Value,
        (expected, new): (Value, Value),
        order: (Order, Scope),
    ) -> Value {
        let mem = self.atomic_access(elem, address, order);
        let fail = match order.0 {
            Order::AcqRel => Order::Acquire,
            Order::Acquire | Order::SeqCst => order.0,
            _ => Order::Relaxed,
        };
        self.op(Op::AtomicCas { mem, fail }, &[address, expected, new], elem.value())
    }

    /// Emits a fence that orders accesses to all address spaces.
    pub fn fence(&mut self, (order, scope): (Order, Scope)) {
        self.effect(Op::Fence { order, scope, spaces: Spaces::ALL }, &[]);
    }

    /// Returns the attributes of an atomic access to an element.
    fn atomic_access(&self, elem: Elem, address: Value, (order, scope): (Order, Scope)) -> Mem {
        Mem { order, scope, ..self.access(elem, address) }
    }
}

/// Returns the operation that fits the element type: the one for signed integers, for unsigned integers or
/// for floating-point numbers.
fn by_kind(elem: Elem, [signed, unsigned, float]: [RmwOp; 3]) -> RmwOp {
    match elem {
        _ if elem.value().is_float() => float,
        _ if elem.is_signed() => signed,
        _ => unsigned,
    }
}
