//! Checks the metadata of code object V3 and later against the keys that runtimes look for.
//!
//! # Source
//! LLVM's AMDGPU guide (seed 000, line 2369), and what LLVM 19 accepts: keys of later versions, and unknown
//! keys, which anyone may add. A number or boolean that is tagged as a string is converted to the type that
//! the key requires.

use super::errors::{Mistakes, one_of};
use codeobj::yaml::{self, Entry, Node};
use objwriter::Value;

/// Type of value that a key requires.
enum Kind {
    Text,
    Word(&'static [&'static str]),
    Number,
    Flag,
    /// Sequence of this many numbers.
    Numbers(usize),
    Texts,
    /// A sequence of mappings with these keys. The word says what each mapping describes, for messages.
    Maps(&'static [Key], &'static str),
}

struct Key {
    name: &'static str,
    is_required: bool,
    kind: Kind,
}

const fn required(name: &'static str, kind: Kind) -> Key {
    Key { name, is_required: true, kind }
}

const fn optional(name: &'static str, kind: Kind) -> Key {
    Key { name, is_required: false, kind }
}

use Kind::{Flag, Maps, Number, Numbers, Text, Texts, Word};

static ROOT: [Key; 3] = [
    required("amdhsa.version", Numbers(2)),
    required("amdhsa.kernels", Maps(&KERNEL, "kernel")),
    optional("amdhsa.printf", Texts),
];

static KERNEL: [Key; 22] = [
    required(".name", Text),
    required(".symbol", Text),
    required(".kernarg_segment_size", Number),
    required(".group_segment_fixed_size", Number),
    required(".private_segment_fixed_size", Number),
    required(".kernarg_segment_align", Number),
    required(".wavefront_size", Number),
    required(".sgpr_count", Number),
    required(".vgpr_count", Number),
    required(".max_flat_workgroup_size", Number),
    optional(".language", Word(&LANGUAGES)),
    optional(".language_version", Numbers(2)),
    optional(".args", Maps(&ARGUMENT, "argument")),
    optional(".reqd_workgroup_size", Numbers(3)),
    optional(".workgroup_size_hint", Numbers(3)),
    optional(".vec_type_hint", Text),
    optional(".device_enqueue_symbol", Text),
    optional(".sgpr_spill_count", Number),
    optional(".vgpr_spill_count", Number),
    optional(".uses_dynamic_stack", Flag),
    optional(".workgroup_processor_mode", Number),
    optional(".uniform_work_group_size", Number),
];

static ARGUMENT: [Key; 13] = [
    required(".size", Number),
    required(".offset", Number),
    required(".value_kind", Word(&VALUE_KINDS)),
    optional(".name", Text),
    optional(".type_name", Text),
    optional(".pointee_align", Number),
    optional(".address_space", Word(&["private", "global", "constant", "local", "generic", "region"])),
    optional(".access", Word(&ACCESSES)),
    optional(".actual_access", Word(&ACCESSES)),
    optional(".is_const", Flag),
    optional(".is_restrict", Flag),
    optional(".is_volatile", Flag),
    optional(".is_pipe", Flag),
];

static LANGUAGES: [&str; 6] = ["OpenCL C", "OpenCL C++", "HCC", "HIP", "OpenMP", "Assembler"];

static ACCESSES: [&str; 3] = ["read_only", "write_only", "read_write"];

static VALUE_KINDS: [&str; 31] = [
    "by_value",
    "global_buffer",
    "dynamic_shared_pointer",
    "sampler",
    "image",
    "pipe",
    "queue",
    "hidden_block_count_x",
    "hidden_block_count_y",
    "hidden_block_count_z",
    "hidden_group_size_x",
    "hidden_group_size_y",
    "hidden_group_size_z",
    "hidden_remainder_x",
    "hidden_remainder_y",
    "hidden_remainder_z",
    "hidden_global_offset_x",
    "hidden_global_offset_y",
    "hidden_global_offset_z",
    "hidden_grid_dims",
    "hidden_none",
    "hidden_printf_buffer",
    "hidden_hostcall_buffer",
    "hidden_heap_v1",
    "hidden_default_queue",
    "hidden_completion_action",
    "hidden_multigrid_sync_arg",
    "hidden_dynamic_lds_size",
    "hidden_private_base",
    "hidden_shared_base",
    "hidden_queue_ptr",
];

/// Returns the metadata tree of a YAML document, and adds the errors in it to `mistakes`.
pub(super) fn tree(root: &Node, mistakes: &mut Mistakes) -> Value {
    mapping(root, &ROOT, ("", 0), "object", mistakes)
}

/// Checks a mapping that describes `what`. The mapping is the value of a key in another mapping.
fn mapping(
    node: &Node,
    keys: &'static [Key],
    under: (&str, usize),
    what: &str,
    mistakes: &mut Mistakes,
) -> Value {
    if !matches!(node, Node::Map(_)) {
        let message = format!("the metadata of each {what} is a mapping of keys to values");
        mistakes.add(under, message, None);
        return Value::Nil;
    }
    let entries = node.entries();
    let first = entries.first().map_or(under, |entry| (entry.key.as_str(), entry.at));
    let is_said = |key: &&Key| entries.iter().any(|entry| entry.key == key.name);
    for key in keys.iter().filter(|key| key.is_required && !is_said(key)) {
        let near = entries.iter().find(|entry| is_misspelling(&entry.key, key.name));
        let note = near.map(|entry| format!("is `{}` to be `{}`?", entry.key, key.name));
        let place = near.map_or(first, |entry| (entry.key.as_str(), entry.at));
        mistakes.add(place, format!("the metadata of this {what} lacks `{}`", key.name), note);
    }
    let value = |entry: &Entry, mistakes: &mut Mistakes| {
        let known = keys.iter().find(|key| key.name == entry.key);
        let value = known.map_or_else(|| yaml::llvm_value(&entry.value), |key| value(key, entry, mistakes));
        (yaml::llvm_scalar(&entry.key), value)
    };
    Value::Map(entries.iter().map(|entry| value(entry, mistakes)).collect())
}

/// Returns whether a key is probably a misspelling of another key. It is if the two differ only in upper and
/// lower case, in `-` and `_`, or in one letter that is additional, missing or different.
fn is_misspelling(written: &str, key: &str) -> bool {
    let letters = |text: &str| -> Vec<u8> {
        text.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_lowercase()).collect()
    };
    let (a, b) = (letters(written), letters(key));
    let same = |(a, b): &(&u8, &u8)| a == b;
    let front = a.iter().zip(&b).take_while(same).count();
    let back = a.iter().rev().zip(b.iter().rev()).take_while(same).count();
    a.len().abs_diff(b.len()) <= 1 && front + back + 1 >= a.len().max(b.len())
}

fn value(key: &Key, entry: &Entry, mistakes: &mut Mistakes) -> Value {
    let at = (entry.key.as_str(), entry.at);
    let found = match (&key.kind, &entry.value) {
        (Text, node) => text(node).ok_or("a string".to_owned()),
        (Word(words), node) => text(node)
            .filter(|value| value.as_str().is_some_and(|word| words.contains(&word)))
            .ok_or_else(|| one_of(words)),
        (Number, node) => number(node).ok_or("an integer".to_owned()),
        (Flag, node) => flag(node).ok_or("`true` or `false`".to_owned()),
        (Numbers(count), Node::Seq(items)) if items.len() == *count => {
            let numbers: Option<_> = items.iter().map(number).collect();
            numbers.map(Value::Seq).ok_or_else(|| format!("a sequence of {count} integers"))
        }
        (Numbers(count), _) => Err(format!("a sequence of {count} integers")),
        (Texts | Maps(..), Node::Empty) => Ok(Value::Seq(Vec::new())),
        (Texts, Node::Seq(items)) => {
            let texts: Option<_> = items.iter().map(text).collect();
            texts.map(Value::Seq).ok_or("a sequence of strings".to_owned())
        }
        (Texts, _) => Err("a sequence of strings".to_owned()),
        (Maps(keys, what), Node::Seq(items)) => {
            Ok(Value::Seq(items.iter().map(|item| mapping(item, keys, at, what, mistakes)).collect()))
        }
        (Maps(..), _) => Err("a sequence of mappings".to_owned()),
    };
    found.unwrap_or_else(|wanted| {
        let note = entry.value.text().filter(|_| matches!(key.kind, Text)).map(|text| {
            format!("`{text}` is read as a number or a truth value, in quotes too; `!str {text}` is a string")
        });
        mistakes.add(at, format!("`{}` has to be {wanted}", key.name), note);
        Value::Nil
    })
}

/// Returns a string.
fn text(node: &Node) -> Option<Value> {
    match node {
        Node::Text(_) | Node::Scalar(_) => {
            Some(yaml::llvm_value(node)).filter(|value| value.as_str().is_some())
        }
        _ => None,
    }
}

fn number(node: &Node) -> Option<Value> {
    let value = yaml::llvm_scalar(node.text()?);
    matches!(value, Value::Uint(_) | Value::Int(_)).then_some(value)
}

fn flag(node: &Node) -> Option<Value> {
    let value = yaml::llvm_scalar(node.text()?);
    matches!(value, Value::Bool(_)).then_some(value)
}
