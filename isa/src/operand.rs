//! Operands of machine instructions.

use crate::reg::Reg;
use cranelift_entity::entity_impl;

/// A block of a machine function, given by its index. The code of the blocks is in the order of their
/// indices.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MBlock(u32);
entity_impl!(MBlock, "bb");

/// A range of consecutive hardware registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegRange {
    /// First register.
    pub first: Reg,
    /// Number of dwords, which is the number of registers.
    pub len: u8,
}

impl RegRange {
    /// Returns the registers in assembler syntax, such as `v[2:3]` or `vcc`.
    pub fn name(self) -> String {
        let one = |reg: Reg| match reg.0 {
            106 => "vcc_lo".to_owned(),
            107 => "vcc_hi".to_owned(),
            124 => "m0".to_owned(),
            126 => "exec_lo".to_owned(),
            127 => "exec_hi".to_owned(),
            192..=223 => format!("hwreg {}", reg.0 - 192),
            _ => format!("{reg:?}"),
        };
        match (self.first.0, self.len) {
            (106, 2) => "vcc".to_owned(),
            (126, 2) => "exec".to_owned(),
            (_, 1) => one(self.first),
            (_, len) => {
                let (name, number) = (format!("{:?}", self.first), self.first.number());
                format!("{}[{number}:{}]", &name[..1], number + u16::from(len) - 1)
            }
        }
    }
}

/// A group of virtual registers for which the allocator must find consecutive hardware registers. It is a
/// slice of `mir::MachFunc::tuples`. The struct is packed, so that an operand fits in eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(Rust, packed)]
pub struct Tuple {
    /// Index of the first register in `mir::MachFunc::tuples`.
    pub start: u32,
    /// Number of dwords, which is the number of virtual registers.
    pub len: u8,
}

/// VGPRs that need not be consecutive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scattered {
    len: u8,
    numbers: [u8; Scattered::MAX],
}

impl Scattered {
    /// Maximum number of registers in one operand. With this number, `Operand` has eight bytes.
    pub const MAX: usize = 6;

    /// Returns the operand with the given VGPR numbers. Returns `None` if there are more than
    /// [`Scattered::MAX`].
    pub fn new(numbers: &[u8]) -> Option<Scattered> {
        let mut all = [0; Scattered::MAX];
        all.get_mut(..numbers.len())?.copy_from_slice(numbers);
        Some(Scattered { len: numbers.len() as u8, numbers: all })
    }

    /// Returns the VGPR numbers.
    pub fn numbers(&self) -> &[u8] {
        &self.numbers[..usize::from(self.len)]
    }
}

/// An operand of a machine instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Operand {
    /// No operand. It stands for `off` in place of a global address, or for a destination that the
    /// instruction does not have.
    #[default]
    None,
    /// Hardware registers.
    Reg(RegRange),
    /// Virtual registers.
    Virt(Tuple),
    /// VGPRs that need not be consecutive. They are a part of an image address on GFX10. If an address has
    /// more registers than fit here, further operands after the last operand in the instruction's row hold
    /// the rest.
    Scattered(Scattered),
    /// An inline constant, given by its code in a source field. Codes 128 to 192 are the integers 0 to 64,
    /// and 193 to 208 are -1 to -16. Codes 240 to 248 are 0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0 and
    /// 1/(2*pi) in the operand's own floating-point type.
    Inline(u16),
    /// A 32-bit literal that follows the instruction.
    Literal(u32),
    /// A number that is part of the instruction and not a source operand, such as `simm16`, the mask of
    /// `s_waitcnt`, or the offset of a scalar memory instruction.
    Imm(i32),
    /// A block that is the target of a branch.
    Block(MBlock),
    /// A reference to a global variable or function, as an index into `mir::MachFunc::relocs`. The entry
    /// there says what the target and the addend are, and which part of the distance or address this operand
    /// holds.
    Reloc(u32),
}

/// Returns the code of the inline constant that has these bits in a 16-bit operand. It is an integer from -16
/// to 64, one of eight floats, or 1/(2 pi). Returns `None` if there is no such constant.
pub const fn inline_half(bits: u16) -> Option<u16> {
    Some(match bits {
        0..=64 => 128 + bits,
        0xfff0..=0xffff => 192 + bits.wrapping_neg(),
        0x3800 => 240,
        0xb800 => 241,
        0x3c00 => 242,
        0xbc00 => 243,
        0x4000 => 244,
        0xc000 => 245,
        0x4400 => 246,
        0xc400 => 247,
        0x3118 => 248,
        _ => return None,
    })
}

impl Operand {
    /// Returns an operand of one hardware register.
    pub const fn reg(reg: Reg) -> Operand {
        Operand::Reg(RegRange { first: reg, len: 1 })
    }

    /// Returns an operand of `len` consecutive hardware registers.
    pub const fn regs(first: Reg, len: u8) -> Operand {
        Operand::Reg(RegRange { first, len })
    }

    /// The register `vcc` as a mask of 64 bits.
    pub const VCC: Operand = Operand::regs(Reg::VCC, 2);
    /// The register `exec` as a mask of 64 bits.
    pub const EXEC: Operand = Operand::regs(Reg::EXEC, 2);

    /// Returns an operand with these bits for a 32-bit source. It is an inline constant if one has these bits
    /// (an integer or an f32), and a literal otherwise.
    pub const fn int(value: i32) -> Operand {
        match value {
            0..=64 => Operand::Inline(128 + value as u16),
            -16..=-1 => Operand::Inline((192 - value) as u16),
            _ => match inline_f32(value as u32) {
                Some(code) => Operand::Inline(code),
                None => Operand::Literal(value as u32),
            },
        }
    }

    /// Returns an operand with these bits for a source that the instruction reads as f32.
    pub const fn f32(bits: u32) -> Operand {
        Operand::int(bits as i32)
    }

    /// Returns an operand with these bits for a source that the instruction reads as f16.
    pub const fn f16(bits: u16) -> Operand {
        match inline_half(bits) {
            // The constants with codes 240 to 247 are floats that all processors have. Small integers are
            // left to `int`, and the constant 1/(2 pi), code 248, is left out because not all processors have
            // it.
            Some(code @ 240..=247) => Operand::Inline(code),
            _ => Operand::int(bits as i32),
        }
    }

    /// Returns an operand for a 64-bit integer source, if the value is an inline integer (-16 to 64). Returns
    /// `None` otherwise, because 64-bit sources do not use literals.
    pub const fn int64(value: i64) -> Option<Operand> {
        match value {
            0..=64 => Some(Operand::Inline(128 + value as u16)),
            -16..=-1 => Some(Operand::Inline((192 - value) as u16)),
            _ => None,
        }
    }

    /// Returns an operand for an f64 source, given the bits of the value. It is an inline constant, or a
    /// literal if the low half is zero: the hardware takes a literal as the high half and sets the low half
    /// to zero. Returns `None` for other values.
    pub const fn f64(bits: u64) -> Option<Operand> {
        if let Some(op) = Operand::int64(bits as i64) {
            return Some(op);
        }
        let code = match bits {
            0x3fe0_0000_0000_0000 => 240,
            0xbfe0_0000_0000_0000 => 241,
            0x3ff0_0000_0000_0000 => 242,
            0xbff0_0000_0000_0000 => 243,
            0x4000_0000_0000_0000 => 244,
            0xc000_0000_0000_0000 => 245,
            0x4010_0000_0000_0000 => 246,
            0xc010_0000_0000_0000 => 247,
            0x3fc4_5f30_6dc9_c882 => 248,
            _ if bits as u32 == 0 => return Some(Operand::Literal((bits >> 32) as u32)),
            _ => return None,
        };
        Some(Operand::Inline(code))
    }

    /// Returns the operand for dword `n` of a group of registers. If the operand is not a group of registers,
    /// returns it unchanged.
    pub const fn dword(self, n: u8) -> Operand {
        match self {
            Operand::Virt(tuple) => Operand::Virt(Tuple { start: tuple.start + n as u32, len: 1 }),
            Operand::Reg(range) => Operand::reg(range.first.offset(n as u16)),
            other => other,
        }
    }

    /// Returns whether the operand is an inline constant or a literal.
    pub const fn is_const(self) -> bool {
        matches!(self, Operand::Inline(_) | Operand::Literal(_) | Operand::Reloc(_))
    }

    /// Returns the value of a source operand of 32 bits, if it is a constant.
    pub const fn const_u32(self) -> Option<u32> {
        match self {
            Operand::Literal(bits) => Some(bits),
            Operand::Inline(code) => inline_value(code),
            _ => None,
        }
    }
}

/// Returns the code of the inline constant with the bits of an f32, if there is one. The constant `1/(2*pi)`
/// exists from GFX8 on, and the encoder refuses it for GFX6 and GFX7.
const fn inline_f32(bits: u32) -> Option<u16> {
    Some(match bits {
        0x3f00_0000 => 240,
        0xbf00_0000 => 241,
        0x3f80_0000 => 242,
        0xbf80_0000 => 243,
        0x4000_0000 => 244,
        0xc000_0000 => 245,
        0x4080_0000 => 246,
        0xc080_0000 => 247,
        0x3e22_f983 => 248,
        _ => return None,
    })
}

/// Returns the bits that an inline constant has in a 32-bit operand, given its code. Returns `None` if the
/// code is not that of an inline constant.
pub const fn inline_value(code: u16) -> Option<u32> {
    Some(match code {
        128..=192 => (code - 128) as u32,
        193..=208 => (192 - code as i32) as u32,
        240 => 0x3f00_0000,
        241 => 0xbf00_0000,
        242 => 0x3f80_0000,
        243 => 0xbf80_0000,
        244 => 0x4000_0000,
        245 => 0xc000_0000,
        246 => 0x4080_0000,
        247 => 0xc080_0000,
        248 => 0x3e22_f983,
        _ => return None,
    })
}

/// Operands must be small, because every instruction has room for six operands, and passes move many
/// instructions.
const _: () = assert!(size_of::<Operand>() == 8);
