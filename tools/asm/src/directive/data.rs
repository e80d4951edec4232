//! Directives that write data: numbers, strings, padding.

use crate::assembler::Assembler;
use crate::cursor::Cursor;
use crate::error::{Result, error};
use crate::expr::{Value, unknown};
use crate::number;
use crate::section::{Fixup, FixupKind};
use std::ops::Range;

impl Assembler {
    pub(super) fn data_directive(
        &mut self,
        cur: &mut Cursor,
        name: &str,
        span: &Range<usize>,
    ) -> Result<bool> {
        match name {
            ".byte" => self.integers(cur, 1)?,
            ".short" | ".2byte" | ".value" => self.integers(cur, 2)?,
            ".long" | ".int" | ".4byte" => self.integers(cur, 4)?,
            ".quad" | ".8byte" => self.integers(cur, 8)?,
            ".octa" => self.octa(cur)?,
            ".dc.b" => self.integers(cur, 1)?,
            ".dc" | ".dc.w" => self.integers(cur, 2)?,
            ".dc.l" => self.integers(cur, 4)?,
            ".dc.a" => self.integers(cur, 8)?,
            _ if name.starts_with(".dcb") || name.starts_with(".ds") => {
                return self.repeated_data(cur, name, span);
            }
            ".dc.s" => self.floats(cur, 4)?,
            ".dc.d" => self.floats(cur, 8)?,
            ".reloc" => self.reloc(cur, span)?,
            ".bundle_align_mode" => {
                if self.absolute(cur)? != 0 {
                    return Err(error(span.clone(), "bundles are not supported").label("0 turns them off"));
                }
            }
            ".line" => {
                cur.rest();
            }
            ".version" => self.version_note(cur, span)?,
            ".float" | ".single" => self.floats(cur, 4)?,
            ".double" => self.floats(cur, 8)?,
            ".ascii" => self.strings(cur, false)?,
            ".asciz" | ".string" => self.strings(cur, true)?,
            ".fill" => self.fill(cur, span)?,
            ".zero" | ".space" | ".skip" => self.space(cur, span)?,
            ".uleb128" => self.leb128(cur, false)?,
            ".sleb128" => self.leb128(cur, true)?,
            ".incbin" => self.incbin(cur, span)?,
            ".include" => self.include(cur, span)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Handles `.dcb.* count, value` and `.ds.* count`.
    fn repeated_data(&mut self, cur: &mut Cursor, name: &str, span: &Range<usize>) -> Result<bool> {
        let size: usize = match name {
            ".ds.p" | ".ds.x" => 12,
            ".dcb.b" | ".ds.b" => 1,
            ".dcb" | ".dcb.w" | ".ds" | ".ds.w" => 2,
            ".dcb.l" | ".dcb.s" | ".ds.l" | ".ds.s" => 4,
            ".dcb.d" | ".ds.d" => 8,
            _ => return Ok(false),
        };
        let count = u64::try_from(self.absolute(cur)?).unwrap_or(0);
        let mut bytes = [0; 12];
        if name.starts_with(".dcb") {
            cur.expect(b',')?;
            self.make_row();
            let value = match name {
                ".dcb.s" | ".dcb.d" => float(cur, size)?,
                _ => self.absolute(cur)?.to_le_bytes(),
            };
            bytes[..8].copy_from_slice(&value);
        }
        self.emit_repeated(&bytes[..size], count, span)?;
        Ok(true)
    }

    /// Appends bytes to the section.
    pub(crate) fn emit(&mut self, bytes: &[u8], span: &Range<usize>) -> Result<()> {
        self.reserve(bytes.len() as u64, span)?;
        self.make_row();
        let section = self.current();
        if section.has_contents() {
            section.data.extend_from_slice(bytes);
            return Ok(());
        }
        if bytes.iter().any(|&byte| byte != 0) {
            return Err(error(span.clone(), "data in a section without contents"));
        }
        section.virtual_size += bytes.len() as u64;
        Ok(())
    }

    /// Appends `count` copies of a pattern.
    pub(crate) fn emit_repeated(&mut self, pattern: &[u8], count: u64, span: &Range<usize>) -> Result<()> {
        let total = count.saturating_mul(pattern.len() as u64);
        self.reserve(total, span)?;
        let section = self.current();
        if !section.has_contents() {
            if pattern.iter().any(|&byte| byte != 0) {
                return Err(error(span.clone(), "data in a section without contents"));
            }
            section.virtual_size += total;
            return Ok(());
        }
        if let [byte] = pattern {
            section.data.resize(section.data.len() + total as usize, *byte);
            return Ok(());
        }
        for _ in 0..count {
            section.data.extend_from_slice(pattern);
        }
        Ok(())
    }

    /// Appends a value as `size` bytes. If the value is not known yet, appends zeros and a fixup, which fills
    /// in the value at the end.
    pub(crate) fn emit_value(&mut self, value: Value, size: u8, span: Range<usize>) -> Result<()> {
        // A difference of labels is known as soon as both labels are.
        if let Some(number) = self.known_number(value) {
            let bits = u32::from(size) * 8;
            let fits = bits == 64 || (-(1i64 << (bits - 1))..1i64 << bits).contains(&number);
            if !fits {
                return Err(error(span, format!("{number} does not fit {size} bytes")));
            }
            return self.emit(&number.to_le_bytes()[..usize::from(size)], &span);
        }
        self.register_used(value);
        let fixup_span = self.span_of(span.clone());
        let offset = self.here().1;
        if !self.current().has_contents() {
            return Err(error(span, "data in a section without contents"));
        }
        self.emit(&[0; 8][..usize::from(size)], &span)?;
        self.current().fixups.push(Fixup { offset, value, kind: FixupKind::Data(size), span: fixup_span });
        Ok(())
    }

    fn integers(&mut self, cur: &mut Cursor, size: u8) -> Result<()> {
        cur.blank();
        if cur.at_end() {
            return Ok(());
        }
        loop {
            cur.blank();
            let start = cur.pos;
            let value = self.expression(cur)?;
            self.emit_value(value, size, start..cur.pos)?;
            if !cur.eat(b',') {
                return Ok(());
            }
        }
    }

    /// Handles `.octa 0x...`: numbers of 16 bytes.
    fn octa(&mut self, cur: &mut Cursor) -> Result<()> {
        loop {
            cur.blank();
            let start = cur.pos;
            let value = octa(cur)?;
            self.emit(&value.to_le_bytes(), &(start..cur.pos))?;
            if !cur.eat(b',') {
                return Ok(());
            }
        }
    }

    /// Handles `.version "text"`, which writes a note.
    fn version_note(&mut self, cur: &mut Cursor, span: &Range<usize>) -> Result<()> {
        let mut text = cur.string()?;
        text.push(0);
        let mut note = Vec::new();
        note.extend_from_slice(&(text.len() as u32).to_le_bytes());
        note.extend_from_slice(&0u32.to_le_bytes());
        note.extend_from_slice(&1u32.to_le_bytes());
        note.extend_from_slice(&text);
        let id = self.section_named(".note", crate::section::elf::SHT_NOTE, 0);
        self.inside(id, |assembler| {
            let section = assembler.current();
            section.align = section.align.max(4);
            let end = section.data.len() + note.len();
            note.resize(note.len() + end.next_multiple_of(4) - end, 0);
            assembler.emit(&note, span)
        })
    }

    /// Handles `.reloc offset, R_AMDGPU_ABS32[, expression]`, which adds a relocation of the named type to
    /// the current section.
    fn reloc(&mut self, cur: &mut Cursor, span: &Range<usize>) -> Result<()> {
        cur.blank();
        let start = cur.pos;
        let offset = self.expression(cur)?;
        let reduced = self.reduce(offset).map_err(|message| error(start..cur.pos, message))?;
        let (part, base) = match reduced.plus.map(|term| self.locate(term)) {
            None => (self.place.section, 0),
            Some(Some((part, offset))) if self.section_of(part) == self.place.section => (part, offset),
            Some(_) => return Err(unknown(cur, start)),
        };
        let offset = base.wrapping_add(reduced.constant as u64);
        cur.expect(b',')?;
        cur.blank();
        let start = cur.pos;
        let name = cur.name().unwrap_or_default();
        let Some(kind) = codeobj::names::relocation_number(name) else {
            return Err(error(cur.span_from(start), format!("unknown relocation `{name}`")));
        };
        let value = if cur.eat(b',') { self.expression(cur)? } else { Value::Abs(0) };
        self.register_used(value);
        let fixup_span = self.span_of(span.clone());
        let fixup = Fixup { offset, value, kind: FixupKind::Given(kind), span: fixup_span };
        self.sections[part as usize].fixups.push(fixup);
        Ok(())
    }

    fn floats(&mut self, cur: &mut Cursor, size: usize) -> Result<()> {
        loop {
            cur.blank();
            let start = cur.pos;
            let bytes = float(cur, size)?;
            self.emit(&bytes[..size], &(start..cur.pos))?;
            if !cur.eat(b',') {
                return Ok(());
            }
        }
    }

    fn strings(&mut self, cur: &mut Cursor, zero: bool) -> Result<()> {
        cur.blank();
        if cur.at_end() {
            return Ok(());
        }
        loop {
            cur.blank();
            let start = cur.pos;
            let mut bytes = cur.string()?;
            cur.blank();
            match zero {
                true => bytes.push(0),
                // Adjacent strings are joined, if no zero byte ends them.
                false if cur.peek() == b'"' => {
                    self.emit(&bytes, &(start..cur.pos))?;
                    continue;
                }
                false => {}
            }
            self.emit(&bytes, &(start..cur.pos))?;
            if !cur.eat(b',') {
                return Ok(());
            }
        }
    }

    /// Handles `.fill repeat[, size[, value]]`.
    fn fill(&mut self, cur: &mut Cursor, span: &Range<usize>) -> Result<()> {
        let repeat = self.repetitions(cur)?;
        let size = if cur.eat(b',') { self.absolute(cur)? } else { 1 };
        let value = if cur.eat(b',') { self.absolute(cur)? } else { 0 };
        let Ok(repeat) = u64::try_from(repeat) else { return Ok(()) };
        if repeat > 0 {
            self.make_row();
        }
        // A negative size writes nothing.
        let size = usize::try_from(size).unwrap_or(0);
        // Sizes above 8 count as 8. Of the value, only the low 4 bytes are used, and the other bytes are
        // zero. GNU's assembler does the same.
        let mut pattern = [0; 8];
        pattern[..4].copy_from_slice(&(value as u32).to_le_bytes());
        match &pattern[..size.min(8)] {
            [] => Ok(()),
            pattern => self.emit_repeated(pattern, repeat, span),
        }
    }

    /// Handles `.space count[, byte]`.
    fn space(&mut self, cur: &mut Cursor, span: &Range<usize>) -> Result<()> {
        let count = self.repetitions(cur)?;
        let byte = if cur.eat(b',') { self.absolute(cur)? } else { 0 };
        match u64::try_from(count) {
            Ok(count) => self.emit_repeated(&[byte as u8], count, span),
            Err(_) => Err(error(span.clone(), "a negative size")),
        }
    }

    /// Reads a count, which may depend on later labels.
    fn repetitions(&mut self, cur: &mut Cursor) -> Result<i64> {
        cur.blank();
        let start = cur.pos;
        let value = self.expression(cur)?;
        Ok(self.count(value, start..cur.pos))
    }

    fn leb128(&mut self, cur: &mut Cursor, signed: bool) -> Result<()> {
        loop {
            cur.blank();
            let start = cur.pos;
            let value = self.expression(cur)?;
            let bytes = self.leb(value, signed, start..cur.pos);
            self.emit(&bytes, &(start..cur.pos))?;
            if !cur.eat(b',') {
                return Ok(());
            }
        }
    }
}

/// Reads a number of 16 bytes.
pub(super) fn octa(cur: &mut Cursor) -> Result<u128> {
    cur.blank();
    let start = cur.pos;
    let text = cur.rest_of_word();
    let digits = text.strip_prefix("0x").or(text.strip_prefix("0X"));
    let value = match digits {
        Some(digits) => u128::from_str_radix(digits, 16),
        None => text.parse(),
    };
    value.map_err(|_| error(cur.span_from(start), "a number of up to 128 bits is expected"))
}

/// Reads a float of 4 or 8 bytes: a number that is rounded once, infinity, or NaN. Returns its bits.
fn float(cur: &mut Cursor, size: usize) -> Result<[u8; 8]> {
    cur.blank();
    let start = cur.pos;
    let negative = cur.eat(b'-');
    let _ = !negative && cur.eat(b'+');
    cur.blank();
    let is_single = size == 4;
    let bits = if number::begins(cur) {
        number::float_bits(cur, is_single)?
    } else {
        match (cur.name().map(str::to_ascii_lowercase).as_deref(), is_single) {
            (Some("inf" | "infinity"), true) => f32::INFINITY.to_bits().into(),
            (Some("inf" | "infinity"), false) => f64::INFINITY.to_bits(),
            // LLVM uses the NaN in which every bit is set.
            (Some("nan"), true) => 0x7fff_ffff,
            (Some("nan"), false) => i64::MAX as u64,
            _ => return Err(error(cur.span_from(start), "expected a number")),
        }
    };
    let sign = u64::from(negative) << (size * 8 - 1);
    Ok((bits | sign).to_le_bytes())
}
