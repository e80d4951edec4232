//! What strict and weak runs put between instructions and memory: a [`Watch`] is asked at every access.
//!
//! Fast mode has no watcher. Every handler reaches memory through the accessors of `exec::access`, which ask the watcher
//! if there is one; whole-wave shortcuts are taken only where there is none.

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

/// Which memory an access goes to; decides what its address means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Space {
    /// Allocations, by emulated address.
    Global,
    /// The group's LDS, by byte offset.
    Lds,
    /// The wave's scratch, by byte offset in it: dword `n` of lane `l` is at `4 (lanes n + l)`, however it was addressed.
    Scratch,
}

/// One access of one lane, or of the wave as a whole. Nothing wider than a dword: 64-bit atomics are the exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "each watcher reads what it needs")]
pub(crate) struct MemAccess {
    pub(crate) space: Space,
    /// See [`Space`]. In bounds: what is not has faulted before.
    pub(crate) address: u64,
    /// 1 to 4; of atomics 4 or 8. The address need not be a multiple of it.
    pub(crate) bytes: u32,
    /// `u32::MAX` for scalar accesses.
    pub(crate) lane: u32,
    pub(crate) kind: Access,
    /// `glc`, `slc`, `dlc`, ... of the instruction.
    pub(crate) flags: ModFlags,
    /// Whether it goes through the scalar cache.
    pub(crate) scalar: bool,
}

/// An access through a buffer resource that is out of range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutOfRange {
    pub(crate) lane: u32,
    pub(crate) kind: Access,
    pub(crate) bytes: u32,
    /// What the instruction adds to the base: offsets of VGPR and instruction; the index is not in it.
    pub(crate) offset: u32,
    pub(crate) index: Option<u32>,
    /// Offset of the SGPR.
    pub(crate) scalar_offset: u64,
    /// The first SGPR of the resource, and what it holds.
    pub(crate) first: u8,
    pub(crate) words: [u32; 4],
    /// The resource swizzles, as that of private memory does.
    pub(crate) swizzles: bool,
}

/// What an instruction asks of caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "each watcher reads what it needs")]
pub(crate) enum CacheOp {
    /// `buffer_wbinvl1` and, of volatile lines only, `buffer_wbinvl1_vol`; `buffer_wbinvl1_sc` of GFX6.
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
    /// `s_dcache_discard`: of 64 bytes, or 128.
    DiscardScalar { address: u64, bytes: u32 },
}

/// Sees and may change what instructions do to memory. It is made for a wave, and knows which.
pub(crate) trait Watch {
    /// Before an instruction.
    fn before(&mut self, _cx: &mut Cx<'_>, _op: &Op) -> Result<(), Trap> {
        Ok(())
    }

    /// After an instruction, and how it ended.
    fn after(&mut self, _cx: &mut Cx<'_>, _op: &Op, _flow: Flow) -> Result<(), Trap> {
        Ok(())
    }

    /// What it has found wrong with the instruction at hand.
    fn found(&self, _launch: &Launch<'_>) -> Option<Report> {
        None
    }

    /// What is under way of a wave of the group, if the watcher knows it.
    fn in_flight(&self, _wave: u32) -> Option<InFlight> {
        None
    }

    /// The bits of a dword that nothing has written, if the watcher knows it. `wave`: of the group.
    fn undefined(&self, _wave: u32, _dword: Dword) -> u32 {
        0
    }

    /// A debugger has written bits of a dword of a wave: they are defined.
    fn define(&mut self, _wave: u32, _dword: Dword, _bits: u32) {}

    /// Before a read. `Some(value)` replaces what memory holds (a stale cache line, say).
    fn read(&mut self, memory: &Memory, access: &MemAccess) -> Result<Option<u32>, Trap>;

    /// Before reads of LDS by all active lanes: of an aligned dword at each of the offsets from each address. `true`: they
    /// may go on; `false`, and nothing has happened: they are announced one by one.
    fn read_lds(&mut self, _addresses: &[u32; 64], _exec: u64, _offsets: &[u32]) -> bool {
        false
    }

    /// Before loads of memory by all active lanes: of so many aligned dwords, from each address on. `true`: they may go on;
    /// `false`, and nothing has happened: they are announced one by one.
    fn read_memory(&mut self, _addresses: &[u64; 64], _exec: u64, _dwords: u32, _flags: ModFlags) -> bool {
        false
    }

    /// The same of stores: of a dword of each register of `data`.
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

    /// The same of stores to LDS: of a dword of each register of `data`, from the offset to each address on.
    fn write_lds(&mut self, _addresses: &Lanes, _exec: u64, _offset: u32, _data: &[Lanes]) -> bool {
        false
    }

    /// Before a write of the low bytes of `value`. `true`: the watcher keeps it (a write-back cache), memory does not change.
    fn write(&mut self, memory: &Memory, access: &MemAccess, value: u32) -> Result<bool, Trap>;

    /// Before a read-modify-write of 4 or 8 bytes, which then acts on what memory holds.
    fn atomic(&mut self, memory: &Memory, access: &MemAccess) -> Result<(), Trap>;

    /// An access to LDS that M0 does not allow: it reads zero, or writes nothing. Only GFX6 to GFX8 look at M0.
    fn limited(&mut self, _access: &MemAccess) -> Result<(), Trap> {
        Ok(())
    }

    /// A lane's access through a buffer resource that its bounds do not allow: it reads zero, or writes nothing.
    fn out_of_range(&mut self, _memory: &Memory, _access: &OutOfRange) -> Result<(), Trap> {
        Ok(())
    }

    /// An instruction that invalidates or writes back caches.
    fn cache(&mut self, memory: &Memory, operation: CacheOp) -> Result<(), Trap>;
}
