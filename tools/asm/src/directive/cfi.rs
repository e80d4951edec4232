//! Handles the `.cfi_*` directives, which describe call frames: how a debugger or unwinder finds the values
//! of the caller's registers at every position of a function.
//!
//! The directives are encoded as DWARF instructions when they are read, and stored with the code position to
//! which they belong. At the end, `frames` writes the instructions and positions as tables.

use crate::assembler::Assembler;
use crate::cursor::Cursor;
use crate::error::{Error, Result, error};
use crate::frames::{Frame, Pointer, Step};
use objwriter::frames::{DATA_UNIT, PC};
use objwriter::leb;
use objwriter::operations::*;
use std::ops::Range;

/// Directives that are allowed only inside a function.
const IN_FRAME: [&str; 21] = [
    "adjust_cfa_offset",
    "def_cfa",
    "def_cfa_offset",
    "def_cfa_register",
    "endproc",
    "escape",
    "label",
    "llvm_def_aspace_cfa",
    "lsda",
    "offset",
    "personality",
    "register",
    "rel_offset",
    "remember_state",
    "restore",
    "restore_state",
    "return_column",
    "same_value",
    "signal_frame",
    "undefined",
    "window_save",
];

/// Encoding of a pointer that is omitted.
const DW_EH_PE_OMIT: i64 = 0xff;

impl Assembler {
    pub(super) fn cfi_directive(
        &mut self,
        cur: &mut Cursor,
        name: &str,
        span: &Range<usize>,
    ) -> Result<bool> {
        let Some(what) = name.strip_prefix(".cfi_") else { return Ok(false) };
        match what {
            "sections" => self.cfi_sections(cur)?,
            "startproc" => self.begin_frame(cur, span)?,
            _ if !IN_FRAME.contains(&what) => return Ok(false),
            "endproc" => {
                let end = self.place_value();
                self.frame(span)?.end = end;
                self.frames.open.pop();
            }
            "personality" | "lsda" => {
                let pointer = self.cfi_pointer(cur)?;
                let frame = self.frame(span)?;
                let place = if what == "lsda" { &mut frame.lsda } else { &mut frame.personality };
                *place = pointer.or(place.take());
            }
            "signal_frame" => self.frame(span)?.is_signal = true,
            "return_column" => {
                let register = self.cfi_register(cur)?;
                self.frame(span)?.return_column = register;
            }
            "label" => {
                let name = cur.expect_name("a label")?.to_string();
                self.add_step(&[], Some(name), span)?;
            }
            _ => self.cfi_instruction(cur, what, span)?,
        }
        Ok(true)
    }

    /// Handles `.cfi_sections [.eh_frame][, .debug_frame]`.
    fn cfi_sections(&mut self, cur: &mut Cursor) -> Result<()> {
        (self.frames.for_unwinder, self.frames.for_debugger) = (false, false);
        cur.blank();
        while !cur.at_end() {
            match &*cur.expect_name("a section")? {
                ".eh_frame" => self.frames.for_unwinder = true,
                ".debug_frame" => self.frames.for_debugger = true,
                _ => {}
            }
            cur.blank();
            if !cur.at_end() {
                cur.expect(b',')?;
            }
        }
        Ok(())
    }

    /// Handles `.cfi_startproc [simple]`.
    fn begin_frame(&mut self, cur: &mut Cursor, span: &Range<usize>) -> Result<()> {
        cur.blank();
        let start = cur.pos;
        let is_simple = cur.name() == Some("simple");
        if !is_simple {
            cur.pos = start;
        }
        let section = self.place.section;
        if self.frames.present().is_some_and(|frame| frame.section == section) {
            return Err(error(span.clone(), "a call frame begins inside of another")
                .label("`.cfi_endproc` is missing before this"));
        }
        if self.frames.open.len() >= 1000 {
            return Err(error(span.clone(), "call frames are nested too deeply"));
        }
        let begin = self.place_value();
        let span = self.span_of(span.clone());
        self.frames.open.push(self.frames.list.len());
        self.frames.list.push(Frame::new(section, begin, is_simple, span));
        Ok(())
    }

    fn frame(&mut self, span: &Range<usize>) -> Result<&mut Frame> {
        self.frames.present().ok_or_else(|| outside(span))
    }

    /// Reads the operands `encoding, symbol` of a pointer. Returns `None` if the encoding says that there is
    /// no pointer.
    fn cfi_pointer(&mut self, cur: &mut Cursor) -> Result<Option<Pointer>> {
        cur.blank();
        let start = cur.pos;
        let encoding = self.absolute(cur)?;
        if encoding == DW_EH_PE_OMIT {
            return Ok(None);
        }
        // The low four bits of the encoding are the format of the number. The formats 0 to 4 and 8 to 12 are
        // accepted, without those of variable length. The other bits say that the pointer is absolute or
        // relative to its own position, and whether it is indirect.
        let is_known = encoding & !0xff == 0
            && matches!(encoding & 7, 0 | 2 | 3 | 4)
            && matches!(encoding & 0x70, 0 | 0x10);
        if !is_known {
            return Err(error(start..cur.pos, format!("a pointer cannot be encoded as {encoding:#x}")));
        }
        cur.expect(b',')?;
        let symbol = cur.expect_name("a symbol")?.to_string();
        Ok(Some(Pointer { encoding: encoding as u8, symbol }))
    }

    /// Reads a call frame instruction and adds it to the current function's frame, at the current position.
    fn cfi_instruction(&mut self, cur: &mut Cursor, what: &str, span: &Range<usize>) -> Result<()> {
        let cfa_offset = self.frame(span)?.cfa_offset;
        let mut out = Vec::new();
        let mut cfa_offset_now = cfa_offset;
        match what {
            "def_cfa" | "llvm_def_aspace_cfa" => {
                let register = self.cfi_register(cur)?;
                cfa_offset_now = self.cfi_operand(cur)?;
                let space = if what == "def_cfa" { None } else { Some(self.cfi_operand(cur)?) };
                let code = if space.is_none() { DW_CFA_DEF_CFA } else { DW_CFA_LLVM_DEF_ASPACE_CFA };
                with_register(&mut out, code, register);
                leb::unsigned(&mut out, cfa_offset_now as u64);
                space.into_iter().for_each(|space| leb::unsigned(&mut out, space as u64));
            }
            "def_cfa_offset" | "adjust_cfa_offset" => {
                let offset = self.absolute(cur)?;
                let base = if what == "def_cfa_offset" { 0 } else { cfa_offset };
                cfa_offset_now = base.wrapping_add(offset);
                out.push(DW_CFA_DEF_CFA_OFFSET);
                leb::unsigned(&mut out, cfa_offset_now as u64);
            }
            "offset" | "rel_offset" => {
                let register = self.cfi_register(cur)?;
                let offset = self.cfi_operand(cur)?;
                let base = if what == "offset" { 0 } else { cfa_offset };
                saved_at(&mut out, register, offset.wrapping_sub(base));
            }
            "register" => {
                let register = self.cfi_register(cur)?;
                cur.expect(b',')?;
                let other = self.cfi_register(cur)?;
                with_register(&mut out, DW_CFA_REGISTER, register);
                leb::unsigned(&mut out, other.into());
            }
            "def_cfa_register" => with_register(&mut out, DW_CFA_DEF_CFA_REGISTER, self.cfi_register(cur)?),
            "undefined" => with_register(&mut out, DW_CFA_UNDEFINED, self.cfi_register(cur)?),
            "same_value" => with_register(&mut out, DW_CFA_SAME_VALUE, self.cfi_register(cur)?),
            "restore" => match self.cfi_register(cur)? {
                register @ 0..64 => out.push(DW_CFA_RESTORE | register as u8),
                register => with_register(&mut out, DW_CFA_RESTORE_EXTENDED, register),
            },
            "remember_state" => out.push(DW_CFA_REMEMBER_STATE),
            "restore_state" => out.push(DW_CFA_RESTORE_STATE),
            "window_save" => out.push(DW_CFA_GNU_WINDOW_SAVE),
            _ => self.cfi_escape(cur, &mut out)?,
        }
        self.frame(span)?.cfa_offset = cfa_offset_now;
        self.add_step(&out, None, span)
    }

    fn add_step(&mut self, instructions: &[u8], label: Option<String>, span: &Range<usize>) -> Result<()> {
        let step = Step { place: self.place_value(), begin: 0, label, span: self.span_of(span.clone()) };
        let frame = self.frame(span)?;
        frame.steps.push(Step { begin: frame.instructions.len(), ..step });
        frame.instructions.extend_from_slice(instructions);
        Ok(())
    }

    /// Reads `.cfi_escape byte[, ...]`: encoded instructions.
    fn cfi_escape(&mut self, cur: &mut Cursor, out: &mut Vec<u8>) -> Result<()> {
        loop {
            out.push(self.absolute(cur)? as u8);
            if !cur.eat(b',') {
                return Ok(());
            }
        }
    }

    /// Reads a number after a comma.
    fn cfi_operand(&mut self, cur: &mut Cursor) -> Result<i64> {
        cur.expect(b',')?;
        self.absolute(cur)
    }

    /// Reads a register: its name, or its DWARF number.
    fn cfi_register(&mut self, cur: &mut Cursor) -> Result<u32> {
        cur.blank();
        let start = cur.pos;
        if cur.peek().is_ascii_digit() {
            return Ok(self.absolute(cur)? as u32);
        }
        if cur.name() == Some("pc") {
            return Ok(PC);
        }
        cur.pos = start;
        self.dwarf_register(cur)
    }
}

fn outside(span: &Range<usize>) -> Error {
    error(span.clone(), "no call frame is open").label("belongs between `.cfi_startproc` and `.cfi_endproc`")
}

fn with_register(out: &mut Vec<u8>, code: u8, register: u32) {
    out.push(code);
    leb::unsigned(out, register.into());
}

/// Appends the call frame instruction which says that a register was saved at `offset` bytes from the
/// canonical frame address (CFA).
fn saved_at(out: &mut Vec<u8>, register: u32, offset: i64) {
    match (offset / DATA_UNIT, register) {
        (units @ ..0, _) => {
            with_register(out, DW_CFA_OFFSET_EXTENDED_SF, register);
            leb::signed(out, units);
        }
        (units, 0..64) => {
            out.push(DW_CFA_OFFSET | register as u8);
            leb::unsigned(out, units as u64);
        }
        (units, _) => {
            with_register(out, DW_CFA_OFFSET_EXTENDED, register);
            leb::unsigned(out, units as u64);
        }
    }
}
