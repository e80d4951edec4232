//! Finds the roles of instructions in hazard rules, and builds the instructions that are inserted as
//! mitigations.

use super::{Breaks, Consumer, Insert, Producer, Rules};
use crate::effects;
use isa::table::{Family, Flags, Implicit, Kind};
use isa::{
    Counter, Form, Lane, MachInst, ModFlags, Opcode, Operand, Reg, RegRange, Row, SdwaSel, Target, op,
};
use smallvec::SmallVec;

/// Returns a pseudo-register, which stands for something in the hazard rules that is not a register. The
/// number of the pseudo-register is higher than those of all real registers.
const fn pretended(number: u16) -> RegRange {
    RegRange { first: Reg(1024 + number), len: 1 }
}

/// Returns the pseudo-register that stands for hardware register `id` of `s_setreg`.
const fn hw_reg(id: u16) -> RegRange {
    pretended(id & 63)
}
const HW_REG_MODE: u16 = 1;
const HW_REG_TRAPSTS: u16 = 3;
/// Pseudo-register for the bit `vskip` of MODE, which is bit 28.
const VSKIP: RegRange = pretended(64);
const VSKIP_BIT: i32 = 28;
/// The pseudo-register that every instruction accesses, for rules that are not about a register.
const ANYTHING: RegRange = pretended(65);

const M0: RegRange = RegRange { first: Reg::M0, len: 1 };
const NULL: Reg = Reg(125);

/// Calls `f` with the pseudo-register that every instruction accesses. Rules that are not about a register
/// use it, so that they can be treated like rules about registers.
pub(crate) fn anything(mut f: impl FnMut(RegRange)) {
    f(ANYTHING);
}

/// Returns the fields of a `hwreg` operand: register, first bit, number of bits.
fn hwreg_fields(inst: &MachInst) -> Option<(u16, i32, i32)> {
    inst.operands().iter().find_map(|operand| match *operand {
        Operand::Imm(imm) => Some(((imm & 63) as u16, imm >> 6 & 31, (imm >> 11 & 31) + 1)),
        _ => None,
    })
}

fn is_setreg(inst: &MachInst) -> bool {
    inst.op == op::S_SETREG_B32 || inst.op == op::S_SETREG_IMM32_B32
}

fn is_scalar(range: RegRange) -> bool {
    range.first.0 < 128
}

/// Returns whether a family belongs to the scalar instructions: SALU, program flow and scalar memory. Their
/// instructions write scalar registers and are not VALU instructions.
fn is_scalar_side(family: Family) -> bool {
    matches!(family, Family::Sop1 | Family::Sop2 | Family::Sopk | Family::Sopc | Family::Sopp | Family::Smem)
}

/// Calls `f` with the role and the registers of each hazard that an instruction begins, for rules with wait
/// states. `vgprs` says whether VGPR results of VALU matter; they matter only for DPP and for moves to
/// accumulation VGPRs.
#[inline]
pub fn produced(target: &Target, inst: &MachInst, vgprs: bool, mut f: impl FnMut(Producer, RegRange)) {
    let row = inst.op.row();
    if row.is_valu() {
        effects::all(target, inst, |access| {
            if access.write && access.range.first.is_agpr() {
                f(Producer::WritesAgpr, access.range);
            } else if access.write && !access.range.first.is_vgpr() {
                f(Producer::ValuWritesScalar, access.range);
            } else if access.write && vgprs {
                f(Producer::ValuWritesVgpr, access.range);
            }
        });
        if row.family == Family::Vop3p && row.name.starts_with("v_dot") {
            effects::explicit(inst, |access| {
                if access.write {
                    f(Producer::Dot, access.range);
                }
            });
        }
        let part = writes_part(inst);
        if part || is_transcendental(row.name) {
            effects::explicit(inst, |access| {
                if access.write && access.range.first.is_vgpr() {
                    f(if part { Producer::WritesPart } else { Producer::Transcendental }, access.range);
                }
            });
        }
        match inst.op {
            op::V_ACCVGPR_WRITE_B32 => f(Producer::MovesAgpr, ANYTHING),
            op::V_ACCVGPR_READ_B32 => {
                f(Producer::MovesAgpr, ANYTHING);
                effects::explicit(inst, |access| {
                    if access.write {
                        f(Producer::ReadsAgpr, access.range);
                    }
                });
            }
            _ => {}
        }
    } else if row.is_salu() {
        if is_setreg(inst) {
            set_reg(inst, f);
        } else if inst.op == op::S_SETVSKIP {
            f(Producer::SetVskip, hw_reg(HW_REG_MODE));
        } else {
            effects::all(target, inst, |access| {
                if access.write && is_scalar(access.range) {
                    f(Producer::SaluWritesScalar, access.range);
                    if access.range.overlaps(M0) {
                        f(Producer::SaluWritesM0, M0);
                    }
                }
            });
        }
    } else if row.is_vmem() {
        vector_memory(inst, f);
    } else if row.implicit.contains(Implicit::WRITE_M0) {
        f(Producer::SaluWritesM0, M0);
    }
}

/// Returns whether an instruction writes a part of its destination register and keeps the rest.
fn writes_part(inst: &MachInst) -> bool {
    match inst.mods.lane {
        Lane::Sdwa { dst, .. } => inst.op.family() != Family::Vopc && dst != SdwaSel::Dword,
        _ => inst.op.family() != Family::Vop3p && inst.mods.op_sel & 8 != 0,
    }
}

/// Returns whether an instruction with this name runs in the transcendental unit.
fn is_transcendental(name: &str) -> bool {
    ["v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_", "v_sin_", "v_cos_"]
        .iter()
        .any(|start| name.starts_with(start))
}

fn vector_memory(inst: &MachInst, mut f: impl FnMut(Producer, RegRange)) {
    let row = inst.op.row();
    if row.flags.intersects(Flags::STORE.union(Flags::ATOMIC))
        && row.family != Family::Mimg
        && !has_sgpr_offset(inst)
    {
        effects::explicit(inst, |access| {
            // An operand of more than two dwords is the data of the store, because an address has only one or
            // two dwords.
            if access.read && access.range.first.is_vgpr() && access.range.len > 2 {
                f(Producer::WideStore, access.range);
            }
        });
    }
    if row.flags.contains(Flags::ATOMIC) && is_float_atomic(row.name) {
        f(Producer::FloatAtomic, ANYTHING);
    }
    // Number of address registers. The first two dwords of the instruction hold the first address register;
    // each further dword holds four more.
    let scattered = inst.operands().iter().filter_map(|operand| match operand {
        Operand::Scattered(list) => Some(list.numbers().len()),
        _ => None,
    });
    if row.family == Family::Mimg && scattered.sum::<usize>() > 5 {
        f(Producer::LongImageAddress, ANYTHING);
    }
}

fn is_float_atomic(name: &str) -> bool {
    ["_fadd", "_fmin", "_fmax", "_fcmpswap", "_add_f", "_min_f", "_max_f", "_pk_add"]
        .iter()
        .any(|part| name.contains(part))
}

fn set_reg(inst: &MachInst, mut f: impl FnMut(Producer, RegRange)) {
    if let Some((id, first, bits)) = hwreg_fields(inst) {
        f(Producer::SetReg, hw_reg(id));
        if id == HW_REG_MODE && (first..first + bits).contains(&VSKIP_BIT) {
            f(Producer::SetReg, VSKIP);
        }
    }
}

/// Returns whether `soffset` of a buffer store is a register. Such a store takes one more cycle to issue, so
/// the hazard does not occur.
fn has_sgpr_offset(inst: &MachInst) -> bool {
    matches!(inst.op.family(), Family::Mubuf | Family::Mtbuf)
        && matches!(inst.operands().last(), Some(Operand::Reg(range)) if !range.first.is_vgpr())
}

/// Calls `f` with the registers of each hazard that an instruction begins, for a rule that an instruction
/// mitigates.
pub(crate) fn marked(
    rules: &Rules,
    target: &Target,
    inst: &MachInst,
    first: Producer,
    mut f: impl FnMut(RegRange),
) {
    let row = inst.op.row();
    let reads = |f: &mut dyn FnMut(RegRange), which: fn(RegRange) -> bool| {
        effects::all(target, inst, |access| {
            if access.read && which(access.range) {
                f(access.range);
            }
        });
    };
    match first {
        Producer::MemoryReadsScalar if row.is_vmem() || row.family == Family::Ds => reads(&mut f, is_scalar),
        Producer::SmemReadsScalar if row.family == Family::Smem => reads(&mut f, is_scalar),
        // A read of one half of EXEC also conflicts with a write of the other half.
        Producer::ReadsExec if !row.is_valu() => {
            reads(
                &mut |range| {
                    if range.overlaps(EXEC) {
                        f(EXEC)
                    }
                },
                is_scalar,
            );
        }
        Producer::Cmpx if row.name.starts_with("v_cmpx") => f(ANYTHING),
        Producer::Lds | Producer::Vmem if memory_side(inst) == Some(first) => f(ANYTHING),
        Producer::HalfOfVcc => {
            let mut halves = 0;
            effects::all(target, inst, |access| halves |= written_halves(access));
            if halves == 1 || halves == 2 {
                f(ANYTHING);
            }
        }
        Producer::Smem if row.family == Family::Smem => f(ANYTHING),
        Producer::ClauseReads if rules.clause(inst) != 0 => reads(&mut f, |_| true),
        Producer::ClauseReturns if rules.clause(inst) != 0 && returns(target, inst) => f(ANYTHING),
        Producer::ClauseOwn if rules.clause(inst) != 0 && overwrites_own(target, inst) => f(ANYTHING),
        _ => {}
    }
}

/// Returns whether an instruction is a mitigation of the kind `breaks`. `scalar_pending` says whether scalar
/// memory instructions are in flight. `clause` has the kinds of the current clause.
pub(crate) fn breaks(
    rules: &Rules,
    target: &Target,
    inst: &MachInst,
    breaks: Breaks,
    scalar_pending: bool,
    clause: u8,
) -> bool {
    let row = inst.op.row();
    let depctr = |bits: i32| match (inst.op, inst.ops[0]) {
        (op::S_WAITCNT_DEPCTR, Operand::Imm(mask)) => mask & bits == 0,
        _ => false,
    };
    let waits = |counter: Counter| target.waited(inst).is_some_and(|wait| wait.count(counter) == 0);
    match breaks {
        // vm_vsrc is in bits 4:2, sa_sdst is bit 0.
        Breaks::MemoryHasRead => {
            row.is_valu()
                || depctr(7 << 2)
                || [Counter::Vm, Counter::Exp, Counter::Lgkm].into_iter().all(waits)
        }
        Breaks::SmemHasRead => {
            let waits_only = target.is_wait(inst.op) || inst.op == op::S_SETVSKIP;
            row.is_salu() && !waits_only || waits(Counter::Lgkm)
        }
        Breaks::ExecHasBeenRead => {
            let mut writes = false;
            if row.is_valu() {
                effects::all(target, inst, |access| writes |= access.write && is_scalar(access.range));
            }
            writes || depctr(1)
        }
        Breaks::Valu => row.is_valu() && !matches!(inst.op, op::V_NOP | op::V_NOP_E64),
        Breaks::OtherMemory => memory_side(inst).is_some() || waits(Counter::Vs),
        Breaks::VccWritten | Breaks::VccWrittenInPeace => {
            let mut halves = 0;
            effects::all(target, inst, |access| halves |= written_halves(access));
            halves == 3 && !(breaks == Breaks::VccWrittenInPeace && scalar_pending)
        }
        Breaks::ClauseEnds => rules.clause(inst) & clause == 0,
    }
}

/// Returns which halves of VCC are written, as bits.
fn written_halves(access: effects::Access) -> u8 {
    let half =
        |number, bit| if access.write && access.range.overlaps(single_register(number)) { bit } else { 0 };
    half(Reg::VCC, 1) | half(Reg::VCC.offset(1), 2)
}

const fn single_register(first: Reg) -> RegRange {
    RegRange { first, len: 1 }
}

/// Returns the role of an instruction that accesses LDS or vector memory. `None` for other instructions, and
/// for flat accesses, which may access either.
fn memory_side(inst: &MachInst) -> Option<Producer> {
    match inst.op.family() {
        Family::Ds => Some(Producer::Lds),
        Family::Flat => None,
        _ if inst.op.row().is_vmem() => Some(Producer::Vmem),
        _ => None,
    }
}

/// Calls `f` with each register that an instruction accesses in the role `consumer`, which is that of the
/// second instruction of a hazard. The function is long because each role has its own arm.
#[inline]
pub fn consumed(target: &Target, inst: &MachInst, consumer: Consumer, mut f: impl FnMut(RegRange)) {
    let row = inst.op.row();
    let reads = |f: &mut dyn FnMut(RegRange)| {
        effects::all(target, inst, |access| {
            if access.read && !access.range.first.is_vgpr() {
                f(access.range);
            }
        });
    };
    let writes = |f: &mut dyn FnMut(RegRange), which: fn(RegRange) -> bool| {
        effects::all(target, inst, |access| {
            if access.write && which(access.range) {
                f(access.range);
            }
        });
    };
    match consumer {
        Consumer::VmemReadsScalar if row.is_vmem() => reads(&mut f),
        Consumer::SmemReadsScalar if row.family == Family::Smem => reads(&mut f),
        Consumer::BufferSmemReadsScalar if row.family == Family::Smem && row.name.starts_with("s_buffer") => {
            reads(&mut f);
        }
        Consumer::LaneSelect if selects_lane(inst.op) => {
            if let Some(Operand::Reg(lane)) = inst.operands().get(2) {
                f(*lane);
            }
        }
        Consumer::DivFmas if inst.op == op::V_DIV_FMAS_F32 || inst.op == op::V_DIV_FMAS_F64 => f(VCC),
        Consumer::Dpp if inst.form == Form::Dpp => {
            f(EXEC);
            effects::explicit(inst, |access| {
                if access.read && access.range.first.is_vgpr() {
                    f(access.range);
                }
            });
        }
        Consumer::ValuReadsScalar if row.is_valu() => {
            effects::explicit(inst, |access| {
                if access.read && is_scalar(access.range) {
                    f(access.range);
                }
            });
            effects::all(target, inst, |access| {
                if access.read && access.range.overlaps(VCC) {
                    f(VCC);
                }
            });
        }
        Consumer::ReadLane if matches!(inst.op, op::V_READLANE_B32 | op::V_READFIRSTLANE_B32) => {
            effects::explicit(inst, |access| {
                if access.read && access.range.first.is_vgpr() {
                    f(access.range);
                }
            });
        }
        Consumer::LaneAccess
            if matches!(inst.op, op::V_READLANE_B32 | op::V_READFIRSTLANE_B32 | op::V_WRITELANE_B32) =>
        {
            f(EXEC)
        }
        Consumer::OrdinaryValu | Consumer::ValuReadsVgpr
            if row.is_valu() && (consumer == Consumer::ValuReadsVgpr || !is_transcendental(row.name)) =>
        {
            effects::explicit(inst, |access| {
                if access.read && access.range.first.is_vgpr() {
                    f(access.range);
                }
            });
        }
        Consumer::ZeroFlagAsData if row.is_valu() => {
            effects::explicit(inst, |access| match access.range.first {
                Reg::VCCZ => f(VCC),
                Reg::EXECZ => f(EXEC),
                _ => {}
            })
        }
        Consumer::ReadsM0 if reads_m0(inst) => f(M0),
        Consumer::ValuWrites if row.is_valu() => writes(&mut f, |range| range.first.is_vgpr()),
        Consumer::WritesAgpr if inst.op == op::V_ACCVGPR_WRITE_B32 => {
            effects::all(target, inst, |access| {
                if access.read {
                    f(access.range);
                }
            });
        }
        Consumer::ReadsAgpr if inst.op == op::V_ACCVGPR_READ_B32 => {
            effects::explicit(inst, |access| {
                if access.read {
                    f(access.range);
                }
            });
        }
        Consumer::MemoryReadsVgpr | Consumer::MemoryReadsAnyVgpr
            if row.is_vmem() || row.family == Family::Ds =>
        {
            effects::explicit(inst, |access| {
                if access.read && access.range.first.is_vgpr() {
                    f(if consumer == Consumer::MemoryReadsVgpr { access.range } else { ANYTHING });
                }
            });
        }
        Consumer::TouchesVgpr => effects::all(target, inst, |access| {
            if access.range.first.is_vgpr() {
                f(access.range);
            }
        }),
        Consumer::GetReg | Consumer::SetRegAgain => {
            let is = if consumer == Consumer::GetReg { inst.op == op::S_GETREG_B32 } else { is_setreg(inst) };
            if let (true, Some((id, _, _))) = (is, hwreg_fields(inst)) {
                f(hw_reg(id));
            }
        }
        Consumer::Vector if row.is_valu() || row.is_vmem() || row.family == Family::Ds => f(VSKIP),
        Consumer::Rfe if inst.op == op::S_RFE_B64 || inst.op == op::S_RFE_RESTORE_B64 => {
            f(hw_reg(HW_REG_TRAPSTS))
        }
        Consumer::OddBuffer
            if matches!(row.family, Family::Mubuf | Family::Mtbuf) && inst.mods.offset & 6 != 0 =>
        {
            f(ANYTHING)
        }
        Consumer::DenormMode if inst.op == op::S_DENORM_MODE => f(ANYTHING),
        Consumer::ScalarWrite if is_scalar_side(row.family) => {
            // LLVM does not mitigate the hazard for a `saveexec` instruction, so its implicit write of EXEC
            // does not count here either.
            let beside = row.is_salu() && row.implicit.contains(Implicit::WRITE_EXEC);
            writes(
                &mut |range| {
                    if !(beside && range.overlaps(EXEC)) {
                        f(range)
                    }
                },
                is_scalar,
            );
        }
        Consumer::ValuWritesScalar if row.is_valu() => writes(&mut f, is_scalar),
        Consumer::ValuWritesExec if row.is_valu() => writes(&mut f, |range| range.overlaps(EXEC)),
        Consumer::Permlane if row.name.starts_with("v_permlane") => f(ANYTHING),
        Consumer::Lds if memory_side(inst) == Some(Producer::Lds) => f(ANYTHING),
        Consumer::Vmem if memory_side(inst) == Some(Producer::Vmem) => f(ANYTHING),
        Consumer::Vccz if reads_vccz(inst) => f(ANYTHING),
        Consumer::ClauseWrites if is_memory(row) => writes(&mut f, |_| true),
        Consumer::ClauseMember if is_memory(row) => f(ANYTHING),
        Consumer::ClauseStores if is_memory(row) && row.flags.intersects(CHANGES_MEMORY) => f(ANYTHING),
        Consumer::ClauseOwn if is_memory(row) && overwrites_own(target, inst) => f(ANYTHING),
        _ => {}
    }
}

const CHANGES_MEMORY: Flags = Flags::STORE.union(Flags::ATOMIC);

/// Returns whether the instruction can be part of a clause.
fn is_memory(row: &Row) -> bool {
    row.family == Family::Smem || row.is_vmem()
}

/// Returns whether a memory instruction writes a register.
fn returns(target: &Target, inst: &MachInst) -> bool {
    let mut any = false;
    effects::all(target, inst, |access| any |= access.write);
    any
}

/// Returns whether a memory instruction writes its result to a register from which it reads its address or
/// data.
fn overwrites_own(target: &Target, inst: &MachInst) -> bool {
    let mut written: SmallVec<[RegRange; 4]> = SmallVec::new();
    effects::all(target, inst, |access| {
        if access.write {
            written.push(access.range);
        }
    });
    let mut own = false;
    if !written.is_empty() {
        effects::all(target, inst, |access| {
            own |= access.read && written.iter().any(|range| range.overlaps(access.range));
        });
    }
    own
}

const VCC: RegRange = RegRange { first: Reg::VCC, len: 2 };
const EXEC: RegRange = RegRange { first: Reg::EXEC, len: 2 };

/// Returns whether an instruction is `v_readlane_b32` or `v_writelane_b32`. Older forms of these instructions
/// are VOP2.
fn selects_lane(op: Opcode) -> bool {
    [op::V_READLANE_B32, op::V_WRITELANE_B32, op::V_READLANE_B32_VOP2, op::V_WRITELANE_B32_VOP2].contains(&op)
}

/// Returns whether the instruction reads `vccz`, as a branch condition or as data.
pub(crate) fn reads_vccz(inst: &MachInst) -> bool {
    matches!(inst.op, op::S_CBRANCH_VCCZ | op::S_CBRANCH_VCCNZ)
        || inst
            .operands()
            .iter()
            .any(|operand| matches!(operand, Operand::Reg(range) if range.first == Reg::VCCZ))
}

/// Returns whether the instruction reads M0 to select or address something: `s_movrel`, `s_sendmsg`, GDS,
/// add-TID, loads to LDS. LDS instructions of old processors read their limit from M0, but that needs no wait
/// state.
fn reads_m0(inst: &MachInst) -> bool {
    let row = inst.op.row();
    inst.implicit().contains(Implicit::READ_M0)
        || row.family == Family::Ds && inst.mods.flags.contains(ModFlags::GDS)
        || inst
            .operands()
            .iter()
            .any(|operand| matches!(operand, Operand::Reg(range) if range.first == Reg::LDS_DIRECT))
}

/// Returns the instructions to insert before the instruction `before` so that a hazard is mitigated. `insert`
/// says how.
pub(crate) fn inserted(target: &Target, insert: Insert, before: &MachInst) -> [Option<MachInst>; 2] {
    let wait = |counter: Counter| {
        let mut counts = isa::Counts::NONE;
        counts.demand(counter, 0);
        target.wait_instructions().iter().find_map(|wait| wait.inst(target, counts))
    };
    let mask = Operand::regs(Reg::VCC, target.mask_dwords());
    let move_vcc = MachInst::new(op::S_MOV_B64, &[mask, mask]);
    match insert {
        Insert::Depctr(mask) => {
            [Some(MachInst::new(op::S_WAITCNT_DEPCTR, &[Operand::Imm(mask.into())])), None]
        }
        Insert::MoveNull => {
            [Some(MachInst::new(op::S_MOV_B32, &[Operand::reg(NULL), Operand::Inline(128)])), None]
        }
        Insert::MoveOwn => {
            let own = before.ops[0];
            let inst = MachInst::new(op::V_MOV_B32, &[own, own]);
            [Some(MachInst { form: Form::E32, ..inst }), None]
        }
        Insert::WaitVs => [wait(Counter::Vs), None],
        Insert::MoveVcc => [Some(move_vcc), None],
        Insert::WaitAndMoveVcc => [wait(Counter::Lgkm), Some(move_vcc)],
        Insert::Nop => [Some(MachInst::new(op::S_NOP, &[Operand::Imm(0)])), None],
    }
}

/// Returns the largest operand of `s_nop`.
pub(crate) fn longest_nop(target: &Target) -> u8 {
    target.arch.hazards.longest_nop
}

/// Returns the number of wait states that an instruction provides.
#[inline]
pub fn states(target: &Target, inst: &MachInst) -> u8 {
    match (inst.op, inst.ops[0]) {
        (op::S_NOP, Operand::Imm(count)) => (count as u8 & longest_nop(target)) + 1,
        _ if inst.op.family() == Family::Pseudo => 0,
        _ => 1,
    }
}

/// Returns the label operand of an instruction. `None` if instructions with this opcode have no such operand.
/// An instruction with a label may leave the block.
pub(crate) fn label(inst: &MachInst) -> Option<Operand> {
    let specs = inst.op.row().ops;
    let index = specs.iter().position(|spec| spec.kind == Kind::Label)?;
    inst.operands().get(index).copied()
}
