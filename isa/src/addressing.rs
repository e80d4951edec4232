//! How memory is reached: ranges of immediate offsets and what else an address must obey, a column a generation.
//!
//! # Source
//! Offsets: the ISA manuals' memory instruction chapters, as the fields of `layout.rs` have their widths; what the
//! encoder uses. Negative LDS bases and range-checked scratch: the manuals' notes on the GFX6 LDS
//! clamp and on swizzled buffers; scratch set-up: seed 000, line 2902 ("Flat Scratch").
//! Descriptors of device memory: seed 000, line 2990 (`ATC` where there is an IOMMU, `MTYPE` CC for APUs and NC for others); bits and numbers:
//! Sea Islands and GCN3 ISA, "Buffer Resource Descriptor", seed 002, line 49 (NC is 1), and what LLVM gives its own on GFX8 (CC is 2).
//! GFX6 has neither field.

use crate::target::{Feature, Generation, Target};

/// Bytes an immediate offset can express, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offsets {
    /// Smallest.
    pub min: i64,
    /// Largest.
    pub max: i64,
    /// Offsets are multiples of it, in bytes.
    pub unit: u8,
}

impl Offsets {
    /// Only 0.
    pub const NONE: Offsets = Offsets { min: 0, max: 0, unit: 1 };

    const fn unsigned(bits: u32) -> Offsets {
        Offsets { min: 0, max: (1 << bits) - 1, unit: 1 }
    }

    const fn signed(bits: u32) -> Offsets {
        Offsets { min: -(1 << (bits - 1)), max: (1 << (bits - 1)) - 1, unit: 1 }
    }

    const fn dwords(bits: u32) -> Offsets {
        Offsets { min: 0, max: ((1 << bits) - 1) * 4, unit: 4 }
    }

    /// Whether an instruction can carry the offset.
    pub const fn contains(&self, offset: i64) -> bool {
        self.min <= offset && offset <= self.max && offset % self.unit as i64 == 0
    }

    /// A part that an instruction can carry, and the rest: `(carried, rest)`. The rest is the same for offsets that are
    /// close to each other, so that it can be shared.
    pub const fn split(&self, offset: i64) -> (i64, i64) {
        if self.contains(offset) {
            return (offset, 0);
        }
        let carried = offset & self.max & !(self.unit as i64 - 1);
        (carried, offset.wrapping_sub(carried))
    }
}

/// How a processor's instructions reach memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addressing {
    /// `global_*`; `None` where there are no such instructions.
    pub global: Option<Offsets>,
    /// `flat_*`; `None` where there are no such instructions.
    pub flat: Option<Offsets>,
    /// `buffer_*`, scratch among them.
    pub buffer: Offsets,
    /// Fourth dword of a buffer descriptor for device memory: how elements look, and under HSA how memory is cached and translated.
    pub descriptor: u32,
    /// There are loads and stores of three dwords. LLVM's assembler takes `buffer_load_dwordx3` for GFX6, where the manual does not list it.
    pub three_dwords: bool,
    /// Accesses to device memory may cross dwords: their addresses need not be multiples of the elements' size.
    pub unaligned: bool,
    /// `s_load_*`, `s_buffer_load_*`.
    pub scalar: Offsets,
    /// A scalar load's offset may be a literal of 32 bits, in units of `scalar` (GFX7).
    pub scalar_literal: bool,
    /// `ds_*`.
    pub lds: Offsets,
    /// An LDS address may be negative as long as the sum with the offset is not.
    pub lds_negative_base: bool,
    /// LDS instructions take their limit from M0, which has to be set first.
    pub lds_needs_m0: bool,
    /// A scratch address must lie within the range by itself, without the offset: no negative parts.
    pub scratch_checks_base: bool,
    /// Most bytes of scratch that a wave can have.
    pub scratch_per_wave: u32,
    /// Where code finds the apertures: those parts of the generic addresses that stand for LDS and private memory.
    pub apertures: Apertures,
    /// What FLAT_SCRATCH has to be.
    pub flat_scratch: FlatScratch,
}

/// Where code finds the apertures (seed 000, line 285).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Apertures {
    /// Nowhere: there are no FLAT instructions.
    None,
    /// In the queue.
    Queue,
    /// In registers.
    Registers,
}

/// What FLAT_SCRATCH has to be, made of `flat_scratch_init` and the wave's offset (seed 000, lines 2935 and 3021).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlatScratch {
    /// There is none.
    None,
    /// Low the size of a work-item's memory, high where the wave's begins, in units of 256 bytes.
    SizeAndOffset,
    /// The address of the wave's memory.
    Address,
    /// The same, in hardware registers that only `s_setreg_b32` writes.
    HardwareRegisters,
}

/// `DATA_FORMAT`: elements are dwords. Raw accesses ask only that there is a format.
const DWORDS: u32 = 0xf000;
/// `DST_SEL`: which component of an element goes where, which raw accesses do not ask for.
const ANY_COMPONENTS: u32 = 0xfff;
/// `MTYPE` of memory that is kept coherent with the host, where the processor shares it with the host ...
const COHERENT: u32 = 2 << 27;
/// ... and where it has its own. 0 would be non-volatile memory, as scratch is: `buffer_wbinvl1_vol` leaves that in the cache.
const NONCOHERENT: u32 = 1 << 27;

/// What features and field widths of the processor do not say, a column a generation.
const GFX6: Addressing = Addressing {
    global: None,
    flat: None,
    buffer: Offsets::unsigned(12),
    descriptor: DWORDS | ANY_COMPONENTS,
    three_dwords: false,
    unaligned: false,
    scalar: Offsets::dwords(8),
    scalar_literal: false,
    lds: Offsets::unsigned(16),
    lds_negative_base: false,
    lds_needs_m0: true,
    scratch_checks_base: true,
    // COMPUTE_TMPRING_SIZE.WAVESIZE: 13 bits, in units of 256 dwords.
    scratch_per_wave: ((1 << 13) - 1) * 1024,
    apertures: Apertures::None,
    flat_scratch: FlatScratch::None,
};
const GFX7: Addressing = Addressing {
    three_dwords: true,
    unaligned: true,
    scalar_literal: true,
    lds_negative_base: true,
    apertures: Apertures::Queue,
    flat_scratch: FlatScratch::SizeAndOffset,
    ..GFX6
};
const GFX8: Addressing = Addressing { scalar: Offsets::unsigned(20), scalar_literal: false, ..GFX7 };
/// Scalar offsets have a sign bit here, but a negative sum is an error where the base is 0: not used.
const GFX9: Addressing = Addressing {
    scratch_checks_base: false,
    apertures: Apertures::Registers,
    flat_scratch: FlatScratch::Address,
    ..GFX8
};
const GFX10: Addressing = Addressing { flat_scratch: FlatScratch::HardwareRegisters, ..GFX9 };

impl Addressing {
    /// `ATC` of a descriptor's fourth dword: addresses are translated as those of the host. Only HSA has that.
    pub const TRANSLATED: u32 = 1 << 24;

    /// The offset of a scalar load as its field has it, if the instruction can express that many bytes.
    pub const fn scalar_field(&self, bytes: i64) -> Option<i32> {
        let field = bytes / self.scalar.unit as i64;
        let literal = self.scalar_literal && 0 <= field && field <= i32::MAX as i64;
        let fits = self.scalar.contains(bytes) || literal && self.scalar_bytes(field as i32) == bytes;
        if fits { Some(field as i32) } else { None }
    }

    /// The bytes that the offset field of a scalar load stands for.
    pub const fn scalar_bytes(&self, field: i32) -> i64 {
        field as i64 * self.scalar.unit as i64
    }

    /// The facts of a processor.
    pub const fn of(target: &Target) -> Addressing {
        let column = match target.generation {
            Generation::Gfx6 => GFX6,
            Generation::Gfx7 => GFX7,
            Generation::Gfx8 => GFX8,
            Generation::Gfx9 => GFX9,
            Generation::Gfx10 => GFX10,
        };
        Addressing {
            global: match target.global_offset_bits {
                0 => None,
                bits => Some(Offsets::signed(bits)),
            },
            flat: if target.has(Feature::FLAT) {
                Some(Offsets::unsigned(target.flat_offset_bits))
            } else {
                None
            },
            lds_needs_m0: !target.has(Feature::LDS_NO_M0),
            descriptor: match target.generation {
                Generation::Gfx6 => column.descriptor,
                _ if target.has(Feature::APU) => DWORDS | Addressing::TRANSLATED | COHERENT,
                _ => DWORDS | NONCOHERENT,
            },
            ..column
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns() {
        let of = |name| Addressing::of(Target::by_name(name).unwrap());
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
        let field = |name, bytes| Addressing::of(Target::by_name(name).unwrap()).scalar_field(bytes);
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
