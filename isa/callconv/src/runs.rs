//! Joins consecutive pieces of a value.

use crate::assign::{Form, Piece, Place};
use std::fmt;

/// A run is a sequence of pieces that follow each other both in the value and in registers or on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Offset of the first byte in the value's memory image.
    pub offset: u32,
    /// Number of bytes in the memory image.
    pub bytes: u32,
    /// Place of the first dword.
    pub place: Place,
    /// Number of dwords.
    pub dwords: u32,
    /// Number of bits of the last dword that belong to the value.
    pub bits: u8,
    /// Contents of the other bits.
    pub form: Form,
}

/// Joins the pieces of a value into runs, so that, for example, four registers are described as `v[0:3]`.
/// Pieces of the same dword are joined first, then full dwords that follow each other.
pub fn runs(pieces: &[Piece]) -> Vec<Run> {
    let mut dwords: Vec<Run> = Vec::new();
    for piece in pieces {
        let Piece { offset, bits, place, form, .. } = *piece;
        let bytes = u32::from(bits).div_ceil(8);
        match dwords.last_mut() {
            Some(run) if run.place == place && run.bits == piece.shift && run.ends_at(offset) => {
                run.bytes += bytes;
                run.bits += bits;
            }
            _ => dwords.push(Run { offset, bytes, place, dwords: 1, bits, form }),
        }
    }
    let mut out: Vec<Run> = Vec::new();
    for dword in dwords {
        match out.last_mut() {
            Some(run)
                if run.is_full()
                    && dword.is_full()
                    && run.ends_at(dword.offset)
                    && run.next() == dword.place =>
            {
                run.bytes += dword.bytes;
                run.dwords += 1;
            }
            _ => out.push(dword),
        }
    }
    out
}

impl Run {
    fn is_full(&self) -> bool {
        self.bits == 32 && self.form == Form::Bits
    }

    fn ends_at(&self, offset: u32) -> bool {
        self.offset + self.bytes == offset
    }

    /// Returns the place after the run.
    fn next(&self) -> Place {
        let dwords = self.dwords;
        match self.place {
            Place::Vgpr(reg) => Place::Vgpr(reg + dwords as u16),
            Place::Sgpr(reg) => Place::Sgpr(reg + dwords as u16),
            Place::Stack(at) => Place::Stack(at.saturating_add(4 * dwords)),
        }
    }

    /// Returns the registers or stack bytes that a run occupies, as text: `v0`, `v[0:3]`, `stack+8`.
    pub fn registers(&self) -> String {
        let last = self.dwords.saturating_sub(1);
        match (self.place, last) {
            (Place::Vgpr(from), 1..) => format!("v[{from}:{}]", u32::from(from) + last),
            (Place::Sgpr(from), 1..) => format!("s[{from}:{}]", u32::from(from) + last),
            (place, _) => place.to_string(),
        }
    }

    /// Describes in words what the last dword of the run contains besides the value. Returns an empty text if
    /// the value fills the dword.
    pub fn rest(&self) -> String {
        match self.form {
            Form::Signed => "sign-extended".into(),
            Form::Unsigned => "zero-extended".into(),
            Form::HalfAsSingle => "as `f32`".into(),
            Form::UpperHalf => "in the upper half".into(),
            Form::Bits if self.bits == 1 => "in bit 0".into(),
            Form::Bits if self.bits < 32 => format!("in the low {} bits", self.bits),
            Form::Bits => String::new(),
        }
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rest = self.rest();
        write!(f, "{}{}{rest}", self.registers(), if rest.is_empty() { "" } else { " " })
    }
}
