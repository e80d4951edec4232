//! Code object V2's metadata (seed 000, line 2193): read as YAML and written as YAML again, in LLVM's order and spacing.

use super::scalar::unsigned;
use codeobj::yaml::Node;
use std::fmt::Write;

/// What a key holds, and when it is left out.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    /// A number; left out if it is the default.
    Number(Option<u64>),
    /// Left out if false.
    Flag,
    /// `[ 1, 0 ]`
    Numbers,
    /// A sequence of texts, one a line.
    Texts,
    Mapping(&'static [Key]),
    Mappings(&'static [Key]),
    /// Read, not written.
    Dropped,
}

struct Key {
    name: &'static str,
    kind: Kind,
    required: bool,
}

const fn key(name: &'static str, kind: Kind) -> Key {
    Key { name, kind, required: false }
}

const fn required(name: &'static str, kind: Kind) -> Key {
    Key { name, kind, required: true }
}

use Kind::*;

const ROOT: &[Key] = &[required("Version", Numbers), key("Printf", Texts), key("Kernels", Mappings(KERNEL))];

const KERNEL: &[Key] = &[
    required("Name", Text),
    required("SymbolName", Text),
    key("Language", Text),
    key("LanguageVersion", Numbers),
    key("Attrs", Mapping(ATTRIBUTES)),
    key("Args", Mappings(ARGUMENT)),
    key("CodeProps", Mapping(CODE)),
    key("DebugProps", Mapping(DEBUG)),
];

const ATTRIBUTES: &[Key] = &[
    key("ReqdWorkGroupSize", Numbers),
    key("WorkGroupSizeHint", Numbers),
    key("VecTypeHint", Text),
    key("RuntimeHandle", Text),
];

const ARGUMENT: &[Key] = &[
    key("Name", Text),
    key("TypeName", Text),
    required("Size", Number(None)),
    required("Align", Number(None)),
    required("ValueKind", Text),
    key("ValueType", Dropped),
    key("PointeeAlign", Number(Some(0))),
    key("AddrSpaceQual", Text),
    key("AccQual", Text),
    key("ActualAccQual", Text),
    key("IsConst", Flag),
    key("IsRestrict", Flag),
    key("IsVolatile", Flag),
    key("IsPipe", Flag),
];

const CODE: &[Key] = &[
    required("KernargSegmentSize", Number(None)),
    required("GroupSegmentFixedSize", Number(None)),
    required("PrivateSegmentFixedSize", Number(None)),
    required("KernargSegmentAlign", Number(None)),
    required("WavefrontSize", Number(None)),
    key("NumSGPRs", Number(Some(0))),
    key("NumVGPRs", Number(Some(0))),
    key("MaxFlatWorkGroupSize", Number(Some(0))),
    key("IsDynamicCallStack", Flag),
    key("IsXNACKEnabled", Flag),
    key("NumSpilledSGPRs", Number(Some(0))),
    key("NumSpilledVGPRs", Number(Some(0))),
];

const DEBUG: &[Key] = &[
    key("DebuggerABIVersion", Numbers),
    key("ReservedNumVGPRs", Number(Some(0))),
    key("ReservedFirstVGPR", Number(Some(0xffff))),
    key("PrivateSegmentBufferSGPR", Number(Some(0xffff))),
    key("WavefrontPrivateSegmentOffsetSGPR", Number(Some(0xffff))),
];

/// The document as LLVM writes it.
pub(super) fn text(tree: &Node) -> Result<String, String> {
    let mut out = String::from("---\n");
    mapping(tree, ROOT, 0, &mut out)?;
    out.push_str("...\n");
    Ok(out)
}

fn mapping(node: &Node, keys: &[Key], indent: usize, out: &mut String) -> Result<(), String> {
    let Node::Map(entries) = node else { return Err("expected a mapping in the metadata".into()) };
    if let Some((name, _)) = entries.iter().find(|(name, _)| keys.iter().all(|key| key.name != name)) {
        return Err(format!("unknown key `{name}` in the metadata"));
    }
    let mut first = true;
    for key in keys {
        let Some(value) = node.get(key.name) else {
            match key.required {
                true => return Err(format!("the metadata lacks `{}`", key.name)),
                false => continue,
            }
        };
        let start = out.len();
        entry(key, value, indent, out)?;
        // The first entry of a sequence's item stands behind the dash.
        if first && out.len() > start && out[..start].ends_with("- ") {
            let line = out.split_off(start);
            out.push_str(line.trim_start_matches(' '));
        }
        first &= out.len() == start;
    }
    Ok(())
}

fn entry(key: &Key, value: &Node, indent: usize, out: &mut String) -> Result<(), String> {
    let bad = || format!("`{}` of the metadata has the wrong kind of value", key.name);
    let mut line = |text: &str| {
        let name = format!("{}:", key.name);
        let _ = writeln!(out, "{:indent$}{name:<16} {text}", "");
    };
    match (key.kind, value) {
        (Dropped, _) => {}
        (Text, Node::Scalar(text) | Node::Text(text)) => {
            if !text.is_empty() {
                line(&quoted(text));
            }
        }
        (Number(default), Node::Scalar(text)) => {
            let value = unsigned(text).ok_or_else(bad)?;
            if Some(value) != default {
                line(&value.to_string());
            }
        }
        (Flag, Node::Scalar(text)) => match text.as_str() {
            "true" => line("true"),
            "false" => {}
            _ => return Err(bad()),
        },
        (Numbers, Node::Seq(items)) => {
            let mut numbers = Vec::with_capacity(items.len());
            for item in items {
                let Node::Scalar(text) = item else { return Err(bad()) };
                numbers.push(unsigned(text).ok_or_else(bad)?.to_string());
            }
            if !numbers.is_empty() {
                line(&format!("[ {} ]", numbers.join(", ")));
            }
        }
        (Texts, Node::Seq(items)) => {
            if !items.is_empty() {
                let _ = writeln!(out, "{:indent$}{}:", "", key.name);
            }
            for item in items {
                let Node::Scalar(text) = item else { return Err(bad()) };
                let _ = writeln!(out, "{:indent$}  - {}", "", quoted(text));
            }
        }
        (Mapping(keys), value) => {
            let _ = writeln!(out, "{:indent$}{}:", "", key.name);
            mapping(value, keys, indent + 2, out)?;
        }
        (Mappings(keys), Node::Seq(items)) => {
            if !items.is_empty() {
                let _ = writeln!(out, "{:indent$}{}:", "", key.name);
            }
            for item in items {
                let _ = write!(out, "{:indent$}  - ", "");
                mapping(item, keys, indent + 4, out)?;
            }
        }
        (_, Node::Empty) => {}
        _ => return Err(bad()),
    }
    Ok(())
}

/// A scalar, in quotes where it would be read as something else.
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
