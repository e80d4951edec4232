//! Code object V2's metadata: what the source says, as a tree that [`objwriter::metadata_v2`] writes.

use codeobj::yaml::Node;
use objwriter::Value;
use objwriter::metadata_v2::{Key, Kind, ROOT};
use objwriter::value::unsigned;

/// The tree of a document. What is missing, unknown or of the wrong kind is an error.
pub(super) fn tree(node: &Node) -> Result<Value, String> {
    mapping(node, ROOT)
}

fn mapping(node: &Node, keys: &[Key]) -> Result<Value, String> {
    let Node::Map(entries) = node else { return Err("expected a mapping in the metadata".into()) };
    if let Some((name, _)) = entries.iter().find(|(name, _)| keys.iter().all(|key| key.name != name)) {
        return Err(format!("unknown key `{name}` in the metadata"));
    }
    let mut tree = Vec::new();
    for key in keys {
        match node.get(key.name) {
            Some(node) => tree.push((key.name.into(), value(key, node)?)),
            None if key.required => return Err(format!("the metadata lacks `{}`", key.name)),
            None => {}
        }
    }
    Ok(Value::Map(tree))
}

fn value(key: &Key, node: &Node) -> Result<Value, String> {
    let bad = || format!("`{}` of the metadata has the wrong kind of value", key.name);
    let number = |node: &Node| match node {
        Node::Scalar(text) => unsigned(text).map(Value::Uint).ok_or_else(bad),
        _ => Err(bad()),
    };
    let text = |node: &Node| match node {
        Node::Scalar(text) => Ok(Value::from(text.clone())),
        _ => Err(bad()),
    };
    let list = |items: &[Node], of: &dyn Fn(&Node) -> Result<Value, String>| {
        items.iter().map(of).collect::<Result<_, _>>().map(Value::Seq)
    };
    match (key.kind, node) {
        (Kind::Mapping(keys), node) => mapping(node, keys),
        (Kind::Dropped, _) | (_, Node::Empty) => Ok(Value::Nil),
        (Kind::Text | Kind::Word | Kind::Symbol, Node::Text(text)) => Ok(Value::from(text.clone())),
        (Kind::Text | Kind::Word | Kind::Symbol, node) => text(node),
        (Kind::Number(_), node) => number(node),
        (Kind::Flag, Node::Scalar(text)) => match text.as_str() {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            _ => Err(bad()),
        },
        (Kind::Numbers, Node::Seq(items)) => list(items, &number),
        (Kind::Texts, Node::Seq(items)) => list(items, &text),
        (Kind::Mappings(keys), Node::Seq(items)) => list(items, &|item| mapping(item, keys)),
        _ => Err(bad()),
    }
}
