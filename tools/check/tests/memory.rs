//! Orders of memory that show in straight lines: loads to LDS, stores from LDS, scalar stores.

use crate::common::{ids, target};

#[track_caller]
fn check(processor: &str, text: &str, expected: &[&str]) {
    assert_eq!(ids(target(processor), text), expected, "{processor}\n{text}");
}

const LOAD: &str = "buffer_load_dword v1, s[8:11], 0 offen lds\n";

/// Nothing but the load can have filled what is read.
#[test]
fn lds_is_read_before_a_load_has_filled_it() {
    for processor in ["gfx600", "gfx700", "gfx803", "gfx906", "gfx90a", "gfx1010", "gfx1030"] {
        check(processor, &format!("{LOAD}ds_read_b32 v2, v1"), &["lds-transfer-in-flight 0 1"]);
        check(processor, &format!("{LOAD}s_barrier\nds_read_b32 v2, v1"), &["lds-transfer-in-flight 0 2"]);
        check(
            processor,
            &format!("{LOAD}s_waitcnt lgkmcnt(0)\nds_read_b32 v2, v1"),
            &["lds-transfer-in-flight 0 2"],
        );
        check(processor, &format!("{LOAD}s_waitcnt vmcnt(0)\nds_read_b32 v2, v1"), &[]);
    }
    let store = "buffer_store_lds_dword s[8:11], 0 lds";
    check("gfx906", &format!("ds_write_b32 v1, v2\n{store}"), &["lds-transfer-in-flight 0 1"]);
    check("gfx906", &format!("ds_write_b32 v1, v2\ns_waitcnt lgkmcnt(0)\n{store}"), &[]);
    check("gfx906", &format!("{LOAD}{store}"), &["lds-transfer-in-flight 0 1"]);
}

/// Another part of LDS may be meant: advice.
#[test]
fn lds_is_read_while_a_part_of_it_is_loaded() {
    let may = "lds-transfer-may-overlap";
    let filled = format!("{LOAD}s_waitcnt vmcnt(0)\n{LOAD}");
    check("gfx906", &format!("{filled}ds_read_b32 v2, v1"), &[&format!("{may} 2 3")]);
    check("gfx906", &format!("{LOAD}{LOAD}s_waitcnt vmcnt(1)\nds_read_b32 v2, v1"), &[&format!("{may} 1 3")]);
    check(
        "gfx906",
        &format!("ds_write_b32 v1, v2\n{LOAD}ds_read_b32 v3, v1"),
        &[&format!("{may} 0 1"), &format!("{may} 1 2")],
    );
    check("gfx906", &format!("{LOAD}ds_write_b32 v1, v2"), &[&format!("{may} 0 1")]);
    check("gfx906", &format!("{LOAD}{LOAD}"), &[]);
}

#[test]
fn scalar_stores_are_written_back_before_the_end() {
    for processor in ["gfx803", "gfx906"] {
        let store = "s_store_dword s4, s[6:7], 0x0\n";
        check(processor, &format!("{store}s_endpgm"), &["scalar-store-not-written-back 0 1"]);
        check(processor, &format!("{store}s_dcache_wb\ns_endpgm"), &[]);
        check(processor, &format!("s_dcache_wb\n{store}s_endpgm"), &["scalar-store-not-written-back 1 2"]);
    }
    check("gfx906", "s_atomic_add s4, s[6:7], 0x0\ns_endpgm", &[]);
}
