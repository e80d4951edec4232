//! What is known of the bits of a value, as the mid-end knows it.

use crate::lower::Lower;
use ir::passes::interval::bound;
use ir::{Function, Value};

/// How far the walk goes up.
const DEPTH: u32 = 6;

impl Lower<'_> {
    /// Number of low bits that may be set.
    pub fn max_bits(&self, value: Value) -> u32 {
        64 - max(self.func, value, DEPTH).leading_zeros()
    }
}

/// The largest value that `value` may have as an unsigned number.
pub(crate) fn max(func: &Function, value: Value, depth: u32) -> u64 {
    bound(func, value, depth).hi
}
