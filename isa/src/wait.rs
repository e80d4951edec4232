//! The counters of `s_waitcnt` and how it packs them.

use crate::target::Target;

/// Values to wait for: at most that many operations of each kind still in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitCount {
    /// Vector memory.
    pub vm: u8,
    /// Exports, GDS.
    pub exp: u8,
    /// LDS, GDS, scalar memory, messages.
    pub lgkm: u8,
}

impl Target {
    /// The mask of an `s_waitcnt`; counts beyond a counter's limit become the limit, which waits for nothing.
    ///
    /// `vmcnt` in bits 3:0, from GFX9 on in 15:14 too, `expcnt` in 6:4, `lgkmcnt` in 11:8, on GFX10 13:8.
    pub const fn waitcnt(&self, vm: u8, exp: u8, lgkm: u8) -> u16 {
        let vm = clamp(vm, self.max_vmcnt);
        let exp = clamp(exp, self.max_expcnt);
        let lgkm = clamp(lgkm, self.max_lgkmcnt);
        vm & 15 | (vm >> 4 & 3) << 14 | (exp & 7) << 4 | lgkm << 8
    }

    /// The counts in a mask.
    pub const fn unpack_waitcnt(&self, mask: u16) -> WaitCount {
        let vm = (mask & 15 | (mask >> 14 & 3) << 4) as u8 & self.max_vmcnt;
        WaitCount { vm, exp: (mask >> 4 & 7) as u8, lgkm: (mask >> 8) as u8 & self.max_lgkmcnt }
    }
}

const fn clamp(value: u8, max: u8) -> u16 {
    if value > max { max as u16 } else { value as u16 }
}
