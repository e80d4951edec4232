//! Loads and stores that the object marks as atomic.
//!
//! kernc's own objects list them ([`codeobj::atomics`]). Other objects do not, so that the use of a value or
//! of a location has to show it: see `polls` and `late`.

use super::findings::place;
use crate::op::Code;
use std::collections::HashSet;

/// Places of the atomic loads and stores of an object; `None` if the object does not list them.
pub(crate) struct Marks(Option<HashSet<u32>>);

impl Marks {
    /// Converts `addresses`, the addresses of atomic loads and stores in the file, in ascending order; `None`
    /// if the file does not list them.
    pub(crate) fn new(addresses: Option<&[u64]>, code: &[Code]) -> Marks {
        let of_range = |(range, code): (usize, &Code), address: u64| {
            let pc = address.checked_sub(code.file_base)? / 4;
            (pc < code.words.len() as u64).then(|| place(range as u32, pc as u32))
        };
        let find = |&address: &u64| code.iter().enumerate().find_map(|range| of_range(range, address));
        Marks(addresses.map(|addresses| addresses.iter().filter_map(find).collect()))
    }

    /// Returns whether the access at a place is known to be atomic.
    pub(super) fn has(&self, place: u32) -> bool {
        self.0.as_ref().is_some_and(|places| places.contains(&place))
    }

    /// Returns whether the list is known, so that all other loads and stores are plain.
    pub(super) fn is_complete(&self) -> bool {
        self.0.is_some()
    }
}
