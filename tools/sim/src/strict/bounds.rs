//! Finds accesses outside the bounds of a buffer resource. The hardware reports no error for such accesses:
//! loads return zero, and stores are dropped.

use super::findings::{Elsewhere, code_position, split_place};
use super::{FaultClass, Watcher};
use crate::fault::Access;
use crate::memory::Memory;
use crate::watch::OutOfRange;

/// Smallest offset that counts as out of range on purpose. Compilers and libraries use such large offsets to
/// disable a buffer access for one lane without a branch.
const DELIBERATE: u32 = 1 << 31;

impl Watcher<'_> {
    /// Reports an access that is out of range of its buffer resource. Does not report an offset that is so
    /// large that it must be out of range on purpose (see [`DELIBERATE`]).
    #[cold]
    pub(super) fn report_out_of_range(&mut self, memory: &Memory, access: &OutOfRange) {
        if access.swizzles || access.offset >= DELIBERATE || access.scalar_offset >= u64::from(DELIBERATE) {
            return;
        }
        let [low, high, records, _] = access.words;
        let base = u64::from(low) | u64::from(high & 0xffff) << 32;
        let stride = high >> 16 & 0x3fff;
        let resource = format!("s[{}:{}]", access.first, access.first + 3);
        let at = match access.index {
            Some(index) => format!("index {index}, offset {:#x}", access.offset),
            None => format!("offset {:#x}", u64::from(access.offset) + access.scalar_offset),
        };
        let message = format!(
            "a buffer access of {} bytes at {at} is out of range of the resource in {resource}",
            access.bytes
        );
        let mut finding = self.finding(FaultClass::Fault, "buffer-out-of-range", message);
        finding.label = match access.kind {
            Access::Read => "loads zero",
            Access::Write => "stores nothing",
            Access::Atomic => "changes nothing",
        }
        .into();
        finding.lane = Some(access.lane);
        let bounds = match stride {
            0 => format!("{records:#x} bytes"),
            stride => format!("{records} records, {stride} bytes apart,"),
        };
        finding.notes.push(format!("the resource has {bounds} from {base:#x} on"));
        if memory.find(base, 1).is_none() {
            finding.notes.push("no buffer is at its address: the registers may hold something else".into());
        }
        let wave = self.group.first_wave + self.group.now.wave as u32;
        match self.last_writer(access.first) {
            Some(place) => {
                let label = format!("wrote a part of {resource}");
                finding.other = Some(Elsewhere { place, wave, label });
            }
            None => finding.notes.push(format!("no instruction before it writes {resource}")),
        }
        self.report(finding);
    }

    /// Returns the code position of the instruction that most likely wrote the buffer resource, for reports.
    /// This is the last instruction before the current one, in address order, that writes one of the four
    /// SGPRs from `first` on.
    fn last_writer(&self, first: u8) -> Option<u32> {
        let (range, end) = split_place(self.group.now.place);
        let wanted = 15u128.checked_shl(first.into()).unwrap_or(0);
        let (mut at, mut last) = (0, None);
        while at < end {
            let touch = self.shared.touch(range, at);
            if touch.scalar_writes & wanted != 0 {
                last = Some(code_position(range, at));
            }
            at += self.shared.instruction(range, at as usize).map_or(1, |(_, size)| size as u32);
        }
        last
    }
}
