//! Processors, and the families to which they belong.
//!
//! What differs between families is a fact of [`Arch`]. Each family has one file and one value. The value
//! starts from that of another family, usually the one before it, and changes what is different. Other code
//! asks for facts (`target.arch.registers.null`). What differs between the processors of a family is a
//! [`Feature`] or a field of [`Target`].
//!
//! # Adding a fact
//! Facts that belong together are fields of one struct, which is one row of the list of facts in `arch.rs`
//! (`waits: Waits`). A new fact becomes a field of the struct. Its value is added to the family in which it
//! appears first (`gfx6.rs`, unless an instruction or encoding appears later), and to each family file in
//! which the value changes. All other families inherit it. A new struct is added as a row of the list; `Arch`
//! and [`Arch::UNDEFINED`] follow from the list.
//!
//! A family may leave a row of the list open: the fact is then [`Fact::Unknown`], and [`Fact::get`] returns
//! an error. Before code reads the fields of the fact directly, it asks once with `get`, at a place where it
//! can return the error.
//! # Source
//! Names, alternative names and families: LLVM's AMDGPU guide (seed 000, line 31). The guide still lists
//! hainan and oland as gfx601; they later got their own number, gfx602. `EF_AMDGPU_MACH`, granules and limits
//! are compared with the output of LLVM's assembler (`tests/processors.rs`). The numbers of waves and SIMDs
//! cannot be checked in this way.

// The value of a family always names its base (after `..`), even if it changes every fact that exists now.
// Facts that are added later are then inherited.
#![allow(clippy::needless_update)]

mod arch;
mod buffers;
mod checks;
mod descriptor;
mod device;
mod emulation;
mod feature;
mod gfx10;
mod gfx10_3;
mod gfx6;
mod gfx7;
mod gfx8;
mod gfx9;
mod gfx90a;
mod gfx940;
mod hazards;
mod id;
mod memory;
mod registers;

use crate::scratch::ScratchAccess;

pub use arch::{Arch, Fact, UnknownFact};
pub use buffers::{Buffers, RangeCheck};
pub use checks::{Checks, KnownHazards};
pub use descriptor::{DescriptorFacts, DescriptorFields};
pub use device::{Device, WavePlace};
pub use emulation::{DeviceSize, Emulation, HalfResults, VectorCaches};
pub use feature::Feature;
pub use hazards::{Hazard, Hazards};
pub use id::{ArchId, ArchSet};
pub use memory::{CacheLevels, FlatOrder, MemoryModel, StoreCounter};
pub use registers::{Mode, Registers};

/// A processor. All its properties are data: see [`PROCESSORS`].
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Name, for example `gfx906`.
    pub name: &'static str,
    /// Other names of the same processor, for example `tahiti`.
    pub alternatives: &'static [&'static str],
    /// Index in [`PROCESSORS`].
    pub number: u8,
    /// The family, with its facts.
    pub arch: &'static Arch,
    /// Version: major, minor, stepping.
    pub version: (u32, u32, u32),
    /// `EF_AMDGPU_MACH` (low byte of `e_flags`).
    pub elf_mach: u32,
    /// Features.
    pub features: Feature,
    /// Target id features that are on by default. The default matters for code objects before V4, which must
    /// say on or off for each feature.
    pub on_by_default: Feature,
    /// Largest `vmcnt` that `s_waitcnt` can express.
    pub max_vmcnt: u8,
    /// Largest `lgkmcnt` that `s_waitcnt` can express.
    pub max_lgkmcnt: u8,
    /// Largest `expcnt` that `s_waitcnt` can express.
    pub max_expcnt: u8,
    /// Largest count for `vscnt` that `s_waitcnt_vscnt` can express. 0 if there is no such counter.
    pub max_vscnt: u8,
    /// Number of numbered SGPRs that a kernel can use.
    pub addressable_sgprs: u32,
    /// Number of SGPRs of a SIMD.
    pub total_sgprs: u32,
    /// Allocation unit of SGPRs for a wave. On GFX10, all waves get the same number of SGPRs, which is this
    /// number.
    pub sgpr_granule: u32,
    /// Unit in which the kernel descriptor counts SGPRs. On GFX10, the field is always 0.
    pub sgpr_encoding_granule: u32,
    /// SGPRs that a wave may use in addition to the numbered ones: VCC, FLAT_SCRATCH, XNACK_MASK.
    pub extra_sgprs: u32,
    /// Number of VGPRs that a lane can address. On gfx90a, accumulation registers are included.
    pub addressable_vgprs: u32,
    /// Number of VGPRs of a SIMD for each lane of a wave.
    pub total_vgprs: u32,
    /// Allocation unit of VGPRs.
    pub vgpr_granule: u32,
    /// Unit of the VGPR count in the kernel descriptor.
    pub vgpr_encoding_granule: u32,
    /// Maximum number of waves per SIMD.
    pub max_waves: u32,
    /// Number of SIMDs per compute unit.
    pub simds_per_cu: u32,
    /// Size of the LDS of a compute unit in bytes.
    pub lds_bytes: u32,
    /// Allocation unit of LDS in bytes (seed 000, line 2859).
    pub lds_granule: u32,
    /// Maximum size of the LDS of a work-group in bytes.
    pub max_lds_per_group: u32,
    /// Number of lanes of a wavefront. Processors with both sizes are in [`PROCESSORS`] with 32, which is the
    /// default.
    pub wave_size: u32,
    /// Width of the signed offset of a `global_*` instruction in bits; 0 if there are no such instructions.
    pub global_offset_bits: u32,
    /// Width of the unsigned offset of a `flat_*` instruction in bits; 0 if there are no such instructions.
    pub flat_offset_bits: u32,
    /// Padding that the object has after the code of its last kernel, if the processor prefetches
    /// instructions.
    pub code_end: Option<CodeEnd>,
}

/// Padding after the end of all code. A processor that prefetches instructions then does not prefetch other
/// code there, which may be changed later and would be stale in the instruction cache. LLVM pads its code in
/// the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeEnd {
    /// The padding instruction: `s_code_end`, or `s_nop 0` on processors without `s_code_end`.
    pub word: u32,
    /// Number of bytes of padding after the end of the cache line.
    pub bytes: u32,
}

impl CodeEnd {
    /// Size of a line of the instruction cache in bytes.
    pub const LINE: u32 = 64;
}

/// Two processors are equal if they are the same row of the table, for the same size of a wavefront.
impl PartialEq for Target {
    fn eq(&self, other: &Target) -> bool {
        (self.name, self.number, self.wave_size) == (other.name, other.number, other.wave_size)
    }
}

impl Eq for Target {}

impl Target {
    /// Returns whether the processor has every feature of the set.
    pub const fn has(&self, feature: Feature) -> bool {
        self.features.contains(feature)
    }

    /// Returns the processor with the given name or alternative name.
    pub fn by_name(name: &str) -> Option<&'static Target> {
        PROCESSORS.iter().find(|target| target.name == name || target.alternatives.contains(&name))
    }

    /// Returns the processor with the given `EF_AMDGPU_MACH` value.
    pub fn by_elf_mach(mach: u32) -> Option<&'static Target> {
        PROCESSORS.iter().find(|target| target.elf_mach == mach & 0xff)
    }

    /// Returns the processor with `lanes` lanes per wavefront, if it supports that.
    pub fn with_wave_size(&self, lanes: u32) -> Option<&'static Target> {
        let number = usize::from(self.number);
        [&PROCESSORS[number], &WAVE64[number]].into_iter().find(|target| target.wave_size == lanes)
    }

    /// Returns the number of numbered SGPRs that code can use in addition to VCC, FLAT_SCRATCH and
    /// XNACK_MASK. On some processors, the special registers are among the addressable SGPRs, so there are
    /// fewer numbered ones. These are processors up to GFX7, and those on which every wave gets 96 SGPRs
    /// (LLVM refuses SGPRs beyond this number).
    pub const fn allocatable_sgprs(&self) -> u32 {
        let registers = self.arch.registers.known();
        let among = registers.specials_among_numbered || self.has(Feature::SGPR_INIT_BUG);
        if among { self.addressable_sgprs - self.extra_sgprs } else { self.addressable_sgprs }
    }

    /// Returns the number of VGPRs that most instructions can name, which excludes the accumulation registers
    /// of gfx90a.
    pub const fn allocatable_vgprs(&self) -> u32 {
        if self.addressable_vgprs < 256 { self.addressable_vgprs } else { 256 }
    }

    /// Returns the unit of the stack pointer and of other scalar offsets in private memory: how much they grow
    /// for one byte of each lane. The unit is 1 for SCRATCH instructions. It is the number of lanes for MUBUF
    /// instructions, whose offsets count the bytes of all lanes.
    pub const fn stack_scale(&self) -> u32 {
        match self.arch.addressing.known().scratch {
            ScratchAccess::Buffer => self.wave_size,
            ScratchAccess::Scratch => 1,
        }
    }

    /// Returns the number of dwords of a mask with one bit for each lane.
    pub const fn mask_dwords(&self) -> u8 {
        (self.wave_size / 32) as u8
    }
}

const NONE: Feature = Feature::empty();

/// Returns a processor like `base` with its own properties. `features` are in addition to those of `base`.
const fn like(
    base: Target,
    name: &'static str,
    version: (u32, u32, u32),
    elf_mach: u32,
    features: Feature,
    alternatives: &'static [&'static str],
) -> Target {
    Target { name, version, elf_mach, alternatives, features: base.features.union(features), ..base }
}

/// Returns a processor on which the given features of target ids are on unless a target id says otherwise
/// (LLVM's AMDGPU guide, seed 000, line 31). gfx90a and gfx90c are newer than this guide and are treated like
/// related processors.
const fn on_by_default(processor: Target, features: Feature) -> Target {
    Target { on_by_default: features, ..processor }
}

/// The processors of each family.
const FAMILIES: [&[Target]; 8] = [
    &gfx6::PROCESSORS,
    &gfx7::PROCESSORS,
    &gfx8::PROCESSORS,
    &gfx9::PROCESSORS,
    &gfx90a::PROCESSORS,
    &gfx940::PROCESSORS,
    &gfx10::PROCESSORS,
    &gfx10_3::PROCESSORS,
];

const COUNT: usize = {
    let (mut count, mut n) = (0, 0);
    while n < FAMILIES.len() {
        count += FAMILIES[n].len();
        n += 1;
    }
    count
};

/// All processors, by version.
const ROWS: [Target; COUNT] = {
    let mut rows = [gfx6::BASE; COUNT];
    let (mut count, mut family) = (0, 0);
    while family < FAMILIES.len() {
        let mut n = 0;
        while n < FAMILIES[family].len() {
            let row = FAMILIES[family][n];
            let mut place = count;
            while place > 0 && is_before(row.version, rows[place - 1].version) {
                rows[place] = rows[place - 1];
                place -= 1;
            }
            rows[place] = row;
            count += 1;
            n += 1;
        }
        family += 1;
    }
    let mut n = 0;
    while n < COUNT {
        rows[n].number = n as u8;
        n += 1;
    }
    rows
};

const fn is_before(one: (u32, u32, u32), other: (u32, u32, u32)) -> bool {
    const fn number(version: (u32, u32, u32)) -> u32 {
        version.0 << 16 | version.1 << 8 | version.2
    }
    number(one) < number(other)
}

/// Returns the processors with wavefronts of 64 lanes. Processors that already have 64 lanes are unchanged.
/// On a processor with both sizes, a lane has half as many registers in a wavefront of 64 lanes.
const fn in_wave64(mut rows: [Target; COUNT]) -> [Target; COUNT] {
    let mut n = 0;
    while n < COUNT {
        if rows[n].wave_size == 32 {
            rows[n].wave_size = 64;
            rows[n].total_vgprs /= 2;
            rows[n].vgpr_granule /= 2;
            rows[n].vgpr_encoding_granule /= 2;
        }
        n += 1;
    }
    rows
}

/// All processors that are known to the assembler, the disassembler and the reader of code objects.
pub static PROCESSORS: [Target; COUNT] = ROWS;

/// [`PROCESSORS`] with wavefronts of 64 lanes.
static WAVE64: [Target; COUNT] = in_wave64(ROWS);
