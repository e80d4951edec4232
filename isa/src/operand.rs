//! Operands of machine instructions.

use crate::func::MBlock;
use crate::reg::Reg;

/// Consecutive hardware registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegRange {
    /// First register.
    pub first: Reg,
    /// Number of dwords.
    pub len: u8,
}

/// Virtual registers that must become consecutive hardware registers: a slice of `MachFunc::tuples`. Packed, so that an
/// operand is no more than eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(Rust, packed)]
pub struct Tuple {
    /// Index of the first in `MachFunc::tuples`.
    pub start: u32,
    /// Number of dwords.
    pub len: u8,
}

/// VGPRs that need not follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scattered {
    len: u8,
    numbers: [u8; Scattered::MAX],
}

impl Scattered {
    /// Most registers of one operand: what fits beside the other kinds of operands.
    pub const MAX: usize = 6;

    /// The VGPRs of those numbers; `None` if there are too many.
    pub fn new(numbers: &[u8]) -> Option<Scattered> {
        let mut all = [0; Scattered::MAX];
        all.get_mut(..numbers.len())?.copy_from_slice(numbers);
        Some(Scattered { len: numbers.len() as u8, numbers: all })
    }

    /// Their numbers.
    pub fn numbers(&self) -> &[u8] {
        &self.numbers[..usize::from(self.len)]
    }
}

/// An operand, in the order in which the assembler writes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Operand {
    /// Absent (`off` of a global address, a missing destination).
    #[default]
    None,
    /// Hardware registers.
    Reg(RegRange),
    /// Virtual registers.
    Virt(Tuple),
    /// VGPRs anywhere: an image address of GFX10. More than an operand holds go on in one behind the row's last.
    Scattered(Scattered),
    /// An inline constant by its source code 128..=248: 128..=192 are 0..=64, 193..=208 are -1..=-16,
    /// 240..=248 are 0.5 -0.5 1.0 -1.0 2.0 -2.0 4.0 -4.0 1/(2*pi) in the operand's own float type.
    Inline(u16),
    /// A 32-bit literal that follows the instruction.
    Literal(u32),
    /// A field of the instruction that is no source operand: `simm16`, a `s_waitcnt` mask, a memory offset of SMEM.
    Imm(i32),
    /// A branch target.
    Block(MBlock),
    /// Address of a module variable relative to the end of the `s_getpc_b64` before it: low (`hi == false`)
    /// or high half of a PC-relative 64-bit offset, as a literal; `addend` bytes are in `MachFunc::relocs`.
    Reloc(u32),
}

/// The source code of the inline constant that an operand of 16 bits reads as these: integers from -16 to 64, eight floats, and 1/(2 pi).
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
    /// A single hardware register.
    pub const fn reg(reg: Reg) -> Operand {
        Operand::Reg(RegRange { first: reg, len: 1 })
    }

    /// `len` consecutive hardware registers.
    pub const fn regs(first: Reg, len: u8) -> Operand {
        Operand::Reg(RegRange { first, len })
    }

    /// `vcc` as a 64-bit mask.
    pub const VCC: Operand = Operand::regs(Reg::VCC, 2);
    /// `exec` as a 64-bit mask.
    pub const EXEC: Operand = Operand::regs(Reg::EXEC, 2);

    /// A 32-bit integer as an inline constant if it is one (of integers or, bit for bit, of f32), else a literal.
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

    /// An f32 by its bits.
    pub const fn f32(bits: u32) -> Operand {
        Operand::int(bits as i32)
    }

    /// An f16 by its bits, for an operand that is read as one.
    pub const fn f16(bits: u16) -> Operand {
        match inline_half(bits) {
            // Integers are those of 32 bits here, and not all processors have the last constant.
            Some(code @ 240..=247) => Operand::Inline(code),
            _ => Operand::int(bits as i32),
        }
    }

    /// A 64-bit integer operand, where a constant operand can express it: small integers are sign-extended;
    /// otherwise `None` (a literal of a 64-bit SALU operand is sign-extended too, but we keep to inline ones).
    pub const fn int64(value: i64) -> Option<Operand> {
        match value {
            0..=64 => Some(Operand::Inline(128 + value as u16)),
            -16..=-1 => Some(Operand::Inline((192 - value) as u16)),
            _ => None,
        }
    }

    /// An f64 operand by its bits: an inline constant, or a literal when the low half is zero
    /// (hardware puts a literal into the high half).
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

    /// Dword `n` of a register operand; others are what they are.
    pub const fn dword(self, n: u8) -> Operand {
        match self {
            Operand::Virt(tuple) => Operand::Virt(Tuple { start: tuple.start + n as u32, len: 1 }),
            Operand::Reg(range) => Operand::reg(range.first.offset(n as u16)),
            other => other,
        }
    }

    /// Whether it is a constant source (inline or literal).
    pub const fn is_const(self) -> bool {
        matches!(self, Operand::Inline(_) | Operand::Literal(_) | Operand::Reloc(_))
    }

    /// The bits of a 32-bit constant source operand.
    pub const fn const_u32(self) -> Option<u32> {
        match self {
            Operand::Literal(bits) => Some(bits),
            Operand::Inline(code) => inline_value(code),
            _ => None,
        }
    }
}

/// Source code of an f32 that is an inline constant (`1/(2*pi)` from GFX8 on; GFX6/7 are refused where encoded).
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

/// Value of an inline constant in a 32-bit operand.
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

/// Every instruction holds six, and all of a large function's pass through the caches once a pass.
const _: () = assert!(size_of::<Operand>() == 8);
