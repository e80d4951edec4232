//! Finds the values that are still in flight where blocks of the IR begin.
//!
//! Usually a copy gives a block's parameter its value, and the code waits before the copy. If register
//! allocation has removed the copy, a load before the block may write the parameter's register directly. The
//! parameter then receives its value after the beginning of the block. A value counts as in flight unless it
//! is known to have arrived.

use super::effects::{Effect, EffectKind, Effects};
use super::walker::{Flight, Places, REGISTERS};
use isa::{Counter, Counts};
use mir::MachFunc;

/// A place (the hardware register or the spill slot of a watched register) that holds its value when a block
/// of the IR begins, or that will receive it from an outstanding operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct AtHead {
    /// Number of the block of the IR: an index into [`mir::track::MachTrack::parts`].
    pub(super) part: u32,
    pub(super) place: u32,
    /// The wait counter that counts the operation which delivers the value. `Exp` means that either `vmcnt`
    /// or `lgkmcnt` may count the operation, so the code must wait for both. `None` means that the value has
    /// arrived.
    pub(super) coming: Option<Counter>,
}

/// Computes which cells (hardware registers and spill slots) are in flight, that is, still to be written by
/// outstanding operations. A state consists of two bit sets: the cells that vector memory operations will
/// write, and the cells that operations counted by `lgkmcnt` will write.
#[derive(Debug, Default)]
pub(super) struct InFlightAtHeads {
    /// Number of words in a bit set.
    words: usize,
    /// Bit set of the cells that are examined.
    wanted: Vec<u64>,
    /// `begins` has, for each block, the cells in flight at the block's beginning. `ends` has two states for
    /// each block, both for the block's end. The first state is correct if no cell is in flight at the
    /// beginning, and the second if every cell is in flight there. From both follows the state for any other
    /// set of cells.
    begins: Vec<u64>,
    ends: Vec<u64>,
    /// Cells (registers and spill slots) in flight at the current instruction. While a block is summarised,
    /// these are two states, one for each assumption about its beginning.
    now: Vec<u64>,
    /// Outstanding operations that the current block has issued. `Flight::place` is here the number of a cell.
    flights: Vec<Flight>,
    raised: [u32; 2],
}

impl InFlightAtHeads {
    /// Finds the values that are still in flight where their blocks of the IR begin, and sets
    /// `AtHead::coming` for them.
    pub(super) fn find(
        &mut self,
        func: &MachFunc,
        effects: &Effects,
        places: &Places,
        at_heads: &mut [AtHead],
    ) {
        let brought = |place: u32| {
            let cell = places.all[place as usize].cell;
            (cell < REGISTERS && effects.is_brought(cell)).then_some(cell)
        };
        self.wanted.clear();
        for cell in at_heads.iter().filter_map(|head| brought(head.place)) {
            let word = cell as usize / 64;
            self.wanted.resize(self.wanted.len().max(word + 1), 0);
            self.wanted[word] |= 1 << (cell % 64);
        }
        self.words = self.wanted.len();
        if self.words == 0 {
            return;
        }
        self.summarise(func, effects);
        self.flow(func);
        for &(inst, part) in &effects.heads {
            let first = at_heads.partition_point(|head| head.part < part);
            let own = at_heads[first..].iter_mut().take_while(|head| head.part == part);
            let mut own = own.filter_map(|head| Some((brought(head.place)?, head))).peekable();
            if own.peek().is_none() {
                continue;
            }
            let (block, n) = effects.block_of(inst);
            let start = block.as_u32() as usize * 2 * self.words;
            self.now.clear();
            self.now.extend_from_slice(&self.begins[start..start + 2 * self.words]);
            self.walk(effects, &effects.of_block(block)[..n]);
            for (cell, head) in own {
                let [vector, other] =
                    [0, self.words].map(|kind| self.now[kind + cell as usize / 64] >> (cell % 64) & 1);
                head.coming = match [vector, other] {
                    [0, 0] => None,
                    [_, 0] => Some(Counter::Vm),
                    [0, _] => Some(Counter::Lgkm),
                    _ => Some(Counter::Exp),
                };
            }
        }
    }

    /// Computes for each block which cells (registers and spill slots) are in flight at the end of the block.
    /// The result depends on which cells are in flight at the beginning of the block (see `ends`).
    fn summarise(&mut self, func: &MachFunc, effects: &Effects) {
        self.ends.clear();
        for block in func.blocks.keys() {
            self.now.clear();
            self.now.resize(2 * self.words, 0);
            self.now.resize(4 * self.words, u64::MAX);
            self.walk(effects, effects.of_block(block));
            self.ends.extend_from_slice(&self.now);
        }
    }

    /// Propagates cells in flight along edges to a fixpoint.
    fn flow(&mut self, func: &MachFunc) {
        let size = 2 * self.words;
        self.begins.clear();
        self.begins.resize(size * func.blocks.len(), 0);
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for (block, data) in func.blocks.iter() {
                let at = block.as_u32() as usize;
                let (none, all) = self.ends[2 * size * at..2 * size * (at + 1)].split_at(size);
                for edge in [&data.linear, &data.logical].into_iter().flat_map(|edges| edges.iter().flatten())
                {
                    let to = edge.to.as_u32() as usize;
                    for n in 0..size {
                        let leaves = none[n] | all[n] & self.begins[size * at + n];
                        let begins = &mut self.begins[size * to + n];
                        changed |= leaves & !*begins != 0;
                        *begins |= leaves;
                    }
                }
            }
        }
    }

    fn walk(&mut self, all: &Effects, effects: &[Effect]) {
        self.flights.clear();
        self.raised = [0; 2];
        for effect in effects {
            match effect.does {
                EffectKind::Wait(counts) => self.wait(&counts),
                // The called function waits for all outstanding operations when it begins, so none is
                // outstanding after the call.
                EffectKind::Call => {
                    self.now.fill(0);
                    self.flights.clear();
                }
                _ => {
                    all.written(effect).iter().for_each(|&cell| self.write(cell.into(), effect.counter));
                    if let Some(counter @ (Counter::Vm | Counter::Lgkm)) = effect.counter {
                        self.raised[kind(counter)] += 1;
                    }
                }
            }
        }
    }

    /// Handles a write to `cell`, which is a register or spill slot. If the write is asynchronous, `counter`
    /// is the wait counter that counts it, and the cell is in flight afterwards. `Exp` stands for an
    /// operation that either of two counters may count: its result has arrived only after the code has waited
    /// for both.
    fn write(&mut self, cell: u32, counter: Option<Counter>) {
        let word = self.wanted.get(cell as usize / 64).copied().unwrap_or(0);
        if word >> (cell % 64) & 1 == 0 {
            return;
        }
        self.flights.retain(|flight| flight.place != cell);
        for kind in 0..2 {
            let other = if kind == 0 { Counter::Lgkm } else { Counter::Vm };
            self.put(cell, kind, counter.is_some_and(|counter| counter != other));
        }
        if let Some(counter @ (Counter::Vm | Counter::Lgkm)) = counter {
            self.flights.push(Flight { counter, number: self.raised[kind(counter)], place: cell });
        }
    }

    fn put(&mut self, cell: u32, kind: usize, is_coming: bool) {
        let (word, bit) = (cell as usize / 64, 1 << (cell % 64));
        for state in self.now.chunks_exact_mut(2 * self.words) {
            let word = &mut state[kind * self.words + word];
            *word = if is_coming { *word | bit } else { *word & !bit };
        }
    }

    fn wait(&mut self, counts: &Counts) {
        for counter in [Counter::Vm, Counter::Lgkm] {
            if counts.count(counter) == 0 {
                let kind = kind(counter);
                for state in self.now.chunks_exact_mut(2 * self.words) {
                    state[kind * self.words..(kind + 1) * self.words].fill(0);
                }
            }
        }
        let mut flights = std::mem::take(&mut self.flights);
        flights.retain(|flight| {
            let is_under_way = !flight.is_done(counts, self.raised);
            if !is_under_way {
                self.put(flight.place, kind(flight.counter), false);
            }
            is_under_way
        });
        self.flights = flights;
    }
}

fn kind(counter: Counter) -> usize {
    usize::from(counter == Counter::Lgkm)
}
