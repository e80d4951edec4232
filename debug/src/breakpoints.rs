//! Where to stop.

use crate::expression::{Evaluator, Problem};
use crate::hits::Hits;
use crate::program::{Line, Program};
use crate::session::State;
use crate::spot::{Place, Spot};
use sim::Stopped;

/// A place in the code.
#[derive(Clone, Debug)]
pub struct Breakpoint {
    /// Its number.
    pub id: u32,
    /// As it was asked for.
    pub text: String,
    /// Addresses in the file.
    pub addresses: Vec<u64>,
    /// Holds in some lane, or the wave goes on.
    pub condition: Option<String>,
    /// Which arrivals count.
    pub count: Option<Hits>,
    /// What is said instead of stopping; expressions stand in braces.
    pub log: Option<String>,
    /// How often waves have come here while the condition held.
    pub hits: u64,
}

/// A breakpoint as it is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// A line, `file:line`, a function, `*address`.
    pub place: &'a str,
    /// Holds in some lane, or the wave goes on.
    pub condition: Option<&'a str>,
    /// Which arrivals count.
    pub count: Option<Hits>,
    /// What is said instead of stopping.
    pub log: Option<&'a str>,
}

/// Where a wave has come to a breakpoint: for which lane, if its condition is about one.
pub(crate) struct Hit {
    pub lane: Option<u32>,
}

impl Breakpoint {
    /// Whether it counts that the wave is here. `chosen`: only for this lane.
    pub(crate) fn hit(&mut self, at: &Stopped<'_>, program: &Program, chosen: Option<u32>) -> Option<Hit> {
        let lane = match &self.condition {
            None => None,
            Some(condition) => {
                let active = (0..at.lanes()).filter(|&lane| at.exec() >> lane & 1 != 0);
                let holds =
                    |lane: &u32| Evaluator::new(at, program, *lane, 0).holds(condition).unwrap_or(false);
                let mut asked = active.filter(|&lane| chosen.is_none_or(|chosen| chosen == lane));
                Some(asked.find(holds)?)
            }
        };
        self.hits += 1;
        self.count.is_none_or(|count| count.has(self.hits)).then_some(Hit { lane })
    }
}

/// Breakpoints and watchpoints of a session: before its dispatch, or where a wave has stopped.
pub struct Breakpoints<'a> {
    /// The object.
    pub program: &'a Program,
    pub(crate) state: &'a mut State,
    /// Where a wave stands: the file of lines without one.
    pub(crate) here: Option<Line>,
}

impl Breakpoints<'_> {
    /// One more.
    ///
    /// # Errors
    /// There is no such place.
    pub fn add(&mut self, wanted: &Wanted<'_>) -> Result<Breakpoint, Problem> {
        let addresses = self.program.addresses(wanted.place, self.here)?;
        let breakpoint = Breakpoint {
            id: self.state.next_id(),
            text: wanted.place.to_owned(),
            addresses,
            condition: wanted.condition.map(str::to_owned),
            count: wanted.count,
            log: wanted.log.map(str::to_owned),
            hits: 0,
        };
        self.state.breakpoints.push(breakpoint.clone());
        Ok(breakpoint)
    }

    /// Stops when what is at a place in memory changes. What is there now is not known yet.
    pub fn watch(&mut self, text: &str, spot: Spot) -> u32 {
        let Spot { place, bytes, ty } = spot;
        let id = self.state.next_id();
        self.state.watchpoints.push(Watchpoint { id, text: text.to_owned(), place, bytes, old: None, ty });
        id
    }

    /// Takes one out. Whether there was one.
    pub fn remove(&mut self, id: u32) -> bool {
        let State { breakpoints, watchpoints, .. } = &mut *self.state;
        let count = breakpoints.len() + watchpoints.len();
        breakpoints.retain(|one| one.id != id);
        watchpoints.retain(|one| one.id != id);
        breakpoints.len() + watchpoints.len() != count
    }
}

/// A place in memory.
#[derive(Clone, Debug)]
pub struct Watchpoint {
    /// Its number, of one count with breakpoints.
    pub id: u32,
    /// As it was asked for.
    pub text: String,
    pub(crate) place: Place,
    pub(crate) bytes: usize,
    /// What was there the last time.
    pub(crate) old: Option<Vec<u8>>,
    /// The type, by its entry in the debug information.
    pub(crate) ty: Option<u64>,
}

impl Watchpoint {
    /// Whether it has changed since it was looked at: what was there, and what is.
    pub(crate) fn look(&mut self, at: &Stopped<'_>) -> Option<(Vec<u8>, Vec<u8>)> {
        let mut now = vec![0; self.bytes];
        if !self.place.read(at, &mut now) {
            return None;
        }
        if self.old.as_ref() == Some(&now) {
            return None;
        }
        let old = self.old.replace(now.clone())?;
        Some((old, now))
    }
}
