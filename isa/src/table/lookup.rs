//! Finds rows by mnemonic, and the processors that have an instruction.

use super::{Opcode, opcodes};
use crate::target::{PROCESSORS, Target};
use std::sync::OnceLock;

/// Hash table that finds rows by their mnemonics, with open addressing. Several rows may have one mnemonic;
/// all of them are on the probe sequence of its hash. The table is created at the first use, because only
/// assemblers look up instructions by name.
static INDEX: OnceLock<Box<[Option<Opcode>]>> = OnceLock::new();
/// Number of slots: a power of two, at least twice the number of rows.
const SLOTS: usize = 8192;

fn index() -> &'static [Option<Opcode>] {
    INDEX.get_or_init(|| {
        let mut slots = vec![None; SLOTS].into_boxed_slice();
        for op in opcodes() {
            let mut place = hash(op.row().name);
            while slots[place].is_some() {
                place = (place + 1) % SLOTS;
            }
            slots[place] = Some(op);
        }
        slots
    })
}

/// Computes the FNV-1a hash, folded to the number of slots.
fn hash(name: &str) -> usize {
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    (hash ^ hash >> 32) as usize % SLOTS
}

/// Returns all rows with a mnemonic (without suffixes such as `_e32`), on any processor.
pub fn by_name_anywhere(mnemonic: &str) -> impl Iterator<Item = Opcode> + Clone {
    let slots = index();
    let mut place = hash(mnemonic);
    let probes = std::iter::from_fn(move || {
        let op = slots[place]?;
        place = (place + 1) % SLOTS;
        Some(op)
    });
    probes.filter(move |op| op.row().name == mnemonic)
}

/// Returns the rows with a mnemonic (without suffixes such as `_e32`) that the processor has. There may be
/// several rows, with different operands.
pub fn by_name(target: &Target, mnemonic: &str) -> impl Iterator<Item = Opcode> + Clone {
    by_name_anywhere(mnemonic).filter(move |op| available(*op, target))
}

/// Returns whether the processor has the instruction.
pub fn available(op: Opcode, target: &Target) -> bool {
    op.row().code(target).is_some()
}

/// Returns the processors that have an instruction with this mnemonic.
pub fn processors_with(mnemonic: &str) -> impl Iterator<Item = &'static Target> {
    PROCESSORS.iter().filter(move |target| by_name(target, mnemonic).next().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_has_room() {
        assert!(opcodes().count() * 2 <= SLOTS);
    }

    #[test]
    fn every_row_is_found_by_its_name() {
        for op in opcodes() {
            assert!(by_name_anywhere(op.row().name).any(|found| found == op), "{op:?}");
        }
        assert_eq!(by_name_anywhere("v_no_such_thing").count(), 0);
    }

    /// Checks that the processor and the operands determine which of several rows with the same name is
    /// meant.
    #[test]
    fn rows_of_one_name_differ() {
        for target in &PROCESSORS {
            for op in opcodes().filter(|&op| available(op, target)) {
                for other in by_name(target, op.row().name).filter(|&other| other != op) {
                    assert_ne!(op.row().ops, other.row().ops, "{op:?} twice on {}", target.name);
                }
            }
        }
    }
}
