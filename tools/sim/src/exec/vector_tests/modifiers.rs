//! Tests of instructions with modifiers: output modifiers, clamp, and the selection of parts of registers.

use super::*;

#[test]
fn output_modifiers() {
    let multiply = "v_mul_f32 v2, v0, v1 mul:2";
    // Output modifiers have an effect only without IEEE mode and while denormal results are flushed.
    expect_in(DX10_CLAMP, "gfx906", multiply, &[f(3.0), f(4.0)], f(24.0));
    expect_in(DX10_CLAMP | 0x20, "gfx906", multiply, &[f(3.0), f(4.0)], f(12.0));
    expect_in(DX10_CLAMP | 0x200, "gfx906", multiply, &[f(3.0), f(4.0)], f(12.0));
    expect_in(DX10_CLAMP, "gfx906", multiply, &[f(-0.0), f(4.0)], 0);
    expect_in(DX10_CLAMP, "gfx906", "v_mul_f32 v2, v0, v1 div:2", &[0x0080_0000, f(1.0)], 0);
    expect_in(DX10_CLAMP, "gfx906", "v_mul_f32 v2, v0, v1 mul:4 clamp", &[f(0.5), f(0.25)], f(0.5));
}

#[test]
fn clamp_of_floats() {
    expect("gfx906", "v_add_f32 v2, v0, v1 clamp", &[f(3.0), f(-4.0)], 0);
    expect("gfx906", "v_max_f32 v2, v0, v0 clamp", &[0x7fc0_0000], 0);
    expect_in(DENORMALS, "gfx906", "v_max_f32 v2, v0, v0 clamp", &[0x7fc0_0000], 0x7fc0_0000);
    expect("gfx906", "v_add_f16 v2, v0, v1 clamp", &[0x4000, 0x3c00], 0x3c00);
    expect64(USUAL, "gfx600", "v_mul_f64 v[6:7], v[0:1], v[2:3] clamp", &[d(3.0), d(0.5)], d(1.0));
}

#[test]
fn upper_halves() {
    let old = 0xaaaa_bbbb;
    expect("gfx803", "v_add_f16 v2, v0, v1", &[0x3c00, 0x3c00, old], 0x4000);
    expect("gfx906", "v_add_f16 v2, v0, v1", &[0x3c00, 0x3c00, old], 0x4000);
    expect("gfx1010", "v_add_f16 v2, v0, v1", &[0x3c00, 0x3c00, old], 0xaaaa_4000);
    expect("gfx803", "v_mad_f16 v2, v0, v1, v0", &[0x3c00, 0x3c00, old], 0x4000);
    expect("gfx906", "v_mad_f16 v2, v0, v1, v0", &[0x3c00, 0x3c00, old], 0xaaaa_4000);
    expect("gfx906", "v_mad_legacy_f16 v2, v0, v1, v0", &[0x3c00, 0x3c00, old], 0x4000);
    expect("gfx906", "v_fma_f16 v2, v0, v1, v0 op_sel:[1,0,0,1]", &[0x4000_3c00, 0x3c00, old], 0x4200_bbbb);
    expect("gfx1010", "v_lshlrev_b16 v2, v0, v1", &[4, 0x0fff, old], 0xaaaa_fff0);
    expect("gfx906", "v_mac_f16 v2, v0, v1", &[0x3c00, 0x3c00, 0xaaaa_3c00], 0xaaaa_4000);
    expect("gfx1010", "v_cvt_f16_f32 v2, v0", &[f(1.0), 0, old], 0xaaaa_3c00);
}

#[test]
fn sub_dwords() {
    let values = [0x8112_3344, 0x0002_fffe, 0xaaaa_bbbb];
    let part =
        "v_add_u32_sdwa v2, v0, v1 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_3 src1_sel:WORD_1";
    expect("gfx906", part, &values, 0xaaaa_83bb);
    let wide = "v_add_u32_sdwa v2, sext(v0), sext(v1) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_3 src1_sel:WORD_0";
    expect("gfx906", wide, &values, 0xffff_ff7f);
    let extended = "v_mov_b32_sdwa v2, v0 dst_sel:WORD_0 dst_unused:UNUSED_SEXT src0_sel:BYTE_3";
    expect("gfx803", extended, &values, 0x81);
    let negated = "v_add_f16_sdwa v2, -v0, |v1| dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:WORD_0";
    expect("gfx1010", negated, &[0x3c00_0000, 0xc000, 0x1111_2222], 0x3c00_2222);
    let scalar = "v_add_f32_sdwa v2, s4, v0 dst_sel:DWORD src0_sel:DWORD src1_sel:DWORD";
    let machine = Machine::with_lanes("gfx906", 64).sgpr(4, f(2.0)).vgprs(&[f(1.5)]).run(scalar);
    assert_eq!(machine.v(2, 0), f(3.5));
    let machine = Machine::with_lanes("gfx906", 64)
        .lanes(0, |lane| lane << 16)
        .vgprs(&[])
        .run("v_cmp_lt_u32_sdwa s[4:5], v0, v1 src0_sel:WORD_1 src1_sel:DWORD\nv_nop");
    assert_eq!(machine.wave.pair(4), 0);
}
