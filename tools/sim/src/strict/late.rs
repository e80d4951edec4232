//! Findings that turn out to be harmless if the memory location is used by atomics.
//!
//! An atomic store has the same encoding as a plain store. A compare-and-swap loop starts with a load that
//! may be atomic, and this load has the same encoding as a plain load. Only the later use of the location
//! tells an atomic access from a plain one. In one case, other waves read the location with loads that act at
//! the L2 cache. In the other case, the same wave executes an atomic on the location.
//!
//! Findings about such accesses are therefore kept until the dispatch ends, and dropped if such a use was
//! seen. A load that acts at L2 and has the same address operands as the store is taken as such a use even if
//! it was never executed.

use super::findings::{Finding, split_place};
use super::start::{Shared, lock};
use super::touch::{Class, Memory, Run};
use std::collections::HashMap;

/// Maximum number of findings about the same two instructions that are kept. Each of them is about another
/// memory location.
const MOST: usize = 64;

/// What identifies findings about the same instructions: the rule and the code positions.
type Kind = (String, u32, Option<u32>);

/// The later event that would show that a conflict is harmless.
#[derive(Clone, Copy, Debug)]
pub(super) enum Excuse {
    /// Another wave reads the location with a load that acts at the L2 cache.
    Watched,
    /// The finding is harmless if the wave with this number (counted from 1) executes an atomic on the
    /// location with the old value as result.
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
    /// Keeps a finding until the end of the dispatch. The finding is dropped there if the event `excuse` has
    /// happened at `address`.
    #[cold]
    pub(super) fn wait_for(&self, excuse: Excuse, address: u64, finding: Finding, first_wave: u32) {
        let kind = (finding.rule.clone(), finding.place, finding.other.as_ref().map(|other| other.place));
        let mut waiting = lock(&self.waiting);
        let same = waiting.0.entry(kind).or_default();
        if same.len() < MOST {
            same.push(Late { address: address & !3, excuse, finding, first_wave });
        }
    }

    /// Returns the findings for which the event that would make them harmless was not seen, each with the
    /// number of the first wave of its group. Returns only one of several findings about the same two
    /// instructions.
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

    /// Returns whether the code contains a load that acts at the L2 cache and has the same address operands
    /// as the store at code position `store`. Such a load shows that the store is probably atomic.
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

    /// Returns the address operands of an instruction: ranges of VGPRs, mask of SGPRs, and offset. Two
    /// instructions with equal address operands probably access the same location.
    fn address_operands(&self, range: u32, at: usize) -> Option<(Vec<Run>, u128, i32)> {
        let (inst, _) = self.instruction(range, at)?;
        let touch = self.touch(range, at as u32);
        Some((touch.address.as_slice().to_vec(), touch.scalar_address, inst.mods.offset))
    }
}
