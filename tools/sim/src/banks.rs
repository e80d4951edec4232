//! Bank conflicts of LDS: how many passes more than without conflicts an instruction takes.
//!
//! LDS has 32 banks of one dword each, and a pass reads or writes one dword of each bank: lanes that want the same dword share
//! it, lanes that want different dwords of one bank take turns, and so do atomics in any case. Lanes go in groups whose dwords
//! would fill the banks: 32 lanes of one dword, 16 of two, 8 of up to four.
//!
//! # Source
//! AMD's OpenCL programming guide, "Local Memory (LDS) Optimizations": 32 banks, bits 6:2 of the address, half a wavefront at a
//! time. Composable Kernel's page on bank conflicts: `ds_write_b128` goes in phases of 8 neighbouring lanes; reads of that width
//! group their lanes otherwise, which is not modelled, nor is what two dwords a lane do said there.

/// Dwords that one pass can serve.
const BANKS: usize = 32;

/// Accesses of one instruction of a wave.
#[derive(Clone, Debug, Default)]
pub(crate) struct Accesses {
    /// Lane, dword, and whether lanes cannot share it.
    list: Vec<(u32, u64, bool)>,
}

impl Accesses {
    /// Adds a lane's access to the dwords that the bytes are in.
    pub(crate) fn add(&mut self, lane: u32, address: u64, bytes: u32, atomic: bool) {
        let last = address + u64::from(bytes.max(1)) - 1;
        self.list.extend((address / 4..=last / 4).map(|dword| (lane, dword, atomic)));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Passes that conflicts add; empties the list.
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

/// Passes that a group of lanes takes: what the busiest bank has to do.
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

    /// Extra passes of 64 lanes that access `bytes` at `address(lane)`.
    fn extra(address: impl Fn(u64) -> u64, bytes: u32, atomic: bool) -> u64 {
        let mut accesses = Accesses::default();
        (0..64).for_each(|lane| accesses.add(lane as u32, address(lane), bytes, atomic));
        let extra = accesses.take_extra();
        assert!(accesses.is_empty());
        extra
    }

    #[test]
    fn strides() {
        // One dword behind the other, all the same, a column of a matrix 32 wide, and the usual cure.
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
