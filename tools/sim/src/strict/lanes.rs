//! Finds races between the lanes of one wave.
//!
//! The hardware does not define the order of the lanes of one instruction, nor of the lanes on the two sides
//! of a branch. Two errors follow:
//! - Lanes store different values to one location. Which value remains is arbitrary.
//! - Several lanes load from one location, and each of them stores a value computed from the loaded value to
//!   that location. All updates except one are lost.
//!
//! It is not a race if several lanes store the same value.
//!
//! Two stores by the same lane are ordered, because a wave executes its instructions in order. Stores by two
//! different lanes are ordered in two cases: both lanes have executed some instruction together between the
//! stores, or the wave has executed an atomic between them.

use super::cells::Stamp;
use super::late::Excuse;
use super::{FaultClass, Watcher};
use crate::memory::Memory;
use crate::watch::{MemAccess, Space};
use crate::wave::{ActiveLanes, Lanes};
use isa::ModFlags;
use std::collections::VecDeque;

/// Maximum number of EXEC changes in the history.
const CHANGES: usize = 64;

/// Maximum number of lanes that a note of a report lists.
const LISTED: usize = 4;

/// History of a wave's EXEC mask. It shows whether two lanes were active at the same time between two
/// operations. If they were, the operations of these lanes are ordered.
pub(super) struct Together {
    began: u64,
    /// Recent changes of EXEC, oldest first. For each change, this is the number of the last memory operation
    /// before it, and the new value of EXEC.
    changes: VecDeque<(u32, u64)>,
    /// Number of the last memory operation at the latest moment when all lanes of the wave were active.
    /// Operations up to this number are ordered before all later operations, whatever their lanes.
    all: u32,
    /// Number of the last atomic operation.
    atomic: u32,
}

impl Together {
    pub(super) fn new(began: u64) -> Together {
        Together { began, changes: VecDeque::new(), all: 0, atomic: 0 }
    }

    /// Records that memory operation `number` is issued with the active lanes `exec`.
    #[inline]
    pub(super) fn issue(&mut self, number: u32, exec: u64, is_atomic: bool) {
        if exec == self.began {
            self.all = number;
        }
        if is_atomic {
            self.atomic = number;
        }
    }

    /// Records a change of EXEC. `issued` is the number of memory operations that were issued before it.
    pub(super) fn change(&mut self, issued: u32, exec: u64) {
        if exec == self.began {
            self.all = issued;
        }
        if let Some(last) = self.changes.back_mut().filter(|last| last.0 == issued) {
            if exec & !last.1 == 0 {
                return;
            }
            if last.1 & !exec == 0 {
                last.1 = exec;
                return;
            }
        }
        if self.changes.len() == CHANGES {
            self.changes.pop_front();
        }
        self.changes.push_back((issued, exec));
    }

    /// Returns whether the current access of lane `later` is ordered after an earlier access of lane
    /// `earlier` in the same wave. `number` is the memory operation of the earlier access, and `exec` is the
    /// current mask of active lanes.
    fn are_ordered(&self, number: u32, earlier: u32, later: u32, exec: u64) -> bool {
        let both = 1 << (earlier & 63) | 1 << (later & 63);
        let met = |lanes: u64| lanes & both == both;
        if earlier == later || self.all >= number || self.atomic >= number || met(exec) {
            return true;
        }
        for &(issued, lanes) in self.changes.iter().rev() {
            if met(lanes) {
                return true;
            }
            if issued < number {
                return false;
            }
        }
        self.changes.len() == CHANGES || met(self.began)
    }
}

/// A store that one lane of an instruction has made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Stored {
    address: u64,
    lane: u32,
    bytes: u32,
    value: u32,
    in_lds: bool,
}

impl Stored {
    fn space(&self) -> Space {
        if self.in_lds { Space::Lds } else { Space::Global }
    }

    /// Returns the byte that the store writes to an address, or `None` if the store does not cover the
    /// address.
    fn byte(&self, address: u64) -> Option<u8> {
        let at = address.checked_sub(self.address).filter(|&at| at < u64::from(self.bytes))?;
        Some((self.value >> (8 * at)) as u8)
    }

    fn overlaps_other_lane(&self, other: &Stored) -> bool {
        other.address < self.address + u64::from(self.bytes) && self.lane != other.lane
    }

    fn differs(&self, other: &Stored) -> bool {
        (0..u64::from(self.bytes)).map(|at| self.address + at).any(|address| {
            let (mine, theirs) = (self.byte(address), other.byte(address));
            theirs.is_some() && mine != theirs
        })
    }
}

impl Watcher<'_> {
    /// Records the store of one lane of the current instruction, so that it can be compared with the stores
    /// of the other lanes when the instruction has run.
    #[inline]
    pub(super) fn note_lane(&mut self, access: &MemAccess, value: u32) {
        if access.lane < 64 && !access.flags.contains(ModFlags::GLC) {
            let MemAccess { address, lane, bytes, .. } = *access;
            let in_lds = access.space == Space::Lds;
            self.group.now.stored.push(Stored { address, lane, bytes, value, in_lds });
        }
    }

    /// Records the stores of the current instruction, in which each active lane stores one dword, if some
    /// lanes store to the same address. They are compared after the instruction has run.
    #[cold]
    pub(super) fn note_lanes(
        &mut self,
        space: Space,
        addresses: impl Fn(usize) -> u64,
        exec: u64,
        data: &Lanes,
    ) {
        let in_lds = space == Space::Lds;
        let stored = |lane: usize| Stored {
            address: addresses(lane),
            lane: lane as u32,
            bytes: 4,
            value: data[lane],
            in_lds,
        };
        self.group.now.stored.extend(ActiveLanes(exec).map(stored));
    }

    /// Compares the stores of the lanes of the instruction that has just run, and reports lanes that stored
    /// different values to one location or lost an update.
    pub(super) fn compare_lanes(&mut self, memory: &Memory) {
        let mut stored = std::mem::take(&mut self.group.now.stored);
        if stored.len() > 1 && !self.shared.marks.has(self.group.now.place) {
            stored.sort();
            for pair in stored.windows(2) {
                if !pair[0].overlaps_other_lane(&pair[1]) {
                    continue;
                }
                let is_different = pair[0].differs(&pair[1]);
                let load = self.shared_load(memory, &pair[1]);
                if (is_different || load.is_some()) && self.report_lanes(&pair[1], &stored, load) {
                    break;
                }
            }
        }
        stored.clear();
        self.group.now.stored = stored;
    }

    /// Returns an earlier load by which several lanes have read the location of the store, if the stored
    /// value is computed from the loaded value. All updates of the location except one are then lost.
    fn shared_load(&self, memory: &Memory, stored: &Stored) -> Option<(Stamp, u32)> {
        let wave = &self.group.waves[self.group.now.wave];
        let (read, place) = match stored.in_lds {
            true => {
                self.group.lds.get((stored.address / 4) as usize).map(|cell| (cell.read, cell.read_place))?
            }
            false => self.shared.cells.at(memory, stored.address)?.last_read(),
        };
        let own = read.wave() == wave.order.wave && read.is_by_several();
        let is_plain = own && !self.shared.marks.has(place) && !read.is_atomic();
        (is_plain && self.shared.depends(self.group.now.place, place)).then_some((read, place))
    }

    /// Reports that several lanes stored to one location in one instruction. Returns whether a finding was
    /// reported.
    #[cold]
    fn report_lanes(&mut self, at: &Stored, stored: &[Stored], load: Option<(Stamp, u32)>) -> bool {
        let same: Vec<&Stored> = stored.iter().filter(|one| one.address == at.address).collect();
        let access = self.lane_access(at);
        let what = self.address_text(&access).replace("LDS ", "");
        let memory = if at.in_lds { "LDS" } else { "global memory" };
        let (rule, message) = match load {
            Some(_) => {
                ("lane-lost-update", format!("lanes of one wave read, change and write {what} in {memory}"))
            }
            None => ("lane-race", format!("lanes of one wave write different values to {what} in {memory}")),
        };
        let mut finding = self.finding(FaultClass::Race, rule, message);
        finding.label = "writes it in several lanes at once".into();
        finding.lane = Some(at.lane);
        finding.other = load.map(|(read, place)| self.elsewhere(read, place, "read it in several lanes"));
        let listed: Vec<String> = match same.len() > 1 {
            true => same.iter().map(|one| format!("lane {} writes {:#x}", one.lane, one.value)).collect(),
            false => Vec::new(),
        };
        finding.notes.push(list(&listed));
        finding.notes.retain(|note| !note.is_empty());
        finding.fix = Some(fix(load.is_some()).into());
        self.report_unless(self.watched_excuse(at.in_lds), &access, finding);
        true
    }

    fn lane_access(&self, at: &Stored) -> MemAccess {
        MemAccess {
            space: at.space(),
            address: at.address,
            bytes: at.bytes,
            lane: at.lane,
            kind: crate::fault::Access::Write,
            flags: ModFlags::empty(),
            scalar: false,
        }
    }

    /// Returns `Excuse::Watched` if the object file does not mark atomic stores, so that these stores may be
    /// atomic. The only sign of an atomic store is then that another wave later reads the location with a
    /// `glc` load, which bypasses the first-level cache. If such a load follows, the finding is dropped.
    fn watched_excuse(&self, in_lds: bool) -> Option<Excuse> {
        (!in_lds && !self.shared.marks.is_complete()).then_some(Excuse::Watched)
    }

    /// Returns whether the current store by `lane` is ordered after `write`, an earlier store by lane
    /// `earlier` of the same wave. Always returns true if another wave has executed `write`.
    #[inline]
    pub(super) fn follows_lane(&self, write: Stamp, earlier: u32, lane: u32) -> bool {
        let wave = &self.group.waves[self.group.now.wave];
        let now = &self.group.now;
        write.wave() != wave.order.wave
            || write.number() == now.number
            || earlier > 63
            || wave.together.are_ordered(write.number(), earlier, lane, now.exec)
    }

    /// Reports two stores of different values to one location by lanes on the two sides of a branch.
    #[cold]
    pub(super) fn report_sides(&mut self, access: &MemAccess, write: Stamp, place: u32, earlier: u32) {
        let marks = &self.shared.marks;
        if write.is_sync() || write.is_atomic() || marks.has(place) || marks.has(self.group.now.place) {
            return;
        }
        let in_lds = access.space == Space::Lds;
        let what = self.address_text(access).replace("LDS ", "");
        let memory = if in_lds { "LDS" } else { "global memory" };
        let message = format!("lanes of one wave write different values to {what} in {memory}");
        let mut finding = self.finding(FaultClass::Race, "lane-race", message);
        finding.label = "writes it".into();
        finding.lane = Some(access.lane);
        finding.other = Some(self.elsewhere(write, place, "wrote another value"));
        finding.notes.push(format!(
            "lane {earlier} wrote it first, lane {} writes it now: the two lanes were not active together in between",
            access.lane
        ));
        finding.fix = Some(fix(false).into());
        self.report_unless(self.watched_excuse(in_lds), access, finding);
    }
}

fn fix(is_update: bool) -> &'static str {
    match is_update {
        true => "an atomic, or a sum over the wave that one lane adds",
        false => "a place for each lane, or one lane that writes",
    }
}

/// Joins the first few texts of a list to one text. If the list has more, the text says how many are left
/// out.
fn list(texts: &[String]) -> String {
    let shown = texts.iter().take(LISTED).cloned().collect::<Vec<_>>().join(", ");
    match texts.len().saturating_sub(LISTED) {
        0 => shown,
        more => format!("{shown}, and {more} more"),
    }
}
