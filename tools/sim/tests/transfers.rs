//! Loads to LDS, stores from LDS and scalar stores: what strict mode reports where a wait or a write-back is missing, and
//! what weak mode shows. Accesses out of range of a buffer resource. Lanes of one wave in objects that do not say which
//! accesses are atomic.

use crate::harness::{Kernel, contents, kernel, pair, planted, planted_in, run, run_at, twins, with_start};
use sim::{Fault, FaultClass, Mode};

const IN_FLIGHT: &str = "lds-transfer-in-flight";

/// `s[8:11]` is a descriptor of the buffer, `s12` an offset in it, and `v1` the byte offset of the lane's dword there and in
/// LDS; M0 is the base of LDS.
fn transfer(body: &str) -> String {
    with_start(&format!(
        "s_mov_b32 s8, s4
s_mov_b32 s9, s5
s_mov_b32 s10, 0x10000
s_mov_b32 s11, 0x27000
s_movk_i32 s12, 0x4000
s_mov_b32 m0, 0
s_nop 0
{body}"
    ))
}

const LOAD: &str = "buffer_load_dword v1, s[8:11], s12 offen lds\n";
const READ: &str = "ds_read_b32 v3, v1
s_waitcnt vmcnt(0) lgkmcnt(0)
global_store_dword v1, v3, s[4:5]
s_waitcnt vmcnt(0)";

fn load_then_read() -> String {
    transfer(&format!("{LOAD}!s_waitcnt vmcnt(0)\n{READ}"))
}

/// An LDS instruction of the same wave reads too late: the load has come.
fn read_then_load() -> String {
    transfer(&format!(
        "v_mov_b32 v2, 7
ds_write_b32 v1, v2
s_waitcnt lgkmcnt(0)
ds_read_b32 v3, v1
!s_waitcnt lgkmcnt(0)
{LOAD}s_waitcnt vmcnt(0) lgkmcnt(0)
global_store_dword v1, v3, s[4:5]
s_waitcnt vmcnt(0)"
    ))
}

fn load_then_write() -> String {
    transfer(&format!("v_mov_b32 v2, 7\n{LOAD}!s_waitcnt vmcnt(0)\nds_write_b32 v1, v2\n{READ}"))
}

fn write_then_load() -> String {
    transfer(&format!(
        "v_mov_b32 v2, 7\nds_write_b32 v1, v2\n!s_waitcnt lgkmcnt(0)\n{LOAD}s_waitcnt vmcnt(0)\n{READ}"
    ))
}

fn write_then_store() -> String {
    transfer(
        "v_mov_b32 v2, 9
ds_write_b32 v1, v2
!s_waitcnt lgkmcnt(0)
buffer_store_lds_dword s[8:11], 0 lds
s_waitcnt vmcnt(0) lgkmcnt(0)
buffer_load_dword v4, v1, s[8:11], 0 offen
s_waitcnt vmcnt(0)",
    )
}

fn store_then_write() -> String {
    transfer(
        "v_mov_b32 v2, 9
v_mov_b32 v3, 10
ds_write_b32 v1, v2
s_waitcnt lgkmcnt(0)
buffer_store_lds_dword s[8:11], 0 lds
!s_waitcnt vmcnt(0)
ds_write_b32 v1, v3
s_waitcnt vmcnt(0) lgkmcnt(0)",
    )
}

fn load_then_store() -> String {
    transfer(&format!("{LOAD}!s_waitcnt vmcnt(0)\nbuffer_store_lds_dword s[8:11], 0 lds\ns_waitcnt vmcnt(0)"))
}

#[test]
fn transfers_and_lds_instructions_of_a_wave() {
    for body in
        [load_then_read(), load_then_write(), write_then_store(), store_then_write(), load_then_store()]
    {
        planted(&body, FaultClass::Hazard, IN_FLIGHT);
    }
}

/// LLVM relies on LDS instructions being faster than loads from memory: nothing is reported but by the manual.
#[test]
fn a_load_overtakes_lds_instructions() {
    for body in [read_then_load(), write_then_load()] {
        let (bad, good) = twins(&body);
        assert_eq!(run(&kernel(&bad)), Ok(()));
        assert_eq!(run_at(&kernel(&good), check::Level::Manual), Ok(()));
        match run_at(&kernel(&bad), check::Level::Manual) {
            Err(Fault::Found(report)) => assert_eq!(report.rule, "lds-transfer-overtakes"),
            other => panic!("{other:?}\n{bad}"),
        }
    }
}

#[test]
fn a_load_is_in_flight_at_a_barrier() {
    let body = transfer(&format!(
        "v_readfirstlane_b32 s20, v1
s_mov_b32 m0, s20
s_nop 0
{LOAD}!s_waitcnt vmcnt(0)
s_barrier
v_xor_b32 v5, 0x100, v1
ds_read_b32 v3, v5
s_waitcnt lgkmcnt(0)
global_store_dword v1, v3, s[4:5]"
    ));
    let shape = Kernel { grid: 128, group: 128, ..kernel(&body) };
    planted_in(shape, FaultClass::Race, "race-read-after-write");
}

/// Loads of the next part while the wave works on this one, as pipelined kernels do, and LDS instructions that a barrier
/// orders while a load is in flight.
#[test]
fn another_part_is_loaded_meanwhile() {
    let body = transfer(&format!(
        "{LOAD}s_waitcnt vmcnt(0)
s_movk_i32 m0, 0x400
s_nop 0
{LOAD}ds_read_b32 v3, v1
v_add_u32 v6, 0x800, v1
ds_write_b32 v6, v0
s_waitcnt lgkmcnt(0)
s_barrier
v_xor_b32 v7, 4, v6
ds_read_b32 v4, v7
s_waitcnt lgkmcnt(0)
global_store_dword v1, v3, s[4:5]
global_store_dword v1, v4, s[4:5] offset:1024
s_waitcnt vmcnt(0)
ds_read_b32 v5, v1 offset:1024
s_waitcnt lgkmcnt(0)
global_store_dword v1, v5, s[4:5] offset:2048"
    ));
    assert_eq!(run(&Kernel { grid: 128, group: 64, ..kernel(&body) }), Ok(()));
}

/// Some schedule of weak mode shows what a missing wait does, and none spoils the correct twin.
#[test]
fn weak_mode_shows_what_is_missing() {
    let bodies = [
        load_then_read(),
        read_then_load(),
        load_then_write(),
        write_then_load(),
        write_then_store(),
        store_then_write(),
        load_then_store(),
    ];
    for body in &bodies {
        let (bad, good) = twins(body);
        let wanted = contents(&kernel(&good), Mode::Fast).expect("it runs");
        let differs =
            |text: &str, seed| contents(&kernel(text), Mode::Weak { seed }).expect("it runs") != wanted;
        assert!(!(0..10).any(|seed| differs(&good, seed)), "{good}");
        assert!((0..60).any(|seed| differs(&bad, seed)), "{bad}");
    }
}

const SCALAR_STORE: &str = "s_mov_b32 s14, 42\ns_nop 2\ns_store_dword s14, s[4:5], 0x0\n";

#[test]
fn scalar_stores_are_written_back() {
    const RULE: &str = "scalar-store-not-written-back";
    for cpu in ["gfx803", "gfx906"] {
        let body = with_start(&format!("{SCALAR_STORE}!s_dcache_wb"));
        planted_in(Kernel { cpu, ..kernel(&body) }, FaultClass::Race, RULE);
    }
    let load = "v_mov_b32 v2, 0\nglobal_load_dword v3, v2, s[4:5]\ns_waitcnt vmcnt(0)\ns_dcache_wb";
    let body = with_start(&format!(
        "{SCALAR_STORE}s_waitcnt lgkmcnt(0)\n!s_dcache_wb\n!s_waitcnt lgkmcnt(0)\n{load}"
    ));
    planted(&body, FaultClass::Race, RULE);
    // The write-back is there, and nothing waits for it.
    let body = with_start(&format!("{SCALAR_STORE}s_dcache_wb\n!s_waitcnt lgkmcnt(0)\n{load}"));
    planted(&body, FaultClass::Race, RULE);
    // Another wave of the group reads it.
    let body = with_start(&format!(
        "v_readfirstlane_b32 s20, v0
s_cmp_lg_u32 s20, 0
s_cbranch_scc1 skip
{SCALAR_STORE}!s_dcache_wb
s_waitcnt lgkmcnt(0)
skip:
s_barrier
{load}"
    ));
    planted_in(Kernel { grid: 128, group: 128, ..kernel(&body) }, FaultClass::Race, RULE);
    // The same wave reads through the same cache.
    let body = with_start(&format!(
        "{SCALAR_STORE}s_waitcnt lgkmcnt(0)\ns_load_dword s15, s[4:5], 0x0\ns_waitcnt lgkmcnt(0)\ns_dcache_wb"
    ));
    pair(kernel(&body.replace("\ns_dcache_wb", "")), kernel(&body), FaultClass::Race, RULE);
}

#[test]
fn accesses_out_of_range_of_a_resource() {
    const RULE: &str = "buffer-out-of-range";
    let found = |body: &str| match run(&kernel(&transfer(body))) {
        Err(Fault::Found(report)) if report.rule == RULE => report.to_string(),
        other => panic!("{other:?}\n{body}"),
    };
    let store = "buffer_store_dword v0, v1, s[8:11], 0 offen\ns_waitcnt vmcnt(0)";
    let text = found(&format!("s_movk_i32 s10, 0x80\n{store}"));
    for part in ["offset 0x80", "s[8:11]", "0x80 bytes", "s_movk_i32 s10", "lane 32", "stores nothing"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    found("s_movk_i32 s10, 0x80\nbuffer_load_dword v2, v1, s[8:11], 0 offen\ns_waitcnt vmcnt(0)");
    found("s_movk_i32 s10, 0x80\nbuffer_atomic_add v0, v1, s[8:11], 0 offen\ns_waitcnt vmcnt(0)");
    found("s_movk_i32 s10, 0x10\nbuffer_store_format_x v0, v1, s[8:11], 0 offen\ns_waitcnt vmcnt(0)");
    // Registers that hold something else than a resource.
    let none =
        found("s_mov_b64 s[8:9], 0x55\ns_mov_b64 s[10:11], 3\nbuffer_store_dword v0, v1, s[8:11], 0 offen");
    assert!(none.contains("no buffer is at its address"), "{none}");
    let silent = [
        store,
        // A large offset tells a lane to do nothing.
        "v_cmp_gt_u32 vcc, 32, v0\nv_cndmask_b32 v1, -1, v1, vcc\nbuffer_store_dword v0, v1, s[8:11], 0 offen",
        // Lanes that are switched off.
        "s_movk_i32 s10, 0x80\ns_mov_b64 exec, 0xff\nbuffer_store_dword v0, v1, s[8:11], 0 offen",
    ];
    for body in silent {
        assert_eq!(run(&kernel(&transfer(body))), Ok(()), "{body}");
    }
}

/// What the lanes of a wave do to one place, by instructions that no compiler of ours has written.
#[test]
fn lanes_of_one_wave() {
    let zero = "v_mov_b32 v5, 0\n";
    let load = "global_load_dword v2, v5, s[4:5]\ns_waitcnt vmcnt(0)\n";
    let store = "global_store_dword v5, v2, s[4:5]\ns_waitcnt vmcnt(0)";
    let faulty = [
        (format!("{zero}v_mov_b32 v2, v0\n{store}"), "lane-race"),
        (format!("{zero}{load}v_add_u32 v2, 1, v2\n{store}"), "lane-lost-update"),
        // The value goes through other registers and a branch.
        (
            format!(
                "{zero}{load}v_readfirstlane_b32 s14, v2\ns_cmp_eq_u32 s14, 77\ns_cbranch_scc1 skip\n\
                 s_add_u32 s14, s14, 5\nskip:\nv_mov_b32 v2, s14\n{store}"
            ),
            "lane-lost-update",
        ),
        (
            format!(
                "{zero}v_cmp_gt_u32 vcc, 32, v0\nv_mov_b32 v2, 1\ns_and_saveexec_b64 s[20:21], vcc\n{store}\n\
                 s_andn2_b64 exec, s[20:21], exec\nv_mov_b32 v2, 2\n{store}\ns_mov_b64 exec, s[20:21]"
            ),
            "lane-race",
        ),
    ];
    for (body, rule) in faulty {
        match run(&kernel(&with_start(&body))) {
            Err(Fault::Found(report)) => assert_eq!(report.rule, rule, "{body}"),
            other => panic!("{other:?}\n{body}"),
        }
    }
    let right = [
        // One value, and one that depends on nothing that was read there.
        format!("{zero}v_mov_b32 v2, 1\n{store}"),
        format!("{zero}{load}v_mov_b32 v3, v2\nv_mov_b32 v2, 9\n{store}"),
        // One lane.
        format!("{zero}s_mov_b64 exec, 1\n{load}v_add_u32 v2, 1, v2\n{store}"),
        // Lane after lane, with both active in between.
        format!(
            "{zero}v_mov_b32 v2, 1\ns_mov_b64 exec, 1\n{store}\ns_mov_b64 exec, 3\nv_mov_b32 v2, 2\n\
             s_mov_b64 exec, 2\n{store}"
        ),
        // A value of one lane, which all store.
        format!(
            "v_lshlrev_b32 v5, 2, v0\n{load}v_readfirstlane_b32 s14, v2\ns_add_u32 s14, s14, 1\n\
             v_mov_b32 v2, s14\n{zero}{store}"
        ),
    ];
    for body in right {
        assert_eq!(run(&kernel(&with_start(&body))), Ok(()), "{body}");
    }
}
