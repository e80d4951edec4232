//! Writes `.eh_frame` and `.debug_frame`: the contents of `.cfi_*` directives as tables for unwinders and
//! debuggers.
//!
//! Each entry of a table describes a function and refers to a header. Entries that agree in the contents of
//! their headers share one header, which is written before them. Therefore entries are sorted so that those
//! with the same header follow each other.
//!
//! # Source
//! DWARF 5, 6.4 (call frames); Linux Standard Base 5.0, 10.6 (`.eh_frame`).

use crate::assembler::Assembler;
use crate::error::{Result, error};
use crate::expr::{Binary, Specifier, Value};
use crate::section::elf;
use objwriter::frames::{CODE_UNIT, DATA_UNIT, PC, advance, header};
use std::ops::Range;

/// Encoding of pointers in `.eh_frame`: a signed number of four bytes, relative to its own position.
const DW_EH_PE_PCREL_SDATA4: u8 = 0x1b;
const ADDRESS_SIZE: u8 = 8;

/// Contents of the directives.
pub(crate) struct Frames {
    /// Whether `.eh_frame` is requested.
    pub for_unwinder: bool,
    /// Whether `.debug_frame` is requested.
    pub for_debugger: bool,
    pub list: Vec<Frame>,
    /// Indices into `list` of the frames that have not ended yet.
    pub open: Vec<usize>,
}

impl Frames {
    /// Returns the frame to which directives apply.
    pub fn present(&mut self) -> Option<&mut Frame> {
        self.list.get_mut(*self.open.last()?)
    }
}

impl Default for Frames {
    fn default() -> Frames {
        Frames { for_unwinder: true, for_debugger: false, list: Vec::new(), open: Vec::new() }
    }
}

/// The call frame information of one function, from `.cfi_startproc` to `.cfi_endproc`.
pub(crate) struct Frame {
    pub section: u32,
    begin: Value,
    pub end: Value,
    pub personality: Option<Pointer>,
    pub lsda: Option<Pointer>,
    pub is_signal: bool,
    is_simple: bool,
    pub return_column: u32,
    /// Current offset of the CFA from its register.
    pub cfa_offset: i64,
    pub instructions: Vec<u8>,
    pub steps: Vec<Step>,
    span: (u32, u32),
}

/// A symbol to which a frame table refers, and the encoding of this reference. The symbol becomes part of the
/// object only if the table is written.
pub(crate) struct Pointer {
    pub encoding: u8,
    pub symbol: String,
}

/// Call frame instructions, and the code position from which they apply. The instructions begin at `begin` in
/// the bytes that are stored for the function.
pub(crate) struct Step {
    pub place: Value,
    pub begin: usize,
    /// Name for the position of the instructions in the table.
    pub label: Option<String>,
    pub span: (u32, u32),
}

/// Kind of table.
#[derive(Clone, Copy, PartialEq)]
enum Table {
    Unwinder,
    Debugger,
}

impl Frame {
    /// Returns everything that the header of an entry contains. Entries with equal results share one header.
    fn header_key(&self) -> (Option<&str>, u8, u8, bool, bool, u32) {
        let encoding = |pointer: &Option<Pointer>| pointer.as_ref().map_or(0, |pointer| pointer.encoding);
        (
            self.personality.as_ref().map(|pointer| pointer.symbol.as_str()),
            encoding(&self.personality),
            encoding(&self.lsda),
            self.is_signal,
            self.is_simple,
            self.return_column,
        )
    }

    pub fn new(section: u32, begin: Value, is_simple: bool, span: (u32, u32)) -> Frame {
        Frame {
            section,
            begin,
            end: begin,
            personality: None,
            lsda: None,
            is_signal: false,
            is_simple,
            // This value sorts after every number.
            return_column: u32::MAX,
            cfa_offset: 0,
            instructions: Vec::new(),
            steps: Vec::new(),
            span,
        }
    }
}

impl Assembler {
    /// Writes the tables, if there are any frames.
    pub(crate) fn write_frames(&mut self) {
        let mut frames = std::mem::take(&mut self.frames);
        for open in frames.open.drain(..).filter_map(|open| frames.list.get(open)) {
            let span = open.span.0 as usize..open.span.1 as usize;
            self.report_placed(error(span, "the call frame has no end").label("`.cfi_endproc` is missing"));
        }
        if frames.list.is_empty() {
            return;
        }
        frames.list.sort_by(|a, b| a.header_key().cmp(&b.header_key()));
        if frames.for_unwinder {
            self.write_table(".eh_frame", elf::SHF_ALLOC, Table::Unwinder, &frames.list);
        }
        if frames.for_debugger {
            self.write_table(".debug_frame", 0, Table::Debugger, &frames.list);
        }
    }

    fn write_table(&mut self, name: &str, flags: u64, table: Table, frames: &[Frame]) {
        let section = self.section_named(name, elf::SHT_PROGBITS, flags);
        self.inside(section, |assembler| {
            let section = assembler.current();
            section.align = section.align.max(ADDRESS_SIZE.into());
            let mut header = None;
            for (n, frame) in frames.iter().enumerate() {
                let is_last = n + 1 == frames.len();
                let before = n.checked_sub(1).and_then(|n| frames.get(n));
                // Debuggers use the first header for all entries.
                let is_shared = before.is_some_and(|before| {
                    table == Table::Debugger || before.header_key() == frame.header_key()
                });
                if !is_shared {
                    header = None;
                }
                if let Err(mistake) = assembler.write_frame(table, frame, &mut header, is_last) {
                    assembler.report_placed(mistake);
                }
            }
            // An `.eh_frame` table ends with an empty record. In a relocatable object, this record is left to
            // the linker.
            if table == Table::Unwinder
                && !assembler.settings.relocatable
                && let Err(mistake) = assembler.emit(&[0; 4], &(0..0))
            {
                assembler.report_placed(mistake);
            }
        });
    }

    fn write_frame(
        &mut self,
        table: Table,
        frame: &Frame,
        header: &mut Option<u64>,
        is_last: bool,
    ) -> Result<()> {
        let at = match *header {
            Some(at) => at,
            None => {
                let at = self.here().1;
                self.write_header(table, frame)?;
                *header.insert(at)
            }
        };
        let span = frame.span.0 as usize..frame.span.1 as usize;
        let start = self.here().1;
        self.emit(&[0; 4], &span)?;
        let size = match table {
            Table::Unwinder => {
                let distance = (start + 4 - at) as u32;
                self.emit(&distance.to_le_bytes(), &span)?;
                self.write_relative(frame.begin, 4, &span)?;
                4
            }
            Table::Debugger => {
                let header = self.place_node(self.section, at);
                self.emit_value(header, 4, span.clone())?;
                self.emit_value(frame.begin, ADDRESS_SIZE, span.clone())?;
                ADDRESS_SIZE
            }
        };
        let length = self.distance_of(frame.begin, frame.end);
        let length = length.ok_or_else(|| error(span.clone(), "the call frame ends in another section"))?;
        self.emit(&length.to_le_bytes()[..size.into()], &span)?;
        if table == Table::Unwinder {
            self.emit(&[frame.lsda.as_ref().map_or(0, Pointer::size)], &span)?;
            if let Some(pointer) = &frame.lsda {
                self.write_pointer(pointer, &span)?;
            }
        }
        self.write_instructions(frame)?;
        // The last record is padded to the alignment of the section. Without the padding, a reader that
        // aligns sections would find zeros after the record and take them for the end of the table.
        let align = if table == Table::Debugger || is_last { ADDRESS_SIZE } else { 4 };
        self.close_record(start, align, &span)
    }

    fn write_header(&mut self, table: Table, frame: &Frame) -> Result<()> {
        let span = frame.span.0 as usize..frame.span.1 as usize;
        let start = self.here().1;
        let column = if frame.return_column == u32::MAX { PC } else { frame.return_column };
        let mut out = vec![0; 4];
        match table {
            Table::Unwinder => {
                out.extend_from_slice(&[0, 0, 0, 0, 1, b'z']);
                out.extend(frame.personality.as_ref().map(|_| b'P'));
                out.extend(frame.lsda.as_ref().map(|_| b'L'));
                out.push(b'R');
                out.extend(frame.is_signal.then_some(b'S'));
                out.extend_from_slice(&[0, CODE_UNIT as u8, DATA_UNIT as u8, column as u8]);
                let personality = frame.personality.as_ref().map_or(0, |pointer| 1 + pointer.size());
                out.push(1 + personality + u8::from(frame.lsda.is_some()));
                out.extend(frame.personality.as_ref().map(|pointer| pointer.encoding));
            }
            Table::Debugger => header(&mut out, "", column),
        }
        self.emit(&out, &span)?;
        if table == Table::Debugger {
            return self.close_record(start, ADDRESS_SIZE, &span);
        }
        if let Some(pointer) = &frame.personality {
            self.write_pointer(pointer, &span)?;
        }
        if let Some(pointer) = &frame.lsda {
            self.emit(&[pointer.encoding], &span)?;
        }
        self.emit(&[DW_EH_PE_PCREL_SDATA4], &span)?;
        self.close_record(start, 4, &span)
    }

    fn write_instructions(&mut self, frame: &Frame) -> Result<()> {
        let mut place = frame.begin;
        let ends = frame.steps.iter().skip(1).map(|step| step.begin).chain([frame.instructions.len()]);
        for (step, end) in frame.steps.iter().zip(ends) {
            let span = step.span.0 as usize..step.span.1 as usize;
            let distance = self.distance_of(place, step.place).filter(|&distance| distance >= 0);
            let distance =
                distance.ok_or_else(|| error(span.clone(), "the place is not in the call frame's code"))?;
            let mut out = Vec::new();
            advance(&mut out, distance as u64 / CODE_UNIT);
            self.emit(&out, &span)?;
            if let Some(label) = &step.label {
                self.define_label(label, span.clone())?;
            }
            self.emit(frame.instructions.get(step.begin..end).unwrap_or_default(), &span)?;
            place = step.place;
        }
        Ok(())
    }

    /// Pads a record of a frame table with instructions that do nothing, and fills in the record's length.
    fn close_record(&mut self, start: u64, align: u8, span: &Range<usize>) -> Result<()> {
        let padding = self.here().1.next_multiple_of(align.into()) - self.here().1;
        self.emit(&[0; 8][..padding as usize], span)?;
        self.fill_in_length(start);
        Ok(())
    }

    fn write_pointer(&mut self, pointer: &Pointer, span: &Range<usize>) -> Result<()> {
        let id = self.symbols.get_or_add(&pointer.symbol, span.start);
        let value = self.symbol_node(id, Specifier::None);
        match pointer.encoding & 0x70 {
            0x10 => self.write_relative(value, pointer.size(), span),
            _ => self.emit_value(value, pointer.size(), span.clone()),
        }
    }

    /// Writes a value relative to its own position.
    fn write_relative(&mut self, value: Value, size: u8, span: &Range<usize>) -> Result<()> {
        let here = self.place_value();
        let value = self.binary(Binary::Sub, value, here).map_err(|message| error(span.clone(), message))?;
        self.emit_value(value, size, span.clone())
    }

    /// Returns the number of bytes between two positions, if they are in the same section.
    pub(crate) fn distance_of(&mut self, from: Value, to: Value) -> Option<i64> {
        let distance = self.binary(Binary::Sub, to, from).ok()?;
        self.known_number(distance)
    }
}

impl Pointer {
    fn size(&self) -> u8 {
        match self.encoding & 7 {
            2 => 2,
            3 => 4,
            _ => 8,
        }
    }
}
