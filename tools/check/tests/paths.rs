//! Paths: jumps and branches whose registers are constant, subroutines that return by any pair of registers, and branches that share a
//! condition. What cannot be followed is said.

use check::object::{Options, Report, check};
use check::program::Unknown;

/// Checks the body of a kernel.
fn read(processor: &str, body: &str) -> Report {
    let target = isa::Target::by_name(processor).expect("a known processor");
    let options = asm::Options { target: Some(target), ..asm::Options::default() };
    let text = format!(
        ".text\n.globl k\n.p2align 8\n.type k,@function\nk:\n{body}\ns_endpgm\n.size k, .-k\n.rodata\n.p2align 6\n\
         .amdhsa_kernel k\n.amdhsa_next_free_vgpr 64\n.amdhsa_next_free_sgpr 64\n.end_amdhsa_kernel\n"
    );
    let bytes = asm::assemble(&text, &options)
        .unwrap_or_else(|errors| panic!("{}", asm::render(&errors, "case", &text, false)));
    let object = codeobj::CodeObject::parse(&bytes).expect("our own object");
    check(&object, &Options::default()).expect("a known processor")
}

#[track_caller]
fn expect(body: &str, rules: &[&str], unknown: &[Unknown]) {
    let report = read("gfx906", body);
    let human = check::report::human(&report, "case", false);
    let found: Vec<&str> = report.findings.iter().map(|located| located.finding.id()).collect();
    assert_eq!(found, rules, "{human}");
    let notes: Vec<Unknown> = report.notes.iter().map(|note| note.unknown).collect();
    assert_eq!(notes, unknown, "{human}");
    assert_eq!(human.contains("nothing to report"), rules.is_empty() && unknown.is_empty(), "{human}");
}

/// Code that is wrong, where control gets to it: a wait is missing.
const WRONG: &str = "far:\nglobal_load_dword v1, v0, s[0:1]\nv_add_u32_e32 v2, v1, v1\ns_endpgm";
const GAP: &str = ".fill 16, 4, 0xbf800000";

#[test]
fn long_branches_are_followed_however_their_distance_is_computed() {
    let ways = [
        // The two signs of the distance go two ways; the one that is not taken leads nowhere.
        "s_add_i32 s22, distance, 4\ns_cmp_ge_i32 s22, 0\ns_cbranch_scc1 forward\ns_abs_i32 s22, s22\ns_sub_u32 s20, s20, s22\n\
         s_subb_u32 s21, s21, 0\ns_setpc_b64 s[20:21]\nforward:\ns_add_u32 s20, s20, s22\ns_addc_u32 s21, s21, 0",
        "s_add_i32 s22, distance, 4\ns_add_u32 s20, s20, s22\ns_addc_u32 s21, s21, 0",
        "s_mov_b32 s22, distance\ns_lshl_b32 s22, s22, 2\ns_ashr_i32 s22, s22, 2\ns_addk_i32 s22, 0x4\ns_ashr_i32 s23, s22, 31\n\
         s_add_u32 s20, s20, s22\ns_addc_u32 s21, s21, s23",
        "s_movk_i32 s22, 0x40\ns_mul_i32 s22, s22, 0\ns_or_b32 s22, s22, distance+4\ns_mov_b32 s23, 0\ns_sub_u32 s20, s20, 0\n\
         s_subb_u32 s21, s21, 0\ns_add_u32 s20, s20, s22\ns_addc_u32 s21, s21, s23",
        "s_cmp_lg_u32 s20, s20\ns_cselect_b32 s22, 0, distance+4\ns_add_u32 s20, s20, s22\ns_addc_u32 s21, s21, 0",
        "s_sub_u32 s22, 0, distance+4\ns_sub_u32 s20, s20, s22\ns_mov_b64 s[24:25], -1\ns_not_b64 s[24:25], s[24:25]",
    ];
    for way in ways {
        let branch = format!("here: s_getpc_b64 s[20:21]\nbehind:\n{way}\ns_setpc_b64 s[20:21]\n{GAP}\n");
        let body = format!("{branch}{WRONG}\n.set distance, far-behind-4");
        let wanted = ["read-in-flight"];
        // In the last one, the carry of a subtraction is left out: the upper half is the same.
        expect(&body, &wanted, &[]);
    }
}

#[test]
fn what_no_constant_decides_is_not_followed_and_is_said() {
    expect(
        "s_getpc_b64 s[20:21]\ns_add_u32 s20, s20, s5\ns_setpc_b64 s[20:21]",
        &[],
        &[Unknown::IndirectBranch],
    );
    // Where two paths meet, the distance is one or the other.
    let two = "s_getpc_b64 s[20:21]\nbehind:\ns_mov_b32 s22, far-behind\ns_cmp_eq_u32 s5, 0\ns_cbranch_scc1 on\n\
               s_mov_b32 s22, far-behind+4\non:\ns_add_u32 s20, s20, s22\ns_addc_u32 s21, s21, 0\ns_setpc_b64 s[20:21]\n";
    expect(&format!("{two}{WRONG}"), &[], &[Unknown::IndirectBranch]);
    // A register that a loop changes is no constant, though it is one on the way in.
    let turns = "s_getpc_b64 s[20:21]\nbehind:\ns_mov_b32 s22, far-behind\nturn:\ns_add_u32 s22, s22, s5\ns_cmp_eq_u32 s22, 0\n\
                 s_cbranch_scc0 turn\ns_add_u32 s20, s20, s22\ns_addc_u32 s21, s21, 0\ns_setpc_b64 s[20:21]\n";
    expect(&format!("{turns}{WRONG}"), &[], &[Unknown::IndirectBranch]);
    // A kernel is given no return address.
    expect("s_setpc_b64 s[30:31]", &[], &[Unknown::IndirectBranch]);
    expect(
        "s_load_dwordx2 s[30:31], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_swappc_b64 s[30:31], s[30:31]",
        &[],
        &[Unknown::Call],
    );
}

#[test]
fn chains_of_long_branches_and_loops_of_them() {
    // 40 jumps, each behind the next; the last goes back to the first part, which ends.
    let mut body = "s_cmp_eq_u32 s9, s8\n".to_owned();
    for n in 0..40 {
        body += &format!(
            "l{n}:\ns_cbranch_scc1 out\ns_getpc_b64 s[20:21]\nb{n}:\ns_add_i32 s22, l{}-b{n}-4, 4\ns_add_u32 s20, s20, s22\n\
             s_addc_u32 s21, s21, 0\ns_setpc_b64 s[20:21]\n{GAP}\n",
            n + 1
        );
    }
    expect(&format!("{body}l40: s_branch l0\nout:\n{WRONG}"), &["read-in-flight"], &[]);
}

#[test]
fn subroutines_return_by_any_pair_of_registers() {
    let load = "global_load_dword v1, v0, s[0:1]";
    for pair in ["s[12:13]", "s[30:31]", "s[40:41]", "vcc"] {
        let call = format!("s_call_b64 {pair}, sub");
        // What is under way at the call is read in the subroutine, what the subroutine leaves behind the call.
        let sub = format!("s_endpgm\nsub:\nv_mov_b32 v2, v1\n{load}\ns_setpc_b64 {pair}");
        expect(&format!("{load}\n{call}\n{sub}"), &["read-in-flight"], &[]);
        expect(&format!("{call}\nv_mov_b32 v3, v1\n{sub}"), &["read-in-flight"], &[]);
        expect(&format!("{call}\ns_waitcnt vmcnt(0)\nv_mov_b32 v3, v1\n{call}\n{sub}"), &[], &[]);
    }
    // By two pairs, by registers, and saved in between.
    let sub = format!("s_endpgm\nsub:\n{load}\ns_setpc_b64 s[12:13]\nend:");
    let swap = "s_getpc_b64 s[20:21]\nb:\ns_add_i32 s22, sub-b-4, 4\ns_add_u32 s20, s20, s22\ns_addc_u32 s21, s21, 0\n\
                s_swappc_b64 s[12:13], s[20:21]";
    expect(&format!("{swap}\nv_mov_b32 v3, v1\n{sub}"), &["read-in-flight"], &[]);
    let saved = format!(
        "s_endpgm\nsub:\ns_mov_b64 s[40:41], s[12:13]\n{load}\ns_mov_b64 s[12:13], 0\ns_setpc_b64 s[40:41]"
    );
    expect(&format!("s_call_b64 s[12:13], sub\nv_mov_b32 v3, v1\n{saved}"), &["read-in-flight"], &[]);
    let nested = format!(
        "s_call_b64 s[12:13], outer\nv_mov_b32 v3, v1\ns_endpgm\nouter:\ns_call_b64 s[14:15], inner\ns_setpc_b64 s[12:13]\n\
         inner:\n{load}\ns_setpc_b64 s[14:15]"
    );
    expect(&nested, &["read-in-flight"], &[]);
}

#[test]
fn branches_that_share_a_condition_are_taken_together() {
    // The wait is enough on each way: one load more is under way where both branches fall through.
    let body = |first: &str, second: &str, between: &str| {
        format!(
            "global_load_dword v1, v0, s[0:1]\n{first} skip\nglobal_load_dword v2, v0, s[0:1] offset:4\nskip:\n{between}\n\
             {second} end\ns_waitcnt vmcnt(1)\nv_add_u32_e32 v3, v1, v1\nend:"
        )
    };
    let equal = "s_cmp_eq_u32 s5, 1\ns_cbranch_scc1";
    let pairs = [
        (equal, equal),
        (equal, "s_cmp_lg_u32 s5, 1\ns_cbranch_scc0"),
        (equal, "s_cmp_eq_i32 1, s5\ns_cbranch_scc1"),
        (equal, "s_cbranch_scc1"),
        ("s_cmp_gt_u32 s5, s6\ns_cbranch_scc0", "s_cmp_lt_u32 s6, s5\ns_cbranch_scc0"),
        ("s_cmp_ge_i32 s5, s6\ns_cbranch_scc1", "s_cmp_lt_i32 s5, s6\ns_cbranch_scc0"),
        ("s_bitcmp1_b32 s5, 3\ns_cbranch_scc1", "s_bitcmp0_b32 s5, 3\ns_cbranch_scc0"),
        ("s_and_b64 vcc, exec, s[10:11]\ns_cbranch_vccz", "s_and_b64 vcc, exec, s[10:11]\ns_cbranch_vccz"),
        ("s_and_b64 vcc, exec, s[10:11]\ns_cbranch_vccnz", "s_cbranch_vccnz"),
        ("v_cmp_eq_u32_e32 vcc, 1, v9\ns_cbranch_vccz", "v_cmp_eq_u32_e32 vcc, 1, v9\ns_cbranch_vccz"),
        (
            "s_and_b32 s6, s5, 4\ns_cmp_lg_u32 s6, 0\ns_cbranch_scc1",
            "s_and_b32 s7, s5, 4\ns_cmp_lg_u32 s7, 0\ns_cbranch_scc1",
        ),
        ("s_cbranch_execz", "s_cbranch_execz"),
    ];
    for (first, second) in pairs {
        expect(&body(first, second, "s_nop 0"), &[], &[]);
    }
    // Other conditions, the other way round, and registers that have changed in between.
    let others = [
        (equal, "s_cmp_eq_u32 s5, 2\ns_cbranch_scc1", ""),
        (equal, "s_cmp_eq_u32 s5, 1\ns_cbranch_scc0", ""),
        (equal, equal, "s_add_u32 s5, s5, 1"),
        (equal, equal, "s_load_dword s5, s[0:1], 0x0\ns_waitcnt lgkmcnt(0)"),
        (equal, equal, "v_readfirstlane_b32 s5, v9"),
        ("s_cmp_gt_u32 s5, s6\ns_cbranch_scc0", "s_cmp_gt_u32 s6, s5\ns_cbranch_scc0", ""),
        ("s_cmp_gt_u32 s5, s6\ns_cbranch_scc0", "s_cmp_gt_i32 s5, s6\ns_cbranch_scc0", ""),
        (
            "v_cmp_eq_u32_e32 vcc, 1, v9\ns_cbranch_vccz",
            "v_cmp_eq_u32_e32 vcc, 1, v9\ns_cbranch_vccz",
            "v_mov_b32 v9, 0",
        ),
        (
            "v_cmp_eq_u32_e32 vcc, 1, v9\ns_cbranch_vccz",
            "v_cmp_eq_u32_e32 vcc, 1, v9\ns_cbranch_vccz",
            "s_mov_b64 exec, s[8:9]",
        ),
    ];
    for (first, second, between) in others {
        expect(&body(first, second, between), &["read-in-flight"], &[]);
    }
}

#[test]
fn many_shared_conditions_cost_no_more_than_few() {
    // 60 conditions, each tested twice, all first ones before all second ones: 2^60 paths.
    let mut body = String::new();
    for pass in 0..2 {
        for n in 0..60 {
            let load = if pass == 0 { "global_load_dword v2, v0, s[0:1]" } else { "s_waitcnt vmcnt(0)" };
            body += &format!(
                "s_bitcmp1_b32 s{}, {}\ns_cbranch_scc1 l{pass}_{n}\n{load}\nl{pass}_{n}:\n",
                n / 32 + 4,
                n % 32
            );
        }
    }
    expect(&body, &[], &[]);
    expect(&format!("{body}\nglobal_load_dword v1, v0, s[0:1]\nv_mov_b32 v3, v1"), &["read-in-flight"], &[]);
}

#[test]
fn a_condition_is_shared_by_what_is_computed_before_and_tested_behind() {
    // What the first block computes is what the second tests, though the second does not compute it.
    let body = |between: &str| {
        format!(
            "s_lshr_b32 s5, s27, 3\ns_cmp_eq_u32 s5, 0\ns_cbranch_scc1 skip\nglobal_load_dword v1, v0, s[0:1]\nskip:\ns_nop 0\n\
             {between}\ns_cmp_eq_u32 s5, 0\ns_cbranch_scc0 wait\nv_mov_b32 v1, 0\ns_endpgm\nwait:\ns_waitcnt vmcnt(0)\n\
             v_add_u32_e32 v3, v1, v1"
        )
    };
    expect(&body(""), &[], &[]);
    expect(&body("s_sub_u32 s5, s5, 1"), &["write-in-flight"], &[]);
    // The compare's own source is overwritten by the instruction that sets the flag.
    let masked = "s_and_b32 s5, s5, 4\ns_cbranch_scc1 skip\nglobal_load_dword v1, v0, s[0:1]\nskip:\ns_and_b32 s5, s5, 4\n\
                  s_cbranch_scc0 wait\nv_mov_b32 v1, 0\ns_endpgm\nwait:\ns_waitcnt vmcnt(0)\nv_add_u32_e32 v3, v1, v1";
    expect(masked, &["write-in-flight"], &[]);
}

#[test]
fn the_report_is_the_same_on_any_number_of_threads() {
    // Kernels apart, kernels that call one function, and one that only its own code reaches; each with a mistake.
    let mut text = ".text\n".to_owned();
    let mut descriptors = ".rodata\n.p2align 6\n".to_owned();
    for n in 0..40 {
        let call = if n % 3 == 0 { "s_call_b64 s[12:13], shared_code" } else { "s_nop 0" };
        text += &format!(
            ".globl k{n}\n.p2align 8\n.type k{n},@function\nk{n}:\nglobal_load_dword v1, v0, s[0:1]\n{call}\nv_mov_b32 v2, v1\n\
             s_endpgm\n.size k{n}, .-k{n}\n"
        );
        descriptors += &format!(
            ".amdhsa_kernel k{n}\n.amdhsa_next_free_vgpr 64\n.amdhsa_next_free_sgpr 64\n.end_amdhsa_kernel\n"
        );
    }
    text += "shared_code:\nv_mov_b32 v3, v1\ns_setpc_b64 s[12:13]\n";
    let options = asm::Options { target: isa::Target::by_name("gfx906"), ..asm::Options::default() };
    let bytes = asm::assemble(&format!("{text}{descriptors}"), &options).expect("it assembles");
    let object = codeobj::CodeObject::parse(&bytes).expect("our own object");
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        let report = pool.install(|| check(&object, &Options::default()).expect("a known processor"));
        check::report::human(&report, "case", false)
    };
    let one = on(1);
    // One report of each kernel that reads its own load, one of each that the function reads.
    assert_eq!(one.matches("error[read-in-flight]").count(), 40, "{one}");
    assert!(one.contains("40 reports in "), "{one}");
    for threads in [2, 3, 8] {
        assert!(on(threads) == one, "{threads} threads");
    }
}

#[test]
fn what_a_replay_would_break_is_named_by_who_reads_and_only_where_there_are_replays() {
    let loads = |between: usize| {
        let gap: String =
            (0..between).map(|n| format!("global_load_dword v{}, v[4:5], off\n", 11 + n)).collect();
        format!(
            "global_load_dword v10, v[2:3], off\n{gap}global_load_dword v2, v[4:5], off\ns_waitcnt vmcnt(0)"
        )
    };
    let levels = |body: &str, xnack| {
        let target = isa::Target::by_name("gfx906").expect("a known processor");
        let text = format!(".text\n{body}\ns_endpgm\n");
        let options = asm::Options { target: Some(target), ..asm::Options::default() };
        let bytes = asm::assemble(&text, &options).expect("it assembles");
        let object = codeobj::CodeObject::parse(&bytes).expect("our own object");
        let report = check(&object, &Options { xnack, ..Options::default() }).expect("a known processor");
        let one = |located: &check::object::Located| {
            let first = located.first.as_ref().map_or(String::new(), |place| place.text.clone());
            format!("{} {} {first}", located.finding.level().name(), located.finding.id())
        };
        report.findings.iter().map(one).collect::<Vec<_>>()
    };
    let first = "global_load_dword v10, v[2:3], off";
    // An object for either setting is checked for replays, but not held to them for certain.
    assert_eq!(levels(&loads(4), None), [format!("by the manual xnack-clause {first}")]);
    assert_eq!(levels(&loads(4), Some(true)), [format!("certain xnack-clause {first}")]);
    assert_eq!(levels(&loads(5), None), [format!("by the manual xnack-long-clause {first}")]);
    assert!(levels(&loads(4), Some(false)).is_empty());
    // The data of a store is what is overwritten.
    let store = "global_store_dword v[2:3], v1, off";
    let body = format!(
        "{store}\nglobal_load_dword v5, v[2:3], off\nglobal_load_dword v1, v[2:3], off\ns_waitcnt vmcnt(0)"
    );
    assert_eq!(levels(&body, Some(true)), [format!("certain xnack-clause {store}")]);
    let own = "s_load_dwordx2 s[0:1], s[0:1], 0x4\ns_waitcnt lgkmcnt(0)";
    let load = own.lines().next().expect("a line");
    assert_eq!(levels(own, None), [format!("by the manual xnack-own-address {load}")]);
    assert_eq!(levels(own, Some(true)), [format!("certain xnack-own-address {load}")]);
}

#[test]
fn waits_in_a_clause_are_by_the_manual() {
    let rules = |body: &str| -> Vec<&'static str> {
        read("gfx1010", body).findings.iter().map(|located| located.finding.id()).collect()
    };
    let (load, wait) = ("global_load_dword v1, v0, s[0:1]", "s_waitcnt_vscnt null, 0x0");
    assert_eq!(rules(&format!("s_clause 0x1\n{load}\n{load} offset:4")), [""; 0]);
    assert_eq!(rules(&format!("s_clause 0x2\n{load}\n{wait}\n{load} offset:4")), ["clause-with-wait"]);
    assert_eq!(rules(&format!("s_clause 0x2\n{wait}\n{load}\n{load} offset:4")), ["clause-with-wait"]);
    assert_eq!(rules(&format!("s_clause 0x1\ns_waitcnt_depctr 0xffe3\n{load}")), ["clause-with-wait"]);
    assert_eq!(rules(&format!("s_clause 0x2\n{load}\ns_nop 0\n{load} offset:4")), [""; 0]);
    assert_eq!(
        rules(&format!("s_clause 0x2\n{load}\n{wait}\nv_mov_b32 v5, 0")),
        ["clause-with-wait", "broken-clause"]
    );
}

/// A load is in flight unless a branch that other compares decide is taken.
#[test]
fn compares_of_a_register_with_constants_decide_each_other() {
    let wrong = "v_add_u32_e32 v2, v1, v1\ns_endpgm";
    let load = "s_waitcnt lgkmcnt(0)\nglobal_load_dword v1, v0, s[0:1]\n";
    let after = |tests: &str, last: &str| {
        format!("{load}{tests}{last}\n{wrong}\nwait:\ns_waitcnt vmcnt(0)\nv_add_u32_e32 v2, v1, v1")
    };
    // `s4` is neither 0 nor 1, and at most 2: it is 2.
    let two = "s_cmp_eq_u32 s4, 0\ns_cbranch_scc1 wait\ns_cmp_eq_u32 s4, 1\ns_cbranch_scc1 wait\n\
               s_cmp_le_u32 s4, 2\ns_cbranch_scc0 wait\n";
    for last in [
        "s_cmp_eq_i32 s4, 2\ns_cbranch_scc1 wait",
        "s_cmpk_gt_u32 s4, 0x3\ns_cbranch_scc0 wait",
        "s_cmp_lt_i32 s4, 3\ns_cbranch_scc1 wait",
        "s_and_b32 s9, s4, 1\ns_cbranch_scc0 wait",
        "s_bitcmp1_b32 s4, 1\ns_cbranch_scc1 wait",
    ] {
        expect(&after(two, last), &[], &[]);
        // The opposite, and one value more.
        let opposite = last.replace("scc1", "sccX").replace("scc0", "scc1").replace("sccX", "scc0");
        expect(&after(two, &opposite), &["read-in-flight"], &[]);
        let three = two.replace("le_u32 s4, 2", "le_u32 s4, 5");
        expect(&after(&three, last), &["read-in-flight"], &[]);
    }
    // What is known of a register is known of a copy, until one of the two changes.
    let copied =
        format!("s_lshr_b32 s4, s5, 3\ns_mov_b32 s6, s4\ns_cmp_eq_u32 s5, 0\ns_cbranch_scc1 wait\n{two}");
    let odd = "s_and_b32 s9, s6, 1\ns_cbranch_scc0 wait";
    expect(&after(&copied, odd), &[], &[]);
    expect(&after(&copied.replace("s_mov_b32 s6, s4", "s_mov_b32 s6, s8"), odd), &["read-in-flight"], &[]);
    let changed = copied.replace("s_cmp_le_u32", "s_add_u32 s6, s6, 1\ns_cmp_le_u32");
    expect(&after(&changed, odd), &["read-in-flight"], &[]);
    // An unsigned value is at most 0 where it is 0.
    let none = "s_cmp_eq_u32 s4, 0\ns_cbranch_scc1 wait\n";
    expect(&after(none, "s_cmp_le_u32 s4, 0\ns_cbranch_scc0 wait"), &[], &[]);
    expect(&after(none, "s_cmp_le_i32 s4, 0\ns_cbranch_scc0 wait"), &["read-in-flight"], &[]);
}

/// A register says which way control came: what each way has in flight is waited for where the register is tested.
#[test]
fn constants_decide_the_compares_of_their_register() {
    let body = |state: u32| {
        format!(
            "s_cmp_eq_u32 s4, 0\ns_cbranch_scc1 other\ns_mov_b32 s5, 1\nglobal_load_dword v1, v0, s[0:1]\ns_branch join\n\
             other:\ns_mov_b32 s5, {state}\njoin:\ns_cmp_eq_u32 s5, 1\ns_cbranch_scc0 after\ns_waitcnt vmcnt(0)\n\
             after:\ns_cmp_eq_u32 s5, 2\ns_cbranch_scc1 end\nv_add_u32_e32 v2, v1, v1\nend:"
        )
    };
    expect(&body(2), &[], &[]);
    let wrong = body(2).replace("s5, 1\ns_cbranch_scc0", "s5, 3\ns_cbranch_scc0");
    expect(&wrong, &["read-in-flight"], &[]);
}

/// A persistent kernel comes to its next tile from four ways, and tests two other conditions before the one that says which: 16 kinds of paths.
#[test]
fn ways_to_a_place_are_told_apart_although_other_conditions_are_tested_first() {
    let other = |word: &str| -> String {
        let one = |n| format!("s_cmp_eq_u32 s{}, 0\ns_cbranch_scc1 {word}{n}\ns_nop 0\n{word}{n}:\n", 20 + n);
        (0..2).map(one).collect()
    };
    let ways: String = (1..5)
        .map(|way| {
            let load = if way == 1 { "global_load_dword v1, v0, s[0:1]" } else { "s_nop 0" };
            format!("s_cmp_eq_u32 s4, {way}\ns_cbranch_scc0 not{way}\ns_mov_b32 s5, {way}\n{load}\ns_branch join\nnot{way}:\n")
        })
        .collect();
    let ends: String = (2..5).map(|way| format!("s_cmp_eq_u32 s5, {way}\ns_cbranch_scc1 end\n")).collect();
    let body = format!(
        "{}{ways}s_endpgm\njoin:\n{}{ends}s_cmp_eq_u32 s5, 1\ns_cbranch_scc0 after\ns_waitcnt vmcnt(0)\nafter:\n\
         v_add_u32_e32 v2, v1, v1\nend:",
        other("first"),
        other("second"),
    );
    expect(&body, &[], &[]);
    let wrong = body.replace("s_cmp_eq_u32 s5, 1\n", "s_cmp_eq_u32 s5, 5\n");
    expect(&wrong, &["read-in-flight"], &[]);
}

/// The solver keeps paths apart by the conditions that are tested next, and joins those that differ in conditions tested far away.
#[test]
fn conditions_that_are_tested_far_away_give_way() {
    let tests = |word: &str| -> String {
        let one = |n| format!("s_cmp_eq_u32 s{}, 0\ns_cbranch_scc1 {word}{n}\ns_nop 0\n{word}{n}:\n", 20 + n);
        (0..8).map(one).collect()
    };
    let guarded = "s_cmp_eq_u32 s4, 0\ns_cbranch_scc1 none\nglobal_load_dword v1, v0, s[0:1]\nnone:\ns_nop 0\n\
                   s_cmp_eq_u32 s4, 0\ns_cbranch_scc1 skip\ns_waitcnt vmcnt(0)\nskip:\nv_add_u32_e32 v2, v1, v1\n";
    let body = |guarded: &str| format!("{}{guarded}{}", tests("first"), tests("second"));
    expect(&body(guarded), &[], &[]);
    let wrong = guarded.replace("s_nop 0\n", "s_add_u32 s4, s4, 1\n");
    expect(&body(&wrong), &["read-in-flight"], &[]);
}

/// A loop that goes round an odd number of times leaves in its middle; the code behind the loop tests the lowest bit of the number.
#[test]
fn odd_and_even_rounds_of_a_loop_are_told_apart() {
    let half = |register: u32, leave: &str| {
        format!(
            "s_waitcnt vmcnt(1)\nv_add_u32_e32 v9, v{register}, v{register}\nglobal_load_dword v{register}, v0, s[0:1]\n\
             s_sub_u32 s5, s5, 1\ns_cmp_eq_i32 s5, 2\n{leave}\n"
        )
    };
    let body = format!(
        "s_mov_b32 s6, s5\nglobal_load_dword v1, v0, s[0:1]\nglobal_load_dword v2, v0, s[0:1]\nround:\n{}{}end:\ns_waitcnt vmcnt(1)\n\
         s_and_b32 s9, s6, 1\ns_cbranch_scc0 even\nv_add_u32_e32 v9, v2, v2\ns_endpgm\neven:\nv_add_u32_e32 v9, v1, v1",
        half(1, "s_cbranch_scc1 end"),
        half(2, "s_cbranch_scc0 round"),
    );
    expect(&body, &[], &[]);
    let replaced = |old: &str, new: &str| {
        assert!(body.contains(old), "{old}");
        body.replace(old, new)
    };
    // The same in other words.
    let (down, odd) = ("s_sub_u32 s5, s5, 1", "s_and_b32 s9, s6, 1");
    for same in [
        replaced(down, "s_add_i32 s5, s5, -1"),
        replaced(down, "s_addk_i32 s5, 0xffff"),
        replaced(down, "s_sub_u32 s5, s5, 3"),
        replaced(odd, "s_bitcmp1_b32 s6, 0"),
        replaced(odd, "s_and_b32 s9, s6, 1\ns_cmp_lg_u32 s9, 0"),
        replaced("round:", "round:\ns_add_u32 s6, s6, 2"),
    ] {
        expect(&same, &[], &[]);
    }
    // The wrong way, and what says nothing of the number of rounds.
    let wrong = ["read-in-flight", "read-in-flight"];
    for other in [
        replaced("cc0 even", "cc1 even"),
        replaced("s_mov_b32 s6, s5", "s_mov_b32 s6, s7"),
        replaced(down, "s_sub_u32 s5, s5, s7"),
        replaced(odd, "s_and_b32 s9, s6, 2"),
        replaced(odd, "s_lshr_b32 s9, s6, 1\ns_and_b32 s9, s9, 1"),
        replaced("round:", "round:\ns_add_u32 s6, s6, s7"),
        replaced("round:", "round:\ns_add_u32 s6, s6, 1"),
        replaced("s_cmp_eq_i32 s5, 2", "s_cmp_le_i32 s5, 2"),
    ] {
        expect(&other, &wrong, &[]);
    }
    // Both ways out come with an even number: the first of them to a load that is in flight, and no way to what is for odd numbers.
    expect(&replaced(down, "s_sub_u32 s5, s5, 2"), &wrong[..1], &[]);
}

/// Every block has one load more under way than the one before, and control may come from all blocks to the first.
#[test]
fn what_has_too_many_paths_is_not_finished_and_the_report_says_so() {
    let blocks = |count| {
        let one = "global_load_dword v1, v0, s[0:1]\ns_add_u32 s5, s5, s6\ns_cbranch_scc1 first\n";
        format!("first:\n{}s_waitcnt vmcnt(0)", one.repeat(count))
    };
    expect(&blocks(50), &[], &[]);
    expect(&blocks(800), &[], &[Unknown::Unfinished]);
    let human = check::report::human(&read("gfx906", &blocks(800)), "case", false);
    assert!(
        human.contains("nothing found in 2402 instructions, 1 entry, for gfx906; 1 path was not followed"),
        "{human}"
    );
}

/// Calls are followed as long as there are not too many functions: each call that is not followed is in the report.
#[test]
fn calls_of_too_many_functions_are_not_followed_and_the_report_says_so() {
    let calls = |count: usize| {
        let calls: String = (0..count).map(|n| format!("s_call_b64 s[30:31], f{n}\n")).collect();
        let wait = "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)";
        let functions: String =
            (0..count).map(|n| format!("f{n}:\n{wait}\ns_setpc_b64 s[30:31]\n")).collect();
        read("gfx906", &format!("{calls}s_endpgm\n{functions}"))
    };
    let followed = calls(100);
    assert_eq!((followed.findings.len(), followed.unfollowed), (0, 0));
    let many = calls(4100);
    assert_eq!((many.findings.len(), many.unfollowed), (0, 4100));
    assert!(many.notes.iter().all(|note| note.unknown == Unknown::Call), "{:?}", many.notes.last());
}
