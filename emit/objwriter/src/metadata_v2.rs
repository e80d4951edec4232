//! Metadata of code object V2: a YAML document (LLVM's AMDGPU guide, seed 000, line 2193), in the order and
//! spacing that LLVM writes.
//!
//! [`ROOT`] and the tables in it list every key once. The assembler reads by these tables, and [`text`]
//! writes by them.

use crate::Value;
use crate::value::unsigned;
use std::fmt::Write;

/// Kind of value that a key has, and when the key is omitted.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A string.
    Text,
    /// The value is one of these strings. Here they are spelled as in later versions (`global_buffer`). V2
    /// spells them in camel case (`GlobalBuffer`).
    Word(&'static [&'static str]),
    /// The value is the symbol of a kernel's descriptor. V2 spells it `name@kd`; later versions spell it
    /// `name.kd`.
    Symbol,
    /// Number, omitted if it equals the default.
    Number(Option<u64>),
    /// Boolean, omitted if false.
    Flag,
    /// Sequence of numbers in one line: `[ 1, 0 ]`.
    Numbers,
    /// Sequence of strings, one in each line.
    Texts,
    /// Map with these keys.
    Mapping(&'static [Key]),
    /// Sequence of maps with these keys.
    Mappings(&'static [Key]),
}

/// Key of a map.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Name of the key.
    pub name: &'static str,
    /// Name of the same key in later versions of the metadata. It is empty in two cases: later versions have
    /// no such key, or the value is a map that later versions do not have, because its keys are directly in
    /// the surrounding map.
    pub later: &'static str,
    /// Kind of the value.
    pub kind: Kind,
    /// Whether a document without the key is rejected.
    pub required: bool,
}

const fn key(name: &'static str, later: &'static str, kind: Kind) -> Key {
    Key { name, later, kind, required: false }
}

const fn required(name: &'static str, later: &'static str, kind: Kind) -> Key {
    Key { name, later, kind, required: true }
}

use Kind::*;

/// The document's keys in order.
pub static ROOT: &[Key] = &[
    required("Version", "amdhsa.version", Numbers),
    key("Printf", "amdhsa.printf", Texts),
    key("Kernels", "amdhsa.kernels", Mappings(KERNEL)),
];

const KERNEL: &[Key] = &[
    required("Name", ".name", Text),
    required("SymbolName", ".symbol", Symbol),
    key("Language", ".language", Text),
    key("LanguageVersion", ".language_version", Numbers),
    key("Attrs", "", Mapping(ATTRIBUTES)),
    key("Args", ".args", Mappings(ARGUMENT)),
    key("CodeProps", "", Mapping(CODE)),
    key("DebugProps", "", Mapping(DEBUG)),
];

const ATTRIBUTES: &[Key] = &[
    key("ReqdWorkGroupSize", ".reqd_workgroup_size", Numbers),
    key("WorkGroupSizeHint", ".workgroup_size_hint", Numbers),
    key("VecTypeHint", ".vec_type_hint", Text),
    key("RuntimeHandle", ".device_enqueue_symbol", Text),
];

const ARGUMENT: &[Key] = &[
    key("Name", ".name", Text),
    key("TypeName", ".type_name", Text),
    required("Size", ".size", Number(None)),
    required("Align", ".align", Number(None)),
    required("ValueKind", ".value_kind", Word(VALUE_KINDS)),
    // LLVM 14 reads this key and ignores it. The compiler does not write it, so a name in later versions is
    // not needed.
    key("ValueType", "", Word(VALUE_TYPES)),
    key("PointeeAlign", ".pointee_align", Number(Some(0))),
    key("AddrSpaceQual", ".address_space", Word(ADDRESS_SPACES)),
    key("AccQual", ".access", Word(ACCESSES)),
    key("ActualAccQual", ".actual_access", Word(ACCESSES)),
    key("IsConst", ".is_const", Flag),
    key("IsRestrict", ".is_restrict", Flag),
    key("IsVolatile", ".is_volatile", Flag),
    key("IsPipe", ".is_pipe", Flag),
];

const VALUE_KINDS: &[&str] = &[
    "ByValue",
    "GlobalBuffer",
    "DynamicSharedPointer",
    "Sampler",
    "Image",
    "Pipe",
    "Queue",
    "HiddenGlobalOffsetX",
    "HiddenGlobalOffsetY",
    "HiddenGlobalOffsetZ",
    "HiddenNone",
    "HiddenPrintfBuffer",
    "HiddenHostcallBuffer",
    "HiddenDefaultQueue",
    "HiddenCompletionAction",
    "HiddenMultiGridSyncArg",
];

const VALUE_TYPES: &[&str] =
    &["Struct", "I8", "U8", "I16", "U16", "F16", "I32", "U32", "F32", "I64", "U64", "F64"];

const ADDRESS_SPACES: &[&str] = &["Private", "Global", "Constant", "Local", "Generic", "Region"];

const ACCESSES: &[&str] = &["Default", "ReadOnly", "WriteOnly", "ReadWrite"];

const CODE: &[Key] = &[
    required("KernargSegmentSize", ".kernarg_segment_size", Number(None)),
    required("GroupSegmentFixedSize", ".group_segment_fixed_size", Number(None)),
    required("PrivateSegmentFixedSize", ".private_segment_fixed_size", Number(None)),
    required("KernargSegmentAlign", ".kernarg_segment_align", Number(None)),
    required("WavefrontSize", ".wavefront_size", Number(None)),
    key("NumSGPRs", ".sgpr_count", Number(Some(0))),
    key("NumVGPRs", ".vgpr_count", Number(Some(0))),
    key("MaxFlatWorkGroupSize", ".max_flat_workgroup_size", Number(Some(0))),
    key("IsDynamicCallStack", ".uses_dynamic_stack", Flag),
    key("IsXNACKEnabled", ".is_xnack_enabled", Flag),
    key("NumSpilledSGPRs", ".sgpr_spill_count", Number(Some(0))),
    key("NumSpilledVGPRs", ".vgpr_spill_count", Number(Some(0))),
];

const DEBUG: &[Key] = &[
    key("DebuggerABIVersion", "", Numbers),
    key("ReservedNumVGPRs", "", Number(Some(0))),
    key("ReservedFirstVGPR", "", Number(Some(0xffff))),
    key("PrivateSegmentBufferSGPR", "", Number(Some(0xffff))),
    key("WavefrontPrivateSegmentOffsetSGPR", "", Number(Some(0xffff))),
];

/// Converts a tree of metadata from the keys of later versions to those of V2. The tree may also contain two
/// keys that are only for V2. `.align` is the alignment of an argument, which V2 needs because it gives no
/// offsets. `.is_xnack_enabled` belongs to a kernel.
pub fn of_later(tree: &Value) -> Value {
    earlier(tree, ROOT)
}

fn earlier(tree: &Value, keys: &'static [Key]) -> Value {
    let entry = |key: &Key| {
        let value = match key.kind {
            // Later versions have the keys of this nested map directly in the kernel's map.
            Mapping(keys) => {
                Some(earlier(tree, keys)).filter(|map| !matches!(map, Value::Map(map) if map.is_empty()))
            }
            kind => tree.get(key.later).map(|value| respelled(value, kind)),
        };
        Some((key.name.into(), value?))
    };
    Value::Map(keys.iter().filter_map(entry).collect())
}

fn respelled(value: &Value, kind: Kind) -> Value {
    match (kind, value) {
        (Mappings(keys), value) => Value::Seq(value.items().iter().map(|item| earlier(item, keys)).collect()),
        (Word(_), Value::Str(word)) => camel_case(word).into(),
        (Symbol, Value::Str(name)) => format!("{}@kd", name.strip_suffix(".kd").unwrap_or(name)).into(),
        _ => value.clone(),
    }
}

/// Converts `hidden_global_offset_x` to `HiddenGlobalOffsetX`.
fn camel_case(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    // V2 treats `multigrid` as two words (`MultiGrid`), but later versions treat it as one.
    for part in word.replace("multigrid", "multi_grid").split('_') {
        let mut chars = part.chars();
        out.extend(chars.next().map(|c| c.to_ascii_uppercase()));
        out.push_str(chars.as_str());
    }
    out
}

/// Returns the YAML document of a metadata tree. Values whose type does not fit their key are omitted.
pub fn text(tree: &Value) -> String {
    let mut out = String::from("---\n");
    mapping(tree, ROOT, 0, &mut out);
    out.push_str("...\n");
    out
}

fn mapping(tree: &Value, keys: &[Key], indent: usize, out: &mut String) {
    let mut first = true;
    for key in keys {
        let Some(value) = tree.get(key.name) else { continue };
        let start = out.len();
        entry(key, value, indent, out);
        // The first entry of a map that is an item of a sequence is written on the line of the item's dash.
        if first && out.len() > start && out[..start].ends_with("- ") {
            let line = out.split_off(start);
            out.push_str(line.trim_start_matches(' '));
        }
        first &= out.len() == start;
    }
}

fn entry(key: &Key, value: &Value, indent: usize, out: &mut String) {
    let heading = |out: &mut String| writeln!(out, "{:indent$}{}:", "", key.name);
    let line = |out: &mut String, text: &str| {
        let name = format!("{}:", key.name);
        writeln!(out, "{:indent$}{name:<16} {text}", "")
    };
    // Writing to a string cannot fail.
    let _ = match (key.kind, value) {
        (Text | Word(_) | Symbol, Value::Str(text)) if !text.is_empty() => line(out, &quoted(text)),
        (Number(default), Value::Uint(number)) if default != Some(*number) => line(out, &number.to_string()),
        (Flag, Value::Bool(true)) => line(out, "true"),
        (Numbers, Value::Seq(items)) if !items.is_empty() || key.required => {
            let mut list = String::new();
            for (n, item) in items.iter().enumerate() {
                list.push_str(if n == 0 { "" } else { ", " });
                item.write_scalar(&mut list);
            }
            line(out, &format!("[ {list} ]"))
        }
        (Mapping(keys), Value::Map(_)) => {
            let done = heading(out);
            mapping(value, keys, indent + 2, out);
            done
        }
        (Texts | Mappings(_), Value::Seq(items)) if !items.is_empty() => {
            let done = heading(out);
            for item in items {
                let _ = write!(out, "{:indent$}  - ", "");
                match (key.kind, item) {
                    (Mappings(keys), item) => mapping(item, keys, indent + 4, out),
                    (_, item) => {
                        let _ = writeln!(out, "{}", quoted(item.as_str().unwrap_or_default()));
                    }
                }
            }
            done
        }
        _ => Ok(()),
    };
}

/// Returns a scalar, in quotes if YAML would otherwise read it as something else.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '^' | '.' | ',' | ' ' | '\t');
    let special_first = text.starts_with([
        '-', '?', ':', '\\', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`',
    ]);
    let other_kind = matches!(
        text,
        "~" | "null" | "Null" | "NULL" | "true" | "True" | "TRUE" | "false" | "False" | "FALSE"
    ) || text.parse::<f64>().is_ok()
        || unsigned(text).is_some();
    let blank_ends = text.starts_with([' ', '\t']) || text.ends_with([' ', '\t']);
    if text.chars().any(|c| (c as u32) < 0x20 && c != '\t' || c as u32 >= 0x7f) {
        return format!("\"{}\"", escaped(text));
    }
    match text.is_empty() || special_first || other_kind || blank_ends || !text.chars().all(plain) {
        true => format!("'{}'", text.replace('\'', "''")),
        false => text.to_owned(),
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{1b}' => out.push_str("\\e"),
            '\0' => out.push_str("\\0"),
            c if (c as u32) < 0x20 || c as u32 == 0x7f => {
                let _ = write!(out, "\\x{:02X}", c as u32);
            }
            c => out.push(c),
        }
    }
    out
}
