//! Abbreviations used in the rows: operand types, operand kinds, implicit registers.

pub(crate) use super::codes::{op, since};
use super::{AddressParts, ImageAddress, Implicit, Kind, Num, OpSpec, Role};
pub(crate) use crate::target::ArchId::{Gfx7, Gfx8, Gfx9, Gfx10, Gfx10_3, Gfx90a, Gfx940};

/// Type of the value in an operand (the interpretation of its bits), and the width in dwords.
#[derive(Clone, Copy)]
pub(crate) struct Ty(Num, u8);

pub(crate) const B32: Ty = Ty(Num::B32, 1);
pub(crate) const B64: Ty = Ty(Num::B64, 2);
pub(crate) const B96: Ty = Ty(Num::Raw, 3);
pub(crate) const B128: Ty = Ty(Num::Raw, 4);
pub(crate) const B256: Ty = Ty(Num::Raw, 8);
pub(crate) const B512: Ty = Ty(Num::Raw, 16);
pub(crate) const B1024: Ty = Ty(Num::Raw, 32);
/// Two 32-bit values in a pair of registers. If the operand is a constant, each of the two values is this
/// constant.
pub(crate) const PK_B32: Ty = Ty(Num::B32, 2);
pub(crate) const PK_F32: Ty = Ty(Num::F32, 2);
pub(crate) const B16: Ty = Ty(Num::B16, 1);
pub(crate) const I16: Ty = Ty(Num::I16, 1);
pub(crate) const U16: Ty = Ty(Num::U16, 1);
pub(crate) const I32: Ty = Ty(Num::I32, 1);
pub(crate) const U32: Ty = Ty(Num::U32, 1);
pub(crate) const I64: Ty = Ty(Num::I64, 2);
pub(crate) const U64: Ty = Ty(Num::U64, 2);
pub(crate) const F16: Ty = Ty(Num::F16, 1);
pub(crate) const F32: Ty = Ty(Num::F32, 1);
pub(crate) const V2F16: Ty = Ty(Num::V2F16, 1);
pub(crate) const F64: Ty = Ty(Num::F64, 2);

macro_rules! operands {
    ($($(#[$doc:meta])* $name:ident = $role:ident $kind:ident;)*) => {$(
        $(#[$doc])*
        pub(crate) const fn $name(ty: Ty) -> OpSpec {
            OpSpec { role: Role::$role, kind: Kind::$kind, width: ty.1, num: ty.0 }
        }
    )*};
}

operands! {
    /// Scalar destination.
    sdst = Def Sgpr;
    /// Scalar destination that is also read.
    sdst_use = DefUse Sgpr;
    /// Scalar source: registers only.
    sgpr = Use Sgpr;
    /// Scalar source: register or constant.
    ssrc = Use Ssrc;
    /// Vector destination.
    vdst = Def Vgpr;
    /// Vector destination that is also read.
    vdst_use = DefUse Vgpr;
    /// Vector source: VGPRs only.
    vgpr = Use Vgpr;
    /// Vector source: VGPR, SGPR or constant.
    src = Use Vsrc;
    /// Destination in accumulation VGPRs.
    adst = Def Agpr;
    /// Source in accumulation VGPRs.
    agpr = Use Agpr;
    /// Source in VGPRs or accumulation VGPRs.
    avgpr = Use Avgpr;
    /// Result of a matrix instruction.
    acc_dst = Def Acc;
    /// Addend of a matrix instruction.
    acc_src = Use Acc;
    /// A literal.
    literal = Use Lit;
    /// SGPR base of an address.
    saddr = Use Saddr;
}

/// Returns the spec of a lane mask that is written. Its width is that in waves of 64 lanes;
/// [`OpSpec::dwords`] returns the width on a processor.
pub(crate) const fn mask_out() -> OpSpec {
    OpSpec { role: Role::Def, kind: Kind::Mask, width: 2, num: Num::B64 }
}

/// Returns the spec of a lane mask that is read. Its width is as for [`mask_out`].
pub(crate) const fn mask_in() -> OpSpec {
    OpSpec { role: Role::Use, kind: Kind::Mask, width: 2, num: Num::B64 }
}

/// Returns a field of the instruction.
pub(crate) const fn imm() -> OpSpec {
    OpSpec { role: Role::Use, kind: Kind::Imm, width: 0, num: Num::Raw }
}

/// Returns the spec of an immediate of 16 bits, which the hardware sign-extends to 32 bits.
pub(crate) const fn simm() -> OpSpec {
    OpSpec { role: Role::Use, kind: Kind::Imm, width: 0, num: Num::I32 }
}

/// Returns the target of an export.
pub(crate) const fn export_target() -> OpSpec {
    OpSpec { role: Role::Use, kind: Kind::ExportTarget, width: 0, num: Num::Raw }
}

/// Returns the optional VGPR source of an export.
pub(crate) const fn channel() -> OpSpec {
    OpSpec { role: Role::Use, kind: Kind::Channel, width: 1, num: Num::B32 }
}

/// Returns a vertex attribute.
pub(crate) const fn attribute() -> OpSpec {
    OpSpec { role: Role::Use, kind: Kind::Attribute, width: 0, num: Num::Raw }
}

/// Returns one of the three parameters of a vertex attribute.
pub(crate) const fn parameter() -> OpSpec {
    OpSpec { role: Role::Use, kind: Kind::Parameter, width: 0, num: Num::Raw }
}

/// Returns texels that are loaded into VGPRs.
pub(crate) const fn texels_out(num: Num) -> OpSpec {
    OpSpec { role: Role::Def, kind: Kind::Texels, width: 0, num }
}

/// Returns texels that are stored from VGPRs.
pub(crate) const fn texels_in(num: Num) -> OpSpec {
    OpSpec { role: Role::Use, kind: Kind::Texels, width: 0, num }
}

/// Returns the spec of the data operand of an image atomic, which is also its result. `width` is the number
/// of dwords for 32-bit data; 64-bit data has twice as many.
pub(crate) const fn texels_old(width: u8) -> OpSpec {
    OpSpec { role: Role::DefUse, kind: Kind::Texels, width, num: Num::B32 }
}

/// Returns one component of four texels.
pub(crate) const fn gathered() -> OpSpec {
    OpSpec { role: Role::Def, kind: Kind::Texels, width: 4, num: Num::Raw }
}

/// Returns the result of a ray intersection.
pub(crate) const fn hits() -> OpSpec {
    OpSpec { role: Role::Def, kind: Kind::Texels, width: 4, num: Num::B32 }
}

/// Returns the spec of an image instruction's address, which consists of `dwords` dwords and then the
/// coordinates and other parts in `parts`.
pub(crate) const fn image_address(dwords: u8, parts: AddressParts) -> OpSpec {
    let address = ImageAddress { dwords, parts };
    OpSpec { role: Role::Use, kind: Kind::ImageAddress(address), width: 0, num: Num::Raw }
}

/// Returns a branch target.
pub(crate) const fn label() -> OpSpec {
    OpSpec { role: Role::Use, kind: Kind::Label, width: 0, num: Num::Raw }
}

/// Returns the offset of a scalar memory access.
pub(crate) const fn smem_offset() -> OpSpec {
    OpSpec { role: Role::Use, kind: Kind::SmemOffset, width: 1, num: Num::U32 }
}

/// Returns the address of a vector memory access.
pub(crate) const fn vaddr() -> OpSpec {
    OpSpec { role: Role::Use, kind: Kind::Vaddr, width: 2, num: Num::Raw }
}

pub(crate) const R_SCC: Implicit = Implicit::READ_SCC;
pub(crate) const W_VCC: Implicit = Implicit::WRITE_VCC;
pub(crate) const W_SCC: Implicit = Implicit::WRITE_SCC;
pub(crate) const R_VCC: Implicit = Implicit::READ_VCC;
pub(crate) const R_EXEC: Implicit = Implicit::READ_EXEC;
pub(crate) const W_EXEC: Implicit = Implicit::WRITE_EXEC;
pub(crate) const R_M0: Implicit = Implicit::READ_M0;
pub(crate) const W_M0: Implicit = Implicit::WRITE_M0;
pub(crate) const R_MODE: Implicit = Implicit::READ_MODE;
pub(crate) const W_MODE: Implicit = Implicit::WRITE_MODE;
pub(crate) const R_FLAT_SCRATCH: Implicit = Implicit::READ_FLAT_SCRATCH;
/// Implicit registers of a vector instruction on integers or bits.
pub(crate) const VALU: Implicit = Implicit::READ_EXEC;
/// Implicit registers of a vector instruction that rounds or flushes denormals.
pub(crate) const FVALU: Implicit = Implicit::READ_EXEC.union(Implicit::READ_MODE);
