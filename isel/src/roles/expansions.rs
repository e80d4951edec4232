//! Expansions of roles. A role is an operation that selection requests, such as a multiply-add. If a
//! processor has no instruction for it, an expansion does the same by several instructions, each of which is
//! a role again.

use super::Role;
use crate::lower::Lower;
use isa::{Operand, op};

/// Operand of `s_setreg_b32` that names the field of the MODE register for denormals: `hwreg(HW_REG_MODE, 4,
/// 4)`.
const DENORM_FIELD: Operand = Operand::Imm(1 | 4 << 6 | 3 << 11);

macro_rules! expansions {
    ($($(#[$doc:meta])* $name:ident: $($need:ident)*;)*) => {
        /// How the result of a role is computed without an instruction for the role. An expansion has the
        /// same operands as the role; the roles listed after its name are those that it emits.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Expansion { $($(#[$doc])* $name),* }

        impl Expansion {
            /// All expansions.
            pub const ALL: &[Expansion] = &[$(Expansion::$name),*];

            /// Returns the roles that the expansion uses.
            pub const fn needs(self) -> &'static [Role] {
                match self { $(Expansion::$name => &[$(Role::$need),*]),* }
            }
        }
    };
}

expansions! {
    /// An addition whose carry-out is not used.
    DropCarryOfAdd: VAddCarryOut;
    /// A subtraction whose borrow is not used.
    DropCarryOfSub: VSubCarryOut;
    /// `(a << b) + c` in two instructions.
    ShlThenAdd: VShlB32 VAddU32;
    /// `(a << 2) + b` in two instructions.
    ShlByTwoThenAdd: SShlB32 SAddU32;
    /// `(a << b) | c` in two instructions.
    ShlThenOr: VShlB32 VOrB32;
    /// `(a + b) << c` in two instructions.
    AddThenShl: VAddU32 VShlB32;
    /// `a + b + c` in two instructions.
    AddThenAdd: VAddU32;
    /// `(a ^ b) + c` in two instructions.
    XorThenAdd: VXorB32 VAddU32;
    /// `(a & b) | c` in two instructions.
    AndThenOr: VAndB32 VOrB32;
    /// `a | b | c` in two instructions.
    OrThenOr: VOrB32;
    /// `a ^ b ^ c` in two instructions.
    XorThenXor: VXorB32;
    /// The shift instruction whose count is the last operand.
    CountLastShl: VShlCountLastB64;
    /// The shift instruction whose count is the last operand.
    CountLastShr: VShrCountLastB64;
    /// The shift instruction whose count is the last operand.
    CountLastAshr: VAshrCountLastI64;
    /// Both halves of the product, then an addition with carry.
    MultiplyThenAddU64: VMulLoU32 VMulHiU32 VAddCarryOut VAddCarryInOut;
    /// Both halves of the product, then an addition with carry.
    MultiplyThenAddI64: VMulLoU32 VMulHiI32 VAddCarryOut VAddCarryInOut;
    /// Computed on the vector unit and read back.
    VectorMulHiU32: VMulHiU32 VReadfirstlaneB32;
    /// Computed on the vector unit and read back.
    VectorMulHiI32: VMulHiI32 VReadfirstlaneB32;
    /// Compares two 64-bit numbers for equality: combines the two halves of their exclusive-or by `s_or_b32`,
    /// and compares the result with 0.
    OrOfXorsIsZero: SXorB64 SOrB32 SCmpEqU32;
    /// `s_xor_b64` sets SCC if its result is not zero.
    XorIsNotZero: SXorB64;
    /// Compares the low 16 bits of a register with a 16-bit constant for equality: extracts the low half,
    /// then compares 32 bits.
    MaskThenEqual: VAndB32 VCmpEqU32;
    /// Tests whether the low 16 bits of a register differ from a 16-bit constant: extracts the low half, then
    /// compares 32 bits.
    MaskThenUnequal: VAndB32 VCmpNeU32;
    /// Rounds an f64 to the nearest integer: adding 2^52 leaves no bits for a fraction, and subtracting 2^52
    /// again gives the integer.
    RoundByAdding: VAddF64 VBfiB32 VCmpLtF64 VCndmaskB32 VLdexpF64;
    /// The nearest integer, minus one if that is too large.
    FloorByAdding: VAddF64 VBfiB32 VCmpLtF64 VCmpGtF64 VCndmaskB32 VLdexpF64;
    /// The nearest integer, plus one if that is too small.
    CeilByAdding: VAddF64 VBfiB32 VCmpLtF64 VCndmaskB32 VLdexpF64;
    /// Rounds an f64 towards zero: computes the nearest integer. If the magnitude of this integer is greater
    /// than that of the number, the result is the next integer towards 0.
    TruncByAdding: VAddF64 VBfiB32 VCmpLtF64 VCmpGtF64 VCndmaskB32 VLdexpF64;
    /// The difference to the next lower integer.
    SubtractFloorF32: VFloorF32 VAddF32 VCmpEqF32 VCndmaskB32 VLdexpF32;
    /// The difference to the next lower integer.
    SubtractFloorF64: VFloorF64 VAddF64 VCmpEqF64 VCndmaskB32 VLdexpF64;
    /// Computes the exponent of an f32 by the processor's instruction. For infinities and NaNs the
    /// instruction is wrong, and the result is set to 0.
    FiniteExponentF32: VCmpLtF32 VCndmaskB32 VLdexpF32;
    /// Computes the exponent of an f64 by the processor's instruction. For infinities and NaNs the
    /// instruction is wrong, and the result is set to 0.
    FiniteExponentF64: VCmpLtF64 VCndmaskB32 VLdexpF64;
    /// Computes the mantissa of an f32 by the processor's instruction. For infinities and NaNs the
    /// instruction is wrong, and the result is the number itself.
    FiniteMantissaF32: VCmpLtF32 VCndmaskB32 VLdexpF32;
    /// Computes the mantissa of an f64 by the processor's instruction. For infinities and NaNs the
    /// instruction is wrong, and the result is the number itself.
    FiniteMantissaF64: VCmpLtF64 VCndmaskB32 VLdexpF64;
    /// Reads values of other lanes through LDS: each lane writes its value to its own dword, then reads the
    /// dword of another lane.
    ThroughLds: LdsWriteB32 LdsReadB32 VBfiB32 VMadU32U24 VShlB32;
    /// Sends values to other lanes through LDS: each lane writes a zero to its own dword, then its value to
    /// another lane's dword, then reads its own dword.
    SentThroughLds: LdsWriteB32 LdsReadB32 VBfiB32 VMadU32U24 VShlB32;
    /// Writes the field of the MODE register.
    SetDenormField: SSetregImm32B32;
    /// A memory access wider than the processor's instructions: `memory.rs` splits it into accesses for which
    /// the processor has instructions.
    Split:;
}

impl Lower<'_> {
    /// Emits the expansion of a role with the role's operands `o`.
    pub fn expand(&mut self, expansion: Expansion, o: &[Operand]) {
        use Expansion::*;
        match expansion {
            DropCarryOfAdd => self.with_carry(Role::VAddCarryOut, o),
            DropCarryOfSub => self.with_carry(Role::VSubCarryOut, o),
            // Vector shifts have the count as their first source.
            ShlThenAdd => self.in_two(Role::VShlB32, [o[2], o[1]], Role::VAddU32, o),
            ShlByTwoThenAdd => {
                let shifted = self.stemp(1);
                self.emit(Role::SShlB32, &[shifted, o[1], Operand::int(2)]);
                self.emit(Role::SAddU32, &[o[0], shifted, o[2]]);
            }
            ShlThenOr => self.in_two(Role::VShlB32, [o[2], o[1]], Role::VOrB32, o),
            AddThenAdd => self.in_two(Role::VAddU32, [o[1], o[2]], Role::VAddU32, o),
            XorThenAdd => self.in_two(Role::VXorB32, [o[1], o[2]], Role::VAddU32, o),
            AndThenOr => self.in_two(Role::VAndB32, [o[1], o[2]], Role::VOrB32, o),
            XorThenXor => self.in_two(Role::VXorB32, [o[1], o[2]], Role::VXorB32, o),
            OrThenOr => self.in_two(Role::VOrB32, [o[1], o[2]], Role::VOrB32, o),
            SetDenormField => {
                let Operand::Imm(modes) = o[0] else { return };
                self.emit(Role::SSetregImm32B32, &[DENORM_FIELD, Operand::Literal(modes as u32)]);
            }
            AddThenShl => {
                let sum = self.vtemp(1);
                self.emit(Role::VAddU32, &[sum, o[1], o[2]]);
                self.emit(Role::VShlB32, &[o[0], o[3], sum]);
            }
            CountLastShl => self.emit(Role::VShlCountLastB64, &[o[0], o[2], o[1]]),
            CountLastShr => self.emit(Role::VShrCountLastB64, &[o[0], o[2], o[1]]),
            CountLastAshr => self.emit(Role::VAshrCountLastI64, &[o[0], o[2], o[1]]),
            MultiplyThenAddU64 => self.multiply_then_add(Role::VMulHiU32, o),
            MultiplyThenAddI64 => self.multiply_then_add(Role::VMulHiI32, o),
            VectorMulHiU32 => self.on_vector_unit(Role::VMulHiU32, o),
            VectorMulHiI32 => self.on_vector_unit(Role::VMulHiI32, o),
            OrOfXorsIsZero => {
                let (differ, any) = (self.stemp(2), self.stemp(1));
                self.emit(Role::SXorB64, &[differ, o[0], o[1]]);
                let halves = [self.dword(differ, 0), self.dword(differ, 1)];
                self.emit(Role::SOrB32, &[any, halves[0], halves[1]]);
                self.emit(Role::SCmpEqU32, &[any, Operand::int(0)]);
            }
            XorIsNotZero => {
                let differ = self.stemp(2);
                self.emit(Role::SXorB64, &[differ, o[0], o[1]]);
            }
            MaskThenEqual => self.mask_then(Role::VCmpEqU32, o),
            MaskThenUnequal => self.mask_then(Role::VCmpNeU32, o),
            RoundByAdding => self.round_f64(o, None, false),
            FloorByAdding => self.round_f64(o, Some((Role::VCmpGtF64, false)), false),
            CeilByAdding => self.round_f64(o, Some((Role::VCmpLtF64, true)), false),
            TruncByAdding => self.round_f64(o, Some((Role::VCmpGtF64, false)), true),
            SubtractFloorF32 | SubtractFloorF64 => self.fract(o),
            FiniteExponentF32 => self.finite_part(op::V_FREXP_EXP_I32_F32, o),
            FiniteExponentF64 => self.finite_part(op::V_FREXP_EXP_I32_F64, o),
            FiniteMantissaF32 => self.finite_part(op::V_FREXP_MANT_F32, o),
            FiniteMantissaF64 => self.finite_part(op::V_FREXP_MANT_F64, o),
            ThroughLds => self.permute_through_lds(o),
            SentThroughLds => self.send_through_lds(o),
            Split => self.unsupported("an access that should have been split"),
        }
    }

    /// Emits the instruction of another role, which also writes a carry that is not needed here. Its operands
    /// are `dst, carry, a, b`; those of the expanded role are `dst, a, b`.
    fn with_carry(&mut self, role: Role, o: &[Operand]) {
        let carry = self.stemp(self.target.mask_dwords());
        self.emit(role, &[o[0], carry, o[1], o[2]]);
    }

    /// Emits two roles in place of one fused instruction: first `inner` on the operands `a` and `b`, then
    /// `outer` on the result of `inner` and the last operand of `o`.
    fn in_two(&mut self, inner: Role, [a, b]: [Operand; 2], outer: Role, o: &[Operand]) {
        let part = self.vtemp(1);
        self.emit(inner, &[part, a, b]);
        self.emit(outer, &[o[0], part, o[3]]);
    }

    /// Computes `a * b + c` with 64 bits; the operands are `dst, carry, a, b, c`.
    fn multiply_then_add(&mut self, high_product: Role, o: &[Operand]) {
        let (low, high, carry) = (self.vtemp(1), self.vtemp(1), self.stemp(self.target.mask_dwords()));
        let c = match o[4].const_u32() {
            // Constants of 64-bit integers are sign-extended.
            Some(bits) => [o[4], Operand::int(bits as i32 >> 31)],
            None => [self.dword(o[4], 0), self.dword(o[4], 1)],
        };
        let dst = [self.dword(o[0], 0), self.dword(o[0], 1)];
        self.emit(Role::VMulLoU32, &[low, o[2], o[3]]);
        self.emit(high_product, &[high, o[2], o[3]]);
        self.emit(Role::VAddCarryOut, &[dst[0], carry, low, c[0]]);
        self.emit(Role::VAddCarryInOut, &[dst[1], o[1], high, c[1], carry]);
    }

    fn mask_then(&mut self, compare: Role, o: &[Operand]) {
        let (half, bits) = (self.vtemp(1), self.sgpr_const(0xffff));
        self.emit(Role::VAndB32, &[half, bits, o[1]]);
        self.emit(compare, &[o[0], half, o[2]]);
    }

    fn on_vector_unit(&mut self, role: Role, o: &[Operand]) {
        let result = self.vtemp(1);
        self.emit(role, &[result, o[1], o[2]]);
        self.read_first_lane(o[0], result);
    }
}
