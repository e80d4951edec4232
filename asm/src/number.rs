//! Numbers of the source text.

use crate::cursor::{Cursor, continues_name};
use crate::error::{Result, error};

/// A number as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    /// Wraps: `0xffffffffffffffff` is -1.
    Int(i64),
    Float(f64),
    /// `1b`: the last label `1:`.
    Before(u32),
    /// `1f`: the next one.
    After(u32),
}

/// Reads a number; a digit is here.
pub(crate) fn number(cur: &mut Cursor) -> Result<Number> {
    let bytes = cur.text.as_bytes();
    let start = cur.pos;
    if cur.peek() == b'0' && matches!(cur.peek_at(1), b'x' | b'X') {
        return hex(cur);
    }
    if cur.peek() == b'0' && matches!(cur.peek_at(1), b'b' | b'B') && matches!(cur.peek_at(2), b'0' | b'1') {
        cur.pos += 2;
        return digits(cur, start, 2);
    }
    let mut end = start;
    let mut value: u64 = 0;
    let mut fits = true;
    while let Some(byte @ b'0'..=b'9') = bytes.get(end) {
        let next = value.checked_mul(10).and_then(|value| value.checked_add(u64::from(byte - b'0')));
        fits &= next.is_some();
        value = next.unwrap_or(0);
        end += 1;
    }
    let after = bytes.get(end).copied().unwrap_or(0);
    if after == b'.' || matches!(after, b'e' | b'E') && exponent_follows(bytes, end) {
        return float(cur, end);
    }
    let ends_word = !bytes.get(end + 1).copied().is_some_and(continues_name);
    if matches!(after, b'b' | b'f') && ends_word && fits && value <= u64::from(u32::MAX) {
        cur.pos = end + 1;
        let label = value as u32;
        return Ok(if after == b'b' { Number::Before(label) } else { Number::After(label) });
    }
    if bytes[start] == b'0' && end > start + 1 {
        return digits(cur, start, 8);
    }
    cur.pos = end;
    suffix(cur, start)?;
    match fits {
        true => Ok(Number::Int(value as i64)),
        false => Err(error(start..end, "the number does not fit 64 bits")),
    }
}

fn exponent_follows(bytes: &[u8], at: usize) -> bool {
    let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
    bytes.get(at + 1 + sign).is_some_and(u8::is_ascii_digit)
}

/// Digits of a base that is a power of two.
fn digits(cur: &mut Cursor, start: usize, base: u32) -> Result<Number> {
    let mut value: u64 = 0;
    let first = cur.pos;
    while let Some(digit) = char::from(cur.peek()).to_digit(base) {
        let shift = base.trailing_zeros();
        if value.leading_zeros() < shift {
            while cur.peek().is_ascii_alphanumeric() {
                cur.pos += 1;
            }
            return Err(error(start..cur.pos, "the number does not fit 64 bits"));
        }
        value = value << shift | u64::from(digit);
        cur.pos += 1;
    }
    if cur.pos == first {
        return Err(error(cur.span_from(start), "a number without digits"));
    }
    suffix(cur, start)?;
    Ok(Number::Int(value as i64))
}

/// C's suffixes are allowed and mean nothing.
fn suffix(cur: &mut Cursor, start: usize) -> Result<()> {
    while matches!(cur.peek(), b'u' | b'U' | b'l' | b'L') {
        cur.pos += 1;
    }
    if !continues_name(cur.peek()) || cur.peek() == b'.' {
        return Ok(());
    }
    while continues_name(cur.peek()) {
        cur.pos += 1;
    }
    Err(error(start..cur.pos, "not a number").label("digits, then something else"))
}

/// Decimal float; the digits before the point end at `end`.
fn float(cur: &mut Cursor, mut end: usize) -> Result<Number> {
    let bytes = cur.text.as_bytes();
    let start = cur.pos;
    let skip = |end: &mut usize| {
        while bytes.get(*end).is_some_and(u8::is_ascii_digit) {
            *end += 1;
        }
    };
    if bytes.get(end) == Some(&b'.') {
        end += 1;
        skip(&mut end);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) && exponent_follows(bytes, end) {
        end += 1 + usize::from(matches!(bytes[end + 1], b'+' | b'-'));
        skip(&mut end);
    }
    cur.pos = end;
    match cur.text[start..end].parse() {
        Ok(value) => Ok(Number::Float(value)),
        Err(_) => Err(error(start..end, "not a number")),
    }
}

/// `0x1f`, or a hexadecimal float `0x1.8p3`.
fn hex(cur: &mut Cursor) -> Result<Number> {
    let start = cur.pos;
    cur.pos += 2;
    let bytes = cur.text.as_bytes();
    let mut end = cur.pos;
    while bytes.get(end).is_some_and(u8::is_ascii_hexdigit) {
        end += 1;
    }
    match bytes.get(end) {
        Some(b'.' | b'p' | b'P') => hex_float(cur, start),
        _ => digits(cur, start, 16),
    }
}

fn hex_float(cur: &mut Cursor, start: usize) -> Result<Number> {
    let (mut mantissa, mut scale, mut point) = (0u64, 0i32, false);
    loop {
        match cur.peek() {
            b'.' if !point => point = true,
            byte => {
                let Some(digit) = char::from(byte).to_digit(16) else { break };
                // Digits beyond 60 bits do not change a double.
                if mantissa >> 60 == 0 {
                    mantissa = mantissa << 4 | u64::from(digit);
                    scale -= if point { 4 } else { 0 };
                } else if !point {
                    scale = scale.saturating_add(4);
                }
            }
        }
        cur.pos += 1;
    }
    if !matches!(cur.peek(), b'p' | b'P') {
        return Err(
            error(cur.span_from(start), "a hexadecimal float needs an exponent").label("expected `p`")
        );
    }
    cur.pos += 1;
    let negative = cur.peek() == b'-';
    cur.pos += usize::from(matches!(cur.peek(), b'+' | b'-'));
    let mut exponent = 0i32;
    let first = cur.pos;
    while cur.peek().is_ascii_digit() {
        exponent = (exponent * 10 + i32::from(cur.peek() - b'0')).min(100_000);
        cur.pos += 1;
    }
    if cur.pos == first {
        return Err(error(cur.span_from(start), "an exponent without digits"));
    }
    let exponent = if negative { -exponent } else { exponent };
    Ok(Number::Float(mantissa as f64 * 2f64.powi(exponent.saturating_add(scale).clamp(-2000, 2000))))
}
