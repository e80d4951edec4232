//! What stands in for an instruction that a processor lacks: sequences of other roles.

use super::Role;
use crate::lower::Lower;
use isa::{Operand, op};

/// `hwreg(HW_REG_MODE, 4, 4)`: what becomes of denormals.
const DENORM_FIELD: Operand = Operand::Imm(1 | 4 << 6 | 3 << 11);

macro_rules! expansions {
    ($($(#[$doc:meta])* $name:ident: $($need:ident)*;)*) => {
        /// A sequence of other roles with the result of one. Operands are those of the role.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Expansion { $($(#[$doc])* $name),* }

        impl Expansion {
            /// Each of them.
            pub const ALL: &[Expansion] = &[$(Expansion::$name),*];

            /// The roles it is made of.
            pub const fn needs(self) -> &'static [Role] {
                match self { $(Expansion::$name => &[$(Role::$need),*]),* }
            }
        }
    };
}

expansions! {
    /// An addition whose carry nobody reads.
    DropCarryOfAdd: VAddCarryOut;
    /// A subtraction whose borrow nobody reads.
    DropCarryOfSub: VSubCarryOut;
    /// `(a << b) + c` in two.
    ShlThenAdd: VShlB32 VAddU32;
    /// `(a << 2) + b` in two.
    ShlByTwoThenAdd: SShlB32 SAddU32;
    /// `(a << b) | c` in two.
    ShlThenOr: VShlB32 VOrB32;
    /// `(a + b) << c` in two.
    AddThenShl: VAddU32 VShlB32;
    /// `a + b + c` in two.
    AddThenAdd: VAddU32;
    /// `(a ^ b) + c` in two.
    XorThenAdd: VXorB32 VAddU32;
    /// `(a & b) | c` in two.
    AndThenOr: VAndB32 VOrB32;
    /// `a | b | c` in two.
    OrThenOr: VOrB32;
    /// `a ^ b ^ c` in two.
    XorThenXor: VXorB32;
    /// The shift that takes its count last.
    CountLastShl: VShlCountLastB64;
    /// The shift that takes its count last.
    CountLastShr: VShrCountLastB64;
    /// The shift that takes its count last.
    CountLastAshr: VAshrCountLastI64;
    /// The halves of the product, then a sum with carry.
    MultiplyThenAddU64: VMulLoU32 VMulHiU32 VAddCarryOut VAddCarryInOut;
    /// The halves of the product, then a sum with carry.
    MultiplyThenAddI64: VMulLoU32 VMulHiI32 VAddCarryOut VAddCarryInOut;
    /// On the vector unit, and back.
    VectorMulHiU32: VMulHiU32 VReadfirstlaneB32;
    /// On the vector unit, and back.
    VectorMulHiI32: VMulHiI32 VReadfirstlaneB32;
    /// 64 bits are equal if no bit differs: the halves of the difference are brought together.
    OrOfXorsIsZero: SXorB64 SOrB32 SCmpEqU32;
    /// `s_xor_b64` says whether its result is not zero.
    XorIsNotZero: SXorB64;
    /// The low half, then 32 bits; the second operand is a constant of 16 bits.
    MaskThenEqual: VAndB32 VCmpEqU32;
    /// The low half, then 32 bits; the second operand is a constant of 16 bits.
    MaskThenUnequal: VAndB32 VCmpNeU32;
    /// 2^52 is added and subtracted again, which rounds.
    RoundByAdding: VAddF64 VBfiB32 VCmpLtF64 VCndmaskB32 VLdexpF64;
    /// The nearest integer, or one less.
    FloorByAdding: VAddF64 VBfiB32 VCmpLtF64 VCmpGtF64 VCndmaskB32 VLdexpF64;
    /// The nearest integer, or one more.
    CeilByAdding: VAddF64 VBfiB32 VCmpLtF64 VCndmaskB32 VLdexpF64;
    /// The nearest integer, or one nearer to 0.
    TruncByAdding: VAddF64 VBfiB32 VCmpLtF64 VCmpGtF64 VCndmaskB32 VLdexpF64;
    /// The difference to the integer below.
    SubtractFloorF32: VFloorF32 VAddF32 VCmpEqF32 VCndmaskB32 VLdexpF32;
    /// The difference to the integer below.
    SubtractFloorF64: VFloorF64 VAddF64 VCmpEqF64 VCndmaskB32 VLdexpF64;
    /// The instruction for finite numbers; 0 for others.
    FiniteExponentF32: VCmpLtF32 VCndmaskB32 VLdexpF32;
    /// The instruction for finite numbers; 0 for others.
    FiniteExponentF64: VCmpLtF64 VCndmaskB32 VLdexpF64;
    /// The instruction for finite numbers; others are themselves.
    FiniteMantissaF32: VCmpLtF32 VCndmaskB32 VLdexpF32;
    /// The instruction for finite numbers; others are themselves.
    FiniteMantissaF64: VCmpLtF64 VCndmaskB32 VLdexpF64;
    /// All lanes write, then each reads what another wrote.
    ThroughLds: LdsWriteB32 LdsReadB32 VBfiB32 VMadU32U24 VShlB32;
    /// All lanes write a zero, then to others, then each reads its own.
    SentThroughLds: LdsWriteB32 LdsReadB32 VBfiB32 VMadU32U24 VShlB32;
    /// Into the field of MODE.
    SetDenormField: SSetregImm32B32;
    /// Narrower accesses: `memory.rs` makes pieces as wide as there are instructions for.
    Split:;
}

impl Lower<'_> {
    /// Emits the expansion of a role with these operands.
    pub fn expand(&mut self, expansion: Expansion, o: &[Operand]) {
        use Expansion::*;
        match expansion {
            DropCarryOfAdd => self.with_carry(Role::VAddCarryOut, o),
            DropCarryOfSub => self.with_carry(Role::VSubCarryOut, o),
            // Shifts take the count first.
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

    /// `dst, a, b` as `dst, carry, a, b`.
    fn with_carry(&mut self, role: Role, o: &[Operand]) {
        let carry = self.stemp(self.target.mask_dwords());
        self.emit(role, &[o[0], carry, o[1], o[2]]);
    }

    /// The inner operation, then the outer one on its result and the role's last operand.
    fn in_two(&mut self, inner: Role, [a, b]: [Operand; 2], outer: Role, o: &[Operand]) {
        let part = self.vtemp(1);
        self.emit(inner, &[part, a, b]);
        self.emit(outer, &[o[0], part, o[3]]);
    }

    /// `dst, carry, a, b, c`: 64 bits of `a * b + c`.
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
