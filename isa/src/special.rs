//! The registers that exist on a processor, and the names of special registers.

use crate::operand::RegRange;
use crate::reg::Reg;
use crate::target::{ArchId, ArchSet, Feature, Target};
use ArchId::{Gfx7, Gfx8, Gfx9, Gfx10};

/// A scalar register that has a name.
#[derive(Clone, Copy, Debug)]
pub struct Special {
    /// Name in assembly text.
    pub name: &'static str,
    /// First register and number of dwords. An aperture has one code for accesses of 32 and of 64 bits, and
    /// is listed with one dword.
    pub range: RegRange,
    families: ArchSet,
}

const fn row(name: &'static str, code: u16, len: u8, families: ArchSet) -> Special {
    Special { name, range: RegRange { first: Reg(code), len }, families }
}

const ALL: ArchSet = ArchSet::ALL;

const fn since(first: ArchId) -> ArchSet {
    ArchSet::since(first)
}

/// All scalar registers that have names, by code. The first name of a register is the one that is printed.
static SPECIAL: &[Special] = &[
    row("flat_scratch", 102, 2, since(Gfx8).until(Gfx10)),
    row("flat_scratch_lo", 102, 1, since(Gfx8).until(Gfx10)),
    row("flat_scratch_hi", 103, 1, since(Gfx8).until(Gfx10)),
    row("flat_scratch", 104, 2, since(Gfx7).until(Gfx8)),
    row("flat_scratch_lo", 104, 1, since(Gfx7).until(Gfx8)),
    row("flat_scratch_hi", 105, 1, since(Gfx7).until(Gfx8)),
    row("xnack_mask", 104, 2, since(Gfx8).until(Gfx10)),
    row("xnack_mask_lo", 104, 1, since(Gfx8).until(Gfx10)),
    row("xnack_mask_hi", 105, 1, since(Gfx8).until(Gfx10)),
    row("vcc", 106, 2, ALL),
    row("vcc_lo", 106, 1, ALL),
    row("vcc_hi", 107, 1, ALL),
    row("tba", 108, 2, ALL.until(Gfx9)),
    row("tba_lo", 108, 1, ALL.until(Gfx9)),
    row("tba_hi", 109, 1, ALL.until(Gfx9)),
    row("tma", 110, 2, ALL.until(Gfx9)),
    row("tma_lo", 110, 1, ALL.until(Gfx9)),
    row("tma_hi", 111, 1, ALL.until(Gfx9)),
    row("m0", 124, 1, ALL),
    row("null", 125, 1, since(Gfx10)),
    row("null", 125, 2, since(Gfx10)),
    row("exec", 126, 2, ALL),
    row("exec_lo", 126, 1, ALL),
    row("exec_hi", 127, 1, ALL),
    row("src_shared_base", 235, 1, since(Gfx9)),
    row("src_shared_limit", 236, 1, since(Gfx9)),
    row("src_private_base", 237, 1, since(Gfx9)),
    row("src_private_limit", 238, 1, since(Gfx9)),
    row("src_pops_exiting_wave_id", 239, 1, since(Gfx9)),
    row("src_vccz", 251, 1, ALL),
    row("src_execz", 252, 1, ALL),
    row("src_scc", 253, 1, ALL),
    row("src_lds_direct", 254, 1, ALL),
];

/// Returns the named scalar registers of all processors.
pub fn named() -> impl Iterator<Item = &'static Special> {
    SPECIAL.iter()
}

/// Returns the scalar registers of a processor that have names. Short names are not listed, because they
/// follow from the long names, such as `scc` from `src_scc`.
pub fn special_registers(target: &Target) -> impl Iterator<Item = &'static Special> {
    let family = target.arch.id;
    SPECIAL.iter().filter(move |row| row.families.contains(family))
}

/// Returns the name of a special register.
pub(crate) fn special_name(target: &Target, range: RegRange) -> Option<&'static str> {
    // A register that is encoded like a constant (a status bit or aperture) has one code, both for 32 and for
    // 64 bits. `null` has one code for all widths.
    let is_null = target.arch.registers.null == Some(range.first);
    let len = if range.first.0 >= 128 || is_null { 1 } else { range.len };
    let mut rows = special_registers(target);
    rows.find(|row| row.range == RegRange { first: range.first, len }).map(|row| row.name)
}

/// Returns whether the code of a source is that of an aperture or of a status bit. These registers are
/// encoded like constants.
pub(crate) const fn is_status(code: u16) -> bool {
    matches!(code, 235..=239 | 251..=253)
}

/// Returns the first register of the trap handler, `ttmp0`, and the number of these registers.
pub const fn trap_registers(target: &Target) -> (Reg, u16) {
    let registers = target.arch.registers.known();
    (registers.trap, registers.traps)
}

impl Target {
    /// Returns the number of SGPRs that instructions can name, starting at `s0`. A kernel may have fewer of
    /// them ([`Target::addressable_sgprs`]): on gfx802 and gfx805, every wave has only 96.
    pub const fn numbered_sgprs(&self) -> u16 {
        self.arch.registers.known().numbered
    }

    /// Returns whether a register is a numbered SGPR. The codes after the numbered SGPRs are special
    /// registers such as VCC and FLAT_SCRATCH.
    pub const fn is_sgpr(&self, reg: Reg) -> bool {
        reg.0 < self.numbered_sgprs()
    }
}

impl RegRange {
    /// Returns whether the processor has the registers and can address them as one group. A pair of SGPRs
    /// must start at an even number, and a wider group of SGPRs at a multiple of four. A group must not
    /// contain registers of different kinds.
    #[inline]
    pub fn exists(self, target: &Target) -> bool {
        let (first, len) = (self.first.0, u16::from(self.len));
        if first >= 256 {
            // For VGPRs and accumulation VGPRs, groups must start at even numbers on gfx90a.
            let even = len < 2 || first & 1 == 0 || !target.has(Feature::EVEN_VGPRS);
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

    /// Does the same as [`RegRange::exists`], for special registers.
    fn is_special(self, target: &Target, aligned: bool) -> bool {
        let (first, len) = (self.first.0, u16::from(self.len));
        let registers = target.arch.registers.known();
        let (trap, traps) = (registers.trap.0, registers.traps);
        if first >= trap && first < trap + traps {
            return aligned && first + len <= trap + traps;
        }
        let pair = aligned && len <= 2;
        let is_of = |base: Option<Reg>| pair && base.is_some_and(|base| base.0 & !1 == first & !1);
        match first {
            // The registers VCC and EXEC.
            106 | 107 | 126 | 127 => pair,
            102..=105 => {
                is_of(registers.flat_scratch) || is_of(registers.xnack_mask) && target.has(Feature::XNACK)
            }
            // The registers TBA and TMA of the trap handler.
            108..=111 => pair && registers.trap_addresses,
            // M0 and `src_lds_direct` have one dword. `null` may be used with any width.
            124 => len == 1,
            254 => len == 1 && target.has(Feature::LDS_DIRECT),
            125 => registers.null.is_some(),
            // Apertures and status bits have one code each, which is used for 32-bit and 64-bit operands.
            235..=239 => len <= 2 && registers.apertures,
            251..=253 => len <= 2,
            _ => false,
        }
    }
}
