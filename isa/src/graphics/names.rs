//! Converts numbers in graphics instructions to names and back. Such numbers are, for example, export targets
//! and image dimensions.

use super::formats::{DATA_FORMATS, NUMERIC_FORMATS, SNORM_OGL, UNIFIED_FORMATS};
use super::mtbuf::DEFAULT_FORMAT;
use crate::inst::MachInst;
use crate::layout::Layout;
use crate::operand::Operand;
use crate::table::{DIMS, Kind};
use crate::target::Target;
use std::fmt::{self, Write};

/// Groups of export targets. Each has a name, the number of its first target, the count of its targets, and
/// whether only GFX10 has the group.
const EXPORT_TARGETS: [(&str, u8, u8, bool); 7] = [
    ("mrt", 0, 8, false),
    ("mrtz", 8, 1, false),
    ("null", 9, 1, false),
    ("pos", 12, 4, false),
    ("pos4", 16, 1, true),
    ("prim", 20, 1, true),
    ("param", 32, 32, false),
];

/// Returns the number of an export target such as `mrt0` or `param31`.
pub fn export_target(target: &Target, name: &str) -> Option<u8> {
    let known =
        EXPORT_TARGETS.iter().filter(|row| !row.3 || Layout::for_target(target).graphics.more_export_targets);
    let mut found = known.filter_map(|&(stem, first, count, _)| match count {
        1 => (name == stem).then_some(first),
        _ => index(name.strip_prefix(stem)?, count).map(|index| first + index),
    });
    found.next()
}

/// Appends the name of an export target.
pub(crate) fn write_export_target(target: &Target, number: u8, out: &mut String) -> fmt::Result {
    let more = Layout::for_target(target).graphics.more_export_targets;
    let holds = |row: &&(&str, u8, u8, bool)| (row.1..row.1 + row.2).contains(&number) && (!row.3 || more);
    match EXPORT_TARGETS.iter().find(holds) {
        Some((name, _, 1, _)) => out.write_str(name),
        Some((stem, first, ..)) => write!(out, "{stem}{}", number - first),
        None => write!(out, "invalid_target_{number}"),
    }
}

/// Number of vertex attributes that assemblers can name. The field in the instruction could hold 64.
const ATTRIBUTES: u8 = 33;

/// Returns whether all export targets, attributes and parameters of an instruction have names. Assemblers
/// require names.
pub(crate) fn are_known(target: &Target, inst: &MachInst) -> bool {
    inst.op.row().ops.iter().zip(inst.operands()).all(|(spec, &operand)| match (spec.kind, operand) {
        (Kind::ExportTarget, Operand::Imm(number)) => is_export_target(target, number as u8),
        (Kind::Attribute, Operand::Imm(number)) => number < 4 * i32::from(ATTRIBUTES),
        (Kind::Parameter, Operand::Imm(number)) => number < 3,
        _ => true,
    })
}

fn is_export_target(target: &Target, number: u8) -> bool {
    let more = Layout::for_target(target).graphics.more_export_targets;
    EXPORT_TARGETS.iter().any(|row| (row.1..row.1 + row.2).contains(&number) && (!row.3 || more))
}

/// Parses the name of an attribute with its component, such as `attr3.y`. Returns four times the number of
/// the attribute plus the component, as in [`Kind::Attribute`](crate::table::Kind::Attribute).
pub fn attribute(name: &str) -> Option<u8> {
    let (number, component) = name.strip_prefix("attr")?.split_once('.')?;
    let component = ["x", "y", "z", "w"].iter().position(|other| *other == component)?;
    Some(index(number, ATTRIBUTES)? * 4 + component as u8)
}

/// Returns the number of an attribute's parameter, given its name `p10`, `p20` or `p0`.
pub fn parameter(name: &str) -> Option<u8> {
    match name {
        "p10" => Some(0),
        "p20" => Some(1),
        "p0" => Some(2),
        _ => None,
    }
}

/// Parses a decimal number that must be less than `limit`.
fn index(text: &str, limit: u8) -> Option<u8> {
    let decimal = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|&index| decimal && index < limit)
}

/// Returns the number of an image dimension, given its name, such as `SQ_RSRC_IMG_2D` or `2D`.
pub fn image_dim(name: &str) -> Option<u8> {
    let name = name.strip_prefix("SQ_RSRC_IMG_").unwrap_or(name);
    DIMS.iter().position(|dim| dim.name == name).map(|dim| dim as u8)
}

/// Returns the number of a buffer format, given its names. Before GFX10, the names are like
/// `BUF_DATA_FORMAT_32` and `BUF_NUM_FORMAT_FLOAT`, and one of them may be omitted. On GFX10, there is one
/// name, such as `BUF_FMT_32_FLOAT`, but the two older names are accepted as well.
pub fn buffer_format(target: &Target, names: &[&str]) -> Option<u8> {
    let unified = Layout::for_target(target).graphics.unified_formats;
    let place = |list: &[&str], name: &str| list.iter().position(|other| *other == name).map(|at| at as u8);
    if let [name] = names
        && let Some(name) = name.strip_prefix("BUF_FMT_")
    {
        return place(&UNIFIED_FORMATS, name).filter(|_| unified);
    }
    let (mut data, mut numeric) = (None, None);
    for name in names {
        let (slot, found) = if let Some(name) = name.strip_prefix("BUF_DATA_FORMAT_") {
            (&mut data, place(&DATA_FORMATS, name))
        } else {
            (&mut numeric, numeric_format(target, name.strip_prefix("BUF_NUM_FORMAT_")?))
        };
        if slot.replace(found?).is_some() {
            return None;
        }
    }
    let (data, numeric) = (data.unwrap_or(DEFAULT_FORMAT), numeric.unwrap_or(0));
    match unified {
        false => Some(data | numeric << 4),
        true if data == 0 => Some(0),
        true => {
            let both = (DATA_FORMATS[usize::from(data)], NUMERIC_FORMATS[usize::from(numeric)]);
            let is = |name: &str| {
                name.strip_prefix(both.0).and_then(|rest| rest.strip_prefix('_')) == Some(both.1)
            };
            UNIFIED_FORMATS.iter().position(|name| is(name)).map(|at| at as u8)
        }
    }
}

fn numeric_format(target: &Target, name: &str) -> Option<u8> {
    let older = Layout::for_target(target).graphics.snorm_ogl;
    match name {
        SNORM_OGL => older.then_some(6),
        "RESERVED_6" if older => None,
        _ => NUMERIC_FORMATS.iter().position(|other| *other == name).map(|at| at as u8),
    }
}
