//! Waits in straight lines: one that is missing or too weak, and one that does.

use crate::common::{ids, straight, target};

#[track_caller]
fn check(processor: &str, text: &str, expected: &[&str]) {
    assert_eq!(ids(target(processor), text), expected, "{processor}\n{text}");
}

#[test]
fn loads_in_order() {
    let text = |count| {
        format!(
            "global_load_dword v1, v[2:3], off\n global_load_dword v4, v[2:3], off\n \
             s_waitcnt vmcnt({count})\n v_mov_b32 v5, v1"
        )
    };
    check("gfx906", &text(1), &[]);
    check("gfx906", &text(2), &["read-in-flight 0 3"]);
    check("gfx906", &text(63), &["read-in-flight 0 3"]);
    check("gfx1030", &text(1), &[]);
    check("gfx1030", &text(2), &["read-in-flight 0 3"]);
}

/// The wait for more than a counter holds waits for nothing.
#[test]
fn a_full_counter() {
    let loads: String = (0..20).map(|n| format!("buffer_load_dword v{n}, off, s[0:3], 0\n")).collect();
    check("gfx803", &format!("{loads}s_waitcnt vmcnt(14)\nv_mov_b32 v40, v0"), &[]);
    check("gfx803", &format!("{loads}s_waitcnt vmcnt(15)\nv_mov_b32 v40, v0"), &["counter-at-limit 0 21"]);
}

#[test]
fn scalar_loads_return_in_any_order() {
    let text = |wait| {
        format!("s_load_dword s4, s[0:1], 0x0\ns_load_dword s5, s[0:1], 0x4\n{wait}\ns_mov_b32 s6, s4")
    };
    for processor in ["gfx600", "gfx700", "gfx803", "gfx900", "gfx1010", "gfx1030"] {
        check(processor, &text("s_waitcnt lgkmcnt(0)"), &[]);
        check(processor, &text("s_waitcnt lgkmcnt(1)"), &["read-in-flight 0 3"]);
    }
}

#[test]
fn lds_is_in_order_beside_scalar_loads() {
    let text = |count| {
        format!(
            "ds_read_b32 v1, v0\ns_load_dword s4, s[0:1], 0x0\nds_read_b32 v2, v0\ns_waitcnt lgkmcnt({count})\nv_mov_b32 v3, v1"
        )
    };
    check("gfx906", &text(1), &[]);
    check("gfx906", &text(2), &["read-in-flight 0 4"]);
}

/// Two loads to one register: in order the second wins; flat and LDS are in no order.
#[test]
fn overwriting_what_is_on_its_way() {
    check("gfx906", "global_load_dword v1, v[2:3], off\nglobal_load_dword v1, v[4:5], off", &[]);
    check("gfx906", "global_load_dword v1, v[2:3], off\nds_read_b32 v1, v4", &["write-in-flight 0 1"]);
    check("gfx906", "flat_load_dword v1, v[2:3]\nflat_load_dword v1, v[4:5]", &["write-in-flight 0 1"]);
    check("gfx906", "global_load_dword v1, v[2:3], off\nv_mov_b32 v1, 0", &["write-in-flight 0 1"]);
    check("gfx906", "s_load_dword s4, s[0:1], 0x0\ns_load_dword s4, s[2:3], 0x0", &["write-in-flight 0 1"]);
    check("gfx906", "s_load_dwordx2 vcc, s[0:1], 0x0\ns_mov_b64 exec, vcc", &["read-in-flight 0 1"]);
}

/// The second of two loads of halves keeps what the first brings: in order it is there by then (clang 19 does not wait).
#[test]
fn halves_of_a_register() {
    let hi = "buffer_load_short_d16_hi v1, v2, s[0:3], 0 offen offset:6";
    for processor in ["gfx900", "gfx1010", "gfx1030"] {
        for lo in ["ushort", "short_d16"] {
            check(processor, &format!("buffer_load_{lo} v1, v2, s[0:3], 0 offen\n{hi}"), &[]);
        }
        check(processor, &format!("ds_read_u16 v1, v2\n{hi}"), &["read-in-flight 0 1"]);
        check(
            processor,
            &format!("buffer_load_dword v2, v3, s[0:3], 0 offen\n{hi}"),
            &["read-in-flight 0 1"],
        );
        // The address is read at once, though it is in the same register.
        let own = "buffer_load_short_d16_hi v1, v1, s[0:3], 0 offen";
        check(
            processor,
            &format!("buffer_load_dword v1, v3, s[0:3], 0 offen\n{own}"),
            &["read-in-flight 0 1"],
        );
        check(processor, &format!("{hi}\nv_mov_b32 v4, v1"), &["read-in-flight 0 1"]);
    }
}

#[test]
fn flat_needs_both_counters() {
    let text = |wait| format!("flat_load_dword v1, v[2:3]\ns_waitcnt {wait}\nv_mov_b32 v5, v1");
    check("gfx906", &text("vmcnt(0) lgkmcnt(0)"), &[]);
    check("gfx906", &text("vmcnt(0)"), &["flat-partial-wait 0 2"]);
    check("gfx906", &text("lgkmcnt(0)"), &["read-in-flight 0 2"]);
    // GFX10 keeps flat in order.
    let two = |wait| {
        format!("flat_load_dword v1, v[2:3]\nflat_load_dword v4, v[2:3]\ns_waitcnt {wait}\nv_mov_b32 v5, v1")
    };
    check("gfx1030", &two("vmcnt(1) lgkmcnt(1)"), &[]);
    // Before GFX10 only practice does.
    check("gfx906", &two("vmcnt(1) lgkmcnt(1)"), &["flat-in-order 0 3"]);
    check("gfx906", &two("vmcnt(1)"), &["flat-in-order 0 3"]);
    check("gfx906", &two("vmcnt(2)"), &["read-in-flight 0 3"]);
    check("gfx906", &two("lgkmcnt(0)"), &["read-in-flight 0 3"]);
}

#[test]
fn stores_of_gfx6_hold_their_data() {
    let text = |wait| format!("buffer_store_dword v1, off, s[0:3], 0\n{wait}\nv_mov_b32 v1, 0");
    check("gfx600", &text("s_waitcnt expcnt(0)"), &[]);
    check("gfx600", &text("s_nop 0"), &["overwrite-unread 0 2"]);
    check("gfx700", &text("s_nop 0"), &[]);
}

#[test]
fn exports_hold_their_sources() {
    let text = |wait| format!("exp mrt0 v0, v1, v2, v3\nexp pos0 v4, v4, v4, v4\n{wait}\nv_mov_b32 v1, 0");
    check("gfx900", &text("s_waitcnt expcnt(0)"), &[]);
    check("gfx900", &text("s_waitcnt expcnt(1)"), &["overwrite-unread 0 3"]);
}

#[test]
fn stores_of_gfx10_have_their_own_counter() {
    let text = |wait| {
        format!(
            "global_load_dword v1, v[2:3], off\nglobal_store_dword v[2:3], v4, off\n{wait}\nv_mov_b32 v5, v1"
        )
    };
    check("gfx1030", &text("s_waitcnt vmcnt(0)"), &[]);
    check("gfx1030", &text("s_waitcnt vmcnt(1)"), &["read-in-flight 0 3"]);
    check("gfx906", &text("s_waitcnt vmcnt(1)"), &[]);
    check("gfx1030", &text("s_waitcnt_vscnt null, 0x0"), &["read-in-flight 0 3"]);
    check("gfx1030", &text("s_waitcnt_vmcnt null, 0x0"), &[]);
    // What is added to the constant is not known.
    check("gfx1030", &text("s_waitcnt_vmcnt s0, 0x0"), &["read-in-flight 0 3"]);
}

/// What is proposed mends it.
#[test]
fn suggestion_mitigates() {
    let text = "global_load_dword v1, v[2:3], off\nglobal_load_dword v4, v[2:3], off\n";
    let found = straight(target("gfx906"), false, &format!("{text}v_mov_b32 v5, v1"));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].mitigation(), "s_waitcnt vmcnt(1)");
    let flat = straight(target("gfx906"), false, "flat_load_dword v1, v[2:3]\nv_mov_b32 v5, v1");
    assert_eq!(flat[0].mitigation(), "s_waitcnt vmcnt(0) lgkmcnt(0)");
    let hazard = straight(
        target("gfx906"),
        false,
        "v_readfirstlane_b32 s0, v0\nbuffer_load_dword v1, off, s[4:7], s0",
    );
    assert_eq!(hazard[0].mitigation(), "s_nop 4");
}

/// More flat accesses than the counter counts: the oldest is complete if they complete in order.
#[test]
fn flat_accesses_at_the_limit() {
    let loads =
        |count| -> String { (0..count).map(|n| format!("flat_load_ubyte v{n}, v[200:201]\n")).collect() };
    let wait = "s_waitcnt lgkmcnt(0)\nv_mov_b32 v100, v0";
    check("gfx90a", &format!("{}{wait}", loads(65)), &["counter-at-limit 0 66"]);
    check("gfx90a", &format!("{}{wait}", loads(40)), &["read-in-flight 0 41"]);
}
