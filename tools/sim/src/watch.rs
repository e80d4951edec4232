//! The interface between instructions and memory in strict and weak mode. A [`Watch`] (watcher) is called at
//! every access.
//!
//! Fast mode has no watcher. Every handler accesses memory through the functions of `exec::access`, which
//! call the watcher if there is one. Fast paths that handle all lanes at once are taken only if there is no
//! watcher or the watcher permits it.

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

/// The kind of memory that an access goes to. The meaning of the access's address depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Space {
    /// Global memory. The address is an emulated address.
    Global,
    /// LDS of the group. The address is a byte offset.
    Lds,
    /// The wave's scratch, in which the dwords of the lanes are interleaved. The address is a byte offset:
    /// dword `n` of lane `l` is at `4 (lanes n + l)`, in every addressing mode of the instruction.
    Scratch,
}

/// One access by one lane, or by the wave as a whole. It has at most four bytes, unless it is a 64-bit
/// atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "each watcher reads what it needs")]
pub(crate) struct MemAccess {
    pub(crate) space: Space,
    /// Address of the access. Its meaning depends on `space` (see [`Space`]). It is always in bounds, because
    /// an access out of bounds fails before the watcher is called.
    pub(crate) address: u64,
    /// Number of bytes: 1 to 4, or 4 or 8 for an atomic. The address need not be aligned.
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
    /// Offset that the instruction adds to the base address: the offset in the VGPR plus the offset in the
    /// instruction. The index is not included.
    pub(crate) offset: u32,
    pub(crate) index: Option<u32>,
    /// Offset that the instruction takes from an SGPR.
    pub(crate) scalar_offset: u64,
    /// Number of the first of the SGPRs with the buffer resource. The next field has the contents of the
    /// resource.
    pub(crate) first: u8,
    pub(crate) words: [u32; 4],
    /// Whether the buffer resource swizzles addresses, as the resource for private memory does.
    pub(crate) swizzles: bool,
}

/// A cache operation that an instruction performs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "each watcher reads what it needs")]
pub(crate) enum CacheOp {
    /// The instruction `buffer_wbinvl1`, `buffer_wbinvl1_vol` (which affects only volatile lines), or
    /// `buffer_wbinvl1_sc` of GFX6.
    InvalidateL1 { volatile: bool },
    /// The instruction `buffer_gl0_inv`.
    InvalidateGl0,
    /// The instructions `buffer_gl1_inv` and `s_gl1_inv`.
    InvalidateGl1,
    /// The instruction `buffer_invl2` of gfx90a.
    InvalidateL2,
    /// The instruction `buffer_wbl2` of gfx90a.
    WriteBackL2,
    /// The instructions `s_dcache_inv` and `s_dcache_inv_vol`.
    InvalidateScalar { volatile: bool },
    /// The instructions `s_dcache_wb` and `s_dcache_wb_vol`.
    WriteBackScalar { volatile: bool },
    /// The instruction `s_dcache_discard`, which discards 64 or 128 bytes.
    DiscardScalar { address: u64, bytes: u32 },
}

/// A watcher, which observes one wave's accesses to memory. It can also change the effect of an instruction
/// on memory.
pub(crate) trait Watch {
    /// Called before an instruction.
    fn before(&mut self, _cx: &mut Cx<'_>, _op: &Op) -> Result<(), Trap> {
        Ok(())
    }

    /// Called after an instruction. `_flow` says how the instruction ended.
    fn after(&mut self, _cx: &mut Cx<'_>, _op: &Op, _flow: Flow) -> Result<(), Trap> {
        Ok(())
    }

    /// Returns the error that the watcher has found in the current instruction, if there is one.
    fn found(&self, _launch: &Launch<'_>) -> Option<Report> {
        None
    }

    /// Returns the outstanding operations of a wave of the group. Returns `None` if the watcher does not
    /// track them.
    fn in_flight(&self, _wave: u32) -> Option<InFlight> {
        None
    }

    /// Returns the mask of the bits of a dword that the program has never written. Returns 0 if the watcher
    /// does not track them. `wave` is the number of the wave in the group.
    fn undefined(&self, _wave: u32, _dword: Dword) -> u32 {
        0
    }

    /// Called when a debugger has written bits of a dword of a wave. The watcher must then count these bits
    /// as written.
    fn define(&mut self, _wave: u32, _dword: Dword, _bits: u32) {}

    /// Called before a read. If the watcher returns `Some(value)`, the instruction gets this value instead of
    /// the value in memory. It may be the value of a stale cache line, for example.
    fn read(&mut self, memory: &Memory, access: &MemAccess) -> Result<Option<u32>, Trap>;

    /// Called before all active lanes read LDS in one instruction. Each lane reads one aligned dword at each
    /// of `offsets` from its address. The watcher returns true if it permits all reads. If it returns false,
    /// it must not have changed its state; it is then called again for each single read.
    fn read_lds(&mut self, _addresses: &[u32; 64], _exec: u64, _offsets: &[u32]) -> bool {
        false
    }

    /// Called before all active lanes load from memory in one instruction. Each lane loads `dwords` aligned
    /// dwords from its address on. The watcher returns true if it permits all loads. If it returns false, it
    /// must not have changed its state; it is then called again for each single load.
    fn read_memory(&mut self, _addresses: &[u64; 64], _exec: u64, _dwords: u32, _flags: ModFlags) -> bool {
        false
    }

    /// Called before all active lanes store to memory in one instruction. Each register of `data` has one
    /// dword for each lane. The watcher returns true if it permits all stores. If it returns false, it must
    /// not have changed its state; it is then called again for each single store.
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

    /// Called before all active lanes store to LDS in one instruction. A lane stores at `offset` from its
    /// address. Each register of `data` has one dword for each lane. The result means the same as that of
    /// [`Watch::write_memory`].
    fn write_lds(&mut self, _addresses: &Lanes, _exec: u64, _offset: u32, _data: &[Lanes]) -> bool {
        false
    }

    /// Called before the low bytes of `value` are written. The watcher returns true if it keeps the value
    /// itself, as a write-back cache does. Memory then does not change.
    fn write(&mut self, memory: &Memory, access: &MemAccess, value: u32) -> Result<bool, Trap>;

    /// Called before a read-modify-write of 4 or 8 bytes. Afterwards, the instruction performs the operation
    /// on the contents of memory.
    fn atomic(&mut self, memory: &Memory, access: &MemAccess) -> Result<(), Trap>;

    /// Called for an access to LDS that is beyond the limit in M0. The load returns zero, or the store has no
    /// effect. Only GFX6 to GFX8 check this limit.
    fn limited(&mut self, _access: &MemAccess) -> Result<(), Trap> {
        Ok(())
    }

    /// Called for an access of a lane that is outside the bounds of its buffer resource. The load returns
    /// zero, or the store has no effect.
    fn out_of_range(&mut self, _memory: &Memory, _access: &OutOfRange) -> Result<(), Trap> {
        Ok(())
    }

    /// Called for an instruction that invalidates or writes back caches.
    fn cache(&mut self, memory: &Memory, operation: CacheOp) -> Result<(), Trap>;
}
