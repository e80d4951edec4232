//! Tests of LDS instructions. The expected values are computed by hand from the manuals' pseudo-code.

use super::machine::Machine;
use crate::fault::Trap;
use crate::wave::reg;

/// Returns a machine in which `v0` is an address, dword `n` of LDS holds `n`, and only lane 0 is active.
fn machine(processor: &str, address: u32) -> Machine {
    let mut machine = Machine::new(processor);
    machine.lds.iter_mut().zip(0..).for_each(|(word, n)| *word = n);
    machine.wave.sgpr[reg::M0] = !0;
    machine.v(0, |_| address).exec(1);
    machine
}

/// Runs an instruction with the values 44, 55, 66 and 77 in `v[4:7]`. Returns the values of `v[4:7]` in lane
/// 0 afterwards.
fn v4(machine: &mut Machine, text: &str) -> [u32; 4] {
    for (register, value) in [(4, 44), (5, 55), (6, 66), (7, 77)] {
        machine.v(register, |_| value);
    }
    machine.run(text);
    std::array::from_fn(|at| machine.wave.vgpr[4 + at][0])
}

#[test]
fn reads_of_each_size() {
    let read = |text: &str| v4(&mut machine("gfx906", 16), text);
    assert_eq!(read("ds_read_b96 v[4:6], v0 offset:16"), [8, 9, 10, 77]);
    assert_eq!(read("ds_read_b128 v[4:7], v0"), [4, 5, 6, 7]);
    assert_eq!(read("ds_read2_b32 v[4:5], v0 offset0:2 offset1:1"), [6, 5, 66, 77]);
    assert_eq!(read("ds_read2_b64 v[4:7], v0 offset0:3 offset1:1"), [10, 11, 6, 7]);
    assert_eq!(read("ds_read2st64_b32 v[4:5], v0 offset0:1 offset1:2"), [68, 132, 66, 77]);
    assert_eq!(read("ds_read2st64_b64 v[4:7], v0 offset1:1"), [4, 5, 132, 133]);
    assert_eq!(read("ds_read_b64 v[4:5], v0 offset:1")[0], 0x0500_0000, "any address on GFX9");
}

#[test]
fn parts_of_registers() {
    let read = |text: &str| {
        let mut machine = machine("gfx906", 16);
        machine.lds[4] = 0x8182_83f4;
        machine.v(5, |_| 0x1111_2222);
        machine.run(text);
        machine.wave.vgpr[5][0]
    };
    assert_eq!(read("ds_read_u8 v5, v0"), 0xf4);
    assert_eq!(read("ds_read_i8 v5, v0"), 0xffff_fff4);
    assert_eq!(read("ds_read_u16 v5, v0 offset:2"), 0x8182);
    assert_eq!(read("ds_read_i16 v5, v0 offset:1"), 0xffff_8283);
    assert_eq!(read("ds_read_u8_d16 v5, v0"), 0x1111_00f4);
    assert_eq!(read("ds_read_i8_d16 v5, v0"), 0x1111_fff4);
    assert_eq!(read("ds_read_i8_d16_hi v5, v0"), 0xfff4_2222);
    assert_eq!(read("ds_read_u16_d16 v5, v0"), 0x1111_83f4);
    assert_eq!(read("ds_read_u16_d16_hi v5, v0"), 0x83f4_2222);
    assert_eq!(read("ds_write_b8_d16_hi v0, v5\nds_read_b32 v5, v0"), 0x8182_8311);
    assert_eq!(read("ds_write_b16_d16_hi v0, v5\nds_read_b32 v5, v0"), 0x8182_1111);
    assert_eq!(read("ds_write_b16 v0, v5 offset:2\nds_read_b32 v5, v0"), 0x2222_83f4);
    assert_eq!(read("ds_write_b8 v0, v5 offset:3\nds_read_b32 v5, v0"), 0x2282_83f4);
}

#[test]
fn exchanges_of_two() {
    let mut machine = machine("gfx906", 16);
    assert_eq!(v4(&mut machine, "ds_wrxchg2_rtn_b32 v[4:5], v0, v4, v5 offset1:2"), [4, 6, 66, 77]);
    assert_eq!([machine.lds[4], machine.lds[6]], [44, 55]);
    let old = v4(&mut machine, "ds_wrxchg2st64_rtn_b64 v[4:7], v0, v[4:5], v[6:7] offset1:1");
    assert_eq!(old, [44, 5, 132, 133]);
    assert_eq!([machine.lds[4], machine.lds[5], machine.lds[132], machine.lds[133]], [44, 55, 66, 77]);
}

#[test]
fn order_of_operands() {
    let mut machine = machine("gfx906", 16);
    // The comparison value is the first operand.
    machine.v(2, |_| 4).v(3, |_| 9).run("ds_cmpst_rtn_b32 v4, v0, v2, v3");
    assert_eq!((machine.wave.vgpr[4][0], machine.lds[4]), (4, 9));
    // The instruction first clears the bits of the mask, and then sets the bits of the value.
    machine.lds[4] = 0xff;
    machine.v(2, |_| 0x0f).v(3, |_| 0x102).run("ds_mskor_b32 v0, v2, v3");
    assert_eq!(machine.lds[4], 0x1f2);
    machine.lds[4] = 3;
    machine.v(2, |_| 10).run("ds_rsub_rtn_u32 v4, v0, v2");
    assert_eq!((machine.wave.vgpr[4][0], machine.lds[4]), (3, 7));
    // Subtracts 5, or adds 100 if the value is less than 5.
    machine.v(2, |_| 5).v(3, |_| 100).run("ds_wrap_rtn_b32 v4, v0, v2, v3\nds_wrap_rtn_b32 v5, v0, v2, v3");
    assert_eq!((machine.wave.vgpr[4][0], machine.wave.vgpr[5][0], machine.lds[4]), (7, 2, 102));
    // Each dword is exchanged separately. Only the second new value has its highest bit set, so only the
    // second dword changes.
    machine.lds[4..6].copy_from_slice(&[1, 2]);
    machine.v(2, |_| 8).v(3, |_| 0x8000_0009).run("ds_condxchg32_rtn_b64 v[4:5], v0, v[2:3]");
    assert_eq!([machine.wave.vgpr[4][0], machine.wave.vgpr[5][0]], [1, 2]);
    assert_eq!(machine.lds[4..6], [1, 9]);
}

#[test]
fn floats() {
    let mut machine = machine("gfx906", 16);
    let f = |value: f32| value.to_bits();
    machine.lds[4] = f(1.5);
    machine.v(2, |_| f(2.25)).run("ds_add_rtn_f32 v4, v0, v2\nds_max_rtn_f32 v5, v0, v2\nds_min_f32 v0, v2");
    assert_eq!(
        [machine.wave.vgpr[4][0], machine.wave.vgpr[5][0], machine.lds[4]],
        [f(1.5), f(3.75), f(2.25)]
    );
    // The comparison is numeric, so that -0 equals 0.
    machine.lds[4] = f(-0.0);
    machine.v(2, |_| 0).v(3, |_| f(7.0)).run("ds_cmpst_f32 v0, v2, v3");
    assert_eq!(machine.lds[4], f(7.0));
    machine.lds[4] = 1;
    machine.v(2, |_| 1).run("ds_add_f32 v0, v2");
    assert_eq!(machine.lds[4], 2, "denormals, as MODE allows");
    machine.wave.set_mode(0);
    machine.run("ds_add_f32 v0, v2");
    assert_eq!(machine.lds[4], 0, "denormals, as MODE flushes");
    let mut machine = self::machine("gfx90a", 16);
    machine.lds[4..6].copy_from_slice(&[0, 0x3ff0_0000]);
    machine.v64(2, |_| 2.5f64.to_bits()).run("ds_add_rtn_f64 v[4:5], v0, v[2:3]");
    assert_eq!(f64::from_bits(u64::from(machine.lds[5]) << 32 | u64::from(machine.lds[4])), 3.5);
}

#[test]
fn operands_in_lds() {
    // The instruction reads its operand from LDS: first from 3 dwords after the updated location, and in the
    // second test from 2 dwords before it.
    let mut machine = machine("gfx906", 16);
    machine.run("ds_add_src2_u32 v0 offset:3");
    assert_eq!(machine.lds[4], 4 + 7);
    machine.run("ds_max_src2_i64 v0 offset:32766");
    assert_eq!(machine.lds[4..6], [11, 5], "{:?}", &machine.lds[..8]);
    machine.run("ds_write_src2_b64 v0 offset:4");
    assert_eq!(machine.lds[4..6], [8, 9]);
    // The distance is in the upper bits of the address.
    machine.v(0, |_| 16 | 5 << 17).run("ds_write_src2_b32 v0 offset:32768");
    assert_eq!(machine.lds[4], 9);
}

#[test]
fn addresses_in_m0() {
    let mut machine = machine("gfx906", 0);
    machine.exec(0b1011).wave.sgpr[reg::M0] = 64;
    machine.v(4, |lane| lane as u32 + 500);
    machine.run("ds_read_addtid_b32 v5 offset:8\nds_write_addtid_b32 v4 offset:128");
    assert_eq!(machine.wave.vgpr[5][..4], [18, 19, 0, 21]);
    assert_eq!(machine.lds[48..52], [500, 501, 50, 503]);
    machine.run("ds_append v6 offset:4\nds_consume v7 offset:4");
    assert_eq!((machine.wave.vgpr[6][3], machine.wave.vgpr[7][0], machine.lds[17]), (17, 20, 17));
    assert_eq!(machine.wave.vgpr[6][2], 0, "lane 2 is not active");
}

#[test]
fn m0_ends_lds_before_gfx9() {
    for processor in ["gfx600", "gfx700", "gfx803"] {
        let mut machine = machine(processor, 64);
        machine.wave.sgpr[reg::M0] = 68;
        machine.v(4, |_| 7).v(5, |_| 7);
        machine.run("ds_read_b32 v4, v0\nds_read_b32 v5, v0 offset:4\nds_write_b32 v0, v0 offset:4");
        assert_eq!(
            [machine.wave.vgpr[4][0], machine.wave.vgpr[5][0], machine.lds[17]],
            [16, 0, 17],
            "{processor}"
        );
        machine.run("ds_add_rtn_u32 v4, v0, v0 offset:4");
        assert_eq!([machine.wave.vgpr[4][0], machine.lds[17]], [0, 17], "{processor}");
        let misaligned = machine.run_with("ds_read_b64 v[4:5], v0 offset:4", None);
        assert!(matches!(misaligned, Err(Trap::Memory { address: 68, bytes: 8, .. })), "{misaligned:?}");
    }
    let mut machine = machine("gfx906", 64);
    machine.wave.sgpr[reg::M0] = 0;
    machine.run("ds_read_b32 v4, v0");
    assert_eq!(machine.wave.vgpr[4][0], 16, "GFX9 does not look at M0");
    let outside = machine.run_with("ds_read_b32 v4, v0 offset:4096", None);
    assert!(matches!(outside, Err(Trap::Memory { address: 4160, .. })), "{outside:?}");
}

/// Returns, for each lane, the lane that a swizzle reads from.
fn swizzle(processor: &str, control: u32) -> Vec<u32> {
    let mut machine = Machine::new(processor);
    machine.v(0, |lane| lane as u32);
    machine.run(&format!("ds_swizzle_b32 v4, v0 offset:{control}"));
    machine.wave.vgpr[4].to_vec()
}

#[test]
fn swizzles() {
    let lanes = |from: fn(u32) -> u32| (0..64).map(from).collect::<Vec<u32>>();
    // The tested patterns reverse each group of four lanes, swap neighbouring lanes, and copy lane 0 of each
    // 8 lanes to all 8.
    assert_eq!(swizzle("gfx803", 0x8000 | 0b00_01_10_11), lanes(|lane| lane ^ 3));
    assert_eq!(swizzle("gfx803", 0x1f | 1 << 10), lanes(|lane| lane ^ 1));
    assert_eq!(swizzle("gfx906", 0x18), lanes(|lane| lane & !7));
    // The tested patterns rotate by 3 lanes to the left among 32 lanes, and by 2 lanes to the right with some
    // bits of the lane number kept.
    assert_eq!(swizzle("gfx906", 0xc000 | 3 << 5), lanes(|lane| lane & 32 | (lane + 3) & 31));
    let masked = |lane: u32| lane & 32 | lane & 0x18 | lane.wrapping_sub(2) & 7;
    assert_eq!(swizzle("gfx906", 0xc000 | 1 << 10 | 2 << 5 | 0x18), lanes(masked));
    // The tested patterns reverse all five bits of the lane number, and only some of its bits.
    assert_eq!(swizzle("gfx906", 0xe000), lanes(|lane| lane & 32 | (lane & 31).reverse_bits() >> 27));
    assert_eq!(swizzle("gfx906", 0xe000 | 0x1f), lanes(|lane| lane), "nothing moves");
    let lower = |lane: u32| lane & 0x38 | (lane & 1) << 2 | lane & 2 | lane >> 2 & 1;
    assert_eq!(swizzle("gfx906", 0xe018), lanes(lower));
}

#[test]
fn permutations() {
    let run = |processor: &str, text: &str| {
        let mut machine = Machine::new(processor);
        machine.v(0, |lane| (lane as u32 + 1) * 4).v(2, |lane| lane as u32 + 100);
        machine.run(text);
        let got = machine.wave.vgpr[4];
        [got[0], got[1], got[31], got[32], got[63]]
    };
    assert_eq!(run("gfx803", "ds_bpermute_b32 v4, v0, v2"), [101, 102, 132, 133, 100]);
    assert_eq!(run("gfx906", "ds_permute_b32 v4, v0, v2 offset:4"), [162, 163, 129, 130, 161]);
    // GFX10 moves data only within halves of 32 lanes.
    assert_eq!(run("gfx1010", "ds_bpermute_b32 v4, v0, v2"), [101, 102, 100, 133, 132]);
    assert_eq!(run("gfx1030", "ds_permute_b32 v4, v0, v2"), [131, 100, 130, 163, 162]);
}

#[test]
fn global_data_share_is_refused() {
    for text in ["ds_add_u32 v0, v2 gds", "ds_gws_barrier v0 gds", "ds_ordered_count v0, v2 gds"] {
        let mut machine = machine("gfx906", 0);
        assert!(matches!(machine.run_with(text, None), Err(Trap::Unsupported)), "{text}");
    }
}
