//! Checks that every memory instruction of every processor is implemented, or refused with a reason.

use crate::exec::{handler, refusal};
use isa::table::{Family, Flags, opcodes};
use isa::target::PROCESSORS;
use isa::{MachInst, ModFlags};

const FAMILIES: [Family; 10] = [
    Family::Smem,
    Family::Ds,
    Family::Mubuf,
    Family::Mtbuf,
    Family::Flat,
    Family::Global,
    Family::Scratch,
    Family::Mimg,
    Family::Exp,
    Family::Vintrp,
];

#[test]
fn every_row_has_a_meaning_or_a_reason() {
    let (mut meanings, mut refusals) = (0, 0);
    for target in &PROCESSORS {
        for op in opcodes().filter(|op| FAMILIES.contains(&op.family())) {
            let row = op.row();
            if row.code(target).is_none() || row.flags.contains(Flags::ALIAS) {
                continue;
            }
            let mut inst = MachInst::new(op, &[]);
            if row.flags.contains(Flags::GDS_ONLY) {
                inst.mods.flags |= ModFlags::GDS;
            }
            match (handler(target, row, &inst), refusal(row, inst.mods.flags)) {
                (Some(_), None) => meanings += 1,
                (None, Some(_)) => refusals += 1,
                (meaning, reason) => {
                    panic!(
                        "{} of {}: meaning {}, reason {reason:?}",
                        row.name,
                        target.name,
                        meaning.is_some()
                    )
                }
            }
        }
    }
    assert!(meanings > 10_000 && refusals > 1_000, "{meanings} meanings, {refusals} refusals");
}
