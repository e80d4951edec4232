//! Tests of how FLAT, GLOBAL, SCRATCH and MUBUF instructions form addresses, with tests of apertures, private
//! memory and ranges.

use super::machine::Machine;
use crate::fault::Trap;
use crate::wave::{PRIVATE_APERTURE, SCRATCH_BASE, SHARED_APERTURE, reg};

/// Returns a machine whose dwords have known values: dword `n` of the buffer holds `n`, dword `n` of LDS
/// holds `n + 10000`, and dword `n` of scratch holds `n + 20000`. `s[4:5]` holds the buffer's address.
fn machine(processor: &str, lanes: u32) -> Machine {
    let mut machine = Machine::with_lanes(processor, lanes);
    let words: Vec<u32> = (0..1024).collect();
    machine.fill(0, &words);
    machine.lds.iter_mut().zip(10_000..).for_each(|(word, n)| *word = n);
    machine.wave.scratch.iter_mut().zip(20_000..).for_each(|(word, n)| *word = n);
    machine.wave.sgpr[reg::M0] = !0;
    let base = machine.buffer;
    machine.s64(4, base);
    machine
}

/// Runs a load, and returns `v4` of lanes 0 and 1.
fn load(machine: &mut Machine, text: &str) -> [u32; 2] {
    machine.run(text);
    [machine.wave.vgpr[4][0], machine.wave.vgpr[4][1]]
}

#[test]
fn parts_of_global_addresses() {
    let mut machine = machine("gfx906", 64);
    let base = machine.buffer;
    machine.v64(0, |lane| base + 400 + lane as u64 * 4).v(2, |lane| lane as u32 * 8);
    assert_eq!(load(&mut machine, "global_load_dword v4, v[0:1], off offset:-8"), [98, 99]);
    assert_eq!(load(&mut machine, "global_load_dword v4, v2, s[4:5] offset:16"), [4, 6]);
    assert_eq!(load(&mut machine, "flat_load_dword v4, v[0:1] offset:40"), [110, 111]);
    // The load changes only one half of the destination register; the other half keeps this value. The
    // destination is not part of the address.
    machine.v(4, |lane| 0x7777_7777 + lane as u32);
    assert_eq!(load(&mut machine, "flat_load_short_d16_hi v4, v[0:1] offset:4"), [0x0065_7777, 0x0066_7778]);
    assert_eq!(load(&mut machine, "flat_load_ubyte_d16 v4, v[0:1]"), [0x0065_0064, 0x0066_0065]);
    machine
        .run("global_load_dwordx3 v[4:6], v2, s[4:5]\nglobal_store_dwordx3 v2, v[4:6], s[4:5] offset:2048");
    assert_eq!([machine.word(2048), machine.word(2056), machine.word(2064)], [0, 2, 4]);
    let mut machine = self::machine("gfx1030", 32);
    assert_eq!(load(&mut machine, "global_load_dword_addtid v4, s[4:5] offset:4"), [1, 2]);
    machine.run("global_store_dword_addtid v4, s[4:5] offset:64");
    assert_eq!([machine.word(64), machine.word(68), machine.word(64 + 31 * 4)], [1, 2, 32]);
}

#[test]
fn flat_addresses_reach_all_memories() {
    for (processor, lanes) in
        [("gfx700", 64), ("gfx803", 64), ("gfx906", 64), ("gfx1010", 32), ("gfx1030", 64)]
    {
        let mut machine = machine(processor, lanes);
        let at = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        if matches!(processor, "gfx700" | "gfx803") {
            // The lower half of FLAT_SCRATCH is the size of the scratch memory of one lane. The upper half is
            // an offset in units of 256 bytes.
            machine.s64(machine.wave.flat_scratch.into(), 64 | 4 << 32);
            machine.wave.scratch_base = SCRATCH_BASE + 1024;
        }
        machine.v64(0, |lane| at(SHARED_APERTURE, 8 + lane as u32 * 4));
        assert_eq!(load(&mut machine, "flat_load_dword v4, v[0:1]"), [10_002, 10_003], "{processor}");
        machine.v64(0, |_| at(PRIVATE_APERTURE, 8));
        let second = 20_000 + 2 * lanes;
        assert_eq!(load(&mut machine, "flat_load_dword v4, v[0:1]"), [second, second + 1], "{processor}");
        machine.v64(0, |_| at(PRIVATE_APERTURE, 7)).v(2, |_| 0xaabb);
        machine.run("flat_store_short v[0:1], v2");
        let scratch = &machine.wave.scratch;
        let (low, high) = (scratch[lanes as usize], scratch[2 * lanes as usize]);
        assert_eq!((low >> 24, high & 0xff), (0xbb, 0xaa), "{processor}: across a dword");
        let beyond =
            machine.v64(0, |_| at(PRIVATE_APERTURE, 64)).run_with("flat_load_dword v4, v[0:1]", None);
        assert!(matches!(beyond, Err(Trap::Memory { address: 64, .. })), "{processor}: {beyond:?}");
    }
}

#[test]
fn scratch_addresses() {
    let mut machine = machine("gfx1030", 32);
    machine.wave.sgpr[6] = 4;
    machine.v(0, |lane| 4 * (lane as u32 % 2));
    assert_eq!(load(&mut machine, "scratch_load_dword v4, off, s6 offset:4"), [20_064, 20_065]);
    assert_eq!(load(&mut machine, "scratch_load_dword v4, v0, off"), [20_000, 20_033]);
    assert_eq!(load(&mut machine, "scratch_load_dword v4, off, off offset:12"), [20_096, 20_097]);
    machine.run("scratch_load_dwordx4 v[4:7], off, s6\nscratch_store_dwordx4 off, v[4:7], off offset:32");
    assert_eq!(machine.wave.scratch[8 * 32..8 * 32 + 2], [20_032, 20_033]);
    assert_eq!(machine.wave.scratch[11 * 32 + 5], 20_133);
}

#[test]
fn loads_to_lds() {
    let mut machine = machine("gfx906", 64);
    machine.wave.sgpr[reg::M0] = 256;
    machine.v(2, |lane| lane as u32 * 8).s64(10, 4096);
    let base = machine.buffer;
    machine.s64(8, base);
    machine.run("buffer_load_dword v2, s[8:11], 0 offen offset:8 lds");
    assert_eq!(machine.lds[66..68], [2, 4], "offset and M0, a dword a lane");
    machine.wave.sgpr[reg::M0] = 16;
    machine.run("buffer_store_lds_dword s[8:11], 0 offset:4 lds");
    // The offset of 4 is also added to the address in LDS. All lanes store to one location, where the value
    // of the last lane remains.
    assert_eq!([machine.word(4), machine.word(8)], [machine.lds[5 + 63], 2]);
    let base = machine.buffer;
    machine.wave.sgpr[reg::M0] = 512;
    // The instruction is `global_load_sbyte v[0:1], off offset:4 lds`, which has no assembler syntax.
    machine.v64(0, |lane| base + lane as u64).run(".long 0xdc44a004, 0x007f0000");
    assert_eq!(machine.lds[129..131], [6, 0], "bytes of what was stored");
}

/// gfx942 has opcodes of their own for loads to LDS.
#[test]
fn loads_to_lds_by_name() {
    let mut machine = machine("gfx942", 64);
    let base = machine.buffer;
    machine.wave.sgpr[reg::M0] = 512;
    machine.v64(0, |lane| base + lane as u64).run("global_load_lds_sbyte v[0:1], off offset:4");
    assert_eq!(machine.lds[129..134], [1, 0, 0, 0, 2], "the bytes of dwords 1 and 2");
    machine.v(2, |lane| lane as u32 * 4).s64(4, base).run("global_load_lds_dword v2, s[4:5]");
    assert_eq!(machine.lds[128..131], [0, 1, 2]);
}

#[test]
fn addresses_of_64_bits_beside_a_resource() {
    for processor in ["gfx600", "gfx700"] {
        let mut machine = machine(processor, 64);
        let base = machine.buffer;
        // clang uses such resources with base 0 and 0 records.
        machine.s64(8, 0).s64(10, 0xf000 << 32).v64(0, |lane| base + lane as u64 * 4);
        machine.wave.sgpr[6] = 8;
        let text = "buffer_load_dword v4, v[0:1], s[8:11], s6 addr64 offset:4";
        assert_eq!(load(&mut machine, text), [3, 4], "{processor}");
        machine.s64(8, base).v64(0, |lane| lane as u64 * 12);
        assert_eq!(
            load(&mut machine, "buffer_load_dword v4, v[0:1], s[8:11], 0 addr64"),
            [0, 3],
            "{processor}"
        );
    }
}

#[test]
fn parts_of_buffer_addresses() {
    for processor in ["gfx600", "gfx700", "gfx803", "gfx906", "gfx1010"] {
        let mut machine = machine(processor, 64);
        let base = machine.buffer;
        // Records of 16 bytes, addressed by index and offset.
        let records = if processor == "gfx803" { 4096 } else { 256 };
        machine.s64(8, base | 16 << 48).s64(10, records).v(0, |lane| lane as u32 + 1).v(1, |_| 4);
        let both = "buffer_load_dword v4, v[0:1], s[8:11], 0 idxen offen offset:8";
        assert_eq!(load(&mut machine, both), [7, 11], "{processor}");
        machine.wave.sgpr[6] = 32;
        assert_eq!(
            load(&mut machine, "buffer_load_dword v4, v0, s[8:11], s6 idxen"),
            [12, 16],
            "{processor}"
        );
        machine.v(0, |lane| lane as u32 * 256);
        assert_eq!(load(&mut machine, "buffer_load_dword v4, v0, s[8:11], 0 idxen"), [0, 0], "{processor}");
        // These accesses are out of range. Stores have no effect, and atomics return zero.
        machine.v(4, |_| 77).v(5, |_| 77).exec(2);
        machine.run(
            "buffer_store_dword v4, v0, s[8:11], 0 idxen\nbuffer_atomic_add v5, v0, s[8:11], 0 idxen glc",
        );
        assert_eq!((machine.wave.vgpr[5][0], machine.wave.vgpr[5][1]), (77, 0), "{processor}");
    }
}

#[test]
fn dwords_are_in_range_one_by_one() {
    let mut machine = machine("gfx906", 64);
    let base = machine.buffer;
    machine.s64(8, base).s64(10, 24).exec(1);
    machine.run("buffer_load_dwordx4 v[4:7], off, s[8:11], 0 offset:16");
    assert_eq!([4, 5, 6, 7].map(|at: usize| machine.wave.vgpr[at][0]), [4, 5, 0, 0]);
    machine.v(8, |_| 99).run("buffer_load_dwordx2 v[6:8], off, s[8:11], 0 tfe");
    assert_eq!([6, 7, 8].map(|at: usize| machine.wave.vgpr[at][0]), [0, 1, 0], "tfe: all pages are there");
}
