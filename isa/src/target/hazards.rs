//! Facts about hazards: pairs of instructions that the hardware does not keep apart.
//!
//! The numbers are those with which the compiler mitigates hazards. The checker and the emulator read the
//! manuals on their own, so that the tables judge each other.
//!
//! # Source
//! The chapters "Manually Inserted Wait States (NOPs)" of the manuals: Southern Islands, Sea Islands, GCN3,
//! Vega ISA. Where the wording is ambiguous, the numbers are those that LLVM uses, as noted in
//! `docs/memory-model.md`. The hazards of RDNA are in no manual; they are inferred from what LLVM inserts on
//! gfx1010 to gfx1013.

/// A hazard: a first instruction, and a second instruction that must not follow too closely.
/// `memmodel::rules` says for each hazard how it is detected and mitigated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Hazard {
    /// VALU writes an SGPR, a vector memory instruction reads it.
    ValuSgprThenVmem,
    /// VALU writes an SGPR, a scalar memory instruction reads it.
    ValuSgprThenSmem,
    /// SALU writes an SGPR, a scalar memory instruction with a descriptor reads it.
    SaluSgprThenBufferSmem,
    /// VALU writes an SGPR, `v_readlane` or `v_writelane` reads the lane number from it.
    ValuSgprThenLaneSelect,
    /// VALU writes VCC, `v_div_fmas` reads it.
    ValuVccThenDivFmas,
    /// VALU writes VCC or EXEC, VALU reads `vccz` or `execz` as data.
    ValuMaskThenZeroFlag,
    /// VALU writes EXEC, then a DPP instruction.
    ValuExecThenDpp,
    /// VALU writes a VGPR, a DPP instruction reads it.
    ValuVgprThenDpp,
    /// SALU writes M0, an instruction reads M0 implicitly.
    SaluM0ThenReader,
    /// A store of more than 64 bits, VALU overwrites its data.
    WideStoreThenValu,
    /// VALU writes a VGPR, `v_accvgpr_write` reads it.
    ValuVgprThenAccWrite,
    /// VALU writes EXEC, then `v_accvgpr_write`.
    ValuExecThenAccWrite,
    /// `v_accvgpr_write`, then `v_accvgpr_read` of the same register.
    AccWriteThenAccRead,
    /// `v_accvgpr_read` writes a VGPR, a memory instruction reads it.
    AccReadThenMemory,
    /// A move from or to an accumulation VGPR, a memory instruction reads any VGPR.
    AccMoveThenMemory,
    /// A sum of products writes a VGPR, any instruction reads or overwrites it.
    DotThenVgpr,
    /// `s_setreg`, then `s_getreg` of the same hardware register.
    SetRegThenGetReg,
    /// `s_setreg` twice of the same hardware register.
    SetRegTwice,
    /// `s_setvskip`, then `s_getreg` of MODE.
    SetVskipThenGetReg,
    /// `s_setreg` of the bit `vskip`, then a vector instruction.
    VskipThenVector,
    /// `s_setreg` of TRAPSTS, then `s_rfe`.
    TrapStatusThenRfe,
    /// An image instruction with a long address in scattered registers, then a buffer access with an odd
    /// offset.
    ScatteredImageThenOddBuffer,
    /// A float atomic in memory, then `s_denorm_mode`.
    FloatAtomicThenDenormMode,
    /// Half of VCC is written, `vccz` is read: it is not updated.
    HalfOfVccThenVccz,
    /// A scalar memory instruction returns, `vccz` is read: it is corrupted.
    SmemThenVccz,
    /// A clause that may be replayed overwrites a register that it has read.
    ReplayedClauseOverwritesSource,
    /// A load that overwrote its source is followed by more of a clause that may be replayed.
    OwnSourceThenReplayedClause,
    /// A clause that may be replayed is followed by a load that overwrites its own source.
    ReplayedClauseThenOwnSource,
    /// A load in a clause that may be replayed is followed by a store.
    ReplayedLoadThenStore,
    /// A memory instruction reads an SGPR, a scalar instruction overwrites it.
    MemorySgprOverwritten,
    /// A scalar memory instruction reads an SGPR, VALU overwrites it.
    SmemSgprOverwritten,
    /// EXEC is read by an instruction other than VALU, VALU overwrites it.
    ExecOverwritten,
    /// `v_cmpx`, then `v_permlane`.
    CmpxThenPermlane,
    /// LDS, a branch, vector memory.
    LdsBranchVmem,
    /// Vector memory, a branch, LDS.
    VmemBranchLds,
    /// VALU writes an SGPR or VCC, VALU reads it.
    ValuSgprThenValu,
    /// VALU writes a VGPR, `v_readlane` or `v_readfirstlane` reads it.
    ValuVgprThenReadLane,
    /// VALU writes EXEC, then `v_readlane`, `v_readfirstlane` or `v_writelane`.
    ValuExecThenLaneAccess,
    /// A transcendental instruction writes a VGPR, another VALU instruction reads it.
    TranscendentalThenValu,
    /// VALU writes a part of a VGPR (SDWA, `op_sel`), VALU reads the VGPR.
    PartOfVgprThenValu,
}

impl Hazard {
    /// Number of hazards.
    pub const COUNT: usize = Hazard::PartOfVgprThenValu as usize + 1;
}

/// The hazards of a family.
#[derive(Clone, Copy, Debug)]
pub struct Hazards {
    /// By [`Hazard`]: the number of wait states that must be between the two instructions. 1 for a hazard
    /// that the family has and that wait states do not mitigate, 0 for a hazard that the family does not
    /// have.
    pub(super) states: [u8; Hazard::COUNT],
    /// Whether vector memory instructions form clauses that may be replayed; scalar memory instructions do on
    /// every processor with XNACK.
    pub vector_clauses: bool,
    /// Largest operand of `s_nop`: the field has three bits, later four.
    pub longest_nop: u8,
}

impl Hazards {
    /// Largest number of wait states of any hazard.
    pub const MAX_STATES: u8 = 5;

    /// No hazards.
    pub(super) const NONE: Hazards =
        Hazards { states: [0; Hazard::COUNT], vector_clauses: false, longest_nop: 15 };

    /// Returns the number of wait states that a hazard requires; 1 if another mitigation is required, 0 if
    /// the family does not have the hazard.
    pub const fn states(&self, hazard: Hazard) -> u8 {
        self.states[hazard as usize]
    }

    /// Returns these hazards with different numbers of wait states for the hazards of a list.
    pub(super) const fn with(mut self, list: &[(Hazard, u8)]) -> Hazards {
        let mut n = 0;
        while n < list.len() {
            let (hazard, states) = list[n];
            assert!(states <= Hazards::MAX_STATES);
            self.states[hazard as usize] = states;
            n += 1;
        }
        self
    }

    /// Returns these hazards without those of a list.
    pub(super) const fn without(mut self, list: &[Hazard]) -> Hazards {
        let mut n = 0;
        while n < list.len() {
            self.states[list[n] as usize] = 0;
            n += 1;
        }
        self
    }
}
