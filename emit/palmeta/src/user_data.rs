//! User data: what the runtime writes into the user SGPRs of a shader, and the layout of a kernel's
//! parameters.
//!
//! The value of a register such as `COMPUTE_USER_DATA_2` in the metadata says what the runtime puts into user
//! SGPR 2: a number below 0x10000000 is the index of an entry of the application's user data, and the larger
//! numbers of [`Mapping`] name values of the runtime.
//!
//! # Source
//! LLVM's AMDGPU guide, user data of compute shaders and global internal table (seed 000, line 4299); AMD's
//! PAL, `palPipelineAbi.h`, `UserDataMapping`.

use crate::stage::Stage;
use std::fmt;

/// Number of user SGPRs of a compute shader.
pub const COMPUTE_REGISTERS: u32 = 16;
/// First user SGPR that holds application-controlled user data of a compute shader.
pub const FIRST_APPLICATION_REGISTER: u32 = 2;
/// Number of user SGPRs that hold application-controlled user data of a compute shader.
pub const APPLICATION_REGISTERS: u32 = 10;
/// First number that is not the index of an entry.
const FIRST_RUNTIME_VALUE: u32 = 0x1000_0000;
/// Value of a user-data register that is not mapped.
const NOT_MAPPED: u32 = 0xffff_ffff;

/// The values that the driver can put into a user SGPR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mapping {
    /// Entry of the application's user data with this index.
    Entry(u32),
    /// Value of the runtime.
    Runtime(Runtime),
    /// Low half of the address of the symbol `_amdgpu_pipelineLinkN` with this number.
    PipelineLink(u32),
    /// Address of the indirect user-data table with this number.
    IndirectTable(u32),
    /// Nothing.
    NotMapped,
    /// Number that PAL does not define.
    Unknown(u32),
}

/// Value of the runtime in a user SGPR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Runtime {
    /// The number in the metadata.
    pub number: u32,
    /// Name, as PAL spells it.
    pub name: &'static str,
    /// How many consecutive user SGPRs the value fills.
    pub registers: u32,
    /// Whether only compute shaders have the value.
    pub only_compute: bool,
}

const fn runtime(number: u32, name: &'static str, registers: u32) -> Runtime {
    Runtime { number, name, registers, only_compute: false }
}

/// The global internal table: low half of its address.
pub const GLOBAL_TABLE: Runtime = runtime(0x1000_0000, "GlobalTable", 1);
/// The internal table of the shader: low half of its address.
pub const PER_SHADER_TABLE: Runtime = runtime(0x1000_0001, "PerShaderTable", 1);
/// The spill table, which has the entries that are not in registers: low half of its address.
pub const SPILL_TABLE: Runtime = runtime(0x1000_0002, "SpillTable", 1);
/// Address of the numbers of work-groups in the three dimensions, in two registers.
pub const WORKGROUP: Runtime = Runtime { only_compute: true, ..runtime(0x1000_0006, "Workgroup", 2) };
/// Range of global data share: size in the lower half, offset in the upper half, both in bytes.
pub const GDS_RANGE: Runtime = Runtime { only_compute: true, ..runtime(0x1000_0007, "GdsRange", 1) };

/// All values of the runtime.
pub static RUNTIME: [Runtime; 26] = [
    GLOBAL_TABLE,
    PER_SHADER_TABLE,
    SPILL_TABLE,
    runtime(0x1000_0003, "BaseVertex", 1),
    runtime(0x1000_0004, "BaseInstance", 1),
    runtime(0x1000_0005, "DrawIndex", 1),
    WORKGROUP,
    GDS_RANGE,
    runtime(0x1000_0008, "BaseIndex", 1),
    runtime(0x1000_0009, "Log2IndexSize", 1),
    runtime(0x1000_000a, "EsGsLdsSize", 1),
    runtime(0x1000_000b, "ViewId", 1),
    runtime(0x1000_000c, "StreamOutTable", 1),
    runtime(0x1000_000d, "PerShaderPerfData", 1),
    runtime(0x1000_000f, "VertexBufferTable", 1),
    runtime(0x1000_0010, "UavExportTable", 1),
    runtime(0x1000_0011, "NggCullingData", 2),
    runtime(0x1000_0012, "MeshTaskDispatchDims", 3),
    runtime(0x1000_0013, "MeshTaskRingIndex", 1),
    runtime(0x1000_0014, "MeshPipeStatsBuf", 1),
    runtime(0x1000_0016, "StreamOutControlBuf", 1),
    runtime(0x1000_0017, "EnPrimsNeededCnt", 1),
    runtime(0x1000_0018, "SampleInfo", 1),
    runtime(0x1000_0020, "ColorExportAddr", 1),
    runtime(0x1000_0022, "DynamicDualSrcBlendInfo", 1),
    runtime(0x1000_0023, "CompositeData", 1),
];

/// First and last number of links between the parts of a pipeline.
const PIPELINE_LINKS: std::ops::RangeInclusive<u32> = 0x1000_1000..=0x1000_10ff;
/// First and last number of indirect user-data tables.
const INDIRECT_TABLES: std::ops::RangeInclusive<u32> = 0x2000_0000..=0x2fff_ffff;

impl Mapping {
    /// Returns the meaning of the value of a user-data register.
    pub fn from_number(number: u32) -> Mapping {
        if number < FIRST_RUNTIME_VALUE {
            return Mapping::Entry(number);
        }
        if let Some(&runtime) = RUNTIME.iter().find(|runtime| runtime.number == number) {
            return Mapping::Runtime(runtime);
        }
        match number {
            NOT_MAPPED => Mapping::NotMapped,
            _ if PIPELINE_LINKS.contains(&number) => Mapping::PipelineLink(number - PIPELINE_LINKS.start()),
            _ if INDIRECT_TABLES.contains(&number) => {
                Mapping::IndirectTable(number - INDIRECT_TABLES.start())
            }
            _ => Mapping::Unknown(number),
        }
    }

    /// Returns the number in the metadata.
    pub fn number(self) -> u32 {
        match self {
            Mapping::Entry(number) | Mapping::Unknown(number) => number,
            Mapping::Runtime(runtime) => runtime.number,
            Mapping::PipelineLink(link) => PIPELINE_LINKS.start() + link,
            Mapping::IndirectTable(table) => INDIRECT_TABLES.start() + table,
            Mapping::NotMapped => NOT_MAPPED,
        }
    }
}

impl fmt::Display for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mapping::Entry(index) => write!(f, "entry {index}"),
            Mapping::Runtime(runtime) => f.write_str(runtime.name),
            Mapping::PipelineLink(link) => write!(f, "PipelineLink{link}"),
            Mapping::IndirectTable(table) => write!(f, "IndirectTable{table}"),
            Mapping::NotMapped => f.write_str("not mapped"),
            Mapping::Unknown(number) => write!(f, "unknown {number:#x}"),
        }
    }
}

/// An entry of the global internal table. Offsets and sizes are in dwords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InternalTableEntry {
    /// Offset of the entry in dwords.
    pub offset: u32,
    /// Size of the entry in dwords. Resource descriptors have four.
    pub size: u32,
    /// What the entry describes.
    pub name: &'static str,
}

const fn entry(offset: u32, size: u32, name: &'static str) -> InternalTableEntry {
    InternalTableEntry { offset, size, name }
}

/// The scratch memory of graphics shaders.
pub const GRAPHICS_SCRATCH: InternalTableEntry = entry(0, 4, "Graphics Scratch SRD");
/// The scratch memory of compute shaders.
pub const COMPUTE_SCRATCH: InternalTableEntry = entry(4, 4, "Compute Scratch SRD");

/// The global internal table (seed 000, line 4340).
pub static INTERNAL_TABLE: [InternalTableEntry; 14] = [
    GRAPHICS_SCRATCH,
    COMPUTE_SCRATCH,
    entry(8, 4, "ES/GS Ring Output SRD"),
    entry(12, 4, "ES/GS Ring Input SRD"),
    entry(16, 4, "GS/VS Ring Output #0"),
    entry(20, 4, "GS/VS Ring Output #1"),
    entry(24, 4, "GS/VS Ring Output #2"),
    entry(28, 4, "GS/VS Ring Output #3"),
    entry(32, 4, "GS/VS Ring Input SRD"),
    entry(36, 4, "Tessellation Factor Buffer SRD"),
    entry(40, 4, "Off-Chip LDS Buffer SRD"),
    entry(44, 4, "Off-Chip Param Cache Buffer SRD"),
    entry(48, 4, "Sample Position Buffer SRD"),
    entry(52, 1, "vaRange::ShadowDescriptorTable High Bits"),
];

/// A parameter of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Size in bytes.
    pub size: u32,
    /// Alignment in bytes, a power of two.
    pub align: u32,
}

/// Where a parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Placed {
    /// Offset of the parameter in the application's user data, in bytes.
    pub offset: u32,
    /// Where the shader finds the parameter.
    pub place: Place,
}

/// Where a shader finds a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// In user SGPRs, from this one on. A parameter that is smaller than a dword begins at the byte
    /// `offset % 4` of this SGPR.
    Registers(u32),
    /// In the spill table, at this offset in bytes. The spill table has all entries, also those that are in
    /// registers.
    SpillTable(u32),
}

/// The user data of a compute kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Layout {
    /// The parameters, in their order.
    pub parameters: Vec<Placed>,
    /// Number of entries (dwords) of user data: `.user_data_limit` of the pipeline.
    pub limit: u32,
    /// First entry that the shader reads from the spill table: `.spill_threshold` of the pipeline.
    /// [`NO_SPILL`], if there is none.
    pub spill_threshold: u32,
    /// Number of entries that are in registers.
    pub in_registers: u32,
}

/// Value of `.spill_threshold` if no entry is spilled (PAL's `NoUserDataSpilling`).
pub const NO_SPILL: u32 = 0xffff;

/// Largest size of a kernel's parameters in bytes.
const MAX_SIZE: u64 = 64 << 10;

/// Lays out the parameters of a compute kernel: parameters follow each other with their alignment, as kernel
/// arguments do in memory. A parameter that ends within the first [`APPLICATION_REGISTERS`] dwords is in
/// registers. All others are in the spill table, where a parameter has the same offset as in the user data.
///
/// # Errors
/// Returns the index of the first parameter with an alignment that is no power of two, or beyond 64 KB, and
/// the rule.
pub fn layout(parameters: &[Parameter]) -> Result<Layout, (usize, &'static str)> {
    let mut placed = Vec::with_capacity(parameters.len());
    let (mut end, mut threshold, mut in_registers) = (0u64, NO_SPILL, 0);
    for (index, parameter) in parameters.iter().enumerate() {
        if !parameter.align.is_power_of_two() {
            return Err((index, "the alignment of a parameter is a power of two"));
        }
        let offset = end.next_multiple_of(parameter.align.into());
        end = offset + u64::from(parameter.size);
        if end > MAX_SIZE {
            return Err((index, "the parameters of a kernel have at most 64 KB"));
        }
        let offset = offset as u32;
        let place = if end <= u64::from(APPLICATION_REGISTERS * 4) {
            in_registers = end.div_ceil(4) as u32;
            Place::Registers(FIRST_APPLICATION_REGISTER + offset / 4)
        } else {
            threshold = threshold.min(offset / 4);
            Place::SpillTable(offset)
        };
        placed.push(Placed { offset, place });
    }
    let limit = end.div_ceil(4) as u32;
    Ok(Layout { parameters: placed, limit, spill_threshold: threshold, in_registers })
}

impl Layout {
    /// Returns the mapping of the 16 user SGPRs of a compute shader with this layout.
    pub fn mapping(&self) -> [Mapping; COMPUTE_REGISTERS as usize] {
        let mut registers = [Mapping::NotMapped; COMPUTE_REGISTERS as usize];
        registers[0] = Mapping::Runtime(GLOBAL_TABLE);
        registers[1] = Mapping::Runtime(PER_SHADER_TABLE);
        for entry in 0..self.in_registers {
            registers[(FIRST_APPLICATION_REGISTER + entry) as usize] = Mapping::Entry(entry);
        }
        if self.spill_threshold != NO_SPILL {
            registers[12] = Mapping::Runtime(SPILL_TABLE);
        }
        registers[13] = Mapping::Runtime(WORKGROUP);
        registers[15] = Mapping::Runtime(GDS_RANGE);
        registers
    }

    /// Returns the registers of the metadata that describe the user SGPRs: numbers and values.
    pub fn registers(&self) -> impl Iterator<Item = (u32, u32)> {
        let mapped = self.mapping().into_iter().zip(0..);
        mapped
            .filter(|(mapping, _)| *mapping != Mapping::NotMapped)
            .map(|(mapping, index)| (Stage::Cs.user_data(index, 0), mapping.number()))
    }
}
