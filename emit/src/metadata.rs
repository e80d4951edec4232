//! Code object V3 metadata (seed 000, line 2369): one tree, rendered as MessagePack for the note and as YAML for text.

use crate::{Arg, EmitError, Kernel, Program, ValueKind, descriptor};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use std::fmt::Write;

/// A node of the metadata tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// Unsigned integer.
    Int(u64),
    /// Boolean.
    Bool(bool),
    /// String.
    Str(String),
    /// Sequence.
    Seq(Vec<Node>),
    /// Map; keys in the order in which LLVM's tools print them (sorted).
    Map(Vec<(&'static str, Node)>),
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Node::Int(value) => serializer.serialize_u64(*value),
            Node::Bool(value) => serializer.serialize_bool(*value),
            Node::Str(value) => serializer.serialize_str(value),
            Node::Seq(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    seq.serialize_element(item)?;
                }
                seq.end()
            }
            Node::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

fn int(value: u32) -> Node {
    Node::Int(u64::from(value))
}

fn ints(values: impl IntoIterator<Item = u32>) -> Node {
    Node::Seq(values.into_iter().map(int).collect())
}

fn string(text: &str) -> Node {
    Node::Str(text.to_owned())
}

/// The metadata of a program.
pub fn tree(program: &Program) -> Node {
    let kernels = program.kernels.iter().map(|kernel| kernel_map(program, kernel)).collect();
    Node::Map(vec![("amdhsa.kernels", Node::Seq(kernels)), ("amdhsa.version", ints([1, 0]))])
}

fn kernel_map(program: &Program, kernel: &Kernel) -> Node {
    let func = kernel.func;
    let mut map = vec![
        (".args", Node::Seq(kernel.args.iter().map(arg_map).collect())),
        (".group_segment_fixed_size", int(func.lds_size)),
        (".kernarg_segment_align", int(kernel.kernarg_align)),
        (".kernarg_segment_size", int(func.kernarg_size)),
        // The value is an enumeration of source languages; ours is nearest to OpenCL C in what a runtime does with it.
        (".language", string("OpenCL C")),
        (".language_version", ints([2, 0])),
        (".max_flat_workgroup_size", int(kernel.max_flat_workgroup_size)),
        (".name", string(&func.name)),
        (".private_segment_fixed_size", int(func.scratch_size)),
    ];
    if let Some(size) = kernel.reqd_workgroup_size {
        map.push((".reqd_workgroup_size", ints(size)));
    }
    map.push((".sgpr_count", int(descriptor::sgpr_count(kernel))));
    map.push((".sgpr_spill_count", int(func.spilled.sgprs)));
    map.push((".symbol", Node::Str(format!("{}.kd", func.name))));
    if let Some(hint) = kernel.vec_type_hint {
        map.push((".vec_type_hint", string(hint)));
    }
    map.push((".vgpr_count", int(func.vgprs)));
    map.push((".vgpr_spill_count", int(func.spilled.vgprs)));
    map.push((".wavefront_size", int(program.target.wave_size)));
    if let Some(size) = kernel.workgroup_size_hint {
        map.push((".workgroup_size_hint", ints(size)));
    }
    Node::Map(map)
}

fn arg_map(arg: &Arg) -> Node {
    let mut map = Vec::new();
    if let Some(space) = arg.address_space {
        map.push((".address_space", string(space)));
    }
    for (key, on) in
        [(".is_const", arg.is_const), (".is_restrict", arg.is_restrict), (".is_volatile", arg.is_volatile)]
    {
        if on && arg.kind == ValueKind::GlobalBuffer {
            map.push((key, Node::Bool(true)));
        }
    }
    map.push((".name", string(arg.name)));
    map.push((".offset", int(arg.offset)));
    if let Some(align) = arg.pointee_align.filter(|_| arg.kind == ValueKind::DynamicSharedPointer) {
        map.push((".pointee_align", int(align)));
    }
    map.push((".size", int(arg.size)));
    map.push((".type_name", string(arg.type_name)));
    let kind = match arg.kind {
        ValueKind::ByValue => "by_value",
        ValueKind::GlobalBuffer => "global_buffer",
        ValueKind::DynamicSharedPointer => "dynamic_shared_pointer",
    };
    map.push((".value_kind", string(kind)));
    map.push((".value_type", string(arg.value_type)));
    Node::Map(map)
}

/// The tree as MessagePack.
pub fn message_pack(node: &Node) -> Result<Vec<u8>, EmitError> {
    rmp_serde::to_vec(node).map_err(|error| EmitError::Container(error.to_string()))
}

/// The tree as a YAML document, as `.amdgpu_metadata` takes it.
pub fn yaml(node: &Node) -> String {
    let mut out = String::from("---\n");
    write_yaml(node, 0, &mut out);
    out.push_str("...\n");
    out
}

fn write_yaml(node: &Node, indent: usize, out: &mut String) {
    match node {
        Node::Seq(items) => {
            for item in items {
                let _ = write!(out, "{:indent$}- ", "");
                write_item(item, indent + 2, out);
            }
        }
        Node::Map(entries) => {
            for (n, (key, value)) in entries.iter().enumerate() {
                let pad = if n == 0 { 0 } else { indent };
                let _ = write!(out, "{:pad$}{key}:", "");
                write_value(value, indent, out);
            }
        }
        scalar => {
            write_scalar(scalar, out);
            out.push('\n');
        }
    }
}

/// What follows `- `: maps begin on the same line.
fn write_item(item: &Node, indent: usize, out: &mut String) {
    write_yaml(item, indent, out);
}

/// What follows `key:`.
fn write_value(value: &Node, indent: usize, out: &mut String) {
    match value {
        Node::Seq(items) if items.is_empty() => out.push_str(" []\n"),
        Node::Map(entries) if entries.is_empty() => out.push_str(" {}\n"),
        Node::Seq(_) => {
            out.push('\n');
            write_yaml(value, indent + 2, out);
        }
        Node::Map(_) => {
            let _ = write!(out, "\n{:1$}", "", indent + 2);
            write_yaml(value, indent + 2, out);
        }
        scalar => {
            out.push(' ');
            write_yaml(scalar, indent, out);
        }
    }
}

fn write_scalar(node: &Node, out: &mut String) {
    match node {
        Node::Int(value) => {
            let _ = write!(out, "{value}");
        }
        Node::Bool(value) => {
            let _ = write!(out, "{value}");
        }
        Node::Str(text) => write_string(text, out),
        Node::Seq(_) | Node::Map(_) => {}
    }
}

/// Strings stand plain where YAML reads them as themselves, else in single quotes. LLVM's reader looks for numbers and
/// booleans in quotes too (`n` is a boolean), so those carry the tag that says string.
fn write_string(text: &str, out: &mut String) {
    const WORDS: [&str; 11] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nil", "~"];
    let is_word = WORDS.iter().any(|word| text.eq_ignore_ascii_case(word));
    let is_number_like = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'));
    if text.is_empty() || is_word || is_number_like {
        out.push_str("!str ");
    }
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ' '))
        && !text.ends_with(' ');
    if plain {
        out.push_str(text);
    } else {
        let _ = write!(out, "'{}'", text.replace('\'', "''"));
    }
}
