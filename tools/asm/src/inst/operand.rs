//! Reads operands: registers, numbers, symbols, and the signs and bars around them.

use super::{Instructions, Line, MAX_ARGS, function, graphics, modifier, registers};
use crate::assembler::Assembler;
use crate::cursor::{Cursor, begins_name};
use crate::error::{Result, error};
use crate::expr::{ExprId, Value};
use crate::number::{self, Number};
use isa::table::Kind;
use isa::{Feature, Reg, RegRange};

/// Operand as it is written in the source.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arg {
    pub value: ArgValue,
    pub neg: bool,
    pub abs: bool,
    pub sext: bool,
    pub start: u32,
    pub end: u32,
}

/// Value of an operand.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum ArgValue {
    /// The word `off`.
    #[default]
    Off,
    Reg(RegRange),
    Int(i64),
    Float(f64),
    /// Expression whose value is not known yet.
    Expr(ExprId),
    /// Number that a function such as `hwreg()` stands for.
    Field(u16),
    /// Number with a name that only operands of this kind have.
    Named(Kind, u8),
    /// The registers in the line's `addresses`.
    Scattered,
}

impl Arg {
    pub fn span(&self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl Assembler {
    /// Reads the rest of the line: operands and modifiers, with optional commas between them.
    pub(super) fn operands(&mut self, known: &mut Instructions, cur: &mut Cursor, name: &str) -> Result<()> {
        known.line.len = 0;
        known.line.mods.clear();
        cur.blank();
        if function::is_waitcnt(name) && !cur.at_end() {
            return self.waitcnt_operand(known, cur, name);
        }
        let mut comma = false;
        // LLVM also accepts a comma at the end.
        while !cur.at_end() {
            if !self.modifier_or_operand(known, cur, name, comma)? {
                break;
            }
            comma = cur.eat(b',');
            cur.blank();
        }
        Ok(())
    }

    fn modifier_or_operand(
        &mut self,
        known: &mut Instructions,
        cur: &mut Cursor,
        mnemonic: &str,
        comma: bool,
    ) -> Result<bool> {
        let start = cur.pos;
        let special = graphics::operand(self, known, cur, mnemonic)?;
        let register = if special.is_none() && !is_flag(known, cur, mnemonic, comma) {
            self.register(known, cur)?
        } else {
            None
        };
        let mut arg = match register {
            _ if special.is_some() => special.unwrap_or_default(),
            Some(range) => Arg { value: ArgValue::Reg(range), ..Arg::default() },
            None => {
                if begins_name(cur.peek()) && !number::begins(cur) && !is_label(cur, mnemonic, comma) {
                    let name = cur.name().unwrap_or_default();
                    if modifier::modifier(self, &mut known.line.mods, cur, name, start)? {
                        return Ok(true);
                    }
                    cur.pos = start;
                }
                self.operand(known, cur, 0)?
            }
        };
        arg.start = start as u32;
        arg.end = cur.pos as u32;
        push(&mut known.line, arg)?;
        Ok(true)
    }

    fn operand(&mut self, known: &mut Instructions, cur: &mut Cursor, depth: u32) -> Result<Arg> {
        if depth > 4 {
            return Err(error(cur.span_here(), "too many signs and bars around an operand"));
        }
        cur.blank();
        let value = |value| Ok(Arg { value, ..Arg::default() });
        match cur.peek() {
            b'|' => {
                cur.pos += 1;
                let inside = *cur;
                let mut arg = self.plain_operand(known, cur, depth)?;
                // Between the bars of an absolute value, only a single number or symbol is accepted without
                // parentheses. In a longer expression, a `|` could be an operator or the closing bar.
                if matches!(arg.value, ArgValue::Int(_) | ArgValue::Expr(_))
                    && !self.is_primary(inside, cur.pos)
                {
                    return Err(error(
                        inside.pos..cur.pos,
                        "between bars an expression stands in parentheses",
                    ));
                }
                cur.expect(b'|')?;
                arg.abs = true;
                Ok(arg)
            }
            b'-' if self.negates_operand(known, cur) => {
                cur.pos += 1;
                let start = cur.pos;
                let mut arg = self.operand(known, cur, depth + 1)?;
                if std::mem::replace(&mut arg.neg, true) {
                    return Err(error(cur.span_from(start), "a sign in front of a sign"));
                }
                Ok(arg)
            }
            b'{' => value(ArgValue::Field(self.hwreg_fields(known, cur)?)),
            b'[' => value(ArgValue::Reg(self.register_list(known, cur)?)),
            b'-' => value(self.number_operand(cur, depth)?),
            _ if number::begins(cur) => value(self.number_operand(cur, depth)?),
            byte if begins_name(byte) => self.named_operand(known, cur, depth),
            _ => value(self.expression_operand(cur, depth)?),
        }
    }

    /// Returns whether the text from `cur` to `end` is a single number, a symbol or an expression in
    /// parentheses. A sign may be before it.
    fn is_primary(&mut self, mut cur: Cursor, end: usize) -> bool {
        cur.blank();
        self.one_value(&mut cur).is_ok() && {
            cur.blank();
            cur.pos >= end
        }
    }

    /// Reads an operand without signs and bars of its own.
    fn plain_operand(&mut self, known: &mut Instructions, cur: &mut Cursor, depth: u32) -> Result<Arg> {
        let start = cur.pos;
        let arg = self.operand(known, cur, depth + 1)?;
        match arg.neg || arg.abs || arg.sext {
            true => Err(error(cur.span_from(start), "a sign or bars inside of others")),
            false => Ok(arg),
        }
    }

    /// Returns whether the `-` at the cursor negates an operand, as in `-v1` and `-|v1|`. If not, it belongs
    /// to a number.
    fn negates_operand(&mut self, known: &Instructions, cur: &Cursor) -> bool {
        let mut copy = *cur;
        copy.pos += 1;
        copy.blank();
        match copy.peek() {
            b'|' | b'[' => true,
            // An operand such as `--v1` is rejected when the second sign is read.
            b'-' => self.negates_operand(known, &copy),
            byte if begins_name(byte) => {
                let name = copy.name().unwrap_or_default();
                matches!(name, "abs" | "neg" | "sext") && copy.peek() == b'('
                    || is_numbered(name, copy.peek())
                    || known.registers.contains_key(name)
            }
            _ => false,
        }
    }

    fn named_operand(&mut self, known: &mut Instructions, cur: &mut Cursor, depth: u32) -> Result<Arg> {
        let value = |value| Ok(Arg { value, ..Arg::default() });
        if let Some(range) = self.register(known, cur)? {
            return value(ArgValue::Reg(range));
        }
        let start = cur.pos;
        let name = cur.name().unwrap_or_default();
        if cur.peek() == b'(' {
            if let "abs" | "neg" | "sext" | "lit" = name {
                cur.pos += 1;
                let start = cur.pos;
                let is_lit = cur.text[cur.pos..].trim_start().starts_with("lit(");
                let mut arg = match name {
                    "neg" => self.operand(known, cur, depth + 1)?,
                    _ => self.plain_operand(known, cur, depth)?,
                };
                cur.expect(b')')?;
                match name {
                    "abs" => arg.abs = true,
                    "neg" if arg.neg => return Err(error(cur.span_from(start), "a sign in front of a sign")),
                    "neg" => arg.neg = true,
                    "sext" => arg.sext = true,
                    _ if matches!(arg.value, ArgValue::Int(_) | ArgValue::Float(_)) && !is_lit => {}
                    _ => return Err(error(cur.span_from(start), "`lit` takes a number")),
                }
                return Ok(arg);
            }
            if let Some(bits) = self.function(known, cur, name, start)? {
                return value(ArgValue::Field(bits));
            }
        }
        if name == "off" {
            return value(ArgValue::Off);
        }
        if registers::is_name(name) {
            return Err(error(start..cur.pos, format!("{} has no register `{name}`", known.target.name)));
        }
        cur.pos = start;
        value(self.expression_operand(cur, depth)?)
    }

    /// Reads a number, if no expression continues after it.
    fn number_operand(&mut self, cur: &mut Cursor, depth: u32) -> Result<ArgValue> {
        let start = cur.pos;
        let negative = cur.peek() == b'-';
        cur.pos += usize::from(negative);
        if negative {
            cur.blank();
        }
        if number::begins(cur) {
            let read = number::number(cur)?;
            cur.blank();
            let goes_on = match cur.peek() {
                b'/' => !cur.at_end(),
                b'|' => depth == 0,
                byte => matches!(byte, b'+' | b'-' | b'*' | b'%' | b'&' | b'^' | b'<' | b'>' | b'=' | b'!'),
            };
            match read {
                Number::Float(value) => return Ok(ArgValue::Float(if negative { -value } else { value })),
                Number::Int(value) if !goes_on => {
                    return Ok(ArgValue::Int(if negative { value.wrapping_neg() } else { value }));
                }
                _ => {}
            }
        }
        cur.pos = start;
        self.expression_operand(cur, depth)
    }

    fn expression_operand(&mut self, cur: &mut Cursor, depth: u32) -> Result<ArgValue> {
        let value = match depth {
            0 => self.expression(cur)?,
            _ => self.operand_expression(cur)?,
        };
        Ok(match value {
            Value::Abs(number) => ArgValue::Int(number),
            Value::Expr(id) => ArgValue::Expr(id),
        })
    }

    /// Reads a register such as `v5`, `s[2:3]`, `ttmp4` or `vcc`, if there is one.
    #[inline]
    pub(super) fn register(&mut self, known: &Instructions, cur: &mut Cursor) -> Result<Option<RegRange>> {
        let (base, prefix) = match cur.peek() {
            b'v' => (Reg::vgpr(0), 1),
            b'a' if known.target.has(Feature::MAI) && matches!(cur.peek_at(1), b'0'..=b'9' | b'[') => {
                (Reg::agpr(0), 1)
            }
            b'a' if known.target.has(Feature::MAI)
                && cur.text.as_bytes()[cur.pos..].starts_with(b"acc")
                && matches!(cur.peek_at(3), b'0'..=b'9' | b'[') =>
            {
                (Reg::agpr(0), 3)
            }
            b's' => (Reg(0), 1),
            b't' if cur.text.as_bytes()[cur.pos..].starts_with(b"ttmp") => (ttmp_base(known), 4),
            byte if begins_name(byte) => return Ok(named_register(known, cur)),
            _ => return Ok(None),
        };
        let start = cur.pos;
        let bytes = cur.text.as_bytes();
        match cur.peek_at(prefix) {
            b'0'..=b'9' => {
                let mut end = start + prefix;
                let mut index = 0u32;
                while let Some(digit @ b'0'..=b'9') = bytes.get(end) {
                    index = index.saturating_mul(10).saturating_add(u32::from(digit - b'0'));
                    end += 1;
                }
                if bytes.get(end).copied().is_some_and(crate::cursor::continues_name) {
                    return Ok(None);
                }
                cur.pos = end;
                range(known, base, index.into(), index.into(), start..end).map(Some)
            }
            b'[' => {
                cur.pos += prefix + 1;
                let first = self.register_index(cur)?;
                let last = if cur.eat(b':') { self.register_index(cur)? } else { first };
                cur.expect(b']')?;
                range(known, base, first, last, start..cur.pos).map(Some)
            }
            _ => Ok(named_register(known, cur)),
        }
    }

    fn register_index(&mut self, cur: &mut Cursor) -> Result<i64> {
        cur.blank();
        let bytes = cur.text.as_bytes();
        let (mut end, mut value) = (cur.pos, 0);
        while let Some(digit @ b'0'..=b'9') = bytes.get(end) {
            value = (value * 10 + i64::from(digit - b'0')).min(1 << 20);
            end += 1;
        }
        if end > cur.pos && matches!(bytes.get(end), Some(b':' | b']')) {
            cur.pos = end;
            return Ok(value);
        }
        self.absolute(cur)
    }

    /// Reads a list of consecutive registers, such as `[s0,s1]`. The cursor is at `[`.
    fn register_list(&mut self, known: &Instructions, cur: &mut Cursor) -> Result<RegRange> {
        let start = cur.pos;
        cur.pos += 1;
        let mut whole: Option<RegRange> = None;
        loop {
            cur.blank();
            let Some(next) = self.register(known, cur)? else {
                return Err(cur.unexpected("a register"));
            };
            if next.len != 1 {
                return Err(error(cur.span_from(start), "a list has single registers"));
            }
            whole = Some(match whole {
                None => next,
                Some(before) if before.first.0 + u16::from(before.len) == next.first.0 => {
                    RegRange { first: before.first, len: before.len.saturating_add(next.len) }
                }
                Some(_) => {
                    return Err(error(cur.span_from(start), "registers of a list must be consecutive"));
                }
            });
            if !cur.eat(b',') {
                break;
            }
        }
        cur.expect(b']')?;
        whole.ok_or_else(|| error(start..cur.pos, "an empty list of registers"))
    }
}

/// Returns whether the name at the cursor is a symbol, even if a register or modifier has the same name. It
/// is a symbol if it is the operand of a branch, or if it follows a comma in a scalar instruction that does
/// not access memory.
fn is_label(cur: &Cursor, mnemonic: &str, comma: bool) -> bool {
    let branches = || ["branch", "call", "subvector"].iter().any(|part| mnemonic.contains(part));
    // In scalar memory instructions, a name after a comma may be a modifier, so the comma does not show that
    // it is a symbol.
    let reaches_memory = || {
        ["s_load", "s_buffer_", "s_store", "s_scratch_", "s_atomic_", "s_atc_"]
            .iter()
            .any(|part| mnemonic.starts_with(part))
    };
    mnemonic.starts_with("s_") && (comma && !reaches_memory() || branches()) && {
        let mut copy = *cur;
        copy.name();
        copy.peek() != b':'
    }
}

/// Returns whether `a16` or `scc` at the cursor is a modifier, and not the register with this name. A
/// modifier does not follow a comma.
fn is_flag(known: &Instructions, cur: &Cursor, mnemonic: &str, comma: bool) -> bool {
    // At the place of the first operand, `scc` can only be a modifier of an instruction without operands
    // (`buffer_wbl2 scc`). `a16` is a register there, because the instructions that have it as a modifier
    // begin with other operands.
    if known.line.len == 0
        && known.target.has(Feature::MAI)
        && cur.text.as_bytes()[cur.pos..].starts_with(b"a16")
    {
        return false;
    }
    if comma || !matches!(cur.peek(), b'a' | b's') || known.line.len == 0 && !mnemonic.starts_with("buffer_")
    {
        return false;
    }
    let mut copy = *cur;
    matches!(copy.name(), Some("a16" | "scc"))
}

fn push(line: &mut Line, arg: Arg) -> Result<()> {
    if line.len == MAX_ARGS {
        return Err(error(arg.span(), "too many operands"));
    }
    line.args[line.len] = arg;
    line.len += 1;
    Ok(())
}

fn is_numbered(name: &str, after: u8) -> bool {
    let number = name.strip_prefix("ttmp").or_else(|| name.strip_prefix(['v', 's', 'a']));
    number.is_some_and(|rest| match rest {
        "" => after == b'[',
        rest => rest.bytes().all(|byte| byte.is_ascii_digit()),
    })
}

fn ttmp_base(known: &Instructions) -> Reg {
    known.first_ttmp
}

fn named_register(known: &Instructions, cur: &mut Cursor) -> Option<RegRange> {
    let start = cur.pos;
    let name = cur.name()?;
    let found = known.registers.get(name).copied();
    if found.is_none() {
        cur.pos = start;
    }
    found
}

fn range(
    known: &Instructions,
    base: Reg,
    first: i64,
    last: i64,
    span: std::ops::Range<usize>,
) -> Result<RegRange> {
    if last < first {
        return Err(error(span, "the first register is above the last"));
    }
    let files = match base {
        _ if base.is_vgpr() || base.is_agpr() => 256,
        Reg(0) => i64::from(known.target.numbered_sgprs()),
        _ => i64::from(isa::special::trap_registers(known.target).1),
    };
    if first < 0 || last >= files {
        return Err(error(span, "there is no register of that number"));
    }
    if last - first >= 32 {
        return Err(error(span, "a group of more than 32 registers"));
    }
    Ok(RegRange { first: Reg(base.0 + first as u16), len: (last - first + 1) as u8 })
}
