//! Registers: which exist on a processor, and the names of those that are not numbered.

use crate::operand::RegRange;
use crate::reg::Reg;
use crate::target::{Feature, Generation, Target};
use Generation::{Gfx6, Gfx7, Gfx8, Gfx9, Gfx10};

/// A named scalar register.
#[derive(Clone, Copy, Debug)]
pub struct Special {
    /// As the assembler writes it.
    pub name: &'static str,
    /// First register and dwords. Apertures have one code for 32 and 64 bits; they are given with one.
    pub range: RegRange,
    from: Generation,
    to: Generation,
}

const fn row(name: &'static str, code: u16, len: u8, from: Generation, to: Generation) -> Special {
    Special { name, range: RegRange { first: Reg(code), len }, from, to }
}

/// Every named scalar register, by code; the first name of a register is the one to print.
static SPECIAL: &[Special] = &[
    row("flat_scratch", 102, 2, Gfx8, Gfx9),
    row("flat_scratch_lo", 102, 1, Gfx8, Gfx9),
    row("flat_scratch_hi", 103, 1, Gfx8, Gfx9),
    row("flat_scratch", 104, 2, Gfx7, Gfx7),
    row("flat_scratch_lo", 104, 1, Gfx7, Gfx7),
    row("flat_scratch_hi", 105, 1, Gfx7, Gfx7),
    row("xnack_mask", 104, 2, Gfx8, Gfx9),
    row("xnack_mask_lo", 104, 1, Gfx8, Gfx9),
    row("xnack_mask_hi", 105, 1, Gfx8, Gfx9),
    row("vcc", 106, 2, Gfx6, Gfx10),
    row("vcc_lo", 106, 1, Gfx6, Gfx10),
    row("vcc_hi", 107, 1, Gfx6, Gfx10),
    row("tba", 108, 2, Gfx6, Gfx8),
    row("tba_lo", 108, 1, Gfx6, Gfx8),
    row("tba_hi", 109, 1, Gfx6, Gfx8),
    row("tma", 110, 2, Gfx6, Gfx8),
    row("tma_lo", 110, 1, Gfx6, Gfx8),
    row("tma_hi", 111, 1, Gfx6, Gfx8),
    row("m0", 124, 1, Gfx6, Gfx10),
    row("null", 125, 1, Gfx10, Gfx10),
    row("null", 125, 2, Gfx10, Gfx10),
    row("exec", 126, 2, Gfx6, Gfx10),
    row("exec_lo", 126, 1, Gfx6, Gfx10),
    row("exec_hi", 127, 1, Gfx6, Gfx10),
    row("src_shared_base", 235, 1, Gfx9, Gfx10),
    row("src_shared_limit", 236, 1, Gfx9, Gfx10),
    row("src_private_base", 237, 1, Gfx9, Gfx10),
    row("src_private_limit", 238, 1, Gfx9, Gfx10),
    row("src_pops_exiting_wave_id", 239, 1, Gfx9, Gfx10),
    row("src_vccz", 251, 1, Gfx6, Gfx10),
    row("src_execz", 252, 1, Gfx6, Gfx10),
    row("src_scc", 253, 1, Gfx6, Gfx10),
    row("src_lds_direct", 254, 1, Gfx6, Gfx10),
];

/// The named scalar registers of all processors.
pub fn named() -> impl Iterator<Item = &'static Special> {
    SPECIAL.iter()
}

/// The named scalar registers of a processor. A short name follows from a long one: `scc` for `src_scc`.
pub fn special_registers(target: &Target) -> impl Iterator<Item = &'static Special> {
    let generation = target.generation;
    SPECIAL.iter().filter(move |row| row.from <= generation && generation <= row.to)
}

/// The name of a register that is not numbered.
pub(crate) fn special_name(target: &Target, range: RegRange) -> Option<&'static str> {
    // What is read like a constant has one code for both widths; `null` has for all.
    let is_null = target.generation == Gfx10 && range.first.0 == 125;
    let len = if range.first.0 >= 128 || is_null { 1 } else { range.len };
    let mut rows = special_registers(target);
    rows.find(|row| row.range == RegRange { first: range.first, len }).map(|row| row.name)
}

/// Codes of apertures and status bits, which are read like constants.
pub(crate) const fn is_status(code: u16) -> bool {
    matches!(code, 235..=239 | 251..=253)
}

/// First code and number of the trap handler's registers `ttmp0`, ...
pub const fn trap_registers(target: &Target) -> (Reg, u16) {
    match target.generation {
        Gfx6 | Gfx7 | Gfx8 => (Reg(112), 12),
        Gfx9 | Gfx10 => (Reg(108), 16),
    }
}

impl Target {
    /// Number of SGPRs that instructions can name: `s0` up to one less. A kernel may have fewer of them to use
    /// ([`Target::addressable_sgprs`]): gfx802 and gfx805 give every wave 96.
    pub const fn numbered_sgprs(&self) -> u16 {
        match self.generation {
            Gfx6 | Gfx7 => 104,
            Gfx8 | Gfx9 => 102,
            Gfx10 => 106,
        }
    }

    /// Whether a register is one of the numbered SGPRs; the codes behind those are VCC, FLAT_SCRATCH and the like.
    pub const fn is_sgpr(&self, reg: Reg) -> bool {
        reg.0 < self.numbered_sgprs()
    }
}

impl RegRange {
    /// Whether the processor has the registers and they may be addressed as one group: SGPR pairs are even-aligned,
    /// wider groups aligned to four, and no group crosses from one kind of register to another.
    #[inline]
    pub fn exists(self, target: &Target) -> bool {
        let (first, len) = (self.first.0, u16::from(self.len));
        if first >= 256 {
            // VGPRs, accumulation VGPRs: in groups that begin at even numbers on gfx90a.
            let even = len < 2 || first & 1 == 0 || !target.has(Feature::GFX90A);
            let end = match first {
                ..512 => 512,
                _ if target.has(Feature::MAI) => 768,
                _ => return false,
            };
            return len > 0 && first + len <= end && even;
        }
        let aligned = match len {
            0 => return false,
            1 => true,
            2 => first & 1 == 0,
            _ => first & 3 == 0,
        };
        let numbered = target.numbered_sgprs();
        match first < numbered {
            true => aligned && first + len <= numbered,
            false => self.is_special(target, aligned),
        }
    }

    /// As [`RegRange::exists`], for groups beyond the numbered SGPRs.
    fn is_special(self, target: &Target, aligned: bool) -> bool {
        let (first, len, generation) = (self.first.0, u16::from(self.len), target.generation);
        let (trap, traps) = trap_registers(target);
        if first >= trap.0 && first < trap.0 + traps {
            return aligned && first + len <= trap.0 + traps;
        }
        let pair = aligned && len <= 2;
        match first {
            // VCC, EXEC.
            106 | 107 | 126 | 127 => pair,
            // FLAT_SCRATCH; XNACK_MASK, on GFX7 FLAT_SCRATCH; TBA, TMA.
            102 | 103 => pair && matches!(generation, Gfx8 | Gfx9),
            104 | 105 => {
                pair && (generation == Gfx7
                    || matches!(generation, Gfx8 | Gfx9) && target.has(Feature::XNACK))
            }
            108..=111 => pair && generation <= Gfx8,
            // M0, `src_lds_direct`; `null` of any width.
            124 => len == 1,
            254 => len == 1 && !target.has(Feature::GFX90A),
            125 => generation == Gfx10,
            // Apertures are 64-bit values with one code; status bits.
            235..=239 => len <= 2 && generation >= Gfx9,
            251..=253 => len <= 2,
            _ => false,
        }
    }
}
