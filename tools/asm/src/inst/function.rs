//! Operands with a syntax of their own: `hwreg()`, `sendmsg()`, `gpr_idx()`, `swizzle()`, the counters of
//! `s_waitcnt`.

use super::Instructions;
use super::operand::{Arg, ArgValue};
use crate::assembler::Assembler;
use crate::cursor::{Cursor, begins_name};
use crate::error::{Result, error};
use isa::Target;
use isa::names::{MSG_GS, MSG_GS_DONE, MSG_SYSMSG};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Names of the hardware registers and messages of a processor.
///
/// The names are found by printing: the instruction printer prints every possible value, and the name that
/// appears is recorded with the value. So the printer has the only table of names.
pub(super) struct Names {
    registers: FxHashMap<Box<str>, u8>,
    messages: FxHashMap<Box<str>, u8>,
    operations: FxHashMap<(u8, Box<str>), u8>,
}

impl Names {
    fn new(target: &'static Target) -> Names {
        let mut names = Names {
            registers: isa::names::hw_registers(target).map(|row| (row.name.into(), row.id as u8)).collect(),
            messages: FxHashMap::default(),
            operations: FxHashMap::default(),
        };
        for message in isa::names::messages(target) {
            let id = message.id as u8;
            names.messages.insert(message.name.into(), id);
            for row in isa::names::operations(target, message.id) {
                names.operations.insert((id, row.name.into()), row.id as u8);
            }
        }
        names
    }
}

/// Returns whether the operand of the instruction named `name` is a list of wait counters.
pub(super) fn is_waitcnt(name: &str) -> bool {
    matches!(name, "s_waitcnt" | "s_waitcnt_depctr")
}

impl Assembler {
    /// Returns the operand for which a call such as `hwreg(...)` stands. The cursor is at `(`. Returns `None`
    /// if `name` is not such a function.
    pub(super) fn function(
        &mut self,
        known: &mut Instructions,
        cur: &mut Cursor,
        name: &str,
        start: usize,
    ) -> Result<Option<u16>> {
        cur.pos += 1;
        let value = match name {
            "hwreg" => self.hwreg(known, cur)?,
            "sendmsg" => self.sendmsg(known, cur)?,
            "gpr_idx" => self.gpr_idx(cur)?,
            _ => {
                cur.pos = start + name.len();
                return Ok(None);
            }
        };
        cur.expect(b')')?;
        Ok(Some(value))
    }

    /// Reads a name that `find` knows, or a number.
    fn named_number(
        &mut self,
        cur: &mut Cursor,
        find: impl Fn(&str) -> Option<u8>,
    ) -> Result<(i64, Range<usize>)> {
        cur.blank();
        let start = cur.pos;
        if let Some(name) = cur.name() {
            if let Some(value) = find(name) {
                return Ok((i64::from(value), start..cur.pos));
            }
            cur.pos = start;
        }
        let value = self.absolute(cur)?;
        Ok((value, start..cur.pos))
    }

    fn hwreg(&mut self, known: &mut Instructions, cur: &mut Cursor) -> Result<u16> {
        let names = known.functions.get_or_insert_with(|| Names::new(known.target));
        let (id, span) = self.named_number(cur, |name| names.registers.get(name).copied())?;
        let id = field(id, 0, 63, span)?;
        if !cur.eat(b',') {
            return Ok(id | 31 << 11);
        }
        let (offset, span) = self.named_number(cur, |_| None)?;
        let offset = field(offset, 0, 31, span)?;
        cur.expect(b',')?;
        let (width, span) = self.named_number(cur, |_| None)?;
        let width = field(width, 1, 32, span)?;
        Ok(id | offset << 6 | (width - 1) << 11)
    }

    fn sendmsg(&mut self, known: &mut Instructions, cur: &mut Cursor) -> Result<u16> {
        let names = known.functions.get_or_insert_with(|| Names::new(known.target));
        let (id, span) = self.named_number(cur, |name| names.messages.get(name).copied())?;
        let id = field(id, 0, 15, span.clone())?;
        // A message that is given by number is not checked.
        let is_named = begins_name(cur.text.as_bytes()[span.start]);
        let (first, count) = operations(id);
        if !cur.eat(b',') {
            return match is_named && count > 0 {
                true => Err(error(span, "the message needs an operation")),
                false => Ok(id),
            };
        }
        let find = |name: &str| names.operations.get(&(id as u8, name.into())).copied();
        let (operation, span) = self.named_number(cur, find)?;
        let operation = field(operation, 0, 7, span.clone())?;
        if is_named && !(first..first + count).contains(&operation) {
            return Err(error(span, "the message has no such operation"));
        }
        let mut stream = 0;
        if cur.eat(b',') {
            let (value, span) = self.named_number(cur, |_| None)?;
            stream = field(value, 0, 3, span.clone())?;
            if is_named && (id == 15 || operation == 0) {
                return Err(error(span, "the operation has no streams"));
            }
        }
        Ok(id | operation << 4 | stream << 8)
    }

    /// Reads `{id: 1, offset: 0, size: 32}`, in any order. The cursor is at `{`.
    pub(super) fn hwreg_fields(&mut self, known: &mut Instructions, cur: &mut Cursor) -> Result<u16> {
        let names = known.functions.get_or_insert_with(|| Names::new(known.target));
        cur.pos += 1;
        let (mut id, mut offset, mut width, mut seen) = (0, 0, 32, 0);
        while !cur.eat(b'}') {
            cur.blank();
            let start = cur.pos;
            let name = cur.name().unwrap_or_default();
            let Some(n) = ["id", "offset", "size"].iter().position(|key| *key == name) else {
                return Err(error(cur.span_from(start), "expected `id`, `offset` or `size`"));
            };
            if seen >> n & 1 != 0 {
                return Err(error(cur.span_from(start), format!("`{name}` is given twice")));
            }
            seen |= 1 << n;
            cur.expect(b':')?;
            let (value, span) =
                self.named_number(cur, |name| names.registers.get(name).copied().filter(|_| n == 0))?;
            match n {
                0 => id = field(value, 0, 63, span)?,
                1 => offset = field(value, 0, 31, span)?,
                _ => width = field(value, 1, 32, span)?,
            }
            cur.blank();
            if cur.peek() != b'}' {
                cur.expect(b',')?;
            }
        }
        Ok(id | offset << 6 | (width - 1) << 11)
    }

    fn gpr_idx(&mut self, cur: &mut Cursor) -> Result<u16> {
        let mut bits = 0;
        cur.blank();
        while cur.peek() != b')' {
            cur.blank();
            let start = cur.pos;
            let name = cur.name().unwrap_or_default();
            let bit = ["SRC0", "SRC1", "SRC2", "DST"].iter().position(|text| *text == name);
            let Some(bit) = bit else {
                return Err(error(cur.span_from(start), "expected SRC0, SRC1, SRC2 or DST"));
            };
            if bits >> bit & 1 != 0 {
                return Err(error(cur.span_from(start), format!("{name} is given twice")));
            }
            bits |= 1 << bit;
            if !cur.eat(b',') {
                break;
            }
        }
        Ok(bits)
    }

    /// Reads the counters of `s_waitcnt`, such as `vmcnt(0) & lgkmcnt(0)` with optional separators, or a
    /// plain number.
    pub(super) fn waitcnt_operand(
        &mut self,
        known: &mut Instructions,
        cur: &mut Cursor,
        name: &str,
    ) -> Result<()> {
        if name == "s_waitcnt_depctr" {
            return self.depctr_operand(known, cur);
        }
        let target = known.target;
        let start = cur.pos;
        let mut counts = target.unpack_waitcnt(target.waitcnt(u8::MAX, u8::MAX, u8::MAX));
        let mut any = false;
        loop {
            cur.blank();
            if cur.at_end() {
                break;
            }
            let at = cur.pos;
            let name = cur.name().unwrap_or_default();
            cur.blank();
            if cur.peek() != b'(' {
                if any {
                    return Err(error(at..cur.pos.max(at + 1), "expected `vmcnt(`, `expcnt(` or `lgkmcnt(`"));
                }
                cur.pos = start;
                let value = self.absolute(cur)?;
                return self.push_waitcnt(known, cur, start, value as u16);
            }
            cur.pos += 1;
            let value = self.absolute(cur)?;
            cur.expect(b')')?;
            let (stem, saturates) = match name.strip_suffix("_sat") {
                Some(stem) => (stem, true),
                None => (name, false),
            };
            let (count, max) = match stem {
                "vmcnt" => (&mut counts.vm, target.max_vmcnt),
                "expcnt" => (&mut counts.exp, target.max_expcnt),
                "lgkmcnt" => (&mut counts.lgkm, target.max_lgkmcnt),
                _ => {
                    return Err(error(at..at + name.len().max(1), format!("unknown counter `{name}`"))
                        .label("expected vmcnt, expcnt or lgkmcnt"));
                }
            };
            *count = match u8::try_from(value) {
                Ok(value) if value <= max => value,
                _ if saturates && value >= 0 => max,
                _ => {
                    return Err(error(at..cur.pos, format!("too large a value for {stem}"))
                        .label(format!("at most {max} on {}", target.name)));
                }
            };
            any = true;
            let goes_on = cur.eat(b'&') || cur.eat(b',');
            cur.blank();
            if goes_on && cur.at_end() {
                return Err(cur.unexpected("a counter"));
            }
        }
        let mask = target.waitcnt(counts.vm, counts.exp, counts.lgkm);
        self.push_waitcnt(known, cur, start, mask)
    }

    /// Reads the counters of `s_waitcnt_depctr`, such as `depctr_vm_vsrc(1) depctr_va_vcc(0)`. The
    /// instruction does not wait for counters that the source does not name.
    fn depctr_operand(&mut self, known: &mut Instructions, cur: &mut Cursor) -> Result<()> {
        let target = known.target;
        let start = cur.pos;
        // Bits that belong to no counter are 0.
        let mut bits = isa::names::dependency_counters(target).fold(0, |all, row| all | row.mask());
        let mut seen = 0;
        loop {
            cur.blank();
            if cur.at_end() {
                break;
            }
            let at = cur.pos;
            let name = cur.name().unwrap_or_default();
            let Some(row) = isa::names::dependency_counters(target).find(|row| row.name == name) else {
                cur.pos = start;
                let value = self.absolute(cur)?;
                if i16::try_from(value).is_err() && u16::try_from(value).is_err() {
                    return Err(error(cur.span_from(start), "a number of 16 bits is expected"));
                }
                return self.push_waitcnt(known, cur, start, value as u16);
            };
            cur.expect(b'(')?;
            let value = self.absolute(cur)?;
            cur.expect(b')')?;
            let value = field(value, 0, i64::from(row.max()), at..cur.pos)?;
            if seen & row.mask() != 0 {
                return Err(error(at..cur.pos, format!("{name} is given twice")));
            }
            seen |= row.mask();
            bits = bits & !row.mask() | u32::from(value) << row.shift;
            let goes_on = cur.eat(b'&') || cur.eat(b',');
            cur.blank();
            if goes_on && cur.at_end() {
                return Err(cur.unexpected("a counter"));
            }
        }
        self.push_waitcnt(known, cur, start, bits as u16)
    }

    fn push_waitcnt(
        &mut self,
        known: &mut Instructions,
        cur: &Cursor,
        start: usize,
        mask: u16,
    ) -> Result<()> {
        let value = ArgValue::Field(mask);
        known.line.args[0] = Arg { value, start: start as u32, end: cur.pos as u32, ..Arg::default() };
        known.line.len = 1;
        Ok(())
    }
}

/// Returns the number of the first operation that a message can have, and the number of its operations.
fn operations(message: u16) -> (u16, u16) {
    match u32::from(message) {
        MSG_GS => (1, 3),
        MSG_GS_DONE => (0, 4),
        MSG_SYSMSG => (1, 4),
        _ => (0, 0),
    }
}

fn field(value: i64, min: i64, max: i64, span: Range<usize>) -> Result<u16> {
    match (min..=max).contains(&value) {
        true => Ok(value as u16),
        false => Err(error(span, format!("a number from {min} to {max} is expected"))),
    }
}

/// Reads `swizzle(MODE, ...)` of `ds_swizzle_b32`. Returns the 16-bit offset. The cursor is at `swizzle`.
pub(super) fn swizzle(asm: &mut Assembler, cur: &mut Cursor) -> Result<u16> {
    cur.name();
    cur.expect(b'(')?;
    cur.blank();
    let start = cur.pos;
    let mode = cur.name().unwrap_or_default();
    let span = cur.span_from(start);
    cur.expect(b',')?;
    let value = match mode {
        "QUAD_PERM" => {
            let mut bits = 0x8000;
            for n in 0..4 {
                if n > 0 {
                    cur.expect(b',')?;
                }
                bits |= lane(asm, cur, 3)? << (2 * n);
            }
            bits
        }
        "BITMASK_PERM" => bit_mask(cur)?,
        // The remaining modes are masks for bits 4:0 of the lane number. To get the source lane, the hardware
        // ANDs these bits with a first mask, ORs the result with a second mask, and XORs that with a third
        // mask.
        "BROADCAST" => {
            let group = power_of_two(asm, cur, 2, 32)?;
            cur.expect(b',')?;
            (32 - group) | lane(asm, cur, i64::from(group) - 1)? << 5
        }
        "SWAP" => 31 | power_of_two(asm, cur, 1, 16)? << 10,
        "REVERSE" => 31 | (power_of_two(asm, cur, 2, 32)? - 1) << 10,
        _ => {
            return Err(error(span, "unknown kind of swizzle")
                .label("expected QUAD_PERM, BITMASK_PERM, BROADCAST, SWAP or REVERSE"));
        }
    };
    cur.expect(b')')?;
    Ok(value)
}

fn lane(asm: &mut Assembler, cur: &mut Cursor, max: i64) -> Result<u16> {
    cur.blank();
    let start = cur.pos;
    let value = asm.absolute(cur)?;
    field(value, 0, max, start..cur.pos.max(start + 1))
}

fn power_of_two(asm: &mut Assembler, cur: &mut Cursor, min: i64, max: i64) -> Result<u16> {
    cur.blank();
    let start = cur.pos;
    let value = asm.absolute(cur)?;
    let span = start..cur.pos.max(start + 1);
    let value = field(value, min, max, span.clone())?;
    match value.is_power_of_two() {
        true => Ok(value),
        false => Err(error(span, "a power of two is expected")),
    }
}

/// Reads a mask such as `"01pi0"`, in which each character says what happens to a bit of the lane number: it
/// becomes 0 or 1, stays as it is (`p`), or is inverted (`i`).
fn bit_mask(cur: &mut Cursor) -> Result<u16> {
    cur.blank();
    let start = cur.pos;
    let text = cur.string()?;
    let (mut and, mut or, mut xor) = (0u16, 0u16, 0u16);
    for (n, byte) in text.iter().rev().enumerate().take(5) {
        let bit = 1 << n;
        match byte {
            b'0' => {}
            b'1' => or |= bit,
            b'p' => and |= bit,
            b'i' => (and, xor) = (and | bit, xor | bit),
            _ => return Err(error(cur.span_from(start), "the mask consists of `0`, `1`, `p` and `i`")),
        }
    }
    match text.len() {
        5 => Ok(and | or << 5 | xor << 10),
        _ => Err(error(cur.span_from(start), "the mask has five characters")),
    }
}
