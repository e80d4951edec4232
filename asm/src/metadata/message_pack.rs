//! Metadata as MessagePack, as LLVM writes it: keys sorted, numbers in the fewest bytes.

use codeobj::yaml::Node;

/// What a scalar means, whether it is in quotes or not.
enum Scalar<'t> {
    Uint(u64),
    Int(i64),
    Bool(bool),
    Str(&'t str),
}

fn meaning(text: &str) -> Scalar<'_> {
    if let Some(value) = unsigned(text) {
        return Scalar::Uint(value);
    }
    if let Some(value) =
        text.strip_prefix('-').and_then(unsigned).and_then(|value| 0i64.checked_sub_unsigned(value))
    {
        return Scalar::Int(value);
    }
    match text {
        "true" | "True" | "TRUE" | "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => {
            Scalar::Bool(true)
        }
        "false" | "False" | "FALSE" | "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => {
            Scalar::Bool(false)
        }
        _ => Scalar::Str(text),
    }
}

/// Decimal, `0x`, `0b`, `0o` or, after a zero, octal.
pub(super) fn unsigned(text: &str) -> Option<u64> {
    let (digits, base) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&text[2..], 16),
        [b'0', b'b' | b'B', ..] => (&text[2..], 2),
        [b'0', b'o', ..] => (&text[2..], 8),
        [b'0', b'0'..=b'9', ..] => (&text[1..], 8),
        _ => (text, 10),
    };
    if !digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    u64::from_str_radix(digits, base).ok()
}

/// Appends a node.
pub(super) fn write(node: &Node, out: &mut Vec<u8>) {
    match node {
        // A key without a value is an empty sequence to LLVM.
        Node::Empty => out.push(0x90),
        Node::Scalar(text) => match meaning(text) {
            Scalar::Uint(value) => uint(value, out),
            Scalar::Int(value) => int(value, out),
            Scalar::Bool(value) => out.push(0xc2 + u8::from(value)),
            Scalar::Str("") => out.push(0xc0),
            Scalar::Str(text) => string(text, out),
        },
        Node::Seq(items) => {
            length(items.len(), [0x90, 0xdc, 0xdd], out);
            items.iter().for_each(|item| write(item, out));
        }
        Node::Map(entries) => {
            let mut sorted: Vec<&(String, Node)> = entries.iter().collect();
            sorted.sort_by(|a, b| a.0.as_bytes().cmp(b.0.as_bytes()));
            length(sorted.len(), [0x80, 0xde, 0xdf], out);
            for (key, value) in sorted {
                string(key, out);
                write(value, out);
            }
        }
    }
}

/// Codes for up to 15 entries, for 16 and for 32 bits of length.
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

fn string(text: &str, out: &mut Vec<u8>) {
    match text.len() {
        len @ 0..=31 => out.push(0xa0 | len as u8),
        len @ 32..=0xff => out.extend_from_slice(&[0xd9, len as u8]),
        len @ 0x100..=0xffff => {
            out.push(0xda);
            out.extend_from_slice(&(len as u16).to_be_bytes());
        }
        len => {
            out.push(0xdb);
            out.extend_from_slice(&(len as u32).to_be_bytes());
        }
    }
    out.extend_from_slice(text.as_bytes());
}

fn uint(value: u64, out: &mut Vec<u8>) {
    let bytes = value.to_be_bytes();
    match value {
        0..=0x7f => out.push(value as u8),
        0x80..=0xff => out.extend_from_slice(&[0xcc, bytes[7]]),
        0x100..=0xffff => prefixed(0xcd, &bytes[6..], out),
        0x1_0000..=0xffff_ffff => prefixed(0xce, &bytes[4..], out),
        _ => prefixed(0xcf, &bytes, out),
    }
}

/// A negative number.
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
