//! Tests that every instruction of every processor either has a handler or is refused with a reason.

use super::handler;
use crate::fidelity::{Fidelity, fidelity};
use isa::MachInst;
use isa::table::{Flags, available, opcodes};
use isa::target::PROCESSORS;

#[test]
fn every_instruction_has_a_meaning() {
    let mut missing = Vec::new();
    for target in &PROCESSORS {
        for op in opcodes().filter(|&op| available(op, target)) {
            let row = op.row();
            let Some(fidelity) = fidelity(row, target) else { continue };
            if row.flags.contains(Flags::ALIAS) {
                continue;
            }
            let meaning = handler(target, row, &MachInst::new(op, &[])).is_some();
            let refused = matches!(fidelity, Fidelity::Refused(_));
            if meaning == refused {
                missing.push(format!("{}: {}", target.name, row.name));
            }
        }
    }
    assert!(missing.is_empty(), "{} without a meaning:\n{}", missing.len(), missing.join("\n"));
}
