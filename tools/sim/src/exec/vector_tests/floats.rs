//! Tests of floats: rounding, denormals, NaNs, and instructions with special rules.

use super::*;

const ONE: u32 = 0x3f80_0000;
const QUIET: u32 = 0x7fc0_0000;
const SIGNALLING: u32 = 0x7f80_0001;
const INFINITY: u32 = 0x7f80_0000;

#[test]
fn rounding_modes() {
    let tiny = f(2f32.powi(-30));
    let add = |mode, a, b, result| expect_in(USUAL | mode, "gfx906", "v_add_f32 v2, v0, v1", &[a, b], result);
    add(0, ONE, tiny, ONE);
    add(UP, ONE, tiny, ONE + 1);
    add(DOWN, ONE, tiny, ONE);
    add(TO_ZERO, ONE, tiny, ONE);
    add(UP, f(-1.0), f(-2f32.powi(-30)), f(-1.0));
    add(DOWN, f(-1.0), f(-2f32.powi(-30)), f(-1.0) + 1);
    add(DOWN, ONE, f(-1.0), f(-0.0));
    add(0, ONE, f(-1.0), 0);
    expect_in(USUAL | TO_ZERO, "gfx1010", "v_mul_f32 v2, v0, v1", &[f(f32::MAX), f(2.0)], f(f32::MAX));
    // The rounding mode for f64 does not affect f32, and vice versa.
    expect_in(USUAL | UP64, "gfx906", "v_add_f32 v2, v0, v1", &[ONE, tiny], ONE);
    let sum = "v_add_f64 v[6:7], v[0:1], v[2:3]";
    expect64(USUAL | UP64, "gfx600", sum, &[d(1.0), d(1e-30)], d(1.0) + 1);
    expect64(USUAL | UP, "gfx600", sum, &[d(1.0), d(1e-30)], d(1.0));
    expect_in(USUAL | UP64, "gfx803", "v_cvt_f16_f32 v2, v0", &[f(1.0001)], 0x3c01);
    expect_in(USUAL | DOWN64, "gfx803", "v_cvt_f16_f32 v2, v0", &[f(1.0009)], 0x3c00);
    expect_in(USUAL | UP, "gfx803", "v_cvt_f32_u32 v2, v0", &[16_777_217], f(16_777_218.0));
    expect_in(USUAL, "gfx803", "v_cvt_f32_u32 v2, v0", &[16_777_217], f(16_777_216.0));
    expect_in(USUAL | UP, "gfx906", "v_cvt_pk_u8_f32 v2, v0, 1, v1", &[f(3.1), 0xaabb_ccdd], 0xaabb_04dd);
    expect_in(USUAL, "gfx906", "v_cvt_pk_u8_f32 v2, v0, 3, v1", &[f(300.0), 0xaabb_ccdd], 0xffbb_ccdd);
    expect_in(USUAL | UP, "gfx900", "v_fma_f32 v2, v0, v1, v3", &[tiny, tiny, 0, ONE], ONE + 1);
}

#[test]
fn overflow_of_halves() {
    const FP16_OVFL: u32 = 1 << 23;
    expect("gfx906", "v_mul_f16 v2, v0, v1", &[0x7bff, 0x4000], 0x7c00);
    expect_in(USUAL | FP16_OVFL, "gfx906", "v_mul_f16 v2, v0, v1", &[0x7bff, 0x4000], 0x7bff);
    expect_in(USUAL | FP16_OVFL, "gfx906", "v_mul_f16 v2, v0, v1", &[0x7c00, 0x4000], 0x7c00);
    expect_in(USUAL | FP16_OVFL, "gfx906", "v_pk_add_f16 v2, v0, v0", &[0x7bff_3c00], 0x7bff_4000);
}

#[test]
fn denormals() {
    let denormal = 0x0040_0000;
    let flushing = USUAL & !0x30;
    expect("gfx803", "v_add_f32 v2, v0, v1", &[denormal, 0], denormal);
    expect_in(flushing, "gfx803", "v_add_f32 v2, v0, v1", &[denormal, 0], 0);
    expect_in(flushing, "gfx803", "v_mul_f32 v2, v0, v1", &[0x0080_0000, f(-0.5)], 0x8000_0000);
    // In the first test, denormal sources are kept and denormal results are flushed. In the second test, it
    // is the other way round.
    expect_in(flushing | 0x10, "gfx906", "v_add_f32 v2, v0, v1", &[denormal, 0x0080_0000], 0x00c0_0000);
    expect_in(flushing | 0x10, "gfx906", "v_add_f32 v2, v0, v1", &[denormal, 0], 0);
    expect_in(flushing | 0x20, "gfx906", "v_add_f32 v2, v0, v1", &[denormal, 0x0080_0000], 0x0080_0000);
    expect_in(flushing | 0x20, "gfx906", "v_sub_f32 v2, v0, v1", &[0x00c0_0000, 0x0080_0000], denormal);
    // Minimum and maximum obey the mode from GFX9 on.
    expect_in(flushing, "gfx803", "v_max_f32 v2, v0, v1", &[denormal, 0], denormal);
    expect_in(flushing, "gfx906", "v_max_f32 v2, v0, v1", &[denormal, 0], 0);
    // Some instructions always flush denormals, and some never do, whatever MODE says.
    expect("gfx906", "v_mad_f32 v2, v0, 1.0, 0", &[denormal], 0);
    expect("gfx906", "v_fma_f32 v2, v0, 1.0, 0", &[denormal], denormal);
    expect("gfx906", "v_rcp_f32 v2, v0", &[denormal], INFINITY);
    expect("gfx906", "v_rcp_f32 v2, v0", &[0x7f00_0000], 0);
    expect("gfx906", "v_sqrt_f32 v2, v0", &[denormal], 0);
    expect("gfx906", "v_exp_f32 v2, v0", &[f(-130.0)], 0);
    expect("gfx803", "v_mad_f16 v2, v0, 1.0, 0", &[0x0200], 0);
    expect("gfx803", "v_fma_f16 v2, v0, 1.0, 0", &[0x0200], 0x0200);
    expect_in(flushing & !0xc0, "gfx906", "v_add_f16 v2, v0, v1", &[0x0200, 0], 0);
    expect_in(flushing & !0xc0, "gfx906", "v_cvt_f32_f16 v2, v0", &[0x0200], 0);
    expect_in(
        flushing,
        "gfx906",
        "v_cmp_class_f32 vcc, v0, v1\nv_cndmask_b32 v2, 0, 1, vcc",
        &[denormal, 1 << 7],
        1,
    );
}

#[test]
fn nans() {
    expect("gfx906", "v_add_f32 v2, v0, v1", &[SIGNALLING, ONE], QUIET | 1);
    expect("gfx906", "v_add_f32 v2, v0, v1", &[ONE, 0xff80_0005], 0xffc0_0005);
    expect("gfx906", "v_mul_f32 v2, v0, v1", &[QUIET | 2, QUIET | 3], QUIET | 2);
    expect("gfx906", "v_subrev_f32 v2, v0, v1", &[QUIET | 2, QUIET | 3], QUIET | 2);
    expect("gfx906", "v_add_f32 v2, -v0, v1", &[QUIET | 2, ONE], 0x8000_0000 | QUIET | 2);
    expect("gfx906", "v_sub_f32 v2, v0, v1", &[INFINITY, INFINITY], QUIET);
    expect("gfx906", "v_mul_f32 v2, v0, v1", &[INFINITY, 0], QUIET);
    expect("gfx906", "v_fma_f32 v2, v0, v1, v3", &[INFINITY, 0, 0, SIGNALLING], QUIET | 1);
    expect("gfx906", "v_floor_f32 v2, v0", &[SIGNALLING], QUIET | 1);
    expect("gfx906", "v_add_f16 v2, v0, v1", &[0x7c01, 0x3c00], 0x7e01);
    expect("gfx906", "v_cvt_f32_f16 v2, v0", &[0xfc01], 0xffc0_2000);
    expect("gfx906", "v_cvt_f16_f32 v2, v0", &[SIGNALLING], 0x7e00);
    expect64(
        USUAL,
        "gfx906",
        "v_add_f64 v[6:7], v[0:1], v[2:3]",
        &[0x7ff0_0000_0000_0001, d(1.0)],
        0x7ff8_0000_0000_0001,
    );
    // In IEEE mode, the result is the signalling NaN, made quiet. Without IEEE mode, the result is the
    // operand that is not a NaN.
    expect("gfx906", "v_max_f32 v2, v0, v1", &[SIGNALLING, ONE], QUIET | 1);
    expect_in(DENORMALS, "gfx906", "v_max_f32 v2, v0, v1", &[SIGNALLING, ONE], ONE);
    expect("gfx906", "v_min_f16 v2, v0, v1", &[0x7c01, 0x3c00], 0x7e01);
    expect_in(DENORMALS, "gfx906", "v_pk_max_f16 v2, v0, v1", &[0x7c01_3c00, 0x4000_7e00], 0x4000_3c00);
    expect("gfx906", "v_med3_f32 v2, v0, v1, v3", &[ONE, QUIET, 0, f(-2.0)], f(-2.0));
    expect("gfx600", "v_rsq_f32 v2, v0", &[f(-4.0)], 0xffc0_0000);
    expect("gfx600", "v_log_f32 v2, v0", &[f(-4.0)], 0xffc0_0000);
    expect("gfx906", "v_fract_f32 v2, v0", &[0xff80_0000], 0xffc0_0000);
}

#[test]
fn dx9_rules() {
    expect("gfx600", "v_mul_legacy_f32 v2, v0, v1", &[0, INFINITY], 0);
    expect("gfx600", "v_mul_legacy_f32 v2, v0, v1", &[f(-0.0), f(3.0)], 0);
    expect("gfx1030", "v_fma_legacy_f32 v2, v0, v1, v3", &[0, QUIET, 0, f(7.0)], f(7.0));
    expect("gfx1030", "v_fmac_legacy_f32 v2, v0, v1", &[f(2.0), f(3.0), f(7.0)], f(13.0));
    expect("gfx600", "v_mac_legacy_f32 v2, v0, v1", &[0, INFINITY, f(7.0)], f(7.0));
    expect("gfx700", "v_min_legacy_f32 v2, v0, v1", &[QUIET, ONE], ONE);
    expect("gfx700", "v_min_legacy_f32 v2, v0, v1", &[ONE, QUIET], QUIET);
    expect("gfx700", "v_max_legacy_f32 v2, v0, v1", &[f(-2.0), f(-3.0)], f(-2.0));
    expect("gfx600", "v_rcp_legacy_f32 v2, v0", &[f(-0.0)], f(-0.0));
    expect("gfx600", "v_rcp_clamp_f32 v2, v0", &[f(-0.0)], f(-f32::MAX));
    expect("gfx600", "v_rsq_legacy_f32 v2, v0", &[0], 0);
    expect("gfx600", "v_rsq_clamp_f32 v2, v0", &[0], f(f32::MAX));
    expect("gfx600", "v_log_clamp_f32 v2, v0", &[0], f(-f32::MAX));
    expect("gfx700", "v_mullit_f32 v2, v0, v1, v3", &[f(2.0), f(3.0), 0, f(1.0)], f(6.0));
    expect("gfx700", "v_mullit_f32 v2, v0, v1, v3", &[f(2.0), f(3.0), 0, f(-1.0)], f(-f32::MAX));
    expect("gfx600", "v_frexp_exp_i32_f32 v2, v0", &[INFINITY], u32::MAX);
    expect("gfx700", "v_frexp_exp_i32_f32 v2, v0", &[INFINITY], 0);
    expect("gfx906", "v_cvt_flr_i32_f32 v2, v0", &[QUIET], 0x7fff_ffff);
    expect("gfx906", "v_cvt_i32_f32 v2, v0", &[QUIET], 0);
}

#[test]
fn cubes() {
    let run = |text, result| expect("gfx803", text, &[f(1.0), f(-4.0), 0, f(2.0)], f(result));
    run("v_cubeid_f32 v2, v0, v1, v3", 3.0);
    run("v_cubesc_f32 v2, v0, v1, v3", 1.0);
    run("v_cubetc_f32 v2, v0, v1, v3", -2.0);
    run("v_cubema_f32 v2, v0, v1, v3", -8.0);
}

#[test]
fn division() {
    // In the lanes whose VCC bit is set, `v_div_fmas` scales a large result up and a small result down. The
    // number 2^-149 is the unit of denormals.
    let run = |vcc, value: f32| {
        let machine = Machine::with_lanes("gfx1010", 32).vcc(vcc).vgprs(&[0, 0, 0, f(value)]);
        machine.run("v_div_fmas_f32 v2, v0, v1, v3").first::<2>(2)
    };
    assert_eq!(run(1, 1.5 * 2f32.powi(61)), [f(1.5 * 2f32.powi(125)), f(1.5 * 2f32.powi(61))]);
    assert_eq!(run(2, 3.0 * 2f32.powi(-80)), [f(3.0 * 2f32.powi(-80)), 3 << 5]);
    expect("gfx803", "v_div_fixup_f16 v2, v0, v1, v3", &[0x3c00, 0, 0, 0x3c00], 0x7c00);
    expect("gfx803", "v_div_fixup_f16 v2, v0, v1, v3", &[0x3c00, 0xbc00, 0, 0x3c00], 0xbc00);
    expect64(
        USUAL,
        "gfx600",
        "v_div_fixup_f64 v[6:7], v[0:1], v[2:3], v[4:5]",
        &[d(1.0), 0, 0],
        0xfff8_0000_0000_0000,
    );
}

#[test]
fn scaling_and_parts() {
    expect("gfx600", "v_ldexp_f32 v2, v0, v1", &[f(1.5), 4], f(24.0));
    expect_in(USUAL | UP, "gfx906", "v_ldexp_f32 v2, v0, v1", &[f(1.5), -400i32 as u32], 1);
    expect("gfx803", "v_ldexp_f16 v2, v0, v1", &[0x3c00, 0xffff_ffff], 0x3800);
    expect64(USUAL, "gfx803", "v_ldexp_f64 v[6:7], v[0:1], v2", &[d(1.0), 10], d(1024.0));
    expect("gfx803", "v_frexp_mant_f16 v2, v0", &[0x4200], 0x3a00);
    expect("gfx803", "v_frexp_exp_i16_f16 v2, v0", &[0x4200], 2);
    expect("gfx803", "v_fract_f16 v2, v0", &[0xb800], 0x3800);
    expect64(USUAL, "gfx700", "v_fract_f64 v[6:7], v[0:1]", &[d(-1.25)], d(0.75));
    expect64(USUAL, "gfx700", "v_rndne_f64 v[6:7], v[0:1]", &[d(2.5)], d(2.0));
    expect64(
        USUAL,
        "gfx600",
        "v_trig_preop_f64 v[6:7], v[0:1], v2",
        &[d(1.0), 0],
        d(std::f64::consts::FRAC_2_PI) - 1,
    );
    expect64(USUAL, "gfx90a", "v_fmac_f64 v[6:7], v[0:1], v[2:3]", &[d(3.0), d(4.0), 0, d(0.5)], d(12.5));
}
