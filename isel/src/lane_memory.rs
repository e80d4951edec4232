//! Exchanges values between lanes through LDS, for processors without `ds_bpermute_b32` (GFX6, GFX7).
//!
//! Each work-item has its own dword at the beginning of LDS, and the dwords of a wave are adjacent. All lanes
//! write their dwords, then each lane reads another lane's dword. LDS processes the operations of a wave in
//! order, each for all lanes at once (LLVM's AMDGPU guide, seed 000, line 3080), and no other wave accesses
//! these dwords. So no wait is needed between the write and the read.

use crate::class::reqd;
use crate::lower::Lower;
use crate::roles::Role;
use ir::Function;
use isa::{MemId, ModFlags, Operand};
use mir::{MemRef, SPACE_SHARED};

/// The bits of an LDS byte address that say which lane of the wave a dword belongs to: the lane number, times
/// 4.
const LANE_BYTES: u32 = 63 * 4;

/// Returns the number of LDS bytes that a work-group needs so that its lanes can exchange values.
pub(crate) fn bytes(func: &Function) -> u32 {
    let most = func.kernel.as_ref().map_or(1024, |kernel| kernel.max_flat_workgroup_size());
    most.next_multiple_of(64) * 4
}

impl Lower<'_> {
    /// Emits code by which each lane reads the `value` of another lane. The operands are `dst, lane * 4,
    /// value`, where `lane` is the number of the lane to read from.
    pub fn permute_through_lds(&mut self, o: &[Operand]) {
        let (own, other, mem) = self.lane_slots(o[1]);
        self.push_mem(Role::LdsWriteB32, &[own, o[2]], 0, ModFlags::empty(), mem);
        self.push_mem(Role::LdsReadB32, &[o[0], other], 0, ModFlags::empty(), mem);
    }

    /// Emits code by which each lane sends its `value` to another lane. The operands are `dst, lane * 4,
    /// value`, where `lane` is the number of the receiving lane. A lane that receives nothing gets 0.
    pub fn send_through_lds(&mut self, o: &[Operand]) {
        let (own, other, mem) = self.lane_slots(o[1]);
        let zero = self.vtemp(1);
        self.copy(zero, Operand::int(0));
        self.push_mem(Role::LdsWriteB32, &[own, zero], 0, ModFlags::empty(), mem);
        self.push_mem(Role::LdsWriteB32, &[other, o[2]], 0, ModFlags::empty(), mem);
        self.push_mem(Role::LdsReadB32, &[o[0], own], 0, ModFlags::empty(), mem);
    }

    /// Returns the LDS addresses of the current lane's own dword and of the dword of lane number `lane`, and
    /// the memory attributes of the accesses.
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

    /// Computes the LDS address of the work-item's own dword, if lanes exchange values through LDS. The
    /// address is four times the number of the work-item in its work-group, plus the start of the memory for
    /// exchanges. The code is emitted at the beginning of the entry block.
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

    /// Returns the size of a work-group in dimension `d`.
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
