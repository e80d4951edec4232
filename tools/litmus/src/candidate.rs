//! Enumerates the candidate executions of a shape that agree with a condition.
//!
//! A candidate execution says which write each read reads from, and in which order the writes to each
//! variable take effect (the modification order). The module `cycle` judges whether the memory model forbids
//! the candidate.

use crate::events::{Event, Program};
use crate::shape::{Change, Condition, Statement};

/// Number of combinations of sources and modification orders above which a condition is not judged.
const MAX_COMBINATIONS: usize = 100_000;

/// Where a read takes its value from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The value that the variable has at the start, which is 0.
    Initial,
    /// The write of an event.
    Write(usize),
    /// A data race, which allows any value.
    Race,
}

/// A candidate execution.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    /// Source of each event that reads.
    pub sources: Vec<Option<Source>>,
    /// Value that each event reads; `None` for any value.
    pub read: Vec<Option<u32>>,
    /// The writes to each variable in modification order.
    pub orders: Vec<Vec<usize>>,
    /// Variables whose final value is not the last one in modification order but any value, because of a data
    /// race between writes.
    pub racing_ends: Vec<usize>,
}

/// What each event writes: `None` if the event does not write, and `Some(None)` for any value.
type Written = Vec<Option<Option<u32>>>;

impl Candidate {
    /// Returns whether a variable can have a value at the end.
    fn ends_with(&self, (variable, value): (usize, u32), written: &Written) -> bool {
        let last = self.orders[variable].last().map_or(Some(0), |&write| written[write].flatten());
        self.racing_ends.contains(&variable) || last.is_none_or(|last| last == value)
    }
}

impl Program<'_> {
    /// Calls a function for each candidate execution that agrees with a condition.
    ///
    /// # Errors
    /// There are too many combinations.
    pub fn for_each_candidate(
        &self,
        condition: &Condition,
        mut visit: impl FnMut(&Candidate),
    ) -> Result<(), String> {
        let variables = 0..self.shape.variables.len();
        let choices: Vec<Vec<Option<Source>>> =
            (0..self.events.len()).map(|event| self.sources(event)).collect();
        let in_condition = |variable: &usize| condition.variables.iter().any(|(other, _)| other == variable);
        let racing = variables.clone().filter(in_condition).filter(|&variable| self.end_may_race(variable));
        let ends: Vec<Vec<Option<usize>>> = racing.map(|variable| vec![None, Some(variable)]).collect();
        let factors = variables.clone().flat_map(|variable| 1..=self.writes_to(variable).len());
        let mut factors = factors.chain(choices.iter().map(Vec::len)).chain(ends.iter().map(Vec::len));
        let combinations = factors.try_fold(1usize, |all, more| all.checked_mul(more));
        if combinations.is_none_or(|combinations| combinations > MAX_COMBINATIONS) {
            return Err("there are too many combinations of sources and modification orders".into());
        }
        for sources in product(&choices) {
            let Some((read, written)) = self.values(&sources) else { continue };
            let registers = condition.registers.iter().map(|&(register, value)| (self.last[register], value));
            let mut needed = registers.chain(self.needed.iter().copied());
            if needed.any(|(event, value)| read[event].is_some_and(|found| found != value)) {
                continue;
            }
            let writes = |variable: usize| {
                self.writes_to(variable).into_iter().filter(|&write| written[write].is_some()).collect()
            };
            let orders: Vec<Vec<Vec<usize>>> =
                variables.clone().map(|variable| permutations(writes(variable))).collect();
            for (orders, racing_ends) in product(&orders).flat_map(|orders| {
                product(&ends).map(move |racing| (orders.clone(), racing.into_iter().flatten().collect()))
            }) {
                let candidate =
                    Candidate { sources: sources.clone(), read: read.clone(), orders, racing_ends };
                if condition.variables.iter().all(|&end| candidate.ends_with(end, &written)) {
                    visit(&candidate);
                }
            }
        }
        Ok(())
    }

    /// Returns the sources that an event may have.
    fn sources(&self, event: usize) -> Vec<Option<Source>> {
        let Some(variable) = self.events[event].variable().filter(|_| self.events[event].reads()) else {
            return vec![None];
        };
        let writes = self.writes_to(variable).into_iter().filter(|&write| write != event);
        let race = self.may_race(event).then_some(Source::Race);
        std::iter::once(Source::Initial).chain(writes.map(Source::Write)).chain(race).map(Some).collect()
    }

    /// Returns the value that each event reads (`None` for any value), and what each event writes. Returns
    /// nothing if some event reads from a compare-and-swap that fails, or if a value depends on itself.
    fn values(&self, sources: &[Option<Source>]) -> Option<(Vec<Option<u32>>, Written)> {
        let count = self.events.len();
        // The outer option says whether the value is known already.
        let mut read = vec![None; count];
        let mut written = vec![None; count];
        for _ in 0..=count {
            for (index, event) in self.events.iter().enumerate() {
                read[index] = match sources[index] {
                    Some(Source::Initial) => Some(Some(0)),
                    Some(Source::Write(write)) => match written[write] {
                        Some(None) => return None,
                        value => value.flatten(),
                    },
                    Some(Source::Race) | None => Some(None),
                };
                written[index] = written_value(event, &read, index);
            }
        }
        let read: Option<Vec<Option<u32>>> = read.into_iter().collect();
        let written: Option<Written> = written.into_iter().collect();
        read.zip(written)
    }
}

/// Returns what an event writes: `None` if that is not known yet, `Some(None)` if the event does not write,
/// and `Some(Some(None))` for any value.
fn written_value(
    event: &Event<'_>,
    read: &[Option<Option<u32>>],
    index: usize,
) -> Option<Option<Option<u32>>> {
    match *event.statement {
        Statement::Store { value, .. } => Some(Some(Some(value))),
        Statement::StoreNext { .. } => {
            let operand = read[event.operand?]?;
            Some(Some(operand.map(|operand| operand.wrapping_add(1))))
        }
        Statement::Rmw { change, value, .. } => {
            let old = || read[index];
            match change {
                Change::Swap => Some(Some(Some(value))),
                Change::Add => Some(Some(old()?.map(|old| old.wrapping_add(value)))),
                // The check of races has made sure that the value is known.
                Change::Cas { expected } => Some((old()? == Some(expected)).then_some(Some(value))),
            }
        }
        _ => Some(None),
    }
}

/// Returns all ways to take one element of each list.
fn product<T: Clone>(lists: &[Vec<T>]) -> impl Iterator<Item = Vec<T>> {
    let count = lists.iter().map(Vec::len).product::<usize>();
    (0..count).map(|mut number| {
        let pick = |list: &Vec<T>| {
            let element = list[number % list.len()].clone();
            number /= list.len();
            element
        };
        lists.iter().map(pick).collect()
    })
}

/// Returns all orders of these elements.
fn permutations(elements: Vec<usize>) -> Vec<Vec<usize>> {
    if elements.is_empty() {
        return vec![Vec::new()];
    }
    let first = |index: usize| {
        let mut rest = elements.clone();
        let first = rest.remove(index);
        permutations(rest).into_iter().map(move |order| [&[first], &order[..]].concat())
    };
    (0..elements.len()).flat_map(first).collect()
}
