//! Subsections divide a section. They are ordered by their numbers, whatever their order in the source is.
//!
//! Subsection 0 is at the beginning of the section, so its offsets are known while it is read. The beginning
//! of another subsection is known only at the end of the source, and so is the padding of alignments in it.
//! Therefore the contents of such a subsection are stored as one or more *parts*, each of which begins at an
//! offset that is not known yet. A part is stored like a section. At the end, the parts are appended to their
//! section.

use crate::assembler::Assembler;
use crate::directive::place::Move;
use crate::expr::Node;
use crate::section::{Fixup, Section};
use crate::symbol::Definition;

/// Subsection of a section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub section: u32,
    pub number: u32,
}

/// Part of a subsection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// Movement between the previous part and this part.
    pub begin: Move,
    /// Span of the directive that moves the position and so begins this part, in the numbering that all texts
    /// share.
    pub span: (u32, u32),
    /// A part is stored like a section, and this is its index in `sections`.
    pub section: u32,
}

impl Assembler {
    /// Returns the index of the section or part to which bytes of the subsection `place` are appended.
    pub(crate) fn end_of(&mut self, place: Place) -> u32 {
        if place.number == 0 {
            return place.section;
        }
        if let Some(part) = self.subsections.get(&place).and_then(|parts| parts.last()) {
            return part.section;
        }
        let part = Part { begin: Move::None, span: (0, 0), section: self.sections.len() as u32 };
        self.add_part(place, part);
        part.section
    }

    /// Appends a part to the subsection `place`. A new last entry of `sections` holds its bytes.
    pub(crate) fn add_part(&mut self, place: Place, part: Part) {
        let whole = &self.sections[place.section as usize];
        let mut section = Section::new(&whole.name, whole.kind, whole.flags);
        section.part_of = Some(place.section);
        self.sections.push(section);
        self.subsections.entry(place).or_default().push(part);
    }

    /// Returns the section to which a part belongs. For a section, returns the section itself.
    pub(crate) fn section_of(&self, part: u32) -> u32 {
        self.sections[part as usize].part_of.unwrap_or(part)
    }

    /// Converts a position in a part to the position in its section, if the part's offset is known.
    pub(crate) fn in_section(&self, (part, offset): (u32, u64)) -> (u32, u64) {
        let section = &self.sections[part as usize];
        match (section.part_of, section.begin) {
            (Some(whole), Some(begin)) => (whole, begin.wrapping_add(offset)),
            _ => (part, offset),
        }
    }

    /// Appends all parts to their sections, so that only sections remain.
    pub(crate) fn join_subsections(&mut self) {
        if self.subsections.is_empty() {
            return;
        }
        for (place, parts) in std::mem::take(&mut self.subsections) {
            for part in parts {
                self.join(place.section, &part);
            }
        }
        self.move_places();
        self.sections.retain(|section| section.part_of.is_none());
        (self.section, self.place, self.previous) = (0, Place::default(), None);
    }

    fn join(&mut self, section: u32, part: &Part) {
        self.section = section;
        let end = self.here().1;
        self.current().first_end.get_or_insert(end);
        let span = part.span.0 as usize..part.span.1 as usize;
        if let Err(mistake) = self.make_move(part.begin, &span) {
            self.report_placed(mistake);
        }
        let begin = self.here().1;
        let piece = &mut self.sections[part.section as usize];
        piece.begin = Some(begin);
        let (data, fixups) = (std::mem::take(&mut piece.data), std::mem::take(&mut piece.fixups));
        let (align, virtual_size) = (piece.align, piece.virtual_size);
        let whole = self.current();
        whole.data.extend_from_slice(&data);
        whole.virtual_size += virtual_size;
        whole.align = whole.align.max(align);
        let moved = |fixup: Fixup| Fixup { offset: fixup.offset.wrapping_add(begin), ..fixup };
        whole.fixups.extend(fixups.into_iter().map(moved));
    }

    /// Converts every position that is in a part to one in the part's section, and renumbers the sections as
    /// if there were no parts.
    fn move_places(&mut self) {
        let mut number = 0;
        let mut numbers = Vec::with_capacity(self.sections.len());
        for section in &self.sections {
            numbers.push(number);
            number += u32::from(section.part_of.is_none());
        }
        let moved: Vec<(u32, u64)> = (0..self.sections.len() as u32)
            .map(|part| self.in_section((part, 0)))
            .map(|(section, begin)| (numbers[section as usize], begin))
            .collect();
        let change = |section: &mut u32, offset: &mut u64| {
            let (new, begin) = moved[*section as usize];
            (*section, *offset) = (new, offset.wrapping_add(begin));
        };
        for symbol in self.symbols.iter_mut() {
            if let Definition::Label { section, offset } = &mut symbol.definition {
                change(section, offset);
            }
        }
        for node in &mut self.nodes {
            if let Node::Place(section, offset) = node {
                change(section, offset);
            }
        }
        for kernel in &mut self.unfinished {
            change(&mut kernel.place.0, &mut kernel.place.1);
        }
        let linked = self.sections.iter_mut().filter_map(|section| section.linked.as_mut());
        for section in self.section_names.values_mut().chain(linked) {
            change(section, &mut 0);
        }
        for section in self.symbols.order.iter_mut().filter_map(|item| item.as_mut().err()) {
            change(section, &mut 0);
        }
    }
}
