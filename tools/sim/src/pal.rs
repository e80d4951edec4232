//! What the runtime PAL provides to a compute kernel: the contents of the user SGPRs, and the tables in memory
//! to which they point. The upper half of the tables' addresses is that of the code's addresses.
//!
//! # Source
//! LLVM's AMDGPU guide (seed 000, lines 4311 and 4340), and AMD's PAL, `palPipelineAbi.h`, `UserDataMapping`.

use crate::launch::POISON;
use crate::memory::Memory;
use crate::scratch;
use isa::Target;

/// Numbers in the metadata for values of the runtime. A number below [`GLOBAL_TABLE`] is the index of a dword
/// of the application's user data.
const GLOBAL_TABLE: u32 = 0x1000_0000;
const SPILL_TABLE: u32 = 0x1000_0002;
const GROUP_COUNTS: u32 = 0x1000_0006;
const GDS_RANGE: u32 = 0x1000_0007;

/// Alignment of the tables in bytes.
pub(crate) const TABLE_ALIGN: u64 = 256;
/// Offsets of the tables from their common beginning.
const COUNTS_AT: u64 = 256;
const SPILL_AT: u64 = 512;
/// First dword of the descriptor of a compute kernel's scratch memory in the global internal table, and number
/// of the table's dwords.
const SCRATCH_AT: usize = 4;
const GLOBAL_DWORDS: usize = 53;
/// Number of unused bytes after the spill table. A load may be wider than the argument that it loads.
const SLACK: u64 = 64;

/// How a kernel receives its arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UserData {
    /// What each user SGPR holds. SGPRs without a number hold nothing.
    pub(crate) mapping: [Option<u32>; 16],
    /// Number of dwords of the application's user data.
    pub(crate) limit: u32,
    /// The first dword that the spill table has.
    pub(crate) spill_threshold: u32,
}

impl UserData {
    /// Returns the assignment of the guide, for objects whose metadata has none. The spill table has all dwords.
    pub(crate) fn of_the_guide() -> UserData {
        let mapping = std::array::from_fn(|register| match register as u32 {
            0 => Some(GLOBAL_TABLE),
            1 => Some(GLOBAL_TABLE + 1),
            entry @ 2..=11 => Some(entry - 2),
            12 => Some(SPILL_TABLE),
            13 => Some(GROUP_COUNTS),
            15 => Some(GDS_RANGE),
            _ => None,
        });
        UserData { mapping, ..UserData::default() }
    }

    /// Writes the tables of a dispatch to memory at `tables`. Returns the contents of the user SGPRs. `data` is
    /// the application's user data.
    pub(crate) fn provide(
        &self,
        memory: &Memory,
        tables: u64,
        target: &Target,
        groups: [u32; 3],
        data: &[u32],
    ) -> Vec<u32> {
        let mut global = [POISON; GLOBAL_DWORDS];
        // The driver describes scratch memory for waves of 64 lanes.
        let wave64 = target.with_wave_size(64).unwrap_or(target);
        global[SCRATCH_AT..][..4].copy_from_slice(&scratch::resource(wave64));
        let spilled =
            (0..).zip(data).map(|(n, &dword)| if n < self.spill_threshold { POISON } else { dword });
        let spilled: Vec<u32> = spilled.collect();
        for (at, dwords) in [(0, &global[..]), (COUNTS_AT, &groups), (SPILL_AT, &spilled)] {
            let bytes: Vec<u8> = dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect();
            memory.write(tables + at, &bytes);
        }
        let mut registers = vec![POISON; self.mapping.len()];
        for (register, &number) in self.mapping.iter().enumerate() {
            let counts = tables + COUNTS_AT;
            let values = match number {
                Some(GLOBAL_TABLE) => [Some(tables as u32), None],
                Some(SPILL_TABLE) => [Some((tables + SPILL_AT) as u32), None],
                Some(GROUP_COUNTS) => [Some(counts as u32), Some((counts >> 32) as u32)],
                Some(GDS_RANGE) => [Some(0), None],
                Some(entry) => [data.get(entry as usize).copied(), None],
                None => [None; 2],
            };
            registers[register..]
                .iter_mut()
                .zip(values)
                .for_each(|(place, value)| *place = value.unwrap_or(*place));
        }
        registers
    }
}

/// Returns how many bytes the tables take for a kernel with `bytes` bytes of arguments.
pub(crate) fn table_bytes(bytes: u32) -> u64 {
    SPILL_AT + u64::from(bytes) + SLACK
}
