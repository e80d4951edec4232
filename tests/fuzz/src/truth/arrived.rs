//! Checks that no variable has its location in a register between the issue of a load of that register and
//! the wait for the load, because the register does not hold the value yet.
//!
//! Strict mode records the outstanding operations, and the debugger says in which registers variables are. At
//! no instruction may an outstanding operation have yet to write one of these registers. An operation that
//! was issued with other lanes active does not count, because it writes the register only in those lanes.

use super::look::Object;
use debug::AddressCache;
use kernc::sim::{Debugger, Fault, Go, Operation, Report, Stopped};
use rustc_hash::FxHashMap;
use std::sync::{Mutex, PoisonError};

/// Checks the registers of variables while operations are outstanding.
pub(super) struct Arrivals<'a> {
    state: Mutex<State<'a>>,
    /// Whether operations of other lanes count too: an injected error.
    counts_others: bool,
}

struct State<'a> {
    sights: AddressCache<'a>,
    /// EXEC at the wave's last visit to an address, by group, wave and address.
    lanes: FxHashMap<([u32; 3], u32, u64), u64>,
    looked: u64,
    wrong: Option<String>,
}

impl<'a> Arrivals<'a> {
    pub(super) fn new(object: &'a Object<'a>, counts_others: bool) -> Arrivals<'a> {
        let state = State { sights: object.sights(), lanes: FxHashMap::default(), looked: 0, wrong: None };
        Arrivals { state: Mutex::new(state), counts_others }
    }

    /// Returns the number of registers that were checked, and the first error.
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
        // An instruction that writes EXEC is skipped, because the active lanes there may be about to be
        // parked.
        if operations.is_empty() || at.exec() == 0 || at.text().contains("exec") {
            return Go::On;
        }
        let sight = sights.variables_at(at);
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
