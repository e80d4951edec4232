//! The list of atomic loads and stores in an object file.
//!
//! Object files that kernc has compiled list their atomic loads and stores ([`codeobj::atomics`]). Object
//! files of other compilers do not. In their code, strict mode has to recognise atomic loads and stores: by
//! how the loaded value is used (module `polls`), or by how the location is used later (module `late`).

use super::findings::code_position;
use crate::op::Code;
use std::collections::HashSet;

/// Code positions of the atomic loads and stores of an object file; `None` if the file does not list them.
pub(crate) struct Marks(Option<HashSet<u32>>);

impl Marks {
    /// Creates the list of atomic loads and stores. `addresses` has their file addresses in ascending order,
    /// or is `None` if the object file has no such list.
    pub(crate) fn new(addresses: Option<&[u64]>, code: &[Code]) -> Marks {
        let of_range = |(range, code): (usize, &Code), address: u64| {
            let pc = address.checked_sub(code.file_base)? / 4;
            (pc < code.words.len() as u64).then(|| code_position(range as u32, pc as u32))
        };
        let find = |&address: &u64| code.iter().enumerate().find_map(|range| of_range(range, address));
        Marks(addresses.map(|addresses| addresses.iter().filter_map(find).collect()))
    }

    /// Returns whether the object file lists the load or store at code position `place` as atomic.
    pub(super) fn has(&self, place: u32) -> bool {
        self.0.as_ref().is_some_and(|places| places.contains(&place))
    }

    /// Returns whether the object file lists its atomic loads and stores. If it does, all loads and stores
    /// that are not listed are plain.
    pub(super) fn is_complete(&self) -> bool {
        self.0.is_some()
    }
}
