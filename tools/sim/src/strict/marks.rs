//! Loads and stores of which the object says that they are atomic.
//!
//! In kernc's own objects they are listed ([`codeobj::atomics`]). Other objects say nothing, and what is done with a value or
//! a place has to tell: `polls`, `late`.

use super::findings::place;
use crate::op::Code;
use std::collections::HashSet;

/// Places of the atomic loads and stores of an object.
pub(crate) struct Marks(Option<HashSet<u32>>);

impl Marks {
    /// `addresses`: those in the file, in ascending order; `None` where it does not say.
    pub(crate) fn new(addresses: Option<&[u64]>, code: &[Code]) -> Marks {
        let of_range = |(range, code): (usize, &Code), address: u64| {
            let pc = address.checked_sub(code.file_base)? / 4;
            (pc < code.words.len() as u64).then(|| place(range as u32, pc as u32))
        };
        let find = |&address: &u64| code.iter().enumerate().find_map(|range| of_range(range, address));
        Marks(addresses.map(|addresses| addresses.iter().filter_map(find).collect()))
    }

    /// Whether the access at a place is known to be atomic.
    pub(super) fn has(&self, place: u32) -> bool {
        self.0.as_ref().is_some_and(|places| places.contains(&place))
    }

    /// Whether all other loads and stores are plain.
    pub(super) fn is_complete(&self) -> bool {
        self.0.is_some()
    }
}
