//! The interface between instructions and memory in strict and weak runs: a [`Watch`] is called at every
//! access.
//!
//! Fast mode has no watcher. Every handler accesses memory through the accessors of `exec::access`, which
//! call the watcher if there is one. Shortcuts that handle a whole wave at once are taken only if there is no
//! watcher.

use crate::debug::Dword;
use crate::exec::{Cx, Flow};
use crate::fault::{Access, Trap};
use crate::flight::InFlight;
use crate::launch::Launch;
use crate::memory::Memory;
use crate::op::Op;
use crate::strict::Report;
use crate::wave::Lanes;
use isa::ModFlags;

/// The memory that an access goes to. It decides what the address means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Space {
    /// Allocations, by emulated address.
    Global,
    /// The group's LDS, by byte offset.
    Lds,
    /// The wave's scratch, by byte offset in it: dword `n` of lane `l` is at `4 (lanes n + l)`, in whichever
    /// way the instruction addressed it.
    Scratch,
}

/// One access of one lane, or of the wave as a whole. No access is wider than a dword, except 64-bit atomics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "each watcher reads what it needs")]
pub(crate) struct MemAccess {
    pub(crate) space: Space,
    /// Address of the access; `space` decides what it means (see [`Space`]). The address is in bounds,
    /// because an access out of bounds has already failed.
    pub(crate) address: u64,
    /// Number of bytes: 1 to 4, or 4 or 8 for an atomic. The address may be unaligned.
    pub(crate) bytes: u32,
    /// Lane number; `u32::MAX` for scalar accesses.
    pub(crate) lane: u32,
    pub(crate) kind: Access,
    /// `glc`, `slc`, `dlc` and similar flags of the instruction.
    pub(crate) flags: ModFlags,
    /// Whether the access uses the scalar cache.
    pub(crate) scalar: bool,
}

/// An access through a buffer resource that is out of range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutOfRange {
    pub(crate) lane: u32,
    pub(crate) kind: Access,
    pub(crate) bytes: u32,
    /// Offset that the instruction adds to the base: the offsets of the VGPR and of the instruction, without
    /// the index.
    pub(crate) offset: u32,
    pub(crate) index: Option<u32>,
    /// Offset from the SGPR.
    pub(crate) scalar_offset: u64,
    /// The first SGPR of the resource, and the contents of the resource.
    pub(crate) first: u8,
    pub(crate) words: [u32; 4],
    /// Whether the resource swizzles addresses, as the resource for private memory does.
    pub(crate) swizzles: bool,
}

/// A cache operation of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "each watcher reads what it needs")]
pub(crate) enum CacheOp {
    /// `buffer_wbinvl1`, or `buffer_wbinvl1_vol`, which affects only volatile lines; `buffer_wbinvl1_sc` of
    /// GFX6.
    InvalidateL1 { volatile: bool },
    /// `buffer_gl0_inv`.
    InvalidateGl0,
    /// `buffer_gl1_inv`, `s_gl1_inv`.
    InvalidateGl1,
    /// `buffer_invl2` of gfx90a.
    InvalidateL2,
    /// `buffer_wbl2` of gfx90a.
    WriteBackL2,
    /// `s_dcache_inv`, `s_dcache_inv_vol`.
    InvalidateScalar { volatile: bool },
    /// `s_dcache_wb`, `s_dcache_wb_vol`.
    WriteBackScalar { volatile: bool },
    /// `s_dcache_discard`, which discards 64 or 128 bytes.
    DiscardScalar { address: u64, bytes: u32 },
}

/// Observer of one wave's accesses to memory. It can also change the effect of an instruction on memory.
pub(crate) trait Watch {
    /// Called before an instruction.
    fn before(&mut self, _cx: &mut Cx<'_>, _op: &Op) -> Result<(), Trap> {
        Ok(())
    }

    /// Called after an instruction, with the way it ended.
    fn after(&mut self, _cx: &mut Cx<'_>, _op: &Op, _flow: Flow) -> Result<(), Trap> {
        Ok(())
    }

    /// Returns the error that the watcher has found in the current instruction.
    fn found(&self, _launch: &Launch<'_>) -> Option<Report> {
        None
    }

    /// Returns the outstanding operations of a wave of the group, if the watcher tracks them.
    fn in_flight(&self, _wave: u32) -> Option<InFlight> {
        None
    }

    /// Returns the mask of the bits of a dword that were never written, if the watcher tracks them. `wave` is
    /// the number in the group.
    fn undefined(&self, _wave: u32, _dword: Dword) -> u32 {
        0
    }

    /// Called when a debugger has written bits of a dword of a wave, so that these bits count as written.
    fn define(&mut self, _wave: u32, _dword: Dword, _bits: u32) {}

    /// Called before a read. `Some(value)` replaces the value from memory (for example by the value of a
    /// stale cache line).
    fn read(&mut self, memory: &Memory, access: &MemAccess) -> Result<Option<u32>, Trap>;

    /// Called before all active lanes read LDS: one aligned dword at each of the offsets from each address.
    /// Returns true if the reads may proceed. If it returns false, it has done nothing, and the reads are
    /// announced one by one.
    fn read_lds(&mut self, _addresses: &[u32; 64], _exec: u64, _offsets: &[u32]) -> bool {
        false
    }

    /// Called before all active lanes load from memory: `dwords` aligned dwords, starting at each address.
    /// Returns true if the loads may proceed. If it returns false, it has done nothing, and the loads are
    /// announced one by one.
    fn read_memory(&mut self, _addresses: &[u64; 64], _exec: u64, _dwords: u32, _flags: ModFlags) -> bool {
        false
    }

    /// Called before all active lanes store to memory: each register of `data` holds one dword per lane.
    /// Returns true if the stores may proceed. If it returns false, it has done nothing, and the stores are
    /// announced one by one.
    fn write_memory(
        &mut self,
        _memory: &Memory,
        _addresses: &[u64; 64],
        _exec: u64,
        _data: &[Lanes],
        _flags: ModFlags,
    ) -> bool {
        false
    }

    /// Called before all active lanes store to LDS, starting at `offset` from each address: each register of
    /// `data` holds one dword per lane. The result is as for [`Watch::write_memory`].
    fn write_lds(&mut self, _addresses: &Lanes, _exec: u64, _offset: u32, _data: &[Lanes]) -> bool {
        false
    }

    /// Called before a write of the low bytes of `value`. Returns true if the watcher keeps the value, as a
    /// write-back cache does, so that memory does not change.
    fn write(&mut self, memory: &Memory, access: &MemAccess, value: u32) -> Result<bool, Trap>;

    /// Called before a read-modify-write of 4 or 8 bytes, which then acts on the contents of memory.
    fn atomic(&mut self, memory: &Memory, access: &MemAccess) -> Result<(), Trap>;

    /// Called for an access to LDS that is beyond the limit in M0: it reads zero, or writes nothing. Only
    /// GFX6 to GFX8 check M0.
    fn limited(&mut self, _access: &MemAccess) -> Result<(), Trap> {
        Ok(())
    }

    /// Called for a lane's access through a buffer resource that is out of bounds: it reads zero, or writes
    /// nothing.
    fn out_of_range(&mut self, _memory: &Memory, _access: &OutOfRange) -> Result<(), Trap> {
        Ok(())
    }

    /// Called for an instruction that invalidates or writes back caches.
    fn cache(&mut self, memory: &Memory, operation: CacheOp) -> Result<(), Trap>;
}
