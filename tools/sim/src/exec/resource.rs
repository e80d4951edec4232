//! Buffer resource descriptors. A descriptor consists of four SGPRs, which contain the address, the format
//! and the size of a buffer.

use super::format::Format;
use crate::op::Src;
use crate::wave::Wave;
use isa::Target;
use isa::target::{Buffers, RangeCheck};

/// Mask of the 48 bits of a base address. If VGPRs hold the pointer, the base may be a small negative number
/// such as -4, of which the descriptor has only 48 bits. A computed address is therefore reduced to 48 bits.
pub(super) const ADDRESSES: u64 = (1 << 48) - 1;

/// How an instruction forms the address of a buffer access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Addressing {
    pub(crate) indexed: bool,
    /// Whether VGPRs hold a 64-bit address (GFX6 and GFX7).
    pub(crate) long: bool,
}

/// The rule by which accesses are range-checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Range {
    /// Accesses have no range check.
    Unchecked,
    /// The end of the access is compared with the size of the buffer in bytes. If `with_index` is set, the
    /// byte offset of the access includes the offset of the record that the index selects, as on GFX8.
    Bytes { with_index: bool },
    /// The index of a record is compared with the number of records. If `offset` is set, the byte offset
    /// within the record is also compared with the size of a record.
    Records { offset: bool },
    /// If the number of records is 0, all accesses are out of range. Otherwise, all accesses are in range.
    Empty,
}

/// A decoded buffer resource descriptor (Southern Islands, Sea Islands, GCN3, Vega and RDNA ISA, "Buffer
/// Resource Descriptor").
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resource {
    pub(crate) base: u64,
    stride: u64,
    records: u64,
    swizzle: bool,
    /// Size in bytes of an element of a swizzled buffer.
    element: u64,
    index_stride: u64,
    add_lane: bool,
    range: Range,
    words: [u32; 4],
}

impl Resource {
    /// A bit of the second dword of the descriptor. The next constants are bits of its fourth dword.
    pub(crate) const SWIZZLE_ENABLE: u32 = 1 << 31;
    pub(crate) const ADD_TID_ENABLE: u32 = 1 << 23;
    pub(crate) const INDEX_STRIDE_64: u32 = 3 << 21;
    pub(crate) const INDEX_STRIDE_32: u32 = 2 << 21;

    pub(crate) fn read(wave: &Wave, src: Src, how: Addressing) -> Resource {
        let rules = &wave.target.arch.buffers;
        let Src::S(first) = src else { return Resource::parse([0; 4], rules, how) };
        let words = std::array::from_fn(|at| wave.sgpr[(usize::from(first) + at) & 255]);
        Resource::parse(words, rules, how)
    }

    fn parse(words: [u32; 4], rules: &Buffers, how: Addressing) -> Resource {
        let add_lane = words[3] & Self::ADD_TID_ENABLE != 0;
        let mut stride = u64::from(words[1] >> 16 & 0x3fff);
        if add_lane && rules.lane_stride_bits {
            // The bits of the data format field mean something else if `add_tid_enable` is set: they are the
            // upper bits of the stride.
            stride |= u64::from(words[3] >> 15 & 15) << 14;
        }
        // If VGPRs hold the address, the base may be a negative number such as -4. The upper bits of this
        // dword are then all ones and have no meaning of their own, so the bit for swizzling is ignored.
        let swizzle = words[1] & Self::SWIZZLE_ENABLE != 0 && !how.long;
        Resource {
            base: u64::from(words[0]) | u64::from(words[1] & 0xffff) << 32,
            stride,
            records: u64::from(words[2]),
            swizzle,
            element: if rules.element_size_field { 2 << (words[3] >> 19 & 3) } else { 4 },
            index_stride: 8 << (words[3] >> 21 & 3),
            add_lane,
            range: match (how.long, add_lane && !how.indexed) {
                // Two kinds of accesses have no range check: accesses to private memory, and accesses whose
                // addresses are in VGPRs.
                (true, _) | (_, true) => Range::Unchecked,
                _ => range(rules.range_check, words[3], how.indexed, stride, swizzle),
            },
            words,
        }
    }

    /// Returns the four dwords of the resource.
    pub(crate) fn words(&self) -> [u32; 4] {
        self.words
    }

    /// Returns whether the addresses of the buffer are swizzled as in private memory. Consecutive lanes then
    /// access neighbouring memory.
    pub(crate) fn swizzles(&self) -> bool {
        self.swizzle || self.add_lane
    }

    /// Returns the size of the buffer in bytes, computed in the way in which scalar loads do.
    pub(crate) fn bytes(&self) -> u64 {
        if self.stride == 0 { self.records } else { self.records * self.stride }
    }

    /// Returns the format of the buffer's elements, and the selection `DST_SEL`. The selection says, for each
    /// component of a loaded value, from which component of the element it comes. Returns `None` if the
    /// descriptor has a reserved format.
    pub(crate) fn format(&self, target: &Target) -> Option<(Format, [u8; 4])> {
        let word = self.words[3];
        let format = match target.arch.layout.has_unified_formats() {
            true => Format::unified((word >> 12 & 127) as u8),
            false => Format::split((word >> 15 & 15) as u8, (word >> 12 & 7) as u8, target),
        };
        Some((format?, std::array::from_fn(|at| (word >> (3 * at) & 7) as u8)))
    }

    /// Returns the address of an access, or `None` if the access is out of range. A load that is out of range
    /// returns zero, and a store does nothing.
    #[inline(always)]
    pub(crate) fn address(
        &self,
        index: u64,
        offset: u64,
        scalar_offset: u64,
        lane: usize,
        bytes: u64,
    ) -> Option<u64> {
        let index = index + if self.add_lane { lane as u64 } else { 0 };
        let in_range = match self.range {
            Range::Unchecked => true,
            Range::Empty => self.records != 0,
            Range::Bytes { with_index } => {
                let before = if with_index { index * self.stride } else { 0 };
                before + scalar_offset + offset + bytes <= self.records
            }
            Range::Records { offset: checked } => {
                index < self.records && (!checked || offset + bytes <= self.stride)
            }
        };
        let linear = if self.swizzle {
            let (outer, inner) = (index / self.index_stride, index % self.index_stride);
            let element = offset / self.element * self.element;
            (outer * self.stride + element) * self.index_stride + inner * self.element + offset % self.element
        } else {
            index * self.stride + offset
        };
        in_range.then_some(self.base.wrapping_add(scalar_offset).wrapping_add(linear) & ADDRESSES)
    }
}

/// Returns the rule by which an access is range-checked.
fn range(check: RangeCheck, word3: u32, indexed: bool, stride: u64, swizzle: bool) -> Range {
    let in_records = Range::Records { offset: swizzle };
    match check {
        RangeCheck::RecordsIfStride if stride != 0 => in_records,
        RangeCheck::RecordsIfIndexed if stride != 0 && indexed => in_records,
        RangeCheck::RecordsIfSwizzled if stride != 0 && swizzle => in_records,
        RangeCheck::RecordsIfSwizzled => Range::Bytes { with_index: true },
        RangeCheck::RecordsIfStride | RangeCheck::RecordsIfIndexed => Range::Bytes { with_index: false },
        // The field `OOB_SELECT` of the descriptor selects the rule for range checks.
        RangeCheck::Selected => match word3 >> 28 & 3 {
            0 => Range::Records { offset: true },
            1 => Range::Records { offset: false },
            2 => Range::Empty,
            _ if swizzle && stride != 0 => Range::Records { offset: true },
            _ => Range::Bytes { with_index: false },
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INDEXED: Addressing = Addressing { indexed: true, long: false };
    const RAW: Addressing = Addressing { indexed: false, long: false };

    fn rules(processor: &str) -> &'static Buffers {
        &Target::by_name(processor).expect("a known processor").arch.buffers
    }

    fn resource(processor: &str, stride: u32, records: u32, word3: u32, how: Addressing) -> Resource {
        Resource::parse([0x1000, stride << 16, records, word3], rules(processor), how)
    }

    #[test]
    fn records_are_counted_as_the_family_does() {
        // Ten records of 16 bytes: the last dword of the tenth record is in range, the next record is not.
        for (processor, records, word3) in [
            ("gfx600", 10, 0),
            ("gfx700", 10, 0),
            ("gfx803", 160, 0),
            ("gfx906", 10, 0),
            ("gfx1010", 10, 0),
            ("gfx1010", 10, 1 << 28),
        ] {
            let resource = resource(processor, 16, records, word3, INDEXED);
            assert_eq!(resource.address(9, 12, 0, 0, 4), Some(0x1000 + 156), "{processor}");
            assert_eq!(resource.address(10, 0, 0, 0, 4), None, "{processor}");
        }
        assert_eq!(resource("gfx906", 16, 10, 0, RAW).address(0, 8, 0, 0, 4), None);
        assert_eq!(resource("gfx906", 16, 10, 0, RAW).address(0, 6, 0, 0, 4), Some(0x1006));
        assert_eq!(resource("gfx906", 0, 10, 0, RAW).address(0, 4, 4, 0, 4), None, "the SGPR counts");
        assert_eq!(resource("gfx1010", 16, 10, 0, INDEXED).address(0, 13, 0, 0, 4), None);
        assert_eq!(resource("gfx1010", 0, 10, 2 << 28, RAW).address(0, 400, 0, 0, 4), Some(0x1190));
        assert_eq!(resource("gfx1010", 0, 10, 3 << 28, RAW).address(0, 7, 0, 0, 4), None);
    }

    #[test]
    fn elements_are_swizzled() {
        // Element size 8, index stride 16, stride 32: byte 3 of element 2 of record 17.
        let words = [0, 32 << 16 | Resource::SWIZZLE_ENABLE, 64, 2 << 19 | 1 << 21];
        let expected = (32 + 16) * 16 + 8 + 3;
        for processor in ["gfx600", "gfx700", "gfx803"] {
            let resource = Resource::parse(words, rules(processor), INDEXED);
            assert_eq!(resource.address(17, 19, 0, 0, 1), Some(expected), "{processor}");
        }
        // From GFX9 on elements have 4 bytes, so that this is byte 3 of element 4.
        let resource = Resource::parse(words, rules("gfx906"), INDEXED);
        assert_eq!(resource.address(17, 19, 0, 0, 1), Some((32 + 16) * 16 + 4 + 3));
        assert_eq!(resource.address(17, 32, 0, 0, 1), None, "beyond the record");
    }

    #[test]
    fn lanes_are_added_to_the_index() {
        let words =
            [0, Resource::SWIZZLE_ENABLE, 0, Resource::ADD_TID_ENABLE | Resource::INDEX_STRIDE_64 | 1 << 19];
        for processor in ["gfx600", "gfx700", "gfx803", "gfx906", "gfx1010", "gfx1030"] {
            let resource = Resource::parse(words, rules(processor), RAW);
            assert_eq!(resource.address(0, 9, 0, 5, 1), Some(2 * 256 + 5 * 4 + 1), "{processor}");
        }
    }
}
