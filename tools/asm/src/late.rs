//! Sizes that only the end of the text tells: of `.uleb128 end - begin` before `end:`, of `.fill end - begin`.
//!
//! The text is read with the smallest of them first, and again with those that came out, until they are what they were
//! taken for. A LEB128 number keeps the most bytes that it ever had, as LLVM's do, so that it cannot go to and fro.

use crate::assembler::Assembler;
use crate::error::error;
use crate::expr::{Reduced, Value};
use objwriter::leb;

/// More readings than that are taken for a size that depends on itself.
const MAX_READINGS: u32 = 64;

/// What is made of the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// A LEB128 number.
    Leb { signed: bool },
    /// How often something is repeated.
    Count,
}

/// What is taken for the number of a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    number: i64,
    /// Bytes of the LEB128 number.
    width: usize,
}

impl Size {
    const SMALLEST: Size = Size { number: 0, width: 1 };

    /// The LEB128 number in as many bytes as are taken for it.
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

/// The numbers that are not known where they stand.
#[derive(Default)]
pub(crate) struct Late {
    /// What the readings before found, by the number of the directive.
    sizes: Vec<Size>,
    /// The directives of this reading: expression, use, place.
    asked: Vec<(Value, Use, (u32, u32))>,
    /// Whether what came out is not what was taken.
    pub changed: bool,
    readings: u32,
}

impl Late {
    /// For one more reading of the same text.
    pub fn again(self) -> Late {
        Late { asked: Vec::new(), changed: false, readings: self.readings + 1, ..self }
    }
}

impl Assembler {
    fn late_size(&mut self, value: Value, usage: Use, span: (u32, u32)) -> Size {
        let size = self.late.sizes.get(self.late.asked.len()).copied().unwrap_or(Size::SMALLEST);
        self.late.asked.push((value, usage, span));
        size
    }

    /// The bytes of a LEB128 number.
    pub(crate) fn leb(&mut self, value: Value, signed: bool, span: std::ops::Range<usize>) -> Vec<u8> {
        let size = match self.known(value) {
            Some(number) => Size { number, width: 1 },
            None => {
                let span = self.span_of(span);
                self.late_size(value, Use::Leb { signed }, span)
            }
        };
        size.leb(signed)
    }

    /// How often something is repeated.
    pub(crate) fn count(&mut self, value: Value, span: std::ops::Range<usize>) -> i64 {
        self.known(value).unwrap_or_else(|| {
            let span = self.span_of(span);
            self.late_size(value, Use::Count, span).number
        })
    }

    /// Evaluates the numbers now that all labels are there.
    pub(crate) fn settle_late(&mut self) {
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
