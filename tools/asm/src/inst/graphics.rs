//! Operands and modifiers of graphics instructions: export targets, attributes, image addresses in registers
//! that are not consecutive (scattered), and formats.

use super::operand::{Arg, ArgValue};
use super::{Instructions, Line};
use crate::assembler::Assembler;
use crate::cursor::Cursor;
use crate::error::{Result, error};
use isa::graphics_names as names;
use isa::table::{AddressParts, Family, Kind, Row};
use isa::{Feature, Lane, MachInst, ModFlags, Operand, Scattered, Target};

/// Modifiers that only these instructions have.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Written {
    pub dmask: Option<u8>,
    pub dim: Option<u8>,
    /// The format of a buffer access. The source can give it as one number, which is here, or as a data
    /// format and a numeric format, which are in the next two fields.
    pub format: Option<u8>,
    pub data_format: Option<u8>,
    pub numeric_format: Option<u8>,
}

/// VGPRs of a scattered image address in the current line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Addresses {
    numbers: [u8; MAX_ADDRESSES],
    len: usize,
}

const MAX_ADDRESSES: usize = 13;

/// Reads an operand that only graphics instructions have. Returns `None` if the text is something else.
pub(super) fn operand(
    asm: &mut Assembler,
    known: &mut Instructions,
    cur: &mut Cursor,
    mnemonic: &str,
) -> Result<Option<Arg>> {
    let start = cur.pos;
    if mnemonic.starts_with("image_") {
        return match cur.peek() == b'[' && known.target.has(Feature::NSA) {
            true => addresses(asm, known, cur).map(Some),
            false => Ok(None),
        };
    }
    let (kind, number) = if mnemonic == "exp" && known.line.len == 0 {
        let name = cur.name().unwrap_or_default();
        let number = names::export_target(known.target, name);
        let unknown =
            || error(cur.span_from(start), "unknown target of an export").label("not on this processor");
        (Kind::ExportTarget, Some(number.ok_or_else(unknown)?))
    } else if mnemonic.starts_with("v_interp_") {
        let name = cur.name().unwrap_or_default();
        match names::attribute(name) {
            Some(number) => (Kind::Attribute, Some(number)),
            None => (Kind::Parameter, names::parameter(name)),
        }
    } else {
        return Ok(None);
    };
    let Some(number) = number else {
        cur.pos = start;
        return Ok(None);
    };
    Ok(Some(Arg { value: ArgValue::Named(kind, number), ..Arg::default() }))
}

/// Reads an image address in registers that need not be consecutive, such as `[v5, v9, v7]`. The cursor is at
/// `[`.
fn addresses(asm: &mut Assembler, known: &mut Instructions, cur: &mut Cursor) -> Result<Arg> {
    let start = cur.pos;
    cur.pos += 1;
    let mut all = Addresses::default();
    let value = loop {
        cur.blank();
        let at = cur.pos;
        let range = match asm.register(known, cur)? {
            Some(range) if range.first.is_vgpr() && range.len == 1 => range,
            _ => return Err(error(cur.span_from(at), "a VGPR is expected")),
        };
        let Some(slot) = all.numbers.get_mut(all.len) else {
            return Err(error(cur.span_from(start), "more registers than an address can have"));
        };
        *slot = range.first.number() as u8;
        all.len += 1;
        if !cur.eat(b',') {
            // A single register does not need a list.
            break if all.len == 1 { ArgValue::Reg(range) } else { ArgValue::Scattered };
        }
    };
    cur.expect(b']')?;
    known.line.addresses = all;
    Ok(Arg { value, ..Arg::default() })
}

impl Addresses {
    /// Returns the operands for the image address. There are several if one operand does not have room for
    /// all registers.
    pub fn operands(&self) -> impl Iterator<Item = Operand> {
        let operand = |numbers| Scattered::new(numbers).map_or(Operand::None, Operand::Scattered);
        self.numbers[..self.len].chunks(Scattered::MAX).map(operand)
    }
}

/// Reads the value of a graphics modifier; the cursor is after its `:`. Returns `false` if `name` is not a
/// graphics modifier.
pub(super) fn modifier(
    asm: &mut Assembler,
    mods: &mut Written,
    cur: &mut Cursor,
    name: &str,
) -> Result<bool> {
    match name {
        "dmask" => mods.dmask = Some(number(asm, cur, 15)?),
        "dim" => mods.dim = Some(dim(cur)?),
        "dfmt" => mods.data_format = Some(number(asm, cur, 15)?),
        "nfmt" => mods.numeric_format = Some(number(asm, cur, 7)?),
        "format" => mods.format = Some(format(asm, cur)?),
        _ => return Ok(false),
    }
    Ok(true)
}

fn number(asm: &mut Assembler, cur: &mut Cursor, max: u8) -> Result<u8> {
    super::modifier::small(asm, cur, i64::from(max)).map(|value| value as u8)
}

/// Reads the shape of an image, such as `SQ_RSRC_IMG_2D_ARRAY` or `2D_ARRAY`.
fn dim(cur: &mut Cursor) -> Result<u8> {
    cur.blank();
    let start = cur.pos;
    while cur.peek().is_ascii_alphanumeric() || cur.peek() == b'_' {
        cur.pos += 1;
    }
    let unknown = || {
        error(cur.span_from(start), "unknown shape of an image").label("expected SQ_RSRC_IMG_2D or the like")
    };
    names::image_dim(&cur.text[start..cur.pos]).ok_or_else(unknown)
}

/// Reads a format: a number, `[BUF_FMT_32_FLOAT]`, or `[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_FLOAT]`.
fn format(asm: &mut Assembler, cur: &mut Cursor) -> Result<u8> {
    cur.blank();
    if cur.peek() != b'[' {
        return number(asm, cur, 127);
    }
    let start = cur.pos;
    cur.pos += 1;
    let mut list = [""; 2];
    let mut count = 0;
    loop {
        cur.blank();
        let Some(slot) = list.get_mut(count) else {
            return Err(error(cur.span_from(start), "a format has at most two names"));
        };
        *slot = cur.name().unwrap_or_default();
        count += 1;
        if !cur.eat(b',') {
            break;
        }
    }
    cur.expect(b']')?;
    let found = asm.settings.target.and_then(|target| names::buffer_format(target, &list[..count]));
    found.ok_or_else(|| error(cur.span_from(start), "unknown buffer format").label("not on this processor"))
}

/// Converts the modifiers that the source gives to the form in which a graphics instruction stores them.
pub(super) fn lane(target: &Target, row: &Row, line: &Line) -> std::result::Result<Lane, &'static str> {
    let written = &line.mods.graphics;
    let of_image = written.dmask.is_some() || written.dim.is_some();
    let of_buffer =
        written.format.is_some() || written.data_format.is_some() || written.numeric_format.is_some();
    let ray = matches!(row.ops.get(1).map(|spec| spec.kind),
        Some(Kind::ImageAddress(address)) if address.parts.contains(AddressParts::RAY));
    match row.family {
        Family::Mtbuf if !of_image => typed_buffer(target, written),
        Family::Mimg if !of_buffer && !ray => image(target, written),
        _ if of_image => Err("`dmask` and `dim` are for image instructions"),
        _ if of_buffer => Err("formats are for typed buffer instructions"),
        _ => Ok(Lane::None),
    }
}

fn typed_buffer(target: &Target, written: &Written) -> std::result::Result<Lane, &'static str> {
    match (written.format, written.data_format, written.numeric_format) {
        (format, None, None) => Ok(Lane::Format(format.unwrap_or(1))),
        (Some(_), ..) => Err("`format` stands alone"),
        _ if target.arch.layout.has_unified_formats() => {
            Err("GFX10 has `format` instead of `dfmt` and `nfmt`")
        }
        (None, data, numeric) => Ok(Lane::Format(data.unwrap_or(1) | numeric.unwrap_or(0) << 4)),
    }
}

fn image(target: &Target, written: &Written) -> std::result::Result<Lane, &'static str> {
    match (target.arch.layout.has_image_dims(), written.dim) {
        (true, None) => Err("`dim` is missing"),
        (false, Some(_)) => Err("`dim` is for GFX10"),
        (_, dim) => Ok(Lane::Image { dmask: written.dmask.unwrap_or(0), dim: dim.unwrap_or(0) }),
    }
}

/// Adapts the sources of a compressed export, in which two sources share a register. If the source text gives
/// different registers for the two, the first one is used for both, as LLVM does.
pub(super) fn pair_sources(inst: &mut MachInst) {
    if inst.op.family() != Family::Exp || !inst.mods.flags.contains(ModFlags::COMPR) {
        return;
    }
    for pair in inst.ops[1..5].chunks_exact_mut(2) {
        if pair[0] != Operand::None && pair[1] != Operand::None {
            pair[1] = pair[0];
        }
    }
}
