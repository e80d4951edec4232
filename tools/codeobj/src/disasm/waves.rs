//! Kernels of the other wavefront size.
//!
//! GFX10 code is for wavefronts of 32 or of 64 lanes, and only the kernels' descriptors say for which. The words are the
//! same, but the text is not (`vcc` or `vcc_lo`), and an assembler reads a file for one size. So a file has the size of
//! its first kernel; where kernels of the other size lie is noted here.

use super::marks::names_a_place;
use crate::elf::CodeObject;
use isa::{Feature, Target};
use std::collections::HashMap;

/// The processor with the wavefront size that is asked for, or with that of the file's first kernel.
pub fn with_wave_size(
    object: &CodeObject<'_>,
    target: &'static Target,
    wave_size: Option<u32>,
) -> &'static Target {
    let first = || object.descriptors().next().is_none_or(|descriptor| descriptor.is_wave32());
    for_kernel(target, wave_size.map_or_else(first, |lanes| lanes == 32))
}

/// The processor with the wavefront size of a kernel; it has no choice before GFX10.
pub fn for_kernel(target: &'static Target, wave32: bool) -> &'static Target {
    if !target.has(Feature::WAVE32) {
        return target;
    }
    target.with_wave_size(if wave32 { 32 } else { 64 }).unwrap_or(target)
}

/// Where the code of kernels lies whose wavefront size is not the file's.
pub struct Waves {
    /// Section, first byte, byte after the last; sorted.
    ranges: Vec<(usize, u64, u64)>,
    /// The processor with the other size.
    pub target: &'static Target,
}

impl Waves {
    /// Those of a file that is read for `target`.
    pub fn of(object: &CodeObject<'_>, target: &'static Target) -> Waves {
        let file_is_wave32 = target.wave_size == 32;
        let others: Vec<&str> = object
            .descriptors()
            .filter(|descriptor| descriptor.is_wave32() != file_is_wave32)
            .map(|descriptor| descriptor.kernel)
            .collect();
        let mut waves = Waves { ranges: Vec::new(), target: for_kernel(target, !file_is_wave32) };
        if others.is_empty() || !target.has(Feature::WAVE32) {
            return waves;
        }
        let is_code = |section: usize| object.sections.get(section).is_some_and(|section| section.is_code());
        let (mut by_name, mut starts) = (HashMap::new(), Vec::new());
        for symbol in object.symbols().iter().filter(|symbol| names_a_place(symbol)) {
            let section = usize::from(symbol.section);
            if is_code(section) {
                by_name.entry(symbol.name).or_insert(symbol);
                starts.push((section, symbol.value));
            }
        }
        starts.sort();
        for symbol in others.iter().filter_map(|name| by_name.get(name)) {
            let index = usize::from(symbol.section);
            let section = &object.sections[index];
            let base = if object.header.is_relocatable() { 0 } else { section.address };
            // Without a size, it goes on to the next symbol.
            let next = starts.get(starts.partition_point(|&start| start <= (index, symbol.value)));
            let next = next.filter(|(section, _)| *section == index).map_or(u64::MAX, |(_, place)| *place);
            let end = if symbol.size > 0 { symbol.value.saturating_add(symbol.size) } else { next };
            waves.ranges.push((index, symbol.value.wrapping_sub(base), end.saturating_sub(base)));
        }
        waves.ranges.sort();
        waves
    }

    /// Whether the code at an offset in a section is of the other size.
    pub fn is_other(&self, section: usize, offset: u64) -> bool {
        let after = self.ranges.partition_point(|&(index, begin, _)| (index, begin) <= (section, offset));
        let range = after.checked_sub(1).map(|n| self.ranges[n]);
        range.is_some_and(|(index, _, end)| index == section && offset < end)
    }
}
