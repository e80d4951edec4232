//! Reads note records. The layout and the types of V3 are from LLVM's AMDGPU guide (seed 000, line 429);
//! `NT_AMD_*` of V2 are as LLVM 14 writes them.

use crate::elf::CodeObject;
use crate::value::{self, Value};
use object::elf::SHT_NOTE;
pub use objwriter::note::{
    NT_HSAIL, NT_ISA_NAME, NT_ISA_VERSION, NT_METADATA, NT_METADATA_V2, NT_PAL_METADATA, NT_VERSION,
};
use palmeta::{Metadata, Pairs};

/// A note record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note<'data> {
    /// Index of the section that contains the record.
    pub section: usize,
    /// Owner of the note, which determines what the number `kind` means: `AMD` (V2) or `AMDGPU` (since V3).
    pub owner: &'data str,
    /// `NT_*`.
    pub kind: u32,
    /// Contents.
    pub desc: &'data [u8],
}

/// Decoded contents of a note.
#[derive(Clone, Debug, PartialEq)]
pub enum Meaning<'data> {
    /// Code object version (V2).
    Version {
        /// Major version.
        major: u32,
        /// Minor version.
        minor: u32,
    },
    /// Options of HSAIL finalisation (V2).
    Hsail {
        /// Major version.
        major: u32,
        /// Minor version.
        minor: u32,
        /// Profile: 0 is base, 1 is full.
        profile: u8,
        /// Machine model: 0 is small, 1 is large.
        machine_model: u8,
        /// Rounding: 0 is none, 1 is zero, 2 is near.
        rounding: u8,
    },
    /// Instruction set (V2).
    Isa {
        /// Vendor, `AMD`.
        vendor: &'data str,
        /// Architecture, `AMDGPU`.
        architecture: &'data str,
        /// Major version of the processor.
        major: u32,
        /// Minor version of the processor.
        minor: u32,
        /// Stepping of the processor.
        stepping: u32,
    },
    /// Target id (V2).
    IsaName(&'data str),
    /// Metadata as YAML text (V2).
    Yaml(&'data str),
    /// Metadata as a tree.
    Metadata(Value),
    /// Metadata of AMDPAL, in either form.
    Pal(palmeta::Note),
    /// Damaged note, with a description of the damage.
    Damaged(String),
    /// Note of a type that kernc does not know.
    Unknown,
}

impl<'data> Note<'data> {
    /// Returns the name of the note's type.
    pub fn name(&self) -> Option<&'static str> {
        Some(match (self.owner, self.kind) {
            ("AMD", NT_VERSION) => "NT_AMD_HSA_CODE_OBJECT_VERSION",
            ("AMD", NT_HSAIL) => "NT_AMD_HSA_HSAIL",
            ("AMD", NT_ISA_VERSION) => "NT_AMD_HSA_ISA_VERSION",
            ("AMD", NT_METADATA_V2) => "NT_AMD_HSA_METADATA",
            ("AMD", NT_ISA_NAME) => "NT_AMD_HSA_ISA_NAME",
            ("AMD", NT_PAL_METADATA) => "NT_AMD_PAL_METADATA",
            ("AMDGPU", NT_METADATA) => "NT_AMDGPU_METADATA",
            _ => return None,
        })
    }

    /// Decodes the contents.
    pub fn meaning(&self) -> Meaning<'data> {
        let short = || Meaning::Damaged(format!("{} bytes are too few", self.desc.len()));
        match self.name().map(|_| self.kind) {
            Some(NT_VERSION) => match (word(self.desc, 0), word(self.desc, 4)) {
                (Some(major), Some(minor)) => Meaning::Version { major, minor },
                _ => short(),
            },
            Some(NT_HSAIL) => hsail(self.desc).unwrap_or_else(short),
            Some(NT_ISA_VERSION) => isa_version(self.desc).unwrap_or_else(short),
            Some(NT_METADATA_V2) => text(self.desc).map_or_else(not_text, Meaning::Yaml),
            Some(NT_ISA_NAME) => text(self.desc).map_or_else(not_text, Meaning::IsaName),
            Some(NT_PAL_METADATA) => match Pairs::read(self.desc) {
                Ok(pairs) => Meaning::Pal(palmeta::Note::Pairs(pairs)),
                Err(damage) => Meaning::Damaged(damage.to_string()),
            },
            Some(NT_METADATA) => match value::from_message_pack(self.desc) {
                Ok(value) => tree(value),
                Err(why) => Meaning::Damaged(why),
            },
            _ => Meaning::Unknown,
        }
    }
}

/// Returns a tree as the metadata of AMDPAL if the keys are those of AMDPAL. LLVM writes such metadata for any
/// system, so the file header does not decide.
fn tree<'data>(value: Value) -> Meaning<'data> {
    let is_pal = ["amdpal.pipelines", "amdpal.version"].iter().any(|key| value.get(key).is_some());
    match is_pal.then(|| Metadata::from_tree(value.clone())) {
        Some(Ok(metadata)) => Meaning::Pal(palmeta::Note::MessagePack(metadata)),
        _ => Meaning::Metadata(value),
    }
}

fn not_text<'data>() -> Meaning<'data> {
    Meaning::Damaged("not UTF-8 text".to_owned())
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

/// Returns a text without the zero bytes at its end.
fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().map(|text| text.trim_end_matches('\0'))
}

fn hsail(desc: &[u8]) -> Option<Meaning<'_>> {
    Some(Meaning::Hsail {
        major: word(desc, 0)?,
        minor: word(desc, 4)?,
        profile: *desc.get(8)?,
        machine_model: *desc.get(9)?,
        rounding: *desc.get(10)?,
    })
}

/// Reads the contents of a note with the processor's version. They are two string sizes (16 bits each), three
/// numbers, and two zero-terminated strings. AMD's finalizer counted one byte too few, so the last zero byte
/// may be missing.
fn isa_version(desc: &[u8]) -> Option<Meaning<'_>> {
    let sizes = word(desc, 0)?;
    let (vendor_size, architecture_size) = ((sizes & 0xffff) as usize, (sizes >> 16) as usize);
    let end = 16 + vendor_size;
    let whole = end + architecture_size;
    let whole = if whole == desc.len() + 1 { desc.len() } else { whole };
    Some(Meaning::Isa {
        vendor: text(desc.get(16..end)?)?,
        architecture: text(desc.get(end..whole)?)?,
        major: word(desc, 4)?,
        minor: word(desc, 8)?,
        stepping: word(desc, 12)?,
    })
}

/// Joins two metadata trees. If both trees have a sequence under the same key, such as the kernels, the
/// result has the items of both. For all other keys, and for the version, the value of the first tree counts.
fn joined(first: Value, second: Value) -> Value {
    let (Value::Map(mut entries), Value::Map(others)) = (first.clone(), second) else { return first };
    for (key, value) in others {
        let known = entries.iter_mut().find(|(known, _)| *known == key);
        match (known, value) {
            (None, value) => entries.push((key, value)),
            (Some(_), _) if key.as_str() == Some("amdhsa.version") => {}
            (Some((_, Value::Seq(items))), Value::Seq(more)) => items.extend(more),
            _ => {}
        }
    }
    Value::Map(entries)
}

/// Returns the note records of a section. Stops at the first damaged record, and then also returns a message.
/// The fields of a record are aligned to 4 bytes, whatever the alignment of the section is.
pub fn records(section: usize, mut bytes: &[u8]) -> (Vec<Note<'_>>, Option<&'static str>) {
    let mut notes = Vec::new();
    while !bytes.is_empty() {
        let Some((note, rest)) = record(section, bytes) else {
            return (notes, Some("a note record is cut"));
        };
        notes.push(note);
        bytes = rest;
    }
    (notes, None)
}

fn record(section: usize, bytes: &[u8]) -> Option<(Note<'_>, &[u8])> {
    let (name_size, desc_size) = (word(bytes, 0)? as usize, word(bytes, 4)? as usize);
    let kind = word(bytes, 8)?;
    let name = bytes.get(12..name_size.checked_add(12)?)?;
    let desc_start = name_size.checked_add(12)?.checked_next_multiple_of(4)?;
    let desc_end = desc_start.checked_add(desc_size)?;
    let desc = bytes.get(desc_start..desc_end)?;
    // The last record need not be padded.
    let rest = bytes.get(desc_end.checked_next_multiple_of(4)?..).unwrap_or(&[]);
    Some((Note { section, owner: text(name).unwrap_or("?"), kind, desc }, rest))
}

impl<'data> CodeObject<'data> {
    /// Returns all note records.
    pub fn notes(&self) -> Vec<Note<'data>> {
        let sections = self.sections.iter().enumerate().filter(|(_, section)| section.kind == SHT_NOTE.0);
        sections.flat_map(|(index, section)| records(index, section.data).0).collect()
    }

    /// Returns the metadata tree of a code object of V3 or later. If a linker has left several notes with
    /// metadata, they are joined into one tree with the kernels and format strings of all of them.
    pub fn metadata(&self) -> Option<Value> {
        let notes = self.notes();
        let trees = notes.iter().filter_map(|note| match note.meaning() {
            Meaning::Metadata(value) => Some(value),
            _ => None,
        });
        trees.reduce(joined)
    }

    /// Returns the metadata of AMDPAL, in either form.
    pub fn pal_metadata(&self) -> Option<palmeta::Note> {
        self.notes().iter().find_map(|note| match note.meaning() {
            Meaning::Pal(metadata) => Some(metadata),
            _ => None,
        })
    }
}
