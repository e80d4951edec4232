//! Planted bugs: for each class a small kernel with one, which strict mode must report by its rule, and its correct twin, of
//! which it must say nothing.

use crate::harness::{
    BYTES, Kernel, kernel, pair, planted, planted_in, run, run_on, source, twins, verdict, with_start,
};
use sim::{CodeObject, Device, Dispatch, Fault, FaultClass, Mode};

#[test]
fn a_load_is_used_before_it_is_there() {
    let body = with_start(
        "global_load_dword v2, v1, s[4:5]
!s_waitcnt vmcnt(0)
v_add_u32 v3, v2, v2",
    );
    planted(&body, FaultClass::Hazard, "read-in-flight");
}

#[test]
fn a_scalar_load_is_used_before_it_is_there() {
    let body = "s_load_dwordx2 s[4:5], s[0:1], 0x0
!s_waitcnt lgkmcnt(0)
s_mov_b32 s6, s4";
    planted(body, FaultClass::Hazard, "read-in-flight");
}

#[test]
fn scalar_loads_return_in_any_order() {
    let body = "s_load_dwordx2 s[4:5], s[0:1], 0x0
s_load_dword s6, s[0:1], 0x0
?s_waitcnt lgkmcnt(1)
!s_waitcnt lgkmcnt(0)
s_mov_b32 s7, s4
s_waitcnt lgkmcnt(0)";
    planted(body, FaultClass::Hazard, "read-in-flight");
}

#[test]
fn a_destination_is_written_under_a_load() {
    let body = with_start(
        "global_load_dword v2, v1, s[4:5]
!s_waitcnt vmcnt(0)
v_mov_b32 v2, 0
s_waitcnt vmcnt(0)",
    );
    planted(&body, FaultClass::Hazard, "write-in-flight");
}

#[test]
fn too_few_wait_states() {
    let (bad, good) = twins(&with_start(
        "v_mov_b32 v2, s4
v_mov_b32 v3, s5
s_nop 4
v_readfirstlane_b32 s6, v2
v_readfirstlane_b32 s7, v3
!s_nop 4
global_load_dword v4, v1, s[6:7]
s_waitcnt vmcnt(0)",
    ));
    let found = verdict(&kernel(&bad));
    assert!(matches!(found, Ok((FaultClass::Hazard, _))), "{found:?}");
    assert_eq!(run(&kernel(&good)), Ok(()));
}

/// The first load brings an address that is no multiple of the second one's size.
#[test]
fn a_load_that_may_be_replayed_overwrites_its_address() {
    let body = "
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        s_waitcnt lgkmcnt(0)
        s_add_u32 s4, s4, 4
        s_addc_u32 s5, s5, 0
        s_load_dwordx2 s[REG], s[4:5], 0x0
        s_waitcnt lgkmcnt(0)";
    let [bad, good] = ["4:5", "6:7"].map(|pair| body.replace("REG", pair));
    let replaying = |body| Kernel { cpu: "gfx902:xnack+", ..kernel(body) };
    pair(replaying(&bad), replaying(&good), FaultClass::Hazard, "xnack-own-address");
    // Aligned, and without XNACK: no part of it comes alone.
    assert!(run(&replaying(&bad.replace("s_add_u32 s4, s4, 4", "s_add_u32 s4, s4, 8"))).is_ok());
    assert!(run(&Kernel { cpu: "gfx902:xnack-", ..kernel(&bad) }).is_ok());
}

/// A load is executed again with its clause, of which another load has overwritten the address, or a store the place.
#[test]
fn a_clause_that_may_be_replayed() {
    let body = "
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        v_mov_b32 v1, 0
        v_mov_b32 v2, 0
        v_mov_b32 v5, 1
        s_waitcnt lgkmcnt(0)
        global_load_dword v3, v1, s[4:5]
        BETWEEN
        SECOND
        s_waitcnt vmcnt(0)";
    for (second, rule) in [
        ("global_load_dword v1, v2, s[4:5] offset:4", "xnack-clause"),
        ("global_store_dword v2, v5, s[4:5]", "xnack-clause-store"),
    ] {
        let [bad, good] =
            ["", "s_nop 0"].map(|between| body.replace("BETWEEN", between).replace("SECOND", second));
        let replaying = |body| Kernel { cpu: "gfx902:xnack+", ..kernel(body) };
        pair(replaying(&bad), replaying(&good), FaultClass::Hazard, rule);
        assert!(run(&Kernel { cpu: "gfx902:xnack-", ..kernel(&bad) }).is_ok());
    }
}

/// A device says whether it replays: what is for either is checked for that, and what is for another is not loaded.
#[test]
fn a_device_that_does_not_replay() {
    let body = "
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        v_mov_b32 v1, 0
        v_mov_b32 v2, 0
        s_waitcnt lgkmcnt(0)
        global_load_dword v3, v1, s[4:5]
        global_load_dword v1, v2, s[4:5] offset:4
        s_waitcnt vmcnt(0)";
    let run = |xnack: Option<bool>, device_has: Option<bool>| {
        let options =
            asm::Options { target: isa::Target::by_name("gfx902"), xnack, ..asm::Options::default() };
        let bytes = asm::assemble(&source(&kernel(body)), &options).expect("it assembles");
        let object = CodeObject::load(&bytes).expect("it loads");
        let mut device = Device::with_threads(1);
        device.set_mode(Mode::STRICT);
        device.set_xnack(device_has);
        let module = device.load(&object).map_err(|fault| fault.to_string())?;
        let buffer = device.alloc(BYTES).expect("room");
        let kernarg = buffer.to_le_bytes().to_vec();
        let dispatch =
            Dispatch { kernel: "k", grid: [1, 1, 1], group: [1, 1, 1], kernarg, ..Dispatch::default() };
        match device.run(module, &dispatch) {
            Err(Fault::Found(report)) => Ok(report.rule.clone()),
            other => other.map(|_| String::new()).map_err(|fault| fault.to_string()),
        }
    };
    for (object, device, rule) in [
        (None, None, ""),
        (None, Some(true), "xnack-clause"),
        (None, Some(false), ""),
        (Some(true), Some(true), "xnack-clause"),
        (Some(false), Some(false), ""),
    ] {
        assert_eq!(run(object, device).as_deref(), Ok(rule), "{object:?} on {device:?}");
    }
    for (object, device, says) in [
        (true, false, "is for gfx902:xnack+, and the device is gfx902:xnack-"),
        (false, true, "is for gfx902:xnack-, and the device is gfx902:xnack+"),
    ] {
        let refused = run(Some(object), Some(device)).expect_err("another setting");
        assert!(refused.contains(says), "{refused}");
    }
}

#[test]
fn a_branch_on_nothing() {
    let body = "!s_mov_b32 s20, 0
s_cmp_eq_u32 s20, 0
s_cbranch_scc1 L
s_nop 0
L:";
    planted(body, FaultClass::Uninitialised, "uninitialised-branch");
}

#[test]
fn a_branch_on_nothing_in_a_vector() {
    let body = "!v_mov_b32 v9, 1
v_cmp_eq_u32 vcc, 1, v9
s_cbranch_vccz L
s_nop 0
L:";
    planted(body, FaultClass::Uninitialised, "uninitialised-branch");
}

#[test]
fn exec_from_nothing() {
    let body = "!s_mov_b64 s[20:21], 3
s_and_b64 exec, exec, s[20:21]";
    planted(body, FaultClass::Uninitialised, "uninitialised-exec");
}

#[test]
fn an_address_from_nothing() {
    let body = with_start(
        "!v_mov_b32 v10, 0
global_load_dword v2, v10, s[4:5]
s_waitcnt vmcnt(0)",
    );
    planted(&body, FaultClass::Uninitialised, "uninitialised-address");
}

#[test]
fn a_base_from_nothing() {
    let body = with_start(
        "s_mov_b32 s20, s4
!s_mov_b32 s21, s5
global_load_dword v2, v1, s[20:21]
s_waitcnt vmcnt(0)",
    );
    planted(&body, FaultClass::Uninitialised, "uninitialised-address");
}

#[test]
fn a_store_of_nothing() {
    let body = with_start(
        "!v_mov_b32 v10, 7
v_add_u32 v11, 1, v10
global_store_dword v1, v11, s[4:5]",
    );
    planted(&body, FaultClass::Uninitialised, "uninitialised-store");
}

/// A lane's undefined value reaches a row of the result, in other lanes too.
#[test]
fn a_matrix_of_nothing() {
    let body = with_start(
        "v_mov_b32 v2, 1.0
v_mov_b32 v3, 0
s_mov_b64 exec, 2
!v_mov_b32 v10, 2.0
s_mov_b64 exec, -3
v_mov_b32 v10, 2.0
s_mov_b64 exec, -1
v_accvgpr_write_b32 a0, v3
v_accvgpr_write_b32 a1, v3
v_accvgpr_write_b32 a2, v3
v_accvgpr_write_b32 a3, v3
s_nop 7
v_mfma_f32_4x4x1f32 a[0:3], v10, v2, a[0:3]
s_nop 7
s_nop 7
v_accvgpr_read_b32 v4, a1
s_nop 4
global_store_dword v1, v4, s[4:5]",
    );
    let shape = Kernel { cpu: "gfx908", ..kernel(&body) };
    planted_in(shape, FaultClass::Uninitialised, "uninitialised-store");
}

#[test]
fn lds_that_nobody_has_written() {
    let body = with_start(
        "v_mov_b32 v2, 5
!ds_write_b32 v1, v2
ds_read_b32 v3, v1
s_waitcnt lgkmcnt(0)
global_store_dword v1, v3, s[4:5]",
    );
    planted(&body, FaultClass::Uninitialised, "uninitialised-store");
}

/// Undefined values may be moved, masked and overwritten; a compiler does it all the time.
#[test]
fn undefined_values_that_do_not_matter() {
    let body = with_start(
        "v_mov_b32 v11, v10
v_and_b32 v12, 0, v11
v_or_b32 v13, -1, v11
v_xor_b32 v14, v11, v11
v_lshlrev_b32 v15, 24, v0
v_and_b32 v16, 0xffffff, v11
v_or_b32 v15, v15, v16
v_lshrrev_b32 v15, 24, v15
v_writelane_b32 v17, s4, 3
v_readlane_b32 s8, v17, 3
s_mov_b32 s21, s20
s_cmp_eq_u32 s8, 0
s_cbranch_scc1 L
L:
ds_write_b32 v1, v11
ds_read_b32 v18, v1
s_andn2_b64 s[22:23], s[22:23], exec
s_and_b64 s[22:23], s[22:23], exec
s_cbranch_scc1 M
M:
global_store_dword v1, v12, s[4:5]
global_store_dword v1, v13, s[4:5] offset:256
global_store_dword v1, v14, s[4:5] offset:512
global_store_dword v1, v15, s[4:5] offset:768
s_waitcnt lgkmcnt(0)",
    );
    assert_eq!(run(&kernel(&body)), Ok(()));
}

/// Two waves exchange through LDS.
const EXCHANGE: &str = "ds_write_b32 v1, v0
v_xor_b32 v2, 0x100, v1
!s_waitcnt lgkmcnt(0)
s_barrier
ds_read_b32 v3, v2
s_waitcnt lgkmcnt(0)
global_store_dword v1, v3, s[4:5]";

#[test]
fn a_store_to_lds_is_in_flight_at_a_barrier() {
    let body = with_start(EXCHANGE);
    let shape = Kernel { grid: 128, group: 128, ..kernel(&body) };
    planted_in(shape, FaultClass::Race, "race-read-after-write");
}

#[test]
fn a_barrier_is_missing() {
    let body = EXCHANGE.replace("!s_waitcnt", "s_waitcnt").replace("s_barrier", "!s_barrier");
    let body =
        with_start(&format!("v_mov_b32 v5, 0\nds_write_b32 v1, v5\ns_waitcnt lgkmcnt(0)\ns_barrier\n{body}"));
    let shape = Kernel { grid: 128, group: 128, ..kernel(&body) };
    // What wave 0 reads first, wave 1 writes later.
    planted_in(shape, FaultClass::Race, "race-write-after-read");
}

#[test]
fn a_barrier_is_missing_before_a_store() {
    // Wave 1 reads what wave 0 overwrites without waiting for it.
    let body = with_start(
        "ds_write_b32 v1, v0
s_waitcnt lgkmcnt(0)
s_barrier
v_xor_b32 v2, 0x100, v1
ds_read_b32 v3, v2
s_waitcnt lgkmcnt(0)
!s_barrier
v_add_u32 v3, 1, v3
ds_write_b32 v1, v3
s_waitcnt lgkmcnt(0)",
    );
    let shape = Kernel { grid: 128, group: 128, ..kernel(&body) };
    let (bad, good) = twins(shape.body);
    let found = verdict(&Kernel { body: &bad, ..shape });
    assert!(matches!(found, Ok((FaultClass::Race, _))), "{found:?}");
    assert_eq!(run(&Kernel { body: &good, ..shape }), Ok(()));
}

#[test]
fn atomics_on_lds_and_a_plain_read() {
    let body = with_start(
        "v_mov_b32 v2, 0
v_mov_b32 v3, 1
v_mov_b32 v4, 0
v_cmp_gt_u32 vcc, 64, v0
s_and_saveexec_b64 s[8:9], vcc
ds_write_b32 v1, v4
s_mov_b64 exec, s[8:9]
s_waitcnt lgkmcnt(0)
s_barrier
ds_add_u32 v2, v3
s_waitcnt lgkmcnt(0)
!s_barrier
ds_read_b32 v5, v2
s_waitcnt lgkmcnt(0)
global_store_dword v1, v5, s[4:5]",
    );
    let shape = Kernel { grid: 128, group: 128, ..kernel(&body) };
    let (bad, good) = twins(shape.body);
    assert_eq!(run(&Kernel { body: &good, ..shape }), Ok(()));
    let found = verdict(&Kernel { body: &bad, ..shape });
    assert!(matches!(found, Ok((FaultClass::Race, _))), "{found:?}");
}

/// The atomic of the wave that has stored comes between its store and the other wave's atomic.
#[test]
fn an_atomic_hides_a_store_to_lds() {
    let body = with_start(
        "v_mov_b32 v2, 0
v_mov_b32 v3, 1
v_mov_b32 v4, 0
v_cmp_gt_u32 vcc, 64, v0
s_and_saveexec_b64 s[8:9], vcc
ds_write_b32 v1, v4
s_mov_b64 exec, s[8:9]
!s_waitcnt lgkmcnt(0)
s_barrier
ds_add_u32 v2, v3
s_waitcnt lgkmcnt(0)
s_barrier
ds_read_b32 v5, v2
s_waitcnt lgkmcnt(0)
global_store_dword v1, v5, s[4:5]",
    );
    let shape = Kernel { grid: 128, group: 128, ..kernel(&body) };
    planted_in(shape, FaultClass::Race, "race-write-after-write");
}

/// LDS serves a wave in order: a release by an atomic in LDS needs no wait for stores there. Without a barrier for the
/// count the other wave's first look at it would be a race.
#[test]
fn lds_releases_in_order() {
    let body = with_start(
        "v_mov_b32 v2, 0x100
v_mov_b32 v3, 1
v_mov_b32 v4, 0
ds_write_b32 v2, v4
s_waitcnt lgkmcnt(0)
!s_barrier
v_cmp_gt_u32 vcc, 64, v0
s_cbranch_vccz Lreader
ds_write_b32 v1, v0
ds_add_u32 v2, v3
s_branch Lend
Lreader:
ds_add_rtn_u32 v5, v2, v4
s_waitcnt lgkmcnt(0)
v_readfirstlane_b32 s9, v5
s_cmp_lt_u32 s9, 64
s_cbranch_scc1 Lreader
v_and_b32 v1, 0xfc, v1
ds_read_b32 v6, v1
s_waitcnt lgkmcnt(0)
global_store_dword v1, v6, s[4:5]
Lend:",
    );
    let shape = Kernel { grid: 128, group: 128, ..kernel(&body) };
    let (bad, good) = twins(shape.body);
    assert_eq!(run(&Kernel { body: &good, ..shape }), Ok(()));
    let found = verdict(&Kernel { body: &bad, ..shape });
    assert!(matches!(found, Ok((FaultClass::Race, _))), "{found:?}");
}

#[test]
fn groups_store_to_the_same_place() {
    let body = with_start(
        "?v_mov_b32 v2, s2
!v_mov_b32 v2, 7
global_store_dword v1, v2, s[4:5]",
    );
    let shape = Kernel { grid: 128, group: 64, ..kernel(&body) };
    planted_in(shape, FaultClass::Race, "race-write-after-write");
}

/// Group 0 stores data and a flag, group 1 waits for the flag and loads the data. It has loaded the data's line before.
const MESSAGE: &str = "v_mov_b32 v2, 1
v_mov_b32 v3, 0
v_mov_b32 v4, 42
s_cmp_eq_u32 s2, 0
s_cbranch_scc0 CONSUMER
global_store_dword v1, v4, s[4:5] offset:256
WAIT_RELEASE
global_store_dword v3, v2, s[4:5]
s_endpgm
CONSUMER:
global_load_dword v5, v3, s[4:5] glc
s_waitcnt vmcnt(0)
INVALIDATE
v_cmp_eq_u32 vcc, 1, v5
s_cbranch_vccz CONSUMER
global_load_dword v6, v1, s[4:5] offset:256
s_waitcnt vmcnt(0)
global_store_dword v1, v6, s[4:5] offset:1024";

#[test]
fn a_release_does_not_wait() {
    let body =
        MESSAGE.replace("WAIT_RELEASE", "!s_waitcnt vmcnt(0)").replace("INVALIDATE", "buffer_wbinvl1_vol");
    let body = with_start(&body);
    let shape = Kernel { grid: 128, group: 64, ..kernel(&body) };
    planted_in(shape, FaultClass::Race, "race-read-after-write");
}

#[test]
fn an_acquire_does_not_invalidate() {
    let body =
        MESSAGE.replace("WAIT_RELEASE", "s_waitcnt vmcnt(0)").replace("INVALIDATE", "!buffer_wbinvl1_vol");
    let body = with_start(&body);
    let shape = Kernel { grid: 128, group: 64, ..kernel(&body) };
    planted_in(shape, FaultClass::Race, "stale-vector-cache");
}

#[test]
fn a_scalar_load_of_what_was_stored() {
    let body = with_start(
        "v_mov_b32 v2, 3
global_store_dword v1, v2, s[4:5]
s_waitcnt vmcnt(0)
!s_dcache_inv
s_load_dword s6, s[4:5], 0x0
s_waitcnt lgkmcnt(0)",
    );
    planted(&body, FaultClass::Race, "stale-scalar-cache");
}

/// A flat instruction counts on both counters of GFX10, and in order: also on `vmcnt` when all its lanes go to LDS.
#[test]
fn flat_to_lds_between_a_load_and_its_wait() {
    let body = with_start(
        "v_lshlrev_b32 v4, 2, v0
s_mov_b64 s[6:7], src_shared_base
v_mov_b32 v5, s7
ds_write_b32 v4, v0
s_waitcnt lgkmcnt(0)
global_load_dword v3, v1, s[4:5]
flat_load_dword v6, v[4:5]
!s_waitcnt vmcnt(1)
v_mov_b32 v7, v3",
    );
    let shape = Kernel { cpu: "gfx1010", ..kernel(&body) };
    planted_in(shape, FaultClass::Hazard, "read-in-flight");
}

#[test]
fn lds_without_m0() {
    let body = "v_lshlrev_b32 v1, 2, v0
!s_mov_b32 m0, -1
ds_write_b32 v1, v0";
    let shape = Kernel { cpu: "gfx803", ..kernel(body) };
    planted_in(shape, FaultClass::Uninitialised, "lds-without-m0");
}

#[test]
fn lds_misaligned() {
    let body = "?v_lshlrev_b32 v1, 2, v0
!v_lshlrev_b32 v1, 3, v0
v_mov_b32 v2, 0
v_mov_b32 v3, 0
s_mov_b32 m0, -1
ds_write_b64 v1, v[2:3]";
    let shape = Kernel { cpu: "gfx803", ..kernel(body) };
    planted_in(shape, FaultClass::Fault, "");
}

#[test]
fn scratch_without_flat_scratch() {
    // s[2:3] is the flat scratch init, s5 the wave's offset.
    let body = "v_mov_b32 v1, 0
v_mov_b32 v2, 4
!s_add_u32 flat_scratch_lo, s2, s5
!s_addc_u32 flat_scratch_hi, s3, 0
s_nop 4
scratch_store_dword v1, v2, off
s_waitcnt vmcnt(0)";
    let shape = Kernel { scratch: 16, ..kernel(body) };
    let (bad, good) = twins(shape.body);
    let found = verdict(&Kernel { body: &bad, ..shape });
    assert!(found.is_ok(), "{found:?}");
    assert_eq!(run(&Kernel { body: &good, ..shape }), Ok(()));
}

#[test]
fn registers_beyond_the_descriptor() {
    planted("?v_mov_b32 v24, 0\n!v_mov_b32 v23, 0", FaultClass::Resource, "");
}

#[test]
fn an_address_beyond_the_buffer() {
    let body = with_start(
        "?v_mov_b32 v2, 0x10000
!v_mov_b32 v2, 0xfff0
global_load_dword v3, v2, s[4:5]
s_waitcnt vmcnt(0)",
    );
    planted(&body, FaultClass::Fault, "");
}

#[test]
fn an_endless_loop() {
    let body = "s_mov_b32 s8, 0
L:
s_add_u32 s8, s8, 1
?s_branch L
!s_cmp_lt_u32 s8, 10
!s_cbranch_scc1 L";
    planted(body, FaultClass::Budget, "");
}

#[test]
fn waves_wait_for_one_another() {
    // Nobody sets the flag, and the other wave of the group is at a barrier.
    let body = with_start(
        "v_mov_b32 v2, 0
v_readfirstlane_b32 s8, v0
s_cmp_eq_u32 s8, 0
s_cbranch_scc1 REACHED
L:
global_load_dword v3, v2, s[4:5] glc
s_waitcnt vmcnt(0)
v_cmp_eq_u32 vcc, 0, v3
?s_cbranch_vccnz L
REACHED:
s_barrier",
    );
    let shape = Kernel { grid: 128, group: 128, ..kernel(&body) };
    planted_in(shape, FaultClass::Deadlock, "");
}

/// GFX10: the waves of a group may be on two compute units.
const GFX10_EXCHANGE: &str = "s_load_dwordx2 s[4:5], s[0:1], 0x0
v_lshlrev_b32 v1, 2, v0
s_waitcnt lgkmcnt(0)
v_xor_b32 v2, 0x80, v1
global_load_dword v4, v2, s[4:5]
s_waitcnt vmcnt(0)
s_barrier
global_store_dword v1, v0, s[4:5]
WAIT
s_barrier
INVALIDATE
global_load_dword v3, v2, s[4:5]
s_waitcnt vmcnt(0)
global_store_dword v1, v3, s[4:5] offset:1024";

#[test]
fn gfx10_stores_are_counted_apart() {
    let body = GFX10_EXCHANGE
        .replace("WAIT", "s_waitcnt vmcnt(0)\n!s_waitcnt_vscnt null, 0x0")
        .replace("INVALIDATE", "buffer_gl0_inv");
    let shape = Kernel { cpu: "gfx1010", grid: 64, group: 64, ..kernel(&body) };
    planted_in(shape, FaultClass::Race, "race-read-after-write");
}

#[test]
fn gfx10_groups_have_two_caches() {
    let body =
        GFX10_EXCHANGE.replace("WAIT", "s_waitcnt_vscnt null, 0x0").replace("INVALIDATE", "!buffer_gl0_inv");
    let shape = Kernel { cpu: "gfx1010", grid: 64, group: 64, ..kernel(&body) };
    planted_in(shape, FaultClass::Race, "stale-vector-cache");
}

/// Group `n` waits `(63 - n) * 4` thousand times and then writes behind the buffer; the last one does so at once.
const LATE_FAULTS: &str = "
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_sub_u32 s8, 63, s2
  s_mulk_i32 s8, 4000
wait:
  s_sub_u32 s8, s8, 1
  s_cmp_gt_i32 s8, 0
  s_cbranch_scc1 wait
  v_mov_b32 v1, 0x20000
  v_mov_b32 v2, 0
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v2, s[4:5]";

/// Every group writes the same dword.
const RACE_OF_GROUPS: &str = "
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, s2
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v2, s[4:5]
  global_load_dword v3, v1, s[4:5]
  s_waitcnt vmcnt(0)";

#[test]
fn the_same_failure_on_any_number_of_threads() {
    let cases = [
        ("late faults", LATE_FAULTS, Mode::Fast),
        ("late faults", LATE_FAULTS, Mode::STRICT),
        ("race", RACE_OF_GROUPS, Mode::STRICT),
    ];
    for (name, body, mode) in cases {
        let kernel = Kernel { grid: 64 * 64, ..kernel(body) };
        let failure = |threads| run_on(&kernel, mode, threads, 1 << 32).expect_err("it fails").to_string();
        let wanted = failure(1);
        for threads in [2, 3, 4, 4, 4, 8, 8, 8] {
            assert_eq!(failure(threads), wanted, "{name}, {mode:?}, {threads} threads");
        }
    }
}
