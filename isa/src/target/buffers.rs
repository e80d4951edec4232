//! Facts about buffer resource descriptors, the four SGPRs that describe a buffer.
//!
//! # Source
//! Southern Islands, Sea Islands, GCN3, Vega and RDNA ISA, "Buffer Resource Descriptor" and "Range Checking".

/// Format and rules of buffer resource descriptors.
#[derive(Clone, Copy, Debug)]
pub struct Buffers {
    /// Whether bits 20:19 of the descriptor's fourth dword give the size of an element of a swizzled buffer.
    /// If not, the size of an element is always 4 bytes.
    pub element_size_field: bool,
    /// Whether bits 18:15 of the descriptor's fourth dword have two meanings. Usually these bits are the data
    /// format. If the lane number is added to the index (`add_tid_enable`), they are bits 17:14 of the
    /// stride.
    pub lane_stride_bits: bool,
    /// How the hardware checks whether an access is in the buffer.
    pub range_check: RangeCheck,
    /// Bits of the fourth dword in the descriptor with which ROCm's runtime describes a wave's scratch memory
    /// (LLVM's AMDGPU guide, seed 000, lines 2925-2950). The bits for the size of a wavefront are not
    /// included.
    pub scratch_format: u32,
    /// The same bits, as LLVM 19 sets them in kernels that write the descriptor of scratch memory themselves.
    pub own_scratch_format: u32,
}

/// How the hardware checks whether an access is in a buffer. The size of the buffer is in bytes or in
/// records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeCheck {
    /// The size is in bytes if the stride is 0, and in records otherwise.
    RecordsIfStride,
    /// The size is in records if the stride is not 0 and the buffer is swizzled, and in bytes otherwise. If
    /// the size is in bytes, the offset that is compared with it includes the offset of the record.
    RecordsIfSwizzled,
    /// The size is in records if the stride is not 0 and the instruction has an index, and in bytes
    /// otherwise.
    RecordsIfIndexed,
    /// The field `OOB_SELECT`, bits 29:28 of the fourth dword, selects the check.
    Selected,
}

/// Contents of the fourth dword of the descriptor of scratch memory.
pub(super) mod word3 {
    /// The size of an element is 4 bytes.
    pub(crate) const ELEMENT_SIZE_4: u32 = 1 << 19;
    /// `BUF_DATA_FORMAT_32`
    pub(crate) const DATA_FORMAT_32: u32 = 4 << 15;
    /// `BUF_NUM_FORMAT_UINT`
    pub(crate) const NUM_FORMAT_UINT: u32 = 4 << 12;
    /// `BUF_FMT_32_UINT`, where a format is one number.
    pub(crate) const FORMAT_32_UINT: u32 = 20 << 12;
    /// Field `FORMAT`: one 32-bit float.
    pub(crate) const FORMAT_32_FLOAT: u32 = 22 << 12;
    /// `RESOURCE_LEVEL`
    pub(crate) const RESOURCE_LEVEL: u32 = 1 << 24;
    /// `OOB_SELECT` 2: an access is out of range only if the descriptor says that the buffer has no records.
    pub(crate) const OOB_ONLY_EMPTY: u32 = 2 << 28;
    /// Field `OOB_SELECT`: a byte offset is out of range from the size on.
    pub(crate) const OOB_RAW: u32 = 3 << 28;
}
