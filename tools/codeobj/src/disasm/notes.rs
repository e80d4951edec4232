//! Writes notes as the directives that produce them, or as bytes.

use super::{Listing, data};
use crate::identity::Setting;
use crate::note::{self, Meaning, Note};
use isa::Feature;
use object::elf::SHT_NOTE;
use std::fmt::{self, Write};

impl Listing<'_, '_> {
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
                Meaning::Isa { vendor, architecture, major, minor, stepping }
                    if is_quotable(vendor) && is_quotable(architecture) =>
                {
                    is_named = true;
                    writeln!(
                        out,
                        "\t.hsa_code_object_isa {major},{minor},{stepping},\"{vendor}\",\"{architecture}\""
                    )?;
                }
                _ => {}
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

    /// Returns whether an assembler would produce exactly the notes of the file from directives. If not, the
    /// notes are written as bytes.
    fn has_expressible_notes(&self) -> bool {
        let is_v2 = self.identity.version == Some(2);
        let is_named = self.identity.version.is_none();
        let sections = self.object.sections.iter().filter(|section| section.kind == SHT_NOTE.0);
        sections.map(|section| note::records(0, section.data)).all(|(notes, damage)| {
            damage.is_none() && notes.iter().all(|note| is_expressible(note, (is_v2, is_named)))
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
                }
            } else if !section.data.is_empty() {
                let why = damage.unwrap_or("directives cannot say it");
                writeln!(out, "\n\t; as bytes: {why}\n\t.section .note,\"a\",@note")?;
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
            is_v2 && is_quotable(vendor) && is_quotable(architecture) && note.desc.len() == size
        }
        Meaning::IsaName(name) => (is_v2 || is_named) && is_quotable(name) && note.desc.len() == name.len(),
        Meaning::Yaml(text) => is_v2 && !text.contains(".end_amd_amdgpu_hsa_metadata"),
        Meaning::Metadata(value) => {
            let mut bytes = Vec::new();
            value.write_message_pack(&mut bytes);
            value.is_plain() && bytes == note.desc
        }
        _ => false,
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
        // The other notes are in the prologue.
        _ => Ok(()),
    }
}
