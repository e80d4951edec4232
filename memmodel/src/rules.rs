//! Hazards as data: pairs of instructions that the hardware does not keep apart, and what does.
//!
//! A rule is *detection*: as what the first instruction counts ([`Producer`]), as what the second ([`Consumer`]), which
//! processors have it; and *mitigation* ([`Mend`]): so many wait states between the two, a column a generation, or an
//! instruction, with what else would have done ([`Breaks`]). A wait state is one issued instruction, or one of the `n + 1` of
//! an `s_nop n`.
//!
//! # Source
//! The chapters "Manually Inserted Wait States (NOPs)" of the manuals: Southern Islands, Sea Islands, GCN3, Vega ISA; where
//! their wording leaves a choice, the numbers LLVM uses, and `docs/memory-model.md` says which. RDNA's are in no manual: what
//! LLVM mends on gfx1010 to gfx1013, by behaviour.
//!
//! # Absent on purpose
//! * "mixed use of VCC: alias and SGPR number": `vcc` has one name here, so there is no alias to mix with;
//! * matrix instructions of gfx908 and gfx90a: nothing here emits them. Who does brings their rows. That a sum of products may add to
//!   another of its kind at once on gfx90a (CDNA 2 ISA, 4.5) is not used: any use waits. Moves from
//!   and to accumulation registers have theirs, where LLVM's last is for VGPRs that VALU has written just before, and ours for any;
//! * what is wrong wherever it stands (a branch over 63 dwords on gfx101x): nothing between two instructions mends it.

mod detect;

use crate::Missing;
use isa::table::Family;
use isa::target::Generation;
use isa::{Feature, MachInst, Subtarget};

pub(crate) use detect::{anything, breaks, inserted, label, longest_nop, marked, reads_vccz};
pub use detect::{consumed, produced, states};

/// As what the first instruction counts.
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
    /// A vector memory instruction stores more than 64 bits, still to be fetched from its VGPRs.
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
    /// An image instruction with an address of a third dword and more.
    LongImageAddress,
    /// A float atomic in memory.
    FloatAtomic,
    /// A vector memory or LDS instruction reads a scalar register, at its leisure.
    MemoryReadsScalar,
    /// A scalar memory instruction reads a scalar register.
    SmemReadsScalar,
    /// Anything but VALU reads EXEC.
    ReadsExec,
    /// `v_cmpx`.
    Cmpx,
    /// An LDS instruction.
    Lds,
    /// A vector memory instruction other than flat.
    Vmem,
    /// Half of VCC is written, which `vccz` does not follow.
    HalfOfVcc,
    /// A scalar memory instruction, whose return spoils `vccz`.
    Smem,
    /// A memory instruction of a clause reads registers, and may do so again.
    ClauseReads,
    /// A memory instruction of a clause returns something.
    ClauseReturns,
    /// The same into a register that it reads.
    ClauseOwn,
}

impl Producer {
    const COUNT: usize = Producer::ClauseOwn as usize + 1;
}

/// As what the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consumer {
    /// A vector memory instruction reads a scalar register.
    VmemReadsScalar,
    /// A scalar memory instruction reads one.
    SmemReadsScalar,
    /// The same by a descriptor.
    BufferSmemReadsScalar,
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
    /// `v_accvgpr_write` reads a VGPR, and EXEC.
    WritesAgpr,
    /// `v_accvgpr_read` reads an accumulation VGPR.
    ReadsAgpr,
    /// A memory or LDS instruction reads a VGPR.
    MemoryReadsVgpr,
    /// One that reads any.
    MemoryReadsAnyVgpr,
    /// Anything reads or overwrites a VGPR.
    TouchesVgpr,
    /// `s_getreg` of the same hardware register.
    GetReg,
    /// `s_setreg` of the same hardware register.
    SetRegAgain,
    /// A vector instruction while `vskip` may have changed.
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
    /// A branch, or an operand, that is `vccz`.
    Vccz,
    /// A memory instruction of the same clause overwrites the register.
    ClauseWrites,
    /// A memory instruction of the same clause.
    ClauseMember,
    /// One that changes memory.
    ClauseStores,
    /// One that overwrites a register that it reads.
    ClauseOwn,
}

/// What keeps the two apart, other than what is put there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breaks {
    /// VALU, or `s_waitcnt 0`: vector memory has read its registers.
    MemoryHasRead,
    /// SALU, or a wait for `lgkmcnt(0)`.
    SmemHasRead,
    /// VALU writes a scalar register.
    ExecHasBeenRead,
    /// VALU other than `v_nop`.
    Valu,
    /// LDS or vector memory on either side, or a wait for `vscnt(0)`.
    OtherMemory,
    /// All of VCC is written.
    VccWritten,
    /// The same while no scalar memory instruction is under way.
    VccWrittenInPeace,
    /// Anything that is not of the clause.
    ClauseEnds,
}

/// An instruction that mends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Insert {
    /// `s_waitcnt_depctr` of a mask.
    Depctr(u16),
    /// `s_mov_b32 null, 0`.
    MoveNull,
    /// `v_mov_b32` of the second instruction's own destination to itself: nothing else is under way with it.
    MoveOwn,
    /// `s_waitcnt_vscnt null, 0`.
    WaitVs,
    /// `s_mov_b64 vcc, vcc`.
    MoveVcc,
    /// The same after `s_waitcnt lgkmcnt(0)`.
    WaitAndMoveVcc,
    /// `s_nop 0`.
    Nop,
}

/// What mends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mend {
    /// Wait states.
    States,
    /// An instruction. `branch`: the two are dangerous with a branch between them.
    Instruction {
        /// Which.
        insert: Insert,
        /// What does as well.
        breaks: Breaks,
        /// See above.
        branch: bool,
    },
}

/// A row.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Name, for notes and messages.
    pub name: &'static str,
    /// The first instruction.
    pub first: Producer,
    /// The second; it concerns the same register.
    pub second: Consumer,
    /// What mends it.
    pub mend: Mend,
    /// By generation: wait states between the two; 0 where there is no such hazard. For a rule that an instruction mends, 1.
    columns: [u8; Generation::COUNT],
    requires: Feature,
    lacks: Feature,
    /// Only where memory instructions may be replayed (XNACK).
    replay: bool,
    /// Wait states on the processor, in the rows of [`Rules`].
    pub states: u8,
}

/// The most wait states that any row asks for.
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
    Rule { name, first, second, mend: Mend::States, columns, requires, lacks, replay: false, states: 0 }
}

const fn mended(
    name: &'static str,
    first: Producer,
    second: Consumer,
    insert: Insert,
    breaks: Breaks,
    columns: [u8; Generation::COUNT],
) -> Rule {
    let mend = Mend::Instruction { insert, breaks, branch: false };
    Rule { mend, ..timed(name, first, second, columns) }
}

const fn lacking(rule: Rule, lacks: Feature) -> Rule {
    Rule { lacks, ..rule }
}

const fn across_branch(rule: Rule) -> Rule {
    match rule.mend {
        Mend::Instruction { insert, breaks, .. } => {
            Rule { mend: Mend::Instruction { insert, breaks, branch: true }, ..rule }
        }
        Mend::States => rule,
    }
}

/// Of moves between VGPRs and accumulation VGPRs where those are a file of their own.
const fn gfx908(name: &'static str, first: Producer, second: Consumer, states: u8) -> Rule {
    let rule = timed(name, first, second, [0, 0, 0, states, 0]);
    Rule { requires: Feature::MAI, lacks: Feature::GFX90A, ..rule }
}

/// Of two instructions of a clause that may be replayed from its beginning.
const fn clause(name: &'static str, first: Producer, second: Consumer) -> Rule {
    Rule { replay: true, ..mended(name, first, second, Insert::Nop, Breaks::ClauseEnds, [0, 0, 1, 1, 1]) }
}

const RDNA1: [u8; Generation::COUNT] = [0, 0, 0, 0, 1];

use Consumer as C;
use Feature as F;
use Producer as P;

/// Every row. The numbers are the columns of GFX6, GFX7, GFX8, GFX9, GFX10.
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
    mended("half of VCC is written, vccz is read", P::HalfOfVcc, C::Vccz, Insert::MoveVcc, Breaks::VccWritten, [1, 1, 1, 1, 0]),
    mended("SMEM, vccz is read", P::Smem, C::Vccz, Insert::WaitAndMoveVcc, Breaks::VccWrittenInPeace, [1, 1, 0, 0, 0]),
    clause("clause that may be replayed, its source is overwritten", P::ClauseReads, C::ClauseWrites),
    clause("load that overwrote its source, clause that may be replayed", P::ClauseOwn, C::ClauseMember),
    clause("clause that may be replayed, load that overwrites its source", P::ClauseReturns, C::ClauseOwn),
    clause("load in a clause that may be replayed, store", P::ClauseReturns, C::ClauseStores),
    lacking(mended("memory instruction reads SGPR, scalar instruction overwrites it", P::MemoryReadsScalar, C::ScalarWrite, Insert::Depctr(0xffe3), Breaks::MemoryHasRead, RDNA1), F::GFX10_3),
    lacking(mended("SMEM reads SGPR, VALU overwrites it", P::SmemReadsScalar, C::ValuWritesScalar, Insert::MoveNull, Breaks::SmemHasRead, RDNA1), F::GFX10_3),
    lacking(mended("EXEC is read, VALU overwrites it", P::ReadsExec, C::ValuWritesExec, Insert::Depctr(0xfffe), Breaks::ExecHasBeenRead, RDNA1), F::GFX10_3),
    lacking(mended("v_cmpx, v_permlane", P::Cmpx, C::Permlane, Insert::MoveOwn, Breaks::Valu, RDNA1), F::GFX10_3),
    lacking(across_branch(mended("LDS, branch, vector memory", P::Lds, C::Vmem, Insert::WaitVs, Breaks::OtherMemory, RDNA1)), F::GFX10_3),
    lacking(across_branch(mended("vector memory, branch, LDS", P::Vmem, C::Lds, Insert::WaitVs, Breaks::OtherMemory, RDNA1)), F::GFX10_3),
];

/// The rows that a processor has, with their wait states.
#[derive(Clone, Debug)]
pub struct Rules {
    rows: Vec<Rule>,
    /// How many of them wait states mend; they come first.
    timed: usize,
    /// Those that begin with each [`Producer`], as bits.
    timed_by: [u32; Producer::COUNT],
    /// Whether vector memory instructions form clauses, too.
    vector_clauses: bool,
}

/// Generations whose columns of [`RULES`] are filled in.
const KNOWN: [bool; Generation::COUNT] = [true; Generation::COUNT];
/// Generations whose vector memory instructions form clauses that may be replayed.
const VECTOR_CLAUSES: [bool; Generation::COUNT] = [false, false, true, true, false];

impl Rules {
    /// The rows of a subtarget.
    pub(crate) fn of(subtarget: &Subtarget) -> Result<Rules, Missing> {
        let generation = subtarget.generation as usize;
        if !KNOWN[generation] {
            return Err(Missing::of(subtarget, "hazard rules"));
        }
        let has = |rule: &&Rule| {
            rule.columns[generation] > 0
                && subtarget.has(rule.requires)
                && !subtarget.features.intersects(rule.lacks)
                && (!rule.replay || subtarget.xnack.may_be_on())
        };
        let mut rows: Vec<Rule> =
            RULES.iter().filter(has).map(|rule| Rule { states: rule.columns[generation], ..*rule }).collect();
        rows.sort_by_key(|rule| rule.mend != Mend::States);
        let timed = rows.iter().filter(|rule| rule.mend == Mend::States).count();
        let mut timed_by = [0; Producer::COUNT];
        for (index, rule) in rows[..timed].iter().enumerate() {
            timed_by[rule.first as usize] |= 1 << index;
        }
        Ok(Rules { rows, timed, timed_by, vector_clauses: VECTOR_CLAUSES[generation] })
    }

    /// Every row.
    pub fn rows(&self) -> &[Rule] {
        &self.rows
    }

    /// The rows that wait states mend.
    pub fn timed(&self) -> &[Rule] {
        &self.rows[..self.timed]
    }

    /// The rows that an instruction mends.
    pub fn mended(&self) -> &[Rule] {
        &self.rows[self.timed..]
    }

    /// Whether a rule that wait states mend begins with it.
    #[inline]
    pub(crate) fn counts(&self, first: Producer) -> bool {
        self.timed_by[first as usize] != 0
    }

    /// The rules of [`Rules::timed`] that begin with it, by index.
    #[inline]
    pub(crate) fn timed_by(&self, first: Producer) -> impl Iterator<Item = usize> + use<> {
        let rules = self.timed_by[first as usize];
        let rests = std::iter::successors(Some(rules), |rest| Some(rest & rest.wrapping_sub(1)));
        rests.take_while(|&rest| rest != 0).map(|rest| rest.trailing_zeros() as usize)
    }

    /// The kind of clause that an instruction may be part of, as a bit: 1 of scalar, 2 of vector memory; 0 none.
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
    /// By generation: wait states between the two, 0 where there is no such hazard; 1 for a rule that an instruction mends.
    pub fn columns(&self) -> [u8; Generation::COUNT] {
        self.columns
    }

    /// Features of processors that do not have the hazard.
    pub fn lacks(&self) -> Feature {
        self.lacks
    }

    /// What the rule asks for when its instructions are dangerous with a branch between them.
    pub(crate) fn needs_branch(&self) -> bool {
        matches!(self.mend, Mend::Instruction { branch: true, .. })
    }
}
