//! Checks the metadata of code object V2 and turns it into a tree that [`objwriter::metadata_v2`] writes.
//!
//! In contrast to later versions, unknown keys are errors. A scalar has the type that its key requires, so
//! that `3` in `Name: 3` is a string.

use super::errors::{Mistakes, one_of};
use codeobj::yaml::{self, Entry, Node};
use objwriter::Value;
use objwriter::metadata_v2::{Key, Kind, ROOT};

/// Returns the metadata tree of a YAML document. Missing and unknown keys, and values of a wrong type, are
/// added to `mistakes`.
pub(super) fn tree(node: &Node, mistakes: &mut Mistakes) -> Value {
    mapping(node, ROOT, ("", 0), mistakes)
}

/// Checks a mapping under a key of the enclosing mapping.
fn mapping(node: &Node, keys: &[Key], under: (&str, usize), mistakes: &mut Mistakes) -> Value {
    if !matches!(node, Node::Map(_)) {
        mistakes.add(under, "expected a mapping in the metadata".to_owned(), None);
        return Value::Nil;
    }
    let entries = node.entries();
    let first = entries.first().map_or(under, |entry| (entry.key.as_str(), entry.at));
    for entry in entries.iter().filter(|entry| keys.iter().all(|key| key.name != entry.key)) {
        let place = (entry.key.as_str(), entry.at);
        mistakes.add(place, format!("unknown key `{}` in the metadata", entry.key), None);
    }
    let mut tree = Vec::new();
    for key in keys {
        match entries.iter().find(|entry| entry.key == key.name) {
            Some(entry) => tree.push((key.name.into(), value(key, entry, mistakes))),
            None if key.required => {
                mistakes.add(first, format!("the metadata lacks `{}` here", key.name), None);
            }
            None => {}
        }
    }
    Value::Map(tree)
}

fn value(key: &Key, entry: &Entry, mistakes: &mut Mistakes) -> Value {
    let at = (entry.key.as_str(), entry.at);
    let found = match (key.kind, &entry.value) {
        (Kind::Mapping(keys), node) => return mapping(node, keys, at, mistakes),
        (_, Node::Empty) => return Value::Nil,
        (Kind::Text | Kind::Symbol, node) => text(node).ok_or("a string".to_owned()),
        (Kind::Word(words), node) => text(node)
            .filter(|value| value.as_str().is_some_and(|word| words.contains(&word)))
            .ok_or_else(|| one_of(words)),
        (Kind::Number(_), node) => number(node).ok_or("a number".to_owned()),
        (Kind::Flag, Node::Scalar(word)) => match yaml::llvm_scalar(word) {
            flag @ Value::Bool(_) => Ok(flag),
            _ => Err("`true` or `false`".to_owned()),
        },
        (Kind::Flag, _) => Err("`true` or `false`".to_owned()),
        (Kind::Numbers, Node::Seq(items)) => list(items, number).ok_or("a sequence of numbers".to_owned()),
        (Kind::Texts, Node::Seq(items)) => list(items, text).ok_or("a sequence of strings".to_owned()),
        (Kind::Mappings(keys), Node::Seq(items)) => {
            Ok(Value::Seq(items.iter().map(|item| mapping(item, keys, at, mistakes)).collect()))
        }
        (Kind::Numbers | Kind::Texts | Kind::Mappings(_), _) => Err("a sequence".to_owned()),
    };
    found.unwrap_or_else(|wanted| {
        mistakes.add(at, format!("`{}` has to be {wanted}", key.name), None);
        Value::Nil
    })
}

fn text(node: &Node) -> Option<Value> {
    node.text().map(|text| Value::from(text.to_owned()))
}

/// Returns a number, which must not be negative.
fn number(node: &Node) -> Option<Value> {
    Some(yaml::llvm_scalar(node.text()?)).filter(|value| matches!(value, Value::Uint(_)))
}

fn list(items: &[Node], one: fn(&Node) -> Option<Value>) -> Option<Value> {
    items.iter().map(one).collect::<Option<_>>().map(Value::Seq)
}
