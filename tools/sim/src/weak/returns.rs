//! Return of memory instructions, which is their third stage. When an instruction returns, its destination
//! registers change and its wait counter decreases. Waves that wait for the counter can then continue.

use super::machine::Machine;
use super::registers::{Value, copy_registers, put_registers};
use super::state::{Pending, State};
use super::watchers::Serve;
use crate::fault::{Access, Trap};
use check::Counter;
use check::counters::Class;
use check::effects::Waits;

/// Maximum number of outstanding memory instructions of a wave. It is the maximum of `vmcnt`; on hardware, a
/// wave stalls before it exceeds this number.
const MAX_PENDING: usize = 63;

impl Machine<'_> {
    /// Lets an instruction return, so that its destination registers change.
    pub(super) fn return_one(&mut self, state: &mut State, at: usize, index: usize) -> Result<(), Trap> {
        let mut pending = state.actors[at].pending.remove(index);
        let loads = pending.slots.iter().any(|slot| slot.access.kind == Access::Read);
        let mut results = if pending.ready || !loads {
            // A store has already taken effect, so its handler need not run again.
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
            // The instruction stays in the list of outstanding instructions, because its second counter class
            // still counts it.
            pending.returned = true;
            pending.slots.clear();
            (pending.sources, pending.results, pending.kept) = Default::default();
            state.actors[at].pending.insert(index, pending);
        }
        self.forget_others(state, at);
        Ok(())
    }

    /// Removes flat instructions from their second counter class as soon as all older instructions of this
    /// class have returned. The second class only delays younger instructions of the class. It does not show
    /// whether the flat instruction itself is complete, because LLVM's AMDGPU guide requires waits on both
    /// counters for this.
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

    /// Lets instructions of a wave return, oldest first, until the counters are as low as a wait instruction
    /// demands.
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

    /// Makes room for another memory instruction of a wave: if the maximum number of instructions is
    /// outstanding, lets the oldest performed instruction return.
    pub(super) fn make_room(&mut self, state: &mut State, at: usize) -> Result<(), Trap> {
        let pending = &state.actors[at].pending;
        let index = if pending.len() < MAX_PENDING { None } else { complete(pending).next() };
        let Some(index) = index else { return Ok(()) };
        state.actors[at].pending[index].other = None;
        self.return_one(state, at, index)
    }

    /// Lets all performed instructions of a wave return.
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

/// Returns how many times a counter counts an instruction.
fn counts(pending: &Pending, counter: Counter) -> usize {
    usize::from(!pending.returned && on(pending.class, counter)) + usize::from(on(pending.other, counter))
}

/// Returns the count that a wait allows on a counter, or `None` if the wait does not concern the counter.
/// Waits for `expcnt` are ignored. This counter protects source registers, and in this model source registers
/// are copied at issue.
fn demand(waits: &Waits, counter: Counter) -> Option<usize> {
    let most = waits.0[counter as usize];
    (counter != Counter::Exp && most != Waits::ANY).then_some(usize::from(most))
}

/// Returns the indices of the instructions that can return, oldest first. An instruction can return if it is
/// performed, and if all instructions are performed that must return before it.
pub(super) fn complete(pending: &[Pending]) -> impl Iterator<Item = usize> + '_ {
    (0..pending.len()).filter(|&index| {
        let one = &pending[index];
        !one.returned && one.left == 0 && is_first(pending, index, one.class)
    })
}

/// Returns whether no older instruction of its counter class delays the return of instruction `index`. If the
/// class completes in order, this means that all older instructions are performed.
fn is_first(pending: &[Pending], index: usize, class: Option<Class>) -> bool {
    let ordered = class.is_some_and(|class| class.info().in_order);
    !ordered || pending[..index].iter().all(|older| older.class != class || older.left == 0)
}

/// Returns whether the maximum number of instructions is outstanding and none of them can return.
pub(super) fn is_full(pending: &[Pending]) -> bool {
    pending.len() >= MAX_PENDING && complete(pending).next().is_none()
}

/// Returns whether a wave may continue after a wait.
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
