//! Interprets the scalars of metadata: converts their YAML texts to numbers, booleans and strings.

use codeobj::yaml::Node;
use objwriter::Value;
use objwriter::value::unsigned;

/// Returns the value of a node as LLVM reads it. LLVM reads a scalar in quotes in the same way as one
/// without.
pub(super) fn value(node: &Node) -> Value {
    match node {
        // LLVM reads a key without a value as an empty sequence.
        Node::Empty => Value::Seq(Vec::new()),
        Node::Scalar(text) => meaning(text),
        Node::Text(text) => Value::from(text.clone()),
        Node::Seq(items) => Value::Seq(items.iter().map(value).collect()),
        Node::Map(entries) => {
            Value::Map(entries.iter().map(|entry| (key(&entry.key), value(&entry.value))).collect())
        }
    }
}

/// Reads a key of a mapping. If it looks like a number, it is a number.
pub(super) fn key(text: &str) -> Value {
    meaning(text)
}

/// Returns the value of a scalar without a tag.
pub(super) fn meaning(text: &str) -> Value {
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
        // LLVM also reads such texts as floats, but loses the number when it writes the metadata.
        _ => float(text).map_or_else(|| Value::from(text.to_owned()), Value::Float),
    }
}

/// Reads a number with a point or an exponent, as `strtod` of C does. Hexadecimal numbers must have an
/// exponent.
fn float(text: &str) -> Option<f64> {
    if let Ok(value) = text.parse() {
        return Some(value);
    }
    let (sign, digits) = text.strip_prefix('-').map_or((1.0, text), |digits| (-1.0, digits));
    let digits = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"))?;
    let (whole, exponent) = digits.split_once(['p', 'P'])?;
    let whole = u64::from_str_radix(whole, 16).ok()? as f64;
    Some(sign * whole * 2f64.powi(exponent.parse().ok()?))
}
