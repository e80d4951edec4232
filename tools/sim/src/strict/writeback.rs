//! Finds scalar stores whose data is not written back in time. The data of a scalar store stays in the scalar
//! cache until the wave executes `s_dcache_wb`. Until then, vector memory instructions do not see the data.
//! If the wave ends before, the data is lost.

use super::cells::Stamp;
use super::findings::{Elsewhere, split_place};
use super::flight::Left;
use super::touch::{Class, Memory};
use super::{FaultClass, Watcher};
use crate::watch::MemAccess;
use check::writeback::NOT_WRITTEN_BACK;

/// The scalar stores of a wave.
#[derive(Default)]
pub(super) struct ScalarStores {
    /// Code position of the first scalar store after the last write-back.
    first: Option<u32>,
    /// Number of the last memory operation that the wave had issued before its last `s_dcache_wb`.
    requested: u32,
    /// Number of a memory operation. The data of all scalar stores up to this operation is certainly in
    /// memory, because the wave has executed `s_dcache_wb` after them and waited for it.
    written: u32,
}

impl ScalarStores {
    /// Records that the wave issues a scalar store.
    pub(super) fn issue(&mut self, number: u32, place: u32) {
        debug_assert!(number > self.requested);
        self.first.get_or_insert(place);
    }

    /// Records a wait instruction. If it waits until `lgkmcnt` is 0, all `s_dcache_wb` instructions issued so
    /// far are complete.
    pub(super) fn wait(&mut self, left: Left) {
        if left.lgkm == Some(0) {
            self.written = self.requested;
        }
    }
}

impl Watcher<'_> {
    /// Records that the wave executes `s_dcache_wb`.
    pub(super) fn write_back_scalar(&mut self) {
        let order = &mut self.wave().order;
        let (wave, issued) = (order.wave, order.flight.issued());
        order.scalar_stores.first = None;
        order.scalar_stores.requested = issued;
        self.shared.publish_written_back(wave, issued);
    }

    /// Returns whether the current instruction sees the data that an earlier instruction at code position
    /// `place` wrote. It sees the data of every vector store. It sees the data of a scalar store if the data
    /// has been written back, or if the same wave reads it through the scalar cache (`by_scalar`).
    pub(super) fn is_written_back(&self, write: Stamp, place: u32, by_scalar: bool) -> bool {
        let (range, pc) = split_place(place);
        let touch = self.shared.touch(range, pc);
        if !touch.is_scalar || touch.class != Class::Memory(Memory::Store) {
            return true;
        }
        let order = &self.group.waves[self.group.now.wave].order;
        match write.wave() == order.wave {
            true => by_scalar || order.scalar_stores.written >= write.number(),
            false => self.shared.is_written_back(write),
        }
    }

    /// Reports a load that does not see the data of an earlier scalar store, because the data is still in the
    /// scalar cache.
    #[cold]
    pub(super) fn report_unwritten(&mut self, access: &MemAccess, write: Stamp, place: u32) {
        let address = self.address_text(access);
        let message = format!("a load of {address} does not see a scalar store: it was not written back");
        let mut finding = self.finding(FaultClass::Race, NOT_WRITTEN_BACK.id, message);
        finding.label = "may read the older value".into();
        finding.lane = super::access::lane_of(access);
        finding.other = Some(self.elsewhere(write, place, "wrote it to the scalar cache"));
        finding.fix = Some("`s_dcache_wb` and `s_waitcnt lgkmcnt(0)` after the store".into());
        self.report(finding);
    }

    /// Reports that the wave ends while data of its scalar stores is still in the scalar cache.
    pub(super) fn end_scalar_stores(&mut self) {
        let order = &mut self.wave().order;
        let (Some(place), wave) = (order.scalar_stores.first.take(), order.wave) else { return };
        let message = "a wave ends whose scalar stores were not written back".to_owned();
        let mut finding = self.finding(FaultClass::Race, NOT_WRITTEN_BACK.id, message);
        finding.label = "ends the wave".into();
        let label = "wrote to the scalar cache".to_owned();
        finding.other = Some(Elsewhere { place, wave, label });
        finding.fix = Some("`s_dcache_wb` after the last scalar store".into());
        self.report(finding);
    }
}
