//! Where to stop.

use crate::expr::{Evaluator, Problem};
use crate::gate::Gate;
use crate::hits::Hits;
use crate::presence::Presence;
use crate::program::{Line, Program};
use crate::session::State;
use crate::spot::{Place, Spot};
use crate::waves::Who;
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
    /// What lets waves pass.
    pub gate: Gate,
    /// It is about an instruction, whichever lanes are active there.
    pub(crate) is_instruction: bool,
    /// The wave that has come here last, and the number of the instruction with which it has come into the line.
    pub(crate) last: Option<(Who, u64)>,
    /// Addresses where the condition or what is said makes no sense, and why: waves do not stop there.
    pub left_out: LeftOut,
}

/// Addresses, and why waves do not stop there.
pub type LeftOut = Vec<(u64, Problem)>;

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
    /// It is taken out where it stops.
    pub is_temporary: bool,
}

/// Where a wave has come to a breakpoint.
pub(crate) struct Hit {
    /// For which lane, if its condition is about one.
    pub lane: Option<u32>,
    /// Why its condition has no value in that lane.
    pub problem: Option<Problem>,
}

impl Breakpoint {
    /// The lanes for which a wave comes to the breakpoint with this instruction; none if the wave does not come there for any that count.
    /// `chosen`: only this lane counts.
    pub(crate) fn reached(&self, at: &Stopped<'_>, presence: &Presence, chosen: Option<u32>) -> Option<u64> {
        if self.is_instruction {
            let lanes = presence.active;
            let counts = chosen.is_none_or(|chosen| lanes >> chosen & 1 != 0);
            return (self.addresses.contains(&at.address()) && counts).then_some(lanes);
        }
        let lanes = presence.arriving(&self.addresses, at.address());
        let lanes = lanes & chosen.map_or(u64::MAX, |chosen| 1 << chosen);
        // Of a wave's lanes that come to a line one after the other, the first ones stand for all.
        let is_again = chosen.is_none()
            && self.last == Some((Who::of(at), presence.entered))
            && !self.addresses.contains(&at.address());
        (lanes != 0 && !is_again).then_some(lanes)
    }

    /// Whether it counts that these lanes are here.
    pub(crate) fn hit(
        &mut self,
        at: &Stopped<'_>,
        program: &Program,
        lanes: u64,
        entered: u64,
    ) -> Option<Hit> {
        let (lane, problem) = match &self.condition {
            None => (None, None),
            Some(condition) => {
                let (lane, problem) = held(condition, at, program, lanes)?;
                (Some(lane), problem)
            }
        };
        self.last = Some((Who::of(at), entered));
        // A condition without a value stops the wave each time: neither hits nor counts matter.
        if problem.is_some() {
            return Some(Hit { lane, problem });
        }
        self.hits += 1;
        self.count.is_none_or(|count| count.has(self.hits)).then_some(Hit { lane, problem })
    }
}

/// The first of some lanes for which a condition holds; if it holds for none, the first for which it has no value, and why.
fn held(condition: &str, at: &Stopped<'_>, program: &Program, lanes: u64) -> Option<(u32, Option<Problem>)> {
    let mut evaluator = Evaluator::new(at, program, 0, 0);
    let asked = (0..at.lanes()).filter(|&lane| lanes >> lane & 1 != 0);
    let parsed = evaluator.parse(condition);
    let mut failed = None;
    for lane in asked {
        evaluator.lane = lane;
        match parsed.as_ref().map_err(Problem::clone).and_then(|parsed| evaluator.holds(parsed)) {
            Ok(true) => return Some((lane, None)),
            Ok(false) => {}
            Err(problem) => failed = failed.or(Some((lane, Some(problem)))),
        }
    }
    failed
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
    /// There is no such place, or what is said of it makes no sense at any of its addresses.
    pub fn add(&mut self, wanted: &Wanted<'_>) -> Result<Breakpoint, Problem> {
        let (addresses, left_out) = self.sensible(wanted)?;
        let breakpoint = Breakpoint {
            id: self.state.next_id(),
            text: wanted.place.to_owned(),
            addresses,
            condition: wanted.condition.map(str::to_owned),
            count: wanted.count,
            log: wanted.log.map(str::to_owned),
            hits: 0,
            gate: Gate::new(wanted.is_temporary),
            is_instruction: wanted.place.starts_with('*'),
            last: None,
            left_out,
        };
        self.state.breakpoints.push(breakpoint.clone());
        Ok(breakpoint)
    }

    /// Addresses of a place where the condition and what is said make sense, and the others.
    fn sensible(&self, wanted: &Wanted<'_>) -> Result<(Vec<u64>, LeftOut), Problem> {
        let all = self.program.addresses(wanted.place, self.here)?;
        let (mut addresses, mut left_out) = (Vec::new(), Vec::new());
        for address in all {
            let evaluator = Evaluator::of_types(self.program, address, 0);
            let condition = wanted.condition.map_or(Ok(()), |text| evaluator.condition(text));
            match condition.and_then(|()| wanted.log.map_or(Ok(()), |log| crate::log::check(log, &evaluator)))
            {
                Ok(()) => addresses.push(address),
                Err(why) => left_out.push((address, why)),
            }
        }
        match left_out.first() {
            Some((_, why)) if addresses.is_empty() => Err(why.clone()),
            _ => Ok((addresses, left_out)),
        }
    }

    /// Stops when what is at a place in memory changes. What is there now is not known yet.
    pub fn watch(&mut self, text: &str, spot: Spot) -> u32 {
        let Spot { place, bytes, ty } = spot;
        let id = self.state.next_id();
        let (text, gate) = (text.to_owned(), Gate::new(false));
        self.state.watchpoints.push(Watchpoint { id, text, place, bytes, old: None, ty, gate });
        id
    }

    /// The numbers of all breakpoints and watchpoints, in order.
    pub fn ids(&self) -> Vec<u32> {
        let State { breakpoints, watchpoints, .. } = &*self.state;
        let watched = watchpoints.iter().map(|one| one.id);
        let mut ids: Vec<u32> = breakpoints.iter().map(|one| one.id).chain(watched).collect();
        ids.sort_unstable();
        ids
    }

    /// What lets waves pass a breakpoint or watchpoint.
    pub fn gate(&mut self, id: u32) -> Option<&mut Gate> {
        let State { breakpoints, watchpoints, .. } = &mut *self.state;
        let watched = watchpoints.iter_mut().filter(|one| one.id == id).map(|one| &mut one.gate);
        let own = breakpoints.iter_mut().filter(|one| one.id == id).map(|one| &mut one.gate);
        own.chain(watched).next()
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
    /// What lets changes pass.
    pub gate: Gate,
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
