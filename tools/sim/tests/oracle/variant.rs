//! Ways of writing an instruction: what the modifiers do around its meaning, from the ISA manuals ("Sub-dword addressing",
//! "DPP", "Packed math", "Input modifiers", "Output modifiers"). Nothing here is taken from the emulator.

use super::cases::sources;
use super::native::Expected;
use super::output::{self, Shape, shape};
use super::shuffle::Shuffle;
use super::{Input, Mode, OLD, SOURCES};
use isa::table::{Caps, Family, Kind, Num, OpSpec, Role, Row};
use isa::{Form, SdwaSel, Target};
use std::borrow::Cow;
use std::fmt::Write as _;

/// What is done to a source.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Source {
    /// Negated; of a packed instruction: the low half.
    pub neg: bool,
    /// Without its sign; of a packed instruction: the high half is negated.
    pub abs: bool,
    /// SDWA: extended with its sign.
    pub sext: bool,
    /// SDWA: the part that is taken.
    pub select: SdwaSel,
}

/// A way of writing an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Variant {
    /// Encoding.
    pub form: Form,
    /// Per source.
    pub sources: [Source; 3],
    /// `clamp`.
    pub clamp: bool,
    /// 1 `mul:2`, 2 `mul:4`, 3 `div:2`.
    pub omod: u8,
    /// A bit per source and, behind them, one of the destination.
    pub op_sel: u8,
    /// A bit per source of a packed instruction.
    pub op_sel_hi: u8,
    /// SDWA: the part that is written.
    pub dst: SdwaSel,
    /// SDWA: what becomes of the rest: 0 zero, 1 sign above and zero below, 2 kept.
    pub unused: u8,
    /// DPP.
    pub shuffle: Option<Shuffle>,
    /// A constant in place of a register.
    pub constant: Option<Constant>,
}

/// A source that is a constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constant {
    /// Which source.
    pub source: usize,
    /// As it is written.
    pub text: &'static str,
    /// What the instruction sees.
    pub value: u64,
}

/// What modifiers mean for a row.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Plain,
    Packed,
    Mixed,
}

fn way(row: &Row) -> Way {
    match row.family {
        Family::Vop3p if row.caps.contains(Caps::MIX) => Way::Mixed,
        Family::Vop3p => Way::Packed,
        _ => Way::Plain,
    }
}

/// Whether the source of a VOP3P instruction holds two values.
pub fn is_pair(row: &Row, spec: &OpSpec) -> bool {
    let single = row.name.starts_with("v_dot") && matches!(spec.num, Num::F32 | Num::I32 | Num::U32);
    way(row) == Way::Packed && !single
}

impl Variant {
    /// Nothing but the encoding.
    pub fn plain(form: Form) -> Variant {
        Variant { form, op_sel_hi: 7, ..Variant::default() }
    }

    /// Whether the instruction sees what stands in its registers.
    pub fn is_plain(&self) -> bool {
        matches!(self.form, Form::Full | Form::E32) && *self == Variant::plain(self.form)
    }

    /// A source with its modifiers.
    pub fn wrap(&self, row: &Row, number: usize, register: &str) -> String {
        let Source { neg, abs, sext, .. } = self.sources[number];
        if let Some(constant) = self.constant.filter(|constant| constant.source == number) {
            return constant.text.to_owned();
        }
        if way(row) == Way::Packed {
            return register.to_owned();
        }
        let inner = match (abs, sext) {
            (true, _) => format!("|{register}|"),
            (_, true) => format!("sext({register})"),
            _ => register.to_owned(),
        };
        if neg { format!("-{inner}") } else { inner }
    }

    /// What is written behind the operands.
    pub fn suffix(&self, row: &Row) -> String {
        let count = sources(row).count();
        let mut text = String::new();
        let list = |name: &str, bits: u8, count: usize| {
            let bits: Vec<String> = (0..count).map(|at| (bits >> at & 1).to_string()).collect();
            format!(" {name}:[{}]", bits.join(","))
        };
        let bits = |of: fn(&Source) -> bool| {
            self.sources.iter().enumerate().fold(0, |all, (at, source)| all | u8::from(of(source)) << at)
        };
        match way(row) {
            Way::Packed if !self.is_plain() => {
                text += &list("op_sel", self.op_sel, count);
                text += &list("op_sel_hi", self.op_sel_hi, count);
                if bits(|s| s.neg || s.abs) != 0 {
                    text += &list("neg_lo", bits(|s| s.neg), count);
                    text += &list("neg_hi", bits(|s| s.abs), count);
                }
            }
            Way::Mixed if !self.is_plain() => {
                text += &list("op_sel", self.op_sel, count);
                text += &list("op_sel_hi", self.op_sel_hi, count);
            }
            Way::Plain if self.op_sel != 0 => text += &list("op_sel", self.op_sel, count + 1),
            _ => {}
        }
        if self.form == Form::Sdwa {
            if row.family != Family::Vopc {
                let unused = ["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"][usize::from(self.unused)];
                let _ = write!(text, " dst_sel:{} dst_unused:{unused}", select_name(self.dst));
            }
            for (at, source) in self.sources[..count.min(2)].iter().enumerate() {
                let _ = write!(text, " src{at}_sel:{}", select_name(source.select));
            }
        }
        if let Some(shuffle) = &self.shuffle {
            text += &shuffle.text();
        }
        let modifiers = format!(
            "{}{}",
            if self.clamp { " clamp" } else { "" },
            ["", " mul:2", " mul:4", " div:2"][usize::from(self.omod)]
        );
        // `clamp` stands before the selections of SDWA, and behind the lists of VOP3P.
        if self.form == Form::Sdwa { modifiers + &text } else { text + &modifiers }
    }

    /// What the instruction's meaning sees.
    pub fn prepare<'a>(
        &self,
        row: &Row,
        target: &Target,
        exec: u64,
        inputs: &'a [Input],
    ) -> Cow<'a, [Input]> {
        if self.is_plain() && way(row) != Way::Mixed {
            return Cow::Borrowed(inputs);
        }
        let lanes = target.wave_size as usize;
        let seen = inputs.iter().enumerate().map(|(at, &input)| {
            let mut seen = input;
            if let Some(Constant { source, value, .. }) = self.constant {
                seen.words[SOURCES[source]] = value as u32;
                seen.words[SOURCES[source] + 1] = (value >> 32) as u32;
            }
            if let Some(shuffle) = &self.shuffle {
                let from = shuffle.readable(at % lanes, lanes, exec);
                for word in 0..2 {
                    seen.words[word] = from.map_or(0, |from| inputs[at / lanes * lanes + from].words[word]);
                }
            }
            for (number, spec) in sources(row).enumerate() {
                self.change(row, number, spec, &mut seen);
            }
            seen
        });
        Cow::Owned(seen.collect())
    }

    fn change(&self, row: &Row, number: usize, spec: &OpSpec, seen: &mut Input) {
        let Source { neg, abs, sext, select } = self.sources[number];
        let at = SOURCES[number];
        let (op_sel, op_sel_hi) = (self.op_sel >> number & 1 != 0, self.op_sel_hi >> number & 1 != 0);
        let [low, high] = [seen.words[at], seen.words[at + 1]];
        let half = |upper: bool| if upper { low >> 16 } else { low & 0xffff };
        if is_pair(row, spec) {
            if spec.width == 2 {
                let pick = |upper: bool| if upper { high } else { low };
                seen.words[at] = pick(op_sel) ^ u32::from(neg) << 31;
                seen.words[at + 1] = pick(op_sel_hi) ^ u32::from(abs) << 31;
            } else {
                let (low, high) = (half(op_sel), half(op_sel_hi));
                seen.words[at] = (low ^ u32::from(neg) << 15) | (high ^ u32::from(abs) << 15) << 16;
            }
            return;
        }
        match way(row) {
            Way::Mixed if op_sel_hi && !self.is_plain() => {
                seen.words[at] = half::f16::from_bits(half(op_sel) as u16).to_f32().to_bits();
            }
            Way::Plain if self.form == Form::Sdwa => seen.words[at] = selected(low, select, sext),
            Way::Plain if op_sel && spec.num.is_half() => seen.words[at] = low >> 16,
            _ => {}
        }
        if way(row) == Way::Packed {
            return;
        }
        let (word, bit) = match spec.num {
            Num::F64 => (at + 1, 31),
            Num::F16 => (at, 15),
            _ => (at, 31),
        };
        let sign = 1 << bit;
        if abs {
            seen.words[word] &= !sign;
        }
        if neg {
            seen.words[word] ^= sign;
        }
    }

    /// Whether `clamp` saturates integers: a part of the instruction's own meaning.
    pub fn saturates(&self, row: &Row) -> bool {
        self.clamp && !shape(row).is_float()
    }

    /// What the lane holds in the end, and how it is to be compared.
    pub fn finish(
        &self,
        row: &Row,
        target: &Target,
        mode: Mode,
        exec: u64,
        before: &Input,
        mut expected: Expected,
    ) -> (Expected, Shape) {
        let shape = shape(row);
        if shape.is_float() {
            // Two halves that are only put together stay as they are: the manuals do not say that `clamp` changes them.
            let clamp = self.clamp && row.caps.contains(Caps::CLAMP);
            output::modify(row, shape, mode, self.omod, clamp, &mut expected);
        }
        if let Some(shuffle) = &self.shuffle {
            let (lane, lanes) = (before.lane as usize, target.wave_size as usize);
            expected.kept = !shuffle.writes(lane, lanes, exec);
        }
        // Whether denormal halves among the sources are flushed the manuals do not say.
        if way(row) == Way::Mixed && mode.float >> 6 & 1 == 0 {
            let halves = (0..3).filter(|at| self.op_sel_hi >> at & 1 != 0);
            expected.any |= halves
                .map(|at| before.words[SOURCES[at]] >> (16 * (self.op_sel >> at & 1)))
                .any(|half| half & 0x7c00 == 0 && half & 0x3ff != 0);
        }
        let narrow = row.ops.first().is_some_and(|spec| spec.kind == Kind::Vgpr && spec.num.is_half());
        let old = before.words[OLD];
        if self.form == Form::Sdwa && row.ops.first().is_some_and(|spec| spec.kind == Kind::Vgpr) {
            // A part of a number, of which only the bits can be compared.
            expected.any |= output::is_inexact(shape, &expected);
            let result = expected.words[0] & if narrow { 0xffff } else { u32::MAX };
            expected.words[0] = placed(result, self.dst, self.unused, old);
            return (expected, if shape == Shape::Nothing { shape } else { Shape::Bits(1) });
        }
        let count = sources(row).count();
        if way(row) == Way::Plain && narrow && self.op_sel >> count & 1 != 0 {
            expected.any |= output::is_inexact(shape, &expected);
            expected.words[0] = old & 0xffff | expected.words[0] << 16;
            return (expected, Shape::Bits(1));
        }
        (expected, shape)
    }
}

fn select_name(select: SdwaSel) -> &'static str {
    ["BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"][select as usize]
}

/// First bit and number of bits of a part.
fn part(select: SdwaSel) -> (u32, u32) {
    match select {
        SdwaSel::Dword => (0, 32),
        SdwaSel::Word0 => (0, 16),
        SdwaSel::Word1 => (16, 16),
        byte => (8 * byte as u32, 8),
    }
}

fn selected(value: u32, select: SdwaSel, sext: bool) -> u32 {
    let (at, bits) = part(select);
    let field = u64::from(value) >> at & ((1 << bits) - 1);
    let negative = sext && field >> (bits - 1) & 1 != 0;
    if negative { (field as i64 - (1i64 << bits)) as u32 } else { field as u32 }
}

fn placed(result: u32, dst: SdwaSel, unused: u8, old: u32) -> u32 {
    let (at, bits) = part(dst);
    let field = u64::from(result) & ((1 << bits) - 1);
    let mask = (((1u64 << bits) - 1) << at) as u32;
    let negative = field >> (bits - 1) & 1 != 0;
    let above = if negative && at + bits < 32 { u32::MAX << (at + bits) } else { 0 };
    let rest = [0, above, old & !mask][usize::from(unused)];
    (field << at) as u32 | rest
}

/// Whether a target's SDWA instruction writes its comparison to any SGPRs.
pub fn names_mask(row: &Row, form: Form, target: &Target) -> bool {
    let sdwa = form == Form::Sdwa && row.family == Family::Vopc && target.version.0 >= 9;
    form == Form::Full || sdwa
}

/// Whether the row writes a mask.
pub fn writes_mask(row: &Row) -> bool {
    row.ops.iter().any(|spec| spec.kind == Kind::Mask && spec.role == Role::Def)
}
