//! Breakpoints and watchpoints.

use crate::arrival_filter::ArrivalFilter;
use crate::expr::{Evaluator, Problem};
use crate::hits::Hits;
use crate::memory_value::{MemoryLocation, MemoryValue};
use crate::presence::Presence;
use crate::program::{Line, Program};
use crate::session::State;
use crate::waves::WaveId;
use sim::Stopped;

/// A breakpoint: a place in the code.
#[derive(Clone, Debug)]
pub struct Breakpoint {
    /// Identifier of the breakpoint.
    pub id: u32,
    /// Place as the user has written it.
    pub text: String,
    /// Addresses in the file at which the breakpoint is.
    pub addresses: Vec<u64>,
    /// Condition of the breakpoint. The breakpoint stops a wave only if the condition holds in some lane.
    pub condition: Option<String>,
    /// Selects the arrivals that stop the wave by their number.
    pub count: Option<Hits>,
    /// Text that is logged instead of stopping the wave. Braces in the text enclose expressions, which are
    /// replaced by their values.
    pub log: Option<String>,
    /// Number of arrivals of waves for which the condition held.
    pub hits: u64,
    /// Decides whether an arrival stops the dispatch.
    pub arrival_filter: ArrivalFilter,
    /// Whether the breakpoint is set at an instruction (`*address`). It then stops a wave no matter which
    /// lanes are active.
    pub(crate) is_instruction: bool,
    /// The wave that arrived at the breakpoint last, and the ordinal (number in the order of execution) of
    /// the instruction with which this wave entered the breakpoint's line.
    pub(crate) last: Option<(WaveId, u64)>,
    /// Addresses at which the breakpoint does not stop waves, because its condition or its log text cannot be
    /// evaluated there. Each has the reason. (A place such as a line may have code at several addresses.)
    pub left_out: LeftOut,
}

/// Addresses at which waves do not stop, with the reasons.
pub type LeftOut = Vec<(u64, Problem)>;

/// A breakpoint as the user requests it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// Place: a line, `file:line`, a function or `*address`.
    pub place: &'a str,
    /// Condition of the breakpoint. The breakpoint stops a wave only if the condition holds in some lane.
    pub condition: Option<&'a str>,
    /// Selects the arrivals that stop the wave by their number.
    pub count: Option<Hits>,
    /// Text that is logged instead of stopping the wave.
    pub log: Option<&'a str>,
    /// Whether the breakpoint is removed when it has stopped a wave.
    pub is_temporary: bool,
}

/// An arrival of a wave at a breakpoint.
pub(crate) struct Hit {
    /// Lane in which the condition is true or cannot be evaluated; `None` if there is no condition.
    pub lane: Option<u32>,
    /// Why the condition has no value in that lane.
    pub problem: Option<Problem>,
}

impl Breakpoint {
    /// Returns the mask of the lanes that arrive at the breakpoint with this instruction. `None` if no lane
    /// arrives. If `chosen` is given, only the arrival of this lane counts.
    pub(crate) fn reached(&self, at: &Stopped<'_>, presence: &Presence, chosen: Option<u32>) -> Option<u64> {
        if self.is_instruction {
            let lanes = presence.active;
            let counts = chosen.is_none_or(|chosen| lanes >> chosen & 1 != 0);
            return (self.addresses.contains(&at.address()) && counts).then_some(lanes);
        }
        let lanes = presence.arriving(&self.addresses, at.address());
        let lanes = lanes & chosen.map_or(u64::MAX, |chosen| 1 << chosen);
        // Lanes of a wave may begin to execute a line one after the other. The breakpoint then stops the wave
        // only for the lanes that begin first.
        let is_again = chosen.is_none()
            && self.last == Some((WaveId::from_stop(at), presence.entered))
            && !self.addresses.contains(&at.address());
        (lanes != 0 && !is_again).then_some(lanes)
    }

    /// Counts the arrival of `lanes` at the breakpoint if the condition holds. Returns the arrival if it
    /// stops the wave.
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
                let (lane, problem) = first_lane_where(condition, at, program, lanes)?;
                (Some(lane), problem)
            }
        };
        self.last = Some((WaveId::from_stop(at), entered));
        // If the condition cannot be evaluated, the breakpoint stops the wave so that the user sees the
        // problem. The arrival is not counted in `hits`, and `count` does not apply.
        if problem.is_some() {
            return Some(Hit { lane, problem });
        }
        self.hits += 1;
        self.count.is_none_or(|count| count.has(self.hits)).then_some(Hit { lane, problem })
    }
}

/// Returns the first of `lanes` in which a condition is true. If the condition is true in none of them,
/// returns the first lane in which it cannot be evaluated, and the reason.
fn first_lane_where(
    condition: &str,
    at: &Stopped<'_>,
    program: &Program,
    lanes: u64,
) -> Option<(u32, Option<Problem>)> {
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

/// Access to the breakpoints and watchpoints of a session, for changing them before the dispatch begins or
/// while a wave is stopped.
pub struct Breakpoints<'a> {
    /// The object.
    pub program: &'a Program,
    pub(crate) state: &'a mut State,
    /// Current source line. A line number without a file refers to the file of this line.
    pub(crate) here: Option<Line>,
}

impl Breakpoints<'_> {
    /// Adds a breakpoint.
    ///
    /// # Errors
    /// There is no code at the place, or the condition or the log text cannot be evaluated at any of its
    /// addresses.
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
            arrival_filter: ArrivalFilter::new(wanted.is_temporary),
            is_instruction: wanted.place.starts_with('*'),
            last: None,
            left_out,
        };
        self.state.breakpoints.push(breakpoint.clone());
        Ok(breakpoint)
    }

    /// Returns the addresses of a breakpoint's place at which its condition and its log text can be
    /// evaluated. Also returns the other addresses of the place, with the reasons why they are left out.
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

    /// Adds a watchpoint for a value in memory and returns its identifier. The value is unknown until the
    /// watchpoint reads it for the first time.
    pub fn watch(&mut self, text: &str, memory_value: MemoryValue) -> u32 {
        let MemoryValue { place, bytes, ty } = memory_value;
        let id = self.state.next_id();
        let (text, gate) = (text.to_owned(), ArrivalFilter::new(false));
        self.state.watchpoints.push(Watchpoint {
            id,
            text,
            place,
            bytes,
            old: None,
            ty,
            arrival_filter: gate,
        });
        id
    }

    /// Returns the identifiers of all breakpoints and watchpoints in ascending order.
    pub fn ids(&self) -> Vec<u32> {
        let State { breakpoints, watchpoints, .. } = &*self.state;
        let watched = watchpoints.iter().map(|one| one.id);
        let mut ids: Vec<u32> = breakpoints.iter().map(|one| one.id).chain(watched).collect();
        ids.sort_unstable();
        ids
    }

    /// Returns the arrival filter of a breakpoint or watchpoint.
    pub fn arrival_filter(&mut self, id: u32) -> Option<&mut ArrivalFilter> {
        let State { breakpoints, watchpoints, .. } = &mut *self.state;
        let watched = watchpoints.iter_mut().filter(|one| one.id == id).map(|one| &mut one.arrival_filter);
        let own = breakpoints.iter_mut().filter(|one| one.id == id).map(|one| &mut one.arrival_filter);
        own.chain(watched).next()
    }

    /// Removes a breakpoint or watchpoint. Returns whether it existed.
    pub fn remove(&mut self, id: u32) -> bool {
        let State { breakpoints, watchpoints, .. } = &mut *self.state;
        let count = breakpoints.len() + watchpoints.len();
        breakpoints.retain(|one| one.id != id);
        watchpoints.retain(|one| one.id != id);
        breakpoints.len() + watchpoints.len() != count
    }
}

/// A watchpoint: memory whose content is watched for changes.
#[derive(Clone, Debug)]
pub struct Watchpoint {
    /// Identifier. Breakpoints and watchpoints share one sequence of numbers.
    pub id: u32,
    /// Expression for the memory, as the user has written it.
    pub text: String,
    pub(crate) place: MemoryLocation,
    pub(crate) bytes: usize,
    /// Content of the memory when the watchpoint read it last.
    pub(crate) old: Option<Vec<u8>>,
    /// Type of the value, as the offset of its entry in the debug information.
    pub(crate) ty: Option<u64>,
    /// Decides whether a change stops the dispatch.
    pub arrival_filter: ArrivalFilter,
}

impl Watchpoint {
    /// Reads the watched memory and remembers its content. If the content has changed since the last call,
    /// returns the old and the new content.
    pub(crate) fn take_change(&mut self, at: &Stopped<'_>) -> Option<(Vec<u8>, Vec<u8>)> {
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
