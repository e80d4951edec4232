//! What a debugger sees of a run in weak mode: the waves before their next instructions, the outstanding
//! memory operations, and the steps of caches and queues that the schedule takes.

use super::schedule::{Error, Run};
use super::state::{Actor, Key, Pending};
use crate::debug::{Go, Stopped, Surroundings};
use crate::fault::{Fault, Trap};
use crate::flight::{InFlight, Operation};
use crate::wave::{Wave, WaveState};
use check::Counter;
use isa::{Reg, RegRange};

/// The group in a group slot, as a debugger sees it.
struct Group<'a> {
    run: &'a Run<'a>,
    place: usize,
}

impl<'a> Group<'a> {
    fn actor(&self, number: u32) -> Option<&'a Actor> {
        let number = Some(number as usize).filter(|&number| number < self.run.waves)?;
        self.run.state.actors.get(self.place * self.run.waves + number)
    }
}

impl Surroundings for Group<'_> {
    fn wave(&self, number: u32) -> Option<&Wave> {
        self.actor(number).map(|actor| &actor.wave)
    }

    fn in_flight(&self, wave: u32) -> Option<InFlight> {
        let actor = self.actor(wave)?;
        let target = self.run.launch.target.target;
        let counters = Counter::ALL.into_iter().filter(|&counter| Counter::max(counter, target) > 0);
        let counts = |pending: &Pending, counter| {
            let own = pending.class.filter(|_| !pending.returned);
            own.into_iter().chain(pending.other).any(|class| class.info().counter == counter)
        };
        let outstanding =
            |counter| actor.pending.iter().filter(|pending| counts(pending, counter)).count() as u32;
        let operations = (0..actor.pending.len()).filter_map(|at| self.operation(&actor.pending, at));
        Some(InFlight {
            counters: counters.map(|counter| (counter, outstanding(counter))).collect(),
            operations: operations.collect(),
        })
    }
}

impl Group<'_> {
    /// Converts an outstanding instruction to the operation that a debugger shows. Returns `None` if the
    /// instruction has returned.
    ///
    /// The result also says which wait completes the operation. If operations of its counter class complete
    /// in order, a wait that allows as many outstanding operations as there are younger ones of the class is
    /// enough. If they complete out of order, the wait must allow none.
    fn operation(&self, all: &[Pending], at: usize) -> Option<Operation> {
        let pending = all.get(at).filter(|pending| !pending.returned)?;
        let info = self.run.machine.program.info(pending.range, pending.pc)?;
        let wait = |class: check::counters::Class| {
            let behind = all[at + 1..].iter().filter(|other| other.class == Some(class)).count() as u32;
            (class.info().counter, if class.info().in_order { behind } else { 0 })
        };
        let mut registers: Vec<RegRange> = Vec::new();
        for &code in &info.results {
            match registers.last_mut() {
                Some(last)
                    if last.first.0.checked_add(last.len.into()) == Some(code) && last.len < u8::MAX =>
                {
                    last.len += 1
                }
                _ => registers.push(RegRange { first: Reg(code), len: 1 }),
            }
        }
        Some(Operation {
            at: Some((pending.range, pending.pc)),
            writes: !registers.is_empty(),
            registers,
            performed: Some(pending.left == 0),
            waits: pending.class.into_iter().chain(pending.other).map(wait).collect(),
        })
    }
}

impl Run<'_> {
    /// Calls a function of the debugger with a view of a wave before its next instruction.
    fn show_debugger(
        &self,
        at: usize,
        next: u32,
        look: impl FnOnce(&Stopped<'_>) -> Go,
    ) -> Result<(), Error> {
        let (place, wave) = (at / self.waves, &self.state.actors[at].wave);
        let id = self.launch.group_id(self.groups[place].unwrap_or(0));
        let lds = (self.state.lds[place].as_slice(), self.launch.lds_bytes);
        let group = Group { run: self, place };
        match look(&Stopped::new((wave, next), lds, id, self.launch, &group)) {
            Go::On | Go::Write => Ok(()),
            Go::End => Err(Error::Trap(at, Trap::Watched)),
        }
    }

    /// Calls the debugger before an instruction of a wave.
    pub(super) fn call_debugger(&self, at: usize) -> Result<(), Error> {
        let Some(debugger) = self.launch.debugger else { return Ok(()) };
        self.show_debugger(at, self.state.actors[at].wave.pc, |stopped| debugger.before(stopped))
    }

    /// Tells the debugger what the schedule has done to a wave.
    pub(super) fn tell(&self, at: usize, what: impl FnOnce() -> String) -> Result<(), Error> {
        let Some(debugger) = self.launch.debugger else { return Ok(()) };
        // A wave that has ended may still have outstanding stores.
        let wave = &self.state.actors[at].wave;
        let next = if wave.state == WaveState::Done { wave.last } else { wave.pc };
        self.show_debugger(at, next, |stopped| debugger.chosen(stopped, &what()))
    }

    /// Tells the debugger that an instruction has failed.
    pub(super) fn tell_trap(&self, at: usize, why: &Fault) {
        let Some(debugger) = self.launch.debugger else { return };
        let told = self.show_debugger(at, self.state.actors[at].wave.last, |stopped| {
            debugger.trapped(stopped, why);
            Go::On
        });
        // The result is ignored, because the run ends anyway.
        drop(told);
    }

    /// Returns the wave whose request is the first one in a queue, and the text that a debugger shows when
    /// this request is performed.
    pub(super) fn request(&self, key: Key) -> Option<(usize, String)> {
        let request = self.state.queues.get(&key)?.front()?;
        let at = request.actor as usize;
        let actor = self.state.actors.get(at)?;
        let pending = actor.pending.get(actor.find(request.serial)?)?;
        let part = if pending.left > 1 { " in part" } else { "" };
        Some((at, format!("performed{part}: {}", self.text(pending))))
    }

    /// Returns an outstanding instruction as text, with its address in the file.
    pub(super) fn text(&self, pending: &Pending) -> String {
        let code = self.launch.code.get(pending.range as usize);
        code.map_or_else(String::new, |code| {
            let address = code.file_base + 4 * u64::from(pending.pc);
            format!("{address:#x}: {}", code.text(self.launch.target.target, pending.pc))
        })
    }
}
