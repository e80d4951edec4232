//! Metadata: YAML in the source becomes a note record of the object.

mod errors;
pub(crate) mod pal;
mod v2;
mod v3;

use crate::assembler::Assembler;
use crate::cursor::Cursor;
use crate::error::{Result, error};
use crate::section::elf::{SHF_ALLOC, SHT_NOTE};
use codeobj::yaml::{self, Node};
use errors::Mistakes;
use isa::CodeObjectVersion;
use objwriter::metadata_v2;
use objwriter::note::{self, NT_METADATA, NT_METADATA_V2};
use std::ops::Range;

impl Assembler {
    /// Handles `.amdgpu_metadata`, which writes MessagePack to a note of code object V3 and later.
    pub(crate) fn amdgpu_metadata(&mut self, cur: &mut Cursor, span: &Range<usize>) -> Result<()> {
        let (at, text) = body(cur, ".end_amdgpu_metadata", span)?;
        let tree = yaml::parse(text).map_err(|mistake| misread(at, mistake))?;
        if !matches!(tree, Node::Map(_)) {
            return Err(
                error(span.clone(), "metadata is a mapping").label("no `amdhsa.kernels:` or the like here")
            );
        }
        self.settings.metadata_version = version(&tree);
        let mut mistakes = Mistakes::new(at);
        let tree = v3::tree(&tree, &mut mistakes);
        let mut bytes = Vec::new();
        tree.write_message_pack(&mut bytes);
        self.report_all(cur.text, mistakes);
        self.note("AMDGPU", NT_METADATA, &bytes, span)
    }

    /// Handles `.amd_amdgpu_hsa_metadata`, which writes YAML to a note of code object V2.
    pub(crate) fn hsa_metadata(&mut self, cur: &mut Cursor, span: &Range<usize>) -> Result<()> {
        let (at, text) = body(cur, ".end_amd_amdgpu_hsa_metadata", span)?;
        let tree = yaml::parse(text).map_err(|mistake| misread(at, mistake))?;
        if !matches!(tree, Node::Map(_)) {
            return Err(error(span.clone(), "metadata is a mapping").label("no `Version:` or the like here"));
        }
        let mut mistakes = Mistakes::new(at);
        let tree = v2::tree(&tree, &mut mistakes);
        self.report_all(cur.text, mistakes);
        self.begin_v2();
        self.note("AMD", NT_METADATA_V2, metadata_v2::text(&tree).as_bytes(), span)
    }

    fn report_all(&mut self, text: &str, mistakes: Mistakes) {
        mistakes.list.into_iter().for_each(|mistake| self.report(text, mistake));
    }

    /// Appends a record to `.note`.
    pub(crate) fn note(&mut self, owner: &str, kind: u32, desc: &[u8], span: &Range<usize>) -> Result<()> {
        self.note_record(&note::record(owner, kind, desc), span)
    }

    fn note_record(&mut self, record: &[u8], span: &Range<usize>) -> Result<()> {
        // Only HSA's runtime finds notes in memory.
        let flags = if self.settings.os().system().has_metadata { SHF_ALLOC } else { 0 };
        let id = self.section_named(".note", SHT_NOTE, flags);
        self.inside(id, |assembler| {
            let section = assembler.current();
            section.align = section.align.max(4);
            assembler.emit(record, span)
        })
    }
}

/// Returns the lines up to the directive `end`, and the position at which they begin.
fn body<'s>(cur: &mut Cursor<'s>, end: &str, span: &Range<usize>) -> Result<(usize, &'s str)> {
    cur.expect_end()?;
    cur.skip_line();
    let start = cur.pos;
    while !cur.is_end() {
        let line = cur.pos;
        cur.blank();
        if cur.name() == Some(end) {
            return Ok((start, cur.text.get(start..line).unwrap_or_default()));
        }
        cur.skip_line();
    }
    Err(error(span.clone(), format!("no `{end}` ends this")).label("begins here"))
}

fn misread(start: usize, (at, message): yaml::Mistake) -> crate::error::Error {
    error(start + at..start + at + 1, message).label("in the metadata")
}

/// Returns the first code object version that has the metadata version in `amdhsa.version`. (V6 has the same
/// metadata version as V5.)
fn version(tree: &Node) -> Option<u8> {
    let Some(Node::Seq(numbers)) = tree.get("amdhsa.version") else { return None };
    let [Node::Scalar(major), Node::Scalar(minor)] = numbers.as_slice() else { return None };
    let said = [major.parse().ok()?, minor.parse().ok()?];
    (3..=6).find(|&number| CodeObjectVersion::from_number(number).map(note::metadata_version) == Some(said))
}
