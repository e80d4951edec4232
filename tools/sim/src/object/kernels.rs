//! Finds the kernels of a code object. They come from the metadata, if the code object has metadata, and from
//! the symbols.

use super::image::Image;
use super::{KernelInfo, LoadError};
use crate::descriptor::{Descriptor, KERNEL_CODE_BYTES};
use crate::metadata::{self, KernelMeta, Metadata};
use codeobj::CodeObject;
use codeobj::elf::STT_AMDGPU_HSA_KERNEL;
use codeobj::note::{self, Meaning, Note};
use isa::Target;
use object::elf::{PT_NOTE, STT_OBJECT};

/// Maximum size of an argument segment. Without the limit, a damaged file could use up all memory.
const MAX_KERNARG: u32 = 1 << 20;

/// Returns all notes of the file. They are in sections, or in segments if the file has no sections.
pub(super) fn notes<'a>(file: &CodeObject<'a>, data: &'a [u8]) -> Vec<Note<'a>> {
    let notes = file.notes();
    if !notes.is_empty() {
        return notes;
    }
    let segments = file.segments.iter().filter(|segment| segment.kind == PT_NOTE.0);
    let bytes = segments.filter_map(|segment| {
        let end = segment.offset.checked_add(segment.file_size)?;
        data.get(usize::try_from(segment.offset).ok()?..usize::try_from(end).ok()?)
    });
    bytes.flat_map(|bytes| note::records(0, bytes).0).collect()
}

/// Reads the metadata of the file. The result is empty if the file has no metadata note. If a linker has left
/// several notes, their contents are combined.
pub(super) fn metadata(file: &CodeObject<'_>, data: &[u8]) -> Result<Metadata, LoadError> {
    let mut all = Metadata::default();
    for note in notes(file, data) {
        let read = match (note.owner, note.kind) {
            ("AMDGPU", note::NT_METADATA) => metadata::parse(note.desc),
            ("AMD", note::NT_METADATA_V2) => match note.meaning() {
                Meaning::Yaml(text) => metadata::v2::parse(text),
                _ => Err("not UTF-8 text".to_owned()),
            },
            _ => continue,
        };
        let Metadata { kernels, version, printf } = read.map_err(LoadError::Metadata)?;
        all.kernels.extend(kernels);
        all.printf.extend(printf);
        if all.version.is_empty() {
            all.version = version;
        }
    }
    Ok(all)
}

/// Returns the kernels of a code object. The kernels in the metadata come first, in the order of the
/// metadata. Kernels that have only symbols follow, in the order of the symbols.
pub(super) fn find(
    metadata: &Metadata,
    target: &'static Target,
    image: &Image,
) -> Result<Vec<KernelInfo>, LoadError> {
    let described_by = |meta: &KernelMeta| described(meta, target, image);
    let mut found: Vec<KernelInfo> =
        metadata.kernels.iter().map(described_by).collect::<Result<_, LoadError>>()?;
    for symbol in &image.symbols {
        let name = match symbol.name.strip_suffix(".kd") {
            Some(name) if symbol.kind == STT_OBJECT.0 => name,
            _ if symbol.kind == STT_AMDGPU_HSA_KERNEL => symbol.name.as_str(),
            _ => continue,
        };
        let is_new = |kernel: &KernelInfo| kernel.name != name && kernel.descriptor_address != symbol.address;
        if found.iter().all(is_new) {
            let meta = KernelMeta::untyped(name, &symbol.name);
            found.push(KernelInfo { untyped: true, ..described(&meta, target, image)? });
        }
    }
    Ok(found)
}

fn described(meta: &KernelMeta, target: &'static Target, image: &Image) -> Result<KernelInfo, LoadError> {
    let bad = |why: &str| LoadError::Descriptor(format!("{}: {why}", meta.name));
    let symbol = image.symbol(&meta.symbol).or_else(|| {
        // In the metadata of V2, the kernel's symbol is `name@kd`. In the symbol table, it is `name`.
        image.symbol(meta.symbol.strip_suffix("@kd")?)
    });
    let symbol = symbol.ok_or_else(|| bad(&format!("no symbol {}", meta.symbol)))?;
    let bytes = image.at(symbol.address);
    let descriptor = if symbol.kind == STT_AMDGPU_HSA_KERNEL {
        let header = bytes.and_then(|bytes| bytes.first_chunk::<KERNEL_CODE_BYTES>());
        Descriptor::of_kernel_code(header.ok_or_else(|| bad("its header is outside of the image"))?)
    } else {
        bytes.and_then(Descriptor::parse).ok_or_else(|| bad("outside of the image"))?
    };
    let wave_size = descriptor.wave_size(target);
    if target.with_wave_size(wave_size).is_none() {
        return Err(bad(&format!("{} has no wavefronts of {wave_size} lanes", target.name)));
    }
    if meta.wave_size != 0 && meta.wave_size != wave_size {
        return Err(bad(&format!(
            "wavefronts of {wave_size} lanes, but the metadata says {}",
            meta.wave_size
        )));
    }
    let mut args = meta.args.clone();
    args.sort_by_key(|arg| arg.offset);
    let arguments_end = args.iter().map(|arg| arg.offset.saturating_add(arg.size)).max().unwrap_or(0);
    let kernarg_size = meta.kernarg_size.max(arguments_end).max(descriptor.kernarg_size);
    if kernarg_size > MAX_KERNARG {
        return Err(LoadError::Metadata(format!("{}: {kernarg_size} bytes of arguments", meta.name)));
    }
    Ok(KernelInfo {
        name: meta.name.clone(),
        args,
        kernarg_size,
        reqd_group: meta.reqd_group,
        max_group: meta.max_group,
        sgprs: meta.sgprs,
        vgprs: meta.vgprs,
        wave_size,
        untyped: false,
        descriptor,
        descriptor_address: symbol.address,
        entry: symbol.address.wrapping_add(descriptor.entry_offset as u64),
        user_data: None,
    })
}
