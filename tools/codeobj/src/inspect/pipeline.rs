//! The part of the report about the pipeline of an AMDPAL object.

use super::json::{map, seq, string, uint};
use crate::elf::CodeObject;
use crate::pipeline::{Pipeline, Register};
use crate::value::Value;
use isa::Target;
use palmeta::Stage;
use palmeta::pairs::Key;
use std::fmt::{Result, Write};

fn version(target: &Target) -> [u32; 3] {
    let (major, minor, stepping) = target.version;
    [major, minor, stepping]
}

/// A stage of the pipeline with its code.
struct Kernel {
    stage: Stage,
    /// Name, section, address and size of the code, if a symbol of the stage exists.
    code: Option<(String, String, u64, u64)>,
    wave_size: Option<u32>,
    user_data: Vec<(u32, String)>,
}

fn kernels(object: &CodeObject<'_>, pipeline: &Pipeline, target: Option<&Target>) -> Vec<Kernel> {
    let of_stage = |stage| {
        let code = pipeline.entry(object, stage).map(|symbol| {
            let section = super::section_name(object, symbol);
            (symbol.name.to_owned(), section, symbol.value, symbol.size)
        });
        let wave_size = target.and_then(|target| pipeline.metadata.wave_size(stage, version(target)));
        let user_data = target.map_or_else(Vec::new, |target| pipeline.user_data(stage, target.version.0));
        let user_data = user_data.iter().map(|(index, mapping)| (*index, mapping.to_string())).collect();
        Kernel { stage, code, wave_size, user_data }
    };
    pipeline.stages().into_iter().map(of_stage).collect()
}

/// Writes the pipeline as text.
pub fn text(object: &CodeObject<'_>, target: Option<&Target>, out: &mut String) -> Result {
    let Some(pipeline) = Pipeline::of_object(object) else { return Ok(()) };
    writeln!(out, "\nPipeline")?;
    if let Some([major, minor]) = pipeline.metadata.version() {
        line(2, "version of the metadata", &format!("{major}.{minor}"), out)?;
    }
    for (key, value) in pipeline.facts() {
        entry(2, &key, value, out)?;
    }
    for (key, value) in &pipeline.unplaced {
        line(2, &Key::from_number(*key).to_string(), &format!("{value:#x}"), out)?;
    }
    for kernel in kernels(object, &pipeline, target) {
        kernel_text(&pipeline, &kernel, out)?;
    }
    let registers = pipeline.registers(target.map(version));
    if !registers.is_empty() {
        writeln!(out, "\nRegisters of the pipeline")?;
    }
    for register in registers {
        line(2, &register.name, &format!("{:#010x}  ({:#06x})", register.value, register.number), out)?;
        for (name, value) in register.fields {
            line(4, name, &value.to_string(), out)?;
        }
        if register.other_bits != 0 {
            line(4, "bits of no field", &format!("{:#x}", register.other_bits), out)?;
        }
    }
    let findings = pipeline.metadata.verify();
    if !findings.is_empty() {
        writeln!(out, "\nFindings in the metadata")?;
    }
    findings.iter().try_for_each(|finding| writeln!(out, "  {finding}"))
}

fn kernel_text(pipeline: &Pipeline, kernel: &Kernel, out: &mut String) -> Result {
    let stage = kernel.stage.letters();
    match &kernel.code {
        Some((name, section, address, size)) => {
            writeln!(out, "\nKernel {name}")?;
            writeln!(out, "  stage {stage}, {size} bytes at {address:#x} in {section}")?;
        }
        None => {
            writeln!(out, "\nKernel of stage {stage}")?;
            writeln!(out, "  there is no symbol {}", kernel.stage.entry_point())?;
        }
    }
    if let Some(lanes) = kernel.wave_size {
        line(2, "lanes of a wave", &lanes.to_string(), out)?;
    }
    if let Some(Value::Map(entries)) = pipeline.metadata.stage(kernel.stage) {
        for (key, value) in entries {
            entry(2, &key_text(key), value, out)?;
        }
    }
    for (index, contents) in &kernel.user_data {
        line(2, &format!("user SGPR {index}"), contents, out)?;
    }
    Ok(())
}

fn line(indent: usize, name: &str, value: &str, out: &mut String) -> Result {
    let width = 51usize.saturating_sub(indent);
    writeln!(out, "{:indent$}{name:<width$} {value}", "")
}

/// Writes an entry of the metadata. The entries of maps follow in lines of their own.
fn entry(indent: usize, key: &str, value: &Value, out: &mut String) -> Result {
    let key = key.trim_start_matches('.');
    match value {
        Value::Map(entries) if !entries.is_empty() => {
            writeln!(out, "{:indent$}{key}", "")?;
            entries.iter().try_for_each(|(key, value)| entry(indent + 2, &key_text(key), value, out))
        }
        Value::Seq(items) if items.iter().any(|item| matches!(item, Value::Map(_) | Value::Seq(_))) => items
            .iter()
            .enumerate()
            .try_for_each(|(index, item)| entry(indent, &format!("{key}[{index}]"), item, out)),
        value => line(indent, key, &scalar(value), out),
    }
}

fn key_text(key: &Value) -> String {
    key.as_str().map_or_else(|| scalar(key), str::to_owned)
}

fn scalar(value: &Value) -> String {
    match value {
        Value::Nil => "nothing".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Uint(number) if *number > 0xffff => format!("{number:#x}"),
        Value::Uint(number) => number.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Str(text) => text.escape_debug().to_string(),
        Value::Bytes(bytes) => format!("{} bytes", bytes.len()),
        Value::Seq(items) => items.iter().map(scalar).collect::<Vec<_>>().join(", "),
        Value::Map(_) => "none".to_owned(),
    }
}

/// Returns the pipeline as a tree; nil for other objects.
pub fn json(object: &CodeObject<'_>, target: Option<&Target>) -> Value {
    let Some(pipeline) = Pipeline::of_object(object) else { return Value::Nil };
    let number = |number: &u64| uint(*number);
    let pair = |&(key, value): &(u32, u32)| {
        let name = string(Key::from_number(key).to_string());
        map([("key", uint(key)), ("name", name), ("value", uint(value))])
    };
    let findings = pipeline.metadata.verify();
    map([
        ("version", pipeline.metadata.version().map_or(Value::Nil, |parts| seq(parts.iter().map(number)))),
        (
            "facts",
            Value::Map(pipeline.facts().into_iter().map(|(key, it)| (string(key), it.clone())).collect()),
        ),
        ("other_facts", seq(pipeline.unplaced.iter().map(pair))),
        ("registers", seq(pipeline.registers(target.map(version)).iter().map(register_json))),
        ("findings", seq(findings.iter().map(|finding| string(finding.to_string())))),
    ])
}

fn register_json(register: &Register) -> Value {
    let fields = register.fields.iter().map(|&(name, value)| (string(name), uint(value))).collect();
    map([
        ("register", uint(register.number)),
        ("name", string(register.name.clone())),
        ("value", uint(register.value)),
        ("fields", Value::Map(fields)),
        ("other_bits", uint(register.other_bits)),
    ])
}

/// Returns the stages of the pipeline as kernels. Returns `None` for other objects.
pub fn kernels_json(object: &CodeObject<'_>, target: Option<&Target>) -> Option<Value> {
    let pipeline = Pipeline::of_object(object)?;
    let user_data =
        |(index, contents): (u32, String)| map([("user_sgpr", uint(index)), ("contents", string(contents))]);
    let kernel = |kernel: Kernel| {
        let (name, section, address, size) = match kernel.code {
            Some((name, section, address, size)) => {
                (string(name), string(section), uint(address), uint(size))
            }
            None => (Value::Nil, Value::Nil, Value::Nil, Value::Nil),
        };
        map([
            ("name", name),
            ("section", section),
            ("address", address),
            ("size", size),
            ("stage", string(kernel.stage.letters())),
            ("wave_size", kernel.wave_size.map_or(Value::Nil, uint)),
            ("metadata", pipeline.metadata.stage(kernel.stage).cloned().unwrap_or(Value::Nil)),
            ("user_data", seq(kernel.user_data.into_iter().map(user_data))),
        ])
    };
    Some(seq(kernels(object, &pipeline, target).into_iter().map(kernel)))
}
