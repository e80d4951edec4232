//! Tracks which memory operations of a wave may be incomplete, from the wait counters of the hardware.
//!
//! The scoreboard of crate `check` tracks which *registers* are in flight, that is, will be written or read
//! by an incomplete operation. This module tracks which *operations* are in flight. Other waves may rely only
//! on complete operations: a barrier or a release therefore publishes only operations that the wave has
//! waited for.

use super::touch::Queues;
use isa::Target;
use std::collections::VecDeque;

#[derive(Clone, Copy)]
struct Pending {
    number: u32,
    /// Whether the operation may complete before older operations.
    unordered: bool,
    /// Whether the operation is a transfer: a vector memory instruction that loads to LDS or stores from LDS.
    transfer: bool,
}

/// An operation number for each kind of memory. All operations of a wave up to this number are known to have
/// completed their accesses to this kind of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Done {
    pub(super) lds: u32,
    pub(super) memory: u32,
    /// Accesses to LDS by transfers. Transfers are vector memory instructions that load to LDS or store from
    /// LDS.
    pub(super) transfers: u32,
}

/// The memory operations of one wave that may be incomplete.
#[derive(Default)]
pub(super) struct Flight {
    issued: u32,
    vm: VecDeque<Pending>,
    vs: VecDeque<Pending>,
    lgkm: VecDeque<Pending>,
    history: History,
}

/// The latest changes in which operations of a wave are complete. The race checks use this history to find
/// out which operations were complete when an earlier operation was issued.
#[derive(Default)]
struct History {
    /// The changes in the order of time. For each change, this is the number of the last operation that was
    /// issued before it, and the operations that are complete after it.
    changes: VecDeque<(u32, Done)>,
}

impl History {
    /// Maximum number of changes in the history.
    const MOST: usize = 64;

    fn enter(&mut self, issued: u32, done: Done) {
        if self.changes.len() == History::MOST {
            self.changes.pop_front();
        } else if self.changes.is_empty() {
            // The first entry is the state before the first wait, in which no operation is complete.
            self.changes.push_back((0, Done::default()));
        }
        self.changes.push_back((issued, done));
    }

    /// Returns which operations were complete when operation `number` was issued. If the history does not
    /// reach back that far, returns the oldest state in it.
    fn at(&self, number: u32) -> Done {
        let earlier = self.changes.iter().rev().find(|&&(issued, _)| issued < number);
        let done = earlier.or(self.changes.front()).map_or(Done::default(), |&(_, done)| done);
        Done {
            lds: done.lds.min(number),
            memory: done.memory.min(number),
            transfers: done.transfers.min(number),
        }
    }
}

/// The effect of a wait instruction on each wait counter: the maximum number of operations that are in flight
/// after it. `None` if the instruction does not wait for the counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Left {
    pub(super) vm: Option<u32>,
    pub(super) vs: Option<u32>,
    pub(super) lgkm: Option<u32>,
}

impl Left {
    /// Decodes a wait instruction from its name and its immediate.
    pub(super) fn from_wait(target: &Target, name: &str, value: u32) -> Left {
        let mut left = Left::default();
        match name {
            "s_waitcnt" => {
                let counts = target.unpack_waitcnt(value as u16);
                left.vm = (counts.vm < target.max_vmcnt).then_some(counts.vm.into());
                left.lgkm = (counts.lgkm < target.max_lgkmcnt).then_some(counts.lgkm.into());
            }
            "s_waitcnt_vmcnt" => left.vm = Some(value & 63),
            "s_waitcnt_vscnt" => left.vs = Some(value & 63),
            "s_waitcnt_lgkmcnt" => left.lgkm = Some(value & 63),
            _ => {}
        }
        left
    }
}

impl Flight {
    /// Records that the wave issues a new memory operation. `queues` says which wait counters count the
    /// operation. Returns the number of the operation; the first operation has number 1.
    pub(super) fn issue(&mut self, queues: Queues) -> u32 {
        self.issued += 1;
        let Queues { unordered, transfer, .. } = queues;
        let pending = Pending { number: self.issued, unordered, transfer };
        for (queue, used) in
            [(&mut self.vm, queues.vm), (&mut self.vs, queues.vs), (&mut self.lgkm, queues.lgkm)]
        {
            if used {
                queue.push_back(pending);
            }
        }
        self.issued
    }

    pub(super) fn wait(&mut self, left: Left) {
        for (queue, left) in [(&mut self.vm, left.vm), (&mut self.vs, left.vs), (&mut self.lgkm, left.lgkm)] {
            let Some(left) = left.map(|left| left as usize) else { continue };
            if left == 0 {
                queue.clear();
            } else if !queue.iter().any(|pending| pending.unordered) {
                let done = queue.len().saturating_sub(left);
                queue.drain(..done);
            }
        }
        let done =
            Done { lds: self.lds_done(), memory: self.memory_done(), transfers: self.transfers_done() };
        self.history.enter(self.issued, done);
    }

    /// Returns which operations were complete when operation `number` was issued.
    pub(super) fn done_at(&self, number: u32) -> Done {
        self.history.at(number)
    }

    pub(super) fn issued(&self) -> u32 {
        self.issued
    }

    /// Returns an operation number. All operations of the wave up to this number have completed their
    /// accesses to memory.
    pub(super) fn memory_done(&self) -> u32 {
        let oldest = |queue: &VecDeque<Pending>| queue.front().map_or(u32::MAX, |pending| pending.number);
        oldest(&self.vm).min(oldest(&self.vs)).min(self.issued + 1) - 1
    }

    /// Returns an operation number. All operations of the wave up to this number have completed their
    /// accesses to LDS, except for transfers between LDS and memory.
    pub(super) fn lds_done(&self) -> u32 {
        self.lgkm.front().map_or(self.issued, |pending| pending.number - 1)
    }

    /// Returns an operation number. All transfers of the wave up to this number have completed their accesses
    /// to LDS. Transfers are vector memory instructions that load to LDS or store from LDS.
    pub(super) fn transfers_done(&self) -> u32 {
        let oldest = |queue: &VecDeque<Pending>| queue.iter().find(|one| one.transfer).map(|one| one.number);
        [oldest(&self.vm), oldest(&self.vs)].into_iter().flatten().fold(self.issued + 1, u32::min) - 1
    }

    /// Returns whether operation `number` may be incomplete.
    pub(super) fn has(&self, number: u32) -> bool {
        [&self.vm, &self.vs, &self.lgkm]
            .into_iter()
            .any(|queue| queue.iter().any(|pending| pending.number == number))
    }

    /// Returns whether the access to memory by operation `number` may be incomplete. The operation's access
    /// to LDS does not count.
    pub(super) fn has_in_memory(&self, number: u32) -> bool {
        [&self.vm, &self.vs].into_iter().any(|queue| queue.iter().any(|pending| pending.number == number))
    }

    /// Returns as text how many operations each counter counts.
    pub(super) fn state(&self) -> String {
        let mut text = format!("vmcnt {}, lgkmcnt {}", self.vm.len(), self.lgkm.len());
        if !self.vs.is_empty() {
            text.push_str(&format!(", vscnt {}", self.vs.len()));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VM: Queues = Queues { vm: true, vs: false, lgkm: false, unordered: false, transfer: false };
    const LDS: Queues = Queues { vm: false, vs: false, lgkm: true, unordered: false, transfer: false };
    const FLAT: Queues = Queues { vm: true, vs: false, lgkm: true, unordered: true, transfer: false };

    #[test]
    fn waits_complete_the_oldest() {
        let mut flight = Flight::default();
        for _ in 0..3 {
            flight.issue(VM);
        }
        flight.issue(LDS);
        assert_eq!((flight.memory_done(), flight.lds_done()), (0, 3));
        flight.wait(Left { vm: Some(1), ..Left::default() });
        assert_eq!((flight.memory_done(), flight.lds_done()), (2, 3));
        flight.wait(Left { vm: Some(0), lgkm: Some(0), vs: None });
        assert_eq!((flight.memory_done(), flight.lds_done()), (4, 4));
    }

    #[test]
    fn loads_to_lds_complete_with_vector_memory() {
        let mut flight = Flight::default();
        flight.issue(VM);
        flight.issue(Queues { transfer: true, ..VM });
        flight.issue(LDS);
        flight.wait(Left { lgkm: Some(0), ..Left::default() });
        assert_eq!((flight.lds_done(), flight.transfers_done(), flight.memory_done()), (3, 1, 0));
        flight.wait(Left { vm: Some(0), ..Left::default() });
        assert_eq!(flight.transfers_done(), 3);
        // There was no wait before the third operation; both waits came before the fourth.
        assert_eq!((flight.done_at(3).transfers, flight.done_at(4).transfers), (0, 3));
    }

    #[test]
    fn flat_accesses_need_zero() {
        let mut flight = Flight::default();
        flight.issue(VM);
        flight.issue(FLAT);
        flight.wait(Left { vm: Some(1), ..Left::default() });
        assert!(flight.has(1));
        flight.wait(Left { vm: Some(0), ..Left::default() });
        assert!(!flight.has(1) && flight.has(2));
    }
}
