//! What objects say of their functions' resources: symbols that LLVM writes from version 20 on, numbers named after the function.
//!
//! `f.num_vgpr`, `f.num_agpr`, `f.numbered_sgpr` and `f.private_seg_size` count what `f` takes with all that it calls;
//! `f.has_recursion`, `f.has_dyn_sized_stack` and `f.has_indirect_call` say, if they are not 0, that the compiler assumed something: calls of
//! functions in other objects count as indirect ones.

use crate::input::{Object, Place};
use crate::registers::Used;
use rustc_hash::FxHashMap;

/// What an object says of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    pub used: Used,
    /// Bytes of scratch memory of each lane.
    pub scratch: u64,
    /// Whether that is all, and nothing is assumed.
    pub is_all: bool,
}

/// What is behind a function's name, and who takes the number.
type Row = (&'static str, fn(&mut Partial, u64));

/// Names behind the function's, and what they say.
const NUMBERS: [Row; 7] = [
    (".num_vgpr", |known, number| known.declared.used.vgprs = count(number)),
    (".num_agpr", |known, number| known.declared.used.agprs = count(number)),
    (".numbered_sgpr", |known, number| known.declared.used.sgprs = count(number)),
    (".private_seg_size", |known, number| (known.declared.scratch, known.has_scratch) = (number, true)),
    (".has_recursion", Partial::assume),
    (".has_dyn_sized_stack", Partial::assume),
    (".has_indirect_call", Partial::assume),
];

/// What has been read so far.
#[derive(Default)]
struct Partial {
    declared: Declared,
    has_scratch: bool,
    flags: u32,
    assumes: bool,
}

impl Partial {
    fn assume(&mut self, number: u64) {
        self.flags += 1;
        self.assumes |= number != 0;
    }
}

/// More registers than any processor has mean that the number is damaged.
fn count(number: u64) -> u32 {
    if number <= 512 { number as u32 } else { 0 }
}

/// What an object says, by the name of the function.
pub fn declared<'a>(object: &Object<'a>) -> FxHashMap<&'a str, Declared> {
    let mut partial: FxHashMap<&str, Partial> = FxHashMap::default();
    for symbol in object.symbols.iter().filter(|symbol| object.place(symbol) == Place::Absolute) {
        let named = |row: &&Row| symbol.name.ends_with(row.0);
        let Some((suffix, take)) = NUMBERS.iter().find(named) else { continue };
        take(partial.entry(&symbol.name[..symbol.name.len() - suffix.len()]).or_default(), symbol.value);
    }
    let whole = |(name, known): (&'a str, Partial)| {
        // A frame beyond 4 GiB is none.
        let is_all = known.has_scratch
            && known.flags == 3
            && !known.assumes
            && u32::try_from(known.declared.scratch).is_ok();
        (name, Declared { is_all, ..known.declared })
    };
    partial.into_iter().map(whole).collect()
}
