//! Sizes that are known only at the end of the text. Examples are the size of `.uleb128 end - begin` before
//! the label `end:`, and the count of `.fill end - begin`.
//!
//! The text is read with minimum sizes first, and then again with the sizes that the last reading found,
//! until the sizes do not change. A LEB128 number keeps the largest size that it ever had, as in LLVM, so
//! that sizes cannot oscillate.

use crate::assembler::Assembler;
use crate::error::error;
use crate::expr::{Reduced, Value};
use objwriter::leb;

/// Largest number of times that the source is read. If that is not enough, some size depends on itself.
const MAX_READINGS: u32 = 64;

/// Use of the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// LEB128 number.
    Leb { signed: bool },
    /// Number of repetitions.
    Count,
}

/// Number that is assumed for a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    number: i64,
    /// Size of the LEB128 number in bytes.
    width: usize,
}

impl Size {
    const SMALLEST: Size = Size { number: 0, width: 1 };

    /// Returns the LEB128 number, padded to the assumed size.
    fn leb(self, signed: bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        match signed {
            true => leb::signed(&mut bytes, self.number),
            false => leb::unsigned(&mut bytes, self.number as u64),
        }
        let more = if signed && self.number < 0 { 0x7f } else { 0 };
        while bytes.len() < self.width {
            *bytes.last_mut().expect("a byte") |= 0x80;
            bytes.push(more);
        }
        bytes
    }
}

/// Numbers that are not known at the directives that use them.
#[derive(Default)]
pub(crate) struct Late {
    /// The sizes that the previous reading of the source found, by the number of the directive in the source.
    sizes: Vec<Size>,
    /// The directives of this reading whose size is known only at the end. Each has the expression for a
    /// number, what the number means (such as a size or a count), and the position for messages.
    asked: Vec<(Value, Use, (u32, u32))>,
    /// Whether a result differs from the assumption.
    pub changed: bool,
    readings: u32,
}

impl Late {
    /// Returns the state for another reading of the same text.
    pub fn next_reading(self) -> Late {
        Late { asked: Vec::new(), changed: false, readings: self.readings + 1, ..self }
    }
}

impl Assembler {
    fn late_size(&mut self, value: Value, usage: Use, span: (u32, u32)) -> Size {
        let size = self.late.sizes.get(self.late.asked.len()).copied().unwrap_or(Size::SMALLEST);
        self.late.asked.push((value, usage, span));
        size
    }

    /// Returns the bytes of a LEB128 number.
    pub(crate) fn leb(&mut self, value: Value, signed: bool, span: std::ops::Range<usize>) -> Vec<u8> {
        let size = match self.known_number(value) {
            Some(number) => Size { number, width: 1 },
            None => {
                let span = self.span_of(span);
                self.late_size(value, Use::Leb { signed }, span)
            }
        };
        size.leb(signed)
    }

    /// Returns a number of repetitions.
    pub(crate) fn count(&mut self, value: Value, span: std::ops::Range<usize>) -> i64 {
        self.known_number(value).unwrap_or_else(|| {
            let span = self.span_of(span);
            self.late_size(value, Use::Count, span).number
        })
    }

    /// Evaluates the expressions for the sizes. To be called at the end of a reading, when all labels are
    /// defined.
    pub(crate) fn resolve_late_sizes(&mut self) {
        let asked = std::mem::take(&mut self.late.asked);
        let before = std::mem::take(&mut self.late.sizes);
        let mut sizes = Vec::with_capacity(asked.len());
        let mut changed = None;
        for (at, &(value, usage, span)) in asked.iter().enumerate() {
            let before = before.get(at).copied().unwrap_or(Size::SMALLEST);
            let size = match self.late_value(value, usage, before) {
                Ok(size) => size,
                Err(message) => return self.report_late(message, span),
            };
            if size != before {
                changed.get_or_insert(span);
            }
            sizes.push(size);
        }
        match changed {
            Some(span) if self.late.readings >= MAX_READINGS => {
                self.report_late("the size of this depends on itself", span);
            }
            _ => self.late.changed = changed.is_some(),
        }
        self.late.sizes = sizes;
    }

    fn report_late(&mut self, message: &str, span: (u32, u32)) {
        self.report_placed(error(span.0 as usize..span.1 as usize, message));
    }

    fn late_value(&self, value: Value, usage: Use, before: Size) -> Result<Size, &'static str> {
        let Reduced { plus: None, minus: None, constant: number, .. } = self.reduce(value)? else {
            return Err("the expression is no number, at the end of the text either");
        };
        match usage {
            Use::Count if number < 0 => Err("a negative size"),
            Use::Count => Ok(Size { number, width: 1 }),
            Use::Leb { signed } => {
                let width = Size { number, width: before.width }.leb(signed).len();
                Ok(Size { number, width })
            }
        }
    }
}
