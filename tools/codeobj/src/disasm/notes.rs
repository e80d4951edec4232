//! Writes notes as the directives that produce them, or as bytes.

use super::{Listing, data};
use crate::identity::Setting;
use crate::names;
use crate::note::{self, Meaning, Note};
use isa::{Feature, TargetId};
use object::elf::SHT_NOTE;
use palmeta::{Metadata, Spelling};
use std::fmt::{self, Write};

impl<'data> Listing<'_, 'data> {
    /// Writes the directives of V2 that precede everything else.
    pub(super) fn prologue_v2(&self, processor: &str, out: &mut String) -> fmt::Result {
        if !self.has_expressible_notes() {
            writeln!(out, "\t.amdgcn_target \"{}\"", self.identity.target_id(processor))?;
            return writeln!(out, "\t.amdhsa_code_object_version 2");
        }
        let mut is_named = false;
        for note in self.object.notes() {
            match note.meaning() {
                Meaning::Version { major, minor } => {
                    writeln!(out, "\t.hsa_code_object_version {major},{minor}")?
                }
                meaning => is_named |= isa_version(&meaning, out)?,
            }
        }
        if !is_named {
            let (major, minor, stepping) = self.target.version;
            writeln!(out, "\t; no note says so: {major}.{minor}.{stepping}")?;
        }
        if self.target.has(Feature::SRAMECC) && self.identity.sramecc == Setting::Off {
            writeln!(
                out,
                "\t; code for SRAM ECC off, which V2's notes do not say: assemble with -mattr=-sramecc"
            )?;
        }
        Ok(())
    }

    /// Returns the target id in a note, if it means the same as `id` for an object without a version. It may
    /// have another vendor and leave out features, since features that are not named are on. LLVM's assembler
    /// requires that the directives agree.
    pub(super) fn noted_target_id(&self, id: &str) -> Option<&'data str> {
        let parts = |id: &str| {
            let parsed = TargetId::parse(id).ok()?;
            Some((parsed.os?, parsed.target.name))
        };
        let features = |id: &str| id.split_once('+').map(|(_, features)| features.to_owned());
        let is_same = |name: &&str| {
            let (noted, own) = (features(name), features(id));
            parts(name).is_some() && parts(name) == parts(id) && (noted.is_none() || noted == own)
        };
        let names = self.object.notes().into_iter().filter_map(|note| match note.meaning() {
            Meaning::IsaName(name) if self.identity.version.is_none() => Some(name),
            _ => None,
        });
        names.filter(is_same).last()
    }

    /// Returns whether an assembler would produce exactly the notes of the file from directives. If not, the
    /// notes are written as bytes.
    fn has_expressible_notes(&self) -> bool {
        let is_v2 = self.identity.version == Some(2);
        let is_named = self.identity.version.is_none();
        let sections = self.object.sections.iter().filter(|section| section.kind == SHT_NOTE.0);
        sections.map(|section| note::records(0, section.data)).all(|(notes, damage)| {
            // The assembler writes AMDPAL's metadata once, after all other notes.
            let others = notes.split_last().map_or(&[][..], |(_, others)| others);
            damage.is_none()
                && !others.iter().any(|note| matches!(note.meaning(), Meaning::Pal(_)))
                && notes.iter().all(|note| is_expressible(note, (is_v2, is_named)))
        })
    }

    /// Writes every note that the prologue does not contain.
    pub(super) fn notes(&self, out: &mut String) -> fmt::Result {
        for (index, section) in self.object.sections.iter().enumerate() {
            if section.kind != SHT_NOTE.0 {
                continue;
            }
            let (notes, damage) = note::records(index, section.data);
            if self.has_expressible_notes() {
                for note in &notes {
                    directives(note, out)?;
                    // In V2, the prologue has the version.
                    if self.identity.version != Some(2) {
                        isa_version(&note.meaning(), out)?;
                    }
                }
            } else if !section.data.is_empty() {
                let why = damage.unwrap_or("directives cannot say it");
                let flags = names::section_flags(section.flags);
                writeln!(out, "\n\t; as bytes: {why}\n\t.section .note,\"{flags}\",@note")?;
                writeln!(out, "\t.p2align {}", section.align.max(1).trailing_zeros().min(12))?;
                data::numbers(section.data, 0, out)?;
            }
        }
        Ok(())
    }
}

/// Returns whether a text can be written between quotes as it is, because no character needs an escape.
fn is_quotable(text: &str) -> bool {
    text.chars().all(|c| !c.is_control() && !matches!(c, '"' | '\\'))
}

/// Returns whether a directive produces exactly this note, in an object of V2 (`is_v2`), or in an object
/// whose system has no versions (`is_named`).
fn is_expressible(note: &Note<'_>, (is_v2, is_named): (bool, bool)) -> bool {
    match note.meaning() {
        Meaning::Version { .. } => is_v2 && note.desc.len() == 8,
        Meaning::Isa { vendor, architecture, .. } => {
            // The sizes include the zero byte of each string.
            let size = 16 + vendor.len() + 1 + architecture.len() + 1;
            (is_v2 || is_named) && is_quotable(vendor) && is_quotable(architecture) && note.desc.len() == size
        }
        Meaning::IsaName(name) => (is_v2 || is_named) && is_quotable(name) && note.desc.len() == name.len(),
        Meaning::Yaml(text) => is_v2 && !text.contains(".end_amd_amdgpu_hsa_metadata"),
        Meaning::Metadata(value) => {
            let mut bytes = Vec::new();
            value.write_message_pack(&mut bytes);
            !is_named && value.is_plain() && bytes == note.desc
        }
        Meaning::Pal(palmeta::Note::MessagePack(metadata)) => {
            // The assembler adds an empty map of registers.
            let again = Metadata::from_text(&metadata.to_text(Spelling::Llvm19)).map(|mut metadata| {
                metadata.add_registers();
                metadata.write()
            });
            again.is_ok_and(|bytes| bytes == note.desc)
        }
        Meaning::Pal(palmeta::Note::Pairs(pairs)) => is_named && pairs.write() == note.desc,
        _ => false,
    }
}

/// Writes the directive for a note with the processor's version. Returns whether the note is one.
fn isa_version(meaning: &Meaning<'_>, out: &mut String) -> Result<bool, fmt::Error> {
    match meaning {
        Meaning::Isa { vendor, architecture, major, minor, stepping }
            if is_quotable(vendor) && is_quotable(architecture) =>
        {
            let names = format!("\"{vendor}\",\"{architecture}\"");
            writeln!(out, "\t.hsa_code_object_isa {major},{minor},{stepping},{names}")?;
            Ok(true)
        }
        _ => Ok(false),
    }
}

fn directives(note: &Note<'_>, out: &mut String) -> fmt::Result {
    match note.meaning() {
        Meaning::IsaName(name) => writeln!(out, "\n\t.amd_amdgpu_isa \"{name}\""),
        Meaning::Yaml(text) => {
            out.push_str("\n\t.amd_amdgpu_hsa_metadata\n");
            out.push_str(text);
            if !text.ends_with('\n') {
                out.push('\n');
            }
            out.push_str("\t.end_amd_amdgpu_hsa_metadata\n");
            Ok(())
        }
        Meaning::Metadata(value) => {
            out.push_str("\n\t.amdgpu_metadata\n");
            value.write_yaml(0, out);
            out.push_str("\t.end_amdgpu_metadata\n");
            Ok(())
        }
        Meaning::Pal(palmeta::Note::MessagePack(metadata)) => {
            write!(out, "\n{}", metadata.to_directives(Spelling::Llvm19))
        }
        Meaning::Pal(palmeta::Note::Pairs(pairs)) => {
            writeln!(out, "\n\t{} {}", palmeta::pairs::DIRECTIVE, pairs.operands())
        }
        // The other notes are in the prologue.
        _ => Ok(()),
    }
}
