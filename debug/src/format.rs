//! Values as people write them, by the types of the debug information.

use crate::variables::type_of;
use dwarf::{AddressClass, AddressSpace, Content, DebugInfo, Die};

/// Elements of an array that are shown.
const ELEMENTS: usize = 64;
/// Types within types that are followed.
const DEPTH: u32 = 16;
/// Values within a value that are shown: a damaged object may have structs that hold themselves.
const VALUES: u32 = 4096;

/// A type, without names and qualifiers around it.
#[derive(Clone, Copy)]
pub(crate) enum Shape<'a> {
    Base {
        die: &'a Die,
        bytes: u64,
    },
    /// To a type, in an address space.
    Pointer {
        to: Option<u64>,
        space: AddressSpace,
        bytes: u64,
    },
    /// Of so many elements of a type; a vector, or an array.
    Array {
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
    Unknown,
}

/// A field of a struct: name, type, byte.
pub(crate) struct Field<'a> {
    pub name: &'a str,
    pub ty: u64,
    pub byte: u64,
}

fn number(die: &Die, name: &str) -> Option<u64> {
    match die.get(name) {
        Some(Content::Number(number)) => u64::try_from(*number).ok(),
        _ => None,
    }
}

/// Counts of an array's dimensions, outermost first.
fn counts(info: &DebugInfo, die: &Die) -> Vec<u64> {
    let Some(at) = info.index_of(die.offset) else {
        return Vec::new();
    };
    let count = |range: &Die| {
        number(range, "DW_AT_count").or_else(|| number(range, "DW_AT_upper_bound").map(|last| last + 1))
    };
    info.children(at).map(|range| count(range).unwrap_or(0)).collect()
}

/// What a type is. `dimension`: of an array with several, how many have been taken off.
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
                Shape::Array { of, count, is_vector }
            }
            "DW_TAG_structure_type" | "DW_TAG_union_type" | "DW_TAG_class_type" => {
                Shape::Struct { die, bytes: bytes.unwrap_or(0) }
            }
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

/// Size of a type in bytes. A vector of three elements has room for four.
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
        Shape::Array { of, count, is_vector } => {
            let count = if is_vector { count.next_power_of_two() } else { count };
            count.saturating_mul(size_within(info, of, depth + 1))
        }
        Shape::Unknown => 0,
    }
}

/// The fields of a struct.
pub(crate) fn fields<'a>(info: &'a DebugInfo, die: &Die) -> Vec<Field<'a>> {
    let Some(at) = info.index_of(die.offset) else {
        return Vec::new();
    };
    let field = |member: &'a Die| {
        Some(Field {
            name: member.text("DW_AT_name").unwrap_or(""),
            ty: type_of(member)?,
            byte: number(member, "DW_AT_data_member_location").unwrap_or(0),
        })
    };
    info.children(at).filter(|die| die.tag == "DW_TAG_member").filter_map(field).collect()
}

/// A number that a value of a base type, an enum or a pointer is.
pub(crate) fn numeric(info: &DebugInfo, ty: u64, bytes: &[u8]) -> Option<f64> {
    let whole = |bytes: &[u8]| bytes.iter().rev().fold(0u128, |value, &byte| value << 8 | u128::from(byte));
    match shape(info, ty) {
        Shape::Base { die, .. } => match encoding(die) {
            "DW_ATE_float" => float(bytes),
            "DW_ATE_signed" | "DW_ATE_signed_char" => Some(signed(bytes) as f64),
            _ => Some(whole(bytes) as f64),
        },
        Shape::Pointer { .. } | Shape::Enum { .. } => Some(whole(bytes) as f64),
        _ => None,
    }
}

/// The encoding of a base type: `DW_ATE_float`.
pub(crate) fn encoding(die: &Die) -> &str {
    match die.get("DW_AT_encoding") {
        Some(Content::Named(name)) => name,
        _ => "",
    }
}

fn signed(bytes: &[u8]) -> i128 {
    let filled = if bytes.last().is_some_and(|last| last & 0x80 != 0) { -1i128 } else { 0 };
    bytes.iter().rev().fold(filled, |value, &byte| value << 8 | i128::from(byte))
}

fn float(bytes: &[u8]) -> Option<f64> {
    Some(match *bytes {
        [a, b] => half::f16::from_le_bytes([a, b]).to_f64(),
        [a, b, c, d] => f32::from_le_bytes([a, b, c, d]).into(),
        [a, b, c, d, e, f, g, h] => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => return None,
    })
}

/// What stands for a part of a value that is nowhere.
pub(crate) const NOWHERE: &str = "<nowhere>";

/// Bytes of a value, and which of them are anywhere.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    pub bytes: &'a [u8],
    /// All, if nothing is said.
    pub there: Option<&'a [bool]>,
}

impl<'a> Known<'a> {
    /// Some of the bytes; none if they are not within the value.
    fn part(self, from: usize, size: usize) -> Option<Known<'a>> {
        let range = from..from.saturating_add(size);
        let there = self.there.map(|there| there.get(range.clone()).unwrap_or(&[]));
        Some(Known { bytes: self.bytes.get(range)?, there })
    }

    /// Whether bytes are missing: some, or all.
    fn lacks(self) -> (bool, bool) {
        let there = self.there.unwrap_or(&[]);
        (there.contains(&false), !there.is_empty() && !there.contains(&true))
    }
}

/// A value as text. `bytes`: as many as the type has.
pub(crate) fn value(info: &DebugInfo, ty: Option<u64>, bytes: &[u8]) -> String {
    partial(info, ty, Known { bytes, there: None })
}

/// A value as text, of which parts may be nowhere.
pub(crate) fn partial(info: &DebugInfo, ty: Option<u64>, known: Known<'_>) -> String {
    value_within(info, ty, known, (0, &mut { VALUES }))
}

/// Bytes without a type.
pub(crate) fn plain(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect();
    format!("0x{digits}")
}

/// `depth`: of types within types; `left`: values that may still be shown.
fn value_within(
    info: &DebugInfo,
    ty: Option<u64>,
    known: Known<'_>,
    (depth, left): (u32, &mut u32),
) -> String {
    if *left == 0 {
        return "...".to_owned();
    }
    *left -= 1;
    let bytes = known.bytes;
    let plain = || plain(bytes);
    let shape = ty.filter(|_| depth <= DEPTH).map_or(Shape::Unknown, |ty| shape(info, ty));
    let is_whole = !matches!(shape, Shape::Array { .. } | Shape::Struct { .. });
    let (some, all) = known.lacks();
    if all || some && is_whole {
        return NOWHERE.to_owned();
    }
    match shape {
        Shape::Base { die, .. } => match encoding(die) {
            "DW_ATE_float" => match (float(bytes), bytes.len()) {
                // As short as the type allows.
                (Some(value), 4) => format!("{:?}", value as f32),
                (Some(value), _) => format!("{value:?}"),
                (None, _) => plain(),
            },
            "DW_ATE_boolean" => bytes.iter().any(|&byte| byte != 0).to_string(),
            "DW_ATE_signed" | "DW_ATE_signed_char" => signed(bytes).to_string(),
            "DW_ATE_unsigned" | "DW_ATE_unsigned_char" | "DW_ATE_UTF" => {
                bytes.iter().rev().fold(0u128, |value, &byte| value << 8 | u128::from(byte)).to_string()
            }
            _ => plain(),
        },
        Shape::Pointer { .. } => {
            let address = bytes.iter().rev().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
            format!("{address:#x}")
        }
        Shape::Array { of, count, .. } => {
            let step = size(info, of).max(1) as usize;
            let shown = (count as usize).min(ELEMENTS).min(bytes.len().div_ceil(step));
            let element = |n: usize| known.part(n * step, step.min(bytes.len() - n * step));
            let elements = (0..shown).filter_map(element);
            let texts: Vec<String> = elements
                .map(|element| value_within(info, Some(of), element, (depth + 1, &mut *left)))
                .collect();
            let more = if count as usize > ELEMENTS { ", ..." } else { "" };
            format!("[{}{more}]", texts.join(", "))
        }
        Shape::Struct { die, .. } => {
            let mut field = |field: Field<'_>| {
                let (from, size) = (field.byte as usize, size(info, field.ty) as usize);
                let part = known.part(from, size).unwrap_or(Known { bytes: &[], there: None });
                let text = value_within(info, Some(field.ty), part, (depth + 1, &mut *left));
                format!("{}: {text}", field.name)
            };
            let texts: Vec<String> = fields(info, die).into_iter().map(&mut field).collect();
            format!("{{{}}}", texts.join(", "))
        }
        Shape::Enum { die, .. } => {
            let number = signed(bytes);
            let at = info.index_of(die.offset);
            let named = at.into_iter().flat_map(|at| info.children(at)).find(|one| {
                matches!(one.get("DW_AT_const_value"), Some(Content::Number(value)) if *value == number)
            });
            named.and_then(|one| one.text("DW_AT_name")).map_or_else(|| number.to_string(), str::to_owned)
        }
        Shape::Unknown => plain(),
    }
}
