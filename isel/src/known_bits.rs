//! Upper bounds of values, which the interval analysis of the IR package computes.

use crate::lower::Lower;
use ir::passes::interval::bound;
use ir::{Function, Value};

/// Number of operations that the analysis follows.
const DEPTH: u32 = 6;

impl Lower<'_> {
    /// Returns the number of low bits of a value that may be set.
    pub fn max_bits(&self, value: Value) -> u32 {
        64 - max(self.func, value, DEPTH).leading_zeros()
    }
}

/// Returns an upper bound of `value` as an unsigned number.
pub(crate) fn max(func: &Function, value: Value, depth: u32) -> u64 {
    bound(func, value, depth).hi
}
