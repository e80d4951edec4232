//! Returning: destination registers change, counters go down, waits let their wave go on.

use super::machine::Machine;
use super::registers::{Value, copy_registers, put_registers};
use super::state::{Pending, State};
use super::watchers::Serve;
use crate::fault::{Access, Trap};
use check::Counter;
use check::counters::Class;
use check::effects::Waits;

/// Memory instructions that a wave can have under way: as many as `vmcnt` can count. With more, real waves stall.
const MAX_PENDING: usize = 63;

impl Machine<'_> {
    /// Lets an instruction return: its destination registers change.
    pub(super) fn return_one(&mut self, state: &mut State, at: usize, index: usize) -> Result<(), Trap> {
        let mut pending = state.actors[at].pending.remove(index);
        let loads = pending.slots.iter().any(|slot| slot.access.kind == Access::Read);
        let mut results = if pending.ready || !loads {
            // A store has done what it does.
            pending.results.clone()
        } else {
            let mut serve = Serve { slots: pending.slots.iter() };
            self.run_copied(state, at, &pending, pending.exec, &mut serve)?
        };
        let wave = &mut state.actors[at].wave;
        if !pending.kept.is_empty() {
            let codes: Vec<u16> = results.iter().map(|(code, _)| *code).collect();
            let now = copy_registers(wave, &codes);
            for ((result, kept), now) in results.iter_mut().zip(&pending.kept).zip(&now) {
                if let (Value::Vector(result), Value::Vector(kept), Value::Vector(now)) =
                    (&mut result.1, &kept.1, &now.1)
                {
                    for lane in 0..64 {
                        result[lane] = result[lane] & !kept[lane] | now[lane] & kept[lane];
                    }
                }
            }
        }
        put_registers(wave, &results, pending.exec);
        if pending.other.is_some() {
            // The other counter still has it.
            pending.returned = true;
            pending.slots.clear();
            (pending.sources, pending.results, pending.kept) = Default::default();
            state.actors[at].pending.insert(index, pending);
        }
        self.forget_others(state, at);
        Ok(())
    }

    /// Other counters of flat instructions go down as soon as what was counted before has returned. They keep younger instructions
    /// apart from older ones, and tell nothing about the flat instruction itself: the guide asks for a wait of both counters.
    pub(super) fn forget_others(&self, state: &mut State, at: usize) {
        let all = &mut state.actors[at].pending;
        for index in 0..all.len() {
            let first = all[..index].iter().all(|older| older.returned || older.class != all[index].other);
            if first {
                all[index].other = None;
            }
        }
        all.retain(|pending| !pending.returned || pending.other.is_some());
    }

    /// Lets return what a wait demands, and no more: the oldest first.
    pub(super) fn return_for(&mut self, state: &mut State, at: usize, waits: &Waits) -> Result<(), Trap> {
        for counter in Counter::ALL {
            let Some(most) = demand(waits, counter) else { continue };
            loop {
                let pending = &state.actors[at].pending;
                let there = pending.iter().map(|pending| counts(pending, counter)).sum::<usize>();
                let next = complete(pending).find(|&index| on(pending[index].class, counter));
                match next {
                    Some(index) if there > most => self.return_one(state, at, index)?,
                    _ => break,
                }
            }
        }
        Ok(())
    }

    /// Lets the oldest that is performed return if no more can be under way.
    pub(super) fn make_room(&mut self, state: &mut State, at: usize) -> Result<(), Trap> {
        let pending = &state.actors[at].pending;
        let index = if pending.len() < MAX_PENDING { None } else { complete(pending).next() };
        let Some(index) = index else { return Ok(()) };
        state.actors[at].pending[index].other = None;
        self.return_one(state, at, index)
    }

    /// Lets everything return that is performed.
    pub(super) fn return_all(&mut self, state: &mut State, at: usize) -> Result<(), Trap> {
        while let Some(index) = { complete(&state.actors[at].pending).next() } {
            self.return_one(state, at, index)?;
        }
        Ok(())
    }
}

fn on(class: Option<Class>, counter: Counter) -> bool {
    class.is_some_and(|class| class.info().counter == counter)
}

/// How often an instruction is counted by a counter.
fn counts(pending: &Pending, counter: Counter) -> usize {
    usize::from(!pending.returned && on(pending.class, counter)) + usize::from(on(pending.other, counter))
}

/// What a wait demands of a counter. `expcnt` is about sources, which are copied at issue.
fn demand(waits: &Waits, counter: Counter) -> Option<usize> {
    let most = waits.0[counter as usize];
    (counter != Counter::Exp && most != Waits::ANY).then_some(usize::from(most))
}

/// What could return now, oldest first: it is performed, and so is what must return before.
pub(super) fn complete(pending: &[Pending]) -> impl Iterator<Item = usize> + '_ {
    (0..pending.len()).filter(|&index| {
        let one = &pending[index];
        !one.returned && one.left == 0 && is_first(pending, index, one.class)
    })
}

/// Whether nothing of the class is on its way that must return before.
fn is_first(pending: &[Pending], index: usize, class: Option<Class>) -> bool {
    let ordered = class.is_some_and(|class| class.info().in_order);
    !ordered || pending[..index].iter().all(|older| older.class != class || older.left == 0)
}

/// Whether no more instructions fit, and none of them can return.
pub(super) fn is_full(pending: &[Pending]) -> bool {
    pending.len() >= MAX_PENDING && complete(pending).next().is_none()
}

/// Whether a wave may go on after a wait.
pub(super) fn satisfied(pending: &[Pending], waits: &Waits) -> bool {
    Counter::ALL.into_iter().all(|counter| {
        let Some(most) = demand(waits, counter) else { return true };
        let there: usize = pending.iter().map(|pending| counts(pending, counter)).sum();
        let done = complete(pending).filter(|&index| on(pending[index].class, counter)).count();
        let other = |index: &usize| {
            on(pending[*index].other, counter) && is_first(pending, *index, pending[*index].other)
        };
        there - done - (0..pending.len()).filter(other).count() <= most
    })
}
