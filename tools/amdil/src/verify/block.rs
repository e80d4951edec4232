//! Rules about the facts of one block.

use super::{Found, and_more};
use crate::devices::generation;
use crate::model::{Block, Record, Version};
use crate::rules::Rule;
use crate::words::{MemorySpace, Resource};
use std::collections::BTreeMap;

/// Condition codes of messages have four characters, and messages have 32 (seed 003, line 297).
const CODE: usize = 4;
const MESSAGE: usize = 32;

/// First number that a UAV cannot have: the AMDIL backend of LLVM has arena segments up to 1024.
pub(super) const MOST_UAVS: u32 = 1024;

/// Checks the facts of a block that begins in the given line.
pub(super) fn check(found: &mut Found, block: &Block, start: usize) {
    once(found, block, start);
    missing(found, block, start);
    let mut memory: BTreeMap<MemorySpace, u64> = BTreeMap::new();
    for (record, line) in block.records.iter().zip(start + 1..) {
        match record {
            Record::Version(version) => check_version(found, *version, line),
            Record::Device(device) if generation(device.as_str()).is_none() => {
                found.add(line, Rule::DeviceUnknown, format!("`{device}` is not a known device"));
            }
            Record::Error(message) | Record::Warning(message) => {
                check_message(found, message.as_str(), line);
            }
            Record::Memory { space, size } => {
                let total = memory.entry(*space).or_default();
                *total += u64::from(*size);
                if *total > u64::from(u32::MAX) {
                    let message = format!("the sum of the {space} memory is {total} bytes");
                    found.add(line, Rule::MemoryTotal, message);
                }
            }
            Record::GroupSize { kind, size } if size.contains(&0) => {
                found.add(line, Rule::GroupSizeZero, format!("`;{kind}:` has a dimension of 0"));
            }
            Record::LargestGroup(0) => found.add(line, Rule::GroupSizeZero, "`;lws:` is 0"),
            Record::Resource { resource, id } if *id >= MOST_UAVS => {
                found.add(line, Rule::ResourceId, format!("`;{resource}:{id}` is not below {MOST_UAVS}"));
            }
            Record::Printf(printf) => {
                let wrong = printf.sizes.iter().filter(|size| !(1..=128).contains(*size));
                if let Some(size) = wrong.clone().next() {
                    let message = format!("an argument has {size} bytes{}", and_more(wrong.count()));
                    found.add(line, Rule::PrintfSize, message);
                }
            }
            Record::Unknown(text) => {
                let message = format!("`{}` is not a known record", text.as_str());
                found.add(line, Rule::UnknownKept, message);
            }
            _ => {}
        }
    }
    shared_resources(found, block, start);
    group_limits(found, block, start);
}

/// Returns the name of a record that a block has at most once.
fn single(record: &Record) -> Option<&'static str> {
    Some(match record {
        Record::Version(_) => "version",
        Record::Device(_) => "device",
        Record::UniqueId(_) => "uniqueid",
        Record::Resource { resource, .. } => resource.text(),
        Record::GroupSize { kind, .. } => kind.text(),
        Record::LargestGroup(_) => "lws",
        Record::LimitGroupSize => "limitgroupsize",
        Record::VectorTypeHint(_) => "vth",
        Record::WavesPerSimd(_) => "WavesPerSimdHint",
        Record::Flag(flag) => flag.text(),
        _ => return None,
    })
}

/// Reports records that are there twice.
fn once(found: &mut Found, block: &Block, start: usize) {
    let mut first = BTreeMap::new();
    for (record, line) in block.records.iter().zip(start + 1..) {
        let Some(name) = single(record) else { continue };
        if let Some(first) = first.get(name) {
            let message = format!("`{name}` is also in line {first}");
            found.add(line, Rule::RecordTwice, message);
        } else {
            first.insert(name, line);
        }
    }
}

/// Reports records that a block has to have.
fn missing(found: &mut Found, block: &Block, start: usize) {
    if block.unique_id().is_none() {
        let message = format!("the block of `{}` has no `;uniqueid:`", block.name);
        found.add(start, Rule::UniqueIdMissing, message);
    }
    let Some(kernel) = block.kernel() else { return };
    if block.version().is_none() {
        found.add(start, Rule::VersionMissing, format!("kernel `{kernel}` has no `;version:`"));
    }
    if !block.records.iter().any(|record| matches!(record, Record::Device(_))) {
        found.add(start, Rule::DeviceMissing, format!("kernel `{kernel}` has no `;device:`"));
    }
}

/// Reports a version that this reader does not know. Major version 2 differs from 3 only in what pointers
/// state.
fn check_version(found: &mut Found, version: Version, line: usize) {
    let of_2 = Version { major: 2, ..Version::NEWEST };
    if !Version::NEWEST.reads(version) && !of_2.reads(version) {
        let message = format!("version {version} is not known; the newest is {}", Version::NEWEST);
        found.add(line, Rule::VersionUnknown, message);
    }
}

/// Reports a message that has no code or is long.
fn check_message(found: &mut Found, message: &str, line: usize) {
    let code = message.chars().take(CODE).collect::<String>();
    let is_code = code.len() == CODE && code.chars().all(|c| c.is_ascii_alphanumeric());
    if !is_code {
        let text = format!("`{code}` is not a condition code of {CODE} characters");
        found.add(line, Rule::MessageCode, text);
        return;
    }
    let text = &message[CODE..];
    let text = text.strip_prefix(':').unwrap_or(text);
    let length = text.chars().count();
    if length > MESSAGE {
        let text = format!("the message has {length} characters, {MESSAGE} are allowed");
        found.add(line, Rule::MessageLength, text);
    }
}

/// Reports resources with the same number. In texts before version 3, 8 as the raw UAV means that there is
/// none (seed 003, line 441).
fn shared_resources(found: &mut Found, block: &Block, start: usize) {
    let mut first: BTreeMap<u32, Resource> = BTreeMap::new();
    for (record, line) in block.records.iter().zip(start + 1..) {
        let Record::Resource { resource, id } = record else { continue };
        let old = *resource == Resource::Uav && block.version().is_none_or(|version| version.major < 3);
        if old {
            continue;
        }
        match first.get(id) {
            Some(other) if other != resource => {
                found.add(line, Rule::ResourceShared, format!("`;{other}:` also has the number {id}"));
            }
            _ => {
                first.insert(*id, *resource);
            }
        }
    }
}

/// Reports `;lws:` beside `;limitgroupsize` (seed 003, line 522).
fn group_limits(found: &mut Found, block: &Block, start: usize) {
    let exact = block.records.iter().any(|record| matches!(record, Record::LargestGroup(_)));
    for (record, line) in block.records.iter().zip(start + 1..) {
        if exact && matches!(record, Record::LimitGroupSize) {
            found.add(line, Rule::GroupLimits, "the block also has `;lws:`");
        }
    }
}
