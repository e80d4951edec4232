//! Kernels whose wave size differs from that of the file.
//!
//! GFX10 code is compiled for waves of 32 or 64 lanes, and only kernel descriptors and AMDPAL's metadata say
//! which. The encoding of an instruction is the same, but its text is not (`vcc` or `vcc_lo`), and an
//! assembler reads a whole file for one size. So the whole file is read with the wave size of its first
//! kernel, and this module records where the kernels with the other wave size are.

use super::marks::names_a_place;
use crate::elf::CodeObject;
use crate::pipeline::Pipeline;
use isa::{Feature, Target};
use std::collections::HashMap;

/// Returns the processor with waves of `wave_size` lanes. If `wave_size` is not given, the wave size is that
/// of the file's first kernel.
pub fn with_wave_size(
    object: &CodeObject<'_>,
    target: &'static Target,
    wave_size: Option<u32>,
) -> &'static Target {
    let first = || kernels(object, target).first().is_none_or(|&(_, is_wave32)| is_wave32);
    for_kernel(target, wave_size.map_or_else(first, |lanes| lanes == 32))
}

/// Returns the name of each kernel, and whether its waves have 32 lanes. Kernels are those with descriptors,
/// and the stages of a pipeline of AMDPAL.
fn kernels<'data>(object: &CodeObject<'data>, target: &Target) -> Vec<(&'data str, bool)> {
    let stages = Pipeline::of_object(object).map_or_else(Vec::new, |pipeline| {
        let (major, minor, stepping) = target.version;
        let wave_size = |stage| pipeline.metadata.wave_size(stage, [major, minor, stepping]);
        let entry = |stage| Some((pipeline.entry(object, stage)?.name, wave_size(stage)? == 32));
        pipeline.stages().into_iter().filter_map(entry).collect()
    });
    let descriptors = object.descriptors().map(|descriptor| (descriptor.kernel, descriptor.is_wave32()));
    descriptors.chain(stages).collect()
}

/// Returns the processor with the wave size of a kernel. Processors before GFX10 have only one wave size, so
/// they stay as they are.
pub fn for_kernel(target: &'static Target, wave32: bool) -> &'static Target {
    if !target.has(Feature::WAVE32) {
        return target;
    }
    target.with_wave_size(if wave32 { 32 } else { 64 }).unwrap_or(target)
}

/// Ranges of the code of kernels whose wave size differs from the size for which the file is read.
pub struct Waves {
    /// The ranges, sorted. Each has the section, the offset of its first byte, and the offset after its last
    /// byte.
    ranges: Vec<(usize, u64, u64)>,
    /// Processor with the other wave size.
    pub target: &'static Target,
}

impl Waves {
    /// Finds the kernels whose wave size differs from that of `target`.
    pub fn for_object(object: &CodeObject<'_>, target: &'static Target) -> Waves {
        let file_is_wave32 = target.wave_size == 32;
        let others: Vec<&str> = kernels(object, target)
            .into_iter()
            .filter(|&(_, is_wave32)| is_wave32 != file_is_wave32)
            .map(|(name, _)| name)
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
            // A symbol without a size extends to the next symbol.
            let next = starts.get(starts.partition_point(|&start| start <= (index, symbol.value)));
            let next = next.filter(|(section, _)| *section == index).map_or(u64::MAX, |(_, place)| *place);
            let end = if symbol.size > 0 { symbol.value.saturating_add(symbol.size) } else { next };
            waves.ranges.push((index, symbol.value.wrapping_sub(base), end.saturating_sub(base)));
        }
        waves.ranges.sort();
        waves
    }

    /// Returns whether the code at an offset in a section belongs to a kernel with the other wave size.
    pub fn is_other(&self, section: usize, offset: u64) -> bool {
        let after = self.ranges.partition_point(|&(index, begin, _)| (index, begin) <= (section, offset));
        let range = after.checked_sub(1).map(|n| self.ranges[n]);
        range.is_some_and(|(index, _, end)| index == section && offset < end)
    }
}
