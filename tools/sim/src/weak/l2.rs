//! L2 caches of several agents: which data the L2 of an agent may keep, and the operations that make the L2
//! caches agree. The first column of the table is the kind of memory. The other columns say how the L2 of an
//! agent treats this memory, depending on whose memory it is.

use super::cache::Cache;
use super::machine::Machine;
use super::state::{Key, State};
use crate::device::DevicePtr;
use crate::memory::Memory;
use isa::Target;
use isa::target::Feature;

/// When other agents see a write to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grain {
    /// All agents see the write as soon as it reaches L2.
    Fine,
    /// Other agents see a write only later. Before they do, the L2 must have written the data back, and the
    /// other agents must have dropped their own copies of the line.
    Coarse,
}

/// A range of memory, and the agent whose local memory it is (or the host). All memory outside of the ranges
/// is fine-grained.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// First byte.
    pub start: DevicePtr,
    /// Length.
    pub bytes: u64,
    /// The agent whose local memory contains the range; `None` for memory of the host.
    pub home: Option<u32>,
    /// Grain.
    pub grain: Grain,
}

/// How an L2 treats a line (the "memory type" of its page).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mtype {
    /// Read-write.
    Rw,
    /// Not coherent: the line may be older than memory.
    Nc,
    /// Cache-coherent or uncached: the line always has the contents of memory.
    Coherent,
}

/// The ranges of memory that L2 caches may keep.
#[derive(Default)]
pub(super) struct Ranges {
    ranges: Vec<Range>,
    /// Whether the L2 of an agent is notified (by a probe) when other agents write to this agent's memory.
    probes: bool,
}

impl Ranges {
    pub(super) fn new(target: &Target, ranges: &[Range]) -> Ranges {
        let coarse = ranges.iter().filter(|range| range.grain == Grain::Coarse);
        // Of the processors here, only gfx908 and gfx90a have probes, and only these two have matrix
        // instructions.
        let probes = target.has(Feature::MAI);
        Ranges { ranges: coarse.copied().collect(), probes }
    }

    /// Returns whether the data in L2 caches may differ from memory.
    pub(super) fn any(&self) -> bool {
        !self.ranges.is_empty()
    }

    /// Returns whether some L2 may keep the line of an address.
    pub(super) fn keeps(&self, address: u64) -> bool {
        self.ranges.iter().any(|range| address.wrapping_sub(range.start) < range.bytes)
    }

    fn mtype(&self, address: u64, agent: u32) -> Mtype {
        let inside = |range: &&Range| address.wrapping_sub(range.start) < range.bytes;
        match self.ranges.iter().find(inside) {
            None => Mtype::Coherent,
            Some(range) if self.probes && range.home == Some(agent) => Mtype::Rw,
            Some(_) => Mtype::Nc,
        }
    }
}

impl Machine<'_> {
    /// Copies a line into the cache `into`, as an agent sees it when it misses its first-level caches.
    /// Afterwards, the agent's L2 also holds the line, if it may keep lines of this memory.
    pub(super) fn read_l2(&self, state: &mut State, agent: u32, line: u64, into: &mut Cache) {
        let memory = self.launches[0].memory;
        if self.mtype(line, agent) == Mtype::Coherent {
            return into.fill(memory, line, self.line_bytes);
        }
        let l2 = &mut state.l2[agent as usize];
        if !l2.has(line) {
            l2.fill(memory, line, self.line_bytes);
        }
        into.copy(l2, line);
    }

    /// Stores up to four bytes for an agent. They go to the agent's L2 if the L2 may keep the line, and
    /// otherwise to memory.
    pub(super) fn write_l2(&mut self, state: &mut State, agent: u32, address: u64, value: u32, bytes: u32) {
        let (memory, line) = (self.launches[0].memory, address / self.line_bytes);
        if self.mtype(line, agent) == Mtype::Coherent {
            self.note(address, bytes);
            memory.write(address, &value.to_le_bytes()[..bytes as usize & 7]);
            return;
        }
        let l2 = &mut state.l2[agent as usize];
        if !l2.has(line) {
            l2.fill(memory, line, self.line_bytes);
        }
        for byte in 0..bytes {
            let at = address + u64::from(byte);
            let held = l2.load(at & !3, 4, self.line_bytes).unwrap_or(0);
            let shift = at % 4 * 8;
            let word = held & !(0xff << shift) | (value >> (8 * byte) & 0xff) << shift;
            l2.keep(at & !3, word, self.line_bytes);
        }
    }

    /// Writes a line of an agent's L2 back to memory and drops the line. This happens before an atomic on a
    /// line that L2 may keep, because the model performs the atomic in memory.
    pub(super) fn evict_l2(&mut self, state: &mut State, agent: u32, line: u64) {
        let Some(l2) = state.l2.get_mut(agent as usize) else { return };
        let late = l2.take_dirty(line..line + 1, self.line_bytes);
        l2.drop_line(line);
        self.write_back(state, agent, late);
    }

    /// Returns the lines of an agent's L2 for which an eviction can make a difference. A read-write line
    /// without dirty dwords is left out, because it has the same contents as memory.
    pub(super) fn leaving<'a>(&'a self, state: &'a State, agent: u32) -> impl Iterator<Item = u64> + 'a {
        let l2 = &state.l2[agent as usize];
        l2.lines().into_iter().filter(move |&line| l2.is_dirty(line) || self.mtype(line, agent) == Mtype::Nc)
    }

    /// Performs `buffer_wbl2`, or the write-back at the end of a kernel.
    pub(super) fn write_back_l2(&mut self, state: &mut State, agent: u32) {
        let Some(l2) = state.l2.get_mut(agent as usize) else { return };
        let late = l2.take_dirty(0..u64::MAX, self.line_bytes);
        self.write_back(state, agent, late);
    }

    fn write_back(&mut self, state: &mut State, agent: u32, words: Vec<(u64, u32)>) {
        let memory = self.launches[0].memory;
        for (address, value) in words {
            self.note(address, 4);
            memory.write(address, &value.to_le_bytes());
            // The L2 of the agent that owns the memory learns of the write-back by a probe, and takes the new
            // contents.
            let line = address / self.line_bytes;
            for other in (0..state.l2.len() as u32).filter(|&other| other != agent) {
                if self.mtype(line, other) == Mtype::Rw {
                    state.l2[other as usize].refresh(memory, line, self.line_bytes);
                }
            }
        }
    }

    /// Performs `buffer_invl2`, which concerns only NC lines (not coherent). Words that have not been written
    /// back stay in L2, and the rest of their lines is loaded from memory again. NC lines without such words
    /// are dropped.
    pub(super) fn invalidate_l2(&self, state: &mut State, agent: u32) {
        let Some(l2) = state.l2.get_mut(agent as usize) else { return };
        let memory: &Memory = self.launches[0].memory;
        for line in l2.lines() {
            if self.mtype(line, agent) == Mtype::Nc {
                l2.refresh(memory, line, self.line_bytes);
            }
        }
        l2.invalidate_if(|line| self.mtype(line, agent) == Mtype::Nc);
    }

    /// Returns whether the next request of a queue can be performed now. A request to write back L2 must wait
    /// until all earlier stores of the wave are performed.
    pub(super) fn is_due(&self, state: &State, key: Key) -> bool {
        let Key::L2 { actor, serial } = key else { return true };
        let mut older = state.actors[actor as usize].pending.iter().take_while(|p| p.serial != serial);
        older.all(|pending| pending.left == 0)
    }

    fn mtype(&self, line: u64, agent: u32) -> Mtype {
        self.ranges.mtype(line * self.line_bytes, agent)
    }
}
