//! Tests of integers, packed halves and dot products: overflow and carries.

use super::*;

#[test]
fn saturation() {
    expect("gfx906", "v_add_u32 v2, v0, v1 clamp", &[0xffff_fff0, 0x20], u32::MAX);
    expect("gfx906", "v_sub_u32 v2, v0, v1 clamp", &[1, 2], 0);
    expect("gfx1010", "v_sub_nc_i32 v2, v0, v1 clamp", &[0x8000_0000, 1], 0x8000_0000);
    expect("gfx1010", "v_add_nc_u16 v2, v0, v1 clamp", &[0xffff, 2, 0x1234_0000], 0x1234_ffff);
    expect("gfx906", "v_add_i16 v2, v0, v1 clamp", &[0x8000, 0xffff], 0x8000);
    expect("gfx803", "v_mad_u32_u24 v2, v0, v1, v3 clamp", &[0xff_ffff, 0xff_ffff, 0, 1], u32::MAX);
    expect("gfx803", "v_mad_i32_i24 v2, v0, v1, v3 clamp", &[0x80_0000, 0x7f_ffff, 0, 0], 0x8000_0000);
    expect("gfx803", "v_mul_u32_u24 v2, v0, v1", &[0xff_ffff, 0xff_ffff], 0xfe00_0001);
    expect("gfx803", "v_mad_u16 v2, v0, v1, v3 clamp", &[0x100, 0x100, 0, 0], 0xffff);
    expect("gfx906", "v_mad_i32_i16 v2, v0, v1, v3 op_sel:[1,0,0,0]", &[0xfffe_0000, 3, 0, 10], 4);
    expect("gfx906", "v_sad_u32 v2, v0, v1, v3 clamp", &[0, 2, 0, u32::MAX], u32::MAX);
    expect("gfx906", "v_sad_u32 v2, v0, v1, v3", &[0, 2, 0, u32::MAX], 1);
    expect64(USUAL, "gfx906", "v_mad_u64_u32 v[6:7], vcc, v0, v2, v[4:5] clamp", &[2, 3, u64::MAX], u64::MAX);
    expect64(USUAL, "gfx906", "v_mad_u64_u32 v[6:7], vcc, v0, v2, v[4:5]", &[2, 3, u64::MAX], 5);
}

#[test]
fn carries() {
    let carry = |processor, lanes, text| {
        Machine::with_lanes(processor, lanes).vcc(1).vgprs(&[u32::MAX, 0]).lanes(1, |lane| lane).run(text)
    };
    // Lane 0 computes -1 + 0; the other lanes have a carry.
    for (processor, text) in [
        ("gfx600", "v_add_i32 v2, vcc, v0, v1"),
        ("gfx803", "v_add_u32 v2, vcc, v0, v1"),
        ("gfx906", "v_add_co_u32 v2, vcc, v0, v1"),
    ] {
        let machine = carry(processor, 64, text);
        assert_eq!((machine.wave.vcc(), machine.first(2)), (!1, [u32::MAX, 0, 1]), "{text}");
    }
    // Only lane 0 has a carry-in in VCC.
    let machine = carry("gfx906", 64, "v_addc_co_u32 v2, vcc, v0, v1, vcc");
    assert_eq!((machine.wave.vcc(), machine.first(2)), (!0, [0, 0, 1]));
    let machine = carry("gfx1010", 32, "v_sub_co_ci_u32 v2, s4, v1, v0, vcc_lo");
    assert_eq!((machine.wave.sgpr[4], machine.wave.sgpr[5]), (u32::MAX, 0));
    assert_eq!(machine.first(2), [0, 2, 3]);
    let machine = carry("gfx1010", 64, "v_subrev_co_u32 v2, s[4:5], v0, v1");
    assert_eq!((machine.wave.pair(4), machine.first(2)), (!0, [1, 2, 3]));
    let machine = carry("gfx803", 64, "v_subb_u32 v2, vcc, v1, v0, vcc clamp");
    assert_eq!(machine.first(2), [0, 0, 0]);
}

#[test]
fn names_of_old() {
    expect("gfx600", "v_lshl_b32 v2, v0, v1", &[3, 33], 6);
    expect("gfx600", "v_lshr_b32 v2, v0, v1", &[0x8000_0000, 31], 1);
    expect("gfx600", "v_ashr_i32 v2, v0, v1", &[0x8000_0000, 31], u32::MAX);
    expect64(USUAL, "gfx600", "v_ashr_i64 v[6:7], v[0:1], v2", &[1 << 63, 60], -8i64 as u64);
    expect("gfx700", "v_mul_lo_i32 v2, v0, v1", &[u32::MAX, 7], -7i32 as u32);
    expect("gfx1030", "v_xor3_b32 v2, v0, v1, v3", &[1, 2, 0, 4], 7);
    expect("gfx600", "v_cvt_pkaccum_u8_f32 v2, v0, 2", &[f(7.5), 0, 0x1122_3344], 0x1108_3344);
    expect("gfx906", "v_screen_partition_4se_b32 v2, v0", &[0x1ff], 1);
    expect("gfx906", "v_screen_partition_4se_b32 v2, v0", &[0x11], 2);
}

#[test]
fn differences_of_four() {
    let words = |machine: &Machine| [machine.v(8, 0), machine.v(9, 0), machine.v(10, 0), machine.v(11, 0)];
    // Bytes 1 to 8 against 1 2 3 4.
    let values = [0x0403_0201, 0x0807_0605, 0x0403_0201, 0, 100, 200, 300, u32::MAX];
    let machine =
        Machine::with_lanes("gfx700", 64).vgprs(&values).run("v_mqsad_u32_u8 v[8:11], v[0:1], v2, v[4:7]");
    assert_eq!(words(&machine), [100, 204, 308, 11]);
    let machine = Machine::with_lanes("gfx906", 64)
        .vgprs(&values)
        .run("v_mqsad_u32_u8 v[8:11], v[0:1], v2, v[4:7] clamp");
    assert_eq!(words(&machine)[3], u32::MAX);
    let sums = "v_qsad_pk_u16_u8 v[6:7], v[0:1], v2, v[4:5]";
    expect64(
        USUAL,
        "gfx700",
        sums,
        &[0x0807_0605_0403_0201, 0x0403_0201, 0x0001_0001_0001_0001],
        0x000d_0009_0005_0001,
    );
}

#[test]
fn packed_halves() {
    expect("gfx906", "v_pk_add_i16 v2, v0, v1 clamp", &[0x7fff_8000, 0x0001_ffff], 0x7fff_8000);
    expect(
        "gfx906",
        "v_pk_add_u16 v2, v0, v1 op_sel:[1,0] op_sel_hi:[0,1]",
        &[0x0002_0001, 0x0020_0010],
        0x0021_0012,
    );
    expect("gfx906", "v_pk_mad_u16 v2, v0, v1, v3", &[0x0002_0003, 0x0004_0005, 0, 0x0001_0001], 0x0009_0010);
    expect("gfx906", "v_pk_ashrrev_i16 v2, v0, v1", &[0x0004_0001, 0x8000_8000], 0xf800_c000);
    expect(
        "gfx906",
        "v_pk_add_f16 v2, v0, v1 neg_lo:[0,1] neg_hi:[1,0]",
        &[0x3c00_4000, 0x4000_3c00],
        0x3c00_3c00,
    );
    expect("gfx906", "v_pk_mul_f16 v2, v0, v1 clamp", &[0x4000_b800, 0x4000_3c00], 0x3c00_0000);
    expect("gfx908", "v_pk_fmac_f16 v2, v0, v1", &[0x4000_3c00, 0x4200_4200, 0x3c00_3c00], 0x4700_4400);
    expect("gfx906", "v_sat_pk_u8_i16 v2, v0", &[0x0123_fff0], 0xff00);
}

#[test]
fn mixed_precision() {
    expect(
        "gfx906",
        "v_fma_mix_f32 v2, v0, v1, v3 op_sel_hi:[1,0,0] op_sel:[1,0,0]",
        &[0x4000_0000, f(3.0), 0, f(0.5)],
        f(6.5),
    );
    expect("gfx906", "v_fma_mixhi_f16 v2, v0, v1, v3", &[f(2.0), f(3.0), 0x1234_5678, f(1.0)], 0x4700_5678);
    expect(
        "gfx900",
        "v_mad_mixlo_f16 v2, v0, |v1|, -v3",
        &[f(2.0), f(-3.0), 0x1234_5678, f(1.0)],
        0x1234_4500,
    );
    expect("gfx900", "v_mad_mix_f32 v2, v0, v1, v3", &[1, f(1.0), 0, 0], 0);
}

#[test]
fn dots() {
    expect("gfx906", "v_dot2_i32_i16 v2, v0, v1, v3", &[0xffff_0002, 0x0003_0004, 0, 10], 15);
    expect("gfx906", "v_dot4_u32_u8 v2, v0, v1, v3 clamp", &[u32::MAX, u32::MAX, 0, u32::MAX], u32::MAX);
    expect("gfx1011", "v_dot8_i32_i4 v2, v0, v1, v3", &[0xf000_0001, 0x2000_0003, 0, 1], 2);
    expect("gfx908", "v_dot2c_i32_i16 v2, v0, v1", &[0xffff_0002, 0x0003_0004, 10], 15);
    expect("gfx908", "v_dot8c_i32_i4 v2, v0, v1", &[0xf000_0001, 0x2000_0003, 1], 2);
    expect("gfx1030", "v_dot4c_i32_i8 v2, v0, v1", &[0xff02_0304, 0x0101_0101, 5], 13);
    expect("gfx1030", "v_dot2c_f32_f16 v2, v0, v1", &[0x3c00_4000, 0x4000_4200, f(0.5)], f(8.5));
    expect(
        "gfx906",
        "v_dot2_f32_f16 v2, v0, v1, v3 neg_lo:[1,0,0]",
        &[0x3c00_4000, 0x4000_4200, 0, f(0.5)],
        f(-3.5),
    );
}
