//! Structure of the types in the debug information.

use crate::expr::{Kind, Scalar};
use crate::variables::type_of;
use dwarf::{AddressClass, AddressSpace, Content, DebugInfo, Die};

/// Largest depth of nested types that is followed.
const DEPTH: u32 = 16;

/// A type without the typedefs and qualifiers around it.
#[derive(Clone, Copy)]
pub(crate) enum Shape<'a> {
    Base {
        die: &'a Die,
        bytes: u64,
    },
    /// A pointer to a type, in an address space.
    Pointer {
        to: Option<u64>,
        space: AddressSpace,
        bytes: u64,
    },
    /// A vector or array of `count` elements of the type `of`.
    Array {
        die: &'a Die,
        of: u64,
        count: u64,
        is_vector: bool,
    },
    Struct {
        die: &'a Die,
        bytes: u64,
    },
    Enum {
        die: &'a Die,
        bytes: u64,
    },
    /// A function, as the target of a pointer.
    Function,
    Unknown,
}

/// A field of a struct: its name, type and byte offset.
pub(crate) struct Field<'a> {
    pub name: &'a str,
    pub ty: u64,
    pub byte: u64,
    /// Offset and number of bits, if it is a bit-field.
    pub bits: Option<(u64, u64)>,
}

fn number(die: &Die, name: &str) -> Option<u64> {
    match die.get(name) {
        Some(Content::Number(number)) => u64::try_from(*number).ok(),
        _ => None,
    }
}

/// Returns the number of elements in each dimension of an array, outermost first.
pub(crate) fn counts(info: &DebugInfo, die: &Die) -> Vec<u64> {
    let Some(at) = info.index_of(die.offset) else {
        return Vec::new();
    };
    let count = |range: &Die| {
        number(range, "DW_AT_count").or_else(|| number(range, "DW_AT_upper_bound").map(|last| last + 1))
    };
    info.children(at).map(|range| count(range).unwrap_or(0)).collect()
}

/// Returns the structure of a type. For an array with several dimensions, the count is the number of elements
/// in all dimensions together.
pub(crate) fn shape(info: &DebugInfo, mut ty: u64) -> Shape<'_> {
    for _ in 0..DEPTH {
        let Some(die) = info.entry(ty) else { return Shape::Unknown };
        let bytes = number(die, "DW_AT_byte_size");
        return match die.tag.as_str() {
            "DW_TAG_base_type" => Shape::Base { die, bytes: bytes.unwrap_or(0) },
            "DW_TAG_pointer_type" | "DW_TAG_reference_type" => {
                let space = match die.get("DW_AT_address_class") {
                    Some(Content::Number(class)) => u64::try_from(*class).ok(),
                    _ => None,
                };
                let space =
                    space.and_then(|class| AddressClass(class).space()).unwrap_or(AddressSpace::GENERIC);
                let own = space.address_bits().map_or(8, |bits| u64::from(bits) / 8);
                Shape::Pointer { to: type_of(die), space, bytes: bytes.unwrap_or(own) }
            }
            "DW_TAG_array_type" => {
                let Some(of) = type_of(die) else { return Shape::Unknown };
                let count = counts(info, die).into_iter().fold(1u64, u64::saturating_mul);
                let is_vector = matches!(die.get("DW_AT_GNU_vector"), Some(Content::Flag(true)));
                Shape::Array { die, of, count, is_vector }
            }
            "DW_TAG_structure_type" | "DW_TAG_union_type" | "DW_TAG_class_type" => {
                Shape::Struct { die, bytes: bytes.unwrap_or(0) }
            }
            "DW_TAG_subroutine_type" => Shape::Function,
            "DW_TAG_enumeration_type" => Shape::Enum { die, bytes: bytes.unwrap_or(4) },
            _ => match type_of(die) {
                Some(inner) => {
                    ty = inner;
                    continue;
                }
                None => Shape::Unknown,
            },
        };
    }
    Shape::Unknown
}

/// Returns the size of a type in bytes. A vector of three elements has the size of a vector of four.
pub(crate) fn size(info: &DebugInfo, ty: u64) -> u64 {
    size_within(info, ty, 0)
}

fn size_within(info: &DebugInfo, ty: u64, depth: u32) -> u64 {
    match shape(info, ty) {
        _ if depth > DEPTH => 0,
        Shape::Base { bytes, .. }
        | Shape::Pointer { bytes, .. }
        | Shape::Struct { bytes, .. }
        | Shape::Enum { bytes, .. } => bytes,
        Shape::Array { of, count, is_vector, .. } => {
            let count = if is_vector { count.next_power_of_two() } else { count };
            count.saturating_mul(size_within(info, of, depth + 1))
        }
        Shape::Function | Shape::Unknown => 0,
    }
}

/// Returns the fields of a struct.
pub(crate) fn fields<'a>(info: &'a DebugInfo, die: &Die) -> Vec<Field<'a>> {
    let Some(at) = info.index_of(die.offset) else {
        return Vec::new();
    };
    let field = |member: &'a Die| {
        Some(Field {
            name: member.text("DW_AT_name").unwrap_or(""),
            ty: type_of(member)?,
            byte: number(member, "DW_AT_data_member_location").unwrap_or(0),
            bits: number(member, "DW_AT_data_bit_offset").zip(number(member, "DW_AT_bit_size")),
        })
    };
    info.children(at).filter(|die| die.tag == "DW_TAG_member").filter_map(field).collect()
}

/// Returns the encoding (`DW_AT_encoding`) of a base type, for example `DW_ATE_float`.
pub(crate) fn encoding(die: &Die) -> &str {
    match die.get("DW_AT_encoding") {
        Some(Content::Named(name)) => name,
        _ => "",
    }
}

/// Extracts `count` bits from bit `from` on, for example of a bit field. Returns the bytes of a number of
/// type `scalar`.
pub(crate) fn extracted(all: u128, from: u64, count: u64, scalar: Scalar) -> Vec<u8> {
    let (from, count) = (from.min(127) as u32, count.clamp(1, 64) as u32);
    let bits = all >> from & ((1 << count) - 1);
    let spare = 128 - count;
    let value = match scalar.kind {
        Kind::Signed => (bits as i128) << spare >> spare,
        _ => bits as i128,
    };
    value.to_le_bytes()[..usize::from(scalar.bytes)].to_vec()
}
