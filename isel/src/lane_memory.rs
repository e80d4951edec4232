//! Values of other lanes by way of LDS, for processors without `ds_bpermute_b32` (GFX6, GFX7).
//!
//! Each work-item has a dword of its own at the beginning of LDS, those of a wave side by side: all lanes write theirs, then each reads that of
//! another. LDS does what a wave asks for in order, for all its lanes at once (seed 000, line 3080), and no other wave comes near, so there
//! is nothing to wait for.

use crate::class::reqd;
use crate::lower::Lower;
use crate::roles::Role;
use ir::Function;
use isa::func::SPACE_SHARED;
use isa::{MemId, MemRef, ModFlags, Operand};

/// What of an address of dwords says which lane of a wave is meant.
const LANE_BYTES: u32 = 63 * 4;

/// Bytes of LDS for a group of the function.
pub(crate) fn bytes(func: &Function) -> u32 {
    let most = func.kernel.as_ref().map_or(1024, |kernel| kernel.max_flat_workgroup_size());
    most.next_multiple_of(64) * 4
}

impl Lower<'_> {
    /// `dst, lane * 4, value`.
    pub fn permute_through_lds(&mut self, o: &[Operand]) {
        let (own, other, mem) = self.lane_slots(o[1]);
        self.push_mem(Role::LdsWriteB32, &[own, o[2]], 0, ModFlags::empty(), mem);
        self.push_mem(Role::LdsReadB32, &[o[0], other], 0, ModFlags::empty(), mem);
    }

    /// `dst, lane * 4, value`.
    pub fn send_through_lds(&mut self, o: &[Operand]) {
        let (own, other, mem) = self.lane_slots(o[1]);
        let zero = self.vtemp(1);
        self.copy(zero, Operand::int(0));
        self.push_mem(Role::LdsWriteB32, &[own, zero], 0, ModFlags::empty(), mem);
        self.push_mem(Role::LdsWriteB32, &[other, o[2]], 0, ModFlags::empty(), mem);
        self.push_mem(Role::LdsReadB32, &[o[0], own], 0, ModFlags::empty(), mem);
    }

    /// Where a lane's own dword is, and that of the lane it names.
    fn lane_slots(&mut self, lane: Operand) -> (Operand, Operand, MemId) {
        self.reaches_lds = true;
        let own = match self.lane_slot {
            Some(own) => own,
            None => {
                let own = self.vtemp(1);
                *self.lane_slot.insert(own)
            }
        };
        let (other, bits) = (self.vtemp(1), self.sgpr_const(LANE_BYTES));
        let mem = self.out.mem_ref(MemRef { spaces: SPACE_SHARED, ..MemRef::default() });
        self.emit(Role::VBfiB32, &[other, bits, lane, own]);
        (own, other, mem)
    }

    /// Where a work-item's dword is, at the beginning of the entry: at four times its number in the group, from where the group's dwords begin.
    pub fn init_lane_slot(&mut self) {
        let Some(slot) = self.lane_slot else { return };
        let size = reqd(self.func);
        let mut number = None;
        for d in (0..3).rev().filter(|&d| size.is_none_or(|size| size[usize::from(d)] != 1)) {
            let local = self.local_id(d);
            number = Some(match number {
                None => local,
                Some(rows) => {
                    let (sum, length) = (self.vtemp(1), self.local_size_of(d));
                    self.emit(Role::VMadU32U24, &[sum, rows, length, local]);
                    sum
                }
            });
        }
        let offset = if self.opts.exchange.is_some() { self.vtemp(1) } else { slot };
        match number {
            Some(number) => self.emit(Role::VShlB32, &[offset, Operand::int(2), number]),
            None => self.copy(offset, Operand::int(0)),
        }
        if let Some(exchange) = self.opts.exchange {
            let base = self.stemp(1);
            self.linked_address(base, exchange);
            self.emit(Role::VAddU32, &[slot, base, offset]);
        }
    }

    /// The size of a group in a dimension.
    fn local_size_of(&mut self, d: u8) -> Operand {
        match reqd(self.func) {
            Some(size) => Operand::int(size[usize::from(d)] as i32),
            None => {
                let size = self.stemp(1);
                self.local_size(size, d);
                size
            }
        }
    }
}
