//! Facts about kernel descriptors.

use super::Target;

bitflags::bitflags! {
    /// Fields of the kernel descriptor that not every family has (LLVM's AMDGPU guide, seed 000, line 2567).
    /// The fields of gfx90a are not in this guide; they are those that LLVM 19's assembler writes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct DescriptorFields: u16 {
        /// `fp16_ovfl`: 16-bit overflow gives the largest number.
        const FP16_OVERFLOW = 1;
        /// `enable_wavefront_size32`.
        const WAVEFRONT_SIZE32 = 1 << 1;
        /// `wgp_mode`: the waves of a work-group may run on both compute units of a work-group processor.
        const WGP_MODE = 1 << 2;
        /// `mem_ordered`: loads and samples return in order.
        const MEM_ORDERED = 1 << 3;
        /// `fwd_progress`: older waves do not starve younger waves.
        const FORWARD_PROGRESS = 1 << 4;
        /// `shared_vgpr_count`: VGPRs that both halves of a wave of 64 lanes share.
        const SHARED_VGPRS = 1 << 5;
        /// `kernarg_preload`: the hardware loads the first kernel arguments into SGPRs.
        const KERNARG_PRELOAD = 1 << 6;
        /// `accum_offset`: where accumulation registers begin in the register file that they share with
        /// VGPRs.
        const ACCUM_OFFSET = 1 << 7;
        /// `tg_split`: the waves of a work-group may run on several compute units.
        const TG_SPLIT = 1 << 8;
        /// The inputs with which a kernel sets up its private memory: `enable_sgpr_private_segment_buffer`,
        /// `enable_sgpr_flat_scratch_init` and `enable_sgpr_private_segment_wavefront_offset`.
        const SCRATCH_SETUP = 1 << 9;
        /// `enable_private_segment`: the hardware sets FLAT_SCRATCH to the address of the wave's private
        /// memory.
        const PRIVATE_SEGMENT = 1 << 10;
        /// `.amdhsa_reserve_flat_scratch`: a kernel can leave out FLAT_SCRATCH. Without this directive, every
        /// kernel counts FLAT_SCRATCH among its SGPRs.
        const RESERVE_FLAT_SCRATCH = 1 << 11;
        /// `.amdhsa_reserve_xnack_mask`: a kernel can leave out XNACK_MASK.
        const RESERVE_XNACK_MASK = 1 << 12;
    }
}

/// What a family has in its kernel descriptors.
#[derive(Clone, Copy, Debug)]
pub struct DescriptorFacts {
    /// The fields that not every family has.
    pub fields: DescriptorFields,
    /// Whether the descriptor says how many SGPRs a wave has. Otherwise every wave has all SGPRs, and the
    /// field is 0.
    pub counts_sgprs: bool,
    /// Number of SGPRs that a kernel with FLAT_SCRATCH requests in addition to the numbered ones. It includes
    /// the special registers before FLAT_SCRATCH, such as VCC, because these registers lie behind each other.
    /// `None` if the assembler does not count FLAT_SCRATCH.
    pub sgprs_with_flat_scratch: Option<u32>,
    /// The same for a kernel with XNACK_MASK.
    pub sgprs_with_xnack_mask: Option<u32>,
}

impl DescriptorFields {
    /// Returns whether the descriptors of a processor have all fields of the set.
    pub fn has(self, target: &Target) -> bool {
        target.arch.descriptor.fields.contains(self)
    }
}
