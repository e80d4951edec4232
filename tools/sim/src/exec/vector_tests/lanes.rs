//! Tests of instructions that read the data of other lanes, of instructions that depend on EXEC, and of
//! registers that M0 selects.

use super::*;

#[test]
fn data_parallel() {
    let run = |processor, lanes, text| {
        Machine::with_lanes(processor, lanes).vgprs(&[0, 0, 77]).lanes(0, |lane| 100 + lane).run(text)
    };
    let machine = run("gfx803", 64, "v_mov_b32_dpp v2, v0 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf");
    assert_eq!(machine.first(2), [103, 102, 101, 100, 107]);
    let machine = run("gfx906", 64, "v_mov_b32_dpp v2, v0 row_shr:1 row_mask:0xf bank_mask:0xf");
    assert_eq!((machine.first(2), machine.v(2, 16)), ([77, 100, 101], 77));
    let machine = run("gfx906", 64, "v_mov_b32_dpp v2, v0 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0");
    assert_eq!(machine.first(2), [0, 100, 101]);
    let machine = run("gfx906", 64, "v_mov_b32_dpp v2, v0 wave_shr:1 row_mask:0xf bank_mask:0xf");
    assert_eq!((machine.v(2, 16), machine.v(2, 0)), (115, 77));
    let machine = run("gfx906", 64, "v_mov_b32_dpp v2, v0 row_bcast:15 row_mask:0xa bank_mask:0xf");
    assert_eq!([machine.v(2, 16), machine.v(2, 32), machine.v(2, 63)], [115, 77, 147]);
    let machine = run("gfx1010", 32, "v_mov_b32_dpp v2, v0 row_share:3 row_mask:0xf bank_mask:0x1");
    assert_eq!([machine.v(2, 0), machine.v(2, 4), machine.v(2, 18)], [103, 77, 119]);
    let machine = run("gfx1010", 32, "v_add_nc_u32_dpp v2, v0, v0 row_xmask:1 row_mask:0xf bank_mask:0xf");
    assert_eq!(machine.first(2), [201, 201, 205]);
    let machine = run("gfx1030", 32, "v_mov_b32_dpp v2, v0 dpp8:[7,6,5,4,3,2,1,0]");
    assert_eq!((machine.first(2), machine.v(2, 8)), ([107, 106], 115));
    let machine = run("gfx90a", 64, "v_mov_b32_dpp v2, v0 row_newbcast:5 row_mask:0xf bank_mask:0xf");
    assert_eq!([machine.v(2, 0), machine.v(2, 33)], [105, 137]);
}

/// Inactive lanes are not read, unless `fi` is set.
#[test]
fn inactive_sources() {
    let run = |text| {
        Machine::with_lanes("gfx1010", 64)
            .exec(0b0101)
            .vgprs(&[0, 0, 77])
            .lanes(0, |lane| 100 + lane)
            .run(text)
    };
    assert_eq!(
        run("v_mov_b32_dpp v2, v0 quad_perm:[1,1,2,0] row_mask:0xf bank_mask:0xf").first(2),
        [77, 77, 102, 77]
    );
    let zero = run("v_mov_b32_dpp v2, v0 quad_perm:[1,1,2,0] row_mask:0xf bank_mask:0xf bound_ctrl:0");
    assert_eq!(zero.first(2), [0, 77, 102, 77]);
    let fetched = run("v_mov_b32_dpp v2, v0 quad_perm:[1,1,2,0] row_mask:0xf bank_mask:0xf fi:1");
    assert_eq!(fetched.first(2), [101, 77, 102, 77]);
    assert_eq!(run("v_mov_b32_dpp v2, v0 dpp8:[1,0,0,0,0,0,0,0]").first(2), [0, 77, 100]);
    assert_eq!(run("v_mov_b32_dpp v2, v0 dpp8:[1,0,0,0,0,0,0,0] fi:1").first(2), [101, 77, 100]);
}

#[test]
fn permutes_within_rows() {
    let run = |text| {
        let machine = Machine::with_lanes("gfx1010", 32).vgprs(&[0, 0, 77]).lanes(0, |lane| 100 + lane);
        machine.sgpr(4, 0x7654_3210).sgpr(5, 0x0123_4567).exec(!2).run(text)
    };
    let machine = run("v_permlane16_b32 v2, v0, s4, s5");
    assert_eq!([machine.v(2, 0), machine.v(2, 2), machine.v(2, 8), machine.v(2, 31)], [100, 102, 107, 116]);
    // Lane 14 of the row reads lane 1, which is inactive.
    assert_eq!(machine.v(2, 14), 77);
    assert_eq!(run("v_permlane16_b32 v2, v0, s4, s5 op_sel:[0,1]").v(2, 14), 0);
    assert_eq!(run("v_permlane16_b32 v2, v0, s4, s5 op_sel:[1,0]").v(2, 14), 101);
    let machine = run("v_permlanex16_b32 v2, v0, s4, s5");
    assert_eq!([machine.v(2, 0), machine.v(2, 15), machine.v(2, 16)], [116, 116, 100]);
}

#[test]
fn single_lanes() {
    let machine = Machine::with_lanes("gfx1010", 32).lanes(0, |lane| 100 + lane).sgpr(4, 35);
    let machine = machine.run("v_readlane_b32 s6, v0, s4\nv_writelane_b32 v2, s4, 1");
    assert_eq!((machine.wave.sgpr[6], machine.v(2, 1), machine.v(2, 0)), (103, 35, 0));
    let machine = Machine::with_lanes("gfx600", 64).lanes(0, |lane| 100 + lane).sgpr(4, 35).exec(0);
    let machine = machine.run("v_readlane_b32 s6, v0, s4\nv_readfirstlane_b32 s7, v0");
    assert_eq!((machine.wave.sgpr[6], machine.wave.sgpr[7]), (135, 100));
    let machine =
        Machine::with_lanes("gfx906", 64).run("v_mbcnt_lo_u32_b32 v1, -1, 0\nv_mbcnt_hi_u32_b32 v2, -1, v1");
    assert_eq!([machine.v(2, 0), machine.v(2, 31), machine.v(2, 63)], [0, 31, 63]);
}

#[test]
fn relative_registers() {
    let numbered =
        |machine: Machine| (0..12).fold(machine, |machine, at| machine.lanes(at, move |_| at as u32));
    let run = |processor, m0, text| numbered(Machine::with_lanes(processor, 64)).m0(m0).run(text);
    assert_eq!(run("gfx803", 5, "v_movrels_b32 v2, v1").v(2, 0), 6);
    assert_eq!(run("gfx600", 5, "v_movreld_b32 v2, v1").v(7, 0), 1);
    assert_eq!(run("gfx700", 3, "v_movrelsd_b32 v2, v1").v(5, 0), 4);
    assert_eq!(run("gfx1010", 6 << 16 | 3, "v_movrelsd_2_b32 v2, v1").v(8, 0), 4);
    let machine = run("gfx1010", 6 << 16 | 3, "v_swaprel_b32 v2, v1");
    assert_eq!((machine.v(8, 0), machine.v(4, 0)), (4, 8));
    let machine = run("gfx906", 0, "v_swap_b32 v2, v1");
    assert_eq!((machine.v(2, 0), machine.v(1, 0)), (1, 2));
    assert_eq!(run("gfx803", 500, "v_movrels_b32 v2, v1").v(2, 0), 0);
}

#[test]
fn compares() {
    let run =
        |processor, lanes, text| Machine::with_lanes(processor, lanes).lanes(0, |lane| lane).vcc(5).run(text);
    // Before GFX10 the mask is also written to VCC.
    let machine = run("gfx906", 64, "v_cmpx_gt_u32 vcc, 3, v0");
    assert_eq!((machine.wave.exec(), machine.wave.vcc()), (7, 7));
    let machine = run("gfx1010", 64, "v_cmpx_gt_u32 3, v0");
    assert_eq!((machine.wave.exec(), machine.wave.vcc()), (7, 5));
    let machine = run("gfx1030", 32, "v_cmp_le_u32 s4, 30, v0");
    assert_eq!((machine.wave.sgpr[4], machine.wave.sgpr[5]), (0xc000_0000, 0));
    let machine = run("gfx600", 64, "v_cmps_nlt_f32 s[4:5], v0, v0\nv_cmpsx_f_f64 vcc, v[0:1], v[0:1]");
    assert_eq!((machine.wave.pair(4), machine.wave.exec()), (!0, 0));
    let machine = run("gfx906", 64, "v_cndmask_b32 v2, v0, -1, vcc");
    assert_eq!(machine.first(2), [u32::MAX, 1, u32::MAX, 3]);
}
