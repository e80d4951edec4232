//! Findings that are kept until the end of the dispatch, because they turn out to be harmless if atomics also
//! use the memory location.
//!
//! An atomic store has the same encoding as a plain store. The load at the start of a compare-and-swap loop
//! may be atomic, but has the same encoding as a plain load. Only later accesses to the location show whether
//! such a store or load was atomic. A store counts as atomic if another wave reads the location with a `glc`
//! load, which bypasses the first-level cache. A load counts as atomic if the same wave executes an atomic on
//! the location.
//!
//! A finding about such an access is therefore dropped if such a later access was seen before the dispatch
//! ends. A `glc` load that has the same address operands as the store counts even if it was never executed.

use super::findings::{Finding, split_place};
use super::start::{Shared, lock};
use super::touch::{Class, Memory, Run};
use std::collections::HashMap;

/// Maximum number of findings that are kept for the same two instructions. Each of these findings is about
/// another memory location.
const MOST: usize = 64;

/// What identifies findings about the same instructions: the rule and the code positions.
type Kind = (String, u32, Option<u32>);

/// The later access that would show that the accesses of a finding were atomic and that the finding is
/// harmless.
#[derive(Clone, Copy, Debug)]
pub(super) enum Excuse {
    /// Another wave reads the location with a load that bypasses the first-level cache (`glc`).
    Watched,
    /// The wave with this number (counted from 1) executes an atomic on the location that returns the old
    /// value.
    Joined(u32),
}

/// A finding that is kept until the end of the dispatch.
struct Late {
    address: u64,
    excuse: Excuse,
    finding: Finding,
    /// Number of the first wave of the finding's group.
    first_wave: u32,
}

/// All findings that are kept, by rule and code positions.
#[derive(Default)]
pub(super) struct Waiting(HashMap<Kind, Vec<Late>>);

impl Shared {
    /// Keeps a finding until the end of the dispatch. It is dropped then if the access `excuse` was seen at
    /// `address`.
    #[cold]
    pub(super) fn wait_for(&self, excuse: Excuse, address: u64, finding: Finding, first_wave: u32) {
        let kind = (finding.rule.clone(), finding.place, finding.other.as_ref().map(|other| other.place));
        let mut waiting = lock(&self.waiting);
        let same = waiting.0.entry(kind).or_default();
        if same.len() < MOST {
            same.push(Late { address: address & !3, excuse, finding, first_wave });
        }
    }

    /// Returns the findings that did not turn out to be harmless. Each comes with the number of the first
    /// wave of its group. Returns only one of several findings about the same two instructions.
    pub(super) fn late_findings(&self) -> Vec<(u32, Finding)> {
        let waiting = std::mem::take(&mut *lock(&self.waiting)).0;
        let mut found: Vec<(u32, Finding)> = waiting
            .into_values()
            .filter_map(|same| same.into_iter().find(|late| !self.is_excused(late)))
            .map(|late| (late.first_wave, late.finding))
            .collect();
        found.sort_by_key(|(_, finding)| (finding.place, finding.other.as_ref().map(|other| other.place)));
        found.retain(|(_, finding)| {
            self.is_new(&finding.rule, finding.place, finding.other.as_ref().map(|other| other.place))
        });
        found
    }

    fn is_excused(&self, late: &Late) -> bool {
        match late.excuse {
            Excuse::Watched => self.is_watched(late.address) || self.has_watching_twin(late.finding.place),
            Excuse::Joined(wave) => self.has_joined(late.address, wave),
        }
    }

    /// Returns whether the code contains a `glc` load, which bypasses the first-level cache, with the same
    /// address operands as the store at code position `store`. Such a load shows that the store is probably
    /// atomic.
    fn has_watching_twin(&self, store: u32) -> bool {
        let (range, pc) = split_place(store);
        let Some(wanted) = self.address_operands(range, pc as usize) else { return false };
        let words = self.reading.len(range);
        let mut at = 0;
        while at < words {
            let touch = self.touch(range, at as u32);
            let watches = touch.glc && touch.class == Class::Memory(Memory::Load);
            if watches && self.address_operands(range, at).as_ref() == Some(&wanted) {
                return true;
            }
            at += self.instruction(range, at).map_or(1, |(_, size)| size);
        }
        false
    }

    /// Returns the operands that form the address of an instruction: ranges of VGPRs, a mask of SGPRs, and
    /// the offset. Two instructions for which these are equal probably access the same location.
    fn address_operands(&self, range: u32, at: usize) -> Option<(Vec<Run>, u128, i32)> {
        let (inst, _) = self.instruction(range, at)?;
        let touch = self.touch(range, at as u32);
        Some((touch.address.as_slice().to_vec(), touch.scalar_address, inst.mods.offset))
    }
}
