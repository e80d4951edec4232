//! Hazards as data: pairs of instructions that the hardware does not keep apart, and their mitigations.
//!
//! A rule consists of *detection*: the role of the first instruction ([`Producer`]), the role of the second
//! instruction ([`Consumer`]); and of *mitigation* ([`Mitigation`]): either wait states between the two
//! instructions, or an instruction, with the other instructions that mitigate the hazard as well
//! ([`Breaks`]). A wait state is one issued instruction, or one of the `n + 1` wait states of an `s_nop n`.
//! Which processors have a hazard, and how many wait states it requires, is a fact of the family:
//! [`isa::Hazards`], which also names the sources.
//!
//! # Absent on purpose
//! * "mixed use of VCC: alias and SGPR number": `vcc` has only one name here, so there is no alias to mix
//!   with;
//! * matrix instructions of gfx908 and gfx90a: no code here emits them, so they have no rows. On gfx90a a sum
//!   of products may be accumulated onto another of the same kind without waiting (CDNA 2 ISA, 4.5); this is
//!   not used, and any use waits. Moves from and to accumulation registers have rows. LLVM's last row of
//!   these applies to VGPRs that VALU has just written; the row here applies to any VGPR;
//! * instructions that are wrong at any place (a branch over 63 dwords on gfx101x), because no instruction
//!   between two others mitigates them.

mod detect;

use isa::table::Family;
use isa::{Feature, Hazard, Hazards, MachInst, Subtarget, UnknownFact};

pub(crate) use detect::{anything, breaks, inserted, label, longest_nop, marked, reads_vccz};
pub use detect::{consumed, produced, states};

/// Role of the first instruction of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Producer {
    /// A VALU instruction writes a scalar register, VCC or EXEC.
    ValuWritesScalar,
    /// A VALU instruction writes a VGPR.
    ValuWritesVgpr,
    /// A SALU instruction writes a scalar register.
    SaluWritesScalar,
    /// A SALU instruction writes M0.
    SaluWritesM0,
    /// A vector memory instruction stores more than 64 bits, which it still has to read from its VGPRs.
    WideStore,
    /// A sum of products (`v_dot*`) writes a VGPR.
    Dot,
    /// `v_accvgpr_write` writes an accumulation VGPR.
    WritesAgpr,
    /// `v_accvgpr_read` writes a VGPR.
    ReadsAgpr,
    /// `v_accvgpr_write` or `v_accvgpr_read`.
    MovesAgpr,
    /// A transcendental VALU instruction writes a VGPR.
    Transcendental,
    /// A VALU instruction writes a part of a VGPR: SDWA with a part as destination, or `op_sel` of the
    /// destination.
    WritesPart,
    /// `s_setreg` writes a hardware register.
    SetReg,
    /// `s_setvskip`.
    SetVskip,
    /// An image instruction whose address has at least three dwords in non-consecutive registers.
    LongImageAddress,
    /// A float atomic in memory.
    FloatAtomic,
    /// A vector memory or LDS instruction reads a scalar register some time after issue.
    MemoryReadsScalar,
    /// A scalar memory instruction reads a scalar register.
    SmemReadsScalar,
    /// An instruction other than VALU reads EXEC.
    ReadsExec,
    /// `v_cmpx`.
    Cmpx,
    /// An LDS instruction.
    Lds,
    /// A vector memory instruction other than flat.
    Vmem,
    /// An instruction writes half of VCC, after which `vccz` is not updated.
    HalfOfVcc,
    /// A scalar memory instruction, whose return corrupts `vccz`.
    Smem,
    /// A memory instruction of a clause reads registers, and may read them again in a replay.
    ClauseReads,
    /// A memory instruction of a clause returns a result.
    ClauseReturns,
    /// A memory instruction of a clause returns its result in a register from which it reads its address or
    /// data.
    ClauseOwn,
}

impl Producer {
    const COUNT: usize = Producer::ClauseOwn as usize + 1;
}

/// Role of the second instruction of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consumer {
    /// A vector memory instruction reads a scalar register.
    VmemReadsScalar,
    /// A scalar memory instruction reads a scalar register.
    SmemReadsScalar,
    /// A scalar memory instruction with a descriptor reads a scalar register.
    BufferSmemReadsScalar,
    /// `v_readlane` or `v_writelane` reads the lane number from the register.
    LaneSelect,
    /// `v_div_fmas` reads VCC.
    DivFmas,
    /// A DPP instruction reads the register: a VGPR or EXEC.
    Dpp,
    /// A VALU instruction reads a scalar register as an operand.
    ValuReadsScalar,
    /// `v_readlane` or `v_readfirstlane` reads a VGPR.
    ReadLane,
    /// `v_readlane`, `v_readfirstlane` or `v_writelane`, which must see the last EXEC.
    LaneAccess,
    /// A VALU instruction that is not transcendental reads a VGPR.
    OrdinaryValu,
    /// A VALU instruction reads a VGPR.
    ValuReadsVgpr,
    /// A VALU instruction reads `vccz` or `execz` as data.
    ZeroFlagAsData,
    /// An instruction that reads M0 implicitly.
    ReadsM0,
    /// A VALU instruction overwrites the register.
    ValuWrites,
    /// `v_accvgpr_write` reads a VGPR and EXEC.
    WritesAgpr,
    /// `v_accvgpr_read` reads an accumulation VGPR.
    ReadsAgpr,
    /// A memory or LDS instruction reads a VGPR.
    MemoryReadsVgpr,
    /// A memory or LDS instruction reads any VGPR.
    MemoryReadsAnyVgpr,
    /// Any instruction reads or overwrites a VGPR.
    TouchesVgpr,
    /// `s_getreg` of the same hardware register.
    GetReg,
    /// `s_setreg` of the same hardware register.
    SetRegAgain,
    /// A vector instruction, while `vskip` may have changed.
    Vector,
    /// Return from an exception.
    Rfe,
    /// A buffer access whose offset has bits 1 or 2 set.
    OddBuffer,
    /// `s_denorm_mode`.
    DenormMode,
    /// SALU or scalar memory writes a scalar register.
    ScalarWrite,
    /// VALU writes a scalar register.
    ValuWritesScalar,
    /// VALU writes EXEC.
    ValuWritesExec,
    /// `v_permlane`.
    Permlane,
    /// An LDS instruction.
    Lds,
    /// A vector memory instruction other than flat.
    Vmem,
    /// A branch on `vccz`, or an operand that is `vccz`.
    Vccz,
    /// A memory instruction of the same clause overwrites the register.
    ClauseWrites,
    /// A memory instruction of the same clause.
    ClauseMember,
    /// A memory instruction of the same clause that changes memory.
    ClauseStores,
    /// A memory instruction of the same clause that overwrites a register that it reads.
    ClauseOwn,
}

/// What mitigates a hazard apart from the instruction that the pass inserts for it: other instructions in the
/// code have the same effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breaks {
    /// A VALU instruction or `s_waitcnt 0`, after which all vector memory instructions have read their
    /// registers.
    MemoryHasRead,
    /// A SALU instruction, or a wait for `lgkmcnt(0)`.
    SmemHasRead,
    /// A VALU instruction writes a scalar register.
    ExecHasBeenRead,
    /// A VALU instruction other than `v_nop`.
    Valu,
    /// An LDS or vector memory instruction on either side of the branch, or a wait for `vscnt(0)`.
    OtherMemory,
    /// An instruction writes all of VCC.
    VccWritten,
    /// An instruction writes all of VCC while no scalar memory instruction is in flight.
    VccWrittenInPeace,
    /// An instruction that is not part of the clause.
    ClauseEnds,
}

/// An instruction that mitigates a hazard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Insert {
    /// `s_waitcnt_depctr` with a mask.
    Depctr(u16),
    /// `s_mov_b32 null, 0`.
    MoveNull,
    /// A `v_mov_b32` of a register to itself. The register is the destination of the second instruction,
    /// because no other operation with this register can be in flight.
    MoveOwn,
    /// `s_waitcnt_vscnt null, 0`.
    WaitVs,
    /// `s_mov_b64 vcc, vcc`.
    MoveVcc,
    /// `s_waitcnt lgkmcnt(0)`, then `s_mov_b64 vcc, vcc`.
    WaitAndMoveVcc,
    /// `s_nop 0`.
    Nop,
}

/// Mitigation of a hazard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mitigation {
    /// Wait states between the two instructions.
    States,
    /// An instruction. `branch` means that the hazard exists only if a branch is between the two
    /// instructions.
    Instruction {
        /// The instruction to insert.
        insert: Insert,
        /// Events that mitigate the hazard as well.
        breaks: Breaks,
        /// Whether the hazard requires a branch between the two instructions.
        branch: bool,
    },
}

/// A hazard rule.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The hazard.
    pub hazard: Hazard,
    /// Name for notes and messages.
    pub name: &'static str,
    /// Role of the first instruction.
    pub first: Producer,
    /// Role of the second instruction, which must concern the same register.
    pub second: Consumer,
    /// Mitigation.
    pub mitigation: Mitigation,
    /// Features without which no instruction can cause the hazard.
    requires: Feature,
    /// Whether the hazard exists only if memory instructions may be replayed (XNACK).
    replay: bool,
    /// Number of wait states on the processor for which [`Rules`] was created; [`Rules`] fills it in.
    pub states: u8,
}

/// Largest number of wait states of any rule.
pub const MAX_STATES: u8 = Hazards::MAX_STATES;

const fn timed(hazard: Hazard, name: &'static str, first: Producer, second: Consumer) -> Rule {
    let requires = Feature::empty();
    Rule { hazard, name, first, second, mitigation: Mitigation::States, requires, replay: false, states: 0 }
}

const fn mitigated_row(
    hazard: Hazard,
    name: &'static str,
    first: Producer,
    second: Consumer,
    insert: Insert,
    breaks: Breaks,
) -> Rule {
    let mitigation = Mitigation::Instruction { insert, breaks, branch: false };
    Rule { mitigation, ..timed(hazard, name, first, second) }
}

const fn across_branch(rule: Rule) -> Rule {
    match rule.mitigation {
        Mitigation::Instruction { insert, breaks, .. } => {
            Rule { mitigation: Mitigation::Instruction { insert, breaks, branch: true }, ..rule }
        }
        Mitigation::States => rule,
    }
}

/// Creates a rule for moves between VGPRs and accumulation VGPRs.
const fn acc_move(hazard: Hazard, name: &'static str, first: Producer, second: Consumer) -> Rule {
    Rule { requires: Feature::MAI, ..timed(hazard, name, first, second) }
}

/// Creates a rule for two instructions of a clause that may be replayed from its beginning.
const fn clause(hazard: Hazard, name: &'static str, first: Producer, second: Consumer) -> Rule {
    Rule { replay: true, ..mitigated_row(hazard, name, first, second, Insert::Nop, Breaks::ClauseEnds) }
}

use Consumer as C;
use Hazard as H;
use Producer as P;

/// All rules.
#[rustfmt::skip]
pub static RULES: [Rule; 40] = [
    timed(H::ValuSgprThenVmem, "VALU writes SGPR, VMEM reads it", P::ValuWritesScalar, C::VmemReadsScalar),
    timed(H::ValuSgprThenSmem, "VALU writes SGPR, SMEM reads it", P::ValuWritesScalar, C::SmemReadsScalar),
    timed(H::SaluSgprThenBufferSmem, "SALU writes SGPR, s_buffer_load reads it", P::SaluWritesScalar, C::BufferSmemReadsScalar),
    timed(H::ValuSgprThenLaneSelect, "VALU writes SGPR, lane select reads it", P::ValuWritesScalar, C::LaneSelect),
    timed(H::ValuVccThenDivFmas, "VALU writes VCC, v_div_fmas reads it", P::ValuWritesScalar, C::DivFmas),
    timed(H::ValuMaskThenZeroFlag, "VALU writes VCC or EXEC, VALU reads vccz or execz", P::ValuWritesScalar, C::ZeroFlagAsData),
    timed(H::ValuExecThenDpp, "VALU writes EXEC, DPP", P::ValuWritesScalar, C::Dpp),
    timed(H::ValuVgprThenDpp, "VALU writes VGPR, DPP reads it", P::ValuWritesVgpr, C::Dpp),
    timed(H::SaluM0ThenReader, "SALU writes M0, user of M0", P::SaluWritesM0, C::ReadsM0),
    timed(H::WideStoreThenValu, "wide store, VALU overwrites its data", P::WideStore, C::ValuWrites),
    acc_move(H::ValuVgprThenAccWrite, "VALU writes VGPR, v_accvgpr_write reads it", P::ValuWritesVgpr, C::WritesAgpr),
    acc_move(H::ValuExecThenAccWrite, "VALU writes EXEC, v_accvgpr_write", P::ValuWritesScalar, C::WritesAgpr),
    acc_move(H::AccWriteThenAccRead, "v_accvgpr_write, v_accvgpr_read of the same register", P::WritesAgpr, C::ReadsAgpr),
    acc_move(H::AccReadThenMemory, "v_accvgpr_read writes VGPR, memory instruction reads it", P::ReadsAgpr, C::MemoryReadsVgpr),
    acc_move(H::AccMoveThenMemory, "move from or to an accumulation VGPR, memory instruction reads VGPRs", P::MovesAgpr, C::MemoryReadsAnyVgpr),
    timed(H::DotThenVgpr, "sum of products writes VGPR, anything reads or overwrites it", P::Dot, C::TouchesVgpr),
    timed(H::ValuSgprThenValu, "VALU writes SGPR, VALU reads it", P::ValuWritesScalar, C::ValuReadsScalar),
    timed(H::ValuVgprThenReadLane, "VALU writes VGPR, v_readlane reads it", P::ValuWritesVgpr, C::ReadLane),
    timed(H::ValuExecThenLaneAccess, "VALU writes EXEC, v_readlane or v_writelane", P::ValuWritesScalar, C::LaneAccess),
    timed(H::TranscendentalThenValu, "transcendental instruction writes VGPR, VALU reads it", P::Transcendental, C::OrdinaryValu),
    timed(H::PartOfVgprThenValu, "VALU writes a part of a VGPR, VALU reads it", P::WritesPart, C::ValuReadsVgpr),
    timed(H::SetRegThenGetReg, "s_setreg, s_getreg of the same register", P::SetReg, C::GetReg),
    timed(H::SetRegTwice, "s_setreg, same register again", P::SetReg, C::SetRegAgain),
    timed(H::SetVskipThenGetReg, "s_setvskip, s_getreg of MODE", P::SetVskip, C::GetReg),
    timed(H::VskipThenVector, "s_setreg of vskip, vector instruction", P::SetReg, C::Vector),
    timed(H::TrapStatusThenRfe, "s_setreg of TRAPSTS, s_rfe", P::SetReg, C::Rfe),
    timed(H::ScatteredImageThenOddBuffer, "image of scattered address, buffer access with an odd offset", P::LongImageAddress, C::OddBuffer),
    timed(H::FloatAtomicThenDenormMode, "float atomic, s_denorm_mode", P::FloatAtomic, C::DenormMode),
    mitigated_row(H::HalfOfVccThenVccz, "half of VCC is written, vccz is read", P::HalfOfVcc, C::Vccz, Insert::MoveVcc, Breaks::VccWritten),
    mitigated_row(H::SmemThenVccz, "SMEM, vccz is read", P::Smem, C::Vccz, Insert::WaitAndMoveVcc, Breaks::VccWrittenInPeace),
    clause(H::ReplayedClauseOverwritesSource, "clause that may be replayed, its source is overwritten", P::ClauseReads, C::ClauseWrites),
    clause(H::OwnSourceThenReplayedClause, "load that overwrote its source, clause that may be replayed", P::ClauseOwn, C::ClauseMember),
    clause(H::ReplayedClauseThenOwnSource, "clause that may be replayed, load that overwrites its source", P::ClauseReturns, C::ClauseOwn),
    clause(H::ReplayedLoadThenStore, "load in a clause that may be replayed, store", P::ClauseReturns, C::ClauseStores),
    mitigated_row(H::MemorySgprOverwritten, "memory instruction reads SGPR, scalar instruction overwrites it", P::MemoryReadsScalar, C::ScalarWrite, Insert::Depctr(0xffe3), Breaks::MemoryHasRead),
    mitigated_row(H::SmemSgprOverwritten, "SMEM reads SGPR, VALU overwrites it", P::SmemReadsScalar, C::ValuWritesScalar, Insert::MoveNull, Breaks::SmemHasRead),
    mitigated_row(H::ExecOverwritten, "EXEC is read, VALU overwrites it", P::ReadsExec, C::ValuWritesExec, Insert::Depctr(0xfffe), Breaks::ExecHasBeenRead),
    mitigated_row(H::CmpxThenPermlane, "v_cmpx, v_permlane", P::Cmpx, C::Permlane, Insert::MoveOwn, Breaks::Valu),
    across_branch(mitigated_row(H::LdsBranchVmem, "LDS, branch, vector memory", P::Lds, C::Vmem, Insert::WaitVs, Breaks::OtherMemory)),
    across_branch(mitigated_row(H::VmemBranchLds, "vector memory, branch, LDS", P::Vmem, C::Lds, Insert::WaitVs, Breaks::OtherMemory)),
];

/// The rules that apply to a processor, with its numbers of wait states.
#[derive(Clone, Debug)]
pub struct Rules {
    rows: Vec<Rule>,
    /// Number of rules whose mitigation is wait states; they come first.
    timed: usize,
    /// Rules with wait states for each [`Producer`], as bits.
    timed_by: [u32; Producer::COUNT],
    /// Whether vector memory instructions form clauses too.
    vector_clauses: bool,
}

impl Rules {
    /// Returns the rules of a subtarget.
    pub(crate) fn for_subtarget(subtarget: &Subtarget) -> Result<Rules, UnknownFact> {
        let hazards = subtarget.arch.hazards.get(subtarget)?;
        let own = RULES.iter().map(|rule| Rule { states: hazards.states(rule.hazard), ..*rule });
        let has = |rule: &Rule| {
            rule.states > 0 && subtarget.has(rule.requires) && (!rule.replay || subtarget.xnack.may_be_on())
        };
        let mut rows: Vec<Rule> = own.filter(has).collect();
        rows.sort_by_key(|rule| rule.mitigation != Mitigation::States);
        let timed = rows.iter().filter(|rule| rule.mitigation == Mitigation::States).count();
        let mut timed_by = [0; Producer::COUNT];
        for (index, rule) in rows[..timed].iter().enumerate() {
            timed_by[rule.first as usize] |= 1 << index;
        }
        Ok(Rules { rows, timed, timed_by, vector_clauses: hazards.vector_clauses })
    }

    /// Returns all rules.
    pub fn rows(&self) -> &[Rule] {
        &self.rows
    }

    /// Returns the rules whose mitigation is wait states.
    pub fn timed(&self) -> &[Rule] {
        &self.rows[..self.timed]
    }

    /// Returns the rules whose mitigation is an instruction.
    pub fn mitigated_rules(&self) -> &[Rule] {
        &self.rows[self.timed..]
    }

    /// Returns whether the given producer is the first instruction of a rule that wait states mitigate.
    #[inline]
    pub(crate) fn counts(&self, first: Producer) -> bool {
        self.timed_by[first as usize] != 0
    }

    /// Returns the indices of the rules in [`Rules::timed`] with this producer as first instruction.
    #[inline]
    pub(crate) fn timed_by(&self, first: Producer) -> impl Iterator<Item = usize> + use<> {
        let rules = self.timed_by[first as usize];
        let rests = std::iter::successors(Some(rules), |rest| Some(rest & rest.wrapping_sub(1)));
        rests.take_while(|&rest| rest != 0).map(|rest| rest.trailing_zeros() as usize)
    }

    /// Returns the kind of clause of which an instruction may be part, as a bit: 1 for scalar memory, 2 for
    /// vector memory, 0 for none.
    pub(crate) fn clause(&self, inst: &MachInst) -> u8 {
        let row = inst.op.row();
        match row.family {
            Family::Smem => 1,
            _ if row.is_vmem() && self.vector_clauses => 2,
            _ => 0,
        }
    }
}

impl Rule {
    /// Returns whether the hazard requires a branch between the two instructions.
    pub(crate) fn needs_branch(&self) -> bool {
        matches!(self.mitigation, Mitigation::Instruction { branch: true, .. })
    }
}
