//! What an instruction reads and writes, said once: passes, checkers and allocators ask here.
//!
//! Explicit operands have the role of the row, refined by form and modifiers ([`MachInst::role`]). What comes beside them
//! ([`MachInst::for_each_implicit`]) depends on the processor too: lane masks have a bit for each lane of the wave, FLAT_SCRATCH
//! lies elsewhere from generation to generation, and LDS instructions read their limit from M0 where there is one.
//!
//! # Not here
//! MODE and the other hardware registers of `s_setreg`, which have no number among the registers: [`Implicit`] has bits
//! for MODE. XNACK_MASK, which nothing but a replay reads. Registers that M0 selects (`v_movrel`, `s_movrel`).

use crate::inst::{Lane, MachInst, ModFlags};
use crate::operand::{Operand, RegRange};
use crate::reg::Reg;
use crate::table::{Family, Flags, Implicit, Kind, OpSpec, Role, Row, op};
use crate::target::{Feature, Generation, Target};

/// Where FLAT_SCRATCH lies, by generation: GFX6 has none, on GFX10 it is no SGPR.
const FLAT_SCRATCH: [Option<Reg>; Generation::COUNT] =
    [None, Some(Reg(104)), Some(Reg::FLAT_SCRATCH), Some(Reg::FLAT_SCRATCH), None];

/// Registers beside the operands: bit, which, whether written. A row is found by the number of its bit.
const IMPLICIT: [(Implicit, Beside, Role); 9] = [
    (Implicit::READ_SCC, Beside::One(Reg::SCC), Role::Use),
    (Implicit::READ_VCC, Beside::Mask(Reg::VCC), Role::Use),
    (Implicit::READ_EXEC, Beside::Mask(Reg::EXEC), Role::Use),
    (Implicit::READ_M0, Beside::One(Reg::M0), Role::Use),
    (Implicit::READ_FLAT_SCRATCH, Beside::FlatScratch, Role::Use),
    (Implicit::WRITE_SCC, Beside::One(Reg::SCC), Role::Def),
    (Implicit::WRITE_VCC, Beside::Mask(Reg::VCC), Role::Def),
    (Implicit::WRITE_EXEC, Beside::Mask(Reg::EXEC), Role::Def),
    (Implicit::WRITE_M0, Beside::One(Reg::M0), Role::Def),
];

const _: () = {
    let mut n = 0;
    while n < IMPLICIT.len() {
        assert!(IMPLICIT[n].0.bits() == 1 << n);
        n += 1;
    }
};

/// The bits of [`IMPLICIT`].
const REGISTERS: u16 = (1 << IMPLICIT.len()) - 1;

/// Those of which it is said that they are written.
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

/// A register beside the operands.
#[derive(Clone, Copy)]
enum Beside {
    One(Reg),
    /// A lane mask.
    Mask(Reg),
    FlatScratch,
}

/// Operands that stand for a register of another number.
const ALIASES: [(Reg, Beside); 3] = [
    (Reg::VCCZ, Beside::Mask(Reg::VCC)),
    (Reg::EXECZ, Beside::Mask(Reg::EXEC)),
    // What the LDS sends is at the address in M0.
    (Reg::LDS_DIRECT, Beside::One(Reg::M0)),
];

impl Beside {
    fn range(self, target: &Target, masks: u8) -> Option<RegRange> {
        match self {
            Beside::One(first) => Some(RegRange { first, len: 1 }),
            Beside::Mask(first) => Some(RegRange { first, len: masks }),
            Beside::FlatScratch => target.flat_scratch(),
        }
    }
}

/// Calls `f` for the registers of some bits of [`IMPLICIT`].
#[inline]
fn beside(row: &Row, mut bits: u16, target: &Target, f: &mut impl FnMut(Role, RegRange)) {
    // `s_and_saveexec_b32` is about one dword of EXEC in any wave.
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
    /// The registers of FLAT_SCRATCH, if it is among the SGPRs.
    pub fn flat_scratch(&self) -> Option<RegRange> {
        FLAT_SCRATCH[self.generation as usize].map(|first| RegRange { first, len: 2 })
    }

    /// The registers of a lane mask that begins there: VCC, EXEC.
    pub const fn lane_mask(&self, first: Reg) -> RegRange {
        RegRange { first, len: self.mask_dwords() }
    }
}

impl OpSpec {
    /// Dwords of the operand: lane masks have a bit for each lane of the wave.
    pub fn dwords(&self, target: &Target) -> u8 {
        if self.kind == Kind::Mask { target.mask_dwords() } else { self.width }
    }
}

impl MachInst {
    /// How the operand of that index is accessed: the row's role, refined by form and modifiers.
    ///
    /// * An atomic without `glc` does not return a value: its data is only read.
    /// * A destination of which a part keeps its old value is read too: `op_sel` on the destination, SDWA's
    ///   `UNUSED_PRESERVE`, DPP lanes that are masked or have no source.
    #[inline]
    pub fn role(&self, index: usize) -> Role {
        self.role_in(self.op.row(), index)
    }

    /// The same, by the instruction's row.
    #[inline]
    fn role_in(&self, row: &Row, index: usize) -> Role {
        let Some(spec) = row.ops.get(index) else {
            // Operands of pseudos: destination first.
            let defines = matches!(self.op, op::COPY | op::UNDEF | op::CALL | op::TAIL_CALL | op::STACK_END);
            return if index == 0 && defines { Role::Def } else { Role::Use };
        };
        match spec.role {
            Role::DefUse if self.returns_nothing(row) => Role::Use,
            Role::Def if index == 0 && self.keeps_part() && row.is_valu() => Role::DefUse,
            role => role,
        }
    }

    /// Whether it is an atomic that only reads its data, by want of `glc`.
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
            // Every lane is written.
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

    /// Calls `f` for each explicit register operand that it writes, hardware or virtual.
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

    /// Calls `f` for each group of registers beside the operands: SCC, VCC, EXEC, M0, FLAT_SCRATCH.
    #[inline]
    pub fn for_each_implicit(&self, target: &Target, mut f: impl FnMut(Role, RegRange)) {
        let row = self.op.row();
        let mut implicit = self.implicit();
        // GDS takes its part of the memory from M0, LDS before GFX9 its limit.
        let limited = !target.has(Feature::LDS_NO_M0) || self.mods.flags.contains(ModFlags::GDS);
        if row.family == Family::Ds && limited {
            implicit |= Implicit::READ_M0;
        }
        beside(row, implicit.bits() & REGISTERS, target, &mut f);
        for operand in self.operands() {
            let Operand::Reg(RegRange { first: first @ Reg(251..=254), .. }) = *operand else { continue };
            let aliases = ALIASES.iter().filter(|alias| alias.0 == first);
            aliases
                .filter_map(|alias| alias.1.range(target, target.mask_dwords()))
                .for_each(|range| f(Role::Use, range));
        }
    }

    /// Calls `f` for each group of hardware registers, named or not.
    #[inline]
    pub fn for_each_hw_reg(&self, target: &Target, mut f: impl FnMut(Role, RegRange)) {
        self.for_each_reg(|role, operand| {
            if let Operand::Reg(range) = operand {
                f(role, range);
            }
        });
        self.for_each_implicit(target, f);
    }

    /// Calls `f` for each group of hardware registers that it writes, named or not.
    #[inline]
    pub fn for_each_written(&self, target: &Target, mut f: impl FnMut(RegRange)) {
        self.for_each_def(|operand| {
            if let Operand::Reg(range) = operand {
                f(range);
            }
        });
        let row = self.op.row();
        beside(row, row.implicit.bits() & WRITTEN, target, &mut |_, range| f(range));
    }

    /// Implicit registers that are the same on every processor: the row's, and M0 for a load to LDS.
    pub fn implicit(&self) -> Implicit {
        let row = self.op.row();
        match self.mods.flags.contains(ModFlags::LDS) {
            true => row.implicit | Implicit::READ_M0,
            false => row.implicit,
        }
    }

    /// Whether it calls: control comes back behind it.
    pub fn is_call(&self) -> bool {
        matches!(self.op, op::S_SWAPPC_B64 | op::S_CALL_B64)
    }

    /// Whether it reads any of the registers.
    pub fn reads(&self, target: &Target, range: RegRange) -> bool {
        self.touches(target, range, Role::Def)
    }

    /// Whether it writes any of the registers.
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
    /// Whether all registers of `other` are in it.
    pub const fn covers(self, other: RegRange) -> bool {
        self.first.0 <= other.first.0 && other.first.0 + other.len as u16 <= self.first.0 + self.len as u16
    }

    /// Whether the groups share a register.
    pub const fn overlaps(self, other: RegRange) -> bool {
        self.first.0 < other.first.0 + other.len as u16 && other.first.0 < self.first.0 + self.len as u16
    }
}
