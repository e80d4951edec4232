//! Recognises jump tables. A jump table is entered by a `s_setpc_b64` whose address is the program counter
//! plus a bounded number.
//!
//! ```text
//! s_min_u32 i, x, 17           the bound; or v_min_u32 v, 17, x and v_readfirstlane_b32 i, v under one EXEC
//! s_lshl2_add_u32 t, i, 12     or s_lshl_b32 y, i, 2 and s_add_u32 t, y, 12
//! s_getpc_b64 p
//! s_add_u32 q, p, t
//! s_addc_u32 q+1, p+1, 0
//! s_setpc_b64 q
//! ```
//!
//! For every value of `x`, the jump goes to one of the addresses `p + 12 + 4 * i`. This holds if no jump
//! enters the sequence after the bound, which is checked when all code is known. Other instructions between
//! those above are skipped, if they write none of the registers. In a wave without an active lane,
//! `v_readfirstlane_b32` would read lane 0, which the bound has not written. This does not happen, because
//! compilers branch around code that has no active lane.

use isa::table::{Flags, Role};
use isa::{Lane, MachInst, Operand, Reg, RegRange, Target, op};

/// Number of instructions before the jump that are examined.
const REACH: usize = 64;
/// The register EXEC with both halves. Waves of 32 lanes use only the lower half, but no instruction writes
/// the upper half there, so the same range serves for them.
const EXEC: RegRange = RegRange { first: Reg::EXEC, len: 2 };
/// Maximum number of entries of a table. It follows from the range of an `s_branch`.
const MOST: u32 = 1 << 15;

/// A jump table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    /// Address of the first entry.
    pub first: u64,
    /// Number of entries.
    pub count: u32,
    /// Address of the instruction that bounds the index.
    pub since: u64,
}

impl Table {
    /// Returns the addresses of the entries.
    pub fn targets(self) -> impl Iterator<Item = u64> {
        (0..u64::from(self.count)).map(move |n| self.first.wrapping_add(4 * n))
    }
}

/// Returns the jump table through which a jump to the address in `pair` goes, if there is one. `before` gives
/// the instructions before the jump, last first, with their addresses and sizes.
pub(crate) fn find<'a>(
    target: &Target,
    pair: Operand,
    before: impl Iterator<Item = (u64, &'a MachInst, u64)>,
) -> Option<Table> {
    let mut walk = Walk { target, before: before.take(REACH) };
    let Operand::Reg(RegRange { first: jump, len: 2, .. }) = pair else { return None };
    let (_, high, _) = walk.next()?;
    let (_, low, _) = walk.next()?;
    let (at, getpc, bytes) = walk.next()?;
    let Operand::Reg(RegRange { first: pc, len: 2, .. }) = getpc.ops[0] else { return None };
    let is = |inst: &MachInst, opcode, half| {
        let (to, from) = (Operand::reg(jump.offset(half)), Operand::reg(pc.offset(half)));
        inst.op == opcode && inst.ops[0] == to && inst.ops[1] == from
    };
    let computed = getpc.op == op::S_GETPC_B64 && is(low, op::S_ADD_U32, 0) && is(high, op::S_ADDC_U32, 1);
    if !computed || high.ops[2].const_u32() != Some(0) {
        return None;
    }
    let (distance, _) = walk.writer(low.ops[2])?;
    let (index, bias) = match distance.op {
        op::S_LSHL2_ADD_U32 => (distance.ops[1], distance.ops[2].const_u32()?),
        op::S_ADD_U32 => {
            let (shift, _) = walk.writer(distance.ops[1])?;
            let by_two = shift.op == op::S_LSHL_B32 && shift.ops[2].const_u32() == Some(2);
            (by_two.then_some(shift.ops[1])?, distance.ops[2].const_u32()?)
        }
        _ => return None,
    };
    let (mut bound, mut since) = walk.writer(index)?;
    let mut least = op::S_MIN_U32;
    if bound.op == op::V_READFIRSTLANE_B32 {
        (bound, since) = walk.writer(bound.ops[1])?;
        least = op::V_MIN_U32;
    }
    let whole = bound.op == least && bound.mods.lane == Lane::None;
    // Unoptimised code may compute the minimum of two constants. The smaller constant is then the bound.
    let constants = bound.ops[1..=2].iter().filter_map(|it| it.const_u32());
    let most = constants.min().filter(|&most| whole && most < MOST)?;
    let first = at.wrapping_add(bytes).wrapping_add(u64::from(bias));
    Some(Table { first, count: most + 1, since })
}

struct Walk<'t, I> {
    target: &'t Target,
    before: I,
}

impl<'a, I: Iterator<Item = (u64, &'a MachInst, u64)>> Walk<'_, I> {
    fn next(&mut self) -> Option<(u64, &'a MachInst, u64)> {
        self.before.next()
    }

    /// Returns the instruction that has written a register. For a vector register, this is the instruction
    /// that has written the lanes that are active at the jump.
    fn writer(&mut self, operand: Operand) -> Option<(&'a MachInst, u64)> {
        let Operand::Reg(wanted @ RegRange { len: 1, .. }) = operand else { return None };
        loop {
            let (address, inst, _) = self.next()?;
            // The search ends at a branch, and at an instruction whose destination register is selected by
            // another register.
            if inst.op.row().flags.contains(Flags::BRANCH) || inst.op.row().name.starts_with("s_movrel") {
                return None;
            }
            if self.writes(inst, wanted) {
                return (inst.ops[0] == operand).then_some((inst, address));
            }
            if wanted.first.is_vgpr() && self.writes(inst, EXEC) {
                return None;
            }
        }
    }

    /// Returns whether an instruction writes one of these registers.
    fn writes(&self, inst: &MachInst, registers: RegRange) -> bool {
        let mut writes = false;
        inst.for_each_reg(|role, operand| {
            writes |=
                role != Role::Use && matches!(operand, Operand::Reg(range) if range.overlaps(registers));
        });
        inst.for_each_implicit(self.target, |role, range| {
            writes |= role != Role::Use && range.overlaps(registers);
        });
        writes
    }
}
