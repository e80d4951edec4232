//! Facts about the parts of a device.

/// The parts of a device that the waves of a work-group use.
#[derive(Clone, Copy, Debug)]
pub struct Device {
    /// Whether two compute units form a work-group processor (RDNA ISA, "Work-group processor"). A work-group
    /// then runs on both compute units (WGP mode) or on one of them (CU mode), and can use the LDS of both.
    pub workgroup_processors: bool,
    /// Number of lanes that the vector ALU of a SIMD processes in a cycle.
    pub simd_lanes: u32,
    /// Whether each SIMD has a scalar ALU of its own. If not, the SIMDs of a compute unit share a scalar ALU.
    pub scalar_alu_per_simd: bool,
    /// Positions of the fields in the hardware register that says on which SIMD and compute unit a wave runs.
    pub wave_place: WavePlace,
}

/// Positions of the lowest bits of the fields of HW_ID, or of HW_ID1 where this register exists. The field
/// for the slot of the wave in its SIMD starts at bit 0 (Southern Islands to Vega ISA, "Hardware ID"; RDNA
/// ISA, "HW_ID1").
#[derive(Clone, Copy, Debug)]
pub struct WavePlace {
    /// SIMD.
    pub simd: u32,
    /// Compute unit or work-group processor.
    pub unit: u32,
    /// Shader array.
    pub array: u32,
    /// Shader engine.
    pub engine: u32,
    /// Slot of the work-group. `None` if this field is in HW_ID2.
    pub group: Option<u32>,
}
