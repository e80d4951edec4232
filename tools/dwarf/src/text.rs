//! Converts the text of expressions, as [`crate::Op`] prints them, back to bytes. Tests contain expressions
//! as text, and users of the debugger describe locations as text.

use crate::names::Register;
use crate::op::{Arg, Encoding, Opcode, Operand};
use std::fmt;

/// Reason why a text is not an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextError {
    /// There is no operation with this name.
    Name(String),
    /// The operation does not accept this operand.
    Operand(String),
    /// The operation has too few or too many operands.
    Count(Opcode),
    /// The operation has no number in the chosen numbering.
    Number(Opcode),
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TextError::Name(name) => write!(f, "there is no operation `{name}`"),
            TextError::Operand(text) => write!(f, "`{text}` is not what the operation takes"),
            TextError::Count(opcode) => write!(f, "{opcode} has {} operands", opcode.operands().len()),
            TextError::Number(opcode) => write!(f, "{opcode} has no number here"),
        }
    }
}

impl std::error::Error for TextError {}

/// Returns the bytes of an expression, given the text of its operations, which are separated by `;` or `,`.
///
/// # Errors
/// The name of an operation is unknown, or an operand is missing or does not fit.
pub fn assemble(text: &str, encoding: Encoding) -> Result<Vec<u8>, TextError> {
    let mut bytes = Vec::new();
    for part in text.split([';', ',']).map(str::trim).filter(|part| !part.is_empty()) {
        operation(part, encoding, &mut bytes)?;
    }
    Ok(bytes)
}

fn operation(text: &str, encoding: Encoding, bytes: &mut Vec<u8>) -> Result<(), TextError> {
    let (name, mut rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let opcode = Opcode::by_name(name).ok_or_else(|| TextError::Name(name.to_owned()))?;
    bytes.extend(opcode.number(encoding.numbering).ok_or(TextError::Number(opcode))?);
    for &operand in opcode.operands() {
        rest = rest.trim_start();
        let is_block = matches!(operand, Operand::Block | Operand::Block1);
        let end = if is_block { rest.find(']').map(|at| at + 1) } else { rest.find(char::is_whitespace) };
        let (word, behind) = rest.split_at(end.unwrap_or(rest.len()));
        if word.is_empty() {
            return Err(TextError::Count(opcode));
        }
        rest = behind;
        let wrong = || TextError::Operand(word.to_owned());
        let block;
        let arg = match operand {
            Operand::Block | Operand::Block1 => {
                block = hex_bytes(word).ok_or_else(wrong)?;
                Arg::Bytes(&block)
            }
            Operand::S(_) | Operand::Sleb => Arg::Signed(word.parse().map_err(|_| wrong())?),
            Operand::Reg => Arg::Unsigned(Register::parse(word).ok_or_else(wrong)?.0),
            _ => Arg::Unsigned(unsigned(word).ok_or_else(wrong)?),
        };
        if !write(arg, operand, encoding, bytes) {
            return Err(wrong());
        }
    }
    if rest.trim().is_empty() { Ok(()) } else { Err(TextError::Count(opcode)) }
}

fn unsigned(word: &str) -> Option<u64> {
    match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

/// Parses bytes such as `[01 ff]`.
fn hex_bytes(word: &str) -> Option<Vec<u8>> {
    let inside = word.strip_prefix('[')?.strip_suffix(']')?;
    inside.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).ok()).collect()
}

/// Appends an operand to the encoded expression. Returns `false` if its value does not fit.
fn write(arg: Arg, operand: Operand, encoding: Encoding, bytes: &mut Vec<u8>) -> bool {
    match (arg, operand) {
        (Arg::Unsigned(value), Operand::Uleb | Operand::Reg) => uleb(value, bytes),
        (Arg::Signed(value), Operand::Sleb) => sleb(value, bytes),
        (Arg::Unsigned(value), _) => {
            let size = match operand {
                Operand::Address => encoding.address_size,
                Operand::Offset => encoding.offset_size,
                Operand::U(size) => size,
                _ => return false,
            };
            bytes.extend_from_slice(&value.to_le_bytes()[..usize::from(size)]);
            return size == 8 || value >> (8 * u32::from(size)) == 0;
        }
        (Arg::Signed(value), Operand::S(size)) => {
            bytes.extend_from_slice(&value.to_le_bytes()[..usize::from(size)]);
            let shift = 64 - 8 * u32::from(size);
            return value << shift >> shift == value;
        }
        (Arg::Bytes(block), Operand::Block) => {
            uleb(block.len() as u64, bytes);
            bytes.extend_from_slice(block);
        }
        (Arg::Bytes(block), Operand::Block1) => {
            let Ok(count) = u8::try_from(block.len()) else { return false };
            bytes.push(count);
            bytes.extend_from_slice(block);
        }
        _ => return false,
    }
    true
}

fn uleb(mut value: u64, bytes: &mut Vec<u8>) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn sleb(mut value: i64, bytes: &mut Vec<u8>) {
    loop {
        let byte = value as u8 & 0x7f;
        value >>= 7;
        if value == 0 && byte & 0x40 == 0 || value == -1 && byte & 0x40 != 0 {
            bytes.push(byte);
            return;
        }
        bytes.push(byte | 0x80);
    }
}
