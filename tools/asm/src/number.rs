//! Numbers in the source text.

use crate::cursor::{Cursor, continues_name};
use crate::error::{Result, error};

/// Number as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    /// Integer. It wraps: `0xffffffffffffffff` is -1.
    Int(i64),
    Float(f64),
    /// Reference such as `1b` to the previous label `1:`.
    Before(u32),
    /// Reference such as `1f` to the next label `1:`.
    After(u32),
}

/// Returns whether a number begins here: a digit, or a point followed by a digit.
#[inline]
pub(crate) fn begins(cur: &Cursor) -> bool {
    cur.peek().is_ascii_digit() || cur.peek() == b'.' && cur.peek_at(1).is_ascii_digit()
}

/// Reads the number that begins here.
pub(crate) fn number(cur: &mut Cursor) -> Result<Number> {
    let bytes = cur.text.as_bytes();
    let start = cur.pos;
    if cur.peek() == b'.' {
        return float(cur, start);
    }
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

/// Reads digits in a base that is a power of two.
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

/// Skips the suffixes of C, which have no effect.
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

/// Reads a decimal float. The digits before the point end at `end`.
fn float(cur: &mut Cursor, end: usize) -> Result<Number> {
    let start = cur.pos;
    match decimal(cur, end).parse() {
        Ok(value) => Ok(Number::Float(value)),
        Err(_) => Err(error(start..cur.pos, "not a number")),
    }
}

/// Returns the text of a decimal float. The digits before the point end at `end`.
fn decimal<'s>(cur: &mut Cursor<'s>, mut end: usize) -> &'s str {
    let bytes = cur.text.as_bytes();
    let start = cur.pos;
    let digits = |end: &mut usize| {
        while bytes.get(*end).is_some_and(u8::is_ascii_digit) {
            *end += 1;
        }
    };
    digits(&mut end);
    if bytes.get(end) == Some(&b'.') {
        end += 1;
        digits(&mut end);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) && exponent_follows(bytes, end) {
        end += 1 + usize::from(matches!(bytes[end + 1], b'+' | b'-'));
        digits(&mut end);
    }
    cur.pos = end;
    &cur.text[start..end]
}

/// Returns the bits of the `f32` or `f64` that is nearest to the number at the cursor. An `f32` is not
/// computed from an `f64`, because it would be rounded twice.
pub(crate) fn float_bits(cur: &mut Cursor, is_single: bool) -> Result<u64> {
    let start = cur.pos;
    if cur.peek() == b'0' && matches!(cur.peek_at(1), b'x' | b'X') {
        cur.pos += 2;
        let value = hex_float(cur, start)?;
        return Ok(match is_single {
            true => (value.round(24, -149) as f32).to_bits().into(),
            false => value.round(53, -1074).to_bits(),
        });
    }
    let text = decimal(cur, start);
    suffix(cur, start)?;
    let bits = match is_single {
        true => text.parse().map(|value: f32| value.to_bits().into()).ok(),
        false => text.parse().map(f64::to_bits).ok(),
    };
    bits.ok_or_else(|| error(cur.span_from(start), "not a number"))
}

/// Reads `0x1f`, or a hexadecimal float such as `0x1.8p3`.
fn hex(cur: &mut Cursor) -> Result<Number> {
    let start = cur.pos;
    cur.pos += 2;
    let bytes = cur.text.as_bytes();
    let mut end = cur.pos;
    while bytes.get(end).is_some_and(u8::is_ascii_hexdigit) {
        end += 1;
    }
    match bytes.get(end) {
        Some(b'.' | b'p' | b'P') => Ok(Number::Float(hex_float(cur, start)?.round(53, -1074))),
        _ => digits(cur, start, 16),
    }
}

/// Hexadecimal float: `mantissa * 2^exponent`.
struct Hex {
    mantissa: u64,
    exponent: i32,
    /// Whether the exact value is slightly larger than that, because digits for which there was no room were
    /// dropped.
    more: bool,
}

impl Hex {
    /// Returns the nearest number that has at most `digits` binary digits, all of them worth at least
    /// `2^lowest`. Of two equally near numbers, the even one is returned.
    fn round(&self, digits: i32, lowest: i32) -> f64 {
        let width = 64 - self.mantissa.leading_zeros() as i32;
        let unit = (self.exponent + width - digits).max(lowest);
        let drop = unit - self.exponent;
        if drop <= 0 {
            return scaled(self.mantissa, self.exponent);
        }
        // From 66 on, half a unit is greater than every mantissa.
        let drop = drop.min(66) as u32;
        let whole = u128::from(self.mantissa);
        let (kept, rest, half) = (whole >> drop, whole & ((1 << drop) - 1), 1 << (drop - 1));
        let up = rest > half || rest == half && (self.more || kept & 1 != 0);
        scaled(kept as u64 + u64::from(up), unit)
    }
}

/// Returns `whole * 2^exponent`, or infinity if a double cannot represent it. It is computed in two steps,
/// because the power alone may be out of range.
fn scaled(whole: u64, exponent: i32) -> f64 {
    let half = exponent / 2;
    whole as f64 * 2f64.powi(half) * 2f64.powi(exponent - half)
}

/// Reads the digits and the exponent of a hexadecimal float that began at `start`.
fn hex_float(cur: &mut Cursor, start: usize) -> Result<Hex> {
    let mut value = Hex { mantissa: 0, exponent: 0, more: false };
    let mut point = false;
    loop {
        match cur.peek() {
            b'.' if !point => point = true,
            byte => {
                let Some(digit) = char::from(byte).to_digit(16) else { break };
                if value.mantissa >> 60 == 0 {
                    value.mantissa = value.mantissa << 4 | u64::from(digit);
                    value.exponent -= if point { 4 } else { 0 };
                } else {
                    value.more |= digit != 0;
                    value.exponent = value.exponent.saturating_add(if point { 0 } else { 4 });
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
    value.exponent = exponent.saturating_add(value.exponent).clamp(-2200, 2200);
    Ok(value)
}
