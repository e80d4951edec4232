//! Prints the modifiers that come after the operands.

use super::Printer;
use crate::inst::{Lane, ModFlags, SdwaSel};
use crate::layout::Encoding;
use crate::table::{Caps, Family, Flags, Kind, op};
use crate::target::Feature;
use std::fmt::{self, Write};

impl Printer<'_> {
    pub(super) fn is_mix(&self) -> bool {
        self.inst.op.row().caps.contains(Caps::MIX)
    }

    pub(super) fn sext(&self, source: u8) -> bool {
        matches!(self.inst.mods.lane, Lane::Sdwa { sext, .. } if sext >> source & 1 != 0)
    }

    pub(super) fn modifiers(&mut self, encoding: Encoding, sources: u8) -> fmt::Result {
        match encoding {
            Encoding::Vop3 => self.vop3(sources),
            Encoding::Vop3p => self.vop3p(sources),
            Encoding::Sdwa => self.sdwa(sources),
            Encoding::Dpp => self.dpp(),
            Encoding::Dpp8 => self.dpp8(),
            Encoding::Ds => self.ds(),
            Encoding::Mubuf if self.inst.op.row().ops.is_empty() => self.cache_flags(),
            Encoding::Mubuf => {
                self.flags(&[
                    (ModFlags::IDXEN, " idxen"),
                    (ModFlags::OFFEN, " offen"),
                    (ModFlags::ADDR64, " addr64"),
                ])?;
                self.offset()?;
                // If the instruction always has `lds`, LLVM prints `lds` before the other flags and accepts
                // it only there.
                if self.inst.op.row().flags.contains(Flags::LDS_ONLY) {
                    self.out.push_str(" lds");
                    return self.cache_flags();
                }
                self.memory_flags()
            }
            Encoding::Flat => {
                self.offset()?;
                self.memory_flags()
            }
            Encoding::Smem => {
                if self.inst.mods.offset != 0 || self.inst.mods.flags.contains(ModFlags::OFFEN) {
                    let offset = self.inst.mods.offset;
                    let sign = if offset < 0 { "-" } else { "" };
                    write!(self.out, " offset:{sign}{:#x}", offset.unsigned_abs())?;
                }
                self.flags(&[(ModFlags::GLC, " glc"), (ModFlags::DLC, " dlc")])
            }
            _ => Ok(()),
        }
    }

    fn flags(&mut self, names: &[(ModFlags, &str)]) -> fmt::Result {
        for &(flag, name) in names {
            if self.inst.mods.flags.contains(flag) {
                self.out.push_str(name);
            }
        }
        Ok(())
    }

    pub(super) fn cache_flags(&mut self) -> fmt::Result {
        for &(flag, name) in self.inst.op.row().cache_modifiers(self.target) {
            if self.inst.mods.flags.contains(flag) {
                write!(self.out, " {name}")?;
            }
        }
        Ok(())
    }

    fn memory_flags(&mut self) -> fmt::Result {
        self.cache_flags()?;
        if self.inst.op.row().flags.contains(Flags::TO_LDS) {
            return Ok(());
        }
        self.flags(&[(ModFlags::LDS, " lds"), (ModFlags::TFE, " tfe")])
    }

    fn offset(&mut self) -> fmt::Result {
        match self.inst.mods.offset {
            0 => Ok(()),
            offset => write!(self.out, " offset:{offset}"),
        }
    }

    fn vop3(&mut self, sources: u8) -> fmt::Result {
        let mods = &self.inst.mods;
        if self.inst.op.row().caps.contains(Caps::PERMLANE) {
            if mods.op_sel != 0 {
                self.bits(" op_sel", mods.op_sel, 2)?;
            }
        } else if mods.op_sel != 0 {
            // The bit of `op_sel` for the destination is printed last, for any number of sources.
            let below = mods.op_sel & ((1 << sources) - 1);
            self.bits(" op_sel", below | (mods.op_sel >> 3 & 1) << sources, sources + 1)?;
        }
        self.clamp_omod()
    }

    fn clamp_omod(&mut self) -> fmt::Result {
        self.flags(&[(ModFlags::CLAMP, " clamp")])?;
        self.out.push_str(match self.inst.mods.omod {
            1 => " mul:2",
            2 => " mul:4",
            3 => " div:2",
            _ => "",
        });
        Ok(())
    }

    fn vop3p(&mut self, sources: u8) -> fmt::Result {
        let mods = self.inst.mods;
        let row = self.inst.op.row();
        if row.caps.contains(Caps::MFMA) {
            for (name, value) in [("cbsz", mods.abs), ("abid", mods.op_sel), ("blgp", mods.neg)] {
                if value != 0 {
                    write!(self.out, " {name}:{value}")?;
                }
            }
            return Ok(());
        }
        if row.has_kind(Kind::Agpr) {
            return Ok(());
        }
        let all = (1 << sources) - 1;
        let hi_default = if self.is_mix() { 0 } else { all };
        if mods.op_sel != 0 {
            self.bits(" op_sel", mods.op_sel, sources)?;
        }
        if mods.op_sel_hi & all != hi_default {
            self.bits(" op_sel_hi", mods.op_sel_hi, sources)?;
        }
        if !self.is_mix() {
            if mods.neg != 0 {
                self.bits(" neg_lo", mods.neg, sources)?;
            }
            if mods.abs != 0 {
                self.bits(" neg_hi", mods.abs, sources)?;
            }
        }
        self.flags(&[(ModFlags::CLAMP, " clamp")])
    }

    /// Prints a list of bits, such as ` name:[0,1,0]`.
    fn bits(&mut self, name: &str, bits: u8, count: u8) -> fmt::Result {
        self.out.push_str(name);
        for n in 0..count {
            let before = if n == 0 { ":[" } else { "," };
            write!(self.out, "{before}{}", bits >> n & 1)?;
        }
        self.out.push(']');
        Ok(())
    }

    fn sdwa(&mut self, sources: u8) -> fmt::Result {
        let Lane::Sdwa { dst, unused, src0, src1, .. } = self.inst.mods.lane else { return Ok(()) };
        self.clamp_omod()?;
        if self.inst.op.family() != Family::Vopc {
            let unused = ["PAD", "SEXT", "PRESERVE"][usize::from(unused.min(2))];
            write!(self.out, " dst_sel:{} dst_unused:UNUSED_{unused}", sel_name(dst))?;
        }
        write!(self.out, " src0_sel:{}", sel_name(src0))?;
        if sources > 1 {
            write!(self.out, " src1_sel:{}", sel_name(src1))?;
        }
        Ok(())
    }

    fn dpp(&mut self) -> fmt::Result {
        let Lane::Dpp { ctrl, row_mask, bank_mask } = self.inst.mods.lane else { return Ok(()) };
        let quad = |n: u16| ctrl >> (2 * n) & 3;
        match ctrl {
            0..=0xff => write!(self.out, " quad_perm:[{},{},{},{}]", quad(0), quad(1), quad(2), quad(3))?,
            0x101..=0x10f => write!(self.out, " row_shl:{}", ctrl & 15)?,
            0x111..=0x11f => write!(self.out, " row_shr:{}", ctrl & 15)?,
            0x121..=0x12f => write!(self.out, " row_ror:{}", ctrl & 15)?,
            0x130 => self.out.push_str(" wave_shl:1"),
            0x134 => self.out.push_str(" wave_rol:1"),
            0x138 => self.out.push_str(" wave_shr:1"),
            0x13c => self.out.push_str(" wave_ror:1"),
            0x140 => self.out.push_str(" row_mirror"),
            0x141 => self.out.push_str(" row_half_mirror"),
            0x142 => self.out.push_str(" row_bcast:15"),
            0x143 => self.out.push_str(" row_bcast:31"),
            0x150..=0x15f if self.target.has(Feature::ROW_NEWBCAST) => {
                write!(self.out, " row_newbcast:{}", ctrl & 15)?
            }
            0x150..=0x15f => write!(self.out, " row_share:{}", ctrl & 15)?,
            0x160..=0x16f => write!(self.out, " row_xmask:{}", ctrl & 15)?,
            _ => write!(self.out, " dpp:{ctrl:#x}")?,
        }
        write!(self.out, " row_mask:{row_mask:#x} bank_mask:{bank_mask:#x}")?;
        self.flags(&[(ModFlags::BOUND_CTRL, " bound_ctrl:1"), (ModFlags::FETCH_INACTIVE, " fi:1")])
    }

    fn dpp8(&mut self) -> fmt::Result {
        let Lane::Dpp8 { lanes } = self.inst.mods.lane else { return Ok(()) };
        self.out.push_str(" dpp8");
        for n in 0..8 {
            let before = if n == 0 { ":[" } else { "," };
            write!(self.out, "{before}{}", lanes >> (3 * n) & 7)?;
        }
        self.out.push(']');
        self.flags(&[(ModFlags::FETCH_INACTIVE, " fi:1")])
    }

    fn ds(&mut self) -> fmt::Result {
        let offset = self.inst.mods.offset;
        if self.inst.op == op::DS_SWIZZLE_B32 {
            swizzle(offset as u32 & 0xffff, self.out)?;
        } else if self.inst.op.row().flags.contains(Flags::OFFSET2) {
            for (name, value) in [(" offset0:", offset & 0xff), (" offset1:", offset >> 8 & 0xff)] {
                if value != 0 {
                    write!(self.out, "{name}{value}")?;
                }
            }
        } else {
            self.offset()?;
        }
        self.flags(&[(ModFlags::GDS, " gds")])
    }
}

fn sel_name(sel: SdwaSel) -> &'static str {
    match sel {
        SdwaSel::Byte0 => "BYTE_0",
        SdwaSel::Byte1 => "BYTE_1",
        SdwaSel::Byte2 => "BYTE_2",
        SdwaSel::Byte3 => "BYTE_3",
        SdwaSel::Word0 => "WORD_0",
        SdwaSel::Word1 => "WORD_1",
        SdwaSel::Dword => "DWORD",
    }
}

/// Prints the offset of `ds_swizzle_b32`. It is a permutation of four lanes, or a formula for the lane number
/// in groups of 32 lanes: `((lane & and) | or) ^ xor`. Some of these patterns have names.
fn swizzle(bits: u32, out: &mut String) -> fmt::Result {
    if bits == 0 {
        return Ok(());
    }
    out.push_str(" offset:");
    if bits >> 8 == 0x80 {
        let lane = |n: u32| bits >> (2 * n) & 3;
        return write!(out, "swizzle(QUAD_PERM,{},{},{},{})", lane(0), lane(1), lane(2), lane(3));
    }
    if bits & 0x8000 != 0 {
        return write!(out, "{bits}");
    }
    let (and, or, xor) = (bits & 31, bits >> 5 & 31, bits >> 10 & 31);
    let group = 32 - and;
    match (and, or) {
        (31, 0) if xor.is_power_of_two() => write!(out, "swizzle(SWAP,{xor})"),
        (31, 0) if xor > 0 && (xor + 1).is_power_of_two() => write!(out, "swizzle(REVERSE,{})", xor + 1),
        _ if group > 1 && group.is_power_of_two() && or < group && xor == 0 => {
            write!(out, "swizzle(BROADCAST,{group},{or})")
        }
        _ => {
            out.push_str("swizzle(BITMASK_PERM,\"");
            for n in (0..5).rev() {
                let zero = (or ^ xor) >> n & 1;
                let one = ((and | or) ^ xor) >> n & 1;
                out.push(match (zero, one) {
                    (0, 0) => '0',
                    (1, 1) => '1',
                    (0, _) => 'p',
                    _ => 'i',
                });
            }
            out.push_str("\")");
            Ok(())
        }
    }
}
