//! Hazards that wait states mitigate, as data. A hazard is a pair of instructions that give a wrong result if
//! they follow each other too closely, because the hardware does not wait by itself.
//!
//! Wait states between the two instructions mitigate the hazard. An instruction provides one wait state, and
//! `s_nop n` provides `n + 1`. The hazards of GFX10 that wait states do not mitigate are in [`crate::rdna`].
//! Instructions that are wrong in every context are in [`crate::illegal_insts`].
//!
//! # Source
//! Each row names its source. Usually it is the chapter "Manually Inserted Wait States (NOPs)" of the manual
//! (SI: Southern Islands ISA 4.5; CI: Sea Islands ISA 4.5; GCN3 ISA 4.5; Vega ISA 4.5; MI100, MI200 and MI300
//! ISA 4.5). Where no manual has the hazard, or the manual's wording is ambiguous, the row has the number
//! with which LLVM 19 pads (`llvm`); `tests/hazards.rs` compares each row with LLVM.
//!
//! # Absent on purpose
//! * "mixed use of VCC: alias and SGPR number", because `vcc` has one name in a decoded instruction;
//! * rows for GFX6 and GFX7 of SGPRs that VALU writes and VMEM reads (SI, CI: 5), and of M0. LLVM does not
//!   pad there, and much code would be reported; the manuals of later generations say to which processors
//!   these hazards apply.

use crate::effects::{ANYTHING, Effects, Kinds, VSKIP, hw_reg};
use crate::finding::Level;
use crate::mai::MaiKind;
use crate::regset::RegSet;
use isa::table::Family;
use isa::target::KnownHazards;
use isa::{Feature, Lane, MachInst, ModFlags, Operand, Reg, RegRange, SdwaSel, Target, op};

/// Role of the first instruction of a hazard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Producer {
    /// VALU writes a scalar register, VCC or EXEC.
    ValuScalar,
    /// VALU, other than a matrix instruction, writes a VGPR.
    ValuVector,
    /// VALU instruction writes a VGPR. Matrix instructions and dot products are excluded.
    PlainVector,
    /// SALU writes a scalar register.
    SaluScalar,
    /// Vector memory instruction stores more than 64 bits, and has not read them from its registers yet.
    WideStore,
    /// `s_setreg`.
    SetReg,
    /// The instruction is `s_setvskip`.
    SetVskip,
    /// Image instruction of GFX10 whose encoding needs a third dword or more for the address registers.
    LongNsa,
    /// Float atomic on memory.
    FpAtomic,
    /// Matrix instruction of 2 passes writes its result. The next two variants are for 8 and 16 passes.
    Mfma2,
    Mfma8,
    Mfma16,
    /// Matrix instruction on doubles for matrices of 4x4 writes its result. The next variant is for matrices
    /// of 16x16.
    Dgemm4,
    Dgemm16,
    /// Matrix instruction of 2 passes reads its third source, which is the addend. The next two variants are
    /// for 8 and 16 passes.
    Sum2,
    Sum8,
    Sum16,
    /// The instruction is `v_accvgpr_write_b32`.
    AccWrite,
    /// `v_accvgpr_read_b32` writes a VGPR.
    AccRead,
    /// A `v_accvgpr_*` instruction directly after a VALU instruction that writes a VGPR.
    AccAfterValu,
    /// Dot product writes its result.
    Dot,
    /// Matrix instruction on doubles.
    Dgemm,
    /// Matrix instruction on doubles directly after a VALU instruction that writes a VGPR.
    DgemmAfterValu,
    /// Transcendental VALU instruction writes a VGPR.
    Transcendental,
    /// VALU writes a part of a VGPR: SDWA that writes a byte or a half, or `op_sel` of the destination.
    PartOfVector,
}

/// Role of the second instruction of a hazard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Consumer {
    /// Vector memory reads a scalar register.
    VmemScalar,
    /// Vector memory depends on EXEC.
    VmemExec,
    /// Scalar memory reads a scalar register.
    SmemScalar,
    /// Scalar memory instruction with a buffer descriptor reads a scalar register.
    BufferSmemScalar,
    /// `v_readlane` or `v_writelane` reads the SGPR that selects the lane.
    LaneSelect,
    /// `v_div_fmas` reads VCC.
    DivFmas,
    /// DPP instruction reads its first source, a VGPR, from other lanes.
    DppVector,
    /// DPP instruction reads a VGPR in its own lane: its second source, or the old value of its destination.
    DppOwn,
    /// DPP instruction depends on EXEC.
    DppExec,
    /// VALU reads `vccz` or `execz` as data.
    ZeroFlag,
    /// `s_movrel`, interpolation or LDS add-tid reads M0.
    IndexM0,
    /// GDS, `s_sendmsg` or `s_ttracedata` reads M0.
    MessageM0,
    /// A load to LDS or `src_lds_direct` reads M0.
    LdsDmaM0,
    /// VALU writes a VGPR.
    ValuWrites,
    GetReg,
    SetRegAgain,
    /// Vector instruction, which the mode `vskip` would skip.
    Vector,
    /// Instruction that returns from an exception (`s_rfe`).
    Rfe,
    /// Buffer access whose offset has bit 1 or 2 set.
    OddBuffer,
    DenormMode,
    /// Matrix instruction or `v_accvgpr_write` reads a VGPR.
    MaiVgpr,
    /// Matrix instruction reads a VGPR or an accumulation VGPR.
    MaiVector,
    /// Matrix instruction depends on EXEC.
    MaiExec,
    /// Matrix instruction reads a factor.
    MfmaFactor,
    /// Matrix instruction reads its addend.
    MfmaSum,
    /// Matrix instruction on doubles reads its addend.
    DgemmSum,
    /// `v_accvgpr_read` reads its source.
    AccReads,
    /// `v_accvgpr_write` writes its destination.
    AccWrites,
    /// Vector memory or LDS reads a VGPR.
    MemoryVector,
    /// Vector memory, LDS or export reads a VGPR.
    MemoryOrExportVector,
    /// VALU, other than a matrix instruction, reads a VGPR.
    ValuVector,
    /// VALU, vector memory, LDS or export writes a VGPR.
    Writes,
    /// VALU, vector memory, LDS or export reads a VGPR.
    Reads,
    /// Dot product reads a factor.
    DotFactor,
    /// The instruction is `v_fma_f64` or `v_fmac_f64`.
    Fma64,
    /// VALU reads a scalar register or VCC.
    ValuReadsScalar,
    /// `v_readlane` or `v_readfirstlane` reads a VGPR.
    ReadLane,
    /// `v_readlane`, `v_readfirstlane` or `v_writelane`, which need the new EXEC.
    LaneExec,
    /// VALU, other than a transcendental instruction, reads a VGPR.
    OrdinaryVector,
}

/// Returns the roles of a first instruction that are in a mask, as numbers of [`Producer`].
pub(crate) fn producers(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let number = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        (number < u64::BITS).then_some(number as usize)
    })
}

/// Condition of a hazard in addition to a common register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Always,
    /// The two instructions have different opcodes.
    OtherOperation,
    /// The two instructions have the same opcode.
    SameOperation,
    /// The hazard exists if the first instruction's result is not in exactly the registers of the second
    /// instruction's addend.
    OtherTuple,
    /// The hazard exists if the first instruction's result is in exactly the registers of the second
    /// instruction's addend, and both instructions have the same opcode.
    SameTupleAndOperation,
}

/// A row of the table, which is a hazard on some processors.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Short name that identifies the rule.
    pub id: &'static str,
    /// Name of the rule for messages.
    pub name: &'static str,
    /// Role of the first instruction.
    pub first: Producer,
    /// Role of the second instruction. The hazard exists only if the second instruction accesses, in this
    /// role, a register that the first instruction accesses in its role.
    pub second: Consumer,
    /// Number of wait states that must be between the two instructions.
    pub states: u8,
    pub(crate) when: When,
    /// Processors that have the hazard.
    pub processors: Processors,
    /// Document from which the row comes.
    pub source: &'static str,
    /// How certain a finding is.
    pub level: Level,
}

/// The processors that have a hazard.
#[derive(Clone, Copy, Debug)]
pub struct Processors {
    /// The hazard that a processor must have to be in the set.
    hazard: KnownHazards,
    /// Features that a processor needs, too.
    requires: Feature,
}

impl Processors {
    /// Returns whether a processor is in the set.
    pub fn contains(&self, target: &Target) -> bool {
        target.arch.checks.hazards.contains(self.hazard) && target.has(self.requires)
    }
}

/// Returns the processors whose families have a hazard.
pub(crate) const fn having(hazard: KnownHazards) -> Processors {
    Processors { hazard, requires: Feature::empty() }
}

/// Returns the processors that have a feature.
pub(crate) const fn with_feature(requires: Feature) -> Processors {
    Processors { hazard: KnownHazards::empty(), requires }
}

/// All processors.
pub(crate) const ALL: Processors = having(KnownHazards::empty());
/// Processors with matrix instructions whose accumulation registers are a register file of their own.
const OWN_FILE: Processors = Processors { hazard: KnownHazards::MATRIX_OWN_FILE, requires: Feature::MAI };
/// Processors with matrix instructions whose accumulation registers are in the same register file as VGPRs.
const UNIFIED_FILE: Processors = having(KnownHazards::MATRIX_UNIFIED_FILE);
/// Processors that do not keep the results of dot products apart from other instructions.
const DOT_RESULT: Processors = having(KnownHazards::DOT_RESULT);
/// Processors that do not keep all results of VALU instructions apart from later VALU instructions.
const VALU_RESULT: Processors = having(KnownHazards::VALU_RESULT);

const fn rule(
    id: &'static str,
    name: &'static str,
    first: Producer,
    second: Consumer,
    states: u8,
    processors: Processors,
    source: &'static str,
) -> Rule {
    Rule { id, name, first, second, states, when: When::Always, processors, source, level: Level::Certain }
}

const fn with_condition(rule: Rule, when: When) -> Rule {
    Rule { when, ..rule }
}

/// Returns the rule with the level "by the manual", because code that has been in use for years does not obey
/// it.
const fn manual(rule: Rule) -> Rule {
    Rule { level: Level::Manual, ..rule }
}

use Consumer as C;
use KnownHazards as H;
use Producer as P;

/// All rows.
#[rustfmt::skip]
pub static RULES: &[Rule] = &[
    rule("valu-sgpr-smem", "VALU writes SGPR, SMEM reads it", P::ValuScalar, C::SmemScalar, 4, having(H::VALU_SGPR_SMEM), "SI; llvm"),
    manual(rule("salu-sgpr-buffer-smem", "SALU writes SGPR, s_buffer_load reads it", P::SaluScalar, C::BufferSmemScalar, 4, having(H::SALU_SGPR_BUFFER_SMEM), "llvm: undocumented, the number is a guess that holds")),
    rule("valu-sgpr-vmem", "VALU writes SGPR, VMEM reads it", P::ValuScalar, C::VmemScalar, 5, having(H::VALU_SGPR_VMEM), "GCN3; Vega"),
    manual(rule("valu-exec-vmem", "VALU writes EXEC, VMEM obeys it", P::ValuScalar, C::VmemExec, 5, having(H::VALU_EXEC_VMEM), "GCN3; Vega: EXEC taken for an SGPR")),
    rule("valu-sgpr-lane", "VALU writes SGPR, lane select reads it", P::ValuScalar, C::LaneSelect, 4, having(H::VALU_SGPR_LANE), "SI; CI; GCN3; Vega"),
    rule("valu-vcc-div-fmas", "VALU writes VCC, v_div_fmas reads it", P::ValuScalar, C::DivFmas, 4, having(H::VALU_VCC_DIV_FMAS), "SI; CI; GCN3; Vega"),
    rule("valu-zero-flag", "VALU writes VCC or EXEC, VALU reads vccz or execz", P::ValuScalar, C::ZeroFlag, 5, having(H::VALU_ZERO_FLAG), "SI; CI; GCN3; Vega"),
    rule("valu-vgpr-dpp", "VALU writes VGPR, DPP reads it from other lanes", P::ValuVector, C::DppVector, 2, having(H::VALU_VGPR_DPP), "GCN3; Vega"),
    manual(rule("valu-vgpr-dpp-own", "VALU writes VGPR, DPP reads it in its own lane", P::ValuVector, C::DppOwn, 2, having(H::VALU_VGPR_DPP), "GCN3; Vega: any source of the DPP instruction")),
    rule("valu-exec-dpp", "VALU writes EXEC, DPP", P::ValuScalar, C::DppExec, 5, having(H::VALU_EXEC_DPP), "GCN3; Vega"),
    rule("salu-m0-index", "SALU writes M0, s_movrel, interpolation or LDS add-tid", P::SaluScalar, C::IndexM0, 1, having(H::SALU_M0_INDEX), "Vega"),
    rule("salu-m0-message", "SALU writes M0, GDS, s_sendmsg or s_ttracedata", P::SaluScalar, C::MessageM0, 1, having(H::SALU_M0_MESSAGE), "GCN3; Vega"),
    manual(rule("salu-m0-lds-dma", "SALU writes M0, load to LDS or lds_direct", P::SaluScalar, C::LdsDmaM0, 1, having(H::SALU_M0_LDS_DMA), "Vega")),
    rule("wide-store-data", "wide store, VALU overwrites its data", P::WideStore, C::ValuWrites, 1, having(H::WIDE_STORE_DATA), "CI; GCN3; Vega"),
    rule("wide-store-data", "wide store, VALU overwrites its data", P::WideStore, C::ValuWrites, 2, having(H::WIDE_STORE_DATA_TWO), "MI300; llvm"),
    rule("setreg-getreg", "s_setreg, s_getreg of the same register", P::SetReg, C::GetReg, 2, having(H::SETREG_GETREG), "SI; CI; GCN3; Vega"),
    rule("setreg-setreg", "s_setreg, s_setreg of the same register", P::SetReg, C::SetRegAgain, 1, having(H::SETREG_SETREG_ONE), "SI; CI"),
    rule("setreg-setreg", "s_setreg, s_setreg of the same register", P::SetReg, C::SetRegAgain, 2, having(H::SETREG_SETREG_TWO), "GCN3; Vega"),
    rule("setreg-vskip", "s_setreg of vskip, vector instruction", P::SetReg, C::Vector, 2, having(H::SETREG_VSKIP), "SI; CI; GCN3; Vega"),
    rule("setvskip-getreg", "s_setvskip, s_getreg of MODE", P::SetVskip, C::GetReg, 2, having(H::SETVSKIP_GETREG), "SI; CI; GCN3; Vega"),
    rule("setreg-rfe", "s_setreg of TRAPSTS, s_rfe", P::SetReg, C::Rfe, 1, having(H::SETREG_RFE), "GCN3; Vega"),
    // gfx908.
    rule("valu-vgpr-mai", "VALU writes VGPR, matrix instruction or v_accvgpr_write reads it", P::ValuVector, C::MaiVgpr, 2, OWN_FILE, "MI100; llvm"),
    manual(rule("valu-exec-mai", "VALU writes EXEC, matrix instruction or v_accvgpr_write", P::ValuScalar, C::MaiExec, 4, OWN_FILE, "MI100; llvm")),
    with_condition(rule("mfma-sum-overlap", "matrix instruction writes, another adds to part of it", P::Mfma2, C::MfmaSum, 2, OWN_FILE, "MI100; llvm"), When::OtherTuple),
    with_condition(rule("mfma-sum-overlap", "matrix instruction writes, another adds to part of it", P::Mfma8, C::MfmaSum, 2, OWN_FILE, "MI100; llvm"), When::OtherTuple),
    with_condition(rule("mfma-sum-overlap", "matrix instruction writes, another adds to part of it", P::Mfma16, C::MfmaSum, 2, OWN_FILE, "MI100; llvm"), When::OtherTuple),
    rule("mfma-factor", "matrix instruction writes, another multiplies it", P::Mfma2, C::MfmaFactor, 4, OWN_FILE, "MI100; llvm"),
    rule("mfma-factor", "matrix instruction writes, another multiplies it", P::Mfma8, C::MfmaFactor, 4, OWN_FILE, "MI100; llvm"),
    rule("mfma-factor", "matrix instruction writes, another multiplies it", P::Mfma16, C::MfmaFactor, 4, OWN_FILE, "MI100; llvm"),
    rule("mfma-acc-read", "matrix instruction writes, v_accvgpr_read reads it", P::Mfma2, C::AccReads, 4, OWN_FILE, "MI100; llvm"),
    rule("mfma-acc-read", "matrix instruction writes, v_accvgpr_read reads it", P::Mfma8, C::AccReads, 10, OWN_FILE, "MI100; llvm"),
    rule("mfma-acc-read", "matrix instruction writes, v_accvgpr_read reads it", P::Mfma16, C::AccReads, 18, OWN_FILE, "MI100; llvm"),
    rule("mfma-acc-write", "matrix instruction writes, v_accvgpr_write overwrites it", P::Mfma2, C::AccWrites, 1, OWN_FILE, "MI100; llvm"),
    rule("mfma-acc-write", "matrix instruction writes, v_accvgpr_write overwrites it", P::Mfma8, C::AccWrites, 7, OWN_FILE, "MI100; llvm"),
    rule("mfma-acc-write", "matrix instruction writes, v_accvgpr_write overwrites it", P::Mfma16, C::AccWrites, 15, OWN_FILE, "MI100; llvm"),
    rule("mfma-sum-read-acc-write", "matrix instruction adds to it, v_accvgpr_write overwrites it", P::Sum8, C::AccWrites, 5, OWN_FILE, "MI100; llvm"),
    rule("mfma-sum-read-acc-write", "matrix instruction adds to it, v_accvgpr_write overwrites it", P::Sum16, C::AccWrites, 13, OWN_FILE, "MI100; llvm"),
    rule("acc-write-mfma-sum", "v_accvgpr_write, matrix instruction adds to it", P::AccWrite, C::MfmaSum, 1, OWN_FILE, "MI100; llvm"),
    rule("acc-write-mfma-factor", "v_accvgpr_write, matrix instruction multiplies it", P::AccWrite, C::MfmaFactor, 3, OWN_FILE, "MI100; llvm"),
    rule("acc-write-acc-read", "v_accvgpr_write, v_accvgpr_read", P::AccWrite, C::AccReads, 3, OWN_FILE, "MI100; llvm"),
    manual(rule("acc-read-memory", "v_accvgpr_read writes VGPR, memory instruction reads it", P::AccRead, C::MemoryVector, 2, OWN_FILE, "MI100; llvm")),
    manual(rule("valu-acc-memory", "VALU writes VGPR, v_accvgpr_*, memory instruction reads it", P::AccAfterValu, C::MemoryVector, 1, OWN_FILE, "MI100; llvm")),
    // gfx90a.
    manual(rule("valu-exec-mai", "VALU writes EXEC, matrix instruction", P::ValuScalar, C::MaiExec, 4, UNIFIED_FILE, "MI200; llvm")),
    rule("valu-vgpr-mai", "VALU writes VGPR, matrix instruction reads it", P::PlainVector, C::MaiVector, 2, UNIFIED_FILE, "MI200; llvm"),
    with_condition(rule("mfma-sum-overlap", "matrix instruction writes, another adds to part of it", P::Mfma2, C::MfmaSum, 2, UNIFIED_FILE, "MI200; llvm"), When::OtherTuple),
    with_condition(rule("mfma-sum-overlap", "matrix instruction writes, another adds to part of it", P::Mfma8, C::MfmaSum, 8, UNIFIED_FILE, "MI200; llvm"), When::OtherTuple),
    with_condition(rule("mfma-sum-overlap", "matrix instruction writes, another adds to part of it", P::Mfma16, C::MfmaSum, 16, UNIFIED_FILE, "MI200; llvm"), When::OtherTuple),
    with_condition(rule("mfma-dgemm-sum-overlap", "matrix instruction writes, one on doubles adds to part of it", P::Mfma2, C::DgemmSum, 3, UNIFIED_FILE, "MI200; llvm"), When::OtherTuple),
    with_condition(rule("mfma-dgemm-sum-overlap", "matrix instruction writes, one on doubles adds to part of it", P::Mfma8, C::DgemmSum, 9, UNIFIED_FILE, "MI200; llvm"), When::OtherTuple),
    with_condition(rule("mfma-dgemm-sum-overlap", "matrix instruction writes, one on doubles adds to part of it", P::Mfma16, C::DgemmSum, 17, UNIFIED_FILE, "MI200; llvm"), When::OtherTuple),
    with_condition(rule("dgemm-sum-overlap", "matrix instruction on doubles writes, another adds to part of it", P::Dgemm4, C::DgemmSum, 4, UNIFIED_FILE, "MI200; llvm"), When::OtherTuple),
    with_condition(rule("dgemm-sum-overlap", "matrix instruction on doubles writes, another adds to part of it", P::Dgemm16, C::DgemmSum, 9, UNIFIED_FILE, "MI200; llvm"), When::OtherTuple),
    with_condition(rule("dgemm-sum-same", "v_mfma_f64_4x4x4f64 writes, another adds to it", P::Dgemm4, C::DgemmSum, 4, UNIFIED_FILE, "MI200; llvm"), When::SameTupleAndOperation),
    rule("mfma-factor", "matrix instruction writes, another multiplies it", P::Mfma2, C::MfmaFactor, 5, UNIFIED_FILE, "MI200; llvm"),
    rule("mfma-factor", "matrix instruction writes, another multiplies it", P::Mfma8, C::MfmaFactor, 11, UNIFIED_FILE, "MI200; llvm"),
    rule("mfma-factor", "matrix instruction writes, another multiplies it", P::Mfma16, C::MfmaFactor, 19, UNIFIED_FILE, "MI200; llvm"),
    rule("dgemm-factor", "matrix instruction on doubles writes, another multiplies it", P::Dgemm4, C::MfmaFactor, 6, UNIFIED_FILE, "MI200; llvm"),
    rule("dgemm-factor", "matrix instruction on doubles writes, another multiplies it", P::Dgemm16, C::MfmaFactor, 11, UNIFIED_FILE, "MI200; llvm"),
    rule("mfma-read", "matrix instruction writes, VALU or memory instruction reads it", P::Mfma2, C::Reads, 5, UNIFIED_FILE, "MI200; llvm"),
    rule("mfma-read", "matrix instruction writes, VALU or memory instruction reads it", P::Mfma8, C::Reads, 11, UNIFIED_FILE, "MI200; llvm"),
    rule("mfma-read", "matrix instruction writes, VALU or memory instruction reads it", P::Mfma16, C::Reads, 19, UNIFIED_FILE, "MI200; llvm"),
    rule("dgemm-memory", "matrix instruction on doubles writes, memory instruction reads it", P::Dgemm4, C::MemoryOrExportVector, 9, UNIFIED_FILE, "MI200; llvm"),
    rule("dgemm-memory", "matrix instruction on doubles writes, memory instruction reads it", P::Dgemm16, C::MemoryOrExportVector, 18, UNIFIED_FILE, "MI200; llvm"),
    rule("dgemm-valu", "matrix instruction on doubles writes, VALU reads it", P::Dgemm4, C::ValuVector, 6, UNIFIED_FILE, "MI200; llvm"),
    rule("dgemm-valu", "matrix instruction on doubles writes, VALU reads it", P::Dgemm16, C::ValuVector, 11, UNIFIED_FILE, "MI200; llvm"),
    rule("mfma-write", "matrix instruction writes, another instruction overwrites it", P::Mfma2, C::Writes, 5, UNIFIED_FILE, "MI200; llvm"),
    rule("mfma-write", "matrix instruction writes, another instruction overwrites it", P::Mfma8, C::Writes, 11, UNIFIED_FILE, "MI200; llvm"),
    rule("mfma-write", "matrix instruction writes, another instruction overwrites it", P::Mfma16, C::Writes, 19, UNIFIED_FILE, "MI200; llvm"),
    rule("dgemm-write", "matrix instruction on doubles writes, another instruction overwrites it", P::Dgemm4, C::Writes, 6, UNIFIED_FILE, "MI200; llvm"),
    rule("dgemm-write", "matrix instruction on doubles writes, another instruction overwrites it", P::Dgemm16, C::Writes, 11, UNIFIED_FILE, "MI200; llvm"),
    rule("mfma-sum-read-write", "matrix instruction adds to it, another instruction overwrites it", P::Sum2, C::Writes, 1, UNIFIED_FILE, "MI200; llvm"),
    rule("mfma-sum-read-write", "matrix instruction adds to it, another instruction overwrites it", P::Sum8, C::Writes, 7, UNIFIED_FILE, "MI200; llvm"),
    rule("mfma-sum-read-write", "matrix instruction adds to it, another instruction overwrites it", P::Sum16, C::Writes, 15, UNIFIED_FILE, "MI200; llvm"),
    with_condition(rule("dot-read", "dot product writes, another kind of instruction reads it", P::Dot, C::Reads, 3, DOT_RESULT, "MI200; llvm"), When::OtherOperation),
    with_condition(rule("dot-factor", "dot product writes, the same kind multiplies it", P::Dot, C::DotFactor, 3, DOT_RESULT, "MI200; llvm"), When::SameOperation),
    with_condition(rule("dot-write", "dot product writes, another kind of instruction overwrites it", P::Dot, C::Writes, 3, DOT_RESULT, "MI200; llvm"), When::OtherOperation),
    rule("dgemm-fma64", "matrix instruction on doubles, v_fma_f64", P::Dgemm, C::Fma64, 2, UNIFIED_FILE, "MI200; llvm"),
    rule("valu-dgemm-memory", "VALU writes VGPR, matrix instruction on doubles, memory instruction reads it", P::DgemmAfterValu, C::MemoryVector, 1, UNIFIED_FILE, "llvm"),
    // gfx940.
    rule("valu-sgpr-valu", "VALU writes SGPR or VCC, VALU reads it", P::ValuScalar, C::ValuReadsScalar, 2, VALU_RESULT, "MI300; llvm"),
    rule("valu-vgpr-readlane", "VALU writes VGPR, v_readlane or v_readfirstlane reads it", P::ValuVector, C::ReadLane, 1, VALU_RESULT, "MI300; llvm"),
    rule("valu-exec-lane", "VALU writes EXEC, v_readlane, v_readfirstlane or v_writelane", P::ValuScalar, C::LaneExec, 4, VALU_RESULT, "MI300; llvm"),
    rule("trans-valu", "transcendental instruction writes VGPR, another VALU instruction reads it", P::Transcendental, C::OrdinaryVector, 1, VALU_RESULT, "MI300; llvm"),
    rule("part-valu", "VALU writes a part of a VGPR, VALU reads it", P::PartOfVector, C::ValuVector, 1, VALU_RESULT, "MI300; llvm"),
    // GFX10.
    rule("nsa-buffer", "image instruction with a scattered address, buffer access with a large offset", P::LongNsa, C::OddBuffer, 1, having(H::NSA_BUFFER), "llvm"),
    rule("fp-atomic-denorm", "float atomic, s_denorm_mode", P::FpAtomic, C::DenormMode, 3, having(H::FP_ATOMIC_DENORM), "llvm"),
];

const fn registers_from(reg: Reg, len: u8) -> RegRange {
    RegRange { first: reg, len }
}
const M0: RegRange = registers_from(Reg::M0, 1);

/// Returns the roles of an instruction as two masks: its roles as the first instruction of hazards (bits of
/// [`Producer`]), and its roles as the second instruction (bits of [`Consumer`]).
pub(crate) fn roles(target: &Target, effects: &Effects, inst: &MachInst) -> (u64, u64) {
    let (mut first, mut second) = (produces(effects, inst), consumes(target, effects, inst));
    if effects.kinds.contains(Kinds::VALU) && VALU_RESULT.contains(target) {
        let (produced, consumed) = valu_result_roles(effects, inst);
        (first, second) = (first | produced, second | consumed);
    }
    (first, second)
}

fn produces(effects: &Effects, inst: &MachInst) -> u64 {
    let kinds = effects.kinds;
    let mai = effects.mai;
    let valu = kinds.contains(Kinds::VALU);
    let plain = kinds.contains(Kinds::PLAIN_VALU);
    let scalar = effects.writes.intersects(&RegSet::SCALAR);
    let vector = effects.writes.intersects(&RegSet::VECTOR);
    let matrix = |passes| mai.kind == MaiKind::Mfma && mai.passes == passes;
    let mut bits = 0;
    let mut add = |producer: Producer, is: bool| bits |= u64::from(is) << producer as u32;
    add(P::ValuScalar, valu && scalar);
    add(P::ValuVector, plain && vector);
    add(P::PlainVector, plain && vector && mai.kind != MaiKind::Dot);
    add(P::SaluScalar, kinds.intersects(Kinds::SALU | Kinds::SOPP) && scalar);
    add(P::WideStore, effects.aux.len != 0 && kinds.intersects(Kinds::VMEM | Kinds::FLAT));
    add(P::SetReg, matches!(inst.op, op::S_SETREG_B32 | op::S_SETREG_IMM32_B32));
    add(P::SetVskip, inst.op == op::S_SETVSKIP);
    add(P::LongNsa, kinds.contains(Kinds::LONG_NSA));
    add(P::FpAtomic, kinds.contains(Kinds::FP_ATOMIC));
    add(P::Mfma2, matrix(2));
    add(P::Mfma8, matrix(8));
    add(P::Mfma16, matrix(16));
    add(P::Sum2, matrix(2));
    add(P::Sum8, matrix(8));
    add(P::Sum16, matrix(16));
    add(P::Dgemm4, mai.kind == MaiKind::Dgemm && mai.passes == 4);
    add(P::Dgemm16, mai.kind == MaiKind::Dgemm && mai.passes != 4);
    add(P::Dgemm, mai.kind == MaiKind::Dgemm);
    add(P::AccWrite, mai.kind == MaiKind::AccWrite);
    add(P::AccRead, mai.kind == MaiKind::AccRead);
    add(P::Dot, mai.kind == MaiKind::Dot);
    bits
}

fn consumes(target: &Target, effects: &Effects, inst: &MachInst) -> u64 {
    let row = inst.op.row();
    let (kinds, mai) = (effects.kinds, effects.mai);
    let valu = kinds.contains(Kinds::VALU);
    let plain = kinds.contains(Kinds::PLAIN_VALU);
    let vmem = kinds.intersects(Kinds::VMEM | Kinds::FLAT);
    let memory = vmem || kinds.contains(Kinds::DS);
    let memory_or_export = memory || kinds.contains(Kinds::EXPORT);
    let reads_vector = effects.reads.intersects(&RegSet::VECTOR);
    let writes_vector = effects.writes.intersects(&RegSet::VECTOR);
    let reads_m0 = effects.reads.contains(Reg::M0);
    let setreg = matches!(inst.op, op::S_SETREG_B32 | op::S_SETREG_IMM32_B32);
    let message = kinds.contains(Kinds::MESSAGE) || inst.op == op::S_TTRACEDATA || kinds.contains(Kinds::GDS);
    let acc_write = mai.kind == MaiKind::AccWrite && !target.has(Feature::UNIFIED_VGPRS);
    let lds_dma = vmem && (inst.mods.flags.contains(ModFlags::LDS) || inst.op == op::BUFFER_STORE_LDS_DWORD);
    let mut bits = 0;
    let mut add = |consumer: Consumer, is: bool| bits |= u64::from(is) << consumer as u32;
    add(C::VmemScalar, vmem);
    add(C::VmemExec, vmem);
    add(C::SmemScalar, kinds.contains(Kinds::SMEM));
    add(C::BufferSmemScalar, kinds.contains(Kinds::SMEM) && row.name.starts_with("s_buffer_load"));
    add(C::LaneSelect, kinds.contains(Kinds::LANE_SELECT));
    add(C::DivFmas, kinds.contains(Kinds::DIV_FMAS));
    add(C::DppVector, kinds.contains(Kinds::DPP));
    add(C::DppOwn, kinds.contains(Kinds::DPP));
    add(C::DppExec, kinds.contains(Kinds::DPP));
    add(C::ZeroFlag, valu && (effects.reads.contains(Reg::VCCZ) || effects.reads.contains(Reg::EXECZ)));
    add(C::IndexM0, kinds.contains(Kinds::M0_INDEX));
    add(C::MessageM0, message && (reads_m0 || kinds.contains(Kinds::GDS)));
    add(C::LdsDmaM0, lds_dma || effects.reads.contains(Reg::LDS_DIRECT));
    add(C::ValuWrites, valu && writes_vector);
    add(C::GetReg, inst.op == op::S_GETREG_B32);
    add(C::SetRegAgain, setreg);
    add(C::Vector, valu || memory_or_export);
    add(C::Rfe, matches!(inst.op, op::S_RFE_B64 | op::S_RFE_RESTORE_B64));
    add(C::OddBuffer, matches!(row.family, Family::Mubuf | Family::Mtbuf) && inst.mods.offset & 6 != 0);
    add(C::DenormMode, inst.op == op::S_DENORM_MODE);
    add(C::MaiVgpr, (mai.is_matrix() || acc_write) && reads_vector);
    add(C::MaiVector, (mai.is_matrix() || acc_write) && reads_vector);
    add(C::MaiExec, mai.is_matrix() || acc_write);
    add(C::MfmaFactor, mai.is_matrix());
    add(C::MfmaSum, mai.kind == MaiKind::Mfma);
    add(C::DgemmSum, mai.kind == MaiKind::Dgemm);
    add(C::AccReads, mai.kind == MaiKind::AccRead);
    add(C::AccWrites, mai.kind == MaiKind::AccWrite);
    add(C::MemoryVector, memory && reads_vector);
    add(C::MemoryOrExportVector, memory_or_export && reads_vector);
    add(C::ValuVector, plain && reads_vector);
    add(C::Reads, (plain || memory_or_export) && reads_vector);
    add(C::Writes, (plain || memory_or_export) && writes_vector);
    add(C::DotFactor, mai.kind == MaiKind::Dot);
    add(C::Fma64, mai.kind == MaiKind::Fma64);
    bits
}

/// Returns the roles of a VALU instruction in the hazards of VALU results, as [`roles`] does.
fn valu_result_roles(effects: &Effects, inst: &MachInst) -> (u64, u64) {
    let name = inst.op.row().name;
    let transcendental = TRANSCENDENTAL.iter().any(|start| name.starts_with(start));
    let part = match inst.mods.lane {
        Lane::Sdwa { dst, .. } => dst != SdwaSel::Dword && inst.op.family() != Family::Vopc,
        _ => inst.mods.op_sel & 8 != 0 && inst.op.family() != Family::Vop3p,
    };
    let reads_lane = matches!(inst.op, op::V_READLANE_B32 | op::V_READFIRSTLANE_B32);
    let reads_vector = effects.reads.intersects(&RegSet::VECTOR);
    let first =
        u64::from(transcendental) << P::Transcendental as u32 | u64::from(part) << P::PartOfVector as u32;
    let second = u64::from(effects.reads.intersects(&RegSet::SCALAR)) << C::ValuReadsScalar as u32
        | u64::from(reads_lane) << C::ReadLane as u32
        | u64::from(reads_lane || inst.op == op::V_WRITELANE_B32) << C::LaneExec as u32
        | u64::from(!transcendental && reads_vector) << C::OrdinaryVector as u32;
    (first, second)
}

/// Beginnings of the names of the instructions that run in the transcendental unit.
const TRANSCENDENTAL: [&str; 7] = ["v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_", "v_sin_", "v_cos_"];

/// Returns the registers that the first instruction of a hazard accesses in its role `producer`, and that the
/// second instruction must not access too early. For a role that consists of two instructions, `via` is the
/// instruction before the first one.
pub(crate) fn produced(producer: Producer, effects: &Effects, via: Option<&Effects>) -> RegSet {
    match producer {
        P::ValuScalar | P::SaluScalar => effects.writes.and(&RegSet::SCALAR),
        P::WideStore => RegSet::from_range(effects.aux),
        P::SetReg => effects.hw(),
        P::SetVskip => RegSet::from_range(hw_reg(1)),
        P::LongNsa | P::FpAtomic | P::Dgemm => RegSet::from_range(ANYTHING),
        P::Sum2 | P::Sum8 | P::Sum16 => RegSet::from_range(effects.mai.c),
        P::AccAfterValu | P::DgemmAfterValu => {
            via.map_or(RegSet::EMPTY, |via| via.writes.and(&RegSet::VECTOR))
        }
        _ => effects.writes.and(&RegSet::VECTOR),
    }
}

/// Returns the registers that the second instruction of a hazard accesses in its role `consumer`. The hazard
/// exists only if [`produced`] returns one of these registers for the first instruction.
pub(crate) fn consumed(consumer: Consumer, effects: &Effects) -> RegSet {
    let vector = |set: &RegSet| set.and(&RegSet::VECTOR);
    match consumer {
        C::VmemScalar | C::ValuReadsScalar => {
            effects.reads.and(&RegSet::SCALAR).without(&RegSet::from_range(registers_from(Reg::EXEC, 2)))
        }
        C::SmemScalar | C::BufferSmemScalar => effects.reads.and(&RegSet::SCALAR),
        C::LaneSelect => RegSet::from_range(effects.aux),
        C::DivFmas => RegSet::from_range(registers_from(Reg::VCC, 2)),
        C::VmemExec => effects.reads.and(&RegSet::from_range(registers_from(Reg::EXEC, 2))),
        C::DppExec | C::MaiExec | C::LaneExec => RegSet::from_range(registers_from(Reg::EXEC, 2)),
        C::ZeroFlag => {
            let mut set = RegSet::EMPTY;
            for (flag, mask) in [(Reg::VCCZ, Reg::VCC), (Reg::EXECZ, Reg::EXEC)] {
                if effects.reads.contains(flag) {
                    set.insert(registers_from(mask, 2));
                }
            }
            set
        }
        C::IndexM0 | C::MessageM0 | C::LdsDmaM0 => RegSet::from_range(M0),
        C::ValuWrites | C::Writes | C::AccWrites => vector(&effects.writes),
        C::GetReg | C::SetRegAgain => effects.hw(),
        C::Vector => RegSet::from_range(VSKIP),
        C::Rfe => RegSet::from_range(hw_reg(3)),
        C::OddBuffer | C::DenormMode | C::Fma64 => RegSet::from_range(ANYTHING),
        C::MfmaFactor | C::DotFactor => {
            let mut set = RegSet::from_range(effects.mai.a);
            set.insert(effects.mai.b);
            vector(&set)
        }
        C::MaiVgpr => effects.reads.and(&RegSet::VGPR),
        C::MfmaSum | C::DgemmSum => vector(&RegSet::from_range(effects.mai.c)),
        C::DppVector => vector(&RegSet::from_range(effects.aux)),
        C::DppOwn => vector(&effects.reads).without(&RegSet::from_range(effects.aux)),
        C::MaiVector
        | C::AccReads
        | C::MemoryVector
        | C::MemoryOrExportVector
        | C::ValuVector
        | C::Reads
        | C::ReadLane
        | C::OrdinaryVector => vector(&effects.reads),
    }
}

impl When {
    pub(crate) fn holds(self, first: &Effects, second: &Effects) -> bool {
        match self {
            When::Always => true,
            When::OtherOperation => first.op != second.op,
            When::SameOperation => first.op == second.op,
            When::OtherTuple => first.mai.dst != second.mai.c,
            When::SameTupleAndOperation => first.mai.dst == second.mai.c && first.op == second.op,
        }
    }
}

/// Returns whether the instruction directly after this vector memory store may overwrite the store's data too
/// early. Two sorts of stores are safe. Buffer stores with an SGPR as offset take one more cycle to issue.
/// Image stores have descriptors of 256 bits.
pub(crate) fn is_exposed_store(inst: &MachInst) -> bool {
    match inst.op.row().family {
        Family::Mubuf | Family::Mtbuf => {
            !matches!(inst.operands().last(), Some(Operand::Reg(range)) if range.first.0 < 128)
        }
        Family::Mimg => false,
        _ => true,
    }
}
