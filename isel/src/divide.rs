//! Correctly rounded division and square root, computed from the hardware's approximations.

use crate::float::FloatSource;
use crate::lower::Lower;
use crate::roles::Role;
use ir::{CastOp, Op, Type, Value};
use isa::Operand;

/// Operand of `v_cmp_class`: zeros and +infinity.
const CLASS_SQRT_IS_SELF: i32 = 1 << 5 | 1 << 6 | 1 << 9;

/// Operand of `s_denorm_mode` that keeps all denormals. Bits 0 and 1 are the mode of f32, bits 2 and 3 the
/// mode of f64 and f16 (LLVM's AMDGPU guide, seed 000, line 2889).
const KEEP_DENORMALS: Operand = Operand::Imm(0b1111);
const FLUSH_F32_DENORMALS: Operand = Operand::Imm(0b1100);

/// Roles for one float width.
struct Ops {
    scale: Role,
    rcp: Role,
    fma: Role,
    mul: Role,
    fmas: Role,
    fixup: Role,
}

const SINGLE: Ops = Ops {
    scale: Role::VDivScaleF32,
    rcp: Role::VRcpF32,
    fma: Role::VFmaF32,
    mul: Role::VMulF32,
    fmas: Role::VDivFmasF32,
    fixup: Role::VDivFixupF32,
};

const DOUBLE: Ops = Ops {
    scale: Role::VDivScaleF64,
    rcp: Role::VRcpF64,
    fma: Role::VFmaF64,
    mul: Role::VMulF64,
    fmas: Role::VDivFmasF64,
    fixup: Role::VDivFixupF64,
};

impl Lower<'_> {
    /// Returns whether the kernel flushes f32 denormals to zero.
    fn flushes(&self) -> bool {
        self.func.kernel.as_ref().is_some_and(|kernel| kernel.state.flushes())
    }

    fn fma(&mut self, op: Role, len: u8, a: FloatSource, b: Operand, c: Operand) -> Operand {
        let dst = self.vtemp(len);
        self.emit_float(op, dst, &[a, FloatSource::plain(b), FloatSource::plain(c)]);
        dst
    }

    /// Emits `a / b`, correctly rounded. Both operands are scaled into a safe range (`v_div_scale`). Newton
    /// steps refine the reciprocal of the denominator and then the quotient. `v_div_fmas` undoes the scaling
    /// in the lanes where VCC says that it is needed, and `v_div_fixup` handles the special cases (Vega ISA,
    /// V_DIV_SCALE_F32). Residuals may be denormal, so denormals are enabled here, even in a kernel that
    /// flushes them.
    pub fn float_div(&mut self, result: Value, a: Value, b: Value) {
        if self.ty(result) == Type::F16 {
            return self.half_div(result, a, b);
        }
        let double = self.ty(result) == Type::F64;
        let (ops, len) = if double { (&DOUBLE, 2) } else { (&SINGLE, 1) };
        // The operands are loaded without source modifiers, because `v_div_scale` looks at the bits of its
        // operands. They are in VGPRs because the constant bus allows only one SGPR per instruction.
        let (num, den) = (self.vgpr(a), self.vgpr(b));
        let (d, n, r0) = (self.vtemp(len), self.vtemp(len), self.vtemp(len));
        let unused = self.mask_temp();
        let one = if double { Operand::f64(1f64.to_bits()) } else { Some(Operand::f32(1f32.to_bits())) };
        let one = one.unwrap_or(Operand::None);
        let minus = FloatSource::negated(d);
        let flushes = !double && self.flushes();
        if flushes {
            self.emit_raw(Role::SDenormMode, &[KEEP_DENORMALS]);
        }
        self.emit(ops.scale, &[d, unused, den, den, num]);
        self.emit(ops.rcp, &[r0, d]);
        let mut r = r0;
        for _ in 0..if double { 2 } else { 1 } {
            let e = self.fma(ops.fma, len, minus, r, one);
            r = self.fma(ops.fma, len, FloatSource::plain(e), r, r);
        }
        // VCC is live from here to `v_div_fmas`.
        self.emit_raw(ops.scale, &[n, self.masks.vcc(), num, den, num]);
        let mut q = self.vtemp(len);
        self.emit(ops.mul, &[q, n, r]);
        // This last step makes the quotient the nearest `f64`. A quotient that an `f64` can represent is then
        // exact. Without the step, `v_div_fmas` would round a quotient halfway between two denormals as if it
        // were slightly to one side. LLVM leaves this step out for `f64`.
        let e = self.fma(ops.fma, len, minus, q, n);
        q = self.fma(ops.fma, len, FloatSource::plain(e), r, q);
        let e = self.fma(ops.fma, len, minus, q, n);
        let (unscaled, dst) = (self.vtemp(len), self.vgpr_of(result));
        self.emit(ops.fmas, &[unscaled, e, r, q]);
        if flushes {
            self.emit_raw(Role::SDenormMode, &[FLUSH_F32_DENORMALS]);
        }
        self.emit(ops.fixup, &[dst, unscaled, den, num]);
    }

    /// Emits `a / b` for f16, computed in `f32`. The quotient is then rounded twice, but the result is
    /// correct in both possible cases. If the exact quotient of the two 11-bit significands fits into an
    /// `f32`, the Newton step computes it exactly. Otherwise the quotient is more than one unit in the last
    /// place of the `f32` away from the midpoint between any two halves. No `f32` in this computation is
    /// denormal.
    fn half_div(&mut self, result: Value, a: Value, b: Value) {
        let [num, den] = [a, b].map(|half| {
            let (source, wide) = (self.float_source(half), self.vtemp(1));
            self.emit_float(Role::VCvtF32F16, wide, &[source]);
            wide
        });
        let [r, q0, quotient] = [(); 3].map(|()| self.vtemp(1));
        self.emit(Role::VRcpF32, &[r, den]);
        self.emit(Role::VMulF32, &[q0, num, r]);
        let e = self.fma(Role::VFmaF32, 1, FloatSource::negated(q0), den, num);
        let q1 = self.fma(Role::VFmaF32, 1, FloatSource::plain(e), r, q0);
        self.emit(Role::VDivFixupF32, &[quotient, q1, den, num]);
        let dst = self.vgpr_of(result);
        self.emit_float(Role::VCvtF16F32, dst, &[FloatSource::plain(quotient)]);
    }

    /// Emits an f32 square root. The hardware's result is off by at most one unit in the last place. So the
    /// residuals of the result's two neighbours are computed, which say whether a neighbour is the correct
    /// result. Small operands are scaled first, because their residuals would be denormal. An operand that
    /// was extended from an f16 is never that small.
    pub fn sqrt32(&mut self, result: Value, arg: Value) {
        let x = self.vgpr(arg);
        if self.was_half(arg) {
            return self.sqrt32_unscaled(result, x, None);
        }
        let (small, scaled, y) = (self.mask_temp(), self.vtemp(1), self.vtemp(1));
        let tiny = self.sgpr_const(0x0f80_0000); // 2^-96
        self.emit(Role::VCmpGtF32, &[small, tiny, x]);
        self.emit(Role::VMulF32, &[scaled, Operand::Literal(0x4f80_0000), x]); // 2^32
        self.emit(Role::VCndmaskB32, &[y, x, scaled, small]);
        self.sqrt32_unscaled(result, y, Some(small));
    }

    fn was_half(&self, value: Value) -> bool {
        let extended =
            self.func.def_inst(value).filter(|&inst| self.func.insts[inst].op == Op::Cast(CastOp::FExt));
        extended.is_some_and(|inst| self.ty(self.func.args(inst)[0]) == Type::F16)
    }

    /// Emits the square root of `y`, which the caller may have scaled. In the lanes of the mask `small`, `y`
    /// is the original operand times 2^32, so the root is divided by 2^16 in these lanes.
    fn sqrt32_unscaled(&mut self, result: Value, y: Operand, small: Option<Operand>) {
        let (s, down, up) = (self.vtemp(1), self.vtemp(1), self.vtemp(1));
        self.emit(Role::VSqrtF32, &[s, y]);
        self.emit(Role::VAddU32, &[down, Operand::int(-1), s]);
        self.emit(Role::VAddU32, &[up, Operand::int(1), s]);
        let below = self.fma(Role::VFmaF32, 1, FloatSource::negated(down), s, y);
        let above = self.fma(Role::VFmaF32, 1, FloatSource::negated(up), s, y);
        let (take_down, take_up) = (self.mask_temp(), self.mask_temp());
        let (r0, mut root) = (self.vtemp(1), self.vtemp(1));
        self.emit(Role::VCmpLeF32, &[take_down, below, Operand::int(0)]);
        self.emit(Role::VCndmaskB32, &[r0, s, down, take_down]);
        self.emit(Role::VCmpGtF32, &[take_up, above, Operand::int(0)]);
        self.emit(Role::VCndmaskB32, &[root, r0, up, take_up]);
        if let Some(small) = small {
            let (back, whole) = (self.vtemp(1), self.vtemp(1));
            self.emit(Role::VMulF32, &[back, Operand::Literal(0x3780_0000), root]); // 2^-16
            self.emit(Role::VCndmaskB32, &[whole, root, back, small]);
            root = whole;
        }
        let (keep, dst) = (self.mask_temp(), self.vgpr_of(result));
        let class = self.vgpr_const(CLASS_SQRT_IS_SELF as u32);
        self.emit(Role::VCmpClassF32, &[keep, y, class]);
        self.emit(Role::VCndmaskB32, &[dst, root, y, keep]);
    }

    /// Emits an f64 square root by Goldschmidt's iteration from the approximate reciprocal root.
    pub fn sqrt64(&mut self, result: Value, arg: Value) {
        let x = self.vgpr(arg);
        let small = self.mask_temp();
        let tiny = self.sgpr_const64(0x1000_0000_0000_0000); // 2^-767
        self.emit(Role::VCmpGtF64, &[small, tiny, x]);
        let (grow, y, root) = (self.vtemp(1), self.vtemp(2), self.vtemp(2));
        let up = self.vgpr_const(256);
        self.emit(Role::VCndmaskB32, &[grow, Operand::int(0), up, small]);
        self.emit(Role::VLdexpF64, &[y, x, grow]);
        self.emit(Role::VRsqF64, &[root, y]);
        let half = Operand::f64(0.5f64.to_bits()).unwrap_or(Operand::None);
        let (g0, h0) = (self.vtemp(2), self.vtemp(2));
        self.emit(Role::VMulF64, &[g0, y, root]);
        self.emit(Role::VMulF64, &[h0, root, half]);
        let plain = FloatSource::plain;
        let op = Role::VFmaF64;
        let r = self.fma(op, 2, FloatSource::negated(h0), g0, half);
        let g1 = self.fma(op, 2, plain(g0), r, g0);
        let h1 = self.fma(op, 2, plain(h0), r, h0);
        let d0 = self.fma(op, 2, FloatSource::negated(g1), g1, y);
        let g2 = self.fma(op, 2, plain(d0), h1, g1);
        let d1 = self.fma(op, 2, FloatSource::negated(g2), g2, y);
        let g3 = self.fma(op, 2, plain(d1), h1, g2);
        let (shrink, out, keep) = (self.vtemp(1), self.vtemp(2), self.mask_temp());
        let down = self.vgpr_const(-128i32 as u32);
        self.emit(Role::VCndmaskB32, &[shrink, Operand::int(0), down, small]);
        self.emit(Role::VLdexpF64, &[out, g3, shrink]);
        let class = self.vgpr_const(CLASS_SQRT_IS_SELF as u32);
        self.emit(Role::VCmpClassF64, &[keep, y, class]);
        let dst = self.vgpr_of(result);
        for n in 0..2 {
            let ops = [self.dword(dst, n), self.dword(out, n), self.dword(y, n)];
            self.emit(Role::VCndmaskB32, &[ops[0], ops[1], ops[2], keep]);
        }
    }
}
