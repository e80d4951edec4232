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
    /// Whether the user SGPRs are those of AMDPAL's compute shaders: 16 registers with fixed contents ([`PAL`]).
    /// The kernel itself writes [`AbiInput::PrivateSegmentBuffer`] and [`AbiInput::KernargPtr`] there. The
    /// address of the kernel arguments is then in two SGPRs after the system SGPRs.
    pub pal: bool,
    /// Which dwords of the kernel arguments the kernel reads from AMDPAL's user SGPRs.
    pub user_data: [bool; PAL.user_data],
    /// Address of the numbers of work-groups (AMDPAL, 2 user SGPRs).
    pub group_counts: bool,
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

/// The fixed user SGPRs of AMDPAL's compute shaders.
#[derive(Debug)]
pub struct PalRegisters {
    /// Number of user SGPRs.
    pub count: u16,
    /// Low half of the address of the global internal table.
    pub global_table: u16,
    /// First SGPR with dwords of the kernel arguments.
    pub first_user_data: u16,
    /// Number of these SGPRs.
    pub user_data: usize,
    /// Low half of the address of the spill table, which has the kernel arguments.
    pub spill_table: u16,
    /// Address of the numbers of work-groups (2 SGPRs).
    pub group_counts: u16,
    /// Offset in bytes of the descriptor of scratch memory in the global internal table.
    pub scratch_descriptor: i64,
}

/// The fixed user SGPRs of AMDPAL's compute shaders (LLVM's AMDGPU guide, seed 000, lines 4311 and 4340). The
/// upper half of the tables' addresses is that of the program counter.
pub const PAL: PalRegisters = PalRegisters {
    count: 16,
    global_table: 0,
    first_user_data: 2,
    user_data: 10,
    spill_table: 12,
    group_counts: 13,
    scratch_descriptor: 16,
};

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
    /// Dword of the kernel arguments (AMDPAL, 1 SGPR).
    UserData(u8),
    /// Address of the numbers of work-groups (AMDPAL, 2 SGPRs).
    GroupCounts,
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
            (AbiInput::KernargPtr, 2, self.kernarg_ptr && !self.pal),
            (AbiInput::DispatchId, 2, self.dispatch_id),
            (AbiInput::FlatScratchInit, 2, self.flat_scratch_init),
        ]
    }

    /// Returns the values in AMDPAL's user SGPRs that the kernel reads.
    fn pal_user_sgprs(&self) -> impl Iterator<Item = AbiSlot> {
        let user_data = (0..).zip(self.user_data).filter(|&(_, present)| present).map(|(n, _)| AbiSlot {
            input: AbiInput::UserData(n),
            reg: Reg::sgpr(PAL.first_user_data + u16::from(n)),
            len: 1,
        });
        let counts = AbiSlot { input: AbiInput::GroupCounts, reg: Reg::sgpr(PAL.group_counts), len: 2 };
        user_data.chain(self.group_counts.then_some(counts))
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
        if self.pal {
            slots.extend(self.pal_user_sgprs());
            next = PAL.count;
        }
        for (input, len, present) in self.user_sgprs().into_iter().chain(self.system_sgprs()) {
            if present {
                slots.push(AbiSlot { input, reg: Reg::sgpr(next), len });
                next += u16::from(len);
            }
        }
        if self.pal && self.kernarg_ptr {
            // Instructions take addresses only from registers with an even number.
            let reg = Reg::sgpr(next.next_multiple_of(2));
            slots.push(AbiSlot { input: AbiInput::KernargPtr, reg, len: 2 });
            next = reg.number() + 2;
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

    /// Requests an input of a kernel.
    pub fn request(&mut self, input: AbiInput) {
        match input {
            AbiInput::PrivateSegmentBuffer => self.private_segment_buffer = true,
            AbiInput::DispatchPtr => self.dispatch_ptr = true,
            AbiInput::QueuePtr => self.queue_ptr = true,
            AbiInput::KernargPtr => self.kernarg_ptr = true,
            AbiInput::DispatchId => self.dispatch_id = true,
            AbiInput::FlatScratchInit => self.flat_scratch_init = true,
            AbiInput::WorkgroupId(d) => self.workgroup_id[usize::from(d)] = true,
            AbiInput::PrivateSegmentWaveOffset => self.private_segment_wave_offset = true,
            AbiInput::WorkitemId(d) => self.workitem_ids = self.workitem_ids.max(d),
            AbiInput::UserData(n) => self.user_data[usize::from(n)] = true,
            AbiInput::GroupCounts => self.group_counts = true,
            AbiInput::ImplicitArgPtr => {}
        }
    }

    /// Returns the number of user SGPRs.
    pub fn user_sgpr_count(&self) -> u32 {
        if self.pal {
            return PAL.count.into();
        }
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

    #[test]
    fn registers_of_pal_are_fixed() {
        let mut abi = Abi { pal: true, makes_buffer: true, ..Abi::default() };
        abi.user_data[9] = true;
        abi.group_counts = true;
        abi.kernarg_ptr = true;
        abi.private_segment_buffer = true;
        abi.workgroup_id[1] = true;
        abi.private_segment_wave_offset = true;
        let regs: Vec<(AbiInput, u16)> = abi.layout().iter().map(|slot| (slot.input, slot.reg.0)).collect();
        assert_eq!(
            regs,
            [
                (AbiInput::UserData(9), 11),
                (AbiInput::GroupCounts, 13),
                (AbiInput::WorkgroupId(1), 16),
                (AbiInput::PrivateSegmentWaveOffset, 17),
                (AbiInput::KernargPtr, 18),
                (AbiInput::PrivateSegmentBuffer, 20),
                (AbiInput::WorkitemId(0), 256),
            ]
        );
        assert_eq!(abi.user_sgpr_count(), 16);
    }
}
