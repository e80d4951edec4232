//! Hazards as data: pairs of instructions that the hardware does not keep apart.
//!
//! Source: Vega ISA, chapter "Manually Inserted Wait States (NOPs)"; where its wording leaves a choice, the numbers LLVM
//! uses for GFX9, and `docs/memory-model.md` says which. A wait state is one issued instruction, or one of the `n + 1`
//! of an `s_nop n`.
//!
//! Rows of the manual that are absent on purpose:
//! * "mixed use of VCC: alias and SGPR number": `vcc` has one name here, so there is no alias to mix with;
//! * clauses of SMEM or VMEM under XNACK replay: code objects are marked as running without XNACK.

use crate::effects;
use isa::table::{Family, Flags, Implicit, Kind};
use isa::target::Generation;
use isa::{Form, MachInst, ModFlags, Operand, Reg, RegRange, Target, op};

/// What makes a register dangerous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Producer {
    /// A VALU instruction writes a scalar register, VCC or EXEC.
    ValuWritesScalar,
    /// A VALU instruction writes a VGPR.
    ValuWritesVgpr,
    /// A SALU instruction writes M0.
    SaluWritesM0,
    /// A vector memory instruction stores more than 64 bits, still to be fetched from its VGPRs.
    WideStore,
    /// `s_setreg` writes a hardware register.
    SetReg,
}

/// Who must not touch it too soon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consumer {
    /// A vector memory instruction reads a scalar register.
    VmemReadsScalar,
    /// `v_readlane`, `v_writelane` take their lane from it.
    LaneSelect,
    /// `v_div_fmas` reads VCC.
    DivFmas,
    /// A DPP instruction reads it: VGPRs and EXEC.
    Dpp,
    /// A VALU instruction reads `vccz` or `execz` as data.
    ZeroFlagAsData,
    /// An instruction that reads M0 by itself.
    ReadsM0,
    /// A VALU instruction overwrites it.
    ValuWrites,
    /// `s_getreg` or `s_setreg` of the same hardware register.
    HwRegAgain,
    /// A vector instruction while `vskip` may have changed.
    Vector,
    /// Return from an exception.
    Rfe,
}

/// A row.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Name, for notes and messages.
    pub name: &'static str,
    /// The first instruction.
    pub producer: Producer,
    /// The second; it concerns the same register.
    pub consumer: Consumer,
    /// Wait states between the two.
    pub states: u8,
}

/// The most wait states that any row asks for.
pub const MAX_STATES: u8 = 5;

const fn rule(name: &'static str, producer: Producer, consumer: Consumer, states: u8) -> Rule {
    assert!(states <= MAX_STATES);
    Rule { name, producer, consumer, states }
}

/// GFX9's rows.
static GFX9: [Rule; 11] = [
    rule("VALU writes SGPR, VMEM reads it", Producer::ValuWritesScalar, Consumer::VmemReadsScalar, 5),
    rule("VALU writes SGPR, lane select reads it", Producer::ValuWritesScalar, Consumer::LaneSelect, 4),
    rule("VALU writes VCC, v_div_fmas reads it", Producer::ValuWritesScalar, Consumer::DivFmas, 4),
    rule(
        "VALU writes VCC or EXEC, VALU reads vccz or execz",
        Producer::ValuWritesScalar,
        Consumer::ZeroFlagAsData,
        5,
    ),
    rule("VALU writes EXEC, DPP", Producer::ValuWritesScalar, Consumer::Dpp, 5),
    rule("VALU writes VGPR, DPP reads it", Producer::ValuWritesVgpr, Consumer::Dpp, 2),
    rule("SALU writes M0, user of M0", Producer::SaluWritesM0, Consumer::ReadsM0, 1),
    rule("wide store, VALU overwrites its data", Producer::WideStore, Consumer::ValuWrites, 1),
    rule("s_setreg, same register again", Producer::SetReg, Consumer::HwRegAgain, 2),
    rule("s_setreg of vskip, vector instruction", Producer::SetReg, Consumer::Vector, 2),
    rule("s_setreg of TRAPSTS, s_rfe", Producer::SetReg, Consumer::Rfe, 1),
];

/// The rows of a generation; only those that are compiled for have some.
pub fn rules(generation: Generation) -> &'static [Rule] {
    match generation {
        Generation::Gfx9 => &GFX9,
        Generation::Gfx6 | Generation::Gfx7 | Generation::Gfx8 | Generation::Gfx10 => &[],
    }
}

/// Hardware register `id` of `s_setreg`, as a pretended register behind all real ones.
const fn hw_reg(id: u16) -> RegRange {
    RegRange { first: Reg(1024 + id), len: 1 }
}
const HW_REG_MODE: u16 = 1;
const HW_REG_TRAPSTS: u16 = 3;
/// Stands for the bit `vskip` of MODE, number 28.
const VSKIP: RegRange = hw_reg(64);
const VSKIP_BIT: i32 = 28;

/// The fields of a `hwreg` operand: register, first bit, number of bits.
fn hwreg_fields(inst: &MachInst) -> Option<(u16, i32, i32)> {
    inst.operands().iter().find_map(|operand| match *operand {
        Operand::Imm(imm) => Some(((imm & 63) as u16, imm >> 6 & 31, (imm >> 11 & 31) + 1)),
        _ => None,
    })
}

fn is_setreg(inst: &MachInst) -> bool {
    inst.op == op::S_SETREG_B32 || inst.op == op::S_SETREG_IMM32_B32
}

/// Calls `f` with what an instruction makes dangerous, and as which producer. `vgprs`: whether VALU results count,
/// which only DPP asks for.
#[inline]
pub fn produced(target: &Target, inst: &MachInst, vgprs: bool, mut f: impl FnMut(Producer, RegRange)) {
    let row = inst.op.row();
    if row.is_valu() {
        effects::all(target, inst, |access| {
            if access.write && !access.range.first.is_vgpr() {
                f(Producer::ValuWritesScalar, access.range);
            } else if access.write && vgprs {
                f(Producer::ValuWritesVgpr, access.range);
            }
        });
    } else if row.is_salu() {
        if is_setreg(inst) {
            set_reg(inst, f);
        } else if inst.writes(target, M0) {
            f(Producer::SaluWritesM0, M0);
        }
    } else if row.is_vmem()
        && row.flags.intersects(Flags::STORE.union(Flags::ATOMIC))
        && !has_sgpr_offset(inst)
    {
        effects::explicit(inst, |access| {
            // Addresses are one or two dwords, so three and more are data.
            if access.read && access.range.first.is_vgpr() && access.range.len > 2 {
                f(Producer::WideStore, access.range);
            }
        });
    } else if row.implicit.contains(Implicit::WRITE_M0) {
        f(Producer::SaluWritesM0, M0);
    }
}

const M0: RegRange = RegRange { first: Reg::M0, len: 1 };

fn set_reg(inst: &MachInst, mut f: impl FnMut(Producer, RegRange)) {
    if let Some((id, first, bits)) = hwreg_fields(inst) {
        f(Producer::SetReg, hw_reg(id));
        if id == HW_REG_MODE && (first..first + bits).contains(&VSKIP_BIT) {
            f(Producer::SetReg, VSKIP);
        }
    }
}

/// A buffer store whose `soffset` is a register takes a cycle more to issue and is safe.
fn has_sgpr_offset(inst: &MachInst) -> bool {
    inst.op.row().family == Family::Mubuf
        && matches!(inst.operands().last(), Some(Operand::Reg(range)) if !range.first.is_vgpr())
}

/// Calls `f` with what an instruction touches as that consumer.
#[inline]
pub fn consumed(target: &Target, inst: &MachInst, consumer: Consumer, mut f: impl FnMut(RegRange)) {
    let row = inst.op.row();
    match consumer {
        Consumer::VmemReadsScalar if row.is_vmem() => effects::all(target, inst, |access| {
            if access.read && !access.range.first.is_vgpr() {
                f(access.range);
            }
        }),
        Consumer::LaneSelect if inst.op == op::V_READLANE_B32 || inst.op == op::V_WRITELANE_B32 => {
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
        Consumer::ZeroFlagAsData if row.is_valu() => {
            effects::explicit(inst, |access| match access.range.first {
                Reg::VCCZ => f(VCC),
                Reg::EXECZ => f(EXEC),
                _ => {}
            })
        }
        Consumer::ReadsM0 if reads_m0(inst) => f(M0),
        Consumer::ValuWrites if row.is_valu() => effects::explicit(inst, |access| {
            if access.write && access.range.first.is_vgpr() {
                f(access.range);
            }
        }),
        Consumer::HwRegAgain if is_setreg(inst) || inst.op == op::S_GETREG_B32 => {
            if let Some((id, _, _)) = hwreg_fields(inst) {
                f(hw_reg(id));
            }
        }
        Consumer::Vector if row.is_valu() || row.is_vmem() || row.family == Family::Ds => f(VSKIP),
        Consumer::Rfe if inst.op == op::S_RFE_B64 || inst.op == op::S_RFE_RESTORE_B64 => {
            f(hw_reg(HW_REG_TRAPSTS))
        }
        _ => {}
    }
}

const VCC: RegRange = RegRange { first: Reg::VCC, len: 2 };
const EXEC: RegRange = RegRange { first: Reg::EXEC, len: 2 };

/// Whether the instruction reads M0 without naming it: `s_movrel`, `s_sendmsg`, GDS, add-TID, loads to LDS.
fn reads_m0(inst: &MachInst) -> bool {
    let row = inst.op.row();
    inst.implicit().contains(Implicit::READ_M0)
        || row.family == Family::Ds && inst.mods.flags.contains(ModFlags::GDS)
}

/// Wait states that an instruction is worth.
#[inline]
pub fn states(inst: &MachInst) -> u8 {
    match (inst.op, inst.ops[0]) {
        (op::S_NOP, Operand::Imm(count)) => (count & 15) as u8 + 1,
        _ if inst.op.row().family == Family::Pseudo => 0,
        _ => 1,
    }
}

/// Whether any operand of a row may be a label: such an instruction may leave the block.
pub(crate) fn label(inst: &MachInst) -> Option<Operand> {
    let specs = inst.op.row().ops;
    let index = specs.iter().position(|spec| spec.kind == Kind::Label)?;
    inst.operands().get(index).copied()
}
