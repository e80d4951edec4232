//! Transfers: loads to LDS and stores from LDS (`buffer_load_dword ... lds`, `buffer_store_lds_dword`).
//!
//! A transfer is a vector memory instruction that accesses LDS. It may access LDS at any time until `vmcnt`
//! no longer counts it, so it is not ordered with the LDS instructions of the same wave. A load to LDS is
//! ordered only after earlier transfers: earlier loads to LDS have then written LDS, and earlier stores from
//! LDS have read it.

use super::access::lane_of;
use super::cells::Stamp;
use super::touch::{Class, Memory};
use super::{FaultClass, Watcher};
use crate::watch::MemAccess;
use check::transfers::{IN_FLIGHT, OVERTAKES};

impl Watcher<'_> {
    /// Returns whether the current instruction is a load to LDS.
    fn loads_to_lds(&self) -> bool {
        self.touch.is_some_and(|touch| touch.queues.transfer && touch.class == Class::Memory(Memory::Load))
    }

    /// Reports two accesses to one LDS location by the same wave, at least one of them by a transfer, between
    /// which a wait is missing.
    #[cold]
    pub(super) fn report_transfer(&mut self, access: &MemAccess, reads: bool, earlier: Stamp, place: u32) {
        let overtakes = self.loads_to_lds();
        let rule = if overtakes { &OVERTAKES } else { &IN_FLIGHT };
        if rule.level < self.shared.level {
            return;
        }
        let address = self.address_text(access);
        let doing = if reads { "read" } else { "written" };
        let (what, wait) = match earlier.is_transfer() {
            true => ("a load to LDS or a store from LDS of the same wave accesses it", "vmcnt(0)"),
            false => ("an LDS instruction of the same wave accesses it", "lgkmcnt(0)"),
        };
        let message = format!("{address} is {doing} while {what}");
        let mut finding = self.finding(FaultClass::Hazard, rule.id, message);
        finding.label = if reads { "reads it" } else { "writes it" }.into();
        finding.lane = lane_of(access);
        finding.other = Some(self.elsewhere(earlier, place, "is in flight from here on"));
        let flight = &self.group.waves[self.group.now.wave].order.flight;
        finding.notes.push(format!("in flight here: {}", flight.state()));
        finding.fix = Some(format!("`s_waitcnt {wait}` between the two"));
        self.report(finding);
    }
}
