//! What the scalars of metadata mean: YAML's texts as a tree of values.

use codeobj::yaml::Node;
use objwriter::Value;
use objwriter::value::unsigned;

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
