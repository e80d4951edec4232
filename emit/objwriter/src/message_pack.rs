//! Writes metadata as MessagePack in the form that LLVM writes: the keys of maps are sorted, and each value
//! has the shortest encoding.

use crate::value::Value;

/// Appends a tree.
pub(crate) fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Nil => out.push(0xc0),
        Value::Bool(value) => bool(*value, out),
        Value::Uint(value) => uint(*value, out),
        Value::Int(value) => int(*value, out),
        Value::Float(value) => prefixed(0xcb, &value.to_be_bytes(), out),
        Value::Str(value) => text(value, out),
        Value::Bytes(bytes) => {
            match bytes.len() {
                len @ 0..=0xff => out.extend_from_slice(&[0xc4, len as u8]),
                len @ 0x100..=0xffff => prefixed(0xc5, &(len as u16).to_be_bytes(), out),
                len => prefixed(0xc6, &(len as u32).to_be_bytes(), out),
            }
            out.extend_from_slice(bytes);
        }
        Value::Seq(items) => {
            seq(items.len(), out);
            items.iter().for_each(|item| write(item, out));
        }
        Value::Map(entries) => {
            map(entries.len(), out);
            let mut entry = |(key, value): &(Value, Value)| {
                write(key, out);
                write(value, out);
            };
            if entries.is_sorted_by_key(|(key, _)| rank(key)) {
                entries.iter().for_each(entry);
            } else {
                let mut sorted: Vec<&(Value, Value)> = entries.iter().collect();
                sorted.sort_by_key(|(key, _)| rank(key));
                sorted.into_iter().for_each(&mut entry);
            }
        }
    }
}

/// Returns what LLVM sorts the keys of a map by: first the type of the key, then its value.
pub fn rank(key: &Value) -> (u8, u64, Option<&str>) {
    match key {
        // LLVM compares integers as signed numbers. Flipping the sign bit gives unsigned numbers with the
        // same order.
        Value::Int(value) => (0, value.cast_unsigned() ^ 1 << 63, None),
        Value::Uint(value) => (1, *value, None),
        Value::Nil => (2, 0, None),
        Value::Bool(value) => (3, u64::from(*value), None),
        Value::Str(text) => (5, 0, Some(text)),
        Value::Float(_) | Value::Bytes(_) | Value::Seq(_) | Value::Map(_) => (6, 0, None),
    }
}

/// Appends the beginning of a map, which says that it has `len` entries. The keys and values must follow,
/// sorted as LLVM sorts them.
pub fn map(len: usize, out: &mut Vec<u8>) {
    length(len, [0x80, 0xde, 0xdf], out);
}

/// Appends the beginning of a sequence, which says that it has `len` items. The items must follow.
pub fn seq(len: usize, out: &mut Vec<u8>) {
    length(len, [0x90, 0xdc, 0xdd], out);
}

/// Appends a boolean.
pub fn bool(value: bool, out: &mut Vec<u8>) {
    out.push(0xc2 + u8::from(value));
}

/// Appends the type and length of a string, sequence or map in the shortest form. The three type codes are
/// for lengths up to 15, for 16-bit lengths and for 32-bit lengths.
fn length(len: usize, [fix, two, four]: [u8; 3], out: &mut Vec<u8>) {
    match len {
        0..=15 => out.push(fix | len as u8),
        16..=0xffff => {
            out.push(two);
            out.extend_from_slice(&(len as u16).to_be_bytes());
        }
        _ => {
            out.push(four);
            out.extend_from_slice(&(len as u32).to_be_bytes());
        }
    }
}

/// Appends a string.
pub fn text(text: &str, out: &mut Vec<u8>) {
    out.reserve(5 + text.len());
    string_head(text.len(), out);
    out.extend_from_slice(text.as_bytes());
}

/// Appends a string that consists of several parts.
pub fn string(parts: &[&str], out: &mut Vec<u8>) {
    string_head(parts.iter().map(|part| part.len()).sum(), out);
    parts.iter().for_each(|part| out.extend_from_slice(part.as_bytes()));
}

fn string_head(len: usize, out: &mut Vec<u8>) {
    match len {
        0..=31 => out.push(0xa0 | len as u8),
        32..=0xff => out.extend_from_slice(&[0xd9, len as u8]),
        0x100..=0xffff => prefixed(0xda, &(len as u16).to_be_bytes(), out),
        _ => prefixed(0xdb, &(len as u32).to_be_bytes(), out),
    }
}

/// Appends an unsigned number.
pub fn uint(value: u64, out: &mut Vec<u8>) {
    let bytes = value.to_be_bytes();
    match value {
        0..=0x7f => out.push(value as u8),
        0x80..=0xff => out.extend_from_slice(&[0xcc, bytes[7]]),
        0x100..=0xffff => prefixed(0xcd, &bytes[6..], out),
        0x1_0000..=0xffff_ffff => prefixed(0xce, &bytes[4..], out),
        _ => prefixed(0xcf, &bytes, out),
    }
}

/// Appends a negative number.
fn int(value: i64, out: &mut Vec<u8>) {
    let bytes = value.to_be_bytes();
    match value {
        0.. => uint(value as u64, out),
        -32..=-1 => out.push(value as u8),
        -0x80..=-33 => prefixed(0xd0, &bytes[7..], out),
        -0x8000..=-0x81 => prefixed(0xd1, &bytes[6..], out),
        -0x8000_0000..=-0x8001 => prefixed(0xd2, &bytes[4..], out),
        _ => prefixed(0xd3, &bytes, out),
    }
}

fn prefixed(code: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.push(code);
    out.extend_from_slice(bytes);
}
