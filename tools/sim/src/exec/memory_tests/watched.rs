//! Tests that a watcher sees every access of every memory instruction, and that it can change what the access
//! does.

use super::machine::Machine;
use crate::fault::{Access, Trap};
use crate::memory::Memory;
use crate::watch::{CacheOp, MemAccess, Space, Watch};
use isa::ModFlags;

/// A watcher that records all accesses.
#[derive(Default)]
struct Recorder {
    seen: Vec<MemAccess>,
    operations: Vec<CacheOp>,
    /// Value that reads return in place of memory contents.
    stale: Option<u32>,
    /// Whether the watcher keeps writes to itself, so that they do not reach memory.
    keeps: bool,
}

impl Watch for Recorder {
    fn read(&mut self, _: &Memory, access: &MemAccess) -> Result<Option<u32>, Trap> {
        self.seen.push(*access);
        Ok(self.stale)
    }

    fn write(&mut self, _: &Memory, access: &MemAccess, _: u32) -> Result<bool, Trap> {
        self.seen.push(*access);
        Ok(self.keeps)
    }

    fn atomic(&mut self, _: &Memory, access: &MemAccess) -> Result<(), Trap> {
        self.seen.push(*access);
        Ok(())
    }

    fn cache(&mut self, _: &Memory, operation: CacheOp) -> Result<(), Trap> {
        self.operations.push(operation);
        Ok(())
    }
}

/// Returns a machine in which `v[0:1]` and `s[4:5]` hold the buffer's address, `s[8:11]` is a resource for
/// the buffer, and only lane 0 is active.
fn machine(processor: &str) -> Machine {
    let mut machine = Machine::new(processor);
    let at = machine.buffer;
    machine.v64(0, |_| at).s64(4, at).s64(8, at).s64(10, 256 | 0x0002_7fac << 32).exec(1);
    machine
}

/// Runs an instruction and returns its accesses. For each access, this is the kind of memory, the offset (in
/// the buffer, if the memory is global), the number of bytes, and the kind of access.
fn accesses(processor: &str, text: &str) -> Vec<(Space, u64, u32, Access)> {
    let mut machine = machine(processor);
    let mut recorder = Recorder::default();
    let done = machine.run_with(text, Some(&mut recorder));
    assert!(done.is_ok(), "{text}: {done:?}");
    let base = |space| if space == Space::Global { machine.buffer } else { 0 };
    recorder
        .seen
        .iter()
        .map(|seen| (seen.space, seen.address - base(seen.space), seen.bytes, seen.kind))
        .collect()
}

#[test]
fn each_instruction_is_seen() {
    use Access::*;
    use Space::*;
    let check = |text: &str, expected: &[(Space, u64, u32, Access)]| {
        assert_eq!(accesses("gfx906", text), expected, "{text}");
    };
    check("global_load_dwordx2 v[2:3], v[0:1], off", &[(Global, 0, 4, Read), (Global, 4, 4, Read)]);
    check("global_load_ubyte v2, v[0:1], off offset:3", &[(Global, 3, 1, Read)]);
    check("flat_store_short v[0:1], v2 offset:2", &[(Global, 2, 2, Write)]);
    check("global_atomic_add_x2 v[0:1], v[2:3], off", &[(Global, 0, 8, Atomic)]);
    check("buffer_load_dword v2, off, s[8:11], 0 offset:8", &[(Global, 8, 4, Read)]);
    check("buffer_store_byte v2, off, s[8:11], 0 offset:9", &[(Global, 9, 1, Write)]);
    check("buffer_atomic_umax v2, off, s[8:11], 0 offset:16", &[(Global, 16, 4, Atomic)]);
    check("s_load_dwordx2 s[12:13], s[4:5], 0x8", &[(Global, 8, 4, Read), (Global, 12, 4, Read)]);
    check("s_buffer_load_dword s12, s[8:11], 0x4", &[(Global, 4, 4, Read)]);
    check("s_store_dword s12, s[4:5], 0x20", &[(Global, 32, 4, Write)]);
    let v2 = "v_mov_b32 v2, 4\n";
    check(&format!("{v2}ds_read_b64 v[4:5], v2 offset:4"), &[(Lds, 8, 4, Read), (Lds, 12, 4, Read)]);
    check(&format!("{v2}ds_write2_b32 v2, v4, v5 offset1:1"), &[(Lds, 4, 4, Write), (Lds, 8, 4, Write)]);
    check(&format!("{v2}ds_read_u16 v4, v2 offset:2"), &[(Lds, 6, 2, Read)]);
    check(&format!("{v2}ds_add_u32 v2, v4"), &[(Lds, 4, 4, Atomic)]);
    check(&format!("{v2}scratch_store_dword v2, v4, off"), &[(Scratch, 256, 4, Write)]);
    check(&format!("{v2}scratch_load_ushort v4, v2, off offset:2"), &[(Scratch, 258, 2, Read)]);
}

#[test]
fn scopes_and_lanes_are_told() {
    let mut machine = machine("gfx906");
    machine.exec(0b101);
    let mut recorder = Recorder::default();
    let text = "global_load_dword v2, v[0:1], off glc slc\ns_load_dword s12, s[4:5], 0x0";
    assert!(machine.run_with(text, Some(&mut recorder)).is_ok());
    let seen: Vec<_> = recorder.seen.iter().map(|seen| (seen.lane, seen.flags, seen.scalar)).collect();
    let hints = ModFlags::GLC | ModFlags::SLC;
    assert_eq!(seen, [(0, hints, false), (2, hints, false), (u32::MAX, ModFlags::empty(), true)]);
}

#[test]
fn values_can_be_kept_back() {
    let mut machine = machine("gfx906");
    machine.fill(0, &[7]);
    let mut recorder = Recorder { stale: Some(99), keeps: true, ..Recorder::default() };
    let text = "global_load_dword v2, v[0:1], off\nglobal_store_dword v[0:1], v2, off";
    assert!(machine.run_with(text, Some(&mut recorder)).is_ok());
    assert_eq!((machine.wave.vgpr[2][0], machine.word(0)), (99, 7));
    machine.run(text);
    assert_eq!((machine.wave.vgpr[2][0], machine.word(0)), (7, 7), "nobody watches");
}

#[test]
fn cache_instructions_are_told() {
    let told = |processor: &str, text: &str| {
        let mut recorder = Recorder::default();
        assert!(machine(processor).run_with(text, Some(&mut recorder)).is_ok(), "{text}");
        recorder.operations
    };
    assert_eq!(
        told("gfx803", "buffer_wbinvl1\nbuffer_wbinvl1_vol"),
        [CacheOp::InvalidateL1 { volatile: false }, CacheOp::InvalidateL1 { volatile: true }]
    );
    assert_eq!(told("gfx600", "buffer_wbinvl1_sc"), [CacheOp::InvalidateL1 { volatile: false }]);
    assert_eq!(
        told("gfx1010", "buffer_gl0_inv\nbuffer_gl1_inv\ns_gl1_inv"),
        [CacheOp::InvalidateGl0, CacheOp::InvalidateGl1, CacheOp::InvalidateGl1]
    );
    assert_eq!(told("gfx90a", "buffer_wbl2\nbuffer_invl2"), [CacheOp::WriteBackL2, CacheOp::InvalidateL2]);
    assert_eq!(
        told("gfx942", "buffer_wbl2 sc1\nbuffer_inv sc0\nbuffer_inv sc1"),
        [
            CacheOp::WriteBackL2,
            CacheOp::InvalidateL1 { volatile: false },
            CacheOp::InvalidateL1 { volatile: false },
            CacheOp::InvalidateL2
        ]
    );
    assert_eq!(
        told("gfx900", "s_dcache_inv\ns_dcache_wb\ns_dcache_inv_vol\ns_dcache_wb_vol"),
        [
            CacheOp::InvalidateScalar { volatile: false },
            CacheOp::WriteBackScalar { volatile: false },
            CacheOp::InvalidateScalar { volatile: true },
            CacheOp::WriteBackScalar { volatile: true }
        ]
    );
    assert!(matches!(
        told("gfx900", "s_dcache_discard_x2 s[4:5], 0x0")[..],
        [CacheOp::DiscardScalar { bytes: 128, .. }]
    ));
}
