//! Finds races between the lanes of one wave.
//!
//! The lanes of one instruction are not ordered, and neither are the lanes on the two sides of a branch. If
//! lanes write different values to one location, the remaining value is arbitrary. If several lanes load from
//! one location, and each stores a value computed from the loaded one, all updates except one are lost. It is
//! not a race if several lanes store the same value.
//!
//! Instructions of a wave are executed in order: if a lane executes two stores, these are ordered. The stores
//! of two lanes are also ordered if both lanes have executed an instruction together in between, or if the
//! wave has executed an atomic in between.

use super::cells::Stamp;
use super::late::Excuse;
use super::{FaultClass, Watcher};
use crate::memory::Memory;
use crate::watch::{MemAccess, Space};
use crate::wave::{ActiveLanes, Lanes};
use isa::ModFlags;
use std::collections::VecDeque;

/// Maximum number of EXEC changes that are kept.
const CHANGES: usize = 64;

/// Maximum number of lanes that a note lists.
const LISTED: usize = 4;

/// Records which lanes of a wave have been active at the same time.
pub(super) struct Together {
    began: u64,
    /// Changes of EXEC: number of the last operation before the change, and the new value of EXEC.
    changes: VecDeque<(u32, u64)>,
    /// Number of the last operation at which all lanes were active.
    all: u32,
    /// Number of the last atomic operation.
    atomic: u32,
}

impl Together {
    pub(super) fn new(began: u64) -> Together {
        Together { began, changes: VecDeque::new(), all: 0, atomic: 0 }
    }

    /// Records memory operation `number`.
    #[inline]
    pub(super) fn issue(&mut self, number: u32, exec: u64, is_atomic: bool) {
        if exec == self.began {
            self.all = number;
        }
        if is_atomic {
            self.atomic = number;
        }
    }

    /// Records a change of EXEC after `issued` memory operations.
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

    /// Returns whether the current access of lane `later` is ordered after operation `number` of lane
    /// `earlier`. `exec` is the mask of active lanes.
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

/// A store of one lane.
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

    /// Returns the stored value of the byte at an address, if the store covers this byte.
    fn byte(&self, address: u64) -> Option<u8> {
        let at = address.checked_sub(self.address).filter(|&at| at < u64::from(self.bytes))?;
        Some((self.value >> (8 * at)) as u8)
    }

    fn meets(&self, other: &Stored) -> bool {
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
    /// Records a lane's store, so that it can be compared with the stores of the other lanes after the
    /// instruction.
    #[inline]
    pub(super) fn note_lane(&mut self, access: &MemAccess, value: u32) {
        if access.lane < 64 && !access.flags.contains(ModFlags::GLC) {
            let MemAccess { address, lane, bytes, .. } = *access;
            let in_lds = access.space == Space::Lds;
            self.group.now.stored.push(Stored { address, lane, bytes, value, in_lds });
        }
    }

    /// Records a dword store of all active lanes, some of which store to the same address.
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

    /// Compares the lanes' stores of the instruction that has just run, and reports lanes that wrote to one
    /// location.
    pub(super) fn compare_lanes(&mut self, memory: &Memory) {
        let mut stored = std::mem::take(&mut self.group.now.stored);
        if stored.len() > 1 && !self.shared.marks.has(self.group.now.place) {
            stored.sort();
            for pair in stored.windows(2) {
                if !pair[0].meets(&pair[1]) {
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

    /// Returns the load by which several lanes have read the location before, if the stored value is computed
    /// from this load.
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

    /// Reports that several lanes wrote to one location. Returns whether it has reported it.
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

    /// Returns the excuse that another wave may watch the location. It applies where the object does not mark
    /// atomic stores: then an atomic store looks like a plain one, and only the loads from the location tell
    /// the difference.
    fn watched_excuse(&self, in_lds: bool) -> Option<Excuse> {
        (!in_lds && !self.shared.marks.is_complete()).then_some(Excuse::Watched)
    }

    /// Returns whether a lane's store is ordered after an earlier store of the same wave.
    #[inline]
    pub(super) fn follows_lane(&self, write: Stamp, earlier: u32, lane: u32) -> bool {
        let wave = &self.group.waves[self.group.now.wave];
        let now = &self.group.now;
        write.wave() != wave.order.wave
            || write.number() == now.number
            || earlier > 63
            || wave.together.are_ordered(write.number(), earlier, lane, now.exec)
    }

    /// Reports two stores of different values to one location on the two sides of a branch.
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

/// Joins the first texts of a list, and adds how many texts are left out.
fn list(texts: &[String]) -> String {
    let shown = texts.iter().take(LISTED).cloned().collect::<Vec<_>>().join(", ");
    match texts.len().saturating_sub(LISTED) {
        0 => shown,
        more => format!("{shown}, and {more} more"),
    }
}
