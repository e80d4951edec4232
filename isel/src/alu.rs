//! Selection of 32-bit integer arithmetic on the vector unit. On GFX9 and GFX10, this includes instructions
//! that do two operations at once, such as `v_add3_u32`.

use crate::class::Home;
use crate::half;
use crate::lower::Lower;
use crate::packed;
use crate::roles::{Resolution, Role};
use ir::{BinOp, Inst, Op, TernOp, Type, UnOp, Value};
use isa::Operand;
use isa::legal::constant_bus_limit;

/// Operations that a single instruction computes.
const DIRECT: &[(BinOp, Role)] = &[
    (BinOp::Add, Role::VAddU32),
    (BinOp::Sub, Role::VSubU32),
    (BinOp::UMulHi, Role::VMulHiU32),
    (BinOp::SMulHi, Role::VMulHiI32),
    (BinOp::And, Role::VAndB32),
    (BinOp::Or, Role::VOrB32),
    (BinOp::Xor, Role::VXorB32),
    (BinOp::UMin, Role::VMinU32),
    (BinOp::UMax, Role::VMaxU32),
    (BinOp::SMin, Role::VMinI32),
    (BinOp::SMax, Role::VMaxI32),
    (BinOp::UMul24, Role::VMulU32U24),
    (BinOp::SMul24, Role::VMulI32I24),
];

/// Two operations that one instruction computes: `outer(inner(a, b), c)`. The instruction is used only if
/// nothing else uses the result of the inner operation.
struct Fused {
    outer: BinOp,
    inner: BinOp,
    op: Role,
    /// Whether the instruction is used only if the inner operation is a shift by a constant.
    shift: bool,
}

const FUSED: &[Fused] = &[
    Fused { outer: BinOp::Add, inner: BinOp::Shl, op: Role::VShlAddU32, shift: true },
    Fused { outer: BinOp::Add, inner: BinOp::Add, op: Role::VAdd3U32, shift: false },
    Fused { outer: BinOp::Add, inner: BinOp::Xor, op: Role::VXorAddU32, shift: false },
    Fused { outer: BinOp::Or, inner: BinOp::Shl, op: Role::VShlOrB32, shift: true },
    Fused { outer: BinOp::Or, inner: BinOp::And, op: Role::VAndOrB32, shift: false },
    Fused { outer: BinOp::Or, inner: BinOp::Or, op: Role::VOr3B32, shift: false },
    Fused { outer: BinOp::Xor, inner: BinOp::Xor, op: Role::VXor3B32, shift: false },
];

impl Lower<'_> {
    /// Lowers 32-bit integer arithmetic.
    pub fn vector_op(&mut self, inst: Inst, op: Op) {
        let result = self.func.insts[inst].first;
        let args = self.func.args(inst);
        match op {
            Op::Un(un) => self.vector_un(result, un, args[0]),
            Op::Bin(bin) => self.vector_bin(result, bin, args[0], args[1]),
            Op::PtrAdd => self.vector_bin(result, BinOp::Add, args[0], args[1]),
            Op::Tern(tern) => self.vector_tern(result, tern, [args[0], args[1], args[2]]),
            _ => self.unsupported("a vector operation"),
        }
    }

    fn vector_un(&mut self, result: Value, un: UnOp, arg: Value) {
        let (dst, a) = (self.vgpr_of(result), self.source(arg));
        match un {
            UnOp::Not => self.emit(Role::VNotB32, &[dst, a]),
            UnOp::Neg => self.emit(Role::VSubU32, &[dst, Operand::int(0), a]),
            UnOp::Popcount => self.emit(Role::VBcntU32B32, &[dst, a, Operand::int(0)]),
            UnOp::ReverseBits => self.emit(Role::VBfrevB32, &[dst, a]),
            UnOp::Clz | UnOp::Ctz => {
                let raw = self.vtemp(1);
                let find = if un == UnOp::Clz { Role::VFfbhU32 } else { Role::VFfblB32 };
                self.emit(find, &[raw, a]);
                // The instruction returns -1 for zero.
                self.emit(Role::VMinU32, &[dst, raw, Operand::int(32)]);
            }
            _ => self.unsupported("a vector operation"),
        }
    }

    fn vector_bin(&mut self, result: Value, bin: BinOp, a: Value, b: Value) {
        if self.fused(result, bin, a, b) {
            return;
        }
        if let Some(role) = packed::role(Op::Bin(bin)) {
            let of_floats = bin.of_halves().is_some_and(|(_, ty)| ty == Type::F16);
            // The instructions for shifts take the count first.
            let shift = matches!(bin, BinOp::PkShl | BinOp::PkLShr | BinOp::PkAShr);
            let args = if shift { [b, a] } else { [a, b] };
            return self.packed(role, result, &args, of_floats);
        }
        let dst = self.vgpr_of(result);
        match bin {
            BinOp::Mul => self.vector_mul(dst, a, b),
            BinOp::Shl => self.vector_shift(dst, Role::VShlB32, a, b),
            BinOp::LShr => self.vector_shift(dst, Role::VShrB32, a, b),
            BinOp::AShr => self.vector_shift(dst, Role::VAshrI32, a, b),
            // The subtraction of a constant becomes the addition of the negated constant. A subtraction
            // instruction could need a register for the literal, which an addition has in its encoding.
            BinOp::Sub if self.const_u32(b).is_some() => {
                let minus = self.const_u32(b).unwrap_or(0).wrapping_neg();
                let x = self.source(a);
                self.emit(Role::VAddU32, &[dst, Operand::int(minus as i32), x]);
            }
            _ => {
                let Some(&(_, op)) = DIRECT.iter().find(|(have, _)| *have == bin) else {
                    return self.unsupported("a vector operation");
                };
                let (x, y) = (self.source(a), self.source(b));
                self.emit(op, &[dst, x, y]);
            }
        }
    }

    fn vector_shift(&mut self, dst: Operand, op: Role, a: Value, count: Value) {
        let (x, count) = (self.source(a), self.shift_count(count));
        self.emit(op, &[dst, count, x]);
    }

    /// Returns a shift count for the vector unit: one dword, of which the hardware uses the low bits.
    pub fn shift_count(&mut self, count: Value) -> Operand {
        match self.const_bits(count) {
            Some(bits) => Operand::int((bits & 63) as i32),
            None => self.low_source(count),
        }
    }

    /// Returns the low dword of a value as an operand: a constant, SGPR or VGPR, without a copy to another
    /// register class.
    pub fn low_source(&mut self, value: Value) -> Operand {
        if self.ty(value).bits() != 64 {
            return self.source(value);
        }
        if let Some(bits) = self.const_bits(value) {
            return Operand::int(bits as u32 as i32);
        }
        match self.home(value) {
            Home::Sgpr => {
                let whole = self.sgpr_of(value);
                self.dword(whole, 0)
            }
            _ => match self.func.def_inst(value).map(|i| (self.func.insts[i].op, i)) {
                Some((Op::Cast(ir::CastOp::Zext | ir::CastOp::Sext), inst))
                    if self.ty(self.func.args(inst)[0]) == Type::I32 =>
                {
                    self.source(self.func.args(inst)[0])
                }
                _ => self.low_of(value),
            },
        }
    }

    fn vector_mul(&mut self, dst: Operand, a: Value, b: Value) {
        let small = |v| self.max_bits(v) <= 24;
        let op = if small(a) && small(b) { Role::VMulU32U24 } else { Role::VMulLoU32 };
        let (x, y) = (self.source(a), self.source(b));
        self.emit(op, &[dst, x, y]);
    }

    /// Looks for one instruction that computes both the operation `outer` and the operation that computes one
    /// of its operands, such as `v_lshl_add_u32` for `(a << b) + c`. Emits the instruction if there is one,
    /// and returns whether there is.
    fn fused(&mut self, result: Value, outer: BinOp, a: Value, b: Value) -> bool {
        if !matches!(outer, BinOp::Add | BinOp::Or | BinOp::Xor | BinOp::Shl) {
            return false;
        }
        if outer == BinOp::Shl {
            return self.add_then_shift(result, a, b);
        }
        if outer == BinOp::Or && self.join_halves(result, a, b) {
            return true;
        }
        for (x, y) in [(b, a), (a, b)] {
            let Some((inner, p, q)) = self.inner(x) else { continue };
            if outer == BinOp::Add && inner == BinOp::Mul && self.multiply_add(result, p, q, y) {
                return true;
            }
            let Some(row) = FUSED.iter().find(|row| row.outer == outer && row.inner == inner) else {
                continue;
            };
            let count = self.const_u32(q);
            if row.shift && count.is_none() {
                continue;
            }
            if self.scalars(&[p, q, y]) > self.scalars_of(row.op) {
                continue; // the copies would cost as much as fusing saves
            }
            let second = match count {
                Some(bits) if row.shift => Operand::int((bits & 31) as i32),
                _ => self.source(q),
            };
            let (first, third, dst) = (self.source(p), self.source(y), self.vgpr_of(result));
            self.emit(row.op, &[dst, first, second, third]);
            return true;
        }
        false
    }

    /// Returns the operation that defines `value`, with its operands, if it can be part of a fused
    /// instruction. It must be a 32-bit operation on the vector unit, and the current instruction must be its
    /// only user.
    fn inner(&self, value: Value) -> Option<(BinOp, Value, Value)> {
        let inst = self.foldable(value)?;
        if self.home(value) != Home::Vgpr || self.ty(value).bits() != 32 {
            return None;
        }
        match self.func.insts[inst].op {
            Op::Bin(bin) => Some((bin, self.func.args(inst)[0], self.func.args(inst)[1])),
            _ => None,
        }
    }

    fn add_then_shift(&mut self, result: Value, a: Value, count: Value) -> bool {
        let (Some((BinOp::Add, p, q)), Some(count)) = (self.inner(a), self.const_u32(count)) else {
            return false;
        };
        if self.scalars(&[p, q]) > self.scalars_of(Role::VAddShlU32) {
            return false;
        }
        let (x, y, dst) = (self.source(p), self.source(q), self.vgpr_of(result));
        self.emit(Role::VAddShlU32, &[dst, x, y, Operand::int((count & 31) as i32)]);
        true
    }

    /// Emits `p * q + y` as a single 24-bit multiply-add (`v_mad_u32_u24`). This is possible if both factors
    /// have at most 24 bits. Returns whether it was.
    fn multiply_add(&mut self, result: Value, p: Value, q: Value, y: Value) -> bool {
        if self.max_bits(p) > 24
            || self.max_bits(q) > 24
            || self.scalars(&[p, q, y]) > self.scalars_of(Role::VMadU32U24)
        {
            return false;
        }
        let (a, b, c, dst) = (self.source(p), self.source(q), self.source(y), self.vgpr_of(result));
        self.emit(Role::VMadU32U24, &[dst, a, b, c]);
        true
    }

    /// Returns how many operands from the constant bus (SGPRs and literals) the instruction for a role
    /// accepts. Returns 1 if an expansion implements the role.
    fn scalars_of(&self, role: Role) -> usize {
        match self.s.roles.get(role) {
            Resolution::Opcode(op) => constant_bus_limit(self.target, op.row()),
            _ => 1,
        }
    }

    /// Returns how many of the values are read over the constant bus: SGPRs (each counted once) and literals.
    fn scalars(&self, values: &[Value]) -> usize {
        let mut count = 0;
        for (n, &value) in values.iter().enumerate() {
            let bus = match self.const_u32(value) {
                Some(bits) => matches!(Operand::int(bits as i32), Operand::Literal(_)),
                None => self.home(value) == Home::Sgpr,
            };
            count += usize::from(bus && !values[..n].contains(&value));
        }
        count
    }

    fn sum_of_products(&mut self, role: Role, result: Value, args: [Value; 3]) {
        let [a, b, c] = args.map(|arg| self.source(arg));
        let dst = self.vgpr_of(result);
        let mut inst = self.instruction(role, &[dst, a, b, c]);
        inst.mods.op_sel_hi = 0b111;
        self.emit_inst(inst);
    }

    fn vector_tern(&mut self, result: Value, tern: TernOp, [a, b, c]: [Value; 3]) {
        let args = [a, b, c];
        let op = match tern {
            TernOp::PkFma => return self.packed(Role::VPkFmaF16, result, &args, true),
            TernOp::Fshr => Role::VAlignbitB32,
            TernOp::Bfi => Role::VBfiB32,
            TernOp::Ubfe => Role::VBfeU32,
            TernOp::Sbfe => Role::VBfeI32,
            TernOp::Perm => Role::VPermB32,
            _ => match half::parts(tern) {
                Some(role) => return self.sum_of_products(role, result, args),
                None => return self.unsupported("a vector operation"),
            },
        };
        let (x, y, dst) = (self.source(a), self.source(b), self.vgpr_of(result));
        let z = match (tern, self.const_u32(c)) {
            (TernOp::Fshr, Some(bits)) => Operand::int((bits & 31) as i32),
            _ => self.source(c),
        };
        self.emit(op, &[dst, x, y, z]);
    }
}
