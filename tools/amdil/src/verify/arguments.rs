//! Rules about the arguments of one block.

use super::Found;
use super::block::MOST_UAVS;
use crate::fields::shown;
use crate::model::{Argument, ArgumentKind, Block, Pointer, Record, Sampler, Version};
use crate::rules::Rule;
use crate::samplers::SamplerState;
use crate::slots::{FIRST_IN_BUFFER_0, MOST_BYTES, VECTOR, size};
use crate::words::{Access, DataType, PointerMemory};
use std::collections::{BTreeMap, BTreeSet};

/// Most images of a kernel: the images that it only writes are UAVs (seed 003, line 59), the images that it
/// only reads are as many as OpenCL 1.2 asks for.
const MOST_WRITTEN: u32 = 8;
const MOST_READ: u32 = 128;

/// Most samplers of a kernel, as many as OpenCL 1.2 asks for.
const MOST_SAMPLERS: u32 = 16;

/// Most constant buffers of a kernel.
pub(super) const MOST_BUFFERS: u32 = 16;

/// Checks the arguments of a block that begins in the given line.
pub(super) fn check(found: &mut Found, block: &Block, start: usize) {
    let mut names = BTreeMap::new();
    let mut images: BTreeSet<(Access, u32)> = BTreeSet::new();
    let mut counters = BTreeSet::new();
    for (record, line) in block.records.iter().zip(start + 1..) {
        let Record::Argument(argument) = record else { continue };
        if let Some(first) = names.insert(argument.name.as_str(), line) {
            let message = format!("`{}` is also in line {first}", argument.name);
            found.add(line, Rule::ArgumentName, message);
        }
        check_place(found, argument, line);
        match &argument.kind {
            ArgumentKind::Value { ty, count } => check_value(found, *ty, *count, line),
            ArgumentKind::Pointer(pointer) => check_pointer(found, pointer, block.version(), line),
            ArgumentKind::Image { access, id, .. } => {
                check_image(found, *access, *id, line);
                if !images.insert((*access, *id)) {
                    let message = format!("another image with {access} has the number {id}");
                    found.add(line, Rule::ImageShared, message);
                }
            }
            ArgumentKind::Counter { bits, id } => {
                if ![32, 64].contains(bits) {
                    found.add(line, Rule::CounterWidth, format!("the counter has {bits} bits"));
                }
                if !counters.insert(*id) {
                    let message = format!("another counter has the number {id}");
                    found.add(line, Rule::CounterShared, message);
                }
            }
            ArgumentKind::Semaphore { .. } => {}
        }
    }
    check_overlaps(found, block, start);
    check_samplers(found, block, start);
    check_indices(found, block, start);
}

/// Checks where an argument is.
fn check_place(found: &mut Found, argument: &Argument, line: usize) {
    let (buffer, offset) = (argument.place.buffer, argument.place.offset);
    if buffer > 1 {
        let message = format!("constant buffer {buffer} has no arguments");
        found.add(line, Rule::ArgumentBuffer, message);
    }
    if buffer == 0 && offset < FIRST_IN_BUFFER_0 {
        let message = format!("byte {offset} of constant buffer 0 is about the dispatch");
        found.add(line, Rule::ArgumentReserved, message);
    }
    if offset % VECTOR != 0 {
        let message = format!("offset {offset} is not a multiple of {VECTOR}");
        found.add(line, Rule::ArgumentAlignment, message);
    }
    let end = u64::from(offset) + size(&argument.kind);
    if end > u64::from(MOST_BYTES) {
        found.add(line, Rule::ArgumentEnd, format!("the argument ends at byte {end}"));
    }
}

/// Checks the count of elements of a value.
fn check_value(found: &mut Found, ty: DataType, count: u32, line: usize) {
    match ty {
        DataType::Event | DataType::Opaque if count != 1 => {
            found.add(line, Rule::ValueSingle, format!("`{ty}` has {count} elements"));
        }
        DataType::Struct | DataType::Union if count == 0 => {
            found.add(line, Rule::ValueCount, format!("the size of the {ty} is 0"));
        }
        _ if ty.size().is_some() && ![1, 2, 3, 4, 8, 16].contains(&count) => {
            found.add(line, Rule::ValueCount, format!("a vector of {count} elements does not exist"));
        }
        _ => {}
    }
}

/// Checks a pointer.
fn check_pointer(found: &mut Found, pointer: &Pointer, version: Option<Version>, line: usize) {
    if pointer.count != 1 {
        found.add(line, Rule::PointerCount, format!("the pointer has {} elements", pointer.count));
    }
    if pointer.ty == DataType::Event {
        found.add(line, Rule::PointerType, "the pointer points to events");
    }
    if !pointer.alignment.is_power_of_two() {
        let message = format!("the alignment {} is not a power of two", pointer.alignment);
        found.add(line, Rule::PointerAlignment, message);
    }
    if let Some(version) = version {
        let stated = (pointer.usage.is_some(), pointer.usage.is_some_and(|usage| usage.qualifiers.is_some()));
        let required = (version >= Version::ACCESS, version >= Version::QUALIFIERS);
        if stated != required {
            let fields = match required {
                (false, _) => "neither access nor qualifiers",
                (true, false) => "its access and no qualifiers",
                (true, true) => "its access and its qualifiers",
            };
            let message = format!("a pointer of version {version} states {fields}");
            found.add(line, Rule::PointerUsage, message);
        }
    }
    let limit = match pointer.memory {
        PointerMemory::HwConstant => MOST_BUFFERS,
        // The exact limits of the other kinds are not known; no number is as high as that of a UAV can be.
        _ => MOST_UAVS,
    };
    if pointer.buffer >= limit {
        let message = format!("buffer {} of `{}` is not below {limit}", pointer.buffer, pointer.memory);
        found.add(line, Rule::PointerBuffer, message);
    }
}

/// Checks the number of an image.
fn check_image(found: &mut Found, access: Access, id: u32, line: usize) {
    let (limit, rule) = match access {
        Access::ReadOnly => (MOST_READ, Rule::ImageReads),
        Access::WriteOnly => (MOST_WRITTEN, Rule::ImageWrites),
        Access::ReadWrite => return,
    };
    if id >= limit {
        found.add(line, rule, format!("the number {id} is not below {limit}"));
    }
}

/// Reports arguments that begin before another one ends.
fn check_overlaps(found: &mut Found, block: &Block, start: usize) {
    let mut places: Vec<_> = block
        .records
        .iter()
        .zip(start + 1..)
        .filter_map(|(record, line)| match record {
            Record::Argument(argument) => Some((argument.place, line, argument)),
            _ => None,
        })
        .collect();
    places.sort_by_key(|(place, line, _)| (*place, *line));
    let mut last: Option<(u32, u64, &Argument)> = None;
    for (place, line, argument) in places {
        if let Some((buffer, end, before)) = last
            && buffer == place.buffer
            && u64::from(place.offset) < end
        {
            let message = format!("`{}` before it ends at byte {end}", shown(before.name.as_str()));
            found.add(line, Rule::ArgumentOverlap, message);
        }
        let end = u64::from(place.offset) + size(&argument.kind);
        if last.is_none_or(|(buffer, other, _)| buffer != place.buffer || other < end) {
            last = Some((place.buffer, end, argument));
        }
    }
}

/// Checks the samplers.
fn check_samplers(found: &mut Found, block: &Block, start: usize) {
    let mut ids = BTreeSet::new();
    let values: BTreeMap<_, _> =
        block.arguments().map(|argument| (argument.name.as_str(), argument.kind)).collect();
    for (record, line) in block.records.iter().zip(start + 1..) {
        let Record::Sampler(Sampler { name, id, in_kernel, value }) = record else { continue };
        if *id >= MOST_SAMPLERS || !ids.insert(*id) {
            let message = format!("the number {id} is not below {MOST_SAMPLERS}, or there twice");
            found.add(line, Rule::SamplerId, message);
        }
        if *in_kernel {
            if SamplerState::from_bits(*value).is_none() {
                found.add(line, Rule::SamplerBits, format!("{value} is not a sampler"));
            }
            continue;
        }
        let fits = values.get(name.as_str()).is_some_and(|kind| {
            matches!(kind, ArgumentKind::Value { ty: DataType::I32 | DataType::U32, count: 1 })
        });
        if !fits {
            let message = format!("there is no value `{name}` of 32 bits");
            found.add(line, Rule::SamplerArgument, message);
        }
        if *value != 0 {
            found.add(line, Rule::SamplerValue, format!("the sampler is an argument and has {value}"));
        }
    }
}

/// Checks the indices of `;constarg:` and `;reflection:`.
fn check_indices(found: &mut Found, block: &Block, start: usize) {
    let names: Vec<_> = block.arguments().map(|argument| &argument.name).collect();
    let mut reflected = BTreeSet::new();
    for (record, line) in block.records.iter().zip(start + 1..) {
        match record {
            Record::ConstArgument { index, name } if names.get(*index as usize) != Some(&name) => {
                let message = format!("argument {index} is not `{name}`");
                found.add(line, Rule::ConstIndex, message);
            }
            Record::Reflection { index, .. }
                if *index as usize >= names.len() || !reflected.insert(*index) =>
            {
                let message = format!("argument {index} does not exist, or has its type twice");
                found.add(line, Rule::ReflectionIndex, message);
            }
            _ => {}
        }
    }
}
