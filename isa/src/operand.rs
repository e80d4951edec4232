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

/// Virtual registers that must become consecutive hardware registers: a slice of `MachFunc::tuples`. The
/// struct is packed so that an operand fits in eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(Rust, packed)]
pub struct Tuple {
    /// Index of the first register in `MachFunc::tuples`.
    pub start: u32,
    /// Number of dwords.
    pub len: u8,
}

/// VGPRs that need not be consecutive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scattered {
    len: u8,
    numbers: [u8; Scattered::MAX],
}

impl Scattered {
    /// Maximum number of registers in one operand, which keeps the size of `Operand` at eight bytes.
    pub const MAX: usize = 6;

    /// Returns the operand with the given VGPR numbers; `None` if there are too many.
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

/// An operand. Operands are in the order in which the assembler writes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Operand {
    /// Absent (`off` for a global address, or a missing destination).
    #[default]
    None,
    /// Hardware registers.
    Reg(RegRange),
    /// Virtual registers.
    Virt(Tuple),
    /// VGPRs that need not be consecutive: an image address of GFX10. If they do not fit, further operands
    /// after the row's last operand hold the rest.
    Scattered(Scattered),
    /// An inline constant, given by its source code 128..=248: 128..=192 are 0..=64, 193..=208 are -1..=-16,
    /// 240..=248 are 0.5 -0.5 1.0 -1.0 2.0 -2.0 4.0 -4.0 1/(2*pi) in the operand's own floating-point type.
    Inline(u16),
    /// A 32-bit literal that follows the instruction.
    Literal(u32),
    /// A field of the instruction that is not a source operand: `simm16`, an `s_waitcnt` mask, a memory
    /// offset of SMEM.
    Imm(i32),
    /// A branch target.
    Block(MBlock),
    /// A reference to a global variable or a function: an index into `MachFunc::relocs`, whose entry gives
    /// the target, the addend, and which part of the distance or address the operand holds.
    Reloc(u32),
}

/// Returns the source code of the inline constant that a 16-bit operand reads as `bits`: integers from -16 to
/// 64, eight floats, and 1/(2 pi).
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

    /// `vcc` as a 64-bit mask.
    pub const VCC: Operand = Operand::regs(Reg::VCC, 2);
    /// `exec` as a 64-bit mask.
    pub const EXEC: Operand = Operand::regs(Reg::EXEC, 2);

    /// Returns a 32-bit integer operand: an inline constant if the bits are those of an inline integer or
    /// f32, otherwise a literal.
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

    /// Returns an f32 operand, given its bits.
    pub const fn f32(bits: u32) -> Operand {
        Operand::int(bits as i32)
    }

    /// Returns an f16 operand, given its bits, for a source that is read as f16.
    pub const fn f16(bits: u16) -> Operand {
        match inline_half(bits) {
            // Integers are handled as 32-bit integers, and not all processors have the constant with code
            // 248.
            Some(code @ 240..=247) => Operand::Inline(code),
            _ => Operand::int(bits as i32),
        }
    }

    /// Returns a 64-bit integer operand if a small, sign-extended inline constant can express it; otherwise
    /// `None`. (A literal in a 64-bit SALU operand is also sign-extended, but only inline constants are used
    /// here.)
    pub const fn int64(value: i64) -> Option<Operand> {
        match value {
            0..=64 => Some(Operand::Inline(128 + value as u16)),
            -16..=-1 => Some(Operand::Inline((192 - value) as u16)),
            _ => None,
        }
    }

    /// Returns an f64 operand, given its bits: an inline constant, or a literal if the low half is zero,
    /// because the hardware puts a literal into the high half.
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

    /// Returns dword `n` of a register operand; other operands are returned unchanged.
    pub const fn dword(self, n: u8) -> Operand {
        match self {
            Operand::Virt(tuple) => Operand::Virt(Tuple { start: tuple.start + n as u32, len: 1 }),
            Operand::Reg(range) => Operand::reg(range.first.offset(n as u16)),
            other => other,
        }
    }

    /// Returns whether it is a constant source (inline or literal).
    pub const fn is_const(self) -> bool {
        matches!(self, Operand::Inline(_) | Operand::Literal(_) | Operand::Reloc(_))
    }

    /// Returns the bits of a constant 32-bit source operand.
    pub const fn const_u32(self) -> Option<u32> {
        match self {
            Operand::Literal(bits) => Some(bits),
            Operand::Inline(code) => inline_value(code),
            _ => None,
        }
    }
}

/// Returns the source code of an f32 inline constant. (`1/(2*pi)` exists from GFX8 on; the encoder refuses it
/// for GFX6 and GFX7.)
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

/// Returns the value of an inline constant in a 32-bit operand.
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

/// The size matters because every instruction holds six operands, and each pass moves all instructions of a
/// function through the caches.
const _: () = assert!(size_of::<Operand>() == 8);
