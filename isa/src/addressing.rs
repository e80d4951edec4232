//! Facts about memory addressing on each processor: ranges of immediate offsets, and conditions for the
//! addresses of memory instructions.
//!
//! # Source
//! * Offsets: the chapters on memory instructions in the ISA manuals. The widths are those of the fields in
//!   `layout.rs`, which the encoder uses.
//! * Negative bases of LDS accesses, and range checks of scratch accesses: the manuals' notes on the LDS
//!   clamp of GFX6 and on swizzled buffers.
//! * Set-up of scratch: LLVM's AMDGPU guide (seed 000), line 2902 ("Flat Scratch").
//! * Descriptors of device memory: the same guide, line 2990 (`ATC` if there is an IOMMU, `MTYPE` CC for APUs
//!   and NC for other processors). Their bits and numbers: Sea Islands and GCN3 ISA, "Buffer Resource
//!   Descriptor"; ROCm's code object ABI (seed 002), line 49 (NC is 1); and the value that LLVM uses for APUs
//!   on GFX8 (CC is 2). GFX6 has neither field.

use crate::scratch::ScratchAccess;
use crate::target::{Fact, Feature, Target};

/// Range of byte offsets that the immediate offset of an instruction can express. Both ends are included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offsets {
    /// Smallest offset.
    pub min: i64,
    /// Largest offset.
    pub max: i64,
    /// Unit in bytes. Offsets are multiples of it.
    pub unit: u8,
}

impl Offsets {
    /// The range that contains only 0.
    pub const NONE: Offsets = Offsets { min: 0, max: 0, unit: 1 };

    /// Returns the range of an offset field that holds an unsigned number of bytes.
    pub(crate) const fn unsigned(bits: u32) -> Offsets {
        Offsets { min: 0, max: (1 << bits) - 1, unit: 1 }
    }

    /// Returns the range of an offset field that holds a signed number of bytes.
    pub(crate) const fn signed(bits: u32) -> Offsets {
        Offsets { min: -(1 << (bits - 1)), max: (1 << (bits - 1)) - 1, unit: 1 }
    }

    /// Returns the range of an offset field that holds an unsigned number of dwords.
    pub(crate) const fn dwords(bits: u32) -> Offsets {
        Offsets { min: 0, max: ((1 << bits) - 1) * 4, unit: 4 }
    }

    /// Returns whether the offset field of an instruction can express the offset.
    pub const fn contains(&self, offset: i64) -> bool {
        self.min <= offset && offset <= self.max && offset % self.unit as i64 == 0
    }

    /// Splits an offset into two parts, `(field, rest)`. `field` goes into an instruction's offset field, and
    /// `rest` must be added to the address by another instruction. Nearby offsets have the same rest, so that
    /// several accesses can share this addition.
    pub const fn split(&self, offset: i64) -> (i64, i64) {
        if self.contains(offset) {
            return (offset, 0);
        }
        let carried = offset & self.max & !(self.unit as i64 - 1);
        (carried, offset.wrapping_sub(carried))
    }
}

/// Addressing modes and related properties of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addressing {
    /// Range of the offsets of `global_*` and `scratch_*` instructions. `None` if the processor has no such
    /// instructions.
    pub global: Option<Offsets>,
    /// Range of the offsets of `flat_*` instructions. `None` if the processor has no such instructions.
    pub flat: Option<Offsets>,
    /// Range of the offsets of `buffer_*` instructions.
    pub buffer: Offsets,
    /// Fourth dword of a buffer descriptor for device memory, which contains the element format. Under the
    /// operating system HSA, it also says how memory is cached and whether addresses are translated.
    pub descriptor: u32,
    /// Fourth dword of a buffer descriptor for device memory, on a processor that shares its memory with the
    /// host (APU).
    pub(crate) shared_descriptor: u32,
    /// Whether the processor has memory instructions for three dwords. GFX6 has none according to its manual,
    /// although LLVM's assembler accepts `buffer_load_dwordx3` for GFX6.
    pub three_dwords: bool,
    /// Whether an access to device memory may cross a dword boundary. If so, its address need not be a
    /// multiple of the element size.
    pub unaligned: bool,
    /// Offsets of `s_load_*` and `s_buffer_load_*`.
    pub scalar: Offsets,
    /// Whether the offset of a scalar load may be a 32-bit literal. The literal counts in the same units as
    /// the offset field (see `scalar`). Only GFX7 has such literals.
    pub scalar_literal: bool,
    /// Offsets of `ds_*` instructions.
    pub lds: Offsets,
    /// Whether the address register of an LDS instruction may be negative. The sum of the register and the
    /// offset must not be negative in any case.
    pub lds_negative_base: bool,
    /// Whether LDS instructions compare their address with a limit in M0. If they do, code must set M0 before
    /// its first LDS access.
    pub lds_needs_m0: bool,
    /// The instructions with which code accesses private memory.
    pub scratch: ScratchAccess,
    /// Whether the hardware checks the range of a scratch address before it adds the offset. If it does, the
    /// address without the offset must not be negative.
    pub scratch_checks_base: bool,
    /// Maximum size of a wave's scratch memory in bytes.
    pub scratch_per_wave: u32,
    /// Where code finds the values of the apertures. These are the ranges of generic addresses that refer to
    /// LDS and to private memory.
    pub apertures: Apertures,
    /// Required contents of FLAT_SCRATCH.
    pub flat_scratch: FlatScratch,
}

/// Where code finds the apertures (LLVM's AMDGPU guide, seed 000, line 285).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Apertures {
    /// There are none, because there are no FLAT instructions.
    None,
    /// The apertures are in the queue structure in memory.
    Queue,
    /// The apertures are in hardware registers.
    Registers,
}

/// What FLAT_SCRATCH must contain for FLAT accesses to private memory. A kernel computes this from
/// `flat_scratch_init` and the wave's scratch offset (LLVM's AMDGPU guide, seed 000, lines 2935 and 3021).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlatScratch {
    /// The processor has no FLAT_SCRATCH.
    None,
    /// FLAT_SCRATCH has two parts. The low half is the size in bytes of a work-item's private memory. The
    /// high half is the start of the wave's private memory, in units of 256 bytes.
    SizeAndOffset,
    /// FLAT_SCRATCH is the address of the wave's private memory.
    Address,
    /// FLAT_SCRATCH is the address of the wave's private memory. On these processors, it consists of hardware
    /// registers that only `s_setreg_b32` can write.
    HardwareRegisters,
    /// FLAT_SCRATCH is the address of the wave's private memory, and the hardware sets it before a kernel
    /// starts (architected flat scratch). No register has a buffer descriptor of private memory.
    Architected,
}

/// Value of the field `DATA_FORMAT` of a buffer descriptor for elements of one dword. Accesses without a
/// format only require that the field is not 0 (invalid).
pub(crate) const DWORDS: u32 = 0xf000;
/// Value of the fields `DST_SEL` of a buffer descriptor, which give the order of the components in an
/// element. Accesses without a format ignore these fields.
pub(crate) const ANY_COMPONENTS: u32 = 0xfff;
/// Value of the field `MTYPE` of a buffer descriptor for an APU, which shares its memory with the host. With
/// it, memory is kept coherent with the host.
pub(crate) const COHERENT: u32 = 2 << 27;
/// Value of the field `MTYPE` of a buffer descriptor for a processor with memory of its own. Descriptors of
/// scratch have the value 0 instead, but this would be wrong here: it means non-volatile memory, which
/// `buffer_wbinvl1_vol` leaves in the cache.
pub(crate) const NONCOHERENT: u32 = 1 << 27;

impl Addressing {
    /// Bit `ATC` of a buffer descriptor's fourth dword. If it is set, the IOMMU of the host translates
    /// addresses. Only HSA sets it.
    pub const TRANSLATED: u32 = 1 << 24;

    /// Converts an offset in bytes to the value of a scalar load's offset field. Returns `None` if the field
    /// cannot express the offset.
    pub const fn scalar_field(&self, bytes: i64) -> Option<i32> {
        let field = bytes / self.scalar.unit as i64;
        let literal = self.scalar_literal && 0 <= field && field <= i32::MAX as i64;
        let fits = self.scalar.contains(bytes) || literal && self.scalar_bytes(field as i32) == bytes;
        if fits { Some(field as i32) } else { None }
    }

    /// Converts the value of a scalar load's offset field to an offset in bytes.
    pub const fn scalar_bytes(&self, field: i32) -> i64 {
        field as i64 * self.scalar.unit as i64
    }

    /// Returns the offsets that the instructions for private memory can encode.
    pub const fn scratch_offsets(&self) -> Offsets {
        match (self.scratch, self.global) {
            (ScratchAccess::Buffer, _) => self.buffer,
            (ScratchAccess::Scratch, Some(offsets)) => offsets,
            (ScratchAccess::Scratch, None) => Offsets::NONE,
        }
    }

    /// Returns the addressing properties of a processor; open if its family leaves them open.
    pub const fn for_target(target: &Target) -> Fact<Addressing> {
        match target.arch.addressing {
            Fact::Known(family) if target.has(Feature::APU) => {
                Fact::Known(Addressing { descriptor: family.shared_descriptor, ..family })
            }
            family => family,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns() {
        let of = |name| Addressing::for_target(Target::by_name(name).unwrap());
        let (gfx600, gfx803, gfx906, gfx1010) = (of("gfx600"), of("gfx803"), of("gfx906"), of("gfx1010"));
        assert_eq!((gfx600.global, gfx600.flat, gfx600.scalar.max), (None, None, 1020));
        assert_eq!((gfx803.global, gfx803.flat), (None, Some(Offsets::NONE)));
        assert_eq!(gfx906.global, Some(Offsets { min: -4096, max: 4095, unit: 1 }));
        assert_eq!(gfx906.flat, Some(Offsets { min: 0, max: 4095, unit: 1 }));
        assert_eq!(gfx1010.global, Some(Offsets { min: -2048, max: 2047, unit: 1 }));
        assert!(gfx803.lds_needs_m0 && !gfx906.lds_needs_m0);
    }

    #[test]
    fn offsets_of_scalar_loads() {
        let field = |name, bytes| Addressing::for_target(Target::by_name(name).unwrap()).scalar_field(bytes);
        assert_eq!(
            [field("gfx600", 1020), field("gfx600", 1024), field("gfx600", 6)],
            [Some(255), None, None]
        );
        assert_eq!(
            [field("gfx700", 1024), field("gfx700", -4), field("gfx700", 1 << 40)],
            [Some(256), None, None]
        );
        assert_eq!([field("gfx803", 1024), field("gfx803", 1 << 20)], [Some(1024), None]);
    }

    #[test]
    fn split() {
        let offsets = Offsets::signed(13);
        assert_eq!(offsets.split(-4096), (-4096, 0));
        assert_eq!(offsets.split(4096), (0, 4096));
        assert_eq!(offsets.split(5000), (904, 4096));
        assert_eq!(offsets.split(-5000), (3192, -8192));
        let dwords = Offsets::dwords(8);
        assert_eq!(dwords.split(1020), (1020, 0));
        assert_eq!(dwords.split(1026), (0, 1026));
    }
}
