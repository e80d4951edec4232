//! Register pressure: the number of live registers at each instruction.
//!
//! # Lattice
//! A state is a set of registers. States are propagated backwards, and joined by union. A write counts as the
//! start of a live range, even if some lanes are inactive and keep an older value. A value that only inactive
//! lanes still need is therefore not counted before the write, so the numbers may be slightly low in
//! divergent code.

use crate::finding::Site;
use crate::program::Program;
use crate::regset::RegSet;
use isa::Target;

/// Numbers of live registers before an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Alive {
    /// VGPRs.
    pub vgprs: u16,
    /// Accumulation VGPRs.
    pub agprs: u16,
    /// SGPRs, without VCC and other special registers.
    pub sgprs: u16,
}

/// Returns the number of live registers of each kind before each instruction.
pub fn alive(program: &Program) -> Vec<Alive> {
    let count = program.insts.len();
    // Sets of live registers are kept only at the beginnings of basic blocks.
    let heads: Vec<Site> = (0..count as Site).filter(|&site| is_head(program, site)).collect();
    let mut slot = vec![u32::MAX; count];
    heads.iter().enumerate().for_each(|(index, &head)| slot[head as usize] = index as u32);
    let mut sets = vec![RegSet::EMPTY; heads.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for index in (0..heads.len()).rev() {
            let end = heads.get(index + 1).map_or(count, |&next| next as usize);
            let set = backwards(program, heads[index] as usize..end, &sets, &slot, &mut |_, _| {});
            changed |= set != sets[index];
            sets[index] = set;
        }
    }
    let mut alive = vec![Alive::default(); count];
    for (index, &head) in heads.iter().enumerate() {
        let end = heads.get(index + 1).map_or(count, |&next| next as usize);
        backwards(program, head as usize..end, &sets, &slot, &mut |site, set| {
            alive[site] = number(set, program.code.target())
        });
    }
    alive
}

/// Returns whether an instruction begins a basic block. It does if control can come from an instruction other
/// than the previous one, or if the previous one has other successors.
fn is_head(program: &Program, site: Site) -> bool {
    let Some(before) = site.checked_sub(1) else { return true };
    program.is_leader(site) || !program.successors(before).eq([site])
}

/// Propagates liveness from the end of a block to its beginning. Returns the set at the beginning.
fn backwards(
    program: &Program,
    block: std::ops::Range<usize>,
    sets: &[RegSet],
    slot: &[u32],
    seen: &mut impl FnMut(usize, &RegSet),
) -> RegSet {
    let mut set = RegSet::EMPTY;
    if let Some(last) = block.clone().next_back() {
        let next = program.successors(last as Site).filter_map(|next| sets.get(slot[next as usize] as usize));
        next.for_each(|next| set.add(next));
    }
    for site in block.rev() {
        let effects = program.code.effects(site as Site);
        set = set.without(&effects.writes).or(&effects.reads);
        seen(site, &set);
    }
    set
}

fn number(set: &RegSet, target: &Target) -> Alive {
    let mut alive = Alive::default();
    for reg in set.iter() {
        match reg {
            _ if target.is_sgpr(reg) => alive.sgprs += 1,
            _ if reg.is_vgpr() => alive.vgprs += 1,
            _ if reg.is_agpr() => alive.agprs += 1,
            _ => {}
        }
    }
    alive
}
