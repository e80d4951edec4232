//! Registers. Hardware registers have the numbers of the 9-bit source field, and virtual registers have
//! numbers of their own.

use cranelift_entity::entity_impl;
use std::fmt;

/// A hardware register, given by its code in a 9-bit source operand. SGPRs have codes from 0 on, special
/// registers from 102 on, and VGPRs from 256 on. Accumulation VGPRs have codes from 512 on; they are encoded
/// like VGPRs, with a separate bit elsewhere in the instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(pub u16);

impl Reg {
    /// The pair `flat_scratch` on GFX8 and GFX9.
    pub const FLAT_SCRATCH: Reg = Reg(102);
    /// The pair `xnack_mask` on GFX8 and GFX9.
    pub const XNACK_MASK: Reg = Reg(104);
    /// The pair `vcc`.
    pub const VCC: Reg = Reg(106);
    /// `m0`.
    pub const M0: Reg = Reg(124);
    /// The pair `exec`.
    pub const EXEC: Reg = Reg(126);
    /// `src_vccz`.
    pub const VCCZ: Reg = Reg(251);
    /// The status bit `src_execz`, which says whether EXEC is zero.
    pub const EXECZ: Reg = Reg(252);
    /// The status bit SCC. As a source, it is written `src_scc`.
    pub const SCC: Reg = Reg(253);

    /// The operand `src_lds_direct`, a value in LDS.
    pub const LDS_DIRECT: Reg = Reg(254);

    /// Returns SGPR number `n`.
    pub const fn sgpr(n: u16) -> Reg {
        assert!(n < 106);
        Reg(n)
    }

    /// Returns VGPR number `n`.
    pub const fn vgpr(n: u16) -> Reg {
        assert!(n < 256);
        Reg(256 + n)
    }

    /// Returns accumulation VGPR number `n` (gfx908, gfx90a).
    pub const fn agpr(n: u16) -> Reg {
        assert!(n < 256);
        Reg(512 + n)
    }

    /// Returns whether the register is a VGPR.
    pub const fn is_vgpr(self) -> bool {
        self.0 >> 8 == 1
    }

    /// Returns whether the register is an accumulation VGPR.
    pub const fn is_agpr(self) -> bool {
        self.0 >> 8 == 2
    }

    /// Returns whether the register is scalar, which means that it has one value for the whole wave. How many
    /// of the scalar registers are numbered SGPRs depends on the processor: see
    /// [`Target::is_sgpr`](crate::Target::is_sgpr).
    pub const fn is_scalar(self) -> bool {
        self.0 < 256
    }

    /// Returns the number in the register's name, after `s`, `v` or `a`.
    pub const fn number(self) -> u16 {
        if self.0 >= 256 { self.0 & 255 } else { self.0 }
    }

    /// Returns the register whose code is greater by `n`.
    pub const fn offset(self, n: u16) -> Reg {
        Reg(self.0 + n)
    }
}

impl fmt::Debug for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            512.. => write!(f, "a{}", self.number()),
            256.. => write!(f, "v{}", self.number()),
            n => write!(f, "s{n}"),
        }
    }
}

/// Register classes between which the allocator distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RegClass {
    /// Scalar register, with one value for the whole wave.
    Sgpr,
    /// Vector register, with one value for each lane.
    Vgpr,
}

/// A virtual register. It always has one dword, so a 64-bit value consists of two virtual registers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VReg(u32);
entity_impl!(VReg, "%");
