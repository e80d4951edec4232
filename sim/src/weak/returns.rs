//! Returning: destination registers change, counters go down, waits let their wave go on.

use super::machine::Machine;
use super::registers::{Value, copy_registers, put_registers};
use super::state::{Pending, State};
use super::watchers::Serve;
use crate::fault::{Access, Trap};
use check::Counter;
use check::effects::Waits;

/// Memory instructions that a wave can have under way: as many as `vmcnt` can count. With more, real waves stall.
const MAX_PENDING: usize = 63;

impl Machine<'_> {
    /// Lets an instruction return: its destination registers change.
    pub(super) fn return_one(&mut self, state: &mut State, at: usize, index: usize) -> Result<(), Trap> {
        let pending = state.actors[at].pending.remove(index);
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
        Ok(())
    }

    /// Lets return what a wait demands, and no more: the oldest first.
    pub(super) fn return_for(&mut self, state: &mut State, at: usize, waits: &Waits) -> Result<(), Trap> {
        for counter in Counter::ALL {
            let Some(most) = demand(waits, counter) else { continue };
            loop {
                let pending = &state.actors[at].pending;
                let there = pending.iter().filter(|pending| on(pending, counter)).count();
                let next = complete(pending).find(|&index| on(&pending[index], counter));
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
        index.map_or(Ok(()), |index| self.return_one(state, at, index))
    }

    /// Lets everything return that is performed.
    pub(super) fn return_all(&mut self, state: &mut State, at: usize) -> Result<(), Trap> {
        while let Some(index) = { complete(&state.actors[at].pending).next() } {
            self.return_one(state, at, index)?;
        }
        Ok(())
    }
}

fn on(pending: &Pending, counter: Counter) -> bool {
    pending.class.is_some_and(|class| class.info().counter == counter)
}

/// What a wait demands of a counter. `expcnt` is about sources, which are copied at issue.
fn demand(waits: &Waits, counter: Counter) -> Option<usize> {
    let most = waits.0[counter as usize];
    (counter != Counter::Exp && most != Waits::ANY).then_some(usize::from(most))
}

/// What could return now, oldest first: it is performed, and so is what must return before.
pub(super) fn complete(pending: &[Pending]) -> impl Iterator<Item = usize> + '_ {
    (0..pending.len()).filter(move |&index| {
        let class = pending[index].class;
        let ordered = class.is_some_and(|class| class.info().in_order);
        pending[index].left == 0
            && (!ordered || pending[..index].iter().all(|older| older.class != class || older.left == 0))
    })
}

/// Whether no more instructions fit, and none of them can return.
pub(super) fn is_full(pending: &[Pending]) -> bool {
    pending.len() >= MAX_PENDING && complete(pending).next().is_none()
}

/// Whether a wave may go on after a wait.
pub(super) fn satisfied(pending: &[Pending], waits: &Waits) -> bool {
    Counter::ALL.into_iter().all(|counter| {
        let Some(most) = demand(waits, counter) else { return true };
        let there = pending.iter().filter(|pending| on(pending, counter)).count();
        let done = complete(pending).filter(|&index| on(&pending[index], counter)).count();
        there - done <= most
    })
}
