//! Finds dwords of memory that several work-groups use, in a run on several threads.
//!
//! On several threads, chance decides which of two groups accesses a dword first, and the shadow cells may
//! lack an access that another thread records at the same moment. Both may hide a race that a run on one
//! thread reports. A run in which two groups *meet* at a dword is therefore repeated on one thread, and the
//! repeated run decides what is reported. Two groups meet if both access the dword and the result may depend
//! on their order. They do not meet if both only read the dword, or if both only execute atomics that return
//! nothing.
//!
//! One atomic word for each dword of memory says who has used the dword. An access changes this word in one
//! atomic step, if it changes the word at all. So of two accesses by different threads, the second one always
//! sees the first.

use super::Watcher;
use super::cells::{PAGE, Pages};
use crate::memory::Memory;
use crate::watch::{MemAccess, Space};
use crate::wave::ActiveLanes;
use std::sync::atomic::{AtomicU32, Ordering};

/// How a group uses a dword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Read,
    /// A store, or an atomic that returns the old value.
    Write,
    /// An atomic that returns nothing. Two atomics of this kind have the same result in either order, and
    /// neither group learns anything from the other.
    Add,
}

/// Who has used a dword, encoded in one word. The low bits are the state of the dword: [`READ`], [`ADDED`] or
/// [`OWNED`]. If only one group has used the dword, the higher bits are the number of this group's first
/// wave; otherwise they are 0. The whole word is 0 if no group has used the dword.
type Users = u32;

const STATE_BITS: u32 = 3;
/// State of a dword for which all accesses were reads. One group or several groups have made them.
const READ: Users = 1;
/// State of a dword for which all accesses were atomics that return nothing. One group or several groups have
/// made them.
const ADDED: Users = 2;
/// State of a dword that a single group has used, and has written or used in different ways.
const OWNED: Users = 3;

/// Returns what is known about the users of a dword (`users`) after the group `group` has used it as well.
/// Returns `None` if the group meets another group at the dword, so that the result may depend on their
/// order.
fn next(users: Users, group: u32, usage: Use) -> Option<Users> {
    let of = |state: Users, group: u32| state | group << STATE_BITS;
    let wanted = match usage {
        Use::Read => READ,
        Use::Add => ADDED,
        Use::Write => OWNED,
    };
    if users == 0 || users == of(wanted, group) {
        return Some(of(wanted, group));
    }
    let (state, user) = (users & ((1 << STATE_BITS) - 1), users >> STATE_BITS);
    if state == wanted && wanted != OWNED {
        return Some(of(wanted, 0));
    }
    (user == group).then_some(of(OWNED, group))
}

/// For each dword of memory, who has used it, encoded in one word.
pub(super) struct Meetings(Pages<Box<[AtomicU32]>>);

/// The page that was used last, with its start address, as a cache that makes the next lookup faster.
#[derive(Default)]
pub(super) struct LastPage<'a> {
    start: u64,
    users: &'a [AtomicU32],
}

impl Meetings {
    pub(super) fn new(memory: &Memory) -> Meetings {
        Meetings(Pages::new(memory))
    }

    /// Records that the group whose first wave is `group` uses `dwords` dwords from `address` on. Returns
    /// whether the group meets another group at one of these dwords, so that the result may depend on their
    /// order.
    pub(super) fn enter<'a>(
        &'a self,
        last: &mut LastPage<'a>,
        memory: &Memory,
        (address, dwords): (u64, u64),
        (group, usage): (u32, Use),
    ) -> bool {
        let mut meets = false;
        for address in (0..dwords).map(|dword| address.wrapping_add(4 * dword)) {
            let mut at = (address.wrapping_sub(last.start) / 4) as usize;
            if at >= last.users.len() {
                let new = || (0..PAGE).map(|_| AtomicU32::new(0)).collect();
                let Some((start, users)) = self.0.page(memory, address, new) else { continue };
                *last = LastPage { start, users };
                at = (address.wrapping_sub(start) / 4) as usize;
            }
            meets |= last.users.get(at).is_some_and(|users| meets_at(users, group, usage));
        }
        meets
    }
}

fn meets_at(users: &AtomicU32, group: u32, usage: Use) -> bool {
    let before = users.load(Ordering::Relaxed);
    let after = next(before, group, usage);
    if after == Some(before) {
        return false;
    }
    users.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |users| next(users, group, usage)).is_err()
}

impl Watcher<'_> {
    /// Records an access to memory, in a run on several threads.
    #[inline]
    pub(super) fn meet(&self, memory: &Memory, access: &MemAccess, usage: Use) {
        if let Some(meetings) = &self.shared.meetings
            && access.space == Space::Global
            && self.shared.races
        {
            let dwords = (access.address % 4 + u64::from(access.bytes)).div_ceil(4);
            let run = (access.address & !3, dwords);
            if meetings.enter(&mut LastPage::default(), memory, run, (self.group.first_wave, usage)) {
                self.shared.cross();
            }
        }
    }

    /// Records accesses to memory of all active lanes, in a run on several host threads. Each lane uses
    /// `dwords` dwords from its address on.
    pub(super) fn meet_lanes(
        &self,
        memory: &Memory,
        addresses: &[u64; 64],
        exec: u64,
        dwords: u32,
        usage: Use,
    ) {
        let Some(meetings) = &self.shared.meetings else { return };
        let mut last = LastPage::default();
        for lane in ActiveLanes(exec) {
            let run = (addresses[lane], dwords.into());
            if meetings.enter(&mut last, memory, run, (self.group.first_wave, usage)) {
                self.shared.cross();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns for each use whether the group meets another group.
    fn uses(uses: &[(u32, Use)]) -> Vec<bool> {
        let users = AtomicU32::new(0);
        uses.iter().map(|&(group, usage)| meets_at(&users, group, usage)).collect()
    }

    #[test]
    fn two_groups_meet_in_any_order() {
        use Use::{Add, Read, Write};
        for first in [Read, Write, Add] {
            for second in [Read, Write, Add] {
                let harmless = first == second && first != Write;
                assert_eq!(uses(&[(1, first), (5, second)]), [false, !harmless], "{first:?}, {second:?}");
                // A group does not meet itself.
                assert_eq!(uses(&[(1, first), (1, second)]), [false, false]);
            }
        }
    }

    #[test]
    fn a_group_meets_all_former_users() {
        use Use::{Add, Read, Write};
        assert_eq!(uses(&[(1, Read), (5, Read), (1, Read), (5, Write)]), [false, false, false, true]);
        assert_eq!(uses(&[(1, Add), (5, Add), (1, Add), (1, Read)]), [false, false, false, true]);
        assert_eq!(uses(&[(1, Read), (1, Add), (5, Add)]), [false, false, true]);
        assert_eq!(uses(&[(1, Write), (1, Read), (5, Read)]), [false, false, true]);
    }
}
