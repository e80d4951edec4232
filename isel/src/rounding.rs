//! Rounding of 64-bit floats to integers, and fractions, exponents and mantissas of floats, for processors
//! whose instructions for these operations are missing or defective (GFX6).
//!
//! Adding 2^52 to a smaller positive number leaves no bits for a fraction, and subtracting 2^52 again gives
//! the nearest integer. The nearest integer differs by at most one from the result of rounding down, up or
//! towards 0. Numbers from 2^52 on, infinities and NaNs are returned unchanged. At the end the result gets
//! the sign of the original number, which gives zeros the right sign too.

use crate::float::FloatSource;
use crate::lower::Lower;
use crate::roles::{Expansion, Role};
use isa::{Opcode, Operand, op};

/// 2^52 as f64.
const NO_FRACTION: u64 = 0x4330_0000_0000_0000;
/// 1.0 as an inline constant.
const ONE: u16 = 242;
/// Constants for fractions: the high dword of the f64 1.0, the high dword of the largest f64 below 1.0, and
/// the largest f32 below 1.0.
const ONE_HIGH: i32 = 0x3ff0_0000;
const BELOW_ONE_HIGH: i32 = 0x3fef_ffff;
const BELOW_ONE: i32 = 0x3f7f_ffff;

impl Lower<'_> {
    /// Emits the expansion of a role that has a single source. The source is a float operand with modifiers
    /// (negation, absolute value), which are applied first.
    pub fn expand_float(&mut self, expansion: Expansion, dst: Operand, source: FloatSource) {
        let double = self.regs(dst).len() == 2 || expansion == Expansion::FiniteExponentF64;
        let plain = !source.neg && !source.abs && matches!(source.operand, Operand::Virt(_));
        let x = match plain {
            true => source.operand,
            false => {
                // Multiplying by 2^0 applies the source modifiers, and moves a constant or scalar to VGPRs.
                let x = self.vtemp(if double { 2 } else { 1 });
                let role = if double { Role::VLdexpF64 } else { Role::VLdexpF32 };
                self.emit_float(role, x, &[source, FloatSource::plain(Operand::int(0))]);
                x
            }
        };
        self.expand(expansion, &[dst, x]);
    }

    /// Rounds the f64 `x` to an integer; the operands are `dst, x`. Without `correct`, the result is the
    /// nearest integer. `correct` rounds in one direction instead: its comparison says in which lanes the
    /// nearest integer is on the wrong side of `x`, and there 1 is subtracted, or added if the flag is set.
    /// With `toward_zero`, this is done on absolute values.
    pub fn round_f64(&mut self, o: &[Operand], correct: Option<(Role, bool)>, toward_zero: bool) {
        let (dst, x) = (o[0], o[1]);
        let of = |operand| FloatSource { operand, neg: false, abs: true };
        let least = self.sgpr_const64(NO_FRACTION);
        let (sum, mut whole) = (self.vtemp(2), self.vtemp(2));
        self.emit_float(Role::VAddF64, sum, &[of(x), FloatSource::plain(least)]);
        self.emit_float(Role::VAddF64, whole, &[FloatSource::plain(sum), FloatSource::negated(least)]);
        if !toward_zero {
            whole = self.with_sign_of(whole, x);
        }
        if let Some((compare, up)) = correct {
            let number = if toward_zero { of(x) } else { FloatSource::plain(x) };
            let (beyond, one, corrected) = (self.mask_temp(), self.vtemp(2), self.vtemp(2));
            self.emit_float(compare, beyond, &[FloatSource::plain(whole), number]);
            let halves = [self.dword(one, 0), self.dword(one, 1)];
            self.copy(halves[0], Operand::int(0));
            self.emit(Role::VCndmaskB32, &[halves[1], Operand::int(0), Operand::int(ONE_HIGH), beyond]);
            let step = FloatSource { operand: one, neg: !up, abs: false };
            self.emit_float(Role::VAddF64, corrected, &[FloatSource::plain(whole), step]);
            whole = self.with_sign_of(corrected, x);
        }
        let has_fraction = self.mask_temp();
        self.emit_float(Role::VCmpLtF64, has_fraction, &[of(x), FloatSource::plain(least)]);
        for n in 0..2 {
            let [to, from, rounded] = [dst, x, whole].map(|operand| self.dword(operand, n));
            self.emit(Role::VCndmaskB32, &[to, from, rounded, has_fraction]);
        }
    }

    /// Returns an f64 with the magnitude of `value` and the sign of `sign`.
    fn with_sign_of(&mut self, value: Operand, sign: Operand) -> Operand {
        let high = self.vtemp(1);
        let [magnitude, sign] = [value, sign].map(|operand| self.dword(operand, 1));
        let mask = self.sgpr_const(i32::MAX as u32);
        self.emit(Role::VBfiB32, &[high, mask, magnitude, sign]);
        let low = self.dword(value, 0);
        self.concat(&[low, high])
    }

    /// Computes the fraction of `x`, that is, `x` minus the next lower integer; the operands are `dst, x`. A
    /// difference that would be rounded up to 1 becomes the largest number below 1.
    pub fn fract(&mut self, o: &[Operand]) {
        let (dst, x) = (o[0], o[1]);
        let double = self.regs(dst).len() == 2;
        let (floor, add, compare) = match double {
            true => (Role::VFloorF64, Role::VAddF64, Role::VCmpEqF64),
            false => (Role::VFloorF32, Role::VAddF32, Role::VCmpEqF32),
        };
        let width = self.regs(dst).len() as u8;
        let (below, part, is_one) = (self.vtemp(width), self.vtemp(width), self.mask_temp());
        self.emit(floor, &[below, x]);
        self.emit_float(add, part, &[FloatSource::plain(x), FloatSource::negated(below)]);
        self.emit(compare, &[is_one, Operand::Inline(ONE), part]);
        let most: &[i32] = if double { &[-1, BELOW_ONE_HIGH] } else { &[BELOW_ONE] };
        for (n, &bits) in (0..).zip(most) {
            let [to, from] = [dst, part].map(|operand| self.dword(operand, n));
            self.emit(Role::VCndmaskB32, &[to, from, Operand::int(bits), is_one]);
        }
    }

    /// Computes the exponent or the mantissa of `x` by the instruction `op`; the operands are `dst, x`. If
    /// `x` is infinite or NaN, the exponent is 0, and the mantissa is `x` itself.
    pub fn finite_part(&mut self, op: Opcode, o: &[Operand]) {
        let (dst, x) = (o[0], o[1]);
        let width = self.regs(dst).len() as u8;
        let is_exponent = matches!(op, op::V_FREXP_EXP_I32_F32 | op::V_FREXP_EXP_I32_F64);
        let (compare, infinity) = match self.regs(x).len() {
            2 => (Role::VCmpLtF64, self.sgpr_const64(f64::INFINITY.to_bits())),
            _ => (Role::VCmpLtF32, Operand::int(f32::INFINITY.to_bits() as i32)),
        };
        let (part, is_finite) = (self.vtemp(width), self.mask_temp());
        self.emit(op, &[part, x]);
        let magnitude = FloatSource { operand: x, neg: false, abs: true };
        self.emit_float(compare, is_finite, &[magnitude, FloatSource::plain(infinity)]);
        for n in 0..width {
            let otherwise = if is_exponent { Operand::int(0) } else { self.dword(x, n) };
            let [to, part] = [dst, part].map(|operand| self.dword(operand, n));
            self.emit(Role::VCndmaskB32, &[to, otherwise, part, is_finite]);
        }
    }
}
