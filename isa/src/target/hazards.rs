//! Facts about hazards: pairs of instructions that the hardware does not keep apart.
//!
//! The compiler mitigates hazards with these numbers of wait states. The checker has a table of its own,
//! which was read from the manuals separately, so that each table can show an error in the other.
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
    /// VALU writes an SGPR, and a vector memory instruction reads it.
    ValuSgprThenVmem,
    /// VALU writes an SGPR, and a scalar memory instruction reads it.
    ValuSgprThenSmem,
    /// SALU writes an SGPR, and a scalar memory instruction with a descriptor reads it.
    SaluSgprThenBufferSmem,
    /// VALU writes an SGPR, and `v_readlane` or `v_writelane` reads the number of its lane from it.
    ValuSgprThenLaneSelect,
    /// VALU writes VCC, and `v_div_fmas` reads it.
    ValuVccThenDivFmas,
    /// VALU writes VCC or EXEC, and VALU reads `vccz` or `execz` as data.
    ValuMaskThenZeroFlag,
    /// VALU writes EXEC, and a DPP instruction follows.
    ValuExecThenDpp,
    /// VALU writes a VGPR, and a DPP instruction reads it.
    ValuVgprThenDpp,
    /// SALU writes M0, and another instruction reads M0 implicitly.
    SaluM0ThenReader,
    /// An instruction stores more than 64 bits, and VALU overwrites the registers with the stored data.
    WideStoreThenValu,
    /// VALU writes a VGPR, and `v_accvgpr_write` reads it.
    ValuVgprThenAccWrite,
    /// VALU writes EXEC, and `v_accvgpr_write` follows.
    ValuExecThenAccWrite,
    /// `v_accvgpr_write` writes an accumulation VGPR, and `v_accvgpr_read` reads it.
    AccWriteThenAccRead,
    /// `v_accvgpr_read` writes a VGPR, and a memory instruction reads it.
    AccReadThenMemory,
    /// An instruction moves data from or to an accumulation VGPR, and a memory instruction reads any VGPR.
    AccMoveThenMemory,
    /// A dot product writes a VGPR, and any instruction reads or overwrites it.
    DotThenVgpr,
    /// `s_setreg` writes a hardware register, and `s_getreg` reads it.
    SetRegThenGetReg,
    /// Two `s_setreg` instructions write the same hardware register.
    SetRegTwice,
    /// `s_setvskip` changes MODE, and `s_getreg` reads MODE.
    SetVskipThenGetReg,
    /// `s_setreg` writes the bit `vskip` of MODE, and a vector instruction follows.
    VskipThenVector,
    /// `s_setreg` writes TRAPSTS, and `s_rfe` follows.
    TrapStatusThenRfe,
    /// An image instruction has a long address in non-consecutive registers, and a buffer access with an odd
    /// offset follows.
    ScatteredImageThenOddBuffer,
    /// A float atomic accesses memory, and `s_denorm_mode` follows.
    FloatAtomicThenDenormMode,
    /// An instruction writes half of VCC, which does not update `vccz`, and another instruction reads `vccz`.
    HalfOfVccThenVccz,
    /// A scalar memory instruction returns, which makes `vccz` wrong, and another instruction reads `vccz`.
    SmemThenVccz,
    /// An instruction in a clause that may be replayed overwrites a register that an earlier instruction of
    /// the clause has read.
    ReplayedClauseOverwritesSource,
    /// A load overwrites its own source, and the clause to which it belongs, which may be replayed, has
    /// further instructions.
    OwnSourceThenReplayedClause,
    /// A load overwrites its own source, and is not the first instruction of a clause that may be replayed.
    ReplayedClauseThenOwnSource,
    /// A load is in a clause that may be replayed, and a store follows in the same clause.
    ReplayedLoadThenStore,
    /// A memory instruction reads an SGPR, and a scalar instruction overwrites it.
    MemorySgprOverwritten,
    /// A scalar memory instruction reads an SGPR, and VALU overwrites it.
    SmemSgprOverwritten,
    /// An instruction other than VALU reads EXEC, and VALU overwrites it.
    ExecOverwritten,
    /// `v_cmpx` is executed, and `v_permlane` follows.
    CmpxThenPermlane,
    /// An LDS instruction is followed by a branch, and then by a vector memory instruction.
    LdsBranchVmem,
    /// A vector memory instruction is followed by a branch, and then by an LDS instruction.
    VmemBranchLds,
    /// VALU writes an SGPR or VCC, and VALU reads it.
    ValuSgprThenValu,
    /// VALU writes a VGPR, and `v_readlane` or `v_readfirstlane` reads it.
    ValuVgprThenReadLane,
    /// VALU writes EXEC, and `v_readlane`, `v_readfirstlane` or `v_writelane` follows.
    ValuExecThenLaneAccess,
    /// A transcendental instruction writes a VGPR, and another VALU instruction reads it.
    TranscendentalThenValu,
    /// VALU writes a part of a VGPR (SDWA, `op_sel`), and VALU reads the VGPR.
    PartOfVgprThenValu,
}

impl Hazard {
    /// Number of hazards.
    pub const COUNT: usize = Hazard::PartOfVgprThenValu as usize + 1;
}

/// The hazards of a family.
#[derive(Clone, Copy, Debug)]
pub struct Hazards {
    /// For each [`Hazard`], the number of wait states that must be between the two instructions. The number
    /// is 1 if the family has the hazard and wait states do not mitigate it, and 0 if the family does not
    /// have the hazard.
    pub(super) states: [u8; Hazard::COUNT],
    /// Whether vector memory instructions form clauses that may be replayed on processors with XNACK. Scalar
    /// memory instructions always form such clauses there.
    pub vector_clauses: bool,
    /// Largest operand of `s_nop`. Its field has three bits on the first generations, and four bits later.
    pub longest_nop: u8,
}

impl Hazards {
    /// Largest number of wait states of any hazard.
    pub const MAX_STATES: u8 = 5;

    /// No hazards.
    pub(super) const NONE: Hazards =
        Hazards { states: [0; Hazard::COUNT], vector_clauses: false, longest_nop: 15 };

    /// Returns the number of wait states that a hazard requires. Returns 1 if the hazard requires another
    /// mitigation, and 0 if the family does not have the hazard.
    pub const fn states(&self, hazard: Hazard) -> u8 {
        self.states[hazard as usize]
    }

    /// Returns these hazards, with the numbers of wait states in `list` for the hazards in `list`.
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
