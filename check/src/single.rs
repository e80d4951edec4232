//! Instructions that are wrong wherever they stand: defects of processors that compilers keep away from.
//!
//! # Source
//! The features of LLVM's processors, by behaviour: `HasOffset3fBug`, `HasInstFwdPrefetchBug`, `HasFlatSegmentOffsetBug`,
//! `HasNegativeUnalignedScratchOffsetBug`, `HasNegativeScratchOffsetBug`.

use crate::finding::{EventRule, Level};
use crate::hazards::{Processors, RDNA1, REPLAYING};
use isa::table::Family;
use isa::{MachInst, Operand, Target, op};

struct Row {
    rule: EventRule,
    processors: Processors,
    /// Only where memory instructions may be replayed.
    replay: bool,
    is: fn(&MachInst) -> bool,
}

const fn row(
    id: &'static str,
    name: &'static str,
    mend: &'static str,
    source: &'static str,
    is: fn(&MachInst) -> bool,
) -> Row {
    Row {
        rule: EventRule { id, name, mend, source, level: Level::Certain },
        processors: RDNA1,
        replay: false,
        is,
    }
}

static ROWS: [Row; 5] = [
    Row {
        processors: REPLAYING,
        replay: true,
        ..row(
            "xnack-own-address",
            "scalar load overwrites its own address, though XNACK may replay a part of it",
            "load to other registers",
            "GCN3; Vega; llvm: S_LOAD_DWORDX2_IMM_ec",
            |inst| inst.is_replayed_in_parts() && inst.overwritten_source().is_some() && is_unaligned(inst),
        )
    },
    row(
        "offset-3f-branch",
        "branch over 63 dwords, which this processor takes wrongly",
        "an s_nop in between, so that the distance is another",
        "llvm: Offset3fBug",
        |inst| {
            let branch = inst.op.row().has_kind(isa::table::Kind::Label) && inst.op.family() == Family::Sopp;
            branch && inst.operands().contains(&Operand::Imm(0x3f))
        },
    ),
    row(
        "inst-prefetch",
        "s_inst_prefetch makes this processor hang",
        "leave it out",
        "llvm: InstFwdPrefetchBug",
        |inst| inst.op == op::S_INST_PREFETCH,
    ),
    row(
        "flat-offset",
        "flat access with an offset, which this processor adds wrongly",
        "add the offset to the address",
        "llvm: FlatSegmentOffsetBug",
        |inst| inst.op.family() == Family::Flat && inst.mods.offset != 0,
    ),
    row(
        "scratch-negative-offset",
        "scratch access by a VGPR with a negative offset that is no multiple of four",
        "add the offset to the address",
        "llvm: NegativeUnalignedScratchOffsetBug",
        |inst| {
            let by_vgpr = inst.operands().iter().zip(inst.op.row().ops).any(|(operand, spec)| {
                spec.kind == isa::table::Kind::Vaddr && matches!(operand, Operand::Reg(_))
            });
            inst.op.family() == Family::Scratch
                && inst.mods.offset < 0
                && inst.mods.offset & 3 != 0
                && by_vgpr
        },
    ),
];

/// Whether a scalar load of several dwords cannot be aligned to its size, if its base is. The base is not known: who could not
/// know that both are aligned takes other registers, too.
fn is_unaligned(inst: &MachInst) -> bool {
    match inst.operands() {
        [Operand::Reg(result), .., Operand::Imm(offset)] => offset % (4 * i32::from(result.len)) != 0,
        _ => false,
    }
}

/// What is wrong with the instruction by itself. `replays`: whether memory instructions may be replayed.
pub(crate) fn find(target: &Target, replays: bool, inst: &MachInst) -> Option<&'static EventRule> {
    let mut rows = ROWS.iter().filter(|row| row.processors.contains(target) && (replays || !row.replay));
    rows.find(|row| (row.is)(inst)).map(|row| &row.rule)
}

/// The rows of a processor.
pub fn rules(target: &Target) -> impl Iterator<Item = &'static EventRule> {
    ROWS.iter().filter(move |row| row.processors.contains(target)).map(|row| &row.rule)
}
