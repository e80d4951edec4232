//! Directives that move the current position: alignment and `.org`.

use crate::assembler::Assembler;
use crate::cursor::Cursor;
use crate::error::{Result, error};
use crate::expr::{Reduced, Value};
use crate::subsection::Part;
use std::ops::Range;

/// `s_nop 0`, with which code is padded.
pub(crate) const S_NOP: [u8; 4] = 0xbf80_0000u32.to_le_bytes();

/// A movement of the current position, by `.org` or by an alignment directive. In a subsection, how far it
/// moves is known only at the end of the source.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Move {
    /// No movement: a subsection begins.
    None,
    Align(Alignment),
    /// `.org`: moves to an offset, and fills with a byte.
    Org(Value, u8),
}

/// Alignment to a power of two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alignment {
    align: u64,
    /// Value of the padding bytes. If it is not given, the padding consists of zeros, and in code of `s_nop`
    /// instructions.
    fill: Option<i64>,
    /// Size of `fill` in bytes.
    unit: u64,
    /// Largest number of padding bytes. If the alignment would need more, the directive has no effect.
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
                self.move_or_defer(Move::Org(offset, byte as u8), span)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Handles `.p2align power[, fill[, most]]` and `.balign bytes[, ...]`.
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
        // The file is padded to the alignment as well.
        let more = align.saturating_sub(self.current().align);
        self.reserve(more, span)?;
        self.move_or_defer(Move::Align(alignment), span)
    }

    /// Moves now, or, in a subsection, when its offset is known.
    fn move_or_defer(&mut self, to: Move, span: &Range<usize>) -> Result<()> {
        if self.place.number == 0 {
            return self.make_move(to, span);
        }
        let part = Part { begin: to, span: self.span_of(span.clone()), section: self.sections.len() as u32 };
        self.add_part(self.place, part);
        self.section = part.section;
        Ok(())
    }

    /// Moves the position in the current section.
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
            // Padding in code consists of whole instructions. If its size is not a multiple of their size,
            // zeros come first.
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
            // The offset is a distance to a later label.
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
