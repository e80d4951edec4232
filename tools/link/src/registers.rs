//! Finds the registers that code uses, and raises the register counts in kernel descriptors.

use isa::{Decoder, Feature, MachInst, Operand, RegRange, Target};
use objwriter::descriptor::{
    self, ACCUM_OFFSET, Granules, Registers, SGPR_BLOCKS, SIZE, TooMany, VGPR_BLOCKS,
};
use std::ops::Range;

/// Number of registers that code uses, for each kind of register: the highest register number plus one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    pub vgprs: u32,
    pub agprs: u32,
    pub sgprs: u32,
}

impl Used {
    /// Returns how many registers the instructions in range `part` of a section use. Words that are not
    /// instructions are skipped.
    pub fn from_code(code: &[u8], part: Range<u64>, target: &Target) -> Used {
        let mut used = Used::default();
        let end = (part.end.min(code.len() as u64)) as usize;
        let Some(code) = usize::try_from(part.start).ok().and_then(|start| code.get(start..end)) else {
            return used;
        };
        let word = |word: &[u8]| u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        let words: Vec<u32> = code.chunks_exact(4).map(word).collect();
        let Some(decoder) = Decoder::new(target) else { return used };
        let mut at = 0;
        while at < words.len() {
            at += match decoder.decode_tolerant(&words[at..]) {
                Ok((inst, length)) => {
                    used.add(&inst, target);
                    length.max(1)
                }
                Err(_) => 1,
            };
        }
        used
    }

    /// Adds the registers that an instruction uses.
    pub fn add(&mut self, inst: &MachInst, target: &Target) {
        inst.for_each_reg(|_, operand| self.name(operand, target));
    }

    fn name(&mut self, operand: Operand, target: &Target) {
        let Operand::Reg(RegRange { first, len, .. }) = operand else { return };
        let end = u32::from(first.number()) + u32::from(len);
        if first.is_vgpr() {
            self.vgprs = self.vgprs.max(end);
        } else if first.is_agpr() {
            self.agprs = self.agprs.max(end);
        } else if target.is_sgpr(first) {
            self.sgprs = self.sgprs.max(end);
        }
    }

    /// Returns the numbers of VGPRs, accumulation VGPRs and SGPRs.
    pub fn all(self) -> [u32; 3] {
        [self.vgprs, self.agprs, self.sgprs]
    }

    /// Returns how many registers a kernel descriptor allocates. Up to gfx908, a kernel has as many
    /// accumulation VGPRs as ordinary VGPRs. GFX10 descriptors do not count SGPRs.
    pub fn allotted(target: &Target, bytes: &[u8; SIZE]) -> Used {
        let wave = if descriptor::WAVEFRONT_SIZE32.get(bytes) != 0 { 32 } else { target.wave_size };
        let granules = Granules::for_target(target.with_wave_size(wave).unwrap_or(target));
        let all = (VGPR_BLOCKS.get(bytes) as u32 + 1) * granules.vgpr;
        let sgprs = granules.sgpr.map_or(0, |granule| (SGPR_BLOCKS.get(bytes) as u32 + 1) * granule);
        if !target.has(Feature::UNIFIED_VGPRS) {
            return Used { vgprs: all, agprs: all, sgprs };
        }
        let begin = (ACCUM_OFFSET.get(bytes) as u32 + 1) * 4;
        Used { vgprs: begin.min(all), agprs: all.saturating_sub(begin), sgprs }
    }

    /// Returns the maximum of both for each kind.
    pub fn join(self, other: Used) -> Used {
        Used {
            vgprs: self.vgprs.max(other.vgprs),
            agprs: self.agprs.max(other.agprs),
            sgprs: self.sgprs.max(other.sgprs),
        }
    }

    /// Makes a kernel descriptor allocate at least these registers. Returns the new numbers of VGPRs and
    /// SGPRs, as metadata counts them. A number is 0 if the descriptor allocates enough already.
    ///
    /// # Errors
    /// There are more registers than the processor has.
    pub fn raise(self, target: &Target, bytes: &mut [u8; SIZE]) -> Result<(u32, u32), TooMany> {
        let wave = if descriptor::WAVEFRONT_SIZE32.get(bytes) != 0 { 32 } else { 64 };
        let target = target.with_wave_size(wave).unwrap_or(target);
        let has = |blocks: u64, granule: u32| (blocks as u32 + 1) * granule;
        let granules = Granules::for_target(target);
        let allotted = has(VGPR_BLOCKS.get(bytes), granules.vgpr);
        let vgprs = self.all_vgprs(target, allotted, bytes);
        // Called functions may use VCC and the other special registers, which come after the numbered SGPRs,
        // so these are allocated, too. On some processors, the special registers are among the last numbered
        // SGPRs. If the code uses these SGPRs, it does not use the special registers, and they need no
        // allocation.
        let others = self.sgprs <= target.allocatable_sgprs();
        let needed =
            Registers { vgprs, sgprs: self.sgprs, vcc: others, flat_scratch: others, xnack_mask: others };
        let mut raised = *bytes;
        needed.set(target, &mut raised)?;
        let mut counts = (0, 0);
        if vgprs > allotted {
            VGPR_BLOCKS.set(bytes, VGPR_BLOCKS.get(&raised));
            counts.0 = vgprs;
        }
        if self.sgprs > 0 && SGPR_BLOCKS.get(&raised) > SGPR_BLOCKS.get(bytes) {
            SGPR_BLOCKS.set(bytes, SGPR_BLOCKS.get(&raised));
            counts.1 = needed.total_sgprs(target);
        }
        Ok(counts)
    }

    /// Returns the total number of VGPRs, including accumulation VGPRs. On gfx908, accumulation VGPRs are
    /// separate registers with the same numbers. On gfx90a, they follow the other VGPRs, and the descriptor
    /// says where they begin.
    fn all_vgprs(self, target: &Target, allotted: u32, bytes: &mut [u8; SIZE]) -> u32 {
        if !target.has(Feature::UNIFIED_VGPRS) {
            return self.vgprs.max(self.agprs);
        }
        let begin = (ACCUM_OFFSET.get(bytes) as u32 + 1) * 4;
        let moved = begin.max(self.vgprs.next_multiple_of(4));
        ACCUM_OFFSET.set(bytes, u64::from(moved / 4 - 1));
        let accumulation = self.agprs.max(if moved > begin { allotted.saturating_sub(begin) } else { 0 });
        if accumulation == 0 { self.vgprs } else { moved + accumulation }
    }
}
