//! Hazards as data: pairs of instructions that the hardware does not keep apart, and their mitigations.
//!
//! A rule consists of *detection*: the role of the first instruction ([`Producer`]), the role of the second
//! instruction ([`Consumer`]), and the processors that have the hazard; and of *mitigation* ([`Mitigation`]):
//! either a number of wait states between the two instructions, with a column per generation, or an
//! instruction, with the other instructions that mitigate the hazard as well ([`Breaks`]). A wait state is
//! one issued instruction, or one of the `n + 1` wait states of an `s_nop n`.
//!
//! # Source
//! The chapters "Manually Inserted Wait States (NOPs)" of the manuals: Southern Islands, Sea Islands, GCN3,
//! Vega ISA. Where the wording is ambiguous, the numbers are those that LLVM uses, as noted in
//! `docs/memory-model.md`. The hazards of RDNA are in no manual; they are inferred from what LLVM inserts on
//! gfx1010 to gfx1013.
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

use crate::MissingTable;
use isa::table::Family;
use isa::target::Generation;
use isa::{Feature, MachInst, Subtarget};

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

/// Events other than the inserted instruction that mitigate a hazard.
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
    /// `v_mov_b32` of the second instruction's own destination to itself. This register is safe, because no
    /// other operation with it is in flight.
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
    /// Name for notes and messages.
    pub name: &'static str,
    /// Role of the first instruction.
    pub first: Producer,
    /// Role of the second instruction, which must concern the same register.
    pub second: Consumer,
    /// Mitigation.
    pub mitigation: Mitigation,
    /// Number of wait states between the two instructions, by generation; 0 if the generation does not have
    /// the hazard. If an instruction mitigates the hazard, 1 stands for "has the hazard".
    columns: [u8; Generation::COUNT],
    requires: Feature,
    lacks: Feature,
    /// Whether the hazard exists only if memory instructions may be replayed (XNACK).
    replay: bool,
    /// Number of wait states on the processor for which [`Rules`] was created; [`Rules`] fills it in.
    pub states: u8,
}

/// Largest number of wait states of any rule.
pub const MAX_STATES: u8 = 5;

const fn timed(
    name: &'static str,
    first: Producer,
    second: Consumer,
    columns: [u8; Generation::COUNT],
) -> Rule {
    let mut column = 0;
    while column < columns.len() {
        assert!(columns[column] <= MAX_STATES);
        column += 1;
    }
    let (requires, lacks) = (Feature::empty(), Feature::empty());
    Rule {
        name,
        first,
        second,
        mitigation: Mitigation::States,
        columns,
        requires,
        lacks,
        replay: false,
        states: 0,
    }
}

const fn mitigated_row(
    name: &'static str,
    first: Producer,
    second: Consumer,
    insert: Insert,
    breaks: Breaks,
    columns: [u8; Generation::COUNT],
) -> Rule {
    let mitigation = Mitigation::Instruction { insert, breaks, branch: false };
    Rule { mitigation, ..timed(name, first, second, columns) }
}

const fn lacking(rule: Rule, lacks: Feature) -> Rule {
    Rule { lacks, ..rule }
}

const fn across_branch(rule: Rule) -> Rule {
    match rule.mitigation {
        Mitigation::Instruction { insert, breaks, .. } => {
            Rule { mitigation: Mitigation::Instruction { insert, breaks, branch: true }, ..rule }
        }
        Mitigation::States => rule,
    }
}

/// Creates a rule for moves between VGPRs and accumulation VGPRs on processors where these are separate
/// register files.
const fn gfx908(name: &'static str, first: Producer, second: Consumer, states: u8) -> Rule {
    let rule = timed(name, first, second, [0, 0, 0, states, 0]);
    Rule { requires: Feature::MAI, lacks: Feature::GFX90A, ..rule }
}

/// Creates a rule for two instructions of a clause that may be replayed from its beginning.
const fn clause(name: &'static str, first: Producer, second: Consumer) -> Rule {
    Rule {
        replay: true,
        ..mitigated_row(name, first, second, Insert::Nop, Breaks::ClauseEnds, [0, 0, 1, 1, 1])
    }
}

const RDNA1: [u8; Generation::COUNT] = [0, 0, 0, 0, 1];

use Consumer as C;
use Feature as F;
use Producer as P;

/// All rules. The five numbers of a row are wait states on GFX6, GFX7, GFX8, GFX9 and GFX10.
#[rustfmt::skip]
pub static RULES: [Rule; 35] = [
    timed("VALU writes SGPR, VMEM reads it", P::ValuWritesScalar, C::VmemReadsScalar, [5, 5, 5, 5, 0]),
    timed("VALU writes SGPR, SMEM reads it", P::ValuWritesScalar, C::SmemReadsScalar, [4, 0, 0, 0, 0]),
    timed("SALU writes SGPR, s_buffer_load reads it", P::SaluWritesScalar, C::BufferSmemReadsScalar, [4, 0, 0, 0, 0]),
    timed("VALU writes SGPR, lane select reads it", P::ValuWritesScalar, C::LaneSelect, [4, 4, 4, 4, 0]),
    timed("VALU writes VCC, v_div_fmas reads it", P::ValuWritesScalar, C::DivFmas, [4, 4, 4, 4, 0]),
    timed("VALU writes VCC or EXEC, VALU reads vccz or execz", P::ValuWritesScalar, C::ZeroFlagAsData, [5, 5, 5, 5, 0]),
    timed("VALU writes EXEC, DPP", P::ValuWritesScalar, C::Dpp, [0, 0, 5, 5, 0]),
    timed("VALU writes VGPR, DPP reads it", P::ValuWritesVgpr, C::Dpp, [0, 0, 2, 2, 0]),
    timed("SALU writes M0, user of M0", P::SaluWritesM0, C::ReadsM0, [1, 1, 1, 1, 0]),
    timed("wide store, VALU overwrites its data", P::WideStore, C::ValuWrites, [0, 1, 1, 1, 0]),
    gfx908("VALU writes VGPR, v_accvgpr_write reads it", P::ValuWritesVgpr, C::WritesAgpr, 2),
    gfx908("VALU writes EXEC, v_accvgpr_write", P::ValuWritesScalar, C::WritesAgpr, 4),
    gfx908("v_accvgpr_write, v_accvgpr_read of the same register", P::WritesAgpr, C::ReadsAgpr, 3),
    gfx908("v_accvgpr_read writes VGPR, memory instruction reads it", P::ReadsAgpr, C::MemoryReadsVgpr, 2),
    gfx908("move from or to an accumulation VGPR, memory instruction reads VGPRs", P::MovesAgpr, C::MemoryReadsAnyVgpr, 1),
    Rule { requires: F::GFX90A, ..timed("sum of products of gfx90a writes VGPR, anything reads or overwrites it", P::Dot, C::TouchesVgpr, [0, 0, 0, 3, 0]) },
    timed("s_setreg, s_getreg of the same register", P::SetReg, C::GetReg, [2, 2, 2, 2, 0]),
    timed("s_setreg, same register again", P::SetReg, C::SetRegAgain, [1, 1, 2, 2, 0]),
    timed("s_setvskip, s_getreg of MODE", P::SetVskip, C::GetReg, [2, 2, 2, 2, 0]),
    timed("s_setreg of vskip, vector instruction", P::SetReg, C::Vector, [2, 2, 2, 2, 0]),
    timed("s_setreg of TRAPSTS, s_rfe", P::SetReg, C::Rfe, [0, 0, 1, 1, 0]),
    lacking(timed("image of scattered address, buffer access with an odd offset", P::LongImageAddress, C::OddBuffer, RDNA1), F::GFX10_3),
    timed("float atomic, s_denorm_mode", P::FloatAtomic, C::DenormMode, [0, 0, 0, 0, 3]),
    mitigated_row("half of VCC is written, vccz is read", P::HalfOfVcc, C::Vccz, Insert::MoveVcc, Breaks::VccWritten, [1, 1, 1, 1, 0]),
    mitigated_row("SMEM, vccz is read", P::Smem, C::Vccz, Insert::WaitAndMoveVcc, Breaks::VccWrittenInPeace, [1, 1, 0, 0, 0]),
    clause("clause that may be replayed, its source is overwritten", P::ClauseReads, C::ClauseWrites),
    clause("load that overwrote its source, clause that may be replayed", P::ClauseOwn, C::ClauseMember),
    clause("clause that may be replayed, load that overwrites its source", P::ClauseReturns, C::ClauseOwn),
    clause("load in a clause that may be replayed, store", P::ClauseReturns, C::ClauseStores),
    lacking(mitigated_row("memory instruction reads SGPR, scalar instruction overwrites it", P::MemoryReadsScalar, C::ScalarWrite, Insert::Depctr(0xffe3), Breaks::MemoryHasRead, RDNA1), F::GFX10_3),
    lacking(mitigated_row("SMEM reads SGPR, VALU overwrites it", P::SmemReadsScalar, C::ValuWritesScalar, Insert::MoveNull, Breaks::SmemHasRead, RDNA1), F::GFX10_3),
    lacking(mitigated_row("EXEC is read, VALU overwrites it", P::ReadsExec, C::ValuWritesExec, Insert::Depctr(0xfffe), Breaks::ExecHasBeenRead, RDNA1), F::GFX10_3),
    lacking(mitigated_row("v_cmpx, v_permlane", P::Cmpx, C::Permlane, Insert::MoveOwn, Breaks::Valu, RDNA1), F::GFX10_3),
    lacking(across_branch(mitigated_row("LDS, branch, vector memory", P::Lds, C::Vmem, Insert::WaitVs, Breaks::OtherMemory, RDNA1)), F::GFX10_3),
    lacking(across_branch(mitigated_row("vector memory, branch, LDS", P::Vmem, C::Lds, Insert::WaitVs, Breaks::OtherMemory, RDNA1)), F::GFX10_3),
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

/// Generations whose columns of [`RULES`] are filled in.
const KNOWN: [bool; Generation::COUNT] = [true; Generation::COUNT];
/// Generations whose vector memory instructions form clauses that may be replayed.
const VECTOR_CLAUSES: [bool; Generation::COUNT] = [false, false, true, true, false];

impl Rules {
    /// Returns the rules of a subtarget.
    pub(crate) fn for_subtarget(subtarget: &Subtarget) -> Result<Rules, MissingTable> {
        let generation = subtarget.generation as usize;
        if !KNOWN[generation] {
            return Err(MissingTable::for_target(subtarget, "hazard rules"));
        }
        let has = |rule: &&Rule| {
            rule.columns[generation] > 0
                && subtarget.has(rule.requires)
                && !subtarget.features.intersects(rule.lacks)
                && (!rule.replay || subtarget.xnack.may_be_on())
        };
        let mut rows: Vec<Rule> =
            RULES.iter().filter(has).map(|rule| Rule { states: rule.columns[generation], ..*rule }).collect();
        rows.sort_by_key(|rule| rule.mitigation != Mitigation::States);
        let timed = rows.iter().filter(|rule| rule.mitigation == Mitigation::States).count();
        let mut timed_by = [0; Producer::COUNT];
        for (index, rule) in rows[..timed].iter().enumerate() {
            timed_by[rule.first as usize] |= 1 << index;
        }
        Ok(Rules { rows, timed, timed_by, vector_clauses: VECTOR_CLAUSES[generation] })
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
    /// Returns by generation the number of wait states between the two instructions; 0 if the generation does
    /// not have the hazard, and 1 for a rule with an instruction as mitigation.
    pub fn columns(&self) -> [u8; Generation::COUNT] {
        self.columns
    }

    /// Returns the features of processors that do not have the hazard.
    pub fn lacks(&self) -> Feature {
        self.lacks
    }

    /// Returns whether the hazard requires a branch between the two instructions.
    pub(crate) fn needs_branch(&self) -> bool {
        matches!(self.mitigation, Mitigation::Instruction { branch: true, .. })
    }
}
