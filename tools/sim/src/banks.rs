//! Models bank conflicts of LDS: the number of additional passes that an instruction takes because of
//! conflicts.
//!
//! LDS has 32 banks, each one dword wide. In one pass, the LDS reads or writes one dword of each bank. Lanes
//! that access the same dword share a pass. Lanes that access different dwords of one bank need separate
//! passes, and so do lanes with atomics on the same dword. The hardware processes an instruction in groups of
//! lanes that could use each bank once: 32 lanes if each accesses one dword, 16 lanes for two dwords, and 8
//! lanes for three or four dwords.
//!
//! # Source
//! AMD's OpenCL programming guide, "Local Memory (LDS) Optimizations": 32 banks, bits 6:2 of the address,
//! half a wavefront at a time. Composable Kernel's page on bank conflicts: `ds_write_b128` proceeds in phases
//! of 8 neighbouring lanes. The same page says that `ds_read_b128` forms its groups from other lanes; this
//! module does not model that. The page does not say how accesses of two dwords per lane behave.

/// Number of dwords that one pass can access.
const BANKS: usize = 32;

/// The accesses to LDS that one instruction of a wave makes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Accesses {
    /// The accesses of the current instruction. Each entry has the lane, the index of the accessed dword, and
    /// whether the access is an atomic. The last is needed because lanes with atomics on one dword cannot
    /// share a pass.
    list: Vec<(u32, u64, bool)>,
}

impl Accesses {
    /// Adds an access of a lane to the list, once for each dword that contains one of the accessed bytes.
    pub(crate) fn add(&mut self, lane: u32, address: u64, bytes: u32, atomic: bool) {
        let last = address + u64::from(bytes.max(1)) - 1;
        self.list.extend((address / 4..=last / 4).map(|dword| (lane, dword, atomic)));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the number of additional passes that the recorded accesses need because of bank conflicts.
    /// Empties the list of accesses for the next instruction.
    pub(crate) fn take_extra(&mut self) -> u64 {
        self.list.sort_unstable();
        let widest = self.list.chunk_by(|one, other| one.0 == other.0).map(<[_]>::len).max().unwrap_or(1);
        let lanes = (BANKS / widest.next_power_of_two().min(BANKS)) as u32;
        let groups = self.list.chunk_by(|one, other| one.0 / lanes == other.0 / lanes);
        let extra = groups.map(|group| passes(group) - 1).sum();
        self.list.clear();
        extra
    }
}

/// Returns the number of passes that a group of lanes needs. A pass can make one access to each bank. The
/// number of passes is therefore the number of accesses to the busiest bank.
fn passes(group: &[(u32, u64, bool)]) -> u64 {
    let mut dwords: Vec<(u64, bool, u32)> =
        group.iter().map(|&(lane, dword, alone)| (dword, alone, if alone { lane } else { 0 })).collect();
    dwords.sort_unstable();
    dwords.dedup();
    let mut busy = [0; BANKS];
    dwords.iter().for_each(|(dword, ..)| busy[*dword as usize % BANKS] += 1);
    busy.into_iter().max().unwrap_or(0).max(1)
}

#[cfg(test)]
mod tests {
    use super::Accesses;

    /// Returns the additional passes for 64 lanes that access `bytes` bytes at `address(lane)`.
    fn extra(address: impl Fn(u64) -> u64, bytes: u32, atomic: bool) -> u64 {
        let mut accesses = Accesses::default();
        (0..64).for_each(|lane| accesses.add(lane as u32, address(lane), bytes, atomic));
        let extra = accesses.take_extra();
        assert!(accesses.is_empty());
        extra
    }

    #[test]
    fn strides() {
        // Consecutive dwords, the same dword, a column of a matrix of width 32, and a column of a matrix
        // padded to width 33.
        assert_eq!(extra(|lane| lane * 4, 4, false), 0);
        assert_eq!(extra(|_| 64, 4, false), 0);
        assert_eq!(extra(|lane| lane * 128, 4, false), 2 * 31);
        assert_eq!(extra(|lane| lane * 132, 4, false), 0);
        assert_eq!(extra(|lane| lane * 8, 4, false), 2);
        assert_eq!(extra(|lane| lane / 2, 1, false), 0);
    }

    #[test]
    fn wide_accesses_and_atomics() {
        assert_eq!(extra(|lane| lane * 8, 8, false), 0);
        assert_eq!(extra(|lane| lane * 16, 16, false), 0);
        assert_eq!(extra(|lane| lane * 128, 16, false), 8 * 7);
        assert_eq!(extra(|_| 0, 4, true), 2 * 31);
    }
}
