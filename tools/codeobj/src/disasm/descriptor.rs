//! Writes kernel descriptors as `.amdhsa_kernel` blocks, or as bytes if the directives cannot express them.

use super::marks::{Mark, Marks, Relocations};
use super::{Listing, data, expr, waves};
use crate::descriptor::{Descriptor, ENTRY_OFFSET, SIZE};
use isa::{DescriptorFields, Feature, Target};
use objwriter::descriptor::{
    ACCUM_OFFSET, Field, Granules, Registers, SGPR_BLOCKS, SHARED_VGPR_COUNT, USER_SGPR_COUNT, VGPR_BLOCKS,
    directives, user_sgprs,
};
use std::fmt::{self, Write};

const R_AMDGPU_REL64: u32 = 5;
const ENTRY: std::ops::Range<usize> = ENTRY_OFFSET as usize..ENTRY_OFFSET as usize + 8;

/// Operands for directives about SGPRs (`.amdhsa_next_free_sgpr` and `.amdhsa_reserve_*`). The descriptor
/// contains a number of SGPR blocks, which an assembler computes from these operands. Whether XNACK_MASK is
/// reserved is not an operand here, because assemblers require it to agree with the target id.
struct Sgprs {
    next_free: u32,
    vcc: bool,
    flat_scratch: bool,
}

impl Sgprs {
    /// Finds operands from which an assembler computes the number `blocks` of SGPR blocks. Returns `None` if
    /// there are no such operands.
    fn for_blocks(blocks: u32, target: &Target, xnack_mask: bool) -> Option<Sgprs> {
        let count = match Granules::for_target(target).sgpr {
            Some(granule) => (blocks + 1) * granule,
            // GFX10 does not count SGPRs.
            None if blocks == 0 => 8,
            None => return None,
        };
        if target.has(Feature::SGPR_INIT_BUG) && blocks != 11 {
            return None;
        }
        let reserves = [(false, false), (true, false), (true, true)];
        reserves.into_iter().find_map(|(vcc, flat_scratch)| {
            let none = Registers { vgprs: 0, sgprs: 0, vcc, flat_scratch, xnack_mask };
            let next_free = count.checked_sub(none.extra_sgprs(target))?;
            let fits = next_free <= target.addressable_sgprs || target.has(Feature::SGPR_INIT_BUG);
            let next_free = next_free.min(target.addressable_sgprs);
            fits.then_some(Sgprs { next_free, vcc, flat_scratch })
        })
    }
}

impl Listing<'_, '_> {
    /// Writes the kernel descriptor that begins at offset `at`, as a block of directives if these can express
    /// it and otherwise as bytes. Returns the offset after the descriptor, or `None` if no descriptor begins
    /// there.
    pub(super) fn kernel_descriptor(
        &self,
        index: usize,
        at: u64,
        marks: &mut Marks,
        relocations: &mut Relocations,
        out: &mut String,
    ) -> Result<Option<u64>, fmt::Error> {
        let end = at + SIZE as u64;
        let Some(number) = marks.only_start(at, end).filter(|_| self.is_hsa_v3()) else { return Ok(None) };
        let symbol = &self.object.symbols()[number as usize];
        let Some(descriptor) = self.object.descriptor(symbol) else { return Ok(None) };
        let Some(is_entry_known) = self.entry(&descriptor, at, end, relocations) else { return Ok(None) };
        if !self.names.is_unique(number as usize, symbol) {
            return Ok(None);
        }
        let obstacle = match is_entry_known {
            true => self.obstacle(index, at, &descriptor),
            false => Some(format!("it does not begin at {}", descriptor.kernel.escape_debug())),
        };
        match obstacle {
            None => {
                marks.forget(at, Mark::Start(number));
                marks.forget(end, Mark::End(number));
                self.marks(index, marks, at, out)?;
                self.descriptor_block(&descriptor, out)?;
            }
            Some(obstacle) => {
                self.marks(index, marks, at, out)?;
                writeln!(out, "\t; a kernel descriptor that directives cannot say: {obstacle}")?;
                data::numbers(&descriptor.bytes[..ENTRY.start], 0, out)?;
                if is_entry_known {
                    out.push_str("\t.quad ");
                    expr::name(descriptor.kernel, out);
                    writeln!(out, "@rel64{ENTRY_OFFSET:+}")?;
                } else {
                    data::numbers(&descriptor.bytes[ENTRY], 0, out)?;
                }
                data::numbers(&descriptor.bytes[ENTRY.end..], 0, out)?;
            }
        }
        while relocations.take(end).is_some() {}
        Ok(Some(end))
    }

    /// Returns whether the descriptor's field for the entry point refers to the kernel after which the
    /// descriptor is named. Returns `None` if the descriptor has relocations that directives cannot express.
    fn entry(
        &self,
        descriptor: &Descriptor<'_>,
        at: u64,
        end: u64,
        relocations: &Relocations,
    ) -> Option<bool> {
        if !self.object.header.is_relocatable() {
            // A loadable file has no relocation for the entry point, so directives can express the descriptor
            // only if it has no relocation at all.
            return (relocations.next_place() >= end)
                .then(|| self.names.all_at(descriptor.entry()).any(|name| name == descriptor.kernel));
        }
        let mut records = relocations.remaining_before(end);
        let Some((place, record, table)) = records.next() else { return Some(false) };
        let symbol = self.object.symbols_of(*table).get(record.symbol as usize)?;
        let is_usual = *place == at + ENTRY_OFFSET
            && record.kind == R_AMDGPU_REL64
            && record.addend == ENTRY_OFFSET as i64
            && symbol.name == descriptor.kernel
            && descriptor.bytes[ENTRY] == [0; 8]
            && records.next().is_none();
        is_usual.then_some(true)
    }

    /// Returns the reason why directives cannot express the descriptor, if there is one.
    fn obstacle(&self, index: usize, at: u64, descriptor: &Descriptor<'_>) -> Option<String> {
        let target = waves::for_kernel(self.target, descriptor.is_wave32());
        let section = &self.object.sections[index];
        if !at.is_multiple_of(SIZE as u64) || section.align < SIZE as u64 {
            return Some("it is not aligned to 64 bytes".to_owned());
        }
        let bytes = &descriptor.bytes;
        let mut said = [0; SIZE];
        said[ENTRY].copy_from_slice(&bytes[ENTRY]);
        let others = [&VGPR_BLOCKS, &SGPR_BLOCKS, &USER_SGPR_COUNT, &ACCUM_OFFSET];
        let others = others.into_iter().filter(|field| field.on.has(target));
        for field in directives(target).map(|(_, field)| field).chain(others) {
            field.set(&mut said, field.get(bytes));
        }
        if let Some(byte) = (0..SIZE).find(|&byte| said[byte] != bytes[byte]) {
            return Some(format!("bits {:#04x} of byte {byte} are reserved", said[byte] ^ bytes[byte]));
        }
        let number = |field: Field| field.get(bytes) as u32;
        let sgprs = number(SGPR_BLOCKS);
        if self.sgprs(bytes, target).is_none() {
            return Some(format!("granulated_wavefront_sgpr_count is {sgprs}"));
        }
        let (count, needed) = (number(USER_SGPR_COUNT), user_sgprs(bytes, target));
        if count < needed {
            return Some(format!("user_sgpr_count is {count}, and {needed} are enabled"));
        }
        let vgprs = next_free_vgpr(bytes, target);
        let shared = if SHARED_VGPR_COUNT.on.has(target) { number(SHARED_VGPR_COUNT) } else { 0 };
        if shared > 0 && (descriptor.is_wave32() || number(VGPR_BLOCKS) + 2 * shared > 63) {
            return Some(format!("shared_vgpr_count is {shared}"));
        }
        if target.has(Feature::UNIFIED_VGPRS) && (number(ACCUM_OFFSET) + 1) * 4 > vgprs {
            return Some("accum_offset is beyond the VGPRs".to_owned());
        }
        None
    }

    fn sgprs(&self, bytes: &[u8; SIZE], target: &Target) -> Option<Sgprs> {
        let xnack = self.identity.xnack.may_be_on() && target.has(Feature::XNACK);
        Sgprs::for_blocks(SGPR_BLOCKS.get(bytes) as u32, target, xnack)
    }

    fn descriptor_block(&self, descriptor: &Descriptor<'_>, out: &mut String) -> fmt::Result {
        let (bytes, target) = (&descriptor.bytes, waves::for_kernel(self.target, descriptor.is_wave32()));
        out.push_str("\n\t.amdhsa_kernel ");
        expr::name(descriptor.kernel, out);
        out.push('\n');
        for (name, field) in directives(target) {
            let value = field.get(bytes);
            // These directives are written only if their fields are not 0, because assemblers for older code
            // object versions do not know them.
            let is_recent = matches!(
                name,
                "uses_dynamic_stack"
                    | "user_sgpr_kernarg_preload_length"
                    | "user_sgpr_kernarg_preload_offset"
                    | "shared_vgpr_count"
            );
            if value != 0 || !is_recent {
                writeln!(out, "\t\t.amdhsa_{name} {value}")?;
            }
        }
        let count = USER_SGPR_COUNT.get(bytes) as u32;
        if count != user_sgprs(bytes, target) {
            writeln!(out, "\t\t.amdhsa_user_sgpr_count {count}")?;
        }
        if target.has(Feature::UNIFIED_VGPRS) {
            writeln!(out, "\t\t.amdhsa_accum_offset {}", (ACCUM_OFFSET.get(bytes) + 1) * 4)?;
        }
        writeln!(out, "\t\t.amdhsa_next_free_vgpr {}", next_free_vgpr(bytes, target))?;
        if let Some(sgprs) = self.sgprs(bytes, target) {
            writeln!(out, "\t\t.amdhsa_next_free_sgpr {}", sgprs.next_free)?;
            writeln!(out, "\t\t.amdhsa_reserve_vcc {}", u8::from(sgprs.vcc))?;
            if DescriptorFields::RESERVE_FLAT_SCRATCH.has(target) {
                writeln!(out, "\t\t.amdhsa_reserve_flat_scratch {}", u8::from(sgprs.flat_scratch))?;
            }
        }
        out.push_str("\t.end_amdhsa_kernel\n");
        Ok(())
    }
}

/// Returns the operand for `.amdhsa_next_free_vgpr`. The descriptor has only a number of register blocks, so
/// this is the largest number of registers that gives this number of blocks.
fn next_free_vgpr(bytes: &[u8; SIZE], target: &Target) -> u32 {
    (VGPR_BLOCKS.get(bytes) as u32 + 1) * Granules::for_target(target).vgpr
}
