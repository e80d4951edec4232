//! Says which values are in which registers when a kernel's first instruction runs.
//!
//! User SGPRs come first, in a fixed order. The system SGPRs follow (LLVM's AMDGPU guide, seed 000, lines
//! 2567 and 2902). A value is in registers only if the kernel descriptor requests it. If a value is missing,
//! the values after it are in lower registers.

use crate::reg::Reg;
use smallvec::SmallVec;

/// Values that a kernel descriptor can request. The hardware puts the requested values into registers before
/// the kernel's first instruction (LLVM's AMDGPU guide, seed 000, lines 2567 and 2902).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Abi {
    /// Private segment buffer, which describes scratch memory (4 user SGPRs).
    pub private_segment_buffer: bool,
    /// Whether the kernel itself writes the private segment buffer, because the runtime does not provide it.
    /// The buffer is then in four SGPRs after the system SGPRs.
    pub makes_buffer: bool,
    /// Address of the dispatch packet (2 user SGPRs).
    pub dispatch_ptr: bool,
    /// Address of the queue (2 user SGPRs).
    pub queue_ptr: bool,
    /// Address of the kernel arguments (2 user SGPRs).
    pub kernarg_ptr: bool,
    /// Dispatch id (2 user SGPRs).
    pub dispatch_id: bool,
    /// Initial value of FLAT_SCRATCH (2 user SGPRs).
    pub flat_scratch_init: bool,
    /// Work-group ids in dimensions x, y and z (1 system SGPR each).
    pub workgroup_id: [bool; 3],
    /// Offset of the wave's scratch memory (1 system SGPR).
    pub private_segment_wave_offset: bool,
    /// Which work-item ids are in VGPRs: 0 for x only, 1 for x and y, 2 for x, y and z.
    pub workitem_ids: u8,
}

/// A value that the hardware or the packet processor puts into registers before a kernel starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AbiInput {
    /// Buffer descriptor of scratch memory (4 SGPRs).
    PrivateSegmentBuffer,
    /// Address of the dispatch packet (2 SGPRs).
    DispatchPtr,
    /// Address of the queue (2 SGPRs).
    QueuePtr,
    /// Address of the kernel arguments (2 SGPRs).
    KernargPtr,
    /// Dispatch id (2 SGPRs).
    DispatchId,
    /// Initial value of FLAT_SCRATCH (2 SGPRs).
    FlatScratchInit,
    /// Work-group id in dimension 0, 1 or 2 (1 SGPR).
    WorkgroupId(u8),
    /// Offset of the wave's scratch memory (1 SGPR).
    PrivateSegmentWaveOffset,
    /// Work-item id in dimension 0, 1 or 2 (1 VGPR).
    WorkitemId(u8),
    /// Address of the hidden arguments (2 SGPRs). A function that is not a kernel receives it in registers. A
    /// kernel does not, because its hidden arguments are in memory after its own arguments.
    ImplicitArgPtr,
}

/// A value that is present when a kernel starts, with its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbiSlot {
    /// The input.
    pub input: AbiInput,
    /// First register of the value.
    pub reg: Reg,
    /// Number of registers (dwords) of the value.
    pub len: u8,
}

impl Abi {
    /// Returns the values in user SGPRs in register order. Each has its number of dwords, and whether the
    /// kernel descriptor requests it.
    const fn user_sgprs(&self) -> [(AbiInput, u8, bool); 6] {
        [
            (AbiInput::PrivateSegmentBuffer, 4, self.private_segment_buffer && !self.makes_buffer),
            (AbiInput::DispatchPtr, 2, self.dispatch_ptr),
            (AbiInput::QueuePtr, 2, self.queue_ptr),
            (AbiInput::KernargPtr, 2, self.kernarg_ptr),
            (AbiInput::DispatchId, 2, self.dispatch_id),
            (AbiInput::FlatScratchInit, 2, self.flat_scratch_init),
        ]
    }

    /// Returns the values in system SGPRs in register order. Each has its number of dwords, and whether the
    /// kernel descriptor requests it.
    const fn system_sgprs(&self) -> [(AbiInput, u8, bool); 4] {
        [
            (AbiInput::WorkgroupId(0), 1, self.workgroup_id[0]),
            (AbiInput::WorkgroupId(1), 1, self.workgroup_id[1]),
            (AbiInput::WorkgroupId(2), 1, self.workgroup_id[2]),
            (AbiInput::PrivateSegmentWaveOffset, 1, self.private_segment_wave_offset),
        ]
    }

    /// Returns all values that are present when the kernel starts, with their registers. SGPRs come first, in
    /// ascending order, then VGPRs. `v0` always holds the work-item id of dimension 0. `workitem_ids`
    /// requests the ids of the other dimensions.
    pub fn layout(&self) -> SmallVec<[AbiSlot; 13]> {
        let mut slots = SmallVec::new();
        let mut next = 0;
        for (input, len, present) in self.user_sgprs().into_iter().chain(self.system_sgprs()) {
            if present {
                slots.push(AbiSlot { input, reg: Reg::sgpr(next), len });
                next += u16::from(len);
            }
        }
        if self.private_segment_buffer && self.makes_buffer {
            // Instructions take the buffer only from registers whose number is a multiple of 4.
            let reg = Reg::sgpr(next.next_multiple_of(4));
            slots.push(AbiSlot { input: AbiInput::PrivateSegmentBuffer, reg, len: 4 });
        }
        for dim in 0..=self.workitem_ids.min(2) {
            slots.push(AbiSlot { input: AbiInput::WorkitemId(dim), reg: Reg::vgpr(u16::from(dim)), len: 1 });
        }
        slots
    }

    /// Returns the registers of a value, if the kernel has requested it.
    pub fn find(&self, input: AbiInput) -> Option<AbiSlot> {
        self.layout().into_iter().find(|slot| slot.input == input)
    }

    /// Returns the number of user SGPRs.
    pub fn user_sgpr_count(&self) -> u32 {
        self.user_sgprs().iter().filter(|(.., present)| *present).map(|&(_, len, _)| u32::from(len)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_the_hardware_s() {
        let abi = Abi {
            private_segment_buffer: true,
            kernarg_ptr: true,
            workgroup_id: [true, false, true],
            private_segment_wave_offset: true,
            workitem_ids: 1,
            ..Abi::default()
        };
        let regs: Vec<(AbiInput, u16)> = abi.layout().iter().map(|slot| (slot.input, slot.reg.0)).collect();
        assert_eq!(
            regs,
            [
                (AbiInput::PrivateSegmentBuffer, 0),
                (AbiInput::KernargPtr, 4),
                (AbiInput::WorkgroupId(0), 6),
                (AbiInput::WorkgroupId(2), 7),
                (AbiInput::PrivateSegmentWaveOffset, 8),
                (AbiInput::WorkitemId(0), 256),
                (AbiInput::WorkitemId(1), 257),
            ]
        );
        assert_eq!(abi.user_sgpr_count(), 6);
    }
}
