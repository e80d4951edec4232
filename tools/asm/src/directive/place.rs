//! Directives that move the place: alignment and `.org`.

use crate::assembler::Assembler;
use crate::cursor::Cursor;
use crate::error::{Result, error};
use crate::expr::{Reduced, Value};
use crate::subsection::Part;
use std::ops::Range;

/// `s_nop 0`, which code is padded with.
pub(crate) const S_NOP: [u8; 4] = 0xbf80_0000u32.to_le_bytes();

/// How far a directive moves the place. In a subsection only the end of the text tells.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Move {
    /// Not at all: a subsection begins.
    None,
    Align(Alignment),
    /// `.org`: up to an offset, with that byte.
    Org(Value, u8),
}

/// An alignment, a power of two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alignment {
    align: u64,
    /// What pads; otherwise zeros, and in code instructions that do nothing.
    fill: Option<i64>,
    /// Bytes of `fill`.
    unit: u64,
    /// More padding than that is none.
    most: u64,
}

impl Assembler {
    pub(super) fn place_directive(
        &mut self,
        cur: &mut Cursor,
        name: &str,
        span: &Range<usize>,
    ) -> Result<bool> {
        match name {
            ".p2align" => self.align(cur, span, true, 1)?,
            ".p2alignw" => self.align(cur, span, true, 2)?,
            ".p2alignl" => self.align(cur, span, true, 4)?,
            ".balign" | ".align" => self.align(cur, span, false, 1)?,
            ".balignw" => self.align(cur, span, false, 2)?,
            ".balignl" => self.align(cur, span, false, 4)?,
            ".org" => {
                let offset = self.expression(cur)?;
                let byte = if cur.eat(b',') { self.absolute(cur)? } else { 0 };
                self.go(Move::Org(offset, byte as u8), span)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `.p2align power[, fill[, most]]`; `.balign bytes[, ...]`.
    fn align(&mut self, cur: &mut Cursor, span: &Range<usize>, power: bool, unit: u64) -> Result<()> {
        let value = self.absolute(cur)?;
        let align = match power {
            true if (0..32).contains(&value) => 1u64 << value,
            false if value == 0 => 1,
            false if value > 0 && value < 1 << 32 && (value as u64).is_power_of_two() => value as u64,
            _ => return Err(error(span.clone(), "the alignment must be a power of two below 2^32")),
        };
        let mut alignment = Alignment { align, fill: None, unit, most: u64::MAX };
        if cur.eat(b',') {
            cur.blank();
            if cur.peek() != b',' && !cur.at_end() {
                alignment.fill = Some(self.absolute(cur)?);
            }
            if cur.eat(b',') {
                alignment.most = u64::try_from(self.absolute(cur)?).unwrap_or(0);
            }
        }
        // The file is padded to it too.
        let more = align.saturating_sub(self.current().align);
        self.reserve(more, span)?;
        self.go(Move::Align(alignment), span)
    }

    /// Moves, now or when it is known where the subsection begins.
    fn go(&mut self, to: Move, span: &Range<usize>) -> Result<()> {
        if self.place.number == 0 {
            return self.make_move(to, span);
        }
        let part = Part { begin: to, span: self.span_of(span.clone()), section: self.sections.len() as u32 };
        self.add_part(self.place, part);
        self.section = part.section;
        Ok(())
    }

    /// Moves the place in the current section.
    pub(crate) fn make_move(&mut self, to: Move, span: &Range<usize>) -> Result<()> {
        match to {
            Move::None => Ok(()),
            Move::Align(alignment) => self.pad(&alignment, span),
            Move::Org(offset, byte) => self.org(offset, byte, span),
        }
    }

    fn pad(&mut self, alignment: &Alignment, span: &Range<usize>) -> Result<()> {
        let Alignment { align, fill, unit, most } = *alignment;
        let section = self.current();
        let padding = section.size().wrapping_neg() & (align - 1);
        let code = section.is_code() && fill.is_none();
        section.align = section.align.max(align);
        if padding == 0 || padding > most {
            return Ok(());
        }
        if code {
            // Bytes that make no whole instruction come first, as zeros.
            self.emit_repeated(&[0], padding % 4, span)?;
            return self.emit_repeated(&S_NOP, padding / 4, span);
        }
        if !padding.is_multiple_of(unit) {
            return Err(error(span.clone(), format!("{padding} bytes of padding are no multiple of {unit}")));
        }
        let pattern = fill.unwrap_or(0).to_le_bytes();
        self.emit_repeated(&pattern[..unit as usize], padding / unit, span)
    }

    fn org(&mut self, offset: Value, byte: u8, span: &Range<usize>) -> Result<()> {
        let (section, here) = self.here();
        let unknown = "the offset of `.org` must be known here, in this section";
        let base = match self.reduce(offset).map_err(|message| error(span.clone(), message))? {
            Reduced { plus: None, minus: None, constant, .. } => Some(constant as u64),
            Reduced { plus: Some(term), minus: None, constant, .. } => self
                .locate(term)
                .map(|place| self.in_section(place))
                .filter(|place| place.0 == section)
                .map(|place| place.1.wrapping_add(constant as u64)),
            // A distance to what comes later.
            _ => u64::try_from(self.count(offset, span.clone())).ok(),
        };
        let to = base.ok_or_else(|| error(span.clone(), unknown))?;
        match to.checked_sub(here) {
            Some(bytes) => self.emit_repeated(&[byte], bytes, span),
            None => Err(error(span.clone(), "`.org` cannot go backwards")
                .label(format!("the section has {here} bytes already"))),
        }
    }
}
