//! What the scalars of metadata mean: YAML's texts as a tree of values.

use codeobj::yaml::Node;
use objwriter::Value;

/// The tree, as LLVM reads it: a scalar means the same in quotes and without.
pub(super) fn value(node: &Node) -> Value {
    match node {
        // A key without a value is an empty sequence to LLVM.
        Node::Empty => Value::Seq(Vec::new()),
        Node::Scalar(text) => meaning(text),
        Node::Text(text) => Value::from(text.clone()),
        Node::Seq(items) => Value::Seq(items.iter().map(value).collect()),
        Node::Map(entries) => {
            Value::Map(entries.iter().map(|(key, node)| (Value::from(key.clone()), value(node))).collect())
        }
    }
}

fn meaning(text: &str) -> Value {
    if let Some(value) = unsigned(text) {
        return Value::Uint(value);
    }
    if let Some(value) =
        text.strip_prefix('-').and_then(unsigned).and_then(|value| 0i64.checked_sub_unsigned(value))
    {
        return u64::try_from(value).map_or(Value::Int(value), Value::Uint);
    }
    match text {
        "true" | "True" | "TRUE" | "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => {
            Value::Bool(true)
        }
        "false" | "False" | "FALSE" | "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => {
            Value::Bool(false)
        }
        "" => Value::Nil,
        _ => Value::from(text.to_owned()),
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
