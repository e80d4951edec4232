//! Writes and reads operands of machine IR.
//!
//! The meaning of a plain number depends on the operand's entry in the instruction table. It may be the value
//! of a field (`s_nop 3`). It may also be a constant source (`v_add_u32_e64 %v2, %v1, 3`), where a decimal
//! number is an inline constant and a hexadecimal number is a literal that follows the instruction. An
//! operand that means something else than the plain number would at its position is written with a word:
//! `imm(3)`, `const(3)`, `literal(0x3)`.

use super::cursor::{Cursor, Result};
use super::parse::Body;
use super::print::Printer;
use crate::{Distance, Referent, RelocRef};
use isa::print::write_reg;
use isa::special::{special_registers, trap_registers};
use isa::table::Kind;
use isa::{Opcode, Operand, Reg, RegClass, RegRange, Scattered, Target, VReg, op};
use std::fmt::{self, Write};

/// Meaning of a plain number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// The mask of `s_waitcnt`, which may be written as the names of its counters with their numbers.
    Counters,
    /// A field of the instruction.
    Field,
    /// A constant source.
    Source,
}

impl Reading {
    /// Returns the meaning that the table gives for an operand.
    pub fn for_operand(opcode: Opcode, index: usize) -> Reading {
        if opcode == op::S_WAITCNT {
            return Reading::Counters;
        }
        match opcode.row().ops.get(index).map(|spec| spec.kind) {
            Some(
                Kind::Imm
                | Kind::Label
                | Kind::SmemOffset
                | Kind::ExportTarget
                | Kind::Attribute
                | Kind::Parameter,
            ) => Reading::Field,
            None if opcode == op::WAIT_POINT => Reading::Field,
            _ => Reading::Source,
        }
    }
}

/// Floating-point inline constants by their code.
const FLOATS: &[(u16, &str)] = &[
    (240, "0.5"),
    (241, "-0.5"),
    (242, "1.0"),
    (243, "-1.0"),
    (244, "2.0"),
    (245, "-2.0"),
    (246, "4.0"),
    (247, "-4.0"),
    (248, "0.15915494"),
];

/// Returns the code of the inline constant for a small integer.
fn inline_integer(value: i64) -> Option<u16> {
    match value {
        0..=64 => Some(128 + value as u16),
        -16..=-1 => Some((192 - value) as u16),
        _ => None,
    }
}

impl Printer<'_> {
    pub fn operand(&mut self, operand: Operand, reading: Reading) -> fmt::Result {
        let source = reading == Reading::Source;
        match operand {
            Operand::None => self.out.push_str("off"),
            Operand::Reg(range) => self.regs(range)?,
            Operand::Virt(tuple) => self.tuple(self.func.regs(tuple))?,
            Operand::Scattered(all) => {
                for (n, number) in all.numbers().iter().enumerate() {
                    write!(self.out, "{}v{number}", if n == 0 { "[" } else { "," })?;
                }
                self.out.push_str(if all.numbers().is_empty() { "[]" } else { "]" });
            }
            Operand::Inline(code) => self.inline(code, source)?,
            Operand::Literal(value) if source => write!(self.out, "{value:#x}")?,
            Operand::Literal(value) => write!(self.out, "literal({value:#x})")?,
            Operand::Imm(value) if reading == Reading::Counters => self.counters(value)?,
            Operand::Imm(value) if source => write!(self.out, "imm({value})")?,
            Operand::Imm(value) => write!(self.out, "{value}")?,
            Operand::Block(block) => write!(self.out, "{block}")?,
            Operand::Reloc(index) => self.reloc(&self.func.relocs[index as usize])?,
        }
        Ok(())
    }

    /// Writes hardware registers by their names. If reading the names back would give other registers, writes
    /// their numbers instead.
    pub fn regs(&mut self, range: RegRange) -> fmt::Result {
        let start = self.out.len();
        write_reg(self.target, range, self.out)?;
        if named_registers(self.target, &self.out[start..]) != Some(range) {
            self.out.truncate(start);
            write!(self.out, "reg({}, {})", range.first.0, range.len)?;
        }
        Ok(())
    }

    /// Writes virtual registers: `%v5`, `%v[5,7]`, or `%[s5,v7]` if their classes differ.
    fn tuple(&mut self, regs: &[VReg]) -> fmt::Result {
        if let [reg] = regs {
            return self.vreg(*reg);
        }
        let class = regs.first().map(|&reg| self.class(reg));
        let common = class.filter(|&class| regs.iter().all(|&reg| self.class(reg) == class));
        self.out.push('%');
        self.out.extend(common);
        self.out.push('[');
        for (n, &reg) in regs.iter().enumerate() {
            self.out.push_str(if n == 0 { "" } else { "," });
            if common.is_none() {
                self.out.push(self.class(reg));
            }
            write!(self.out, "{}", reg.as_u32())?;
        }
        self.out.push(']');
        Ok(())
    }

    fn inline(&mut self, code: u16, source: bool) -> fmt::Result {
        let float = FLOATS.iter().find(|(c, _)| *c == code).map(|(_, text)| *text);
        match (code, float) {
            (128..=192, _) if source => write!(self.out, "{}", code - 128),
            (193..=208, _) if source => write!(self.out, "-{}", code - 192),
            (_, Some(text)) if source => self.out.write_str(text),
            _ => write!(self.out, "const({code})"),
        }
    }

    /// Writes the mask of an `s_waitcnt` as the counters that are waited for, such as `vmcnt(0) lgkmcnt(3)`.
    /// If reading this back would give another mask, writes the mask as a number.
    fn counters(&mut self, mask: i32) -> fmt::Result {
        let all = self.target.unpack_waitcnt(mask as u16);
        if i32::from(self.target.waitcnt(all.vm, all.exp, all.lgkm)) != mask {
            return write!(self.out, "{mask}");
        }
        let counters = [
            ("vmcnt", all.vm, self.target.max_vmcnt),
            ("expcnt", all.exp, self.target.max_expcnt),
            ("lgkmcnt", all.lgkm, self.target.max_lgkmcnt),
        ];
        let mut blank = "";
        for (name, count, _) in counters.iter().filter(|(_, count, max)| count < max) {
            write!(self.out, "{blank}{name}({count})")?;
            blank = " ";
        }
        if blank.is_empty() { write!(self.out, "{mask}") } else { Ok(()) }
    }

    fn reloc(&mut self, reloc: &RelocRef) -> fmt::Result {
        let names = &self.options.names;
        let (list, index, prefix) = match reloc.to {
            Referent::Global(index) => (names.globals, index, "global"),
            Referent::Func(index) => (names.funcs, index, "func"),
            Referent::Scratch(dword) => (&[][..], u32::from(dword), "scratch"),
        };
        match list.get(index as usize) {
            Some(name) => write!(self.out, "@{name}")?,
            None => write!(self.out, "{prefix}{index}")?,
        }
        self.out.push_str(match reloc.part {
            Distance::Low => "@lo",
            Distance::High => "@hi",
            Distance::Words => "",
            Distance::Address => "@address",
            Distance::AddressLow => "@address_lo",
            Distance::AddressHigh => "@address_hi",
        });
        match reloc.addend {
            0 => Ok(()),
            addend => write!(self.out, "{addend:+}"),
        }
    }
}

impl<'a> Body<'a> {
    pub fn operand(&mut self, at: &mut Cursor<'a>, reading: Reading) -> Result<Operand> {
        let before = *at;
        match at.peek() {
            Some('%') => {
                let regs = self.tuple(at)?;
                return Ok(self.func.tuple(&regs));
            }
            Some('@') => return self.reloc(at),
            Some('[') => return scattered(at),
            Some('-' | '0'..='9') => return number(at, reading),
            _ => {}
        }
        let word = at.peek_word();
        if word.is_empty() {
            return at.error("expected an operand");
        }
        if let Some(block) = entity(word, "bb") {
            at.word("a block")?;
            return Ok(Operand::Block(self.use_block(block, before)?));
        }
        if ["global", "func", "scratch"].into_iter().any(|prefix| entity(word, prefix).is_some()) {
            return self.reloc(at);
        }
        if reading == Reading::Counters && matches!(word, "vmcnt" | "expcnt" | "lgkmcnt") {
            return counters(at, self.target);
        }
        match word {
            "off" => at.word("off").map(|_| Operand::None),
            "reg" => self.regs(at).map(Operand::Reg),
            "imm" => spelled(at, word).map(Operand::Imm),
            "const" => spelled(at, word).map(Operand::Inline),
            "literal" => spelled(at, word).map(Operand::Literal),
            _ => self.regs(at).map(Operand::Reg),
        }
    }

    /// Reads hardware registers.
    pub fn regs(&mut self, at: &mut Cursor<'a>) -> Result<RegRange> {
        let before = *at;
        let word = at.word("a register")?;
        if word == "reg" {
            at.expect("(")?;
            let first = Reg(at.number()?);
            at.expect(",")?;
            let len = at.number()?;
            at.expect(")")?;
            return Ok(RegRange { first, len });
        }
        let mut text = word.to_owned();
        if at.accept("[") {
            let (first, last): (u16, u16) = (at.number()?, {
                at.expect(":")?;
                at.number()?
            });
            at.expect("]")?;
            let _ = write!(text, "[{first}:{last}]");
        }
        match named_registers(self.target, &text) {
            Some(range) => Ok(range),
            None => before.error(format!("`{text}` is no register of {}", self.target.name)),
        }
    }

    fn tuple(&mut self, at: &mut Cursor<'a>) -> Result<Vec<VReg>> {
        at.expect("%")?;
        let before = *at;
        if at.peek() != Some('[') && !matches!(at.peek_word(), "s" | "v") {
            return Ok(vec![self.vreg_name(at)?]);
        }
        let common = match at.peek_word() {
            "s" => Some(RegClass::Sgpr),
            "v" => Some(RegClass::Vgpr),
            _ => None,
        };
        if common.is_some() {
            at.word("a class")?;
        }
        at.expect("[")?;
        let mut regs = Vec::new();
        while !at.accept("]") {
            if !regs.is_empty() {
                at.expect(",")?;
            }
            let here = *at;
            regs.push(match common {
                Some(class) => {
                    let number = at.number()?;
                    self.vreg_number(number, class, here)?
                }
                None => self.vreg_name(at)?,
            });
        }
        if regs.len() > usize::from(u8::MAX) {
            return before.error("too many registers for an operand");
        }
        Ok(regs)
    }

    fn reloc(&mut self, at: &mut Cursor<'a>) -> Result<Operand> {
        let before = *at;
        let to = self.referent(at)?;
        let part = match at.accept("@") {
            false => Distance::Words,
            true => match at.word("`lo`, `hi`, `address`, `address_lo` or `address_hi`")? {
                "hi" => Distance::High,
                "lo" => Distance::Low,
                "address" => Distance::Address,
                "address_lo" => Distance::AddressLow,
                "address_hi" => Distance::AddressHigh,
                _ => return before.error("expected `@lo`, `@hi` or `@address` after the name"),
            },
        };
        let addend = match at.peek() {
            Some('+') => {
                at.expect("+")?;
                at.number()?
            }
            Some('-') => at.number()?,
            _ => 0,
        };
        self.func.relocs.push(RelocRef { to, part, addend });
        Ok(Operand::Reloc(self.func.relocs.len() as u32 - 1))
    }

    /// Reads a reference to a variable or function, by its name or number.
    pub fn referent(&mut self, at: &mut Cursor<'a>) -> Result<Referent> {
        let before = *at;
        if at.accept("@") {
            let name = at.word("the name of a variable or a function")?;
            return match self.names.get(name) {
                Some(&to) => Ok(to),
                None => before.error(format!("there is no variable or function `@{name}`")),
            };
        }
        let word = at.word("a variable or a function")?;
        if let Some(dword @ 0..2) = entity(word, "scratch") {
            return Ok(Referent::Scratch(dword as u8));
        }
        let to =
            entity(word, "global").map(Referent::Global).or_else(|| entity(word, "func").map(Referent::Func));
        match to.filter(|to| self.names.values().any(|known| known == to)) {
            Some(to) => Ok(to),
            None => before.error("there is no such variable or function"),
        }
    }
}

/// Returns the number in the name of a block or variable: `entity("bb12", "bb")` is 12.
pub(super) fn entity(word: &str, prefix: &str) -> Option<u32> {
    let digits = word.strip_prefix(prefix)?;
    let plain = digits.bytes().all(|b| b.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    if plain { digits.parse().ok() } else { None }
}

/// Parses the names that [`write_reg`] writes: `s5`, `v[2:3]`, `ttmp4`, `vcc_lo`.
fn named_registers(target: &Target, text: &str) -> Option<RegRange> {
    let special = special_registers(target).find(|row| row.name == text);
    if let Some(row) = special {
        return Some(row.range);
    }
    let (trap, traps) = trap_registers(target);
    let (first, room, numbers) = [("ttmp", trap.0, traps), ("s", 0, 256), ("v", 256, 256), ("a", 512, 256)]
        .into_iter()
        .find_map(|(prefix, first, room)| {
            let numbers = text.strip_prefix(prefix)?;
            numbers.starts_with(|c: char| c == '[' || c.is_ascii_digit()).then_some((first, room, numbers))
        })?;
    let (low, high) = match numbers.strip_prefix('[') {
        Some(pair) => pair.strip_suffix(']')?.split_once(':')?,
        None => (numbers, numbers),
    };
    let (low, high): (u16, u16) = (low.parse().ok()?, high.parse().ok()?);
    let len = u8::try_from(high.checked_sub(low)?).ok()?.checked_add(1)?;
    // The SGPRs have numbers up to a limit of the processor. Special registers without a name have higher
    // numbers, and the text gives these in brackets.
    let room = if first == 0 && !numbers.starts_with('[') { target.numbered_sgprs() } else { room };
    (high < room).then(|| RegRange { first: Reg(first + low), len })
}

/// Reads `word(number)`.
fn spelled<T: TryFrom<i64>>(at: &mut Cursor<'_>, word: &str) -> Result<T> {
    at.expect(word)?;
    at.expect("(")?;
    let value = at.number()?;
    at.expect(")")?;
    Ok(value)
}

fn number(at: &mut Cursor<'_>, reading: Reading) -> Result<Operand> {
    if reading != Reading::Source {
        return at.number().map(Operand::Imm);
    }
    let before = *at;
    let sign = if at.accept("-") { "-" } else { "" };
    let digits = at.word("a number")?;
    if digits.starts_with("0x") {
        let mut again = before;
        return again.number().map(Operand::Literal);
    }
    let text = format!("{sign}{digits}");
    let float = FLOATS.iter().find(|(_, name)| *name == text).map(|&(code, _)| code);
    match float.or_else(|| inline_integer(text.parse().ok()?)) {
        Some(code) => Ok(Operand::Inline(code)),
        None => before.error(format!("`{text}` is no inline constant; write literals in hexadecimal")),
    }
}

fn scattered(at: &mut Cursor<'_>) -> Result<Operand> {
    let before = *at;
    at.expect("[")?;
    let mut numbers = Vec::new();
    while !at.accept("]") {
        if !numbers.is_empty() {
            at.expect(",")?;
        }
        match entity(at.word("a VGPR")?, "v").and_then(|number| u8::try_from(number).ok()) {
            Some(number) => numbers.push(number),
            None => return at.error("expected a VGPR before this"),
        }
    }
    match Scattered::new(&numbers) {
        Some(all) => Ok(Operand::Scattered(all)),
        None => before.error(format!("an operand holds at most {} VGPRs", Scattered::MAX)),
    }
}

/// Reads the counters of an `s_waitcnt`, such as `vmcnt(0) lgkmcnt(3)`. The instruction does not wait for a
/// counter that is not named.
fn counters(at: &mut Cursor<'_>, target: &Target) -> Result<Operand> {
    let (mut vm, mut exp, mut lgkm) = (u8::MAX, u8::MAX, u8::MAX);
    loop {
        let count = match at.peek_word() {
            "vmcnt" => &mut vm,
            "expcnt" => &mut exp,
            "lgkmcnt" => &mut lgkm,
            _ => return Ok(Operand::Imm(target.waitcnt(vm, exp, lgkm).into())),
        };
        let word = at.word("a counter")?;
        at.expect("(")?;
        *count = at.number()?;
        at.expect(")")?;
        let _ = word;
    }
}
