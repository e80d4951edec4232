//! The report about a code object as a tree of values for programs. It has the same facts as the report as
//! text.

use super::{display_name, kernel, pipeline, role, section_name};
use crate::config;
use crate::descriptor::{Descriptor, Unit, fields_by_place};
use crate::elf::CodeObject;
use crate::identity::Identity;
use crate::kernel_code::{KEYS, KernelCode};
use crate::names;
use crate::note::{Meaning, Note};
use crate::value::Value;
use crate::yaml;
use isa::Target;

pub(super) fn string(text: impl Into<String>) -> Value {
    Value::from(text.into())
}

pub(super) fn uint(value: impl Into<u64>) -> Value {
    Value::Uint(value.into())
}

pub(super) fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Map(entries.into_iter().map(|(key, value)| (string(key), value)).collect())
}

pub(super) fn seq(items: impl IntoIterator<Item = Value>) -> Value {
    Value::Seq(items.into_iter().collect())
}

/// Returns the report as a tree. For `target` see [`super::text`].
pub fn json(object: &CodeObject<'_>, name: &str, target: Option<&'static Target>) -> Value {
    let identity = Identity::of_object(object);
    let target = target.or(identity.target);
    map([
        ("file", string(name)),
        ("header", header(object, &identity)),
        ("segments", segments(object)),
        ("sections", sections(object)),
        ("notes", seq(object.notes().iter().map(|note| one_note(object, note)))),
        ("kernels", kernels(object, &identity, target)),
        ("registers", config(object, target)),
        ("pipeline", pipeline::json(object, target)),
        (
            "texts",
            seq(object.texts().map(|(name, text)| map([("section", string(name)), ("text", string(text))]))),
        ),
        ("symbols", symbols(object)),
        ("relocations", relocations(object)),
        ("problems", seq(object.problems.iter().map(string))),
    ])
}

fn header(object: &CodeObject<'_>, identity: &Identity) -> Value {
    let header = &object.header;
    map([
        ("type", string(names::file_type(header.file_type))),
        ("role", string(role(object))),
        ("os_abi", uint(header.os_abi)),
        ("os_abi_name", string(identity.os_abi.to_string())),
        ("abi_version", uint(header.abi_version)),
        ("code_object_version", identity.version.map_or(Value::Nil, uint)),
        ("entry", uint(header.entry)),
        ("flags", uint(header.flags)),
        ("mach", uint(identity.mach)),
        ("processor", identity.processor().map_or(Value::Nil, string)),
        ("xnack", string(identity.xnack.name())),
        ("sramecc", string(identity.sramecc.name())),
        ("generic_version", uint(identity.generic_version)),
        ("target_id", string(identity.target_id(identity.processor().unwrap_or("unknown")))),
    ])
}

fn segments(object: &CodeObject<'_>) -> Value {
    seq(object.segments.iter().map(|segment| {
        map([
            ("type", string(names::segment_type(segment.kind))),
            ("flags", string(names::segment_flags(segment.flags))),
            ("address", uint(segment.address)),
            ("offset", uint(segment.offset)),
            ("file_size", uint(segment.file_size)),
            ("memory_size", uint(segment.memory_size)),
            ("align", uint(segment.align)),
        ])
    }))
}

fn sections(object: &CodeObject<'_>) -> Value {
    seq(object.sections.iter().map(|section| {
        map([
            ("name", string(section.name)),
            ("type", string(names::section_type(section.kind))),
            ("flags", string(names::section_flags(section.flags))),
            ("address", uint(section.address)),
            ("offset", uint(section.offset)),
            ("size", uint(section.size)),
            ("align", uint(section.align)),
            ("entry_size", uint(section.entry_size)),
            ("link", uint(section.link)),
            ("info", uint(section.info)),
        ])
    }))
}

fn one_note(object: &CodeObject<'_>, note: &Note<'_>) -> Value {
    let meaning = match note.meaning() {
        Meaning::Version { major, minor } => map([("major", uint(major)), ("minor", uint(minor))]),
        Meaning::Hsail { major, minor, profile, machine_model, rounding } => map([
            ("major", uint(major)),
            ("minor", uint(minor)),
            ("profile", uint(profile)),
            ("machine_model", uint(machine_model)),
            ("rounding", uint(rounding)),
        ]),
        Meaning::Isa { vendor, architecture, major, minor, stepping } => map([
            ("vendor", string(vendor)),
            ("architecture", string(architecture)),
            ("major", uint(major)),
            ("minor", uint(minor)),
            ("stepping", uint(stepping)),
        ]),
        Meaning::IsaName(name) => string(name),
        // A YAML text that cannot be read remains a string.
        Meaning::Yaml(text) => yaml::v2_metadata(text).unwrap_or_else(|| string(text)),
        Meaning::Metadata(value) => value,
        Meaning::Pal(palmeta::Note::MessagePack(metadata)) => metadata.tree().clone(),
        Meaning::Pal(palmeta::Note::Pairs(pairs)) => {
            seq(pairs.iter().map(|(key, value)| map([("register", uint(key)), ("value", uint(value))])))
        }
        Meaning::Pal(_) => Value::Nil,
        Meaning::Damaged(why) => map([("damaged", string(why))]),
        Meaning::Unknown => seq(note.desc.iter().map(|&byte| uint(byte))),
    };
    map([
        ("section", string(object.sections.get(note.section).map_or("", |section| section.name))),
        ("owner", string(note.owner)),
        ("type", uint(note.kind)),
        ("type_name", note.name().map_or(Value::Nil, string)),
        ("size", uint(note.desc.len() as u64)),
        ("value", meaning),
    ])
}

/// Returns the registers of the section `.AMDGPU.config`.
fn config(object: &CodeObject<'_>, target: Option<&Target>) -> Value {
    let pairs = object.config().map_or_else(Vec::new, |section| config::pairs(section.data).0);
    seq(pairs.iter().map(|pair| {
        let fields = pair.fields(target);
        let fields = fields.iter().map(|field| (string(field.name), uint(field.value)));
        map([
            ("register", uint(pair.register)),
            ("name", pair.name().map_or(Value::Nil, string)),
            ("value", uint(pair.value)),
            ("fields", Value::Map(fields.collect())),
        ])
    }))
}

/// Returns the descriptors, or V2's headers or the stages of AMDPAL in their place.
fn kernels(object: &CodeObject<'_>, identity: &Identity, target: Option<&Target>) -> Value {
    if let Some(stages) = pipeline::kernels_json(object, target) {
        return stages;
    }
    if identity.has_kernel_code() {
        return seq(object.kernel_codes().map(|header| kernel_header(object, &header)));
    }
    seq(object.descriptors().map(|found| kernel_descriptor(object, &found, target)))
}

fn kernel_header(object: &CodeObject<'_>, header: &KernelCode<'_>) -> Value {
    let keys = KEYS.iter().chain(header.abi_keys()).map(|key| {
        let value = match key.get_signed(&header.bytes) {
            signed if key.is_signed() && signed < 0 => Value::Int(signed),
            _ => Value::Uint(key.get(&header.bytes)),
        };
        (string(key.name), value)
    });
    map([
        ("name", string(header.kernel)),
        ("section", string(object.sections.get(header.section).map_or("", |section| section.name))),
        ("address", uint(header.address)),
        ("amd_kernel_code_t", Value::Map(keys.collect())),
    ])
}

fn kernel_descriptor(object: &CodeObject<'_>, descriptor: &Descriptor<'_>, target: Option<&Target>) -> Value {
    let fields = fields_by_place()
        .into_iter()
        .filter(|field| field.unit == Unit::Register || target.is_none_or(|target| field.on.has(target)));
    let fields = fields.map(|field| {
        let value = field.get(&descriptor.bytes);
        // The two fields of the preload word have names that are unclear without the name of the word, so it
        // is added to them.
        let is_preload = field.byte == 58 && field.unit != Unit::Register;
        let name = format!("{}{}", if is_preload { "kernarg_preload_" } else { "" }, field.name);
        let value = match field.unit {
            Unit::Offset if (value as i64) < 0 => Value::Int(value as i64),
            Unit::Flag => Value::Bool(value != 0),
            _ => Value::Uint(value),
        };
        (string(name), value)
    });
    let section = object.sections.get(descriptor.section).map_or("", |section| section.name);
    map([
        ("name", string(descriptor.kernel)),
        ("section", string(section)),
        ("address", uint(descriptor.address)),
        ("entry", string(kernel::entry(object, descriptor))),
        ("descriptor", Value::Map(fields.collect())),
        (
            "reserved_bits",
            seq(descriptor
                .reserved(target)
                .into_iter()
                .map(|(byte, bits)| map([("byte", uint(byte as u64)), ("bits", uint(bits))]))),
        ),
    ])
}

fn symbols(object: &CodeObject<'_>) -> Value {
    seq(object.symbol_tables.iter().map(|table| {
        let symbols = table.symbols.iter().skip(1).map(|symbol| {
            map([
                ("name", string(display_name(object, symbol))),
                ("value", uint(symbol.value)),
                ("size", uint(symbol.size)),
                ("type", string(names::symbol_type(symbol.kind))),
                ("binding", string(names::symbol_binding(symbol.binding))),
                ("visibility", string(names::symbol_visibility(symbol.visibility))),
                ("section", string(section_name(object, symbol))),
            ])
        });
        map([("table", string(table.name)), ("symbols", seq(symbols))])
    }))
}

fn relocations(object: &CodeObject<'_>) -> Value {
    seq(object.relocation_tables.iter().map(|table| {
        let symbols = object.symbols_of(table.symbols);
        let records = table.records.iter().map(|record| {
            let symbol = symbols.get(record.symbol as usize).filter(|_| record.symbol != 0);
            map([
                ("offset", uint(record.offset)),
                ("type", string(names::relocation(record.kind))),
                ("symbol", symbol.map_or(Value::Nil, |symbol| string(display_name(object, symbol)))),
                (
                    "addend",
                    if record.addend < 0 { Value::Int(record.addend) } else { uint(record.addend as u64) },
                ),
            ])
        });
        map([("table", string(table.name)), ("records", seq(records))])
    }))
}
