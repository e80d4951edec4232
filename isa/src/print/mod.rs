//! Prints instructions in the syntax of LLVM's assembler.
//!
//! For hardware registers, the output is the same as that of `llvm-objdump` for the same words, and `llvm-mc`
//! assembles it to the same words. Virtual registers are printed as `%5` or `%[5,6]`.

mod fields;
mod graphics;
mod image;
mod mods;

use crate::inst::{Form, MachInst, ModFlags};
use crate::layout::{Encoding, Layout};
use crate::operand::{Operand, RegRange, inline_half};
use crate::slots::Slots;
use crate::special::{special_name, trap_registers};
use crate::table::{Family, Flags, Kind, Num, OpSpec, Role, op};
use crate::target::Target;
use crate::view::FuncView;
use std::fmt::{self, Write};

/// Appends the text of an instruction to `out`, without indentation and newline. `func` knows virtual
/// registers, labels and references. Without `func`, they are printed as numbers.
pub fn write_inst(target: &Target, inst: &MachInst, func: Option<&dyn FuncView>, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = Printer { target, inst, func, out }.inst();
}

struct Printer<'a> {
    target: &'a Target,
    inst: &'a MachInst,
    func: Option<&'a dyn FuncView>,
    out: &'a mut String,
}

impl Printer<'_> {
    fn inst(&mut self) -> fmt::Result {
        let row = self.inst.op.row();
        self.out.push_str(row.name);
        if crate::graphics::handles(row.family) {
            return self.graphics();
        }
        self.out.push_str(suffix(self.target, self.inst));
        let Some(encoding) = Encoding::for_row(self.target, row, self.inst.form, self.inst.mods.lane) else {
            return self.plain_operands();
        };
        let mut slots = self.counts_sources(encoding).then(|| Slots::new(self.target, row, encoding));
        let mut first = true;
        for (index, (spec, &operand)) in row.ops.iter().zip(self.inst.operands()).enumerate() {
            let source = slots.as_mut().and_then(|slots| slots.source_of(spec));
            if self.is_left_out(spec, index, operand) {
                continue;
            }
            self.out.push_str(if first { " " } else { ", " });
            first = false;
            match source {
                Some(n) => self.modified_source(encoding, n, spec, operand)?,
                None => self.operand(encoding, spec, operand)?,
            }
        }
        self.modifiers(encoding, slots.and_then(|slots| slots.last_source()).map_or(0, |n| n + 1))
    }

    /// Returns whether the sources of the instruction must be counted, because it has modifiers that name
    /// sources by their numbers. Few instructions have such modifiers.
    fn counts_sources(&self, encoding: Encoding) -> bool {
        let mods = &self.inst.mods;
        mods.neg | mods.abs | mods.op_sel != 0 || matches!(encoding, Encoding::Vop3p | Encoding::Sdwa)
    }

    /// Returns whether assembly text omits an operand. It omits a destination that the instruction does not
    /// have, and the 0 of `s_endpgm`.
    fn is_left_out(&self, spec: &OpSpec, index: usize, operand: Operand) -> bool {
        let row = self.inst.op.row();
        match operand {
            Operand::None if index == 0 => {
                spec.role != Role::Use
                    || self.inst.mods.flags.contains(ModFlags::LDS) && row.family == Family::Mubuf
            }
            // If an instruction has no data, an absent address is its first operand and is printed:
            // `buffer_load_dword off, ... lds`.
            Operand::Imm(0) => self.inst.op == op::S_ENDPGM,
            _ => false,
        }
    }

    /// Prints the operands of a pseudo-instruction.
    fn plain_operands(&mut self) -> fmt::Result {
        let unknown = OpSpec { role: Role::Use, kind: Kind::Imm, width: 1, num: Num::B32 };
        for (index, &operand) in self.inst.operands().iter().enumerate() {
            self.out.push_str(if index == 0 { " " } else { ", " });
            match operand {
                Operand::Imm(value) => write!(self.out, "{value}")?,
                _ => self.operand(Encoding::Sop1, &unknown, operand)?,
            }
        }
        Ok(())
    }

    /// Prints a source operand with its modifiers `neg`, `abs` or `sext`.
    fn modified_source(&mut self, encoding: Encoding, n: u8, spec: &OpSpec, operand: Operand) -> fmt::Result {
        let mods = &self.inst.mods;
        // For packed and matrix instructions, `neg` and `abs` are printed after the operands and not here.
        let packed = encoding == Encoding::Vop3p && !self.is_mix();
        let (neg, abs) = (!packed && mods.neg >> n & 1 != 0, !packed && mods.abs >> n & 1 != 0);
        let (open, close) = match (neg, abs) {
            // An integer with `neg` is printed as `sext`, too. It occurs only in words that no assembler
            // produces.
            _ if self.sext(n) || neg && !spec.num.is_float() => ("sext(", ")"),
            (false, false) => ("", ""),
            // A constant with `neg` is written `neg(1)`, because `-1` would be a different constant.
            (true, false) if operand.is_const() => ("neg(", ")"),
            (true, false) => ("-", ""),
            (false, true) => ("|", "|"),
            (true, true) => ("-|", "|"),
        };
        self.out.push_str(open);
        self.operand(encoding, spec, operand)?;
        self.out.push_str(close);
        Ok(())
    }

    fn operand(&mut self, encoding: Encoding, spec: &OpSpec, operand: Operand) -> fmt::Result {
        match operand {
            Operand::None => self.out.push_str("off"),
            Operand::Reg(range) => write_reg(self.target, range, self.out)?,
            Operand::Virt(tuple) => self.virtual_regs(tuple)?,
            Operand::Scattered(_) => self.scattered()?,
            Operand::Inline(code) => write_inline(code, spec.num, encoding == Encoding::Vop3p, self.out)?,
            Operand::Literal(value) if spec.kind == Kind::Lit => write!(self.out, "{value:#x}")?,
            // Packed instructions print a literal as a whole word. Mixed-precision instructions print its
            // value as f16.
            Operand::Literal(value) if self.is_mix() => write_literal(value, Num::F16, false, self.out)?,
            Operand::Literal(value) if spec.num == Num::V2F16 => write_packed(value, Num::F16, self.out)?,
            Operand::Literal(value) if encoding == Encoding::Vop3p => {
                write_packed(value, spec.num, self.out)?
            }
            Operand::Literal(value) => write_literal(value, spec.num, encoding == Encoding::Vop3p, self.out)?,
            Operand::Imm(value) => self.immediate(spec, value)?,
            Operand::Block(block) => match self.func {
                Some(func) => func.write_label(block, self.out)?,
                None => write!(self.out, "{block}")?,
            },
            Operand::Reloc(index) => match self.func {
                Some(func) => func.write_reference(index, self.out)?,
                None => write!(self.out, "reloc{index}")?,
            },
        }
        Ok(())
    }

    fn virtual_regs(&mut self, tuple: crate::operand::Tuple) -> fmt::Result {
        let Some(func) = self.func else {
            return write!(self.out, "%tuple{}x{}", { tuple.start }, tuple.len);
        };
        match func.regs(tuple) {
            [reg] => write!(self.out, "{reg}"),
            regs => {
                self.out.push_str("%[");
                for (n, reg) in regs.iter().enumerate() {
                    let comma = if n == 0 { "" } else { "," };
                    write!(self.out, "{comma}{}", reg.as_u32())?;
                }
                self.out.push(']');
                Ok(())
            }
        }
    }
}

/// Returns the suffix of the name that says which encoding the instruction has: `_e32`, `_e64`, `_sdwa` or
/// `_dpp`. The suffix is empty if the instruction has only one encoding.
fn suffix(target: &Target, inst: &MachInst) -> &'static str {
    let row = inst.op.row();
    if !matches!(row.family, Family::Vop1 | Family::Vop2 | Family::Vopc) {
        return "";
    }
    if row.flags.contains(Flags::NO_E64) {
        // If an instruction has only one form, LLVM prints no suffix. The instruction `v_pk_fmac_f16` on
        // gfx908 and gfx90a is an exception.
        let e32 = inst.op == op::V_PK_FMAC_F16 && Layout::for_target(target).pk_fmac_has_suffix;
        return match inst.form {
            Form::Sdwa => "_sdwa",
            Form::Dpp => "_dpp",
            _ if e32 => "_e32",
            _ => "",
        };
    }
    match inst.form {
        Form::Full => "_e64",
        Form::E32 => "_e32",
        // LLVM prints no suffix here, because the SDWA selections in the text determine the form. Its
        // assembler accepts the text with and without the suffix.
        Form::Sdwa if row.family == Family::Vopc && !Layout::for_target(target).sdwa_scalars => "",
        Form::Sdwa => "_sdwa",
        Form::Dpp => "_dpp",
    }
}

/// Appends the name of hardware registers to `out`, such as `s5`, `v[2:3]`, `vcc` or `exec_lo`.
///
/// # Errors
/// It never fails, because writing to a string succeeds.
pub fn write_reg(target: &Target, range: RegRange, out: &mut String) -> fmt::Result {
    let code = range.first.0;
    let (trap, traps) = trap_registers(target);
    let (prefix, number) = match code {
        512.. => ("a", code - 512),
        256.. => ("v", code - 256),
        _ if target.is_sgpr(range.first) => ("s", code),
        _ if code >= trap.0 && code < trap.0 + traps => ("ttmp", code - trap.0),
        _ => {
            return match special_name(target, range) {
                Some(name) => out.write_str(name),
                None => write!(out, "s[{code}:{}]", code + u16::from(range.len.saturating_sub(1))),
            };
        }
    };
    out.push_str(prefix);
    match range.len {
        0 | 1 => decimal(number, out),
        len => {
            out.push('[');
            decimal(number, out);
            out.push(':');
            decimal(number + u16::from(len) - 1, out);
            out.push(']');
        }
    }
    Ok(())
}

/// Appends a number in decimal digits. This is faster than `write!`, which matters because registers are the
/// largest part of a listing.
fn decimal(number: u16, out: &mut String) {
    let digit = |number: u16| char::from(b'0' + (number % 10) as u8);
    if number >= 1000 {
        let _ = write!(out, "{number}");
        return;
    }
    if number >= 100 {
        out.push(digit(number / 100));
    }
    if number >= 10 {
        out.push(digit(number / 10));
    }
    out.push(digit(number));
}

/// Appends an inline constant. For an operand with a 16-bit integer type, a float constant is shown as the
/// bits of its half-precision value, except in packed instructions.
fn write_inline(code: u16, num: Num, packed: bool, out: &mut String) -> fmt::Result {
    let half_bits = num.is_half() && num != Num::F16 && !packed;
    let text = match code {
        128..=192 => {
            decimal(code - 128, out);
            return Ok(());
        }
        193..=208 => {
            out.push('-');
            decimal(code - 192, out);
            return Ok(());
        }
        240 if half_bits => "0x3800",
        241 if half_bits => "0xb800",
        242 if half_bits => "0x3c00",
        243 if half_bits => "0xbc00",
        244 if half_bits => "0x4000",
        245 if half_bits => "0xc000",
        246 if half_bits => "0x4400",
        247 if half_bits => "0xc400",
        248 if half_bits => "0x3118",
        240 => "0.5",
        241 => "-0.5",
        242 => "1.0",
        243 => "-1.0",
        244 => "2.0",
        245 => "-2.0",
        246 => "4.0",
        247 => "-4.0",
        248 if matches!(num, Num::F64 | Num::I64 | Num::U64 | Num::B64) => "0.15915494309189532",
        248 => "0.15915494",
        _ => return write!(out, "inline{code}"),
    };
    out.write_str(text)
}

/// Appends a literal. A literal with the value of an inline constant is printed like that constant. For a
/// half-precision operand, only the low half is printed. The same holds for a 16-bit integer, unless it has
/// the value of a 32-bit inline constant.
fn write_literal(value: u32, num: Num, packed: bool, out: &mut String) -> fmt::Result {
    let (value, inline) = match num {
        Num::F16 => (value & 0xffff, inline_half(value as u16).map(Operand::Inline)),
        // For a 64-bit float, the literal is the high half of the value.
        Num::F64 => (value, Operand::int64(i64::from(value) << 32)),
        _ if num.is_wide() => (value, Operand::int64(i64::from(value))),
        _ if num.is_half() => (value & 0xffff, Some(Operand::int(value as i32))),
        _ => (value, Some(Operand::int(value as i32))),
    };
    match inline {
        Some(Operand::Inline(code)) => {
            write_inline(code, if num.is_half() { Num::F16 } else { num }, packed, out)
        }
        _ => write!(out, "{value:#x}"),
    }
}

/// Appends the literal of a packed instruction. It is printed as one word, unless it is an inline constant in
/// the low half.
fn write_packed(value: u32, num: Num, out: &mut String) -> fmt::Result {
    // A low half with the bits of a small negative integer is not printed as that integer (such as -1),
    // because the word is another number.
    let half =
        u16::try_from(value).ok().filter(|&half| num == Num::F16 && half < 0xfff0).and_then(inline_half);
    let word = if num == Num::F16 {
        Operand::int64(i64::from(value as i32))
    } else {
        Some(Operand::int(value as i32))
    };
    match half.map(Operand::Inline).or(word) {
        Some(Operand::Inline(code)) => write_inline(code, Num::F16, true, out),
        _ => write!(out, "{value:#x}"),
    }
}
