//! Tests of scalar memory instructions: offsets on each generation, bounds, stores and atomics.

use super::machine::Machine;
use crate::fault::Trap;

/// Returns a machine in which `s[4:5]` is the buffer's address plus 64, `s[8:11]` is a resource of 64 bytes
/// at that address, and dword `n` of the buffer holds `n`.
fn machine(processor: &str) -> Machine {
    let mut machine = Machine::new(processor);
    let base = machine.buffer + 64;
    let words: Vec<u32> = (0..1024).collect();
    machine.fill(0, &words).s64(4, base).s64(8, base).s64(10, 64);
    machine
}

/// Runs an instruction, and returns `s12`.
fn s12(processor: &str, setup: impl Fn(&mut Machine), text: &str) -> u32 {
    let mut machine = machine(processor);
    setup(&mut machine);
    machine.run(text);
    machine.wave.sgpr[12]
}

#[test]
fn offsets() {
    let load = |processor: &str, offset: &str| {
        let setup = |machine: &mut Machine| machine.wave.sgpr[6] = 12;
        s12(processor, setup, &format!("s_load_dword s12, s[4:5], {offset}"))
    };
    assert_eq!(load("gfx600", "0x3"), 16 + 3, "dwords");
    assert_eq!(load("gfx700", "0x3"), 16 + 3);
    assert_eq!(load("gfx700", "0x100"), 16 + 256, "a literal, in dwords too");
    assert_eq!(load("gfx600", "s6"), 16 + 3, "registers count bytes everywhere");
    assert_eq!(load("gfx803", "0x8"), 16 + 2, "bytes");
    assert_eq!(load("gfx803", "0xfa0"), 16 + 1000);
    assert_eq!(load("gfx906", "-0x8"), 16 - 2);
    assert_eq!(load("gfx1010", "-0x8"), 16 - 2);
    assert_eq!(load("gfx1010", "s6 offset:0x4"), 16 + 4);
    assert_eq!(load("gfx906", "0x7"), 16 + 1, "the low bits do not count");
}

#[test]
fn ends_of_buffers() {
    for processor in ["gfx600", "gfx803", "gfx906", "gfx1030"] {
        let unit = if processor == "gfx600" { 4 } else { 1 };
        let load = |offset: u32, setup: &dyn Fn(&mut Machine)| {
            let offset = offset / unit;
            s12(processor, setup, &format!("s_buffer_load_dwordx2 s[12:13], s[8:11], {offset:#x}"))
        };
        assert_eq!(load(60, &|_| ()), 16 + 15, "{processor}");
        assert_eq!(load(64, &|_| ()), 0, "{processor}: beyond the end");
        // Four records of 32 bytes.
        let with_stride = |machine: &mut Machine| {
            machine.wave.sgpr[9] |= 32 << 16;
            machine.wave.sgpr[10] = 4;
        };
        assert_eq!(load(124, &with_stride), 16 + 31, "{processor}");
        assert_eq!(load(128, &with_stride), 0, "{processor}");
    }
}

#[test]
fn stores() {
    let mut machine = machine("gfx906");
    machine.s64(12, 0x2222_0000_1111);
    machine.run("s_store_dwordx2 s[12:13], s[4:5], 0x8\ns_buffer_store_dwordx2 s[12:13], s[8:11], 0x3c");
    assert_eq!([machine.word(72), machine.word(76)], [0x1111, 0x2222]);
    assert_eq!([machine.word(124), machine.word(128)], [0x1111, 32], "the second is beyond the end");
    let missing = machine.s64(4, 16).run_with("s_store_dword s12, s[4:5], 0x0", None);
    assert!(matches!(missing, Err(Trap::Memory { address: 16, bytes: 4, .. })), "{missing:?}");
}

#[test]
fn atomics() {
    let mut machine = machine("gfx900");
    machine.s64(12, 5);
    machine.run("s_atomic_add s12, s[4:5], 0x0");
    assert_eq!((machine.word(64), machine.wave.sgpr[12]), (21, 5), "nothing is returned");
    machine.run("s_atomic_sub s12, s[4:5], 0x0 glc");
    assert_eq!((machine.word(64), machine.wave.sgpr[12]), (16, 21));
    machine.s64(12, 100).s64(14, 16 | 17 << 32);
    machine.run("s_buffer_atomic_cmpswap_x2 s[12:15], s[8:11], 0x0 glc");
    assert_eq!([machine.word(64), machine.word(68)], [100, 0]);
    assert_eq!(machine.wave.pair(12), 16 | 17 << 32);
    machine.run("s_buffer_atomic_inc s12, s[8:11], 0x40 glc");
    assert_eq!((machine.wave.sgpr[12], machine.word(128)), (0, 32), "beyond the end");
}

#[test]
fn scratch_and_the_rest() {
    let mut machine = machine("gfx900");
    let scratch = machine.wave.scratch_base;
    machine.wave.scratch[70] = 99;
    machine.s64(4, scratch).wave.sgpr[6] = 4;
    machine.run("s_scratch_load_dword s12, s[4:5], 0x118\ns_scratch_store_dword s12, s[4:5], s6");
    assert_eq!((machine.wave.sgpr[12], machine.wave.scratch[64]), (99, 99), "a register counts 64 bytes");
    machine.run("s_memtime s[12:13]\ns_atc_probe 0x7, s[4:5], 0x0");
    assert!(machine.wave.pair(12) > 0, "time passes");
    let mut machine = Machine::new("gfx1010");
    machine.wave.id = 3;
    machine.run("s_get_waveid_in_workgroup s12");
    assert_eq!(machine.wave.sgpr[12], 3);
}
