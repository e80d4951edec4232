//! Between a load's issue and its wait its registers do not hold the value: nothing is said to be there.
//!
//! Strict mode keeps account of what is under way, the debugger says in which registers variables are; at no instruction has an operation yet to write
//! one of those. What was sent for with other lanes writes theirs.

use super::look::Object;
use debug::Sights;
use kernc::sim::{Debugger, Fault, Go, Operation, Report, Stopped};
use rustc_hash::FxHashMap;
use std::sync::{Mutex, PoisonError};

/// Looks at variables while something is under way.
pub(super) struct Arrivals<'a> {
    state: Mutex<State<'a>>,
    /// What was sent for with other lanes counts, too: a planted mistake.
    counts_others: bool,
}

struct State<'a> {
    sights: Sights<'a>,
    /// By group, wave and address: EXEC when the wave was there last.
    lanes: FxHashMap<([u32; 3], u32, u64), u64>,
    looked: u64,
    wrong: Option<String>,
}

impl<'a> Arrivals<'a> {
    pub(super) fn new(object: &'a Object<'a>, counts_others: bool) -> Arrivals<'a> {
        let state = State { sights: object.sights(), lanes: FxHashMap::default(), looked: 0, wrong: None };
        Arrivals { state: Mutex::new(state), counts_others }
    }

    /// How many registers of variables were looked at, and what was wrong.
    pub(super) fn into_found(self) -> (u64, Option<String>) {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        (state.looked, state.wrong)
    }
}

impl Debugger for Arrivals<'_> {
    fn before(&self, at: &Stopped<'_>) -> Go {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { sights, lanes, looked, wrong } = &mut *state;
        let own = |address| (at.group(), at.wave(), address);
        lanes.insert(own(at.address()), at.exec());
        let lane = at.exec().trailing_zeros();
        let is_of_lane = |one: &Operation| {
            let sent = at.address_of(one).and_then(|address| lanes.get(&own(address)));
            one.is_scalar() || sent.is_none_or(|exec| exec.checked_shr(lane).unwrap_or(0) & 1 != 0)
        };
        let mut operations = at.in_flight().map_or(Vec::new(), |found| found.operations);
        operations.retain(|one| one.writes && (self.counts_others || is_of_lane(one)));
        // Where EXEC is set, those that are active are on their way to elsewhere.
        if operations.is_empty() || at.exec() == 0 || at.text().contains("exec") {
            return Go::On;
        }
        let sight = sights.at(at);
        for (variable, seen) in sight.variables().iter().enumerate() {
            for register in sight.registers(variable, lane) {
                *looked += 1;
                if let Some(one) = operations.iter().find(|one| one.is_to_write(register)) {
                    let (address, name, registers) = (at.address(), seen.name, one.names());
                    let sent = at.address_of(one).unwrap_or_default();
                    wrong.get_or_insert(format!(
                        "{address:#x}: `{name}` is in {registers} of {sent:#x} in lane {lane}, too early"
                    ));
                    return Go::End;
                }
            }
        }
        Go::On
    }

    fn found(&self, _: &Stopped<'_>, _: &Report) -> Go {
        Go::On
    }

    fn trapped(&self, _: &Stopped<'_>, _: &Fault) {}
}
