//! Properties of matrix instructions, instructions on accumulation registers, and dot products. Hazards
//! depend on these properties.

use isa::table::Family;
use isa::{MachInst, Operand, Reg, RegRange, op};

/// Kinds of matrix instructions and related instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum MaiKind {
    /// The instruction is of none of the other kinds.
    #[default]
    Other,
    /// A `v_mfma_*` instruction whose elements are not doubles.
    Mfma,
    /// A `v_mfma_f64_*` instruction.
    Dgemm,
    /// The instruction `v_accvgpr_read_b32`.
    AccRead,
    /// The instruction `v_accvgpr_write_b32`.
    AccWrite,
    /// `v_dot*`.
    Dot,
    /// The instructions `v_fma_f64` and `v_fmac_f64`.
    Fma64,
}

/// What hazards need to know about a matrix instruction or a related instruction: its kind and its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mai {
    pub(crate) kind: MaiKind,
    /// Number of passes, of which each takes four cycles.
    pub(crate) passes: u8,
    pub(crate) dst: RegRange,
    /// Registers of the factor `a`. The next field has the registers of the factor `b`.
    pub(crate) a: RegRange,
    pub(crate) b: RegRange,
    /// The addend.
    pub(crate) c: RegRange,
}

const NONE: RegRange = RegRange { first: Reg(0), len: 0 };

impl Mai {
    const OTHER: Mai = Mai { kind: MaiKind::Other, passes: 0, dst: NONE, a: NONE, b: NONE, c: NONE };

    pub(crate) fn from_inst(inst: &MachInst) -> Mai {
        let row = inst.op.row();
        let name = row.name;
        let (kind, passes) = match inst.op {
            op::V_ACCVGPR_READ_B32 | op::V_ACCVGPR_READ => (MaiKind::AccRead, 1),
            op::V_ACCVGPR_WRITE_B32 | op::V_ACCVGPR_WRITE => (MaiKind::AccWrite, 1),
            op::V_FMA_F64 | op::V_FMAC_F64 => (MaiKind::Fma64, 1),
            _ if !matches!(row.family, Family::Vop2 | Family::Vop3 | Family::Vop3p) => return Mai::OTHER,
            _ if name.starts_with("v_dot") => (MaiKind::Dot, 1),
            _ if name.starts_with("v_mfma_f64") => (MaiKind::Dgemm, passes(name, [4, 8, 8])),
            _ if name.starts_with("v_mfma") => (MaiKind::Mfma, passes(name, [2, 8, 16])),
            _ => return Mai::OTHER,
        };
        let range = |index: usize| match inst.operands().get(index) {
            Some(Operand::Reg(range)) => *range,
            _ => NONE,
        };
        // `v_dot2c_*` and `v_fmac_*` add to their destination.
        let c = if inst.operands().len() > 3 { range(3) } else { range(0) };
        Mai { kind, passes, dst: range(0), a: range(1), b: range(2), c }
    }

    pub(crate) fn is_matrix(self) -> bool {
        matches!(self.kind, MaiKind::Mfma | MaiKind::Dgemm)
    }
}

/// Returns the number of passes of a matrix instruction, which depends on the size of its matrices. `small`,
/// `medium` and `large` are the numbers for 4x4, 16x16 and 32x32.
///
/// Source: CDNA ISA, "VALU Instructions: MFMA", table of passes.
fn passes(name: &str, [small, medium, large]: [u8; 3]) -> u8 {
    match () {
        _ if name.contains("_4x4x") => small,
        _ if name.contains("_16x16x") => medium,
        _ => large,
    }
}
