//! Determines which registers an instruction reads and writes. The compiler's passes, the register allocator
//! and the checkers all use this module.
//!
//! Whether an explicit operand is read or written is its role in the instruction table, refined by form and
//! modifiers ([`MachInst::role`]). Implicit registers ([`MachInst::for_each_implicit`]) also depend on the
//! processor: lane masks have a bit for each lane of the wave, FLAT_SCRATCH has different registers in
//! different families, and LDS instructions read their limit from M0 on some processors.
//!
//! # Limits
//! MODE and the other hardware registers of `s_setreg` are not included, because they have no register
//! number; [`Implicit`] has bits for MODE. XNACK_MASK, which only a replay reads, and registers that M0
//! selects (`v_movrel`, `s_movrel`) are not included either.

use crate::inst::{Lane, MachInst, ModFlags};
use crate::operand::{Operand, RegRange};
use crate::reg::Reg;
use crate::table::{Family, Flags, Implicit, Kind, OpSpec, Role, Row, op};
use crate::target::{Feature, Target};

/// Implicit registers that instructions use. Each row has the flag in the instruction table, the register,
/// and whether the register is read or written. Row `n` belongs to bit `n` of [`Implicit`].
const IMPLICIT: [(Implicit, ImplicitRegister, Role); 9] = [
    (Implicit::READ_SCC, ImplicitRegister::One(Reg::SCC), Role::Use),
    (Implicit::READ_VCC, ImplicitRegister::Mask(Reg::VCC), Role::Use),
    (Implicit::READ_EXEC, ImplicitRegister::Mask(Reg::EXEC), Role::Use),
    (Implicit::READ_M0, ImplicitRegister::One(Reg::M0), Role::Use),
    (Implicit::READ_FLAT_SCRATCH, ImplicitRegister::FlatScratch, Role::Use),
    (Implicit::WRITE_SCC, ImplicitRegister::One(Reg::SCC), Role::Def),
    (Implicit::WRITE_VCC, ImplicitRegister::Mask(Reg::VCC), Role::Def),
    (Implicit::WRITE_EXEC, ImplicitRegister::Mask(Reg::EXEC), Role::Def),
    (Implicit::WRITE_M0, ImplicitRegister::One(Reg::M0), Role::Def),
];

const _: () = {
    let mut n = 0;
    while n < IMPLICIT.len() {
        assert!(IMPLICIT[n].0.bits() == 1 << n);
        n += 1;
    }
};

/// Mask of the flags that [`IMPLICIT`] has.
const REGISTERS: u16 = (1 << IMPLICIT.len()) - 1;

/// Mask of those flags of [`IMPLICIT`] whose registers are written.
const WRITTEN: u16 = {
    let (mut bits, mut n) = (0, 0);
    while n < IMPLICIT.len() {
        if matches!(IMPLICIT[n].2, Role::Def) {
            bits |= IMPLICIT[n].0.bits();
        }
        n += 1;
    }
    bits
};

/// A register that an instruction uses without naming it as an operand.
#[derive(Clone, Copy)]
enum ImplicitRegister {
    One(Reg),
    /// A lane mask that starts at this register.
    Mask(Reg),
    FlatScratch,
}

/// Operands that have a register code of their own, but whose value comes from another register.
const ALIASES: [(Reg, ImplicitRegister); 3] = [
    (Reg::VCCZ, ImplicitRegister::Mask(Reg::VCC)),
    (Reg::EXECZ, ImplicitRegister::Mask(Reg::EXEC)),
    // The operand `src_lds_direct` reads a value from LDS, at the address that M0 contains. So it reads M0.
    (Reg::LDS_DIRECT, ImplicitRegister::One(Reg::M0)),
];

impl ImplicitRegister {
    fn range(self, target: &Target, masks: u8) -> Option<RegRange> {
        match self {
            ImplicitRegister::One(first) => Some(RegRange { first, len: 1 }),
            ImplicitRegister::Mask(first) => Some(RegRange { first, len: masks }),
            ImplicitRegister::FlatScratch => target.flat_scratch(),
        }
    }
}

/// Calls `f` for each range of implicit registers that the given flags select from the table [`IMPLICIT`].
#[inline]
fn implicit_registers(row: &Row, mut bits: u16, target: &Target, f: &mut impl FnMut(Role, RegRange)) {
    // Usually a mask has as many dwords as the lanes of a wave require. But a scalar instruction may use only
    // half of EXEC: `s_and_saveexec_b32` uses one dword for every wave size. So for scalar instructions, the
    // width of the mask is that of the first operand.
    let masks =
        if row.is_salu() { row.ops.first().map_or(0, |spec| spec.width) } else { target.mask_dwords() };
    while bits != 0 {
        let (_, beside, role) = IMPLICIT[bits.trailing_zeros() as usize];
        bits &= bits - 1;
        if let Some(range) = beside.range(target, masks) {
            f(role, range);
        }
    }
}

impl Target {
    /// Returns the registers of FLAT_SCRATCH, if it is in SGPRs on this processor.
    pub fn flat_scratch(&self) -> Option<RegRange> {
        self.arch.registers.flat_scratch.map(|first| RegRange { first, len: 2 })
    }

    /// Returns the registers of the lane mask VCC or EXEC, whose low dword is `first`. The mask has one dword
    /// for waves of 32 lanes, and two for waves of 64.
    pub const fn lane_mask(&self, first: Reg) -> RegRange {
        RegRange { first, len: self.mask_dwords() }
    }
}

impl OpSpec {
    /// Returns the size of the operand in dwords. If the operand is a lane mask, the size depends on the
    /// number of lanes of the wave.
    pub fn dwords(&self, target: &Target) -> u8 {
        if self.kind == Kind::Mask { target.mask_dwords() } else { self.width }
    }
}

impl MachInst {
    /// Returns whether the operand with the given index is read, written, or both. This is the role in the
    /// instruction's row of the table, with two exceptions that depend on form and modifiers:
    ///
    /// * The data of an atomic without `glc` is only read, because the atomic does not return a value.
    /// * A destination that keeps a part of its old value is also read: `op_sel` on the destination, SDWA's
    ///   `UNUSED_PRESERVE`, and DPP lanes that are masked or have no source.
    #[inline]
    pub fn role(&self, index: usize) -> Role {
        self.role_in(self.op.row(), index)
    }

    /// Does the same as [`MachInst::role`], given the instruction's row of the table.
    #[inline]
    fn role_in(&self, row: &Row, index: usize) -> Role {
        let Some(spec) = row.ops.get(index) else {
            // The instruction table does not describe the operands of pseudo-instructions. Their destination,
            // if there is one, is operand 0.
            let defines = matches!(self.op, op::COPY | op::UNDEF | op::CALL | op::TAIL_CALL | op::STACK_END);
            return if index == 0 && defines { Role::Def } else { Role::Use };
        };
        match spec.role {
            Role::DefUse if self.returns_nothing(row) => Role::Use,
            Role::Def if index == 0 && self.keeps_part() && row.is_valu() => Role::DefUse,
            role => role,
        }
    }

    /// Returns whether the instruction is an atomic without `glc`, which does not return the old value.
    fn returns_nothing(&self, row: &Row) -> bool {
        row.flags.contains(Flags::ATOMIC)
            && !self.mods.flags.contains(ModFlags::GLC)
            && matches!(row.family, Family::Mubuf | Family::Smem)
    }

    #[inline]
    fn keeps_part(&self) -> bool {
        match self.mods.lane {
            Lane::None | Lane::Format(_) | Lane::Image { .. } => self.mods.op_sel & 8 != 0,
            Lane::Sdwa { unused, .. } => unused == 2,
            // DPP8 writes all active lanes, so no old value is kept.
            Lane::Dpp8 { .. } => false,
            Lane::Dpp { row_mask, bank_mask, .. } => {
                row_mask & bank_mask != 15 || !self.mods.flags.contains(ModFlags::BOUND_CTRL)
            }
        }
    }

    /// Calls `f` for each explicit register operand, hardware or virtual.
    pub fn for_each_reg(&self, mut f: impl FnMut(Role, Operand)) {
        let row = self.op.row();
        for (index, &operand) in self.operands().iter().enumerate() {
            match operand {
                Operand::Reg(_) | Operand::Virt(_) => f(self.role_in(row, index), operand),
                Operand::Scattered(scattered) => {
                    let registers = scattered.numbers().iter().map(|&number| Reg::vgpr(number.into()));
                    registers.for_each(|reg| f(Role::Use, Operand::reg(reg)));
                }
                _ => {}
            }
        }
    }

    /// Calls `f` for each explicit register operand that the instruction writes, hardware or virtual.
    #[inline]
    pub fn for_each_def(&self, mut f: impl FnMut(Operand)) {
        let row = self.op.row();
        let mut left = row.written;
        while left != 0 {
            let index = left.trailing_zeros() as usize;
            left &= left - 1;
            if let Some(&operand @ (Operand::Reg(_) | Operand::Virt(_))) = self.operands().get(index)
                && self.role_in(row, index) != Role::Use
            {
                f(operand);
            }
        }
    }

    /// Calls `f` for each group of implicit registers of the instruction. Such groups are SCC, VCC, EXEC, M0
    /// and FLAT_SCRATCH.
    #[inline]
    pub fn for_each_implicit(&self, target: &Target, mut f: impl FnMut(Role, RegRange)) {
        let row = self.op.row();
        let mut implicit = self.implicit();
        // Two kinds of instructions read M0. Global data share (GDS) instructions take from M0 which part of
        // the memory they use. LDS instructions before GFX9 take the limit of LDS from M0.
        let limited = !target.has(Feature::LDS_NO_M0) || self.mods.flags.contains(ModFlags::GDS);
        if row.family == Family::Ds && limited {
            implicit |= Implicit::READ_M0;
        }
        implicit_registers(row, implicit.bits() & REGISTERS, target, &mut f);
        for operand in self.operands() {
            let Operand::Reg(RegRange { first: first @ Reg(251..=254), .. }) = *operand else { continue };
            let aliases = ALIASES.iter().filter(|alias| alias.0 == first);
            aliases
                .filter_map(|alias| alias.1.range(target, target.mask_dwords()))
                .for_each(|range| f(Role::Use, range));
        }
    }

    /// Calls `f` for each group of hardware registers that the instruction uses, explicit or implicit.
    #[inline]
    pub fn for_each_hw_reg(&self, target: &Target, mut f: impl FnMut(Role, RegRange)) {
        self.for_each_reg(|role, operand| {
            if let Operand::Reg(range) = operand {
                f(role, range);
            }
        });
        self.for_each_implicit(target, f);
    }

    /// Calls `f` for each group of hardware registers that the instruction writes, explicit or implicit.
    #[inline]
    pub fn for_each_written(&self, target: &Target, mut f: impl FnMut(RegRange)) {
        self.for_each_def(|operand| {
            if let Operand::Reg(range) = operand {
                f(range);
            }
        });
        let row = self.op.row();
        implicit_registers(row, row.implicit.bits() & WRITTEN, target, &mut |_, range| f(range));
    }

    /// Returns flags for the implicit registers of the instruction, as far as they are the same on all
    /// processors. They are the flags of the instruction's table row, and READ_M0 for a load to LDS.
    pub fn implicit(&self) -> Implicit {
        let row = self.op.row();
        match self.mods.flags.contains(ModFlags::LDS) {
            true => row.implicit | Implicit::READ_M0,
            false => row.implicit,
        }
    }

    /// Returns whether the instruction is a call that returns here, so that execution continues with the next
    /// instruction.
    pub fn is_call(&self) -> bool {
        matches!(self.op, op::S_SWAPPC_B64 | op::S_CALL_B64)
    }

    /// Returns whether the instruction reads any of the registers.
    pub fn reads(&self, target: &Target, range: RegRange) -> bool {
        self.touches(target, range, Role::Def)
    }

    /// Returns whether the instruction writes at least one register of the range.
    pub fn writes(&self, target: &Target, range: RegRange) -> bool {
        self.touches(target, range, Role::Use)
    }

    fn touches(&self, target: &Target, range: RegRange, except: Role) -> bool {
        let mut found = false;
        self.for_each_hw_reg(target, |role, other| found |= role != except && range.overlaps(other));
        found
    }
}

impl RegRange {
    /// Returns whether all registers of `other` are in this range.
    pub const fn covers(self, other: RegRange) -> bool {
        self.first.0 <= other.first.0 && other.first.0 + other.len as u16 <= self.first.0 + self.len as u16
    }

    /// Returns whether the ranges have a common register.
    pub const fn overlaps(self, other: RegRange) -> bool {
        self.first.0 < other.first.0 + other.len as u16 && other.first.0 < self.first.0 + self.len as u16
    }
}
