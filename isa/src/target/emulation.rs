//! What the emulator knows about a family.
//!
//! These facts were read from the ISA manuals a second time, independently of the compiler's facts. The
//! emulator therefore gives a second opinion on the compiler. No package of the compiler uses these facts.
//!
//! # Source
//! Southern Islands, Sea Islands, GCN3, Vega and RDNA ISA: the descriptions of the instructions. AMDGPU guide
//! (seed 000), "Memory Model", for the caches.

/// Behaviour of instructions and caches that differs between families.
#[derive(Clone, Copy, Debug)]
pub struct Emulation {
    /// Numbers of the parts of the emulated device. Real devices of a family differ in these numbers.
    pub device: DeviceSize,
    /// Vector caches.
    pub caches: VectorCaches,
    /// What an instruction with a 16-bit result does to the upper half of the result's register.
    pub half_results: HalfResults,
    /// Whether a load of packed 16-bit components clears the unused half of the last register.
    pub d16_loads_clear: bool,
    /// Whether MODE decides if minimum, maximum and median flush denormals. If not, they keep denormals.
    pub extrema_obey_denormal_mode: bool,
    /// Result of `v_frexp_exp_*` for infinities and NaNs.
    pub frexp_exp_of_special: i32,
    /// Whether `ds_swizzle_b32` has two more patterns: rotation, and the butterfly of a Fourier transform.
    pub swizzle_rotates: bool,
    /// Unit in which the hardware register GPR_ALLOC counts SGPRs (from the code of the Linux kernel that
    /// saves the state of a wave).
    pub gpr_alloc_sgprs: u32,
}

/// Numbers of the parts of a device.
#[derive(Clone, Copy, Debug)]
pub struct DeviceSize {
    /// Shader engines.
    pub engines: u64,
    /// Shader arrays of an engine.
    pub arrays: u64,
    /// Number of compute units of a shader array. If the processor has work-group processors, the number of
    /// these.
    pub units: u64,
}

/// The vector caches between a compute unit and L2.
#[derive(Clone, Copy, Debug)]
pub struct VectorCaches {
    /// Size of a line in bytes.
    pub line_bytes: u64,
    /// Whether the compute units of a shader array share a second cache, GL1, behind their first-level
    /// caches.
    pub gl1: bool,
}

/// What an instruction with a 16-bit result does to the upper half of the result's register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HalfResults {
    /// The upper half becomes zero.
    ClearHigh,
    /// Two sorts of instructions keep the upper half: those with `op_sel`, and those that add to their
    /// destination. All other instructions clear it.
    KeepHighIfSelectable,
    /// The upper half keeps its value.
    KeepHigh,
}
