//! Instructions that are wrong in every context. There are two sorts: encodings that no processor of the
//! generation can execute, and instructions that some processors execute wrongly because of a defect.
//!
//! [`isa::legal`] says which operands an instruction can combine; the assembler and the compiler use it too.
//!
//! # Source
//! Features by which LLVM describes the behaviour of processors: `HasOffset3fBug`, `HasInstFwdPrefetchBug`,
//! `HasFlatSegmentOffsetBug`, `HasNegativeUnalignedScratchOffsetBug`, `HasNegativeScratchOffsetBug`.

use crate::finding::{EventRule, Level};
use crate::hazards::{ALL, Processors, having, with_feature};
use isa::legal;
use isa::table::Family;
use isa::target::KnownHazards;
use isa::{Feature, MachInst, Operand, Setting, Target, op};

/// A rule about a single instruction.
#[derive(Debug)]
pub(crate) struct Row {
    rule: EventRule,
    processors: Processors,
    /// XNACK setting of the code to which the rule applies. `None` means that it applies to all code.
    xnack: Option<Setting>,
    is: fn(&Target, &MachInst) -> bool,
}

const fn row(
    id: &'static str,
    name: &'static str,
    mitigation: &'static str,
    source: &'static str,
    processors: Processors,
    is: fn(&Target, &MachInst) -> bool,
) -> Row {
    Row {
        rule: EventRule { id, name, mitigation, source, level: Level::Certain },
        processors,
        xnack: None,
        is,
    }
}

/// Returns the rule about a scalar load of several dwords that overwrites its own address registers. If the
/// hardware replays the load after a page fault, it uses a different address.
const fn own_address(xnack: Setting, level: Level) -> Row {
    Row {
        rule: EventRule {
            id: "xnack-own-address",
            name: "scalar load overwrites its own address, though XNACK may replay a part of it",
            mitigation: "load to other registers",
            source: "GCN3; Vega; llvm: S_LOAD_DWORDX2_IMM_ec",
            level,
        },
        processors: having(KnownHazards::XNACK_OWN_ADDRESS),
        xnack: Some(xnack),
        is: |_, inst| {
            inst.is_replayed_in_parts() && inst.overwritten_source().is_some() && is_unaligned(inst)
        },
    }
}

static ROWS: [Row; 8] = [
    row(
        "constant-bus",
        "vector instruction reads more scalar values than the constant bus brings it",
        "v_mov_b32 of one of them to a VGPR",
        "llvm: violates constant bus restrictions (getConstantBusLimit: one value, two from GFX10)",
        ALL,
        |target, inst| !legal::constant_bus_ok(target, inst, None),
    ),
    row(
        "matrix-sum-overlap",
        "matrix instruction writes a part of the registers that it adds to",
        "the same registers for both, or others",
        "llvm: source 2 operand must not partially overlap with dst",
        ALL,
        |_, inst| legal::sum_overlaps(inst.op.row(), inst),
    ),
    own_address(Setting::On, Level::Certain),
    // The rule has a lower level here because the target id leaves XNACK open. Tensile and older compilers
    // generate code with such loads.
    own_address(Setting::Any, Level::Manual),
    row(
        "offset-3f-branch",
        "branch over 63 dwords, which this processor takes wrongly",
        "an s_nop in between, so that the distance is another",
        "llvm: Offset3fBug",
        with_feature(Feature::BRANCH_63_BUG),
        |_, inst| {
            let branch = inst.op.row().has_kind(isa::table::Kind::Label) && inst.op.family() == Family::Sopp;
            branch && inst.operands().contains(&Operand::Imm(0x3f))
        },
    ),
    row(
        "inst-prefetch",
        "s_inst_prefetch makes this processor hang",
        "leave it out",
        "llvm: InstFwdPrefetchBug",
        having(KnownHazards::INST_PREFETCH),
        |_, inst| inst.op == op::S_INST_PREFETCH,
    ),
    row(
        "flat-offset",
        "flat access with an offset, which this processor adds wrongly",
        "add the offset to the address",
        "llvm: FlatSegmentOffsetBug",
        with_feature(Feature::FLAT_OFFSET_BUG),
        |_, inst| inst.op.family() == Family::Flat && inst.mods.offset != 0,
    ),
    row(
        "scratch-negative-offset",
        "scratch access by a VGPR with a negative offset that is no multiple of four",
        "add the offset to the address",
        "llvm: NegativeUnalignedScratchOffsetBug",
        having(KnownHazards::SCRATCH_NEGATIVE_OFFSET),
        |_, inst| {
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

/// Returns whether a scalar load of several dwords is certainly not aligned to its size. This is so if even
/// an aligned base address gives an unaligned address, because of the offset. The base itself is not known
/// here. A load with an aligned offset is accepted: a compiler that does not know that the load is aligned
/// uses other registers for the result.
fn is_unaligned(inst: &MachInst) -> bool {
    match inst.operands() {
        [Operand::Reg(result), .., Operand::Imm(offset)] => offset % (4 * i32::from(result.len)) != 0,
        _ => false,
    }
}

/// Returns the rules that apply to a processor. `xnack` says whether the hardware may replay memory
/// instructions after a page fault.
pub(crate) fn rows(target: &Target, xnack: Setting) -> Vec<&'static Row> {
    let holds =
        |row: &&Row| row.processors.contains(target) && row.xnack.is_none_or(|wanted| wanted == xnack);
    ROWS.iter().filter(holds).collect()
}

/// Returns the rule that an instruction breaks by itself, whatever comes before and after it. Returns `None`
/// if there is no such rule.
pub(crate) fn find(rows: &[&'static Row], target: &Target, inst: &MachInst) -> Option<&'static EventRule> {
    rows.iter().find(|row| (row.is)(target, inst)).map(|row| &row.rule)
}

/// Returns the rules of a processor.
pub fn rules(target: &Target) -> impl Iterator<Item = &'static EventRule> {
    ROWS.iter().filter(move |row| row.processors.contains(target)).map(|row| &row.rule)
}
