//! Races between groups on several threads: a kernel has the same findings on any number of threads, in every run.

use crate::harness::{BYTES, Kernel, kernel, source, with_start};
use sim::{CodeObject, Device, Dispatch, Mode};

/// Runs of a kernel on each number of threads.
const RUNS: usize = 40;

/// Runs a kernel in strict mode to its end. Returns its findings, the way it ended, and what it left in memory.
fn outcome(kernel: &Kernel<'_>, object: &CodeObject, threads: usize) -> (Vec<String>, String, Vec<u8>) {
    let mut device = Device::with_threads(threads);
    device.set_mode(Mode::Strict { keep_going: true });
    let module = device.load(object).expect("it fits");
    let buffer = device.alloc(BYTES).expect("room");
    let dispatch = Dispatch {
        kernel: "k",
        grid: [kernel.grid, 1, 1],
        group: [kernel.group, 1, 1],
        kernarg: buffer.to_le_bytes().to_vec(),
        ..Dispatch::default()
    };
    let end = device.run(module, &dispatch).map(|stats| stats.instructions);
    let mut left = vec![0; BYTES as usize];
    device.read(buffer, &mut left).expect("it is there");
    (device.reports().iter().map(ToString::to_string).collect(), format!("{end:?}"), left)
}

/// Each run on several threads ends like the run on one thread, which has findings by exactly these rules.
#[track_caller]
fn same_on_all_threads(kernel: &Kernel<'_>, rules: &[&str]) {
    let options = asm::Options { target: isa::Target::by_name(kernel.cpu), ..asm::Options::default() };
    let bytes = asm::assemble(&source(kernel), &options).expect("it assembles");
    let object = CodeObject::load(&bytes).expect("it loads");
    let wanted = outcome(kernel, &object, 1);
    let found: Vec<bool> =
        rules.iter().map(|rule| wanted.0.iter().any(|report| report.contains(rule))).collect();
    assert!(found.iter().all(|found| *found) && found.len() == wanted.0.len(), "{:#?}", wanted.0);
    for threads in [2, 3, 4] {
        let other = (0..RUNS).filter(|_| outcome(kernel, &object, threads) != wanted).count();
        assert_eq!(other, 0, "{other} of {RUNS} runs on {threads} threads differ from the run on one thread");
    }
}

/// Groups of one wave, which run at the same time.
fn groups<'a>(body: &'a str, count: u32) -> Kernel<'a> {
    Kernel { grid: 64 * count, ..kernel(body) }
}

/// `s6` is the byte offset of the group's dwords, `v2` that of the lane's dword.
fn with_own_dwords(body: &str) -> String {
    with_start(&format!("s_lshl_b32 s6, s2, 8\nv_add_u32 v2, s6, v1\n{body}"))
}

/// The last lane reads the first dword of the next group.
#[test]
fn a_neighbour_is_read() {
    let body = with_own_dwords(
        "global_load_dword v3, v2, s[4:5] offset:4
s_waitcnt vmcnt(0)
v_add_u32 v3, 1, v3
global_store_dword v2, v3, s[4:5]",
    );
    same_on_all_threads(&groups(&body, 2), &["race-write-after-read"]);
    same_on_all_threads(&groups(&body, 16), &["race-write-after-read"]);
}

/// All groups read a dword, and one of them writes it. The groups do the same until the write.
#[test]
fn all_read_what_one_writes() {
    let body = with_own_dwords(
        "v_mov_b32 v4, 0
v_mov_b32 v5, 1
global_load_dword v3, v4, s[4:5]
s_waitcnt vmcnt(0)
s_cmp_eq_u32 s2, 0
s_cbranch_scc0 Lend
global_store_dword v4, v5, s[4:5]
Lend:",
    );
    same_on_all_threads(&groups(&body, 2), &["race-read-after-write"]);
    same_on_all_threads(&groups(&body, 16), &["race-read-after-write"]);
}

/// Group 0 stores the value that is there already, which is a race with the other groups' stores.
#[test]
fn one_of_them_stores_what_is_there() {
    let body = with_start(
        "v_mov_b32 v4, 0
v_mov_b32 v5, s2
global_store_dword v4, v5, s[4:5]",
    );
    same_on_all_threads(&groups(&body, 2), &["race-write-after-write"]);
}

/// Group 0 publishes data without a wait; group 1 looks at the flag once.
#[test]
fn a_flag_is_looked_at_once() {
    let body = with_start(
        "v_mov_b32 v2, 1
v_mov_b32 v3, 0
s_cmp_eq_u32 s2, 0
s_cbranch_scc0 Lconsumer
global_store_dword v1, v2, s[4:5] offset:256
global_store_dword v3, v2, s[4:5]
s_endpgm
Lconsumer:
global_load_dword v5, v3, s[4:5] glc
s_waitcnt vmcnt(0)
buffer_wbinvl1_vol
v_cmp_eq_u32 vcc, 1, v5
s_cbranch_vccz Lend
global_load_dword v6, v1, s[4:5] offset:256
s_waitcnt vmcnt(0)
Lend:",
    );
    same_on_all_threads(&groups(&body, 2), &["race-read-after-write"]);
}

/// An atomic that returns nothing is the flag.
#[test]
fn a_count_is_looked_at_once() {
    let body = with_start(
        "v_mov_b32 v2, 1
v_mov_b32 v3, 0
s_cmp_eq_u32 s2, 0
s_cbranch_scc0 Lconsumer
global_store_dword v1, v2, s[4:5] offset:256
global_atomic_add v3, v2, s[4:5]
s_endpgm
Lconsumer:
global_load_dword v5, v3, s[4:5] glc
s_waitcnt vmcnt(0)
buffer_wbinvl1_vol
v_cmp_ne_u32 vcc, 0, v5
s_cbranch_vccz Lend
global_load_dword v6, v1, s[4:5] offset:256
s_waitcnt vmcnt(0)
Lend:",
    );
    same_on_all_threads(&groups(&body, 2), &["race-read-after-write"]);
}

/// Each lane stores one byte, and the last lane of a group also the first byte of the next group.
#[test]
fn bytes_of_a_neighbour_are_written() {
    let body = with_start(
        "s_lshl_b32 s6, s2, 6
v_add_u32 v2, s6, v0
v_mov_b32 v3, s2
v_add_u32 v3, 1, v3
global_store_byte v2, v3, s[4:5]
global_store_byte v2, v3, s[4:5] offset:1",
    );
    same_on_all_threads(&groups(&body, 2), &["race-write-after-write"]);
}

/// A kernel without a race has no finding, although all groups add to one dword and read one line.
#[test]
fn groups_that_only_add() {
    let body = with_own_dwords(
        "v_mov_b32 v4, 0
v_mov_b32 v5, 1
global_load_dword v3, v1, s[4:5] offset:1024
global_atomic_add v4, v5, s[4:5]
s_waitcnt vmcnt(0)
v_add_u32 v3, 1, v3
v_add_u32 v2, 0x2000, v2
global_store_dword v2, v3, s[4:5]",
    );
    same_on_all_threads(&groups(&body, 16), &[]);
}
