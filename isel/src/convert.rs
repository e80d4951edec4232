//! Type conversions.

use crate::class::Home;
use crate::float::FloatSource;
use crate::lower::Lower;
use crate::roles::Role;
use ir::{CastOp, Inst, Type, Value};
use isa::Operand;

/// Conversions between numeric types. Each entry has the operation, the source type, the destination type,
/// and the role that does the conversion.
const NUMERIC: &[(CastOp, Type, Type, Role)] = &[
    (CastOp::SToF, Type::I32, Type::F32, Role::VCvtF32I32),
    (CastOp::SToF, Type::I32, Type::F64, Role::VCvtF64I32),
    (CastOp::UToF, Type::I32, Type::F32, Role::VCvtF32U32),
    (CastOp::UToF, Type::I32, Type::F64, Role::VCvtF64U32),
    // Conversions to integers saturate and return 0 for NaN (Vega ISA, V_CVT_U32_F32).
    (CastOp::FToS, Type::F32, Type::I32, Role::VCvtI32F32),
    (CastOp::FToS, Type::F64, Type::I32, Role::VCvtI32F64),
    (CastOp::FToU, Type::F32, Type::I32, Role::VCvtU32F32),
    (CastOp::FToU, Type::F64, Type::I32, Role::VCvtU32F64),
    (CastOp::FExt, Type::F16, Type::F32, Role::VCvtF32F16),
    (CastOp::FTrunc, Type::F32, Type::F16, Role::VCvtF16F32),
    (CastOp::FExt, Type::F32, Type::F64, Role::VCvtF64F32),
    (CastOp::FTrunc, Type::F64, Type::F32, Role::VCvtF32F64),
];

impl Lower<'_> {
    /// Lowers a conversion.
    pub fn cast(&mut self, inst: Inst, op: CastOp) {
        let result = self.func.insts[inst].first;
        let arg = self.func.args(inst)[0];
        if op == CastOp::SpaceCast && self.apertures(result, arg) {
            return;
        }
        let (from, to) = (self.ty(arg), self.ty(result));
        if let Some(&(.., code)) = NUMERIC.iter().find(|&&(o, f, t, _)| (o, f, t) == (op, from, to)) {
            let dst = self.vgpr_of(result);
            let x = match from.is_float() {
                true => self.float_source(arg),
                false => FloatSource::plain(self.source(arg)),
            };
            return self.emit_float(code, dst, &[x]);
        }
        if self.is_bool(result) {
            return self.unsupported("a conversion to bool");
        }
        if self.home(result) == Home::Sgpr {
            self.scalar_cast(result, op, arg);
        } else {
            self.vector_cast(result, op, arg);
        }
    }

    fn scalar_cast(&mut self, result: Value, op: CastOp, arg: Value) {
        let dst = self.sgpr_of(result);
        let low = self.dword(dst, 0);
        let wide = self.ty(result).bits() == 64;
        match op {
            CastOp::Zext | CastOp::Sext => {
                let x = self.scalar(arg);
                let bool_sext = self.is_bool(arg) && op == CastOp::Sext;
                if bool_sext {
                    self.emit(Role::SSubU32, &[low, Operand::int(0), x]);
                } else {
                    self.copy(low, x);
                }
                if wide && op == CastOp::Zext {
                    let high = self.dword(dst, 1);
                    self.copy(high, Operand::int(0));
                } else if wide {
                    let high = self.dword(dst, 1);
                    self.emit(Role::SAshrI32, &[high, low, Operand::int(31)]);
                }
            }
            CastOp::Zext8 | CastOp::Zext16 | CastOp::HalfBits => {
                let bits = if op == CastOp::Zext8 { 0xff } else { 0xffff };
                let x = self.scalar(arg);
                self.emit(Role::SAndB32, &[dst, x, Operand::int(bits)]);
            }
            CastOp::Sext8 => {
                let x = self.scalar(arg);
                self.emit(Role::SSextI32I8, &[dst, x]);
            }
            CastOp::Sext16 => {
                let x = self.scalar(arg);
                self.emit(Role::SSextI32I16, &[dst, x]);
            }
            CastOp::Trunc => {
                let x = self.scalar_halves(arg);
                self.copy(dst, x[0]);
            }
            _ if self.ty(arg).bits() == 64 => {
                let x = self.scalar_halves(arg);
                let high = self.dword(dst, 1);
                self.copy(low, x[0]);
                self.copy(high, x[1]);
            }
            _ => {
                let x = self.scalar(arg);
                self.copy(dst, x);
            }
        }
    }

    fn vector_cast(&mut self, result: Value, op: CastOp, arg: Value) {
        if self.is_bool(arg) {
            return self.bool_to_int(result, op, arg);
        }
        match op {
            CastOp::Zext | CastOp::Sext => self.extend(result, op, arg),
            CastOp::Zext8 | CastOp::Zext16 | CastOp::HalfBits => {
                let bits = if op == CastOp::Zext8 { 0xff } else { 0xffff };
                let (x, dst) = (self.source(arg), self.vgpr_of(result));
                self.emit(Role::VAndB32, &[dst, Operand::int(bits), x]);
            }
            CastOp::Sext8 | CastOp::Sext16 => {
                let bits = if op == CastOp::Sext8 { 8 } else { 16 };
                let (x, dst) = (self.source(arg), self.vgpr_of(result));
                self.emit(Role::VBfeI32, &[dst, x, Operand::int(0), Operand::int(bits)]);
            }
            CastOp::Trunc => {
                let (x, dst) = (self.low_source(arg), self.vgpr_of(result));
                self.copy(dst, x);
            }
            CastOp::Bitcast | CastOp::BitsHalf | CastOp::PtrToInt | CastOp::IntToPtr | CastOp::SpaceCast => {
                let dst = self.vgpr_of(result);
                if self.ty(arg).bits() == 64 {
                    let x = self.halves(arg);
                    for (n, part) in (0..).zip(x) {
                        let to = self.dword(dst, n);
                        self.copy(to, part);
                    }
                } else {
                    let x = self.source(arg);
                    self.copy(dst, x);
                }
            }
            _ => self.unsupported("a conversion between 64-bit integers and floats"),
        }
    }

    fn bool_to_int(&mut self, result: Value, op: CastOp, arg: Value) {
        let (dst, mask) = (self.vgpr_of(result), self.mask(arg));
        let low = self.dword(dst, 0);
        let one = Operand::int(if op == CastOp::Sext { -1 } else { 1 });
        self.emit(Role::VCndmaskB32, &[low, Operand::int(0), one, mask]);
        if self.ty(result).bits() == 64 {
            let high = self.dword(dst, 1);
            let from = if op == CastOp::Sext { low } else { Operand::int(0) };
            self.copy(high, from);
        }
    }

    fn extend(&mut self, result: Value, op: CastOp, arg: Value) {
        let x = self.source(arg);
        if !self.wants_vgpr(result) && !self.wants_sgpr(result) {
            let low = self.low_of(result);
            return self.copy(low, x);
        }
        let dst = self.vgpr_of(result);
        let (low, high) = (self.dword(dst, 0), self.dword(dst, 1));
        self.copy(low, x);
        if op == CastOp::Zext {
            self.copy(high, Operand::int(0));
        } else {
            self.emit(Role::VAshrI32, &[high, Operand::int(31), x]);
        }
    }
}
