//! Tests of single instructions: machine code as `llvm-mc` 19 assembles it, and results computed by hand from
//! the manual.

use super::Flow;
use super::harness::{Bench, processor};
use crate::descriptor::Descriptor;
use crate::memory::Memory;
use crate::op::Code;
use crate::wave::{Wave, reg};
use isa::Target;

/// Returns a descriptor with IEEE mode, DX10 clamp, all denormals, and 8 VGPRs.
fn descriptor() -> Descriptor {
    Descriptor { rsrc1: 1 | 0xf0 << 12 | 1 << 21 | 1 << 23, ..Descriptor::default() }
}

/// A wave and LDS for running instructions.
struct Machine {
    wave: Wave,
    lds: Vec<u32>,
    target: &'static Target,
}

impl Machine {
    fn new() -> Machine {
        Machine::on("gfx906", 64)
    }

    /// Creates a machine for another processor, with waves of `lanes` lanes.
    fn on(name: &str, lanes: u32) -> Machine {
        let target = processor(name, lanes);
        let mut wave = Wave::new(0, &descriptor(), target);
        wave.set_exec(!0);
        Machine { wave, lds: vec![0; 256], target }
    }

    /// Sets the VGPRs from `v0` on, to the same values in all lanes.
    fn vgprs(mut self, values: &[u32]) -> Machine {
        for (at, value) in values.iter().enumerate() {
            self.wave.vgpr[at] = [*value; 64];
        }
        self
    }

    /// Sets the SGPRs from `s4` on.
    fn sgprs(mut self, values: &[u32]) -> Machine {
        self.wave.sgpr[4..4 + values.len()].copy_from_slice(values);
        self
    }

    fn run(mut self, code: &[u32]) -> Machine {
        let code = [Code::new(self.target, 0, 0, code.to_vec())];
        let done = Bench::new(&mut self.wave, &mut self.lds, &Memory::new()).run(self.target, &code);
        assert!(matches!(done, Ok(Flow::Next)), "{}: {done:?}", code[0].text(self.target, 0));
        self
    }

    fn v2(&self) -> u32 {
        self.wave.vgpr[2][0]
    }
}

/// Runs code with the given VGPRs from `v0` on, and checks `v2` of the first lane.
fn expect(what: &str, code: &[u32], vgprs: &[u32], v2: u32) {
    let got = Machine::new().vgprs(vgprs).run(code).v2();
    assert_eq!(got, v2, "{what}: {got:#x}, expected {v2:#x}");
}

/// Runs code with the given VGPRs from `v0` on, and checks `v[2:3]` of the first lane.
fn expect64(what: &str, code: &[u32], vgprs: &[u32], value: u64) {
    let machine = Machine::new().vgprs(vgprs).run(code);
    let got = u64::from(machine.v2()) | u64::from(machine.wave.vgpr[3][0]) << 32;
    assert_eq!(got, value, "{what}: {got:#x}, expected {value:#x}");
}

fn f(value: f32) -> u32 {
    value.to_bits()
}

#[test]
fn integers() {
    expect("v_mul_hi_i32", &[0xd287_0002, 0x0002_0300], &[0x8000_0000, 2], 0xffff_ffff);
    expect("v_mul_hi_u32_u24", &[0x1204_0300], &[0xffff_ffff, 0xffff_ffff], 0xffff);
    expect("v_mad_i32_i24 v2, v0, v1, 1", &[0xd1c2_0002, 0x0206_0300], &[0x00ff_ffff, 5], -4i32 as u32);
    expect("v_bfe_i32 v2, v0, 4, v1", &[0xd1c9_0002, 0x0405_0900], &[0x0000_0f80, 8], 0xffff_fff8);
    expect("v_bfe_i32 of no bits", &[0xd1c9_0002, 0x0405_0900], &[0xffff_ffff, 32], 0);
    expect("v_bfe_u32 v2, v0, 28, 8", &[0xd1c8_0002, 0x0221_3900], &[0xf123_4567], 15);
    expect("v_alignbit_b32 .. 31", &[0xd1ce_0002, 0x027e_0300], &[0x8000_0001, 0x8000_0000], 3);
    expect("v_add_u32 clamp", &[0xd134_8002, 0x0002_0300], &[0xffff_fff0, 0x20], u32::MAX);
    expect("v_sub_i32 clamp", &[0xd29d_8002, 0x0002_0300], &[0x8000_0000, 1], 0x8000_0000);
    expect("v_add_u16 clears the upper half", &[0x4c04_0300], &[0x1234_ffff, 0x4321_0002, 0x5555_5555], 1);
    expect(
        "v_sad_u8 v2, v0, v1, 3",
        &[0xd1d9_0002, 0x020e_0300],
        &[0x01ff_0010, 0x0400_0000],
        3 + 255 + 16 + 3,
    );
    expect("v_lerp_u8", &[0xd1cd_0002, 0x0406_0300], &[0x0102_0304, 0x0303_0101], 0x0203_0203);
    expect64("v_ashrrev_i64 .. 36", &[0xd291_0002, 0x0002_00a4], &[0, 0x8000_0000], 0xffff_ffff_f800_0000);
    expect64("v_lshlrev_b64 1, -4", &[0xd28f_0002, 0x0001_8881], &[], -8i64 as u64);
}

#[test]
fn carries() {
    let machine = Machine::new().vgprs(&[0xffff_ffff, 1]).run(&[0x3204_0300]);
    assert_eq!((machine.v2(), machine.wave.vcc()), (0, !0), "v_add_co_u32");
    // v_addc_co_u32_e64 v2, s[4:5], v0, v1, s[6:7]: only lane 0 has a carry-in.
    let machine =
        Machine::new().vgprs(&[7, 0xffff_fff8]).sgprs(&[0, 0, 1, 0]).run(&[0xd11c_0402, 0x001a_0300]);
    assert_eq!(
        (machine.v2(), machine.wave.vgpr[2][1], machine.wave.pair(4)),
        (0, u32::MAX, 1),
        "v_addc_co_u32"
    );
    // v_subb_co_u32 v2, vcc, v0, v1, vcc
    let mut machine = Machine::new().vgprs(&[5, 5]);
    machine.wave.set_pair(reg::VCC, 2);
    let machine = machine.run(&[0x3a04_0300]);
    assert_eq!(
        (machine.v2(), machine.wave.vgpr[2][1], machine.wave.vcc()),
        (0, u32::MAX, 2),
        "v_subb_co_u32"
    );
    // v_mad_u64_u32 v[2:3], s[4:5], v0, v1, v[0:1]
    let machine = Machine::new().vgprs(&[0xffff_ffff, 0xffff_ffff]).run(&[0xd1e8_0402, 0x0402_0300]);
    // (2^32-1)^2 + 2^64-1 = 2^65 - 2^33
    assert_eq!((machine.v2(), machine.wave.vgpr[3][0]), (0, 0xffff_fffe), "v_mad_u64_u32");
    assert_eq!(machine.wave.pair(4), !0, "v_mad_u64_u32 carries");
}

#[test]
fn conversions() {
    let to_u32 = |value: f32| Machine::new().vgprs(&[f(value)]).run(&[0x7e04_0f00]).v2();
    assert_eq!(
        [to_u32(-1.0), to_u32(f32::NAN), to_u32(5e9), to_u32(2.9)],
        [0, 0, u32::MAX, 2],
        "v_cvt_u32_f32"
    );
    let bits = (-3e9f64).to_bits();
    expect("v_cvt_i32_f64", &[0x7e04_0700], &[bits as u32, (bits >> 32) as u32], 0x8000_0000);
    expect("v_cvt_pkrtz_f16_f32", &[0xd296_0002, 0x0002_0300], &[f(1.000_9), f(-70000.0)], 0xfbff_3c00);
}

#[test]
fn floats() {
    expect("v_min_f32 quiets in IEEE mode", &[0x1404_0300], &[0x7f80_0001, f(1.0)], 0x7fc0_0001);
    expect("v_max_f32 |v0|, -v1", &[0xd10b_0102, 0x4002_0300], &[f(-3.0), f(-5.0)], f(5.0));
    expect("v_med3_f32 v0, v1, 2.0", &[0xd1d6_0002, 0x03d2_0300], &[f(9.0), f(-1.0)], f(2.0));
    expect("v_fract_f32 of a tiny negative", &[0x7e04_3700], &[f(-1e-20)], 0x3f7f_ffff);
    expect("v_ldexp_f32 to a denormal", &[0xd288_0002, 0x0002_0300], &[f(1.0), -140i32 as u32], 1 << 9);
    expect("v_frexp_exp_i32_f32", &[0x7e04_6700], &[f(-8.0)], 4);
    expect("v_frexp_exp_i32_f32 of infinity", &[0x7e04_6700], &[f(f32::INFINITY)], 0);
    expect("v_frexp_mant_f32", &[0x7e04_6900], &[f(-8.0)], f(-0.5));
    expect("v_add_f32 clamp", &[0xd101_8002, 0x0002_0300], &[f(3.0), f(4.0)], f(1.0));
    expect("v_add_f32 clamp of a NaN", &[0xd101_8002, 0x0002_0300], &[f(f32::NAN), f(4.0)], 0);
    // IEEE mode ignores output modifiers.
    expect("v_mul_f32 mul:2", &[0xd105_0002, 0x0802_0300], &[f(3.0), f(4.0)], f(12.0));
    expect("v_mac_f32 flushes denormals", &[0x2c04_0300], &[1, f(1.0), 1], 0);
    expect("v_fma_f32 -v0, v1, |v1|", &[0xd1cb_0402, 0x2406_0300], &[f(3.0), f(-2.0)], f(8.0));
    expect("v_madak_f32 v0, v1, 3.0", &[0x3004_0300, 0x4040_0000], &[f(5.0), f(7.0)], f(38.0));
    expect("v_madmk_f32 v0, 3.0, v1", &[0x2e04_0300, 0x4040_0000], &[f(5.0), f(7.0)], f(22.0));
    expect("v_mul_legacy_f32", &[0x0804_0300], &[f(0.0), f(f32::INFINITY)], 0);
    expect64("v_add_f64 v[0:1], 0.5", &[0xd280_0002, 0x0001_e100], &[0, 0x3ff0_0000], 1.5f64.to_bits());
    expect("v_mov_b32 0.15915494", &[0x7e04_02f8], &[], 0x3e22_f983);
}

#[test]
fn transcendentals() {
    expect("v_rcp_f32", &[0x7e04_4500], &[f(3.0)], f(1.0 / 3.0));
    expect("v_rcp_f32 of -0", &[0x7e04_4500], &[f(-0.0)], f(f32::NEG_INFINITY));
    expect("v_sqrt_f32", &[0x7e04_4f00], &[f(2.0)], f(std::f32::consts::SQRT_2));
    expect("v_exp_f32", &[0x7e04_4100], &[f(-3.0)], f(0.125));
    expect("v_log_f32", &[0x7e04_4300], &[f(0.25)], f(-2.0));
    expect("v_sin_f32 counts turns", &[0x7e04_5300], &[f(100.25)], f(1.0));
    expect("v_sin_f32 out of range", &[0x7e04_5300], &[f(300.25)], 0);
}

#[test]
fn divisions() {
    // v_div_scale_f32 v2, vcc, v0, v0, v1: the denominator of 1e30 / 1e-30.
    let machine = Machine::new().vgprs(&[f(1e-30), f(1e30)]).run(&[0xd1e0_6a02, 0x0406_0100]);
    assert_eq!(machine.v2(), f(1e-30 * 18_446_744_073_709_551_616.0), "the denominator is scaled by 2^64");
    assert_eq!(machine.wave.vcc(), !0, "and the quotient has to be scaled back");
    expect("v_div_fixup_f32: x / 0", &[0xd1de_0002, 0x0406_0300], &[f(7.0), f(-0.0)], 0xffc0_0000);
    expect("v_div_fmas_f32 without VCC", &[0xd1e2_0002, 0x0406_0300], &[f(2.0), f(3.0)], f(9.0));
}

#[test]
fn compares() {
    let machine = Machine::new().vgprs(&[f(-0.0), 1 << 5]).run(&[0xd010_0004, 0x0002_0300]);
    assert_eq!(machine.wave.pair(4), !0, "v_cmp_class_f32: negative zero");
    let machine = Machine::new().vgprs(&[f(f32::NAN), f(0.0)]).run(&[0x7c9c_0300]);
    assert_eq!(machine.wave.vcc(), !0, "v_cmp_nlt_f32 holds for NaN");
    let mut machine = Machine::new().vgprs(&[1, -1i32 as u32]);
    machine.wave.set_pair(reg::EXEC, 0xf0);
    machine.wave.vgpr[0][5] = -2i32 as u32;
    let machine = machine.run(&[0x7da8_0300]);
    assert_eq!((machine.wave.vcc(), machine.wave.exec()), (0xd0, 0xd0), "v_cmpx_gt_i32");
    let machine = Machine::new().vgprs(&[5, 1, 4, 2]).run(&[0x7dd2_0500]);
    assert_eq!(machine.wave.vcc(), !0, "v_cmp_lt_u64");
    let machine = Machine::new().vgprs(&[f(1.0), f(2.0)]).sgprs(&[2, 0]).run(&[0xd100_0002, 0x4012_0300]);
    assert_eq!((machine.v2(), machine.wave.vgpr[2][1]), (f(1.0), f(-2.0)), "v_cndmask_b32 v0, -v1");
}

#[test]
fn halves() {
    expect(
        "v_mad_u16 op_sel:[1,0,0,1]",
        &[0xd204_4802, 0x0402_0300],
        &[0x0003_0005, 7, 0x9999_1111],
        26 << 16 | 0x1111,
    );
    // Low half: v0.hi + -v1.lo; high half: v0.lo + v1.hi.
    let code = [0xd38f_4802, 0x5002_0300];
    expect("v_pk_add_f16 with selections", &code, &[0x4200_3c00, 0x4400_4000], 0x4500_3c00);
    expect("v_pk_mad_u16", &[0xd389_4002, 0x1c06_0300], &[0x0002_0003, 0x0004_ffff], 0x000c_fffc);
    // f32(v0.hi) * v1 + v1
    expect("v_fma_mix_f32", &[0xd3a0_0802, 0x0c06_0300], &[0x4000_3c00, f(1.5)], f(4.5));
    expect("v_dot4_i32_i8", &[0xd3a8_4002, 0x1a2a_0300], &[0xff02_0304, 0x0101_0101], 18);
}

#[test]
fn sub_dwords() {
    let code = [0x6804_02f9, 0x050b_1100];
    expect("v_add_u32_sdwa", &code, &[0xfe00_0000, 0x0005_ffff, 0x1122_3344], 0x1122_0344);
    expect("v_mov_b32_sdwa, sign-extended", &[0x7e04_02f9, 0x0005_0c00], &[0x8765_0000], 0xffff_8765);
}

#[test]
fn lanes() {
    let mut machine = Machine::new().vgprs(&[0, 0, 0xaaaa]);
    machine.wave.vgpr[0] = std::array::from_fn(|lane| lane as u32);
    machine.wave.set_pair(reg::EXEC, !4);
    let machine = machine.run(&[0x7e04_02fa, 0xff01_1100]);
    let got = machine.wave.vgpr[2];
    // Lane 0 has no source, lane 2 is inactive, and lane 3 would read lane 2.
    assert_eq!(got[..5], [0xaaaa, 0, 0xaaaa, 0xaaaa, 3], "v_mov_b32_dpp row_shr:1");
    assert_eq!((got[16], got[17]), (0xaaaa, 16), "rows are apart");

    let mut machine = Machine::new().vgprs(&[9, 0, 0xaaaa]);
    machine.wave.vgpr[0][63] = 5;
    let machine = machine.run(&[0x7e04_02fa, 0x3f09_1100]);
    let got = machine.wave.vgpr[2];
    assert_eq!((got[0], got[1], got[16], got[32]), (0, 9, 0, 0xaaaa), "row_mask:0x3 bound_ctrl:0");

    let mut machine = Machine::new();
    machine.wave.vgpr[0] = std::array::from_fn(|lane| lane as u32);
    let machine = machine.run(&[0x6804_02fa, 0xff00_1b00]);
    assert_eq!(machine.wave.vgpr[2][..5], [3, 2, 1, 0, 7], "quad_perm:[3,2,1,0]");

    let mut machine = Machine::new().sgprs(&[7]);
    machine.wave.set_pair(reg::EXEC, 0x100);
    machine.wave.vgpr[0][63] = 21;
    machine.wave.vgpr[0][8] = 22;
    let machine = machine.run(&[0xd28a_0002, 0x0001_0a04, 0xd289_0004, 0x0001_7f00]);
    assert_eq!(
        (machine.wave.vgpr[2][5], machine.wave.sgpr[4]),
        (7, 21),
        "v_writelane, v_readlane ignore EXEC"
    );
    assert_eq!(machine.run(&[0x7e08_0500]).wave.sgpr[4], 22, "v_readfirstlane_b32");

    let machine = Machine::new().run(&[0xd28c_0002, 0x0001_00c1, 0xd28d_0002, 0x0002_04c1]);
    assert!(machine.wave.vgpr[2].iter().enumerate().all(|(lane, count)| lane as u32 == *count), "v_mbcnt");
    let machine = Machine::new().vgprs(&[1, 2, 3]).run(&[0x7e00_a302]);
    assert_eq!((machine.wave.vgpr[0][9], machine.v2()), (3, 1), "v_swap_b32 v0, v2");
}

/// Runs code with the given SGPRs from `s4` on and SCC, and checks `s4`, `s5` and SCC.
fn expect_scalar(what: &str, code: &[u32], sgprs: &[u32], scc: bool, expected: (u32, u32, bool)) {
    let mut machine = Machine::new().sgprs(sgprs);
    machine.wave.scc = scc;
    let machine = machine.run(code);
    let got = (machine.wave.sgpr[4], machine.wave.sgpr[5], machine.wave.scc);
    assert_eq!(got, expected, "{what}: {:#x}, {:#x}", got.0, got.1);
}

#[test]
fn scalar_arithmetic() {
    const MAX: u32 = u32::MAX;
    expect_scalar("s_addc_u32", &[0x8204_0605], &[0, MAX, 0], true, (0, MAX, true));
    expect_scalar("s_subb_u32", &[0x8284_0605], &[0, 5, 5], true, (MAX, 5, true));
    expect_scalar("s_sub_i32", &[0x8184_0605], &[0, 0x8000_0000, 1], false, (0x7fff_ffff, 0x8000_0000, true));
    expect_scalar("s_absdiff_i32", &[0x9504_0605], &[0, 3, 10], false, (7, 3, true));
    expect_scalar("s_min_i32", &[0x8304_0605], &[0, MAX, 1], false, (MAX, MAX, true));
    expect_scalar("s_lshl4_add_u32", &[0x9884_0605], &[0, 0x1000_0000, 5], false, (5, 0x1000_0000, true));
    expect_scalar("s_mul_hi_i32", &[0x9684_0605], &[0, MAX, 2], true, (MAX, MAX, true));
    expect_scalar(
        "s_pack_hh_b32_b16",
        &[0x9a04_0605],
        &[0, 0xaaaa_1111, 0xbbbb_2222],
        false,
        (0xbbbb_aaaa, 0xaaaa_1111, false),
    );
    expect_scalar("s_addk_i32 -0x8000", &[0xb704_8000], &[0x8000_0000, 1], false, (0x7fff_8000, 1, true));
    expect_scalar("s_mulk_i32 -3", &[0xb784_fffd], &[7, 1], true, (-21i32 as u32, 1, true));
    expect_scalar("s_cmpk_lg_u32 0x8000", &[0xb485_8000], &[0, 0x8000], true, (0, 0x8000, false));
    expect_scalar("s_cmpk_lt_i32 -0x8000", &[0xb305_8000], &[0, 0x8000], true, (0, 0x8000, false));
}

#[test]
fn scalar_bits() {
    const MAX: u32 = u32::MAX;
    // Offset 32, width 8.
    expect_scalar(
        "s_bfe_i64",
        &[0x9404_ff06, 0x0008_0020],
        &[0, 0, 0, 0x80],
        false,
        (0xffff_ff80, MAX, true),
    );
    expect_scalar("s_bfe_u32", &[0x9284_ff05, 0x0004_0004], &[0, 0xf0f], false, (0, 0xf0f, false));
    expect_scalar("s_lshl_b64", &[0x8e84_0806], &[0, 0, 1, 0, 96], false, (0, 1, true));
    expect_scalar("s_mov_b64 literal", &[0xbe84_01ff, 0x8000_0000], &[1, 1], true, (0x8000_0000, 0, true));
    expect_scalar("s_mov_b64 -5", &[0xbe84_01c5], &[1, 1], false, (-5i32 as u32, MAX, false));
    expect_scalar("s_mov_b64 1.0", &[0xbe84_01f2], &[1, 1], false, (0, 0x3ff0_0000, false));
    expect_scalar("s_ff1_i32_b64", &[0xbe84_1106], &[0, 9, 0, 4], true, (34, 9, true));
    expect_scalar("s_ff1_i32_b64 of 0", &[0xbe84_1106], &[0, 9, 0, 0], true, (MAX, 9, true));
    expect_scalar("s_flbit_i32", &[0xbe84_1405], &[0, 0xffff_0000], false, (16, 0xffff_0000, false));
    expect_scalar("s_bitset1_b64", &[0xbe84_1b06], &[1, 0, 33], false, (1, 2, false));
    expect_scalar("s_bcnt1_i32_b64", &[0xbe84_0d06], &[0, 9, 7, 0x8000_0000], false, (4, 9, true));
    expect_scalar("s_wqm_b64", &[0xbe84_0706], &[0, 0, 0x20, 0x8000_0000], false, (0xf0, 0xf000_0000, true));
    expect_scalar("s_bfm_b64 8, s6", &[0x9184_0688], &[0, 0, 28], false, (0xf000_0000, 0xf, false));
    expect_scalar("s_brev_b64", &[0xbe84_0906], &[0, 0, 1, 0], false, (0, 0x8000_0000, false));
    expect_scalar("s_cselect_b64", &[0x8584_c106], &[0, 0, 3, 4], false, (MAX, MAX, false));
    expect_scalar("s_getreg_b32 MODE, 4, 4", &[0xb884_1901], &[0, 1], false, (15, 1, false));
}

#[test]
fn masks() {
    let mut machine = Machine::new().sgprs(&[0, 0, 0xff, 0]);
    machine.wave.set_pair(reg::EXEC, 0xf0f);
    let machine = machine.run(&[0xbe84_2006]);
    assert_eq!(
        (machine.wave.pair(4), machine.wave.exec(), machine.wave.scc),
        (0xf0f, 0xf, true),
        "s_and_saveexec"
    );
    let machine = machine.run(&[0xbe84_3506]);
    assert_eq!(
        (machine.wave.pair(4), machine.wave.exec(), machine.wave.scc),
        (0, 0, false),
        "s_andn1_wrexec"
    );
}

#[test]
fn denormals_by_mode() {
    // s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0 flushes f32 denormals; v_add_f32 v2, v0, v1.
    let add = 0x0204_0300;
    expect("kept", &[add], &[1, 2], 3);
    expect("flushed", &[0xba00_0901, 0, add], &[1, 2], 0);
    expect("a sign survives", &[0xba00_0901, 0, add], &[0x8000_0001, 0x8000_0002], 0x8000_0000);
}

#[test]
fn data_share() {
    let machine =
        Machine::new().vgprs(&[4, 0x1234_5680]).run(&[0xd81a_0008, 0x0000_0100, 0xd83c_0003, 0x0000_0100]);
    assert_eq!((machine.lds[3], machine.lds[1]), (0x1234_5680, 0x8000_0000), "ds_write_b32, ds_write_b8");
    let machine = machine.run(&[0xd872_0003, 0x0200_0000]);
    assert_eq!(machine.v2(), 0xffff_ff80, "ds_read_i8");
    let machine = machine.run(&[0xd81e_0201, 0x0000_0100, 0xd870_0201, 0x0200_0000]);
    assert_eq!((machine.lds[1 + 64], machine.lds[1 + 128]), (0x1234_5680, 4), "ds_write2st64_b32");
    assert_eq!((machine.v2(), machine.wave.vgpr[3][7]), (0x1234_5680, 4), "ds_read2st64_b32");

    let mut machine = Machine::new().vgprs(&[8, 10, 0xdead_beef, 77]);
    machine.lds[2] = 10;
    machine.wave.set_pair(reg::EXEC, 1);
    let machine = machine.run(&[0xd860_0000, 0x0203_0100]);
    assert_eq!((machine.lds[2], machine.v2()), (77, 10), "ds_cmpst_rtn_b32");
    let machine = machine.run(&[0xd806_0000, 0x0000_0100]);
    assert_eq!(machine.lds[2], 0, "ds_inc_u32 wraps above its limit");
    let machine = machine.run(&[0xd8c0_0000, 0x0200_0000]);
    assert_eq!((machine.lds[2], machine.lds[3]), (8, 10), "ds_add_rtn_u64");
    let machine = machine.run(&[0xd8b6_0002, 0x0200_0000]);
    assert_eq!(machine.v2(), 0, "ds_read_u16_d16_hi");
}

#[test]
fn exchanges() {
    let numbered = || {
        let mut machine = Machine::new();
        machine.wave.vgpr[0] = std::array::from_fn(|lane| lane as u32);
        machine
    };
    let got = numbered().run(&[0xd87a_80b1, 0x0200_0000]).wave.vgpr[2];
    assert_eq!(got[..5], [1, 0, 3, 2, 5], "ds_swizzle_b32 QUAD_PERM 1,0,3,2");
    let got = numbered().run(&[0xd87a_0064, 0x0200_0000]).wave.vgpr[2];
    assert_eq!((got[0], got[5], got[31], got[63]), (3, 7, 7, 39), "ds_swizzle_b32 BITMASK_PERM 00p11");

    let mut machine = numbered();
    machine.wave.vgpr[1] = std::array::from_fn(|lane| lane as u32 * 10);
    machine.wave.vgpr[0] = std::array::from_fn(|lane| (63 - lane as u32) * 4);
    machine.wave.set_pair(reg::EXEC, !1);
    let got = machine.run(&[0xd87e_0000, 0x0200_0100]).wave.vgpr[2];
    assert_eq!((got[1], got[62], got[63]), (620, 10, 0), "ds_bpermute_b32 reads zero from inactive lanes");

    let mut machine = numbered();
    machine.wave.vgpr[1] = std::array::from_fn(|lane| lane as u32 + 100);
    machine.wave.vgpr[0] = std::array::from_fn(|lane| (lane as u32 + 1) * 4);
    let got = machine.run(&[0xd87c_0000, 0x0200_0100]).wave.vgpr[2];
    assert_eq!((got[0], got[1], got[63]), (163, 100, 162), "ds_permute_b32");
}

#[test]
fn waves_of_32_lanes() {
    // v_cmp_lt_u32_e64 s4, v0, v1 writes one SGPR.
    let mut machine = Machine::on("gfx1010", 32).vgprs(&[1, 2]).sgprs(&[7, 8]);
    machine.wave.vgpr[0][3] = 2;
    let machine = machine.run(&[0xd4c1_0004, 0x0002_0300]);
    assert_eq!((machine.wave.sgpr[4], machine.wave.sgpr[5]), (!8, 8), "v_cmp_lt_u32_e64");
    // v_cmpx_lt_u32_e64 v0, v1; EXEC_HI is an ordinary register.
    let machine = machine.run(&[0xd4d1_007e, 0x0002_0300]);
    assert_eq!(machine.wave.pair(reg::EXEC), 0xffff_ffff_ffff_fff7 & 0xffff_ffff, "v_cmpx_lt_u32_e64");
    let mut machine = Machine::on("gfx1010", 32);
    machine.wave.sgpr[reg::EXEC + 1] = 5;
    machine.wave.vgpr[0][1] = 21;
    assert_eq!(machine.wave.exec(), 0xffff_ffff, "lanes beyond 31 are never active");
    // v_readlane_b32 s4, v0, 33
    let machine = machine.run(&[0xd760_0004, 0x0001_4300]);
    assert_eq!(machine.wave.sgpr[4], 21, "lane numbers wrap");
}

#[test]
fn null_holds_nothing() {
    // s_mov_b64 null, -1; s_add_u32 s4, null, 7
    let mut machine = Machine::on("gfx1010", 64);
    machine.wave.set_exec(0x10);
    let machine = machine.run(&[0xbefd_04c1, 0x8004_877d]);
    assert_eq!((machine.wave.sgpr[4], machine.wave.exec(), machine.wave.sgpr[125]), (7, 0x10, 0));
}
