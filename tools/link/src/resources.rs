//! Reads the resources that objects declare for their functions. Since version 20, LLVM writes a symbol for
//! each resource of a function. The symbol's value is the number, and its name begins with the name of the
//! function.
//!
//! For a function `f`, the symbols `f.num_vgpr`, `f.num_agpr`, `f.numbered_sgpr` and `f.private_seg_size`
//! count what `f` takes, including all functions that it calls. `f.has_recursion`, `f.has_dyn_sized_stack`
//! and `f.has_indirect_call` are not 0 if the compiler had to assume something. A call of a function in
//! another object counts as an indirect call.

use crate::input::{Object, Place};
use crate::registers::Used;
use rustc_hash::FxHashMap;

/// Declared resources of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    pub used: Used,
    /// Bytes of scratch memory for each lane.
    pub scratch: u64,
    /// Whether the numbers include everything that the function calls, so that they do not depend on
    /// assumptions of the compiler.
    pub is_all: bool,
}

/// A suffix of symbol names that declare a resource, such as `.num_vgpr`, and the function that stores the
/// value of such a symbol.
type Row = (&'static str, fn(&mut Partial, u64));

/// All suffixes.
const NUMBERS: [Row; 7] = [
    (".num_vgpr", |known, number| known.declared.used.vgprs = count(number)),
    (".num_agpr", |known, number| known.declared.used.agprs = count(number)),
    (".numbered_sgpr", |known, number| known.declared.used.sgprs = count(number)),
    (".private_seg_size", |known, number| (known.declared.scratch, known.has_scratch) = (number, true)),
    (".has_recursion", Partial::assume),
    (".has_dyn_sized_stack", Partial::assume),
    (".has_indirect_call", Partial::assume),
];

/// Declaration while its symbols are read.
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

/// Converts a register count. A count that no processor has comes from a damaged file and becomes 0.
fn count(number: u64) -> u32 {
    if number <= 512 { number as u32 } else { 0 }
}

/// Returns the declared resources of the functions in an object, by the name of the function.
pub fn declared<'a>(object: &Object<'a>) -> FxHashMap<&'a str, Declared> {
    let mut partial: FxHashMap<&str, Partial> = FxHashMap::default();
    for symbol in object.symbols.iter().filter(|symbol| object.symbol_place(symbol) == Place::Absolute) {
        let named = |row: &&Row| symbol.name.ends_with(row.0);
        let Some((suffix, take)) = NUMBERS.iter().find(named) else { continue };
        take(partial.entry(&symbol.name[..symbol.name.len() - suffix.len()]).or_default(), symbol.value);
    }
    let whole = |(name, known): (&'a str, Partial)| {
        // A size of 4 GiB or more is damaged.
        let is_all = known.has_scratch
            && known.flags == 3
            && !known.assumes
            && u32::try_from(known.declared.scratch).is_ok();
        (name, Declared { is_all, ..known.declared })
    };
    partial.into_iter().map(whole).collect()
}
