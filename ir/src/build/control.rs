//! Builds conditional statements and loops from closures.
//!
//! A closure builds its part of the statement in the current block and may create further blocks, also by
//! other methods of this module. A part may end with [`KernelBuilder::ret`]; the values that its closure
//! returns are then ignored.

use super::KernelBuilder;
use crate::entity::{Block, Value};
use crate::op::{BinOp, IntCc};
use crate::types::Type;

impl KernelBuilder {
    /// Builds `if condition { then }`. The current block is afterwards the block that follows the statement.
    pub fn if_then(&mut self, condition: Value, then: impl FnOnce(&mut Self)) {
        self.if_else(
            condition,
            |b| {
                then(b);
                []
            },
            |_| [],
        );
    }

    /// Builds `if condition { then } else { otherwise }`. Each side returns a list of values. The statement
    /// returns the values of the side that was executed. The values of both sides have the same types.
    ///
    /// ```
    /// # let mut b = ir::build::KernelBuilder::new("k");
    /// # let x = b.value("x", ir::build::Elem::F32);
    /// // The absolute value of `x`, and whether `x` was negative.
    /// let zero = b.f32(0.0);
    /// let is_negative = b.compare_floats(ir::FloatCc::Olt, x, zero);
    /// let [size, sign] = b.if_else(
    ///     is_negative,
    ///     |b| [b.unary(ir::UnOp::FNeg, x), b.i32(1)],
    ///     |b| [x, b.i32(0)],
    /// );
    /// # assert_eq!((b.ty(size), b.ty(sign)), (ir::Type::F32, ir::Type::I32));
    /// ```
    pub fn if_else<const N: usize>(
        &mut self,
        condition: Value,
        then: impl FnOnce(&mut Self) -> [Value; N],
        otherwise: impl FnOnce(&mut Self) -> [Value; N],
    ) -> [Value; N] {
        let targets = [self.block(&[]), self.block(&[])];
        self.branch(condition, (targets[0], &[]), (targets[1], &[]));
        self.switch_to(targets[0]);
        let then = (then(self), self.block);
        self.switch_to(targets[1]);
        let otherwise = (otherwise(self), self.block);
        let end = self.block(&then.0.map(|value| self.ty(value)));
        for (values, block) in [then, otherwise] {
            self.continue_at(block, end, &values);
        }
        self.switch_to(end);
        self.params_of(end)
    }

    /// Builds a loop that is executed while a condition holds. `start` are the values for the first test. The
    /// first closure gets the current values and returns the condition; the second closure gets the same
    /// values and returns the values for the next test. Returns the values of the test that failed.
    ///
    /// ```
    /// # let mut b = ir::build::KernelBuilder::new("k");
    /// # let x = b.value("x", ir::build::Elem::U32);
    /// use ir::{BinOp, IntCc};
    /// // Greatest common divisor of `x` and 36.
    /// let (start, zero) = (b.i32(36), b.i32(0));
    /// let [divisor, _] = b.while_loop(
    ///     [x, start],
    ///     |b, [_, rest]| b.compare(IntCc::Ne, rest, zero),
    ///     |b, [number, rest]| [rest, b.binary(BinOp::URem, number, rest)],
    /// );
    /// # b.ret();
    /// # let mut module = ir::Module::default();
    /// # module.funcs.push(b.finish());
    /// # ir::verify::verify(&module).unwrap();
    /// ```
    pub fn while_loop<const N: usize>(
        &mut self,
        start: [Value; N],
        condition: impl FnOnce(&mut Self, [Value; N]) -> Value,
        body: impl FnOnce(&mut Self, [Value; N]) -> [Value; N],
    ) -> [Value; N] {
        let types = start.map(|value| self.ty(value));
        let (head, inside, end) = (self.block(&types), self.block(&[]), self.block(&types));
        self.jump(head, &start);
        self.switch_to(head);
        let values = self.params_of(head);
        let condition = condition(self, values);
        self.branch(condition, (inside, &[]), (end, &values));
        self.switch_to(inside);
        let next = body(self, values);
        self.continue_at(self.block, head, &next);
        self.switch_to(end);
        self.params_of(end)
    }

    /// Builds a loop over the integers from `first` up to but not including `end`, as unsigned numbers.
    /// `start` are the values for the first iteration. The closure gets the number and the current values,
    /// and returns the values for the next iteration. Returns the values after the last iteration.
    ///
    /// The module's documentation has an example.
    pub fn for_range<const N: usize>(
        &mut self,
        first: Value,
        end: Value,
        start: [Value; N],
        body: impl FnOnce(&mut Self, Value, [Value; N]) -> [Value; N],
    ) -> [Value; N] {
        let ty = self.ty(first);
        let types: Vec<Type> = [first].iter().chain(&start).map(|&value| self.ty(value)).collect();
        let (head, inside, after) = (self.block(&types), self.block(&[]), self.block(&types[1..]));
        self.jump(head, &[&[first], &start[..]].concat());
        self.switch_to(head);
        let number = self.params(head)[0];
        let values: [Value; N] = std::array::from_fn(|at| self.params(head)[at + 1]);
        let more = self.compare(IntCc::Ult, number, end);
        self.branch(more, (inside, &[]), (after, &values));
        self.switch_to(inside);
        let next = body(self, number, values);
        if !self.is_ended() {
            let one = self.constant(ty, 1);
            let following = self.binary(BinOp::Add, number, one);
            self.jump(head, &[&[following], &next[..]].concat());
        }
        self.switch_to(after);
        self.params_of(after)
    }

    /// Ends `block` with a jump, unless it has ended.
    fn continue_at(&mut self, block: Block, to: Block, args: &[Value]) {
        self.switch_to(block);
        if !self.is_ended() {
            self.jump(to, args);
        }
    }

    /// Returns whether the current block has ended.
    fn is_ended(&self) -> bool {
        self.func.terminator(self.block).is_some()
    }

    /// Returns the parameters of a block that has `N` parameters.
    fn params_of<const N: usize>(&self, block: Block) -> [Value; N] {
        let params = self.params(block);
        std::array::from_fn(|at| params[at])
    }
}
