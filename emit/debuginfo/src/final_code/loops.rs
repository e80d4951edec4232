//! Finds the cells (registers and spill slots) that loops overwrite. If a cell holds a value before a loop
//! and the loop overwrites the cell, the value is lost in the second iteration. So the cell does not count as
//! holding the value at the beginning of the loop.
//!
//! This analysis removes the overwritten cells from the loop header's entry state in advance. Then a single
//! walk through the blocks in order is enough, because a back edge does not change the entry state of its
//! loop header any more.

use super::effects::EffectKind;
use super::walker::{NONE, Places, Spilled, spilled};
use super::{EntryStates, Reader, counting};
use isa::MBlock;
use mir::MachFunc;

/// Working memory of this analysis, kept between functions. Blocks are identified by number.
#[derive(Debug, Default)]
pub(super) struct Loops {
    /// Back edges, as pairs of a loop header and the block from which control returns.
    backs: Vec<(u32, u32)>,
    /// Edges between blocks. `ways` has all edges as pairs, and `to` has the same pairs sorted by the block
    /// to which the edge leads. For each block, `first` has the index in `to` of the first edge that leads to
    /// the block.
    ways: Vec<(u32, u32)>,
    to: Vec<(u32, u32)>,
    first: Vec<u32>,
    /// For each block, the last loop in which the block was found.
    seen: Vec<u32>,
    work: Vec<u32>,
    /// For each block, the index in `overwritten` of a bit set: the cells (registers and spill slots) that
    /// the block overwrites. `NONE` if this set has not been computed yet.
    known: Vec<u32>,
    overwritten: Vec<u64>,
    /// Bit set of the cells that the current loop overwrites.
    all: Vec<u64>,
}

impl Loops {
    /// Removes from the entry state of each loop header the values in cells (registers and spill slots) that
    /// the loop overwrites. Returns `false` if control flow is irreducible, that is, if some back edge does
    /// not belong to a loop with a single entry.
    pub(super) fn enter(&mut self, reader: &Reader<'_>, places: &Places, begins: &mut EntryStates) -> bool {
        self.find(reader.func);
        let backs = std::mem::take(&mut self.backs);
        let mut are_loops = true;
        for (back, number) in backs.chunk_by(|a, b| a.0 == b.0).zip(1..) {
            are_loops &= self.go_through(reader, places, (back, number));
            self.take_away(places, begins, back[0].0);
        }
        self.backs = backs;
        are_loops
    }

    /// Finds the back edges.
    fn find(&mut self, func: &MachFunc) {
        let Loops { backs, ways, to, first, seen, known, overwritten, .. } = self;
        backs.clear();
        for (block, data) in func.blocks.iter() {
            let edges = [&data.linear, &data.logical].into_iter().flat_map(|edges| edges.iter().flatten());
            let back = edges.map(|edge| edge.to).filter(|&to| to <= block);
            backs.extend(back.map(|to| (to.as_u32(), block.as_u32())));
        }
        if backs.is_empty() {
            return;
        }
        backs.sort_unstable();
        ways.clear();
        for (block, data) in func.blocks.iter() {
            let edges = [&data.linear, &data.logical].into_iter().flat_map(|edges| edges.iter().flatten());
            ways.extend(edges.map(|edge| (block.as_u32(), edge.to.as_u32())));
        }
        let count = func.blocks.len();
        counting::sort(ways, count, |way| way.1 as usize, to, first);
        seen.clear();
        seen.resize(count, 0);
        known.clear();
        known.resize(count, NONE);
        overwritten.clear();
    }

    /// Finds the cells (registers and spill slots) that a loop overwrites, walking backwards from the blocks
    /// with its back edges to its header. Returns `false` if the walk reaches the entry of the function,
    /// because then the loop has another entry than its header.
    fn go_through(
        &mut self,
        reader: &Reader<'_>,
        places: &Places,
        (back, number): (&[(u32, u32)], u32),
    ) -> bool {
        let begin = back[0].0;
        self.all.clear();
        self.all.resize(places.cells.div_ceil(64), 0);
        self.seen[begin as usize] = number;
        self.add(reader, places, begin);
        self.work.clear();
        self.work.extend(back.iter().map(|&(_, from)| from));
        while let Some(block) = self.work.pop() {
            if std::mem::replace(&mut self.seen[block as usize], number) == number {
                continue;
            }
            if block == 0 {
                return false;
            }
            self.add(reader, places, block);
            let [start, end] = [0, 1].map(|n| self.first[block as usize + n] as usize);
            self.work.extend(self.to[start..end].iter().map(|way| way.0));
        }
        true
    }

    /// Adds the cells that a block overwrites.
    fn add(&mut self, reader: &Reader<'_>, places: &Places, block: u32) {
        let Loops { known, overwritten, all, .. } = self;
        let words = all.len();
        let known = &mut known[block as usize];
        if *known == NONE {
            *known = overwritten.len() as u32;
            overwritten.resize(overwritten.len() + words, 0);
            let cells = &mut overwritten[*known as usize..];
            overwrites(reader, places, MBlock::from_u32(block), |cell| {
                if let Some(word) = cells.get_mut(cell as usize / 64) {
                    *word |= 1 << (cell % 64);
                }
            });
        }
        let own = &overwritten[*known as usize..][..words];
        all.iter_mut().zip(own).for_each(|(all, own)| *all |= own);
    }

    /// Removes from the entry state of the loop header `begin` the values in cells that the loop overwrites.
    fn take_away(&self, places: &Places, begins: &mut EntryStates, begin: u32) {
        let [present, ready] = begins.of_mut(MBlock::from_u32(begin));
        for (place, number) in places.all.iter().zip(0usize..) {
            let word = self.all.get(place.cell as usize / 64).copied().unwrap_or(0);
            if word >> (place.cell % 64) & 1 != 0 {
                present[number / 64] &= !(1 << (number % 64));
                ready[number / 64] &= !(1 << (number % 64));
            }
        }
    }
}

/// Calls `f` for each cell that a block overwrites.
fn overwrites(reader: &Reader<'_>, places: &Places, block: MBlock, mut f: impl FnMut(u32)) {
    let effects = &reader.known.effects;
    for (inst, number) in reader.func.blocks[block].insts.iter().zip(effects.first(block).inst..) {
        let effect = effects.effect(number);
        effects.written(effect).iter().for_each(|&cell| f(cell.into()));
        match effect.does {
            EffectKind::Call => reader.clobbered(inst).for_each(|reg| f(reg.0.into())),
            EffectKind::Spill if matches!(spilled(inst), Some(Spilled::Stored(_))) => {
                f(places.slot_of(inst.loc))
            }
            _ => {}
        }
    }
}
