//! Facts about scalar registers, and about the register MODE.

use crate::reg::Reg;

/// Codes and number of the scalar registers. VCC, M0, EXEC and the status bits have the same codes in all
/// families.
#[derive(Clone, Copy, Debug)]
pub struct Registers {
    /// Number of SGPRs that instructions can name, starting at `s0`.
    pub numbered: u16,
    /// Whether VCC and the special registers behind it are among the SGPRs that a kernel can request, as the
    /// last ones. They then count towards the limit of numbered SGPRs.
    pub specials_among_numbered: bool,
    /// First of the two registers of FLAT_SCRATCH; `None` if FLAT_SCRATCH does not exist or is not in SGPRs.
    pub flat_scratch: Option<Reg>,
    /// First of the two registers of XNACK_MASK, which only processors with XNACK have.
    pub xnack_mask: Option<Reg>,
    /// Whether TBA and TMA, which are the addresses of the trap handler and of its memory, are in SGPRs.
    pub trap_addresses: bool,
    /// First trap handler register, `ttmp0`.
    pub trap: Reg,
    /// Number of trap handler registers.
    pub traps: u16,
    /// The register that always reads as 0 and ignores writes.
    pub null: Option<Reg>,
    /// Whether the apertures can be read like registers.
    pub apertures: bool,
}

/// The fields of MODE that only some families have.
#[derive(Clone, Copy, Debug)]
pub struct Mode {
    /// `FP16_OVFL`: a result that overflows f16 becomes the largest f16 (Vega and RDNA ISA, "Mode register").
    pub fp16_overflow: bool,
    /// `GPR_IDX_EN`: an offset is added to the numbers of VGPRs (GCN3 and Vega ISA, "VGPR Indexing").
    pub gpr_idx: bool,
    /// `VSKIP`: vector instructions are skipped (Southern Islands to Vega ISA, "Mode register").
    pub vskip: bool,
}
